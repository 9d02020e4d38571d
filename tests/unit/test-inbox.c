/* SPDX-License-Identifier: BSD-3-Clause */
/* The inbox of rows, kept states and values that wait for the scribe. While the disk does not
 * respond, its memory is bounded. Links coordinator, storage and value. */
#include "checkpoint.h"

#include "coordinator/inbox.h"

#include <string.h>

static const Row *
keep_at (Inbox *inbox, const char *path)
{
  return g_hash_table_lookup (inbox->keeps, path);
}

static void
test_the_state_that_stands_for_more_stays (void)
{
  g_autoptr (Inbox) inbox = inbox_new ();
  inbox_add_row (inbox, row_make_kept ("/0", 4, 16));
  inbox_add_row (inbox, row_make_kept ("/0", 3, 9));
  inbox_add_row (inbox, row_make_kept ("/1", 3, 9));
  inbox_add_row (inbox, row_make_kept ("/1", 4, 16));
  inbox_add_row (inbox, row_make_kept ("/2", 4, 16));
  Row *other = row_make_kept ("/2", 3, 9);
  memset (&other->digest, 7,
          sizeof other->digest); /* a job with other arguments: the later counts */
  inbox_add_row (inbox, other);

  g_assert_false (inbox_is_empty (inbox));
  g_assert_cmpuint (keep_at (inbox, "/0")->children, ==, 4);
  g_assert_cmpuint (keep_at (inbox, "/1")->children, ==, 4);
  g_assert_cmpuint (keep_at (inbox, "/2")->children, ==, 3);
  g_assert_cmpuint (inbox->bytes, ==, 24);
}

static void
test_what_could_not_be_written_goes_under_what_came_since (void)
{
  g_autoptr (Inbox) inbox = inbox_new ();
  Inbox *older = inbox_new ();
  Row *other = row_make_kept ("/2", 1, 1);
  memset (&other->digest, 7, sizeof other->digest);
  inbox_add_row (older, row_make_kept ("/0", 4, 16));
  inbox_add_row (older, row_make_kept ("/1", 4, 16));
  inbox_add_row (older, row_make_kept ("/2", 4, 16));
  inbox_add_row (inbox, row_make_kept ("/1", 5, 25));
  inbox_add_row (inbox, other);

  inbox_put_back (inbox, older);

  g_assert_cmpuint (keep_at (inbox, "/0")->children, ==, 4);
  g_assert_cmpuint (keep_at (inbox, "/1")->children, ==, 5);
  g_assert_cmpuint (keep_at (inbox, "/2")->children, ==, 1);
  g_assert_cmpuint (inbox->bytes, ==, 24);
}

/* The inbox has a newer row of a job whose older row comes back, since it could not be written. Of
 * rows with the same digest the first one stays, as in the file, else the newer one. */
static void
test_rows_of_another_digest_stay (void)
{
  for (guint same = 0; same < 2; same++)
    {
      g_autoptr (Inbox) inbox = inbox_new ();
      Inbox *older = inbox_new ();
      Row *newer = row_make ("/0", 1, 2, 0), *old = row_make ("/0", 1, 1, 0);
      Digest digest = newer->digest;

      if (!same)
        memset (&old->digest, 7, sizeof old->digest);
      inbox_add_row (inbox, newer);
      inbox_add_row (older, old);
      inbox_put_back (inbox, older);
      const Row *stays = g_hash_table_lookup (inbox->rows, "/0");
      g_assert_cmpuint (g_hash_table_size (inbox->rows), ==, 1);
      g_assert_true (digest_equal (&stays->digest, &digest));
      g_assert_cmpuint (stays->work_us, ==, same ? 1 : 2);
      g_assert_cmpuint (inbox->bytes, ==, g_bytes_get_size (stays->value));
    }
}

/* Of two kept states of one job the one with more children stays, with the larger work, also if one
 * of them comes back since it could not be written. */
static void
test_a_kept_state_loses_no_work (void)
{
  for (guint way = 0; way < 4; way++)
    {
      guint first = way % 2;
      gboolean comes_back = way / 2;
      g_autoptr (Inbox) inbox = inbox_new ();
      Inbox *older = inbox_new ();

      for (guint turn = 0; turn < 2; turn++)
        {
          gboolean larger = turn == first;
          Row *row = row_make_kept ("/0", larger ? 4 : 3, 16);
          row->work_us = larger ? 5 : 9;
          inbox_add_row (comes_back && turn == 0 ? older : inbox, row);
        }
      inbox_put_back (inbox, older);
      g_assert_cmpuint (keep_at (inbox, "/0")->children, ==, 4);
      g_assert_cmpuint (keep_at (inbox, "/0")->work_us, ==, 9);
      g_assert_cmpuint (inbox->bytes, ==, 8);
    }
}

