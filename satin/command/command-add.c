/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin add`: starts more nodes for a live run. This process does not wait for nodes of this host
 * that have joined. It stays with nodes of other hosts, since their files pass through it, and with
 * nodes at sites with `again = yes`, which it replaces (launch/replace.h). Main loop, one thread.
 * Tests: test-add, add.sh, again.sh, preempt.sh. */
#include "arguments.h"
#include "ask.h"
#include "command.h"

#include "launch/figures.h"
#include "launch/launch-folder.h"
#include "launch/launch-words.h"
#include "launch/replace.h"
#include "launch/spread.h"
#include "launch/start.h"

#include <glib-unix.h>
#include <signal.h>
#include <string.h>

#define TICK_MS 50
/* Longer than a node tries to join, so the node itself says why it is not let in. */
#define JOIN_LIMIT_US (40 * G_USEC_PER_SEC)

typedef struct
{
  const char *file; /* (nullable) of --sites */
  const char *site; /* (nullable) of --site: only this site */
  int nodes;        /* 0: as many as the file says; without a file, one */
  int workers;
  GPtrArray *sites; /* (nullable) of Site */
} Wish;

/* The outcome at a place at which a node is wanted. AWAITS -> LEFT_OUT (its node ended without
 * having joined) -> JOINED (a node there has joined), or AWAITS -> JOINED. */
typedef enum
{
  AWAITS,
  LEFT_OUT,
  JOINED
} Outcome;

typedef struct
{
  AskRun *ask;
  GMainLoop *loop;
  GArray *places;    /* of Spot: one for each wanted node */
  Replace *replace;  /* (nullable) replaces nodes that ended */
  GArray *nodes;     /* of Started */
  GArray *told;      /* of gboolean: the node's name was printed */
  Outcome *outcomes; /* one for each place */
  char *said;        /* (nullable) the last message about a node that could not be started */
  gboolean bereft;   /* no living member is left that a node could join */
  gint64 started_us;
} Add;

static gboolean
has_joined (const Add *add, const Started *node)
{
  g_auto (GStrv) addresses = folder_addresses (add->ask->path, node->pid);

  return addresses != NULL;
}

/* The name of a node that has joined; NULL: not known yet. (transfer full) (nullable) */
static char *
joined_name (const Add *add, const Started *node)
{
  g_autoptr (GVariant) figures
      = has_joined (add, node) ? figures_read (add->ask->path, node->pid) : NULL;
  char *name = NULL;

  if (figures != NULL)
    g_variant_lookup (figures, "id", "s", &name);
  return name;
}

/* Prints the name of each node that has joined, once. */
static void
tell_joined (const Add *add)
{
  for (guint i = 0; i < add->nodes->len; i++)
    {
      const Started *node = &g_array_index (add->nodes, Started, i);
      gboolean *told = &g_array_index (add->told, gboolean, i);
      g_autofree char *name = *told ? NULL : joined_name (add, node);

      if (name == NULL)
        continue;
      g_print ("node %s has joined run '%s'%s%s%s\n", name, add->ask->run.name,
               node->site != NULL ? " at site '" : "", node->site != NULL ? node->site : "",
               node->site != NULL ? "'" : "");
      *told = TRUE;
      add->outcomes[node->place] = JOINED;
    }
}

/* TRUE: this process need not stay for the node: it is gone, or has joined on this host and is not
 * replaced. A node of another host must be served to its end. */
static gboolean
is_done (const Add *add, const Started *node)
{
  return node->gone
         || (node->far == NULL && !replace_wants (add->replace, node->place)
             && has_joined (add, node));
}

/* TRUE: no node of this process and no other member lives. A node that has not joined, and may
 * found the run anew, has only a log. */
static gboolean
run_is_gone (const Add *add)
{
  for (guint i = 0; i < add->nodes->len; i++)
    if (!g_array_index (add->nodes, Started, i).gone)
      return FALSE;
  return !launch_folder_lives (add->ask->path, FOLDER_NODE_ADDRESS)
         && !launch_folder_lives (add->ask->path, FOLDER_NODE_LOG);
}

/* While the run goes on, replaces nodes that ended. TRUE: some place waits for a node. */
static gboolean
look_to_places (Add *add)
{
  int code;

  if (add->replace == NULL || add->bereft || folder_has_ended (add->ask->path, &code, NULL))
    return FALSE;
  if (!replace_waits (add->replace) || !run_is_gone (add))
    add->bereft = !replace_look (add->replace);
  else
    {
      command_say ("no member of the run is left");
      add->bereft = TRUE;
    }
  return !add->bereft && replace_waits (add->replace);
}

/* Sends the members' addresses to a node of another host, and ends a node that can no longer join.
 * TRUE: this process must stay for the node. */
static gboolean
serve (const Add *add, const Started *node, const char *peers)
{
  int code;

  if (node->gone)
    return FALSE;
  if (node->far != NULL)
    far_tell (node->far, peers);
  if (add->bereft && (node->far == NULL || !far_quit (node->far)))
    start_kill (node->pid);
  else if (node->far != NULL && !has_joined (add, node)
           && folder_has_ended (add->ask->path, &code, NULL))
    (void)far_quit (node->far);
  return !is_done (add, node);
}

static gboolean
on_tick (gpointer data)
{
  Add *add = data;
  g_autofree char *peers = spread_peers (add->ask->path);
  gboolean late_alone = g_get_monotonic_time () - add->started_us > JOIN_LIMIT_US;
  gboolean busy = look_to_places (add);

  for (guint i = 0; i < add->nodes->len; i++)
    {
      const Started *node = &g_array_index (add->nodes, Started, i);

      busy = serve (add, node, peers) || busy;
      /* A node of another host may wait in a batch queue for longer. */
      late_alone = late_alone && node->far == NULL && !has_joined (add, node);
    }
  tell_joined (add);
  if (!busy || (late_alone && add->replace == NULL))
    g_main_loop_quit (add->loop);
  return G_SOURCE_CONTINUE;
}

/* A node has ended while the run goes on. */
static void
see_off (Add *add, const Started *node)
{
  AgainEnd end = replace_end (add->ask->path, node);
  Outcome *outcome = &add->outcomes[node->place];

  if (end != AGAIN_NEVER && end != AGAIN_REFUSED)
    *outcome = JOINED;
  else
    {
      g_autofree char *name = node->far != NULL
                                  ? far_name (node->far)
                                  : g_strdup_printf ("node %" G_PID_FORMAT, node->pid);
      launch_words_left_out (add->ask->path, node->pid, node->status, name);
      if (*outcome == AWAITS)
        *outcome = LEFT_OUT;
    }
  if (!add->bereft)
    replace_plan (add->replace, node->place, end);
}

static void
on_gone (GPid pid, int status, gpointer data)
{
  Add *add = data;
  int code;

  for (guint i = 0; i < add->nodes->len; i++)
    {
      Started *node = &g_array_index (add->nodes, Started, i);

      if (node->gone || node->pid != pid)
        continue;
      node->gone = TRUE;
      node->status = status;
      if (node->far != NULL)
        far_drain (node->far);
      if (!folder_has_ended (add->ask->path, &code, NULL))
        see_off (add, node);
    }
}

/* FALSE: the node could not be started; this was printed. */
static gboolean
start_at (Add *add, guint place)
{
  const gboolean untold = FALSE;
  g_autoptr (GError) error = NULL;
  Started node;

  replace_started (add->replace, place);
  if (!spread_start (&g_array_index (add->places, Spot, place), &add->ask->run, add->ask->path,
                     FALSE, NULL, &node, &error))
    {
      if (g_strcmp0 (error->message, add->said) != 0)
        command_say ("%s", error->message);
      g_free (add->said);
      add->said = g_strdup (error->message);
      return FALSE;
    }
  node.place = place;
  g_array_append_val (add->nodes, node);
  g_array_append_val (add->told, untold);
  g_child_watch_add (node.pid, on_gone, add);
  return TRUE;
}

static void
on_replace (guint place, gpointer data)
{
  Add *add = data;
  int code;

  if (!folder_has_ended (add->ask->path, &code, NULL) && !start_at (add, place))
    replace_plan (add->replace, place, AGAIN_NEVER);
}

/* The places at which nodes are wanted. (transfer full; of Spot) */
static GArray *
wanted_places (const Add *add, const Wish *wish)
{
  GArray *places = spread_places (&add->ask->run, wish->sites, wish->workers);
  guint n_named = places->len;
  guint n = wish->sites != NULL && wish->nodes > 0 ? (guint)wish->nodes : n_named;

  for (guint i = n_named; i < n; i++)
    {
      Spot place = g_array_index (places, Spot, i % n_named);

      place.number += (int)(i - i % n_named);
      g_array_append_val (places, place);
    }
  g_array_set_size (places, n);
  return places;
}

/* COMMAND_DONE: all nodes are started. Else an exit code: one could not be started; this was
 * printed. */
static int
start_all (Add *add)
{
  for (guint i = 0; i < add->places->len; i++)
    if (!start_at (add, i))
      return COMMAND_ERROR;
  return COMMAND_DONE;
}

/* Starts the nodes and stays until all have joined or are gone, or the run is gone. Returns the
 * exit code. */
static int
see_through (AskRun *ask, const Wish *wish)
{
  Add add = { .ask = ask, .started_us = g_get_monotonic_time () };
  int code;
  guint tick;

  add.places = wanted_places (&add, wish);
  add.outcomes = g_new0 (Outcome, add.places->len);
  add.nodes = spread_nodes ();
  add.told = g_array_new (FALSE, TRUE, sizeof (gboolean));
  add.replace = replace_new (ask->path, add.places, add.nodes, on_replace, &add);
  add.loop = g_main_loop_new (NULL, FALSE);
  signal (SIGPIPE, SIG_IGN);
  code = start_all (&add);
  tick = g_timeout_add (TICK_MS, on_tick, &add);
  if (add.nodes->len > 0)
    g_main_loop_run (add.loop);
  g_source_remove (tick);
  if (add.bereft)
    code = COMMAND_ERROR;
  for (guint i = 0; i < add.places->len; i++)
    code = add.outcomes[i] == LEFT_OUT ? COMMAND_ERROR : code;
  replace_free (add.replace);
  g_array_unref (add.nodes);
  g_array_unref (add.places);
  g_array_unref (add.told);
  g_main_loop_unref (add.loop);
  g_free (add.outcomes);
  g_free (add.said);
  return code;
}

/* Checks that nodes can be added to the run. Returns an exit code, after a message unless it is
 * 0. */
static int
check_run (const AskRun *ask)
{
  g_autofree char *host = folder_other_host (ask->path);

  if (!ask_is_live (ask))
    return COMMAND_ERROR;
  if (host != NULL) /* process numbers in the folder are of that host */
    return command_say ("run '%s' was started on host '%s': add nodes there", ask->run.name, host),
           COMMAND_ERROR;
  if (ask->run.nodes == 0)
    return command_say ("'%s' is a program alone: start it with `satin run` to add nodes to it",
                        ask->run.name),
           COMMAND_ERROR;
  if (ask->run.closed)
    return command_say ("run '%s' is closed: it was started with --closed, and takes no more nodes",
                        ask->run.name),
           COMMAND_ERROR;
  return COMMAND_DONE;
}

/* Removes all sites but `name` from `sites`. FALSE: there is no such site; this was printed. */
static gboolean
keep_site (const AskRun *ask, const char *name, GPtrArray *sites)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = sites->len; i > 0; i--)
    {
      const Site *site = sites->pdata[i - 1];

      g_string_prepend (names, site->name);
      if (i > 1)
        g_string_prepend (names, ", ");
      if (strcmp (site->name, name) != 0)
        g_ptr_array_remove_index (sites, i - 1);
    }
  if (sites->len > 0)
    return TRUE;
  command_say ("run '%s' has no site '%s', only %s", ask->run.name, name, names->str);
  return FALSE;
}

/* Reads the sites of --sites or, with --site alone, those that the run was started with. Returns an
 * exit code, after a message unless it is 0. */
static int
read_sites (AskRun *ask, Wish *wish)
{
  g_autofree char *kept = g_build_filename (ask->path, FOLDER_SITES, NULL), *text = NULL;
  const char *file = wish->file != NULL ? wish->file : wish->site != NULL ? kept : NULL;
  gboolean tcp = ask->run.tcp, far = FALSE;
  int code;

  if (file == kept && !g_file_test (kept, G_FILE_TEST_EXISTS))
    return command_say ("run '%s' was started without --sites: give --sites FILE too",
                        ask->run.name),
           COMMAND_ERROR;
  code = spread_read (&ask->run, file, wish->workers, &wish->sites, &text);
  if (code != COMMAND_DONE)
    return code;
  if (wish->site != NULL && !keep_site (ask, wish->site, wish->sites))
    return COMMAND_ERROR;
  for (guint i = 0; wish->sites != NULL && i < wish->sites->len; i++)
    far = far || ((Site *)wish->sites->pdata[i])->launcher != SITE_LOCAL;
  if (far && !tcp)
    return command_say (
               "run '%s' does not listen to other hosts: start it with --listen or --sites",
               ask->run.name),
           COMMAND_ERROR;
  return COMMAND_DONE;
}

/* The added nodes count as nodes of the run's build. */
static int
count_as_run (AskRun *ask)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) build = folder_bytes (ask->path, FOLDER_BUILD, &error);

  if (build == NULL)
    return command_say ("the build of run '%s' is not known: %s", ask->run.name, error->message),
           COMMAND_ERROR;
  ask->run.build = g_strndup (g_bytes_get_data (build, NULL), g_bytes_get_size (build));
  return COMMAND_DONE;
}

static void
wish_clear (Wish *wish)
{
  g_clear_pointer (&wish->sites, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Wish, wish_clear)

int
command_add (int argc, char **argv)
{
  static const ArgumentsVerb verb
      = { "add", "RUN", "Starts more nodes for a run that goes on.", ARGUMENTS_WORDS };
  g_auto (Arguments) said = { 0 };
  g_auto (Wish) wish = { 0 };
  g_auto (AskRun) ask = { 0 };
  int code;

  if (!arguments_read_run (&said, &verb, argc, argv))
    return COMMAND_USAGE;
  if (said.nodes > 0 && said.sites != NULL && said.site == NULL)
    return command_usage ("add ", "-n conflicts with --sites: the file says how many nodes");
  wish = (Wish){
    .file = said.sites, .site = said.site, .nodes = said.nodes, .workers = said.own.workers
  };
  if (!ask_find (said.words[0], &ask))
    return COMMAND_ERROR;
  code = check_run (&ask);
  if (code == COMMAND_DONE)
    code = read_sites (&ask, &wish);
  if (code == COMMAND_DONE && said.own.mended)
    code = count_as_run (&ask);
  if (code != COMMAND_DONE)
    return code;
  if (wish.sites == NULL)
    ask.run.nodes = MAX (wish.nodes, 1);
  if (!ask_stay (&ask))
    return COMMAND_ERROR;
  code = see_through (&ask, &wish);
  ask_leave (&ask);
  return code;
}
