/* SPDX-License-Identifier: BSD-3-Clause */
/* A Node from outside: made, stepped, looked at. Routes each event to the idea that it belongs to
 * and asks them all for the earliest time they need; decides nothing itself. Driver's thread. */
#include "core.h"

void
node_effect_clear (NodeEffect *effect)
{
  g_clear_pointer (&effect->text, g_free);
  g_clear_pointer (&effect->text2, g_free);
  g_clear_pointer (&effect->path, g_free);
  g_clear_pointer (&effect->bytes, g_bytes_unref);
  g_clear_pointer (&effect->job, loan_free);
  g_clear_pointer (&effect->parts, g_ptr_array_unref);
  g_clear_pointer (&effect->rows, g_ptr_array_unref);
  g_clear_pointer (&effect->shares, g_ptr_array_unref);
}

Node *
node_new (const NodeConfig *config)
{
  g_assert (config != NULL && config->stems != NULL);
  g_assert (config->address != NULL || config->founder);
  Node *node = g_new0 (Node, 1);

  node->config = *config;
  if (config->heartbeat_us == 0)
    node->config.heartbeat_us = NODE_HEARTBEAT_US;
  if (config->silence_us == 0)
    node->config.silence_us = NODE_SILENCE_US;
  g_assert (node->config.silence_us >= NODE_SILENCE_HEARTBEATS * node->config.heartbeat_us);
  node->config.address = g_strdup (config->address);
  node->config.build = g_strdup (config->build != NULL ? config->build : "");
  node->config.host = g_utf8_make_valid (config->host != NULL ? config->host : "", -1);
  node->config.site = g_utf8_make_valid (config->site != NULL ? config->site : "", -1);
  node->random
      = config->seed * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) ^ G_GUINT64_CONSTANT (0x5341544e);
  if (node->random == 0)
    node->random = 1;
  for (int i = 0; i < 4; i++)
    core_random (node);
  node->wish_us = CORE_NEVER;
  link_init (&node->links);
  route_init (&node->routes);
  reach_init (&node->reach);
  roster_init (&node->roster);
  join_init (&node->join);
  alive_init (&node->alive);
  loans_init (&node->loans);
  rerun_init (&node->rerun);
  held_init (&node->held);
  known_init (&node->known);
  orphans_init (&node->orphans);
  archive_init (&node->archive, node->config.stems);
  steal_init (&node->steal);
  lend_init (&node->lend);
  elect_init (&node->elect);
  saves_init (&node->saves);
  events_init (&node->events);
  leave_init (&node->leave);
  poison_init (&node->poison);
  alone_init (&node->alone);
  yield_init (&node->yield);
  work_init (&node->work);
  constants_init (&node->constants, config->n_bests);
  shares_init (&node->shares, config->shared);
  return node;
}

void
node_free (Node *node)
{
  if (node == NULL)
    return;
  stop_done (&node->stop);
  g_free (node->office.place);
  yield_done (&node->yield);
  alone_done (&node->alone);
  poison_done (&node->poison);
  leave_done (&node->leave);
  constants_done (&node->constants);
  work_done (&node->work);
  saves_done (&node->saves);
  events_done (&node->events);
  elect_done (&node->elect);
  steal_done (&node->steal);
  lend_done (&node->lend);
  root_done (&node->root);
  archive_done (&node->archive);
  orphans_done (&node->orphans);
  known_done (&node->known);
  held_done (&node->held);
  rerun_done (&node->rerun);
  loans_done (&node->loans);
  alive_done (&node->alive);
  join_done (&node->join);
  roster_done (&node->roster);
  link_done (&node->links);
  reach_done (&node->reach);
  route_done (&node->routes);
  shares_done (&node->shares);
  g_free ((char *)node->config.address);
  g_free ((char *)node->config.build);
  g_free ((char *)node->config.host);
  g_free ((char *)node->config.site);
  g_free (node);
}

