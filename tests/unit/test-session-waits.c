/* SPDX-License-Identifier: BSD-3-Clause */
/* What a session waits for, and how long. */
#include "session-pair.h"

/* Any frame from the other end shows that the connection works. */
static void
test_stall_while_hearing (void)
{
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  pair_send_text (&pair, 0, SESSION_BULK, "a");
  pair_carry (&pair, 0, 0); /* the frames are lost */
  for (guint i = 0; i < 3; i++)
    {
      pair.now_us += SESSION_STALL_US - 1;
      session_tick (pair.end[0].session, pair.now_us);
      g_assert_false (session_wants (pair.end[0].session));
      if (i == 2)
        break;
      pair_send_text (&pair, 1, SESSION_BULK, "b");
      pair_carry (&pair, 1, 1);
      pair_carry (&pair, 0, 0);
    }
  pair.now_us++;
  session_tick (pair.end[0].session, pair.now_us);
  g_assert_true (session_wants (pair.end[0].session));
  pair_clear (&pair);
}

/* Bulk data overtakes no urgent message, not even one that waits until others have arrived. */
static void
test_bulk_waits_for_urgent (void)
{
  char large[FLIGHT + FRAGMENT] = { 0 };
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  guint before = pair.end[0].sent;
  pair_send_bytes (&pair, 0, SESSION_URGENT, large, sizeof large);
  pair_send_text (&pair, 0, SESSION_BULK, "b");
  pair_carry (&pair, 0, 0);
  g_assert_cmpuint (pair.end[0].sent - before, ==, FLIGHT / FRAGMENT);
  pair_clear (&pair);
}

/* Some connections wait for a greeting: the first one is due first, and none is closed before there
 * are too many. */
static void
test_many_greetings (void)
{
  Pair pair;

  pair_init (&pair);
  Session *session = pair.end[0].session;
  guint64 first_us = pair.now_us;
  for (guint i = 1; i <= SESSION_CONNECTIONS_MAX + 1; i++)
    {
      session_connection_up (session, pair.now_us, i, TRUE, FALSE);
      g_assert_cmpuint (session_n_connections (session), ==, MIN (i, SESSION_CONNECTIONS_MAX));
      if (i <= SESSION_CONNECTIONS_MAX)
        g_assert_cmpuint (session_due (session), ==, first_us + SESSION_GREET_US);
      pair.now_us += SECOND / 10;
    }
  pair_clear (&pair);
}

/* ---- acknowledgements ---- */

/* The first fragment that waits for an acknowledgement decides when it is sent; the ones that come
 * later do not defer it. */
static void
test_first_decides (void)
{
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  guint64 at_us = pair.now_us + SESSION_LATE_US;
  for (guint i = 0; i < 3; i++, pair.now_us += SECOND)
    {
      pair_send_text (&pair, 0, SESSION_URGENT, "a");
      pair_settle (&pair);
      g_assert_cmpuint (session_due (pair.end[1].session), ==, at_us);
    }
  pair_clear (&pair);
}

/* The sender keeps a large message until all of it is acknowledged, so its end is acknowledged
 * soon, although the fragments before it were acknowledged on the way. */
static void
test_end_of_a_large_message (void)
{
  static const SessionConfig config = { .fragment = 4096, .flight_max = 16384 };
  static const char large[SESSION_LITTLE + 100]; /* the last fragment has 100 bytes */
  Pair pair;

  pair_init_with (&pair, &config);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  pair_send_bytes (&pair, 0, SESSION_BULK, large, sizeof large);
  pair_settle (&pair);
  g_assert_cmpuint (pair.end[1].got->len, ==, 1);
  g_assert_cmpuint (session_waiting_bytes (pair.end[0].session), >, 0);
  g_assert_cmpuint (session_due (pair.end[1].session), ==, pair.now_us + SESSION_ACK_US);
  pair_clear (&pair);
}

/* An acknowledgement goes back over the connection on which the fragment came: the sender counts
 * on that one only. What is sent over others does not settle it. */
