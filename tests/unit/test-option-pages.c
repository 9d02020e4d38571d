/* SPDX-License-Identifier: BSD-3-Clause */
/* The help pages and the manuals agree with the tables of options: which program takes an option,
 * its letter, its limits, and its default. Needs SATIN_SOURCE. */
#include "command/arguments.h"

#include "protocol/control/stop.h"

#include <string.h>

/* Items of a manual: the text of each list item of an option or a verb, by its name: "run", "run
 * --nodes", "run -n"; "program --spin" in satin(7). */
typedef struct
{
  GHashTable *texts; /* of GString, which names share */
  GPtrArray *all;    /* of GString */
} Manual;

static void
manual_clear (Manual *manual)
{
  g_hash_table_unref (manual->texts);
  g_ptr_array_unref (manual->all);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Manual, manual_clear)

static gboolean
has_source (void)
{
  if (g_getenv ("SATIN_SOURCE") == NULL)
    g_test_skip ("SATIN_SOURCE is not set");
  return g_getenv ("SATIN_SOURCE") != NULL;
}

static void
free_string (gpointer string)
{
  g_string_free (string, TRUE);
}

/* The options that the macros of `line` name, as --name and -n. (transfer full; of char *) */
static GPtrArray *
options_of (const char *line)
{
  g_autoptr (GRegex) regex
      = g_regex_new ("\\bFl (?:Fl ([a-z-]{2,})|([A-Za-z])(?=\\s|$))", 0, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  for (g_regex_match (regex, line, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL))
    {
      g_autofree char *name = g_match_info_fetch (match, 1),
                      *letter = g_match_info_fetch (match, 2);
      g_ptr_array_add (names, *name != '\0' ? g_strconcat ("--", name, NULL)
                                            : g_strconcat ("-", letter, NULL));
    }
  return names;
}

/* (transfer full) The lines of the section `title`, with their macros. */
static char **
read_section (const char *file, const char *title)
{
  g_autofree char *path = g_build_filename (g_getenv ("SATIN_SOURCE"), file, NULL);
  g_autofree char *heading = g_strdup_printf ("\n.Sh %s\n", title), *text = NULL;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  char *begin = strstr (text, heading);
  g_assert_nonnull (begin);
  begin += strlen (heading);
  char *end = strstr (begin, "\n.Sh ");
  g_assert_nonnull (end);
  *end = '\0';
  return g_strsplit (begin, "\n", -1);
}

/* `verb`: the verb of the items before the first one that names a verb. */
static Manual
read_manual (const char *file, const char *title, const char *verb)
{
  Manual manual = { g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                    g_ptr_array_new_with_free_func (free_string) };
  g_auto (GStrv) lines = read_section (file, title);
  g_autofree char *at = g_strdup (verb);
  GString *text = g_string_new (NULL);

  g_ptr_array_add (manual.all, text);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      if (g_str_has_prefix (lines[i], ".It Cm ") || g_str_has_prefix (lines[i], ".It Fl "))
        g_ptr_array_add (manual.all, text = g_string_new (NULL));
      if (g_str_has_prefix (lines[i], ".It Cm "))
        {
          g_free (at);
          at = g_strndup (lines[i] + 7, strcspn (lines[i] + 7, " "));
          g_hash_table_insert (manual.texts, g_strdup (at), text);
        }
      else if (g_str_has_prefix (lines[i], ".It Fl "))
        {
          g_autoptr (GPtrArray) names = options_of (lines[i]);
          for (guint k = 0; k < names->len; k++)
            g_assert_true (g_hash_table_insert (
                manual.texts, g_strconcat (at, " ", (char *)names->pdata[k], NULL), text));
        }
      else
        g_string_append_printf (text, "%s ", lines[i] + (lines[i][0] == '.'));
    }
  return manual;
}

/* TRUE if a row has this name, in the manual's form: --nodes or -n. */
static gboolean
has_name (const GPtrArray *rows, const char *name)
{
  const char *value;
  return options_find (rows, name, &value) != NULL && value == NULL;
}

/* TRUE if the item may refer to that of `run` instead of repeating a row. */
static gboolean
is_as_of_run (const GString *text)
{
  return g_str_has_prefix (text->str, "As of Cm run ");
}

