/* SPDX-License-Identifier: BSD-3-Clause */
/* To which thieves a victim owes work, when it tells them, and when it asks its engine again
 * (lend.c): rules that hold each time that a thief is told, and for each REQUEST of a run. */
#include "node-world.h"

#include "satin/protocol/core.h"

#include <string.h>

#define MS 1000u

static struct
{
  guint64 at_us[64];
  NodeId to[64];
  guint n; /* thieves that n0 told that it has work */
  guint64 asked_us[512];
  guint32 count;
  guint n_asked; /* REQUESTs of n0 */
  guint n_none;
} seen;

static void
watch (World *world, guint who, const NodeEffect *effect)
{
  if (who != 0)
    return;
  if (effect->kind == NODE_EFFECT_REQUEST)
    {
      seen.asked_us[MIN (seen.n_asked, G_N_ELEMENTS (seen.asked_us) - 1)] = world->now_us;
      seen.n_asked++;
      seen.count = effect->count;
    }
  guint64 request = 0;
  int jobs = jobs_sent (effect, &request);
  seen.n_none += jobs == 0 && request > 0;
  if (jobs != 0 || request > 0 || seen.n == G_N_ELEMENTS (seen.at_us))
    return;
  const Wire *wire = &g_array_index (world->wires, Wire, effect->link - 1);
  guint to = wire->end[0] == 0 ? wire->end[1] : wire->end[0];
  seen.to[seen.n] = node_self (world->peer[to].node);
  seen.at_us[seen.n++] = world->now_us;
}

/* n0 runs the root; the others have asked for nothing. */
static World *
begun (guint n)
{
  World *world = world_new (n, FALSE);
  memset (&seen, 0, sizeof seen);
  world->watch = watch;
  start (world);
  return world;
}

static Lend *
lend_of (World *world)
{
  return &world->peer[0].node->lend;
}

static gboolean
owes (World *world, guint who)
{
  NodeId id = node_self (world->peer[who].node);
  return node_id_set_has (lend_of (world)->owed, &id);
}

static void
share (World *world)
{
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SHARED });
}

static void
finish_root (World *world)
{
  finish (world, 0, "");
}

/* When the root begins, all other nodes are owed work, except those that leave. */
static void
test_who_is_owed (void)
{
  g_autoptr (World) world = world_new (5, FALSE);
  Node *node = world->peer[0].node;
  NodeId leaver = node_self (world->peer[2].node);
  memset (&seen, 0, sizeof seen);
  world->watch = watch;
  roster_find (node, &leaver)->leaving = TRUE;
  start (world);
  g_assert_cmpuint (lend_of (world)->owed->len, ==, 3);
  g_assert_true (owes (world, 1) && !owes (world, 2) && owes (world, 3) && owes (world, 4));
  g_assert_cmpuint (seen.count, ==, 3);
}

/* The engine shares jobs all the time, and no thief takes one: each thief is told once, the one
 * that waits longest first. The pauses double up to the longest. */
static void
test_pauses_double (void)
{
  const guint n = 12;
  g_autoptr (World) world = begun (n + 1);
  guint64 pause_us = LEND_TELL_MIN_US;
  for (guint i = 0; i < 40000; i++)
    {
      share (world);
      pass (world, 100);
    }
  g_assert_cmpuint (seen.n, ==, n);
  for (guint i = 0; i < n; i++)
    {
      NodeId id = node_self (world->peer[i + 1].node);
      g_assert_true (node_id_equal (&seen.to[i], &id));
      if (i == 0)
        continue;
      g_assert_cmpuint (seen.at_us[i] - seen.at_us[i - 1], >=, pause_us);
      g_assert_cmpuint (seen.at_us[i] - seen.at_us[i - 1], <=, pause_us + 200);
      pause_us = MIN (2 * pause_us, LEND_TELL_MAX_US);
    }
  g_assert_cmpuint (pause_us, ==, LEND_TELL_MAX_US);
}

/* Jobs that are shared before the next thief may be told are asked for again as soon as it may. */
static void
test_a_late_word_is_not_lost (void)
{
  g_autoptr (World) world = begun (6);
  Lend *lend = lend_of (world);
  pass (world, 10 * G_USEC_PER_SEC); /* by now the looks are rare */
  for (guint i = 0; i < 3; i++)
    {
      while (world->now_us < lend->tell_us)
        pass (world, 100);
      share (world);
      g_assert_cmpuint (seen.n, ==, i + 1);
      share (world);
      g_assert_cmpuint (seen.n, ==, i + 1);
      guint n_asked = seen.n_asked;
      pass (world, lend->tell_us - world->now_us);
      g_assert_cmpuint (seen.n_asked, ==, n_asked + 1);
      lend->tell_us = world->now_us;
    }
}

/* The engine is asked again at doubling intervals while a job runs here and nothing halts. */
static void
test_looks_double (void)
{
  g_autoptr (World) world = begun (4);
  guint64 pause_us = LEND_LOOK_MIN_US;
  guint first = seen.n_asked;
  pass (world, 3 * G_USEC_PER_SEC);
  guint n = seen.n_asked;
  g_assert_cmpuint (n, >, first + 10);
  g_assert_cmpuint (n, <, first + 24);
  for (guint i = first; i < n; i++)
    {
      g_assert_cmpuint (seen.asked_us[i] - seen.asked_us[i - 1], >=, pause_us);
      pause_us = MIN (2 * pause_us, LEND_LOOK_MAX_US);
    }
  g_assert_cmpuint (pause_us, ==, LEND_LOOK_MAX_US);
  g_assert_cmpuint (seen.count, ==, 3);
  finish_root (world);
  n = seen.n_asked;
  pass (world, 3 * G_USEC_PER_SEC);
  g_assert_cmpuint (seen.n_asked, ==, n);
}

