/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns as run-length encoded text (RLE), the form of Life's collections. */
#pragma once

#include "plane.h"

#include <glib.h>

#define RLE_SIDE_MAX (1 << 28) /* greatest row and column, from the first cell */

/* The words of the pattern, with its first cell in row and column 0, and its rule; Life's if it has
 * none. NULL: `error` has the reason and the line. (transfer full) */
GArray *rle_read (const char *file, GBytes *text, Rule *rule, GError **error);

/* The usual form of a rule, such as B3/S23. (transfer full) */
char *rle_rule (Rule rule);

/* (transfer full) */
GString *rle_write (const GArray *words, Rule rule);
