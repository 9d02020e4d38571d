/* SPDX-License-Identifier: BSD-3-Clause */
/* A run as two or three Nodes see it: which node is master, which are alive, how the run ends, and
 * which nodes leave. */
#include "node-world.h"

#include <string.h>

static void
test_quarantine_it_founds_runs_and_ends (void)
{
  g_autoptr (World) world = world_new (1, FALSE);

  start (world);
  finish (world, 0, "");
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_FINISH, .number = 3 });

  g_assert_cmpstr (world->peer[0].log->str, ==, "JOINED\nMASTER\nSTART\nRUN \nRESULT\nEND\n");
  g_assert_cmpuint (world->peer[0].ended, ==, 3);
  g_assert_cmpuint (world->peer[0].timer_us, ==, G_MAXUINT64);
}

/* T1-1. */
static void
test_the_next_eldest_takes_over_when_all_elders_die_at_once (void)
{
  g_autoptr (World) world = world_new (4, FALSE);
  start (world);

  die (world, 0);
  die (world, 1);
  pass (world, 1000000);

  g_assert_true (said (world, 2, "MASTER"));
  g_assert_false (said (world, 3, "MASTER"));
  g_assert_cmpuint (members_of (world, 3), ==, 2);
}

static void
test_a_joiner_finds_the_new_master (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  die (world, 0);
  pass (world, 1000000);

  add_peer (world, FALSE); /* the new node knows only the dead one */
  pass (world, 1000000);
  g_assert_cmpuint (members_of (world, 3), ==, 0);
  tell (world, 3, &(NodeEvent){ .kind = NODE_EVENT_JOIN, .text = "n2" });
  pass (world, 10000000);

  g_assert_cmpuint (members_of (world, 3), ==, 3);
  g_assert_cmpuint (members_of (world, 1), ==, 3);
}

/* T1-7: silence counts as a crash, like a broken link, and a false alarm costs only time. */
static void
test_one_that_slept_is_left_out_and_joins_again (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);
  (void)offer (world, 1, "/0/1");
  hunger (world, 2);
  world->peer[1].deaf = TRUE;
  pass (world, 60000000);
  g_assert_cmpuint (members_of (world, 0), ==, 2);
  forget_log (world);

  world->peer[1].deaf = FALSE;
  for (guint i = 0; i < world->wires->len; i++)
    if (!g_array_index (world->wires, Wire, i).up)
      post (world, (Post){ .to = 1, .kind = NODE_EVENT_LINK_DOWN, .link = i + 1 });
  pass (world, 10000000);

  g_assert_true (said (world, 1, "BACK 1"));
  g_assert_true (said (world, 1, "JOINED"));
  g_assert_true (said (world, 1, "KNOWN /0/1")); /* its thief holds it as an orphan */
  g_assert_cmpuint (members_of (world, 0), ==, 3);
}

/* `lost` (a number): the member that is taken for dead and comes back. The founder was not
 * invited. */
static void
test_a_closed_run_takes_in_whom_it_knows (gconstpointer lost)
{
  guint who = GPOINTER_TO_UINT (lost), other = who == 0 ? 1 : 0;
  g_autoptr (World) world = world_new (0, FALSE);
  world->closed = TRUE;
  for (guint i = 0; i < 3; i++)
    {
      world->invites = i > 0;
      add_peer (world, FALSE);
    }
  pass (world, 10);
  start (world);
  g_assert_cmpuint (members_of (world, 0), ==, 3);

  world->invites = FALSE;
  add_peer (world, FALSE);
  pass (world, G_USEC_PER_SEC);
  g_assert_true (said (world, 3, "REFUSED"));
  g_assert_false (said (world, 3, "JOINED"));
  g_assert_cmpuint (members_of (world, 0), ==, 3);

  world->peer[who].deaf = TRUE;
  pass (world, 2 * NODE_SILENCE_US);
  g_assert_cmpuint (members_of (world, other), ==, 2);
  forget_log (world);
  world->peer[who].deaf = FALSE;
  for (guint i = 0; i < world->wires->len; i++)
    if (!g_array_index (world->wires, Wire, i).up)
      post (world, (Post){ .to = who, .kind = NODE_EVENT_LINK_DOWN, .link = i + 1 });
  pass (world, 30000000);
  g_assert_true (said (world, who, "JOINED"));
  g_assert_cmpuint (members_of (world, other), ==, 3);
}

static void
test_a_node_of_another_build_ends (void)
{
  g_autoptr (World) world = world_new (0, FALSE);
  world->build = "one";
  for (guint i = 0; i < 2; i++)
    add_peer (world, FALSE);
  world->build = "two";
  add_peer (world, FALSE);
  pass (world, G_USEC_PER_SEC);
  g_assert_true (said (world, 2, "REFUSED one"));
  g_assert_false (said (world, 2, "JOINED"));
  g_assert_false (said (world, 1, "REFUSED"));
  g_assert_cmpuint (members_of (world, 0), ==, 2);
}

