/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts between GVariant bytes and SQLite's kinds of values. A value that would not be restored
 * bit for bit is stored as a blob. Knows nothing of tables.
 * Tests: test-cell-json, test-storage, test-tables. */
#include "storage/cell.h"

#include "storage/sql.h"

#include <string.h>

/* A longer text is stored as a blob: people do not read it in a table, and validating it takes
 * time. */
#define CELL_TEXT_BYTES_MAX 65536

typedef struct
{
  char type;
  guint8 size;
  gboolean is_signed;
} CellInteger;

static const CellInteger *
cell_integer (const char *type)
{
  static const CellInteger integers[] = {
    { 'y', 1, FALSE }, { 'n', 2, TRUE }, { 'q', 2, FALSE }, { 'i', 4, TRUE },
    { 'u', 4, FALSE }, { 'x', 8, TRUE }, { 't', 8, FALSE },
  };
  for (gsize i = 0; type[0] != '\0' && type[1] == '\0' && i < G_N_ELEMENTS (integers); i++)
    if (integers[i].type == type[0])
      return &integers[i];
  return NULL;
}

static guint64
load_little (const guint8 *data, gsize size)
{
  guint64 word = 0;
  for (gsize i = size; i > 0; i--)
    word = word << 8 | data[i - 1];
  return word;
}

static gint64
sign_extend (guint64 word, gsize size)
{
  guint shift = 64 - 8 * (guint)size;
  return (gint64)(word << shift) >> shift;
}

static gboolean
bind_integer (sqlite3_stmt *statement, int index, const CellInteger *integer, const guint8 *data)
{
  guint64 word = load_little (data, integer->size);
  if (!integer->is_signed && word > G_MAXINT64)
    return FALSE;
  sqlite3_bind_int64 (statement, index,
                      integer->is_signed ? sign_extend (word, integer->size) : (gint64)word);
  return TRUE;
}

/* SQLite would make NULL of NaN, and zero of minus zero. */
static gboolean
bind_real (sqlite3_stmt *statement, int index, const guint8 *data)
{
  guint64 word = load_little (data, sizeof word);
  double real;
  memcpy (&real, &word, sizeof real);
  if (real != real || word == G_GUINT64_CONSTANT (1) << 63)
    return FALSE;
  sqlite3_bind_double (statement, index, real);
  return TRUE;
}

gboolean
cell_bind (sqlite3_stmt *statement, int index, const char *type, GBytes *value)
{
  gsize size;
  const char *data = g_bytes_get_data (value, &size);
  const CellInteger *integer = cell_integer (type);
  if (integer != NULL && size == integer->size
      && bind_integer (statement, index, integer, (const guint8 *)data))
    return TRUE;
  if (strcmp (type, "d") == 0 && size == 8 && bind_real (statement, index, (const guint8 *)data))
    return TRUE;
  /* The serialised form of a string ends with a NUL, the form of bytes does not. */
  gboolean is_string = strcmp (type, "s") == 0 && size > 0 && data[size - 1] == '\0';
  gsize length = is_string ? size - 1 : size;
  gboolean is_text = (is_string || strcmp (type, "ay") == 0) && length <= CELL_TEXT_BYTES_MAX
                     && (length == 0 || g_utf8_validate_len (data, length, NULL));
  if (is_text)
    sqlite3_bind_text64 (statement, index, length > 0 ? data : "", length, SQLITE_STATIC,
                         SQLITE_UTF8);
  else
    sqlite3_bind_blob64 (statement, index, size > 0 ? data : "", size, SQLITE_STATIC);
  return is_text;
}

gsize
cell_bind_both (sqlite3_stmt *statement, int index, int json_index, const char *type, GBytes *value,
                gsize json_max)
{
  char *json = cell_bind (statement, index, type, value) ? NULL : cell_json (type, value, json_max);
  gsize size = json != NULL ? strlen (json) : 0;
  if (json != NULL)
    sqlite3_bind_text64 (statement, json_index, json, size, g_free, SQLITE_UTF8);
  return size;
}

static GBytes *
store_little (guint64 word, gsize size)
{
  guint64 little = GUINT64_TO_LE (word);
  return g_bytes_new (&little, size);
}

static GBytes *
read_integer (gint64 number, const CellInteger *integer)
{
  if (integer == NULL)
    return NULL;
  guint64 mask
      = integer->size == 8 ? G_MAXUINT64 : (G_GUINT64_CONSTANT (1) << 8 * integer->size) - 1;
  guint64 word = (guint64)number & mask;
  gboolean fits = integer->is_signed ? sign_extend (word, integer->size) == number
                                     : number >= 0 && word == (guint64)number;
  return fits ? store_little (word, integer->size) : NULL;
}

static GBytes *
read_text (const RecordColumn *text, const char *type)
{
  if (strcmp (type, "ay") == 0)
    return g_bytes_new (text->data, text->size);
  if (strcmp (type, "s") != 0)
    return NULL;
  char *bytes = g_malloc (text->size + 1); /* the serialised form ends with a NUL */
  if (text->size > 0)
    memcpy (bytes, text->data, text->size);
  bytes[text->size] = '\0';
  return g_bytes_new_take (bytes, text->size + 1);
}

GBytes *
cell_of_column (const RecordColumn *column, const char *type)
{
  guint64 word;
  switch (column->kind)
    {
    case 'i':
      return read_integer (column->integer, cell_integer (type));
    case 'r':
      memcpy (&word, &column->real, sizeof word);
      return strcmp (type, "d") == 0 ? store_little (word, 8) : NULL;
    case 't':
      return read_text (column, type);
    case 'b':
      return g_bytes_new (column->data, column->size);
    default:
      return NULL;
    }
}

void
cell_column (sqlite3_value *value, RecordColumn *column)
{
  switch (sqlite3_value_type (value))
    {
    case SQLITE_INTEGER:
      *column = (RecordColumn){ .kind = 'i', .integer = sqlite3_value_int64 (value) };
      break;
    case SQLITE_FLOAT:
      *column = (RecordColumn){ .kind = 'r', .real = sqlite3_value_double (value) };
      break;
    case SQLITE_TEXT:
      *column = (RecordColumn){ .kind = 't', .data = sqlite3_value_text (value) };
      column->size = (gsize)sqlite3_value_bytes (value);
      break;
    case SQLITE_BLOB:
      *column = (RecordColumn){ .kind = 'b', .data = sqlite3_value_blob (value) };
      column->size = (gsize)sqlite3_value_bytes (value);
      break;
    default:
      *column = (RecordColumn){ .kind = 'n' };
    }
}

GBytes *
cell_read (sqlite3_value *value, const char *type)
{
  RecordColumn column;
  cell_column (value, &column);
  return cell_of_column (&column, type);
}
