/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/command.h"
#include "launch/again.h"

#include "folder/folder.h"

#include <signal.h>

/* The status of a process as waitpid gives it. */
#define KILLED_BY(number) (number)
#define ENDED_WITH(code) ((code) << 8)

#define SECOND ((gint64)G_USEC_PER_SEC)

static void
what_became_of_a_node (void)
{
  static const struct
  {
    int status;
    gboolean was_member;
    const char *parted;
    AgainEnd end;
    gboolean replaced;
  } cases[] = {
    { KILLED_BY (SIGKILL), TRUE, NULL, AGAIN_LOST, TRUE },
    { KILLED_BY (SIGSEGV), TRUE, NULL, AGAIN_LOST, TRUE },
    { ENDED_WITH (255), TRUE, NULL, AGAIN_LOST, TRUE }, /* ssh: the connection is gone */
    { ENDED_WITH (1), TRUE, NULL, AGAIN_LOST, TRUE },   /* batch-node: the job is gone */
    { ENDED_WITH (137), TRUE, "", AGAIN_LOST, TRUE },
    { ENDED_WITH (0), TRUE, FOLDER_PARTED_SIGNAL, AGAIN_TOLD, TRUE },
    { ENDED_WITH (1), TRUE, FOLDER_PARTED_SIGNAL, AGAIN_TOLD, TRUE },
    { ENDED_WITH (0), FALSE, FOLDER_PARTED_SIGNAL, AGAIN_TOLD, TRUE }, /* its address is gone */
    { ENDED_WITH (255), FALSE, NULL, AGAIN_NEVER, TRUE },
    { ENDED_WITH (0), FALSE, NULL, AGAIN_NEVER, TRUE },
    { ENDED_WITH (0), TRUE, FOLDER_PARTED_ASKED, AGAIN_LEFT, FALSE },
    { ENDED_WITH (1), TRUE, FOLDER_PARTED_ASKED, AGAIN_LEFT, FALSE },
    { KILLED_BY (SIGKILL), TRUE, FOLDER_PARTED_ASKED, AGAIN_LEFT, FALSE },
    { ENDED_WITH (0), TRUE, NULL, AGAIN_LEFT, FALSE },
    { ENDED_WITH (1), FALSE, FOLDER_PARTED_REFUSED, AGAIN_REFUSED, FALSE },
    { ENDED_WITH (COMMAND_SUSPENDED), TRUE, NULL, AGAIN_STOPPED, FALSE },
    { ENDED_WITH (COMMAND_SUSPENDED), TRUE, FOLDER_PARTED_SIGNAL, AGAIN_STOPPED, FALSE },
    { ENDED_WITH (COMMAND_CANCELLED), TRUE, NULL, AGAIN_STOPPED, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      AgainEnd end = again_end (cases[i].status, cases[i].was_member, cases[i].parted);

      g_assert_cmpint (end, ==, cases[i].end);
      g_assert_cmpint (again_replaces (end), ==, cases[i].replaced);
    }
}

static void
pauses_double_up_to_a_limit (void)
{
  g_assert_cmpint (again_pause_us (0), ==, 1 * SECOND);
  g_assert_cmpint (again_pause_us (1), ==, 2 * SECOND);
  g_assert_cmpint (again_pause_us (5), ==, 32 * SECOND);
  g_assert_cmpint (again_pause_us (9), ==, 512 * SECOND);
  g_assert_cmpint (again_pause_us (10), ==, AGAIN_PAUSE_MAX_US);
  g_assert_cmpint (again_pause_us (G_MAXUINT), ==, AGAIN_PAUSE_MAX_US);
}

static void
a_node_that_lasted_is_replaced_at_once (void)
{
  Again *again = again_new (3);
  guint failures;

  again_started (again, 1);
  again_joined (again, 1, 5 * SECOND);
  again_joined (again, 1, 900 * SECOND);
  g_assert_cmpint (again_gone (again, 1, AGAIN_LOST, 5 * SECOND + AGAIN_LASTS_US, &failures), ==,
                   AGAIN_PAUSE_US);

  g_assert_cmpuint (failures, ==, 0);
  g_assert_false (again_look (again, 5 * SECOND + AGAIN_LASTS_US));
  g_assert_true (again_look (again, 6 * SECOND + AGAIN_LASTS_US));
  g_assert_cmpint (again_take (again), ==, 1);
  g_assert_cmpint (again_take (again), ==, -1);
  g_assert_false (again_look (again, 9000 * SECOND));
  again_free (again);
}

static void
failures_in_a_row_are_tried_ever_less_often (void)
{
  Again *again = again_new (1);
  gint64 now_us = 0;
  guint tries = 0, failures;

  for (; now_us < 24 * 3600 * SECOND; tries++)
    {
      again_started (again, 0);
      now_us += again_gone (again, 0, AGAIN_NEVER, now_us, &failures);
      g_assert_cmpuint (failures, ==, tries + 1);
      g_assert_true (again_look (again, now_us));
      g_assert_cmpint (again_take (again), ==, 0);
    }
  g_assert_cmpuint (tries, <, 160);

  /* A node that does not last is another failure; one that lasts resets the failures. */
  again_started (again, 0);
  again_joined (again, 0, now_us);
  g_assert_cmpint (again_gone (again, 0, AGAIN_LOST, now_us + 1, &failures), ==,
                   AGAIN_PAUSE_MAX_US);
  again_started (again, 0);
  again_joined (again, 0, now_us);
  g_assert_cmpint (again_gone (again, 0, AGAIN_TOLD, now_us + AGAIN_LASTS_US, &failures), ==,
                   AGAIN_PAUSE_US);
  again_free (again);
}

/* When the run cannot be asked, only the nodes that were due wait again. */
static void
others_are_not_put_off (void)
{
  Again *again = again_new (2);
  guint failures;

  for (guint i = 0; i < 2; i++)
    {
      again_started (again, i);
      (void)again_gone (again, i, AGAIN_NEVER, i * 10 * SECOND, &failures);
    }
  gint64 due_us = again_pause_us (1);
  g_assert_true (again_look (again, due_us));
  again_put_off (again, due_us);
  g_assert_false (again_look (again, due_us));
  g_assert_true (again_look (again, due_us + AGAIN_PAUSE_US));
  g_assert_cmpint (again_take (again), ==, 0);
  g_assert_cmpint (again_take (again), ==, -1);
  again_free (again);
}

/* The age of a former node says nothing about its successor, which has not joined. */
static void
who_never_joined_did_not_last (void)
{
  Again *again = again_new (1);
  gint64 now_us = 2 * AGAIN_LASTS_US;
  guint failures;

  again_started (again, 0);
  again_joined (again, 0, 1);
  (void)again_gone (again, 0, AGAIN_LOST, now_us, &failures);
  g_assert_cmpuint (failures, ==, 0);
  for (guint n = 1; n <= 3; n++)
    {
      now_us += AGAIN_LASTS_US;
      g_assert_true (again_look (again, now_us));
      g_assert_cmpint (again_take (again), ==, 0);
      again_started (again, 0);
      (void)again_gone (again, 0, AGAIN_NEVER, now_us + 1, &failures);
      g_assert_cmpuint (failures, ==, n);
    }
  again_free (again);
}

static void
who_left_stays_away (void)
{
  static const AgainEnd ends[] = { AGAIN_STOPPED, AGAIN_LEFT, AGAIN_REFUSED };

  for (gsize i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      Again *again = again_new (1);
      guint failures;

      again_started (again, 0);
      again_joined (again, 0, 1);
      g_assert_cmpint (again_gone (again, 0, ends[i], 2, &failures), ==, -1);
      g_assert_false (again_look (again, G_MAXINT64));
      again_free (again);
    }
}

static void
nobody_starts_while_it_is_not_known_that_the_run_goes_on (void)
{
  Again *again = again_new (2);
  guint failures;

  again_started (again, 0);
  again_started (again, 1);
  (void)again_gone (again, 0, AGAIN_LOST, 0, &failures);
  (void)again_gone (again, 1, AGAIN_LOST, 0, &failures);
  g_assert_true (again_look (again, 2 * SECOND));
  again_put_off (again, 3 * SECOND);

  g_assert_cmpint (again_take (again), ==, -1);
  g_assert_false (again_look (again, 4 * SECOND - 1));
  g_assert_true (again_look (again, 4 * SECOND));
  g_assert_cmpint (again_take (again), ==, 0);
  g_assert_cmpint (again_take (again), ==, 1);
  again_free (again);
}

static void
a_place_waits_from_the_end_of_its_node_to_the_next (void)
{
  Again *again = again_new (2);
  guint failures;

  again_started (again, 0);
  again_started (again, 1);
  g_assert_false (again_waits (again));
  (void)again_gone (again, 0, AGAIN_LEFT, 0, &failures);
  g_assert_false (again_waits (again));
  (void)again_gone (again, 1, AGAIN_LOST, 0, &failures);
  g_assert_true (again_waits (again));
  g_assert_true (again_look (again, 2 * SECOND));
  g_assert_true (again_waits (again));
  g_assert_cmpint (again_take (again), ==, 1);
  g_assert_false (again_waits (again));
  again_free (again);
}

static void
a_run_without_members_is_given_up_after_a_minute (void)
{
  Again *again = again_new (1);

  g_assert_false (again_deserted (again, TRUE, 5 * SECOND));
  g_assert_false (again_deserted (again, FALSE, 10 * SECOND));
  g_assert_false (again_deserted (again, FALSE, 10 * SECOND + AGAIN_DESERTED_US));
  /* A member is back in time: the minute begins again. */
  g_assert_false (again_deserted (again, TRUE, 10 * SECOND + AGAIN_DESERTED_US + 1));
  g_assert_false (again_deserted (again, FALSE, 200 * SECOND));
  g_assert_false (again_deserted (again, FALSE, 200 * SECOND + AGAIN_DESERTED_US));
  g_assert_true (again_deserted (again, FALSE, 200 * SECOND + AGAIN_DESERTED_US + 1));
  again_free (again);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/again/what-became-of-a-node", what_became_of_a_node);
  g_test_add_func ("/again/pauses-double-up-to-a-limit", pauses_double_up_to_a_limit);
  g_test_add_func ("/again/a-node-that-lasted-is-replaced-at-once",
                   a_node_that_lasted_is_replaced_at_once);
  g_test_add_func ("/again/failures-in-a-row-are-tried-ever-less-often",
                   failures_in_a_row_are_tried_ever_less_often);
  g_test_add_func ("/again/others-are-not-put-off", others_are_not_put_off);
  g_test_add_func ("/again/who-never-joined-did-not-last", who_never_joined_did_not_last);
  g_test_add_func ("/again/who-left-stays-away", who_left_stays_away);
  g_test_add_func ("/again/nobody-starts-while-it-is-not-known-that-the-run-goes-on",
                   nobody_starts_while_it_is_not_known_that_the_run_goes_on);
  g_test_add_func ("/again/a-place-waits-from-the-end-of-its-node-to-the-next",
                   a_place_waits_from_the_end_of_its_node_to_the_next);
  g_test_add_func ("/again/a-run-without-members-is-given-up-after-a-minute",
                   a_run_without_members_is_given_up_after_a_minute);
  return g_test_run ();
}
