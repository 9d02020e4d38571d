/* SPDX-License-Identifier: BSD-3-Clause */
/* The promises of storage/places/place.h, at a store in memory (shelf.h) of each kind: every
 * request fails in turn and in every way, and another client acts between any two requests.
 * tests/e2e/place.sh does the same with real servers. g_usleep and g_get_monotonic_time are
 * replaced, so that waits take no time. */
#include "shelf.h"

#include "storage/places/place.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define OLD_BYTES 5000
#define NEW_BYTES 70001
#define SPAN_MAX 100 /* requests of one call */

typedef struct
{
  const char *name, *uri;
  gboolean renames_over, has_no_locks, has_no_tags, has_weak_tags, hides_new_tags, compares;
} Kind;

static const Kind kinds[] = {
  { .name = "sftp", .uri = "sftp://me@shelf/files/a.db" },
  { .name = "ftp", .uri = "ftp://shelf/files/a.db", .renames_over = TRUE },
  { .name = "ftps", .uri = "ftps://shelf/files/a.db" },
  { .name = "http", .uri = "http://shelf/files/a.db", .compares = TRUE },
  { .name = "http without tags", .uri = "http://shelf/files/a.db", .has_no_tags = TRUE },
  { .name = "http with weak tags", .uri = "http://shelf/files/a.db", .has_weak_tags = TRUE },
  { .name = "s3", .uri = "s3://files/a.db", .compares = TRUE },
  { .name = "s3 without new tags",
    .uri = "s3://files/a.db",
    .hides_new_tags = TRUE,
    .compares = TRUE },
  { .name = "sftp without locks", .uri = "sftp://me@shelf/files/a.db", .has_no_locks = TRUE }
};

static const ShelfFault faults[] = { SHELF_REFUSES, SHELF_LOSES, SHELF_TEARS, SHELF_SILENT };

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

typedef struct
{
  const Kind *kind;
  char *folder, *old, *new, *other, *got;
  Place *place;
} Fixture;

/* Tags are computed from the first bytes. */
static char *
write_file (const Fixture *f, const char *name, char letter, gsize size)
{
  char *path = g_build_filename (f->folder, name, NULL);
  g_autofree char *bytes = g_malloc (size);
  for (gsize i = 0; i < size; i++)
    bytes[i] = (char)(letter + (int)(i % 19));
  g_assert_true (g_file_set_contents (path, bytes, (gssize)size, NULL));
  return path;
}

static Place *
place_at (const Kind *kind)
{
  g_autoptr (GError) error = NULL;
  Place *place = place_new (kind->uri, TRUE, &error);
  g_assert_no_error (error);
  return place;
}

static void
begin (Fixture *f, const Kind *kind)
{
  shelf_clear ();
  shelf_renames_over (kind->renames_over);
  shelf_makes_no_folders (kind->has_no_locks);
  shelf_knows_no_tags (kind->has_no_tags);
  shelf_tags_are_weak (kind->has_weak_tags);
  shelf_puts_tell_no_tags (kind->hides_new_tags);
  *f = (Fixture){ .kind = kind, .folder = g_dir_make_tmp ("satin-place-XXXXXX", NULL) };
  f->old = write_file (f, "old", 'a', OLD_BYTES);
  f->new = write_file (f, "new", 'A', NEW_BYTES);
  f->other = write_file (f, "other", '!', 77);
  f->got = g_build_filename (f->folder, "got", NULL);
  f->place = place_at (kind);
}

static void
end (Fixture *f)
{
  const char *const files[] = { f->old, f->new, f->other, f->got };
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    (void)g_unlink (files[i]);
  g_assert_cmpint (g_rmdir (f->folder), ==, 0);
  place_free (f->place);
  g_free (f->old);
  g_free (f->new);
  g_free (f->other);
  g_free (f->got);
  g_free (f->folder);
}

static gboolean
is_same (const char *a, const char *b)
{
  g_autofree char *x = NULL, *y = NULL;
  gsize n, m;
  return g_file_get_contents (a, &x, &n, NULL) && g_file_get_contents (b, &y, &m, NULL) && n == m
         && memcmp (x, y, n) == 0;
}

static void
assert_put (Place *place, const char *from, const PlaceState *expected, PlaceState *state)
{
  g_autoptr (GError) error = NULL;
  (void)place_put (place, "", from, expected, state, &error);
  g_assert_no_error (error);
}

static void
assert_changed (Place *place, const char *from, const PlaceState *expected)
{
  g_autoptr (GError) error = NULL;
  PlaceState state = { 0 };
  g_assert_false (place_put (place, "", from, expected, &state, &error));
  g_assert_error (error, PLACE_ERROR, PLACE_ERROR_CHANGED);
  place_state_clear (&state);
}

