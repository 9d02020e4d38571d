/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of this process's part in the run: what it writes into the run's folder then, and how
 * long it stays for clients that ask. The driving thread.
 * Tests: test-driver-effects, ends.sh, leave.sh. */
#include "driver-private.h"

#include "folder/folder.h"
#include "folder/relay.h"

#include <glib/gstdio.h>
#include <unistd.h>

/* How long the process stays for clients that ask for the end; longer if only it has the answer. */
#define SERVE_END_US (3 * G_USEC_PER_SEC)
#define SERVE_ANSWER_US (60 * G_USEC_PER_SEC)
#define EXIT_TIMER_MS 2000 /* time for main to return after the run has ended elsewhere */
/* The same, if satin_root told main to return, or will: main may print how far it came. */
#define PARTING_US (30 * G_USEC_PER_SEC)

static gint64
patience (Driver *driver)
{
  g_autofree char *answer = g_build_filename (driver->config.folder, FOLDER_FILE_ANSWER, NULL);
  gboolean is_only_here
      = driver->config.checkpoint == NULL && g_file_test (answer, G_FILE_TEST_EXISTS);
  return is_only_here ? SERVE_ANSWER_US : SERVE_END_US;
}

gboolean
driver_serves_final_result (Driver *driver)
{
  gint64 now_us = g_get_monotonic_time ();
  RelayState state = relay_state ();
  if (driver->part == PART_LEFT || driver->end_is_taken || state == RELAY_SENT)
    return FALSE;
  if (state == RELAY_SENDING)
    return TRUE; /* the launcher may die before it has all files */
  if (driver->asked_us == 0)
    driver->asked_us = now_us;
  return now_us - driver->asked_us < patience (driver);
}

/* TRUE: satin_root has told main to return, and main still has time. The process ends as soon as
 * main returns. */
static gboolean
main_is_parting (Driver *driver)
{
  g_mutex_lock (&driver->mutex);
  gboolean is_told = driver->in_root && driver->part != PART_FINISHED;
  g_mutex_unlock (&driver->mutex);
  return is_told && driver->part != PART_LEFT
         && g_get_monotonic_time () < driver->ended_us + PARTING_US;
}

static gboolean
on_exit_timer (gpointer data)
{
  Driver *driver = data;
  if (driver_serves_final_result (driver) || main_is_parting (driver))
    return G_SOURCE_CONTINUE;
  if (driver->part == PART_LEFT)
    keeper_close (driver);
  report_stats (driver, TRUE);
  report_timeline (driver, TRUE);
  mesh_close (driver);
  relay_end ();
  _exit (driver->end_code);
}

/* Ends the process after a while, since main may never return. */
static void
start_exit_timer (Driver *driver)
{
  driver->ended_us = g_get_monotonic_time ();
  driver_every (driver, EXIT_TIMER_MS, on_exit_timer);
}

/* Renames the answer of a master that died before it wrote the end. Nobody has seen that answer,
 * and a run that is stopped has none. An answer stays if `end` is there, or if the run is suspended
 * and it is known what main returned (folder_has_ended). The answer is renamed before the end is
 * written, since a reader of the end shows the answer. TRUE: it was renamed. */
static gboolean
set_answer_aside (const char *folder, int code, const char *answer, const char *aside)
{
  int stands;

  return !folder_has_ended (folder, &stands, NULL)
         && !(code == NODE_END_SUSPENDED && folder_size (folder, FOLDER_FILE_ANSWER_CODE) >= 0)
         && g_rename (answer, aside) == 0;
}

/* Writes the end of a run without answer. After a split, the other half may have ended first, with
 * an answer: then that answer stays. */
static gboolean
end_without_answer (const char *folder, int code, const char *sentence, GError **error)
{
  g_autofree char *answer = g_build_filename (folder, FOLDER_FILE_ANSWER, NULL);
  g_autofree char *aside = g_strdup_printf ("%s.aside-%d", answer, (int)getpid ());
  gboolean is_aside = set_answer_aside (folder, code, answer, aside);
  gboolean well = folder_end (folder, code, sentence, error);
  int stands;

  if (folder_has_ended (folder, &stands, NULL) && stands == code)
    (void)g_unlink (is_aside ? aside : answer);
  else if (is_aside)
    (void)g_rename (aside, answer);
  return well;
}

void
driver_end (Driver *driver, int code, gboolean finished, const char *sentence)
{
  g_autoptr (GError) error = NULL;
  if (driver_has_ended (driver))
    return;
  if (code == NODE_END_CANCELLED && !finished)
    sentence = "the run was cancelled";
  else if (driver->unpublished != NULL && (sentence == NULL || code == NODE_END_NO_STORE))
    sentence = driver->unpublished;
  if (code == NODE_END_SUSPENDED && !finished && driver->unpublished != NULL)
    code = NODE_END_NO_STORE;
  if (finished && driver->unkept != NULL)
    {
      sentence = driver->unkept;
      code = code == 0 ? 1 : code;
    }
  if (sentence != NULL && sentence != driver->unpublished && driver->config.solo)
    driver_say (driver, "%s", sentence);
  if (driver->config.folder != NULL
      && !(finished ? folder_end : end_without_answer) (driver->config.folder, code, sentence,
                                                        &error))
    driver_say (driver, "%s", error->message);
  driver_set_ended (driver, finished ? PART_ON_FINISH : PART_ON_STOP, code, sentence);
  if (!finished) /* main may take long to end; nobody wants its jobs any more */
    engine_halt (driver->engine, FALSE);
  if (driver->config.solo)
    return;
  start_exit_timer (driver);
}

/* The run goes on without this process. */
void
driver_depart (Driver *driver, const NodeEffect *effect)
{
  g_autofree char *file = folder_node_file (getpid (), FOLDER_NODE_ADDRESS);
  g_autofree char *path = g_build_filename (driver->config.folder, file, NULL);

  driver->parting.lost_us = effect->work_us;
  driver->parting.why = driver->warned ? FOLDER_PARTED_SIGNAL : FOLDER_PARTED_ASKED;
  driver_say (driver, "this node has left; %.1f s of work lost", (double)effect->work_us / 1e6);
  if (effect->count > 0)
    driver_say (driver, "nobody took %u finished results in time", effect->count);
  if (effect->failed)
    driver_say (driver, "jobs still ran when the time was over");
  (void)g_unlink (path);
  driver_set_ended (driver, PART_ON_LEAVE, 0, NULL);
  start_exit_timer (driver);
}
