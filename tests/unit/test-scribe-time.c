/* SPDX-License-Identifier: BSD-3-Clause */
/* When the scribe tries again, and what it reports meanwhile. The test moves the clock:
 * g_get_monotonic_time and pthread_cond_timedwait are replaced, and so are the calls that sync,
 * which fail on demand. Links coordinator, storage and value. */
#include "checkpoint.h"

#include "coordinator/bid.h"

#include <errno.h>

#define INTERVAL_US (5 * G_USEC_PER_SEC)
#define MINUTE_US (60 * G_USEC_PER_SEC)

static gint64 now_us = G_USEC_PER_SEC; /* atomic */
static gint is_broken;                 /* atomic: nothing can be synced */
static gint64 failing_us, syncing_us;  /* atomic: how long a sync takes that fails, or not */

static struct
{
  pthread_mutex_t lock;
  pthread_cond_t wake;
  pthread_cond_t *on; /* the condition on which the scribe waits … */
  pthread_mutex_t *with;
  guint n_waits; /* … the number of its waits */
  gint64 until_us; /* … and the end of this one */
  guint n_trouble, n_final, n_failed, n_said;
  guint waits_at_news; /* n_waits when it last failed */
  guint n_published, n_loaded, n_loads;
  guint64 ticket, generation, commit_us, rest_us;
  Scribe *offered; /* the next answer is followed by an offer at once; NULL: it is not */
} seen = { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER };

gint64
g_get_monotonic_time (void)
{
  return __atomic_load_n (&now_us, __ATOMIC_SEQ_CST);
}

/* SQLite's library uses these only if they are visible. */
#pragma GCC visibility push(default)
int fsync (int fd);
int fdatasync (int fd);
#pragma GCC visibility pop

int
fsync (int fd)
{
  (void)fd;
  gboolean fails = g_atomic_int_get (&is_broken);
  gint64 us = __atomic_load_n (fails ? &failing_us : &syncing_us, __ATOMIC_SEQ_CST);
  __atomic_fetch_add (&now_us, us, __ATOMIC_SEQ_CST);
  errno = EIO;
  return fails ? -1 : 0;
}

int
fdatasync (int fd)
{
  return fsync (fd);
}

int
pthread_cond_timedwait (pthread_cond_t *cond, pthread_mutex_t *lock,
                        const struct timespec *deadline)
{
  pthread_mutex_lock (&seen.lock);
  seen.until_us = deadline->tv_sec * G_USEC_PER_SEC + deadline->tv_nsec / 1000;
  seen.on = cond;
  seen.with = lock;
  seen.n_waits++;
  pthread_cond_signal (&seen.wake);
  pthread_mutex_unlock (&seen.lock);
  return pthread_cond_wait (cond, lock);
}

static void
note (const ScribeNews *news, void *unused)
{
  (void)unused;
  pthread_mutex_lock (&seen.lock);
  if (news->kind == SCRIBE_TROUBLE)
    {
      seen.n_trouble++;
      seen.n_said++;
      seen.n_final += news->final;
      seen.waits_at_news = seen.n_waits;
    }
  else if (news->kind == SCRIBE_FAILED)
    {
      seen.n_failed++;
      seen.n_said++;
      seen.waits_at_news = seen.n_waits;
    }
  else if (news->kind == SCRIBE_RESTORED)
    {
      seen.n_loaded += news->rows->len;
      seen.n_loads += news->final;
    }
  else if (news->kind == SCRIBE_PUBLISHED)
    {
      g_assert_cmpuint (news->ticket, >=, seen.ticket);
      g_assert_cmpuint (news->generation, >=, seen.generation);
      seen.ticket = news->ticket;
      seen.generation = news->generation;
      seen.commit_us = news->commit_us;
      seen.rest_us = news->rest_us;
      seen.n_published++;
      seen.n_final += news->final;
    }
  Scribe *offered = news->final ? g_steal_pointer (&seen.offered) : NULL;
  pthread_cond_signal (&seen.wake);
  pthread_mutex_unlock (&seen.lock);
  if (offered != NULL)
    scribe_offer (offered);
}

static void
wait_for (const guint *counter, guint value)
{
  pthread_mutex_lock (&seen.lock);
  while (*counter < value)
    pthread_cond_wait (&seen.wake, &seen.lock);
  pthread_mutex_unlock (&seen.lock);
}

