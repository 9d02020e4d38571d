/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands at a checkpoint's place, read and proved before anybody relies on it: the fixed order of
 * checks for a file that we did not just write. Changes nothing. Any thread; blocks on the disk. */
#pragma once

#include "scribe.h"

typedef struct
{
  gboolean exists;    /* FALSE: nothing there (or an empty file): a fresh start; all else is unset */
  Identity identity;
  gboolean finished;  /* it holds the answer */
  GBytes *answer;
  int exit_code;
  char **addresses;   /* of the nodes listed as present: if one answers with this run's id, it is in use */
  GPtrArray *constants; /* of RestoreConstant: const/…, input/… */
  GPtrArray *bests;     /* of RestoreConstant: name, type, value */
  guint64 rows, rows_bad;
  double done;
} Restore;

typedef struct
{
  char *name, *type;
  GBytes *value;
} RestoreConstant;

/* FALSE: unusable or unreadable, COORDINATOR_ERROR names the exit code and the reason. */
gboolean restore_look (const char *target, Restore *restore, GError **error);
void restore_clear (Restore *restore);
/* FALSE: the file is of something else; the message says of what and why. */
gboolean restore_matches (const Restore *restore, const Identity *identity, const char *target,
                          GError **error);