static void
test_a_half_open_link_costs_nobody_his_name (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 2);
  for (guint i = 0; i < world->wires->len; i++)
    g_array_index (world->wires, Wire, i).mute = TRUE;
  finish (world, 2, "/0");
  g_assert_false (said (world, 0, "PUT 1"));

  pass (world, 2 * NODE_SILENCE_US);

  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_cmpuint (members_of (world, 0), ==, 3);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (stats_of (world, i).silenced, ==, 0);
}

static void
test_a_run_may_have_less_patience (void)
{
  g_autoptr (World) world = world_new (0, FALSE);
  world->heartbeat_us = 100000;
  world->silence_us = 600000;
  for (guint i = 0; i < 3; i++)
    add_peer (world, FALSE);
  pass (world, 10);
  start (world);
  pass (world, 10 * world->silence_us);
  g_assert_cmpuint (members_of (world, 0), ==, 3);

  world->peer[1].deaf = TRUE;
  pass (world, world->silence_us - world->heartbeat_us);
  g_assert_cmpuint (members_of (world, 0), ==, 3);
  world->peer[1].deaf = FALSE; /* less than the limit: it costs nothing */
  pass (world, 2 * world->silence_us);
  g_assert_cmpuint (members_of (world, 0), ==, 3);
  world->peer[1].deaf = TRUE;
  pass (world, world->silence_us);
  g_assert_cmpuint (members_of (world, 0), ==, 2);
}

static void
test_a_master_that_slept_is_deposed (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  world->peer[0].deaf = TRUE;
  pass (world, 60000000);
  g_assert_true (said (world, 1, "MASTER"));
  forget_log (world);

  world->peer[0].deaf = FALSE;
  for (guint i = 0; i < world->wires->len; i++)
    if (!g_array_index (world->wires, Wire, i).up)
      post (world, (Post){ .to = 0, .kind = NODE_EVENT_LINK_DOWN, .link = i + 1 });
  pass (world, 10000000);

  g_assert_true (said (world, 0, "DEPOSED"));
  g_assert_true (said (world, 0, "JOINED"));
  g_assert_true (said (world, 1, "KNOWN ")); /* the root there runs on and can be adopted */
  g_assert_cmpuint (members_of (world, 1), ==, 3);
}

static void
test_idleness_is_cheap (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 2 });

  pass (world, 20000000);

  g_assert_cmpuint (world->peer[1].steals, <, 30);
  g_assert_cmpuint (world->peer[1].steals, >, 10);
}

static void
test_garbage_closes_only_its_link (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  g_autoptr (GBytes) garbage = g_bytes_new ("\001garbage of some length ", 24);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_MESSAGE, .link = 1, .bytes = garbage });
  pass (world, 1000000);
  finish (world, 1, "/0");

  g_assert_false (g_array_index (world->wires, Wire, 0).up);
  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_cmpuint (members_of (world, 0), ==, 2);
}

static void
test_a_suspend_drains_everybody_first (void)
{
  g_autoptr (World) world = world_new (2, TRUE);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);
  finish (world, 1, "/0");

  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND });
  g_assert_true (said (world, 0, "HALT") && said (world, 1, "HALT"));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  g_assert_false (said (world, 0, "FINAL"));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  g_assert_true (said (world, 0, "FINAL"));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .final = TRUE });

  g_assert_cmpuint (world->peer[0].ended, ==, 75);
  g_assert_cmpuint (world->peer[1].ended, ==, 75);
}

/* The engine reports only once that it has halted. */
static void
test_a_suspend_does_not_wait_for_a_master_that_leaves (void)
{
  g_autoptr (World) world = world_new (2, TRUE);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);

  step (world, 0, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  g_assert_true (said (world, 0, "HALT"));
  step (world, 0, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  step (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND });
  pump (world);
  g_assert_false (said (world, 0, "FINAL"));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HALTED });

  g_assert_true (said (world, 0, "FINAL"));
}

/* The checkpoint may take long to read; the file stays as it is. */
static void
test_a_suspend_before_anything_has_begun_ends_at_once (gconstpointer kept)
{
  g_autoptr (World) world = world_new (0, TRUE);
  world->kept = kept != NULL;
  add_peer (world, FALSE);
  add_peer (world, FALSE);

  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND });
  g_assert_cmpint (said (world, 0, "HALT"), ==, kept == NULL);
  for (guint i = 0; i < 2; i++)
    g_assert_cmpuint (world->peer[i].ended, ==, kept != NULL ? 75 : 999);
}

