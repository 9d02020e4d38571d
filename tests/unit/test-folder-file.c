/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of a run's folder: when they become visible, when they are on the disk, and which users may
 * read them. The replaced fsync () records its calls. */
#include "folder/folder-file.h"
#include "folder/folder-run.h"
#include "folder/folder.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static GString
    *noted; /* a letter for each call: "f" a file, "F" one that has its name, "d" a folder */
static gboolean disk_fails;

int
fsync (int fd)
{
  struct stat info;

  g_assert_cmpint (fstat (fd, &info), ==, 0);
  g_string_append_c (noted, S_ISDIR (info.st_mode) ? 'd' : info.st_nlink > 1 ? 'F' : 'f');
  return disk_fails ? -1 : 0;
}

static char *
make_folder (void)
{
  return g_dir_make_tmp ("satin-file-XXXXXX", NULL);
}

static guint
open_descriptors (void)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/fd", 0, NULL);
  guint n = 0;

  while (dir != NULL && g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

/* A file that is written in pieces is visible as a whole or not at all; the first whole file
 * stays. */
static void
a_file_comes_in_pieces (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = make_folder ();
  FolderFile *first = folder_file_begin (path, "answer", &error);
  FolderFile *second = folder_file_begin (path, "answer", &error);
  FolderFile *dropped = folder_file_begin (path, "other", &error);

  g_assert_no_error (error);
  g_assert_true (folder_file_add (second, "no", 2, &error));
  g_assert_true (folder_file_add (first, "whole ", 6, &error));
  g_assert_true (folder_file_add (dropped, "half", 4, &error));
  g_assert_true (folder_file_add (first, "answer", 6, &error));
  g_assert_cmpint (folder_size (path, "answer"), ==, -1);
  g_assert_true (folder_file_end (first, FOLDER_FILE_FIRST_SAFE, &error));
  g_assert_true (folder_file_end (second, FOLDER_FILE_FIRST_SAFE, &error));
  folder_file_drop (dropped);
  g_autoptr (GBytes) bytes = folder_bytes (path, "answer", &error);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), "whole answer", 12);
  g_assert_cmpint (folder_size (path, "other"), ==, -1);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  for (const char *name; (name = g_dir_read_name (dir)) != NULL;)
    g_assert_cmpint (name[0], !=, '.');
  g_assert_true (folder_remove (path, NULL));
  g_assert_null (folder_file_begin (path, "answer", &error));
  g_assert_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED);
}

/* A safe file is on the disk before it gets its name, and its name is on the disk when the call
 * returns. Other files do not wait for the disk. No file is readable for other users, and none
 * leaves a descriptor. */
static void
what_is_safe_is_on_the_disk (void)
{
  static const struct
  {
    FolderFileEnd how;
    const char *calls;
  } cases[]
      = { { FOLDER_FILE_FIRST_SAFE, "fd" }, { FOLDER_FILE_FIRST, "" }, { FOLDER_FILE_LAST, "" } };
  g_autofree char *path = make_folder (), *name = g_build_filename (path, "answer", NULL);
  guint before = open_descriptors ();
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      FolderFile *file = folder_file_begin (path, "answer", &error);
      struct stat info;

      g_string_truncate (noted, 0);
      g_assert_true (folder_file_add (file, "x", 1, &error));
      g_assert_true (folder_file_end (file, cases[i].how, &error));
      g_assert_cmpstr (noted->str, ==, cases[i].calls);
      g_assert_cmpint (stat (name, &info), ==, 0);
      g_assert_cmpint (info.st_mode & 0777, ==, 0600);
      g_assert_cmpuint (open_descriptors (), ==, before);
      g_assert_cmpint (g_unlink (name), ==, 0);
    }
  disk_fails = TRUE;
  FolderFile *file = folder_file_begin (path, "answer", &error);
  g_assert_false (folder_file_end (file, FOLDER_FILE_FIRST_SAFE, &error));
  g_assert_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED);
  disk_fails = FALSE;
  g_assert_cmpint (folder_size (path, "answer"), ==, -1);
  g_assert_cmpint (g_rmdir (path), ==, 0); /* no draft stays */
}

