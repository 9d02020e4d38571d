/* SPDX-License-Identifier: BSD-3-Clause */
/* The assignment problem: each row gets a column of its own, as cheaply as can be. Plain memory,
 * any thread. */
#pragma once

#include <glib.h>

#define ASSIGN_MAX 128

/* `cost` is m x m, m <= ASSIGN_MAX, any numbers whose sums fit. Returns the least sum of an
 * assignment; leaves in `cost` what each element costs more than its part of that: nowhere less
 * than nothing, and nothing along the cheapest assignment. Stops once the sum is above `most`, and
 * then `cost` says nothing. */
gint64 assign (int m, gint64 *cost, gint64 most);
