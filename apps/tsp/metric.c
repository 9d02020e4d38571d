/* SPDX-License-Identifier: BSD-3-Clause */
/* The distance functions of TSPLIB 95, with its roundings and its value of pi. Pure, any thread. */
#include "config.h"

#include "metric.h"

#include <math.h>

static double
straight (const double *a, const double *b)
{
  return sqrt ((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]));
}

static double
metric_euc_2d (const double *a, const double *b)
{
  return floor (straight (a, b) + 0.5);
}

static double
metric_ceil_2d (const double *a, const double *b)
{
  return ceil (straight (a, b));
}

static double
metric_man_2d (const double *a, const double *b)
{
  return floor (fabs (a[0] - b[0]) + fabs (a[1] - b[1]) + 0.5);
}

static double
metric_max_2d (const double *a, const double *b)
{
  return MAX (floor (fabs (a[0] - b[0]) + 0.5), floor (fabs (a[1] - b[1]) + 0.5));
}

static double
metric_att (const double *a, const double *b)
{
  double exact = sqrt (((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1])) / 10.0);
  double rounded = floor (exact + 0.5);

  return rounded < exact ? rounded + 1 : rounded;
}

/* Converts DDD.MM to radians, with the format's value of pi. For the published optima degrees must
 * be cut, not rounded. */
static double
radians (double coordinate)
{
  double degrees = trunc (coordinate);

  return 3.141592 * (degrees + 5.0 * (coordinate - degrees) / 3.0) / 180.0;
}

static double
metric_geo (const double *a, const double *b)
{
  double latitude_a = radians (a[0]), latitude_b = radians (b[0]);
  double q1 = cos (radians (a[1]) - radians (b[1]));
  double q2 = cos (latitude_a - latitude_b);
  double q3 = cos (latitude_a + latitude_b);
  double cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3);

  return trunc (6378.388 * acos (CLAMP (cosine, -1.0, 1.0)) + 1.0);
}

static const struct
{
  const char *name;
  Metric metric;
} metrics[] = {
  { "EUC_2D", metric_euc_2d }, { "CEIL_2D", metric_ceil_2d }, { "MAN_2D", metric_man_2d },
  { "MAX_2D", metric_max_2d }, { "ATT", metric_att },         { "GEO", metric_geo },
};

Metric
metric_find (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (metrics); i++)
    if (g_strcmp0 (metrics[i].name, name) == 0)
      return metrics[i].metric;
  return NULL;
}
