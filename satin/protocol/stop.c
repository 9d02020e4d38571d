/* SPDX-License-Identifier: BSD-3-Clause */
/* See stop.h. */
#include "core.h"

/* The END effect itself is the last of the step: node.c emits it. Whoever hears of the end passes
 * it on, so that one broken link of a master that leaves now does not make others begin again. */
static void
end (Node *node, guint64 code)
{
  if (node->ended)
    return;
  for (guint i = 0; i < node->links.links->len; i++)
    {
      link_send (node, node->links.links->pdata[i],
                 &(Message){ .kind = MESSAGE_END, .number = code });
    }
  node->stop.code = code;
  node->ended = TRUE;
}

static void
halt (Node *node)
{
  if (node->stop.halting)
    return;
  if (!node->stop.wanted)
    node->stop.patience_us = STOP_DRAIN_US; /* should this node be master before it is over */
  node->stop.halting = node->stop.wanted = TRUE;
  core_emit (node, NODE_EFFECT_HALT);
}

static void
begin (Node *node)
{
  if (!node->config.checkpoint)
    {
      end (node, NODE_END_SUSPENDED);
      return;
    }
  node->stop.until_us = node->now_us + node->stop.patience_us;
  halt (node);
  link_broadcast (node, &(Message){ .kind = MESSAGE_HALT });
}

static void
forward (Node *node)
{
  const Member *acting = roster_acting (node);

  if (acting != NULL)
    (void)link_send_to (node, &acting->id,
                        &(Message){ .kind = node->stop.cancelled ? MESSAGE_CANCEL : MESSAGE_SUSPEND,
                                    .number = node->stop.patience_us });
}

void
stop_suspend (Node *node, guint64 patience_us)
{
  Stop *stop = &node->stop;
  gboolean again = stop->wanted;
  guint64 patience = patience_us > 0 ? patience_us : STOP_DRAIN_US;

  stop->patience_us = again ? MIN (stop->patience_us, patience) : patience;
  stop->wanted = TRUE;
  if (!roster_is_master (node))
    forward (node);
  else if (!again || !stop->halting)
    begin (node);
  else
    stop->until_us = MIN (stop->until_us, node->now_us + stop->patience_us);
}

void
stop_cancel (Node *node)
{
  node->stop.cancelled = TRUE;
  if (roster_is_master (node))
    end (node, NODE_END_CANCELLED);
  else
    forward (node);
}

static void
report_drained (Node *node)
{
  NodeId coordinator;

  if (!node->stop.halted || !saves_coordinator (node, &coordinator))
    return;
  saves_flush (node);
  if (node_id_equal (&coordinator, &node->self))
    roster_find (node, &node->self)->drained = TRUE;
  else
    (void)link_send_to (node, &coordinator, &(Message){ .kind = MESSAGE_DRAINED });
  stop_go_on (node);
}

void
stop_on_halt (Node *node, Link *link G_GNUC_UNUSED)
{
  halt (node);
  report_drained (node);
}

void
stop_on_halted (Node *node)
{
  node->stop.halted = TRUE;
  report_drained (node);
}

void
stop_on_drained (Node *node, Link *link)
{
  Member *member = roster_find (node, &link->remote);

  if (member != NULL)
    member->drained = TRUE;
  stop_go_on (node);
}

void
stop_finish (Node *node, guint64 code)
{
  if (!roster_is_master (node))
    return;
  node->stop.finished = TRUE;
  node->stop.code = code;
  stop_go_on (node);
}

static gboolean
is_drained (Node *node)
{
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      if (!member->dead && !member->drained)
        return FALSE;
    }
  return TRUE;
}

void
stop_go_on (Node *node)
{
  Stop *stop = &node->stop;

  if (stop->final || node->ended || !(stop->finished || stop->halting) || !roster_is_master (node))
    return;
  if (!node->config.checkpoint)
    {
      end (node, stop->finished ? stop->code : NODE_END_SUSPENDED);
      return;
    }
  if (!node->saves.opened || node->round.publishing
      || !(stop->finished || is_drained (node) || node->now_us >= stop->until_us))
    return;
  if (!stop->finished)
    stop->code = NODE_END_SUSPENDED;
  stop->final = TRUE;
  core_emit (node, NODE_EFFECT_FINAL);
}

void
stop_on_published (Node *node)
{
  if (node->stop.final && roster_is_master (node))
    end (node, node->stop.code);
}

void
stop_on_end (Node *node, guint64 code)
{
  end (node, code);
}

void
stop_renew (Node *node)
{
  if (node->stop.wanted || node->stop.cancelled)
    forward (node);
  report_drained (node);
}

void
stop_greet (Node *node, Link *link)
{
  const Member *acting = roster_acting (node);

  if (roster_is_master (node) && node->stop.halting)
    link_send (node, link, &(Message){ .kind = MESSAGE_HALT });
  else if ((node->stop.wanted || node->stop.cancelled) && acting != NULL
           && node_id_equal (&acting->id, &link->remote))
    {
      forward (node);
      report_drained (node);
    }
}

void
stop_deposed (Node *node)
{
  node->stop.final = node->stop.finished = FALSE;
}

gboolean
stop_promoted (Node *node)
{
  if (node->stop.cancelled)
    end (node, NODE_END_CANCELLED);
  if (node->ended)
    return TRUE;
  if (!node->stop.wanted)
    return FALSE;
  for (guint i = 0; i < node->roster.members->len; i++)
    ((Member *)node->roster.members->pdata[i])->drained = FALSE;
  begin (node);
  report_drained (node);
  return TRUE;
}

guint64
stop_due (Node *node)
{
  const Stop *stop = &node->stop;

  return stop->halting && !stop->final && roster_is_master (node) && node->saves.opened
                 && node->now_us < stop->until_us
             ? stop->until_us
             : CORE_NEVER;
}
