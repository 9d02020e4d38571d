/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a Node: its parts side by side, and the two ways out (emit, log). Included by the
 * files of this room only. Each part is written by the file of its name; the others call its
 * functions. */
#pragma once

#include "above.h"
#include "alive.h"
#include "archive.h"
#include "buddy.h"
#include "carry.h"
#include "constants.h"
#include "contacts.h"
#include "elect.h"
#include "epoch.h"
#include "events.h"
#include "hear.h"
#include "held.h"
#include "holdback.h"
#include "join.h"
#include "known.h"
#include "lease.h"
#include "leave.h"
#include "lend.h"
#include "link.h"
#include "loans.h"
#include "member.h"
#include "mirror.h"
#include "node.h"
#include "orphans.h"
#include "poison.h"
#include "quarantine.h"
#include "reach.h"
#include "rerun.h"
#include "root.h"
#include "roster.h"
#include "round.h"
#include "route.h"
#include "rows.h"
#include "saves.h"
#include "shares.h"
#include "steal.h"
#include "stop.h"
#include "work.h"
#include "yield.h"

#define CORE_NEVER G_MAXUINT64

struct Node
{
  NodeConfig config; /* its texts are owned */
  guint64 now_us;
  guint64 random;
  GArray *effects; /* of the step under way; borrowed */
  gboolean started, ended, left;
  NodeId self;               /* none until JOINED */
  const MembersAbove *above; /* whom the layers call: `members` … */
  const WorkAbove *control;  /* … and `work` */
  guint64 wish_us;           /* the TIMER asked for; CORE_NEVER: none */

  Links links;
  Sessions sessions;
  Contacts contacts;
  Routes routes;
  Reach reach;
  Roster roster;
  Join join;
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
  Yield yield;
  NodeStats stats;
};

/* A new effect, to be filled in before the next one is asked for. */
NodeEffect *core_emit (Node *node, NodeEffectKind kind);
void core_log (Node *node, const char *format, ...) G_GNUC_PRINTF (2, 3);
guint64 core_random (Node *node);
/* About `us`, half to one and a half times. */
guint64 core_jitter (Node *node, guint64 us);
gboolean core_is_member (const Node *node);
