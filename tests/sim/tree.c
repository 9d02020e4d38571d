/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the tree of jobs and its oracle. Pure. */
#include "config.h"

#include "tree.h"

#include "rng.h"

#include <string.h>

/* Values of this size travel beside a message's header instead of in it. */
#define BIG_VALUE_BYTES 3000
#define ROOTS_RARITY 4 /* of so many programs one has several roots */

/* The parents of a tree that grows job by job; a job never has more than TREE_CHILDREN_MAX
 * children. */
static void
grow (const TreeShape *shape, Rng *rng, guint32 *parents)
{
  g_autofree guint8 *n_children = g_new0 (guint8, shape->n);

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

/* The children of each grown job, in their order; 0: none. */
typedef struct
{
  guint32 *first, *next;
} Grown;

static void
list_grown (const guint32 *parents, guint32 n, Grown *all)
{
  all->first = g_new0 (guint32, n);
  all->next = g_new0 (guint32, n);
  for (guint32 i = n - 1; i > 0; i--)
    {
      all->next[i] = all->first[parents[i]];
      all->first[parents[i]] = i;
    }
}

/* Numbers the grown job `grown` and all below it in preorder; returns the next free number. */
static guint32
number_jobs (Tree *tree, const Grown *all, guint32 grown, guint32 next)
{
  guint32 self = next++;
  TreeJob *job = &tree->jobs[self];
  guint32 number = 0;

  for (guint32 i = all->first[grown]; i != 0; i = all->next[i])
    {
      tree->jobs[next].parent = self;
      tree->jobs[next].number = number++;
      tree->jobs[next].depth = job->depth + 1;
      next = number_jobs (tree, all, i, next);
    }
  job->n_children = number;
  job->size = next - self;
  return next;
}

/* The last children of the first job become roots, with all that is below them. */
static void
cut_roots (Tree *tree, guint more)
{
  TreeJob *first = &tree->jobs[0];
  guint32 size = 1;

  more = MIN (more, first->n_children);
  first->n_children -= more;
  tree->n_roots = 1 + more;
  for (guint32 child = 1; child < tree->n; child += tree->jobs[child].size)
    {
      TreeJob *job = &tree->jobs[child];

      if (job->number < first->n_children)
        {
          size += job->size;
          continue;
        }
      job->number -= first->n_children - 1;
      job->parent = child;
      tree->roots[job->number] = child;
      for (guint32 i = child; i < child + job->size; i++)
        tree->jobs[i].depth--;
    }
  first->size = size;
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
  for (guint32 i = 0; i < tree->n; i++)
    {
      const TreeJob *parent = &tree->jobs[tree->jobs[i].parent];
      if (!tree_is_root (tree, i))
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

TreeState
tree_begin (const Tree *tree, guint32 job)
{
  return (TreeState){ .hash = tree->jobs[job].input + 1 };
}

void
tree_add (const Tree *tree, guint32 job, guint32 k, guint64 result, TreeState *state)
{
  if (!tree_wants (tree, job, k))
    return;
  state->hash = rng_mix (state->hash * 31 + result);
  state->fold = rng_mix (state->fold + result);
}

int
tree_phase_at (const Tree *tree, guint32 job, guint32 children)
{
  for (guint32 i = 0; i < tree->jobs[job].n_phases; i++)
    if (tree->jobs[job].ends[i] == children)
      return (int)i;
  return -1;
}

GBytes *
tree_kept (const Tree *tree, guint32 job, guint32 children)
{
  TreeState state = tree_begin (tree, job);

  for (guint32 k = 0; k < children; k++)
    tree_add (tree, job, k, tree->jobs[tree_child (tree, job, k)].result, &state);
  guint64 all[] = { GUINT64_TO_LE (state.hash), GUINT64_TO_LE (state.fold),
                    GUINT64_TO_LE ((guint64)children) };
  return g_bytes_new (all, sizeof all);
}

Digest
tree_kept_digest (const Tree *tree, guint32 job)
{
  return tree->jobs[job].kept_digest;
}

guint64
tree_input (const Tree *tree, guint32 child, guint32 phase, guint64 fold)
{
  const TreeJob *job = &tree->jobs[child];
  guint64 input = tree->jobs[job->parent].input;

  return rng_mix ((phase == 0 ? input : rng_mix (input ^ fold)) ^ hash_text (job->path));
}

/* The oracle: arguments on the way down, results on the way up. */
static void
solve (Tree *tree, guint32 number, guint64 input, gboolean big_values)
{
  TreeJob *job = &tree->jobs[number];
  TreeState state;
  guint64 fold = 0; /* at the end of the last phase */
  guint32 phase = 0;

  job->input = input;
  job->args = value_bytes (job->input, sizeof job->input);
  memcpy (job->digest.bytes, &job->input, sizeof job->input);
  memcpy (job->digest.bytes + 8, &job->input, sizeof job->input);
  job->kept_digest = job->digest;
  job->kept_digest.bytes[0] ^= 0xff;
  state = tree_begin (tree, number);
  for (guint32 k = 0; k < job->n_children; k++)
    {
      guint32 child = tree_child (tree, number, k);

      if (k == job->ends[phase])
        {
          phase++;
          fold = state.fold;
        }
      tree->jobs[child].weight = job->weight / job->n_children;
      solve (tree, child, tree_input (tree, child, phase, fold), big_values);
      tree_add (tree, number, k, tree->jobs[child].result, &state);
    }
  job->result = state.hash;
  job->value = value_bytes (job->result, big_values && job->result % 8 == 0 ? BIG_VALUE_BYTES
                                                                            : sizeof job->result);
}

gboolean
tree_keeps_gift (const Tree *tree, guint32 job, guint32 k)
{
  return tree_wants (tree, job, k) && tree->jobs[tree_child (tree, job, k)].gives;
}

static GBytes *
draw_blob (Rng *rng)
{
  gsize size = (gsize)rng_between (rng, 8, 100);

  return value_bytes (rng_next (rng), size);
}

/* Of which bytes the arguments of child k may speak: one of those that its parent has then. */
static int
draw_speaks (const Tree *tree, guint32 job, guint32 k, Rng *rng)
{
  const TreeJob *parent = &tree->jobs[job];
  int speaks = parent->speaks;
  guint32 begin = 0;

  for (guint32 i = 0; i < parent->n_phases && parent->ends[i] <= k; i++)
    begin = parent->ends[i];
  if (parent->shares && (speaks < 0 || rng_chance (rng, 60)))
    speaks = (int)TREE_OWN (job);
  for (guint32 i = 0; i < begin; i++)
    if (tree_keeps_gift (tree, job, i) && rng_chance (rng, 50))
      speaks = (int)TREE_GIFT (tree_child (tree, job, i));
  return speaks;
}

/* With chance of its own, so that the rest of the tree is the same without. */
static void
draw_shares (Tree *tree, const TreeShape *shape)
{
  Rng rng = { rng_mix (shape->seed + 4711) };

  for (guint32 i = 0; i < tree->n; i++)
    {
      TreeJob *job = &tree->jobs[i];
      job->speaks = -1;
      job->shares = rng_chance (&rng, shape->shares) && job->n_children > 0;
      job->gives = !tree_is_root (tree, i) && rng_chance (&rng, shape->shares / 2);
      tree->blobs[TREE_OWN (i)] = job->shares ? draw_blob (&rng) : NULL;
      tree->blobs[TREE_GIFT (i)] = job->gives ? draw_blob (&rng) : NULL;
      tree->speaks = tree->speaks || job->shares || job->gives;
    }
  for (guint32 i = 0; i < tree->n; i++)
    for (guint32 k = 0; k < tree->jobs[i].n_children; k++)
      {
        TreeJob *child = &tree->jobs[tree_child (tree, i, k)];
        child->speaks = draw_speaks (tree, i, k, &rng);
        child->reads = child->speaks >= 0 && rng_chance (&rng, 70);
      }
}

/* Each phase has a child at least. */
static void
draw_phases (TreeJob *job, const TreeShape *shape, Rng *rng)
{
  guint32 n = job->n_children;

  job->n_phases = n == 0 ? 0 : 1;
  if (shape->balanced && shape->phased)
    job->n_phases = n;
  else if (n >= 2 && !shape->balanced && rng_chance (rng, 40))
    job->n_phases = (guint32)rng_between (rng, 2, MIN (n, TREE_PHASES_MAX));
  for (guint32 i = 0, end = 0; i < job->n_phases; i++)
    {
      guint32 later = job->n_phases - i - 1;
      end = later == 0 ? n : (guint32)rng_between (rng, end + 1, n - later);
      job->ends[i] = end;
    }
  job->keeps = n > 0 && (shape->phased || (shape->keeps > 0 && rng_chance (rng, shape->keeps)));
}

static void
fill_job (Tree *tree, guint32 number, const TreeShape *shape, Rng *rng)
{
  TreeJob *job = &tree->jobs[number];

  job->path = tree_is_root (tree, number)
                  ? path_of_root (job->number)
                  : path_child (tree->stems, tree->jobs[job->parent].path, job->number);
  g_hash_table_insert (tree->by_path, job->path, GUINT_TO_POINTER (number));
  draw_phases (job, shape, rng);
  job->wanted = G_MAXUINT32;
  if (shape->aborts > 0 && rng_chance (rng, shape->aborts))
    job->wanted = (guint32)rng_next (rng);
  for (guint32 phase = 0; phase <= job->n_phases; phase++)
    {
      guint32 max = job->n_phases == 0 ? shape->cost_max_us : shape->cost_max_us / 8 + 1;
      job->cost_us[phase] = (guint32)rng_between (rng, 1, max);
      if (shape->even)
        job->cost_us[phase] = job->n_phases == 0 ? shape->cost_max_us : 1;
      tree->work_us += job->cost_us[phase];
      tree->longest_us = MAX (tree->longest_us, job->cost_us[phase]);
    }
  tree->depth = MAX (tree->depth, job->depth);
}

guint
tree_draw_roots (guint64 seed)
{
  guint64 drawn = rng_mix (seed + 1969);

  return drawn % ROOTS_RARITY == 0 ? 1 + (guint)(drawn / ROOTS_RARITY % TREE_CHILDREN_MAX) : 0;
}

Tree *
tree_new (const TreeShape *shape)
{
  g_autofree guint32 *parents = g_new0 (guint32, shape->n);
  Rng rng = { shape->seed };
  Tree *tree = g_new0 (Tree, 1);
  Grown all;

  g_assert (shape->n >= 1 && shape->n <= TREE_JOBS_MAX);
  tree->n = shape->n;
  tree->jobs = g_new0 (TreeJob, tree->n);
  tree->children = g_new0 (guint32, tree->n);
  tree->by_path = g_hash_table_new (g_str_hash, g_str_equal);
  tree->stems = stems_new ();
  grow (shape, &rng, parents);
  list_grown (parents, tree->n, &all);
  number_jobs (tree, &all, 0, 0);
  cut_roots (tree, shape->roots);
  g_free (all.first);
  g_free (all.next);
  list_children (tree);
  for (guint32 i = 0; i < tree->n; i++)
    fill_job (tree, i, shape, &rng);
  tree->blobs = g_new0 (GBytes *, 2 * tree->n);
  tree->blob_digests = g_new0 (Digest, 2 * tree->n);
  draw_shares (tree, shape);
  for (guint i = 0; i < 2 * tree->n; i++)
    if (tree->blobs[i] != NULL)
      tree->blob_digests[i] = digest_of_data (g_bytes_get_data (tree->blobs[i], NULL),
                                              g_bytes_get_size (tree->blobs[i]));
  guint64 before = rng_next (&rng);
  for (guint i = 0; i < tree->n_roots; i++)
    {
      TreeJob *root = &tree->jobs[tree->roots[i]];
      root->weight = 1;
      solve (tree, tree->roots[i], rng_mix (before ^ hash_text (root->path)), shape->big_values);
      before = root->result;
    }
  return tree;
}

GBytes *
tree_answer (const Tree *tree)
{
  return tree->jobs[tree->roots[tree->n_roots - 1]].value;
}

void
tree_free (Tree *tree)
{
  for (guint i = 0; i < tree->n; i++)
    {
      g_free (tree->jobs[i].path);
      g_bytes_unref (tree->jobs[i].args);
      g_bytes_unref (tree->jobs[i].value);
      g_clear_pointer (&tree->blobs[TREE_OWN (i)], g_bytes_unref);
      g_clear_pointer (&tree->blobs[TREE_GIFT (i)], g_bytes_unref);
    }
  g_free (tree->blobs);
  g_free (tree->blob_digests);
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
