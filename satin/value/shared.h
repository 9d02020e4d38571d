/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared bytes of one node, by the digest of their content: bytes of satin_share, bytes that
 * came with results and rows, and bytes that were fetched for a job. Each content is stored once.
 * Bytes are *kept* while references to them exist here and other nodes may rely on this node. Bytes
 * that were only fetched, or to which no reference is left, may be dropped beyond a limit of
 * memory; the longest unused go first. Any thread. */
#pragma once

#include "digest.h"
#include "satin-type.h"

typedef struct SharedStore SharedStore;

#define SHARED_MEMORY_DEFAULT ((guint64)1 << 30)

/* `memory`: limit for bytes that may be dropped. */
SharedStore *shared_store_new (guint64 memory);
/* Bytes that are still referenced are freed later, with their last reference. */
void shared_store_free (SharedStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SharedStore, shared_store_free)
/* The store of this process, to which decoded values refer. (transfer none) */
SharedStore *shared_store_here (void);
void shared_store_set_memory (SharedStore *store, guint64 memory);

typedef struct
{
  guint64 memory;    /* bytes here that may be dropped */
  guint64 forgotten; /* how many objects were dropped so far */
} SharedStats;
void shared_store_stats (SharedStore *store, SharedStats *stats);

/* Stores and keeps these bytes. (transfer full) */
SatinShared shared_add (SharedStore *store, GBytes *bytes);
/* A reference to these bytes, which need not be here. (transfer full) */
SatinShared shared_enter (SharedStore *store, const Digest *digest, guint64 length);
/* NULL is allowed. */
SatinShared shared_ref (SatinShared shared);
void shared_unref (SatinShared shared);

const Digest *shared_digest (const struct SatinShared_ *shared);
guint64 shared_length (const struct SatinShared_ *shared);
/* The bytes. (transfer full) (nullable): NULL: they are not here. */
GBytes *shared_bytes (SatinShared shared);
/* Keeps the bytes from now on; stores `bytes` (nullable) first. FALSE: they are not here. */
gboolean shared_keep (SatinShared shared, GBytes *bytes);
/* Stores fetched bytes, which may be dropped. */
void shared_put (SharedStore *store, const Digest *digest, GBytes *bytes);
/* The bytes with this digest. (transfer full) (nullable) */
GBytes *shared_find (SharedStore *store, const Digest *digest);
/* TRUE: a reference to these bytes exists here. */
gboolean shared_is_spoken_of (SharedStore *store, const Digest *digest);

/* An empty list of SatinShared, each with a reference. (transfer full) */
GPtrArray *shared_list_new (void);
