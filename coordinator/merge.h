/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes one checkpoint of two of the same run, for example after a split whose sides both went on.
 * Blocks on the disk; any one thread. */
#pragma once

#include <gio/gio.h>

typedef struct
{
  guint64 rows[2];  /* results and kept states that each file had to give */
  char *damage[2];  /* (nullable, transfer full) what is lost of each file, in a few words */
  char *warning[2]; /* (nullable, transfer full) what people are told of whose they are */
  guint64 united;   /* results that the new file holds */
  double done;      /* share of the whole tree */
} MergeTotals;

/* Frees what the figures own. */
void merge_totals_clear (MergeTotals *totals);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MergeTotals, merge_totals_clear)

/* Writes the union of `files` to `target`, which must not be there. Results: same path and digest,
 * the first; another digest, the one saved later; what lies below another goes. Of kept states the
 * one that stands for most. Of all else that both have, what the file with the higher generation
 * says. Rows of others are refused, unless the user trusts them (proof.h). FALSE: COORDINATOR_ERROR
 * in one sentence, nothing written: a file is not there or not usable, or they are of two runs. */
gboolean merge_files (const char *target, const char *const files[2], MergeTotals *totals,
                      GError **error);
/* Writes the checkpoint at `path`, a path, anew in its place, with all rows as this user's;
 * `totals` are those of its first file. Nobody may be at work on it. FALSE: COORDINATOR_ERROR; the
 * file is as it was. */
gboolean merge_trust (const char *path, MergeTotals *totals, GError **error);
