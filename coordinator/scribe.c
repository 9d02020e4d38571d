/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread. Callers put news into the inbox under a lock; the thread takes the whole inbox,
 * writes it without the lock, publishes when it is time. Nobody ever waits for a disk but this
 * thread. Must not know nodes, links or job stacks. pthread's own locks, because thread sanitizers
 * see them. */
#include "coordinator/scribe.h"

#include "coordinator/bid.h"
#include "coordinator/inbox.h"
#include "coordinator/ledger.h"

#include <pthread.h>

/* A batch that is larger is written before the interval is over. */
#define INBOX_BYTES_MAX (16u * 1024 * 1024)
#define INBOX_ROWS_MAX 100000
#define TROUBLE_EVERY_US (60 * G_USEC_PER_SEC)
/* After a failure the next try comes after the interval, but not later than this. */
#define RETRY_MAX_US (5 * G_USEC_PER_SEC)
/* The first tick leaves this much time to tell who is here. */
#define FIRST_TICK_US (50 * 1000)
/* At most one part in this many of the time goes into writing and publishing. */
#define DUTY_DENOMINATOR 5

typedef struct
{
  gboolean is_everybody;
  NodeId node;
} ScribeRequest;

struct Scribe
{
  guint64 interval_us;
  void (*notify) (const ScribeNews *news, void *data);
  void *data;
  GThread *thread;

  pthread_mutex_t lock; /* guards what follows, up to the blank line */
  pthread_cond_t wake;
  Inbox *inbox;
  GQueue requests; /* of ScribeRequest */
  gboolean is_finishing, is_ending;
  ScribeStats stats;

  Ledger *ledger; /* the thread's own, from here on */
  gint64 tick_us; /* when to write and publish next */
  gint64 trouble_us;
  gboolean has_told_trouble;
  guint64 written, told; /* tickets: of what is in the work file; of what is published */
  gboolean is_failing;   /* the last round failed: the next one waits for its time */
};

static void
tell (Scribe *scribe, const ScribeNews *news)
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
      tell (scribe, &again);
      return;
    }
  scribe->has_told_trouble = TRUE;
  scribe->trouble_us = now;
  ScribeNews news = { .kind = SCRIBE_TROUBLE, .error = error, .final = final, .failed = TRUE };
  tell (scribe, &news);
}

/* What was wrong with a file that was taken over is said once, whatever was said before. */
static void
tell_damage (Scribe *scribe)
{
  g_autofree char *damage = ledger_take_damage (scribe->ledger);
  if (damage == NULL)
    return;
  g_autoptr (GError) error
      = g_error_new_literal (COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE, damage);
  ScribeNews news = { .kind = SCRIBE_TROUBLE, .error = error };
  tell (scribe, &news);
}

static void
note_stats (Scribe *scribe, gboolean published)
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
      note_stats (scribe, FALSE);
      return TRUE;
    }
  pthread_mutex_lock (&scribe->lock);
  inbox_put_back (scribe->inbox, inbox);
  pthread_mutex_unlock (&scribe->lock);
  return FALSE;
}

static gboolean
publish (Scribe *scribe, gboolean final, GError **error)
{
  gboolean has_changed = ledger_has_changed (scribe->ledger);
  gint64 began_us = g_get_monotonic_time ();
  gboolean good = !has_changed || ledger_publish (scribe->ledger, error);
  guint64 took_us = (guint64)(g_get_monotonic_time () - began_us);
  tell_damage (scribe);
  if (!good)
    return FALSE;
  if (has_changed)
    note_stats (scribe, TRUE);
  if (!has_changed && !final && scribe->told == scribe->written)
    return TRUE;
  scribe->told = scribe->written;
  ScribeNews news
      = { .kind = SCRIBE_PUBLISHED,
          .final = final,
          .ticket = scribe->told,
          .commit_us = has_changed ? bid_scale (took_us, ledger_stats (scribe->ledger).bytes) : 0,
          .generation = ledger_stats (scribe->ledger).generation };
  tell (scribe, &news);
  return TRUE;
}

static void
pass_on_rows (GPtrArray *rows, gboolean final, gpointer data)
{
  ScribeNews news = { .kind = SCRIBE_RESTORED, .rows = rows, .final = final };
  tell (data, &news);
}

static void
answer_requests (Scribe *scribe, GQueue *requests)
{
  while (!g_queue_is_empty (requests))
    {
      g_autofree ScribeRequest *request = g_queue_pop_head (requests);
      g_autoptr (GError) error = NULL;
      if (!ledger_load (scribe->ledger, request->is_everybody ? NULL : &request->node, pass_on_rows,
                        scribe, &error))
        tell_trouble (scribe, error, FALSE);
    }
}

