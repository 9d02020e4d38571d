/* SPDX-License-Identifier: BSD-3-Clause */
/* What people read: the reply to `satin status`, the statistics of one node, troubles, failed jobs.
 * Driving thread.
 * Tests: test-report, status.sh, json.sh. */
#include "driver-private.h"

#include "coordinator/readable.h"
#include "engine/best.h"
#include "value/record.h"

#include "folder/folder.h"
#include "folder/timeline-file.h"

#include "host/outlet.h"
#include "host/say.h"

#include "text/json-write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A file of troubles has at most so many sentences. */
#define TROUBLES_MAX 10

static void
append_number (GString *json, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append (json, g_ascii_formatd (text, sizeof text, "%.6f", isfinite (value) ? value : 0));
}

void
report_timeline (Driver *driver, gboolean last)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (driver->timeline == NULL)
    return;
  timeline_take (driver->timeline, text);
  if (last)
    timeline_take_open (driver->timeline, text);
  timeline_file_add (driver->config.trace, text);
}

/* The share of the root's tree that is finished, as far as this node knows. It never decreases,
 * except at the next root. */
static double
share_done (Driver *driver)
{
  double share = engine_share (driver->engine);
  if (driver->scribe != NULL)
    {
      ScribeStats stats;
      scribe_stats (driver->scribe, &stats);
      share = MAX (share, stats.done);
    }
  if (driver->share_max >= 1.0)
    driver->share_max = 0;
  driver->share_max = CLAMP (share, driver->share_max, 1.0);
  return driver->share_max;
}

/* What would be lost ... */
typedef enum
{
  RISK_ONE, /* ... if only that node died */
  RISK_ALL  /* ... if all nodes died */
} RiskKind;

static guint64
own_risk_us (Driver *driver, RiskKind kind)
{
  EngineStats engine;
  NodeStats node;
  engine_stats (driver->engine, &engine);
  node_stats (driver->node, &node);
  if (kind == RISK_ALL && driver->config.checkpoint == NULL)
    return engine.work_us;
  return engine.risk_us + (kind == RISK_ALL ? node.unpublished_us : node.alone_us);
}

/* A working node reports at least so often: each STATS_PERIOD_MS, with a period to spare. */
#define TOLD_EVERY_US (2 * G_USEC_PER_SEC)

/* How many seats of a member run a job, by its last report; -1: it has not reported. */
static int
busy_of (Driver *driver, const NodeMember *member)
{
  EngineStats engine;

  if (!member->self)
    return member->told_us == 0 ? -1 : (int)MIN (member->busy, member->workers);
  engine_stats (driver->engine, &engine);
  return (int)MIN (engine.busy, member->workers);
}

/* Seconds of work that would have to be done again; -1: the member has not reported. Since a
 * report, its busy seats have worked on; idle seats may have begun to work, but would have reported
 * that within TOLD_EVERY_US. */
static double
risk_of (Driver *driver, const NodeMember *member, RiskKind kind)
{
  guint64 now_us = (guint64)g_get_monotonic_time (), told_us = member->alone_us;
  if (member->self)
    return (double)own_risk_us (driver, kind) / G_USEC_PER_SEC;
  if (member->told_us == 0)
    return -1;
  if (kind == RISK_ALL)
    told_us = driver->config.checkpoint == NULL ? member->work_us : member->risk_us;
  guint64 since_us = now_us - member->told_us;
  guint32 idle = member->workers - MIN (member->busy, member->workers);
  return (double)(told_us + since_us * member->busy + MIN (since_us, TOLD_EVERY_US) * idle)
         / G_USEC_PER_SEC;
}

static void
append_member (Driver *driver, GString *json, const NodeMember *member)
{
  char id[NODE_ID_TEXT_MAX];
  double risk_s = risk_of (driver, member, RISK_ONE);
  int busy = busy_of (driver, member);
  g_string_append_printf (json, "{\"id\":\"%s\",\"host\":", node_id_show (&member->id, id));
  json_append_string (json, member->host);
  json_append_member (json, "address", member->address);
  g_string_append_printf (json, ",\"pid\":%u,\"site\":", member->pid);
  json_append_string (json, member->site);
  g_string_append_printf (
      json, ",\"roles\":[%s%s%s],\"workers\":%u,\"state\":\"%s\",\"at_risk_s\":",
      member->master ? "\"master\"" : "", member->master && member->coordinator ? "," : "",
      member->coordinator ? "\"coordinator\"" : "", member->workers,
      member->leaving ? "leaving" : "up");
  if (risk_s < 0)
    g_string_append (json, "null");
  else
    append_number (json, risk_s);
  if (busy < 0)
    g_string_append (json, ",\"busy\":null");
  else
    g_string_append_printf (json, ",\"busy\":%d", busy);
  g_string_append_printf (json, ",\"silent\":%s}", member->silent ? "true" : "false");
}

