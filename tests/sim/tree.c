/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the tree of jobs and its oracle. Pure. */
#include "config.h"

#include "tree.h"

#include "rng.h"

#include <string.h>

/* Values of this size travel beside a message's header instead of in it. */
#define BIG_VALUE_BYTES 3000

/* The parents of a tree that grows job by job; a job never has more than TREE_CHILDREN_MAX
 * children. */
static void
grow (const TreeShape *shape, Rng *rng, guint32 *parents)
{
  guint8 n_children[TREE_JOBS_MAX] = { 0 };

  for (guint32 i = 1; i < shape->n; i++)
    {
      guint32 parent = (i - 1) / 2;
      if (!shape->balanced)
        {
          parent = rng_chance (rng, shape->depth_bias) ? i - 1 : (guint32)rng_below (rng, i);
          while (n_children[parent] == TREE_CHILDREN_MAX)
            parent = (parent + 1) % i;
        }
      parents[i] = parent;
      n_children[parent]++;
    }
}

/* Numbers the grown job `grown` and all below it in preorder; returns the next free number. */
static guint32
number_jobs (Tree *tree, const guint32 *parents, guint32 grown, guint32 next)
{
  guint32 self = next++;
  TreeJob *job = &tree->jobs[self];
  guint32 number = 0;

  for (guint32 i = grown + 1; i < tree->n; i++)
    if (parents[i] == grown)
      {
        tree->jobs[next].parent = self;
        tree->jobs[next].number = number++;
        tree->jobs[next].depth = job->depth + 1;
        next = number_jobs (tree, parents, i, next);
      }
  job->n_children = number;
  job->size = next - self;
  return next;
}

static void
list_children (Tree *tree)
{
  guint32 place = 0;

  for (guint32 i = 0; i < tree->n; i++)
    {
      tree->jobs[i].children = place;
      place += tree->jobs[i].n_children;
    }
  for (guint32 i = 1; i < tree->n; i++)
    {
      const TreeJob *parent = &tree->jobs[tree->jobs[i].parent];
      tree->children[parent->children + tree->jobs[i].number] = i;
    }
}

static guint64
hash_text (const char *text)
{
  guint64 hash = 1469598103934665603U;

  for (; *text; text++)
    hash = (hash ^ (guint8)*text) * 1099511628211U;
  return rng_mix (hash);
}

static GBytes *
value_bytes (guint64 number, gsize size)
{
  guint8 *data = g_malloc0 (size);
  guint64 le = GUINT64_TO_LE (number);

  memcpy (data, &le, sizeof le);
  return g_bytes_new_take (data, size);
}

guint64
tree_value_number (GBytes *value)
{
  guint64 number;
  gsize size;
  const void *data = g_bytes_get_data (value, &size);

  if (size < sizeof number)
    return 0;
  memcpy (&number, data, sizeof number);
  return GUINT64_FROM_LE (number);
}

guint64
tree_result (const Tree *tree, guint32 job, const guint64 *results)
{
  guint64 hash = tree->jobs[job].input + 1;

  for (guint32 k = 0; k < tree->jobs[job].n_children; k++)
    hash = rng_mix (hash * 31 + results[k]);
  return hash;
}

/* The oracle: arguments on the way down, results on the way up. */
static void
solve (Tree *tree, guint32 number, guint64 input, gboolean big_values)
{
  TreeJob *job = &tree->jobs[number];
  guint64 results[TREE_CHILDREN_MAX];
  guint64 first = 0;

  job->input = rng_mix (input ^ hash_text (job->path));
  job->args = value_bytes (job->input, sizeof job->input);
  memcpy (job->digest.bytes, &job->input, sizeof job->input);
  memcpy (job->digest.bytes + 8, &job->input, sizeof job->input);
  for (guint32 k = 0; k < job->n_children; k++)
    {
      guint32 child = tree_child (tree, number, k);
      guint64 child_input = k < job->n_first ? job->input : rng_mix (job->input ^ first);

      tree->jobs[child].weight = job->weight / job->n_children;
      solve (tree, child, child_input, big_values);
      results[k] = tree->jobs[child].result;
      if (k < job->n_first)
        first = rng_mix (first + results[k]);
    }
  job->result = tree_result (tree, number, results);
  job->value = value_bytes (job->result, big_values && job->result % 8 == 0 ? BIG_VALUE_BYTES
                                                                            : sizeof job->result);
}

static void
fill_job (Tree *tree, guint32 number, const TreeShape *shape, Rng *rng)
{
  TreeJob *job = &tree->jobs[number];

  job->path = number == 0 ? g_strdup ("")
                          : path_child (tree->stems, tree->jobs[job->parent].path, job->number);
  g_hash_table_insert (tree->by_path, job->path, GUINT_TO_POINTER (number));
  job->n_first = job->n_children;
  job->n_phases = job->n_children == 0 ? 0 : 1;
  if (job->n_children >= 2 && !shape->balanced && rng_chance (rng, 40))
    {
      job->n_phases = 2;
      job->n_first = (guint32)rng_between (rng, 1, job->n_children - 1);
    }
  for (guint32 phase = 0; phase <= job->n_phases; phase++)
    {
      guint32 max = job->n_phases == 0 ? shape->cost_max_us : shape->cost_max_us / 8 + 1;
      job->cost_us[phase] = (guint32)rng_between (rng, 1, max);
      tree->work_us += job->cost_us[phase];
    }
  tree->depth = MAX (tree->depth, job->depth);
}

Tree *
tree_new (const TreeShape *shape)
{
  guint32 parents[TREE_JOBS_MAX] = { 0 };
  Rng rng = { shape->seed };
  Tree *tree = g_new0 (Tree, 1);

  g_assert (shape->n >= 1 && shape->n <= TREE_JOBS_MAX);
  tree->n = shape->n;
  tree->jobs = g_new0 (TreeJob, tree->n);
  tree->children = g_new0 (guint32, tree->n);
  tree->by_path = g_hash_table_new (g_str_hash, g_str_equal);
  tree->stems = stems_new ();
  grow (shape, &rng, parents);
  number_jobs (tree, parents, 0, 0);
  list_children (tree);
  for (guint32 i = 0; i < tree->n; i++)
    fill_job (tree, i, shape, &rng);
  tree->jobs[0].weight = 1;
  solve (tree, 0, rng_next (&rng), shape->big_values);
  return tree;
}

void
tree_free (Tree *tree)
{
  for (guint i = 0; i < tree->n; i++)
    {
      g_free (tree->jobs[i].path);
      g_bytes_unref (tree->jobs[i].args);
      g_bytes_unref (tree->jobs[i].value);
    }
  g_hash_table_unref (tree->by_path);
  stems_free (tree->stems);
  g_free (tree->children);
  g_free (tree->jobs);
  g_free (tree);
}

int
tree_find (const Tree *tree, const char *path)
{
  gpointer number;

  if (!g_hash_table_lookup_extended (tree->by_path, path, NULL, &number))
    return -1;
  return (int)GPOINTER_TO_UINT (number);
}

guint32
tree_child (const Tree *tree, guint32 job, guint32 k)
{
  return tree->children[tree->jobs[job].children + k];
}
