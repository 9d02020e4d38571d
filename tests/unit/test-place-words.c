/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user is told if a place cannot be used (storage/places/place.c, place-curl.c,
 * place-s3.c): the kind of the error, which decides whether the request is repeated, and one
 * sentence without user and password. Uses the store in memory (shelf.h). Links storage alone. */
#include "shelf.h"

#include "storage/places/place.h"

#include <curl/curl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define SFTP "sftp://me@shelf/files/a.db"
#define FTP "ftp://shelf/files/a.db"
#define FTPS "ftps://shelf/files/a.db"
#define HTTP "http://shelf/files/a.db"
#define S3 "s3://files/a.db"

static gint64 now_us = 1000000;

gint64
g_get_monotonic_time (void)
{
  return now_us;
}

void
g_usleep (gulong us)
{
  now_us += (gint64)us;
}

static void
assert_sentence (const GError *error, PlaceError code, const char *words)
{
  g_test_message ("%s", error != NULL ? error->message : "no error");
  g_assert_error (error, PLACE_ERROR, (int)code);
  g_assert_true (g_str_has_prefix (error->message, "checkpoint '")
                 || g_str_has_prefix (error->message, "the checkpoint's URI"));
  g_assert_nonnull (strstr (error->message, words));
  g_assert_null (strstr (error->message, "me@"));
  g_assert_null (strstr (error->message, "secret"));
  g_assert_null (strchr (error->message, '\n'));
}

static Place *
place_at (const char *uri)
{
  g_autoptr (GError) error = NULL;
  Place *place = place_new (uri, TRUE, &error);
  g_assert_no_error (error);
  return place;
}

static const struct
{
  const char *uri;
  long status;
  int code; /* libcurl's */
  PlaceError error;
  const char *words;
} answers[] = {
  { HTTP, 401, 0, PLACE_ERROR_DENIED, "are the credentials right?" },
  { HTTP, 403, 0, PLACE_ERROR_DENIED, "are the credentials right?" },
  { HTTP, 301, 0, PLACE_ERROR_DENIED, "names another place (301)" },
  { HTTP, 307, 0, PLACE_ERROR_DENIED, "names another place (307)" },
  { HTTP, 405, 0, PLACE_ERROR_DENIED, "it has to be a WebDAV server" },
  { HTTP, 501, 0, PLACE_ERROR_DENIED, "it has to be a WebDAV server" },
  { HTTP, 413, 0, PLACE_ERROR_DOWN, "takes no file as large as that" },
  { HTTP, 507, 0, PLACE_ERROR_DOWN, "the store is full" },
  { HTTP, 500, 0, PLACE_ERROR_DOWN, "the store answers 500" },
  { HTTP, 503, 0, PLACE_ERROR_DOWN, "the store answers 503" },
  { S3, 400, 0, PLACE_ERROR_DENIED, "are the credentials and the region right?" },
  { S3, 301, 0, PLACE_ERROR_DENIED, "are the credentials and the region right?" },
  { S3, 403, 0, PLACE_ERROR_DENIED, "are the credentials and the region right?" },
  { S3, 503, 0, PLACE_ERROR_DOWN, "the store answers 503" },
  { SFTP, 0, CURLE_LOGIN_DENIED, PLACE_ERROR_DENIED, "has to be in the agent" },
  { "sftp://shelf/files/a.db", 0, CURLE_LOGIN_DENIED, PLACE_ERROR_DENIED, "sftp://USER@HOST/PATH" },
  { SFTP, 0, CURLE_PEER_FAILED_VERIFICATION, PLACE_ERROR_DENIED, "log in once by ssh" },
  { SFTP, 0, CURLE_REMOTE_ACCESS_DENIED, PLACE_ERROR_DENIED, "cannot " },
  { SFTP, 0, CURLE_COULDNT_RESOLVE_HOST, PLACE_ERROR_DOWN, "cannot " },
  { FTP, 530, CURLE_LOGIN_DENIED, PLACE_ERROR_DENIED, "cannot " },
  { FTPS, 0, CURLE_PEER_FAILED_VERIFICATION, PLACE_ERROR_DENIED, "cannot " },
  { FTPS, 0, CURLE_SSL_CONNECT_ERROR, PLACE_ERROR_DOWN, "cannot " },
  { HTTP, 0, CURLE_COULDNT_CONNECT, PLACE_ERROR_DOWN, "cannot " },
  { HTTP, 0, CURLE_SSL_CERTPROBLEM, PLACE_ERROR_DENIED, "cannot " },
  { HTTP, 0, CURLE_ABORTED_BY_CALLBACK, PLACE_ERROR_STOPPED, "did not answer in time" },
  { HTTP, 0, CURLE_READ_ERROR, PLACE_ERROR_LOCAL, "a file of this machine" },
};

