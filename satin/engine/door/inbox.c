/* SPDX-License-Identifier: BSD-3-Clause */
/* See inbox.h. */
#include "inbox.h"

void
inbox_add (Engine *engine, Held *held)
{
  held->queued = TRUE;
  held->link.data = held;
  if (path_is_root (held->loan->path))
    g_queue_push_head_link (&engine->inbox.queue, &held->link);
  else
    g_queue_push_tail_link (&engine->inbox.queue, &held->link);
  length_put (&engine->inbox.n, engine->inbox.queue.length);
}

static void
inbox_unlink (Engine *engine, Held *held)
{
  held->queued = FALSE;
  g_queue_unlink (&engine->inbox.queue, &held->link);
  length_put (&engine->inbox.n, engine->inbox.queue.length);
}

Held *
inbox_root (Engine *engine)
{
  Held *held = g_queue_peek_head (&engine->inbox.queue);

  return held != NULL && path_is_root (held->loan->path) ? held : NULL;
}

Held *
inbox_surplus (Engine *engine)
{
  Held *held = g_queue_peek_tail (&engine->inbox.queue);

  return held != NULL && !path_is_root (held->loan->path) ? held : NULL;
}

Held *
inbox_take (Engine *engine, gboolean only_root)
{
  Held *held;

  if (length_hint (&engine->inbox.n) == 0)
    return NULL;
  pthread_mutex_lock (&engine->lock);
  held = only_root ? inbox_root (engine) : g_queue_peek_head (&engine->inbox.queue);
  if (held != NULL)
    inbox_unlink (engine, held);
  pthread_mutex_unlock (&engine->lock);
  return held;
}

void
inbox_drop (Engine *engine, Held *held)
{
  if (held->queued)
    inbox_unlink (engine, held);
  g_hash_table_remove (engine->inbox.held, &held->number);
}
