/* SPDX-License-Identifier: BSD-3-Clause */
/* One end of a session.
 *
 * Numbers. The fragments of a stream are numbered from 1, as long as both nodes are members. The
 * receiver takes exactly the next number. A connection begins with HELLO, which says up to which
 * number each stream of the other end has come; the sender continues from there. So within a
 * connection the sender never skips a number that the receiver lacks. A smaller number is a copy; a
 * larger one breaks the rules.
 *
 * Connections. Several may be up. Each end chooses for itself which one carries what it sends, and
 * receives from all of them. After a change of the carrier, fragments without acknowledgement are
 * sent again. So the old connection is not needed: it may close, or deliver late. Both ends rank
 * connections alike (direct before relayed, dialled by the elder member before the other), and only
 * the end that dialled a connection retires it for a better one. An end that hears nothing over its
 * connections counts them as stalled and asks for another. Its HELLO there says that it needs this
 * connection, which the other end cannot know.
 *
 * Acknowledgements return over the connection on which fragments came, alone or in a frame that is
 * sent there. An acknowledgement that is lost with its connection is not repeated: the sender
 * notices the loss, changes its carrier and so asks again.
 *
 * The first connection of a quiet session carries at once. If fragments may have been lost with
 * another connection, the other end's HELLO must come first.
 *
 * Closing. An end that has nothing unacknowledged and was silent for idle_us sends BYE and closes.
 * The ends need not agree: a message that the other end sends meanwhile is lost with the
 * connection, stays unacknowledged and brings up the next connection.
 *
 * Tests: test-session, sessions. */
#include "config.h"

#include "session-private.h"

#define PATIENCE_MAX 64 /* times stall_us */

SessionEffect *
session_emit (Session *session, SessionEffectKind kind)
{
  g_array_append_val (session->effects, ((SessionEffect){ .kind = kind, .session = session }));
  return &g_array_index (session->effects, SessionEffect, session->effects->len - 1);
}

/* ---- state ---- */

static void
become (Session *session, SessionState state)
{
#define TO(state) (1u << SESSION_##state)
  static const guint8 may_become[SESSION_STATES] = {
    [SESSION_CLOSED] = TO (SEEKING) | TO (GREETING),
    [SESSION_SEEKING] = TO (GREETING) | TO (OPEN) | TO (CLOSED),
    [SESSION_GREETING] = TO (OPEN) | TO (SEEKING) | TO (CLOSED),
    [SESSION_OPEN] = TO (GREETING) | TO (SEEKING) | TO (CLOSED),
  };
#undef TO

  if (session->state == state)
    return;
  g_assert (may_become[session->state] & (1u << state));
  session->state = state;
}

gboolean
session_is_acknowledged (const Session *session)
{
  return session_outbox_is_empty (&session->out[SESSION_URGENT])
         && session_outbox_is_empty (&session->out[SESSION_BULK]);
}

gboolean
session_in_doubt (const Session *session)
{
  return session_outbox_in_doubt (&session->out[SESSION_URGENT])
         || session_outbox_in_doubt (&session->out[SESSION_BULK]);
}

static SessionState
state_now (const Session *session)
{
  if (session_connection_any (session, SESSION_CONNECTION_GREETED, NULL))
    return SESSION_OPEN;
  if (session_connection_any (session, SESSION_CONNECTION_GREETING, NULL))
    return SESSION_GREETING;
  return session_is_acknowledged (session) ? SESSION_CLOSED : SESSION_SEEKING;
}

/* ---- acknowledgements and sending ---- */

/* Notes that fragments must be acknowledged. The sender keeps a whole message until its last
 * fragment is acknowledged, so the size of the message counts, too. */
static void
owe (Session *session, guint64 now_us, SessionConnection *connection, gsize bytes, gsize message)
{
  gboolean much = MAX (session->owed_bytes + bytes, message) > SESSION_LITTLE;

  session->answer = connection;
  if (session->owed_frames++ == 0)
    session->ack_at_us = now_us + session->config.late_us;
  if (much)
    session->ack_at_us = MIN (session->ack_at_us, now_us + session->config.ack_us);
  session->owed_bytes += bytes;
}

static void
acknowledge_if_due (Session *session, guint64 now_us)
{
  if (session->owed_frames == 0)
    return;
  if (session->owed_frames >= SESSION_ACK_MESSAGES
      || session->owed_bytes >= session->config.flight_max / 4 || session->ack_at_us <= now_us)
    session_connection_say (session, session->answer, SESSION_FRAME_ACK);
}

gboolean
session_acknowledge (Session *session, guint64 number)
{
  if (session->owed_frames == 0 || session->answer->number != number)
    return FALSE;
  session_connection_say (session, session->answer, SESSION_FRAME_ACK);
  return TRUE;
}