/* What one round of the thread has to do, taken out from under the lock. */
typedef struct
{
  Inbox *inbox;
  GQueue requests;
  gboolean is_finishing, is_tick;
} ScribeRound;

static void
do_round (Scribe *scribe, ScribeRound *round)
{
  g_autoptr (GError) error = NULL;
  gint64 began = g_get_monotonic_time ();
  gboolean good = write_inbox (scribe, round->inbox, &error);
  answer_requests (scribe, &round->requests);
  if (good && (round->is_finishing || round->is_tick))
    good = publish (scribe, round->is_finishing, &error);
  scribe->is_failing = !good;
  if (!good)
    tell_trouble (scribe, error, round->is_finishing);

  gint64 now = g_get_monotonic_time ();
  if (!good)
    scribe->tick_us = now + (gint64)MIN (scribe->interval_us, RETRY_MAX_US);
  else if (round->is_finishing || round->is_tick)
    scribe->tick_us
        = now + (gint64)MAX (scribe->interval_us, (guint64)(now - began) * (DUTY_DENOMINATOR - 1));
}

/* With the lock. What is not left for the next tick. */
static gboolean
is_urgent (const Scribe *scribe)
{
  gboolean is_large = scribe->inbox->bytes > INBOX_BYTES_MAX
                      || g_hash_table_size (scribe->inbox->rows) > INBOX_ROWS_MAX;
  return scribe->is_finishing || scribe->is_ending || scribe->requests.length > 0
         || (is_large && !scribe->is_failing);
}

static void
wait_until (Scribe *scribe, gint64 deadline_us)
{
  struct timespec deadline = { .tv_sec = deadline_us / G_USEC_PER_SEC,
                               .tv_nsec = (deadline_us % G_USEC_PER_SEC) * 1000 };
  pthread_cond_timedwait (&scribe->wake, &scribe->lock, &deadline);
}

/* With the lock. FALSE: the end, and everything is in `round` that still is to be written. */
static gboolean
wait_for_round (Scribe *scribe, ScribeRound *round)
{
  gboolean is_dirty = ledger_has_changed (scribe->ledger);
  for (;;)
    {
      gint64 now = g_get_monotonic_time ();
      gboolean is_due = is_dirty || scribe->told != scribe->written
                        || scribe->inbox->ticket > scribe->written
                        || !inbox_is_empty (scribe->inbox);
      round->is_tick = is_due && now >= scribe->tick_us;
      if (round->is_tick || is_urgent (scribe))
        break;
      if (is_due)
        wait_until (scribe, scribe->tick_us);
      else
        pthread_cond_wait (&scribe->wake, &scribe->lock);
    }
  round->inbox = g_steal_pointer (&scribe->inbox);
  scribe->inbox = inbox_new ();
  round->requests = scribe->requests;
  g_queue_init (&scribe->requests);
  round->is_finishing = scribe->is_finishing;
  scribe->is_finishing = FALSE;
  return !scribe->is_ending;
}

static void
note_cpu (Scribe *scribe)
{
  struct timespec used;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &used);
  pthread_mutex_lock (&scribe->lock);
  scribe->stats.cpu_us = (guint64)used.tv_sec * G_USEC_PER_SEC + (guint64)used.tv_nsec / 1000;
  pthread_mutex_unlock (&scribe->lock);
}

static gpointer
scribe_run (gpointer data)
{
  Scribe *scribe = data;
  gboolean goes_on = TRUE;
  tell_damage (scribe);
  while (goes_on)
    {
      ScribeRound round = { 0 };
      pthread_mutex_lock (&scribe->lock);
      goes_on = wait_for_round (scribe, &round);
      pthread_mutex_unlock (&scribe->lock);
      round.is_tick = round.is_tick && goes_on;
      do_round (scribe, &round);
      note_cpu (scribe);
    }
  return NULL;
}

Scribe *
scribe_new (const ScribeConfig *config, Identity *identity, GError **error)
{
  g_assert (config->notify != NULL && config->interval_us > 0);

  LedgerConfig place = { .work_path = config->work_path,
                         .target = config->target,
                         .job_names = config->job_names,
                         .job_types = config->job_types,
                         .stems = config->stems };
  Ledger *ledger = ledger_new (&place, identity, error);
  if (ledger == NULL)
    return NULL;
  guint64 found = ledger_stats (ledger).generation;
  if (found < config->least)
    {
      g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE,
                   "checkpoint '%s' is another one here: generation %" G_GUINT64_FORMAT
                   " was published and generation %" G_GUINT64_FORMAT " is found",
                   config->target, config->least, found);
      ledger_free (ledger);
      return NULL;
    }
  Scribe *scribe = g_new0 (Scribe, 1);
  scribe->interval_us = config->interval_us;
  scribe->notify = config->notify;
  scribe->data = config->data;
  scribe->ledger = ledger;
  scribe->inbox = inbox_new ();
  scribe->tick_us = g_get_monotonic_time () + (gint64)MIN (config->interval_us, FIRST_TICK_US);
  pthread_condattr_t attributes;
  pthread_condattr_init (&attributes);
  pthread_condattr_setclock (&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init (&scribe->lock, NULL);
  pthread_cond_init (&scribe->wake, &attributes);
  pthread_condattr_destroy (&attributes);
  note_stats (scribe, FALSE);
  scribe->stats.generation = ledger_stats (ledger).generation;
  scribe->thread = g_thread_new ("scribe", scribe_run, scribe);
  return scribe;
}

