/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the choice between the two ways, and the faster of them. Must not know what is summed. */
#include "config.h"

#include "sha256.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)

#include <cpuid.h>
#include <immintrin.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
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

static gboolean
is_fast (void)
{
  static int known; /* atomic: 1 no, 2 yes */
  int answer = __atomic_load_n (&known, __ATOMIC_RELAXED);
  unsigned a, b, c, d;

  if (answer == 0)
    {
      answer = __get_cpuid (1, &a, &b, &c, &d) && (c & bit_SSE4_1) != 0 && (c & bit_SSSE3) != 0
                       && __get_cpuid_count (7, 0, &a, &b, &c, &d) && (b & bit_SHA) != 0
                   ? 2
                   : 1;
      __atomic_store_n (&known, answer, __ATOMIC_RELAXED);
    }
  return answer == 2;
}

/* The instructions keep the state as (a b e f) and (c d g h), and do two rounds each. */
__attribute__ ((target ("sha,sse4.1,ssse3"))) static void
add_blocks (guint32 state[8], const guint8 *data, gsize n)
{
  const __m128i big_endian
      = _mm_set_epi64x (G_GINT64_CONSTANT (0x0c0d0e0f08090a0b), 0x0405060700010203);
  __m128i abcd = _mm_shuffle_epi32 (_mm_loadu_si128 ((const __m128i *)(const void *)state), 0xb1);
  __m128i efgh
      = _mm_shuffle_epi32 (_mm_loadu_si128 ((const __m128i *)(const void *)(state + 4)), 0x1b);
  __m128i abef = _mm_alignr_epi8 (abcd, efgh, 8), cdgh = _mm_blend_epi16 (efgh, abcd, 0xf0);

  for (; n > 0; n--, data += SHA256_BLOCK)
    {
      __m128i abef_before = abef, cdgh_before = cdgh, words[4], next;

      for (int i = 0; i < 16; i++)
        {
          if (i < 4)
            next = _mm_shuffle_epi8 (
                _mm_loadu_si128 ((const __m128i *)(const void *)(data + 16 * i)), big_endian);
          else
            next = _mm_sha256msg2_epu32 (
                _mm_add_epi32 (_mm_sha256msg1_epu32 (words[i & 3], words[(i + 1) & 3]),
                               _mm_alignr_epi8 (words[(i + 3) & 3], words[(i + 2) & 3], 4)),
                words[(i + 3) & 3]);
          words[i & 3] = next;
          next = _mm_add_epi32 (
              next, _mm_loadu_si128 ((const __m128i *)(const void *)(constants + 4 * i)));
          cdgh = _mm_sha256rnds2_epu32 (cdgh, abef, next);
          abef = _mm_sha256rnds2_epu32 (abef, cdgh, _mm_shuffle_epi32 (next, 0x0e));
        }
      abef = _mm_add_epi32 (abef, abef_before);
      cdgh = _mm_add_epi32 (cdgh, cdgh_before);
    }
  abef = _mm_shuffle_epi32 (abef, 0x1b);
  cdgh = _mm_shuffle_epi32 (cdgh, 0xb1);
  _mm_storeu_si128 ((__m128i *)(void *)state, _mm_blend_epi16 (abef, cdgh, 0xf0));
  _mm_storeu_si128 ((__m128i *)(void *)(state + 4), _mm_alignr_epi8 (cdgh, abef, 8));
}

#else

static gboolean
is_fast (void)
{
  return FALSE;
}

static void
add_blocks (guint32 state[8] G_GNUC_UNUSED, const guint8 *data G_GNUC_UNUSED, gsize n G_GNUC_UNUSED)
{
  g_assert_not_reached ();
}

#endif

void
sha256_begin (Sha256 *sum)
{
  static const guint32 start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

  if (!is_fast ())
    {
      sha256_begin_slowly (sum);
      return;
    }
  sum->slow = NULL;
  sum->size = 0;
  memcpy (sum->state, start, sizeof start);
}

void
sha256_begin_slowly (Sha256 *sum)
{
  *sum = (Sha256){ .slow = g_checksum_new (G_CHECKSUM_SHA256) };
}

void
sha256_copy (Sha256 *sum, const Sha256 *from)
{
  *sum = *from;
  if (from->slow != NULL)
    sum->slow = g_checksum_copy (from->slow);
}

/* GLib takes a signed length, so large data goes in by pieces. */
static void
feed_slowly (GChecksum *sum, const guint8 *data, gsize size)
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

void
sha256_feed (Sha256 *sum, const void *data, gsize size)
{
  const guint8 *from = data;
  gsize filled = sum->size % SHA256_BLOCK;

  if (sum->slow != NULL)
    {
      feed_slowly (sum->slow, from, size);
      return;
    }
  if (size == 0)
    return;
  sum->size += size;
  if (filled > 0)
    {
      gsize part = MIN (size, SHA256_BLOCK - filled);

      memcpy (sum->block + filled, from, part);
      from += part;
      size -= part;
      if (filled + part < SHA256_BLOCK)
        return;
      add_blocks (sum->state, sum->block, 1);
    }
  add_blocks (sum->state, from, size / SHA256_BLOCK);
  from += size - size % SHA256_BLOCK;
  memcpy (sum->block, from, size % SHA256_BLOCK);
}

void
sha256_end (Sha256 *sum, guint8 result[SHA256_SIZE])
{
  guint64 bits = GUINT64_TO_BE (sum->size * 8);
  gsize filled = sum->size % SHA256_BLOCK, size = SHA256_SIZE;

  if (sum->slow != NULL)
    {
      g_checksum_get_digest (sum->slow, result, &size);
      sha256_clear (sum);
      return;
    }
  sum->block[filled++] = 0x80;
  if (filled > SHA256_BLOCK - sizeof bits)
    {
      memset (sum->block + filled, 0, SHA256_BLOCK - filled);
      add_blocks (sum->state, sum->block, 1);
      filled = 0;
    }
  memset (sum->block + filled, 0, SHA256_BLOCK - sizeof bits - filled);
  memcpy (sum->block + SHA256_BLOCK - sizeof bits, &bits, sizeof bits);
  add_blocks (sum->state, sum->block, 1);
  for (gsize i = 0; i < G_N_ELEMENTS (sum->state); i++)
    {
      guint32 word = GUINT32_TO_BE (sum->state[i]);
      memcpy (result + i * sizeof word, &word, sizeof word);
    }
}

void
sha256_clear (Sha256 *sum)
{
  g_clear_pointer (&sum->slow, g_checksum_free);
}
