/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the encoding of message.h: one table of header types, one reader per shape of header.
 * Message-write.c is the other half. Pure; trusts nothing. */
#include "message-private.h"

#include <math.h>
#include <string.h>

G_DEFINE_QUARK (satin - message - error - quark, message_error)

static const struct
{
  const char *name, *type;
} kinds[MESSAGE_KINDS] = {
  [MESSAGE_HELLO] = { "hello", "(t" T_DIGEST T_ID "s)" },
  [MESSAGE_JOIN] = { "join", "(ssstu)" },
  [MESSAGE_WELCOME] = { "welcome", "(" T_ID T_TERM "t" T_MEMBERS ")" },
  [MESSAGE_ROSTER] = { "roster", "(" T_ID T_TERM "t" T_MEMBERS ")" },
  [MESSAGE_PING] = { "ping", "()" },
  [MESSAGE_GONE] = { "gone", "(" T_ID "b)" },
  [MESSAGE_STEAL] = { "steal", "(tu)" },
  [MESSAGE_JOBS] = { "jobs", "(ta(tsu" T_DIGEST "d))" },
  [MESSAGE_NONE] = { "none", "(t)" },
  [MESSAGE_RESULT] = { "result", "(ts" T_DIGEST "t)" },
  [MESSAGE_ACK] = { "ack", "(t)" },
  [MESSAGE_VAIN] = { "vain", "(t)" },
  [MESSAGE_RETURNED] = { "returned", "(t)" },
  [MESSAGE_HOLDING] = { "holding", "(at)" },
  [MESSAGE_RECONCILE] = { "reconcile", "()" },
  [MESSAGE_HOLD] = { "hold", "(a(s" T_DIGEST "b))" },
  [MESSAGE_UNHOLD] = { "unhold", "(s)" },
  [MESSAGE_ADOPT] = { "adopt", "(ts" T_DIGEST ")" },
  [MESSAGE_MISS] = { "miss", "(t)" },
  [MESSAGE_COVERED] = { "covered", "(s)" },
  [MESSAGE_START] = { "start", "(" T_DIGEST ")" },
  [MESSAGE_WANT] = { "want", "()" },
  [MESSAGE_CONSTANTS] = { "constants", "(" T_DIGEST "as)" },
  [MESSAGE_SAVE] = { "save", "(a" T_ROW ")" },
  [MESSAGE_BEST] = { "best", "(u)" },
  [MESSAGE_SUSPEND] = { "suspend", "()" },
  [MESSAGE_HALT] = { "halt", "()" },
  [MESSAGE_DRAINED] = { "drained", "()" },
  [MESSAGE_END] = { "end", "(t)" },
  [MESSAGE_STEM] = { "stem", "(ss)" },
  [MESSAGE_MORE] = { "more", "()" },
};

const char *
message_kind_name (MessageKind kind)
{
  return kind > 0 && kind < MESSAGE_KINDS ? kinds[kind].name : "unknown";
}

/* ---- reading ---- */

static Digest
read_digest (GVariant *tuple, gsize index)
{
  g_autoptr (GVariant) child = g_variant_get_child_value (tuple, index);
  guint64 half[2];
  Digest digest;

  g_variant_get (child, T_DIGEST, &half[0], &half[1]);
  half[0] = GUINT64_TO_LE (half[0]);
  half[1] = GUINT64_TO_LE (half[1]);
  memcpy (digest.bytes, half, sizeof half);
  return digest;
}

static NodeId
read_id (GVariant *tuple, gsize index)
{
  NodeId id;

  g_variant_get_child (tuple, index, T_ID, &id.term, &id.number, &id.random);
  return id;
}

static const char *
read_text (GVariant *tuple, gsize index)
{
  g_autoptr (GVariant) child = g_variant_get_child_value (tuple, index);
  return g_variant_get_string (child, NULL); /* into the header's bytes, which outlive this child */
}

static gboolean
text_fits (const char *text)
{
  return strlen (text) <= MESSAGE_TEXT_MAX;
}

static gboolean
weight_is_sane (double weight)
{
  return isfinite (weight) && weight >= 0 && weight <= 1;
}

/* The array at `index`, when it has no more than `max` items, and (if `attachments` is given) as
 * many as those. */
static GVariant *
read_array (GVariant *tuple, gsize index, gsize max, const GPtrArray *attachments)
{
  g_autoptr (GVariant) array = g_variant_get_child_value (tuple, index);
  gsize n = g_variant_n_children (array);

  if (n > max || (attachments != NULL && attachments->len != n))
    return NULL;
  return g_steal_pointer (&array);
}

