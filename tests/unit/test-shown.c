/* SPDX-License-Identifier: BSD-3-Clause */
/* Times and texts in tables, also texts that are not ASCII or not even UTF-8. */
#include "text/shown.h"

#include <math.h>

static void
durations (void)
{
  static const struct
  {
    double seconds;
    const char *text;
  } cases[] = { { 0, "0.0 s" },
                { 0.44, "0.4 s" },
                { 9.94, "9.9 s" },
                { 9.96, "10 s" },
                { 119, "119 s" },
                { 120, "2 min 00 s" },
                { 125.4, "2 min 05 s" },
                { 7199, "119 min 59 s" },
                { 7199.9, "2 h 00 min" },
                { 90061, "25 h 01 min" },
                { 2 * 86400, "2 d 00 h" },
                { 1e9, "11574 d 01 h" },
                { 1e300, "-" },
                { 9.951, "10 s" },
                { 7200, "2 h 00 min" },
                { -1, "-" },
                { NAN, "-" },
                { INFINITY, "-" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = shown_duration (cases[i].seconds);

      g_assert_cmpstr (text, ==, cases[i].text);
    }
}

static void
time_left_has_a_range (void)
{
  g_autofree char *known = shown_left (65, 9, 125.4), *unknown = shown_left (NAN, NAN, NAN);
  g_autofree char *no_low = shown_left (65, NAN, 70), *no_high = shown_left (65, 9, INFINITY);

  g_assert_cmpstr (known, ==, "about 65 s left (9.0 s to 2 min 05 s)");
  g_assert_cmpstr (unknown, ==, "time left not yet known");
  g_assert_cmpstr (no_low, ==, unknown);
  g_assert_cmpstr (no_high, ==, unknown);
}

static void
texts_are_cut_to_columns (void)
{
  static const struct
  {
    const char *text;
    guint columns;
    const char *cut;
    guint width;
  } cases[] = { { "abc", 3, "abc", 3 },
                { "abcd", 3, "ab…", 3 },
                { "abc", 0, "", 0 },
                { "über", 4, "über", 4 },
                { "überall", 4, "übe…", 4 },
                { "日本語", 6, "日本語", 6 },
                { "日本語", 5, "日本…", 5 },
                { "日本語", 4, "日…", 3 },
                { "e\u0301t\u00e9", 3, "e\u0301t\u00e9", 3 },
                { "a\x1b[1m", 8, "a?[1m", 5 },
                { "caf\xe9", 8, "caf\xef\xbf\xbd", 4 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *cut = shown_cut (cases[i].text, cases[i].columns);
      g_autoptr (GString) line = g_string_new ("|");

      g_assert_cmpstr (cut, ==, cases[i].cut);
      g_assert_cmpuint (shown_width (cut), ==, cases[i].width);
      shown_append (line, cases[i].text, cases[i].columns);
      g_assert_cmpuint (shown_width (line->str), ==, 1 + cases[i].columns);
    }
}

static void
columns_stand_below_each_other (void)
{
  const char *head[] = { "NAME", "N", "REST", NULL }, *one[] = { "ü", "10", "x", NULL };
  const char *two[] = { "日本語", "7", NULL }, *three[] = { "a", "", "", NULL };
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  g_autofree char *table = NULL;

  g_ptr_array_add (rows, head);
  g_ptr_array_add (rows, one);
  g_ptr_array_add (rows, two);
  g_ptr_array_add (rows, three);
  table = shown_table (rows, 1u << 1);
  g_assert_cmpstr (table, ==,
                   "NAME     N  REST\n"
                   "ü       10  x\n"
                   "日本語   7\n"
                   "a\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/shown/durations", durations);
  g_test_add_func ("/shown/time-left-has-a-range", time_left_has_a_range);
  g_test_add_func ("/shown/texts", texts_are_cut_to_columns);
  g_test_add_func ("/shown/tables", columns_stand_below_each_other);
  return g_test_run ();
}
