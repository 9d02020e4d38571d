/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared bytes and the jobs that want them. A job that asks for bytes which are not here waits in a
 * KIND_FETCH slot above its frame, as for a child that was lent, and the driver puts the bytes into
 * that slot. It has no parent, so no child is numbered by it. */
#pragma once

#include "../engine.h"

/* (transfer full) (nullable): the shared bytes that a result of this job speaks of. */
GPtrArray *share_list (const SatinJob *job, const void *result);
/* The driver: the bytes for a waiting slot of this stack; NULL: it is to ask again. */
void share_put (Stack *stack, SatinSlot_ *slot, GBytes *bytes);
