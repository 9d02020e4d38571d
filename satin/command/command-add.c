/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin add`: starts more nodes for a run that goes on. Nodes of this host are left to themselves
 * once they have joined; with nodes of other hosts this process stays, since what they write goes
 * through it. Main loop, one thread. */
#include "arguments.h"
#include "ask.h"
#include "command.h"
#include "launch-words.h"
#include "spread.h"

#include <glib-unix.h>
#include <signal.h>
#include <string.h>

#define TICK_MS 50
#define JOIN_LIMIT_US (30 * G_USEC_PER_SEC)
#define NODES_MAX 4096

typedef struct
{
  AskRun *ask;
  GMainLoop *loop;
  GArray *nodes; /* of Started */
  guint n_failed;
  gint64 started_us;
} Add;

static gboolean
has_joined (const Add *add, const Started *node)
{
  g_auto (GStrv) addresses = folder_addresses (add->ask->path, node->pid);

  return addresses != NULL;
}

/* Of this host it is enough that a node has joined; one of another host must be served to its end.
 */
static gboolean
is_done (const Add *add, const Started *node)
{
  return node->gone || (node->far == NULL && has_joined (add, node));
}

static gboolean
on_tick (gpointer data)
{
  Add *add = data;
  g_autofree char *peers = spread_peers (add->ask->path);
  gboolean late_alone = g_get_monotonic_time () - add->started_us > JOIN_LIMIT_US, busy = FALSE;
  int code;

  for (guint i = 0; i < add->nodes->len; i++)
    {
      Started *node = &g_array_index (add->nodes, Started, i);

      if (node->far != NULL && !node->gone && peers[0] != '\0')
        far_tell (node->far, peers);
      if (node->far != NULL && !node->gone && !has_joined (add, node)
          && folder_has_ended (add->ask->path, &code, NULL))
        (void)far_quit (node->far);
      busy = busy || !is_done (add, node);
      late_alone = late_alone && !has_joined (add, node);
    }
  if (!busy || late_alone)
    g_main_loop_quit (add->loop);
  return G_SOURCE_CONTINUE;
}

static void
on_gone (GPid pid, int status, gpointer data)
{
  Add *add = data;
  int code;

  for (guint i = 0; i < add->nodes->len; i++)
    {
      Started *node = &g_array_index (add->nodes, Started, i);
      g_autofree char *name = NULL;

      if (node->pid != pid)
        continue;
      node->gone = TRUE;
      node->status = status;
      if (node->far != NULL)
        far_drain (node->far);
      if (has_joined (add, node) || folder_has_ended (add->ask->path, &code, NULL))
        continue;
      add->n_failed++;
      name
          = node->far != NULL ? far_name (node->far) : g_strdup_printf ("node %" G_PID_FORMAT, pid);
      launch_words_left_out (add->ask->path, pid, status, name);
    }
}

static int
start_all (Add *add, const GPtrArray *sites, int workers)
{
  g_autoptr (GArray) places = spread_places (&add->ask->run, sites, workers);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < places->len; i++)
    {
      Started node;

      if (!spread_start (&g_array_index (places, Spot, i), &add->ask->run, add->ask->path, FALSE,
                         NULL, &node, &error))
        return command_say ("%s", error->message), COMMAND_ERROR;
      g_array_append_val (add->nodes, node);
    }
  for (guint i = 0; i < add->nodes->len; i++)
    g_child_watch_add (g_array_index (add->nodes, Started, i).pid, on_gone, add);
  return COMMAND_DONE;
}

/* All nodes are started, joined or gone. */
static int
see_through (AskRun *ask, const GPtrArray *sites, int workers)
{
  Add add = { .ask = ask, .started_us = g_get_monotonic_time () };
  int code;
  guint tick;

  add.nodes = g_array_new (FALSE, FALSE, sizeof (Started));
  add.loop = g_main_loop_new (NULL, FALSE);
  signal (SIGPIPE, SIG_IGN);
  code = start_all (&add, sites, workers);
  tick = g_timeout_add (TICK_MS, on_tick, &add);
  if (add.nodes->len > 0)
    g_main_loop_run (add.loop);
  g_source_remove (tick);
  for (guint i = 0; i < add.nodes->len; i++)
    {
      const Started *node = &g_array_index (add.nodes, Started, i);
      if (node->far != NULL)
        far_free (node->far);
    }
  g_array_unref (add.nodes);
  g_main_loop_unref (add.loop);
  return code != COMMAND_DONE ? code : add.n_failed > 0 ? COMMAND_ERROR : COMMAND_DONE;
}

/* What is said of the run must be so of nodes that are added. */
static int
check_run (const AskRun *ask, const char *sites)
{
  int code;

  if (folder_has_ended (ask->path, &code, NULL))
    return command_say ("run '%s' has ended before (exit code %d)", ask->run.name, code),
           COMMAND_ERROR;
  if (!folder_is_live (ask->path))
    return command_say ("run '%s' does not live: its processes are gone", ask->run.name),
           COMMAND_ERROR;
  if (ask->run.nodes == 0)
    return command_say ("'%s' is a program alone: start it with `satin run` to add nodes to it",
                        ask->run.name),
           COMMAND_ERROR;
  if (sites != NULL && !ask->run.tcp)
    return command_say (
               "run '%s' does not listen to other hosts: start it with --listen or --sites",
               ask->run.name),
           COMMAND_ERROR;
  return COMMAND_DONE;
}

static gboolean
read_number (const char *option, const char *text, int *number)
{
  gint64 value;

  if (text == NULL)
    return TRUE;
  if (!g_ascii_string_to_signed (text, 10, 1, NODES_MAX, &value, NULL))
    return command_usage ("add ", "%s takes a number from 1 to %d, not '%s'", option, NODES_MAX,
                          text),
           FALSE;
  *number = (int)value;
  return TRUE;
}

int
command_add (int argc, char **argv)
{
  g_autofree char *nodes = NULL, *workers = NULL, *file = NULL, *name = NULL;
  const GOptionEntry entries[]
      = { { "nodes", 'n', 0, G_OPTION_ARG_STRING, &nodes, "Nodes to start here (1)", "NODES" },
          { "workers", 'w', 0, G_OPTION_ARG_STRING, &workers,
            "Workers of each node (as the others here)", "WORKERS" },
          { "sites", 0, 0, G_OPTION_ARG_FILENAME, &file,
            "Start nodes at the sites that this file names, and stay until they end", "FILE" },
          { NULL, 0, 0, 0, NULL, NULL, NULL } };
  g_autoptr (GOptionContext) context = g_option_context_new ("RUN");
  g_autoptr (GPtrArray) sites = NULL;
  g_auto (AskRun) ask = { 0 };
  int n_nodes = 1, n_workers = 0, code;

  g_option_context_set_summary (context, "Starts more nodes for a run that goes on.");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!command_parse_one (context, "add", argc, argv, &name))
    return COMMAND_USAGE;
  if (name == NULL)
    return command_usage ("add ", "say one run: `satin add RUN`");
  if (!read_number ("-n", nodes, &n_nodes) || !read_number ("-w", workers, &n_workers))
    return COMMAND_USAGE;
  if (nodes != NULL && file != NULL)
    return command_usage ("add ", "-n and --sites cannot both be said: the file tells how many");
  if (!ask_find (name, &ask))
    return COMMAND_ERROR;
  code = check_run (&ask, file);
  if (code == COMMAND_DONE)
    code = spread_read (&ask.run, file, n_workers, &sites);
  if (code != COMMAND_DONE)
    return code;
  if (sites == NULL)
    ask.run.nodes = n_nodes;
  if (!ask_stay (&ask))
    return COMMAND_ERROR;
  code = see_through (&ask, sites, n_workers);
  ask_leave (&ask);
  return code;
}
