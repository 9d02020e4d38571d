/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared bytes and the jobs that use them. If the bytes are not on this node, the job places a
 * KIND_FETCH slot above its frame and waits for it as for a lent child; the driver puts the bytes
 * into that slot. The slot has no parent, so it does not count as a child. */
#pragma once

#include "../engine.h"

/* (transfer full) (nullable): the shared bytes to which a result of this job refers. */
GPtrArray *share_list (const SatinJob *job, const void *result);
/* The driver: gives the bytes to a waiting slot of this stack; NULL: the job asks again. */
void share_put (Stack *stack, SatinSlot_ *slot, GBytes *bytes);
