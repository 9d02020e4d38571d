/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs single cases and ranges of cases, and remembers which case is running. */
#pragma once

#include "enumerate.h"
#include "swarm.h"

/* Returns FAULT_NONE if there is no fault of that name. */
FaultKind cases_fault (const char *name);
/* Makes the plan of a case as cases_note writes it, without the option. FALSE: `text` is no case,
 * and there is no plan. */
gboolean cases_read (const char *text, Plan *plan);
/* Records the running case. cases_running returns it as options of the command line. */
void cases_note (const Plan *plan);
const char *cases_running (void);
/* Returns the bug that is planted in this program, taken from the program's name:
 * sim-plant-early-ack has early-ack. NULL: no bug is planted. */
const char *cases_plant (void);
/* A signal handler for a failed assertion of the protocol or of the model: prints the running case
 * and ends the program. */
void cases_say_and_die (int number);

/* These functions return FALSE if a case failed; the first failure has been printed. */
gboolean cases_run_seed (guint64 seed, SimMakes makes, Outcome *outcome);
gboolean cases_run_seeds (guint64 from, guint64 n, Outcome *sum);
gboolean cases_enumerate (const Enumeration *what, guint every, EnumerateResult *result);
void cases_add (Outcome *sum, const Outcome *outcome);

double cases_seconds (gint64 start_us);
