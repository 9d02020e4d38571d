/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the ledger: a node keeps an event until the present coordinator reports, in its present
 * lease, that exactly this event is published. */
#include "node-alone.h"
#include "node-steps.h"

#include <string.h>

#include "satin/protocol/core.h"

#define ALL G_MAXUINT32 /* tickets */

static GString *noted; /* what the scribe of n0 was told, a line for each event: kind path @time */

static void
watch_events (World *world, guint who, const NodeEffect *effect)
{
  (void)world;
  if (who == 0 && effect->kind == NODE_EFFECT_EVENT)
    g_string_append_printf (noted, "%s %s @%" G_GUINT64_FORMAT "\n", effect->text, effect->path,
                            effect->at_us);
}

static guint
n_kept (World *world, guint who)
{
  return world->peer[who].node->events.kept.length;
}

/* n0 is coordinator; no node keeps events. */
static World *
world_at_rest (guint n)
{
  World *world = world_new (n, TRUE);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, G_USEC_PER_SEC / 2);
  publish (world, 0, ALL, FALSE);
  for (guint i = 0; i < n; i++)
    g_assert_cmpuint (n_kept (world, i), ==, 0);
  g_string_truncate (noted, 0);
  world->watch = watch_events;
  return world;
}

/* An event that this node itself reports. */
static void
happen (World *world, guint who, const char *path)
{
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_UNMATCHED, .path = path });
}

static void
send_row (World *world, guint who, const char *path)
{
  Digest digest = digest_of_string (path);
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  g_ptr_array_add (rows, row_new (path, 1, &digest, 0.1, 50, value));
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = 50 });
}

/* An event of the coordinator (who 0), and of another node. Rows come between, so each event has
 * its own order. */
static void
test_an_event_is_kept_until_it_is_published (void)
{
  for (guint who = 0; who < 2; who++)
    {
      g_autoptr (World) world = world_at_rest (3);
      guint64 before = world->peer[0].ticket;

      for (guint i = 0; i < 3; i++)
        {
          happen (world, who, "/1");
          send_row (world, 2, "/3");
        }
      g_assert_cmpuint (world->peer[0].ticket, ==, before + 6);
      for (guint i = 0; i <= 6; i++)
        {
          publish (world, 0, before + 6, TRUE);
          g_assert_cmpuint (n_kept (world, who), ==, 3 - i / 2);
          publish (world, 0, before + i, FALSE);
          g_assert_cmpuint (n_kept (world, who), ==, 3 - (i + 1) / 2);
        }
    }
}

/* Several events of one member between two rows. */
static void
test_events_in_a_row_count_when_all_are_published (void)
{
  for (guint who = 0; who < 2; who++)
    {
      g_autoptr (World) world = world_at_rest (3);
      guint64 before = world->peer[0].ticket;

      for (guint i = 0; i < 3; i++)
        happen (world, who, "/1");
      happen (world, 2, "/2");
      happen (world, who, "/3");
      for (guint i = 0; i < 3; i++)
        {
          publish (world, 0, before + i, FALSE);
          g_assert_cmpuint (n_kept (world, who), ==, 4);
        }
      publish (world, 0, before + 3, FALSE);
      g_assert_cmpuint (n_kept (world, who), ==, 1);
      g_assert_cmpuint (n_kept (world, 2), ==, 1);
      publish (world, 0, before + 4, FALSE);
      g_assert_cmpuint (n_kept (world, who), ==, 1);
      g_assert_cmpuint (n_kept (world, 2), ==, 0);
      publish (world, 0, before + 5, FALSE);
      g_assert_cmpuint (n_kept (world, who), ==, 0);
    }
}

static void
test_only_the_coordinator_in_its_lease_notes (void)
{
  g_autoptr (World) world = world_at_rest (3);
  const Node *node = world->peer[1].node;
  guint32 lease = stats_of (world, 1).lease;
  guint64 right = link_between (world, 0, 1), wrong = link_between (world, 1, 2);
  Message note = { .kind = MESSAGE_SAVED, .work_us = node->events.number + 3, .count = lease };

  for (guint i = 0; i < 3; i++)
    happen (world, 1, "/1");
  deliver (world, wrong, 1, &note);
  g_assert_cmpuint (n_kept (world, 1), ==, 3);
  for (note.count = 0; note.count < lease + 3; note.count++)
    if (note.count != lease)
      deliver (world, right, 1, &note);
  g_assert_cmpuint (n_kept (world, 1), ==, 3);
  note.count = lease;
  for (guint n = 3; n <= 6; n++)
    {
      note.work_us = node->events.number + n - 6;
      deliver (world, right, 1, &note);
      g_assert_cmpuint (n_kept (world, 1), ==, 6 - n);
    }
}

