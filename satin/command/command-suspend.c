/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin suspend` and `satin cancel`: two ways to end a run from outside. Blocking, one thread.
 * Tests: control.sh, suspend.sh. */
#include "arguments.h"
#include "ask.h"
#include "command.h"

/* The nodes stop waiting for each other long before. */
#define WAIT_LIMIT_US (120 * G_USEC_PER_SEC)

typedef struct
{
  const char *verb, *summary, *what,
      *done; /* `what`: begins error messages; `done`: the state of the run then */
  int code;  /* exit code of a run that ended this way */
} Way;

/* `when`: "", or ", before it could be ..." */
static void
say_suspended (const FolderRun *run, const char *when)
{
  g_autofree char *quoted = run->checkpoint == NULL ? NULL : command_quote (run->checkpoint);

  if (quoted == NULL)
    command_say ("run '%s' is stopped%s; without a checkpoint nothing is kept", run->name, when);
  else
    command_say ("run '%s' is suspended%s: `satin resume %s` goes on", run->name, when, quoted);
}

static void
say_cancelled (const FolderRun *run, const char *when)
{
  g_autofree char *quoted = run->checkpoint == NULL ? NULL : command_quote (run->checkpoint);

  if (quoted == NULL)
    command_say ("run '%s' is cancelled%s", run->name, when);
  else
    command_say ("run '%s' is cancelled%s; what was saved is kept in %s", run->name, when, quoted);
}

/* The run has ended in another way than it was asked to. Returns its exit code. */
static int
tell_overtaken (const Way *way, const FolderRun *run, int code)
{
  g_autofree char *when = g_strdup_printf (", before it could be %s", way->done);

  if (code == COMMAND_SUSPENDED)
    say_suspended (run, when);
  else if (code == COMMAND_CANCELLED)
    say_cancelled (run, when);
  else
    command_say ("run '%s' has ended (exit code %d)%s", run->name, code, when);
  return code;
}

/* Prints the result of ask_wait, `code`. `sentence` (nullable): the message that the run left.
 * Returns the exit code. */
static int
tell (const Way *way, const FolderRun *run, int code, const char *sentence)
{
  if (code == -1)
    {
      command_say ("run '%s' was asked to stop but has not ended yet", run->name);
      return COMMAND_ERROR;
    }
  if (code == -4)
    {
      command_say ("run '%s' has ended on another host: %s", run->name, sentence);
      return COMMAND_ERROR;
    }
  if (code < 0)
    {
      command_say ("run '%s' is gone, and how it ended is not known", run->name);
      return COMMAND_ERROR;
    }
  if (code == COMMAND_STORE && sentence != NULL)
    { /* the sentence tells where the data is that could not be published */
      command_say ("run '%s' has ended: %s", run->name, sentence);
      return code;
    }
  if (code == COMMAND_SUSPENDED && code == way->code && sentence != NULL)
    {
      command_say ("run '%s' is suspended: %s", run->name, sentence);
      return COMMAND_DONE;
    }
  if (code != way->code)
    return tell_overtaken (way, run, code);
  if (code == COMMAND_SUSPENDED)
    say_suspended (run, "");
  else
    say_cancelled (run, "");
  return COMMAND_DONE;
}

/* FALSE, after a message: the run has no checkpoint, so its work would be lost. */
static gboolean
can_be_suspended (const Way *way, const AskRun *ask)
{
  g_autofree char *quoted = command_quote (ask->run.name);

  if (way->code != COMMAND_SUSPENDED || ask->run.checkpoint != NULL || !folder_is_live (ask->path))
    return TRUE;
  command_say ("run '%s' has no checkpoint, so nothing of it would be kept: `satin save %s --to "
               "URI` gives it one, `satin cancel %s` ends it",
               ask->run.name, quoted, quoted);
  return FALSE;
}

static int
end_run (const Way *way, int argc, char **argv)
{
  const ArgumentsVerb verb = { way->verb, "RUN", way->summary, ARGUMENTS_WORDS };
  g_auto (Arguments) said = { 0 };
  g_autofree char *request = NULL, *reply = NULL, *sentence = NULL;
  g_auto (AskRun) ask = { 0 };
  int code;

  if (!arguments_read_run (&said, &verb, argc, argv))
    return COMMAND_USAGE;
  if (!ask_find (said.words[0], &ask) || !can_be_suspended (way, &ask) || !ask_stay (&ask))
    return COMMAND_ERROR;
  if (way->code != COMMAND_SUSPENDED || !ask_launcher (&ask))
    {
      request = ask_request (way->verb, said.within_s);
      reply = ask_node (&ask, request, way->what);
      if (reply == NULL)
        {
          ask_leave (&ask);
          return COMMAND_ERROR;
        }
    }
  code = ask_wait (&ask, WAIT_LIMIT_US + (gint64)(MAX (said.within_s, 0) * G_USEC_PER_SEC),
                   &sentence);
  ask_leave (&ask);
  return tell (way, &ask.run, code, sentence);
}

int
command_suspend (int argc, char **argv)
{
  static const Way way
      = { .verb = "suspend",
          .summary = "Saves everything that is finished and stops RUN, whose exit code\n"
                     "becomes 75. Jobs that run longer than the waiting time are given up;\n"
                     "what is finished in them is kept. A run without a checkpoint is left\n"
                     "alone. `satin status` lists the runs.",
          .what = "cannot suspend",
          .done = "suspended",
          .code = COMMAND_SUSPENDED };

  return end_run (&way, argc, argv);
}

int
command_cancel (int argc, char **argv)
{
  static const Way way
      = { .verb = "cancel",
          .summary = "Ends RUN at once and without an answer; its exit code becomes 7. Its\n"
                     "checkpoint stays as it was last published.",
          .what = "cannot cancel",
          .done = "cancelled",
          .code = COMMAND_CANCELLED };

  return end_run (&way, argc, argv);
}