/* Waits until the scribe rests after its last failure, or has failed `n_failed` times. */
static void
wait_for_rest (guint n_failed)
{
  pthread_mutex_lock (&seen.lock);
  while (seen.n_waits == seen.waits_at_news && seen.n_failed < n_failed)
    pthread_cond_wait (&seen.wake, &seen.lock);
  pthread_mutex_unlock (&seen.lock);
}

static void
move_clock (gint64 us)
{
  pthread_mutex_lock (&seen.lock);
  pthread_cond_t *on = seen.on;
  pthread_mutex_t *with = seen.with;
  pthread_mutex_unlock (&seen.lock);
  pthread_mutex_lock (with);
  __atomic_fetch_add (&now_us, us, __ATOMIC_SEQ_CST);
  pthread_cond_signal (on);
  pthread_mutex_unlock (with);
}

static Scribe *
begin_by (ScribeConfig config)
{
  Identity identity = identity_make ("run-1", "app", "8");
  g_autoptr (GError) error = NULL;
  seen.on = NULL;
  seen.n_waits = seen.n_trouble = seen.n_final = seen.n_failed = seen.n_said = 0;
  seen.waits_at_news = seen.n_published = seen.n_loaded = seen.n_loads = 0;
  seen.ticket = seen.generation = 0;
  config.notify = note;
  g_atomic_int_set (&is_broken, FALSE);
  Scribe *scribe = scribe_new (&config, &identity, &error);
  g_assert_no_error (error);
  identity_clear (&identity);
  return scribe;
}

static Scribe *
begin_as (Place *place, gboolean is_thrifty)
{
  ScribeConfig config = place_config (place, INTERVAL_US);
  config.is_thrifty = is_thrifty;
  return begin_by (config);
}

static Scribe *
begin (Place *place)
{
  return begin_as (place, FALSE);
}

/* Checks that all saved rows are published at the end, whatever failed before. */
static void
finish_well (Scribe *scribe, Place *place, const char *n_rows)
{
  guint before = seen.n_final;
  g_atomic_int_set (&is_broken, FALSE);
  scribe_finish (scribe);
  wait_for (&seen.n_final, before + 1);
  scribe_free (scribe);
  g_assert_cmpuint (seen.n_published, >=, 1);
  assert_answer (place->target, "SELECT count(*) FROM result", n_rows);
}

static void
test_trouble_is_said_once_a_minute (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = begin (place);
  g_atomic_int_set (&is_broken, TRUE);
  save_one (scribe, row_make ("/0", 1, 1, 0.1));
  wait_for (&seen.n_waits, 1);
  move_clock (INTERVAL_US);
  wait_for (&seen.n_trouble, 1);
  for (guint i = 1; i < MINUTE_US / INTERVAL_US; i++)
    {
      wait_for_rest (G_MAXUINT);
      move_clock (INTERVAL_US);
      wait_for (&seen.n_said, i + 1);
      g_assert_cmpuint (seen.n_trouble, ==, 1);
    }
  wait_for_rest (G_MAXUINT);
  move_clock (INTERVAL_US);
  wait_for (&seen.n_trouble, 2);
  g_assert_cmpuint (seen.n_failed, ==, MINUTE_US / INTERVAL_US - 1);
  scribe_finish (scribe); /* the end is always reported */
  wait_for (&seen.n_final, 1);
  g_assert_cmpuint (seen.n_trouble, ==, 3);
  finish_well (scribe, place, "1");
}

/* A large batch is written at once; but a disk that fails is not tried again for a while. */
static void
test_a_large_batch_waits_for_a_disk_that_fails (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = begin (place);
  GPtrArray *rows = rows_new ();
  g_atomic_int_set (&is_broken, TRUE);
  for (guint i = 0; i < 100001; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u/%u", i / 1000, i % 1000);
      g_ptr_array_add (rows, row_make (path, i, 1, 1e-6));
    }
  scribe_save (scribe, rows);
  wait_for (&seen.n_trouble, 1);
  wait_for_rest (1);
  g_assert_cmpuint (seen.n_failed, ==, 0);
  move_clock (INTERVAL_US);
  wait_for (&seen.n_failed, 1);
  finish_well (scribe, place, "100001");
}

