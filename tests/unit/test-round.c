/* SPDX-License-Identifier: BSD-3-Clause */
/* A round of saving: each member scans once, in its own time, and every process that asked gets an
 * answer. test-saves tests rounds in which links or nodes are lost. */
#include "node-steps.h"

#include "satin/protocol/core.h"

#include <string.h>

/* Makes a round; `before`: how many scans were requested before the log was cleared. */
static void
make_round (World *world, guint number, const guint before[2])
{
  guint64 link = link_between (world, 0, 1);
  guint scans[2];

  for (guint i = 0; i < 2; i++)
    scans[i] = count_scans (world, i);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpuint (count_scans (world, i), ==, scans[i] + 1);
      served (world, i, before[i] + scans[i]);
    }
  for (guint other = number; other <= number + 2; other += 2)
    deliver (
        world, link, 0,
        &(Message){ .kind = MESSAGE_SCANNED, .number = other, .count = stats_of (world, 0).lease });
  served (world, 0, before[0] + scans[0] + 1);
  g_assert_false (said (world, 0, "PUBLISH"));
  g_assert_cmpuint (count_scans (world, 0), ==, scans[0] + 1);
  served (world, 1, before[1] + scans[1] + 1);
  g_assert_true (said (world, 0, "PUBLISH"));
  g_assert_false (said (world, 1, "SAVED"));
  tell (world, 0,
        &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 7 + number, .final = TRUE });
  g_assert_true (said (world, 0, "SAVED") && said (world, 1, "SAVED"));
  for (guint i = 0; i < 2; i++)
    g_assert_false (node_at (world, i)->round.heard); /* results need no row of their own now */
}

/* The first round, and those after it. */
static void
test_a_round_waits_for_its_own_scans (void)
{
  g_autoptr (World) world = world_with_checkpoint (2);
  guint before[2] = { 0 };

  pass (world, 2 * G_USEC_PER_SEC);
  for (guint number = 0; number < 3; number++)
    {
      make_round (world, number, before);
      for (guint i = 0; i < 2; i++)
        before[i] += count_scans (world, i);
      forget_log (world);
    }
}

/* A round ends, however long the asker would wait. */
static void
test_a_round_has_an_end (void)
{
  static const guint64 patiences[] = { ROUND_PATIENCE_MAX_US, G_MAXUINT64 };

  for (guint i = 0; i < G_N_ELEMENTS (patiences); i++)
    {
      g_autoptr (World) world = world_with_checkpoint (2);

      deliver (world, link_between (world, 0, 1), 0,
               &(Message){ .kind = MESSAGE_PUBLISH, .number = patiences[i] });
      pass (world, ROUND_PATIENCE_MAX_US - 1);
      g_assert_false (said (world, 0, "PUBLISH"));
      pass (world, 1);
      g_assert_true (said (world, 0, "PUBLISH"));
      tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 7, .final = TRUE });
      for (guint who = 0; who < 2; who++) /* neither node has scanned */
        g_assert_true (said (world, who, "SAVED without 1.1, 1.2"));
    }
}

static guint n_failed[2], n_ended[2];

static void
count_ends (World *world G_GNUC_UNUSED, guint who, const NodeEffect *effect)
{
  n_ended[who] += effect->kind == NODE_EFFECT_SAVED;
  n_failed[who] += effect->kind == NODE_EFFECT_SAVED && effect->failed;
}

/* Everybody hears whether it went well. */
static void
test_a_failed_round_is_told_as_failed (void)
{
  g_autoptr (World) world = world_with_checkpoint (2);

  world->watch = count_ends;
  for (guint failed = 0; failed < 2; failed++)
    {
      tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
      for (guint i = 0; i < 2; i++)
        served (world, i, node_at (world, i)->saves.scans);
      tell (world, 0,
            &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED,
                          .number = 7 + failed,
                          .final = TRUE,
                          .failed = failed > 0 });
      for (guint i = 0; i < 2; i++)
        {
          g_assert_cmpuint (n_ended[i], ==, 1 + failed);
          g_assert_cmpuint (n_failed[i], ==, failed);
        }
    }
}

