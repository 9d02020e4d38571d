/* SPDX-License-Identifier: BSD-3-Clause */
/* See top-view.h. The screen has a header, nodes, oldest jobs, last events, keys. If lines are few,
 * node lines are cut first, since they can be scrolled and folded. Tests: test-top */
#include "top-view.h"

#include "text/shown.h"

#include <math.h>
#include <string.h>

#define BOLD "\033[1m"
#define RED "\033[31m"
#define PLAIN "\033[0m"
#define BAR_COLUMNS 24
#define JOBS_LINES 5
#define EVENTS_LINES 4
#define NODES_LINES_MIN 3
/* Five lines of header, a heading and an empty line for each of three parts, and the keys. */
#define FRAME_LINES (5 + 3 * 2 + 1)

static const char *const sort_names[TOP_SORTS] = { "node", "cpu", "jobs", "lost", "risk" };

static void G_GNUC_PRINTF (4, 5)
    add_line (GString *screen, const TopView *view, const char *style, const char *format, ...)
{
  g_autofree char *text = NULL;
  g_autofree char *cut = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  cut = shown_cut (text, view->columns);
  if (style != NULL && view->colour)
    g_string_append_printf (screen, "%s%s" PLAIN "\n", style, cut);
  else
    g_string_append_printf (screen, "%s\n", cut);
}

static char *
number (double value, const char *format)
{
  char text[64];

  if (!isfinite (value))
    return g_strdup ("-");
  if (strcmp (format, "%") == 0)
    g_snprintf (text, sizeof text, "%.0f%%", value * 100);
  else
    g_snprintf (text, sizeof text, value >= 1e6 ? "%.1e" : value < 10 ? "%.1f" : "%.0f", value);
  return g_strdup (text);
}

static char *
count (double value)
{
  return isfinite (value) ? g_strdup_printf (value >= 1e7 ? "%.2e" : "%.0f", value)
                          : g_strdup ("-");
}

static void
add_progress (GString *screen, const TopView *view, const TopSample *sample)
{
  guint full = isfinite (sample->done) ? (guint)(CLAMP (sample->done, 0, 1) * BAR_COLUMNS) : 0;
  char bar[BAR_COLUMNS + 1];
  g_autofree char *rate = number (sample->done_rate * 100 * 60, "");

  memset (bar, '.', BAR_COLUMNS);
  memset (bar, '#', full);
  bar[BAR_COLUMNS] = '\0';
  if (isfinite (sample->done))
    add_line (screen, view, NULL, "[%s] %.1f %% done, %s %% a minute", bar, sample->done * 100,
              rate);
  else
    add_line (screen, view, NULL, "share done: not known without a checkpoint");
}

static void
add_header (GString *screen, const TopView *view, const TopSample *sample)
{
  TopNode sum = top_sample_sum (sample->nodes, NULL);
  g_autofree char *up = shown_duration (view->elapsed_s), *cpu = number (sum.cpu, "%");
  g_autofree char *one = shown_duration (sample->risk_one_s);
  g_autofree char *all = shown_duration (sample->risk_all_s);
  g_autofree char *lost = shown_duration (sum.lost_s), *rate = number (sum.jobs_rate, "");
  g_autofree char *left = shown_left (sample->left_s, sample->left_low_s, sample->left_high_s);

  add_line (screen, view, BOLD, "satin top: run %s, %s after its start, %s", sample->run, up,
            view->clock);
  add_progress (screen, view, sample);
  add_line (screen, view, NULL, "%s", left);
  add_line (screen, view, NULL, "at risk: %s if one node dies, %s if all do; lost: %s", one, all,
            lost);
  add_line (screen, view, NULL, "%u nodes (%s), %u of %u workers busy, CPU %s, %s jobs a second",
            sum.nodes, sum.state, sum.busy, sum.workers, cpu, rate);
  top_sample_node_clear (&sum);
}

static double
key_of (const TopNode *node, TopSort sort)
{
  double key = sort == TOP_SORT_CPU    ? node->cpu
               : sort == TOP_SORT_JOBS ? node->jobs_rate
               : sort == TOP_SORT_LOST ? node->lost_s
                                       : node->at_risk_s;

  return isfinite (key) ? key : -1;
}

static gint
compare_nodes (gconstpointer a, gconstpointer b, gpointer data)
{
  double one = key_of (a, *(TopSort *)data), other = key_of (b, *(TopSort *)data);

  return one > other ? -1 : one < other;
}

