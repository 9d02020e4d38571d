/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread. Callers put news into the inbox under a lock; the thread takes the whole inbox,
 * writes it without the lock, publishes when it is time. Nobody ever waits for a disk but this
 * thread. Must not know nodes, links or job stacks. pthread's own locks, because thread sanitizers
 * see them. */
#include "coordinator/scribe-private.h"

#include "coordinator/bid.h"

#include "storage/places/place.h"

/* A batch that is larger is written before the interval is over. */
#define INBOX_BYTES_MAX (16u * 1024 * 1024)
/* … if somebody has said the interval. Else what is written soon goes into no publication for long,
 * and is often covered before one comes. */
#define INBOX_BYTES_THRIFTY (64u * 1024 * 1024)
#define INBOX_ROWS_MAX 100000
/* Failing may take long too, but it is tried again within this. */
#define RETRY_SLOW_MAX_US (60 * G_USEC_PER_SEC)
#define TROUBLE_EVERY_US (60 * G_USEC_PER_SEC)
/* The first tick leaves this much time to tell who is here. */
#define FIRST_TICK_US (50 * 1000)
/* At most one part in this many of the time goes into writing and publishing. */
#define DUTY_DENOMINATOR 10
/* A rest of less than this is not worth a word. */
#define REST_TOLD_US (2 * G_USEC_PER_SEC)

static guint64
thread_cpu_us (void)
{
  struct timespec used;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &used);
  return (guint64)used.tv_sec * G_USEC_PER_SEC + (guint64)used.tv_nsec / 1000;
}

void
scribe_tell (Scribe *scribe, const ScribeNews *news)
{
  scribe->notify (news, scribe->data);
}

static void
tell_trouble (Scribe *scribe, const GError *error, gboolean final)
{
  gint64 now = g_get_monotonic_time ();
  if (!final && scribe->has_told_trouble && now - scribe->trouble_us < TROUBLE_EVERY_US)
    {
      ScribeNews again = { .kind = SCRIBE_FAILED };
      scribe_tell (scribe, &again);
      return;
    }
  scribe->has_told_trouble = TRUE;
  scribe->trouble_us = now;
  ScribeNews news = { .kind = SCRIBE_TROUBLE, .error = error, .final = final, .failed = TRUE };
  scribe_tell (scribe, &news);
}

/* One alone may have met a disk or a store that stood still, which costs nobody anything: that
 * publishing is slow is believed when the next of its kind, a base or a delta, is slow too. */
static guint64
usual_us (Scribe *scribe, guint64 took_us)
{
  guint64 *last = &scribe->took_us[scribe->made.is_delta ? 1 : 0];
  guint64 before = *last > 0 ? *last : scribe->took_us[0];
  *last = MAX (took_us, 1);
  return before > 0 ? MIN (took_us, before) : took_us;
}

guint64
scribe_rest_after (Scribe *scribe, guint64 took_us)
{
  took_us = usual_us (scribe, took_us);
  guint64 rest_us = took_us * (DUTY_DENOMINATOR - 1);
  if (rest_us <= scribe->interval_us)
    return scribe->interval_us;
  if (rest_us <= MAX (REST_TOLD_US, 2 * scribe->stretched_us))
    return rest_us;
  scribe->stretched_us = rest_us;
  g_autoptr (GError) error
      = g_error_new (COORDINATOR_ERROR, COORDINATOR_ERROR_STORE,
                     "checkpoint '%s': publishing takes %.3g s, so it is done every %.3g s, not "
                     "every %.3g s",
                     ledger_name (scribe->ledger), (double)took_us / 1e6,
                     (double)(rest_us + took_us) / 1e6, (double)scribe->interval_us / 1e6);
  ScribeNews news = { .kind = SCRIBE_TROUBLE, .error = error };
  scribe_tell (scribe, &news);
  return rest_us;
}

/* What was wrong with a file that was taken over is said once, whatever was said before. */
void
scribe_tell_damage (Scribe *scribe)
{
  g_autofree char *damage = ledger_take_damage (scribe->ledger);
  if (damage == NULL)
    return;
  g_autoptr (GError) error
      = g_error_new_literal (COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE, damage);
  ScribeNews news = { .kind = SCRIBE_TROUBLE, .error = error };
  scribe_tell (scribe, &news);
}

void
scribe_note_stats (Scribe *scribe, gboolean published)
{
  LedgerStats ledger = ledger_stats (scribe->ledger);
  pthread_mutex_lock (&scribe->lock);
  scribe->stats.saves = ledger.saves;
  scribe->stats.rows = ledger.rows;
  scribe->stats.saved_rows = ledger.saved_rows;
  scribe->stats.done = ledger.done;
  if (published)
    {
      scribe->stats.generation = ledger.generation;
      scribe->stats.bytes = ledger.bytes;
      scribe->stats.sent = scribe->courier != NULL ? courier_sent (scribe->courier) : 0;
      scribe->stats.published_us = g_get_monotonic_time ();
    }
  pthread_mutex_unlock (&scribe->lock);
}

