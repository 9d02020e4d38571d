/* SPDX-License-Identifier: BSD-3-Clause */
/* The small tables of a checkpoint: run, node, constant, best, event. Each call is one statement
 * inside the caller's transaction. */
#pragma once

#include "storage/sql.h"

/* These functions do not change the file if the value is already there. run: key and value;
 * tables_set_first keeps an earlier value. A value of up to 1 MiB is stored twice, the second time
 * in constant as run/KEY, and is lost only if both rows are damaged. */
gboolean tables_set (Sql *sql, const char *key, const char *value, GError **error);
gboolean tables_set_first (Sql *sql, const char *key, const void *data, gsize size, GError **error);
gboolean tables_unset (Sql *sql, const char *key, GError **error);
/* A verified value of run. (transfer full) (nullable): NULL without an error: there is none. */
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

/* The number of this id's row; inserts a row if there is none. */
gboolean tables_number_node (Sql *sql, const char *id, gint64 *number, GError **error);
gboolean tables_put_job (Sql *sql, gint64 number, const char *name, const char *type,
                         GError **error);
/* A node that is in the table keeps the time at which it joined, and counts as present again. */
gboolean tables_put_node (Sql *sql, const TablesNode *node, GError **error);
/* Records that a node left. The row of a node that had left stays as it is; an unknown node gets no
 * row. */
gboolean tables_end_node (Sql *sql, const char *id, gint64 left, const char *cause, GError **error);

/* Records a node that has joined, of which it is not known whether it is still present. */
gboolean tables_meet_node (Sql *sql, const TablesNode *node, GError **error);

typedef struct
{
  gint64 at; /* unix seconds */
  const char *kind, *node, *path, *detail;
  double work_s; /* 0: none */
} TablesEvent;

/* Only the newest `keep` events stay. One event with number 0 and kind 'older' has the sum of the
 * work of the others. */
gboolean tables_put_event (Sql *sql, const TablesEvent *event, guint keep, GError **error);

/* The same, unless the event is already in the table. An event of a node that joined or left is
 * identified by kind and node; any other event by all columns except the time. */
gboolean tables_put_event_once (Sql *sql, const TablesEvent *event, guint keep, GError **error);

/* Calls `each` for every verified row, which is valid during the call. FALSE from `each` stops with
 * its error. */
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

/* Adds the number of rows of the small tables that do not verify to `bad`. */
gboolean tables_count_bad (Sql *sql, guint64 *bad, GError **error);
/* The same for the tables that come before the results in a file: all but the events. */
gboolean tables_count_bad_first (Sql *sql, guint64 *bad, GError **error);
/* *are_simple: TRUE if the file has neither stems nor kept states. */
gboolean tables_are_simple (Sql *sql, gboolean *are_simple, GError **error);
/* Copies the verified rows of all small tables (except job: jobs come with results) from one file
 * into another of the same identity. If `to` has a row with the same key, that row stays
 * (`replaces`: the row of `from`, the later file, replaces it). Adds events that `to` lacks. Adds
 * the number of rows that did not verify to `dropped`. */
gboolean tables_copy (Sql *to, Sql *from, gboolean replaces, guint64 *dropped, GError **error);
/* The same without the events, which are at the end of a file. */
gboolean tables_copy_first (Sql *to, Sql *from, guint64 *dropped, GError **error);
