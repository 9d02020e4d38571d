/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests one rule of connections and silence at a time; tests/sim/sessions looks for unforeseen
 * cases. */
#include "config.h"

#include "session-pair.h"

#include <string.h>

/* ---- opening ---- */

/* The first connection of a quiet session carries data at once; the message arrives with the
 * HELLO. */
static void
test_first_at_once (void)
{
  Pair pair;

  pair_init (&pair);
  g_assert_cmpint (session_state (pair.end[0].session), ==, SESSION_CLOSED);
  pair_send_text (&pair, 0, SESSION_URGENT, "steal");
  g_assert_true (session_wants (pair.end[0].session));
  pair_link_up (&pair, 1, 0, FALSE);
  pair_forget_effects (&pair.end[1]); /* its HELLO is slow */
  pair_carry (&pair, 0, G_MAXUINT);
  pair_carry (&pair, 1, 0);
  pair_assert_got (&pair.end[1], 1, "steal");
  g_assert_cmpuint (pair.end[0].wants, ==, 1);
  pair_clear (&pair);
}

/* If something may have been lost, nothing is sent before the other end has reported how far it
 * got; then exactly what it lacks. */
static void
test_rest_is_sent_again (void)
{
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  pair_send_text (&pair, 0, SESSION_BULK, "one");
  pair_send_text (&pair, 0, SESSION_BULK, "two");
  pair_send_text (&pair, 0, SESSION_BULK, "three");
  pair_carry (&pair, 0, 2);
  pair_carry (&pair, 1, 0);
  pair_assert_got (&pair.end[1], 2, "two");
  pair_link_down (&pair, 1);
  g_assert_cmpint (session_state (pair.end[0].session), ==, SESSION_SEEKING);
  g_assert_cmpint (session_state (pair.end[1].session), ==, SESSION_CLOSED);
  pair_forget_effects (&pair.end[0]);

  session_connection_up (pair.end[0].session, pair.now_us, 2, TRUE, FALSE);
  g_assert_cmpuint (pair.end[0].effects->len, ==, 1); /* HELLO */
  session_connection_up (pair.end[1].session, pair.now_us, 2, FALSE, FALSE);
  pair.end[0].sent = 0;
  pair_settle (&pair);
  pair_assert_got (&pair.end[1], 3, "three");
  g_assert_cmpuint (pair.end[0].sent, ==, 2);
  pair_clear (&pair);
}

static void
test_wanted_until_it_works (void)
{
  Pair pair;

  pair_init (&pair);
  pair_send_text (&pair, 0, SESSION_URGENT, "x");
  pair_send_text (&pair, 0, SESSION_URGENT, "y");
  pair_carry (&pair, 0, 0);
  g_assert_cmpuint (pair.end[0].wants, ==, 1);
  for (guint i = 1; i <= 3; i++) /* each connection breaks before anything is received */
    {
      session_connection_up (pair.end[0].session, pair.now_us, i, TRUE, FALSE);
      g_assert_false (session_wants (pair.end[0].session));
      session_connection_down (pair.end[0].session, pair.now_us, i);
      g_assert_true (session_wants (pair.end[0].session));
      pair_carry (&pair, 0, 0);
      g_assert_cmpuint (pair.end[0].wants, ==, 1 + i);
    }
  session_connection_up (pair.end[0].session, pair.now_us, 4, TRUE, FALSE);
  pair_wait_for (&pair, 0); /* no HELLO */
  pair_carry (&pair, 0, 0);
  g_assert_cmpuint (pair.end[0].refused, ==, 1);
  g_assert_cmpuint (pair.end[0].wants, ==, 5);
  pair_clear (&pair);
}

static void
hear (Pair *pair, guint i, guint64 number, SessionFrame frame)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);

  g_ptr_array_add (parts, session_frame_encode (&frame));
  if (frame.payload > 0)
    g_ptr_array_add (parts, g_bytes_new_static ("early", frame.payload));
  g_autoptr (GBytes) bytes = pair_join (parts);
  session_hear (pair->end[i].session, pair->now_us, number, bytes);
}

/* A connection that sends anything before its HELLO, or a second HELLO, is closed. Its frames have
 * no effect. */
