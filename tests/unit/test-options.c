/* SPDX-License-Identifier: BSD-3-Clause */
#include "option-samples.h"

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

  parse (zero, "--workers takes a number");
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
                { "1024G", G_GUINT64_CONSTANT (1) << 40 },
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
      const char *argv[] = { "p", "--stack", cases[i].text, NULL };
      Options options = parse (argv, cases[i].bytes != 0 ? NULL : "--stack takes bytes");

      g_assert_cmpuint (options.stack, ==, cases[i].bytes);
      options_clear (&options);
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

/* A program with its own main: its arguments stay, each at its place in memory. */
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

/* `a`, the option in the arguments `first` and `second` (nullable), and `b`: only a and b
 * remain. */
static void
check_taken (const Option *row, const OptionSample *sample, const char *first, const char *second,
             const char *wanted)
{
  const char *argv[] = { "p", "a", first, second != NULL ? second : "b", "b", NULL };
  const char *lone[] = { "p", NULL, NULL };
  g_autofree char *word = g_strdup_printf ("--%s=%s", row->entry.long_name, wanted);
  if (second == NULL)
    argv[4] = NULL;
  lone[1] = word;
  Options options = parse (argv, NULL), other = parse (lone, NULL);
  g_autofree char *got = option_sample_show (row, sample, &options);
  g_autofree char *shown = option_sample_show (row, sample, &other);

  g_assert_cmpstr (got, ==, shown);
  if (row->read == options_count || row->read == options_number || sample->kind == SAMPLE_TEXT)
    g_assert_cmpstr (got, ==, wanted);
  g_assert_cmpint (options.argc, ==, 3);
  g_assert_cmpstr (options.argv[2], ==, "b");
  options_clear (&options);
  options_clear (&other);
}

/* The value may be missing, wrong, or given twice. */
static void
check_value (const Option *row)
{
  const char *name = row->entry.long_name;
  g_autofree char *word = g_strdup_printf ("--%s", name);
  g_autofree char *needs = g_strdup_printf ("option '%s' needs a value", word);
  const char *last[] = { "p", "a", word, NULL }, *cut[] = { "p", word, "--", "1", NULL };
  OptionSample sample;

  option_sample_fill (row, &sample);
  parse (last, needs);
  parse (cut, needs);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *joined = g_strdup_printf ("--%s=%s", name, sample.good[i]);
      g_autofree char *before = g_strdup_printf ("--%s=%s", name, sample.good[!i]);
      g_autofree char *letter = g_strdup_printf ("-%c", row->entry.short_name);
      g_autofree char *both = g_strconcat (letter, sample.good[i], NULL);
      check_taken (row, &sample, joined, NULL, sample.good[i]);
      check_taken (row, &sample, word, sample.good[i], sample.good[i]);
      check_taken (row, &sample, before, joined, sample.good[i]);
      if (row->entry.short_name == '\0')
        continue;
      check_taken (row, &sample, letter, sample.good[i], sample.good[i]);
      check_taken (row, &sample, both, NULL, sample.good[i]);
    }
  g_autofree char *bad = g_strdup_printf ("--%s=%s", name, sample.wrong);
  g_autofree char *why
      = g_strdup_printf ("--%s %s %s", name, *sample.wrong ? "takes" : "needs", row->takes);
  const char *wrong[] = { "p", bad, NULL }, *behind[] = { "p", "--", bad, NULL };
  parse (wrong, why);
  Options options = parse (behind, NULL);
  g_assert_cmpstr (options.argv[1], ==, bad);
  options_clear (&options);
}

/* Each row of the table of a program's options; arguments that only look like an option are left to
 * the program. */
static void
each_option_of_a_program (void)
{
  g_autoptr (GPtrArray) rows = options_at (OPTIONS_PROGRAM, NULL);

  g_assert_cmpuint (rows->len, >=, 13);
  for (guint i = 0; i < rows->len; i++)
    {
      const Option *row = rows->pdata[i];
      const char *name = row->entry.long_name;
      g_autofree char *flag = g_strdup_printf ("--%s", name);
      g_autofree char *with = g_strdup_printf ("--%s=x", name);
      g_autofree char *longer = g_strdup_printf ("--%sx", name);
      g_autofree char *cut = g_strndup (flag, strlen (flag) - 1);
      const char *foreign[] = { "p", longer, cut, "-", "---", "-W3", "-x", NULL, NULL };
      const char *argv[] = { "p", flag, flag, NULL };
      gboolean is_flag = row->entry.arg == G_OPTION_ARG_NONE;
      foreign[7] = is_flag ? with : NULL;
      Options options = parse (foreign, NULL);
      g_assert_cmpint (options.argc, ==, is_flag ? 8 : 7);
      for (int k = 0; k < options.argc; k++)
        g_assert_cmpstr (options.argv[k], ==, foreign[k]);
      options_clear (&options);
      if (!is_flag)
        {
          check_value (row);
          continue;
        }
      options = parse (argv, NULL);
      g_assert_true (*(gboolean *)(void *)((char *)&options + row->field));
      g_assert_cmpint (options.argc, ==, strcmp (name, "help") == 0 ? 3 : 1);
      options_clear (&options);
    }
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
  g_test_add_func ("/options/each-option-of-a-program", each_option_of_a_program);
  return g_test_run ();
}
