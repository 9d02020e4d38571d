/* SPDX-License-Identifier: BSD-3-Clause */
/* A run that gets its checkpoint while it runs: all members are told of it, and the master becomes
 * coordinator. Also what a new master or a new coordinator does with what others were told. */
#include "node-world.h"

#include "satin/protocol/core.h"

#include <string.h>

/* A checkpoint is set through a node that is not the master. Each node learns of it once, and the
 * first place counts. */
static void
test_a_checkpoint_may_come_late (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  Digest digest = digest_of_string ("/3");
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_ptr_array_add (rows, row_new ("/3", 1, &digest, 0.1, 50, value));

  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows });
  g_assert_false (said (world, 0, "COORDINATOR"));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_CHECKPOINT, .text = "/a" });
  for (guint i = 0; i < 3; i++)
    g_assert_true (said (world, i, "CHECKPOINT /a"));
  g_assert_true (said (world, 0, "COORDINATOR"));
  forget_log (world);
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_CHECKPOINT, .text = "/b" });
  for (guint i = 0; i < 3; i++)
    g_assert_false (said (world, i, "CHECKPOINT"));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, 10 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "SCAN"));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows });
  g_assert_true (said (world, 0, "SAVE /3"));
}

/* A node that joins later learns of it, too. */
static void
test_a_node_that_joins_later_hears_of_it (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_CHECKPOINT, .text = "/a" });
  add_peer (world, FALSE);
  pump (world);
  g_assert_true (said (world, 2, "CHECKPOINT /a"));
}

/* n2 is coordinator, n0 master. */
static World *
world_with_another (void)
{
  World *world = world_new (4, TRUE);

  for (guint i = 0; i < 4; i++)
    {
      world->peer[i].commit_us = i == 2 ? 100000 : 900000;
      world->peer[i].found = 1;
    }
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 1 });
  start (world);
  pass (world, 3 * G_USEC_PER_SEC);
  g_assert_true (said (world, 2, "COORDINATOR"));
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  pass (world, G_USEC_PER_SEC);
  return world;
}

static GString *told; /* the nodes of which n2's scribe was told */

static void
watch_members (World *world, guint who, const NodeEffect *effect)
{
  char text[NODE_ID_TEXT_MAX];

  (void)world;
  if (who == 2 && effect->kind == NODE_EFFECT_MEMBER)
    g_string_append_printf (told, "%s %s %s %" G_GUINT64_FORMAT "\n",
                            node_id_show (&effect->node, text), effect->text, effect->text2,
                            effect->number);
}

/* The ledger names all nodes: a new coordinator's scribe is told which nodes are here, and which
 * join. */
static void
test_the_scribe_is_told_of_all_members (void)
{
  g_autoptr (World) world = world_with_another ();
  char text[NODE_ID_TEXT_MAX];

  told = g_string_new (NULL);
  world->watch = watch_members;
  world->peer[2].trouble = "disk full";
  for (guint i = 0; i < 3; i++)
    tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .failed = TRUE });
  pass (world, 70 * G_USEC_PER_SEC);
  g_assert_true (said (world, 2, "RETIRE"));
  world->peer[2].trouble = NULL;
  for (guint i = 0; i < 4; i++)
    if (i != 2)
      world->peer[i].trouble = "disk full";
  forget_log (world);
  for (guint i = 0; i < 4; i++)
    if (world->peer[i].node->saves.phase != SAVES_NOT)
      for (guint k = 0; k < 3; k++)
        {
          tell (world, i, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
          tell (world, i, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .failed = TRUE });
        }
  pass (world, 70 * G_USEC_PER_SEC);
  g_assert_true (said (world, 2, "COORDINATOR"));
  add_peer (world, FALSE);
  for (guint i = 0; i < 5; i++)
    {
      NodeId id = node_self (world->peer[i].node);
      g_autofree char *line
          = g_strdup_printf ("%s n%u host %u\n", node_id_show (&id, text), i, 100 + i);
      g_assert_nonnull (strstr (told->str, line));
    }
  g_string_free (told, TRUE);
}

