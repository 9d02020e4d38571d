/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes lie in slabs and refer to each other by index. One hash table of indexes contains the
 * children of all nodes, so a job with a million children is as cheap as any. Siblings with
 * adjacent numbers mostly have adjacent buckets, since paths are inserted and looked up in order. A
 * trie may be as deep as the tree of jobs. So nothing here recurses or walks to the root where this
 * can be avoided: a path that continues a stem starts at the stem's node, and levels that it shares
 * with the previous path are not walked again. */
#include "config.h"

#include "trie.h"

#include <string.h>

#define SLAB_NODES 1024u
#define SLAB_FIRST 32u /* the first slabs are smaller, for programs with few jobs */
#define BUCKETS_MIN 64u
#define RUN 8u /* siblings with adjacent buckets */

struct TrieNode
{
  guint32 self, parent, first, next; /* indexes of the parent, the first child and the next sibling;
                                      * 0: none */
  guint32 number;
  guint32 before : 31; /* the previous sibling */
  guint32 is_stem : 1; /* paths that continue this node as a stem are known */
};

#define NODES_MAX (G_GUINT64_CONSTANT (1) << 31)

G_STATIC_ASSERT (sizeof (TrieNode) % sizeof (guint64) == 0);

/* The hash beside the index tells most other nodes apart without access to them. It is also needed
 * when the table grows. */
typedef struct
{
  guint32 index; /* 0: free bucket */
  guint32 hash;
} TrieBucket;

/* The last path that was walked, from `top`. The next path starts where it leaves this one. */
typedef struct
{
  guint32 top, n;
  guint32 numbers[1 + PATH_STEM_LEVELS], nodes[1 + PATH_STEM_LEVELS];
} TrieTrail;

struct Trie
{
  Stems *stems;
  gsize node_size;
  GPtrArray *slabs;
  guint32 n;                  /* nodes, including the unused one with index 0 and removed nodes */
  guint32 n_removed, removed; /* number of removed nodes; the last of them, linked by `next` */
  TrieBucket *buckets;
  guint32 n_buckets; /* a power of two */
  TrieTrail trail;
  guint32 lately[2];   /* where two readers last found a child: the next is often its neighbour */
  GHashTable *at_stem; /* id -> index */
  GHashTable *stem_of; /* index -> id */
};

/* The slab in which a node lies. The first slab has SLAB_FIRST nodes, each following one as many as
 * all before it, until that is SLAB_NODES; later slabs have SLAB_NODES. `first` (out): index of the
 * slab's first node. */
static inline guint
slab_of (guint32 index, guint32 *first)
{
  if (index >= SLAB_NODES)
    {
      *first = index / SLAB_NODES * SLAB_NODES;
      return index / SLAB_NODES + g_bit_storage (SLAB_NODES / SLAB_FIRST) - 1;
    }
  guint slab = index < SLAB_FIRST ? 0 : g_bit_storage (index / SLAB_FIRST);
  *first = slab == 0 ? 0 : SLAB_FIRST << (slab - 1);
  return slab;
}

/* The number of nodes in the slab whose first node has index `first`. */
static guint32
slab_nodes (guint32 first)
{
  return CLAMP (first, SLAB_FIRST, SLAB_NODES);
}

static TrieNode *
place_of (const Trie *trie, guint32 index)
{
  guint32 first;
  char *slab = trie->slabs->pdata[slab_of (index, &first)];

  return (TrieNode *)(void *)(slab + (index - first) * trie->node_size);
}

static TrieNode *
at (const Trie *trie, guint32 index)
{
  return index == 0 ? NULL : place_of (trie, index);
}

static TrieNode *
add (Trie *trie)
{
  guint32 first, index = trie->removed;
  TrieNode *node;

  if (index != 0)
    {
      node = place_of (trie, index);
      trie->removed = node->next;
      trie->n_removed--;
      memset (node, 0, trie->node_size);
    }
  else
    {
      if (slab_of (trie->n, &first) == trie->slabs->len)
        g_ptr_array_add (trie->slabs, g_malloc0_n (slab_nodes (first), trie->node_size));
      index = trie->n++;
      node = place_of (trie, index);
    }
  node->self = index;
  return node;
}

