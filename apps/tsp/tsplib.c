/* SPDX-License-Identifier: BSD-3-Clause */
/* The TSPLIB 95 format: keywords and data sections. Pure, any thread. Does not know how tours are
 * searched. Trusts nothing in the text. */
#include "config.h"

#include "tsplib.h"

#include "metric.h"

#include <math.h>
#include <string.h>

/* clang-format off */
G_DEFINE_QUARK (tsplib-error-quark, tsplib_error)
/* clang-format on */

/* The byte that very old tools put at the end of a text file. */
#define DOS_END 26

/* The reading position, the header read so far, and the contents of the sections. */
typedef struct
{
  const char *file;
  const char *at;
  const char *end;
  int line;
  char *weight_type;
  char *weight_format;
  int n; /* 0: no DIMENSION yet */
  gboolean directed;
  double *coordinates;
  gint32 *label;
  gint32 *distance;
  GError **error;
} Reader;

G_GNUC_PRINTF (3, 4)
static gboolean
refuse (Reader *reader, TsplibError code, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (reader->error, TSPLIB_ERROR, code, "%s:%d: %s", reader->file, reader->line, what);
  return FALSE;
}

/* ---- words and numbers ---- */

/* Moves to the next word, over line ends and comments. FALSE: there is none. */
static gboolean
skip_space (Reader *reader)
{
  for (; reader->at < reader->end; reader->at++)
    {
      if (*reader->at == '\n')
        reader->line++;
      else if (*reader->at == '#')
        while (reader->at + 1 < reader->end && reader->at[1] != '\n')
          reader->at++;
      else if (!g_ascii_isspace (*reader->at) && *reader->at != DOS_END)
        return TRUE;
    }
  return FALSE;
}

/* TRUE: the next word is a number, or at least no keyword. */
static gboolean
number_follows (Reader *reader)
{
  return skip_space (reader) && !g_ascii_isalpha (*reader->at);
}

static gboolean
read_number (Reader *reader, const char *section, double *number)
{
  g_autofree char *word = NULL;
  const char *start;
  char *stop;

  if (!number_follows (reader))
    return refuse (reader, TSPLIB_ERROR_MALFORMED, "%s ends too early for %d cities", section,
                   reader->n);
  start = reader->at;
  while (reader->at < reader->end && !g_ascii_isspace (*reader->at))
    reader->at++;
  word = g_strndup (start, (gsize)(reader->at - start));
  *number = g_ascii_strtod (word, &stop);
  if (stop == word || *stop != '\0' || !isfinite (*number))
    {
      g_autofree char *shown = g_strndup (word, 40);
      g_autofree char *printable = g_strescape (shown, NULL);

      return refuse (reader, TSPLIB_ERROR_MALFORMED, "'%s' is not a number", printable);
    }
  return TRUE;
}

static gboolean
read_whole (Reader *reader, const char *section, double limit, gint32 *number)
{
  double value;

  if (!read_number (reader, section, &value))
    return FALSE;
  if (value != floor (value))
    return refuse (reader, TSPLIB_ERROR_MALFORMED, "%g is not a whole number", value);
  if (fabs (value) > limit)
    return refuse (reader, TSPLIB_ERROR_UNSUPPORTED, "%.0f is beyond the limit of %.0f", value,
                   limit);
  *number = (gint32)value;
  return TRUE;
}

/* ---- sections ---- */

static gboolean
compute_distances (Reader *reader)
{
  Metric function = metric_find (reader->weight_type);
  int n = reader->n;

  reader->distance = g_new0 (gint32, n * n);
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++)
      {
        double length
            = a == b ? 0 : function (&reader->coordinates[2 * a], &reader->coordinates[2 * b]);

        if (!(length <= TSPLIB_DISTANCE_MAX))
          return refuse (reader, TSPLIB_ERROR_UNSUPPORTED,
                         "the distance from city %d to city %d is beyond the limit of %d",
                         reader->label[a], reader->label[b], TSPLIB_DISTANCE_MAX);
        reader->distance[a * n + b] = (gint32)length;
      }
  return TRUE;
}

/* The part of the matrix that a format lists, row by row. By symmetry, columns are rows of the
 * other half. */
