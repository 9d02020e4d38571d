/* SPDX-License-Identifier: BSD-3-Clause */
/* See spread.h. Tests: sites.sh, test-sites. */
#include "spread.h"
#include "command-words.h"
#include "start.h"

#include "folder/relay.h"

#include <string.h>

gboolean
spot_is_far (const Spot *place)
{
  return place->site != NULL && place->site->launcher != SITE_LOCAL;
}

static void
add_site (GArray *places, const Site *site, gboolean far)
{
  int number = 0;

  for (guint i = 0; i < site->hosts->len; i++)
    {
      const SiteHost *host = &g_array_index (site->hosts, SiteHost, i);
      gboolean alone = site->launcher != SITE_LOCAL && host->name == NULL;

      for (int k = 0; k < host->nodes; k++)
        {
          Spot place = { site, host->name, ++number, alone ? 1 : host->nodes, site->workers };
          if (spot_is_far (&place) == far)
            g_array_append_val (places, place);
        }
    }
}

/* Sets `here`: a host may be named more than once, and its nodes share its cores. */
static void
count_here (GArray *places)
{
  g_autoptr (GHashTable) nodes = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < places->len; i++)
    {
      const char *host = g_array_index (places, Spot, i).host;
      if (host != NULL)
        g_hash_table_insert (
            nodes, (char *)host,
            GINT_TO_POINTER (GPOINTER_TO_INT (g_hash_table_lookup (nodes, host)) + 1));
    }
  for (guint i = 0; i < places->len; i++)
    {
      Spot *place = &g_array_index (places, Spot, i);
      if (place->host != NULL)
        place->here = GPOINTER_TO_INT (g_hash_table_lookup (nodes, place->host));
    }
}

GArray *
spread_places (const FolderRun *run, const GPtrArray *sites, int workers)
{
  GArray *places = g_array_new (FALSE, FALSE, sizeof (Spot));

  for (int i = 0; sites == NULL && i < run->nodes; i++)
    {
      Spot place = { NULL, NULL, i + 1, run->nodes, workers };
      g_array_append_val (places, place);
    }
  for (int far = FALSE; sites != NULL && far <= TRUE; far++)
    for (guint i = 0; i < sites->len; i++)
      add_site (places, sites->pdata[i], far);
  count_here (places);
  return places;
}

/* The host's name or address as the user's configuration of ssh has it. (transfer full) */
static char *
ssh_host_name (const Site *site, const char *host)
{
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();
  g_autofree char *text = NULL;

  g_strv_builder_add_many (words, "ssh", "-G", NULL);
  if (site->options != NULL)
    g_strv_builder_addv (words, (const char **)site->options);
  g_strv_builder_add_many (words, "--", host, NULL);
  g_auto (GStrv) argv = g_strv_builder_end (words);
  if (!g_spawn_sync (NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                     &text, NULL, NULL, NULL))
    return g_strdup (host);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (int i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], "hostname "))
      return g_strdup (strchr (lines[i], ' ') + 1);
  return g_strdup (host);
}

/* The address of this host by which it reaches a host of the site. (transfer full) (nullable) */
static char *
address_towards (const Site *site, GError **error)
{
  char *address = NULL;

  for (guint i = 0; i < site->hosts->len && address == NULL; i++)
    {
      const char *host = g_array_index (site->hosts, SiteHost, i).name;
      g_autofree char *name = host == NULL                 ? NULL
                              : site->launcher == SITE_SSH ? ssh_host_name (site, host)
                                                           : g_strdup (host);
      g_clear_error (error);
      if (name != NULL)
        address = relay_address_towards (name, error);
    }
  /* Only ssh requires that a host is a name that resolves. */
  if (address == NULL && site->launcher != SITE_SSH)
    {
      g_clear_error (error);
      address = relay_host_address (NULL);
    }
  return address;
}

/* Sets run->tcp and run->listen, unless they are set, if some site is on other hosts. `here`: some
 * node is on this host. */
static void
decide_listen (FolderRun *run, const GPtrArray *sites, gboolean here)
{
  g_autoptr (GError) cause = NULL;

  for (guint i = 0; i < sites->len; i++)
    {
      const Site *site = sites->pdata[i];
      if (site->launcher != SITE_LOCAL)
        run->tcp = TRUE;
      else if (run->listen == NULL)
        run->listen = g_strdup (site->listen);
      if (site->launcher == SITE_LOCAL && site->port_first > 0)
        {
          run->port_first = site->port_first;
          run->port_last = site->port_last;
        }
    }
  run->tcp = run->tcp || run->listen != NULL;
  for (guint i = 0; here && run->tcp && run->listen == NULL && i < sites->len; i++)
    if (((Site *)sites->pdata[i])->launcher != SITE_LOCAL)
      run->listen = address_towards (sites->pdata[i], &cause);
  if (run->listen != NULL || cause == NULL)
    return;
  run->listen = relay_host_address (NULL);
  command_say ("other hosts may not reach this one (%s): it listens at %s; "
               "--listen ADDRESS sets another address",
               cause->message, run->listen != NULL ? run->listen : "127.0.0.1");
}

