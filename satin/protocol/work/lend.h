/* SPDX-License-Identifier: BSD-3-Clause */
/* The victim's side of stealing (steal.h): replies to requests, and the thieves that wait for work.
 * The first job of a reply is sent before the engine is asked for the others, so that the seat that
 * waits for it need not wait for them. A thief that got nothing is told when there is work.
 * Driver's thread. */
#pragma once

#include "../members/member.h"
#include "../node.h"

#define LEND_TELL_MIN_US 1000 /* between two thieves that are told; doubles when it was in vain */
#define LEND_TELL_MAX_US (250 * 1000)
#define LEND_LOOK_MIN_US 1000 /* between two times that the engine is asked; doubles */
#define LEND_LOOK_MAX_US (250 * 1000)

typedef struct
{
  NodeId thief;
  guint64 request;
  guint32 left;  /* how many jobs the thief may still get */
  guint32 asked; /* of these, how many the engine is asked for now */
  guint32 given; /* how many were sent before */
  NodeId lender; /* none, or the lender to which its jobs went back for this thief */
} Lending;       /* between LEND and LENT */

typedef struct
{
  GArray *asked; /* of Lending: requests to the engine, oldest first */
  GArray *owed;  /* set of thieves that were refused and not told since, oldest first */
  guint64 tell_us, tell_pause_us;
  guint64 look_us, look_pause_us;
} Lend;

void lend_init (Node *node);
void lend_on_request (Node *node, const NodeId *from, const Message *message);
void lend_on_lent (Node *node, const NodeEvent *event);
/* The root begins here, and all other nodes are idle: counts them as waiting for work before they
 * ask, since the first children may be few and long. */
void lend_expect (Node *node);
/* The engine has something to lend. */
void lend_on_shared (Node *node);
/* Tells the thief that has waited longest, if any does, that this node has work. */
void lend_tell (Node *node);
void lend_departed (Node *node, const NodeId *id);
guint64 lend_due (Node *node);
void lend_tick (Node *node);
void lend_check (Node *node);
