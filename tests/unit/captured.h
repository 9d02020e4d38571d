/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process writes to a descriptor, standard output or standard error, goes to a temporary
 * file for a while. */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <unistd.h>

typedef struct
{
  char *name;
  int fd, file, before;
} Captured;

static inline Captured
captured_begin (int fd)
{
  Captured captured = { .fd = fd };

  captured.file = g_file_open_tmp ("satin-captured-XXXXXX", &captured.name, NULL);
  captured.before = dup (fd);
  fflush (NULL);
  g_assert_cmpint (dup2 (captured.file, fd), ==, fd);
  return captured;
}

/* (transfer full) What was written since captured_begin. */
static inline char *
captured_end (Captured *captured)
{
  char *text = NULL;

  fflush (NULL);
  g_assert_cmpint (dup2 (captured->before, captured->fd), ==, captured->fd);
  g_assert_true (g_file_get_contents (captured->name, &text, NULL, NULL));
  g_unlink (captured->name);
  close (captured->before);
  close (captured->file);
  g_free (captured->name);
  return text;
}
