/* SPDX-License-Identifier: BSD-3-Clause */
/* A table by path for millions of entries: a trie of job numbers in slabs. A path costs a few dozen
 * bytes and no allocation of its own. Each node has as many bytes of user data as the user asked
 * for, zero at first. A node keeps its address until it is removed; its place is then used again.
 * So a trie needs memory for its greatest size since it was last empty. One thread, or under a lock
 * of the user. */
#pragma once

#include "path.h"

typedef struct Trie Trie;
typedef struct TrieNode TrieNode;

/* `stems`: borrowed. `data_size`: bytes behind each node. */
Trie *trie_new (Stems *stems, gsize data_size);
/* The user first frees what the user data point to. */
void trie_free (Trie *trie);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Trie, trie_free)

/* The number of nodes: the top, and every job at or above an inserted path, without removed
 * nodes. */
guint trie_size (const Trie *trie);
/* The top: the parent of all roots. It is no job. */
TrieNode *trie_top (Trie *trie);
/* The node of `path`, inserted if `make`. (nullable): NULL: there is none, the path is not
 * canonical, or it needs an unknown stem. */
TrieNode *trie_find (Trie *trie, const char *path, gboolean make);
/* Child `number` of `node`. (nullable) */
TrieNode *trie_child (Trie *trie, const TrieNode *node, guint32 number);
/* NULL for the top. */
TrieNode *trie_parent (Trie *trie, const TrieNode *node);
/* The first child; the next sibling. NULL: there is none. */
TrieNode *trie_first (Trie *trie, const TrieNode *node);
TrieNode *trie_next (Trie *trie, const TrieNode *node);
/* The next node of those at and below `top`, parents first. FALSE for `into` skips the nodes below
 * `node`. NULL: `node` was the last. */
TrieNode *trie_step (Trie *trie, const TrieNode *top, const TrieNode *node, gboolean into);
/* Removes a node that has no children and is not the top. When the last one is removed, all memory
 * is freed. Returns the parent. */
TrieNode *trie_remove (Trie *trie, TrieNode *node);
guint32 trie_number (const TrieNode *node);
/* The canonical path of a node that is not the top. (transfer full) */
char *trie_path (Trie *trie, const TrieNode *node);
/* The node's user data, aligned for any plain type. */
void *trie_data (const TrieNode *node);
