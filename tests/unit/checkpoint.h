/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of scribe and restore: a folder for each test, an identity, rows, and a
 * mailbox for the scribe's news. Each test program includes it once. */
#pragma once

#include "in-memory.h"

#include "coordinator/restore.h"
#include "coordinator/scribe.h"

#include <glib/gstdio.h>
#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

#define HOUR_US (G_GUINT64_CONSTANT (3600) * G_USEC_PER_SEC)

static const char *const job_names[] = { "queens", "tour", NULL };
static const char *const job_types[] = { "x", "(xay)", NULL };
static const char *const job_args[] = { "(i)", "(as)", NULL };

typedef struct
{
  char *folder, *target, *work;
  Stems *stems;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  GPtrArray *rows; /* Of Row: all restored rows. */
  guint n_restored_final, n_published, n_final, n_trouble;
  guint64 generation, ticket, rest_us;
  char *trouble;
} Place;

static void
place_notify (const ScribeNews *news, void *data)
{
  Place *place = data;
  pthread_mutex_lock (&place->lock);
  if (news->kind == SCRIBE_RESTORED)
    {
      for (guint i = 0; i < news->rows->len; i++)
        g_ptr_array_add (place->rows, row_copy (g_ptr_array_index (news->rows, i)));
      place->n_restored_final += news->final;
    }
  else if (news->kind == SCRIBE_PUBLISHED)
    {
      place->n_published++;
      place->generation = news->generation;
      place->ticket = news->ticket;
      place->rest_us = news->rest_us;
      place->n_final += news->final;
    }
  else if (news->kind == SCRIBE_TROUBLE)
    {
      place->n_trouble++;
      place->n_final += news->final;
      g_free (place->trouble);
      place->trouble = g_strdup (news->error->message);
    }
  pthread_cond_signal (&place->wake);
  pthread_mutex_unlock (&place->lock);
}

static inline Place *
place_new (void)
{
  Place *place = g_new0 (Place, 1);
  files_in_memory ();
  place->folder = g_dir_make_tmp ("satin-test-XXXXXX", NULL);
  place->target = g_build_filename (place->folder, "run.ckpt", NULL);
  place->work = g_build_filename (place->folder, "work", NULL);
  place->stems = stems_new ();
  place->rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  pthread_mutex_init (&place->lock, NULL);
  pthread_cond_init (&place->wake, NULL);
  return place;
}

/* The number of entries in the folder besides the checkpoint and the work file. */
static inline guint
place_strangers (Place *place)
{
  g_autoptr (GDir) dir = g_dir_open (place->folder, 0, NULL);
  const char *name;
  guint n = 0;
  while ((name = g_dir_read_name (dir)) != NULL)
    n += strcmp (name, "run.ckpt") != 0 && !g_str_has_prefix (name, "work");
  return n;
}

static void
place_free (Place *place)
{
  g_autoptr (GDir) dir = g_dir_open (place->folder, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (place->folder, name, NULL);
      if (g_unlink (path) != 0)
        (void)g_rmdir (path);
    }
  (void)g_rmdir (place->folder);
  g_ptr_array_unref (place->rows);
  stems_free (place->stems);
  pthread_cond_destroy (&place->wake);
  pthread_mutex_destroy (&place->lock);
  g_free (place->trouble);
  g_free (place->folder);
  g_free (place->target);
  g_free (place->work);
  g_free (place);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Place, place_free)

static inline void
place_wait (Place *place, const guint *counter, guint value)
{
  pthread_mutex_lock (&place->lock);
  while (*counter < value)
    pthread_cond_wait (&place->wake, &place->lock);
  pthread_mutex_unlock (&place->lock);
}

static Identity
identity_make (const char *run, const char *app, const char *argument)
{
  Identity identity = { 0 };
  char *argv[] = { (char *)argument, "two words", NULL };
  identity.run = g_strdup (run);
  identity.name = g_strdup ("a name");
  identity.app = g_strdup (app);
  identity.program = g_strdup ("/usr/bin/prog");
  identity.folder = g_strdup ("/home/somebody");
  identity.argv = g_strdupv (argv);
  identity.options = g_strdup ("[run]\nnodes=4\n");
  identity.version = g_strdup ("0.1.0");
  identity.schema = digest_of_string ("schema");
  g_autofree char *whole = g_strconcat (app, "|", argument, NULL);
  identity.identity = digest_of_string (whole);
  return identity;
}

static inline ScribeConfig
place_config (Place *place, guint64 interval_us)
{
  return (ScribeConfig){ .work_path = place->work,
                         .target = place->target,
                         .interval_us = interval_us,
                         .job_names = job_names,
                         .job_types = job_types,
                         .job_args = job_args,
                         .stems = place->stems,
                         .notify = place_notify,
                         .data = place };
}

