/* SPDX-License-Identifier: BSD-3-Clause */
/* One request to a store (storage/places/place-curl.c, place-s3.c): what it is made with, when it
 * is given up, when it is made again, and what is counted. Uses the store in memory (shelf.h);
 * waits take no time. */
#include "shelf.h"

#include "storage/places/place.h"

#include <curl/curl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SFTP "sftp://me@shelf/files/a.db"
#define FTPS "ftps://shelf/files/a.db"
#define HTTP "http://shelf/files/a.db"
#define S3 "s3://files/a.db"
#define SIZE (3u * 1024 * 1024 + 17)
#define PARTS (SIZE / 16384 + 1) /* in which the store takes and gives it */

static const char *const uris[] = { SFTP, "ftp://shelf/files/a.db", FTPS, HTTP, S3 };
static char *folder, *file, *got;
static gint64 now_us = 1000000, part_us;

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

static Place *
place_at (const char *uri)
{
  g_autoptr (GError) error = NULL;
  Place *place = place_new (uri, TRUE, &error);
  g_assert_no_error (error);
  return place;
}

/* ---- whole files, and what is counted ---- */

static gboolean
is_whole (void)
{
  g_autofree char *a = NULL, *b = NULL;
  gsize n, m;
  return g_file_get_contents (file, &a, &n, NULL) && g_file_get_contents (got, &b, &m, NULL)
         && n == m && memcmp (a, b, n) == 0;
}

static void
assert_traffic (const Place *place, guint64 files_sent, guint64 files_received)
{
  guint64 sent, received;
  place_traffic (place, &sent, &received);
  g_assert_cmpuint (sent, ==, files_sent * SIZE);
  g_assert_cmpuint (received, >=, files_received * SIZE);
  g_assert_cmpuint (received, <, files_received * SIZE + 4000); /* listings and first bytes */
}

/* A file arrives whole, is received whole where it may just be as large as that, is of no concern
 * to other users of this machine, and all of it is counted. */
static void
test_a_large_file (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (uris); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Place) place = place_at (uris[i]);
      PlaceState state;
      GStatBuf status;
      shelf_clear ();
      for (guint n = 1; n <= 2; n++)
        {
          (void)place_put (place, "", file, NULL, NULL, &error);
          g_assert_no_error (error);
          assert_traffic (place, n, n - 1);
          (void)place_get (place, "", got, SIZE, &state, &error);
          g_assert_no_error (error);
          g_assert_true (state.exists && is_whole ());
          place_state_clear (&state);
          assert_traffic (place, n, n);
          g_assert_cmpint (g_stat (got, &status), ==, 0);
          g_assert_cmpint (status.st_mode & 0777, ==, 0600);
        }
    }
}

/* ---- when a request is given up ---- */

static void
let_time_pass (void)
{
  now_us += part_us;
}

/* Each part of a file takes so many seconds. A store that moves is waited for, however long all of
 * it takes; one that stands still for longer than it may is given up. */
static void
test_patience (void)
{
  static const struct
  {
    int patience_s; /* 0: the usual one */
    int part_s;
    gboolean is_good;
  } table[]
      = { { 0, 59, TRUE }, { 0, 62, FALSE }, { 4, 3, TRUE }, { 4, 6, FALSE }, { 99, 98, TRUE } };
  for (guint i = 0; i < G_N_ELEMENTS (uris); i++)
    for (guint j = 0; j < 2 * G_N_ELEMENTS (table); j++)
      {
        g_autoptr (GError) error = NULL;
        g_autoptr (Place) place = place_at (uris[i]);
        gboolean sends = j % 2 == 0;
        gint64 began_us = now_us;
        PlaceState state = { 0 };
        shelf_clear ();
        g_assert_true (place_put (place, "", file, NULL, NULL, NULL));
        if (table[j / 2].patience_s > 0)
          place_set_patience (place, table[j / 2].patience_s);
        part_us = table[j / 2].part_s * G_USEC_PER_SEC;
        shelf_each_chunk (let_time_pass);
        gboolean good = sends ? place_put (place, "", file, NULL, NULL, &error)
                              : place_get (place, "", got, SIZE, &state, &error);
        shelf_each_chunk (NULL);
        g_assert_cmpint (good, ==, table[j / 2].is_good);
        if (good)
          g_assert_cmpint (now_us - began_us, >=, (PARTS - 1) * part_us);
        else
          g_assert_error (error, PLACE_ERROR, PLACE_ERROR_STOPPED);
        place_state_clear (&state);
      }
}

/* ---- when it is made again ---- */

