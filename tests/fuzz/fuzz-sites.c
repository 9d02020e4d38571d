/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of --sites: an accepted file can be started, any other is refused with a message. */
#include "fuzz.h"

#include "launch/sites.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char fuzz_name[] = "sites";

GBytes *
fuzz_seed (guint n)
{
  static const char *const seeds[] = {
    "[site delft]\nhosts = fs0.delft fs1.delft:4\nworkers = 2\nprogram = /home/me/bin/tsp\nports = "
    "7000-7010\n"
    "# a remark\n[site vu]\nlauncher = slurm\nnodes = 8\noptions = --partition=short --time=30\n"
    "[site me]\nnodes = 3\n",
    "\xef\xbb\xbf[site a]\r\nhosts =\tb ,, [fd00::5]:3;me@[::1] \t\r\nlauncher=ssh\r\nfolder = "
    "~/some where\r\n",
    "[site d]\ncommand = sh -c 'go to {node} and {run}'\nnodes = 1\nsetup = module load x\nlisten "
    "= 10.0.0.1\n",
    "[site e]\nlauncher = local\nnodes = 4096\n"
  };
  return n < G_N_ELEMENTS (seeds) ? g_bytes_new_static (seeds[n], strlen (seeds[n])) : NULL;
}

/* Returns the number of nodes of the site. */
static int
check_site (const Site *site)
{
  char *argv[] = { (char *)"an argument", NULL };
  int nodes = 0;

  g_assert (site->name != NULL && site->name[0] != '\0');
  g_assert (site->workers >= 0 && site->port_first <= site->port_last);
  for (guint i = 0; i < site->hosts->len; i++)
    {
      const SiteHost *host = &g_array_index (site->hosts, SiteHost, i);
      g_assert (host->nodes > 0);
      g_assert (host->name == NULL || (host->name[0] != '\0' && host->name[0] != '-'));
      nodes += host->nodes;
      if (site->launcher == SITE_LOCAL)
        continue;
      g_autofree char *line = site_line (site, "/bin/program", argv, "/run", 0);
      g_auto (GStrv) words = site_argv (site, "/run", host->name, 1, line, 0);
      g_assert (words != NULL && words[0] != NULL);
    }
  return nodes;
}

void
fuzz_one (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  int fd = memfd_create ("sites", MFD_CLOEXEC), nodes = 0;
  g_autofree char *name = g_strdup_printf ("/proc/self/fd/%d", fd);

  g_assert (fd >= 0 && write (fd, data, size) == (gssize)size);
  g_autoptr (GPtrArray) sites = sites_read (name, &text, &error);
  close (fd);
  g_assert ((sites == NULL) == (error != NULL));
  g_assert (error == NULL || g_utf8_validate (error->message, -1, NULL));
  for (guint i = 0; sites != NULL && i < sites->len; i++)
    nodes += check_site (sites->pdata[i]);
  g_assert (sites == NULL || (nodes >= 1 && nodes <= 4096));
}
