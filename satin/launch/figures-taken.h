/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up the work of results that nodes took over: from nodes that are gone, or from an earlier
 * life of the run (before it was resumed). Each result counts once, even if several nodes used it,
 * or used a result that contains it. One thread. */
#pragma once

#include <glib.h>

typedef struct
{
  double restored_s; /* work of an earlier life of the run */
  double salvaged_s; /* work of this life, less the results of an earlier life that it contains */
} FiguresTaken;

/* `nodes`: the last reports of all nodes of this life, each a GVariant of type a{sv}. */
FiguresTaken figures_taken (GPtrArray *nodes);
