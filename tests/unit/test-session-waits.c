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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/session-waits/stall-while-hearing", test_stall_while_hearing);
  g_test_add_func ("/session-waits/bulk-waits-for-urgent", test_bulk_waits_for_urgent);
  g_test_add_func ("/session-waits/many-greetings", test_many_greetings);
  return g_test_run ();
}
