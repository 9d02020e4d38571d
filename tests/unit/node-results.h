/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes results of a world (node-world.h) that differ. Each test program includes it once. */
#pragma once

#include "node-world.h"

static NodeId author;
static char
    *values; /* The path and values of the last two results that differed; the test frees it. */

/* World.watch. */
static void
note_difference (World *world G_GNUC_UNUSED, guint who G_GNUC_UNUSED, const NodeEffect *effect)
{
  if (effect->kind != NODE_EFFECT_DIFFERS)
    return;
  author = effect->node;
  values = g_strdup_printf ("%s: %.2s, %.2s", effect->job->path,
                            (const char *)g_bytes_get_data (effect->parts->pdata[0], NULL),
                            (const char *)g_bytes_get_data (effect->parts->pdata[1], NULL));
}