/* Takes `inbox`. What cannot be written goes back under what came meanwhile. */
static gboolean
write_inbox (Scribe *scribe, Inbox *inbox, GError **error)
{
  if (inbox_is_empty (inbox) || ledger_write (scribe->ledger, inbox, error))
    {
      scribe->written = MAX (scribe->written, inbox->ticket);
      inbox_free (inbox);
      scribe_note_stats (scribe, FALSE);
      return TRUE;
    }
  pthread_mutex_lock (&scribe->lock);
  inbox_put_back (scribe->inbox, inbox);
  pthread_mutex_unlock (&scribe->lock);
  return FALSE;
}

void
scribe_tell_published (Scribe *scribe, guint64 ticket, guint64 took_us, gboolean final)
{
  guint64 bytes = ledger_stats (scribe->ledger).bytes;
  if (took_us > 0)
    {
      guint64 cpu_us = thread_cpu_us ();
      pace_published (&scribe->pace, g_get_monotonic_time (), cpu_us - scribe->paid_us, bytes);
      scribe->paid_us = cpu_us;
    }
  scribe->told = ticket;
  ScribeNews news = { .kind = SCRIBE_PUBLISHED,
                      .final = final,
                      .ticket = ticket,
                      .commit_us = bid_scale (took_us, bytes),
                      .rest_us = scribe->is_thrifty ? pace_rest_us (&scribe->pace, bytes) : 0,
                      .generation = ledger_stats (scribe->ledger).generation };
  scribe_tell (scribe, &news);
}

static gboolean
publish (Scribe *scribe, gboolean final, GError **error)
{
  gboolean has_changed = ledger_has_changed (scribe->ledger, final);
  gint64 began_us = g_get_monotonic_time ();
  gboolean good = !has_changed || ledger_publish (scribe->ledger, final, &scribe->made, error);
  guint64 took_us = has_changed ? (guint64)MAX (g_get_monotonic_time () - began_us, 1) : 0;
  scribe_tell_damage (scribe);
  if (!good)
    return FALSE;
  if (has_changed)
    scribe_note_stats (scribe, TRUE);
  if (has_changed || final || scribe->told != scribe->written)
    scribe_tell_published (scribe, scribe->written, took_us, final);
  return TRUE;
}

/* Nobody is to lose what was finished because of a store: it is kept here, and said where. */
static void
keep_spare (Scribe *scribe, GError **error)
{
  g_autoptr (GError) trouble = NULL;
  g_autofree char *folder = scribe->spare != NULL ? g_path_get_dirname (scribe->spare) : NULL;
  if (folder == NULL)
    return;
  if (g_mkdir_with_parents (folder, 0700) == 0
      && ledger_keep (scribe->ledger, scribe->spare, &trouble))
    {
      g_autofree char *whole = g_strdup_printf (
          "%s; the checkpoint is kept in '%s'",
          *error != NULL ? (*error)->message : "it cannot be published", scribe->spare);
      g_clear_error (error);
      g_set_error_literal (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE, whole);
    }
}

static void
pass_on_rows (GPtrArray *rows, gboolean final, gpointer data)
{
  Scribe *scribe = data;
  const ScribeRequest *request = scribe->answering;
  ScribeNews news = { .kind = SCRIBE_RESTORED, .rows = rows, .final = final };
  if (request != NULL && !request->is_everything)
    news.path = request->path;
  scribe_tell (scribe, &news);
}

/* `is_first`: before anything is written, only who is told nothing but the end. */
static void
answer_requests (Scribe *scribe, GQueue *requests, gboolean is_first)
{
  while (!g_queue_is_empty (requests))
    {
      const ScribeRequest *next = g_queue_peek_head (requests);
      if (is_first && !(next->is_everything && ledger_has_told_all (scribe->ledger)))
        return;
      g_autofree ScribeRequest *request = g_queue_pop_head (requests);
      g_autoptr (GError) error = NULL;
      scribe->answering = request;
      if (!ledger_load (scribe->ledger, request->is_everything ? NULL : request->path, pass_on_rows,
                        scribe, &error))
        tell_trouble (scribe, error, FALSE);
      scribe->answering = NULL;
    }
}

