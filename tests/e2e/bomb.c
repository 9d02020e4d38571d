/* SPDX-License-Identifier: BSD-3-Clause */
/* A tree of 2^DEPTH leaves that each sleep for MS. Leaf number BAD then ends its process in the way
 * that HOW says, unless BOMB_MENDED is set. Usage: bomb HOW BAD MS DEPTH.
 * When the file named by BOMB_GO exists, leaves no longer sleep. */
#include <satin.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef enum
{
  HOW_SEGV,
  HOW_ABORT,
  HOW_FPE,
  HOW_DEEP,
  HOW_EXIT,
  HOW_QUICK,  /* quick_exit */
  HOW_THREAD, /* pthread_exit: only the worker's thread ends */
  HOW_HELPER, /* a thread that the job has started calls exit */
  HOW_ERROR,
  HOW_KILL,  /* no message */
  HOW_CLOSE, /* all descriptors but the first three are closed, as daemons do */
  HOW_FORK,  /* only a process that the job has forked ends */
  HOW_STAY,  /* nothing ends; a forked process stays; every 256th leaf does so, too */
  HOW_FAIL,  /* satin_fail */
  HOW_ONCE,  /* a thread of the job aborts, unless main runs here; every 64th leaf does so */
  HOW_NOT
} How;

static int
fall (volatile char *before, int levels)
{
  volatile char here[4096];

  here[0] = before[0];
  return levels == 0 ? 0 : fall (here, levels - 1) + here[0];
}

static void *
exit_at_once (void *unused G_GNUC_UNUSED)
{
  exit (0);
}

static gboolean is_master;

static void *
abort_with_words (void *unused G_GNUC_UNUSED)
{
  fprintf (stderr, "the bomb said so once\n");
  abort ();
}

static void
blow (How how)
{
  volatile int *nowhere = NULL, zero = 0;
  int status = 0;

  if (getenv ("BOMB_MENDED") != NULL)
    return;
  switch (how)
    {
    case HOW_SEGV:
      *nowhere = 1;
      break;
    case HOW_ABORT:
      abort ();
    case HOW_FPE:
      zero = 7 / zero;
      break;
    case HOW_DEEP:
      zero = fall ((volatile char *)"", 100000000);
      break;
    case HOW_EXIT:
      exit (0);
    case HOW_QUICK:
      quick_exit (0);
    case HOW_THREAD:
      pthread_exit (NULL);
    case HOW_HELPER:
      g_thread_join (g_thread_new ("helper", exit_at_once, NULL));
      break;
    case HOW_ERROR:
      g_error ("the job cannot go on");
    case HOW_KILL:
      kill (getpid (), SIGKILL);
      break;
    case HOW_CLOSE:
      for (int fd = 3; fd < 1024; fd++)
        close (fd);
      break;
    case HOW_ONCE:
      if (!is_master)
        g_thread_join (g_thread_new ("helper", abort_with_words, NULL));
      break;
    case HOW_STAY:
      if (fork () == 0)
        {
          sleep (60);
          _exit (0);
        }
      break;
    case HOW_FORK:
      if (fork () == 0)
        exit (3);
      if (wait (&status) < 0 || WEXITSTATUS (status) != 3)
        abort ();
      break;
    default:
      break;
    }
}

SATIN_JOB (bomb, int64_t, (int32_t, depth), (int32_t, leaf), (int32_t, bad), (int32_t, how),
           (int32_t, ms))
{
  int64_t left = 0, right = 0;

  if (depth == 0)
    {
      const char *go = getenv ("BOMB_GO");
      struct timespec rest = { ms / 1000, ms % 1000 * 1000000L };

      if (go == NULL || access (go, F_OK) != 0)
        while (nanosleep (&rest, &rest) != 0 && errno == EINTR)
          continue;
      if (leaf == bad || (how == HOW_ONCE && leaf % 64 == 1)
          || (how == HOW_STAY && leaf % 256 == bad % 256))
        blow ((How)how);
      if (leaf == bad && how == HOW_FAIL && getenv ("BOMB_MENDED") == NULL)
        satin_fail ("leaf %d of 2048 is bad", leaf);
      return 1;
    }
  satin_spawn (bomb, &left, depth - 1, 2 * leaf, bad, how, ms);
  satin_spawn (bomb, &right, depth - 1, 2 * leaf + 1, bad, how, ms);
  satin_sync ();
  return left + right;
}

static int
bomb_main (SatinRun *run, int argc, char **argv)
{
  static const char *const names[]
      = { "segv",  "abort", "fpe",   "deep", "exit", "quick", "thread", "helper",
          "error", "kill",  "close", "fork", "stay", "fail", "once",  "not" };
  int64_t leaves;
  int32_t how = HOW_SEGV;

  if (argc != 5)
    return 2;
  is_master = TRUE;
  while (how < HOW_NOT && strcmp (names[how], argv[1]) != 0)
    how++;
  if (!satin_root (run, bomb, &leaves, atoi (argv[4]), 0, atoi (argv[2]), how, atoi (argv[3])))
    return satin_stopped (run);
  printf ("%d\n", (int)leaves);
  return 0;
}

SATIN_APP ("bomb", "HOW BAD MS DEPTH", bomb_main)
