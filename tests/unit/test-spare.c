/* SPDX-License-Identifier: BSD-3-Clause */
/* Of two links to one member one is closed, and nothing is lost by that. */
#include "node-world.h"

#include "satin/protocol/core.h"

/* Links between two that are up; the last of them. */
static guint
links_between (World *world, guint a, guint b, guint64 *last)
{
  guint n = 0;

  for (guint i = 0; i < world->wires->len; i++)
    {
      const Wire *wire = &g_array_index (world->wires, Wire, i);
      if (!wire->up || wire->end[0] + wire->end[1] != a + b
          || (wire->end[0] != a && wire->end[0] != b))
        continue;
      *last = i + 1;
      n++;
    }
  return n;
}

/* The last one says to another that `who` is gone, which is dialled then though there is a link. */
static void
accuse (World *world, guint to, guint who)
{
  guint64 link;

  g_assert_cmpuint (links_between (world, to, 2, &link), ==, 1);
  deliver (world, link, to,
           &(Message){ .kind = MESSAGE_GONE, .id = node_self (world->peer[who].node) });
}

/* The elder dials whom it has a link to that the younger made: one is enough, and what was lent
 * over the other stays lent. */
static void
test_one_link_is_enough (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  guint64 first, last;
  start (world);
  offer (world, 0, "/0");
  hunger (world, 1);
  g_assert_cmpuint (links_between (world, 0, 1, &first), ==, 1);
  forget_log (world);
  guint n_wires = world->wires->len;

  accuse (world, 0, 1);
  pass (world, 2 * NODE_HEARTBEAT_US);
  g_assert_cmpuint (world->wires->len, ==, n_wires + 1);
  g_assert_cmpuint (links_between (world, 0, 1, &last), ==, 1);
  g_assert_cmpuint (last, ==, first);
  g_assert_cmpuint (world->n_closed, ==, 1); /* by one of them */
  g_assert_false (said (world, 0, "BACK 1"));
  finish (world, 1, "/0");
  g_assert_true (said (world, 0, "PUT 1"));
}

/* Two that redial each other at the same time. */
static void
test_of_two_links_one_stays (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  guint64 last;
  start (world);
  pass (world, NODE_HEARTBEAT_US);
  guint n_wires = world->wires->len;

  cut (world, 1, 2);
  pump (world);
  g_assert_cmpuint (world->wires->len, ==, n_wires + 2);
  pass (world, 2 * NODE_HEARTBEAT_US);
  g_assert_cmpuint (links_between (world, 1, 2, &last), ==, 1);
}

/* No new link is given up for one that is half open. */
static void
test_a_dead_link_replaces_none (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  guint64 first, last;
  start (world);
  pass (world, NODE_HEARTBEAT_US);
  g_assert_cmpuint (links_between (world, 0, 1, &first), ==, 1);
  g_array_index (world->wires, Wire, first - 1).mute = TRUE;
  pass (world, NODE_HEARTBEAT_US);

  accuse (world, 0, 1);
  pass (world, NODE_HEARTBEAT_US);
  g_assert_cmpuint (links_between (world, 0, 1, &last), ==, 2);
  pass (world, 2 * NODE_SILENCE_US);
  g_assert_cmpuint (links_between (world, 0, 1, &first), ==, 1);
  g_assert_cmpuint (first, ==, last);
  g_assert_cmpuint (members_of (world, 0), ==, 3);
  g_assert_cmpuint (stats_of (world, 0).silenced + stats_of (world, 1).silenced, ==, 0);
}

/* Both ends of a link from 1 to 0 have another, and the link swallows all: what goes over it is
 * said by the test alone. */
static World *
two_links (guint64 *first)
{
  World *world = world_new (3, FALSE);
  guint64 last;
  start (world);
  pass (world, NODE_HEARTBEAT_US);
  g_assert_cmpuint (links_between (world, 0, 1, first), ==, 1);
  g_array_index (world->wires, Wire, *first - 1).mute = TRUE;
  accuse (world, 0, 1);
  pass (world, NODE_HEARTBEAT_US);
  g_assert_cmpuint (links_between (world, 0, 1, &last), ==, 2);
  forget_log (world);
  return world;
}

static void
hear_spare (World *world, guint64 link, guint to, guint round, guint64 word)
{
  deliver (world, link, to,
           &(Message){ .kind = MESSAGE_SPARE, .number = round * SPARE_WORDS + word });
  pass (world, 1000); /* it is closed when nothing of it is being heard */
}

/* The job that it is asked for goes over that link, and is swallowed. */
static void
lend_over (World *world, guint64 link, guint who)
{
  offer (world, who, "/0");
  deliver (world, link, who, &(Message){ .kind = MESSAGE_STEAL, .number = 1, .count = 1 });
}

