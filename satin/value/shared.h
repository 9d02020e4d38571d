/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared bytes of one node, by the digest of their content: what satin_share gave, what came
 * with results and rows, and what was fetched for a job. Each stands once, whoever speaks of it.
 * Bytes are *kept* while something here speaks of them and others may count on them; those that
 * were only fetched may be forgotten, the longest unused first, beyond a limit of memory, and so
 * may what nothing speaks of any more. Any thread. */
#pragma once

#include "digest.h"
#include "satin-type.h"

typedef struct SharedStore SharedStore;

#define SHARED_MEMORY_DEFAULT ((guint64)1 << 30)

/* `memory`: bytes that may be forgotten stay up to this limit. */
SharedStore *shared_store_new (guint64 memory);
/* The last of the bytes that are still spoken of go later, with what speaks of them. */
void shared_store_free (SharedStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SharedStore, shared_store_free)
/* (transfer none): the one of this process, in which decoded values speak. */
SharedStore *shared_store_here (void);
void shared_store_set_memory (SharedStore *store, guint64 memory);

typedef struct
{
  guint64 memory;    /* bytes here that may be forgotten */
  guint64 forgotten; /* times that some were, so far */
} SharedStats;
void shared_store_stats (SharedStore *store, SharedStats *stats);

/* (transfer full): these bytes, kept. */
SatinShared shared_add (SharedStore *store, GBytes *bytes);
/* (transfer full): speaks of these bytes, which need not be here. */
SatinShared shared_enter (SharedStore *store, const Digest *digest, guint64 length);
/* Both pass NULL by. */
SatinShared shared_ref (SatinShared shared);
void shared_unref (SatinShared shared);

const Digest *shared_digest (const struct SatinShared_ *shared);
guint64 shared_length (const struct SatinShared_ *shared);
/* (transfer full) (nullable): the bytes; NULL: they are not here. */
GBytes *shared_bytes (SatinShared shared);
/* From now on they are kept. `bytes` (nullable): they are here from now on. FALSE: they are not
 * here. */
gboolean shared_keep (SatinShared shared, GBytes *bytes);
/* They were fetched and may be forgotten. */
void shared_put (SharedStore *store, const Digest *digest, GBytes *bytes);
/* (transfer full) (nullable): by digest. */
GBytes *shared_find (SharedStore *store, const Digest *digest);
/* Does anything here speak of them? */
gboolean shared_is_spoken_of (SharedStore *store, const Digest *digest);

/* (transfer full): a list of SatinShared, each referenced. */
GPtrArray *shared_list_new (void);
