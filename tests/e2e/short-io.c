/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into the programs of a test: now and then makes a read or write fall short or be
 * interrupted, as a kernel may, on sockets, pipes and regular files. Only programs below the folder
 * SHORT_IO_UNDER are affected, not the shell and its tools. SHORT_IO_SEED chooses the calls.
 * SHORT_IO_COUNTS names a file that all programs map: for sockets, then pipes, then files, a count
 * for each ShortCount. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* One call in ONE_IN is affected: half of these fall short, half are interrupted. Pipes have few
 * calls, so there it is one in ONE_IN_PIPE. */
#define ONE_IN 4
#define ONE_IN_PIPE 2
#define VECTORS_MAX 64

typedef enum
{
  SHORT_READ,
  SHORT_WRITE,
  INTERRUPTED_READ,
  INTERRUPTED_WRITE,
  COUNTS_EACH
} ShortCount;

typedef enum
{
  SHORT_SOCKET,
  SHORT_PIPE,
  SHORT_FILE,
  SHORT_NONE
} ShortKind;

static uint64_t seed, calls;
static uint64_t *counts; /* NULL: this program is not affected */

#define REAL(name) ((__typeof__ (&name))dlsym (RTLD_NEXT, #name))

static void __attribute__ ((constructor)) look (void)
{
  char self[4096] = "";
  const char *under = getenv ("SHORT_IO_UNDER"), *path = getenv ("SHORT_IO_COUNTS");
  const char *number = getenv ("SHORT_IO_SEED");
  ssize_t n = readlink ("/proc/self/exe", self, sizeof self - 1);

  if (under == NULL || path == NULL || n < 0 || strncmp (self, under, strlen (under)) != 0)
    return;
  seed = number != NULL ? strtoull (number, NULL, 10) : 0;
  int fd = open (path, O_RDWR | O_CLOEXEC);
  void *map = mmap (NULL, COUNTS_EACH * SHORT_NONE * sizeof *counts, PROT_READ | PROT_WRITE,
                    MAP_SHARED, fd, 0);
  if (fd < 0 || map == MAP_FAILED)
    abort ();
  (void)close (fd);
  counts = map;
}

/* splitmix64 */
static uint64_t
draw (void)
{
  uint64_t z = (seed << 32) + __atomic_add_fetch (&calls, 1, __ATOMIC_RELAXED);

  z *= 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* SHORT_NONE: calls on datagram sockets, eventfds and terminals are not affected. */
static ShortKind
kind_of (int fd)
{
  struct stat status;
  int type = 0;
  socklen_t size = sizeof type;

  if (fstat (fd, &status) != 0)
    return SHORT_NONE;
  if (S_ISREG (status.st_mode))
    return SHORT_FILE;
  if (S_ISFIFO (status.st_mode))
    return SHORT_PIPE;
  if (S_ISSOCK (status.st_mode) && getsockopt (fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0
      && type == SOCK_STREAM)
    return SHORT_SOCKET;
  return SHORT_NONE;
}

static void
count (ShortKind kind, ShortCount what)
{
  __atomic_add_fetch (&counts[kind * COUNTS_EACH + what], 1, __ATOMIC_RELAXED);
}

/* How many of `size` bytes to ask for, at least one. -1: the call is interrupted and errno is
 * set. */
static ssize_t
cut (int fd, size_t size, int is_write)
{
  int saved_errno = errno;
  uint64_t number = counts != NULL ? draw () : 1;
  ShortKind kind = number % ONE_IN_PIPE == 0 ? kind_of (fd) : SHORT_NONE;
  int is_short = (number >> 32 & 1) != 0;

  errno = saved_errno;
  if (kind == SHORT_NONE || (kind != SHORT_PIPE && number % ONE_IN != 0) || (is_short && size < 2))
    return (ssize_t)size;
  count (kind, (is_short ? SHORT_READ : INTERRUPTED_READ) + (is_write ? 1 : 0));
  if (is_short)
    return (ssize_t)(1 + (number >> 33) % (size - 1));
  errno = EINTR;
  return -1;
}

#define PASS(type, name, parameters, arguments, is_write) \
  type name parameters \
  { \
    ssize_t some = cut (fd, size, is_write); \
    if (some < 0) \
      return -1; \
    size = (size_t)some; \
    return REAL (name) arguments; \
  }

PASS (ssize_t, read, (int fd, void *to, size_t size), (fd, to, size), 0)
PASS (ssize_t, write, (int fd, const void *from, size_t size), (fd, from, size), 1)
PASS (ssize_t, pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at), 0)
PASS (ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at), 1)
PASS (ssize_t, pread64, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at), 0)
PASS (ssize_t, pwrite64, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at),
      1)
PASS (ssize_t, recv, (int fd, void *to, size_t size, int flags), (fd, to, size, flags), 0)
PASS (ssize_t, send, (int fd, const void *from, size_t size, int flags), (fd, from, size, flags), 1)

/* Copies the vectors of `all`, cut short, to `some` and returns their number. -1: the call is
 * interrupted. */
static int
cut_vectors (int fd, const struct iovec *all, size_t n, struct iovec *some, int is_write)
{
  size_t size = 0;
  int used = 0;

  for (size_t i = 0; i < n; i++)
    size += all[i].iov_len;
  ssize_t left = cut (fd, size, is_write);
  if (left < 0)
    return -1;
  if (n > VECTORS_MAX)
    abort ();
  for (; used < (int)n && (left > 0 || used == 0); used++)
    {
      some[used] = all[used];
      if (some[used].iov_len > (size_t)left)
        some[used].iov_len = (size_t)left;
      left -= (ssize_t)some[used].iov_len;
    }
  return used;
}

ssize_t
readv (int fd, const struct iovec *all, int n)
{
  struct iovec some[VECTORS_MAX];
  int used = cut_vectors (fd, all, (size_t)n, some, 0);

  return used < 0 ? -1 : REAL (readv) (fd, some, used);
}

ssize_t
writev (int fd, const struct iovec *all, int n)
{
  struct iovec some[VECTORS_MAX];
  int used = cut_vectors (fd, all, (size_t)n, some, 1);

  return used < 0 ? -1 : REAL (writev) (fd, some, used);
}

ssize_t
recvmsg (int fd, struct msghdr *message, int flags)
{
  struct iovec some[VECTORS_MAX], *all = message->msg_iov;
  size_t n = message->msg_iovlen;
  int used = cut_vectors (fd, all, n, some, 0);

  if (used < 0)
    return -1;
  message->msg_iov = some;
  message->msg_iovlen = (size_t)used;
  ssize_t got = REAL (recvmsg) (fd, message, flags);
  message->msg_iov = all;
  message->msg_iovlen = n;
  return got;
}

ssize_t
sendmsg (int fd, const struct msghdr *message, int flags)
{
  struct iovec some[VECTORS_MAX];
  struct msghdr part = *message;
  int used = cut_vectors (fd, message->msg_iov, message->msg_iovlen, some, 1);

  if (used < 0)
    return -1;
  part.msg_iov = some;
  part.msg_iovlen = (size_t)used;
  return REAL (sendmsg) (fd, &part, flags);
}
