/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the file `run` of a run's folder, and the names of files with a process number.
 * Any thread; blocks on a local disk. Knows nothing of nodes, sockets and checkpoints. Tests:
 * test-folder. */
#include "folder-run.h"

#include <glib/gstdio.h>
#include <string.h>

#define GROUP "run"
#define GROUP_OPTIONS "launch"
#define SOCKET_STEM "satin-"
/* Most lines read from node-PID.address. */
#define ADDRESSES_MAX 16
#define INTERVAL_LEAST_S 2.0 /* where Satin chooses */

void
folder_run_clear (FolderRun *run)
{
  g_free (run->id);
  g_free (run->name);
  g_free (run->program);
  g_strfreev (run->argv);
  g_free (run->folder);
  g_free (run->checkpoint);
  g_free (run->trace);
  g_free (run->listen);
  g_free (run->host);
  g_free (run->site);
  g_free (run->sockets);
  g_free (run->build);
  g_free (run->token);
  g_free (run->rows_token);
  memset (run, 0, sizeof *run);
}

/* A key file accepts only UTF-8, but paths and arguments may be other bytes: they are C-escaped. */
static void
put_text (GKeyFile *file, const char *key, const char *text)
{
  g_autofree char *escaped = text == NULL ? NULL : g_strescape (text, NULL);

  if (escaped != NULL)
    g_key_file_set_string (file, GROUP, key, escaped);
}

static char *
get_text (GKeyFile *file, const char *key)
{
  g_autofree char *escaped = g_key_file_get_string (file, GROUP, key, NULL);

  return escaped == NULL ? NULL : g_strcompress (escaped);
}

/* Each argument has its own key: lists of GKeyFile do not distinguish an empty list from one empty
 * argument. */
static void
put_argv (GKeyFile *file, char **argv)
{
  guint n = argv == NULL ? 0 : g_strv_length (argv);

  g_key_file_set_integer (file, GROUP, "argc", (int)n);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *key = g_strdup_printf ("argv%u", i);

      put_text (file, key, argv[i]);
    }
}

static char **
get_argv (GKeyFile *file)
{
  g_autoptr (GPtrArray) argv = g_ptr_array_new_with_free_func (g_free);
  int n = g_key_file_get_integer (file, GROUP, "argc", NULL);

  for (int i = 0; i < n; i++)
    {
      g_autofree char *key = g_strdup_printf ("argv%d", i);
      char *text = get_text (file, key);

      if (text == NULL)
        return NULL;
      g_ptr_array_add (argv, text);
    }
  g_ptr_array_add (argv, NULL);
  return (char **)g_ptr_array_free (g_steal_pointer (&argv), FALSE);
}

gboolean
folder_patience_fits (double heartbeat_s, double silence_s)
{
  return heartbeat_s >= FOLDER_HEARTBEAT_MIN_S && silence_s <= FOLDER_SILENCE_MAX_S
         && silence_s > FOLDER_SILENCE_HEARTBEATS * heartbeat_s - 1e-7; /* 0.3 is 3 times 0.1 */
}

/* In the order of the enum NodeSteal. */
static const char *const ways[] = { "crs", "rs", "mw" };

gboolean
folder_steal_read (const char *text, int *steal)
{
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    if (g_strcmp0 (text, ways[i]) == 0)
      {
        *steal = (int)i;
        return TRUE;
      }
  return FALSE;
}

static gboolean
read_interval (const char *text, char end, double *seconds, const char **rest)
{
  char *at;
  double value = g_ascii_strtod (text, &at);

  if (at == text || (*at != end && *at != '\0')
      || !(value >= FOLDER_INTERVAL_MIN_S && value <= FOLDER_INTERVAL_MAX_S))
    return FALSE;
  *seconds = value;
  *rest = *at == '\0' ? NULL : at + 1;
  return TRUE;
}

