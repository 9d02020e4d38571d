/* SPDX-License-Identifier: BSD-3-Clause */
/* See round.h. */
#include "../core.h"

void
round_init (Node *node)
{
  core_array (node, &node->round.missing, sizeof (NodeId));
}

gboolean
round_publishes (const Node *node)
{
  return node->round.state == ROUND_PUBLISHING || node->round.state == ROUND_AGAIN;
}

/* Starts the scan that this node owes for round `number`. */
static void
owe (Node *node, guint64 number, guint64 epoch)
{
  Round *round = &node->round;

  verify_end (node, NULL);
  round->heard = !node->config.plan.epochs;
  round->owed = number;
  round->owed_scan = node->config.plan.epochs ? epoch_open (node, epoch) : saves_scan (node);
}

static void
scan_all (Node *node)
{
  Round *round = &node->round;

  round->number++;
  member_send_all (
      node,
      &(Message){ .kind = MESSAGE_SCAN, .number = round->number, .version = node->epoch.number });
  owe (node, round->number, node->epoch.number);
}

static void
begin (Node *node, guint64 patience_us)
{
  Round *round = &node->round;

  if (node->stop.phase >= STOP_HALTING || node->stop.finished)
    return; /* the end of the run publishes everything */
  if (round_publishes (node))
    {
      round->state = ROUND_AGAIN;
      return;
    }
  if (node->config.plan.epochs && round->state == ROUND_SCANNING)
    {
      node->epoch.cause = EPOCH_ASKED_AGAIN; /* another epoch follows this one */
      return;
    }
  if (node->config.plan.epochs)
    epoch_begin (node);
  round->state = ROUND_SCANNING;
  round->until_us = node->now_us + patience_us;
  scan_all (node);
}

void
round_on_interval (Node *node)
{
  if (node->round.state != ROUND_NONE || node->saves.phase != SAVES_OPENED)
    return;
  begin (node, ROUND_PATIENCE_US);
  if (node->round.state == ROUND_SCANNING)
    node->epoch.cause = EPOCH_QUIET;
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
      begin (node, patience);
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
  roster_find (node, from)->request = m->count;
  begin (node, CLAMP (m->number, 1, ROUND_PATIENCE_MAX_US));
}

void
round_on_scan (Node *node, const NodeId *from, const Message *m)
{
  NodeId coordinator;

  node->round.early = *from;
  node->round.early_number = m->number;
  node->round.early_epoch = m->version;
  if (lease_ready (node, &coordinator))
    round_coordinator_opened (node);
}

void
round_coordinator_opened (Node *node)
{
  Round *round = &node->round;

  if (!node_id_is_none (&round->early) && node_id_equal (&round->early, &node->lease.holder))
    owe (node, round->early_number, round->early_epoch);
  round->early = NODE_ID_NONE;
  if (round->owed > 0 && node->epoch.served >= round->owed_scan) /* an orphan message began it */
    round_on_served (node, node->epoch.served);
}

/* Says that this node has done the scan that it owed last. */
static void
answer (Node *node, const NodeId *coordinator)
{
  Round *round = &node->round;
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (NodeId));
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint64));
  Message scanned = { .kind = MESSAGE_SCANNED, .number = round->answered };

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
  if (round->owed == 0 || scan < round->owed_scan || !lease_ready (node, &coordinator))
    return;
  round->answered = round->owed;
  round->owed = 0;
  answer (node, &coordinator);
  round_go_on (node);
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
  if (m->number != node->round.number)
    return;
  epoch_on_counts (node, from, m);
  roster_find (node, from)->scanned = m->number;
  round_go_on (node);
}

static void
note_missing (Node *node)
{
  GArray *missing = node->round.missing;

  g_array_set_size (missing, 0);
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      if (!member->dead && member->scanned < node->round.number)
        node_id_set_add (missing, &member->id);
    }
}

void
round_go_on (Node *node)
{
  Round *round = &node->round;
  gboolean ends = node->saves.phase >= SAVES_CLOSING || node->stop.phase >= STOP_HALTING
                  || node->stop.finished;

  if (round->state != ROUND_SCANNING || node->saves.phase < SAVES_OPENED || ends)
    return;
  note_missing (node);
  gboolean waits = round->missing->len > 0 || epoch_in_transit (node);
  if (waits && node->now_us < round->until_us)
    return;
  node->stats.expired += waits;
  round->state = ROUND_PUBLISHING;
  gboolean asked = node->epoch.cause != EPOCH_QUIET;
  core_emit (node, asked ? NODE_EFFECT_PUBLISH : NODE_EFFECT_PUBLISH_IF_WORTH);
}

void
round_departed (Node *node, const Member *member)
{
  if (node->round.state == ROUND_SCANNING && member->scanned < node->round.number)
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
tell (Node *node, guint64 generation, gboolean failed, const GArray *missing)
{
  NodeEffect *effect = core_emit (node, NODE_EFFECT_SAVED);

  effect->number = generation;
  effect->failed = failed;
  effect->text = missing->len == 0 ? NULL : show_ids (missing);
}

gboolean
round_on_answer (Node *node, guint64 generation, gboolean failed)
{
  Round *round = &node->round;
  EpochCause cause = node->epoch.cause;
  gboolean again = round->state == ROUND_AGAIN || cause == EPOCH_ASKED_AGAIN;

  if (!round_publishes (node))
    return FALSE;
  round->state = ROUND_NONE;
  round->heard = FALSE;
  node->epoch.cause = EPOCH_ASKED;
  if (node->config.plan.epochs)
    epoch_end (node);
  if (again)
    {
      begin (node, ROUND_PATIENCE_US);
      return TRUE;
    }
  if (cause == EPOCH_QUIET)
    return TRUE;
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      if (!node_id_equal (&member->id, &node->self))
        (void)member_send (node, &member->id,
                           &(Message){ .kind = MESSAGE_PUBLISHED,
                                       .number = generation,
                                       .flag = failed,
                                       .count = member->request,
                                       .ids = round->missing });
    }
  tell (node, generation, failed, round->missing);
  return TRUE;
}

/* It was asked before there was a session with it. */
void
round_greet (Node *node, const NodeId *to)
{
  const Round *round = &node->round;

  if (round->state == ROUND_SCANNING && node->saves.phase >= SAVES_OPENED
      && roster_find (node, to)->scanned < round->number)
    (void)member_send (
        node, to,
        &(Message){ .kind = MESSAGE_SCAN, .number = round->number, .version = node->epoch.number });
}

void
round_on_published (Node *node, const Message *m)
{
  Round *round = &node->round;

  round->heard = FALSE;
#ifndef SATIN_PLANT_ANSWER_OF_ANOTHER
  if (round->asked_us > 0 && m->count != round->request)
    return; /* it ended before the request of this node began */
#endif
  round->asked_us = 0;
  tell (node, m->number, m->flag, m->ids);
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
  gboolean asked = node->epoch.cause != EPOCH_QUIET || node->round.state == ROUND_AGAIN;

  if (node->round.state != ROUND_NONE && node->round.asked_us == 0 && asked)
    node->round.asked_us = ROUND_PATIENCE_US; /* the request that was made here still waits */
  node->round.state = ROUND_NONE;
  node->epoch.cause = EPOCH_ASKED;
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
