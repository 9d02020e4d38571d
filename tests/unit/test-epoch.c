/* SPDX-License-Identifier: BSD-3-Clause */
/* Plan cut (paper 003): epochs of two colours. n0 is the coordinator. */
#include "node-world.h"

#include "satin/protocol/core.h"

#include <string.h>

#define PATH "/3"
#define WHITE 0u
#define RED EPOCH_RED
#define RECORDING EPOCH_RECORDING

static Epoch *
epoch_at (World *world, guint who)
{
  return &node_at (world, who)->epoch;
}

static World *
world_of (guint n)
{
  World *world = world_new (0, TRUE);

  world->cut = TRUE;
  for (guint i = 0; i < n; i++)
    add_peer (world, FALSE);
  pass (world, 10);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  g_assert_true (node_at (world, 0)->saves.phase >= SAVES_OPENED);
  start (world);
  return world;
}

/* START: the coordinator has begun an epoch, and no other node has heard of it. */
static void
begin_epoch (World *world)
{
  for (guint i = 1; i < world->n; i++)
    world->peer[i].late = TRUE;
  step (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  pump (world);
}

static void
hear_start (World *world, guint who)
{
  world->peer[who].late = FALSE;
  pump (world);
}

/* The engine of `who` has taken the local checkpoint. */
static void
serve (World *world, guint who)
{
  tell (world, who,
        &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = node_at (world, who)->saves.scans });
}

static void
publish (World *world, guint64 generation)
{
  tell (world, 0,
        &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED,
                      .number = generation,
                      .saved = world->peer[0].ticket,
                      .final = TRUE });
}

/* Fig. 1 of the paper, derived from its meaning. A message is sent before or after the sender's
 * checkpoint of an epoch, and received before or after the receiver's. If both are known to be in
 * the same epoch or in neighbouring ones, that determines its class. */
static void
test_the_table_is_the_papers (void)
{
  static const struct
  {
    guint32 receiver, sender;
    EpochClass class;
  } cases[] = {
    { WHITE, WHITE, EPOCH_NORMAL },
    { WHITE, RED | RECORDING, EPOCH_ORPHAN }, /* the sender has begun the red epoch */
    { WHITE, WHITE | RECORDING, EPOCH_NORMAL },
    { WHITE, RED, EPOCH_IMPOSSIBLE }, /* the red epoch is over, and the receiver was not in it */
    { RED | RECORDING, WHITE, EPOCH_IN_TRANSIT },
    { RED | RECORDING, RED | RECORDING, EPOCH_NORMAL },
    { RED | RECORDING, WHITE | RECORDING, EPOCH_IN_TRANSIT }, /* … of the previous, white epoch */
    { RED | RECORDING, RED, EPOCH_NORMAL },
    { WHITE | RECORDING, WHITE, EPOCH_NORMAL },
    { WHITE | RECORDING, RED | RECORDING, EPOCH_IN_TRANSIT },
    { WHITE | RECORDING, WHITE | RECORDING, EPOCH_NORMAL },
    { WHITE | RECORDING, RED, EPOCH_IN_TRANSIT },
    { RED, WHITE, EPOCH_IMPOSSIBLE },
    { RED, RED | RECORDING, EPOCH_NORMAL },
    { RED, WHITE | RECORDING, EPOCH_ORPHAN },
    { RED, RED, EPOCH_NORMAL },
  };

  G_STATIC_ASSERT (G_N_ELEMENTS (cases) == EPOCH_STATES * EPOCH_STATES);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const guint32 receiver = cases[i].receiver, sender = cases[i].sender;
      g_assert_cmpint (epoch_class (sender, receiver), ==, cases[i].class);
      for (guint k = 0; k < i; k++)
        g_assert_true (cases[k].receiver != receiver || cases[k].sender != sender);
      /* The two colours are interchangeable. */
      g_assert_cmpint (epoch_class (sender ^ RED, receiver ^ RED), ==, cases[i].class);
    }
}

