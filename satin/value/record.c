/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the portable encoding of records: GVariant's serialised form, written and read by hand from
 * the type tables. Pure, any thread. Must not know jobs, and never calls the library's serialiser,
 * which is a thousand times slower.
 *
 * The form in four sentences. A value of fixed size stands at a multiple of its alignment, and a
 * tuple of such values is padded with zeros to a multiple of its own. An array or tuple whose
 * members vary in size ends with a table of their ends, counted from its own start (a tuple leaves
 * out members of fixed size and its last one, and writes the table backwards). The entries are as
 * wide as the size of the whole container needs: 1, 2, 4 or 8 bytes. Every container starts at a
 * multiple of the greatest alignment inside it, so positions from the very start of the bytes are
 * aligned exactly when positions from the container's start are. */
#include "config.h"

#include "record.h"

#include "buffer.h"
#include "framing.h"
#include "shared.h"

#include <string.h>

/* clang-format off */
G_DEFINE_QUARK (satin-record-error-quark, record_error)
/* clang-format on */

/* Type tables ------------------------------------------------------------------------------ */

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
};

static Layout field_layout (const SatinField *field, int depth);

static Layout
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

static inline Layout
type_layout (const SatinType *type, int depth)
{
  return type->kind != SATIN_KIND_RECORD ? layouts[type->kind] : record_layout (type, depth);
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
static gsize
record_n_ends (const SatinType *type)
{
  gsize n = 0;

  for (guint i = 0; i + 1 < type->n_fields; i++)
    n += field_layout (&type->fields[i], 0).fixed == 0;
  return n;
}

/* Scalars ------------------------------------------------------------------------------------ */

static void
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
static gboolean
is_copied_whole (const SatinType *type)
{
  gboolean scalar = type->kind != SATIN_KIND_BYTES && type->kind != SATIN_KIND_RECORD
                    && type->kind != SATIN_KIND_SHARED;

  return scalar && type->kind != SATIN_KIND_INT8
         && (G_BYTE_ORDER == G_LITTLE_ENDIAN || type->size == 1);
}

/* Writing ------------------------------------------------------------------------------------ */

/* The same walk runs twice: without `to` it only measures. */
typedef struct
{
  guint8 *to;
  gsize at;
} Writer;

static void
put_data (Writer *writer, const void *data, gsize size)
{
  if (writer->to != NULL && size > 0)
    memcpy (writer->to + writer->at, data, size);
  writer->at += size;
}

static void
put_zeros (Writer *writer, gsize size)
{
  if (writer->to != NULL && size > 0)
    memset (writer->to + writer->at, 0, size);
  writer->at += size;
}

static void
put_padding (Writer *writer, gsize align)
{
  put_zeros (writer, framing_align (writer->at, align) - writer->at);
}

static void
put_end (Writer *writer, gsize end, guint width)
{
  guint64 value = GUINT64_TO_LE ((guint64)end);

  put_data (writer, &value, width);
}

static void
put_scalar (Writer *writer, const SatinType *type, const void *data)
{
  guint8 turned[8];

  if (type->kind == SATIN_KIND_INT8)
    {
      gint16 wide = GINT16_TO_LE ((gint16) * (const gint8 *)data);

      put_data (writer, &wide, sizeof wide);
      return;
    }
  swap_copy (turned, data, type->size);
  put_data (writer, turned, type->size);
}

static void
put_bytes (Writer *writer, GBytes *bytes)
{
  gsize size = 0;
  const void *data = bytes == NULL ? NULL : g_bytes_get_data (bytes, &size);

  put_data (writer, data, size);
}

static void
put_shared (Writer *writer, SatinShared shared)
{
  guint64 length = shared == NULL ? 0 : GUINT64_TO_LE (shared_length (shared));

  if (shared == NULL)
    put_zeros (writer, sizeof (Digest));
  else
    put_data (writer, shared_digest (shared)->bytes, sizeof (Digest));
  put_data (writer, &length, sizeof length);
}

static void put_record (Writer *writer, const SatinType *type, const guint8 *data);

static void
put_value (Writer *writer, const SatinType *type, const guint8 *data)
{
  if (type->kind == SATIN_KIND_RECORD)
    put_record (writer, type, data);
  else if (type->kind == SATIN_KIND_BYTES)
    put_bytes (writer, *(GBytes *const *)data);
  else if (type->kind == SATIN_KIND_SHARED)
    put_shared (writer, *(const SatinShared *)(const void *)data);
  else
    put_scalar (writer, type, data);
}

static void
put_array (Writer *writer, const SatinField *field, const guint8 *data)
{
  const SatinType *type = field->type;
  Layout layout = type_layout (type, 0);
  gsize start = writer->at;
  g_autofree gsize *ends = layout.fixed > 0 ? NULL : g_new (gsize, field->count);
  guint width;

  for (gsize i = 0; i < field->count; i++)
    {
      put_padding (writer, layout.align);
      put_value (writer, type, data + i * type->size);
      if (ends != NULL)
        ends[i] = writer->at - start;
    }
  if (ends == NULL)
    return;
  width = framing_width_for (writer->at - start, field->count);
  for (gsize i = 0; i < field->count; i++)
    put_end (writer, ends[i], width);
}

static void
put_field (Writer *writer, const SatinField *field, const guint8 *data)
{
  if (field->count == 0)
    put_value (writer, field->type, data);
  else if (is_copied_whole (field->type))
    put_data (writer, data, (gsize)field->count * field->type->size);
  else
    put_array (writer, field, data);
}

static void
put_record (Writer *writer, const SatinType *type, const guint8 *data)
{
  gsize ends[G_MAXUINT8];
  gsize n_ends = 0;
  gsize start = writer->at;
  Layout whole = type_layout (type, 0);
  guint width;

  for (guint i = 0; i < type->n_fields; i++)
    {
      const SatinField *field = &type->fields[i];
      Layout layout = field_layout (field, 0);

      put_padding (writer, layout.align);
      put_field (writer, field, data + field->offset);
      if (layout.fixed == 0 && i + 1 < type->n_fields)
        ends[n_ends++] = writer->at - start;
    }
  if (whole.fixed > 0)
    put_zeros (writer, start + whole.fixed - writer->at);
  width = framing_width_for (writer->at - start, n_ends);
  while (n_ends > 0)
    put_end (writer, ends[--n_ends], width);
}

GBytes *
record_encode (const SatinType *type, const void *data)
{
  Writer writer = { NULL, 0 };
  gsize size = type_layout (type, 0).fixed;

  if (size == 0)
    put_value (&writer, type, data);
  size = MAX (size, writer.at);
  if (size == 0)
    return g_bytes_new (NULL, 0);
  writer = (Writer){ buffer_take (size), 0 };
  if (writer.to == NULL)
    g_error ("no memory for a value of %" G_GSIZE_FORMAT " bytes", size);
  put_value (&writer, type, data);
  g_assert (writer.at == size);
  return buffer_to_bytes (writer.to, size);
}

/* Reading ------------------------------------------------------------------------------------ */

/* Nothing in the bytes is trusted: each function below gets the range of one value, inside the
 * range of its container, and returns FALSE when the value does not fill it exactly. What was
 * filled until then is released by record_decode. */
typedef struct
{
  GBytes *bytes;
  const guint8 *data;
} Reader;

typedef struct
{
  gsize start;
  gsize end;
} Range;

/* Moves `*at` up to the alignment. FALSE: beyond `end`, or the padding is not zero. */
static gboolean
skip_padding (const Reader *reader, gsize *at, gsize align, gsize end)
{
  gsize to = framing_align (*at, align);

  if (to > end)
    return FALSE;
  for (; *at < to; (*at)++)
    if (reader->data[*at] != 0)
      return FALSE;
  return TRUE;
}

static guint64
get_end (const Reader *reader, gsize at, guint width)
{
  guint64 value = 0;

  memcpy (&value, reader->data + at, width);
  return GUINT64_FROM_LE (value);
}

static gboolean
get_scalar (const Reader *reader, const SatinType *type, Range range, void *to)
{
  gint16 wide;

  if (range.end - range.start != layouts[type->kind].fixed)
    return FALSE;
  if (type->kind != SATIN_KIND_INT8)
    {
      swap_copy (to, reader->data + range.start, type->size);
      return TRUE;
    }
  memcpy (&wide, reader->data + range.start, sizeof wide);
  wide = GINT16_FROM_LE (wide);
  if (wide < G_MININT8 || wide > G_MAXINT8)
    return FALSE;
  *(gint8 *)to = (gint8)wide;
  return TRUE;
}

static gboolean
get_bytes (const Reader *reader, Range range, GBytes **to)
{
  *to = buffer_slice (reader->bytes, range.start, range.end - range.start);
  return TRUE;
}

/* They need not be here. */
static gboolean
get_shared (const Reader *reader, Range range, SatinShared *to)
{
  guint64 length;
  Digest digest;

  if (range.end - range.start != RECORD_SHARED_BYTES)
    return FALSE;
  memcpy (digest.bytes, reader->data + range.start, sizeof digest.bytes);
  memcpy (&length, reader->data + range.start + sizeof digest.bytes, sizeof length);
  *to = NULL;
  if (digest_is_zero (&digest))
    return length == 0;
  *to = shared_enter (shared_store_here (), &digest, GUINT64_FROM_LE (length));
  if (shared_length (*to) == GUINT64_FROM_LE (length))
    return TRUE;
  g_clear_pointer (to, shared_unref);
  return FALSE;
}

static gboolean get_record (const Reader *reader, const SatinType *type, Range range, guint8 *to);

static gboolean
get_value (const Reader *reader, const SatinType *type, Range range, guint8 *to)
{
  if (type->kind == SATIN_KIND_RECORD)
    return get_record (reader, type, range, to);
  if (type->kind == SATIN_KIND_BYTES)
    return get_bytes (reader, range, (GBytes **)to);
  if (type->kind == SATIN_KIND_SHARED)
    return get_shared (reader, range, (SatinShared *)(void *)to);
  return get_scalar (reader, type, range, to);
}

static gboolean
get_fixed_array (const Reader *reader, const SatinField *field, Range range, guint8 *to)
{
  const SatinType *type = field->type;
  gsize step = type_layout (type, 0).fixed;

  if (range.end - range.start != step * field->count)
    return FALSE;
  if (is_copied_whole (type))
    {
      memcpy (to, reader->data + range.start, step * field->count);
      return TRUE;
    }
  for (gsize i = 0; i < field->count; i++)
    {
      Range each = { range.start + i * step, range.start + (i + 1) * step };

      if (!get_value (reader, type, each, to + i * type->size))
        return FALSE;
    }
  return TRUE;
}

/* An array whose elements vary in size. */
static gboolean
get_array (const Reader *reader, const SatinField *field, Range range, guint8 *to)
{
  const SatinType *type = field->type;
  gsize align = type_layout (type, 0).align;
  gsize size = range.end - range.start;
  guint width = framing_width (size);
  gsize at = range.start;
  gsize body_end;

  if (size / width < field->count)
    return FALSE;
  body_end = range.end - (gsize)field->count * width;
  if (framing_width_for (body_end - range.start, field->count) != width)
    return FALSE;
  for (gsize i = 0; i < field->count; i++)
    {
      guint64 end = get_end (reader, body_end + i * width, width);

      if (!skip_padding (reader, &at, align, body_end))
        return FALSE;
      if (end > body_end - range.start || range.start + end < at)
        return FALSE;
      if (!get_value (reader, type, (Range){ at, range.start + end }, to + i * type->size))
        return FALSE;
      at = range.start + end;
    }
  return at == body_end;
}

static gboolean
get_field (const Reader *reader, const SatinField *field, Range range, guint8 *to)
{
  if (field->count == 0)
    return get_value (reader, field->type, range, to);
  if (type_layout (field->type, 0).fixed > 0)
    return get_fixed_array (reader, field, range, to);
  return get_array (reader, field, range, to);
}

/* Members from `range.start`; what lies from `body_end` to `range.end` is the table of ends. */
static gboolean
get_members (const Reader *reader, const SatinType *type, Range range, gsize body_end,
             gboolean is_fixed, guint8 *to)
{
  guint width = framing_width (range.end - range.start);
  gsize table_at = range.end;
  gsize at = range.start;

  for (guint i = 0; i < type->n_fields; i++)
    {
      const SatinField *field = &type->fields[i];
      Layout layout = field_layout (field, 0);
      guint64 end;

      if (!skip_padding (reader, &at, layout.align, body_end))
        return FALSE;
      if (layout.fixed > 0)
        end = at - range.start + layout.fixed;
      else if (i + 1 == type->n_fields)
        end = body_end - range.start;
      else
        end = get_end (reader, table_at -= width, width);
      if (end > body_end - range.start || range.start + end < at)
        return FALSE;
      if (!get_field (reader, field, (Range){ at, range.start + end }, to + field->offset))
        return FALSE;
      at = range.start + end;
    }
  /* Only a tuple of fixed size is padded at its end. */
  while (is_fixed && at < body_end)
    if (reader->data[at++] != 0)
      return FALSE;
  return at == body_end;
}

static gboolean
get_record (const Reader *reader, const SatinType *type, Range range, guint8 *to)
{
  gsize size = range.end - range.start;
  gsize fixed = type_layout (type, 0).fixed;
  guint width = framing_width (size);
  gsize n_ends, body;

  if (fixed > 0)
    return size == fixed && get_members (reader, type, range, range.end, TRUE, to);
  n_ends = record_n_ends (type);
  if (size / width < n_ends)
    return FALSE;
  body = size - n_ends * width;
  if (n_ends > 0 && framing_width_for (body, n_ends) != width)
    return FALSE;
  return get_members (reader, type, range, range.start + body, FALSE, to);
}

gboolean
record_decode (const SatinType *type, GBytes *bytes, void *data, GError **error)
{
  gsize size;
  Reader reader = { bytes, g_bytes_get_data (bytes, &size) };

  memset (data, 0, type->size);
  if (!get_value (&reader, type, (Range){ 0, size }, data))
    {
      g_autofree char *signature = record_signature (type);

      record_clear (type, data);
      memset (data, 0, type->size);
      g_set_error (error, RECORD_ERROR, RECORD_ERROR_MALFORMED,
                   "%" G_GSIZE_FORMAT " bytes are not a value of type '%s'", size, signature);
      return FALSE;
    }
  return TRUE;
}
