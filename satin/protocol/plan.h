/* SPDX-License-Identifier: BSD-3-Clause */
/* The plans of protection: which work of a node survives its crash. A plan is a row of one table of
 * knobs, and the rest of the code asks for a knob, never for a plan. Pure; any thread. */
#pragma once

#include <glib.h>

typedef enum
{
  PLAN_AUTO, /* the default */
  PLAN_NAIVE,
  PLAN_ORPHAN,
  PLAN_CHECKPOINT,
  PLAN_BUDDY,  /* paper 002 */
  PLAN_THEFT,  /* paper 000 */
  PLAN_MIRROR, /* paper 004 */
  PLAN_CUT,    /* paper 003 */
  PLANS
} PlanName;

/* Which member keeps a copy of a node's rows in memory: see buddy.h. */
typedef enum
{
  PLAN_KEEPER_NONE,
  PLAN_KEEPER_FAR, /* one of another site, else of another host, else any */
  PLAN_KEEPER_RING /* the next one by age */
} PlanKeeper;

/* Which messages wait until the keeper has their row or, for a theft, has answered. Flags. */
typedef enum
{
  PLAN_WAITS_NOTHING = 0,
  PLAN_WAITS_ACK = 1 << 0,    /* at the lender, for the row of the acknowledged result */
  PLAN_WAITS_RESULT = 1 << 1, /* at the holder, for the row of the result (holdback.h) */
  PLAN_WAITS_STEAL = 1 << 2,  /* at the thief */
  PLAN_WAITS_JOBS = 1 << 3    /* at the victim */
} PlanWaits;

/* The settings of a plan; the same on all nodes of a run. All zero: no keeper, and orphans are
 * offered. */
typedef struct
{
  PlanKeeper keeper;
  PlanWaits waits;        /* without a keeper no message waits */
  gboolean drops_orphans; /* jobs of a lender that is gone stop, and their results are dropped */
  gboolean mirrors; /* RESULT goes to the lender's keeper, too (mirror.h). The holder's keeper gets
                       no copy of JOBS: the lender's slot is the copy. Needs a keeper */
  gboolean epochs;  /* rows go to the coordinator in its epochs only (epoch.h). Needs a
                       checkpoint */
} PlanKnobs;

PlanKnobs plan_knobs (PlanName plan);
/* The name of the plan for --protect. (transfer none) */
const char *plan_name (PlanName plan);
/* FALSE: `text` (nullable) is the name of no plan; *plan stays. */
gboolean plan_read (const char *text, PlanName *plan);
/* Why this plan does not fit a run with or without a checkpoint at its start, and with this many
 * nodes (0: not known): one sentence with --protect in it. NULL: it fits. (transfer full,
 * nullable) */
char *plan_refuses (PlanName plan, gboolean checkpoint, guint nodes);
