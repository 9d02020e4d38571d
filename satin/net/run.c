/* SPDX-License-Identifier: BSD-3-Clause */
/* What SATIN_APP's main () does, and satin_root and satin_stopped. Main thread only. It waits for
 * the driver; it decides when the user's main runs. */
#include "config.h"

#include "run-private.h"

#include "claim.h"
#include "outlet.h"
#include "relay.h"
#include "step.h"
#include "timeline-file.h"

#include "engine/memory.h"
#include "engine/registry.h"
#include "record.h"

#include "storage/place.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One run a process; exit () from main finds it here. */
static SatinRun *the_run;

typedef struct
{
  const SatinType *type;
  void *value;
} Kept;

static void
kept_free (void *data)
{
  Kept *kept = data;
  record_clear (kept->type, kept->value);
  g_free (kept->value);
  g_free (kept);
}

void
run_leave (SatinRun *run, int code, const char *sentence)
{
  if (run->node_process && run->config.founder && !folder_end (run->folder, code, sentence, NULL))
    fprintf (stderr, "satin: cannot write to '%s'\n", run->folder);
  /* The sentence is the node's, not main's: the launcher shows it. */
  const char *why;
  g_autoptr (GBytes) said = capture_end (&run->err, &why);
  fprintf (stderr, "satin: %s\n", sentence);
  fflush (NULL);
  if (!run->node_process && run->folder != NULL)
    folder_remove (run->folder, NULL);
  relay_end ();
  _exit (code);
}

static void
prepare_node_process (SatinRun *run)
{
  g_autoptr (GError) error = NULL;
  run->folder
      = g_getenv (RELAY_ENV) != NULL ? relay_begin (&error) : g_strdup (g_getenv (FOLDER_ENV));
  if (run->folder == NULL)
    run_leave (run, 1, error->message);
  run->config.far = g_getenv (RELAY_ENV) != NULL;
  run->config.invited = g_getenv (FOLDER_ENV_INVITED) != NULL;
  run->config.founder
      = (run->config.far ? relay_is_founder () : g_getenv (FOLDER_ENV_FOUNDER) != NULL)
        && claim_founder (run->folder);
  g_unsetenv (FOLDER_ENV);
  g_unsetenv (FOLDER_ENV_FOUNDER);
  g_unsetenv (FOLDER_ENV_INVITED);
  signal (SIGINT, SIG_IGN);
  signal (SIGHUP, SIG_IGN);
  signal (SIGPIPE, SIG_IGN);
  signal (SIGUSR1, SIG_IGN); /* a batch system's warning is the launcher's to hear */
  if (!folder_read (run->folder, &run->folder_run, &error))
    run_leave (run, 1, error->message);
  if (!relay_place (&run->folder_run, run->folder, &error)
      || !folder_enter (run->folder, getpid (), &error))
    run_leave (run, 1, error->message);
  if (run->options.workers == 0)
    run->options.workers = g_getenv (FOLDER_ENV_WORKERS) != NULL
                               ? atoi (g_getenv (FOLDER_ENV_WORKERS))
                               : run->folder_run.workers;
  if (run->options.interval_s == 0)
    {
      run->options.interval_s = run->folder_run.interval_s;
      run->options.keep_s = run->folder_run.keep_s;
    }
  if (run->options.checkpoint == NULL)
    run->options.checkpoint = g_strdup (run->folder_run.checkpoint);
  run->config.site
      = run->folder_run.site != NULL ? run->folder_run.site : g_getenv (FOLDER_ENV_SITE);
  if (run->folder_run.trace != NULL) /* begun and ended by the launcher */
    {
      g_free (run->options.trace);
      run->options.trace = g_strdup (run->folder_run.trace);
    }
  else
    run->begins_trace = run->options.trace != NULL && run->config.founder;
  if (run->options.stack == 0)
    run->options.stack = run->folder_run.stack;
  if (run->options.shared_memory == 0)
    run->options.shared_memory = run->folder_run.shared_memory;
  run->kept_inputs = run->folder_run.resume;
  run->identity.run = g_strdup (run->folder_run.id);
  run->identity.options = folder_options_write (&run->folder_run);
}

