/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and proves the checkpoint at a place before any code relies on it: the fixed order of
 * checks for a file that we did not just write. Changes no file. Any thread; blocks on the disk. */
#pragma once

#include "scribe.h"

#include "storage/sql.h"

typedef struct
{
  gboolean exists; /* FALSE: there is no file (or an empty one), so a run begins anew; all else is
                    * unset */
  Identity identity;
  SqlOrigin origin;  /* who wrote its rows; see proof.h */
  gboolean finished; /* it holds the answer */
  GBytes *answer;
  int exit_code;
  char **addresses;     /* of the nodes listed as present: if one of them answers with this run's
                         * id, the checkpoint is in use */
  GPtrArray *constants; /* of RestoreConstant: const/…, input/… */
  GPtrArray *bests;     /* of RestoreConstant: name, type, value */
  guint64 rows,
      rows_bad; /* bad: results that are missing or damaged; a take-over leaves them out */
  guint64 generation;
  double done;
  char *inputs;     /* (nullable): a line for each input: digest, blank, path */
  char *const_list; /* (nullable): the same for each constant */
  char *damage; /* (nullable) the file is damaged: a sentence that says how much of it is good */
} Restore;

typedef struct
{
  char *name, *type;
  GBytes *value;
} RestoreConstant;

/* For all of these functions `target` is a path or a URI as place_check gives it. A file at a URI
 * is first downloaded to a temporary file.
 *
 * FALSE: unusable or unreadable; COORDINATOR_ERROR has the exit code and the reason. A store that
 * does not answer is given up after eight seconds. */
gboolean restore_look (const char *target, Restore *restore, GError **error);
/* The same at the start of a run, which knows the file's identity and need not count rows: they are
 * proved when they are taken over. `copy` (nullable): the path to which a file at a URI is
 * downloaded, and where it stays for the take-over (place_refresh). */
gboolean restore_look_for (const char *target, const char *copy, const Identity *identity,
                           Restore *restore, GError **error);
void restore_clear (Restore *restore);
/* TRUE: a Satin checkpoint, perhaps damaged or of another user. */
gboolean restore_is_ours (const char *target);
/* Renames the file within its folder, so that a run can begin anew. Returns its new name. (transfer
 * full) NULL: COORDINATOR_ERROR. */
char *restore_set_aside (const char *target, GError **error);
/* Copies the checkpoint at `from` to `to`, where no file may be. FALSE: COORDINATOR_ERROR. */
gboolean restore_copy (const char *from, const char *to, GError **error);
/* FALSE: the file belongs to another program, arguments or build, or another user wrote its rows
 * (proof.h); the message says which and why. */
gboolean restore_matches (const Restore *restore, const Identity *identity, const char *target,
                          GError **error);

/* An input that the checkpoint lacks may be read anew, unless a damaged file lost it and nothing
 * proves that these bytes are the same as before. FALSE: the message says so. */
gboolean restore_input_is_sound (const Restore *restore, const char *path, GBytes *bytes,
                                 const char *target, GError **error);

/* A constant that the checkpoint has lost may only get the listed value. */
gboolean restore_constant_is_sound (const Restore *restore, const char *name, GBytes *bytes);
/* Checks that the digests of constants and inputs are the listed ones. FALSE: a value is of another
 * run, or the list is lost and `is_mended` does not vouch for them; the message says which. */
gboolean restore_values_are_sound (const Restore *restore, gboolean is_mended, const char *target,
                                   GError **error);

/* For satin inspect: opens the file once, to be read as often as needed; storage/tables.h and
 * results.h have more functions for it. (transfer full) NULL: errors as of restore_look, also if
 * there is no file. */
Sql *restore_open (const char *target, GError **error);
/* The result of restore_look for an open file. `target`: its name in messages. */
gboolean restore_read (Sql *file, const char *target, Restore *restore, GError **error);

typedef struct
{
  char *path; /* as in the file: the root's is "" */
  char *node, *job, *type;
  char *value; /* as text, see readable_short */
  gsize size;  /* bytes of the value */
  double work_s, weight;
  gint64 saved; /* unix seconds */
} RestoreRow;

typedef struct
{
  char *id, *name, *site, *address, *cause;
  gint64 joined, left; /* unix seconds; left: 0 while it is present */
  guint64 rows;
  double work_s, weight;
} RestoreNode;

typedef struct
{
  const char *node; /* (nullable): only rows of this node */
  gboolean largest; /* greatest share of the tree first, else by path */
  guint limit;      /* 0: all */
} RestoreQuery;

/* (transfer full): RestoreRow pointers; NULL: error. */
GPtrArray *restore_rows (Sql *file, const RestoreQuery *query, GError **error);
/* All nodes that the file lists or has results of, by id. (transfer full): RestoreNode pointers. */
GPtrArray *restore_nodes (Sql *file, GError **error);
