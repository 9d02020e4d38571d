/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes that are short, interrupted, or fail: whole.h transfers all bytes or reports the
 * error. */
#include "host/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BYTES 100

/* Settings of the calls below, which replace those of the C library. */
static gboolean meddles;
static int calls, fails_at;

/* The part of `size` that a call transfers; -1: it fails with errno. Every other call is
 * interrupted. */
static gssize
part_of (size_t size)
{
  if (!meddles)
    return (gssize)size;
  calls++;
  if (calls == fails_at || calls % 2 == 1)
    {
      errno = calls == fails_at ? EIO : EINTR;
      return -1;
    }
  return (gssize)MIN (size, 7);
}

#define CUT(name, number, parameters, ...) \
  ssize_t name parameters \
  { \
    gssize part = part_of (size); \
    if (part < 0) \
      return -1; \
    size = (size_t)part; \
    return syscall (number, __VA_ARGS__); \
  }

CUT (read, SYS_read, (int fd, void *to, size_t size), fd, to, size)
CUT (write, SYS_write, (int fd, const void *from, size_t size), fd, from, size)
CUT (pread, SYS_pread64, (int fd, void *to, size_t size, off_t at), fd, to, size, at)
CUT (pwrite, SYS_pwrite64, (int fd, const void *from, size_t size, off_t at), fd, from, size, at)

static void
meddle (int failing)
{
  meddles = TRUE;
  calls = 0;
  fails_at = failing;
}

static int
make_file (const guint8 *bytes)
{
  int fd = memfd_create ("whole", MFD_CLOEXEC);

  g_assert_cmpint (fd, >=, 0);
  meddle (0);
  g_assert_true (whole_write (fd, bytes, BYTES));
  g_assert_cmpint (lseek (fd, 0, SEEK_CUR), ==, BYTES);
  return fd;
}

static void
fill (guint8 bytes[BYTES])
{
  for (guint i = 0; i < BYTES; i++)
    bytes[i] = (guint8)(i * 7 + 1);
}

static void
test_all_bytes_are_done (void)
{
  guint8 bytes[BYTES], got[2 * BYTES];
  fill (bytes);
  int fd = make_file (bytes);

  g_assert_cmpint (whole_read_at (fd, got, BYTES, 0), ==, BYTES);
  g_assert_cmpmem (got, BYTES, bytes, BYTES);
  g_assert_cmpint (whole_read_at (fd, got, 2 * BYTES, 40), ==, 60);
  g_assert_cmpmem (got, 60, bytes + 40, 60);
  g_assert_true (whole_write_at (fd, bytes, 50, 50));
  g_assert_cmpint (lseek (fd, 0, SEEK_SET), ==, 0);
  g_assert_cmpint (whole_read_some (fd, got, BYTES), ==, 7);
  g_assert_cmpint (whole_read (fd, got, 2 * BYTES), ==, 93);
  g_assert_cmpmem (got, 43, bytes + 7, 43);
  g_assert_cmpmem (got + 43, 50, bytes, 50);
  g_assert_cmpint (whole_read (fd, got, 1), ==, 0);
  g_assert_cmpint (whole_read_at (fd, got, 1, BYTES), ==, 0);
  g_assert_true (whole_write (fd, NULL, 0));
  meddles = FALSE;
  (void)close (fd);
}

static void
test_errors_are_told (void)
{
  guint8 bytes[BYTES];
  fill (bytes);
  int fd = make_file (bytes);

  for (int n = 1; n < 10; n++)
    for (int call = 0; call < 4; call++)
      {
        g_assert_cmpint (lseek (fd, 0, SEEK_SET), ==, 0);
        meddle (n);
        gboolean failed = call == 0   ? whole_read (fd, bytes, BYTES) < 0
                          : call == 1 ? whole_read_at (fd, bytes, BYTES, 0) < 0
                          : call == 2 ? !whole_write (fd, bytes, BYTES)
                                      : !whole_write_at (fd, bytes, BYTES, 0);
        int why = errno;
        meddles = FALSE;
        g_assert_true (failed);
        g_assert_cmpint (why, ==, EIO);
      }
  (void)close (fd);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/whole/all-bytes", test_all_bytes_are_done);
  g_test_add_func ("/whole/errors", test_errors_are_told);
  return g_test_run ();
}
