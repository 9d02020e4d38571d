/* SPDX-License-Identifier: BSD-3-Clause */
/* See say.h. Tests: embed.sh */
#include "say.h"

#include <stdio.h>

static gint say_by_log; /* atomic */

void
say_to_log (gboolean to_log)
{
  g_atomic_int_set (&say_by_log, to_log);
}

void
say_line (const char *format, ...)
{
  va_list values;

  va_start (values, format);
  g_autofree char *text = g_strdup_vprintf (format, values);
  va_end (values);
  if (g_atomic_int_get (&say_by_log))
    g_log (SAY_DOMAIN, G_LOG_LEVEL_INFO, "%s", text);
  else
    fprintf (stderr, "satin: %s\n", text);
}
