/* SPDX-License-Identifier: BSD-3-Clause */
#include "control.h"

#include "folder.h"
#include "wire.h"

char *
control_ask_at (const char *run_folder, const char *address, const char *request)
{
  g_autofree char *credential = folder_credential (run_folder, NULL);
  g_autofree char *key = folder_key (run_folder);
  const WireRun run = { .credential = credential, .key = key };

  return credential != NULL ? wire_ask (address, &run, request, NULL) : NULL;
}

char *
control_ask (const char *run_folder, const char *request, GError **error)
{
  g_autofree char *credential = folder_credential (run_folder, error);
  if (credential == NULL)
    return NULL;
  g_autoptr (GArray) pids = folder_pids (run_folder, "address");
  for (guint i = 0; i < pids->len; i++)
    {
      gint64 pid = g_array_index (pids, gint64, i);
      g_auto (GStrv) addresses
          = folder_pid_is_live (pid) ? folder_addresses (run_folder, pid) : NULL;
      char *reply = addresses != NULL && addresses[0] != NULL
                        ? control_ask_at (run_folder, addresses[0], request)
                        : NULL;
      if (reply != NULL)
        return reply;
    }
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "no node of the run in '%s' answers",
               run_folder);
  return NULL;
}
