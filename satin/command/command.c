/* SPDX-License-Identifier: BSD-3-Clause */
/* The words that the command says and the reading of its options. One thread. */
#include "command.h"

#include <stdio.h>
#include <string.h>

#define WIPE "\r\033[K"

/* Whether the terminal's last line is a live one, which words must not be appended to. */
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

static void
say_va (const char *format, va_list args)
{
  g_autofree char *text = g_strdup_vprintf (format, args);

  wipe ();
  g_printerr ("satin: %s\n", text);
}

char *
command_quote (const char *word)
{
  for (const char *p = word; *p != '\0'; p++)
    if (!g_ascii_isalnum (*p) && strchr ("_-./=+:,@%", *p) == NULL)
      return g_shell_quote (word);
  return *word == '\0' ? g_strdup ("''") : g_strdup (word);
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

gboolean
command_parse (GOptionContext *context, const char *verb, int *argc, char ***argv)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = g_strdup_printf ("satin %s", verb);
  g_autofree char *spaced = g_strdup_printf ("%s ", verb);

  g_set_prgname (name);
  g_option_context_set_strict_posix (context, TRUE);
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
    return command_usage (spaced, "say one run, not '%s' too", words[1]), FALSE;
  *word = g_strdup (words[0]);
  return TRUE;
}
