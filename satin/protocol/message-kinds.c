/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of messages: name, type of the header, which are urgent; and what a message owns. Pure.
 */
#include "message-private.h"

#include <string.h>

static const struct
{
  const char *name, *type;
} kinds[MESSAGE_KINDS] = {
  [MESSAGE_HELLO] = { "hello", "(t" T_DIGEST T_ID "ss)" },
  [MESSAGE_JOIN] = { "join", "(ssstub)" },
  [MESSAGE_WELCOME] = { "welcome", "(" T_ID T_TERM "t" T_MEMBERS ")" },
  [MESSAGE_ROSTER] = { "roster", "(" T_ID T_TERM "t" T_MEMBERS ")" },
  [MESSAGE_PING] = { "ping", "()" },
  [MESSAGE_GONE] = { "gone", "(" T_ID "b)" },
  [MESSAGE_STEAL] = { "steal", "(tu)" },
  [MESSAGE_JOBS] = { "jobs", "(tba(tsu" T_DIGEST "d))" },
  [MESSAGE_NONE] = { "none", "(t)" },
  [MESSAGE_RESULT] = { "result", "(ts" T_DIGEST "tt" T_SPEAKS ")" },
  [MESSAGE_ACK] = { "ack", "(t)" },
  [MESSAGE_VAIN] = { "vain", "(t)" },
  [MESSAGE_RETURNED] = { "returned", "(tb)" },
  [MESSAGE_HOLDING] = { "holding", "(atb)" },
  [MESSAGE_RECONCILE] = { "reconcile", "()" },
  [MESSAGE_HOLD] = { "hold", "(a(s" T_DIGEST "u))" },
  [MESSAGE_UNHOLD] = { "unhold", "(s)" },
  [MESSAGE_ADOPT] = { "adopt", "(ts" T_DIGEST ")" },
  [MESSAGE_MISS] = { "miss", "(t)" },
  [MESSAGE_COVERED] = { "covered", "(s)" },
  [MESSAGE_START] = { "start", "(" T_DIGEST ")" },
  [MESSAGE_WANT] = { "want", "()" },
  [MESSAGE_CONSTANTS] = { "constants", "(" T_DIGEST "as)" },
  [MESSAGE_SAVE] = { "save", "(a" T_ROW "tu" T_SPEAKS ")" },
  [MESSAGE_SAVED] = { "saved", "(ttu)" },
  [MESSAGE_WORK] = { "work", "(ttuat)" },
  [MESSAGE_EVENT] = { "event", "(" T_ID "sststtu)" },
  [MESSAGE_REPORTED] = { "reported", "(t)" },
  [MESSAGE_NOTED] = { "noted", "(ttu" T_TERM ")" },
  [MESSAGE_PUBLISH] = { "publish", "(t)" },
  [MESSAGE_SCAN] = { "scan", "(t)" },
  [MESSAGE_SCANNED] = { "scanned", "(t)" },
  [MESSAGE_PUBLISHED] = { "published", "(tb)" },
  [MESSAGE_BEST] = { "best", "(u)" },
  [MESSAGE_SUSPEND] = { "suspend", "(t)" },
  [MESSAGE_CANCEL] = { "cancel", "()" },
  [MESSAGE_HALT] = { "halt", "()" },
  [MESSAGE_DRAINED] = { "drained", "(" T_ID "u)" },
  [MESSAGE_END] = { "end", "(tb)" },
  [MESSAGE_STEM] = { "stem", "(ss)" },
  [MESSAGE_MORE] = { "more", "()" },
  [MESSAGE_TRIAL] = { "trial", "(t)" },
  [MESSAGE_BID] = { "bid", "(tttbs)" },
  [MESSAGE_OFFICE] = { "office", "(" T_ID T_TERM "tub)" },
  [MESSAGE_ELECT] = { "elect", "(ubs)" },
  [MESSAGE_CHECKPOINT] = { "checkpoint", "(s)" },
  [MESSAGE_CLOSE] = { "close", "(tbu)" },
  [MESSAGE_CLOSED] = { "closed", "(tbu)" },
  [MESSAGE_LEAVE] = { "leave", "(t)" },
  [MESSAGE_RELEASE] = { "release", "()" },
  [MESSAGE_RELEASED] = { "released", "(b)" },
  [MESSAGE_LEAVING] = { "leaving", "()" },
  [MESSAGE_HEARD] = { "heard", "()" },
  [MESSAGE_HAND] = { "hand", "(a" T_ROW "t" T_SPEAKS ")" },
  [MESSAGE_HANDED] = { "handed", "(tb)" },
  [MESSAGE_GOODBYE] = { "goodbye", "(tb)" },
  [MESSAGE_FETCH] = { "fetch", "(" T_DIGEST ")" },
  [MESSAGE_BYTES] = { "bytes", "(" T_DIGEST "b)" },
  [MESSAGE_REFUSED] = { "refused", "()" },
  [MESSAGE_TAKEN] = { "taken", "()" },
  [MESSAGE_RUNS] = { "runs", "(s" T_DIGEST ")" },
  [MESSAGE_DISOWN] = { "disown", "(t)" },
  [MESSAGE_SPARE] = { "spare", "(t)" },
  [MESSAGE_RERUN] = { "rerun", "(ts)" },
  [MESSAGE_TOLD] = { "told", "(ts)" },
  [MESSAGE_LAST_WORDS] = { "last words", "(" T_ID "ss)" },
  [MESSAGE_SEEK] = { "seek", "(" T_ID ")" },
  [MESSAGE_SOUGHT] = { "sought", "(" T_ID "bu)" },
  [MESSAGE_CALL] = { "call", "(" T_ID ")" },
  [MESSAGE_ROUTE] = { "route", "(tb" T_ID ")" },
  [MESSAGE_CARGO] = { "cargo", "(tbt)" },
  [MESSAGE_HASTE] = { "haste", "(tbt)" },
  [MESSAGE_CREDIT] = { "credit", "(tbt)" },
  [MESSAGE_UNROUTE] = { "unroute", "(tb)" },
};

