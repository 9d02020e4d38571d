/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver's loop (node/driver.c): what the Node hears of the engine, in which order, and what is
 * done each second. */
#include "driver-rig.h"

static void
engine_says (EngineEvent said)
{
  g_queue_push_tail (&mailbox, &said);
  drive_calls.serve (drive_calls.data);
}

/* A halted engine has its last work at risk counted first, since a leaver would lose it. */
static void
the_node_hears_of_the_engine (void)
{
  static const struct
  {
    EngineEventKind kind;
    const char *heard;
  } cases[] = {
    { ENGINE_HUNGRY, "idle 9\n" },
    { ENGINE_DONE, "done 9\n" },
    { ENGINE_UNRUN, "unrun 9\n" },
    { ENGINE_ADOPT, "adopt 9\n" },
    { ENGINE_WANT, "want 7\n" },
    { ENGINE_ABORTED, "aborted 9\n" },
    { ENGINE_COVERED, "covered 9\n" },
    { ENGINE_UNMATCHED, "unmatched 9\n" },
    { ENGINE_ROWS, "rows 9\n" },
    { ENGINE_FINISHED, "finished 9\n" },
    { ENGINE_SHARED, "shared 9\n" },
    { ENGINE_HALTED, "work\nhalted 9\n" },
    { ENGINE_IMPROVED, "keep best 9\nimproved 9\n" },
    { ENGINE_SCANNED, "served 8\nwork\n" },
    { ENGINE_CRASH_REPORT, "failed job 0\n" },
    { ENGINE_FAILED, "failed job 1\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      engine_says ((EngineEvent){ .kind = cases[i].kind, .best = 9, .length = 7, .scan = 8 });
      noted (cases[i].heard);
    }
}

static void
all_values_are_passed_on (void)
{
  const NodeId holder = { 31, 32, 33 };
  GBytes *const value = (GBytes *)(void *)"value";
  GPtrArray *const rows = (GPtrArray *)(void *)"rows", *const shared
                                                       = (GPtrArray *)(void *)"shared";
  Loan *const whole = (Loan *)(void *)"whole";

  engine_says ((EngineEvent){ .kind = ENGINE_DONE,
                              .seats = 1,
                              .held = 2,
                              .loan = 3,
                              .path = (char *)"/4",
                              .digest = { { 5 } },
                              .holder = holder,
                              .work_us = 6,
                              .risk_us = 7,
                              .began_ms = 8,
                              .took_ms = 9,
                              .value = value,
                              .shared = shared,
                              .rows = rows,
                              .whole = whole });
  noted ("done 0\n");
  g_assert_cmpuint (heard.count, ==, 1);
  g_assert_cmpuint (heard.held, ==, 2);
  g_assert_cmpuint (heard.loan, ==, 3);
  g_assert_cmpstr (heard.path, ==, "/4");
  g_assert_cmpuint (heard.digest.bytes[0], ==, 5);
  g_assert_true (node_id_equal (&heard.node, &holder));
  g_assert_cmpuint (heard.work_us, ==, 6);
  g_assert_cmpuint (heard.risk_us, ==, 7);
  g_assert_cmpuint (heard.began_ms, ==, 8);
  g_assert_cmpuint (heard.took_ms, ==, 9);
  g_assert_true (heard.bytes == value && heard.shares == shared && heard.rows == rows
                 && heard.job == whole);
}

/* Events that effects cause follow in their order, before anything else; then what is at risk, and
 * the figures if a member was lost. */
static void
events_follow_in_order (void)
{
  n_effects = 1;
  goes_on = TRUE;
  drive_calls.timer (drive_calls.data);
  noted ("timer 0\nunrun 1\nunrun 2\nwork\nfigures\n");
  n_effects = 1000;
  drive_calls.timer (drive_calls.data);
  drive_calls.timer (drive_calls.data);
  noted ("timer 0\ntimer 0\n");
  drive_calls.flush (drive_calls.data);
  engine_calls.wake (engine_calls.data);
  engine_calls.wake_late (engine_calls.data);
  noted ("flush\nwake\nwake late\n");
}

/* The number of lines `line` among the calls noted so far. */
static guint
times_noted (const char *line)
{
  g_auto (GStrv) parts = g_strsplit (called->str, line, -1);
  return g_strv_length (parts) - 1;
}

/* The nodes of a large run take turns with their files: for each 64 members a node skips one
 * second. */
static void
signs_of_life_each_second (void)
{
  static const struct
  {
    guint members, seconds, files;
  } runs[]
      = { { 1, 4, 4 }, { 63, 4, 4 }, { 64, 4, 2 }, { 127, 4, 2 }, { 128, 6, 2 }, { 192, 8, 2 } };

  turn (2);
  noted ("address\nsign\nwork\nfigures\naddress\nsign\nwork\nfigures\n");
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    {
      n_members = runs[i].members;
      driver->periods = 0;
      turn (runs[i].seconds);
      g_assert_cmpuint (times_noted ("figures\n"), ==, runs[i].files);
      g_assert_cmpuint (times_noted ("sign\n"), ==, runs[i].seconds);
      g_string_truncate (called, 0);
    }
  driver->part = PART_STOPPED;
  turn (2);
  noted ("");
}

/* TRUE: the run was suspended once within so many seconds. */
static gboolean
suspends_within (guint periods)
{
  turn (periods);
  guint n = times_noted ("suspend 1000000\n");
  g_string_truncate (called, 0);
  g_assert_cmpuint (n, <=, 1);
  return n == 1;
}

/* A node that finds the end of its run, or no folder, hears of it from others first, unless it
 * stood still meanwhile. A node of another host, and one that has not joined, has no such folder.
 */
static void
a_run_that_has_ended_goes_on_nowhere (void)
{
  run_has_ended = TRUE;
  g_assert_false (suspends_within (3));
  run_has_ended = FALSE;
  g_assert_false (suspends_within (1));
  run_has_ended = TRUE;
  g_assert_false (suspends_within (3));
  g_assert_true (suspends_within (1));
  g_assert_false (suspends_within (9));
  run_has_ended = FALSE;
  g_assert_false (suspends_within (1));
  folder_is_there = FALSE;
  driver->config.far = TRUE;
  g_assert_false (suspends_within (9));
  driver->config.far = FALSE;
  driver->part = PART_JOINING;
  g_assert_false (suspends_within (9));
  driver->part = PART_MEMBER;
  g_assert_true (suspends_within (4));
}

/* The memory of a member that left is given back once, when that is due and possible. */
static void
memory_is_given_back_once (void)
{
  driver->departed_us = now_us;
  turn (4);
  g_assert_null (strstr (called->str, "memory"));
  is_quiet = TRUE;
  turn (1);
  g_assert_nonnull (strstr (called->str, "memory"));
  is_quiet = FALSE;
  g_string_truncate (called, 0);
  turn (1);
  g_assert_nonnull (strstr (called->str, "memory"));
  g_string_truncate (called, 0);
  turn (2);
  g_assert_null (strstr (called->str, "memory"));
  g_string_truncate (called, 0);
}

/* The first end counts, whatever follows. */
static void
a_run_ends_once (void)
{
  driver_set_ended (driver, PART_ON_STOP, 7, "first");
  driver_set_ended (driver, PART_ON_FINISH, 0, "second");
  g_assert_cmpint (driver->end_code, ==, 7);
  g_assert_cmpstr (driver->reason, ==, "first");
  g_assert_cmpint (driver->part, ==, PART_STOPPED);
}

/* A worker drives only when the driver is complete, and not while it has something else to do. */
static void
an_idle_worker_drives (void)
{
  g_assert_false (engine_calls.idle (engine_calls.data, 5));
  noted ("");
  driver->ready = TRUE;
  g_assert_true (engine_calls.idle (engine_calls.data, 5));
  is_hungry = TRUE;
  g_assert_true (engine_calls.idle (engine_calls.data, 6));
  is_roused = TRUE;
  g_assert_true (engine_calls.idle (engine_calls.data, 7));
  noted ("idle 5 sleep\nidle 6 spin\nidle 7 leave\n");
}

/* The program of an embedded run goes on; only the run ends. */
static void
an_embedded_run_ends_alone (void)
{
  driver->config.embedded = TRUE;
  is_deaf = TRUE;
  driver_end_if_deaf (driver);
  noted ("quit\n");
  g_assert_cmpint (driver->end_code, ==, 6);
  is_deaf = FALSE;
  driver->part = PART_MEMBER;
  g_clear_pointer (&driver->reason, g_free);
  driver_fail (driver, 1, "why");
  g_assert_cmpint (driver->part, ==, PART_STOPPED);
  noted ("");
}

typedef void (*Test) (void);

static void
run_one (gconstpointer data)
{
  const Test *test = data;

  set_up (TRUE);
  (*test) ();
  tear_down ();
}

static void
a_joiner_joins (void)
{
  tear_down ();
  set_up (FALSE);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    Test test;
  } tests[] = {
    { "/driver/engine", the_node_hears_of_the_engine },
    { "/driver/values", all_values_are_passed_on },
    { "/driver/order", events_follow_in_order },
    { "/driver/joiner", a_joiner_joins },
    { "/driver/each-second", signs_of_life_each_second },
    { "/driver/ended-elsewhere", a_run_that_has_ended_goes_on_nowhere },
    { "/driver/memory", memory_is_given_back_once },
    { "/driver/once", a_run_ends_once },
    { "/driver/idle", an_idle_worker_drives },
    { "/driver/embedded", an_embedded_run_ends_alone },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add_data_func (tests[i].name, &tests[i].test, run_one);
  return g_test_run ();
}