static void
drain (World *world, guint who)
{
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  tell (world, who,
        &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = world->peer[who].node->saves.scans });
}

/* The master dies during a suspend. The next master waits for all nodes, whatever it heard when it
 * was master before on another side of a split. */
static void
test_a_new_master_waits_for_all_anew (void)
{
  g_autoptr (World) world = world_with_another ();
  const Roster *roster = &world->peer[2].node->roster;

  for (guint i = 0; i < roster->members->len; i++)
    ((Member *)roster->members->pdata[i])->scanned = world->peer[2].node->round.number;
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND });
  drain (world, 1);
  drain (world, 2);
  die (world, 0);
  pass (world, G_USEC_PER_SEC);
  g_assert_true (roster_is_master (world->peer[1].node));
  g_assert_false (said (world, 2, "FINAL"));
  drain (world, 3);
  g_assert_true (said (world, 2, "FINAL"));
}

/* The coordinator dies during a suspend: unpublished rows that were sent to it are first sent to
 * the next coordinator. */
static void
test_a_new_coordinator_gets_all_anew (void)
{
  g_autoptr (World) world = world_with_another ();
  Digest digest = digest_of_string ("/3");
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  guint next = 4;

  g_ptr_array_add (rows, row_new ("/3", 1, &digest, 0.1, 50, value));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = 50 });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND });
  for (guint i = 0; i < 2; i++)
    drain (world, i);
  die (world, 2);
  forget_log (world);
  pass (world, 2 * G_USEC_PER_SEC);
  for (guint i = 0; i < 4; i++)
    next = said (world, i, "COORDINATOR") ? i : next;
  g_assert_cmpuint (next, <, 4);
  tell (world, next, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  drain (world, 3);
  g_assert_true (said (world, 1, "SCAN whole"));
  g_assert_false (said (world, next, "FINAL"));
  for (guint i = 0; i < 2; i++)
    tell (world, i,
          &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = world->peer[i].node->saves.scans });
  g_assert_true (said (world, next, "FINAL"));
}

static guint64 required; /* the generation that the last coordinator has to find */

static void
watch_required (World *world, guint who, const NodeEffect *effect)
{
  (void)world;
  (void)who;
  if (effect->kind == NODE_EFFECT_COORDINATOR)
    required = effect->number;
}

/* Generation 5 was published, and the coordinator dies. The next one has to find the generation
 * that its bid reported, no less, and no more than was published. */
static void
test_a_coordinator_has_to_find_what_it_bid_for (void)
{
  for (guint64 found = 4; found <= 6; found++)
    {
      g_autoptr (World) world = world_with_another ();

      tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 5 });
      for (guint i = 0; i < 4; i++)
        world->peer[i].found = found;
      required = 0;
      world->watch = watch_required;
      die (world, 2);
      pass (world, 70 * G_USEC_PER_SEC);
      g_assert_cmpuint (required, ==, MIN (found, 5));
    }
}

/* A joiner may have to make a bid: with the lease it learns what was published. */
static void
test_a_joiner_hears_what_was_published (void)
{
  g_autoptr (World) world = world_with_another ();

  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 5 });
  add_peer (world, FALSE);
  pass (world, G_USEC_PER_SEC);
  for (guint i = 0; i < 5; i++)
    g_assert_cmpuint (world->peer[i].node->lease.generation, ==, 5);
}

/* A lease of a later term that this master has not granted comes from the other side of a split. */
static void
test_a_master_obeys_nobody (void)
{
  g_autoptr (World) world = world_new (3, TRUE);
  guint32 term = node_term (world->peer[0].node);
  Message lease = { .kind = MESSAGE_LEASE, .text = "", .id = node_self (world->peer[1].node) };

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  lease.term = (Term){ term + 1, node_self (world->peer[1].node) };
  lease.count = stats_of (world, 0).lease + 7;
  forget_log (world);
  deliver (world, link_between (world, 0, 1), 0, &lease);
  pass (world, G_USEC_PER_SEC);
  g_assert_false (said (world, 0, "RETIRE"));
  for (guint i = 0; i < 3; i++)
    {
      g_assert_cmpuint (node_term (world->peer[i].node), >, term + 1);
      g_assert_false (node_id_equal (&world->peer[i].node->lease.holder, &lease.id));
    }
}

