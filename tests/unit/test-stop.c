/* SPDX-License-Identifier: BSD-3-Clause */
/* How a run ends after its last publication (satin/protocol/control/stop.c). Steps one node of the
 * world alone. */
#include "node-alone.h"

/* The last publication of a run that has its answer or is suspended succeeds or fails: only a
 * suspend needs the file. A reply to another request ends nothing. */
static void
test_the_last_publication (void)
{
  for (guint finished = 0; finished < 2; finished++)
    for (guint failed = 0; failed < 2; failed++)
      for (guint text = 0; text < 2; text++)
        {
          g_autoptr (World) world = world_new (1, TRUE);
          Node *node = alone (world, 0);
          const Message published
              = { .count = 5, .flag = failed, .text = text ? "disk full" : NULL };
          Message stale = published;

          node->round.request = 5;
          stop_on_published (node, &published);
          g_assert_cmpint (node->phase, ==, NODE_RUNS); /* this one was not requested */
          node->stop.awaited = 5;
          node->stop.finished = finished;
          node->stop.code = finished ? 3 : NODE_END_SUSPENDED;
          stale.count = 4;
          stop_on_published (node, &stale);
          g_assert_cmpint (node->phase, ==, NODE_RUNS);
          stop_on_published (node, &published);
          g_assert_cmpint (node->phase, ==, NODE_ENDED);
          g_assert_cmpint (node->stop.finished, ==, finished);
          g_assert_cmpuint (node->stop.code, ==,
                            finished ? 3
                            : failed ? NODE_END_NO_STORE
                                     : NODE_END_SUSPENDED);
          if (!finished && failed)
            g_assert_cmpstr (node->stop.sentence, ==,
                             text ? "disk full" : "the last publication of the checkpoint failed");
          else
            g_assert_null (node->stop.sentence);
        }
}

/* A cancel outweighs a suspend, in either order: the node that becomes master ends the run without
 * the last publication. */
static void
test_a_cancel_outweighs_a_suspend (void)
{
  for (guint first = 0; first < 2; first++)
    {
      g_autoptr (World) world = world_new (2, TRUE);
      Node *node = alone (world, 1);

      for (guint i = 0; i < 2; i++)
        if (i == first)
          stop_cancel (node);
        else
          stop_suspend (node, 0);
      g_assert_true (stop_has_begun (node));
      g_assert_cmpint (node->phase, ==, NODE_RUNS); /* its master has not said so */
      g_assert_true (stop_promoted (node));
      g_assert_cmpint (node->phase, ==, NODE_ENDED);
      g_assert_cmpuint (node->stop.code, ==, NODE_END_CANCELLED);
    }
}

/* While a run is being suspended, a session that begins brings it to the master, and the master's
 * order to a member. */
static void
test_a_session_that_begins_tells_of_it (void)
{
  g_autoptr (World) world = world_new (3, FALSE);

  for (guint who = 0; who < 2; who++)
    {
      Node *node = alone (world, who);
      g_autoptr (GArray) effects = g_array_new (FALSE, FALSE, sizeof (NodeEffect));

      g_array_set_clear_func (effects, (GDestroyNotify)node_effect_clear);
      node->effects = effects;
      for (guint halts = 0; halts < 2; halts++)
        {
          node->stop.phase = halts ? STOP_HALTING : STOP_RUNS;
          for (guint to = 0; to < 3; to++)
            {
              const NodeId id = id_of (world, to);
              g_array_set_size (effects, 0);
              if (to != who)
                stop_greet (node, &id);
              g_assert_cmpuint (effects->len, ==, halts && to != who && (who == 0 || to == 0));
              if (effects->len > 0)
                g_assert_cmpuint (count_sent (world, effects, who, to, MESSAGE_SUSPEND), ==, 1);
            }
        }
      node->effects = NULL;
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/stop/the-last-publication", test_the_last_publication);
  g_test_add_func ("/stop/a-cancel-outweighs-a-suspend", test_a_cancel_outweighs_a_suspend);
  g_test_add_func ("/stop/a-session-that-begins-tells-of-it",
                   test_a_session_that_begins_tells_of_it);
  return g_test_run ();
}