/* The checkpoint is being looked at, which may take long, and nothing is lost. */
static void
on_early_warning (int number)
{
  static const char words[] = "satin: suspended: it had not begun; the same command begins again\n";
  (void)number;
  (void)!write (STDERR_FILENO, words, sizeof words - 1);
  _exit (75);
}

/* A solo program with a checkpoint has a folder too, so that `satin status` and `suspend` reach it.
 */
static void
prepare_solo (SatinRun *run)
{
  g_autoptr (GError) error = NULL;
  run->config.founder = TRUE;
  run->begins_trace = run->options.trace != NULL;
  if (run->options.stats != NULL && !outlet_is_writable ("stats file", run->options.stats, &error))
    run_leave (run, 1, error->message);
  char *token = g_steal_pointer (&run->folder_run.token);
  char *rows_token = g_steal_pointer (&run->folder_run.rows_token);
  run->folder_run = (FolderRun){ .token = token,
                                 .rows_token = rows_token,
                                 .program = g_strdup (run->identity.program),
                                 .argv = g_strdupv (run->identity.argv),
                                 .folder = g_strdup (run->identity.folder),
                                 .checkpoint = g_strdup (run->options.checkpoint),
                                 .interval_s = run->options.interval_s,
                                 .keep_s = run->options.keep_s,
                                 .workers = (int)run->config.workers,
                                 .stack = run->options.stack,
                                 .shared_memory = run->options.shared_memory,
                                 .launcher_pid = getpid () };
  run->identity.options = folder_options_write (&run->folder_run);
  if (run->options.checkpoint == NULL)
    {
      run->identity.run = g_strdup ("solo");
      return;
    }
  signal (SIGINT, on_early_warning); /* until driver_watch_signals */
  signal (SIGTERM, on_early_warning);
  signal (SIGUSR1, on_early_warning);
  if (signal (SIGHUP, on_early_warning) == SIG_IGN) /* nohup: it goes on without its terminal */
    signal (SIGHUP, SIG_IGN);
  run->folder = folder_create (&run->folder_run, &error);
  if (run->folder == NULL)
    run_leave (run, 1, error->message);
  run->identity.run = g_strdup (run->folder_run.id);
}

static void
start_driver (SatinRun *run)
{
  g_autoptr (GError) error = NULL;
  DriverConfig *config = &run->config;
  config->jobs = run->jobs;
  config->program = run->identity.identity;
  config->interval_s = run->options.interval_s;
  config->keep_s = run->options.keep_s;
  config->solo = !run->node_process;
  config->folder = run->folder;
  config->tcp = (ListenerPlace){ run->folder_run.tcp ? run->folder_run.listen : NULL,
                                 run->folder_run.port_first, run->folder_run.port_last };
  config->steal = (NodeSteal)run->folder_run.steal;
  config->protect = run->folder_run.protect;
  config->closed = run->folder_run.closed;
  config->invited = config->invited || run->folder_run.invited;
  config->heartbeat_s = run->folder_run.heartbeat_s;
  config->silence_s = run->folder_run.silence_s;
  run->wire_run.silence_s = config->silence_s > 0 ? config->silence_s : FOLDER_SILENCE_DEFAULT_S;
  config->stats = run->options.stats;
  config->trace = run->options.trace;
  config->stack_bytes = (gsize)run->options.stack;
  config->shared_memory = run->options.shared_memory;
  config->identity = run->identity;
  if (run->folder != NULL)
    {
      run->socket_path = folder_socket (&run->folder_run, getpid ());
      g_autoptr (GBytes) id = g_bytes_new (run->identity.run, strlen (run->identity.run));
      g_autoptr (GBytes) build = g_bytes_new (run->identity.build, strlen (run->identity.build));
      run->wire_run.credential = folder_credential (run->folder, &error);
      run->wire_run.key = folder_key (run->folder);
      if (run->wire_run.credential == NULL
          || (config->founder
              && (!folder_write (run->folder, "id", id, &error)
                  || !folder_write (run->folder, FOLDER_BUILD, build, &error))))
        run_leave (run, 1, error->message);
    }
  run->wire_run.id = run->identity.run;
  run->wire_run.name = run->folder_run.name != NULL ? run->folder_run.name : (char *)run->app->name;
  run->identity.name = g_strdup (run->wire_run.name);
  config->identity = run->identity;
  run->wire_run.host = (char *)g_get_host_name ();
  config->run = run->wire_run;
  config->socket_path = run->socket_path;
  if (run->begins_trace && !timeline_file_begin (run->options.trace, &error))
    run_leave (run, 1, error->message);
  config->kept = run->restore.exists;
  run->driver = driver_new (config, &error);
  if (run->driver == NULL)
    run_leave (run, 1, error->message);
  for (guint i = 0; run->restore.bests != NULL && i < run->restore.bests->len; i++)
    {
      const RestoreConstant *best = run->restore.bests->pdata[i];
      driver_set_best (run->driver, best->name, best->value);
    }
  for (guint i = 0; run->restore.constants != NULL && i < run->restore.constants->len; i++)
    {
      const RestoreConstant *constant = run->restore.constants->pdata[i];
      driver_set_constant (run->driver, constant->name, constant->value, FALSE);
    }
}

