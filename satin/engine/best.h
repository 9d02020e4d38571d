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
/* (transfer full) (nullable): the present value as the program shows it to people: one line of
 * UTF-8, at most BEST_SHOW_MAX bytes. NULL: the program does not show it. */
char *best_show (const SatinBest_ *best);
/* Gives all best values their initial values again. Values that were readable stay readable. The
 * caller has no run open. */
void best_forget (void);
/* Merges an encoded value of another node, without an event. FALSE: malformed. */
gboolean best_merge_encoded (SatinBest_ *best, GBytes *bytes);

/* From _add to _remove the engine raises ENGINE_IMPROVED for every improvement made in this
 * process. */
void best_add_listener (Engine *engine);
void best_remove_listener (Engine *engine);
