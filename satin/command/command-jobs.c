/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin jobs`: what every stack of a run runs now. Each node is asked twice: first to have its
 * stacks record their jobs, a moment later for the records. Main thread, and the threads of
 * gather.h. Tests: jobs.sh. */
#include "arguments.h"
#include "ask.h"
#include "command.h"
#include "gather.h"

#include "folder/control.h"

#include "text/fields.h"
#include "text/json.h"
#include "text/shown.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* A stack whose job syncs records within this time. */
#define SAY_US (100 * 1000)
#define ARGS_COLUMNS 32 /* on a terminal; elsewhere arguments are not cut */

static void
append_node_json (GString *json, const GatherNode *node)
{
  g_autoptr (GVariant) said = fields_read (node->reply);
  g_autoptr (GPtrArray) jobs = said != NULL ? fields_objects (said, "jobs") : NULL;

  g_string_append (json, "{\"id\":");
  json_append_string (json, node->id);
  json_append_member (json, "host", node->host);
  json_append_member (json, "site", node->site);
  g_string_append_printf (json, ",\"pid\":%u,\"workers\":%u,\"silent\":%s,\"more\":%u,\"jobs\":",
                          node->pid, node->workers, said == NULL ? "true" : "false",
                          said != NULL ? (guint)fields_count (said, "more") : 0);
  /* The array is the last member of the reply. */
  const char *list = jobs != NULL && jobs->len > 0 ? strstr (node->reply, "\"jobs\":[") : NULL;
  if (list != NULL)
    g_string_append (json, list + strlen ("\"jobs\":"));
  else
    g_string_append (json, "[]}");
}

static void
print_json (const AskRun *ask, const Gather *gather)
{
  g_autoptr (GString) json = g_string_new ("{\"format\":" JSON_FORMAT ",\"run\":");

  json_append_string (json, ask->run.name);
  g_string_append (json, ",\"nodes\":[");
  for (guint i = 0; i < gather->nodes->len; i++)
    {
      if (i > 0)
        g_string_append_c (json, ',');
      append_node_json (json, &g_array_index (gather->nodes, GatherNode, i));
    }
  g_print ("%s]}\n", json->str);
}

/* What the job waits for; "" if it runs. (transfer full) */
static char *
describe_wait (GVariant *job)
{
  const char *wanted = fields_text (job, "waits_for"), *child = fields_text (job, "child");
  const char *holder = fields_text (job, "holder");
  double stack = fields_number (job, "holder_stack");
  GString *text = g_string_new (wanted);

  if (*child != '\0')
    g_string_append_printf (text, " %s", child);
  if (strcmp (holder, "coordinator") == 0)
    g_string_append (text, ": the coordinator is asked for it");
  else if (*holder != '\0')
    g_string_append_printf (text, ", held by %s", holder);
  else if (isfinite (stack))
    g_string_append_printf (text, ", held by stack %.0f here", stack);
  return g_string_free (text, FALSE);
}

/* Adds a row: `node`, then copies of `cells`. */
static void
add_row (GPtrArray *rows, const char *node, const char *const cells[])
{
  GStrvBuilder *builder = g_strv_builder_new ();

  g_strv_builder_add (builder, node);
  g_strv_builder_addv (builder, (const char **)cells);
  g_ptr_array_add (rows, g_strv_builder_end (builder));
  g_strv_builder_unref (builder);
}

static void
add_job (GPtrArray *rows, const GatherNode *node, GVariant *job)
{
  guint columns = isatty (STDOUT_FILENO) ? ARGS_COLUMNS : G_MAXUINT;
  g_autofree char *for_text = shown_duration (fields_number (job, "for_s"));
  g_autofree char *args = shown_cut (fields_text (job, "args"), columns);
  g_autofree char *wait = describe_wait (job);
  g_autofree char *what = g_strdup_printf ("%s %s", fields_text (job, "job"), args);
  g_autofree char *stack = g_strdup_printf ("%.0f", fields_number (job, "stack"));
  g_autofree char *path = g_strdup_printf ("%s%s", fields_flag (job, "exact") ? "" : "in ",
                                           fields_text (job, "path"));
  const char *const cells[]
      = { stack, fields_text (job, "state"), for_text, path, what, wait, NULL };

  add_row (rows, node->id, cells);
}

static void
add_node (GPtrArray *rows, const GatherNode *node)
{
  g_autoptr (GVariant) said = fields_read (node->reply);
  g_autoptr (GPtrArray) jobs = said != NULL ? fields_objects (said, "jobs") : NULL;
  guint64 more = said != NULL ? fields_count (said, "more") : 0;

  if (said == NULL)
    {
      g_autofree char *who
          = g_strdup_printf ("process %u on host '%s' does not answer", node->pid, node->host);
      const char *const cells[] = { "", "silent", "", "", who, NULL };

      add_row (rows, node->id, cells);
    }
  else if (jobs->len == 0)
    {
      const char *const cells[] = { "", "idle", NULL };

      add_row (rows, node->id, cells);
    }
  for (guint i = 0; jobs != NULL && i < jobs->len; i++)
    add_job (rows, node, jobs->pdata[i]);
  if (more > 0)
    {
      g_autofree char *text = g_strdup_printf ("and %" G_GUINT64_FORMAT " more", more);
      const char *const cells[] = { "", text, NULL };

      add_row (rows, node->id, cells);
    }
}

/* The table as text. (transfer full) */
static char *
table_of (const Gather *gather)
{
  static const char *const heads[] = { "STACK", "STATE", "FOR", "PATH", "JOB", "WAITS FOR", NULL };
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);

  add_row (rows, "NODE", heads);
  for (guint i = 0; i < gather->nodes->len; i++)
    add_node (rows, &g_array_index (gather->nodes, GatherNode, i));
  return shown_table (rows, 1u << 1 | 1u << 3);
}

/* Silent nodes may have taken so long that the other nodes' records are old: then asks for new
 * ones. */
static void
ask_all (Gather *gather)
{
  gint64 began_us = g_get_monotonic_time ();

  gather_ask (gather, CONTROL_LOOK);
  if (g_get_monotonic_time () - began_us > G_USEC_PER_SEC)
    gather_ask (gather, CONTROL_LOOK);
  g_usleep (SAY_US);
  gather_ask (gather, CONTROL_JOBS);
}

static int
show (const AskRun *ask, gboolean json)
{
  g_autoptr (Gather) gather = gather_run (ask);
  g_autofree char *table = NULL;

  if (gather == NULL)
    return COMMAND_ERROR;
  ask_all (gather);
  if (json)
    {
      print_json (ask, gather);
      return COMMAND_DONE;
    }
  table = table_of (gather);
  g_print ("%s", table);
  return COMMAND_DONE;
}

int
command_jobs (int argc, char **argv)
{
  static const ArgumentsVerb verb
      = { "jobs", "RUN",
          "Shows what every node of RUN runs now: the path of each job, its arguments, for\n"
          "how long, and what it waits for.",
          ARGUMENTS_WORDS };
  g_auto (Arguments) said = { 0 };
  g_auto (AskRun) ask = { 0 };

  if (!arguments_read_run (&said, &verb, argc, argv))
    return COMMAND_USAGE;
  if (!ask_find (said.words[0], &ask))
    return COMMAND_ERROR;
  return show (&ask, said.json);
}
