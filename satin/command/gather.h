/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks every node of a run by itself, all at once, where one node cannot know the answer: what runs
 * there, its CPU. A node that does not answer within some seconds is silent; the others are shown
 * all the same. Blocks; any thread. */
#pragma once

#include <gio/gio.h>

typedef struct
{
  char *id, *site, *host, *address, *state;
  guint pid, workers;
  gboolean master, coordinator;
  double at_risk_s; /* NAN: it has not told yet */
  gboolean silent;  /* it did not answer a question */
  char *reply;      /* to the last one (nullable) */
} GatherNode;

typedef struct
{
  char *path;       /* the run's folder */
  GVariant *status; /* what the coordinator says of the run, or another node */
  GArray *nodes;    /* of GatherNode, eldest first */
} Gather;

/* NULL: no node answers. (transfer full) */
Gather *gather_new (const char *path, GError **error);
void gather_free (Gather *gather);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Gather, gather_free)
/* Asks all nodes that are not silent, and fills in `reply`, or `silent`. */
void gather_ask (Gather *gather, const char *request);
