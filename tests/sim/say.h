/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages as text for people: their name and the fields that mean something to a reader. Pure. */
#pragma once

#include "message.h"

/* "RESULT loan 2 /0/1". A path "/" is the root's. Bytes that do not decode give the name alone.
 * (transfer full) */
char *say_message (GBytes *bytes);
/* The parts of one message, put together. (transfer full) */
GBytes *say_join (const GPtrArray *parts);
