/* SPDX-License-Identifier: BSD-3-Clause */
/* A run's figures as OpenMetrics text, for Prometheus and the like. Pure. */
#pragma once

#include "gather.h"

/* `gather`: after gather_ask of CONTROL_FIGURES. A figure that is not known has no sample. Labels
 * name the run, nodes and sites, never a path or an argument. Ends with "# EOF". (transfer full) */
char *metrics_text (const Gather *gather);
