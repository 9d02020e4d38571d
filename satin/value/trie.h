/* SPDX-License-Identifier: BSD-3-Clause */
/* A table by path that holds millions: a trie of job numbers in slabs, so that a path costs a few
 * dozen bytes and no allocation of its own. Behind each node lie as many bytes of the user's as he
 * asked for, zero at first. A node stays where it is until it is removed, and its place is used
 * again, so a trie is as large as it was at most since it was empty. One thread, or under a lock of
 * the user's; must not know what the bytes mean. */
#pragma once

#include "path.h"

typedef struct Trie Trie;
typedef struct TrieNode TrieNode;

/* `stems`: borrowed. `data_size`: bytes behind each node. */
Trie *trie_new (Stems *stems, gsize data_size);
/* What the user's bytes point to is the user's to free before. */
void trie_free (Trie *trie);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Trie, trie_free)

/* How many nodes it has: the top, and every job at or above a path that was made, without those
 * removed. */
guint trie_size (const Trie *trie);
/* Above all roots, which are its children; no job. */
TrieNode *trie_top (Trie *trie);
/* (nullable): the node of a path, made if `make`. NULL: none, or the path is not canonical or needs
 * a stem that is unknown. */
TrieNode *trie_find (Trie *trie, const char *path, gboolean make);
/* (nullable): the same for child `number` of a node. */
TrieNode *trie_child (Trie *trie, const TrieNode *node, guint32 number);
/* NULL: of the top. */
TrieNode *trie_parent (Trie *trie, const TrieNode *node);
/* The first child, and then the next sibling; NULL: no more. */
TrieNode *trie_first (Trie *trie, const TrieNode *node);
TrieNode *trie_next (Trie *trie, const TrieNode *node);
/* The node after `node` of those at and below `top`, parents first; `into` FALSE: without what lies
 * below `node`. NULL: that was the last. */
TrieNode *trie_step (Trie *trie, const TrieNode *top, const TrieNode *node, gboolean into);
/* A node that is neither the top nor has children is no more; with the last one all memory goes
 * back. Returns its parent. */
TrieNode *trie_remove (Trie *trie, TrieNode *node);
guint32 trie_number (const TrieNode *node);
/* (transfer full): the canonical text of the node's path. Not of the top. */
char *trie_path (Trie *trie, const TrieNode *node);
/* The user's bytes, aligned for any plain type. */
void *trie_data (const TrieNode *node);
