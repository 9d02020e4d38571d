/* SPDX-License-Identifier: BSD-3-Clause */
/* See archive.h.
 * Tests: test-leaver, test-rerun, sim. */
#include "../core.h"

#include <string.h>

static ArchiveRow *
first_row (const TrieNode *at)
{
  return trie_data (at);
}

static void
clear_value (Archive *archive, ArchiveRow *row)
{
  g_hash_table_remove (archive->shares, row);
  if (row->size > sizeof row->value.bytes)
    g_bytes_unref (row->value.large);
  row->size = 0;
}

/* Removes all rows of one path. */
static void
clear_rows (Archive *archive, TrieNode *at)
{
  ArchiveRow *first = first_row (at);

  while (first->next != NULL)
    {
      ArchiveRow *row = first->next;
      first->next = row->next;
      clear_value (archive, row);
      g_free (row);
      archive->count--;
    }
  if (first->is_there)
    archive->count--;
  clear_value (archive, first);
  *first = (ArchiveRow){ 0 };
}

/* Removes a node without rows, and then the nodes above it that have neither rows nor children. */
static void
prune (Archive *archive, TrieNode *at)
{
  while (trie_first (archive->trie, at) == NULL && !first_row (at)->is_there
         && at != trie_top (archive->trie))
    at = trie_remove (archive->trie, at);
}

void
archive_init (Node *node)
{
  Archive *archive = &node->archive;

  archive->trie = trie_new (node->config.stems, sizeof (ArchiveRow));
  core_pointers (node, &archive->news, NULL);
  core_array (node, &archive->authors, sizeof (NodeId));
  archive->shares = g_hash_table_new_full (g_direct_hash, g_direct_equal, NULL,
                                           (GDestroyNotify)g_ptr_array_unref);
  core_owns (node, &archive->shares, (GDestroyNotify)g_hash_table_unref);
}

void
archive_done (Node *node)
{
  Archive *archive = &node->archive;
  TrieNode *root = trie_top (archive->trie);

  for (TrieNode *at = root; at != NULL; at = trie_step (archive->trie, root, at, TRUE))
    clear_rows (archive, at);
  trie_free (archive->trie);
}

static ArchiveRow *
find_row (TrieNode *at, const Digest *digest)
{
  for (ArchiveRow *row = at == NULL ? NULL : first_row (at); row != NULL; row = row->next)
    if (row->is_there && digest_equal (&row->digest, digest))
      return row;
  return NULL;
}

ArchiveRow *
archive_find (Node *node, const char *path, const Digest *digest)
{
  return node->archive.count == 0 ? NULL
                                  : find_row (trie_find (node->archive.trie, path, FALSE), digest);
}

static ArchiveRow *
add_row (Archive *archive, TrieNode *at)
{
  ArchiveRow *first = first_row (at), *row = first;

  if (first->is_there)
    {
      row = g_new0 (ArchiveRow, 1);
      row->next = first->next;
      first->next = row;
    }
  row->is_there = TRUE;
  archive->count++;
  return row;
}

static void
set_value (Archive *archive, ArchiveRow *row, GBytes *value, GPtrArray *shares)
{
  gsize size;
  const void *data = g_bytes_get_data (value, &size);

  g_assert (size <= G_MAXUINT32);
  clear_value (archive, row);
#ifdef SATIN_PLANT_SHARED_NOT_KEPT
  shares = NULL;
#endif
  if (shares != NULL)
    g_hash_table_insert (archive->shares, row, g_ptr_array_ref (shares));
  row->size = (guint32)size;
  if (size > sizeof row->value.bytes)
    row->value.large = g_bytes_ref (value);
  else if (size > 0)
    memcpy (row->value.bytes, data, size);
}

static void
tell_engine (Node *node, char *path, const ArchiveRow *row)
{
  NodeEffect *effect = core_emit (node, NODE_EFFECT_KNOWN);

  effect->path = path;
  effect->digest = row->digest;
  effect->node = node->self;
  effect->finished = TRUE;
  effect->count = 1 + row->children;
}

/* `path` (nullable): the path of `at`, if the caller has its text. */
static void
announce (Node *node, const char *path, TrieNode *at, ArchiveRow *row)
{
  if (!core_is_member (node))
    return;
  tell_engine (node, path != NULL ? g_strdup (path) : trie_path (node->archive.trie, at), row);
  g_ptr_array_add (node->archive.news, at);
}

