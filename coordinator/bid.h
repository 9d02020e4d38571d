/* SPDX-License-Identifier: BSD-3-Clause */
/* A bid for the lease of coordinator: the generation at the checkpoint's place, which proves that
 * it is the same place, and how long a commit of about the checkpoint's size takes there. Changes
 * no existing file. Blocks on the disk; any thread. */
#pragma once

#include "coordinator/identity.h"

#define BID_BYTES_MIN (64u * 1024)
#define BID_BYTES_MAX (4u * 1024 * 1024)

typedef struct
{
  guint64 commit_us;
  guint64 bytes;      /* … of so many */
  guint64 generation; /* of the publication of this run that stands there; 0: there is none */
} BidResult;

/* `identity`: of this run. FALSE: COORDINATOR_ERROR, one sentence that names the place. */
gboolean bid_make (const char *target, const Identity *identity, BidResult *result, GError **error);
/* The time for a commit as large as a bid, from a commit of `bytes` that took `us`. */
guint64 bid_scale (guint64 us, guint64 bytes);
