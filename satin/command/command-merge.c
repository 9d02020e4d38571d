/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin merge`: unites two checkpoints of one run. One thread.
 * Tests: test-trust, inspect.sh. */
#include "arguments.h"
#include "command.h"

#include "coordinator/identity.h"
#include "coordinator/mark.h"
#include "coordinator/merge.h"
#include "coordinator/restore.h"

#include "host/temporary.h"

#include "storage/places/place.h"

static void
say_damage (const char *file, const char *damage)
{
  if (damage != NULL)
    command_say ("'%s' is damaged: %s; the lost rows are left out", file, damage);
}

/* Merges into `out`; for a URI, into a file that is then uploaded. */
static gboolean
merge_to (const char *out, const char *const files[2], MergeTotals *totals, GError **error)
{
  g_autofree char *made = NULL;
  char *folder;
  gboolean good;

  if (!place_is_remote (out))
    return merge_files (out, files, totals, error);
  folder = temporary_make (error);
  if (folder == NULL)
    return FALSE;
  made = g_build_filename (folder, "merged", NULL);
  good = merge_files (made, files, totals, error) && restore_copy (made, out, error);
  temporary_remove (folder);
  return good;
}

int
command_merge (int argc, char **argv)
{
  static const ArgumentsVerb verb
      = { "merge", "OUT A B",
          "Writes to OUT, a new file, all that the checkpoints A and B hold. They must be of\n"
          "one run; that happens when a run fell into two parts that both went on.",
          ARGUMENTS_WORDS };
  g_auto (Arguments) said = { 0 };
  g_autoptr (GError) error = NULL;
  g_autofree char *out = NULL, *a = NULL, *b = NULL;
  g_auto (MergeTotals) totals = { 0 };

  if (!arguments_read (&said, &verb, argc, argv))
    return COMMAND_USAGE;
  if (g_strv_length (said.words) != 3)
    return command_usage ("merge ", "three files are needed: `satin merge OUT A B`");
  out = arguments_target (said.words[0], said.own.insecure);
  a = out == NULL ? NULL : arguments_target (said.words[1], said.own.insecure);
  b = a == NULL ? NULL : arguments_target (said.words[2], said.own.insecure);
  if (b == NULL)
    return COMMAND_STORE;
  const char *const files[] = { a, b };
  mark_prove_files (said.own.trust);
  temporary_watch_signals ();
  if (!merge_to (out, files, &totals, &error))
    {
      command_say ("%s", error->message);
      return error->domain == COORDINATOR_ERROR ? error->code : COMMAND_ERROR;
    }
  for (guint i = 0; i < G_N_ELEMENTS (totals.warning); i++)
    if (totals.warning[i] != NULL)
      command_say ("%s", totals.warning[i]);
  say_damage (a, totals.damage[0]);
  say_damage (b, totals.damage[1]);
  g_print ("%" G_GUINT64_FORMAT " results of %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
           ", %.2f %% done\n",
           totals.united, totals.rows[0], totals.rows[1], totals.done * 100);
  return COMMAND_DONE;
}
