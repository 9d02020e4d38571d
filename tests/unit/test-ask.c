/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs about runs that have ended or whose processes are gone, in a state folder of this test. */
#include "captured.h"
#include "folder-put.h"

#include "command/ask.h"
#include "command/command.h"
#include "command/ended.h"

#include "folder/folder-ended.h"
#include "folder/folder-run.h"

#include "text/json.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *state;

/* (transfer full): the folder of a new run. */
static char *
run_new (const char *name, const char *checkpoint, gboolean lives)
{
  const char *argv[] = { "-n", "two words", NULL };
  g_auto (FolderRun) run = { .name = g_strdup (name),
                             .program = g_strdup ("/opt/fib"),
                             .argv = g_strdupv ((char **)argv),
                             .folder = g_strdup ("/"),
                             .checkpoint = g_strdup (checkpoint),
                             .nodes = 1,
                             .launcher_pid = lives ? getpid () : 2147483646 };
  g_autoptr (GError) error = NULL;
  char *path = folder_create (&run, &error);

  g_assert_no_error (error);
  return path;
}

/* (transfer full): what the verb prints; *code (out). */
static char *
printed (int (*verb) (int, char **), const char *words, int *code)
{
  g_auto (GStrv) argv = g_strsplit (words, " ", -1);
  Captured captured = captured_begin (STDOUT_FILENO);

  *code = verb ((int)g_strv_length (argv), argv);
  return captured_end (&captured);
}

static gboolean
exists (const char *path)
{
  return g_file_test (path, G_FILE_TEST_EXISTS);
}

/* The answer is shown once, with main's messages, and then the folder is removed; the exit code is
 * known for longer. */
static void
an_answer_is_waited_for (void)
{
  g_autofree char *path = run_new ("waited", NULL, FALSE);
  int code;

  put (path, FOLDER_FILE_ANSWER, "forty-two\n");
  put (path, FOLDER_FILE_ANSWER_ERR, "main: a note\n");
  g_assert_true (folder_end (path, 7, NULL, NULL));
  Captured err = captured_begin (STDERR_FILENO);
  g_autofree char *first = printed (command_wait, "wait waited", &code);
  g_autofree char *messages = captured_end (&err);
  g_assert_cmpstr (first, ==, "forty-two\n");
  g_assert_cmpstr (messages, ==, "main: a note\n");
  g_assert_cmpint (code, ==, 7);
  g_assert_false (exists (path));
  g_autofree char *second = printed (command_wait, "wait waited", &code);
  g_assert_cmpstr (second, ==, "");
  g_assert_cmpint (code, ==, 7);
  folder_ended_forget ("waited");
}

/* The logs of a run that a job ended stay, since they may tell why the job failed. */
static void
a_failed_job_can_be_looked_into (void)
{
  g_autofree char *path = run_new ("failed", NULL, FALSE);
  int code;

  put (path, "node-11.log", "a word\n");
  g_assert_true (folder_end (path, COMMAND_JOB, NULL, NULL));
  g_autofree char *none = printed (command_wait, "wait failed", &code);
  g_assert_cmpint (code, ==, COMMAND_JOB);
  g_autofree char *log = printed (command_log, "log failed 11", &code);
  g_assert_cmpstr (log, ==, "a word\n");
  g_assert_true (folder_remove (path, NULL));
}

/* Another waiting process keeps the folder. One of the two shows the answer. */
static void
others_may_wait_too (void)
{
  g_autofree char *path = run_new ("shared", NULL, FALSE);
  g_autofree char *stays = folder_node_file (getppid (), FOLDER_NODE_STAYS);
  int code;

  put (path, "answer", "forty-two\n");
  put (path, stays, "x\n"); /* this mark counts as alive while the process lives */
  g_assert_true (folder_end (path, 0, NULL, NULL));
  g_autofree char *first = printed (command_wait, "wait shared", &code);
  g_assert_cmpstr (first, ==, "forty-two\n");
  g_assert_true (exists (path));
  g_autofree char *second = printed (command_wait, "wait shared", &code);
  g_assert_cmpstr (second, ==, "");
  g_assert_cmpint (code, ==, 0);
  g_assert_true (folder_remove (path, NULL));
}

typedef struct
{
  char *path, *gone;    /* the folder of a run, and where it is put */
  char *aside, *record; /* its record, and where that belongs */
} Leaver;

/* As the launcher does when the run has ended: first the record is there, then the folder is not. A
 * verb that looks now and then sees neither `end` nor the folder. */
static gpointer
leave_meanwhile (gpointer data)
{
  const Leaver *leaver = data;
  g_autofree char *file = folder_node_file (getpid (), FOLDER_NODE_STAYS);
  g_autofree char *stays = g_build_filename (leaver->path, file, NULL);

  while (!exists (stays))
    g_usleep (1000);
  g_usleep (50 * 1000);
  g_assert_cmpint (g_rename (leaver->aside, leaver->record), ==, 0);
  g_assert_cmpint (g_rename (leaver->path, leaver->gone), ==, 0);
  return NULL;
}

