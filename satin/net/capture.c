/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture.h"
#include "write-all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static int
open_file (const char *path)
{
  if (path != NULL)
    return open (path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  return memfd_create ("satin", MFD_CLOEXEC); /* no disk, so none that is full */
}

void
capture_guard (void)
{
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl (fd, F_GETFD) < 0)
      (void)!open ("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

gboolean
capture_flush (FILE *stream, const char **why)
{
  errno = 0;
  if (fflush (stream) == 0 && !ferror (stream))
    return TRUE;
  *why = g_strerror (errno != 0 ? errno : EIO);
  clearerr (stream);
  return FALSE;
}

gboolean
capture_write (int fd, GBytes *bytes, const char **why)
{
  if (write_all (fd, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes)))
    return TRUE;
  *why = g_strerror (errno);
  return FALSE;
}

gboolean
capture_begin (Capture *capture, int fd, const char *path)
{
  int file = open_file (path);
  *capture = CAPTURE_NONE;
  if (file < 0)
    return FALSE;
  fflush (NULL);
  *capture = (Capture){ fd, fcntl (fd, F_DUPFD_CLOEXEC, 3), file };
  if (dup2 (capture->file, fd) < 0)
    {
      *capture = CAPTURE_NONE;
      return FALSE;
    }
  return TRUE;
}

GBytes *
capture_end (Capture *capture)
{
  g_autoptr (GByteArray) all = g_byte_array_new ();
  guint8 piece[65536];
  gssize n;
  off_t at = 0;
  if (capture->fd < 0)
    return g_bytes_new (NULL, 0);
  fflush (NULL);
  while ((n = pread (capture->file, piece, sizeof piece, at)) > 0)
    {
      g_byte_array_append (all, piece, (guint)n);
      at += n;
    }
  if (capture->saved >= 0)
    {
      dup2 (capture->saved, capture->fd);
      close (capture->saved);
    }
  else
    close (capture->fd);
  close (capture->file);
  *capture = CAPTURE_NONE;
  return g_byte_array_free_to_bytes (g_steal_pointer (&all));
}
