/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder of a run: its name, creation and removal, and its files. folder-run.c reads and writes
 * the file `run`. Any thread; blocks on a local disk. Knows nothing of nodes, sockets and
 * checkpoints. */
#include "folder.h"
#include "folder-ended.h"
#include "folder-file.h"
#include "folder-run.h"

#include "host/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How often a default name is drawn again if the name is taken. */
#define NAME_DRAWS_MAX 100
/* Letters of the program's name in a default name. */
#define NAME_STEM_MAX 32
#define CREDENTIAL_BYTES 32
#define ID_BYTES 16
#define SUSPENDED 75 /* as in NODE_END_SUSPENDED */
/* How often a folder is emptied while others still write into it, and the pause in between. */
#define REMOVE_TRIES 100
#define REMOVE_PAUSE_US 2000
#define SHOW_PIECE (256 * 1024)

G_DEFINE_QUARK (satin - folder - error - quark, folder_error)

static gboolean
fail (GError **error, FolderError code, const char *verb, const char *path)
{
  int saved_errno = errno;

  g_set_error (error, FOLDER_ERROR, code, "cannot %s '%s': %s", verb, path,
               g_strerror (saved_errno));
  return FALSE;
}

static gboolean
letter_is_allowed (char letter)
{
  return g_ascii_isalnum (letter) || letter == '.' || letter == '_' || letter == '-';
}

static char *
random_hex (gsize bytes, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint8 buffer[CREDENTIAL_BYTES];

  g_assert (bytes <= sizeof buffer);
  /* getentropy is never interrupted for so few bytes, and needs no descriptor. */
  if (getentropy (buffer, bytes) != 0)
    {
      fail (error, FOLDER_ERROR_FAILED, "read random bytes for", "credential");
      return NULL;
    }
  for (gsize i = 0; i < bytes; i++)
    g_string_append_printf (text, "%02x", buffer[i]);
  return g_strdup (text->str);
}

char *
folder_root (void)
{
  return g_build_filename (g_get_user_state_dir (), "satin", "runs", NULL);
}

char *
folder_spare (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *file = g_strdup_printf ("%s.%d.sqlite", name, (int)getpid ());

  return g_build_filename (g_get_user_state_dir (), "satin", "unpublished", file, NULL);
}

gboolean
folder_name_is_valid (const char *name)
{
  gsize length = strlen (name);

  if (length == 0 || length > FOLDER_NAME_MAX || !g_ascii_isalnum (name[0]))
    return FALSE;
  for (gsize i = 0; i < length; i++)
    if (!letter_is_allowed (name[i]))
      return FALSE;
  return TRUE;
}

static gboolean
name_check (const char *name, GError **error)
{
  if (folder_name_is_valid (name))
    return TRUE;
  g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_NAME,
               "'%s' is not a name for a run: use up to %d letters, digits, '.', '_' and '-'", name,
               FOLDER_NAME_MAX);
  return FALSE;
}

char *
folder_find (const char *name, GError **error)
{
  g_autofree char *root = folder_root ();
  g_autofree char *path = NULL;

  if (!name_check (name, error))
    return NULL;
  path = g_build_filename (root, name, NULL);
  if (!g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_ABSENT,
                   "there is no run '%s' here (`satin status` lists them)", name);
      return NULL;
    }
  return g_steal_pointer (&path);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

GPtrArray *
folder_list (void)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *root = folder_root ();
  g_autoptr (GDir) dir = g_dir_open (root, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (root, name, FOLDER_RUN_FILE, NULL);

      if (folder_name_is_valid (name) && g_file_test (file, G_FILE_TEST_IS_REGULAR))
        g_ptr_array_add (names, g_strdup (name));
    }
  g_ptr_array_sort (names, compare_names);
  return names;
}

static gboolean remove_flat (const char *path, GError **error);

/* unlink () does not follow links and does not remove folders. */
static gboolean
remove_one (const char *file, const char *name, GError **error)
{
  if (g_unlink (file) == 0 || errno == ENOENT)
    return TRUE;
  if (errno == EISDIR && g_str_has_prefix (name, FOLDER_BATCH))
    return remove_flat (file, error);
  return fail (error, FOLDER_ERROR_FAILED, "remove", file);
}

