/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a text file word by word, with line numbers for messages. The bytes need not end with a NUL
 * and may be anything; DOS line ends and the DOS end mark count as blanks. */
#pragma once

#include <gio/gio.h>
#include <string.h>

#define WORDS_MAX \
  64 /* bytes of a word, with its NUL; longer words are neither numbers nor keywords */

typedef struct
{
  const char *file; /* its name, for messages */
  const char *at, *end;
  guint line;     /* of `word` */
  gboolean first; /* `word` is the first of its line */
  char word[WORDS_MAX];
} Words;

/* `bytes` must outlive the words. */
static inline Words
words_of (const char *file, GBytes *bytes)
{
  gsize size;
  const char *text = (const char *)g_bytes_get_data (bytes, &size);
  Words words = { file, text, text + size, 1, TRUE, "" };

  if (size > 0 && text[size - 1] == '\x1a')
    words.end--;
  return words;
}

/* Reads the next word. FALSE: there is none. */
static inline gboolean
words_next (Words *words)
{
  gsize length = 0;

  words->first = words->first && words->word[0] == '\0';
  for (; words->at < words->end && g_ascii_isspace (*words->at); words->at++)
    if (*words->at == '\n')
      {
        words->line++;
        words->first = TRUE;
      }
  for (; words->at < words->end && !g_ascii_isspace (*words->at); words->at++)
    if (length < WORDS_MAX - 1)
      words->word[length++] = *words->at == '\0' ? '?' : *words->at;
  words->word[length] = '\0';
  return length > 0;
}

/* Skips the rest of the line, for example after the first word of a comment. */
static inline void
words_skip_line (Words *words)
{
  while (words->at < words->end && *words->at != '\n')
    words->at++;
}

/* The number of words left on this line. */
static inline guint
words_left_in_line (const Words *words)
{
  guint n = 0;

  for (const char *at = words->at; at < words->end && *at != '\n'; at++)
    if (!g_ascii_isspace (*at) && (at == words->at || g_ascii_isspace (at[-1])))
      n++;
  return n;
}

/* Sets the error "FILE, line N: " and the message. Returns FALSE. */
static inline gboolean G_GNUC_PRINTF (3, 4)
    words_refuse (const Words *words, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list list;

  va_start (list, format);
  what = g_strdup_vprintf (format, list);
  va_end (list);
  for (char *c = what; *c != '\0'; c++)
    if (!g_ascii_isprint (*c))
      *c = '?';
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s, line %u: %s", words->file,
               words->line, what);
  return FALSE;
}

/* Reads the last word as a whole number from min to max. `what` names it in messages. */
static inline gboolean
words_as_number (const Words *words, const char *what, gint64 min, gint64 max, gint64 *number,
                 GError **error)
{
  char *stop;
  gint64 value = g_ascii_strtoll (words->word, &stop, 10);

  if (words->word[0] == '\0')
    return words_refuse (words, error, "the file ends where %s is expected", what);
  if (*stop != '\0' || stop == words->word)
    return words_refuse (words, error, "%s is expected, not '%s'", what, words->word);
  if (value < min || value > max)
    return words_refuse (words, error,
                         "%s must lie between %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                         ", which '%s' does not",
                         what, min, max, words->word);
  *number = value;
  return TRUE;
}

/* The same for the next word. */
static inline gboolean
words_number (Words *words, const char *what, gint64 min, gint64 max, gint64 *number,
              GError **error)
{
  words_next (words);
  return words_as_number (words, what, min, max, number, error);
}