/* ---- orders to close ---- */

/* main is finished, and n2 is the coordinator. */
static void
order_to_close (World *world, guint64 link, guint32 request)
{
  deliver (world, link, 2,
           &(Message){ .kind = MESSAGE_PUBLISH,
                       .version = ROUND_FINISHED,
                       .number = ROUND_EVENTS_US,
                       .count = request });
}

static guint64 closed_request;

static void
note_closed (World *world, guint who, const NodeEffect *effect)
{
  g_auto (Message) message = { 0 };

  (void)world;
  if (who == 2 && read_sent (effect, &message) && message.kind == MESSAGE_PUBLISHED)
    closed_request = message.count;
}

/* An older order to close that arrives late does not count as the awaited one. */
static void
test_the_newest_order_to_close_counts (void)
{
  g_autoptr (World) world = world_with_another ();
  guint64 link = link_between (world, 0, 2);

  closed_request = 0;
  world->watch = note_closed;
  for (guint32 request = 2; request > 0; request--)
    order_to_close (world, link, request);
  pass (world, 20 * G_USEC_PER_SEC);
  g_assert_true (said (world, 2, "FINAL"));
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 9, .final = TRUE });
  g_assert_cmpuint (closed_request, ==, 2);
}

/* However often the order is repeated, the wait for events of other nodes ends. */
static void
test_orders_to_close_do_not_delay (void)
{
  g_autoptr (World) world = world_with_another ();
  guint64 link = link_between (world, 0, 2);

  ((Member *)world->peer[2].node->roster.members->pdata[3])->told_events
      = 0; /* n3 still owes events */
  for (guint32 request = 1; request <= 5; request++)
    {
      order_to_close (world, link, request);
      g_assert_cmpint (said (world, 2, "FINAL"), ==, request == 5);
      pass (world, ROUND_EVENTS_US / 4);
    }
}

/* Each master numbers its own orders: the first order of a new master is not older than those of
 * the last master. */
static void
test_a_new_master_counts_its_own_orders_to_close (void)
{
  g_autoptr (World) world = world_with_another ();

  order_to_close (world, link_between (world, 0, 2), 5);
  die (world, 0);
  pass (world, G_USEC_PER_SEC);
  g_assert_true (roster_is_master (world->peer[1].node));
  closed_request = 0;
  world->watch = note_closed;
  order_to_close (world, link_between (world, 1, 2), 1);
  for (guint i = 0; i < 2; i++) /* one of the two may have begun before the second order */
    {
      pass (world, 20 * G_USEC_PER_SEC);
      tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 9 + i, .final = TRUE });
    }
  g_assert_cmpuint (closed_request, ==, 1);
}

/* n0 announces that `holder` got the lease, so many leases later. n0 does not receive the
 * replies. */
static void
say_lease (World *world, guint to, guint holder, guint32 later)
{
  const Lease *lease = &world->peer[to].node->lease;

  world->peer[0].deaf = TRUE;
  deliver (world, link_between (world, 0, to), to,
           &(Message){ .kind = MESSAGE_LEASE,
                       .text = "",
                       .id = node_self (world->peer[holder].node),
                       .term = lease->term,
                       .count = lease->number + later });
}

/* Requests to a coordinator end with its lease. In a later lease it closes nothing because of them,
 * and it publishes what is requested then. */
static void
test_a_later_lease_owes_nothing_of_an_earlier_one (void)
{
  for (guint asked = 1; asked <= 2; asked++)
    {
      g_autoptr (World) world = world_with_another ();

      for (guint32 request = 1; request <= asked; request++)
        order_to_close (world, link_between (world, 0, 2), request);
      say_lease (world, 2, 0, 1);
      g_assert_true (said (world, 2, "RETIRE"));
      forget_log (world);
      say_lease (world, 2, 2, 1);
      g_assert_true (said (world, 2, "COORDINATOR"));
      tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
      tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
      pass (world, ROUND_PATIENCE_US + G_USEC_PER_SEC);
      g_assert_false (said (world, 2, "FINAL"));
      g_assert_true (said (world, 2, "PUBLISH"));
    }
}

