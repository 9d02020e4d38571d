/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of verbs: which values each takes, and which options conflict. */
#include "command/arguments.h"

#include "option-samples.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static char *spoken; /* the file that receives stderr */
static int terminal; /* the original stderr */

/* `line` (words separated by spaces) is accepted without a message, or refused with one message
 * that contains `why`, if that is not NULL. `fits`: options that conflict are refused, too. */
static void
read_line (Arguments *options, const char *verb, const char *line, const char *why, gboolean fits)
{
  gboolean resumes = strcmp (verb, "resume") == 0;
  ArgumentsShape shape = resumes                        ? ARGUMENTS_BEHIND
                         : strcmp (verb, "run") == 0    ? ARGUMENTS_PROGRAM
                         : strcmp (verb, "submit") == 0 ? ARGUMENTS_FIRST
                                                        : ARGUMENTS_WORDS;
  const ArgumentsVerb about = { verb, "", "", shape };
  g_autofree char *all = g_strdup_printf ("%s %s", verb, line);
  g_auto (GStrv) argv = g_strsplit (all, " ", -1);
  g_autofree char *words = NULL;

  memset (options, 0, sizeof *options);
  g_assert_nonnull (freopen (spoken, "w", stderr));
  gboolean taken
      = arguments_read (options, &about, (int)g_strv_length (argv), argv)
        && (!fits
            || (arguments_fit (options, resumes)
                && arguments_fit_plan (options, resumes, arguments_nodes (options, resumes))));
  fflush (stderr);
  dup2 (terminal, STDERR_FILENO);
  g_assert_true (g_file_get_contents (spoken, &words, NULL, NULL));
  const char *end = strchr (words, '\n');
  gboolean one = end != NULL && end[1] == '\0' && why != NULL && strstr (words, why) != NULL;
  if (taken != (why == NULL) || (taken ? *words != '\0' : !one))
    g_error ("'%s' is %s with the words '%s'", all, taken ? "taken" : "refused", words);
}

/* The same for run or resume. */
static void
check (Arguments *options, const char *verb, const char *line, const char *why)
{
  read_line (options, verb, line, why, TRUE);
}

/* Each number at its limits and just beyond them, and texts that are almost numbers. */
static void
numbers_have_limits (void)
{
  static const struct
  {
    const char *option;
    double least, most;
    gboolean whole; /* no fractions */
    gsize field;    /* in Arguments */
  } cases[] = { { "--nodes", 1, FOLDER_NODES_MAX, TRUE, G_STRUCT_OFFSET (Arguments, nodes) },
                { "--workers", 1, 1024, TRUE, G_STRUCT_OFFSET (Arguments, own.workers) },
                { "--interval", 0.05, 604800, FALSE, G_STRUCT_OFFSET (Arguments, own.interval_s) },
                { "--heartbeat", 0.05, 201600, FALSE, G_STRUCT_OFFSET (Arguments, heartbeat_s) },
                { "--silence", 0.15, 604800, FALSE, G_STRUCT_OFFSET (Arguments, silence_s) } };
  static const char *const wrong[]
      = { "",     "x",  "1x",  "1,5", "nan", "-nan", "inf", "-inf",      "-1", "0", "-0",
          "1e99", "--", "1\t", "\t",  "1-2", "0.0",  "1..", "NAN(0x12)", "0x", "1e" };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const double step = cases[i].whole ? 1 : 0.001, least = cases[i].least, most = cases[i].most;
      const double values[] = { least - step, least, least + step, most - step, most, most + step };
      for (guint j = 0; j < G_N_ELEMENTS (values); j++)
        {
          g_auto (Arguments) options = { 0 };
          gboolean good = values[j] >= least && values[j] <= most;
          g_autofree char *line
              = g_strdup_printf ("%s=%.*f", cases[i].option, cases[i].whole ? 0 : 3, values[j]);
          check (&options, "run", line, good ? NULL : " takes ");
          char *field = (char *)&options + cases[i].field;
          double got = cases[i].whole ? *(int *)(void *)field : *(double *)(void *)field;
          if (good)
            g_assert_cmpfloat_with_epsilon (got, values[j], 1e-9);
        }
      for (guint j = 0; j < G_N_ELEMENTS (wrong); j++)
        {
          g_auto (Arguments) options = { 0 };
          g_autofree char *line = g_strdup_printf ("%s=%s", cases[i].option, wrong[j]);
          check (&options, "run", line, " takes ");
        }
    }
}

