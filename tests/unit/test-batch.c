/* SPDX-License-Identifier: BSD-3-Clause */
/* The process between a launcher and a batch job: what the job gets and when, what comes back, and
 * when the job counts as gone. The test is launcher, job and Slurm; the time passes by ticks. */
#include "captured.h"

#include "launch/batch.h"
#include "launch/command-words.h"
#include "launch/tasks.h"

#include "folder/folder.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_MS 200

static char *state, *run; /* the state folder; the folder of a run */
static gint64 now_us;
static guint ticks;
static void (*happens) (guint tick); /* in the current test, before each tick */
static GSourceFunc on_tick;
static int launcher; /* what it writes arrives at the process; -1: it is gone */

/* In place of GLib's. */
gint64
g_get_monotonic_time (void)
{
  return now_us;
}

static gboolean
tick (gpointer data)
{
  now_us += TICK_MS * 1000;
  g_assert_cmpuint (++ticks, <, 200);
  happens (ticks);
  return on_tick (data);
}

/* In place of GLib's: a tick comes as soon as all that has arrived was read. */
guint
g_timeout_add (guint ms, GSourceFunc function, gpointer data)
{
  g_assert_cmpuint (ms, ==, TICK_MS);
  on_tick = function;
  return g_idle_add_full (G_PRIORITY_LOW, tick, data, NULL);
}

static void
launcher_says (const char *text)
{
  g_assert_cmpint (write (launcher, text, strlen (text)), ==, (gssize)strlen (text));
}

static void
launcher_dies (void)
{
  close (launcher);
  launcher = -1;
}

/* (transfer full) a file of the job. */
static char *
file_of_job (const char *name)
{
  g_autofree char *place = tasks_place (1);

  return g_build_filename (place, name, NULL);
}

static void
job_writes (const char *name, const char *text)
{
  g_autofree char *path = file_of_job (name);
  FILE *file = fopen (path, "ae");

  g_assert_nonnull (file);
  fputs (text, file);
  fclose (file);
}

/* `wanted` NULL: there is no such file. */
static void
holds (char *path, const char *wanted)
{
  g_autofree char *text = NULL;

  g_file_get_contents (path, &text, NULL, NULL);
  g_assert_cmpstr (text, ==, wanted);
  g_free (path);
}

static void
run_holds (const char *name, const char *wanted)
{
  holds (g_build_filename (run, name, NULL), wanted);
}

/* The process itself, since it never returns. */
static void
become (const char *skip, const char *option)
{
  char *argv[]
      = { (char *)BATCH_VERB, run, (char *)skip, (char *)"the line", (char *)option, NULL, NULL };
  int ends[2];

  if (option == NULL)
    {
      argv[4] = (char *)"--partition=long";
      argv[5] = (char *)"--time=1";
    }
  g_assert_cmpint (pipe (ends), ==, 0);
  g_assert_cmpint (dup2 (ends[0], STDIN_FILENO), ==, STDIN_FILENO);
  close (ends[0]);
  launcher = ends[1];
  _exit (command_batch (option == NULL ? 6 : 5, argv));
}

/* `option` NULL: a job of Slurm. Returns the exit code; *out and *err (transfer full): what the
 * process writes. */
static int
lead (const char *skip, const char *option, void (*now_happens) (guint), char **out, char **err)
{
  int status;
  Captured captured_err = captured_begin (STDERR_FILENO);
  Captured captured_out = captured_begin (STDOUT_FILENO);

  happens = now_happens;
  pid_t pid = fork ();
  if (pid == 0)
    become (skip, option);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  *out = captured_end (&captured_out);
  *err = captured_end (&captured_err);
  if (!WIFEXITED (status))
    g_error ("signal %d: %s%s", WTERMSIG (status), *err, *out);
  return WEXITSTATUS (status);
}

static void
nothing_is_left (void)
{
  g_autofree char *place = tasks_place (1);
  g_autoptr (GDir) dir = g_dir_open (run, 0, NULL);

  g_assert_false (g_file_test (place, G_FILE_TEST_EXISTS));
  for (const char *name; (name = g_dir_read_name (dir)) != NULL;)
    g_assert_false (g_str_has_prefix (name, FOLDER_BATCH));
}

