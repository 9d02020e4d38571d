/* SPDX-License-Identifier: BSD-3-Clause */
/* Each figure that people see of a node (node/report.c, report-jobs.c), in the replies to `satin
 * status`, `jobs`, `top` and `metrics`, and in the node's files. */
#include "report-rig.h"

static void
is_text (char *text, const char *wanted)
{
  g_assert_cmpstr (text, ==, wanted);
  g_free (text);
}

/* Since its report, ten seconds ago, another node's two busy seats have worked on, and its three
 * idle ones for as long as they may work without a report. */
static void
a_status_has_the_risk_of_each (void)
{
  is_text (report_status (&driver),
           "{\"name\":\"tour\",\"id\":\"run-1\",\"checkpoint\":\"/c\",\"term\":6,\"root\":4,"
           "\"done\":0.500000,\"stopping\":false,\"left_s\":66.000000,\"left_low_s\":67.000000,"
           "\"left_high_s\":68.000000,\"best\":[{\"name\":\"length\",\"text\":\"7\"}],"
           "\"at_risk_s\":126.000000,\"at_risk_all_s\":275.000000,\"nodes\":[{\"id\":\"1.1\","
           "\"host\":\"h1\",\"address\":\"unix:/1\",\"pid\":77,\"site\":\"a\","
           "\"roles\":[\"master\"],\"workers\":4,\"state\":\"up\",\"at_risk_s\":50.000000,"
           "\"busy\":3,\"silent\":false},{\"id\":\"1.2\",\"host\":\"h2\","
           "\"address\":\"unix:/2\",\"pid\":78,\"site\":\"b\",\"roles\":[\"coordinator\"],"
           "\"workers\":5,\"state\":\"up\",\"at_risk_s\":126.000000,\"busy\":2,"
           "\"silent\":false}]}");
  g_assert_cmpfloat (pace_busy, ==, 5);
  g_assert_cmpfloat (left_age_s, ==, 10);
  /* Without a checkpoint all work is at risk if all nodes die, and nobody knows what is left. */
  driver.config.checkpoint = NULL;
  driver.scribe = NULL;
  is_text (report_status (&driver),
           "{\"name\":\"tour\",\"id\":\"run-1\",\"checkpoint\":null,\"term\":6,\"root\":4,"
           "\"done\":null,\"stopping\":false,\"left_s\":null,\"left_low_s\":null,"
           "\"left_high_s\":null,\"best\":[{\"name\":\"length\",\"text\":\"7\"}],"
           "\"at_risk_s\":126.000000,\"at_risk_all_s\":533.000000,\"nodes\":[{\"id\":\"1.1\","
           "\"host\":\"h1\",\"address\":\"unix:/1\",\"pid\":77,\"site\":\"a\","
           "\"roles\":[\"master\"],\"workers\":4,\"state\":\"up\",\"at_risk_s\":50.000000,"
           "\"busy\":3,\"silent\":false},{\"id\":\"1.2\",\"host\":\"h2\","
           "\"address\":\"unix:/2\",\"pid\":78,\"site\":\"b\",\"roles\":[\"coordinator\"],"
           "\"workers\":5,\"state\":\"up\",\"at_risk_s\":126.000000,\"busy\":2,"
           "\"silent\":false}]}");
  /* One that has not reported counts with nothing, and one that is silent does no work. */
  members[1].silent = members[1].leaving = TRUE;
  is_text (report_status (&driver),
           "{\"name\":\"tour\",\"id\":\"run-1\",\"checkpoint\":null,\"term\":6,\"root\":4,"
           "\"done\":null,\"stopping\":false,\"left_s\":null,\"left_low_s\":null,"
           "\"left_high_s\":null,\"best\":[{\"name\":\"length\",\"text\":\"7\"}],"
           "\"at_risk_s\":126.000000,\"at_risk_all_s\":533.000000,\"nodes\":[{\"id\":\"1.1\","
           "\"host\":\"h1\",\"address\":\"unix:/1\",\"pid\":77,\"site\":\"a\","
           "\"roles\":[\"master\"],\"workers\":4,\"state\":\"up\",\"at_risk_s\":50.000000,"
           "\"busy\":3,\"silent\":false},{\"id\":\"1.2\",\"host\":\"h2\","
           "\"address\":\"unix:/2\",\"pid\":78,\"site\":\"b\",\"roles\":[\"coordinator\"],"
           "\"workers\":5,\"state\":\"leaving\",\"at_risk_s\":126.000000,\"busy\":2,"
           "\"silent\":true}]}");
  g_assert_cmpfloat (pace_busy, ==, 3);
  members[1].told_us = 0;
  is_text (report_status (&driver),
           "{\"name\":\"tour\",\"id\":\"run-1\",\"checkpoint\":null,\"term\":6,\"root\":4,"
           "\"done\":null,\"stopping\":false,\"left_s\":null,\"left_low_s\":null,"
           "\"left_high_s\":null,\"best\":[{\"name\":\"length\",\"text\":\"7\"}],"
           "\"at_risk_s\":50.000000,\"at_risk_all_s\":7.000000,\"nodes\":[{\"id\":\"1.1\","
           "\"host\":\"h1\",\"address\":\"unix:/1\",\"pid\":77,\"site\":\"a\","
           "\"roles\":[\"master\"],\"workers\":4,\"state\":\"up\",\"at_risk_s\":50.000000,"
           "\"busy\":3,\"silent\":false},{\"id\":\"1.2\",\"host\":\"h2\","
           "\"address\":\"unix:/2\",\"pid\":78,\"site\":\"b\",\"roles\":[\"coordinator\"],"
           "\"workers\":5,\"state\":\"leaving\",\"at_risk_s\":null,\"busy\":null,"
           "\"silent\":true}]}");
}

