/* SPDX-License-Identifier: BSD-3-Clause */
/* The outputs of a Node, effects and log, what it frees at its end, and its only source of random
 * numbers. Driver's thread.
 * Tests: test-node, sim. */
#include "../core.h"

/* What the pointer at `at` points to when the node is freed. `free` is NULL: the items of the queue
 * at `at`. */
typedef struct
{
  gpointer at;
  GDestroyNotify free, free_item;
} Owned;

static void
own (Node *node, Owned owned)
{
  if (node->owned == NULL)
    node->owned = g_array_new (FALSE, FALSE, sizeof (Owned));
  g_array_append_val (node->owned, owned);
}

void
core_owns (Node *node, gpointer at, GDestroyNotify free)
{
  own (node, (Owned){ at, free, NULL });
}

void
core_pointers (Node *node, GPtrArray **at, GDestroyNotify free)
{
  *at = g_ptr_array_new_with_free_func (free);
  core_owns (node, at, (GDestroyNotify)g_ptr_array_unref);
}

void
core_array (Node *node, GArray **at, gsize size)
{
  *at = g_array_new (FALSE, FALSE, (guint)size);
  core_owns (node, at, (GDestroyNotify)g_array_unref);
}

void
core_queue (Node *node, GQueue *queue, GDestroyNotify free)
{
  g_queue_init (queue);
  own (node, (Owned){ queue, NULL, free });
}

void
core_free_owned (Node *node)
{
  for (guint i = node->owned->len; i > 0; i--)
    {
      const Owned *owned = &g_array_index (node->owned, Owned, i - 1);
      if (owned->free == NULL)
        g_queue_clear_full (owned->at, owned->free_item);
      else if (*(gpointer *)owned->at != NULL)
        owned->free (*(gpointer *)owned->at);
    }
  g_array_unref (node->owned);
}

NodeEffect *
core_emit (Node *node, NodeEffectKind kind)
{
  NodeEffect *effect;

  g_assert (node->effects != NULL);
  g_array_set_size (node->effects, node->effects->len + 1);
  effect = &g_array_index (node->effects, NodeEffect, node->effects->len - 1);
  *effect = (NodeEffect){ .kind = kind };
  return effect;
}

void
core_log (Node *node, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  char *text = g_strdup_vprintf (format, args);
  va_end (args);
  core_emit (node, NODE_EFFECT_LOG)->text = text;
}

/* xorshift64*. The numbers depend only on the seed, so a run can be repeated. */
guint64
core_random (Node *node)
{
  node->random ^= node->random >> 12;
  node->random ^= node->random << 25;
  node->random ^= node->random >> 27;
  return node->random * G_GUINT64_CONSTANT (0x2545f4914f6cdd1d);
}

guint64
core_jitter (Node *node, guint64 us)
{
  return us / 2 + core_random (node) % (us + 1);
}

gboolean
core_is_member (const Node *node)
{
  return !node_id_is_none (&node->self);
}

gboolean
core_is_self (const Node *node, const NodeId *id)
{
  return core_is_member (node) && node_id_equal (id, &node->self);
}

int
core_compare_numbers (gconstpointer a, gconstpointer b, gpointer data G_GNUC_UNUSED)
{
  const guint64 *x = a, *y = b;

  return *x < *y ? -1 : *x > *y;
}

static gboolean
collect_value (gpointer key G_GNUC_UNUSED, gpointer value, gpointer data)
{
  g_ptr_array_add (data, value);
  return FALSE;
}

GPtrArray *
core_values (GTree *tree)
{
  GPtrArray *all = g_ptr_array_new ();

  g_tree_foreach (tree, collect_value, all);
  return all;
}
