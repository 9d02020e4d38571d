/* SPDX-License-Identifier: BSD-3-Clause */
/* See left.h. Four steps.
 *
 * 1. The form of the tree. A job that is not finished has children. Some are saved, of some a part
 * is saved, of the others nothing is known. A child of which nothing is known is taken to cost as
 * much as its known siblings do on average. So each level is judged by itself: where few heavy
 * subtrees are left, they count as heavy however small their weight is. A job's number of children
 * follows from its weight and that of a saved child.
 *
 * 2. The correction. What step 1 said of a job is remembered, and compared with the truth when that
 * job's own row comes. The work that such jobs really had left, divided by what was said, corrects
 * what is said of the whole tree. The order of children is rarely by chance: fib's first child
 * costs 1.6 times as much as its second; in a search the most promising child comes first and costs
 * most. This correction is right where all subtrees are skewed alike. Where their sizes are by
 * chance, the small ones end first, and it is too small. So a second correction counts the jobs
 * that are not finished, too: the work done for them since, and what step 1 says is left of them
 * now. It is too small where subtrees are skewed. The truth is mostly between the two.
 *
 * 3. The range. The estimate jumps when a large subtree ends. So the recent estimates by both
 * corrections count, less the work that was done since. How far they are apart is the range, and
 * some more.
 *
 * 4. The best guess. Where a tree is regular, the share that is done is the better clock, so its
 * estimate is a third one. Of the three, the one whose idea of the whole work has changed least
 * while the work doubled has most weight.
 *
 * The figures below were chosen with the first sixteen runs in tests/unit/left-runs.txt, and none
 * of them is sharp. Tests: test-left (it prints how often the range held the truth). */
#include "coordinator/left.h"

#include "path.h"

#include <math.h>

/* Step 2 has to know of so many subtrees. */
#define SUBTREES_MIN 2
/* As if so many subtrees of the usual size had been just as step 1 said. */
#define SUBTREES_PRIOR 3.0
/* The recent past: this share of the work done, or so many looks. */
#define RECENT_SHARE 0.15
#define RECENT_MIN 3
/* The past by which the three are weighed: this share of the work done. */
#define PAST_SHARE 0.5
#define PAST_MAX 64
/* An idea of the whole work is never trusted more than one that has changed so much. */
#define CHANGE_MIN 0.05
/* The outermost fifths of the recent estimates are left out. */
#define TAIL 0.2
/* The range is wider by this factor; with few subtrees, still wider. */
#define MARGIN 1.5
/* With more unfinished jobs that have saved ones below them, nothing is said. */
#define NODES_MAX 100000
/* Seconds over which left_pace smooths. */
#define PACE_S 10.0

/* A job that is not finished, and has something saved below it. */
typedef struct
{
  guint64 key;       /* of its path */
  guint parent;      /* index of the node above; of the root: itself */
  guint32 last;      /* greatest number of a known child */
  guint known;       /* children that are saved, or nodes themselves */
  double row_weight; /* of each child, as a saved one says; 0: none is saved */
  double weight, n;  /* its own weight; its children */
  gboolean is_exact; /* the weight is no guess */
  double saved_s;    /* what is saved below it */
  double known_s;    /* what its known children cost, as far as is guessed */
} LeftNode;

/* What was said of a job while it was unfinished, over all looks. */
typedef struct
{
  guint64 key;
  guint look; /* the last one */
  guint n_looks;
  double left_s, saved_s; /* sums */
} LeftTold;

/* What one look found. */
typedef struct
{
  double saved_s, share, left_s; /* left_s: by step 1 */
} LeftLook;

struct Left
{
  guint look;
  guint32 root;  /* of the program: the one under way */
  GArray *nodes; /* of LeftNode, parents first */
  guint spine[PATH_STEM_LEVELS + 1];
  guint32 numbers[PATH_STEM_LEVELS]; /* of the last path */
  guint depth;                       /* nodes on the spine besides the root */
  double saved_s, share;             /* by this look so far */
  gboolean is_whole, is_too_large;
  GHashTable *told;                  /* of LeftTold, by key */
  guint n_ended;                     /* subtrees that step 2 knows of, … */
  double ended_said_s, ended_true_s; /* … their sums, … */
  double open_said_s, open_true_s;   /* … and those of unfinished jobs, as of the last look */
  GArray *looks;                     /* of LeftLook, since PAST_SHARE of the work was done */
};

