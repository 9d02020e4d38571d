/* SPDX-License-Identifier: BSD-3-Clause */
/* The master lets newcomers in. Each change of the roster costs every member a message, so those
 * who ask soon after another was let in wait for each other, the longer the more members there are,
 * and are one change. The first one never waits. Driver's thread. */
#pragma once

#include "link.h"

/* 200 us a member; beyond fifty with the square of their number, as a change has every member look
 * at all of them; a second at most. */
#define ADMIT_GATHER_US(members) MIN ((guint64)(members)*MAX (200, 4 * (members)), G_USEC_PER_SEC)

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