static void
do_round (Scribe *scribe, ScribeRound *round)
{
  g_autoptr (GError) error = NULL;
  gint64 began = g_get_monotonic_time ();
  guint64 generation = ledger_stats (scribe->ledger).generation;
  answer_requests (scribe, &round->requests, TRUE);
  gboolean written = write_inbox (scribe, round->inbox, &error), good = written;
  answer_requests (scribe, &round->requests, FALSE);
  if (scribe->courier != NULL)
    good = scribe_far_round (scribe, round, written, &error);
  else if (good && (round->is_finishing || round->is_tick))
    good = publish (scribe, round->is_finishing, &error);
  scribe->is_failing = scribe->courier != NULL ? !written : !good;
  if (!good)
    {
      gboolean final = round->is_finishing || scribe->finish != SCRIBE_FINISH_NONE;
      if (final)
        keep_spare (scribe, &error);
      scribe_finish_move (scribe, SCRIBE_ON_ANSWER);
      tell_trouble (scribe, error, final);
    }

  gint64 now = g_get_monotonic_time ();
  if (scribe->courier != NULL)
    return;
  guint64 rest_us = (guint64)(now - began) * (DUTY_DENOMINATOR - 1);
  if (!good)
    scribe->tick_us = now
                      + (gint64)MAX (MIN (scribe->interval_us, (guint64)RETRY_MAX_US),
                                     MIN (rest_us, (guint64)RETRY_SLOW_MAX_US));
  else if (ledger_stats (scribe->ledger).generation != generation)
    scribe->tick_us = now + (gint64)scribe_rest_after (scribe, (guint64)(now - began));
  else if (round->is_finishing || round->is_tick)
    scribe->tick_us = now + (gint64)scribe->interval_us;
}

/* With the lock. What is not left for the next tick. */
static gboolean
is_urgent (const Scribe *scribe)
{
  gsize bytes_max = scribe->is_thrifty ? INBOX_BYTES_THRIFTY : INBOX_BYTES_MAX;
  gboolean is_large = scribe->inbox->bytes > bytes_max
                      || g_hash_table_size (scribe->inbox->rows) > INBOX_ROWS_MAX;
  return scribe->asked == SCRIBE_ASKED_NOW || scribe->is_ending || scribe->is_delivered
         || scribe->requests.length > 0 || (is_large && !scribe->is_failing);
}

static void
wait_until (Scribe *scribe, gint64 deadline_us)
{
  struct timespec deadline = { .tv_sec = deadline_us / G_USEC_PER_SEC,
                               .tv_nsec = (deadline_us % G_USEC_PER_SEC) * 1000 };
  pthread_cond_timedwait (&scribe->wake, &scribe->lock, &deadline);
}

/* With the lock. When a publication of the rows that have come so far is worth its cost. */
static gint64
worth_us (const Scribe *scribe)
{
  guint64 bytes = ledger_stats (scribe->ledger).bytes + scribe->inbox->bytes;
  return scribe->is_thrifty
             ? scribe->pace.published_us + (gint64)pace_rest_us (&scribe->pace, bytes)
             : 0;
}

/* With the lock. When to publish them without being asked. */
static gint64
tick_of (const Scribe *scribe)
{
  gint64 tick_us = MAX (scribe->tick_us, worth_us (scribe));
  return tick_us + (scribe->gets_offers ? (gint64)scribe->interval_us : 0);
}

/* With the lock, which is not held while a refusal is told. Accepts an offer, or declines it. */
static void
consider (Scribe *scribe)
{
  gint64 rest_us = worth_us (scribe) - g_get_monotonic_time ();
  scribe->gets_offers = TRUE;
  scribe->asked = rest_us <= 0 ? SCRIBE_ASKED_NOW : SCRIBE_ASKED_NOTHING;
  if (rest_us <= 0)
    return;
  ScribeNews news = { .kind = SCRIBE_PUBLISHED,
                      .final = TRUE,
                      .ticket = scribe->told,
                      .rest_us = (guint64)rest_us,
                      .generation = ledger_stats (scribe->ledger).generation };
  pthread_mutex_unlock (&scribe->lock);
  scribe_tell (scribe, &news);
  pthread_mutex_lock (&scribe->lock);
}

/* With the lock. FALSE: the end; `round` has everything that is still to be written. */
static gboolean
wait_for_round (Scribe *scribe, ScribeRound *round)
{
  gboolean is_dirty = ledger_has_changed (scribe->ledger, FALSE);
  for (;;)
    {
      while (scribe->asked == SCRIBE_ASKED_IF_WORTH) /* another offer may come meanwhile */
        consider (scribe);
      gint64 now = g_get_monotonic_time ();
      gboolean is_due
          = !scribe->reads_only
            && (is_dirty || scribe->told != scribe->written
                || scribe->inbox->ticket > scribe->written || !inbox_is_empty (scribe->inbox));
      round->is_tick = is_due && now >= tick_of (scribe);
      if (round->is_tick || is_urgent (scribe))
        break;
      if (is_due)
        wait_until (scribe, tick_of (scribe));
      else
        pthread_cond_wait (&scribe->wake, &scribe->lock);
    }
  round->inbox = g_steal_pointer (&scribe->inbox);
  scribe->inbox = inbox_new ();
  round->requests = scribe->requests;
  g_queue_init (&scribe->requests);
  round->is_finishing = scribe->asked == SCRIBE_ASKED_NOW;
  scribe->asked = SCRIBE_ASKED_NOTHING;
  scribe->is_delivered = FALSE;
  return !scribe->is_ending;
}

