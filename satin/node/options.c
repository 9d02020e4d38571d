/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include "folder/folder.h"

#include "storage/places/place.h"

#include <stdlib.h>
#include <string.h>

/* The value of `--name VALUE`, `--name=VALUE`, `-n VALUE` or `-nVALUE` at argv[*i]; NULL: argv[*i]
 * is something else. */
static const char *
value_of (const char *name, int end, char **argv, int *i, GError **error)
{
  gsize length = strlen (name);
  if (strncmp (argv[*i], name, length) != 0)
    return NULL;
  if (name[1] != '-' && argv[*i][length] != '\0')
    return argv[*i] + length;
  if (argv[*i][length] == '=')
    return argv[*i] + length + 1;
  if (argv[*i][length] != '\0')
    return NULL;
  if (*i + 1 < end)
    return argv[++*i];
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "option '%s' needs a value", name);
  return NULL;
}

static gboolean
set_workers (Options *options, const char *text, GError **error)
{
  guint64 workers;
  if (!g_ascii_string_to_unsigned (text, 10, 1, OPTIONS_WORKERS_MAX, &workers, NULL))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "-w takes a number from 1 to %d, not '%s'", OPTIONS_WORKERS_MAX, text);
      return FALSE;
    }
  options->workers = (int)workers;
  return TRUE;
}

static gboolean
set_spin (Options *options, const char *text, GError **error)
{
  guint64 spin_us;
  if (!g_ascii_string_to_unsigned (text, 10, 0, OPTIONS_SPIN_MAX_US, &spin_us, NULL))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "option '--spin' takes microseconds from 0 to %d, not '%s'", OPTIONS_SPIN_MAX_US,
                   text);
      return FALSE;
    }
  options->spin_us = (gint64)spin_us;
  return TRUE;
}

static gboolean
set_interval (Options *options, const char *text, GError **error)
{
  if (folder_interval_read (text, &options->interval_s, &options->keep_s))
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "option '--interval' takes " FOLDER_INTERVAL_WORDS "; not '%s'", text);
  return FALSE;
}

gboolean
options_read_bytes (const char *text, guint64 *bytes)
{
  static const char units[] = "KMG";
  char *end;
  guint64 value = g_ascii_isdigit (*text) ? g_ascii_strtoull (text, &end, 10) : 0;
  const char *unit = value > 0 && *end != '\0' ? strchr (units, g_ascii_toupper (*end)) : NULL;
  guint shift = unit != NULL ? 10 * (guint)(unit - units + 1) : 0;
  if (value == 0 || end[unit != NULL ? 1 : 0] != '\0' || value > OPTIONS_BYTES_MAX >> shift)
    return FALSE;
  *bytes = value << shift;
  return TRUE;
}

gboolean
options_read_stack (const char *text, guint64 *bytes)
{
  guint64 stack;
  if (!options_read_bytes (text, &stack) || stack < OPTIONS_STACK_MIN)
    return FALSE;
  *bytes = stack;
  return TRUE;
}

static gboolean
set_stack (Options *options, const char *text, GError **error)
{
  if (options_read_stack (text, &options->stack))
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "option '--stack' takes bytes from 128K on, such as 512K, 64M or 4G, not '%s'",
               text);
  return FALSE;
}

static gboolean
set_shared_memory (Options *options, const char *text, GError **error)
{
  if (options_read_bytes (text, &options->shared_memory))
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "option '--shared-memory' takes bytes from 1 on, such as 512K, 64M or 4G, not '%s'",
               text);
  return FALSE;
}

/* FALSE: wrong. *taken: argv[*i] and its value were Satin's. */
static gboolean
take (Options *options, int end, char **argv, int *i, gboolean *taken, GError **error)
{
  g_autoptr (GError) missing = NULL;
  const char *text;
  *taken = TRUE;
  if ((text = value_of ("--workers", end, argv, i, &missing)) != NULL)
    return set_workers (options, text, error);
  if (missing == NULL && (text = value_of ("-w", end, argv, i, &missing)) != NULL)
    return set_workers (options, text, error);
  if (missing == NULL && (text = value_of ("--interval", end, argv, i, &missing)) != NULL)
    return set_interval (options, text, error);
  if (missing == NULL && (text = value_of ("--spin", end, argv, i, &missing)) != NULL)
    return set_spin (options, text, error);
  if (missing == NULL && (text = value_of ("--checkpoint", end, argv, i, &missing)) != NULL)
    {
      g_free (options->checkpoint);
      options->checkpoint = g_strdup (text);
      return TRUE;
    }
  if (missing == NULL && (text = value_of ("--stack", end, argv, i, &missing)) != NULL)
    return set_stack (options, text, error);
  if (missing == NULL && (text = value_of ("--shared-memory", end, argv, i, &missing)) != NULL)
    return set_shared_memory (options, text, error);
  if (missing == NULL && (text = value_of ("--trace", end, argv, i, &missing)) != NULL)
    {
      g_free (options->trace);
      options->trace = g_canonicalize_filename (text, NULL);
      return TRUE;
    }
  if (missing == NULL && (text = value_of ("--stats", end, argv, i, &missing)) != NULL)
    {
      g_free (options->stats);
      options->stats = g_strdup (text);
      return TRUE;
    }
  if (missing != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&missing));
      return FALSE;
    }
  if (strcmp (argv[*i], "--new") == 0)
    options->anew = TRUE;
  else if (strcmp (argv[*i], "--mended") == 0)
    options->mended = TRUE;
  else if (strcmp (argv[*i], "--trust") == 0)
    options->trust = TRUE;
  else if (strcmp (argv[*i], "--insecure") == 0)
    options->insecure = TRUE;
  else
    *taken = FALSE;
  return TRUE;
}