static gboolean
read_roster (Message *m, GVariant *header)
{
  g_autoptr (GVariant) array = read_array (header, 3, MESSAGE_MEMBERS_MAX, NULL);
  g_autoptr (GVariant) term = g_variant_get_child_value (header, 1);

  if (array == NULL || g_variant_n_children (array) == 0)
    return FALSE;
  m->id = read_id (header, 0);
  g_variant_get_child (term, 0, "u", &m->term.number);
  m->term.opener = read_id (term, 1);
  g_variant_get_child (header, 2, "t", &m->version);
  m->members = g_array_new (FALSE, TRUE, sizeof (MessageMember));
  for (gsize i = 0; i < g_variant_n_children (array); i++)
    {
      g_autoptr (GVariant) item = g_variant_get_child_value (array, i);
      MessageMember member = { .id = read_id (item, 0),
                               .address = read_text (item, 1),
                               .host = read_text (item, 2),
                               .site = read_text (item, 3) };
      g_variant_get_child (item, 4, "u", &member.pid);
      g_variant_get_child (item, 5, "u", &member.workers);
      const MessageMember *last
          = i == 0 ? NULL : &g_array_index (m->members, MessageMember, m->members->len - 1);
      if (!text_fits (member.address) || !text_fits (member.host) || !text_fits (member.site)
          || node_id_is_none (&member.id)
          || (last != NULL && node_id_compare (&last->id, &member.id) >= 0))
        return FALSE;
      g_array_append_val (m->members, member);
    }
  return TRUE;
}

static gboolean
read_jobs (Message *m, GVariant *header, GPtrArray *attachments)
{
  g_autoptr (GVariant) array = read_array (header, 1, MESSAGE_ITEMS_MAX, attachments);

  if (array == NULL)
    return FALSE;
  g_variant_get_child (header, 0, "t", &m->number);
  m->loans = g_ptr_array_new_with_free_func ((GDestroyNotify)loan_free);
  for (gsize i = 0; i < g_variant_n_children (array); i++)
    {
      g_autoptr (GVariant) item = g_variant_get_child_value (array, i);
      const char *path = read_text (item, 1);
      Digest digest = read_digest (item, 3);
      guint64 number;
      guint32 job;
      double weight;

      g_variant_get_child (item, 0, "t", &number);
      g_variant_get_child (item, 2, "u", &job);
      g_variant_get_child (item, 4, "d", &weight);
      if (!path_is_canonical (path) || !weight_is_sane (weight) || number == 0)
        return FALSE;
      g_ptr_array_add (m->loans,
                       loan_new (number, path, job, &digest, weight, attachments->pdata[i]));
    }
  return TRUE;
}

static gboolean
read_rows (Message *m, GVariant *header, GPtrArray *attachments)
{
  g_autoptr (GVariant) array = read_array (header, 0, MESSAGE_ITEMS_MAX, attachments);

  if (array == NULL)
    return FALSE;
  m->rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  for (gsize i = 0; i < g_variant_n_children (array); i++)
    {
      g_autoptr (GVariant) item = g_variant_get_child_value (array, i);
      const char *path = read_text (item, 0);
      const char *type = read_text (item, 7);
      Digest digest = read_digest (item, 2);
      guint32 job, children;
      double weight;
      guint64 work_us;

      g_variant_get_child (item, 1, "u", &job);
      g_variant_get_child (item, 3, "d", &weight);
      g_variant_get_child (item, 4, "t", &work_us);
      g_variant_get_child (item, 6, "u", &children);
      if (!path_is_canonical (path) || !weight_is_sane (weight)
          || (children > 0 && !(text_fits (type) && g_variant_type_string_is_valid (type))))
        return FALSE;
      Row *row
          = children > 0
                ? row_new_kept (path, children, job, &digest, weight, type, attachments->pdata[i])
                : row_new (path, job, &digest, weight, work_us, attachments->pdata[i]);
      row->work_us = work_us;
      row->node = read_id (item, 5);
      g_ptr_array_add (m->rows, row);
    }
  return TRUE;
}

