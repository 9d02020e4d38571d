/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "say.h"

#include <string.h>

/* What follows the name of a message. A '%' and a letter stand for a field: i id, t text, p path,
 * n number, v version, c count, T the term's number, m members, l loans, r rows, o holds,
 * N numbers. %f{A|B} is A where the flag is set, else B. A kind that is not here has its name
 * only. */
static const char *const formats[MESSAGE_KINDS] = {
  [MESSAGE_HELLO] = "as %i",
  [MESSAGE_JOIN] = "workers: %c",
  [MESSAGE_WELCOME] = "you are %i; roster %T/%v: %m",
  [MESSAGE_ROSTER] = "%T/%v: %m",
  [MESSAGE_GONE] = "%i %f{is silent|refuses}",
  [MESSAGE_STEAL] = "up to %c",
  [MESSAGE_JOBS] = "%l",
  [MESSAGE_RESULT] = "loan %n %p",
  [MESSAGE_ACK] = "loan %n",
  [MESSAGE_VAIN] = "loan %n",
  [MESSAGE_RETURNED] = "loan %n%f{, home|}",
  [MESSAGE_HOLDING] = "loans: %N",
  [MESSAGE_HOLD] = "%o",
  [MESSAGE_UNHOLD] = "%p",
  [MESSAGE_ADOPT] = "loan %n %p",
  [MESSAGE_MISS] = "loan %n",
  [MESSAGE_COVERED] = "%p",
  [MESSAGE_SAVE] = "%r",
  [MESSAGE_SAVED] = "generation %v",
  [MESSAGE_EVENT] = "%t %i %p",
  [MESSAGE_SCAN] = "round %n",
  [MESSAGE_SCANNED] = "round %n",
  [MESSAGE_PUBLISHED] = "generation %n%f{, failed|}",
  [MESSAGE_DRAINED] = "%i",
  [MESSAGE_END] = "code %n",
  [MESSAGE_STEM] = "%t is %p",
  [MESSAGE_TRIAL] = "election %n",
  [MESSAGE_BID] = "election %n%f{, failed|}",
  [MESSAGE_OFFICE] = "%c is of %i%f{, open|}",
  [MESSAGE_ELECT] = "office %c",
  [MESSAGE_CLOSE] = "code %n",
  [MESSAGE_CLOSED] = "generation %n%f{, failed|}",
  [MESSAGE_RELEASED] = "%f{no|yes}",
  [MESSAGE_HAND] = "batch %n: %r",
  [MESSAGE_HANDED] = "batch %n%f{, refused|}",
  [MESSAGE_LAST_WORDS] = "of %i at %p",
  [MESSAGE_SEEK] = "%i",
  [MESSAGE_SOUGHT] = "%i: %f{yes|no}",
  [MESSAGE_CALL] = "%i",
  [MESSAGE_ROUTE] = "%n %f{from|to} %i",
  [MESSAGE_UNROUTE] = "%n",
  [MESSAGE_RUNS] = "%p",
  [MESSAGE_DISOWN] = "loan %n",
  [MESSAGE_RERUN] = "loan %n %p",
  [MESSAGE_TOLD] = "loan %n %p",
  [MESSAGE_CHECKPOINT] = "%t",
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
add_separator (GString *out, guint i, const char *separator)
{
  if (i > 0)
    g_string_append (out, separator);
}

/* An array field; "none" where it is empty. */
static void
add_list (GString *out, const Message *m, char field)
{
  gsize before = out->len;

  for (guint i = 0; field == 'm' && m->members != NULL && i < m->members->len; i++)
    {
      add_separator (out, i, " ");
      add_id (out, &g_array_index (m->members, MessageMember, i).id);
    }
  for (guint i = 0; field == 'l' && m->loans != NULL && i < m->loans->len; i++)
    {
      const Loan *loan = m->loans->pdata[i];
      add_separator (out, i, ", ");
      g_string_append_printf (out, "loan %" G_GUINT64_FORMAT " ", loan->loan);
      add_path (out, loan->path, 0);
    }
  for (guint i = 0; field == 'r' && m->rows != NULL && i < m->rows->len; i++)
    {
      const Row *row = m->rows->pdata[i];
      add_separator (out, i, ", ");
      add_path (out, row->path, row->children);
    }
  for (guint i = 0; field == 'o' && m->holds != NULL && i < m->holds->len; i++)
    {
      const MessageHold *hold = &g_array_index (m->holds, MessageHold, i);
      add_separator (out, i, ", ");
      add_path (out, hold->path, 0);
    }
  for (guint i = 0; field == 'N' && m->numbers != NULL && i < m->numbers->len; i++)
    {
      add_separator (out, i, " ");
      g_string_append_printf (out, "%" G_GUINT64_FORMAT, g_array_index (m->numbers, guint64, i));
    }
  if (out->len == before)
    g_string_append (out, "none");
}

static void
add_field (GString *out, const Message *m, char field)
{
  switch (field)
    {
    case 'i':
      add_id (out, &m->id);
      break;
    case 't':
      g_string_append (out, m->text != NULL ? m->text : "");
      break;
    case 'p':
      add_path (out, m->path, 0);
      break;
    case 'n':
      g_string_append_printf (out, "%" G_GUINT64_FORMAT, m->number);
      break;
    case 'v':
      g_string_append_printf (out, "%" G_GUINT64_FORMAT, m->version);
      break;
    case 'c':
      g_string_append_printf (out, "%" G_GUINT32_FORMAT, m->count);
      break;
    case 'T':
      g_string_append_printf (out, "%" G_GUINT32_FORMAT, m->term.number);
      break;
    default:
      add_list (out, m, field);
    }
}

/* At "{A|B}": adds one of the two and returns its last character. */
static const char *
add_choice (GString *out, const char *at, gboolean flag)
{
  const char *middle = strchr (at, '|'), *end = strchr (at, '}');

  g_assert (*at == '{' && middle != NULL && end != NULL && middle < end);
  if (flag)
    g_string_append_len (out, at + 1, middle - at - 1);
  else
    g_string_append_len (out, middle + 1, end - middle - 1);
  return end;
}

static void
add_fields (GString *out, const Message *m)
{
  for (const char *at = formats[m->kind]; at != NULL && *at != '\0'; at++)
    if (*at != '%')
      g_string_append_c (out, *at);
    else if (*++at == 'f')
      at = add_choice (out, at + 1, m->flag);
    else
      add_field (out, m, *at);
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
  if (kind == MESSAGE_CARGO || kind == MESSAGE_HASTE)
    {
      /* A piece of a message: it is shown where its beginning is here. */
      g_autofree char *carried = say_message (m.value);
      g_string_append_printf (out, " %s%" G_GUINT64_FORMAT " %s", m.flag ? "" : "-", m.number,
                              carried);
    }
  else if (formats[kind] != NULL)
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