static void
append_best (GString *json)
{
  const char *between = "";

  g_string_append (json, ",\"best\":[");
  for (guint i = 0; i < best_count (); i++)
    {
      g_autofree char *text = best_show (best_get (i));

      if (text == NULL)
        continue;
      g_string_append_printf (json, "%s{\"name\":", between);
      json_append_string (json, best_get (i)->name);
      json_append_member (json, "text", text);
      g_string_append_c (json, '}');
      between = ",";
    }
  g_string_append_c (json, ']');
}

/* How long the run will still take; null unless this node is coordinator, since only it has the
 * rows. */
static void
append_left (Driver *driver, GString *json, double busy)
{
  double now_s = (double)g_get_monotonic_time () / G_USEC_PER_SEC;
  double pace = left_pace (&driver->pace, busy, now_s);
  ScribeStats stats = { 0 };
  LeftRange time;

  if (driver->scribe != NULL)
    scribe_stats (driver->scribe, &stats);
  double age_s = now_s - (double)stats.left_us / G_USEC_PER_SEC;
  if (stats.left_us == 0 || !left_time (&stats.left, pace, age_s, &time))
    {
      g_string_append (json, ",\"left_s\":null,\"left_low_s\":null,\"left_high_s\":null");
      return;
    }
  g_string_append (json, ",\"left_s\":");
  append_number (json, time.best_s);
  g_string_append (json, ",\"left_low_s\":");
  append_number (json, time.low_s);
  g_string_append (json, ",\"left_high_s\":");
  append_number (json, time.high_s);
}

char *
report_status (Driver *driver)
{
  g_autoptr (GString) json = g_string_new ("{\"name\":");
  g_autoptr (GArray) members = node_members (driver->node);
  double one_s = 0, all_s = 0, busy = 0;
  json_append_string (json, driver->config.run.name);
  json_append_member (json, "id", driver->config.run.id);
  json_append_member (json, "checkpoint", driver->config.checkpoint);
  g_string_append_printf (json, ",\"term\":%u,\"root\":", node_term (driver->node));
  if (node_root (driver->node) >= 0)
    g_string_append_printf (json, "%" G_GINT64_FORMAT, node_root (driver->node));
  else
    g_string_append (json, "null");
  g_string_append (json, ",\"done\":");
  if (driver->config.checkpoint != NULL) /* without a checkpoint no stack is scanned */
    append_number (json, share_done (driver));
  else
    g_string_append (json, "null");
  for (guint i = 0; i < members->len; i++)
    {
      const NodeMember *member = &g_array_index (members, NodeMember, i);
      one_s = MAX (one_s, risk_of (driver, member, RISK_ONE));
      all_s += MAX (risk_of (driver, member, RISK_ALL), 0);
      if (!member->silent)
        busy += MAX (busy_of (driver, member), 0);
    }
  g_string_append_printf (json, ",\"stopping\":%s", node_stops (driver->node) ? "true" : "false");
  append_left (driver, json, busy);
  append_best (json);
  g_string_append (json, ",\"at_risk_s\":");
  append_number (json, one_s);
  g_string_append (json, ",\"at_risk_all_s\":");
  append_number (json, all_s);
  g_string_append (json, ",\"nodes\":[");
  for (guint i = 0; i < members->len; i++)
    {
      if (i > 0)
        g_string_append_c (json, ',');
      append_member (driver, json, &g_array_index (members, NodeMember, i));
    }
  g_string_append (json, "]}");
  return g_string_free (g_steal_pointer (&json), FALSE);
}

void
report_append_count (GString *json, const char *name, guint64 value)
{
  g_string_append_printf (json, ",\"%s\":%" G_GUINT64_FORMAT, name, value);
}

static void
append_seconds (GString *json, const char *name, double value)
{
  g_string_append_printf (json, ",\"%s\":", name);
  append_number (json, value);
}

