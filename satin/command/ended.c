/* SPDX-License-Identifier: BSD-3-Clause */
/* See ended.h. A run whose processes died has a folder without an end. A run that ended has a
 * folder, or a record (folder/folder-ended.h). Tests: status.sh. */
#include "ended.h"
#include "command.h"

#include "folder/folder-ended.h"

#include "text/json.h"

typedef struct
{
  FolderRun run;
  int code;      /* exit code; -1: no end, but its processes are gone */
  gint64 end_us; /* 0: not known */
} Ended;

static double
elapsed_s (const FolderRun *run, gint64 until_us)
{
  return run->started_us > 0 && until_us > run->started_us
             ? (double)(until_us - run->started_us) / G_USEC_PER_SEC
             : 0;
}

/* The time as text; NULL: not known. (transfer full) (nullable) */
static char *
show_time (gint64 at_us, gboolean universal)
{
  gint64 at_s = at_us / G_USEC_PER_SEC;
  g_autoptr (GDateTime) time
      = universal ? g_date_time_new_from_unix_utc (at_s) : g_date_time_new_from_unix_local (at_s);

  return at_us <= 0 || time == NULL
             ? NULL
             : g_date_time_format (time, universal ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d %H:%M:%S");
}

void
ended_append_facts (GString *json, const FolderRun *run, gint64 until_us)
{
  g_autofree char *started = show_time (run->started_us, TRUE);

  json_append_member (json, "program", run->program);
  g_string_append (json, ",\"arguments\":[");
  for (guint i = 0; run->argv[i] != NULL; i++)
    {
      g_string_append (json, i == 0 ? "" : ",");
      json_append_string (json, run->argv[i]);
    }
  g_string_append (json, "]");
  json_append_member (json, "host", run->host);
  json_append_member (json, "started", started);
  g_string_append (json, ",\"elapsed_s\":");
  if (run->started_us > 0 && until_us > 0)
    json_append_number (json, elapsed_s (run, until_us));
  else
    g_string_append (json, "null");
}

void
ended_print_facts (const FolderRun *run, gint64 until_us)
{
  g_autofree char *started = show_time (run->started_us, FALSE);
  g_autofree char *program = command_quote (run->program);
  g_autoptr (GString) line = g_string_new (program);

  command_append_words (line, run->argv);
  g_print ("  %s\n", line->str);
  if (started == NULL)
    return;
  g_print ("  host %s  started %s", run->host != NULL ? run->host : "-", started);
  if (until_us > 0)
    g_print ("  elapsed %.1f s", elapsed_s (run, until_us));
  g_print ("\n");
}

static void
clear (gpointer data)
{
  folder_run_clear (&((Ended *)data)->run);
}

static void
add (GArray *all, const char *path)
{
  Ended one = { .code = -1 };

  if (path == NULL || !folder_read (path, &one.run, NULL))
    return;
  if (!folder_has_ended (path, &one.code, NULL))
    one.code = -1;
  one.end_us = folder_ended_us (path);
  g_array_append_val (all, one);
}

static GArray *
find_all (void)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (Ended));
  g_autoptr (GPtrArray) folders = folder_list (), records = folder_ended_list ();

  g_array_set_clear_func (all, clear);
  for (guint i = 0; i < folders->len; i++)
    {
      g_autofree char *path = folder_find (folders->pdata[i], NULL);
      if (path != NULL && !folder_is_live (path))
        add (all, path);
    }
  for (guint i = 0; i < records->len; i++)
    {
      g_autofree char *path = folder_ended_find (records->pdata[i]);
      add (all, path);
    }
  return all;
}

void
ended_print (void)
{
  g_autoptr (GArray) all = find_all ();

  for (guint i = 0; i < all->len; i++)
    {
      const Ended *one = &g_array_index (all, Ended, i);

      if (one->code >= 0)
        g_print ("%s  ended  exit code %d  checkpoint %s\n", one->run.name, one->code,
                 one->run.checkpoint != NULL ? one->run.checkpoint : "none");
      else
        g_print ("%s  its processes are gone  checkpoint %s\n", one->run.name,
                 one->run.checkpoint != NULL ? one->run.checkpoint : "none");
      ended_print_facts (&one->run, one->end_us);
    }
}

void
ended_append (GString *json)
{
  g_autoptr (GArray) all = find_all ();

  for (guint i = 0; i < all->len; i++)
    {
      const Ended *one = &g_array_index (all, Ended, i);

      g_string_append (json, i == 0 ? "{\"name\":" : ",{\"name\":");
      json_append_string (json, one->run.name);
      json_append_member (json, "id", one->run.id);
      json_append_member (json, "checkpoint", one->run.checkpoint);
      ended_append_facts (json, &one->run, one->end_us);
      g_string_append (json, ",\"exit_code\":");
      if (one->code >= 0)
        g_string_append_printf (json, "%d}", one->code);
      else
        g_string_append (json, "null}");
    }
}
