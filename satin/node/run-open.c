/* SPDX-License-Identifier: BSD-3-Clause */
/* How this process becomes a node of a run: the command line, the run's folder, the first look at
 * the checkpoint, the driver; and how it stops being one. Only the thread that opens the run.
 * Tests: test-opened, refuse.sh, early.sh, embed.sh. */
#include "config.h"

#include "run-private.h"

#include "engine/best.h"
#include "engine/os/memory.h"
#include "engine/registry.h"

#include "folder/claim.h"
#include "folder/relay.h"
#include "folder/timeline-file.h"

#include "host/outlet.h"
#include "host/say.h"

#include "storage/places/place.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPLAY_INTERVAL_S 86400

gboolean
run_may_take (const SatinRun *run, int number)
{
  struct sigaction now;
  return run->owner == RUN_OF_APP
         || (run->owner == RUN_OF_NODE && sigaction (number, NULL, &now) == 0
             && now.sa_handler == SIG_DFL);
}

gboolean
run_open_options (SatinRun *run, int argc, char **argv, GError **error)
{
  g_autoptr (GError) reason = NULL;
  run->node_process = g_getenv (FOLDER_ENV) != NULL || g_getenv (RELAY_ENV) != NULL;
  if (options_parse (&run->options, argc, argv, &reason))
    {
      if (!run->node_process)
        run->config.replay = run_replay_new (&run->options);
      return TRUE;
    }
  return run_error (error, reason->domain == PLACE_ERROR ? COORDINATOR_ERROR_STORE : 2, "%s",
                    reason->message);
}

/* Takes the launcher's values for options that neither the command line nor the environment
 * gives. */
static void
fill_options (SatinRun *run)
{
  Options *options = &run->options;
  const FolderRun *said = &run->folder_run;
  const char *workers = g_getenv (FOLDER_ENV_WORKERS);
  if (options->workers == 0)
    options->workers = workers != NULL ? atoi (workers) : said->workers;
  if (options->interval_s == 0)
    {
      options->interval_s = said->interval_s;
      options->keep_s = said->keep_s;
    }
  if (options->checkpoint == NULL)
    options->checkpoint = g_strdup (said->checkpoint);
  if (said->trace != NULL) /* the launcher creates and ends that file */
    {
      g_free (options->trace);
      options->trace = g_strdup (said->trace);
    }
  else
    run->begins_trace = options->trace != NULL && run->config.founder;
  if (options->stack == 0)
    options->stack = said->stack;
  if (options->shared_memory == 0)
    options->shared_memory = said->shared_memory;
}

/* Ignores signals of terminals and batch systems, which the launcher handles. */
static void
ignore_signals (const SatinRun *run)
{
  static const int numbers[] = { SIGINT, SIGHUP, SIGPIPE, SIGUSR1 };
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (run_may_take (run, numbers[i]))
      signal (numbers[i], SIG_IGN);
}

static gboolean
prepare_node_process (SatinRun *run, GError **error)
{
  g_autoptr (GError) reason = NULL;
  run->folder
      = g_getenv (RELAY_ENV) != NULL ? relay_begin (&reason) : g_strdup (g_getenv (FOLDER_ENV));
  if (run->folder == NULL)
    return run_error (error, 1, "%s", reason->message);
  run->config.far = g_getenv (RELAY_ENV) != NULL;
  run->config.invited = g_getenv (FOLDER_ENV_INVITED) != NULL;
  run->config.founder
      = (run->config.far ? relay_is_founder () : g_getenv (FOLDER_ENV_FOUNDER) != NULL)
        && claim_founder (run->folder);
  g_unsetenv (FOLDER_ENV);
  g_unsetenv (FOLDER_ENV_FOUNDER);
  g_unsetenv (FOLDER_ENV_INVITED);
  ignore_signals (run);
  if (!folder_read (run->folder, &run->folder_run, &reason)
      || !relay_place (&run->folder_run, run->folder, &reason)
      || !folder_enter (run->folder, getpid (), &reason))
    return run_error (error, 1, "%s", reason->message);
  fill_options (run);
  run->config.site
      = run->folder_run.site != NULL ? run->folder_run.site : g_getenv (FOLDER_ENV_SITE);
  run->kept_inputs = run->folder_run.resume;
  run->identity.run = g_strdup (run->folder_run.id);
  run->identity.options = folder_options_write (&run->folder_run);
  return TRUE;
}

/* A signal during the first look at the checkpoint, which may take long. Nothing is lost. */
static void
on_early_warning (int number)
{
  static const char words[] = "satin: suspended: it had not begun; the same command begins again\n";
  (void)number;
  (void)!write (STDERR_FILENO, words, sizeof words - 1);
  _exit (75);
}

