/* SPDX-License-Identifier: BSD-3-Clause */
/* What is found out about an instance before the search: a good placing, and which facilities or
 * locations look alike. The same on every machine. One thread. */
#pragma once

#include "level.h"

/* What a placing costs: location[i] is where facility i goes. */
gint64 start_cost (const Qap *qap, const guint8 *location);
/* Fills `location` with the best placing that a tabu search meets. Returns its cost. */
gint64 start_search (const Qap *qap, guint8 *location);
/* A number, 1 or more, that divides the cost of every placing. */
gint64 start_unit (const Qap *qap);
/* Renumberings p other than 0 … n - 1 with matrix[p(i) n + p(k)] = matrix[i n + k], n bytes each,
 * at most `most` of them. (transfer full) */
GByteArray *start_symmetries (int n, const gint32 *matrix, guint most);
