/* SPDX-License-Identifier: BSD-3-Clause */
/* See top-sample.h. Tests: test-top */
#include "top-sample.h"

#include "text/fields.h"

#include <math.h>
#include <string.h>

/* Less work is not worth an event. */
#define LOST_MIN_S 0.05

void
top_sample_node_clear (gpointer data)
{
  TopNode *node = data;

  g_free (node->id);
  g_free (node->site);
  g_free (node->state);
}

static void
clear_job (gpointer data)
{
  TopJob *job = data;

  g_free (job->node);
  g_free (job->state);
  g_free (job->path);
  g_free (job->what);
}

void
top_sample_free (TopSample *sample)
{
  if (sample == NULL)
    return;
  g_free (sample->run);
  g_array_unref (sample->nodes);
  g_array_unref (sample->jobs);
  g_free (sample);
}

/* NULL: there is no such node. (transfer none) (nullable) */
static const TopNode *
find_node (const TopSample *sample, const char *id)
{
  for (guint i = 0; sample != NULL && i < sample->nodes->len; i++)
    {
      const TopNode *node = &g_array_index (sample->nodes, TopNode, i);

      if (strcmp (node->id, id) == 0)
        return node;
    }
  return NULL;
}

static void
add_jobs (TopSample *sample, const char *id, GVariant *said)
{
  g_autoptr (GPtrArray) jobs = fields_objects (said, "jobs");

  for (guint i = 0; i < jobs->len; i++)
    {
      GVariant *object = jobs->pdata[i];
      TopJob job = { .node = g_strdup (id),
                     .state = g_strdup (fields_text (object, "state")),
                     .path = g_strdup (fields_text (object, "path")),
                     .what = g_strdup_printf ("%s %s", fields_text (object, "job"),
                                              fields_text (object, "args")),
                     .for_s = fields_number (object, "for_s") };

      g_array_append_val (sample->jobs, job);
    }
}

#define STANDS_S 60.0 /* if the share done stands for so long, its rate is 0 */

static double
rate (double now, double then, double seconds)
{
  return seconds > 0 && now >= then ? (now - then) / seconds : NAN;
}

static void
add_node (TopSample *sample, const GatherNode *from, const TopSample *before)
{
  g_autoptr (GVariant) said = fields_read (from->reply);
  const TopNode *then = find_node (before, from->id);
  double seconds = before != NULL ? (double)(sample->at_us - before->at_us) / G_USEC_PER_SEC : 0;
  TopNode node = { .id = g_strdup (from->id),
                   .site = g_strdup (from->site),
                   .state = g_strdup (said == NULL ? "silent" : from->state),
                   .master = from->master,
                   .coordinator = from->coordinator,
                   .nodes = 1,
                   .workers = from->workers,
                   .at_risk_s = from->at_risk_s };

  node.cpu_s = node.work_s = node.lost_s = node.jobs = node.steals = NAN;
  if (said != NULL)
    {
      node.busy = (guint)fields_count (said, "busy");
      node.cpu_s = fields_number (said, "cpu_s");
      node.work_s = fields_number (said, "work_s");
      node.lost_s = fields_number (said, "lost_s");
      node.jobs = fields_number (said, "executed");
      node.steals = fields_number (said, "steals_local") + fields_number (said, "steals_remote");
      add_jobs (sample, from->id, said);
    }
  node.cpu = then != NULL ? rate (node.cpu_s, then->cpu_s, seconds) : NAN;
  node.jobs_rate = then != NULL ? rate (node.jobs, then->jobs, seconds) : NAN;
  g_array_append_val (sample->nodes, node);
}

static gint
compare_jobs (gconstpointer a, gconstpointer b)
{
  double one = ((const TopJob *)a)->for_s, other = ((const TopJob *)b)->for_s;

  return one > other ? -1 : one < other;
}

/* The share done grows when rows arrive, every few seconds. A rate from one sample to the next
 * would jump between 0 and far too much. */
static void
set_done_rate (TopSample *sample, const TopSample *before)
{
  gboolean grew = before != NULL && sample->done > before->done;
  double seconds = before != NULL ? (double)(sample->at_us - before->grew_us) / G_USEC_PER_SEC : 0;

  sample->grew_us = before == NULL || grew ? sample->at_us : before->grew_us;
  if (grew)
    sample->done_rate = rate (sample->done, before->done, seconds);
  else
    sample->done_rate = before == NULL ? NAN : seconds < STANDS_S ? before->done_rate : 0;
}