Trie *
trie_new (Stems *stems, gsize data_size)
{
  Trie *trie = g_new0 (Trie, 1);

  trie->stems = stems;
  trie->node_size = sizeof (TrieNode)
                    + (data_size + sizeof (guint64) - 1) / sizeof (guint64) * sizeof (guint64);
  trie->slabs = g_ptr_array_new_with_free_func (g_free);
  trie->n_buckets = BUCKETS_MIN;
  trie->buckets = g_new0 (TrieBucket, trie->n_buckets);
  trie->at_stem = g_hash_table_new (g_str_hash, g_str_equal);
  trie->stem_of = g_hash_table_new (g_direct_hash, g_direct_equal);
  (void)add (trie); /* the node with index 0, which means none */
  (void)add (trie);
  return trie;
}

void
trie_free (Trie *trie)
{
  if (trie == NULL)
    return;
  g_ptr_array_unref (trie->slabs);
  g_hash_table_unref (trie->at_stem);
  g_hash_table_unref (trie->stem_of);
  g_free (trie->buckets);
  g_free (trie);
}

guint
trie_size (const Trie *trie)
{
  return trie->n - trie->n_removed - 1;
}

TrieNode *
trie_top (Trie *trie)
{
  return at (trie, 1);
}

static guint32
hash_of (guint32 parent, guint32 number)
{
  guint64 mixed = ((guint64)parent << 32 | number / RUN) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  return (guint32)(mixed >> 32) / RUN * RUN + number % RUN;
}

/* The bucket that contains this child, or the free bucket for it. */
static TrieBucket *
bucket_of (const Trie *trie, guint32 parent, guint32 number, guint32 hash)
{
  guint32 place = hash & (trie->n_buckets - 1);

  for (;; place = (place + 1) & (trie->n_buckets - 1))
    {
      TrieBucket *bucket = &trie->buckets[place];
      if (bucket->index == 0)
        return bucket;
      if (bucket->hash != hash)
        continue;
      const TrieNode *node = at (trie, bucket->index);
      if (node->parent == parent && node->number == number)
        return bucket;
    }
}

static void
grow (Trie *trie)
{
  guint32 n = trie->n_buckets * 2;
  TrieBucket *buckets = g_new0 (TrieBucket, n);

  for (guint32 i = 0; i < trie->n_buckets; i++)
    {
      guint32 place = trie->buckets[i].hash & (n - 1);
      if (trie->buckets[i].index == 0)
        continue;
      while (buckets[place].index != 0)
        place = (place + 1) & (n - 1);
      buckets[place] = trie->buckets[i];
    }
  g_free (trie->buckets);
  trie->buckets = buckets;
  trie->n_buckets = n;
}

static gboolean
is_child (const Trie *trie, guint32 index, guint32 parent, guint32 number)
{
  const TrieNode *node = index < trie->n ? at (trie, index) : NULL;

  return node != NULL && node->parent == parent && node->number == number;
}

TrieNode *
trie_child (Trie *trie, const TrieNode *node, guint32 number)
{
  guint32 found = 0, *reader = trie->lately;

  if (node->first == 0)
    return NULL;
  for (; found == 0 && reader < trie->lately + G_N_ELEMENTS (trie->lately); reader++)
    if (is_child (trie, *reader + 1, node->self, number))
      found = *reader + 1;
    else if (is_child (trie, *reader - 1, node->self, number))
      found = *reader - 1;
  if (found != 0)
    {
      reader[-1] = found;
      return at (trie, found);
    }
  found = bucket_of (trie, node->self, number, hash_of (node->self, number))->index;
  trie->lately[0] = trie->lately[1];
  trie->lately[1] = found;
  return at (trie, found);
}

