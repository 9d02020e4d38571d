/* SPDX-License-Identifier: BSD-3-Clause */
/* held FILE [DEPTH [MS]]: a tree of 2^DEPTH leaves (default 15), each of which sleeps for MS
 * milliseconds (default 20) unless FILE exists. A test holds a run with it without using processor
 * time, and ends it at once by creating FILE. Without FILE the run lasts 2^DEPTH * MS, divided by
 * the number of workers: with the defaults 82 s for eight workers. Prints the number of leaves. */
#include <satin.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 15
#define DEPTH_MAX 24
#define NAP_MS 20

SATIN_RECORD (Held, (uint8_t, name, 1024), (int32_t, ms))
SATIN_CONST (Held, hold)

SATIN_JOB (held, int64_t, (int32_t, depth))
{
  int64_t left, right;

  if (depth == 0)
    {
      int32_t ms = satin_const (hold)->ms;
      struct timespec rest = { ms / 1000, ms % 1000 * 1000000L };

      if (access ((const char *)satin_const (hold)->name, F_OK) != 0)
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
  Held how = { .ms = argc > 3 ? atoi (argv[3]) : NAP_MS };
  int32_t depth = argc > 2 ? atoi (argv[2]) : DEPTH;
  int64_t leaves;

  if (argc < 2 || argc > 4 || strlen (argv[1]) >= sizeof how.name || depth < 0 || depth > DEPTH_MAX
      || how.ms < 0)
    return 2;
  memcpy (how.name, argv[1], strlen (argv[1]));
  satin_publish (run, hold, &how);
  if (!satin_root (run, held, &leaves, depth))
    return satin_stopped (run);
  printf ("%" PRId64 "\n", leaves);
  return 0;
}

SATIN_APP ("held", "FILE [DEPTH [MS]]", held_main)
