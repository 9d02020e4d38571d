/* SPDX-License-Identifier: BSD-3-Clause */
/* See stop.h. */
#include "../core.h"

void
stop_init (Node *node)
{
  Stop *stop = &node->stop;

  core_owns (node, &stop->answer, (GDestroyNotify)g_bytes_unref);
  core_owns (node, &stop->sentence, g_free);
}

/* Tells all links that the run ends. A run that fails tells the reason first. */
static void
say_end (Node *node, guint64 code, gboolean finished)
{
  for (guint i = 0; i < 2 * node->links.links->len; i++)
    {
      /* Relayed links first: the node that relays ends when it gets END. */
      Link *link = node->links.links->pdata[i % node->links.links->len];
      if ((link->circuit != NULL) != (i < node->links.links->len))
        continue;
      if (code == NODE_END_FAILED && !finished)
        poison_greet (node, link);
      link_send (node, link, &(Message){ .kind = MESSAGE_END, .number = code, .flag = finished });
    }
}

/* Ends this node; node.c emits the END effect as the last of the step. Each node passes the end on.
 * So a broken link of a master that leaves now does not make others start again. `finished`: `code`
 * is the result of main, which may be any number. */
static void
end (Node *node, guint64 code, gboolean finished)
{
  if (node->phase >= NODE_ENDED)
    return;
  say_end (node, code, finished);
  node->stop.code = code;
  node->stop.finished = finished;
  node->phase = NODE_ENDED;
}

static void
halt (Node *node)
{
  if (node->stop.phase >= STOP_HALTING)
    return;
  node->stop.phase = node->leave.phase == LEAVE_HALTED ? STOP_HALTED : STOP_HALTING;
  if (node->leave.phase == LEAVE_NONE) /* otherwise it stops already */
    core_emit (node, NODE_EFFECT_HALT);
  round_on_halted (node); /* a leave may have halted this node long ago */
}

/* TRUE: there is no checkpoint, or it has not been taken over yet. The takeover may take long, and
 * until then no work has begun. */
static gboolean
has_nothing_to_save (Node *node)
{
  return !node->config.checkpoint
         || (node->config.checkpoint == NODE_CHECKPOINT_KEPT
             && node->lease.state == LEASE_STARTING);
}

static Message
suspend_message (Node *node)
{
  return (Message){ .kind = MESSAGE_SUSPEND,
                    .number = node->stop.patience_us,
                    .flag = node->stop.cancelled };
}

/* The master begins. */
static void
begin (Node *node)
{
  Message message = suspend_message (node);

  if (node->stop.cancelled)
    {
      end (node, NODE_END_CANCELLED, FALSE);
      return;
    }
  if (has_nothing_to_save (node))
    {
      end (node, NODE_END_SUSPENDED, FALSE);
      return;
    }
  node->stop.until_us = node->now_us + node->stop.patience_us;
  halt (node);
  member_send_all (node, &message);
}

static void
forward (Node *node)
{
  const Member *acting = roster_acting (node);
  Message message = suspend_message (node);

  if (acting != NULL)
    (void)member_send (node, &acting->id, &message);
}

/* `ordered`: the master has said so, and knows it. */
static void
suspend (Node *node, guint64 patience_us, gboolean ordered)
{
  Stop *stop = &node->stop;
  gboolean again = stop->phase >= STOP_HALTING;
  guint64 patience = patience_us > 0 ? patience_us : STOP_DRAIN_US;

  stop->patience_us = again ? MIN (stop->patience_us, patience) : patience;
  if (!roster_is_master (node))
    {
      halt (node);
      if (!ordered)
        forward (node);
    }
  else if (!again || stop->cancelled)
    begin (node);
  else if (!stop->finished && node->now_us + stop->patience_us < stop->until_us)
    {
      stop->until_us = node->now_us + stop->patience_us;
      stop->awaited = 0; /* the coordinator is told */
    }
}

void
stop_suspend (Node *node, guint64 patience_us)
{
  suspend (node, patience_us, FALSE);
}

void
stop_cancel (Node *node)
{
  node->stop.cancelled = TRUE;
  suspend (node, 0, FALSE);
}

void
stop_on_suspend (Node *node, const NodeId *from, const Message *m)
{
  const Member *acting = roster_acting (node);

  node->stop.cancelled = node->stop.cancelled || m->flag;
  suspend (node, m->number, acting != NULL && node_id_equal (&acting->id, from));
}

void
stop_condemn (Node *node, const char *sentence)
{
  g_free (node->stop.sentence);
  node->stop.sentence = g_strdup (sentence);
  end (node, NODE_END_FAILED, FALSE);
}

void
stop_crash_report (Node *node, const char *sentence)
{
  for (guint i = 0; i < node->links.links->len; i++)
    if (((Link *)node->links.links->pdata[i])->member == NULL)
      {
        say_end (node, NODE_END_FAILED, FALSE);
        return;
      }
  stop_condemn (node, sentence);
}

void
stop_on_halted (Node *node)
{
  if (node->stop.phase == STOP_HALTING)
    node->stop.phase = STOP_HALTED;
  round_on_halted (node);
}

void
stop_finish (Node *node, guint64 code, GBytes *answer)
{
  if (!roster_is_master (node))
    return;
  node->stop.finished = TRUE;
  node->stop.code = code;
  g_clear_pointer (&node->stop.answer, g_bytes_unref);
  if (answer != NULL)
    node->stop.answer = g_bytes_ref (answer);
  node->stop.awaited = 0; /* during a suspend it may be under way, without the answer */
  stop_go_on (node);
}

