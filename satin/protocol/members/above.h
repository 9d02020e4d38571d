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

/* Calls of the layer `members`. */
typedef struct
{
  /* A message for the layers above, which the sender may send and this node accepts. */
  void (*hear) (Node *node, const NodeId *from, const Message *message);
  /* TRUE: this message of `from` (NULL: no member) may be heard now. FALSE: it waits, or is
   * dropped. Adds the shared bytes that the message refers to. */
  gboolean (*admit) (Node *node, Member *from, Message *message);
  /* A member whose messages wait is connected again. */
  void (*readmit) (Node *node);
  /* A message was sent to that member. */
  void (*sent) (Member *member, const Message *message);

  /* This link leads to a member, or is the last one: send over it what must not be lost with a
   * session. */
  void (*bound) (Node *node, Link *link);
  /* That member is no longer connected. */
  void (*unbound) (Node *node, const NodeId *id);
  /* The session with a member has begun: tell it what it has to know. */
  void (*greet) (Node *node, Member *member);
  /* Messages for all members go through another hub from now on, or through this node: tell that
   * member again. */
  void (*greet_again) (Node *node, const NodeId *id);

  /* The master is about to remove this member from the roster. */
  void (*departing) (Node *node, const NodeId *id);
  /* A new version of the roster holds. First, members that it no longer names (`cause`: a word for
   * people); … */
  void (*departed) (Node *node, Member *member, const char *cause);
  /* … members that it names for the first time (`seen`: they came while this node was one); … */
  void (*joined) (Node *node, const Member *member, gboolean seen);
  /* … members that this node knew under its earlier name and that are not on it; … */
  void (*missed) (Node *node, const NodeId *id);
  /* … last, once after these three. */
  void (*changed) (Node *node);
  /* Master: all members were told the new roster. `grown`: a member joined. */
  void (*decreed) (Node *node, gboolean grown);
  /* That member is to remove dead members from the roster: tell it which are dead. */
  void (*tell_of_dead) (Node *node, const NodeId *to);

  /* This node has a name now; it has lost its name, and with it these members (of Member). */
  void (*named) (Node *node);
  void (*unnamed) (Node *node, GPtrArray *members);
  /* This node is master: of a run that it has founded, or since its elders are dead (`again`: it
   * was master before); it is no longer master; another node is master. */
  void (*founded) (Node *node);
  void (*took_over) (Node *node, gboolean again);
  void (*deposed) (Node *node);
  void (*followed) (Node *node);
  /* A node that was silent before asks to be let in. */
  void (*missing_came) (Node *node);
  /* This node never had a name, and no node is left to give it one. */
  void (*stranded) (Node *node);
} MembersAbove;

/* Calls of the layer `work` to the layer `control`. */
typedef struct
{
  /* These finished rows may be saved; `risk_us`: by how much this node's work at risk falls
   * then. */
  void (*rows) (Node *node, GPtrArray *rows, guint64 risk_us);
  /* So may all results that wait here for their lenders. */
  void (*flush) (Node *node);
  /* A row of a member that is gone: this node saves it. */
  void (*adopt_row) (Node *node, const Row *row);
  /* Scan soon. */
  void (*hurry) (Node *node);
  /* Orders a scan of new rows, or of all. Returns its number. */
  guint64 (*scan) (Node *node);
  guint64 (*scan_whole) (Node *node);
  /* A result that was in transit has come (plan cut): the round may be complete. */
  void (*arrived) (Node *node);
  /* More of the work that this node reported is published. */
  void (*published) (Node *node);
  /* A row of the ledger: a MESSAGE_EVENT. */
  void (*note) (Node *node, const Message *event);
  /* A job ends every process that runs it: the run is over. */
  void (*condemn) (Node *node, const char *sentence);
  /* … of the only member. */
  void (*crash_report) (Node *node, const char *sentence);
} WorkAbove;
