/* SPDX-License-Identifier: BSD-3-Clause */
/* See disk.h. Remembers what was written and not synced, and the content before, so that a cut can
 * undo any part of it. */
#include "disk.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECTOR 512
#define CUT_EXIT 77

typedef struct
{
  char *path;
  ino_t inode;
  off_t offset, length; /* length: of the file before */
  GByteArray *before;   /* the bytes before, as far as the file had any */
  gsize size;
} DiskWrite;

/* A name that a rename or a removal took from its file. */
typedef struct
{
  char *to, *old; /* old (nullable): a second name of the file before */
  char *folder;
} DiskRename;

typedef enum
{
  FATE_GOOD,
  FATE_FAILS,
  FATE_FAILS_AFTER /* it is done, and errno reports a failure */
} DiskFate;

static struct
{
  char *prefix;
  DiskMode mode;
  guint at, steps, commits, copied, syncs, unlinks_failed;
  int error_number;
  GPtrArray *writes, *renames;
  GArray *renamed_at; /* steps */
  GRand *rand;
  gboolean is_inside;                  /* in calls of this file */
  gboolean (*gate) (gboolean is_sync); /* DISK_WATCHED */
} disk;

#define REAL(name) ((__typeof__ (&name))dlsym (RTLD_NEXT, #name))

static char *
path_of (int fd)
{
  char link[64], path[PATH_MAX];
  g_snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink (link, path, sizeof path - 1);
  return n > 0 ? g_strndup (path, (gsize)n) : NULL;
}

static gboolean
is_ours (const char *path)
{
  return disk.prefix != NULL && !disk.is_inside && path != NULL
         && g_str_has_prefix (path, disk.prefix);
}

static void
take_back_write (const DiskWrite *write)
{
  struct stat status;
  int fd = open (write->path, O_RDWR | O_CLOEXEC);
  if (fd < 0 || fstat (fd, &status) != 0 || status.st_ino != write->inode)
    {
      if (fd >= 0)
        (void)close (fd);
      return;
    }
  for (gsize at = 0; at < write->size; at += SECTOR)
    {
      gsize n = MIN (SECTOR, write->size - at);
      char zeros[SECTOR] = { 0 };
      const void *old = at + n <= write->before->len ? write->before->data + at : (guint8 *)zeros;
      if (g_rand_boolean (disk.rand))
        (void)REAL (pwrite) (fd, old, n, write->offset + (off_t)at);
    }
  /* The length may be the earlier one, as in a file system that allocates blocks late. */
  if (g_rand_int_range (disk.rand, 0, 4) == 0)
    (void)REAL (ftruncate) (fd, write->length);
  (void)close (fd);
}

/* Each piece that was written since the last sync is on the disk or lost. The bytes come first,
 * while their files still have their last names. */
static void
lose_unsynced (void)
{
  gboolean is_mild = g_rand_int_range (disk.rand, 0, 3) == 0;
  for (guint i = disk.writes->len; i > 0; i--)
    if (!is_mild || g_rand_boolean (disk.rand))
      take_back_write (disk.writes->pdata[i - 1]);
  for (guint i = disk.renames->len; i > 0; i--)
    {
      const DiskRename *move = disk.renames->pdata[i - 1];
      if (!g_rand_boolean (disk.rand))
        continue;
      if (move->old != NULL)
        (void)REAL (rename) (move->old, move->to);
      else
        (void)REAL (unlink) (move->to);
    }
}

/* A cut: unsynced data is lost, or only the process dies and everything is on the disk. */
static G_NORETURN void
cut (void)
{
  disk.is_inside = TRUE;
  if (g_rand_int_range (disk.rand, 0, 4) > 0)
    lose_unsynced ();
  _exit (CUT_EXIT);
}

