/* SPDX-License-Identifier: BSD-3-Clause */
/* The run's folder, in a state folder of this test. */
#include "folder/folder-ended.h"
#include "folder/folder-run.h"
#include "host/process.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

static char *state;

static FolderRun
a_run (const char *name)
{
  const char *argv[] = { "", "-x", "two words;", "caf\xe9", "a\\b\n", NULL };

  return (FolderRun){ .name = g_strdup (name),
                      .program = g_strdup ("/opt/bin/fib"),
                      .argv = g_strdupv ((char **)argv),
                      .folder = g_strdup ("/tmp/\xff x"),
                      .checkpoint = g_strdup ("/tmp/f.satin"),
                      .interval_s = 2.5,
                      .keep_s = 0.25,
                      .heartbeat_s = 0.1,
                      .silence_s = 0.3,
                      .steal = 2,
                      .workers = 3,
                      .nodes = 4,
                      .tcp = TRUE };
}

static void
make_old (const char *path, const char *file)
{
  g_autofree char *name = g_build_filename (path, file, NULL);
  const struct timespec long_ago[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

  g_assert_cmpint (utimensat (AT_FDCWD, name, long_ago, 0), ==, 0);
}

/* An incomplete file is refused with a message, and nothing is read from it. */
static void
test_a_run_without_a_program (void)
{
  g_auto (FolderRun) run = a_run (NULL), back = { 0 };
  g_autoptr (GError) error = NULL;
  g_autofree char *path = folder_create (&run, NULL);
  g_autoptr (GBytes) text = g_bytes_new_static ("[run]\nid=1\nname=x\n", 18);

  g_assert_true (folder_write (path, FOLDER_RUN_FILE, text, NULL));
  g_assert_false (folder_read (path, &back, &error));
  g_assert_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED);
  g_assert_nonnull (strstr (error->message, "does not describe a run"));
  g_assert_null (back.name);
  g_assert_true (folder_remove (path, NULL));
}

