/* SPDX-License-Identifier: BSD-3-Clause */
/* See recorded.h. Tests: mark.sh, total.sh, replay.sh. */
#include "recorded.h"

#include "arguments.h"
#include "command.h"

#include "coordinator/mark.h"
#include "coordinator/proof.h"

#include "node/options.h"

#include <string.h>

int
recorded_look (const char *target, const char *copy, Restore *restore)
{
  g_autoptr (GError) error = NULL;

  if (!restore_look_for (target, copy, NULL, restore, &error))
    {
      command_say ("%s", error->message);
      return error->domain == COORDINATOR_ERROR ? error->code : COMMAND_ERROR;
    }
  if (restore->exists)
    return COMMAND_DONE;
  command_say ("there is no checkpoint at '%s'", target);
  return COMMAND_STORE;
}

int
recorded_proof (const Restore *restore, const char *target)
{
  g_autoptr (GError) error = NULL;

  if (restore->identity.argv == NULL || proof_allows (restore->origin, target, &error))
    return COMMAND_DONE;
  command_say ("%s", error->message);
  return COMMAND_UNUSABLE;
}

char *
recorded_folder (const Identity *identity, gboolean is_marked)
{
  char *here = g_get_current_dir ();

  if (identity->folder == NULL || !is_marked)
    return here;
  if (g_file_test (identity->folder, G_FILE_TEST_IS_DIR))
    {
      g_free (here);
      return g_strdup (identity->folder);
    }
  command_say ("the run was started in '%s', which is not here: it goes on in '%s'",
               identity->folder, here);
  return here;
}

/* The command line of this process up to `--`, then `--` and the program. (transfer full) */
static char *
line_to_type (char *const *typed, const char *program, char *const *words, gboolean needs_trust)
{
  g_autoptr (GString) line = g_string_new ("satin");

  if (needs_trust)
    g_string_append_printf (line, " %s --trust", *typed++);
  for (guint i = 0; typed[i] != NULL && strcmp (typed[i], "--") != 0; i++)
    {
      g_autofree char *quoted = command_quote (typed[i]);
      g_string_append_printf (line, " %s", quoted);
    }
  g_autofree char *start = command_quote (program != NULL ? program : "PROGRAM");
  g_string_append_printf (line, " -- %s%s", program != NULL ? start : "PROGRAM",
                          words == NULL ? " [ARG…]" : "");
  command_append_words (line, words);
  return g_string_free (g_steal_pointer (&line), FALSE);
}

/* `words`, with a `--` before them if some look like options of Satin: then the program gets all of
 * them. (transfer full) */
static char **
guard_words (char *const *words)
{
  g_auto (GStrv) own = options_own_words (words);
  g_autoptr (GPtrArray) guarded = g_ptr_array_new ();

  if (own == NULL || !g_strv_equal ((const char *const *)own, (const char *const *)words))
    g_ptr_array_add (guarded, g_strdup ("--"));
  for (guint i = 0; words[i] != NULL; i++)
    g_ptr_array_add (guarded, g_strdup (words[i]));
  g_ptr_array_add (guarded, NULL);
  return (char **)g_ptr_array_free (g_steal_pointer (&guarded), FALSE);
}

int
recorded_command (FolderRun *run, char *const *said, const Restore *restore, const char *target,
                  char *const *typed, gboolean *is_marked)
{
  const Identity *found = &restore->identity;
  gboolean needs_trust = found->argv != NULL && !proof_allows (restore->origin, target, NULL);
  g_autofree char *reason = NULL, *line = NULL;
  g_auto (GStrv) recorded = found->argv != NULL ? guard_words (found->argv) : NULL;
  const char *program = said != NULL ? said[0] : found->program;

  *is_marked = mark_is_right (found, &reason);
  if (said != NULL && said[1] != NULL)
    run->argv = g_strdupv ((char **)said + 1);
  else if (recorded != NULL && (*is_marked || (said != NULL && recorded[0] == NULL)))
    run->argv = g_steal_pointer (&recorded);
  if (run->argv != NULL && program != NULL)
    {
      run->program = arguments_program (program);
      return run->program != NULL ? COMMAND_DONE : COMMAND_ERROR;
    }
  line = line_to_type (typed, program, recorded, needs_trust);
  if (program == NULL || recorded == NULL)
    command_say (
        "checkpoint '%s' has lost the name of its program, or its arguments; give them: %s", target,
        line);
  else
    {
      g_autofree char *folder = command_quote (found->folder != NULL ? found->folder : "?");
      command_say ("checkpoint '%s' names a program that is not started, since %s; it was started "
                   "in the folder %s; to start it here%s, say: %s",
                   target, reason, folder, needs_trust ? " and believe its results" : "", line);
    }
  return COMMAND_UNUSABLE;
}
