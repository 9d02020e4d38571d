/* SPDX-License-Identifier: BSD-3-Clause */
/* A slow disk makes the interval longer: publishing takes at most a tenth of the time (scribe.c).
 * System calls are replaced: the clock only advances by what fsync takes and by what the test adds.
 * Links coordinator, storage and value. */
#include "checkpoint.h"

#include "coordinator/pace.h"

#include <sys/syscall.h>
#include <unistd.h>

#define INTERVAL_US 10000
#define SYNC_US 120000
#define STOP_US 1500000
#define SHARE 10 /* publishing may take one part in so many */

static gint64 now_us = G_USEC_PER_SEC; /* atomic */
static gint64 sync_us;                 /* atomic: the time that each sync takes */
static gint64 cpu_us; /* atomic: the scribe's processor time, as the replaced clock shows it */

static struct
{
  pthread_mutex_t lock;
  pthread_cond_t wake;
  pthread_cond_t *on; /* the condition on which the scribe waits … */
  pthread_mutex_t *with;
  gint64 until_us; /* … until then … */
  guint n_waits;   /* … the number of its waits */
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
int clock_gettime (clockid_t clock, struct timespec *time);
#pragma GCC visibility pop

int
fsync (int fd)
{
  (void)fd;
  __atomic_fetch_add (&now_us, __atomic_load_n (&sync_us, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
  return 0;
}

int
fdatasync (int fd)
{
  return fsync (fd);
}

int
clock_gettime (clockid_t clock, struct timespec *time)
{
  gint64 us = __atomic_load_n (&cpu_us, __ATOMIC_SEQ_CST);
  if (clock != CLOCK_THREAD_CPUTIME_ID)
    return (int)syscall (SYS_clock_gettime, clock, time);
  *time = (struct timespec){ us / G_USEC_PER_SEC, us % G_USEC_PER_SEC * 1000 };
  return 0;
}

int
pthread_cond_timedwait (pthread_cond_t *cond, pthread_mutex_t *lock,
                        const struct timespec *deadline)
{
  pthread_mutex_lock (&seen.lock);
  seen.on = cond;
  seen.with = lock;
  seen.until_us = deadline->tv_sec * G_USEC_PER_SEC + deadline->tv_nsec / 1000;
  seen.n_waits++;
  pthread_cond_signal (&seen.wake);
  pthread_mutex_unlock (&seen.lock);
  return pthread_cond_wait (cond, lock);
}

typedef struct
{
  gint64 rest_us, took_us; /* the rest before it, and the time of it */
} Publication;

/* A row of the job "tour" with so many bytes. */
static Row *
row_of (const char *path, guint number, gsize bytes)
{
  g_autofree char *text = g_malloc0 (bytes);
  g_autoptr (GVariant) value = g_variant_ref_sink (g_variant_new (
      "(x@ay)", (gint64)number, g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, text, bytes, 1)));
  g_autoptr (GBytes) packed = g_variant_get_data_as_bytes (value);
  Digest digest = digest_of_string (path);
  return row_new (path, 1, &digest, 0, 1, packed);
}

/* Saves a new row of so many bytes, and lets time pass until it is published. */
static Publication
publish_one (Scribe *scribe, Place *place, guint number, gsize bytes)
{
  g_autofree char *path = g_strdup_printf ("/%u", number);
  Publication one;
  gint64 began_us = g_get_monotonic_time ();

  pthread_mutex_lock (&seen.lock);
  guint n = seen.n_waits; /* the scribe has nothing to wait for */
  pthread_mutex_unlock (&seen.lock);
  save_one (scribe, row_of (path, number, bytes));
  pthread_mutex_lock (&seen.lock);
  while (seen.n_waits == n)
    pthread_cond_wait (&seen.wake, &seen.lock);
  gint64 until_us = seen.until_us;
  pthread_mutex_unlock (&seen.lock);
  one.rest_us = until_us - began_us;
  pthread_mutex_lock (seen.with);
  __atomic_store_n (&now_us, until_us, __ATOMIC_SEQ_CST);
  pthread_cond_signal (seen.on);
  pthread_mutex_unlock (seen.with);
  place_wait (place, &place->n_published, number);
  one.took_us = g_get_monotonic_time () - until_us;
  return one;
}

static guint
trouble_of (Place *place)
{
  pthread_mutex_lock (&place->lock);
  guint n = place->n_trouble;
  pthread_mutex_unlock (&place->lock);
  return n;
}

static void
test_a_slow_place_stretches_the_interval (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, INTERVAL_US, "run-1");
  Publication one = { 0 };

  __atomic_store_n (&sync_us, 0, __ATOMIC_SEQ_CST);
  for (guint i = 1; i <= 2; i++)
    {
      one = publish_one (scribe, place, i, 1);
      __atomic_fetch_add (&cpu_us, G_USEC_PER_SEC, __ATOMIC_SEQ_CST); /* at any cost */
    }
  g_assert_cmpint (one.rest_us, ==, INTERVAL_US);
  __atomic_store_n (&sync_us, SYNC_US, __ATOMIC_SEQ_CST);
  for (guint i = 3; i <= 8; i++)
    {
      gint64 before_us = one.took_us;
      one = publish_one (scribe, place, i, 1);
      g_test_message ("rests %" G_GINT64_FORMAT " us, takes %" G_GINT64_FORMAT " us", one.rest_us,
                      one.took_us);
      if (i <= 4) /* a single slow one does not count */
        g_assert_cmpint (one.rest_us, ==, INTERVAL_US);
      else
        g_assert_cmpint (one.rest_us, ==, (SHARE - 1) * before_us);
    }
  finish (place, scribe);
  scribe_free (scribe);
  g_assert_cmpuint (place->n_trouble, ==, 1);
  g_assert_nonnull (strstr (place->trouble, "publishing takes"));
}

/* After a store has hung for a minute, the scribe does not rest for ten minutes. */
static void
test_one_that_stood_still_is_forgiven (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, INTERVAL_US, "run-1");

