/* SPDX-License-Identifier: BSD-3-Clause */
/* See round.h. */
#include "../core.h"

void
round_init (Node *node)
{
  core_array (node, &node->round.missing, sizeof (NodeId));
}

/* TRUE: the end of the run is published. */
static gboolean
is_last (RoundCause cause)
{
  return cause >= ROUND_HALTED;
}

/* TRUE: the round asks all members for something. */
static gboolean
asks_all (const Node *node)
{
  return node->round.cause != ROUND_FINISHED || events_may_lack (node);
}

/* Begins what this node owes for the round of this SCAN. */
static void
owe (Node *node, const Message *scan)
{
  Round *round = &node->round;

  round->owed = scan->number;
  if (scan->count == ROUND_HALTED)
    {
      round->owed_scan = CORE_NEVER;
      round_on_halted (node);
      return;
    }
  if (scan->count == ROUND_FINISHED)
    {
      round->owed_scan = 0;
      round_on_served (node, node->epoch.served);
      return;
    }
  verify_end (node, NULL);
  round->heard = !node->config.plan.epochs;
  round->owed_scan
      = node->config.plan.epochs ? epoch_open (node, scan->version) : saves_scan (node);
}

static Message
scan_message (const Node *node)
{
  return (Message){ .kind = MESSAGE_SCAN,
                    .number = node->round.number,
                    .version = node->epoch.number,
                    .count = node->round.cause };
}

/* A member that is not connected is waited for: it connects, or it is dead, which a dial may prove
 * at once. */
static void
scan_all (Node *node)
{
  Round *round = &node->round;

  round->number++;
  Message message = scan_message (node);
  if (asks_all (node))
    member_send_all (node, &message);
  for (guint i = 0; i < node->roster.members->len && is_last (round->cause) && asks_all (node); i++)
    {
      Member *member = node->roster.members->pdata[i];
      if (!roster_is_self (node, member) && !member_is_connected (node, &member->id))
        alive_redial (node, member);
    }
  owe (node, &message);
}

static void
begin (Node *node, RoundCause cause, guint64 patience_us)
{
  Round *round = &node->round;
  gboolean under_way = round->state == ROUND_SCANNING && is_last (round->cause);

  if (!is_last (cause) && (stop_has_begun (node) || is_last (MAX (round->cause, round->next))))
    return; /* the end of the run publishes everything */
  if (round->state == ROUND_PUBLISHING
      || (node->config.plan.epochs && round->state == ROUND_SCANNING && !is_last (cause)))
    {
      round->next = MAX (round->next, cause);
      round->patience_us = patience_us;
      return;
    }
  if (node->config.plan.epochs && !is_last (cause))
    epoch_begin (node);
  guint64 until_us = node->now_us + patience_us;
  round->until_us = under_way ? MIN (round->until_us, until_us) : until_us;
  round->state = ROUND_SCANNING;
  round->next = ROUND_UNWANTED; /* what was asked for is in this one */
  if (!under_way || cause > round->cause)
    {
      round->cause = cause;
      scan_all (node);
    }
  round_go_on (node);
}

void
round_on_interval (Node *node)
{
  if (node->round.state == ROUND_NONE && node->saves.phase == SAVES_OPENED)
    begin (node, ROUND_QUIET, ROUND_PATIENCE_US);
}

void
round_ask (Node *node, guint64 patience_us)
{
  NodeId coordinator;
  guint64 patience = patience_us > 0 ? patience_us : ROUND_PATIENCE_US;

  if (!node->config.checkpoint)
    return;
  if (node->saves.phase >= SAVES_OPENED)
    {
      begin (node, ROUND_ASKED, patience);
      return;
    }
  node->round.asked_us = patience; /* asked again when the coordinator is ready */
  node->round.request++;
  if (lease_ready (node, &coordinator))
    (void)member_send (
        node, &coordinator,
        &(Message){ .kind = MESSAGE_PUBLISH, .number = patience, .count = node->round.request });
}

void
round_on_publish (Node *node, const NodeId *from, const Message *m)
{
  Member *member = roster_find (node, from);

  if (m->count < member->request)
    return; /* only the newest is waited for */
  member->request = m->count;
  if (m->flag)
    {
      NodeEffect *effect = core_emit (node, NODE_EFFECT_ANSWER);
      effect->bytes = g_bytes_ref (m->value);
      effect->number = m->work_us;
    }
  begin (node, CLAMP (m->version, ROUND_ASKED, ROUND_FINISHED),
         CLAMP (m->number, 1, ROUND_PATIENCE_MAX_US));
}

