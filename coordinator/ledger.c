/* SPDX-License-Identifier: BSD-3-Clause */
/* The work file and its publications. Every failure leaves the work file as it was before the call,
 * and the target as it was. Must not know queues, threads or nodes' lives.
 * Tests: test-writers, test-torture, test-pair. */
#include "coordinator/ledger-private.h"

#include "coordinator/notes.h"

#include "host/crash.h"
#include "storage/cell.h"
#include "storage/publish.h"
#include "storage/spare.h"
#include "storage/tables.h"

#include <string.h>
#include <unistd.h>

/* SQLite holds no row above 10^9 bytes. */
#define VALUE_BYTES_MAX (900u * 1024 * 1024)
/* A base of this size may have a delta; to send less again and again is no trouble. */
#define DELTA_FROM_BYTES (16u * 1024 * 1024)

const char *
ledger_name (const Ledger *ledger)
{
  return ledger->name != NULL ? ledger->name : ledger->target;
}

gboolean
ledger_give_up (Ledger *ledger, GError *reason, GError **error)
{
  if (ledger->results != NULL)
    results_rollback (ledger->results);
  ledger->numbered = 0;
  /* What is wrong at the target names that itself. */
  if (!g_str_has_prefix (reason->message, "checkpoint '"))
    g_prefix_error (&reason, "work file of the checkpoint: ");
  identity_take_error (error, reason);
  return FALSE;
}

void
ledger_note_totals (Ledger *ledger)
{
  ResultsTotals totals = results_totals (ledger->results);
  ledger->stats.rows = totals.rows;
  ledger->stats.done = CLAMP (totals.weight, 0.0, 1.0);
}

gboolean
ledger_write_generation (Ledger *ledger, GError **error)
{
  ledger->numbered = ledger->stats.generation + 1;
  return takeover_number (ledger->sql, ledger->results, ledger->numbered, error);
}

static gboolean
begin_rows (Ledger *ledger, GError **error)
{
  if (ledger->sql != NULL)
    ledger_seal (ledger, ledger->sql);
  ledger->results = ledger->sql != NULL ? results_new (ledger->sql, error) : NULL;
  return ledger->results != NULL && results_begin (ledger->results, error);
}

/* A new work file, in a transaction. */
static gboolean
begin_empty (Ledger *ledger, const char *work_path, const char *identity, GError **error)
{
  g_clear_pointer (&ledger->results, results_free);
  g_clear_pointer (&ledger->sql, sql_free);
  ledger->sql = sql_create (work_path, identity, error);
  return begin_rows (ledger, error);
}

/* The same with all of what stands at the target. `base` is that file, unless it was replaced
 * meanwhile. */
static gboolean
begin_copy (Ledger *ledger, const char *work_path, const char *identity, Sql *base, GError **error)
{
  if (stamp_is_current (&ledger->stamp, ledger->target))
    ledger->sql = sql_create_from (work_path, ledger->stamp.fd, identity, error);
  else
    {
      ledger->sql = sql_create (work_path, identity, error);
      if (ledger->sql != NULL && !sql_copy (ledger->sql, base, error))
        return FALSE;
    }
  return begin_rows (ledger, error);
}

/* Rows of others get a proof as they are written to the work file, one by one. */
static gboolean
is_own (const Sql *base)
{
  return base->origin == SQL_ORIGIN_UNASKED || base->origin == SQL_ORIGIN_OWN;
}

/* FALSE: its rows have to come into the work file one by one. */
static gboolean
may_be_copied (const Ledger *ledger, const Sql *base)
{
  return is_own (base) && !base->is_salvage && !base->is_earlier
         && spare_are_all (ledger->stamp.fd);
}

/* A sound file is copied as it is and then proved row by row, which takes a third of the time.
 * FALSE without an error: it must be taken over row by row. */
static gboolean
copy_whole (Ledger *ledger, const char *work_path, const char *identity, const Pair *pair,
            GError **error)
{
  gboolean is_whole = FALSE;
  Takeover takeover = { 0 };
  ledger_tell (ledger, &takeover);
  return may_be_copied (ledger, pair->base)
         && begin_copy (ledger, work_path, identity, pair->base, error)
         && takeover_whole (ledger->results, ledger->sql, &is_whole, &takeover, error) && is_whole;
}

/* The same, of a base that may be in the work file already. */
static gboolean
begin_with_whole (Ledger *ledger, const char *work_path, const char *identity, const Pair *pair,
                  GError **error)
{
  gboolean is_there = ledger->results != NULL;
  if (is_there ? !results_begin (ledger->results, error)
               : !copy_whole (ledger, work_path, identity, pair, error))
    return FALSE;
  /* From here on what stands there differs from the work file by what is put into this. */
  if (ledger->base_bytes > 0)
    ledger_know_base (ledger, ledger->base_bytes, pair_generation (pair->base));
  return ledger_take_over (ledger, pair, TRUE, error);
}

