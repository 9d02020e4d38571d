/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the encoding of message.h: one writer per shape of header; and goes through the paths of a
 * message. Message.c reads it. Pure. */
#include "message-private.h"

#include "value/shared.h"

#include <string.h>

static void
write_digest (Packer *to, const Digest *digest)
{
  pack_fixed (to, digest->bytes, sizeof digest->bytes);
}

/* A text that is longer than the reader takes is cut: its link would be closed. The rest of a
 * sentence can be missed. */
static void
write_text (Packer *to, const char *text)
{
  gsize size = strlen (text);

  if (size <= MESSAGE_TEXT_MAX)
    {
      pack_text (to, text);
      return;
    }
  for (size = MESSAGE_TEXT_MAX; size > 0 && ((guint8)text[size] & 0xc0) == 0x80;) /* UTF-8 */
    size--;
  g_autofree char *cut = g_strndup (text, size);
  pack_text (to, cut);
}

static void
write_id (Packer *to, const NodeId *id)
{
  pack_open (to);
  pack_u32 (to, id->term);
  pack_u32 (to, id->number);
  pack_u32 (to, id->random);
  pack_close (to);
}

static void
write_event (Packer *to, const Message *m)
{
  pack_u64 (to, m->work_us);
  write_text (to, m->host);
  pack_u64 (to, m->number);
  pack_u64 (to, m->version);
  pack_u32 (to, m->count);
}

static void
write_term (Packer *to, const Term *term)
{
  pack_open (to);
  pack_u32 (to, term->number);
  write_id (to, &term->opener);
  pack_close (to);
}

static void
write_roster (Packer *to, const Message *m)
{
  write_id (to, &m->id);
  write_term (to, &m->term);
  pack_u64 (to, m->version);
  pack_open (to);
  for (guint i = 0; m->members != NULL && i < m->members->len; i++)
    {
      const MessageMember *member = &g_array_index (m->members, MessageMember, i);
      pack_open (to);
      write_id (to, &member->id);
      write_text (to, member->address);
      write_text (to, member->host);
      write_text (to, member->site);
      pack_u32 (to, member->pid);
      pack_u32 (to, member->workers);
      pack_close (to);
    }
  pack_close (to);
}

static void
write_jobs (Packer *to, const Message *m)
{
  pack_u64 (to, m->number);
  pack_bool (to, m->flag);
  pack_open (to);
  for (guint i = 0; i < m->loans->len; i++)
    {
      const Loan *loan = g_ptr_array_index (m->loans, i);
      pack_open (to);
      pack_u64 (to, loan->loan);
      pack_text (to, loan->path);
      pack_u32 (to, loan->job);
      write_digest (to, &loan->digest);
      pack_double (to, loan->weight);
      pack_close (to);
    }
  pack_close (to);
}

static void
write_rows (Packer *to, const Message *m)
{
  pack_open (to);
  for (guint i = 0; i < m->rows->len; i++)
    {
      const Row *row = g_ptr_array_index (m->rows, i);
      pack_open (to);
      pack_text (to, row->path);
      pack_u32 (to, row->job);
      write_digest (to, &row->digest);
      pack_double (to, row->weight);
      pack_u64 (to, row->work_us);
      write_id (to, &row->node);
      pack_u32 (to, row->children);
      pack_text (to, row->type != NULL ? row->type : "");
      pack_close (to);
    }
  pack_close (to);
}

static void
write_list (Packer *to, guint32 item, const GPtrArray *shares)
{
  for (guint i = 0; shares != NULL && i < shares->len; i++)
    {
      pack_open (to);
      pack_u32 (to, item);
      write_digest (to, shared_digest (shares->pdata[i]));
      pack_u64 (to, shared_length (shares->pdata[i]));
      pack_close (to);
    }
}

