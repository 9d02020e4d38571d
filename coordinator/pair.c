/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and unites base and delta. Knows nothing of threads and places. */
#include "coordinator/pair.h"

#include "coordinator/proof.h"

#include "storage/changes.h"
#include "storage/rowsum.h"
#include "storage/tables.h"

#include "storage/places/place.h"

#include "storage/recover/guard.h"

#include <string.h>
#include <sys/stat.h>

void
pair_clear (Pair *pair)
{
  g_clear_pointer (&pair->base, sql_free);
  g_clear_pointer (&pair->delta, sql_free);
}

char *
pair_delta_path (const char *path)
{
  return g_strconcat (path, PLACE_DELTA, NULL);
}

guint64
pair_generation (Sql *file)
{
  g_autofree char *text = tables_get_string (file, "generation", NULL);
  return text != NULL ? g_ascii_strtoull (text, NULL, 10) : 0;
}

/* A salvaged delta may have lost its run's id; its rows that prove themselves are used. */
static gboolean
is_delta_of (Sql *delta, Sql *base)
{
  g_autofree char *theirs = tables_get_string (delta, "id", NULL);
  g_autofree char *ours = tables_get_string (base, "id", NULL);
  if (strcmp (delta->identity, base->identity) != 0)
    return FALSE;
  if (delta->is_salvage && theirs == NULL)
    return TRUE;
  return (delta->is_salvage || changes_is_delta (delta)) && g_strcmp0 (theirs, ours) == 0;
}

static Sql *
open_one (const char *path, const char *identity, PairHow how, GError **error)
{
  if ((how & PAIR_FRONT) != 0)
    return guard_open_front (path, identity, (how & PAIR_OWN) != 0, error);
  return ((how & PAIR_OWN) != 0 ? guard_open_own : guard_open) (path, identity, error);
}

/* FALSE: there may be a delta that cannot be read now. */
static gboolean
open_delta (Pair *pair, const char *path, const char *identity, PairHow how, GError **error)
{
  g_autofree char *delta = pair_delta_path (path);
  GError *reason = NULL;
  struct stat status;
  if (lstat (delta, &status) != 0)
    return TRUE;
  if (S_ISREG (status.st_mode))
    pair->delta = open_one (delta, identity, how & ~(guint)PAIR_FRONT, &reason);
  pair->is_blocked = pair->delta == NULL;
  if (reason == NULL || g_error_matches (reason, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE))
    {
      g_clear_error (&reason);
      return TRUE;
    }
  g_propagate_error (error, reason);
  return FALSE;
}

static gboolean
refuse_delta (const char *path, GError **error)
{
  /* A copy has another name than the original, which only the caller knows. */
  gboolean is_named = g_str_has_suffix (path, PLACE_DELTA);
  g_autofree char *base = is_named ? g_strndup (path, strlen (path) - strlen (PLACE_DELTA)) : NULL;
  g_set_error (
      error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE,
      "checkpoint '%s' is only what came after another file, its base; name that one%s%s%s", path,
      is_named ? ", which was '" : "", is_named ? base : "", is_named ? "'" : "");
  return FALSE;
}

gboolean
pair_open (Pair *pair, const char *path, const char *identity, PairHow how, GError **error)
{
  GError *reason = NULL;
  *pair = (Pair){ 0 };
  if (!open_delta (pair, path, identity, how, error))
    return FALSE;
  pair->base = open_one (path, identity, how, &reason);
  if (pair->base != NULL)
    proof_find (pair->base, pair->delta, NULL);
  if (pair->base != NULL && changes_is_delta (pair->base))
    refuse_delta (path, &reason);
  if (reason != NULL)
    {
      pair_clear (pair);
      g_propagate_error (error, reason);
      return FALSE;
    }
  if (pair->delta != NULL && (pair->base == NULL || !is_delta_of (pair->delta, pair->base)))
    {
      g_clear_pointer (&pair->delta, sql_free);
      pair->is_blocked = TRUE;
    }
  return TRUE;
}