/* The fate of a call, which ends a transaction if `is_commit`. */
static DiskFate
step_of (gboolean is_commit, gboolean is_sync)
{
  if (disk.gate != NULL && !disk.gate (is_sync))
    {
      errno = EIO;
      return FATE_FAILS;
    }
  disk.steps++;
  disk.commits += is_commit;
  gboolean is_it = disk.mode == DISK_FAIL_ON             ? disk.steps >= disk.at
                   : disk.mode == DISK_FAIL_AFTER_COMMIT ? is_commit && disk.commits == disk.at
                                                         : disk.steps == disk.at;
  if (disk.mode == DISK_SOUND || disk.mode == DISK_LOSE_WRITE || !is_it)
    return FATE_GOOD;
  if (disk.mode == DISK_CUT)
    cut ();
  errno = disk.error_number;
  return disk.mode >= DISK_FAIL_AFTER ? FATE_FAILS_AFTER : FATE_FAILS;
}

static DiskFate
step (void)
{
  return step_of (FALSE, FALSE);
}

/* The result that a call reports. */
static int
told (DiskFate fate, int result)
{
  if (fate == FATE_GOOD)
    return result;
  errno = disk.error_number;
  return -1;
}

static void
write_free (gpointer data)
{
  DiskWrite *write = data;
  g_free (write->path);
  g_byte_array_unref (write->before);
  g_free (write);
}

static void
rename_free (gpointer data)
{
  DiskRename *move = data;
  if (move->old != NULL)
    (void)REAL (unlink) (move->old);
  g_free (move->to);
  g_free (move->old);
  g_free (move->folder);
  g_free (move);
}

static gboolean
remembers (void)
{
  return disk.mode == DISK_CUT || disk.mode == DISK_WATCHED;
}

/* Called before `size` bytes at `offset` change or are cut off. */
static void
note_write (int fd, const char *path, off_t offset, gsize size)
{
  struct stat status;
  if (!remembers () || fstat (fd, &status) != 0)
    return;
  DiskWrite *note = g_new0 (DiskWrite, 1);
  note->path = g_strdup (path);
  note->inode = status.st_ino;
  note->offset = offset;
  note->length = status.st_size;
  note->size = size;
  note->before = g_byte_array_new ();
  g_byte_array_set_size (note->before, (guint)size);
  ssize_t n = pread (fd, note->before->data, size, offset);
  g_byte_array_set_size (note->before, n > 0 ? (guint)n : 0);
  g_ptr_array_add (disk.writes, note);
}

static ssize_t
do_write (int fd, const void *data, size_t size, off_t offset)
{
  g_autofree char *path = disk.prefix != NULL ? path_of (fd) : NULL;
  if (!is_ours (path))
    return REAL (pwrite) (fd, data, size, offset);
  if (disk.mode == DISK_LOSE_WRITE && g_str_has_suffix (path, ".tmp") && ++disk.copied == disk.at)
    return (ssize_t)size;
  DiskFate fate = step ();
  if (fate == FATE_FAILS)
    return -1;
  note_write (fd, path, offset, size);
  ssize_t n = REAL (pwrite) (fd, data, size, offset);
  return fate == FATE_GOOD ? n : told (fate, 0);
}

/* SQLite's library uses these only if they are visible. */
#pragma GCC visibility push(default)
ssize_t pwrite (int fd, const void *data, size_t size, off_t offset);
ssize_t pwrite64 (int fd, const void *data, size_t size, off64_t offset);
ssize_t write (int fd, const void *data, size_t size);
int open (const char *path, int flags, ...);
int open64 (const char *path, int flags, ...);
int fchmod (int fd, mode_t mode);
int link (const char *from, const char *to);
int fsync (int fd);
int fdatasync (int fd);
int ftruncate (int fd, off_t size);
int ftruncate64 (int fd, off64_t size);
int unlink (const char *path);
int rename (const char *from, const char *to);
#pragma GCC visibility pop

ssize_t
pwrite (int fd, const void *data, size_t size, off_t offset)
{
  return do_write (fd, data, size, offset);
}

ssize_t
pwrite64 (int fd, const void *data, size_t size, off64_t offset)
{
  return do_write (fd, data, size, offset);
}

ssize_t
write (int fd, const void *data, size_t size)
{
  g_autofree char *path = disk.prefix != NULL ? path_of (fd) : NULL;
  off_t at = is_ours (path) ? lseek (fd, 0, SEEK_CUR) : -1;
  if (at < 0)
    return REAL (write) (fd, data, size);
  ssize_t n = do_write (fd, data, size, at);
  if (n > 0)
    (void)lseek (fd, at + n, SEEK_SET);
  return n;
}

