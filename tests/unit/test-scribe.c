/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of coordinator/scribe.c with ledger, inbox and takeover below it. Links coordinator,
 * storage and value. */
#include "checkpoint.h"
#include "processor.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* T1-4: a row is result, path and node. */
static void
test_what_was_saved_stands_in_the_published_file (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");
  NodeId one = { 1, 2, 3 }, two = { 1, 3, 4 };
  g_autoptr (GBytes) input = g_bytes_new_static ("four lines\n", 11);
  g_autoptr (GBytes) best = g_bytes_new_static ("\x2a\0\0\0\0\0\0\0", 8);

  scribe_joined (scribe, &one, "host1", "here", "unix:/somewhere");
  scribe_joined (scribe, &two, "host2", "there", "tcp:127.0.0.1:9");
  scribe_told (scribe, "left", &two, NULL, 0, "crashed", 0);
  scribe_constant (scribe, "input/a.tsp", "ay", input);
  scribe_best (scribe, "length", "x", best, NULL);
  save_best (scribe, "term", "1");
  scribe_event (scribe, "crash", &two, "/0/1", 1500000, "gone");
  save_one (scribe, row_make ("/0/1", 12345, 1500000, 0.25));
  finish (place, scribe);
  scribe_free (scribe);

  assert_answer (place->target, "SELECT value FROM result WHERE path = '/0/1'", "12345");
  assert_answer (place->target, "SELECT done FROM progress", "0.25");
  assert_answer (place->target, "SELECT path FROM largest", "/0/1");
  assert_answer (place->target, "SELECT host FROM who", "host1");
  assert_answer (place->target, "SELECT group_concat(path) FROM missing", "/0/0");
  assert_answer (place->target, "SELECT value FROM constant WHERE name = 'input/a.tsp'",
                 "four lines\n");
  assert_answer (place->target, "SELECT value FROM best WHERE name = 'length'", "42");
  assert_answer (place->target, "SELECT cause FROM node WHERE left IS NOT NULL", "crashed");
  assert_answer (place->target, "SELECT detail FROM event WHERE kind = 'crash'", "gone");
  assert_answer (place->target, "SELECT value FROM best WHERE name = 'term'", "1");
  assert_answer (place->target, "SELECT value FROM run WHERE key = 'argv'", "[b'8', b'two words']");
  assert_answer (place->target, "PRAGMA integrity_check", "ok");
  assert_answer (place->target, "PRAGMA application_id", "1396790350");
  g_assert_cmpuint (place_strangers (place), ==, 0);
}

static void
add_told (GPtrArray *rows, const char *path, guint32 job, const void *args, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (args, size);
  Row *row = row_make (path, 7, 1000, 0.1);
  row->job = job;
  row->args = loan_show_args (bytes);
  row->began_ms = 1700000000999;
  row->took_ms = 1234;
  g_ptr_array_add (rows, row);
}

/* What a user asks about a result: its arguments, when it began and how long it took. The answers
 * stay when another coordinator takes over the file, row by row or whole. */
static void
test_a_row_tells_of_its_job (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");
  GPtrArray *rows = rows_new ();
  const guint8 five[] = { 5, 0, 0, 0 };
  const char *long_text = "forty-four letters, brackets, quotes: too long";

  add_told (rows, "/0", 0, five, sizeof five);
  add_told (rows, "/1", 0, "short", 3); /* the arguments do not fit the job's type */
  add_told (rows, "/2", 0, five, 0);
  g_autoptr (GVariant) texts
      = g_variant_ref_sink (g_variant_new ("(^as)", (const char *[]){ long_text, NULL }));
  add_told (rows, "/3", 1, g_variant_get_data (texts), g_variant_get_size (texts));
  g_ptr_array_add (rows, row_make ("/4", 7, 1000, 0.1));
  scribe_save (scribe, rows);
  finish (place, scribe);
  scribe_free (scribe);
  for (guint life = 0; life < 3; life++)
    {
      assert_answer (place->target, "SELECT group_concat(path || ifnull(args, '-')) FROM result",
                     "/0[5],/1-,/2-,/3-,/4-");
      assert_answer (place->target, "SELECT count(*) FROM result WHERE began IS NULL", "1");
      assert_answer (place->target, "SELECT began || ' ' || took_ms FROM result WHERE path = '/0'",
                     "1700000000 1234");
      assert_answer (place->target, "SELECT took_s FROM readable WHERE path = '/0'", "1.234");
      assert_answer (place->target, "SELECT began_utc FROM readable WHERE path = '/0'",
                     "2023-11-14 22:13:20");
      scribe = start (place, HOUR_US, "run-1");
      if (life == 0)
        save_one (scribe,
                  row_make_kept ("/9", 2, 1)); /* then the next coordinator takes over row by row */
      finish (place, scribe);
      scribe_free (scribe);
    }
}

