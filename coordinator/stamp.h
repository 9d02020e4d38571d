/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells a file from another one that took its place. Plain values with a descriptor in them; one
 * thread. */
#pragma once

#include <glib.h>
#include <sys/stat.h>
#include <time.h>

/* `fd` keeps the file that the stamp is of from going wholly, so that no later one can get its
 * inode; -1: none. */
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

/* Of an open file; (transfer full: fd). */
Stamp stamp_of_file (int fd);
Stamp stamp_of (const char *path);
void stamp_clear (Stamp *stamp);
/* (transfer full: newer) */
void stamp_replace (Stamp *stamp, Stamp newer);
/* TRUE: what stands at `path` is what the stamp is of, or nothing does. */
gboolean stamp_is_current (const Stamp *stamp, const char *path);
