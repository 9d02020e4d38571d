/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of coordinator/readable.c. */
#include "coordinator/readable.h"

#include <string.h>

typedef struct
{
  const char *type, *value; /* as g_variant_parse takes it */
  const char *text;
} Case;

static const Case cases[] = {
  { "x", "5", "5" },
  { "t", "18446744073709551615", "18446744073709551615" },
  { "i", "-1", "-1" },
  { "y", "7", "7" },
  { "b", "true", "true" },
  { "d", "0.1", "0.1" },
  { "d", "-0.0", "-0.0" },
  { "d", "3", "3.0" },
  { "d", "0.30000000000000004", "0.30000000000000004" },
  { "d", "1e300", "1e+300" },
  { "s", "'two words'", "'two words'" },
  { "s", "\"it's\\n\"", "'it\\'s\\n'" },
  { "s", "''", "''" },
  { "ay", "[0x74, 0x6f, 0x75, 0x72]", "b'tour'" },
  { "ay", "[0xc3, 0xbc]", "b'ü'" },
  { "ay", "[0xc3]", "0xc3" },
  { "ay", "[0x00, 0x2e]", "0x002e" },
  { "ay", "[]", "b''" },
  { "(iay)", "(1, [0x02, 0x03])", "(1, 0x0203)" },
  { "((di)s)", "((0.5, 2), 'a')", "((0.5, 2), 'a')" },
  { "ai", "[1, 2, 3]", "[1, 2, 3]" },
  { "ai", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]",
    "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, … (17 in all)]" },
};

/* The value's bytes, little-endian. */
static GBytes *
encode (const char *type, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) value = g_variant_parse (G_VARIANT_TYPE (type), text, NULL, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (GVariant) little
      = G_BYTE_ORDER == G_LITTLE_ENDIAN ? g_variant_ref (value) : g_variant_byteswap (value);
  return g_variant_get_data_as_bytes (little);
}

static void
test_values_print_without_the_program (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes = encode (cases[i].type, cases[i].value);

      g_autofree char *text = readable_short (cases[i].type, bytes);

      g_assert_cmpstr (text, ==, cases[i].text);
    }
}

static void
test_doubles_are_exact (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  for (guint i = 0; i < 10000; i++)
    {
      guint64 word = (guint64)g_rand_int (rand) << 32 | g_rand_int (rand);
      guint64 little = GUINT64_TO_LE (word);
      double number;
      memcpy (&number, &word, sizeof number);
      g_autoptr (GBytes) bytes = g_bytes_new (&little, sizeof little);

      g_autofree char *text = readable_short ("d", bytes);

      double back = g_ascii_strtod (text, NULL);
      g_assert_true (back == number || (number != number && strcmp (text, "nan") == 0));
    }
}

static void
test_what_is_large_is_cut_and_says_its_size (void)
{
  g_autoptr (GBytes) zeros = g_bytes_new_take (g_malloc0 (5000000), 5000000);
  char *letters = g_malloc (1001);
  memset (letters, 'x', 1000);
  letters[1000] = '\0';
  g_autoptr (GBytes) string = g_bytes_new_take (letters, 1001);

  g_autofree char *bytes_text = readable_short ("ay", zeros);
  g_autofree char *string_text = readable_short ("s", string);
  g_autofree char *record_text = readable_short ("(ssssssssss)", zeros);

  g_assert_cmpstr (bytes_text, ==, "0x00000000000000000000000000000000… (5000000 bytes)");
  g_assert_true (g_str_has_prefix (string_text, "'xxxxxxxxxx"));
  g_assert_true (g_str_has_suffix (string_text, "'… (1000 bytes)"));
  g_assert_cmpuint (strlen (record_text), <=, READABLE_BYTES_MAX);
}

/* The result is UTF-8 and one line, wherever it is cut. */
static void
test_a_cut_never_splits_a_letter (void)
{
  for (guint n = 0; n < 200; n++)
    {
      g_autoptr (GString) letters = g_string_new (NULL);
      for (guint i = 0; i < n; i++)
        g_string_append (letters, i % 7 == 0 ? "x" : "€");
      g_autoptr (GBytes) string = g_bytes_new (letters->str, letters->len + 1);
      g_autoptr (GBytes) bytes = g_bytes_new (letters->str, letters->len);

      g_autofree char *string_text = readable_short ("s", string);
      g_autofree char *bytes_text = readable_short ("ay", bytes);

      g_assert_true (g_utf8_validate (string_text, -1, NULL));
      g_assert_true (g_utf8_validate (bytes_text, -1, NULL));
      g_assert_cmpuint (strlen (string_text), <=, READABLE_BYTES_MAX);
      g_assert_true (g_str_has_prefix (bytes_text, "b'"));
    }
}

static void
test_bytes_of_another_type_are_only_counted (void)
{
  static const struct
  {
    const char *type;
    gsize size;
  } values[] = { { "x", 4 }, { "not a type", 3 }, { "a*", 3 }, { "s", 3 } };
  for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new_static ("torn", values[i].size);
      g_autofree char *wanted = g_strdup_printf (
          "%" G_GSIZE_FORMAT " bytes that are not of type '%s'", values[i].size, values[i].type);

      g_autofree char *text = readable_short (values[i].type, bytes);

      g_assert_cmpstr (text, ==, wanted);
      g_assert_null (readable_whole (values[i].type, bytes));
    }
}

static void
test_the_whole_text_comes_back_as_it_was (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes = encode (cases[i].type, cases[i].value);

      g_autofree char *text = readable_whole (cases[i].type, bytes);

      g_autoptr (GBytes) again = encode (cases[i].type, text);
      g_assert_true (g_bytes_equal (again, bytes));
    }
}

/* A file may contain anything there: the result is one line of printable letters. */
static void
test_json_of_a_file (void)
{
  static const struct
  {
    const char *text, *shown;
    gsize size;
  } texts[] = { { "[1,\"é\"]", "[1,\"é\"]", 8 },
                { "[1,2]garbage", "[1,2]", 5 },
                { "a\nb\033[31mc\177", "a?b?[31mc?", 10 },
                { "", "", 0 } };
  g_autofree char *large = g_strnfill (100000, 'x');

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autofree char *text = readable_json (texts[i].text, texts[i].size);
      g_assert_cmpstr (text, ==, texts[i].shown);
    }
  g_autofree char *cut = readable_json (large, 100000);
  g_assert_cmpuint (strlen (cut), ==, READABLE_BYTES_MAX);
  g_autofree char *broken = readable_json ("\xff\xfe", 2);
  g_assert_true (g_utf8_validate (broken, -1, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/readable/values-print-without-the-program",
                   test_values_print_without_the_program);
  g_test_add_func ("/readable/doubles-are-exact", test_doubles_are_exact);
  g_test_add_func ("/readable/what-is-large-is-cut-and-says-its-size",
                   test_what_is_large_is_cut_and_says_its_size);
  g_test_add_func ("/readable/a-cut-never-splits-a-letter", test_a_cut_never_splits_a_letter);
  g_test_add_func ("/readable/bytes-of-another-type-are-only-counted",
                   test_bytes_of_another_type_are_only_counted);
  g_test_add_func ("/readable/the-whole-text-comes-back-as-it-was",
                   test_the_whole_text_comes_back_as_it_was);
  g_test_add_func ("/readable/json-of-a-file", test_json_of_a_file);
  return g_test_run ();
}
