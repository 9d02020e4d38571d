/* SPDX-License-Identifier: BSD-3-Clause */
/* See office.h. Every change of the office, made here or heard, goes through take (). */
#include "core.h"

static const char cannot_take_over[] = "it could not take the checkpoint over";

void
office_done (Node *node)
{
  g_free (node->office.place);
}

static gboolean
is_self (Node *node, const NodeId *id)
{
  return core_is_member (node) && node_id_equal (id, &node->self);
}

static Message
office_message (Node *node)
{
  const Office *office = &node->office;

  return (Message){ .kind = MESSAGE_OFFICE,
                    .id = office->holder,
                    .term = office->term,
                    .version = office->generation,
                    .count = office->number,
                    .flag = is_self (node, &office->holder) && node->saves.opened };
}

/* The master may not have heard that the scribe could not take over. */
static void
resign_again (Node *node)
{
  if (is_self (node, &node->office.holder) && !node->saves.here && !roster_is_master (node))
    elect_ask (node, TRUE, cannot_take_over);
}

static void
tell_all (Node *node)
{
  Message message = office_message (node);

  member_send_all (node, &message);
}

void
office_greet (Node *node, const NodeId *to)
{
  Message message = office_message (node);

  if (node->office.place != NULL)
    (void)member_send (node, to,
                       &(Message){ .kind = MESSAGE_CHECKPOINT, .text = node->office.place });
  if (!node->config.checkpoint || node->office.number == 0)
    return;
  (void)member_send (node, to, &message);
  resign_again (node);
}

/* The coordinator takes rows and orders from now on: everybody sends all that it has. */
static void
opened (Node *node)
{
  node->office.opened = TRUE;
  node->office.starting = node->office.without = FALSE;
#ifndef SATIN_PLANT_FRONTIER_NOT_RENEWED
  saves_renew (node);
#endif
  round_coordinator_opened (node);
  rerun_ask_all (node);
  stop_coordinator_has_opened (node);
  root_go_on (node);
}

static void
changed (Node *node, const NodeId *before)
{
  Office *office = &node->office;
  const Member *last = roster_find (node, before);

  office->opened = FALSE;
  if (is_self (node, &office->holder))
    {
      if (!node->saves.here)
        saves_promoted (node, last == NULL || last->dead);
    }
  else if (node->saves.here)
    saves_retired (node);
  node->elect.watch.slow_in_row = 0;
#ifndef SATIN_PLANT_FRONTIER_NOT_RENEWED
  saves_renew (node);
#endif
  stop_coordinator_is_new (node);
}

/* This office holds from now on. */
static void
take (Node *node, const Term *term, guint32 number, const NodeId *holder)
{
  Office *office = &node->office;
  NodeId before = office->holder;
  gboolean same = number == office->number && node_id_equal (holder, &before);

  office->term = *term;
  office->number = number;
  office->holder = *holder;
  if (!same)
    {
      contacts_refresh (node);
      changed (node, &before);
    }
}

/* The master gives the office. */
void
office_give (Node *node, const NodeId *holder)
{
  Office *office = &node->office;
  Term term = node->roster.term;
  NodeId id = *holder;

  if (!node_id_is_none (&id))
    core_log (node, "node %u.%u is coordinator, term %u", id.term, id.number, term.number);
  take (node, &term, office->number + 1, &id);
  tell_all (node);
}

static int
compare_office (const Office *office, const Message *m)
{
  int order = term_compare (&m->term, &office->term);

  if (order != 0)
    return order;
  return m->count < office->number ? -1 : m->count > office->number;
}

void
office_on_message (Node *node, const NodeId *from, const Message *m)
{
  Office *office = &node->office;
  int order = compare_office (office, m);

  if (!node->config.checkpoint)
    return;
  office_saw_generation (node, m->version);
#ifdef SATIN_PLANT_OLD_OFFICE_OBEYED
  order = order < 0 ? 1 : order;
#endif
  if (order > 0 && roster_is_master (node))
    {
      roster_reassert (node,
                       &m->term); /* nobody else gives it: it is of the other side of a split */
      return;
    }
  if (order < 0)
    {
      office_greet (node, from);
      return;
    }
  if (order > 0)
    {
      take (node, &m->term, m->count, &m->id);
      if (is_self (node, &office->holder) && node->saves.opened)
        tell_all (node); /* a new master has not heard it */
      resign_again (node);
    }
  if (m->flag && !office->opened && member_is_connected (node, from)
      && node_id_equal (from, &office->holder))
    opened (node);
}

gboolean
office_is_vacant (Node *node)
{
  NodeId holder;

  return !office_coordinator (node, &holder);
}

guint64
office_required (Node *node)
{
  const Office *office = &node->office;

#ifdef SATIN_PLANT_PLACE_NOT_PROVED
  return 0;
#endif
  guint64 found = node->elect.found;
  return found > 0 ? MIN (found, office->generation) : office->generation;
}

void
office_promoted (Node *node)
{
  Office *office = &node->office;
  NodeId holder;

  if (!node->config.checkpoint)
    return;
  elect_deposed (node); /* one that was begun before counts no more */
  /* One that could not take over had only begun to say so. */
  if (office_coordinator (node, &holder) && (!is_self (node, &holder) || node->saves.here))
    {
      take (node, &node->roster.term, office->number, &holder);
      tell_all (node);
      return;
    }
  office_give (node, &node->self);
  elect_promoted (node);
}

void
office_set_place (Node *node, const char *place)
{
  if (node->config.checkpoint || node->config.plan.drops_orphans || !core_is_member (node)
      || node->stop.halting || node->stop.finished)
    return;
  node->config.checkpoint = TRUE;
  node->office.place = g_strdup (place);
  core_emit (node, NODE_EFFECT_CHECKPOINT)->text = g_strdup (place);
  member_send_all (node, &(Message){ .kind = MESSAGE_CHECKPOINT, .text = place });
  saves_begin (node);
  if (roster_is_master (node))
    office_promoted (node);
}

void
office_reset (Node *node)
{
  Office *office = &node->office;

  if (node->saves.here)
    saves_retired (node);
  office->term = (Term){ 0 };
  office->number = 0;
  office->holder = NODE_ID_NONE;
  office->opened = FALSE;
}

void
office_on_opened (Node *node, const NodeEvent *event)
{
  if (!node->saves.here || node->saves.opened)
    return;
  if (!event->failed)
    {
      office_saw_generation (node, event->number);
      saves_opened (node);
      tell_all (node);
      opened (node);
      return;
    }
  node->saves.here = FALSE; /* there is no scribe to be retired */
  elect_ask (node, TRUE, event->text != NULL ? event->text : cannot_take_over);
}

void
office_saw_generation (Node *node, guint64 generation)
{
  node->office.generation = MAX (node->office.generation, generation);
  if (node->office.generation > 0)
    elect_place_known (node);
}
