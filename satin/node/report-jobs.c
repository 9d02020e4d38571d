/* SPDX-License-Identifier: BSD-3-Clause */
/* The replies to `satin jobs`, `satin top` and `satin metrics`: what the stacks of this node run,
 * and figures. Driving thread. Tests: test-report, test-look, jobs.sh. */
#include "driver-private.h"

#include "coordinator/readable.h"
#include "value/record.h"

#include "text/json-write.h"

#include <math.h>
#include <unistd.h>

/* The most jobs in a reply; those that were taken first come first. */
#define JOBS_MAX 200
#define TOP_JOBS_MAX 8

static double
seconds (guint64 us)
{
  return (double)us / G_USEC_PER_SEC;
}

static void
append_text (GString *json, const char *name, const char *text)
{
  g_string_append_printf (json, "\"%s\":", name);
  json_append_string (json, text);
}

/* The root's path is "" inside Satin and "/" for people. */
static void
append_path (GString *json, const char *name, const char *path)
{
  append_text (json, name, path != NULL && path[0] == '\0' ? "/" : path);
}

static const char *
state_of (const EngineNow *now)
{
  if (now->kind == ENGINE_NOW_RUNS)
    return "running";
  return now->kind == ENGINE_NOW_SEAT ? "ready" : "waiting";
}

/* What the job waits for; NULL: nothing. */
static const char *
wanted_by (const EngineNow *now)
{
  switch (now->kind)
    {
    case ENGINE_NOW_SEAT:
      return "a worker";
    case ENGINE_NOW_CHILD:
    case ENGINE_NOW_LOAN:
      return "a child";
    case ENGINE_NOW_ANY:
      return "any child";
    case ENGINE_NOW_SHARED:
      return "shared bytes";
    case ENGINE_NOW_KEPT:
      return "its kept state";
    case ENGINE_NOW_ABORT:
      return "an aborted child";
    case ENGINE_NOW_RUNS:
      return NULL;
    }
  g_assert_not_reached ();
}

/* The holder of the child that the job waits for: another node, the coordinator that is asked for
 * rows, or a stack of this node. */
static void
append_holder (Driver *driver, GString *json, const EngineNow *now)
{
  NodeId holder;
  NodeWaits waits
      = now->loan != 0 ? node_waits (driver->node, now->loan, &holder) : NODE_WAITS_NOWHERE;
  char id[NODE_ID_TEXT_MAX];

  if (waits == NODE_WAITS_NODE)
    g_string_append_printf (json, ",\"holder\":\"%s\"", node_id_show (&holder, id));
  else if (waits == NODE_WAITS_RERUN)
    g_string_append (json, ",\"holder\":\"coordinator\"");
  else
    g_string_append (json, ",\"holder\":null");
  if ((now->kind == ENGINE_NOW_CHILD || now->kind == ENGINE_NOW_ABORT) && now->thief != G_MAXUINT)
    g_string_append_printf (json, ",\"holder_stack\":%u", now->thief);
  else
    g_string_append (json, ",\"holder_stack\":null");
}

static void
append_job (Driver *driver, GString *json, const EngineNow *now)
{
  g_autofree char *type = record_signature (now->job->args);
  g_autofree char *args = readable_short (type, now->args);
  guint64 now_us = (guint64)g_get_monotonic_time ();

  g_string_append_printf (json, "{\"stack\":%u,", now->stack);
  append_text (json, "state", state_of (now));
  g_string_append_c (json, ',');
  append_path (json, "path", now->path);
  g_string_append_c (json, ',');
  append_text (json, "job", now->job->name);
  g_string_append_c (json, ',');
  append_text (json, "args", args);
  g_string_append (json, ",\"for_s\":");
  json_append_number (json, seconds (now->for_us));
  g_string_append_printf (json, ",\"exact\":%s,\"said_s\":", now->deepest ? "true" : "false");
  json_append_number (json, now->deepest ? seconds (now_us - MIN (now_us, now->said_us)) : NAN);
  g_string_append_printf (json, ",\"asked\":%s,\"below\":%u,", now->asked ? "true" : "false",
                          now->below);
  append_text (json, "waits_for", wanted_by (now));
  g_string_append_c (json, ',');
  append_path (json, "child", now->child);
  append_holder (driver, json, now);
  g_string_append_c (json, '}');
}

static void
append_self (Driver *driver, GString *json)
{
  NodeId self = node_self (driver->node);
  char id[NODE_ID_TEXT_MAX];

  g_string_append_printf (json, "\"id\":\"%s\",\"pid\":%d,\"workers\":%u", node_id_show (&self, id),
                          (int)getpid (), driver->config.workers);
}

/* Appends `more` and `jobs`, and ends the object. */
static void
append_jobs (Driver *driver, GString *json, guint max)
{
  guint more;
  g_autoptr (GPtrArray) all = engine_look (driver->engine, max, &more);

  g_string_append_printf (json, ",\"more\":%u,\"jobs\":[", more);
  for (guint i = 0; i < all->len; i++)
    {
      if (i > 0)
        g_string_append_c (json, ',');
      append_job (driver, json, all->pdata[i]);
    }
  g_string_append (json, "]}");
}

char *
report_jobs (Driver *driver)
{
  g_autoptr (GString) json = g_string_new ("{");

  append_self (driver, json);
  append_jobs (driver, json, JOBS_MAX);
  return g_string_free (g_steal_pointer (&json), FALSE);
}

static void
append_seconds (GString *json, const char *name, double value)
{
  g_string_append_printf (json, ",\"%s\":", name);
  json_append_number (json, value);
}

/* Appends the figures, and leaves the object open. */
static void
append_figures (Driver *driver, GString *json)
{
  EngineStats engine;
  NodeStats node;
  ScribeStats scribe = driver->written;

  engine_stats (driver->engine, &engine);
  node_stats (driver->node, &node);
  if (driver->scribe != NULL)
    scribe_stats (driver->scribe, &scribe);
  append_self (driver, json);
  report_append_count (json, "busy", engine.busy);
  report_append_count (json, "executed", engine.jobs); /* `jobs` is the list of those that run */
  report_append_count (json, "steals_local", engine.steals_local);
  report_append_count (json, "steals_remote", node.steals_remote);
  report_append_count (json, "saves", scribe.saves);
  report_append_count (json, "saved_rows", scribe.saved_rows);
  report_append_count (json, "checkpoint_bytes", scribe.bytes);
  report_append_count (json, "crashes", node.crashes);
  append_seconds (json, "up_s", seconds ((guint64)(g_get_monotonic_time () - driver->started_us)));
  append_seconds (json, "cpu_s", report_cpu_s (CLOCK_PROCESS_CPUTIME_ID));
  append_seconds (json, "work_s", seconds (engine.work_us));
  append_seconds (json, "lost_s", seconds (node.lost_us));
  append_seconds (json, "salvaged_s", seconds (node.salvaged_us));
}

char *
report_figures (Driver *driver)
{
  g_autoptr (GString) json = g_string_new ("{");

  append_figures (driver, json);
  g_string_append_c (json, '}');
  return g_string_free (g_steal_pointer (&json), FALSE);
}

char *
report_top (Driver *driver)
{
  g_autoptr (GString) json = g_string_new ("{");

  append_figures (driver, json);
  append_jobs (driver, json, TOP_JOBS_MAX);
  engine_look_ask (driver->engine);
  return g_string_free (g_steal_pointer (&json), FALSE);
}
