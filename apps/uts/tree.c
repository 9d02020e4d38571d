/* SPDX-License-Identifier: BSD-3-Clause */
#include "tree.h"

#include "sha1.h"

#include <math.h>

/* Most children of a geometric or hybrid node, and of a binomial node other than the root. */
#define CHILDREN_MAX 100

UtsNode
uts_root (const UtsTree *tree)
{
  /* Sixteen zero bytes and the seed, padded. */
  uint32_t block[16] = { 0, 0, 0, 0, (uint32_t)tree->seed, 0x80000000, [15] = 160 };
  UtsNode root = { { 0 }, 0 };

  sha1_block (block, root.state);
  return root;
}

UtsNode
uts_child (const UtsTree *tree, const UtsNode *node, int i)
{
  const uint32_t *s = node->state;
  uint32_t block[16] = { s[0], s[1], s[2], s[3], s[4], (uint32_t)i, 0x80000000, [15] = 192 };
  UtsNode child;

  child.depth = node->depth + 1;
  for (int32_t times = 0; times < tree->granularity; times++)
    sha1_block (block, child.state);
  return child;
}

/* The node's random number, 0 <= u < 1. */
static double
probability (const UtsNode *node)
{
  return (node->state[4] & 0x7fffffff) / 2147483648.0;
}

/* The expected number of children of a geometric node at this depth. */
static double
expected (const UtsTree *tree, uint32_t at)
{
  double h = at, d = tree->depth, b = tree->branch;

  if (at == 0)
    return b;
  switch ((UtsShape)tree->shape)
    {
    case UTS_EXPDEC:
      return b * pow (h, -log (b) / log (d));
    case UTS_CYCLIC:
      return h > 5 * d ? 0 : pow (b, sin (2.0 * 3.141592653589793 * h / d));
    case UTS_FIXED:
      return h < d ? b : 0;
    case UTS_LINEAR:
      break;
    }
  return b * (1.0 - h / d);
}

static int
geometric_children (const UtsTree *tree, const UtsNode *node)
{
  double b = expected (tree, node->depth), children;

  if (b == 0)
    return 0;
  children = floor (log (1 - probability (node)) / log (1 - 1.0 / (1.0 + b)));
  /* Negative or NaN: only with extreme parameters. */
  if (!(children > 0))
    return 0;
  return children < CHILDREN_MAX ? (int)children : CHILDREN_MAX;
}

static int
binomial_children (const UtsTree *tree, const UtsNode *node)
{
  return probability (node) < tree->q ? MIN (tree->m, CHILDREN_MAX) : 0;
}

int
uts_children (const UtsTree *tree, const UtsNode *node)
{
  switch ((UtsType)tree->type)
    {
    case UTS_BINOMIAL:
      return node->depth == 0 ? (int)tree->branch : binomial_children (tree, node);
    case UTS_GEOMETRIC:
      return geometric_children (tree, node);
    case UTS_HYBRID:
      return node->depth < tree->shift * tree->depth ? geometric_children (tree, node)
                                                     : binomial_children (tree, node);
    case UTS_BALANCED:
      break;
    }
  return node->depth < (uint32_t)tree->depth ? (int)tree->branch : 0;
}