/* The message depends on the store's answer, whatever the request was. */
static void
test_answers (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (answers); i++)
    for (guint what = 0; what < 3; what++)
      {
        g_autoptr (GError) error = NULL;
        g_autoptr (Place) place = place_at (answers[i].uri);
        PlaceState state = { 0 };
        shelf_clear ();
        shelf_put ("/files/a.db", "old", 3);
        shelf_answer (answers[i].status, answers[i].code);
        shelf_fail (SHELF_ANSWERS, 1, G_MAXUINT);
        if (what == 0)
          g_assert_false (place_look (place, "", &state, &error));
        else if (what == 1)
          g_assert_false (place_put (place, "", "/proc/self/exe", NULL, NULL, &error));
        else
          g_assert_false (place_remove (place, "", NULL, &error));
        assert_sentence (error, answers[i].error, answers[i].words);
        place_state_clear (&state);
        g_autoptr (GBytes) stands = shelf_get ("/files/a.db");
        g_assert_cmpuint (g_bytes_get_size (stands), ==, 3);
      }
}

/* Messages that only a writer gets. */
static void
test_answers_to_a_writer (void)
{
  static const struct
  {
    const char *uri;
    long status;
    int code;
    PlaceError error;
    const char *words;
  } table[] = {
    { HTTP, 404, 0, PLACE_ERROR_DENIED, "there is no such folder" },
    { HTTP, 409, 0, PLACE_ERROR_DENIED, "there is no such folder" },
    { S3, 404, 0, PLACE_ERROR_DENIED, "there is no such bucket" },
    { S3, 412, 0, PLACE_ERROR_CHANGED, "somebody else has replaced it" },
    { FTP, 550, CURLE_UPLOAD_FAILED, PLACE_ERROR_DENIED, "cannot write it" },
    { FTP, 553, CURLE_UPLOAD_FAILED, PLACE_ERROR_DENIED, "cannot write it" },
    { FTP, 552, CURLE_UPLOAD_FAILED, PLACE_ERROR_DOWN, "cannot write it" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Place) place = place_at (table[i].uri);
      shelf_clear ();
      shelf_answer (table[i].status, table[i].code);
      shelf_fail (SHELF_ANSWERS, 1, G_MAXUINT);
      g_assert_false (place_put (place, "", "/proc/self/exe", NULL, NULL, &error));
      assert_sentence (error, table[i].error, table[i].words);
    }
}

/* http: the file that was sent is gone, or the other one for a moment, when it is to be moved: the
 * writer looks again. Any other request that finds nothing is refused. */
static void
test_a_move_that_finds_nothing (void)
{
  guint n_changed = 0, at = 0;
  do
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Place) place = place_at (HTTP);
      shelf_clear ();
      shelf_answer (404, 0);
      at++;
      shelf_fail (SHELF_ANSWERS, at, at);
      (void)place_put (place, "", "/proc/self/exe", NULL, NULL, &error);
      if (g_error_matches (error, PLACE_ERROR, PLACE_ERROR_CHANGED))
        {
          assert_sentence (error, PLACE_ERROR_CHANGED, "somebody else is replacing it");
          n_changed++;
        }
    }
  while (shelf_has_failed ());
  g_assert_cmpuint (at, >, 3);
  g_assert_cmpuint (n_changed, ==, 1);
}

static void
test_a_folder_is_no_file (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Place) place = place_at (SFTP);
  PlaceState state;
  shelf_clear ();
  shelf_answer (0, CURLE_SSH);
  shelf_fail (SHELF_ANSWERS, 1, G_MAXUINT);
  g_assert_false (place_look (place, "", &state, &error));
  assert_sentence (error, PLACE_ERROR_DOWN, "is it a folder?");
}

