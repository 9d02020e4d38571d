/* SPDX-License-Identifier: BSD-3-Clause */
/* Feeds a target its seeds and changed copies of them, for a second, or for SATIN_FUZZ_SECONDS. The
 * random seed is printed by the test framework: --seed repeats a run. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

/* Flips, overwrites, repeats, cuts and joins. */
static void
mutate (GByteArray *bytes)
{
  static const guint32 words[]
      = { 0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff };
  for (gint n = g_test_rand_int_range (1, 6); n > 0 && bytes->len > 0; n--)
    {
      guint at = (guint)g_test_rand_int_range (0, (gint)bytes->len);
      guint32 word = words[g_test_rand_int_range (0, G_N_ELEMENTS (words))];
      guint size = (guint)g_test_rand_int_range (1, 5);
      size = MIN (bytes->len - at, size);
      switch (g_test_rand_int_range (0, 7))
        {
        case 0:
          bytes->data[at] ^= (guint8)(1 << g_test_rand_int_range (0, 8));
          break;
        case 1:
          memcpy (bytes->data + at, &word, size);
          break;
        case 2:
          word = GUINT32_TO_BE (word);
          memcpy (bytes->data + at, &word, size);
          break;
        case 3:
          g_byte_array_set_size (bytes, at);
          break;
        case 4:
          g_byte_array_remove_range (bytes, at, size);
          break;
        case 5:
          memmove (bytes->data, bytes->data + at, bytes->len - at);
          break;
        default:
          bytes->data[at] = (guint8)g_test_rand_int ();
        }
    }
}

static void
test_anything_is_taken (void)
{
  g_autoptr (GPtrArray) seeds = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  GBytes *seed;
  const char *seconds = g_getenv ("SATIN_FUZZ_SECONDS");
  gint64 end = g_get_monotonic_time ()
               + (gint64)(G_USEC_PER_SEC * (seconds != NULL ? g_ascii_strtod (seconds, NULL) : 1));
  guint n = 0;
  while ((seed = fuzz_seed (seeds->len)) != NULL)
    {
      gsize size;
      const guint8 *data = g_bytes_get_data (seed, &size);
      fuzz_one (data, size);
      g_ptr_array_add (seeds, seed);
    }
  for (; g_get_monotonic_time () < end; n++)
    {
      gsize size;
      GBytes *from = seeds->pdata[g_test_rand_int_range (0, (gint)seeds->len)];
      const guint8 *data = g_bytes_get_data (from, &size);
      g_autoptr (GByteArray) bytes = g_byte_array_new ();
      g_byte_array_append (bytes, data, (guint)size);
      mutate (bytes);
      g_autofree guint8 *tight = g_memdup2 (bytes->data, bytes->len); /* a byte more is seen */
      fuzz_one (tight, bytes->len);
    }
  g_test_message ("%u inputs", n);
  g_assert_cmpuint (n, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_autofree char *name = g_strdup_printf ("/fuzz/%s-takes-anything", fuzz_name);
  g_test_add_func (name, test_anything_is_taken);
  return g_test_run ();
}