static TrieNode *
make_child (Trie *trie, TrieNode *parent, guint32 number)
{
  guint32 hash = hash_of (parent->self, number);

  g_assert (trie->n < NODES_MAX);
  if (trie_size (trie) >= trie->n_buckets / 4 * 3)
    grow (trie);
  TrieBucket *bucket = bucket_of (trie, parent->self, number, hash);
  if (bucket->index != 0)
    return at (trie, bucket->index);
  TrieNode *child = add (trie);
  child->parent = parent->self;
  child->number = number;
  child->next = parent->first;
  if (child->next != 0)
    at (trie, child->next)->before = child->self;
  parent->first = child->self;
  *bucket = (TrieBucket){ child->self, hash };
  return child;
}

/* Empties a bucket. Buckets behind it move up, unless they would then stand before their own
 * place. */
static void
empty_bucket (Trie *trie, TrieBucket *bucket)
{
  guint32 mask = trie->n_buckets - 1, hole = (guint32)(bucket - trie->buckets);

  for (guint32 place = (hole + 1) & mask; trie->buckets[place].index != 0;
       place = (place + 1) & mask)
    {
      guint32 wanted = trie->buckets[place].hash & mask;
      if (((place - wanted) & mask) < ((place - hole) & mask))
        continue;
      trie->buckets[hole] = trie->buckets[place];
      hole = place;
    }
  trie->buckets[hole] = (TrieBucket){ 0 };
}

/* A node without children can only be the last one of the trail. */
static void
leave_trail (TrieTrail *trail, guint32 index)
{
  if (trail->n > 0 && trail->nodes[trail->n - 1] == index)
    trail->n--;
  if (trail->top == index)
    trail->top = 0;
}

/* Only the top is left: frees all memory but the initial. */
static void
start_again (Trie *trie)
{
  guint32 first;

  g_ptr_array_set_size (trie->slabs, 1);
  (void)slab_of (2, &first);
  memset (place_of (trie, 2), 0, (slab_nodes (first) - 2) * trie->node_size);
  g_free (trie->buckets);
  trie->n_buckets = BUCKETS_MIN;
  trie->buckets = g_new0 (TrieBucket, trie->n_buckets);
  trie->n = 2;
  trie->n_removed = trie->removed = 0;
}

TrieNode *
trie_remove (Trie *trie, TrieNode *node)
{
  TrieNode *parent = at (trie, node->parent);

  g_assert (parent != NULL && node->first == 0);
  empty_bucket (trie,
                bucket_of (trie, parent->self, node->number, hash_of (parent->self, node->number)));
  if (node->next != 0)
    at (trie, node->next)->before = node->before;
  if (node->before != 0)
    at (trie, node->before)->next = node->next;
  else
    parent->first = node->next;
  if (node->is_stem)
    {
      gpointer key = GUINT_TO_POINTER (node->self);
      g_hash_table_remove (trie->at_stem, g_hash_table_lookup (trie->stem_of, key));
      g_hash_table_remove (trie->stem_of, key);
    }
  leave_trail (&trie->trail, node->self);
  node->parent = 0; /* it is no node's child any more */
  node->next = trie->removed;
  trie->removed = node->self;
  trie->n_removed++;
  if (trie_size (trie) == 1 && trie->slabs->len > 1)
    start_again (trie);
  return parent;
}

typedef struct
{
  Trie *trie;
  TrieNode *node; /* the present node; NULL: the path leaves the trie */
  gboolean make;
} Descent;

/* The number of levels that the last path had in common with `numbers`, below `top`. */
static guint
shared_levels (const TrieTrail *trail, const TrieNode *top, const guint32 *numbers, guint n)
{
  guint i = 0;

  while (trail->top == top->self && i < MIN (n, trail->n) && numbers[i] == trail->numbers[i])
    i++;
  return i;
}

