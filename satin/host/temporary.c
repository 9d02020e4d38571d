/* SPDX-License-Identifier: BSD-3-Clause */
/* See temporary.h. */
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STEM "satin-copy-"
#define RANDOM "XXXXXX"
#define HOLD_S 60 /* a folder younger than this may not have its lock yet */
#define REMOVE_TRIES 64

typedef struct
{
  char *folder;
  int fd; /* with the lock */
} Held;

static GMutex temporary_mutex;
static GArray *temporary_held; /* (of Held) */

/* FALSE: something was not removed. */
static gboolean
remove_files (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      (void)g_unlink (path);
    }
  return g_rmdir (folder) == 0;
}

static void
sweep_one (const char *folder)
{
  struct stat status;
  int fd = open (folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

  if (fd < 0)
    return;
  if (fstat (fd, &status) == 0 && status.st_uid == geteuid ()
      && time (NULL) - status.st_mtime > HOLD_S && flock (fd, LOCK_EX | LOCK_NB) == 0)
    (void)remove_files (folder);
  (void)close (fd);
}

static void
sweep (const char *above, const char *stem)
{
  g_autoptr (GDir) dir = g_dir_open (above, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *folder = g_build_filename (above, name, NULL);
      if (g_str_has_prefix (name, stem) && strlen (name) == strlen (stem) + strlen (RANDOM))
        sweep_one (folder);
    }
}

int
temporary_lock (const char *folder)
{
  int fd = -1;

  g_mutex_lock (&temporary_mutex);
  for (guint i = 0; temporary_held != NULL && i < temporary_held->len; i++)
    if (g_str_equal (g_array_index (temporary_held, Held, i).folder, folder))
      fd = g_array_index (temporary_held, Held, i).fd;
  g_mutex_unlock (&temporary_mutex);
  return fd;
}

char *
temporary_make (GError **error)
{
  return temporary_make_in (g_get_tmp_dir (), STEM, error);
}

char *
temporary_make_in (const char *above, const char *stem, GError **error)
{
  g_autofree char *name = g_strconcat (stem, RANDOM, NULL);
  Held held = { .folder = g_build_filename (above, name, NULL) };

  if (g_mkdtemp (held.folder) == NULL)
    {
      g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno),
                   "cannot make the folder '%s': %s", held.folder, g_strerror (errno));
      g_free (held.folder);
      return NULL;
    }
  char *folder = g_strdup (held.folder); /* after the append a signal may free held.folder */
  held.fd = open (held.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (held.fd >= 0)
    (void)flock (held.fd, LOCK_EX | LOCK_NB);
  g_mutex_lock (&temporary_mutex);
  if (temporary_held == NULL)
    temporary_held = g_array_new (FALSE, FALSE, sizeof (Held));
  g_array_append_val (temporary_held, held);
  g_mutex_unlock (&temporary_mutex);
  sweep (above, stem);
  return folder;
}

/* Another thread may still write into the folder by its name, as a scribe does when the process
 * ends without waiting for it. So the folder is renamed first, to a name that a sweep recognises. A
 * file may still appear that a thread was creating meanwhile, at most one for each thread: the
 * removal is repeated. */
static void
remove_under_writers (const char *folder)
{
  g_autofree char *aside = g_strdup (folder);

  aside[strlen (aside) - 1] = '-';
  const char *now = g_rename (folder, aside) == 0 ? aside : folder;
  for (guint i = 0; i < REMOVE_TRIES && !remove_files (now); i++)
    g_thread_yield ();
}

/* Called with the mutex held. */
static void
let_go (guint place)
{
  Held held = g_array_index (temporary_held, Held, place);

  g_array_remove_index (temporary_held, place);
  remove_under_writers (held.folder);
  if (held.fd >= 0)
    (void)close (held.fd);
  g_free (held.folder);
}

void
temporary_remove (char *folder)
{
  if (folder == NULL)
    return;
  g_mutex_lock (&temporary_mutex);
  for (guint i = temporary_held->len; i > 0; i--)
    if (g_str_equal (g_array_index (temporary_held, Held, i - 1).folder, folder))
      let_go (i - 1);
  g_mutex_unlock (&temporary_mutex);
  g_free (folder);
}

static void *
wait_for_signal (void *data)
{
  sigset_t *set = data;
  int number = 0;

  if (sigwait (set, &number) != 0)
    return NULL;
  g_mutex_lock (&temporary_mutex); /* never unlocked: no folder is made any more */
  while (temporary_held != NULL && temporary_held->len > 0)
    let_go (temporary_held->len - 1);
  (void)pthread_sigmask (SIG_UNBLOCK, set, NULL);
  (void)raise (number);
  return NULL;
}

void
temporary_watch_signals (void)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
  static sigset_t set;
  struct sigaction action;
  pthread_t thread;

  sigemptyset (&set);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (sigaction (numbers[i], NULL, &action) == 0 && action.sa_handler == SIG_DFL)
      sigaddset (&set, numbers[i]);
  (void)pthread_sigmask (SIG_BLOCK, &set, NULL);
  if (pthread_create (&thread, NULL, wait_for_signal, &set) != 0)
    (void)pthread_sigmask (SIG_UNBLOCK, &set, NULL);
}
