/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node on another host reads from its launcher: frames, until an invalid one. The reader is
 * static, so this program includes relay.c. */
#include "fuzz.h"

#include "folder/relay.c"

#include <glib/gstdio.h>
#include <sys/mman.h>

const char fuzz_name[] = "relay";

GBytes *
fuzz_seed (guint n)
{
  static const char *const seeds[] = {
    "file run 4\n\1\2\3\nfile founder 0\nfile peers 12\nhost:7000\nx\ngo\nkept node-1.stats\nlost "
    "answer\nquit\n",
    "kept a\nlost b\nfile c 3\nabc",
    "file .. 3\nabc",
    "file a/b 3\nabc",
    "file big 16777217\n",
    "file big 9223372036854775807\n",
    "quit\n",
  };
  return n < G_N_ELEMENTS (seeds) ? g_bytes_new_static (seeds[n], strlen (seeds[n])) : NULL;
}

/* Returns the size of all files in the folder. Asserts that it contains only plain files. */
static gsize
check_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  gsize sum = 0;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      struct stat info;
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_assert (lstat (path, &info) == 0 && S_ISREG (info.st_mode));
      sum += (gsize)info.st_size;
    }
  return sum;
}

void
fuzz_one (const guint8 *data, gsize size)
{
  Relay relay = { .in = memfd_create ("relay", MFD_CLOEXEC) };
  RelayKind kind = RELAY_WRONG;
  GError *error = NULL;

  if (g_access ("/dev/shm", W_OK) == 0)
    g_setenv ("TMPDIR", "/dev/shm", FALSE);
  relay.folder = g_dir_make_tmp ("satin-fuzz-XXXXXX", NULL);
  g_assert (relay.folder != NULL && relay.in >= 0);
  g_assert (write (relay.in, data, size) == (gssize)size && lseek (relay.in, 0, SEEK_SET) == 0);
  while (read_one (&relay, &kind, &error))
    g_assert (kind != RELAY_WRONG && error == NULL);
  g_clear_error (&error);
  g_assert_cmpuint (check_folder (relay.folder), <=, size);
  g_assert (folder_remove (relay.folder, NULL));
  g_free (relay.folder);
  close (relay.in);
}
