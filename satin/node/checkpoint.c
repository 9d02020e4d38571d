/* SPDX-License-Identifier: BSD-3-Clause */
/* See checkpoint.h. The checkpoint has the addresses of its run's nodes. A node that is asked there
 * tells the run's id without a credential. Must not know what a run does with the place. */
#include "checkpoint.h"

#include "host/say.h"

#include "link/wire-find.h"
#include "link/wire.h"

/* The message names at most so many addresses. */
#define NAMED_MAX 3

/* Prints which addresses on other hosts will be asked, since they come from the file. */
static void
tell_far (char **addresses, const char *checkpoint)
{
  g_autoptr (GString) names = g_string_new (NULL);
  guint n = 0;
  for (; *addresses != NULL; addresses++)
    if (!wire_address_is_near (*addresses) && n++ < NAMED_MAX)
      g_string_append_printf (names, "%s%s", n > 1 ? ", " : "", *addresses);
  if (n > 0)
    say_line ("asking at %s%s whether a run uses checkpoint '%s', which names them", names->str,
              n > NAMED_MAX ? " and others" : "", checkpoint);
}

char *
checkpoint_in_use (const Restore *restore, const char *checkpoint)
{
  g_autofree char *name = NULL, *host = NULL;
  if (restore->addresses == NULL || restore->identity.run == NULL)
    return NULL;
  tell_far (restore->addresses, checkpoint);
  if (!wire_find_run (restore->addresses, restore->identity.run, WIRE_FIND_US, &name, &host))
    return NULL;
  if (name == NULL)
    return g_strdup_printf ("checkpoint '%s' may be in use: a process that listens at '%s' says"
                            " nothing; end it, or let it go on",
                            checkpoint, host);
  return g_strdup_printf ("checkpoint '%s' is in use by run '%s' on %s", checkpoint, name, host);
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
