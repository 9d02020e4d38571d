/* SPDX-License-Identifier: BSD-3-Clause */
/* A few members, the sessions between them, and connections that do what networks do. Everything
 * that may happen next is an action; the caller picks one. Time passes as the caller says. Each end
 * of a pair checks what it gets: the oracle knows the n-th message of each stream. */
#pragma once

#include "mesh/session.h"
#include "rng.h"

#define WORLD_MEMBERS_MAX 3
#define WORLD_ACTIONS_MAX 512

typedef enum
{
  ACTION_HEAR,  /* connection, end: the next frame arrives there; urgent: the next urgent one */
  ACTION_DOWN,  /* connection, end: that end is told that it broke, or that the other one closed */
  ACTION_DIAL,  /* a, b: the dial of a to b ends */
  ACTION_TICK,  /* a, b: the session of a with b is due */
  ACTION_GONE,  /* a, b: a hears that b is no member any more */
  ACTION_CAME,  /* a, b: a hears that b is a member */
  ACTION_RENAME /* a: a, which was evicted, hears that and joins again */
} ActionKind;

typedef struct
{
  ActionKind kind;
  guint a, b; /* members; or the connection's place, and its end */
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
  guint member[2], life[2]; /* 0: who dialled */
  gboolean relayed, broken;
  gboolean known[2];  /* that end's session has it */
  gboolean closed[2]; /* … and has it no more */
  gboolean deaf[2];   /* what is sent to that end is lost */
  GQueue to[2];       /* of WorldFrame */
} WorldConnection;

typedef struct
{
  Session *session; /* NULL: that one is no member */
  guint life;       /* of the other, as this one knows it */
  gboolean dialling;
  guint64 sent[SESSION_STREAMS], delivered[SESSION_STREAMS];
  guint sends; /* … to come in answer to what is delivered */
} WorldEnd;

typedef struct
{
  SessionConfig config;
  gsize size_max; /* of a message */
  guint n;        /* members */
  guint64 now_us;
  guint life[WORLD_MEMBERS_MAX];
  gboolean evicted[WORLD_MEMBERS_MAX];
  WorldEnd ends[WORLD_MEMBERS_MAX][WORLD_MEMBERS_MAX];
  GPtrArray *connections; /* of WorldConnection */
  guint64 numbers;
  GArray *effects; /* of SessionEffect */
  guint64 delivered;
  guint64 refused; /* connections that an end closed since a rule was broken */
  GString *story;  /* (nullable): one line for each thing that happens */
  char failure[256];
} World;

void world_init (World *world, const SessionConfig *config, guint n, gsize size_max);
void world_clear (World *world);

/* What may happen now, but time. */
guint world_actions (World *world, Action actions[WORLD_ACTIONS_MAX]);
/* `yes`: a dial succeeds; what it makes is `relayed`. */
void world_act (World *world, const Action *action, gboolean yes, gboolean relayed);
/* G_MAXUINT64: nothing is due. */
guint64 world_due (const World *world);

/* FALSE: there is no room. */
gboolean world_send (World *world, guint from, guint to, SessionStream stream);
/* A connection between two that nobody asked for. */
WorldConnection *world_connect (World *world, guint from, guint to, gboolean relayed);
/* It breaks: of what is on its way to each end all but the first `kept` frames are lost. */
void world_break (World *world, WorldConnection *connection, guint kept_0, guint kept_1);
/* These bytes come to that end behind all else. */
void world_inject (World *world, WorldConnection *connection, guint end, GBytes *bytes);
void world_crash (World *world, guint member);
void world_evict (World *world, guint member);

/* All that must hold when nothing more happens. */
void world_check_end (World *world);
void world_fail (World *world, const char *format, ...) G_GNUC_PRINTF (2, 3);
