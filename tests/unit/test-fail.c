/* SPDX-License-Identifier: BSD-3-Clause */
/* satin_fail: the driver is told which job failed and why; the stack of a failed job still serves
 * scans and halts; an aborted job fails nothing. A job that breaks a rule fails, too. */
#include "config.h"

#include "engine-rig.h"
#include "record.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static gint begun, aborted; /* atomic */

SATIN_JOB (check, int64_t, (int32_t, row), (int32_t, bad))
{
  if (row == bad)
    satin_fail ("row %d\nis \xff no row", row);
  return row;
}

SATIN_JOB (table, int64_t, (int32_t, rows), (int32_t, bad))
{
  int64_t sum = 0, x, y;

  for (int32_t row = 0; row < rows; row += 2)
    {
      satin_spawn (check, &x, row, bad);
      satin_spawn (check, &y, row + 1, bad);
      satin_sync ();
      sum += x + y;
    }
  return sum;
}

/* Fails when it knows that it was aborted. */
SATIN_JOB (late, int64_t, (int32_t, n))
{
  g_atomic_int_set (&begun, 1);
  while (!g_atomic_int_get (&aborted))
    sched_yield ();
  satin_fail ("nobody is to hear this %d", n);
}

SATIN_JOB (hurry, int64_t, (int32_t, n))
{
  int64_t x, y;

  satin_spawn (late, &x, n);
  satin_spawn (check, &y, n, -1);
  if (satin_sync_next () != 1)
    return -1;
  while (!g_atomic_int_get (&begun))
    if (!satin_aborted ()) /* a poll: the job may be stolen */
      sched_yield ();
  g_atomic_int_set (&aborted, 1);
  satin_abort ();
  return y;
}

/* A result of 1 MiB, of which only one page is touched. */
SATIN_RECORD (Roomy, (uint8_t, bytes, 1048576))

SATIN_JOB (roomy, Roomy, (int32_t, n))
{
  static Roomy result;

  (void)n;
  return result;
}

SATIN_JOB (greedy, int64_t, (int32_t, n))
{
  static Roomy into;

  for (int32_t i = 0; i < n; i++)
    satin_spawn (roomy, &into, i);
  satin_sync ();
  return 0;
}

SATIN_CONST (int64_t, never)

SATIN_JOB (reader, int64_t, (int32_t, n))
{
  return n + *satin_const (never);
}

SATIN_JOB (readers, int64_t, (int32_t, n))
{
  int64_t x, y;

  satin_spawn (check, &x, n, -1);
  satin_spawn (reader, &y, n);
  satin_sync ();
  return x + y;
}

enum
{
  CHECK,
  TABLE,
  LATE,
  HURRY,
  GREEDY,
  READERS
};
static const SatinJob *const jobs[]
    = { &check_job,   &table_job, &late_job,   &hurry_job, &greedy_job,
        &readers_job, &roomy_job, &reader_job, NULL };

static void
test_the_driver_hears_which_job_failed (void)
{
  const satin_args_table args = { 8, 5 };
  const satin_args_check wanted = { 5, 5 };
  g_autoptr (GBytes) encoded = record_encode (check_job.args, &wanted);
  Rig *rig = rig_new_for (jobs, 2, 0, 1);
  EngineEvent event;

  rig_start (rig, TABLE, &args);
  rig_await (rig, ENGINE_FAILED, &event);
  g_assert_cmpstr (event.at, ==, "/5");
  g_assert_cmpstr (event.path, ==, "/5");
  g_assert_true (event.job == &check_job);
  g_assert_true (g_bytes_equal (event.value, encoded));
  g_assert_cmpstr (event.cause, ==, "row 5 is \xef\xbf\xbd no row");
  engine_event_clear (&event);

  /* Jobs that finished before can still be saved, and the failed stack does not delay a halt. */
  engine_scan (rig->engine, TRUE);
  rig_await (rig, ENGINE_ROWS, &event);
  g_assert_cmpuint (event.rows->len, >=, 4); /* and number 4, if a thief has run it */
  g_assert_cmpuint (event.rows->len, <=, 5);
  engine_event_clear (&event);
  rig_await (rig, ENGINE_SCANNED, &event);
  engine_event_clear (&event);
  engine_halt (rig->engine, FALSE);
  rig_await (rig, ENGINE_HALTED, &event);
  engine_event_clear (&event);
  rig_free (rig);
}

static void
test_what_was_aborted_fails_nothing (void)
{
  const satin_args_hurry args = { 7 };
  Rig *rig = rig_new_for (jobs, 2, 0, 1);
  EngineEvent event;
  gboolean done = FALSE;

  rig_start (rig, HURRY, &args);
  while (!done && rig_next (rig, &event, 60 * G_USEC_PER_SEC))
    {
      g_assert_cmpint (event.kind, !=, ENGINE_FAILED);
      done = event.kind == ENGINE_DONE;
      engine_event_clear (&event);
    }
  g_assert_true (done);
  rig_free (rig);
}

static void
test_the_arena_is_full (void)
{
  rig_fail (jobs, GREEDY, &(int32_t){ 1 << 20 }, "",
            "the argument arena of its stack is full (* MiB): too many children with large"
            " arguments or results");
}

static void
test_a_constant_has_no_value (void)
{
  rig_fail (jobs, READERS, &(int32_t){ 4 }, "*", /* or one below it */
            "constant 'never' is read before satin_publish gave it a value");
}

/* Outside of a job there is no run that could end with an error, so the program ends. */
static void
test_main_reads_a_constant_without_a_value (void)
{
  int status = 0;
  pid_t child = fork ();

  if (child == 0)
    {
      (void)close (STDERR_FILENO);
      (void)*satin_const (never);
      _exit (0);
    }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGABRT);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fail/the-driver-hears-which-job-failed",
                   test_the_driver_hears_which_job_failed);
  g_test_add_func ("/fail/what-was-aborted-fails-nothing", test_what_was_aborted_fails_nothing);
  g_test_add_func ("/fail/the-arena-is-full", test_the_arena_is_full);
  g_test_add_func ("/fail/a-constant-has-no-value", test_a_constant_has_no_value);
  g_test_add_func ("/fail/main-reads-a-constant-without-a-value",
                   test_main_reads_a_constant_without_a_value);
  return g_test_run ();
}
