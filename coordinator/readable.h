/* SPDX-License-Identifier: BSD-3-Clause */
/* Values as text for people who do not have the program. It needs only the GVariant type string
 * that stands beside each value. Pure; trusts no byte. */
#pragma once

#include <glib.h>

#define READABLE_BYTES_MAX 120 /* of a short text, its final NUL not counted */

/* (transfer full): one short line. Numbers are exact (a double has the fewest digits that identify
 * it), texts stand in quotes, bytes that are a text stand in quotes after a b, other bytes in
 * hexadecimal, shared bytes as share/DIGEST. A long value is cut, with its size. */
char *readable_short (const char *type, GBytes *value);
/* (transfer full): JSON text of a checkpoint, which may be invalid, as one short line: "?" replaces
 * each letter that is not printable. */
char *readable_json (const char *text, gsize size);
/* (transfer full): GVariant's own text form of the whole value, which g_variant_parse reads. NULL:
 * the bytes are no value of this type. */
char *readable_whole (const char *type, GBytes *value);