static guint n_leases, n_resigned; /* messages of n2 with the present number */

static void
note_said (World *world, guint who, const NodeEffect *effect)
{
  g_auto (Message) message = { 0 };

  if (who != 2 || !read_sent (effect, &message)
      || message.count != world->peer[2].node->lease.number)
    return;
  n_leases += message.kind == MESSAGE_LEASE;
  n_resigned += message.kind == MESSAGE_BID && message.number == 0 && message.flag;
}

/* A member that mentions an older lease is told the present one, and also if its holder could not
 * take over. */
static void
test_an_older_lease_is_answered (void)
{
  for (gint fails = 0; fails < 2; fails++)
    {
      g_autoptr (World) world = world_with_another ();

      if (fails)
        {
          say_lease (world, 2, 0, 1);
          say_lease (world, 2, 2, 1);
          tell (world, 2,
                &(NodeEvent){ .kind = NODE_EVENT_OPENED, .failed = TRUE, .text = "disk full" });
        }
      n_leases = n_resigned = 0;
      world->watch = note_said;
      say_lease (world, 2, 1, (guint32)-1);
      g_assert_cmpuint (n_leases, ==, 1);
      g_assert_cmpint (n_resigned, ==, fails);
    }
}

/* A node that could not take over becomes master before any node has learned of that: another node
 * tries. */
static void
test_who_could_not_take_over_becomes_master (void)
{
  g_autoptr (World) world = world_new (3, TRUE);

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
  world->peer[0].deaf = TRUE;
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .failed = TRUE, .text = "disk full" });
  forget_log (world);
  die (world, 0);
  pass (world, 3 * G_USEC_PER_SEC);
  g_assert_true (roster_is_master (world->peer[1].node));
  g_assert_true (said (world, 1, "COORDINATOR") || said (world, 2, "COORDINATOR"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/lease/a-checkpoint-may-come-late", test_a_checkpoint_may_come_late);
  g_test_add_func ("/lease/a-node-that-joins-later-hears-of-it",
                   test_a_node_that_joins_later_hears_of_it);
  g_test_add_func ("/lease/the-scribe-is-told-of-all-members",
                   test_the_scribe_is_told_of_all_members);
  g_test_add_func ("/lease/a-new-master-waits-for-all-anew", test_a_new_master_waits_for_all_anew);
  g_test_add_func ("/lease/a-new-coordinator-gets-all-anew", test_a_new_coordinator_gets_all_anew);
  g_test_add_func ("/lease/a-coordinator-has-to-find-what-it-bid-for",
                   test_a_coordinator_has_to_find_what_it_bid_for);
  g_test_add_func ("/lease/a-joiner-hears-what-was-published",
                   test_a_joiner_hears_what_was_published);
  g_test_add_func ("/lease/a-master-obeys-nobody", test_a_master_obeys_nobody);
  g_test_add_func ("/lease/the-newest-order-to-close-counts",
                   test_the_newest_order_to_close_counts);
  g_test_add_func ("/lease/orders-to-close-do-not-delay", test_orders_to_close_do_not_delay);
  g_test_add_func ("/lease/a-new-master-counts-its-own-orders-to-close",
                   test_a_new_master_counts_its_own_orders_to_close);
  g_test_add_func ("/lease/a-later-lease-owes-nothing-of-an-earlier-one",
                   test_a_later_lease_owes_nothing_of_an_earlier_one);
  g_test_add_func ("/lease/an-older-lease-is-answered", test_an_older_lease_is_answered);
  g_test_add_func ("/lease/who-could-not-take-over-becomes-master",
                   test_who_could_not_take_over_becomes_master);
  return g_test_run ();
}
