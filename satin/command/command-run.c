/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin run`: starts a run from a command line. The founder judges what the checkpoint holds,
 * since only it knows the program's jobs; this file checks what shows from outside. One thread.
 * Tests: test-launched, run.sh, input.sh. */
#include "arguments.h"
#include "command.h"

#include "host/step.h"

#include "launch/launch.h"
#include "launch/spread.h"
#include "launch/tasks.h"

#include "node/checkpoint.h"
#include "node/options.h"

#include "storage/places/place.h"

#include <glib/gstdio.h>
#include <unistd.h>

static const ArgumentsVerb verb
    = { "run", "-- PROGRAM [ARG…]",
        "Starts PROGRAM on several nodes of this machine and shows its answer.\n\n"
        "Ctrl-C, SIGTERM and `satin suspend RUN` save everything finished and stop the run (exit "
        "code 75);\n"
        "`satin resume URI`, or this same command, goes on. A second Ctrl-C quits at once.",
        ARGUMENTS_PROGRAM };

/* --new: renames the old checkpoint, before there are nodes, so that it happens once. Returns 0, or
 * an exit code after a message. */
static int
set_aside (const char *checkpoint)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *moved = NULL;

  if (!checkpoint_set_aside (checkpoint, &moved, &error))
    {
      command_say ("%s", error->message);
      return error->code;
    }
  if (moved != NULL)
    command_say ("the old checkpoint is now '%s'", moved);
  return COMMAND_DONE;
}

/* Satin's options may also stand among the program's words, as when the program runs alone.
 * Copies those that the launcher needs into *options, as if they stood before `--`. Returns an
 * exit code. */
static int
lift_options (Arguments *options)
{
  g_autoptr (GError) error = NULL;
  Options own;

  if (!options_parse (&own, (int)g_strv_length (options->program), options->program, &error))
    {
      command_say ("%s", error->message);
      return error->domain == PLACE_ERROR ? COMMAND_STORE : COMMAND_USAGE;
    }
  Options *said = &options->own;
  if (said->checkpoint == NULL && !own.help)
    {
      said->checkpoint = g_steal_pointer (&own.checkpoint);
      said->insecure = said->insecure || own.insecure;
    }
  if (said->protect == PLAN_AUTO && !own.help)
    said->protect = own.protect;
  said->mended = said->mended || own.mended;
  said->trust = said->trust || own.trust;
  if (said->trace == NULL && !own.help)
    said->trace = g_steal_pointer (&own.trace);
  if (said->stats == NULL && !own.help)
    said->stats = g_steal_pointer (&own.stats);
  if (said->interval_s == 0)
    {
      said->interval_s = own.interval_s;
      said->keep_s = own.keep_s;
    }
  options_clear (&own);
  return COMMAND_DONE;
}

/* Fills `run`, whose program is set, and runs it. Returns the exit code. */
static int
start (const Arguments *options, FolderRun *run)
{
  g_autoptr (GPtrArray) sites = NULL;
  g_autofree char *text = NULL;
  LaunchWish wish;
  int code;

  if (options->own.checkpoint != NULL)
    {
      run->checkpoint = arguments_target (options->own.checkpoint, options->own.insecure);
      if (run->checkpoint == NULL || !arguments_target_is_writable (run->checkpoint))
        return COMMAND_STORE;
    }
  if (!arguments_files_are_writable (options))
    return COMMAND_ERROR;
  run->argv = g_strdupv (options->program + 1);
  run->folder = g_get_current_dir ();
  run->name = g_strdup (options->name);
  run->interval_s = options->own.interval_s != 0 ? options->own.interval_s : FOLDER_INTERVAL_AUTO_S;
  run->keep_s = options->own.keep_s;
  run->heartbeat_s = options->heartbeat_s;
  run->silence_s = options->silence_s;
  run->nodes = options->nodes > 0 ? options->nodes : 1;
  run->workers = options->own.workers > 0 ? options->own.workers : spread_workers (run->nodes);
  run->tcp = options->tcp;
  run->listen = g_strdup (options->listen);
  run->protect = options->own.protect;
  run->verify = options->verify;
  run->mended = options->own.mended;
  run->trust = options->own.trust;
  run->steal = MAX (options->steal, 0);
  run->closed = options->closed;
  run->trace = g_strdup (options->own.trace);
  run->stack = options->own.stack;
  run->shared_memory = options->own.shared_memory;
  code = spread_read (run, options->sites, options->own.workers, &sites, &text);
  if (code == COMMAND_DONE && sites != NULL
      && !arguments_fit_plan (options, FALSE, sites_nodes (sites)))
    return COMMAND_USAGE;
  if (code == COMMAND_DONE && options->dry)
    {
      spread_show (run, sites, options->own.workers, options->copy);
      return COMMAND_DONE;
    }
  if (code == COMMAND_DONE && options->own.anew)
    code = set_aside (run->checkpoint);
  if (code != COMMAND_DONE)
    return code;
  wish = (LaunchWish){ .stats = options->own.stats,
                       .live = options->live,
                       .sites = sites,
                       .sites_text = text,
                       .send_program = options->copy };
  arguments_sign (run);
  return launch_run (run, &wish);
}

int
command_run (int argc, char **argv)
{
  g_auto (Arguments) options = { 0 };
  g_auto (FolderRun) run = { 0 };
  const char *tasks = NULL; /* the tasks' file of sites */
  int code;

  if (!arguments_read (&options, &verb, argc, argv) || !arguments_fit (&options, FALSE))
    return COMMAND_USAGE;
  if (options.words[0] != NULL)
    return command_usage ("run ", "unexpected word '%s' before `--`", options.words[0]);
  if (options.program == NULL || options.program[0] == NULL)
    return command_usage ("run ", "missing program: `satin run [OPTION…] -- PROGRAM [ARG…]`");
  code = lift_options (&options);
  if (code != COMMAND_DONE)
    return code;
  if (!arguments_fit_plan (&options, FALSE, arguments_nodes (&options, FALSE)))
    return COMMAND_USAGE;
  if (options.own.anew && options.own.checkpoint == NULL)
    return command_usage ("run ", "--new needs --checkpoint");
  run.program = arguments_program (options.program[0]);
  if (run.program == NULL)
    return COMMAND_ERROR;
  if (step_has_tasks () && options.sites == NULL && options.dry)
    return command_usage ("run ", "--dry-run conflicts with srun, which has started the tasks");
  if (step_has_tasks () && options.sites == NULL)
    {
      if (options.nodes > 0)
        return command_usage ("run ", "each task of srun or mpirun is a node: leave out -n");
      code = tasks_begin (options.own.workers, run.program, options.program + 1, &options.sites);
      if (code >= 0)
        return code;
      tasks = options.sites;
    }
  code = start (&options, &run);
  tasks_end (tasks);
  return code;
}
