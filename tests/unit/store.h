/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of storage: a work file in a folder of its own, and short functions to write
 * and read it. Each test program includes it once. */
#pragma once

#include "in-memory.h"

#include "storage/publish.h"
#include "storage/results.h"
#include "storage/tables.h"

#include <glib/gstdio.h>
#include <string.h>

#define IDENTITY "00112233445566778899aabbccddeeff"

typedef struct
{
  char *folder, *work, *target;
  Sql *sql;
  Results *results;
} Fixture;

static inline void
set_up (Fixture *f, gconstpointer data)
{
  GError *error = NULL;
  (void)data;
  files_in_memory ();
  f->folder = g_dir_make_tmp ("satin-storage-XXXXXX", NULL);
  f->work = g_build_filename (f->folder, "work", NULL);
  f->target = g_build_filename (f->folder, "run.ckpt", NULL);
  f->sql = sql_create (f->work, IDENTITY, &error);
  g_assert_no_error (error);
  f->results = results_new (f->sql, &error);
  g_assert_no_error (error);
  g_assert_true (results_begin (f->results, &error));
  g_assert_true (tables_set (f->sql, "identity", IDENTITY, &error));
  g_assert_true (tables_set (f->sql, "id", "run-1", &error));
  g_assert_true (results_commit (f->results, &error));
}

static inline void
tear_down (Fixture *f, gconstpointer unused)
{
  (void)unused;
  results_free (f->results);
  sql_free (f->sql);
  g_autoptr (GDir) dir = g_dir_open (f->folder, 0, NULL);
  const char *name;
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (f->folder, name, NULL);
      if (g_unlink (path) != 0)
        (void)g_rmdir (path);
    }
  (void)g_rmdir (f->folder);
  g_free (f->folder);
  g_free (f->work);
  g_free (f->target);
}

static inline gboolean
put_typed (Fixture *f, Result row, GError **error)
{
  gboolean written = FALSE;
  g_assert_true (results_put (f->results, &row, &written, error));
  return written;
}

/* Saves a row with a digest of sixteen bytes `digest`. TRUE: written. */
static inline gboolean
put (Fixture *f, const char *path, guint8 digest, double work_s)
{
  guint8 bytes[16];
  memset (bytes, digest, sizeof bytes);
  g_autoptr (GBytes) value = g_bytes_new_static ("\x07\0\0\0\0\0\0\0", 8);
  Result row = { .path = path,
                 .node = "1.1.00000001",
                 .job = "job",
                 .type = "x",
                 .digest = bytes,
                 .digest_size = sizeof bytes,
                 .value = value,
                 .work_s = work_s,
                 .saved = 1700000000,
                 .weight = 0.125 };
  return put_typed (f, row, NULL);
}

static inline gboolean
add_path (const Result *row, gpointer data, GError **error)
{
  (void)error;
  g_string_append_printf (data, "%s=%g ", row->path[0] != '\0' ? row->path : "root", row->work_s);
  return TRUE;
}

static inline void
assert_rows (Sql *sql, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);
  ResultsQuery all = { 0 };
  guint64 bad = 0;
  g_assert_true (results_each (sql, &all, add_path, text, &bad, NULL));
  g_assert_cmpuint (bad, ==, 0);
  g_assert_cmpstr (g_strchomp (text->str), ==, expected);
}

static inline gint64
number_of (Sql *sql, const char *query)
{
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v2 (sql->db, query, -1, &statement, NULL) != SQLITE_OK)
    g_error ("%s: %s", query, sqlite3_errmsg (sql->db));
  g_assert_cmpint (sqlite3_step (statement), ==, SQLITE_ROW);
  gint64 number = sqlite3_column_int64 (statement, 0);
  sqlite3_finalize (statement);
  return number;
}

static inline void
publish (Fixture *f)
{
  g_autoptr (GError) error = NULL;
  Published published;
  g_assert_true (publish_copy (f->sql, f->target, "run-1", NULL, &published, &error));
  g_assert_no_error (error);
  g_assert_true (g_close (published.fd, NULL));
}

typedef void (*Test) (Fixture *f, gconstpointer unused);

typedef struct
{
  const char *name;
  Test test;
} NamedTest;

static inline int
run_tests (int argc, char **argv, const NamedTest *tests, gsize n)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < n; i++)
    g_test_add (tests[i].name, Fixture, NULL, set_up, tests[i].test, tear_down);
  return g_test_run ();
}
