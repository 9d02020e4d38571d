/* SPDX-License-Identifier: BSD-3-Clause */
/* A leaving member is not asked for work and gets none; it ends when others have all that it had.
 * Steps one node of the world alone: its effects are kept for the test and not carried out. */
#include "node-alone.h"

#define STEAL_WAIT_US (60 * 1000000) /* longer than any request or pause lasts */

/* n2 has told n1 that it leaves. */
static void
say_leaving (World *world)
{
  g_autoptr (GArray) effects = hear (world, 1, 2, &(Message){ .kind = MESSAGE_LEAVING });

  g_assert_cmpuint (count_sent (world, effects, 1, 2, MESSAGE_HEARD), ==, 1);
}

/* As long as n0 refuses, no other node is asked; a change of the roster does not change that. */
static void
test_is_not_asked (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  Node *node = world->peer[1].node;
  guint n_asked = 0;
  start (world);
  say_leaving (world);

  for (guint i = 0; i < 20; i++)
    {
      g_autoptr (GArray) effects
          = step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
      g_assert_cmpuint (count_sent (world, effects, 1, 2, MESSAGE_STEAL), ==, 0);
      n_asked += count_sent (world, effects, 1, 0, MESSAGE_STEAL);
      g_autoptr (GArray) offered
          = hear (world, 1, 2, &(Message){ .kind = MESSAGE_JOBS, .id = id_of (world, 2) });
      g_assert_cmpuint (count_sent (world, offered, 1, 2, MESSAGE_STEAL), ==, 0);
      g_autoptr (GArray) refused
          = hear (world, 1, 0, &(Message){ .kind = MESSAGE_JOBS, .number = node->steal.requests });
      g_assert_cmpuint (count_sent (world, refused, 1, 2, MESSAGE_STEAL), ==, 0);
      g_auto (Message) roster = { .kind = MESSAGE_ROSTER };
      roster_fill (node, &roster);
      roster.version++;
      hear_only (world, 1, 0, &roster);
      world->now_us += STEAL_WAIT_US;
      g_autoptr (GArray) late = step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
      n_asked += count_sent (world, late, 1, 0, MESSAGE_STEAL);
    }
  g_assert_cmpuint (n_asked, >, 1);
}

/* n2 has asked n1 for a job, and leaves while the engine looks for one. */
static void
test_is_lent_nothing (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  (void)offer (world, 1, "/0");
  g_autoptr (GArray) asked
      = hear (world, 1, 2, &(Message){ .kind = MESSAGE_STEAL, .number = 1, .count = 1 });
  g_assert_cmpuint (count_effects (asked, NODE_EFFECT_LEND), ==, 1);
  say_leaving (world);

  g_autoptr (GArray) effects = step_alone (world, 1,
                                           &(NodeEvent){ .kind = NODE_EVENT_LENT,
                                                         .node = node_self (world->peer[2].node),
                                                         .loans = world->peer[1].jobs });
  g_assert_cmpuint (count_sent (world, effects, 1, 2, MESSAGE_JOBS), ==, 1);
  g_assert_cmpuint (count_refusals (world, effects, 1, 2), ==, 1);
  g_assert_cmpuint (count_effects (effects, NODE_EFFECT_BACK), ==, 1);
  g_assert_cmpuint (stats_of (world, 1).lent, ==, 0);
}

/* n1 has a running and a finished orphan; n2, which leaves, asks late for both. */
static void
test_adopts_nothing (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  static const char *const paths[] = { "/0", "/1" };
  g_autoptr (GBytes) value = g_bytes_new_static ("v", 1);
  start (world);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GPtrArray) loans = g_ptr_array_new_with_free_func ((GDestroyNotify)loan_free);
      Digest digest = digest_of_string (paths[i]);
      g_ptr_array_add (loans, loan_new (i + 1, paths[i], 1, &digest, 0.5, NULL));
      hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_JOBS, .loans = loans });
      hear_only (world, 1, 0,
                 &(Message){ .kind = MESSAGE_CANCELLED, .number = i + 1, .flag = TRUE });
    }
  g_array_unref (step_alone (world, 1,
                             &(NodeEvent){ .kind = NODE_EVENT_DONE,
                                           .held = held_at (world->peer[1].node, "/1")->held,
                                           .bytes = value }));
  for (guint leaves = 0; leaves < 2; leaves++)
    for (guint i = 0; i < 2; i++)
      {
        const Message adopt = { .kind = MESSAGE_ADOPT,
                                .number = 10 + i,
                                .path = paths[i],
                                .digest = digest_of_string (paths[i]) };
        if (leaves == 0 && i == 0)
          say_leaving (world);
        g_autoptr (GArray) effects = hear (world, 1, leaves == 0 ? 2 : 0, &adopt);
        g_assert_cmpuint (count_sent (world, effects, 1, 2, MESSAGE_RETURNED), ==, leaves == 0);
        g_assert_cmpuint (count_sent (world, effects, 1, 2, MESSAGE_RESULT), ==, 0);
        g_assert_cmpuint (count_sent (world, effects, 1, 0, MESSAGE_RESULT), ==,
                          leaves > 0 && i > 0);
        g_assert_cmpint (held_at (world->peer[1].node, paths[i])->lender, ==,
                         leaves == 0 ? LENDER_NONE : LENDER_NODE);
      }
}

