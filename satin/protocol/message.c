/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the encoding of message.h: one reader per shape of header, whose types stand in
 * message-kinds.c. Message-write.c is the other half. Pure; trusts nothing. */
#include "message-private.h"

#include <math.h>
#include <string.h>

G_DEFINE_QUARK (satin - message - error - quark, message_error)

/* ---- reading ---- */

static Digest
read_digest (Unpacker *from)
{
  Digest digest;

  unpack_fixed (from, digest.bytes, sizeof digest.bytes);
  return digest;
}

static NodeId
read_id (Unpacker *from)
{
  NodeId id;

  unpack_open (from);
  id.term = unpack_u32 (from);
  id.number = unpack_u32 (from);
  id.random = unpack_u32 (from);
  unpack_close (from);
  return id;
}

/* A text of limited length; a longer one fails. */
static const char *
read_text (Unpacker *from)
{
  const char *text = unpack_text (from);

  from->failed = from->failed || strlen (text) > MESSAGE_TEXT_MAX;
  return text;
}

static const char *
read_path (Unpacker *from)
{
  const char *path = unpack_text (from);

  from->failed = from->failed || !path_is_canonical (path);
  return path;
}

static void
read_event (Unpacker *from, Message *m)
{
  m->work_us = unpack_u64 (from);
  m->host = read_text (from);
  m->number = unpack_u64 (from);
  m->version = unpack_u64 (from);
  m->count = unpack_u32 (from);
}

static double
read_weight (Unpacker *from)
{
  double weight = unpack_double (from);

  from->failed = from->failed || !isfinite (weight) || weight < 0 || weight > 1;
  return weight;
}

/* One more element in the open array, of `max` at most, of which `n` were read? */
static gboolean
read_more (Unpacker *from, guint n, guint max)
{
  if (!unpack_more (from))
    return FALSE;
  from->failed = from->failed || n >= max;
  return !from->failed;
}

static Term
read_term (Unpacker *from)
{
  Term term;

  unpack_open (from);
  term.number = unpack_u32 (from);
  term.opener = read_id (from);
  unpack_close (from);
  return term;
}

static void
read_roster (Unpacker *from, Message *m)
{
  m->id = read_id (from);
  m->term = read_term (from);
  m->version = unpack_u64 (from);
  m->members = g_array_new (FALSE, TRUE, sizeof (MessageMember));
  unpack_open (from);
  while (read_more (from, m->members->len, MESSAGE_MEMBERS_MAX))
    {
      const MessageMember *last
          = m->members->len == 0 ? NULL
                                 : &g_array_index (m->members, MessageMember, m->members->len - 1);
      MessageMember member;
      unpack_open (from);
      member.id = read_id (from);
      member.address = read_text (from);
      member.host = read_text (from);
      member.site = read_text (from);
      member.pid = unpack_u32 (from);
      member.workers = unpack_u32 (from);
      unpack_close (from);
      if (node_id_is_none (&member.id)
          || (last != NULL && node_id_compare (&last->id, &member.id) >= 0))
        from->failed = TRUE;
      g_array_append_val (m->members, member);
    }
  unpack_close (from);
  from->failed = from->failed || m->members->len == 0;
}

/* The attachment of item `i`; NULL: there are too few. */
static GBytes *
attachment (Unpacker *from, const GPtrArray *attachments, guint i)
{
  from->failed = from->failed || i >= attachments->len;
  return from->failed ? NULL : attachments->pdata[i];
}

static void
read_jobs (Unpacker *from, Message *m, const GPtrArray *attachments)
{
  m->loans = g_ptr_array_new_with_free_func ((GDestroyNotify)loan_free);
  m->number = unpack_u64 (from);
  m->flag = unpack_bool (from);
  unpack_open (from);
  while (read_more (from, m->loans->len, attachments->len))
    {
      unpack_open (from);
      guint64 number = unpack_u64 (from);
      const char *path = read_path (from);
      guint32 job = unpack_u32 (from);
      Digest digest = read_digest (from);
      double weight = read_weight (from);
      unpack_close (from);
      GBytes *args = attachment (from, attachments, m->loans->len);
      from->failed = from->failed || number == 0;
      if (!from->failed)
        g_ptr_array_add (m->loans, loan_new (number, path, job, &digest, weight, args));
    }
  unpack_close (from);
  from->failed = from->failed || m->loans->len != attachments->len;
}

