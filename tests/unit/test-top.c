/* SPDX-License-Identifier: BSD-3-Clause */
/* How `satin top` reads replies, and how they fit on a screen. */
#include "command/top-view.h"
#include "text/fields.h"
#include "text/shown.h"

#include <math.h>
#include <string.h>

#define SECOND G_USEC_PER_SEC

static void
node_clear (gpointer data)
{
  GatherNode *node = data;

  g_free (node->id);
  g_free (node->site);
  g_free (node->state);
  g_free (node->reply);
}

static void
gather_clear (Gather *gather)
{
  g_variant_unref (gather->status);
  g_array_unref (gather->nodes);
}

static Gather
begin (double done)
{
  g_autofree char *text = g_strdup_printf ("{\"name\":\"röd\",\"done\":%f,\"at_risk_s\":1.5,"
                                           "\"left_s\":12,\"left_low_s\":8,"
                                           "\"left_high_s\":30,\"at_risk_all_s\":200}",
                                           done);
  Gather gather
      = { .status = fields_read (text), .nodes = g_array_new (FALSE, FALSE, sizeof (GatherNode)) };

  g_array_set_clear_func (gather.nodes, node_clear);
  return gather;
}

/* `reply` NULL: the node is silent. */
static GatherNode *
add (Gather *gather, const char *id, const char *site, const char *reply)
{
  GatherNode node = { .id = g_strdup (id),
                      .site = g_strdup (site),
                      .state = g_strdup ("up"),
                      .workers = 2,
                      .at_risk_s = 0.5,
                      .silent = reply == NULL,
                      .reply = g_strdup (reply) };

  g_array_append_val (gather->nodes, node);
  return &g_array_index (gather->nodes, GatherNode, gather->nodes->len - 1);
}

static char *
figures (int busy, double cpu_s, int jobs, double lost_s)
{
  return g_strdup_printf (
      "{\"busy\":%d,\"cpu_s\":%f,\"work_s\":1,\"lost_s\":%f,\"executed\":%d,\"steals_local\":3,"
      "\"steals_remote\":4,\"jobs\":[]}",
      busy, cpu_s, lost_s, jobs);
}

#define JOBS \
  "{\"busy\":1,\"jobs\":[{\"state\":\"running\",\"path\":\"/1\",\"job\":\"fib\",\"args\":\"(3)\"," \
  "\"for_s\":2},{\"state\":\"waiting\",\"path\":\"/0\",\"job\":\"fib\",\"args\":\"(4)\"," \
  "\"for_s\":9}]}"

/* Rows are published every few seconds; samples are taken every second. */
static void
the_share_done_has_a_rate_between_two_times_that_it_grew (void)
{
  static const struct
  {
    double done;
    gint64 at_s;
    double rate;
  } looks[] = { { 0.25, 10, NAN },  { 0.25, 11, NAN },    { 0.5, 12, 0.125 },   { 0.5, 13, 0.125 },
                { 0.5, 14, 0.125 }, { 0.75, 16, 0.0625 }, { 0.75, 17, 0.0625 }, { 0.75, 77, 0 } };
  g_autoptr (TopSample) before = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (looks); i++)
    {
      Gather gather = begin (looks[i].done);
      TopSample *sample = top_sample_new (&gather, looks[i].at_s * SECOND, before);

      if (isnan (looks[i].rate))
        g_assert_true (isnan (sample->done_rate));
      else
        g_assert_cmpfloat (sample->done_rate, ==, looks[i].rate);
      top_sample_free (before);
      before = sample;
      gather_clear (&gather);
    }
}

static void
rates_are_of_the_time_between_two_samples (void)
{
  Gather one = begin (0.25), two = begin (0.5);
  g_autofree char *then = figures (1, 10, 100, 0), *now = figures (2, 13, 300, 1.5);
  g_autoptr (TopSample) before = NULL, after = NULL;
  TopNode sum;

  add (&one, "1.1", "a", then);
  add (&two, "1.1", "a", now);
  add (&two, "1.2", "b", NULL);
  before = top_sample_new (&one, 10 * SECOND, NULL);
  after = top_sample_new (&two, 12 * SECOND, before);
  g_assert_true (isnan (g_array_index (before->nodes, TopNode, 0).cpu));
  g_assert_cmpfloat (g_array_index (after->nodes, TopNode, 0).cpu, ==, 1.5);
  g_assert_cmpfloat (g_array_index (after->nodes, TopNode, 0).jobs_rate, ==, 100);
  g_assert_cmpfloat (g_array_index (after->nodes, TopNode, 0).steals, ==, 7);
  g_assert_cmpfloat (after->done_rate, ==, 0.125);
  g_assert_true (isnan (g_array_index (after->nodes, TopNode, 1).cpu));
  sum = top_sample_sum (after->nodes, NULL);
  g_assert_cmpuint (sum.nodes, ==, 2);
  g_assert_cmpuint (sum.workers, ==, 4);
  g_assert_cmpuint (sum.busy, ==, 2);
  g_assert_cmpfloat (sum.cpu, ==, 1.5);
  g_assert_cmpfloat (sum.at_risk_s, ==, 1);
  g_assert_cmpstr (sum.state, ==, "1 silent");
  top_sample_node_clear (&sum);
  gather_clear (&one);
  gather_clear (&two);
}

