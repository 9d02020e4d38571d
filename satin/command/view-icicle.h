/* SPDX-License-Identifier: BSD-3-Clause */
/* The saved part of a job tree as boxes of an icicle plot. The width of a box is its estimated
 * share of the whole tree. Bounded: narrow neighbours become one box. Pure; one thread. */
#pragma once

#include "forest.h"

/* The most boxes of one picture, and levels below its top. */
#define VIEW_ICICLE_BOXES_MAX 500
#define VIEW_ICICLE_LEVELS 8

/* What the picture shows of a saved job. */
typedef struct
{
  char *job, *node, *value, *args; /* args (nullable): JSON text */
  gint64 saved, began;             /* seconds since 1970; began 0: not known */
  double took_s;
} ViewIcicleRow;
void view_icicle_row_free (gpointer row);

/* Appends the box of the job `tree`, whose path is `path`, as a JSON object:
 *   n, to   its number, and the last number if the box stands for several jobs
 *   p       its path
 *   k       "saved": its result is saved; "work": only results below it are; "kept": a state stands
 *           for it; "missing": nothing of it is saved; "later": children that may follow; "many":
 *           narrow boxes
 *   w       its share of the whole tree, an estimate; s: the saved part of that
 *   rows, cost_s   number of saved results at and below it, and their work
 *   job, node, value, at, args, began, took_s   of a saved job; the last three if they are known
 *   in      the boxes below it
 * `weight`: the share of the job; at least what is saved at and below it is used. `stems`: of the
 * file. The rows of the forest must be ViewIcicleRow. */
void view_icicle_append (GString *json, Stems *stems, const Tree *tree, const char *path,
                         double weight);
