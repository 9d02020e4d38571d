/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin resume`: from a checkpoint to a run. Program, arguments, working directory and launch
 * options are the recorded ones unless said otherwise. One thread. Tests: total.sh, suspend.sh. */
#include "arguments.h"
#include "command.h"
#include "launch.h"
#include "spread.h"
#include "tasks.h"

#include "coordinator/proof.h"
#include "coordinator/restore.h"

#include "net/checkpoint.h"
#include "net/folder.h"
#include "net/mark.h"
#include "net/options.h"
#include "net/step.h"

#include "storage/place.h"
#include "storage/temporary.h"
#include "storage/whole.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const about[] = {
  "resume", "URI [-- PROGRAM [ARG…]]",
  "Goes on with the run whose checkpoint stands at URI, on any number of nodes. The checkpoint\n"
  "says what is started only if it bears your mark; else say it behind --. Without ARG there,\n"
  "the recorded arguments of a marked checkpoint are taken."
};

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Restore, restore_clear)

/* A finished checkpoint gives its answer again; nothing is started for that. */
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

/* The one that a marked checkpoint remembers; another host may not have it. (transfer full) */
static char *
working_folder (const Identity *identity, gboolean is_marked)
{
  char *here = g_get_current_dir ();

  if (identity->folder == NULL || !is_marked)
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

/* The command line of this process up to `--`, and behind it the program. (transfer full) */
static char *
line_to_type (char *const *typed, const char *program, char *const *words, gboolean needs_trust)
{
  g_autoptr (GString) line = g_string_new ("satin");

  if (needs_trust)
    g_string_append_printf (line, " %s --trust", *typed++);
  for (guint i = 0; typed[i] != NULL && strcmp (typed[i], "--") != 0; i++)
    {
      g_autofree char *quoted = command_quote (typed[i]);
      g_string_append_printf (line, " %s", quoted);
    }
  g_autofree char *start = command_quote (program != NULL ? program : "PROGRAM");
  g_string_append_printf (line, " -- %s%s", program != NULL ? start : "PROGRAM",
                          words == NULL ? " [ARG…]" : "");
  for (guint i = 0; words != NULL && words[i] != NULL; i++)
    {
      g_autofree char *quoted = command_quote (words[i]);
      g_string_append_printf (line, " %s", quoted);
    }
  return g_string_free (g_steal_pointer (&line), FALSE);
}

/* Words that the program is to get as they are: a `--` keeps those that look like options of
 * Satin's from being taken for such. (transfer full) */
static char **
guard_words (char *const *words)
{
  g_auto (GStrv) own = options_own_words (words);
  g_autoptr (GPtrArray) guarded = g_ptr_array_new ();

  if (own == NULL || !g_strv_equal ((const char *const *)own, (const char *const *)words))
    g_ptr_array_add (guarded, g_strdup ("--"));
  for (guint i = 0; words[i] != NULL; i++)
    g_ptr_array_add (guarded, g_strdup (words[i]));
  g_ptr_array_add (guarded, NULL);
  return (char **)g_ptr_array_free (g_steal_pointer (&guarded), FALSE);
}

/* Nothing is started that a file alone says: anybody may have written it. 0: run->program and
 * run->argv are filled. */
static int
choose_command (FolderRun *run, const Arguments *options, const Restore *restore,
                const char *target, char *const *typed, gboolean *is_marked)
{
  const Identity *found = &restore->identity;
  gboolean needs_trust = found->argv != NULL && !proof_allows (restore->origin, target, NULL);
  char **said = options->program;
  g_autofree char *reason = NULL, *line = NULL;
  g_auto (GStrv) recorded = found->argv != NULL ? guard_words (found->argv) : NULL;
  const char *program = said != NULL ? said[0] : found->program;

  *is_marked = mark_is_right (found, &reason);
  if (said != NULL && said[1] != NULL)
    run->argv = g_strdupv (said + 1);
  else if (recorded != NULL && (*is_marked || (said != NULL && recorded[0] == NULL)))
    run->argv = g_steal_pointer (&recorded);
  if (run->argv != NULL && program != NULL)
    {
      run->program = arguments_program (program);
      return run->program != NULL ? COMMAND_DONE : COMMAND_ERROR;
    }
  line = line_to_type (typed, program, recorded, needs_trust);
  if (program == NULL || recorded == NULL)
    command_say ("checkpoint '%s' has lost which program it is of, or its arguments; say them: %s",
                 target, line);
  else
    {
      g_autofree char *folder = command_quote (found->folder != NULL ? found->folder : "?");
      command_say ("checkpoint '%s' names a program that is not started, since %s; it was started "
                   "in the folder %s; to start it here%s, say: %s",
                   target, reason, folder, needs_trust ? " and believe its results" : "", line);
    }
  return COMMAND_UNUSABLE;
}

/* What the checkpoint recorded, then what this command line says. */
static void
fill_run (FolderRun *run, const Arguments *options, const Restore *restore, gboolean is_marked)
{
  const Identity *identity = &restore->identity;

  folder_options_read (identity->options == NULL ? "" : identity->options, run);
  run->folder = working_folder (identity, is_marked);
  run->resume = TRUE;
  run->closed = options->closed;
  run->protect = options->protect;
  run->mended = options->mended;
  run->trust = options->trust;
  if (options->steal >= 0)
    run->steal = options->steal;
  if (options->name != NULL)
    run->name = g_strdup (options->name);
  else if (identity->name != NULL && folder_name_is_valid (identity->name))
    run->name = g_strdup (identity->name);
  if (options->interval_s > 0)
    {
      run->interval_s = options->interval_s;
      run->keep_s = options->keep_s;
    }
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

static gboolean
is_same_place (const char *a, const char *b)
{
  struct stat of_a, of_b;

  return strcmp (a, b) == 0
         || (!place_is_remote (a) && !place_is_remote (b) && stat (a, &of_a) == 0
             && stat (b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino);
}

/* The run goes on with a copy at another place; the file that it goes on from stays as it is, and
 * may be read-only. 0: fine, and *target is the new place; *moved: it is another one. */
static int
move_on (char **target, const Arguments *options, const Restore *restore, gboolean *moved)
{
  g_autofree char *place = arguments_target (options->checkpoint, options->insecure);
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

static int
resume (const Arguments *options, const char *copy, char *const *typed)
{
  g_auto (FolderRun) run = { 0 };
  g_autoptr (GPtrArray) sites = NULL;
  g_auto (Restore) restore = { 0 };
  g_autofree char *target = NULL, *text = NULL;
  g_autoptr (GError) error = NULL;
  gboolean moved = FALSE;
  gboolean is_marked;
  LaunchWish wish;
  int code;

  target = arguments_target (options->words[0], options->insecure);
  code = target == NULL ? COMMAND_STORE : look (target, copy, &restore);
  if (code != COMMAND_DONE)
    return code;
  if (restore.finished && options->program == NULL)
    return repeat_answer (&restore, target);
  code = choose_command (&run, options, &restore, target, typed, &is_marked);
  if (code != COMMAND_DONE)
    return code;
  /* Without its arguments nothing can be proved here: the nodes know them. */
  if (restore.identity.argv != NULL && !proof_allows (restore.origin, target, &error))
    {
      command_say ("%s", error->message);
      return COMMAND_UNUSABLE;
    }
  if (!arguments_files_are_writable (options))
    return COMMAND_ERROR;
  fill_run (&run, options, &restore, is_marked);
  code = spread_read (&run, options->sites, options->workers, &sites, &text);
  if (code == COMMAND_DONE && options->checkpoint != NULL)
    code = move_on (&target, options, &restore, &moved);
  if (code != COMMAND_DONE)
    return code;
  if (!arguments_target_is_writable (target))
    return COMMAND_STORE;
  run.checkpoint = g_strdup (target);
  wish = (LaunchWish){ .copy = moved ? NULL : copy,
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
    return command_usage (
        "resume ", "one checkpoint is needed: `satin resume URI [OPTION…] [-- PROGRAM [ARG…]]`");
  if (options.dry)
    return command_usage ("resume ", "--dry-run is for run");
  if (options.anew)
    return command_usage ("resume ", "--new conflicts with resume: it begins a new run");
  if (options.program != NULL && options.program[0] == NULL)
    return command_usage ("resume ", "missing program behind `--`");
  if (step_has_tasks () && options.sites == NULL)
    {
      if (options.nodes > 0)
        return command_usage ("resume ", "each task of srun or mpirun is a node: leave out -n");
      code = tasks_begin (options.workers, NULL, NULL, &options.sites);
      if (code >= 0)
        return code;
      tasks = options.sites;
    }
  mark_prove_files (options.trust);
  folder = place_is_remote (options.words[0]) ? make_copy_folder () : NULL;
  copy = folder != NULL ? g_build_filename (folder, FOLDER_COPY, NULL) : NULL;
  code = resume (&options, copy, argv);
  place_bring_end (); /* no thread while the process ends */
  if (copy != NULL)
    place_forget_copy (copy);
  temporary_remove (g_steal_pointer (&folder));
  tasks_end (tasks);
  return code;
}
