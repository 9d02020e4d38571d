/* SPDX-License-Identifier: BSD-3-Clause */
/* Publishing to a place that is not this machine's: the ledger publishes to a stage in the run's
 * folder, and the courier takes it from there while the thread goes on writing. */
#include "coordinator/scribe-private.h"

/* A place that fails is left alone for twice as long each time, up to this. */
#define RETRY_FAR_MAX_US (60 * G_USEC_PER_SEC)
/* At the end a place that is silent for so long is given up. One that has failed just before, or is
 * silent already, gets half of that for each of two tries: the second has a connection of its own.
 */
#define HURRY_S 8
/* Others who publish to the same place go first so often before it counts as a failure. */
#define CHANGED_MAX 20

ScribeFinish
scribe_finish_after (ScribeFinish from, ScribeFinishEvent event)
{
  static const ScribeFinish table[SCRIBE_FINISH_STATES][SCRIBE_FINISH_EVENTS] = {
    [SCRIBE_FINISH_NONE] = { [SCRIBE_ON_FINISH] = SCRIBE_FINISH_OWED,
                             [SCRIBE_ON_SEND] = SCRIBE_FINISH_NONE,
                             [SCRIBE_ON_ANSWER] = SCRIBE_FINISH_NONE },
    [SCRIBE_FINISH_OWED] = { [SCRIBE_ON_FINISH] = SCRIBE_FINISH_OWED,
                             [SCRIBE_ON_SEND] = SCRIBE_FINISH_SENDING,
                             [SCRIBE_ON_ANSWER] = SCRIBE_FINISH_NONE },
    [SCRIBE_FINISH_SENDING] = { [SCRIBE_ON_FINISH] = SCRIBE_FINISH_SENDING,
                                [SCRIBE_ON_SEND] = SCRIBE_FINISH_SENDING,
                                [SCRIBE_ON_ANSWER] = SCRIBE_FINISH_NONE },
  };

  return table[from][event];
}

void
scribe_finish_move (Scribe *scribe, ScribeFinishEvent event)
{
  scribe->finish = scribe_finish_after (scribe->finish, event);
}

static gboolean
owes_answer (const Scribe *scribe)
{
  return scribe->finish != SCRIBE_FINISH_NONE;
}

static gint64
back_off_us (const Scribe *scribe)
{
  guint64 first = MIN (scribe->interval_us, RETRY_MAX_US);
  guint64 wait = MIN (first << MIN (scribe->n_failed, 20u), (guint64)RETRY_FAR_MAX_US);
  return (gint64)((double)wait * g_random_double_range (0.75, 1.25));
}

static void
on_sent (Scribe *scribe)
{
  gint64 now = g_get_monotonic_time (), took = now - scribe->began_us;
  scribe->n_failed = scribe->n_changed = 0;
  scribe->tick_us = now + (gint64)scribe_rest_after (scribe, (guint64)took);
  scribe_note_stats (scribe, TRUE);
  scribe_tell_published (scribe, scribe->sending, (guint64)took, FALSE);
}

/* What is on its way, if anything, and what it leads to. TRUE: a new publication may begin now.
 * FALSE with an error: the place failed us. */
static gboolean
look_after (Scribe *scribe, gboolean is_tick, GError **error)
{
  switch (courier_take (scribe->courier, error))
    {
    case COURIER_BUSY:
      scribe->tick_us
          = MAX (scribe->tick_us, g_get_monotonic_time () + (gint64)scribe->interval_us);
      if (scribe->finish == SCRIBE_FINISH_OWED)
        courier_hurry (scribe->courier, HURRY_S / 2);
      return FALSE;
    case COURIER_SENT:
      on_sent (scribe);
      return owes_answer (scribe);
    case COURIER_CHANGED:
      ledger_touch (scribe->ledger, TRUE);
      if (++scribe->n_changed % CHANGED_MAX != 0)
        return TRUE;
      g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE,
                   "checkpoint '%s': others replace it again and again",
                   courier_name (scribe->courier));
      scribe->n_failed++;
      return FALSE;
    case COURIER_FAILED:
      ledger_touch (scribe->ledger, !scribe->made.is_delta);
      scribe->n_failed++;
      /* What was under way when the end came gets one more try. */
      if (scribe->finish != SCRIBE_FINISH_OWED)
        return FALSE;
      g_clear_error (error);
      return TRUE;
    case COURIER_IDLE:
      return is_tick || owes_answer (scribe);
    case COURIER_NONE:
    case COURIER_TRYING:
    case COURIER_STATES:
      break;
    }
  g_assert_not_reached ();
}

