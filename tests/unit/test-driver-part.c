/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/driver-part.h"

static const struct
{
  DriverPart from, to[PART_EVENTS];
} moves[] = {
  { PART_JOINING, { PART_MEMBER, PART_STOPPED, PART_LEFT, PART_FINISHED } },
  { PART_MEMBER, { PART_MEMBER, PART_STOPPED, PART_LEFT, PART_FINISHED } },
  { PART_STOPPED, { PART_STOPPED, PART_STOPPED, PART_LEFT, PART_STOPPED } },
  { PART_LEFT, { PART_LEFT, PART_LEFT, PART_LEFT, PART_LEFT } },
};

static void
test_moves (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (moves); i++)
    for (DriverPartEvent event = 0; event < PART_EVENTS; event++)
      g_assert_cmpint (driver_part_after (moves[i].from, event), ==, moves[i].to[event]);
  g_assert_cmpint (driver_part_after (PART_FINISHED, PART_ON_STOP), ==, PART_FINISHED);
  g_assert_cmpint (driver_part_after (PART_FINISHED, PART_ON_FINISH), ==, PART_FINISHED);
}

/* A driver that has ended stays ended, whatever event follows. */
static void
test_end_stays (void)
{
  g_assert_false (driver_part_is_over (PART_JOINING) || driver_part_is_over (PART_MEMBER));
  for (gsize i = 0; i < G_N_ELEMENTS (moves); i++)
    for (DriverPartEvent event = 0; event < PART_EVENTS; event++)
      g_assert_true (driver_part_is_over (moves[i].to[event])
                     == (driver_part_is_over (moves[i].from) || event != PART_ON_JOIN));
  g_assert_true (driver_part_is_over (PART_FINISHED));
}

/* No node leaves a run that has finished. */
static void
test_no_such_move (void)
{
  static const DriverPartEvent none[] = { PART_ON_JOIN, PART_ON_LEAVE };

  for (gsize i = 0; i < G_N_ELEMENTS (none); i++)
    {
      if (g_test_subprocess ())
        (void)driver_part_after (PART_FINISHED, none[i]);
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
      g_test_trap_assert_failed ();
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/driver-part/moves", test_moves);
  g_test_add_func ("/driver-part/end-stays", test_end_stays);
  g_test_add_func ("/driver-part/no-such-move", test_no_such_move);
  return g_test_run ();
}