gboolean
folder_interval_read (const char *text, double *interval_s, double *keep_s)
{
  const char *rest = NULL;
  double publish = FOLDER_INTERVAL_AUTO_S, keep = 0;

  if (strcmp (text, "auto") != 0 && !read_interval (text, ',', &publish, &rest))
    return FALSE;
  if (rest != NULL && (!read_interval (rest, '\0', &keep, &rest) || keep > publish))
    return FALSE;
  *interval_s = publish;
  *keep_s = keep;
  return TRUE;
}

guint64
folder_interval_us (double interval_s)
{
  return (guint64)((interval_s > 0 ? interval_s : INTERVAL_LEAST_S) * 1e6);
}

static void
put_options (GKeyFile *file, const FolderRun *run)
{
  g_key_file_set_integer (file, GROUP_OPTIONS, "nodes", run->nodes);
  g_key_file_set_integer (file, GROUP_OPTIONS, "workers", run->workers);
  if (run->interval_s > 0)
    g_key_file_set_double (file, GROUP_OPTIONS, "interval", run->interval_s);
  if (run->keep_s > 0)
    g_key_file_set_double (file, GROUP_OPTIONS, "keep", run->keep_s);
  g_key_file_set_double (file, GROUP_OPTIONS, "heartbeat", run->heartbeat_s);
  g_key_file_set_double (file, GROUP_OPTIONS, "silence", run->silence_s);
  g_key_file_set_boolean (file, GROUP_OPTIONS, "tcp", run->tcp);
  g_key_file_set_string (file, GROUP_OPTIONS, "steal", ways[run->steal]);
  g_key_file_set_uint64 (file, GROUP_OPTIONS, "stack", run->stack);
  g_key_file_set_uint64 (file, GROUP_OPTIONS, "shared-memory", run->shared_memory);
}

/* Sets both or none, since they must fit each other. */
static void
get_patience (GKeyFile *file, FolderRun *run)
{
  double heartbeat_s = g_key_file_get_double (file, GROUP_OPTIONS, "heartbeat", NULL);
  double silence_s = g_key_file_get_double (file, GROUP_OPTIONS, "silence", NULL);

  if (!folder_patience_fits (heartbeat_s, silence_s))
    return;
  run->heartbeat_s = heartbeat_s;
  run->silence_s = silence_s;
}

static void
get_options (GKeyFile *file, FolderRun *run)
{
  int nodes = g_key_file_get_integer (file, GROUP_OPTIONS, "nodes", NULL);
  int workers = g_key_file_get_integer (file, GROUP_OPTIONS, "workers", NULL);
  double interval_s = g_key_file_get_double (file, GROUP_OPTIONS, "interval", NULL);
  double keep_s = g_key_file_get_double (file, GROUP_OPTIONS, "keep", NULL);
  g_autofree char *steal = g_key_file_get_string (file, GROUP_OPTIONS, "steal", NULL);

  if (nodes > 0 && nodes <= FOLDER_NODES_MAX)
    run->nodes = nodes;
  if (workers > 0)
    run->workers = MIN (workers, FOLDER_WORKERS_MAX); /* the host may have more cores */
  if (interval_s > 0 && interval_s <= FOLDER_INTERVAL_MAX_S)
    run->interval_s = interval_s;
  if (keep_s > 0 && keep_s <= FOLDER_INTERVAL_MAX_S)
    run->keep_s = keep_s;
  get_patience (file, run);
  (void)folder_steal_read (steal, &run->steal);
  run->tcp = g_key_file_get_boolean (file, GROUP_OPTIONS, "tcp", NULL);
  run->stack = g_key_file_get_uint64 (file, GROUP_OPTIONS, "stack", NULL);
  run->shared_memory = g_key_file_get_uint64 (file, GROUP_OPTIONS, "shared-memory", NULL);
}

char *
folder_options_write (const FolderRun *run)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();

  put_options (file, run);
  return g_key_file_to_data (file, NULL, NULL);
}

void
folder_options_read (const char *text, FolderRun *run)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();

  if (g_key_file_load_from_data (file, text, strlen (text), G_KEY_FILE_NONE, NULL))
    get_options (file, run);
}