/* T1-9. */
static void
test_a_batch_is_compacted_and_the_figures_say_so (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");
  ScribeStats stats;

  save_one (scribe, row_make ("/0/1", 1, 1000, 0.1));
  save_one (scribe, row_make ("/0/2", 2, 2000, 0.1));
  finish (place, scribe);
  save_one (scribe, row_make ("/0", 3, 7500, 0.5));
  save_one (scribe, row_make ("/0/1/5", 4, 8000, 0.01));
  finish (place, scribe);
  scribe_stats (scribe, &stats);
  scribe_free (scribe);

  assert_answer (place->target, "SELECT group_concat(path) FROM result", "/0");
  assert_answer (place->target, "SELECT work_s FROM result", "0.0075");
  g_assert_cmpuint (stats.rows, ==, 1);
  g_assert_cmpuint (stats.saved_rows, ==, 3);
  g_assert_cmpfloat (stats.done, ==, 0.5);
  g_assert_cmpuint (stats.bytes, >, 4096);
}

static void
test_nothing_is_published_when_nothing_changed (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, 1000, "run-1");
  struct stat before, after;

  save_one (scribe, row_make ("/0", 1, 1, 0.5));
  save_best (scribe, "name", "a name");
  finish (place, scribe);
  guint64 generation = place->generation;
  g_assert_cmpint (stat (place->target, &before), ==, 0);
  save_one (scribe, row_make ("/0", 1, 1, 0.5));
  save_one (scribe, row_make ("/0/3", 1, 1, 0.5));
  save_best (scribe, "name", "a name");
  finish (place, scribe);
  g_assert_cmpint (stat (place->target, &after), ==, 0);
  scribe_free (scribe);

  g_assert_cmpuint (place->generation, ==, generation);
  g_assert_cmpint (before.st_ino, ==, after.st_ino);
}

static void
test_the_interval_publishes_by_itself (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, 1000, "run-1");

  place_wait (place, &place->n_published, 1);
  save_one (scribe, row_make ("/0", 1, 1, 0.5));
  place_wait (place, &place->n_published, 2);
  scribe_free (scribe);

  assert_answer (place->target, "SELECT count(*) FROM result", "1");
  assert_answer (place->target, "SELECT value FROM run WHERE key = 'generation'", "2");
  g_assert_cmpuint (place->generation, ==, 2);
}

/* A node's ticket is acknowledged even if the scribe has no news besides it: the node had nothing
 * to save, or its rows were written before. */
static void
test_a_ticket_alone_is_acknowledged (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, 1000, "run-1");
  place_wait (place, &place->n_published, 1);
  for (guint64 ticket = 1; ticket < 4; ticket++)
    {
      scribe_ticket (scribe, ticket);
      place_wait (place, &place->n_published, (guint)ticket + 1);
      g_assert_cmpuint (place->ticket, ==, ticket);
    }
  scribe_free (scribe);
}

