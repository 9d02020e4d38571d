/* SPDX-License-Identifier: BSD-3-Clause */
/* See far.h. Accepts only files that folder-names.c lets travel. Of a file of the run the first
 * copy stays, unless only the founder writes it. Tests: sites.sh, answers.sh. */
#include "far.h"
#include "start.h"

#include "command-words.h"

#include "folder/folder-file.h"
#include "folder/folder-run.h"
#include "folder/relay.h"
#include "folder/store-settings.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <string.h>
#include <unistd.h>

#define READ_SIZE 65536
#define QUIT_US (2 * G_USEC_PER_SEC)
/* A shell starts, and reads what it is sent, in far less time. */
#define MUTE_S 30

struct Far
{
  char *path, *host, *site;
  pid_t pid;
  int to, from;        /* pipes; -1: closed */
  guint reads, writes; /* sources; 0: none */
  GQueue out;          /* of GBytes */
  GByteArray *in;      /* received and not parsed yet: at most a line, as a rule */
  char *coming;        /* (nullable) the file that is arriving: `left` bytes are missing */
  gsize left;
  FolderFile *file;   /* (nullable) where its bytes go, if it is a file of the run */
  GByteArray *small;  /* (nullable) the same, if it is a file of the node */
  gboolean lost;      /* the file that is arriving, or arrived last, cannot be kept here */
  gboolean no_answer; /* `answer` could not be kept here */
  gboolean begun, spoken;
  gboolean queues;   /* started by a batch system, so it may have to wait */
  gboolean missed;   /* the user was told that it is silent */
  gint64 stirred_us; /* when a byte last arrived or was sent */
  char *told;        /* the peers last sent */
  GBytes *address;   /* (nullable) contents of the node's address file in the run's folder */
  gint64 quit_us;
};

/* ---- to the node ---- */

static void
close_to (Far *far)
{
  if (far->writes != 0)
    g_source_remove (far->writes);
  far->writes = 0;
  g_queue_clear_full (&far->out, (GDestroyNotify)g_bytes_unref);
  if (far->to >= 0)
    close (far->to);
  far->to = -1;
}

static gboolean
on_writable (gint fd, GIOCondition condition G_GNUC_UNUSED, gpointer data)
{
  Far *far = data;

  while (!g_queue_is_empty (&far->out))
    {
      GBytes *first = far->out.head->data;
      gsize size;
      const char *bytes = g_bytes_get_data (first, &size);
      ssize_t n = write (fd, bytes, size);

      if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return G_SOURCE_CONTINUE;
      if (n < 0)
        {
          far->writes = 0;
          close_to (far);
          return G_SOURCE_REMOVE;
        }
      far->stirred_us = g_get_monotonic_time ();
      far->out.head->data = g_bytes_new_from_bytes (first, (gsize)n, size - (gsize)n);
      g_bytes_unref (first);
      if ((gsize)n == size)
        g_bytes_unref (g_queue_pop_head (&far->out));
    }
  far->writes = 0;
  return G_SOURCE_REMOVE;
}

/* (transfer full) */
static void
push (Far *far, GBytes *bytes)
{
  if (far->to < 0 || g_bytes_get_size (bytes) == 0)
    {
      g_bytes_unref (bytes);
      return;
    }
  g_queue_push_tail (&far->out, bytes);
  if (far->writes == 0)
    far->writes = g_unix_fd_add (far->to, G_IO_OUT, on_writable, far);
}

static void
push_text (Far *far, const char *text)
{
  push (far, g_bytes_new (text, strlen (text)));
}

/* (transfer full) */
static void
push_file (Far *far, const char *name, GBytes *bytes)
{
  g_autofree char *header = relay_header (name, g_bytes_get_size (bytes));

  push_text (far, header);
  push (far, bytes);
}

static gboolean
push_copy (Far *far, const char *name, GError **error)
{
  GBytes *bytes = folder_bytes (far->path, name, error);

  if (bytes == NULL)
    return FALSE;
  push_file (far, name, bytes);
  return TRUE;
}

/* Writes the node's address file again if somebody has removed it. */
static void
show_address (const Far *far)
{
  g_autofree char *file = folder_node_file (far->pid, FOLDER_NODE_ADDRESS);
  g_autofree char *path = g_build_filename (far->path, file, NULL);

  if (far->address != NULL && !g_file_test (path, G_FILE_TEST_EXISTS))
    (void)!folder_write (far->path, file, far->address, NULL);
}

