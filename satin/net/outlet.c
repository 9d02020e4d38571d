/* SPDX-License-Identifier: BSD-3-Clause */
/* See outlet.h. */
#include "outlet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *
standard_stream (const struct stat *info)
{
  FILE *const streams[] = { stderr, stdout };

  for (guint i = 0; i < G_N_ELEMENTS (streams); i++)
    {
      struct stat own;
      if (fstat (fileno (streams[i]), &own) == 0 && own.st_dev == info->st_dev
          && own.st_ino == info->st_ino)
        return streams[i];
    }
  return NULL;
}

gboolean
outlet_write (const char *path, const char *text, GError **error)
{
  struct stat info;
  gboolean exists = stat (path, &info) == 0;
  FILE *stream = exists ? standard_stream (&info) : NULL;
  char *real = exists && stream == NULL ? realpath (path, NULL) : NULL;
  gboolean good;

  if (!exists || (real != NULL && S_ISREG (info.st_mode)))
    good = g_file_set_contents (real != NULL ? real : path, text, -1, error);
  else
    {
      FILE *file = stream != NULL ? stream : fopen (path, "we");
      good = file != NULL && fputs (text, file) != EOF && fflush (file) == 0;
      if (!good)
        g_set_error (error, G_FILE_ERROR, (gint)g_file_error_from_errno (errno), "'%s': %s", path,
                     g_strerror (errno));
      if (file != NULL && file != stream)
        fclose (file);
    }
  free (real);
  return good;
}
