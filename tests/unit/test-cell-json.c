/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of storage/cell-json.c: the text is JSON that preserves each number, and never longer than
 * asked for. */
#include "storage/cell.h"

#include <glib.h>
#include <string.h>

static void
assert_json (const char *text, const char *wanted, gsize bytes_max)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) value = g_variant_parse (NULL, text, NULL, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (GVariant) little
      = G_BYTE_ORDER == G_LITTLE_ENDIAN ? g_variant_ref (value) : g_variant_byteswap (value);
  g_autoptr (GBytes) bytes = g_variant_get_data_as_bytes (little);
  g_autofree char *json = cell_json (g_variant_get_type_string (value), bytes, bytes_max);
  g_assert_cmpstr (json, ==, wanted);
}

static void
test_values (void)
{
  assert_json ("(1, int64 -9223372036854775808, uint64 18446744073709551615)",
               "[1,-9223372036854775808,18446744073709551615]", 64);
  assert_json ("(int16 -32768, uint16 65535, -2147483648, uint32 4294967295, int64 0)",
               "[-32768,65535,-2147483648,4294967295,0]", 64);
  assert_json ("(int16 32767, 2147483647, int64 9223372036854775807, byte 0x00, false)",
               "[32767,2147483647,9223372036854775807,0,false]", 64);
  assert_json ("(0.1, 1.0, -0.0, 1e300)", "[0.1,1.0,-0.0,1e+300]", 64);
  assert_json ("(0.30000000000000004, byte 0x7f, true)", "[0.30000000000000004,127,true]", 64);
  assert_json ("('a\"b\\\\c\\n', '')", "[\"a\\\"b\\\\c\\u000a\",\"\"]", 64);
  assert_json ("(' !#~', '\\u0001\\u001f')", "[\" !#~\",\"\\u0001\\u001f\"]", 64);
  assert_json ("([byte 0x01, 0xff], [1, 2], @ai [])", "[[1,255],[1,2],[]]", 64);
  assert_json ("[byte 0x01, 0xff]", "\"01ff\"", 64);
}

static void
test_numbers_that_json_lacks (void)
{
  double numbers[] = { G_MAXDOUBLE, G_MAXDOUBLE, 0 };
  numbers[0] *= 10;
  numbers[1] *= -10;
  numbers[2] = numbers[0] + numbers[1];
  g_autoptr (GVariant) value = g_variant_ref_sink (
      g_variant_new_fixed_array (G_VARIANT_TYPE_DOUBLE, numbers, 3, sizeof (double)));
  g_autoptr (GVariant) little
      = G_BYTE_ORDER == G_LITTLE_ENDIAN ? g_variant_ref (value) : g_variant_byteswap (value);
  g_autoptr (GBytes) bytes = g_variant_get_data_as_bytes (little);
  g_autofree char *json = cell_json ("ad", bytes, 64);
  g_assert_cmpstr (json, ==, "[\"Infinity\",\"-Infinity\",\"NaN\"]");
}

/* A value whose bytes are not of its type has no text. */
static void
test_no_value_is_made_up (void)
{
  static const struct
  {
    const char *type;
    gsize size;
  } cases[] = { { "i", 3 }, { "i", 5 }, { "(xi)", 8 }, { "ax", 7 }, { "b", 2 }, { "s", 3 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new_static ("\1\1\1\1\1\1\1\1", cases[i].size);
      g_assert_null (cell_json (cases[i].type, bytes, 64));
    }
}

static void
test_limits (void)
{
  assert_json ("[1, 2, 3]", "[1,2,3]", 7);
  assert_json ("[1, 2, 3]", NULL, 6);
  g_autofree char *zeros = g_malloc0 (1 << 20);
  g_autoptr (GBytes) large = g_bytes_new_static (zeros, 1 << 20);
  g_assert_null (cell_json ("ax", large, 64));
}

/* Bytes that do not fit the type give no JSON, whatever they are. */
static void
test_bytes_of_another_type (void)
{
  static const char *const types[] = { "(is)", "as", "a(ay)", "(xqay)", "v", "nonsense", "a*", "" };
  for (guint n = 0; n < 20000; n++)
    {
      guint8 bytes[24];
      gsize size = (gsize)g_test_rand_int_range (0, sizeof bytes);
      for (gsize i = 0; i < size; i++)
        bytes[i] = (guint8)g_test_rand_int_range (0, n % 2 == 0 ? 256 : 4);
      g_autoptr (GBytes) value = g_bytes_new (bytes, size);
      g_autofree char *json = cell_json (types[n % G_N_ELEMENTS (types)], value, 64);
      g_assert_true (json == NULL || (strlen (json) <= 64 && g_utf8_validate (json, -1, NULL)));
    }
}

/* An integer of a file is a value of a type only if it is in the type's range: nothing is cut
 * off. */
static void
test_integers_in_range (void)
{
  static const struct
  {
    const char *type;
    gint64 least, most;
  } ranges[]
      = { { "y", 0, G_MAXUINT8 },          { "n", G_MININT16, G_MAXINT16 }, { "q", 0, G_MAXUINT16 },
          { "i", G_MININT32, G_MAXINT32 }, { "u", 0, G_MAXUINT32 },         { "t", 0, G_MAXINT64 },
          { "x", G_MININT64, G_MAXINT64 } };
  for (gsize i = 0; i < G_N_ELEMENTS (ranges); i++)
    for (int k = 0; k < 4; k++)
      {
        gint64 least = ranges[i].least, most = ranges[i].most;
        if ((k == 0 && least == G_MININT64) || (k == 3 && most == G_MAXINT64))
          continue;
        gint64 number = k == 0 ? least - 1 : k == 1 ? least : k == 2 ? most : most + 1;
        RecordColumn column = { .kind = 'i', .integer = number };
        g_autoptr (GBytes) bytes = cell_of_column (&column, ranges[i].type);
        g_assert_cmpint (bytes != NULL, ==, k == 1 || k == 2);
      }
  RecordColumn column = { .kind = 'i', .integer = 1 };
  g_assert_null (cell_of_column (&column, "s"));
  g_assert_null (cell_of_column (&column, "d"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cell-json/values", test_values);
  g_test_add_func ("/cell-json/numbers-that-json-lacks", test_numbers_that_json_lacks);
  g_test_add_func ("/cell-json/limits", test_limits);
  g_test_add_func ("/cell-json/no-value-is-made-up", test_no_value_is_made_up);
  g_test_add_func ("/cell-json/bytes-of-another-type", test_bytes_of_another_type);
  g_test_add_func ("/cell-json/integers-in-range", test_integers_in_range);
  return g_test_run ();
}
