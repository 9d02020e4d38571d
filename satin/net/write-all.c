/* SPDX-License-Identifier: BSD-3-Clause */
/* See write-all.h. */
#include "write-all.h"

#include <errno.h>
#include <unistd.h>

gboolean
write_all (int fd, const void *data, gsize size)
{
  const char *from = data;

  while (size > 0)
    {
      gssize n = write (fd, from, size);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return FALSE;
      from += n;
      size -= (gsize)n;
    }
  return TRUE;
}
