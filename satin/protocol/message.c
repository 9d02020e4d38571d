/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of messages as messages.def states them, and their frames: prelude, header,
 * attachments. Pure; decoding trusts nothing. */
#include "message-fields.h"

#include "value/buffer.h"

#include <string.h>

/* The first attachment begins at a multiple of this, so that what is large need not be copied for
 * the program that reads it. */
#define ATTACHMENT_ALIGN BUFFER_ALIGN
#define PRELUDE_WORDS 4 /* kind, size of the header, attachments, zero; each 32 bits */

/* ---- the kinds ---- */

typedef struct
{
  const char *name;
  MessageClass class;
  MessageLayer layer;
  MessageFrom from;
  MessageTo to;
  const MessageField *fields;
} Kind;

static const Kind kinds[MESSAGE_KINDS] = {
#define F(shape, member, meaning) FIELD_OF (Message, shape, member, meaning)
#define MESSAGE(kind, name, layer, class, from, to, text, fields) \
  [MESSAGE_##kind] = { name, \
                       MESSAGE_##class, \
                       MESSAGE_LAYER_##layer, \
                       MESSAGE_FROM_##from, \
                       MESSAGE_TO_##to, \
                       (const MessageField[]){ fields{ 0 } } },
#include "messages.def"
};

/* The GVariant types of the headers. */
static const char *const types[MESSAGE_KINDS] = {
#define F(shape, member, meaning) WIRE_##shape
#define MESSAGE(kind, name, layer, class, from, to, text, fields) [MESSAGE_##kind] = "(" fields ")",
#include "messages.def"
};

G_DEFINE_QUARK (satin - message - error - quark, message_error)

const char *
message_kind_name (MessageKind kind)
{
  return kind > 0 && kind < MESSAGE_KINDS ? kinds[kind].name : "unknown";
}

MessageClass
message_class (MessageKind kind)
{
  return kind > 0 && kind < MESSAGE_KINDS ? kinds[kind].class : MESSAGE_ORDERED;
}

MessageLayer
message_layer (MessageKind kind)
{
  return kinds[kind].layer;
}

MessageFrom
message_from (MessageKind kind)
{
  return kinds[kind].from;
}

MessageTo
message_to (MessageKind kind)
{
  return kinds[kind].to;
}

gboolean
message_is_urgent (MessageKind kind)
{
  return message_class (kind) == MESSAGE_URGENT;
}

const MessageField *
message_fields (MessageKind kind)
{
  g_assert (kind > 0 && kind < MESSAGE_KINDS);
  return kinds[kind].fields;
}

const char *
message_type (MessageKind kind)
{
  return types[kind];
}

/* ---- what a message has ---- */

void
message_clear (Message *message)
{
  g_clear_pointer (&message->value, g_bytes_unref);
  g_clear_pointer (&message->shares, g_ptr_array_unref);
  g_clear_pointer (&message->speaks, g_array_unref);
  g_clear_pointer (&message->loans, g_ptr_array_unref);
  g_clear_pointer (&message->rows, g_ptr_array_unref);
  g_clear_pointer (&message->members, g_array_unref);
  g_clear_pointer (&message->holds, g_array_unref);
  g_clear_pointer (&message->numbers, g_array_unref);
  g_clear_pointer (&message->constants, g_array_unref);
  g_clear_pointer (&message->frame, g_bytes_unref);
  *message = (Message){ 0 };
}

gboolean
message_speaks (const Message *m)
{
  if (m->shares != NULL && m->shares->len > 0)
    return TRUE;
  for (guint i = 0; m->rows != NULL && i < m->rows->len; i++)
    if (((const Row *)m->rows->pdata[i])->shares != NULL)
      return TRUE;
  return FALSE;
}

void
message_each_path (const Message *message, void (*each) (const char *path, gpointer data),
                   gpointer data)
{
  if (message->path != NULL)
    each (message->path, data);
  for (guint i = 0; message->loans != NULL && i < message->loans->len; i++)
    each (((Loan *)message->loans->pdata[i])->path, data);
  for (guint i = 0; message->rows != NULL && i < message->rows->len; i++)
    each (((Row *)message->rows->pdata[i])->path, data);
  for (guint i = 0; message->holds != NULL && i < message->holds->len; i++)
    each (g_array_index (message->holds, MessageHold, i).path, data);
}

/* ---- writing ---- */

/* Makes what comes before the attachments, parts[0]. */
static void
begin_frame (MessageKind kind, const guint8 *header, gsize header_size, GPtrArray *parts)
{
  gsize n = parts->len - 1, start = PRELUDE_WORDS * 4 + n * 8, size = start + header_size;
  gsize padding = n > 0 ? (0u - size) % ATTACHMENT_ALIGN : 0;
  guint32 prelude[PRELUDE_WORDS]
      = { GUINT32_TO_LE ((guint32)kind), GUINT32_TO_LE ((guint32)header_size),
          GUINT32_TO_LE ((guint32)n) };
  guint8 *data = g_malloc (size + padding);

  memcpy (data, prelude, sizeof prelude);
  for (gsize i = 0; i < n; i++)
    {
      guint64 length = GUINT64_TO_LE ((guint64)g_bytes_get_size (parts->pdata[i + 1]));
      memcpy (data + sizeof prelude + i * sizeof length, &length, sizeof length);
    }
  memcpy (data + start, header, header_size);
  memset (data + size, 0, padding);
  parts->pdata[0] = g_bytes_new_take (data, size + padding);
}

