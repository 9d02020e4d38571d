/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the nodes of a run start, and what the run reports about them. test-sites tests which place
 * each gets. */
#include "launch/command-words.h"
#include "launch/spread.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static char *folder;

static char *
write_file (const char *name, const char *text)
{
  char *path = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  return path;
}

static void
clear_run (FolderRun *run)
{
  g_free (run->listen);
  *run = (FolderRun){ 0 };
}

/* Puts a fake ssh into PATH that knows the addresses of names. */
static void
put_ssh_in_path (void)
{
  g_autofree char *ssh = write_file ("ssh", "#!/bin/sh\n"
                                            "echo \"$*\" >\"$0.words\"\n"
                                            "for last; do :; done\n"
                                            "echo user me\n"
                                            "[ $last = alias ] && echo hostname 127.0.0.1\n"
                                            "echo port 22\n");
  g_autofree char *path = g_strconcat (folder, ":", g_getenv ("PATH"), NULL);

  g_assert_cmpint (g_chmod (ssh, 0700), ==, 0);
  g_setenv ("PATH", path, TRUE);
}

static void
listens_and_workers (void)
{
  int cores = (int)g_get_num_processors ();
  const struct
  {
    const char *text;
    int workers;
    int nodes, of_run,
        of_first; /* the number of nodes; workers of the run, and of the first site */
    gboolean tcp;
    const char *listen; /* NULL: it is not decided here */
    int port_last;
  } cases[] = {
    { "[site me]\nnodes = 2\n", 0, 2, MAX (1, cores / 2), 0, FALSE, NULL, 0 },
    { "[site me]\nnodes = 2\n", 5, 2, 0, 5, FALSE, NULL, 0 },
    { "[site me]\nnodes = 2\nworkers = 3\n[site b]\nhosts = 127.0.0.1:2\nlauncher = command\n"
      "command = x\n",
      5, 4, 0, 3, TRUE, "127.0.0.1", 0 },
    { "[site me]\nnodes = 1\nlisten = 192.0.2.9\nports = 7000-7010\n", 0, 1, cores, 0, TRUE,
      "192.0.2.9", 7010 },
    { "[site b]\nhosts = alias\nports = 7000-7010\n", 0, 1, cores, 0, TRUE, NULL, 0 },
    { "[site b]\nhosts = alias\n[site me]\nnodes = 1\n", 0, 2, cores, 0, TRUE, "127.0.0.1", 0 },
    { "[site b]\nhosts = alias\noptions = -p 22\n[site me]\nnodes = 1\n", 0, 2, cores, 0, TRUE,
      "127.0.0.1", 0 },
    { "[site b]\nhosts = 127.0.0.1\n[site me]\nnodes = 1\n", 0, 2, cores, 0, TRUE, "127.0.0.1", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *file = write_file ("sites", cases[i].text), *text = NULL;
      g_autoptr (GPtrArray) sites = NULL;
      FolderRun run = { 0 };

      g_assert_cmpint (spread_read (&run, file, cases[i].workers, &sites, &text), ==, COMMAND_DONE);
      g_assert_cmpstr (text, ==, cases[i].text);
      g_assert_cmpint (run.nodes, ==, cases[i].nodes);
      g_assert_cmpint (run.workers, ==, cases[i].of_run);
      g_assert_cmpint (((Site *)sites->pdata[0])->workers, ==, cases[i].of_first);
      g_assert_cmpint (run.tcp, ==, cases[i].tcp);
      g_assert_cmpstr (run.listen, ==, cases[i].listen);
      g_assert_cmpint (run.port_last, ==, cases[i].port_last);
      g_assert_cmpint (run.port_first, ==, cases[i].port_last > 0 ? 7000 : 0);
      clear_run (&run);
    }
}

/* An address that the user gave is used. */
static void
what_was_said_holds (void)
{
  g_autofree char *file
      = write_file ("sites", "[site me]\nnodes = 1\nlisten = 192.0.2.9\n[site b]\nhosts = alias\n");
  g_autofree char *text = NULL;
  g_autoptr (GPtrArray) sites = NULL;
  FolderRun run = { .listen = g_strdup ("192.0.2.1") };

  g_assert_cmpint (spread_read (&run, file, 0, &sites, &text), ==, COMMAND_DONE);
  g_assert_cmpstr (run.listen, ==, "192.0.2.1");
  g_assert_true (run.tcp);
  clear_run (&run);
}

/* A name in the user's ssh configuration has the address given there, with the options of the
 * site. */
static void
ssh_is_asked (void)
{
  g_autofree char *file = write_file (
      "sites", "[site b]\nhosts = alias\noptions = -p 22 -l me\n[site me]\nnodes = 1\n");
  g_autofree char *text = NULL;
  g_autoptr (GPtrArray) sites = NULL;
  FolderRun run = { 0 };

  g_assert_cmpint (spread_read (&run, file, 0, &sites, &text), ==, COMMAND_DONE);
  g_assert_cmpstr (run.listen, ==, "127.0.0.1");
  g_autoptr (GBytes) words = folder_bytes (folder, "ssh.words", NULL);
  const char *wanted = "-G -p 22 -l me -- alias\n";
  g_assert_cmpmem (g_bytes_get_data (words, NULL), g_bytes_get_size (words), wanted,
                   strlen (wanted));
  clear_run (&run);
}

static void
no_file_and_a_wrong_one (void)
{
  g_autofree char *file = write_file ("sites", "nonsense");
  FolderRun run = { .nodes = 3, .workers = 2 };
  GPtrArray *sites = (GPtrArray *)&run;
  char *text = file;

  g_assert_cmpint (spread_read (&run, NULL, 0, &sites, &text), ==, COMMAND_DONE);
  g_assert_true (sites == NULL && text == NULL && run.nodes == 3 && run.workers == 2 && !run.tcp);
  g_assert_cmpint (spread_read (&run, file, 0, &sites, &text), ==, COMMAND_USAGE);
  g_assert_null (sites);
  g_free (text);
}

static void
the_file_is_kept (void)
{
  g_assert_true (spread_keep (NULL, "/nonexistent", NULL));
  g_assert_true (spread_keep ("[site a]\n", folder, NULL));
  g_autoptr (GBytes) bytes = folder_bytes (folder, FOLDER_SITES, NULL);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), "[site a]\n", 9);
  g_assert_false (spread_keep ("[site a]\n", "/nonexistent", NULL));
}

