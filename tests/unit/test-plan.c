/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the table of plans. Links protocol. */
#include "satin/protocol/plan.h"

#include <string.h>

static void
each_name_is_read_back (void)
{
  static const char *const none[] = { NULL, "", "Auto", "auto ", "autos", "nai" };

  for (guint i = 0; i < PLANS; i++)
    {
      PlanName plan = PLANS;
      g_assert_true (plan_read (plan_name ((PlanName)i), &plan));
      g_assert_cmpuint (plan, ==, i);
      for (guint k = 0; k < i; k++)
        g_assert_cmpstr (plan_name ((PlanName)i), !=, plan_name ((PlanName)k));
    }
  for (guint i = 0; i < G_N_ELEMENTS (none); i++)
    {
      PlanName plan = PLAN_ORPHAN;
      g_assert_false (plan_read (none[i], &plan));
      g_assert_cmpuint (plan, ==, PLAN_ORPHAN);
    }
}

/* The settings of each plan are those of its paper. */
static void
knobs_are_those_of_the_papers (void)
{
  static const struct
  {
    PlanName plan;
    PlanKnobs knobs;
  } cases[] = {
    { PLAN_AUTO, { .keeper = PLAN_KEEPER_FAR, .waits = PLAN_WAITS_ACK } },
    { PLAN_NAIVE, { .keeper = PLAN_KEEPER_NONE, .drops_orphans = TRUE } },
    { PLAN_ORPHAN, { .keeper = PLAN_KEEPER_NONE } },
    { PLAN_CHECKPOINT, { .keeper = PLAN_KEEPER_NONE } },
    { PLAN_BUDDY, { .keeper = PLAN_KEEPER_RING, .waits = PLAN_WAITS_ACK | PLAN_WAITS_RESULT } },
    { PLAN_THEFT,
      { .keeper = PLAN_KEEPER_RING,
        .waits = PLAN_WAITS_ACK | PLAN_WAITS_RESULT | PLAN_WAITS_STEAL | PLAN_WAITS_JOBS } },
    { PLAN_MIRROR, { .keeper = PLAN_KEEPER_RING, .mirrors = TRUE } },
    { PLAN_CUT, { .keeper = PLAN_KEEPER_NONE, .epochs = TRUE } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      PlanKnobs knobs = plan_knobs (cases[i].plan);
      g_assert_cmpint (knobs.keeper, ==, cases[i].knobs.keeper);
      g_assert_cmpint (knobs.waits, ==, cases[i].knobs.waits);
      g_assert_cmpint (knobs.drops_orphans, ==, cases[i].knobs.drops_orphans);
      g_assert_cmpint (knobs.mirrors, ==, cases[i].knobs.mirrors);
      g_assert_cmpint (knobs.epochs, ==, cases[i].knobs.epochs);
    }
}

/* Without a keeper a plan must not wait for one, and must not make copies. */
static void
nothing_waits_without_a_keeper (void)
{
  for (guint i = 0; i < PLANS; i++)
    {
      PlanKnobs knobs = plan_knobs ((PlanName)i);
      g_assert_true (knobs.keeper != PLAN_KEEPER_NONE || knobs.waits == PLAN_WAITS_NOTHING);
      g_assert_true (knobs.keeper == PLAN_KEEPER_NONE || !knobs.drops_orphans);
      g_assert_true (knobs.keeper != PLAN_KEEPER_NONE || !knobs.mirrors);
    }
}

static void
a_file_fits_or_is_refused (void)
{
  static const struct
  {
    PlanName plan;
    const char *alone, *with_file; /* a part of the message; NULL: none */
  } cases[] = { { PLAN_AUTO, NULL, NULL },
                { PLAN_NAIVE, NULL, "--protect naive conflicts with --checkpoint" },
                { PLAN_ORPHAN, NULL, "--protect orphan conflicts with --checkpoint" },
                { PLAN_CHECKPOINT, "--protect checkpoint needs --checkpoint", NULL },
                { PLAN_BUDDY, NULL, NULL },
                { PLAN_THEFT, NULL, NULL },
                { PLAN_MIRROR, NULL, NULL },
                { PLAN_CUT, "--protect cut needs --checkpoint", NULL } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint file = 0; file < 2; file++)
      {
        const char *part = file == 1 ? cases[i].with_file : cases[i].alone;
        g_autofree char *said = plan_refuses (cases[i].plan, file == 1, 2);
        g_assert_true ((said == NULL) == (part == NULL));
        g_assert_true (part == NULL || strstr (said, part) != NULL);
      }
}

/* A ring needs two nodes; if their number is not known yet, there is no message. */
static void
a_ring_has_two_nodes (void)
{
  for (guint nodes = 0; nodes < 4; nodes++)
    for (guint i = 0; i < PLANS; i++)
      {
        g_autofree char *said
            = plan_refuses ((PlanName)i, i == PLAN_CHECKPOINT || i == PLAN_CUT, nodes);
        g_autofree char *part
            = g_strdup_printf ("--protect %s needs two nodes", plan_name ((PlanName)i));
        gboolean wrong = (i == PLAN_BUDDY || i == PLAN_THEFT || i == PLAN_MIRROR) && nodes == 1;
        g_assert_true ((said != NULL) == wrong);
        g_assert_true (!wrong || strstr (said, part) != NULL);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plan/each-name-is-read-back", each_name_is_read_back);
  g_test_add_func ("/plan/knobs-are-those-of-the-papers", knobs_are_those_of_the_papers);
  g_test_add_func ("/plan/nothing-waits-without-a-keeper", nothing_waits_without_a_keeper);
  g_test_add_func ("/plan/a-file-fits-or-is-refused", a_file_fits_or_is_refused);
  g_test_add_func ("/plan/a-ring-has-two-nodes", a_ring_has_two_nodes);
  return g_test_run ();
}
