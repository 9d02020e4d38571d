/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies the rows that verify, one by one, by the same rules of compaction as new rows. T1-6 of the
 * paper's claims: only damaged rows are lost. Knows nothing of threads and places. */
#include "coordinator/takeover.h"

#include "digest.h"

#include "storage/tables.h"

typedef struct
{
  Results *results;
  Stems *stems;
  Takeover *takeover;
  GPtrArray *ids; /* of the stems in the file */
} TakeoverState;

static gboolean
is_sound (const char *path, gsize digest_size, const char *type)
{
  return path_is_canonical (path) && digest_size == sizeof (Digest)
         && g_variant_type_string_is_valid (type);
}

gboolean
takeover_row_is_sound (const Result *row)
{
  return is_sound (row->path, row->digest_size, row->type);
}

gboolean
takeover_keep_is_sound (const Keep *keep)
{
  return is_sound (keep->path, keep->digest_size, keep->type);
}

static gboolean
take_stem (const char *id, const char *path, gpointer data, GError **error)
{
  TakeoverState *state = data;
  (void)error;
  if (stems_add (state->stems, id, path))
    g_ptr_array_add (state->ids, g_strdup (id));
  else
    state->takeover->bad++;
  return TRUE;
}

/* A stem is usable if all stems above it are known. Only such stems are given to `results`. Rows of
 * others are left out, since nobody can tell their place. */
static void
meet_whole_stems (TakeoverState *state)
{
  for (guint i = 0; i < state->ids->len; i++)
    {
      const char *id = g_ptr_array_index (state->ids, i);
      const char *path = stems_lookup (state->stems, id);
      if (path_is_whole (state->stems, path))
        results_meet_stem (state->results, id, path);
      else
        state->takeover->bad++;
    }
}

/* Counts a row. FALSE: it is left out. */
static gboolean
is_taken (TakeoverState *state, const char *path, gboolean is_sound)
{
  char id[17];
  gboolean taken = is_sound && (!path_stem (path, id) || results_knows_stem (state->results, id));
  *(taken ? &state->takeover->rows : &state->takeover->bad) += 1;
  return taken;
}

static gboolean
take_row (const Result *row, gpointer data, GError **error)
{
  TakeoverState *state = data;
  gboolean written;
  const Takeover *takeover = state->takeover;
  return !is_taken (state, row->path, takeover_row_is_sound (row))
         || (results_put (state->results, row, &written, error)
             && (takeover->each == NULL || takeover->each (row, takeover->data, error)));
}

static gboolean
take_keep (const Keep *keep, gpointer data, GError **error)
{
  TakeoverState *state = data;
  gboolean written;
  const Takeover *takeover = state->takeover;
  return !is_taken (state, keep->path, takeover_keep_is_sound (keep))
         || (results_put_keep (state->results, keep, 0, &written, error)
             && (takeover->each_keep == NULL || takeover->each_keep (keep, takeover->data, error)));
}

gboolean
takeover_unite (Results *results, Sql *to, Sql *from, Stems *stems, Takeover *takeover,
                GError **error)
{
  g_autoptr (GPtrArray) ids = g_ptr_array_new_with_free_func (g_free);
  TakeoverState state = { .results = results, .stems = stems, .takeover = takeover, .ids = ids };
  ResultsQuery all = { .job_names = takeover->job_names, .job_types = takeover->job_types };
  if (!tables_copy (to, from, takeover->replaces, &takeover->bad, error)
      || !results_each_stem (from, take_stem, &state, &takeover->bad, error))
    return FALSE;
  meet_whole_stems (&state);
  return results_each (from, &all, take_row, &state, &takeover->bad, error)
         && keeps_each (from, take_keep, &state, &takeover->bad, error);
}

typedef struct
{
  Results *results;
  Takeover *takeover;
  gboolean is_whole;
} TakeoverProof;