static void
check_row (const Manual *manual, const char *verb, const Option *row)
{
  g_autofree char *key = g_strdup_printf ("%s --%s", verb, row->entry.long_name);
  g_autofree char *letter = g_strdup_printf ("%s -%c", verb, row->entry.short_name);
  g_autofree char *limits = options_limits (row);
  const GString *text = g_hash_table_lookup (manual->texts, key);

  if (text == NULL)
    g_error ("the manual lacks '%s'", key);
  if (row->entry.short_name != '\0' && g_hash_table_lookup (manual->texts, letter) != text)
    g_error ("the manual lacks '%s'", letter);
  if (is_as_of_run (text))
    return;
  if (limits != NULL && strstr (text->str, limits) == NULL)
    g_error ("the manual does not say of '%s': %s", key, limits);
  if (row->usual == NULL || !g_ascii_isdigit (row->usual[0]))
    return;
  g_autofree char *usual = g_strndup (row->usual, strcspn (row->usual, ", "));
  g_autofree char *sentence = g_strdup_printf ("The default is %s", usual);
  const char *found = strstr (text->str, sentence);
  if (found == NULL || strchr (" .,", found[strlen (sentence)]) == NULL)
    g_error ("the manual does not say of '%s': %s", key, sentence);
}

/* Checks that the manual has all options of `rows` and no others. */
static void
check_verb (const Manual *manual, const char *verb, const GPtrArray *rows)
{
  g_autofree char *prefix = g_strdup_printf ("%s -", verb);
  GHashTableIter iter;
  gpointer key;

  for (guint i = 0; i < rows->len; i++)
    {
      const Option *row = rows->pdata[i];
      if (strcmp (verb, "program") == 0 || strcmp (row->entry.long_name, "help") != 0)
        check_row (manual, verb, row);
    }
  g_hash_table_iter_init (&iter, manual->texts);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    if (g_str_has_prefix (key, prefix) && !has_name (rows, (char *)key + strlen (verb) + 1))
      g_error ("the manual has '%s', which is no option", (char *)key);
}

/* resume takes the options of run, except those that its text names. */
static void
check_resume (const Manual *manual)
{
  const GString *text = g_hash_table_lookup (manual->texts, "resume");
  const char *begin = strstr (text->str, "The options are those of Cm run , except ");
  g_assert_nonnull (begin);
  g_autofree char *sentence = g_strndup (begin, strcspn (begin, "."));
  g_autoptr (GPtrArray) excepted = options_of (sentence);
  g_autoptr (GPtrArray) of_run = arguments_rows ("run"), of_resume = arguments_rows ("resume");

  g_assert_cmpuint (of_run->len, ==, of_resume->len + excepted->len);
  for (guint i = 0; i < excepted->len; i++)
    g_assert_true (has_name (of_run, excepted->pdata[i])
                   && !has_name (of_resume, excepted->pdata[i]));
  for (guint i = 0; i < of_resume->len; i++)
    g_assert_true (g_ptr_array_find (of_run, of_resume->pdata[i], NULL));
}

static char **
all_verbs (void)
{
  g_autofree char *list = arguments_takers ("--help");
  return g_strsplit (list, ", ", -1);
}

static void
satin_1_has_each_option (void)
{
  if (!has_source ())
    return;
  g_auto (Manual) manual = read_manual ("satin/command/satin.1", "VERBS", "");
  g_auto (GStrv) verbs = all_verbs ();

  for (guint i = 0; verbs[i] != NULL; i++)
    {
      g_autoptr (GPtrArray) rows = arguments_rows (verbs[i]);
      g_assert_true (g_hash_table_contains (manual.texts, verbs[i]));
      if (strcmp (verbs[i], "resume") == 0)
        check_resume (&manual);
      else
        check_verb (&manual, verbs[i], rows);
    }
}

static void
satin_7_has_each_option (void)
{
  if (!has_source ())
    return;
  g_auto (Manual) manual
      = read_manual ("satin/satin.7", "OPTIONS OF EVERY PROGRAM", OPTIONS_PROGRAM);
  g_autoptr (GPtrArray) rows = options_at (OPTIONS_PROGRAM, NULL);

  check_verb (&manual, OPTIONS_PROGRAM, rows);
}

/* `entry`, an entry of the synopsis, has options of `verb` alone, and all of them unless it says
 * "option ...". */
static void
check_entry (const char *entry, const char *verb)
{
  g_autoptr (GPtrArray) rows = arguments_rows (verb), names = options_of (entry);

  for (guint i = 0; i < names->len; i++)
    if (!has_name (rows, names->pdata[i]))
      g_error ("the synopsis has '%s %s'", verb, (char *)names->pdata[i]);
  for (guint i = 0; strstr (entry, ".Op Ar option ...") == NULL && i < rows->len; i++)
    {
      const Option *row = rows->pdata[i];
      g_autofree char *name = g_strconcat ("--", row->entry.long_name, NULL);
      g_autofree char *letter = g_strdup_printf ("-%c", row->entry.short_name);
      if (strcmp (name, "--help") != 0
          && !g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL)
          && !g_ptr_array_find_with_equal_func (names, letter, g_str_equal, NULL))
        g_error ("the synopsis lacks '%s %s'", verb, name);
    }
}

