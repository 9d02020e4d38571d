/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin inspect`: what a checkpoint holds, for a person. One thread. Changes nothing; also shows a
 * checkpoint that a live run writes, since what stands at its place always is a whole file. */
#include "command.h"
#include "options.h"

#include "coordinator/restore.h"

#include <sqlite3.h>
#include <string.h>

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Restore, restore_clear)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3, sqlite3_close)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3_stmt, sqlite3_finalize)

static const char who[]
    = "SELECT coalesce (nullif (node, ''), '?'), count (*), coalesce (sum (work_s), 0)"
      " FROM result GROUP BY node ORDER BY 3 DESC LIMIT 20";
static const char largest[] = "SELECT path, job, coalesce (work_s, 0),"
                              " CASE typeof (value) WHEN 'blob' THEN length (value) || ' bytes'"
                              " ELSE substr (value, 1, 40) END"
                              " FROM result ORDER BY work_s DESC, path LIMIT 10";
static const char started[]
    = "SELECT strftime ('%Y-%m-%d %H:%M:%S UTC', min (joined), 'unixepoch') FROM node"
      " WHERE typeof (joined) IN ('integer', 'real')";

static const char *
column (sqlite3_stmt *statement, int i)
{
  const char *text = (const char *)sqlite3_column_text (statement, i);

  return text == NULL ? "" : text;
}

/* What cannot be asked of this file is left out: the file's worth was judged before. */
static sqlite3_stmt *
ask (sqlite3 *db, const char *query)
{
  sqlite3_stmt *statement = NULL;

  if (db == NULL || sqlite3_prepare_v2 (db, query, -1, &statement, NULL) != SQLITE_OK)
    return NULL;
  return statement;
}

static void
print_identity (const Identity *identity)
{
  g_autoptr (GString) line = g_string_new (NULL);

  for (guint i = 0; identity->argv != NULL && identity->argv[i] != NULL; i++)
    {
      g_autofree char *quoted = command_quote (identity->argv[i]);

      g_string_append_printf (line, " %s", quoted);
    }
  g_print ("run       %s (%s)\n", identity->name == NULL ? "?" : identity->name,
           identity->run == NULL ? "?" : identity->run);
  g_print ("program   %s%s\n", identity->app == NULL ? "?" : identity->app, line->str);
  if (identity->program != NULL)
    g_print ("path      %s\n", identity->program);
  if (identity->folder != NULL)
    g_print ("folder    %s\n", identity->folder);
  if (identity->version != NULL)
    g_print ("satin     %s\n", identity->version);
}

static void
print_started (sqlite3 *db)
{
  g_autoptr (sqlite3_stmt) statement = ask (db, started);

  if (statement != NULL && sqlite3_step (statement) == SQLITE_ROW && *column (statement, 0) != '\0')
    g_print ("started   %s\n", column (statement, 0));
}

static void
print_state (const Restore *restore)
{
  if (restore->finished)
    g_print ("state     finished, exit code %d\n", restore->exit_code);
  else
    g_print ("state     unfinished, %.2f %% done\n", CLAMP (restore->done, 0.0, 1.0) * 100);
  g_print ("results   %" G_GUINT64_FORMAT " saved", restore->rows);
  if (restore->rows_bad > 0)
    g_print (", %" G_GUINT64_FORMAT " damaged (they will be done again)", restore->rows_bad);
  g_print ("\n");
}

static void
print_who (sqlite3 *db)
{
  g_autoptr (sqlite3_stmt) statement = ask (db, who);
  gboolean first = TRUE;

  while (statement != NULL && sqlite3_step (statement) == SQLITE_ROW)
    {
      if (first)
        g_print ("\n%-16s %8s %12s\n", "NODE", "RESULTS", "WORK");
      first = FALSE;
      g_print ("%-16s %8s %10.2f s\n", column (statement, 0), column (statement, 1),
               sqlite3_column_double (statement, 2));
    }
}

static void
print_largest (sqlite3 *db)
{
  g_autoptr (sqlite3_stmt) statement = ask (db, largest);
  gboolean first = TRUE;

  while (statement != NULL && sqlite3_step (statement) == SQLITE_ROW)
    {
      const char *path = column (statement, 0);

      if (first)
        g_print ("\n%-24s %-12s %12s  %s\n", "LARGEST", "JOB", "WORK", "VALUE");
      first = FALSE;
      g_print ("%-24s %-12s %10.2f s  %s\n", *path == '\0' ? "/" : path, column (statement, 1),
               sqlite3_column_double (statement, 2), column (statement, 3));
    }
}

int
command_inspect (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("URI");
  g_autoptr (GError) error = NULL;
  g_auto (Restore) restore = { 0 };
  g_autoptr (sqlite3) db = NULL;
  g_autofree char *target = NULL;

  g_option_context_set_summary (
      context, "Shows what the checkpoint at URI is of and how much it holds. It is an SQLite\n"
               "file: `sqlite3 URI` shows everything else.");
  if (!command_parse (context, "inspect", &argc, &argv))
    return COMMAND_USAGE;
  if (argc != 2)
    return command_usage ("inspect ", "say one checkpoint: `satin inspect URI`");
  target = options_target (argv[1]);
  if (!restore_look (target, &restore, &error))
    {
      command_say ("%s", error->message);
      return error->domain == COORDINATOR_ERROR ? error->code : COMMAND_ERROR;
    }
  if (!restore.exists)
    {
      command_say ("there is no checkpoint at '%s'", target);
      return COMMAND_STORE;
    }
  if (sqlite3_open_v2 (target, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
    g_clear_pointer (&db, sqlite3_close);
  print_identity (&restore.identity);
  print_started (db);
  print_state (&restore);
  print_who (db);
  print_largest (db);
  return COMMAND_DONE;
}
