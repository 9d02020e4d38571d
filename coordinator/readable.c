/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks over a GVariant and counts the length. Values that would be cut are not read, so a value of
 * a gigabyte costs no more than a small one. Knows nothing of files and jobs. */
#include "coordinator/readable.h"

#include "storage/cell.h"

#include "record.h"

#include <math.h>
#include <string.h>

#define MORE "…"
/* So many bytes of a text or byte string are shown, and so many elements of an array. */
#define TEXT_SHOWN_MAX 60
#define BYTES_SHOWN_MAX 16
#define ELEMENTS_SHOWN_MAX 16
/* Checking the form of a larger value takes too long for a person who waits; the walk is safe
 * without that check. */
#define CHECKED_BYTES_MAX (1024 * 1024)

/* NULL: the bytes are no value of this type. (transfer full) (nullable) */
static GVariant *
load (const char *type, GBytes *value, gsize checked_max)
{
  if (!g_variant_type_string_is_valid (type) || !g_variant_type_is_definite (G_VARIANT_TYPE (type)))
    return NULL;
  g_autoptr (GVariant) raw
      = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (type), value, FALSE));
  if (g_bytes_get_size (value) <= checked_max && !g_variant_is_normal_form (raw))
    return NULL;
  return G_BYTE_ORDER == G_LITTLE_ENDIAN ? g_steal_pointer (&raw) : g_variant_byteswap (raw);
}

/* Cuts the text at `bytes_max`, but not inside a character. */
static void
cut (GString *text, gsize bytes_max)
{
  if (text->len <= bytes_max)
    return;
  const char *end = text->str + bytes_max - strlen (MORE);
  while ((*end & 0xc0) == 0x80)
    end--;
  g_string_truncate (text, (gsize)(end - text->str));
  g_string_append (text, MORE);
}

static void
append_double (GString *to, double number)
{
  if (isfinite (number))
    cell_append_double (to, number);
  else
    g_string_append (to, isnan (number) ? "nan" : number > 0 ? "inf" : "-inf");
}

static void
append_quoted (GString *to, const char *text, gsize length)
{
  const char *end = text + MIN (length, TEXT_SHOWN_MAX);
  while (end < text + length && (*end & 0xc0) == 0x80)
    end--;
  g_string_append_c (to, '\'');
  for (const char *p = text; p < end; p = g_utf8_next_char (p))
    {
      gunichar letter = g_utf8_get_char (p);
      if (letter == '\n')
        g_string_append (to, "\\n");
      else if (letter == '\'' || letter == '\\')
        g_string_append_printf (to, "\\%c", (char)letter);
      else if (g_unichar_isprint (letter))
        g_string_append_unichar (to, letter);
      else
        g_string_append_printf (to, "\\u%04x", letter);
    }
  g_string_append_c (to, '\'');
  if (end < text + length)
    g_string_append_printf (to, MORE " (%" G_GSIZE_FORMAT " bytes)", length);
}

/* TRUE: the bytes that would be shown are a text. */
static gboolean
is_text (const char *data, gsize size)
{
  const char *end;
  gsize seen = MIN (size, TEXT_SHOWN_MAX);
  /* The last character may extend beyond these bytes. */
  if (!g_utf8_validate_len (data, seen, &end) && (seen == size || data + seen - end > 3))
    return FALSE;
  for (const char *p = data; p < end; p = g_utf8_next_char (p))
    if (!g_unichar_isprint (g_utf8_get_char (p)) && *p != '\n' && *p != '\t' && *p != '\r')
      return FALSE;
  return size > 0;
}

static void
append_bytes (GString *to, GVariant *value)
{
  gsize size;
  const guint8 *data = g_variant_get_fixed_array (value, &size, 1);
  if (size > 0 && is_text ((const char *)data, size))
    {
      g_string_append_c (to, 'b');
      append_quoted (to, (const char *)data, size);
      return;
    }
  g_string_append (to, size > 0 ? "0x" : "b''");
  for (gsize i = 0; i < MIN (size, BYTES_SHOWN_MAX); i++)
    g_string_append_printf (to, "%02x", data[i]);
  if (size > BYTES_SHOWN_MAX)
    g_string_append_printf (to, MORE " (%" G_GSIZE_FORMAT " bytes)", size);
}

