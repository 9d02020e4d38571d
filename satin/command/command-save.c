/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin save`: has a run publish its checkpoint now, and waits for that. Blocking, one thread. */
#include "ask.h"
#include "command.h"
#include "json.h"

#include <string.h>

#define POLL_US (50 * 1000)
/* Publishing itself may take long where the place is slow. */
#define WAIT_LIMIT_S 120.0
#define WITHIN_DEFAULT_S 10.0

/* What a node says of the rounds of saving that it has seen end. */
typedef struct
{
  double rounds, generation;
  gboolean failed;
} Saved;

/* FALSE: said on stderr. */
static gboolean
ask_saved (const AskRun *ask, const char *request, Saved *saved)
{
  g_autofree char *reply = ask_node (ask, request, "cannot save");
  g_autoptr (GVariant) object = reply == NULL ? NULL : json_read (reply);
  const char *error;

  if (reply == NULL)
    return FALSE;
  if (object == NULL || !g_variant_is_of_type (object, G_VARIANT_TYPE_VARDICT))
    {
      command_say ("cannot save '%s': its node gave an answer that is none", ask->run.name);
      return FALSE;
    }
  if (g_variant_lookup (object, "error", "&s", &error))
    {
      command_say ("cannot save '%s': %s", ask->run.name, error);
      return FALSE;
    }
  *saved = (Saved){ 0 };
  g_variant_lookup (object, "rounds", "d", &saved->rounds);
  g_variant_lookup (object, "generation", "d", &saved->generation);
  g_variant_lookup (object, "failed", "b", &saved->failed);
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
  command_say ("run '%s' is saved in %s (generation %.0f)", ask->run.name, quoted,
               saved->generation);
  return COMMAND_DONE;
}

static int
wait_for_round (const AskRun *ask, double within_s, double rounds)
{
  double limit_s = WAIT_LIMIT_S + (within_s < 0 ? WITHIN_DEFAULT_S : within_s);
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

int
command_save (int argc, char **argv)
{
  g_autofree char *within = NULL, *name = NULL, *request = NULL;
  const GOptionEntry entries[] = { { "within", 0, 0, G_OPTION_ARG_STRING, &within,
                                     "Wait so many seconds at most for jobs that run (10)", "S" },
                                   { NULL, 0, 0, 0, NULL, NULL, NULL } };
  g_autoptr (GOptionContext) context = g_option_context_new ("RUN");
  g_auto (AskRun) ask = { 0 };
  double within_s;
  Saved before;
  int code;

  g_option_context_set_summary (context,
                                "Has RUN publish its checkpoint now, and returns when all\n"
                                "that was finished is in it. The run goes on.");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!command_parse_one (context, "save", argc, argv, &name))
    return COMMAND_USAGE;
  if (name == NULL)
    return command_usage ("save ", "say one run: `satin save RUN`");
  if (!ask_read_within ("save ", within, &within_s))
    return COMMAND_USAGE;
  if (!ask_find (name, &ask) || !ask_stay (&ask))
    return COMMAND_ERROR;
  request = ask_request ("save", within_s);
  code = ask_saved (&ask, request, &before) ? wait_for_round (&ask, within_s, before.rounds)
                                            : COMMAND_ERROR;
  ask_leave (&ask);
  return code;
}
