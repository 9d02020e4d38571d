/* SPDX-License-Identifier: BSD-3-Clause */
/* A good first tour: nearest neighbour, then 2-opt and Or-opt with many small kicks. The same
 * distances give the same tour on every machine. Knows nothing of bounds and jobs. */
#pragma once

#include <glib.h>

/* Writes a tour of n >= 1 cities to `tour` and returns its length. `distance` is n * n and
 * symmetric. */
gint64 start_tour (int n, const gint32 *distance, guint8 *tour);
gint64 start_length (int n, const gint32 *distance, const guint8 *tour);
/* Reverses or rotates the tour so that it begins with city 0 and the smaller of its neighbours
 * follows. */
void start_canonical (int n, guint8 *tour);
