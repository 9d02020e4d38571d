/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads members of JSON objects that json_read has parsed. A member that is missing or of another
 * type reads as empty, since nodes of other versions may send fewer. Pure. Any thread. */
#pragma once

#include <glib.h>

/* (transfer none): "" if there is no such text. Valid as long as the object. */
const char *fields_text (GVariant *object, const char *name);
/* NAN if there is no such number. */
double fields_number (GVariant *object, const char *name);
/* A number without fraction, cut; 0 if it is missing, negative or too large. */
guint64 fields_count (GVariant *object, const char *name);
gboolean fields_flag (GVariant *object, const char *name);
/* The objects in the array `name`. (transfer full; elements: GVariant of type a{sv}) */
GPtrArray *fields_objects (GVariant *object, const char *name);
/* TRUE: the array of texts `name` contains `text`. */
gboolean fields_has (GVariant *object, const char *name, const char *text);
/* What a status says about the time left, as shown_left shows it. (transfer full) */
char *fields_left (GVariant *status);
/* The root to which `done` and the time left of a status refer, such as "root 2"; NULL: the first,
 * the only one of most programs. (transfer full) (nullable) */
char *fields_root (GVariant *status);
/* The best values in a status as the program shows them, such as "tour length 6789"; NULL: it shows
 * none. (transfer full) (nullable) */
char *fields_best (GVariant *status);
/* NULL: `text` (nullable) is not JSON, or not an object. (transfer full) */
GVariant *fields_read (const char *text);
