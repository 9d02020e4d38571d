/* SPDX-License-Identifier: BSD-3-Clause */
/* See folder-file.h. Tests: test-folder. */
#include "folder-file.h"
#include "folder.h"

#include "host/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <unistd.h>

struct FolderFile
{
  char *path, *temporary, *target;
  int fd;
};

static gboolean
fail (GError **error, const char *path)
{
  int saved_errno = errno;

  g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED, "cannot write '%s': %s", path,
               g_strerror (saved_errno));
  return FALSE;
}

FolderFile *
folder_file_begin (const char *path, const char *file, GError **error)
{
  g_autofree char *name = g_strdup_printf (".%s.XXXXXX", file);
  FolderFile *begun = g_new0 (FolderFile, 1);

  begun->path = g_strdup (path);
  begun->temporary = g_build_filename (path, name, NULL);
  begun->target = g_build_filename (path, file, NULL);
  begun->fd = g_mkstemp_full (begun->temporary, O_RDWR | O_CLOEXEC, 0600);
  if (begun->fd >= 0)
    return begun;
  fail (error, begun->target);
  g_clear_pointer (&begun->temporary, g_free);
  folder_file_drop (begun);
  return NULL;
}

gboolean
folder_file_add (FolderFile *file, const void *data, gsize size, GError **error)
{
  return whole_write (file->fd, data, size) || fail (error, file->target);
}

/* A file system without exchange loses the other file. */
static gboolean
exchange (const FolderFile *file)
{
  return renameat2 (AT_FDCWD, file->temporary, AT_FDCWD, file->target, RENAME_EXCHANGE) == 0
         || g_rename (file->temporary, file->target) == 0;
}

gboolean
folder_file_renew (const char *path, const char *file, const void *data, gsize size, GError **error)
{
  g_autofree char *name = g_strdup_printf (".%s.other", file);
  g_autoptr (FolderFile) other = g_new0 (FolderFile, 1);

  other->temporary = g_build_filename (path, name, NULL);
  other->target = g_build_filename (path, file, NULL);
  other->fd = open (other->temporary, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (other->fd < 0 || !whole_write (other->fd, data, size)
      || ftruncate (other->fd, (off_t)size) != 0 || !exchange (other))
    return fail (error, other->target);
  g_clear_pointer (&other->temporary, g_free);
  return TRUE;
}

/* A new name is safe only when its folder is flushed. */
static gboolean
sync_folder (const char *path)
{
  int fd = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  gboolean ok = fd >= 0 && fsync (fd) == 0;

  if (fd >= 0)
    close (fd);
  return ok;
}

static gboolean
give_name (FolderFile *file, FolderFileEnd how)
{
  gboolean safe = how == FOLDER_FILE_FIRST_SAFE;

  if (safe && fsync (file->fd) != 0)
    return FALSE;
  if (how == FOLDER_FILE_LAST)
    return g_rename (file->temporary, file->target) == 0;
  return (link (file->temporary, file->target) == 0 || errno == EEXIST)
         && (!safe || sync_folder (file->path));
}

gboolean
folder_file_end (FolderFile *file, FolderFileEnd how, GError **error)
{
  gboolean ok = give_name (file, how) || fail (error, file->target);

  if (ok && how == FOLDER_FILE_LAST)
    g_clear_pointer (&file->temporary, g_free); /* it was renamed */
  folder_file_drop (file);
  return ok;
}

void
folder_file_drop (FolderFile *file)
{
  if (file == NULL)
    return;
  if (file->fd >= 0)
    close (file->fd);
  if (file->temporary != NULL)
    g_unlink (file->temporary);
  g_free (file->path);
  g_free (file->temporary);
  g_free (file->target);
  g_free (file);
}
