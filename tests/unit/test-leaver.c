/* SPDX-License-Identifier: BSD-3-Clause */
/* The duties of a leaver: nothing that it has is forgotten, whatever interrupts its leave, and the
 * cost of its leave is reported. See also test-leave. Steps one node of the world alone. */
#include "node-alone.h"

#include <string.h>

#define SECOND G_USEC_PER_SEC

/* Rows /FIRST … /LAST; the work of each in microseconds is its number. (transfer full) */
static GPtrArray *
rows_of (guint first, guint last)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_autoptr (GBytes) value = g_bytes_new_static ("v", 1);

  for (guint i = first; i <= last; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u", i);
      Digest digest = digest_of_string (path);
      g_ptr_array_add (rows, row_new (path, 1, &digest, 0, i, value));
    }
  return rows;
}

/* Checks the numbers of the rows, smallest first. */
static void
assert_rows (const GPtrArray *rows, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint number = 1; number < 20; number++)
    for (guint i = 0; rows != NULL && i < rows->len; i++)
      if ((guint)atoi (((Row *)rows->pdata[i])->path + 1) == number)
        g_string_append_printf (text, "%u ", number);
  g_assert_cmpstr (text->str, ==, expected);
}

/* n1 is asked to leave within `patience_us`. */
static void
ask (World *world, guint64 patience_us)
{
  g_array_unref (
      step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE, .number = patience_us }));
}

static void
tell_rows (World *world, guint first, guint last)
{
  g_autoptr (GPtrArray) rows = rows_of (first, last);

  g_array_unref (step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows }));
}

/* n1 is told that it may leave. */
static void
release (World *world)
{
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_RELEASED });
  g_assert_cmpint (node_at (world, 1)->leave.phase, >=, LEAVE_BEGUN);
}

/* The newest row of the ledger says that this node left, at this price. */
static void
assert_noted (Node *node, const NodeId *id, guint64 lost_us, gboolean ran)
{
  const Event *event = g_queue_peek_tail (&node->events.kept);

  g_assert_nonnull (event);
  g_assert_cmpstr (event->kind, ==, "leave");
  g_assert_true (node_id_equal (&event->id, id));
  g_assert_cmpuint (event->work_us, ==, lost_us);
  g_assert_cmpstr (event->detail, ==, ran ? "jobs still ran" : "");
}

/* A second request may only shorten the time; in another term the node asks the new master. */
static void
test_patience (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  Leave *leave = &node_at (world, 1)->leave;
  guint64 now_us = world->now_us;
  start (world);

  g_assert_cmpuint (leave_due (node_at (world, 1)), ==, CORE_NEVER);
  ask (world, 8 * SECOND);
  g_assert_cmpuint (leave->until_us, ==, now_us + 8 * SECOND);
  g_assert_true (leave->phase == LEAVE_NONE && leave_due (node_at (world, 1)) != CORE_NEVER);
  ask (world, 3 * SECOND);
  g_assert_cmpuint (leave->until_us, ==, now_us + 3 * SECOND);
  ask (world, 20 * SECOND);
  g_assert_cmpuint (leave_due (node_at (world, 1)), ==, now_us + 3 * SECOND);
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_RELEASED, .flag = TRUE });
  g_assert_cmpuint (leave->until_us, ==, CORE_NEVER);
  ask (world, 0);
  g_assert_cmpuint (leave->until_us, ==, world->now_us + LEAVE_PATIENCE_US);
}

