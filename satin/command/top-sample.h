/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a run at one moment, as `satin top` shows it, from the replies of its nodes. Pure;
 * any thread. */
#pragma once

#include "gather.h"

typedef struct
{
  char *id, *site, *state; /* state: up, leaving, or silent */
  gboolean master, coordinator;
  guint nodes; /* 1; for a folded site, the number of its nodes */
  guint workers, busy;
  double cpu_s, work_s, lost_s, at_risk_s; /* NAN: not known */
  double jobs, steals;                     /* counts; NAN: not known */
  double cpu,
      jobs_rate; /* since the sample before: processors used, and jobs a second; NAN: not known */
} TopNode;

typedef struct
{
  char *node, *state, *path, *what;
  double for_s;
} TopJob;

typedef struct
{
  char *run;
  gint64 at_us;                           /* monotonic time */
  double done, risk_one_s, risk_all_s;    /* NAN: not known */
  double left_s, left_low_s, left_high_s; /* time left and its range; NAN: not known yet */
  double
      done_rate;  /* share done a second, between the last two times that it grew; NAN: not known */
  gint64 grew_us; /* when `done` was first seen at its value */
  GArray *nodes;    /* of TopNode, eldest first */
  GArray *jobs;     /* of TopJob, the oldest first */
} TopSample;

/* `gather`: after gather_ask of CONTROL_TOP. `before` (nullable): the sample before this one.
 * (transfer full) */
TopSample *top_sample_new (const Gather *gather, gint64 at_us, const TopSample *before);
void top_sample_free (TopSample *sample);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TopSample, top_sample_free)
/* The sum of all nodes, or of one site (nullable). `state` tells how many are silent, `id` the
 * number of nodes. Clear it with top_sample_node_clear. */
TopNode top_sample_sum (const GArray *nodes, const char *site);
void top_sample_node_clear (gpointer node);
/* What has happened between two samples: nodes that came, went, became silent or reply again, roles
 * that moved, work that was lost. (transfer full; of char *) */
GPtrArray *top_sample_events (const TopSample *before, const TopSample *after);
