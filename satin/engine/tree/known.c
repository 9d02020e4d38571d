/* SPDX-License-Identifier: BSD-3-Clause */
/* See known.h. There may be millions of entries. So the first entry of a path lies in its trie
 * node; only the few paths with more entries have a list besides. A node is busy if there is an
 * entry at or below it, and counts its busy children. So an update ends at the first ancestor that
 * was busy before. A node without entries and children is removed unless it is kept. Tests:
 * test-known. */
#include "config.h"

#include "known.h"

#define ENTRIES_MAX 60000u /* of one path; further ones are not entered, which costs only time */
#define KEPT_MAX 16383u    /* a node with this many known_keep at a time is never removed */

typedef struct
{
  NodeId holder;
  Digest digest;
  guint32 finished;
} KnownEntry;

typedef struct
{
  KnownEntry entry;  /* the first */
  guint32 busy;      /* number of entries here and of busy children */
  guint16 n;         /* number of entries here */
  guint16 told : 1;  /* ENGINE_COVERED was raised for it, and no news came since */
  guint16 met : 1;   /* an entry was made here or below, and the node has been busy since */
  guint16 kept : 14; /* calls of known_keep, less known_release */
} KnownData;

struct Known
{
  Trie *trie;
  GHashTable *more; /* KnownNode -> GArray of KnownEntry: all but its first */
  guint count;
};

static KnownData *
data_of (const KnownNode *node)
{
  return trie_data (node);
}

static GArray *
more_of (const Known *known, const KnownNode *node)
{
  return data_of (node)->n > 1 ? g_hash_table_lookup (known->more, node) : NULL;
}

static KnownEntry *
node_entry (const Known *known, const KnownNode *node, guint i)
{
  return i == 0 ? &data_of (node)->entry
                : &g_array_index (more_of (known, node), KnownEntry, i - 1);
}

static void
node_busier (Known *known, KnownNode *node)
{
  for (; node != NULL && data_of (node)->busy++ == 0; node = trie_parent (known->trie, node))
    ;
}

static void
node_idler (Known *known, KnownNode *node)
{
  for (; node != NULL && --data_of (node)->busy == 0; node = trie_parent (known->trie, node))
    data_of (node)->met = FALSE; /* the next entry is news for the ancestors, too */
}

/* Removes the node and then its ancestors, as far as nothing needs them. */
static void
prune (Known *known, KnownNode *node)
{
  while (trie_first (known->trie, node) == NULL && data_of (node)->n == 0
         && data_of (node)->kept == 0 && node != trie_top (known->trie))
    node = trie_remove (known->trie, node);
}

KnownNode *
known_keep (KnownNode *node)
{
  if (node != NULL && data_of (node)->kept < KEPT_MAX)
    data_of (node)->kept++;
  return node;
}

void
known_release (Known *known, KnownNode *node)
{
  if (node == NULL || data_of (node)->kept == KEPT_MAX)
    return;
  data_of (node)->kept--;
  prune (known, node);
}

/* (nullable): the entry of this holder with this digest. */
static KnownEntry *
node_find (const Known *known, const KnownNode *node, const NodeId *holder, const Digest *digest)
{
  for (guint i = 0; i < data_of (node)->n; i++)
    {
      KnownEntry *entry = node_entry (known, node, i);

      if (node_id_equal (&entry->holder, holder) && digest_equal (&entry->digest, digest))
        return entry;
    }
  return NULL;
}

static void
node_add (Known *known, KnownNode *node, const KnownEntry *entry)
{
  KnownData *data = data_of (node);

  if (data->n == 0)
    data->entry = *entry;
  else
    {
      GArray *more = more_of (known, node);

      if (more == NULL)
        {
          more = g_array_new (FALSE, FALSE, sizeof (KnownEntry));
          g_hash_table_insert (known->more, node, more);
        }
      g_array_append_val (more, *entry);
    }
  data->n++;
  known->count++;
  node_busier (known, node);
}

/* Removes entry number `i`. The last one takes its place. */
static void
node_remove (Known *known, KnownNode *node, guint i)
{
  KnownData *data = data_of (node);
  GArray *more = more_of (known, node);

  *node_entry (known, node, i) = *node_entry (known, node, data->n - 1u);
  if (more != NULL && more->len > 1)
    g_array_set_size (more, more->len - 1);
  else if (more != NULL)
    g_hash_table_remove (known->more, node);
  data->n--;
  known->count--;
  node_idler (known, node);
}

static void
node_drop (Known *known, KnownNode *node, const NodeId *holder)
{
  for (guint i = data_of (node)->n; i-- > 0;)
    if (node_id_equal (&node_entry (known, node, i)->holder, holder))
      node_remove (known, node, i);
  prune (known, node);
}

