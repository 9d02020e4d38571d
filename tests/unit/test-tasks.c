/* SPDX-License-Identifier: BSD-3-Clause */
/* How the tasks of one step find their run and its end. The time passes only when a task waits;
 * then the test does what other processes would. The node is a shell script. */
#include "captured.h"

#include "launch/batch.h"
#include "launch/command-words.h"
#include "launch/tasks.h"

#include "folder/folder.h"

#include <glib/gstdio.h>
#include <string.h>

static char *state;
static gint64 now_us;
/* (nullable) What other processes do meanwhile, after each second. */
static void (*happens) (gint64 s);

/* In place of GLib's: nobody waits, and the clock is the test's. */
void
g_usleep (gulong us)
{
  gint64 before_s = now_us / G_USEC_PER_SEC;

  now_us += (gint64)us;
  if (now_us / G_USEC_PER_SEC != before_s && happens != NULL)
    happens (now_us / G_USEC_PER_SEC);
}

gint64
g_get_monotonic_time (void)
{
  return now_us;
}

static void
be_task (int number)
{
  g_autofree char *text = g_strdup_printf ("%d", number);

  g_setenv ("SLURM_PROCID", text, TRUE);
}

static char *
first_says (void)
{
  g_autofree char *path = tasks_place (0);
  char *text = NULL;

  return g_file_get_contents (path, &text, NULL, NULL) ? text : NULL;
}

static void
first_has_said (const char *wanted)
{
  g_autofree char *text = first_says ();

  g_assert_cmpstr (text, ==, wanted);
}

static void
put_first (const char *text)
{
  g_autofree char *path = tasks_place (0);

  if (text == NULL)
    (void)g_unlink (path);
  else
    g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static char *
file_of_task (const char *name)
{
  g_autofree char *place = tasks_place (1);

  return g_build_filename (place, name, NULL);
}

static void
put_file (const char *name, const char *text)
{
  g_autofree char *path = file_of_task (name);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static char *
text_of (const char *name)
{
  g_autofree char *path = file_of_task (name);
  char *text = NULL;

  return g_file_get_contents (path, &text, NULL, NULL) ? text : g_strdup ("");
}

/* The first task's launcher gives task 1 its work. */
static void
give_work (void)
{
  g_autofree char *place = tasks_place (1);

  (void)g_mkdir (place, 0700);
  put_file ("to", "words\n");
  put_file ("from", "before\n");
  put_file (BATCH_LINE, "the line");
  put_file (BATCH_SCRIPT, "cat; echo aside >&2; exit 5\n");
}

static void
clear (void)
{
  static const char *const files[] = { "to", "from", "log", "done", BATCH_LINE, BATCH_SCRIPT, "" };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = file_of_task (files[i]);
      (void)g_remove (path);
    }
  put_first (NULL);
  now_us = 0;
  happens = NULL;
}

/* Task 1 takes part. Returns its exit code; *said (out, transfer full): its messages. */
static int
take_part (const char *program, char **said)
{
  char *argv[] = { NULL }, *sites = (char *)"";
  Captured err = captured_begin (STDERR_FILENO);

  be_task (1);
  int code = tasks_begin (0, program, argv, &sites);
  *said = captured_end (&err);
  g_assert_null (sites);
  return code;
}

static gint64
seconds (void)
{
  return now_us / G_USEC_PER_SEC;
}

/* The first task begins the run with a site for the others. Each signs the end; the last one
 * removes the file. */
static void
a_run_begins_and_ends (void)
{
  static const struct
  {
    int workers;
    const char *slurm, *text;
  } cases[] = { { 2, "4",
                  "[site first]\nlauncher = local\nworkers = 2\n[site tasks]\nlauncher = tasks\n"
                  "nodes = 2\nworkers = 2\n" },
                { 0, "4",
                  "[site first]\nlauncher = local\nworkers = 4\n[site tasks]\nlauncher = tasks\n"
                  "nodes = 2\nworkers = 4\n" },
                { 0, "",
                  "[site first]\nlauncher = local\n[site tasks]\nlauncher = tasks\nnodes = 2\n" } };
  char *none[] = { NULL };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      char *sites = NULL;
      g_autofree char *text = NULL, *said = NULL, *more = NULL;

      be_task (0);
      g_setenv ("SLURM_CPUS_PER_TASK", cases[i].slurm, TRUE);
      g_assert_cmpint (tasks_begin (cases[i].workers, "/bin/true", none, &sites), ==, -1);
      g_assert_true (g_file_get_contents (sites, &text, NULL, NULL));
      g_assert_cmpstr (text, ==, cases[i].text);
      first_has_said ("run\n");
      tasks_end (sites);
      g_assert_false (g_file_test (sites, G_FILE_TEST_EXISTS));
      first_has_said ("run\nended\n");
      g_assert_cmpint (take_part (NULL, &said), ==, COMMAND_DONE);
      first_has_said ("run\nended\n1\n");
      be_task (2);
      g_assert_cmpint (tasks_begin (0, NULL, none, &more), ==, COMMAND_DONE);
      first_has_said (NULL);
      g_assert_cmpint (seconds (), ==, 0);
      g_free (sites);
    }
}

static void
begin_at_30 (gint64 s)
{
  if (s == 30)
    put_first ("run\n");
}

static void
end_at_30 (gint64 s)
{
  if (s == 30)
    put_first ("run\nended\n");
}

static void
go_at_30 (gint64 s)
{
  if (s == 30)
    put_first (NULL);
}

