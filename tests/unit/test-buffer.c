/* SPDX-License-Identifier: BSD-3-Clause */
/* Large buffers: they are complete, do not overlap, are used again, and are not hoarded. */
#include "buffer.h"

#include <string.h>

static void
test_a_buffer_is_used_again (void)
{
  const gsize size = BUFFER_LARGE + 5;
  guint8 *first = buffer_take (size), *second = buffer_take (size);

  g_assert_true (first != second);
  memset (first, 1, size);
  memset (second, 2, size);
  g_assert_cmpint (first[size - 1], ==, 1);
  buffer_give (first, size);

  g_assert_true (buffer_take (size) == first);
  buffer_give (first, size);
  buffer_give (second, size);
}

static void
test_bytes_give_their_buffer_back (void)
{
  const gsize size = 3 * BUFFER_LARGE;
  guint8 *data = buffer_take (size);
  GBytes *bytes = buffer_to_bytes (data, size);
  g_autoptr (GBytes) slice = g_bytes_new_from_bytes (bytes, 7, 100);

  g_bytes_unref (bytes);
  guint8 *other = buffer_take (size); /* a part of the first is still used */
  g_assert_true (other != data);
  g_clear_pointer (&slice, g_bytes_unref);

  guint8 *again = buffer_take (size);
  g_assert_true (again == data);
  buffer_give (again, size);
  buffer_give (other, size);
}

static void
test_small_ones_are_plain (void)
{
  guint8 *data = buffer_take (10);
  g_autoptr (GBytes) bytes = buffer_to_bytes (memset (data, 3, 10), 10);

  g_assert_cmpuint (g_bytes_get_size (bytes), ==, 10);
  buffer_give (NULL, 0);
}

static void
test_too_many_are_not_kept (void)
{
  guint8 *all[64];

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    {
      all[i] = buffer_take (BUFFER_KEPT_MAX / 8);
      all[i][0] = 1;
    }
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    buffer_give (all[i], BUFFER_KEPT_MAX / 8);
  guint8 *huge = buffer_take (BUFFER_KEPT_MAX + 1);
  huge[0] = 1;
  buffer_give (huge, BUFFER_KEPT_MAX + 1); /* returned to the system */
  g_assert_null (buffer_take (G_MAXSIZE - 1));
}

/* Buffers of `n` sizes, which are marked. */
static void
give_marked (const gsize *sizes, guint n)
{
  guint8 *all[8];

  for (guint i = 0; i < n; i++)
    all[i] = memset (buffer_take (sizes[i]), 0x5a, BUFFER_LARGE);
  for (guint i = 0; i < n; i++)
    buffer_give (all[i], sizes[i]);
}

/* TRUE: the next buffer of this size is a marked one, which a new one cannot be. */
static gboolean
is_kept (gsize size)
{
  guint8 *data = buffer_take (size);
  gboolean is_marked = data[0] == 0x5a;

  data[0] = 0;
  buffer_give (data, size);
  return is_marked;
}

/* The oldest go, and only a buffer of the right size is used again. */
static void
test_the_newest_are_kept (void)
{
  static const gsize sizes[] = { 3 * BUFFER_LARGE, 4 * BUFFER_LARGE, 5 * BUFFER_LARGE,
                                 6 * BUFFER_LARGE, 7 * BUFFER_LARGE };
  static const gsize large[] = { BUFFER_KEPT_MAX / 2, BUFFER_KEPT_MAX - BUFFER_LARGE };

  give_marked (sizes, G_N_ELEMENTS (sizes));
  g_assert_false (is_kept (2 * BUFFER_LARGE)); /* this takes the place of the oldest of the four */
  g_assert_false (is_kept (sizes[0]));
  g_assert_true (is_kept (sizes[4]));
  g_assert_true (is_kept (sizes[3]));
  give_marked (large, G_N_ELEMENTS (large));
  g_assert_true (is_kept (large[1]));
  g_assert_false (is_kept (large[0])); /* both are more than the limit */
}

static void
test_slices_are_aligned (void)
{
  guint8 *data = buffer_take (100);

  for (guint8 i = 0; i < 100; i++)
    data[i] = i;
  g_autoptr (GBytes) whole = buffer_to_bytes (data, 100);
  for (gsize start = 0; start <= 90; start++)
    {
      g_autoptr (GBytes) slice = buffer_slice (whole, start, 10);
      const guint8 *at = g_bytes_get_data (slice, NULL);

      g_assert_cmpuint ((guintptr)at % BUFFER_ALIGN, ==, 0);
      g_assert_cmpmem (at, g_bytes_get_size (slice), data + start, 10);
      g_assert_cmpint (at == data + start, ==, start % BUFFER_ALIGN == 0);
    }
  g_autoptr (GBytes) none = buffer_slice (whole, 100, 0);
  g_assert_cmpuint (g_bytes_get_size (none), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/buffer/a-buffer-is-used-again", test_a_buffer_is_used_again);
  g_test_add_func ("/buffer/bytes-give-their-buffer-back", test_bytes_give_their_buffer_back);
  g_test_add_func ("/buffer/small-ones-are-plain", test_small_ones_are_plain);
  g_test_add_func ("/buffer/too-many-are-not-kept", test_too_many_are_not_kept);
  g_test_add_func ("/buffer/the-newest-are-kept", test_the_newest_are_kept);
  g_test_add_func ("/buffer/slices-are-aligned", test_slices_are_aligned);
  return g_test_run ();
}
