/* SPDX-License-Identifier: BSD-3-Clause */
#include "claim.h"

#include "folder.h"

#include <string.h>
#include <unistd.h>

#define CLAIMS_MAX 1000
/* How long the launcher may take to start all nodes: so many pauses. */
#define STARTED_TRIES 40
#define STARTED_PAUSE_US 50000

/* The process that made claim `file`; 0: there is no such claim. */
static gint64
claimer (const char *folder, const char *file)
{
  g_autoptr (GBytes) bytes = folder_bytes (folder, file, NULL);
  if (bytes == NULL)
    return 0;
  g_autofree char *text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  return g_ascii_strtoll (text, NULL, 10);
}

/* (transfer full) (nullable): why process `pid` cannot found the run. */
static char *
unfit_for (const char *folder, gint64 pid)
{
  g_autofree char *file = folder_node_file (pid, FOLDER_NODE_UNFIT);
  g_autoptr (GBytes) bytes = folder_bytes (folder, file, NULL);
  return bytes != NULL ? g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes))
                       : NULL;
}

static gboolean
may_found (const char *folder, gint64 pid)
{
  g_autofree char *why = unfit_for (folder, pid);
  return why == NULL && folder_pid_is_live (folder, pid);
}

/* Each different reason, and the nodes that gave it. (transfer full) */
static char *
all_troubles (const char *folder)
{
  g_autoptr (GArray) pids = folder_pids (folder, FOLDER_NODE_UNFIT);
  g_autoptr (GHashTable) said = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < pids->len; i++)
    {
      char *why = unfit_for (folder, g_array_index (pids, gint64, i));
      const char *before = " (tried by";
      if (why == NULL || !g_hash_table_add (said, why))
        continue;
      g_string_append_printf (text, "%s%s", text->len > 0 ? "; " : "", why);
      for (guint k = i; k < pids->len; k++)
        {
          gint64 pid = g_array_index (pids, gint64, k);
          g_autofree char *other = unfit_for (folder, pid);
          if (g_strcmp0 (other, why) != 0)
            continue;
          g_string_append_printf (text, "%s node %" G_GINT64_FORMAT, before, pid);
          before = ",";
        }
      g_string_append_printf (text, " on %s)", g_get_host_name ());
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* (transfer full): the processes of the nodes that were started here (of gint64). */
static GArray *
all_started (const char *folder, guint nodes)
{
  GArray *pids = folder_pids (folder, FOLDER_NODE_LOG);
  for (guint i = 0; i < STARTED_TRIES && pids->len < nodes; i++)
    {
      g_usleep (STARTED_PAUSE_US);
      g_array_unref (pids);
      pids = folder_pids (folder, FOLDER_NODE_LOG);
    }
  return pids;
}

gboolean
claim_pass_on (const char *folder, guint nodes, const char *why, char **sentence)
{
  g_autofree char *file = folder_node_file (getpid (), FOLDER_NODE_UNFIT);
  g_autoptr (GBytes) bytes = g_bytes_new (why, strlen (why));
  g_autoptr (GArray) pids = all_started (folder, nodes);
  *sentence = NULL;
  if (!folder_write (folder, file, bytes, NULL))
    {
      *sentence = g_strdup (why);
      return FALSE;
    }
  for (guint i = 0; i < pids->len; i++)
    if (may_found (folder, g_array_index (pids, gint64, i)))
      return TRUE;
  *sentence = pids->len > 1 ? all_troubles (folder) : g_strdup (why);
  return FALSE;
}

gboolean
claim_founder (const char *folder)
{
  if (!may_found (folder, getpid ()))
    return FALSE;
  for (guint n = 0; n < CLAIMS_MAX; n++)
    {
      g_autofree char *file = g_strdup_printf (FOLDER_FOUNDER "%u", n);
      gint64 pid = claimer (folder, file);
      if (pid == 0)
        {
          g_autofree char *text = g_strdup_printf ("%d\n", (int)getpid ());
          g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
          if (!folder_write_first (folder, file, bytes, NULL))
            return FALSE;
          pid = claimer (folder, file);
        }
      if (pid == getpid ())
        return TRUE;
      if (pid == 0 || may_found (folder, pid))
        return FALSE;
    }
  return FALSE;
}
