/* SPDX-License-Identifier: BSD-3-Clause */
/* What other holders are known to have, by path: a trie of job numbers. Pure and single-threaded,
 * used under a lock by the engine and plainly by the simulator. It must not know jobs or stacks.
 * A node stays where it is as long as something is known at or below it, or somebody who keeps a
 * pointer to it has said so. */
#pragma once

#include "digest.h"
#include "node-id.h"
#include "trie.h"

typedef struct Known Known;
typedef TrieNode KnownNode;

Known *known_new (Stems *stems); /* stems: borrowed */
void known_free (Known *known);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Known, known_free)

/* `holder` holds `path` with this digest; of other digests he may hold something too (a job and
 * what it has kept). Said again, it replaces what was said. FALSE: the path is not canonical or one
 * of its stems is unknown; nothing is entered. */
gboolean known_insert (Known *known, const char *path, const Digest *digest, const NodeId *holder,
                       guint32 finished);
/* `holder` does not hold `path` (NULL: anything) any more. */
void known_forget (Known *known, const char *path, const NodeId *holder);

/* How many (path, holder) pairs are known. */
guint known_count (const Known *known);
/* … and what room they take: paths at or above one that is known, or kept. */
guint known_size (const Known *known);

/* The node (nullable) stays until it is released as often, with or without something known. Returns
 * it. */
KnownNode *known_keep (KnownNode *node);
void known_release (Known *known, KnownNode *node);

/* (nullable): the node of `path` if anything is known at or below it. */
KnownNode *known_lookup (Known *known, const char *path);
/* (nullable): the same for child `number` of a node. `node` may be NULL. */
KnownNode *known_child (Known *known, KnownNode *node, guint32 number);
/* Is anything known strictly below? `node` may be NULL. */
gboolean known_has_below (const KnownNode *node);

/* (transfer full): the path of a node at or above something that was ever known. */
char *known_path (Known *known, const KnownNode *node);

/* The best holder of exactly this node's job with this digest: the most finished (exchange.h), then
 * the lowest id. FALSE: none. */
gboolean known_best (Known *known, const KnownNode *node, const Digest *digest, NodeId *holder,
                     gboolean *finished);
/* Is somebody said to hold exactly this node's path, under any digest? */
gboolean known_is_held (const KnownNode *node);

/* Does `to` lie strictly below `node`? *number: of the child of `node` that leads there. */
gboolean known_way (const Known *known, const KnownNode *node, const KnownNode *to,
                    guint32 *number);

/* How many results or kept states of exactly this node's path have neither digest (`other`
 * nullable). */
guint known_count_others (const Known *known, const KnownNode *node, const Digest *digest,
                          const Digest *other);
/* How many results and kept states there are at and below the node. */
guint known_count_below (Known *known, KnownNode *node);

/* Calls `each` for every child with something at or below it. */
void known_each_child (Known *known, KnownNode *node,
                       void (*each) (KnownNode *child, guint32 number, void *data), void *data);
/* Marks all that is known at and below the node as told ("covered"). FALSE: all of it was told
 * already, and no news came since. */
gboolean known_tell (Known *known, KnownNode *node);
