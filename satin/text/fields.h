/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading members of JSON objects that json_read has read. A member that is missing or of another
 * type reads as nothing, since nodes of other versions may say less. Any thread, pure. */
#pragma once

#include <gio/gio.h>

/* (transfer none) "" if there is none; valid as long as the object. */
const char *fields_text (GVariant *object, const char *name);
/* NAN if there is none. */
double fields_number (GVariant *object, const char *name);
/* The same as a count: 0 if there is none or it is no count. */
guint64 fields_count (GVariant *object, const char *name);
gboolean fields_flag (GVariant *object, const char *name);
/* The objects in the array `name`. (transfer full; elements GVariant of type a{sv}) */
GPtrArray *fields_objects (GVariant *object, const char *name);
/* Whether the array of texts `name` has `text`. */
gboolean fields_has (GVariant *object, const char *name, const char *text);
/* What a status says of the time left, see shown_left. (transfer full) */
char *fields_left (GVariant *status);
/* Which root of main a status is about: "root 2", of which `done` and the time left speak, too;
 * NULL: the first one, as in most programs. (transfer full) (nullable) */
char *fields_root (GVariant *status);
/* The best values in a status as the program shows them, as in "tour length 6789"; NULL: it shows
 * none. (transfer full) (nullable) */
char *fields_best (GVariant *status);
/* NULL: `text` (nullable) is not JSON or no object. (transfer full) */
GVariant *fields_read (const char *text);
