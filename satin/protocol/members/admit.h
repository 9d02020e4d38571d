/* SPDX-License-Identifier: BSD-3-Clause */
/* The master lets newcomers in. Each change of the roster costs every member a message, so those
 * who ask soon after another was let in wait for each other, the longer the more members there are,
 * and are one change. The first one never waits. Driver's thread. */
#pragma once

#include "link.h"

#define ADMIT_GATHER_US 200 /* times the number of members */

typedef struct
{
  GPtrArray *waiting; /* of Newcomer: who have asked … */
  guint64 at_us;      /* … and are let in then */
} Admit;

void admit_init (Node *node);
void admit_done (Node *node);
/* JOIN. */
void admit_on_request (Node *node, Link *link, const Message *message);
guint64 admit_due (Node *node);
void admit_tick (Node *node);