static void
the_oldest_job_comes_first (void)
{
  Gather gather = begin (0);
  g_autoptr (TopSample) sample = NULL;

  add (&gather, "1.1", "a", JOBS);
  sample = top_sample_new (&gather, SECOND, NULL);
  g_assert_cmpuint (sample->jobs->len, ==, 2);
  g_assert_cmpstr (g_array_index (sample->jobs, TopJob, 0).path, ==, "/0");
  g_assert_cmpstr (g_array_index (sample->jobs, TopJob, 0).what, ==, "fib (4)");
  gather_clear (&gather);
}

static void
what_happened_is_told (void)
{
  Gather one = begin (0), two = begin (0);
  g_autofree char *none = figures (1, 1, 1, 0), *lost = figures (1, 1, 1, 2.5);
  g_autoptr (TopSample) before = NULL, after = NULL;
  g_autoptr (GPtrArray) events = NULL, nothing = NULL;
  static const char *const wanted[] = { "node 1.1 is gone",
                                        "node 1.2 is the master now",
                                        "2.5 s of work was lost, says node 1.2",
                                        "node 1.3 does not answer",
                                        "node 1.4 answers again",
                                        "node 1.5 leaves",
                                        "node 1.5 is the coordinator now",
                                        "node 2.1 joined" };

  add (&one, "1.1", "a", none)->master = TRUE;
  add (&one, "1.2", "a", none);
  add (&one, "1.3", "a", none);
  add (&one, "1.4", "a", NULL);
  add (&one, "1.5", "a", none);
  add (&two, "1.2", "a", lost)->master = TRUE;
  add (&two, "1.3", "a", NULL);
  add (&two, "1.4", "a", none);
  GatherNode *leaver = add (&two, "1.5", "a", none);
  leaver->coordinator = TRUE;
  g_free (leaver->state);
  leaver->state = g_strdup ("leaving");
  add (&two, "2.1", "a", none);
  before = top_sample_new (&one, SECOND, NULL);
  after = top_sample_new (&two, 2 * SECOND, before);
  events = top_sample_events (before, after);
  g_assert_cmpuint (events->len, ==, G_N_ELEMENTS (wanted));
  for (guint i = 0; i < events->len; i++)
    g_assert_cmpstr (events->pdata[i], ==, wanted[i]);
  nothing = top_sample_events (after, after);
  g_assert_cmpuint (nothing->len, ==, 0);
  gather_clear (&one);
  gather_clear (&two);
}

static TopSample *
many_nodes (guint n)
{
  Gather gather = begin (0.5);
  TopSample *sample;

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *id = g_strdup_printf ("1.%u", i + 1);
      g_autofree char *reply = figures (1, i, (int)i, i);

      add (&gather, id, i % 2 == 0 ? "Zürich-with-a-long-name" : "日本", i == 3 ? JOBS : reply);
    }
  sample = top_sample_new (&gather, SECOND, NULL);
  gather_clear (&gather);
  return sample;
}

/* Nothing is wider or longer than the terminal, whatever its size. */
static void
it_fits_on_the_screen (void)
{
  g_autoptr (GPtrArray) events = g_ptr_array_new ();

  for (int i = 0; i < 30; i++)
    g_ptr_array_add (events, (gpointer) "12:00:00 node 1.1 is gone, which is a long event that is "
                                        "longer than many a screen is wide, or is it not?");
  for (guint n = 0; n < 40; n += 13)
    {
      g_autoptr (TopSample) sample = many_nodes (n);

      for (guint lines = 1; lines < 60; lines++)
        for (guint columns = 1; columns < 130; columns += 7)
          {
            TopView view = { .columns = columns,
                             .lines = lines,
                             .keys = TRUE,
                             .first = 1000,
                             .folded = lines % 2 == 0,
                             .events = events,
                             .clock = "12:00:00" };
            g_autofree char *screen = top_view_draw (&view, sample);
            g_auto (GStrv) all = g_strsplit (screen, "\n", -1);

            g_assert_cmpuint (g_strv_length (all) - 1, <=, lines);
            for (guint i = 0; all[i] != NULL; i++)
              g_assert_cmpuint (shown_width (all[i]), <=, columns);
          }
    }
}