/* The younger dials whom it has a link to, and the first is closed: a HOLDING that comes by the
 * other, and was said before the job had come, takes it for lost no more. */
static void
test_what_came_by_the_closed_one_is_not_lost (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  guint64 first, last;
  start (world);
  offer (world, 0, "/0");
  hunger (world, 1);
  g_assert_cmpuint (links_between (world, 0, 1, &first), ==, 1);

  accuse (world, 1, 0);
  pass (world, 2 * NODE_HEARTBEAT_US);
  g_assert_cmpuint (links_between (world, 0, 1, &last), ==, 1);
  g_assert_cmpuint (last, !=, first);
  forget_log (world);
  g_autoptr (GArray) none = g_array_new (FALSE, FALSE, sizeof (guint64));
  deliver (world, last, 0, &(Message){ .kind = MESSAGE_HOLDING, .numbers = none });
  g_assert_false (said (world, 0, "BACK 1"));
  finish (world, 1, "/0");
  g_assert_true (said (world, 0, "PUT 1"));
}

/* Whoever has no other link yet does not answer, so that the only one is not closed. */
static void
test_the_only_one_is_not_spare (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  guint64 first;
  start (world);
  pass (world, NODE_HEARTBEAT_US);
  g_assert_cmpuint (links_between (world, 0, 1, &first), ==, 1);

  hear_spare (world, first, 0, 1, SPARE_BEGINS);
  hear_spare (world, first, 0, 1, SPARE_ENDS);
  g_assert_cmpuint (world->n_closed, ==, 0);
}

/* It ends with the round that was answered, and what was lent over it behind the answer is looked
 * for. */
static void
test_what_is_written_behind_the_answer_may_be_lost (void)
{
  guint64 first;
  g_autoptr (World) world = two_links (&first);

  hear_spare (world, first, 0, 5, SPARE_BEGINS);
  lend_over (world, first, 0);
  hear_spare (world, first, 0, 4, SPARE_ENDS);
  g_assert_cmpuint (world->n_closed, ==, 0);
  hear_spare (world, first, 0, 5, SPARE_ENDS);
  g_assert_cmpuint (world->n_closed, ==, 1);
  g_assert_true (said (world, 0, "BACK 1"));
}

/* 1 has a younger link than the one that swallows all, over which it lends a job; `answer` is the
 * round in which it hears that all has come, 0: in any. It is looked for when that link ends. */
static void
check_lent_over_spare (gboolean behind, guint answer)
{
  g_autoptr (World) world = world_new (3, FALSE);
  guint64 first, last;
  start (world);
  pass (world, NODE_HEARTBEAT_US);
  g_assert_cmpuint (links_between (world, 0, 1, &first), ==, 1);
  g_array_index (world->wires, Wire, first - 1).mute = TRUE;
  if (!behind)
    lend_over (world, first, 1);
  accuse (world, 1, 0);
  g_assert_cmpuint (links_between (world, 0, 1, &last), ==, 2);
  if (behind)
    lend_over (world, first, 1);

  for (guint round = MAX (answer, 1); round <= MAX (answer, 4); round++)
    hear_spare (world, first, 1, round, SPARE_ANSWERS);
  forget_log (world);
  break_link (world, first);
  pass (world, NODE_HEARTBEAT_US);
  g_assert_true (said (world, 1, "BACK 1"));
}

/* An answer to the word that begins says nothing of what was written behind that. */
static void
test_what_is_written_behind_the_first_word_may_be_lost (void)
{
  check_lent_over_spare (TRUE, 0);
}

/* … and one of another round says nothing at all. */
static void
test_the_answer_of_another_round_proves_nothing (void)
{
  check_lent_over_spare (FALSE, 9);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/spare/" name, function)
  TEST ("one-link-is-enough", test_one_link_is_enough);
  TEST ("of-two-links-one-stays", test_of_two_links_one_stays);
  TEST ("a-dead-link-replaces-none", test_a_dead_link_replaces_none);
  TEST ("what-came-by-the-closed-one-is-not-lost", test_what_came_by_the_closed_one_is_not_lost);
  TEST ("the-only-one-is-not-spare", test_the_only_one_is_not_spare);
  TEST ("what-is-written-behind-the-answer-may-be-lost",
        test_what_is_written_behind_the_answer_may_be_lost);
  TEST ("what-is-written-behind-the-first-word-may-be-lost",
        test_what_is_written_behind_the_first_word_may_be_lost);
  TEST ("the-answer-of-another-round-proves-nothing",
        test_the_answer_of_another_round_proves_nothing);
  return g_test_run ();
}
