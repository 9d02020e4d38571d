/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages for the user go to standard error, or, in a program with a main of its own, only to the
 * log. */
#include "host/say.h"

static char *heard;

static void
hear (const char *domain, GLogLevelFlags level, const char *text, gpointer data G_GNUC_UNUSED)
{
  g_assert_cmpstr (domain, ==, SAY_DOMAIN);
  g_assert_cmpint (level, ==, G_LOG_LEVEL_INFO);
  g_free (heard);
  heard = g_strdup (text);
}

static void
test_to_the_log (void)
{
  if (g_test_subprocess ())
    {
      g_log_set_handler (SAY_DOMAIN, G_LOG_LEVEL_INFO, hear, NULL);
      say_to_log (TRUE);
      say_line ("%d nodes", 3);
      g_assert_cmpstr (heard, ==, "3 nodes");
      g_free (heard);
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stderr ("");
}

static void
test_to_standard_error (void)
{
  if (g_test_subprocess ())
    {
      say_to_log (TRUE);
      say_to_log (FALSE);
      say_line ("%d nodes", 3);
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stderr ("satin: 3 nodes\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/say/to-the-log", test_to_the_log);
  g_test_add_func ("/say/to-standard-error", test_to_standard_error);
  return g_test_run ();
}