/* Only a call that creates a file is a step. */
static int
do_open (const char *path, int flags, mode_t mode)
{
  gboolean makes = (flags & O_CREAT) != 0 && is_ours (path) && access (path, F_OK) != 0;
  return makes && step () == FATE_FAILS ? -1 : REAL (open) (path, flags, mode);
}

int
open (const char *path, int flags, ...)
{
  va_list list;
  va_start (list, flags);
  mode_t mode = (flags & O_CREAT) != 0 ? va_arg (list, mode_t) : 0;
  va_end (list);
  return do_open (path, flags, mode);
}

int
open64 (const char *path, int flags, ...)
{
  va_list list;
  va_start (list, flags);
  mode_t mode = (flags & O_CREAT) != 0 ? va_arg (list, mode_t) : 0;
  va_end (list);
  return do_open (path, flags, mode);
}

int
fchmod (int fd, mode_t mode)
{
  g_autofree char *path = disk.prefix != NULL ? path_of (fd) : NULL;
  DiskFate fate = is_ours (path) ? step () : FATE_GOOD;
  return fate == FATE_FAILS ? -1 : told (fate, REAL (fchmod) (fd, mode));
}

int
link (const char *from, const char *to)
{
  DiskFate fate = is_ours (to) ? step () : FATE_GOOD;
  return fate == FATE_FAILS ? -1 : told (fate, REAL (link) (from, to));
}

/* Synced data stays; a synced folder keeps its renames. */
static void
note_sync (int fd, const char *path)
{
  struct stat status;
  if (fstat (fd, &status) != 0)
    return;
  for (guint i = disk.writes->len; i > 0; i--)
    if (((DiskWrite *)disk.writes->pdata[i - 1])->inode == status.st_ino)
      g_ptr_array_remove_index (disk.writes, i - 1);
  for (guint i = disk.renames->len; S_ISDIR (status.st_mode) && i > 0; i--)
    if (strcmp (((DiskRename *)disk.renames->pdata[i - 1])->folder, path) == 0)
      g_ptr_array_remove_index (disk.renames, i - 1);
}

static int
do_sync (int fd, int (*sync) (int fd))
{
  g_autofree char *path = disk.prefix != NULL ? path_of (fd) : NULL;
  if (!is_ours (path))
    return sync (fd);
  disk.syncs++;
  DiskFate fate = step_of (FALSE, TRUE);
  if (fate == FATE_FAILS)
    return -1;
  note_sync (fd, path);
  return told (fate,
               0); /* the real call would only take time: in these tests the machine never fails */
}

int
fsync (int fd)
{
  return do_sync (fd, REAL (fsync));
}

int
fdatasync (int fd)
{
  return do_sync (fd, REAL (fdatasync));
}

/* A transaction of the work file ends when its journal becomes empty. */
static int
do_truncate (int fd, off_t size)
{
  struct stat status;
  g_autofree char *path = disk.prefix != NULL ? path_of (fd) : NULL;
  if (!is_ours (path))
    return REAL (ftruncate) (fd, size);
  DiskFate fate = step_of (size == 0 && g_str_has_suffix (path, "-journal"), FALSE);
  if (fate == FATE_FAILS)
    return -1;
  if (fstat (fd, &status) == 0 && status.st_size > size)
    note_write (fd, path, size, (gsize)(status.st_size - size));
  return told (fate, REAL (ftruncate) (fd, size));
}

int
ftruncate (int fd, off_t size)
{
  return do_truncate (fd, size);
}

int
ftruncate64 (int fd, off64_t size)
{
  return do_truncate (fd, size);
}