static void
test_round_trip (void)
{
  g_auto (FolderRun) run = a_run (NULL), back = { 0 };
  g_autoptr (GError) error = NULL;
  g_autofree char *path = folder_create (&run, &error), *found = NULL, *credential = NULL;
  g_autoptr (GPtrArray) names = NULL;
  struct stat info;

  g_assert_no_error (error);
  g_assert_true (g_str_has_prefix (run.name, "fib-"));
  g_assert_true (folder_read (path, &back, &error));
  g_assert_cmpstr (back.id, ==, run.id);
  g_assert_cmpint (strlen (back.id), ==, 32);
  g_assert_cmpstrv (back.argv, run.argv);
  g_assert_cmpstr (back.folder, ==, run.folder);
  g_assert_cmpstr (back.checkpoint, ==, run.checkpoint);
  g_assert_cmpstr (back.sockets, ==, run.sockets);
  g_assert_cmpfloat (back.interval_s, ==, 2.5);
  g_assert_cmpfloat (back.keep_s, ==, 0.25);
  g_assert_cmpfloat (back.heartbeat_s, ==, 0.1);
  g_assert_cmpfloat (back.silence_s, ==, 0.3);
  g_assert_cmpint (back.steal, ==, 2);
  g_assert_cmpint (back.workers, ==, 3);
  g_assert_true (back.tcp);
  g_assert_cmpint (stat (path, &info), ==, 0);
  g_assert_cmpint (info.st_mode & 0777, ==, 0700);
  credential = folder_credential (path, &error);
  g_assert_no_error (error);
  g_assert_cmpint (strlen (credential), ==, 64);
  names = folder_list ();
  g_assert_cmpint (names->len, ==, 1);
  found = folder_find (run.name, &error);
  g_assert_cmpstr (found, ==, path);
  g_assert_true (folder_remove (path, &error));
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

static void
test_end (void)
{
  g_auto (FolderRun) run = a_run ("r1");
  g_autoptr (GError) error = NULL;
  g_autofree char *path = folder_create (&run, &error), *sentence = NULL;
  int code = -1;

  g_assert_false (folder_has_ended (path, &code, &sentence));
  g_assert_true (folder_end (path, 75, "stopped\n", &error));
  g_assert_true (folder_end (path, 0, "late", &error));
  g_assert_true (folder_has_ended (path, &code, &sentence));
  g_assert_cmpint (code, ==, 75);
  g_assert_cmpstr (sentence, ==, "stopped");
  g_assert_true (folder_remove (path, &error));
}

/* Writes another file while the first is being removed, as a node that is still running does. */
static gpointer
write_late (gpointer path)
{
  g_autofree char *first = g_build_filename (path, "run", NULL);

  while (g_file_test (first, G_FILE_TEST_EXISTS))
    ;
  (void)folder_claim (path, "late");
  return NULL;
}

/* When a run has ended its folder is removed, and a record stays until another run has the name. */
static void
test_record (void)
{
  g_auto (FolderRun) run = a_run ("recorded"), back = { 0 }, again = a_run ("recorded");
  g_autofree char *path = folder_create (&run, NULL);
  int code;

  folder_ended_record (path);
  g_assert_null (folder_ended_find ("recorded"));
  g_assert_true (folder_end (path, 3, "why", NULL));
  g_assert_true (folder_leave (path, NULL));
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  g_autofree char *record = folder_ended_find ("recorded");
  g_autofree char *words = NULL;
  g_assert_nonnull (record);
  g_assert_true (folder_has_ended (record, &code, &words));
  g_assert_cmpint (code, ==, 3);
  g_assert_cmpstr (words, ==, "why");
  g_assert_true (folder_read (record, &back, NULL));
  g_assert_cmpstr (back.program, ==, run.program);
  g_assert_cmpstr (back.host, ==, g_get_host_name ());
  g_assert_cmpint (back.started_us, ==, run.started_us);
  g_assert_cmpint (folder_ended_us (record), >, back.started_us - G_USEC_PER_SEC);
  g_assert_true (folder_lacks_answer (record, 0)); /* the run never had an answer */
  g_assert_null (folder_ended_find ("../ended/recorded"));
  g_autoptr (GPtrArray) names = folder_ended_list ();
  g_assert_cmpuint (names->len, ==, 1);
  g_autofree char *other = folder_create (&again, NULL);
  g_assert_null (folder_ended_find ("recorded"));
  g_assert_true (folder_remove (other, NULL));
}

#define RECORDERS 4
#define RECORDED_RUNS 200

static gpointer
record_all (gpointer data)
{
  for (int i = 0; i < RECORDED_RUNS; i++)
    folder_ended_record (((char **)data)[i]);
  return NULL;
}

/* All waiters for a run may find at the same moment that they are the last. */
static void
test_several_record (void)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  GThread *threads[RECORDERS];

  for (int i = 0; i < RECORDED_RUNS; i++)
    {
      g_autofree char *name = g_strdup_printf ("several-%d", i);
      g_auto (FolderRun) run = a_run (name);

      g_ptr_array_add (paths, folder_create (&run, NULL));
      g_assert_true (folder_end (paths->pdata[i], 0, NULL, NULL));
    }
  for (int i = 0; i < RECORDERS; i++)
    threads[i] = g_thread_new ("recorder", record_all, paths->pdata);
  for (int i = 0; i < RECORDERS; i++)
    g_thread_join (threads[i]);
  for (int i = 0; i < RECORDED_RUNS; i++)
    {
      g_autofree char *name = g_path_get_basename (paths->pdata[i]);
      g_autofree char *record = folder_ended_find (name);

      g_assert_nonnull (record);
      g_assert_true (folder_remove (paths->pdata[i], NULL));
      folder_ended_forget (name);
    }
}

/* A record shows that there was an answer, not the answer itself. */
static void
test_record_of_an_answer (void)
{
  g_auto (FolderRun) run = a_run ("answered");
  g_autofree char *path = folder_create (&run, NULL);
  g_autoptr (GBytes) answer = g_bytes_new_static ("forty-two", 9);

  g_assert_true (folder_write_first (path, "answer", answer, NULL));
  g_assert_true (folder_end (path, 0, NULL, NULL));
  g_assert_true (folder_leave (path, NULL));
  g_autofree char *record = folder_ended_find ("answered");
  g_assert_nonnull (record);
  g_assert_false (folder_lacks_answer (record, 0));
  g_autoptr (GBytes) kept = folder_bytes (record, "answer", NULL);
  g_assert_true (kept == NULL || g_bytes_get_size (kept) == 0);
  folder_ended_forget ("answered");
  g_assert_null (folder_ended_find ("answered"));
}

