/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes STEALS steals between two Nodes in one process (node-world): the thief is idle, asks, gets
 * one job, runs it and returns its result. steal-cost.sh counts the instructions of node_step and
 * of freeing its effects. Prints the number of messages for each steal. */
#include "tests/unit/node-world.h"

#include <stdio.h>
#include <stdlib.h>

/* Long enough that no job is fetched in advance (steal.h). */
#define JOB_US 30000
#define WARM 100 /* steals before the first that counts */

static guint64 sends;

static void
count_sends (World *world G_GNUC_UNUSED, guint who G_GNUC_UNUSED, const NodeEffect *effect)
{
  sends += effect->kind == NODE_EFFECT_SEND;
}

static void
steal (World *world, guint i)
{
  char path[PATH_TEXT_MAX];

  (void)g_snprintf (path, sizeof path, "/%u/%u", i % 64, i);
  (void)offer (world, 0, path);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 0 });
  pass (world, JOB_US);
  finish (world, 1, path);
  if (stats_of (world, 1).steals_remote != i + 1 || stats_of (world, 0).lent != 0)
    g_error ("steal %u: %" G_GUINT64_FORMAT " jobs came, %" G_GUINT64_FORMAT " are lent", i,
             stats_of (world, 1).steals_remote, stats_of (world, 0).lent);
}

int
main (int argc, char **argv)
{
  guint n = argc == 2 ? (guint)g_ascii_strtoull (argv[1], NULL, 10) : 0;
  g_autoptr (World) world = world_new (2, FALSE);

  if (n == 0)
    {
      (void)fprintf (stderr, "usage: steal-cost STEALS\n");
      return 2;
    }
  start (world);
  world->watch = count_sends;
  for (guint i = 0; i < WARM + n; i++)
    {
      if (i == WARM)
        sends = 0;
      steal (world, i);
    }
  printf ("%.2f messages a steal\n", (double)sends / n);
  return 0;
}