#define PROGRAM "a\ngo\nb\n"
#define FILES "file run 8\nx\nquit\ny\n" /* neither is a command */

/* The secrets come to the disk when the job has begun, and go when its node has read them. */
static void
each_in_its_time (guint now)
{
  switch (now)
    {
    case 1:
      launcher_says (PROGRAM FILES);
      break;
    case 3:
      holds (file_of_job (BATCH_LINE), "the line");
      holds (file_of_job (BATCH_SCRIPT), NULL);
      launcher_says ("g");
      break;
    case 4:
      launcher_says ("o\n");
      break;
    case 7:
      g_assert_true (g_file_test (file_of_job (BATCH_SCRIPT), G_FILE_TEST_EXISTS));
      holds (file_of_job ("to"), "");
      holds (file_of_job ("ready"), NULL);
      job_writes ("begun", "");
      break;
    case 8:
      holds (file_of_job ("to"), PROGRAM FILES "go\n");
      holds (file_of_job ("ready"), "");
      job_writes ("log", "a note\n");
      job_writes ("from", "Welcome\nfile x\nfile node-1.l");
      break;
    case 9:
      launcher_says ("kept end\n");
      break;
    case 11:
      holds (file_of_job ("to"), PROGRAM FILES "go\n");
      job_writes ("from", "og 4\nabc");
      break;
    case 12:
      holds (file_of_job ("to"), "");
      job_writes ("done", "5");
      break;
    case 14:
      job_writes ("from", "\nfile end 2\n5\n"); /* the launcher keeps it */
      job_writes ("done", "\n");
      break;
    default:
      g_assert_cmpuint (now, <, 16);
    }
}

static void
a_job_gets_and_gives_all (void)
{
  g_autofree char *out = NULL, *err = NULL;

  g_assert_cmpint (lead ("7", BATCH_TASK "1", each_in_its_time, &out, &err), ==, 5);
  g_assert_cmpstr (out, ==, "Welcome\nfile x\nfile node-1.log 4\nabc\nfile end 2\n5\n");
  run_holds (FOLDER_FILE_END, NULL);
  g_assert_cmpstr (err, ==, "a note\n");
  nothing_is_left ();
}

static void
quits_early (guint now)
{
  if (now == 2)
    launcher_says ("quit\n");
  g_assert_cmpuint (now, <, 4);
}

static void
dies_early (guint now)
{
  if (now == 2)
    launcher_dies ();
  g_assert_cmpuint (now, <, 4);
}

static void
begin_to_run (guint now)
{
  if (now == 1)
    launcher_says ("go\n");
}

static void
quits_late (guint now)
{
  begin_to_run (now);
  if (now == 4)
    launcher_says ("quit\n");
  g_assert_cmpuint (now, <, 6);
}

/* A node that nobody wants is not started, or ended. */
static void
some_are_not_wanted (void)
{
  static void (*const cases[]) (guint) = { quits_early, dies_early, quits_late };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *out = NULL, *err = NULL;

      g_assert_cmpint (lead ("0", BATCH_TASK "1", cases[i], &out, &err), ==, COMMAND_ERROR);
      g_assert_cmpstr (out, ==, "");
      g_assert_cmpstr (err, ==, "");
      nothing_is_left ();
    }
}

#define END "Welcome\nfile node-3.stats 2\n{}file answer 3\n42\nfile more 1\nxfile end 2\n"

static void
dies_late (guint now)
{
  begin_to_run (now);
  if (now == 3)
    launcher_dies ();
  if (now == 5)
    job_writes ("from", END "0\n");
  if (now == 7)
    job_writes ("done", "0\n");
}

static void
dies_before_a_short_end (guint now)
{
  begin_to_run (now);
  if (now == 3)
    launcher_dies ();
  if (now == 5)
    job_writes ("from", END "0");
  if (now == 7)
    job_writes ("done", "1\n");
}

static void
dies_with_the_folder (guint now)
{
  dies_late (now);
  if (now == 6)
    g_assert_true (folder_remove (run, NULL));
}