/* A record is kept for a while, and only for runs in the folder of runs. */
static void
test_records_go (void)
{
  g_auto (FolderRun) run = a_run ("going"), other = a_run ("going");
  g_autofree char *path = folder_create (&run, NULL);
  g_autofree char *elsewhere = g_build_filename (state, "going", NULL);

  g_assert_cmpint (g_mkdir (elsewhere, 0700), ==, 0);
  g_assert_true (folder_end (elsewhere, 0, NULL, NULL));
  folder_ended_record (elsewhere);
  g_assert_null (folder_ended_find ("going"));
  g_assert_true (folder_remove (elsewhere, NULL));
  for (int listed = FALSE; listed <= TRUE; listed++)
    {
      g_assert_true (folder_end (path, 0, NULL, NULL));
      folder_ended_record (path);
      g_autofree char *record = folder_ended_find ("going");
      g_autoptr (GPtrArray) young = folder_ended_list ();
      g_assert_nonnull (record);
      g_assert_cmpuint (young->len, ==, 1);
      make_old (record, FOLDER_FILE_END);
      g_assert_null (folder_ended_find ("going"));
      g_autoptr (GPtrArray) old = folder_ended_list ();
      g_assert_cmpuint (old->len, ==, 0);
      g_assert_false (g_file_test (record, G_FILE_TEST_EXISTS));
      g_assert_true (folder_remove (path, NULL));
      g_free (path);
      path = folder_create (&other, NULL);
    }
  g_assert_true (folder_remove (path, NULL));
}

/* A draft of a record is removed when its maker is dead, however old it is. If its maker cannot be
 * checked, it is removed after a minute. */
static void
test_drafts (void)
{
  g_autofree char *mine = process_mark (getpid ());
  g_autofree char *of_live = g_strdup_printf (".draft-%s-abcdef", mine);
  g_autofree char *of_dead = g_strdup_printf (".draft-%s-1-1-abcdef", process_host ());
  const struct
  {
    const char *name;
    gboolean is_old, stays;
  } drafts[] = { { of_live, TRUE, TRUE },
                 { of_dead, FALSE, FALSE },
                 { ".draft-00000000-1-1-abcdef", FALSE, TRUE },
                 { ".draft-00000000-1-2-abcdef", TRUE, FALSE },
                 { ".draft-abcdef", FALSE, TRUE } };
  const struct utimbuf long_ago = { 1, 1 };

  for (guint i = 0; i < G_N_ELEMENTS (drafts); i++)
    {
      g_autofree char *place
          = g_build_filename (g_get_user_state_dir (), "satin", "ended", drafts[i].name, NULL);
      g_assert_cmpint (g_mkdir_with_parents (place, 0700), ==, 0);
      if (drafts[i].is_old)
        g_assert_cmpint (utime (place, &long_ago), ==, 0);
      g_ptr_array_unref (folder_ended_list ());
      g_assert_cmpint (g_file_test (place, G_FILE_TEST_IS_DIR), ==, drafts[i].stays);
      (void)g_rmdir (place);
    }
}

/* main had returned, and the remaining nodes suspended the run. */
static void
test_answered (void)
{
  g_auto (FolderRun) run = a_run ("answered");
  g_autoptr (GBytes) zero = g_bytes_new_static ("0\n", 2), answer = g_bytes_new_static ("42\n", 3);
  g_autofree char *path = folder_create (&run, NULL);
  int code;

  g_assert_true (folder_end (path, 75, NULL, NULL));
  g_assert_true (folder_write_first (path, "answer.code", zero, NULL));
  g_assert_true (folder_has_ended (path, &code, NULL));
  g_assert_cmpint (code, ==, 75);
  g_assert_true (folder_write_first (path, "answer", answer, NULL));
  g_assert_true (folder_has_ended (path, &code, NULL));
  g_assert_cmpint (code, ==, 0);
  g_assert_true (folder_remove (path, NULL));
}

