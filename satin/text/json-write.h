/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts and numbers in JSON, as nodes and the command write them. Any thread, pure. */
#pragma once

#include <glib.h>

/* Appends `text` in quotes. Bytes that are not UTF-8 become U+FFFD, since JSON allows no others;
 * paths and arguments may contain any. NULL becomes null. */
void json_append_string (GString *to, const char *text);
/* Appends `,"KEY":` and `text` as json_append_string does: a member of an object after the first
 * one. `key` needs no escapes. */
void json_append_member (GString *to, const char *key, const char *text);
/* Appends a number so that it reads back exactly; NaN and infinity become null. */
void json_append_number (GString *to, double number);
