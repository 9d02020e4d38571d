/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings about an instance before the search: a good placing, and which facilities or locations
 * are equivalent. The same on every machine. One thread. */
#pragma once

#include "level.h"

/* The cost of a placing: location[i] is the location of facility i. */
gint64 start_cost (const Qap *qap, const guint8 *location);
/* Fills `location` with the best placing of a tabu search. Returns its cost. */
gint64 start_search (const Qap *qap, guint8 *location);
/* A number, 1 or more, that divides the cost of every placing. */
gint64 start_unit (const Qap *qap);
/* Permutations p other than the identity with matrix[p(i) n + p(k)] = matrix[i n + k], n bytes
 * each, at most `most` of them. (transfer full) */
GByteArray *start_symmetries (int n, const gint32 *matrix, guint most);
