/* SPDX-License-Identifier: BSD-3-Clause */
/* See json-write.h. Tests: test-json. */
#include "json-write.h"

#include <math.h>

void
json_append_string (GString *to, const char *text)
{
  g_autofree char *valid = text == NULL ? NULL : g_utf8_make_valid (text, -1);

  if (valid == NULL)
    {
      g_string_append (to, "null");
      return;
    }
  g_string_append_c (to, '"');
  for (const char *p = valid; *p != '\0'; p++)
    if (*p == '"' || *p == '\\')
      g_string_append_printf (to, "\\%c", *p);
    else if ((guchar)*p < 0x20 || *p == 0x7f)
      g_string_append_printf (to, "\\u%04x", (guint)(guchar)*p);
    else
      g_string_append_c (to, *p);
  g_string_append_c (to, '"');
}

void
json_append_member (GString *to, const char *key, const char *text)
{
  g_string_append_printf (to, ",\"%s\":", key);
  json_append_string (to, text);
}

void
json_append_number (GString *to, double number)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isfinite (number))
    g_string_append (to, "null");
  else if (number == floor (number) && fabs (number) < 1e15)
    g_string_append_printf (to, "%.0f", number);
  else
    {
      g_ascii_formatd (text, sizeof text, "%.15g", number);
      if (g_ascii_strtod (text, NULL) != number)
        g_ascii_formatd (text, sizeof text, "%.17g", number);
      g_string_append (to, text);
    }
}
