/* SPDX-License-Identifier: BSD-3-Clause */
/* The master lets newcomers in. Each change of the roster costs every member a message, and in a
 * large run a look at all members, too. So newcomers that ask soon after another one was let in are
 * collected into one change; the more members there are, the longer they wait. The first newcomer
 * never waits. Driver's thread. */
#pragma once

#include "link.h"

#define ADMIT_GATHER_US 200                /* times the number of members, … */
#define ADMIT_GATHER_SHARE 64              /* … and again for each so many members, … */
#define ADMIT_GATHER_MAX_US G_USEC_PER_SEC /* … but no longer than this */

typedef struct
{
  GPtrArray *waiting; /* of Newcomer: nodes that have asked … */
  guint64 at_us;      /* … and will be let in then */
} Admit;

void admit_init (Node *node);
/* JOIN. */
void admit_on_request (Node *node, Link *link, const Message *message);
guint64 admit_due (Node *node);
void admit_tick (Node *node);