/* News without a number does not reset the number. */
static void
test_numbers_never_fall (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = begin (place);
  save_one (scribe, row_make ("/0", 1, 1, 0.1));
  scribe_ticket (scribe, 7);
  scribe_finish (scribe);
  wait_for (&seen.n_final, 1);
  g_assert_cmpuint (seen.ticket, ==, 7);
  save_one (scribe, row_make ("/1", 1, 1, 0.1));
  scribe_finish (scribe);
  wait_for (&seen.n_final, 2);
  g_assert_cmpuint (seen.ticket, ==, 7);
  finish_well (scribe, place, "2");
}

/* Waits until the scribe has done all that it had to do, ticks too: the second load comes in a
 * round of its own. */
static void
wait_for_rounds (Scribe *scribe)
{
  for (guint i = 0; i < 2; i++)
    {
      guint n = seen.n_loads;
      scribe_load (scribe, "/none");
      wait_for (&seen.n_loads, n + 1);
    }
}

/* Rows that stand in the file already are acknowledged at the next tick, too, although nothing is
 * published. */
static void
test_known_rows_are_acknowledged (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = begin (place);
  wait_for (&seen.n_waits, 1);
  for (guint i = 1; i <= 2; i++)
    {
      save_one (scribe, row_make ("/0", 1, 1, 0.1));
      scribe_ticket (scribe, i);
      move_clock (INTERVAL_US);
      wait_for_rounds (scribe);
      g_assert_cmpuint (seen.ticket, ==, i);
      g_assert_cmpuint (seen.generation, ==, 1);
    }
  finish_well (scribe, place, "1");
}

/* Damage of a file that is united on the way is told, also if the publication is good. */
static void
test_damage_on_the_way_is_told (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = begin (place);
  sqlite3 *db = NULL;
  save_one (scribe, row_make ("/0", 1, 1, 0.1));
  scribe_finish (scribe);
  wait_for (&seen.n_final, 1);
  g_assert_cmpint (sqlite3_open (place->target, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, "UPDATE result SET work_s = 99", NULL, NULL, NULL), ==,
                   SQLITE_OK);
  g_assert_cmpint (sqlite3_close (db), ==, SQLITE_OK);
  g_assert_cmpuint (seen.n_trouble, ==, 0);
  save_one (scribe, row_make ("/1", 1, 1, 0.1));
  finish_well (scribe, place, "2");
  g_assert_cmpuint (seen.n_trouble, ==, 1);
  g_assert_cmpuint (place_strangers (place), ==, 1); /* the damaged file */
}

static guint64
saves_of (Scribe *scribe)
{
  ScribeStats stats;
  scribe_stats (scribe, &stats);
  return stats.saves;
}

/* Rows wait in memory for the next tick, up to a limit: then they are written although no time has
 * passed. Without a stated interval they wait for longer, since many are covered meanwhile. */
static void
test_what_waits_in_memory_is_limited (void)
{
  static const gsize limits[] = { 16u << 20, 64u << 20 };
  for (gsize i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      g_autoptr (Place) place = place_new ();
      g_autoptr (GBytes) value = g_bytes_new_take (g_malloc0 (limits[i]), limits[i]);
      Digest digest = digest_of_string ("large");
      Scribe *scribe = begin_as (place, i == 1);
      wait_for (&seen.n_waits, 1);
      save_one (scribe, row_new ("/0", 1, &digest, 0.1, 1, value));
      wait_for (&seen.n_waits, 2);
      g_assert_cmpuint (saves_of (scribe), ==, 0);
      save_one (scribe, row_make ("/1", 1, 1, 0.1));
      wait_for (&seen.n_waits, 3);
      g_assert_cmpuint (saves_of (scribe), ==, 1);
      g_assert_cmpuint (seen.n_published, ==, 0);
      /* A commit of so much is compared with bids, as if it had been as large as they may be. */
      gint64 began_us = now_us;
      __atomic_store_n (&syncing_us, G_USEC_PER_SEC, __ATOMIC_SEQ_CST);
      finish_well (scribe, place, "2");
      __atomic_store_n (&syncing_us, 0, __ATOMIC_SEQ_CST);
      g_assert_cmpuint (seen.commit_us, >, 0);
      g_assert_cmpuint (seen.commit_us, <=,
                        (guint64)(now_us - began_us) * BID_BYTES_MAX / limits[i]);
    }
}

/* After a failure the next try comes after the interval, or sooner if that is long; later if it
 * took long to fail, but not by more than a minute. */
