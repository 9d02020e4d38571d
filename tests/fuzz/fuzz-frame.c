/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames: an accepted message is encoded to the same bytes. */
#include "fuzz.h"

#include "unit/any-message.h"

const char fuzz_name[] = "frame";

GBytes *
fuzz_seed (guint n)
{
  if (n + 1 >= MESSAGE_KINDS)
    return NULL;
  g_autoptr (GRand) rand = g_rand_new_with_seed (n);
  g_auto (AnyMessage) any;
  any_message_init (&any, (MessageKind)(n + 1), rand);
  return any_message_join (message_encode (&any.message));
}

void
fuzz_one (const guint8 *data, gsize size)
{
  g_auto (Message) message = { 0 };
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  if (!message_decode (bytes, &message, NULL))
    return;
  g_autoptr (GBytes) again = any_message_join (message_encode (&message));
  g_assert (g_bytes_equal (bytes, again));
}