static void
pump (Session *session, guint64 now_us)
{
  if (session->carrier == NULL)
    return;
  for (SessionStream stream = 0; stream < SESSION_STREAMS; stream++)
    {
      SessionOutbox *out = &session->out[stream];
      const SessionOutbox *urgent = &session->out[SESSION_URGENT];
      if (urgent->sent < urgent->last && stream != SESSION_URGENT)
        return; /* bulk overtakes nothing */
      while (out->sent < out->last && session_outbox_flight (out) < session->config.flight_max)
        {
          SessionFrame frame = { .stream = stream };

          if (!session_in_doubt (session))
            session->progress_us = now_us;
          GPtrArray *parts = session_outbox_next (out, &frame);
          session_connection_send (session, session->carrier, &frame, parts);
        }
    }
}

/* Ends the handling of each event. */
static void
settle (Session *session, guint64 now_us)
{
  const SessionConnection *carrier = session->carrier;
  /* nearly always the only connection carries */
  gboolean steady = carrier != NULL && carrier->state == SESSION_CONNECTION_GREETED
                    && session->connections->len == 1;

  if (!steady)
    {
      session_connection_choose (session, now_us);
      session_connection_retire_others (session);
    }
  pump (session, now_us);
  acknowledge_if_due (session, now_us);
  SessionState before = session->state;
  become (session, steady ? SESSION_OPEN : state_now (session));
  if (session->state == SESSION_SEEKING && before != SESSION_SEEKING)
    session_emit (session, SESSION_EFFECT_WANT);
}

/* ---- connections ---- */

void
session_connection_up (Session *session, guint64 now_us, guint64 number, gboolean mine,
                       gboolean relayed)
{
  SessionConnection *connection = g_new0 (SessionConnection, 1);

  g_assert (session_connection_find (session, number) == NULL);
  connection->number = number;
  connection->mine = mine;
  connection->relayed = relayed;
  connection->order = ++session->orders;
  connection->heard_us = now_us;
  g_ptr_array_add (session->connections, connection);
  session_connection_say (session, connection, SESSION_FRAME_HELLO);
  if (session->connections->len > SESSION_CONNECTIONS_MAX)
    session_connection_drop_worst (session, connection);
  settle (session, now_us);
}

void
session_connection_down (Session *session, guint64 now_us, guint64 number)
{
  SessionConnection *connection = session_connection_find (session, number);

  if (connection == NULL)
    return;
  session_connection_forget (session, connection);
  settle (session, now_us);
}

/* ---- receiving ---- */

static void
apply_acknowledgement (Session *session, guint64 now_us, const SessionFrame *frame)
{
  for (guint i = 0; i < SESSION_STREAMS; i++)
    if (session_outbox_acknowledge (&session->out[i], frame->received[i]))
      {
        session->progress_us = now_us;
        session->patience_us = session->config.stall_us;
      }
}

static const char *
hear_data (Session *session, guint64 now_us, SessionConnection *connection,
           const SessionFrame *frame, GBytes *bytes)
{
  GBytes *message;
  gsize start;

  switch (session_inbox_take (&session->in[frame->stream], frame, bytes,
                              session->config.message_max, &message, &start))
    {
    case SESSION_INBOX_WRONG:
      return "a fragment is out of order";
    case SESSION_INBOX_KNOWN: /* the other end does not know that it came */
      owe (session, now_us, connection, 0, 0);
      return NULL;
    case SESSION_INBOX_TAKEN:
      break;
    }
  session->quiet_us = now_us;
  owe (session, now_us, connection, frame->payload, frame->total);
  if (message != NULL)
    {
      SessionEffect *effect = session_emit (session, SESSION_EFFECT_DELIVER);
      effect->connection = connection->number;
      effect->message = message;
      effect->start = start;
      effect->stream = frame->stream;
    }
  return NULL;
}

/* Returns the rule that the frame breaks, or NULL. A frame that breaks a rule changes nothing. */
static const char *
hear_frame (Session *session, guint64 now_us, SessionConnection *connection,
            const SessionFrame *frame, GBytes *bytes)
{
  gboolean hello = frame->kind == SESSION_FRAME_HELLO;
  const char *why = NULL;

  if (hello != (connection->state == SESSION_CONNECTION_GREETING))
    return hello ? "a second HELLO came" : "something came before HELLO";
  if (hello
      && (!node_id_equal (&frame->from, &session->peer)
          || !node_id_equal (&frame->to, &session->self)))
    return "another member is at the other end";
  for (guint i = 0; i < SESSION_STREAMS; i++)
    if (frame->received[i] > session->out[i].high)
      return "what was never sent is acknowledged";
  if (frame->kind == SESSION_FRAME_DATA)
    why = hear_data (session, now_us, connection, frame, bytes);
  if (why != NULL)
    return why;
  apply_acknowledgement (session, now_us, frame);
  if (hello)
    {
      session->quiet_us = now_us;
      connection->hello = frame->order;
      if (frame->needed)
        session_connection_close_older (session, connection);
    }
  connection->state = SESSION_CONNECTION_GREETED;
  connection->heard_us = now_us;
  if (frame->kind == SESSION_FRAME_BYE)
    session_connection_close (session, connection, NULL);
  return NULL;
}

void
session_hear (Session *session, guint64 now_us, guint64 number, GBytes *bytes)
{
  SessionConnection *connection = session_connection_find (session, number);
  SessionFrame frame;

  if (connection == NULL)
    return;
  const char *why = session_frame_decode (bytes, &frame);
  if (why == NULL)
    why = hear_frame (session, now_us, connection, &frame, bytes);
  if (why != NULL)
    session_connection_close (session, connection, why);
  settle (session, now_us);
}

