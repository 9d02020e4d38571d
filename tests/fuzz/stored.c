/* SPDX-License-Identifier: BSD-3-Clause */
#include "stored.h"

#include "storage/publish.h"
#include "storage/results.h"
#include "storage/tables.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *
folder (void)
{
  static char *made;
  if (made == NULL && g_access ("/dev/shm", W_OK) == 0)
    g_setenv ("TMPDIR", "/dev/shm", FALSE);
  if (made == NULL)
    made = g_dir_make_tmp ("satin-fuzz-XXXXXX", NULL);
  return made;
}

static void
put (Results *results, int i, gsize extra)
{
  gboolean written;
  guint8 digest[16] = { (guint8)i };
  g_autofree char *path = g_strdup_printf ("/%d", i);
  g_autofree guint8 *data = g_malloc0 (8 + extra);
  data[0] = (guint8)i;
  g_autoptr (GBytes) value = g_bytes_new (data, 8 + extra);
  Result row = { .path = path,
                 .node = "1.1.00000001",
                 .job = "job",
                 .type = extra > 0 ? "(xay)" : "x",
                 .digest = digest,
                 .digest_size = sizeof digest,
                 .value = value,
                 .work_s = i };
  g_assert (results_put (results, &row, &written, NULL));
}

GBytes *
stored_seed (guint n)
{
  if (n > 2)
    return NULL;
  char *data;
  gsize size;
  Published published;
  g_autofree char *work = g_build_filename (folder (), "work", NULL);
  g_autofree char *target = g_build_filename (folder (), "seed", NULL);
  g_autoptr (Sql) sql = sql_create (work, STORED_IDENTITY, NULL);
  g_autoptr (Results) results = results_new (sql, NULL);
  g_assert (tables_set (sql, "identity", STORED_IDENTITY, NULL));
  for (int i = 0; i < 40; i++)
    put (results, i, n == 1 ? 2000 : 0);
  g_assert (publish_copy (sql, target, "run", NULL, &published, NULL));
  (void)close (published.fd);
  g_assert (g_file_get_contents (target, &data, &size, NULL));
  if (n == 2)
    memset (data, 0, 100);
  g_unlink (work);
  g_unlink (target);
  return g_bytes_new_take (data, size);
}

char *
stored_file (const guint8 *data, gsize size)
{
  char *path = g_build_filename (folder (), "input", NULL);
  FILE *file = fopen (path, "w");

  g_assert (file != NULL && fwrite (data, 1, size, file) == size);
  g_assert (fclose (file) == 0);
  return path;
}

static gboolean
check_row (const Result *row, gpointer data, GError **error)
{
  g_autofree char *path = g_strdup_printf ("/%d", (int)row->work_s);
  (void)data, (void)error;
  g_assert_cmpstr (row->path, ==, path);
  g_assert_cmpint (*(const guint8 *)g_bytes_get_data (row->value, NULL), ==, row->digest[0]);
  return TRUE;
}

void
stored_check (Sql *sql)
{
  static const char *const names[] = { "job", NULL }, *const types[] = { "x", NULL };
  ResultsQuery all = { .job_names = names, .job_types = types };

  (void)results_each (sql, &all, check_row, NULL, NULL, NULL);
}