static const struct
{
  const char *name;
  gboolean whole, upper, diagonal;
} formats[] = {
  { "FULL_MATRIX", TRUE, FALSE, TRUE },     { "UPPER_ROW", FALSE, TRUE, FALSE },
  { "LOWER_COL", FALSE, TRUE, FALSE },      { "UPPER_DIAG_ROW", FALSE, TRUE, TRUE },
  { "LOWER_DIAG_COL", FALSE, TRUE, TRUE },  { "LOWER_ROW", FALSE, FALSE, FALSE },
  { "UPPER_COL", FALSE, FALSE, FALSE },     { "LOWER_DIAG_ROW", FALSE, FALSE, TRUE },
  { "UPPER_DIAG_COL", FALSE, FALSE, TRUE },
};

static gboolean
read_row (Reader *reader, gsize format, int a)
{
  int n = reader->n;
  int off = formats[format].diagonal ? 0 : 1;
  int from = formats[format].whole || !formats[format].upper ? 0 : a + off;
  int to = formats[format].whole || formats[format].upper ? n : a + 1 - off;

  for (int b = from; b < to; b++)
    {
      gint32 length = 0;

      if (!read_whole (reader, "EDGE_WEIGHT_SECTION", a == b ? G_MAXINT32 : TSPLIB_DISTANCE_MAX,
                       &length))
        return FALSE;
      if (a == b)
        continue;
      if (reader->directed && formats[format].whole)
        {
          reader->distance[a * n + b] = length;
          continue;
        }
      if (formats[format].whole && b < a && reader->distance[b * n + a] != length)
        return refuse (reader, TSPLIB_ERROR_UNSUPPORTED,
                       "the distance from city %d to city %d is %d, but back it is %d, "
                       "which only TYPE: ATSP may have",
                       b + 1, a + 1, reader->distance[b * n + a], length);
      reader->distance[a * n + b] = length;
      if (!formats[format].whole || b < a)
        reader->distance[b * n + a] = length;
    }
  return TRUE;
}

static gboolean
read_weights (Reader *reader)
{
  gsize format = 0;

  if (g_strcmp0 (reader->weight_type, "EXPLICIT") != 0)
    return refuse (reader, TSPLIB_ERROR_MALFORMED,
                   "EDGE_WEIGHT_SECTION needs EDGE_WEIGHT_TYPE: EXPLICIT before it");
  if (reader->distance != NULL)
    return refuse (reader, TSPLIB_ERROR_MALFORMED, "a second EDGE_WEIGHT_SECTION");
  while (format < G_N_ELEMENTS (formats)
         && g_strcmp0 (formats[format].name, reader->weight_format) != 0)
    format++;
  if (format == G_N_ELEMENTS (formats))
    return refuse (reader, TSPLIB_ERROR_UNSUPPORTED, "EDGE_WEIGHT_FORMAT '%.40s' is not known",
                   reader->weight_format == NULL ? "" : reader->weight_format);
  reader->distance = g_new0 (gint32, reader->n * reader->n);
  for (int a = 0; a < reader->n; a++)
    if (!read_row (reader, format, a))
      return FALSE;
  if (number_follows (reader))
    return refuse (reader, TSPLIB_ERROR_MALFORMED,
                   "EDGE_WEIGHT_SECTION holds more numbers than %d cities need", reader->n);
  return TRUE;
}

static gboolean
read_coordinates (Reader *reader)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_direct_hash, g_direct_equal);
  const char *section = "NODE_COORD_SECTION";

  if (reader->coordinates != NULL)
    return refuse (reader, TSPLIB_ERROR_MALFORMED, "a second %s", section);
  reader->coordinates = g_new0 (double, 2 * reader->n);
  for (int a = 0; a < reader->n; a++)
    {
      gint32 label = 0;

      if (!read_whole (reader, section, G_MAXINT32, &label)
          || !read_number (reader, section, &reader->coordinates[2 * a])
          || !read_number (reader, section, &reader->coordinates[2 * a + 1]))
        return FALSE;
      if (!g_hash_table_add (seen, GINT_TO_POINTER (label)))
        return refuse (reader, TSPLIB_ERROR_MALFORMED, "city %d comes twice", label);
      /* Beside an explicit matrix, coordinates are only for drawing; its rows are numbered from
       * 1. */
      if (g_strcmp0 (reader->weight_type, "EXPLICIT") != 0)
        reader->label[a] = label;
    }
  if (number_follows (reader))
    return refuse (reader, TSPLIB_ERROR_MALFORMED, "%s holds more than %d cities", section,
                   reader->n);
  return TRUE;
}

