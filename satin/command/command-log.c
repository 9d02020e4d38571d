/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin log`: shows the logs of a run's nodes. Logs may hold anything. Blocking, one thread.
 * Tests: control.sh. */
#include "arguments.h"
#include "ask.h"
#include "command.h"

#include "launch/figures.h"

#include "text/fields.h"

#include <stdio.h>
#include <string.h>

#define FOLLOW_US (200 * 1000)

typedef struct
{
  const char *path;
  GHashTable *shown; /* process number -> how many bytes of its log were shown */
  gint64 last;       /* the process whose log was shown last */
  gint64 only;       /* the only process to show; 0: all */
  gboolean titles;
} Logs;

/* The process number of a node that is named by its number in the run (`1.2`) or its process
 * number; 0: none. */
static gint64
find_process (const char *path, const char *node)
{
  g_autoptr (GArray) pids = folder_pids (path, FOLDER_NODE_LOG);

  for (guint i = 0; i < pids->len; i++)
    {
      gint64 pid = g_array_index (pids, gint64, i);
      g_autofree char *number = g_strdup_printf ("%" G_GINT64_FORMAT, pid);
      g_autoptr (GVariant) figures = figures_read (path, pid);

      if (strcmp (number, node) == 0
          || (figures != NULL && strcmp (fields_text (figures, "id"), node) == 0))
        return pid;
    }
  return 0;
}

/* Shows new bytes of a log: whole lines only, unless `all`, when the log grows no more. */
static void
show_process (Logs *logs, gint64 pid, gboolean all)
{
  g_autofree char *file = folder_node_file (pid, FOLDER_NODE_LOG);
  g_autoptr (GBytes) bytes = folder_bytes (logs->path, file, NULL);
  gsize size = 0, from = GPOINTER_TO_SIZE (g_hash_table_lookup (logs->shown, (gpointer)pid));
  const char *data = bytes == NULL ? NULL : g_bytes_get_data (bytes, &size);

  while (!all && size > from && data[size - 1] != '\n')
    size--;
  if (size <= from)
    return;
  if (logs->titles && logs->last != pid)
    printf ("%s==> node process %" G_GINT64_FORMAT " <==\n", logs->last == 0 ? "" : "\n", pid);
  logs->last = pid;
  fwrite (data + from, 1, size - from, stdout);
  if (data[size - 1] != '\n')
    putchar ('\n');
  fflush (stdout);
  g_hash_table_insert (logs->shown, (gpointer)pid, GSIZE_TO_POINTER (size));
}

static void
show_all (Logs *logs, gboolean all)
{
  g_autoptr (GArray) pids = folder_pids (logs->path, FOLDER_NODE_LOG);

  for (guint i = 0; i < pids->len; i++)
    if (logs->only == 0 || g_array_index (pids, gint64, i) == logs->only)
      show_process (logs, g_array_index (pids, gint64, i), all);
}

static void
follow (Logs *logs)
{
  int code;

  while (folder_is_live (logs->path) && !folder_has_ended (logs->path, &code, NULL))
    {
      g_usleep (FOLLOW_US);
      show_all (logs, FALSE);
    }
}

int
command_log (int argc, char **argv)
{
  static const ArgumentsVerb verb = { "log", "RUN [NODE]",
                                      "Shows the logs of RUN's nodes on this machine, or of one:\n"
                                      "NODE is its number in the run or that of its process.",
                                      ARGUMENTS_WORDS };
  g_auto (Arguments) said = { 0 };
  g_auto (AskRun) ask = { 0 };

  if (!arguments_read (&said, &verb, argc, argv))
    return COMMAND_USAGE;
  char **words = said.words;
  if (words[0] == NULL || (words[1] != NULL && words[2] != NULL))
    return command_usage ("log ",
                          "one run is needed, and at most one node: `satin log RUN [NODE]`");
  if (!ask_find (words[0], &ask))
    return COMMAND_ERROR;
  Logs logs = { .path = ask.path, .titles = words[1] == NULL };
  if (words[1] != NULL && (logs.only = find_process (ask.path, words[1])) == 0)
    {
      command_say ("run '%s' has no log of a node '%s' on this machine", words[0], words[1]);
      return COMMAND_ERROR;
    }
  if (said.follow && !ask_stay (&ask))
    return COMMAND_ERROR;
  logs.shown = g_hash_table_new (g_direct_hash, g_direct_equal);
  show_all (&logs, !said.follow);
  if (said.follow)
    {
      follow (&logs);
      show_all (&logs, TRUE);
      ask_leave (&ask);
    }
  g_hash_table_unref (logs.shown);
  return COMMAND_DONE;
}
