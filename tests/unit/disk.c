/* SPDX-License-Identifier: BSD-3-Clause */
/* What was written and not synced is remembered with what stood there before, so that a cut can
 * take any part of it back. */
#include "disk.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
  off_t offset;
  GByteArray *before; /* what stood there, as far as the file went */
  gsize size;
} DiskWrite;

typedef struct
{
  char *to, *old; /* old (nullable): a second name of what stood there */
  char *folder;
} DiskRename;

static struct
{
  char *prefix;
  DiskMode mode;
  guint at, steps, syncs, unlinks_failed;
  int error_number;
  GPtrArray *writes, *renames;
  GRand *rand;
  gboolean is_inside; /* our own calls */
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
  (void)close (fd);
}

/* Everything since the last sync is on the disk or not, piece by piece. */
static G_NORETURN void
cut (void)
{
  disk.is_inside = TRUE;
  gboolean is_mild = g_rand_int_range (disk.rand, 0, 3) == 0;
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
  for (guint i = disk.writes->len; i > 0; i--)
    if (!is_mild || g_rand_boolean (disk.rand))
      take_back_write (disk.writes->pdata[i - 1]);
  _exit (CUT_EXIT);
}

/* TRUE: this step fails, errno says how. */
static gboolean
step (void)
{
  disk.steps++;
  gboolean is_it = disk.mode == DISK_FAIL_ON ? disk.steps >= disk.at : disk.steps == disk.at;
  if (disk.mode == DISK_SOUND || !is_it)
    return FALSE;
  if (disk.mode == DISK_CUT)
    cut ();
  errno = disk.error_number;
  return TRUE;
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
  g_free (move->to);
  g_free (move->old);
  g_free (move->folder);
  g_free (move);
}

static void
note_write (int fd, const char *path, off_t offset, gsize size)
{
  struct stat status;
  if (disk.mode != DISK_CUT || fstat (fd, &status) != 0)
    return;
  DiskWrite *note = g_new0 (DiskWrite, 1);
  note->path = g_strdup (path);
  note->inode = status.st_ino;
  note->offset = offset;
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
  if (is_ours (path))
    {
      if (step ())
        return -1;
      note_write (fd, path, offset, size);
    }
  return REAL (pwrite) (fd, data, size, offset);
}

/* SQLite's library finds these only when they can be seen. */
#pragma GCC visibility push(default)
ssize_t pwrite (int fd, const void *data, size_t size, off_t offset);
ssize_t pwrite64 (int fd, const void *data, size_t size, off64_t offset);
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

/* What is synced stays; a folder keeps its renames. */
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
  if (step ())
    return -1;
  note_sync (fd, path);
  return 0; /* the real one would only take time: nothing here ends with the machine */
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

static gboolean
fails_at (int fd)
{
  g_autofree char *path = disk.prefix != NULL ? path_of (fd) : NULL;
  return is_ours (path) && step ();
}

int
ftruncate (int fd, off_t size)
{
  return fails_at (fd) ? -1 : REAL (ftruncate) (fd, size);
}

int
ftruncate64 (int fd, off64_t size)
{
  return fails_at (fd) ? -1 : REAL (ftruncate) (fd, size);
}

int
unlink (const char *path)
{
  if (!is_ours (path) || !step ())
    return REAL (unlink) (path);
  disk.unlinks_failed++;
  return -1;
}

int
rename (const char *from, const char *to)
{
  static guint n_old;
  if (!is_ours (to))
    return REAL (rename) (from, to);
  if (step ())
    return -1;
  if (disk.mode == DISK_CUT)
    {
      DiskRename *note = g_new0 (DiskRename, 1);
      g_autofree char *old = g_strdup_printf ("%s.before-%u", to, n_old++);
      note->to = g_strdup (to);
      note->folder = g_path_get_dirname (to);
      note->old = link (to, old) == 0 ? g_steal_pointer (&old) : NULL;
      g_ptr_array_add (disk.renames, note);
    }
  return REAL (rename) (from, to);
}

void
disk_begin (const char *prefix, DiskMode mode, guint at, int error_number)
{
  disk.prefix = g_strdup (prefix);
  disk.mode = mode;
  disk.at = at;
  disk.steps = disk.syncs = disk.unlinks_failed = 0;
  disk.error_number = error_number;
  disk.writes = g_ptr_array_new_with_free_func (write_free);
  disk.renames = g_ptr_array_new_with_free_func (rename_free);
}

gboolean
disk_end (void)
{
  g_clear_pointer (&disk.prefix, g_free);
  g_clear_pointer (&disk.writes, g_ptr_array_unref);
  g_clear_pointer (&disk.renames, g_ptr_array_unref);
  disk.mode = DISK_SOUND;
  return disk.steps >= disk.at;
}

guint
disk_syncs (void)
{
  return disk.syncs;
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
