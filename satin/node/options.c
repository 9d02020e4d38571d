/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include "folder/folder.h"

#include "storage/places/place.h"

#include <stdio.h>
#include <string.h>

#define FIELD(name) G_STRUCT_OFFSET (Options, name)
#define BYTES_MAX (1024.0 * 1024 * 1024 * 1024)
#define OF_PROGRAMS "program run resume "

static gboolean read_interval (const Option *row, const char *text, gpointer values);
static gboolean read_protect (const Option *row, const char *text, gpointer values);

static const Option table[] = {
  { OPTIONS_VALUE ("workers", 'w', "WORKERS", "Threads of each node that run jobs"),
    .usual = "this machine's cores, shared out, or as the other nodes here",
    .where = OF_PROGRAMS "add submit ", .field = FIELD (workers), .read = options_count, .least = 1,
    .most = FOLDER_WORKERS_MAX, .takes = "a number" },
  { OPTIONS_VALUE ("checkpoint", 0, "URI",
                   "Save what is finished in this file, here or at a store, and go on from it"),
    .where = OF_PROGRAMS "submit ", .field = FIELD (checkpoint), .read = options_text,
    .takes = "a file or a URI" },
  { OPTIONS_FLAG ("insecure", 0, "A URI may be plain ftp: or http:"),
    .where = OF_PROGRAMS "replay submit save status view inspect merge trust ",
    .field = FIELD (insecure), .read = options_flag },
  { OPTIONS_FLAG (
        "new", 0,
        "Set the checkpoint that is there aside, under a name with the time, and begin anew"),
    .where = "program run ", .field = FIELD (anew), .read = options_flag },
  { OPTIONS_FLAG ("mended", 0, "Use what another build of the program has saved in the checkpoint"),
    .where = OF_PROGRAMS "replay ", .field = FIELD (mended), .read = options_flag },
  { OPTIONS_FLAG ("trust", 0, "Use what somebody else has saved in the checkpoint"),
    .where = OF_PROGRAMS "replay merge ", .field = FIELD (trust), .read = options_flag },
  { OPTIONS_VALUE (
        "interval", 0, "auto|S[,S]",
        "Seconds between two publications and, if two are said, between copies to another node"),
    .usual = "auto: 2,0.2", .where = OF_PROGRAMS, .field = FIELD (interval_s),
    .read = read_interval, .takes = FOLDER_INTERVAL_WORDS },
  { OPTIONS_VALUE (
        "protect", 0, "PLAN",
        "What a crash leaves: auto, naive, orphan, checkpoint, buddy, theft, mirror, cut: see"
        " WHICH PLAN in satin(1)"),
    .usual = "auto", .where = OF_PROGRAMS, .field = FIELD (protect), .read = read_protect,
    .takes = "auto, naive, orphan, checkpoint, buddy, theft, mirror or cut" },
  { OPTIONS_VALUE ("spin", 0, "MICROSECONDS",
                   "How long an idle worker polls at most before it sleeps"),
    .usual = G_STRINGIFY (OPTIONS_SPIN_US), .where = "program ", .field = FIELD (spin_us),
    .read = options_count, .least = 0, .most = 1000000, .takes = "microseconds" },
  { OPTIONS_VALUE ("stack", 0, "SIZE",
                   "C stack of each worker, like 64M or 4G; memory is taken as it is used"),
    .usual = "1G where there is room for it", .where = OF_PROGRAMS, .field = FIELD (stack),
    .read = options_bytes, .least = 128 * 1024, .most = BYTES_MAX,
    .takes = "bytes, such as 512K, 64M or 4G," },
  { OPTIONS_VALUE ("shared-memory", 0, "SIZE",
                   "Memory of each node for shared bytes that it may forget, like 64M or 4G"),
    .usual = "1G", .where = OF_PROGRAMS, .field = FIELD (shared_memory), .read = options_bytes,
    .least = 1, .most = BYTES_MAX, .takes = "bytes, such as 512K, 64M or 4G," },
  { OPTIONS_VALUE ("trace", 0, "FILE",
                   "Write what each worker does and when, for https://ui.perfetto.dev"),
    .where = OF_PROGRAMS, .field = FIELD (trace), .read = options_file, .takes = "a file" },
  { OPTIONS_VALUE ("stats", 0, "FILE", "Write figures of the run there at its end, as JSON"),
    .where = OF_PROGRAMS, .field = FIELD (stats), .read = options_file, .takes = "a file" },
  { OPTIONS_FLAG ("help", 0, "Show these options"), .where = "program ", .field = FIELD (help),
    .read = options_flag },
  { .entry = G_OPTION_ENTRY_NULL }
};

