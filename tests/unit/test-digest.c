/* SPDX-License-Identifier: BSD-3-Clause */
/* Digests: known values, boundaries between parts, text form. */
#include "config.h"

#include "digest.h"

#include <string.h>

static void
test_known (void)
{
  char hex[DIGEST_HEX_LENGTH + 1];
  Digest empty = digest_of_data (NULL, 0);
  Digest abc = digest_of_string ("abc");

  digest_to_hex (&empty, hex);
  g_assert_cmpstr (hex, ==, "e3b0c44298fc1c149afbf4c8996fb924");
  digest_to_hex (&abc, hex);
  g_assert_cmpstr (hex, ==, "ba7816bf8f01cfea414140de5dae2223");
  g_assert_false (digest_equal (&empty, &abc));
}

/* Checkpoints keep digests: those of parts must not change between versions. */
static void
test_known_parts (void)
{
  g_autoptr (GBytes) empty = g_bytes_new (NULL, 0), ab = g_bytes_new ("ab", 2);
  const GBytes *parts[] = { empty, ab, NULL };
  static const guint8 wanted[]
      = { 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 0, 0, 0, 0, 0, 0, 0, 0 };
  Digest of_parts = digest_of (parts, G_N_ELEMENTS (parts));
  Digest of_data = digest_of_data (wanted, sizeof wanted);

  g_assert_true (digest_equal (&of_parts, &of_data));
}

/* Each single byte of a digest counts, and each byte of its input. */
static void
test_near_misses (void)
{
  char text[] = "input/a.tsp of sixteen bytes and more: a whole block of SHA-256, and then some";
  Digest digest = digest_of_string (text), other = digest;
  g_autoptr (GBytes) part = g_bytes_new_static (text, strlen (text));
  const GBytes *parts[] = { part, NULL };
  Digest whole = digest_of (parts, 2);

  for (gsize i = 0; i < sizeof other.bytes; i++)
    {
      other.bytes[i] ^= 1;
      g_assert_false (digest_equal (&digest, &other));
      other.bytes[i] ^= 1;
    }
  g_assert_true (digest_equal (&digest, &other));
  for (gsize i = 0; i < strlen (text); i++)
    {
      text[i] ^= 1;
      other = digest_of_string (text);
      g_assert_false (digest_equal (&digest, &other));
      other = digest_of (parts, 2);
      g_assert_false (digest_equal (&whole, &other));
      text[i] ^= 1;
    }
}

static void
test_parts (void)
{
  g_autoptr (GBytes) ab = g_bytes_new ("ab", 2);
  g_autoptr (GBytes) a = g_bytes_new ("a", 1);
  g_autoptr (GBytes) b = g_bytes_new ("b", 1);
  g_autoptr (GBytes) nothing = g_bytes_new (NULL, 0);
  Digest whole = digest_of ((const GBytes *[]){ ab }, 1);
  Digest split = digest_of ((const GBytes *[]){ a, b }, 2);
  Digest again = digest_of ((const GBytes *[]){ a, b }, 2);
  Digest with_null = digest_of ((const GBytes *[]){ ab, NULL }, 2);
  Digest with_empty = digest_of ((const GBytes *[]){ ab, nothing }, 2);

  g_assert_false (digest_equal (&whole, &split));
  g_assert_true (digest_equal (&split, &again));
  g_assert_true (digest_equal (&with_null, &with_empty));
  g_assert_false (digest_equal (&whole, &with_null));
}

static void
test_halves (void)
{
  g_autoptr (GBytes) a = g_bytes_new ("a", 1);
  g_autoptr (GBytes) b = g_bytes_new ("b", 1);
  Digest whole = digest_of ((const GBytes *[]){ a, b }, 2);
  DigestBegun begun;

  digest_begin (&begun, (const GBytes *[]){ a }, 1);
  for (int i = 0; i < 2; i++) /* a digest may be read again */
    {
      Digest after = digest_after (&begun, (const GBytes *[]){ b }, 1);
      g_assert_true (digest_equal (&whole, &after));
    }
}

static void
test_hex (void)
{
  static const char *const bad[]
      = { "", "00", "0123456789abcdef0123456789abcdeg", "0123456789abcdef0123456789abcdef0",
          "0123456789abcdef0123456789abcde " };
  Digest digest = digest_of_string ("x");
  Digest back;
  Digest zero;
  char hex[DIGEST_HEX_LENGTH + 1];

  digest_to_hex (&digest, hex);
  g_assert_true (digest_from_hex (hex, &back));
  g_assert_true (digest_equal (&digest, &back));
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_false (digest_from_hex (bad[i], &back));
  g_assert_true (digest_equal (&digest, &back));
  g_assert_true (digest_from_hex ("00000000000000000000000000000000", &zero));
  g_assert_true (digest_is_zero (&zero));
  g_assert_false (digest_is_zero (&digest));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/digest/known-values-are-the-first-half-of-sha256", test_known);
  g_test_add_func ("/digest/parts-stand-behind-their-lengths", test_known_parts);
  g_test_add_func ("/digest/near-misses-differ", test_near_misses);
  g_test_add_func ("/digest/parts-do-not-run-into-each-other", test_parts);
  g_test_add_func ("/digest/two-halves-make-a-whole", test_halves);
  g_test_add_func ("/digest/text-form-reads-back-and-nothing-else-does", test_hex);
  return g_test_run ();
}
