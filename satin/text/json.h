/* SPDX-License-Identifier: BSD-3-Clause */
/* A JSON reader for the messages that nodes send about themselves: reads them as GVariants. Pure.
 * Any thread. Knows no member names. */
#pragma once

#include "json-write.h"

#include <glib.h>

/* The member `format` in the output of --json, see satin(1). Within a format members are only
 * added. If one is removed or changes its meaning, the number grows. */
#define JSON_FORMAT "1"

/* An object becomes a{sv}, an array av, a string s, a number d, true and false b, null an empty mv.
 * NULL: `text` is not JSON, or nested too deeply. (transfer full, not floating) */
GVariant *json_read (const char *text);
