/* SPDX-License-Identifier: BSD-3-Clause */
/* Two or three Nodes in a small world: links deliver at once and in order, engines only record what
 * they are told, and the test moves the clock. `log` has one line for each thing that a node told
 * its engine. */
#ifndef NODE_WORLD_H
#define NODE_WORLD_H

#include "satin/protocol/messages/message.h"
#include "satin/protocol/node.h"

#define NODES_MAX 24

typedef struct
{
  Node *node;
  gboolean alive, deaf; /* deaf: stands still, takes nothing in */
  gboolean late;        /* what is sent to it waits */
  GArray *effects;
  GString *log;
  guint64 timer_us;
  GPtrArray *jobs;     /* of Loan: what its engine has to lend */
  GHashTable *running; /* held -> Loan (copy) */
  guint64 loans;
  guint steals, replies; /* STEAL and JOBS messages sent */
  guint owes;            /* times that its engine was asked for work for thieves */
  GBytes *result;
  GBytes *put, *constant; /* the last ones */
  /* what its next bids say, and how many it made */
  guint64 commit_us, found;
  const char *trouble;
  gboolean slow; /* the test says them, and what its engine lends */
  guint bids, pings;
  guint64 ended;
  guint64 ticket; /* of the last order to its scribe */
} Peer;

typedef struct
{
  guint end[2];
  gboolean up, mute; /* mute: half open, swallows everything */
} Wire;

typedef struct
{
  guint to;
  NodeEventKind kind;
  guint64 link, dial;
  gboolean dead;
  GBytes *bytes;
} Post;

typedef struct World
{
  Peer peer[NODES_MAX];
  guint n;
  guint64 now_us;
  GArray *wires; /* of Wire; link number = index + 1 */
  GQueue *posts;
  Stems *stems;
  gboolean checkpoint, buddies, ring, theft, mirror, cut; /* of the nodes that are added next */
  double verify;                                          /* the same */
  guint64 heartbeat_us, silence_us;                       /* 0: as usual */
  guint dense;                                            /* the same */
  gboolean wall;           /* n0 and n2 cannot dial each other; whoever is dead refuses */
  gboolean swallows;       /* dials of n0 are not answered */
  gboolean one_way;        /* dials by n1 are refused on their way */
  guint parted;            /* those from this one on and those before it do not hear each
                              other; 0: all do */
  gboolean bridged;        /* … but for the last before it and this one */
  guint n_dials;           /* so far */
  gsize largest;           /* bytes of the largest message that was sent */
  gsize lates;             /* a message of so many bytes makes the last node late */
  MessageKind lates_kind;  /* … and so does one of this kind; MESSAGE_NO_KIND: none */
  guint said_no, n_closed; /* RELAY END messages sent, links closed */
  const char *build;       /* of the nodes that are added next */
  gboolean closed, invites, kept;
  /* (nullable): sees each effect before it is carried out */
  void (*watch) (struct World *world, guint who, const NodeEffect *effect);
  guint twin; /* this one, of another host, has the address of n1, whom a dial of it reaches; 0:
                 none */
} World;

/* What a test does with the links, and with time: pump delivers all there is to deliver, pass lets
 * time go on, timer by timer. */
void post (World *world, Post one);
void break_link (World *world, guint64 link);
/* The first link that is up between these two. */
guint64 link_between (World *world, guint a, guint b);
void pump (World *world);
/* Delivers one of `posts` alone. A late node does not get it, and FALSE. */
gboolean pump_one (World *world, GList *at);
void pass (World *world, guint64 us);
/* Node number `to` hears this over that link. */
void deliver (World *world, guint64 link, guint to, const Message *message);

/* Writes down an effect that does nothing else in a world. */
void node_world_log (GString *log, const NodeEffect *effect);
/* What this effect sends, alone or in a frame of a session, to be cleared. FALSE: nothing, or a
 * part. */
gboolean read_sent (const NodeEffect *effect, Message *message);
/* Its kind; MESSAGE_NO_KIND: nothing, or a part. */
static inline MessageKind
kind_sent (const NodeEffect *effect)
{
  g_auto (Message) message = { 0 };

  return read_sent (effect, &message) ? message.kind : MESSAGE_NO_KIND;
}

/* n0 founds the run, the others join. */
World *world_new (guint n, gboolean checkpoint);
void add_peer (World *world, gboolean solo);
void world_free (World *world);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (World, world_free)

/* What happens to node number `who`: an event, without and with what follows from it; its death;
 * all links between two break, or swallow everything; its engine has a job to lend, is hungry for
 * two seconds, has finished what it runs, or has met a slot that `holder` holds. start: main starts
 * the root. */
void step (World *world, guint who, const NodeEvent *event);
void tell (World *world, guint who, const NodeEvent *event);
void die (World *world, guint who);
void cut (World *world, guint a, guint b);
/* Nothing goes between those from `first` on and those before it any more; nobody is told. */
void part (World *world, guint first);
void start (World *world);
guint64 offer (World *world, guint who, const char *path);
/* Its engine has the job that it holds under this path, and has not begun it. */
void has_not_begun (World *world, guint who, const char *path);
void hunger (World *world, guint who);
guint64 held_of (World *world, guint who, const char *path);
void finish (World *world, guint who, const char *path);
void adopt (World *world, guint who, const char *path, guint64 loan, guint holder);

/* What is seen of it. said: this line stands in its log. */
gboolean said (World *world, guint who, const char *line);
void forget_log (World *world);
NodeStats stats_of (World *world, guint who);
guint members_of (World *world, guint who);

#endif
