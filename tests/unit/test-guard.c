/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of storage/: files that another program wrote, and publishing. Links storage, GLib and
 * SQLite, and no other room. */
#include "entries.h"
#include "store.h"

#include "host/process.h"

#include "storage/recover/guard.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define WHOLE_ATTRIBUTE "user.satin.whole" /* of guard.c */

static GBytes *
contents (const char *path)
{
  char *data;
  gsize size;
  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  return g_bytes_new_take (data, size);
}

/* The file at the target is refused with a message that contains `word`, and is not changed. */
static void
assert_refused (Fixture *f, const char *word)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) before = contents (f->target);
  guint n = entries (f->folder);

  g_autoptr (Sql) sql = guard_open (f->target, NULL, &error);

  g_assert_null (sql);
  g_assert_error (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE);
  g_test_message ("%s", error->message);
  if (strstr (error->message, word) == NULL || strstr (error->message, f->target) == NULL)
    g_error ("'%s' is not in: %s", word, error->message);
  g_autoptr (GBytes) after = contents (f->target);
  g_assert_true (g_bytes_equal (before, after));
  g_assert_cmpuint (entries (f->folder), ==, n);
}

static void
change (Fixture *f, const char *statements)
{
  sqlite3 *db = NULL;
  publish (f);
  g_assert_cmpint (sqlite3_open (f->target, &db), ==, SQLITE_OK);
  char *message = NULL;
  if (sqlite3_exec (db, statements, NULL, NULL, &message) != SQLITE_OK)
    g_error ("%s: %s", statements, message);
  sqlite3_close (db);
}

static void
test_a_published_file_is_accepted (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_autoptr (GError) error = NULL;
  put (f, "/0", 1, 1);
  put (f, "/1", 2, 2);
  publish (f);
  g_autoptr (GBytes) before = contents (f->target);

  g_autoptr (Sql) sql = guard_open (f->target, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (sql->identity, ==, IDENTITY);
  assert_rows (sql, "/0=1 /1=2");
  g_assert_cmpint (sqlite3_exec (sql->db, "DELETE FROM result", 0, 0, 0), !=, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (sql->db, "PRAGMA user_version=9", 0, 0, 0), !=, SQLITE_OK);
  g_autoptr (GBytes) after = contents (f->target);
  g_assert_true (g_bytes_equal (before, after));
}

/* Changes the count of fragmented free bytes in all pages except the first, which only a check of
 * the whole file finds. `times` (nullable): the file's times afterwards. */
static void
miscount (const char *path, const struct timespec *times)
{
  guint8 size[2];
  struct stat status;
  int fd = open (path, O_RDWR | O_CLOEXEC);
  g_assert_cmpint (pread (fd, size, 2, 16), ==, 2);
  g_assert_cmpint (fstat (fd, &status), ==, 0);
  off_t page = size[0] << 8 | size[1];
  for (off_t at = page; at < status.st_size; at += page)
    g_assert_cmpint (pwrite (fd, "\x03", 1, at + 7), ==, 1);
  g_assert_true (times == NULL || futimens (fd, times) == 0);
  close (fd);
}

static gboolean
lacks_attributes (Fixture *f)
{
  if (setxattr (f->folder, "user.test", "1", 1, 0) == 0)
    return FALSE;
  g_test_skip ("no attributes on this file system");
  return TRUE;
}

static gboolean
is_salvage (const char *path, Sql *open_it (const char *, const char *, GError **))
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Sql) sql = open_it (path, NULL, &error);
  g_assert_no_error (error);
  return sql->is_salvage;
}

static void
test_an_own_file_is_read_through_once (Fixture *f, gconstpointer unused)
{
  (void)unused;
  struct stat before;
  put (f, "/0", 1, 1);
  publish (f);
  g_assert_cmpint (stat (f->target, &before), ==, 0);
  g_assert_false (is_salvage (f->target, guard_open));
  g_assert_cmpint (listxattr (f->target, NULL, 0), <=, 0); /* a user's file gets no attribute */
  g_assert_false (is_salvage (f->target, guard_open_own));
  if (lacks_attributes (f))
    return;
  miscount (f->target, (struct timespec[2]){ before.st_atim, before.st_mtim });
  g_assert_false (is_salvage (f->target, guard_open_own));
  g_assert_true (is_salvage (f->target, guard_open));
  miscount (f->target, NULL);
  g_assert_true (is_salvage (f->target, guard_open_own));
}

