/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared bytes and the jobs that want them. A job that asks for bytes which are not here waits in a
 * slot of a pseudo-job above its frame, as for a child that was lent, and the driver puts the bytes
 * into that slot. The slot is its own parent, so nobody takes it for a child. */
#pragma once

#include "engine.h"

/* (transfer full) (nullable): the shared bytes that a result of this job speaks of. */
GPtrArray *share_list (const SatinJob *job, const void *result);
/* The driver: the bytes for a waiting slot; NULL: it is to ask again. TRUE. */
gboolean share_put (const Away *away, GBytes *bytes);
