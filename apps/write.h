/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing files after satin_root. */
#pragma once

#include <gio/gio.h>
#include <stdio.h>

/* Replaces a plain file in one step. Writes into anything else, such as a link or a pipe. "-" is
 * standard output. */
static inline gboolean
write_file (const char *file, const void *bytes, gsize size, GError **error)
{
  gboolean out = g_str_equal (file, "-");
  FILE *other;
  gsize written;

  if (!out && !g_file_test (file, G_FILE_TEST_IS_SYMLINK)
      && (!g_file_test (file, G_FILE_TEST_EXISTS) || g_file_test (file, G_FILE_TEST_IS_REGULAR)))
    return g_file_set_contents_full (file, bytes, (gssize)size, G_FILE_SET_CONTENTS_CONSISTENT,
                                     0666, error);
  other = out ? stdout : fopen (file, "w");
  written = other == NULL ? 0 : fwrite (bytes, 1, size, other);
  if (other != NULL && (out ? fflush (other) : fclose (other)) == 0 && written == size)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "'%s' cannot be written", file);
  return FALSE;
}