/* The master is asked once, and again after it refused or in another term. */
static void
test_asks_once (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);

  for (guint round = 0; round < 3; round++)
    {
      g_autoptr (GArray) asked
          = step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE, .number = 60 * SECOND });
      g_assert_cmpuint (count_sent (world, asked, 1, 0, MESSAGE_RELEASE), ==, 1);
      g_autoptr (GArray) again = step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
      g_assert_cmpuint (count_sent (world, again, 1, 0, MESSAGE_RELEASE), ==, 0);
      if (round == 1)
        {
          node_at (world, 1)->roster.term.number++;
          g_autoptr (GArray) term = step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
          g_assert_cmpuint (count_sent (world, term, 1, 0, MESSAGE_RELEASE), ==, 1);
          node_at (world, 1)->roster.term.number--;
        }
      g_autoptr (GArray) stays
          = hear (world, 1, 0, &(Message){ .kind = MESSAGE_RELEASED, .flag = TRUE });
      g_assert_cmpuint (count_effects (stays, NODE_EFFECT_STAYED), ==, 1);
    }
}

/* Only the present master's permission counts, and one that arrives too late is returned. */
static void
test_whose_word_counts (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);

  ask (world, 3 * SECOND);
  hear_only (world, 1, 2, &(Message){ .kind = MESSAGE_RELEASED });
  g_assert_cmpint (node_at (world, 1)->leave.phase, ==, LEAVE_NONE);
  world->now_us += 3 * SECOND;
  g_autoptr (GArray) late = step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
  g_assert_cmpuint (count_effects (late, NODE_EFFECT_STAYED), ==, 1);
  g_assert_cmpuint (stats_of (world, 1).expired, ==, 1);
  g_autoptr (GArray) effects = hear (world, 1, 0, &(Message){ .kind = MESSAGE_RELEASED });
  g_assert_cmpint (node_at (world, 1)->leave.phase, ==, LEAVE_NONE);
  g_assert_cmpuint (count_sent (world, effects, 1, 0, MESSAGE_RELEASED), ==, 1);
  g_assert_cmpuint (count_effects (effects, NODE_EFFECT_STAYED), ==, 0);
}

/* The last node that stays is not released; a node that gives up leaving counts as staying
 * again. */
static void
test_somebody_stays (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  g_assert_cmpint (node_at (world, 0)->leave.phase, >=, LEAVE_BEGUN);
  hear_only (world, 0, 1, &(Message){ .kind = MESSAGE_RELEASE });
  const Message no = { .kind = MESSAGE_RELEASED, .flag = TRUE };
  g_autoptr (GArray) refused = hear (world, 0, 2, &(Message){ .kind = MESSAGE_RELEASE });
  g_assert_cmpuint (count_sent (world, refused, 0, 2, MESSAGE_RELEASED), ==, 1);
  NodeId first = node_self (node_at (world, 1)), last = node_self (node_at (world, 2));
  g_assert_true (roster_find (node_at (world, 0), &first)->leaving);
  g_assert_false (roster_find (node_at (world, 0), &last)->leaving);
  hear_only (world, 0, 1, &no);
  g_assert_false (roster_find (node_at (world, 0), &first)->leaving);
}

/* A master that is alone stays, even if the command names it. */
static void
test_the_last_one_stays (void)
{
  g_autoptr (World) world = world_new (1, FALSE);
  NodeId self = node_self (node_at (world, 0));

  start (world);
  for (guint named = 0; named < 2; named++)
    {
      g_autoptr (GArray) effects = step_alone (
          world, 0, &(NodeEvent){ .kind = NODE_EVENT_LEAVE, .node = named ? self : NODE_ID_NONE });
      g_assert_cmpuint (count_effects (effects, NODE_EFFECT_STAYED), ==, 1);
      g_assert_cmpuint (count_effects (effects, NODE_EFFECT_HALT), ==, 0);
      g_assert_cmpint (node_at (world, 0)->leave.phase, ==, LEAVE_NONE);
    }
}

