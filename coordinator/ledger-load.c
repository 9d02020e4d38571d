/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes rows of the file to the program, in batches, each row with its shared bytes: while they
 * are taken over, or later from the work file. Tests: test-ledger-shares. */
#include "coordinator/ledger-private.h"

#include "coordinator/notes.h"
#include "coordinator/takeover.h"

#include <string.h>

/* Limits of a batch: what is allocated for a batch should be small for malloc. */
#define BATCH_ROWS_MAX 250
#define BATCH_BYTES_MAX (8u * 1024 * 1024)

static GPtrArray *
new_rows (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify)(void (*) (void))row_free);
}

static void
hand_over (LedgerLoad *load, gboolean final)
{
  g_autoptr (GPtrArray) rows = g_steal_pointer (&load->rows);
  load->rows = new_rows ();
  load->bytes = 0;
  load->batch (rows, final, load->data);
}

void
ledger_load_begin (LedgerLoad *load, Ledger *ledger, LedgerBatch batch, gpointer data)
{
  *load = (LedgerLoad){ .ledger = ledger, .batch = batch, .data = data, .rows = new_rows () };
}

void
ledger_load_end (LedgerLoad *load, gboolean final)
{
  if (final || load->rows->len > 0)
    hand_over (load, final);
  g_ptr_array_unref (load->rows);
}

/* Adds the row (transfer full). A row without its shared bytes is useless, so it is dropped. */
static gboolean
add_loaded (LedgerLoad *load, Row *row, const char *type, GError **error)
{
  GError *reason = NULL;
  if (!ledger_load_shares (load->ledger, type, row, &reason))
    {
      row_free (row);
      if (reason != NULL)
        g_propagate_error (error, reason);
      return reason == NULL;
    }
  g_ptr_array_add (load->rows, row);
  load->bytes += g_bytes_get_size (row->value);
  if (load->rows->len >= BATCH_ROWS_MAX || load->bytes >= BATCH_BYTES_MAX)
    hand_over (load, FALSE);
  return TRUE;
}

/* The file does not contain the job of a kept state. The program knows it, and the digest proves
 * it. */
gboolean
ledger_load_keep (const Keep *keep, gpointer data, GError **error)
{
  Digest digest;
  if (!takeover_keep_is_sound (keep))
    return TRUE;
  memcpy (digest.bytes, keep->digest, sizeof digest.bytes);
  return add_loaded (
      data, row_new_kept (keep->path, keep->children, 0, &digest, 0, keep->type, keep->value),
      keep->type, error);
}

/* Long series of rows have the same node. */
static NodeId
node_of (LedgerLoad *load, const char *text)
{
  if (strcmp (load->node_text, text) != 0)
    {
      if (!node_id_read (text, &load->node))
        load->node = NODE_ID_NONE;
      g_strlcpy (load->node_text, text, sizeof load->node_text);
    }
  return load->node;
}

gboolean
ledger_load_row (const Result *result, gpointer data, GError **error)
{
  LedgerLoad *load = data;
  const Ledger *ledger = load->ledger;
  guint32 job = 0;
  Digest digest;
  while (job < ledger->n_jobs && strcmp (ledger->job_names[job], result->job) != 0)
    job++;
  /* Everything else in a row is checked before it comes into the work file. */
  if (job == ledger->n_jobs || strcmp (ledger->job_types[job], result->type) != 0
      || result->digest_size != sizeof digest)
    return TRUE;
  memcpy (digest.bytes, result->digest, sizeof digest.bytes);
  guint64 work_us = (guint64)(result->work_s * G_USEC_PER_SEC + 0.5);
  Row *row = row_new (result->path, job, &digest, result->weight, work_us, result->value);
  row->node = node_of (load, result->node);
  return add_loaded (load, row, result->type, error);
}

/* Reading a million rows, or a gigabyte of values, takes about a second. */
#define LOOK_ROWS_MAX 1000000
#define LOOK_BYTES_MAX (G_GUINT64_CONSTANT (1) << 30)

static void
look_at (const char *path, double weight, double work_s, gpointer data)
{
  left_row (data, path, weight, work_s);
}

gboolean
ledger_look (Ledger *ledger, Left *left)
{
  if (ledger->results == NULL || results_has_keeps (ledger->results)
      || ledger->stats.rows > LOOK_ROWS_MAX || ledger->stats.bytes > LOOK_BYTES_MAX)
    return FALSE;
  left_begin (left);
  gboolean good = results_each_cost (ledger->sql, look_at, left, NULL);
  if (good)
    left_end (left);
  return good;
}

gboolean
ledger_has_told_all (const Ledger *ledger)
{
  return ledger->has_told_all;
}

/* There are few kept states: one for each job that has phases left. */
static gboolean
load_keep_below (const Keep *keep, gpointer data, GError **error)
{
  LedgerLoad *load = data;
  if (load->top != NULL && strcmp (keep->path, load->top) != 0
      && !path_is_below (load->ledger->stems, keep->path, load->top))
    return TRUE;
  return ledger_load_keep (keep, data, error);
}

/* A path below `top` continues its text, or the text of a stem at or below it. */
static gboolean
load_below (LedgerLoad *load, GError **error)
{
  Sql *sql = load->ledger->sql;
  ResultsQuery query = { .below = load->top };
  if (!results_each (sql, &query, ledger_load_row, load, NULL, error))
    return FALSE;
  g_autoptr (GPtrArray) stems
      = load->top == NULL ? NULL : path_stems_below (load->ledger->stems, load->top);
  for (guint i = 0; stems != NULL && i < stems->len; i++)
    {
      g_autofree char *start = g_strconcat ("~", stems->pdata[i], NULL);
      query.below = start;
      if (!results_each (sql, &query, ledger_load_row, load, NULL, error))
        return FALSE;
    }
  return keeps_each (sql, load_keep_below, load, NULL, error);
}

gboolean
ledger_load (Ledger *ledger, const char *path, LedgerBatch batch, gpointer data, GError **error)
{
  LedgerLoad load;
  GError *reason = NULL;
  gboolean is_told = ledger->has_told_all && path == NULL;
  ledger_load_begin (&load, ledger, batch, data);
  load.top = path != NULL && path[0] != '\0' ? path : NULL; /* all paths are below the root */
  gboolean good = is_told || load_below (&load, &reason);
  ledger_load_end (&load, TRUE);
  if (is_told)
    ledger->has_told_all = FALSE;
  if (!good)
    identity_take_error (error, reason);
  return good;
}
