/* SPDX-License-Identifier: BSD-3-Clause */
/* The reply to a request for several jobs: the first job is sent ahead, and the request stays open
 * until the last one is there. */
#include "node-alone.h"

static void
be_hungry (World *world, guint who, guint count)
{
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = count });
}

/* n1 wants three jobs; n0 has `there` jobs. */
static World *
three_wanted (guint there)
{
  static const char *const paths[] = { "/0", "/1", "/2", "/3" };
  World *world = world_new (2, FALSE);

  start (world);
  for (guint i = 0; i < there; i++)
    (void)offer (world, 0, paths[i]);
  be_hungry (world, 1, 3);
  pass (world, 100000);
  return world;
}

static void
test_the_first_job_goes_ahead (void)
{
  g_autoptr (World) world = three_wanted (4);

  g_assert_true (said (world, 1, "RUN /0"));
  g_assert_true (said (world, 1, "RUN /1"));
  g_assert_true (said (world, 1, "RUN /2"));
  g_assert_false (said (world, 1, "RUN /3"));
  g_assert_cmpuint (world->peer[1].steals, ==, 1);
  g_assert_cmpuint (world->peer[0].replies, ==, 2);
  g_assert_cmpuint (stats_of (world, 0).lent, ==, 3);
}

static void
test_one_job_that_was_asked_for_comes_alone (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  start (world);
  (void)offer (world, 0, "/0");
  (void)offer (world, 0, "/1");
  be_hungry (world, 1, 1);
  g_assert_true (said (world, 1, "RUN /0"));
  g_assert_false (said (world, 1, "RUN /1"));
  g_assert_cmpuint (world->peer[0].replies, ==, 1);
}

/* A reply may end after its first job: two seats are still idle and ask again. */
static void
test_a_reply_may_end_after_its_first_job (void)
{
  g_autoptr (World) world = three_wanted (1);

  g_assert_true (said (world, 1, "RUN /0"));
  g_assert_cmpuint (world->peer[0].replies, ==, 1);
  g_assert_cmpuint (world->peer[1].steals, >, 1);
  g_assert_cmpuint (stats_of (world, 1).steal_age_us, ==, 0);
}

/* A member that takes nothing in gets no more jobs, whose arguments would fill the lender's memory.
 * It is told later, as one for which there is no job. */
static void
test_who_takes_nothing_in_gets_no_job (void)
{
  for (guint i = 0; i < 2; i++)
    {
      gboolean full = i > 0;
      gsize size = full ? SESSION_ROOM_MAX : 1;
      g_autoptr (World) world = world_new (2, FALSE);
      g_autoptr (GBytes) bytes = g_bytes_new_take (g_malloc0 (size), size);
      NodeId thief = id_of (world, 1);

      start (world);
      (void)member_send (alone (world, 0), &thief,
                         &(Message){ .kind = MESSAGE_BYTES, .value = bytes });
      g_autoptr (GArray) effects
          = hear (world, 0, 1, &(Message){ .kind = MESSAGE_STEAL, .number = 1, .count = 1 });

      g_assert_cmpuint (count_effects (effects, NODE_EFFECT_LEND), ==, full ? 0 : 1);
      g_assert_cmpuint (count_effects (effects, NODE_EFFECT_REQUEST), ==, full ? 1 : 0);
    }
}

/* The world's only link that is up. */
static guint64
the_link (World *world)
{
  guint64 found = 0;

  for (guint i = 0; i < world->wires->len; i++)
    if (g_array_index (world->wires, Wire, i).up)
      {
        g_assert_cmpuint (found, ==, 0);
        found = i + 1;
      }
  return found;
}

/* n0 is stopped; the test delivers the first part of its reply to this request. */
static void
deliver_first (World *world, guint64 request, const char *path)
{
  Digest digest = digest_of_string (path);
  g_autoptr (GPtrArray) loans = g_ptr_array_new_with_free_func ((GDestroyNotify)loan_free);

  g_ptr_array_add (loans, loan_new (77, path, 1, &digest, 0.5, NULL));
  deliver (world, the_link (world), 1,
           &(Message){ .kind = MESSAGE_JOBS, .number = request, .flag = TRUE, .loans = loans });
}