static void
test_hello_first_and_once (void)
{
  const SessionFrame hello
      = { .kind = SESSION_FRAME_HELLO, .from = pair_ids[0], .to = pair_ids[1], .order = 1 };

  for (SessionFrameKind kind = SESSION_FRAME_HELLO; kind <= SESSION_FRAME_BYE; kind++)
    for (guint greeted = 0; greeted < 2; greeted++)
      {
        gsize size = kind == SESSION_FRAME_DATA ? strlen ("early") : 0;
        SessionFrame frame = { .kind = kind, .number = 1, .total = 5, .payload = size };
        gboolean good = (kind == SESSION_FRAME_HELLO) != (greeted > 0);
        Pair pair;

        pair_init (&pair);
        session_connection_up (pair.end[1].session, pair.now_us, 1, FALSE, FALSE);
        if (greeted > 0)
          hear (&pair, 1, 1, hello);
        hear (&pair, 1, 1, kind == SESSION_FRAME_HELLO ? hello : frame);
        pair_carry (&pair, 1, 0);
        g_assert_cmpuint (pair.end[1].refused, ==, good ? 0 : 1);
        g_assert_cmpuint (pair.end[1].got->len, ==, good && kind == SESSION_FRAME_DATA ? 1 : 0);
        g_assert_cmpuint (session_n_connections (pair.end[1].session), ==,
                          good && kind != SESSION_FRAME_BYE ? 1 : 0);
        pair_clear (&pair);
      }
}

/* ---- acknowledgements ---- */

/* A message that was not sent cannot have arrived: a node that acknowledges it is no member, and
 * its connection ends. */
static void
test_what_waits_cannot_be_acknowledged (void)
{
  const char text[] = "more bytes than may be on their way at once, so the last ones of these wait";

  for (guint64 number = 1; number <= 6; number++)
    {
      SessionFrame ack = { .kind = SESSION_FRAME_ACK };
      gboolean sent = number <= FLIGHT / FRAGMENT;
      Pair pair;

      g_assert_cmpuint (sizeof text, >, FLIGHT);
      pair_init (&pair);
      pair_link_up (&pair, 1, 0, FALSE);
      pair_settle (&pair);
      pair_send_text (&pair, 0, SESSION_BULK, text);
      pair_carry (&pair, 0, 0);
      ack.received[SESSION_BULK] = number;
      hear (&pair, 0, 1, ack);
      pair_carry (&pair, 0, 0);
      g_assert_cmpuint (pair.end[0].refused, ==, !sent);
      pair_clear (&pair);
    }
}

/* An end that sends a fragment again has not received the acknowledgement: the copy is
 * acknowledged, too. */
static void
test_copy_is_acknowledged (void)
{
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  pair_send_text (&pair, 0, SESSION_BULK, "once");
  SessionEffect sent = pair_take (&pair.end[0]);
  g_autoptr (GBytes) bytes = pair_join (sent.parts);
  session_effect_clear (&sent);
  for (guint copies = 1; copies <= 3; copies++)
    {
      session_hear (pair.end[1].session, pair.now_us, 1, bytes);
      g_assert_cmpuint (session_due (pair.end[1].session), ==, pair.now_us + SESSION_LATE_US);
      pair_wait_for (&pair, 1);
      pair_carry (&pair, 1, 0); /* the acknowledgement is lost */
      g_assert_cmpuint (pair.end[1].acks, ==, copies);
    }
  pair_assert_got (&pair.end[1], 1, "once");
  pair_clear (&pair);
}

/* ---- several connections ---- */

