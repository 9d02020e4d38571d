/* SPDX-License-Identifier: BSD-3-Clause */
/* A checkpoint in the simulator: path -> (value, node) with compaction, as the scribe's work file
 * and as what is published. The published one survives the loss of every node. Each row is held
 * against the oracle as it comes. */
#pragma once

#include "shared.h"
#include "tree.h"

#include "node.h"

#define STORE_MEMBERS_MAX 64 /* ids that processes of one run ever had */
#define STORE_EVENTS_MAX 512 /* other rows of the ledger */

typedef struct
{
  gboolean there;
  NodeId node;
  guint64 work_us;
} StoreRow;

/* What the ledger says of a member. */
typedef struct
{
  NodeId id;
  gboolean joined, left;
} StoreMember;

typedef struct
{
  const Tree *tree;
  guint64 generation;
  gboolean answered; /* the answer stands in it */
  guint n;
  StoreRow rows[TREE_JOBS_MAX]; /* by job */
  guint32 kept[TREE_JOBS_MAX];  /* how many children the state of a job stands for; 0: none */
  guint64 kept_us[TREE_JOBS_MAX];
  guint n_members;
  StoreMember members[STORE_MEMBERS_MAX];
  guint n_events;
  guint64 events[STORE_EVENTS_MAX]; /* names: store_event_name */
  gboolean gifts[TREE_JOBS_MAX];    /* the shared bytes that the result of a job speaks of */
} Store;

void store_init (Store *store, const Tree *tree);
/* NULL: taken in. Else what is wrong with the row. */
const char *store_save (Store *store, const Row *row);
/* A row of the ledger (NODE_EFFECT_EVENT). */
void store_note (Store *store, const NodeEffect *event);
/* What an event is told by, which is what it says: its kind, whom it is about, and where. */
guint64 store_event_name (const char *kind, const NodeId *id, const char *path);
/* Does the ledger say this? */
gboolean store_has_event (const Store *store, const char *kind, const NodeId *id, guint64 name);
/* (nullable) */
const StoreMember *store_member (const Store *store, const NodeId *id);
/* Adds what `other` has. */
void store_unite (Store *store, const Store *other);
#define STORE_ALL G_MAXUINT32
/* (transfer full): the rows and kept states of job `top` and of all below it (STORE_ALL: of all);
 * what they speak of is put into `shared`. NULL: some of that is not there. */
GPtrArray *store_load (const Store *store, guint32 top, SharedStore *shared);
/* The same for each job, into `covered`. */
void store_cover_all (const Store *store, gboolean *covered);
/* Is the job's result in a row of its own or of an ancestor, or in what an ancestor has kept? */
gboolean store_covers (const Store *store, guint32 job);
