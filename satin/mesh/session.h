/* SPDX-License-Identifier: BSD-3-Clause */
/* One end of the session between two members: ordered streams of messages, each delivered exactly
 * once, whatever happens to connections. The head of session.c says how. Pure: it is told the time
 * and what the connections do, and appends effects; no clock, socket, thread or chance.
 *
 *   state     meaning                                            may become
 *   CLOSED    no connection, nothing to say                      SEEKING, GREETING, DOWN
 *   SEEKING   something is unacknowledged, and no connection     GREETING, OPEN, CLOSED, DOWN
 *             works; WANT was emitted
 *   GREETING  a connection is up, its HELLO has not come         OPEN, SEEKING, CLOSED, DOWN
 *   OPEN      a greeted connection carries                       GREETING, SEEKING, CLOSED, DOWN
 *   DOWN      membership says that the peer is gone              (freed by its owner)
 *
 * Any other move aborts the process. A session is kept as long as its peer is a member, also while
 * it is CLOSED: its numbers are never used again, so nothing that comes late can be taken for new.
 */
#pragma once

#include "session-frame.h"

typedef struct Session Session;

typedef enum
{
  SESSION_CLOSED,
  SESSION_SEEKING,
  SESSION_GREETING,
  SESSION_OPEN,
  SESSION_DOWN,
  SESSION_STATES
} SessionState;

/* Limits and times; 0: the default. The same on all nodes. */
typedef struct
{
  gsize fragment;    /* bytes of a fragment; what an urgent message waits for */
  gsize flight_max;  /* bytes of one stream on their way, and of a switch sent again */
  gsize room_max;    /* bytes that wait for acknowledgement before session_has_room is FALSE */
  gsize message_max; /* bytes of one message */
  guint64 ack_us;    /* an acknowledgement waits so long for something to ride on, … */
  guint64 late_us;   /* … but so long where little is to be acknowledged: less than stall_us */
  guint64 idle_us;   /* of silence, before connections are closed; SESSION_NEVER: they are not */
  guint64 greet_us;  /* from a new connection to its HELLO */
  guint64 stall_us;  /* nothing is heard on a connection and something is unacknowledged */
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
#define SESSION_ACK_MESSAGES 64   /* fragments that are acknowledged at once */
#define SESSION_CONNECTIONS_MAX 4 /* of one session; the worst one is closed */

typedef enum
{
  SESSION_EFFECT_SEND,    /* connection, parts: GBytes that make one frame together; urgent: it may
                             pass frames that are not, but no urgent one */
  SESSION_EFFECT_DELIVER, /* message, start, stream; connection: what its last fragment came over */
  SESSION_EFFECT_WANT,    /* a connection to the peer, until session_wants is FALSE */
  SESSION_EFFECT_CLOSE    /* connection, once what was sent is out; no session_connection_down
                             follows. why: it broke a rule or fell silent; NULL: not needed */
} SessionEffectKind;

typedef struct
{
  SessionEffectKind kind;
  Session *session;
  guint64 connection;
  GPtrArray *parts; /* owned */
  gboolean urgent;
  GBytes *message; /* owned; it begins at `start` in them */
  gsize start;
  SessionStream stream;
  const char *why;
} SessionEffect;

/* A session that is CLOSED. Its effects are appended to `effects` (of SessionEffect, borrowed;
 * several sessions may share it), to be carried out in their order after the call. */
Session *session_new (const SessionConfig *config, const NodeId *self, const NodeId *peer,
                      GArray *effects);
void session_free (Session *session);
void session_effect_clear (SessionEffect *effect);

/* One message made of `parts` (GBytes, referenced, not copied), which nobody else may use from now
 * on: the first one begins with SESSION_FRAME_DATA_HEAD bytes for the head of a frame. FALSE: the
 * message is larger than message_max, or the session is DOWN. Whether there is room is the caller's
 * question. */
gboolean session_send (Session *session, guint64 now_us, SessionStream stream, GPtrArray *parts);
/* FALSE: so much waits for that member that it should be given no work. */
gboolean session_has_room (const Session *session);

/* A connection to the peer is up. `mine`: this end began it. `relayed`: others pass it on. Both
 * ends must say the same of `relayed`. Numbers of connections are never used again. */
void session_connection_up (Session *session, guint64 now_us, guint64 connection, gboolean mine,
                            gboolean relayed);
/* It broke. One that is not known (any more) does no harm. */
void session_connection_down (Session *session, guint64 now_us, guint64 connection);
/* A frame came, whole and in the order in which it was sent, as far as `urgent` does not say
 * otherwise. A connection that was accepted is told up when its HELLO came, by which
 * session_frame_decode knows the peer; the HELLO then comes here, too. */
void session_hear (Session *session, guint64 now_us, guint64 connection, GBytes *frame);
/* Membership says so: everything is dropped. */
void session_peer_down (Session *session);

/* Says over this connection now what is to be acknowledged on it. FALSE: nothing is. */
gboolean session_acknowledge (Session *session, guint64 connection);

/* When session_tick wants to be called; G_MAXUINT64: never. */
guint64 session_due (const Session *session);
void session_tick (Session *session, guint64 now_us);

SessionState session_state (const Session *session);
/* A connection is needed and none is there that may work. */
gboolean session_wants (const Session *session);
/* Bytes that wait for acknowledgement, with an overhead for each message. */
guint64 session_waiting_bytes (const Session *session);
guint session_n_connections (const Session *session);
