/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of messages in messages.def, and their frames: prelude, header, attachments. Pure.
 * Decoding trusts nothing. */
#include "message-fields.h"

#include "value/buffer.h"

#include <string.h>

/* The first attachment begins at a multiple of this, so that a large value need not be copied for
 * the program. */
#define ATTACHMENT_ALIGN BUFFER_ALIGN
#define PRELUDE_WORDS 4 /* kind, size of the header, number of attachments, zero; 32 bits each */

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

const PackLayout *
message_type (MessageKind kind)
{
  static PackLayout *layouts[MESSAGE_KINDS];

  if (g_once_init_enter (&layouts[kind]))
    g_once_init_leave (&layouts[kind], pack_type (types[kind]));
  return layouts[kind];
}

/* ---- contents ---- */

void
message_clear (Message *message)
{
  g_clear_pointer (&message->value, g_bytes_unref);
  g_clear_pointer (&message->shares, g_ptr_array_unref);
  g_clear_pointer (&message->speaks, g_array_unref);
  g_clear_pointer (&message->loans, g_ptr_array_unref);
  g_clear_pointer (&message->rows, g_ptr_array_unref);
  g_clear_pointer (&message->members, g_array_unref);
  g_clear_pointer (&message->ids, g_array_unref);
  g_clear_pointer (&message->holds, g_array_unref);
  g_clear_pointer (&message->numbers, g_array_unref);
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

gboolean
message_all_paths (const Message *message, gboolean (*is_good) (const char *path, gpointer data),
                   gpointer data)
{
  gboolean good = message->path == NULL || is_good (message->path, data);

  for (guint i = 0; good && message->loans != NULL && i < message->loans->len; i++)
    good = is_good (((Loan *)message->loans->pdata[i])->path, data);
  for (guint i = 0; good && message->rows != NULL && i < message->rows->len; i++)
    good = is_good (((Row *)message->rows->pdata[i])->path, data);
  for (guint i = 0; good && message->holds != NULL && i < message->holds->len; i++)
    good = is_good (g_array_index (message->holds, MessageHold, i).path, data);
  return good;
}

/* ---- writing ---- */

/* Makes parts[0]: all bytes before the attachments. */
static void
begin_frame (MessageKind kind, gsize room, const guint8 *header, gsize header_size,
             GPtrArray *parts)
{
  gsize n = parts->len - 1, start = PRELUDE_WORDS * 4 + n * 8, size = start + header_size;
  gsize padding = n > 0 ? (0u - size) % ATTACHMENT_ALIGN : 0;
  guint32 prelude[PRELUDE_WORDS]
      = { GUINT32_TO_LE ((guint32)kind), GUINT32_TO_LE ((guint32)header_size),
          GUINT32_TO_LE ((guint32)n) };
  guint8 *all = g_malloc (room + size + padding), *data = all + room;

  memcpy (data, prelude, sizeof prelude);
  for (gsize i = 0; i < n; i++)
    {
      guint64 length = GUINT64_TO_LE ((guint64)g_bytes_get_size (parts->pdata[i + 1]));
      memcpy (data + sizeof prelude + i * sizeof length, &length, sizeof length);
    }
  memcpy (data + start, header, header_size);
  memset (data + size, 0, padding);
  parts->pdata[0] = g_bytes_new_take (all, room + size + padding);
}

GPtrArray *
message_encode (const Message *message)
{
  return message_encode_behind (message, 0);
}

GPtrArray *
message_encode_behind (const Message *message, gsize room)
{
  const MessageField *fault = message_fault (message);
  guint loans = message->loans != NULL ? message->loans->len : 1;
  MessageWriter to
      = { .attachments = g_ptr_array_new_full (1 + loans, (GDestroyNotify)g_bytes_unref) };
  gsize size;

  if (fault != NULL)
    g_error ("message '%s' with a bad '%s'", kinds[message->kind].name, fault->meaning);
  g_ptr_array_add (to.attachments, NULL); /* the place of prelude and header */
  pack_begin (&to.packer, message_type (message->kind));
  for (const MessageField *field = kinds[message->kind].fields; field->meaning != NULL; field++)
    message_write_field (&to, message, field, message);
  const guint8 *header = pack_end (&to.packer, &size);
  g_assert (size <= MESSAGE_HEADER_MAX && to.attachments->len - 1 <= MESSAGE_ITEMS_MAX);
  begin_frame (message->kind, room, header, size, to.attachments);
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

static guint32
kind_at (GBytes *bytes, gsize start)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  return start <= size && size - start >= PRELUDE_WORDS * 4 ? word_at (data, start)
                                                            : MESSAGE_NO_KIND;
}

guint32
message_kind_of (GBytes *bytes)
{
  return kind_at (bytes, 0);
}

/* Splits the message, which has at least a whole prelude. Returns the header. (nullable): NULL: the
 * sizes do not add up exactly. */
static const guint8 *
split (MessageReader *from, GBytes *bytes, gsize start, gsize *header_size)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  data += start;
  size -= start;
  *header_size = word_at (data, 4);
  gsize n = word_at (data, 8), body = PRELUDE_WORDS * 4 + n * 8;
  if (*header_size > MESSAGE_HEADER_MAX || n > MESSAGE_ITEMS_MAX || word_at (data, 12) != 0
      || body > size || *header_size > size - body)
    return NULL;
  gsize offset = body + *header_size, left = 0;
  for (; n > 0 && offset % ATTACHMENT_ALIGN != 0; offset++)
    if (offset == size || data[offset] != 0)
      return NULL;
  for (gsize i = 0; i < n; i++)
    {
      guint64 length = length_at (data, PRELUDE_WORDS * 4 + i * 8);
      if (length > size - offset - left)
        return NULL;
      left += (gsize)length;
    }
  if (left != size - offset)
    return NULL;
  from->bytes = bytes;
  from->lengths = data + PRELUDE_WORDS * 4;
  from->n_left = n;
  from->next = start + offset;
  from->last = NULL;
  return data + body;
}