static World *
half_replied (void)
{
  World *world = world_new (2, FALSE);

  start (world);
  world->peer[0].deaf = TRUE;
  be_hungry (world, 1, 3);
  g_assert_cmpuint (world->peer[1].steals, ==, 1);
  deliver_first (world, 1, "/0");
  g_assert_true (said (world, 1, "RUN /0"));
  return world;
}

static void
test_a_request_stands_until_its_last_job (void)
{
  g_autoptr (World) world = half_replied ();

  pass (world, 1000000);
  be_hungry (world, 1, 3); /* that one is done */
  g_assert_cmpuint (world->peer[1].steals, ==, 1);
  g_assert_cmpuint (stats_of (world, 1).steal_age_us, >, 0);
  deliver (world, the_link (world), 1, &(Message){ .kind = MESSAGE_JOBS, .number = 1 });
  g_assert_cmpuint (world->peer[1].steals, ==,
                    2); /* a node that gave jobs may be asked again at once */
}

static void
test_the_rest_may_go_with_the_link (void)
{
  g_autoptr (World) world = half_replied ();

  world->peer[0].deaf = FALSE;
  (void)offer (world, 0, "/5");
  break_link (world, the_link (world));
  be_hungry (world, 1, 3);
  pass (world, 3000000);
  g_assert_true (said (world, 1, "RUN /5"));
}

/* A node that has refused is not asked again: it tells the thief when it has work. */
static void
test_who_has_refused_is_not_asked_again (void)
{
  g_autoptr (World) world = world_new (4, FALSE);

  start (world);
  be_hungry (world, 3, 1);
  g_assert_cmpuint (world->peer[3].steals, ==, 3);
  pass (world, 100000);
  guint before = world->peer[3].steals;
  (void)offer (world, 0, "/0");
  pass (world, 2 * LEND_TELL_MAX_US);
  g_assert_true (said (world, 3, "RUN /0"));
  g_assert_cmpuint (world->peer[3].steals, >, before);
  before = world->peer[3].steals;
  finish (world, 3, "/0");
  be_hungry (world, 3, 1);
  g_assert_cmpuint (world->peer[3].steals, ==, before + 1); /* n0, which gave */
}

/* A thief that asks before the root has started is owed work, until it asks for none. */
static void
test_a_thief_that_comes_early_is_owed (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  deliver (world, the_link (world), 0,
           &(Message){ .kind = MESSAGE_STEAL, .number = 1, .count = 1 });
  g_assert_cmpuint (world->peer[0].node->lend.owed->len, ==, 1);
  start (world);
  deliver (world, the_link (world), 0,
           &(Message){ .kind = MESSAGE_STEAL, .number = 2, .count = 0 });
  g_assert_cmpuint (world->peer[0].node->lend.owed->len, ==, 0); /* that wants nothing */
}

/* The engine searches for long, and the thief is gone meanwhile: the job stays where it was. */
static void
test_what_nobody_takes_comes_back (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  Digest digest = digest_of_string ("/3");
  g_autoptr (GPtrArray) loans = g_ptr_array_new_with_free_func ((GDestroyNotify)loan_free);

  start (world);
  world->peer[0].slow = TRUE;
  hunger (world, 1);
  g_assert_cmpuint (world->peer[1].steals, >, 0);
  die (world, 1);
  pass (world, G_USEC_PER_SEC);
  g_assert_cmpuint (members_of (world, 0), ==, 1);
  g_ptr_array_add (loans, loan_new (5, "/3", 1, &digest, 0.5, NULL));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_LENT, .loans = loans });
  g_assert_true (said (world, 0, "BACK 5"));
}

/* n0 lends /0 to n1, which does not begin it. */
static World *
not_begun (void)
{
  World *world = world_new (4, FALSE);

  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);
  g_assert_true (said (world, 1, "RUN /0"));
  has_not_begun (world, 1, "/0");
  return world;
}

/* A job that has not begun goes back, and the thief gets it from its lender: a loan has two
 * ends. */
static void
test_what_has_not_begun_goes_back (void)
{
  g_autoptr (World) world = not_begun ();

  hunger (world, 2);
  g_assert_false (said (world, 2, "RUN /0"));
  g_assert_true (said (world, 0, "BACK 1"));
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
  g_assert_cmpuint (stats_of (world, 0).lent + stats_of (world, 1).lent, ==, 0);
  (void)offer (world, 0, "/0");
  hunger (world, 2);
  g_assert_true (said (world, 2, "RUN /0"));
  g_assert_cmpuint (stats_of (world, 0).lent, ==, 1);
}

