/* SPDX-License-Identifier: BSD-3-Clause */
/* FIPS 180-4. See sha256.h. */
#include "config.h"

#include "sha256.h"

#include <string.h>

static const guint32 constants[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline guint32
rotated (guint32 x, guint by)
{
  return x >> by | x << (32 - by);
}

static void
block_plain (guint32 state[8], const guint8 *data)
{
  guint32 w[64], v[8];

  for (guint i = 0; i < 16; i++, data += 4)
    w[i] = (guint32)data[0] << 24 | (guint32)data[1] << 16 | (guint32)data[2] << 8 | data[3];
  for (guint i = 16; i < 64; i++)
    w[i] = w[i - 16] + w[i - 7]
           + (rotated (w[i - 15], 7) ^ rotated (w[i - 15], 18) ^ w[i - 15] >> 3)
           + (rotated (w[i - 2], 17) ^ rotated (w[i - 2], 19) ^ w[i - 2] >> 10);
  memcpy (v, state, sizeof v);
  /* In place of moving them on, the variables change their names in each round. */
  for (guint i = 0; i < 64; i += 8)
#pragma GCC unroll 8
    for (guint k = 0; k < 8; k++)
      {
        guint32 a = v[-k & 7], b = v[(1 - k) & 7], c = v[(2 - k) & 7], e = v[(4 - k) & 7];
        guint32 one = v[(7 - k) & 7] + (rotated (e, 6) ^ rotated (e, 11) ^ rotated (e, 25))
                      + ((e & v[(5 - k) & 7]) ^ (~e & v[(6 - k) & 7])) + constants[i + k]
                      + w[i + k];

        v[(3 - k) & 7] += one;
        v[(7 - k) & 7] = one + (rotated (a, 2) ^ rotated (a, 13) ^ rotated (a, 22))
                         + ((a & b) ^ (a & c) ^ (b & c));
      }
  for (guint i = 0; i < 8; i++)
    state[i] += v[i];
}

void
sha256_blocks_plain (guint32 state[8], const guint8 *data, gsize blocks)
{
  for (; blocks > 0; blocks--, data += SHA256_BLOCK)
    block_plain (state, data);
}

#ifdef __x86_64__

#include <cpuid.h>
#include <immintrin.h>

#define FAST __attribute__ ((target ("sha,sse4.1")))

static gboolean
has_instructions (void)
{
  static gint known; /* atomic; 0: not yet, else 1 + the answer */
  guint a, b = 0, c = 0, d;

  if (g_atomic_int_get (&known) == 0)
    {
      gboolean sse = __get_cpuid (1, &a, &b, &c, &d) != 0 && (c & bit_SSSE3) && (c & bit_SSE4_1);
      gboolean sha = sse && __get_cpuid_count (7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA);
      g_atomic_int_set (&known, 1 + sha);
    }
  return g_atomic_int_get (&known) == 2;
}

/* The processor has the state as (a b e f) and (c d g h), and takes four words at a time. */
static FAST void
block_fast (__m128i *abef, __m128i *cdgh, const guint8 *data)
{
  const __m128i order = _mm_set_epi64x (0x0c0d0e0f08090a0b, 0x0405060700010203);
  __m128i w[4], x = *abef, y = *cdgh;

#pragma GCC unroll 16
  for (guint i = 0; i < 16; i++)
    {
      __m128i *now = &w[i % 4], *last = &w[(i + 3) % 4], k;

      if (i < 4)
        *now = _mm_shuffle_epi8 (_mm_loadu_si128 ((const __m128i *)(const void *)data + i), order);
      else
        *now = _mm_sha256msg2_epu32 (_mm_add_epi32 (_mm_sha256msg1_epu32 (*now, w[(i + 1) % 4]),
                                                    _mm_alignr_epi8 (*last, w[(i + 2) % 4], 4)),
                                     *last);
      k = _mm_add_epi32 (*now, _mm_loadu_si128 ((const __m128i *)(const void *)constants + i));
      y = _mm_sha256rnds2_epu32 (y, x, k);
      x = _mm_sha256rnds2_epu32 (x, y, _mm_shuffle_epi32 (k, 0x0e));
    }
  *abef = _mm_add_epi32 (*abef, x);
  *cdgh = _mm_add_epi32 (*cdgh, y);
}

static FAST void
blocks_fast (guint32 state[8], const guint8 *data, gsize blocks)
{
  __m128i *both = (__m128i *)(void *)state;
  __m128i badc = _mm_shuffle_epi32 (_mm_loadu_si128 (both), 0xb1);
  __m128i hgfe = _mm_shuffle_epi32 (_mm_loadu_si128 (both + 1), 0x1b);
  __m128i abef = _mm_alignr_epi8 (badc, hgfe, 8), cdgh = _mm_blend_epi16 (hgfe, badc, 0xf0);

  for (; blocks > 0; blocks--, data += SHA256_BLOCK)
    block_fast (&abef, &cdgh, data);
  __m128i feba = _mm_shuffle_epi32 (abef, 0x1b), dchg = _mm_shuffle_epi32 (cdgh, 0xb1);
  _mm_storeu_si128 (both, _mm_blend_epi16 (feba, dchg, 0xf0));
  _mm_storeu_si128 (both + 1, _mm_alignr_epi8 (dchg, feba, 8));
}

gboolean
sha256_blocks_fast (guint32 state[8], const guint8 *data, gsize blocks)
{
  if (!has_instructions ())
    return FALSE;
  blocks_fast (state, data, blocks);
  return TRUE;
}

#else

gboolean
sha256_blocks_fast (guint32 state[8] G_GNUC_UNUSED, const guint8 *data G_GNUC_UNUSED,
                    gsize blocks G_GNUC_UNUSED)
{
  return FALSE;
}

#endif

static void
take_blocks (Sha256 *sha, const guint8 *data, gsize blocks)
{
  if (blocks > 0 && !sha256_blocks_fast (sha->state, data, blocks))
    sha256_blocks_plain (sha->state, data, blocks);
}

void
sha256_init (Sha256 *sha)
{
  static const Sha256 fresh = { .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };

  *sha = fresh;
}

void
sha256_add (Sha256 *sha, const void *data, gsize size)
{
  const guint8 *from = data;
  gsize filled = sha->size % SHA256_BLOCK;

  if (size == 0)
    return;
  sha->size += size;
  if (filled > 0)
    {
      gsize part = MIN (size, SHA256_BLOCK - filled);

      memcpy (sha->rest + filled, from, part);
      from += part;
      size -= part;
      if (filled + part < SHA256_BLOCK)
        return;
      take_blocks (sha, sha->rest, 1);
    }
  take_blocks (sha, from, size / SHA256_BLOCK);
  memcpy (sha->rest, from + size / SHA256_BLOCK * SHA256_BLOCK, size % SHA256_BLOCK);
}

void
sha256_end (Sha256 *sha, guint8 hash[SHA256_SIZE])
{
  guint64 bits = GUINT64_TO_BE (sha->size * 8);
  gsize filled = sha->size % SHA256_BLOCK;

  sha->rest[filled++] = 0x80;
  if (filled > SHA256_BLOCK - sizeof bits)
    {
      memset (sha->rest + filled, 0, SHA256_BLOCK - filled);
      take_blocks (sha, sha->rest, 1);
      filled = 0;
    }
  memset (sha->rest + filled, 0, SHA256_BLOCK - sizeof bits - filled);
  memcpy (sha->rest + SHA256_BLOCK - sizeof bits, &bits, sizeof bits);
  take_blocks (sha, sha->rest, 1);
  for (guint i = 0; i < 8; i++)
    {
      guint32 word = GUINT32_TO_BE (sha->state[i]);
      memcpy (hash + i * sizeof word, &word, sizeof word);
    }
}