GPtrArray *
message_encode (const Message *message)
{
  const MessageField *fault = message_fault (message);
  guint loans = message->loans != NULL ? message->loans->len : 1;
  MessageWriter to
      = { .attachments = g_ptr_array_new_full (1 + loans, (GDestroyNotify)g_bytes_unref) };
  gsize size;

  if (fault != NULL)
    g_error ("message '%s' with a bad '%s'", kinds[message->kind].name, fault->meaning);
  g_ptr_array_add (to.attachments, NULL); /* the place of prelude and header */
  pack_begin (&to.packer, types[message->kind]);
  for (const MessageField *field = kinds[message->kind].fields; field->meaning != NULL; field++)
    message_write_field (&to, message, field, message);
  const guint8 *header = pack_end (&to.packer, &size);
  g_assert (size <= MESSAGE_HEADER_MAX && to.attachments->len - 1 <= MESSAGE_ITEMS_MAX);
  begin_frame (message->kind, header, size, to.attachments);
  pack_clear (&to.packer);
  return to.attachments;
}

/* ---- reading ---- */

static guint32
word_at (const guint8 *data, gsize offset)
{
  guint32 word;

  memcpy (&word, data + offset, sizeof word);
  return GUINT32_FROM_LE (word);
}

static guint64
length_at (const guint8 *data, gsize offset)
{
  guint64 length;

  memcpy (&length, data + offset, sizeof length);
  return GUINT64_FROM_LE (length);
}

guint32
message_kind_of (GBytes *bytes)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  return size >= PRELUDE_WORDS * 4 ? word_at (data, 0) : MESSAGE_NO_KIND;
}

/* Splits the frame. `attachments` (out, transfer full, nullable): most have none. FALSE: the sizes
 * do not add up exactly. */
static gboolean
split (GBytes *bytes, const guint8 **header, gsize *header_size, GPtrArray **attachments)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  if (size < PRELUDE_WORDS * 4)
    return FALSE;
  *header_size = word_at (data, 4);
  gsize n = word_at (data, 8);
  gsize start = PRELUDE_WORDS * 4 + n * 8;
  if (*header_size > MESSAGE_HEADER_MAX || n > MESSAGE_ITEMS_MAX || word_at (data, 12) != 0
      || start > size || *header_size > size - start)
    return FALSE;

  g_autoptr (GPtrArray) all
      = n > 0 ? g_ptr_array_new_full ((guint)n, (GDestroyNotify)g_bytes_unref) : NULL;
  gsize offset = start + *header_size;
  for (; n > 0 && offset % ATTACHMENT_ALIGN != 0; offset++)
    if (offset == size || data[offset] != 0)
      return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      guint64 length = length_at (data, PRELUDE_WORDS * 4 + i * 8);
      if (length > size - offset)
        return FALSE;
      g_ptr_array_add (all, g_bytes_new_from_bytes (bytes, offset, (gsize)length));
      offset += (gsize)length;
    }
  if (offset != size)
    return FALSE;
  *header = data + start;
  *attachments = g_steal_pointer (&all);
  return TRUE;
}

/* (nullable): what is wrong with the fields. */
static char *
read_fields (MessageReader *from, Message *m, const guint8 *header, gsize size)
{
  unpack_begin (&from->unpacker, types[m->kind], header, size);
  for (const MessageField *field = kinds[m->kind].fields; field->meaning != NULL; field++)
    {
      message_read_field (from, m, field, m);
      if (from->unpacker.failed)
        return g_strdup_printf ("its '%s' is malformed", field->meaning);
    }
  if (!unpack_end (&from->unpacker) || from->taken < from->attachments->len)
    return g_strdup ("it has more than its fields");
  const MessageField *fault = message_fault (m);
  return fault == NULL ? NULL : g_strdup_printf ("its '%s' breaks a rule", fault->meaning);
}

gboolean
message_decode (GBytes *bytes, Message *message, GError **error)
{
  static const GPtrArray none = { NULL, 0 };
  const guint8 *header = NULL;
  gsize header_size = 0;
  guint32 kind = message_kind_of (bytes);
  g_autoptr (GPtrArray) some = NULL;

  *message = (Message){ 0 };
  if (kind == MESSAGE_NO_KIND || kind >= MESSAGE_KINDS)
    {
      g_set_error (error, MESSAGE_ERROR, MESSAGE_ERROR_MALFORMED, "unknown message %u", kind);
      return FALSE;
    }
  if (!split (bytes, &header, &header_size, &some))
    {
      g_set_error (error, MESSAGE_ERROR, MESSAGE_ERROR_MALFORMED,
                   "malformed message '%s': its sizes do not add up", kinds[kind].name);
      return FALSE;
    }
  MessageReader from = { .attachments = some != NULL ? some : &none };
  message->kind = kind;
  message->frame = g_bytes_ref (bytes);
  g_autofree char *wrong = read_fields (&from, message, header, header_size);
  if (wrong == NULL)
    return TRUE;
  g_set_error (error, MESSAGE_ERROR, MESSAGE_ERROR_MALFORMED, "malformed message '%s': %s",
               kinds[kind].name, wrong);
  message_clear (message);
  return FALSE;
}
