/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows in messages: to the coordinator, to a buddy, to an heir. Driver's thread. */
#pragma once

#include "../messages/message.h"

typedef struct Node Node;

#define ROWS_MAX 4096u /* in one message */
#define ROWS_BYTES_MAX \
  (4 * 1024 * 1024) /* of values in one message, unless a single one is larger */

/* The end of the rows, from `start` on, that fit into one message. */
guint rows_that_fit (const GPtrArray *rows, guint start);
/* Sends as many rows, from `start` on, as fit into one message of this kind. Returns the end. Only
 * the message with the last rows carries the number of `message`. */
guint rows_send (Node *node, const NodeId *to, GPtrArray *rows, guint start, Message *message);
/* Bytes of memory that a copy of the row takes up, with its value and texts. Shared bytes do not
 * count: a node has them once in memory, however many rows refer to them. */
gsize rows_bytes (const Row *row);
