/* SPDX-License-Identifier: BSD-3-Clause */
/* See steal.h. */
#include "core.h"

void
steal_init (Steal *steal)
{
  steal->refused = g_array_new (FALSE, FALSE, sizeof (NodeId));
  steal->lending = g_array_new (FALSE, FALSE, sizeof (Lending));
  steal->owed = g_array_new (FALSE, FALSE, sizeof (NodeId));
  steal->pause_us = STEAL_PAUSE_MIN_US;
  steal->batch = 1;
  steal->tell_pause_us = STEAL_TELL_MIN_US;
}

void
steal_done (Steal *steal)
{
  g_array_unref (steal->refused);
  g_array_unref (steal->lending);
  g_array_unref (steal->owed);
}

/* ---- sets of nodes, in order ---- */

static gboolean
set_find (const GArray *set, const NodeId *id, guint *place)
{
  for (guint i = 0; i < set->len; i++)
    if (node_id_equal (&g_array_index (set, NodeId, i), id))
      {
        *place = i;
        return TRUE;
      }
  return FALSE;
}

static void
set_add (GArray *set, const NodeId *id)
{
  guint place;

  if (!set_find (set, id, &place))
    g_array_append_val (set, *id);
}

static void
set_remove (GArray *set, const NodeId *id)
{
  guint place;

  if (set_find (set, id, &place))
    g_array_remove_index (set, place);
}

/* ---- the thief's side ---- */

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

/* How many jobs are wanted now. */
static guint32
appetite (Node *node)
{
  const Steal *steal = &node->steal;

  if (steal->hungry > 0)
    return MIN (MAX (steal->hungry, steal->batch), STEAL_COUNT_MAX);
  return steal->batch > 1 && node->held.unfinished <= steal->batch / 2 ? steal->batch : 0;
}

/* The last reply is used up: was it large enough? */
static void
learn (Node *node)
{
  Steal *steal = &node->steal;

  if (steal->fed_us == 0)
    return;
  if (node->now_us < steal->fed_us + STEAL_SOON_US)
    steal->batch = MIN (steal->batch * 2, STEAL_COUNT_MAX);
  else if (node->now_us > steal->fed_us + STEAL_LATE_US)
    steal->batch = MAX (steal->batch / 2, 1);
  steal->fed_us = 0;
}

/* (transfer container): links to the members that may be asked. */
static GPtrArray *
victims (Node *node, gboolean all)
{
  GPtrArray *links = g_ptr_array_new ();
  guint place;

  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      Link *link = member->dead || member->leaving
                           || (!all && set_find (node->steal.refused, &member->id, &place))
                       ? NULL
                       : link_to (node, &member->id);
      if (link != NULL)
        g_ptr_array_add (links, link);
    }
  return links;
}

/* (nullable): one who has not refused; after a pause one who has. */
static Link *
choose (Node *node)
{
  Steal *steal = &node->steal;
  g_autoptr (GPtrArray) links = victims (node, FALSE);

  if (links->len == 0 && steal->probe)
    {
      g_ptr_array_unref (links);
      links = victims (node, TRUE);
    }
  steal->probe = FALSE;
  return links->len == 0 ? NULL : links->pdata[core_random (node) % links->len];
}

/* (nullable): the one who said MORE. */
static Link *
take_offer (Node *node)
{
  NodeId id = node->steal.offer;

  node->steal.offer = NODE_ID_NONE;
  return node_id_is_none (&id) ? NULL : link_to (node, &id);
}

static void
pause_a_while (Node *node)
{
  Steal *steal = &node->steal;

  steal->probe = TRUE;
  steal->resume_us = node->now_us + core_jitter (node, steal->pause_us);
  steal->pause_us = MIN (steal->pause_us * 2, STEAL_PAUSE_MAX_US);
}

static void
ask (Node *node, Link *link, guint32 count)
{
  Steal *steal = &node->steal;

  steal->in_flight = TRUE;
  steal->victim = link->remote;
  steal->link = link->link;
  steal->until_us = node->now_us + STEAL_ANSWER_US;
  steal->asked = count;
  link_send (
      node, link,
      &(Message){ .kind = MESSAGE_STEAL, .number = ++steal->request, .count = steal->asked });
}

void
steal_go_on (Node *node)
{
  Steal *steal = &node->steal;

  if (steal->resume_us <= node->now_us)
    steal->resume_us
        = 0; /* a pause that is over asks for no timer, whether there is somebody to ask or not */
  if (appetite (node) == 0 || steal->in_flight || stop_halts (node) || !core_is_member (node)
      || !constants_started (node))
    return;
  Link *link = take_offer (node);
  if (link == NULL && steal->resume_us > 0)
    return;
  if (link == NULL)
    link = choose (node);
  if (link != NULL)
    {
      learn (node);
      ask (node, link, MAX (appetite (node), 1));
    }
  else if (steal->refused->len > 0)
    pause_a_while (node);
}