static void
nodes_are_sorted_folded_and_scrolled (void)
{
  g_autoptr (TopSample) sample = many_nodes (30);
  g_autoptr (GPtrArray) events = g_ptr_array_new ();
  TopView view = { .columns = 80, .lines = 24, .keys = TRUE, .events = events, .clock = "" };
  g_autofree char *plain = top_view_draw (&view, sample), *sorted = NULL, *folded = NULL;
  g_autofree char *last = NULL, *colour = NULL;

  g_assert_nonnull (strstr (plain, "\n1.1 "));
  g_assert_null (strstr (plain, "\n1.30 "));
  g_assert_null (strchr (plain, '\033'));
  g_assert_nonnull (strstr (plain, "50.0 % done"));
  g_assert_nonnull (strstr (plain, "\nabout 12 s left (8.0 s to 30 s)\n"));
  g_assert_nonnull (strstr (plain, "/0 fib (4)"));
  view.sort = TOP_SORT_LOST;
  sorted = top_view_draw (&view, sample);
  g_assert_nonnull (strstr (sorted, "\n1.30 "));
  g_assert_null (strstr (sorted, "\n1.1 "));
  view.sort = TOP_SORT_NODE;
  view.first = 1000;
  last = top_view_draw (&view, sample);
  g_assert_nonnull (strstr (last, "\n1.30 "));
  g_assert_cmpuint (view.first, <, 30);
  view.folded = TRUE;
  folded = top_view_draw (&view, sample);
  g_assert_nonnull (strstr (folded, "\n15      Zürich-w… "));
  g_assert_nonnull (strstr (folded, "\n15      日本 "));
  view.colour = TRUE;
  colour = top_view_draw (&view, sample);
  g_assert_nonnull (strstr (colour, "\033[1m"));
}

/* The whole picture, so that each figure of it stands here. */
static void
each_figure_has_its_place (void)
{
  Gather one = begin (0.25), two = begin (0.5);
  g_autofree char *then = figures (1, 10, 100, 0), *now = figures (2, 13, 300, 1.5);
  g_autoptr (TopSample) before = NULL, after = NULL;
  g_autoptr (GPtrArray) events = g_ptr_array_new ();
  TopView view = { .columns = 90,
                   .keys = TRUE,
                   .colour = TRUE,
                   .events = events,
                   .clock = "12:00:09",
                   .elapsed_s = 65 };

  for (guint i = 0; i < 6; i++)
    g_ptr_array_add (events, (gpointer)(i < 2 ? "an old event" : i == 5 ? "the last" : "an event"));
  add (&one, "1.1", "a", then);
  add (&two, "1.1", "a", now)->master = TRUE;
  add (&two, "1.2", "b", NULL)->coordinator = TRUE;
  add (&two, "1.3", "b", JOBS);
  before = top_sample_new (&one, 10 * SECOND, NULL);
  after = top_sample_new (&two, 12 * SECOND, before);
  g_autofree char *screen = top_view_draw (&view, after);
  g_assert_cmpstr (
      screen, ==,
      "\033[1msatin top: run röd, 65 s after its start, 12:00:09\033[0m\n"
      "[############............] 50.0 % done, 750 % a minute\n"
      "about 12 s left (8.0 s to 30 s)\n"
      "at risk: 1.5 s if one node dies, 3 min 20 s if all do; lost: 1.5 s\n"
      "3 nodes (1 silent), 3 of 6 workers busy, CPU 150%, 100 jobs a second\n"
      "\n"
      "\033[1mNODE    SITE      STATE    BUSY      CPU  JOBS/S  STEALS     LOST  AT RISK  "
      "ROLE\033[0m\n"
      "1.1     a         up         2/2    150%     100       7    1.5 s    0.5 s  M\n"
      "\033[31m1.2     b         silent     0/2       -       -       -        -    0.5 s  "
      "C\033[0m\n"
      "1.3     b         up         1/2       -       -       -        -    0.5 s\n"
      "\n"
      "\033[1mNODE    STATE            FOR  OLDEST JOBS\033[0m\n"
      "1.3     waiting        9.0 s  /0 fib (4)\n"
      "1.3     running        2.0 s  /1 fib (3)\n"
      "\n"
      "\033[1mLAST EVENTS\033[0m\n"
      "an event\nan event\nan event\nthe last\n"
      "\033[1mq quit  s sort (node)  f fold sites  arrows scroll\033[0m\n");
  gather_clear (&one);
  gather_clear (&two);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/top/done-rate", the_share_done_has_a_rate_between_two_times_that_it_grew);
  g_test_add_func ("/top/rates", rates_are_of_the_time_between_two_samples);
  g_test_add_func ("/top/oldest-jobs", the_oldest_job_comes_first);
  g_test_add_func ("/top/events", what_happened_is_told);
  g_test_add_func ("/top/each-figure", each_figure_has_its_place);
  g_test_add_func ("/top/fits", it_fits_on_the_screen);
  g_test_add_func ("/top/sort-fold-scroll", nodes_are_sorted_folded_and_scrolled);
  return g_test_run ();
}
