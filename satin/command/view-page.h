/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of `satin view`, made from the files of satin/command/view/, which are compiled into the
 * program. Pure; any thread. */
#pragma once

#include <glib.h>

/* `text` escaped for an HTML element or a quoted attribute. Bytes that are not UTF-8 become U+FFFD.
 * (transfer full) */
char *view_page_escape (const char *text);
/* `json` escaped for a <script> element, with the same meaning. (transfer full) */
char *view_page_escape_json (const char *json);
/* The page as it is served. It loads the rest from `page.css`, `page.js` and `events`. (transfer
 * full) */
char *view_page_live (const char *title);
/* The page as one file that loads nothing else. `data`: a JSON object. (transfer full) */
char *view_page_file (const char *title, const char *data);
/* The file `page.css` or `page.js`. (transfer full) */
GBytes *view_page_part (const char *name);
