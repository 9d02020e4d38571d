/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes digests, and writes and reads their text. Pure. Any thread. */
#include "config.h"

#include "digest.h"

#include <nettle/version.h>
#include <string.h>

/* The digest from a finished SHA-256 state. */
static Digest
digest_take (DigestBegun *sha)
{
  Digest digest;

#if NETTLE_VERSION_MAJOR < 4
  sha256_digest (sha, sizeof digest.bytes, digest.bytes);
#else
  guint8 whole[SHA256_DIGEST_SIZE];
  sha256_digest (sha, whole);
  memcpy (digest.bytes, whole, sizeof digest.bytes);
#endif
  return digest;
}

static void
feed_parts (DigestBegun *sha, const GBytes *const *parts, gsize n)
{
  for (gsize i = 0; i < n; i++)
    {
      gsize size = 0;
      const guint8 *data = parts[i] == NULL ? NULL : g_bytes_get_data ((GBytes *)parts[i], &size);
      guint64 length = GUINT64_TO_LE ((guint64)size);

      sha256_update (sha, sizeof length, (const guint8 *)&length);
      sha256_update (sha, size, data);
    }
}

void
digest_begin (DigestBegun *begun, const GBytes *const *parts, gsize n)
{
  sha256_init (begun);
  feed_parts (begun, parts, n);
}

Digest
digest_after (const DigestBegun *begun, const GBytes *const *parts, gsize n)
{
  DigestBegun sha = *begun;

  feed_parts (&sha, parts, n);
  return digest_take (&sha);
}

Digest
digest_of (const GBytes *const *parts, gsize n)
{
  DigestBegun sha;

  digest_begin (&sha, parts, n);
  return digest_take (&sha);
}

Digest
digest_of_data (const void *data, gsize size)
{
  DigestBegun sha;

  sha256_init (&sha);
  sha256_update (&sha, size, data);
  return digest_take (&sha);
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