/* ---- time ---- */

/* When the carrier will count as stalled. */
static guint64
stall_due (const Session *session)
{
  const SessionConnection *carrier = session->carrier;

  if (carrier == NULL || carrier->state != SESSION_CONNECTION_GREETED
      || !session_in_doubt (session))
    return G_MAXUINT64;
  return MAX (carrier->heard_us, session->progress_us) + session->patience_us;
}

static guint64
idle_due (const Session *session)
{
  if (session->state != SESSION_OPEN || !session_is_acknowledged (session)
      || session->owed_frames > 0 || session->config.idle_us == SESSION_NEVER)
    return G_MAXUINT64;
  return session->quiet_us + session->config.idle_us;
}

guint64
session_due (const Session *session)
{
  guint64 at = MIN (MIN (stall_due (session), idle_due (session)), session->ack_at_us);

  for (guint i = 0; i < session->connections->len; i++)
    {
      const SessionConnection *one = session->connections->pdata[i];
      if (one->state == SESSION_CONNECTION_GREETING)
        at = MIN (at, one->heard_us + session->config.greet_us);
    }
  return at;
}

void
session_tick (Session *session, guint64 now_us)
{
  for (guint i = session->connections->len; i > 0; i--)
    {
      SessionConnection *one = session->connections->pdata[i - 1];
      if (one->state == SESSION_CONNECTION_GREETING
          && one->heard_us + session->config.greet_us <= now_us)
        session_connection_close (session, one, "no HELLO came");
    }
  if (stall_due (session) <= now_us)
    {
      session->carrier->state = SESSION_CONNECTION_STALLED;
      session->patience_us
          = MIN (2 * session->patience_us, PATIENCE_MAX * session->config.stall_us);
    }
  settle (session, now_us);
  if (idle_due (session) > now_us)
    return;
  while (session->connections->len > 0)
    session_connection_retire (session, session->connections->pdata[0]);
  settle (session, now_us);
}

/* ---- for the owner ---- */

static SessionConfig
with_defaults (const SessionConfig *config)
{
  SessionConfig full = *config;
#define DEFAULT(field, value) full.field = full.field != 0 ? full.field : (value)

  DEFAULT (fragment, SESSION_FRAGMENT);
  DEFAULT (flight_max, SESSION_FLIGHT_MAX);
  DEFAULT (room_max, SESSION_ROOM_MAX);
  DEFAULT (message_max, SESSION_MESSAGE_MAX);
  DEFAULT (ack_us, SESSION_ACK_US);
  DEFAULT (late_us, SESSION_LATE_US);
  DEFAULT (idle_us, SESSION_IDLE_US);
  DEFAULT (greet_us, SESSION_GREET_US);
  DEFAULT (stall_us, SESSION_STALL_US);
#undef DEFAULT
  return full;
}

Session *
session_new (const SessionConfig *config, const NodeId *self, const NodeId *peer, GArray *effects)
{
  Session *session = g_new0 (Session, 1);

  session->config = with_defaults (config);
  session->self = *self;
  session->peer = *peer;
  session->effects = effects;
  session->connections = g_ptr_array_new_with_free_func (g_free);
  session->ack_at_us = G_MAXUINT64;
  session->patience_us = session->config.stall_us;
  for (guint i = 0; i < SESSION_STREAMS; i++)
    session_outbox_init (&session->out[i], session->config.fragment);
  return session;
}

void
session_free (Session *session)
{
  for (guint i = 0; i < SESSION_STREAMS; i++)
    {
      session_outbox_clear (&session->out[i]);
      session_inbox_clear (&session->in[i]);
    }
  g_ptr_array_unref (session->connections);
  g_free (session);
}

void
session_effect_clear (SessionEffect *effect)
{
  g_clear_pointer (&effect->parts, g_ptr_array_unref);
  g_clear_pointer (&effect->message, g_bytes_unref);
}

gboolean
session_send (Session *session, guint64 now_us, SessionStream stream, GPtrArray *parts)
{
  gsize size = 0;

  for (guint i = 0; i < parts->len; i++)
    size += g_bytes_get_size (parts->pdata[i]);
  if (size > session->config.message_max + SESSION_FRAME_DATA_HEAD)
    return FALSE;
  session_outbox_add (&session->out[stream], parts);
  session->quiet_us = now_us;
  settle (session, now_us);
  return TRUE;
}

SessionState
session_state (const Session *session)
{
  return session->state;
}

gboolean
session_wants (const Session *session)
{
  return session->state == SESSION_SEEKING;
}

guint64
session_waiting_bytes (const Session *session)
{
  return session->out[SESSION_URGENT].waiting_bytes + session->out[SESSION_BULK].waiting_bytes;
}

gboolean
session_has_room (const Session *session)
{
  return session_waiting_bytes (session) < session->config.room_max;
}

guint
session_n_connections (const Session *session)
{
  return session->connections->len;
}
