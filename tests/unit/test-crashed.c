/* SPDX-License-Identifier: BSD-3-Clause */
/* The last report of a process: which job ends it, found by a rehearsal where one is possible, and
 * with which exit code. Each case ends a process of its own. */
#include "config.h"

#include "engine-rig.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED TRUE /* sanitizers have their own handlers */
#else
#define IS_SANITIZED FALSE
#endif

typedef enum
{
  END_ABORT,
  END_FAULT,
  END_EXIT,
  END_THREAD,
  END_ONCE,  /* the job aborts, but not when it runs again */
  END_FORKED /* a process that the job has forked aborts */
} End;

SATIN_JOB (leaf, int32_t, (int32_t, n))
{
  return n;
}

/* The signal that ends a process which aborts. */
static int32_t
abort_in_fork (void)
{
  pid_t child = fork ();
  int status = 0;

  if (child == 0)
    abort ();
  (void)waitpid (child, &status, 0);
  return WIFSIGNALED (status) ? WTERMSIG (status) : 0;
}

SATIN_JOB (ends, int32_t, (int32_t, how))
{
  static gint times; /* atomic */

  if (how == END_ABORT || (how == END_ONCE && g_atomic_int_add (&times, 1) == 0))
    abort ();
  if (how == END_FAULT)
    *(volatile int *)NULL = 1;
  if (how == END_EXIT)
    exit (0);
  if (how == END_THREAD)
    pthread_exit (NULL);
  if (how == END_FORKED)
    return abort_in_fork ();
  return how;
}

SATIN_JOB (below, int32_t, (int32_t, how))
{
  int32_t x, y;

  satin_spawn (leaf, &x, 1);
  satin_spawn (ends, &y, how);
  satin_sync ();
  return x + y;
}

SATIN_JOB (above, int32_t, (int32_t, how))
{
  int32_t x, y;

  satin_spawn (leaf, &x, 1);
  satin_spawn (below, &y, how);
  satin_sync ();
  return x + y;
}

static const SatinJob *const jobs[] = { &above_job, &below_job, &ends_job, &leaf_job, NULL };

/* Runs in a process of its own, and does not return. */
static void
speak (End how, gboolean end)
{
  Rig *rig;
  EngineEvent event;

  (void)atexit (engine_exit_by_job); /* as in every node */
  rig = rig_new_for (jobs, 1, 0, 1);
  rig_start (rig, 0, &(satin_args_above){ (int32_t)how });
  rig_await (rig, ENGINE_CRASH_REPORT, &event);
  g_print ("job '%s' at '%s', taken '%s', innermost %d: %s\n", event.job->name, event.at,
           event.path, event.innermost, event.cause);
  if (!end)
    _exit (0);
  engine_crash_reported (TRUE);
  for (;;)
    pause ();
}

static void
check (End how, const char *said)
{
  if (IS_SANITIZED)
    {
      g_test_skip ("sanitized");
      return;
    }
  if (g_test_subprocess ())
    speak (how, FALSE);
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stdout (said);
}

static void
test_abort (void)
{
  check (END_ABORT, "*job 'ends' at '/1/1', taken '', innermost 1: abort\n*");
}

static void
test_fault (void)
{
  check (END_FAULT, "*job 'ends' at '/1/1', taken '', innermost 1: segmentation fault\n*");
}

static void
test_thread (void)
{
  check (END_THREAD, "*job 'ends' at '/1/1', taken '', innermost 1: it ended its thread\n*");
}

/* The job is not run again: the process would never end. */
static void
test_exit (void)
{
  check (END_EXIT, "*taken '', innermost 0: it called exit\n*");
}

static void
test_once (void)
{
  check (END_ONCE, "*taken '', innermost 0: abort\n*");
}

/* A process that a job has forked is none of the run's: it ends as it would without Satin, and
 * neither reports nor prints anything. */
static void
test_forked (void)
{
  if (IS_SANITIZED)
    {
      g_test_skip ("sanitized");
      return;
    }
  if (g_test_subprocess ())
    {
      Rig *rig = rig_new_for (jobs, 1, 0, 1);
      g_autoptr (GBytes) value = rig_run (rig, 0, &(satin_args_above){ END_FORKED });
      int32_t sum;

      memcpy (&sum, g_bytes_get_data (value, NULL), sizeof sum);
      g_assert_cmpint (sum, ==, 1 + 1 + SIGABRT);
      rig_free (rig);
      return;
    }
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stderr ("");
}

static void
test_end (void)
{
  if (IS_SANITIZED)
    {
      g_test_skip ("sanitized");
      return;
    }
  if (g_test_subprocess ())
    speak (END_ABORT, TRUE);
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stdout ("*innermost 1: abort\n*");
  g_test_trap_assert_stderr ("*test-crashed*"); /* the backtrace */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/crashed/abort", test_abort);
  g_test_add_func ("/crashed/fault", test_fault);
  g_test_add_func ("/crashed/thread", test_thread);
  g_test_add_func ("/crashed/exit-is-not-tried-again", test_exit);
  g_test_add_func ("/crashed/what-goes-well-again", test_once);
  g_test_add_func ("/crashed/a-process-that-a-job-forks", test_forked);
  g_test_add_func ("/crashed/the-end-with-a-backtrace", test_end);
  return g_test_run ();
}