/* An event that all nodes see is seen by the coordinator, too, but maybe later: only the
 * coordinator's version of the roster confirms such events, and no others. */
static void
test_what_all_see_is_noted_by_the_roster (void)
{
  g_autoptr (World) world = world_at_rest (2);
  Node *node = world->peer[1].node;
  Message note = { .kind = MESSAGE_SAVED, .count = stats_of (world, 1).lease };
  guint64 link = link_between (world, 0, 1);

  add_peer (world, FALSE);
  happen (world, 1, "/1");
  g_assert_cmpuint (n_kept (world, 1), ==, 2);
  note.term = node->roster.term;
  note.risk_us = node->roster.version - 1;
  deliver (world, link, 1, &note);
  note.term.number--;
  note.risk_us = ALL;
  deliver (world, link, 1, &note);
  g_assert_cmpuint (n_kept (world, 1), ==, 2);
  note.term = (Term){ 0 };
  note.risk_us = 0;
  note.work_us = node->events.number;
  deliver (world, link, 1, &note);
  g_assert_cmpuint (n_kept (world, 1), ==, 1); /* only the other event, which was told */
  note.work_us = 0;
  note.term = node->roster.term;
  note.risk_us = node->roster.version;
  deliver (world, link, 1, &note);
  g_assert_cmpuint (n_kept (world, 1), ==, 0);

  add_peer (world, FALSE);
  happen (world, 1, "/2");
  note.term.number++; /* a newer term, whatever the version */
  note.risk_us = 0;
  deliver (world, link, 1, &note);
  g_assert_cmpuint (n_kept (world, 1), ==, 1); /* the told event */
}

/* An event that was sent over a broken link is not lost, and is told once. */
static void
test_what_is_kept_is_told_once_over_all_links (void)
{
  g_autoptr (World) world = world_at_rest (3);
  NodeId id = node_self (world->peer[1].node);
  const Member *member = roster_find (world->peer[0].node, &id);

  happen (world, 1, "/1");
  pass (world, 1000);
  g_string_truncate (noted, 0);
  cut (world, 0, 1);
  happen (world, 1, "/2");
  pass (world, G_USEC_PER_SEC / 2);
  g_assert_nonnull (strstr (noted->str, " /2 @"));
  g_assert_null (strstr (noted->str, " /1 @"));
  g_assert_cmpuint (n_kept (world, 1), ==, 2);
  g_assert_cmpuint (member->told_events, ==, stats_of (world, 0).lease);
  publish (world, 0, ALL, FALSE);
  g_assert_cmpuint (n_kept (world, 1), ==, 0);
}

/* The ledger has the time at which an event happened, however late there is a coordinator. */
static void
test_an_event_keeps_its_time (void)
{
  for (guint who = 0; who < 2; who++)
    {
      g_autoptr (World) world = world_new (2, TRUE);
      g_autofree char *line = g_strdup_printf (" /1 @%" G_GUINT64_FORMAT "\n", world->now_us);

      g_string_truncate (noted, 0);
      world->watch = watch_events;
      happen (world, who, "/1");
      pass (world, 5 * G_USEC_PER_SEC);
      g_assert_null (strstr (noted->str, " /1 @"));
      tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
      pass (world, G_USEC_PER_SEC);
      g_assert_nonnull (strstr (noted->str, line));
    }
}

