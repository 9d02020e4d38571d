/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs whose holders died three times without a report: where they run from then on. */
#include "node-world.h"

#include "satin/protocol/messages/message.h"
#include "satin/protocol/work/poison.h"

/* `thief` takes the job of `lender` and then dies without a crash report. */
static void
falls_silent (World *world, guint lender, guint thief, const char *path)
{
  g_autofree char *run = g_strconcat ("RUN ", path, NULL);

  (void)offer (world, lender, path);
  hunger (world, thief);
  g_assert_true (said (world, thief, run));
  die (world, thief);
  pass (world, G_USEC_PER_SEC);
}

/* All seats of `who` are idle, and stay idle. */
static void
idles (World *world, guint who)
{
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 2 });
}

static void
test_it_waits_for_a_node_with_nothing_to_do (void)
{
  g_autoptr (World) world = world_new (6, FALSE);

  start (world);
  for (guint thief = 5; thief > 2; thief--)
    {
      g_assert_false (said (world, 0, "WARN"));
      falls_silent (world, 0, thief, "/0");
    }
  g_assert_true (said (world, 0, "WARN"));
  g_assert_false (said (world, 1, "WARN") || said (world, 2, "WARN")); /* the user is warned once */
  g_assert_true (said (world, 0, "BACK 2"));
  pass (world, 20 * G_USEC_PER_SEC);
  g_assert_false (said (world, 0, "BACK 3")); /* the master does not run it */
  g_assert_false (said (world, 1, "RUN /0") || said (world, 2, "RUN /0"));
  idles (world, 1);
  pass (world, 10 * G_USEC_PER_SEC);

  g_assert_true (said (world, 1, "RUN /0"));
  g_assert_false (said (world, 2, "RUN /0"));
  (void)offer (world, 0, "/7");
  idles (world, 1);
  pass (world, 10 * G_USEC_PER_SEC);
  g_assert_false (said (world, 1, "RUN /7")); /* not beside the quarantined job */
  finish (world, 1, "/0");
  g_assert_true (said (world, 0, "PUT 3"));
  idles (world, 1);
  pass (world, 10 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "RUN /7"));
}

/* n1 asks n0 for work, gets the job that runs alone meanwhile, and then an answer to the first
 * request. */
static void
test_what_was_asked_for_before_goes_back (void)
{
  g_autoptr (World) world = world_new (5, FALSE);

  start (world);
  for (guint thief = 4; thief > 1; thief--)
    falls_silent (world, 0, thief, "/0");
  world->peer[0].late = TRUE;
  idles (world, 1);
  pass (world, 5 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "RUN /0"));
  guint64 loan = offer (world, 0, "/7");
  world->peer[0].late = FALSE;
  pass (world, 1000);

  g_autofree char *back = g_strdup_printf ("BACK %u", (guint)loan);
  g_assert_cmpuint (world->peer[0].jobs->len, ==, 0); /* the job was lent */
  g_assert_true (said (world, 0, back));
  g_assert_false (said (world, 1, "RUN /7"));
  g_assert_cmpuint (stats_of (world, 1).held, ==, 1);
}

/* The node where the job ran alone dies, too: the job waits again for an idle node. */
static void
test_it_waits_anew (void)
{
  g_autoptr (World) world = world_new (7, FALSE);

  start (world);
  for (guint thief = 6; thief > 3; thief--)
    falls_silent (world, 0, thief, "/0");
  idles (world, 1);
  pass (world, 10 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "RUN /0"));
  pass (world, 55 * G_USEC_PER_SEC);
  die (world, 1);
  pass (world, 40 * G_USEC_PER_SEC);
  g_assert_false (said (world, 2, "RUN /0") || said (world, 3, "RUN /0"));
  pass (world, 40 * G_USEC_PER_SEC);
  g_assert_true (said (world, 2, "RUN /0") || said (world, 3, "RUN /0"));
}

static void
test_it_does_not_wait_for_ever (void)
{
  g_autoptr (World) world = world_new (5, FALSE);

  start (world);
  for (guint thief = 4; thief > 1; thief--)
    falls_silent (world, 0, thief, "/0");
  pass (world, 50 * G_USEC_PER_SEC);
  g_assert_false (said (world, 1, "RUN /0"));
  pass (world, 20 * G_USEC_PER_SEC);

  g_assert_true (said (world, 1, "RUN /0")); /* this node runs another job, too */
  g_assert_false (said (world, 0, "BACK 3"));
  forget_log (world);
  die (world, 1);
  pass (world, 5 * G_USEC_PER_SEC);
  g_assert_true (said (world, 0, "BACK 3")); /* no other node is left */
}

