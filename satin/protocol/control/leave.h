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
#define LEAVE_BATCH_MAX 1024u                  /* of them in one message */

typedef struct
{
  gboolean wanted;   /* this node is to leave */
  gboolean begun;    /* … and was released: nothing new starts here */
  gboolean halted;   /* the engine has stopped and told all its rows */
  gboolean alone;    /* there was nobody to whom it could be left, so the run is being suspended */
  gboolean missed;   /* … and a member that lost its name wants to be let in: somebody stays */
  gboolean unsaved;  /* … and nobody can write the checkpoint */
  guint64 until_us;  /* it goes then, whatever is still here */
  NodeId asked;      /* the master that is to release it … */
  Term asked_term;   /* … in that term: it hears nothing that comes before it is master */
  GPtrArray *rows;   /* of Row: to be handed over */
  GPtrArray *flight; /* (nullable) of Row: with the heir, not acknowledged */
  NodeId heir;
  guint64 batches;
  guint dropped; /* rows beyond LEAVE_ROWS_MAX */

  /* what others handed over, as long as it is in no published checkpoint */
  GPtrArray *taken; /* of Row */
  guint n_counted;  /* of them stand in what this node says is at risk (work.h) */
  guint n_sent;     /* of them went to the present coordinator … */
  guint64 sent_us;  /* … and are published when so much of what this node reported is */
} Leave;

void leave_init (Node *node);
void leave_done (Node *node);
void leave_check (Node *node);
/* That node (none: this one) is to leave within so long; patience_us 0: LEAVE_PATIENCE_US. */
void leave_ask (Node *node, const NodeId *id, guint64 patience_us);
void leave_on_release (Node *node, const NodeId *from);
/* With the flag, from the master: nobody else stays; to the master: it came too late, and the node
 * that asked stays. */
void leave_on_released (Node *node, const NodeId *from, const Message *message);
void leave_on_leaving (Node *node, const NodeId *from);
void leave_on_heard (Node *node, const NodeId *from);
/* A row of a member that is gone or goes: it is saved from here. The coordinator was sent it too,
 * but may not have published it. */
void leave_take (Node *node, const Row *row);
void leave_on_hand (Node *node, const NodeId *from, const Message *message);
void leave_on_handed (Node *node, const NodeId *from, const Message *message);
void leave_on_goodbye (Node *node, const NodeId *from, const Message *message);
/* The engine told rows; it has halted. */
void leave_on_rows (Node *node, GPtrArray *rows);
void leave_on_halted (Node *node);
/* Adds what others handed over and the present coordinator was not sent; so much less is at risk
 * when it is published. */
guint64 leave_add_taken (Node *node, GPtrArray *rows);
/* It was sent: all that this node has reported is published when that is. */
void leave_sent_taken (Node *node);
void leave_published (Node *node);
/* Another coordinator: all of it goes again. */
void leave_forget_sent (Node *node);
/* What a member must hear in the session that begins. */
void leave_greet (Node *node, const NodeId *to);
void leave_departed (Node *node, const NodeId *id);
/* A member that lost its name wants to be let in. */
void leave_on_missing (Node *node);
/* The end of a step. May end this node. */
void leave_go_on (Node *node);
guint64 leave_due (Node *node);
