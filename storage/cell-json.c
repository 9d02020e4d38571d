/* SPDX-License-Identifier: BSD-3-Clause */
/* A value as JSON text, for SQL and people; this program never reads it. The walk ends as soon as
 * the text is too long, so a large value costs no more than a small one. Knows nothing of tables.
 * Tests: test-cell-json. */
#include "storage/cell.h"

#include <math.h>
#include <string.h>

/* A value with so many bytes for each byte of text never fits: an empty text of one byte takes
 * three characters, a number of eight bytes two. */
#define BYTES_PER_LETTER 8

typedef struct
{
  GString *text;
  gsize bytes_max;
  guint depth; /* open arrays and tuples */
} CellJson;

static gboolean append (CellJson *json, GVariant *value);

void
cell_append_double (GString *to, double number)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  static const char *const formats[] = { "%.15g", "%.16g", "%.17g" };
  gsize i = 0;
  do
    g_ascii_formatd (text, sizeof text, formats[i], number);
  while (++i < G_N_ELEMENTS (formats) && g_ascii_strtod (text, NULL) != number);
  g_string_append (to, text);
  if (strpbrk (text, ".e") == NULL)
    g_string_append (to, ".0");
}

/* JSON has neither infinity nor NaN. */
static void
append_double (GString *to, double number)
{
  if (!isfinite (number))
    {
      g_string_append (to, isnan (number) ? "\"NaN\""
                           : number > 0   ? "\"Infinity\""
                                          : "\"-Infinity\"");
      return;
    }
  cell_append_double (to, number);
}

/* `text` is UTF-8, as all texts of GVariant. */
static void
append_string (CellJson *json, const char *text, gsize length)
{
  GString *to = json->text;
  g_string_append_c (to, '"');
  for (gsize i = 0; i < length && to->len <= json->bytes_max; i++)
    if (text[i] == '"' || text[i] == '\\')
      g_string_append_printf (to, "\\%c", text[i]);
    else if ((guchar)text[i] < 0x20)
      g_string_append_printf (to, "\\u%04x", text[i]);
    else
      g_string_append_c (to, text[i]);
  g_string_append_c (to, '"');
}

static void
append_bytes (CellJson *json, GVariant *value)
{
  gsize size;
  const guint8 *data = g_variant_get_fixed_array (value, &size, 1);
  g_string_append_c (json->text, '"');
  for (gsize i = 0; i < size && json->text->len <= json->bytes_max; i++)
    g_string_append_printf (json->text, "%02x", data[i]);
  g_string_append_c (json->text, '"');
}

static gboolean
append_children (CellJson *json, GVariant *value)
{
  gsize n = g_variant_n_children (value);
  g_string_append_c (json->text, '[');
  json->depth++;
  for (gsize i = 0; i < n && json->text->len <= json->bytes_max; i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (value, i);
      if (i > 0)
        g_string_append_c (json->text, ',');
      if (!append (json, child))
        return FALSE;
    }
  g_string_append_c (json->text, ']');
  json->depth--;
  return TRUE;
}

static void
append_unsigned (GString *to, guint64 number)
{
  char digits[20];
  gsize at = sizeof digits;
  do
    digits[--at] = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  g_string_append_len (to, digits + at, (gssize)(sizeof digits - at));
}

static void
append_signed (GString *to, gint64 number)
{
  if (number < 0)
    g_string_append_c (to, '-');
  append_unsigned (to, number < 0 ? 0 - (guint64)number : (guint64)number);
}

/* Without g_variant_print, which would take longer than everything else for a row. */
static void
append_integer (GString *to, GVariant *value)
{
  switch (g_variant_classify (value))
    {
    case G_VARIANT_CLASS_BOOLEAN:
      g_string_append (to, g_variant_get_boolean (value) ? "true" : "false");
      return;
    case G_VARIANT_CLASS_BYTE:
      append_unsigned (to, g_variant_get_byte (value));
      return;
    case G_VARIANT_CLASS_UINT16:
      append_unsigned (to, g_variant_get_uint16 (value));
      return;
    case G_VARIANT_CLASS_UINT32:
      append_unsigned (to, g_variant_get_uint32 (value));
      return;
    case G_VARIANT_CLASS_UINT64:
      append_unsigned (to, g_variant_get_uint64 (value));
      return;
    case G_VARIANT_CLASS_INT16:
      append_signed (to, g_variant_get_int16 (value));
      return;
    case G_VARIANT_CLASS_INT32:
      append_signed (to, g_variant_get_int32 (value));
      return;
    default:
      append_signed (to, g_variant_get_int64 (value));
    }
}

/* FALSE: records have no values of this type. */
static gboolean
append (CellJson *json, GVariant *value)
{
  gsize length;
  const char *text;
  switch (g_variant_classify (value))
    {
    case G_VARIANT_CLASS_DOUBLE:
      append_double (json->text, g_variant_get_double (value));
      return TRUE;
    case G_VARIANT_CLASS_BYTE:
    case G_VARIANT_CLASS_INT16:
    case G_VARIANT_CLASS_UINT16:
    case G_VARIANT_CLASS_INT32:
    case G_VARIANT_CLASS_UINT32:
    case G_VARIANT_CLASS_INT64:
    case G_VARIANT_CLASS_UINT64:
    case G_VARIANT_CLASS_BOOLEAN:
      append_integer (json->text, value);
      return TRUE;
    case G_VARIANT_CLASS_STRING:
      text = g_variant_get_string (value, &length);
      append_string (json, text, length);
      return TRUE;
    case G_VARIANT_CLASS_TUPLE:
      return append_children (json, value);
    case G_VARIANT_CLASS_ARRAY:
      /* Inside a record an array of bytes is an array of small numbers, such as a tour. */
      if (json->depth > 0 || !g_variant_is_of_type (value, G_VARIANT_TYPE_BYTESTRING))
        return append_children (json, value);
      append_bytes (json, value);
      return TRUE;
    default:
      return FALSE;
    }
}

char *
cell_json (const char *type, GBytes *value, gsize bytes_max)
{
  if (g_bytes_get_size (value) / BYTES_PER_LETTER > bytes_max
      || !g_variant_type_string_is_valid (type)
      || !g_variant_type_is_definite (G_VARIANT_TYPE (type)))
    return NULL;
  g_autoptr (GVariant) raw
      = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (type), value, FALSE));
  if (!g_variant_is_normal_form (raw))
    return NULL;
  g_autoptr (GVariant) variant
      = G_BYTE_ORDER == G_LITTLE_ENDIAN ? g_variant_ref (raw) : g_variant_byteswap (raw);
  g_autoptr (GString) text = g_string_new (NULL);
  CellJson json = { .text = text, .bytes_max = bytes_max };
  if (!append (&json, variant) || text->len > bytes_max)
    return NULL;
  return g_string_free (g_steal_pointer (&text), FALSE);
}