static void
begin_main (SatinRun *run)
{
  run->in_main = TRUE;
  run->roots = 0;
  run->root_done = run->deposed = FALSE;
  run->stop_code = 75;
  if (run->node_process || run->config.checkpoint != NULL)
    capture_begin (&run->out, STDOUT_FILENO, NULL);
  if (run->node_process)
    {
      g_autofree char *file = folder_node_file (getpid (), "err");
      g_autofree char *path = g_build_filename (run->folder, file, NULL);
      capture_begin (&run->err, STDERR_FILENO, path);
    }
}

/* What main printed, if it is held back. NULL: that is lost, and it is said. */
static GBytes *
end_capture (SatinRun *run)
{
  const char *why = "no descriptor was left";
  gboolean held = run->out.fd >= 0 || (!run->node_process && run->config.checkpoint == NULL);
  g_autoptr (GBytes) answer = capture_end (&run->out, &why);
  if (held && answer != NULL)
    return g_steal_pointer (&answer);
  fprintf (stderr, "satin: the answer is lost: %s\n", why);
  return NULL;
}

/* main has returned or called exit (): gives the answer to the run. TRUE: the run has ended, *code.
 */
static gboolean
end_main (SatinRun *run, int main_code, int *code)
{
  run->in_main = FALSE;
  driver_end_if_deaf (run->driver);
  main_code &= 0xff; /* as a system does */
  gboolean captured = run->out.fd >= 0;
  const char *why;
  if (!capture_flush (stdout, &why))
    {
      fprintf (stderr, "satin: cannot write the answer: %s\n", why);
      main_code = main_code == 0 ? 1 : main_code;
    }
  g_autoptr (GBytes) answer = end_capture (run);
  if (answer == NULL)
    {
      main_code = main_code == 0 ? 1 : main_code;
      answer = g_bytes_new (NULL, 0);
    }
  g_autoptr (GBytes) said = run->err.fd >= 0 ? capture_end (&run->err, &why) : NULL;
  fflush (NULL);
  if (driver_is_stopping (run->driver, code))
    {
      /* What it says of how far it came: shown by the launcher. */
      if (said != NULL && g_bytes_get_size (said) > 0
          && !folder_write_first (run->folder, "answer.err", said, NULL))
        fwrite (g_bytes_get_data (said, NULL), 1, g_bytes_get_size (said), stderr);
      return TRUE;
    }
  if (run->deposed) /* what it says is no answer */
    return FALSE;
  DriverNews news = driver_finish (run->driver, main_code, answer, said,
                                   run->root_done && main_code == 0, code);
  if (news == DRIVER_DEPOSED)
    return FALSE;
  run->finished = news == DRIVER_FINISHED;
  if (captured && !run->node_process && run->finished)
    {
      if (!capture_write (STDOUT_FILENO, answer, &why))
        {
          fprintf (stderr, "satin: cannot write the answer to standard output: %s\n", why);
          *code = *code == 0 ? 1 : *code;
        }
    }
  return TRUE;
}

