/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the files node-PID.trouble (node/report.c). The first line is the number of sentences that
 * the node has written so far. The last of these follow, one a line. The bytes are not trusted.
 * Tests: test-launch-words, stores.sh. */
#include "trouble.h"

#include "command-words.h"

#include "folder/folder.h"

#include <string.h>

struct Trouble
{
  char *path;
  GHashTable *counts; /* pid -> how many of its sentences were printed */
  GHashTable *said;   /* the sentences that were printed */
};

Trouble *
trouble_new (const char *path)
{
  Trouble *trouble = g_new0 (Trouble, 1);

  trouble->path = g_strdup (path);
  trouble->counts = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  trouble->said = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return trouble;
}

void
trouble_free (Trouble *trouble)
{
  if (trouble == NULL)
    return;
  g_hash_table_destroy (trouble->counts);
  g_hash_table_destroy (trouble->said);
  g_free (trouble->path);
  g_free (trouble);
}

gboolean
trouble_has_said (const Trouble *trouble, const char *sentence)
{
  return sentence != NULL ? g_hash_table_contains (trouble->said, sentence)
                          : g_hash_table_size (trouble->said) > 0;
}

/* The lines of the file as UTF-8 without control characters; the first one should be a number.
 * (transfer full) (nullable) */
static char **
read_lines (const char *path, gint64 pid)
{
  g_autofree char *file = folder_node_file (pid, FOLDER_NODE_TROUBLE);
  g_autoptr (GBytes) bytes = folder_bytes (path, file, NULL);
  g_autofree char *text = NULL;
  gsize size = 0;
  const char *data = bytes == NULL ? NULL : g_bytes_get_data (bytes, &size);

  if (size == 0)
    return NULL;
  text = g_utf8_make_valid (data, (gssize)size);
  for (char *c = text; *c != '\0'; c++)
    if (*c != '\n' && g_ascii_iscntrl (*c))
      *c = ' ';
  return g_strsplit (g_strchomp (text), "\n", -1);
}

static void
show_one (Trouble *trouble, gint64 pid)
{
  g_auto (GStrv) lines = read_lines (trouble->path, pid);
  guint n = lines == NULL || lines[0] == NULL ? 0 : g_strv_length (lines) - 1;
  guint all = n == 0 ? 0 : (guint)g_ascii_strtoull (lines[0], NULL, 10);
  guint before = GPOINTER_TO_UINT (g_hash_table_lookup (trouble->counts, &pid));
  guint fresh = all > before ? MIN (all - before, n) : 0;

  if (fresh == 0)
    return;
  for (guint i = n - fresh; i < n; i++)
    {
      command_say ("%s", lines[1 + i]);
      g_hash_table_add (trouble->said, g_strdup (lines[1 + i]));
    }
  g_hash_table_replace (trouble->counts, g_memdup2 (&pid, sizeof pid), GUINT_TO_POINTER (all));
}

void
trouble_show (Trouble *trouble)
{
  g_autoptr (GArray) pids = folder_pids (trouble->path, FOLDER_NODE_TROUBLE);

  for (guint i = 0; i < pids->len; i++)
    show_one (trouble, g_array_index (pids, gint64, i));
}