static void
test_nothing_there_is_no_error (Fixture *f, gconstpointer unused)
{
  (void)unused;
  GError *error = NULL;
  g_assert_null (guard_open (f->target, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_set_contents (f->target, "", 0, NULL));
  g_assert_null (guard_open (f->target, NULL, &error));
  g_assert_no_error (error);
}

/* Replaces all checksums, since another format may compute them in another way. */
#define OTHER_SUMS \
  "UPDATE run SET sum = randomblob (8); UPDATE node SET sum = randomblob (8);" \
  "UPDATE job SET sum = randomblob (8); UPDATE constant SET sum = randomblob (8);" \
  "UPDATE best SET sum = randomblob (8); UPDATE keep SET sum = randomblob (8);" \
  "UPDATE result SET sum = randomblob (8); UPDATE stem SET sum = randomblob (8);" \
  "UPDATE event SET sum = randomblob (8)"

static void
test_foreign_files_are_refused_untouched (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_assert_true (g_file_set_contents (f->target, "my thesis", -1, NULL));
  assert_refused (f, "not an SQLite file");
  g_autofree char *garbage = g_malloc (50000);
  for (int i = 0; i < 50000; i++)
    garbage[i] = (char)g_test_rand_int ();
  g_assert_true (g_file_set_contents (f->target, garbage, 50000, NULL));
  assert_refused (f, "not an SQLite file");
  change (f, "PRAGMA user_version=5;" OTHER_SUMS);
  assert_refused (f, "newer Satin (format 5");
  change (f, "PRAGMA user_version=99;" OTHER_SUMS);
  assert_refused (f, "newer Satin (format 99");
}

/* A wrong format number in the header does no harm: the checksums of the rows are those of this
 * format. */
static void
test_a_wrong_format_number_loses_nothing (Fixture *f, gconstpointer unused)
{
  (void)unused;
  for (gsize at = 60; at < 64; at++)
    for (int mask = 1; mask < 256; mask += 6)
      {
        g_autoptr (GError) error = NULL;
        publish (f);
        g_autoptr (GBytes) whole = contents (f->target);
        gsize size;
        g_autofree guint8 *bytes
            = g_memdup2 (g_bytes_get_data (whole, &size), g_bytes_get_size (whole));

        bytes[at] ^= (guint8)mask;
        g_assert_true (g_file_set_contents (f->target, (char *)bytes, (gssize)size, NULL));
        g_autoptr (Sql) sql = guard_open (f->target, NULL, &error);
        g_assert_no_error (error);
        g_assert_nonnull (sql);
      }
}

/* Makes an SQLite file of another program by `statements`. */
static void
make_foreign (Fixture *f, const char *statements)
{
  sqlite3 *db = NULL;
  (void)g_unlink (f->target);
  g_assert_cmpint (sqlite3_open (f->target, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, statements, NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
}

static void
test_files_of_other_programs_are_refused_untouched (Fixture *f, gconstpointer unused)
{
  (void)unused;
  make_foreign (f, "CREATE TABLE mail (subject, body); INSERT INTO mail VALUES ('a', 'b')");
  assert_refused (f, "another program");
  /* Also with Satin's application id and a table like Satin's. */
  make_foreign (f, "PRAGMA application_id=0x5341544E; PRAGMA user_version=1;"
                   "CREATE TABLE run (key TEXT PRIMARY KEY, value, sum);"
                   "INSERT INTO run VALUES ('identity', '" IDENTITY "', 5)");
  assert_refused (f, "damaged beyond repair");
}

/* The file is read completely, is marked as salvaged, and is not changed. */
static void
assert_salvaged (Fixture *f, const char *identity, const char *rows)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) before = contents (f->target);
  g_autoptr (Sql) sql = guard_open (f->target, identity, &error);
  g_assert_no_error (error);
  g_assert_true (sql->is_salvage);
  assert_rows (sql, rows);
  g_assert_cmpint (sqlite3_exec (sql->db, "DELETE FROM result", 0, 0, 0), !=, SQLITE_OK);
  g_autoptr (GBytes) after = contents (f->target);
  g_assert_true (g_bytes_equal (before, after));
}

/* SQLite does not read a file whose schema differs from Satin's; its Satin rows are salvaged. */
static void
test_of_another_schema_only_our_rows_are_taken (Fixture *f, gconstpointer unused)
{
  (void)unused;
  static const char *const changes[] = {
    "PRAGMA application_id=7",
    "PRAGMA user_version=0",
    "CREATE TABLE extra (a); INSERT INTO extra VALUES (1)",
    "CREATE INDEX mine ON result (node)",
    "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM result; END",
    "DROP VIEW largest; CREATE VIEW largest AS SELECT 1",
    "DROP TABLE keep",
    "ALTER TABLE run ADD COLUMN twice AS (value || value)",
    "ALTER TABLE result ADD COLUMN more DEFAULT 5",
    "UPDATE run SET sum = sum + 1 WHERE key = 'identity'; DELETE FROM constant",
    "UPDATE run SET key = 'identitx' WHERE key = 'identity'; DELETE FROM constant",
    "UPDATE run SET value = '00112233445566778899aabbccddeefg' WHERE key = 'identity';"
    "DELETE FROM constant",
    "UPDATE run SET value = '10112233445566778899aabbccddeeff' WHERE key = 'identity';"
    "DELETE FROM constant",
  };
  put (f, "/0", 1, 1);
  put (f, "/1", 2, 2);
  for (gsize i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      change (f, changes[i]);
      assert_salvaged (f, NULL, "/0=1 /1=2");
    }
}

static void
test_a_file_that_lost_its_identity_is_known_by_its_rows (Fixture *f, gconstpointer unused)
{
  (void)unused;
  put (f, "/0", 1, 1);
  change (f, "DELETE FROM run; DELETE FROM constant");
  assert_refused (f, "damaged beyond repair");
  assert_salvaged (f, IDENTITY, "/0=1");
  change (f, "UPDATE run SET value = 'f' WHERE key = 'identity'; DELETE FROM constant");
  assert_refused (f, "damaged beyond repair");
  assert_salvaged (f, IDENTITY, "/0=1");
}

/* Each setting is in two tables; either is enough. */
static void
test_one_lost_row_or_table_loses_no_setting (Fixture *f, gconstpointer unused)
{
  (void)unused;
  static const char *const changes[] = {
    "UPDATE run SET sum = sum + 1 WHERE key = 'identity'",
    "UPDATE run SET key = 'identitx' WHERE key = 'identity'",
    "UPDATE run SET value = '00112233445566778899aabbccddeefg' WHERE key = 'identity'",
    "UPDATE run SET value = '10112233445566778899aabbccddeeff' WHERE key = 'identity'",
    "UPDATE run SET value = 'another' WHERE key = 'name'",
    "UPDATE run SET sum = sum + 1",
    "DELETE FROM run",
    "DELETE FROM constant",
    "UPDATE constant SET value = 'another'",
    "UPDATE constant SET sum = NULL",
  };
  put (f, "/0", 1, 1);
  g_assert_true (tables_set (f->sql, "name", "a name", NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      change (f, changes[i]);
      g_autoptr (Sql) sql = guard_open (f->target, NULL, NULL);
      g_assert_nonnull (sql);
      g_assert_false (sql->is_salvage);
      g_autofree char *name = tables_get_string (sql, "name", NULL);
      g_assert_cmpstr (name, ==, "a name");
      assert_rows (sql, "/0=1");
    }
}

static void
assert_no_place (const char *path, const char *word)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (guard_open (path, NULL, &error));
  g_assert_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE);
  if (strstr (error->message, word) == NULL)
    g_error ("'%s' is not in: %s", word, error->message);
}

