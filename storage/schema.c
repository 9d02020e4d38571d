/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of the format. Every checkpoint contains these texts, and they are compared byte for
 * byte when one is opened: any change is a new format. Tests: test-guard. */
#include "storage/schema.h"

#include <string.h>

/* `before`: the text in formats 1 and 2, if it differs; "": they do not have the object. `third`:
 * the text in format 3, if it differs from both. */
typedef struct
{
  const char *name, *sql, *before, *third;
} SchemaObject;

/* The formats of an object's text. */
typedef enum
{
  AGE_NOW,
  AGE_THIRD,
  AGE_BEFORE,
  AGES
} SchemaAge;

static const SchemaObject schema_objects[] = {
  { "run", "CREATE TABLE run (key TEXT PRIMARY KEY, value, sum)", NULL, NULL },
  { "node",
    "CREATE TABLE node (n INTEGER PRIMARY KEY, id TEXT UNIQUE, host, site, address, joined, left, "
    "cause, sum)",
    "CREATE TABLE node (n INTEGER PRIMARY KEY, id TEXT UNIQUE, name, site, address, joined,"
    " left, cause, sum)",
    NULL },
  { "job", "CREATE TABLE job (n INTEGER PRIMARY KEY, name, type, sum)", NULL, NULL },
  { "constant", "CREATE TABLE constant (name TEXT PRIMARY KEY, type, digest, value, sum)", NULL,
    NULL },
  { "best", "CREATE TABLE best (name TEXT PRIMARY KEY, type, value, json, sum)",
    "CREATE TABLE best (name TEXT PRIMARY KEY, type, value, sum)", NULL },
  { "keep",
    "CREATE TABLE keep (path TEXT PRIMARY KEY, children, digest, type, value, json, args, sum)",
    "CREATE TABLE keep (path TEXT PRIMARY KEY, children, digest, type, value, sum)",
    "CREATE TABLE keep (path TEXT PRIMARY KEY, children, digest, type, value, json, sum)" },
  { "result",
    "CREATE TABLE result (path TEXT PRIMARY KEY, node, job, digest, value, work_s, saved, weight "
    "REAL, json, args, began, took_ms, sum) WITHOUT ROWID",
    "CREATE TABLE result (path TEXT PRIMARY KEY, node, job, digest, value, work_s, saved,"
    " weight REAL, sum) WITHOUT ROWID",
    NULL },
  { "stem", "CREATE TABLE stem (id TEXT PRIMARY KEY, path, sum)", NULL, NULL },
  { "event",
    "CREATE TABLE event (id INTEGER PRIMARY KEY, at, kind, node, path, work_s, detail, sum)", NULL,
    NULL },

  /* The results for people: names instead of numbers, records as JSON. */
  { "readable",
    "CREATE VIEW readable AS SELECT CASE path WHEN '' THEN '/' ELSE path END AS path,"
    " job.name AS job, args, job.type AS type, CASE WHEN json IS NOT NULL THEN json WHEN"
    " typeof(value) = 'blob' THEN length(value) || ' bytes' ELSE value END AS value,"
    " node.id AS node, node.host AS host, work_s, weight, datetime(began, 'unixepoch') AS"
    " began_utc, took_ms / 1000.0 AS took_s, datetime(saved, 'unixepoch') AS saved_utc"
    " FROM result LEFT JOIN job ON job.n = result.job LEFT JOIN node ON node.n = result.node",
    "CREATE VIEW readable AS SELECT CASE path WHEN '' THEN '/' ELSE path END AS path,"
    " job.name AS job, job.type AS type, value, node.id AS node, work_s, weight,"
    " datetime(saved, 'unixepoch') AS saved_utc FROM result"
    " LEFT JOIN job ON job.n = result.job LEFT JOIN node ON node.n = result.node",
    NULL },
  /* The place of each row: its root, its depth, and a text that sorts /2 before /10 and stems where
   * they belong: before each number there is a letter for its length. */
  { "place",
    "CREATE VIEW place AS SELECT path, CAST(whole AS INTEGER) AS root,"
    " json_array_length(numbers) - 1 AS depth, (SELECT group_concat(char(96 +"
    " length(value)) || value, '') FROM json_each(numbers)) AS sort FROM (SELECT path,"
    " whole, '[' || CAST(whole AS INTEGER) || replace(substr(whole, instr(whole, ':') +"
    " 1), '/', ',') || ']' AS numbers FROM (SELECT path, CASE WHEN substr(path, 1, 1) <>"
    " '~' THEN path ELSE (WITH RECURSIVE up(whole) AS (SELECT path UNION ALL SELECT"
    " stem.path || substr(whole, 18) FROM up JOIN stem ON stem.id = substr(whole, 2, 16)"
    " WHERE substr(whole, 1, 1) = '~') SELECT whole FROM up WHERE substr(whole, 1, 1) <>"
    " '~') END AS whole FROM (SELECT path FROM result UNION ALL SELECT path FROM keep)))",
    "", NULL },
  /* The progress of the run, in one row. */
  { "progress",
    "CREATE VIEW progress AS SELECT (SELECT value FROM run WHERE key = 'name') AS run,"
    " min(1.0, total(weight)) AS done, CASE WHEN EXISTS (SELECT 1 FROM run WHERE key ="
    " 'answer') THEN 'finished' ELSE 'not finished' END AS state, count(*) AS results,"
    " total(work_s) AS work_s, count(DISTINCT node) AS nodes, datetime(max(saved),"
    " 'unixepoch') AS last_saved_utc FROM result",
    "CREATE VIEW progress AS SELECT"
    " (SELECT value FROM run WHERE key = 'name') AS run,"
    " printf('%.2f %%', 100 * min(1, total(weight))) AS done,"
    " CASE WHEN EXISTS (SELECT 1 FROM run WHERE key = 'answer') THEN 'finished'"
    " ELSE 'not finished' END AS state,"
    " count(*) AS results, round(total(work_s), 3) AS work_s, count(DISTINCT node) AS nodes,"
    " datetime(max(saved), 'unixepoch') AS last_saved_utc FROM result",
    NULL },
  /* The progress over time. */
  { "history",
    "CREATE VIEW history AS SELECT at, datetime(at, 'unixepoch') AS utc,"
    " CAST(substr(detail, 12) AS INTEGER) AS generation, CAST(substr(detail,"
    " instr(detail, ', ') + 2) AS REAL) / 100 AS done FROM event WHERE kind = 'published'"
    " ORDER BY id",
    "", NULL },
  /* The best values over time, as they were shown, and the first number in each. */
  { "best_history",
    "CREATE VIEW best_history AS SELECT at, datetime(at, 'unixepoch') AS utc, name,"
    " shown, CASE WHEN bare GLOB '[0-9]*' OR bare GLOB '-[0-9]*' THEN CAST(bare AS"
    " NUMERIC) END AS number FROM (SELECT *, ltrim(lower(shown),"
    " 'abcdefghijklmnopqrstuvwxyz :=') AS bare FROM (SELECT id, at, substr(detail, 1,"
    " instr(detail, ': ') - 1) AS name, substr(detail, instr(detail, ': ') + 2) AS shown"
    " FROM event WHERE kind = 'best')) ORDER BY id",
    "", NULL },
  /* The events with names of nodes. */
  { "ledger",
    "CREATE VIEW ledger AS SELECT event.id AS id, at, datetime(at, 'unixepoch') AS utc,"
    " kind, node.id AS node, node.host AS host, path, work_s, detail FROM event LEFT JOIN"
    " node ON node.n = event.node ORDER BY event.id",
    "", NULL },
  /* The results with the greatest shares of the tree first. */
  { "largest",
    "CREATE VIEW largest AS SELECT CASE path WHEN '' THEN '/' ELSE path END AS path,"
    " job.name AS job, node.id AS node, weight AS share, work_s, length(CAST(value AS"
    " BLOB)) AS size, datetime(saved, 'unixepoch') AS saved_utc FROM result LEFT JOIN job"
    " ON job.n = result.job LEFT JOIN node ON node.n = result.node ORDER BY weight DESC,"
    " work_s DESC, result.path",
    "CREATE VIEW largest AS SELECT path, job, node, printf('%.4f %%', 100 * weight) AS share,"
    " round(work_s, 3) AS work_s, length(value) AS size, saved_utc"
    " FROM readable ORDER BY weight DESC, readable.work_s DESC, readable.path",
    NULL },
  /* The nodes and their results. */
  { "who",
    "CREATE VIEW who AS SELECT id AS node, host, site, ifnull(results, 0) AS results,"
    " ifnull(work, 0.0) AS work_s, ifnull(share, 0.0) AS share, datetime(joined,"
    " 'unixepoch') AS joined_utc, datetime(left, 'unixepoch') AS left_utc, cause FROM"
    " (SELECT n FROM node UNION SELECT node FROM result) AS everybody LEFT JOIN node ON"
    " node.n = everybody.n LEFT JOIN (SELECT node, count(*) AS results, total(work_s) AS"
    " work, total(weight) AS share FROM result GROUP BY node) AS part ON part.node IS"
    " everybody.n ORDER BY ifnull(work, 0.0) DESC, everybody.n",
    "CREATE VIEW who AS SELECT id AS node, name, site, ifnull(results, 0) AS results,"
    " round(ifnull(work, 0.0), 3) AS work_s, printf('%.2f %%', 100 * ifnull(share, 0.0)) AS share,"
    " datetime(joined, 'unixepoch') AS joined_utc, datetime(left, 'unixepoch') AS left_utc, cause"
    " FROM (SELECT n FROM node UNION SELECT node FROM result) AS everybody"
    " LEFT JOIN node ON node.n = everybody.n LEFT JOIN (SELECT node, count(*) AS results,"
    " total(work_s) AS work, total(weight) AS share FROM result GROUP BY node) AS part"
    " ON part.node IS everybody.n ORDER BY ifnull(work, 0.0) DESC, everybody.n",
    NULL },
  /* Work that is certainly left: children before the last known one of their parent for which
   * nothing is saved: no result at or below them, and no kept state. `front` is a child's path
   * before its number. */
  { "missing",
    "CREATE VIEW missing AS WITH RECURSIVE"
    " front(front) AS (SELECT rtrim(path, '0123456789') FROM result WHERE path <> ''"
    " UNION SELECT rtrim(path, '0123456789') FROM keep WHERE path <> ''"
    " UNION SELECT rtrim(CASE WHEN substr(front, 1, 1) = '~' AND length(front) = 18"
    " THEN (SELECT path FROM stem WHERE id = substr(front, 2, 16))"
    " ELSE rtrim(front, '/') END, '0123456789') FROM front WHERE front <> '/'),"
    " parent(front, path) AS (SELECT front,"
    " CASE WHEN substr(front, 1, 1) = '~' AND length(front) = 18"
    " THEN (SELECT path FROM stem WHERE id = substr(front, 2, 16))"
    " ELSE rtrim(front, '/') END FROM front),"
    " known(path) AS (SELECT path FROM parent WHERE path IS NOT NULL"
    " UNION SELECT path FROM keep),"
    " child(front, number) AS (SELECT rtrim(path, '0123456789'),"
    " CAST(substr(path, length(rtrim(path, '0123456789')) + 1) AS INTEGER)"
    " FROM (SELECT path FROM result UNION ALL SELECT path FROM known)"
    " WHERE path <> ''),"
    " gap(front, number, kept) AS (SELECT child.front, number - 1,"
    " ifnull(children, 0) FROM child JOIN parent ON parent.front = child.front"
    " LEFT JOIN keep ON keep.path = parent.path WHERE number > ifnull(children, 0)"
    " AND NOT EXISTS (SELECT 1 FROM result WHERE path = child.front || (number - 1))"
    " AND child.front || (number - 1) NOT IN (SELECT path FROM known)"
    " UNION ALL SELECT front, number - 1, kept FROM gap WHERE number > kept"
    " AND NOT EXISTS (SELECT 1 FROM result WHERE path = front || (number - 1))"
    " AND front || (number - 1) NOT IN (SELECT path FROM known))"
    " SELECT front || number AS path FROM gap",
    NULL, NULL },
};

