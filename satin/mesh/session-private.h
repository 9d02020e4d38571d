/* SPDX-License-Identifier: BSD-3-Clause */
/* What session.c and session-connection.c share; included by them only. */
#pragma once

#include "session.h"

#include "session-inbox.h"
#include "session-outbox.h"

typedef enum
{
  SESSION_CONNECTION_GREETING, /* this end's HELLO was sent */
  SESSION_CONNECTION_GREETED,  /* the other's came */
  SESSION_CONNECTION_STALLED   /* greeted, but what was sent over it is not answered */
} SessionConnectionState;

typedef struct
{
  guint64 number;
  SessionConnectionState state;
  gboolean mine, relayed;
  guint64 order;    /* of arrival here, and of this end's HELLO */
  guint64 hello;    /* of the other end's */
  guint64 heard_us; /* first: when it came up */
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
  SessionConnection *carrier; /* (nullable) what this end sends over */
  SessionConnection *answer;  /* (nullable) what the last fragment came over */
  guint64 orders;
  guint owed_frames; /* fragments that came and are not acknowledged */
  gsize owed_bytes;
  guint64 ack_at_us;   /* … at the latest then */
  guint64 quiet_us;    /* a message was sent or came, or a connection was greeted */
  guint64 progress_us; /* an acknowledgement came, or the first fragment went that waits for one,
                          or the carrier changed */
  guint64 patience_us; /* until the carrier counts as stalled */
};

SessionEffect *session_emit (Session *session, SessionEffectKind kind);
gboolean session_is_acknowledged (const Session *session);
gboolean session_in_doubt (const Session *session);

/* `parts` (transfer full): those of the frame, whose first one begins with room for its head. */
void session_connection_send (Session *session, SessionConnection *connection, SessionFrame *frame,
                              GPtrArray *parts, gboolean urgent);
void session_connection_say (Session *session, SessionConnection *connection, SessionFrameKind kind,
                             gboolean urgent);
/* One in this state, other than `but` (nullable). */
gboolean session_connection_any (const Session *session, SessionConnectionState state,
                                 const SessionConnection *but);
SessionConnection *session_connection_find (const Session *session, guint64 number);
void session_connection_forget (Session *session, SessionConnection *connection);
void session_connection_close (Session *session, SessionConnection *connection, const char *why);
/* BYE is the last of all, so it must not pass anything. */
void session_connection_retire (Session *session, SessionConnection *connection);
/* The best one carries. One that is not greeted yet may only begin where nothing may be lost. */
void session_connection_choose (Session *session, guint64 now_us);
/* What is not needed beside a carrier that works, or at all. */
void session_connection_retire_others (Session *session);
/* The other end says that it needs this one: those that it greeted before do not work for it. */
void session_connection_close_older (Session *session, const SessionConnection *needed);
/* Another one is up beyond the limit: which is worth least? */
void session_connection_drop_worst (Session *session, const SessionConnection *newest);
