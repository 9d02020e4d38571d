/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns how a digest is computed and written. Pure, any thread. Must not know what is digested. */
#include "config.h"

#include "digest.h"

#include <string.h>

/* Cuts the SHA-256 that `sum` holds to the bytes of a digest. */
static Digest
digest_take (GChecksum *sum)
{
  guint8 whole[32];
  gsize size = sizeof whole;
  Digest digest;

  g_checksum_get_digest (sum, whole, &size);
  memcpy (digest.bytes, whole, sizeof digest.bytes);
  return digest;
}

/* The checksum takes a signed length, so large data goes in by pieces. */
static void
digest_feed (GChecksum *sum, const guint8 *data, gsize size)
{
  const gsize piece_max = 1u << 30;

  while (size > 0)
    {
      gsize piece = MIN (size, piece_max);

      g_checksum_update (sum, data, (gssize)piece);
      data += piece;
      size -= piece;
    }
}

static void
feed_parts (GChecksum *sum, const GBytes *const *parts, gsize n)
{
  for (gsize i = 0; i < n; i++)
    {
      gsize size = 0;
      const guint8 *data = parts[i] == NULL ? NULL : g_bytes_get_data ((GBytes *)parts[i], &size);
      guint64 length = GUINT64_TO_LE ((guint64)size);

      digest_feed (sum, (const guint8 *)&length, sizeof length);
      digest_feed (sum, data, size);
    }
}

GChecksum *
digest_begin (const GBytes *const *parts, gsize n)
{
  GChecksum *sum = g_checksum_new (G_CHECKSUM_SHA256);

  feed_parts (sum, parts, n);
  return sum;
}

Digest
digest_after (const GChecksum *begun, const GBytes *const *parts, gsize n)
{
  g_autoptr (GChecksum) sum = g_checksum_copy (begun);

  feed_parts (sum, parts, n);
  return digest_take (sum);
}

Digest
digest_of (const GBytes *const *parts, gsize n)
{
  g_autoptr (GChecksum) sum = digest_begin (parts, n);

  return digest_take (sum);
}

Digest
digest_of_data (const void *data, gsize size)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);

  digest_feed (sum, data, size);
  return digest_take (sum);
}

Digest
digest_of_string (const char *text)
{
  return digest_of_data (text, strlen (text));
}

gboolean
digest_equal (const Digest *a, const Digest *b)
{
  return memcmp (a->bytes, b->bytes, sizeof a->bytes) == 0;
}

gboolean
digest_is_zero (const Digest *digest)
{
  static const Digest zero;

  return digest_equal (digest, &zero);
}

void
digest_to_hex (const Digest *digest, char hex[DIGEST_HEX_LENGTH + 1])
{
  static const char digits[] = "0123456789abcdef";

  for (gsize i = 0; i < sizeof digest->bytes; i++)
    {
      hex[2 * i] = digits[digest->bytes[i] >> 4];
      hex[2 * i + 1] = digits[digest->bytes[i] & 15];
    }
  hex[DIGEST_HEX_LENGTH] = '\0';
}

gboolean
digest_from_hex (const char *hex, Digest *digest)
{
  if (strlen (hex) != DIGEST_HEX_LENGTH)
    return FALSE;
  for (gsize i = 0; i < DIGEST_HEX_LENGTH; i++)
    if (!g_ascii_isxdigit (hex[i]))
      return FALSE;
  for (gsize i = 0; i < sizeof digest->bytes; i++)
    digest->bytes[i]
        = (guint8)(g_ascii_xdigit_value (hex[2 * i]) << 4 | g_ascii_xdigit_value (hex[2 * i + 1]));
  return TRUE;
}