/* The same connection remains for both ends, and neither asks for another. */
static void
test_both_dial (void)
{
  Pair pair;

  pair_init (&pair);
  pair_send_text (&pair, 0, SESSION_URGENT, "from the elder");
  pair_send_text (&pair, 1, SESSION_URGENT, "from the younger");
  session_connection_up (pair.end[0].session, pair.now_us, 1, TRUE, FALSE);
  session_connection_up (pair.end[1].session, pair.now_us, 2, TRUE, FALSE);
  session_connection_up (pair.end[0].session, pair.now_us, 2, FALSE, FALSE);
  session_connection_up (pair.end[1].session, pair.now_us, 1, FALSE, FALSE);
  pair_settle (&pair);
  pair_assert_got (&pair.end[0], 1, "from the younger");
  pair_assert_got (&pair.end[1], 1, "from the elder");
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpuint (session_n_connections (pair.end[i].session), ==, 1);
      g_assert_cmpuint (pair.end[i].wants, ==, 1);
      g_assert_cmpuint (pair.end[i].refused, ==, 0);
    }
  g_assert_cmpuint (pair.end[1].byes, ==, 1);
  g_assert_cmpuint (pair.end[0].byes, ==, 0);
  pair_clear (&pair);
}

/* A direct connection replaces a relayed one, whichever end began either, in the middle of a
 * message. */
static void
test_direct_takes_over (void)
{
  for (guint first = 0; first < 2; first++)
    for (guint second = 0; second < 2; second++)
      {
        char large[10 * FRAGMENT];
        Pair pair;

        memset (large, 'x', sizeof large);
        pair_init (&pair);
        pair_link_up (&pair, 1, first, TRUE);
        pair_settle (&pair);
        pair_send_bytes (&pair, 0, SESSION_BULK, large, sizeof large);
        pair_carry (&pair, 0, 2);
        pair_carry (&pair, 1, 0);
        pair_link_up (&pair, 2, second, FALSE);
        pair_settle (&pair);
        g_assert_cmpuint (pair.end[1].got->len, ==, 1);
        g_assert_cmpuint (session_n_connections (pair.end[0].session), ==, 1);
        g_assert_cmpuint (pair.end[first].byes, ==, 1);
        g_assert_cmpuint (pair.end[!first].byes, ==, 0);
        session_connection_down (pair.end[0].session, pair.now_us,
                                 1); /* which is the retired one */
        g_assert_cmpint (session_state (pair.end[0].session), ==, SESSION_OPEN);
        pair_clear (&pair);
      }
}

/* Late frames of an old connection are dropped, also when it is still open. */
static void
test_late_bytes (void)
{
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  pair_send_text (&pair, 0, SESSION_BULK, "once");
  SessionEffect late = pair_take (&pair.end[0]);
  g_autoptr (GBytes) bytes = pair_join (late.parts);
  session_effect_clear (&late);
  pair_link_up (&pair, 2, 0, FALSE);
  pair_carry (&pair, 1, G_MAXUINT);
  while (pair.end[0].effects->len > 0)
    {
      SessionEffect effect = pair_take (&pair.end[0]);
      if (effect.kind == SESSION_EFFECT_SEND && effect.connection == 2)
        {
          g_autoptr (GBytes) frame = pair_join (effect.parts);
          session_hear (pair.end[1].session, pair.now_us, 2, frame);
        }
      session_effect_clear (&effect);
    }
  session_hear (pair.end[1].session, pair.now_us, 1, bytes);
  pair_carry (&pair, 1, 0);
  pair_assert_got (&pair.end[1], 1, "once");
  session_connection_down (pair.end[1].session, pair.now_us, 1);
  session_hear (pair.end[1].session, pair.now_us, 1, bytes);
  pair_settle (&pair);
  g_assert_cmpuint (pair.end[1].got->len, ==, 1);
  g_assert_cmpuint (pair.end[1].refused, ==, 0);
  pair_clear (&pair);
}

/* A slow HELLO says that the connections before it do not work. It does not mean a connection that
 * came up since then. */
