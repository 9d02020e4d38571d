/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of coordinator/notes.c: the ledger of a run with several coordinators. Links coordinator,
 * storage and value. */
#include "checkpoint.h"

static const NodeId one = { 1, 1, 1 }, two = { 1, 2, 2 }, three = { 2, 1, 3 };

#define EVENTS(kind) "SELECT count(*) FROM event WHERE kind = '" kind "'"

static void
tell (Scribe *scribe, const char *kind, const NodeId *node, const char *detail)
{
  scribe_told (scribe, kind, node, NULL, 0, detail, G_USEC_PER_SEC);
}

/* Each node that saw an event reports it with its own clock, and to each coordinator: it is one
 * row. */
static void
test_what_is_told_again_is_one_row (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");

  for (int i = 0; i < 3; i++)
    {
      tell (scribe, "joined", &one, "host1");
      tell (scribe, "left", &one, "gone");
      scribe_told (scribe, "requeued", &one, "/0", 50, "its holder is gone", i * G_USEC_PER_SEC);
      scribe_told (scribe, "requeued", &one, "/1", 50, "its holder is gone", i * G_USEC_PER_SEC);
      finish (place, scribe);
    }
  scribe_free (scribe);

  assert_answer (place->target, EVENTS ("joined"), "1");
  assert_answer (place->target, EVENTS ("left"), "1");
  assert_answer (place->target, EVENTS ("requeued"), "2");
  assert_answer (place->target, "SELECT host || cause FROM node", "host1gone");
}

static void
test_who_left_has_joined (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");

  tell (scribe, "left", &one, "silent");
  tell (scribe, "joined", &one, "host1");
  finish (place, scribe);
  scribe_free (scribe);

  assert_answer (place->target, EVENTS ("joined"), "1");
  assert_answer (place->target, "SELECT (joined > 0) || (left > 0) || cause FROM node", "11silent");
}

static Scribe *
take_over (Place *place, gboolean goes_on)
{
  Identity identity = identity_make ("run-1", "app", "8");
  ScribeConfig config = place_config (place, HOUR_US);
  config.goes_on = goes_on;
  Scribe *scribe = scribe_new (&config, &identity, NULL);
  g_assert_nonnull (scribe);
  identity_clear (&identity);
  return scribe;
}

/* The next coordinator of the same run learns from others which nodes left. All nodes of an earlier
 * start have left; whether they were lost depends on how that start ended. */
static void
test_a_life_begins_alone (void)
{
  static const char left[] = "SELECT group_concat (node || detail, ' ') FROM (SELECT * FROM ledger"
                             " WHERE kind = 'left' ORDER BY id)";
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = take_over (place, FALSE);

  scribe_joined (scribe, &one, "host1", "here", "unix:/one");
  scribe_joined (scribe, &two, "host2", "here", "unix:/two");
  finish (place, scribe);
  scribe_free (scribe);
  scribe = take_over (place, TRUE);
  scribe_joined (scribe, &two, "host2", "here", "unix:/two");
  finish (place, scribe);
  scribe_free (scribe);
  assert_answer (place->target, EVENTS ("joined"), "2");
  assert_answer (place->target, EVENTS ("left"), "0");

  scribe = take_over (place, FALSE);
  scribe_joined (scribe, &three, "host3", "here", "unix:/three");
  g_autoptr (GArray) present = g_array_new (FALSE, FALSE, sizeof (NodeId));
  g_array_append_val (present, three);
  scribe_present (scribe, present);
  finish (place, scribe);
  scribe_free (scribe);
  assert_answer (place->target, left,
                 "1.1.00000001gone at a take-over 1.2.00000002gone at a take-over");
  assert_answer (place->target, EVENTS ("ended"), "1");

  scribe = take_over (place, FALSE);
  finish (place, scribe);
  scribe_free (scribe);
  assert_answer (
      place->target, left,
      "1.1.00000001gone at a take-over 1.2.00000002gone at a take-over 2.1.00000003ended");
  assert_answer (place->target, "SELECT count(*) FROM node WHERE left IS NULL", "0");
}

/* No living node saw the leaving of the others. */
static void
test_at_the_end_the_others_are_gone (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GArray) present = g_array_new (FALSE, FALSE, sizeof (NodeId));
  Scribe *scribe = start (place, HOUR_US, "run-1");

  scribe_joined (scribe, &one, "host1", "here", "unix:/one");
  scribe_joined (scribe, &two, "host2", "here", "unix:/two");
  g_array_append_val (present, two);
  scribe_present (scribe, present);
  finish (place, scribe);
  scribe_free (scribe);

  assert_answer (place->target, "SELECT node || detail FROM ledger WHERE kind = 'left'",
                 "1.1.00000001gone");
  assert_answer (place->target, "SELECT id FROM node WHERE left IS NULL", "1.2.00000002");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/notes/what-is-told-again-is-one-row", test_what_is_told_again_is_one_row);
  g_test_add_func ("/notes/who-left-has-joined", test_who_left_has_joined);
  g_test_add_func ("/notes/a-life-begins-alone", test_a_life_begins_alone);
  g_test_add_func ("/notes/at-the-end-the-others-are-gone", test_at_the_end_the_others_are_gone);
  return g_test_run ();
}