/* A server that replaces a file by removing it first says for a moment that there is none, or that
 * it must not be read. This is believed after half a second. What the server sends with such an
 * answer is no part of the file. */
static void
test_a_file_that_is_being_replaced (void)
{
  static const long answers[] = { 404, 403 };
  for (guint i = 0; i < G_N_ELEMENTS (answers); i++)
    for (guint n = 1; n <= 6; n++)
      for (guint gets = 0; gets < 2; gets++)
        {
          g_autoptr (GError) error = NULL;
          g_autoptr (Place) place = place_at (HTTP);
          PlaceState put, state = { 0 };
          shelf_clear ();
          g_assert_true (place_put (place, "", file, NULL, &put, NULL));
          shelf_answer (answers[i], 0);
          shelf_fail (SHELF_ANSWERS, 1, n);
          gboolean good = gets ? place_get (place, "", got, SIZE, &state, &error)
                               : place_look (place, "", &state, &error);
          g_assert_cmpint (good, ==, n < 6 || answers[i] == 404);
          g_assert_cmpint (state.exists, ==, n < 6);
          if (state.exists)
            g_assert_cmpstr (state.tag, ==, put.tag);
          place_state_clear (&put);
          place_state_clear (&state);
        }
}

static GString *tried;

static void
note_key (gpointer data)
{
  g_autofree char *key = shelf_option (CURLOPT_SSH_PRIVATE_KEYFILE);
  g_autofree char *kinds = shelf_option (CURLOPT_SSH_AUTH_TYPES);
  g_autofree char *name = key != NULL ? g_path_get_basename (key) : g_strdup ("none");
  gboolean has_password = (atol (kinds) & CURLSSH_AUTH_PASSWORD) != 0;
  (void)data;
  g_string_append_printf (tried, "%s%s ", name, has_password ? "+password" : "");
}

/* sftp: one key after the other is tried; the password is sent once, since servers lock out users
 * after several wrong ones. A key that was let in stays; else the next request begins with the
 * first one again. */
static void
test_keys (void)
{
  static const char *const names[] = { "id_rsa", "id_ed25519" };
  g_autoptr (Place) place = place_at (SFTP);
  PlaceState state;
  g_autofree char *ssh = g_build_filename (g_get_home_dir (), ".ssh", NULL);
  g_assert_cmpint (g_mkdir (ssh, 0700), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (ssh, names[i], NULL);
      g_assert_true (g_file_set_contents (path, "key", 3, NULL));
    }
  tried = g_string_new (NULL);
  shelf_clear ();
  shelf_put ("/files/a.db", "file", 4);
  shelf_answer (0, CURLE_LOGIN_DENIED);
  shelf_fail (SHELF_ANSWERS, 1, 2);
  shelf_between (0, note_key, NULL);
  g_assert_false (place_look (place, "", &state, NULL));
  g_assert_cmpstr (tried->str, ==, "id_ed25519+password id_rsa ");
  shelf_fail (SHELF_ANSWERS, 1, 1);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (place_look (place, "", &state, NULL));
      place_state_clear (&state);
    }
  g_assert_cmpstr (tried->str, ==, "id_ed25519+password id_rsa id_ed25519+password id_rsa id_rsa ");
  g_string_free (tried, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (ssh, names[i], NULL);
      g_assert_cmpint (g_unlink (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (ssh), ==, 0);
}

static void
assert_option (CURLoption option, const char *expected)
{
  g_autofree char *text = shelf_option ((int)option);
  g_assert_cmpstr (text, ==, expected);
}

/* ftps: a server that does not speak TLS from the first byte is asked to begin it, and nothing is
 * sent to it without. */
static void
test_the_other_kind_of_tls (void)
{
  g_autoptr (Place) place = place_at (FTPS);
  PlaceState state;
  shelf_clear ();
  g_assert_true (place_look (place, "", &state, NULL));
  assert_option (CURLOPT_URL, "ftps://shelf/files/a.db~");
  g_autoptr (Place) another = place_at (FTPS);
  shelf_answer (0, CURLE_SSL_CONNECT_ERROR);
  shelf_fail (SHELF_ANSWERS, 1, 1);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (place_look (another, "", &state, NULL));
      assert_option (CURLOPT_URL, "ftp://shelf/files/a.db~");
      g_autofree char *tls = shelf_option (CURLOPT_USE_SSL);
      g_assert_cmpint (atol (tls), ==, CURLUSESSL_ALL);
      /* What the server has shown stays, though it is not reached for a while. */
      shelf_fail (SHELF_ANSWERS, 1, 1);
      g_assert_false (place_look (another, "", &state, NULL));
    }
}

/* ---- what it is made with ---- */