static void
the_synopsis_is_true (void)
{
  if (!has_source ())
    return;
  g_auto (GStrv) lines = read_section ("satin/command/satin.1", "SYNOPSIS");
  g_autofree char *text = g_strjoinv ("\n", lines);
  g_auto (GStrv) entries = g_strsplit (text, ".Nm\n.Cm ", -1);
  g_auto (GStrv) verbs = all_verbs ();
  guint found = 0;

  for (guint i = 1; entries[i] != NULL; i++)
    {
      g_autofree char *line = g_strndup (entries[i], strcspn (entries[i], "\n"));
      g_auto (GStrv) named = g_strsplit (line, " | ", -1);
      for (guint k = 0; named[k] != NULL; k++)
        if (g_strv_contains ((const char *const *)verbs, named[k]) && ++found > 0)
          check_entry (entries[i], named[k]);
    }
  g_assert_cmpuint (found, ==, g_strv_length (verbs));
}

/* The page has one line for each row: names, value, help, and then default and limits. */
static void
help_has_each_option (void)
{
  g_auto (GStrv) verbs = all_verbs ();

  for (guint i = 0; i == 0 || verbs[i - 1] != NULL; i++)
    {
      g_autoptr (GPtrArray) rows
          = i == 0 ? options_at (OPTIONS_PROGRAM, NULL) : arguments_rows (verbs[i - 1]);
      g_autofree char *page = options_page (rows, "satin x", "RUN", "Does it.", "The end.");
      g_auto (GStrv) lines = g_strsplit (page, "\n", -1);
      guint found = 0;
      g_assert_nonnull (strstr (page, "satin x [OPTION"));
      for (guint k = 0; lines[k] != NULL; k++)
        {
          if (!g_str_has_prefix (lines[k], "  -"))
            continue;
          const Option *row = rows->pdata[found++];
          g_autofree char *limits = options_limits (row);
          g_autofree char *name = g_strdup_printf (
              "--%s%s%s ", row->entry.long_name, row->entry.arg == G_OPTION_ARG_NONE ? "" : "=",
              row->entry.arg == G_OPTION_ARG_NONE ? "" : row->entry.arg_description);
          g_assert_nonnull (strstr (lines[k], name));
          g_assert_nonnull (strstr (lines[k], row->entry.description));
          g_assert_true (row->usual == NULL || strstr (lines[k], row->usual) != NULL);
          g_assert_true (limits == NULL || strstr (lines[k], limits) != NULL);
          g_assert_true (row->entry.short_name == '\0' || lines[k][3] == row->entry.short_name);
        }
      g_assert_cmpuint (found, ==, rows->len);
    }
}

static const Option *
row_of (const char *verb, const char *word)
{
  const char *value;
  g_autoptr (GPtrArray) rows = arguments_rows (verb);
  return options_find (rows, word, &value);
}

/* Numbers in the text of a row are those of the constants. */
static void
words_are_those_of_constants (void)
{
  const struct
  {
    const char *verb, *word;
    double value;
  } usual[] = { { "run", "--heartbeat", FOLDER_HEARTBEAT_DEFAULT_S },
                { "run", "--silence", FOLDER_SILENCE_DEFAULT_S },
                { "suspend", "--within", STOP_DRAIN_US / (double)G_USEC_PER_SEC } };
  g_autofree char *limits
      = g_strdup_printf ("from %g to %.10g,", FOLDER_INTERVAL_MIN_S, FOLDER_INTERVAL_MAX_S);
  const Option *protect = row_of ("run", "--protect"), *silence = row_of ("run", "--silence");

  for (guint i = 0; i < G_N_ELEMENTS (usual); i++)
    g_assert_cmpfloat (g_ascii_strtod (row_of (usual[i].verb, usual[i].word)->usual, NULL), ==,
                       usual[i].value);
  g_assert_nonnull (strstr (row_of ("run", "--interval")->takes, limits));
  g_assert_cmpfloat_with_epsilon (silence->least,
                                  FOLDER_HEARTBEAT_MIN_S * FOLDER_SILENCE_HEARTBEATS, 1e-9);
  g_auto (GStrv) plans = g_strsplit (protect->takes, ", ", -1);
  for (guint i = 0; i < PLANS; i++)
    {
      g_assert_nonnull (strstr (protect->takes, plan_name ((PlanName)i)));
      g_assert_nonnull (strstr (protect->entry.description, plan_name ((PlanName)i)));
    }
  g_assert_cmpuint (g_strv_length (plans), ==, PLANS - 1); /* the last two are joined by "or" */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/option-pages/help-has-each-option", help_has_each_option);
  g_test_add_func ("/option-pages/words-are-those-of-constants", words_are_those_of_constants);
  g_test_add_func ("/option-pages/satin-1-has-each-option", satin_1_has_each_option);
  g_test_add_func ("/option-pages/satin-7-has-each-option", satin_7_has_each_option);
  g_test_add_func ("/option-pages/the-synopsis-is-true", the_synopsis_is_true);
  return g_test_run ();
}