static gboolean
remove_files (const char *path, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (GDir) dir = g_dir_open (path, 0, &cause);
  const char *name;

  if (dir == NULL && !g_error_matches (cause, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    {
      g_set_error_literal (error, FOLDER_ERROR, FOLDER_ERROR_FAILED, cause->message);
      return FALSE;
    }
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);

      if (!remove_one (file, name, error))
        return FALSE;
    }
  return TRUE;
}

/* Removes the files in `path`, then `path`. A process that is about to end may still write there,
 * so it tries again. */
static gboolean
remove_flat (const char *path, GError **error)
{
  for (int i = 0; i < REMOVE_TRIES; i++)
    {
      if (!remove_files (path, error))
        return FALSE;
      if (g_rmdir (path) == 0 || errno == ENOENT)
        return TRUE;
      if (errno != ENOTEMPTY && errno != EEXIST)
        break;
      g_usleep (REMOVE_PAUSE_US);
    }
  return fail (error, FOLDER_ERROR_FAILED, "remove", path);
}

gboolean
folder_remove (const char *path, GError **error)
{
  g_auto (FolderRun) run = { 0 };

  if (folder_read (path, &run, NULL) && folder_run_sockets_are_ours (run.sockets)
      && !remove_flat (run.sockets, error))
    return FALSE;
  return remove_flat (path, error);
}

/* Makes the folder. TRUE without *made: a live run has this name. FALSE: it failed. */
static gboolean
make_folder (const char *path, gboolean *made, GError **error)
{
  *made = FALSE;
  if (g_mkdir (path, 0700) != 0)
    {
      if (errno != EEXIST)
        return fail (error, FOLDER_ERROR_FAILED, "make the folder", path);
      if (folder_is_live (path))
        return TRUE;
      if (!folder_remove (path, error))
        return FALSE;
      if (g_mkdir (path, 0700) != 0)
        return errno == EEXIST || fail (error, FOLDER_ERROR_FAILED, "make the folder", path);
    }
  *made = TRUE;
  return TRUE;
}

static char *
draw_name (const char *program)
{
  g_autofree char *base = g_path_get_basename (program);
  g_autoptr (GString) name = g_string_new (NULL);

  for (const char *p = base; *p != '\0' && name->len < NAME_STEM_MAX; p++)
    if (letter_is_allowed (*p) && (name->len > 0 || g_ascii_isalnum (*p)))
      g_string_append_c (name, *p);
  if (name->len == 0)
    g_string_append (name, "run");
  g_string_append_printf (name, "-%04x", g_random_int () & 0xffff);
  return g_strdup (name->str);
}

/* Makes a folder of the given name, or of the first drawn name that is free. */
static char *
claim_name (FolderRun *run, const char *root, GError **error)
{
  gboolean drawn = run->name == NULL;

  if (!drawn && !name_check (run->name, error))
    return NULL;
  for (int i = 0; i < NAME_DRAWS_MAX; i++)
    {
      g_autofree char *name = drawn ? draw_name (run->program) : g_strdup (run->name);
      g_autofree char *path = g_build_filename (root, name, NULL);
      gboolean made;

      if (drawn && g_file_test (path, G_FILE_TEST_EXISTS))
        continue;
      if (!make_folder (path, &made, error))
        return NULL;
      if (made)
        {
          g_free (run->name);
          run->name = g_steal_pointer (&name);
          return g_steal_pointer (&path);
        }
      if (!drawn)
        break;
    }
  g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_TAKEN,
               "a run named '%s' is going on: choose another name with --name", run->name);
  return NULL;
}

