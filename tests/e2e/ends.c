/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways in which main ends: ends HOW. With `so-far FILE` the root takes long; when the run is
 * stopped, main waits until FILE exists and then prints "so far". */
#include <satin.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

SATIN_JOB (answer, int64_t, (int32_t, n))
{
  int64_t x, y;

  if (n < 2)
    return n;
  satin_spawn (answer, &x, n - 1);
  satin_spawn (answer, &y, n - 2);
  satin_sync ();
  return x + y;
}

static int
ends_main (SatinRun *run, int argc, char **argv)
{
  const char *how = argc >= 2 ? argv[1] : "";
  gboolean waits = argc == 3 && strcmp (how, "so-far") == 0;
  int64_t result;
  int status = 0;

  if (strcmp (how, "daemon") == 0) /* only the child continues */
    {
      pid_t child = fork ();
      if (child > 0)
        return waitpid (child, &status, 0) == child ? WEXITSTATUS (status) : 9;
    }
  if (!satin_root (run, answer, &result, waits ? 60 : 15))
    {
      while (waits && access (argv[2], F_OK) != 0)
        usleep (10 * 1000);
      if (waits)
        fputs ("ends: so far\n", stderr);
      return satin_stopped (run);
    }
  if (strcmp (how, "minus") == 0)
    return -1;
  if (strcmp (how, "large") == 0)
    exit (256 + 3);
  printf ("%d\n", (int)result);
  if (strcmp (how, "closed") == 0 && fclose (stdout) != 0)
    return 1;
  if (strcmp (how, "fork") == 0) /* the child returns from here too */
    {
      fflush (stdout);
      pid_t child = fork ();
      if (child > 0)
        waitpid (child, NULL, 0);
    }
  if (strcmp (how, "exit") == 0)
    exit (0);
  if (strcmp (how, "quick") == 0)
    {
      fflush (stdout);
      quick_exit (0);
    }
  if (strcmp (how, "thread") == 0)
    pthread_exit (NULL);
  return 0;
}

SATIN_APP ("ends", "HOW", ends_main)