static void
lock (Scribe *scribe)
{
  pthread_mutex_lock (&scribe->lock);
}

static void
unlock_and_wake (Scribe *scribe)
{
  pthread_cond_signal (&scribe->wake);
  pthread_mutex_unlock (&scribe->lock);
}

void
scribe_free (Scribe *scribe)
{
  if (scribe == NULL)
    return;
  lock (scribe);
  scribe->is_ending = TRUE;
  unlock_and_wake (scribe);
  g_thread_join (scribe->thread);
  ledger_free (scribe->ledger);
  inbox_free (scribe->inbox);
  g_queue_clear_full (&scribe->requests, g_free);
  pthread_cond_destroy (&scribe->wake);
  pthread_mutex_destroy (&scribe->lock);
  g_free (scribe);
}

void
scribe_save (Scribe *scribe, GPtrArray *rows)
{
  gsize n;
  g_autofree gpointer *items = g_ptr_array_steal (rows, &n);
  g_ptr_array_unref (rows);
  lock (scribe);
  for (gsize i = 0; i < n; i++)
    inbox_add_row (scribe->inbox, items[i]);
  unlock_and_wake (scribe);
}

void
scribe_ticket (Scribe *scribe, guint64 ticket)
{
  lock (scribe);
  scribe->inbox->ticket = ticket;
  unlock_and_wake (scribe);
}

void
scribe_set (Scribe *scribe, const char *key, const char *value)
{
  lock (scribe);
  inbox_set (scribe->inbox, key, value);
  unlock_and_wake (scribe);
}

void
scribe_constant (Scribe *scribe, const char *name, const char *type, GBytes *value)
{
  lock (scribe);
  inbox_add_value (scribe->inbox->constants, name, type, value);
  unlock_and_wake (scribe);
}

void
scribe_best (Scribe *scribe, const char *name, const char *type, GBytes *value)
{
  lock (scribe);
  inbox_add_value (scribe->inbox->bests, name, type, value);
  unlock_and_wake (scribe);
}

static void
add_member (Scribe *scribe, InboxMember member)
{
  member.at = g_get_real_time () / G_USEC_PER_SEC;
  lock (scribe);
  inbox_add_member (scribe->inbox, &member);
  unlock_and_wake (scribe);
}

void
scribe_joined (Scribe *scribe, const NodeId *id, const char *host, const char *site,
               const char *address)
{
  InboxMember member
      = { .id = *id, .host = (char *)host, .site = (char *)site, .address = (char *)address };
  add_member (scribe, member);
}

void
scribe_left (Scribe *scribe, const NodeId *id, const char *cause)
{
  InboxMember member = { .id = *id, .cause = (char *)cause, .has_left = TRUE };
  add_member (scribe, member);
}

void
scribe_event (Scribe *scribe, const char *kind, const NodeId *node, const char *path,
              guint64 work_us, const char *detail)
{
  InboxEvent event = { .kind = (char *)kind,
                       .path = (char *)path,
                       .detail = (char *)detail,
                       .node = node != NULL ? *node : NODE_ID_NONE,
                       .work_us = work_us,
                       .at = g_get_real_time () / G_USEC_PER_SEC };
  lock (scribe);
  inbox_add_event (scribe->inbox, &event);
  unlock_and_wake (scribe);
}

void
scribe_answer (Scribe *scribe, GBytes *answer, int exit_code)
{
  lock (scribe);
  inbox_answer (scribe->inbox, answer, exit_code);
  unlock_and_wake (scribe);
}

void
scribe_load (Scribe *scribe, const NodeId *node)
{
  ScribeRequest *request = g_new0 (ScribeRequest, 1);
  request->is_everybody = node == NULL;
  if (node != NULL)
    request->node = *node;
  lock (scribe);
  g_queue_push_tail (&scribe->requests, request);
  unlock_and_wake (scribe);
}

void
scribe_finish (Scribe *scribe)
{
  lock (scribe);
  scribe->is_finishing = TRUE;
  unlock_and_wake (scribe);
}

void
scribe_stats (Scribe *scribe, ScribeStats *stats)
{
  lock (scribe);
  *stats = scribe->stats;
  pthread_mutex_unlock (&scribe->lock);
}