static void
test_phases_do_not_pile_up (void)
{
  g_autoptr (Inbox) inbox = inbox_new ();
  guint most = 0;
  for (guint32 i = 0; i < 50000; i++)
    {
      g_autofree char *child = g_strdup_printf ("/0/%u/1", i);
      inbox_add_row (inbox, row_make (child, i, 1, 0));
      inbox_add_row (inbox, row_make_kept ("/0", i + 1, i));
      most = MAX (most, g_hash_table_size (inbox->rows));
    }

  g_assert_cmpuint (most, <=, 5000);
  g_assert_cmpuint (g_hash_table_size (inbox->keeps), ==, 1);
}

static const char *
value_of (GHashTable *values)
{
  const InboxValue *value = g_hash_table_lookup (values, "name");

  return g_bytes_get_data (value->value, NULL);
}

static void
fill (Inbox *inbox, const char *text, guint64 ticket)
{
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text) + 1);
  const NodeId id = { 1, (guint32)ticket, 1 };

  inbox->ticket = ticket;
  inbox_add_value (inbox->constants, "name", "type", bytes);
  inbox_add_value (inbox->bests, "name", "type", bytes);
  g_hash_table_replace (inbox->shown, g_strdup ("name"), g_strdup (text));
  inbox_answer (inbox, bytes, (int)ticket);
  inbox_add_member (inbox, &(InboxMember){ .host = (char *)text });
  inbox_add_event (inbox, &(InboxEvent){ .kind = (char *)text, .detail = (char *)text });
  inbox->present = g_array_new (FALSE, FALSE, sizeof (NodeId));
  g_array_append_val (inbox->present, id);
}

/* An inbox with any one thing to write is not empty. */
static void
test_nothing_is_taken_for_empty (void)
{
  const guint kinds = 8;

  for (guint kind = 0; kind <= kinds; kind++)
    {
      g_autoptr (Inbox) inbox = inbox_new ();
      g_autoptr (GBytes) bytes = g_bytes_new_static ("a", 2);

      switch (kind)
        {
        case 0:
          inbox_add_row (inbox, row_make_kept ("/0", 1, 1));
          break;
        case 1:
          inbox_add_value (inbox->constants, "name", "type", bytes);
          break;
        case 2:
          inbox_add_value (inbox->bests, "name", "type", bytes);
          break;
        case 3:
          inbox_answer (inbox, bytes, 0);
          break;
        case 4:
          inbox_add_member (inbox, &(InboxMember){ .host = (char *)"a" });
          break;
        case 5:
          inbox_add_event (inbox, &(InboxEvent){ .kind = (char *)"a" });
          break;
        case 6:
          inbox->present = g_array_new (FALSE, FALSE, sizeof (NodeId));
          break;
        case 7:
          inbox_add_row (inbox, row_make ("/0", 1, 1, 0));
          break;
        default:
          break; /* a ticket alone needs no write */
        }
      g_assert_cmpint (inbox_is_empty (inbox), ==, kind == kinds);
    }
}

/* Of two values with one name the newer stays, but of two answers the first. Members and events
 * stay in order. */
static void
test_all_kinds_go_back (void)
{
  for (guint newer = 0; newer < 2; newer++)
    {
      g_autoptr (Inbox) inbox = inbox_new ();
      Inbox *older = inbox_new ();
      const char *stays = newer ? "new" : "old";
      fill (older, "old", 1);
      if (newer)
        fill (inbox, "new", 2);
      inbox_put_back (inbox, older);

      g_assert_cmpuint (inbox->ticket, ==, 1 + newer);
      g_assert_cmpstr (value_of (inbox->constants), ==, stays);
      g_assert_cmpstr (value_of (inbox->bests), ==, stays);
      g_assert_cmpstr (g_hash_table_lookup (inbox->shown, "name"), ==, stays);
      g_assert_cmpuint (g_array_index (inbox->present, NodeId, 0).number, ==, 1 + newer);
      g_assert_cmpstr (g_bytes_get_data (inbox->answer, NULL), ==, "old");
      g_assert_cmpint (inbox->exit_code, ==, 1);
      g_assert_cmpuint (inbox->members.length, ==, 1 + newer);
      g_assert_cmpstr (((InboxMember *)inbox->members.head->data)->host, ==, "old");
      g_assert_cmpuint (inbox->events.length, ==, 1 + newer);
      g_assert_cmpstr (((InboxEvent *)inbox->events.head->data)->kind, ==, "old");
      g_assert_cmpstr (((InboxEvent *)inbox->events.tail->data)->detail, ==, stays);
    }
}

static void
add_happening (Inbox *inbox, const char *text)
{
  inbox_add_member (inbox, &(InboxMember){ .host = (char *)text });
  inbox_add_event (inbox, &(InboxEvent){ .kind = (char *)text });
}

