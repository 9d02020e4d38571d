/* SPDX-License-Identifier: BSD-3-Clause */
#include "folder/folder.h"
#include "folder/relay.h"
#include "launch/sites.h"
#include "launch/spread.h"
#include "satin/protocol/messages/message.h"

#include <glib/gstdio.h>

/* The protocol allows as many members. */
G_STATIC_ASSERT (FOLDER_NODES_MAX == MESSAGE_MEMBERS_MAX);

static GPtrArray *
read_text (const char *text, GError **error)
{
  g_autofree char *name = NULL;
  int fd = g_file_open_tmp ("satin-sites-XXXXXX", &name, NULL);
  g_close (fd, NULL);
  g_assert_true (g_file_set_contents (name, text, -1, NULL));
  GPtrArray *sites = sites_read (name, NULL, error);
  g_unlink (name);
  return sites;
}

static void
a_file_is_read (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) sites = read_text ("[site delft]\n"
                                           "hosts = fs0.delft fs1.delft:4\n"
                                           "workers = 2\n"
                                           "program = /home/me/bin/tsp\n"
                                           "ports = 7000-7010\n"
                                           "again = no\n"
                                           "# a remark\n"
                                           "[site vu]\n"
                                           "launcher = slurm\n"
                                           "nodes = 8\n"
                                           "options = --partition=short --time=30\n"
                                           "again = yes\n"
                                           "[site me]\n"
                                           "nodes = 3\n",
                                           &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sites->len, ==, 3);
  const Site *delft = sites->pdata[0], *vu = sites->pdata[1], *me = sites->pdata[2];

  g_assert_cmpint (delft->launcher, ==, SITE_SSH);
  g_assert_cmpuint (delft->hosts->len, ==, 2);
  g_assert_cmpstr (g_array_index (delft->hosts, SiteHost, 1).name, ==, "fs1.delft");
  g_assert_cmpint (g_array_index (delft->hosts, SiteHost, 1).nodes, ==, 4);
  g_assert_cmpint (delft->port_last, ==, 7010);
  g_assert_cmpint (vu->launcher, ==, SITE_SLURM);
  g_assert_cmpstr (vu->options[1], ==, "--time=30");
  g_assert_cmpint (g_array_index (vu->hosts, SiteHost, 0).nodes, ==, 8);
  g_assert_false (delft->again);
  g_assert_true (vu->again);
  g_assert_false (me->again);
  g_assert_cmpint (me->launcher, ==, SITE_LOCAL);
  g_assert_cmpint (g_array_index (me->hosts, SiteHost, 0).nodes, ==, 3);
  g_assert_cmpuint (sites_nodes (sites), ==, 1 + 4 + 8 + 3);
}

static void
files_as_people_write_them (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) sites = read_text ("\xef\xbb\xbf# a remark\r\n"
                                           "\r\n"
                                           "[site a]  \r\n"
                                           "  hosts =\tb ,, [fd00::5]:3;me@[::1] \t\r\n"
                                           "launcher=ssh \r\n"
                                           "workers = 2  \r\n"
                                           "ports = 7000 - 7100 \r\n"
                                           "program = \r\n"
                                           "setup = \r\n"
                                           "folder = ~/some where \r\n"
                                           "#hosts = c\r\n"
                                           "  # hosts = c\r\n"
                                           "#hosts = c\r\n"
                                           "#[site a]\r\n"
                                           "# [site a]\r\n",
                                           &error);

  g_assert_no_error (error);
  const Site *site = sites->pdata[0];
  g_assert_cmpint (site->hosts->len, ==, 3);
  g_assert_cmpstr (g_array_index (site->hosts, SiteHost, 1).name, ==, "fd00::5");
  g_assert_cmpint (g_array_index (site->hosts, SiteHost, 1).nodes, ==, 3);
  g_assert_cmpstr (g_array_index (site->hosts, SiteHost, 2).name, ==, "me@::1");
  g_assert_cmpint (g_array_index (site->hosts, SiteHost, 2).nodes, ==, 1);
  g_assert_cmpint (site->launcher, ==, SITE_SSH);
  g_assert_cmpint (site->workers, ==, 2);
  g_assert_cmpint (site->port_last, ==, 7100);
  g_assert_null (site->program);
  g_assert_null (site->setup);
  g_assert_cmpstr (site->folder, ==, "~/some where");
}