static void
test_without_a_target_only_the_work_file_is_written (void)
{
  g_autoptr (Place) place = place_new ();
  g_free (place->target);
  place->target = g_strdup ("");
  Scribe *scribe = start (place, 1000, "run-1");
  save_one (scribe, row_make ("/0", 1, 1, 0.5));
  finish (place, scribe);
  g_assert_cmpuint (place->generation, ==, 0);
  scribe_load (scribe, NULL);
  place_wait (place, &place->n_restored_final, 1);
  g_assert_cmpuint (place->rows->len, ==, 1);
  scribe_free (scribe);

  g_assert_cmpuint (place_strangers (place), ==, 0);
}

static void
test_trouble_is_told_and_writing_goes_on_when_it_can (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, 1000, "run-1");
  place_wait (place, &place->n_published, 1);
  g_assert_cmpint (g_unlink (place->target), ==, 0);
  g_assert_true (g_file_set_contents (place->target, "somebody else's", -1, NULL));

  save_one (scribe, row_make ("/0", 1, 1, 0.5));
  place_wait (place, &place->n_trouble, 1);
  finish (place, scribe);
  guint n_trouble = place->n_trouble;
  g_autoptr (GBytes) text = contents (place->target);
  g_assert_cmpuint (g_bytes_get_size (text), ==, strlen ("somebody else's"));
  g_assert_nonnull (strstr (place->trouble, "not a Satin checkpoint"));
  g_assert_cmpuint (n_trouble, ==,
                    2); /* one for the interval, however often it failed; one that was requested */

  guint n_published = place->n_published;
  g_assert_cmpint (g_unlink (place->target), ==, 0);
  place_wait (place, &place->n_published, n_published + 1);
  scribe_free (scribe);
  assert_answer (place->target, "SELECT count(*) FROM result", "1");
}

/* Twenty thousand rows in twenty frontiers, each published whole. */
static void
test_many_rows_are_written_fast (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");
  double began_s = processor_s ();
  for (int i = 0; i < 20; i++)
    {
      GPtrArray *rows = rows_new ();
      for (int j = 0; j < 1000; j++)
        {
          g_autofree char *path = g_strdup_printf ("/%d/%d", i, j);
          g_ptr_array_add (rows, row_make (path, j, 1, 1.0 / 20000));
        }
      scribe_save (scribe, rows);
    }
  finish (place, scribe);
  double first_s = processor_s ();
  for (int i = 0; i < 10; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%d", i);
      save_one (scribe, row_make (path, i, 1, 1.0 / 20));
      finish (place, scribe);
    }
  double end_s = processor_s ();
  scribe_free (scribe);

  g_test_message ("20,000 rows saved and published in %.3f s; one more row in %.4f s each",
                  first_s - began_s, (end_s - first_s) / 10);
  assert_answer (place->target, "SELECT count(*) FROM result", "10010");
  g_assert_cmpfloat (first_s - began_s, <, 20); /* generous: sanitizers */
}

typedef struct
{
  Place *place;
  gint stop, n_read; /* atomic */
} Reader;

/* Reads the checkpoint again and again, as a user may. */
static gpointer
read_on (gpointer data)
{
  Reader *reader = data;
  do
    {
      Restore restore;
      g_autoptr (GError) error = NULL;
      assert_answer (reader->place->target, "PRAGMA integrity_check", "ok");
      g_assert_true (restore_look (reader->place->target, &restore, &error));
      g_assert_no_error (error);
      g_assert_true (restore.exists);
      g_assert_cmpuint (restore.rows_bad, ==, 0);
      restore_clear (&restore);
      g_atomic_int_inc (&reader->n_read);
    }
  while (!g_atomic_int_get (&reader->stop));
  return NULL;
}

