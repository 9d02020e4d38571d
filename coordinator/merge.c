/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the files over into a work file beside the target, as a coordinator does, and publishes a
 * verified copy of it. Knows nothing of nodes and threads. */
#include "coordinator/merge.h"

#include "coordinator/pair.h"
#include "coordinator/proof.h"
#include "coordinator/restore.h"
#include "coordinator/takeover.h"

#include "storage/events.h"
#include "storage/publish.h"
#include "storage/tables.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

void
merge_totals_clear (MergeTotals *totals)
{
  for (guint i = 0; i < G_N_ELEMENTS (totals->damage); i++)
    {
      g_clear_pointer (&totals->damage[i], g_free);
      g_clear_pointer (&totals->warning[i], g_free);
    }
}

typedef struct
{
  const char *path;
  Sql *file;
  Identity identity;
  guint64 generation;
} MergeInput;

static void
input_clear (MergeInput *input)
{
  identity_clear (&input->identity);
  g_clear_pointer (&input->file, sql_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MergeInput, input_clear)

static gboolean
input_open (MergeInput *input, const char *path, GError **error)
{
  input->path = path;
  input->file = restore_open (path, error);
  if (input->file == NULL || !identity_load (input->file, path, &input->identity, error))
    return FALSE;
  input->generation = pair_generation (input->file);
  return TRUE;
}

static gboolean
check_same_run (const MergeInput *a, const MergeInput *b, GError **error)
{
  Identity wanted = a->identity;
  wanted.mended = TRUE; /* differences of builds are reported by another message */
  if (!identity_matches (&b->identity, &wanted, b->path, error))
    return FALSE;
  if (g_strcmp0 (a->identity.build, b->identity.build) != 0)
    {
      g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE,
                   "checkpoints '%s' and '%s' were made by different builds of the program: only "
                   "files of one build can be merged",
                   a->path, b->path);
      return FALSE;
    }
  const MergeInput *lost = a->identity.run == NULL ? a : b->identity.run == NULL ? b : NULL;
  if (lost != NULL)
    {
      g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE,
                   "checkpoint '%s' has lost which run it is of: only files of one run can be "
                   "merged",
                   lost->path);
      return FALSE;
    }
  if (strcmp (a->identity.run, b->identity.run) == 0)
    return TRUE;
  g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE,
               "checkpoint '%s' is of run %s, '%s' of run %s: only files of one run can be merged",
               a->path, a->identity.run, b->path, b->identity.run);
  return FALSE;
}

static gboolean
check_target (const char *target, const char *run, GError **error)
{
  GError *reason = NULL;
  GStatBuf status;
  if (g_lstat (target, &status) == 0 || errno != ENOENT)
    {
      g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE,
                   "cannot write '%s': it exists; name a new file", target);
      return FALSE;
    }
  if (publish_try (target, run, &reason))
    return TRUE;
  identity_take_error (error, reason);
  return FALSE;
}

/* Inside a transaction. The newer file comes first, since later files replace nothing. */
static gboolean
fill (Sql *work, Results *results, const MergeInput *inputs, guint n_inputs, MergeTotals *totals,
      GError **error)
{
  g_autoptr (Stems) stems = stems_new ();
  guint newer = n_inputs > 1 && inputs[1].generation > inputs[0].generation;
  for (guint i = 0; i < n_inputs; i++)
    {
      guint which = i == 0 ? newer : 1 - newer;
      Takeover takeover = { 0 };
      if (!takeover_unite (results, work, inputs[which].file, stems, &takeover, error))
        return FALSE;
      totals->rows[which] = takeover.rows;
      const Sql *file = inputs[which].file;
      guint64 damaged = audit_damaged (file->audit);
      totals->damage[which]
          = takeover_damage (file, file->audit, takeover.bad - MIN (takeover.bad, damaged));
    }
  g_autofree char *detail
      = n_inputs > 1 ? g_strdup_printf ("'%s' and '%s'", inputs[0].path, inputs[1].path) : NULL;
  TablesEvent event = { .at = g_get_real_time () / G_USEC_PER_SEC,
                        .kind = n_inputs > 1 ? "merged" : "trusted",
                        .detail = detail };
  ResultsTotals sums = results_totals (results);
  totals->united = sums.rows;
  totals->done = CLAMP (sums.weight, 0.0, 1.0);
  return tables_put_event (work, &event, EVENTS_KEEP, error)
         && takeover_number (work, results, inputs[newer].generation + 1, error);
}

