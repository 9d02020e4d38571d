/* SPDX-License-Identifier: BSD-3-Clause */
/* See launch-folder.h. Tests: launcher.sh. */
#include "launch-folder.h"

#include "key.h"
#include "spread.h"

#include "command-words.h"

#include "storage/places/place.h"

#define LOOK_US (10 * 1000)
/* A member may learn of the end only from the folder (node/driver.c). */
#define OTHERS_LIMIT_US (10 * G_USEC_PER_SEC)

static gboolean
make_key (const char *path, GError **error)
{
  g_autoptr (GBytes) key = key_make (error);

  return key != NULL && folder_write (path, FOLDER_KEY_FILE, key, error);
}

char *
launch_folder_make (FolderRun *run, const LaunchWish *wish)
{
  g_autoptr (GError) error = NULL;
  char *path = folder_create (run, &error);

  if (path == NULL && wish->any_name && g_error_matches (error, FOLDER_ERROR, FOLDER_ERROR_TAKEN))
    {
      g_clear_error (&error);
      g_clear_pointer (&run->name, g_free);
      path = folder_create (run, &error);
    }
  if (path != NULL && (!make_key (path, &error) || !spread_keep (wish->sites_text, path, &error)))
    {
      folder_remove (path, NULL);
      g_clear_pointer (&path, g_free);
    }
  if (path == NULL)
    command_say ("%s", error->message);
  else if (wish->copy != NULL)
    {
      g_autofree char *to = g_build_filename (path, FOLDER_COPY, NULL);

      place_move_copy (wish->copy, to);
    }
  return path;
}

void
launch_folder_refresh (FolderRun *run, const char *path)
{
  g_auto (FolderRun) now = { 0 };

  if (run->checkpoint == NULL && folder_read (path, &now, NULL))
    run->checkpoint = g_steal_pointer (&now.checkpoint);
}

gboolean
launch_folder_lives (const char *path, const char *suffix)
{
  g_autoptr (GArray) pids = folder_pids (path, suffix);

  for (guint i = 0; i < pids->len; i++)
    if (folder_pid_is_live (path, g_array_index (pids, gint64, i)))
      return TRUE;
  return FALSE;
}

void
launch_folder_wait (const char *path)
{
  gint64 until_us = g_get_monotonic_time () + OTHERS_LIMIT_US;

  while (launch_folder_lives (path, FOLDER_NODE_ADDRESS) && g_get_monotonic_time () < until_us)
    g_usleep (LOOK_US);
}
