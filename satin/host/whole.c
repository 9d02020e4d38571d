/* SPDX-License-Identifier: BSD-3-Clause */
/* See whole.h. */
#include "whole.h"

#include <errno.h>
#include <unistd.h>

gssize
whole_read_some (int fd, void *to, gsize size)
{
  gssize n;

  do
    n = read (fd, to, size);
  while (n < 0 && errno == EINTR);
  return n;
}

gssize
whole_read (int fd, void *to, gsize size)
{
  gsize done = 0;
  gssize n = 1;

  for (; done < size && n > 0; done += (gsize)n)
    if ((n = whole_read_some (fd, (char *)to + done, size - done)) < 0)
      return -1;
  return (gssize)done;
}

gssize
whole_read_at (int fd, void *to, gsize size, guint64 at)
{
  gsize done = 0;

  while (done < size)
    {
      gssize n = pread (fd, (char *)to + done, size - done, (off_t)(at + done));
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return -1;
      if (n == 0)
        break;
      done += (gsize)n;
    }
  return (gssize)done;
}

gboolean
whole_write (int fd, const void *from, gsize size)
{
  const char *rest = from;

  while (size > 0)
    {
      gssize n = write (fd, rest, size);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return FALSE;
      rest += n;
      size -= (gsize)n;
    }
  return TRUE;
}

gboolean
whole_write_at (int fd, const void *from, gsize size, guint64 at)
{
  for (gsize done = 0; done < size;)
    {
      gssize n = pwrite (fd, (const char *)from + done, size - done, (off_t)(at + done));
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return FALSE;
      done += (gsize)n;
    }
  return TRUE;
}
