/* SPDX-License-Identifier: BSD-3-Clause */
/* A JSON reader by recursive descent. Its input comes over a socket from another process, so it
 * trusts nothing and asserts nothing about the input. */
#include "json.h"

#include <math.h>
#include <string.h>

#define DEPTH_MAX 32

typedef struct
{
  const char *at;
  int depth;
} Reader;

static GVariant *read_value (Reader *reader);

static void
skip_space (Reader *reader)
{
  reader->at += strspn (reader->at, " \t\r\n");
}

static gboolean
take (Reader *reader, const char *word)
{
  gsize length = strlen (word);

  skip_space (reader);
  if (strncmp (reader->at, word, length) != 0)
    return FALSE;
  reader->at += length;
  return TRUE;
}

static gboolean
read_hex4 (const char *at, gunichar *unit)
{
  *unit = 0;
  for (int i = 0; i < 4; i++)
    {
      if (!g_ascii_isxdigit (at[i]))
        return FALSE;
      *unit = *unit << 4 | (gunichar)g_ascii_xdigit_value (at[i]);
    }
  return TRUE;
}

/* Reads the digits after `\u`. Two surrogates make one character; one alone becomes the replacement
 * character. */
static gboolean
read_unicode (Reader *reader, GString *text)
{
  gunichar unit, low;

  if (!read_hex4 (reader->at, &unit))
    return FALSE;
  reader->at += 4;
  if (unit >= 0xd800 && unit < 0xdc00 && reader->at[0] == '\\' && reader->at[1] == 'u'
      && read_hex4 (reader->at + 2, &low) && low >= 0xdc00 && low < 0xe000)
    {
      reader->at += 6;
      unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
  if (unit == 0 || (unit >= 0xd800 && unit < 0xe000))
    unit = 0xfffd;
  g_string_append_unichar (text, unit);
  return TRUE;
}

static gboolean
read_escape (Reader *reader, GString *text)
{
  static const char names[] = "\"\\/bfnrt", letters[] = "\"\\/\b\f\n\r\t";
  char letter = *reader->at;
  const char *place = letter == '\0' ? NULL : strchr (names, letter);

  if (letter == '\0')
    return FALSE;
  reader->at++;
  if (letter == 'u')
    return read_unicode (reader, text);
  if (place == NULL)
    return FALSE;
  g_string_append_c (text, letters[place - names]);
  return TRUE;
}

/* Reads a text after its opening quote. (transfer full) */
static char *
read_text (Reader *reader)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (;;)
    {
      char letter = *reader->at;

      if (letter == '\0')
        return NULL;
      reader->at++;
      if (letter == '"')
        return g_strdup (text->str);
      if (letter != '\\')
        g_string_append_c (text, letter);
      else if (!read_escape (reader, text))
        return NULL;
    }
}

static GVariant *
read_object (Reader *reader)
{
  g_autoptr (GVariantDict) dict = g_variant_dict_new (NULL);

  if (take (reader, "}"))
    return g_variant_ref_sink (g_variant_dict_end (dict));
  for (;;)
    {
      g_autofree char *key = take (reader, "\"") ? read_text (reader) : NULL;
      g_autoptr (GVariant) value = NULL;

      if (key == NULL || !take (reader, ":") || (value = read_value (reader)) == NULL)
        return NULL;
      g_variant_dict_insert_value (dict, key, value);
      if (take (reader, "}"))
        return g_variant_ref_sink (g_variant_dict_end (dict));
      if (!take (reader, ","))
        return NULL;
    }
}

static GVariant *
read_array (Reader *reader)
{
  g_autoptr (GVariantBuilder) builder = g_variant_builder_new (G_VARIANT_TYPE ("av"));

  if (take (reader, "]"))
    return g_variant_ref_sink (g_variant_builder_end (builder));
  for (;;)
    {
      g_autoptr (GVariant) value = read_value (reader);

      if (value == NULL)
        return NULL;
      g_variant_builder_add_value (builder, g_variant_new_variant (value));
      if (take (reader, "]"))
        return g_variant_ref_sink (g_variant_builder_end (builder));
      if (!take (reader, ","))
        return NULL;
    }
}

/* The end of the digits at `at`; NULL: there is none. (nullable) */
static const char *
skip_digits (const char *at)
{
  gsize n = strspn (at, "0123456789");

  return n > 0 ? at + n : NULL;
}

/* The end of the number at `at`, by RFC 8259: strtod would also read `inf` and `0x10`.
 * (nullable) */
static const char *
skip_number (const char *at)
{
  if (*at == '-')
    at++;
  at = *at == '0' ? at + 1 : skip_digits (at);
  if (at != NULL && *at == '.')
    at = skip_digits (at + 1);
  if (at != NULL && (*at == 'e' || *at == 'E'))
    at = skip_digits (at + (at[1] == '+' || at[1] == '-' ? 2 : 1));
  return at;
}

static GVariant *
read_number (Reader *reader)
{
  const char *end = skip_number (reader->at);
  double number;

  if (end == NULL)
    return NULL;
  number = g_ascii_strtod (reader->at, NULL);
  reader->at = end;
  return isfinite (number) ? g_variant_ref_sink (g_variant_new_double (number)) : NULL;
}

static GVariant *
read_scalar (Reader *reader)
{
  if (take (reader, "\""))
    {
      g_autofree char *text = read_text (reader);

      return text == NULL ? NULL : g_variant_ref_sink (g_variant_new_string (text));
    }
  if (take (reader, "true"))
    return g_variant_ref_sink (g_variant_new_boolean (TRUE));
  if (take (reader, "false"))
    return g_variant_ref_sink (g_variant_new_boolean (FALSE));
  if (take (reader, "null"))
    return g_variant_ref_sink (g_variant_new_maybe (G_VARIANT_TYPE_VARIANT, NULL));
  return read_number (reader);
}

static GVariant *
read_value (Reader *reader)
{
  GVariant *value = NULL;

  if (++reader->depth > DEPTH_MAX)
    return NULL;
  if (take (reader, "{"))
    value = read_object (reader);
  else if (take (reader, "["))
    value = read_array (reader);
  else
    value = read_scalar (reader);
  reader->depth--;
  return value;
}

GVariant *
json_read (const char *text)
{
  Reader reader = { .at = text };
  g_autoptr (GVariant) value = NULL;

  if (!g_utf8_validate (text, -1, NULL))
    return NULL;
  value = read_value (&reader);
  skip_space (&reader);
  if (value == NULL || *reader.at != '\0')
    return NULL;
  return g_steal_pointer (&value);
}
