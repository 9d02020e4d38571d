/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that are to run again because their holder is gone. The checkpoint may hold rows at or below
 * the path of such a job: of the holder, and of members that have finished parts of the job and
 * dropped them. So before a slot that came back runs again, its node asks the coordinator, which
 * offers these rows, whichever node computed them (archive.h), and then answers. It also asks the
 * buddy of the holder, which offers the holder's rows (buddy.h). In a run with a
 * checkpoint the directory (directory.h) asks for each path that, as it knows, the departed member
 * offered: an orphan has no lender that could ask. A question ends with its answer; until then it
 * is repeated to each new coordinator. A slot waits RERUN_PATIENCE_US at most. Driver's thread. */
#pragma once

#include "../members/member.h"
#include "../node.h"
#include "loans.h"

/* A slot waits at most this long for a slow coordinator. */
#define RERUN_PATIENCE_US G_USEC_PER_SEC
/* At most this many questions without a slot; beyond that there is one for each root of main. */
#define RERUN_ASKS_MAX 1024u

typedef struct
{
  GPtrArray *asks;   /* of RerunAsk: not answered yet */
  GPtrArray *orders; /* coordinator or buddy: of RerunOrder, not answered yet */
  guint64 numbers;   /* of questions so far */
  guint slots;       /* entries of loans that wait for an answer */
} Rerun;

void rerun_init (Node *node);
/* The holder of this slot is gone (NULL: it is the root, whose masters are). TRUE: the slot
 * waits for the answers of the coordinator and of the holder's buddy; it stays among the loans
 * (LOAN_RERUNS) and then comes back by itself. */
gboolean rerun_waits (Node *node, LoanEntry *entry, const Member *holder);
/* This slot no longer waits. */
void rerun_forget (Node *node, LoanEntry *entry);
/* A member is about to leave the roster: the directory asks for the paths that the member has
 * offered. */
void rerun_departing (Node *node, const NodeId *id);
/* … and has left it: it will not answer, and its buddy has offered its rows. */
void rerun_departed (Node *node, const NodeId *id);
/* The coordinator can be asked now: sends all questions (again). */
void rerun_ask_all (Node *node);
/* A node asks this one. */
void rerun_on_ask (Node *node, const NodeId *from, const Message *message);
/* The scribe has reported all rows at or below this path. */
void rerun_on_restored (Node *node, const char *path);
/* That node has offered what it has for the question with this number. */
void rerun_on_answer (Node *node, const NodeId *from, guint64 number);
/* This node is no longer coordinator. */
void rerun_retired (Node *node);
/* This node lost its name. */
void rerun_reset (Node *node);
guint64 rerun_due (Node *node);
void rerun_tick (Node *node);
void rerun_check (Node *node);
