/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that end the processes that run them: crash reports, deaths without a report, and which
 * processes end. */
#include "node-world.h"

#include "satin/protocol/messages/message.h"

/* The node dies, after a crash report that names the job. */
static void
fall (World *world, guint who, const char *path)
{
  g_autofree char *text = g_strdup_printf ("a job (1) at %s: abort", path);

  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_CRASH_REPORT, .path = path, .text = text });
  if (!said (world, who, "END"))
    die (world, who);
  pass (world, 1000000);
}

/* Three reports count together if their jobs lie on one path from the root, in whatever order they
 * come: the first three here are of two paths. The deepest job is named. */
static void
test_three_crash_report_in_one_line_end_the_run (void)
{
  static const char *const orders[][4] = { { "/0/3", "/0/3/1", "/0/4", "/0" },
                                           { "/0", "/0/4", "/0/3", "/0/3/1" },
                                           { "/0/3/1", "/0", "/0/4", "/0/3" } };

  for (guint i = 0; i < G_N_ELEMENTS (orders); i++)
    {
      g_autoptr (World) world = world_new (6, FALSE);

      start (world);
      fall (world, 4, orders[i][0]);
      fall (world, 0, orders[i][1]);
      fall (world, 3, orders[i][2]);
      g_assert_false (said (world, 1, "END"));
      fall (world, 5, orders[i][3]);

      g_assert_true (said (world, 1, "END"));
      g_assert_true (said (world, 2, "END"));
      g_assert_cmpuint (world->peer[2].ended, ==, NODE_END_FAILED);
      g_assert_true (said (world, 1,
                           "BECAUSE a job ends every process that runs it, three so far: "
                           "a job (1) at /0/3/1: abort"));
    }
}

/* Reports a job that called satin_fail: its node lives on. */
static void
state (World *world, guint who)
{
  tell (world, who,
        &(NodeEvent){ .kind = NODE_EVENT_CRASH_REPORT,
                      .path = "/0/3",
                      .text = "a job (1): no row",
                      .final = TRUE });
}

static void
test_one_stated_failure_ends_the_run (void)
{
  for (guint who = 0; who < 3; who++)
    {
      g_autoptr (World) world = world_new (3, FALSE);

      start (world);
      state (world, who);
      pass (world, 1000000);
      for (guint i = 0; i < 3; i++)
        g_assert_cmpuint (world->peer[i].ended, ==, NODE_END_FAILED);
    }
}

static void
test_the_next_master_ends_the_run_by_a_stated_failure (void)
{
  g_autoptr (World) world = world_new (3, FALSE);

  start (world);
  world->peer[0].deaf = TRUE;
  state (world, 2);
  g_assert_false (said (world, 1, "END"));
  die (world, 0);
  pass (world, 1000000);
  for (guint i = 1; i < 3; i++)
    g_assert_cmpuint (world->peer[i].ended, ==, NODE_END_FAILED);
}

static void
test_a_stated_failure_ends_a_run_of_one (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  start (world);
  die (world, 0);
  pass (world, 1000000);
  state (world, 1);
  g_assert_cmpuint (world->peer[1].ended, ==, NODE_END_FAILED);
}

static void
test_a_joiner_hears_of_crash_report (void)
{
  g_autoptr (World) world = world_new (4, FALSE);

  start (world);
  fall (world, 3, "/0/3");
  fall (world, 2, "/0/3");
  add_peer (world, FALSE);
  tell (world, 4, &(NodeEvent){ .kind = NODE_EVENT_JOIN, .text = "n0" });
  die (world, 0);
  pass (world, 1000000);
  die (world, 1);
  pass (world, 1000000);
  g_assert_true (said (world, 4, "MASTER"));
  g_assert_false (said (world, 4, "END"));
  add_peer (world, FALSE);
  tell (world, 5, &(NodeEvent){ .kind = NODE_EVENT_JOIN, .text = "n4" });
  pass (world, 1000000);
  fall (world, 5, "/0/3");

  g_assert_true (said (world, 4, "END"));
}

static void
test_the_last_process_ends_the_run_by_its_crash_report (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  start (world);
  die (world, 0);
  pass (world, 1000000);
  fall (world, 1, "");

  g_assert_cmpuint (world->peer[1].ended, ==, NODE_END_FAILED);
}

/* n0 sends this message to n1. */
static void
say (World *world, const Message *message)
{
  g_autoptr (GPtrArray) parts = message_encode (message);
  g_autoptr (GByteArray) all = g_byte_array_new ();

  for (guint i = 0; i < parts->len; i++)
    g_byte_array_append (all, g_bytes_get_data (parts->pdata[i], NULL),
                         (guint)g_bytes_get_size (parts->pdata[i]));
  post (world, (Post){ .to = 1,
                       .kind = NODE_EVENT_MESSAGE,
                       .link = 1,
                       .bytes = g_byte_array_free_to_bytes (g_steal_pointer (&all)) });
  pump (world);
}

