/* SPDX-License-Identifier: BSD-3-Clause */
/* A digest: the first 128 bits of a SHA-256. Jobs with equal digests are the same job. Pure. */
#pragma once

#include <glib.h>
#include <nettle/sha2.h>

typedef struct
{
  guint8 bytes[16];
} Digest;

#define DIGEST_HEX_LENGTH 32

/* The digest of `parts`, each with its length before it, so that the borders of parts count. An
 * element may be NULL, which counts as no bytes. */
Digest digest_of (const GBytes *const *parts, gsize n);
typedef struct sha256_ctx DigestBegun;
/* The same in two steps, for many digests with the same beginning: digest_begin for the common
 * first parts; digest_after for the rest, which only reads `begun`. */
void digest_begin (DigestBegun *begun, const GBytes *const *parts, gsize n);
Digest digest_after (const DigestBegun *begun, const GBytes *const *parts, gsize n);
Digest digest_of_data (const void *data, gsize size);
Digest digest_of_string (const char *text);
gboolean digest_equal (const Digest *a, const Digest *b);
gboolean digest_is_zero (const Digest *digest);
/* Writes 32 lower-case hexadecimal digits and a NUL. */
void digest_to_hex (const Digest *digest, char hex[DIGEST_HEX_LENGTH + 1]);
/* FALSE: not exactly 32 hexadecimal digits. */
gboolean digest_from_hex (const char *hex, Digest *digest);