static inline Scribe *
place_scribe (Place *place, guint64 interval_us, Identity *identity, GError **error)
{
  ScribeConfig config = place_config (place, interval_us);
  return scribe_new (&config, identity, error);
}

/* A row of the job "queens" with the value `number`. */
static inline Row *
row_make (const char *path, gint64 number, guint64 work_us, double weight)
{
  g_autofree char *what = g_strconcat ("job at ", path, NULL);
  Digest digest = digest_of_string (what);
  gint64 little = GINT64_TO_LE (number);
  g_autoptr (GBytes) value = g_bytes_new (&little, sizeof little);
  Row *row = row_new (path, 0, &digest, weight, work_us, value);
  row->node = (NodeId){ 1, 2, 3 };
  return row;
}

/* A row of a kept state with the value `number`. */
static inline Row *
row_make_kept (const char *path, guint32 children, gint64 number)
{
  g_autofree char *what = g_strconcat ("kept at ", path, NULL);
  Digest digest = digest_of_string (what);
  gint64 little = GINT64_TO_LE (number);
  g_autoptr (GBytes) value = g_bytes_new (&little, sizeof little);
  Row *row = row_new_kept (path, children, 0, &digest, 0, "x", value);
  row->node = (NodeId){ 1, 2, 3 };
  return row;
}

static inline GPtrArray *
rows_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
}

static inline void
save_one (Scribe *scribe, Row *row)
{
  GPtrArray *rows = rows_new ();
  g_ptr_array_add (rows, row);
  scribe_save (scribe, rows);
}

/* A best value whose bytes are `text`. */
static inline void
save_best (Scribe *scribe, const char *name, const char *text)
{
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
  scribe_best (scribe, name, "ay", bytes, NULL);
}

/* The answer of plain SQLite about the published file: the text of the first column of the first
 * row. */
static inline char *
ask (const char *path, const char *query)
{
  sqlite3 *db = NULL;
  sqlite3_stmt *statement = NULL;
  g_assert_cmpint (sqlite3_open_v2 (path, &db, SQLITE_OPEN_READONLY, NULL), ==, SQLITE_OK);
  if (sqlite3_prepare_v2 (db, query, -1, &statement, NULL) != SQLITE_OK)
    g_error ("%s: %s", query, sqlite3_errmsg (db));
  char *answer = NULL;
  if (sqlite3_step (statement) == SQLITE_ROW)
    answer = g_strdup ((const char *)sqlite3_column_text (statement, 0));
  sqlite3_finalize (statement);
  sqlite3_close (db);
  return answer;
}

static inline void
assert_answer (const char *path, const char *query, const char *expected)
{
  g_autofree char *answer = ask (path, query);
  g_assert_cmpstr (answer, ==, expected);
}

static inline void
finish (Place *place, Scribe *scribe)
{
  pthread_mutex_lock (&place->lock);
  guint before = place->n_final;
  pthread_mutex_unlock (&place->lock);
  scribe_finish (scribe);
  place_wait (place, &place->n_final, before + 1);
}

static inline Scribe *
start (Place *place, guint64 interval_us, const char *run)
{
  Identity identity = identity_make (run, "app", "8");
  g_autoptr (GError) error = NULL;
  Scribe *scribe = place_scribe (place, interval_us, &identity, &error);
  g_assert_no_error (error);
  g_assert_nonnull (scribe);
  identity_clear (&identity);
  return scribe;
}

static inline GBytes *
contents (const char *path)
{
  char *data;
  gsize size;
  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  return g_bytes_new_take (data, size);
}

static inline void
finish_all (Place *place, Scribe *scribe)
{
  finish (place, scribe);
  scribe_free (scribe);
}

/* Small rows of one job. */
static inline void
save_many (Scribe *scribe, guint first, guint n)
{
  GPtrArray *rows = rows_new ();
  for (guint i = first; i < first + n; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u/%u", i / 100, i % 100);
      g_ptr_array_add (rows, row_make (path, i, 1000, 1e-6));
    }
  scribe_save (scribe, rows);
}

/* Waits until a tick has published everything that was saved so far. */
static inline void
wait_published (Place *place, Scribe *scribe)
{
  static guint64 ticket;
  scribe_ticket (scribe, ++ticket);
  pthread_mutex_lock (&place->lock);
  while (place->ticket < ticket)
    pthread_cond_wait (&place->wake, &place->lock);
  pthread_mutex_unlock (&place->lock);
}

/* Reads the file in the way that all readers do. */
static inline void
assert_rows (const char *target, guint64 expected)
{
  g_autoptr (GError) error = NULL;
  Restore restore;
  g_assert_true (restore_look (target, &restore, &error));
  g_assert_no_error (error);
  g_assert_true (restore.exists);
  g_assert_cmpuint (restore.rows_bad, ==, 0);
  g_assert_null (restore.damage);
  g_assert_cmpuint (restore.rows, ==, expected);
  restore_clear (&restore);
}