/* T3-1: at START a member changes its colour, records messages, and takes its checkpoint once. */
static void
test_start_takes_a_checkpoint (void)
{
  g_autoptr (World) world = world_of (3);

  begin_epoch (world);
  g_assert_cmpuint (epoch_colours (node_at (world, 0)), ==, RED | RECORDING);
  g_assert_cmpuint (epoch_colours (node_at (world, 1)), ==, WHITE);
  guint64 scans = node_at (world, 1)->saves.scans;
  hear_start (world, 1);
  g_assert_cmpuint (epoch_colours (node_at (world, 1)), ==, RED | RECORDING);
  g_assert_cmpuint (node_at (world, 1)->saves.scans, ==, scans + 1);
  hear_start (world, 2);
  for (guint i = 0; i < 3; i++)
    {
      g_assert_false (said (world, 0, "PUBLISH"));
      serve (world, i);
    }
  g_assert_true (said (world, 0, "PUBLISH"));
  publish (world, 8);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (epoch_colours (node_at (world, i)), ==, RED);
  g_assert_true (said (world, 0, "SAVED"));
}

/* T3-1: an orphan message has the same effect, before it is handled; START adds nothing then. */
static void
test_an_orphan_message_does_so_too (void)
{
  g_autoptr (World) world = world_of (3);
  Digest digest = digest_of_string (PATH);
  g_autoptr (GPtrArray) loans = g_ptr_array_new_with_free_func ((GDestroyNotify)loan_free);
  guint64 scans = node_at (world, 1)->saves.scans;

  g_ptr_array_add (loans, loan_new (7, PATH, 1, &digest, 0.5, NULL));
  Message jobs = { .kind = MESSAGE_JOBS, .count = RED | RECORDING, .loans = loans };
  deliver (world, link_between (world, 1, 2), 1, &jobs);
  g_assert_cmpuint (epoch_colours (node_at (world, 1)), ==, RED | RECORDING);
  g_assert_cmpuint (node_at (world, 1)->saves.scans, ==, scans + 1);
  g_assert_cmpint (epoch_at (world, 1)->phase, ==, EPOCH_EARLY);
  const char *scan = strstr (world->peer[1].log->str, "SCAN");
  const char *run = strstr (world->peer[1].log->str, "RUN " PATH);
  g_assert_true (scan != NULL && run != NULL && scan < run);
  serve (world, 1);
  begin_epoch (world);
  hear_start (world, 1);
  g_assert_cmpint (epoch_at (world, 1)->phase, ==, EPOCH_OPEN);
  g_assert_cmpuint (node_at (world, 1)->saves.scans, ==, scans + 1);
  hear_start (world, 2);
  serve (world, 2);
  serve (world, 0);
  g_assert_true (said (world, 0, "PUBLISH"));
}

/* n1 has lent a job to n2. n1 has taken its checkpoint, and receives nothing more for now; START of
 * n2 and n3 is in transit. */
static World *
world_in_transit (void)
{
  g_autoptr (World) world = world_of (4);

  (void)offer (world, 1, PATH);
  hunger (world, 2);
  for (guint i = 0; i < world->n; i++)
    serve (world, i); /* the red epoch, whose interval is over */
  publish (world, 8);
  g_assert_cmpuint (epoch_colours (node_at (world, 2)), ==, RED);
  forget_log (world);
  begin_epoch (world);
  g_assert_cmpuint (epoch_colours (node_at (world, 0)), ==, WHITE | RECORDING);
  hear_start (world, 1);
  serve (world, 1);
  world->peer[1].late = TRUE;
  return g_steal_pointer (&world);
}

static void
finish_before_start (World *world)
{
  finish (world, 2, PATH);
  g_assert_cmpuint (epoch_colours (node_at (world, 2)), ==, RED);
}

/* T3-2: a result in transit is acknowledged when the epoch is over: until then its holder keeps it,
 * and so does the holder's checkpoint. */
static void
test_in_transit_is_kept_to_the_end (void)
{
  g_autoptr (World) world = world_in_transit ();

  finish_before_start (world);
  world->peer[1].late = FALSE;
  pump (world);
  g_assert_true (said (world, 1, "PUT 1"));
  g_assert_cmpuint (node_at (world, 1)->buddy.acks.length, ==, 1);
  g_assert_cmpuint (stats_of (world, 2).held, ==, 1);
  guint64 rows = stats_of (world, 2).rows_sent;
  hear_start (world, 2);
  g_assert_cmpuint (stats_of (world, 2).rows_sent, ==, rows + 1);
  hear_start (world, 3);
  for (guint i = 0; i < 4; i++)
    serve (world, i);
  g_assert_true (said (world, 0, "PUBLISH"));
  g_assert_cmpuint (stats_of (world, 2).held, ==, 1);
  publish (world, 9);
  g_assert_cmpuint (stats_of (world, 2).held, ==, 0);
  g_assert_cmpuint (node_at (world, 1)->buddy.acks.length, ==, 0);
}

