/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch-state.h"

LaunchState
launch_state_after (LaunchState from, LaunchEvent event)
{
  static const LaunchState table[LAUNCH_STATES][LAUNCH_EVENTS] = {
    [LAUNCH_GOING] = { [LAUNCH_ON_SUSPEND] = LAUNCH_SUSPENDING,
                       [LAUNCH_ON_SUSPEND_UNJOINED] = LAUNCH_NOT_JOINED,
                       [LAUNCH_ON_GIVE_UP] = LAUNCH_GIVEN_UP,
                       [LAUNCH_ON_END] = LAUNCH_ENDED },
    [LAUNCH_SUSPENDING] = { [LAUNCH_ON_GIVE_UP] = LAUNCH_GIVEN_UP, [LAUNCH_ON_END] = LAUNCH_ENDED },
  };

  return table[from][event];
}