static void
test_a_reader_finds_a_whole_file_at_any_moment (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, 1000, "run-1");
  place_wait (place, &place->n_published, 1);
  Reader reader = { .place = place };
  GThread *thread = g_thread_new ("reader", read_on, &reader);

  for (int i = 0; i < 60; i++)
    {
      GPtrArray *rows = rows_new ();
      while (g_atomic_int_get (&reader.n_read) <= i / 10)
        g_thread_yield (); /* the reader reads in between, however slow it is */
      for (int j = 0; j < 50; j++)
        {
          g_autofree char *path
              = i % 10 == 9 ? g_strdup_printf ("/%d", i - j / 6) : g_strdup_printf ("/%d/%d", i, j);
          g_ptr_array_add (rows, row_make (path, j, 1, 1e-5));
        }
      scribe_save (scribe, rows);
      finish (place, scribe);
    }
  g_atomic_int_set (&reader.stop, 1);
  g_thread_join (thread);
  scribe_free (scribe);

  g_test_message ("%d looks at %u publications", reader.n_read, place->n_published);
  g_assert_cmpuint (place_strangers (place), ==, 0);
}

/* The child of test_a_kill_…: saves and publishes without end. */
static void
save_for_ever (Place *place)
{
  Scribe *scribe = start (place, 500, "run-1");
  for (guint i = 0;; i++)
    {
      GPtrArray *rows = rows_new ();
      for (guint j = 0; j < 20; j++)
        {
          g_autofree char *path = g_strdup_printf ("/%u/%u", i % 1000, j);
          g_ptr_array_add (rows, row_make (path, (gint64)i % 1000 * 100 + j, 1, 1e-6));
        }
      scribe_save (scribe, rows);
      g_usleep (300);
    }
}

static guint64
count_published (Place *place)
{
  Restore restore;
  guint64 rows = 0;
  if (!g_file_test (place->target, G_FILE_TEST_EXISTS))
    return 0;
  g_assert_true (restore_look (place->target, &restore, NULL));
  rows = restore.rows;
  restore_clear (&restore);
  return rows;
}

/* The last child has published something, however slow the machine is. */
static void
test_a_kill_at_any_moment_leaves_a_whole_file (void)
{
  g_autoptr (Place) place = place_new ();
  guint64 rows_before = 0;
  for (int i = 0; i < 25; i++)
    {
      pid_t child = fork ();
      g_assert_cmpint (child, >=, 0);
      if (child == 0)
        {
          save_for_ever (place);
          _exit (1);
        }
      if (i < 24)
        g_usleep ((gulong)g_test_rand_int_range (5000, 300000));
      else
        while (count_published (place) == 0)
          g_usleep (1000);
      g_assert_cmpint (kill (child, SIGKILL), ==, 0);
      g_assert_cmpint (waitpid (child, NULL, 0), ==, child);
      if (!g_file_test (place->target, G_FILE_TEST_EXISTS))
        continue;

      Restore restore;
      g_autoptr (GError) error = NULL;
      g_assert_true (restore_look (place->target, &restore, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (restore.rows_bad, ==, 0);
      g_assert_cmpuint (restore.rows, >=, rows_before);
      rows_before = restore.rows;
      restore_clear (&restore);
      assert_answer (place->target, "PRAGMA integrity_check", "ok");
      assert_answer (
          place->target,
          "SELECT count(*) FROM result WHERE path <> '/' || (value / 100) || '/' || (value % 100)",
          "0");
    }
  g_assert_cmpuint (rows_before, >, 0);
  Scribe *scribe = start (place, HOUR_US, "run-1");
  finish (place, scribe);
  scribe_free (scribe);
  g_assert_cmpuint (place_strangers (place), ==, 0);
}

/* The child of test_a_full_disk_…: a limit on the size of files stands for the disk. */
static void
fill_the_disk (Place *place)
{
  struct rlimit small = { 300000, RLIM_INFINITY }, none = { RLIM_INFINITY, RLIM_INFINITY };
  signal (SIGXFSZ, SIG_IGN);
  Scribe *scribe = start (place, 1000, "run-1");
  save_one (scribe, row_make ("/0", 1, 1, 0.1));
  finish (place, scribe);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &small), ==, 0);
  for (int i = 1; i <= 3; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%d", i);
      Row *row = row_make (path, i, 1, 0.1);
      g_bytes_unref (row->value);
      row->value = g_bytes_new_take (g_malloc0 (150000), 150000);
      save_one (scribe, row);
      finish (place, scribe);
    }
  g_assert_cmpuint (place->n_trouble, >=, 2);
  g_printerr ("# %s\n", place->trouble);
  assert_answer (place->target, "SELECT count(*) FROM result", "2");
  assert_answer (place->target, "PRAGMA integrity_check", "ok");
  guint strangers = place_strangers (place);

  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &none), ==, 0);
  guint n_trouble = place->n_trouble;
  finish (place, scribe);
  g_assert_cmpuint (place->n_trouble, ==, n_trouble);
  scribe_free (scribe);
  assert_answer (place->target, "SELECT count(*) FROM result", "4");
  assert_answer (place->target, "PRAGMA integrity_check", "ok");
  g_assert_cmpuint (strangers, ==, 0);
}

