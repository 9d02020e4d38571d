/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames: what is taken is written again as it was. */
#include "fuzz.h"

#include "protocol/message.h"

const char fuzz_name[] = "frame";

static GBytes *
join (GPtrArray *parts)
{
  g_autoptr (GByteArray) all = g_byte_array_new ();
  for (guint i = 0; i < parts->len; i++)
    {
      gsize size;
      const guint8 *data = g_bytes_get_data (parts->pdata[i], &size);
      g_byte_array_append (all, data, (guint)size);
    }
  return g_bytes_new (all->data, all->len);
}

GBytes *
fuzz_seed (guint n)
{
  static const guint64 numbers[] = { 3, 1, G_MAXUINT64 };
  MessageMember member = { { 1, 1, 5 }, "unix:/a", "host", "site", 10, 2 };
  MessageKind kind = (MessageKind)(n + 1);
  if (kind >= MESSAGE_KINDS)
    return NULL;
  Digest digest = digest_of_string ("job");
  MessageHold hold = { "/0/1/2", digest, TRUE };
  g_autoptr (GBytes) value = g_bytes_new_static ("some value", 10);
  MessageConstant constant = { "const/a", value };
  g_autoptr (GPtrArray) loans = g_ptr_array_new_with_free_func ((GDestroyNotify)loan_free);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof member);
  g_autoptr (GArray) holds = g_array_new (FALSE, FALSE, sizeof hold);
  g_autoptr (GArray) constants = g_array_new (FALSE, FALSE, sizeof constant);
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_ptr_array_add (loans, loan_new (7, "/0/3", 2, &digest, 0.25, value));
  g_ptr_array_add (rows, row_new ("/1", 3, &digest, 0.5, 99, value));
  g_array_append_val (members, member);
  g_array_append_val (holds, hold);
  g_array_append_val (constants, constant);
  g_array_append_vals (list, numbers, G_N_ELEMENTS (numbers));
  Message message = { .kind = kind,
                      .id = { 1, 2, 3 },
                      .term = { 4, { 1, 1, 1 } },
                      .number = 9,
                      .version = 8,
                      .work_us = 5,
                      .count = 1,
                      .digest = digest,
                      .text = "text",
                      .host = "host",
                      .site = "site",
                      .path = "/0/3",
                      .value = value,
                      .loans = loans,
                      .rows = rows,
                      .members = members,
                      .holds = holds,
                      .numbers = list,
                      .constants = constants };
  g_autoptr (GPtrArray) parts = message_encode (&message);
  return join (parts);
}

void
fuzz_one (const guint8 *data, gsize size)
{
  g_auto (Message) message = { 0 };
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  if (!message_decode (bytes, &message, NULL))
    return;
  g_autoptr (GPtrArray) parts = message_encode (&message);
  g_autoptr (GBytes) again = join (parts);
  g_assert (g_bytes_equal (bytes, again));
}
