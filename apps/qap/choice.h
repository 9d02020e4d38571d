/* SPDX-License-Identifier: BSD-3-Clause */
/* How to branch: on one facility with many locations, or on one location with many facilities.
 * Plain values, any thread. */
#pragma once

#include "level.h"

/* reduced is m x m: by how much the bound grows if facility[a] is put at location[b]; children
 * above `slack` are closed. Those with a flag in skip (indexed by number, NULL: none) are
 * equivalent to others and left out. */
typedef struct
{
  int m;
  const gint64 *reduced;
  gint64 slack;
  const guint8 *facility, *location;
  const gboolean *skip_facility, *skip_location;
} Choice;

/* Chooses the row or column with the fewest open children; of several, the one that raises the
 * bound most. Fills `child`, the least bound (as in reduced) last, and returns the number of
 * children. */
int choice_make (const Choice *choice, LevelChild *child);
