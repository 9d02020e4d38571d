/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the encoding of message.h: one writer per shape of header. Message.c reads it. Pure. */
#include "message-private.h"

#include <string.h>

static GVariant *
write_digest (const Digest *digest)
{
  guint64 half[2];

  memcpy (half, digest->bytes, sizeof half);
  return g_variant_new (T_DIGEST, GUINT64_FROM_LE (half[0]), GUINT64_FROM_LE (half[1]));
}

static GVariant *
write_id (const NodeId *id)
{
  return g_variant_new (T_ID, id->term, id->number, id->random);
}

static GVariant *
write_roster (const Message *m)
{
  g_auto (GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE (T_MEMBERS));
  for (guint i = 0; m->members != NULL && i < m->members->len; i++)
    {
      const MessageMember *member = &g_array_index (m->members, MessageMember, i);
      g_variant_builder_add (&builder, "(@" T_ID "sssuu)", write_id (&member->id), member->address,
                             member->host, member->site, member->pid, member->workers);
    }
  return g_variant_new ("(@" T_ID "(u@" T_ID ")t" T_MEMBERS ")", write_id (&m->id), m->term.number,
                        write_id (&m->term.opener), m->version, &builder);
}

static void
attach (GPtrArray *parts, GBytes *bytes)
{
  g_ptr_array_add (parts, bytes != NULL ? g_bytes_ref (bytes) : g_bytes_new (NULL, 0));
}

static GVariant *
write_jobs (const Message *m, GPtrArray *parts)
{
  g_auto (GVariantBuilder) builder
      = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a(tsu" T_DIGEST "d)"));
  for (guint i = 0; i < m->loans->len; i++)
    {
      const Loan *loan = g_ptr_array_index (m->loans, i);
      g_variant_builder_add (&builder, "(tsu@" T_DIGEST "d)", loan->loan, loan->path, loan->job,
                             write_digest (&loan->digest), loan->weight);
      attach (parts, loan->args);
    }
  return g_variant_new ("(ta(tsu" T_DIGEST "d))", m->number, &builder);
}

static GVariant *
write_rows (const Message *m, GPtrArray *parts)
{
  g_auto (GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a" T_ROW));
  for (guint i = 0; i < m->rows->len; i++)
    {
      const Row *row = g_ptr_array_index (m->rows, i);
      g_variant_builder_add (&builder, "(su@" T_DIGEST "dt@" T_ID "us)", row->path, row->job,
                             write_digest (&row->digest), row->weight, row->work_us,
                             write_id (&row->node), row->children,
                             row->type != NULL ? row->type : "");
      attach (parts, row->value);
    }
  return g_variant_new ("(a" T_ROW ")", &builder);
}

static GVariant *
write_holds (const Message *m)
{
  g_auto (GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a(s" T_DIGEST "b)"));
  for (guint i = 0; i < m->holds->len; i++)
    {
      const MessageHold *hold = &g_array_index (m->holds, MessageHold, i);
      g_variant_builder_add (&builder, "(s@" T_DIGEST "b)", hold->path,
                             write_digest (&hold->digest), hold->finished);
    }
  return g_variant_new ("(a(s" T_DIGEST "b))", &builder);
}

static GVariant *
write_constants (const Message *m, GPtrArray *parts)
{
  g_auto (GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("as"));
  for (guint i = 0; i < m->constants->len; i++)
    {
      const MessageConstant *constant = &g_array_index (m->constants, MessageConstant, i);
      g_variant_builder_add (&builder, "s", constant->name);
      attach (parts, constant->value);
    }
  return g_variant_new ("(@" T_DIGEST "as)", write_digest (&m->digest), &builder);
}

static GVariant *
write_numbers (const Message *m)
{
  return g_variant_new ("(@at)", g_variant_new_fixed_array (G_VARIANT_TYPE_UINT64, m->numbers->data,
                                                            m->numbers->len, sizeof (guint64)));
}

static GVariant *
write_header (const Message *m, GPtrArray *parts)
{
  switch (m->kind)
    {
    case MESSAGE_HELLO:
      return g_variant_new ("(t@" T_DIGEST "@" T_ID "s)", m->number, write_digest (&m->digest),
                            write_id (&m->id), m->text);
    case MESSAGE_JOIN:
      return g_variant_new ("(ssstu)", m->text, m->host, m->site, m->number, m->count);
    case MESSAGE_WELCOME:
    case MESSAGE_ROSTER:
      return write_roster (m);
    case MESSAGE_GONE:
      return g_variant_new ("(@" T_ID "b)", write_id (&m->id), m->flag);
    case MESSAGE_STEAL:
      return g_variant_new ("(tu)", m->number, m->count);
    case MESSAGE_JOBS:
      return write_jobs (m, parts);
    case MESSAGE_RESULT:
      attach (parts, m->value);
      return g_variant_new ("(ts@" T_DIGEST "t)", m->number, m->path, write_digest (&m->digest),
                            m->work_us);
    case MESSAGE_HOLDING:
      return write_numbers (m);
    case MESSAGE_HOLD:
      return write_holds (m);
    case MESSAGE_ADOPT:
      return g_variant_new ("(ts@" T_DIGEST ")", m->number, m->path, write_digest (&m->digest));
    case MESSAGE_UNHOLD:
    case MESSAGE_COVERED:
      return g_variant_new ("(s)", m->path);
    case MESSAGE_START:
      return g_variant_new ("(@" T_DIGEST ")", write_digest (&m->digest));
    case MESSAGE_CONSTANTS:
      return write_constants (m, parts);
    case MESSAGE_SAVE:
      return write_rows (m, parts);
    case MESSAGE_BEST:
      attach (parts, m->value);
      return g_variant_new ("(u)", m->count);
    case MESSAGE_STEM:
      return g_variant_new ("(ss)", m->text, m->path);
    case MESSAGE_NONE:
    case MESSAGE_ACK:
    case MESSAGE_VAIN:
    case MESSAGE_RETURNED:
    case MESSAGE_MISS:
    case MESSAGE_END:
      return g_variant_new ("(t)", m->number);
    default:
      return g_variant_new ("()");
    }
}

GPtrArray *
message_encode (const Message *message)
{
  GPtrArray *parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  g_ptr_array_add (parts, NULL); /* the place of prelude and header */
  g_autoptr (GVariant) header = g_variant_ref_sink (write_header (message, parts));
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  gsize size = g_variant_get_size (header);

  g_assert (size <= MESSAGE_HEADER_MAX && parts->len - 1 <= MESSAGE_ITEMS_MAX);
  guint32 prelude[PRELUDE_WORDS]
      = { GUINT32_TO_LE ((guint32)message->kind), GUINT32_TO_LE ((guint32)size),
          GUINT32_TO_LE (parts->len - 1), 0 };
  g_byte_array_append (bytes, (const guint8 *)prelude, sizeof prelude);
  for (guint i = 1; i < parts->len; i++)
    {
      guint64 length = GUINT64_TO_LE ((guint64)g_bytes_get_size (parts->pdata[i]));
      g_byte_array_append (bytes, (const guint8 *)&length, sizeof length);
    }
  if (G_BYTE_ORDER == G_BIG_ENDIAN)
    {
      g_autoptr (GVariant) swapped = g_variant_byteswap (header);
      g_byte_array_append (bytes, g_variant_get_data (swapped), (guint)size);
    }
  else
    g_byte_array_append (bytes, g_variant_get_data (header), (guint)size);
  parts->pdata[0] = g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
  return parts;
}