/* A task without work ends with the run, and does not wait for ever for its beginning. */
static void
a_wait_for_work_ends (void)
{
  static const struct
  {
    const char *first, *words, *left;
    void (*happens) (gint64 s);
    int code;
    gint64 s;
  } cases[] = {
    { NULL, "has started no run", NULL, NULL, COMMAND_ERROR, 60 },
    { NULL, "has started no run", "run\n1\n", begin_at_30, COMMAND_ERROR, 30 + 600 + 10 },
    { "run\n", "", "run\nended\n1\n", end_at_30, COMMAND_DONE, 30 },
    { "run\n2\n", "", NULL, go_at_30, COMMAND_DONE, 30 + 60 },
    { "run\nended\n1\n", "has started no run", "run\nended\n1\n", NULL, COMMAND_ERROR, 60 },
    { "run\nended\n11\n", "", NULL, NULL, COMMAND_DONE, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *said = NULL;

      clear ();
      put_first (cases[i].first);
      happens = cases[i].happens;
      g_assert_cmpint (take_part (NULL, &said), ==, cases[i].code);
      g_assert_nonnull (strstr (said, cases[i].words));
      g_test_message ("case %u: %d s", i, (int)seconds ());
      g_assert_true (seconds () >= cases[i].s && seconds () <= cases[i].s + 1);
      if (i != 5)
        first_has_said (cases[i].left);
    }
}

static void
work_at_3_end_at_7 (gint64 s)
{
  if (s == 3)
    give_work ();
  if (s == 7)
    put_first ("run\nended\n");
}

static void
work_at_3 (gint64 s)
{
  if (s == 3)
    give_work ();
}

/* The folder of an earlier run goes; the next run gives work. */
static void
next_at_3_end_at_8 (gint64 s)
{
  g_autofree char *done = file_of_task ("done");

  if (s == 3)
    {
      put_first ("run\n");
      (void)g_unlink (done);
      give_work ();
    }
  if (s == 8)
    put_first ("run\nended\n");
}

/* The node gets the files as its streams, once. Its code is not that of the task, which ends with
 * the run, or some seconds after its node when the launcher is gone. */
static void
work_is_done_once (void)
{
  static const struct
  {
    const char *first, *left;
    gboolean is_old; /* the folder of an earlier run is there */
    void (*happens) (gint64 s);
    gint64 s;
  } cases[] = { { "run\n", "run\nended\n1\n", FALSE, work_at_3_end_at_7, 7 },
                { "run\n", "run\n1\n", FALSE, work_at_3, 3 + 10 },
                { "run\nended\n1\n", "run\nended\n1\n", TRUE, next_at_3_end_at_8, 8 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *said = NULL;

      clear ();
      put_first (cases[i].first);
      if (cases[i].is_old)
        {
          give_work ();
          put_file ("done", "0\n");
        }
      happens = cases[i].happens;
      g_assert_cmpint (take_part (NULL, &said), ==, COMMAND_DONE);
      g_assert_cmpstr (said, ==, "");
      g_assert_true (seconds () >= cases[i].s && seconds () <= cases[i].s + 1);
      first_has_said (cases[i].left);
      g_autofree char *from = text_of ("from"), *log = text_of ("log");
      g_assert_cmpstr (from, ==, "before\nwords\n");
      g_assert_cmpstr (log, ==, "aside\n");
    }
}

static void
line_goes_at_4 (gint64 s)
{
  g_autofree char *line = file_of_task (BATCH_LINE);

  if (s == 4)
    (void)g_unlink (line);
}

/* All tasks must have the same command line. The run may end before its launcher has the script. */
static void
work_may_be_none (void)
{
  g_autofree char *said = NULL, *more = NULL, *script = NULL;

  clear ();
  put_first ("run\nended\n");
  give_work ();
  g_assert_cmpint (take_part ("/bin/true", &said), ==, COMMAND_USAGE);
  g_assert_nonnull (strstr (said, "start all with the same command line"));
  g_autofree char *log = text_of ("log");
  g_assert_cmpstr (log, ==, "");

  put_first ("run\nended\n");
  script = file_of_task (BATCH_SCRIPT);
  g_assert_cmpint (g_unlink (script), ==, 0);
  happens = line_goes_at_4;
  g_assert_cmpint (take_part (NULL, &more), ==, COMMAND_DONE);
  g_assert_cmpint (seconds (), ==, 4);
  first_has_said ("run\nended\n1\n");
  clear ();
}

int
main (int argc, char **argv)
{
  static const char *const foreign[]
      = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_KILL_BAD_EXIT" };

  alarm (20);
  state = g_dir_make_tmp ("satin-tasks-XXXXXX", NULL);
  g_setenv ("XDG_STATE_HOME", state, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (foreign); i++)
    g_unsetenv (foreign[i]);
  g_setenv ("SLURM_JOB_ID", "7", TRUE);
  g_setenv ("SLURM_STEP_ID", "0", TRUE);
  g_setenv ("SLURM_STEP_NUM_TASKS", "3", TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tasks/a-run-begins-and-ends", a_run_begins_and_ends);
  g_test_add_func ("/tasks/a-wait-for-work-ends", a_wait_for_work_ends);
  g_test_add_func ("/tasks/work-is-done-once", work_is_done_once);
  g_test_add_func ("/tasks/work-may-be-none", work_may_be_none);
  int failed = g_test_run ();
  g_autofree char *satin = g_build_filename (state, "satin", NULL);
  g_rmdir (satin);
  g_rmdir (state);
  g_free (state);
  return failed;
}