static void
test_answer_has_its_connection (void)
{
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  pair_send_text (&pair, 0, SESSION_URGENT, "a");
  pair_settle (&pair);
  guint64 at_us = pair.now_us + SESSION_LATE_US;
  session_connection_up (pair.end[1].session, pair.now_us, 2, FALSE, FALSE); /* says HELLO */
  g_assert_cmpuint (session_due (pair.end[1].session), ==, at_us);
  g_assert_false (session_acknowledge (pair.end[1].session, 2));
  g_assert_true (session_acknowledge (pair.end[1].session, 1));
  g_assert_false (session_acknowledge (pair.end[1].session, 1));
  pair_clear (&pair);
}

/* ---- patience ---- */

/* An acknowledgement shows that the carrier works, over whatever connection it comes. */
static void
test_acknowledged_over_another (void)
{
  SessionFrame ack = { .kind = SESSION_FRAME_ACK, .received = { [SESSION_BULK] = 1 } };
  g_autoptr (GBytes) bytes = session_frame_encode (&ack);
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_link_up (&pair, 2, 1, FALSE); /* worse, and the other end's to retire */
  pair_carry (&pair, 1, 2);
  pair_carry (&pair, 0, 0);
  g_assert_cmpuint (session_n_connections (pair.end[0].session), ==, 2);
  for (guint i = 0; i < 2; i++)
    pair_send_text (&pair, 0, SESSION_BULK, "a");
  pair.now_us += SESSION_STALL_US / 2;
  session_hear (pair.end[0].session, pair.now_us, 2, bytes);
  g_assert_cmpuint (session_due (pair.end[0].session), ==, pair.now_us + SESSION_STALL_US);
  pair_clear (&pair);
}

/* A stalled connection over which something comes works again. */
static void
test_stalled_and_heard (void)
{
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  pair_send_text (&pair, 0, SESSION_URGENT, "a");
  SessionEffect late = pair_take (&pair.end[0]);
  pair_wait_for (&pair, 0);
  g_assert_true (session_wants (pair.end[0].session));
  g_autoptr (GBytes) bytes = pair_join (late.parts);
  session_hear (pair.end[1].session, pair.now_us, 1, bytes);
  pair_send_text (&pair, 1, SESSION_URGENT, "b"); /* acknowledges "a" */
  pair_settle (&pair);
  pair_assert_got (&pair.end[0], 1, "b");
  g_assert_cmpint (session_state (pair.end[0].session), ==, SESSION_OPEN);
  g_assert_cmpuint (session_n_connections (pair.end[0].session), ==, 1);
  session_effect_clear (&late);
  pair_clear (&pair);
}

/* The patience doubles up to a limit, so a session that had bad luck for long recovers. */
static void
test_patience_is_limited (void)
{
  guint64 waited_us = 0;
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  pair_send_text (&pair, 0, SESSION_BULK, "a");
  for (guint64 number = 2; number < 12; number++)
    {
      pair_carry (&pair, 0, 0);
      waited_us = session_due (pair.end[0].session) - pair.now_us;
      pair_wait_for (&pair, 0);
      pair_carry (&pair, 0, 0);
      pair_link_up (&pair, number, 1, FALSE);
      pair_carry (&pair, 1, 1);
    }
  g_assert_cmpuint (waited_us, ==, 64 * SESSION_STALL_US);
  pair_clear (&pair);
}

/* The time of silence begins with the last message in either direction. */
static void
test_idle_since_the_last_message (void)
{
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  pair.now_us += SESSION_IDLE_US / 2;
  guint64 since_us = pair.now_us;
  pair_send_text (&pair, 0, SESSION_URGENT, "a");
  pair_settle (&pair);
  pair_wait_for (&pair, 1); /* the acknowledgement */
  pair_settle (&pair);
  for (guint i = 0; i < 2; i++)
    g_assert_cmpuint (session_due (pair.end[i].session), ==, since_us + SESSION_IDLE_US);
  pair_clear (&pair);
}

