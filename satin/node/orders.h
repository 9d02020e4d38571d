/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers the control requests of people's verbs: `satin status`, `suspend`, `save`, `leave`,
 * `cancel`, `jobs`, `top`, `metrics`; and of clients that fetch the end. Driving thread. */
#pragma once

#include "driver-private.h"

#include "protocol/messages/message.h"

/* The longest request, in bytes. */
#define ORDERS_MAX (MESSAGE_TEXT_MAX + 64u)
/* The reply to a request for a file of the end; NULL: `request` is none, or there is no such file.
 * (transfer full) (nullable) */
GBytes *orders_file (Driver *driver, const char *request);
/* The reply to any other request, as JSON. (transfer full) *has_event (out): the caller must step
 * *event (out) after it has sent the reply. */
char *orders_answer (Driver *driver, const char *request, NodeEvent *event, gboolean *has_event);
