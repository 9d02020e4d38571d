/* SPDX-License-Identifier: BSD-3-Clause */
/* One end of the session between two members: ordered streams of messages, each delivered exactly
 * once, whatever happens to connections. The head of session.c explains how. Pure: the caller tells
 * it the time and the events of connections, and carries out the effects that it appends.
 *
 *  state     meaning                                            may become
 *  CLOSED    no connection, nothing to send                     SEEKING, GREETING
 *  SEEKING   something is unacknowledged, and no connection     GREETING, OPEN, CLOSED
 *            works; WANT was emitted
 *  GREETING  a connection is up, its HELLO has not come         OPEN, SEEKING, CLOSED
 *  OPEN      a greeted connection carries                       GREETING, SEEKING, CLOSED
 *
 * Any other move aborts the process. A session is kept as long as its peer is a member, also while
 * it is CLOSED: its numbers are never used again, so a late frame cannot be taken for a new one.
 * When the peer is no member any more, the owner closes the connections and frees the session. */
#pragma once

#include "session-frame.h"

typedef struct Session Session;

typedef enum
{
  SESSION_CLOSED,
  SESSION_SEEKING,
  SESSION_GREETING,
  SESSION_OPEN,
  SESSION_STATES
} SessionState;

/* Limits and times; 0: the default. The same on all nodes. */
typedef struct
{
  gsize fragment;    /* bytes of a fragment; an urgent message waits for at most one */
  gsize flight_max;  /* bytes of one stream in flight; also the most that a change of the carrier
                      * sends again */
  gsize room_max;    /* bytes without acknowledgement from which session_has_room is FALSE */
  gsize message_max; /* bytes of one message */
  guint64 ack_us;    /* how long an acknowledgement waits for a frame that carries it … */
  guint64 late_us;   /* … if little is to be acknowledged (SESSION_LITTLE); less than stall_us */
  guint64 idle_us;   /* silence after which connections are closed; SESSION_NEVER: they stay */
  guint64 greet_us;  /* from a new connection to the other end's HELLO */
  guint64 stall_us;  /* silence after which a connection is stalled, while something is
                      * unacknowledged */
} SessionConfig;

#define SESSION_FRAGMENT ((gsize)64 << 10)
#define SESSION_FLIGHT_MAX ((gsize)4 << 20)
#define SESSION_ROOM_MAX ((gsize)8 << 20)
#define SESSION_MESSAGE_MAX ((gsize)8 << 30)
#define SESSION_ACK_US (20 * 1000)
#define SESSION_LATE_US (6 * G_USEC_PER_SEC)
#define SESSION_LITTLE (16u << 10) /* bytes */
#define SESSION_IDLE_US (30 * G_USEC_PER_SEC)
#define SESSION_NEVER G_MAXUINT64
#define SESSION_GREET_US (10 * G_USEC_PER_SEC)
#define SESSION_STALL_US (10 * G_USEC_PER_SEC)
#define SESSION_ACK_MESSAGES 64   /* so many fragments are acknowledged at once */
#define SESSION_CONNECTIONS_MAX 4 /* of one session; beyond that the worst is closed */

typedef enum
{
  SESSION_EFFECT_SEND,    /* connection, parts: GBytes that form one frame, whose head is in the
                           * first (session_frame_is_urgent) */
  SESSION_EFFECT_DELIVER, /* message, start, stream; connection: its last fragment came over it */
  SESSION_EFFECT_WANT,    /* dial the peer, until session_wants is FALSE */
  SESSION_EFFECT_CLOSE    /* close connection after all frames before; no session_connection_down
                           * follows. why: the reason; NULL: it is not needed */
} SessionEffectKind;

typedef struct
{
  SessionEffectKind kind;
  Session *session;
  guint64 connection;
  GPtrArray *parts; /* owned */
  GBytes *message; /* owned; the message begins at `start` of these bytes */
  gsize start;
  SessionStream stream;
  const char *why;
} SessionEffect;

/* A session in state CLOSED. It appends its effects to `effects` (of SessionEffect, borrowed;
 * several sessions may share it). The caller carries them out in order after each call. */
Session *session_new (const SessionConfig *config, const NodeId *self, const NodeId *peer,
                      GArray *effects);
void session_free (Session *session);
void session_effect_clear (SessionEffect *effect);

/* Sends one message made of `parts` (of GBytes; referenced, not copied). The caller must not use
 * the parts any more. The first one begins with SESSION_FRAME_DATA_HEAD bytes for the head of a
 * frame. FALSE: the message is larger than message_max. Does not check session_has_room. */
gboolean session_send (Session *session, guint64 now_us, SessionStream stream, GPtrArray *parts);
/* FALSE: so much waits for that member that it should get no more work. */
gboolean session_has_room (const Session *session);

/* A connection to the peer is up. `mine`: this end dialled it. `relayed`: other members relay it;
 * both ends must agree on this. Numbers of connections are never used again. */
void session_connection_up (Session *session, guint64 now_us, guint64 connection, gboolean mine,
                            gboolean relayed);
/* The connection broke. Does nothing for an unknown number. */
void session_connection_down (Session *session, guint64 now_us, guint64 connection);
/* A whole frame came. Frames come in the order in which they were sent, but urgent ones may have
 * overtaken others. An accepted connection is reported by session_connection_up when its HELLO
 * comes: session_frame_decode tells the peer. That HELLO then comes here, too. */
void session_hear (Session *session, guint64 now_us, guint64 connection, GBytes *frame);

/* Sends the acknowledgement that is due on this connection now. FALSE: none is. */
gboolean session_acknowledge (Session *session, guint64 connection);

/* The time of the next session_tick; G_MAXUINT64: never. */
guint64 session_due (const Session *session);
void session_tick (Session *session, guint64 now_us);

SessionState session_state (const Session *session);
/* TRUE: a connection is needed, and none is up that may work. */
gboolean session_wants (const Session *session);
/* Bytes without acknowledgement, with an overhead for each message. */
guint64 session_waiting_bytes (const Session *session);
guint session_n_connections (const Session *session);
