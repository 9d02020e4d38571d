/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin submit`: which script it asks for, what it refuses, and what it does with the script. This
 * file has a writer of its own, and a sbatch. */
#include "captured.h"

#include "command/command.h"

#include "launch/submit-script.h"

#include <string.h>
#include <sys/stat.h>

static char *here; /* the folder of this test, and the current one */
static GString *asked;

/* The writer. */
char *
submit_script_write (const SubmitScript *script)
{
  g_autofree char *arguments = g_strjoinv (" ", script->arguments);
  g_autofree char *options = g_strjoinv (" ", script->run_options);

  g_assert_cmpstr (script->folder, ==, here);
  g_assert_true (g_path_is_absolute (script->satin));
  g_string_append_printf (
      asked,
      "program %s arguments %s name %s checkpoint %s%s run %s sbatch %s time %s "
      "nodes %d workers %d restarts %d warning %d\n",
      script->program, arguments, script->name,
      script->checkpoint != NULL ? script->checkpoint : "-", script->insecure ? " insecure" : "",
      options, script->sbatch != NULL ? script->sbatch : "-",
      script->time != NULL ? script->time : "-", script->nodes, script->workers, script->restarts,
      script->warning_s);
  return g_strdup ("#!/bin/sh\n" SUBMIT_SIGN ", by the test\n");
}

gint64
submit_script_seconds (const char *time)
{
  return g_ascii_strtoll (time, NULL, 10) * 60;
}

char *
submit_script_name (const char *word)
{
  return g_strconcat ("named-", word, NULL);
}

static char *
in_here (const char *name)
{
  return g_build_filename (here, name, NULL);
}

static void
write_here (const char *name, const char *text)
{
  g_autofree char *path = in_here (name);

  g_assert_true (g_file_set_contents_full (path, text, -1, 0, 0755, NULL));
}

/* (transfer full): what the verb prints. HERE stands for the folder, in `line`, too. */
static char *
submitted (const char *line, int wanted)
{
  g_auto (GStrv) parts = g_strsplit (line, "HERE", -1);
  g_autofree char *whole = g_strjoinv (here, parts);
  g_auto (GStrv) argv = NULL;
  int argc;

  g_assert_true (g_shell_parse_argv (whole, &argc, &argv, NULL));
  g_string_truncate (asked, 0);
  Captured out = captured_begin (STDOUT_FILENO), err = captured_begin (STDERR_FILENO);
  int code = command_submit (argc, argv);
  g_autofree char *messages = captured_end (&err), *text = captured_end (&out);
  g_autofree char *all = g_strconcat (text, messages, NULL);
  if (code != wanted)
    g_error ("'%s' returns %d and prints:\n%s", line, code, all);
  g_auto (GStrv) named = g_strsplit (all, here, -1);
  return g_strjoinv ("HERE", named);
}

/* Each option is where the script needs it. */
static void
a_script_is_what_its_options_say (void)
{
  static const struct
  {
    const char *line, *asked;
  } cases[] = {
    { "submit --print -- HERE/fib 8 'two words'",
      "program HERE/fib arguments 8 two words name named-fib checkpoint - run  sbatch - time - "
      "nodes 1 workers 0 restarts 1000 warning 120\n" },
    { "submit --print -n 3 -w 5 --name tour --checkpoint c.db --run '--interval 7 --protect "
      "mirror' "
      "--sbatch '--partition=few --mem 1' --time 30 --max-restarts 6 --warning 200 -- HERE/fib",
      "program HERE/fib arguments  name tour checkpoint HERE/c.db run --interval 7 --protect "
      "mirror "
      "sbatch --partition=few --mem 1 time 30 nodes 3 workers 5 restarts 6 warning 200\n" },
    { "submit --print --insecure -- HERE/fib", "program HERE/fib arguments  name named-fib "
                                               "checkpoint - insecure run  sbatch - time - nodes 1 "
                                               "workers 0 restarts 1000 warning 120\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = submitted (cases[i].line, 0);
      g_auto (GStrv) parts = g_strsplit (asked->str, here, -1);
      g_autofree char *named = g_strjoinv ("HERE", parts);

      g_assert_cmpstr (named, ==, cases[i].asked);
      g_assert_cmpstr (text, ==, "#!/bin/sh\n" SUBMIT_SIGN ", by the test\n");
    }
}

/* What is refused is not submitted, and writes no script. */
static void
what_cannot_work_is_refused (void)
{
  static const struct
  {
    const char *line;
    int code;
    const char *why;
  } cases[] = {
    { "submit -n 2", 2, "missing program" },
    { "submit --time 2 -- HERE/fib", 2, "--time '2' is not longer than --warning, 120 seconds" },
    { "submit --time 3 --warning 180 -- HERE/fib", 2, "not longer than --warning, 180 seconds" },
    { "submit --sbatch '--a\n--b' -- HERE/fib", 2, "--sbatch takes one line" },
    { "submit --sbatch '--a\r--b' -- HERE/fib", 2, "--sbatch takes one line" },
    { "submit -- HERE/none", 1, "none" },
    { "submit --run \"'\" -- HERE/fib", 2, "--run: " },
    { "submit --run other -- HERE/fib", 2, "--run: 'other' is not an option" },
    { "submit --run '-n 2' -- HERE/fib", 2, "--run conflicts with" },
    { "submit --run '-w 2' -- HERE/fib", 2, "--run conflicts with" },
    { "submit --run '--checkpoint c' -- HERE/fib", 2, "--run conflicts with" },
    { "submit --run '--sites HERE/fib' -- HERE/fib", 2, "--run conflicts with" },
    { "submit --run '--new' -- HERE/fib", 2, "--run conflicts with" },
    { "submit --checkpoint none/c -- HERE/fib", 4, "none/c" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = submitted (cases[i].line, cases[i].code);
      if (strstr (text, cases[i].why) == NULL)
        g_error ("'%s' prints:\n%s", cases[i].line, text);
      g_assert_cmpstr (asked->str, ==, "");
    }
}

/* The script stays, for another job; only such a script is replaced. */
static void
a_script_is_given_to_sbatch (void)
{
  g_autofree char *file = in_here ("own.sbatch"), *given = in_here ("given"), *text = NULL;
  struct stat info;

  write_here ("sbatch", "#!/bin/sh\necho \"$@\" >given\necho '  17;cluster  '\n");
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *said = submitted ("submit --script own.sbatch --name tour -- HERE/fib", 0);
      g_assert_cmpstr (said, ==,
                       "17\nsatin: job 17 is submitted by 'own.sbatch'; the answer goes to "
                       "'tour-17.out', messages to 'tour-17.log'\n");
    }
  g_assert_cmpint (stat (file, &info), ==, 0);
  g_assert_cmpint (info.st_mode & 0777, ==, 0755);
  g_assert_true (g_file_get_contents (given, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "--parsable own.sbatch\n");
  write_here ("sbatch", "#!/bin/sh\necho 'no such partition' >&2\nexit 1\n");
  g_autofree char *refused = submitted ("submit --name tour -- HERE/fib", 1);
  g_assert_cmpstr (refused, ==, "satin: sbatch: no such partition\n");
  write_here ("notes", "my notes\n");
  g_autofree char *kept = submitted ("submit --script notes -- HERE/fib", 1);
  g_assert_cmpstr (kept, ==,
                   "satin: 'notes' is not a script of `satin submit`: name another file with "
                   "--script\n");
  g_autofree char *path = in_here ("notes"), *notes = NULL;
  g_assert_true (g_file_get_contents (path, &notes, NULL, NULL));
  g_assert_cmpstr (notes, ==, "my notes\n");
  g_assert_cmpint (g_unlink ("sbatch"), ==, 0);
  g_autofree char *absent = submitted ("submit --name tour -- HERE/fib", 1);
  g_assert_nonnull (strstr (absent, "is this a host of Slurm?"));
}

int
main (int argc, char **argv)
{
  static const char *const files[]
      = { "fib", "sbatch", "own.sbatch", "tour.sbatch", "notes", "given", "" };

  here = g_dir_make_tmp ("satin-submit-XXXXXX", NULL);
  asked = g_string_new (NULL);
  g_assert_cmpint (chdir (here), ==, 0);
  g_setenv ("PATH", here, TRUE);
  for (guint i = 0; i < 2; i++)
    write_here (files[i], "#!/bin/sh\n");
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/submit/options", a_script_is_what_its_options_say);
  g_test_add_func ("/submit/refused", what_cannot_work_is_refused);
  g_test_add_func ("/submit/sbatch", a_script_is_given_to_sbatch);
  int failed = g_test_run ();
  g_assert_cmpint (chdir ("/"), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = in_here (files[i]);
      g_remove (path);
    }
  g_string_free (asked, TRUE);
  g_free (here);
  return failed;
}
