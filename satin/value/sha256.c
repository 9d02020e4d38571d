/* SPDX-License-Identifier: BSD-3-Clause */
/* See sha256.h; FIPS 180-4. Any thread. Must not know what is summed. */
#include "config.h"

#include "sha256.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#define HAVE_SHA_INSTRUCTIONS
#endif

#define BLOCK 64

typedef void (*Blocks) (guint32 state[8], const guint8 *data, gsize n);

/* clang-format off */
static const guint32 constants[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};
/* clang-format on */

static guint32
turn (guint32 word, guint bits)
{
  return word >> bits | word << (32 - bits);
}

static void
blocks_in_c (guint32 state[8], const guint8 *data, gsize n)
{
  for (; n > 0; n--, data += BLOCK)
    {
      guint32 w[64], s[8];

      for (guint i = 0; i < 16; i++)
        {
          memcpy (&w[i], data + 4 * i, sizeof w[i]);
          w[i] = GUINT32_FROM_BE (w[i]);
        }
      for (guint i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] + (turn (w[i - 15], 7) ^ turn (w[i - 15], 18) ^ w[i - 15] >> 3)
               + (turn (w[i - 2], 17) ^ turn (w[i - 2], 19) ^ w[i - 2] >> 10);
      memcpy (s, state, sizeof s);
#pragma GCC unroll 8
      for (guint i = 0; i < 64; i++) /* a is s[-i mod 8], b the next, and so on */
        {
          guint32 a = s[-i % 8], b = s[(1 - i) % 8], c = s[(2 - i) % 8];
          guint32 e = s[(4 - i) % 8], f = s[(5 - i) % 8], g = s[(6 - i) % 8], *h = &s[(7 - i) % 8];

          *h += (turn (e, 6) ^ turn (e, 11) ^ turn (e, 25)) + ((e & f) ^ (~e & g)) + constants[i]
                + w[i];
          s[(3 - i) % 8] += *h;
          *h += (turn (a, 2) ^ turn (a, 13) ^ turn (a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        }
      for (guint i = 0; i < 8; i++)
        state[i] += s[i];
    }
}

#ifdef HAVE_SHA_INSTRUCTIONS
/* The instructions want the state as (A B E F) and (C D G H), and do two rounds each. */
__attribute__ ((target ("sha,sse4.1"))) static void
blocks_by_instructions (guint32 state[8], const guint8 *data, gsize n)
{
  const __m128i swap = _mm_set_epi64x (0x0c0d0e0f08090a0b, 0x0405060700010203);
  __m128i low = _mm_shuffle_epi32 (_mm_loadu_si128 ((const __m128i *)state), 0xb1);
  __m128i high = _mm_shuffle_epi32 (_mm_loadu_si128 ((const __m128i *)(state + 4)), 0x1b);
  __m128i abef = _mm_alignr_epi8 (low, high, 8), cdgh = _mm_blend_epi16 (high, low, 0xf0);

  for (; n > 0; n--, data += BLOCK)
    {
      __m128i abef_before = abef, cdgh_before = cdgh, w[4];

      for (guint i = 0; i < 4; i++)
        w[i] = _mm_shuffle_epi8 (_mm_loadu_si128 ((const __m128i *)(data + 16 * i)), swap);
#pragma GCC unroll 16
      for (guint i = 0; i < 16; i++)
        {
          __m128i *next = &w[i % 4], last = w[(i + 3) % 4];
          __m128i words
              = _mm_add_epi32 (*next, _mm_loadu_si128 ((const __m128i *)(constants + 4 * i)));

          cdgh = _mm_sha256rnds2_epu32 (cdgh, abef, words);
          abef = _mm_sha256rnds2_epu32 (abef, cdgh, _mm_shuffle_epi32 (words, 0x0e));
          *next = _mm_sha256msg1_epu32 (*next, w[(i + 1) % 4]);
          *next = _mm_add_epi32 (*next, _mm_alignr_epi8 (last, w[(i + 2) % 4], 4));
          *next = _mm_sha256msg2_epu32 (*next, last); /* those of the last four rounds are unused */
        }
      abef = _mm_add_epi32 (abef, abef_before);
      cdgh = _mm_add_epi32 (cdgh, cdgh_before);
    }
  low = _mm_shuffle_epi32 (abef, 0x1b);
  high = _mm_shuffle_epi32 (cdgh, 0xb1);
  _mm_storeu_si128 ((__m128i *)state, _mm_blend_epi16 (low, high, 0xf0));
  _mm_storeu_si128 ((__m128i *)(state + 4), _mm_alignr_epi8 (high, low, 8));
}

static gboolean
has_instructions (void)
{
  guint a, b, c, d, sha;

  return __get_cpuid_count (7, 0, &a, &sha, &c, &d) && (sha & bit_SHA) != 0
         && __get_cpuid (1, &a, &b, &c, &d) && (c & bit_SSSE3) != 0 && (c & bit_SSE4_1) != 0;
}
#endif

static Blocks
fastest (void)
{
#ifdef HAVE_SHA_INSTRUCTIONS
  if (has_instructions ())
    return blocks_by_instructions;
#endif
  return blocks_in_c;
}

static Blocks chosen; /* atomic; NULL: not yet */

static void
add_blocks (Sha256 *sum, const guint8 *data, gsize n)
{
  Blocks blocks = __atomic_load_n (&chosen, __ATOMIC_RELAXED); /* whoever sees none asks, too */

  if (blocks == NULL)
    __atomic_store_n (&chosen, blocks = fastest (), __ATOMIC_RELAXED); /* the same for all */
  blocks (sum->state, data, n);
}

void
sha256_use_instructions (gboolean use)
{
  __atomic_store_n (&chosen, use ? fastest () : blocks_in_c, __ATOMIC_RELAXED); /* by a test */
}

void
sha256_begin (Sha256 *sum)
{
  static const guint32 first[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

  memcpy (sum->state, first, sizeof first);
  sum->length = 0;
}

void
sha256_add (Sha256 *sum, const void *data, gsize size)
{
  const guint8 *from = data;
  gsize pending = sum->length % BLOCK, part;

  sum->length += size;
  if (pending > 0 && size > 0)
    {
      part = MIN (size, BLOCK - pending);
      memcpy (sum->pending + pending, from, part);
      if (pending + part < BLOCK)
        return;
      add_blocks (sum, sum->pending, 1);
      from += part;
      size -= part;
    }
  part = size / BLOCK * BLOCK;
  if (part > 0)
    add_blocks (sum, from, part / BLOCK);
  if (size > part)
    memcpy (sum->pending, from + part, size - part);
}

void
sha256_end (Sha256 *sum, guint8 digest[SHA256_BYTES])
{
  static const guint8 padding[BLOCK] = { 0x80 };
  guint64 bits = GUINT64_TO_BE (sum->length * 8);
  gsize pending = sum->length % BLOCK, to = BLOCK - sizeof bits;

  sha256_add (sum, padding, pending < to ? to - pending : BLOCK + to - pending);
  sha256_add (sum, &bits, sizeof bits);
  for (guint i = 0; i < 8; i++)
    {
      guint32 word = GUINT32_TO_BE (sum->state[i]);
      memcpy (digest + 4 * i, &word, sizeof word);
    }
}
