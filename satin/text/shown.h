/* SPDX-License-Identifier: BSD-3-Clause */
/* Times, sizes and texts as tables show them. Any thread, pure. */
#pragma once

#include <glib.h>

/* Seconds in a suitable unit: "0.4 s", "12 s", "4 min 05 s", "3 h 02 min", "2 d 03 h"; "-" if it is
 * no duration. (transfer full) */
char *shown_duration (double seconds);
/* The time left: "about 12 s left (8.0 s to 20 s)", or "time left not yet known" if one of the
 * numbers is not finite. (transfer full) */
char *shown_left (double left_s, double low_s, double high_s);
/* Columns that `text` takes on a terminal. */
guint shown_width (const char *text);
/* `text`, cut to `columns` with "…" at its end if it is longer. Control characters become "?".
 * (transfer full) */
char *shown_cut (const char *text, guint columns);
/* Appends the cut text, padded with spaces to `columns`. */
void shown_append (GString *line, const char *text, guint columns);
/* Formats rows of cells (of GStrv; the first row has the headings, others may have fewer cells) as
 * lines with aligned columns. `right`: one bit for each column that is aligned to the right.
 * (transfer full) */
char *shown_table (const GPtrArray *rows, guint right);
