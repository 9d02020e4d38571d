/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/launch-state.h"

#include <glib.h>

static gboolean
is_last (LaunchState state)
{
  return state != LAUNCH_GOING && state != LAUNCH_SUSPENDING;
}

/* A launch never goes back, and nothing follows its end. */
static void
states_only_move_on (void)
{
  for (LaunchState from = 0; from < LAUNCH_STATES; from++)
    for (LaunchEvent event = 0; event < LAUNCH_EVENTS; event++)
      {
        LaunchState to = launch_state_after (from, event);

        g_assert_true (to == LAUNCH_NONE || (to > from && !is_last (from)));
      }
}

static void
each_state_is_reached (void)
{
  gboolean reached[LAUNCH_STATES] = { [LAUNCH_GOING] = TRUE };

  for (LaunchState from = LAUNCH_GOING; from < LAUNCH_STATES; from++)
    for (LaunchEvent event = 0; event < LAUNCH_EVENTS; event++)
      if (reached[from] && launch_state_after (from, event) != LAUNCH_NONE)
        reached[launch_state_after (from, event)] = TRUE;
  for (LaunchState state = LAUNCH_GOING; state < LAUNCH_STATES; state++)
    g_assert_true (reached[state]);
}

/* `end` and a second interrupt have an effect until the launch is over. A suspension is requested
 * only once. */
static void
moves (void)
{
  static const LaunchState wanted[][LAUNCH_EVENTS] = {
    { LAUNCH_SUSPENDING, LAUNCH_NOT_JOINED, LAUNCH_GIVEN_UP, LAUNCH_ENDED },
    { LAUNCH_NONE, LAUNCH_NONE, LAUNCH_GIVEN_UP, LAUNCH_ENDED },
  };

  for (LaunchEvent event = 0; event < LAUNCH_EVENTS; event++)
    {
      g_assert_cmpint (launch_state_after (LAUNCH_GOING, event), ==, wanted[0][event]);
      g_assert_cmpint (launch_state_after (LAUNCH_SUSPENDING, event), ==, wanted[1][event]);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/launch-state/moves", moves);
  g_test_add_func ("/launch-state/only-on", states_only_move_on);
  g_test_add_func ("/launch-state/reached", each_state_is_reached);
  return g_test_run ();
}
