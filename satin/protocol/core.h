/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a Node: its parts side by side, and the two ways out (emit, log). Only files of
 * this room include it. The file of a part's name writes that part; the other files call its
 * functions. */
#pragma once

#include "control/elect.h"
#include "control/events.h"
#include "control/lease.h"
#include "control/leave.h"
#include "control/round.h"
#include "control/saves.h"
#include "control/stop.h"
#include "members/above.h"
#include "members/admit.h"
#include "members/alive.h"
#include "members/carry.h"
#include "members/contacts.h"
#include "members/hear.h"
#include "members/join.h"
#include "members/link.h"
#include "members/member.h"
#include "members/reach.h"
#include "members/roster.h"
#include "members/route.h"
#include "node.h"
#include "work/archive.h"
#include "work/buddy.h"
#include "work/constants.h"
#include "work/directory.h"
#include "work/epoch.h"
#include "work/held.h"
#include "work/holdback.h"
#include "work/known.h"
#include "work/lend.h"
#include "work/loans.h"
#include "work/mirror.h"
#include "work/orphans.h"
#include "work/poison.h"
#include "work/quarantine.h"
#include "work/rerun.h"
#include "work/root.h"
#include "work/rows.h"
#include "work/shares.h"
#include "work/steal.h"
#include "work/verify-own.h"
#include "work/verify.h"
#include "work/work.h"
#include "work/yield.h"

#define CORE_NEVER G_MAXUINT64

/*  phase   the node                                       may become
 *  NEW     had no event yet                               RUNS
 *  RUNS    handles events                                 ENDED, LEFT
 *  ENDED   is to end with the run: END follows
 *  LEFT    is to end, and the run goes on without it */
typedef enum
{
  NODE_NEW,
  NODE_RUNS,
  NODE_ENDED,
  NODE_LEFT
} NodePhase;

struct Node
{
  NodeConfig config; /* its texts are owned */
  guint64 now_us;
  guint64 random;
  GArray *effects; /* of the step under way; borrowed */
  GArray *owned;   /* what is freed with the node, see core_owns */
  NodePhase phase;
  NodeId self;               /* none until JOINED */
  const MembersAbove *above; /* calls upwards of the layer `members` … */
  const WorkAbove *control;  /* … and `work` */
  guint64 wish_us;           /* time of the requested TIMER; CORE_NEVER: none */

  Links links;
  Sessions sessions;
  Contacts contacts;
  Routes routes;
  Reach reach;
  Roster roster;
  Join join;
  Admit admit;
  Alive alive;
  Loans loans;
  Rerun rerun;
  Held held;
  Known known;
  Orphans orphans;
  Archive archive;
  Root root;
  Steal steal;
  Lend lend;
  Lease lease;
  Elect elect;
  Saves saves;
  Buddy buddy;
  Holdback holdback;
  Mirror mirror;
  Events events;
  Work work;
  Round round;
  Epoch epoch;
  Constants constants;
  Shares shares;
  Stop stop;
  Leave leave;
  Poison poison;
  Quarantine quarantine;
  Verify verify;
  VerifyOwn verify_own;
  Yield yield;
  NodeStats stats;
};

/* For the init functions of parts: the node frees what the pointer at `at` then points to, unless
 * it is NULL; what was named last is freed first. The others make a container there, too. */
void core_owns (Node *node, gpointer at, GDestroyNotify free);
void core_pointers (Node *node, GPtrArray **at, GDestroyNotify free);
void core_array (Node *node, GArray **at, gsize size);
void core_queue (Node *node, GQueue *queue, GDestroyNotify free);
void core_free_owned (Node *node);
/* A new effect, to be filled in before the next call. */
NodeEffect *core_emit (Node *node, NodeEffectKind kind);
void core_log (Node *node, const char *format, ...) G_GNUC_PRINTF (2, 3);
guint64 core_random (Node *node);
/* About `us`, half to one and a half times. */
guint64 core_jitter (Node *node, guint64 us);
gboolean core_is_member (const Node *node);
/* TRUE: this node is a member and has this id. */
gboolean core_is_self (const Node *node, const NodeId *id);
/* A GCompareDataFunc for keys that are guint64. */
int core_compare_numbers (gconstpointer a, gconstpointer b, gpointer data);
/* (transfer container) The values of the tree, in the order of their keys. */
GPtrArray *core_values (GTree *tree);
