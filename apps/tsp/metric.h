/* SPDX-License-Identifier: BSD-3-Clause */
/* The distance functions of TSPLIB 95 by name. Pure. Must not know files. */
#pragma once

#include <glib.h>

/* The distance between two points of two coordinates; whole, but not yet checked against any limit.
 */
typedef double (*Metric) (const double *a, const double *b);

/* (nullable): the function called "EUC_2D", "GEO" and so on. */
Metric metric_find (const char *name);