/* Which plans of protection need or refuse a checkpoint, in every combination. */
static void
plans_and_files_fit (void)
{
  static const struct
  {
    const char *plan;
    gboolean alone, with_file;
  } cases[] = { { "", TRUE, TRUE },
                { "--protect=auto", TRUE, TRUE },
                { "--protect=naive", TRUE, FALSE },
                { "--protect=orphan", TRUE, FALSE },
                { "--protect=checkpoint", FALSE, TRUE },
                { "--protect=buddy -n 2", TRUE, TRUE },
                { "--protect=buddy", FALSE, FALSE },
                { "--protect=mirror -n 2", TRUE, TRUE },
                { "--protect=cut", FALSE, TRUE },
                { "--protect=Naive", FALSE, FALSE },
                { "--protect=naives", FALSE, FALSE },
                { "--protect=", FALSE, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint file = 0; file < 2; file++)
      {
        g_auto (Arguments) options = { 0 };
        g_autofree char *line
            = g_strdup_printf ("%s%s%s", cases[i].plan, *cases[i].plan != '\0' && file ? " " : "",
                               file ? "--checkpoint=/x" : "");
        gboolean wanted = file ? cases[i].with_file : cases[i].alone;
        if (*line != '\0')
          check (&options, "run", line, wanted ? NULL : "--protect");
        gboolean naive = strstr (cases[i].plan, "naive") != NULL;
        g_assert_true (!wanted || (options.own.protect == PLAN_NAIVE) == naive);
        /* A run that is resumed has a file, and a number of nodes that it remembers. */
        g_auto (Arguments) resumed = { 0 };
        gboolean fits = cases[i].with_file || strcmp (cases[i].plan, "--protect=buddy") == 0;
        if (*cases[i].plan != '\0')
          check (&resumed, "resume", line, fits ? NULL : "--protect");
      }
}

/* Nodes on other hosts dial the address, so it must be an address. */
static void
only_an_address_can_be_dialled (void)
{
  const char *const good[] = { "127.0.0.1", "10.1.2.3", "::1", "fe80::1" };
  const char *const bad[] = { "0.0.0.0",   "::", "0::0",      "localhost", "1.2.3",
                              "1.2.3.4.5", "",   "1.2.3.4:5", "*",         "256.1.1.1" };

  for (guint i = 0; i < G_N_ELEMENTS (good) + G_N_ELEMENTS (bad); i++)
    {
      gboolean fine = i < G_N_ELEMENTS (good);
      const char *address = fine ? good[i] : bad[i - G_N_ELEMENTS (good)];
      g_auto (Arguments) options = { 0 };
      g_autofree char *line = g_strdup_printf ("--listen=%s", address);
      check (&options, "run", line, fine ? NULL : "--listen takes a numeric address");
      g_assert_true (!fine || (options.tcp && g_str_equal (options.listen, address)));
    }
}

/* Silence is at least three heartbeats. If only one of the two is given, the other is derived from
 * it. */
static void
patience_fits (void)
{
  static const double cases[][4]
      = { /* given: heartbeat, silence; read: the same */
          { 0, 0, 0, 0 },   { 5, 0, 5, 28 },     { 10, 0, 10, 56 },  { 200000, 0, 200000, 604800 },
          { 0, 28, 5, 28 }, { 0, 14, 2.5, 14 },  { 0, 300, 5, 300 }, { 0, 0.15, 0.05, 0.15 },
          { 5, 15, 5, 15 }, { 5, 14.9, -1, -1 }, { 1, 0, 1, 28 },    { 0.05, 0, 0.05, 28 }
        };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (Arguments) options = { 0 };
      g_autoptr (GString) line = g_string_new ("--tcp");
      if (cases[i][0] > 0)
        g_string_append_printf (line, " --heartbeat=%g", cases[i][0]);
      if (cases[i][1] > 0)
        g_string_append_printf (line, " --silence=%g", cases[i][1]);
      check (&options, "run", line->str, cases[i][2] >= 0 ? NULL : "3 times");
      if (cases[i][2] < 0)
        continue;
      g_assert_cmpfloat_with_epsilon (options.heartbeat_s, cases[i][2], 1e-9);
      g_assert_cmpfloat_with_epsilon (options.silence_s, cases[i][3], 1e-9);
    }
}

