/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the small tables and the settings of run, and copies them from file to file. A row whose
 * checksum fails counts as missing. */
#include "storage/tables.h"

#include "storage/cell.h"
#include "storage/events.h"
#include "storage/inventory.h"
#include "storage/rowsum.h"

#include <string.h>

/* Most settings are stored twice, each with its own checksum: in run, and as run/KEY in constant,
 * which lies on other pages. A larger value is stored only in run. */
#define TWICE_BYTES_MAX (1024 * 1024)

static gboolean
set_value (Sql *sql, const char *text, const char *key, const void *data, gsize size,
           GError **error)
{
  sqlite3_stmt *statement = sql_ready (sql, text, error);
  if (statement == NULL)
    return FALSE;
  sql_bind_string (statement, 1, key);
  sql_bind_bytes (statement, 2, data, size);
  return sql_finish (sql, statement, error);
}

static gboolean
is_counted (const char *name)
{
  return strcmp (name, "run/" INVENTORY_KEY) != 0;
}

/* Counts the row of constant that was just written. */
static void
count_in (Sql *sql, const char *name)
{
  if (!is_counted (name))
    return;
  sql->constants.rows++;
  sql->constants.sums += sql->last_sum;
}

/* Removes the row with this name, if there is one, from the count. */
static gboolean
count_out (Sql *sql, const char *name, GError **error)
{
  gboolean has_row;
  if (!is_counted (name))
    return TRUE;
  sqlite3_stmt *statement = sql_ready (sql, "SELECT sum FROM constant WHERE name = ?1", error);
  if (statement == NULL)
    return FALSE;
  sql_bind_string (statement, 1, name);
  if (!sql_next (sql, statement, &has_row, error))
    return FALSE;
  if (!has_row)
    return TRUE;
  sql->constants.rows--;
  sql->constants.sums -= rowsum_stored_at (statement, 0);
  sqlite3_reset (statement);
  return TRUE;
}

gboolean
tables_drop_constant (Sql *sql, const char *name, GError **error)
{
  sqlite3_stmt *statement = count_out (sql, name, error)
                                ? sql_ready (sql, "DELETE FROM constant WHERE name = ?1", error)
                                : NULL;
  if (statement == NULL)
    return FALSE;
  sql_bind_string (statement, 1, name);
  return sql_finish (sql, statement, error);
}

static gboolean
set_copy (Sql *sql, const char *key, const void *data, gsize size, GError **error)
{
  g_autofree char *name = g_strconcat ("run/", key, NULL);
  if (size > TWICE_BYTES_MAX)
    return tables_drop_constant (sql, name, error);
  if (!count_out (sql, name, error)
      || !set_value (sql,
                     "INSERT INTO constant VALUES (?1, 's', NULL, ?2,"
                     " row_sum ('constant', ?1, 's', NULL, ?2))"
                     " ON CONFLICT (name) DO UPDATE SET value = excluded.value,"
                     " sum = excluded.sum WHERE sum IS NOT excluded.sum",
                     name, data, size, error))
    return FALSE;
  count_in (sql, name);
  return TRUE;
}

static gboolean
set_both (Sql *sql, const char *key, const void *data, gsize size, GError **error)
{
  return set_value (sql,
                    "INSERT INTO run VALUES (?1, ?2, row_sum ('run', ?1, ?2))"
                    " ON CONFLICT (key) DO UPDATE SET value = excluded.value, sum = excluded.sum"
                    " WHERE sum IS NOT excluded.sum",
                    key, data, size, error)
         && set_copy (sql, key, data, size, error);
}

gboolean
tables_set (Sql *sql, const char *key, const char *value, GError **error)
{
  return set_both (sql, key, value, strlen (value), error);
}

gboolean
tables_set_first (Sql *sql, const char *key, const void *data, gsize size, GError **error)
{
  GError *reason = NULL;
  g_autoptr (GBytes) first = tables_get (sql, key, &reason);
  if (reason != NULL)
    {
      g_propagate_error (error, reason);
      return FALSE;
    }
  if (first != NULL)
    data = g_bytes_get_data (first, &size);
  return set_both (sql, key, data, size, error);
}

gboolean
tables_unset (Sql *sql, const char *key, GError **error)
{
  g_autofree char *name = g_strconcat ("run/", key, NULL);
  sqlite3_stmt *statement = sql_ready (sql, "DELETE FROM run WHERE key = ?1", error);
  if (statement == NULL)
    return FALSE;
  sql_bind_string (statement, 1, key);
  return sql_finish (sql, statement, error) && tables_drop_constant (sql, name, error);
}

