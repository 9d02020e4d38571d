/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up the last reports of all nodes of a run: the files node-PID.stats in its folder, also
 * those of nodes that died. One thread. */
#pragma once

#include <glib.h>

/* What only the launcher knows. */
typedef struct
{
  double wall_s;
  const GArray *own; /* of gint64: process numbers of the nodes that it started; all other nodes
                        count by their reports */
  guint crashes;     /* how many of these crashed */
} FiguresSeen;

/* The last figures of the node `pid`, from the run's folder `path`: a GVariant of type a{sv}.
 * (transfer full) (nullable): it has written none. */
GVariant *figures_read (const char *path, gint64 pid);
/* The JSON object of --stats, with a line end. A figure that no node reported is null. (transfer
 * full) */
char *figures_json (const char *path, const FiguresSeen *seen);
/* One line for people: time, nodes, jobs and steals; work lost, redone and salvaged. (transfer
 * full) */
char *figures_summary (const char *path, const FiguresSeen *seen);