static void
read_rows (Unpacker *from, Message *m, const GPtrArray *attachments)
{
  m->rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  unpack_open (from);
  while (read_more (from, m->rows->len, attachments->len))
    {
      unpack_open (from);
      const char *path = read_path (from);
      guint32 job = unpack_u32 (from);
      Digest digest = read_digest (from);
      double weight = read_weight (from);
      guint64 work_us = unpack_u64 (from);
      NodeId node = read_id (from);
      guint32 children = unpack_u32 (from);
      const char *type = read_text (from);
      unpack_close (from);
      from->failed = from->failed || (children > 0 && !g_variant_type_string_is_valid (type));
      GBytes *value = attachment (from, attachments, m->rows->len);
      if (value == NULL)
        break;
      Row *row = children > 0 ? row_new_kept (path, children, job, &digest, weight, type, value)
                              : row_new (path, job, &digest, weight, work_us, value);
      row->work_us = work_us;
      row->node = node;
      g_ptr_array_add (m->rows, row);
    }
  unpack_close (from);
  from->failed = from->failed || m->rows->len != attachments->len;
}

/* `n`: so many items the message has. */
static void
read_speaks (Unpacker *from, Message *m, guint n)
{
  unpack_open (from);
  while (read_more (from, m->speaks == NULL ? 0 : m->speaks->len, MESSAGE_SPEAKS_MAX))
    {
      MessageSpeaks speaks;
      unpack_open (from);
      speaks.item = unpack_u32 (from);
      speaks.digest = read_digest (from);
      speaks.length = unpack_u64 (from);
      unpack_close (from);
      from->failed = from->failed || speaks.item >= n || digest_is_zero (&speaks.digest);
      if (m->speaks == NULL)
        m->speaks = g_array_new (FALSE, FALSE, sizeof (MessageSpeaks));
      g_array_append_val (m->speaks, speaks);
    }
  unpack_close (from);
}

static void
read_holds (Unpacker *from, Message *m)
{
  m->holds = g_array_new (FALSE, TRUE, sizeof (MessageHold));
  unpack_open (from);
  while (read_more (from, m->holds->len, MESSAGE_ITEMS_MAX))
    {
      MessageHold hold;
      unpack_open (from);
      hold.path = read_path (from);
      hold.digest = read_digest (from);
      hold.finished = unpack_u32 (from);
      unpack_close (from);
      g_array_append_val (m->holds, hold);
    }
  unpack_close (from);
}

static void
read_constants (Unpacker *from, Message *m, const GPtrArray *attachments)
{
  const char *last = NULL;

  m->digest = read_digest (from);
  m->constants = g_array_new (FALSE, TRUE, sizeof (MessageConstant));
  unpack_open (from);
  while (read_more (from, m->constants->len, attachments->len))
    {
      MessageConstant constant
          = { .name = read_text (from), .value = attachments->pdata[m->constants->len] };
      from->failed = from->failed || (last != NULL && strcmp (last, constant.name) >= 0);
      last = constant.name;
      g_bytes_ref (constant.value);
      g_array_append_val (m->constants, constant);
    }
  unpack_close (from);
  from->failed = from->failed || m->constants->len != attachments->len;
}

static void
read_numbers (Unpacker *from, Message *m)
{
  m->numbers = g_array_new (FALSE, FALSE, sizeof (guint64));
  unpack_open (from);
  while (read_more (from, m->numbers->len, MESSAGE_NUMBERS_MAX))
    {
      guint64 number = unpack_u64 (from);
      g_array_append_val (m->numbers, number);
    }
  unpack_close (from);
}

static void
read_value (Unpacker *from, Message *m, const GPtrArray *attachments)
{
  if (attachments->len != 1)
    from->failed = TRUE;
  else
    m->value = g_bytes_ref (attachments->pdata[0]);
}

/* What is said of the office of coordinator. */
static void
read_office (Unpacker *from, Message *m)
{
  if (m->kind == MESSAGE_BID)
    {
      m->number = unpack_u64 (from);
      m->version = unpack_u64 (from);
      m->work_us = unpack_u64 (from);
    }
  if (m->kind == MESSAGE_OFFICE || m->kind == MESSAGE_DRAINED)
    m->id = read_id (from);
  if (m->kind == MESSAGE_OFFICE)
    {
      m->term = read_term (from);
      m->version = unpack_u64 (from);
    }
  if (m->kind != MESSAGE_BID)
    m->count = unpack_u32 (from);
  if (m->kind == MESSAGE_DRAINED)
    return;
  m->flag = unpack_bool (from);
  if (m->kind != MESSAGE_OFFICE)
    m->text = read_text (from);
}

