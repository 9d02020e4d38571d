/* SPDX-License-Identifier: BSD-3-Clause */
/* Acknowledgements: data is published, an engine is drained or scanned, a run is closed. An
 * acknowledgement counts if the present coordinator gives it, in its present lease, for exactly
 * this order. */
#include "node-steps.h"

#define ROW_US 50
#define ALL G_MAXUINT32 /* tickets */

static void
send_rows (World *world, guint who, guint n)
{
  Digest digest = digest_of_string ("/3");
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_strdup_printf ("/3/%u", i);
      g_ptr_array_add (rows, row_new (path, 1, &digest, 0.1, ROW_US, value));
    }
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = ROW_US });
}

static guint64
at_risk (World *world, guint who)
{
  return stats_of (world, who).unpublished_us;
}

static void
test_only_the_coordinator_in_its_lease_acknowledges (void)
{
  g_autoptr (World) world = world_with_checkpoint (3);
  guint32 lease = stats_of (world, 1).lease;
  guint64 right = link_between (world, 0, 1), wrong = link_between (world, 1, 2);
  Message saved = { .kind = MESSAGE_SAVED, .number = ROW_US, .count = lease };

  send_rows (world, 1, 1);
  deliver (world, wrong, 1, &saved);
  g_assert_cmpuint (at_risk (world, 1), ==, ROW_US);
  for (saved.count = 0; saved.count < lease + 3; saved.count++)
    if (saved.count != lease)
      deliver (world, right, 1, &saved);
  g_assert_cmpuint (at_risk (world, 1), ==, ROW_US);
  saved.count = lease;
  deliver (world, right, 1, &saved);
  g_assert_cmpuint (at_risk (world, 1), ==, 0);

  saved.number = 1000 * ROW_US; /* more than was ever sent: later rows are not confirmed by it */
  deliver (world, right, 1, &saved);
  g_assert_cmpuint (at_risk (world, 1), ==, 0);
  send_rows (world, 1, 1);
  g_assert_cmpuint (at_risk (world, 1), ==, ROW_US);
  saved.number = 1; /* an old one */
  deliver (world, right, 1, &saved);
  g_assert_cmpuint (at_risk (world, 1), ==, ROW_US);
}

/* An order counts when it is published: for the coordinator's own rows (who 0), and for those of
 * others. */
static void
test_an_order_counts_when_it_is_published (void)
{
  for (guint who = 0; who < 2; who++)
    {
      g_autoptr (World) world = world_with_checkpoint (2);
      guint64 before = world->peer[0].ticket;

      for (guint i = 1; i <= 3; i++)
        {
          send_rows (world, who, 1);
          g_assert_cmpuint (world->peer[0].ticket, ==, before + i);
        }
      for (guint i = 0; i <= 3; i++)
        {
          publish (world, 0, before + 3, TRUE);
          g_assert_cmpuint (at_risk (world, who), ==, (3 - (i > 0 ? i - 1 : 0)) * ROW_US);
          publish (world, 0, before + i, FALSE);
          g_assert_cmpuint (at_risk (world, who), ==, (3 - i) * ROW_US);
        }
    }
}

static void
test_rows_in_many_messages_count_when_all_are_published (void)
{
  g_autoptr (World) world = world_with_checkpoint (2);
  guint64 before = world->peer[0].ticket;

  send_rows (world, 1, 2 * ROWS_MAX + 1);
  g_assert_cmpuint (world->peer[0].ticket, ==, before + 3);
  for (guint i = 0; i < 3; i++)
    {
      publish (world, 0, before + i, FALSE);
      g_assert_cmpuint (at_risk (world, 1), ==, ROW_US);
    }
  publish (world, 0, before + 3, FALSE);
  g_assert_cmpuint (at_risk (world, 1), ==, 0);
}

/* Acts as if another coordinator had opened the checkpoint. */
static void
renew (World *world, guint who)
{
  Node *node = world->peer[who].node;
  g_autoptr (GArray) effects = g_array_new (FALSE, FALSE, sizeof (NodeEffect));

  g_array_set_clear_func (effects, (GDestroyNotify)node_effect_clear);
  node->effects = effects;
  saves_renew (node);
  node->effects = NULL;
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
}

/* Rows that were sent to an earlier coordinator may be lost: a whole scan that was begun later
 * finds them again, an older scan that is served late does not. */
