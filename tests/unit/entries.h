/* SPDX-License-Identifier: BSD-3-Clause */
/* How many files and folders a folder has. */
#pragma once

#include <glib.h>

static inline guint
entries (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}