/* T3-2: the epoch is not over before all messages in transit have arrived. */
static void
test_the_end_waits_for_what_is_in_transit (void)
{
  g_autoptr (World) world = world_in_transit ();

  finish_before_start (world);
  hear_start (world, 2);
  hear_start (world, 3);
  serve (world, 0);
  serve (world, 2);
  serve (world, 3);
  g_assert_false (said (world, 0, "PUBLISH"));
  g_assert_true (epoch_in_transit (node_at (world, 0)));
  world->peer[1].late = FALSE;
  pump (world);
  g_assert_false (epoch_in_transit (node_at (world, 0)));
  g_assert_true (said (world, 0, "PUBLISH"));
}

/* … unless their sender or receiver dies. */
static void
test_nothing_of_the_dead_is_in_transit (void)
{
  for (guint who = 1; who < 3; who++)
    {
      g_autoptr (World) world = world_in_transit ();

      finish_before_start (world);
      hear_start (world, 2);
      hear_start (world, 3);
      serve (world, 0);
      serve (world, 2);
      serve (world, 3);
      g_assert_true (epoch_in_transit (node_at (world, 0)));
      world->peer[1].deaf = TRUE;
      world->peer[1].late = FALSE;
      pump (world); /* what was sent to n1 is lost */
      world->peer[1].deaf = FALSE;
      die (world, who);
      pass (world, G_USEC_PER_SEC);
      g_assert_false (epoch_in_transit (node_at (world, 0)));
      g_assert_true (said (world, 0, "PUBLISH"));
    }
}

/* A holder that leaves waits for no epoch. */
static void
test_who_leaves_is_acknowledged (void)
{
  g_autoptr (World) world = world_in_transit ();

  finish_before_start (world);
  world->peer[1].late = FALSE;
  pump (world);
  g_assert_cmpuint (node_at (world, 1)->buddy.acks.length, ==, 1);
  deliver (world, link_between (world, 1, 2), 1, &(Message){ .kind = MESSAGE_LEAVING });
  g_assert_cmpuint (node_at (world, 1)->buddy.acks.length, ==, 0);
}

/* T3-3: one epoch is open at a time. Requests during an epoch are answered by the next one. */
static void
test_one_is_open_at_a_time (void)
{
  g_autoptr (World) world = world_of (2);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  g_assert_cmpuint (epoch_at (world, 0)->number, ==, 1);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  pass (world, 5 * G_USEC_PER_SEC); /* intervals */
  g_assert_cmpuint (epoch_at (world, 0)->number, ==, 1);
  serve (world, 0);
  serve (world, 1);
  g_assert_cmpuint (epoch_at (world, 0)->number, ==, 1);
  publish (world, 8);
  g_assert_cmpuint (epoch_at (world, 0)->number, ==, 2);
  g_assert_cmpuint (epoch_at (world, 1)->number, ==, 2);
  g_assert_false (said (world, 1, "SAVED"));
  serve (world, 0);
  serve (world, 1);
  publish (world, 9);
  g_assert_true (said (world, 1, "SAVED"));
  g_assert_cmpuint (epoch_at (world, 0)->ended, ==, 2);
}

/* There is one epoch at each interval, and no node scans on its own. */
static void
test_each_interval_has_one (void)
{
  g_autoptr (World) world = world_of (2);
  guint64 scans = node_at (world, 1)->saves.scans;

  for (guint64 i = 1; i <= 3; i++)
    {
      pass (world, 2 * G_USEC_PER_SEC);
      g_assert_cmpuint (epoch_at (world, 0)->begun, ==, i);
      g_assert_cmpuint (node_at (world, 1)->saves.scans, ==, scans + i);
      serve (world, 0);
      serve (world, 1);
      publish (world, 7 + i);
      g_assert_cmpuint (epoch_at (world, 0)->ended, ==, i);
    }
  g_assert_false (said (world, 0, "SAVED")); /* no command has asked */
}