/* Orders to scan from nodes other than the coordinator are not served. */
static void
test_only_the_coordinator_orders_scans (void)
{
  g_autoptr (World) world = world_with_checkpoint (3);
  Message scan = { .kind = MESSAGE_SCAN, .number = 5 };
  guint scans = count_scans (world, 1);

  deliver (world, link_between (world, 1, 2), 1, &scan);
  g_assert_cmpuint (count_scans (world, 1), ==, scans);
  deliver (world, link_between (world, 0, 1), 1, &scan);
  g_assert_cmpuint (count_scans (world, 1), ==, scans + 1);
}

/* The leaver may have handed its results to a node that had already scanned. */
static void
test_all_scan_again_when_one_left_before_its_scan (void)
{
  g_autoptr (World) world = world_with_checkpoint (3);
  guint scans[3];

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  for (guint i = 0; i < 2; i++)
    {
      scans[i] = count_scans (world, i);
      served (world, i, scans[i]);
    }
  g_assert_false (said (world, 0, "PUBLISH"));
  die (world, 2);
  pass (world, 3 * G_USEC_PER_SEC);
  g_assert_cmpuint (members_of (world, 0), ==, 2);
  g_assert_false (said (world, 0, "PUBLISH"));
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpuint (count_scans (world, i), >, scans[i]);
      served (world, i, count_scans (world, i));
    }
  g_assert_true (said (world, 0, "PUBLISH"));
}

/* A job of n1 itself, which n1 holds as an orphan, is finished during a round, before the scan: the
 * slot may have been scanned already, so its row is saved. */
static void
test_what_comes_to_an_own_slot_is_saved (void)
{
  for (guint in_round = 0; in_round < 2; in_round++)
    {
      g_autoptr (World) world = world_with_checkpoint (3);

      start (world);
      (void)offer (world, 2, "/3");
      hunger (world, 1);
      (void)held_of (world, 1, "/3");
      die (world, 2);
      pass (world, 2 * G_USEC_PER_SEC);
      adopt (world, 1, "/3", 9, 1);
      if (in_round)
        tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
      finish (world, 1, "/3");
      g_assert_true (said (world, 1, "PUT 9"));
      g_assert_cmpint (said (world, 0, "SAVE /3"), ==, in_round);
    }
}

/* Delivers the messages that wait for a late node on that link, and nothing else. */
static void
pump_link (World *world, guint64 link, guint to)
{
  world->peer[to].late = FALSE;
  for (GList *at = world->posts->head, *next; at != NULL; at = next)
    {
      const Post *one = at->data;

      next = at->next;
      if (one->to == to && one->link == link)
        (void)pump_one (world, at);
    }
  world->peer[to].late = TRUE;
}

/* n1 has scanned when it receives a result. n2, which holds the result, does not know of the round:
 * what n2 drops then is in no scan, so n2 saves it. */
static void
test_what_goes_in_a_round_is_saved (void)
{
  g_autoptr (World) world = world_with_checkpoint (3);

  start (world);
  (void)offer (world, 1, "/0/4");
  hunger (world, 2);
  g_assert_true (said (world, 2, "RUN /0/4"));
  forget_log (world);
  world->peer[2].late = TRUE;
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  g_assert_true (said (world, 1, "SCAN"));
  finish (world, 2, "/0/4");
  g_assert_cmpuint (stats_of (world, 2).held, ==, 1);
  pump_link (world, link_between (world, 1, 2), 2);
  g_assert_cmpuint (stats_of (world, 2).held, ==, 0);
  g_assert_false (said (world, 2, "SCAN"));
  world->peer[2].late = FALSE;
  pump (world);
  g_assert_true (said (world, 2, "SCAN"));
  g_assert_true (said (world, 0, "SAVE /0/4"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/round/a-round-waits-for-its-own-scans", test_a_round_waits_for_its_own_scans);
  g_test_add_func ("/round/a-round-has-an-end", test_a_round_has_an_end);
  g_test_add_func ("/round/a-failed-round-is-told-as-failed",
                   test_a_failed_round_is_told_as_failed);
  g_test_add_func ("/round/only-the-coordinator-orders-scans",
                   test_only_the_coordinator_orders_scans);
  g_test_add_func ("/round/all-scan-again-when-one-left-before-its-scan",
                   test_all_scan_again_when_one_left_before_its_scan);
  g_test_add_func ("/round/what-comes-to-an-own-slot-is-saved",
                   test_what_comes_to_an_own_slot_is_saved);
  g_test_add_func ("/round/what-goes-in-a-round-is-saved", test_what_goes_in_a_round_is_saved);
  return g_test_run ();
}
