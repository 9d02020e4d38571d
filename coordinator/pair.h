/* SPDX-License-Identifier: BSD-3-Clause */
/* A checkpoint as readers find it: the base and, beside a large one, the delta with the rows that
 * came since (storage/changes.h). A delta of the same run is always united with the base, whichever
 * base it was made for: rows are facts. Blocks on the disk; any one thread. */
#pragma once

#include "coordinator/takeover.h"

typedef struct
{
  Sql *base;           /* (nullable): there is no file, and then no delta either */
  Sql *delta;          /* (nullable) */
  gboolean is_blocked; /* the file with the delta's name is no delta of this run: it is left
                          alone */
} Pair;

void pair_clear (Pair *pair);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pair, pair_clear)

/* (transfer full) */
char *pair_delta_path (const char *path);
typedef enum
{
  PAIR_OWN = 1 << 0,  /* copies in a folder of this run's own (guard_open_own) */
  PAIR_FRONT = 1 << 1 /* reads only the small tables of a large base (guard_open_front) */
} PairHow;

/* Opens the files at `path`, on this machine, with the checks of guard_open, and its errors. It
 * opens the delta first: a base that is published between the two steps contains it. */
gboolean pair_open (Pair *pair, const char *path, const char *identity, PairHow how,
                    GError **error);
/* Puts the delta over a base that was taken over before, in the same transaction; without one it
 * does nothing. Adds to the figures of `takeover`. */
gboolean pair_take_delta (const Pair *pair, Results *results, Sql *to, Stems *stems,
                          Takeover *takeover, GError **error);
/* One file to read: the base itself if there is no delta, else a private file. `with_rows` FALSE:
 * it may lack results, kept states and events. NULL: error. Uses up the base. `audit` of the file
 * has the losses of both. (transfer full) */
Sql *pair_unite (Pair *pair, gboolean with_rows, GError **error);
/* The generation in a file; 0: none. */
guint64 pair_generation (Sql *file);
