/* SPDX-License-Identifier: BSD-3-Clause */
/* Which edges of a tour are decided, and what follows from that: a city with two edges in loses its
 * others, a city with two edges left keeps them, and no circle closes before it is the tour. Plain
 * memory, one thread. Must not know lengths. */
#pragma once

#include <glib.h>

enum
{
  EDGE_FREE,
  EDGE_IN,
  EDGE_OUT
};

/* Edges that are in form paths; `end` is the other end of the path that ends in a city. */
typedef struct
{
  int n;
  guint8 *edge; /* n * n states */
  int *n_left;  /* edges at a city that are not out */
  int *n_in;    /* edges at a city that are in */
  int *end;
  int in_total;
  int *queue; /* cities whose counts changed */
  int queue_length;
  gboolean *queued;
  gboolean changed; /* set at each change; the reader resets it */
} Choice;

void choice_init (Choice *choice, int n);
void choice_clear (Choice *choice);
/* All edges are free but those whose distance is `missing`, which are out. FALSE: no tour is left.
 */
gboolean choice_start (Choice *choice, const gint32 *distance, gint32 missing);
/* Takes the edge or rules it out, with all that follows. FALSE: no tour is left. */
gboolean choice_make (Choice *choice, int a, int b, gboolean in);

static inline guint8
choice_edge (const Choice *choice, int a, int b)
{
  return choice->edge[a * choice->n + b];
}
