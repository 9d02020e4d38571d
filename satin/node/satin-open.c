/* SPDX-License-Identifier: BSD-3-Clause */
/* satin_open and satin_close: a run in a program with its own main. Alone, nothing of the process
 * is Satin's: no signal, no standard stream, not its end. A process that `satin run` started
 * belongs to the run: satin_open serves the run until this process is master. What it prints from
 * then on is the answer, which is complete when it exits. Tests: embed.sh. */
#include "config.h"

#include "run-private.h"

#include "engine/exchange.h"
#include "engine/os/memory.h"

#include "folder/relay.h"

#include "host/say.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static SatinRun *the_run; /* (nullable) the run whose node this process is */

/* exit (), or main has returned: the output and exit code of the process are the run's. */
static void
on_process_exit (int status, void *data)
{
  SatinRun *run = the_run;
  int code;
  (void)data;
  if (getpid () != run->pid)
    return;
  engine_exit_by_job ();
  if (!run->in_main)
    return;
  gboolean in_vain = run_answer_is_in_vain (run, status);
  run_answer_end (run, in_vain ? 1 : status, &code);
  driver_stop (run->driver);
  relay_end ();
  if (in_vain)
    _Exit (1);
}

static void
take_process (SatinRun *run)
{
  the_run = run;
  on_exit (on_process_exit, NULL);
  if (run_may_take (run, SIGTERM))
    driver_leave_at_signal (run->driver);
}

/* The run has ended elsewhere, or this node has left it. */
static void
end_node (SatinRun *run, int code)
{
  run->in_main = FALSE;
  folder_ended ();
  if (run->driver != NULL)
    driver_stop (run->driver);
  capture_flush_streams ();
  relay_end ();
  _exit (code);
}

/* Returns when this process is master. */
static void
serve (SatinRun *run)
{
  if (run->over)
    end_node (run, run->stop_code);
  take_process (run);
  if (driver_wait_master (run->driver, &run->stop_code) != DRIVER_MASTER)
    end_node (run, run->stop_code);
  run_answer_begin (run);
}

/* Alone, this process is master at once, unless the run has ended before. FALSE: it has ended. */
static gboolean
begin_alone (SatinRun *run, GError **error)
{
  if (driver_wait_master (run->driver, &run->stop_code) == DRIVER_MASTER)
    return TRUE;
  g_autofree char *reason = driver_reason (run->driver);
  run_error (error, run->stop_code, "%s", reason != NULL ? reason : "the run has ended");
  run_close (run);
  return FALSE;
}

static gboolean
open_here (SatinRun *run, int *argc, char ***argv, GError **error)
{
  static char *none[] = { NULL };
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  int n = argc != NULL ? *argc : 0;
  char **words = n > 0 && argv != NULL ? *argv : none;
  run->own_name = g_path_get_basename (program != NULL ? program : n > 0 ? words[0] : "program");
  run->own_app
      = (SatinApp){ SATIN_LAYOUT_, run->own_name, "", NULL, (const SatinJob *const *)none };
  run->app = &run->own_app;
  if (!run_open_options (run, n, words, error))
    return FALSE;
  if (run->node_process)
    run->owner = RUN_OF_NODE;
  gboolean is_ours = run->node_process || run->config.replay != NULL;
  memory_take_faults (is_ours ? MEMORY_FAULTS_FREE : MEMORY_FAULTS_NONE);
  say_to_log (!is_ours);
  if (run->node_process)
    capture_spare_streams ();
  if (!run_open_jobs (run, error) || !run_open (run, error))
    return FALSE;
  if (run->node_process)
    serve (run);
  else if (!begin_alone (run, error))
    return FALSE;
  if (n > 0 && argv != NULL)
    options_take_out (&run->options, argc, words);
  return TRUE;
}

SatinRun *
satin_open_ (uint32_t layout, int *argc, char ***argv, GError **error)
{
  if (!run_take_place (error))
    return NULL;
  run_set_reason (NULL);
  SatinRun *run = run_new (RUN_EMBEDDED, layout, error);
  if (run != NULL && open_here (run, argc, argv, error))
    return run;
  relay_end ();
  run_give_place (run);
  g_clear_pointer (&run, run_free);
  return NULL;
}

int
satin_close (SatinRun *run)
{
  g_autoptr (GBytes) none = g_bytes_new (NULL, 0);
  int code = run->stopped ? run->stop_code : 0;
  if (run->owner == RUN_OF_NODE) /* the run ends when the process does */
    {
      run->stopped = TRUE;
      run->stop_code = code;
      return code;
    }
  if (!run->stopped)
    run->finished = driver_finish (run->driver, 0, none, NULL, FALSE, &code) == DRIVER_FINISHED;
  run_explain (run, code);
  run_close (run);
  run_give_place (run);
  run_free (run);
  return code;
}