static void
test_what_may_be_lost_waits_for_a_later_scan (void)
{
  g_autoptr (World) world = world_with_checkpoint (2);
  guint scans;

  send_rows (world, 1, 1);
  pass (world, 2 * G_USEC_PER_SEC);
  scans = count_scans (world, 1);
  g_assert_cmpuint (scans, >, 0);
  renew (world, 1);
  pass (world, G_USEC_PER_SEC / 2);
  g_assert_true (said (world, 1, "SCAN whole"));
  g_assert_cmpuint (count_scans (world, 1), >, scans);
  served (world, 1, scans);
  publish (world, 0, ALL, FALSE);
  g_assert_cmpuint (at_risk (world, 1), ==, ROW_US);
  served (world, 1, count_scans (world, 1));
  g_assert_cmpuint (at_risk (world, 1), ==, ROW_US);
  publish (world, 0, ALL, FALSE);
  g_assert_cmpuint (at_risk (world, 1), ==, 0);
}

/* Rows that are reported while there is no coordinator. */
static void
test_what_nobody_took_waits_for_a_whole_scan (void)
{
  g_autoptr (World) world = world_new (2, TRUE);

  send_rows (world, 1, 1);
  g_assert_cmpuint (at_risk (world, 1), ==, ROW_US);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "SCAN whole"));
  publish (world, 0, ALL, FALSE);
  g_assert_cmpuint (at_risk (world, 1), ==, ROW_US);
  served (world, 1, count_scans (world, 1));
  publish (world, 0, ALL, FALSE);
  g_assert_cmpuint (at_risk (world, 1), ==, 0);
}

/* Both nodes have served all scans that were asked for so far. */
static void
serve_all (World *world)
{
  for (guint i = 0; i < 2; i++)
    served (world, i, count_scans (world, i));
}

/* The order to scan is lost with one link, the answer with another: no node waits for a timeout. */
static void
test_a_round_outlives_its_links (void)
{
  g_autoptr (World) world = world_with_checkpoint (2);

  world->peer[1].deaf = TRUE;
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  world->peer[1].deaf = FALSE;
  cut (world, 0, 1);
  pass (world, G_USEC_PER_SEC / 2);
  world->peer[0].deaf = TRUE;
  served (world, 1, ALL);
  world->peer[0].deaf = FALSE;
  served (world, 0, ALL);
  g_assert_false (said (world, 0, "PUBLISH"));
  cut (world, 0, 1);
  pass (world, G_USEC_PER_SEC / 2);
  served (world, 1, ALL);
  g_assert_true (said (world, 0, "PUBLISH"));
}

/* A round that is requested while another one publishes is made separately. */
static void
test_a_round_that_is_asked_for_late_is_made_anew (void)
{
  g_autoptr (World) world = world_with_checkpoint (2);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  serve_all (world);
  g_assert_true (said (world, 0, "PUBLISH"));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  forget_log (world);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 7, .final = TRUE });
  g_assert_false (said (world, 0, "SAVED") || said (world, 1, "SAVED"));
  g_assert_cmpuint (count_scans (world, 0), ==, 1);
  g_assert_cmpuint (count_scans (world, 1), ==, 1);
}

/* n0 is master; n1 has been elected and has to take over. */
static World *
world_that_elects (void)
{
  World *world = world_new (3, TRUE);

  for (guint i = 0; i < 3; i++)
    {
      world->peer[i].commit_us = i == 1 ? 100000 : 900000;
      world->peer[i].found = 1;
    }
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 1 });
  start (world);
  pass (world, 3 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "COORDINATOR"));
  return world;
}

/* … and it has taken over. */
static World *
world_with_another (void)
{
  World *world = world_that_elects ();

  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  pass (world, G_USEC_PER_SEC);
  return world;
}

static void
test_only_the_coordinator_says_that_it_has_taken_over (void)
{
  g_autoptr (World) world = world_that_elects ();
  NodeId master = node_self (world->peer[0].node);

  send_rows (world, 0, 1);
  forget_log (world);
  deliver (world, link_between (world, 0, 2), 0,
           &(Message){ .kind = MESSAGE_LEASE,
                       .text = "",
                       .id = node_self (world->peer[1].node),
                       .term = { node_term (world->peer[0].node), master },
                       .count = stats_of (world, 0).lease,
                       .flag = TRUE });
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_cmpuint (count_scans (world, 0), ==, 0);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  pass (world, G_USEC_PER_SEC);
  g_assert_cmpuint (count_scans (world, 0), >, 0);
}

