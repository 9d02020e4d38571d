/* SPDX-License-Identifier: BSD-3-Clause */
/* See metrics.h. Sources: the OpenMetrics specification 1.0; Prometheus, exposition formats.
 * Tests: test-metrics */
#include "metrics.h"

#include "text/fields.h"
#include "text/json.h"

#include <math.h>
#include <string.h>

typedef enum
{
  METRIC_GAUGE,
  METRIC_COUNTER /* its samples end with _total */
} MetricType;

/* A figure of each node: `member` of its reply. */
typedef struct
{
  const char *name, *unit, *member, *help;
  MetricType type;
} NodeMetric;

static const NodeMetric node_metrics[] = {
  { "satin_busy_workers", NULL, "busy", "Workers that run a job.", METRIC_GAUGE },
  { "satin_cpu_seconds", "seconds", "cpu_s", "CPU time of the node's process.", METRIC_COUNTER },
  { "satin_work_seconds", "seconds", "work_s", "Time in jobs, all workers.", METRIC_COUNTER },
  { "satin_jobs", NULL, "executed", "Jobs executed.", METRIC_COUNTER },
  { "satin_local_steals", NULL, "steals_local", "Jobs stolen within the node.", METRIC_COUNTER },
  { "satin_remote_steals", NULL, "steals_remote", "Jobs stolen from other nodes.", METRIC_COUNTER },
  { "satin_saved_rows", NULL, "saved_rows", "Rows written to the checkpoint by this node.",
    METRIC_COUNTER },
  { "satin_lost_seconds", "seconds", "lost_s", "Work that departures took, as this node saw.",
    METRIC_COUNTER },
  { "satin_salvaged_seconds", "seconds", "salvaged_s",
    "Work of nodes that are gone, of results put to use.", METRIC_COUNTER },
};

typedef struct
{
  GString *text;
  const Gather *gather;
  MetricsFormat format;
} Writer;

static const char *const states[] = { "up", "leaving", "silent" };

/* In label values a newline, a quote and a backslash are escaped. */
static void
append_label (GString *text, const char *value)
{
  g_autofree char *valid = g_utf8_make_valid (value, -1);

  g_string_append_c (text, '"');
  for (const char *p = valid; *p != '\0'; p++)
    if (*p == '\n')
      g_string_append (text, "\\n");
    else if (*p == '"' || *p == '\\')
      g_string_append_printf (text, "\\%c", *p);
    else
      g_string_append_c (text, *p);
  g_string_append_c (text, '"');
}

/* In OpenMetrics the family of a counter has no _total at its end; in Prometheus' format it has. */
static void
begin_family (Writer *writer, const char *name, MetricType type, const char *unit, const char *help)
{
  gboolean plain = writer->format == METRICS_PROMETHEUS, counts = type == METRIC_COUNTER;
  const char *end = plain && counts ? "_total" : "";

  g_string_append_printf (writer->text, "# TYPE %s%s %s\n", name, end,
                          counts ? "counter" : "gauge");
  if (unit != NULL && !plain)
    g_string_append_printf (writer->text, "# UNIT %s %s\n", name, unit);
  g_string_append_printf (writer->text, "# HELP %s%s %s\n", name, end, help);
}

static void
append_value (Writer *writer, double value)
{
  g_string_append (writer->text, "} ");
  json_append_number (writer->text, value);
  g_string_append_c (writer->text, '\n');
}

static void
begin_sample (Writer *writer, const char *name)
{
  g_string_append_printf (writer->text, "%s{run=", name);
  append_label (writer->text, fields_text (writer->gather->status, "name"));
}

static void
append_run (Writer *writer, const char *name, const char *unit, const char *member,
            const char *help)
{
  double value = fields_number (writer->gather->status, member);

  begin_family (writer, name, METRIC_GAUGE, unit, help);
  if (!isfinite (value))
    return;
  begin_sample (writer, name);
  append_value (writer, value);
}

static const char *
state_of (const GatherNode *node)
{
  return node->silent ? "silent" : node->state;
}

static void
append_states (Writer *writer)
{
  begin_family (writer, "satin_nodes", METRIC_GAUGE, NULL, "Nodes of the run by state.");
  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    {
      guint n = 0;

      for (guint k = 0; k < writer->gather->nodes->len; k++)
        n += strcmp (state_of (&g_array_index (writer->gather->nodes, GatherNode, k)), states[i])
             == 0;
      begin_sample (writer, "satin_nodes");
      g_string_append_printf (writer->text, ",state=\"%s\"", states[i]);
      append_value (writer, n);
    }
}

static void
append_node (Writer *writer, const NodeMetric *metric, const GatherNode *node)
{
  g_autoptr (GVariant) said = fields_read (node->reply);
  double value = said != NULL ? fields_number (said, metric->member) : NAN;
  g_autofree char *name
      = g_strconcat (metric->name, metric->type == METRIC_COUNTER ? "_total" : "", NULL);

  if (!isfinite (value))
    return;
  begin_sample (writer, name);
  g_string_append (writer->text, ",node=");
  append_label (writer->text, node->id);
  g_string_append (writer->text, ",site=");
  append_label (writer->text, node->site);
  append_value (writer, value);
}

char *
metrics_text (const Gather *gather, MetricsFormat format)
{
  Writer own = { g_string_new (NULL), gather, format }, *writer = &own;
  guint workers = 0;

  append_run (writer, "satin_done_ratio", "ratio", "done", "Share of the tree that is done.");
  append_run (writer, "satin_left_seconds", "seconds", "left_s", "Time left, an estimate.");
  append_run (writer, "satin_left_low_seconds", "seconds", "left_low_s",
              "Probably no less time is left.");
  append_run (writer, "satin_left_high_seconds", "seconds", "left_high_s",
              "Probably no more time is left.");
  append_run (writer, "satin_at_risk_seconds", "seconds", "at_risk_s",
              "Work that the death of one node would lose at most.");
  append_run (writer, "satin_at_risk_all_seconds", "seconds", "at_risk_all_s",
              "Work that the death of all nodes would lose.");
  append_run (writer, "satin_term", NULL, "term", "Grows with every new master.");
  append_states (writer);
  for (guint i = 0; i < gather->nodes->len; i++)
    workers += g_array_index (gather->nodes, GatherNode, i).workers;
  begin_family (writer, "satin_workers", METRIC_GAUGE, NULL, "Workers of all nodes.");
  begin_sample (writer, "satin_workers");
  append_value (writer, workers);
  for (guint i = 0; i < G_N_ELEMENTS (node_metrics); i++)
    {
      const NodeMetric *metric = &node_metrics[i];

      begin_family (writer, metric->name, metric->type, metric->unit, metric->help);
      for (guint k = 0; k < gather->nodes->len; k++)
        append_node (writer, metric, &g_array_index (gather->nodes, GatherNode, k));
    }
  if (format == METRICS_OPEN)
    g_string_append (writer->text, "# EOF\n");
  return g_string_free (writer->text, FALSE);
}
