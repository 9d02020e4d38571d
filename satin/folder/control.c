/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests: control.sh. */
#include "control.h"

#include "folder-file.h"
#include "folder.h"
#include "relay.h"

#include "link/wire.h"

#include <gio/gio.h>
#include <string.h>

const char *const control_files_of_end[]
    = { FOLDER_FILE_ERROR,  FOLDER_FILE_ANSWER_ERR, FOLDER_FILE_ANSWER_CODE,
        FOLDER_FILE_ANSWER, FOLDER_FILE_END,        NULL };

/* (transfer full) (nullable) */
static WireAsker *
connect_to (const char *run_folder, const char *address)
{
  g_autofree char *credential = folder_credential (run_folder, NULL);
  g_autofree char *key = folder_key (run_folder);
  const WireRun run = { .credential = credential, .key = key };

  return credential != NULL ? wire_asker_new (address, &run, NULL) : NULL;
}

char *
control_ask_at (const char *run_folder, const char *address, const char *request)
{
  g_autoptr (WireAsker) asker = connect_to (run_folder, address);

  return asker != NULL ? wire_asker_ask (asker, request, NULL, NULL) : NULL;
}

/* (transfer full) (nullable): the address of node `pid`, if its process lives. */
static char *
address_of (const char *run_folder, gint64 pid)
{
  g_auto (GStrv) addresses
      = folder_pid_is_live (run_folder, pid) ? folder_addresses (run_folder, pid) : NULL;

  return addresses != NULL ? g_strdup (addresses[0]) : NULL;
}

char *
control_ask (const char *run_folder, const char *request, GError **error)
{
  g_autofree char *credential = folder_credential (run_folder, error);
  if (credential == NULL)
    return NULL;
  g_autoptr (GArray) pids = folder_pids (run_folder, FOLDER_NODE_ADDRESS);
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

typedef enum
{
  BROUGHT, /* the file is on the disk here */
  ABSENT,  /* the node does not have the file */
  FAILED
} Brought;

/* A piece of `name` from `offset` on: its bytes in *piece (transfer full), the size of the whole
 * file in *size. FALSE without `error`: the node has no such file. FALSE with `error`: the node is
 * gone. */
static gboolean
fetch_piece (WireAsker *asker, const char *name, gsize offset, GBytes **piece, gsize *size,
             GError **error)
{
  g_autofree char *request = g_strdup_printf (CONTROL_FILE "%s %" G_GSIZE_FORMAT, name, offset);
  gsize length = 0;
  char *reply = wire_asker_ask (asker, request, &length, error);
  g_autoptr (GBytes) all = reply != NULL ? g_bytes_new_take (reply, length) : NULL;
  const char *line_end = reply != NULL ? memchr (reply, '\n', length) : NULL;
  g_autofree char *header = line_end != NULL ? g_strndup (reply, (gsize)(line_end - reply)) : NULL;
  g_autofree char *said = NULL;

  if (header == NULL || relay_parse (header, &said, size) != RELAY_FILE)
    return FALSE;
  gsize head = (gsize)(line_end - reply) + 1;
  *piece = g_bytes_new_from_bytes (all, head, length - head);
  return TRUE;
}

/* Fetches the rest of a file after its first piece. */
static gboolean
write_rest (WireAsker *asker, const char *name, FolderFile *file, GBytes *first, gsize size,
            GError **error)
{
  g_autoptr (GBytes) piece = g_bytes_ref (first);

  for (gsize offset = 0;;)
    {
      gsize length;
      const void *data = g_bytes_get_data (piece, &length);

      if (!folder_file_add (file, data, length, error))
        return FALSE;
      offset += length;
      if (offset >= size)
        return TRUE;
      g_clear_pointer (&piece, g_bytes_unref);
      if (length == 0 || !fetch_piece (asker, name, offset, &piece, &size, error))
        {
          if (error != NULL && *error == NULL)
            g_set_error (error, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT,
                         "the node does not have all of '%s' any more", name);
          return FALSE;
        }
    }
}

static Brought
bring_file (WireAsker *asker, const char *run_folder, const char *name, GError **error)
{
  g_autoptr (GError) gone = NULL;
  g_autoptr (GBytes) first = NULL;
  g_autoptr (FolderFile) file = NULL;
  gsize size;

  if (!fetch_piece (asker, name, 0, &first, &size, &gone))
    {
      if (gone == NULL)
        return ABSENT;
      g_propagate_error (error, g_steal_pointer (&gone));
      return FAILED;
    }
  if (folder_size (run_folder, name) >= 0)
    return BROUGHT; /* an earlier file stays */
  file = folder_file_begin (run_folder, name, error);
  return file != NULL && write_rest (asker, name, file, first, size, error)
                 && folder_file_end (g_steal_pointer (&file), FOLDER_FILE_FIRST_SAFE, error)
             ? BROUGHT
             : FAILED;
}

/* Fetches all files of the end except `end`. FALSE: a file could not be fetched. */
static gboolean
bring_from (WireAsker *asker, const char *run_folder, GError **error)
{
  for (int i = 0; strcmp (control_files_of_end[i], FOLDER_FILE_END) != 0; i++)
    if (bring_file (asker, run_folder, control_files_of_end[i], error) == FAILED)
      return FALSE;
  return TRUE;
}

gboolean
control_bring_end (const char *run_folder, GError **error)
{
  g_autoptr (GArray) pids = folder_pids (run_folder, FOLDER_NODE_ADDRESS);
  g_autoptr (GPtrArray) ended = g_ptr_array_new_with_free_func ((GDestroyNotify)wire_asker_free);
  g_autoptr (GBytes) end = NULL;
  g_autoptr (GError) why = NULL;

  for (guint i = 0; i < pids->len; i++)
    {
      g_autofree char *address = address_of (run_folder, g_array_index (pids, gint64, i));
      g_autoptr (WireAsker) asker = address != NULL ? connect_to (run_folder, address) : NULL;
      g_autoptr (GBytes) its = NULL;
      gsize size;

      if (asker == NULL || !fetch_piece (asker, FOLDER_FILE_END, 0, &its, &size, NULL))
        continue;
      if (!bring_from (asker, run_folder, &why))
        {
          if (why->domain != FOLDER_ERROR)
            return TRUE; /* the node is gone or slow: the verb that waits will try again */
          g_propagate_error (error, g_steal_pointer (&why));
          return FALSE;
        }
      if (end == NULL)
        end = g_steal_pointer (&its);
      g_ptr_array_add (ended, g_steal_pointer (&asker));
    }
  if (end == NULL || !folder_write_first (run_folder, FOLDER_FILE_END, end, error))
    return end == NULL;
  for (guint i = 0; i < ended->len; i++)
    g_free (wire_asker_ask (ended->pdata[i], CONTROL_TAKEN, NULL, NULL));
  return TRUE;
}
