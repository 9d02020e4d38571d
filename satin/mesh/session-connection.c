/* SPDX-License-Identifier: BSD-3-Clause */
/* The connections of one session: sending over them, and the choice of the carrier.
 *
 * Tests: test-session, sessions. */
#include "config.h"

#include "session-private.h"

/* ---- sending ---- */

static void
owe_nothing (Session *session)
{
  session->owed_frames = 0;
  session->owed_bytes = 0;
  session->ack_at_us = G_MAXUINT64;
}

void
session_connection_send (Session *session, SessionConnection *connection, SessionFrame *frame,
                         GPtrArray *parts)
{
  for (guint i = 0; i < SESSION_STREAMS; i++)
    frame->received[i] = session->in[i].received;
  session_frame_write (frame, (guint8 *)g_bytes_get_data (parts->pdata[0], NULL));
  SessionEffect *effect = session_emit (session, SESSION_EFFECT_SEND);
  effect->connection = connection->number;
  effect->parts = parts;
  if (connection == session->answer)
    owe_nothing (session);
}

gboolean
session_connection_any (const Session *session, SessionConnectionState state,
                        const SessionConnection *but)
{
  for (guint i = 0; i < session->connections->len; i++)
    {
      const SessionConnection *one = session->connections->pdata[i];
      if (one != but && one->state == state)
        return TRUE;
    }
  return FALSE;
}

void
session_connection_say (Session *session, SessionConnection *connection, SessionFrameKind kind)
{
  SessionFrame frame = { .kind = kind, .from = session->self, .to = session->peer };
  GPtrArray *parts = g_ptr_array_new_full (1, (GDestroyNotify)g_bytes_unref);
  gsize size = session_frame_size (kind);

  g_ptr_array_add (parts, g_bytes_new_take (g_malloc (size), size));
  frame.order = connection->order;
  frame.needed = session_in_doubt (session)
                 && !session_connection_any (session, SESSION_CONNECTION_GREETED, connection)
                 && !session_connection_any (session, SESSION_CONNECTION_GREETING, connection);
  session_connection_send (session, connection, &frame, parts);
}

/* ---- coming up and closing ---- */

SessionConnection *
session_connection_find (const Session *session, guint64 number)
{
  for (guint i = 0; i < session->connections->len; i++)
    {
      SessionConnection *connection = session->connections->pdata[i];
      if (connection->number == number)
        return connection;
    }
  return NULL;
}

void
session_connection_forget (Session *session, SessionConnection *connection)
{
  if (session->carrier == connection)
    session->carrier = NULL;
  if (session->answer == connection)
    {
      session->answer = NULL;
      owe_nothing (session);
    }
  g_ptr_array_remove (session->connections, connection);
}

void
session_connection_close (Session *session, SessionConnection *connection, const char *why)
{
  SessionEffect *effect = session_emit (session, SESSION_EFFECT_CLOSE);

  effect->connection = connection->number;
  effect->why = why;
  session_connection_forget (session, connection);
}

void
session_connection_retire (Session *session, SessionConnection *connection)
{
  session_connection_say (session, connection, SESSION_FRAME_BYE);
  session_connection_close (session, connection, NULL);
}

static gboolean
is_of_elder (const Session *session, const SessionConnection *connection)
{
  return connection->mine == (node_id_compare (&session->self, &session->peer) < 0);
}

static gboolean
is_better (const Session *session, const SessionConnection *a, const SessionConnection *b)
{
  if ((a->state == SESSION_CONNECTION_STALLED) != (b->state == SESSION_CONNECTION_STALLED))
    return b->state == SESSION_CONNECTION_STALLED;
  if (a->state != b->state)
    return a->state == SESSION_CONNECTION_GREETED;
  if (a->relayed != b->relayed)
    return b->relayed;
  if (a->mine != b->mine)
    return is_of_elder (session, a);
  return a->order > b->order;
}

void
session_connection_choose (Session *session, guint64 now_us)
{
  SessionConnection *best = session->carrier;
  gboolean fresh = !session_in_doubt (session);

  for (guint i = 0; i < session->connections->len; i++)
    {
      SessionConnection *one = session->connections->pdata[i];
      if ((one->state != SESSION_CONNECTION_GREETING || fresh)
          && (best == NULL || is_better (session, one, best)))
        best = one;
    }
  if (best == session->carrier)
    return;
  session->carrier = best;
  session->progress_us = now_us; /* the new carrier's time to answer begins now */
  for (guint i = 0; i < SESSION_STREAMS; i++)
    session_outbox_rewind (&session->out[i]);
}

void
session_connection_retire_others (Session *session)
{
  const SessionConnection *carrier = session->carrier;
  gboolean works = carrier != NULL && carrier->state == SESSION_CONNECTION_GREETED;

  for (guint i = session->connections->len; i > 0; i--)
    {
      SessionConnection *one = session->connections->pdata[i - 1];
      if (one->state == SESSION_CONNECTION_STALLED && (works || session_is_acknowledged (session)))
        session_connection_close (session, one, "nothing was heard over it");
      else if (works && one != carrier && one->mine && one->state == SESSION_CONNECTION_GREETED)
        session_connection_retire (session, one);
    }
}

void
session_connection_close_older (Session *session, const SessionConnection *needed)
{
  for (guint i = session->connections->len; i > 0; i--)
    {
      SessionConnection *one = session->connections->pdata[i - 1];
      if (one->state != SESSION_CONNECTION_GREETING && one->hello < needed->hello)
        session_connection_close (session, one, NULL);
    }
}

void
session_connection_drop_worst (Session *session, const SessionConnection *newest)
{
  SessionConnection *worst = NULL;

  for (guint i = 0; i < session->connections->len; i++)
    {
      SessionConnection *one = session->connections->pdata[i];
      if (one != session->carrier && one != newest
          && (worst == NULL || is_better (session, worst, one)))
        worst = one;
    }
  session_connection_retire (session, worst);
}
