/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of the types of satin-type.h in GVariant's form, for the writer and the reader of
 * records (record.c, record-read.c). Inlined, since each stolen job needs it. */
#pragma once

#include "framing.h"
#include "list.h"
#include "record.h"

#include <string.h>

/* Of types that are neither records nor lists. */
static const Layout layouts[] = {
  [SATIN_KIND_INT8] = { 2, 2, 0 },   [SATIN_KIND_UINT8] = { 1, 1, 0 },
  [SATIN_KIND_INT16] = { 2, 2, 0 },  [SATIN_KIND_UINT16] = { 2, 2, 0 },
  [SATIN_KIND_INT32] = { 4, 4, 0 },  [SATIN_KIND_UINT32] = { 4, 4, 0 },
  [SATIN_KIND_INT64] = { 8, 8, 0 },  [SATIN_KIND_UINT64] = { 8, 8, 0 },
  [SATIN_KIND_DOUBLE] = { 8, 8, 0 }, [SATIN_KIND_BYTES] = { 0, 1, 0 },
  [SATIN_KIND_TEXT] = { 0, 1, 0 },   [SATIN_KIND_SHARED] = { RECORD_SHARED_BYTES, 8, 0 },
};

static inline Layout type_layout (const SatinType *type, int depth);
static inline Layout field_layout (const SatinField *field, int depth);

static inline Layout
record_layout (const SatinType *type, int depth)
{
  Layout sum = { 0, 1, 0 }, item = { 1, 1, 0 };

  g_assert (depth < RECORD_DEPTH_MAX);
  for (guint i = 0; i < type->n_fields; i++)
    framing_add (&sum, item = field_layout (&type->fields[i], depth + 1));
  return framing_sum (sum, item.fixed == 0);
}

static inline const SatinType *
item_type (const SatinType *list)
{
  return list->fields[0].type;
}

static inline Layout
list_layout (const SatinType *type, int depth)
{
  g_assert (depth < RECORD_DEPTH_MAX);
  return (Layout){ 0, type_layout (item_type (type), depth + 1).align, 0 };
}

static inline Layout
type_layout (const SatinType *type, int depth)
{
  if (type->kind == SATIN_KIND_RECORD)
    return record_layout (type, depth);
  return type->kind == SATIN_KIND_LIST ? list_layout (type, depth) : layouts[type->kind];
}

static inline Layout
field_layout (const SatinField *field, int depth)
{
  Layout layout = type_layout (field->type, depth);

  /* In GVariant the length of an array is not part of its type, so even an array of fixed length
   * has a variable size. */
  if (field->count > 0)
    layout.fixed = 0;
  return layout;
}

static inline void
swap_copy (void *to, const void *from, gsize size)
{
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
  memcpy (to, from, size);
#else
  for (gsize i = 0; i < size; i++)
    ((guint8 *)to)[i] = ((const guint8 *)from)[size - 1 - i];
#endif
}

/* TRUE: an array of this type has the same bytes in C and in the encoding. */
static inline gboolean
is_copied_whole (const SatinType *type)
{
  return type->kind <= SATIN_KIND_DOUBLE && type->kind != SATIN_KIND_INT8
         && (G_BYTE_ORDER == G_LITTLE_ENDIAN || type->size == 1);
}