/* An event that was told in another lease is told again in this one. */
static void
test_an_event_of_another_lease_is_not_taken (void)
{
  g_autoptr (World) world = world_at_rest (3);
  guint32 lease = stats_of (world, 0).lease;
  guint64 link = link_between (world, 0, 1);
  Message event = { .kind = MESSAGE_EVENT,
                    .text = "requeued",
                    .id = node_self (world->peer[2].node),
                    .path = "/5",
                    .host = "its holder is gone",
                    .number = 9,
                    .version = 7 };

  for (event.count = lease - 1; event.count <= lease + 1; event.count += 2)
    deliver (world, link, 0, &event);
  g_assert_cmpstr (noted->str, ==, "");
  event.count = lease;
  deliver (world, link, 0, &event);
  g_autofree char *line
      = g_strdup_printf ("requeued /5 @%" G_GUINT64_FORMAT "\n", world->now_us - 7);
  g_assert_cmpstr (noted->str, ==, line);
}

/* A member left in a version of the roster that the coordinator does not have yet. The event is
 * noted nevertheless, since the coordinator sees the change itself, or goes on with that member. */
static void
test_who_is_here_has_not_left (void)
{
  g_autoptr (World) world = world_at_rest (3);
  guint64 link = link_between (world, 0, 1);
  Message event = { .kind = MESSAGE_EVENT,
                    .text = EVENT_LEFT,
                    .id = node_self (world->peer[2].node),
                    .path = "",
                    .host = "it is gone",
                    .number = 1,
                    .count = stats_of (world, 0).lease };

  deliver (world, link, 0, &event);
  g_assert_cmpstr (noted->str, ==, "");
  event.id.number += 50;
  deliver (world, link, 0, &event);
  g_assert_true (g_str_has_prefix (noted->str, "left  @"));
}

static void
test_the_oldest_events_go_first (void)
{
  g_autoptr (World) world = world_at_rest (2);
  const GQueue *kept = &world->peer[1].node->events.kept;

  world->peer[0].deaf = TRUE;
  for (guint i = 0; i < EVENTS_MAX; i++)
    happen (world, 1, "/1");
  g_assert_cmpuint (kept->length, ==, EVENTS_MAX);
  guint64 first = ((const Event *)kept->head->data)->number;
  happen (world, 1, "/1");
  g_assert_cmpuint (kept->length, ==, EVENTS_MAX);
  g_assert_cmpuint (((const Event *)kept->head->data)->number, ==, first + 1);
  g_assert_cmpuint (((const Event *)kept->tail->data)->number, ==, first + EVENTS_MAX);
}

/* main has returned. n1 is the coordinator, and n2 has not told it the events that it keeps. */
static World *
world_that_ends (void)
{
  World *world = world_new (3, TRUE);

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
  world->peer[2].deaf = TRUE;
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  g_autoptr (GBytes) answer = g_bytes_new ("42", 2);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_FINISH, .bytes = answer });
  return world;
}

static void
test_the_last_publication_waits_for_all_events (void)
{
  for (guint turn = 0; turn < 3; turn++)
    {
      g_autoptr (World) world = world_that_ends ();
      guint32 lease = stats_of (world, 1).lease;
      guint64 link = link_between (world, 1, 2);
      Message reported = { .kind = MESSAGE_SCANNED };

      g_assert_true (said (world, 1, "ANSWER"));
      for (guint other = lease - 1; other <= lease + 1; other += 2)
        {
          reported.count = other;
          deliver (world, link, 1, &reported);
        }
      pass (world, ROUND_EVENTS_US / 2);
      g_assert_false (said (world, 1, "FINAL"));
      reported.count = lease;
      if (turn == 0)
        deliver (world, link, 1, &reported);
      else if (turn == 1)
        die (world, 2);
      pass (world, turn == 2 ? ROUND_EVENTS_US : ROUND_EVENTS_US / 4);
      g_assert_true (said (world, 1, "FINAL"));
      g_assert_cmpuint (stats_of (world, 1).expired, ==, turn == 2);
    }
}

static void
main_returns (World *world)
{
  g_autoptr (GBytes) answer = g_bytes_new ("42", 2);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_FINISH, .bytes = answer });
}

/* A member is slow to answer. If another one has left, that member may have to tell what it
 * cost. */
