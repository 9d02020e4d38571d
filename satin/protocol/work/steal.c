/* SPDX-License-Identifier: BSD-3-Clause */
/* See steal.h. */
#include "../core.h"

void
steal_init (Node *node)
{
  Steal *steal = &node->steal;

  core_array (node, &steal->refused, sizeof (NodeId));
  for (guint i = 0; i < STEAL_LANES; i++)
    steal->lanes[i] = (StealLane){ .pause_us = STEAL_PAUSE_MIN_US, .batch = 1 };
}

static gboolean
is_pausing (Node *node, const StealLane *lane)
{
  return lane->resume_us > node->now_us;
}

static void
end_pause (Node *node, StealLane *lane)
{
  lane->resume_us = MIN (lane->resume_us, node->now_us);
}

void
steal_on_idle (Node *node, guint32 count)
{
  Steal *steal = &node->steal;

  for (guint i = 0; steal->hungry == 0 && i < STEAL_LANES; i++)
    { /* this node had work a moment ago, so it need not pause */
      steal->lanes[i].pause_us = STEAL_PAUSE_MIN_US;
      end_pause (node, &steal->lanes[i]);
      steal->lanes[i].lasted_us = node->now_us - steal->lanes[i].got_us;
    }
  steal->hungry = count;
}

/* The number of jobs wanted now. */
static guint32
appetite (Node *node, const StealLane *lane)
{
  const Steal *steal = &node->steal;

  if (node->held.alone > 0)
    return 0;
  if (steal->hungry > 0)
    return MIN (MAX (steal->hungry, lane->batch), STEAL_COUNT_MAX);
  gboolean ahead = lane->batch > 1 && lane->lasted_us >= STEAL_BRIEF_US
                   && node->held.unfinished <= lane->batch / 2;
  return ahead ? lane->batch : 0;
}

/* The jobs of the last answer are used up: adapts the batch to how long they lasted. */
static void
learn (Node *node, StealLane *lane)
{
  if (lane->fed_us == 0)
    return;
  if (node->now_us < lane->fed_us + STEAL_SOON_US)
    lane->batch = MIN (lane->batch * 2, STEAL_COUNT_MAX);
  else if (node->now_us > lane->fed_us + STEAL_LATE_US)
    lane->batch = MAX (lane->batch / 2, 1);
  lane->fed_us = 0;
}

/* The lane along which this member is asked. */
static StealLane *
lane_of (Node *node, const Member *member)
{
  gboolean far = node->config.steal == NODE_STEAL_CRS && !roster_is_near (node, member);

  return &node->steal.lanes[far ? STEAL_FAR : STEAL_NEAR];
}

static gboolean
is_victim (Node *node, const Member *member)
{
  return !member->dead && !member->leaving
         && (node->config.steal != NODE_STEAL_MW || member == roster_master (node));
}

/* TRUE: this member may be asked along this lane. `all`: also if it has refused. */
static gboolean
may_be_asked (Node *node, const StealLane *lane, const Member *member, gboolean all)
{
  return member_has_connection (member) /* first, since few members have one */
         && is_victim (node, member) && lane_of (node, member) == lane
         && (all || !node_id_set_has (node->steal.refused, &member->id));
}

static gboolean
has_victim (Node *node, const StealLane *lane, gboolean all)
{
  for (guint i = 0; i < node->roster.members->len; i++)
    if (may_be_asked (node, lane, node->roster.members->pdata[i], all))
      return TRUE;
  return FALSE;
}

/* The number of members that may be asked along this lane; `victim` (nullable, out): number
 * `wanted` of them. */
static guint
victims (Node *node, const StealLane *lane, gboolean all, guint wanted, NodeId *victim)
{
  guint n = 0;

  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      if (may_be_asked (node, lane, member, all) && n++ == wanted && victim != NULL)
        *victim = member->id;
    }
  return n;
}

/* A random victim that has not refused; after a pause also one that has. None: there is none, or
 * (`refused`, out) all have refused. */
static NodeId
choose (Node *node, StealLane *lane, gboolean *refused)
{
  gboolean all = FALSE;
  guint n = victims (node, lane, all, 0, NULL);
  NodeId victim = NODE_ID_NONE;

  *refused = FALSE;
  if (n == 0)
    {
      all = TRUE;
      n = victims (node, lane, all, 0, NULL);
      *refused = n > 0 && lane->resume_us == 0;
    }
  lane->resume_us = 0;
  if (n > 0 && !*refused)
    (void)victims (node, lane, all, (guint)(core_random (node) % n), &victim);
  return victim;
}

/* The member that has work now, if it is connected; else none. */
static NodeId
take_offer (Node *node, StealLane *lane)
{
  NodeId id = lane->offer;

  lane->offer = NODE_ID_NONE;
  return member_is_connected (node, &id) ? id : NODE_ID_NONE;
}

static void
pause_a_while (Node *node, StealLane *lane)
{
  lane->resume_us = node->now_us + core_jitter (node, lane->pause_us);
  lane->pause_us = MIN (lane->pause_us * 2, STEAL_PAUSE_MAX_US);
}

static void
ask (Node *node, StealLane *lane, const NodeId *victim, guint32 count)
{
  lane->victim = *victim;
  lane->asked_us = node->now_us;
  lane->asked = count;
  lane->given = lane->run = 0;
  lane->request = ++node->steal.requests;
  holdback_send (
      node, victim,
      &(Message){ .kind = MESSAGE_STEAL, .number = lane->request, .count = lane->asked });
}

static gboolean
is_in_flight (const StealLane *lane)
{
  return !node_id_is_none (&lane->victim);
}

