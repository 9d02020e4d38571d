/* SPDX-License-Identifier: BSD-3-Clause */
/* Stamps of files. Does not read their contents. */
#include "coordinator/stamp.h"

#include <fcntl.h>
#include <unistd.h>

static void
stamp_fill (Stamp *stamp, const struct stat *status)
{
  stamp->exists = TRUE;
  stamp->device = status->st_dev;
  stamp->inode = status->st_ino;
  stamp->size = status->st_size;
  stamp->changed = status->st_mtim;
}

Stamp
stamp_of_file (int fd)
{
  struct stat status;
  Stamp stamp = { .fd = fd };
  if (fd >= 0 && fstat (fd, &status) == 0)
    stamp_fill (&stamp, &status);
  return stamp;
}

Stamp
stamp_of (const char *path)
{
  return stamp_of_file (open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

void
stamp_clear (Stamp *stamp)
{
  if (stamp->fd >= 0)
    (void)close (stamp->fd);
  *stamp = (Stamp){ .fd = -1 };
}

void
stamp_replace (Stamp *stamp, Stamp newer)
{
  stamp_clear (stamp);
  *stamp = newer;
}

gboolean
stamp_is_current (const Stamp *stamp, const char *path)
{
  struct stat status;
  Stamp now = { 0 };
  if (lstat (path, &status) != 0)
    return TRUE;
  stamp_fill (&now, &status);
  return stamp->exists && stamp->device == now.device && stamp->inode == now.inode
         && stamp->size == now.size && stamp->changed.tv_sec == now.changed.tv_sec
         && stamp->changed.tv_nsec == now.changed.tv_nsec;
}