static void
tell (Far *far, const char *peers)
{
  if (far->begun && g_strcmp0 (peers, far->told) == 0)
    return;
  g_free (far->told);
  far->told = g_strdup (peers);
  push_file (far, RELAY_PEERS, g_bytes_new (peers, strlen (peers)));
  (void)push_copy (far, FOLDER_FILE_ID, NULL);
  if (!far->begun)
    push_text (far, "go\n");
  far->begun = TRUE;
}

void
far_tell (Far *far, const char *peers)
{
  show_address (far);
  if (peers[0] != '\0')
    tell (far, peers);
}

gboolean
far_quit (Far *far)
{
  gint64 now_us = g_get_monotonic_time ();

  if (far->quit_us == 0)
    {
      far->quit_us = now_us;
      push_text (far, "quit\n");
    }
  return now_us - far->quit_us < QUIT_US;
}

void
far_expect (Far *far, gboolean others)
{
  gint64 silent_us = g_get_monotonic_time () - far->stirred_us;

  if (far->spoken || far->queues || (!far->missed && silent_us < MUTE_S * G_USEC_PER_SEC))
    return;
  if (!far->missed)
    {
      g_autofree char *name = far_name (far);
      command_say ("%s has said nothing for %d s: %s", name, MUTE_S,
                   others ? "another node founds the run" : "still waiting");
    }
  far->missed = TRUE;
  if (others && !far_quit (far))
    start_kill (far->pid);
}

/* ---- from the node ---- */

/* Keeps only TCP addresses: others are valid on their own host alone. (transfer full) */
static GBytes *
tcp_only (GBytes *bytes)
{
  g_autofree char *text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GString) kept = g_string_new (NULL);

  for (int i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], "tcp:"))
      g_string_append_printf (kept, "%s\n", lines[i]);
  return g_string_free_to_bytes (g_steal_pointer (&kept));
}

static gboolean
take_node_file (Far *far, const char *suffix, GBytes *bytes, GError **error)
{
  g_autofree char *file = folder_node_file (far->pid, suffix);
  g_autoptr (GBytes) kept
      = strcmp (suffix, FOLDER_NODE_ADDRESS) == 0 ? tcp_only (bytes) : g_bytes_ref (bytes);

  if (strcmp (suffix, FOLDER_NODE_ADDRESS) == 0)
    {
      g_clear_pointer (&far->address, g_bytes_unref);
      far->address = g_bytes_ref (kept);
    }
  return folder_write (far->path, file, kept, error);
}

/* The suffix of a file that a node may send; NULL: `name` is no such file. */
static const char *
suffix_of (const char *name)
{
  const FolderName *row = folder_names_find (name);

  return row != NULL && row->kind == FOLDER_NAME_SUFFIX && row->travel == FOLDER_FROM_FAR
             ? row->name
             : NULL;
}

/* Only founders write this file; a later one replaces that of an earlier one. */
static gboolean
is_of_founder (const char *name)
{
  const FolderName *row = folder_names_find (name);

  return row != NULL && row->travel == FOLDER_FROM_FOUNDER;
}

static gboolean
is_of_run (const char *name)
{
  const FolderName *row = folder_names_find (name);

  return row != NULL && row->kind == FOLDER_NAME_WHOLE
         && (row->travel == FOLDER_FROM_FAR || row->travel == FOLDER_FROM_FOUNDER);
}

/* The arriving file of the run cannot be kept here; the node still has it. */
static void
lose (Far *far, const char *name, const GError *error)
{
  g_autofree char *where = far_name (far);

  g_clear_pointer (&far->file, folder_file_drop);
  far->lost = TRUE;
  far->no_answer = far->no_answer || strcmp (name, FOLDER_FILE_ANSWER) == 0;
  command_say ("'%s' stays on %s: %s", name, where, error->message);
}

/* A file `name` (transfer full) of `size` bytes begins to arrive. A file of the run that is already
 * there is kept, unless it is the founder's. */