/* The exit code is known when another process has removed the folder meanwhile. */
static void
the_folder_goes_meanwhile (void)
{
  g_autofree char *path = run_new ("going", NULL, TRUE), *runs = folder_root ();
  g_autofree char *end = g_build_filename (path, FOLDER_FILE_END, NULL);
  g_autofree char *aside = g_build_filename (state, "aside", NULL);
  g_autofree char *gone = g_build_filename (runs, "gone", NULL), *record = NULL;
  int code;

  g_assert_true (folder_end (path, 7, NULL, NULL));
  folder_ended_record (path);
  record = folder_ended_find ("going");
  g_assert_nonnull (record);
  g_assert_cmpint (g_rename (record, aside), ==, 0);
  g_assert_cmpint (g_unlink (end), ==, 0);
  Leaver leaver = { path, gone, aside, record };
  GThread *thread = g_thread_new ("leave", leave_meanwhile, &leaver);
  Captured err = captured_begin (STDERR_FILENO);
  g_autofree char *text = printed (command_wait, "wait going", &code);
  g_autofree char *messages = captured_end (&err);
  g_thread_join (thread);
  g_assert_cmpstr (messages, ==, "");
  g_assert_cmpstr (text, ==, "");
  g_assert_cmpint (code, ==, 7);
  folder_ended_forget ("going");
  g_assert_true (folder_remove (gone, NULL));
}

/* The logs of all nodes with titles, or the log of one node, in whole lines. */
static void
logs_are_shown (void)
{
  g_autofree char *path = run_new ("logged", NULL, FALSE);
  int code;

  put (path, "node-11.log", "a\nb\n");
  put (path, "node-12.log", "c");
  put (path, "node-12.stats", "{\"id\":\"1.2\"}");
  put (path, "node-13.log", "");
  g_autofree char *all = printed (command_log, "log logged", &code);
  g_assert_cmpstr (all, ==, "==> node process 11 <==\na\nb\n\n==> node process 12 <==\nc\n");
  g_assert_cmpint (code, ==, COMMAND_DONE);
  g_autofree char *by_pid = printed (command_log, "log logged 11", &code);
  g_assert_cmpstr (by_pid, ==, "a\nb\n");
  g_autofree char *by_id = printed (command_log, "log logged 1.2", &code);
  g_assert_cmpstr (by_id, ==, "c\n");
  g_autofree char *none = printed (command_log, "log logged 1.3", &code);
  g_assert_cmpint (code, ==, COMMAND_ERROR);
  g_autofree char *many = printed (command_log, "log logged 11 12", &code);
  g_assert_cmpint (code, ==, COMMAND_USAGE);
  g_assert_true (exists (path));
  g_assert_true (folder_end (path, 1, NULL, NULL));
  g_autofree char *followed = printed (command_log, "log --follow logged", &code);
  g_assert_cmpstr (followed, ==, all);
  g_assert_false (exists (path)); /* this was the last reader of the folder */
  folder_ended_forget ("logged");
}

/* A checkpoint names the run that uses it: a living run, else any; of several records the
 * latest. */
static void
a_checkpoint_names_its_run (void)
{
  g_autofree char *file = g_build_filename (state, "f.satin", NULL);
  g_autofree char *dead = run_new ("a-dead", file, FALSE), *other = run_new ("b", "/other", TRUE);
  g_autoptr (GError) error = NULL;

  g_autofree char *found = ask_folder (file, &error);
  g_assert_cmpstr (found, ==, dead);
  g_autofree char *live = run_new ("c-lives", file, TRUE);
  g_autofree char *better = ask_folder (file, &error);
  g_assert_cmpstr (better, ==, live);
  g_autofree char *by_name = ask_folder ("a-dead", &error);
  g_assert_cmpstr (by_name, ==, dead);
  g_assert_null (ask_folder ("nobody", &error));
  g_assert_error (error, FOLDER_ERROR, FOLDER_ERROR_ABSENT);
  g_assert_null (ask_ended (file));

  const char *const paths[] = { live, dead };
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autofree char *end = g_build_filename (paths[i], FOLDER_FILE_END, NULL);
      const struct timespec times[2]
          = { { .tv_sec = time (NULL) - 100 + i }, { .tv_sec = time (NULL) - 100 + i } };
      g_assert_true (folder_end (paths[i], (int)i, NULL, NULL));
      g_assert_cmpint (utimensat (AT_FDCWD, end, times, 0), ==, 0);
      g_assert_true (folder_leave (paths[i], NULL));
    }
  g_autofree char *record = ask_ended (file), *wanted = folder_ended_find ("a-dead");
  g_assert_cmpstr (record, ==, wanted);
  folder_ended_forget ("a-dead");
  folder_ended_forget ("c-lives");
  g_assert_true (folder_remove (other, NULL));
}