/* Routes and those who look for one. */
static void
read_route (Unpacker *from, Message *m, const GPtrArray *attachments)
{
  gboolean asks = m->kind == MESSAGE_SEEK || m->kind == MESSAGE_SOUGHT || m->kind == MESSAGE_CALL;

  if (!asks)
    m->number = unpack_u64 (from);
  if (!asks)
    m->flag = unpack_bool (from);
  if (asks || m->kind == MESSAGE_ROUTE)
    m->id = read_id (from);
  if (m->kind == MESSAGE_SOUGHT)
    {
      m->flag = unpack_bool (from);
      m->count = unpack_u32 (from);
    }
  if (m->kind == MESSAGE_CARGO || m->kind == MESSAGE_HASTE || m->kind == MESSAGE_CREDIT)
    m->version = unpack_u64 (from);
  if (m->kind == MESSAGE_CARGO || m->kind == MESSAGE_HASTE)
    read_value (from, m, attachments);
}

static void
read_header (Unpacker *from, Message *m, const GPtrArray *attachments)
{
  switch (m->kind)
    {
    case MESSAGE_HELLO:
      m->number = unpack_u64 (from);
      m->digest = read_digest (from);
      m->id = read_id (from);
      m->text = read_text (from);
      m->host = read_text (from);
      break;
    case MESSAGE_JOIN:
      m->text = read_text (from);
      m->host = read_text (from);
      m->site = read_text (from);
      m->number = unpack_u64 (from);
      m->count = unpack_u32 (from);
      m->flag = unpack_bool (from);
      from->failed = from->failed || m->number > G_MAXUINT32;
      break;
    case MESSAGE_WELCOME:
    case MESSAGE_ROSTER:
      read_roster (from, m);
      break;
    case MESSAGE_GONE:
      m->id = read_id (from);
      m->flag = unpack_bool (from);
      break;
    case MESSAGE_STEAL:
      m->number = unpack_u64 (from);
      m->count = unpack_u32 (from);
      break;
    case MESSAGE_JOBS:
      read_jobs (from, m, attachments);
      break;
    case MESSAGE_RESULT:
      m->number = unpack_u64 (from);
      m->path = read_path (from);
      m->digest = read_digest (from);
      m->work_us = unpack_u64 (from);
      m->risk_us = unpack_u64 (from);
      from->failed = from->failed || m->risk_us > m->work_us;
      read_speaks (from, m, 1);
      read_value (from, m, attachments);
      break;
    case MESSAGE_HOLDING:
      read_numbers (from, m);
      m->flag = unpack_bool (from);
      break;
    case MESSAGE_WORK:
      m->work_us = unpack_u64 (from);
      m->risk_us = unpack_u64 (from);
      m->count = unpack_u32 (from);
      read_numbers (from, m);
      break;
    case MESSAGE_EVENT:
    case MESSAGE_LAST_WORDS:
      m->id = read_id (from);
      m->path = read_path (from);
      m->text = read_text (from);
      if (m->kind == MESSAGE_EVENT)
        read_event (from, m);
      break;
    case MESSAGE_CHECKPOINT:
      m->text = read_text (from);
      break;
    case MESSAGE_RELEASED:
      m->flag = unpack_bool (from);
      break;
    case MESSAGE_RETURNED:
    case MESSAGE_PUBLISHED:
    case MESSAGE_GOODBYE:
    case MESSAGE_END:
    case MESSAGE_HANDED:
    case MESSAGE_CLOSED:
    case MESSAGE_CLOSE:
      m->number = unpack_u64 (from);
      m->flag = unpack_bool (from);
      if (m->kind == MESSAGE_CLOSED || m->kind == MESSAGE_CLOSE)
        m->count = unpack_u32 (from);
      if (m->kind == MESSAGE_CLOSE)
        read_value (from, m, attachments);
      break;
    case MESSAGE_SAVED:
    case MESSAGE_NOTED:
      m->number = unpack_u64 (from);
      m->version = unpack_u64 (from);
      m->count = unpack_u32 (from);
      if (m->kind == MESSAGE_NOTED)
        m->term = read_term (from);
      break;
    case MESSAGE_DRAINED:
    case MESSAGE_BID:
    case MESSAGE_OFFICE:
    case MESSAGE_ELECT:
      read_office (from, m);
      break;
    case MESSAGE_HOLD:
      read_holds (from, m);
      break;
    case MESSAGE_RUNS:
      m->path = read_path (from);
      m->digest = read_digest (from);
      break;
    case MESSAGE_ADOPT:
      m->number = unpack_u64 (from);
      m->path = read_path (from);
      m->digest = read_digest (from);
      break;
    case MESSAGE_RERUN:
    case MESSAGE_TOLD:
      m->number = unpack_u64 (from);
      m->path = read_path (from);
      break;
    case MESSAGE_UNHOLD:
    case MESSAGE_COVERED:
      m->path = read_path (from);
      break;
    case MESSAGE_START:
    case MESSAGE_FETCH:
      m->digest = read_digest (from);
      break;
    case MESSAGE_CONSTANTS:
      read_constants (from, m, attachments);
      break;
    case MESSAGE_SAVE:
    case MESSAGE_HAND:
      read_rows (from, m, attachments);
      m->number = unpack_u64 (from);
      if (m->kind == MESSAGE_SAVE)
        m->count = unpack_u32 (from);
      read_speaks (from, m, m->rows->len);
      break;
    case MESSAGE_BYTES:
      m->digest = read_digest (from);
      m->flag = unpack_bool (from);
      read_value (from, m, attachments);
      break;
    case MESSAGE_BEST:
      m->count = unpack_u32 (from);
      read_value (from, m, attachments);
      break;
    case MESSAGE_STEM:
      m->text = unpack_text (from);
      m->path = read_path (from);
      break;
    case MESSAGE_NONE:
    case MESSAGE_REPORTED:
    case MESSAGE_ACK:
    case MESSAGE_VAIN:
    case MESSAGE_DISOWN:
    case MESSAGE_SPARE:
    case MESSAGE_MISS:
    case MESSAGE_PUBLISH:
    case MESSAGE_TRIAL:
    case MESSAGE_SCAN:
    case MESSAGE_SCANNED:
    case MESSAGE_SUSPEND:
    case MESSAGE_LEAVE:
      m->number = unpack_u64 (from);
      break;
    case MESSAGE_SEEK:
    case MESSAGE_SOUGHT:
    case MESSAGE_CALL:
    case MESSAGE_ROUTE:
    case MESSAGE_CARGO:
    case MESSAGE_HASTE:
    case MESSAGE_CREDIT:
    case MESSAGE_UNROUTE:
      read_route (from, m, attachments);
      break;
    default:
      break; /* nothing but the kind */
    }
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

/* Splits the frame. `attachments` (out, transfer full, nullable): most have none. FALSE: the sizes
 * do not add up exactly. */
static gboolean
split (GBytes *bytes, guint32 *kind, const guint8 **header, gsize *header_size,
       GPtrArray **attachments)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  if (size < PRELUDE_WORDS * 4)
    return FALSE;
  *kind = word_at (data, 0);
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

gboolean
message_decode (GBytes *bytes, Message *message, GError **error)
{
  static const GPtrArray none = { NULL, 0 };
  const guint8 *header = NULL;
  gsize header_size = 0;
  guint32 kind = 0;
  Unpacker unpacker;

  *message = (Message){ 0 };
  g_autoptr (GPtrArray) some = NULL;
  if (!split (bytes, &kind, &header, &header_size, &some))
    {
      g_set_error_literal (error, MESSAGE_ERROR, MESSAGE_ERROR_MALFORMED,
                           "the sizes of a message do not add up");
      return FALSE;
    }
  const GPtrArray *attachments = some != NULL ? some : &none;
  if (kind == 0 || kind >= MESSAGE_KINDS
      || (attachments->len > 0 && !message_takes_attachments (kind)))
    {
      g_set_error (error, MESSAGE_ERROR, MESSAGE_ERROR_MALFORMED, "unknown message %u", kind);
      return FALSE;
    }
  message->kind = kind;
  message->frame = g_bytes_ref (bytes);
  unpack_begin (&unpacker, message_type (kind), header, header_size);
  read_header (&unpacker, message, attachments);
  if (unpack_end (&unpacker))
    return TRUE;
  g_set_error (error, MESSAGE_ERROR, MESSAGE_ERROR_MALFORMED, "malformed message '%s'",
               message_kind_name (kind));
  message_clear (message);
  return FALSE;
}