Left *
left_new (void)
{
  Left *left = g_new0 (Left, 1);

  left->nodes = g_array_new (FALSE, FALSE, sizeof (LeftNode));
  left->looks = g_array_new (FALSE, FALSE, sizeof (LeftLook));
  left->told = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  return left;
}

void
left_free (Left *left)
{
  if (left == NULL)
    return;
  g_array_unref (left->nodes);
  g_array_unref (left->looks);
  g_hash_table_unref (left->told);
  g_free (left);
}

static LeftNode *
node_at (const Left *left, guint index)
{
  return &g_array_index (left->nodes, LeftNode, index);
}

/* The finalizer of splitmix64: two paths get the same key once in 2^64. */
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

/* The node of the job with these numbers; those above it are made, too. */
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

/* A job has its row: was right what was said of it? */
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
      left->n_ended++;
      left->ended_said_s += said_s;
      left->ended_true_s += true_s;
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
    return; /* an earlier root, which is finished, is no part of this tree */
  left->saved_s += work_s;
  if (weight > 0 && isfinite (weight))
    left->share += weight;
  if (path[0] == '~')
    return;
  if (path_root (path) != left->root)
    {
      left->root = path_root (path);
      g_hash_table_remove_all (left->told); /* other jobs have these numbers now */
      g_array_set_size (left->looks, 0);
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

/* How many children, from above, since the weights of inner jobs stand in no row. */
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
      left->open_said_s += told->left_s / told->n_looks;
      left->open_true_s += node->saved_s - told->saved_s / told->n_looks + left_s;
    }
  told->look = left->look;
  if (left_s <= 0)
    return;
  told->n_looks++;
  told->left_s += left_s;
  told->saved_s += node->saved_s;
}

