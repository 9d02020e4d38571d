/* SPDX-License-Identifier: BSD-3-Clause */
/* This process's part in the run, and the moves between its states. Pure. Any thread. */
#pragma once

#include <glib.h>

typedef enum
{
  PART_JOINING,
  PART_MEMBER,
  PART_STOPPED,  /* the run ended, or this process could not take part */
  PART_LEFT,     /* the run goes on without this process */
  PART_FINISHED, /* the run ended by what main returned */
  PART_STATES
} DriverPart;

typedef enum
{
  PART_ON_JOIN, /* again after a rejoin */
  PART_ON_STOP,
  PART_ON_LEAVE,
  PART_ON_FINISH,
  PART_EVENTS
} DriverPartEvent;

/* Asserts that this can happen there. The first end stays, but for one: a process that stopped may
 * still leave. */
DriverPart driver_part_after (DriverPart from, DriverPartEvent event);
gboolean driver_part_is_over (DriverPart part);
