/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames as bytes, and frames that break a rule. */
#include "config.h"

#include "session-pair.h"

#include <string.h>

/* ---- frames ---- */

static const SessionFrame samples[] = {
  { .kind = SESSION_FRAME_HELLO,
    .received = { 3, 4 },
    .needed = 1,
    .from = { 1, 2, 3 },
    .to = { 4, 5, 6 } },
  { .kind = SESSION_FRAME_DATA,
    .received = { 0, 1 },
    .stream = SESSION_BULK,
    .number = 9,
    .total = 0 },
  { .kind = SESSION_FRAME_ACK, .received = { G_MAXUINT64, 1 } },
  { .kind = SESSION_FRAME_BYE },
};

static void
test_frames (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    {
      g_autoptr (GBytes) bytes = session_frame_encode (&samples[i]);
      gsize size = g_bytes_get_size (bytes);
      SessionFrame frame;

      g_assert_null (session_frame_decode (bytes, &frame));
      g_autoptr (GBytes) again = session_frame_encode (&frame);
      g_assert_true (g_bytes_equal (bytes, again));
      g_assert_cmpint (frame.kind, ==, samples[i].kind);
      for (gsize cut = 0; cut < size; cut++)
        {
          g_autoptr (GBytes) less = g_bytes_new_from_bytes (bytes, 0, cut);
          g_assert_nonnull (session_frame_decode (less, &frame));
        }
    }
}

/* A frame with one changed byte is refused, or means something else. */
static void
test_changed_bytes (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    {
      g_autoptr (GBytes) bytes = session_frame_encode (&samples[i]);
      gsize size;
      guint8 *copy = g_bytes_unref_to_data (g_bytes_ref (bytes), &size);

      for (gsize at = 0; at < size; at++)
        {
          SessionFrame frame;
          copy[at] ^= 0x80;
          g_autoptr (GBytes) changed = g_bytes_new (copy, size);
          if (session_frame_decode (changed, &frame) == NULL)
            {
              g_autoptr (GBytes) again = session_frame_encode (&frame);
              g_assert_true (g_bytes_equal (changed, again));
            }
          copy[at] ^= 0x80;
        }
      g_free (copy);
    }
}

/* ---- the other end breaks rules ---- */

/* A wrong frame ends the connection, and has no other effect. */
static void
assert_refused (const SessionFrame *frame, gboolean greeted, const char *payload)
{
  g_autoptr (GBytes) head = session_frame_encode (frame);
  GByteArray *all = g_byte_array_new ();
  Pair pair;

  g_byte_array_append (all, g_bytes_get_data (head, NULL), (guint)g_bytes_get_size (head));
  g_byte_array_append (all, (const guint8 *)payload, (guint)strlen (payload));
  g_autoptr (GBytes) bytes = g_byte_array_free_to_bytes (all);
  pair_init (&pair);
  if (greeted)
    {
      pair_link_up (&pair, 1, 0, FALSE);
      pair_settle (&pair);
      pair_send_text (&pair, 0, SESSION_BULK, "before");
      pair_settle (&pair);
    }
  else
    session_connection_up (pair.end[1].session, pair.now_us, 1, FALSE, FALSE);
  session_hear (pair.end[1].session, pair.now_us, 1, bytes);
  g_assert_cmpuint (session_n_connections (pair.end[1].session), ==, 0);
  pair_carry (&pair, 1, 0);
  g_assert_cmpuint (pair.end[1].refused, ==, 1);
  session_connection_down (pair.end[0].session, pair.now_us, 1);
  pair_send_text (&pair, 0, SESSION_BULK, "after");
  pair_link_up (&pair, 2, 0, FALSE);
  pair_settle (&pair);
  pair_assert_got (&pair.end[1], greeted ? 2 : 1, "after");
  pair_clear (&pair);
}

static void
test_bad_frames (void)
{
  SessionFrame data = { .kind = SESSION_FRAME_DATA, .stream = SESSION_BULK, .number = 2 };
  SessionFrame hello = { .kind = SESSION_FRAME_HELLO, .from = pair_ids[0], .to = pair_ids[1] };

  data.total = 1;
  assert_refused (&data, FALSE, "x");  /* before HELLO */
  assert_refused (&hello, TRUE, "");   /* a second one */
  assert_refused (&hello, FALSE, "x"); /* followed by more bytes */
  assert_refused (&data, TRUE, "xy");  /* more bytes than the message has */
  assert_refused (&data, TRUE, "");    /* no byte of the message */
  data.total = MESSAGE + 1;
  assert_refused (&data, TRUE, "x"); /* too large a message */
  data.total = 1;
  data.number = 3;
  assert_refused (&data, TRUE, "x"); /* one was skipped */
  data.number = 0;
  assert_refused (&data, TRUE, "x"); /* numbers begin with 1 */
  data.number = 2;
  data.received[SESSION_URGENT] = 1;
  assert_refused (&data, TRUE, "x"); /* acknowledges what was never sent */
  hello.received[SESSION_BULK] = 1;
  assert_refused (&hello, FALSE, "");
  hello.received[SESSION_BULK] = 0;
  hello.from.random++;
  assert_refused (&hello, FALSE, "");
  hello.from = pair_ids[0];
  hello.to.random++;
  assert_refused (&hello, FALSE, "");
}