/* Whatever is asked: other schemes are refused, redirects are not followed, the time is limited,
 * and the host's key has to be known. */
static void
note_settings (gpointer data)
{
  const char *uri = data;
  g_autofree char *connect_s = shelf_option (CURLOPT_CONNECTTIMEOUT);
  g_autofree char *slow_s = shelf_option (CURLOPT_LOW_SPEED_TIME);
  g_autofree char *slow_bytes = shelf_option (CURLOPT_LOW_SPEED_LIMIT);
  g_autofree char *hosts = shelf_option (CURLOPT_SSH_KNOWNHOSTS);
  g_autofree char *known = g_build_filename (g_get_home_dir (), ".ssh", "known_hosts", NULL);
  assert_option (CURLOPT_PROTOCOLS_STR, "sftp,ftp,ftps,http,https");
  assert_option (CURLOPT_FOLLOWLOCATION, "0");
  assert_option (CURLOPT_NOSIGNAL, "1");
  assert_option (CURLOPT_NOPROGRESS, "0"); /* so that it can be given up */
  g_assert_cmpint (atol (connect_s), ==, 15);
  g_assert_cmpint (atol (slow_s), ==, 60);
  g_assert_cmpint (atol (slow_bytes), ==, 1000);
  g_assert_cmpstr (hosts, ==, g_str_has_prefix (uri, "sftp") ? known : NULL);
  assert_option (CURLOPT_SSL_VERIFYPEER, NULL); /* libcurl's own, which is yes */
  assert_option (CURLOPT_SSL_VERIFYHOST, NULL);
}

static void
test_settings (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (uris); i++)
    {
      g_autoptr (Place) place = place_at (uris[i]);
      PlaceState state;
      shelf_clear ();
      shelf_between (0, note_settings, (gpointer)uris[i]);
      g_assert_true (place_put (place, "", file, NULL, NULL, NULL));
      g_assert_true (place_look (place, "", &state, NULL));
      assert_option (CURLOPT_TIMEOUT_MS, NULL);
      place_set_limit (place, now_us + 5 * G_USEC_PER_SEC);
      g_assert_true (place_remove (place, "", &state, NULL));
      g_autofree char *limit = shelf_option (CURLOPT_TIMEOUT_MS);
      g_assert_cmpint (atol (limit), >, 4000);
      g_assert_cmpint (atol (limit), <=, 5000);
      place_state_clear (&state);
    }
}

/* A value is looked for in the environment, then in the profile's section of the two files. */
static const struct
{
  const char *set;        /* variables, besides the keys ONE and TWO */
  const char *url, *user; /* NULL: as by default */
  const char *region, *header;
} s3_settings[] = {
  { "", NULL, NULL, "us-east-1", NULL },
  { "AWS_REGION=x-1", "https://files.s3.x-1.amazonaws.com/a.db", NULL, "x-1", NULL },
  { "AWS_DEFAULT_REGION=x-2", "https://files.s3.x-2.amazonaws.com/a.db", NULL, "x-2", NULL },
  { "AWS_REGION=x-1 AWS_DEFAULT_REGION=x-2", "https://files.s3.x-1.amazonaws.com/a.db", NULL, "x-1",
    NULL },
  { "AWS_ENDPOINT_URL=http://shelf", "http://shelf/files/a.db", NULL, "us-east-1", NULL },
  { "AWS_ENDPOINT_URL=http://shelf//", "http://shelf/files/a.db", NULL, "us-east-1", NULL },
  { "AWS_ENDPOINT_URL=http://a AWS_ENDPOINT_URL_S3=http://b", "http://b/files/a.db", NULL,
    "us-east-1", NULL },
  { "AWS_SESSION_TOKEN=T", NULL, NULL, "us-east-1", "x-amz-security-token: T\n" },
  { "AWS_ACCESS_KEY_ID= AWS_SECRET_ACCESS_KEY=", NULL, "default-id:default-key", "x-3", NULL },
  { "AWS_ACCESS_KEY_ID= AWS_SECRET_ACCESS_KEY= AWS_PROFILE=other", "http://c/files/a.db",
    "other-id:other-key", "x-4", "x-amz-security-token: other-token\n" },
  { "AWS_PROFILE=other AWS_REGION=x-1", "http://c/files/a.db", NULL, "x-1", NULL },
  { "AWS_PROFILE=absent", NULL, NULL, "us-east-1", NULL },
};

