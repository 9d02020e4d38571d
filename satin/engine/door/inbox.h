/* SPDX-License-Identifier: BSD-3-Clause */
/* The inbox: jobs of other nodes that no worker has begun, the root first, then the oldest. */
#pragma once

#include "../engine.h"

/* With engine->lock held: puts a job into the inbox. */
void inbox_add (Engine *engine, Held *held);
/* With engine->lock held: takes a held job out of the engine and frees it. */
void inbox_drop (Engine *engine, Held *held);

/* With engine->lock held: the job that workers would take last, unless it is the root. NULL: none.
 */
Held *inbox_surplus (Engine *engine);
/* With engine->lock held: the root. NULL: it is not in the inbox. */
Held *inbox_root (Engine *engine);
/* Takes the engine's lock: takes the root, or else the oldest job, out of the inbox. NULL: none. */
Held *inbox_take (Engine *engine, gboolean only_root);
