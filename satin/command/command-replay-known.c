/* SPDX-License-Identifier: BSD-3-Clause */
/* Is it probable that there is a job at a path? A job that the checkpoint does not mention may
 * still come into being, so this only warns people of mistyped paths. The weight of a row limits
 * how many children the jobs above it had then; a later sync may have spawned more. One thread.
 * Tests: test-replay-known, replay.sh. */
#include "command-replay.h"

#include <math.h>

/* Deeper paths are in the file by their stems, and are not checked. */
#define LEVELS_MAX 60

/* What is saved below a job. */
typedef struct
{
  gboolean is_any;
  double last;        /* the greatest number of a child at or below which there is a row */
  double most, child; /* the greatest weight of a row, and of a child's own row; 0: there is none */
} Below;

static gboolean
has_row (Sql *file, const char *text, const char *path, gboolean *has, GError **error)
{
  sqlite3_stmt *rows = sql_ready (file, text, error);

  if (rows == NULL)
    return FALSE;
  sql_bind_string (rows, 1, path);
  return sql_next (file, rows, has, error) && (!*has || sqlite3_reset (rows) == SQLITE_OK);
}

static gboolean
read_below (Sql *file, const char *path, Below *below, GError **error)
{
  sqlite3_stmt *rows = sql_ready (
      file,
      "SELECT count (*), max (CAST (rest AS INTEGER)),"
      " max (weight),"
      " max (CASE WHEN instr (rest, '/') = 0 THEN weight END)"
      " FROM (SELECT substr (path, length (?1) + 2) AS rest, CAST (weight AS REAL) AS weight"
      " FROM result WHERE path > ?1 || '/' AND path < ?1 || '0')",
      error);
  gboolean has = FALSE;

  if (rows == NULL)
    return FALSE;
  sql_bind_string (rows, 1, path);
  if (!sql_next (file, rows, &has, error))
    return FALSE;
  *below = (Below){ 0 };
  if (has)
    *below = (Below){ .is_any = sqlite3_column_int64 (rows, 0) > 0,
                      .last = sqlite3_column_double (rows, 1),
                      .most = sqlite3_column_double (rows, 2),
                      .child = sqlite3_column_double (rows, 3) };
  return sqlite3_reset (rows) == SQLITE_OK;
}

/* *closed (out): the job has a row or a kept state, which stands for what is below it. FALSE: an
 * error. */
static gboolean
is_closed (Sql *file, const char *path, gboolean *closed, GError **error)
{
  return has_row (file,
                  "SELECT 1 FROM (SELECT path FROM result WHERE path = ?1"
                  " UNION ALL SELECT path FROM keep WHERE path = ?1) LIMIT 1",
                  path, closed, error);
}

static gboolean
has_event (Sql *file, const char *path, gboolean *has, GError **error)
{
  return has_row (file,
                  "SELECT 1 FROM event WHERE path = ?1 OR (path > ?1 || '/' AND path < ?1 || '0')"
                  " LIMIT 1",
                  path, has, error);
}

/* *why (out, transfer full): the job at `parent` had too few children to have one with this number,
 * since the rows below it would have weighed less. *weight: at most the weight of the job; then, at
 * most that of each of its children. FALSE: not known. */
static gboolean
look_beside (Sql *file, const char *parent, guint32 number, double *weight, char **why)
{
  gboolean closed = FALSE;
  Below below;

  if (!is_closed (file, parent, &closed, NULL) || closed || !read_below (file, parent, &below, NULL)
      || !(below.most > 0))
    return FALSE;
  double n = MAX (floor (*weight / below.most + 1e-6), below.last + 1);
  if (number >= n)
    *why = g_strdup_printf ("%s had at most %.0f child%s", *parent == '\0' ? "/" : parent, n,
                            n > 1 ? "ren" : "");
  *weight = below.child > 0 ? below.child : *weight / (below.last + 1);
  return TRUE;
}

/* Why there is no root `root` yet: main asks for it only when the root before it has finished.
 * NULL: there may be one. (transfer full) (nullable) */
static char *
look_before (Sql *file, guint32 root)
{
  g_autofree char *own = path_of_root (root), *before = root > 0 ? path_of_root (root - 1) : NULL;
  gboolean closed = FALSE;
  Below below;

  if (root == 0 || !read_below (file, own, &below, NULL) || below.is_any
      || !is_closed (file, own, &closed, NULL) || closed
      || !has_row (file, "SELECT 1 FROM result WHERE path = ?1", before, &closed, NULL) || closed)
    return NULL;
  return g_strdup_printf ("root %u has not finished", root - 1);
}

/* Errors, such as a damaged file, are ignored: the program reports them. */
char *
command_replay_unlikely (Sql *file, const char *path)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree char *canonical = NULL, *start = NULL, *why = NULL;
  gboolean told = FALSE;
  guint32 root;

  if (!path_read (stems, path, &root, numbers) || numbers->len > LEVELS_MAX)
    return NULL;
  start = path_of_root (root);
  canonical = path_extend (stems, start, (const guint32 *)(void *)numbers->data, numbers->len);
  g_autoptr (GString) parent = g_string_new (start);
  double weight = 1;
  why = look_before (file, root);
  for (guint i = 0; why == NULL && i < numbers->len; i++)
    {
      guint32 number = g_array_index (numbers, guint32, i);

      if (!look_beside (file, parent->str, number, &weight, &why))
        return NULL;
      g_string_append_printf (parent, "/%u", number);
    }
  if (why == NULL || !has_event (file, canonical, &told, NULL) || told)
    return NULL;
  return g_steal_pointer (&why);
}
