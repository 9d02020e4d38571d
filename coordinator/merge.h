/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes one checkpoint of two of the same run, for example after a split whose sides both went on.
 * Blocks on the disk; any one thread. */
#pragma once

#include <glib.h>

typedef struct
{
  guint64 rows[2];  /* results and kept states of each file */
  char *damage[2];  /* (nullable, transfer full) the losses of each file, in a few words */
  char *warning[2]; /* (nullable, transfer full) a warning for people about who wrote them */
  guint64 united;   /* results that the new file holds */
  double done;      /* share of the whole tree */
} MergeTotals;

/* Frees the texts of the figures. */
void merge_totals_clear (MergeTotals *totals);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MergeTotals, merge_totals_clear)

/* Writes the union of `files` to `target`, which must not be there. Results: same path and digest,
 * the first; another digest, the one saved later; a result below another one is dropped. Of kept
 * states the one that stands for most stays. Everything else that both files have comes from the
 * file with the higher generation. Rows of other users are refused, unless the user trusts them
 * (proof.h). FALSE: COORDINATOR_ERROR in one sentence, nothing written: a file is not there or not
 * usable, or they are of two runs. */
gboolean merge_files (const char *target, const char *const files[2], MergeTotals *totals,
                      GError **error);
/* Writes the checkpoint at `path`, a path, anew in its place, with all rows as this user's;
 * `totals` are those of its first file. No run may use it. FALSE: COORDINATOR_ERROR; the file is as
 * it was. */
gboolean merge_trust (const char *path, MergeTotals *totals, GError **error);