static gboolean
prove_row (const Result *row, gpointer data, GError **error)
{
  TakeoverProof *proof = data;
  Takeover *takeover = proof->takeover;
  takeover->rows++;
  proof->is_whole = takeover_row_is_sound (row) && results_adopt (proof->results, row);
  if (!proof->is_whole) /* any error ends the reading */
    g_set_error_literal (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE, "not a work file's row");
  return proof->is_whole && (takeover->each == NULL || takeover->each (row, takeover->data, error));
}

gboolean
takeover_whole (Results *results, Sql *sql, gboolean *is_whole, Takeover *takeover, GError **error)
{
  TakeoverProof proof = { .results = results, .takeover = takeover, .is_whole = TRUE };
  ResultsQuery all = { 0 };
  gboolean is_simple;
  guint64 bad = 0;
  *is_whole = FALSE;
  if (!tables_are_simple (sql, &is_simple, error) || !tables_count_bad (sql, &bad, error))
    return FALSE;
  if (!is_simple || bad > 0)
    return TRUE;
  GError *reason = NULL;
  gboolean good = results_each (sql, &all, prove_row, &proof, &bad, &reason);
  ResultsTotals totals = results_totals (results);
  Tally tally = { totals.rows, totals.sums };
  *is_whole = good && bad == 0 && inventory_agrees (sql, 0, INVENTORY_TABLES - 1, &tally);
  if (good || !proof.is_whole)
    g_clear_error (&reason);
  else
    g_propagate_error (error, reason);
  return good || !proof.is_whole;
}

typedef struct
{
  ResultsTotals *totals;
  Takeover *takeover;
  GString *last;    /* path of the last row */
  const char *type; /* the last valid type; rows of one job share its text */
} TakeoverReading;

static gboolean
prove_next (const Result *row, gpointer data, GError **error)
{
  TakeoverReading *reading = data;
  Takeover *takeover = reading->takeover;
  const char *last = reading->totals->rows > 0 ? reading->last->str : NULL;
  takeover->rows++;
  gboolean is_good = row->type == reading->type
                         ? path_is_canonical (row->path) && row->digest_size == sizeof (Digest)
                         : takeover_row_is_sound (row);
  reading->type = row->type; /* an invalid one ends the reading */
  if (!is_good || !results_follows (last, row->path))
    {
      g_set_error_literal (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE, "not a work file's row");
      return FALSE;
    }
  results_count_in (reading->totals, row);
  g_string_assign (reading->last, row->path);
  return takeover->each == NULL || takeover->each (row, takeover->data, error);
}

gboolean
takeover_prove (Sql *sql, ResultsTotals *totals, Takeover *takeover)
{
  g_autoptr (GString) last = g_string_new (NULL);
  TakeoverReading reading = { .totals = totals, .takeover = takeover, .last = last };
  ResultsQuery all = { .is_strict = TRUE };
  gboolean is_simple;
  *totals = (ResultsTotals){ 0 };
  return tables_are_simple (sql, &is_simple, NULL) && is_simple
         && results_each (sql, &all, prove_next, &reading, NULL, NULL);
}

gboolean
takeover_agrees (Sql *sql, const ResultsTotals *totals)
{
  guint64 bad = 0;
  Tally tally = { totals->rows, totals->sums };
  return tables_count_bad (sql, &bad, NULL) && bad == 0
         && inventory_agrees (sql, 0, INVENTORY_TABLES - 1, &tally);
}

char *
takeover_damage (const Sql *from, const Audit *audit, guint64 left_out)
{
  Audit all = *audit;
  all.tables[INVENTORY_RESULT].damaged += left_out;
  return from->is_salvage || !audit_is_whole (&all) ? audit_describe (&all) : NULL;
}

gboolean
takeover_number (Sql *to, const Results *results, guint64 generation, GError **error)
{
  ResultsTotals totals = results_totals (results);
  char done[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree char *rows = g_strdup_printf ("%" G_GUINT64_FORMAT, totals.rows);
  g_autofree char *number = g_strdup_printf ("%" G_GUINT64_FORMAT, generation);
  g_ascii_formatd (done, sizeof done, "%.6f", CLAMP (totals.weight, 0.0, 1.0));
  return tables_set (to, "generation", number, error) && tables_set (to, "results", rows, error)
         && tables_set (to, "done", done, error);
}
