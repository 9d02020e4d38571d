/* SPDX-License-Identifier: BSD-3-Clause */
/* The best values of the program, numbered in the order of their names. Old values stay readable,
 * so that a reader needs no lock. Thread-safe. */
#pragma once

#include "satin.h"

#include "exchange.h"

guint best_count (void);
/* (nullable): number `i`; NULL: there are fewer. */
SatinBest_ *best_get (guint i);
/* (nullable): by name. */
SatinBest_ *best_find (const char *name);

/* (transfer full): the encoding of the present value. */
GBytes *best_encode (const SatinBest_ *best);
/* Merges an encoded value from elsewhere, telling nobody. FALSE: malformed. */
gboolean best_merge_encoded (SatinBest_ *best, GBytes *bytes);

/* An engine hears of every improvement made in this process (ENGINE_IMPROVED) from _add to _remove.
 */
void best_add_listener (Engine *engine);
void best_remove_listener (Engine *engine);