/* The number of the file's i-node. */
static guint64
inode_of (const char *path, const char *file)
{
  g_autofree char *name = g_build_filename (path, file, NULL);
  struct stat info;

  g_assert_cmpint (stat (name, &info), ==, 0);
  g_assert_cmpint (info.st_mode & 0777, ==, 0600);
  return info.st_ino;
}

/* A file that is renewed has the last text, however long the texts before were. No call makes a
 * third file, and a reader that has opened the file reads one text. */
static void
a_file_is_renewed_in_two_places (void)
{
  static const char *const texts[] = { "one", "the longest of all", "2", "", "more", "6" };
  g_autofree char *path = make_folder (), *name = g_build_filename (path, "stats", NULL);
  guint before = open_descriptors ();
  guint64 inodes[G_N_ELEMENTS (texts)];

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new (texts[i], strlen (texts[i]));
      int reader = open (name, O_RDONLY | O_CLOEXEC);
      char text[32];

      g_assert_true (folder_renew (path, "stats", bytes, NULL));
      g_autoptr (GBytes) there = folder_bytes (path, "stats", NULL);
      g_assert_true (g_bytes_equal (there, bytes));
      inodes[i] = inode_of (path, "stats");
      g_assert_cmpint (reader >= 0, ==, i > 0);
      if (i == 0)
        continue;
      gssize size = read (reader, text, sizeof text);
      g_assert_cmpmem (text, size, texts[i - 1], strlen (texts[i - 1]));
      close (reader);
      g_assert_cmpuint (open_descriptors (), ==, before);
    }
  if (inodes[0] == inodes[2]) /* FALSE: this file system cannot exchange names */
    for (guint i = 2; i < G_N_ELEMENTS (texts); i++)
      g_assert_cmpuint (inodes[i], ==, inodes[i - 2]);
  else
    g_test_skip ("names cannot be exchanged here");
  g_assert_true (folder_remove (path, NULL));
  g_autoptr (GBytes) bytes = g_bytes_new ("x", 1);
  g_autoptr (GError) error = NULL;
  g_assert_false (folder_renew (path, "stats", bytes, &error));
  g_assert_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED);
}

/* What is there already is not written again: no file is made in the folder, not even for a
 * moment. */
static void
what_is_there_is_not_written (void)
{
  g_autofree char *path = make_folder (), *file = folder_node_file (getpid (), FOLDER_NODE_PROCESS);
  struct stat before, after;

  g_assert_true (folder_end (path, 3, NULL, NULL));
  g_assert_true (folder_enter (path, getpid (), NULL));
  guint64 inode = inode_of (path, file);
  g_assert_cmpint (stat (path, &before), ==, 0);
  for (guint i = 0; i < 50; i++)
    {
      g_assert_true (folder_end (path, 4, NULL, NULL));
      g_assert_true (folder_enter (path, getpid (), NULL));
    }
  g_assert_cmpint (stat (path, &after), ==, 0);
  g_assert_cmpint (after.st_mtim.tv_sec, ==, before.st_mtim.tv_sec);
  g_assert_cmpint (after.st_mtim.tv_nsec, ==, before.st_mtim.tv_nsec);
  g_assert_cmpuint (inode_of (path, file), ==, inode);
  g_assert_true (folder_remove (path, NULL));
}

/* A folder inside a run's folder was made by somebody else and stays. */
static void
folders_of_others_stay (void)
{
  static const char *const names[] = { "batch-1", "mine" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = make_folder (), *inner = g_build_filename (path, names[i], NULL);
      g_autofree char *file = g_build_filename (inner, "file", NULL);
      g_autoptr (GError) error = NULL;

      g_assert_cmpint (g_mkdir (inner, 0700), ==, 0);
      g_assert_true (g_file_set_contents (file, "x", 1, NULL));
      g_assert_cmpint (folder_remove (path, &error), ==, i == 0);
      g_assert_cmpint (g_file_test (file, G_FILE_TEST_EXISTS), ==, i == 1);
      g_assert_cmpint (error != NULL, ==, i == 1);
      g_unlink (file);
      g_rmdir (inner);
      g_rmdir (path);
    }
}

static void
names_have_a_length (void)
{
  for (gsize length = 0; length <= FOLDER_NAME_MAX + 2; length++)
    {
      g_autofree char *name = g_strnfill (length, 'x');
      g_assert_cmpint (folder_name_is_valid (name), ==, length >= 1 && length <= FOLDER_NAME_MAX);
    }
}