  for (guint i = 1; i <= 5; i++)
    {
      __atomic_store_n (&sync_us, i == 3 ? STOP_US : 0, __ATOMIC_SEQ_CST);
      Publication one = publish_one (scribe, place, i, 1);
      g_assert_cmpint (one.took_us, >=, i == 3 ? STOP_US : 0);
      g_assert_cmpint (one.rest_us, <=, MAX (INTERVAL_US, G_USEC_PER_SEC));
    }
  g_assert_cmpuint (trouble_of (place), ==, 0); /* a longer interval would have been reported */
  finish (place, scribe);
  scribe_free (scribe);
}

/* That bases are slow says nothing of deltas, and a slow one counts when the next of its kind is
 * slow, too. */
static void
test_slow_of_its_kind (void)
{
  static const struct
  {
    gsize bytes; /* so many more are a base, fewer a delta */
    gboolean is_slow, counts;
  } steps[] = { { 400000, FALSE, FALSE },
                { 1, TRUE, FALSE },
                { 800000, TRUE, FALSE },
                { 1, FALSE, FALSE },
                { 2000000, TRUE, TRUE } };
  g_autoptr (Place) place = place_new ();
  Identity identity = identity_make ("run-1", "app", "8");
  ScribeConfig config = place_config (place, INTERVAL_US);
  g_autoptr (GError) error = NULL;

  config.delta_from = 10000;
  Scribe *scribe = scribe_new (&config, &identity, &error);
  g_assert_no_error (error);
  identity_clear (&identity);
  for (guint i = 0; i <= G_N_ELEMENTS (steps); i++)
    {
      gboolean is_last = i == G_N_ELEMENTS (steps);
      __atomic_store_n (&sync_us, !is_last && steps[i].is_slow ? SYNC_US : 0, __ATOMIC_SEQ_CST);
      Publication one = publish_one (scribe, place, i + 1, is_last ? 1 : steps[i].bytes);
      g_assert_cmpint (one.rest_us > INTERVAL_US, ==, i > 0 && steps[i - 1].counts);
      g_assert_cmpuint (place_strangers (place), ==, is_last || steps[i].bytes == 1);
    }
  finish (place, scribe);
  scribe_free (scribe);
}

/* A longer interval is told when it is longer than two seconds, and again when it has doubled. The
 * figures are those of the publications. */
static void
test_what_is_told_of_a_slow_place (void)
{
  static const struct
  {
    gint64 sync_us;
    guint n_told;
  } steps[] = { { 1000, 0 }, { 120000, 1 }, { 180000, 1 }, { 260000, 2 } };
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, INTERVAL_US, "run-1");
  Publication one = { 0 };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (steps); i++)
    {
      ScribeStats stats;
      __atomic_store_n (&sync_us, steps[i / 2].sync_us, __ATOMIC_SEQ_CST);
      __atomic_store_n (&cpu_us, 1000 * (i + 1), __ATOMIC_SEQ_CST);
      one = publish_one (scribe, place, i + 1, 1);
      scribe_stats (scribe, &stats);
      g_assert_cmpint (stats.published_us, ==, __atomic_load_n (&now_us, __ATOMIC_SEQ_CST));
      g_assert_cmpuint (stats.cpu_us, >=, 1000 * i); /* of the round before */
      if (i % 2 == 0) /* what is told of a publication comes after it, before the next */
        g_assert_cmpuint (trouble_of (place), ==, i > 0 ? steps[i / 2 - 1].n_told : 0);
    }
  scribe_load (scribe, NULL);
  place_wait (place, &place->n_restored_final, 1);
  g_assert_cmpuint (trouble_of (place), ==, 2);
  g_autofree char *told = g_strdup_printf (
      "publishing takes %.3g s, so it is done every %.3g s, not every %.3g s",
      (double)one.took_us / 1e6, (double)one.took_us * SHARE / 1e6, (double)INTERVAL_US / 1e6);
  g_assert_nonnull (strstr (place->trouble, told));
  finish (place, scribe);
  scribe_free (scribe);
}