GBytes *
message_take_attachment (MessageReader *from)
{
  g_clear_pointer (&from->last, g_bytes_unref);
  if (from->n_left == 0)
    from->unpacker.in.failed = TRUE;
  if (from->unpacker.in.failed)
    return NULL;
  gsize length = (gsize)length_at (from->lengths, 0);
  from->last = g_bytes_new_from_bytes (from->bytes, from->next, length);
  from->lengths += sizeof (guint64);
  from->next += length;
  from->n_left--;
  return from->last;
}

/* What is wrong with the fields. (transfer full) (nullable) */
static char *
read_fields (MessageReader *from, Message *m, const guint8 *header, gsize size)
{
  unpack_begin (&from->unpacker, message_type (m->kind), header, size);
  for (const MessageField *field = kinds[m->kind].fields; field->meaning != NULL; field++)
    {
      message_read_field (from, m, field, m);
      if (from->unpacker.in.failed)
        return g_strdup_printf ("its '%s' is malformed", field->meaning);
    }
  if (!unpack_end (&from->unpacker) || from->n_left > 0)
    return g_strdup ("it has more than its fields");
  const MessageField *fault = message_fault (m);
  return fault == NULL ? NULL : g_strdup_printf ("its '%s' breaks a rule", fault->meaning);
}

gboolean
message_decode (GBytes *bytes, Message *message, GError **error)
{
  return message_decode_at (bytes, 0, message, error);
}

gboolean
message_decode_at (GBytes *bytes, gsize start, Message *message, GError **error)
{
  gsize header_size = 0;
  guint32 kind = kind_at (bytes, start);
  MessageReader from;

  *message = (Message){ 0 };
  if (kind == MESSAGE_NO_KIND || kind >= MESSAGE_KINDS)
    {
      g_set_error (error, MESSAGE_ERROR, MESSAGE_ERROR_MALFORMED, "unknown message %u", kind);
      return FALSE;
    }
  const guint8 *header = split (&from, bytes, start, &header_size);
  if (header == NULL)
    {
      g_set_error (error, MESSAGE_ERROR, MESSAGE_ERROR_MALFORMED,
                   "malformed message '%s': its sizes do not add up", kinds[kind].name);
      return FALSE;
    }
  message->kind = kind;
  message->frame = g_bytes_ref (bytes);
  message->start = start;
  g_autofree char *wrong = read_fields (&from, message, header, header_size);
  g_clear_pointer (&from.last, g_bytes_unref);
  if (wrong == NULL)
    return TRUE;
  g_set_error (error, MESSAGE_ERROR, MESSAGE_ERROR_MALFORMED, "malformed message '%s': %s",
               kinds[kind].name, wrong);
  message_clear (message);
  return FALSE;
}