static gboolean
make (const char *target, const MergeInput *inputs, guint n_inputs, MergeTotals *totals,
      GError **error)
{
  g_autofree char *folder = g_path_get_dirname (target);
  g_autofree char *work_path
      = g_strdup_printf ("%s/.satin-merge.%ld.work", folder, (long)getpid ());
  g_autofree char *journal = g_strconcat (work_path, "-journal", NULL);
  char hex[DIGEST_HEX_LENGTH + 1];
  Published published;
  digest_to_hex (&inputs[0].identity.identity, hex);
  g_autoptr (Sql) work = sql_create (work_path, hex, error);
  if (work != NULL)
    proof_seal (work, &inputs[0].identity);
  g_autoptr (Results) results = work != NULL ? results_new (work, error) : NULL;
  gboolean good = results != NULL && results_begin (results, error)
                  && fill (work, results, inputs, n_inputs, totals, error)
                  && results_commit (results, error)
                  && publish_copy (work, target, inputs[0].identity.run, NULL, &published, error);
  if (good)
    (void)close (published.fd);
  (void)g_unlink (work_path);
  (void)g_unlink (journal);
  return good;
}

gboolean
merge_files (const char *target, const char *const files[2], MergeTotals *totals, GError **error)
{
  g_auto (MergeInput) a = { 0 }, b = { 0 };
  GError *reason = NULL;
  memset (totals, 0, sizeof *totals);
  if (!input_open (&a, files[0], error) || !input_open (&b, files[1], error)
      || !proof_allows (a.file->origin, a.path, error)
      || !proof_allows (b.file->origin, b.path, error) || !check_same_run (&a, &b, error)
      || !check_target (target, a.identity.run, error))
    return FALSE;
  totals->warning[0] = proof_warning (a.file->origin, a.path);
  totals->warning[1] = proof_warning (b.file->origin, b.path);
  const MergeInput inputs[] = { a, b };
  if (make (target, inputs, G_N_ELEMENTS (inputs), totals, &reason))
    return TRUE;
  g_prefix_error (&reason, "cannot merge into '%s': ", target);
  identity_take_error (error, reason);
  return FALSE;
}

/* Opens base and delta as one file. */
static gboolean
input_open_pair (MergeInput *input, const char *path, gboolean *has_delta, GError **error)
{
  g_auto (Pair) pair = { 0 };
  GError *reason = NULL;
  input->path = path;
  if (pair_open (&pair, path, NULL, 0, &reason))
    {
      *has_delta = pair.delta != NULL;
      input->file = pair.base != NULL ? pair_unite (&pair, TRUE, &reason) : NULL;
    }
  if (input->file != NULL)
    {
      input->generation = pair_generation (input->file);
      return identity_load (input->file, path, &input->identity, error);
    }
  if (reason != NULL)
    identity_take_error (error, reason);
  else
    g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE,
                 "there is no checkpoint at '%s'", path);
  return FALSE;
}

gboolean
merge_trust (const char *path, MergeTotals *totals, GError **error)
{
  g_auto (MergeInput) input = { 0 };
  GError *reason = NULL;
  gboolean has_delta = FALSE;
  memset (totals, 0, sizeof *totals);
  if (!input_open_pair (&input, path, &has_delta, error))
    return FALSE;
  if (input.identity.run == NULL || input.identity.argv == NULL || !proof_is_possible ())
    {
      g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE,
                   "checkpoint '%s' has lost which run it is of, or its arguments: use it with "
                   "--trust",
                   path);
      return FALSE;
    }
  if (!make (path, &input, 1, totals, &reason))
    {
      g_prefix_error (&reason, "cannot write '%s': ", path);
      identity_take_error (error, reason);
      return FALSE;
    }
  /* The new file contains the delta. Beside it the old delta would not be this user's. */
  g_autofree char *delta = pair_delta_path (path);
  if (has_delta)
    (void)g_unlink (delta);
  return TRUE;
}