/* Step 1, from below. Seconds of work that the tree has left. */
static double
guess (Left *left)
{
  double left_s = 0;

  left->open_said_s = left->open_true_s = 0;
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

/* It is below a row now, whose own job was never told of, or was dropped. */
static gboolean
is_gone (gpointer key, gpointer value, gpointer data)
{
  (void)key;
  return ((const LeftTold *)value)->look != ((const Left *)data)->look;
}

static const LeftLook *
look_at (const Left *left, guint index)
{
  return &g_array_index (left->looks, LeftLook, index);
}

/* No more than that share of the work was done since that look, or few looks came since. */
static gboolean
is_within (const Left *left, guint index, double share)
{
  const LeftLook *last = look_at (left, left->looks->len - 1);

  return index + RECENT_MIN >= left->looks->len
         || last->saved_s - look_at (left, index)->saved_s <= share * last->saved_s;
}

static void
add_look (Left *left, double left_s)
{
  LeftLook look = { .saved_s = left->saved_s, .share = MIN (left->share, 1), .left_s = left_s };
  guint old = 0;

  if (left->looks->len == PAST_MAX) /* every second one goes */
    for (guint i = 0; i < PAST_MAX / 2; i++)
      g_array_remove_index (left->looks, i);
  g_array_append_val (left->looks, look);
  while (!is_within (left, old, PAST_SHARE))
    old++;
  g_array_remove_range (left->looks, 0, old);
}

void
left_end (Left *left)
{
  const GArray *looks = left->looks;

  if (left->is_whole || left->is_too_large)
    {
      g_array_set_size (left->looks, 0);
      return;
    }
  if (looks->len > 0 && look_at (left, looks->len - 1)->saved_s >= left->saved_s)
    {
      /* A look at the same rows counts once; what was told of them stays. */
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

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  double one = *(const double *)a, other = *(const double *)b;

  return one < other ? -1 : one > other;
}

/* Of sorted numbers. */
static double
quantile (const GArray *numbers, double share)
{
  double place = share * (numbers->len - 1);
  guint low = (guint)place, high = MIN (low + 1, numbers->len - 1);
  double one = g_array_index (numbers, double, low), other = g_array_index (numbers, double, high);

  return one + (other - one) * (place - low);
}

static gboolean
is_narrow (const LeftRange *range)
{
  return range->best_s > 0 && range->high_s <= LEFT_WIDEST * range->best_s
         && range->low_s >= range->best_s / LEFT_WIDEST;
}

/* One of the three ways to say how much is left. */
typedef struct
{
  double factor;     /* on what step 1 says */
  gboolean by_share; /* the share that is done says it */
} LeftWay;

static double
left_by (const LeftWay *way, const LeftLook *look)
{
  if (!way->by_share)
    return look->left_s * way->factor;
  return look->share > 0 ? look->saved_s * (1 - look->share) / look->share : 0;
}

/* The greatest difference between its ideas of the whole work, as a share of that. */
static double
change_of (const Left *left, const LeftWay *way)
{
  double least_s = INFINITY, most_s = 0, sum_s = 0;

  if (left->looks->len < RECENT_MIN)
    return 1;
  for (guint i = 0; i < left->looks->len; i++)
    {
      double whole_s = look_at (left, i)->saved_s + left_by (way, look_at (left, i));

      least_s = MIN (least_s, whole_s);
      most_s = MAX (most_s, whole_s);
      sum_s += whole_s;
    }
  return sum_s > 0 ? (most_s - least_s) * left->looks->len / sum_s : 1;
}

/* What the recent looks say, less what was done since. (transfer full) sorted; their average. */
static GArray *
recent_by (const Left *left, const LeftWay *way, double *average_s)
{
  GArray *recent = g_array_new (FALSE, FALSE, sizeof (double));
  double now_s = look_at (left, left->looks->len - 1)->saved_s, sum_s = 0;

  for (guint i = 0; i < left->looks->len; i++)
    if (is_within (left, i, RECENT_SHARE))
      {
        double left_s = left_by (way, look_at (left, i)) - (now_s - look_at (left, i)->saved_s);

        g_array_append_val (recent, left_s);
        sum_s += left_s;
      }
  g_array_sort (recent, compare_numbers);
  *average_s = sum_s / recent->len;
  return recent;
}

gboolean
left_work (const Left *left, LeftRange *work)
{
  LeftWay ways[3] = { [2] = { .by_share = TRUE } };
  LeftRange range = { .low_s = INFINITY };
  double usual_s, margin, weights = 0;

  if (left->n_ended < SUBTREES_MIN || left->looks->len == 0)
    return FALSE;
  usual_s = SUBTREES_PRIOR * left->ended_said_s / left->n_ended;
  margin = MARGIN * (1 + 1.0 / left->n_ended);
  ways[0].factor = (left->ended_true_s + usual_s) / (left->ended_said_s + usual_s);
  ways[1].factor = (left->ended_true_s + left->open_true_s + usual_s)
                   / (left->ended_said_s + left->open_said_s + usual_s);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      double weight = 1 / (change_of (left, &ways[i]) + CHANGE_MIN), average_s;
      g_autoptr (GArray) recent = recent_by (left, &ways[i], &average_s);

      range.best_s += weight * average_s;
      weights += weight;
      if (ways[i].by_share)
        continue;
      range.low_s = MIN (range.low_s, quantile (recent, TAIL) / margin);
      range.high_s = MAX (range.high_s, quantile (recent, 1 - TAIL) * margin);
    }
  range.best_s = CLAMP (range.best_s / weights, range.low_s, MAX (range.low_s, range.high_s));
  if (!is_narrow (&range))
    return FALSE;
  *work = range;
  return TRUE;
}

double
left_pace (LeftPace *pace, double busy, double now_s)
{
  double passed_s = MAX (now_s - pace->at_s, 0);

  if (pace->at_s == 0)
    pace->busy = busy;
  else
    pace->busy += (busy - pace->busy) * passed_s / (passed_s + PACE_S);
  pace->at_s = now_s;
  return pace->busy;
}

gboolean
left_time (const LeftRange *work, double busy, double age_s, LeftRange *time)
{
  LeftRange range;

  if (!(busy > 0))
    return FALSE;
  range = (LeftRange){ .best_s = work->best_s / busy - age_s,
                       .low_s = work->low_s / busy - age_s,
                       .high_s = work->high_s / busy - age_s };
  if (!is_narrow (&range))
    return FALSE;
  *time = range;
  return TRUE;
}