/* A round is answered although its coordinator is replaced, also if that coordinator had asked for
 * it. */
static void
test_a_round_outlives_its_coordinator (void)
{
  g_autoptr (World) world = world_with_another ();

  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  world->peer[1].trouble = "disk full";
  for (guint i = 0; i < 3; i++)
    tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .failed = TRUE });
  pass (world, 70 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "RETIRE"));
  forget_log (world);
  for (guint i = 0; i < 3; i += 2)
    tell (world, i, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  for (guint i = 0; i < 3; i++)
    served (world, i, ALL);
  pass (world, 11 * G_USEC_PER_SEC);
  guint next = said (world, 0, "PUBLISH") ? 0 : 2;
  g_assert_true (said (world, next, "PUBLISH"));
  tell (world, next, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 7, .final = TRUE });
  g_assert_true (said (world, 1, "SAVED"));
}

/* A round does not wait for a member that is known to be dead, although the master still has it on
 * the roster. */
static void
test_a_round_does_not_wait_for_the_dead (void)
{
  g_autoptr (World) world = world_with_another ();

  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  for (guint i = 0; i < 2; i++)
    served (world, i, ALL);
  world->peer[0].deaf = TRUE;
  g_assert_false (said (world, 1, "PUBLISH"));
  die (world, 2);
  pass (world, G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "PUBLISH"));
  g_assert_cmpuint (members_of (world, 1), ==, 3);
}

/* n0, which is deaf from then on, seems to have made `holder` coordinator, so many leases later. */
static void
say_lease (World *world, guint to, guint from, guint holder, guint32 later, gboolean opened)
{
  deliver (world, link_between (world, from, to), to,
           &(Message){ .kind = MESSAGE_LEASE,
                       .text = "",
                       .id = node_self (world->peer[holder].node),
                       .term = { node_term (world->peer[0].node), node_self (world->peer[0].node) },
                       .count = stats_of (world, to).lease + later,
                       .flag = opened });
}

/* n2 has rows, a result that its lender has not taken, and what a leaver handed over. All of it
 * went to n1, which has published nothing and is coordinator again. n2 did not learn of the time
 * between. */
static void
test_all_goes_again_to_another_lease (void)
{
  g_autoptr (World) world = world_with_another ();
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  Digest digest = digest_of_string ("/5");

  (void)offer (world, 0, "/4");
  hunger (world, 2);
  g_assert_true (said (world, 2, "RUN /4"));
  world->peer[0].deaf = TRUE;
  finish (world, 2, "/4");
  g_ptr_array_add (rows, row_new ("/5", 1, &digest, 0.1, ROW_US, value));
  deliver (world, link_between (world, 0, 2), 2,
           &(Message){ .kind = MESSAGE_COPY, .count = BUDDY_HAND, .number = 1, .rows = rows });
  send_rows (world, 2, 1);
  for (guint turn = 0; turn < 2; turn++)
    {
      pass (world, 2 * G_USEC_PER_SEC);
      g_assert_true (said (world, 1, "SAVE /4"));
      g_assert_true (said (world, 1, "SAVE /5"));
      g_assert_cmpint (said (world, 2, "SCAN whole"), ==, turn == 1);
      g_assert_cmpuint (at_risk (world, 2), ==, 2 * ROW_US); /* once each, of /3/0 and /5 */
      forget_log (world);
      if (turn == 0)
        say_lease (world, 2, 1, 1, 2, TRUE);
    }
  pass (world, 2 * G_USEC_PER_SEC); /* … and once */
  g_assert_false (said (world, 1, "SAVE /4") || said (world, 1, "SAVE /5"));
}

static guint n_acknowledged;

static void
count_acknowledged (World *world, guint who, const NodeEffect *effect)
{
  (void)world;
  MessageKind kind = who == 1 ? kind_sent (effect) : MESSAGE_NO_KIND;
  n_acknowledged += kind == MESSAGE_SAVED;
}