static void
wrong_files_are_refused (void)
{
  static const struct
  {
    const char *text, *words;
  } wrong[] = {
    { "", "names no site" },
    { "nonsense", "is not a key-value pair" },
    { "[site a]\nnodes=2\n[site b]\n[site a]\nnodes=1\n", "'[site a]' appears twice" },
    { "[delft]\nnodes = 1\n", "is not a site" },
    { "[site ]\nnodes = 1\n", "is not a site" },
    { "[site a b]\nnodes = 1\n", "is not a site" },
    { "[site a]\nhost = b\n", "unknown key 'host'" },
    { "[site a]\nlauncher = rsh\n", "not 'rsh'" },
    { "[site a]\nlauncher = ssh\n", "ssh needs hosts" },
    { "[site a]\nlauncher = local\nhosts = b\n", "leave hosts out" },
    { "[site a]\nhosts = b\nnodes = 2\n", "nodes conflicts with hosts" },
    { "[site a]\nagain = 1\n", "again takes yes or no, not '1'" },
    { "[site a]\nagain = Yes\n", "again takes yes or no, not 'Yes'" },
    { "[site a]\nhosts = b:0\n", "host:nodes" },
    { "[site a]\nhosts = b:x\n", "host:nodes" },
    { "[site a]\nhosts = b:-1\n", "host:nodes" },
    { "[site a]\nhosts = b:99999999999999999999\n", "host:nodes" },
    { "[site a]\nhosts = b:1024 c:1\n", "1025 nodes are more than the 1024" },
    { "[site a]\nhosts = b:512\n[site c]\nnodes = 513\n", "1025 nodes are more" },
    { "[site a]\nhosts = fd00::5\n", "takes brackets" },
    { "[site a]\nhosts = b:2:3\n", "takes brackets" },
    { "[site a]\nhosts = [::1\n", "is not a host" },
    { "[site a]\nhosts = [::1]x\n", "is not a host" },
    { "[site a]\nhosts = []\n", "is not a host" },
    { "[site a]\nhosts = :2\n", "is not a host" },
    { "[site a]\nhosts = b # the second one\n", "'#' is not a host" },
    { "[site a]\nhosts = b\nworkers = 1\nhosts = c\n", "'hosts' appears twice in '[site a]'" },
    { "[site a]\nhosts = b\nprogram = /home/jos\xe9/x\n", "program is not UTF-8" },
    { "[site jos\xe9]\nnodes = x\n", "jos\xef\xbf\xbd" }, /* the message is UTF-8 */
    { "nodes = 1\n[site a]\n", "does not start with a group" },
    { "[site a]\nhosts = -oProxyCommand=x\n", "is not a host" },
    { "[site a]\nhosts = [-oProxyCommand=x]\n", "is not a host" },
    { "[site a]\nhosts = -oProxyCommand=x@[::1]\n", "is not a host" },
    { "[site a]\nnodes = 0\n", "nodes takes a number" },
    { "[site a]\nworkers = many\n", "workers takes a number" },
    { "[site a]\nhosts = b\nports = 7000\n", "ports takes" },
    { "[site a]\nhosts = b\nports = 7000-6000\n", "ports takes" },
    { "[site a]\nhosts = b\nlisten = 0.0.0.0\n", "listen takes" },
    { "[site a]\nhosts = b\noptions = 'x\n", "words of a shell" },
    { "[site a]\nlauncher = command\n", "needs command" },
    { "[site a]\nlauncher = ssh\nhosts = b\ncommand = x\n", "command is for" },
    { "[site a]\nnodes = 1\noptions = -x\n", "options are for" },
    { "[site a]\nnodes = 1\nprogram = /x\n", "not for the launcher local" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;
      g_assert_null (read_text (wrong[i].text, &error));
      g_assert_nonnull (error);
      if (strstr (error->message, wrong[i].words) == NULL)
        g_error ("'%s' was refused with '%s'", wrong[i].text, error->message);
    }
}

static void
words_of_launchers (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) sites
      = read_text ("[site a]\nhosts = b\noptions = -p 22\n"
                   "[site c]\nlauncher = slurm\nnodes = 1\noptions = --time=1\n"
                   "[site d]\ncommand = go to {node} and {run} there\nnodes = 1\n",
                   &error);
  g_assert_no_error (error);
  g_auto (GStrv) ssh = site_argv (sites->pdata[0], "/run", "b", 1, "echo 'x y'", 0);
  g_unsetenv ("SLURM_JOB_ID");
  g_auto (GStrv) batch = site_argv (sites->pdata[1], "/run", NULL, 1, "line", 7);
  g_setenv ("SLURM_JOB_ID", "1", TRUE);
  g_auto (GStrv) srun = site_argv (sites->pdata[1], "/run", NULL, 1, "line", 0);
  g_auto (GStrv) other = site_argv (sites->pdata[2], "/run", NULL, 7, "line", 0);
  g_autofree char *all = g_strjoinv ("|", other);

  g_assert_true (g_strv_contains ((const char *const *)ssh, "BatchMode=yes"));
  g_assert_cmpstr (ssh[g_strv_length (ssh) - 3], ==, "--"); /* no host can be taken for an option */
  g_assert_cmpstr (ssh[g_strv_length (ssh) - 2], ==, "b");
  g_assert_cmpstr (ssh[g_strv_length (ssh) - 1], ==, "exec sh -c 'echo '\\''x y'\\'''");
  g_assert_cmpstr (srun[g_strv_length (srun) - 1], ==, "line");
  g_assert_true (g_strv_contains ((const char *const *)srun, "--time=1"));
  g_autofree char *words = g_strjoinv ("|", batch + 1);
  g_assert_cmpstr (words, ==, "batch-node|/run|7|line|--time=1");
  g_assert_cmpstr (all, ==, "go|to|7|and|line|there");
}

