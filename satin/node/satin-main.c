/* SPDX-License-Identifier: BSD-3-Clause */
/* SATIN_APP's main (): opens a run, calls the user's main whenever this process becomes master,
 * closes the run, and ends. Signals, standard output and the end of the process are Satin's. Main
 * thread only. Tests: run.sh, solo.sh, ends.sh, early.sh. */
#include "config.h"

#include "run-private.h"

#include "engine/exchange.h"
#include "engine/os/memory.h"

#include "folder/relay.h"
#include "folder/timeline-file.h"

#include "host/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* (nullable) the run of this process, for handlers of exit */
static SatinRun *the_run;

static void
on_process_exit (int status, void *data)
{
  SatinRun *run = the_run;
  int code;
  (void)data;
  if (run == NULL || getpid () != run->pid) /* the run is over, or this process was forked */
    return;
  engine_exit_by_job ();
  if (!run->in_main)
    return;
  /* called by another thread or a signal handler */
  gboolean in_vain = run_answer_is_in_vain (run, status);
  run_answer_end (run, in_vain ? 1 : status, &code);
  if (run->driver != NULL && run->folder != NULL && !run->node_process)
    folder_leave (run->folder, NULL);
  if (in_vain)
    _Exit (1);
}

static void
say_wrong_end (const char *how)
{
  fprintf (stderr, "satin: main ended by %s: it has to return or to call exit\n", how);
}

/* quick_exit would lose what is held back, and an exit code 0 would mean that there is an
 * answer. */
static void
on_quick_exit (void)
{
  SatinRun *run = the_run;
  int code;
  engine_exit_by_job ();
  if (run == NULL || getpid () != run->pid || !run->in_main || run->out.fd < 0)
    return;
  say_wrong_end ("quick_exit");
  run_answer_end (run, 1, &code);
  if (!run->node_process)
    folder_leave (run->folder, NULL);
  _Exit (1);
}

/* pthread_exit in main: the other threads would run for ever. */
static void
on_main_thread_end (gpointer data)
{
  if (getpid () != ((SatinRun *)data)->pid)
    return;
  say_wrong_end ("pthread_exit");
  exit (1);
}

/* Calls main at each mastership, until the run has ended. Returns the exit code. */
static int
live (SatinRun *run)
{
  static GPrivate watched = G_PRIVATE_INIT (on_main_thread_end);
  int code;
  g_private_set (&watched, run);
  while (driver_wait_master (run->driver, &code) == DRIVER_MASTER)
    {
      g_auto (GStrv) argv = g_strdupv (run->options.argv);
      g_autofree char **shallow
          = g_memdup2 (argv, sizeof (char *) * (gsize)(run->options.argc + 1));
      run_answer_begin (run);
      int main_code = run->app->main (run, run->options.argc, shallow);
      if (getpid () != run->pid) /* this process was forked by main, and has no driver */
        exit (main_code);
      if (run_answer_end (run, main_code, &code))
        break;
    }
  g_private_set (&watched, NULL);
  return code;
}

/* Installs handlers for signals and for exit. */
static void
take_process (SatinRun *run)
{
  on_exit (on_process_exit, NULL);
  at_quick_exit (on_quick_exit);
  if (!run->node_process && run->config.checkpoint != NULL)
    driver_watch_signals (run->driver);
  if (run->node_process)
    driver_leave_at_signal (run->driver);
}

/* Ends the run. Returns only in a program alone whose run has finished; elsewhere jobs may still
 * run, so the process exits. */
static void
end (SatinRun *run, int code)
{
  folder_ended ();
  run->in_main = FALSE;
  if (run->finished && !run->node_process)
    {
      run_close (run);
      return;
    }
  driver_stop (run->driver);
  if (run->begins_trace && !run->node_process)
    timeline_file_end (run->options.trace);
  if (run->folder != NULL && !run->node_process)
    folder_leave (run->folder, NULL);
  run_replay_forget (run->config.replay);
  fflush (NULL);
  if (run->node_process)
    relay_end ();
  _exit (code);
}

/* If this process is one of several tasks of srun or mpirun: becomes `satin run`, so that all tasks
 * are one run. */
static void
join_step (SatinRun *run, char **argv)
{
  g_autofree char *self = NULL;
  if (run->node_process || run->config.replay != NULL || !step_has_tasks ())
    return;
  self = g_file_read_link ("/proc/self/exe", NULL);
  if (self != NULL)
    step_become_run (self, argv);
}

static void
end_unopened (int code, const char *sentence)
{
  if (sentence != NULL)
    fprintf (stderr, "satin: %s\n", sentence);
  fflush (NULL);
  relay_end ();
  _exit (code);
}

int
satin_main_ (const SatinApp *app, int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  SatinRun *run = the_run
      = run_take_place (&error) ? run_new (RUN_OF_APP, app->layout, &error) : NULL;
  if (run == NULL)
    {
      fprintf (stderr, "%s: %s\n", argc > 0 ? argv[0] : "satin", error->message);
      return error->code;
    }
  capture_guard ();
  memory_watch_main ();
  run->app = app;
  if (!run_open_options (run, argc, argv, &error))
    {
      fprintf (stderr, "%s: %s\n", app->name, error->message);
      return error->code;
    }
  if (run->options.help)
    {
      options_show_help (&run->options, app->usage);
      return 0;
    }
  if (!run_open_jobs (run, &error))
    {
      fprintf (stderr, "satin: %s\n", error->message);
      return error->code;
    }
  join_step (run, argv);
  if (!run_open (run, &error))
    end_unopened (error->code, error->message);
  if (run->over)
    end_unopened (run->stop_code, NULL);
  take_process (run);
  int code = live (run);
  end (run, code);
  the_run = NULL;
  run_free (run);
  return code;
}