/* TRUE with *value NULL: there is no such row. */
static gboolean
get_one (Sql *sql, const char *text, const char *key, GBytes **value, GError **error)
{
  sqlite3_stmt *statement = sql_ready (sql, text, error);
  gboolean has_row;
  if (statement == NULL)
    return FALSE;
  sql_bind_string (statement, 1, key);
  if (!sql_next (sql, statement, &has_row, error))
    return FALSE;
  if (has_row)
    {
      *value = sql_column_bytes (statement, 0);
      sqlite3_reset (statement);
    }
  return TRUE;
}

GBytes *
tables_get (Sql *sql, const char *key, GError **error)
{
  static const char *const texts[]
      = { "SELECT value FROM run NOT INDEXED"
          " WHERE key = ?1 AND row_holds (sum, 'run', key, value)",
          "SELECT value FROM constant NOT INDEXED WHERE name = 'run/' || ?1"
          " AND row_holds (sum, 'constant', name, type, digest, value)" };
  GBytes *value = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (texts) && value == NULL; i++)
    if (!get_one (sql, texts[i], key, &value, error))
      return NULL;
  return value;
}

char *
tables_get_string (Sql *sql, const char *key, GError **error)
{
  g_autoptr (GBytes) value = tables_get (sql, key, error);
  return value != NULL ? g_strndup (
             g_bytes_get_data (value, NULL) != NULL ? g_bytes_get_data (value, NULL) : "",
             g_bytes_get_size (value))
                       : NULL;
}

gboolean
tables_put_constant (Sql *sql, const TablesValue *constant, GError **error)
{
  if (!count_out (sql, constant->name, error))
    return FALSE;
  sqlite3_stmt *statement = sql_ready (
      sql,
      "INSERT INTO constant VALUES (?1, ?2, ?3, ?4,"
      " row_sum ('constant', ?1, ?2, ?3, ?4))"
      " ON CONFLICT (name) DO UPDATE SET type = excluded.type, digest = excluded.digest,"
      " value = excluded.value, sum = excluded.sum WHERE sum IS NOT excluded.sum",
      error);
  if (statement == NULL)
    return FALSE;
  sql_bind_string (statement, 1, constant->name);
  sql_bind_string (statement, 2, constant->type);
  sql_bind_string (statement, 3, constant->digest);
  cell_bind (statement, 4, constant->type, constant->value);
  if (!sql_finish (sql, statement, error))
    return FALSE;
  count_in (sql, constant->name);
  return TRUE;
}

gboolean
tables_put_best (Sql *sql, const TablesValue *best, GError **error)
{
  sqlite3_stmt *statement
      = sql_ready (sql,
                   "INSERT INTO best VALUES (?1, ?2, ?3, ?4, row_sum ('best', ?1, ?2, ?3, ?4))"
                   " ON CONFLICT (name) DO UPDATE SET type = excluded.type, value = excluded.value,"
                   " json = excluded.json, sum = excluded.sum WHERE sum IS NOT excluded.sum",
                   error);
  if (statement == NULL)
    return FALSE;
  sql_bind_string (statement, 1, best->name);
  sql_bind_string (statement, 2, best->type);
  cell_bind_both (statement, 3, 4, best->type, best->value, CELL_JSON_BEST);
  return sql_finish (sql, statement, error);
}

static void
bind_time (sqlite3_stmt *statement, int index, gint64 seconds)
{
  if (seconds > 0)
    sqlite3_bind_int64 (statement, index, seconds);
}

#define NODE_COLUMNS "n, id, host, site, address, joined, left, cause"

/* Runs `text`: inserts a row with the next number, or does what `text` says if the id is there. */
static gboolean
write_node (Sql *sql, const char *text, const TablesNode *node, GError **error)
{
  sqlite3_stmt *statement = sql_ready (sql, text, error);
  if (statement == NULL)
    return FALSE;
  sql_bind_string (statement, 1, node->id);
  sql_bind_string (statement, 2, node->name);
  sql_bind_string (statement, 3, node->site);
  sql_bind_string (statement, 4, node->address);
  bind_time (statement, 5, node->joined);
  bind_time (statement, 6, node->left);
  sql_bind_string (statement, 7, node->cause);
  return sql_finish (sql, statement, error);
}