/* A shell makes the same words again of any arguments and paths. */
static void
arguments_survive_the_shell (void)
{
  g_autoptr (GPtrArray) sites = read_text ("[site d]\ncommand = sh -c\nnodes = 1\n", NULL);
  char *argv[] = { (char *)"a b", (char *)"'", (char *)"$HOME;`x`", (char *)"", NULL };
  g_autofree char *line = site_line (sites->pdata[0], "/bin/echo", argv, "/", 0);
  g_auto (GStrv) words = site_argv (sites->pdata[0], "/run", NULL, 1, line, 0);
  g_autofree char *said = NULL;
  g_assert_true (
      g_spawn_sync (NULL, words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &said, NULL, NULL, NULL));
  g_assert_cmpstr (said, ==, "a b ' $HOME;`x` \n");
}

/* A far node's malloc caches as little as on this host, unless the user there has set something
 * else. */
static void
home_is_the_one_there (void)
{
  g_autoptr (GPtrArray) sites = read_text ("[site d]\ncommand = env HOME=/usr sh -c\n"
                                           "program = ~/bin/echo\nfolder = ~/lib\n"
                                           "setup = pwd\n",
                                           NULL);
  char *argv[] = { (char *)"~/x", NULL };
  g_autofree char *line = site_line (sites->pdata[0], "/none", argv, "/", 0);
  g_auto (GStrv) words = site_argv (sites->pdata[0], "/run", NULL, 1, line, 0);
  g_autofree char *said = NULL, *aside = NULL;

  g_assert_true (
      g_spawn_sync (NULL, words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &said, &aside, NULL, NULL));
  g_assert_cmpstr (said, ==, "~/x\n");
  g_assert_cmpstr (aside, ==, "/usr/lib\n");
}

/* If the launcher's folder does not exist on its host, a node works in the home; the folder of its
 * site must exist. */
static void
a_folder_may_be_missing (void)
{
  for (int said = FALSE; said <= TRUE; said++)
    {
      g_autofree char *text = g_strconcat ("[site d]\ncommand = env HOME=/usr sh -c\n",
                                           said ? "folder = /nonexistent\n" : "", NULL);
      g_autoptr (GPtrArray) sites = read_text (text, NULL);
      g_autofree char *line = site_line (sites->pdata[0], "pwd", NULL, "/nonexistent", 0);
      g_auto (GStrv) words = site_argv (sites->pdata[0], "/run", NULL, 1, line, 0);
      g_autofree char *printed = NULL, *aside = NULL;
      int status;

      g_assert_true (g_spawn_sync (NULL, words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &printed,
                                   &aside, &status, NULL));
      g_assert_cmpstr (printed, ==, said ? "" : "/usr\n");
      g_assert_cmpint (status == 0, ==, !said);
    }
}

static void
what_is_set_is_left_alone (void)
{
  g_autoptr (GPtrArray) sites = read_text (
      "[site d]\ncommand = env -u G_SLICE GLIBC_TUNABLES=glibc.malloc.tcache_max=64 sh -c\n", NULL);
  char *argv[] = { (char *)"G_SLICE", (char *)"GLIBC_TUNABLES", NULL };
  g_autofree char *line = site_line (sites->pdata[0], "printenv", argv, "/", 0);
  g_auto (GStrv) words = site_argv (sites->pdata[0], "/run", NULL, 1, line, 0);
  g_autofree char *said = NULL;
  g_assert_true (
      g_spawn_sync (NULL, words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &said, NULL, NULL, NULL));
  g_assert_cmpstr (said, ==, "always-malloc\nglibc.malloc.tcache_max=64\n");
}

