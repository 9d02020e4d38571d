/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of `satin metrics` at the view's /metrics. Main loop; nodes are asked in a thread. */
#pragma once

#include "view-server.h"

typedef struct
{
  gboolean is_asking; /* a request is under way; others are refused meanwhile */
} ViewMetrics;

/* Replies, now or when the nodes have answered; `metrics` lives until then. `path` (nullable): the
 * run's folder. */
void view_metrics_get (ViewMetrics *metrics, ViewCall *call, const char *path);
