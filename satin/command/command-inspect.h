/* SPDX-License-Identifier: BSD-3-Clause */
/* What the views of `satin inspect` share: one open checkpoint, and what it said at the first
 * reading. One thread. */
#pragma once

#include "command.h"

#include "coordinator/restore.h"
#include "storage/keeps.h"
#include "storage/results.h"
#include "storage/tables.h"

typedef struct
{
  const char *target; /* its path, for words */
  Sql *file;
  Restore restore;
  Stems *stems; /* all that the file has */
  guint64 stems_bad;
  const char *below; /* (nullable): only results whose path is this text, or continues it */
} Inspection;

/* Each prints one view on stdout and returns the exit code; what fails is said on stderr. */
int command_inspect_summary (Inspection *inspection);
/* `path`: the job at the top, NULL: each root; `depth`: levels shown below it. */
int command_inspect_tree (Inspection *inspection, const char *path, guint depth);
int command_inspect_why (Inspection *inspection, const char *path);
int command_inspect_json (Inspection *inspection);
int command_inspect_verify (Inspection *inspection);

/* Says a failed reading; returns its exit code. */
int command_inspect_failed (const Inspection *inspection, const GError *error);
/* Enters the stems of the file that is open. */
gboolean command_inspect_stems (Inspection *inspection, GError **error);
/* Calls `each` for every sound row; others are counted in `bad` (nullable). */
gboolean command_inspect_rows (Inspection *inspection, ResultsEach each, gpointer data,
                               guint64 *bad, GError **error);
/* The same for kept states. */
gboolean command_inspect_keeps (Inspection *inspection, KeepsEach each, gpointer data, guint64 *bad,
                                GError **error);
/* (transfer full): local time; "-" for 0. */
char *command_inspect_time (gint64 seconds);
/* "/" for the first root. */
const char *command_inspect_path (const char *path);
/* (transfer full): the beginning of a value's text, for a column. */
char *command_inspect_short (const char *value);