static gboolean
read_holds (Message *m, GVariant *header)
{
  g_autoptr (GVariant) array = read_array (header, 0, MESSAGE_ITEMS_MAX, NULL);

  if (array == NULL)
    return FALSE;
  m->holds = g_array_new (FALSE, TRUE, sizeof (MessageHold));
  for (gsize i = 0; i < g_variant_n_children (array); i++)
    {
      g_autoptr (GVariant) item = g_variant_get_child_value (array, i);
      MessageHold hold = { .path = read_text (item, 0), .digest = read_digest (item, 1) };

      g_variant_get_child (item, 2, "b", &hold.finished);
      if (!path_is_canonical (hold.path))
        return FALSE;
      g_array_append_val (m->holds, hold);
    }
  return TRUE;
}

static gboolean
read_constants (Message *m, GVariant *header, GPtrArray *attachments)
{
  g_autoptr (GVariant) array = read_array (header, 1, MESSAGE_ITEMS_MAX, attachments);

  if (array == NULL)
    return FALSE;
  m->digest = read_digest (header, 0);
  m->constants = g_array_new (FALSE, TRUE, sizeof (MessageConstant));
  for (gsize i = 0; i < g_variant_n_children (array); i++)
    {
      MessageConstant constant = { .name = read_text (array, i), .value = attachments->pdata[i] };
      const MessageConstant *last
          = i == 0 ? NULL : &g_array_index (m->constants, MessageConstant, m->constants->len - 1);

      if (!text_fits (constant.name) || (last != NULL && strcmp (last->name, constant.name) >= 0))
        return FALSE;
      g_bytes_ref (constant.value);
      g_array_append_val (m->constants, constant);
    }
  return TRUE;
}

static gboolean
read_numbers (Message *m, GVariant *header)
{
  g_autoptr (GVariant) array = read_array (header, 0, MESSAGE_ITEMS_MAX * 8, NULL);

  if (array == NULL)
    return FALSE;
  gsize n;
  const guint64 *numbers = g_variant_get_fixed_array (array, &n, sizeof (guint64));
  m->numbers = g_array_new (FALSE, FALSE, sizeof (guint64));
  if (n > 0)
    g_array_append_vals (m->numbers, numbers, (guint)n);
  return TRUE;
}

static gboolean
read_value (Message *m, GPtrArray *attachments)
{
  if (attachments->len != 1)
    return FALSE;
  m->value = g_bytes_ref (attachments->pdata[0]);
  return TRUE;
}

static gboolean
read_path (Message *m, GVariant *header, gsize index)
{
  m->path = read_text (header, index);
  return path_is_canonical (m->path);
}

static gboolean
read_header (Message *m, GVariant *header, GPtrArray *attachments)
{
  switch (m->kind)
    {
    case MESSAGE_HELLO:
      g_variant_get_child (header, 0, "t", &m->number);
      m->digest = read_digest (header, 1);
      m->id = read_id (header, 2);
      m->text = read_text (header, 3);
      return text_fits (m->text);
    case MESSAGE_JOIN:
      m->text = read_text (header, 0);
      m->host = read_text (header, 1);
      m->site = read_text (header, 2);
      g_variant_get_child (header, 3, "t", &m->number);
      g_variant_get_child (header, 4, "u", &m->count);
      return text_fits (m->text) && text_fits (m->host) && text_fits (m->site)
             && m->number <= G_MAXUINT32;
    case MESSAGE_WELCOME:
    case MESSAGE_ROSTER:
      return read_roster (m, header);
    case MESSAGE_GONE:
      m->id = read_id (header, 0);
      g_variant_get_child (header, 1, "b", &m->flag);
      return TRUE;
    case MESSAGE_STEAL:
      g_variant_get (header, "(tu)", &m->number, &m->count);
      return TRUE;
    case MESSAGE_JOBS:
      return read_jobs (m, header, attachments);
    case MESSAGE_RESULT:
      g_variant_get_child (header, 0, "t", &m->number);
      m->digest = read_digest (header, 2);
      g_variant_get_child (header, 3, "t", &m->work_us);
      return read_path (m, header, 1) && read_value (m, attachments);
    case MESSAGE_HOLDING:
      return read_numbers (m, header);
    case MESSAGE_HOLD:
      return read_holds (m, header);
    case MESSAGE_ADOPT:
      g_variant_get_child (header, 0, "t", &m->number);
      m->digest = read_digest (header, 2);
      return read_path (m, header, 1);
    case MESSAGE_UNHOLD:
    case MESSAGE_COVERED:
      return read_path (m, header, 0);
    case MESSAGE_START:
      m->digest = read_digest (header, 0);
      return TRUE;
    case MESSAGE_CONSTANTS:
      return read_constants (m, header, attachments);
    case MESSAGE_SAVE:
      return read_rows (m, header, attachments);
    case MESSAGE_BEST:
      g_variant_get (header, "(u)", &m->count);
      return read_value (m, attachments);
    case MESSAGE_STEM:
      m->text = read_text (header, 0);
      return read_path (m, header, 1);
    case MESSAGE_NONE:
    case MESSAGE_ACK:
    case MESSAGE_VAIN:
    case MESSAGE_RETURNED:
    case MESSAGE_MISS:
    case MESSAGE_END:
      g_variant_get (header, "(t)", &m->number);
      return TRUE;
    default:
      return TRUE; /* nothing but the kind */
    }
}