static void
set_s3 (const char *text, gboolean with_files)
{
  static const char *const names[]
      = { "AWS_REGION",          "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL",
          "AWS_ENDPOINT_URL_S3", "AWS_PROFILE",        "AWS_SESSION_TOKEN" };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_unsetenv (names[i]);
  g_autofree char *credentials
      = g_build_filename (folder, with_files ? "credentials" : "absent", NULL);
  g_autofree char *config = g_build_filename (folder, with_files ? "config" : "absent", NULL);
  g_setenv ("AWS_SHARED_CREDENTIALS_FILE", credentials, TRUE);
  g_setenv ("AWS_CONFIG_FILE", config, TRUE);
  g_setenv ("AWS_ACCESS_KEY_ID", "ONE", TRUE);
  g_setenv ("AWS_SECRET_ACCESS_KEY", "TWO", TRUE);
  g_auto (GStrv) pairs = g_strsplit (text, " ", -1);
  for (guint i = 0; pairs[i] != NULL && pairs[i][0] != '\0'; i++)
    {
      char *is = strchr (pairs[i], '=');
      *is = '\0';
      g_setenv (pairs[i], is + 1, TRUE);
    }
}

static void
test_s3_settings (void)
{
  static const char credentials[]
      = "[default]\naws_access_key_id = default-id\naws_secret_access_key = default-key\n"
        "[other]\naws_access_key_id = other-id\naws_secret_access_key = other-key\n"
        "aws_session_token = other-token\n";
  static const char config[] = "[default]\nregion = x-3\n"
                               "[profile other]\nregion = x-4\nendpoint_url = http://c/\n"
                               "[other]\nregion = wrong\n";
  g_autofree char *one = g_build_filename (folder, "credentials", NULL);
  g_autofree char *two = g_build_filename (folder, "config", NULL);
  g_assert_true (g_file_set_contents (one, credentials, -1, NULL));
  g_assert_true (g_file_set_contents (two, config, -1, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (s3_settings); i++)
    {
      PlaceState state;
      g_test_message ("%s", s3_settings[i].set);
      set_s3 (s3_settings[i].set, strstr (s3_settings[i].set, "PROFILE") != NULL
                                      || strstr (s3_settings[i].set, "KEY_ID=") != NULL);
      g_autoptr (Place) place = place_at (S3);
      g_autofree char *sign = g_strdup_printf ("aws:amz:%s:s3", s3_settings[i].region);
      g_autofree char *usual
          = g_strdup_printf ("https://files.s3.%s.amazonaws.com/a.db", s3_settings[i].region);
      shelf_clear ();
      g_assert_true (place_look (place, "", &state, NULL));
      assert_option (CURLOPT_URL, s3_settings[i].url != NULL ? s3_settings[i].url : usual);
      assert_option (CURLOPT_USERPWD,
                     s3_settings[i].user != NULL ? s3_settings[i].user : "ONE:TWO");
      assert_option (CURLOPT_AWS_SIGV4, sign);
      g_autofree char *headers = shelf_option (CURLOPT_HTTPHEADER);
      if (s3_settings[i].header != NULL)
        g_assert_nonnull (strstr (headers, s3_settings[i].header));
    }
  set_s3 ("AWS_ENDPOINT_URL=http://shelf/", FALSE);
  g_assert_cmpint (g_unlink (one) | g_unlink (two), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (g_access ("/dev/shm", W_OK) == 0)
    g_setenv ("TMPDIR", "/dev/shm", FALSE);
  folder = g_dir_make_tmp ("satin-request-XXXXXX", NULL);
  g_setenv ("HOME", folder, TRUE);
  file = g_build_filename (folder, "file", NULL);
  got = g_build_filename (folder, "got", NULL);
  g_autofree char *bytes = g_malloc (SIZE);
  for (gsize i = 0; i < SIZE; i++)
    bytes[i] = (char)((i * 2654435761u) >> 13);
  g_assert_true (g_file_set_contents (file, bytes, SIZE, NULL));
  set_s3 ("AWS_ENDPOINT_URL=http://shelf/", FALSE);
  g_test_add_func ("/place-request/a-large-file", test_a_large_file);
  g_test_add_func ("/place-request/patience", test_patience);
  g_test_add_func ("/place-request/being-replaced", test_a_file_that_is_being_replaced);
  g_test_add_func ("/place-request/keys", test_keys);
  g_test_add_func ("/place-request/the-other-kind-of-tls", test_the_other_kind_of_tls);
  g_test_add_func ("/place-request/settings", test_settings);
  g_test_add_func ("/place-request/s3-settings", test_s3_settings);
  int status = g_test_run ();
  (void)g_unlink (file);
  (void)g_unlink (got);
  g_assert_cmpint (g_rmdir (folder), ==, 0); /* nothing else is left here */
  g_free (folder);
  g_free (file);
  g_free (got);
  return status;
}
