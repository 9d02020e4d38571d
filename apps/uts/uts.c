/* SPDX-License-Identifier: BSD-3-Clause */
/* Unbalanced Tree Search: counts the nodes of a tree whose large parts can only be found by
 * visiting them. A job is a node; it spawns all its children before any of them runs. */
#include "tree.h"

#include <inttypes.h>

#define USAGE \
  "[T1|T2|T3|T4|T5|T1L|T2L|T3L|...] [--type 0-3] [--shape 0-3] [--depth N] [--branch X] [--seed " \
  "N] " \
  "[--q X] [--m N] [--shift X] [--granularity N]"

SATIN_CONST (UtsTree, tree)

SATIN_JOB (search, UtsCounts, (UtsNode, node))
{
  const UtsTree *shape = satin_const (tree);
  int n = uts_children (shape, &node);
  UtsCounts sum = { 1, n == 0, node.depth };

  if (n == 0)
    return sum;

  UtsCounts *parts = g_newa (UtsCounts, n);
  for (int i = 0; i < n; i++)
    satin_spawn (search, &parts[i], uts_child (shape, &node, i));
  satin_sync ();
  for (int i = 0; i < n; i++)
    uts_add (&sum, &parts[i]);
  return sum;
}

static int
uts_main (SatinRun *run, int argc, char **argv)
{
  char sentence[256];
  UtsTree shape;
  UtsCounts counts;

  if (!uts_parse (argc, argv, &shape, sentence, sizeof sentence))
    {
      fprintf (stderr, "uts: %s\n", sentence);
      return 2;
    }
  satin_publish (run, tree, &shape);
  if (!satin_root (run, search, &counts, uts_root (&shape)))
    return satin_stopped (run);
  printf ("nodes %" PRIu64 " depth %" PRIu32 " leaves %" PRIu64 "\n", counts.nodes, counts.depth,
          counts.leaves);
  return 0;
}

SATIN_APP ("uts", USAGE, uts_main)
