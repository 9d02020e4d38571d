/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin wait`: waits until a run ends, and returns its exit code. The answer is shown once: by the
 * launcher if it lives, else here. Blocking, one thread. Tests: control.sh, ended.sh. */
#include "arguments.h"
#include "ask.h"
#include "command.h"

#include "launch/launch-words.h"
#include "launch/trouble.h"

#include <string.h>
#include <unistd.h>

#define LOOK_US (10 * 1000)
/* How long the launcher may take to see the end. */
#define LAUNCHER_LIMIT_US (5 * G_USEC_PER_SEC)

/* Shows the answer, unless another process does: several may wait, and the launcher may be about to
 * show it, or to die. The first process to claim it shows it. A program alone shows its own answer.
 * Returns the exit code. */
static int
show_once (const AskRun *ask, int code, const char *sentence)
{
  g_autofree char *shown = g_build_filename (ask->path, FOLDER_FILE_SHOWN, NULL);
  gint64 until_us = g_get_monotonic_time () + LAUNCHER_LIMIT_US;

  if (ask->run.nodes == 0)
    return code;
  while (folder_pid_is_live (ask->path, ask->run.launcher_pid) && g_get_monotonic_time () < until_us
         && !g_file_test (shown, G_FILE_TEST_EXISTS))
    g_usleep (LOOK_US);
  if (folder_pid_is_live (ask->path, ask->run.launcher_pid)
      || !folder_claim (ask->path, FOLDER_FILE_SHOWN))
    return code;
  (void)folder_show (ask->path, FOLDER_FILE_ANSWER_ERR, STDERR_FILENO);
  if (code == COMMAND_STORE)
    {
      g_autoptr (Trouble) trouble = trouble_new (ask->path);

      trouble_show (trouble);
      sentence = trouble_has_said (trouble, sentence) ? NULL : sentence;
    }
  if (sentence != NULL)
    command_say ("%s", sentence);
  return launch_words_answer (ask->path, code);
}

/* Prints why there is no exit code. `code`: of ask_wait, below 0. */
static void
say_no_end (const AskRun *ask, int code, const char *sentence)
{
  const FolderRun *run = &ask->run;
  g_autofree char *quoted = run->checkpoint != NULL ? command_quote (run->checkpoint) : NULL;

  if (code == -4)
    command_say ("the answer stays on another host, for a minute: %s; make room, then `satin wait "
                 "%s` brings it",
                 sentence, run->name);
  else
    command_say (code == -2 ? "all nodes of '%s' are gone, and none has recorded here that the run "
                              "had ended%s%s%s"
                            : "run '%s' is gone, and how it ended is not known%s%s%s",
                 run->name, quoted != NULL ? ": `satin resume " : "", quoted != NULL ? quoted : "",
                 quoted != NULL ? "` goes on, or shows the answer" : "");
}

/* TRUE: the run has ended with *code, and its folder is gone or being removed. Its messages were
 * printed. */
static gboolean
is_recorded (const char *word, int *code)
{
  g_autofree char *path = ask_ended (word);

  return path != NULL && folder_has_ended (path, code, NULL);
}

/* Finds the run and keeps its folder. FALSE: there is nothing to wait for; *code is the exit
 * code of the run, or of an error after a message. (Other waiting processes may be removing the
 * folder.) */
static gboolean
begin (const char *name, AskRun *ask, int *code)
{
  g_autoptr (GError) error = NULL;

  if (ask_look (name, ask, &error) && folder_stay (ask->path, &error))
    return TRUE;
  if (!is_recorded (name, code))
    {
      command_say ("%s", error->message);
      *code = COMMAND_ERROR;
    }
  return FALSE;
}

int
command_wait (int argc, char **argv)
{
  static const ArgumentsVerb verb
      = { "wait", "RUN",
          "Waits until RUN has ended. The exit code is that of the run, also\n"
          "of one that has ended in the last seven days; the answer is\n"
          "printed when no launcher is left to print it.",
          ARGUMENTS_WORDS };
  g_auto (Arguments) said = { 0 };
  g_autofree char *sentence = NULL;
  g_auto (AskRun) ask = { 0 };
  int code;

  if (!arguments_read_run (&said, &verb, argc, argv))
    return COMMAND_USAGE;
  if (!begin (said.words[0], &ask, &code))
    return code;
  code = ask_wait (&ask, 0, &sentence);
  if (code >= 0)
    code = show_once (&ask, code, sentence);
  else if ((code == -2 || code == -3) && is_recorded (ask.run.name, &code))
    return code;
  else
    {
      say_no_end (&ask, code, sentence);
      code = COMMAND_ERROR;
    }
  ask_leave (&ask);
  return code;
}