Known *
known_new (Stems *stems)
{
  Known *known = g_new0 (Known, 1);

  known->trie = trie_new (stems, sizeof (KnownData));
  known->more
      = g_hash_table_new_full (g_direct_hash, g_direct_equal, NULL, (GDestroyNotify)g_array_unref);
  return known;
}

void
known_free (Known *known)
{
  g_hash_table_unref (known->more);
  trie_free (known->trie);
  g_free (known);
}

gboolean
known_insert (Known *known, const char *path, const Digest *digest, const NodeId *holder,
              guint32 finished)
{
  KnownNode *node = trie_find (known->trie, path, TRUE);
  KnownEntry entry = { *holder, *digest, finished }, *present;

  if (node == NULL)
    return FALSE;
  /* An entry below a node that was told is news for that node, too. */
  for (KnownNode *told = node; told != NULL && (data_of (told)->told || !data_of (told)->met);
       told = trie_parent (known->trie, told))
    {
      data_of (told)->told = FALSE;
      data_of (told)->met = TRUE;
    }
  present = node_find (known, node, holder, digest);
  if (present != NULL)
    *present = entry;
  else if (data_of (node)->n < ENTRIES_MAX)
    node_add (known, node, &entry);
  return TRUE;
}

void
known_forget (Known *known, const char *path, const NodeId *holder)
{
  KnownNode *root = trie_top (known->trie), *node;

  if (path != NULL)
    {
      node = trie_find (known->trie, path, FALSE);
      if (node != NULL)
        node_drop (known, node, holder);
      return;
    }
  for (node = root; node != NULL;)
    {
      KnownNode *next = trie_step (known->trie, root, node, data_of (node)->busy > 0);

      node_drop (known, node, holder);
      node = next;
    }
}

guint
known_count (const Known *known)
{
  return known->count;
}

guint
known_size (const Known *known)
{
  return trie_size (known->trie);
}

static KnownNode *
if_busy (KnownNode *node)
{
  return node != NULL && data_of (node)->busy > 0 ? node : NULL;
}

KnownNode *
known_lookup (Known *known, const char *path)
{
  return if_busy (trie_find (known->trie, path, FALSE));
}

KnownNode *
known_child (Known *known, KnownNode *node, guint32 number)
{
  return node == NULL ? NULL : if_busy (trie_child (known->trie, node, number));
}

char *
known_path (Known *known, const KnownNode *node)
{
  return trie_path (known->trie, node);
}

gboolean
known_is_held (const KnownNode *node)
{
  return node != NULL && data_of (node)->n > 0;
}

gboolean
known_has_below (const KnownNode *node)
{
  return node != NULL && data_of (node)->busy > data_of (node)->n;
}

gboolean
known_best (Known *known, const KnownNode *node, const Digest *digest, NodeId *holder,
            gboolean *finished)
{
  const KnownEntry *best = NULL;

  for (guint i = 0; node != NULL && i < data_of (node)->n; i++)
    {
      const KnownEntry *entry = node_entry (known, node, i);

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
  *finished = best->finished != 0;
  return TRUE;
}

gboolean
known_way (const Known *known, const KnownNode *node, const KnownNode *to, guint32 *number)
{
  const KnownNode *above;

  for (; (above = trie_parent (known->trie, to)) != NULL; to = above)
    if (above == node)
      {
        *number = trie_number (to);
        return TRUE;
      }
  return FALSE;
}

guint
known_count_others (const Known *known, const KnownNode *node, const Digest *digest,
                    const Digest *other)
{
  guint n = 0;

  for (guint i = 0; i < data_of (node)->n; i++)
    {
      const KnownEntry *entry = node_entry (known, node, i);

      n += entry->finished > 0 && !digest_equal (&entry->digest, digest)
           && (other == NULL || !digest_equal (&entry->digest, other));
    }
  return n;
}

guint
known_count_below (Known *known, KnownNode *node)
{
  KnownNode *top = node;
  guint n = 0;

  while (node != NULL)
    {
      for (guint i = 0; i < data_of (node)->n; i++)
        n += node_entry (known, node, i)->finished > 0;
      node = trie_step (known->trie, top, node, data_of (node)->busy > 0);
    }
  return n;
}

void
known_each_child (Known *known, KnownNode *node,
                  void (*each) (KnownNode *child, guint32 number, void *data), void *data)
{
  KnownNode *child = node == NULL ? NULL : trie_first (known->trie, node);

  for (; child != NULL; child = trie_next (known->trie, child))
    if (data_of (child)->busy > 0)
      each (child, trie_number (child), data);
}

gboolean
known_tell (Known *known, KnownNode *node)
{
  gboolean any = FALSE;
  KnownNode *top = node;

  if (if_busy (node) == NULL)
    return FALSE;
  while (node != NULL)
    {
      KnownData *data = data_of (node);
      gboolean into = data->busy > 0 && !data->told;

      if (!data->told)
        any = any || data->n > 0;
      data->told = TRUE;
      node = trie_step (known->trie, top, node, into);
    }
  return any;
}