/* A part of a credential is not accepted. */
static void
a_credential_is_whole (void)
{
  g_autofree char *path = make_folder ();

  for (gsize length = 0; length < 70; length++)
    {
      g_autofree char *text = g_strnfill (length, 'a');
      g_autoptr (GBytes) bytes = g_bytes_new (text, length);
      g_autoptr (GError) error = NULL;

      g_assert_true (folder_write (path, FOLDER_FILE_CREDENTIAL, bytes, NULL));
      g_autofree char *credential = folder_credential (path, &error);
      g_assert_cmpstr (credential, ==, length == 64 ? text : NULL);
      g_assert_cmpint (error == NULL, ==, length == 64);
    }
  g_assert_true (folder_remove (path, NULL));
}

/* A file is shown whole; FALSE if it cannot be read to its end. */
static void
a_file_is_shown_whole (void)
{
  g_autofree char *path = make_folder (), *inner = g_build_filename (path, "batch-1", NULL);
  g_autofree char *text = g_strnfill (300001, 'y'), *shown = NULL, *name = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
  int fd = g_file_open_tmp ("satin-file-XXXXXX", &name, NULL);

  g_assert_true (folder_write (path, "answer", bytes, NULL));
  g_assert_true (folder_show (path, "answer", fd));
  g_assert_true (folder_show (path, "none", fd));
  g_assert_cmpint (g_mkdir (inner, 0700), ==, 0);
  g_assert_false (folder_show (path, "batch-1", fd));
  g_close (fd, NULL);
  g_assert_true (g_file_get_contents (name, &shown, NULL, NULL));
  g_assert_cmpstr (shown, ==, text);
  g_unlink (name);
  g_assert_true (folder_remove (path, NULL));
}

/* After the end of a run is written, signals do not change how its process ends. */
static void
late_signals_change_nothing (void)
{
  static const int signals[] = { SIGTERM, SIGUSR1, SIGHUP };

  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    {
      int status;
      pid_t pid = fork ();
      if (pid == 0)
        {
          folder_ended ();
          raise (signals[i]);
          _exit (42);
        }
      g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
      g_assert_true (WIFEXITED (status) && WEXITSTATUS (status) == 42);
    }
}

static guint n_witnessed;

static void
witness (const char *path, const char *file, GBytes *bytes)
{
  g_autoptr (GBytes) there = folder_bytes (path, file, NULL);

  g_assert_true (g_bytes_equal (there, bytes));
  n_witnessed++;
}

/* A witness hears of a file when it is there, and of no file that could not be written. */
static void
a_file_is_there_when_it_is_told (void)
{
  g_autofree char *path = make_folder ();
  g_autoptr (GBytes) one = g_bytes_new ("1", 1), two = g_bytes_new ("22", 2);

  folder_set_witness (witness);
  g_assert_true (folder_write (path, "a", one, NULL));
  g_assert_true (folder_write (path, "a", two, NULL));
  g_assert_true (folder_write_first (path, "b", one, NULL));
  g_assert_cmpuint (n_witnessed, ==, 3);
  g_assert_true (folder_write_quietly (path, "a", one, NULL));
  g_assert_false (folder_write (path, "none/a", one, NULL));
  g_assert_false (folder_write_first (path, "none/a", one, NULL));
  g_assert_cmpuint (n_witnessed, ==, 3);
  folder_set_witness (NULL);
  g_assert_true (folder_remove (path, NULL));
}

/* An exit code is a byte, whatever stands in the file. */
static void
a_code_is_a_byte (void)
{
  static const struct
  {
    const char *text;
    int code;
  } cases[] = { { "7\n", 7 }, { "255\n", 255 }, { "256\n", 255 }, { "-5\n", 0 }, { "x", 0 } };
  g_autofree char *path = make_folder ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new (cases[i].text, strlen (cases[i].text));
      int code;
      g_assert_true (folder_write (path, FOLDER_FILE_END, bytes, NULL));
      g_assert_true (folder_has_ended (path, &code, NULL));
      g_assert_cmpint (code, ==, cases[i].code);
    }
  g_assert_true (folder_remove (path, NULL));
}

static void
write_text (const char *path, const char *file, const char *text)
{
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
  g_assert_true (folder_write_first (path, file, bytes, NULL));
}