/* NULL if there is no file, else the name of the one of the three files that is there. */
static const char *
what_stands (const Fixture *f, Place *place)
{
  const char *const files[] = { f->old, f->new, f->other };
  g_autoptr (GError) error = NULL;
  PlaceState state;
  (void)place_get (place, "", f->got, G_MAXUINT64, &state, &error);
  g_assert_no_error (error);
  gboolean exists = state.exists;
  place_state_clear (&state);
  g_assert_true (exists == g_file_test (f->got, G_FILE_TEST_EXISTS));
  for (guint i = 0; exists && i < G_N_ELEMENTS (files); i++)
    if (is_same (f->got, files[i]))
      return files[i];
  g_assert_false (exists);
  return NULL;
}

static void
assert_stands (const Fixture *f, const char *file)
{
  g_autoptr (Place) reader = place_at (f->kind);
  const char *found = what_stands (f, reader);
  g_assert_cmpstr (found, ==, file);
}

static void
assert_names (const char *expected)
{
  g_autofree char *names = shelf_names ();
  g_assert_cmpstr (names, ==, expected);
}

static void
for_each_kind (void (*test) (Fixture *f))
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      Fixture f;
      g_test_message ("%s", kinds[i].name);
      begin (&f, &kinds[i]);
      test (&f);
      end (&f);
    }
}

static void
promises_are_kept (Fixture *f)
{
  PlaceState none = { 0 }, one = { 0 }, two = { 0 }, now;
  g_autoptr (GError) error = NULL;
  g_assert_true (place_look (f->place, "", &now, NULL));
  g_assert_false (now.exists);
  assert_stands (f, NULL);
  assert_put (f->place, f->old, &none, &one);
  g_assert_true (place_look (f->place, "", &now, NULL));
  g_assert_true (now.exists && place_state_equal (&now, &one));
  place_state_clear (&now);
  assert_stands (f, f->old);
  assert_changed (f->place, f->new, &none);
  assert_put (f->place, f->new, &one, &two);
  g_assert_false (place_state_equal (&one, &two));
  assert_changed (f->place, f->old, &one);
  assert_stands (f, f->new);
  assert_names ("a.db");
  g_assert_false (place_get (f->place, "", f->got, NEW_BYTES - 1, &now, &error));
  g_assert_error (error, PLACE_ERROR, PLACE_ERROR_LOCAL);
  assert_put (f->place, f->old, NULL, NULL);
  assert_stands (f, f->old);
  g_clear_error (&error);
  g_assert_false (place_remove (f->place, "", &two, &error));
  g_assert_error (error, PLACE_ERROR, PLACE_ERROR_CHANGED);
  g_assert_true (place_look (f->place, "", &now, NULL));
  g_assert_true (place_remove (f->place, "", &now, NULL));
  g_assert_true (place_remove (f->place, "", &now, NULL));
  g_assert_true (place_remove (f->place, "", NULL, NULL));
  assert_names ("");
  place_state_clear (&now);
  place_state_clear (&one);
  place_state_clear (&two);
}

/* T1-10. */
static void
test_promises_are_kept (void)
{
  for_each_kind (promises_are_kept);
}

/* An empty file counts as no file, and can be replaced. */
static void
an_empty_file_is_nothing (Fixture *f)
{
  PlaceState now, none = { 0 };
  shelf_put ("/files/a.db", "", 0);
  g_assert_true (place_look (f->place, "", &now, NULL));
  g_assert_false (now.exists);
  assert_stands (f, NULL);
  assert_put (f->place, f->new, &none, NULL);
  assert_stands (f, f->new);
}

static void
test_an_empty_file_is_nothing (void)
{
  for_each_kind (an_empty_file_is_nothing);
}

static void
look_between (gpointer data)
{
  Fixture *f = data;
  g_autoptr (Place) reader = place_at (f->kind);
  const char *found = what_stands (f, reader);
  g_assert_true (found == f->old || found == f->new);
}

/* Between any two requests of a replacement a reader finds a whole file. */
static void
readers_find_a_whole_file (Fixture *f)
{
  PlaceState one = { 0 };
  assert_put (f->place, f->old, NULL, &one);
  shelf_between (0, look_between, f);
  assert_put (f->place, f->new, &one, NULL);
  g_assert_cmpuint (shelf_requests (), >=, 2);
  place_state_clear (&one);
}

static void
test_readers_find_a_whole_file (void)
{
  for_each_kind (readers_find_a_whole_file);
}

static void
look_for_lock (gpointer data)
{
  gboolean *has_lock = data;
  g_autofree char *names = shelf_names ();
  *has_lock = *has_lock || strstr (names, "a.db.lock/satin-by-") != NULL;
}

/* Requests `at` to `last` fail, and later ones succeed: a failure has no lasting effect. FALSE:
 * there were not so many. */