/* A link of this one. */
static guint64
link_with (World *world, guint who)
{
  for (guint i = 0; i < world->wires->len; i++)
    {
      const Wire *wire = &g_array_index (world->wires, Wire, i);
      if (wire->up && (wire->end[0] == who || wire->end[1] == who))
        return i + 1;
    }
  g_assert_not_reached ();
}

/* All nodes have refused the thief, so it pauses. It stops pausing when it learns which node has
 * work. */
static void
test_a_refusal_may_say_who_has_it (void)
{
  g_autoptr (World) world = world_new (4, FALSE);
  NodeId first = node_self (world->peer[0].node);

  start (world);
  tell (world, 3, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
  pass (world, 10 * G_USEC_PER_SEC);
  (void)offer (world, 0, "/0");
  deliver (world, link_with (world, 3), 3, &(Message){ .kind = MESSAGE_JOBS, .id = first });
  g_assert_true (said (world, 3, "RUN /0"));
}

/* Otherwise the job would be in no engine and in no slot. */
static void
test_it_goes_back_if_the_thief_is_gone_too (void)
{
  g_autoptr (World) world = not_begun ();

  world->peer[1].slow = TRUE;
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
  pass (world, 2000000);
  die (world, 2);
  pass (world, 2000000);
  world->peer[1].slow = FALSE;
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LENT, .loans = world->peer[1].jobs });
  g_assert_true (said (world, 0, "BACK 1"));
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
}

/* An orphan that has not begun is worth nothing: it is not offered any more. */
static void
test_an_orphan_that_has_not_begun_is_dropped (void)
{
  g_autoptr (World) world = world_new (4, FALSE);

  start (world);
  (void)offer (world, 1, "/0");
  hunger (world, 2);
  has_not_begun (world, 2, "/0");
  die (world, 1);
  pass (world, 2000000);
  g_assert_true (said (world, 0, "KNOWN /0"));
  hunger (world, 3);
  g_assert_true (said (world, 0, "FORGET /0"));
  g_assert_cmpuint (stats_of (world, 2).held, ==, 0);
}

/* Each request is answered, also if there is no job for it: before the root has started, and when
 * the thief withdraws it. */
static void
test_each_request_is_answered (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  const Lend *lend = &world->peer[0].node->lend;

  for (guint started = 0; started < 2; started++)
    {
      for (guint count = 0; count < 2; count++)
        {
          g_autoptr (GArray) effects = hear (
              world, 0, 1, &(Message){ .kind = MESSAGE_STEAL, .number = 1, .count = count });
          guint answers = count_refusals (world, effects, 0, 1);
          g_assert_cmpuint (answers, ==, !started || count == 0);
          g_assert_cmpuint (lend->owed->len, ==, !started && count > 0);
          g_assert_cmpuint (count_effects (effects, NODE_EFFECT_LEND), ==, started && count > 0);
        }
      start (world);
    }
}

/* The first waiting thief sets the time of the next look; later ones do not change it. */
static void
test_the_look_is_for_the_first (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  const Lend *lend = &world->peer[0].node->lend;
  const Message steal = { .kind = MESSAGE_STEAL, .number = 1, .count = 1 };

  hear_only (world, 0, 1, &steal);
  guint64 look_us = lend->look_us;
  g_assert_cmpuint (look_us, ==, world->now_us + LEND_LOOK_MIN_US);
  world->now_us += LEND_LOOK_MIN_US / 2;
  hear_only (world, 0, 2, &steal);
  g_assert_cmpuint (lend->owed->len, ==, 2);
  g_assert_cmpuint (lend->look_us, ==, look_us);
}

