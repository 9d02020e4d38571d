/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by session.c and session-connection.c; no other file includes it. */
#pragma once

#include "session.h"

#include "session-inbox.h"
#include "session-outbox.h"

typedef enum
{
  SESSION_CONNECTION_GREETING, /* this end's HELLO was sent */
  SESSION_CONNECTION_GREETED,  /* the other end's HELLO came */
  SESSION_CONNECTION_STALLED   /* greeted, but nothing answers what was sent over it */
} SessionConnectionState;

typedef struct
{
  guint64 number;
  SessionConnectionState state;
  gboolean mine, relayed;
  guint64 order;    /* of arrival here; also the order in this end's HELLO */
  guint64 hello;    /* the order in the other end's HELLO */
  guint64 heard_us; /* time of the last frame; first: when it came up */
} SessionConnection;

struct Session
{
  SessionConfig config;
  NodeId self, peer;
  GArray *effects; /* borrowed */
  SessionState state;
  SessionOutbox out[SESSION_STREAMS];
  SessionInbox in[SESSION_STREAMS];
  GPtrArray *connections;     /* of SessionConnection */
  SessionConnection *carrier; /* (nullable) the connection over which this end sends */
  SessionConnection *answer;  /* (nullable) the connection over which the last fragment came */
  guint64 orders;
  guint owed_frames; /* fragments that came and are not acknowledged by this end */
  gsize owed_bytes;
  guint64 ack_at_us;   /* time by which they must be acknowledged */
  guint64 quiet_us;    /* time when a message was last sent or came, or a connection was greeted */
  guint64 progress_us; /* time of the last acknowledgement, of the first fragment that waits for
                        * one, or of the last change of the carrier */
  guint64 patience_us; /* silence after which the carrier counts as stalled */
};

SessionEffect *session_emit (Session *session, SessionEffectKind kind);
gboolean session_is_acknowledged (const Session *session);
gboolean session_in_doubt (const Session *session);

/* `parts` (transfer full): of the frame; the first one begins with room for the frame's head. */
void session_connection_send (Session *session, SessionConnection *connection, SessionFrame *frame,
                              GPtrArray *parts);
void session_connection_say (Session *session, SessionConnection *connection,
                             SessionFrameKind kind);
/* TRUE: a connection other than `but` (nullable) is in this state. */
gboolean session_connection_any (const Session *session, SessionConnectionState state,
                                 const SessionConnection *but);
SessionConnection *session_connection_find (const Session *session, guint64 number);
void session_connection_forget (Session *session, SessionConnection *connection);
void session_connection_close (Session *session, SessionConnection *connection, const char *why);
/* Sends BYE and closes. */
void session_connection_retire (Session *session, SessionConnection *connection);
/* Makes the best connection the carrier. A connection that is not greeted may carry only if no
 * fragment is in doubt. */
void session_connection_choose (Session *session, guint64 now_us);
/* Closes connections that are not needed beside a working carrier, or at all. */
void session_connection_retire_others (Session *session);
/* The other end's HELLO says that it needs this connection: closes those that it greeted before. */
void session_connection_close_older (Session *session, const SessionConnection *needed);
/* There are too many connections: retires the worst one, but neither the carrier nor `newest`. */
void session_connection_drop_worst (Session *session, const SessionConnection *newest);
