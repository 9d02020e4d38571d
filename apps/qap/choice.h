/* SPDX-License-Identifier: BSD-3-Clause */
/* How to branch: which facility goes to each of many locations, or which location gets each of many
 * facilities. Plain values, any thread. */
#pragma once

#include "level.h"

/* reduced is m x m: how much more than the bound it costs to put facility[a] at location[b]; what
 * is above `slack` is closed. Those with a flag in skip (indexed by number, NULL: none) are as good
 * as others and left out. */
typedef struct
{
  int m;
  const gint64 *reduced;
  gint64 slack;
  const guint8 *facility, *location;
  const gboolean *skip_facility, *skip_location;
} Choice;

/* Chooses the row or column with the fewest open children, and of those the one that raises the
 * bound most. Fills `child`, the least bound (as in reduced) last, and returns their number. */
int choice_make (const Choice *choice, LevelChild *child);