/* A request that n2 sent before it announced that it leaves arrives late: the engine keeps its
 * jobs. */
static void
test_is_refused (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  (void)offer (world, 1, "/0");
  say_leaving (world);

  g_autoptr (GArray) effects
      = hear (world, 1, 2, &(Message){ .kind = MESSAGE_STEAL, .number = 1, .count = 1 });
  g_assert_cmpuint (count_effects (effects, NODE_EFFECT_LEND), ==, 0);
  g_assert_cmpuint (count_refusals (world, effects, 1, 2), ==, 1);
}

/* n1 leaves and has handed its rows to n0, which leaves, too, before it confirms them: n2 gets them
 * at once, and n0 not again. */
static void
test_is_handed_nothing (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_autoptr (GBytes) value = g_bytes_new_static ("v", 1);
  start (world);
  g_ptr_array_add (rows, row_new ("/0", 0, &(Digest){ { 1 } }, 0, 1, value));

  g_array_unref (step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE }));
  g_autoptr (GArray) begun = hear (world, 1, 0, &(Message){ .kind = MESSAGE_RELEASED });
  g_assert_cmpuint (count_effects (begun, NODE_EFFECT_HALT), ==, 1);
  g_autoptr (GArray) handed
      = step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows });
  g_assert_cmpuint (count_sent (world, handed, 1, 0, MESSAGE_COPY), ==, 1);
  g_autoptr (GArray) heard = hear (world, 1, 0, &(Message){ .kind = MESSAGE_LEAVING });
  g_assert_cmpuint (count_sent (world, heard, 1, 2, MESSAGE_COPY), ==, 1);
}

/* n1 leaves, and has handed one row to this node. */
static void
hand_over (World *world, guint heir)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_autoptr (GBytes) value = g_bytes_new_static ("v", 1);

  start (world);
  g_ptr_array_add (rows, row_new ("/0", 0, &(Digest){ { 1 } }, 0, 1, value));
  g_array_unref (step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE }));
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_RELEASED });
  g_autoptr (GArray) handed
      = step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows });
  g_assert_cmpuint (count_sent (world, handed, 1, heir, MESSAGE_COPY), ==, 1);
}

static World *
world_that_hands_over (void)
{
  World *world = world_new (3, FALSE);

  hand_over (world, 0);
  return world;
}

/* The eldest of all is at another site: the eldest at this site is the heir. */
static void
test_has_an_heir_at_its_site (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  Member *eldest = roster_find (node_at (world, 1), &node_at (world, 0)->self);

  g_free (eldest->site);
  eldest->site = g_strdup ("far");
  contacts_refresh (node_at (world, 1));
  hand_over (world, 2);
}

/* The heir leaves before it confirms the rows: another node becomes the heir. */
static void
test_has_another_heir (void)
{
  g_autoptr (World) world = world_that_hands_over ();
  g_autoptr (GArray) effects = hear (world, 1, 0, &(Message){ .kind = MESSAGE_GOODBYE });

  g_assert_cmpuint (count_sent (world, effects, 1, 2, MESSAGE_COPY), ==, 1);
}

/* Only its heir confirms, up to the mark of the rows. */
static void
test_waits_for_its_heir (void)
{
  g_autoptr (World) world = world_that_hands_over ();

  g_array_unref (step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HALTED }));
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_HEARD });
  hear_only (world, 1, 2, &(Message){ .kind = MESSAGE_HEARD });
  guint64 mark = node_at (world, 1)->leave.mark;
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_COPIED, .number = mark - 1 });
  hear_only (world, 1, 2, &(Message){ .kind = MESSAGE_COPIED, .number = mark });
  g_assert_cmpint (world->peer[1].node->phase, ==, NODE_RUNS);
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_COPIED, .number = mark });
  g_assert_cmpint (world->peer[1].node->phase, ==, NODE_LEFT);
}

