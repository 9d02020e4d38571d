/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of kept states: of an unfinished job, the results of its finished phases. results.c has
 * the rules by which states and results cover each other. This is the table and, of a work file,
 * the part of it that must be looked at for each new row. Used by one thread. */
#pragma once

#include "storage/sql.h"

typedef struct
{
  const char *path;
  guint32 children; /* it stands for the job's children with numbers below this, at least 1 */
  const guint8 *digest;
  gsize digest_size;
  const char *type;
  GBytes *value; /* GVariant bytes of `type` */
  const char *args; /* (nullable) the job's arguments as JSON, for people: no NUL behind them */
  gsize args_size;
} Keep;

/* Reading works on any file, by path. What is passed to `each` lives for the call; FALSE from it
 * stops, as an error. Rows whose checksum fails are passed over and added to `bad` (nullable). */
typedef gboolean (*KeepsEach) (const Keep *keep, gpointer data, GError **error);
gboolean keeps_each (Sql *sql, KeepsEach each, gpointer data, guint64 *bad, GError **error);

/* The kept states of a work file, which begins without any; `sql` is borrowed. */
typedef struct Keeps Keeps;
Keeps *keeps_new (Sql *sql);
void keeps_free (Keeps *keeps);

/* What is undone by keeps_rollback begins here. */
void keeps_begin (Keeps *keeps);
void keeps_rollback (Keeps *keeps);
/* Makes what is known of the table true again after a commit that failed and may have happened.
 * FALSE: the table cannot be read. */
gboolean keeps_reread (Keeps *keeps, GError **error);

guint keeps_count (const Keeps *keeps);
/* Of the rows in the table. */
Tally keeps_tally (const Keeps *keeps);
/* How many children the state of `path` stands for; 0: none is kept. */
guint32 keeps_children (const Keeps *keeps, const char *path);
/* TRUE: this very state, or one of the same job that stands for more. */
gboolean keeps_has (const Keeps *keeps, const Keep *keep);
/* (nullable) (borrowed until the next change): the first path with from <= path < to. */
const char *keeps_next (const Keeps *keeps, const char *from, const char *to);
/* Enters or replaces. `work_s`: the computing time that it stands for, at least what it replaces
 * stood for; it is known until the file is closed. */
gboolean keeps_put (Keeps *keeps, const Keep *keep, double work_s, GError **error);
/* Removes from <= path < to; their work is added to `work_s`. */
gboolean keeps_remove (Keeps *keeps, const char *from, const char *to, double *work_s,
                       GError **error);
