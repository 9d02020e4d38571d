/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin suspend`: asks a node of a run to save everything finished and stop the run, and waits for
 * it. One thread; works without the launcher, which may be gone. */
#include "command.h"

#include "net/control.h"
#include "net/folder.h"

#include <errno.h>
#include <string.h>

#define LOOK_US (10 * 1000)
/* The nodes themselves give up waiting for each other long before. */
#define WAIT_LIMIT_US (120 * G_USEC_PER_SEC)
/* A run that has just been started may not listen yet. */
#define ASK_LIMIT_US (5 * G_USEC_PER_SEC)
#define ASK_AGAIN_US (200 * 1000)

static gboolean
ask (const char *path, GError **error)
{
  gint64 until_us = g_get_monotonic_time () + ASK_LIMIT_US;

  for (;;)
    {
      g_autoptr (GError) cause = NULL;
      g_autofree char *reply = control_ask (path, "suspend", &cause);

      if (reply != NULL)
        return TRUE;
      if (!folder_is_live (path) || g_get_monotonic_time () > until_us)
        {
          g_propagate_error (error, g_steal_pointer (&cause));
          return FALSE;
        }
      g_usleep (ASK_AGAIN_US);
    }
}

/* -1: it has not ended in time. A folder that is gone was removed by the launcher of a run that
 * ended well; then what `end` said is not known and COMMAND_SUSPENDED is as good a guess as any. */
static int
wait_for_end (const char *path)
{
  gint64 until_us = g_get_monotonic_time () + WAIT_LIMIT_US;

  while (g_get_monotonic_time () < until_us)
    {
      g_autofree char *sentence = NULL;
      int code;

      if (folder_has_ended (path, &code, &sentence))
        return code;
      if (!g_file_test (path, G_FILE_TEST_IS_DIR))
        return COMMAND_SUSPENDED;
      g_usleep (LOOK_US);
    }
  return -1;
}

/* Nobody else cleans up after a launcher that is gone. */
static void
clean_up (const char *path, const FolderRun *run)
{
  gint64 until_us = g_get_monotonic_time () + ASK_LIMIT_US;

  if (folder_pid_is_live (run->launcher_pid))
    return;
  while (folder_is_live (path) && g_get_monotonic_time () < until_us)
    g_usleep (LOOK_US);
  if (!folder_is_live (path))
    folder_remove (path, NULL);
}

static int
tell (const FolderRun *run, int code)
{
  if (code < 0)
    {
      command_say ("run '%s' was asked to stop but has not ended yet", run->name);
      return COMMAND_ERROR;
    }
  if (code != COMMAND_SUSPENDED)
    command_say ("run '%s' had ended before (exit code %d)", run->name, code);
  else if (run->checkpoint == NULL)
    command_say ("run '%s' is stopped; without a checkpoint nothing is kept", run->name);
  else
    {
      g_autofree char *quoted = command_quote (run->checkpoint);

      command_say ("run '%s' is suspended: `satin resume %s` goes on", run->name, quoted);
    }
  return COMMAND_DONE;
}

int
command_suspend (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("RUN");
  g_autoptr (GError) error = NULL;
  g_auto (FolderRun) run = { 0 };
  g_autofree char *path = NULL, *sentence = NULL;
  int code;

  g_option_context_set_summary (
      context, "Saves everything that is finished and stops RUN, whose exit code becomes 75.\n"
               "`satin status` lists the runs.");
  if (!command_parse (context, "suspend", &argc, &argv))
    return COMMAND_USAGE;
  if (argc != 2)
    return command_usage ("suspend ", "say one run: `satin suspend RUN`");
  path = folder_find (argv[1], &error);
  if (path == NULL || !folder_read (path, &run, &error))
    {
      command_say ("%s", error->message);
      return COMMAND_ERROR;
    }
  if (!ask (path, &error))
    {
      if (folder_has_ended (path, &code, &sentence))
        command_say ("run '%s' has ended before (exit code %d)", run.name, code);
      else if (!folder_is_live (path))
        command_say ("run '%s' does not live: its processes are gone", run.name);
      else
        command_say ("cannot suspend '%s': %s", run.name, error->message);
      return COMMAND_ERROR;
    }
  code = wait_for_end (path);
  if (code == COMMAND_SUSPENDED)
    clean_up (path, &run);
  return tell (&run, code);
}
