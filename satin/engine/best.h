/* SPDX-License-Identifier: BSD-3-Clause */
/* The best values of the program, numbered in the order of their names. Old values stay readable,
 * so that a reader needs no lock. Thread-safe. */
#pragma once

#include "satin.h"

#include "exchange.h"

#define BEST_SHOW_MAX 200u

guint best_count (void);
/* (nullable): number `i`; NULL: there are fewer. */
SatinBest_ *best_get (guint i);

/* (transfer full): the encoding of the present value. */
GBytes *best_encode (const SatinBest_ *best);
/* (transfer full) (nullable): the present value as the program shows it to people, in UTF-8, of one
 * line and not more than BEST_SHOW_MAX bytes; NULL: the program says nothing of it. */
char *best_show (const SatinBest_ *best);
/* All have their initial values again; what was readable stays. No run is open. */
void best_forget (void);
/* Merges an encoded value from elsewhere, telling nobody. FALSE: malformed. */
gboolean best_merge_encoded (SatinBest_ *best, GBytes *bytes);

/* An engine hears of every improvement made in this process (ENGINE_IMPROVED) from _add to _remove.
 */
void best_add_listener (Engine *engine);
void best_remove_listener (Engine *engine);
