/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts instances whose distances depend on the direction to symmetric ones with twice as many
 * cities (Jonker and Volgenant 1983): city a becomes a, where tours leave it, and n + a, where they
 * arrive. The edge between the two is in every tour; the distance from a to b is that of the edge
 * (a, n + b). Pure, any thread. Knows nothing of jobs. */
#pragma once

#include <glib.h>

#include "bound.h"

#define DIRECTED_CITIES_MAX 128

/* Fills `doubled`, 2n * 2n, from `distance`, n * n. */
void directed_double (int n, const gint32 *distance, gint32 *doubled);
/* The n decisions that every tour of the doubled instance obeys. */
void directed_decide (int n, BoundDecision *decisions);
/* Converts a tour of the doubled instance, from city 0 on, to a tour of the n cities; may be in
 * place. */
void directed_tour (int n, const guint8 *doubled, guint8 *tour);
/* Penalties for the 2n cities, under which every 1-tree is at least as long as the cheapest
 * assignment of a next city to each city. */
void directed_penalties (int n, const gint32 *distance, int scale, gint32 *penalty);
/* Writes a good tour of n >= 1 cities to `tour`, the same on every machine, and returns its
 * length. */
gint64 directed_start (int n, const gint32 *distance, guint8 *tour);
