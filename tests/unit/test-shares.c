/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared bytes that a job waits for: which nodes are asked, in which order, and until when. */
#include "node-alone.h"

#include <string.h>

#define LOAN 50
#define LENGTH 4

static GString *asked;       /* the nodes that n1 asks, in order, each as a digit */
static guint answered_no;    /* how often n1 says that it has no such bytes */
static gboolean has_answers; /* n1 has sent bytes */

static void
watch (World *world, guint who, const NodeEffect *effect)
{
  g_auto (Message) message = { 0 };

  if (who != 1 || !read_sent (effect, &message))
    return;
  const Wire *wire = &g_array_index (world->wires, Wire, effect->link - 1);
  if (message.kind == MESSAGE_FETCH)
    g_string_append_printf (asked, "%u", wire->end[0] == 1 ? wire->end[1] : wire->end[0]);
  if (message.kind == MESSAGE_BYTES && message.flag)
    answered_no++;
  if (message.kind == MESSAGE_BYTES && !message.flag)
    has_answers = TRUE;
}

/* n1 runs a job that n2 has lent it; n0 is the eldest. */
static World *
world_with_job (guint64 *held)
{
  World *world = world_new (4, FALSE);

  pass (world, G_USEC_PER_SEC);
  start (world);
  (void)offer (world, 2, "/2");
  for (guint i = 0; i < 100 && !said (world, 1, "RUN /2"); i++)
    hunger (world, 1);
  *held = held_of (world, 1, "/2");
  asked = g_string_new (NULL);
  answered_no = 0;
  has_answers = FALSE;
  world->watch = watch;
  return world;
}

static void
done (World *world)
{
  world_free (world);
  g_string_free (asked, TRUE);
}

static Digest
what (void)
{
  return digest_of_string ("byte");
}

static void
want (World *world, guint64 held, guint64 length)
{
  tell (world, 1,
        &(NodeEvent){ .kind = NODE_EVENT_WANT,
                      .loan = LOAN,
                      .held = held,
                      .digest = what (),
                      .number = length });
}

static void
give (World *world, guint who)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static ("byte", LENGTH);
  Digest digest = what ();

  shared_put (world->peer[who].node->shares.store, &digest, bytes);
}

static guint
count_wishes (World *world)
{
  return world->peer[1].node->shares.wishes->len;
}

static void
test_lenders_first (void)
{
  guint64 held;
  World *world = world_with_job (&held);

  want (world, held, LENGTH);
  g_assert_true (g_str_has_prefix (asked->str, "203"));
  done (world);
}

/* No node has the bytes: all are asked again, less and less often, until one has them. */
static void
test_asks_again (void)
{
  guint64 held;
  World *world = world_with_job (&held);

  want (world, held, LENGTH);
  pass (world, 10 * SHARES_PAUSE_MAX_US);
  g_assert_cmpuint (asked->len, >=, 3 * 10);
  g_assert_cmpuint (asked->len, <=, 3 * 20);
  g_assert_false (said (world, 1, "PUT 50"));
  g_assert_cmpuint (count_wishes (world), ==, 1);
  give (world, 3);
  pass (world, SHARES_PAUSE_MAX_US);
  g_assert_true (said (world, 1, "PUT 50"));
  g_assert_cmpuint (count_wishes (world), ==, 0);
  done (world);
}

/* A node that does not answer has the time in which so many bytes can arrive; a node without the
 * bytes answers that. */
static void
test_patience (void)
{
  const guint64 length = 40 * G_USEC_PER_SEC * SHARES_BYTES_PER_US;
  guint64 held;
  World *world = world_with_job (&held);

  world->peer[2].deaf = TRUE;
  want (world, held, length);
  deliver (world, link_between (world, 1, 3), 1,
           &(Message){ .kind = MESSAGE_BYTES, .digest = what (), .flag = TRUE });
  g_assert_cmpstr (asked->str, ==, "2");
  pass (world, 20 * G_USEC_PER_SEC); /* the session may send the request again */
  g_assert_cmpuint (strspn (asked->str, "2"), ==, asked->len);
  pass (world, 20 * G_USEC_PER_SEC + SHARES_PATIENCE_US);
  g_assert_cmpuint (strspn (asked->str, "2"), <, asked->len);
  done (world);
}

/* When the node that was asked dies, n1 does not wait for it. */
static void
test_death (void)
{
  guint64 held;
  World *world = world_with_job (&held);

  give (world, 3);
  world->peer[2].deaf = TRUE;
  want (world, held, G_MAXUINT32);
  g_assert_cmpstr (asked->str, ==, "2");
  die (world, 2);
  pass (world, 100 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "PUT 50"));
  done (world);
}

