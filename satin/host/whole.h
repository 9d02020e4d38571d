/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes that transfer all bytes: a system call that is interrupted or falls short is
 * repeated. Blocking descriptors. Any thread. */
#pragma once

#include <glib.h>

/* The number of bytes read: less than `size` only at the end of the file. -1: errno says why. */
gssize whole_read (int fd, void *to, gsize size);
gssize whole_read_at (int fd, void *to, gsize size, guint64 at);
/* One read of at most `size` bytes: returns what is there now; 0: the end. -1: errno says why. */
gssize whole_read_some (int fd, void *to, gsize size);
/* FALSE: errno says why; part of the bytes may be written. */
gboolean whole_write (int fd, const void *from, gsize size);
gboolean whole_write_at (int fd, const void *from, gsize size, guint64 at);
