/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells which processes of a run's folder live. A home may be shared by hosts and containers. So
 * each process leaves its mark (host/process.h) in node-PID.process, and touches that file while it
 * lives. A verb that waits for the end leaves its mark in node-PID.stays. Any thread;
 * folder_is_live may ask nodes. Tests: test-folder, home.sh. */
#include "folder-ended.h"
#include "folder.h"

#include "host/process.h"

#include "link/wire-find.h"
#include "link/wire.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

/* A folder without `run` counts as being made for so long; after that its maker was killed. */
#define BIRTH_LIMIT_S 10

static char *
path_of (const char *path, gint64 pid, const char *suffix)
{
  g_autofree char *file = folder_node_file (pid, suffix);

  return g_build_filename (path, file, NULL);
}

/* Writes the mark, and the host's name for people. A launcher has often left the same mark for its
 * node, which need not be written twice. Quietly: launchers on other hosts do not need it. */
static gboolean
leave_mark (const char *path, gint64 pid, const char *suffix, GError **error)
{
  g_autofree char *file = folder_node_file (pid, suffix), *mark = process_mark (pid);
  g_autofree char *text = g_strdup_printf ("%s\n%s\n", mark, g_get_host_name ());
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text)),
                     there = folder_bytes (path, file, NULL);

  return (there != NULL && g_bytes_equal (there, bytes))
         || folder_write_quietly (path, file, bytes, error);
}

/* FALSE: there is no mark. `host` (nullable) (out) (transfer full). */
static gboolean
read_mark (const char *path, gint64 pid, const char *suffix, ProcessMark *mark, char **host)
{
  g_autofree char *file = path_of (path, pid, suffix), *text = NULL;
  gsize length;

  if (!g_file_get_contents (file, &text, NULL, NULL))
    return FALSE;
  length = process_read_mark (text, mark);
  if (length == 0 || text[length] != '\n')
    return FALSE;
  if (host != NULL)
    *host = g_strdup (g_strchomp (text + length + 1));
  return TRUE;
}

/* TRUE: `file` was written or touched within `limit_s` seconds, or lies in the future of this
 * host's clock. */
static gboolean
is_fresh (const char *file, gint64 limit_s)
{
  struct stat info;

  return stat (file, &info) == 0 && g_get_real_time () / G_USEC_PER_SEC - info.st_mtime < limit_s;
}

static gboolean
is_live_by (const char *path, gint64 pid, const char *suffix)
{
  g_autofree char *file = path_of (path, pid, suffix);
  ProcessMark mark;

  /* A process that has just started may not have left its mark yet, and folders of older versions
   * have no marks. Then a process with this number counts: this may call a dead process alive, but
   * not a live one dead. */
  if (!read_mark (path, pid, suffix, &mark, NULL) || mark.pid != pid)
    return process_is_alive (pid);
  ProcessState state = process_state (&mark);
  return state == PROCESS_ALIVE
         || (state == PROCESS_ELSEWHERE && is_fresh (file, FOLDER_SIGN_LIMIT_S));
}

gboolean
folder_enter (const char *path, gint64 pid, GError **error)
{
  return leave_mark (path, pid, FOLDER_NODE_PROCESS, error);
}

void
folder_sign (const char *path)
{
  static const char *const suffixes[] = { FOLDER_NODE_PROCESS, FOLDER_NODE_STAYS };

  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
    {
      g_autofree char *file = path_of (path, getpid (), suffixes[i]);

      (void)g_utime (file, NULL);
    }
}

gboolean
folder_pid_is_live (const char *path, gint64 pid)
{
  return is_live_by (path, pid, FOLDER_NODE_PROCESS);
}

char *
folder_other_host (const char *path)
{
  g_auto (FolderRun) run = { 0 };
  ProcessMark mark;
  char *host = NULL;

  if (!folder_read (path, &run, NULL)
      || !read_mark (path, run.launcher_pid, FOLDER_NODE_PROCESS, &mark, &host))
    return NULL;
  if (process_state (&mark) != PROCESS_ELSEWHERE)
    g_clear_pointer (&host, g_free);
  return host;
}

/* Asks the nodes of other hosts at their addresses; for nodes without a recent sign of life. */
static gboolean
answers (const char *path, const GArray *pids)
{
  g_autoptr (GStrvBuilder) far = g_strv_builder_new ();
  g_autoptr (GBytes) bytes = folder_bytes (path, FOLDER_FILE_ID, NULL);
  g_autofree char *name = NULL, *host = NULL, *id = NULL;

  for (guint i = 0; bytes != NULL && i < pids->len; i++)
    {
      gint64 pid = g_array_index (pids, gint64, i);
      g_auto (GStrv) addresses = folder_addresses (path, pid);
      ProcessMark mark;

      if (!read_mark (path, pid, FOLDER_NODE_PROCESS, &mark, NULL)
          || process_state (&mark) != PROCESS_ELSEWHERE)
        continue;
      for (char **address = addresses; address != NULL && *address != NULL; address++)
        if (!wire_address_is_near (*address))
          g_strv_builder_add (far, *address);
    }
  g_auto (GStrv) all = g_strv_builder_end (far);
  if (all[0] == NULL)
    return FALSE;
  id = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  return wire_find_run (all, id, WIRE_FIND_US, &name, &host);
}

gboolean
folder_is_live (const char *path)
{
  g_autoptr (GArray) pids = folder_pids (path, FOLDER_NODE_ADDRESS);
  g_auto (FolderRun) run = { 0 };
  g_autoptr (GError) error = NULL;

  if (!folder_read (path, &run, &error)
      && g_error_matches (error, FOLDER_ERROR, FOLDER_ERROR_ABSENT))
    return is_fresh (path, BIRTH_LIMIT_S);
  if (run.launcher_pid > 0 && folder_pid_is_live (path, run.launcher_pid))
    return TRUE;
  for (guint i = 0; i < pids->len; i++)
    if (folder_pid_is_live (path, g_array_index (pids, gint64, i)))
      return TRUE;
  return answers (path, pids);
}

gboolean
folder_stay (const char *path, GError **error)
{
  return leave_mark (path, getpid (), FOLDER_NODE_STAYS, error);
}

void
folder_stay_no_more (const char *path)
{
  g_autofree char *name = path_of (path, getpid (), FOLDER_NODE_STAYS);

  g_unlink (name);
}

gboolean
folder_leave (const char *path, GError **error)
{
  g_autoptr (GArray) pids = folder_pids (path, FOLDER_NODE_STAYS);

  for (guint i = 0; i < pids->len; i++)
    if (is_live_by (path, g_array_index (pids, gint64, i), FOLDER_NODE_STAYS))
      return TRUE;
  folder_ended_record (path);
  return folder_remove (path, error);
}
