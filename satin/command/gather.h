/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks every node of a run, all at once, for what only that node knows, such as the jobs that it
 * runs. A node that does not reply within some seconds counts as silent, without an error. Blocks.
 * Any thread. */
#pragma once

#include "ask.h"

typedef struct
{
  char *id, *site, *host, *address, *state;
  guint pid, workers;
  gboolean master, coordinator;
  double at_risk_s; /* NAN: not reported yet */
  gboolean silent;  /* it did not reply to a question */
  char *reply;      /* (nullable) to the last question */
} GatherNode;

typedef struct
{
  char *path;       /* the run's folder */
  GVariant *status; /* the reply to `status` of the coordinator, or else of another node */
  GArray *nodes;    /* of GatherNode, eldest first */
} Gather;

/* Asks for `status`. (transfer full) NULL: no node replied. */
Gather *gather_new (const char *path, GError **error);
/* The same, and waits for a run that is starting (ask_node). NULL: a message was printed. */
Gather *gather_run (const AskRun *ask);
void gather_free (Gather *gather);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Gather, gather_free)
/* Asks all nodes that are not silent. Sets `reply`, or `silent`. */
void gather_ask (Gather *gather, const char *request);
