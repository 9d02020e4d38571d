/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin resume`: starts a run from a checkpoint. Program, arguments, working directory and launch
 * options are the recorded ones, unless the command line has others. One thread, except for the
 * first look. Tests: test-launched, total.sh, suspend.sh, early.sh. */
#include "arguments.h"
#include "command.h"
#include "recorded.h"

#include "coordinator/mark.h"
#include "coordinator/proof.h"
#include "coordinator/restore.h"

#include "folder/folder.h"

#include "host/step.h"
#include "host/temporary.h"
#include "host/whole.h"

#include "launch/launch-words.h"
#include "launch/launch.h"
#include "launch/spread.h"
#include "launch/tasks.h"

#include "node/checkpoint.h"
#include "node/options.h"

#include "storage/places/place.h"

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const ArgumentsVerb verb = {
  "resume", "URI [-- PROGRAM [ARG…]]",
  "Goes on with the run whose checkpoint stands at URI, on any number of nodes. The checkpoint\n"
  "says what is started only if it bears your mark; else say it behind --. Without ARG there,\n"
  "the recorded arguments of a marked checkpoint are taken.",
  ARGUMENTS_BEHIND
};

/* Prints the answer of a finished checkpoint; nothing is started. Returns the exit code. */
static int
repeat_answer (const Restore *restore, const char *target)
{
  gsize size = 0;
  const char *data = restore->answer == NULL ? NULL : g_bytes_get_data (restore->answer, &size);
  g_autofree char *warning = proof_warning (restore->origin, target);
  g_autoptr (GError) error = NULL;

  if (!proof_allows (restore->origin, target, &error))
    {
      command_say ("%s", error->message);
      return COMMAND_UNUSABLE;
    }
  if (warning != NULL)
    command_say ("%s", warning);
  if (!whole_write (STDOUT_FILENO, data, size))
    {
      command_say ("cannot write the answer to standard output: %s", g_strerror (errno));
      return COMMAND_ERROR;
    }
  return restore->exit_code;
}

/* Makes a folder for the copy of a checkpoint at a URI, on the disk of the runs' folders. It is
 * kept as long as this process lives. (transfer full) NULL: it cannot be made. */
static char *
make_copy_folder (void)
{
  g_autofree char *root = folder_root ();
  g_autofree char *above = g_path_get_dirname (root), *base = g_path_get_basename (root);
  g_autofree char *stem = g_strconcat (base, ".", NULL);

  return g_mkdir_with_parents (above, 0700) == 0 ? temporary_make_in (above, stem, NULL) : NULL;
}

/* Fills `run` from the checkpoint's record, then from the command line. */
static void
fill_run (FolderRun *run, const Arguments *options, const Restore *restore, gboolean is_marked)
{
  const Identity *identity = &restore->identity;

  folder_options_read (identity->options == NULL ? "" : identity->options, run);
  run->folder = recorded_folder (identity, is_marked);
  run->resume = TRUE;
  run->closed = options->closed;
  run->protect = options->own.protect;
  run->verify = options->verify;
  run->mended = options->own.mended;
  run->trust = options->own.trust;
  if (options->steal >= 0)
    run->steal = options->steal;
  if (options->name != NULL)
    run->name = g_strdup (options->name);
  else if (identity->name != NULL && folder_name_is_valid (identity->name))
    run->name = g_strdup (identity->name);
  if (options->own.interval_s != 0)
    {
      run->interval_s = options->own.interval_s;
      run->keep_s = options->own.keep_s;
    }
  if (run->interval_s == 0)
    run->interval_s = FOLDER_INTERVAL_AUTO_S;
  if (options->silence_s > 0)
    {
      run->heartbeat_s = options->heartbeat_s;
      run->silence_s = options->silence_s;
    }
  if (options->nodes > 0)
    run->nodes = options->nodes;
  if (options->own.workers > 0)
    run->workers = options->own.workers;
  else if (options->nodes > 0 || run->workers == 0)
    run->workers = spread_workers (MAX (1, run->nodes));
  run->nodes = MAX (1, run->nodes);
  run->tcp = run->tcp || options->tcp;
  run->listen = g_strdup (options->listen);
  run->trace = g_strdup (options->own.trace);
  if (options->own.stack > 0)
    run->stack = options->own.stack;
  if (options->own.shared_memory > 0)
    run->shared_memory = options->own.shared_memory;
}

static gboolean
is_same_place (const char *a, const char *b)
{
  struct stat of_a, of_b;

  return strcmp (a, b) == 0
         || (!place_is_remote (a) && !place_is_remote (b) && stat (a, &of_a) == 0
             && stat (b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino);
}

/* --checkpoint: the run continues with a copy at another place. The file that it continues from
 * stays as it is, and may be read-only. Returns 0 (*target is the new place; *moved, out: it is
 * another one), or an exit code after a message. */
static int
move_on (char **target, const Arguments *options, const Restore *restore, gboolean *moved)
{
  g_autofree char *place = arguments_target (options->own.checkpoint, options->own.insecure);
  g_autoptr (GError) error = NULL;

  if (place == NULL)
    return COMMAND_STORE;
  *moved = !is_same_place (place, *target);
  if (!*moved)
    return COMMAND_DONE;
  g_autofree char *user = checkpoint_in_use (restore, *target);
  if (user != NULL)
    {
      command_say ("%s", user);
      return COMMAND_IN_USE;
    }
  if (!arguments_target_is_writable (place))
    return COMMAND_STORE;
  if (!restore_copy (*target, place, &error))
    {
      command_say ("%s", error->message);
      return error->code;
    }
  g_free (*target);
  *target = g_steal_pointer (&place);
  return COMMAND_DONE;
}

/* A thread downloads the checkpoint at a URI, so that an interrupt ends this at once. */
typedef struct
{
  const char *target, *copy, *folder, *tasks;
  Restore *restore;
  GMainLoop *loop;
  int code;
} Look;

static gboolean
on_looked (gpointer data)
{
  g_main_loop_quit (((Look *)data)->loop);
  return G_SOURCE_REMOVE;
}

static gpointer
look (gpointer data)
{
  Look *now = data;

  now->code = recorded_look (now->target, now->copy, now->restore);
  g_idle_add (on_looked, now);
  return NULL;
}

/* Interrupted before the run began. The other thread may be in a request, so the process exits at
 * once. */
static gboolean
on_interrupt (gpointer data)
{
  const Look *now = data;

  launch_words_next (&(FolderRun){ .checkpoint = (char *)now->target }, COMMAND_SUSPENDED);
  temporary_remove (g_strdup (now->folder));
  tasks_end (now->tasks);
  _exit (COMMAND_SUSPENDED);
}

static int
look_at (Look *now)
{
  static const int signals[] = { SIGINT, SIGTERM, SIGUSR1 };
  guint sources[G_N_ELEMENTS (signals)];

  if (now->copy == NULL)
    return recorded_look (now->target, NULL, now->restore);
  now->loop = g_main_loop_new (NULL, FALSE);
  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    sources[i] = g_unix_signal_add (signals[i], on_interrupt, now);
  GThread *thread = g_thread_new ("look", look, now);
  g_main_loop_run (now->loop);
  g_thread_join (thread);
  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    g_source_remove (sources[i]);
  g_main_loop_unref (now->loop);
  return now->code;
}

static int
resume (const Arguments *options, const char *folder, const char *tasks, char *const *typed)
{
  g_auto (FolderRun) run = { 0 };
  g_autoptr (GPtrArray) sites = NULL;
  g_auto (Restore) restore = { 0 };
  g_autofree char *target = NULL, *text = NULL;
  g_autofree char *copy = folder != NULL ? g_build_filename (folder, FOLDER_COPY, NULL) : NULL;
  gboolean moved = FALSE;
  gboolean is_marked;
  LaunchWish wish;
  int code;

  target = arguments_target (options->words[0], options->own.insecure);
  Look now
      = { .target = target, .copy = copy, .folder = folder, .tasks = tasks, .restore = &restore };
  code = target == NULL ? COMMAND_STORE : look_at (&now);
  if (code != COMMAND_DONE)
    return code;
  if (restore.finished && options->program == NULL)
    return repeat_answer (&restore, target);
  code = recorded_command (&run, options->program, &restore, target, typed, &is_marked);
  if (code == COMMAND_DONE)
    code = recorded_proof (&restore, target);
  if (code != COMMAND_DONE)
    return code;
  if (!arguments_files_are_writable (options))
    return COMMAND_ERROR;
  fill_run (&run, options, &restore, is_marked);
  code = spread_read (&run, options->sites, options->own.workers, &sites, &text);
  if (code == COMMAND_DONE && sites != NULL
      && !arguments_fit_plan (options, TRUE, sites_nodes (sites)))
    return COMMAND_USAGE;
  if (code == COMMAND_DONE && options->own.checkpoint != NULL)
    code = move_on (&target, options, &restore, &moved);
  if (code != COMMAND_DONE)
    return code;
  if (!arguments_target_is_writable (target))
    return COMMAND_STORE;
  run.checkpoint = g_strdup (target);
  wish = (LaunchWish){ .copy = moved ? NULL : copy,
                       .stats = options->own.stats,
                       .live = options->live,
                       .sites = sites,
                       .sites_text = text,
                       .send_program = options->copy,
                       .any_name = options->name == NULL };
  arguments_sign (&run);
  return launch_run (&run, &wish);
}

int
command_resume (int argc, char **argv)
{
  g_auto (Arguments) options = { 0 };
  char *folder;
  const char *tasks = NULL; /* the tasks' file of sites */
  int code;

  if (!arguments_read (&options, &verb, argc, argv) || !arguments_fit (&options, TRUE)
      || !arguments_fit_plan (&options, TRUE, arguments_nodes (&options, TRUE)))
    return COMMAND_USAGE;
  if (options.words[0] == NULL || options.words[1] != NULL)
    return command_usage (
        "resume ", "one checkpoint is needed: `satin resume URI [OPTION…] [-- PROGRAM [ARG…]]`");
  if (options.program != NULL && options.program[0] == NULL)
    return command_usage ("resume ", "missing program behind `--`");
  if (step_has_tasks () && options.sites == NULL)
    {
      if (options.nodes > 0)
        return command_usage ("resume ", "each task of srun or mpirun is a node: leave out -n");
      code = tasks_begin (options.own.workers, NULL, NULL, &options.sites);
      if (code >= 0)
        return code;
      tasks = options.sites;
    }
  mark_prove_files (options.own.trust);
  folder = place_is_remote (options.words[0]) ? make_copy_folder () : NULL;
  code = resume (&options, folder, tasks, argv);
  temporary_remove (folder);
  tasks_end (tasks);
  return code;
}