/* Called before the name `to` is removed or refers to another file. */
static void
note_name (const char *to)
{
  static guint n_old;
  if (!remembers ())
    return;
  DiskRename *note = g_new0 (DiskRename, 1);
  g_autofree char *old = g_strdup_printf ("%s.before-%u", to, n_old++);
  note->to = g_strdup (to);
  note->folder = g_path_get_dirname (to);
  note->old = REAL (link) (to, old) == 0 ? g_steal_pointer (&old) : NULL;
  g_ptr_array_add (disk.renames, note);
  for (guint i = 0; note->old != NULL && i < disk.writes->len; i++)
    {
      DiskWrite *write = disk.writes->pdata[i];
      if (strcmp (write->path, to) != 0)
        continue;
      g_free (write->path);
      write->path = g_strdup (note->old);
    }
}

int
unlink (const char *path)
{
  DiskFate fate = is_ours (path) ? step () : FATE_GOOD;
  disk.unlinks_failed += fate == FATE_FAILS;
  if (fate == FATE_FAILS)
    return -1;
  if (is_ours (path) && access (path, F_OK) == 0)
    note_name (path);
  int result = REAL (unlink) (path);
  return told (fate, result);
}

/* Unsynced bytes follow their file to its new name. */
static void
note_rename (const char *from, const char *to)
{
  note_name (to);
  for (guint i = 0; i < disk.writes->len; i++)
    {
      DiskWrite *write = disk.writes->pdata[i];
      if (strcmp (write->path, from) != 0)
        continue;
      g_free (write->path);
      write->path = g_strdup (to);
    }
}

int
rename (const char *from, const char *to)
{
  if (!is_ours (to))
    return REAL (rename) (from, to);
  DiskFate fate = step ();
  g_array_append_val (disk.renamed_at, disk.steps);
  if (fate == FATE_FAILS)
    return -1;
  note_rename (from, to);
  return told (fate, REAL (rename) (from, to));
}

void
disk_begin (const char *prefix, DiskMode mode, guint at, int error_number)
{
  disk.prefix = g_strdup (prefix);
  disk.mode = mode;
  disk.at = at;
  disk.steps = disk.commits = disk.copied = disk.syncs = disk.unlinks_failed = 0;
  disk.error_number = error_number;
  g_clear_pointer (&disk.renamed_at, g_array_unref);
  disk.renamed_at = g_array_new (FALSE, FALSE, sizeof (guint));
  disk.writes = g_ptr_array_new_with_free_func (write_free);
  disk.renames = g_ptr_array_new_with_free_func (rename_free);
}

gboolean
disk_end (void)
{
  guint n = disk.mode == DISK_FAIL_AFTER_COMMIT ? disk.commits
            : disk.mode == DISK_LOSE_WRITE      ? disk.copied
                                                : disk.steps;
  g_clear_pointer (&disk.prefix, g_free);
  g_clear_pointer (&disk.writes, g_ptr_array_unref);
  g_clear_pointer (&disk.renames, g_ptr_array_unref);
  g_clear_pointer (&disk.rand, g_rand_free);
  disk.gate = NULL;
  disk.mode = DISK_SOUND;
  return n >= disk.at;
}

void
disk_watch (const char *prefix, guint32 seed, gboolean (*gate) (gboolean is_sync))
{
  disk_begin (prefix, DISK_WATCHED, 0, 0);
  disk.rand = g_rand_new_with_seed (seed);
  disk.gate = gate;
}

void
disk_lose_power (void)
{
  disk.is_inside = TRUE;
  lose_unsynced ();
  g_ptr_array_set_size (disk.writes, 0);
  g_ptr_array_set_size (disk.renames, 0);
  disk.is_inside = FALSE;
}

guint
disk_syncs (void)
{
  return disk.syncs;
}

const GArray *
disk_renamed_at (void)
{
  return disk.renamed_at;
}

guint
disk_unlinks_failed (void)
{
  return disk.unlinks_failed;
}

gboolean
disk_cut (const char *prefix, guint at, guint32 seed, void (*work) (void *data), void *data)
{
  int status;
  pid_t child = fork ();
  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    {
      disk.rand = g_rand_new_with_seed (seed);
      disk_begin (prefix, DISK_CUT, at, 0);
      work (data);
      _exit (0);
    }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  g_assert_true (WEXITSTATUS (status) == 0 || WEXITSTATUS (status) == CUT_EXIT);
  return WEXITSTATUS (status) == CUT_EXIT;
}
