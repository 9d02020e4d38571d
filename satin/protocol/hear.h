/* SPDX-License-Identifier: BSD-3-Clause */
/* The one place that reads a message and hands it to its idea. What a link may say before it is
 * bound is little (HELLO, ROSTER, JOIN, WELCOME, END); a malformed message ends the link it came
 * over, nothing else. Driver's thread. */
#pragma once

#include "link.h"

void hear_message (Node *node, guint64 number, GBytes *bytes);
/* One that is in order and need not wait for anything. */
void hear_admitted (Node *node, Link *link, const Message *message);
