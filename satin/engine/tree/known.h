/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs and results that other nodes hold, by path: a trie of child numbers. Pure; the engine
 * uses it under known.lock. It must not know jobs or stacks. A trie node keeps its address while
 * there is an entry at or below it, or while it is kept by known_keep. */
#pragma once

#include "digest.h"
#include "node-id.h"
#include "trie.h"

typedef struct Known Known;
typedef TrieNode KnownNode;

Known *known_new (Stems *stems); /* stems: borrowed */
void known_free (Known *known);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Known, known_free)

/* Enters that `holder` holds `path` with this digest. It replaces an earlier entry of the same
 * holder, path and digest; entries with other digests stay (one may be of a job, another of the
 * state that the job has kept). FALSE: the path is not canonical or one of its stems is unknown;
 * nothing is entered. */
gboolean known_insert (Known *known, const char *path, const Digest *digest, const NodeId *holder,
                       guint32 finished);
/* `holder` does not hold `path` (NULL: anything) any more. */
void known_forget (Known *known, const char *path, const NodeId *holder);

/* The number of entries: one for each path, holder and digest. */
guint known_count (const Known *known);
/* The number of trie nodes: one for each path at or above an entry or a kept node. */
guint known_size (const Known *known);

/* The node (nullable) stays until known_release was called as often, with or without an entry.
 * Returns the node. */
KnownNode *known_keep (KnownNode *node);
void known_release (Known *known, KnownNode *node);

/* (nullable): the node of `path` if there is an entry at or below it. */
KnownNode *known_lookup (Known *known, const char *path);
/* (nullable): the same for child `number` of a node. `node` may be NULL. */
KnownNode *known_child (Known *known, KnownNode *node, guint32 number);
/* TRUE: there is an entry strictly below `node` (nullable). */
gboolean known_has_below (const KnownNode *node);

/* (transfer full): the path of a node. */
char *known_path (Known *known, const KnownNode *node);

/* The best entry of exactly this path with this digest: the most finished (exchange.h), then the
 * one of the lowest node id. *finished: it is a result or a kept state. FALSE: there is none. */
gboolean known_best (Known *known, const KnownNode *node, const Digest *digest, NodeId *holder,
                     gboolean *finished);
/* TRUE: there is an entry of exactly this path, under any digest. */
gboolean known_is_held (const KnownNode *node);

/* TRUE: `to` lies strictly below `node`. *number: the child of `node` that is at or above `to`. */
gboolean known_way (const Known *known, const KnownNode *node, const KnownNode *to,
                    guint32 *number);

/* The number of results and kept states of exactly this path that have neither digest (`other`
 * nullable). */
guint known_count_others (const Known *known, const KnownNode *node, const Digest *digest,
                          const Digest *other);
/* The number of results and kept states at and below the node. */
guint known_count_below (Known *known, KnownNode *node);

/* Calls `each` for every child with an entry at or below it. */
void known_each_child (Known *known, KnownNode *node,
                       void (*each) (KnownNode *child, guint32 number, void *data), void *data);
/* Marks all entries at and below the node as told, since the caller raises ENGINE_COVERED for it.
 * FALSE: there are none, or all were told and no news came since. */
gboolean known_tell (Known *known, KnownNode *node);
