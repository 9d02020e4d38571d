/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns as run-length encoded text (RLE), as the collections of Life have them. */
#pragma once

#include "plane.h"

#include <gio/gio.h>

#define RLE_SIDE_MAX (1 << 28) /* cells from the first */

/* The words of the pattern, its first cell in row and column 0, and its rule, Life's if it says
 * none. NULL: `error` says what is wrong, and in which line. (transfer full) */
GArray *rle_read (const char *file, GBytes *text, Rule *rule, GError **error);

/* How people write a rule, as in B3/S23. (transfer full) */
char *rle_rule (Rule rule);

/* (transfer full) */
GString *rle_write (const GArray *words, Rule rule);