static void
test_what_is_no_plain_file_is_no_place (Fixture *f, gconstpointer unused)
{
  (void)unused;
  assert_no_place (f->folder, "is a directory");
  g_assert_cmpint (mkfifo (f->target, 0600), ==, 0);
  assert_no_place (f->target, "not a regular file");
  g_unlink (f->target);
  g_assert_cmpint (symlink (f->work, f->target), ==, 0);
  assert_no_place (f->target, "symbolic link");
  g_autofree char *below = g_build_filename (f->work, "below", NULL);
  assert_no_place (below, "cannot be read");
}

static void
test_a_missing_or_unwritable_folder_is_no_place (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_autoptr (GError) error = NULL;
  g_autofree char *missing = g_build_filename (f->folder, "none", "run.ckpt", NULL);
  Published published;
  guint before = entries (f->folder);

  g_assert_false (publish_try (missing, "run-1", &error));
  g_assert_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE);
  g_assert_nonnull (strstr (error->message, "there is no folder"));
  g_clear_error (&error);
  g_assert_false (publish_copy (f->sql, missing, "run-1", NULL, &published, &error));
  g_assert_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE);
  g_clear_error (&error);
  g_assert_false (publish_try ("/proc/self/run.ckpt", "run-1", &error));
  g_assert_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE);
  g_clear_error (&error);
  g_assert_cmpint (g_mkdir (f->target, 0700), ==, 0);
  g_assert_false (publish_copy (f->sql, f->target, "run-1", NULL, &published, &error));
  g_assert_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE);
  g_assert_cmpuint (entries (f->folder), ==, before + 1);
}