gboolean
schema_create (Sql *sql, GError **error)
{
  if (!sql_run (sql, "BEGIN", error))
    return FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS (schema_objects); i++)
    if (!sql_run (sql, schema_objects[i].sql, error))
      return FALSE;
  return sql_run (sql, "COMMIT", error);
}

static const SchemaObject *
schema_find (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (schema_objects); i++)
    if (strcmp (schema_objects[i].name, name) == 0)
      return &schema_objects[i];
  return NULL;
}

/* Shows the columns of a file of format 1 or 2 under today's names. There a text is a row's own
 * value, too, so its checksum is right (rowsum.h). */
#define EARLIER_TABLES \
  "CREATE TEMP VIEW node AS SELECT n, id, name AS host, site, address, joined, left, cause, sum" \
  " FROM main.node;" \
  "CREATE TEMP VIEW best AS SELECT name, type, value, NULL AS json, sum FROM main.best;" \
  "CREATE TEMP VIEW keep AS SELECT path, children, digest, type, value, NULL AS json," \
  " NULL AS args, sum FROM main.keep;" \
  "CREATE TEMP VIEW result AS SELECT path, node, job, digest, value, work_s, saved, weight," \
  " NULL AS json, NULL AS args, NULL AS began, NULL AS took_ms, sum FROM main.result"

