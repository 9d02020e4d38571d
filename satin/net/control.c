/* SPDX-License-Identifier: BSD-3-Clause */
#include "control.h"

#include "folder.h"
#include "relay.h"
#include "wire.h"

#include <string.h>

const char *const control_files_of_end[]
    = { "error", "answer.err", "answer.code", "answer", "end", NULL };

static char *
ask_at (const char *run_folder, const char *address, const char *request, gsize *length)
{
  g_autofree char *credential = folder_credential (run_folder, NULL);
  g_autofree char *key = folder_key (run_folder);
  const WireRun run = { .credential = credential, .key = key };

  return credential != NULL ? wire_ask (address, &run, request, length, NULL) : NULL;
}

char *
control_ask_at (const char *run_folder, const char *address, const char *request)
{
  return ask_at (run_folder, address, request, NULL);
}

/* (transfer full) (nullable): where the node `pid` listens, if its process lives. */
static char *
address_of (const char *run_folder, gint64 pid)
{
  g_auto (GStrv) addresses = folder_pid_is_live (pid) ? folder_addresses (run_folder, pid) : NULL;

  return addresses != NULL ? g_strdup (addresses[0]) : NULL;
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
      g_autofree char *address = address_of (run_folder, g_array_index (pids, gint64, i));
      char *reply = address != NULL ? control_ask_at (run_folder, address, request) : NULL;
      if (reply != NULL)
        return reply;
    }
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "no node of the run in '%s' answers",
               run_folder);
  return NULL;
}

/* (transfer full) (nullable) */
static GBytes *
fetch (const char *run_folder, const char *address, const char *name)
{
  gsize length = 0, size;
  g_autofree char *request = g_strconcat (CONTROL_FILE, name, NULL);
  g_autofree char *reply = ask_at (run_folder, address, request, &length);
  const char *line_end = reply != NULL ? memchr (reply, '\n', length) : NULL;
  g_autofree char *header = line_end != NULL ? g_strndup (reply, (gsize)(line_end - reply)) : NULL;
  g_autofree char *said = NULL;

  if (header == NULL || relay_parse (header, &said, &size) != RELAY_FILE
      || length != strlen (header) + 1 + size)
    return NULL;
  return g_bytes_new (line_end + 1, size);
}

/* Of the node at `address`, all but `end`, which comes when what belongs to it is there. */
static GBytes *
bring_from (const char *run_folder, const char *address)
{
  g_autoptr (GBytes) end = fetch (run_folder, address, "end");

  for (int i = 0; end != NULL && strcmp (control_files_of_end[i], "end") != 0; i++)
    {
      g_autoptr (GBytes) bytes = fetch (run_folder, address, control_files_of_end[i]);

      if (bytes != NULL)
        (void)!folder_write_first (run_folder, control_files_of_end[i], bytes, NULL);
    }
  if (end != NULL)
    g_free (control_ask_at (run_folder, address, CONTROL_TAKEN));
  return g_steal_pointer (&end);
}

void
control_bring_end (const char *run_folder)
{
  g_autoptr (GArray) pids = folder_pids (run_folder, "address");
  g_autoptr (GBytes) end = NULL;

  for (guint i = 0; i < pids->len; i++)
    {
      g_autofree char *address = address_of (run_folder, g_array_index (pids, gint64, i));
      g_autoptr (GBytes) its = address != NULL ? bring_from (run_folder, address) : NULL;

      if (end == NULL)
        end = g_steal_pointer (&its);
    }
  if (end != NULL)
    (void)!folder_write_first (run_folder, "end", end, NULL);
}
