/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin trust`: makes the results of a checkpoint that another user wrote this user's. `satin
 * resume FILE` alone still does not start the program that it names. One thread.
 * Tests: test-trust, signed.sh. */
#include "arguments.h"
#include "command-inspect.h"
#include "command.h"

#include "coordinator/mark.h"
#include "coordinator/merge.h"
#include "coordinator/restore.h"

#include "host/temporary.h"

#include "node/checkpoint.h"

#include "storage/places/place.h"

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Restore, restore_clear)

/* Downloads the file at a URI, trusts it, and replaces the file at the URI unless that has changed
 * meanwhile. */
static gboolean
trust_far (const char *target, const char *folder, MergeTotals *totals, GError **error)
{
  g_autofree char *made = g_build_filename (folder, "trusted", NULL);
  g_autoptr (Place) place = place_open (target, error);
  PlaceState there = { 0 };
  gboolean good = place != NULL && place_look (place, "", &there, error)
                  && restore_copy (target, made, error) && merge_trust (made, totals, error)
                  && place_put (place, "", made, &there, NULL, error)
                  && (!there.has_delta || place_remove (place, PLACE_DELTA, NULL, error));

  place_state_clear (&there);
  return good;
}

static gboolean
trust_it (const char *target, MergeTotals *totals, GError **error)
{
  char *folder;
  gboolean good;

  if (!place_is_remote (target))
    return merge_trust (target, totals, error);
  folder = temporary_make (error);
  if (folder == NULL)
    return FALSE;
  good = trust_far (target, folder, totals, error);
  temporary_remove (folder);
  return good;
}

static void
tell (const char *target, const Identity *identity, const MergeTotals *totals)
{
  g_autoptr (GString) line = g_string_new (NULL);

  command_append_words (line, identity->argv);
  if (totals->damage[0] != NULL)
    command_say ("'%s' is damaged: %s; the lost rows are left out", target, totals->damage[0]);
  g_print ("'%s': %" G_GUINT64_FORMAT " results of %s%s, %.2f %% done, count as yours from now on; "
           "`satin resume` alone still does not start the program that it names\n",
           target, totals->united, identity->app != NULL ? identity->app : "?", line->str,
           totals->done * 100);
}

static int
trust (const char *target)
{
  g_auto (Restore) restore = { 0 };
  g_auto (MergeTotals) totals = { 0 };
  g_autoptr (GError) error = NULL;

  if (!restore_look_for (target, NULL, NULL, &restore, &error))
    return command_inspect_failed (target, error);
  if (!restore.exists)
    {
      command_say ("there is no checkpoint at '%s'", target);
      return COMMAND_STORE;
    }
  if (restore.origin == SQL_ORIGIN_OWN)
    {
      g_print ("'%s' bears your proof already\n", target);
      return COMMAND_DONE;
    }
  g_autofree char *user = checkpoint_in_use (&restore, target);
  if (user != NULL)
    {
      command_say ("%s", user);
      return COMMAND_IN_USE;
    }
  if (!mark_has_key ())
    {
      command_say ("you have no key to prove results with: satin/key in your configuration folder "
                   "cannot be made or read");
      return COMMAND_ERROR;
    }
  if (!trust_it (target, &totals, &error))
    return command_inspect_failed (target, error);
  tell (target, &restore.identity, &totals);
  return COMMAND_DONE;
}

int
command_trust (int argc, char **argv)
{
  static const ArgumentsVerb verb
      = { "trust", "URI",
          "Takes the results of the checkpoint at URI, which somebody else wrote, for right:\n"
          "it is written anew, with your proof of each row. Look at it before, with `satin\n"
          "inspect`. Nothing is started.",
          ARGUMENTS_WORDS };
  g_auto (Arguments) said = { 0 };
  g_autofree char *target = NULL;

  if (!arguments_read_one (&said, &verb, argc, argv))
    return COMMAND_USAGE;
  if (said.words[0] == NULL)
    return command_usage ("trust ", "one checkpoint is needed: `satin trust URI`");
  target = arguments_target (said.words[0], said.own.insecure);
  if (target == NULL)
    return COMMAND_STORE;
  mark_prove_files (TRUE);
  temporary_watch_signals ();
  return trust (target);
}
