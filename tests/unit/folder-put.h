/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes files into the folder of a run. */
#pragma once

#include "folder/folder.h"

#include <string.h>

static inline void
put (const char *path, const char *file, const char *text)
{
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));

  g_assert_true (folder_write (path, file, bytes, NULL));
}
