/* SPDX-License-Identifier: BSD-3-Clause */
/* Serves the figures of `satin metrics` at the view's /metrics. Main loop; a GTask thread asks the
 * nodes. */
#pragma once

#include "view-server.h"

typedef struct
{
  gboolean is_asking; /* a request is being answered; others are refused meanwhile */
} ViewMetrics;

/* Replies to `call`, now or when the nodes have replied; `metrics` must live until then. `path`
 * (nullable): the run's folder. */
void view_metrics_get (ViewMetrics *metrics, ViewCall *call, const char *path);
