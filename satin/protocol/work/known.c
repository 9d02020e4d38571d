/* SPDX-License-Identifier: BSD-3-Clause */
/* See known.h. */
#include "../core.h"

#include <string.h>

static int
compare_paths (gconstpointer a, gconstpointer b, gpointer data G_GNUC_UNUSED)
{
  return strcmp (a, b);
}

void
known_init (Node *node)
{
  Known *known = &node->known;

  known->by_path = g_tree_new_full (compare_paths, NULL, g_free, (GDestroyNotify)g_array_unref);
  core_owns (node, &known->by_path, (GDestroyNotify)g_tree_unref);
}

/* The holder with this digest among those of node `id`. (nullable) */
static Holder *
find_holder (GArray *holders, const NodeId *id, const Digest *digest)
{
  for (guint i = 0; holders != NULL && i < holders->len; i++)
    {
      Holder *holder = &g_array_index (holders, Holder, i);
      if (node_id_equal (&holder->node, id) && digest_equal (&holder->digest, digest))
        return holder;
    }
  return NULL;
}

static gboolean
is_holder (const GArray *holders, const NodeId *id)
{
  for (guint i = 0; holders != NULL && i < holders->len; i++)
    if (node_id_equal (&g_array_index (holders, Holder, i).node, id))
      return TRUE;
  return FALSE;
}

/* The node holds nothing at this path any more. */
static void
drop_holder (GTree *tree, const char *path, const NodeId *id)
{
  GArray *holders = g_tree_lookup (tree, path);

  for (guint i = holders == NULL ? 0 : holders->len; i-- > 0;)
    if (node_id_equal (&g_array_index (holders, Holder, i).node, id))
      g_array_remove_index (holders, i);
  if (holders != NULL && holders->len == 0)
    g_tree_remove (tree, path);
}

gboolean
known_add (Node *node, const char *path, const Holder *holder)
{
  GTree *tree = node->known.by_path;
  GArray *holders = g_tree_lookup (tree, path);
  Holder *present = find_holder (holders, &holder->node, &holder->digest);

  if (present != NULL && present->finished == holder->finished)
    return FALSE;
  if (holders != NULL && present == NULL && holders->len >= KNOWN_HOLDERS_MAX)
    return FALSE;
  if (holders == NULL && (guint)g_tree_nnodes (tree) >= KNOWN_PATHS_MAX)
    return FALSE;
  if (holders == NULL)
    {
      holders = g_array_new (FALSE, FALSE, sizeof (Holder));
      g_tree_insert (tree, g_strdup (path), holders);
    }
  if (present != NULL)
    *present = *holder;
  else
    g_array_append_val (holders, *holder);
  NodeEffect *effect = core_emit (node, NODE_EFFECT_KNOWN);
  effect->path = g_strdup (path);
  effect->digest = holder->digest;
  effect->node = holder->node;
  effect->finished = holder->finished > 0;
  effect->count = holder->finished;
  return TRUE;
}

static void
forget (Node *node, const char *path, const NodeId *id)
{
  NodeEffect *effect = core_emit (node, NODE_EFFECT_FORGET);

  effect->path = g_strdup (path);
  effect->node = *id;
}

gboolean
known_remove (Node *node, const char *path, const NodeId *id)
{
  if (!is_holder (g_tree_lookup (node->known.by_path, path), id))
    return FALSE;
  forget (node, path, id);
  drop_holder (node->known.by_path, path, id);
  return TRUE;
}

void
known_deny (Node *node, const char *path, const Digest *digest, const NodeId *id)
{
  GArray *holders = g_tree_lookup (node->known.by_path, path);
  g_autoptr (GArray) others = g_array_new (FALSE, FALSE, sizeof (Holder));

  for (guint i = 0; holders != NULL && i < holders->len; i++)
    {
      const Holder *holder = &g_array_index (holders, Holder, i);
      if (node_id_equal (&holder->node, id) && !digest_equal (&holder->digest, digest))
        g_array_append_val (others, *holder);
    }
  forget (node, path, id);
  drop_holder (node->known.by_path, path, id);
  for (guint i = 0; i < others->len; i++)
    (void)known_add (node, path, &g_array_index (others, Holder, i));
}

typedef struct
{
  const NodeId *id;
  GPtrArray *paths;
} HeldBy;

static gboolean
collect_held_by (gpointer key, gpointer value, gpointer data)
{
  HeldBy *held_by = data;

  if (is_holder (value, held_by->id))
    g_ptr_array_add (held_by->paths, key);
  return FALSE;
}

GPtrArray *
known_paths_of (Node *node, const NodeId *id)
{
  HeldBy held_by = { id, g_ptr_array_new () };

  g_tree_foreach (node->known.by_path, collect_held_by, &held_by);
  return held_by.paths;
}

void
known_departed (Node *node, const NodeId *id)
{
  g_autoptr (GPtrArray) paths = known_paths_of (node, id);

  forget (node, NULL, id);
  for (guint i = 0; i < paths->len; i++)
    drop_holder (node->known.by_path, paths->pdata[i], id);
}

