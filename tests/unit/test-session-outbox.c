/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments that wait for acknowledgement: when they are acknowledged, and how many bytes they may
 * be. */
#include "config.h"

#include "session-pair.h"

#include "mesh/session-outbox.h"

#include <string.h>

/* ---- acknowledgements ---- */

static void
test_acknowledged_late (void)
{
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  pair_send_text (&pair, 0, SESSION_URGENT, "a");
  pair_settle (&pair);
  g_assert_cmpuint (session_due (pair.end[1].session), ==, pair.now_us + SESSION_LATE_US);
  g_assert_cmpuint (session_waiting_bytes (pair.end[0].session), >, 0);
  pair_wait_for (&pair, 1);
  pair_settle (&pair);
  g_assert_cmpuint (pair.end[1].acks, ==, 1);
  g_assert_cmpuint (session_waiting_bytes (pair.end[0].session), ==, 0);
  /* The acknowledgement is part of the frame that is sent back. */
  pair_send_text (&pair, 0, SESSION_URGENT, "b");
  pair_settle (&pair);
  pair_send_text (&pair, 1, SESSION_URGENT, "c");
  pair_settle (&pair);
  g_assert_cmpuint (pair.end[1].acks, ==, 1);
  g_assert_cmpuint (session_waiting_bytes (pair.end[0].session), ==, 0);
  pair_clear (&pair);
}

static void
test_acknowledged_soon (void)
{
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  for (guint i = 1; i <= 2 * SESSION_ACK_MESSAGES; i++)
    {
      pair_send_bytes (&pair, 0, SESSION_URGENT, "", 0);
      pair_settle (&pair);
      g_assert_cmpuint (pair.end[1].acks, ==, i / SESSION_ACK_MESSAGES);
    }
  pair_clear (&pair);
}

/* A second copy of a message shows that the acknowledgement was lost. */
static void
test_copy_is_acknowledged (void)
{
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 1, FALSE);
  pair_settle (&pair);
  pair_send_text (&pair, 0, SESSION_URGENT, "a");
  pair_settle (&pair);
  pair_link_up (&pair, 2, 0,
                FALSE); /* this link is better; its HELLO was sent before "a" arrived */
  SessionEffect hello = pair_take (&pair.end[1]);
  SessionFrame old = { .kind = SESSION_FRAME_HELLO, .from = pair_ids[1], .to = pair_ids[0] };
  g_autoptr (GBytes) bytes = session_frame_encode (&old);
  session_effect_clear (&hello);
  pair_carry (&pair, 0, G_MAXUINT);
  session_hear (pair.end[0].session, pair.now_us, 2, bytes);
  session_connection_down (pair.end[1].session, pair.now_us, 1);
  session_connection_down (pair.end[0].session, pair.now_us, 1);
  pair_settle (&pair);
  pair_wait_for (&pair, 1);
  pair_settle (&pair);
  g_assert_cmpuint (session_waiting_bytes (pair.end[0].session), ==, 0);
  g_assert_cmpuint (pair.end[1].got->len, ==, 1);
  pair_clear (&pair);
}

/* ---- limits ---- */

static guint
count_data (const End *end, gboolean urgent)
{
  guint n = 0;

  for (guint i = 0; i < end->effects->len; i++)
    {
      const SessionEffect *effect = &g_array_index (end->effects, SessionEffect, i);
      n += effect->kind == SESSION_EFFECT_SEND && pair_kind_of (effect) == SESSION_FRAME_DATA
           && session_frame_is_urgent (effect->parts->pdata[0]) == urgent;
    }
  return n;
}

static void
test_window (void)
{
  Pair pair;
  guint n = 0;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  for (; session_has_room (pair.end[0].session); n++)
    pair_send_bytes (&pair, 0, SESSION_BULK, "0123456789", 10);
  g_assert_cmpuint (n, ==,
                    (ROOM + 10 + SESSION_OUTBOX_OVERHEAD - 1) / (10 + SESSION_OUTBOX_OVERHEAD));
  g_assert_cmpuint (count_data (&pair.end[0], FALSE), ==, (FLIGHT + 9) / 10);
  /* Urgent messages are sent nevertheless, and may overtake. */
  pair_send_text (&pair, 0, SESSION_URGENT, "ping");
  g_assert_cmpuint (count_data (&pair.end[0], TRUE), ==, 1);
  pair_settle (&pair);
  while (session_waiting_bytes (pair.end[0].session) > 0)
    {
      pair_wait_for (&pair, 1);
      pair_settle (&pair);
    }
  g_assert_true (session_has_room (pair.end[0].session));
  g_assert_cmpuint (pair.end[1].got->len, ==, n + 1);
  pair_clear (&pair);
}

/* Slices of the sender's own bytes are sent, each at most a fragment, also when they are sent
 * again. */