/* Handles signals until driver_watch_signals. */
static void
watch_early (void)
{
  signal (SIGINT, on_early_warning);
  signal (SIGTERM, on_early_warning);
  signal (SIGUSR1, on_early_warning);
  /* nohup: the program goes on without its terminal */
  if (signal (SIGHUP, on_early_warning) == SIG_IGN)
    signal (SIGHUP, SIG_IGN);
}

/* A program alone with a checkpoint has a folder, so that `satin status` and `suspend` find it. */
static gboolean
prepare_solo (SatinRun *run, GError **error)
{
  g_autoptr (GError) reason = NULL;
  g_autofree char *wrong = plan_refuses (run->options.protect, run->options.checkpoint != NULL, 1);
  if (wrong != NULL)
    return run_error (error, 2, "%s", wrong);
  run->config.founder = TRUE;
  run->begins_trace = run->options.trace != NULL;
  if (run->options.stats != NULL && !outlet_is_writable ("stats file", run->options.stats, &reason))
    return run_error (error, 1, "%s", reason->message);
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
  if (run->options.checkpoint == NULL || run->config.replay != NULL)
    {
      run->identity.run = g_strdup ("solo");
      return TRUE;
    }
  if (run->owner == RUN_OF_APP)
    watch_early ();
  run->folder = folder_create (&run->folder_run, &reason);
  if (run->folder == NULL)
    return run_error (error, 1, "%s", reason->message);
  run->identity.run = g_strdup (run->folder_run.id);
  return TRUE;
}

/* A replay saves nothing, and main reads the inputs of the checkpoint. */
static gboolean
prepare_replay (SatinRun *run, GError **error)
{
  g_autoptr (GError) reason = NULL;
  run->kept_inputs = TRUE;
  run->options.interval_s = REPLAY_INTERVAL_S;
  return run_replay_open (run->config.replay, &run->options.checkpoint, &reason)
         || run_error (error, reason->code, "%s", reason->message);
}

/* Takes the stack size and memory that the run had: a deep job may need them. */
static void
fill_from_checkpoint (SatinRun *run)
{
  g_auto (FolderRun) recorded = { 0 };
  if (run->restore.identity.options == NULL)
    return;
  folder_options_read (run->restore.identity.options, &recorded);
  run->options.stack = recorded.stack;
  run->options.shared_memory = recorded.shared_memory;
}

/* Fills run->wire_run; the founder writes into the run's folder what joiners need. */
static gboolean
fill_wire (SatinRun *run, GError **error)
{
  g_autoptr (GError) reason = NULL;
  run->wire_run.silence_s
      = run->config.silence_s > 0 ? run->config.silence_s : FOLDER_SILENCE_DEFAULT_S;
  if (run->folder != NULL)
    {
      run->socket_path = folder_socket (&run->folder_run, getpid ());
      g_autoptr (GBytes) id = g_bytes_new (run->identity.run, strlen (run->identity.run));
      g_autoptr (GBytes) build = g_bytes_new (run->identity.build, strlen (run->identity.build));
      run->wire_run.credential = folder_credential (run->folder, &reason);
      run->wire_run.key = folder_key (run->folder);
      if (run->wire_run.credential == NULL
          || (run->config.founder
              && (!folder_write (run->folder, FOLDER_FILE_ID, id, &reason)
                  || !folder_write (run->folder, FOLDER_BUILD, build, &reason))))
        return run_error (error, 1, "%s", reason->message);
    }
  run->wire_run.id = run->identity.run;
  run->wire_run.name = run->folder_run.name != NULL ? run->folder_run.name : (char *)run->app->name;
  run->identity.name = g_strdup (run->wire_run.name);
  run->wire_run.host = (char *)g_get_host_name ();
  return TRUE;
}

static void
fill_config (SatinRun *run)
{
  DriverConfig *config = &run->config;
  config->jobs = run->jobs;
  config->program = run->identity.identity;
  config->interval_s = run->options.interval_s;
  config->keep_s = run->options.keep_s;
  config->solo = !run->node_process;
  config->embedded = run->owner == RUN_EMBEDDED && config->replay == NULL;
  config->folder = run->folder;
  config->tcp = (ListenerPlace){ run->folder_run.tcp ? run->folder_run.listen : NULL,
                                 run->folder_run.port_first, run->folder_run.port_last };
  config->steal = (NodeSteal)run->folder_run.steal;
  config->protect = run->folder_run.protect;
  config->verify = run->folder_run.verify;
  config->closed = run->folder_run.closed;
  config->invited = config->invited || run->folder_run.invited;
  config->heartbeat_s = run->folder_run.heartbeat_s;
  config->silence_s = run->folder_run.silence_s;
  config->stats = run->options.stats;
  config->trace = run->options.trace;
  config->stack_bytes = (gsize)run->options.stack;
  config->shared_memory = run->options.shared_memory;
  config->kept = run->restore.exists;
}