static mode_t
mode_of (const char *path)
{
  struct stat status;
  g_assert_cmpint (stat (path, &status), ==, 0);
  return status.st_mode & 0777;
}

static void
test_the_mode_is_the_umasks_or_that_of_the_file_before (Fixture *f, gconstpointer unused)
{
  (void)unused;
  mode_t old = umask (0027);
  publish (f);
  g_assert_cmpuint (mode_of (f->target), ==, 0640);
  g_assert_cmpint (g_chmod (f->target, 0600), ==, 0);
  publish (f);
  g_assert_cmpuint (mode_of (f->target), ==, 0600);
  umask (old);
}

/* (transfer full) */
static char *
named_for_host (Fixture *f, const char *pattern)
{
  g_autoptr (GString) name = g_string_new (pattern);
  g_string_replace (name, "HOST", process_host (), 0);
  return g_build_filename (f->folder, name->str, NULL);
}

static void
test_leftovers_of_dead_processes_are_swept (Fixture *f, gconstpointer unused)
{
  (void)unused;
  static const struct
  {
    const char *name;
    gboolean stays;
  } files[] = { { ".run.ckpt.run-1.HOST-999999999-7-3.tmp-journal", FALSE },
                { ".run.ckpt.run-1.HOST-999999999-7-0.tmp", FALSE },
                { ".run.ckpt.run-1.HOST-1-1-0.tmp", FALSE },
                { ".run.ckpt.run-2.HOST-999999999-7-0.tmp", FALSE },
                { ".run.ckpt.more.run-1.HOST-999999999-7-0.tmp", TRUE },
                { ".run.ckpt.run-1.HOST-1-0-0.tmp", TRUE },
                { ".run.ckpt.run-1.HOST-x.tmp", TRUE },
                { ".run.ckpt.run-1.HOST-999999999-7-0.tmp.old", TRUE },
                { ".other.run-1.HOST-999999999-7-0.tmp", TRUE },
                { ".run.ckpt.run-1.0badf00d-999999999-7-0.tmp", TRUE },
                { ".run.ckpt.run-1.999999999-7-0.tmp", TRUE },
                { ".run.ckpt.run-1.tmp", TRUE } };
  for (gsize i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = named_for_host (f, files[i].name);
      g_assert_true (g_file_set_contents (path, "x", 1, NULL));
    }

  g_autofree char *old = named_for_host (f, ".run.ckpt.run-1.0badf00d-1-7-0.tmp");
  struct timespec times[] = { { 1000000, 0 }, { 1000000, 0 } };
  g_assert_true (g_file_set_contents (old, "x", 1, NULL));
  g_assert_cmpint (utimensat (AT_FDCWD, old, times, 0), ==, 0);

  publish_sweep (f->target);
  g_assert_false (g_file_test (old, G_FILE_TEST_EXISTS));

  for (gsize i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = named_for_host (f, files[i].name);
      g_assert_true (g_file_test (path, G_FILE_TEST_EXISTS) == files[i].stays);
    }
}