/* The lines of nodes, or of sites if folded: of TopNode. (transfer full) */
static GArray *
list_nodes (const TopView *view, const TopSample *sample)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (TopNode));
  g_autoptr (GHashTable) sites = g_hash_table_new (g_str_hash, g_str_equal);
  TopSort sort = view->sort;

  g_array_set_clear_func (list, top_sample_node_clear);
  for (guint i = 0; i < sample->nodes->len; i++)
    {
      TopNode node = g_array_index (sample->nodes, TopNode, i);

      if (view->folded && !g_hash_table_add (sites, node.site))
        continue;
      if (view->folded)
        node = top_sample_sum (sample->nodes, node.site);
      else
        {
          node.id = g_strdup (node.id);
          node.site = g_strdup (node.site);
          node.state = g_strdup (node.state);
        }
      g_array_append_val (list, node);
    }
  if (sort != TOP_SORT_NODE)
    g_array_sort_with_data (list, compare_nodes, &sort); /* stable since GLib 2.32 */
  return list;
}

static void
add_node (GString *screen, const TopView *view, const TopNode *node)
{
  g_autofree char *cpu = number (node->cpu, "%"), *rate = number (node->jobs_rate, "");
  g_autofree char *steals = count (node->steals), *lost = shown_duration (node->lost_s);
  g_autofree char *risk = shown_duration (node->at_risk_s);
  g_autoptr (GString) line = g_string_new (NULL);
  gboolean wrong = strstr (node->state, "silent") != NULL;

  shown_append (line, node->id, 7);
  g_string_append_c (line, ' ');
  shown_append (line, node->site, 9);
  g_string_append_c (line, ' ');
  shown_append (line, node->state, 8);
  g_string_append_printf (line, " %3u/%-3u %5s %7s %7s %8s %8s  %s%s", node->busy, node->workers,
                          cpu, rate, steals, lost, risk, node->master ? "M" : "",
                          node->coordinator ? "C" : "");
  g_strchomp (line->str);
  add_line (screen, view, wrong ? RED : NULL, "%s", line->str);
}

static void
add_nodes (GString *screen, TopView *view, const TopSample *sample, guint room)
{
  g_autoptr (GArray) list = list_nodes (view, sample);
  guint last_first = list->len - MIN (list->len, room);

  view->first = MIN (view->first, last_first);
  add_line (screen, view, BOLD, "%-7s %-9s %-8s %7s %5s %7s %7s %8s %8s  %s",
            view->folded ? "NODES" : "NODE", "SITE", "STATE", "BUSY   ", "CPU", "JOBS/S", "STEALS",
            "LOST", "AT RISK", "ROLE");
  for (guint i = view->first; i < list->len && i - view->first < room; i++)
    add_node (screen, view, &g_array_index (list, TopNode, i));
}

static void
add_jobs (GString *screen, const TopView *view, const TopSample *sample, guint room)
{
  add_line (screen, view, BOLD, "%-7s %-8s %11s  %s", "NODE", "STATE", "FOR", "OLDEST JOBS");
  for (guint i = 0; i < sample->jobs->len && i < room; i++)
    {
      const TopJob *job = &g_array_index (sample->jobs, TopJob, i);
      g_autofree char *time = shown_duration (job->for_s);

      add_line (screen, view, NULL, "%-7s %-8s %11s  %s %s", job->node, job->state, time, job->path,
                job->what);
    }
}

static void
add_events (GString *screen, const TopView *view, guint room)
{
  guint n = view->events->len, first = n - MIN (n, room);

  add_line (screen, view, BOLD, "%s", n > 0 ? "LAST EVENTS" : "NO EVENTS SO FAR");
  for (guint i = first; i < n; i++)
    add_line (screen, view, NULL, "%s", (const char *)view->events->pdata[i]);
}

/* Cuts the screen for a terminal with fewer lines than the least screen. */
static void
cut_lines (GString *screen, guint lines)
{
  for (gsize i = 0; i < screen->len; i++)
    if (screen->str[i] == '\n' && --lines == 0)
      g_string_truncate (screen, i + 1);
}

char *
top_view_draw (TopView *view, const TopSample *sample)
{
  GString *screen = g_string_new (NULL);
  guint jobs = MIN (sample->jobs->len, JOBS_LINES), events = MIN (view->events->len, EVENTS_LINES);
  guint nodes = G_MAXUINT;

  if (view->lines > 0)
    {
      /* Jobs and events that do not fit are left out, events first. */
      guint room = view->lines - MIN (view->lines, FRAME_LINES + NODES_LINES_MIN);

      jobs = MIN (jobs, room);
      events = MIN (events, room - jobs);
      nodes = NODES_LINES_MIN + room - jobs - events;
    }
  add_header (screen, view, sample);
  g_string_append_c (screen, '\n');
  add_nodes (screen, view, sample, nodes);
  g_string_append_c (screen, '\n');
  add_jobs (screen, view, sample, jobs);
  g_string_append_c (screen, '\n');
  add_events (screen, view, events);
  if (view->keys)
    add_line (screen, view, BOLD, "q quit  s sort (%s)  f %s sites  arrows scroll",
              sort_names[view->sort], view->folded ? "unfold" : "fold");
  if (view->lines > 0)
    cut_lines (screen, view->lines);
  return g_string_free (screen, FALSE);
}