/* --insecure may stand behind it. */
static gboolean
check_target (Options *options, GError **error)
{
  g_autofree char *text = g_steal_pointer (&options->checkpoint);
  if (text != NULL)
    options->checkpoint = place_check (text, options->insecure, error);
  return text == NULL || options->checkpoint != NULL;
}

gboolean
options_parse (Options *options, int argc, char **argv, GError **error)
{
  g_autoptr (GPtrArray) rest = g_ptr_array_new_with_free_func (g_free);
  int end = argc;
  memset (options, 0, sizeof *options);
  options->spin_us = OPTIONS_SPIN_US;
  for (int i = 1; i < argc; i++)
    if (strcmp (argv[i], "--") == 0)
      {
        end = i;
        break;
      }
  g_ptr_array_add (rest, g_strdup (argc > 0 ? argv[0] : "satin-program"));
  for (int i = 1; i < end; i++)
    {
      int first = i;
      gboolean taken;
      if (!take (options, end, argv, &i, &taken, error))
        {
          options_clear (options);
          return FALSE;
        }
      options->help = options->help || strcmp (argv[first], "--help") == 0;
      if (!taken)
        g_ptr_array_add (rest, g_strdup (argv[first]));
    }
  for (int i = end + 1; i < argc; i++)
    g_ptr_array_add (rest, g_strdup (argv[i]));
  options->argc = (int)rest->len;
  g_ptr_array_add (rest, NULL);
  if (!check_target (options, error))
    {
      options_clear (options);
      return FALSE;
    }
  options->argv = (char **)g_ptr_array_free (g_steal_pointer (&rest), FALSE);
  return TRUE;
}

void
options_take_out (const Options *options, int *argc, char **argv)
{
  int left = 0;
  for (int i = 0; i < *argc && left < options->argc; i++)
    if (strcmp (argv[i], options->argv[left]) == 0)
      argv[left++] = argv[i];
  for (int i = left; i < *argc; i++)
    argv[i] = NULL;
  *argc = left;
}

char **
options_own_words (char *const *argv)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  Options options;
  g_ptr_array_add (words, (gpointer) "satin-program");
  for (guint i = 0; argv != NULL && argv[i] != NULL; i++)
    g_ptr_array_add (words, argv[i]);
  gboolean good = options_parse (&options, (int)words->len, (char **)words->pdata, NULL);
  char **own = good ? g_strdupv (options.argv + 1) : NULL;
  options_clear (&options);
  return own;
}

void
options_clear (Options *options)
{
  g_clear_pointer (&options->checkpoint, g_free);
  g_clear_pointer (&options->stats, g_free);
  g_clear_pointer (&options->trace, g_free);
  g_clear_pointer (&options->argv, g_strfreev);
}

void
options_show_help (const Options *options, const char *usage)
{
  g_print (
      "usage: %s [OPTION...] %s\n\n"
      "Satin's own options, anywhere before `--`:\n"
      "  -w, --workers N     threads of this process (default: all cores)\n"
      "  --checkpoint URI    save results in this SQLite file, here or at a store; go on from it "
      "when\n"
      "                      it is there\n"
      "  --insecure          the URI may be plain ftp: or http:\n"
      "  --new               set the file that is there aside, under a name with the time, and "
      "begin\n"
      "                      anew\n"
      "  --mended            use what another build of this program has saved there\n"
      "  --trust             use what somebody else has saved there\n"
      "  --interval S[,S]    seconds between two publications of it (default %g), as in satin(1)\n"
      "  --spin MICROSECONDS how long at most an idle worker polls before it sleeps (default\n"
      "                      %d)\n"
      "  --stack SIZE        C stack of each worker, like 64M or 4G (default: 1G where address "
      "space\n"
      "                      allows; memory is taken as it is used)\n"
      "  --shared-memory SIZE  for shared bytes that may be forgotten, like 64M or 4G (default: "
      "1G)\n"
      "  --trace FILE        write what each worker does and when, for https://ui.perfetto.dev\n"
      "  --stats FILE        write figures of the run as JSON\n"
      "  --help              this page\n\n"
      "On several nodes: satin run -n 4 -- %s ...\n",
      options->argv[0], usage, FOLDER_INTERVAL_DEFAULT_S, OPTIONS_SPIN_US, options->argv[0]);
}