static void
options_that_conflict (void)
{
  static const struct
  {
    const char *line, *why; /* NULL: it is accepted */
  } cases[] = { { "--sites=f", NULL },
                { "--sites=f --copy", NULL },
                { "--copy", "--copy needs --sites" },
                { "--sites=f -n2", "-n conflicts with --sites" },
                { "--sites=f --nodes 2", "-n conflicts with --sites" },
                { "--steal=rs", NULL },
                { "--steal=r", "--steal takes" },
                { "--checkpoint=", "--checkpoint needs" },
                { "--stats=", "--stats needs" },
                { "--trace=", "--trace needs" },
                { "--stack=127K", "--stack takes" },
                { "--stack=128K", NULL },
                { "--shared-memory=0", "--shared-memory takes" },
                { "--name=.", "--name takes a name" },
                { "--name=a/b", "--name takes a name" },
                { "--name=a", NULL } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint j = 0; j < 2; j++)
      {
        g_auto (Arguments) options = { 0 };
        check (&options, j ? "resume" : "run", cases[i].line, cases[i].why);
      }
}

/* Words after `--`, or from the first word on, belong to the program. After `resume` words are
 * places. */
static void
words_go_to_the_program (void)
{
  static const struct
  {
    const char *verb, *line, *words, *program; /* NULL: none */
    int nodes, workers;
  } cases[] = { { "run", "-n2 fib -w3 9", "", "fib -w3 9", 2, 0 },
                { "run", "-n2 -- -w 3", "", "-w 3", 2, 0 },
                { "run", "-n 2 -w3 -- fib -- -n5", "", "fib -- -n5", 2, 3 },
                { "run", "a -n2 b -- fib", "a b", "fib", 2, 0 },
                { "resume", "place -n 2", "place", NULL, 2, 0 },
                { "resume", "-w3 place -n2 other", "place other", NULL, 2, 3 },
                { "resume", "place -- fib -n5", "place", "fib -n5", 0, 0 },
                { "submit", "-n2 fib -w3 -- 9", "", "fib -w3 -- 9", 2, 0 },
                { "submit", "-w3 -- fib -- 9", "", "fib -- 9", 0, 3 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (Arguments) options = { 0 };
      read_line (&options, cases[i].verb, cases[i].line, NULL, FALSE);
      g_autofree char *words = g_strjoinv (" ", options.words);
      g_autofree char *program = options.program ? g_strjoinv (" ", options.program) : NULL;
      g_assert_cmpstr (words, ==, cases[i].words);
      g_assert_cmpstr (program, ==, cases[i].program);
      g_assert_cmpint (options.nodes, ==, cases[i].nodes);
      g_assert_cmpint (options.own.workers, ==, cases[i].workers);
    }
}

/* Each option sets its field and no other. */
static void
each_option_is_taken (void)
{
#define FIELD(name) G_STRUCT_OFFSET (Arguments, name)
  static const struct
  {
    const char *line;
    gsize field;
  } flags[] = { { "--tcp p", FIELD (tcp) },
                { "--live p", FIELD (live) },
                { "--new p", FIELD (own.anew) },
                { "--mended p", FIELD (own.mended) },
                { "--insecure p", FIELD (own.insecure) },
                { "--closed p", FIELD (closed) },
                { "--copy --sites f p", FIELD (copy) },
                { "--protect naive p", FIELD (own.protect) } }, /* PLAN_NAIVE is 1 */
      texts[] = { { "--checkpoint /f p", FIELD (own.checkpoint) },
                  { "--name f p", FIELD (name) },
                  { "--sites /f p", FIELD (sites) },
                  { "--listen ::1 p", FIELD (listen) },
                  { "--stats /f p", FIELD (own.stats) },
                  { "--trace /f p", FIELD (own.trace) } };
#undef FIELD

  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    {
      g_auto (Arguments) options = { 0 };
      check (&options, "run", flags[i].line, NULL);
      for (guint k = 0; k < G_N_ELEMENTS (flags); k++)
        g_assert_cmpint (*(gboolean *)(void *)((char *)&options + flags[k].field), ==, i == k);
    }
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_auto (Arguments) options = { 0 };
      check (&options, "run", texts[i].line, NULL);
      for (guint k = 0; k < G_N_ELEMENTS (texts); k++)
        {
          const char *got = *(char **)(void *)((char *)&options + texts[k].field);
          g_assert_cmpstr (got, ==, i != k ? NULL : i == 1 ? "f" : i == 3 ? "::1" : "/f");
        }
      g_assert_cmpint (options.tcp, ==, i == 3); /* an address implies TCP */
      g_assert_cmpstr (options.program[0], ==, "p");
    }
}