/* ---- which connections stay ---- */

/* The connections that a session closed, as a text. */
static char *
closed (End *end)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < end->effects->len; i++)
    {
      const SessionEffect *effect = &g_array_index (end->effects, SessionEffect, i);
      if (effect->kind == SESSION_EFFECT_CLOSE)
        g_string_append_printf (text, " %" G_GUINT64_FORMAT, effect->connection);
    }
  return g_string_free (text, FALSE);
}

/* Of connections that are equal otherwise the newest carries, and the end that dialled the others
 * retires them. */
static void
test_newest_stays (void)
{
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  pair_link_up (&pair, 2, 0, FALSE);
  pair_carry (&pair, 0, G_MAXUINT);
  SessionEffect hello = pair_take (&pair.end[1]);
  g_autoptr (GBytes) bytes = pair_join (hello.parts);
  session_hear (pair.end[0].session, pair.now_us, 2, bytes);
  g_autofree char *text = closed (&pair.end[0]);
  g_assert_cmpstr (text, ==, " 1");
  session_effect_clear (&hello);
  pair_clear (&pair);
}

/* When there are too many, a relayed one goes before a direct one. */
static void
test_worst_goes (void)
{
  for (guint64 relayed = 1; relayed <= SESSION_CONNECTIONS_MAX; relayed++)
    {
      Pair pair;

      pair_init (&pair);
      for (guint64 i = 1; i <= SESSION_CONNECTIONS_MAX + 1; i++)
        session_connection_up (pair.end[0].session, pair.now_us, i, TRUE, i == relayed);
      g_autofree char *text = closed (&pair.end[0]),
                      *wanted = g_strdup_printf (" %u", (guint)relayed);
      g_assert_cmpstr (text, ==, wanted);
      pair_clear (&pair);
    }
}

/* A HELLO that needs its connection says nothing of one whose HELLO is still on its way. */
static void
test_needed_leaves_greetings (void)
{
  SessionFrame hello
      = { .kind = SESSION_FRAME_HELLO, .from = pair_ids[1], .to = pair_ids[0], .order = 1 };
  Pair pair;

  pair_init (&pair);
  for (guint64 i = 1; i <= 3; i++)
    session_connection_up (pair.end[0].session, pair.now_us, i, FALSE, FALSE);
  g_autoptr (GBytes) first = session_frame_encode (&hello);
  session_hear (pair.end[0].session, pair.now_us, 1, first);
  hello.order = 3;
  hello.needed = TRUE;
  g_autoptr (GBytes) needed = session_frame_encode (&hello);
  session_hear (pair.end[0].session, pair.now_us, 3, needed);
  g_autofree char *text = closed (&pair.end[0]);
  g_assert_cmpstr (text, ==, " 1");
  pair_clear (&pair);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/session-waits/stall-while-hearing", test_stall_while_hearing);
  g_test_add_func ("/session-waits/bulk-waits-for-urgent", test_bulk_waits_for_urgent);
  g_test_add_func ("/session-waits/many-greetings", test_many_greetings);
  g_test_add_func ("/session-waits/first-decides", test_first_decides);
  g_test_add_func ("/session-waits/end-of-a-large-message", test_end_of_a_large_message);
  g_test_add_func ("/session-waits/answer-has-its-connection", test_answer_has_its_connection);
  g_test_add_func ("/session-waits/acknowledged-over-another", test_acknowledged_over_another);
  g_test_add_func ("/session-waits/stalled-and-heard", test_stalled_and_heard);
  g_test_add_func ("/session-waits/patience-is-limited", test_patience_is_limited);
  g_test_add_func ("/session-waits/idle-since-the-last-message", test_idle_since_the_last_message);
  g_test_add_func ("/session-waits/newest-stays", test_newest_stays);
  g_test_add_func ("/session-waits/worst-goes", test_worst_goes);
  g_test_add_func ("/session-waits/needed-leaves-greetings", test_needed_leaves_greetings);
  return g_test_run ();
}
