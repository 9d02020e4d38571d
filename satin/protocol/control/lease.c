/* SPDX-License-Identifier: BSD-3-Clause */
/* See lease.h. Every change of the lease, decided here or received, goes through take (). */
#include "../core.h"

static const char cannot_take_over[] = "it could not take the checkpoint over";

void
lease_init (Node *node)
{
  core_owns (node, &node->lease.place, g_free);
}

static Message
lease_message (Node *node)
{
  const Lease *lease = &node->lease;

  return (Message){ .kind = MESSAGE_LEASE,
                    .id = lease->holder,
                    .term = lease->term,
                    .version = lease->generation,
                    .count = lease->number,
                    .flag
                    = core_is_self (node, &lease->holder) && node->saves.phase >= SAVES_OPENED,
                    .text = lease->place != NULL ? lease->place : "" };
}

/* The master may not know that the scribe could not take over. */
static void
resign_again (Node *node)
{
  if (core_is_self (node, &node->lease.holder) && node->saves.phase == SAVES_NOT
      && !roster_is_master (node))
    elect_ask (node, TRUE, cannot_take_over);
}

static void
tell_all (Node *node)
{
  Message message = lease_message (node);

  member_send_all (node, &message);
}

void
lease_greet (Node *node, const NodeId *to)
{
  Message message = lease_message (node);

  if (!node->config.checkpoint || (node->lease.number == 0 && node->lease.place == NULL))
    return;
  (void)member_send (node, to, &message);
  resign_again (node);
}

/* The coordinator accepts rows and orders from now on: each node sends it everything. */
static void
opened (Node *node)
{
  node->lease.state = LEASE_OPENED;
#ifndef SATIN_PLANT_FRONTIER_NOT_RENEWED
  saves_renew (node);
#endif
  round_coordinator_opened (node);
  rerun_ask_all (node);
  root_go_on (node);
}

static void
changed (Node *node, const NodeId *before)
{
  Lease *lease = &node->lease;
  const Member *last = roster_find (node, before);

  if (lease->state == LEASE_OPENED)
    lease->state = LEASE_CLOSED;
  if (core_is_self (node, &lease->holder))
    {
      if (node->saves.phase == SAVES_NOT)
        saves_promoted (node, last == NULL || last->dead);
    }
  else if (node->saves.phase != SAVES_NOT)
    saves_retired (node);
  node->elect.watch.slow_in_row = 0;
#ifndef SATIN_PLANT_FRONTIER_NOT_RENEWED
  saves_renew (node);
#endif
  stop_ask_again (node);
}

/* Sets the lease that is valid from now on. */
static void
take (Node *node, const Term *term, guint32 number, const NodeId *holder)
{
  Lease *lease = &node->lease;
  NodeId before = lease->holder;
  gboolean same = number == lease->number && node_id_equal (holder, &before);

  lease->term = *term;
  lease->number = number;
  lease->holder = *holder;
  if (!same)
    {
      contacts_refresh (node);
      changed (node, &before);
    }
}

/* The master grants the lease. */
void
lease_give (Node *node, const NodeId *holder)
{
  Lease *lease = &node->lease;
  Term term = node->roster.term;
  NodeId id = *holder;

  if (!node_id_is_none (&id))
    core_log (node, "node %u.%u is coordinator, term %u", id.term, id.number, term.number);
  take (node, &term, lease->number + 1, &id);
  tell_all (node);
}

static int
compare_lease (const Lease *lease, const Message *m)
{
  int order = term_compare (&m->term, &lease->term);

  if (order != 0)
    return order;
  return m->count < lease->number ? -1 : m->count > lease->number;
}

void
lease_on_message (Node *node, const NodeId *from, const Message *m)
{
  Lease *lease = &node->lease;
  int order = compare_lease (lease, m);

  if (m->text[0] != '\0')
    lease_set_place (node, m->text);
  if (!node->config.checkpoint)
    return;
  lease_saw_generation (node, m->version);
#ifdef SATIN_PLANT_OLD_LEASE_OBEYED
  order = order < 0 ? 1 : order;
#endif
  if (order > 0 && roster_is_master (node))
    {
      roster_reassert (node, &m->term); /* no other node grants it, so this one belongs to another
                                         * side of a split */
      return;
    }
  if (order < 0)
    {
      lease_greet (node, from);
      return;
    }
  if (order > 0)
    {
      take (node, &m->term, m->count, &m->id);
      if (core_is_self (node, &lease->holder) && node->saves.phase >= SAVES_OPENED)
        tell_all (node); /* a new master does not know it */
      resign_again (node);
    }
  if (m->flag && lease->state != LEASE_OPENED && member_is_connected (node, from)
      && node_id_equal (from, &lease->holder))
    opened (node);
}

gboolean
lease_is_vacant (Node *node)
{
  NodeId holder;

  return !lease_coordinator (node, &holder);
}

guint64
lease_required (Node *node)
{
  const Lease *lease = &node->lease;

#ifdef SATIN_PLANT_PLACE_NOT_PROVED
  return 0;
#endif
  guint64 found = node->elect.found;
  return found > 0 ? MIN (found, lease->generation) : lease->generation;
}

void
lease_promoted (Node *node)
{
  Lease *lease = &node->lease;
  NodeId holder;

  if (!node->config.checkpoint)
    return;
  elect_deposed (node); /* cancels an election begun before */
  /* A holder that could not take over had only begun to say so. */
  if (lease_coordinator (node, &holder)
      && (!core_is_self (node, &holder) || node->saves.phase != SAVES_NOT))
    {
      take (node, &node->roster.term, lease->number, &holder);
      tell_all (node);
      return;
    }
  lease_give (node, &node->self);
  elect_promoted (node);
}

void
lease_set_place (Node *node, const char *place)
{
  if (node->config.checkpoint || node->config.plan.drops_orphans || !core_is_member (node)
      || node->stop.phase >= STOP_HALTING || node->stop.finished)
    return;
  node->config.checkpoint = NODE_CHECKPOINT_NEW;
  node->lease.place = g_strdup (place);
  core_emit (node, NODE_EFFECT_CHECKPOINT)->text = g_strdup (place);
  if (roster_is_master (node))
    lease_promoted (node);
  else
    tell_all (node);
}

void
lease_reset (Node *node)
{
  Lease *lease = &node->lease;

  if (node->saves.phase != SAVES_NOT)
    saves_retired (node);
  lease->term = (Term){ 0 };
  lease->number = 0;
  lease->holder = NODE_ID_NONE;
}

/* A node without a name knows no lease: it may be of another term of the run. A master has granted
 * one. */
void
lease_check (Node *node)
{
  g_assert (!node_id_is_none (&node->self) || node->lease.number == 0);
  g_assert (!node->config.checkpoint || !roster_is_master (node) || node->lease.number > 0);
}

void
lease_on_opened (Node *node, const NodeEvent *event)
{
  if (node->saves.phase != SAVES_HERE)
    return;
  if (!event->failed)
    {
      lease_saw_generation (node, event->number);
      saves_opened (node);
      tell_all (node);
      opened (node);
      return;
    }
  node->saves.phase = SAVES_NOT; /* there is no scribe to retire */
  elect_ask (node, TRUE, event->text != NULL ? event->text : cannot_take_over);
}

void
lease_saw_generation (Node *node, guint64 generation)
{
  guint64 before = node->lease.generation;

  node->lease.generation = MAX (before, generation);
  if (before == 0 && generation > 0)
    elect_place_known (node);
}
