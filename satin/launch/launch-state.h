/* SPDX-License-Identifier: BSD-3-Clause */
/* The phases of a launch, and the moves between them. Pure. Any thread. */
#pragma once

typedef enum
{
  LAUNCH_NONE, /* no state: there is no such move */
  LAUNCH_GOING,
  LAUNCH_SUSPENDING, /* asked for, not there yet */
  LAUNCH_ENDED,      /* `end` is written; the nodes are leaving */
  LAUNCH_GIVEN_UP,   /* the launcher killed them: no Satin program, no member, a second Ctrl-C */
  LAUNCH_NOT_JOINED, /* … interrupted before any node had joined */
  LAUNCH_STATES
} LaunchState;

typedef enum
{
  LAUNCH_ON_SUSPEND, /* a signal or a wish in the run's folder, of a run with members … */
  LAUNCH_ON_SUSPEND_UNJOINED, /* … of one without */
  LAUNCH_ON_GIVE_UP,
  LAUNCH_ON_END, /* `end` is there, and its answer as far as one comes */
  LAUNCH_EVENTS
} LaunchEvent;

/* LAUNCH_NONE: that cannot happen there. */
LaunchState launch_state_after (LaunchState from, LaunchEvent event);
