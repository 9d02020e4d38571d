/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and proves the checkpoint at a place before any code relies on it: the fixed order of
 * checks for a file that we did not just write. Changes no file. Any thread; blocks on the disk. */
#pragma once

#include "scribe.h"

#include "storage/sql.h"

typedef struct
{
  gboolean exists; /* FALSE: nothing there (or an empty file): a fresh start; all else is unset */
  Identity identity;
  SqlOrigin origin;  /* who wrote its rows; see proof.h */
  gboolean finished; /* it holds the answer */
  GBytes *answer;
  int exit_code;
  char **addresses;     /* of the nodes listed as present: if one answers with this run's id, the
                           checkpoint is in use */
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

/* In all of these `target` is a path or a URI as place_check gives them. What stands at a URI is
 * first brought to this machine's disk, to a file that goes again.
 *
 * FALSE: unusable or unreadable, COORDINATOR_ERROR names the exit code and the reason. A store that
 * does not answer is given up after eight seconds. */
gboolean restore_look (const char *target, Restore *restore, GError **error);
/* The same for a start, which knows whose the file should be and need not count its rows: they are
 * proved when they are taken over. `copy` (nullable): where what stands at a URI is brought to and
 * stays, for the take-over to find (see place_refresh). */
gboolean restore_look_for (const char *target, const char *copy, const Identity *identity,
                           Restore *restore, GError **error);
void restore_clear (Restore *restore);
/* TRUE: a Satin checkpoint, perhaps damaged or of another user. */
gboolean restore_is_ours (const char *target);
/* (transfer full): renames the file there within its folder, for a fresh start. NULL:
 * COORDINATOR_ERROR. */
char *restore_set_aside (const char *target, GError **error);
/* Copies the checkpoint at `from` to `to`, where nothing may stand. FALSE: COORDINATOR_ERROR. */
gboolean restore_copy (const char *from, const char *to, GError **error);
/* FALSE: the file belongs to another program, arguments or build, or another user wrote its rows
 * (proof.h); the message says which and why. */
gboolean restore_matches (const Restore *restore, const Identity *identity, const char *target,
                          GError **error);

/* An input that the checkpoint lacks may be read anew, unless a damaged file lost it and nothing
 * proves that these bytes are the same as before. FALSE: the message says so. */
gboolean restore_input_is_sound (const Restore *restore, const char *path, GBytes *bytes,
                                 const char *target, GError **error);

/* A constant that the checkpoint does not have any more may only get the value that is listed. */
gboolean restore_constant_is_sound (const Restore *restore, const char *name, GBytes *bytes);
/* Constants and inputs are those of the run: their digests are the listed ones. FALSE: one is of
 * another run, or the list is lost and `is_mended` does not say that they hold; the message says
 * so. */
gboolean restore_values_are_sound (const Restore *restore, gboolean is_mended, const char *target,
                                   GError **error);

/* For people who look inside (satin inspect): the file is opened once and read as often as one
 * likes; what else there is to know stands in storage/tables.h and results.h.
 * (transfer full): NULL: error as for restore_look, also when nothing is there. */
Sql *restore_open (const char *target, GError **error);
/* What restore_look finds, of a file that is open. `target`: its name for messages. */
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
  gint64 joined, left; /* unix seconds; 0: not */
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
/* (transfer full): RestoreNode pointers, by id: all that the file lists or has results of. */
GPtrArray *restore_nodes (Sql *file, GError **error);
