/* SPDX-License-Identifier: BSD-3-Clause */
/* FIPS 180-4, section 6.1.2, with the 80 steps written out: the five variables change their roles
 * by name, so no word is moved. */
#include "sha1.h"

#define ROTATE(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
#define CHOOSE(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#define PARITY(x, y, z) ((x) ^ (y) ^ (z))
#define MAJORITY(x, y, z) (((x) & (y)) | ((z) & ((x) | (y))))

/* Word i of the message schedule; only the last 16 are kept. */
#define FIRST(i) w[i]
#define LATER(i) \
  (w[(i)&15] = ROTATE (w[((i) + 13) & 15] ^ w[((i) + 8) & 15] ^ w[((i) + 2) & 15] ^ w[(i)&15], 1))

#define STEP(a, b, c, d, e, mix, k, word) \
  e += ROTATE (a, 5) + mix (b, c, d) + k + word; \
  b = ROTATE (b, 30);

#define FIVE(mix, k, word, i) \
  STEP (a, b, c, d, e, mix, k, word (i)) \
  STEP (e, a, b, c, d, mix, k, word (i + 1)) \
  STEP (d, e, a, b, c, mix, k, word (i + 2)) \
  STEP (c, d, e, a, b, mix, k, word (i + 3)) \
  STEP (b, c, d, e, a, mix, k, word (i + 4))

#define TWENTY(mix, k, i) \
  FIVE (mix, k, LATER, i) \
  FIVE (mix, k, LATER, i + 5) \
  FIVE (mix, k, LATER, i + 10) \
  FIVE (mix, k, LATER, i + 15)

void
sha1_block (const uint32_t block[16], uint32_t digest[5])
{
  uint32_t a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476, e = 0xc3d2e1f0;
  uint32_t w[16];

  for (int i = 0; i < 16; i++)
    w[i] = block[i];

  FIVE (CHOOSE, 0x5a827999, FIRST, 0)
  FIVE (CHOOSE, 0x5a827999, FIRST, 5)
  FIVE (CHOOSE, 0x5a827999, FIRST, 10)
  STEP (a, b, c, d, e, CHOOSE, 0x5a827999, FIRST (15))
  STEP (e, a, b, c, d, CHOOSE, 0x5a827999, LATER (16))
  STEP (d, e, a, b, c, CHOOSE, 0x5a827999, LATER (17))
  STEP (c, d, e, a, b, CHOOSE, 0x5a827999, LATER (18))
  STEP (b, c, d, e, a, CHOOSE, 0x5a827999, LATER (19))
  TWENTY (PARITY, 0x6ed9eba1, 20)
  TWENTY (MAJORITY, 0x8f1bbcdc, 40)
  TWENTY (PARITY, 0xca62c1d6, 60)

  digest[0] = a + 0x67452301;
  digest[1] = b + 0xefcdab89;
  digest[2] = c + 0x98badcfe;
  digest[3] = d + 0x10325476;
  digest[4] = e + 0xc3d2e1f0;
}