#define NODE_INSERT \
  "INSERT INTO node SELECT n, ?1, ?2, ?3, ?4, ?5, ?6, ?7," \
  " row_sum ('node', n, ?1, ?2, ?3, ?4, ?5, ?6, ?7)" \
  " FROM (SELECT ifnull(max(n), 0) + 1 AS n FROM node) WHERE TRUE"
#define NODE_INSERT_NEW NODE_INSERT " ON CONFLICT (id) DO NOTHING"

gboolean
tables_put_node (Sql *sql, const TablesNode *node, GError **error)
{
  return write_node (
      sql,
      NODE_INSERT
      " ON CONFLICT (id) DO UPDATE SET host = excluded.host, site = excluded.site,"
      " address = excluded.address, joined = ifnull(joined, excluded.joined), left = NULL,"
      " cause = NULL, sum = row_sum ('node', n, id, excluded.host, excluded.site,"
      " excluded.address, ifnull(joined, excluded.joined), NULL, NULL)"
      " WHERE host IS NOT excluded.host OR site IS NOT excluded.site"
      " OR address IS NOT excluded.address OR joined IS NULL OR left IS NOT NULL",
      node, error);
}

gboolean
tables_number_node (Sql *sql, const char *id, gint64 *number, GError **error)
{
  TablesNode node = { .id = id };
  gboolean has_row;
  if (!write_node (sql, NODE_INSERT_NEW, &node, error))
    return FALSE;
  sqlite3_stmt *statement = sql_ready (sql, "SELECT n FROM node WHERE id = ?1", error);
  if (statement == NULL)
    return FALSE;
  sql_bind_string (statement, 1, id);
  if (!sql_next (sql, statement, &has_row, error))
    return FALSE;
  g_assert (has_row);
  *number = sqlite3_column_int64 (statement, 0);
  sqlite3_reset (statement);
  return TRUE;
}

gboolean
tables_put_job (Sql *sql, gint64 number, const char *name, const char *type, GError **error)
{
  sqlite3_stmt *statement = sql_ready (
      sql, "INSERT OR REPLACE INTO job VALUES (?1, ?2, ?3, row_sum ('job', ?1, ?2, ?3))", error);
  if (statement == NULL)
    return FALSE;
  sqlite3_bind_int64 (statement, 1, number);
  sql_bind_string (statement, 2, name);
  sql_bind_string (statement, 3, type);
  return sql_finish (sql, statement, error);
}

gboolean
tables_end_node (Sql *sql, const char *id, gint64 left, const char *cause, GError **error)
{
  sqlite3_stmt *statement
      = sql_ready (sql,
                   "UPDATE node SET left = ?2, cause = ?3,"
                   " sum = row_sum ('node', n, id, host, site, address, joined, ?2, ?3)"
                   " WHERE id = ?1 AND left IS NULL",
                   error);
  if (statement == NULL)
    return FALSE;
  sql_bind_string (statement, 1, id);
  bind_time (statement, 2, left);
  sql_bind_string (statement, 3, cause);
  return sql_finish (sql, statement, error);
}

gboolean
tables_meet_node (Sql *sql, const TablesNode *node, GError **error)
{
  return write_node (
      sql,
      NODE_INSERT
      " ON CONFLICT (id) DO UPDATE SET host = ifnull(host, excluded.host),"
      " joined = excluded.joined, sum = row_sum ('node', n, id, ifnull(host, excluded.host), site,"
      " address, excluded.joined, left, cause) WHERE joined IS NULL",
      node, error);
}

/* Adds the work of events up to number `last` to event 0. */
static gboolean
sum_old_events (Sql *sql, gint64 last, GError **error)
{
  sqlite3_stmt *statement = sql_ready (
      sql, "SELECT total(work_s), max(at) FROM event WHERE id <= ?1 AND work_s > 0", error);
  gboolean has_row;
  if (statement == NULL)
    return FALSE;
  sqlite3_bind_int64 (statement, 1, last);
  if (!sql_next (sql, statement, &has_row, error))
    return FALSE;
  double work_s = sqlite3_column_double (statement, 0);
  gint64 at = sqlite3_column_int64 (statement, 1);
  sqlite3_reset (statement);
  if (!(work_s > 0))
    return TRUE;
  statement
      = sql_ready (sql,
                   "INSERT OR REPLACE INTO event VALUES (0, ?1, 'older', NULL, NULL, ?2, NULL,"
                   " row_sum ('event', 0, ?1, 'older', NULL, NULL, ?2, NULL))",
                   error);
  if (statement == NULL)
    return FALSE;
  bind_time (statement, 1, at);
  sqlite3_bind_double (statement, 2, work_s);
  return sql_finish (sql, statement, error);
}