/* The first publication does not wait for the interval: it shows soon that the place can be
 * used. */
static void
test_the_first_comes_soon (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");

  __atomic_store_n (&sync_us, 0, __ATOMIC_SEQ_CST);
  g_assert_cmpint (publish_one (scribe, place, 1, 1).rest_us, <=, 50000);
  g_assert_cmpuint ((guint64)publish_one (scribe, place, 2, 1).rest_us, ==, HOUR_US);
  scribe_free (scribe);
}

/* Without a stated interval, publications take a hundredth of one processor's time since the last
 * one; the first costs nothing yet. */
static void
test_no_interval_means_as_often_as_it_is_worth (void)
{
  g_autoptr (Place) place = place_new ();
  Identity identity = identity_make ("run-1", "app", "8");
  ScribeConfig config = place_config (place, INTERVAL_US);
  g_autoptr (GError) error = NULL;

  config.is_thrifty = TRUE;
  __atomic_store_n (&cpu_us, 0, __ATOMIC_SEQ_CST);
  __atomic_store_n (&sync_us, 0, __ATOMIC_SEQ_CST);
  Scribe *scribe = scribe_new (&config, &identity, &error);
  g_assert_no_error (error);
  identity_clear (&identity);
  for (guint i = 1; i <= 3; i++)
    {
      __atomic_fetch_add (&cpu_us, 500 * (gint64)i, __ATOMIC_SEQ_CST);
      Publication one = publish_one (scribe, place, i, 1);
      guint64 spent_us = 500 * (i - 1); /* of the publication before */
      g_test_message ("rests %" G_GINT64_FORMAT " us", one.rest_us);
      g_assert_cmpint (one.rest_us, >=, MAX (INTERVAL_US, PACE_DUTY * spent_us));
      g_assert_cmpint (one.rest_us, <=, INTERVAL_US + PACE_DUTY * spent_us * 11 / 10);
      g_assert_cmpuint (place->rest_us, >=, PACE_DUTY * 500 * i);
    }
  /* Rows count as soon as they have arrived, before they are written. */
  guint64 rest_us = place->rest_us;
  Publication large = publish_one (scribe, place, 4, 1000 * 1000);
  g_assert_cmpuint ((guint64)large.rest_us, >, 10 * rest_us);
  g_assert_cmpuint (trouble_of (place), ==, 0);
  save_one (scribe, row_make ("/9", 9, 1, 1e-6));
  finish (place, scribe); /* although no time passes */
  scribe_free (scribe);
}

/* A large batch is written early, so that it needs no memory; less early if publishing is not worth
 * its cost. */
static void
test_what_is_large_is_written_at_once (void)
{
  const struct
  {
    gboolean is_thrifty;
    gsize bytes;
    guint saved;
  } cases[] = {
    { FALSE, 15u << 20, 0 }, { FALSE, 17u << 20, 1 }, { TRUE, 63u << 20, 0 }, { TRUE, 65u << 20, 1 }
  };

  __atomic_store_n (&sync_us, 0, __ATOMIC_SEQ_CST);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Place) place = place_new ();
      Identity identity = identity_make ("run-1", "app", "8");
      ScribeConfig config = place_config (place, INTERVAL_US);
      g_autoptr (GError) error = NULL;
      ScribeStats stats;

      config.is_thrifty = cases[i].is_thrifty;
      Scribe *scribe = scribe_new (&config, &identity, &error);
      g_assert_no_error (error);
      identity_clear (&identity);
      (void)publish_one (scribe, place, 1, 1);
      pthread_mutex_lock (&seen.lock);
      guint n = seen.n_waits;
      pthread_mutex_unlock (&seen.lock);
      save_one (scribe, row_of ("/2", 2, cases[i].bytes));
      pthread_mutex_lock (&seen.lock);
      while (seen.n_waits == n)
        pthread_cond_wait (&seen.wake, &seen.lock);
      pthread_mutex_unlock (&seen.lock);
      scribe_stats (scribe, &stats);
      g_assert_cmpuint (stats.saved_rows, ==, 1 + cases[i].saved);
      finish (place, scribe);
      scribe_free (scribe);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rest/a-slow-place-stretches-the-interval",
                   test_a_slow_place_stretches_the_interval);
  g_test_add_func ("/rest/one-that-stood-still-is-forgiven", test_one_that_stood_still_is_forgiven);
  g_test_add_func ("/rest/slow-of-its-kind", test_slow_of_its_kind);
  g_test_add_func ("/rest/what-is-told-of-a-slow-place", test_what_is_told_of_a_slow_place);
  g_test_add_func ("/rest/the-first-comes-soon", test_the_first_comes_soon);
  g_test_add_func ("/rest/no-interval-means-as-often-as-it-is-worth",
                   test_no_interval_means_as_often_as_it_is_worth);
  g_test_add_func ("/rest/what-is-large-is-written-at-once", test_what_is_large_is_written_at_once);
  return g_test_run ();
}
