/* SPDX-License-Identifier: BSD-3-Clause */
/* A tree of 2^DEPTH leaves that sleep for MS milliseconds and return squares. The process that
 * creates the file WRONG_CLAIM computes wrong: it adds 1 to each result. With WRONG_ALL set all
 * processes do. With WRONG_TIME set each result depends on the time. With `chain` there are DEPTH
 * leaves one after the other, so none can be stolen. Usage: wrong DEPTH MS [chain]. */
#include <satin.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Whether this process computes wrong, determined once; atomic. 0: not yet known, 1: no, 2: yes. */
static int is_wrong;

static gboolean
computes_wrong (void)
{
  const char *claim = getenv ("WRONG_CLAIM");

  if (claim == NULL)
    return getenv ("WRONG_ALL") != NULL;
  if (__atomic_load_n (&is_wrong, __ATOMIC_ACQUIRE) == 0)
    {
      int fd = open (claim, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), unknown = 0;
      (void)__atomic_compare_exchange_n (&is_wrong, &unknown, fd >= 0 ? 2 : 1, FALSE,
                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
      if (fd >= 0)
        close (fd);
    }
  return __atomic_load_n (&is_wrong, __ATOMIC_ACQUIRE) == 2;
}

SATIN_JOB (squares, int64_t, (int32_t, depth), (int32_t, ms), (int64_t, number))
{
  int64_t left, right;

  if (depth == 0)
    {
      g_usleep ((gulong)ms * 1000);
      return number * number + computes_wrong ()
             + (getenv ("WRONG_TIME") != NULL ? g_get_monotonic_time () : 0);
    }
  satin_spawn (squares, &left, depth - 1, ms, 2 * number);
  satin_spawn (squares, &right, depth - 1, ms, 2 * number + 1);
  satin_sync ();
  return left + right;
}

SATIN_JOB (chain, int64_t, (int32_t, n), (int32_t, ms))
{
  int64_t sum = 0, one;

  for (int32_t i = 0; i < n; i++)
    {
      satin_spawn (squares, &one, 0, ms, i);
      satin_sync ();
      sum += one;
    }
  return sum;
}

static int
wrong_main (SatinRun *run, int argc, char **argv)
{
  int64_t sum;
  gboolean done;

  if (argc != 3 && argc != 4)
    return 2;
  done = argc == 4 ? satin_root (run, chain, &sum, atoi (argv[1]), atoi (argv[2]))
                   : satin_root (run, squares, &sum, atoi (argv[1]), atoi (argv[2]), 0);
  if (!done)
    return 1;
  printf ("%lld\n", (long long)sum);
  return 0;
}

SATIN_APP ("wrong", "DEPTH MS [chain]", wrong_main)
