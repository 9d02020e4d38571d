/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin resume`: from a checkpoint to a run. Program, arguments, working directory and launch
 * options are the recorded ones unless said otherwise. One thread. */
#include "arguments.h"
#include "command.h"
#include "launch.h"
#include "spread.h"
#include "tasks.h"

#include "coordinator/restore.h"

#include "net/folder.h"
#include "net/step.h"

#include "storage/place.h"
#include "storage/temporary.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char *const about[] = {
  "resume", "URI [-- PROGRAM]",
  "Goes on with the run whose checkpoint stands at URI, on any number of nodes. -- PROGRAM takes\n"
  "another path for the same program; its arguments are the recorded ones."
};

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Restore, restore_clear)

/* A finished checkpoint gives its answer again; nothing is started for that. */
static int
repeat_answer (const Restore *restore)
{
  gsize size = 0, done = 0;
  const char *data = restore->answer == NULL ? NULL : g_bytes_get_data (restore->answer, &size);

  while (done < size)
    {
      ssize_t n = write (STDOUT_FILENO, data + done, size - done);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        {
          command_say ("cannot write the answer to standard output: %s", g_strerror (errno));
          return COMMAND_ERROR;
        }
      done += (gsize)n;
    }
  return restore->exit_code;
}

/* Where what stands at a URI is brought to, on the same disk as the folders of runs. It is held as
 * long as this process lives. (transfer full) (nullable): nowhere. */
static char *
make_copy_folder (void)
{
  g_autofree char *root = folder_root ();
  g_autofree char *above = g_path_get_dirname (root), *base = g_path_get_basename (root);
  g_autofree char *stem = g_strconcat (base, ".", NULL);

  return g_mkdir_with_parents (above, 0700) == 0 ? temporary_make_in (above, stem, NULL) : NULL;
}

/* 0: fine. */
static int
look (const char *target, const char *copy, Restore *restore)
{
  g_autoptr (GError) error = NULL;

  if (!restore_look_for (target, copy, NULL, restore, &error))
    {
      command_say ("%s", error->message);
      return error->domain == COORDINATOR_ERROR ? error->code : COMMAND_ERROR;
    }
  if (restore->exists)
    return COMMAND_DONE;
  command_say ("there is no checkpoint at '%s'", target);
  return COMMAND_STORE;
}

/* The one that the checkpoint remembers; another host may not have it. (transfer full) */
static char *
working_folder (const Identity *identity)
{
  char *here = g_get_current_dir ();

  if (identity->folder == NULL)
    return here;
  if (g_file_test (identity->folder, G_FILE_TEST_IS_DIR))
    {
      g_free (here);
      return g_strdup (identity->folder);
    }
  command_say ("the run was started in '%s', which is not here: it goes on in '%s'",
               identity->folder, here);
  return here;
}

/* What the checkpoint recorded, then what this command line says. */
static void
fill_run (FolderRun *run, const Arguments *options, const Restore *restore)
{
  const Identity *identity = &restore->identity;

  folder_options_read (identity->options == NULL ? "" : identity->options, run);
  run->argv = identity->argv == NULL ? g_new0 (char *, 1) : g_strdupv (identity->argv);
  run->folder = working_folder (identity);
  run->resume = TRUE;
  run->closed = options->closed;
  if (options->steal >= 0)
    run->steal = options->steal;
  if (options->name != NULL)
    run->name = g_strdup (options->name);
  else if (identity->name != NULL && folder_name_is_valid (identity->name))
    run->name = g_strdup (identity->name);
  if (options->interval_s > 0)
    run->interval_s = options->interval_s;
  if (run->interval_s <= 0)
    run->interval_s = FOLDER_INTERVAL_DEFAULT_S;
  if (options->silence_s > 0)
    {
      run->heartbeat_s = options->heartbeat_s;
      run->silence_s = options->silence_s;
    }
  if (options->nodes > 0)
    run->nodes = options->nodes;
  if (options->workers > 0)
    run->workers = options->workers;
  else if (options->nodes > 0 || run->workers == 0)
    run->workers = arguments_workers (MAX (1, run->nodes));
  run->nodes = MAX (1, run->nodes);
  run->tcp = run->tcp || options->tcp;
  run->listen = g_strdup (options->listen);
  run->trace = g_strdup (options->trace);
  if (options->stack > 0)
    run->stack = options->stack;
  if (options->shared_memory > 0)
    run->shared_memory = options->shared_memory;
}

/* The run goes on with a copy at another place; the file that it goes on from stays as it is, and
 * may be read-only. 0: fine, and *target is the new place. */
static int
move_on (char **target, const Arguments *options)
{
  g_autofree char *place = arguments_target (options->checkpoint, options->insecure);
  g_autoptr (GError) error = NULL;

  if (place == NULL || !arguments_target_is_writable (place))
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

static int
resume (const Arguments *options, const char *copy)
{
  g_auto (FolderRun) run = { 0 };
  g_autoptr (GPtrArray) sites = NULL;
  g_auto (Restore) restore = { 0 };
  g_autofree char *target = NULL, *text = NULL;
  LaunchWish wish;
  int code;

  target = arguments_target (options->words[0], options->insecure);
  code = target == NULL ? COMMAND_STORE : look (target, copy, &restore);
  if (code != COMMAND_DONE)
    return code;
  if (restore.finished && options->program == NULL)
    return repeat_answer (&restore);
  run.program = arguments_program (options->program != NULL ? options->program[0]
                                                            : restore.identity.program);
  if (run.program == NULL)
    return COMMAND_ERROR;
  if (!arguments_files_are_writable (options))
    return COMMAND_ERROR;
  fill_run (&run, options, &restore);
  code = spread_read (&run, options->sites, options->workers, &sites, &text);
  if (code == COMMAND_DONE && options->checkpoint != NULL)
    code = move_on (&target, options);
  if (code != COMMAND_DONE)
    return code;
  if (!arguments_target_is_writable (target))
    return COMMAND_STORE;
  run.checkpoint = g_strdup (target);
  wish = (LaunchWish){ .copy = options->checkpoint == NULL ? copy : NULL,
                       .stats = options->stats,
                       .live = options->live,
                       .sites = sites,
                       .sites_text = text,
                       .send_program = options->copy,
                       .any_name = options->name == NULL };
  return launch_run (&run, &wish);
}

int
command_resume (int argc, char **argv)
{
  g_auto (Arguments) options = { 0 };
  g_autofree char *folder = NULL, *copy = NULL;
  const char *tasks = NULL; /* their file of sites */
  int code;

  if (!arguments_read (&options, about, argc, argv))
    return COMMAND_USAGE;
  if (options.words[0] == NULL || options.words[1] != NULL)
    return command_usage ("resume ",
                          "say one checkpoint: `satin resume URI [OPTION…] [-- PROGRAM]`");
  if (options.anew)
    return command_usage ("resume ", "--new is not for resume: it begins anew");
  if (options.program != NULL && (options.program[0] == NULL || options.program[1] != NULL))
    return command_usage (
        "resume ", "after `--` stands the program alone; its arguments are the recorded ones");
  if (step_has_tasks () && options.sites == NULL)
    {
      if (options.nodes > 0)
        return command_usage ("resume ", "each task of a srun is a node: leave out -n");
      code = tasks_begin (options.workers, NULL, NULL, &options.sites);
      if (code >= 0)
        return code;
      tasks = options.sites;
    }
  folder = place_is_remote (options.words[0]) ? make_copy_folder () : NULL;
  copy = folder != NULL ? g_build_filename (folder, FOLDER_COPY, NULL) : NULL;
  code = resume (&options, copy);
  place_bring_end (); /* no thread while the process ends */
  if (copy != NULL)
    place_forget_copy (copy);
  temporary_remove (g_steal_pointer (&folder));
  tasks_end (tasks);
  return code;
}
