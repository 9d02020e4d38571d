/* SPDX-License-Identifier: BSD-3-Clause */
/* What the views of `satin inspect` share: one open checkpoint, and what was read from it first.
 * One thread. */
#pragma once

#include "command.h"

#include "coordinator/restore.h"
#include "storage/keeps.h"
#include "storage/results.h"
#include "storage/tables.h"

typedef struct
{
  const char *target; /* its path or URI */
  Sql *file;
  Restore restore;
  Stems *stems; /* the stems of the file */
  guint64 stems_bad;
  const char *below; /* (nullable) only results whose path begins with this text */
} Inspection;

/* Each prints one view on stdout and returns the exit code. Errors are printed on stderr. */
/* `path`: the job at the top; NULL: each root. `depth`: how many levels below it are shown. */
int command_inspect_tree (Inspection *inspection, const char *path, guint depth);
int command_inspect_why (Inspection *inspection, const char *path);
int command_inspect_json (Inspection *inspection);
int command_inspect_verify (Inspection *inspection);

/* Prints why the checkpoint `target` could not be read or written. Returns the exit code. */
int command_inspect_failed (const char *target, const GError *error);
/* Reads the stems of the open file into inspection->stems. */
gboolean command_inspect_stems (Inspection *inspection, GError **error);
/* Calls `each` for every sound row, and adds the number of others to *bad (nullable). */
gboolean command_inspect_rows (Inspection *inspection, ResultsEach each, gpointer data,
                               guint64 *bad, GError **error);
/* The same for kept states. */
gboolean command_inspect_keeps (Inspection *inspection, KeepsEach each, gpointer data, guint64 *bad,
                                GError **error);
/* Local time as text; "-" for 0. (transfer full) */
char *command_inspect_time (gint64 seconds);
/* A path for people: "/" for the first root's, which is "". (transfer none) */
const char *command_inspect_path (const char *path);
/* A GCompareFunc for pointers to RestoreNode: most work first. */
int command_inspect_compare_work (gconstpointer a, gconstpointer b);
/* The beginning of a value's text, as long as a column is wide. (transfer full) */
char *command_inspect_short (const char *value);