guint64
steal_age_us (Node *node)
{
  return node->steal.in_flight ? node->now_us + STEAL_ANSWER_US - node->steal.until_us : 0;
}

static void
refuse (Node *node)
{
  Steal *steal = &node->steal;

  steal->in_flight = FALSE;
  if (roster_find (node, &steal->victim) != NULL)
    set_add (steal->refused, &steal->victim);
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
  steal->resume_us = 0;
  g_array_set_size (steal->refused, 0);
  if (run >= steal->asked)
    steal->fed_us = node->now_us;
}

void
steal_on_more (Node *node, const Link *link)
{
  set_remove (node->steal.refused, &link->remote);
  node->steal.offer = link->remote;
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
  if (node_id_equal (&steal->offer, id))
    steal->offer = NODE_ID_NONE;
  set_remove (steal->refused, id);
  set_remove (steal->owed, id);
}

/* ---- the victim's side ---- */

void
steal_on_request (Node *node, Link *link, const Message *m)
{
  Lending lending = { link->remote, link->link, m->number, MIN (m->count, STEAL_COUNT_MAX) };

  set_remove (node->steal.owed, &link->remote);
  if (m->count == 0 || stop_halts (node) || !constants_started (node)
      || roster_find (node, &link->remote)->leaving)
    {
      link_send (node, link, &(Message){ .kind = MESSAGE_NONE, .number = m->number });
      return;
    }
  g_array_append_val (node->steal.lending, lending);
  NodeEffect *effect = core_emit (node, NODE_EFFECT_LEND);
  effect->node = link->remote;
  effect->link = link->link;
  effect->count = lending.count;
}

/* Says MORE to the one who has waited longest. */
static void
tell (Node *node)
{
  Steal *steal = &node->steal;

  while (steal->owed->len > 0)
    {
      NodeId id = g_array_index (steal->owed, NodeId, 0);
      g_array_remove_index (steal->owed, 0);
      if (!link_send_to (node, &id, &(Message){ .kind = MESSAGE_MORE }))
        continue;
      steal->tell_us = node->now_us + steal->tell_pause_us;
      steal->tell_pause_us = MIN (steal->tell_pause_us * 2, STEAL_TELL_MAX_US);
      return;
    }
}

/* Those who ask just now are among the thieves. */
static void
ask_for_all (const Steal *steal, NodeEffect *owe)
{
  owe->count = steal->owed->len + steal->lending->len;
}

/* There is nothing for this thief: it is told when there is. */
static void
owe (Node *node, const NodeId *thief)
{
  Steal *steal = &node->steal;

  if (steal->owed->len == 0)
    {
      steal->look_pause_us = STEAL_LOOK_MIN_US;
      steal->look_us = node->now_us + steal->look_pause_us;
    }
  set_add (steal->owed, thief);
  ask_for_all (steal, core_emit (node, NODE_EFFECT_OWE));
}

void
steal_expect (Node *node)
{
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];

      if (!member->dead && !member->leaving && !node_id_equal (&member->id, &node->self))
        owe (node, &member->id);
    }
}

void
steal_on_shared (Node *node)
{
  Steal *steal = &node->steal;

  if (steal->owed->len == 0 || stop_halts (node))
    return;
  if (node->now_us >= steal->tell_us)
    tell (node);
  else
    steal->look_us = MIN (steal->look_us, steal->tell_us);
}

/* The thief took all that it wanted, so there may be more for the next. */
static void
gave (Node *node, const Lending *lending, guint count)
{
  Steal *steal = &node->steal;

  steal->tell_pause_us = STEAL_TELL_MIN_US;
  steal->tell_us = 0;
  if (count >= lending->count)
    tell (node);
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
      owe (node, &lending.thief);
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
  gave (node, &lending, event->loans->len);
}

/* ---- time ---- */

guint64
steal_due (Node *node)
{
  const Steal *steal = &node->steal;
  guint64 at = steal->owed->len > 0 && !stop_halts (node) ? steal->look_us : CORE_NEVER;

  if (steal->in_flight)
    return MIN (at, steal->until_us);
  if (steal->resume_us > 0 && appetite (node) > 0 && !stop_halts (node))
    at = MIN (at, steal->resume_us);
  return at;
}

void
steal_tick (Node *node)
{
  Steal *steal = &node->steal;

  if (steal->in_flight && node->now_us >= steal->until_us)
    refuse (node);
  if (steal->owed->len == 0 || node->now_us < steal->look_us)
    return;
  /* What was public when the engine looked may have been taken back; and a program that is narrow
   * now may be wide later. */
  steal->look_pause_us = MIN (steal->look_pause_us * 2, STEAL_LOOK_MAX_US);
  steal->look_us = node->now_us + steal->look_pause_us;
  ask_for_all (steal, core_emit (node, NODE_EFFECT_OWE));
}
