/* SPDX-License-Identifier: BSD-3-Clause */
/* See steal.h. */
#include "core.h"

void
steal_init (Steal *steal)
{
  steal->refused = g_array_new (FALSE, FALSE, sizeof (NodeId));
  steal->lending = g_array_new (FALSE, FALSE, sizeof (Lending));
  steal->pause_us = STEAL_PAUSE_MIN_US;
}

void
steal_done (Steal *steal)
{
  g_array_unref (steal->refused);
  g_array_unref (steal->lending);
}

void
steal_on_hungry (Node *node, guint32 count)
{
  Steal *steal = &node->steal;

  if (steal->hungry == 0) /* there was work a moment ago: no reason to wait */
    {
      steal->pause_us = STEAL_PAUSE_MIN_US;
      steal->resume_us = 0;
    }
  steal->hungry = count;
}

static gboolean
has_refused (const Steal *steal, const NodeId *id)
{
  for (guint i = 0; i < steal->refused->len; i++)
    if (node_id_equal (&g_array_index (steal->refused, NodeId, i), id))
      return TRUE;
  return FALSE;
}

/* (transfer container): links to those who may be asked in this round. */
static GPtrArray *
victims (Node *node)
{
  GPtrArray *links = g_ptr_array_new ();

  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      Link *link = member->dead || has_refused (&node->steal, &member->id)
                       ? NULL
                       : link_to (node, &member->id);
      if (link != NULL)
        g_ptr_array_add (links, link);
    }
  return links;
}

static void
pause_round (Node *node)
{
  Steal *steal = &node->steal;

  g_array_set_size (steal->refused, 0);
  steal->resume_us = node->now_us + core_jitter (node, steal->pause_us);
  steal->pause_us = MIN (steal->pause_us * 2, STEAL_PAUSE_MAX_US);
}

void
steal_go_on (Node *node)
{
  Steal *steal = &node->steal;

  if (steal->resume_us <= node->now_us)
    steal->resume_us
        = 0; /* a pause that is over asks for no timer, whether there is somebody to ask or not */
  if (steal->hungry == 0 || steal->in_flight || steal->resume_us > 0 || node->stop.halting
      || !core_is_member (node) || !constants_started (node))
    return;
  g_autoptr (GPtrArray) links = victims (node);
  if (links->len == 0)
    {
      if (steal->refused->len > 0)
        pause_round (node);
      return;
    }
  Link *link = links->pdata[core_random (node) % links->len];
  steal->in_flight = TRUE;
  steal->victim = link->remote;
  steal->link = link->link;
  steal->until_us = node->now_us + STEAL_ANSWER_US;
  link_send (node, link,
             &(Message){ .kind = MESSAGE_STEAL,
                         .number = ++steal->request,
                         .count = MIN (steal->hungry, STEAL_COUNT_MAX) });
}

static void
refuse (Node *node)
{
  Steal *steal = &node->steal;

  steal->in_flight = FALSE;
  if (!has_refused (steal, &steal->victim) && roster_find (node, &steal->victim) != NULL)
    g_array_append_val (steal->refused, steal->victim);
}

void
steal_on_answer (Node *node, guint64 number, guint given, guint run)
{
  Steal *steal = &node->steal;

  steal->hungry -= MIN (steal->hungry, run);
  if (!steal->in_flight || number != steal->request)
    return;
  if (given == 0)
    {
      refuse (node);
      return;
    }
  steal->in_flight = FALSE;
  steal->pause_us = STEAL_PAUSE_MIN_US;
  g_array_set_size (steal->refused, 0);
}

void
steal_on_down (Node *node, guint64 link)
{
  if (node->steal.in_flight && node->steal.link == link)
    refuse (node);
}

void
steal_departed (Node *node, const NodeId *id)
{
  Steal *steal = &node->steal;

  if (steal->in_flight && node_id_equal (&steal->victim, id))
    steal->in_flight = FALSE;
  for (guint i = steal->refused->len; i > 0; i--)
    if (node_id_equal (&g_array_index (steal->refused, NodeId, i - 1), id))
      g_array_remove_index (steal->refused, i - 1);
}

/* ---- the victim's side ---- */

void
steal_on_request (Node *node, Link *link, const Message *m)
{
  Lending lending = { link->remote, link->link, m->number };

  if (m->count == 0 || node->stop.halting || !constants_started (node))
    {
      link_send (node, link, &(Message){ .kind = MESSAGE_NONE, .number = m->number });
      return;
    }
  g_array_append_val (node->steal.lending, lending);
  NodeEffect *effect = core_emit (node, NODE_EFFECT_LEND);
  effect->node = link->remote;
  effect->count = MIN (m->count, STEAL_COUNT_MAX);
}

void
steal_on_lent (Node *node, const NodeEvent *event)
{
  GArray *waiting = node->steal.lending;

  if (waiting->len == 0)
    return;
  Lending lending = g_array_index (waiting, Lending, 0);
  g_array_remove_index (waiting, 0);
  Link *link = link_find (node, lending.link);
  if (link == NULL || !link->bound)
    link = link_to (node, &lending.thief);
  if (link == NULL) /* it left while the engine looked */
    {
      for (guint i = 0; i < event->loans->len; i++)
        core_emit (node, NODE_EFFECT_BACK)->loan = ((Loan *)event->loans->pdata[i])->loan;
      return;
    }
  if (event->loans->len == 0)
    {
      link_send (node, link, &(Message){ .kind = MESSAGE_NONE, .number = lending.request });
      return;
    }
  for (guint i = 0; i < event->loans->len; i++)
    {
      const Loan *loan = event->loans->pdata[i];
      loans_add (
          node,
          (LoanEntry){
              .loan = loan->loan, .path = loan->path, .digest = loan->digest, .link = link->link },
          &lending.thief);
    }
  link_send (node, link,
             &(Message){ .kind = MESSAGE_JOBS, .number = lending.request, .loans = event->loans });
}

/* ---- time ---- */

guint64
steal_due (Node *node)
{
  const Steal *steal = &node->steal;

  if (steal->in_flight)
    return steal->until_us;
  return steal->hungry > 0 && steal->resume_us > 0 && !node->stop.halting ? steal->resume_us
                                                                          : CORE_NEVER;
}

void
steal_tick (Node *node)
{
  Steal *steal = &node->steal;

  if (steal->in_flight && node->now_us >= steal->until_us)
    refuse (node);
}