static void
test_when_it_is_tried_again (void)
{
  static const struct
  {
    guint64 interval_us;
    gint64 failing_us, least_us, most_us;
  } cases[] = {
    { 1000 * 1000, 0, 1000 * 1000, 1000 * 1000 },
    { HOUR_US, 0, INTERVAL_US, INTERVAL_US },
    { INTERVAL_US, 2 * G_USEC_PER_SEC, 18 * G_USEC_PER_SEC, MINUTE_US },
    { INTERVAL_US, 60 * G_USEC_PER_SEC, MINUTE_US, MINUTE_US },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Place) place = place_new ();
      Scribe *scribe = begin_by (place_config (place, cases[i].interval_us));
      wait_for (&seen.n_waits, 1);
      __atomic_store_n (&failing_us, cases[i].failing_us, __ATOMIC_SEQ_CST);
      g_atomic_int_set (&is_broken, TRUE);
      save_one (scribe, row_make ("/0", 1, 1, 0.1));
      move_clock (INTERVAL_US);
      wait_for (&seen.n_trouble, 1);
      wait_for_rest (G_MAXUINT);
      pthread_mutex_lock (&seen.lock);
      gint64 rest_us = seen.until_us - g_get_monotonic_time ();
      pthread_mutex_unlock (&seen.lock);
      g_test_message ("rests %" G_GINT64_FORMAT " us", rest_us);
      g_assert_cmpint (rest_us, >=, cases[i].least_us);
      g_assert_cmpint (rest_us, <=, cases[i].most_us);
      finish_well (scribe, place, "1");
    }
}

/* Rows of which a publication costs half a minute's share at least. */
static void
save_large (Scribe *scribe, guint ticket)
{
  const guint bytes = 20 * 1000 * 1000;
  Row *row = row_make ("/1", 1, 1, 0.1);
  g_bytes_unref (row->value);
  row->value = g_bytes_new_take (g_malloc0 (bytes), bytes);
  save_one (scribe, row);
  scribe_ticket (scribe, ticket);
}

/* An offer is taken if a publication is worth its cost. Else it is answered at once, by the last
 * publication's ticket, and with the time until one is. A publication that is wanted does not wait.
 * If an interval was stated, each is worth its cost. */
static void
test_offers (void)
{
  for (int is_thrifty = FALSE; is_thrifty <= TRUE; is_thrifty++)
    {
      g_autoptr (Place) place = place_new ();
      Scribe *scribe = begin_as (place, is_thrifty);
      save_one (scribe, row_make ("/0", 1, 1, 0.1));
      scribe_ticket (scribe, 1);
      scribe_offer (scribe); /* the first is always worth it */
      wait_for (&seen.n_final, 1);
      g_assert_cmpuint (seen.ticket, ==, 1);
      g_assert_cmpuint (seen.generation, ==, 1);
      save_large (scribe, 2);
      scribe_offer (scribe);
      wait_for (&seen.n_final, 2);
      g_assert_cmpuint (seen.ticket, ==, is_thrifty ? 1 : 2);
      g_assert_cmpuint (seen.generation, ==, is_thrifty ? 1 : 2);
      if (is_thrifty)
        {
          g_assert_cmpuint (seen.rest_us, >=, 20 * G_USEC_PER_SEC);
          assert_answer (place->target, "SELECT count(*) FROM result", "1");
          move_clock ((gint64)seen.rest_us);
          scribe_offer (scribe);
          wait_for (&seen.n_final, 3);
          g_assert_cmpuint (seen.ticket, ==, 2);
          save_large (scribe, 3);
          scribe_finish (scribe);
          wait_for (&seen.n_final, 4);
          g_assert_cmpuint (seen.ticket, ==, 3);
        }
      finish_well (scribe, place, "2");
    }
}

/* An offer that comes while another one is being declined is answered, too. */
static void
test_no_offer_is_missed (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = begin_as (place, TRUE);
  save_one (scribe, row_make ("/0", 1, 1, 0.1));
  scribe_offer (scribe);
  wait_for (&seen.n_final, 1);
  save_large (scribe, 2);
  pthread_mutex_lock (&seen.lock);
  seen.offered = scribe;
  pthread_mutex_unlock (&seen.lock);
  scribe_offer (scribe);
  wait_for (&seen.n_final, 3);
  g_assert_cmpuint (seen.n_published, ==, 3);
  finish_well (scribe, place, "2");
}

