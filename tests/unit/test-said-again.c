/* SPDX-License-Identifier: BSD-3-Clause */
/* What is lost with a link, or comes too late, is sent again or taken back. */
#include "node-steps.h"

#include "satin/mesh/session.h"

/* n1, the coordinator, is told that the run is over; the newest link is half-open. */
static World *
world_at_its_end (guint64 *link)
{
  World *world = world_new (2, TRUE);

  for (guint i = 0; i < 2; i++)
    world->peer[i].found = 1;
  world->peer[0].commit_us = 900000;
  world->peer[1].commit_us = 1000;
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 1 });
  start (world);
  pass (world, 3 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "COORDINATOR"));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  *link = add_link (world);
  finish (world, 0, "");
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_FINISH });
  g_array_index (world->wires, Wire, *link - 1).mute = TRUE;
  return world;
}

/* … and has published it for the last time. */
static void
close_store (World *world, guint64 number)
{
  g_assert_true (said (world, 1, "FINAL"));
  forget_log (world);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = number, .final = TRUE });
}

/* The coordinator's last message is sent over one of two links, and is lost with it. */
static void
test_the_end_comes_over_the_other_link (void)
{
  guint64 link;
  g_autoptr (World) world = world_at_its_end (&link);

  close_store (world, 2);
  g_assert_cmpuint (world->peer[0].ended, ==, 999);
  break_link (world, link);
  pump (world);
  g_assert_cmpuint (world->peer[0].ended, ==, 0);
  g_assert_cmpuint (world->peer[1].ended, ==, 0);
}

/* The master notices the loss before the coordinator, which continues to use that link. */
static void
test_the_end_comes_when_only_the_other_has_lost_a_link (void)
{
  guint64 link;
  g_autoptr (World) world = world_at_its_end (&link);

  close_store (world, 2);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_LINK_DOWN, .link = link });
  pass (world, 2 * SESSION_STALL_US);
  g_assert_cmpuint (world->peer[0].ended, ==, 0);
  g_assert_cmpuint (world->peer[1].ended, ==, 0);
}

/* n2 waits in vain for the master's permission to leave, and stays; then the permission arrives. */
static void
test_who_is_released_too_late_gets_work (void)
{
  g_autoptr (World) world = world_new (3, FALSE);

  start (world);
  world->peer[0].late = TRUE;
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_LEAVE, .number = 1000 });
  pass (world, 2000);
  g_assert_true (said (world, 2, "STAYED"));
  world->peer[0].late = FALSE;
  pass (world, 2000);
  offer (world, 0, "/0");
  hunger (world, 2);

  g_assert_true (said (world, 2, "RUN /0"));
  g_assert_false (said (world, 2, "HALT"));
}

/* `who` gets the kept state of a job, as an heir or a coordinator does. */
static void
hold_kept (World *world, guint who, guint32 children)
{
  Digest digest = digest_of_string ("/3 as kept");
  g_autoptr (GBytes) value = g_bytes_new ("state", 5);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  g_ptr_array_add (rows, row_new_kept ("/3", children, 1, &digest, 0, "ay", value));
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_RESTORED, .rows = rows });
}

/* How often this node was told that such a state is held. */
static guint
times_known (World *world, guint who)
{
  g_auto (GStrv) all = g_strsplit (world->peer[who].log->str, "\n", -1);
  guint n = 0;

  for (guint i = 0; all[i] != NULL; i++)
    n += g_str_equal (all[i], "KNOWN /3 finished");
  return n;
}

static void
test_a_newer_state_is_said_when_another_offers_one (void)
{
  g_autoptr (World) world = world_new (3, TRUE);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);
  (void)offer (world, 0, "/3");
  hunger (world, 2);

  hold_kept (world, 0, 3);
  hold_kept (world, 0, 6);
  g_assert_cmpuint (times_known (world, 2), ==, 1); /* it knows which node has it */
  hold_kept (world, 1, 4);
  g_assert_cmpuint (times_known (world, 2), ==, 3);
  hold_kept (world, 0, 8);
  g_assert_cmpuint (times_known (world, 2), ==, 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/said-again/" name, function)
  TEST ("the-end-comes-over-the-other-link", test_the_end_comes_over_the_other_link);
  TEST ("the-end-when-only-the-other-has-lost-a-link",
        test_the_end_comes_when_only_the_other_has_lost_a_link);
  TEST ("who-is-released-too-late-gets-work", test_who_is_released_too_late_gets_work);
  TEST ("a-newer-state-is-said-when-another-offers-one",
        test_a_newer_state_is_said_when_another_offers_one);
  return g_test_run ();
}
