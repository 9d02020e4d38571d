/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes records in GVariant's serialised form (framing.h), by the type tables; record-read.c
 * decodes them. Pure. Any thread. Never calls GLib's serialiser, which takes ten times as many
 * instructions (docs/by-hand). */
#include "config.h"

#include "record.h"

#include "buffer.h"
#include "record-layout.h"
#include "shared.h"

/* clang-format off */
G_DEFINE_QUARK (satin-record-error-quark, record_error)
/* clang-format on */

static void
put_scalar (FramingWriter *writer, const SatinType *type, const void *data)
{
  guint8 turned[8];

  if (type->kind == SATIN_KIND_INT8)
    {
      gint16 wide = GINT16_TO_LE ((gint16) * (const gint8 *)data);

      framing_put (writer, &wide, sizeof wide);
      return;
    }
  swap_copy (turned, data, type->size);
  framing_put (writer, turned, type->size);
}

static void
put_bytes (FramingWriter *writer, GBytes *bytes)
{
  gsize size = 0;
  const void *data = bytes == NULL ? NULL : g_bytes_get_data (bytes, &size);

  framing_put (writer, data, size);
}

static void
put_shared (FramingWriter *writer, SatinShared shared)
{
  static const Digest none;
  guint64 length = shared == NULL ? 0 : GUINT64_TO_LE (shared_length (shared));

  framing_put (writer, shared == NULL ? none.bytes : shared_digest (shared)->bytes, sizeof none);
  framing_put (writer, &length, sizeof length);
}

static void put_record (FramingWriter *writer, const SatinType *type, Layout own,
                        const guint8 *data);
static void put_items (FramingWriter *writer, const SatinType *type, gsize n, const guint8 *data);

static void
put_list (FramingWriter *writer, const SatinType *type, const guint8 *data)
{
  SatinList_ list = list_at (data);

  list_check_length (list.n);
  put_items (writer, item_type (type), list.n, list.at);
}

static void
put_text (FramingWriter *writer, const guint8 *data)
{
  SatinText text = list_text_at (data);
  g_autofree char *mended = NULL;
  const char *valid = list_valid_text (text.text, &mended);

  framing_put (writer, valid, strlen (valid) + 1);
}

static void
put_value (FramingWriter *writer, const SatinType *type, Layout own, const guint8 *data)
{
  if (type->kind == SATIN_KIND_RECORD)
    put_record (writer, type, own, data);
  else if (type->kind == SATIN_KIND_BYTES)
    put_bytes (writer, *(GBytes *const *)data);
  else if (type->kind == SATIN_KIND_SHARED)
    put_shared (writer, *(const SatinShared *)(const void *)data);
  else if (type->kind == SATIN_KIND_LIST)
    put_list (writer, type, data);
  else if (type->kind == SATIN_KIND_TEXT)
    put_text (writer, data);
  else
    put_scalar (writer, type, data);
}

/* Writes the items of an array. */
static void
put_items (FramingWriter *writer, const SatinType *type, gsize n, const guint8 *data)
{
  Layout layout = type_layout (type, 0);
  FramingLevel level;

  if (is_copied_whole (type))
    framing_put (writer, data, n * type->size);
  else if (layout.fixed > 0 && writer->data == NULL)
    writer->at += n * layout.fixed;
  else
    {
      framing_open (writer, &level, TRUE);
      for (gsize i = 0; i < n; i++)
        {
          framing_pad (writer, layout);
          put_value (writer, type, layout, data + i * type->size);
          framing_note (writer, &level, layout, FALSE);
        }
      framing_close (writer, &level, (Layout){ 0 });
    }
}

static void
put_record (FramingWriter *writer, const SatinType *type, Layout own, const guint8 *data)
{
  FramingLevel level;

  framing_open (writer, &level, FALSE);
  for (guint i = 0; i < type->n_fields; i++)
    {
      const SatinField *field = &type->fields[i];
      Layout layout = field_layout (field, 0);

      framing_pad (writer, layout);
      if (field->count > 0)
        put_items (writer, field->type, field->count, data + field->offset);
      else
        put_value (writer, field->type, layout, data + field->offset);
      framing_note (writer, &level, layout, i + 1 == type->n_fields);
    }
  framing_close (writer, &level, own);
}

GBytes *
record_encode (const SatinType *type, const void *data)
{
  FramingWriter writer;
  Layout layout = type_layout (type, 0);
  gsize size = layout.fixed;
  guint8 *to;

  if (size == 0) /* a walk without memory counts the size */
    {
      framing_begin (&writer, NULL, 0);
      put_value (&writer, type, layout, data);
      size = writer.at;
    }
  if (size == 0)
    return g_bytes_new (NULL, 0);
  to = buffer_take (size);
  if (to == NULL)
    g_error ("no memory for a value of %" G_GSIZE_FORMAT " bytes", size);
  framing_begin (&writer, to, size);
  put_value (&writer, type, layout, data);
  g_assert (writer.at == size && !writer.grown);
  framing_clear (&writer);
  return buffer_to_bytes (to, size);
}
