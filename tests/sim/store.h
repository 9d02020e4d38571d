/* SPDX-License-Identifier: BSD-3-Clause */
/* A checkpoint in the simulator: maps path to (value, node) with compaction; used for the scribe's
 * work file and for the published file. The published one survives the loss of every node. Each row
 * is compared with the oracle when it is added. */
#pragma once

#include "shared.h"
#include "tree.h"

#include "node.h"

#define STORE_MEMBERS_MAX 64 /* Members of one run at most. */
#define STORE_EVENTS_MAX 512 /* Other rows of the ledger at most. */

typedef struct
{
  gboolean there;
  NodeId node;
  guint64 work_us;
} StoreRow;

/* What the ledger contains about a member. */
typedef struct
{
  NodeId id;
  gboolean joined, left;
} StoreMember;

typedef struct
{
  const Tree *tree;
  guint64 generation;
  gboolean answered; /* TRUE: it contains the answer. */
  guint n;
  StoreRow rows[TREE_JOBS_MAX]; /* By job. */
  guint32 kept[TREE_JOBS_MAX];  /* Children that the kept state covers; 0: none is kept. */
  guint64 kept_us[TREE_JOBS_MAX];
  guint n_members;
  StoreMember members[STORE_MEMBERS_MAX];
  guint n_events;
  guint64 events[STORE_EVENTS_MAX]; /* Names as store_event_name makes them. */
  gboolean gifts[TREE_JOBS_MAX];    /* The shared bytes that the result of a job speaks of. */
} Store;

void store_init (Store *store, const Tree *tree);
/* Makes `to` equal `from`, without the parts that are not in use. */
void store_copy (Store *to, const Store *from);
/* Adds a row. NULL: done; otherwise what is wrong with the row. */
const char *store_save (Store *store, const Row *row);
/* Adds a row of the ledger (NODE_EFFECT_EVENT). */
void store_note (Store *store, const NodeEffect *event);
/* The name of an event, made of its content: kind, member and path. */
guint64 store_event_name (const char *kind, const NodeId *id, const char *path);
/* TRUE: the ledger contains the event. */
gboolean store_has_event (const Store *store, const char *kind, const NodeId *id, guint64 name);
/* (nullable) */
const StoreMember *store_member (const Store *store, const NodeId *id);
/* Adds everything that `other` contains. */
void store_unite (Store *store, const Store *other);
#define STORE_ALL G_MAXUINT32
/* (transfer full) The rows and kept states of job `top` and of all jobs below it (STORE_ALL: of all
 * jobs); puts the bytes that they speak of into `shared`. NULL: some of these bytes are missing. */
GPtrArray *store_load (const Store *store, guint32 top, SharedStore *shared);
/* Fills `covered`: store_covers of each job. */
void store_cover_all (const Store *store, gboolean *covered);
/* TRUE: the job's result is in a row of its own, in a row of an ancestor, or covered by what an
 * ancestor has kept. */
gboolean store_covers (const Store *store, guint32 job);