static void
begin_file (Far *far, char *name, gsize size)
{
  g_autoptr (GError) error = NULL;

  far->coming = name;
  far->left = size;
  far->lost = FALSE;
  if (suffix_of (name) != NULL && size <= RELAY_SMALL_MAX)
    far->small = g_byte_array_new ();
  else if (suffix_of (name) != NULL)
    command_say ("'%s' of a node is left out: it has %" G_GSIZE_FORMAT " bytes", name, size);
  else if (is_of_run (name) && (is_of_founder (name) || folder_size (far->path, name) < 0))
    {
      far->file = folder_file_begin (far->path, name, &error);
      if (far->file == NULL)
        lose (far, name, error);
    }
}

static void
add_to_file (Far *far, const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;

  far->left -= size;
  if (far->file != NULL && !folder_file_add (far->file, data, size, &error))
    lose (far, far->coming, error);
  if (far->small != NULL)
    g_byte_array_append (far->small, data, (guint)size);
}

static void
end_file (Far *far)
{
  g_autofree char *name = g_steal_pointer (&far->coming);
  FolderFileEnd how = is_of_founder (name) ? FOLDER_FILE_LAST : FOLDER_FILE_FIRST_SAFE;
  g_autoptr (GError) error = NULL;

  if (far->small != NULL)
    {
      g_autoptr (GBytes) bytes = g_byte_array_free_to_bytes (g_steal_pointer (&far->small));
      if (!take_node_file (far, suffix_of (name), bytes, &error))
        command_say ("%s", error->message);
    }
  if (far->file != NULL && !folder_file_end (g_steal_pointer (&far->file), how, &error))
    lose (far, name, error);
  if (!g_str_has_prefix (name, RELAY_OF_NODE))
    {
      g_autofree char *answer = g_strdup_printf ("%s %s\n", far->lost ? "lost" : "kept", name);
      push_text (far, answer);
    }
}

/* Lines before the node's first frame are a shell's, such as a greeting. */
static void
pass_over (Far *far, gsize size, gboolean *more)
{
  g_byte_array_remove_range (far->in, 0, (guint)size);
  *more = far->in->len > 0;
}

/* Takes the received bytes of the arriving file. *more (out): bytes are left. */
static void
take_bytes (Far *far, gboolean *more)
{
  gsize size = MIN (far->left, far->in->len);

  add_to_file (far, far->in->data, size);
  g_byte_array_remove_range (far->in, 0, (guint)size);
  if (far->left == 0)
    end_file (far);
  *more = far->in->len > 0;
}

/* Parses one received line. FALSE: the line is no frame header, though the node has begun to
 * send. */
static gboolean
take_line (Far *far, gboolean *more)
{
  gsize left = far->in->len, size = 0;
  const guint8 *end = memchr (far->in->data, '\n', MIN (left, RELAY_LINE_MAX));
  g_autofree char *line = NULL;
  g_autofree char *name = NULL;

  *more = FALSE;
  if (end == NULL && left >= RELAY_LINE_MAX && !far->spoken)
    {
      const guint8 *line_end = memchr (far->in->data, '\n', left);
      pass_over (far, line_end != NULL ? (gsize)(line_end - far->in->data) + 1 : left, more);
    }
  if (end == NULL)
    return left < RELAY_LINE_MAX || !far->spoken;
  gsize head = (gsize)(end - far->in->data) + 1;
  line = g_strndup ((const char *)far->in->data, head - 1);
  if (relay_parse (line, &name, &size) != RELAY_FILE)
    {
      if (!far->spoken)
        pass_over (far, head, more);
      return !far->spoken;
    }
  far->spoken = TRUE;
  begin_file (far, g_steal_pointer (&name), size);
  g_byte_array_remove_range (far->in, 0, (guint)head);
  take_bytes (far, more);
  return TRUE;
}

static void
close_from (Far *far)
{
  if (far->reads != 0)
    g_source_remove (far->reads);
  far->reads = 0;
  if (far->from >= 0)
    close (far->from);
  far->from = -1;
}

/* Reads and parses once. 0: end of file, an error, or bytes that are no frames; below 0: nothing to
 * read now. */
static ssize_t
read_once (Far *far)
{
  guint8 bytes[READ_SIZE];
  ssize_t n = far->from < 0 ? 0 : read (far->from, bytes, sizeof bytes);
  gboolean more = n > 0;

  if (n < 0)
    return errno == EAGAIN || errno == EINTR ? n : 0;
  far->stirred_us = g_get_monotonic_time ();
  g_byte_array_append (far->in, bytes, (guint)n);
  while (more)
    if (far->coming != NULL)
      take_bytes (far, &more);
    else if (!take_line (far, &more))
      return 0;
  return n;
}