/* When the launcher is gone, the files of the end come to the run's folder, if they are whole. */
static void
an_end_is_kept (void)
{
  g_autofree char *out = NULL, *err = NULL, *more = NULL, *words = NULL, *lost = NULL;
  g_autofree char *place = tasks_place (1), *from = file_of_job ("from"), *rest = NULL;

  g_assert_cmpint (lead ("0", BATCH_TASK "1", dies_before_a_short_end, &out, &err), ==, 1);
  run_holds ("answer", "42\n");
  run_holds ("end", NULL);
  run_holds ("more", NULL);
  run_holds ("node-3.stats", NULL);
  g_autofree char *answer = g_build_filename (run, "answer", NULL);
  g_assert_true (g_file_set_contents (answer, "first\n", -1, NULL));
  g_assert_cmpint (lead ("0", BATCH_TASK "1", dies_late, &more, &words), ==, 0);
  g_assert_cmpstr (words, ==, "");
  run_holds ("answer", "first\n");
  run_holds ("end", "0\n");
  nothing_is_left ();
  g_assert_true (folder_remove (run, NULL));
  g_assert_cmpint (g_mkdir (run, 0700), ==, 0);
  g_assert_cmpint (lead ("0", BATCH_TASK "1", dies_with_the_folder, &rest, &lost), ==, 0);
  g_assert_nonnull (strstr (lost, "'answer' stays in '"));
  g_assert_true (g_file_test (from, G_FILE_TEST_EXISTS));
  g_assert_cmpint (g_mkdir (run, 0700), ==, 0);
  g_assert_true (folder_remove (place, NULL));
}

/* ---- Slurm ---- */

static void
put_program (const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (state, "bin", name, NULL);

  g_assert_true (
      g_file_set_contents_full (path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0700, NULL));
}

/* Its programs note what they were asked in the file `asked`. */
static void
begin_slurm (const char *sbatch, const char *squeue)
{
  g_autofree char *asked = g_build_filename (state, "asked", NULL);
  const char *const texts[][2]
      = { { "sbatch", sbatch }, { "squeue", squeue }, { "scancel", "exit 0" } };

  (void)g_unlink (asked);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autofree char *text
          = g_strdup_printf ("#!/bin/sh\necho \"${0##*/} $*\" >>%s\n%s\n", asked, texts[i][1]);
      put_program (texts[i][0], text);
    }
}

static char *
slurm_was_asked (void)
{
  g_autofree char *path = g_build_filename (state, "asked", NULL);
  char *text = NULL;

  return g_file_get_contents (path, &text, NULL, NULL) ? text : g_strdup ("");
}

static void
ends_at_4 (guint now)
{
  begin_to_run (now);
  if (now == 4)
    g_assert_true (folder_end (run, 0, NULL, NULL));
  g_assert_cmpuint (now, <, 6);
}

/* Output of the job, whose folder has a name by chance. */
static void
slurm_job_writes (const char *file, const char *text)
{
  g_autoptr (GDir) dir = g_dir_open (run, 0, NULL);

  for (const char *name; (name = g_dir_read_name (dir)) != NULL;)
    if (g_str_has_prefix (name, FOLDER_BATCH))
      {
        g_autofree char *path = g_build_filename (run, name, file, NULL);
        FILE *out = fopen (path, "ae");
        fputs (text, out);
        fclose (out);
      }
}

static void
lingers_until_29 (guint now)
{
  begin_to_run (now);
  if (now == 2 || now == 14)
    slurm_job_writes ("from", "words\n");
  if (now == 4)
    g_assert_true (folder_end (run, 0, NULL, NULL));
  g_assert_cmpuint (now, <=, 14 + 1 + 15);
}

static void
ends_by_itself_at_28 (guint now)
{
  lingers_until_29 (now);
  if (now == 28)
    slurm_job_writes ("done", "3\n");
}

static void
goes_on_until_60 (guint now)
{
  begin_to_run (now);
  if (now == 60)
    slurm_job_writes ("done", "0\n");
}

/* A job leaves the queue when the run has ended; one that runs has some seconds to end by itself.
 * It counts as gone when Slurm knows nothing of it, and not when Slurm does not answer. */