/* The same for format 3. */
#define THIRD_TABLES \
  "CREATE TEMP VIEW keep AS SELECT path, children, digest, type, value, json, NULL AS args, sum" \
  " FROM main.keep"

static const char *
text_of (const SchemaObject *object, SchemaAge age)
{
  const char *earlier = age == AGE_THIRD    ? object->third
                        : age == AGE_BEFORE ? object->before
                                            : NULL;
  return earlier != NULL ? earlier : object->sql;
}

/* TRUE: the file has exactly the objects of this format. */
static gboolean
is_complete (SchemaAge age, const guint *n, guint n_all)
{
  guint wanted = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (schema_objects); i++)
    wanted += text_of (&schema_objects[i], age)[0] != '\0';
  return n[age] == wanted && n_all == wanted;
}

gboolean
schema_check (Sql *sql, GError **error)
{
  /* Objects without a text are the indexes that SQLite makes for our PRIMARY KEYs. */
  sqlite3_stmt *statement
      = sql_ready (sql, "SELECT name, sql FROM main.sqlite_schema WHERE sql IS NOT NULL", error);
  guint n[AGES] = { 0 }, n_all = 0;
  gboolean has_row = statement != NULL;
  if (statement == NULL)
    return FALSE;
  for (;;)
    {
      if (!sql_next (sql, statement, &has_row, error))
        return FALSE;
      if (!has_row)
        break;
      g_autofree char *name = sql_column_string (statement, 0);
      g_autofree char *text = sql_column_string (statement, 1);
      const SchemaObject *object = name != NULL ? schema_find (name) : NULL;
      n_all++;
      for (SchemaAge age = AGE_NOW; object != NULL && age < AGES; age++)
        n[age] += strcmp (text_of (object, age), text) == 0;
      if (MAX (MAX (n[AGE_NOW], n[AGE_THIRD]), n[AGE_BEFORE]) < n_all)
        {
          sqlite3_reset (statement);
          g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE,
                       "its %s is not part of a Satin checkpoint of format %d",
                       name != NULL ? name : "schema", SCHEMA_VERSION);
          return FALSE;
        }
    }
  sql->is_earlier = !is_complete (AGE_NOW, n, n_all);
  if (!sql->is_earlier)
    return TRUE;
  if (is_complete (AGE_THIRD, n, n_all))
    return sql_run (sql, THIRD_TABLES, error);
  if (is_complete (AGE_BEFORE, n, n_all))
    return sql_run (sql, EARLIER_TABLES, error);
  g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE,
               "it lacks tables of a Satin checkpoint of format %d", SCHEMA_VERSION);
  return FALSE;
}
