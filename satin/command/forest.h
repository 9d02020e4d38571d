/* SPDX-License-Identifier: BSD-3-Clause */
/* The saved part of the job tree, at and below one job, put together from the paths of its rows. A
 * job that has not finished has no row of its own; it stands in the tree when something below it is
 * saved. One thread; knows paths, no file. */
#pragma once

#include "path.h"

/* One job. */
typedef struct Tree Tree;
struct Tree
{
  guint32 number;    /* as child of its parent; of the top job: 0 */
  gboolean is_saved; /* it has a row, and so nothing below it */
  guint64 rows;      /* saved at or below it */
  double work_s;     /* their sum */
  double weight;     /* their sum */
  guint32 kept;      /* its kept state stands for the children below this number */
  GPtrArray
      *children; /* (nullable): Tree pointers by number: those at or below which something is */
  gpointer row;  /* (nullable): what was given with its row */
};

typedef struct
{
  Tree *tree;        /* the job that was asked for */
  gpointer above;    /* (nullable): what was given with the saved row above it, and nothing below
                        counts */
  gsize above_depth; /* of that row */
  gsize kept_depth; /* 0: none; else the kept state of the job above it at this depth - 1 stands for
                       it too */
  /* When nothing of the job is saved: the depth of the deepest job above it that is known to have
   * existed, because something at, below or beside it is saved. Its own depth: it was spawned. */
  gsize depth_known;
  guint32 last_root; /* the greatest of which something is saved */
} ForestView;

typedef struct Forest Forest;

/* A tree is walked by recursion. */
#define FOREST_DEPTH_MAX 1000

/* The forest at `path`, as a person writes it: "/" is the first root; a stem or numbers alone for
 * deep ones. Jobs more than `depth` levels below it are only counted. NULL: not a path (or one of a
 * stem that is not in `stems`). `row_free`: for the rows given; `stems` is borrowed. */
Forest *forest_new (Stems *stems, const char *path, guint depth, GDestroyNotify row_free);
void forest_free (Forest *forest);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Forest, forest_free)

/* Where a row is in the view of the forest. */
typedef enum
{
  FOREST_SHOWN,   /* a row that is worth giving to forest_add */
  FOREST_COUNTED, /* below the depth: only its sums are of use */
  FOREST_OUTSIDE, /* neither at, below nor above */
  FOREST_UNKNOWN  /* not a path, or of a lost stem */
} ForestPlace;
/* Enters a row. `row` is asked for what is to be kept of it, when it is shown: (transfer full)
 * (nullable). `level`: so far below the top job; 0: that job itself, or above it. */
typedef gpointer (*ForestRow) (guint level, gpointer data);
ForestPlace forest_add (Forest *forest, const char *path, double work_s, double weight,
                        ForestRow row, gpointer data);
/* Enters a kept state, which stands for the children of `path` below number `children`. */
void forest_add_keep (Forest *forest, const char *path, guint32 children);
/* To be asked when all rows are in. (transfer none) */
const ForestView *forest_view (Forest *forest);
/* (transfer full): the path of the job asked for, or of the one above it at `depth`, as in the
 * file. */
char *forest_path (Forest *forest, gsize depth);

/* Jobs at or below this one that surely are still to be done: children before the greatest known
 * one that have nothing saved at or below them, and for which no kept state stands. Later children
 * may exist; nobody knows. */
guint64 tree_missing (const Tree *tree);
/* The gap between child `i` of the array and the one before it: its first and last number. FALSE:
 * none. */
gboolean tree_gap_before (const Tree *tree, guint i, guint32 *from, guint32 *to);
