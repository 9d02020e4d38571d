/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of storage/places/arrival.c, reader.c and guard_open_front: files that are read while they
 * come, and what becomes of those that do not come as was said. Links storage alone. */
#include "store.h"

#include "storage/places/arrival.h"
#include "storage/recover/guard.h"
#include "storage/recover/walk.h"
#include "storage/sqlite-record.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_ROWS 5000u
#define VALUE_BYTES 1200
#define REST_BYTES 65536u
#define TAG "a tag"

/* How a file comes. */
typedef struct
{
  const char *from;
  char *to;
  guint64 bytes;      /* how many were said */
  guint64 stop_at;    /* so many come … */
  gboolean fails;     /* … and then it is broken off, … */
  guint pause_ms;     /* … or goes on after so long */
  gint may_go_on;     /* atomic: not before this */
  gint is_seen;       /* atomic: nothing more comes before somebody has begun to look */
  gboolean has_above; /* pages that lie above the first row are there before their turn */
} Coming;

static void
put_rows (Fixture *f, guint step)
{
  guint8 digest[16] = { 1 };
  g_autofree guint8 *bytes = g_malloc0 (VALUE_BYTES);
  for (guint i = 0; i < VALUE_BYTES; i++)
    bytes[i] = (guint8)(i * 7 | 0x80);
  g_autoptr (GBytes) value = g_bytes_new (bytes, VALUE_BYTES);
  g_assert_true (results_begin (f->results, NULL));
  for (guint i = 0; i < N_ROWS; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u", i * step % N_ROWS);
      Result row = { .path = path,
                     .node = "1.1.00000001",
                     .job = "job",
                     .type = "ay",
                     .digest = digest,
                     .digest_size = sizeof digest,
                     .value = value,
                     .saved = 1700000000,
                     .weight = 1.0 / N_ROWS };
      g_assert_true (put_typed (f, row, NULL));
    }
  g_assert_true (results_commit (f->results, NULL));
}

static guint64
size_of (const char *path)
{
  struct stat status;
  g_assert_cmpint (stat (path, &status), ==, 0);
  return (guint64)status.st_size;
}

/* What a place does, byte by byte from a file. */
static void
come (Coming *coming, Bringing *bringing, int to)
{
  guint64 bytes = size_of (coming->from), at = 0;
  guint8 block[40000];
  int from = open (coming->from, O_RDONLY | O_CLOEXEC);
  while (at < bytes)
    {
      if (coming->stop_at > 0 && at >= coming->stop_at)
        {
          while (!g_atomic_int_get (&coming->may_go_on))
            g_usleep (1000);
          g_usleep (coming->pause_ms * 1000);
          coming->stop_at = 0;
          if (coming->fails)
            break;
        }
      ssize_t n = pread (from, block, sizeof block, (off_t)at);
      g_assert_cmpint (pwrite (to, block, (size_t)n, (off_t)at), ==, n);
      at += (guint64)n;
      bringing_note (bringing, at);
    }
  (void)close (from);
}

/* Of the page whose root stands in the first 64 KiB: those below it that are not in the first
 * eighth. */
static guint
bring_above (const Coming *coming, int from, int to, ArrivalPart *parts)
{
  guint8 front[REST_BYTES], page[4096], header[2];
  guint n = 1;
  g_assert_cmpint (pread (from, header, sizeof header, 16), ==, sizeof header);
  gsize size = (gsize)header[0] << 8 | header[1];
  g_assert_cmpint (pread (from, front, sizeof front, 0), ==, sizeof front);
  for (gsize at = size; at + size <= sizeof front; at += size)
    {
      guint64 below = record_first_below (front + at, size);
      while (below * size > coming->bytes / 8 && n < ARRIVAL_PARTS_MAX)
        {
          parts[n] = (ArrivalPart){ (below - 1) * size, below * size };
          g_assert_cmpint (pread (from, page, size, (off_t)parts[n].from), ==, size);
          g_assert_cmpint (pwrite (to, page, size, (off_t)parts[n].from), ==, size);
          below = record_first_below (page, size);
          n++;
        }
    }
  g_assert_cmpuint (n, >, 1);
  return n;
}