/* A store that was silent is not asked again in the same attempt; a new attempt asks again. */
static void
test_silent_ones_are_not_asked_again (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Place) place = place_at (SFTP);
  PlaceState state;
  shelf_clear ();
  shelf_fail (SHELF_SILENT, 1, 1);
  g_assert_false (place_look (place, "", &state, &error));
  guint requests = shelf_requests ();
  g_clear_error (&error);
  g_assert_false (place_look (place, "", &state, &error));
  assert_sentence (error, PLACE_ERROR_STOPPED, "did not answer in time");
  g_assert_cmpuint (shelf_requests (), ==, requests);
  place_ask_again (place);
  g_assert_true (place_look (place, "", &state, NULL));
  g_assert_false (state.exists);
}

static void
test_given_up (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Place) place = place_at (SFTP);
  PlaceState state;
  shelf_clear ();
  place_set_limit (place, now_us - 1);
  g_assert_false (place_look (place, "", &state, &error));
  assert_sentence (error, PLACE_ERROR_STOPPED, "did not answer in time");
  g_clear_error (&error);
  place_set_limit (place, 0);
  g_assert_true (place_look (place, "", &state, &error));
  place_stop (place);
  g_assert_false (place_look (place, "", &state, &error));
  assert_sentence (error, PLACE_ERROR_STOPPED, "the store is given up");
}

/* If libcurl has no memory, no request is made with missing settings: a file is replaced only if it
 * is the expected one. */
static void
test_no_memory (void)
{
  static const char *const uris[] = { SFTP, FTP, HTTP, S3 };
  static const ShelfFault lacks[] = { SHELF_NO_HANDLE, SHELF_NO_SETTING, SHELF_NO_LIST };
  for (guint i = 0; i < G_N_ELEMENTS (uris); i++)
    for (guint j = 0; j < G_N_ELEMENTS (lacks); j++)
      for (guint at = 1; at < 2000; at += j == 1 ? 7 : 1)
        {
          g_autoptr (GError) error = NULL;
          g_autoptr (Place) place = place_at (uris[i]);
          PlaceState none = { 0 };
          shelf_clear ();
          shelf_put ("/files/a.db", "somebody's", 10);
          shelf_fail (lacks[j], at, at);
          g_assert_false (place_put (place, "", "/proc/self/exe", &none, NULL, &error));
          gboolean was_reached = shelf_has_failed ();
          shelf_fail (SHELF_SOUND, 0, 0);
          if (!g_error_matches (error, PLACE_ERROR, PLACE_ERROR_CHANGED))
            assert_sentence (error, PLACE_ERROR_LOCAL, "libcurl cannot be used");
          g_autoptr (GBytes) stands = shelf_get ("/files/a.db");
          g_assert_cmpuint (g_bytes_get_size (stands), ==, 10);
          if (!was_reached)
            break;
        }
}

static void
test_files_of_this_machine (void)
{
  static const char *const uris[] = { SFTP, FTP, HTTP, S3 };
  for (guint i = 0; i < G_N_ELEMENTS (uris); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Place) place = place_at (uris[i]);
      PlaceState state;
      shelf_clear ();
      g_assert_false (place_put (place, "", "/absent/file", NULL, NULL, &error));
      assert_sentence (error, PLACE_ERROR_LOCAL, "/absent/file");
      g_clear_error (&error);
      shelf_put ("/files/a.db", "0123456789", 10);
      g_assert_false (place_get (place, "", "/absent/file", 100, &state, &error));
      assert_sentence (error, PLACE_ERROR_LOCAL, "/absent/file");
    }
}

/* ---- URIs ---- */

