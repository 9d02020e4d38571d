/* SPDX-License-Identifier: BSD-3-Clause */
/* See ask.h. Tests: control.sh, ended.sh. */
#include "ask.h"
#include "command.h"

#include "folder/control.h"
#include "folder/folder-ended.h"

#include "storage/places/place.h"

#include "text/json.h"

#include <string.h>
#include <unistd.h>

#define LOOK_US (10 * 1000)
/* How long a node is asked: a run that has just started may not listen yet. */
#define ASK_LIMIT_US (5 * G_USEC_PER_SEC)
#define ASK_AGAIN_US (200 * 1000)
/* Longer than the launcher waits for nodes that do not exit: either of the two must remove the
 * folder. */
#define LEAVE_LIMIT_US (10 * G_USEC_PER_SEC)
/* How much later than the end an answer from another host may come. */
#define ANSWER_LIMIT_US (3 * G_USEC_PER_SEC)
/* The pause between two questions to another host. */
#define REMOTE_PAUSE_US (300 * 1000)
/* How long after the last process is gone its `end` may still appear. */
#define GONE_US (500 * 1000)

void
ask_run_clear (AskRun *ask)
{
  folder_run_clear (&ask->run);
  g_clear_pointer (&ask->path, g_free);
}

/* The folder of a run whose checkpoint is at `target`; of a live run if there is one. (transfer
 * full) (nullable) */
static char *
find_by_checkpoint (const char *target)
{
  g_autoptr (GPtrArray) names = folder_list ();
  g_autofree char *dead = NULL;

  for (guint i = 0; i < names->len; i++)
    {
      g_auto (FolderRun) run = { 0 };
      g_autofree char *path = folder_find (names->pdata[i], NULL);

      if (path == NULL || !folder_read (path, &run, NULL)
          || g_strcmp0 (run.checkpoint, target) != 0)
        continue;
      if (folder_is_live (path))
        return g_steal_pointer (&path);
      if (dead == NULL)
        dead = g_steal_pointer (&path);
    }
  return g_steal_pointer (&dead);
}

char *
ask_folder (const char *word, GError **error)
{
  g_autoptr (GError) reason = NULL;
  g_autofree char *target = NULL;
  char *path = folder_find (word, &reason);

  if (path != NULL)
    return path;
  target = place_text (word, NULL);
  path = target == NULL ? NULL : find_by_checkpoint (target);
  if (path == NULL && target != NULL && g_error_matches (reason, FOLDER_ERROR, FOLDER_ERROR_NAME)
      && (place_is_remote (target) || g_file_test (target, G_FILE_TEST_EXISTS)))
    g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_ABSENT,
                 "no run works on '%s' (`satin inspect` shows what is in it)", target);
  else if (path == NULL)
    g_propagate_error (error, g_steal_pointer (&reason));
  return path;
}

char *
ask_ended (const char *word)
{
  char *found = folder_ended_find (word);
  g_autofree char *target = found == NULL ? place_text (word, NULL) : NULL;
  g_autoptr (GPtrArray) names = target != NULL ? folder_ended_list () : NULL;

  for (guint i = 0; names != NULL && i < names->len; i++)
    {
      g_auto (FolderRun) run = { 0 };
      g_autofree char *path = folder_ended_find (names->pdata[i]);

      if (path == NULL || !folder_read (path, &run, NULL) || g_strcmp0 (run.checkpoint, target) != 0
          || (found != NULL && folder_ended_us (found) > folder_ended_us (path)))
        continue;
      g_free (found);
      found = g_steal_pointer (&path);
    }
  return found;
}

gboolean
ask_look (const char *name, AskRun *ask, GError **error)
{
  ask->path = ask_folder (name, error);
  return ask->path != NULL && folder_read (ask->path, &ask->run, error);
}

gboolean
ask_find (const char *name, AskRun *ask)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *ended = NULL;
  int code;

  if (ask_look (name, ask, &error))
    return TRUE;
  ended = ask_ended (name);
  if (ended != NULL && folder_has_ended (ended, &code, NULL))
    command_say ("run '%s' has ended before (exit code %d)", name, code);
  else
    command_say ("%s", error->message);
  return FALSE;
}

gboolean
ask_is_live (const AskRun *ask)
{
  int code;

  if (folder_has_ended (ask->path, &code, NULL))
    command_say ("run '%s' has ended before (exit code %d)", ask->run.name, code);
  else if (!folder_is_live (ask->path))
    command_say ("run '%s' is not running: its processes are gone", ask->run.name);
  else
    return TRUE;
  return FALSE;
}

static void
say_why (const AskRun *ask, const char *what, const GError *error)
{
  g_autofree char *host = folder_other_host (ask->path);

  if (!ask_is_live (ask))
    return;
  if (host != NULL)
    command_say ("%s '%s': it runs on host '%s': ask there", what, ask->run.name, host);
  else
    command_say ("%s '%s': %s", what, ask->run.name, error->message);
}