double
report_cpu_s (clockid_t clock)
{
  struct timespec used;
  clock_gettime (clock, &used);
  return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static void
append_us (GString *json, const char *name, guint64 us)
{
  append_seconds (json, name, (double)us / G_USEC_PER_SEC);
}

/* The work of an earlier life that was used. Alone, all results that were taken are of an earlier
 * life, and each is taken once. */
static guint64
restored_us (Driver *driver, const NodeStats *node)
{
  const GPtrArray *all = node_taken (driver->node);
  guint64 us = node->restored_us;
  for (guint i = 0; driver->config.solo && i < all->len; i++)
    us += ((const NodeTaken *)all->pdata[i])->work_us;
  return us;
}

static guint64
redone_us (Driver *driver, const EngineStats *engine, const NodeStats *node)
{
  guint64 done_us = engine->work_us + restored_us (driver, node);
  return node->answer_us == 0 ? 0 : done_us - MIN (done_us, node->answer_us);
}

/* All names of this process, and what it saw of members that are gone. Several masters may have
 * seen the same member, and one that only seemed to be gone counts its own work. */
static void
append_names (Driver *driver, GString *json)
{
  const GArray *departed = node_departed (driver->node);
  char id[NODE_ID_TEXT_MAX];
  g_string_append (json, ",\"names\":[");
  for (guint i = 0; i < driver->names->len; i++)
    g_string_append_printf (json, "%s\"%s\"", i > 0 ? "," : "",
                            node_id_write (&g_array_index (driver->names, NodeId, i), id));
  g_string_append (json, "],\"departed\":{");
  for (guint i = 0; i < departed->len; i++)
    {
      const NodeDeparted *one = &g_array_index (departed, NodeDeparted, i);
      g_string_append_printf (json, "%s\"%s\":", i > 0 ? "," : "", node_id_write (&one->id, id));
      append_number (json, (double)one->work_us / G_USEC_PER_SEC);
    }
  g_string_append_c (json, '}');
}

/* A text for each result, as figures-taken.c reads it. */
static void
append_taken (Driver *driver, GString *json)
{
  const GPtrArray *all = node_taken (driver->node);
  char id[NODE_ID_TEXT_MAX];
  g_string_append (json, ",\"taken\":[");
  for (guint i = 0; i < all->len; i++)
    {
      const NodeTaken *one = all->pdata[i];
      g_string_append_printf (json, "%s\"%" G_GUINT64_FORMAT " %u %s %s\"", i > 0 ? "," : "",
                              one->work_us, one->children, node_id_write (&one->author, id),
                              one->path);
    }
  g_string_append_c (json, ']');
}

static const char *const sent_names[NODE_SENT_USES] = {
  [NODE_SENT_JOBS] = "sent_jobs_bytes",       [NODE_SENT_RESULTS] = "sent_results_bytes",
  [NODE_SENT_KEEPERS] = "sent_keepers_bytes", [NODE_SENT_SAVES] = "sent_saves_bytes",
  [NODE_SENT_OFFERS] = "sent_offers_bytes",   [NODE_SENT_SHARED] = "sent_shared_bytes",
  [NODE_SENT_OTHER] = "sent_other_bytes",
};

/* `stats` NULL: nothing was sent. */
static void
append_sent (GString *json, const NodeStats *stats)
{
  for (guint i = 0; i < NODE_SENT_USES; i++)
    report_append_count (json, sent_names[i], stats == NULL ? 0 : stats->sent_bytes[i]);
}

static char *
stats_text (Driver *driver, gboolean last)
{
  EngineStats engine;
  NodeStats node;
  ScribeStats scribe = driver->written; /* of the previous scribe, if there is none now */
  char id[NODE_ID_TEXT_MAX];
  NodeId self = node_self (driver->node);
  engine_stats (driver->engine, &engine);
  node_stats (driver->node, &node);
  if (driver->scribe != NULL)
    scribe_stats (driver->scribe, &scribe);
  g_autoptr (GString) json = g_string_new ("{\"wall_s\":");
  append_number (json, (double)(g_get_monotonic_time () - driver->started_us) / 1e6);
  report_append_count (json, "nodes", 1);
  report_append_count (json, "workers", driver->config.workers);
  report_append_count (json, "jobs", engine.jobs);
  report_append_count (json, "jobs_reused", engine.jobs_reused);
  report_append_count (json, "unmatched", engine.unmatched);
  report_append_count (json, "steals_local", engine.steals_local);
  report_append_count (json, "steals_remote", node.steals_remote);
  report_append_count (json, "waits", node.waits);
  append_us (json, "waited_s", node.waited_us);
  report_append_count (json, "copied_bytes", node.copied_bytes);
  report_append_count (json, "kept_bytes", node.kept_bytes);
  append_sent (json, &node);
  report_append_count (json, "verified", node.verified);
  report_append_count (json, "shared_fetches", node.shared_fetched);
  report_append_count (json, "shared_bytes", node.shared_bytes);
  report_append_count (json, "saves", scribe.saves);
  report_append_count (json, "saved_rows", scribe.saved_rows);
  report_append_count (json, "checkpoint_bytes", scribe.bytes);
  report_append_count (json, "crashes", node.crashes);
  append_seconds (json, "work_s", (double)engine.work_us / 1e6);
  append_seconds (json, "cpu_s", report_cpu_s (CLOCK_PROCESS_CPUTIME_ID));
  append_seconds (json, "driver_s", report_cpu_s (driver->clock));
  append_seconds (json, "scribe_s", (double)scribe.cpu_us / 1e6);
  append_seconds (json, "scan_s", (double)engine.scan_us / 1e6);
  append_us (json, "lost_s", node.lost_us);
  append_us (json, "salvaged_s", node.salvaged_us);
  append_us (json, "restored_s", restored_us (driver, &node));
  append_us (json, "at_risk_s", driver->part == PART_LEFT ? 0 : own_risk_us (driver, RISK_ONE));
  append_us (json, "at_risk_all_s", driver->part == PART_LEFT ? 0 : own_risk_us (driver, RISK_ALL));
  if (driver->part == PART_LEFT)
    append_us (json, "left_lost_s", driver->parting.lost_us);
  if (driver->parting.why != NULL)
    g_string_append_printf (json, ",\"parted\":\"%s\"", driver->parting.why);
  append_us (json, "answer_s", node.answer_us);
  /* Alone: work that is not in the answer was done again. */
  if (driver->config.solo)
    append_us (json, "redone_s", redone_us (driver, &engine, &node));
  g_string_append_printf (json, ",\"final\":%s", last ? "true" : "false");
  if (!driver->config.solo)
    {
      append_names (driver, json);
      append_taken (driver, json);
    }
  if (!driver->config.solo)
    g_string_append_printf (json, ",\"id\":\"%s\",\"pid\":%d,\"master\":%s",
                            node_id_show (&self, id), (int)getpid (),
                            driver->master ? "true" : "false");
  g_string_append (json, "}\n");
  return g_string_free (g_steal_pointer (&json), FALSE);
}

char *
report_idle_stats (gint64 began_us, guint workers)
{
  static const char *const none[]
      = { "jobs",           "jobs_reused",  "unmatched",  "steals_local", "steals_remote",
          "shared_fetches", "shared_bytes", "saves",      "saved_rows",   "checkpoint_bytes",
          "crashes",        "work_s",       "driver_s",   "scribe_s",     "scan_s",
          "lost_s",         "salvaged_s",   "restored_s", "at_risk_s",    "at_risk_all_s",
          "answer_s",       "redone_s",     "waits",      "waited_s",     "copied_bytes",
          "kept_bytes",     "verified" };
  g_autoptr (GString) json = g_string_new ("{\"wall_s\":");
  append_number (json, (double)(g_get_monotonic_time () - began_us) / G_USEC_PER_SEC);
  report_append_count (json, "nodes", 1);
  report_append_count (json, "workers", workers);
  for (gsize i = 0; i < G_N_ELEMENTS (none); i++)
    report_append_count (json, none[i], 0);
  append_sent (json, NULL);
  append_seconds (json, "cpu_s", report_cpu_s (CLOCK_PROCESS_CPUTIME_ID));
  g_string_append (json, ",\"final\":true}\n");
  return g_string_free (g_steal_pointer (&json), FALSE);
}

void
report_stats (Driver *driver, gboolean last)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  if (driver->config.solo && last && driver->config.stats != NULL)
    {
      text = stats_text (driver, last);
      if (!outlet_write (driver->config.stats, text, &error))
        say_line ("%s", error->message);
    }
  if (driver->config.solo || driver->config.folder == NULL)
    return;
  text = stats_text (driver, last);
  g_autofree char *file = folder_node_file (getpid (), FOLDER_NODE_STATS);
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
  if (!folder_renew (driver->config.folder, file, bytes, &error) && !last)
    driver_say (driver, "%s", error->message);
}