/* Rows of another leaver are handed on to the next heir, with a checkpoint and without. */
static void
test_hands_on_what_it_was_handed (void)
{
  for (guint checkpoint = 0; checkpoint < 2; checkpoint++)
    {
      g_autoptr (World) world = world_new (3, checkpoint);
      g_autoptr (GPtrArray) rows = rows_of (5, 6);
      start (world);

      g_autoptr (GArray) taken = hear (
          world, 1, 2,
          &(Message){ .kind = MESSAGE_COPY, .count = BUDDY_HAND, .number = 1, .rows = rows });
      g_assert_cmpuint (count_sent (world, taken, 1, 2, MESSAGE_COPIED), ==, 1);
      ask (world, 0);
      release (world);
      tell_rows (world, 7, 7);
      hear_only (world, 1, 0,
                 &(Message){ .kind = MESSAGE_COPIED, .number = node_at (world, 1)->leave.mark });
      g_array_unref (step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HALTED }));
      g_autoptr (GHashTable) found = g_hash_table_new (g_str_hash, g_str_equal);
      const GPtrArray *flight = node_at (world, 1)->leave.flight;
      for (guint i = 0; flight != NULL && i < flight->len; i++)
        g_hash_table_add (found, (gpointer)((Row *)flight->pdata[i])->path);
      g_assert_true (g_hash_table_contains (found, "/5") && g_hash_table_contains (found, "/6"));
    }
}

/* A node that halts takes no rows and does not confirm them: the leaver hears why, and keeps them.
 */
static void
test_takes_nothing_when_it_halts (void)
{
  g_autoptr (World) world = world_new (3, TRUE);
  g_autoptr (GPtrArray) rows = rows_of (5, 6);

  start (world);
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_SUSPEND });
  g_autoptr (GArray) effects
      = hear (world, 1, 2,
              &(Message){ .kind = MESSAGE_COPY, .count = BUDDY_HAND, .number = 1, .rows = rows });
  g_assert_cmpuint (count_sent (world, effects, 1, 2, MESSAGE_COPIED), ==, 0);
  g_assert_cmpuint (node_at (world, 1)->leave.taken->len, ==, 0);
}

/* An heir offers many rows to the directory, each once, in messages of limited size. */
static void
test_offers_each_row_once (void)
{
  const guint n_rows = 2 * ORPHANS_BATCH + 3;
  g_autoptr (World) world = world_new (3, FALSE);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) rows = rows_of (1, n_rows);
  start (world);

  g_autoptr (GArray) effects
      = hear (world, 1, 2,
              &(Message){ .kind = MESSAGE_COPY, .count = BUDDY_HAND, .number = 1, .rows = rows });
  for (guint i = 0; i < effects->len; i++)
    {
      const NodeEffect *effect = &g_array_index (effects, NodeEffect, i);
      g_auto (Message) message = { 0 };
      if (effect->link != link_of (world, 1, 0)->link || !read_sent (effect, &message)
          || message.kind != MESSAGE_HOLD)
        continue;
      g_assert_cmpuint (message.holds->len, <=, ORPHANS_BATCH);
      for (guint k = 0; k < message.holds->len; k++)
        g_assert_true (
            g_hash_table_add (seen, g_strdup (g_array_index (message.holds, MessageHold, k).path)));
    }
  g_assert_cmpuint (g_hash_table_size (seen), ==, n_rows);
}

/* A suspend comes while a node leaves: the node itself saves the rows that its heir has not
 * confirmed and those that wait, each once. */
static void
test_a_suspend_takes_all_back (void)
{
  g_autoptr (World) world = world_new (3, TRUE);
  Leave *leave = &node_at (world, 1)->leave;

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, SECOND / 2);
  start (world);
  ask (world, 60 * SECOND);
  release (world);
  tell_rows (world, 1, 2);
  tell_rows (world, 3, 4);
  assert_rows (leave->flight, "1 2 ");
  assert_rows (leave->rows, "3 4 ");
  node_at (world, 1)->stop.phase = STOP_HALTING;
  g_array_unref (step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_TIMER }));
  assert_rows (leave->taken, "1 2 3 4 ");
  g_assert_cmpuint (leave->rows->len, ==, 0);
  g_assert_null (leave->flight);
  g_assert_cmpuint (leave->until_us, ==, CORE_NEVER);
}