/* Shows shared bytes by their name in the table constant. */
static void
append_shared (GString *to, GVariant *value)
{
  char hex[DIGEST_HEX_LENGTH + 1];
  guint64 half[2];
  gint32 low, high;
  Digest digest;
  g_variant_get (value, SATIN_SHARED_SIGNATURE, &half[0], &half[1], &low, &high);
  half[0] = GUINT64_TO_LE (half[0]);
  half[1] = GUINT64_TO_LE (half[1]);
  memcpy (digest.bytes, half, sizeof half);
  digest_to_hex (&digest, hex);
  if (digest_is_zero (&digest))
    g_string_append (to, "no bytes");
  else
    g_string_append_printf (to, "share/%s (%" G_GUINT64_FORMAT " bytes)", hex,
                            (guint64)(guint32)high << 32 | (guint32)low);
}

static void append (GString *to, GVariant *value);

static void
append_children (GString *to, GVariant *value, const char *brackets)
{
  gsize n = g_variant_n_children (value);
  gsize shown = brackets[0] == '[' ? MIN (n, ELEMENTS_SHOWN_MAX) : n;
  g_string_append_c (to, brackets[0]);
  for (gsize i = 0; i < shown && to->len <= READABLE_BYTES_MAX; i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (value, i);
      g_string_append (to, i > 0 ? ", " : "");
      append (to, child);
    }
  if (shown < n)
    g_string_append_printf (to, ", " MORE " (%" G_GSIZE_FORMAT " in all)", n);
  g_string_append_c (to, brackets[1]);
}

static void
append (GString *to, GVariant *value)
{
  gsize length;
  const char *text;
  g_autofree char *printed = NULL;
  switch (g_variant_classify (value))
    {
    case G_VARIANT_CLASS_DOUBLE:
      append_double (to, g_variant_get_double (value));
      return;
    case G_VARIANT_CLASS_BYTE:
      g_string_append_printf (to, "%u", g_variant_get_byte (value));
      return;
    case G_VARIANT_CLASS_STRING:
      text = g_variant_get_string (value, &length);
      append_quoted (to, text, length);
      return;
    case G_VARIANT_CLASS_TUPLE:
      if (g_variant_is_of_type (value, G_VARIANT_TYPE (SATIN_SHARED_SIGNATURE)))
        append_shared (to, value);
      else
        append_children (to, value, "()");
      return;
    case G_VARIANT_CLASS_ARRAY:
      if (g_variant_is_of_type (value, G_VARIANT_TYPE_BYTESTRING))
        append_bytes (to, value);
      else
        append_children (to, value, "[]");
      return;
    default:
      printed = g_variant_print (value, FALSE);
      g_string_append (to, printed);
    }
}

char *
readable_short (const char *type, GBytes *value)
{
  g_autoptr (GVariant) variant = load (type, value, CHECKED_BYTES_MAX);
  GString *text = g_string_new (NULL);
  if (variant != NULL)
    append (text, variant);
  else if (strcmp (type, "*") == 0)
    g_string_append_printf (text, "%" G_GSIZE_FORMAT " bytes of a type that is lost",
                            g_bytes_get_size (value));
  else
    g_string_append_printf (text, "%" G_GSIZE_FORMAT " bytes that are not of type '%s'",
                            g_bytes_get_size (value), type);
  cut (text, READABLE_BYTES_MAX);
  return g_string_free (text, FALSE);
}

char *
readable_json (const char *text, gsize size)
{
  g_autofree char *valid = g_utf8_make_valid (text, (gssize)MIN (size, 4 * READABLE_BYTES_MAX));
  GString *shown = g_string_new (NULL);
  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    g_string_append_unichar (shown,
                             g_unichar_isprint (g_utf8_get_char (p)) ? g_utf8_get_char (p) : '?');
  cut (shown, READABLE_BYTES_MAX);
  return g_string_free (shown, FALSE);
}

char *
readable_whole (const char *type, GBytes *value)
{
  g_autoptr (GVariant) variant = load (type, value, G_MAXSIZE);
  return variant != NULL ? g_variant_print (variant, FALSE) : NULL;
}