/* node-PID.trouble: the number of all messages, then the last ones, one a line. */
void
report_trouble (Driver *driver, const char *sentence)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *file = folder_node_file (getpid (), FOLDER_NODE_TROUBLE);
  driver_say (driver, "%s", sentence);
  if (driver->config.solo || driver->config.folder == NULL)
    return;
  g_queue_push_tail (&driver->troubles, g_strdelimit (g_strdup (sentence), "\n", ' '));
  if (driver->troubles.length > TROUBLES_MAX)
    g_free (g_queue_pop_head (&driver->troubles));
  g_string_append_printf (text, "%u\n", ++driver->n_troubles);
  for (GList *item = driver->troubles.head; item != NULL; item = item->next)
    g_string_append_printf (text, "%s\n", (const char *)item->data);
  g_autoptr (GBytes) bytes = g_string_free_to_bytes (g_steal_pointer (&text));
  if (!folder_write (driver->config.folder, file, bytes, &error))
    driver_say (driver, "%s", error->message);
}

/* The path, name and arguments of a failed job, and why it failed. (transfer full) */
static char *
failed_job_text (const EngineEvent *said, const char *more)
{
  g_autofree char *type = record_signature (said->job->args);
  g_autofree char *args = readable_short (type, said->value);

  return g_strdup_printf ("the job at %s, %s %s%s: %s", said->at[0] != '\0' ? said->at : "/",
                          said->job->name, args, more, said->cause);
}