char *
folder_run_data (const FolderRun *run, gsize *size)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();

  put_text (file, "id", run->id);
  put_text (file, "name", run->name);
  put_text (file, "program", run->program);
  put_argv (file, run->argv);
  put_text (file, "folder", run->folder);
  put_text (file, "checkpoint", run->checkpoint);
  put_text (file, "trace", run->trace);
  put_text (file, "listen", run->listen);
  put_text (file, "site", run->site);
  g_key_file_set_integer (file, GROUP, "port_first", run->port_first);
  g_key_file_set_integer (file, GROUP, "port_last", run->port_last);
  put_text (file, "sockets", run->sockets);
  g_key_file_set_boolean (file, GROUP, "resume", run->resume);
  g_key_file_set_int64 (file, GROUP, "launcher_pid", run->launcher_pid);
  put_text (file, "host", run->host);
  g_key_file_set_int64 (file, GROUP, "started_us", run->started_us);
  g_key_file_set_string (file, GROUP, "protect", plan_name (run->protect));
  g_key_file_set_double (file, GROUP, "verify", run->verify);
  g_key_file_set_boolean (file, GROUP, "closed", run->closed);
  g_key_file_set_boolean (file, GROUP, "invited", run->invited);
  g_key_file_set_boolean (file, GROUP, "mended", run->mended);
  put_text (file, "build", run->build);
  g_key_file_set_boolean (file, GROUP, "trust", run->trust);
  put_text (file, "token", run->token);
  put_text (file, "rows_token", run->rows_token);
  put_options (file, run);
  return g_key_file_to_data (file, size, NULL);
}

gboolean
folder_run_write (const FolderRun *run, const char *path, GError **error)
{
  gsize size;
  char *text = folder_run_data (run, &size);
  g_autoptr (GBytes) bytes = g_bytes_new_take (text, size);

  return folder_write (path, FOLDER_RUN_FILE, bytes, error);
}

gboolean
folder_read (const char *path, FolderRun *run, GError **error)
{
  g_autofree char *name = g_build_filename (path, FOLDER_RUN_FILE, NULL);
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) cause = NULL;
  g_auto (FolderRun) found = { .interval_s = FOLDER_INTERVAL_AUTO_S, .workers = 1 };

  if (!g_key_file_load_from_file (file, name, G_KEY_FILE_NONE, &cause))
    {
      g_set_error (error, FOLDER_ERROR,
                   g_error_matches (cause, G_FILE_ERROR, G_FILE_ERROR_NOENT) ? FOLDER_ERROR_ABSENT
                                                                             : FOLDER_ERROR_FAILED,
                   "cannot read '%s': %s", name, cause->message);
      return FALSE;
    }
  found.id = get_text (file, "id");
  found.name = get_text (file, "name");
  found.program = get_text (file, "program");
  found.argv = get_argv (file);
  found.folder = get_text (file, "folder");
  found.checkpoint = get_text (file, "checkpoint");
  found.trace = get_text (file, "trace");
  found.listen = get_text (file, "listen");
  found.site = get_text (file, "site");
  found.port_first = g_key_file_get_integer (file, GROUP, "port_first", NULL);
  found.port_last = g_key_file_get_integer (file, GROUP, "port_last", NULL);
  found.sockets = get_text (file, "sockets");
  found.resume = g_key_file_get_boolean (file, GROUP, "resume", NULL);
  found.launcher_pid = g_key_file_get_int64 (file, GROUP, "launcher_pid", NULL);
  found.host = get_text (file, "host");
  found.started_us = g_key_file_get_int64 (file, GROUP, "started_us", NULL);
  g_autofree char *protect = g_key_file_get_string (file, GROUP, "protect", NULL);
  (void)plan_read (protect, &found.protect);
  found.verify = g_key_file_get_double (file, GROUP, "verify", NULL);
  found.closed = g_key_file_get_boolean (file, GROUP, "closed", NULL);
  found.invited = g_key_file_get_boolean (file, GROUP, "invited", NULL);
  found.mended = g_key_file_get_boolean (file, GROUP, "mended", NULL);
  found.build = get_text (file, "build");
  found.trust = g_key_file_get_boolean (file, GROUP, "trust", NULL);
  found.token = get_text (file, "token");
  found.rows_token = get_text (file, "rows_token");
  get_options (file, &found);
  if (g_key_file_has_key (file, GROUP_OPTIONS, "workers", NULL)
      && g_key_file_get_integer (file, GROUP_OPTIONS, "workers", NULL) == 0)
    found.workers = 0;
  if (!found.id || !found.name || !found.program || !found.argv || !found.folder || !found.sockets)
    {
      g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED, "'%s' does not describe a run", name);
      return FALSE;
    }
  *run = found;
  memset (&found, 0, sizeof found);
  return TRUE;
}

