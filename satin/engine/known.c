/* SPDX-License-Identifier: BSD-3-Clause */
/* The trie of what is held elsewhere; see known.h. A node counts the entries at and below it, so
 * that "nothing below" is one look; an emptied node stays, because frames may point at it. */
#include "config.h"

#include "known.h"

typedef struct
{
  NodeId holder;
  Digest digest;
  gboolean finished;
} KnownEntry;

struct KnownNode
{
  KnownNode *parent;
  guint32 number;
  guint below;          /* entries at this node and below it */
  gboolean told;        /* somebody was told that this is covered, and no news came since */
  GArray *entries;      /* of KnownEntry, NULL: none */
  GHashTable *children; /* number -> KnownNode, NULL: none */
};

struct Known
{
  Stems *stems;
  KnownNode *root;
};

static KnownNode *
node_new (KnownNode *parent, guint32 number)
{
  KnownNode *node = g_new0 (KnownNode, 1);

  node->parent = parent;
  node->number = number;
  return node;
}

static void
node_free (void *data)
{
  KnownNode *node = data;

  g_clear_pointer (&node->entries, g_array_unref);
  g_clear_pointer (&node->children, g_hash_table_unref);
  g_free (node);
}

static KnownNode *
node_child (KnownNode *node, guint32 number)
{
  if (node == NULL || node->children == NULL)
    return NULL;
  return g_hash_table_lookup (node->children, GUINT_TO_POINTER (number));
}

static KnownNode *
node_make_child (KnownNode *node, guint32 number)
{
  KnownNode *child = node_child (node, number);

  if (child != NULL)
    return child;
  if (node->children == NULL)
    node->children = g_hash_table_new_full (g_direct_hash, g_direct_equal, NULL, node_free);
  child = node_new (node, number);
  g_hash_table_insert (node->children, GUINT_TO_POINTER (number), child);
  return child;
}

static void
node_count (KnownNode *node, int change)
{
  for (; node != NULL; node = node->parent)
    node->below += (guint)change;
}

static gint
node_find (const KnownNode *node, const NodeId *holder)
{
  for (guint i = 0; node->entries != NULL && i < node->entries->len; i++)
    if (node_id_equal (&g_array_index (node->entries, KnownEntry, i).holder, holder))
      return (gint)i;
  return -1;
}

static void
node_drop (KnownNode *node, const NodeId *holder)
{
  gint i = node_find (node, holder);

  if (i < 0)
    return;
  g_array_remove_index_fast (node->entries, (guint)i);
  node_count (node, -1);
}

static void
node_drop_all (KnownNode *node, const NodeId *holder)
{
  GHashTableIter iter;
  gpointer child;

  if (node->below == 0)
    return;
  node_drop (node, holder);
  if (node->children == NULL)
    return;
  g_hash_table_iter_init (&iter, node->children);
  while (g_hash_table_iter_next (&iter, NULL, &child))
    node_drop_all (child, holder);
}

/* The node of a path, made if `make`; NULL: none, or the path cannot be read. */
static KnownNode *
find (Known *known, const char *path, gboolean make)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  KnownNode *node = known->root;

  if (!path_to_numbers (known->stems, path, numbers))
    return NULL;
  for (guint i = 0; i < numbers->len && node != NULL; i++)
    {
      guint32 number = g_array_index (numbers, guint32, i);

      node = make ? node_make_child (node, number) : node_child (node, number);
    }
  return node;
}

Known *
known_new (Stems *stems)
{
  Known *known = g_new0 (Known, 1);

  known->stems = stems;
  known->root = node_new (NULL, 0);
  return known;
}

void
known_free (Known *known)
{
  node_free (known->root);
  g_free (known);
}

gboolean
known_insert (Known *known, const char *path, const Digest *digest, const NodeId *holder,
              gboolean finished)
{
  KnownNode *node = find (known, path, TRUE);
  KnownEntry entry = { *holder, *digest, finished };
  gint i;

  if (node == NULL)
    return FALSE;
  node->told = FALSE;
  i = node_find (node, holder);
  if (i >= 0)
    {
      g_array_index (node->entries, KnownEntry, i) = entry;
      return TRUE;
    }
  if (node->entries == NULL)
    node->entries = g_array_new (FALSE, FALSE, sizeof (KnownEntry));
  g_array_append_val (node->entries, entry);
  node_count (node, 1);
  return TRUE;
}

void
known_forget (Known *known, const char *path, const NodeId *holder)
{
  KnownNode *node;

  if (path == NULL)
    {
      node_drop_all (known->root, holder);
      return;
    }
  node = find (known, path, FALSE);
  if (node != NULL)
    node_drop (node, holder);
}

guint
known_count (const Known *known)
{
  return known->root->below;
}

KnownNode *
known_lookup (Known *known, const char *path)
{
  KnownNode *node = find (known, path, FALSE);

  return node != NULL && node->below > 0 ? node : NULL;
}

KnownNode *
known_child (KnownNode *node, guint32 number)
{
  KnownNode *child = node_child (node, number);

  return child != NULL && child->below > 0 ? child : NULL;
}

gboolean
known_has_below (const KnownNode *node)
{
  return node != NULL && node->below > (node->entries == NULL ? 0 : node->entries->len);
}

gboolean
known_is_held (const KnownNode *node)
{
  return node != NULL && node->entries != NULL && node->entries->len > 0;
}

gboolean
known_best (const KnownNode *node, const Digest *digest, NodeId *holder, gboolean *finished)
{
  const KnownEntry *best = NULL;

  if (!known_is_held (node))
    return FALSE;
  for (guint i = 0; i < node->entries->len; i++)
    {
      const KnownEntry *entry = &g_array_index (node->entries, KnownEntry, i);

      if (!digest_equal (&entry->digest, digest))
        continue;
      if (best == NULL || entry->finished > best->finished
          || (entry->finished == best->finished
              && node_id_compare (&entry->holder, &best->holder) < 0))
        best = entry;
    }
  if (best == NULL)
    return FALSE;
  *holder = best->holder;
  *finished = best->finished;
  return TRUE;
}

void
known_each_child (KnownNode *node, void (*each) (KnownNode *child, guint32 number, void *data),
                  void *data)
{
  GHashTableIter iter;
  gpointer value;

  if (node == NULL || node->children == NULL)
    return;
  g_hash_table_iter_init (&iter, node->children);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      KnownNode *child = value;

      if (child->below > 0)
        each (child, child->number, data);
    }
}

gboolean
known_tell (KnownNode *node)
{
  gboolean any = FALSE;
  GHashTableIter iter;
  gpointer child;

  if (node == NULL || node->below == 0)
    return FALSE;
  if (known_is_held (node) && !node->told)
    node->told = any = TRUE;
  if (node->children == NULL)
    return any;
  g_hash_table_iter_init (&iter, node->children);
  while (g_hash_table_iter_next (&iter, NULL, &child))
    any = known_tell (child) || any;
  return any;
}
