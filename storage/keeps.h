/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of kept states: the results of the finished phases of unfinished jobs. results.c has
 * the rules by which states and results replace each other. This file has the table and, for a work
 * file, an index in memory that is looked at for each new row. Used by one thread. */
#pragma once

#include "storage/sql.h"

typedef struct
{
  const char *path;
  guint32 children; /* the state stands for the job's children with numbers below this, at least
                       1 */
  const guint8 *digest;
  gsize digest_size;
  const char *type;
  GBytes *value; /* GVariant bytes of `type` */
  const char *args; /* (nullable) the job's arguments as JSON, for people; not terminated by NUL */
  gsize args_size;
} Keep;

/* Reading works on any file, by path. The `keep` passed to `each` lives for the call; FALSE from
 * `each` stops with its error. Rows whose checksum fails are skipped and added to `bad`
 * (nullable). */
typedef gboolean (*KeepsEach) (const Keep *keep, gpointer data, GError **error);
gboolean keeps_each (Sql *sql, KeepsEach each, gpointer data, guint64 *bad, GError **error);

/* The kept states of a work file, which has none at first; `sql` is borrowed. */
typedef struct Keeps Keeps;
Keeps *keeps_new (Sql *sql);
void keeps_free (Keeps *keeps);

/* keeps_rollback undoes the changes since this call. */
void keeps_begin (Keeps *keeps);
void keeps_rollback (Keeps *keeps);
/* Reads the table again, after a commit that failed but may have taken effect. FALSE: the table
 * cannot be read. */
gboolean keeps_reread (Keeps *keeps, GError **error);

guint keeps_count (const Keeps *keeps);
/* The number of rows in the table, and the sum of their checksums. */
Tally keeps_tally (const Keeps *keeps);
/* How many children the state of `path` stands for; 0: there is no state. */
guint32 keeps_children (const Keeps *keeps, const char *path);
/* TRUE: the table has this state, or one of the same job that stands for more. */
gboolean keeps_has (const Keeps *keeps, const Keep *keep);
/* The first path with from <= path < to. (nullable) (borrowed until the next change) */
const char *keeps_next (const Keeps *keeps, const char *from, const char *to);
/* Inserts or replaces. `work_s`: the computing time of the state, at least that of the state it
 * replaces; remembered until the file is closed. */
gboolean keeps_put (Keeps *keeps, const Keep *keep, double work_s, GError **error);
/* Removes from <= path < to; their work is added to `work_s`. */
gboolean keeps_remove (Keeps *keeps, const char *from, const char *to, double *work_s,
                       GError **error);
