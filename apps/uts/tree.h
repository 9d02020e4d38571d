/* SPDX-License-Identifier: BSD-3-Clause */
/* The trees of the Unbalanced Tree Search benchmark (Olivier, Prins and others, LCPC 2006), exactly
 * as its reference program 2.1 generates them. Pure. Knows nothing of searching them. */
#pragma once

#include <satin.h>

#include <stddef.h>

G_BEGIN_DECLS

typedef enum
{
  UTS_BINOMIAL,
  UTS_GEOMETRIC,
  UTS_HYBRID,
  UTS_BALANCED
} UtsType;

typedef enum
{
  UTS_LINEAR,
  UTS_EXPDEC,
  UTS_CYCLIC,
  UTS_FIXED
} UtsShape;

/* The parameters of a tree. The letters in brackets are the reference program's. */
SATIN_RECORD (UtsTree, (int32_t, type), /* UtsType (t) */
              (int32_t, shape),         /* UtsShape, for geometric nodes (a) */
              (int32_t, depth),         /* depth limit of the shape (d) */
              (int32_t, seed),          /* (r) */
              (int32_t, m),             /* children of a binomial node that has any (m) */
              (int32_t, granularity),   /* how often each child is hashed (g) */
              (double, branch),         /* children of the root, or the expected number (b) */
              (double, q),              /* share of binomial nodes with children (q) */
              (double, shift))          /* share of the depth at which a hybrid tree changes (f) */

/* A node is a SHA-1 state and its depth. */
SATIN_RECORD (UtsNode, (uint32_t, state, 5), (uint32_t, depth))

SATIN_RECORD (UtsCounts, (uint64_t, nodes), (uint64_t, leaves), (uint32_t, depth))

UtsNode uts_root (const UtsTree *tree);

/* The number of children of this node. */
int uts_children (const UtsTree *tree, const UtsNode *node);

/* Child number `i`, from 0. */
UtsNode uts_child (const UtsTree *tree, const UtsNode *node, int i);

/* Adds the counts of a child's subtree. */
static inline void
uts_add (UtsCounts *sum, const UtsCounts *part)
{
  sum->nodes += part->nodes;
  sum->leaves += part->leaves;
  if (part->depth > sum->depth)
    sum->depth = part->depth;
}

/* Reads a tree from a command line: `NAME`, one of the benchmark's sample trees, and options, which
 * modify that tree or the default one. FALSE: `sentence` (of `size` bytes) has the reason. */
gboolean uts_parse (int argc, char **argv, UtsTree *tree, char *sentence, size_t size);

G_END_DECLS
