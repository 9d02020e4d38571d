/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows in messages: to the coordinator, to a buddy, to an heir. Driver's thread. */
#pragma once

#include "../messages/message.h"

typedef struct Node Node;

#define ROWS_MAX 4096u /* in one message */
#define ROWS_BYTES_MAX \
  (4 * 1024 * 1024) /* of values in one message, unless a single one is larger */

/* As many rows, from `start` on, as fit into one message of this kind, to a member. Returns the
 * end. The number of the message goes with the last of them only. */
guint rows_send (Node *node, const NodeId *to, GPtrArray *rows, guint start, Message *message);
/* Bytes of memory that a copy of it takes up, with its value and texts. Shared bytes do not count:
 * they stand once in the memory of a node, whoever speaks of them. */
gsize rows_bytes (const Row *row);
/* Of so many shared bytes a message speaks that has this row. */
guint rows_shares (const Row *row);
