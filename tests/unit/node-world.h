/* SPDX-License-Identifier: BSD-3-Clause */
/* Two or three Nodes in a small world: links deliver at once and in order, engines only record what
 * they are told, and the test moves the clock. `log` has one line for each thing that a node told
 * its engine. */
#pragma once

#include "satin/protocol/messages/message.h"
#include "satin/protocol/node.h"

#define NODES_MAX 24

typedef struct
{
  Node *node;
  gboolean alive, deaf; /* deaf: the node is stalled and receives nothing. */
  gboolean late;        /* Messages to it are delayed. */
  GArray *effects;
  GString *log;
  guint64 timer_us;
  GPtrArray *jobs;     /* Of Loan: the jobs that its engine can lend. */
  GHashTable *running; /* Held number to Loan (a copy). */
  guint64 loans;
  guint steals, replies; /* STEAL and JOBS messages sent. */
  guint owes;            /* How often its engine was asked for work for thieves. */
  GBytes *result;
  GBytes *put, *constant; /* The last ones that its engine got. */
  /* The report of its next bids, and the number of bids. */
  guint64 commit_us, found;
  const char *trouble;
  gboolean slow; /* The test sends the reports, and the jobs of its engine. */
  guint bids, pings;
  guint64 ended;
  guint64 ticket; /* The ticket of the last order to its scribe. */
} Peer;

typedef struct
{
  guint end[2];
  gboolean up, mute; /* mute: the link is half-open and swallows everything. */
} Wire;

typedef struct
{
  guint to;
  NodeEventKind kind;
  guint64 link, dial;
  NodeDialFailure failure;
  GBytes *bytes;
} Post;

typedef struct World
{
  Peer peer[NODES_MAX];
  guint n;
  guint64 now_us;
  GArray *wires; /* Of Wire; link number = index + 1. */
  GQueue *posts;
  Stems *stems;
  gboolean checkpoint, buddies, ring, theft, mirror,
      cut; /* Settings of the nodes that are added next. */
  double verify;                                          /* The same. */
  guint64 heartbeat_us, silence_us;                       /* 0: the defaults. */
  guint dense;                                            /* The same. */
  gboolean wall;           /* n0 and n2 cannot dial each other; dead nodes refuse. */
  gboolean swallows;       /* Dials of n0 are not answered. */
  gboolean one_way;        /* Dials by n1 are refused on their way. */
  guint parted; /* Nodes from this number on and nodes before it receive nothing from each other; 0:
                   all do. */
  gboolean bridged;        /* … except this node and the one before it. */
  guint n_dials;           /* So far. */
  gsize largest;           /* The bytes of the largest message sent. */
  gsize lates;             /* A message of this size makes the last node late … */
  MessageKind lates_kind;  /* … and so does one of this kind; MESSAGE_NO_KIND: none. */
  guint said_no, n_closed; /* Ends of routes told, links closed. */
  const char *build;       /* Of the nodes that are added next. */
  gboolean closed, invites, kept;
  /* (nullable) Is called with each effect before it is carried out. */
  void (*watch) (struct World *world, guint who, const NodeEffect *effect);
  guint twin; /* This node, on another host, has the address of n1; its dial of that address reaches
               * n1 itself. 0: none. */
} World;

static inline Node *
node_at (World *world, guint who)
{
  return world->peer[who].node;
}

/* Links and time: pump delivers everything that can be delivered; pass lets time pass, timer by
 * timer. */
void post (World *world, Post one);
void break_link (World *world, guint64 link);
/* The first link between these two nodes that is up. */
guint64 link_between (World *world, guint a, guint b);
void pump (World *world);
/* Delivers this entry of `posts` only. FALSE: it is for a late node. */
gboolean pump_one (World *world, GList *at);
void pass (World *world, guint64 us);
/* Node number `to` receives this over that link. */
void deliver (World *world, guint64 link, guint to, const Message *message);

/* Writes an effect that does nothing else in a world. */
void node_world_log (GString *log, const NodeEffect *effect);
/* Fills `message` with what this effect sends, alone or in a frame of a session; the caller clears
 * it. FALSE: it sends nothing, or a part of a message. */
gboolean read_sent (const NodeEffect *effect, Message *message);
/* The kind of what it sends; MESSAGE_NO_KIND: nothing, or a part of a message. */
static inline MessageKind
kind_sent (const NodeEffect *effect)
{
  g_auto (Message) message = { 0 };

  return read_sent (effect, &message) ? message.kind : MESSAGE_NO_KIND;
}

/* How many jobs it sends; -1: it is no JOBS. `request` (out): which STEAL it answers; 0: none. */
static inline int
jobs_sent (const NodeEffect *effect, guint64 *request)
{
  g_auto (Message) message = { 0 };

  if (!read_sent (effect, &message) || message.kind != MESSAGE_JOBS)
    return -1;
  *request = message.number;
  return (int)message.loans->len;
}

/* n0 founds the run, the others join. */
World *world_new (guint n, gboolean checkpoint);
void add_peer (World *world, gboolean solo);
void world_free (World *world);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (World, world_free)

/* What happens to node number `who`. step: an event, without its consequences; tell: an event with
 * all that follows. Its death; all links between two nodes break, or swallow everything; its engine
 * has a job to lend, is idle for two seconds, has finished what it runs, or has met a slot that
 * `holder` holds. start: main starts the root. */
void step (World *world, guint who, const NodeEvent *event);
void tell (World *world, guint who, const NodeEvent *event);
void die (World *world, guint who);
void cut (World *world, guint a, guint b);
/* Cuts off the nodes from `first` on from those before, silently. */
void part (World *world, guint first);
void start (World *world);
guint64 offer (World *world, guint who, const char *path);
/* Its engine has not begun the job that it holds under this path. */
void has_not_begun (World *world, guint who, const char *path);
void hunger (World *world, guint who);
guint64 held_of (World *world, guint who, const char *path);
void finish (World *world, guint who, const char *path);
void adopt (World *world, guint who, const char *path, guint64 loan, guint holder);

/* What a test can read. said: this line is in the node's log. */
gboolean said (World *world, guint who, const char *line);
void forget_log (World *world);
NodeStats stats_of (World *world, guint who);
guint members_of (World *world, guint who);