static void
test_a_suspend_waits_as_long_as_it_was_told (void)
{
  g_autoptr (World) world = world_new (2, TRUE);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);

  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND, .number = 3 * G_USEC_PER_SEC });
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_false (said (world, 0, "FINAL"));
  pass (world, G_USEC_PER_SEC);
  g_assert_true (said (world, 0, "FINAL"));
}

/* n0 dies during a suspend, and n1 cannot write. */
static World *
world_of_a_suspend (gboolean late, gboolean slow)
{
  World *world = world_new (3, TRUE);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND, .number = 2 * G_USEC_PER_SEC });
  world->peer[1].trouble = "no route";
  world->peer[2].late = late;
  world->peer[2].slow = slow;
  die (world, 0);
  pass (world, G_USEC_PER_SEC);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .failed = TRUE, .text = "no route" });
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  return world;
}

static void
test_a_suspend_waits_for_who_may_be_able_to_write (void)
{
  g_autoptr (World) world = world_of_a_suspend (TRUE, FALSE);

  pass (world, 20 * G_USEC_PER_SEC);
  g_assert_cmpuint (world->peer[1].ended, ==, 999);
  world->peer[2].late = FALSE;
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_true (said (world, 2, "COORDINATOR"));
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  g_assert_false (said (world, 2, "FINAL")); /* not before the coordinator has all rows … */
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_true (said (world, 2, "FINAL")); /* … or the time for them is over */
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .final = TRUE });

  for (guint i = 1; i < 3; i++)
    g_assert_cmpuint (world->peer[i].ended, ==, 75);
}

/* n2 does not report whether it can write. */
static void
test_a_suspend_does_not_wait_for_ever (void)
{
  g_autoptr (World) world = world_of_a_suspend (FALSE, TRUE);

  pass (world, 40 * G_USEC_PER_SEC);
  for (guint i = 1; i < 3; i++)
    g_assert_cmpuint (world->peer[i].ended, ==, NODE_END_NO_STORE);
}

static void
test_a_cancel_ends_everybody_at_once (void)
{
  g_autoptr (World) world = world_new (3, TRUE);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);

  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_CANCEL });

  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (world->peer[i].ended, ==, NODE_END_CANCELLED);
  g_assert_false (said (world, 0, "FINAL"));
}

static void
test_a_joiner_hears_the_best_value (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  g_autoptr (GBytes) best = g_bytes_new ("9", 1);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_IMPROVED, .number = 0, .bytes = best });
  g_assert_true (said (world, 1, "BEST"));
  add_peer (world, FALSE);
  pass (world, 1000);

  g_assert_true (said (world, 2, "BEST"));
}

/* Also if the node that found it is gone. */
static void
test_a_joiner_hears_the_best_value_of_the_dead (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  g_autoptr (GBytes) best = g_bytes_new ("9", 1);

  start (world);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_IMPROVED, .number = 0, .bytes = best });
  g_assert_true (said (world, 0, "BEST"));
  die (world, 1);
  pass (world, G_USEC_PER_SEC);
  add_peer (world, FALSE);
  pass (world, 1000);

  g_assert_true (said (world, 2, "BEST"));
}

static void
test_the_last_node_stays (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  start (world);
  die (world, 1);
  pass (world, 2000000);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });

  g_assert_true (said (world, 0, "STAYED"));
  g_assert_false (said (world, 0, "HALT"));
}

static void
test_of_two_that_leave_one_stays (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  start (world);
  step (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });

  g_assert_cmpint (said (world, 0, "STAYED"), !=, said (world, 1, "STAYED"));
}

/* A row that is reported while the engine halts. */
static void
tell_row (World *world, guint who, const char *path)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_autoptr (GBytes) value = g_bytes_new ("42", 2);
  Digest digest = digest_of_string (path);

  g_ptr_array_add (rows, row_new (path, 1, &digest, 0.5, 70, value));
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows });
}

static void
test_who_leaves_hands_its_results_over (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  guint64 loan;

  start (world);
  loan = offer (world, 0, "/0");
  hunger (world, 2);
  forget_log (world);
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  g_assert_true (said (world, 2, "HALT"));
  tell_row (world, 2, "/0/1");
  g_assert_true (said (world, 0, "KNOWN /0/1 finished"));
  g_assert_false (said (world, 2, "LEAVE"));
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_HALTED });

  g_assert_true (said (world, 2, "LEAVE"));
  g_assert_cmpuint (members_of (world, 0), ==, 2);
  g_autofree char *back = g_strdup_printf ("BACK %d", (int)loan);
  g_assert_true (said (world, 0, back));
  g_assert_cmpuint (stats_of (world, 0).crashes, ==, 0);
}

static void
test_what_who_leaves_had_lent_is_offered (void)
{
  g_autoptr (World) world = world_new (3, FALSE);

  start (world);
  offer (world, 2, "/0/5");
  hunger (world, 1);
  forget_log (world);
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });

  g_assert_true (said (world, 0, "KNOWN /0/5"));
}

