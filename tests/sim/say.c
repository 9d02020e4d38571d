/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "say.h"

#include "mesh/session-frame.h"
#include "messages/message-fields.h"

#include <string.h>

/* The text after the name of a message, from messages.def: {field}, or {flag?if set|else}. */
static const char *const texts[MESSAGE_KINDS] = {
#define F(...)
#define MESSAGE(kind, name, layer, class, from, to, text, fields) [MESSAGE_##kind] = text,
#include "messages/messages.def"
};

static void
add_path (GString *out, const char *path, guint32 children)
{
  g_string_append (out, path == NULL || path[0] == '\0' ? "/" : path);
  if (children > 0)
    g_string_append_printf (out, " after %" G_GUINT32_FORMAT " children", children);
}

static void
add_id (GString *out, const NodeId *id)
{
  char text[NODE_ID_TEXT_MAX];

  g_string_append (out, node_id_is_none (id) ? "nobody" : node_id_show (id, text));
}

static void
add_item (GString *out, const Message *m, MessageShape shape, guint i)
{
  switch ((int)shape)
    {
    case SHAPE_IDS:
      add_id (out, &g_array_index (m->ids, NodeId, i));
      break;
    case SHAPE_MEMBERS:
    case SHAPE_JOINERS:
      add_id (out, &g_array_index (m->members, MessageMember, i).id);
      break;
    case SHAPE_LOANS:
      g_string_append_printf (out, "loan %" G_GUINT64_FORMAT " ",
                              ((const Loan *)m->loans->pdata[i])->loan);
      add_path (out, ((const Loan *)m->loans->pdata[i])->path, 0);
      break;
    case SHAPE_ROWS:
      add_path (out, ((const Row *)m->rows->pdata[i])->path,
                ((const Row *)m->rows->pdata[i])->children);
      break;
    case SHAPE_HOLDS:
      if (g_array_index (m->holds, MessageHold, i).finished == MESSAGE_HOLDS_NOTHING)
        g_string_append (out, "nothing at ");
      add_path (out, g_array_index (m->holds, MessageHold, i).path, 0);
      break;
    case SHAPE_NUMBERS:
      g_string_append_printf (out, "%" G_GUINT64_FORMAT, g_array_index (m->numbers, guint64, i));
      break;
    default:
      g_assert_not_reached ();
    }
}

/* Writes "none" for an empty list. */
static void
add_list (GString *out, const Message *m, MessageShape shape)
{
  gboolean words = shape == SHAPE_MEMBERS || shape == SHAPE_JOINERS || shape == SHAPE_IDS
                   || shape == SHAPE_NUMBERS;
  guint n = shape == SHAPE_LOANS                               ? m->loans->len
            : shape == SHAPE_ROWS                              ? m->rows->len
            : shape == SHAPE_MEMBERS || shape == SHAPE_JOINERS ? m->members->len
            : shape == SHAPE_IDS                               ? m->ids->len
            : shape == SHAPE_HOLDS                             ? m->holds->len
                                                               : m->numbers->len;

  for (guint i = 0; i < n; i++)
    {
      g_string_append (out, i == 0 ? "" : words ? " " : ", ");
      add_item (out, m, shape, i);
    }
  if (n == 0)
    g_string_append (out, "none");
}

static const MessageField *
find_field (MessageKind kind, const char *name, gsize length)
{
  const MessageField *field = message_fields (kind);

  while (field->meaning != NULL
         && (strlen (field->meaning) != length || strncmp (field->meaning, name, length) != 0))
    field++;
  if (field->meaning == NULL)
    g_error ("the text of '%s' names '%.*s', which is no field", message_kind_name (kind),
             (int)length, name);
  return field;
}

static void
add_field (GString *out, const Message *m, const MessageField *field)
{
  const void *at = (const char *)m + field->offset;

  switch ((int)field->shape)
    {
    case SHAPE_U32:
      g_string_append_printf (out, "%" G_GUINT32_FORMAT, *(const guint32 *)at);
      break;
    case SHAPE_U64:
      g_string_append_printf (out, "%" G_GUINT64_FORMAT, *(const guint64 *)at);
      break;
    case SHAPE_ID:
      add_id (out, at);
      break;
    case SHAPE_TERM:
      g_string_append_printf (out, "%" G_GUINT32_FORMAT, ((const Term *)at)->number);
      break;
    case SHAPE_TEXT:
    case SHAPE_NAME:
      g_string_append (out, *(const char *const *)at);
      break;
    case SHAPE_PATH:
      add_path (out, *(const char *const *)at, 0);
      break;
    default:
      add_list (out, m, field->shape);
    }
}

