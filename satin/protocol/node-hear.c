/* SPDX-License-Identifier: BSD-3-Clause */
/* See node-parts.h: which part handles each message of the layers work and control.
 *
 * Tests: test-hear */
#include "core.h"
#include "node-parts.h"

/* Wraps a handler that needs fewer arguments. */
#define HANDLER(name, call) \
  static void name (Node *node G_GNUC_UNUSED, const NodeId *from G_GNUC_UNUSED, \
                    const Message *m G_GNUC_UNUSED) \
  { \
    call; \
  }
HANDLER (on_ack, held_on_ack (node, from, m->number, m->flag))
HANDLER (on_cancelled, held_on_cancelled (node, from, m->number, m->flag))
HANDLER (on_taken, shares_on_taken (node, from))
HANDLER (on_leaving, leave_on_leaving (node, from))
HANDLER (on_heard, leave_on_heard (node, from))
HANDLER (on_copied, buddy_on_copied (node, from, m); mirror_on_copied (node, from, m->number);
         leave_on_copied (node, from, m->number))
HANDLER (on_end, stop_on_end (node, m->number, m->flag))
HANDLER (on_leave, leave_ask (node, &node->self, m->number))
HANDLER (on_release, leave_on_release (node, from))

static void (*const handlers[MESSAGE_KINDS]) (Node *node, const NodeId *from, const Message *m) = {
  [MESSAGE_STEAL] = lend_on_request,        [MESSAGE_JOBS] = held_on_jobs,
  [MESSAGE_RESULT] = loans_on_result,       [MESSAGE_ACK] = on_ack,
  [MESSAGE_CANCELLED] = on_cancelled,       [MESSAGE_RETURNED] = loans_on_returned,
  [MESSAGE_HOLD] = directory_on_hold,       [MESSAGE_ADOPT] = orphans_on_adopt,
  [MESSAGE_COVERED] = directory_on_covered, [MESSAGE_RUNS] = yield_on_runs,
  [MESSAGE_RERUN] = rerun_on_ask,           [MESSAGE_FETCH] = shares_on_fetch,
  [MESSAGE_BYTES] = shares_on_bytes,        [MESSAGE_TAKEN] = on_taken,
  [MESSAGE_LEAVING] = on_leaving,           [MESSAGE_HEARD] = on_heard,
  [MESSAGE_COPY] = buddy_on_copy,           [MESSAGE_COPIED] = on_copied,

  [MESSAGE_START] = constants_on_start,     [MESSAGE_BEST] = constants_on_best,
  [MESSAGE_SAVE] = saves_on_save,           [MESSAGE_SAVED] = saves_on_saved,
  [MESSAGE_WORK] = work_on_message,         [MESSAGE_EVENT] = events_on_event,
  [MESSAGE_PUBLISH] = round_on_publish,     [MESSAGE_SCAN] = round_on_scan,
  [MESSAGE_SCANNED] = round_on_scanned,     [MESSAGE_PUBLISHED] = round_on_published,
  [MESSAGE_SUSPEND] = stop_on_suspend,      [MESSAGE_END] = on_end,
  [MESSAGE_TRIAL] = elect_on_trial,         [MESSAGE_BID] = elect_on_bid,
  [MESSAGE_LEASE] = lease_on_message,       [MESSAGE_LEAVE] = on_leave,
  [MESSAGE_RELEASE] = on_release,           [MESSAGE_RELEASED] = leave_on_released,
  [MESSAGE_GOODBYE] = leave_on_goodbye,     [MESSAGE_CRASH_REPORT] = poison_on_message,
};

void
node_hear (Node *node, const NodeId *from, const Message *m)
{
  handlers[m->kind](node, from, m);
}

gboolean
node_hears (MessageKind kind)
{
  return handlers[kind] != NULL || hear_handles (kind);
}