/* After an offer the scribe expects another one, so it publishes by itself an interval later than
 * it would. */
static void
test_an_offer_is_waited_for (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = begin (place);
  for (guint i = 0; i < 2; i++)
    {
      save_one (scribe, row_make ("/0", i, 1, 0.1));
      (i == 0 ? scribe_finish : scribe_offer) (scribe);
      wait_for (&seen.n_final, i + 1);
      guint n_waits = seen.n_waits; /* nothing is due now, so no wait has an end */
      save_one (scribe, row_make ("/1", i, 1, 0.1));
      wait_for (&seen.n_waits, n_waits + 1);
      pthread_mutex_lock (&seen.lock);
      gint64 rest_us = seen.until_us - g_get_monotonic_time ();
      pthread_mutex_unlock (&seen.lock);
      g_assert_cmpint (rest_us, ==, (i + 1) * INTERVAL_US);
    }
  finish_well (scribe, place, "2");
}

#define LOOKS 20u

/* The work that is left is told when enough is known of it, and not before. */
static void
test_what_is_left_is_told_when_it_is_known (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = begin (place);
  ScribeStats stats;
  wait_for (&seen.n_waits, 1);
  for (guint i = 0; i < LOOKS; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u", i);
      guint before = seen.n_waits;
      save_one (scribe, row_make (path, 1, 10 * G_USEC_PER_SEC, 0.5 / LOOKS));
      wait_for (&seen.n_waits, before + 1); /* so the look after the last tick is over */
      scribe_stats (scribe, &stats);
      g_assert_true (i > 1 || stats.left_us == 0);
      move_clock (MINUTE_US);
      wait_for (&seen.n_published, i + 1);
    }
  g_assert_cmpint (stats.left_us, >, 0);
  g_assert_cmpfloat (stats.left.low_s, >, 0);
  g_assert_cmpfloat (stats.left.high_s, >=, stats.left.low_s);
  finish_well (scribe, place, "20");
}

/* A scribe that only reads answers loads, with what was saved meanwhile. It acknowledges nothing,
 * since nothing is published. */
static void
test_a_reader_has_no_ticks (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = begin (place);
  save_one (scribe, row_make ("/0", 1, 1, 0.1));
  finish_well (scribe, place, "1");
  ScribeConfig config = place_config (place, INTERVAL_US);
  config.reads_only = TRUE;
  scribe = begin_by (config);
  for (guint i = 1; i <= 3; i++)
    {
      __atomic_fetch_add (&now_us, INTERVAL_US, __ATOMIC_SEQ_CST); /* a tick would be due */
      save_one (scribe, row_make ("/1", 1, 1, 0.1));
      scribe_ticket (scribe, i);
      scribe_load (scribe, NULL);
      wait_for (&seen.n_loaded, 2 * i);
    }
  g_assert_cmpuint (seen.n_published, ==, 0);
  scribe_free (scribe);
  assert_answer (place->target, "SELECT count(*) FROM result", "1");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scribe-time/trouble-is-said-once-a-minute",
                   test_trouble_is_said_once_a_minute);
  g_test_add_func ("/scribe-time/a-large-batch-waits-for-a-disk-that-fails",
                   test_a_large_batch_waits_for_a_disk_that_fails);
  g_test_add_func ("/scribe-time/numbers-never-fall", test_numbers_never_fall);
  g_test_add_func ("/scribe-time/known-rows-are-acknowledged", test_known_rows_are_acknowledged);
  g_test_add_func ("/scribe-time/damage-on-the-way-is-told", test_damage_on_the_way_is_told);
  g_test_add_func ("/scribe-time/what-waits-in-memory-is-limited",
                   test_what_waits_in_memory_is_limited);
  g_test_add_func ("/scribe-time/when-it-is-tried-again", test_when_it_is_tried_again);
  g_test_add_func ("/scribe-time/offers", test_offers);
  g_test_add_func ("/scribe-time/no-offer-is-missed", test_no_offer_is_missed);
  g_test_add_func ("/scribe-time/an-offer-is-waited-for", test_an_offer_is_waited_for);
  g_test_add_func ("/scribe-time/what-is-left-is-told-when-it-is-known",
                   test_what_is_left_is_told_when_it_is_known);
  g_test_add_func ("/scribe-time/a-reader-has-no-ticks", test_a_reader_has_no_ticks);
  return g_test_run ();
}