/* Until then a member that was not heard may still be heard or count as dead. */
static guint64
given_up_us (Node *node)
{
  return node->stop.until_us + node->config.silence_us;
}

/* No node can write the checkpoint. An answer is shown anyway; a run that was to be suspended is
 * lost. */
static void
end_unsaved (Node *node)
{
  if (node->lease.state != LEASE_WITHOUT || !lease_is_vacant (node)
      || (node->stop.finished && elect_may_bid (node))
      || (!node->stop.finished && node->leave.last < LEAVE_MISSED
          && node->now_us < given_up_us (node) && elect_missed_some (node)))
    return; /* a node may still be found that can write, or has been found */
  if (node->stop.finished)
    end (node, node->stop.code, TRUE);
  else
    stop_refused (node, "nobody can write the checkpoint, so the run could not be suspended");
}

/* How long the coordinator waits for the members. A new one has to get all rows. */
static guint64
patience_us (const Node *node)
{
  const Stop *stop = &node->stop;
  guint64 left_us = MAX (stop->until_us, node->now_us) - node->now_us;

  return stop->finished ? ROUND_EVENTS_US : MAX (left_us, MIN (stop->patience_us, STOP_ROWS_US));
}

void
stop_go_on (Node *node)
{
  Stop *stop = &node->stop;
  NodeId coordinator;

  if (stop->awaited > 0 || node->phase >= NODE_ENDED
      || !(stop->finished || stop->phase >= STOP_HALTING) || !roster_is_master (node))
    return;
  if (!node->config.checkpoint)
    {
      end (node, stop->finished ? stop->code : NODE_END_SUSPENDED, stop->finished);
      return;
    }
  gboolean ready = lease_ready (node, &coordinator);
  if (!ready)
    {
      /* If others miss this node, they must not wait until it is done with a store. */
      if (stop->finished || node->now_us >= stop->until_us || node->leave.last >= LEAVE_MISSED)
        end_unsaved (node);
      return;
    }
  if (!stop->finished)
    stop->code = NODE_END_SUSPENDED;
  stop->awaited = ++node->round.request;
  Message message = { .kind = MESSAGE_PUBLISH,
                      .count = stop->awaited,
                      .version = stop->finished ? ROUND_FINISHED : ROUND_HALTED,
                      .number = patience_us (node),
                      .work_us = stop->code,
                      .flag = stop->answer != NULL,
                      .value = stop->answer };
  if (node->saves.phase >= SAVES_OPENED)
    round_on_publish (node, &node->self, &message);
  else if (node->saves.phase == SAVES_NOT) /* HERE: asked again once it is OPENED */
    (void)member_send (node, &coordinator, &message);
}

void
stop_on_published (Node *node, const Message *m)
{
  const char *why = m->text;

  if (node->stop.awaited == 0 || m->count != node->stop.awaited || !roster_is_master (node))
    return;
  if (m->flag && (why == NULL || *why == '\0'))
    why = "the last publication of the checkpoint failed";
  if (m->flag)
    core_log (node, "%s", why);
  if (m->flag && !node->stop.finished)
    stop_refused (node, why);
  else
    end (node, node->stop.code, node->stop.finished);
}

void
stop_refused (Node *node, const char *why)
{
  if (node->leave.last >= LEAVE_MISSED)
    {
      node->leave.last = LEAVE_UNSAVED;
      return;
    }
  g_free (node->stop.sentence);
  node->stop.sentence = g_strdup (why);
  end (node, NODE_END_NO_STORE, FALSE);
}

void
stop_on_end (Node *node, guint64 code, gboolean finished)
{
  if (code == NODE_END_FAILED && !finished && node->stop.sentence == NULL)
    {
      node->stop.sentence = poison_sentence (node);
      if (node->stop.sentence == NULL)
        {
          join_on_crash_report (node);
          return;
        }
    }
  end (node, code, finished);
}

void
stop_renew (Node *node)
{
  if (node->stop.phase >= STOP_HALTING)
    forward (node);
}

void
stop_greet (Node *node, const NodeId *to)
{
  const Member *acting = roster_acting (node);
  Message message = suspend_message (node);

  if (node->stop.phase < STOP_HALTING || acting == NULL
      || !(roster_is_master (node) || node_id_equal (&acting->id, to)))
    return;
  (void)member_send (node, to, &message);
}

void
stop_ask_again (Node *node)
{
  node->stop.awaited = 0;
}

void
stop_deposed (Node *node)
{
  node->stop.awaited = 0;
  node->stop.finished = FALSE;
}

gboolean
stop_promoted (Node *node)
{
  if (!node->stop.cancelled && poison_judge (node))
    return TRUE;
  if (node->stop.phase < STOP_HALTING)
    return FALSE;
  begin (node);
  return TRUE;
}

guint64
stop_due (Node *node)
{
  const Stop *stop = &node->stop;

  if (stop->phase < STOP_HALTING || stop->awaited > 0 || !roster_is_master (node))
    return CORE_NEVER;
  if (node->now_us < stop->until_us)
    return stop->until_us;
  return node->now_us < given_up_us (node) ? given_up_us (node) : CORE_NEVER;
}
