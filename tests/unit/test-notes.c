/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of coordinator/notes.c: the ledger of a run with several coordinators. Links coordinator,
 * storage and value. */
#include "checkpoint.h"

#include "coordinator/inbox.h"
#include "coordinator/notes.h"

#include "storage/rowsum.h"
#include "storage/sql.h"

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

/* ---- a table alone ---- */

static Sql *
new_file (void)
{
  Sql *sql = sql_create_private (0, NULL);
  g_assert_nonnull (sql);
  rowsum_identify (sql, "00112233445566778899aabbccddeeff");
  return sql;
}

static void
assert_text (Sql *sql, const char *query, const char *wanted)
{
  sqlite3_stmt *statement = NULL;
  g_assert_cmpint (sqlite3_prepare_v2 (sql->db, query, -1, &statement, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_step (statement), ==, SQLITE_ROW);
  g_assert_cmpstr ((const char *)sqlite3_column_text (statement, 0), ==, wanted);
  sqlite3_finalize (statement);
}

static void
write_inbox (Sql *sql, Inbox *inbox)
{
  g_autoptr (GError) error = NULL;
  g_assert_true (notes_write (sql, inbox, &error));
  g_assert_no_error (error);
  inbox_free (inbox);
}

static void
write_event (Sql *sql, const char *kind)
{
  g_assert_true (notes_event (sql, &(TablesEvent){ .at = 9, .kind = kind }, NULL));
}

static void
join (Inbox *inbox, const NodeId *id)
{
  inbox_add_member (inbox, &(InboxMember){ .id = *id,
                                           .host = (char *)"h",
                                           .site = (char *)"s",
                                           .address = (char *)"unix:/a",
                                           .at = 5 });
}

/* A life that began after the last end was lost, also if only an election was seen of it. A node
 * leaves once, and only if it has joined. */
static void
test_who_leaves_when_a_life_begins (void)
{
  static const struct
  {
    const char *kinds[3], *cause;
  } cases[] = { { { NOTES_ENDED, NULL }, "ended" },
                { { NOTES_ENDED, "elected", NULL }, "gone at a take-over" },
                { { NOTES_ENDED, "joined", NULL }, "gone at a take-over" },
                { { NOTES_ENDED, "best", NULL }, "ended" },
                { { "elected", NULL }, "gone at a take-over" } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Sql) sql = new_file ();
      g_autofree char *wanted
          = g_strdup_printf ("1.2.00000002crashed 1.1.00000001%s", cases[i].cause);
      Inbox *inbox = inbox_new ();
      gint64 number;
      g_assert_true (tables_number_node (sql, "9.9.00000009", &number, NULL));
      join (inbox, &one);
      join (inbox, &two);
      inbox_add_event (inbox, &(InboxEvent){ .kind = (char *)"left",
                                             .node = two,
                                             .detail = (char *)"crashed",
                                             .at = 6,
                                             .told = TRUE });
      write_inbox (sql, inbox);
      for (guint k = 0; cases[i].kinds[k] != NULL; k++)
        write_event (sql, cases[i].kinds[k]);
      g_assert_true (notes_begin_life (sql, NULL));
      assert_text (sql,
                   "SELECT group_concat (name || detail, ' ') FROM (SELECT node.id AS name, detail"
                   " FROM event JOIN node ON node.n = event.node WHERE kind = 'left'"
                   " ORDER BY event.id)",
                   wanted);
      assert_text (sql, "SELECT cause FROM node WHERE id = '1.2.00000002'", "crashed");
    }
}

/* An end says whether the run is done. An event without a time happens now. */
static void
test_an_end_says_how (void)
{
  for (gboolean is_done = FALSE; is_done <= TRUE; is_done++)
    {
      g_autoptr (Sql) sql = new_file ();
      g_autoptr (GBytes) answer = g_bytes_new_static ("42\n", 3);
      Inbox *inbox = inbox_new ();
      inbox->present = g_array_new (FALSE, FALSE, sizeof (NodeId));
      if (is_done)
        inbox_answer (inbox, answer, 0);
      write_inbox (sql, inbox);
      assert_text (sql, "SELECT ifnull (detail, '-') FROM event WHERE kind = '" NOTES_ENDED "'",
                   is_done ? "finished" : "-");
      assert_text (sql, "SELECT at > 1000000000 FROM event WHERE kind = '" NOTES_ENDED "'", "1");
      write_event (sql, "elected");
      assert_text (sql, "SELECT at FROM event WHERE kind = 'elected'", "9");
    }
}

/* The list names each input, the first one too. */
static void
test_a_single_input_is_listed (void)
{
  g_autoptr (Sql) sql = new_file ();
  g_autoptr (GBytes) bytes = g_bytes_new_static ("x", 1);
  Inbox *inbox = inbox_new ();
  inbox_add_value (inbox->constants, "input/a b", "ay", bytes);
  write_inbox (sql, inbox);
  assert_text (sql, "SELECT substr (value, 33) FROM run WHERE key = 'inputs'", " a b");
}

/* The cost of an event is in seconds, whether a node told of it or the coordinator saw it; an event
 * that nobody's node told of is an event, too. */
static void
test_an_event_costs_seconds (void)
{
  for (guint told = 0; told < 2; told++)
    for (guint has_node = 0; has_node < 2; has_node++)
      {
        g_autoptr (Sql) sql = new_file ();
        Inbox *inbox = inbox_new ();
        inbox_add_event (inbox, &(InboxEvent){ .kind = (char *)"requeued",
                                               .node = has_node ? one : NODE_ID_NONE,
                                               .path = (char *)"/0/1",
                                               .work_us = 1500000,
                                               .at = 6,
                                               .told = told });
        write_inbox (sql, inbox);
        assert_text (sql, "SELECT kind || path || ' ' || work_s FROM event", "requeued/0/1 1.5");
        assert_text (sql, "SELECT node IS NULL FROM event", has_node ? "0" : "1");
      }
}

/* Each best value is in the history once, though every new coordinator hears of it again. */
static void
test_a_best_value_is_noted_once (void)
{
  static const char *const shown[] = { "7", "7", "6", "6" };
  g_autoptr (Sql) sql = new_file ();
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    {
      Inbox *inbox = inbox_new ();
      g_hash_table_replace (inbox->shown, g_strdup ("length"), g_strdup (shown[i]));
      write_inbox (sql, inbox);
    }
  assert_text (sql, "SELECT group_concat (detail) FROM event WHERE kind = 'best'",
               "length: 7,length: 6");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/notes/what-is-told-again-is-one-row", test_what_is_told_again_is_one_row);
  g_test_add_func ("/notes/who-left-has-joined", test_who_left_has_joined);
  g_test_add_func ("/notes/a-life-begins-alone", test_a_life_begins_alone);
  g_test_add_func ("/notes/at-the-end-the-others-are-gone", test_at_the_end_the_others_are_gone);
  g_test_add_func ("/notes/who-leaves-when-a-life-begins", test_who_leaves_when_a_life_begins);
  g_test_add_func ("/notes/an-end-says-how", test_an_end_says_how);
  g_test_add_func ("/notes/a-single-input-is-listed", test_a_single_input_is_listed);
  g_test_add_func ("/notes/a-best-value-is-noted-once", test_a_best_value_is_noted_once);
  g_test_add_func ("/notes/an-event-costs-seconds", test_an_event_costs_seconds);
  return g_test_run ();
}