/* Takes the rows that are due for the present coordinator, and checks them. */
static void
assert_added (Node *node, const char *expected, guint64 risk_us)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  g_assert_cmpuint (leave_add_taken (node, rows), ==, risk_us);
  assert_rows (rows, expected);
}

static void
take (Node *node, guint first, guint last)
{
  g_autoptr (GPtrArray) rows = rows_of (first, last);

  for (guint i = 0; i < rows->len; i++)
    leave_take (node, rows->pdata[i]);
}

/* Each row is sent to each coordinator once, is at risk once, and is kept until it is published. */
static void
test_what_it_took_is_kept (void)
{
  g_autoptr (World) world = world_new (2, TRUE);
  Node *node = node_at (world, 1);
  guint64 before_us = node->work.reported_us;

  take (node, 1, 2);
  assert_added (node, "1 2 ", 3);
  assert_added (node, "1 2 ", 3); /* it was not sent */
  node->work.reported_us = before_us + 3;
  leave_sent_taken (node);
  assert_added (node, "", 0);
  take (node, 3, 4);
  assert_added (node, "3 4 ", 7);
  leave_forget_sent (node);
  assert_added (node, "1 2 3 4 ", 7);
  node->work.published_us = G_MAXUINT64;
  leave_published (node); /* nothing was sent to this coordinator */
  g_assert_cmpuint (node->leave.taken->len, ==, 4);
  node->work.published_us = 0;
  node->work.reported_us = before_us + 10;
  leave_sent_taken (node);
  take (node, 5, 5);
  node->work.published_us = before_us + 9;
  leave_published (node);
  g_assert_cmpuint (node->leave.taken->len, ==, 5);
  node->work.published_us = before_us + 10;
  leave_published (node);
  assert_rows (node->leave.taken, "5 ");
  leave_check (node);
  assert_added (node, "5 ", 5);
}

/* A leaver ends when its time is over: the price is told to all nodes, in the ledger and to the
 * user. */
static void
test_says_what_it_cost (void)
{
  for (guint halted = 0; halted < 2; halted++)
    {
      g_autoptr (World) world = world_new (3, TRUE);
      Node *node = node_at (world, 1);
      NodeId self = node_self (node);
      guint n_left = 0;

      tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
      pass (world, SECOND / 2);
      start (world);
      (void)offer (world, 0, "/9");
      hunger (world, 1);
      world->peer[0].late = TRUE; /* n0 has not acknowledged the result when the leaver ends */
      finish (world, 1, "/9");
      ask (world, 3 * SECOND);
      release (world);
      tell_rows (world, 3, 4);
      if (halted)
        g_array_unref (step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HALTED }));
      tell_rows (world, 5, 5);
      world->now_us += 3 * SECOND - 1;
      g_array_unref (step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_TIMER }));
      g_assert_cmpint (node->phase, ==, NODE_RUNS);
      world->now_us++;
      guint expired = stats_of (world, 1).expired;
      g_autoptr (GArray) effects = step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
      g_assert_cmpint (node->phase, ==, NODE_LEFT);
      g_assert_cmpuint (stats_of (world, 1).expired, ==, expired + 1);
      for (guint i = 0; i < effects->len; i++)
        {
          const NodeEffect *effect = &g_array_index (effects, NodeEffect, i);
          g_auto (Message) message = { 0 };
          if (read_sent (effect, &message) && message.kind == MESSAGE_GOODBYE)
            {
              g_assert_cmpuint (message.number, >=, 12);
              g_assert_cmpint (message.flag, ==, !halted);
            }
          if (effect->kind != NODE_EFFECT_LEAVE)
            continue;
          n_left++;
          g_assert_cmpuint (effect->count, ==, 4);
          g_assert_cmpuint (effect->work_us, >=, 12);
          g_assert_cmpint (effect->failed, ==, !halted);
          assert_noted (node, &self, effect->work_us, !halted);
        }
      g_assert_cmpuint (n_left, ==, 1);
      g_assert_cmpuint (count_sent (world, effects, 1, 2, MESSAGE_GOODBYE), ==, 1);
    }
}

