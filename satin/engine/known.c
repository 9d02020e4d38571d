/* SPDX-License-Identifier: BSD-3-Clause */
/* The trie of what is held elsewhere; see known.h. It may be as deep as the tree of jobs, so
 * nothing here recurses, nor walks to the root where it can be helped: a path that continues a stem
 * starts at the stem's node, and a node counts only those children that have something, so that
 * counting ends at the first ancestor that had something before. An emptied node stays, because
 * frames may point at it. */
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
  KnownNode *parent, *first, *next; /* the first child, the next sibling */
  guint32 number;
  guint busy;    /* entries here, and children that are busy */
  gboolean told; /* somebody was told that this and all below it is covered, and no news came since
                  */
  GArray *entries;      /* of KnownEntry, NULL: none */
  GHashTable *children; /* number -> KnownNode, NULL: none */
  const char *stem;     /* its id, if paths that continue this node's are known, else NULL */
};

struct Known
{
  Stems *stems;
  KnownNode *root;
  GHashTable *at_stem; /* id -> KnownNode */
  guint count;
};

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
    node->children = g_hash_table_new (g_direct_hash, g_direct_equal);
  child = g_new0 (KnownNode, 1);
  child->parent = node;
  child->told = node->told; /* so that news clears it on the way up */
  child->number = number;
  child->next = node->first;
  node->first = child;
  g_hash_table_insert (node->children, GUINT_TO_POINTER (number), child);
  return child;
}

/* The next one of the nodes at and below `top`, parents first; NULL: `node` was the last. */
static KnownNode *
node_step (KnownNode *top, KnownNode *node, gboolean into)
{
  if (into && node->first != NULL)
    return node->first;
  while (node != top && node->next == NULL)
    node = node->parent;
  return node == top ? NULL : node->next;
}

static void
node_busier (KnownNode *node)
{
  for (; node != NULL && node->busy++ == 0; node = node->parent)
    ;
}

static void
node_idler (KnownNode *node)
{
  for (; node != NULL && --node->busy == 0; node = node->parent)
    ;
}

/* (nullable): what this holder has of this digest. */
static KnownEntry *
node_find (const KnownNode *node, const NodeId *holder, const Digest *digest)
{
  for (guint i = 0; node->entries != NULL && i < node->entries->len; i++)
    {
      KnownEntry *entry = &g_array_index (node->entries, KnownEntry, i);

      if (node_id_equal (&entry->holder, holder) && digest_equal (&entry->digest, digest))
        return entry;
    }
  return NULL;
}

static void
node_drop (Known *known, KnownNode *node, const NodeId *holder)
{
  for (guint i = node->entries == NULL ? 0 : node->entries->len; i-- > 0;)
    if (node_id_equal (&g_array_index (node->entries, KnownEntry, i).holder, holder))
      {
        g_array_remove_index_fast (node->entries, i);
        known->count--;
        node_idler (node);
      }
}

typedef struct
{
  Known *known;
  KnownNode *node; /* where we are; NULL: fell off */
  gboolean make;
} Descent;

static void
descend (Descent *descent, const char *path)
{
  g_autoptr (GArray) numbers = g_array_sized_new (FALSE, FALSE, sizeof (guint32), PATH_STEM_LEVELS);

  path_last_numbers (path, numbers);
  for (guint i = 0; i < numbers->len && descent->node != NULL; i++)
    {
      guint32 number = g_array_index (numbers, guint32, i);

      descent->node = descent->make ? node_make_child (descent->node, number)
                                    : node_child (descent->node, number);
    }
}

static gboolean
has_node (const char *id, void *data)
{
  Descent *descent = data;
  KnownNode *node = g_hash_table_lookup (descent->known->at_stem, id);

  if (node == NULL)
    return FALSE;
  descent->node = node;
  return TRUE;
}

/* A stem that has no node yet. */
static void
descend_to_stem (const char *id, const char *stem, void *data)
{
  Descent *descent = data;

  descend (descent, stem);
  if (!descent->make || descent->node == NULL)
    return;
  descent->node->stem = id;
  g_hash_table_insert (descent->known->at_stem, (gpointer)id, descent->node);
}