static void
test_a_published_file_has_no_large_gaps (Fixture *f, gconstpointer unused)
{
  (void)unused;
  struct stat full, small;
  g_assert_true (results_begin (f->results, NULL));
  for (int i = 0; i < 10000; i++)
    {
      g_autofree char *path = g_strdup_printf ("/0/%d", i);
      put (f, path, 1, 1);
    }
  g_assert_true (results_commit (f->results, NULL));
  publish (f);
  g_assert_cmpint (stat (f->target, &full), ==, 0);
  put (f, "/0", 2, 1);
  publish (f);
  g_assert_cmpint (stat (f->target, &small), ==, 0);

  g_assert_cmpint (small.st_size * 4, <, full.st_size);
  g_autoptr (Sql) sql = guard_open (f->target, NULL, NULL);
  g_assert_nonnull (sql);
  assert_rows (sql, "/0=10000");
}

static void
test_a_name_at_the_limit_can_be_published (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_autofree char *name = g_strnfill (255, 'n');
  g_autofree char *run = g_strnfill (300, '/');
  g_autofree char *target = g_build_filename (f->folder, name, NULL);
  g_autoptr (GError) error = NULL;
  Published published;

  g_assert_true (publish_try (target, run, &error));
  g_assert_true (publish_copy (f->sql, target, run, NULL, &published, &error));
  g_assert_no_error (error);
  g_assert_true (g_close (published.fd, NULL));
}

/* A file that is not sound is salvaged each time: only a sound one is noted as read through. */
static void
test_an_unsound_own_file_is_not_noted (Fixture *f, gconstpointer unused)
{
  (void)unused;
  put (f, "/0", 1, 1);
  publish (f);
  miscount (f->target, NULL);
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Sql) sql = guard_open_own (f->target, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (sql->is_salvage);
      assert_rows (sql, "/0=1");
    }
}

/* Only a note that names the whole state of the file counts. */
static void
test_half_a_note_counts_for_nothing (Fixture *f, gconstpointer unused)
{
  (void)unused;
  char note[200];
  struct stat before;
  put (f, "/0", 1, 1);
  publish (f);
  g_assert_cmpint (stat (f->target, &before), ==, 0);
  g_assert_false (is_salvage (f->target, guard_open_own));
  if (lacks_attributes (f))
    return;
  ssize_t n = getxattr (f->target, WHOLE_ATTRIBUTE, note, sizeof note);
  g_assert_cmpint (n, >, 0);
  miscount (f->target, (struct timespec[2]){ before.st_atim, before.st_mtim });
  for (ssize_t cut = n - 1; cut > 0; cut -= 5)
    {
      g_assert_cmpint (setxattr (f->target, WHOLE_ATTRIBUTE, note, (size_t)cut, 0), ==, 0);
      g_assert_true (is_salvage (f->target, guard_open_own));
    }
  g_assert_cmpint (setxattr (f->target, WHOLE_ATTRIBUTE, note, (size_t)n, 0), ==, 0);
  g_assert_false (is_salvage (f->target, guard_open_own));
}

/* Replaces one word of the file, in the byte order of SQLite's header. */
static void
put_word (const char *path, off_t at, guint32 word)
{
  int fd = open (path, O_WRONLY | O_CLOEXEC);
  word = GUINT32_TO_BE (word);
  g_assert_cmpint (pwrite (fd, &word, sizeof word, at), ==, (ssize_t)sizeof word);
  g_assert_true (g_close (fd, NULL));
}

/* A file that is longer or shorter than its header says is not complete, although SQLite reads all
 * of it. */
