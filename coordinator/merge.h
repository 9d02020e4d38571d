/* SPDX-License-Identifier: BSD-3-Clause */
/* Two checkpoints of one run become one, as after a split whose sides both went on. Blocks on the
 * disk; any one thread. */
#pragma once

#include <gio/gio.h>

typedef struct
{
  guint64 rows[2]; /* results and kept states that each file had to give */
  char *damage[2]; /* (nullable, transfer full) what is lost of each file, in a few words */
  guint64 united;  /* results that the new file holds */
  double done;     /* share of the whole tree */
} MergeTotals;

/* Frees what the figures own. */
void merge_totals_clear (MergeTotals *totals);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MergeTotals, merge_totals_clear)

/* Writes the union of `files` to `target`, which must not be there. Results: same path and digest,
 * the first; another digest, the one saved later; what lies below another goes. Of kept states the
 * one that stands for most. Of all else that both have, what the file with the higher generation
 * says. FALSE: COORDINATOR_ERROR in one sentence, nothing written: a file is not there or not
 * usable, or they are of two runs. */
gboolean merge_files (const char *target, const char *const files[2], MergeTotals *totals,
                      GError **error);
