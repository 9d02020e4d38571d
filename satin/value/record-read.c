/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what record.c writes, and nothing else; see framing.h for the form. Pure. Any thread.
 * Tests: test-record. */
#include "config.h"

#include "record.h"

#include "buffer.h"
#include "record-layout.h"
#include "shared.h"

/* Trusts nothing in the bytes. Each function below reads one value at the reader's place, which
 * must end exactly at `end`, or fails. record_decode then releases what was filled. */
typedef struct
{
  FramingReader in;
  GBytes *bytes;
} Reader;

/* Returns the next `size` bytes and moves behind them. */
static const guint8 *
take (Reader *reader, gsize size)
{
  const guint8 *data = reader->in.data + reader->in.at;

  reader->in.at += size;
  return data;
}

static void
get_scalar (Reader *reader, const SatinType *type, void *to)
{
  gint16 wide;

  if (type->kind != SATIN_KIND_INT8)
    {
      swap_copy (to, take (reader, type->size), type->size);
      return;
    }
  memcpy (&wide, take (reader, sizeof wide), sizeof wide);
  wide = GINT16_FROM_LE (wide);
  reader->in.failed |= wide < G_MININT8 || wide > G_MAXINT8;
  *(gint8 *)to = (gint8)wide;
}

static GBytes *
get_bytes (Reader *reader, gsize end)
{
  gsize start = reader->in.at;

  reader->in.at = end;
  return buffer_slice (reader->bytes, start, end - start);
}

/* The shared bytes need not be in the store. */
static void
get_shared (Reader *reader, SatinShared *to)
{
  guint64 length;
  Digest digest;

  memcpy (digest.bytes, take (reader, sizeof digest.bytes), sizeof digest.bytes);
  memcpy (&length, take (reader, sizeof length), sizeof length);
  length = GUINT64_FROM_LE (length);
  *to = digest_is_zero (&digest) ? NULL : shared_enter (shared_store_here (), &digest, length);
  reader->in.failed |= length != (*to == NULL ? 0 : shared_length (*to));
}

static void
get_text (Reader *reader, gsize end, guint8 *to)
{
  gsize size = end - reader->in.at;
  SatinText whole;

  if (!framing_is_text (&reader->in, end))
    {
      reader->in.failed = TRUE;
      return;
    }
  whole.held = g_bytes_new (take (reader, size), size);
  whole.text = g_bytes_get_data (whole.held, NULL);
  memcpy (to, &whole, sizeof whole);
}

static void get_record (Reader *reader, const SatinType *type, Layout own, gsize end, guint8 *to);
static void get_list (Reader *reader, const SatinType *type, gsize end, guint8 *to);

static void
get_value (Reader *reader, const SatinType *type, Layout own, gsize end, guint8 *to)
{
  if (type->kind == SATIN_KIND_RECORD)
    get_record (reader, type, own, end, to);
  else if (type->kind == SATIN_KIND_BYTES)
    *(GBytes **)to = get_bytes (reader, end);
  else if (type->kind == SATIN_KIND_SHARED)
    get_shared (reader, (SatinShared *)(void *)to);
  else if (type->kind == SATIN_KIND_LIST)
    get_list (reader, type, end, to);
  else if (type->kind == SATIN_KIND_TEXT)
    get_text (reader, end, to);
  else
    get_scalar (reader, type, to);
}

/* Enters an array that ends at `end`. Returns its number of items, valid unless the reader
 * fails. */
static gsize
enter_array (Reader *reader, FramingLevel *level, Layout item, gsize end)
{
  framing_enter (&reader->in, level, end, (Layout){ 0 }, &item);
  return item.fixed == 0 ? level->n_ends : (end - level->start) / item.fixed;
}

static void
get_items (Reader *reader, FramingLevel *level, const SatinType *type, Layout item, guint8 *to,
           gsize n)
{
  if (is_copied_whole (type))
    memcpy (to, take (reader, n * type->size), n * type->size);
  else
    for (gsize i = 0; i < n && !reader->in.failed; i++)
      {
        gsize end = framing_next (&reader->in, level, item, FALSE);

        if (!reader->in.failed)
          get_value (reader, type, item, end, to + i * type->size);
      }
  framing_leave (&reader->in, level, (Layout){ 0 });
}

static void
get_array (Reader *reader, const SatinField *field, gsize end, guint8 *to)
{
  Layout item = type_layout (field->type, 0);
  FramingLevel level;

  if (enter_array (reader, &level, item, end) == field->count)
    get_items (reader, &level, field->type, item, to, field->count);
  else
    reader->in.failed = TRUE;
}

static void
get_list (Reader *reader, const SatinType *type, gsize end, guint8 *to)
{
  const SatinType *item = item_type (type);
  Layout layout = type_layout (item, 0);
  FramingLevel level;
  SatinList_ list = { NULL, enter_array (reader, &level, layout, end), NULL };
  void *place = NULL;

  if (end == level.start)
    return;
  if (reader->in.failed || list.n == 0 || list.n > G_MAXUINT32
      || (is_copied_whole (item) && (end - level.start) % item->size != 0))
    list.held = NULL;
  else if (is_copied_whole (item))
    list.held = get_bytes (reader, end);
  else
    list.held = list_new (item, list.n, &place);
  reader->in.failed |= list.held == NULL;
  if (list.held == NULL)
    return;
  list.at = place != NULL ? place : g_bytes_get_data (list.held, NULL);
  memcpy (to, &list, sizeof list);
  if (place != NULL)
    get_items (reader, &level, item, layout, place, list.n);
}

static void
get_record (Reader *reader, const SatinType *type, Layout own, gsize end, guint8 *to)
{
  FramingLevel level;

  framing_enter (&reader->in, &level, end, own, NULL);
  for (guint i = 0; i < type->n_fields; i++)
    {
      const SatinField *field = &type->fields[i];
      Layout item = field_layout (field, 0);
      gsize item_end = framing_next (&reader->in, &level, item, i + 1 == type->n_fields);

      if (reader->in.failed)
        return;
      if (field->count > 0)
        get_array (reader, field, item_end, to + field->offset);
      else
        get_value (reader, field->type, item, item_end, to + field->offset);
    }
  framing_leave (&reader->in, &level, own);
}

gboolean
record_decode (const SatinType *type, GBytes *bytes, void *data, GError **error)
{
  Layout layout = type_layout (type, 0);
  gsize size;
  const guint8 *from = g_bytes_get_data (bytes, &size);
  Reader reader = { { from, 0, layout.fixed > 0 && layout.fixed != size }, bytes };

  memset (data, 0, type->size);
  if (!reader.in.failed)
    get_value (&reader, type, layout, size, data);
  if (reader.in.failed)
    {
      g_autofree char *signature = record_signature (type);

      record_clear (type, data);
      memset (data, 0, type->size);
      g_set_error (error, RECORD_ERROR, RECORD_ERROR_MALFORMED,
                   "%" G_GSIZE_FORMAT " bytes are not a value of type '%s'", size, signature);
    }
  return !reader.in.failed;
}