/* When main returned 3: only a suspension gives way to that, and only if the answer is there. A run
 * that ended well lacks its answer if nodes were to bring one. */
static void
an_end_and_an_answer (void)
{
  static const struct
  {
    int code, nodes;
    gboolean has_answer;
    int shown;
    gboolean lacks;
  } cases[] = { { 75, 2, TRUE, 3, FALSE },  { 75, 2, FALSE, 75, FALSE }, { 1, 2, TRUE, 1, FALSE },
                { 76, 2, TRUE, 76, FALSE }, { 0, 2, TRUE, 0, FALSE },    { 0, 2, FALSE, 0, TRUE },
                { 0, 0, FALSE, 0, FALSE },  { 1, 2, FALSE, 1, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = make_folder ();
      char *argv[] = { NULL }, word[] = "word";
      const FolderRun run = { .id = word,
                              .name = word,
                              .program = word,
                              .argv = argv,
                              .folder = word,
                              .sockets = path,
                              .nodes = cases[i].nodes };
      int code;

      g_assert_true (folder_run_write (&run, path, NULL));
      write_text (path, "answer.code", "3\n");
      if (cases[i].has_answer)
        write_text (path, "answer", "42\n");
      g_assert_true (folder_end (path, cases[i].code, NULL, NULL));
      g_assert_true (folder_has_ended (path, &code, NULL));
      g_assert_cmpint (code, ==, cases[i].shown);
      g_assert_cmpint (folder_lacks_answer (path, cases[i].code), ==, cases[i].lacks);
      g_assert_true (folder_remove (path, NULL));
    }
}

/* Runs in a process of its own, since GLib reads these variables once. */
static void
make_without_sockets (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *root = folder_root ();
  char word[] = "word";
  FolderRun run = { .name = g_strdup (word), .program = word, .folder = word };

  g_setenv ("TMPDIR", "/nowhere", TRUE);
  g_assert_null (folder_create (&run, &error));
  g_assert_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED);
  g_assert_nonnull (strstr (error->message, "cannot make a folder for sockets in '/nowhere'"));
  g_assert_cmpint (g_rmdir (root), ==, 0); /* it is empty */
}

/* A run whose folder cannot be completed leaves no folder. */
static void
an_unfinished_folder_goes (void)
{
  if (g_test_subprocess ())
    {
      make_without_sockets ();
      return;
    }
  g_autofree char *path = make_folder (), *stem = g_strnfill (100, 'x');
  g_autofree char *state = g_build_filename (path, stem, NULL);
  g_autofree char *above = g_build_filename (state, "satin", NULL);

  g_setenv ("XDG_STATE_HOME", state, TRUE);
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed ();
  g_assert_true (g_rmdir (above) == 0 && g_rmdir (state) == 0 && g_rmdir (path) == 0);
}

int
main (int argc, char **argv)
{
  noted = g_string_new (NULL);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/folder-file/a-file-comes-in-pieces", a_file_comes_in_pieces);
  g_test_add_func ("/folder-file/what-is-safe-is-on-the-disk", what_is_safe_is_on_the_disk);
  g_test_add_func ("/folder-file/a-file-is-there-when-it-is-told", a_file_is_there_when_it_is_told);
  g_test_add_func ("/folder-file/a-file-is-renewed-in-two-places", a_file_is_renewed_in_two_places);
  g_test_add_func ("/folder-file/what-is-there-is-not-written", what_is_there_is_not_written);
  g_test_add_func ("/folder-file/a-code-is-a-byte", a_code_is_a_byte);
  g_test_add_func ("/folder-file/folders-of-others-stay", folders_of_others_stay);
  g_test_add_func ("/folder-file/names-have-a-length", names_have_a_length);
  g_test_add_func ("/folder-file/a-credential-is-whole", a_credential_is_whole);
  g_test_add_func ("/folder-file/a-file-is-shown-whole", a_file_is_shown_whole);
  g_test_add_func ("/folder-file/an-end-and-an-answer", an_end_and_an_answer);
  g_test_add_func ("/folder-file/an-unfinished-folder-goes", an_unfinished_folder_goes);
  g_test_add_func ("/folder-file/late-signals-change-nothing", late_signals_change_nothing);
  return g_test_run ();
}