/* Runs that have ended are listed with their code, or with null if their processes are gone. */
static void
ended_runs_are_listed (void)
{
  g_autofree char *live = run_new ("live", NULL, TRUE), *dead = run_new ("dead", "/c", FALSE);
  g_autofree char *ended = run_new ("ended", NULL, FALSE), *gone = run_new ("gone", NULL, FALSE);
  g_autoptr (GString) json = g_string_new ("[");
  static const struct
  {
    const char *name;
    double code; /* -1: null */
    gboolean has_elapsed;
  } wanted[] = { { "dead", -1, FALSE }, { "ended", 3, TRUE }, { "gone", 0, TRUE } };

  g_assert_true (folder_end (ended, 3, NULL, NULL));
  g_assert_true (folder_end (gone, 0, NULL, NULL));
  g_assert_true (folder_leave (gone, NULL));
  ended_append (json);
  g_string_append (json, "]");
  g_autoptr (GVariant) all = json_read (json->str);
  g_assert_nonnull (all);
  g_assert_cmpuint (g_variant_n_children (all), ==, G_N_ELEMENTS (wanted));
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (all, i);
      g_autoptr (GVariant) one = g_variant_get_variant (boxed);
      const char *name;
      double code = -1, elapsed_s = -1;

      g_assert_true (g_variant_lookup (one, "name", "&s", &name));
      g_assert_cmpstr (name, ==, wanted[i].name);
      (void)g_variant_lookup (one, "exit_code", "d", &code);
      g_assert_cmpfloat (code, ==, wanted[i].code);
      g_assert_cmpint (g_variant_lookup (one, "elapsed_s", "d", &elapsed_s), ==,
                       wanted[i].has_elapsed);
    }
  g_assert_nonnull (
      strstr (json->str, "\"program\":\"/opt/fib\",\"arguments\":[\"-n\",\"two words\"]"));
  folder_ended_forget ("gone");
  g_assert_true (folder_remove (live, NULL) && folder_remove (dead, NULL)
                 && folder_remove (ended, NULL));
}

/* `satin view` finds the checkpoint of a run that is over by the run's name, as long as the folder
 * or the record is there. Here no file is at its place. */
static void
a_run_that_is_over_is_viewed (void)
{
  static const struct
  {
    const char *name, *checkpoint;
    gboolean is_recorded; /* else its processes are gone */
    int code;
    const char *says;
  } cases[] = {
    { "over", "/none/c", TRUE, COMMAND_STORE, "/none/c" },
    { "over", NULL, TRUE, COMMAND_ERROR, "satin: run 'over' is over and had no checkpoint\n" },
    { "gone", "/none/c", FALSE, COMMAND_STORE, "/none/c" },
    { "gone", NULL, FALSE, COMMAND_ERROR, "satin: run 'gone' is over and had no checkpoint\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = run_new (cases[i].name, cases[i].checkpoint, FALSE);
      g_autofree char *words = g_strconcat ("view ", cases[i].name, NULL);
      int code;

      if (cases[i].is_recorded)
        g_assert_true (folder_end (path, 75, NULL, NULL) && folder_leave (path, NULL));
      Captured err = captured_begin (STDERR_FILENO);
      g_autofree char *text = printed (command_view, words, &code);
      g_autofree char *messages = captured_end (&err);
      if (code != cases[i].code || strstr (messages, cases[i].says) == NULL)
        g_error ("'%s' returns %d and prints:\n%s", words, code, messages);
      g_assert_cmpstr (text, ==, "");
      if (cases[i].is_recorded)
        folder_ended_forget (cases[i].name);
      else
        g_assert_true (folder_remove (path, NULL));
    }
}

/* As the launcher of a run that no node has joined, which looks for this file, ends the run and
 * goes. */
static gpointer
end_when_asked (gpointer data)
{
  const char *path = data;
  g_autofree char *asked = g_build_filename (path, FOLDER_SUSPEND, NULL);
  g_auto (FolderRun) run = { 0 };

  while (!exists (asked))
    g_usleep (1000);
  g_assert_true (folder_read (path, &run, NULL));
  run.launcher_pid = 2147483646;
  g_assert_true (folder_end (path, COMMAND_SUSPENDED, NULL, NULL));
  g_assert_true (folder_run_write (&run, path, NULL));
  return NULL;
}

/* A run that no node has joined is suspended by its launcher. */
static void
a_run_is_suspended_before_it_begins (void)
{
  g_autofree char *path = run_new ("early", "/c", TRUE);
  GThread *thread = g_thread_new ("launcher", end_when_asked, path);
  int code;

  Captured err = captured_begin (STDERR_FILENO);
  g_autofree char *text = printed (command_suspend, "suspend early", &code);
  g_autofree char *messages = captured_end (&err);
  g_assert_cmpint (code, ==, COMMAND_DONE);
  g_assert_cmpstr (messages, ==, "satin: run 'early' is suspended: `satin resume /c` goes on\n");
  g_thread_join (thread);
  g_assert_false (exists (path));
  folder_ended_forget ("early");
}

/* Without a name `satin top` shows the only run that lives. */
static void
one_live_run_needs_no_name (void)
{
  static const char *const wanted[]
      = { "satin: no node of run 'only' answers\n",
          "satin: several runs go on: name one, such as 'more' or 'only'\n" };
  g_autofree char *dead = run_new ("dead", NULL, FALSE), *only = run_new ("only", NULL, TRUE);
  g_autofree char *more = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      Captured err = captured_begin (STDERR_FILENO);
      int code;
      g_autofree char *picture = printed (command_top, "top", &code);
      g_autofree char *messages = captured_end (&err);

      g_assert_cmpint (code, ==, COMMAND_ERROR);
      g_assert_cmpstr (picture, ==, "");
      g_assert_true (g_str_has_suffix (messages, wanted[i]));
      if (more == NULL)
        more = run_new ("more", NULL, TRUE);
    }
  g_assert_true (folder_remove (dead, NULL) && folder_remove (only, NULL)
                 && folder_remove (more, NULL));
}

