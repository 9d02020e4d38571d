/* SPDX-License-Identifier: BSD-3-Clause */
/* What people ask of a node by `satin status`, `suspend`, `save`, `leave` and `cancel`. Driver's
 * thread. */
#pragma once

#include "driver-private.h"

/* (transfer full): the reply to `request`, JSON. `event`: the step that is to follow once the reply
 * has been sent; TRUE in `*has_event`. */
char *orders_answer (Driver *driver, const char *request, NodeEvent *event, gboolean *has_event);
