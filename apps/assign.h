/* SPDX-License-Identifier: BSD-3-Clause */
/* The assignment problem: each row gets a column of its own, at the least total cost. Plain memory,
 * any thread. */
#pragma once

#include <glib.h>

#define ASSIGN_MAX 128

/* `cost` is m x m, m <= ASSIGN_MAX, any numbers whose sums fit. Returns the least sum of an
 * assignment. `cost` then has the reduced costs: all are 0 or more, and those of the cheapest
 * assignment are 0. Stops once the sum is above `most`; then `cost` is meaningless. */
gint64 assign (int m, gint64 *cost, gint64 most);
