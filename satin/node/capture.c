/* SPDX-License-Identifier: BSD-3-Clause */
/* See capture.h. Tests: test-capture, ends.sh. */
#include "capture.h"

#include "host/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int
open_file (const char *path)
{
  if (path != NULL)
    return open (path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  /* in memory, so no full disk matters */
  return memfd_create ("satin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

void
capture_guard (void)
{
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl (fd, F_GETFD) < 0)
      (void)!open ("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static gboolean capture_spares;

void
capture_spare_streams (void)
{
  capture_spares = TRUE;
}

void
capture_flush_streams (void)
{
  if (!capture_spares)
    {
      fflush (NULL);
      return;
    }
  fflush (stdout);
  fflush (stderr);
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
  if (whole_write (fd, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes)))
    return TRUE;
  *why = g_strerror (errno);
  return FALSE;
}

static CapturePlace
place_of (int fd)
{
  struct stat status = { 0 };
  (void)fstat (fd, &status);
  return (CapturePlace){ fd, status.st_dev, status.st_ino };
}

static gboolean
leads_there (const CapturePlace *place)
{
  CapturePlace now = place_of (place->fd);
  return now.inode == place->inode && now.device == place->device;
}

gboolean
capture_begin (Capture *capture, int fd, const char *path)
{
  int file = open_file (path);
  *capture = CAPTURE_NONE;
  if (file < 0)
    return FALSE;
  capture_flush_streams ();
  int saved = fcntl (fd, F_DUPFD_CLOEXEC, 3);
  if (saved < 0 || dup2 (file, fd) < 0)
    {
      close (file);
      if (saved >= 0)
        close (saved);
      return FALSE;
    }
  *capture = (Capture){ fd, place_of (saved), place_of (file) };
  return TRUE;
}

/* Maps an unnamed file, sealed so that nobody changes it: a large answer is not copied. (transfer
 * full) NULL: the file has a name, or cannot be sealed. */
static GBytes *
map_file (int fd)
{
  g_autoptr (GMappedFile) map = NULL;

  if (fcntl (fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) == 0)
    map = g_mapped_file_new_from_fd (fd, FALSE, NULL);
  return map != NULL ? g_mapped_file_get_bytes (map) : NULL;
}

/* Reads the whole file. (transfer full) NULL: it cannot be read; errno. */
static GBytes *
read_file (int fd)
{
  g_autoptr (GByteArray) all = g_byte_array_new ();
  guint8 piece[65536];
  gssize n;
  off_t at = 0;

  while ((n = whole_read_at (fd, piece, sizeof piece, (guint64)at)) > 0)
    {
      g_byte_array_append (all, piece, (guint)n);
      at += n;
    }
  return n == 0 ? g_byte_array_free_to_bytes (g_steal_pointer (&all)) : NULL;
}

GBytes *
capture_end (Capture *capture, const char **why)
{
  g_autoptr (GBytes) all = NULL;
  if (capture->fd < 0)
    return g_bytes_new (NULL, 0);
  capture_flush_streams ();
  gboolean whole = leads_there (&capture->file) && leads_there (&capture->saved);
  if (whole)
    all = map_file (capture->file.fd);
  if (whole && all == NULL)
    all = read_file (capture->file.fd);
  *why = whole ? g_strerror (errno) : "the program has closed descriptors that are not its own";
  whole = all != NULL && dup2 (capture->saved.fd, capture->fd) >= 0;
  if (leads_there (&capture->saved))
    close (capture->saved.fd);
  if (leads_there (&capture->file))
    close (capture->file.fd);
  *capture = CAPTURE_NONE;
  return whole ? g_steal_pointer (&all) : NULL;
}