/* ---- header ---- */

static gboolean
set_dimension (Reader *reader, const char *value)
{
  char *stop;
  double n = g_ascii_strtod (value, &stop);

  if (reader->n != 0)
    return refuse (reader, TSPLIB_ERROR_MALFORMED, "a second DIMENSION");
  if (stop == value || *stop != '\0' || n != floor (n) || n < 1)
    return refuse (reader, TSPLIB_ERROR_MALFORMED, "DIMENSION '%.40s' is not a number of cities",
                   value);
  if (!(n <= TSPLIB_CITIES_MAX))
    return refuse (reader, TSPLIB_ERROR_UNSUPPORTED,
                   "DIMENSION %.0f is more than the %d cities that this program takes", n,
                   TSPLIB_CITIES_MAX);
  reader->n = (int)n;
  reader->label = g_new0 (gint32, reader->n);
  for (int a = 0; a < reader->n; a++)
    reader->label[a] = a + 1;
  return TRUE;
}

static gboolean
set_weight_type (Reader *reader, const char *value)
{
  if (strcmp (value, "EXPLICIT") != 0 && metric_find (value) == NULL)
    return refuse (reader, TSPLIB_ERROR_UNSUPPORTED, "EDGE_WEIGHT_TYPE '%.40s' is not known",
                   value);
  g_free (reader->weight_type);
  reader->weight_type = g_strdup (value);
  return TRUE;
}

static gboolean
set_type (Reader *reader, const char *value)
{
  /* Some files have more text after the word, as in "TSP (M.~Hofmeister)". */
  const char *word = value[0] == 'A' ? value + 1 : value;

  if (!g_str_has_prefix (word, "TSP") || g_ascii_isalnum (word[3]))
    return refuse (reader, TSPLIB_ERROR_UNSUPPORTED,
                   "TYPE '%.40s': only TYPE TSP and TYPE ATSP are solved", value);
  if (reader->distance != NULL || reader->coordinates != NULL)
    return refuse (reader, TSPLIB_ERROR_MALFORMED, "TYPE after the distances");
  reader->directed = value[0] == 'A';
  return TRUE;
}

static gboolean
read_section (Reader *reader, const char *keyword)
{
  gboolean weights = strcmp (keyword, "EDGE_WEIGHT_SECTION") == 0;
  gboolean display = strcmp (keyword, "DISPLAY_DATA_SECTION") == 0;

  if (!weights && !display && strcmp (keyword, "NODE_COORD_SECTION") != 0)
    return refuse (reader, TSPLIB_ERROR_UNSUPPORTED, "%.40s is not supported", keyword);
  if (reader->n == 0)
    return refuse (reader, TSPLIB_ERROR_MALFORMED, "%.40s before DIMENSION", keyword);
  if (weights)
    return read_weights (reader);
  if (!display)
    return read_coordinates (reader);
  while (number_follows (reader))
    while (reader->at < reader->end && *reader->at != '\n')
      reader->at++;
  return TRUE;
}

/* Reads a line "KEYWORD : value" at the reading position. Skips keywords that do not concern
 * distances. */
static gboolean
read_keyword (Reader *reader, const char *keyword, const char *value, gboolean colon)
{
  if (g_str_has_suffix (keyword, "_SECTION"))
    return read_section (reader, keyword);
  if (strcmp (keyword, "DIMENSION") == 0)
    return set_dimension (reader, value);
  if (strcmp (keyword, "TYPE") == 0)
    return set_type (reader, value);
  if (strcmp (keyword, "EDGE_WEIGHT_TYPE") == 0)
    return set_weight_type (reader, value);
  if (strcmp (keyword, "EDGE_WEIGHT_FORMAT") == 0)
    {
      g_free (reader->weight_format);
      reader->weight_format = g_strdup (value);
      return TRUE;
    }
  if (!colon && strcmp (keyword, "NAME") != 0 && strcmp (keyword, "COMMENT") != 0)
    return refuse (reader, TSPLIB_ERROR_MALFORMED, "'%.40s' is not a TSPLIB keyword", keyword);
  return TRUE;
}