static gpointer
run_coming (gpointer data)
{
  Coming *coming = data;
  guint64 rest_from = coming->bytes - REST_BYTES;
  g_autofree guint8 *rest = g_malloc (REST_BYTES);
  int from = open (coming->from, O_RDONLY | O_CLOEXEC);
  int to = open (coming->to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ssize_t n = pread (from, rest, REST_BYTES, (off_t)rest_from);
  g_assert_cmpint (pwrite (to, rest, (size_t)MAX (n, 1), (off_t)rest_from), ==, MAX (n, 1));
  /* The first bytes are there before anybody looks. */
  n = pread (from, rest, 4096, 0);
  g_assert_cmpint (pwrite (to, rest, (size_t)n, 0), ==, n);
  ArrivalPart parts[ARRIVAL_PARTS_MAX] = { { rest_from, coming->bytes } };
  guint n_parts = coming->has_above ? bring_above (coming, from, to, parts) : 1;
  Bringing *bringing = bringing_new (coming->to, TAG, coming->bytes, parts, n_parts);
  g_assert_nonnull (bringing);
  while (!g_atomic_int_get (&coming->is_seen))
    g_usleep (500);
  come (coming, bringing, to);
  if (!coming->fails && size_of (coming->from) != coming->bytes)
    g_assert_cmpint (ftruncate (to, (off_t)size_of (coming->from)), ==, 0);
  (void)close (to);
  bringing_end (bringing, coming->fails ? "it broke" : NULL);
  return NULL;
}

static GThread *
begin (Fixture *f, Coming *coming)
{
  coming->to = g_build_filename (f->folder, "coming", NULL);
  GThread *thread = g_thread_new ("coming", run_coming, coming);
  for (;;)
    {
      g_autoptr (Arrival) arrival = arrival_open (coming->to);
      if (arrival != NULL)
        {
          g_atomic_int_set (&coming->is_seen, 1);
          return thread;
        }
      /* Without a rest: a reader that looks must not be in the way of the thread that brings. */
      g_thread_yield ();
    }
}

static void
end (Coming *coming, GThread *thread)
{
  g_thread_join (thread);
  g_free (coming->to);
}

static gboolean
count_row (const Result *row, gpointer data, GError **error)
{
  (void)error;
  *(guint *)data += g_bytes_get_size (row->value) == VALUE_BYTES;
  return TRUE;
}

static guint
rows_of (Sql *sql)
{
  ResultsQuery all = { 0 };
  guint n = 0;
  guint64 bad = 0;
  gboolean good = results_each (sql, &all, count_row, &n, &bad, NULL);
  return good && bad == 0 ? n : 0;
}

/* The small tables are there long before the end is. */
static void
test_stall (Fixture *f, gconstpointer unused)
{
  (void)unused;
  put_rows (f, 1);
  publish (f);
  Coming coming
      = { .from = f->target, .bytes = size_of (f->target), .stop_at = 600000, .pause_ms = 100 };
  GThread *thread = begin (f, &coming);
  g_autoptr (Sql) sql = guard_open_front (coming.to, NULL, TRUE, NULL);
  g_assert_nonnull (sql);
  g_assert_true (sql->is_front);
  g_autofree char *id = tables_get_string (sql, "id", NULL);
  g_assert_cmpstr (id, ==, "run-1");
  g_assert_false (g_atomic_int_get (&coming.may_go_on)); /* it stands still up to here */
  g_atomic_int_set (&coming.may_go_on, 1);
  g_assert_cmpuint (rows_of (sql), ==, N_ROWS);
  g_assert_true (guard_check (coming.to, NULL));
  end (&coming, thread);
}

/* Walked while it comes, it is read like any other; broken off, nothing is believed. */
static void
test_walk (Fixture *f, gconstpointer unused)
{
  (void)unused;
  put_rows (f, 1);
  publish (f);
  for (gboolean fails = FALSE; fails <= TRUE; fails++)
    {
      Coming coming = { .from = f->target,
                        .bytes = size_of (f->target),
                        .stop_at = 2000000,
                        .may_go_on = 1,
                        .pause_ms = 50,
                        .fails = fails };
      guint n = 0;
      GThread *thread = begin (f, &coming);
      g_autoptr (Sql) sql = guard_open_front (coming.to, NULL, TRUE, NULL);
      g_assert_nonnull (sql);
      g_assert_cmpint (results_walk (sql, coming.to, walk_file, count_row, &n), ==, !fails);
      g_assert_true (fails ? n < N_ROWS : n == N_ROWS);
      g_assert_cmpint (guard_wait (coming.to, NULL), ==, !fails);
      g_autofree char *tag = g_strconcat (coming.to, ".tag", NULL);
      g_assert_cmpint (g_unlink (tag), ==, 0);
      end (&coming, thread);
    }
}

typedef struct
{
  Coming *coming;
  guint n, n_early;
} Early;

/* The rest comes when this was called so often. */
static gboolean
count_early (const Result *row, gpointer data, GError **error)
{
  Early *early = data;
  (void)row, (void)error;
  early->n_early += !g_atomic_int_get (&early->coming->may_go_on);
  if (++early->n == N_ROWS / 16)
    g_atomic_int_set (&early->coming->may_go_on, 1);
  return TRUE;
}

/* With the pages above the first rows, these are read when little else is there. */
static void
test_above (Fixture *f, gconstpointer unused)
{
  (void)unused;
  put_rows (f, 1);
  publish (f);
  guint64 bytes = size_of (f->target);
  Coming coming = { .from = f->target, .bytes = bytes, .stop_at = bytes / 8, .has_above = TRUE };
  Early early = { .coming = &coming };
  GThread *thread = begin (f, &coming);
  g_autoptr (Sql) sql = guard_open_front (coming.to, NULL, TRUE, NULL);
  g_assert_nonnull (sql);
  g_assert_true (results_walk (sql, coming.to, walk_file, count_early, &early));
  g_assert_cmpuint (early.n, ==, N_ROWS);
  g_assert_cmpuint (early.n_early, ==, N_ROWS / 16);
  end (&coming, thread);
}

/* A work file's pages lie as they were needed. */
static void
test_odd_order (Fixture *f, gconstpointer unused)
{
  (void)unused;
  put_rows (f, 1237);
  Coming coming = {
    .from = f->work, .bytes = size_of (f->work), .stop_at = 2000000, .may_go_on = 1, .pause_ms = 50
  };
  GThread *thread = begin (f, &coming);
  g_autoptr (Sql) sql = guard_open_front (coming.to, NULL, TRUE, NULL);
  g_assert_nonnull (sql);
  g_assert_cmpuint (rows_of (sql), ==, N_ROWS);
  g_assert_true (guard_check (coming.to, NULL));
  end (&coming, thread);
}

static void
assert_broken (Coming *coming, Sql *front, const char *sentence)
{
  g_autoptr (GError) error = NULL, other = NULL;
  g_assert_cmpuint (rows_of (front), ==, 0);
  g_assert_false (guard_check (coming->to, &error));
  g_assert_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE);
  g_assert_nonnull (strstr (error->message, sentence));
  g_assert_null (guard_open_own (coming->to, NULL, &other));
  g_assert_error (other, STORAGE_ERROR, STORAGE_ERROR_PLACE);
  g_assert_cmpstr (error->message, ==, other->message);
}

