/* SPDX-License-Identifier: BSD-3-Clause */
/* Links that are not needed beside another one to the same member: two that dial each other at the
 * same time have two links, each of which would be pinged for ever; and where a direct link comes a
 * routed one is in vain. Who began one that is spare retires it.
 *
 * A HOLDING that came by the better link would know nothing of jobs that still come by the spare
 * one, however long that takes (seed 821072811). So both ends, when HOLDING has come to them, say a
 * last word behind all else and write no more; who began hears the answer, says that, and the other
 * end closes. Then nothing was lost with it, and nothing is said again. What an end did write
 * meanwhile makes it a link that is lost like any. Driver's thread. */
#pragma once

#include "link.h"

/* What SPARE says, of a round of such words that the one who began the link counts. */
enum
{
  SPARE_BEGINS = 1, /* nothing more comes by this link */
  SPARE_ANSWERS,    /* nor from here */
  SPARE_ENDS,       /* all has come: close it */
  SPARE_WORDS
};

/* A link to this member was bound, or has said HOLDING, or one was heard again: is one of them
 * spare? */
void spare_look (Node *node, const NodeId *id);
void spare_on_message (Node *node, Link *link, guint64 number);
guint64 spare_due (Node *node);
void spare_tick (Node *node);