/* The share never decreases, except at the next root. */
static void
the_share_done_only_grows (void)
{
  static const struct
  {
    double engine, rows;
    const char *shown;
  } looks[] = {
    { 0.25, 0.5, "0.500000" }, { 0.625, 0.5, "0.625000" }, { 0.1, 0.2, "0.625000" },
    { 1.5, 0.2, "1.000000" },  { 0.1, 0.05, "0.100000" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (looks); i++)
    {
      g_autofree char *wanted = g_strdup_printf (",\"done\":%s,", looks[i].shown);
      share = looks[i].engine;
      scribe.done = looks[i].rows;
      g_autofree char *text = report_status (&driver);
      g_assert_nonnull (strstr (text, wanted));
    }
}

/* What a node wrote for its run, at any time and at the end. */
static void
statistics_have_every_figure (void)
{
  NodeDeparted one = { id_of (5), 70000000 };
  NodeTaken all = { (char *)"/2", 3, id_of (5), 71 };
  NodeId self = id_of (1), before = id_of (9);

  g_array_append_val (departed, one);
  g_ptr_array_add (taken, &all);
  g_array_append_val (driver.names, before);
  g_array_append_val (driver.names, self);
  driver.master = TRUE;
  report_stats (&driver, FALSE);
  noted ("/run/node-77.stats: {\"wall_s\":40.000000,\"nodes\":1,\"workers\":4,\"jobs\":1,"
         "\"jobs_reused\":2,\"unmatched\":3,\"steals_local\":4,\"steals_remote\":31,"
         "\"waits\":33,\"waited_s\":34.000000,\"copied_bytes\":36,\"kept_bytes\":37,"
         "\"sent_other_bytes\":50,\"sent_jobs_bytes\":51,\"sent_results_bytes\":52,"
         "\"sent_keepers_bytes\":53,\"sent_saves_bytes\":54,\"sent_offers_bytes\":55,"
         "\"sent_shared_bytes\":56,\"verified\":35,\"shared_fetches\":44,\"shared_bytes\":45,"
         "\"saves\":61,\"saved_rows\":63,\"checkpoint_bytes\":64,\"crashes\":32,"
         "\"work_s\":7.000000,\"cpu_s\":21.500000,\"driver_s\":22.250000,"
         "\"scribe_s\":65.000000,\"scan_s\":8.000000,\"lost_s\":38.000000,"
         "\"salvaged_s\":39.000000,\"restored_s\":43.000000,\"at_risk_s\":50.000000,"
         "\"at_risk_all_s\":49.000000,\"answer_s\":42.000000,\"final\":false,"
         "\"names\":[\"1.9.000000ab\",\"1.1.000000ab\"],\"departed\":{"
         "\"1.5.000000ab\":70.000000},\"taken\":[\"71 3 1.5.000000ab /2\"],\"id\":\"1.1\","
         "\"pid\":77,\"master\":true}\n");
  driver.part = PART_LEFT;
  driver.parting = (DriverParting){ 72000000, "signal" };
  driver.scribe = NULL;
  driver.written = (ScribeStats){ .saves = 73, .saved_rows = 74, .bytes = 75, .cpu_us = 76000000 };
  report_stats (&driver, TRUE);
  noted ("/run/node-77.stats: {\"wall_s\":40.000000,\"nodes\":1,\"workers\":4,\"jobs\":1,"
         "\"jobs_reused\":2,\"unmatched\":3,\"steals_local\":4,\"steals_remote\":31,"
         "\"waits\":33,\"waited_s\":34.000000,\"copied_bytes\":36,\"kept_bytes\":37,"
         "\"sent_other_bytes\":50,\"sent_jobs_bytes\":51,\"sent_results_bytes\":52,"
         "\"sent_keepers_bytes\":53,\"sent_saves_bytes\":54,\"sent_offers_bytes\":55,"
         "\"sent_shared_bytes\":56,\"verified\":35,\"shared_fetches\":44,\"shared_bytes\":45,"
         "\"saves\":73,\"saved_rows\":74,\"checkpoint_bytes\":75,\"crashes\":32,"
         "\"work_s\":7.000000,\"cpu_s\":21.500000,\"driver_s\":22.250000,"
         "\"scribe_s\":76.000000,\"scan_s\":8.000000,\"lost_s\":38.000000,"
         "\"salvaged_s\":39.000000,\"restored_s\":43.000000,\"at_risk_s\":0.000000,"
         "\"at_risk_all_s\":0.000000,\"left_lost_s\":72.000000,\"parted\":\"signal\","
         "\"answer_s\":42.000000,\"final\":true,\"names\":[\"1.9.000000ab\","
         "\"1.1.000000ab\"],\"departed\":{\"1.5.000000ab\":70.000000},"
         "\"taken\":[\"71 3 1.5.000000ab /2\"],\"id\":\"1.1\",\"pid\":77,\"master\":true}\n");
}

/* Alone, what was taken is of an earlier life, and work that is not in the answer was done again.
 */
static void
a_program_alone_writes_at_the_end (void)
{
  NodeTaken all = { (char *)"/2", 3, id_of (5), 2000000 };

  g_ptr_array_add (taken, &all);
  driver.config.solo = TRUE;
  driver.config.stats = "/stats";
  report_stats (&driver, FALSE);
  noted ("");
  report_stats (&driver, TRUE);
  noted ("write /stats: {\"wall_s\":40.000000,\"nodes\":1,\"workers\":4,\"jobs\":1,"
         "\"jobs_reused\":2,\"unmatched\":3,\"steals_local\":4,\"steals_remote\":31,"
         "\"waits\":33,\"waited_s\":34.000000,\"copied_bytes\":36,\"kept_bytes\":37,"
         "\"sent_other_bytes\":50,\"sent_jobs_bytes\":51,\"sent_results_bytes\":52,"
         "\"sent_keepers_bytes\":53,\"sent_saves_bytes\":54,\"sent_offers_bytes\":55,"
         "\"sent_shared_bytes\":56,\"verified\":35,\"shared_fetches\":44,\"shared_bytes\":45,"
         "\"saves\":61,\"saved_rows\":63,\"checkpoint_bytes\":64,\"crashes\":32,"
         "\"work_s\":7.000000,\"cpu_s\":21.500000,\"driver_s\":22.250000,"
         "\"scribe_s\":65.000000,\"scan_s\":8.000000,\"lost_s\":38.000000,"
         "\"salvaged_s\":39.000000,\"restored_s\":45.000000,\"at_risk_s\":50.000000,"
         "\"at_risk_all_s\":49.000000,\"answer_s\":42.000000,\"redone_s\":10.000000,"
         "\"final\":true}\n");
  node.answer_us = 0;
  report_stats (&driver, TRUE);
  g_assert_nonnull (strstr (called->str, "\"redone_s\":0.000000,"));
  g_autofree char *idle = report_idle_stats (95 * G_USEC_PER_SEC, 4);
  g_assert_true (
      g_str_has_prefix (idle, "{\"wall_s\":5.000000,\"nodes\":1,\"workers\":4,\"jobs\":0,"));
  g_string_truncate (called, 0);
}

static void
the_figures_of_now (void)
{
  is_text (report_figures (&driver),
           "{\"id\":\"1.1\",\"pid\":77,\"workers\":4,\"busy\":3,\"executed\":1,"
           "\"steals_local\":4,\"steals_remote\":31,\"saves\":61,\"saved_rows\":63,"
           "\"checkpoint_bytes\":64,\"crashes\":32,\"up_s\":40,\"cpu_s\":21.5,\"work_s\":7,"
           "\"lost_s\":38,\"salvaged_s\":39}");
  is_text (report_top (&driver),
           "{\"id\":\"1.1\",\"pid\":77,\"workers\":4,\"busy\":3,\"executed\":1,"
           "\"steals_local\":4,\"steals_remote\":31,\"saves\":61,\"saved_rows\":63,"
           "\"checkpoint_bytes\":64,\"crashes\":32,\"up_s\":40,\"cpu_s\":21.5,\"work_s\":7,"
           "\"lost_s\":38,\"salvaged_s\":39,\"more\":8,\"jobs\":[]}");
  noted ("look again\n");
}

/* What a job waits for, and what is shown of it. */
static const struct
{
  EngineNowKind kind;
  guint thief;
  guint64 loan;
  NodeWaits waits;
  const char *state, *shown;
} wait_cases[] = {
  { ENGINE_NOW_RUNS, 5, 0, NODE_WAITS_NODE, "running",
    "null,\"child\":null,\"holder\":null,\"holder_stack\":null" },
  { ENGINE_NOW_SEAT, 5, 0, NODE_WAITS_NODE, "ready",
    "\"a worker\",\"child\":null,\"holder\":null,\"holder_stack\":null" },
  { ENGINE_NOW_CHILD, 5, 0, NODE_WAITS_NODE, "waiting",
    "\"a child\",\"child\":\"/1\",\"holder\":null,\"holder_stack\":5" },
  { ENGINE_NOW_CHILD, G_MAXUINT, 0, NODE_WAITS_NODE, "waiting",
    "\"a child\",\"child\":\"/1\",\"holder\":null,\"holder_stack\":null" },
  { ENGINE_NOW_LOAN, 5, 8, NODE_WAITS_NODE, "waiting",
    "\"a child\",\"child\":\"/1\",\"holder\":\"1.3\",\"holder_stack\":null" },
  { ENGINE_NOW_LOAN, 5, 8, NODE_WAITS_RERUN, "waiting",
    "\"a child\",\"child\":\"/1\",\"holder\":\"coordinator\",\"holder_stack\":null" },
  { ENGINE_NOW_LOAN, 5, 8, NODE_WAITS_NOWHERE, "waiting",
    "\"a child\",\"child\":\"/1\",\"holder\":null,\"holder_stack\":null" },
  { ENGINE_NOW_ANY, 5, 0, NODE_WAITS_NODE, "waiting",
    "\"any child\",\"child\":null,\"holder\":null,\"holder_stack\":null" },
  { ENGINE_NOW_SHARED, 5, 8, NODE_WAITS_NODE, "waiting",
    "\"shared bytes\",\"child\":null,\"holder\":\"1.3\",\"holder_stack\":null" },
  { ENGINE_NOW_KEPT, 5, 8, NODE_WAITS_NODE, "waiting",
    "\"its kept state\",\"child\":null,\"holder\":\"1.3\",\"holder_stack\":null" },
  { ENGINE_NOW_ABORT, 5, 0, NODE_WAITS_NODE, "waiting",
    "\"an aborted child\",\"child\":\"/1\",\"holder\":null,\"holder_stack\":5" },
};

/* Each kind of wait, with its holder. A stack is named only for a child that it runs. */
static void
jobs_tell_what_they_wait_for (void)
{
  g_autoptr (GBytes) args = g_bytes_new ("9", 1);
  EngineNow now = { .stack = 2,
                    .deepest = TRUE,
                    .path = (char *)"",
                    .job = &square_job,
                    .args = args,
                    .thief = 5,
                    .for_us = 11000000,
                    .said_us = 98 * G_USEC_PER_SEC,
                    .below = 6 };

  g_ptr_array_add (running, &now);
  is_text (report_jobs (&driver),
           "{\"id\":\"1.1\",\"pid\":77,\"workers\":4,\"more\":200,\"jobs\":[{\"stack\":2,"
           "\"state\":\"running\",\"path\":\"/\",\"job\":\"square\",\"args\":\"((i) 9)\","
           "\"for_s\":11,\"exact\":true,\"said_s\":2,\"asked\":false,\"below\":6,"
           "\"waits_for\":null,\"child\":null,\"holder\":null,\"holder_stack\":null}]}");
  now.deepest = FALSE;
  now.asked = TRUE;
  now.path = (char *)"/3";
  g_ptr_array_add (running, &now);
  is_text (report_jobs (&driver),
           "{\"id\":\"1.1\",\"pid\":77,\"workers\":4,\"more\":200,\"jobs\":[{\"stack\":2,"
           "\"state\":\"running\",\"path\":\"/3\",\"job\":\"square\",\"args\":\"((i) 9)\","
           "\"for_s\":11,\"exact\":false,\"said_s\":null,\"asked\":true,\"below\":6,"
           "\"waits_for\":null,\"child\":null,\"holder\":null,\"holder_stack\":null},{"
           "\"stack\":2,\"state\":\"running\",\"path\":\"/3\",\"job\":\"square\","
           "\"args\":\"((i) 9)\",\"for_s\":11,\"exact\":false,\"said_s\":null,\"asked\":true,"
           "\"below\":6,\"waits_for\":null,\"child\":null,\"holder\":null,"
           "\"holder_stack\":null}]}");
  for (guint i = 0; i < G_N_ELEMENTS (wait_cases); i++)
    {
      g_autofree char *state = g_strdup_printf ("\"state\":\"%s\",", wait_cases[i].state);
      g_autofree char *wait = g_strdup_printf (",\"waits_for\":%s}", wait_cases[i].shown);

      now.kind = wait_cases[i].kind;
      now.thief = wait_cases[i].thief;
      now.loan = wait_cases[i].loan;
      now.child = strstr (wait, "/1") != NULL ? (char *)"/1" : NULL;
      waits = wait_cases[i].waits;
      g_autofree char *text = report_jobs (&driver);
      g_assert_nonnull (strstr (text, state));
      g_assert_nonnull (strstr (text, wait));
    }
}

/* The log has all troubles, the file the last ten and their number. */
static void
troubles_are_counted (void)
{
  for (guint i = 1; i <= 12; i++)
    {
      g_autofree char *sentence = g_strdup_printf ("trouble\n%u", i);
      if (i == 12)
        g_string_truncate (called, 0);
      report_trouble (&driver, sentence);
    }
  noted ("say trouble\n12\n/run/node-77.trouble: 12\ntrouble 3\ntrouble 4\ntrouble 5\ntrouble 6\n"
         "trouble 7\ntrouble 8\ntrouble 9\ntrouble 10\ntrouble 11\ntrouble 12\n");
  driver.config.solo = TRUE;
  report_trouble (&driver, "alone");
  noted ("say alone\n");
}

/* Path, name, arguments and cause. A crash is told before the process may end, and that one which
 * ends the run leaves the last figures; a failure ends no process. */
static void
failed_jobs_are_named (void)
{
  g_autoptr (GBytes) args = g_bytes_new ("9", 1);
  EngineEvent said = { .kind = ENGINE_FAILED,
                       .path = (char *)"/1",
                       .at = (char *)"",
                       .job = &square_job,
                       .value = args,
                       .cause = "it said so",
                       .innermost = TRUE };

  report_failed_job (&driver, &said);
  noted ("report /1: the job at /, square ((i) 9): it said so (final)\n");
  said.kind = ENGINE_CRASH_REPORT;
  said.at = (char *)"/1/2";
  said.innermost = FALSE;
  report_failed_job (&driver, &said);
  noted ("say a process ends by the job at /1/2, square ((i) 9),"
         " or one below it: it said so\n"
         "/run/node-77.trouble: 1\n"
         "a process ends by the job at /1/2, square ((i) 9), or one below it: it said so\n"
         "report /1: the job at /1/2, square ((i) 9), or one below it: it said so\n"
         "flush\n"
         "crash is reported\n");
  is_the_end = driver.config.solo = TRUE;
  report_failed_job (&driver, &said);
  noted ("report /1: the job at /1/2, square ((i) 9), or one below it: it said so\n"
         "flush\n"
         "remove /run\n"
         "crash is reported, the end\n");
  driver.config.solo = FALSE;
  driver.part = PART_MEMBER;
  report_failed_job (&driver, &said);
  char *stats = strstr (called->str, "/run/node-77.stats: ");
  g_assert_true (stats != NULL && strstr (stats, "\"final\":true") != NULL);
  g_assert_true (g_str_has_suffix (stats, "\ncrash is reported, the end\n"));
  g_string_truncate (called, 0);
}

static void
both_results_of_a_job_are_named (void)
{
  g_autoptr (GBytes) args = g_bytes_new ("9", 1), here = g_bytes_new ("81", 2);
  g_autoptr (GBytes) there = g_bytes_new ("82", 2);
  g_autoptr (GPtrArray) parts = g_ptr_array_new ();
  Loan job = { .path = (char *)"/4", .args = args };
  NodeEffect effect = { .job = &job, .parts = parts, .node = id_of (2) };

  g_ptr_array_add (parts, there);
  g_ptr_array_add (parts, here);
  is_text (
      report_difference (&driver, &effect),
      "the job at /4, square ((i) 9),"
      " has two results: (x 82) from node 1.2 and (x 81) from node 1.1. One of them computes wrong,"
      " or the job depends on more than its arguments (law 1 of satin(7))");
  effect.node = NODE_ID_NONE;
  effect.failed = TRUE;
  is_text (report_difference (&driver, &effect),
           "the job at /4, square ((i) 9),"
           " has two results: (x 82) from a node that the checkpoint does not name, as saved,"
           " and (x 81) from node 1.1. One of them computes wrong,"
           " or the job depends on more than its arguments (law 1 of satin(7))");
}

/* At the end, what is still under way is in the trace, too. */
static void
a_trace_is_complete_at_the_end (void)
{
  report_timeline (&driver, TRUE);
  noted ("");
  driver.timeline = (Timeline *)&driver;
  report_timeline (&driver, FALSE);
  report_timeline (&driver, TRUE);
  noted ("/trace: events \n/trace: events open \n");
}

typedef void (*Test) (void);

static void
run_one (gconstpointer data)
{
  const Test *test = data;

  set_up ();
  (*test) ();
  tear_down ();
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    Test test;
  } tests[] = {
    { "/report/status", a_status_has_the_risk_of_each },
    { "/report/share-done", the_share_done_only_grows },
    { "/report/statistics", statistics_have_every_figure },
    { "/report/alone", a_program_alone_writes_at_the_end },
    { "/report/figures", the_figures_of_now },
    { "/report/jobs", jobs_tell_what_they_wait_for },
    { "/report/troubles", troubles_are_counted },
    { "/report/failed-jobs", failed_jobs_are_named },
    { "/report/difference", both_results_of_a_job_are_named },
    { "/report/trace", a_trace_is_complete_at_the_end },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add_data_func (tests[i].name, &tests[i].test, run_one);
  return g_test_run ();
}
