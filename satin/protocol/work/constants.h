/* SPDX-License-Identifier: BSD-3-Clause */
/* The constants and inputs, which every node must have before it runs a job of this master's root,
 * and which main publishes once; and the BEST values, which this part only passes on (the engine
 * merges them). The master names the digest of all constants; a node that has others fetches the
 * set like shared bytes. Driver's thread. */
#pragma once

#include "../members/member.h"

#define CONSTANTS_MAX 4096u

typedef struct
{
  char *name;
  GBytes *value;
} Constant;

typedef struct
{
  GPtrArray *all; /* of Constant, by name */
  Digest digest;  /* of them all; zero: not computed yet */
  GBytes *set;    /* (nullable) they all as one value, once another node has asked for it */
  Digest told;    /* what the engine was told (NODE_EFFECT_START); zero: nothing */
  Digest wanted;  /* of the set that the last START named; zero: none did */
  NodeId started_by; /* the master whose START holds here; none: no START does */
  GPtrArray *own,
      *heard; /* BEST values, by number: last improved here, last heard; GBytes or NULL */
} Constants;

void constants_init (Node *node);
/* TRUE: the present master's constants are here. */
gboolean constants_started (Node *node);
void constants_publish (Node *node, const char *name, GBytes *value);
/* There are no further constants. */
void constants_complete (Node *node);
/* A session has just begun. */
void constants_greet (Node *node, const NodeId *to);
void constants_on_start (Node *node, const NodeId *from, const Message *message);
/* The set with this digest. (transfer full) (nullable) */
GBytes *constants_bytes (Node *node, const Digest *digest);
/* FALSE: BYTES brought no constants. */
gboolean constants_on_bytes (Node *node, const NodeId *from, const Message *message);
void constants_improved (Node *node, guint64 number, GBytes *value);
void constants_on_best (Node *node, const NodeId *from, const Message *message);
/* This node is still master, under a new name or term. */
void constants_renew (Node *node);
void constants_deposed (Node *node);