static void
test_slow_hello (void)
{
  SessionFrame slow = {
    .kind = SESSION_FRAME_HELLO, .from = pair_ids[1], .to = pair_ids[0], .order = 2, .needed = TRUE
  };
  SessionFrame hello = { .kind = SESSION_FRAME_HELLO, .from = pair_ids[1], .to = pair_ids[0] };
  Pair pair;

  pair_init (&pair);
  for (guint i = 1; i <= 3; i++)
    session_connection_up (pair.end[0].session, pair.now_us, i, FALSE, FALSE);
  for (guint i = 1; i <= 3; i += 2)
    {
      hello.order = i;
      g_autoptr (GBytes) bytes = session_frame_encode (&hello);
      session_hear (pair.end[0].session, pair.now_us, i, bytes);
    }
  g_assert_cmpuint (session_n_connections (pair.end[0].session), ==, 3);
  g_autoptr (GBytes) bytes = session_frame_encode (&slow);
  session_hear (pair.end[0].session, pair.now_us, 2, bytes);
  g_assert_cmpuint (session_n_connections (pair.end[0].session), ==, 2);
  session_connection_down (pair.end[0].session, pair.now_us, 2);
  g_assert_cmpint (session_state (pair.end[0].session), ==, SESSION_OPEN);
  pair_clear (&pair);
}

static void
test_too_many (void)
{
  Pair pair;

  pair_init (&pair);
  for (guint64 i = 1; i <= 20; i++)
    {
      session_connection_up (pair.end[0].session, pair.now_us, i, FALSE, FALSE);
      g_assert_cmpuint (session_n_connections (pair.end[0].session), <=, SESSION_CONNECTIONS_MAX);
    }
  pair_clear (&pair);
}

/* ---- silence ---- */

/* Both ends close, though only one announces it, and the next message opens the session again. */
static void
test_idle (void)
{
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  pair_send_text (&pair, 0, SESSION_BULK, "a");
  pair_settle (&pair);
  pair_wait_for (&pair, 1); /* ACK */
  pair_settle (&pair);
  pair_wait_for (&pair, 0);
  g_assert_cmpuint (pair.now_us, >=, SECOND + SESSION_IDLE_US);
  pair_settle (&pair);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpint (session_state (pair.end[i].session), ==, SESSION_CLOSED);
      g_assert_cmpuint (session_due (pair.end[i].session), ==, G_MAXUINT64);
      g_assert_cmpuint (pair.end[i].wants, ==, 0);
    }
  g_assert_cmpuint (pair.end[0].byes, ==, 1);
  pair_send_text (&pair, 1, SESSION_BULK, "b");
  pair_link_up (&pair, 2, 1, FALSE);
  pair_settle (&pair);
  pair_assert_got (&pair.end[0], 1, "b");
  pair_clear (&pair);
}

/* One end closes while the other has just sent something. */
static void
test_idle_race (void)
{
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  pair.now_us = session_due (pair.end[0].session);
  session_tick (pair.end[0].session, pair.now_us);
  pair_send_text (&pair, 1, SESSION_URGENT, "wait");
  pair_settle (&pair);
  g_assert_true (session_wants (pair.end[1].session));
  g_assert_false (session_wants (pair.end[0].session));
  pair_link_up (&pair, 2, 1, FALSE);
  pair_settle (&pair);
  pair_assert_got (&pair.end[0], 1, "wait");
  pair_clear (&pair);
}

/* A message that waits for an acknowledgement keeps a connection, however short the patience with a
 * quiet one. Neither the end that waits nor the end that owes the acknowledgement sends BYE. */
static void
test_unacknowledged_is_not_idle (void)
{
  const SessionConfig config = { .idle_us = SECOND };
  Pair pair;

  G_STATIC_ASSERT (SECOND < SESSION_LATE_US && SECOND < SESSION_STALL_US);
  pair_init (&pair);
  for (guint i = 0; i < 2; i++)
    {
      session_free (pair.end[i].session);
      pair.end[i].session = session_new (&config, &pair_ids[i], &pair_ids[!i], pair.end[i].effects);
    }
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  pair_send_text (&pair, 0, SESSION_BULK, "a");
  pair_settle (&pair);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpuint (session_due (pair.end[i].session), >=, pair.now_us + SESSION_LATE_US);
      session_tick (pair.end[i].session, pair.now_us + 2 * SECOND);
      g_assert_cmpuint (session_n_connections (pair.end[i].session), ==, 1);
    }
  pair_wait_for (&pair, 1);
  pair_settle (&pair);
  g_assert_cmpuint (pair.end[1].acks, ==, 1);
  for (guint i = 0; i < 2; i++) /* now the connection is idle, and was for long */
    g_assert_cmpint (session_state (pair.end[i].session), ==, SESSION_CLOSED);
  pair_clear (&pair);
}

