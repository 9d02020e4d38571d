/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up the results of nodes that are gone that other nodes put to use: each result once, however
 * many nodes used it or a result that contains it. One thread. */
#pragma once

#include <glib.h>

typedef struct
{
  double restored_s; /* of an earlier life of the run */
  double salvaged_s; /* of this life; without what it contains of an earlier one */
} FiguresTaken;

/* `nodes`: what the nodes of this life reported, as GVariants of type a{sv}. */
FiguresTaken figures_taken (GPtrArray *nodes);