/* Members and events that could not be written come before those that were added meanwhile, each
 * group in its order. */
static void
test_what_happened_stays_in_order (void)
{
  static const char *const texts[] = { "a", "b", "c", "d", "e" };
  g_autoptr (Inbox) inbox = inbox_new ();
  Inbox *older = inbox_new ();
  const GList *member, *event;

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    add_happening (i < 3 ? older : inbox, texts[i]);
  inbox_put_back (inbox, older);
  member = inbox->members.head;
  event = inbox->events.head;
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_assert_cmpstr (((InboxMember *)member->data)->host, ==, texts[i]);
      g_assert_cmpstr (((InboxEvent *)event->data)->kind, ==, texts[i]);
      member = member->next;
      event = event->next;
    }
  g_assert_true (member == NULL && event == NULL);
}

/* While nothing can be written, the oldest events and members give way to the newest. */
static void
test_the_newest_happenings_stay (void)
{
  enum
  {
    EVENTS_KEPT = 10000,
    MEMBERS_KEPT = 100000
  };
  g_autoptr (Inbox) inbox = inbox_new ();
  for (gint64 i = 0; i <= MEMBERS_KEPT; i++)
    {
      inbox_add_member (inbox, &(InboxMember){ .at = i });
      inbox_add_event (inbox, &(InboxEvent){ .kind = (char *)"a", .at = i });
    }
  g_assert_cmpuint (inbox->members.length, ==, MEMBERS_KEPT);
  g_assert_cmpuint (inbox->events.length, ==, EVENTS_KEPT);
  g_assert_cmpint (((InboxMember *)inbox->members.head->data)->at, ==, 1);
  g_assert_cmpint (((InboxMember *)inbox->members.tail->data)->at, ==, MEMBERS_KEPT);
  g_assert_cmpint (((InboxEvent *)inbox->events.head->data)->at, ==,
                   MEMBERS_KEPT - EVENTS_KEPT + 1);
  g_assert_cmpint (((InboxEvent *)inbox->events.tail->data)->at, ==, MEMBERS_KEPT);
}

static void
test_the_first_answer_counts (void)
{
  g_autoptr (Inbox) inbox = inbox_new ();
  g_autoptr (GBytes) first = g_bytes_new_static ("a", 2), second = g_bytes_new_static ("b", 2);
  inbox_answer (inbox, first, 3);
  inbox_answer (inbox, second, 4);

  g_assert_cmpstr (g_bytes_get_data (inbox->answer, NULL), ==, "a");
  g_assert_cmpint (inbox->exit_code, ==, 3);
}

/* A kept state of five children removes the rows of those, and not of the sixth. */
static void
test_the_phase_that_runs_stays (void)
{
  g_autoptr (Inbox) inbox = inbox_new ();
  inbox_add_row (inbox, row_make_kept ("/0", 5, 16));
  for (guint32 i = 0; i < 5000; i++)
    {
      g_autofree char *path = g_strdup_printf ("/0/%u", i);
      g_autofree char *other = g_strdup_printf ("/1/%u", i);
      if (i < 6)
        inbox_add_row (inbox, row_make (path, i, 1, 0));
      inbox_add_row (inbox, row_make (other, i, 1, 0));
    }

  for (guint32 i = 0; i < 6; i++)
    {
      g_autofree char *path = g_strdup_printf ("/0/%u", i);
      g_assert_cmpint (g_hash_table_contains (inbox->rows, path), ==, i == 5);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/inbox/the-state-that-stands-for-more-stays",
                   test_the_state_that_stands_for_more_stays);
  g_test_add_func ("/inbox/what-could-not-be-written-goes-under-what-came-since",
                   test_what_could_not_be_written_goes_under_what_came_since);
  g_test_add_func ("/inbox/phases-do-not-pile-up", test_phases_do_not_pile_up);
  g_test_add_func ("/inbox/all-kinds-go-back", test_all_kinds_go_back);
  g_test_add_func ("/inbox/the-newest-happenings-stay", test_the_newest_happenings_stay);
  g_test_add_func ("/inbox/the-first-answer-counts", test_the_first_answer_counts);
  g_test_add_func ("/inbox/what-happened-stays-in-order", test_what_happened_stays_in_order);
  g_test_add_func ("/inbox/a-kept-state-loses-no-work", test_a_kept_state_loses_no_work);
  g_test_add_func ("/inbox/nothing-is-taken-for-empty", test_nothing_is_taken_for_empty);
  g_test_add_func ("/inbox/rows-of-another-digest-stay", test_rows_of_another_digest_stay);
  g_test_add_func ("/inbox/the-phase-that-runs-stays", test_the_phase_that_runs_stays);
  return g_test_run ();
}