const char *
message_kind_name (MessageKind kind)
{
  return kind > 0 && kind < MESSAGE_KINDS ? kinds[kind].name : "unknown";
}

gboolean
message_is_urgent (MessageKind kind)
{
  switch ((int)kind)
    {
    case MESSAGE_HELLO: /* none of these may pass the greeting */
    case MESSAGE_PING:
    case MESSAGE_STEAL:
    case MESSAGE_NONE:
    case MESSAGE_MORE:
    case MESSAGE_JOBS:
    case MESSAGE_STEM:     /* a path in JOBS may need it */
    case MESSAGE_VAIN:     /* a job that came home may be lent again at once: */
    case MESSAGE_RETURNED: /* JOBS must not pass these two */
    case MESSAGE_ACK:
    case MESSAGE_FETCH: /* what is fetched is large as it is */
    case MESSAGE_TAKEN:
    case MESSAGE_SEEK:
    case MESSAGE_SOUGHT:
    case MESSAGE_CALL:
    case MESSAGE_ROUTE: /* what was said over it is never there before it */
    case MESSAGE_HASTE:
    case MESSAGE_CREDIT:
      return TRUE;
    default:
      return FALSE;
    }
}

gboolean
message_takes_attachments (MessageKind kind)
{
  return kind == MESSAGE_JOBS || kind == MESSAGE_RESULT || kind == MESSAGE_CONSTANTS
         || kind == MESSAGE_SAVE || kind == MESSAGE_HAND || kind == MESSAGE_BEST
         || kind == MESSAGE_CLOSE || kind == MESSAGE_CARGO || kind == MESSAGE_HASTE
         || kind == MESSAGE_BYTES;
}

const char *
message_type (MessageKind kind)
{
  return kinds[kind].type;
}

guint32
message_kind_of (GBytes *bytes)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);
  guint32 kind = 0;

  if (size >= PRELUDE_WORDS * sizeof kind)
    memcpy (&kind, data, sizeof kind);
  return GUINT32_FROM_LE (kind);
}

void
message_clear (Message *message)
{
  g_clear_pointer (&message->value, g_bytes_unref);
  g_clear_pointer (&message->shares, g_ptr_array_unref);
  g_clear_pointer (&message->speaks, g_array_unref);
  g_clear_pointer (&message->loans, g_ptr_array_unref);
  g_clear_pointer (&message->rows, g_ptr_array_unref);
  g_clear_pointer (&message->members, g_array_unref);
  g_clear_pointer (&message->holds, g_array_unref);
  g_clear_pointer (&message->numbers, g_array_unref);
  for (guint i = 0; message->constants != NULL && i < message->constants->len; i++)
    g_bytes_unref (g_array_index (message->constants, MessageConstant, i).value);
  g_clear_pointer (&message->constants, g_array_unref);
  g_clear_pointer (&message->frame, g_bytes_unref);
  *message = (Message){ 0 };
}
