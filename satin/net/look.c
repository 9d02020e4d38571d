/* SPDX-License-Identifier: BSD-3-Clause */
/* The first look at a checkpoint: what stands there, whether this run may go on from it, and every
 * sentence that says why not. Tests: refuse.sh, total.sh. */
#include "config.h"

#include "run-private.h"

#include "checkpoint.h"
#include "claim.h"
#include "outlet.h"
#include "relay.h"

#include "coordinator/proof.h"

#include <stdio.h>
#include <unistd.h>

#define SILENT_US (4 * G_USEC_PER_SEC)

static void
refuse_if_in_use (SatinRun *run)
{
  g_autofree char *sentence = checkpoint_in_use (&run->restore, run->config.checkpoint);
  if (sentence != NULL)
    run_leave (run, 5, sentence);
}

void
look_begin_anew (SatinRun *run)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *moved = NULL;
  if (!run->options.anew)
    return;
  if (run->node_process)
    run_leave (run, 2, "--new is an option of `satin run` here: say it before `--`");
  if (run->config.checkpoint == NULL)
    run_leave (run, 2, "--new needs --checkpoint");
  if (!checkpoint_set_aside (run->config.checkpoint, &moved, &error))
    run_leave (run, error->code, error->message);
  if (moved != NULL)
    fprintf (stderr, "satin: the old checkpoint is now '%s'\n", moved);
}

/* Nothing is done for an answer that is there. */
static void
write_stats (SatinRun *run, gint64 began_us)
{
  g_autoptr (GError) error = NULL;
  if (run->node_process || run->options.stats == NULL)
    return;
  g_autofree char *text = report_idle_stats (began_us, run->config.workers);
  if (!outlet_write (run->options.stats, text, &error))
    fprintf (stderr, "satin: %s\n", error->message);
}

static void
show_kept_answer (SatinRun *run, gint64 began_us)
{
  gsize size;
  const char *text = g_bytes_get_data (run->restore.answer, &size), *why;
  int code = run->restore.exit_code;
  g_autofree char *warning = proof_warning (run->restore.origin, run->config.checkpoint);
  if (warning != NULL && !run->node_process)
    fprintf (stderr, "satin: %s\n", warning);
  if (run->node_process)
    {
      g_autoptr (GError) error = NULL;
      if (!folder_write_first (run->folder, "answer", run->restore.answer, &error)
          || !folder_end (run->folder, code, warning, &error))
        run_leave (run, 1, error->message);
    }
  else
    fwrite (text, 1, size, stdout);
  if (!capture_flush (stdout, &why))
    {
      fprintf (stderr, "satin: cannot write the answer to standard output: %s\n", why);
      code = code == 0 ? 1 : code;
    }
  fflush (NULL);
  write_stats (run, began_us);
  if (!run->node_process && run->folder != NULL)
    folder_remove (run->folder, NULL);
  relay_end ();
  _exit (code);
}

/* The files that a run started with must be those that its checkpoint knows; a resume goes on from
 * the kept ones. */
static void
refuse_other_inputs (SatinRun *run)
{
  GPtrArray *constants = run->restore.constants;
  for (guint i = 0; !run->kept_inputs && constants != NULL && i < constants->len; i++)
    {
      const RestoreConstant *kept = constants->pdata[i];
      g_autofree char *now = NULL;
      gsize size;
      if (!g_str_has_prefix (kept->name, "input/")
          || !g_file_get_contents (kept->name + 6, &now, &size, NULL))
        continue;
      g_autoptr (GBytes) bytes = g_bytes_new_take (g_steal_pointer (&now), size);
      if (g_bytes_equal (bytes, kept->value))
        continue;
      g_autofree char *sentence
          = g_strdup_printf ("checkpoint '%s' is of another input: the file '%s' has changed since "
                             "(go on from the kept one with `satin resume`)",
                             run->config.checkpoint, kept->name + 6);
      run_leave (run, COORDINATOR_ERROR_UNUSABLE, sentence);
    }
}

void
look_refuse_lost_input (SatinRun *run, const char *path, GBytes *bytes)
{
  g_autoptr (GError) error = NULL;
  if (run->restore.exists
      && !restore_input_is_sound (&run->restore, path, bytes, run->config.checkpoint, &error))
    run_leave (run, error->code, error->message);
}

/* A place that this process cannot reach another node of this host perhaps can: then that one
 * founds the run, and this one joins it. But a store that says nothing for long says nothing to the
 * others either, and people wait. */
static void
refuse_or_pass_on (SatinRun *run, const GError *error, gint64 took_us)
{
  g_autofree char *sentence = NULL;
  if (!run->node_process || error->code != COORDINATOR_ERROR_STORE || took_us > SILENT_US)
    run_leave (run, error->code, error->message);
  if (!claim_pass_on (run->folder, (guint)MAX (run->folder_run.nodes, 1), error->message,
                      &sentence))
    run_leave (run, error->code, sentence);
  run->config.founder = run->begins_trace = FALSE;
}

void
look_at_checkpoint (SatinRun *run)
{
  g_autoptr (GError) error = NULL;
  if (run->config.checkpoint == NULL)
    return;
  g_autofree char *copy
      = run->folder != NULL ? g_build_filename (run->folder, FOLDER_COPY, NULL) : NULL;
  gint64 began_us = g_get_monotonic_time ();
  if (!restore_look_for (run->config.checkpoint, copy, &run->identity, &run->restore, &error))
    {
      refuse_or_pass_on (run, error, g_get_monotonic_time () - began_us);
      return;
    }
  if (!run->restore.exists && run->folder_run.resume)
    { /* it was there when this was asked for: to begin anew would put another in its place */
      g_set_error (&error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE,
                   "there is no checkpoint at '%s' any more", run->config.checkpoint);
      refuse_or_pass_on (run, error, g_get_monotonic_time () - began_us);
      return;
    }
  if (!run->restore.exists)
    return;
  if (!restore_matches (&run->restore, &run->identity, run->config.checkpoint, &error))
    run_leave (run, error->code, error->message);
  if (!restore_values_are_sound (&run->restore, run->identity.mended, run->config.checkpoint,
                                 &error))
    run_leave (run, error->code, error->message);
  refuse_if_in_use (run);
  refuse_other_inputs (run);
  if (run->restore.finished)
    show_kept_answer (run, began_us);
  if (run->restore.identity.run == NULL)
    return; /* lost from a damaged file: it goes on as a run of its own */
  g_free (run->identity.run);
  run->identity.run = g_strdup (run->restore.identity.run);
}