static void
test_the_end_asks_when_somebody_has_left (void)
{
  for (guint left = 0; left < 2; left++)
    {
      g_autoptr (World) world = world_at_rest (4);

      if (left)
        die (world, 1);
      pass (world, G_USEC_PER_SEC);
      world->peer[2].late = TRUE;
      main_returns (world);
      pass (world, ROUND_EVENTS_US / 2);
      g_assert_cmpint (said (world, 0, "FINAL"), ==, !left);
      happen (world, 2, "/7");
      world->peer[2].late = FALSE;
      pump (world);
      g_assert_nonnull (strstr (noted->str, " /7 @"));
      g_assert_true (said (world, 0, "FINAL"));
      g_assert_cmpuint (stats_of (world, 0).expired, ==, 0);
    }
}

/* One member has left, another one dies while the first answers are in transit: all members are
 * asked again, since the death may have cost them something. */
static void
test_the_end_asks_again_when_another_one_leaves (void)
{
  g_autoptr (World) world = world_at_rest (5);
  Message reported = { .kind = MESSAGE_SCANNED, .count = stats_of (world, 0).lease };

  die (world, 1);
  pass (world, G_USEC_PER_SEC);
  world->peer[2].late = world->peer[3].late = TRUE;
  main_returns (world);
  reported.number = world->peer[0].node->round.number;
  deliver (world, link_between (world, 0, 3), 0, &reported);
  g_assert_false (said (world, 0, "FINAL"));
  die (world, 4);
  pass (world, ROUND_EVENTS_US / 4);
  deliver (world, link_between (world, 0, 2), 0, &reported); /* to the first question */
  g_assert_false (said (world, 0, "FINAL"));
  world->peer[2].late = FALSE;
  pump (world);
  g_assert_false (said (world, 0, "FINAL"));
  world->peer[3].late = FALSE;
  pump (world);
  g_assert_true (said (world, 0, "FINAL"));
  g_assert_cmpuint (stats_of (world, 0).expired, ==, 0);
}

/* The member is stopped, or its host is gone. */
static void
test_the_end_does_not_wait_for_long (void)
{
  g_autoptr (World) world = world_at_rest (3);

  die (world, 1);
  pass (world, G_USEC_PER_SEC);
  world->peer[2].deaf = TRUE;
  main_returns (world);
  g_assert_false (said (world, 0, "FINAL"));
  pass (world, ROUND_EVENTS_US);
  g_assert_true (said (world, 0, "FINAL"));
  g_assert_cmpuint (stats_of (world, 0).expired, ==, 1);
}

/* … nor at all for a member that leaves meanwhile: the change of the roster is enough. */
static void
test_the_end_does_not_wait_for_the_dead (void)
{
  g_autoptr (World) world = world_at_rest (3);

  die (world, 1);
  pass (world, G_USEC_PER_SEC);
  world->peer[2].deaf = TRUE;
  main_returns (world);
  g_assert_false (said (world, 0, "FINAL"));
  die (world, 2);
  pass (world, 1000); /* no tick */
  g_assert_true (said (world, 0, "FINAL"));
}

/* The begin, duration and arguments of a job are sent with its row, whether a stack reports it or
 * the node that ran the job for another. */
static void
test_rows_tell_of_their_jobs (void)
{
  g_autoptr (World) world = world_new (2, TRUE);
  Digest digest = digest_of_string ("/3");
  g_autoptr (GBytes) value = g_bytes_new ("7", 1), args = g_bytes_new ("abc", 3);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  Row *row = row_new ("/3", 1, &digest, 0.1, 50, value);
  HeldJob job = { .job = loan_new (1, "/4", 1, &digest, 0.1, args), .value = value };

  row->began_ms = 77;
  row->took_ms = 5;
  row->args = g_strdup ("AQ==");
  g_ptr_array_add (rows, row);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = 50 });
  g_assert_true (said (world, 0, "SAVE /3 began 77 took 5 with AQ=="));

  job.began_ms = 88;
  job.took_ms = 6;
  g_autoptr (Row) its = held_row (world->peer[1].node, &job);
  loan_free (job.job);
  g_assert_cmpuint (its->began_ms, ==, 88);
  g_assert_cmpuint (its->took_ms, ==, 6);
  g_assert_cmpstr (its->args, ==, "YWJj");
}

/* … as the engine reported them when the job ended. */
static void
test_a_held_job_keeps_its_times (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);

  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);
  guint64 number = held_of (world, 1, "/0");
  step (
      world, 1,
      &(NodeEvent){
          .kind = NODE_EVENT_DONE, .held = number, .bytes = value, .began_ms = 88, .took_ms = 6 });
  const HeldJob *held = held_find (world->peer[1].node, number);
  g_assert_cmpuint (held->began_ms, ==, 88);
  g_assert_cmpuint (held->took_ms, ==, 6);
}

