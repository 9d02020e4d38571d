/* SPDX-License-Identifier: BSD-3-Clause */
/* See sent.h.
 *
 * Tests: test-carry */
#include "sent.h"
#include "../core.h"

/* Other kinds are NODE_SENT_OTHER. */
static const NodeSent uses[MESSAGE_KINDS] = {
  [MESSAGE_STEAL] = NODE_SENT_JOBS,     [MESSAGE_JOBS] = NODE_SENT_JOBS,
  [MESSAGE_RETURNED] = NODE_SENT_JOBS,  [MESSAGE_CANCELLED] = NODE_SENT_JOBS,
  [MESSAGE_RESULT] = NODE_SENT_RESULTS, [MESSAGE_ACK] = NODE_SENT_RESULTS,
  [MESSAGE_COPY] = NODE_SENT_KEEPERS,   [MESSAGE_COPIED] = NODE_SENT_KEEPERS,
  [MESSAGE_SAVE] = NODE_SENT_SAVES,     [MESSAGE_SAVED] = NODE_SENT_SAVES,
  [MESSAGE_PUBLISH] = NODE_SENT_SAVES,  [MESSAGE_PUBLISHED] = NODE_SENT_SAVES,
  [MESSAGE_SCAN] = NODE_SENT_SAVES,     [MESSAGE_SCANNED] = NODE_SENT_SAVES,
  [MESSAGE_HOLD] = NODE_SENT_OFFERS,    [MESSAGE_ADOPT] = NODE_SENT_OFFERS,
  [MESSAGE_COVERED] = NODE_SENT_OFFERS, [MESSAGE_RUNS] = NODE_SENT_OFFERS,
  [MESSAGE_RERUN] = NODE_SENT_OFFERS,   [MESSAGE_FETCH] = NODE_SENT_SHARED,
  [MESSAGE_BYTES] = NODE_SENT_SHARED,   [MESSAGE_TAKEN] = NODE_SENT_SHARED,
};

NodeSent
sent_use (MessageKind kind)
{
  return uses[kind];
}

void
sent_count (Node *node, MessageKind kind, const GPtrArray *parts)
{
  guint64 *bytes = &node->stats.sent_bytes[sent_use (kind)];

  for (guint i = 0; i < parts->len; i++)
    *bytes += g_bytes_get_size (parts->pdata[i]);
}