/* Few nodes are authors: at most those that ever were in the run. */
static guint
author_index (Archive *archive, const NodeId *author)
{
  guint i = archive->authors->len;

  while (i > 0 && !node_id_equal (&g_array_index (archive->authors, NodeId, i - 1), author))
    i--;
  if (i > 0)
    return i - 1;
  g_array_append_val (archive->authors, *author);
  return archive->authors->len - 1;
}

static const NodeId *
author_of (const Node *node, const ArchiveRow *row)
{
  return &g_array_index (node->archive.authors, NodeId, row->author);
}

void
archive_put (Node *node, const Row *row)
{
  Archive *archive = &node->archive;
  TrieNode *at = archive->count < KNOWN_PATHS_MAX && !node->config.plan.drops_orphans
                     ? trie_find (archive->trie, row->path, TRUE)
                     : NULL;
  ArchiveRow *own = find_row (at, &row->digest);
  gboolean is_new = own == NULL;
  Holder other;

  if (at == NULL || (own != NULL && own->children >= row->children))
    return;
  if (is_new)
    own = add_row (archive, at);
  g_autoptr (GBytes) value = row->children > 0 ? row_pack_kept (row) : g_bytes_ref (row->value);
  set_value (archive, own, value, row->shares);
  own->digest = row->digest;
  own->work_us = row->work_us;
  own->children = row->children;
  own->author = author_index (archive, &row->node);
  own->is_taken = FALSE;
  if (is_new || known_holder (node, row->path, &row->digest, &other))
    announce (node, row->path, at, own);
}

void
archive_compare (Node *node, const char *path, const Holder *other)
{
  const ArchiveRow *row = other->finished > 0 ? archive_find (node, path, &other->digest) : NULL;

  if (row != NULL && 1 + row->children > other->finished)
    archive_announce_path (node, path);
}

static GBytes *
take_value (const ArchiveRow *row)
{
  return row->size > sizeof row->value.bytes ? g_bytes_ref (row->value.large)
                                             : g_bytes_new (row->value.bytes, row->size);
}

GPtrArray *
archive_shares (Node *node, const ArchiveRow *row)
{
  GPtrArray *shares = g_hash_table_lookup (node->archive.shares, row);

  return shares == NULL ? NULL : g_ptr_array_ref (shares);
}

GBytes *
archive_take (Node *node, const char *path, ArchiveRow *row)
{
  if (!row->is_taken)
    work_taken (node, path, row->children, author_of (node, row), row->work_us);
  row->is_taken = TRUE;
  return take_value (row);
}

static void
announce_rows (Node *node, TrieNode *at)
{
  for (ArchiveRow *row = first_row (at); row != NULL; row = row->next)
    if (row->is_there)
      announce (node, NULL, at, row);
}

void
archive_announce_path (Node *node, const char *path)
{
  TrieNode *at = node->archive.count == 0 ? NULL : trie_find (node->archive.trie, path, FALSE);

  if (at != NULL)
    announce_rows (node, at);
}

void
archive_enter_all (Node *node)
{
  Trie *trie = node->archive.trie;
  TrieNode *root = trie_top (trie);

  node->archive.name = node->self;
  for (TrieNode *at = root; at != NULL && node->archive.count > 0;
       at = trie_step (trie, root, at, TRUE))
    announce_rows (node, at);
}

void
archive_lose_name (Node *node)
{
  node->archive.name = NODE_ID_NONE;
  g_ptr_array_set_size (node->archive.news, 0);
}

/* ---- announcements ---- */

typedef struct
{
  Node *node;
  const NodeId *to; /* NULL: the members that need it */
  GArray *holds;
  GPtrArray *paths; /* owns the paths of the holds */
} Batch;

static void
batch_begin (Batch *batch, Node *node, const NodeId *to)
{
  *batch = (Batch){ node, to, g_array_new (FALSE, FALSE, sizeof (MessageHold)),
                    g_ptr_array_new_with_free_func (g_free) };
}

static void
batch_send (Batch *batch, guint64 answers)
{
  const Message message = { .kind = MESSAGE_HOLD, .holds = batch->holds, .number = answers };

  if ((batch->holds->len > 0 || answers > 0) && batch->to != NULL)
    (void)member_send (batch->node, batch->to, &message);
  else if (batch->holds->len > 0)
    directory_offer (batch->node, batch->holds);
  g_array_set_size (batch->holds, 0);
  g_ptr_array_set_size (batch->paths, 0);
}