char *
report_difference (Driver *driver, const NodeEffect *effect)
{
  const SatinJob *job = driver->config.jobs[effect->job->job];
  NodeId self = node_self (driver->node);
  char there[NODE_ID_TEXT_MAX], here[NODE_ID_TEXT_MAX];
  const char *path = effect->job->path;
  gboolean is_named = !node_id_is_none (&effect->node);
  g_autofree char *args_type = record_signature (job->args);
  g_autofree char *type = record_signature (job->result);
  g_autofree char *args = readable_short (args_type, effect->job->args);
  g_autofree char *first = readable_short (type, effect->parts->pdata[0]);
  g_autofree char *second = readable_short (type, effect->parts->pdata[1]);

  return g_strdup_printf (
      "the job at %s, %s %s, has two results: %s from %s%s%s and %s from"
      " node %s. One of them computes wrong, or the job depends on more than its"
      " arguments (law 1 of satin(7))",
      path[0] != '\0' ? path : "/", job->name, args, first,
      is_named ? "node " : "a node that the checkpoint does not name",
      is_named ? node_id_show (&effect->node, there) : "", effect->failed ? ", as saved," : "",
      second, node_id_show (&self, here));
}

/* satin_fail: the run will end; this process goes on until then. */
static void
report_failure (Driver *driver, const EngineEvent *said)
{
  g_autofree char *text = failed_job_text (said, said->innermost ? "" : ", or one below it");

  driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_CRASH_REPORT,
                                     .path = said->path,
                                     .text = text,
                                     .final = TRUE });
}

/* A job is ending this process: sends and writes the report, then lets the process end. */
static void
report_crash (Driver *driver, const EngineEvent *said)
{
  g_autofree char *text = failed_job_text (said, said->innermost ? "" : ", or one below it");
  g_autofree char *trouble = g_strdup_printf ("a process ends by %s", text);

  if (!driver->config.solo)
    report_trouble (driver, trouble);
  driver_step (driver,
               &(NodeEvent){ .kind = NODE_EVENT_CRASH_REPORT, .path = said->path, .text = text });
  mesh_flush (driver);
  if (driver_has_ended (driver))
    report_stats (driver, TRUE);
  if (driver_has_ended (driver) && driver->config.solo && driver->config.folder != NULL)
    folder_remove (driver->config.folder, NULL);
  if (driver_has_ended (driver))
    run_replay_forget (driver->config.replay);
  engine_crash_reported (driver_has_ended (driver));
}

void
report_failed_job (Driver *driver, const EngineEvent *said)
{
  if (said->kind == ENGINE_FAILED)
    report_failure (driver, said);
  else
    report_crash (driver, said);
}
