/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the word that was meant by a mistyped one. One thread. */
#include "command.h"

#include <string.h>

/* The edit distance: how many letters must be changed, added or removed. */
static guint
distance (const char *a, const char *b)
{
  gsize n = strlen (b);
  g_autofree guint *row = g_new (guint, n + 1);

  for (guint j = 0; j <= n; j++)
    row[j] = j;
  for (guint i = 1; a[i - 1] != '\0'; i++)
    {
      guint corner = row[0]++;

      for (guint j = 1; j <= n; j++)
        {
          guint changed = corner + (a[i - 1] != b[j - 1]);

          corner = row[j];
          row[j] = MIN (changed, MIN (row[j], row[j - 1]) + 1);
        }
    }
  return row[n];
}

const char *
command_nearest (const char *word, const char *const *names)
{
  const char *nearest = NULL;
  guint least = 3; /* at most two letters may be wrong */

  for (; *names != NULL; names++)
    {
      guint apart
          = strlen (word) > 1 && g_str_has_prefix (*names, word) ? 0 : distance (word, *names);

      if (apart < least && apart < strlen (word))
        {
          nearest = *names;
          least = apart;
        }
    }
  return nearest;
}