static void
note_cpu (Scribe *scribe)
{
  pthread_mutex_lock (&scribe->lock);
  scribe->stats.cpu_us = thread_cpu_us ();
  pthread_mutex_unlock (&scribe->lock);
}

static gpointer
scribe_run (gpointer data)
{
  Scribe *scribe = data;
  gboolean goes_on = TRUE;
  scribe_tell_damage (scribe);
  while (goes_on)
    {
      ScribeRound round = { 0 };
      pthread_mutex_lock (&scribe->lock);
      goes_on = wait_for_round (scribe, &round);
      pthread_mutex_unlock (&scribe->lock);
      round.is_tick = round.is_tick && goes_on;
      do_round (scribe, &round);
      if (round.is_tick && !round.is_finishing)
        scribe_look (scribe);
      note_cpu (scribe);
    }
  return NULL;
}

static void
init_lock (Scribe *scribe)
{
  pthread_condattr_t attributes;
  pthread_condattr_init (&attributes);
  pthread_condattr_setclock (&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init (&scribe->lock, NULL);
  pthread_cond_init (&scribe->wake, &attributes);
  pthread_condattr_destroy (&attributes);
}

static void
scribe_done (Scribe *scribe)
{
  courier_free (scribe->courier);
  ledger_free (scribe->ledger);
  if (scribe->inbox != NULL)
    inbox_free (scribe->inbox);
  g_queue_clear_full (&scribe->requests, g_free);
  pthread_cond_destroy (&scribe->wake);
  pthread_mutex_destroy (&scribe->lock);
  g_free (scribe->spare);
  left_free (scribe->left);
  g_free (scribe);
}

static gboolean
is_same_place (const Scribe *scribe, const ScribeConfig *config, GError **error)
{
  guint64 found = ledger_stats (scribe->ledger).generation;
  if (found >= config->least)
    return TRUE;
  g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE,
               "checkpoint '%s' is another one here: generation %" G_GUINT64_FORMAT
               " was published and generation %" G_GUINT64_FORMAT " is found",
               config->target, config->least, found);
  return FALSE;
}

Scribe *
scribe_new (const ScribeConfig *config, Identity *identity, GError **error)
{
  g_assert (config->notify != NULL && config->interval_us > 0);
  g_assert (!config->reads_only || !place_is_remote (config->target));

  LedgerConfig place = { .work_path = config->work_path,
                         .target = config->target,
                         .job_names = config->job_names,
                         .job_types = config->job_types,
                         .job_args = config->job_args,
                         .stems = config->stems,
                         .goes_on = config->goes_on,
                         .reads_only = config->reads_only,
                         .delta_from = config->delta_from };
  Scribe *scribe = g_new0 (Scribe, 1);
  init_lock (scribe);
  scribe->notify = config->notify;
  scribe->data = config->data;
  place.batch = config->loads ? pass_on_rows : NULL;
  place.batch_data = scribe;
  scribe->ledger = place_is_remote (config->target)
                       ? scribe_far_begin (scribe, config, &place, identity, error)
                       : ledger_new (&place, identity, error);
  if (scribe->ledger == NULL || !is_same_place (scribe, config, error))
    {
      scribe_done (scribe);
      return NULL;
    }
  if (scribe->courier != NULL)
    courier_set_writer (scribe->courier, identity->run, config->term);
  scribe->interval_us = config->interval_us;
  scribe->is_thrifty = config->is_thrifty;
  scribe->reads_only = config->reads_only;
  scribe->spare = g_strdup (config->spare);
  scribe->inbox = inbox_new ();
  scribe->tick_us = g_get_monotonic_time () + (gint64)MIN (config->interval_us, FIRST_TICK_US);
  scribe_note_stats (scribe, FALSE);
  scribe->stats.generation = ledger_stats (scribe->ledger).generation;
  scribe->thread = g_thread_new ("scribe", scribe_run, scribe);
  return scribe;
}

void
scribe_free (Scribe *scribe)
{
  if (scribe == NULL)
    return;
  pthread_mutex_lock (&scribe->lock);
  scribe->is_ending = TRUE;
  pthread_cond_signal (&scribe->wake);
  pthread_mutex_unlock (&scribe->lock);
  g_thread_join (scribe->thread);
  scribe_done (scribe);
}
