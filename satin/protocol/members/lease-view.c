/* SPDX-License-Identifier: BSD-3-Clause */
/* See lease.h: tells all layers which node is coordinator. Changes nothing.
 *
 * Tests: test-node-store, test-election */
#include "../core.h"

gboolean
lease_coordinator (Node *node, NodeId *id)
{
  *id = node->lease.holder;
  return node->config.checkpoint && !node_id_is_none (id) && roster_find (node, id) != NULL;
}

gboolean
lease_ready (Node *node, NodeId *id)
{
  return lease_coordinator (node, id)
         && (node_id_equal (id, &node->self) ? node->saves.phase >= SAVES_OPENED
                                             : node->lease.state == LEASE_OPENED);
}
