/* SPDX-License-Identifier: BSD-3-Clause */
/* A node's name: the term in which it joined, a number, and 32 random bits, compared in this order.
 * The eldest node has the least. Shown as "2.7"; in full, where it must be unique, as
 * "2.7.0a1b2c3d". Also sets of node ids. */
#pragma once

#include <glib.h>

typedef struct
{
  guint32 term;
  guint32 number;
  guint32 random;
} NodeId;

#define NODE_ID_NONE ((NodeId){ 0, 0, 0 })
#define NODE_ID_TEXT_MAX 32

/* Inline, since every step searches rosters and links. */
static inline int
node_id_compare (const NodeId *a, const NodeId *b)
{
  if (a->term != b->term)
    return a->term < b->term ? -1 : 1;
  if (a->number != b->number)
    return a->number < b->number ? -1 : 1;
  if (a->random != b->random)
    return a->random < b->random ? -1 : 1;
  return 0;
}

static inline gboolean
node_id_equal (const NodeId *a, const NodeId *b)
{
  return a->number == b->number && a->random == b->random && a->term == b->term;
}

static inline gboolean
node_id_is_none (const NodeId *id)
{
  return node_id_equal (id, &NODE_ID_NONE);
}

/* The short and the full form. Both write into `text` and return it. */
const char *node_id_show (const NodeId *id, char text[NODE_ID_TEXT_MAX]);
const char *node_id_write (const NodeId *id, char text[NODE_ID_TEXT_MAX]);
/* Reads the full form. FALSE: anything else. */
gboolean node_id_read (const char *text, NodeId *id);

/* Sets of node ids in the order of insertion: arrays of NodeId, owned by the caller. */
gboolean node_id_set_has (const GArray *set, const NodeId *id);
void node_id_set_add (GArray *set, const NodeId *id);
/* FALSE: `id` is not in the set. */
gboolean node_id_set_remove (GArray *set, const NodeId *id);
