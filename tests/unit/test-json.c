/* SPDX-License-Identifier: BSD-3-Clause */
/* The command's JSON reader, on valid texts and on what a broken node might send. */
#include "text/json.h"

#include <math.h>
#include <string.h>

static void
test_values (void)
{
  g_autoptr (GVariant) value = json_read (
      " {\"a\":1.5e2, \"b\" : [true,false,null,{}], \"c\":\"\\u00e9\\n\\ud83d\\ude00\"} ");
  g_autoptr (GVariant) list = NULL;
  const char *text;
  double number;

  g_assert_nonnull (value);
  g_assert_true (g_variant_lookup (value, "a", "d", &number));
  g_assert_cmpfloat (number, ==, 150);
  g_assert_true (g_variant_lookup (value, "c", "&s", &text));
  g_assert_cmpstr (text, ==, "é\n😀");
  list = g_variant_lookup_value (value, "b", G_VARIANT_TYPE ("av"));
  g_assert_cmpint (g_variant_n_children (list), ==, 4);
}

static void
test_broken (void)
{
  const char *const texts[] = { "",           "{",   "[",    "{\"a\"",    "{\"a\":}", "[1,]",
                                "{\"a\":1,}", "\"",  "\"\\", "\"\\u12\"", "tru",      "1 2",
                                "-",          "nan", "[1}",  "{1:2}",     "\"\\x\"",  "\xff" };
  g_autofree char *deep = g_strnfill (100000, '[');

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    g_assert_null (json_read (texts[i]));
  g_assert_null (json_read (deep));
}

/* Numbers in the form of RFC 8259 are read; other forms that a C library would read are not. */
static void
test_numbers (void)
{
  const char *const good[] = { "0", "-0", "10", "1.5", "-1.25e2", "1E+2", "1e-2", "0.1" };
  const char *const bad[]
      = { "-inf", "-nan", "-infinity", "0x10", "-0x1p3", "01",    "-01", "1.",  "-.5",  ".5",
          "1.e2", "1e",   "1e+",       "+1",   "--1",    "1e1.5", "1,0", "- 1", "1e999" };

  for (gsize i = 0; i < G_N_ELEMENTS (good); i++)
    {
      g_autoptr (GVariant) value = json_read (good[i]);
      g_assert_nonnull (value);
      g_assert_cmpfloat (g_variant_get_double (value), ==, g_ascii_strtod (good[i], NULL));
    }
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *listed = g_strdup_printf ("[%s]", bad[i]);
      g_assert_null (json_read (bad[i]));
      if (strchr (bad[i], ',') == NULL)
        g_assert_null (json_read (listed));
    }
}

/* (transfer full) `depth` nested values, each list with `width` small values before the nested
 * one. */
static char *
nested (guint depth, guint width)
{
  GString *text = g_string_new (NULL);

  for (guint i = 1; i < depth; i++)
    {
      g_string_append (text, i % 2 ? "[" : "{\"k\":");
      for (guint j = 0; i % 2 && j < width; j++)
        g_string_append (text, j % 3 == 0 ? "[]," : j % 3 == 1 ? "{}," : "1,");
    }
  g_string_append (text, "1");
  for (guint i = depth - 1; i > 0; i--)
    g_string_append (text, i % 2 ? "]" : "}");
  return g_string_free (text, FALSE);
}

/* The limit is on the number of open lists and objects, not on their total. */
static void
test_depth (void)
{
  for (guint width = 0; width <= 100; width += 50)
    for (guint depth = 1; depth <= 40; depth++)
      {
        g_autofree char *text = nested (depth, width);
        g_autoptr (GVariant) value = json_read (text);
        g_assert_true ((value != NULL) == (depth <= 32));
      }
}

/* Pairs of code units at the edges of the surrogates. Only a high one and a low one together make a
 * character. */
static void
test_surrogates (void)
{
  const gunichar edges[]
      = { 0x41, 0xd7ff, 0xd800, 0xd801, 0xdbff, 0xdc00, 0xdc01, 0xdfff, 0xe000, 0xffff };

  for (guint i = 0; i < G_N_ELEMENTS (edges); i++)
    for (guint j = 0; j < G_N_ELEMENTS (edges); j++)
      {
        gunichar units[] = { edges[i], edges[j] };
        gunichar both = 0x10000 + ((units[0] & 0x3ff) << 10 | (units[1] & 0x3ff));
        gboolean pair = units[0] >> 10 == 0x36 && units[1] >> 10 == 0x37;
        g_autofree char *text = g_strdup_printf ("\"\\u%04x\\u%04X\"", units[0], units[1]);
        g_autoptr (GVariant) value = json_read (text);
        g_autoptr (GString) wanted = g_string_new (NULL);
        if (pair)
          g_string_append_unichar (wanted, both);
        for (guint k = 0; !pair && k < 2; k++)
          g_string_append_unichar (wanted, units[k] >> 11 == 0x1b ? 0xfffd : units[k]);
        g_assert_nonnull (value);
        g_assert_cmpstr (g_variant_get_string (value, NULL), ==, wanted->str);
      }
}