/* The node that decided so believed that it was the last one. */
static void
test_a_member_does_not_end_for_fewer_crash_report (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  Message end = { .kind = MESSAGE_END, .number = NODE_END_FAILED };

  start (world);
  say (world, &end);
  g_assert_false (said (world, 1, "END"));
  for (guint32 i = 1; i <= NODE_CRASH_REPORT; i++)
    say (world,
         &(Message){
             .kind = MESSAGE_CRASH_REPORT, .id = { 1, 9, i }, .path = "/0", .text = "abort" });
  say (world, &end);
  g_assert_cmpuint (world->peer[1].ended, ==, NODE_END_FAILED);
}

/* The joining node may have been a member before. */
static void
test_the_last_process_ends_nothing_while_somebody_joins (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  Wire wire = { { 0, 1 }, TRUE, FALSE };

  start (world);
  die (world, 1);
  pass (world, 1000000);
  g_array_append_val (world->wires, wire);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_LINK_UP, .link = world->wires->len });
  fall (world, 0, "");
  g_assert_false (said (world, 0, "END"));
}

/* n0 believes that it is the last node and dies of a job while n2 joins; n1 has died, or only
 * slept. */
static World *
world_that_ends_while_n2_joins (gboolean slept)
{
  World *world = world_new (2, FALSE);

  start (world);
  if (slept)
    world->peer[1].deaf = TRUE;
  else
    die (world, 1);
  pass (world, 60 * G_USEC_PER_SEC);
  world->lates_kind
      = MESSAGE_HAVE; /* n0's HAVE makes n2 late: n2 does not know yet which node to ask */
  add_peer (world, FALSE);
  world->lates_kind = MESSAGE_NO_KIND;
  fall (world, 0, "");
  g_assert_false (said (world, 2, "JOINED"));
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_JOIN, .text = "n1" });
  world->peer[1].deaf = world->peer[2].late = FALSE;
  pump (world);
  g_assert_false (said (world, 2, "END"));
  return world;
}

static void
test_who_joins_ends_with_the_last_process (void)
{
  g_autoptr (World) world = world_that_ends_while_n2_joins (FALSE);

  pass (world, 10 * G_USEC_PER_SEC);
  g_assert_cmpuint (world->peer[2].ended, ==, NODE_END_FAILED);
}

static void
test_who_joins_finds_others_than_who_took_itself_for_the_last (void)
{
  g_autoptr (World) world = world_that_ends_while_n2_joins (TRUE);

  pass (world, 60 * G_USEC_PER_SEC);
  g_assert_false (said (world, 2, "END"));
  g_assert_cmpuint (members_of (world, 2), ==, 2);
}

static void
test_deaths_without_a_word_end_nothing (void)
{
  g_autoptr (World) world = world_new (5, FALSE);

  start (world);
  for (guint i = 4; i > 1; i--)
    {
      g_assert_false (said (world, 0, "WARN"));
      (void)offer (world, 0, "/0");
      hunger (world, i);
      g_assert_true (said (world, i, "RUN /0"));
      die (world, i);
      pass (world, 1000000);
    }
  g_assert_true (said (world, 0, "WARN"));
  g_assert_false (said (world, 0, "END"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/crash-reports/" name, function)
  TEST ("three-crash-reports-in-one-line-end-the-run",
        test_three_crash_report_in_one_line_end_the_run);
  TEST ("one-stated-failure-ends-the-run", test_one_stated_failure_ends_the_run);
  TEST ("the-next-master-ends-the-run-by-a-stated-failure",
        test_the_next_master_ends_the_run_by_a_stated_failure);
  TEST ("a-stated-failure-ends-a-run-of-one", test_a_stated_failure_ends_a_run_of_one);
  TEST ("a-joiner-hears-of-crash-reports", test_a_joiner_hears_of_crash_report);
  TEST ("the-last-process-ends-the-run-by-its-crash-reports",
        test_the_last_process_ends_the_run_by_its_crash_report);
  TEST ("a-member-does-not-end-for-fewer-crash-reports",
        test_a_member_does_not_end_for_fewer_crash_report);
  TEST ("the-last-process-ends-nothing-while-somebody-joins",
        test_the_last_process_ends_nothing_while_somebody_joins);
  TEST ("who-joins-ends-with-the-last-process", test_who_joins_ends_with_the_last_process);
  TEST ("who-joins-finds-others-than-who-took-itself-for-the-last",
        test_who_joins_finds_others_than_who_took_itself_for_the_last);
  TEST ("deaths-without-a-word-end-nothing", test_deaths_without_a_word_end_nothing);
  return g_test_run ();
}
