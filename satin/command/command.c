/* SPDX-License-Identifier: BSD-3-Clause */
/* The reading of options. GOptionContext knows the options of a verb and reads them; what it lacks
 * is done before: `-n2`, and a hint at what was meant. One thread. */
#include "command.h"

#include <string.h>

/* The options of a context, which shows them only in its page of --help. */
typedef struct
{
  char short_name; /* '\0': none */
  gboolean has_value;
  char *name;
} Option;

static void
option_clear (gpointer data)
{
  g_free (((Option *)data)->name);
}

/* (transfer full; of Option) */
static GArray *
read_options (GOptionContext *context)
{
  g_autofree char *help = g_option_context_get_help (context, FALSE, NULL);
  g_autoptr (GRegex) line
      = g_regex_new ("^  (?:-(.), )?--([a-z-]+)(=)?", G_REGEX_MULTILINE, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  GArray *options = g_array_new (FALSE, FALSE, sizeof (Option));

  g_array_set_clear_func (options, option_clear);
  for (g_regex_match (line, help, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL))
    {
      g_autofree char *letter = g_match_info_fetch (match, 1);
      g_autofree char *sign = g_match_info_fetch (match, 3);
      Option option = { letter[0], sign != NULL && sign[0] != '\0', g_match_info_fetch (match, 2) };

      g_array_append_val (options, option);
    }
  return options;
}

/* (nullable) What `word`, such as -n, -n2, --nodes or --nodes=2, stands for. */
static const Option *
find_option (const GArray *options, const char *word)
{
  gsize length = strcspn (word + 2, "=");

  for (guint i = 0; i < options->len; i++)
    {
      const Option *option = &g_array_index (options, Option, i);

      if (word[1] == '-'
              ? strncmp (option->name, word + 2, length) == 0 && option->name[length] == '\0'
              : option->short_name == word[1])
        return option;
    }
  return NULL;
}

/* How many letters must be changed, added or left out. */
static guint
distance (const char *a, const char *b)
{
  gsize n = strlen (b);
  g_autofree guint *row = g_new (guint, n + 1);

  for (guint j = 0; j <= n; j++)
    row[j] = j;
  for (guint i = 1; a[i - 1] != '\0'; i++)
    {
      guint corner = row[0]++;

      for (guint j = 1; j <= n; j++)
        {
          guint changed = corner + (a[i - 1] != b[j - 1]);

          corner = row[j];
          row[j] = MIN (changed, MIN (row[j], row[j - 1]) + 1);
        }
    }
  return row[n];
}

const char *
command_nearest (const char *word, const char *const *names)
{
  const char *nearest = NULL;
  guint least = 3; /* two letters are a slip */

  for (; *names != NULL; names++)
    {
      guint apart
          = strlen (word) > 1 && g_str_has_prefix (*names, word) ? 0 : distance (word, *names);

      if (apart < least && apart < strlen (word))
        {
          nearest = *names;
          least = apart;
        }
    }
  return nearest;
}

static gboolean
refuse_option (const GArray *options, const char *verb, const char *word)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  int length = (int)strcspn (word, "=");
  g_autofree char *meant = word[1] == '-' ? g_strndup (word + 2, (gsize)length - 2) : g_strdup ("");
  const char *nearest;

  for (guint i = 0; i < options->len; i++)
    g_ptr_array_add (names, g_array_index (options, Option, i).name);
  g_ptr_array_add (names, NULL);
  nearest = command_nearest (meant, (const char *const *)names->pdata);
  command_usage (verb, "unknown option '%.*s'%s%s%s", length, word,
                 nearest != NULL ? "; did you mean '--" : "", nearest != NULL ? nearest : "",
                 nearest != NULL ? "'?" : "");
  return FALSE;
}

/* Looks at the options up to the first other word. What GOptionContext does not take, it takes as
 * --name=VALUE: *made keeps such a text. FALSE: said on stderr. */
static gboolean
check_options (const GArray *options, const char *verb, int argc, char **argv, GPtrArray *made)
{
  for (int i = 1; i < argc && argv[i][0] == '-' && argv[i][1] != '\0'; i++)
    {
      const char *word = argv[i];
      const Option *option = find_option (options, word);
      gboolean is_long = word[1] == '-';

      if (strcmp (word, "--") == 0)
        break;
      if (option == NULL || (!is_long && !option->has_value && word[2] != '\0'))
        return refuse_option (options, verb, word);
      if (is_long && !option->has_value && strchr (word, '=') != NULL)
        return command_usage (verb, "option '--%s' takes no value", option->name), FALSE;
      if (!option->has_value || (is_long && strchr (word, '=') != NULL))
        continue;
      if (!is_long && word[2] != '\0')
        {
          argv[i] = g_strdup_printf ("--%s=%s", option->name, word + 2);
          g_ptr_array_add (made, argv[i]);
        }
      else if (++i >= argc)
        return command_usage (verb, "option '%s' needs a value", word), FALSE;
    }
  return TRUE;
}

gboolean
command_parse (GOptionContext *context, const char *verb, int *argc, char ***argv)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = g_strdup_printf ("satin %s", verb);
  g_autofree char *spaced = g_strdup_printf ("%s ", verb);
  g_autoptr (GPtrArray) made = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) options = read_options (context);

  g_set_prgname (name);
  g_option_context_set_strict_posix (context, TRUE);
  if (!check_options (options, spaced, *argc, *argv, made))
    return FALSE;
  if (g_option_context_parse (context, argc, argv, &error))
    return TRUE;
  command_usage (spaced, "%s", error->message);
  return FALSE;
}

gboolean
command_parse_words (GOptionContext *context, const char *verb, int argc, char **argv,
                     char ***words)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autofree char **copy = g_memdup2 (argv, ((gsize)argc + 1) * sizeof *argv);
  char **rest = copy;

  for (;; argc--, rest++)
    {
      if (!command_parse (context, verb, &argc, &rest))
        return FALSE;
      if (argc < 2)
        break;
      g_strv_builder_add (builder, rest[1]);
    }
  *words = g_strv_builder_end (builder);
  return TRUE;
}

gboolean
command_parse_one (GOptionContext *context, const char *verb, int argc, char **argv, char **word)
{
  g_auto (GStrv) words = NULL;
  g_autofree char *spaced = g_strdup_printf ("%s ", verb);

  if (!command_parse_words (context, verb, argc, argv, &words))
    return FALSE;
  if (words[0] != NULL && words[1] != NULL)
    return command_usage (spaced, "one run is enough, not '%s' too", words[1]), FALSE;
  *word = g_strdup (words[0]);
  return TRUE;
}