static gboolean
forget_old_events (Sql *sql, guint keep, GError **error)
{
  sqlite3_stmt *statement
      = sql_ready (sql, "SELECT max(id) - ?1 FROM event HAVING max(id) - ?1 >= min(id)", error);
  gboolean has_row;
  if (statement == NULL)
    return FALSE;
  sqlite3_bind_int64 (statement, 1, keep);
  if (!sql_next (sql, statement, &has_row, error))
    return FALSE;
  if (!has_row)
    return TRUE;
  gint64 last = sqlite3_column_int64 (statement, 0);
  sqlite3_reset (statement);
  if (!sum_old_events (sql, last, error))
    return FALSE;
  statement = sql_ready (sql, "DELETE FROM event WHERE id > 0 AND id <= ?1", error);
  if (statement == NULL)
    return FALSE;
  sqlite3_bind_int64 (statement, 1, last);
  return sql_finish (sql, statement, error);
}

/* TRUE: the event states a cost, even if it is 0. */
static gboolean
has_cost (const TablesEvent *event)
{
  return event->work_s > 0 || g_str_equal (event->kind, "requeued")
         || g_str_equal (event->kind, "leave");
}

/* Binds the number of the event's node, which gets a row if it has none; NULL: no node. */
static gboolean
bind_event_node (Sql *sql, sqlite3_stmt *statement, int index, const char *id, GError **error)
{
  gint64 number;
  if (id == NULL || id[0] == '\0')
    return TRUE;
  if (!tables_number_node (sql, id, &number, error))
    return FALSE;
  sqlite3_bind_int64 (statement, index, number);
  return TRUE;
}

gboolean
tables_put_event (Sql *sql, const TablesEvent *event, guint keep, GError **error)
{
  sqlite3_stmt *statement = sql_ready (sql,
                                       "INSERT INTO event SELECT id, ?1, ?2, ?3, ?4, ?6, ?5,"
                                       " row_sum ('event', id, ?1, ?2, ?3, ?4, ?6, ?5)"
                                       " FROM (SELECT ifnull(max(id), 0) + 1 AS id FROM event)",
                                       error);
  if (statement == NULL || !bind_event_node (sql, statement, 3, event->node, error))
    return FALSE;
  bind_time (statement, 1, event->at);
  sql_bind_string (statement, 2, event->kind);
  sql_bind_string (statement, 4, event->path);
  sql_bind_string (statement, 5, event->detail);
  if (has_cost (event))
    sqlite3_bind_double (statement, 6, event->work_s);
  return sql_finish (sql, statement, error) && forget_old_events (sql, keep, error);
}

gboolean
tables_put_event_once (Sql *sql, const TablesEvent *event, guint keep, GError **error)
{
  gboolean is_there;
  sqlite3_stmt *statement = sql_ready (
      sql,
      "SELECT 1 FROM event WHERE kind = ?1 AND node IS ?2 AND (?1 IN ('joined', 'left')"
      " OR (path IS ?3 AND work_s IS ?4 AND detail IS ?5)) LIMIT 1",
      error);
  if (statement == NULL || !bind_event_node (sql, statement, 2, event->node, error))
    return FALSE;
  sql_bind_string (statement, 1, event->kind);
  sql_bind_string (statement, 3, event->path);
  if (has_cost (event))
    sqlite3_bind_double (statement, 4, event->work_s);
  sql_bind_string (statement, 5, event->detail);
  if (!sql_next (sql, statement, &is_there, error))
    return FALSE;
  sqlite3_reset (statement);
  return is_there || tables_put_event (sql, event, keep, error);
}

/* Proofs are made anew, since the proofs of the other file may have another seal. */
static gboolean
copy_rows (Sql *to, sqlite3_stmt *put, Sql *from, sqlite3_stmt *get, GError **error)
{
  int n = sqlite3_column_count (get);
  gboolean has_row = TRUE;
  while (sql_next (from, get, &has_row, error))
    {
      if (!has_row)
        return TRUE;
      for (int i = 0; i < n; i++)
        sqlite3_bind_value (put, i + 1, sqlite3_column_value (get, i));
      if (!sql_finish (to, put, error))
        {
          sqlite3_reset (get);
          return FALSE;
        }
    }
  return FALSE;
}

