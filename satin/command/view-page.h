/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of `satin view`, from the files in satin/command/view/, which the program has inside.
 * Pure; any thread. */
#pragma once

#include <glib.h>

/* `text` as HTML shows it, in an element or in a quoted attribute; bytes that are no UTF-8 become
 * U+FFFD. (transfer full) */
char *view_page_escape (const char *text);
/* `json` as it may stand in a <script> element: it means the same. (transfer full) */
char *view_page_escape_json (const char *json);
/* The page as it is served; it gets all else by `page.css`, `page.js` and `events`.
 * (transfer full) */
char *view_page_live (const char *title);
/* The same as one file that needs nothing else. `data`: a JSON object. (transfer full) */
char *view_page_file (const char *title, const char *data);
/* `page.css`, `page.js`. (transfer full) */
GBytes *view_page_part (const char *name);
