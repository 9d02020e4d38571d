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
  ArchiveRow *next; /* owned: a row of the same path with another digest */
  Digest digest;
  guint64 work_us;
  union
  {
    guint8 bytes[8];
    GBytes *large; /* of more bytes than that */
  } value;
  guint32 size;     /* of the value */
  guint32 children; /* of a kept state: the children that it stands for; 0: a result */
  guint is_there : 1;
  guint is_taken : 1;
  guint author : 30; /* of Archive.authors: the node that computed it */
};

typedef struct
{
  Trie *trie; /* of ArchiveRow: the first of each path */
  guint count;
  NodeId name;        /* of this node, under which the rows were announced; none: they were not */
  GPtrArray *news;    /* of TrieNode: paths to be announced at the end of this step */
  GArray *authors;    /* of NodeId: each author of a row, once */
  GHashTable *shares; /* ArchiveRow -> of SatinShared: the shared bytes that its value refers to, if
                         any */
} Archive;

/* In place of a job's index, for rows that are only offered. */
#define ARCHIVE_JOB G_MAXUINT32

void archive_init (Node *node);
void archive_done (Node *node);
/* Adds a row of the file. Of the kept states of one job only the one that stands for most children
 * stays; if an earlier one was announced, the new one is announced only if another node offers a
 * state of that job, too. */
void archive_put (Node *node, const Row *row);
/* (nullable) (borrowed until the next change) */
ArchiveRow *archive_find (Node *node, const char *path, const Digest *digest);
/* (transfer full): the value of the row of `path`, which is put to use. */
GBytes *archive_take (Node *node, const char *path, ArchiveRow *row);
/* (transfer full) (nullable): the shared bytes that the value refers to. */
GPtrArray *archive_shares (Node *node, const ArchiveRow *row);
/* The node that computed it; none: unknown. */
NodeId archive_author (Node *node, const ArchiveRow *row);
/* (transfer full): the same as a Row. */
Row *archive_row (Node *node, const char *path, const ArchiveRow *row);
/* Another node offers this state, too. A state that was put after the announcement and stands for
 * more children is announced again. */
void archive_compare (Node *node, const char *path, const Holder *other);
/* Announces the rows of this path once more, after they were withdrawn together with another
 * offer. */
void archive_announce_path (Node *node, const char *path);
/* This node has a new name: announces all rows. */
void archive_enter_all (Node *node);
/* This node lost its name. */
void archive_lose_name (Node *node);
/* The end of a step. */
void archive_flush (Node *node);
/* Tells that member of the rows at or below `path` (nullable: of all). `answers`: its question; 0:
 * it has not asked. */
void archive_tell (Node *node, const NodeId *to, const char *path, guint64 answers);
/* Rows at or below `path` are of no use any more. */
void archive_covered (Node *node, const char *path);
/* Adds all as Rows, which are only to be offered: this node leaves. */
void archive_collect (Node *node, GPtrArray *rows);
void archive_check (Node *node);
