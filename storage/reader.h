/* SPDX-License-Identifier: BSD-3-Clause */
/* How SQLite reads a file that nobody writes to: in large pieces where it goes through it, and,
 * when the file is still being brought (arrival.h), as soon as what it asks for is there. */
#pragma once

#include <glib.h>

/* The name of the VFS, for sqlite3_open_v2; only for reading. Any thread. */
const char *reader_vfs (void);