static gboolean
fail_one (const Kind *kind, ShelfFault fault, guint at, guint last, gboolean has_old)
{
  Fixture f;
  g_autoptr (GError) error = NULL;
  PlaceState one = { 0 }, two = { 0 }, now = { 0 };
  g_test_message ("%s: fault %d at %u to %u", kind->name, fault, at, last);
  begin (&f, kind);
  if (has_old)
    assert_put (f.place, f.old, NULL, &one);
  shelf_fail (fault, at, last);
  gint64 began_us = now_us;
  gboolean good = place_put (f.place, "", f.new, &one, &two, &error);
  gboolean was_reached = shelf_has_failed ();
  g_assert_true (good == (error == NULL));
  g_assert_false (
      g_error_matches (error, PLACE_ERROR, PLACE_ERROR_CHANGED)); /* no other writer wrote */
  g_assert_cmpint (now_us - began_us, <, (last > at ? 15 : 6) * G_USEC_PER_SEC);
  shelf_fail (SHELF_SOUND, 0, 0);
  place_ask_again (f.place);
  const char *stands = what_stands (&f, f.place);
  g_assert_true (stands == f.new || (!good && stands == (has_old ? f.old : NULL)));
  g_assert_true (place_look (f.place, "", &now, NULL));
  if (good)
    g_assert_true (place_state_equal (&now, &two));
  gboolean has_lock = kind->has_no_locks || last > at;
  shelf_between (0, look_for_lock, &has_lock);
  assert_put (f.place, f.new, &now, NULL);
  shelf_between (0, NULL, NULL);
  g_assert_true (has_lock || g_str_has_prefix (kind->uri, "s3:"));
  g_autofree char *names = shelf_names ();
  g_assert_null (strstr (names, ".tmp"));
  g_autoptr (Place) another = place_at (kind); /* takes over a lock that could not be released */
  assert_put (another, f.other, NULL, NULL);
  assert_stands (&f, f.other);
  g_assert_true (place_sweep (another, 0, NULL));
  assert_names ("a.db");
  place_state_clear (&one);
  place_state_clear (&two);
  place_state_clear (&now);
  end (&f);
  return was_reached;
}

static void
test_every_request_fails (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    for (guint j = 0; j < G_N_ELEMENTS (faults); j++)
      for (guint k = 0; k < 4; k++)
        {
          guint at = 1;
          while (fail_one (&kinds[i], faults[j], at, k < 2 ? at : SPAN_MAX, k % 2 == 0))
            g_assert_cmpuint (++at, <, SPAN_MAX);
          g_assert_cmpuint (at, >, 1);
        }
}

/* The writer that has the lock takes it again at once. */
static void
lock_again (gpointer data)
{
  (void)data;
  shelf_make_folder ("/files/a.db.lock");
  shelf_make_folder ("/files/a.db.lock/satin-by-00000000-1-1-1-another-1");
}

/* A writer that got no lock for ten seconds continues without one, and does not wait so long each
 * time; when the lock is free it takes it again. */
static void
a_lock_in_vain (Fixture *f)
{
  gboolean has_lock = FALSE;
  if (f->kind->has_no_locks || f->kind->compares)
    return;
  for (guint i = 0; i < 2; i++)
    {
      gint64 began_us = now_us;
      shelf_between (0, lock_again, NULL);
      assert_put (f->place, f->new, NULL, NULL);
      shelf_between (0, NULL, NULL);
      g_assert_cmpint (now_us - began_us >= 9 * G_USEC_PER_SEC, ==, i == 0);
    }
  shelf_remove ("/files/a.db.lock/satin-by-00000000-1-1-1-another-1");
  shelf_remove ("/files/a.db.lock");
  shelf_between (0, look_for_lock, &has_lock);
  assert_put (f->place, f->old, NULL, NULL);
  shelf_between (0, NULL, NULL);
  g_assert_true (has_lock);
  g_assert_true (place_sweep (f->place, 0, NULL));
  assert_names ("a.db");
}

static void
test_a_lock_in_vain_is_not_the_last (void)
{
  for_each_kind (a_lock_in_vain);
}

/* ---- removals at stores that rename ---- */

static void
find_no_older_one (gpointer data)
{
  Fixture *f = data;
  g_autoptr (Place) reader = place_at (f->kind);
  const char *found = what_stands (f, reader);
  g_assert_true (found == f->new || found == NULL);
}

static void
put_back (gpointer data)
{
  Fixture *f = data;
  g_autofree char *bytes = NULL;
  gsize size;
  g_assert_true (g_file_get_contents (f->new, &bytes, &size, NULL));
  shelf_put ("/files/a.db", bytes, size);
}

/* No reader meets the file that stood there before the one that is removed, and TRUE means that
 * none stands there. */