static gboolean
fill_folder (FolderRun *run, const char *path, GError **error)
{
  g_autofree char *credential = random_hex (CREDENTIAL_BYTES, error);
  g_autoptr (GBytes) bytes = NULL;

  if (credential == NULL)
    return FALSE;
  g_free (run->id);
  run->id = random_hex (ID_BYTES, error);
  if (run->id == NULL || !folder_run_place_sockets (run, path, error))
    return FALSE;
  g_free (run->host);
  run->host = g_strdup (g_get_host_name ());
  run->started_us = g_get_real_time ();
  bytes = g_bytes_new (credential, strlen (credential));
  return folder_write (path, FOLDER_FILE_CREDENTIAL, bytes, error)
         && (run->launcher_pid <= 0 || folder_enter (path, run->launcher_pid, error))
         && folder_run_write (run, path, error);
}

char *
folder_create (FolderRun *run, GError **error)
{
  g_autofree char *root = folder_root ();
  g_autofree char *path = NULL;

  g_assert (run->program != NULL && run->folder != NULL);
  if (g_mkdir_with_parents (root, 0700) != 0)
    {
      fail (error, FOLDER_ERROR_FAILED, "make the folder", root);
      return NULL;
    }
  path = claim_name (run, root, error);
  if (path == NULL)
    return NULL;
  if (!fill_folder (run, path, error))
    {
      remove_flat (path, NULL);
      return NULL;
    }
  folder_ended_forget (run->name);
  return g_steal_pointer (&path);
}

char *
folder_credential (const char *path, GError **error)
{
  g_autoptr (GBytes) bytes = folder_bytes (path, FOLDER_FILE_CREDENTIAL, error);
  gsize size;
  const char *text;

  if (bytes == NULL)
    return NULL;
  text = g_bytes_get_data (bytes, &size);
  if (size != 2 * CREDENTIAL_BYTES)
    {
      g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED,
                   "'%s/credential' is not a run's credential", path);
      return NULL;
    }
  return g_strndup (text, size);
}

char *
folder_key (const char *path)
{
  g_autofree char *name = g_build_filename (path, FOLDER_KEY_FILE, NULL);
  char *text = NULL;

  return g_file_get_contents (name, &text, NULL, NULL) ? text : NULL;
}

gboolean
folder_show (const char *path, const char *file, int fd)
{
  g_autofree char *name = g_build_filename (path, file, NULL);
  g_autofree char *piece = g_malloc (SHOW_PIECE);
  int from = open (name, O_RDONLY | O_CLOEXEC);
  gboolean ok = TRUE;
  ssize_t n = 0;

  if (from < 0)
    return errno == ENOENT;
  while (ok && (n = whole_read_some (from, piece, SHOW_PIECE)) > 0)
    ok = whole_write (fd, piece, (gsize)n);
  int saved_errno = errno;
  close (from);
  errno = saved_errno;
  return ok && n == 0;
}

gint64
folder_size (const char *path, const char *file)
{
  g_autofree char *name = g_build_filename (path, file, NULL);
  GStatBuf info;

  return g_stat (name, &info) == 0 ? (gint64)info.st_size : -1;
}

static FolderWitness folder_witness;

void
folder_set_witness (FolderWitness witness)
{
  folder_witness = witness;
}

/* Returns `written`. */
static gboolean
tell (gboolean written, const char *path, const char *file, GBytes *bytes)
{
  if (written && folder_witness != NULL)
    folder_witness (path, file, bytes);
  return written;
}

gboolean
folder_write (const char *path, const char *file, GBytes *bytes, GError **error)
{
  return tell (folder_write_quietly (path, file, bytes, error), path, file, bytes);
}

gboolean
folder_renew (const char *path, const char *file, GBytes *bytes, GError **error)
{
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);

  return tell (folder_file_renew (path, file, data, size, error), path, file, bytes);
}

static gboolean
write_file (const char *path, const char *file, GBytes *bytes, FolderFileEnd how, GError **error)
{
  g_autoptr (FolderFile) begun = folder_file_begin (path, file, error);
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);

  return begun != NULL && folder_file_add (begun, data, size, error)
         && folder_file_end (g_steal_pointer (&begun), how, error);
}

gboolean
folder_write_quietly (const char *path, const char *file, GBytes *bytes, GError **error)
{
  return write_file (path, file, bytes, FOLDER_FILE_LAST, error);
}

