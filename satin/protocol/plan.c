/* SPDX-License-Identifier: BSD-3-Clause */
/* See plan.h. */
#include "plan.h"

typedef enum
{
  FILE_MAY, /* the run may have a checkpoint */
  FILE_MUST,
  FILE_NEVER
} PlanFile;

typedef struct
{
  const char *name;
  PlanFile file;
  PlanKnobs knobs;
} PlanRow;

static const PlanRow table[PLANS] = {
  [PLAN_AUTO] = { "auto", FILE_MAY, { .keeper = PLAN_KEEPER_FAR, .waits = PLAN_WAITS_ACK } },
  [PLAN_NAIVE] = { "naive", FILE_NEVER, { .drops_orphans = TRUE } },
  [PLAN_ORPHAN] = { "orphan", FILE_NEVER, { .keeper = PLAN_KEEPER_NONE } },
  [PLAN_CHECKPOINT] = { "checkpoint", FILE_MUST, { .keeper = PLAN_KEEPER_NONE } },
  [PLAN_BUDDY] = { "buddy",
                   FILE_MAY,
                   { .keeper = PLAN_KEEPER_RING, .waits = PLAN_WAITS_ACK | PLAN_WAITS_RESULT } },
  [PLAN_THEFT]
  = { "theft",
      FILE_MAY,
      { .keeper = PLAN_KEEPER_RING,
        .waits = PLAN_WAITS_ACK | PLAN_WAITS_RESULT | PLAN_WAITS_STEAL | PLAN_WAITS_JOBS } },
  [PLAN_CUT] = { "cut", FILE_MUST, { .keeper = PLAN_KEEPER_NONE, .epochs = TRUE } },
  [PLAN_MIRROR] = { "mirror", FILE_MAY, { .keeper = PLAN_KEEPER_RING, .mirrors = TRUE } },
};

PlanKnobs
plan_knobs (PlanName plan)
{
  return table[plan].knobs;
}

const char *
plan_name (PlanName plan)
{
  return table[plan].name;
}

gboolean
plan_read (const char *text, PlanName *plan)
{
  for (guint i = 0; i < PLANS; i++)
    if (g_strcmp0 (text, table[i].name) == 0)
      {
        *plan = (PlanName)i;
        return TRUE;
      }
  return FALSE;
}

char *
plan_refuses (PlanName plan, gboolean checkpoint, guint nodes)
{
  const PlanRow *row = &table[plan];

  if (row->file == FILE_MUST && !checkpoint)
    return g_strdup_printf ("--protect %s needs --checkpoint", row->name);
  if (row->file == FILE_NEVER && checkpoint)
    return g_strdup_printf ("--protect %s conflicts with --checkpoint: it keeps no file",
                            row->name);
  if (nodes == 1 && row->knobs.keeper == PLAN_KEEPER_RING)
    return g_strdup_printf (
        "--protect %s needs two nodes, see -n of `satin run`: one has no other to keep its rows",
        row->name);
  return NULL;
}
