/* SPDX-License-Identifier: BSD-3-Clause */
/* Decided edges of a tour, and their consequences: if two edges of a city are in, all others go
 * out; if only two are left, both are in; and no cycle may be closed except the whole tour. Plain
 * memory, one thread. Knows nothing of lengths. */
#pragma once

#include <glib.h>

enum
{
  EDGE_FREE,
  EDGE_IN,
  EDGE_OUT
};

/* Edges that are in form paths; `end` is the other end of the path that ends at a city. */
typedef struct
{
  int n;
  guint8 *edge; /* n * n states */
  int *n_left;  /* edges of a city that are not out */
  int *n_in;    /* edges of a city that are in */
  int *end;
  int in_total;
  int *queue; /* cities whose counts changed */
  int queue_length;
  gboolean *queued;
  gboolean changed; /* set by each change; the reader clears it */
} Choice;

void choice_init (Choice *choice, int n);
void choice_clear (Choice *choice);
/* Makes all edges free, except those with distance `missing`, which are out. FALSE: no tour is
 * left. */
gboolean choice_start (Choice *choice, const gint32 *distance, gint32 missing);
/* Takes the edge or rules it out, with all consequences. FALSE: no tour is left. */
gboolean choice_make (Choice *choice, int a, int b, gboolean in);

static inline guint8
choice_edge (const Choice *choice, int a, int b)
{
  return choice->edge[a * choice->n + b];
}
