/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of a Node: making, stepping and inspecting it. One table lists its parts; each
 * event goes to its part. Decides nothing itself. Driver's thread. */
#include "core.h"
#include "node-parts.h"

/* The functions of a part for the whole life of a node. NULL: nothing to do. */
typedef struct
{
  void (*init) (Node *node); /* everything is zero before, except the configuration */
  void (*done) (Node *node); /* frees what core_owns cannot */
  void (*tick) (Node *node);  /* a timer has fired, perhaps for this part */
  void (*check) (Node *node); /* aborts if an invariant of the part does not hold */
} Part;

/* In the order of init and tick. The part that was made last is freed first. */
static const Part parts[] = {
  { link_init, NULL, NULL, NULL },
  { carry_init, NULL, carry_tick, carry_check },
  { route_init, NULL, NULL, route_check },
  { reach_init, NULL, NULL, reach_check },
  { roster_init, NULL, roster_tick, roster_check },
  { alive_init, NULL, alive_tick, alive_check },
  { join_init, NULL, join_tick, NULL },
  { admit_init, NULL, admit_tick, NULL },
  { loans_init, NULL, NULL, loans_check },
  { held_init, NULL, NULL, held_check },
  { known_init, NULL, NULL, known_check },
  { orphans_init, NULL, NULL, NULL },
  { archive_init, archive_done, NULL, archive_check },
  { root_init, NULL, NULL, root_check },
  { leave_init, NULL, NULL, leave_check },
  { steal_init, NULL, steal_tick, steal_check },
  { lend_init, NULL, lend_tick, lend_check },
  { quarantine_init, NULL, quarantine_tick, quarantine_check },
  { rerun_init, NULL, rerun_tick, rerun_check },
  { elect_init, NULL, elect_tick, elect_check },
  { lease_init, NULL, NULL, lease_check },
  { saves_init, NULL, saves_tick, saves_check },
  { buddy_init, NULL, NULL, buddy_check },
  { holdback_init, NULL, holdback_tick, holdback_check },
  { mirror_init, NULL, NULL, mirror_check },
  { events_init, NULL, NULL, events_check },
  { work_init, NULL, NULL, work_check },
  { constants_init, NULL, NULL, NULL },
  { shares_init, shares_done, shares_tick, NULL },
  { round_init, NULL, round_go_on, NULL },
  { epoch_init, NULL, NULL, epoch_check },
  { stop_init, NULL, NULL, NULL },
  { poison_init, NULL, NULL, NULL },
  { verify_init, NULL, NULL, verify_check },
  { verify_own_init, NULL, verify_own_tick, verify_own_check },
  { yield_init, NULL, NULL, yield_check },
};

/* Called after each event, in this order: what follows from all changes of the step. */
static void (*const settles[]) (Node *node) = {
  carry_settle,  roster_settle, buddy_settle, holdback_settle, mirror_settle, verify_own_settle,
  orphans_flush, root_go_on,    leave_go_on,  steal_go_on,     stop_go_on,
};

/* Called last: the earliest time at which a part wants a tick; CORE_NEVER: none. */
static guint64 (*const dues[]) (Node *node) = {
  carry_due, roster_due,   alive_due,  join_due,       admit_due,      leave_due,
  steal_due, lend_due,     rerun_due,  quarantine_due, elect_due,      saves_due,
  round_due, holdback_due, shares_due, stop_due,       verify_own_due,
};

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
  node->above = &node_above_members;
  node->control = &node_above_work;
  if (config->heartbeat_us == 0)
    node->config.heartbeat_us = NODE_HEARTBEAT_US;
  if (config->dense == 0)
    node->config.dense = NODE_DENSE;
  if (config->copy_us == 0)
    node->config.copy_us = BUDDY_SCAN_US;
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
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i].init != NULL)
      parts[i].init (node);
  return node;
}

void
node_free (Node *node)
{
  if (node == NULL)
    return;
  for (guint i = G_N_ELEMENTS (parts); i > 0; i--)
    if (parts[i - 1].done != NULL)
      parts[i - 1].done (node);
  core_free_owned (node);
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
  node->wish_us = CORE_NEVER; /* the one timer has fired, whichever part asked for it */
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i].tick != NULL)
      parts[i].tick (node);
}

static void
take_rows (Node *node, const NodeEvent *event)
{
  leave_on_rows (node, event->rows);
  yield_on_rows (node, event->rows);
  saves_on_rows (node, event->rows, event->risk_us);
  work_moved (node, event->risk_us);
}

/* Events of the engine. */
static void
route_engine (Node *node, const NodeEvent *event)
{
  switch (event->kind)
    {
    case NODE_EVENT_IDLE:
      steal_on_idle (node, event->count);
      break;
    case NODE_EVENT_LENT:
      lend_on_lent (node, event);
      break;
    case NODE_EVENT_DONE:
      held_on_done (node, event);
      break;
    case NODE_EVENT_UNRUN:
      held_on_unrun (node, event->held, FALSE);
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
      if (node->leave.phase >= LEAVE_BEGUN)
        break; /* the offers go with this node, and others are to make them */
      directory_cover (node, event->path);
      break;
    case NODE_EVENT_UNMATCHED:
      events_unmatched (node, event->path);
      break;
    case NODE_EVENT_ROWS:
      take_rows (node, event);
      break;
    case NODE_EVENT_FINISHED:
      verify_own_on_finished (node, event);
      break;
    case NODE_EVENT_SERVED:
      verify_own_on_served (node);
      saves_on_served (node, event->number, event->work_us);
      round_on_served (node, event->number);
      yield_on_served (node, event->number);
      break;
    case NODE_EVENT_WORK:
      work_on_event (node, event);
      break;
    case NODE_EVENT_SHARED:
      lend_on_shared (node);
      break;
    case NODE_EVENT_CRASH_REPORT:
      poison_on_event (node, event);
      break;
    case NODE_EVENT_HALTED:
      leave_on_halted (node);
      stop_on_halted (node);
      break;
    case NODE_EVENT_IMPROVED:
      constants_improved (node, event->number, event->bytes);
      break;
    case NODE_EVENT_JOIN ... NODE_EVENT_TIMER:
    case NODE_EVENT_CONSTANT ... NODE_EVENT_CHECKPOINT:
      g_assert_not_reached ();
    }
}

