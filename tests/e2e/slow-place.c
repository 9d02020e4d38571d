/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into the nodes of a test: makes the path to the checkpoint slow for all nodes but one,
 * or denies it to some. A process that opens or syncs a file with SLOW_PLACE_NAME in its path takes
 * the next number: a file SLOW_PLACE_FOLDER/N with its process id, which only one process can
 * create. With SLOW_PLACE_FAST=N all processes with another number sleep for SLOW_PLACE_US at each
 * such sync. With SLOW_PLACE_DENIED=N processes with a number below N cannot open such files. The
 * launcher takes no number. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOW_US 400000
#define NUMBERS_MAX 100

static int is_node;

static void __attribute__ ((constructor)) look (void)
{
  is_node = getenv ("SATIN_RUN_FOLDER") != NULL;
}

static int
is_mine (const char *path)
{
  FILE *file = fopen (path, "re");
  int pid = 0;

  if (file == NULL)
    return 0;
  if (fscanf (file, "%d", &pid) != 1)
    pid = 0;
  fclose (file);
  return pid == (int)getpid ();
}

static int
take_number (const char *folder)
{
  char path[4096];

  for (int number = 0; number < NUMBERS_MAX; number++)
    {
      snprintf (path, sizeof path, "%s/%d", folder, number);
      int fd = open (path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
      if (fd < 0 && is_mine (path)) /* taken before the process executed its program again */
        return number;
      if (fd < 0)
        continue;
      dprintf (fd, "%d\n", (int)getpid ());
      close (fd);
      return number;
    }
  return -1;
}

/* The number of this process, if `path` is the checkpoint or a file beside it; else -1. */
static int
number_for (const char *path)
{
  static int number = -1;
  const char *folder = getenv ("SLOW_PLACE_FOLDER"), *name = getenv ("SLOW_PLACE_NAME");

  if (folder == NULL || name == NULL || !is_node || strstr (path, name) == NULL)
    return -1;
  if (number < 0)
    number = take_number (folder);
  return number;
}

int
fsync (int fd)
{
  static int (*real) (int);
  const char *fast = getenv ("SLOW_PLACE_FAST");
  char link[64], path[4096];

  if (real == NULL)
    *(void **)&real = dlsym (RTLD_NEXT, "fsync");
  snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink (link, path, sizeof path - 1);
  path[n > 0 ? n : 0] = '\0';
  if (fast != NULL)
    {
      int number = number_for (path);
      if (number >= 0 && number != atoi (fast))
        usleep (getenv ("SLOW_PLACE_US") != NULL ? (useconds_t)atoi (getenv ("SLOW_PLACE_US"))
                                                 : SLOW_US);
    }
  return real (fd);
}

static int
is_denied (const char *path)
{
  const char *denied = getenv ("SLOW_PLACE_DENIED");
  int number = denied != NULL ? number_for (path) : -1;

  return number >= 0 && number < atoi (denied);
}

static int
open_unless_denied (const char *symbol, const char *path, int flags, mode_t mode)
{
  int (*real) (const char *, int, ...);

  if (is_denied (path))
    {
      errno = EACCES;
      return -1;
    }
  *(void **)&real = dlsym (RTLD_NEXT, symbol);
  return real (path, flags, mode);
}

int
open (const char *path, int flags, ...)
{
  va_list args;
  va_start (args, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg (args, mode_t) : 0;
  va_end (args);
  return open_unless_denied ("open", path, flags, mode);
}

int
open64 (const char *path, int flags, ...)
{
  va_list args;
  va_start (args, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg (args, mode_t) : 0;
  va_end (args);
  return open_unless_denied ("open64", path, flags, mode);
}
