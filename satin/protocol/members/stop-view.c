/* SPDX-License-Identifier: BSD-3-Clause */
/* See stop.h: whether this node still begins anything, for all layers. Changes nothing.
 *
 * Tests: test-node-run, test-leave */
#include "../core.h"

gboolean
stop_halts (Node *node)
{
  return node->stop.phase >= STOP_HALTING || node->leave.phase >= LEAVE_BEGUN;
}

gboolean
stop_has_begun (Node *node)
{
  return node->stop.phase >= STOP_HALTING || node->stop.finished;
}