static gboolean
takes_attachments (MessageKind kind)
{
  return kind == MESSAGE_JOBS || kind == MESSAGE_RESULT || kind == MESSAGE_CONSTANTS
         || kind == MESSAGE_SAVE || kind == MESSAGE_BEST;
}

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

/* Splits the frame. NULL: the sizes do not add up exactly. */
static GPtrArray *
split (GBytes *bytes, guint32 *kind, GBytes **header)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  if (size < PRELUDE_WORDS * 4)
    return NULL;
  *kind = word_at (data, 0);
  gsize header_size = word_at (data, 4), n = word_at (data, 8);
  gsize start = PRELUDE_WORDS * 4 + n * 8;
  if (header_size > MESSAGE_HEADER_MAX || n > MESSAGE_ITEMS_MAX || word_at (data, 12) != 0
      || start > size || header_size > size - start)
    return NULL;

  g_autoptr (GPtrArray) attachments
      = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  gsize offset = start + header_size;
  for (gsize i = 0; i < n; i++)
    {
      guint64 length = length_at (data, PRELUDE_WORDS * 4 + i * 8);
      if (length > size - offset)
        return NULL;
      g_ptr_array_add (attachments, g_bytes_new_from_bytes (bytes, offset, (gsize)length));
      offset += (gsize)length;
    }
  if (offset != size)
    return NULL;
  *header
      = g_bytes_new (data + start, header_size); /* a copy: aligned, and free of the big frame */
  return g_steal_pointer (&attachments);
}

gboolean
message_decode (GBytes *bytes, Message *message, GError **error)
{
  g_auto (Message) m = { 0 };
  g_autoptr (GBytes) header = NULL;
  guint32 kind = 0;

  *message = (Message){ 0 };
  g_autoptr (GPtrArray) attachments = split (bytes, &kind, &header);
  if (attachments == NULL)
    {
      g_set_error_literal (error, MESSAGE_ERROR, MESSAGE_ERROR_MALFORMED,
                           "the sizes of a message do not add up");
      return FALSE;
    }
  if (kind == 0 || kind >= MESSAGE_KINDS || (attachments->len > 0 && !takes_attachments (kind)))
    {
      g_set_error (error, MESSAGE_ERROR, MESSAGE_ERROR_MALFORMED, "unknown message %u", kind);
      return FALSE;
    }
  m.kind = kind;
  m.header = g_variant_ref_sink (
      g_variant_new_from_bytes (G_VARIANT_TYPE (kinds[kind].type), header, FALSE));
  if (G_BYTE_ORDER == G_BIG_ENDIAN && g_variant_is_normal_form (m.header))
    {
      GVariant *swapped = g_variant_byteswap (m.header);
      g_variant_unref (m.header);
      m.header = swapped;
    }
  if (!g_variant_is_normal_form (m.header) || !read_header (&m, m.header, attachments))
    {
      g_set_error (error, MESSAGE_ERROR, MESSAGE_ERROR_MALFORMED, "malformed message '%s'",
                   kinds[kind].name);
      return FALSE;
    }
  *message = m;
  m = (Message){ 0 };
  return TRUE;
}

void
message_clear (Message *message)
{
  g_clear_pointer (&message->value, g_bytes_unref);
  g_clear_pointer (&message->loans, g_ptr_array_unref);
  g_clear_pointer (&message->rows, g_ptr_array_unref);
  g_clear_pointer (&message->members, g_array_unref);
  g_clear_pointer (&message->holds, g_array_unref);
  g_clear_pointer (&message->numbers, g_array_unref);
  for (guint i = 0; message->constants != NULL && i < message->constants->len; i++)
    g_bytes_unref (g_array_index (message->constants, MessageConstant, i).value);
  g_clear_pointer (&message->constants, g_array_unref);
  g_clear_pointer (&message->header, g_variant_unref);
  *message = (Message){ 0 };
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
