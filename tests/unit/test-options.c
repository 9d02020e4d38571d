/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/options.h"

#include <string.h>

static Options
parse (const char *const *argv, const char *expected_error)
{
  Options options;
  g_autoptr (GError) error = NULL;
  gboolean fine
      = options_parse (&options, (int)g_strv_length ((char **)argv), (char **)argv, &error);
  if (expected_error == NULL)
    g_assert_no_error (error);
  else
    {
      g_assert_false (fine);
      g_assert_nonnull (strstr (error->message, expected_error));
    }
  return options;
}

static void
own_options_are_taken_out (void)
{
  const char *argv[] = { "p",      "a",  "--workers",    "3",       "--interval=0.5", "-x",
                         "--spin", "7",  "--checkpoint", "/t/c.db", "--upper",        "7",
                         "--new",  "--", "--workers",    NULL };

  Options options = parse (argv, NULL);

  g_assert_cmpint (options.workers, ==, 3);
  g_assert_cmpfloat (options.interval_s, ==, 0.5);
  g_assert_cmpint (options.spin_us, ==, 7);
  g_assert_cmpstr (options.checkpoint, ==, "/t/c.db");
  g_assert_true (options.anew);
  g_assert_cmpint (options.argc, ==, 6);
  g_assert_cmpstr (options.argv[1], ==, "a");
  g_assert_cmpstr (options.argv[2], ==, "-x");
  g_assert_cmpstr (options.argv[3], ==, "--upper");
  g_assert_cmpstr (options.argv[4], ==, "7");
  g_assert_cmpstr (options.argv[5], ==, "--workers");
  g_assert_null (options.argv[6]);
  options_clear (&options);
}

static void
workers_have_a_short_name (void)
{
  const char *apart[] = { "p", "-w", "3", "a", NULL }, *attached[] = { "p", "a", "-w3", NULL };
  const char *word[] = { "p", "-wide", NULL }, *behind[] = { "p", "--", "-w", NULL };
  Options options[] = { parse (apart, NULL), parse (attached, NULL), parse (behind, NULL) };

  g_assert_cmpint (options[0].workers, ==, 3);
  g_assert_cmpint (options[0].argc, ==, 2);
  g_assert_cmpint (options[1].workers, ==, 3);
  g_assert_cmpint (options[1].argc, ==, 2);
  g_assert_cmpint (options[2].workers, ==, 0);
  g_assert_cmpstr (options[2].argv[1], ==, "-w");
  parse (word, "-w takes a number from 1 to 1024, not 'ide'");
  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    options_clear (&options[i]);
}

static void
wrong_values_are_refused (void)
{
  const char *zero[] = { "p", "--workers", "0", NULL };
  const char *word[] = { "p", "--workers=x", NULL };
  const char *missing[] = { "p", "--interval", NULL };
  const char *negative[] = { "p", "--interval", "-1", NULL };
  const char *spin[] = { "p", "--spin", "x", NULL };
  const char *memory[] = { "p", "--shared-memory", "0", NULL };
  const char *scheme[] = { "p", "--checkpoint", "gopher://h/x", NULL };

  parse (zero, "-w takes a number");
  parse (word, "'x'");
  parse (missing, "needs a value");
  parse (negative, "--interval");
  parse (spin, "--spin");
  parse (memory, "--shared-memory");
  parse (scheme, "gopher");
}

static void
stacks_are_bytes_with_a_unit (void)
{
  static const struct
  {
    const char *text;
    guint64 bytes; /* 0: refused */
  } cases[] = { { "131072", 131072 },
                { "128K", 131072 },
                { "128k", 131072 },
                { "64M", 64 << 20 },
                { "4G", G_GUINT64_CONSTANT (4) << 30 },
                { "1024G", OPTIONS_BYTES_MAX },
                { "1025G", 0 },
                { "127K", 0 },
                { "18446744073709551615G", 0 },
                { "99999999999999999999", 0 },
                { "", 0 },
                { "M", 0 },
                { "-1M", 0 },
                { " 64M", 0 },
                { "64 M", 0 },
                { "64MB", 0 },
                { "64T", 0 },
                { "0x100M", 0 } };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint64 bytes = 0;
      gboolean good = options_read_stack (cases[i].text, &bytes);

      g_assert_cmpint (good, ==, cases[i].bytes != 0);
      g_assert_cmpuint (bytes, ==, cases[i].bytes);
    }
}

static void
files_become_absolute (void)
{
  const char *argv[] = { "p", "--trace=t.json", "--stack", "1M", "--shared-memory", "3K", NULL };
  g_autofree char *expected = g_canonicalize_filename ("t.json", NULL);
  Options options = parse (argv, NULL);

  g_assert_cmpstr (options.trace, ==, expected);
  g_assert_cmpuint (options.stack, ==, 1 << 20);
  g_assert_cmpuint (options.shared_memory, ==, 3 << 10);
  options_clear (&options);
}

/* A main of the program's own: its words stay, each where it was in memory. */
static void
what_is_left_is_taken_out_in_place (void)
{
  char *argv[] = { (char *)"p", (char *)"--checkpoint", (char *)"c",
                   (char *)"c", (char *)"--help",       (char *)"-w",
                   (char *)"2", (char *)"--",           (char *)"-w",
                   NULL };
  char *help = argv[4], *last = argv[8];
  int argc = G_N_ELEMENTS (argv) - 1;
  Options options;

  g_assert_true (options_parse (&options, argc, argv, NULL));
  options_take_out (&options, &argc, argv);

  g_assert_cmpint (argc, ==, 4);
  g_assert_cmpstr (argv[0], ==, "p");
  g_assert_cmpstr (argv[1], ==, "c");
  g_assert_true (argv[2] == help);
  g_assert_cmpstr (argv[3], ==, last);
  g_assert_null (argv[4]);
  g_assert_true (options.help);
  options_clear (&options);
}

static void
file_uris_are_paths (void)
{
  const char *argv[] = { "p", "--checkpoint", "file:///a/b%20c", NULL };
  Options options = parse (argv, NULL);

  g_assert_cmpstr (options.checkpoint, ==, "/a/b c");
  options_clear (&options);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/options/own-options-are-taken-out", own_options_are_taken_out);
  g_test_add_func ("/options/workers-have-a-short-name", workers_have_a_short_name);
  g_test_add_func ("/options/wrong-values-are-refused", wrong_values_are_refused);
  g_test_add_func ("/options/what-is-left-is-taken-out-in-place",
                   what_is_left_is_taken_out_in_place);
  g_test_add_func ("/options/file-uris-are-paths", file_uris_are_paths);
  g_test_add_func ("/options/stacks-are-bytes-with-a-unit", stacks_are_bytes_with_a_unit);
  g_test_add_func ("/options/files-become-absolute", files_become_absolute);
  return g_test_run ();
}
