/* SPDX-License-Identifier: BSD-3-Clause */
/* The inbox: jobs held for other nodes that no worker has begun; the root first, then the
 * oldest. */
#pragma once

#include "../engine.h"

/* With engine->lock held: puts it into the inbox. */
void inbox_add (Engine *engine, Held *held);
/* With engine->lock held: takes a held job out of the engine and frees it. */
void inbox_drop (Engine *engine, Held *held);

/* With engine->lock held: the last one that a worker would take, but not the root. NULL: none. */
Held *inbox_surplus (Engine *engine);
/* With engine->lock held: the root, if it waits there. NULL: it does not. */
Held *inbox_root (Engine *engine);
/* (no lock held): takes the root, or else the oldest job, out of the inbox, NULL: none. */
Held *inbox_take (Engine *engine, gboolean only_root);