static gboolean
on_readable (gint fd G_GNUC_UNUSED, GIOCondition condition G_GNUC_UNUSED, gpointer data)
{
  Far *far = data;

  if (read_once (far) != 0)
    return G_SOURCE_CONTINUE;
  far->reads = 0;
  close_from (far);
  return G_SOURCE_REMOVE;
}

void
far_drain (Far *far)
{
  while (read_once (far) > 0)
    ;
  close_from (far);
}

/* ---- start and end ---- */

static GBytes *
describe_run (const FolderRun *run, const Site *site, int here)
{
  FolderRun there = *run;
  gsize size;
  char *text;

  there.tcp = TRUE;
  there.listen = site->listen != NULL ? site->listen : (char *)FOLDER_LISTEN_OWN;
  there.port_first = site->port_first;
  there.port_last = site->port_last;
  there.site = site->name;
  there.workers = site->workers; /* 0: that host's cores, shared by its nodes */
  there.nodes = here;
  there.trace = NULL;
  there.launcher_pid = 0;
  text = folder_run_data (&there, &size);
  return g_bytes_new_take (text, size);
}

static gboolean
begin (Far *far, const FolderRun *run, const Site *site, int here, gboolean founder, GBytes *copy,
       GError **error)
{
  if (copy != NULL)
    push (far, g_bytes_ref (copy));
  push_file (far, FOLDER_RUN_FILE, describe_run (run, site, here));
  g_autofree char *stores = store_settings_write ();
  push_file (far, RELAY_STORES, g_bytes_new (stores, strlen (stores)));
  if (!push_copy (far, FOLDER_FILE_CREDENTIAL, error) || !push_copy (far, FOLDER_KEY_FILE, error))
    return FALSE;
  if (founder)
    {
      push_file (far, RELAY_FOUNDER, g_bytes_new ("1\n", 2));
      tell (far, "");
    }
  return TRUE;
}

Far *
far_start (const FolderRun *run, const char *path, const Site *site, const char *host, int number,
           int here, gboolean founder, GBytes *copy, GError **error)
{
  gsize copied = copy != NULL ? g_bytes_get_size (copy) : 0;
  g_autofree char *line = site_line (site, run->program, run->argv, run->folder, copied);
  g_auto (GStrv) argv = site_argv (site, path, host, number, line, copied);
  Far *far = g_new0 (Far, 1);

  far->to = far->from = -1;
  far->path = g_strdup (path);
  far->host = host != NULL ? g_strdup (host) : g_strdup_printf ("%d", number);
  far->site = g_strdup (site->name);
  far->queues = site->launcher == SITE_SLURM || site->launcher == SITE_TASKS;
  far->stirred_us = g_get_monotonic_time ();
  far->in = g_byte_array_new ();
  g_queue_init (&far->out);
  far->pid = start_far (argv, path, &far->to, &far->from, error);
  if (far->pid < 0)
    {
      far_free (far);
      return NULL;
    }
  g_unix_set_fd_nonblocking (far->to, TRUE, NULL);
  g_unix_set_fd_nonblocking (far->from, TRUE, NULL);
  far->reads = g_unix_fd_add (far->from, G_IO_IN | G_IO_HUP | G_IO_ERR, on_readable, far);
  if (begin (far, run, site, here, founder, copy, error))
    return far;
  far_free (far);
  return NULL;
}

void
far_free (Far *far)
{
  close_to (far);
  close_from (far);
  g_byte_array_unref (far->in);
  g_clear_pointer (&far->file, folder_file_drop);
  g_clear_pointer (&far->small, g_byte_array_unref);
  g_free (far->coming);
  g_clear_pointer (&far->address, g_bytes_unref);
  g_free (far->path);
  g_free (far->host);
  g_free (far->site);
  g_free (far->told);
  g_free (far);
}

gboolean
far_brings (const Far *far)
{
  return far->coming != NULL
         && g_get_monotonic_time () - far->stirred_us < RELAY_STALL_S * G_USEC_PER_SEC;
}

gboolean
far_keeps_answer (const Far *far)
{
  return far->no_answer;
}

pid_t
far_pid (const Far *far)
{
  return far->pid;
}

char *
far_name (const Far *far)
{
  return g_strdup_printf ("host '%s' of site '%s'", far->host, far->site);
}
