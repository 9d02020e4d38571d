/* SPDX-License-Identifier: BSD-3-Clause */
/* A live run is found by the addresses in its checkpoint: its nodes greet with its id, no
 * credential needed. Must not know what a run does with the place. */
#include "checkpoint.h"

#include "wire.h"

char *
checkpoint_in_use (const Restore *restore, const char *checkpoint)
{
  for (char **address = restore->addresses; address != NULL && *address != NULL; address++)
    {
      g_autofree char *name = NULL, *host = NULL;
      g_autofree char *id = wire_ask_run (*address, &name, &host);
      if (id != NULL && g_strcmp0 (id, restore->identity.run) == 0)
        return g_strdup_printf ("checkpoint '%s' is in use by run '%s' on %s", checkpoint, name,
                                host);
    }
  return NULL;
}

gboolean
checkpoint_set_aside (const char *checkpoint, char **moved, GError **error)
{
  g_autoptr (GError) reason = NULL;
  Restore restore;
  *moved = NULL;
  if (restore_look (checkpoint, &restore, &reason))
    {
      gboolean exists = restore.exists;
      g_autofree char *user = exists ? checkpoint_in_use (&restore, checkpoint) : NULL;
      restore_clear (&restore);
      if (!exists)
        return TRUE;
      if (user != NULL)
        {
          g_set_error_literal (error, COORDINATOR_ERROR, COORDINATOR_ERROR_IN_USE, user);
          return FALSE;
        }
    }
  else if (reason->code != COORDINATOR_ERROR_UNUSABLE || !restore_is_ours (checkpoint))
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
  *moved = restore_set_aside (checkpoint, error);
  return *moved != NULL;
}
