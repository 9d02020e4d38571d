/* SPDX-License-Identifier: BSD-3-Clause */
/* Times, sizes and texts as tables show them. Any thread, pure. */
#pragma once

#include <glib.h>

/* Seconds with a fitting unit: "0.4 s", "12 s", "4 min 05 s", "3 h 02 min", "2 d 03 h"; "-" for
 * what is no number of them. (transfer full) */
char *shown_duration (double seconds);
/* What a status says of the time left: "about 12 s left (8.0 s to 20 s)", or "time left not yet
 * known" if one of them is no number. (transfer full) */
char *shown_left (double left_s, double low_s, double high_s);
/* Columns that `text` takes on a terminal. */
guint shown_width (const char *text);
/* `text`, cut to `columns` with "…" at its end where it is longer. What a terminal might obey
 * becomes "?". (transfer full) */
char *shown_cut (const char *text, guint columns);
/* The same, filled up with spaces to that many columns. */
void shown_append (GString *line, const char *text, guint columns);
/* Rows of cells (of GStrv, the first one with the headings; a row may have fewer cells) as lines
 * whose columns stand below each other. Columns in `right`, one bit each, have their text at the
 * right. (transfer full) */
char *shown_table (const GPtrArray *rows, guint right);
