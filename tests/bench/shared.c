/* SPDX-License-Identifier: BSD-3-Clause */
#include "shared.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

Shared *
shared (void)
{
  static Shared *page;
  const char *path = getenv ("BENCH_SHARED");
  void *mapped;
  int fd;

  if (__atomic_load_n (&page, __ATOMIC_ACQUIRE) != NULL)
    return page;
  fd = path == NULL ? -1 : open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate (fd, sizeof (Shared)) != 0
      || (mapped = mmap (NULL, sizeof (Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0))
             == MAP_FAILED)
    {
      fprintf (stderr, "bench: BENCH_SHARED must name a file that can be written\n");
      exit (2);
    }
  close (fd);
  __atomic_store_n (&page, (Shared *)mapped, __ATOMIC_RELEASE);
  return page;
}

int64_t
shared_now (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int
compare (const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

  return (x > y) - (x < y);
}

int64_t
shared_percentile (int64_t *samples, int64_t n, double share)
{
  if (n == 0)
    return 0;
  qsort (samples, (size_t)n, sizeof *samples, compare);
  return samples[(int64_t)((double)(n - 1) * share)];
}
