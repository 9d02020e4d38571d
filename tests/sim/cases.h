/* SPDX-License-Identifier: BSD-3-Clause */
/* Single cases and ranges of them, and which one runs now. */
#pragma once

#include "enumerate.h"
#include "swarm.h"

/* FAULT_NONE: no such fault. */
FaultKind cases_fault (const char *name);
/* The case that runs now, as the command line takes it. */
void cases_note (const Plan *plan);
const char *cases_running (void);
/* The bug planted in this program, by the program's name: sim-plant-early-ack has early-ack. NULL:
 * none. */
const char *cases_plant (void);
/* A handler for signals: an assertion of the protocol or the model failed. Says where, as nothing
 * else can. */
void cases_say_and_die (int number);

/* FALSE: it failed; the first failure of several was printed. */
gboolean cases_run_seed (guint64 seed, SimMakes makes, Outcome *outcome);
gboolean cases_run_seeds (guint64 from, guint64 n, Outcome *sum);
gboolean cases_enumerate (const Enumeration *what, guint every, EnumerateResult *result);
void cases_add (Outcome *sum, const Outcome *outcome);

double cases_seconds (gint64 start_us);
