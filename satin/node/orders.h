/* SPDX-License-Identifier: BSD-3-Clause */
/* What people ask of a node by `satin status`, `suspend`, `save`, `leave` and `cancel`. Driver's
 * thread. */
#pragma once

#include "driver-private.h"

#include "protocol/messages/message.h"

/* No request is longer. */
#define ORDERS_MAX (MESSAGE_TEXT_MAX + 64u)
/* (transfer full) (nullable): the reply to a request for a file of the end. */
GBytes *orders_file (Driver *driver, const char *request);
/* (transfer full): the reply to any other request, JSON. `event`: the step that is to follow once
 * the reply has been sent; TRUE in `*has_event`. */
char *orders_answer (Driver *driver, const char *request, NodeEvent *event, gboolean *has_event);
