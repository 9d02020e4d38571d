/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the portable encoding of records: GVariant's serialised form, written by hand from the type
 * tables (record-read.c reads it). Pure, any thread. Must not know jobs, and never calls the
 * library's serialiser, which takes ten times as many instructions (docs/by-hand).
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
#include "record-layout.h"
#include "shared.h"

/* clang-format off */
G_DEFINE_QUARK (satin-record-error-quark, record_error)
/* clang-format on */

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
static void put_field (Writer *writer, const SatinField *field, const guint8 *data);

static void
put_list (Writer *writer, const SatinType *type, const guint8 *data)
{
  SatinList_ list = list_at (data);
  SatinField items = { "", item_type (type), 0, (guint32)list.n };

  list_check_length (list.n);
  if (list.n > 0)
    put_field (writer, &items, list.at);
}

static void
put_text (Writer *writer, const guint8 *data)
{
  SatinText text = list_text_at (data);
  g_autofree char *mended = NULL;
  const char *valid = list_valid_text (text.text, &mended);

  put_data (writer, valid, strlen (valid) + 1);
}

static void
put_value (Writer *writer, const SatinType *type, const guint8 *data)
{
  if (type->kind == SATIN_KIND_RECORD)
    put_record (writer, type, data);
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
