/* SPDX-License-Identifier: BSD-3-Clause */
/* Both files are taken over into a work file beside the target, as a coordinator takes over what it
 * finds, and a checked copy of it is published. Must not know nodes or threads. */
#include "coordinator/merge.h"

#include "coordinator/pair.h"
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
    g_clear_pointer (&totals->damage[i], g_free);
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
  wanted.mended = TRUE; /* no program is asked, so builds have a sentence of their own */
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

/* In a transaction. The newer file first: of what is there already, nothing is replaced. */
static gboolean
fill (Sql *work, Results *results, const MergeInput inputs[2], MergeTotals *totals, GError **error)
{
  g_autoptr (Stems) stems = stems_new ();
  guint newer = inputs[1].generation > inputs[0].generation;
  for (guint i = 0; i < 2; i++)
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
  g_autofree char *detail = g_strdup_printf ("'%s' and '%s'", inputs[0].path, inputs[1].path);
  TablesEvent event
      = { .at = g_get_real_time () / G_USEC_PER_SEC, .kind = "merged", .detail = detail };
  ResultsTotals sums = results_totals (results);
  totals->united = sums.rows;
  totals->done = CLAMP (sums.weight, 0.0, 1.0);
  return tables_put_event (work, &event, EVENTS_KEEP, error)
         && takeover_number (work, results, inputs[newer].generation + 1, error);
}

static gboolean
make (const char *work_path, const char *target, const MergeInput inputs[2], MergeTotals *totals,
      GError **error)
{
  char hex[DIGEST_HEX_LENGTH + 1];
  Published published;
  digest_to_hex (&inputs[0].identity.identity, hex);
  g_autoptr (Sql) work = sql_create (work_path, hex, error);
  g_autoptr (Results) results = work != NULL ? results_new (work, error) : NULL;
  if (results == NULL || !results_begin (results, error)
      || !fill (work, results, inputs, totals, error) || !results_commit (results, error)
      || !publish_copy (work, target, inputs[0].identity.run, NULL, &published, error))
    return FALSE;
  (void)close (published.fd);
  return TRUE;
}

gboolean
merge_files (const char *target, const char *const files[2], MergeTotals *totals, GError **error)
{
  g_auto (MergeInput) a = { 0 }, b = { 0 };
  GError *reason = NULL;
  memset (totals, 0, sizeof *totals);
  if (!input_open (&a, files[0], error) || !input_open (&b, files[1], error)
      || !check_same_run (&a, &b, error) || !check_target (target, a.identity.run, error))
    return FALSE;
  g_autofree char *folder = g_path_get_dirname (target);
  g_autofree char *work = g_strdup_printf ("%s/.satin-merge.%ld.work", folder, (long)getpid ());
  g_autofree char *journal = g_strconcat (work, "-journal", NULL);
  const MergeInput inputs[] = { a, b };
  gboolean good = make (work, target, inputs, totals, &reason);
  (void)g_unlink (work);
  (void)g_unlink (journal);
  if (good)
    return TRUE;
  g_prefix_error (&reason, "cannot merge into '%s': ", target);
  identity_take_error (error, reason);
  return FALSE;
}