static void
batch_add (Batch *batch, const TrieNode *at)
{
  for (const ArchiveRow *row = first_row (at); row != NULL; row = row->next)
    {
      if (!row->is_there)
        continue;
      MessageHold hold
          = { trie_path (batch->node->archive.trie, at), row->digest, 1 + row->children };
      g_ptr_array_add (batch->paths, (gpointer)hold.path);
      g_array_append_val (batch->holds, hold);
      if (batch->holds->len == ORPHANS_BATCH)
        batch_send (batch, 0);
    }
}

static void
batch_end (Batch *batch, guint64 answers)
{
  batch_send (batch, answers);
  g_array_unref (batch->holds);
  g_ptr_array_unref (batch->paths);
}

void
archive_flush (Node *node)
{
  GPtrArray *news = node->archive.news;
  Batch batch;

  if (news->len == 0)
    return;
  batch_begin (&batch, node, NULL);
  for (guint i = 0; i < news->len && core_is_member (node); i++)
    batch_add (&batch, news->pdata[i]);
  batch_end (&batch, 0);
  g_ptr_array_set_size (news, 0);
}

void
archive_tell (Node *node, const NodeId *to, const char *path, guint64 answers)
{
  Trie *trie = node->archive.trie;
  TrieNode *root = NULL;
  Batch batch;

  if (node->archive.count > 0 && core_is_self (node, &node->archive.name))
    root = path == NULL ? trie_top (trie) : trie_find (trie, path, FALSE);
  batch_begin (&batch, node, to);
  for (TrieNode *at = root; at != NULL; at = trie_step (trie, root, at, TRUE))
    batch_add (&batch, at);
  batch_end (&batch, answers);
}

void
archive_covered (Node *node, const char *path)
{
  Archive *archive = &node->archive;
  TrieNode *top = archive->count == 0 ? NULL : trie_find (archive->trie, path, FALSE);

  for (TrieNode *at = top, *next; at != NULL && archive->count > 0; at = next)
    {
      next = trie_step (archive->trie, top, at, TRUE);
      if (!first_row (at)->is_there)
        continue;
      NodeEffect *effect = core_emit (node, NODE_EFFECT_FORGET);
      effect->path = trie_path (archive->trie, at);
      effect->node = node->self;
      clear_rows (archive, at);
      prune (archive, at);
    }
  if (archive->count == 0) /* the nodes of the news may be freed */
    g_ptr_array_set_size (archive->news, 0);
}

NodeId
archive_author (Node *node, const ArchiveRow *row)
{
  return *author_of (node, row);
}

/* The job and the type of a kept state are not known here, and not needed. */
Row *
archive_row (Node *node, const char *path, const ArchiveRow *own)
{
  g_autoptr (GBytes) value = take_value (own), state = NULL;
  guint32 children = 0;
  Row *row;

  if (own->children > 0)
    state = row_unpack_kept (value, &children);
  row = state != NULL ? row_new_kept (path, children, ARCHIVE_JOB, &own->digest, 0, "ay", state)
                      : row_new (path, ARCHIVE_JOB, &own->digest, 0, own->work_us, value);
  row->shares = archive_shares (node, own);
  row->work_us = own->work_us;
  row->node = *author_of (node, own);
  return row;
}

void
archive_collect (Node *node, GPtrArray *rows)
{
  Trie *trie = node->archive.trie;
  TrieNode *root = trie_top (trie);

  for (TrieNode *at = root; at != NULL && node->archive.count > 0;
       at = trie_step (trie, root, at, TRUE))
    for (const ArchiveRow *row = first_row (at); row != NULL; row = row->next)
      if (row->is_there)
        {
          g_autofree char *path = trie_path (node->archive.trie, at);
          g_ptr_array_add (rows, archive_row (node, path, row));
        }
}

void
archive_check (Node *node)
{
  Trie *trie = node->archive.trie;
  TrieNode *root = trie_top (trie);
  guint count = 0;

  if (trie_size (trie) == 1 && !first_row (root)->is_there && first_row (root)->next == NULL)
    root = NULL; /* the usual case */
  for (TrieNode *at = root; at != NULL; at = trie_step (trie, root, at, TRUE))
    for (const ArchiveRow *row = first_row (at); row != NULL; row = row->next)
      {
        g_assert (row->is_there || row->next == NULL);
        g_assert (row->is_there || at == root || trie_first (trie, at) != NULL);
        count += row->is_there;
      }
  g_assert (count == node->archive.count);
  g_assert (!core_is_member (node) || core_is_self (node, &node->archive.name));
}
