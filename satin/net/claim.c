/* SPDX-License-Identifier: BSD-3-Clause */
#include "claim.h"

#include "folder.h"

#include <string.h>
#include <unistd.h>

#define CLAIMS_MAX 1000

/* The process that made claim `file`; 0: none has. */
static gint64
claimer (const char *folder, const char *file)
{
  g_autoptr (GBytes) bytes = folder_bytes (folder, file, NULL);
  if (bytes == NULL)
    return 0;
  g_autofree char *text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  return g_ascii_strtoll (text, NULL, 10);
}

gboolean
claim_founder (const char *folder)
{
  for (guint n = 0; n < CLAIMS_MAX; n++)
    {
      g_autofree char *file = g_strdup_printf ("founder-%u", n);
      gint64 pid = claimer (folder, file);
      if (pid == 0)
        {
          g_autofree char *text = g_strdup_printf ("%d\n", (int)getpid ());
          g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
          if (!folder_write_first (folder, file, bytes, NULL))
            return FALSE;
          pid = claimer (folder, file);
        }
      if (pid == getpid ())
        return TRUE;
      if (pid == 0 || folder_pid_is_live (pid))
        return FALSE;
    }
  return FALSE;
}
