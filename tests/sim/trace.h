/* SPDX-License-Identifier: BSD-3-Clause */
/* Events and effects as numbers (for the hash of a run) and as text (for its log). Pure. */
#pragma once

#include "node.h"

guint64 trace_hash_event (const NodeEvent *event);
guint64 trace_hash_effect (const NodeEffect *effect);
void trace_print_event (guint64 now_us, guint process, const NodeEvent *event);
void trace_print_effect (guint64 now_us, guint process, const NodeEffect *effect);
