/* SPDX-License-Identifier: BSD-3-Clause */
/* What only the host of a node knows: the address at which others reach it, and its number of
 * workers. */
#include "folder/relay.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <ifaddrs.h>
#include <net/if.h>

/* A node's address is its end of the launcher's connection, or of a connection to a peer. */
static void
a_node_finds_its_address (void)
{
  static const struct
  {
    const char *came, *peers, *address; /* NULL: the address of the host's name */
  } cases[] = { { "192.0.2.1 50000 192.0.2.2 22", "tcp:127.0.0.1:7000\n", "192.0.2.2" },
                { "fd00::1 50000 fd00::2 22", NULL, "fd00::2" },
                { "", "tcp:127.0.0.1:7000\ntcp:192.0.2.9:1\n", "127.0.0.1" },
                { "192.0.2.1 50000", "tcp:127.0.0.1:7000", "127.0.0.1" },
                { NULL, "unix:/x\n", NULL } };
  g_autofree char *folder = g_dir_make_tmp ("satin-relay-XXXXXX", NULL), *host = NULL;
  g_autofree char *peers = g_build_filename (folder, RELAY_PEERS, NULL);

  host = relay_host_address (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (FolderRun) run
          = { .sockets = g_strdup ("/x"), .listen = g_strdup (FOLDER_LISTEN_OWN) };
      const char *wanted = cases[i].address != NULL ? cases[i].address : host;

      g_unsetenv ("SSH_CONNECTION");
      if (cases[i].came != NULL)
        g_setenv ("SSH_CONNECTION", cases[i].came, TRUE);
      if (cases[i].peers != NULL)
        g_assert_true (g_file_set_contents (peers, cases[i].peers, -1, NULL));
      g_assert_cmpint (relay_place (&run, folder, NULL), ==, wanted != NULL);
      g_assert_cmpstr (run.listen, ==, wanted);
      g_assert_cmpstr (run.sockets, ==, "/x"); /* no launcher sent this node a folder */
      g_unlink (peers);
    }
  g_unsetenv ("SSH_CONNECTION");
  g_rmdir (folder);
}

static gboolean
has_outer_address (void)
{
  struct ifaddrs *all;
  gboolean found = FALSE;

  g_assert_cmpint (getifaddrs (&all), ==, 0);
  for (const struct ifaddrs *one = all; one != NULL; one = one->ifa_next)
    found = found
            || (one->ifa_addr != NULL && one->ifa_addr->sa_family == AF_INET
                && (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0);
  freeifaddrs (all);
  return found;
}

/* A host whose name resolves to 127.0.0.1, as it often does, is reached by another of its
 * addresses. */
static void
a_host_is_reached_from_outside (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = relay_host_address (&error);
  g_autoptr (GInetAddress) address = text != NULL ? g_inet_address_new_from_string (text) : NULL;

  g_assert_cmpint (text != NULL, ==, error == NULL);
  if (has_outer_address ())
    g_assert_false (address == NULL || g_inet_address_get_is_loopback (address));
}

/* By default a node has its share of the cores, and TCP stays within the host. */
static void
what_is_left_open_is_decided (void)
{
  guint cores = g_get_num_processors ();
  const struct
  {
    int workers, nodes, found;
    gboolean tcp;
  } cases[] = { { 3, 1, 3, FALSE },
                { 0, 1, (int)cores, TRUE },
                { 0, 0, (int)cores, FALSE },
                { 0, (int)cores, 1, TRUE },
                { 0, 1024, 1, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (FolderRun) run = { .sockets = g_strdup ("/x"),
                                 .workers = cases[i].workers,
                                 .nodes = cases[i].nodes,
                                 .tcp = cases[i].tcp };

      g_assert_true (relay_place (&run, "/nonexistent", NULL));
      g_assert_cmpint (run.workers, ==, cases[i].found);
      g_assert_cmpstr (run.listen, ==, cases[i].tcp ? "127.0.0.1" : NULL);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/relay-place/a-node-finds-its-address", a_node_finds_its_address);
  g_test_add_func ("/relay-place/a-host-is-reached-from-outside", a_host_is_reached_from_outside);
  g_test_add_func ("/relay-place/what-is-left-open-is-decided", what_is_left_open_is_decided);
  return g_test_run ();
}
