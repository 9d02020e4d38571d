/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of events for the driver. Any thread writes, the driver's reads.
 * Tests: test-leapfrog, test-wait. */
#include "config.h"

#include "../engine.h"
#include "../save/clock.h"
#include "crashed.h"

/* A wake-up of the driver costs as much as several short jobs. So within this time after one the
 * next is late. */
#define TELL_PAUSE_US 40

typedef enum
{
  TELL_NOT,
  TELL_LATE,
  TELL_NOW
} Tell;

static void
push (Engine *engine, const EngineEvent *event, Tell how)
{
  const EngineConfig *config = &engine->config;
  gboolean tell;

  if (how == TELL_LATE && config->wake_late == NULL)
    how = TELL_NOW;
  pthread_mutex_lock (&engine->mail.lock);
  if (event != NULL)
    g_queue_push_tail (&engine->mail.events, g_memdup2 (event, sizeof *event));
  tell = how != TELL_NOT && !engine->mail.told && !g_queue_is_empty (&engine->mail.events);
  engine->mail.told = engine->mail.told || (tell && how == TELL_NOW);
  pthread_mutex_unlock (&engine->mail.lock);
  if (tell && how == TELL_LATE)
    config->wake_late (config->data);
  else if (tell && config->wake != NULL)
    config->wake (config->data);
}

void
mailbox_raise (Engine *engine, const EngineEvent *event)
{
  push (engine, event, TELL_NOW);
}

void
mailbox_raise_quietly (Engine *engine, const EngineEvent *event)
{
  push (engine, event, TELL_NOT);
}

void
mailbox_tell (Engine *engine)
{
  push (engine, NULL, TELL_NOW);
}

void
mailbox_tell_some (Engine *engine, guint64 *told_us)
{
  guint64 now_us = clock_us ();
  gboolean soon = now_us < *told_us + TELL_PAUSE_US;

  push (engine, NULL, soon ? TELL_LATE : TELL_NOW);
  if (!soon)
    *told_us = now_us;
}

gboolean
mailbox_next (Engine *engine, EngineEvent *event)
{
  g_autofree EngineEvent *next = NULL;

  if (crashed_next_report (engine, event))
    return TRUE;
  pthread_mutex_lock (&engine->mail.lock);
  next = g_queue_pop_head (&engine->mail.events);
  if (next == NULL)
    engine->mail.told = FALSE;
  pthread_mutex_unlock (&engine->mail.lock);
  if (next == NULL)
    return FALSE;
  *event = *next;
  return TRUE;
}

void
engine_event_clear (EngineEvent *event)
{
  g_clear_pointer (&event->path, g_free);
  g_clear_pointer (&event->at, g_free);
  g_clear_pointer (&event->value, g_bytes_unref);
  g_clear_pointer (&event->rows, g_ptr_array_unref);
  g_clear_pointer (&event->whole, loan_free);
  g_clear_pointer (&event->shared, g_ptr_array_unref);
}
