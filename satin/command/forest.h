/* SPDX-License-Identifier: BSD-3-Clause */
/* The saved part of the job tree at and below one job, built from the paths of the rows. A job that
 * has not finished has no row; it is in the tree if something below it is saved. One thread. Knows
 * paths, but no file. */
#pragma once

#include "path.h"

/* One job. */
typedef struct Tree Tree;
struct Tree
{
  guint32 number;      /* its number as a child; 0 for the top job */
  gboolean is_saved;   /* it has a row, so nothing below it is saved */
  guint64 rows;        /* how many rows are at or below it */
  double work_s;       /* sum of the work of these rows, in seconds */
  double weight;       /* sum of the weights of these rows */
  guint32 kept;        /* its kept state stands for the children with smaller numbers */
  GPtrArray *children; /* (nullable) of Tree, by number: the children at or below which something is
                          saved */
  gpointer row;        /* (nullable) what ForestRow returned for its row */
};

typedef struct
{
  Tree *tree;        /* the top job */
  gpointer above;    /* (nullable) what ForestRow returned for a saved row above the top job; then
                        nothing below counts */
  gsize above_depth; /* of that row */
  gsize kept_depth;  /* 0: none. Else the kept state of the job at depth kept_depth - 1 stands for
                        the top job, too */
  /* For a top job of which nothing is saved: the depth of the deepest job on its path that is known
   * to have existed, since something at, below or beside it is saved. If that is the top job's own
   * depth, it was spawned. Tells nothing of a root after last_root. */
  gsize depth_known;
  guint32 root;      /* the number of the top job's root */
  guint32 last_root; /* the greatest number of a root of which something is saved */
} ForestView;

typedef struct Forest Forest;

/* Limits the depth of recursion. */
#define FOREST_DEPTH_MAX 1000

/* An empty forest whose top job is at `path`, written as people do: "/" for the first root; numbers
 * only, or a stem. Jobs more than `depth` levels below are only counted. `row_free` frees what
 * ForestRow returns; `stems` is borrowed. (transfer full) NULL: `path` is none, or its stem is not
 * in `stems`. */
Forest *forest_new (Stems *stems, const char *path, guint depth, GDestroyNotify row_free);
void forest_free (Forest *forest);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Forest, forest_free)

/* Where a row is, seen from the top job. */
typedef enum
{
  FOREST_SHOWN,   /* at, above, or at most `depth` levels below the top job */
  FOREST_COUNTED, /* deeper: only its sums count */
  FOREST_OUTSIDE, /* neither at, below nor above the top job */
  FOREST_UNKNOWN  /* its path is none, or has a lost stem */
} ForestPlace;
/* Adds a row. If the row is FOREST_SHOWN, `row` returns what the forest keeps of it (transfer full)
 * (nullable). `level`: levels below the top job; 0: the top job itself, or above it. */
typedef gpointer (*ForestRow) (guint level, gpointer data);
ForestPlace forest_add (Forest *forest, const char *path, double work_s, double weight,
                        ForestRow row, gpointer data);
/* Adds a kept state of the job `path`, which stands for its children below number `children`. */
void forest_add_keep (Forest *forest, const char *path, guint32 children);
/* To be called when all rows are added. (transfer none) */
const ForestView *forest_view (Forest *forest);
/* The path of the top job, or of the job above it at `depth`, as in the file. (transfer full) */
char *forest_path (Forest *forest, gsize depth);

/* How many jobs at or below this one are surely still to be done: children before the last known
 * child with nothing saved at or below them and no kept state. Later children may exist. */
guint64 tree_missing (const Tree *tree);
/* The gap between child `i` of the array and the child before it: *from and *to (out) are its first
 * and last number. FALSE: there is no gap. */
gboolean tree_gap_before (const Tree *tree, guint i, guint32 *from, guint32 *to);