/* Addresses of living nodes at which other hosts can reach this host. */
static void
peers_of_a_new_node (void)
{
  const gint64 nobody = 2147483646;
  const gint64 pids[] = { getpid (), getppid (), nobody };

  for (guint i = 0; i < G_N_ELEMENTS (pids); i++)
    {
      g_autofree char *name = folder_node_file (pids[i], FOLDER_NODE_ADDRESS);
      g_autofree char *text = g_strdup_printf ("unix:/x\ntcp:192.0.2.%u:1\n", i);
      g_autofree char *file = write_file (name, text);
    }
  g_autofree char *peers = spread_peers (folder);
  g_assert_cmpstr (peers, ==,
                   getpid () < getppid () ? "tcp:192.0.2.0:1\ntcp:192.0.2.1:1\n"
                                          : "tcp:192.0.2.1:1\ntcp:192.0.2.0:1\n");
}

static void
the_program_is_read (void)
{
  g_autofree char *file = write_file ("program", "bytes");
  g_autoptr (GBytes) bytes = spread_program (&(FolderRun){ .program = file });
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), "bytes", 5);
  g_assert_null (spread_program (&(FolderRun){ .program = folder }));
}

static void
cores_are_shared_out (void)
{
  int cores = (int)g_get_num_processors ();

  g_assert_cmpint (spread_workers (1), ==, cores);
  g_assert_cmpint (spread_workers (cores), ==, 1);
  g_assert_cmpint (spread_workers (cores + 1), ==, 1);
}

int
main (int argc, char **argv)
{
  folder = g_dir_make_tmp ("satin-spread-XXXXXX", NULL);
  put_ssh_in_path ();
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/spread/listens-and-workers", listens_and_workers);
  g_test_add_func ("/spread/what-was-said-holds", what_was_said_holds);
  g_test_add_func ("/spread/ssh-is-asked", ssh_is_asked);
  g_test_add_func ("/spread/no-file-and-a-wrong-one", no_file_and_a_wrong_one);
  g_test_add_func ("/spread/the-file-is-kept", the_file_is_kept);
  g_test_add_func ("/spread/peers-of-a-new-node", peers_of_a_new_node);
  g_test_add_func ("/spread/the-program-is-read", the_program_is_read);
  g_test_add_func ("/spread/cores-are-shared-out", cores_are_shared_out);
  int failed = g_test_run ();
  (void)folder_remove (folder, NULL);
  g_free (folder);
  return failed;
}