static void
test_nothing_is_copied (void)
{
  g_autoptr (GPtrArray) parts = pair_parts (NULL, 0);
  g_autofree char *large = g_malloc0 (3 * FRAGMENT);
  Pair pair;

  pair_init (&pair);
  g_ptr_array_add (parts, g_bytes_new_static (large, FRAGMENT / 2));
  g_ptr_array_add (parts, g_bytes_new_static (large + FRAGMENT / 2, 3 * FRAGMENT - FRAGMENT / 2));
  g_assert_true (session_send (pair.end[0].session, pair.now_us, SESSION_BULK, parts));
  for (guint64 round = 1; round <= 2; round++)
    {
      gsize at = 0;
      pair_link_up (&pair, round, 0, FALSE);
      pair_carry (&pair, 1, G_MAXUINT);
      for (guint i = 0; i < pair.end[0].effects->len; i++)
        {
          const SessionEffect *effect = &g_array_index (pair.end[0].effects, SessionEffect, i);
          gsize sum = 0;
          for (guint part = 1; effect->parts != NULL && part < effect->parts->len; part++)
            {
              gsize size;
              g_assert_true (g_bytes_get_data (effect->parts->pdata[part], &size) == large + at);
              at += size;
              sum += size;
            }
          g_assert_cmpuint (sum, <=, FRAGMENT);
        }
      g_assert_cmpuint (at, ==, 3 * FRAGMENT);
      pair_link_down (&pair, round);
    }
  pair_clear (&pair);
}

/* A fragment may still be in transit over one connection when it is sent over another. */
static void
test_what_went_stays_as_it_is (void)
{
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  pair_send_text (&pair, 0, SESSION_URGENT, "once");
  SessionEffect went = pair_take (&pair.end[0]);
  g_assert_cmpint (went.kind, ==, SESSION_EFFECT_SEND);
  g_autoptr (GBytes) then = pair_join (went.parts);
  pair_send_text (&pair, 1, SESSION_URGENT, "another"); /* the next head acknowledges it */
  pair_carry (&pair, 1, 1);
  pair_link_down (&pair, 1);
  pair_link_up (&pair, 2, 0, FALSE);
  pair_settle (&pair);
  pair_assert_got (&pair.end[1], 1, "once");
  g_autoptr (GBytes) now = pair_join (went.parts);
  g_assert_true (g_bytes_equal (then, now));
  session_effect_clear (&went);
  pair_clear (&pair);
}

static void
test_too_large (void)
{
  g_autofree char *large = g_malloc0 (MESSAGE + 1);
  g_autoptr (GPtrArray) parts = pair_parts (large, MESSAGE + 1);
  Pair pair;

  pair_init (&pair);
  g_assert_false (session_send (pair.end[0].session, pair.now_us, SESSION_BULK, parts));
  g_assert_cmpuint (session_waiting_bytes (pair.end[0].session), ==, 0);
  pair_send_bytes (&pair, 0, SESSION_BULK, large, MESSAGE);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  g_assert_cmpuint (pair.end[1].got->len, ==, 1);
  pair_clear (&pair);
}

/* An acknowledgement may be ahead of what was sent over the present connection. */
static void
test_acknowledged_ahead (void)
{
  SessionFrame frame = { 0 };
  SessionOutbox outbox;
  GPtrArray *parts;

  session_outbox_init (&outbox, 4);
  for (guint i = 0; i < 2; i++)
    {
      parts = pair_parts ("0123456789", 10);
      session_outbox_add (&outbox, parts);
      g_ptr_array_unref (parts);
    }
  while ((parts = session_outbox_next (&outbox, &frame)) != NULL)
    g_ptr_array_unref (parts);
  g_assert_cmpuint (frame.number, ==, 6);
  session_outbox_rewind (&outbox);
  g_assert_true (session_outbox_acknowledge (&outbox, 4));
  g_assert_false (session_outbox_acknowledge (&outbox, 2));
  g_assert_cmpuint (session_outbox_flight (&outbox), ==, 0);
  parts = session_outbox_next (&outbox, &frame);
  g_assert_cmpuint (frame.number, ==, 5);
  g_assert_cmpuint (session_outbox_flight (&outbox), ==, 4);
  g_assert_cmpuint (parts->len, ==, 2);
  g_assert_cmpmem (g_bytes_get_data (parts->pdata[1], NULL), 4, "4567", 4);
  g_ptr_array_unref (parts);
  session_outbox_clear (&outbox);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/session-outbox/acknowledged-late", test_acknowledged_late);
  g_test_add_func ("/session-outbox/acknowledged-soon", test_acknowledged_soon);
  g_test_add_func ("/session-outbox/copy-is-acknowledged", test_copy_is_acknowledged);
  g_test_add_func ("/session-outbox/window", test_window);
  g_test_add_func ("/session-outbox/nothing-is-copied", test_nothing_is_copied);
  g_test_add_func ("/session-outbox/what-went-stays-as-it-is", test_what_went_stays_as_it_is);
  g_test_add_func ("/session-outbox/too-large", test_too_large);
  g_test_add_func ("/session-outbox/acknowledged-ahead", test_acknowledged_ahead);
  return g_test_run ();
}
