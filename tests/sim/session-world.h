/* SPDX-License-Identifier: BSD-3-Clause */
/* A few members, the sessions between them, and connections that fail as networks do. Every
 * possible next step is an Action, and the caller picks one. The caller also lets time pass. Each
 * end of a pair checks what it receives: the oracle knows the n-th message of each stream. */
#pragma once

#include "mesh/session.h"
#include "rng.h"

#define WORLD_MEMBERS_MAX 3
#define WORLD_ACTIONS_MAX 512

typedef enum
{
  ACTION_HEAR,  /* connection, end: the next frame arrives there; urgent: the next urgent one. */
  ACTION_DOWN,  /* connection, end: that end learns that the connection is broken or closed. */
  ACTION_DIAL,  /* a, b: the dial of a to b ends. */
  ACTION_TICK,  /* a, b: the session of a with b is due. */
  ACTION_GONE,  /* a, b: a learns that b is no member any more. */
  ACTION_CAME,  /* a, b: a learns that b is a member. */
  ACTION_RENAME /* a: a, which was evicted, learns that and joins again. */
} ActionKind;

typedef struct
{
  ActionKind kind;
  guint a, b; /* Members; or the index of the connection, and its end. */
  gboolean urgent;
} Action;

typedef struct
{
  GBytes *bytes;
  gboolean urgent;
} WorldFrame;

typedef struct
{
  guint64 number;
  guint member[2], life[2]; /* Index 0: the member that dialled. */
  gboolean relayed, broken;
  gboolean known[2];  /* The session of that end has the connection. */
  gboolean closed[2]; /* The session of that end has closed it. */
  gboolean deaf[2];   /* What is sent to that end is lost. */
  GQueue to[2];       /* Of WorldFrame. */
} WorldConnection;

typedef struct
{
  Session *session; /* NULL: the other is no member. */
  guint life;       /* The life of the other, as this member knows it. */
  gboolean dialling;
  guint64 sent[SESSION_STREAMS], delivered[SESSION_STREAMS];
  guint sends; /* Messages to send in answer to what is delivered. */
} WorldEnd;

typedef struct
{
  SessionConfig config;
  gsize size_max; /* Of a message. */
  guint n;        /* Members. */
  guint64 now_us;
  guint life[WORLD_MEMBERS_MAX];
  gboolean evicted[WORLD_MEMBERS_MAX];
  WorldEnd ends[WORLD_MEMBERS_MAX][WORLD_MEMBERS_MAX];
  GPtrArray *connections; /* Of WorldConnection. */
  guint64 numbers;
  GArray *effects; /* Of SessionEffect. */
  guint64 delivered;
  guint64 refused; /* Connections that an end closed because a rule was broken. */
  GString *story;  /* (nullable) One line for each event. */
  char failure[256];
} World;

void world_init (World *world, const SessionConfig *config, guint n, gsize size_max);
void world_clear (World *world);

/* Fills in all that may happen now, except the passing of time. Returns their number. */
guint world_actions (World *world, Action actions[WORLD_ACTIONS_MAX]);
/* `yes`: a dial succeeds, and its connection is `relayed`. */
void world_act (World *world, const Action *action, gboolean yes, gboolean relayed);
/* The next time at which a session is due; G_MAXUINT64: none is. */
guint64 world_due (const World *world);

/* FALSE: there is no room. */
gboolean world_send (World *world, guint from, guint to, SessionStream stream);
/* Makes a connection between two members that neither asked for. */
WorldConnection *world_connect (World *world, guint from, guint to, gboolean relayed);
/* Breaks the connection: of the frames under way to each end only the first `kept` arrive. */
void world_break (World *world, WorldConnection *connection, guint kept_0, guint kept_1);
/* These bytes arrive at that end after all frames under way. */
void world_inject (World *world, WorldConnection *connection, guint end, GBytes *bytes);
void world_crash (World *world, guint member);
void world_evict (World *world, guint member);

/* Checks all that must hold when nothing more happens. */
void world_check_end (World *world);
void world_fail (World *world, const char *format, ...) G_GNUC_PRINTF (2, 3);