/* In a life of the run that goes on the others tell who has left. When a life begins nobody is left
 * of those before, who do not stay in the list of those to be asked whether the checkpoint is in
 * use. */
static gboolean
begin_file (Ledger *ledger, const char *work_path, const Pair *pair, const Identity *identity,
            GError **error)
{
  char hex[DIGEST_HEX_LENGTH + 1];
  GError *reason = NULL;
  digest_to_hex (&identity->identity, hex);
  gboolean is_found = pair->base != NULL;
  gboolean is_whole = is_found && begin_with_whole (ledger, work_path, hex, pair, &reason);
  if (reason == NULL && !is_whole)
    {
      ledger->base_bytes = 0;
      if (begin_empty (ledger, work_path, hex, &reason) && is_found)
        (void)ledger_take_over (ledger, pair, FALSE, &reason);
    }
  if (reason != NULL || (is_found && !ledger->goes_on && !notes_begin_life (ledger->sql, &reason))
      || !identity_save (ledger->sql, identity, &reason)
      || !ledger_write_generation (ledger, &reason) || !results_commit (ledger->results, &reason)
      || !sql_settle (ledger->sql, &reason))
    return ledger_give_up (ledger, reason, error);
  ledger_note_totals (ledger);
  return TRUE;
}

static gboolean
begin_place (Ledger *ledger, GError **error)
{
  GError *reason = NULL;
  if (!publish_try (ledger->target, ledger->run, &reason))
    {
      identity_take_error (error, reason);
      return FALSE;
    }
  publish_sweep (ledger->target);
  publish_sweep (ledger->delta);
  return TRUE;
}

/* A large file is read only once, when all is well with it. */
static gboolean
begin_file_ahead (Ledger *ledger, const char *work_path, Pair *pair, const Identity *identity,
                  GError **error)
{
  char hex[DIGEST_HEX_LENGTH + 1];
  Identity found = { 0 };
  digest_to_hex (&identity->identity, hex);
  if (pair->base != NULL && pair->base->is_front
      && !(may_be_copied (ledger, pair->base) && ledger_begin_ahead (ledger, work_path, hex, pair)))
    {
      pair_clear (pair);
      gboolean good = ledger_open_target (ledger, pair, FALSE, &found, error);
      identity_clear (&found);
      if (!good)
        return FALSE;
    }
  return begin_file (ledger, work_path, pair, identity, error);
}

static gboolean
begin (Ledger *ledger, const LedgerConfig *config, Identity *identity, GError **error)
{
  g_auto (Pair) pair = { 0 };
  Identity found = { 0 };
  gboolean has_target = ledger->target[0] != '\0';
  if (has_target && !ledger_open_target (ledger, &pair, TRUE, &found, error))
    return FALSE;
  if (pair.base != NULL && !config->is_unmarked
      && (guint64)ledger->stamp.size >= ledger->delta_from)
    ledger->base_bytes = (guint64)ledger->stamp.size;
  if (found.run != NULL)
    {
      g_free (identity->run);
      identity->run = g_steal_pointer (&found.run);
    }
  identity_clear (&found);
  g_free (ledger->run);
  ledger->run = g_strdup (identity->run);
  if (pair.base != NULL && !ledger->goes_on)
    ledger->damage = proof_warning (pair.base->origin, ledger_name (ledger));
  if (has_target && !config->reads_only && !begin_place (ledger, error))
    return FALSE;
  if (config->batch == NULL)
    return begin_file_ahead (ledger, config->work_path, &pair, identity, error);
  LedgerLoad load;
  ledger_load_begin (&load, ledger, config->batch, config->batch_data);
  ledger->load = &load;
  ledger->has_told_all = begin_file_ahead (ledger, config->work_path, &pair, identity, error);
  ledger->load = NULL;
  ledger_load_end (&load, FALSE);
  return ledger->has_told_all;
}

/* A damaged file that is only read stays where it is. */
static char *
keep_in_place (gpointer data, const char *path, const char *word, GError **error)
{
  (void)data, (void)word, (void)error;
  return g_strdup (path);
}