static void
test_late_writer (void)
{
  for (int i = 0; i < 50; i++)
    {
      g_auto (FolderRun) run = a_run ("late");
      g_autoptr (GError) error = NULL;
      g_autofree char *path = folder_create (&run, &error);

      for (int k = 0; k < 50; k++)
        {
          g_autofree char *file = g_strdup_printf ("early-%d", k);
          g_assert_true (folder_claim (path, file));
        }
      GThread *writer = g_thread_new ("late", write_late, path);
      folder_remove (path, &error);
      g_assert_no_error (error);
      g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
      g_thread_join (writer);
    }
}

static void
test_taken (void)
{
  g_auto (FolderRun) first = a_run ("r2"), second = a_run ("r2"), third = a_run ("../r2");
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL, *again = NULL;

  first.launcher_pid = getpid ();
  path = folder_create (&first, &error);
  g_assert_no_error (error);
  g_assert_null (folder_create (&second, &error));
  g_assert_error (error, FOLDER_ERROR, FOLDER_ERROR_TAKEN);
  g_clear_error (&error);
  g_assert_null (folder_create (&third, &error));
  g_assert_error (error, FOLDER_ERROR, FOLDER_ERROR_NAME);
  g_clear_error (&error);
  g_assert_true (folder_remove (path, &error));

  /* The name of a dead run is free again. */
  g_free (path);
  first.launcher_pid = 0;
  path = folder_create (&first, &error);
  again = folder_create (&second, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (path, ==, again);
  g_assert_true (folder_remove (path, &error));
}

/* The mark of a process holds only for that process, not for another node whose id is in the file's
 * name. */
static void
test_a_mark_of_another_process (void)
{
  g_auto (FolderRun) run = a_run ("r3");
  g_autoptr (GError) error = NULL;
  g_autofree char *path = folder_create (&run, &error);
  const gint64 nobody = 2147483646;
  g_autofree char *own = folder_node_file (getpid (), "process");
  g_autofree char *other = folder_node_file (nobody, "process");

  g_assert_true (folder_enter (path, getpid (), &error));
  g_autoptr (GBytes) mark = folder_bytes (path, own, NULL);
  g_assert_nonnull (mark);
  g_assert_true (folder_write (path, other, mark, &error));
  g_assert_true (folder_pid_is_live (path, getpid ()));
  g_assert_false (folder_pid_is_live (path, nobody));
  g_autofree char *line = g_strdup_printf ("00000000-%" G_GINT64_FORMAT "-1", nobody);
  g_autofree char *cut = g_strconcat (line, "x\n", NULL),
                  *whole = g_strconcat (line, "\nh\n", NULL);
  g_autoptr (GBytes) no_mark = g_bytes_new (cut, strlen (cut));
  g_autoptr (GBytes) of_other_host = g_bytes_new (whole, strlen (whole));
  g_assert_true (folder_write (path, other, of_other_host, &error));
  g_assert_true (folder_pid_is_live (path, nobody));
  g_assert_true (folder_write (path, other, no_mark, &error));
  g_assert_false (folder_pid_is_live (path, nobody));
  g_assert_true (folder_remove (path, &error));
}

/* A folder goes with the last process that stays for it; the record has the time of the end. A name
 * that is drawn is new, whatever the program is called. */
static void
test_leaving (void)
{
  g_auto (FolderRun) run = a_run (NULL), other = a_run (NULL);
  const struct timespec end[2] = { { .tv_sec = 1e9 }, { time (NULL) - 9, 500000000 } };
  const gint64 end_us = end[1].tv_sec * G_USEC_PER_SEC + 500000;

  g_free (run.program);
  g_free (other.program);
  run.program = g_strdup ("/opt/.-_prog");
  other.program = g_strdup ("/opt/.-_prog");
  g_random_set_seed (3);
  g_autofree char *path = folder_create (&run, NULL);
  g_random_set_seed (3);
  g_autofree char *second = folder_create (&other, NULL);
  g_assert_true (g_str_has_prefix (run.name, "prog-"));
  g_assert_true (g_file_test (path, G_FILE_TEST_IS_DIR) && strcmp (path, second) != 0);
  folder_disclaim (second, FOLDER_RUN_FILE);
  g_autoptr (GPtrArray) names = folder_list ();
  g_assert_cmpuint (names->len, ==, 1);
  g_assert_true (folder_remove (second, NULL));
  g_autofree char *stays = folder_node_file (2147483646, FOLDER_NODE_STAYS);
  g_autofree char *file = g_build_filename (path, FOLDER_FILE_END, NULL);
  g_assert_true (folder_claim (path, stays));
  g_assert_true (folder_end (path, 1, NULL, NULL));
  g_assert_cmpint (utimensat (AT_FDCWD, file, end, 0), ==, 0);
  g_assert_true (folder_leave (path, NULL));
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  g_autofree char *record = folder_ended_find (run.name);
  g_assert_cmpint (folder_ended_us (record), ==, end_us);
  folder_ended_forget (run.name);
}

/* A run lives as long as its launcher or one of its nodes. */
static void
test_a_run_lives_by_its_processes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) address = g_bytes_new_static ("127.0.0.1:9\n", 12);
  const gint64 nobody = 2147483646;
  g_autofree char *own = folder_node_file (getpid (), "address"),
                  *dead = folder_node_file (nobody, "address");

  for (guint lives = 0; lives < 4; lives++)
    {
      g_auto (FolderRun) run = a_run ("r3");
      run.launcher_pid = lives & 1 ? getpid () : nobody;
      g_autofree char *path = folder_create (&run, &error);
      g_assert_no_error (error);
      g_assert_true (folder_write (path, dead, address, &error));
      if (lives & 2)
        g_assert_true (folder_write (path, own, address, &error));
      g_assert_cmpint (folder_is_live (path), ==, lives != 0);
      g_assert_true (folder_remove (path, &error));
    }
}

