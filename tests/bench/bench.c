/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* UTS T3L, 17,844 levels, takes 7 MiB without tasks. */
#define STACK_BYTES ((size_t)1 << 30)

BenchWork
bench_work (const char *kernel, const char *argument)
{
  BenchWork work = { 0 };
  char sentence[256];
  const char *const line[] = { "uts", argument };

  work.kernel = kernel;
  if (strcmp (kernel, "uts") == 0)
    {
      if (!uts_parse (2, (char **)line, &work.tree, sentence, sizeof sentence))
        {
          fprintf (stderr, "uts: %s\n", sentence);
          exit (2);
        }
    }
  else if (strcmp (kernel, "integrate") == 0)
    work.epsilon = g_ascii_strtod (argument, NULL);
  else
    work.n = (int32_t)g_ascii_strtoll (argument, NULL, 10);
  return work;
}

double
bench_now (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void
bench_show_number (char *result, int64_t number)
{
  snprintf (result, BENCH_RESULT_MAX, "%" PRId64, number);
}

void
bench_show_counts (char *result, const UtsCounts *counts)
{
  snprintf (result, BENCH_RESULT_MAX, "%" PRIu64 ",%" PRIu32 ",%" PRIu64, counts->nodes,
            counts->depth, counts->leaves);
}

void
bench_show_double (char *result, double value)
{
  snprintf (result, BENCH_RESULT_MAX, "%.17g", value);
}

void
bench_print (double seconds, const char *result)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  printf ("%.6f %s %ld\n", seconds, result, usage.ru_maxrss);
}

typedef struct
{
  BenchWork work;
  void (*compute) (const BenchWork *work, char *result);
  gboolean twice;
} Program;

/* Runs the program's work and, with --twice, also in a second process that begins at the same
 * moment. */
static void *
run (void *data)
{
  Program *program = (Program *)data;
  char result[BENCH_RESULT_MAX] = "unknown";
  int go[2];
  char token = 0;
  pid_t other = -1;
  double begin;
  int status = 0;

  if (program->twice)
    {
      if (pipe (go) != 0 || (other = fork ()) < 0)
        {
          perror ("serial: no second process");
          exit (1);
        }
      if (other == 0)
        {
          if (read (go[0], &token, 1) != 1)
            _exit (1);
          program->compute (&program->work, result);
          _exit (0);
        }
      usleep (20000); /* until the other process waits in read */
    }
  begin = bench_now ();
  if (program->twice && write (go[1], &token, 1) != 1)
    exit (1);
  program->compute (&program->work, result);
  if (program->twice && (waitpid (other, &status, 0) != other || status != 0))
    exit (1);
  bench_print (bench_now () - begin, result);
  return NULL;
}

int
bench_main (int argc, char **argv, void (*compute) (const BenchWork *work, char *result))
{
  Program program = { .compute = compute };
  pthread_attr_t attributes;
  pthread_t thread;

  program.twice = argc == 4 && strcmp (argv[3], "--twice") == 0;
  if (argc != 3 && !program.twice)
    {
      fprintf (stderr, "usage: %s fib|nqueens|uts|integrate ARGUMENT [--twice]\n", argv[0]);
      return 2;
    }
  program.work = bench_work (argv[1], argv[2]);
  pthread_attr_init (&attributes);
  if (pthread_attr_setstacksize (&attributes, STACK_BYTES) != 0
      || pthread_create (&thread, &attributes, run, &program) != 0)
    {
      fprintf (stderr, "%s: no thread with a stack of %zu bytes\n", argv[0], STACK_BYTES);
      return 1;
    }
  pthread_join (thread, NULL);
  pthread_attr_destroy (&attributes);
  return 0;
}