static void
tick (Node *node)
{
  if (alive_was_asleep (node))
    alive_slept (node);
  if (node->wish_us <= node->now_us)
    node->wish_us = CORE_NEVER;
  spare_tick (node);
  alive_tick (node);
  join_tick (node);
  steal_tick (node);
  lend_tick (node);
  alone_tick (node);
  rerun_tick (node);
  elect_tick (node);
  saves_tick (node);
  shares_tick (node);
  round_go_on (node);
  stop_go_on (node);
}

/* What the engine says. */
static void
route_engine (Node *node, const NodeEvent *event)
{
  switch (event->kind)
    {
    case NODE_EVENT_HUNGRY:
      steal_on_hungry (node, event->count);
      break;
    case NODE_EVENT_LENT:
      lend_on_lent (node, event);
      break;
    case NODE_EVENT_DONE:
      held_on_done (node, event);
      break;
    case NODE_EVENT_UNRUN:
      held_on_unrun (node, event->held);
      break;
    case NODE_EVENT_ADOPT:
      orphans_on_adopt_event (node, event);
      break;
    case NODE_EVENT_WANT:
      shares_want (node, event);
      break;
    case NODE_EVENT_ABORTED:
      shares_aborted (node, event->loan);
      loans_aborted (node, event->loan);
      break;
    case NODE_EVENT_COVERED:
      if (node->leave.begun)
        break; /* what is here goes with this node, and others are to offer it */
      orphans_covered (node, event->path);
      link_broadcast (node, &(Message){ .kind = MESSAGE_COVERED, .path = event->path });
      break;
    case NODE_EVENT_UNMATCHED:
      events_unmatched (node, event->path);
      break;
    case NODE_EVENT_ROWS:
      leave_on_rows (node, event->rows);
      yield_on_rows (node, event->rows);
      saves_on_rows (node, event->rows, event->risk_us);
      work_moved (node, event->risk_us);
      break;
    case NODE_EVENT_SERVED:
      saves_on_served (node, event->number, event->work_us);
      round_on_served (node, event->number);
      yield_on_served (node, event->number);
      stop_on_served (node, event->number);
      break;
    case NODE_EVENT_WORK:
      work_on_event (node, event);
      break;
    case NODE_EVENT_SHARED:
      lend_on_shared (node);
      break;
    case NODE_EVENT_LAST_WORDS:
      poison_on_event (node, event);
      break;
    case NODE_EVENT_HALTED:
      leave_on_halted (node);
      stop_on_halted (node);
      break;
    case NODE_EVENT_IMPROVED:
      constants_improved (node, event->number, event->bytes);
      break;
    default:
      g_assert_not_reached ();
    }
}

/* What the world, main, the scribe and people say. */
static void
route (Node *node, const NodeEvent *event)
{
  switch (event->kind)
    {
    case NODE_EVENT_JOIN:
      join_add_address (node, event->text);
      break;
    case NODE_EVENT_LINK_UP:
      link_up (node, event->link, event->dial);
      break;
    case NODE_EVENT_LINK_DOWN:
      link_down (node, event->link);
      break;
    case NODE_EVENT_DIAL_FAILED:
      link_dial_failed (node, event->dial, event->dead, event->refused);
      break;
    case NODE_EVENT_MESSAGE:
      hear_message (node, event->link, event->bytes);
      break;
    case NODE_EVENT_TIMER:
      tick (node);
      break;
    case NODE_EVENT_CONSTANT:
      if (event->text != NULL)
        constants_publish (node, event->text, event->bytes);
      else
        constants_complete (node);
      break;
    case NODE_EVENT_ROOT:
      root_want (node, event->job);
      break;
    case NODE_EVENT_FINISH:
      stop_finish (node, event->number, event->bytes);
      break;
    case NODE_EVENT_RESTORED:
      for (guint i = 0; i < event->rows->len; i++)
        orphans_archive (node, event->rows->pdata[i]);
      if (event->final)
        rerun_on_restored (node, event->path);
      break;
    case NODE_EVENT_OPENED:
      office_on_opened (node, event);
      break;
    case NODE_EVENT_BID:
      elect_on_bid_event (node, event);
      break;
    case NODE_EVENT_PUBLISHED:
      saves_on_published (node, event);
      break;
    case NODE_EVENT_SUSPEND:
      stop_suspend (node, event->number);
      break;
    case NODE_EVENT_CANCEL:
      stop_cancel (node);
      break;
    case NODE_EVENT_LEAVE:
      leave_ask (node, &event->node, event->number);
      break;
    case NODE_EVENT_SAVE:
      round_ask (node, event->number);
      break;
    case NODE_EVENT_CHECKPOINT:
      office_set_place (node, event->text);
      break;
    default:
      route_engine (node, event);
      break;
    }
}