/* Thieves are told one by one, at longer and longer intervals; a theft makes that fast again. */
static void
test_they_are_told_one_by_one (void)
{
  g_autoptr (World) world = world_new (4, FALSE);
  Node *node = alone (world, 0);
  Lend *lend = &node->lend;

  start (world);
  (void)alone (world, 0);
  lend_expect (node);
  g_assert_cmpuint (lend->owed->len, ==, 3);
  lend->tell_pause_us = LEND_TELL_MIN_US;
  lend_on_shared (node);
  g_assert_cmpuint (lend->owed->len, ==, 2);
  g_assert_cmpuint (lend->tell_us, ==, node->now_us + LEND_TELL_MIN_US);
  g_assert_cmpuint (lend->tell_pause_us, ==, 2 * LEND_TELL_MIN_US);
  lend_on_shared (node); /* too soon */
  g_assert_cmpuint (lend->owed->len, ==, 2);
  g_assert_cmpuint (lend->look_us, <=, lend->tell_us);
  (void)offer (world, 0, "/0");
  hear_only (world, 0, 3, &(Message){ .kind = MESSAGE_STEAL, .number = 1, .count = 2 });
  lend->tell_pause_us = LEND_TELL_MAX_US;
  g_autoptr (GPtrArray) none = g_ptr_array_new ();
  NodeEvent lent = { .kind = NODE_EVENT_LENT,
                     .node = node_self (world->peer[3].node),
                     .loans = world->peer[0].jobs };
  g_array_unref (step_alone (world, 0, &lent));
  lent.loans = none; /* the thief wanted more than there is */
  g_array_unref (step_alone (world, 0, &lent));
  g_assert_cmpuint (lend->tell_pause_us, ==, LEND_TELL_MIN_US);
  g_assert_cmpuint (lend->owed->len, ==, 1);
  (void)alone (world, 0);
  lend_on_shared (node);
  g_assert_cmpuint (lend->owed->len, ==, 0);
}

/* n0 has refused, so n1 is asked, which is stopped. Its answer comes later and counts. */
static void
test_a_thief_does_not_wait_for_one_that_stands_still (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  const StealLane *lane = &world->peer[2].node->steal.lanes[STEAL_NEAR];

  start (world);
  (void)offer (world, 1, "/1");
  world->peer[1].late = TRUE;
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
  for (guint i = 0; i < 50 && node_id_is_none (&lane->victim); i++)
    pass (world, 100000);
  NodeId stopped = node_self (world->peer[1].node);
  g_assert_true (node_id_equal (&lane->victim, &stopped));
  pass (world, STEAL_ANSWER_US - 200000);
  g_assert_true (node_id_equal (&lane->victim, &stopped));
  (void)offer (world, 0, "/0");
  pass (world, 5 * G_USEC_PER_SEC);
  g_assert_true (said (world, 2, "RUN /0"));
  world->peer[1].late = FALSE;
  pass (world, 100000);
  g_assert_true (said (world, 2, "RUN /1"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/lend/" name, function)
  TEST ("who-takes-nothing-in-gets-no-job", test_who_takes_nothing_in_gets_no_job);
  TEST ("the-first-job-goes-ahead", test_the_first_job_goes_ahead);
  TEST ("one-that-stands-still", test_a_thief_does_not_wait_for_one_that_stands_still);
  TEST ("one-job-that-was-asked-for-comes-alone", test_one_job_that_was_asked_for_comes_alone);
  TEST ("a-reply-may-end-after-its-first-job", test_a_reply_may_end_after_its_first_job);
  TEST ("a-request-stands-until-its-last-job", test_a_request_stands_until_its_last_job);
  TEST ("the-rest-may-go-with-the-link", test_the_rest_may_go_with_the_link);
  TEST ("who-has-refused-is-not-asked-again", test_who_has_refused_is_not_asked_again);
  TEST ("a-thief-that-comes-early-is-owed", test_a_thief_that_comes_early_is_owed);
  g_test_add_func ("/lend/each-request-is-answered", test_each_request_is_answered);
  g_test_add_func ("/lend/the-look-is-for-the-first", test_the_look_is_for_the_first);
  g_test_add_func ("/lend/they-are-told-one-by-one", test_they_are_told_one_by_one);
  g_test_add_func ("/lend/what-nobody-takes-comes-back", test_what_nobody_takes_comes_back);
  g_test_add_func ("/lend/what-has-not-begun-goes-back", test_what_has_not_begun_goes_back);
  g_test_add_func ("/lend/a-refusal-may-say-who-has-it", test_a_refusal_may_say_who_has_it);
  g_test_add_func ("/lend/it-goes-back-if-the-thief-is-gone-too",
                   test_it_goes_back_if_the_thief_is_gone_too);
  g_test_add_func ("/lend/an-orphan-that-has-not-begun-is-dropped",
                   test_an_orphan_that_has_not_begun_is_dropped);
  return g_test_run ();
}
