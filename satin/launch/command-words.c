/* SPDX-License-Identifier: BSD-3-Clause */
/* See command-words.h. Tests: test-command */
#include "command-words.h"

#include <stdio.h>
#include <string.h>

#define WIPE "\r\033[K"

/* The terminal's last line is a live line, to which no message may be appended. */
static gboolean line_is_open;

static void
wipe (void)
{
  if (line_is_open)
    fputs (WIPE, stderr);
  line_is_open = FALSE;
}

void
command_show (const char *line, gboolean terminal)
{
  wipe ();
  if (line != NULL)
    fprintf (stderr, terminal ? "%s" : "%s\n", line);
  line_is_open = line != NULL && terminal;
  fflush (stderr);
}

/* Messages of GLib have typographic quotes; all messages on stderr have plain ones. (transfer
 * full) */
static char *
with_plain_quotes (const char *text)
{
  static const char *const quotes[] = { "“", "”", "‘", "’" };
  GString *plain = g_string_new (text);

  for (gsize i = 0; i < G_N_ELEMENTS (quotes); i++)
    g_string_replace (plain, quotes[i], "'", 0);
  return g_string_free (plain, FALSE);
}

static void
say_va (const char *format, va_list args)
{
  g_autofree char *text = g_strdup_vprintf (format, args);
  g_autofree char *plain = with_plain_quotes (text);

  wipe ();
  g_printerr ("satin: %s\n", plain);
}

/* TRUE: `word` is valid UTF-8 without control characters, which a terminal would obey. */
static gboolean
is_printable (const char *word)
{
  if (!g_utf8_validate (word, -1, NULL))
    return FALSE;
  for (const char *p = word; *p != '\0'; p = g_utf8_next_char (p))
    if (!g_unichar_isprint (g_utf8_get_char (p)))
      return FALSE;
  return TRUE;
}

/* Quotes as $'...'. No byte is left that a terminal would obey. (transfer full) */
static char *
quote_bytes (const char *word)
{
  GString *text = g_string_new ("$'");

  for (const char *p = word; *p != '\0'; p++)
    if (*p == '\'' || *p == '\\' || !g_ascii_isprint (*p))
      g_string_append_printf (text, "\\%03o", (guchar)*p);
    else
      g_string_append_c (text, *p);
  g_string_append_c (text, '\'');
  return g_string_free (text, FALSE);
}

char *
command_quote (const char *word)
{
  if (!is_printable (word))
    return quote_bytes (word);
  for (const char *p = word; *p != '\0'; p++)
    if (!g_ascii_isalnum (*p) && strchr ("_-./=+:,@%", *p) == NULL)
      return g_shell_quote (word);
  return *word == '\0' ? g_strdup ("''") : g_strdup (word);
}

void
command_append_words (GString *line, char *const *words)
{
  for (; words != NULL && *words != NULL; words++)
    {
      g_autofree char *word = command_quote (*words);

      g_string_append_printf (line, " %s", word);
    }
}

void
command_say (const char *format, ...)
{
  va_list args;

  va_start (args, format);
  say_va (format, args);
  va_end (args);
}

int
command_usage (const char *verb, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  command_say ("%s (see `satin %s--help`)", text, verb);
  return COMMAND_USAGE;
}