/* All nodes of a run write its end. A temporary file for each would cost much. */
gboolean
folder_write_first (const char *path, const char *file, GBytes *bytes, GError **error)
{
  g_autofree char *target = g_build_filename (path, file, NULL);

  return tell (access (target, F_OK) == 0
                   || write_file (path, file, bytes, FOLDER_FILE_FIRST, error),
               path, file, bytes);
}

GBytes *
folder_bytes (const char *path, const char *file, GError **error)
{
  g_autofree char *source = g_build_filename (path, file, NULL);
  g_autoptr (GError) cause = NULL;
  char *data;
  gsize size;

  if (g_file_get_contents (source, &data, &size, &cause))
    return g_bytes_new_take (data, size);
  g_set_error_literal (error, FOLDER_ERROR,
                       g_error_matches (cause, G_FILE_ERROR, G_FILE_ERROR_NOENT)
                           ? FOLDER_ERROR_ABSENT
                           : FOLDER_ERROR_FAILED,
                       cause->message);
  return NULL;
}

gboolean
folder_claim (const char *path, const char *file)
{
  g_autofree char *name = g_build_filename (path, file, NULL);
  int fd = open (name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);

  if (fd < 0)
    return FALSE;
  close (fd);
  return TRUE;
}

void
folder_disclaim (const char *path, const char *file)
{
  g_autofree char *name = g_build_filename (path, file, NULL);

  g_unlink (name);
}

gboolean
folder_end (const char *path, int code, const char *sentence, GError **error)
{
  g_autofree char *text = g_strdup_printf ("%d\n", code);
  g_autoptr (GBytes) end = g_bytes_new (text, strlen (text));

  if (sentence != NULL)
    {
      g_autoptr (GBytes) bytes = g_bytes_new (sentence, strlen (sentence));

      (void)!folder_write_first (path, FOLDER_FILE_ERROR, bytes,
                                 NULL); /* `end` matters more than the sentence */
    }
  return folder_write_first (path, FOLDER_FILE_END, end, error);
}

/* -1: there is no such file. */
static int
read_code (const char *path, const char *name)
{
  g_autofree char *file = g_build_filename (path, name, NULL);
  g_autofree char *text = NULL;

  if (!g_file_get_contents (file, &text, NULL, NULL))
    return -1;
  return (int)CLAMP (g_ascii_strtoll (text, NULL, 10), 0, 255);
}

gboolean
folder_has_ended (const char *path, int *code, char **sentence)
{
  g_autofree char *why = g_build_filename (path, FOLDER_FILE_ERROR, NULL);
  g_autofree char *answer = g_build_filename (path, FOLDER_FILE_ANSWER, NULL);
  char *words = NULL;

  *code = read_code (path, FOLDER_FILE_END);
  if (*code < 0)
    return FALSE;
  /* Main had returned before its node died, and the other nodes suspended the run, as was asked
   * meanwhile. The answer exists and will be shown. */
  int said = *code == SUSPENDED ? read_code (path, FOLDER_FILE_ANSWER_CODE) : -1;
  if (said >= 0 && g_file_test (answer, G_FILE_TEST_EXISTS))
    *code = said;
  if (sentence != NULL)
    {
      g_file_get_contents (why, &words, NULL, NULL);
      *sentence = words == NULL ? NULL : g_strchomp (words);
    }
  return TRUE;
}

gboolean
folder_lacks_answer (const char *path, int code)
{
  g_auto (FolderRun) run = { 0 };

  return code == 0 && folder_size (path, FOLDER_FILE_ANSWER) < 0 && folder_read (path, &run, NULL)
         && run.nodes > 0; /* a program without nodes shows its answer itself */
}

void
folder_ended (void)
{
  sigset_t late;

  sigemptyset (&late);
  sigaddset (&late, SIGTERM);
  sigaddset (&late, SIGUSR1);
  sigaddset (&late, SIGHUP);
  pthread_sigmask (SIG_BLOCK, &late, NULL);
}
