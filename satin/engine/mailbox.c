/* SPDX-License-Identifier: BSD-3-Clause */
/* What the workers want to say to the driver: a queue of events. Written by any thread, read by the
 * driver's. */
#include "config.h"

#include "engine.h"
#include "words.h"

static void
push (Engine *engine, const EngineEvent *event, gboolean quietly)
{
  gboolean tell;

  pthread_mutex_lock (&engine->mail_lock);
  if (event != NULL)
    g_queue_push_tail (&engine->mail, g_memdup2 (event, sizeof *event));
  tell = !quietly && !engine->told && !g_queue_is_empty (&engine->mail);
  engine->told = engine->told || tell;
  pthread_mutex_unlock (&engine->mail_lock);
  if (tell && engine->config.wake != NULL)
    engine->config.wake (engine->config.data);
}

void
mailbox_raise (Engine *engine, const EngineEvent *event)
{
  push (engine, event, FALSE);
}

void
mailbox_raise_quietly (Engine *engine, const EngineEvent *event)
{
  push (engine, event, TRUE);
}

void
mailbox_tell (Engine *engine)
{
  push (engine, NULL, FALSE);
}

gboolean
mailbox_next (Engine *engine, EngineEvent *event)
{
  g_autofree EngineEvent *next = NULL;

  if (words_hear (engine, event))
    return TRUE;
  pthread_mutex_lock (&engine->mail_lock);
  next = g_queue_pop_head (&engine->mail);
  if (next == NULL)
    engine->told = FALSE;
  pthread_mutex_unlock (&engine->mail_lock);
  if (next == NULL)
    return FALSE;
  *event = *next;
  return TRUE;
}

void
engine_event_clear (EngineEvent *event)
{
  g_clear_pointer (&event->path, g_free);
  g_clear_pointer (&event->value, g_bytes_unref);
  g_clear_pointer (&event->rows, g_ptr_array_unref);
  g_clear_pointer (&event->shared, g_ptr_array_unref);
}
