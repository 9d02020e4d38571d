/* SPDX-License-Identifier: BSD-3-Clause */
/* The saved part of a job tree as boxes for an icicle: a box's width is its estimated share of the
 * whole tree. Bounded: narrow boxes beside each other become one. Pure; one thread. */
#pragma once

#include "forest.h"

/* Boxes of one picture, and levels below its top. */
#define VIEW_ICICLE_BOXES_MAX 500
#define VIEW_ICICLE_LEVELS 8

/* What is told of a saved job. */
typedef struct
{
  char *job, *node, *value, *args; /* args (nullable): JSON text */
  gint64 saved, began;             /* began: 0: not known */
  double took_s;
} ViewIcicleRow;
void view_icicle_row_free (gpointer row);

/* Appends the box of `view`'s job as a JSON object:
 *   n, to   its number, and that of the last one when it stands for several
 *   p       its path
 *   k       "saved": its result is; "work": only some below it; "kept": a state stands for it;
 *           "missing": nothing of it is saved; "later": what may follow; "many": narrow ones
 *   w       share of the whole tree, an estimate; s: the saved part of it
 *   rows, cost_s   saved results at and below it, and their work
 *   job, node, value, at, args, began, took_s   of a saved one; the last three where they are known
 *   in      the boxes below it
 * `weight`: the share of the top job; <= 0: what is saved below it, at least.
 * `stems`: of the file; rows of the forest are ViewIcicleRow. */
void view_icicle_append (GString *json, Stems *stems, const Tree *tree, const char *path,
                         double weight);
