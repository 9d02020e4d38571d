/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin save`: makes a run publish its checkpoint now, and waits for that. Blocking, one thread.
 * Tests: control.sh, later.sh. */
#include "arguments.h"
#include "ask.h"
#include "command.h"

#include "coordinator/restore.h"

#include "folder/control.h"
#include "folder/folder-run.h"

#include "text/fields.h"

#include <string.h>

#define POLL_US (50 * 1000)
/* Publishing may take long at a slow place. */
#define WAIT_LIMIT_S 120.0

/* What a node reports of the rounds of saving that have ended. */
typedef struct
{
  double rounds, generation;
  gboolean failed;
  char missing[256]; /* nodes that did not save in time; empty: none */
} Saved;

/* Sends `request` and reads the reply into *saved (out). FALSE: a message was printed. */
static gboolean
ask_saved (const AskRun *ask, const char *request, Saved *saved)
{
  g_autofree char *reply = ask_node (ask, request, "cannot save");
  g_autoptr (GVariant) object = fields_read (reply);
  const char *error;

  if (reply == NULL)
    return FALSE;
  if (object == NULL)
    {
      command_say ("cannot save '%s': a node sent an invalid reply", ask->run.name);
      return FALSE;
    }
  if (g_variant_lookup (object, "error", "&s", &error))
    {
      command_say ("cannot save '%s': %s", ask->run.name, error);
      return FALSE;
    }
  *saved = (Saved){ .rounds = (double)fields_count (object, "rounds"),
                    .generation = (double)fields_count (object, "generation"),
                    .failed = fields_flag (object, "failed") };
  g_strlcpy (saved->missing, fields_text (object, "missing"), sizeof saved->missing);
  return TRUE;
}

static int
tell (const AskRun *ask, const Saved *saved)
{
  g_autofree char *quoted = command_quote (ask->run.checkpoint);

  if (saved->failed)
    {
      command_say ("run '%s' could not publish %s: its log tells why", ask->run.name, quoted);
      return COMMAND_STORE;
    }
  command_say ("run '%s' is saved in %s (generation %.0f)%s%s", ask->run.name, quoted,
               saved->generation,
               saved->missing[0] == '\0' ? ""
                                         : ", without all that was finished at nodes whose jobs "
                                           "did not poll in time: ",
               saved->missing);
  return COMMAND_DONE;
}

static int
wait_for_round (const AskRun *ask, double within_s, double rounds)
{
  double limit_s = WAIT_LIMIT_S + (within_s < 0 ? ARGUMENTS_SAVE_WITHIN_S : within_s);
  gint64 until_us = g_get_monotonic_time () + (gint64)(limit_s * G_USEC_PER_SEC);

  while (g_get_monotonic_time () < until_us)
    {
      Saved now;
      int code;

      if (folder_has_ended (ask->path, &code, NULL))
        {
          command_say ("run '%s' has ended (exit code %d), which saves everything", ask->run.name,
                       code);
          return COMMAND_DONE;
        }
      if (!ask_saved (ask, "saved", &now))
        return COMMAND_ERROR;
      if (now.rounds > rounds)
        return tell (ask, &now);
      g_usleep (POLL_US);
    }
  command_say ("run '%s' was asked to save but has not published yet", ask->run.name);
  return COMMAND_ERROR;
}

/* Checks that no checkpoint is at the new place: it would be of another run, or of an earlier life
 * of this one. Returns an exit code, after a message unless it is 0. */
static int
check_place (const char *target)
{
  g_autoptr (GError) error = NULL;
  Restore restore;
  gboolean exists;

  if (!arguments_target_is_writable (target))
    return COMMAND_STORE;
  if (!restore_look (target, &restore, &error))
    return command_say ("%s", error->message), error->code;
  exists = restore.exists;
  restore_clear (&restore);
  if (exists)
    command_say ("there is a checkpoint at '%s' already: name a new file", target);
  return exists ? COMMAND_STORE : COMMAND_DONE;
}

/* Makes the nodes keep a checkpoint at `target`, and records it, so that the run is like one that
 * was started with it. Returns an exit code. */
static int
give (AskRun *ask, const char *target)
{
  g_autofree char *escaped = g_strescape (target, NULL);
  g_autofree char *request = g_strconcat (CONTROL_CHECKPOINT, escaped, NULL);
  g_autoptr (GError) error = NULL;
  Saved none;

  if (!ask_saved (ask, request, &none))
    return COMMAND_ERROR;
  g_free (ask->run.checkpoint);
  ask->run.checkpoint = g_strdup (target);
  if (folder_run_write (&ask->run, ask->path, &error))
    return COMMAND_DONE;
  return command_say ("%s", error->message), COMMAND_ERROR;
}

/* Gives the run a checkpoint at `to`, the value of --to. Returns 0 if the run has it, else an exit
 * code after a message. */
static int
give_checkpoint (AskRun *ask, const char *to, gboolean insecure)
{
  g_autofree char *target = arguments_target (to, insecure);
  int code;

  if (target == NULL)
    return COMMAND_STORE;
  if (g_strcmp0 (target, ask->run.checkpoint) == 0)
    return COMMAND_DONE;
  if (ask->run.checkpoint != NULL)
    return command_say ("run '%s' keeps its checkpoint at '%s': leave out --to", ask->run.name,
                        ask->run.checkpoint),
           COMMAND_ERROR;
  code = check_place (target);
  return code == COMMAND_DONE ? give (ask, target) : code;
}

int
command_save (int argc, char **argv)
{
  static const ArgumentsVerb verb = { "save", "RUN",
                                      "Has RUN publish its checkpoint now, and returns when all\n"
                                      "that was finished is in it. The run goes on.",
                                      ARGUMENTS_WORDS };
  g_auto (Arguments) said = { 0 };
  g_autofree char *request = NULL;
  g_auto (AskRun) ask = { 0 };
  Saved before;
  int code;

  if (!arguments_read_run (&said, &verb, argc, argv))
    return COMMAND_USAGE;
  if (!ask_find (said.words[0], &ask) || !ask_stay (&ask))
    return COMMAND_ERROR;
  request = ask_request ("save", said.within_s);
  code = said.to != NULL ? give_checkpoint (&ask, said.to, said.own.insecure) : COMMAND_DONE;
  if (code == COMMAND_DONE)
    code = ask_saved (&ask, request, &before) ? wait_for_round (&ask, said.within_s, before.rounds)
                                              : COMMAND_ERROR;
  ask_leave (&ask);
  return code;
}