static void
test_uris (void)
{
  static const struct
  {
    const char *uri, *words;
  } table[] = {
    { "gopher://shelf/a", "the schemes are " PLACE_SCHEMES },
    { "sftp://me:secret@shelf/a", "a password does not belong into a URI" },
    { "ftp://shelf/a", "say --insecure" },
    { "http://shelf/a", "use https" },
    { "sftp://shelf", "sftp://HOST/NAME" },
    { "sftp://shelf/", "sftp://HOST/NAME" },
    { "sftp://shelf/folder/", "sftp://HOST/NAME" },
    { "sftp:///a", "sftp://HOST/NAME" },
    { "s3://bucket", "s3://BUCKET/NAME" },
    { "https://shelf/a?b", "does not name a file" },
    { "https://shelf/a#b", "does not name a file" },
    { "https://me@shelf/a?secret", "does not name a file" },
    { "https://me@shelf/a#secret", "does not name a file" },
    { "sftp://shelf/a%0ab", "cannot be used in its path" },
    { "sftp://shelf/a%22b", "cannot be used in its path" },
    { "sftp://shelf/a%5cb", "cannot be used in its path" },
    { "sftp://shelf/a%2fb", "cannot be used in its path" },
    { "sftp:me:secret@shelf/a", "sftp" },
    { "sftp://[1::2/a", "cannot be read" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *text = place_check (table[i].uri, FALSE, &error);
      g_assert_null (text);
      assert_sentence (error, PLACE_ERROR_URI, table[i].words);
    }
  static const char *const good[]
      = { "sftp://me@shelf/a b", "sftp://shelf/~/a", "ftps://[1::2]:2100/a", "https://shelf:8443/a",
          "HTTPS://shelf/%41" };
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *text = place_check (good[i], FALSE, &error);
      g_assert_no_error (error);
      g_assert_cmpstr (text, ==, good[i]);
      g_autoptr (Place) place = place_new (good[i], FALSE, NULL);
      g_assert_null (strstr (place_name (place), "me@"));
    }
}

static void
test_paths (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *plain = place_local_path ("C:x", NULL), *uri = NULL, *here = NULL, *far = NULL;
  g_autofree char *text = place_text ("/a/../b", NULL);
  uri = place_local_path ("file:///tmp/a%20b", NULL);
  here = place_local_path ("file://localhost/tmp/a", NULL);
  g_assert_cmpstr (plain, ==, "C:x");
  g_assert_cmpstr (uri, ==, "/tmp/a b");
  g_assert_cmpstr (here, ==, "/tmp/a");
  g_assert_cmpstr (text, ==, "/b");
  g_assert_false (place_is_remote ("C:x"));
  g_assert_false (place_is_remote ("file:///a"));
  g_assert_true (place_is_remote ("sftp://shelf/a"));
  far = place_text ("file://elsewhere/tmp/a", &error);
  g_assert_null (far);
  assert_sentence (error, PLACE_ERROR_URI, "a file URI is file:///PATH");
}

static void
test_s3_needs_its_settings (void)
{
  static const char *const names[] = { "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY" };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *value = g_strdup (g_getenv (names[i]));
      g_unsetenv (names[i]);
      g_assert_null (place_new (S3, TRUE, &error));
      assert_sentence (error, PLACE_ERROR_DENIED, "set AWS_ACCESS_KEY_ID");
      g_setenv (names[i], value, TRUE);
    }
  g_autoptr (GError) error = NULL;
  g_assert_null (place_new (S3, FALSE, &error)); /* the endpoint is plain http */
  assert_sentence (error, PLACE_ERROR_URI, "--insecure");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_setenv ("AWS_ACCESS_KEY_ID", "ONE", TRUE);
  g_setenv ("AWS_SECRET_ACCESS_KEY", "TWO", TRUE);
  g_setenv ("AWS_ENDPOINT_URL", "http://shelf/", TRUE);
  g_setenv ("AWS_SHARED_CREDENTIALS_FILE", "/absent", TRUE);
  g_test_add_func ("/place-words/answers", test_answers);
  g_test_add_func ("/place-words/answers-to-a-writer", test_answers_to_a_writer);
  g_test_add_func ("/place-words/a-move-that-finds-nothing", test_a_move_that_finds_nothing);
  g_test_add_func ("/place-words/a-folder-is-no-file", test_a_folder_is_no_file);
  g_test_add_func ("/place-words/silent-ones", test_silent_ones_are_not_asked_again);
  g_test_add_func ("/place-words/given-up", test_given_up);
  g_test_add_func ("/place-words/no-memory", test_no_memory);
  g_test_add_func ("/place-words/files-of-this-machine", test_files_of_this_machine);
  g_test_add_func ("/place-words/uris", test_uris);
  g_test_add_func ("/place-words/paths", test_paths);
  g_test_add_func ("/place-words/s3-needs-its-settings", test_s3_needs_its_settings);
  return g_test_run ();
}
