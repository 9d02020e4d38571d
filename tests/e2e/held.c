/* SPDX-License-Identifier: BSD-3-Clause */
/* held FILE: a tree of 2^15 leaves, each of which sleeps for 20 ms unless FILE exists. So a test holds a run for as
 * long as it wants, at no cost in processor time, and ends it at once by creating FILE. Prints the number of leaves. */
#include <satin.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 15

SATIN_RECORD (File, (uint8_t, name, 1024))
SATIN_CONST (File, file)

SATIN_JOB (held, int64_t, (int32_t, depth))
{
  int64_t left, right;

  if (depth == 0)
    {
      struct timespec rest = { 0, 20 * 1000 * 1000 };

      if (access ((const char *)satin_const (file)->name, F_OK) != 0)
        while (nanosleep (&rest, &rest) != 0 && errno == EINTR)
          continue;
      return 1;
    }
  satin_spawn (held, &left, depth - 1);
  satin_spawn (held, &right, depth - 1);
  satin_sync ();
  return left + right;
}

static int
held_main (SatinRun *run, int argc, char **argv)
{
  File name = { 0 };
  int64_t leaves;

  if (argc != 2 || strlen (argv[1]) >= sizeof name.name)
    return 2;
  memcpy (name.name, argv[1], strlen (argv[1]));
  satin_publish (run, file, &name);
  if (!satin_root (run, held, &leaves, DEPTH))
    return satin_stopped (run);
  printf ("%" PRId64 "\n", leaves);
  return 0;
}

SATIN_APP ("held", "FILE", held_main)
