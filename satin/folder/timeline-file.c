/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline-file.h"

#include "host/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <unistd.h>

/* Writes of at most this size are done by one call, so that a killed node leaves whole lines. */
#define PART_BYTES 4096

static gboolean
append (const char *path, int flags, const char *text, gsize size)
{
  int fd = open (path, O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0666);
  gboolean good = fd >= 0;

  while (good && size > 0)
    {
      gsize part = MIN (size, PART_BYTES);
      const char *end = part == size ? NULL : memrchr (text, '\n', part);

      if (end != NULL)
        part = (gsize)(end - text) + 1;
      good = whole_write (fd, text, part);
      text += part;
      size -= part;
    }
  if (fd >= 0)
    good = close (fd) == 0 && good;
  return good;
}

gboolean
timeline_file_begin (const char *path, GError **error)
{
  if (append (path, O_CREAT | O_TRUNC, "[\n", 2))
    return TRUE;
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "trace file '%s': %s", path,
               g_strerror (errno));
  return FALSE;
}

void
timeline_file_add (const char *path, const GString *text)
{
  if (text->len > 0)
    (void)append (path, 0, text->str, text->len);
}

void
timeline_file_end (const char *path)
{
  static const char end[] = "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"process_labels\","
                            "\"args\":{\"labels\":\"the run "
                            "has ended\"}}\n]\n";

  (void)append (path, 0, end, sizeof end - 1);
}