/* A node on another host lives as long as it renews its mark. */
static void
test_signs_of_other_hosts (void)
{
  g_auto (FolderRun) run = a_run ("r3");
  g_autoptr (GError) error = NULL;
  g_autofree char *path = folder_create (&run, &error);
  g_autofree char *own = process_mark (getpid ());
  g_autofree char *file = folder_node_file (getpid (), "process");
  g_autofree char *text = g_strdup_printf ("00000000%s\nelsewhere\n", own + PROCESS_HOST_LENGTH);
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));

  g_assert_true (folder_write (path, file, bytes, &error));
  g_assert_true (folder_pid_is_live (path, getpid ()));
  g_assert_null (folder_other_host (path)); /* not the launcher */
  run.launcher_pid = getpid ();
  g_assert_true (folder_run_write (&run, path, &error));
  g_autofree char *host = folder_other_host (path);
  g_assert_cmpstr (host, ==, "elsewhere");
  make_old (path, file);
  g_assert_false (folder_pid_is_live (path, getpid ()));
  folder_sign (path);
  g_assert_true (folder_pid_is_live (path, getpid ()));
  g_assert_true (folder_enter (path, getpid (), &error));
  g_assert_null (folder_other_host (path)); /* it is this one */
  g_assert_true (folder_remove (path, &error));
}

/* A folder without a description is being made; an old one was abandoned. */
static void
test_a_folder_that_is_being_made (void)
{
  g_auto (FolderRun) run = a_run ("r3");
  g_autoptr (GError) error = NULL;
  g_autofree char *path = folder_create (&run, &error);
  g_autofree char *file = g_build_filename (path, "run", NULL);

  g_assert_cmpint (g_unlink (file), ==, 0);
  g_assert_true (folder_is_live (path));
  make_old (path, "");
  g_assert_false (folder_is_live (path));
  g_assert_true (folder_remove (path, &error));
}

/* … and so does a process that only holds the folder. */
static void
test_a_sign_is_for_all_that_a_process_is (void)
{
  g_auto (FolderRun) run = a_run ("r3");
  g_autoptr (GError) error = NULL;
  g_autofree char *path = folder_create (&run, &error);
  static const char *const suffixes[] = { FOLDER_NODE_PROCESS, FOLDER_NODE_STAYS };

  g_assert_true (folder_enter (path, getpid (), &error));
  g_assert_true (folder_stay (path, &error));
  for (guint turn = 0; turn < 2; turn++)
    {
      for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
        {
          g_autofree char *file = folder_node_file (getpid (), suffixes[i]);
          g_autofree char *name = g_build_filename (path, file, NULL);
          struct stat status;

          if (turn == 0)
            make_old (path, file);
          g_assert_cmpint (stat (name, &status), ==, 0);
          g_assert_cmpint (status.st_mtime > 1, ==, turn);
        }
      folder_sign (path);
    }
  g_assert_true (folder_remove (path, &error));
}