static void
test_what_even_a_busy_one_gives_back_is_ready (void)
{
  g_autoptr (World) world = world_new (5, FALSE);

  start (world);
  for (guint thief = 4; thief > 1; thief--)
    falls_silent (world, 0, thief, "/0");
  pass (world, 70 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "RUN /0"));
  g_assert_false (said (world, 0, "BACK 3"));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_UNRUN, .held = held_of (world, 1, "/0") });
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_true (said (world, 0, "BACK 3"));
}

static void
test_the_master_does_not_get_it (void)
{
  g_autoptr (World) world = world_new (6, FALSE);

  start (world);
  for (guint thief = 5; thief > 2; thief--)
    falls_silent (world, 1, thief, "/0");
  g_assert_true (said (world, 1, "WARN"));
  idles (world, 0);
  pass (world, 20 * G_USEC_PER_SEC);
  g_assert_false (said (world, 0, "RUN /0"));
  idles (world, 2);
  pass (world, 20 * G_USEC_PER_SEC);

  g_assert_true (said (world, 2, "RUN /0"));
  g_assert_false (said (world, 0, "RUN /0"));
}

/* The master n0 lends, n2 is coordinator: the death of neither may be risked. */
static void
test_the_coordinator_does_not_get_it (void)
{
  g_autoptr (World) world = world_new (6, TRUE);

  for (guint i = 0; i < 6; i++)
    {
      world->peer[i].commit_us = i == 2 ? 100000 : 900000;
      world->peer[i].found = 1;
    }
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 1 });
  start (world);
  pass (world, 3 * G_USEC_PER_SEC);
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  for (guint thief = 5; thief > 2; thief--)
    falls_silent (world, 0, thief, "/0");
  pass (world, 2 * G_USEC_PER_SEC);
  idles (world, 2);
  pass (world, 20 * G_USEC_PER_SEC);
  g_assert_false (said (world, 2, "RUN /0"));
  idles (world, 1);
  pass (world, 20 * G_USEC_PER_SEC);

  g_assert_true (said (world, 1, "RUN /0"));
  g_assert_false (said (world, 2, "RUN /0"));
}

static void
test_all_lenders_count_together (void)
{
  g_autoptr (World) world = world_new (7, FALSE);

  start (world);
  falls_silent (world, 1, 6, "/0");
  falls_silent (world, 1, 5, "/0");
  falls_silent (world, 2, 4, "/0");
  g_assert_true (said (world, 2, "WARN"));
  g_assert_false (said (world, 1, "WARN"));
  g_assert_false (said (world, 2, "BACK 1"));
}

static void
test_nobody_waits_for_what_is_forgotten (void)
{
  g_autoptr (World) world = world_new (5, FALSE);

  start (world);
  for (guint thief = 4; thief > 1; thief--)
    falls_silent (world, 0, thief, "/0");
  g_assert_cmpuint (stats_of (world, 0).lent, ==, 1);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = 3 });
  g_assert_cmpuint (stats_of (world, 0).lent, ==, 0);
  idles (world, 1);
  pass (world, 90 * G_USEC_PER_SEC);
  g_assert_false (said (world, 1, "RUN /0"));
}

/* If many nodes are killed there are many such jobs, and the user would read nothing but these
 * warnings. */
static void
test_people_hear_of_one_a_minute (void)
{
  g_autoptr (World) world = world_new (8, FALSE);

  start (world);
  for (guint thief = 7; thief > 4; thief--)
    falls_silent (world, 0, thief, "/0");
  g_assert_true (said (world, 0, "WARN"));
  forget_log (world);
  for (guint thief = 4; thief > 1; thief--)
    falls_silent (world, 0, thief, "/1");
  g_assert_false (said (world, 0, "WARN"));
  g_assert_cmpuint (stats_of (world, 0).lent, ==, 2); /* the job waits nevertheless */
}

static void
test_they_hear_of_the_next_after_it (void)
{
  g_autoptr (World) world = world_new (8, FALSE);

  start (world);
  for (guint thief = 7; thief > 4; thief--)
    falls_silent (world, 0, thief, "/0");
  forget_log (world);
  pass (world, 61 * G_USEC_PER_SEC);
  for (guint thief = 4; thief > 1; thief--)
    falls_silent (world, 0, thief, "/1");
  g_assert_true (said (world, 0, "WARN"));
}