static void
test_abort (void)
{
  guint64 held;
  World *world = world_with_job (&held);

  want (world, held, LENGTH);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = LOAN });
  g_assert_cmpuint (count_wishes (world), ==, 0);
  g_string_truncate (asked, 0);
  give (world, 3);
  pass (world, 5 * SHARES_PAUSE_MAX_US);
  g_assert_cmpuint (asked->len, ==, 0);
  g_assert_false (said (world, 1, "PUT 50"));
  done (world);
}

static void
ask (World *world, guint who)
{
  deliver (world, link_between (world, 1, who), 1,
           &(Message){ .kind = MESSAGE_FETCH, .digest = what () });
}

/* n1 waits for the same bytes itself, or neither has nor knows them: it answers that at once. */
static void
test_no_circle (void)
{
  guint64 held;
  World *world = world_with_job (&held);

  ask (world, 3);
  g_assert_cmpuint (answered_no, ==, 1);
  world->peer[2].deaf = TRUE;
  want (world, held, LENGTH);
  Digest digest = what ();
  SatinShared shared = shared_enter (world->peer[1].node->shares.store, &digest, LENGTH);
  ask (world, 3);
  shared_unref (shared);
  g_assert_cmpuint (answered_no, ==, 2);
  g_assert_cmpuint (count_wishes (world), ==, 1);
  g_assert_false (has_answers);
  give (world, 1);
  ask (world, 3);
  g_assert_true (has_answers);
  done (world);
}

/* n1 has a reference to the bytes: it asks its lenders on behalf of n3, and stops when n3 is
 * gone. */
static void
test_for_another (void)
{
  for (guint dies = 0; dies < 2; dies++)
    {
      guint64 held;
      World *world = world_with_job (&held);
      Digest digest = what ();
      SatinShared shared = shared_enter (world->peer[1].node->shares.store, &digest, LENGTH);

      if (!dies)
        give (world, 2);
      else
        world->peer[2].deaf = TRUE;
      ask (world, 3);
      g_assert_cmpstr (asked->str, ==, "2");
      g_assert_cmpuint (answered_no, ==, 0);
      g_assert_cmpint (has_answers, ==, !dies);
      g_assert_cmpuint (count_wishes (world), ==, dies);
      if (dies)
        {
          die (world, 3);
          pass (world, SHARES_PATIENCE_US / 2);
          g_assert_cmpuint (count_wishes (world), ==, 0);
        }
      shared_unref (shared);
      done (world);
    }
}

/* A node starts with exactly the set of constants that its master named, or not at all. */
static void
test_constants_are_those_that_start_named (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  pass (world, G_USEC_PER_SEC);
  Node *node = alone (world, 1), *other = node_at (world, 0);
  g_autoptr (GBytes) value = g_bytes_new_static ("byte", LENGTH);
  g_autoptr (GBytes) garbage = g_bytes_new_static ("no such set", 11);
  constants_publish (other, "const/b", value);
  constants_publish (other, "const/a", value);
  constants_publish (node, "const/old", value);
  Digest none = what (), digest = { 0 };
  g_assert_null (constants_bytes (other, &none));
  digest = other->constants.digest;
  g_autoptr (GBytes) set = constants_bytes (other, &digest);
  g_assert_nonnull (set);
  g_autoptr (GArray) asks
      = hear (world, 1, 0, &(Message){ .kind = MESSAGE_START, .digest = digest });
  g_assert_cmpuint (count_sent (world, asks, 1, 0, MESSAGE_FETCH), ==, 1);
  GBytes *const comes[] = { garbage, set };
  for (guint i = 0; i < G_N_ELEMENTS (comes); i++)
    {
      g_assert_false (constants_started (node));
      g_autoptr (GArray) effects = hear (
          world, 1, 0, &(Message){ .kind = MESSAGE_BYTES, .digest = digest, .value = comes[i] });
      g_assert_cmpuint (count_effects (effects, NODE_EFFECT_CONSTANT), ==, comes[i] == set ? 2 : 0);
      g_assert_cmpuint (count_effects (effects, NODE_EFFECT_START), ==, comes[i] == set);
    }
  g_assert_true (constants_started (node));
  g_assert_cmpuint (node->constants.all->len, ==, 2);
  g_autoptr (GBytes) passed_on = constants_bytes (node, &digest);
  g_assert_true (g_bytes_equal (passed_on, set));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/shares/lenders-are-asked-first", test_lenders_first);
  g_test_add_func ("/shares/all-are-asked-again", test_asks_again);
  g_test_add_func ("/shares/one-that-does-not-answer-has-a-time", test_patience);
  g_test_add_func ("/shares/nobody-waits-for-the-dead", test_death);
  g_test_add_func ("/shares/nothing-is-fetched-for-a-job-that-is-gone", test_abort);
  g_test_add_func ("/shares/nobody-waits-in-a-circle", test_no_circle);
  g_test_add_func ("/shares/lenders-are-asked-for-another-node", test_for_another);
  g_test_add_func ("/shares/constants-are-those-that-start-named",
                   test_constants_are_those_that_start_named);
  return g_test_run ();
}
