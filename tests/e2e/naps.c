/* SPDX-License-Identifier: BSD-3-Clause */
/* A tree of 2^DEPTH leaves that sleep for MS milliseconds and then add a byte to the file named by
 * NAPS_LOG. That breaks the first law on purpose: a test learns how many leaves were ever computed.
 * Usage: naps MS DEPTH [CODE]. main returns CODE. With negative MS a leaf computes instead, about a
 * microsecond for each unit. While the file named by NAPS_HASTE exists, leaves neither sleep nor
 * compute. While the file named by NAPS_LONG exists, no sleep ends, except by NAPS_HASTE. */
#include <satin.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void
count_leaf (void)
{
  const char *name = getenv ("NAPS_LOG");
  int fd = name == NULL ? -1 : open (name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

  if (fd < 0)
    return;
  if (write (fd, ".", 1) != 1)
    abort ();
  close (fd);
}

#define SLICE_MS 50

/* TRUE if the file that `variable` names exists. */
static int
exists (const char *variable)
{
  const char *name = getenv (variable);

  return name != NULL && access (name, F_OK) == 0;
}

/* Sleeps in slices, so that NAPS_HASTE is soon noticed. */
static void
nap (int ms)
{
  while ((ms > 0 || exists ("NAPS_LONG")) && !exists ("NAPS_HASTE"))
    {
      int slice = ms > 0 && ms < SLICE_MS ? ms : SLICE_MS;
      struct timespec rest = { 0, slice * 1000000L };

      while (nanosleep (&rest, &rest) != 0 && errno == EINTR)
        continue;
      ms -= slice;
    }
}

/* The same work each time; it does not look at the clock. */
static void
compute (int units)
{
  volatile uint32_t x = 1;

  for (int i = 0; i < units * 400; i++)
    x = x * 1664525u + 1013904223u;
}

SATIN_JOB (naps, int64_t, (int32_t, depth), (int32_t, ms))
{
  int64_t left = 0, right = 0;

  if (depth == 0)
    {
      if (ms < 0 && !exists ("NAPS_HASTE"))
        compute (-ms);
      else
        nap (ms);
      count_leaf ();
      return 1;
    }
  satin_spawn (naps, &left, depth - 1, ms);
  satin_spawn (naps, &right, depth - 1, ms);
  satin_sync ();
  return left + right;
}

static int
naps_main (SatinRun *run, int argc, char **argv)
{
  int64_t leaves;

  if (argc < 3 || argc > 4)
    return 2;
  if (!satin_root (run, naps, &leaves, atoi (argv[2]), atoi (argv[1])))
    return satin_stopped (run);
  printf ("%d\n", (int)leaves);
  return argc == 4 ? atoi (argv[3]) : 0;
}

SATIN_APP ("naps", "MS DEPTH [CODE]", naps_main)