static void
on_process_exit (int status, void *data)
{
  SatinRun *run = the_run;
  int code;
  (void)data;
  if (getpid () != run->pid) /* somebody forked */
    return;
  engine_exit_by_job ();
  if (!run->in_main)
    return;
  /* Another thread did, or a signal handler: whoever sees 0 takes it for an answer. */
  gboolean in_vain = g_atomic_int_get (&run->in_root) && (status & 0xff) == 0;
  if (in_vain)
    fputs ("satin: the program called exit (0) while satin_root waited for the answer\n", stderr);
  end_main (run, in_vain ? 1 : status, &code);
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

/* What is held back would not come out, and whoever sees 0 takes it for an answer. */
static void
on_quick_exit (void)
{
  SatinRun *run = the_run;
  int code;
  engine_exit_by_job ();
  if (getpid () != run->pid || !run->in_main || run->out.fd < 0)
    return;
  say_wrong_end ("quick_exit");
  end_main (run, 1, &code);
  if (!run->node_process)
    folder_leave (run->folder, NULL);
  _Exit (1);
}

/* pthread_exit in main: the threads that are left would go on for ever. */
static void
on_main_thread_end (gpointer data)
{
  if (getpid () != ((SatinRun *)data)->pid)
    return;
  say_wrong_end ("pthread_exit");
  exit (1);
}

/* One mastership after the other until the run has ended. */
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
      begin_main (run);
      int main_code = run->app->main (run, run->options.argc, shallow);
      if (getpid () != run->pid) /* main has forked, and no driver is here */
        exit (main_code);
      if (end_main (run, main_code, &code))
        break;
    }
  g_private_set (&watched, NULL);
  return code;
}

static void
run_clear (SatinRun *run)
{
  restore_clear (&run->restore);
  identity_clear (&run->identity);
  options_clear (&run->options);
  folder_run_clear (&run->folder_run);
  g_free (run->wire_run.credential);
  g_free (run->wire_run.key);
  g_free (run->socket_path);
  g_free (run->folder);
  g_ptr_array_unref (run->inputs);
  g_ptr_array_unref (run->results);
}

/* What stands on the command line and in the environment. FALSE: `code` is the end, and all is
 * said. */
static gboolean
read_options (SatinRun *run, int argc, char **argv, int *code)
{
  g_autoptr (GError) error = NULL;
  run->node_process = g_getenv (FOLDER_ENV) != NULL || g_getenv (RELAY_ENV) != NULL;
  if (!options_parse (&run->options, argc, argv, &error))
    {
      fprintf (stderr, "%s: %s\n", run->app->name, error->message);
      *code = error->domain == PLACE_ERROR ? COORDINATOR_ERROR_STORE : 2;
      return FALSE;
    }
  if (run->options.help)
    {
      options_show_help (&run->options, run->app->usage);
      *code = 0;
      return FALSE;
    }
  return TRUE;
}

/* Until this process is a node. */
static void
begin (SatinRun *run)
{
  run_identity_fill (run);
  run->config.workers
      = run->options.workers > 0 ? (guint)run->options.workers : (guint)g_get_num_processors ();
  memory_limit_heaps (run->config.workers); /* main, driver and scribe seldom use one for long */
  if (run->options.interval_s == 0)
    run->options.interval_s = FOLDER_INTERVAL_DEFAULT_S;
  if (!run->node_process)
    prepare_solo (run);
  run->config.spin_us = run->options.spin_us;
  run->config.checkpoint = run->options.checkpoint;
  look_begin_anew (run);
  if (run->config.founder)
    look_at_checkpoint (run);
  start_driver (run);
  on_exit (on_process_exit, NULL);
  at_quick_exit (on_quick_exit);
  if (!run->node_process && run->config.checkpoint != NULL)
    driver_watch_signals (run->driver);
  if (run->node_process)
    driver_leave_at_signal (run->driver);
}

