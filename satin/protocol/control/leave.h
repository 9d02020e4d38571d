/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaving: a crash that is announced, after the leaver has handed over everything of value. The
 * master releases the leaver (never the last node that stays). The engine halts. The holders of the
 * leaver's jobs offer them as orphans. The leaver's finished results go, largest first, to an heir,
 * which offers them like the rows of a checkpoint. Then the leaver says GOODBYE, and jobs that it
 * had not finished come back to their lenders as after a crash. Results that arrive too late are
 * lost as in a crash. Driver's thread. */
#pragma once

#include "../members/member.h"
#include "../node.h"

#define LEAVE_PATIENCE_US (5 * G_USEC_PER_SEC) /* when nobody says another */
#define LEAVE_ROWS_MAX 65536u                  /* results that are handed over; the largest */

/* How far this node is with leaving; it never goes back. */
typedef enum
{
  LEAVE_NONE,
  LEAVE_BEGUN, /* it was released: nothing new starts here */
  LEAVE_HALTED /* the engine has stopped and told all its rows */
} LeavePhase;

/* Whether another member stays when this node leaves; it never goes back. */
typedef enum
{
  LEAVE_OTHERS_STAY,
  LEAVE_ALONE,  /* no, so the run is being suspended */
  LEAVE_MISSED, /* … but a member that lost its name wants to be let in, so a member stays */
  LEAVE_UNSAVED /* … and no node can write the checkpoint */
} LeaveLast;

typedef struct
{
  LeavePhase phase;
  LeaveLast last;
  guint64 until_us;  /* the node leaves then, even with results left; CORE_NEVER: it stays */
  NodeId asked;      /* the master that is to release it … */
  Term asked_term;   /* … in that term: it ignores a request from before it is master */
  GPtrArray *rows;   /* of Row: still to be handed over */
  GPtrArray *flight; /* (nullable) of Row: sent to the heir, not acknowledged */
  NodeId heir;
  guint64 mark;  /* of the rows in flight */
  guint dropped; /* rows beyond LEAVE_ROWS_MAX */

  /* rows that others handed over, until a published checkpoint has them */
  GPtrArray *taken; /* of Row */
  guint n_counted;  /* of them count in this node's work at risk (work.h) */
  guint n_sent;     /* of them were sent to the present coordinator … */
  guint64 sent_us;  /* … and are published when this much of the reported work is */
} Leave;

void leave_init (Node *node);
void leave_check (Node *node);
/* That node (none: this one) is to leave within `patience_us`; 0: LEAVE_PATIENCE_US. */
void leave_ask (Node *node, const NodeId *id, guint64 patience_us);
void leave_on_release (Node *node, const NodeId *from);
/* With the flag, from the master: no other member stays; to the master: the release came too late,
 * and the node that asked stays. */
void leave_on_released (Node *node, const NodeId *from, const Message *message);
void leave_on_leaving (Node *node, const NodeId *from);
void leave_on_heard (Node *node, const NodeId *from);
/* A row of a member that has left or leaves: this node saves it. The coordinator got it, too, but
 * may not have published it. */
void leave_take (Node *node, const Row *row);
/* The heir has all that was sent to it up to this mark. */
void leave_on_copied (Node *node, const NodeId *from, guint64 mark);
void leave_on_goodbye (Node *node, const NodeId *from, const Message *message);
/* The engine reported rows; it has halted. */
void leave_on_rows (Node *node, GPtrArray *rows);
void leave_on_halted (Node *node);
/* Adds the handed-over rows that were not sent to the present coordinator. Returns by how much the
 * work at risk falls when they are published. */
guint64 leave_add_taken (Node *node, GPtrArray *rows);
/* These rows were sent: they are published when all work reported so far is. */
void leave_sent_taken (Node *node);
void leave_published (Node *node);
/* There is a new coordinator: all of them are sent again. */
void leave_forget_sent (Node *node);
/* A session begins: tells the member if this node leaves. */
void leave_greet (Node *node, const NodeId *to);
void leave_departed (Node *node, const NodeId *id);
/* A member that lost its name wants to be let in. */
void leave_on_missing (Node *node);
/* The end of a step. May end this node. */
void leave_go_on (Node *node);
guint64 leave_due (Node *node);