static void
check_flag (const char *verb, const Option *row)
{
  const char *name = row->entry.long_name;
  g_auto (Arguments) once = { 0 }, twice = { 0 }, with = { 0 }, letter = { 0 };
  g_autofree char *line = g_strdup_printf ("--%s", name);
  g_autofree char *again = g_strdup_printf ("--%s --%s", name, name);
  g_autofree char *value = g_strdup_printf ("--%s=x", name);
  g_autofree char *why = g_strdup_printf ("option '--%s' takes no value", name);
  g_autofree char *short_one = g_strdup_printf ("-%cx", row->entry.short_name);

  read_line (&once, verb, line, NULL, FALSE);
  g_assert_true (*(gboolean *)(void *)((char *)&once + row->field));
  read_line (&twice, verb, again, NULL, FALSE);
  g_assert_true (*(gboolean *)(void *)((char *)&twice + row->field));
  read_line (&with, verb, value, why, FALSE);
  if (row->entry.short_name != '\0')
    read_line (&letter, verb, short_one, "unknown option", FALSE);
}

/* `line`: the option of `row` with values, of which `wanted` is the last. */
static void
check_taken (const char *verb, const Option *row, const OptionSample *sample, const char *line,
             const char *wanted)
{
  g_auto (Arguments) options = { 0 };
  read_line (&options, verb, line, NULL, FALSE);
  g_autofree char *got = option_sample_show (row, sample, &options);

  if (row->read == options_count || row->read == options_number || sample->kind == SAMPLE_TEXT)
    g_assert_cmpstr (got, ==, wanted);
  else
    {
      g_auto (Arguments) other = { 0 };
      g_autofree char *lone = g_strdup_printf ("--%s=%s", row->entry.long_name, wanted);
      read_line (&other, verb, lone, NULL, FALSE);
      g_autofree char *shown = option_sample_show (row, sample, &other);
      g_assert_cmpstr (got, ==, shown);
    }
}