/* n2 learns what the leaving of n1 has cost, even if it believes n1 dead. */
static void
test_hears_what_it_cost (void)
{
  for (guint ran = 0; ran < 2; ran++)
    {
      g_autoptr (World) world = world_new (3, TRUE);
      Node *node = node_at (world, 2);
      NodeId leaver = node_self (node_at (world, 1));

      hear_only (world, 2, 1, &(Message){ .kind = MESSAGE_GOODBYE, .number = 77, .flag = ran });
      assert_noted (node, &leaver, 77, ran);
      const Member *member = roster_find (node, &leaver);
      g_assert_true (member == NULL || (member->dead == DEATH_LEFT && member->leaving));
    }
}

/* A leaver does not wait for dead members to learn that it leaves. */
static void
test_the_dead_need_not_hear (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  Node *node = node_at (world, 1);
  NodeId dead = node_self (node_at (world, 2));

  start (world);
  ask (world, 60 * SECOND);
  release (world);
  g_array_unref (step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HALTED }));
  g_assert_cmpint (node->phase, ==, NODE_RUNS);
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_HEARD });
  g_assert_cmpint (node->phase, ==, NODE_RUNS);
  roster_find (node, &dead)->dead = DEATH_REFUSED;
  g_array_unref (step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_TIMER }));
  g_assert_cmpint (node->phase, ==, NODE_LEFT);
  g_assert_cmpint (node->leave.last, ==, LEAVE_OTHERS_STAY);
}

/* The member that should have stayed is gone: the leaver suspends the run. Only then it matters
 * that others miss this node. */
static void
test_the_last_one_suspends (void)
{
  g_autoptr (World) world = world_new (2, TRUE);
  Node *node = node_at (world, 1);
  NodeId gone = node_self (node_at (world, 0));

  start (world);
  ask (world, 60 * SECOND);
  release (world);
  leave_on_missing (node);
  g_assert_cmpint (node->leave.last, ==, LEAVE_OTHERS_STAY); /* the node is not alone */
  roster_find (node, &gone)->dead = DEATH_REFUSED;
  g_array_unref (step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_TIMER }));
  g_assert_cmpint (node->leave.last, ==, LEAVE_ALONE);
  g_assert_true (stop_has_begun (node));
  g_assert_cmpint (node->phase, ==, NODE_RUNS);
  leave_on_missing (alone (world, 1));
  g_assert_cmpint (node->leave.last, ==, LEAVE_MISSED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/leaver/patience", test_patience);
  g_test_add_func ("/leaver/asks-once", test_asks_once);
  g_test_add_func ("/leaver/whose-word-counts", test_whose_word_counts);
  g_test_add_func ("/leaver/somebody-stays", test_somebody_stays);
  g_test_add_func ("/leaver/the-last-one-stays", test_the_last_one_stays);
  g_test_add_func ("/leaver/hands-on-what-it-was-handed", test_hands_on_what_it_was_handed);
  g_test_add_func ("/leaver/takes-nothing-when-it-halts", test_takes_nothing_when_it_halts);
  g_test_add_func ("/leaver/offers-each-row-once", test_offers_each_row_once);
  g_test_add_func ("/leaver/a-suspend-takes-all-back", test_a_suspend_takes_all_back);
  g_test_add_func ("/leaver/what-it-took-is-kept", test_what_it_took_is_kept);
  g_test_add_func ("/leaver/says-what-it-cost", test_says_what_it_cost);
  g_test_add_func ("/leaver/hears-what-it-cost", test_hears_what_it_cost);
  g_test_add_func ("/leaver/the-dead-need-not-hear", test_the_dead_need_not_hear);
  g_test_add_func ("/leaver/the-last-one-suspends", test_the_last_one_suspends);
  return g_test_run ();
}
