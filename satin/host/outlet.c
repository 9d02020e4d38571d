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

static gboolean refuse (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
refuse (GError **error, const char *format, ...)
{
  int number = errno;
  va_list args;

  va_start (args, format);
  g_propagate_error (
      error,
      g_error_new_valist (G_FILE_ERROR, (gint)g_file_error_from_errno (number), format, args));
  va_end (args);
  return FALSE;
}

gboolean
outlet_is_writable (const char *what, const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *trial = g_strdup_printf ("%s/.%.100s.XXXXXX", folder, base);
  struct stat info;
  int fd;

  if (stat (path, &info) == 0 && S_ISDIR (info.st_mode))
    return refuse (error, "%s '%s' is a folder, not a file", what, path);
  if (stat (path, &info) == 0 && !S_ISREG (info.st_mode))
    return access (path, W_OK) == 0 /* a device or a pipe */
           || refuse (error, "cannot write %s '%s': %s", what, path, g_strerror (errno));
  /* Permissions do not bind root and do not tell of read-only disks, so it tries to write. */
  fd = g_mkstemp (trial);
  if (fd < 0)
    return refuse (error, "%s '%s': cannot write in the folder '%s': %s", what, path, folder,
                   g_strerror (errno));
  close (fd);
  (void)unlink (trial);
  return TRUE;
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