/* ---- values ---- */

static gpointer
field_of (const Option *row, gpointer values)
{
  return (char *)values + row->field;
}

static char *
format_limit (const Option *row, double limit)
{
  static const char units[] = { '\0', 'K', 'M', 'G', '\0' };
  const char *unit = units;
  if (row->read == options_bytes)
    for (; unit[1] != '\0' && limit >= 1024; unit++)
      limit /= 1024;
  return g_strdup_printf ("%.10g%.1s", limit, unit);
}

char *
options_limits (const Option *row)
{
  g_autofree char *least = format_limit (row, row->least), *most = format_limit (row, row->most);
  return row->most > 0 ? g_strdup_printf ("from %s to %s", least, most) : NULL;
}

gboolean
options_flag (const Option *row, const char *text, gpointer values)
{
  (void)text;
  *(gboolean *)field_of (row, values) = TRUE;
  return TRUE;
}

gboolean
options_text (const Option *row, const char *text, gpointer values)
{
  char **field = field_of (row, values);
  if (*text == '\0' && row->takes != NULL)
    return FALSE;
  g_free (*field);
  *field = g_strdup (text);
  return TRUE;
}

gboolean
options_file (const Option *row, const char *text, gpointer values)
{
  g_autofree char *absolute = *text != '\0' ? g_canonicalize_filename (text, NULL) : NULL;
  return options_text (row, absolute != NULL ? absolute : "", values);
}

gboolean
options_count (const Option *row, const char *text, gpointer values)
{
  gint64 value;
  if (!g_ascii_string_to_signed (text, 10, (gint64)row->least, (gint64)row->most, &value, NULL))
    return FALSE;
  *(int *)field_of (row, values) = (int)value;
  return TRUE;
}

gboolean
options_number (const Option *row, const char *text, gpointer values)
{
  char *end;
  double value = g_ascii_strtod (text, &end);
  if (end == text || *end != '\0' || !(value >= row->least && value <= row->most))
    return FALSE;
  *(double *)field_of (row, values) = value;
  return TRUE;
}

gboolean
options_bytes (const Option *row, const char *text, gpointer values)
{
  static const char units[] = "KMG";
  char *end = (char *)text;
  guint64 value = g_ascii_isdigit (*text) ? g_ascii_strtoull (text, &end, 10) : 0;
  const char *unit = value > 0 && *end != '\0' ? strchr (units, g_ascii_toupper (*end)) : NULL;
  guint shift = unit != NULL ? 10 * (guint)(unit - units + 1) : 0;
  if (end[unit != NULL ? 1 : 0] != '\0' || value > (guint64)row->most >> shift
      || value << shift < (guint64)row->least)
    return FALSE;
  *(guint64 *)field_of (row, values) = value << shift;
  return TRUE;
}

static gboolean
read_protect (const Option *row, const char *text, gpointer values)
{
  (void)row;
  return plan_read (text, &((Options *)values)->protect);
}

static gboolean
read_interval (const Option *row, const char *text, gpointer values)
{
  Options *options = values;
  (void)row;
  return folder_interval_read (text, &options->interval_s, &options->keep_s);
}

/* ---- rows ---- */

static gboolean
stands_at (const Option *row, const char *place)
{
  gsize length = strlen (place);
  const char *found = row->where;
  while ((found = strstr (found, place)) != NULL)
    {
      if ((found == row->where || found[-1] == ' ') && found[length] == ' ')
        return TRUE;
      found += length;
    }
  return FALSE;
}

static void
add_rows (GPtrArray *rows, const Option *row, const char *place, gboolean with_letter)
{
  for (; row != NULL && row->entry.long_name != NULL; row++)
    if (stands_at (row, place) && (row->entry.short_name != '\0') == with_letter)
      g_ptr_array_add (rows, (gpointer)row);
}

GPtrArray *
options_at (const char *place, const Option *more)
{
  GPtrArray *rows = g_ptr_array_new ();
  add_rows (rows, more, place, TRUE);
  add_rows (rows, table, place, TRUE);
  add_rows (rows, table, place, FALSE);
  add_rows (rows, more, place, FALSE);
  return rows;
}

const Option *
options_find (const GPtrArray *rows, const char *word, const char **value)
{
  gboolean is_long = g_str_has_prefix (word, "--");
  gsize length = is_long ? strcspn (word + 2, "=") : 0;
  const char *behind = word + (is_long ? 2 + length + (word[2 + length] == '=') : 2);
  for (guint i = 0; word[0] == '-' && word[1] != '\0' && i < rows->len; i++)
    {
      const Option *row = rows->pdata[i];
      if (is_long ? strncmp (row->entry.long_name, word + 2, length) != 0
                        || row->entry.long_name[length] != '\0'
                  : row->entry.short_name != word[1])
        continue;
      *value = *behind != '\0' || word[2 + length] == '=' ? behind : NULL;
      return row;
    }
  return NULL;
}

