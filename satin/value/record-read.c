/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what record.c writes, and nothing else; see there for the form. Pure; any thread.
 * Tests: test-record. */
#include "config.h"

#include "record.h"

#include "buffer.h"
#include "record-layout.h"
#include "shared.h"

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
static gboolean get_list (const Reader *reader, const SatinType *type, Range range, guint8 *to);

static gboolean
get_text (const Reader *reader, Range range, guint8 *to)
{
  const char *text = (const char *)reader->data + range.start;
  gsize size = range.end - range.start;
  SatinText whole;

  if (size == 0 || text[size - 1] != '\0' || !g_utf8_validate (text, (gssize)size - 1, NULL))
    return FALSE;
  whole.held = g_bytes_new (text, size);
  whole.text = g_bytes_get_data (whole.held, NULL);
  memcpy (to, &whole, sizeof whole);
  return TRUE;
}

static gboolean
get_value (const Reader *reader, const SatinType *type, Range range, guint8 *to)
{
  if (type->kind == SATIN_KIND_RECORD)
    return get_record (reader, type, range, to);
  if (type->kind == SATIN_KIND_BYTES)
    return get_bytes (reader, range, (GBytes **)to);
  if (type->kind == SATIN_KIND_SHARED)
    return get_shared (reader, range, (SatinShared *)(void *)to);
  if (type->kind == SATIN_KIND_LIST)
    return get_list (reader, type, range, to);
  if (type->kind == SATIN_KIND_TEXT)
    return get_text (reader, range, to);
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

/* How many items a list in this range has; FALSE: none can be so long. get_field checks the rest.
 */
static gboolean
count_items (const Reader *reader, const SatinType *item, Range range, gsize *n)
{
  gsize size = range.end - range.start, fixed = type_layout (item, 0).fixed;
  guint width = framing_width (size);
  guint64 body;

  *n = 0;
  if (size == 0)
    return TRUE;
  if (fixed > 0)
    *n = size / fixed;
  else
    {
      body = size < width ? G_MAXUINT64 : get_end (reader, range.end - width, width);
      if (body >= size)
        return FALSE;
      *n = (size - body) / width;
    }
  return *n > 0 && *n <= G_MAXUINT32;
}

static gboolean
get_list (const Reader *reader, const SatinType *type, Range range, guint8 *to)
{
  const SatinType *item = item_type (type);
  SatinField items = { "", item, 0, 0 };
  SatinList_ list = { NULL, 0, NULL };
  void *place;
  gsize n;

  if (!count_items (reader, item, range, &n))
    return FALSE;
  if (n == 0)
    return TRUE;
  items.count = (guint32)n;
  if (is_copied_whole (item))
    {
      list.held = buffer_slice (reader->bytes, range.start, range.end - range.start);
      list.at = g_bytes_get_data (list.held, NULL);
    }
  else if ((list.held = list_new (item, n, &place)) == NULL)
    return FALSE;
  else
    list.at = place;
  list.n = n;
  memcpy (to, &list, sizeof list);
  if (is_copied_whole (item))
    return range.end - range.start == n * item->size;
  return get_field (reader, &items, range, place);
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