/* (transfer full): a fragment of this message, with these bytes of it. */
static GBytes *
fragment (guint64 number, guint64 total, guint64 received, gsize payload)
{
  SessionFrame frame = { .kind = SESSION_FRAME_DATA,
                         .stream = SESSION_BULK,
                         .number = number,
                         .total = total,
                         .received = { [SESSION_BULK] = received } };
  static const char zeros[FRAGMENT];
  g_autoptr (GPtrArray) parts = pair_parts (zeros, payload);

  session_frame_write (&frame, (guint8 *)g_bytes_get_data (parts->pdata[0], NULL));
  return pair_join (parts);
}

/* All fragments of a message name its size, and together they have that many bytes. A fragment
 * that does not fit the ones before it is not taken, and what it acknowledges does not count. */
static void
test_bad_rest (void)
{
  static const struct
  {
    guint64 total;
    gsize payload;
  } rests[] = {
    { FRAGMENT + 4, 5 }, { FRAGMENT + 4, FRAGMENT }, { FRAGMENT + 5, 4 }, { FRAGMENT + 3, 3 }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rests); i++)
    {
      Pair pair;

      pair_init (&pair);
      pair_link_up (&pair, 1, 0, FALSE);
      pair_settle (&pair);
      Session *session = pair.end[1].session;
      pair_send_text (&pair, 1, SESSION_BULK, "mine");
      g_autoptr (GBytes) first = fragment (1, FRAGMENT + 4, 0, FRAGMENT);
      session_hear (session, pair.now_us, 1, first);
      g_assert_cmpuint (session_n_connections (session), ==, 1);
      g_autoptr (GBytes) rest = fragment (2, rests[i].total, 1, rests[i].payload);
      session_hear (session, pair.now_us, 1, rest);
      g_assert_cmpuint (session_n_connections (session), ==, 0);
      g_assert_cmpuint (session_waiting_bytes (session), >, 0);
      pair_carry (&pair, 1, 0);
      g_assert_cmpuint (pair.end[1].got->len, ==, 0);
      pair_clear (&pair);
    }
}

/* Only the last frame of a connection must not overtake any other; bulk data may not overtake,
 * either. */
static void
test_urgency (void)
{
  for (SessionFrameKind kind = SESSION_FRAME_HELLO; kind <= SESSION_FRAME_BYE; kind++)
    for (SessionStream stream = 0; stream < SESSION_STREAMS; stream++)
      {
        SessionFrame frame = { .kind = kind, .stream = stream, .number = 1 };
        g_autoptr (GBytes) bytes = session_frame_encode (&frame);
        gboolean waits
            = kind == SESSION_FRAME_BYE || (kind == SESSION_FRAME_DATA && stream == SESSION_BULK);

        g_assert_cmpint (session_frame_is_urgent (bytes), ==, !waits);
      }
}

/* A message that was not sent cannot be acknowledged, even if it waits. */
static void
test_acknowledged_before_sent (void)
{
  SessionFrame ack = { .kind = SESSION_FRAME_ACK };
  Pair pair;

  pair_init (&pair);
  pair_link_up (&pair, 1, 0, FALSE);
  pair_settle (&pair);
  for (guint i = 0; i < FLIGHT; i++)
    pair_send_text (&pair, 0, SESSION_BULK, "0123456789");
  ack.received[SESSION_BULK] = FLIGHT;
  g_autoptr (GBytes) bytes = session_frame_encode (&ack);
  session_hear (pair.end[0].session, pair.now_us, 1, bytes);
  g_assert_cmpuint (session_n_connections (pair.end[0].session), ==, 0);
  pair_clear (&pair);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/session-frame/frames", test_frames);
  g_test_add_func ("/session-frame/changed-bytes", test_changed_bytes);
  g_test_add_func ("/session-frame/bad-frames", test_bad_frames);
  g_test_add_func ("/session-frame/bad-rest", test_bad_rest);
  g_test_add_func ("/session-frame/urgency", test_urgency);
  g_test_add_func ("/session-frame/acknowledged-before-sent", test_acknowledged_before_sent);
  return g_test_run ();
}
