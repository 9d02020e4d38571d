/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin replay`: runs one job of a checkpoint again, alone. This process becomes the program,
 * which does the rest (node/run-replay.h). One thread. Tests: replay.sh. */
#include "command-replay.h"
#include "arguments.h"
#include "command.h"
#include "recorded.h"

#include "coordinator/mark.h"

#include "node/run-replay.h"

#include "storage/places/place.h"
#include "storage/results.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static gboolean
add_stem (const char *id, const char *path, gpointer data, GError **error)
{
  (void)error;
  (void)stems_add (data, id, path);
  return TRUE;
}

gboolean
command_replay_stems (Sql *file, Stems *stems, GError **error)
{
  guint64 bad = 0;

  return results_each_stem (file, add_stem, stems, &bad, error);
}

char *
command_replay_numbers (Stems *stems, const char *path)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 root;

  if (!path_read (stems, path, &root, numbers))
    return NULL;
  g_autofree char *start = path_of_root (root);
  GString *line = g_string_new (start);
  for (guint i = 0; i < numbers->len; i++)
    g_string_append_printf (line, "/%u", g_array_index (numbers, guint32, i));
  if (line->len == 0)
    g_string_append_c (line, '/');
  return g_string_free (line, FALSE);
}

/* The path in numbers only. (transfer full) NULL: a message was printed; *code is the exit code. */
static char *
read_path (const char *text, const char *target, int *code)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (Sql) file = text[0] == '~' ? restore_open (target, &error) : NULL;

  if (file != NULL)
    (void)command_replay_stems (file, stems, &error);
  if (error != NULL)
    {
      command_say ("%s", error->message);
      *code = error->domain == COORDINATOR_ERROR ? error->code : COMMAND_UNUSABLE;
      return NULL;
    }
  char *numbers = command_replay_numbers (stems, text);
  if (numbers != NULL)
    return numbers;
  *code = text[0] == '~' && path_is_canonical (text)
              ? command_usage ("replay ",
                               "the checkpoint does not know the stem of '%s': write the path in "
                               "numbers only, from the root",
                               text)
              : command_usage ("replay ", "'%s' is not a path of a job, like / or /0/3/1", text);
  return NULL;
}

/* FALSE, after a message: there is probably no job at `path`. To search for a mistyped path would
 * compute the whole rest of the tree. */
static gboolean
is_likely (const char *target, const char *path)
{
  g_autoptr (Sql) file = place_is_remote (target) ? NULL : restore_open (target, NULL);
  g_autofree char *why = file != NULL ? command_replay_unlikely (file, path) : NULL;

  if (why != NULL)
    command_say ("nothing in the checkpoint tells of a job at '%s': %s; --anyway computes what "
                 "is missing above it, and looks",
                 path, why);
  return why == NULL;
}

/* The command line that would also name the program. (transfer full) */
static char **
line_with_program (char *const *typed)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new ();

  for (guint i = 0; typed[i] != NULL && strcmp (typed[i], "--") != 0; i++)
    g_ptr_array_add (words, g_strdup (typed[i]));
  if (!g_strv_contains ((const char *const *)typed, "--whole"))
    g_ptr_array_add (words, g_strdup ("--whole"));
  g_ptr_array_add (words, NULL);
  return (char **)g_ptr_array_free (g_steal_pointer (&words), FALSE);
}

char **
command_replay_environment (const Arguments *wish, const char *target, const char *path)
{
  char **all = g_get_environ ();

  all = g_environ_setenv (all, RUN_REPLAY_ENV, path, TRUE);
  all = g_environ_setenv (all, RUN_REPLAY_ENV_CHECKPOINT, target, TRUE);
  if (wish->own.mended)
    all = g_environ_setenv (all, RUN_REPLAY_ENV_MENDED, "1", TRUE);
  return wish->own.trust ? g_environ_setenv (all, RUN_REPLAY_ENV_TRUST, "1", TRUE) : all;
}

/* The command line that runs the program, with `behind` (nullable) before it, such as gdb.
 * (transfer full) NULL: a message was printed. */
static char **
line_to_run (const FolderRun *run, char *const *behind)
{
  gboolean has_first = behind != NULL && behind[0] != NULL;
  char *first = has_first ? arguments_program (behind[0]) : NULL;

  if (has_first && first == NULL)
    return NULL;
  GPtrArray *line = g_ptr_array_new ();
  if (has_first)
    g_ptr_array_add (line, first);
  for (guint i = 1; has_first && behind[i] != NULL; i++)
    g_ptr_array_add (line, g_strdup (behind[i]));
  g_ptr_array_add (line, g_strdup (run->program));
  for (guint i = 0; run->argv[i] != NULL; i++)
    g_ptr_array_add (line, g_strdup (run->argv[i]));
  g_ptr_array_add (line, NULL);
  return (char **)g_ptr_array_free (line, FALSE);
}

/* Becomes the program. Returns only on failure, after a message. */
static int
become_program (const FolderRun *run, char **line, char **words)
{
  if (chdir (run->folder) != 0)
    {
      command_say ("cannot go to '%s': %s", run->folder, g_strerror (errno));
      return COMMAND_ERROR;
    }
  signal (SIGPIPE, SIG_DFL); /* GLib ignores it */
  execve (line[0], line, words);
  command_say ("cannot run '%s': %s", line[0], g_strerror (errno));
  return COMMAND_ERROR;
}

static int
replay (const Arguments *wish, char *const *typed)
{
  g_auto (FolderRun) run = { 0 };
  g_auto (Restore) restore = { 0 };
  g_auto (GStrv) to_type = line_with_program (typed);
  g_autofree char *target = arguments_target (wish->words[0], wish->own.insecure);
  g_autofree char *path = NULL;
  gboolean is_marked;
  int code = target == NULL ? COMMAND_STORE : recorded_look (target, NULL, &restore);

  if (code == COMMAND_DONE && wish->verify == 0)
    path = read_path (wish->words[1], target, &code);
  if (code == COMMAND_DONE && path != NULL && !wish->anyway && !is_likely (target, path))
    code = COMMAND_USAGE;
  if (code == COMMAND_DONE)
    code = recorded_command (&run, wish->whole ? wish->program : NULL, &restore, target, to_type,
                             &is_marked);
  if (code == COMMAND_DONE)
    code = recorded_proof (&restore, target);
  if (code != COMMAND_DONE)
    return code;
  run.folder = recorded_folder (&restore.identity, is_marked);
  g_auto (GStrv) line = line_to_run (&run, wish->whole ? NULL : wish->program);
  if (line == NULL)
    return COMMAND_ERROR;
  if (path == NULL)
    return command_replay_verify (wish, &run, line, target);
  g_auto (GStrv) words = command_replay_environment (wish, target, path);
  return become_program (&run, line, words);
}

int
command_replay (int argc, char **argv)
{
  static const ArgumentsVerb verb = {
    "replay", "URI PATH | URI --verify SHARE [-- WORD…]",
    "Runs the job at PATH of the checkpoint at URI again, alone, in this terminal, and says\n"
    "whether its result is the saved one. The checkpoint stays as it is, and its run may go on.\n"
    "WORDs stand before the program, such as gdb --args, valgrind or perf record. Exit codes:\n"
    "0 the same or nothing is saved, 1 not the same, 2 no such job, 6 the job failed.",
    ARGUMENTS_BEHIND
  };
  g_auto (Arguments) wish = { 0 };

  if (!arguments_read (&wish, &verb, argc, argv))
    return COMMAND_USAGE;
  if (wish.verify > 0 && g_strv_length (wish.words) != 1)
    return command_usage ("replay ", "--verify needs a checkpoint and no PATH");
  if (wish.verify == 0 && g_strv_length (wish.words) != 2)
    return command_usage ("replay ", "a checkpoint and a path are needed: `satin replay URI PATH`");
  if (wish.whole && (wish.program == NULL || wish.program[0] == NULL))
    return command_usage ("replay ", "--whole needs the program and its arguments behind `--`");
  mark_prove_files (wish.own.trust);
  return replay (&wish, argv);
}