static void
slurm_is_asked (void)
{
  static const struct
  {
    const char *sbatch, *squeue;
    void (*happens) (guint);
    int code;
    const char *words;
    gboolean is_cancelled;
  } cases[] = {
    { "echo '77;big'", "exit 1", ends_at_4, COMMAND_ERROR, "", TRUE },
    { "echo 77", "echo R", lingers_until_29, COMMAND_ERROR, "", TRUE },
    { "echo 77", "echo R", ends_by_itself_at_28, 3, "", FALSE },
    { "echo 77", "case $* in *all*) echo TIMEOUT;; esac", goes_on_until_60, COMMAND_ERROR,
      "satin: batch job 77 is gone from Slurm: TIMEOUT\n", TRUE },
    { "echo 77", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1",
      goes_on_until_60, COMMAND_ERROR, "satin: batch job 77 is gone from Slurm\n", TRUE },
    { "echo 77", "for job in \"${0%/*}\"/../run/batch-*; do echo 4 >$job/done; done",
      goes_on_until_60, 4, "", FALSE }, /* it ends while Slurm is asked */
    { "echo 77", "echo 'error: Unable to contact' >&2; exit 1", goes_on_until_60, 0, "", FALSE },
    { "echo 77", "echo PD", goes_on_until_60, 0, "", FALSE },
    { "echo 'error: denied' >&2; exit 1", "", goes_on_until_60, COMMAND_ERROR,
      "satin: sbatch: error: denied\n", FALSE },
    { "echo hello", "", goes_on_until_60, COMMAND_ERROR, "satin: sbatch said no number: hello\n",
      FALSE },
  };
  g_autofree char *end = g_build_filename (run, FOLDER_FILE_END, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *out = NULL, *err = NULL;

      (void)g_unlink (end);
      begin_slurm (cases[i].sbatch, cases[i].squeue);
      g_test_message ("case %u", i);
      g_assert_cmpint (lead ("0", NULL, cases[i].happens, &out, &err), ==, cases[i].code);
      g_assert_true (g_str_has_suffix (err, cases[i].words)); /* behind Slurm's own */
      g_assert_true (*cases[i].words != '\0' || *err == '\0');
      g_autofree char *asked = slurm_was_asked ();
      g_assert_true ((strstr (asked, "scancel 77\n") != NULL) == cases[i].is_cancelled);
      g_assert_nonnull (strstr (asked, " --partition=long --time=1 /"));
      nothing_is_left ();
    }
}

int
main (int argc, char **argv)
{
  state = g_dir_make_tmp ("satin-batch-XXXXXX", NULL);
  run = g_build_filename (state, "run", NULL);
  g_autofree char *bin = g_build_filename (state, "bin", NULL);
  g_autofree char *satin = g_build_filename (state, "satin", NULL);
  g_autofree char *path = g_strconcat (bin, ":", g_getenv ("PATH"), NULL);

  alarm (20);
  g_assert_cmpint (g_mkdir (run, 0700), ==, 0);
  g_assert_cmpint (g_mkdir (bin, 0700), ==, 0);
  g_assert_cmpint (g_mkdir (satin, 0700), ==, 0);
  g_setenv ("PATH", path, TRUE);
  g_setenv ("XDG_STATE_HOME", state, TRUE);
  g_unsetenv ("OMPI_COMM_WORLD_SIZE");
  g_unsetenv ("PMI_SIZE");
  g_setenv ("SLURM_JOB_ID", "7", TRUE);
  g_setenv ("SLURM_STEP_ID", "0", TRUE);
  g_setenv ("SLURM_STEP_NUM_TASKS", "3", TRUE);
  g_setenv ("SLURM_PROCID", "0", TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/batch/a-job-gets-and-gives-all", a_job_gets_and_gives_all);
  g_test_add_func ("/batch/some-are-not-wanted", some_are_not_wanted);
  g_test_add_func ("/batch/an-end-is-kept", an_end_is_kept);
  g_test_add_func ("/batch/slurm-is-asked", slurm_is_asked);
  int failed = g_test_run ();
  g_autofree char *asked = g_build_filename (state, "asked", NULL);
  g_unlink (asked);
  (void)folder_remove (bin, NULL);
  (void)folder_remove (run, NULL);
  g_rmdir (satin);
  g_rmdir (state);
  g_free (run);
  g_free (state);
  return failed;
}