/* S18: a batch that is too large for the disk stops publishing only until there is room. */
static void
test_a_full_disk_loses_nothing_that_fits_later (void)
{
  g_autoptr (Place) place = place_new ();
  int status = -1;
  pid_t child = fork ();
  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    {
      fill_the_disk (place);
      _exit (0);
    }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_cmpint (status, ==, 0);
}

/* Writers in one thread, figures read in it too, news in the scribe's: for the thread sanitizer. */
static void
test_calls_and_publications_run_side_by_side (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, 100, "run-1");
  g_autoptr (GBytes) best = g_bytes_new_static ("\1\0\0\0\0\0\0\0", 8);
  NodeId node = { 1, 2, 3 };
  for (int i = 0; i < 300; i++)
    {
      ScribeStats stats;
      g_autofree char *path = g_strdup_printf ("/%d", i);
      save_one (scribe, row_make (path, i, 1, 0.001));
      scribe_best (scribe, "best", "x", best, NULL);
      scribe_event (scribe, "steal", &node, path, 0, NULL);
      scribe_stats (scribe, &stats);
      if (i % 50 == 0)
        scribe_load (scribe, path);
    }
  finish (place, scribe);
  scribe_free (scribe);

  assert_answer (place->target, "SELECT count(*) FROM result", "300");
  g_assert_cmpuint (place->n_restored_final, ==, 6);
}

static gboolean
has_row (const GPtrArray *rows, const char *path)
{
  for (guint i = 0; i < rows->len; i++)
    if (strcmp (((const Row *)rows->pdata[i])->path, path) == 0)
      return TRUE;
  return FALSE;
}

/* A job that runs again finds all rows below it, whichever node computed them: rows are selected by
 * path, not by node, including those that were saved a moment ago. */
static void
test_what_lies_at_or_below_a_path_is_loaded_whoever_computed_it (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");
  guint32 deep[200] = { 1, 2 };
  g_autofree char *stem = path_from_numbers (place->stems, deep, 200);
  const char *paths[] = { "/1/1", "/10", "/1/2/7", "/2/0", "/11/3", "/1/3/0", stem };
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      Row *row = row_make (paths[i], i, 1, 0.001);
      row->node = (NodeId){ 1, i + 1, 7 };
      save_one (scribe, row);
    }
  scribe_load (scribe, "/1");
  place_wait (place, &place->n_restored_final, 1);

  g_assert_cmpuint (place->rows->len, ==, 4);
  g_assert_true (has_row (place->rows, "/1/1") && has_row (place->rows, "/1/2/7"));
  g_assert_true (has_row (place->rows, "/1/3/0") && has_row (place->rows, stem));
  scribe_load (scribe, "/2/0");
  place_wait (place, &place->n_restored_final, 2);
  g_assert_cmpuint (place->rows->len, ==, 5);
  scribe_load (scribe, "");
  place_wait (place, &place->n_restored_final, 3);
  g_assert_cmpuint (place->rows->len, ==, 5 + G_N_ELEMENTS (paths));
  scribe_free (scribe);
}

/* T1-8. In the published Satin the computing thread wrote the file itself, under the global lock
 * (S6). Here the scribe's thread is blocked, since its news are not taken, and no call waits for
 * it. */