/* The node of a path, made if `make`; NULL: none, or the path cannot be read. */
static KnownNode *
find (Known *known, const char *path, gboolean make)
{
  Descent descent = { known, known->root, make };

  if (!path_is_canonical (path)
      || !path_each_stem (known->stems, path, has_node, descend_to_stem, &descent))
    return NULL;
  descend (&descent, path);
  return descent.node;
}

Known *
known_new (Stems *stems)
{
  Known *known = g_new0 (Known, 1);

  known->stems = stems;
  known->root = g_new0 (KnownNode, 1);
  known->at_stem = g_hash_table_new (g_str_hash, g_str_equal);
  return known;
}

void
known_free (Known *known)
{
  KnownNode *node = known->root;

  while (node != NULL)
    {
      KnownNode *parent = node->parent;

      if (node->first != NULL)
        {
          KnownNode *first = node->first;

          node->first = first->next;
          node = first;
          continue;
        }
      g_clear_pointer (&node->entries, g_array_unref);
      g_clear_pointer (&node->children, g_hash_table_unref);
      g_free (node);
      node = parent;
    }
  g_hash_table_unref (known->at_stem);
  g_free (known);
}

gboolean
known_insert (Known *known, const char *path, const Digest *digest, const NodeId *holder,
              gboolean finished)
{
  KnownNode *node = find (known, path, TRUE);
  KnownEntry entry = { *holder, *digest, finished }, *present;

  if (node == NULL)
    return FALSE;
  for (KnownNode *told = node; told != NULL && told->told; told = told->parent)
    told->told = FALSE;
  present = node_find (node, holder, digest);
  if (present != NULL)
    {
      *present = entry;
      return TRUE;
    }
  if (node->entries == NULL)
    node->entries = g_array_new (FALSE, FALSE, sizeof (KnownEntry));
  g_array_append_val (node->entries, entry);
  known->count++;
  node_busier (node);
  return TRUE;
}

void
known_forget (Known *known, const char *path, const NodeId *holder)
{
  KnownNode *node;

  if (path != NULL)
    {
      node = find (known, path, FALSE);
      if (node != NULL)
        node_drop (known, node, holder);
      return;
    }
  for (node = known->root; node != NULL;)
    {
      KnownNode *next = node_step (known->root, node, node->busy > 0);

      node_drop (known, node, holder);
      node = next;
    }
}

guint
known_count (const Known *known)
{
  return known->count;
}

KnownNode *
known_lookup (Known *known, const char *path)
{
  KnownNode *node = find (known, path, FALSE);

  return node != NULL && node->busy > 0 ? node : NULL;
}

KnownNode *
known_child (KnownNode *node, guint32 number)
{
  KnownNode *child = node_child (node, number);

  return child != NULL && child->busy > 0 ? child : NULL;
}

char *
known_path (const KnownNode *node)
{
  guint32 numbers[PATH_STEM_LEVELS];
  gsize n = 0;
  GString *text;

  while (node->parent != NULL && (n == 0 || node->stem == NULL))
    {
      g_assert (n < PATH_STEM_LEVELS);
      numbers[n++] = node->number;
      node = node->parent;
    }
  text = g_string_sized_new (PATH_TEXT_MAX);
  if (n > 0 && node->stem != NULL)
    g_string_printf (text, "~%s", node->stem);
  while (n > 0)
    g_string_append_printf (text, "/%" G_GUINT32_FORMAT, numbers[--n]);
  return g_string_free (text, FALSE);
}

gboolean
known_is_held (const KnownNode *node)
{
  return node != NULL && node->entries != NULL && node->entries->len > 0;
}

gboolean
known_has_below (const KnownNode *node)
{
  return node != NULL && node->busy > (node->entries == NULL ? 0 : node->entries->len);
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
  for (KnownNode *child = node == NULL ? NULL : node->first; child != NULL; child = child->next)
    if (child->busy > 0)
      each (child, child->number, data);
}

gboolean
known_tell (KnownNode *node)
{
  gboolean any = FALSE;
  KnownNode *top = node;

  if (node == NULL || node->busy == 0)
    return FALSE;
  while (node != NULL)
    {
      gboolean into = node->busy > 0 && !node->told;

      if (!node->told)
        any = any || known_is_held (node);
      node->told = TRUE;
      node = node_step (top, node, into);
    }
  return any;
}
