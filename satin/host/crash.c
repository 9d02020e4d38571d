/* SPDX-License-Identifier: BSD-3-Clause */
/* A transaction passes several points, so a point costs only the reading of a static word.
 * Tests: crash.sh. */
#include "crash.h"

#include <glib.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

void
crash_point (const char *name)
{
  static gsize is_read;
  static char *wanted;
  static int left;
  if (g_once_init_enter (&is_read))
    {
      g_auto (GStrv) words = g_strsplit (g_getenv ("SATIN_CRASH_AT") ?: "", ":", 2);
      if (words[0] != NULL)
        {
          left = words[1] != NULL ? (int)g_ascii_strtoll (words[1], NULL, 10) : 1;
          wanted = g_strdup (words[0]);
        }
      g_once_init_leave (&is_read, 1);
    }
  if (wanted != NULL && strcmp (wanted, name) == 0 && g_atomic_int_dec_and_test (&left))
    kill (getpid (), SIGKILL);
}