static void
test_nobody_waits_for_the_scribe (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, 100, "run-1");
  g_autoptr (GBytes) best = g_bytes_new_static ("\1\0\0\0\0\0\0\0", 8);
  NodeId node = { 1, 2, 3 };
  place_wait (place, &place->n_published, 1);
  pthread_mutex_lock (&place->lock); /* its news are delivered under this lock */
  scribe_load (scribe, "/0");
  for (int i = 0; i < 1000; i++)
    {
      ScribeStats stats;
      g_autofree char *path = g_strdup_printf ("/%d", i);
      save_one (scribe, row_make (path, i, 1, 0.001));
      scribe_best (scribe, "best", "x", best, NULL);
      scribe_event (scribe, "steal", &node, path, 0, NULL);
      scribe_ticket (scribe, (guint64)i);
      scribe_stats (scribe, &stats);
    }
  g_assert_cmpuint (place->n_restored_final, ==, 0);
  pthread_mutex_unlock (&place->lock);
  finish (place, scribe);
  scribe_free (scribe);

  assert_answer (place->target, "SELECT count(*) FROM result", "1000");
  g_assert_cmpuint (place->n_restored_final, ==, 1);
}

static void
test_what_is_queued_is_written_at_the_end (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");
  place_wait (place, &place->n_published, 1);
  save_one (scribe, row_make ("/0", 1, 1, 0.5));
  scribe_free (scribe);

  assert_answer (place->target, "SELECT count(*) FROM result", "0");
  assert_answer (place->work, "SELECT count(*) FROM result", "1");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scribe/a-kill-at-any-moment-leaves-a-whole-file",
                   test_a_kill_at_any_moment_leaves_a_whole_file); /* forks, so it runs before there
                                                                      are threads */
  g_test_add_func ("/scribe/a-full-disk-loses-nothing-that-fits-later",
                   test_a_full_disk_loses_nothing_that_fits_later);
  g_test_add_func ("/scribe/what-was-saved-stands-in-the-published-file",
                   test_what_was_saved_stands_in_the_published_file);
  g_test_add_func ("/scribe/a-batch-is-compacted-and-the-figures-say-so",
                   test_a_batch_is_compacted_and_the_figures_say_so);
  g_test_add_func ("/scribe/a-row-tells-of-its-job", test_a_row_tells_of_its_job);
  g_test_add_func ("/scribe/nothing-is-published-when-nothing-changed",
                   test_nothing_is_published_when_nothing_changed);
  g_test_add_func ("/scribe/the-interval-publishes-by-itself",
                   test_the_interval_publishes_by_itself);
  g_test_add_func ("/scribe/a-ticket-alone-is-acknowledged", test_a_ticket_alone_is_acknowledged);
  g_test_add_func ("/scribe/without-a-target-only-the-work-file-is-written",
                   test_without_a_target_only_the_work_file_is_written);
  g_test_add_func ("/scribe/trouble-is-told-and-writing-goes-on-when-it-can",
                   test_trouble_is_told_and_writing_goes_on_when_it_can);
  g_test_add_func ("/scribe/many-rows-are-written-fast", test_many_rows_are_written_fast);
  g_test_add_func ("/scribe/a-reader-finds-a-whole-file-at-any-moment",
                   test_a_reader_finds_a_whole_file_at_any_moment);
  g_test_add_func ("/scribe/S6-calls-and-publications-run-side-by-side",
                   test_calls_and_publications_run_side_by_side);
  g_test_add_func ("/scribe/what-lies-at-or-below-a-path-is-loaded-whoever-computed-it",
                   test_what_lies_at_or_below_a_path_is_loaded_whoever_computed_it);
  g_test_add_func ("/scribe/S6-nobody-waits-for-the-scribe", test_nobody_waits_for_the_scribe);
  g_test_add_func ("/scribe/what-is-queued-is-written-at-the-end",
                   test_what_is_queued_is_written_at_the_end);
  return g_test_run ();
}
