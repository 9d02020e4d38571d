/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of a world (node-world.h) that several tests take: scans, publications, links. */
#pragma once

#include "node-world.h"

#include "satin/protocol/core.h"
#include "satin/protocol/work/buddy.h"

#include <string.h>

#define SCAN_US (BUDDY_SCAN_US + 1000) /* after this time a scan is due */

/* n0 is coordinator and has opened its checkpoint. */
static inline World *
world_with_checkpoint (guint n)
{
  World *world = world_new (n, TRUE);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, G_USEC_PER_SEC / 2);
  return world;
}

/* The number of scans requested from the engine of `who`. */
static inline guint
count_scans (World *world, guint who)
{
  guint n = 0;

  for (const char *at = world->peer[who].log->str; (at = strstr (at, "SCAN")) != NULL; at++)
    n++;
  return n;
}

/* The engine of `who` has served scan number `scan`. */
static inline void
served (World *world, guint who, guint64 scan)
{
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = scan });
}

/* The engines of all living nodes serve the next scan. */
static inline void
scan (World *world)
{
  pass (world, SCAN_US);
  for (guint i = 0; i < world->n; i++)
    if (world->peer[i].alive)
      served (world, i, node_at (world, i)->saves.scans);
}

/* The scribe of `who` has published. */
static inline void
publish (World *world, guint who, guint64 saved, gboolean failed)
{
  static guint64 generation;

  tell (
      world, who,
      &(NodeEvent){
          .kind = NODE_EVENT_PUBLISHED, .number = ++generation, .saved = saved, .failed = failed });
}

/* Adds a link between n0 and n1, on which both send from now on. Returns its number. */
static inline guint64
add_link (World *world)
{
  Wire wire = { { 0, 1 }, TRUE, FALSE };

  g_array_append_val (world->wires, wire);
  for (guint i = 0; i < 2; i++)
    post (world, (Post){ .to = i, .kind = NODE_EVENT_LINK_UP, .link = world->wires->len });
  pump (world);
  return world->wires->len;
}
