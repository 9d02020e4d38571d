/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells a file from another one that has replaced it. Plain values with a descriptor; one
 * thread. */
#pragma once

#include <glib.h>
#include <sys/stat.h>
#include <time.h>

/* While `fd` is open, the file of the stamp keeps its inode, so no later file can get it; -1:
 * none. */
typedef struct
{
  int fd;
  gboolean exists;
  dev_t device;
  ino_t inode;
  off_t size;
  struct timespec changed;
} Stamp;

#define STAMP_NONE ((Stamp){ .fd = -1 })

/* Of an open file. (transfer full: fd) */
Stamp stamp_of_file (int fd);
Stamp stamp_of (const char *path);
void stamp_clear (Stamp *stamp);
/* (transfer full: newer) */
void stamp_replace (Stamp *stamp, Stamp newer);
/* TRUE: the file at `path` is the stamp's, or there is none in both cases. */
gboolean stamp_is_current (const Stamp *stamp, const char *path);