static void
test_a_file_is_as_long_as_it_says (Fixture *f, gconstpointer unused)
{
  (void)unused;
  struct stat status;
  put (f, "/0", 1, 1);
  for (int more = -1; more <= 1; more++)
    {
      publish (f);
      g_assert_cmpint (stat (f->target, &status), ==, 0);
      g_assert_true (guard_check (f->target, NULL));
      put_word (f->target, 28, (guint32)(status.st_size / SQL_PAGE_BYTES + more));
      g_assert_cmpint (guard_check (f->target, NULL), ==, more == 0);
      g_assert_cmpint (is_salvage (f->target, guard_open), ==, more != 0);
    }
}

/* Bytes of the header that are the same in all checkpoints. With another one SQLite may read the
 * file in another way, so it is damage, and the rows are read by their checksums. */
static void
test_a_wrong_byte_of_the_header_is_damage (Fixture *f, gconstpointer unused)
{
  static const struct
  {
    gsize from, to;
  } fixed[] = { { 18, 24 }, { 44, 48 }, { 52, 60 }, { 64, 68 }, { 72, 92 } };
  (void)unused;
  put (f, "/0", 1, 1);
  publish (f);
  g_autoptr (GBytes) whole = contents (f->target);
  for (gsize i = 0; i < G_N_ELEMENTS (fixed); i++)
    for (gsize at = fixed[i].from; at < fixed[i].to; at++)
      {
        gsize size;
        g_autofree guint8 *bytes
            = g_memdup2 (g_bytes_get_data (whole, &size), g_bytes_get_size (whole));
        bytes[at] ^= 1;
        *(char *)memmem (bytes, size, "satin spare", 11) = '-'; /* spare pages would tell, too */
        g_assert_true (g_file_set_contents (f->target, (char *)bytes, (gssize)size, NULL));
        g_assert_true (is_salvage (f->target, guard_open));
      }
}

int
main (int argc, char **argv)
{
  static const NamedTest tests[] = {
    { "/guard/a-published-file-is-accepted", test_a_published_file_is_accepted },
    { "/guard/an-own-file-is-read-through-once", test_an_own_file_is_read_through_once },
    { "/guard/an-unsound-own-file-is-not-noted", test_an_unsound_own_file_is_not_noted },
    { "/guard/half-a-note-counts-for-nothing", test_half_a_note_counts_for_nothing },
    { "/guard/a-file-is-as-long-as-it-says", test_a_file_is_as_long_as_it_says },
    { "/guard/nothing-there-is-no-error", test_nothing_there_is_no_error },
    { "/guard/foreign-files-are-refused-untouched", test_foreign_files_are_refused_untouched },
    { "/guard/a-wrong-byte-of-the-header-is-damage", test_a_wrong_byte_of_the_header_is_damage },
    { "/guard/a-wrong-format-number-loses-nothing", test_a_wrong_format_number_loses_nothing },
    { "/guard/files-of-other-programs-are-refused-untouched",
      test_files_of_other_programs_are_refused_untouched },
    { "/guard/of-another-schema-only-our-rows-are-taken",
      test_of_another_schema_only_our_rows_are_taken },
    { "/guard/a-file-that-lost-its-identity-is-known-by-its-rows",
      test_a_file_that_lost_its_identity_is_known_by_its_rows },
    { "/guard/one-lost-row-or-table-loses-no-setting",
      test_one_lost_row_or_table_loses_no_setting },
    { "/guard/what-is-no-plain-file-is-no-place", test_what_is_no_plain_file_is_no_place },
    { "/publish/a-missing-or-unwritable-folder-is-no-place",
      test_a_missing_or_unwritable_folder_is_no_place },
    { "/publish/the-mode-is-the-umasks-or-that-of-the-file-before",
      test_the_mode_is_the_umasks_or_that_of_the_file_before },
    { "/publish/leftovers-of-dead-processes-are-swept",
      test_leftovers_of_dead_processes_are_swept },
    { "/publish/a-published-file-has-no-large-gaps", test_a_published_file_has_no_large_gaps },
    { "/publish/a-name-at-the-limit-can-be-published", test_a_name_at_the_limit_can_be_published },
  };
  return run_tests (argc, argv, tests, G_N_ELEMENTS (tests));
}