/* In the order of bytes, all texts that continue `text` with "/…" follow it without a gap. */
static void
collect_keys (GPtrArray *keys, GTree *tree, const char *text)
{
  gsize length = strlen (text);

  for (GTreeNode *at = g_tree_lower_bound (tree, text); at != NULL; at = g_tree_node_next (at))
    {
      char *key = g_tree_node_key (at);
      if (strncmp (key, text, length) != 0 || (key[length] != '\0' && key[length] != '/'))
        break;
      g_ptr_array_add (keys, key);
    }
}

/* A path below `path` continues its text, or the text of a stem at or below it. Only trees deeper
 * than 64 levels have stems. */
GPtrArray *
known_keys_below (GTree *tree, Stems *stems, const char *path)
{
  GPtrArray *keys = g_ptr_array_new ();
  g_autoptr (GPtrArray) below = path_stems_below (stems, path);

  collect_keys (keys, tree, path);
  for (guint i = 0; i < below->len; i++)
    {
      g_autofree char *text = g_strconcat ("~", below->pdata[i], NULL);
      collect_keys (keys, tree, text);
    }
  return keys;
}

typedef struct
{
  Node *node;
  const NodeId *to;
  GPtrArray *batches; /* of Message, one for each holder */
} Telling;

static Message *
batch_of (Telling *telling, const NodeId *holder)
{
  const NodeId id = node_id_equal (holder, &telling->node->self) ? NODE_ID_NONE : *holder;
  Message *message;

  for (guint i = telling->batches->len; i > 0; i--)
    {
      message = telling->batches->pdata[i - 1];
      if (node_id_equal (&message->id, &id))
        return message;
    }
  message = g_new0 (Message, 1);
  message->kind = MESSAGE_HOLD;
  message->id = id;
  message->holds = g_array_new (FALSE, FALSE, sizeof (MessageHold));
  g_ptr_array_add (telling->batches, message);
  return message;
}

static void
tell_of (Telling *telling, const char *path)
{
  const GArray *holders = g_tree_lookup (telling->node->known.by_path, path);

  for (guint i = 0; i < holders->len; i++)
    {
      const Holder *holder = &g_array_index (holders, Holder, i);
      MessageHold hold = { path, holder->digest, holder->finished };
      if (node_id_equal (&holder->node, telling->to))
        continue;
      Message *message = batch_of (telling, &holder->node);
      g_array_append_val (message->holds, hold);
      if (message->holds->len < ORPHANS_BATCH)
        continue;
      (void)member_send (telling->node, telling->to, message);
      g_array_set_size (message->holds, 0);
    }
}

static gboolean
collect_key (gpointer key, gpointer value G_GNUC_UNUSED, gpointer data)
{
  g_ptr_array_add (data, key);
  return FALSE;
}

static GPtrArray *
all_keys (GTree *tree)
{
  GPtrArray *keys = g_ptr_array_new ();

  g_tree_foreach (tree, collect_key, keys);
  return keys;
}

void
known_tell_below (Node *node, const NodeId *to, const char *path)
{
  g_autoptr (GPtrArray) batches = NULL, keys = NULL;

  if (g_tree_nnodes (node->known.by_path) == 0) /* the case in most runs */
    return;
  batches = g_ptr_array_new_with_free_func (g_free);
  keys = path == NULL ? all_keys (node->known.by_path)
                      : known_keys_below (node->known.by_path, node->config.stems, path);
  Telling telling = { node, to, batches };
  for (guint i = 0; i < keys->len; i++)
    tell_of (&telling, keys->pdata[i]);
  for (guint i = 0; i < batches->len; i++)
    {
      Message *message = batches->pdata[i];
      if (message->holds->len > 0)
        (void)member_send (node, to, message);
      g_array_unref (message->holds);
    }
}

void
known_covered (Node *node, const char *path)
{
  g_autoptr (GPtrArray) keys = known_keys_below (node->known.by_path, node->config.stems, path);

  for (guint i = 0; i < keys->len; i++)
    {
      GArray *holders = g_tree_lookup (node->known.by_path, keys->pdata[i]);
      for (guint j = 0; j < holders->len; j++)
        forget (node, keys->pdata[i], &g_array_index (holders, Holder, j).node);
      g_tree_remove (node->known.by_path, keys->pdata[i]);
    }
}

gboolean
known_holder (Node *node, const char *path, const Digest *digest, Holder *holder)
{
  GArray *holders = g_tree_lookup (node->known.by_path, path);
  const Holder *best = NULL;

  for (guint i = 0; holders != NULL && i < holders->len; i++)
    {
      const Holder *one = &g_array_index (holders, Holder, i);
      if (!digest_equal (&one->digest, digest) || node_id_equal (&one->node, &node->self))
        continue;
      if (best == NULL || one->finished > best->finished
          || (one->finished == best->finished && node_id_compare (&one->node, &best->node) < 0))
        best = one;
    }
  if (best != NULL)
    *holder = *best;
  return best != NULL;
}

static gboolean
check_one (gpointer key G_GNUC_UNUSED, gpointer value, gpointer data)
{
  GArray *holders = value;

  g_assert (holders->len > 0);
  for (guint i = 0; i < holders->len; i++)
    g_assert (roster_find (data, &g_array_index (holders, Holder, i).node) != NULL);
  return FALSE;
}

void
known_check (Node *node)
{
  if (g_tree_nnodes (node->known.by_path) > 0)
    g_tree_foreach (node->known.by_path, check_one, node);
}