/* FALSE with an error: the next try comes after a while. */
static gboolean
publish_far (Scribe *scribe, gboolean is_tick, GError **error)
{
  if (!look_after (scribe, is_tick, error))
    return *error == NULL;
  if (!ledger_has_changed (scribe->ledger, owes_answer (scribe)))
    {
      if (owes_answer (scribe) || scribe->told != scribe->written)
        scribe_tell_published (scribe, scribe->written, 0, owes_answer (scribe));
      scribe_finish_move (scribe, SCRIBE_ON_ANSWER);
      return TRUE;
    }
  scribe->began_us = g_get_monotonic_time ();
  gboolean good = ledger_publish (scribe->ledger, owes_answer (scribe), &scribe->made, error);
  scribe_tell_damage (scribe);
  if (!good)
    {
      scribe->n_failed++;
      return FALSE;
    }
  scribe->sending = scribe->written;
  scribe_finish_move (scribe, SCRIBE_ON_SEND);
  if (owes_answer (scribe))
    courier_hurry (scribe->courier, scribe->n_failed > 0 ? HURRY_S / 2 : HURRY_S);
  courier_send (scribe->courier, &scribe->made);
  return TRUE;
}

/* In the courier's thread. */
static void
on_delivered (void *data)
{
  Scribe *scribe = data;
  pthread_mutex_lock (&scribe->lock);
  scribe->is_delivered = TRUE;
  pthread_cond_signal (&scribe->wake);
  pthread_mutex_unlock (&scribe->lock);
}

gboolean
scribe_far_round (Scribe *scribe, const ScribeRound *round, gboolean written, GError **error)
{
  if (round->is_finishing)
    scribe_finish_move (scribe, SCRIBE_ON_FINISH);
  if (round->is_tick)
    scribe->tick_us = g_get_monotonic_time () + (gint64)scribe->interval_us;
  gboolean good = written && publish_far (scribe, round->is_tick, error);
  if (!good)
    scribe->tick_us = g_get_monotonic_time () + back_off_us (scribe);
  return good;
}

static char *
keep_aside (gpointer data, const char *path, const char *word, GError **error)
{
  return courier_keep_aside (data, path, word, error);
}

Ledger *
scribe_far_begin (Scribe *scribe, const ScribeConfig *config, LedgerConfig *place,
                  Identity *identity, GError **error)
{
  g_autofree char *stage = g_strconcat (config->work_path, ".stage", NULL);
  scribe->courier = courier_new (config->target, stage, config->copy, on_delivered, scribe, error);
  if (scribe->courier == NULL)
    return NULL;
  place->target = stage;
  place->name = courier_name (scribe->courier);
  place->keep_aside = keep_aside;
  place->is_unmarked = !courier_is_marked (scribe->courier);
  place->data = scribe->courier;
  GError *reason = NULL;
  Ledger *ledger = ledger_new (place, identity, &reason);
  if (!courier_is_ready (scribe->courier, error))
    { /* nothing else counts then */
      g_clear_error (&reason);
      ledger_free (ledger);
      courier_free (g_steal_pointer (&scribe->courier));
      return NULL;
    }
  if (reason != NULL)
    g_propagate_error (error, reason);
  return ledger;
}
