/* SPDX-License-Identifier: BSD-3-Clause */
/* How the types of satin-type.h lie in GVariant's bytes: for the writer and the reader of records
 * (record.c, record-read.c), inlined, since this lies on the way of each stolen job. */
#pragma once

#include "framing.h"
#include "list.h"
#include "record.h"

#include <string.h>

/* How a value lies in the bytes. */
typedef struct
{
  gsize align; /* 1, 2, 4 or 8 */
  gsize fixed; /* its size; 0: the size varies */
} Layout;

static const Layout layouts[] = {
  [SATIN_KIND_INT8] = { 2, 2 },   [SATIN_KIND_UINT8] = { 1, 1 },
  [SATIN_KIND_INT16] = { 2, 2 },  [SATIN_KIND_UINT16] = { 2, 2 },
  [SATIN_KIND_INT32] = { 4, 4 },  [SATIN_KIND_UINT32] = { 4, 4 },
  [SATIN_KIND_INT64] = { 8, 8 },  [SATIN_KIND_UINT64] = { 8, 8 },
  [SATIN_KIND_DOUBLE] = { 8, 8 }, [SATIN_KIND_BYTES] = { 1, 0 },
  [SATIN_KIND_RECORD] = { 0, 0 }, [SATIN_KIND_SHARED] = { 8, RECORD_SHARED_BYTES },
  [SATIN_KIND_LIST] = { 0, 0 },   [SATIN_KIND_TEXT] = { 1, 0 },
};

static inline Layout type_layout (const SatinType *type, int depth);
static inline Layout field_layout (const SatinField *field, int depth);

static inline Layout
record_layout (const SatinType *type, int depth)
{
  Layout whole = { 1, 0 };
  gboolean fixed = TRUE;

  g_assert (depth < RECORD_DEPTH_MAX);
  for (guint i = 0; i < type->n_fields; i++)
    {
      Layout layout = field_layout (&type->fields[i], depth + 1);

      whole.align = MAX (whole.align, layout.align);
      whole.fixed = framing_align (whole.fixed, layout.align) + layout.fixed;
      fixed = fixed && layout.fixed > 0;
    }
  /* The empty tuple takes one byte, so that every value of fixed size takes some. */
  whole.fixed = type->n_fields == 0 ? 1 : framing_align (whole.fixed, whole.align);
  if (!fixed)
    whole.fixed = 0;
  return whole;
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
  return (Layout){ type_layout (item_type (type), depth + 1).align, 0 };
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

  /* GVariant does not know how long an array is, so even one that is fixed here varies in size. */
  if (field->count > 0)
    layout.fixed = 0;
  return layout;
}

/* How many ends a record writes down. */
static inline gsize
record_n_ends (const SatinType *type)
{
  gsize n = 0;

  for (guint i = 0; i + 1 < type->n_fields; i++)
    n += field_layout (&type->fields[i], 0).fixed == 0;
  return n;
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

/* TRUE: an array of them in C is the array of them in the bytes. */
static inline gboolean
is_copied_whole (const SatinType *type)
{
  return type->kind <= SATIN_KIND_DOUBLE && type->kind != SATIN_KIND_INT8
         && (G_BYTE_ORDER == G_LITTLE_ENDIAN || type->size == 1);
}
