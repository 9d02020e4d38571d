/* SPDX-License-Identifier: BSD-3-Clause */
/* Temporary files in memory, for tests that make and sync many. */
#pragma once

#include <glib.h>
#include <sys/statvfs.h>

#define IN_MEMORY_BYTES_MIN (G_GUINT64_CONSTANT (512) << 20) /* a container may have less */

/* Call it before anything asks for the temporary folder. A TMPDIR that is set stays. */
static inline void
files_in_memory (void)
{
  struct statvfs room;

  if (g_getenv ("TMPDIR") == NULL && statvfs ("/dev/shm", &room) == 0
      && (room.f_flag & ST_RDONLY) == 0
      && (guint64)room.f_bavail * room.f_frsize >= IN_MEMORY_BYTES_MIN)
    g_setenv ("TMPDIR", "/dev/shm", TRUE);
}