/* Sets the error of a wrong value and returns FALSE. `name`: the option as it was written. */
static gboolean
refuse (const Option *row, const char *name, const char *text, GError **error)
{
  g_autofree char *limits = options_limits (row);
  if (text == NULL)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "option '%s' needs a value",
                 name);
  else if (*text == '\0' && (row->read == options_text || row->read == options_file))
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s needs %s", name, row->takes);
  else
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s takes %s%s%s, not '%s'", name,
                 row->takes, limits != NULL ? " " : "", limits != NULL ? limits : "", text);
  return FALSE;
}

gboolean
options_take (const GPtrArray *rows, int argc, char **argv, int *i, gpointer values,
              gboolean *taken, GError **error)
{
  const char *text = NULL, *word = argv[*i];
  const Option *row = options_find (rows, word, &text);
  gboolean has_value = row != NULL && row->entry.arg != G_OPTION_ARG_NONE;
  *taken = row != NULL && (has_value || text == NULL);
  if (!*taken)
    return TRUE;
  if (has_value && text == NULL && *i + 1 < argc)
    text = argv[++*i];
  if ((!has_value || text != NULL) && row->read (row, text, values))
    return TRUE;
  g_autofree char *name = g_strndup (word, word[1] == '-' ? strcspn (word, "=") : 2);
  return refuse (row, name, text, error);
}

char *
options_page (const GPtrArray *rows, const char *name, const char *usage, const char *summary,
              const char *end)
{
  g_autoptr (GOptionContext) context = g_option_context_new (usage);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  g_autofree GOptionEntry *entries = g_new0 (GOptionEntry, rows->len + 1);
  for (guint i = 0; i < rows->len; i++)
    {
      const Option *row = rows->pdata[i];
      g_autofree char *limits = options_limits (row);
      entries[i] = row->entry;
      if (row->usual == NULL && limits == NULL)
        continue;
      entries[i].description = g_strdup_printf (
          "%s (%s%s%s)", row->entry.description, row->usual != NULL ? row->usual : "",
          row->usual != NULL && limits != NULL ? "; " : "", limits != NULL ? limits : "");
      g_ptr_array_add (lines, (gpointer)entries[i].description);
    }
  g_set_prgname (name);
  g_option_context_set_help_enabled (context, FALSE); /* --help is a row of the table */
  g_option_context_set_summary (context, summary);
  g_option_context_set_description (context, end);
  g_option_context_add_main_entries (context, entries, NULL);
  return g_option_context_get_help (context, TRUE, NULL);
}

/* ---- a program's command line ---- */

/* Checks --checkpoint after all words are read, since --insecure may follow it. */
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
  g_autoptr (GPtrArray) rows = options_at (OPTIONS_PROGRAM, NULL);
  gboolean good = TRUE;
  int end = 1;
  *options = (Options){ .spin_us = OPTIONS_SPIN_US };
  while (end < argc && strcmp (argv[end], "--") != 0)
    end++;
  g_ptr_array_add (rest, g_strdup (argc > 0 ? argv[0] : "satin-program"));
  for (int i = 1; good && i < end; i++)
    {
      const char *word = argv[i];
      gboolean taken;
      good = options_take (rows, end, argv, &i, options, &taken, error);
      if (!taken || strcmp (word, "--help") == 0)
        g_ptr_array_add (rest, g_strdup (word));
    }
  for (int i = end + 1; i < argc; i++)
    g_ptr_array_add (rest, g_strdup (argv[i]));
  options->argc = (int)rest->len;
  g_ptr_array_add (rest, NULL);
  options->argv = (char **)g_ptr_array_free (g_steal_pointer (&rest), FALSE);
  good = good && check_target (options, error);
  if (!good)
    options_clear (options);
  return good;
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
  const char *program = options->argv[0];
  g_autoptr (GPtrArray) rows = options_at (OPTIONS_PROGRAM, NULL);
  g_autofree char *end = g_strdup_printf ("On several nodes: satin run -n 4 -- %s ...", program);
  g_autofree char *page = options_page (rows, program, usage,
                                        "Satin's own options may stand anywhere before `--`.", end);
  fputs (page, stdout); /* not g_print, which would convert to the locale's encoding */
}