/* T3-4: a node that joins before START takes its checkpoint; one that joins later is not in that
 * epoch. */
static void
test_a_newcomer_is_in_the_next_one (void)
{
  g_autoptr (World) world = world_of (2);

  add_peer (world, FALSE);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  g_assert_cmpint (epoch_at (world, 2)->phase, ==, EPOCH_OPEN); /* sent before, received before */
  add_peer (world, FALSE);
  guint64 scans = node_at (world, 3)->saves.scans;
  for (guint i = 0; i < 3; i++)
    serve (world, i);
  g_assert_true (said (world, 0, "PUBLISH")); /* sent within, received within */
  g_assert_cmpuint (node_at (world, 3)->saves.scans, ==, scans);
  publish (world, 8);
  g_assert_cmpuint (epoch_colours (node_at (world, 3)), ==, epoch_colours (node_at (world, 0)));
  forget_log (world);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  for (guint i = 0; i < 3; i++)
    serve (world, i);
  g_assert_false (said (world, 0, "PUBLISH"));
  serve (world, 3);
  g_assert_true (said (world, 0, "PUBLISH"));
}

/* T3-5: a node that leaves after its checkpoint stays until the epoch is over. */
static void
test_who_leaves_waits_for_the_end (void)
{
  g_autoptr (World) world = world_of (3);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  serve (world, 2);
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_LEAVE, .node = node_at (world, 2)->self });
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  g_assert_cmpint (node_at (world, 2)->leave.phase, >=, LEAVE_BEGUN);
  g_assert_cmpint (node_at (world, 2)->phase, ==, NODE_RUNS);
  serve (world, 0);
  serve (world, 1);
  publish (world, 8);
  g_assert_cmpint (node_at (world, 2)->phase, ==, NODE_LEFT);
}

/* T3-5: the epoch does not wait for a node that leaves before its checkpoint. The other nodes take
 * their checkpoints again, since they may have what it handed over. */
static void
test_who_leaves_before_is_not_in_it (void)
{
  g_autoptr (World) world = world_of (3);

  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_LEAVE, .node = node_at (world, 2)->self });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  guint64 scans = node_at (world, 1)->saves.scans;
  serve (world, 0);
  serve (world, 1);
  g_assert_false (said (world, 0, "PUBLISH"));
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  g_assert_cmpint (node_at (world, 2)->phase, ==, NODE_LEFT);
  g_assert_cmpuint (epoch_at (world, 1)->number, ==, 1);
  g_assert_cmpuint (node_at (world, 1)->saves.scans, ==, scans + 1);
  serve (world, 0);
  serve (world, 1);
  g_assert_true (said (world, 0, "PUBLISH"));
}

/* Another coordinator: withheld messages are sent, and a START with the same number counts. */
static void
test_another_coordinator_begins_anew (void)
{
  g_autoptr (World) world = world_in_transit ();

  finish_before_start (world);
  world->peer[1].late = FALSE;
  pump (world);
  g_assert_cmpuint (node_at (world, 1)->buddy.acks.length, ==, 1);
  world->peer[2].late = world->peer[3].late = FALSE;
  pump (world);
  die (world, 0);
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_cmpuint (node_at (world, 1)->buddy.acks.length, ==, 0);
  g_assert_cmpint (epoch_at (world, 1)->phase, ==, EPOCH_CLOSED);
  g_assert_true (node_at (world, 1)->saves.phase != SAVES_NOT);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  guint64 scans = node_at (world, 2)->saves.scans;
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  g_assert_cmpuint (node_at (world, 2)->saves.scans, ==, scans + 1);
  g_assert_cmpint (epoch_at (world, 2)->phase, ==, EPOCH_OPEN);
}

/* The next epoch begins after the interval, or when the publication of the last one is worth its
 * cost again. */