/* `n` holders of other jobs, with paths of all lengths, die without a crash report, and n0 learns
 * of it. */
static void
others_fall_silent (World *world, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_strdup_printf ("/1/%u", i * 7919);
      Message message
          = { .kind = MESSAGE_CRASH_REPORT, .id = { 1, 1000 + i, 1 }, .path = path, .text = "" };
      g_autoptr (GPtrArray) parts = message_encode (&message);
      g_autoptr (GByteArray) all = g_byte_array_new ();

      for (guint j = 0; j < parts->len; j++)
        g_byte_array_append (all, g_bytes_get_data (parts->pdata[j], NULL),
                             (guint)g_bytes_get_size (parts->pdata[j]));
      post (world, (Post){ .to = 0,
                           .kind = NODE_EVENT_MESSAGE,
                           .link = 1,
                           .bytes = g_byte_array_free_to_bytes (g_steal_pointer (&all)) });
      pump (world);
    }
}

/* Only a limited number of the newest deaths is kept. */
static void
test_old_deaths_are_forgotten (void)
{
  static const guint others[]
      = { POISON_KEPT_MAX - NODE_CRASH_REPORT, POISON_KEPT_MAX - NODE_CRASH_REPORT + 1 };

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      g_autoptr (World) world = world_new (6, FALSE);
      start (world);
      falls_silent (world, 0, 5, "/0");
      falls_silent (world, 0, 4, "/0");
      others_fall_silent (world, others[i]);
      falls_silent (world, 0, 3, "/0");
      g_assert_true (said (world, 0, "WARN") == (i == 0));
    }
}

/* A holder that had the job for longer before it died does not count. */
static void
test_late_deaths_do_not_count (void)
{
  for (guint late = 0; late < 2; late++)
    {
      g_autoptr (World) world = world_new (6, FALSE);

      start (world);
      falls_silent (world, 0, 5, "/0");
      falls_silent (world, 0, 4, "/0");
      (void)offer (world, 0, "/0");
      hunger (world, 3);
      g_assert_true (said (world, 3, "RUN /0"));
      pass (world, POISON_SOON_US / 2 + late * POISON_SOON_US);
      die (world, 3);
      pass (world, G_USEC_PER_SEC);
      g_assert_cmpint (said (world, 0, "WARN"), ==, !late);
    }
}

/* A joiner may lend the job, too: it knows of the earlier deaths. */
static void
test_joiners_hear_of_them (void)
{
  g_autoptr (World) world = world_new (5, FALSE);

  start (world);
  falls_silent (world, 0, 4, "/0");
  falls_silent (world, 0, 3, "/0");
  add_peer (world, FALSE);
  pass (world, G_USEC_PER_SEC);
  g_assert_cmpuint (poison_count_quiet (world->peer[5].node, "/0"), ==, 2);
  g_assert_cmpuint (poison_count_quiet (world->peer[5].node, "/1"), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/alone/" name, function)
  TEST ("it-waits-for-a-node-with-nothing-to-do", test_it_waits_for_a_node_with_nothing_to_do);
  TEST ("what-was-asked-for-before-goes-back", test_what_was_asked_for_before_goes_back);
  TEST ("it-waits-anew", test_it_waits_anew);
  TEST ("it-does-not-wait-for-ever", test_it_does_not_wait_for_ever);
  TEST ("what-even-a-busy-one-gives-back-is-ready", test_what_even_a_busy_one_gives_back_is_ready);
  TEST ("the-master-does-not-get-it", test_the_master_does_not_get_it);
  TEST ("the-coordinator-does-not-get-it", test_the_coordinator_does_not_get_it);
  TEST ("all-lenders-count-together", test_all_lenders_count_together);
  TEST ("people-hear-of-one-a-minute", test_people_hear_of_one_a_minute);
  TEST ("they-hear-of-the-next-after-it", test_they_hear_of_the_next_after_it);
  TEST ("nobody-waits-for-what-is-forgotten", test_nobody_waits_for_what_is_forgotten);
  TEST ("old-deaths-are-forgotten", test_old_deaths_are_forgotten);
  TEST ("late-deaths-do-not-count", test_late_deaths_do_not_count);
  TEST ("joiners-hear-of-them", test_joiners_hear_of_them);
  return g_test_run ();
}
