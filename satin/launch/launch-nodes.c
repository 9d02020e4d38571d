/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes of a launch: starts them, notices their ends, prints what became of them, replaces
 * them. Main loop, one thread. Tests: test-launch-nodes, launcher.sh, sites.sh,
 * again.sh. */
#include "launch-folder.h"
#include "launch-private.h"
#include "launch-words.h"
#include "start.h"

#include "command-words.h"

#include <sys/wait.h>

gboolean
launch_nodes_have_joined (Launch *launch)
{
  g_autoptr (GArray) members
      = launch->joined ? NULL : folder_pids (launch->path, FOLDER_NODE_ADDRESS);

  launch->joined = launch->joined || members->len > 0;
  return launch->joined;
}

static void on_gone (GPid pid, int status, gpointer data);

/* The node of a place has ended, or could not be started. */
static void
plan_next (Launch *launch, guint place, AgainEnd end)
{
  if (launch->state == LAUNCH_GOING)
    replace_plan (launch->replace, place, end);
}

/* Starts a node at a place. FALSE: it could not be started, and this was printed (the same message
 * only once in a row). */
static gboolean
start_at (Launch *launch, guint place, gboolean founder)
{
  const Spot *spot = &g_array_index (launch->places, Spot, place);
  g_autoptr (GError) error = NULL;
  Started node;

  replace_started (launch->replace, place);
  if (!spread_start (spot, launch->run, launch->path, founder, launch->copy, &node, &error))
    {
      if (g_strcmp0 (error->message, launch->said) != 0)
        command_say ("%s", error->message);
      g_free (launch->said);
      launch->said = g_strdup (error->message);
      if (launch->joined)
        plan_next (launch, place, AGAIN_NEVER);
      return FALSE;
    }
  node.place = place;
  if (founder)
    launch->founder = launch->nodes->len;
  g_array_append_val (launch->nodes, node);
  launch->n_live++;
  if (node.far != NULL || launch->loop != NULL)
    g_child_watch_add (node.pid, on_gone, launch);
  return TRUE;
}

static gboolean
start_next (Launch *launch, gboolean founder)
{
  return start_at (launch, launch->next++, founder);
}

/* See ReplaceStart. */
static void
on_replace (guint place, gpointer data)
{
  Launch *launch = data;

  if (launch->state == LAUNCH_GOING)
    (void)start_at (launch, place, FALSE);
}

gboolean
launch_nodes_begin (Launch *launch)
{
  launch->replace = replace_new (launch->path, launch->places, launch->nodes, on_replace, launch);
  /* If the first place is on another host, only that node starts now; the others follow when it has
   * joined. */
  do
    if (!start_next (launch, launch->nodes->len == 0))
      {
        for (guint k = 0; k < launch->nodes->len; k++)
          {
            start_kill (g_array_index (launch->nodes, Started, k).pid);
            waitpid (g_array_index (launch->nodes, Started, k).pid, NULL, 0);
          }
        return FALSE;
      }
  while (launch->next < launch->places->len
         && !spot_is_far (&g_array_index (launch->places, Spot, launch->next)));
  return TRUE;
}

void
launch_nodes_watch (Launch *launch)
{
  for (guint i = 0; i < launch->nodes->len; i++)
    if (g_array_index (launch->nodes, Started, i).far == NULL)
      g_child_watch_add (g_array_index (launch->nodes, Started, i).pid, on_gone, launch);
}

void
launch_nodes_spread (Launch *launch)
{
  g_autofree char *peers = NULL;

  while (launch->next < launch->places->len)
    (void)start_next (launch, FALSE);
  if (!launch->run->tcp)
    return;
  peers = spread_peers (launch->path);
  for (guint i = 0; i < launch->nodes->len; i++)
    {
      const Started *node = &g_array_index (launch->nodes, Started, i);
      if (node->far != NULL && !node->gone)
        far_tell (node->far, peers);
    }
}

/* Nodes that `satin add` started may carry the run on. If none of them has joined yet, one founds
 * the run anew; such a node has only a log. */
void
launch_nodes_quit_if_none (Launch *launch)
{
  gboolean others = launch->state < LAUNCH_ENDED
                    && (launch_folder_lives (launch->path, FOLDER_NODE_ADDRESS)
                        || launch_folder_lives (launch->path, FOLDER_NODE_LOG));

  if (launch->n_live == 0 && !others)
    g_main_loop_quit (launch->loop);
}

/* The name in messages of a node that never was a member. NULL: it is a node of this host that is
 * not replaced. (transfer full) */
static char *
name_outside (const Launch *launch, const Started *node)
{
  if (node->far != NULL)
    return far_name (node->far);
  return launch->joined && replace_wants (launch->replace, node->place)
             ? g_strdup_printf ("a node of site '%s'", node->site)
             : NULL;
}

/* TRUE: the node never was a member and has a name for messages; that it is left out was printed.
 * If it was to found the run, the next place does. */
static gboolean
leave_out (Launch *launch, const Started *node, AgainEnd end, gboolean founder)
{
  gboolean outside = end == AGAIN_NEVER || end == AGAIN_REFUSED;
  g_autofree char *name = outside ? name_outside (launch, node) : NULL;

  if (name == NULL)
    return FALSE;
  launch_words_left_out (launch->path, node->pid, node->status, name);
  while (founder && !launch->joined && launch->next < launch->places->len)
    if (start_next (launch, TRUE))
      return TRUE;
  launch->refused = launch->n_live == 0 && !launch->joined;
  return TRUE;
}

/* A node is gone before the end of the run: counts a crash unless it left, and prints that it is
 * gone. */
static void
count_gone (Launch *launch, const Started *node, AgainEnd end, gboolean founder)
{
  gboolean left = (WIFEXITED (node->status) && WEXITSTATUS (node->status) == COMMAND_DONE)
                  || end == AGAIN_LEFT || end == AGAIN_TOLD;

  launch->n_crashed += left ? 0 : 1;
  /* A founder that was killed did not refuse the run: another node founds it. */
  if (launch_nodes_have_joined (launch) || WIFSIGNALED (node->status))
    launch_words_gone (launch->path, node->pid, node->status, launch->n_live);
  else if (founder)
    {
      /* The other nodes would wait for a run that nobody founds. */
      launch->refused = TRUE;
      launch_kill_all (launch, FALSE);
    }
}

static void
on_gone (GPid pid, int status, gpointer data)
{
  Launch *launch = data;

  for (guint i = 0; i < launch->nodes->len; i++)
    {
      Started *node = &g_array_index (launch->nodes, Started, i);

      if (node->pid != pid)
        continue;
      node->gone = TRUE;
      node->status = status;
      launch->n_live--;
      if (node->far != NULL)
        far_drain (node->far);
      gboolean over
          = launch_look_for_end (launch) || launch->answer_us != 0 || launch_has_given_up (launch);
      if (!over && !launch->refused)
        {
          Started gone = *node; /* a copy: starting another node may move the array */
          AgainEnd end = replace_end (launch->path, &gone);
          if (!leave_out (launch, &gone, end, i == launch->founder))
            count_gone (launch, &gone, end, i == launch->founder);
          plan_next (launch, gone.place, end);
        }
      break;
    }
  launch_nodes_quit_if_none (launch);
}

void
launch_nodes_renew (Launch *launch)
{
  if (launch->joined && launch->state == LAUNCH_GOING && !replace_look (launch->replace))
    launch_give_up (launch, LAUNCH_ON_GIVE_UP);
}