static void
wish (Node *node)
{
  guint64 at = alive_due (node);

  at = MIN (at, spare_due (node));
  at = MIN (at, join_due (node));
  at = MIN (at, steal_due (node));
  at = MIN (at, lend_due (node));
  at = MIN (at, alone_due (node));
  at = MIN (at, rerun_due (node));
  at = MIN (at, elect_due (node));
  at = MIN (at, saves_due (node));
  at = MIN (at, shares_due (node));
  at = MIN (at, round_due (node));
  at = MIN (at, stop_due (node));
  at = MIN (at, leave_due (node));
  if (at == CORE_NEVER || at == node->wish_us)
    return;
  node->wish_us = at;
  core_emit (node, NODE_EFFECT_TIMER)->at_us = at;
}

void
node_step (Node *node, guint64 now_us, const NodeEvent *event, GArray *effects)
{
  g_assert (node != NULL && event != NULL && effects != NULL);
  if (node->ended)
    return;
  node->now_us = now_us;
  node->effects = effects;
  if (!node->started)
    {
      node->started = TRUE;
      if (node->config.founder)
        {
          node->office.starting = node->config.checkpoint;
          roster_found (node);
        }
    }
  route (node, event);
  if (!node->ended)
    {
      orphans_flush (node);
      root_go_on (node);
      leave_go_on (node);
    }
  if (!node->ended)
    {
      steal_go_on (node);
      wish (node);
    }
  if (node->ended && !node->left)
    {
      NodeEffect *effect = core_emit (node, NODE_EFFECT_END);
      effect->number = node->stop.code;
      effect->finished = node->stop.finished;
      effect->text = g_steal_pointer (&node->stop.sentence);
    }
  node->effects = NULL;
}

GArray *
node_members (Node *node)
{
  return roster_view (node);
}

NodeId
node_self (Node *node)
{
  return node->self;
}

guint32
node_term (Node *node)
{
  return node->roster.term.number;
}

const GPtrArray *
node_taken (Node *node)
{
  return node->work.taken;
}

const GArray *
node_departed (Node *node)
{
  return node->work.departed;
}

void
node_stats (Node *node, NodeStats *stats)
{
  *stats = node->stats;
  stats->held = (guint64)g_tree_nnodes (node->held.by_number) + node->archive.count;
  stats->lent = (guint64)g_tree_nnodes (node->loans.by_number) + node->alone.jobs->len;
  stats->known = (guint64)g_tree_nnodes (node->known.by_path) + node->archive.count;
  stats->generation = node->office.generation;
  stats->office = node->office.number;
  stats->published_us = node->work.published_us;
  stats->unpublished_us = work_unpublished_us (node);
  stats->steal_age_us = steal_age_us (node);
}

gboolean
node_owes_result (Node *node, const char *path)
{
  for (const HeldJob *held = held_at (node, path); held != NULL; held = held->next)
    if (held->finished)
      return TRUE;
  return yield_has (node, path);
}

void
node_check_invariants (Node *node)
{
  if (node->ended)
    return;
  roster_check (node);
  loans_check (node);
  held_check (node);
  known_check (node);
  archive_check (node);
  route_check (node);
  g_assert (node->steal.refused->len <= node->roster.members->len);
}
