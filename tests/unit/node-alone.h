/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps one node of a world (node-world.h) alone: its effects are kept for the test and not carried
 * out. */
#pragma once

#include "node-world.h"

#include "satin/protocol/core.h"

static inline NodeId
id_of (World *world, guint who)
{
  return node_self (node_at (world, who));
}

/* From here to the next event a test may call a part of the node directly. */
static inline Node *
alone (World *world, guint who)
{
  static GArray *aside;

  if (aside == NULL)
    aside = g_array_new (FALSE, FALSE, sizeof (NodeEffect));
  for (guint i = 0; i < aside->len; i++)
    node_effect_clear (&g_array_index (aside, NodeEffect, i));
  g_array_set_size (aside, 0);
  node_at (world, who)->effects = aside;
  return node_at (world, who);
}

/* (transfer full) Of NodeEffect. */
static inline GArray *
step_alone (World *world, guint who, const NodeEvent *event)
{
  GArray *effects = g_array_new (FALSE, FALSE, sizeof (NodeEffect));

  g_array_set_clear_func (effects, (GDestroyNotify)node_effect_clear);
  node_step (world->peer[who].node, world->now_us, event, effects);
  return effects;
}

static inline const Link *
link_of (World *world, guint who, guint other)
{
  NodeId id = node_self (world->peer[other].node);

  return link_to (world->peer[who].node, &id);
}

/* Node `who` receives this message from `from`. (transfer full) Its effects. */
static inline GArray *
hear (World *world, guint who, guint from, const Message *message)
{
  g_autoptr (GPtrArray) parts = message_encode (message);
  g_autoptr (GByteArray) all = g_byte_array_new ();

  for (guint i = 0; i < parts->len; i++)
    g_byte_array_append (all, g_bytes_get_data (parts->pdata[i], NULL),
                         (guint)g_bytes_get_size (parts->pdata[i]));
  g_autoptr (GBytes) bytes = g_bytes_new (all->data, all->len);
  return step_alone (world, who,
                     &(NodeEvent){ .kind = NODE_EVENT_MESSAGE,
                                   .link = link_of (world, who, from)->link,
                                   .bytes = bytes });
}

static inline void
hear_only (World *world, guint who, guint from, const Message *message)
{
  g_array_unref (hear (world, who, from, message));
}

/* The number of messages of this kind that are sent to `to`. */
static inline guint
count_sent (World *world, const GArray *effects, guint who, guint to, MessageKind kind)
{
  guint n = 0;

  for (guint i = 0; i < effects->len; i++)
    {
      const NodeEffect *effect = &g_array_index (effects, NodeEffect, i);
      n += kind_sent (effect) == kind && effect->link == link_of (world, who, to)->link;
    }
  return n;
}

/* The number of answers to STEAL that bring `to` no job. */
static inline guint
count_refusals (World *world, const GArray *effects, guint who, guint to)
{
  guint n = 0;
  guint64 request = 0;

  for (guint i = 0; i < effects->len; i++)
    {
      const NodeEffect *effect = &g_array_index (effects, NodeEffect, i);
      n += jobs_sent (effect, &request) == 0 && request > 0
           && effect->link == link_of (world, who, to)->link;
    }
  return n;
}

static inline guint
count_effects (const GArray *effects, NodeEffectKind kind)
{
  guint n = 0;

  for (guint i = 0; i < effects->len; i++)
    n += g_array_index (effects, NodeEffect, i).kind == kind;
  return n;
}
