/* SPDX-License-Identifier: BSD-3-Clause */
#include "driver-part.h"

DriverPart
driver_part_after (DriverPart from, DriverPartEvent event)
{
  static const DriverPart table[PART_STATES][PART_EVENTS] = {
    [PART_JOINING] = { [PART_ON_JOIN] = PART_MEMBER,
                       [PART_ON_STOP] = PART_STOPPED,
                       [PART_ON_LEAVE] = PART_LEFT,
                       [PART_ON_FINISH] = PART_FINISHED },
    [PART_MEMBER] = { [PART_ON_JOIN] = PART_MEMBER,
                      [PART_ON_STOP] = PART_STOPPED,
                      [PART_ON_LEAVE] = PART_LEFT,
                      [PART_ON_FINISH] = PART_FINISHED },
    [PART_STOPPED] = { [PART_ON_JOIN] = PART_STOPPED,
                       [PART_ON_STOP] = PART_STOPPED,
                       [PART_ON_LEAVE] = PART_LEFT,
                       [PART_ON_FINISH] = PART_STOPPED },
    [PART_LEFT] = { [PART_ON_JOIN] = PART_LEFT,
                    [PART_ON_STOP] = PART_LEFT,
                    [PART_ON_LEAVE] = PART_LEFT,
                    [PART_ON_FINISH] = PART_LEFT },
    [PART_FINISHED] = { [PART_ON_STOP] = PART_FINISHED, [PART_ON_FINISH] = PART_FINISHED },
  };
  DriverPart to = table[from][event];

  g_assert (to >= from); /* an entry that is missing is 0; no transition goes back */
  return to;
}

gboolean
driver_part_is_over (DriverPart part)
{
  return part >= PART_STOPPED;
}
