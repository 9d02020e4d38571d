/* SPDX-License-Identifier: BSD-3-Clause */
/* A node's name: the number of the term in which it joined, a number, and 32 random bits; ordered
 * so. The eldest is the least. Shown as "2.7"; written in full, as "2.7.0a1b2c3d", where it must be
 * unique. Also sets of them. */
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

/* These are inline: rosters and links are searched at every step. */
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

/* Both write into `text` and return it. */
const char *node_id_show (const NodeId *id, char text[NODE_ID_TEXT_MAX]);
const char *node_id_write (const NodeId *id, char text[NODE_ID_TEXT_MAX]);
/* Reads what node_id_write wrote. FALSE: anything else. */
gboolean node_id_read (const char *text, NodeId *id);

/* Sets of nodes, in the order in which they came: arrays of NodeId, owned by the caller. */
gboolean node_id_set_has (const GArray *set, const NodeId *id);
void node_id_set_add (GArray *set, const NodeId *id);
/* FALSE: it is not in there. */
gboolean node_id_set_remove (GArray *set, const NodeId *id);