/* Tests node-PID.socket with the longest process number. */
static gboolean
socket_fits (const char *path)
{
  return strlen (path) + strlen ("/" FOLDER_NODE "2147483647." FOLDER_NODE_SOCKET)
         <= FOLDER_SOCKET_MAX;
}

gboolean
folder_run_place_sockets (FolderRun *run, const char *path, GError **error)
{
  g_autoptr (GError) cause = NULL;

  g_clear_pointer (&run->sockets, g_free);
  if (socket_fits (path))
    {
      run->sockets = g_strdup (path);
      return TRUE;
    }
  run->sockets = g_dir_make_tmp (SOCKET_STEM "XXXXXX", &cause);
  if (run->sockets == NULL)
    {
      g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED,
                   "cannot make a folder for sockets in '%s': %s", g_get_tmp_dir (),
                   cause->message);
      return FALSE;
    }
  if (socket_fits (run->sockets))
    return TRUE;
  g_set_error (
      error, FOLDER_ERROR, FOLDER_ERROR_FAILED,
      "the temporary folder '%s' is too long a name for sockets: set TMPDIR to a shorter one",
      g_get_tmp_dir ());
  g_rmdir (run->sockets);
  return FALSE;
}

gboolean
folder_run_sockets_are_ours (const char *sockets)
{
  g_autofree char *base = g_path_get_basename (sockets);

  return g_str_has_prefix (base, SOCKET_STEM) && g_path_is_absolute (sockets)
         && !g_file_test (sockets, G_FILE_TEST_IS_SYMLINK);
}

char *
folder_node_file (gint64 pid, const char *suffix)
{
  return g_strdup_printf (FOLDER_NODE "%" G_GINT64_FORMAT ".%s", pid, suffix);
}

char *
folder_socket (const FolderRun *run, gint64 pid)
{
  g_autofree char *file = folder_node_file (pid, FOLDER_NODE_SOCKET);

  return g_build_filename (run->sockets, file, NULL);
}

static int
compare_pids (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;

  return (x > y) - (x < y);
}

GArray *
folder_pids (const char *path, const char *suffix)
{
  GArray *pids = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      gint64 pid = g_str_has_prefix (name, FOLDER_NODE)
                       ? g_ascii_strtoll (name + strlen (FOLDER_NODE), NULL, 10)
                       : 0;
      g_autofree char *expected = folder_node_file (pid, suffix);

      /* accepts only names that folder_node_file can make */
      if (pid > 0 && strcmp (name, expected) == 0)
        g_array_append_val (pids, pid);
    }
  g_array_sort (pids, compare_pids);
  return pids;
}

char **
folder_addresses (const char *path, gint64 pid)
{
  g_autofree char *file = folder_node_file (pid, FOLDER_NODE_ADDRESS);
  g_autofree char *name = g_build_filename (path, file, NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) all = NULL;
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);

  if (!g_file_get_contents (name, &text, NULL, NULL))
    return NULL;
  all = g_strsplit (text, "\n", ADDRESSES_MAX + 1);
  for (int i = 0; i < ADDRESSES_MAX && all[i] != NULL; i++)
    if (all[i][0] != '\0')
      g_ptr_array_add (lines, g_strdup (all[i]));
  g_ptr_array_add (lines, NULL);
  return (char **)g_ptr_array_free (g_steal_pointer (&lines), FALSE);
}
