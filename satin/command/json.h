/* SPDX-License-Identifier: BSD-3-Clause */
/* As much JSON as the command needs: what nodes say about themselves is read as GVariants, and
 * texts are quoted. Any thread, pure. Knows no key. */
#pragma once

#include <gio/gio.h>

/* An object becomes a{sv}, an array av, a string s, a number d, true and false b, null mv
 * (nothing). NULL: not JSON, or deeper than a stated limit. (transfer full, not floating) */
GVariant *json_read (const char *text);
/* Appends `text` in quotes; what is not UTF-8 in it is replaced. NULL becomes null. */
void json_append_string (GString *to, const char *text);
/* Appends a number so that it reads back exactly; NaN and infinity become null. */
void json_append_number (GString *to, double number);
