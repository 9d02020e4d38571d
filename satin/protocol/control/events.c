/* SPDX-License-Identifier: BSD-3-Clause */
/* See events.h.
 * Tests: test-noted, sim/check.c. */
#include "../core.h"

static void
event_free (gpointer data)
{
  Event *event = data;

  g_free (event->kind);
  g_free (event->path);
  g_free (event->detail);
  g_free (event);
}

void
events_init (Node *node)
{
  Events *events = &node->events;

  core_queue (node, &events->kept, event_free);
}

static void
warn_unmatched (Node *node, const char *path)
{
  if (node->saves.unmatched)
    return;
  node->saves.unmatched = TRUE;
  core_emit (node, NODE_EFFECT_WARN)->text
      = g_strdup_printf ("the saved result at '%s' is of no use: the job that is spawned there now "
                         "is another one, or none; a job must spawn the same children each time "
                         "(the second law in satin(7))",
                         path[0] == '\0' ? "/" : path);
}

/* Passes the event, which happened `age_us` ago, to the scribe. */
static void
write_down (Node *node, const Message *event, guint64 age_us)
{
  NodeEffect *effect = core_emit (node, NODE_EFFECT_EVENT);

  effect->text = g_strdup (event->text);
  effect->text2 = g_strdup (event->host);
  effect->path = g_strdup (event->path);
  effect->node = event->id;
  effect->work_us = event->work_us;
  effect->at_us = node->now_us - MIN (age_us, node->now_us);
  effect->number = ++node->saves.tickets;
  if (g_str_equal (event->text, EVENT_UNMATCHED))
    warn_unmatched (node, event->path);
}

static void
tell (Node *node, Event *event, const NodeId *coordinator)
{
  Message message = { .kind = MESSAGE_EVENT,
                      .text = event->kind,
                      .id = event->id,
                      .path = event->path,
                      .work_us = event->work_us,
                      .host = event->detail,
                      .number = event->number,
                      .version = node->now_us - event->at_us,
                      .count = node->lease.number };

  event->state = EVENT_TOLD;
  if (node->saves.phase != SAVES_NOT)
    {
      write_down (node, &message, message.version);
      saves_note_event (node, &node->self, event->number);
    }
  else
    (void)member_send (node, coordinator, &message);
}

gboolean
events_tell (Node *node)
{
  NodeId coordinator;

  if (!lease_ready (node, &coordinator) || !saves_reaches (node))
    return FALSE;
  for (GList *item = node->events.kept.head; item != NULL; item = item->next)
    if (((Event *)item->data)->state == EVENT_DUE)
      tell (node, item->data, &coordinator);
  return TRUE;
}

static void
keep (Node *node, const Message *from, EventState state)
{
  Events *events = &node->events;
  Event *event;

  if (!node->config.checkpoint)
    return;
  event = g_new (Event, 1);
  *event = (Event){ .state = state,
                    .number = ++events->number,
                    .at_us = node->now_us,
                    .term = node->roster.term,
                    .version = node->roster.version,
                    .kind = g_strdup (from->text),
                    .path = g_strdup (from->path),
                    .detail = g_strdup (from->host),
                    .id = from->id,
                    .work_us = from->work_us };
  g_queue_push_tail (&events->kept, event);
  if (events->kept.length > EVENTS_MAX)
    event_free (g_queue_pop_head (&events->kept));
  if (state == EVENT_DUE)
    (void)events_tell (node);
}

void
events_add (Node *node, const Message *event)
{
  keep (node, event, EVENT_DUE);
}

void
events_unmatched (Node *node, const char *path)
{
  events_add (node, &(Message){ .kind = MESSAGE_EVENT,
                                .text = EVENT_UNMATCHED,
                                .id = node->self,
                                .path = path,
                                .host = "the job that is spawned there is another one, or none" });
}

/* TRUE: the coordinator sees this event by its own roster. Not so between two terms: a member may
 * have left that the coordinator never knew, since a dead master had admitted it and had not told
 * all. */
static gboolean
coordinator_sees (const Node *node, const Message *event)
{
  return !node->roster.leapt || !g_str_equal (event->text, EVENT_LEFT);
}

void
events_see (Node *node, const Message *event)
{
  keep (node, event,
        node->saves.phase != SAVES_NOT || !coordinator_sees (node, event) ? EVENT_DUE : EVENT_SEEN);
  if (node->saves.phase >= SAVES_OPENED)
    saves_note_roster (node);
}

void
events_renew (Node *node)
{
  for (GList *item = node->events.kept.head; item != NULL; item = item->next)
#ifdef SATIN_PLANT_EVENTS_TOLD_ONCE
    if (((Event *)item->data)->state != EVENT_TOLD)
#endif
      ((Event *)item->data)->state = EVENT_DUE;
  if (events_tell (node) && node->saves.phase == SAVES_NOT)
    (void)member_send (node, &node->lease.holder,
                       &(Message){ .kind = MESSAGE_SCANNED, .count = node->lease.number });
}

/* ---- the coordinator ---- */

/* TRUE: the sender's roster lacks a member that is still on this node's. Either the sender was on
 * another side of a split, or this node will see the leave soon. */
static gboolean
is_premature (Node *node, const Message *event)
{
  return g_str_equal (event->text, EVENT_LEFT) && roster_find (node, &event->id) != NULL;
}

void
events_on_event (Node *node, const NodeId *from, const Message *m)
{
  if (m->count != node->lease.number)
    return; /* sent to an earlier lease; the sender will repeat all events */
  if (!is_premature (node, m))
    write_down (node, m, m->version);
  saves_note_event (node, from, m->number);
}

/* Members are numbered in the order in which they join. If a master dies, the numbering of its term
 * ends. */
gboolean
events_may_lack (const Node *node)
{
  const GPtrArray *members = node->roster.members;
  const Member *first = members->pdata[0];
  guint32 last = 0;

  for (guint i = 0; i < members->len; i++)
    {
      const Member *member = members->pdata[i];
      if (member->dead || member->leaving || member->id.term != first->id.term)
        return TRUE;
      last = MAX (last, member->id.number);
    }
  return last != members->len;
}

/* ---- published events ---- */

void
events_published (Node *node, guint64 number)
{
  GQueue *kept = &node->events.kept;

  for (GList *item = kept->head, *next; item != NULL; item = next)
    {
      Event *event = item->data;
      next = item->next;
      if (event->number > number)
        break;
      if (event->state != EVENT_TOLD)
        continue;
      event_free (event);
      g_queue_delete_link (kept, item);
    }
}

void
events_seen_published (Node *node, const Term *term, guint64 version)
{
  GQueue *kept = &node->events.kept;

  for (GList *item = kept->head, *next; item != NULL; item = next)
    {
      Event *event = item->data;
      int order = term_compare (&event->term, term);
      next = item->next;
      if (event->state != EVENT_SEEN || order > 0 || (order == 0 && event->version > version))
        continue;
      event_free (event);
      g_queue_delete_link (kept, item);
    }
}

void
events_check (Node *node)
{
  guint64 number = 0;

  for (const GList *item = node->events.kept.head; item != NULL; item = item->next)
    {
      const Event *event = item->data;
      g_assert (event->number > number && event->number <= node->events.number);
      number = event->number;
    }
  g_assert (node->events.kept.length <= EVENTS_MAX);
}