/* Gives n2 a roster of this term without n1. Returns the event that n2 keeps of that. */
static EventState
lose_1 (World *world, guint32 terms)
{
  Node *node = alone (world, 2);
  GPtrArray *members = roster_new_members ();
  Term term = node->roster.term;
  const NodeId gone = id_of (world, 1);

  for (guint i = 0; i < node->roster.members->len; i++)
    if (!node_id_equal (&((Member *)node->roster.members->pdata[i])->id, &gone))
      g_ptr_array_add (members, g_rc_box_acquire (node->roster.members->pdata[i]));
  term.number += terms;
  roster_replace (node, &term, node->roster.version + 1, members);
  const Event *event = g_queue_peek_tail (&node->events.kept);
  g_assert_cmpstr (event->kind, ==, EVENT_LEFT);
  return event->state;
}

/* In one term the coordinator sees each version of the roster. The master of the next term may
 * never have known a member that the previous master had admitted. */
static void
test_who_left_between_two_terms_is_told (void)
{
  for (guint32 terms = 0; terms < 2; terms++)
    {
      g_autoptr (World) world = world_at_rest (3);

      g_assert_cmpint (lose_1 (world, terms), ==, terms == 0 ? EVENT_SEEN : EVENT_TOLD);
    }
}

/* A node that runs a job again must not wait for the disk to continue from its kept state. Results
 * are offered by the nodes that have them; millions of them would be too much for one node. */
static void
test_kept_states_are_offered_at_once (void)
{
  g_autoptr (World) world = world_at_rest (3);
  Digest digest = digest_of_string ("kept");
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  const Archive *archive = &world->peer[0].node->archive;

  send_row (world, 1, "/1/2");
  send_row (world, 0, "/3");
  g_assert_cmpuint (archive->count, ==, 0);
  g_ptr_array_add (rows, row_new_kept ("/1", 2, 1, &digest, 0.1, "x", value));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = 50 });
  g_assert_cmpuint (archive->count, ==, 1);
}

int
main (int argc, char **argv)
{
  noted = g_string_new (NULL);
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/noted/" name, function)
  TEST ("an-event-is-kept-until-it-is-published", test_an_event_is_kept_until_it_is_published);
  TEST ("events-in-a-row-count-when-all-are-published",
        test_events_in_a_row_count_when_all_are_published);
  TEST ("only-the-coordinator-in-its-lease-notes", test_only_the_coordinator_in_its_lease_notes);
  TEST ("what-all-see-is-noted-by-the-roster", test_what_all_see_is_noted_by_the_roster);
  TEST ("what-is-kept-is-told-once-over-all-links", test_what_is_kept_is_told_once_over_all_links);
  TEST ("an-event-keeps-its-time", test_an_event_keeps_its_time);
  TEST ("an-event-of-another-lease-is-not-taken", test_an_event_of_another_lease_is_not_taken);
  TEST ("who-is-here-has-not-left", test_who_is_here_has_not_left);
  TEST ("the-oldest-events-go-first", test_the_oldest_events_go_first);
  TEST ("the-last-publication-waits-for-all-events",
        test_the_last_publication_waits_for_all_events);
  TEST ("the-end-asks-when-somebody-has-left", test_the_end_asks_when_somebody_has_left);
  TEST ("the-end-asks-again-when-another-one-leaves",
        test_the_end_asks_again_when_another_one_leaves);
  TEST ("the-end-does-not-wait-for-long", test_the_end_does_not_wait_for_long);
  TEST ("between-two-terms", test_who_left_between_two_terms_is_told);
  TEST ("kept-states-are-offered-at-once", test_kept_states_are_offered_at_once);
  TEST ("the-end-does-not-wait-for-the-dead", test_the_end_does_not_wait_for_the_dead);
  TEST ("rows-tell-of-their-jobs", test_rows_tell_of_their_jobs);
  TEST ("a-held-job-keeps-its-times", test_a_held_job_keeps_its_times);
  return g_test_run ();
}
