/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of a launch and their transitions. Pure. Any thread. */
#pragma once

typedef enum
{
  LAUNCH_NONE, /* no state: the event cannot happen there */
  LAUNCH_GOING,
  LAUNCH_SUSPENDING, /* the nodes were asked to suspend, and have not yet */
  LAUNCH_ENDED,      /* `end` is in the run's folder; the nodes are exiting */
  LAUNCH_GIVEN_UP,   /* the launcher killed the nodes: no Satin program, no member left, a second
                        Ctrl-C */
  LAUNCH_NOT_JOINED, /* the same, by a signal before any node had joined */
  LAUNCH_STATES
} LaunchState;

typedef enum
{
  LAUNCH_ON_SUSPEND,          /* a signal, or `suspend` in the run's folder; the run has members */
  LAUNCH_ON_SUSPEND_UNJOINED, /* the same; the run has no members yet */
  LAUNCH_ON_GIVE_UP,
  LAUNCH_ON_END, /* `end` is there, and all of the answer that will come */
  LAUNCH_EVENTS
} LaunchEvent;

/* LAUNCH_NONE: the event cannot happen in this state. */
LaunchState launch_state_after (LaunchState from, LaunchEvent event);
