/* SPDX-License-Identifier: BSD-3-Clause */
/* The command's JSON reader, on good texts and on what a broken node might send. */
#include "command/json.h"

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
  json_append_number (text, 3);
  g_string_append_c (text, ' ');
  json_append_number (text, 0.25);
  json_append_number (text, NAN);
  g_assert_cmpstr (text->str, ==, "\"a\\\"b\\\\\\u000a\xef\xbf\xbd\"null3 0.25null");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json/values-of-every-kind-are-read", test_values);
  g_test_add_func ("/json/broken-texts-are-refused", test_broken);
  g_test_add_func ("/json/lone-surrogates-and-nul-are-replaced", test_lone_surrogate);
  g_test_add_func ("/json/strings-and-numbers-are-written", test_append);
  return g_test_run ();
}