/* Of many results the largest go first, and no message is larger than it may be. */
static void
test_largest_first (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  gsize size = ROWS_BYTES_MAX / 4;
  g_autofree char *data = g_malloc0 (size);
  g_autoptr (GBytes) value = g_bytes_new_static (data, size);

  start (world);
  for (guint i = 0; i < 10; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u", i);
      g_ptr_array_add (rows, row_new (path, 0, &(Digest){ { 1 } }, 0, 100 + i * 7 % 10, value));
    }
  g_array_unref (step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE }));
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_RELEASED });
  g_autoptr (GArray) handed
      = step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows });
  const GPtrArray *flight = world->peer[1].node->leave.flight;
  g_assert_cmpuint (count_effects (handed, NODE_EFFECT_SEND), >=, 1);
  g_assert_cmpuint (flight->len, ==, 4);
  for (guint i = 0; i < flight->len; i++)
    g_assert_cmpuint (((Row *)flight->pdata[i])->work_us, ==, 109 - i);
}

/* A coordinator that leaves gives up its lease. */
static void
test_gives_its_lease_up (void)
{
  g_autoptr (World) world = world_new (1, TRUE);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  g_assert_true (world->peer[0].node->saves.phase != SAVES_NOT);
  for (guint i = 0; i < 2; i++)
    add_peer (world, FALSE);
  pump (world);
  start (world);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  pass (world, 120 * G_USEC_PER_SEC);
  g_assert_cmpint (world->peer[0].node->phase, ==, NODE_LEFT);
  g_assert_true (said (world, 0, "RETIRE"));
}

/* A leaver stays while a lender has not yet taken a result. */
static void
test_waits_for_its_lenders (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  guint64 loan = offer (world, 0, "/0");
  hunger (world, 1);
  g_assert_true (said (world, 1, "RUN /0"));
  g_autoptr (GBytes) value = g_bytes_new_static ("v", 1);
  guint64 held = held_of (world, 1, "/0");

  g_array_unref (step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE }));
  g_array_unref (
      step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_DONE, .held = held, .bytes = value }));
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_RELEASED });
  g_array_unref (step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HALTED }));
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_HEARD });
  hear_only (world, 1, 2, &(Message){ .kind = MESSAGE_HEARD });
  g_assert_cmpint (world->peer[1].node->phase, ==, NODE_RUNS);
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_ACK, .number = loan });
  g_assert_cmpint (world->peer[1].node->phase, ==, NODE_LEFT);
}

/* A suspend ends that wait at once, without a timer. */
static void
test_a_suspend_does_not_wait_for_it (void)
{
  g_autoptr (World) world = world_new (3, TRUE);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, G_USEC_PER_SEC / 2);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND });
  for (guint i = 0; i < 2; i++)
    {
      tell (world, i, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
      tell (world, i, &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = G_MAXUINT32 });
    }
  g_assert_false (said (world, 0, "FINAL"));
  deliver (world, link_between (world, 0, 2), 0, &(Message){ .kind = MESSAGE_GOODBYE });
  pump (world);
  g_assert_true (said (world, 0, "FINAL"));
}

static void
ask_to_join (World *world)
{
  Wire wire = { { 0, 1 }, TRUE, FALSE };
  Message hello = { .kind = MESSAGE_HELLO,
                    .number = MESSAGE_VERSION,
                    .digest = digest_of_string ("program"),
                    .text = "n7",
                    .host = "" };

  g_array_append_val (world->wires, wire);
  guint64 link = world->wires->len;
  step (world, 0, &(NodeEvent){ .kind = NODE_EVENT_LINK_UP, .link = link });
  deliver (world, link, 0, &hello);
  deliver (world, link, 0,
           &(Message){ .kind = MESSAGE_JOIN, .text = "n7", .host = "host", .site = "" });
  step (world, 0, &(NodeEvent){ .kind = NODE_EVENT_LINK_DOWN, .link = link });
}

/* A joiner was admitted but has not learned of it, so it never confirms that it has sent all; then
 * it asks once more to join. */
static void
test_a_suspend_does_not_wait_for_who_never_was (void)
{
  g_autoptr (World) world = world_new (1, TRUE);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, G_USEC_PER_SEC / 2);
  world->parted = 1; /* its dials reach no node */
  ask_to_join (world);
  g_assert_cmpuint (members_of (world, 0), ==, 2);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = G_MAXUINT32 });
  g_assert_false (said (world, 0, "FINAL"));
  ask_to_join (world);
  g_assert_cmpuint (members_of (world, 0), ==, 1);
  pump (world);
  g_assert_true (said (world, 0, "FINAL"));
}