Ledger *
ledger_new (const LedgerConfig *config, Identity *identity, GError **error)
{
  g_assert (config->work_path != NULL && config->target != NULL && config->stems != NULL);
  g_assert (identity->run != NULL);

  g_autoptr (Ledger) ledger = g_new0 (Ledger, 1);
  ledger->target
      = config->target[0] != '\0' ? g_canonicalize_filename (config->target, NULL) : g_strdup ("");
  ledger->delta = pair_delta_path (ledger->target);
  ledger->name = g_strdup (config->name);
  ledger->keep_aside = config->reads_only ? keep_in_place : config->keep_aside;
  ledger->data = config->data;
  ledger->job_names = g_strdupv ((char **)config->job_names);
  ledger->job_types = g_strdupv ((char **)config->job_types);
  ledger->job_args = g_strdupv ((char **)config->job_args);
  ledger->n_jobs = g_strv_length (ledger->job_names);
  g_assert (ledger->n_jobs == g_strv_length (ledger->job_types));
  g_assert (config->job_args == NULL || ledger->n_jobs == g_strv_length (ledger->job_args));
  ledger->stems = config->stems;
  ledger->stamp = ledger->delta_stamp = STAMP_NONE;
  ledger->delta_from = config->delta_from > 0 ? config->delta_from : DELTA_FROM_BYTES;
  ledger->identity.app = g_strdup (identity->app);
  ledger->identity.argv = g_strdupv (identity->argv);
  ledger->identity.schema = identity->schema;
  ledger->identity.identity = identity->identity;
  ledger->identity.build = g_strdup (identity->build);
  ledger->identity.mended = identity->mended;
  ledger->run = g_strdup (identity->run);
  ledger->has_changed = TRUE;
  ledger->goes_on = config->goes_on;
  if (!begin (ledger, config, identity, error))
    return NULL;
  if (config->reads_only) /* as without a target: nothing is ever published */
    {
      ledger->name = ledger->name != NULL ? ledger->name : g_strdup (ledger->target);
      ledger->target[0] = '\0';
    }
  return g_steal_pointer (&ledger);
}

void
ledger_free (Ledger *ledger)
{
  if (ledger == NULL)
    return;
  results_free (ledger->results);
  sql_free (ledger->sql);
  stamp_clear (&ledger->stamp);
  stamp_clear (&ledger->delta_stamp);
  identity_clear (&ledger->identity);
  g_strfreev (ledger->job_names);
  g_strfreev (ledger->job_types);
  g_strfreev (ledger->job_args);
  g_free (ledger->target);
  g_free (ledger->delta);
  g_free (ledger->name);
  g_free (ledger->run);
  g_free (ledger->damage);
  g_free (ledger);
}

static gboolean
knows_stem (const char *id, void *data)
{
  return results_knows_stem (data, id);
}

static void
meet_stem (const char *id, const char *stem, void *data)
{
  results_meet_stem (data, id, stem);
}

/* Rows that cannot be written rightly are left out: they are only done again. */
static gboolean
row_can_be_written (Ledger *ledger, const Row *row)
{
  gboolean has_type
      = row->children > 0 ? g_variant_type_string_is_valid (row->type) : row->job < ledger->n_jobs;
  if (!has_type || !path_is_canonical (row->path) || !ledger_has_shares (row)
      || g_bytes_get_size (row->value) > VALUE_BYTES_MAX)
    return FALSE;
  return path_each_stem (ledger->stems, row->path, knows_stem, meet_stem, ledger->results);
}

/* (transfer full) (nullable) */
static char *
args_of (const Ledger *ledger, const Row *row)
{
  gboolean is_known = ledger->job_args != NULL && row->job < ledger->n_jobs;
  g_autoptr (GBytes) args = is_known ? loan_read_args (row->args) : NULL;
  return args != NULL ? cell_json (ledger->job_args[row->job], args, CELL_JSON_ROW) : NULL;
}

static gboolean
write_rows (Ledger *ledger, const Inbox *inbox, guint64 *n_written, GError **error)
{
  g_autoptr (GPtrArray) rows = inbox_sorted_rows (inbox);
  gint64 now = ledger_now_s ();
  NodeId node = { 0 };
  char id[NODE_ID_TEXT_MAX];
  const char *name = notes_node_text (&node, id);
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = g_ptr_array_index (rows, i);
      gboolean written;
      if (!row_can_be_written (ledger, row))
        continue;
      if (!node_id_equal (&node, &row->node))
        name = notes_node_text (&row->node, id);
      node = row->node;
      g_autofree char *args = args_of (ledger, row);
      Result result = { .path = row->path,
                        .node = name,
                        .job = ledger->job_names[row->job],
                        .type = ledger->job_types[row->job],
                        .digest = row->digest.bytes,
                        .digest_size = sizeof row->digest.bytes,
                        .value = row->value,
                        .work_s = (double)row->work_us / G_USEC_PER_SEC,
                        .saved = now,
                        .weight = row->weight,
                        .args = args,
                        .args_size = args != NULL ? strlen (args) : 0,
                        .began = (gint64)(row->began_ms / 1000),
                        .took_ms = (gint64)row->took_ms };
      if (!results_put (ledger->results, &result, &written, error)
          || !ledger_write_shares (ledger, row, error)) /* they may have been lost */
        return FALSE;
      *n_written += written;
    }
  return TRUE;
}