static gboolean
is_set (const Message *m, const MessageField *field)
{
  const void *at = (const char *)m + field->offset;

  return field->shape == SHAPE_ID ? !node_id_is_none (at) : *(const gboolean *)at;
}

/* `at`: the character after "{". Returns the closing bracket. */
static const char *
add_part (GString *out, const Message *m, const char *at)
{
  gsize length = strcspn (at, "?}");
  const MessageField *field = find_field (m->kind, at, length);
  const char *end = strchr (at, '}');

  g_assert (end != NULL && (at[length] == '?' || field->shape != SHAPE_FLAG));
  if (at[length] == '?')
    {
      const char *first = at + length + 1, *middle = strchr (first, '|');
      g_assert (middle != NULL && middle < end);
      if (is_set (m, field))
        g_string_append_len (out, first, middle - first);
      else
        g_string_append_len (out, middle + 1, end - middle - 1);
    }
  else
    add_field (out, m, field);
  return end;
}

static void
add_fields (GString *out, const Message *m)
{
  for (const char *at = texts[m->kind]; *at != '\0'; at++)
    if (*at == '{')
      at = add_part (out, m, at + 1);
    else
      g_string_append_c (out, *at);
}

GBytes *
say_content (GBytes *bytes)
{
  SessionFrame frame;

  if (message_kind_of (bytes) < SESSION_FRAME_HELLO)
    return g_bytes_ref (bytes);
  if (session_frame_decode (bytes, &frame) != NULL)
    return NULL;
  return frame.kind == SESSION_FRAME_DATA && frame.payload == frame.total
             ? g_bytes_new_from_bytes (bytes, SESSION_FRAME_DATA_HEAD, frame.payload)
             : NULL;
}

guint32
say_kind (GBytes *bytes)
{
  guint32 kind = message_kind_of (bytes);
  SessionFrame frame;

  if (kind < SESSION_FRAME_HELLO)
    return kind;
  if (kind != SESSION_FRAME_DATA || session_frame_decode (bytes, &frame) != NULL
      || frame.payload != frame.total || frame.payload < sizeof kind)
    return MESSAGE_NO_KIND;
  memcpy (&kind, (const guint8 *)g_bytes_get_data (bytes, NULL) + SESSION_FRAME_DATA_HEAD,
          sizeof kind);
  return GUINT32_FROM_LE (kind);
}

guint64
say_number (GBytes *bytes, SessionStream *stream)
{
  SessionFrame frame;

  if (message_kind_of (bytes) != SESSION_FRAME_DATA || session_frame_decode (bytes, &frame) != NULL)
    return 0;
  *stream = frame.stream;
  return frame.number;
}

char *
say_frame (GBytes *bytes)
{
  static const char *const names[] = { "HELLO of a session", "a part", "nothing but ACK", "BYE" };
  g_autoptr (GBytes) content = say_content (bytes);

  return content != NULL ? say_message (content)
                         : g_strdup (names[message_kind_of (bytes) - SESSION_FRAME_HELLO]);
}

char *
say_message (GBytes *bytes)
{
  guint32 kind = message_kind_of (bytes);
  g_autofree char *name = g_ascii_strup (message_kind_name ((MessageKind)kind), -1);
  GString *out = g_string_new (name);
  g_auto (Message) m = { 0 };

  if (!message_decode (bytes, &m, NULL))
    return g_string_free (out, FALSE);
  if (kind == MESSAGE_RELAYED)
    {
      g_autofree char *carried
          = g_bytes_get_size (m.value) > 0 ? say_frame (m.value) : g_strdup ("ends");
      g_string_append_printf (out, " %s%" G_GUINT64_FORMAT " %s", m.flag ? "" : "-", m.number,
                              carried);
    }
  else if (texts[kind][0] != '\0')
    {
      g_string_append_c (out, ' ');
      add_fields (out, &m);
    }
  return g_string_free (out, FALSE);
}

GBytes *
say_join (const GPtrArray *parts)
{
  gsize all = 0, at = 0;

  if (parts->len == 1)
    return g_bytes_ref (parts->pdata[0]);
  for (guint i = 0; i < parts->len; i++)
    all += g_bytes_get_size (parts->pdata[i]);
  guint8 *joined = g_malloc (all);
  for (guint i = 0; i < parts->len; i++)
    {
      gsize size;
      const guint8 *data = g_bytes_get_data (parts->pdata[i], &size);
      if (size > 0)
        memcpy (joined + at, data, size);
      at += size;
    }
  return g_bytes_new_take (joined, all);
}
