/* SPDX-License-Identifier: BSD-3-Clause */
/* The first look at a checkpoint: may this run continue from it? Has all sentences that say why
 * not. Tests: test-first-look, refuse.sh. */
#include "config.h"

#include "run-private.h"

#include "checkpoint.h"

#include "coordinator/proof.h"

#include "folder/claim.h"

#include "host/outlet.h"
#include "host/say.h"

#include <stdio.h>

#define SILENT_US (4 * G_USEC_PER_SEC)

/* Passes on the error of another room, whose code is an exit code. Returns FALSE. */
static gboolean
pass_error (GError **error, const GError *reason)
{
  return run_error (error, reason->code, "%s", reason->message);
}

static gboolean
is_free (SatinRun *run, GError **error)
{
  g_autofree char *sentence = checkpoint_in_use (&run->restore, run->config.checkpoint);
  return sentence == NULL || run_error (error, COORDINATOR_ERROR_IN_USE, "%s", sentence);
}

gboolean
look_begin_anew (SatinRun *run, GError **error)
{
  g_autoptr (GError) reason = NULL;
  g_autofree char *moved = NULL;
  if (!run->options.anew)
    return TRUE;
  if (run->node_process)
    return run_error (error, 2, "--new is an option of `satin run` here: give it before `--`");
  if (run->config.checkpoint == NULL)
    return run_error (error, 2, "--new needs --checkpoint");
  if (!checkpoint_set_aside (run->config.checkpoint, &moved, &reason))
    return pass_error (error, reason);
  if (moved != NULL)
    say_line ("the old checkpoint is now '%s'", moved);
  return TRUE;
}

/* Writes the statistics of a run that found its answer in the checkpoint. */
static void
write_stats (SatinRun *run, gint64 began_us)
{
  g_autoptr (GError) error = NULL;
  if (run->node_process || run->options.stats == NULL)
    return;
  g_autofree char *text = report_idle_stats (began_us, run->config.workers);
  if (!outlet_write (run->options.stats, text, &error))
    say_line ("%s", error->message);
}

static gboolean
show_kept_answer (SatinRun *run, gint64 began_us, GError **error)
{
  gsize size;
  const char *text = g_bytes_get_data (run->restore.answer, &size), *why;
  int code = run->restore.exit_code;
  g_autofree char *warning = proof_warning (run->restore.origin, run->config.checkpoint);
  if (warning != NULL && !run->node_process)
    say_line ("%s", warning);
  if (run->node_process)
    {
      g_autoptr (GError) reason = NULL;
      if (!folder_write_first (run->folder, FOLDER_FILE_ANSWER, run->restore.answer, &reason)
          || !folder_end (run->folder, code, warning, &reason))
        return run_error (error, 1, "%s", reason->message);
    }
  else
    fwrite (text, 1, size, stdout);
  if (!capture_flush (stdout, &why))
    {
      say_line ("cannot write the answer to standard output: %s", why);
      code = code == 0 ? 1 : code;
    }
  capture_flush_streams ();
  write_stats (run, began_us);
  if (!run->node_process && run->folder != NULL)
    folder_remove (run->folder, NULL);
  run->over = TRUE;
  run->stop_code = code;
  return TRUE;
}

/* FALSE: an input file differs from that of the checkpoint. A resume uses the inputs of the
 * checkpoint, so it compares none. */
static gboolean
has_same_inputs (SatinRun *run, GError **error)
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
      return run_error (error, COORDINATOR_ERROR_UNUSABLE,
                        "checkpoint '%s' is of another input: the file '%s' has changed since "
                        "(go on from the kept one with `satin resume`)",
                        run->config.checkpoint, kept->name + 6);
    }
  return TRUE;
}

gboolean
look_at_input (SatinRun *run, const char *path, GBytes *bytes, GError **error)
{
  g_autoptr (GError) reason = NULL;
  return !run->restore.exists
         || restore_input_is_sound (&run->restore, path, bytes, run->config.checkpoint, &reason)
         || pass_error (error, reason);
}

/* The place cannot be read. TRUE: another node of the run will try to found it, and this one joins
 * it. FALSE: the error is of another kind, or all nodes have tried, or the store was silent for so
 * long that other nodes would wait in vain, too. */
static gboolean
pass_on (SatinRun *run, const GError *reason, gint64 took_us, GError **error)
{
  g_autofree char *sentence = NULL;
  if (!run->node_process || reason->code != COORDINATOR_ERROR_STORE || took_us > SILENT_US)
    return pass_error (error, reason);
  if (!claim_pass_on (run->folder, (guint)MAX (run->folder_run.nodes, 1), reason->message,
                      &sentence))
    return run_error (error, reason->code, "%s", sentence);
  run->config.founder = run->begins_trace = FALSE;
  return TRUE;
}

/* TRUE: this run may continue from the checkpoint. */
static gboolean
may_go_on (SatinRun *run, GError **error)
{
  g_autoptr (GError) reason = NULL;
  if (!restore_matches (&run->restore, &run->identity, run->config.checkpoint, &reason)
      || !restore_values_are_sound (&run->restore, run->identity.mended, run->config.checkpoint,
                                    &reason))
    return pass_error (error, reason);
  return (run->config.replay != NULL || is_free (run, error)) && has_same_inputs (run, error);
}

gboolean
look_at_checkpoint (SatinRun *run, GError **error)
{
  g_autoptr (GError) reason = NULL;
  if (run->config.checkpoint == NULL)
    return TRUE;
  g_autofree char *copy
      = run->folder != NULL ? g_build_filename (run->folder, FOLDER_COPY, NULL) : NULL;
  gint64 began_us = g_get_monotonic_time ();
  if (!restore_look_for (run->config.checkpoint, copy, &run->identity, &run->restore, &reason))
    return pass_on (run, reason, g_get_monotonic_time () - began_us, error);
  if (!run->restore.exists && (run->folder_run.resume || run->config.replay != NULL))
    { /* It was there when the run was started. To begin anew would put another checkpoint in its
         place. */
      g_set_error (&reason, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE,
                   "there is no checkpoint at '%s'", run->config.checkpoint);
      return pass_on (run, reason, g_get_monotonic_time () - began_us, error);
    }
  if (!run->restore.exists)
    return TRUE;
  if (!may_go_on (run, error))
    return FALSE;
  if (run->restore.finished && run->config.replay == NULL
      && run->owner != RUN_EMBEDDED) /* an embedded program asks for its roots' results */
    return show_kept_answer (run, began_us, error);
  if (run->restore.identity.run == NULL)
    return TRUE; /* lost with a part of the file: this run gets an id of its own */
  g_free (run->identity.run);
  run->identity.run = g_strdup (run->restore.identity.run);
  return TRUE;
}