/* Returns only in a process of its own whose run has finished: elsewhere jobs may stand where they
 * were. */
static void
end (SatinRun *run, int code)
{
  gboolean quiet = !run->finished; /* nobody waits for jobs */
  folder_ended ();
  run->in_main = FALSE;
  if (run->node_process)
    {
      driver_last_words (run->driver);
      fflush (NULL);
      relay_end ();
      _exit (code);
    }
  if (quiet)
    driver_last_words (run->driver);
  else
    driver_free (run->driver);
  if (run->begins_trace)
    timeline_file_end (run->options.trace);
  if (run->folder != NULL)
    folder_leave (run->folder, NULL);
  if (quiet)
    {
      fflush (NULL);
      _exit (code);
    }
  run_clear (run);
}

int
satin_main_ (const SatinApp *app, int argc, char **argv)
{
  SatinRun *run;
  char *sentence = NULL;
  int code;
  if (app->layout != SATIN_LAYOUT_)
    {
      fprintf (stderr, "%s: compiled with the satin.h of another version than its libsatin\n",
               argc > 0 ? argv[0] : "satin");
      return 1;
    }
  capture_guard ();
  run = the_run = g_new0 (SatinRun, 1);
  run->app = app;
  run->pid = getpid ();
  memory_watch_main ();
  run->out = run->err = CAPTURE_NONE;
  run->inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  run->results = g_ptr_array_new_with_free_func (kept_free);
  if (!read_options (run, argc, argv, &code))
    return code;
  run->jobs = registry_close (app->jobs, &sentence);
  if (run->jobs == NULL)
    {
      fprintf (stderr, "satin: %s\n", sentence);
      return 1;
    }
  if (run->node_process)
    prepare_node_process (run);
  else if (step_has_tasks ())
    {
      g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
      if (self != NULL)
        step_become_run (self, argv);
    }
  begin (run);
  code = live (run);
  end (run, code);
  return code;
}

int
satin_stopped (SatinRun *run)
{
  return run->stop_code;
}

gboolean
satin_root_ (SatinRun *run, const SatinJob *job, const void *args, void *result)
{
  g_autoptr (GBytes) value = NULL;
  g_autoptr (GError) error = NULL;
  guint32 index = 0;
  if (getpid () != run->pid) /* no driver is here, and the answer would be the other's */
    {
      fputs ("satin: satin_root was called in a process that main has forked\n", stderr);
      _exit (1);
    }
  if (run->deposed) /* main has not heeded the FALSE of the root before */
    return FALSE;
  g_autofree char *late = registry_late ();
  if (late != NULL)
    run_leave (run, 1, late);
  while (run->jobs[index] != job)
    index++;
  g_autoptr (GBytes) encoded = record_encode (job->args, args);
  g_atomic_int_set (&run->in_root, TRUE);
  DriverNews news
      = driver_root (run->driver, run->roots++, index, encoded, &value, &run->stop_code);
  g_atomic_int_set (&run->in_root, FALSE);
  run->deposed = news == DRIVER_DEPOSED;
  if (news != DRIVER_RESULT)
    return FALSE;
  if (!record_decode (job->result, value, result, &error))
    run_leave (run, 1, error->message);
  /* What main borrows of the result lives as long as the run. */
  Kept *kept = g_new (Kept, 1);
  *kept = (Kept){ job->result, g_memdup2 (result, job->result->size) };
  g_ptr_array_add (run->results, kept);
  run->root_done = TRUE;
  return TRUE;
}