static void
test_who_leaves_counts_no_losses (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  NodeProgress progress = { .risk_us = 5000000, .busy = 1 };
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof progress);

  start (world);
  offer (world, 2, "/0/5");
  hunger (world, 1);
  progress.held = held_of (world, 1, "/0/5");
  g_array_append_val (all, progress);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_WORK, .count = 1, .progress = all });
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HALTED });

  g_assert_true (said (world, 1, "LEAVE"));
  g_assert_cmpuint (stats_of (world, 2).lost_us, ==, 0);
}

static void
test_it_goes_when_its_time_is_over (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  start (world);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE, .number = 1000000 });
  pass (world, 900000);
  g_assert_false (said (world, 1, "LEAVE"));
  pass (world, 200000);

  g_assert_true (said (world, 1, "LEAVE"));
}

static void
test_the_master_leaves (void)
{
  g_autoptr (World) world = world_new (2, TRUE);

  start (world);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  forget_log (world);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_HALTED });

  g_assert_true (said (world, 0, "LEAVE"));
  g_assert_true (said (world, 0, "RETIRE"));
  g_assert_true (said (world, 1, "MASTER"));
  g_assert_true (said (world, 1, "COORDINATOR"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/node-run/" name, function)
  TEST ("alone-it-founds-runs-and-ends", test_quarantine_it_founds_runs_and_ends);
  TEST ("the-next-eldest-takes-over-when-all-elders-die-at-once",
        test_the_next_eldest_takes_over_when_all_elders_die_at_once);
  TEST ("a-joiner-finds-the-new-master", test_a_joiner_finds_the_new_master);
  TEST ("one-that-slept-is-left-out-and-joins-again",
        test_one_that_slept_is_left_out_and_joins_again);
  g_test_add_data_func ("/node-run/a-closed-run-takes-in-whom-it-knows", GUINT_TO_POINTER (2),
                        test_a_closed_run_takes_in_whom_it_knows);
  g_test_add_data_func ("/node-run/a-closed-run-takes-in-its-founder", NULL,
                        test_a_closed_run_takes_in_whom_it_knows);
  TEST ("a-node-of-another-build-ends", test_a_node_of_another_build_ends);
  TEST ("a-half-open-link-costs-nobody-his-name", test_a_half_open_link_costs_nobody_his_name);
  TEST ("a-run-may-have-less-patience", test_a_run_may_have_less_patience);
  TEST ("a-master-that-slept-is-deposed", test_a_master_that_slept_is_deposed);
  TEST ("idleness-is-cheap", test_idleness_is_cheap);
  TEST ("garbage-closes-only-its-link", test_garbage_closes_only_its_link);
  TEST ("a-suspend-drains-everybody-first", test_a_suspend_drains_everybody_first);
  TEST ("a-suspend-does-not-wait-for-a-master-that-leaves",
        test_a_suspend_does_not_wait_for_a_master_that_leaves);
  g_test_add_data_func ("/node-run/a-suspend-before-anything-has-begun/new", NULL,
                        test_a_suspend_before_anything_has_begun_ends_at_once);
  g_test_add_data_func ("/node-run/a-suspend-before-anything-has-begun/kept", "kept",
                        test_a_suspend_before_anything_has_begun_ends_at_once);
  TEST ("a-suspend-waits-as-long-as-it-was-told", test_a_suspend_waits_as_long_as_it_was_told);
  TEST ("a-suspend-waits-for-who-may-be-able-to-write",
        test_a_suspend_waits_for_who_may_be_able_to_write);
  TEST ("a-suspend-does-not-wait-for-ever", test_a_suspend_does_not_wait_for_ever);
  TEST ("a-cancel-ends-everybody-at-once", test_a_cancel_ends_everybody_at_once);
  TEST ("a-joiner-hears-the-best-value", test_a_joiner_hears_the_best_value);
  TEST ("a-joiner-hears-the-best-value-of-the-dead",
        test_a_joiner_hears_the_best_value_of_the_dead);
  TEST ("the-last-node-stays", test_the_last_node_stays);
  TEST ("of-two-that-leave-one-stays", test_of_two_that_leave_one_stays);
  TEST ("who-leaves-hands-its-results-over", test_who_leaves_hands_its_results_over);
  TEST ("what-who-leaves-had-lent-is-offered", test_what_who_leaves_had_lent_is_offered);
  TEST ("who-leaves-counts-no-losses", test_who_leaves_counts_no_losses);
  TEST ("it-goes-when-its-time-is-over", test_it_goes_when_its_time_is_over);
  TEST ("the-master-leaves", test_the_master_leaves);
  return g_test_run ();
}
