/* SPDX-License-Identifier: BSD-3-Clause */
/* The computation that a simulated run does: trees of jobs, one for each root that main asks for,
 * known in advance, and with them the oracle: what every job's arguments, digest and result must
 * be. A result is a hash of path, arguments and the children's results. A child of the second phase
 * takes the results of the first into its arguments, and a root the result of the one before, so a
 * wrong or misplaced result shows at once. Some jobs want only some of their children: as soon as a
 * phase has these (or any one, if it wants none) it aborts the rest. Jobs are numbered in preorder:
 * what is at or below job i is i … i + size - 1. Immutable. */
#pragma once

#include "loan.h"
#include "path.h"

#ifndef TREE_JOBS_MAX /* the comparison of ways to steal has larger trees */
#define TREE_JOBS_MAX 127
#endif
#define TREE_CHILDREN_MAX 5
#define TREE_PHASES_MAX 4

/* What a job knows after some of its children: as much as it keeps. */
typedef struct
{
  guint64 hash; /* after the last child this is the result */
  guint64 fold; /* goes into the arguments of the children of later phases */
} TreeState;

typedef struct
{
  guint32 parent; /* of a root: itself */
  guint32 number; /* which child of its parent; of a root: which of them */
  guint32 size;   /* of the subtree */
  guint32 depth;
  guint32 n_phases; /* 0 for a leaf */
  guint32 n_children;
  guint32 ends[TREE_PHASES_MAX];        /* how many children there are after each phase */
  gboolean keeps;                       /* after each phase */
  guint32 children;                     /* where its children stand in Tree.children */
  guint32 cost_us[TREE_PHASES_MAX + 1]; /* before the first spawn, after each sync */
  int speaks;     /* of which shared bytes the arguments speak, by number in Tree.blobs; -1: none */
  gboolean reads; /* it needs them before it begins */
  gboolean shares; /* it shares bytes: its children's arguments may speak of blob TREE_OWN */
  gboolean gives;  /* its result speaks of blob TREE_GIFT */
  guint32 wanted;  /* a bit for each child whose result counts */
  guint64 input, result;
  char *path;
  Digest digest, kept_digest; /* kept_digest: of what it keeps */
  double weight;
  GBytes *args, *value;
} TreeJob;

typedef struct
{
  guint n;
  TreeJob *jobs;
  guint n_roots;
  guint32 roots[TREE_CHILDREN_MAX + 1];
  guint32 *children;
  GBytes **blobs; /* shared bytes, two for each job; NULL: it does not share them */
  Digest *blob_digests;
  gboolean speaks; /* there are some */
  guint64 work_us; /* of all jobs */
  guint64 longest_us; /* the longest time that a job computes before it spawns or ends */
  guint depth;     /* of the deepest job */
  GHashTable *by_path;
  Stems *stems;
} Tree;

typedef struct
{
  guint64 seed;
  guint n;           /* 1 … TREE_JOBS_MAX */
  guint roots;       /* so many roots more than one, if the first has so many children to give */
  guint depth_bias;  /* percent: how often a new job goes below the newest one */
  gboolean balanced; /* a full binary tree; depth_bias is ignored */
  gboolean phased;   /* a balanced one: the two children are two phases, and both are kept */
  guint keeps;       /* percent: how often a job keeps its phases */
  gboolean even;     /* each leaf costs cost_max_us, each other job next to nothing */
  gboolean big_values;
  guint aborts; /* percent: how often a job does not want all its children */
  guint shares; /* percent: how often a job shares bytes, and how often its result does */
  guint32 cost_max_us;
} TreeShape;

/* For TreeShape.roots: one program in four has several. */
guint tree_draw_roots (guint64 seed);
Tree *tree_new (const TreeShape *shape);
void tree_free (Tree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Tree, tree_free)

static inline gboolean
tree_is_root (const Tree *tree, guint32 job)
{
  return job < tree->n && tree->jobs[job].parent == job;
}

/* What main returns: the result of the last root. */
GBytes *tree_answer (const Tree *tree);
/* -1: no such job. */
int tree_find (const Tree *tree, const char *path);
guint32 tree_child (const Tree *tree, guint32 job, guint32 k);
/* Before the first child, and after number k, which returned `result`; it changes nothing if it is
 * not wanted. */
TreeState tree_begin (const Tree *tree, guint32 job);
void tree_add (const Tree *tree, guint32 job, guint32 k, guint64 result, TreeState *state);
/* What goes into the arguments of this child, which its parent spawns in this phase; `fold`: what
 * the parent knew when the phase before ended. */
guint64 tree_input (const Tree *tree, guint32 child, guint32 phase, guint64 fold);
#define TREE_OWN(job) (2 * (job))
#define TREE_GIFT(job) (2 * (job) + 1)
/* Does what a job keeps after its first so many children speak of this child's gift? */
gboolean tree_keeps_gift (const Tree *tree, guint32 job, guint32 k);
/* Which phase ends after so many children; -1: none. */
int tree_phase_at (const Tree *tree, guint32 job, guint32 children);
/* What a job keeps after its first so many children, and under which digest. (transfer full) */
GBytes *tree_kept (const Tree *tree, guint32 job, guint32 children);
Digest tree_kept_digest (const Tree *tree, guint32 job);
#define TREE_KEPT_TYPE "(ttt)" /* hash, fold, children */
guint64 tree_value_number (GBytes *value);

static inline gboolean
tree_wants (const Tree *tree, guint32 job, guint32 k)
{
  return (tree->jobs[job].wanted >> k & 1) != 0;
}

static inline gboolean
tree_covers (const Tree *tree, guint32 ancestor, guint32 job)
{
  return job >= ancestor && job < ancestor + tree->jobs[ancestor].size;
}