/* A silent connection is left for the next one sooner than it breaks. */
static void
test_stall (void)
{
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  pair_send_text (&pair, 0, SESSION_BULK, "a");
  pair_carry (&pair, 0, 0);
  g_assert_cmpuint (session_due (pair.end[0].session), ==, pair.now_us + SESSION_STALL_US);
  pair_wait_for (&pair, 0);
  g_assert_true (session_wants (pair.end[0].session));
  g_assert_cmpuint (session_n_connections (pair.end[0].session), ==, 1);
  pair_carry (&pair, 0, 0);
  pair_link_up (&pair, 2, 1, TRUE); /* worth less by any other rule */
  pair_settle (&pair);
  pair_assert_got (&pair.end[1], 1, "a");
  g_assert_cmpuint (session_n_connections (pair.end[0].session), ==, 1);
  pair_clear (&pair);
}

/* … also when this end continues to send: what it sends is no answer. */
static void
test_stall_while_sending (void)
{
  Pair pair;
  guint64 since_us;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  since_us = pair.now_us;
  for (guint i = 0; i < 8 && !session_wants (pair.end[0].session); i++)
    {
      pair_send_text (&pair, 0, SESSION_URGENT, "a");
      pair_carry (&pair, 0, 0);
      pair.now_us += SESSION_STALL_US / 4;
      session_tick (pair.end[0].session, pair.now_us);
    }
  g_assert_true (session_wants (pair.end[0].session));
  g_assert_cmpuint (pair.now_us, ==, since_us + SESSION_STALL_US);
  pair_clear (&pair);
}

/* If nothing is received in time, the next connection gets twice as long, until something is
 * received. */
static void
test_patience (void)
{
  Pair pair;
  guint64 patience_us = SESSION_STALL_US;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  pair_send_text (&pair, 0, SESSION_BULK, "a");
  for (guint64 number = 2; number < 5; number++, patience_us *= 2)
    {
      pair_carry (&pair, 0, 0); /* is lost */
      g_assert_cmpuint (session_due (pair.end[0].session), ==, pair.now_us + patience_us);
      pair_wait_for (&pair, 0);
      pair_carry (&pair, 0, 0);
      pair_link_up (&pair, number, 1, FALSE);
      pair_carry (&pair, 1, 1); /* its HELLO */
    }
  pair_settle (&pair);
  pair_assert_got (&pair.end[1], 1, "a");
  pair_wait_for (&pair, 1); /* the acknowledgement */
  pair_settle (&pair);
  pair_send_text (&pair, 0, SESSION_BULK, "b");
  pair_carry (&pair, 0, 0);
  g_assert_cmpuint (session_due (pair.end[0].session), ==, pair.now_us + SESSION_STALL_US);
  pair_clear (&pair);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/session/first-at-once", test_first_at_once);
  g_test_add_func ("/session/rest-is-sent-again", test_rest_is_sent_again);
  g_test_add_func ("/session/wanted-until-it-works", test_wanted_until_it_works);
  g_test_add_func ("/session/hello-first-and-once", test_hello_first_and_once);
  g_test_add_func ("/session/copy-is-acknowledged", test_copy_is_acknowledged);
  g_test_add_func ("/session/both-dial", test_both_dial);
  g_test_add_func ("/session/direct-takes-over", test_direct_takes_over);
  g_test_add_func ("/session/late-bytes", test_late_bytes);
  g_test_add_func ("/session/slow-hello", test_slow_hello);
  g_test_add_func ("/session/too-many", test_too_many);
  g_test_add_func ("/session/idle", test_idle);
  g_test_add_func ("/session/idle-race", test_idle_race);
  g_test_add_func ("/session/unacknowledged-is-not-idle", test_unacknowledged_is_not_idle);
  g_test_add_func ("/session/what-waits-cannot-be-acknowledged",
                   test_what_waits_cannot_be_acknowledged);
  g_test_add_func ("/session/stall", test_stall);
  g_test_add_func ("/session/stall-while-sending", test_stall_while_sending);
  g_test_add_func ("/session/patience", test_patience);
  return g_test_run ();
}
