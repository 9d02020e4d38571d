/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run in this process owns, and how it ends. Only the thread that opened it.
 * Tests: test-mains-part, run.sh, roots.sh, embed.sh. */
#include "config.h"

#include "run-private.h"

#include "engine/best.h"
#include "engine/constant.h"
#include "record.h"

#include "folder/relay.h"

#include <stdio.h>
#include <unistd.h>

typedef enum
{
  PLACE_FRESH,  /* -> BUSY */
  PLACE_BUSY,   /* a run is open or being opened -> CLOSED, SPENT */
  PLACE_CLOSED, /* -> BUSY */
  PLACE_SPENT /* no other run is possible: the process is a node, or the last run could not be freed
               */
} RunPlace;

static gint run_place;   /* atomic: RunPlace */
static char *run_reason; /* (nullable) the sentence of satin_reason */

static void
kept_free (void *data)
{
  RunKept *kept = data;
  record_clear (kept->type, kept->value);
  g_free (kept->value);
  g_free (kept);
}

static void
root_clear (void *data)
{
  g_bytes_unref (((RunRoot *)data)->args);
}

gboolean
run_error (GError **error, int code, const char *format, ...)
{
  va_list values;
  va_start (values, format);
  g_propagate_error (error, g_error_new_valist (SATIN_ERROR, code, format, values));
  va_end (values);
  return FALSE;
}

gboolean
run_take_place (GError **error)
{
  if (g_atomic_int_compare_and_exchange (&run_place, PLACE_FRESH, PLACE_BUSY))
    return TRUE;
  if (g_atomic_int_compare_and_exchange (&run_place, PLACE_CLOSED, PLACE_BUSY))
    {
      best_forget ();
      constant_forget ();
      return TRUE;
    }
  return run_error (error, 1, "%s",
                    g_atomic_int_get (&run_place) == PLACE_BUSY
                        ? "a run is open in this process already"
                        : "this process has had its run: another one needs a new process");
}

void
run_give_place (const SatinRun *run)
{
  gboolean spent = run != NULL && (run->in_use || run->node_process);
  g_atomic_int_set (&run_place, spent ? PLACE_SPENT : PLACE_CLOSED);
}

SatinRun *
run_new (RunOwner owner, uint32_t layout, GError **error)
{
  if (layout != SATIN_LAYOUT_)
    {
      run_error (error, 1, "compiled with the satin.h of another version than its libsatin");
      return NULL;
    }
  SatinRun *run = g_new0 (SatinRun, 1);
  run->owner = owner;
  run->pid = getpid ();
  run->out = run->err = CAPTURE_NONE;
  run->stop_code = 75;
  run->inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  run->results = g_ptr_array_new_with_free_func (kept_free);
  run->said
      = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
  run->asked = g_array_new (FALSE, FALSE, sizeof (RunRoot));
  g_array_set_clear_func (run->asked, root_clear);
  return run;
}

void
run_free (SatinRun *run)
{
  if (run->in_use)
    return;
  restore_clear (&run->restore);
  identity_clear (&run->identity);
  options_clear (&run->options);
  folder_run_clear (&run->folder_run);
  g_free (run->wire_run.credential);
  g_free (run->wire_run.key);
  g_free (run->socket_path);
  g_free (run->folder);
  g_free (run->own_name);
  g_free ((gpointer)run->jobs);
  g_ptr_array_unref (run->inputs);
  g_ptr_array_unref (run->results);
  g_hash_table_unref (run->said);
  g_array_unref (run->asked);
  g_free (run);
}

/* Ends the process with this code and sentence, and removes its folder. For RUN_OF_APP and
 * RUN_OF_NODE. */
static void G_GNUC_NORETURN
leave (SatinRun *run, int code, const char *sentence)
{
  if (run->node_process && run->config.founder && !folder_end (run->folder, code, sentence, NULL))
    fprintf (stderr, "satin: cannot write to '%s'\n", run->folder);
  /* The sentence goes to the log, not to main's stderr: the launcher shows it. */
  const char *why;
  g_autoptr (GBytes) said = capture_end (&run->err, &why);
  fprintf (stderr, "satin: %s\n", sentence);
  capture_flush_streams ();
  if (!run->node_process && run->folder != NULL)
    folder_remove (run->folder, NULL);
  run_replay_forget (run->config.replay);
  relay_end ();
  _exit (code);
}

void
run_set_reason (char *sentence)
{
  g_free (run_reason);
  run_reason = sentence;
}

void
run_explain (const SatinRun *run, int code)
{
  if (code == 0 || run_reason != NULL)
    return;
  run_reason = driver_reason (run->driver);
  if (run_reason == NULL)
    run_reason = g_strdup (code == 75 ? "the run was suspended" : "the run ended elsewhere");
}

const char *
run_get_reason (void)
{
  return run_reason;
}

gboolean
run_stop (SatinRun *run, int code, const char *sentence)
{
  run->stopped = TRUE;
  run->stop_code = code;
  run_set_reason (g_strdup (sentence));
  return FALSE;
}

void
run_give_up (SatinRun *run, int code, const char *sentence)
{
  if (run->owner != RUN_EMBEDDED)
    leave (run, code, sentence);
  if (!run->stopped)
    (void)run_stop (run, code, sentence);
}

DriverNews
run_ask_again (SatinRun *run, GBytes **value)
{
  DriverNews news = driver_wait_master (run->driver, &run->stop_code);
  run->deposed = FALSE;
  if (news != DRIVER_MASTER)
    return news;
  if (!driver_publish_again (run->driver, run->said))
    leave (run, 1, "another node's main has read or published something else");
  news = DRIVER_RESULT; /* also if there are no roots */
  for (guint i = 0; i < run->asked->len && news == DRIVER_RESULT; i++)
    {
      const RunRoot *root = &g_array_index (run->asked, RunRoot, i);
      g_clear_pointer (value, g_bytes_unref);
      news = driver_root (run->driver, i, root->job, root->args, value, &run->stop_code);
    }
  return news;
}