/* Gives the driver the BEST values and constants of the checkpoint. */
static void
give_restored (SatinRun *run)
{
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

/* A program's own signal handlers must run in its own threads. So all signals are blocked while
 * Satin's threads are made; threads that these make inherit that. */
static Driver *
new_driver (const SatinRun *run, GError **error)
{
  sigset_t all, before;
  sigfillset (&all);
  if (run->owner == RUN_OF_APP)
    return driver_new (&run->config, error);
  pthread_sigmask (SIG_BLOCK, &all, &before);
  Driver *driver = driver_new (&run->config, error);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  return driver;
}

static gboolean
start_driver (SatinRun *run, GError **error)
{
  g_autoptr (GError) reason = NULL;
  if (run->folder_run.verify > 0 && best_count () > 0)
    return run_error (error, 2,
                      "--verify is not for a program with best values (SATIN_BEST): a job may"
                      " rightly have another result when the best value is another");
  fill_config (run);
  if (!fill_wire (run, error))
    return FALSE;
  run->config.identity = run->identity;
  run->config.run = run->wire_run;
  run->config.socket_path = run->socket_path;
  if (run->begins_trace && !timeline_file_begin (run->options.trace, &reason))
    return run_error (error, 1, "%s", reason->message);
  run->driver = new_driver (run, &reason);
  if (run->driver == NULL)
    return run_error (error, 1, "%s", reason->message);
  give_restored (run);
  return TRUE;
}

/* GLib sets SIGPIPE to be ignored when it makes its first socket: restores the program's handler.
 * Satin's own writes raise no SIGPIPE. */
static void
spare_sigpipe (void)
{
  struct sigaction before;
  if (sigaction (SIGPIPE, NULL, &before) != 0)
    return;
  g_type_class_unref (g_type_class_ref (G_TYPE_SOCKET));
  (void)sigaction (SIGPIPE, &before, NULL);
}

gboolean
run_open_jobs (SatinRun *run, GError **error)
{
  g_autofree char *sentence = NULL;
  run->jobs = registry_close (run->app->jobs, &sentence);
  return run->jobs != NULL || run_error (error, 1, "%s", sentence);
}

static gboolean
open_all (SatinRun *run, GError **error)
{
  if (run->node_process && !prepare_node_process (run, error))
    return FALSE;
  if (!run_identity_fill (run, error))
    return FALSE;
  run->config.workers
      = run->options.workers > 0 ? (guint)run->options.workers : (guint)g_get_num_processors ();
  if (run->owner == RUN_OF_APP)
    /* main, driver and scribe seldom use a heap for long */
    memory_limit_heaps (run->config.workers);
  if (run->options.interval_s == 0)
    run->options.interval_s = FOLDER_INTERVAL_AUTO_S;
  if (!run->node_process && !prepare_solo (run, error))
    return FALSE;
  if (run->config.replay != NULL && !prepare_replay (run, error))
    return FALSE;
  run->config.spin_us = run->options.spin_us;
  run->config.checkpoint = run->options.checkpoint;
  if (!look_begin_anew (run, error))
    return FALSE;
  if (run->config.founder && !look_at_checkpoint (run, error))
    return FALSE;
  if (run->config.replay != NULL)
    fill_from_checkpoint (run);
  return run->over || start_driver (run, error);
}

/* open_all with SIGPIPE blocked: a store's connection that breaks during the first look must not
 * end the program. */
static gboolean
open_quietly (SatinRun *run, GError **error)
{
  const struct timespec at_once = { 0 };
  sigset_t broken, before;
  spare_sigpipe ();
  sigemptyset (&broken);
  sigaddset (&broken, SIGPIPE);
  pthread_sigmask (SIG_BLOCK, &broken, &before);
  gboolean well = open_all (run, error);
  while (!sigismember (&before, SIGPIPE) && sigtimedwait (&broken, NULL, &at_once) > 0)
    ;
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  return well;
}

gboolean
run_open (SatinRun *run, GError **error)
{
  GError *reason = NULL;
  if (run->owner == RUN_OF_APP ? open_all (run, &reason) : open_quietly (run, &reason))
    return TRUE;
  if (run->node_process && run->config.founder
      && !folder_end (run->folder, reason->code, reason->message, NULL))
    say_line ("cannot write to '%s'", run->folder);
  if (!run->node_process && run->folder != NULL)
    folder_remove (run->folder, NULL);
  run_replay_forget (run->config.replay);
  g_propagate_error (error, reason);
  return FALSE;
}

void
run_close (SatinRun *run)
{
  run->in_use = !driver_free (run->driver);
  run->driver = NULL;
  if (run->begins_trace)
    timeline_file_end (run->options.trace);
  if (run->folder != NULL)
    folder_leave (run->folder, NULL);
}
