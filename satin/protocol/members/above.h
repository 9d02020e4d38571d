/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls from a layer to the layers above it. The layers are archives, each linked only with those
 * below: members (links, sessions, the roster, the failure detector), work (jobs, results, their
 * copies), control (saving, electing, ending). A lower layer names no part of an upper one; it
 * calls through these two tables. node-above.c fills the tables in: it lists which parts are
 * called, and in which order. Driver's thread. */
#pragma once

#include "../messages/message.h"

typedef struct Node Node;
typedef struct Link Link;
typedef struct Member Member;

/* What the layer `members` says. */
typedef struct
{
  /* A message of the layers above, whose sender may say it and to which this node listens. */
  void (*hear) (Node *node, const NodeId *from, const Message *message);
  /* May this message be heard now, which `from` (nullable: no member) says? FALSE: it waits, or is
   * dropped. Adds the shared bytes that it speaks of. */
  gboolean (*admit) (Node *node, Member *from, Message *message);
  /* Some member is connected again whose messages wait. */
  void (*readmit) (Node *node);
  /* A message was sent to that member. */
  void (*sent) (Member *member, const Message *message);

  /* This link leads to a member, or is the one that is left: it bears what must not be lost with a
   * session. */
  void (*bound) (Node *node, Link *link);
  /* That member is not connected any more. */
  void (*unbound) (Node *node, const NodeId *id);
  /* The session with a member has begun: it hears in it what it has to know. */
  void (*greet) (Node *node, Member *member);
  /* What is for all goes through another member from now on, or through this node: that member
   * hears it again. */
  void (*greet_again) (Node *node, const NodeId *id);

  /* The master is about to take this member off the roster. */
  void (*departing) (Node *node, const NodeId *id);
  /* A new version of the roster holds. Members that it names no more, `cause` being a word for
   * people; … */
  void (*departed) (Node *node, Member *member, const char *cause);
  /* … members that it names for the first time (`seen`: they came while this node was one); … */
  void (*joined) (Node *node, const Member *member, gboolean seen);
  /* … those whom this node knew under its earlier name and who are not on it; … */
  void (*missed) (Node *node, const NodeId *id);
  /* … after these three. */
  void (*changed) (Node *node);
  /* Master: all were told it. `grown`: by a member. */
  void (*decreed) (Node *node, gboolean grown);
  /* That member is to take the dead off the roster, and hears from here who is. */
  void (*tell_of_dead) (Node *node, const NodeId *to);

  /* This node has a name now; has lost it, and with it these members (of Member). */
  void (*named) (Node *node);
  void (*unnamed) (Node *node, GPtrArray *members);
  /* This node is master: of a run that it has founded, or since its elders are dead (`again`: it
   * was before); it is not any more; another one is. */
  void (*founded) (Node *node);
  void (*took_over) (Node *node, gboolean again);
  void (*deposed) (Node *node);
  void (*followed) (Node *node);
  /* Somebody asks to be let in who was silent before. */
  void (*missing_came) (Node *node);
  /* This node never had a name, and nobody is left to give it one. */
  void (*stranded) (Node *node);
} MembersAbove;

/* What the layer `work` says to the one that saves and ends the run. */
typedef struct
{
  /* These finished rows may be saved; so much less is at risk in this node when they are. */
  void (*rows) (Node *node, GPtrArray *rows, guint64 risk_us);
  /* So may all that waits here for its lender. */
  void (*flush) (Node *node);
  /* A row of a member that is gone: it is saved from here. */
  void (*adopt_row) (Node *node, const Row *row);
  /* The next scan is to be soon. */
  void (*hurry) (Node *node);
  /* Has the engine scanned, or scanned whole. Returns the number of the scan. */
  guint64 (*scan) (Node *node);
  guint64 (*scan_whole) (Node *node);
  /* A result that was in transit has come (plan cut): the round may be complete. */
  void (*arrived) (Node *node);
  /* More of what this node reported is published. */
  void (*published) (Node *node);
  /* A row of the ledger: a MESSAGE_EVENT. */
  void (*note) (Node *node, const Message *event);
  /* A job ends every process that runs it: the run is over. */
  void (*condemn) (Node *node, const char *sentence);
  /* … the only member, which this job ends. */
  void (*crash_report) (Node *node, const char *sentence);
} WorkAbove;