static void
check_value (const char *verb, const Option *row)
{
  const char *name = row->entry.long_name;
  OptionSample sample;
  g_autofree char *needs = g_strdup_printf ("option '--%s' needs a value", name);
  g_autofree char *alone = g_strdup_printf ("--%s", name);
  g_autofree char *dashes = g_strdup_printf ("--%s -- p", name);
  g_auto (Arguments) missing = { 0 }, cut = { 0 }, refused = { 0 }, late = { 0 };

  option_sample_fill (row, &sample);
  for (guint i = 0; i < 2; i++)
    {
      const char *good = sample.good[i];
      const char letter = row->entry.short_name;
      char *forms[]
          = { g_strdup_printf ("--%s=%s", name, good), g_strdup_printf ("--%s %s", name, good),
              g_strdup_printf ("--%s=%s --%s %s", name, sample.good[!i], name, good),
              g_strdup_printf ("-%c %s", letter, good), g_strdup_printf ("-%c%s", letter, good) };
      for (guint k = 0; k < G_N_ELEMENTS (forms); k++)
        {
          if (k < 3 || letter != '\0')
            check_taken (verb, row, &sample, forms[k], good);
          g_free (forms[k]);
        }
    }
  read_line (&missing, verb, alone, needs, FALSE);
  read_line (&cut, verb, dashes, needs, FALSE);
  if (sample.wrong == NULL)
    return;
  g_autofree char *line = g_strdup_printf ("--%s=%s", name, sample.wrong);
  g_autofree char *behind
      = g_strdup_printf ("--%s=%s --%s=%s", name, sample.good[0], name, sample.wrong);
  g_autofree char *why
      = g_strdup_printf ("--%s %s %s", name, *sample.wrong ? "takes" : "needs", row->takes);
  read_line (&refused, verb, line, why, FALSE);
  read_line (&late, verb, behind, why, FALSE);
}

/* Each option of each verb: valid values in each form, the last of two, an invalid one, none. Two
 * options of a verb have different fields. An option of other verbs is refused, and the message
 * names these verbs. */
static void
each_option_of_each_verb (void)
{
  g_autofree char *list = arguments_takers ("--help");
  g_auto (GStrv) verbs = g_strsplit (list, ", ", -1);
  g_autoptr (GHashTable) all = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; verbs[i] != NULL; i++)
    {
      g_autoptr (GPtrArray) rows = arguments_rows (verbs[i]);
      g_autoptr (GHashTable) fields = g_hash_table_new (g_direct_hash, g_direct_equal);
      for (guint k = 0; k < rows->len; k++)
        {
          const Option *row = rows->pdata[k];
          g_hash_table_add (all, (gpointer)row->entry.long_name);
          g_assert_true (g_hash_table_add (fields, GSIZE_TO_POINTER (row->field + 1)));
          if (row->entry.arg == G_OPTION_ARG_NONE && strcmp (row->entry.long_name, "help") != 0)
            check_flag (verbs[i], row);
          else if (row->entry.arg != G_OPTION_ARG_NONE)
            check_value (verbs[i], row);
        }
    }
  g_assert_cmpuint (g_hash_table_size (all), >=, 40);
  for (guint i = 0; verbs[i] != NULL; i++)
    {
      GHashTableIter iter;
      gpointer name;
      g_autoptr (GPtrArray) rows = arguments_rows (verbs[i]);
      g_hash_table_iter_init (&iter, all);
      while (g_hash_table_iter_next (&iter, &name, NULL))
        {
          g_auto (Arguments) options = { 0 };
          g_autofree char *line = g_strdup_printf ("--%s", (char *)name);
          const char *value;
          if (options_find (rows, line, &value) == NULL)
            read_line (&options, verbs[i], line, "': it is for ", FALSE);
        }
    }
}

int
main (int argc, char **argv)
{
  int fd = g_file_open_tmp ("satin-arguments-XXXXXX", &spoken, NULL);

  g_assert_cmpint (fd, >=, 0);
  close (fd);
  terminal = dup (STDERR_FILENO);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/arguments/numbers-have-limits", numbers_have_limits);
  g_test_add_func ("/arguments/plans-and-files-fit", plans_and_files_fit);
  g_test_add_func ("/arguments/only-an-address-can-be-dialled", only_an_address_can_be_dialled);
  g_test_add_func ("/arguments/patience-fits", patience_fits);
  g_test_add_func ("/arguments/options-that-conflict", options_that_conflict);
  g_test_add_func ("/arguments/words-go-to-the-program", words_go_to_the_program);
  g_test_add_func ("/arguments/each-option-is-taken", each_option_is_taken);
  g_test_add_func ("/arguments/each-option-of-each-verb", each_option_of_each_verb);
  int code = g_test_run ();
  g_unlink (spoken);
  g_free (spoken);
  close (terminal);
  return code;
}