void
round_on_scan (Node *node, const NodeId *from, const Message *m)
{
  NodeId coordinator;

  node->round.early = *from;
  node->round.early_scan
      = (Message){ .number = m->number, .version = m->version, .count = m->count };
  if (lease_ready (node, &coordinator))
    round_coordinator_opened (node);
}

void
round_coordinator_opened (Node *node)
{
  Round *round = &node->round;

  if (!node_id_is_none (&round->early) && node_id_equal (&round->early, &node->lease.holder))
    owe (node, &round->early_scan);
  round->early = NODE_ID_NONE;
  if (round->owed > 0 && node->epoch.served >= round->owed_scan) /* an orphan message began it */
    round_on_served (node, node->epoch.served);
}

/* Says that this node has done what it owed last. */
static void
answer (Node *node, const NodeId *coordinator)
{
  Round *round = &node->round;
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (NodeId));
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint64));
  Message scanned
      = { .kind = MESSAGE_SCANNED, .number = round->answered, .count = node->lease.number };

  if (node->stop.phase == STOP_HALTED)
    saves_flush (node);
  (void)events_tell (node);
  epoch_say_counts (node, &scanned, ids, numbers);
  if (!node_id_equal (coordinator, &node->self))
    (void)member_send (node, coordinator, &scanned);
  else if (round->answered == round->number)
    {
      epoch_on_counts (node, &node->self, &scanned);
      roster_find (node, &node->self)->scanned = round->number;
    }
}

void
round_on_served (Node *node, guint64 scan)
{
  Round *round = &node->round;
  NodeId coordinator;

  epoch_on_served (node, scan);
  if (round->owed == 0 || scan < round->owed_scan || !lease_ready (node, &coordinator)
      || !saves_reaches (node))
    return;
  round->answered = round->owed;
  round->owed = 0;
  answer (node, &coordinator);
  round_go_on (node);
}

void
round_on_halted (Node *node)
{
  Round *round = &node->round;

  if (round->owed == 0 || round->owed_scan != CORE_NEVER || node->stop.phase != STOP_HALTED)
    return;
#ifdef SATIN_PLANT_DRAINED_STAYS
  round->owed_scan = 0;
#else
  /* A new coordinator must have got everything. */
  round->owed_scan = saves_wants_whole (node) ? saves_scan (node) : node->saves.whole_scan;
#endif
  round_on_served (node, node->epoch.served);
}

void
round_on_arrival (Node *node)
{
  NodeId coordinator;

  if (node->round.owed > 0 || node->round.answered == 0 || !lease_ready (node, &coordinator))
    return; /* its answer will have the sums */
  answer (node, &coordinator);
  round_go_on (node);
}

void
round_on_scanned (Node *node, const NodeId *from, const Message *m)
{
  Member *member = roster_find (node, from);

  if (m->count != node->lease.number)
    return;
  member->told_events = m->count;
  if (m->number == node->round.number)
    {
      epoch_on_counts (node, from, m);
      member->scanned = m->number;
    }
  round_go_on (node);
}

/* In a run that no member has left, a member without connection is only on its way. */
static gboolean
waits_for (Node *node, const Member *member)
{
  if (member->dead)
    return FALSE;
#ifdef SATIN_PLANT_NOT_DRAINED
  if (node->round.cause == ROUND_HALTED && member != roster_master (node))
    return FALSE;
#endif
  if (asks_all (node))
    return member->scanned < node->round.number;
  return member->told_events != node->lease.number && !roster_is_self (node, member)
         && member_is_connected (node, &member->id);
}

static void
note_missing (Node *node)
{
  GArray *missing = node->round.missing;

  g_array_set_size (missing, 0);
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      if (waits_for (node, member))
        node_id_set_add (missing, &member->id);
    }
}

/* What each cause wants of the scribe. */
static const NodeEffectKind orders[] = {
  [ROUND_QUIET] = NODE_EFFECT_PUBLISH_IF_WORTH,
  [ROUND_ASKED] = NODE_EFFECT_PUBLISH,
  [ROUND_HALTED] = NODE_EFFECT_FINAL,
  [ROUND_FINISHED] = NODE_EFFECT_FINAL,
};

void
round_go_on (Node *node)
{
  Round *round = &node->round;
  gboolean last = is_last (round->cause);

  if (round->state != ROUND_SCANNING || node->saves.phase < SAVES_OPENED
      || (!last && stop_has_begun (node)))
    return;
  note_missing (node);
  gboolean waits = round->missing->len > 0 || (!last && epoch_in_transit (node));
  if (waits && node->now_us < round->until_us)
    return;
  node->stats.expired += waits;
  round->state = ROUND_PUBLISHING;
  core_emit (node, orders[round->cause]);
}