static gboolean
add_number (Sql *sql, const char *text, guint64 *sum, GError **error)
{
  gboolean has_row;
  sqlite3_stmt *statement = sql_ready (sql, text, error);
  if (statement == NULL || !sql_next (sql, statement, &has_row, error))
    return FALSE;
  *sum += (guint64)sqlite3_column_int64 (statement, 0);
  sqlite3_reset (statement);
  return TRUE;
}

#define COUNT_BAD(table, columns) \
  "SELECT count(*) FROM " table " NOT INDEXED" \
  " WHERE NOT row_holds (sum, '" table "', " columns ")"
#define COPY(table, columns, marks) \
  { \
    "SELECT " columns " FROM " table " NOT INDEXED" \
    " WHERE row_holds (sum, '" table "', " columns ")", \
        "INSERT OR IGNORE INTO " table " VALUES (" marks ", row_sum ('" table "', " marks "))", \
        "INSERT OR REPLACE INTO " table " VALUES (" marks ", row_sum ('" table "', " marks "))", \
        COUNT_BAD (table, columns) \
  }

/* Tables whose rows are copied as they are. Nodes get new numbers, jobs come with their results,
 * and events are united. */
static const struct
{
  const char *get, *add, *replace, *count;
} tables_copies[] = {
  COPY ("run", "key, value", "?1, ?2"),
  COPY ("constant", "name, type, digest, value", "?1, ?2, ?3, ?4"),
  COPY ("best", "name, type, value, json", "?1, ?2, ?3, ?4"),
};

gboolean
tables_count_bad_first (Sql *sql, guint64 *bad, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (tables_copies); i++)
    if (!add_number (sql, tables_copies[i].count, bad, error))
      return FALSE;
  return add_number (sql, COUNT_BAD ("node", NODE_COLUMNS), bad, error)
         && add_number (sql, COUNT_BAD ("job", "n, name, type"), bad, error);
}

gboolean
tables_count_bad (Sql *sql, guint64 *bad, GError **error)
{
  return tables_count_bad_first (sql, bad, error)
         && add_number (sql, COUNT_BAD ("event", "id, at, kind, node, path, work_s, detail"), bad,
                        error);
}

gboolean
tables_are_simple (Sql *sql, gboolean *are_simple, GError **error)
{
  guint64 n = 0;
  if (!add_number (sql, "SELECT count(*) FROM stem", &n, error)
      || !add_number (sql, "SELECT count(*) FROM keep", &n, error))
    return FALSE;
  *are_simple = n == 0;
  return TRUE;
}

static gboolean
add_node (const TablesNode *node, gpointer data, GError **error)
{
  return write_node (data, NODE_INSERT_NEW, node, error);
}

static gboolean
replace_node (const TablesNode *node, gpointer data, GError **error)
{
  return write_node (
      data,
      NODE_INSERT
      " ON CONFLICT (id) DO UPDATE SET host = excluded.host, site = excluded.site,"
      " address = excluded.address, joined = excluded.joined, left = excluded.left,"
      " cause = excluded.cause, sum = row_sum ('node', n, id, excluded.host, excluded.site,"
      " excluded.address, excluded.joined, excluded.left, excluded.cause)",
      node, error);
}

/* Copies all but the events. */
static gboolean
copy_first (Sql *to, Sql *from, gboolean replaces, GError **error)
{
  if (!tables_each_node (from, replaces ? replace_node : add_node, to, error))
    return FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS (tables_copies); i++)
    {
      sqlite3_stmt *get = sql_ready (from, tables_copies[i].get, error);
      const char *text = replaces ? tables_copies[i].replace : tables_copies[i].add;
      sqlite3_stmt *put = get != NULL ? sql_ready (to, text, error) : NULL;
      to->constants_are_known = FALSE;
      if (put == NULL || !copy_rows (to, put, from, get, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
tables_copy (Sql *to, Sql *from, gboolean replaces, guint64 *dropped, GError **error)
{
  return tables_count_bad (from, dropped, error) && copy_first (to, from, replaces, error)
         && events_unite (to, from, error);
}

gboolean
tables_copy_first (Sql *to, Sql *from, guint64 *dropped, GError **error)
{
  return tables_count_bad_first (from, dropped, error) && copy_first (to, from, FALSE, error);
}