static gboolean
may_ask (Node *node, const StealLane *lane)
{
  return appetite (node, lane) > 0 && !is_in_flight (lane) && !stop_halts (node)
         && core_is_member (node) && constants_started (node);
}

static void
go_on (Node *node, StealLane *lane)
{
  gboolean refused = FALSE;

  if (!may_ask (node, lane))
    return;
  NodeId victim = take_offer (node, lane);
  if (node_id_is_none (&victim) && is_pausing (node, lane))
    return;
  if (node_id_is_none (&victim))
    victim = choose (node, lane, &refused);
  if (!node_id_is_none (&victim))
    {
      learn (node, lane);
      ask (node, lane, &victim, MAX (appetite (node, lane), 1));
    }
  else if (refused)
    pause_a_while (node, lane);
}

/* Other sites are asked when all victims of this site have refused. This site is asked again
 * meanwhile. */
void
steal_go_on (Node *node)
{
  StealLane *near = &node->steal.lanes[STEAL_NEAR], *far = &node->steal.lanes[STEAL_FAR];

  go_on (node, near);
  if (node->config.steal == NODE_STEAL_CRS && node->contacts.far > 0 && may_ask (node, far)
      && (!node_id_is_none (&far->offer)
          || (!is_pausing (node, far) && has_victim (node, far, TRUE)
              && !has_victim (node, near, FALSE))))
    go_on (node, far);
}

guint64
steal_age_us (Node *node)
{
  guint64 age_us = 0;

  for (guint i = 0; i < STEAL_LANES; i++)
    if (is_in_flight (&node->steal.lanes[i]))
      age_us = MAX (age_us, node->now_us - node->steal.lanes[i].asked_us);
  return age_us;
}

/* All jobs of the answer have come. */
static void
end_request (Node *node, StealLane *lane)
{
  NodeId victim = lane->victim;

  lane->victim = NODE_ID_NONE;
  if (lane->given == 0)
    {
      if (roster_find (node, &victim) != NULL)
        node_id_set_add (node->steal.refused, &victim);
      return;
    }
  node_id_set_remove (node->steal.refused, &victim); /* a probe had asked it */
  lane->got_us = node->now_us;
  lane->pause_us = STEAL_PAUSE_MIN_US;
  end_pause (node, lane);
  if (lane->run >= lane->asked)
    lane->fed_us = node->now_us;
}

void
steal_on_answer (Node *node, guint64 number, guint given, guint run, gboolean more)
{
  Steal *steal = &node->steal;

  steal->hungry -= MIN (steal->hungry, run);
  for (guint i = 0; i < STEAL_LANES; i++)
    {
      StealLane *lane = &steal->lanes[i];
      if (!is_in_flight (lane) || number != lane->request)
        continue;
      lane->given += given;
      lane->run += run;
      if (!more)
        end_request (node, lane);
    }
}

void
steal_on_offer (Node *node, const NodeId *id)
{
  const Member *member = roster_find (node, id);

  if (member == NULL || !is_victim (node, member) || node_id_equal (id, &node->self))
    return;
  node_id_set_remove (node->steal.refused, id);
  lane_of (node, member)->offer = *id;
}

void
steal_on_down (Node *node, const NodeId *id)
{
  for (guint i = 0; i < STEAL_LANES; i++)
    if (node_id_equal (&node->steal.lanes[i].victim, id))
      end_request (node, &node->steal.lanes[i]);
}

void
steal_departed (Node *node, const NodeId *id)
{
  Steal *steal = &node->steal;

  for (guint i = 0; i < STEAL_LANES; i++)
    {
      StealLane *lane = &steal->lanes[i];
      if (node_id_equal (&lane->victim, id))
        lane->victim = NODE_ID_NONE;
      if (node_id_equal (&lane->offer, id))
        lane->offer = NODE_ID_NONE;
    }
  node_id_set_remove (steal->refused, id);
}

void
steal_on_robbed (Node *node)
{
  for (guint i = 0; i < STEAL_LANES; i++)
    {
      node->steal.lanes[i].batch = 1;
      node->steal.lanes[i].fed_us = 0;
    }
}

guint64
steal_due (Node *node)
{
  guint64 at = CORE_NEVER;

  for (guint i = 0; i < STEAL_LANES; i++)
    {
      const StealLane *lane = &node->steal.lanes[i];
      if (is_in_flight (lane))
        at = MIN (at, lane->asked_us + STEAL_ANSWER_US);
      else if (is_pausing (node, lane) && appetite (node, lane) > 0 && !stop_halts (node))
        at = MIN (at, lane->resume_us);
    }
  return at;
}

void
steal_tick (Node *node)
{
  Steal *steal = &node->steal;

  for (guint i = 0; i < STEAL_LANES; i++)
    if (is_in_flight (&steal->lanes[i])
        && node->now_us >= steal->lanes[i].asked_us + STEAL_ANSWER_US)
      end_request (node, &steal->lanes[i]);
}

void
steal_check (Node *node)
{
  const Steal *steal = &node->steal;

  for (guint i = 0; i < STEAL_LANES; i++)
    {
      const StealLane *lane = &steal->lanes[i];
      g_assert (!is_in_flight (lane) || roster_find (node, &lane->victim) != NULL);
      g_assert (node_id_is_none (&lane->offer) || roster_find (node, &lane->offer) != NULL);
      g_assert (lane->batch >= 1 && lane->batch <= STEAL_COUNT_MAX);
      g_assert (i == STEAL_NEAR || node->contacts.far > 0 || !has_victim (node, lane, TRUE));
    }
  for (guint i = 0; i < steal->refused->len; i++)
    g_assert (roster_find (node, &g_array_index (steal->refused, NodeId, i)) != NULL);
}
