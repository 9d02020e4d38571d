/* SPDX-License-Identifier: BSD-3-Clause */
/* A run's figures as text, for Prometheus and similar programs. Pure. */
#pragma once

#include "gather.h"

typedef enum
{
  METRICS_OPEN,      /* OpenMetrics 1.0 */
  METRICS_PROMETHEUS /* Prometheus' own text format 0.0.4, which its node exporter reads */
} MetricsFormat;

/* `gather`: after gather_ask of CONTROL_FIGURES. A figure that is not known has no sample. Labels
 * name the run, nodes and sites, never a path or an argument. OpenMetrics text ends with "# EOF".
 * (transfer full) */
char *metrics_text (const Gather *gather, MetricsFormat format);
