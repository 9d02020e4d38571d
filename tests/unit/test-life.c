/* SPDX-License-Identifier: BSD-3-Clause */
/* Life's plane compared with a plain field of cells, and patterns as text. */
#include "rle.h"

#include <string.h>

enum
{
  SIDE = 192,
  STEPS = 20
};

static GArray *
read_text (const char *text, Rule *rule, GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, strlen (text));

  return rle_read ("test", bytes, rule, error);
}

static gboolean
is_alive (const GArray *words, gint64 row, gint64 column)
{
  for (guint i = 0; i < words->len; i++)
    {
      const Word *word = &g_array_index (words, Word, i);

      if (word->row == row && column >= word->column * (gint64)64
          && column < word->column * (gint64)64 + 64)
        return (word->cells >> (column - word->column * (gint64)64) & 1) != 0;
    }
  return FALSE;
}

static void
plain_step (gboolean field[SIDE][SIDE], Rule rule)
{
  static gboolean next[SIDE][SIDE];

  for (int y = 1; y < SIDE - 1; y++)
    for (int x = 1; x < SIDE - 1; x++)
      {
        int n = 0;

        for (int i = 0; i < 9; i++)
          n += i != 4 && field[y + i / 3 - 1][x + i % 3 - 1];
        next[y][x] = ((field[y][x] ? rule.survival : rule.birth) >> n & 1) != 0;
      }
  memcpy (field, next, sizeof next);
}

/* A random pattern in the middle of a field, which lies around row 0 and column 0 of the plane. */
static GArray *
make_soup (gboolean field[SIDE][SIDE], guint32 seed)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  GArray *words = g_array_new (FALSE, FALSE, sizeof (Word));

  memset (field, 0, sizeof (gboolean) * SIDE * SIDE);
  for (int y = STEPS + 2; y < SIDE - STEPS - 2; y++)
    for (int x = STEPS + 2; x < SIDE - STEPS - 2; x++)
      field[y][x] = g_rand_int_range (random, 0, 3) == 0;
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x += 64)
      {
        Word word = { y - SIDE / 2, (x - 128) / 64, 0 };

        for (int bit = 0; bit < 64; bit++)
          word.cells |= (guint64)field[y][x + bit] << bit;
        if (word.cells != 0)
          g_array_append_val (words, word);
      }
  return words;
}

static void
assert_same (const GArray *words, gboolean field[SIDE][SIDE])
{
  g_autoptr (GBytes) bytes = plane_to_bytes (words);
  guint64 population = 0;

  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++)
      {
        population += field[y][x];
        g_assert_cmpint (is_alive (words, y - SIDE / 2, x - 128), ==, field[y][x]);
      }
  g_assert_cmpuint (plane_population (bytes), ==, population);
}

static void
test_rules (void)
{
  static const char *const rules[]
      = { "B3/S23", "b36/s23", "B2/S", "B1357/S1357", "/2", "012345678/8" };
  static gboolean field[SIDE][SIDE];

  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    {
      g_autofree char *text = g_strdup_printf ("x = 0, y = 0, rule = %s\n!", rules[i]);
      g_autoptr (GArray) words = make_soup (field, i), none = NULL;
      g_autoptr (GError) error = NULL;
      Rule rule;

      none = read_text (text, &rule, &error);
      g_assert_no_error (error);
      for (int step = 0; step < STEPS; step++)
        {
          GArray *next = plane_step (words, rule, G_MININT32, G_MAXINT32);

          g_array_unref (words);
          words = next;
          plain_step (field, rule);
        }
      assert_same (words, field);
    }
}

/* Bands of any height, computed for several generations with as many rows around them, give the
 * whole field. */
static void
test_bands (void)
{
  static gboolean field[SIDE][SIDE];
  g_autoptr (GArray) words = make_soup (field, 7),
                     joined = g_array_new (FALSE, FALSE, sizeof (Word));
  const Rule rule = { 1 << 3, 1 << 2 | 1 << 3 };
  gint64 from = G_MININT32;

  for (int i = 0; i < 5; i++)
    {
      gint64 to = i == 4 ? G_MAXINT32 : -70 + i * i * 10;
      g_autoptr (GArray) band = g_array_new (FALSE, FALSE, sizeof (Word));

      for (guint k = 0; k < words->len; k++)
        if (g_array_index (words, Word, k).row >= from - STEPS
            && g_array_index (words, Word, k).row < to + STEPS)
          g_array_append_val (band, g_array_index (words, Word, k));
      for (int left = STEPS - 1; left >= 0; left--)
        {
          GArray *next = plane_step (band, rule, from - left, to + left);

          g_array_unref (band);
          band = next;
        }
      g_array_append_vals (joined, band->data, band->len);
      from = to;
    }
  for (int step = 0; step < STEPS; step++)
    plain_step (field, rule);
  assert_same (joined, field);
}

static void
test_text (void)
{
  static gboolean field[SIDE][SIDE];
  g_autoptr (GArray) words = make_soup (field, 3), back = NULL;
  g_autoptr (GError) error = NULL;
  Rule rule = { 1 << 3 | 1 << 6, 1 << 2 | 1 << 3 }, read;
  GString *text = rle_write (words, rule);

  g_assert_true (g_str_has_prefix (text->str, "x = 148, y = 148, rule = B36/S23\n"));
  for (const char *at = text->str; *at != '\0'; at += strcspn (at, "\n") + 1)
    g_assert_cmpuint (strcspn (at, "\n"), <=, 70);
  back = read_text (text->str, &read, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (read.birth, ==, rule.birth);
  g_assert_cmpuint (read.survival, ==, rule.survival);
  for (int y = 0; y < 148; y++)
    for (int x = 0; x < 148; x++)
      g_assert_cmpint (is_alive (back, y, x), ==, field[y + STEPS + 2][x + STEPS + 2]);
  /* A text that is cut off anywhere is refused. */
  for (gsize n = 0; n < text->len - 2; n += 7)
    {
      g_autofree char *cut = g_strndup (text->str, n);
      g_autoptr (GError) why = NULL;

      g_assert_null (read_text (cut, &read, &why));
      g_assert_true (g_str_has_prefix (why->message, "test, line "));
    }
  g_string_free (text, TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/life/sixty-four-cells-at-once-live-as-one-by-one", test_rules);
  g_test_add_func ("/life/bands-make-the-whole", test_bands);
  g_test_add_func ("/life/a-pattern-is-read-as-it-was-written", test_text);
  return g_test_run ();
}