static void
test_break (Fixture *f, gconstpointer unused)
{
  (void)unused;
  put_rows (f, 1);
  publish (f);
  Coming coming
      = { .from = f->target, .bytes = size_of (f->target), .stop_at = 3000000, .fails = TRUE };
  GThread *thread = begin (f, &coming);
  g_autoptr (Sql) sql = guard_open_front (coming.to, NULL, TRUE, NULL);
  g_assert_nonnull (sql);
  g_atomic_int_set (&coming.may_go_on, 1);
  assert_broken (&coming, sql, "it broke");
  end (&coming, thread);
}

/* The process that brings it is killed. */
static void
test_death (Fixture *f, gconstpointer unused)
{
  (void)unused;
  put_rows (f, 1);
  publish (f);
  Coming coming = { .from = f->target,
                    .bytes = size_of (f->target),
                    .stop_at = 3000000,
                    .is_seen = 1,
                    .to = g_build_filename (f->folder, "coming", NULL) };
  pid_t pid = fork ();
  if (pid == 0)
    {
      run_coming (&coming);
      _exit (0);
    }
  Arrival *arrival = NULL;
  while ((arrival = arrival_open (coming.to)) == NULL)
    g_usleep (500);
  arrival_free (arrival);
  g_autoptr (Sql) sql = guard_open_front (coming.to, NULL, TRUE, NULL);
  g_assert_nonnull (sql);
  g_assert_cmpint (kill (pid, SIGKILL), ==, 0);
  g_assert_cmpint (waitpid (pid, NULL, 0), ==, pid);
  assert_broken (&coming, sql, "who brought it is gone");
  g_free (coming.to);
}

/* A file that has another size in the end is looked at as any other that stands there. */
static void
test_shorter (Fixture *f, gconstpointer unused)
{
  (void)unused;
  put_rows (f, 1);
  publish (f);
  guint64 bytes = size_of (f->target);
  g_assert_cmpint (truncate (f->target, (off_t)(bytes - 2 * REST_BYTES)), ==, 0);
  Coming coming = { .from = f->target, .bytes = bytes, .may_go_on = 1 };
  GThread *thread = begin (f, &coming);
  g_autoptr (Sql) front = guard_open_front (coming.to, NULL, TRUE, NULL);
  g_assert_nonnull (front);
  g_assert_false (front->is_front && guard_check (coming.to, NULL));
  g_autoptr (Sql) sql = guard_open_own (coming.to, NULL, NULL);
  g_assert_nonnull (sql);
  g_assert_true (sql->is_salvage);
  g_assert_cmpuint (rows_of (sql), >, N_ROWS / 2);
  end (&coming, thread);
}

/* A small table that is damaged is no front: all of the file is looked at. */
static void
test_damaged_front (Fixture *f, gconstpointer unused)
{
  (void)unused;
  put_rows (f, 1);
  publish (f);
  sqlite3 *db;
  g_assert_cmpint (sqlite3_open (f->target, &db), ==, SQLITE_OK);
  g_assert_cmpint (
      sqlite3_exec (db, "UPDATE run SET value = 'other' WHERE key = 'id'", NULL, NULL, NULL), ==,
      SQLITE_OK);
  sqlite3_close (db);
  g_autoptr (Sql) sql = guard_open_front (f->target, NULL, FALSE, NULL);
  g_assert_nonnull (sql);
  g_assert_false (sql->is_front);
  g_assert_cmpuint (rows_of (sql), ==, N_ROWS);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, f) g_test_add ("/arrival/" name, Fixture, NULL, set_up, f, tear_down)
  ADD ("stall", test_stall);
  ADD ("walk", test_walk);
  ADD ("above", test_above);
  ADD ("odd-order", test_odd_order);
  ADD ("break", test_break);
  ADD ("death", test_death);
  ADD ("shorter", test_shorter);
  ADD ("damaged-front", test_damaged_front);
  return g_test_run ();
}