static void
test_a_costly_epoch_is_followed_by_a_rest (void)
{
  const guint64 interval_us = 100 * 1000; /* the shortest interval in this world */

  for (guint64 rest_us = 0; rest_us <= 30 * G_USEC_PER_SEC; rest_us += 15 * G_USEC_PER_SEC)
    {
      g_autoptr (World) world = world_of (1);

      begin_epoch (world);
      serve (world, 0);
      guint64 now_us = world->now_us, scans = node_at (world, 0)->saves.scans;
      tell (world, 0,
            &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED,
                          .number = 8,
                          .saved = world->peer[0].ticket,
                          .rest_us = rest_us,
                          .final = TRUE });
      while (node_at (world, 0)->saves.scans == scans)
        pass (world, interval_us / 2);
      g_assert_cmpuint (world->now_us - now_us, >=, rest_us);
      g_assert_cmpuint (world->now_us - now_us, <=,
                        MAX (rest_us, 5 * G_USEC_PER_SEC) + interval_us);
    }
}

/* An epoch that nobody asked for is published if that is worth its cost. If it is not, the epoch
 * ends all the same; one that is asked for meanwhile begins, and is published, at once. */
static void
test_one_that_is_not_worth_it_ends (void)
{
  const guint64 rest_us = 15 * G_USEC_PER_SEC;
  g_autoptr (World) world = world_of (2);
  guint64 scans = node_at (world, 0)->saves.scans;

  while (node_at (world, 0)->saves.scans == scans)
    pass (world, G_USEC_PER_SEC);
  g_assert_cmpint (epoch_at (world, 1)->phase, ==, EPOCH_OPEN);
  serve (world, 1);
  g_assert_false (said (world, 0, "PUBLISH_IF_WORTH"));
  serve (world, 0);
  g_assert_true (said (world, 0, "PUBLISH_IF_WORTH"));
  g_assert_false (said (world, 0, "PUBLISH"));
  scans = node_at (world, 0)->saves.scans;
  tell (
      world, 0,
      &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 7, .rest_us = rest_us, .final = TRUE });
  for (guint i = 0; i < 2; i++)
    g_assert_cmpint (epoch_at (world, i)->phase, ==, EPOCH_CLOSED);
  pass (world, rest_us / 2);
  g_assert_cmpuint (node_at (world, 0)->saves.scans, ==, scans);
  g_assert_false (said (world, 0, "SAVED"));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  serve (world, 0);
  serve (world, 1);
  g_assert_true (said (world, 0, "PUBLISH"));
  publish (world, 8);
  g_assert_true (said (world, 0, "SAVED"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/epoch/the-table-is-the-papers", test_the_table_is_the_papers);
  g_test_add_func ("/epoch/start-takes-a-checkpoint", test_start_takes_a_checkpoint);
  g_test_add_func ("/epoch/an-orphan-message-does-so-too", test_an_orphan_message_does_so_too);
  g_test_add_func ("/epoch/in-transit-is-kept-to-the-end", test_in_transit_is_kept_to_the_end);
  g_test_add_func ("/epoch/the-end-waits-for-what-is-in-transit",
                   test_the_end_waits_for_what_is_in_transit);
  g_test_add_func ("/epoch/nothing-of-the-dead-is-in-transit",
                   test_nothing_of_the_dead_is_in_transit);
  g_test_add_func ("/epoch/who-leaves-is-acknowledged", test_who_leaves_is_acknowledged);
  g_test_add_func ("/epoch/one-is-open-at-a-time", test_one_is_open_at_a_time);
  g_test_add_func ("/epoch/each-interval-has-one", test_each_interval_has_one);
  g_test_add_func ("/epoch/a-newcomer-is-in-the-next-one", test_a_newcomer_is_in_the_next_one);
  g_test_add_func ("/epoch/who-leaves-waits-for-the-end", test_who_leaves_waits_for_the_end);
  g_test_add_func ("/epoch/who-leaves-before-is-not-in-it", test_who_leaves_before_is_not_in_it);
  g_test_add_func ("/epoch/another-coordinator-begins-anew", test_another_coordinator_begins_anew);
  g_test_add_func ("/epoch/a-costly-epoch-is-followed-by-a-rest",
                   test_a_costly_epoch_is_followed_by_a_rest);
  g_test_add_func ("/epoch/one-that-is-not-worth-it-ends", test_one_that_is_not_worth_it_ends);
  return g_test_run ();
}
