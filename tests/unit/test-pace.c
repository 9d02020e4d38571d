/* SPDX-License-Identifier: BSD-3-Clause */
/* pace.c: a publication takes at most one part in PACE_DUTY of the time since the last one. Links
 * coordinator. */
#include "coordinator/pace.h"

static void
test_the_first_does_not_wait (void)
{
  Pace pace = { 0 };

  g_assert_cmpuint (pace_rest_us (&pace, 0), ==, 0);
  g_assert_cmpuint (pace_rest_us (&pace, G_MAXUINT32), ==, 0);
}

/* Also if rows were written that are in the file no more. */
static void
test_the_rest_is_the_cost_times_the_duty (void)
{
  Pace pace = { 0 };

  pace_published (&pace, 7, 20 * 1000, 1000 * 1000);
  g_assert_cmpint (pace.published_us, ==, 7);
  for (guint64 bytes = 0; bytes <= 1000 * 1000; bytes += 1000 * 500)
    g_assert_cmpuint (pace_rest_us (&pace, bytes), ==, PACE_DUTY * 20 * 1000);
  pace_published (&pace, 9, 500 * 1000, 1000); /* after large rows that others have replaced */
  g_assert_cmpuint (pace_rest_us (&pace, 1000), ==, PACE_DUTY * 500 * 1000);
}

/* What a byte costs is not taken from a small file, which costs little but its syncs: each further
 * byte takes 10 to 20 ns. */
static void
test_a_larger_file_costs_more (void)
{
  Pace pace = { 0 };

  for (guint64 before = 0; before <= 1000 * 1000; before += 1000 * 1000)
    {
      pace_published (&pace, 1, 10 * 1000, before);
      guint64 rest_us = pace_rest_us (&pace, before + 1000 * 1000);
      g_assert_cmpuint (rest_us, >=, PACE_DUTY * (10 + 10) * 1000);
      g_assert_cmpuint (rest_us, <=, PACE_DUTY * (10 + 20) * 1000);
    }
}

static void
test_nothing_waits_for_ever (void)
{
  Pace pace = { 0 };

  pace_published (&pace, 1, 100 * 1000 * 1000, 10 * 1000 * 1000);
  g_assert_cmpuint (pace_rest_us (&pace, G_MAXUINT64 / 2), ==, PACE_REST_MAX_US);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pace/first", test_the_first_does_not_wait);
  g_test_add_func ("/pace/duty", test_the_rest_is_the_cost_times_the_duty);
  g_test_add_func ("/pace/larger", test_a_larger_file_costs_more);
  g_test_add_func ("/pace/most", test_nothing_waits_for_ever);
  return g_test_run ();
}