static void
frames_of_the_relay (void)
{
  g_autofree char *name = NULL, *header = relay_header ("node-7.stats", 12);
  gsize size = 0;
  g_assert_cmpstr (header, ==, "file node-7.stats 12\n");
  g_assert_cmpint (relay_parse ("file node-7.stats 12", &name, &size), ==, RELAY_FILE);
  g_assert_cmpstr (name, ==, "node-7.stats");
  g_assert_cmpuint (size, ==, 12);
  g_clear_pointer (&name, g_free);
  g_assert_cmpint (relay_parse ("file answer 5000000000", &name, &size), ==, RELAY_FILE);
  g_assert_cmpuint (size, ==, 5000000000);
  g_clear_pointer (&name, g_free);
  g_assert_cmpint (relay_parse ("kept answer", &name, &size), ==, RELAY_KEPT);
  g_assert_cmpstr (name, ==, "answer");
  g_clear_pointer (&name, g_free);
  g_assert_cmpint (relay_parse ("lost end", &name, &size), ==, RELAY_LOST);
  g_assert_cmpstr (name, ==, "end");
  g_assert_cmpint (relay_parse ("go", NULL, NULL), ==, RELAY_GO);
  g_assert_cmpint (relay_parse ("quit", NULL, NULL), ==, RELAY_QUIT);
  const char *const wrong[]
      = { "",           "file",      "file x",     "file ../x 1", "file .x 1",
          "file a/b 1", "file x -1", "file x 1 2", "file x 1e3",  "file x 9223372036854775808",
          "go on",      "kept",      "lost ../x",  "kept x 1",    "Last login: today" };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    g_assert_cmpint (relay_parse (wrong[i], NULL, NULL), ==, RELAY_WRONG);
}

/* (transfer full): "SITE HOST NUMBER/HERE xWORKERS" for each node, with a star for a far node. */
static char *
places_text (const FolderRun *run, const GPtrArray *sites)
{
  g_autoptr (GArray) places = spread_places (run, sites, 5);
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < places->len; i++)
    {
      const Spot *place = &g_array_index (places, Spot, i);
      g_string_append_printf (text, "%s%s %s %d/%d x%d", i > 0 ? ", " : "",
                              place->site != NULL ? place->site->name : "-",
                              place->host != NULL ? place->host : "-", place->number, place->here,
                              place->workers);
      if (spot_is_far (place))
        g_string_append_c (text, '*');
    }
  return g_string_free (text, FALSE);
}

/* Nodes of this host come first. Numbers count within a site, and the nodes of a host over all
 * sites. */
static void
nodes_are_spread (void)
{
  FolderRun run = { .nodes = 2 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) sites = read_text ("[site delft]\n"
                                           "hosts = fs0 fs1:2 fs0\n"
                                           "workers = 3\n"
                                           "[site me]\n"
                                           "nodes = 2\n"
                                           "[site vu]\n"
                                           "launcher = slurm\n"
                                           "nodes = 2\n"
                                           "[site two]\n"
                                           "hosts = fs1\n",
                                           &error);
  g_assert_no_error (error);
  g_autofree char *none = places_text (&run, NULL), *all = places_text (&run, sites);
  g_assert_cmpstr (none, ==, "- - 1/2 x5, - - 2/2 x5");
  g_assert_cmpstr (all, ==,
                   "me - 1/2 x0, me - 2/2 x0,"
                   " delft fs0 1/2 x3*, delft fs1 2/3 x3*, delft fs1 3/3 x3*, delft fs0 4/2 x3*,"
                   " vu - 1/1 x0*, vu - 2/1 x0*, two fs1 1/3 x0*");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sites/a-file-is-read", a_file_is_read);
  g_test_add_func ("/sites/files-as-people-write-them", files_as_people_write_them);
  g_test_add_func ("/sites/wrong-files-are-refused", wrong_files_are_refused);
  g_test_add_func ("/sites/words-of-launchers", words_of_launchers);
  g_test_add_func ("/sites/arguments-survive-the-shell", arguments_survive_the_shell);
  g_test_add_func ("/sites/home-is-the-one-there", home_is_the_one_there);
  g_test_add_func ("/sites/a-folder-may-be-missing", a_folder_may_be_missing);
  g_test_add_func ("/sites/what-is-set-is-left-alone", what_is_set_is_left_alone);
  g_test_add_func ("/sites/frames-of-the-relay", frames_of_the_relay);
  g_test_add_func ("/sites/nodes-are-spread", nodes_are_spread);
  return g_test_run ();
}