/* n1 got rows, lost the lease, and has a lease again: it has none of the rows. */
static void
test_an_lease_acknowledges_only_its_own_rows (void)
{
  for (gint again = 0; again < 2; again++)
    {
      g_autoptr (World) world = world_with_another ();

      send_rows (world, 2, 1);
      world->peer[0].deaf = world->peer[2].deaf = TRUE;
      for (guint32 turn = 0; again && turn < 2; turn++)
        say_lease (world, 1, 0, turn, 1, FALSE);
      g_assert_cmpint (said (world, 1, "RETIRE"), ==, again);
      if (again)
        tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
      n_acknowledged = 0;
      world->watch = count_acknowledged;
      tell (world, 1,
            &(NodeEvent){
                .kind = NODE_EVENT_PUBLISHED, .number = 1, .saved = world->peer[1].ticket });
      g_assert_cmpint (n_acknowledged > 0, ==, !again);
    }
}

static guint32 acknowledged_lease;

static void
note_lease (World *world, guint who, const NodeEffect *effect)
{
  g_auto (Message) message = { 0 };

  (void)world;
  if (who == 0 && read_sent (effect, &message) && message.kind == MESSAGE_SAVED
      && message.number == ROW_US)
    acknowledged_lease = message.count;
}

/* n1 had sent its rows to an earlier lease of n0. They are saved, and their acknowledgement names
 * that lease: in the present one n1 has sent all of them again. */
static void
test_an_acknowledgement_names_the_lease_of_its_rows (void)
{
  g_autoptr (World) world = world_with_checkpoint (2);
  guint32 lease = stats_of (world, 0).lease;

  for (guint32 then = lease; then > 0; then--)
    {
      Message save = { .kind = MESSAGE_SAVE, .number = ROW_US, .count = then - 1 };
      g_autoptr (GPtrArray) none = g_ptr_array_new ();

      save.rows = none;
      acknowledged_lease = G_MAXUINT32; /* nothing is */
      deliver (world, link_between (world, 0, 1), 0, &save);
      world->watch = note_lease;
      publish (world, 0, ALL, FALSE);
      g_assert_cmpuint (acknowledged_lease, ==, then - 1);
    }
}

/* A world whose run is being suspended. */
static World *
world_that_closes (void)
{
  World *world = world_with_another ();

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND });
  return world;
}

static void
test_a_suspend_waits_until_all_have_sent_all (void)
{
  g_autoptr (World) world = world_that_closes ();
  guint32 lease = stats_of (world, 0).lease;
  guint64 number = world->peer[1].node->round.number;

  for (guint i = 0; i < 3; i++)
    g_assert_true (said (world, i, "HALT"));
  for (guint i = 0; i < 2; i++)
    tell (world, i, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  for (guint32 other = lease - 1; other <= lease + 1; other += 2)
    deliver (world, link_between (world, 1, 2), 1,
             &(Message){ .kind = MESSAGE_SCANNED, .number = number, .count = other });
  g_assert_false (said (world, 1, "FINAL"));
  /* Another coordinator may lack rows: they are sent first. */
  send_rows (world, 2, 1);
  renew (world, 2);
  deliver (world, link_between (world, 1, 2), 2,
           &(Message){ .kind = MESSAGE_SCAN, .number = number, .count = ROUND_HALTED });
  pass (world, G_USEC_PER_SEC / 10);
  forget_log (world);
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  g_assert_true (said (world, 2, "SCAN whole"));
  deliver (world, link_between (world, 0, 2), 2, &(Message){ .kind = MESSAGE_SUSPEND }); /* again */
  g_assert_false (said (world, 1, "FINAL"));
  served (world, 2, ALL);
  g_assert_true (said (world, 1, "FINAL"));
}

static void
test_only_the_coordinator_closes (void)
{
  g_autoptr (World) world = world_that_closes ();

  for (guint i = 0; i < 3; i++)
    {
      tell (world, i, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
      served (world, i, ALL);
    }
  g_assert_true (said (world, 1, "FINAL"));
  deliver (world, link_between (world, 0, 2), 0,
           &(Message){ .kind = MESSAGE_PUBLISHED, .count = 1 });
  for (guint32 request = 0; request <= 2; request += 2)
    deliver (world, link_between (world, 0, 1), 0,
             &(Message){ .kind = MESSAGE_PUBLISHED, .count = request });
  g_assert_cmpuint (world->peer[0].ended, ==, 999);
  tell (world, 1,
        &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 2, .saved = ALL, .final = TRUE });
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (world->peer[i].ended, ==, NODE_END_SUSPENDED);
}

/* main returns during a suspend, before all nodes have halted: its answer is published with all
 * that is there, and the run ends with it. */
static void
test_an_answer_comes_before_a_suspend (void)
{
  g_autoptr (World) world = world_that_closes ();
  g_autoptr (GBytes) answer = g_bytes_new ("42", 2);

  g_assert_false (said (world, 1, "FINAL"));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_FINISH, .number = 3, .bytes = answer });
  g_assert_true (said (world, 1, "ANSWER"));
  g_assert_true (said (world, 1, "FINAL"));
  tell (world, 1,
        &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 2, .saved = ALL, .final = TRUE });
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (world->peer[i].ended, ==, 3);
}

