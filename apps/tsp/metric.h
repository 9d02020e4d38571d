/* SPDX-License-Identifier: BSD-3-Clause */
/* The distance functions of TSPLIB 95 by name. Pure. Knows nothing of files. */
#pragma once

#include <glib.h>

/* The distance between two points with two coordinates; a whole number, not checked against
 * limits. */
typedef double (*Metric) (const double *a, const double *b);

/* (nullable): the function called "EUC_2D", "GEO" and so on. */
Metric metric_find (const char *name);