static void
write_speaks (Packer *to, const Message *m)
{
  pack_open (to);
  write_list (to, 0, m->shares);
  for (guint i = 0; m->rows != NULL && i < m->rows->len; i++)
    write_list (to, i, ((const Row *)m->rows->pdata[i])->shares);
  pack_close (to);
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

static void
write_holds (Packer *to, const Message *m)
{
  pack_open (to);
  for (guint i = 0; i < m->holds->len; i++)
    {
      const MessageHold *hold = &g_array_index (m->holds, MessageHold, i);
      pack_open (to);
      pack_text (to, hold->path);
      write_digest (to, &hold->digest);
      pack_u32 (to, hold->finished);
      pack_close (to);
    }
  pack_close (to);
}

static void
write_constants (Packer *to, const Message *m)
{
  write_digest (to, &m->digest);
  pack_open (to);
  for (guint i = 0; i < m->constants->len; i++)
    pack_text (to, g_array_index (m->constants, MessageConstant, i).name);
  pack_close (to);
}

static void
write_numbers (Packer *to, const Message *m)
{
  pack_open (to);
  for (guint i = 0; m->numbers != NULL && i < m->numbers->len; i++)
    pack_u64 (to, g_array_index (m->numbers, guint64, i));
  pack_close (to);
}

static void
write_office (Packer *to, const Message *m)
{
  if (m->kind == MESSAGE_BID)
    {
      pack_u64 (to, m->number);
      pack_u64 (to, m->version);
      pack_u64 (to, m->work_us);
    }
  if (m->kind == MESSAGE_OFFICE)
    {
      write_id (to, &m->id);
      write_term (to, &m->term);
      pack_u64 (to, m->version);
    }
  if (m->kind != MESSAGE_BID)
    pack_u32 (to, m->count);
  pack_bool (to, m->flag);
  if (m->kind != MESSAGE_OFFICE)
    write_text (to, m->text != NULL ? m->text : "");
}

static void
write_route (Packer *to, const Message *m)
{
  gboolean asks = m->kind == MESSAGE_SEEK || m->kind == MESSAGE_SOUGHT || m->kind == MESSAGE_CALL;

  if (!asks)
    pack_u64 (to, m->number);
  if (!asks)
    pack_bool (to, m->flag);
  if (asks || m->kind == MESSAGE_ROUTE)
    write_id (to, &m->id);
  if (m->kind == MESSAGE_SOUGHT)
    {
      pack_bool (to, m->flag);
      pack_u32 (to, m->count);
    }
  if (m->kind == MESSAGE_CARGO || m->kind == MESSAGE_HASTE || m->kind == MESSAGE_CREDIT)
    pack_u64 (to, m->version);
}

static void
write_header (Packer *to, const Message *m)
{
  switch (m->kind)
    {
    case MESSAGE_HELLO:
      pack_u64 (to, m->number);
      write_digest (to, &m->digest);
      write_id (to, &m->id);
      write_text (to, m->text);
      write_text (to, m->host);
      break;
    case MESSAGE_JOIN:
      write_text (to, m->text);
      write_text (to, m->host);
      write_text (to, m->site);
      pack_u64 (to, m->number);
      pack_u32 (to, m->count);
      pack_bool (to, m->flag);
      break;
    case MESSAGE_WELCOME:
    case MESSAGE_ROSTER:
      write_roster (to, m);
      break;
    case MESSAGE_GONE:
      write_id (to, &m->id);
      pack_bool (to, m->flag);
      break;
    case MESSAGE_STEAL:
      pack_u64 (to, m->number);
      pack_u32 (to, m->count);
      break;
    case MESSAGE_JOBS:
      write_jobs (to, m);
      break;
    case MESSAGE_RESULT:
      pack_u64 (to, m->number);
      pack_text (to, m->path);
      write_digest (to, &m->digest);
      pack_u64 (to, m->work_us);
      pack_u64 (to, m->risk_us);
      write_speaks (to, m);
      break;
    case MESSAGE_HOLDING:
      write_numbers (to, m);
      pack_bool (to, m->flag);
      break;
    case MESSAGE_WORK:
      pack_u64 (to, m->work_us);
      pack_u64 (to, m->risk_us);
      pack_u32 (to, m->count);
      write_numbers (to, m);
      break;
    case MESSAGE_EVENT:
    case MESSAGE_LAST_WORDS:
      write_id (to, &m->id);
      pack_text (to, m->path);
      write_text (to, m->text);
      if (m->kind == MESSAGE_EVENT)
        write_event (to, m);
      break;
    case MESSAGE_CHECKPOINT:
      pack_text (to, m->text);
      break;
    case MESSAGE_RELEASED:
      pack_bool (to, m->flag);
      break;
    case MESSAGE_RETURNED:
    case MESSAGE_PUBLISHED:
    case MESSAGE_GOODBYE:
    case MESSAGE_END:
    case MESSAGE_HANDED:
    case MESSAGE_CLOSED:
    case MESSAGE_CLOSE:
      pack_u64 (to, m->number);
      pack_bool (to, m->flag);
      if (m->kind == MESSAGE_CLOSED || m->kind == MESSAGE_CLOSE)
        pack_u32 (to, m->count);
      break;
    case MESSAGE_SAVED:
    case MESSAGE_NOTED:
      pack_u64 (to, m->number);
      pack_u64 (to, m->version);
      pack_u32 (to, m->count);
      if (m->kind == MESSAGE_NOTED)
        write_term (to, &m->term);
      break;
    case MESSAGE_DRAINED:
      write_id (to, &m->id);
      pack_u32 (to, m->count);
      break;
    case MESSAGE_BID:
    case MESSAGE_OFFICE:
    case MESSAGE_ELECT:
      write_office (to, m);
      break;
    case MESSAGE_HOLD:
      write_holds (to, m);
      break;
    case MESSAGE_RUNS:
      pack_text (to, m->path);
      write_digest (to, &m->digest);
      break;
    case MESSAGE_ADOPT:
      pack_u64 (to, m->number);
      pack_text (to, m->path);
      write_digest (to, &m->digest);
      break;
    case MESSAGE_RERUN:
    case MESSAGE_TOLD:
      pack_u64 (to, m->number);
      pack_text (to, m->path);
      break;
    case MESSAGE_UNHOLD:
    case MESSAGE_COVERED:
      pack_text (to, m->path);
      break;
    case MESSAGE_START:
    case MESSAGE_FETCH:
      write_digest (to, &m->digest);
      break;
    case MESSAGE_CONSTANTS:
      write_constants (to, m);
      break;
    case MESSAGE_SAVE:
    case MESSAGE_HAND:
      write_rows (to, m);
      pack_u64 (to, m->number);
      if (m->kind == MESSAGE_SAVE)
        pack_u32 (to, m->count);
      write_speaks (to, m);
      break;
    case MESSAGE_BYTES:
      write_digest (to, &m->digest);
      pack_bool (to, m->flag);
      break;
    case MESSAGE_BEST:
      pack_u32 (to, m->count);
      break;
    case MESSAGE_STEM:
      write_text (to, m->text);
      pack_text (to, m->path);
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
      pack_u64 (to, m->number);
      break;
    case MESSAGE_SEEK:
    case MESSAGE_SOUGHT:
    case MESSAGE_CALL:
    case MESSAGE_ROUTE:
    case MESSAGE_CARGO:
    case MESSAGE_HASTE:
    case MESSAGE_CREDIT:
    case MESSAGE_UNROUTE:
      write_route (to, m);
      break;
    default:
      break; /* nothing but the kind */
    }
}

static void
attach (GPtrArray *parts, GBytes *bytes)
{
  g_ptr_array_add (parts, bytes != NULL ? g_bytes_ref (bytes) : g_bytes_new (NULL, 0));
}

static gboolean
takes_rows (MessageKind kind)
{
  return kind == MESSAGE_SAVE || kind == MESSAGE_HAND;
}

static void
attach_all (GPtrArray *parts, const Message *m)
{
  for (guint i = 0; m->kind == MESSAGE_JOBS && i < m->loans->len; i++)
    attach (parts, ((const Loan *)m->loans->pdata[i])->args);
  for (guint i = 0; takes_rows (m->kind) && i < m->rows->len; i++)
    attach (parts, ((const Row *)m->rows->pdata[i])->value);
  for (guint i = 0; m->kind == MESSAGE_CONSTANTS && i < m->constants->len; i++)
    attach (parts, g_array_index (m->constants, MessageConstant, i).value);
  if (m->kind == MESSAGE_RESULT || m->kind == MESSAGE_BEST || m->kind == MESSAGE_CLOSE
      || m->kind == MESSAGE_CARGO || m->kind == MESSAGE_HASTE || m->kind == MESSAGE_BYTES)
    attach (parts, m->value);
}

/* (transfer full): what comes before the attachments. */
static GBytes *
begin_frame (MessageKind kind, const guint8 *header, gsize header_size, const GPtrArray *parts)
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
  return g_bytes_new_take (data, size + padding);
}

GPtrArray *
message_encode (const Message *message)
{
  guint loans = message->kind == MESSAGE_JOBS ? message->loans->len : 1;
  GPtrArray *parts = g_ptr_array_new_full (1 + loans, (GDestroyNotify)g_bytes_unref);
  gsize size;
  Packer packer;

  g_ptr_array_add (parts, NULL); /* the place of prelude and header */
  attach_all (parts, message);
  pack_begin (&packer, message_type (message->kind));
  write_header (&packer, message);
  const guint8 *header = pack_end (&packer, &size);
  g_assert (size <= MESSAGE_HEADER_MAX && parts->len - 1 <= MESSAGE_ITEMS_MAX);
  parts->pdata[0] = begin_frame (message->kind, header, size, parts);
  pack_clear (&packer);
  return parts;
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
