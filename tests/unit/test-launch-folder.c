/* SPDX-License-Identifier: BSD-3-Clause */
/* What the launcher writes into a new run's folder, in a state folder of this test. */
#include "folder/folder-run.h"
#include "launch/launch-folder.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static char *state;

static FolderRun
a_run (const char *name)
{
  return (FolderRun){ .name = g_strdup (name),
                      .program = g_strdup ("/opt/fib"),
                      .argv = g_new0 (char *, 1),
                      .folder = g_strdup ("/"),
                      .launcher_pid = getpid () };
}

static void
stands (const char *path, const char *file, const char *wanted)
{
  g_autoptr (GBytes) bytes = folder_bytes (path, file, NULL);

  if (wanted == NULL)
    g_assert_null (bytes);
  else
    g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), wanted,
                     strlen (wanted));
}

/* The folder has the secrets for all nodes, the sites for nodes of `satin add`, and the copy of the
 * checkpoint for the founder, which is then nowhere else. */
static void
all_that_nodes_need_is_there (void)
{
  g_auto (FolderRun) run = a_run ("whole");
  g_autofree char *copy = g_build_filename (state, "copy", NULL);
  const LaunchWish wish = { .sites_text = "[site a]\n", .copy = copy };

  g_assert_true (g_file_set_contents (copy, "bytes", 5, NULL));
  g_autofree char *path = launch_folder_make (&run, &wish);
  g_assert_nonnull (path);
  stands (path, FOLDER_SITES, "[site a]\n");
  stands (path, FOLDER_COPY, "bytes");
  g_assert_false (g_file_test (copy, G_FILE_TEST_EXISTS));
  g_assert_cmpint (folder_size (path, FOLDER_KEY_FILE), >, 0);
  g_assert_cmpint (folder_size (path, FOLDER_FILE_CREDENTIAL), ==, 64);
  g_assert_true (folder_remove (path, NULL));
}

/* The name of a living run is refused; a launch that only suggested a name gets a free one. */
static void
a_taken_name_is_a_wish (void)
{
  g_auto (FolderRun) first = a_run ("taken"), second = a_run ("taken"), third = a_run ("taken");
  g_autofree char *path = launch_folder_make (&first, &(LaunchWish){ 0 });

  g_assert_null (launch_folder_make (&second, &(LaunchWish){ 0 }));
  g_autofree char *other = launch_folder_make (&third, &(LaunchWish){ .any_name = TRUE });
  g_assert_nonnull (other);
  g_assert_cmpstr (other, !=, path);
  g_assert_cmpstr (third.name, !=, "taken");
  g_assert_true (folder_remove (path, NULL) && folder_remove (other, NULL));
}

/* `save --to` gives a checkpoint to a run without one, and never replaces one. */
static void
a_checkpoint_may_come_later (void)
{
  g_auto (FolderRun) run = a_run ("later"), now = { 0 };
  g_autofree char *path = launch_folder_make (&run, &(LaunchWish){ 0 });

  g_assert_true (folder_read (path, &now, NULL));
  now.checkpoint = g_strdup ("/new");
  g_assert_true (folder_run_write (&now, path, NULL));
  launch_folder_refresh (&run, path);
  g_assert_cmpstr (run.checkpoint, ==, "/new");
  g_free (run.checkpoint);
  run.checkpoint = g_strdup ("/own");
  launch_folder_refresh (&run, path);
  g_assert_cmpstr (run.checkpoint, ==, "/own");
  g_assert_true (folder_remove (path, NULL));
}

static void
some_process_lives (void)
{
  g_auto (FolderRun) run = a_run ("lives");
  g_autofree char *path = launch_folder_make (&run, &(LaunchWish){ 0 });
  g_autofree char *own = folder_node_file (getpid (), FOLDER_NODE_ADDRESS);
  g_autofree char *dead = folder_node_file (2147483646, FOLDER_NODE_ADDRESS);

  g_assert_false (launch_folder_lives (path, FOLDER_NODE_ADDRESS));
  g_assert_true (folder_claim (path, dead));
  g_assert_false (launch_folder_lives (path, FOLDER_NODE_ADDRESS));
  g_assert_true (folder_claim (path, own));
  g_assert_true (launch_folder_lives (path, FOLDER_NODE_ADDRESS));
  g_assert_false (launch_folder_lives (path, FOLDER_NODE_STAYS));
  g_assert_true (folder_remove (path, NULL));
}

int
main (int argc, char **argv)
{
  state = g_dir_make_tmp ("satin-launch-XXXXXX", NULL);
  g_setenv ("XDG_STATE_HOME", state, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/launch-folder/all-that-nodes-need-is-there", all_that_nodes_need_is_there);
  g_test_add_func ("/launch-folder/a-taken-name-is-a-wish", a_taken_name_is_a_wish);
  g_test_add_func ("/launch-folder/a-checkpoint-may-come-later", a_checkpoint_may_come_later);
  g_test_add_func ("/launch-folder/some-process-lives", some_process_lives);
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