/* Walks from descent->node along `path`. FALSE: the path is not canonical. */
static gboolean
descend (Descent *descent, const char *path)
{
  Trie *trie = descent->trie;
  TrieTrail *trail = &trie->trail;
  guint32 all[1 + PATH_STEM_LEVELS], *numbers = all + 1;
  int n = path_read_last (path, numbers);

  if (n < 0 || descent->node == NULL)
    return n >= 0;
  if (*path != '~')
    {
      *--numbers = path_root (path);
      n++;
    }
  guint level = shared_levels (trail, descent->node, numbers, (guint)n);
  trail->top = descent->node->self;
  if (level > 0)
    descent->node = at (trie, trail->nodes[level - 1]);
  for (; level < (guint)n && descent->node != NULL; level++)
    {
      descent->node = descent->make ? make_child (trie, descent->node, numbers[level])
                                    : trie_child (trie, descent->node, numbers[level]);
      if (descent->node == NULL)
        break;
      trail->numbers[level] = numbers[level];
      trail->nodes[level] = descent->node->self;
    }
  trail->n = level;
  return TRUE;
}

static gboolean
has_node (const char *id, void *data)
{
  Descent *descent = data;
  guint32 index = GPOINTER_TO_UINT (g_hash_table_lookup (descent->trie->at_stem, id));

  if (index == 0)
    return FALSE;
  descent->node = at (descent->trie, index);
  return TRUE;
}

/* Walks to a stem that has no entry yet. */
static void
descend_to_stem (const char *id, const char *stem, void *data)
{
  Descent *descent = data;
  Trie *trie = descent->trie;

  (void)descend (descent, stem);
  if (!descent->make || descent->node == NULL)
    return;
  descent->node->is_stem = TRUE;
  g_hash_table_insert (trie->at_stem, (gpointer)id, GUINT_TO_POINTER (descent->node->self));
  g_hash_table_insert (trie->stem_of, GUINT_TO_POINTER (descent->node->self), (gpointer)id);
}

TrieNode *
trie_find (Trie *trie, const char *path, gboolean make)
{
  Descent descent = { trie, trie_top (trie), make };

  if (!path_each_stem (trie->stems, path, has_node, descend_to_stem, &descent)
      || !descend (&descent, path))
    return NULL;
  return descent.node;
}

TrieNode *
trie_parent (Trie *trie, const TrieNode *node)
{
  return at (trie, node->parent);
}

TrieNode *
trie_first (Trie *trie, const TrieNode *node)
{
  return at (trie, node->first);
}

TrieNode *
trie_next (Trie *trie, const TrieNode *node)
{
  return at (trie, node->next);
}

TrieNode *
trie_step (Trie *trie, const TrieNode *top, const TrieNode *node, gboolean into)
{
  if (into && node->first != 0)
    return at (trie, node->first);
  while (node != top && node->next == 0)
    node = at (trie, node->parent);
  return node == top ? NULL : at (trie, node->next);
}

guint32
trie_number (const TrieNode *node)
{
  return node->number;
}

char *
trie_path (Trie *trie, const TrieNode *node)
{
  guint32 all[1 + PATH_STEM_LEVELS], *numbers = all + G_N_ELEMENTS (all);
  gsize n = 0;
  g_autofree char *start = NULL;

  while (node->parent != 0 && (n == 0 || !node->is_stem))
    {
      g_assert (n < G_N_ELEMENTS (all));
      *--numbers = node->number;
      n++;
      node = at (trie, node->parent);
    }
  g_assert (n > 0);
  if (node->parent == 0)
    {
      start = path_of_root (*numbers);
      return path_write (start, numbers + 1, n - 1);
    }
  start
      = g_strconcat ("~", g_hash_table_lookup (trie->stem_of, GUINT_TO_POINTER (node->self)), NULL);
  return path_write (start, numbers, n);
}

void *
trie_data (const TrieNode *node)
{
  return (void *)(node + 1);
}
