/* SPDX-License-Identifier: BSD-3-Clause */
/* See left.h. Four steps.
 *
 * 1. The form of the tree. Of the children of an unfinished job some are saved, some are saved in
 * part, and nothing is known about the others. A child of which nothing is known counts with the
 * average cost of its known siblings. So each level is judged by itself: if a few heavy subtrees
 * are left, they count as heavy even if their weight is small. A job's number of children follows
 * from its weight and the weight of a saved child.
 *
 * 2. The correction. The estimates of step 1 are remembered, and compared with the truth when the
 * job's own row comes. The work that such jobs really had left, divided by the estimate, corrects
 * the estimate of the whole tree. The order of children is rarely random: fib's first child costs
 * 1.6 times as much as its second; in a search the most promising child comes first and costs most.
 * This correction is right if all subtrees are skewed alike. If their sizes are random, the small
 * ones end first, and it is too small. So a second correction also counts unfinished jobs: the work
 * done for them since, and the present estimate of step 1 for their rest. This one is too small if
 * subtrees are skewed. The truth is mostly between the two.
 *
 * left-range.c has the other steps. Tests: test-left. */
#include "left-private.h"

#include "path.h"

#include <math.h>

/* The looks that count: those within this share of the work, at most so many. */
#define PAST_SHARE 0.5
#define PAST_MAX 64
/* With more unfinished jobs than this there is no estimate. */
#define NODES_MAX 100000

/* An unfinished job with saved rows below it. */
typedef struct
{
  guint64 key;       /* of its path */
  guint parent;      /* index of the parent; the root's is its own */
  guint32 last;      /* greatest number of a known child */
  guint known;       /* children that are saved or are nodes themselves */
  double row_weight; /* weight of each child, known from a saved one; 0: none is saved */
  double weight, n;  /* weight of the job; number of its children */
  gboolean is_exact; /* the weight is known, not estimated */
  double saved_s;    /* work saved below it */
  double known_s;    /* cost of its known children, partly estimated */
} LeftNode;

/* The estimates for a job while it was unfinished, over all looks. */
typedef struct
{
  guint64 key;
  guint look; /* the last one */
  guint n_looks;
  double left_s, saved_s; /* sums */
} LeftTold;

struct Left
{
  guint look;
  guint32 root;  /* number of the present root */
  GArray *nodes; /* of LeftNode, parents first */
  guint spine[PATH_STEM_LEVELS + 1];
  guint32 numbers[PATH_STEM_LEVELS]; /* of the last path */
  guint depth;                       /* number of nodes on the spine besides the root */
  double saved_s, share;             /* in this look so far */
  gboolean is_whole, is_too_large;
  GHashTable *told; /* of LeftTold, by key */
  LeftPast past;
};

Left *
left_new (void)
{
  Left *left = g_new0 (Left, 1);

  left->nodes = g_array_new (FALSE, FALSE, sizeof (LeftNode));
  left->past.looks = g_array_new (FALSE, FALSE, sizeof (LeftLook));
  left->told = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  return left;
}

void
left_free (Left *left)
{
  if (left == NULL)
    return;
  g_array_unref (left->nodes);
  g_array_unref (left->past.looks);
  g_hash_table_unref (left->told);
  g_free (left);
}

static LeftNode *
node_at (const Left *left, guint index)
{
  return &g_array_index (left->nodes, LeftNode, index);
}

/* The finalizer of splitmix64: two paths have the same key with probability 2^-64. */
static guint64
child_key (guint64 key, guint32 number)
{
  key += (number + G_GUINT64_CONSTANT (1)) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  key = (key ^ key >> 30) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  key = (key ^ key >> 27) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return key ^ key >> 31;
}

void
left_begin (Left *left)
{
  LeftNode root = { .key = 0 };

  left->look++;
  left->depth = 0;
  left->saved_s = left->share = 0;
  left->is_whole = left->is_too_large = FALSE;
  g_array_set_size (left->nodes, 0);
  g_array_append_val (left->nodes, root);
  left->spine[0] = 0;
}

static void
note_child (LeftNode *node, guint32 number)
{
  node->known++;
  node->last = MAX (node->last, number);
}

/* The node of the job with these numbers. Makes it and the nodes above it if needed. */
static guint
find_node (Left *left, const guint32 *numbers, guint depth)
{
  guint same = 0;

  while (same < MIN (depth, left->depth) && left->numbers[same] == numbers[same])
    same++;
  for (; same < depth; same++)
    {
      guint parent = left->spine[same];
      LeftNode node = { .parent = parent };

      note_child (node_at (left, parent), numbers[same]);
      node.key = child_key (node_at (left, parent)->key, numbers[same]);
      left->numbers[same] = numbers[same];
      left->spine[same + 1] = left->nodes->len;
      g_array_append_val (left->nodes, node);
    }
  left->depth = depth;
  return left->spine[depth];
}

/* A job's row has come: compares the estimate with the truth. */
static void
compare (Left *left, guint64 key, double work_s)
{
  const LeftTold *told = g_hash_table_lookup (left->told, &key);
  double said_s, true_s;

  if (told == NULL || told->n_looks == 0)
    return;
  said_s = told->left_s / told->n_looks;
  true_s = work_s - told->saved_s / told->n_looks;
  if (said_s > 0 && true_s > 0)
    {
      left->past.n_ended++;
      left->past.ended_said_s += said_s;
      left->past.ended_true_s += true_s;
    }
  g_hash_table_remove (left->told, &key);
}