/* Events of the network, main, the scribe and users. */
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
      link_dial_failed (node, event->dial, event->failure);
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
      lease_on_opened (node, event);
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
      lease_set_place (node, event->text);
      break;
    case NODE_EVENT_IDLE ... NODE_EVENT_IMPROVED:
      route_engine (node, event);
      break;
    }
}

static void
wish (Node *node)
{
  guint64 at = CORE_NEVER;

  for (guint i = 0; i < G_N_ELEMENTS (dues); i++)
    {
      guint64 due_us = dues[i](node);
      at = MIN (at, due_us);
    }
  if (at == CORE_NEVER || at == node->wish_us)
    return;
  node->wish_us = at;
  core_emit (node, NODE_EFFECT_TIMER)->at_us = at;
}

void
node_step (Node *node, guint64 now_us, const NodeEvent *event, GArray *effects)
{
  g_assert (node != NULL && event != NULL && effects != NULL);
  if (node->phase >= NODE_ENDED)
    return;
  node->now_us = now_us;
  node->effects = effects;
  if (node->phase == NODE_NEW)
    {
      node->phase = NODE_RUNS;
      if (node->config.founder)
        {
          node->lease.state = node->config.checkpoint ? LEASE_STARTING : LEASE_CLOSED;
          roster_found (node);
        }
    }
  route (node, event);
  for (guint i = 0; i < G_N_ELEMENTS (settles) && node->phase < NODE_ENDED; i++)
    settles[i](node);
  if (node->phase < NODE_ENDED)
    wish (node);
  if (node->phase == NODE_ENDED)
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

gboolean
node_stops (Node *node)
{
  return stop_has_begun (node);
}

gint64
node_root (Node *node)
{
  const Member *master = roster_master (node);

  if (roster_is_master (node))
    return node->root.job != NULL ? (gint64)path_root (node->root.job->path) : -1;
  return master != NULL && master->root.told_us != 0 ? (gint64)master->root_number : -1;
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
  stats->lent = (guint64)g_tree_nnodes (node->loans.by_number) + node->quarantine.jobs->len;
  stats->known = (guint64)g_tree_nnodes (node->known.by_path) + node->archive.count;
  stats->generation = node->lease.generation;
  stats->lease = node->lease.number;
  stats->events = node->events.number;
  stats->events_kept = node->events.kept.length;
  stats->published_us = node->work.published_us;
  stats->unpublished_us = work_unpublished_us (node);
  stats->alone_us = work_alone_us (node);
  stats->steal_age_us = steal_age_us (node);
}

NodeId
node_keeper (Node *node)
{
  return node->buddy.state == BUDDY_FULL && !stop_halts (node) ? node->buddy.id : NODE_ID_NONE;
}

const char *
node_not_kept (Node *node, Node *keeper)
{
  return holdback_missing (node, keeper);
}

gboolean
node_keeps_in_vain (Node *node, Node *ward)
{
  const Buddy *buddy = &ward->buddy;

  return buddy_has_rows_of (node, &ward->self) && !node_id_equal (&buddy->id, &node->self)
         && !node_id_equal (&buddy->before, &node->self);
}

void
node_epochs (Node *node, guint64 *begun, guint64 *ended)
{
  *begun = node->epoch.begun;
  *ended = node->epoch.ended;
}

guint64
node_oldest_copy_us (Node *node)
{
  return mirror_oldest_us (node);
}

gboolean
node_owes_result (Node *node, const char *path)
{
  for (const HeldJob *held = held_at (node, path); held != NULL; held = held->next)
    if (held->phase == HELD_FINISHED)
      return TRUE;
  return yield_has (node, path);
}

gboolean
node_owes_lender (Node *node, const char *path)
{
  for (const HeldJob *held = held_at (node, path); held != NULL; held = held->next)
    if (held->phase == HELD_FINISHED && held->lender == LENDER_NODE)
      return TRUE;
  return FALSE;
}

NodeWaits
node_waits (Node *node, guint64 loan, NodeId *holder)
{
  const LoanEntry *entry = loans_find (node, loan);

  if (entry == NULL)
    return NODE_WAITS_NOWHERE;
  if (entry->kind == LOAN_RERUNS)
    return NODE_WAITS_RERUN;
  *holder = entry->kind == LOAN_OWN || entry->kind == LOAN_ROW ? node_self (node) : entry->node;
  return NODE_WAITS_NODE;
}

GArray *
node_kept (Node *node)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (NodeKept));

  for (const GList *item = node->events.kept.head; item != NULL; item = item->next)
    {
      const Event *event = item->data;
      NodeKept kept = { event->number, event->kind, event->path, event->id };
      g_array_append_val (all, kept);
    }
  return all;
}

void
node_check_invariants (Node *node)
{
  if (node->phase >= NODE_ENDED)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i].check != NULL)
      parts[i].check (node);
  g_assert (node->steal.refused->len <= node->roster.members->len);
}
