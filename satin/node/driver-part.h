/* SPDX-License-Identifier: BSD-3-Clause */
/* This process's part in the run: its states and their transitions. Pure. Any thread. */
#pragma once

#include <glib.h>

typedef enum
{
  PART_JOINING,
  PART_MEMBER,
  PART_STOPPED,  /* the run ended, or this process could not take part */
  PART_LEFT,     /* the run goes on without this process */
  PART_FINISHED, /* main returned, and that ended the run */
  PART_STATES
} DriverPart;

typedef enum
{
  PART_ON_JOIN, /* also after a rejoin */
  PART_ON_STOP,
  PART_ON_LEAVE,
  PART_ON_FINISH,
  PART_EVENTS
} DriverPartEvent;

/* Returns the next state. Asserts that `event` can happen in `from`. An end is final, except that a
 * process that stopped may still leave. */
DriverPart driver_part_after (DriverPart from, DriverPartEvent event);
/* TRUE: this process no longer takes part. */
gboolean driver_part_is_over (DriverPart part);