/* Splits the line at the reading position into keyword and value. */
static gboolean
read_line (Reader *reader, gboolean *eof)
{
  const char *start = reader->at;
  const char *stop = memchr (start, '\n', (gsize)(reader->end - start));
  g_autofree char *line = g_strndup (start, (gsize)((stop ? stop : reader->end) - start));
  g_autofree char *keyword = NULL;
  gsize length = 0;
  char *value;
  gboolean colon;

  while (g_ascii_isalnum (line[length]) || line[length] == '_')
    length++;
  keyword = g_strndup (line, length);
  value = line + length + strspn (line + length, " \t");
  colon = *value == ':';
  value = g_strstrip (value + (colon ? 1 : 0));
  if (length == 0 || g_ascii_isdigit (*keyword))
    return refuse (reader, TSPLIB_ERROR_MALFORMED, "expected a TSPLIB keyword");
  *eof = strcmp (keyword, "EOF") == 0;
  reader->at = stop ? stop : reader->end;
  return *eof || read_keyword (reader, keyword, value, colon);
}

static gboolean
read_all (Reader *reader)
{
  gboolean eof = FALSE;

  if (!skip_space (reader))
    return refuse (reader, TSPLIB_ERROR_MALFORMED, "the file is empty");
  while (!eof && skip_space (reader))
    if (!read_line (reader, &eof))
      return FALSE;
  if (reader->n == 0)
    return refuse (reader, TSPLIB_ERROR_MALFORMED, "the file ends without DIMENSION");
  if (reader->directed && reader->n > TSPLIB_DIRECTED_MAX)
    return refuse (reader, TSPLIB_ERROR_UNSUPPORTED,
                   "DIMENSION %d is more than the %d cities that this program takes of TYPE ATSP",
                   reader->n, TSPLIB_DIRECTED_MAX);
  if (reader->weight_type == NULL)
    return refuse (reader, TSPLIB_ERROR_MALFORMED, "the file ends without EDGE_WEIGHT_TYPE");
  if (strcmp (reader->weight_type, "EXPLICIT") == 0)
    return reader->distance != NULL
           || refuse (reader, TSPLIB_ERROR_MALFORMED, "the file ends without EDGE_WEIGHT_SECTION");
  if (reader->coordinates == NULL)
    return refuse (reader, TSPLIB_ERROR_MALFORMED, "the file ends without NODE_COORD_SECTION");
  return compute_distances (reader);
}

/* Checks the whole text first, so that the rest of the reader may treat it as text. */
static gboolean
check_text (Reader *reader)
{
  for (const char *at = reader->at; at < reader->end; at++)
    {
      if (*at == '\n')
        reader->line++;
      else if ((guchar)*at < ' ' && !g_ascii_isspace (*at) && *at != DOS_END)
        return refuse (reader, TSPLIB_ERROR_MALFORMED, "this is not a text file");
    }
  reader->line = 1;
  return TRUE;
}

Tsplib *
tsplib_read (const char *file, const char *text, gsize size, GError **error)
{
  Reader reader = { .file = file, .at = text, .end = text + size, .line = 1, .error = error };
  Tsplib *tsplib = NULL;

  if (check_text (&reader) && read_all (&reader))
    {
      tsplib = g_new0 (Tsplib, 1);
      tsplib->n = reader.n;
      tsplib->directed = reader.directed;
      tsplib->distance = g_steal_pointer (&reader.distance);
      tsplib->label = g_steal_pointer (&reader.label);
    }
  g_free (reader.weight_type);
  g_free (reader.weight_format);
  g_free (reader.coordinates);
  g_free (reader.label);
  g_free (reader.distance);
  return tsplib;
}

void
tsplib_free (Tsplib *tsplib)
{
  if (tsplib == NULL)
    return;
  g_free (tsplib->distance);
  g_free (tsplib->label);
  g_free (tsplib);
}