static void
a_removal (Fixture *f)
{
  g_autoptr (GError) error = NULL;
  if (!g_str_has_prefix (f->kind->name, "sftp") && !g_str_has_prefix (f->kind->name, "ftp"))
    return;
  assert_put (f->place, f->old, NULL, NULL);
  g_autoptr (GBytes) old = shelf_get ("/files/a.db");
  shelf_put ("/files/a.db~", g_bytes_get_data (old, NULL), g_bytes_get_size (old));
  put_back (f);
  shelf_between (0, find_no_older_one, f);
  g_assert_true (place_remove (f->place, "", NULL, NULL));
  shelf_between (0, NULL, NULL);
  assert_names ("");
  shelf_between (0, put_back, f);
  g_assert_false (place_remove (f->place, "", NULL, &error));
  g_assert_error (error, PLACE_ERROR, PLACE_ERROR_DENIED);
  shelf_between (0, NULL, NULL);
}

static void
test_a_removal (void)
{
  for_each_kind (a_removal);
}

typedef struct
{
  Fixture *f;
  const PlaceState *expected;
  gboolean is_patient, has_won;
} Rival;

static void
put_between (gpointer data)
{
  Rival *rival = data;
  g_autoptr (Place) place = place_at (rival->f->kind);
  g_autoptr (GError) error = NULL;
  if (!rival->is_patient)
    place_set_limit (place, now_us + 5 * G_USEC_PER_SEC);
  rival->has_won = place_put (place, "", rival->f->other, rival->expected, NULL, &error);
  if (!rival->has_won && (rival->is_patient || error->code != PLACE_ERROR_STOPPED))
    g_assert_error (error, PLACE_ERROR, PLACE_ERROR_CHANGED);
}

/* Another writer replaces the same file just before request `at` of this one. One of them wins: a
 * file whose writing was confirmed is never replaced by a writer that expected another. A patient
 * rival takes over the lock of a stopped writer; then a store without conditional requests gives no
 * protection between the last look and the renames. */
static gboolean
race (const Kind *kind, guint at, gboolean is_patient, gboolean has_old, guint *n_undone)
{
  Fixture f;
  g_autoptr (GError) error = NULL;
  PlaceState one = { 0 };
  begin (&f, kind);
  if (has_old)
    assert_put (f.place, f.old, NULL, &one);
  Rival rival = { .f = &f, .expected = &one, .is_patient = is_patient };
  g_test_message ("%s: %s rival before request %u%s", kind->name, is_patient ? "patient" : "hasty",
                  at, has_old ? "" : ", nothing stood there");
  shelf_between (at, put_between, &rival);
  gboolean has_won = place_put (f.place, "", f.new, &one, NULL, &error);
  gboolean was_reached = shelf_requests () >= at;
  shelf_between (0, NULL, NULL);
  if (!has_won)
    g_assert_error (error, PLACE_ERROR, PLACE_ERROR_CHANGED);
  g_assert_true (has_won || rival.has_won);
  *n_undone += has_won && rival.has_won;
  assert_stands (&f, has_won ? f.new : f.other);
  place_state_clear (&one);
  end (&f);
  return was_reached;
}

static void
test_one_of_two_wins (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    for (guint k = 0; k < 4; k++)
      {
        guint at = 1, n_undone = 0;
        gboolean is_patient = k % 2 == 1, has_old = k < 2;
        if (is_patient && (kinds[i].has_no_tags || kinds[i].has_weak_tags || kinds[i].renames_over))
          continue;
        while (race (&kinds[i], at, is_patient, has_old, &n_undone))
          g_assert_cmpuint (++at, <, SPAN_MAX);
        gboolean has_no_help = !kinds[i].compares && (is_patient || kinds[i].has_no_locks);
        g_assert_cmpuint (at, >, 2);
        g_assert_cmpuint (n_undone, <=, has_no_help ? 1 : 0);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  /* Thousands of small files are made. */
  if (g_access ("/dev/shm", W_OK) == 0)
    g_setenv ("TMPDIR", "/dev/shm", FALSE);
  g_setenv ("AWS_ACCESS_KEY_ID", "ONE", TRUE);
  g_setenv ("AWS_SECRET_ACCESS_KEY", "TWO", TRUE);
  g_setenv ("AWS_ENDPOINT_URL", "http://shelf/", TRUE);
  g_test_add_func ("/place/a-removal", test_a_removal);
  g_test_add_func ("/place/promises-are-kept", test_promises_are_kept);
  g_test_add_func ("/place/an-empty-file-is-nothing", test_an_empty_file_is_nothing);
  g_test_add_func ("/place/readers-find-a-whole-file", test_readers_find_a_whole_file);
  g_test_add_func ("/place/every-request-fails", test_every_request_fails);
  g_test_add_func ("/place/a-lock-in-vain-is-not-the-last", test_a_lock_in_vain_is_not_the_last);
  g_test_add_func ("/place/one-of-two-wins", test_one_of_two_wins);
  return g_test_run ();
}