void
left_row (Left *left, const char *path, double weight, double work_s)
{
  guint32 numbers[PATH_STEM_LEVELS];
  int depth = path_read_last (path, numbers);
  LeftNode *parent;

  if (depth < 0 || !(work_s >= 0) || !isfinite (work_s) || (weight <= 0 && path_is_root (path)))
    return; /* an earlier root is finished and not part of this tree */
  left->saved_s += work_s;
  if (weight > 0 && isfinite (weight))
    left->share += weight;
  if (path[0] == '~')
    return;
  if (path_root (path) != left->root)
    {
      left->root = path_root (path);
      g_hash_table_remove_all (left->told); /* the numbers stand for other jobs now */
      g_array_set_size (left->past.looks, 0);
    }
  if (depth == 0)
    {
      left->is_whole = TRUE;
      return;
    }
  left->is_too_large = left->is_too_large || left->nodes->len > NODES_MAX;
  if (left->is_too_large)
    return;
  parent = node_at (left, find_node (left, numbers, (guint)depth - 1));
  note_child (parent, numbers[depth - 1]);
  parent->known_s += work_s;
  parent->saved_s += work_s;
  if (weight > 0 && isfinite (weight))
    parent->row_weight = weight;
  compare (left, child_key (parent->key, numbers[depth - 1]), work_s);
}

/* Computes the numbers of children, from the root downwards, since no row has the weights of inner
 * jobs. */
static void
count_children (Left *left)
{
  for (guint i = 0; i < left->nodes->len; i++)
    {
      LeftNode *node = node_at (left, i);
      const LeftNode *parent = node_at (left, node->parent);
      double least = (double)node->last + 1;

      node->is_exact = i == 0 || parent->row_weight > 0;
      node->weight = i == 0 ? 1 : node->is_exact ? parent->row_weight : parent->weight / parent->n;
      node->n = least;
      if (node->row_weight > 0 && node->is_exact)
        node->n = MAX (least, (double)(guint64)MIN (node->weight / node->row_weight + 0.5, 1e9));
    }
}

static void
remember (Left *left, const LeftNode *node, double left_s)
{
  LeftTold *told = g_hash_table_lookup (left->told, &node->key);

  if (told == NULL)
    {
      told = g_new0 (LeftTold, 1);
      told->key = node->key;
      g_hash_table_insert (left->told, &told->key, told);
    }
  if (told->n_looks > 0)
    {
      left->past.open_said_s += told->left_s / told->n_looks;
      left->past.open_true_s += node->saved_s - told->saved_s / told->n_looks + left_s;
    }
  told->look = left->look;
  if (left_s <= 0)
    return;
  told->n_looks++;
  told->left_s += left_s;
  told->saved_s += node->saved_s;
}

/* Step 1, from the leaves upwards: seconds of work that the tree has left. */
static double
guess (Left *left)
{
  double left_s = 0;

  left->past.open_said_s = left->past.open_true_s = 0;
  for (guint i = left->nodes->len; i-- > 0;)
    {
      LeftNode *node = node_at (left, i), *parent = node_at (left, node->parent);
      double whole_s = node->known > 0 ? node->known_s * node->n / node->known : 0;

      left_s = whole_s - node->saved_s;
      remember (left, node, left_s);
      if (i == 0)
        break;
      parent->known_s += whole_s;
      parent->saved_s += node->saved_s;
    }
  return MAX (left_s, 0);
}

/* TRUE: a row now covers the job, and its own row never came. */
static gboolean
is_gone (gpointer key, gpointer value, gpointer data)
{
  (void)key;
  return ((const LeftTold *)value)->look != ((const Left *)data)->look;
}

/* TRUE: at most PAST_SHARE of the work was done since that look, or few looks followed. */
static gboolean
is_recent (const Left *left, guint index)
{
  const LeftPast *past = &left->past;
  double now_s = left_look (past, past->looks->len - 1)->saved_s;

  return index + LEFT_PAST_MIN >= past->looks->len
         || now_s - left_look (past, index)->saved_s <= PAST_SHARE * now_s;
}

static void
add_look (Left *left, double left_s)
{
  LeftLook look = { .saved_s = left->saved_s, .share = MIN (left->share, 1), .left_s = left_s };
  guint old = 0;

  if (left->past.looks->len == PAST_MAX) /* removes every second look */
    for (guint i = 0; i < PAST_MAX / 2; i++)
      g_array_remove_index (left->past.looks, i);
  g_array_append_val (left->past.looks, look);
  while (!is_recent (left, old))
    old++;
  g_array_remove_range (left->past.looks, 0, old);
}

void
left_end (Left *left)
{
  const GArray *looks = left->past.looks;

  if (left->saved_s <= 0 && looks->len == 0)
    return; /* there is nothing to estimate */
  if (left->is_whole || left->is_too_large)
    {
      g_array_set_size (left->past.looks, 0);
      return;
    }
  if (looks->len > 0 && left_look (&left->past, looks->len - 1)->saved_s >= left->saved_s)
    {
      /* A look at the same rows does not count again; the remembered estimates stay. */
      GHashTableIter iter;
      gpointer told;

      g_hash_table_iter_init (&iter, left->told);
      while (g_hash_table_iter_next (&iter, NULL, &told))
        ((LeftTold *)told)->look = left->look;
      return;
    }
  count_children (left);
  add_look (left, guess (left));
  g_hash_table_foreach_remove (left->told, is_gone, left);
}

gboolean
left_work (const Left *left, LeftRange *work)
{
  return left_range (&left->past, g_hash_table_size (left->told), work);
}