gboolean
pair_take_delta (const Pair *pair, Results *results, Sql *to, Stems *stems, Takeover *takeover,
                 GError **error)
{
  if (pair->delta == NULL)
    return TRUE;
  Takeover delta = { .job_names = takeover->job_names,
                     .job_types = takeover->job_types,
                     .each = takeover->each,
                     .each_keep = takeover->each_keep,
                     .data = takeover->data,
                     /* A delta that a crash left behind is older than its base. */
                     .replaces = pair_generation (pair->delta) > pair_generation (pair->base) };
  if (!takeover_unite (results, to, pair->delta, stems, &delta, error)
      || !changes_end_delta (to, error))
    return FALSE;
  takeover->rows += delta.rows;
  takeover->bad += delta.bad;
  return TRUE;
}

/* Makes a private file, with all of the base if `whole`, in a transaction of *results. */
static gboolean
begin_private (Sql *base, gboolean whole, Sql **sql, Results **results, GError **error)
{
  g_clear_pointer (results, results_free);
  g_clear_pointer (sql, sql_free);
  *sql = sql_create_private (base->page_bytes, error);
  if (*sql == NULL)
    return FALSE;
  rowsum_take_after (*sql, base);
  if (whole && !sql_copy (*sql, base, error))
    return FALSE;
  *results = results_new (*sql, error);
  return *results != NULL && results_begin (*results, error);
}

static gboolean
take_base (Sql *base, Sql **sql, Results **results, Stems *stems, Takeover *takeover,
           GError **error)
{
  gboolean is_whole = FALSE;
  if (!base->is_salvage && !base->is_earlier
      && (!begin_private (base, TRUE, sql, results, error)
          || !takeover_whole (*results, *sql, &is_whole, takeover, error)))
    return FALSE;
  if (is_whole)
    return TRUE;
  *takeover = (Takeover){ 0 };
  return begin_private (base, FALSE, sql, results, error)
         && takeover_unite (*results, *sql, base, stems, takeover, error);
}

static gboolean
take_tables (const Pair *pair, Sql *sql, Takeover *takeover, GError **error)
{
  gboolean replaces = pair_generation (pair->delta) > pair_generation (pair->base);
  /* Does not wait for tables that may still be arriving. */
  return (pair->base->is_front ? tables_copy_first (sql, pair->base, &takeover->bad, error)
                               : tables_copy (sql, pair->base, FALSE, &takeover->bad, error))
         && tables_copy (sql, pair->delta, replaces, &takeover->bad, error)
         && changes_end_delta (sql, error);
}

static Sql *
unite_rows (Pair *pair, Takeover *takeover, GError **error)
{
  g_autoptr (Sql) sql = NULL;
  g_autoptr (Stems) stems = stems_new ();
  Results *results = NULL;
  gboolean good = take_base (pair->base, &sql, &results, stems, takeover, error)
                  && pair_take_delta (pair, results, sql, stems, takeover, error)
                  && results_commit (results, error);
  results_free (results);
  return good ? g_steal_pointer (&sql) : NULL;
}

static Sql *
unite_tables (Pair *pair, Takeover *takeover, GError **error)
{
  g_autoptr (Sql) sql = NULL;
  Results *results = NULL;
  gboolean good = begin_private (pair->base, FALSE, &sql, &results, error)
                  && take_tables (pair, sql, takeover, error) && results_commit (results, error);
  results_free (results);
  return good ? g_steal_pointer (&sql) : NULL;
}

/* The rows of a large base of which only the front was proved are not audited. */
static Audit *
audit_pair (const Pair *pair, GError **error)
{
  g_autofree Audit *audit = g_new0 (Audit, 1);
  Audit delta = { 0 };
  if ((!pair->base->is_front && !audit_file (pair->base, audit, error))
      || (pair->delta != NULL && !audit_file (pair->delta, &delta, error)))
    return NULL;
  audit_add (audit, &delta);
  return g_steal_pointer (&audit);
}

Sql *
pair_unite (Pair *pair, gboolean with_rows, GError **error)
{
  g_autofree Audit *audit = pair->base != NULL ? audit_pair (pair, error) : NULL;
  if (audit == NULL)
    return NULL;
  if (pair->delta == NULL)
    {
      pair->base->audit = g_steal_pointer (&audit);
      return g_steal_pointer (&pair->base);
    }
  Takeover takeover = { 0 };
  Sql *sql
      = with_rows ? unite_rows (pair, &takeover, error) : unite_tables (pair, &takeover, error);
  if (sql == NULL)
    return NULL;
  sql->is_front = pair->base->is_front;
  sql->audit = g_steal_pointer (&audit);
  sql->is_salvage = pair->base->is_salvage || pair->delta->is_salvage || takeover.bad > 0;
  return sql;
}
