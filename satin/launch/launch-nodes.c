/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes of a launch: starts them, hears of their end, says what became of them, and starts
 * others in their place. Main loop, one thread. Tests: launcher.sh, sites.sh, again.sh. */
#include "launch-folder.h"
#include "launch-private.h"
#include "launch-words.h"
#include "start.h"

#include "command-words.h"

#include "text/fields.h"

#include <sys/wait.h>

/* Longer than a node takes that finds nobody to join and founds the run anew. */
#define DESERTED_LIMIT_US (60 * G_USEC_PER_SEC)

gboolean
launch_nodes_have_joined (Launch *launch)
{
  g_autoptr (GArray) members
      = launch->joined ? NULL : folder_pids (launch->path, FOLDER_NODE_ADDRESS);

  launch->joined = launch->joined || members->len > 0;
  return launch->joined;
}

static void on_gone (GPid pid, int status, gpointer data);

static gboolean
wants_again (const Launch *launch, guint place)
{
  const Site *site = g_array_index (launch->places, Spot, place).site;

  return site != NULL && site->again;
}

/* The node of a place has ended so, or could not be started: another one may be due some time. */
static void
plan_next (Launch *launch, guint place, AgainEnd end)
{
  guint failures;
  gint64 pause_us = wants_again (launch, place) && launch->state == LAUNCH_GOING
                        ? again_gone (launch->again, place, end, g_get_monotonic_time (), &failures)
                        : -1;

  if (pause_us < 0)
    return;
  const char *site = g_array_index (launch->places, Spot, place).site->name;
  int pause_s = (int)(pause_us / G_USEC_PER_SEC);
  if (end != AGAIN_NEVER)
    command_say ("another node starts at site '%s' in %d s", site, pause_s);
  else if (failures == 1)
    command_say ("site '%s' is tried again in %d s, then at longer intervals, up to %d minutes",
                 site, pause_s, (int)(AGAIN_PAUSE_MAX_US / G_USEC_PER_SEC / 60));
}

/* Starts a node there. FALSE: it cannot be, and it was said. */
static gboolean
start_at (Launch *launch, guint place, gboolean founder)
{
  const Spot *spot = &g_array_index (launch->places, Spot, place);
  g_autoptr (GError) error = NULL;
  Started node;

  if (launch->again != NULL)
    again_started (launch->again, place);
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

gboolean
launch_nodes_begin (Launch *launch)
{
  for (guint i = 0; i < launch->places->len && launch->again == NULL; i++)
    if (wants_again (launch, i))
      launch->again = again_new (launch->places->len);
  /* Where nobody is of this host the first one alone begins, and the others follow. */
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

/* Added nodes may carry the run on; one that has not joined founds it anew: it has only a log. */
void
launch_nodes_quit_if_none (Launch *launch)
{
  gboolean others = launch->state < LAUNCH_ENDED
                    && (launch_folder_lives (launch->path, FOLDER_NODE_ADDRESS)
                        || launch_folder_lives (launch->path, FOLDER_NODE_LOG));

  if (launch->n_live == 0 && !others)
    g_main_loop_quit (launch->loop);
}

/* How people know a node that never was a member. NULL: it is the one process of this host that
 * they can look for. (transfer full) */
static char *
name_outside (const Launch *launch, const Started *node)
{
  if (node->far != NULL)
    return far_name (node->far);
  return launch->joined && wants_again (launch, node->place)
             ? g_strdup_printf ("a node of site '%s'", node->site)
             : NULL;
}

/* A node that never was a member. TRUE: it was one such, and it was said. */
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

/* A node is gone though the run has not ended: it left, or it crashed. */
static void
count_gone (Launch *launch, const Started *node, AgainEnd end, gboolean founder)
{
  gboolean left = (WIFEXITED (node->status) && WEXITSTATUS (node->status) == COMMAND_DONE)
                  || end == AGAIN_LEFT || end == AGAIN_TOLD;

  launch->n_crashed += left ? 0 : 1;
  /* One that was killed refused nothing: another node founds the run in its place. */
  if (launch_nodes_have_joined (launch) || WIFSIGNALED (node->status))
    launch_words_gone (launch->path, node->pid, node->status, launch->n_live);
  else if (founder)
    {
      /* The others would wait for a run that was never founded. */
      launch->refused = TRUE;
      launch_kill_all (launch, FALSE);
    }
}

/* What became of it, from its status and its last figures. */
static AgainEnd
end_of (const Launch *launch, const Started *node)
{
  g_auto (GStrv) addresses = folder_addresses (launch->path, node->pid);
  g_autofree char *file = folder_node_file (node->pid, FOLDER_NODE_STATS);
  g_autoptr (GBytes) bytes = folder_bytes (launch->path, file, NULL);
  g_autofree char *text
      = bytes == NULL ? NULL : g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  g_autoptr (GVariant) figures = fields_read (text);
  const char *parted = figures != NULL ? fields_text (figures, "parted") : NULL;

  return again_end (node->status, addresses != NULL, parted);
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
          Started gone = *node; /* another may be started */
          AgainEnd end = end_of (launch, &gone);
          if (!leave_out (launch, &gone, end, i == launch->founder))
            count_gone (launch, &gone, end, i == launch->founder);
          plan_next (launch, gone.place, end);
        }
      break;
    }
  launch_nodes_quit_if_none (launch);
}

/* ---- nodes in place of others ---- */

static void
on_status (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  Launch *launch = data;
  g_autofree char *reply = live_reply (result, NULL);
  g_autoptr (GVariant) status = fields_read (reply);

  launch->asking = FALSE;
  if (launch->state != LAUNCH_GOING)
    return;
  if (status == NULL || fields_flag (status, "stopping"))
    {
      again_put_off (launch->again, g_get_monotonic_time ());
      return;
    }
  for (int place; (place = again_take (launch->again)) >= 0;)
    (void)start_at (launch, (guint)place, FALSE);
}

static void
note_members (Launch *launch, gint64 now_us)
{
  for (guint i = 0; i < launch->nodes->len; i++)
    {
      const Started *node = &g_array_index (launch->nodes, Started, i);
      g_auto (GStrv) addresses = node->gone ? NULL : folder_addresses (launch->path, node->pid);

      if (addresses != NULL)
        again_joined (launch->again, node->place, now_us);
    }
}

/* Nodes that still wait for their turn have nobody whom they could join. */
static gboolean
is_deserted (Launch *launch, gint64 now_us)
{
  if (launch_folder_lives (launch->path, FOLDER_NODE_ADDRESS))
    launch->deserted_us = 0;
  else if (launch->deserted_us == 0)
    launch->deserted_us = now_us;
  return launch->deserted_us != 0 && now_us - launch->deserted_us > DESERTED_LIMIT_US;
}

void
launch_nodes_renew (Launch *launch)
{
  gint64 now_us = g_get_monotonic_time ();

  if (launch->again == NULL || !launch->joined || launch->state != LAUNCH_GOING)
    return;
  note_members (launch, now_us);
  if (is_deserted (launch, now_us))
    {
      command_say ("no member of the run is left");
      launch_give_up (launch, LAUNCH_ON_GIVE_UP);
      return;
    }
  if (!again_look (launch->again, now_us) || launch->asking)
    return;
  launch->asking = TRUE;
  live_ask (launch->path, "status", on_status, launch);
}