/* Three rows, two of which refer to more shared bytes than one message may. */
static GPtrArray *
rows_that_speak (SharedStore *store)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_autoptr (GBytes) bytes = g_bytes_new ("shared bytes", 12);
  g_autoptr (GPtrArray) shares = shared_list_new ();

  for (guint i = 0; i < MESSAGE_SPEAKS_MAX / 2 + 1; i++)
    g_ptr_array_add (shares, shared_add (store, bytes));
  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u", i);
      Digest digest = digest_of_string (path);
      Row *row = row_new (path, 1, &digest, 0.1, 50, bytes);
      row->shares = g_ptr_array_ref (shares);
      g_ptr_array_add (rows, row);
    }
  return rows;
}

/* Rows for a coordinator or an heir are sent in as many messages as needed: a message that refers
 * to too much would end its sender. */
static void
test_rows_that_speak_of_much_go_apart (void)
{
  g_autoptr (SharedStore) store = shared_store_new (1000);
  g_autoptr (GPtrArray) rows = rows_that_speak (store);
  NodeEvent event = { .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = 150 };
  g_autoptr (World) world = world_new (2, TRUE);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, G_USEC_PER_SEC / 2);
  g_array_unref (step_alone (world, 1, &event));
  g_assert_cmpuint (stats_of (world, 1).rows_sent, ==, 3);

  g_autoptr (World) other = world_new (2, FALSE);
  g_array_unref (step_alone (other, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE }));
  hear_only (other, 1, 0, &(Message){ .kind = MESSAGE_RELEASED });
  g_array_unref (step_alone (other, 1, &event));
  for (guint left = 3; left-- > 0;)
    {
      const Leave *leave = &node_at (other, 1)->leave;
      g_assert_cmpuint (leave->rows->len, ==, left);
      g_assert_cmpuint (leave->flight->len, ==, 1);
      hear_only (other, 1, 0, &(Message){ .kind = MESSAGE_COPIED, .number = leave->mark });
    }
  g_assert_null (node_at (other, 1)->leave.flight);
  g_assert_cmpuint (other->peer[1].node->leave.rows->len, ==, 0);
}

/* n1 gets a row of a leaver, it is published, and then another one. */
static void
test_each_row_handed_over_is_at_risk (void)
{
  static const char *const paths[] = { "/5", "/6" };
  g_autoptr (World) world = world_new (3, TRUE);
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, G_USEC_PER_SEC);
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
      Digest digest = digest_of_string (paths[i]);
      g_ptr_array_add (rows, row_new (paths[i], 1, &digest, 0.1, 50, value));
      deliver (
          world, link_between (world, 1, 2), 1,
          &(Message){ .kind = MESSAGE_COPY, .count = BUDDY_HAND, .number = i + 1, .rows = rows });
      pass (world, 2 * G_USEC_PER_SEC);
      g_assert_cmpuint (stats_of (world, 1).unpublished_us, ==, 50);
      tell (world, 0,
            &(NodeEvent){
                .kind = NODE_EVENT_PUBLISHED, .number = i + 1, .saved = world->peer[0].ticket });
      g_assert_cmpuint (stats_of (world, 1).unpublished_us, ==, 0);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/leave/each-row-handed-over-is-at-risk", test_each_row_handed_over_is_at_risk);
  g_test_add_func ("/leave/a-leaver-is-not-asked-for-work", test_is_not_asked);
  g_test_add_func ("/leave/a-leaver-is-lent-nothing", test_is_lent_nothing);
  g_test_add_func ("/leave/a-leaver-is-refused", test_is_refused);
  g_test_add_func ("/leave/a-leaver-adopts-nothing", test_adopts_nothing);
  g_test_add_func ("/leave/a-leaver-is-handed-nothing", test_is_handed_nothing);
  g_test_add_func ("/leave/a-leaver-has-another-heir", test_has_another_heir);
  g_test_add_func ("/leave/a-leaver-has-an-heir-at-its-site", test_has_an_heir_at_its_site);
  g_test_add_func ("/leave/a-leaver-waits-for-its-heir", test_waits_for_its_heir);
  g_test_add_func ("/leave/the-largest-are-handed-over-first", test_largest_first);
  g_test_add_func ("/leave/a-leaver-gives-its-lease-up", test_gives_its_lease_up);
  g_test_add_func ("/leave/a-leaver-waits-for-its-lenders", test_waits_for_its_lenders);
  g_test_add_func ("/leave/a-suspend-does-not-wait-for-who-never-was",
                   test_a_suspend_does_not_wait_for_who_never_was);
  g_test_add_func ("/leave/rows-that-speak-of-much-go-apart",
                   test_rows_that_speak_of_much_go_apart);
  g_test_add_func ("/leave/a-suspend-does-not-wait-for-a-leaver",
                   test_a_suspend_does_not_wait_for_it);
  return g_test_run ();
}