/* After the rows: where a job has finished meanwhile, its kept state is not written at all. */
static gboolean
write_keeps (Ledger *ledger, const Inbox *inbox, guint64 *n_written, GError **error)
{
  GHashTableIter iter;
  gpointer data;
  g_hash_table_iter_init (&iter, inbox->keeps);
  while (g_hash_table_iter_next (&iter, NULL, &data))
    {
      const Row *row = data;
      gboolean written;
      if (!row_can_be_written (ledger, row))
        continue;
      g_autofree char *args = args_of (ledger, row);
      Keep keep = { .path = row->path,
                    .children = row->children,
                    .digest = row->digest.bytes,
                    .digest_size = sizeof row->digest.bytes,
                    .type = row->type,
                    .value = row->value,
                    .args = args,
                    .args_size = args != NULL ? strlen (args) : 0 };
      double work_s = (double)row->work_us / G_USEC_PER_SEC;
      if (!results_put_keep (ledger->results, &keep, work_s, &written, error)
          || !ledger_write_shares (ledger, row, error))
        return FALSE;
      *n_written += written;
    }
  return TRUE;
}

static gboolean
write_answer (Ledger *ledger, const Inbox *inbox, GError **error)
{
  if (inbox->answer == NULL)
    return TRUE;
  gsize size;
  const void *data = g_bytes_get_data (inbox->answer, &size);
  g_autofree char *code = g_strdup_printf ("%d", inbox->exit_code);
  return tables_set_first (ledger->sql, "answer", data, size, error)
         && tables_set_first (ledger->sql, "exit", code, strlen (code), error);
}

/* The publication that comes next, once, with what was done before it: the history of the run. */
static gboolean
note_publication (Ledger *ledger, GError **error)
{
  guint64 next = ledger->stats.generation + 1;
  if (ledger->target[0] == '\0' || ledger->noted == next)
    return TRUE;
  g_autofree char *detail = g_strdup_printf (
      "generation %" G_GUINT64_FORMAT ", %.4f %% done before", next, 100 * ledger->stats.done);
  ledger->noted = next;
  return notes_event (ledger->sql, &(TablesEvent){ .kind = "published", .detail = detail }, error);
}

/* A commit that failed at its very end may have happened, and is to be published then. */
static gboolean
write_failed (Ledger *ledger, GError *reason, GError **error)
{
  ledger->has_changed = TRUE;
  ledger->noted = 0;
  return ledger_give_up (ledger, reason, error);
}

/* `is_last`: of the run. It is published at once, and the publication is synced. Nothing follows
 * that would need the work file. */
static gboolean
begin_batch (Ledger *ledger, gboolean is_last, GError **error)
{
  results_close (ledger->results); /* SQLite changes this only outside of a transaction */
  return (is_last ? sql_unsettle : sql_settle) (ledger->sql, error)
         && results_begin (ledger->results, error);
}

gboolean
ledger_write (Ledger *ledger, const Inbox *inbox, GError **error)
{
  GError *reason = NULL;
  guint64 n_written = 0;
  int before = sqlite3_total_changes (ledger->sql->db);
  if (!begin_batch (ledger, inbox->present != NULL, &reason)
      || !notes_write (ledger->sql, inbox, &reason)
      || !write_rows (ledger, inbox, &n_written, &reason)
      || !write_keeps (ledger, inbox, &n_written, &reason)
      || !ledger_sweep_shares (ledger, inbox->answer != NULL, &reason)
      || !write_answer (ledger, inbox, &reason))
    return write_failed (ledger, reason, error);

  crash_point ("commit");
  gboolean has_changed = sqlite3_total_changes (ledger->sql->db) != before;
  if ((has_changed
       && !(ledger_write_generation (ledger, &reason) && note_publication (ledger, &reason)))
      || !results_commit (ledger->results, &reason))
    return write_failed (ledger, reason, error);
  crash_point ("committed");
  ledger->has_changed = ledger->has_changed || has_changed;
  ledger->stats.saves++;
  ledger->stats.saved_rows += n_written;
  ledger_note_totals (ledger);
  return TRUE;
}

char *
ledger_take_damage (Ledger *ledger)
{
  return g_steal_pointer (&ledger->damage);
}

LedgerStats
ledger_stats (const Ledger *ledger)
{
  return ledger->stats;
}
