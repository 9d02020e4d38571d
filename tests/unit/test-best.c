/* SPDX-License-Identifier: BSD-3-Clause */
/* The best values of a program: their order, how they are shown, and that a new run begins with the
 * initial ones. */
#include "config.h"

#include "best.h"
#include "record.h"

#include <string.h>

static const int64_t *
smaller (const int64_t *a, const int64_t *b)
{
  return *b < *a ? b : a;
}

static const char *shown; /* the program's text for a value */

static char *
show (const int64_t *value)
{
  (void)value;
  return g_strdup (shown);
}

SATIN_BEST (int64_t, middle, smaller, 1000)
SATIN_BEST (int64_t, zenith, smaller, 2000)
SATIN_BEST (int64_t, alpha, smaller, 3000)
SATIN_BEST_SHOW (alpha, show)

/* All nodes use the same numbers for best values, whatever order the linker chose. */
static void
test_order (void)
{
  static const char *const names[] = { "alpha", "middle", "zenith" };

  g_assert_cmpuint (best_count (), ==, G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_cmpstr (best_get (i)->name, ==, names[i]);
  g_assert_null (best_get (G_N_ELEMENTS (names)));
}

static void
test_forget (void)
{
  g_autoptr (GBytes) worse = record_encode (&satin_type_int64_t, &(int64_t){ 900 });

  satin_improve (middle, &(int64_t){ 800 });
  satin_improve (middle, &(int64_t){ 700 });
  g_assert_true (best_merge_encoded (&middle_best, worse));
  g_assert_cmpint (satin_best (middle), ==, 700);
  satin_improve (zenith, &(int64_t){ 2001 });
  best_forget ();
  g_assert_cmpint (satin_best (middle), ==, 1000);
  g_assert_cmpint (satin_best (zenith), ==, 2000);
  satin_improve (middle, &(int64_t){ 950 });
  g_assert_cmpint (satin_best (middle), ==, 950);
  best_forget ();
  g_assert_cmpint (satin_best (middle), ==, 1000);
}

static void
check_shown (const char *said, const char *expected)
{
  shown = said;
  g_autofree char *text = best_show (&alpha_best);
  g_assert_cmpstr (text, ==, expected);
}

/* The text is one line of valid UTF-8 of limited length, whatever the program returns. */
static void
test_shown (void)
{
  g_autoptr (GString) most = g_string_new (NULL), more = g_string_new (NULL);

  check_shown (NULL, NULL);
  check_shown ("a tour of 7", "a tour of 7");
  check_shown ("two\nlines\tand \033[2J", "two lines and  [2J");
  for (guint i = 0; i < BEST_SHOW_MAX; i++)
    g_string_append_c (most, 'x');
  check_shown (most->str, most->str);
  g_string_printf (more, "%sy", most->str);
  check_shown (more->str, most->str);
  /* A last character that would be cut is removed as a whole. */
  g_string_truncate (most, BEST_SHOW_MAX - 1);
  g_string_printf (more, "%s\303\244\303\244", most->str);
  check_shown (more->str, most->str);
  shown = "not \377 UTF-8";
  g_autofree char *text = best_show (&alpha_best);
  g_assert_true (g_utf8_validate (text, -1, NULL));
  g_assert_null (best_show (&middle_best));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/best/in-the-order-of-their-names", test_order);
  g_test_add_func ("/best/a-new-run-begins-anew", test_forget);
  g_test_add_func ("/best/what-people-see-is-one-line", test_shown);
  return g_test_run ();
}