/* The folder may be shared with other hosts. They see that a verb which waits lives by the time of
 * its mark. */
static void
a_verb_that_waits_shows_that_it_lives (void)
{
  g_autofree char *path = run_new ("long", NULL, TRUE), *file = NULL, *mark = NULL;
  const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
  g_auto (AskRun) ask = { 0 };
  GStatBuf info;

  g_assert_true (ask_look ("long", &ask, NULL) && ask_stay (&ask));
  file = folder_node_file (getpid (), FOLDER_NODE_STAYS);
  mark = g_build_filename (path, file, NULL);
  g_assert_cmpint (utimensat (AT_FDCWD, mark, old, 0), ==, 0);
  g_assert_cmpint (ask_wait (&ask, G_USEC_PER_SEC / 4, NULL), ==, -1);
  g_assert_cmpint (g_stat (mark, &info), ==, 0);
  g_assert_cmpint (info.st_mtime, >, old[0].tv_sec);
  ask_leave (&ask);
  g_assert_false (exists (mark));
  g_assert_true (folder_remove (path, NULL));
}

static void
requests_have_a_limit (void)
{
  g_autofree char *plain = ask_request ("suspend", -1), *within = ask_request ("suspend", 2.5);
  g_autofree char *now = ask_request ("suspend", 0);

  g_assert_cmpstr (plain, ==, "suspend");
  g_assert_true (g_str_has_prefix (within, "suspend 2.5"));
  g_assert_true (g_str_has_prefix (now, "suspend 0"));
}

int
main (int argc, char **argv)
{
  state = g_dir_make_tmp ("satin-ask-XXXXXX", NULL);
  g_setenv ("XDG_STATE_HOME", state, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ask/an-answer-is-waited-for", an_answer_is_waited_for);
  g_test_add_func ("/ask/a-failed-job-can-be-looked-into", a_failed_job_can_be_looked_into);
  g_test_add_func ("/ask/others-may-wait-too", others_may_wait_too);
  g_test_add_func ("/ask/the-folder-goes-meanwhile", the_folder_goes_meanwhile);
  g_test_add_func ("/ask/logs-are-shown", logs_are_shown);
  g_test_add_func ("/ask/a-checkpoint-names-its-run", a_checkpoint_names_its_run);
  g_test_add_func ("/ask/ended-runs-are-listed", ended_runs_are_listed);
  g_test_add_func ("/ask/a-run-that-is-over-is-viewed", a_run_that_is_over_is_viewed);
  g_test_add_func ("/ask/a-run-is-suspended-before-it-begins", a_run_is_suspended_before_it_begins);
  g_test_add_func ("/ask/one-live-run-needs-no-name", one_live_run_needs_no_name);
  g_test_add_func ("/ask/a-verb-that-waits-shows-that-it-lives",
                   a_verb_that_waits_shows_that_it_lives);
  g_test_add_func ("/ask/requests-have-a-limit", requests_have_a_limit);
  int failed = g_test_run ();
  static const char *const folders[] = { "satin/ended", "satin/runs", "satin", "" };
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autofree char *path = g_build_filename (state, folders[i], NULL);
      g_rmdir (path);
    }
  g_free (state);
  return failed;
}
