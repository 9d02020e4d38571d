/* SPDX-License-Identifier: BSD-3-Clause */
/* The small tables of a checkpoint: run, node, constant, best, event. Each call is one statement
 * inside the caller's transaction. */
#pragma once

#include "storage/sql.h"

/* Writing a value that is there already does not change the file. run: key and value; set_first: a
 * value that is there stays. A value of up to 1 MiB stands twice, the second time in constant as
 * run/KEY, and is lost only if both rows are damaged. */
gboolean tables_set (Sql *sql, const char *key, const char *value, GError **error);
gboolean tables_set_first (Sql *sql, const char *key, const void *data, gsize size, GError **error);
gboolean tables_unset (Sql *sql, const char *key, GError **error);
/* (transfer full) (nullable): a verified value of run; NULL without an error when it is not there.
 */
GBytes *tables_get (Sql *sql, const char *key, GError **error);
char *tables_get_string (Sql *sql, const char *key, GError **error);

typedef struct
{
  const char *name, *type;
  const char *digest; /* (nullable) hexadecimal; constants only */
  GBytes *value;
} TablesValue;

gboolean tables_put_constant (Sql *sql, const TablesValue *constant, GError **error);
gboolean tables_drop_constant (Sql *sql, const char *name, GError **error);
gboolean tables_put_best (Sql *sql, const TablesValue *best, GError **error);

typedef struct
{
  const char *id, *name, *site, *address, *cause;
  gint64 joined, left; /* unix seconds; 0: not yet */
} TablesNode;

/* The number of the row for this id; makes a new row if there is none. */
gboolean tables_number_node (Sql *sql, const char *id, gint64 *number, GError **error);
gboolean tables_put_job (Sql *sql, gint64 number, const char *name, const char *type,
                         GError **error);
/* A node that is in the table keeps the time at which it joined, and counts as present again. */
gboolean tables_put_node (Sql *sql, const TablesNode *node, GError **error);
/* Records that a node left. The row of a node that had left stays as it is; an unknown node gets
 * none. */
gboolean tables_end_node (Sql *sql, const char *id, gint64 left, const char *cause, GError **error);

/* A node that is known to have joined; whether it is still present is unknown. */
gboolean tables_meet_node (Sql *sql, const TablesNode *node, GError **error);

typedef struct
{
  gint64 at; /* unix seconds */
  const char *kind, *node, *path, *detail;
  double work_s; /* 0: none */
} TablesEvent;

/* Only the newest `keep` events stay; one event with the number 0 and the kind 'older' has the sums
 * of the others by kind. */
gboolean tables_put_event (Sql *sql, const TablesEvent *event, guint keep, GError **error);

/* The same, unless the event is in the table. Kind and node identify an event of a node that joined
 * or left; all columns but the time identify any other event. */
gboolean tables_put_event_once (Sql *sql, const TablesEvent *event, guint keep, GError **error);

/* Calls `each` for every verified row, which lives for the call. FALSE from `each` stops with its
 * error. */
typedef gboolean (*TablesEachValue) (const TablesValue *value, gpointer data, GError **error);
typedef gboolean (*TablesEachNode) (const TablesNode *node, gpointer data, GError **error);
/* The table run; a value may be any bytes. */
typedef gboolean (*TablesEachSetting) (const char *key, GBytes *value, gpointer data,
                                       GError **error);
typedef gboolean (*TablesEachEvent) (const TablesEvent *event, gpointer data, GError **error);
gboolean tables_each_setting (Sql *sql, TablesEachSetting each, gpointer data, GError **error);
gboolean tables_each_event (Sql *sql, TablesEachEvent each, gpointer data, GError **error);
/* Without shared bytes (see shares.h) and the settings of run. */
gboolean tables_each_constant (Sql *sql, TablesEachValue each, gpointer data, GError **error);
gboolean tables_each_best (Sql *sql, TablesEachValue each, gpointer data, GError **error);
gboolean tables_each_node (Sql *sql, TablesEachNode each, gpointer data, GError **error);

/* How many rows of the small tables do not verify; added to `bad`. */
gboolean tables_count_bad (Sql *sql, guint64 *bad, GError **error);
/* The same for the tables that come before the results in a file: all but the events. */
gboolean tables_count_bad_first (Sql *sql, guint64 *bad, GError **error);
/* Has the file neither stems nor kept states? */
gboolean tables_are_simple (Sql *sql, gboolean *are_simple, GError **error);
/* Copies the verified rows of all small tables (but not of job: results bring their jobs along)
 * from one file into another of the same identity; if `to` has a row with the same key, that row
 * stays (`replaces`: the row of `from`, the later file, replaces it). Events that `to` lacks are
 * added. `dropped` grows by the rows that did not verify. */
gboolean tables_copy (Sql *to, Sql *from, gboolean replaces, guint64 *dropped, GError **error);
/* The same without the events, which lie at the end of a file. */
gboolean tables_copy_first (Sql *to, Sql *from, guint64 *dropped, GError **error);
