/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping and spinning: the way of waiting that gives faster answers is used, and a change of that
 * is noticed. */
#include "config.h"

#include "node/waits.h"

#define SPIN_US 100
#define SOME (8 * WAITS_PROBE) /* enough to learn of a change */

/* The number of spinning waits out of `n`, if waits take so long. */
static guint
wait_often (Waits *waits, guint n, gint64 asleep_us, gint64 spinning_us)
{
  guint spins = 0;

  for (guint i = 0; i < n; i++)
    {
      gint64 may_us = waits_begin (waits, SPIN_US);
      g_assert_cmpint (may_us, ==, waits->way == WAY_SPIN ? SPIN_US : 0);
      spins += may_us > 0;
      waits_end (waits, SPIN_US, may_us > 0 ? spinning_us : asleep_us);
    }
  return spins;
}

static void
test_the_sooner_one (void)
{
  Waits asleep = { 0 }, spinning = { 0 };

  (void)wait_often (&asleep, SOME, 20, 60);
  g_assert_cmpuint (wait_often (&asleep, SOME, 20, 60), ==, SOME / WAITS_PROBE);
  (void)wait_often (&spinning, SOME, 60, 20);
  g_assert_cmpuint (wait_often (&spinning, SOME, 60, 20), ==, SOME - SOME / WAITS_PROBE);
}

static void
test_it_changes (void)
{
  Waits waits = { 0 };

  (void)wait_often (&waits, SOME, 20, 60);
  (void)wait_often (&waits, 2 * SOME, 60, 20);
  g_assert_cmpuint (wait_often (&waits, SOME, 60, 20), >, SOME / 2);
  (void)wait_often (&waits, 2 * SOME, 20, 60);
  g_assert_cmpuint (wait_often (&waits, SOME, 20, 60), <, SOME / 2);
}

/* A wait for which nothing was due says nothing about the two ways of waiting; nor does one wait
 * that was disturbed. */
static void
test_what_says_nothing (void)
{
  Waits waits = { 0 };
  double before_us;

  (void)wait_often (&waits, SOME, 60, 20);
  (void)wait_often (&waits, SOME, 60, 2 * WAITS_LONG * SPIN_US);
  g_assert_cmpuint (wait_often (&waits, SOME, 60, 20), ==, SOME - SOME / WAITS_PROBE);
  before_us = waits.typical_us[waits.way];
  waits_end (&waits, SPIN_US, WAITS_LONG * SPIN_US);
  g_assert_cmpfloat (waits.typical_us[waits.way], >, before_us);
  g_assert_cmpfloat (waits.typical_us[waits.way], <=, before_us + 5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/waits/the-sooner-one", test_the_sooner_one);
  g_test_add_func ("/waits/it-changes", test_it_changes);
  g_test_add_func ("/waits/what-says-nothing", test_what_says_nothing);
  return g_test_run ();
}