/* The master ends the run for a coordinator on another node, and gives the reason that the
 * coordinator reported. */
static void
test_why_it_is_not_published (void)
{
  static const char *const words[] = { "no room; the checkpoint is kept in 'spare'", NULL };

  for (guint s = 0; s < G_N_ELEMENTS (words); s++)
    {
      g_autoptr (World) world = world_that_closes ();
      g_autofree char *because = g_strdup_printf (
          "BECAUSE %s",
          words[s] != NULL ? words[s] : "the last publication of the checkpoint failed");

      for (guint i = 0; i < 3; i++)
        {
          tell (world, i, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
          served (world, i, ALL);
        }
      tell (world, 1,
            &(NodeEvent){
                .kind = NODE_EVENT_PUBLISHED, .final = TRUE, .failed = TRUE, .text = words[s] });
      for (guint i = 0; i < 3; i++)
        g_assert_cmpuint (world->peer[i].ended, ==, NODE_END_NO_STORE);
      g_assert_true (said (world, 0, because));
    }
}

/* Rows are sent in the session with the coordinator: it does not matter which link carries them. */
static void
test_rows_over_another_link_renew_nothing (void)
{
  g_autoptr (World) world = world_with_checkpoint (3);

  send_rows (world, 1, 1);
  guint64 renewed = stats_of (world, 1).renewed, sent = stats_of (world, 1).rows_sent;
  forget_log (world);
  cut (world, 0, 1);
  pump (world);
  send_rows (world, 1, 1);
  pass (world, 3 * G_USEC_PER_SEC);
  g_assert_cmpuint (stats_of (world, 1).renewed, ==, renewed);
  g_assert_cmpuint (stats_of (world, 1).rows_sent, >, sent);
  g_assert_false (said (world, 1, "SCAN whole"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/saves/" name, function)
  TEST ("only-the-coordinator-in-its-lease-acknowledges",
        test_only_the_coordinator_in_its_lease_acknowledges);
  TEST ("an-order-counts-when-it-is-published", test_an_order_counts_when_it_is_published);
  TEST ("rows-in-many-messages-count-when-all-are-published",
        test_rows_in_many_messages_count_when_all_are_published);
  TEST ("what-may-be-lost-waits-for-a-later-scan", test_what_may_be_lost_waits_for_a_later_scan);
  TEST ("what-nobody-took-waits-for-a-whole-scan", test_what_nobody_took_waits_for_a_whole_scan);
  TEST ("a-round-outlives-its-links", test_a_round_outlives_its_links);
  TEST ("a-round-that-is-asked-for-late-is-made-anew",
        test_a_round_that_is_asked_for_late_is_made_anew);
  TEST ("a-suspend-waits-until-all-have-sent-all", test_a_suspend_waits_until_all_have_sent_all);
  TEST ("only-the-coordinator-closes", test_only_the_coordinator_closes);
  TEST ("an-answer-comes-before-a-suspend", test_an_answer_comes_before_a_suspend);
  TEST ("why-it-is-not-published", test_why_it_is_not_published);
  TEST ("only-the-coordinator-says-that-it-has-taken-over",
        test_only_the_coordinator_says_that_it_has_taken_over);
  TEST ("a-round-does-not-wait-for-the-dead", test_a_round_does_not_wait_for_the_dead);
  TEST ("all-goes-again-to-another-lease", test_all_goes_again_to_another_lease);
  TEST ("an-lease-acknowledges-only-its-own-rows", test_an_lease_acknowledges_only_its_own_rows);
  TEST ("an-acknowledgement-names-the-lease-of-its-rows",
        test_an_acknowledgement_names_the_lease_of_its_rows);
  TEST ("a-round-outlives-its-coordinator", test_a_round_outlives_its_coordinator);
  g_test_add_func ("/saves/rows-over-another-link-renew-nothing",
                   test_rows_over_another_link_renew_nothing);
  return g_test_run ();
}