void
round_roster_changed (Node *node)
{
  const Round *round = &node->round;

  if (round->state == ROUND_SCANNING && is_last (round->cause) && asks_all (node))
    scan_all (node); /* others lost something, too */
  round_go_on (node);
}

/* The round does not wait for it. But in plan cut it has to know the colour. */
void
round_joined (Node *node, const NodeId *id)
{
  Message over = epoch_over (node), open = scan_message (node);

  roster_find (node, id)->scanned = node->round.number;
  if (node->config.plan.epochs && node->epoch.number > 0)
    (void)member_send (node, id, node->epoch.phase == EPOCH_CLOSED ? &over : &open);
}

void
round_departed (Node *node, const Member *member)
{
  const Round *round = &node->round;

  if (round->state == ROUND_SCANNING && !is_last (round->cause) && member->scanned < round->number)
    scan_all (node);
}

static char *
show_ids (const GArray *ids)
{
  GString *text = g_string_new (NULL);
  char id[NODE_ID_TEXT_MAX];

  for (guint i = 0; i < ids->len; i++)
    g_string_append_printf (text, "%s%s", i == 0 ? "" : ", ",
                            node_id_show (&g_array_index (ids, NodeId, i), id));
  return g_string_free (text, FALSE);
}

static void
tell (Node *node, const Message *published)
{
  NodeEffect *effect = core_emit (node, NODE_EFFECT_SAVED);

  effect->number = published->number;
  effect->failed = published->flag;
  effect->text = published->ids->len == 0 ? NULL : show_ids (published->ids);
}

void
round_on_answer (Node *node, const NodeEvent *published)
{
  Round *round = &node->round;
  RoundCause cause = round->cause, next = round->next;

  if (round->state != ROUND_PUBLISHING)
    return;
  round->state = ROUND_NONE;
  round->cause = round->next = ROUND_UNWANTED;
  round->heard = FALSE;
  if (node->epoch.begun > node->epoch.ended)
    epoch_end (node);
  if (next != ROUND_UNWANTED)
    {
      begin (node, next, round->patience_us);
      return;
    }
  if (cause == ROUND_QUIET)
    return;
  Message message = { .kind = MESSAGE_PUBLISHED,
                      .number = published->number,
                      .flag = published->failed,
                      .text = published->text,
                      .version = node->epoch.number,
                      .work_us = cause,
                      .ids = round->missing };
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      message.count = member->request;
      if (!roster_is_self (node, member) && (!is_last (cause) || member == roster_acting (node)))
        (void)member_send (node, &member->id, &message);
    }
  message.count = roster_find (node, &node->self)->request;
  if (is_last (cause))
    stop_on_published (node, &message);
  else
    tell (node, &message);
}

/* It was asked before there was a session with it. */
void
round_greet (Node *node, const NodeId *to)
{
  const Round *round = &node->round;
  Message message = scan_message (node);

  if (round->state == ROUND_SCANNING && node->saves.phase >= SAVES_OPENED && asks_all (node)
      && roster_find (node, to)->scanned < round->number)
    (void)member_send (node, to, &message);
}

void
round_on_published (Node *node, const NodeId *from G_GNUC_UNUSED, const Message *m)
{
  Round *round = &node->round;

  epoch_on_over (node, m->version);
  if (m->work_us == ROUND_QUIET)
    return;
  round->heard = FALSE;
  stop_on_published (node, m);
  if (node->phase >= NODE_ENDED)
    return;
#ifndef SATIN_PLANT_ANSWER_OF_ANOTHER
  if (round->asked_us > 0 && m->count != round->request)
    return; /* it ended before the request of this node began */
#endif
  round->asked_us = 0;
  tell (node, m);
}

void
round_renew (Node *node)
{
  node->round.owed = node->round.answered = 0;
  node->round.heard = FALSE;
  epoch_renew (node);
  if (node->round.asked_us > 0)
    round_ask (node, node->round.asked_us);
  if (node->saves.phase >= SAVES_OPENED)
    node->round.asked_us = 0;
}

void
round_deposed (Node *node)
{
  Round *round = &node->round;

  if (MAX (round->cause, round->next) == ROUND_ASKED && round->asked_us == 0)
    round->asked_us = ROUND_PATIENCE_US; /* the request that was made here still waits */
  round->state = ROUND_NONE;
  round->cause = round->next = ROUND_UNWANTED;
  node->epoch.begun = node->epoch.ended; /* the next coordinator begins another one */
}

guint64
round_due (Node *node)
{
  const Round *round = &node->round;

  return round->state == ROUND_SCANNING && node->saves.phase >= SAVES_OPENED
                 && node->now_us < round->until_us
             ? round->until_us
             : CORE_NEVER;
}