int
spread_read (FolderRun *run, const char *file, int workers, GPtrArray **sites, char **text)
{
  g_autoptr (GPtrArray) found = NULL;
  g_autoptr (GArray) places = NULL;
  g_autoptr (GError) error = NULL;
  int here = 0;

  *sites = NULL;
  *text = NULL;
  if (file == NULL)
    return COMMAND_DONE;
  found = sites_read (file, text, &error);
  if (found == NULL)
    return command_say ("%s", error->message), COMMAND_USAGE;
  places = spread_places (run, found, 0);
  for (guint i = 0; i < places->len; i++)
    here += !spot_is_far (&g_array_index (places, Spot, i));
  run->nodes = (int)places->len;
  if (workers == 0)
    run->workers = spread_workers (MAX (1, here));
  for (guint i = 0; i < found->len; i++)
    if (((Site *)found->pdata[i])->workers == 0)
      ((Site *)found->pdata[i])->workers = workers;
  decide_listen (run, found, here > 0);
  *sites = g_steal_pointer (&found);
  return COMMAND_DONE;
}

gboolean
spread_keep (const char *text, const char *path, GError **error)
{
  if (text == NULL)
    return TRUE;
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
  return folder_write (path, FOLDER_SITES, bytes, error);
}

GBytes *
spread_program (const FolderRun *run)
{
  char *bytes;
  gsize size;

  return g_file_get_contents (run->program, &bytes, &size, NULL) ? g_bytes_new_take (bytes, size)
                                                                 : NULL;
}

gboolean
spread_start (const Spot *place, const FolderRun *run, const char *path, gboolean founder,
              GBytes *copy, Started *started, GError **error)
{
  *started = (Started){ .pid = -1, .site = place->site != NULL ? place->site->name : NULL };
  if (spot_is_far (place))
    {
      started->far = far_start (run, path, place->site, place->host, place->number, place->here,
                                founder, copy, error);
      if (started->far != NULL)
        started->pid = far_pid (started->far);
    }
  else
    started->pid = start_node (
        run, path,
        &(StartWish){ .founder = founder, .workers = place->workers, .site = started->site },
        error);
  return started->pid > 0;
}

static void
clear_started (gpointer data)
{
  g_clear_pointer (&((Started *)data)->far, far_free);
}

GArray *
spread_nodes (void)
{
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (Started));

  g_array_set_clear_func (nodes, clear_started);
  return nodes;
}

gboolean
spread_brings (const GArray *nodes, gboolean *live, gboolean *unkept)
{
  gboolean brings = FALSE;

  *live = FALSE;
  for (guint i = 0; i < nodes->len; i++)
    {
      const Started *node = &g_array_index (nodes, Started, i);

      if (node->far == NULL)
        continue;
      *live = *live || !node->gone;
      brings = brings || far_brings (node->far);
      *unkept = *unkept || far_keeps_answer (node->far);
    }
  return brings;
}

char *
spread_peers (const char *path)
{
  g_autoptr (GString) peers = g_string_new (NULL);
  g_autoptr (GArray) pids = folder_pids (path, FOLDER_NODE_ADDRESS);

  for (guint i = 0; i < pids->len; i++)
    {
      gint64 pid = g_array_index (pids, gint64, i);
      g_auto (GStrv) addresses
          = folder_pid_is_live (path, pid) ? folder_addresses (path, pid) : NULL;

      for (int k = 0; addresses != NULL && addresses[k] != NULL; k++)
        if (g_str_has_prefix (addresses[k], "tcp:"))
          g_string_append_printf (peers, "%s\n", addresses[k]);
    }
  return g_string_free (g_steal_pointer (&peers), FALSE);
}

GArray *
spread_pids (const GArray *nodes)
{
  GArray *pids = g_array_new (FALSE, FALSE, sizeof (gint64));

  for (guint i = 0; i < nodes->len; i++)
    {
      gint64 pid = g_array_index (nodes, Started, i).pid;
      g_array_append_val (pids, pid);
    }
  return pids;
}

int
spread_workers (int nodes)
{
  return MAX (1, (int)g_get_num_processors () / nodes);
}