static void
test_nodes (void)
{
  g_auto (FolderRun) run = a_run ("r3");
  g_autoptr (GError) error = NULL;
  g_autofree char *path = folder_create (&run, &error);
  g_autofree char *file = folder_node_file (getpid (), "address");
  g_autoptr (GBytes) bytes = g_bytes_new_static ("unix:/x\ntcp:127.0.0.1:9\n", 24);
  g_autoptr (GArray) pids = NULL;
  g_auto (GStrv) lines = NULL;

  g_assert_false (folder_is_live (path));
  g_assert_true (folder_write (path, file, bytes, &error));
  g_assert_true (folder_write (path, "node-12x.address", bytes, &error));
  pids = folder_pids (path, "address");
  g_assert_cmpint (pids->len, ==, 1);
  g_assert_cmpint (g_array_index (pids, gint64, 0), ==, getpid ());
  lines = folder_addresses (path, getpid ());
  g_assert_cmpint (g_strv_length (lines), ==, 2);
  g_assert_cmpstr (lines[1], ==, "tcp:127.0.0.1:9");
  g_assert_true (folder_is_live (path));
  g_assert_true (folder_remove (path, &error));
}

static void
test_long_path (void)
{
  g_auto (FolderRun) run
      = a_run ("a-name-of-sixty-four-letters-0123456789-0123456789-0123456789-xx");
  g_autoptr (GError) error = NULL;
  g_autofree char *path = folder_create (&run, &error);
  g_autofree char *socket = NULL;

  g_assert_no_error (error);
  socket = folder_socket (&run, 2147483647);
  g_assert_cmpint (strlen (socket), <=, FOLDER_SOCKET_MAX);
  g_assert_true (folder_remove (path, &error));
  g_assert_no_error (error);
  if (strcmp (run.sockets, path) != 0)
    g_assert_false (g_file_test (run.sockets, G_FILE_TEST_EXISTS));
}

int
main (int argc, char **argv)
{
  g_autofree char *runs = NULL, *satin = NULL;
  int failed;

  state = g_dir_make_tmp ("satin-folder-test-with-a-long-name-XXXXXX", NULL);
  g_setenv ("XDG_STATE_HOME", state, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/folder/a-run-lives-by-its-processes", test_a_run_lives_by_its_processes);
  g_test_add_func ("/folder/a-run-without-a-program", test_a_run_without_a_program);
  g_test_add_func ("/folder/what-was-written-comes-back", test_round_trip);
  g_test_add_func ("/folder/drafts-of-records", test_drafts);
  g_test_add_func ("/folder/records-go", test_records_go);
  g_test_add_func ("/folder/a-mark-of-another-process", test_a_mark_of_another_process);
  g_test_add_func ("/folder/leaving", test_leaving);
  g_test_add_func ("/folder/a-folder-that-is-being-made", test_a_folder_that_is_being_made);
  g_test_add_func ("/folder/signs-of-other-hosts", test_signs_of_other_hosts);
  g_test_add_func ("/folder/a-sign-is-for-all-that-a-process-is",
                   test_a_sign_is_for_all_that_a_process_is);
  g_test_add_func ("/folder/the-first-end-stays", test_end);
  g_test_add_func ("/folder/who-has-ended-is-known", test_record);
  g_test_add_func ("/folder/several-record-one-run", test_several_record);
  g_test_add_func ("/folder/an-answer-leaves-a-record", test_record_of_an_answer);
  g_test_add_func ("/folder/an-answer-is-the-end", test_answered);
  g_test_add_func ("/folder/who-writes-late-does-not-keep-it", test_late_writer);
  g_test_add_func ("/folder/a-name-belongs-to-one-live-run", test_taken);
  g_test_add_func ("/folder/nodes-are-found-by-their-address-files", test_nodes);
  g_test_add_func ("/folder/a-socket-name-is-never-too-long", test_long_path);
  failed = g_test_run ();
  runs = folder_root ();
  satin = g_path_get_dirname (runs);
  g_rmdir (runs);
  g_autofree char *ended = g_build_filename (satin, "ended", NULL);
  g_assert_cmpint (g_rmdir (ended), ==, 0); /* no draft is left either */
  g_rmdir (satin);
  g_rmdir (state);
  g_free (state);
  return failed;
}