/* A thief that leaves or asks again is owed nothing. If it is refused, it waits again, behind the
 * others; the pauses start again with the first thief. */
static void
test_asks_anew (void)
{
  g_autoptr (World) world = begun (4);
  NodeId first = node_self (world->peer[1].node);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
  pass (world, 50 * MS);
  g_assert_cmpuint (seen.n_none, >, 0);
  g_assert_cmpuint (lend_of (world)->owed->len, ==, 3);
  g_assert_true (node_id_equal (&g_array_index (lend_of (world)->owed, NodeId, 2), &first));
  g_assert_cmpuint (seen.count, ==, 3);
  die (world, 1);
  pass (world, 3 * G_USEC_PER_SEC);
  g_assert_cmpuint (members_of (world, 0), ==, 3);
  g_assert_cmpuint (lend_of (world)->owed->len, ==, 2);
  share (world);
  pass (world, LEND_TELL_MIN_US);
  share (world);
  g_assert_cmpuint (lend_of (world)->owed->len, ==, 0);
  g_assert_cmpuint (seen.n, ==, 2);
  pass (world, G_USEC_PER_SEC);
  guint n = seen.n_asked;
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
  pass (world, LEND_LOOK_MIN_US + 100);
  g_assert_cmpuint (seen.n_asked, >=, n + 2); /* for the refusal, and a look */
}

/* After a job is taken the other thieves are told of more at once, and the pauses start again. */
static void
test_who_takes_ends_the_pauses (void)
{
  g_autoptr (World) world = begun (8);
  for (guint i = 0; i < 4; i++)
    {
      share (world);
      pass (world, 100 * MS);
    }
  g_assert_cmpuint (lend_of (world)->tell_pause_us, >, 4 * LEND_TELL_MIN_US);
  (void)offer (world, 0, "/1");
  guint n = seen.n;
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
  pass (world, 1);
  g_assert_true (said (world, 1, "RUN /1"));
  g_assert_cmpuint (seen.n, ==, n + 1);
  g_assert_cmpuint (lend_of (world)->tell_pause_us, ==, 2 * LEND_TELL_MIN_US);
}

/* The engine is told of all waiting thieves: those that were refused, and those for which it
 * searches now. */
static void
test_all_that_wait_count (void)
{
  g_autoptr (World) world = begun (6);
  g_autoptr (GPtrArray) none = g_ptr_array_new ();
  world->peer[0].slow = TRUE;
  for (guint i = 1; i < 4; i++)
    deliver (world, link_between (world, 0, i), 0,
             &(Message){ .kind = MESSAGE_STEAL, .number = 1, .count = 1 });
  g_assert_cmpuint (lend_of (world)->owed->len, ==, 2);
  g_assert_cmpuint (lend_of (world)->asked->len, ==, 3);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_LENT, .loans = none });
  g_assert_cmpuint (lend_of (world)->owed->len, ==, 3);
  g_assert_cmpuint (seen.count, ==, 5);
}

/* A thief got less than it wanted: there is no work of which to tell the others. */
static void
test_who_gets_less_is_the_last (void)
{
  g_autoptr (World) world = begun (8);
  (void)offer (world, 0, "/1");
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 3 });
  pass (world, 1);
  g_assert_true (said (world, 1, "RUN /1"));
  g_assert_cmpuint (seen.n, ==, 0);
}

/* While the run halts no thief is told, and the engine is not asked. */
static void
test_nothing_while_all_halts (void)
{
  g_autoptr (World) world = world_new (4, TRUE);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  memset (&seen, 0, sizeof seen);
  world->watch = watch;
  start (world);
  for (guint i = 1; i < world->n; i++)
    world->peer[i].deaf = TRUE;
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND });
  g_assert_true (stop_halts (world->peer[0].node));
  guint n = seen.n_asked;
  share (world);
  g_assert_cmpuint (seen.n, ==, 0);
  g_assert_true (lend_due (world->peer[0].node) == CORE_NEVER);
  g_assert_cmpuint (seen.n_asked, ==, n);
}

/* No reply has more jobs than the limit, whatever was asked for. */
static void
test_no_more_than_the_limit (void)
{
  g_autoptr (World) world = begun (2);
  for (guint i = 0; i < STEAL_COUNT_MAX + 5; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u", i);
      (void)offer (world, 0, path);
    }
  deliver (world, link_between (world, 0, 1), 0,
           &(Message){ .kind = MESSAGE_STEAL, .number = 1, .count = G_MAXUINT32 });
  g_assert_cmpuint (stats_of (world, 0).lent, ==, STEAL_COUNT_MAX);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/owed/who-is-owed", test_who_is_owed);
  g_test_add_func ("/owed/pauses-double", test_pauses_double);
  g_test_add_func ("/owed/a-late-word-is-not-lost", test_a_late_word_is_not_lost);
  g_test_add_func ("/owed/looks-double", test_looks_double);
  g_test_add_func ("/owed/asks-anew", test_asks_anew);
  g_test_add_func ("/owed/who-takes-ends-the-pauses", test_who_takes_ends_the_pauses);
  g_test_add_func ("/owed/all-that-wait-count", test_all_that_wait_count);
  g_test_add_func ("/owed/who-gets-less-is-the-last", test_who_gets_less_is_the_last);
  g_test_add_func ("/owed/nothing-while-all-halts", test_nothing_while_all_halts);
  g_test_add_func ("/owed/no-more-than-the-limit", test_no_more_than_the_limit);
  return g_test_run ();
}
