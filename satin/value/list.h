/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists (SATIN_LIST) and texts in memory: a pointer, a length and the bytes object that owns what
 * lies there. Where none does, the memory is the program's own, and is copied before the value goes
 * into a slot. Any thread. Tests: test-list, test-record. */
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

/* (transfer full) (nullable): owns `n` zeroed items at *items, and at its end releases what they
 * hold. NULL: no memory. */
GBytes *list_new (const SatinType *item, guint64 n, void **items);
/* The same with a copy of `n` items that take references of their own; it ends the process where
 * there is no memory for it. */
GBytes *list_copy (const SatinType *item, const void *from, guint64 n);
/* The process ends with a sentence if no list can be so long. */
void list_check_length (guint64 n);
/* `text`, or with what is not UTF-8 replaced (*mended, transfer full); "" for NULL. */
const char *list_valid_text (const char *text, char **mended);

/* The list or text at `at` gets a reference of its own, or becomes a copy. */
void list_hold (const SatinType *type, void *at);
/* Releases that; it is empty then. */
void list_clear (const SatinType *type, void *at);
