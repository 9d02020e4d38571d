/* SPDX-License-Identifier: BSD-3-Clause */
/* See shown.h. */
#include "shown.h"

#include <math.h>

#define MINUTE 60
#define HOUR 3600
#define DAY 86400

char *
shown_duration (double seconds)
{
  guint64 whole;

  if (!isfinite (seconds) || seconds < 0 || seconds > 1e12)
    return g_strdup ("-");
  if (seconds < 9.95)
    return g_strdup_printf ("%.1f s", seconds);
  whole = (guint64)(seconds + 0.5);
  if (whole < 2 * MINUTE)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " s", whole);
  if (whole < 2 * HOUR)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " min %02" G_GUINT64_FORMAT " s", whole / MINUTE,
                            whole % MINUTE);
  if (whole < 2 * DAY)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " h %02" G_GUINT64_FORMAT " min", whole / HOUR,
                            whole % HOUR / MINUTE);
  return g_strdup_printf ("%" G_GUINT64_FORMAT " d %02" G_GUINT64_FORMAT " h", whole / DAY,
                          whole % DAY / HOUR);
}

char *
shown_left (double left_s, double low_s, double high_s)
{
  g_autofree char *left = shown_duration (left_s), *low = shown_duration (low_s);
  g_autofree char *high = shown_duration (high_s);

  if (!isfinite (left_s) || !isfinite (low_s) || !isfinite (high_s))
    return g_strdup ("time left not yet known");
  return g_strdup_printf ("about %s left (%s to %s)", left, low, high);
}

static guint
columns_of (gunichar c)
{
  if (!g_unichar_isprint (c))
    return 1; /* shown as "?" */
  if (g_unichar_iszerowidth (c))
    return 0;
  return g_unichar_iswide (c) ? 2 : 1;
}

guint
shown_width (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  guint width = 0;

  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    width += columns_of (g_utf8_get_char (p));
  return width;
}

char *
shown_cut (const char *text, guint columns)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *cut = g_string_new (NULL);
  gboolean fits = shown_width (valid) <= columns;
  guint room = fits ? columns : columns - MIN (columns, 1), used = 0;

  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (used + columns_of (c) > room)
        break;
      used += columns_of (c);
      g_string_append_unichar (cut, g_unichar_isprint (c) || g_unichar_iszerowidth (c) ? c : '?');
    }
  if (!fits && columns > 0)
    g_string_append (cut, "…");
  return g_string_free (cut, FALSE);
}

void
shown_append (GString *line, const char *text, guint columns)
{
  g_autofree char *cut = shown_cut (text, columns);
  guint width = shown_width (cut);

  g_string_append (line, cut);
  for (; width < columns; width++)
    g_string_append_c (line, ' ');
}

#define COLUMNS_MAX 16

static void
append_cell (GString *line, const char *text, guint columns, gboolean is_right, gboolean is_last)
{
  guint width = shown_width (text);

  for (; is_right && width < columns; width++)
    g_string_append_c (line, ' ');
  shown_append (line, text, is_right || is_last ? shown_width (text) : columns);
}

char *
shown_table (const GPtrArray *rows, guint right)
{
  guint widths[COLUMNS_MAX] = { 0 };
  GString *all = g_string_new (NULL);

  for (guint i = 0; i < rows->len; i++)
    {
      char **cells = rows->pdata[i];

      for (guint k = 0; cells[k] != NULL && k < COLUMNS_MAX; k++)
        widths[k] = MAX (widths[k], shown_width (cells[k]));
    }
  for (guint i = 0; i < rows->len; i++)
    {
      char **cells = rows->pdata[i];

      for (guint k = 0; cells[k] != NULL && k < COLUMNS_MAX; k++)
        {
          if (k > 0)
            g_string_append (all, "  ");
          append_cell (all, cells[k], widths[k], (right >> k & 1) != 0, cells[k + 1] == NULL);
        }
      while (all->len > 0 && all->str[all->len - 1] == ' ')
        g_string_truncate (all, all->len - 1);
      g_string_append_c (all, '\n');
    }
  return g_string_free (all, FALSE);
}
