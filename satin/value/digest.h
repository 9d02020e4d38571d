/* SPDX-License-Identifier: BSD-3-Clause */
/* 128 bits of SHA-256 over what makes a job what it is. Equal digests mean the same job. Pure. */
#pragma once

#include <glib.h>
#include <nettle/sha2.h>

typedef struct
{
  guint8 bytes[16];
} Digest;

#define DIGEST_HEX_LENGTH 32

/* The digest of the parts one after the other, each with its length before it, so that parts cannot
 * run into each other. `parts` may hold NULL, which counts as no bytes. */
Digest digest_of (const GBytes *const *parts, gsize n);
typedef struct sha256_ctx DigestBegun;
/* The same in two halves, for many that begin alike: `begun` after the first parts, which is only
 * read by digest_after, and the digest of those and what follows. */
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
