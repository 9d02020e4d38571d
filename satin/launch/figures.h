/* SPDX-License-Identifier: BSD-3-Clause */
/* What the nodes of a run last reported about themselves, added up. One thread; reads the
 * node-PID.stats files of a run's folder, also those of nodes that died. */
#pragma once

#include <gio/gio.h>

/* What the launcher alone knows. */
typedef struct
{
  double wall_s;
  const GArray *own; /* the process numbers of the nodes that it started, of gint64; the others are
                        counted by what they reported */
  guint crashes;     /* of its own */
} FiguresSeen;

/* The one JSON object of --stats, with a line end. What no node reported is null. (transfer full)
 */
char *figures_json (const char *path, const FiguresSeen *seen);
/* A sentence for a person: steals, work lost, redone and salvaged. (transfer full) */
char *figures_summary (const char *path, const FiguresSeen *seen);