gboolean
ask_launcher (const AskRun *ask)
{
  gint64 until_us = g_get_monotonic_time () + ASK_LIMIT_US;
  int code;

  /* The number of a dead launcher may belong to another process now, so only folder_is_live
   * counts. */
  while (folder_is_live (ask->path) && g_get_monotonic_time () < until_us)
    {
      g_autoptr (GArray) listening = folder_pids (ask->path, FOLDER_NODE_ADDRESS);

      if (listening->len > 0)
        return FALSE;
      if (folder_has_ended (ask->path, &code, NULL))
        return TRUE;
      (void)folder_claim (ask->path, FOLDER_SUSPEND);
      g_usleep (LOOK_US);
    }
  return folder_has_ended (ask->path, &code, NULL);
}

char *
ask_node (const AskRun *ask, const char *request, const char *what)
{
  gint64 until_us = g_get_monotonic_time () + ASK_LIMIT_US;

  for (;;)
    {
      g_autoptr (GError) error = NULL;
      char *reply = control_ask (ask->path, request, &error);

      if (reply != NULL)
        return reply;
      if (!folder_is_live (ask->path) || g_get_monotonic_time () > until_us)
        {
          say_why (ask, what, error);
          return NULL;
        }
      g_usleep (ASK_AGAIN_US);
    }
}

/* If the launcher is gone, nodes of other hosts cannot send the end here. Asks one of them, now and
 * then, and fetches the end if it knows it. FALSE: it cannot be written here. */
static gboolean
poll_remote_end (const AskRun *ask, gint64 *asked_us, GError **error)
{
  gint64 now_us = g_get_monotonic_time ();
  g_autofree char *reply = NULL;
  gboolean kept = TRUE;

  if (now_us - *asked_us < REMOTE_PAUSE_US)
    return TRUE;
  *asked_us = now_us;
  folder_sign (ask->path);
  if (folder_pid_is_live (ask->path, ask->run.launcher_pid))
    return TRUE;
  reply = control_ask (ask->path, CONTROL_FILE FOLDER_FILE_END, NULL);
  if (reply != NULL && g_str_has_prefix (reply, CONTROL_FILE))
    kept = control_bring_end (ask->path, error);
  *asked_us = g_get_monotonic_time ();
  return kept;
}

/* TRUE: the end is here without its answer, and that may still come. */
static gboolean
answer_may_come (const AskRun *ask, int code, gint64 *end_us)
{
  if (*end_us == 0)
    *end_us = g_get_monotonic_time ();
  return folder_lacks_answer (ask->path, code) && folder_is_live (ask->path)
         && g_get_monotonic_time () - *end_us < ANSWER_LIMIT_US;
}

int
ask_wait (const AskRun *ask, gint64 limit_us, char **sentence)
{
  gint64 until_us = g_get_monotonic_time () + limit_us, gone_us = 0, asked_us = 0, end_us = 0;
  g_autoptr (GError) error = NULL;

  while (limit_us == 0 || g_get_monotonic_time () < until_us)
    {
      int code;

      if (sentence != NULL)
        g_clear_pointer (sentence, g_free);
      if (folder_has_ended (ask->path, &code, sentence) && !answer_may_come (ask, code, &end_us))
        return code;
      if (!g_file_test (ask->path, G_FILE_TEST_IS_DIR))
        return -3;
      if (folder_is_live (ask->path))
        gone_us = 0;
      else if (gone_us == 0)
        gone_us = g_get_monotonic_time ();
      else if (g_get_monotonic_time () - gone_us > GONE_US)
        return -2;
      if (!poll_remote_end (ask, &asked_us, &error))
        {
          if (sentence != NULL)
            *sentence = g_strdup (error->message);
          return -4;
        }
      g_usleep (LOOK_US);
    }
  return -1;
}

gboolean
ask_stay (const AskRun *ask)
{
  g_autoptr (GError) error = NULL;

  if (folder_stay (ask->path, &error))
    return TRUE;
  command_say ("%s", error->message);
  return FALSE;
}

/* If the launcher is gone, nobody else removes the folder. The nodes need a moment to exit. */
void
ask_leave (const AskRun *ask)
{
  gint64 until_us = g_get_monotonic_time () + LEAVE_LIMIT_US, asked_us = 0;
  int code;

  folder_stay_no_more (ask->path);
  if (!folder_has_ended (ask->path, &code, NULL) || code == COMMAND_JOB
      || folder_lacks_answer (ask->path, code))
    return;
  while (folder_is_live (ask->path) && g_get_monotonic_time () < until_us)
    {
      /* A node that came to the end later exits when it was asked for it. */
      if (!poll_remote_end (ask, &asked_us, NULL))
        return;
      g_usleep (LOOK_US);
    }
  if (!folder_is_live (ask->path))
    (void)folder_leave (ask->path, NULL);
}

char *
ask_request (const char *word, double within_s)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (within_s < 0)
    return g_strdup (word);
  return g_strdup_printf ("%s %s", word, g_ascii_formatd (number, sizeof number, "%.6f", within_s));
}
