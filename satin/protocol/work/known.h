/* SPDX-License-Identifier: BSD-3-Clause */
/* Which paths are held where, as announced by members and by this node: the protocol's copy of what
 * it told the engine, so that it can withdraw that. Invariant: every holder is a member or this
 * node. Driver's thread. */
#pragma once

#include "../messages/message.h"

typedef struct Node Node;

#define KNOWN_PATHS_MAX (1u << 22) /* beyond, news are not entered: that costs time only */
#define KNOWN_HOLDERS_MAX 4096u    /* of one path; the same */

typedef struct
{
  NodeId node;
  Digest digest;
  guint32 finished; /* 0: it runs; 1: a result; a kept state: 1 and the children it stands for */
} Holder;

typedef struct
{
  GTree *by_path; /* path -> GArray of Holder, one for each node and digest */
} Known;

void known_init (Node *node);
/* FALSE: the holder is known already, or there is no room. */
gboolean known_add (Node *node, const char *path, const Holder *holder);
/* Removes all offers of `id` at this path. FALSE: there were none. */
gboolean known_remove (Node *node, const char *path, const NodeId *id);
/* The same for one digest, and tells the engine in any case, since it just acted on the wrong
 * entry. Offers under another digest, such as a kept state, stay known. */
void known_deny (Node *node, const char *path, const Digest *digest, const NodeId *id);
/* (transfer container): the paths with offers of `id`; they live until the next change. */
GPtrArray *known_paths_of (Node *node, const NodeId *id);
/* Tells `to` which offers at or below `path` (NULL: all) are known here, of other members and of
 * this node's orphans; not its own rows. */
void known_tell_below (Node *node, const NodeId *to, const char *path);
void known_departed (Node *node, const NodeId *id);
/* Removes all offers at or below `path`. */
void known_covered (Node *node, const char *path);
/* The holder that is most finished, then the one with the lowest id. FALSE: no other node holds
 * that path with that digest. */
gboolean known_holder (Node *node, const char *path, const Digest *digest, Holder *holder);
void known_check (Node *node);

/* For trees keyed by path text, here and in held.c: the keys at or below `path`. (transfer
 * container) */
GPtrArray *known_keys_below (GTree *tree, Stems *stems, const char *path);
