/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin replay --verify SHARE`: see command-replay.h. Works on a copy of the checkpoint, so no row
 * is replaced meanwhile. Tests: replay.sh. */
#include "command-replay.h"
#include "command.h"

#include "coordinator/restore.h"

#include "host/temporary.h"

#include <string.h>
#include <sys/wait.h>

typedef struct
{
  const Arguments *wish;
  const FolderRun *run;
  char **line;
  char *target; /* the copy */
  Stems *stems;
  guint same, other;
} Verification;

static int
verify_one (Verification *all, const char *path)
{
  g_autofree char *out = NULL, *err = NULL;
  g_auto (GStrv) words = command_replay_environment (all->wish, all->target, path);
  g_autoptr (GError) error = NULL;
  int status;

  if (!g_spawn_sync (all->run->folder, all->line, words, G_SPAWN_DEFAULT, NULL, NULL, &out, &err,
                     &status, &error))
    {
      command_say ("%s", error->message);
      return COMMAND_ERROR;
    }
  if (status != 0)
    {
      g_printerr ("%s", err);
      g_print ("%s", out);
      return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
    }
  if (strstr (out, "\nverdict   the same ") != NULL)
    all->same++;
  else
    all->other++;
  return COMMAND_DONE;
}

static int
verify_rows (Verification *all, const GPtrArray *rows)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const RestoreRow *row = rows->pdata[i];
      g_autofree char *path = path_is_drawn (row->path, all->wish->verify)
                                  ? command_replay_numbers (all->stems, row->path)
                                  : NULL;
      int code = path != NULL ? verify_one (all, path) : COMMAND_DONE;

      if (code != COMMAND_DONE)
        return code;
    }
  g_print ("%u of %u saved results were computed again and are the same\n", all->same, rows->len);
  if (all->other > 0)
    g_print ("%u more prove nothing of themselves and count as missing: see `satin inspect "
             "--verify`\n",
             all->other);
  return COMMAND_DONE;
}

/* Makes the copy and reads its rows. (transfer full) NULL: error. */
static GPtrArray *
read_rows (Verification *all, const char *target, GError **error)
{
  const RestoreQuery query = { 0 };

  if (!restore_copy (target, all->target, error))
    return NULL;
  g_autoptr (Sql) file = restore_open (all->target, error);
  return file != NULL && command_replay_stems (file, all->stems, error)
             ? restore_rows (file, &query, error)
             : NULL;
}

int
command_replay_verify (const Arguments *wish, const FolderRun *run, char **line, const char *target)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (GPtrArray) rows = NULL;
  g_autoptr (GError) error = NULL;
  Verification all = { .wish = wish, .run = run, .line = line, .stems = stems };
  int code = COMMAND_ERROR;
  char *folder = temporary_make (&error);

  if (folder != NULL)
    {
      all.target = g_build_filename (folder, "checkpoint", NULL);
      rows = read_rows (&all, target, &error);
    }
  if (rows != NULL)
    code = verify_rows (&all, rows);
  else
    {
      command_say ("%s", error->message);
      code = error->domain == COORDINATOR_ERROR ? error->code : COMMAND_ERROR;
    }
  g_free (all.target);
  temporary_remove (folder);
  return code;
}
