/* SPDX-License-Identifier: BSD-3-Clause */
/* As much JSON as the command needs: what nodes say about themselves is read as GVariants.
 * Any thread, pure. Knows no key. */
#pragma once

#include "json-write.h"

#include <gio/gio.h>

/* The member `format` of what --json prints, as satin(1) describes it: members are only added to
 * it. Another number: one was taken away, or means something else. */
#define JSON_FORMAT "1"

/* An object becomes a{sv}, an array av, a string s, a number d, true and false b, null mv
 * (nothing). NULL: not JSON, or deeper than a stated limit. (transfer full, not floating) */
GVariant *json_read (const char *text);
