/* SPDX-License-Identifier: BSD-3-Clause */
/* A slow disk stretches the interval: publishing takes at most a tenth of the time (scribe.c).
 * This program's fsync is slow on demand. Links coordinator, storage and value. */
#include "checkpoint.h"

#include <sys/syscall.h>
#include <unistd.h>

#define SYNC_US 120000
#define STOP_US 1500000

static gint is_slow;      /* atomic */
static gint stop_us;      /* atomic: the next one takes so long */
static gint64 in_sync_us; /* atomic: of the scribe's thread, which alone syncs */

int
fsync (int fd)
{
  gint64 began_us = g_get_monotonic_time ();
  if (g_atomic_int_get (&is_slow))
    g_usleep (SYNC_US);
  g_usleep ((gulong)g_atomic_int_and ((guint *)&stop_us, 0));
  int failed = (int)syscall (SYS_fsync, fd);
  __atomic_fetch_add (&in_sync_us, g_get_monotonic_time () - began_us, __ATOMIC_RELAXED);
  return failed;
}

/* SQLite's own. */
int
fdatasync (int fd)
{
  return fsync (fd);
}

static guint
published (Place *place)
{
  pthread_mutex_lock (&place->lock);
  guint n = place->n_published;
  pthread_mutex_unlock (&place->lock);
  return n;
}

/* Saves something new all the time, as a run does, until so many more publications have come. */
static void
save_until (Scribe *scribe, Place *place, guint n)
{
  guint end = published (place) + n;
  for (guint i = 0; published (place) < end; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u/%u", i / 100, i % 100);
      save_one (scribe, row_make (path, i, 1, 1e-6));
      g_usleep (2000);
    }
}

static void
test_a_slow_place_stretches_the_interval (void)
{
  const guint n = 2;
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, 10000, "run-1");
  save_until (scribe, place, 1);
  g_atomic_int_set (&is_slow, TRUE);
  /* What is under way is half slow, and one alone does not count. */
  save_until (scribe, place, 3);
  __atomic_store_n (&in_sync_us, 0, __ATOMIC_RELAXED);
  gint64 began_us = g_get_monotonic_time ();
  save_until (scribe, place, n);
  gint64 sync_us = __atomic_load_n (&in_sync_us, __ATOMIC_RELAXED);
  double share = (double)sync_us / (double)(g_get_monotonic_time () - began_us);
  g_atomic_int_set (&is_slow, FALSE);
  guint n_trouble = place->n_trouble;
  finish (place, scribe);
  scribe_free (scribe);

  g_test_message ("%u publications take %.1f %% of the time", n, 100 * share);
  g_assert_cmpfloat (share, <=, 0.15); /* a tenth, and what is saved between them */
  g_assert_cmpuint (n_trouble, ==, 1);
  g_assert_nonnull (strstr (place->trouble, "publishing takes"));
}

/* A store that stood still for a minute is not left alone for ten. */
static void
test_one_that_stood_still_is_forgiven (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, 10000, "run-1");
  save_until (scribe, place, 1);
  g_atomic_int_set (&stop_us, STOP_US);
  while (g_atomic_int_get (&stop_us) != 0)
    save_until (scribe, place, 1);
  save_until (scribe, place, 1);
  guint n_trouble = place->n_trouble;
  finish (place, scribe);
  scribe_free (scribe);
  g_assert_cmpuint (n_trouble, ==, 0); /* a longer interval would have been said */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rest/a-slow-place-stretches-the-interval",
                   test_a_slow_place_stretches_the_interval);
  g_test_add_func ("/rest/one-that-stood-still-is-forgiven", test_one_that_stood_still_is_forgiven);
  return g_test_run ();
}
