/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists (SATIN_LIST) and texts in memory: a pointer, a length, and the bytes object that owns the
 * items. If there is no such object, the memory is the program's own, and it is copied before the
 * value goes into a slot. Any thread. Tests: test-lists, test-record. */
#pragma once

#include "satin-type.h"

#include <string.h>

static inline SatinList_
list_at (const void *data)
{
  SatinList_ list;

  memcpy (&list, data, sizeof list);
  return list;
}

static inline SatinText
list_text_at (const void *data)
{
  SatinText text;

  memcpy (&text, data, sizeof text);
  return text;
}

/* An object with `n` zeroed items at *items (out). When it is freed it releases what the items
 * hold. (transfer full) (nullable): NULL: no memory. */
GBytes *list_new (const SatinType *item, guint64 n, void **items);
/* The same with copies of `n` items, which take their own references. Ends the process if there is
 * no memory. */
GBytes *list_copy (const SatinType *item, const void *from, guint64 n);
/* Ends the process with a message if a list cannot have `n` items. */
void list_check_length (guint64 n);
/* `text`; if it is not UTF-8, a corrected copy (*mended, transfer full); "" for NULL. */
const char *list_valid_text (const char *text, char **mended);

/* Gives the list or text at `at` its own reference or copy. */
void list_hold (const SatinType *type, void *at);
/* Releases the list or text at `at` and empties it. */
void list_clear (const SatinType *type, void *at);