TopSample *
top_sample_new (const Gather *gather, gint64 at_us, const TopSample *before)
{
  TopSample *sample = g_new0 (TopSample, 1);

  sample->run = g_strdup (fields_text (gather->status, "name"));
  sample->at_us = at_us;
  sample->done = fields_number (gather->status, "done");
  sample->left_s = fields_number (gather->status, "left_s");
  sample->left_low_s = fields_number (gather->status, "left_low_s");
  sample->left_high_s = fields_number (gather->status, "left_high_s");
  sample->risk_one_s = fields_number (gather->status, "at_risk_s");
  sample->risk_all_s = fields_number (gather->status, "at_risk_all_s");
  set_done_rate (sample, before);
  sample->nodes = g_array_new (FALSE, FALSE, sizeof (TopNode));
  g_array_set_clear_func (sample->nodes, top_sample_node_clear);
  sample->jobs = g_array_new (FALSE, FALSE, sizeof (TopJob));
  g_array_set_clear_func (sample->jobs, clear_job);
  for (guint i = 0; i < gather->nodes->len; i++)
    add_node (sample, &g_array_index (gather->nodes, GatherNode, i), before);
  g_array_sort (sample->jobs, compare_jobs);
  return sample;
}

/* A value that is not known adds nothing; the sum of none is not known. */
static void
add (double *sum, double value)
{
  if (isfinite (value))
    *sum = isfinite (*sum) ? *sum + value : value;
}

TopNode
top_sample_sum (const GArray *nodes, const char *site)
{
  TopNode sum = { .site = g_strdup (site != NULL ? site : "") };
  guint silent = 0;

  sum.cpu_s = sum.work_s = sum.lost_s = sum.at_risk_s = sum.jobs = sum.steals = NAN;
  sum.cpu = sum.jobs_rate = NAN;
  for (guint i = 0; i < nodes->len; i++)
    {
      const TopNode *node = &g_array_index (nodes, TopNode, i);

      if (site != NULL && strcmp (node->site, site) != 0)
        continue;
      sum.nodes++;
      sum.workers += node->workers;
      sum.busy += node->busy;
      sum.master = sum.master || node->master;
      sum.coordinator = sum.coordinator || node->coordinator;
      silent += strcmp (node->state, "silent") == 0;
      add (&sum.cpu_s, node->cpu_s);
      add (&sum.work_s, node->work_s);
      add (&sum.lost_s, node->lost_s);
      add (&sum.at_risk_s, node->at_risk_s);
      add (&sum.jobs, node->jobs);
      add (&sum.steals, node->steals);
      add (&sum.cpu, node->cpu);
      add (&sum.jobs_rate, node->jobs_rate);
    }
  sum.id = g_strdup_printf ("%u", sum.nodes);
  sum.state = silent > 0 ? g_strdup_printf ("%u silent", silent) : g_strdup ("up");
  return sum;
}

static void G_GNUC_PRINTF (2, 3) note (GPtrArray *events, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_ptr_array_add (events, g_strdup_vprintf (format, args));
  va_end (args);
}

static void
note_node (GPtrArray *events, const TopNode *then, const TopNode *now)
{
  gboolean was_silent = strcmp (then->state, "silent") == 0;
  gboolean is_silent = strcmp (now->state, "silent") == 0;

  if (is_silent && !was_silent)
    note (events, "node %s does not answer", now->id);
  else if (was_silent && !is_silent)
    note (events, "node %s answers again", now->id);
  if (strcmp (now->state, "leaving") == 0 && strcmp (then->state, "leaving") != 0)
    note (events, "node %s leaves", now->id);
  if (now->master && !then->master)
    note (events, "node %s is the master now", now->id);
  if (now->coordinator && !then->coordinator)
    note (events, "node %s is the coordinator now", now->id);
  if (now->lost_s - then->lost_s > LOST_MIN_S)
    note (events, "%.1f s of work was lost, says node %s", now->lost_s - then->lost_s, now->id);
}

GPtrArray *
top_sample_events (const TopSample *before, const TopSample *after)
{
  GPtrArray *events = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < before->nodes->len; i++)
    {
      const TopNode *then = &g_array_index (before->nodes, TopNode, i);

      if (find_node (after, then->id) == NULL)
        note (events, "node %s is gone", then->id);
    }
  for (guint i = 0; i < after->nodes->len; i++)
    {
      const TopNode *now = &g_array_index (after->nodes, TopNode, i);
      const TopNode *then = find_node (before, now->id);

      if (then == NULL)
        note (events, "node %s joined", now->id);
      else
        note_node (events, then, now);
    }
  return events;
}