/* A text that is cut is refused. A text with one changed byte is refused or read as an object. */
static void
test_cut (void)
{
  const char *whole = "{\"a\":[1,-2.5e3,{\"b\":null}],\"c\":\"\\u00e9x\",\"d\":true}";
  g_autoptr (GVariant) sound = json_read (whole);

  g_assert_nonnull (sound);
  for (gsize i = 0; i < strlen (whole); i++)
    {
      g_autofree char *cut = g_strndup (whole, i);
      g_assert_null (json_read (cut));
      g_autofree char *text = g_strdup (whole);
      for (int byte = 1; byte < 256; byte++)
        {
          text[i] = (char)byte;
          g_autoptr (GVariant) value = json_read (text);
          g_assert_true (value == NULL || g_variant_is_of_type (value, G_VARIANT_TYPE_VARDICT));
        }
    }
}

static void
test_lone_surrogate (void)
{
  g_autoptr (GVariant) value = json_read ("\"\\ud800x\\u0000\"");

  g_assert_cmpstr (g_variant_get_string (value, NULL), ==, "\xef\xbf\xbdx\xef\xbf\xbd");
}

static void
test_append (void)
{
  g_autoptr (GString) text = g_string_new (NULL);

  json_append_string (text, "a\"b\\\n\xff");
  json_append_string (text, NULL);
  json_append_member (text, "key", "a\"b");
  json_append_number (text, 3);
  g_string_append_c (text, ' ');
  json_append_number (text, 0.25);
  json_append_number (text, NAN);
  g_assert_cmpstr (text->str, ==,
                   "\"a\\\"b\\\\\\u000a\xef\xbf\xbd\"null,\"key\":\"a\\\"b\"3 0.25null");
}

/* For each byte except NUL: no raw control byte is written, and the text that is read again is the
 * same. */
static void
test_each_byte (void)
{
  for (int byte = 1; byte < 256; byte++)
    {
      const char text[] = { 'a', (char)byte, 'b', '\0' };
      g_autofree char *valid = g_utf8_make_valid (text, -1);
      g_autoptr (GString) json = g_string_new (NULL);
      json_append_string (json, text);
      for (gsize i = 0; i < json->len; i++)
        g_assert_false (g_ascii_iscntrl (json->str[i]));
      g_autoptr (GVariant) value = json_read (json->str);
      g_assert_nonnull (value);
      g_assert_cmpstr (g_variant_get_string (value, NULL), ==, valid);
    }
}

/* Each finite number is read again as it was, and none is long. */
static void
test_each_number (void)
{
  const double edges[] = { 0.1 + 0.2, 1e15, 1e15 - 1, -1e15, 1e300, 5e-324, 0x1p53 + 2, 1 / 3.0 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);

  for (guint i = 0; i < 10000; i++)
    {
      guint64 bits = (guint64)g_rand_int (rand) << 32 | g_rand_int (rand);
      g_autoptr (GString) json = g_string_new (NULL);
      double number;
      memcpy (&number, i < G_N_ELEMENTS (edges) ? (const void *)&edges[i] : &bits, sizeof number);
      json_append_number (json, number);
      g_autoptr (GVariant) value = json_read (json->str);
      g_assert_nonnull (value);
      g_assert_cmpuint (json->len, <=, 24);
      if (isfinite (number))
        g_assert_true (g_variant_get_double (value) == number);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json/values-of-every-kind-are-read", test_values);
  g_test_add_func ("/json/broken-texts-are-refused", test_broken);
  g_test_add_func ("/json/lone-surrogates-and-nul-are-replaced", test_lone_surrogate);
  g_test_add_func ("/json/numbers-are-those-of-the-standard", test_numbers);
  g_test_add_func ("/json/the-limit-is-on-what-is-open", test_depth);
  g_test_add_func ("/json/only-two-surrogates-make-a-character", test_surrogates);
  g_test_add_func ("/json/cut-and-changed-texts", test_cut);
  g_test_add_func ("/json/strings-and-numbers-are-written", test_append);
  g_test_add_func ("/json/each-number", test_each_number);
  g_test_add_func ("/json/each-byte-of-a-string", test_each_byte);
  return g_test_run ();
}
