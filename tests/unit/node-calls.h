/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests that call the rooms of a node directly, and read the effects instead of carrying them
 * out. */
#pragma once

#include "node-world.h"

#include "satin/protocol/core.h"

/* From now on the effects of node `who` are gathered in the array. (transfer full) */
static inline GArray *
begin_call (World *world, guint who)
{
  GArray *effects = g_array_new (FALSE, FALSE, sizeof (NodeEffect));

  g_array_set_clear_func (effects, (GDestroyNotify)node_effect_clear);
  node_at (world, who)->effects = effects;
  node_at (world, who)->now_us = world->now_us;
  return effects;
}

static inline void
end_call (World *world, guint who)
{
  node_at (world, who)->effects = NULL;
}

static inline NodeId
id_of (World *world, guint who)
{
  return node_self (node_at (world, who));
}

/* What node `at` knows of node `who`. */
static inline Member *
member_at (World *world, guint at, guint who)
{
  NodeId id = id_of (world, who);

  return roster_find (node_at (world, at), &id);
}

/* The link on which `at` sends to `who`. (nullable) */
static inline Link *
link_at (World *world, guint at, guint who)
{
  NodeId id = id_of (world, who);

  return link_to (node_at (world, at), &id);
}
