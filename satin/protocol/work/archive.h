/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the checkpoint that this node, the coordinator, offers to nodes that spawn their jobs
 * again. They are announced like finished orphans, adopted as often as a node asks for them, and
 * dropped when they are covered. There may be millions of them, so they lie in a trie. Driver's
 * thread. */
#pragma once

#include "trie.h"

#include "../members/member.h"
#include "../node.h"
#include "known.h"

typedef struct ArchiveRow ArchiveRow;
struct ArchiveRow
{
  ArchiveRow *next; /* owned: of the same path, with another digest */
  Digest digest;
  guint64 work_us;
  union
  {
    guint8 bytes[8];
    GBytes *large; /* of more than so many */
  } value;
  guint32 size;     /* of the value */
  guint32 children; /* it is a kept state that stands for so many; 0: a result */
  guint is_there : 1;
  guint is_announced : 1;
  guint is_taken : 1;
  guint author : 28; /* of Archive.authors: the node that computed it */
};

typedef struct
{
  Trie *trie; /* of ArchiveRow: the first of each path */
  guint count;
  GPtrArray *news;    /* of TrieNode: to be announced at the end of this step */
  GArray *authors;    /* of NodeId: each that a row names, once */
  GHashTable *shares; /* ArchiveRow -> of SatinShared: what its value speaks of, if anything */
} Archive;

/* In place of a job's index: rows that serve to be offered only. */
#define ARCHIVE_JOB G_MAXUINT32

void archive_init (Node *node);
void archive_done (Node *node);
/* A row of the file. Of the states that one job has kept, the one that stands for most children is
 * held; who has announced an earlier one announces it only if another offers that job's state too.
 */
void archive_put (Node *node, const Row *row);
/* (nullable) (borrowed until the next change) */
ArchiveRow *archive_find (Node *node, const char *path, const Digest *digest);
/* (transfer full): the value of the row of `path` that is put to use. */
GBytes *archive_take (Node *node, const char *path, ArchiveRow *row);
/* (transfer full) (nullable): what that value speaks of. */
GPtrArray *archive_shares (Node *node, const ArchiveRow *row);
/* The node that computed it; none: unknown. */
NodeId archive_author (Node *node, const ArchiveRow *row);
/* (transfer full): it as a row. */
Row *archive_row (Node *node, const char *path, const ArchiveRow *row);
/* Another one offers this too. What was put since the announcement and stands for more children
 * than that is announced again. */
void archive_compare (Node *node, const char *path, const Holder *other);
/* Announces once more what is held of this path, which was withdrawn with something else. */
void archive_announce_path (Node *node, const char *path);
/* After a new name: all of it. */
void archive_enter_all (Node *node);
/* This node lost its name. */
void archive_lose_name (Node *node);
/* The end of a step. */
void archive_flush (Node *node);
/* Tells that member of the rows at or below `path` (nullable: of all). */
void archive_tell (Node *node, const NodeId *to, const char *path);
/* What lies at or below `path` is of no use any more. */
void archive_covered (Node *node, const char *path);
/* Adds all of it as rows, which need no more than to be offered: this node leaves. */
void archive_collect (Node *node, GPtrArray *rows);
void archive_check (Node *node);
