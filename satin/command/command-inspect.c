/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin inspect`: what a checkpoint holds, for a person. One thread. Changes nothing; also shows a
 * checkpoint that a live run writes, since what stands at its place always is a whole file. */
#include "arguments.h"
#include "command.h"

#include "coordinator/restore.h"

#include <string.h>

/* So many of each are shown; `sqlite3` shows the rest. */
#define NODES_SHOWN_MAX 20
#define ROWS_SHOWN_MAX 10
#define VALUE_SHOWN_MAX 40

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Restore, restore_clear)

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

static int
compare_work (gconstpointer a, gconstpointer b)
{
  const RestoreNode *x = *(RestoreNode *const *)a, *y = *(RestoreNode *const *)b;

  return (x->work_s < y->work_s) - (x->work_s > y->work_s);
}

/* A checkpoint is born when its first node joins. */
static void
print_started (const GPtrArray *nodes)
{
  gint64 first = 0;

  for (guint i = 0; i < nodes->len; i++)
    {
      const RestoreNode *node = nodes->pdata[i];

      if (node->joined > 0 && (first == 0 || node->joined < first))
        first = node->joined;
    }
  g_autoptr (GDateTime) time = first == 0 ? NULL : g_date_time_new_from_unix_local (first);
  g_autofree char *text = time == NULL ? NULL : g_date_time_format (time, "%Y-%m-%d %H:%M:%S");
  if (text != NULL)
    g_print ("started   %s\n", text);
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
print_who (const GPtrArray *nodes)
{
  gboolean first = TRUE;

  for (guint i = 0; i < MIN (nodes->len, NODES_SHOWN_MAX); i++)
    {
      const RestoreNode *node = nodes->pdata[i];

      if (first)
        g_print ("\n%-12s %-20s %8s %12s %8s\n", "NODE", "HOST", "RESULTS", "WORK", "SHARE");
      first = FALSE;
      g_print ("%-12s %-20s %8" G_GUINT64_FORMAT " %10.2f s %6.2f %%\n", node->id,
               node->name == NULL ? "-" : node->name, node->rows, node->work_s, node->weight * 100);
    }
  if (nodes->len > NODES_SHOWN_MAX)
    g_print ("… and %u more\n", nodes->len - NODES_SHOWN_MAX);
}

static void
print_largest (const GPtrArray *rows)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const RestoreRow *row = rows->pdata[i];
      g_autofree char *value
          = g_utf8_substring (row->value, 0, MIN (g_utf8_strlen (row->value, -1), VALUE_SHOWN_MAX));

      if (i == 0)
        g_print ("\n%-24s %-12s %8s %12s  %s\n", "LARGEST", "JOB", "SHARE", "WORK", "VALUE");
      g_print ("%-24s %-12s %6.2f %% %10.2f s  %s\n", row->path[0] == '\0' ? "/" : row->path,
               row->job, row->weight * 100, row->work_s, value);
    }
}

static int
fail (const GError *error)
{
  command_say ("%s", error->message);
  return error->domain == COORDINATOR_ERROR ? error->code : COMMAND_ERROR;
}

static int
inspect (const char *target)
{
  const RestoreQuery query = { .largest = TRUE, .limit = ROWS_SHOWN_MAX };
  g_autoptr (GError) error = NULL;
  g_auto (Restore) restore = { 0 };
  g_autoptr (GPtrArray) nodes = NULL, rows = NULL;

  if (!restore_look (target, &restore, &error))
    return fail (error);
  if (!restore.exists)
    {
      command_say ("there is no checkpoint at '%s'", target);
      return COMMAND_STORE;
    }
  nodes = restore_nodes (target, &error);
  rows = nodes == NULL ? NULL : restore_rows (target, &query, &error);
  if (rows == NULL)
    return fail (error);
  g_ptr_array_sort (nodes, compare_work);
  if (restore.damage != NULL)
    command_say ("checkpoint '%s' is damaged: %s", target, restore.damage);
  print_identity (&restore.identity);
  print_started (nodes);
  print_state (&restore);
  print_who (nodes);
  print_largest (rows);
  return COMMAND_DONE;
}

int
command_inspect (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("URI");
  g_autofree char *target = NULL;

  g_option_context_set_summary (
      context, "Shows what the checkpoint at URI is of and how much it holds. It is an SQLite\n"
               "file: `sqlite3 URI` shows everything else.");
  if (!command_parse (context, "inspect", &argc, &argv))
    return COMMAND_USAGE;
  if (argc != 2)
    return command_usage ("inspect ", "say one checkpoint: `satin inspect URI`");
  target = arguments_target (argv[1]);
  return target == NULL ? COMMAND_STORE : inspect (target);
}
