/* SPDX-License-Identifier: BSD-3-Clause */
/* pace.c: a publication takes at most one part in PACE_DUTY of the time since the last one. Links
 * coordinator. */
#include "coordinator/pace.h"

static void
test_the_first_does_not_wait (void)
{
  Pace pace = pace_new ();

  g_assert_cmpuint (pace_rest_us (&pace, 0), ==, 0);
  g_assert_cmpuint (pace_rest_us (&pace, G_MAXUINT32), ==, 0);
}

static void
test_the_rest_is_the_cost_times_the_duty (void)
{
  Pace pace = pace_new ();

  pace_published (&pace, 7, 20 * 1000, 1000 * 1000); /* 20 ns for each byte */
  g_assert_cmpint (pace.published_us, ==, 7);
  g_assert_cmpuint (pace_rest_us (&pace, 0), ==, 0);
  g_assert_cmpuint (pace_rest_us (&pace, 1000 * 1000), ==, PACE_DUTY * 20 * 1000);
  g_assert_cmpuint (pace_rest_us (&pace, 2500 * 1000), ==, PACE_DUTY * 50 * 1000);
  pace_published (&pace, 9, 10 * 1000, 2000 * 1000); /* and 5 */
  g_assert_cmpuint (pace_rest_us (&pace, 2500 * 1000), ==, PACE_DUTY * 12500);
}

/* Before the first measurement a default cost is used, since an empty file gives no cost. */
static void
test_an_empty_file_tells_no_cost (void)
{
  Pace pace = pace_new ();

  pace_published (&pace, 1, 5000, 0);
  guint64 rest_us = pace_rest_us (&pace, 1000 * 1000);
  g_assert_cmpuint (rest_us, >=, PACE_DUTY * 5 * 1000);
  g_assert_cmpuint (rest_us, <=, PACE_DUTY * 50 * 1000);
}

/* The syncs of a small file are no reason to publish a larger file less often. */
static void
test_a_small_file_does_not_tell_the_cost_of_a_large_one (void)
{
  Pace pace = pace_new ();

  pace_published (&pace, 1, 10 * 1000, 1000);
  g_assert_cmpuint (pace_rest_us (&pace, 100 * 1000), <=, PACE_DUTY * 10 * 1000);
}

static void
test_nothing_waits_for_ever (void)
{
  Pace pace = pace_new ();

  pace_published (&pace, 1, 100 * 1000 * 1000, 10 * 1000 * 1000);
  g_assert_cmpuint (pace_rest_us (&pace, G_MAXUINT64 / 2), ==, PACE_REST_MAX_US);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pace/first", test_the_first_does_not_wait);
  g_test_add_func ("/pace/duty", test_the_rest_is_the_cost_times_the_duty);
  g_test_add_func ("/pace/empty", test_an_empty_file_tells_no_cost);
  g_test_add_func ("/pace/small", test_a_small_file_does_not_tell_the_cost_of_a_large_one);
  g_test_add_func ("/pace/most", test_nothing_waits_for_ever);
  return g_test_run ();
}
