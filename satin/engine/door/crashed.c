/* SPDX-License-Identifier: BSD-3-Clause */
/* See crashed.h. */
#include "config.h"

#include "crashed.h"

#include "../os/memory.h"
#include "../sched/worker.h"
#include "../tree/trace.h"
#include "rehearse.h"

#ifdef __GLIBC__
#include <execinfo.h>
#endif
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CRASH_PATIENCE_MS 1000
#define CRASH_FRAMES_MAX 32
#define CRASH_BACKTRACE_S 2

typedef enum
{
  CRASH_NONE,
  CRASH_BEGUN,     /* a thread writes the variables below */
  CRASH_REPORTED,  /* the driver is asked to read them */
  CRASH_REHEARSED, /* the driver waits for a rehearsal of the job */
  CRASH_READ,      /* the driver has raised ENGINE_CRASH_REPORT */
  CRASH_TOLD,      /* other nodes know: the process may end as it was about to */
  CRASH_ENDS_RUN   /* … with exit code 6, since the report has ended the run */
} CrashState;

static gint crash_state; /* atomic: CrashState */
static pid_t crash_pid;  /* of this process; one that a job forks has another */
static Stack *crash_stack;
static const char *crash_cause;
static gboolean crash_may_repeat;
static gint crash_unwinds, crash_written; /* atomic: the backtrace is begun, and done */
static sigjmp_buf crash_unwind_failed;

void
crashed_init (void)
{
#ifdef __GLIBC__
  void *frame;

  (void)backtrace (&frame, 1); /* the first call loads a library; a signal handler must not */
#endif
  crash_pid = getpid ();
  memory_set_report (crashed_report);
}

static CrashState
state_now (void)
{
  return (CrashState)g_atomic_int_get (&crash_state);
}

static void
on_alarm (int number G_GNUC_UNUSED)
{
  _exit (6);
}

/* After the driver has told other nodes. The unwinder may fault on a damaged stack: then the signal
 * handler calls crashed_report, which jumps back here. The alarm ends the process if the unwinder
 * waits for a lock that the fault left taken. */
static void
write_backtrace (void)
{
#ifdef __GLIBC__
  void *frames[CRASH_FRAMES_MAX];
  sigset_t set;

  signal (SIGALRM, on_alarm);
  sigemptyset (&set);
  sigaddset (&set, SIGALRM);
  sigaddset (&set, SIGSEGV);
  sigaddset (&set, SIGBUS);
  pthread_sigmask (SIG_UNBLOCK, &set, NULL);
  alarm (CRASH_BACKTRACE_S);
  if (sigsetjmp (crash_unwind_failed, 0) == 0)
    {
      g_atomic_int_set (&crash_unwinds, TRUE);
      backtrace_symbols_fd (frames, backtrace (frames, CRASH_FRAMES_MAX), STDERR_FILENO);
    }
  alarm (0);
#endif
  g_atomic_int_set (&crash_written, TRUE);
}

/* How long the crashed thread waits for the driver in all. */
static int
patience_ms (void)
{
  return CRASH_PATIENCE_MS + (state_now () >= CRASH_REHEARSED ? REHEARSE_MS : 0);
}

gboolean
crashed_report (const char *cause, gboolean repeat)
{
  Stack *stack = worker_here ();
  const struct timespec moment = { .tv_nsec = 1000000 };
  gboolean is_first;

  if (stack == NULL || stack->engine->config.wake == NULL || getpid () != crash_pid)
    return FALSE;
  rehearse_stop_here (stack);
  if (stack == crash_stack && g_atomic_int_get (&crash_unwinds))
    siglongjmp (crash_unwind_failed, 1);
  if (stack->own.mark == NULL)
    return FALSE;
  is_first = g_atomic_int_compare_and_exchange (&crash_state, CRASH_NONE, CRASH_BEGUN);
  if (is_first)
    {
      crash_stack = stack;
      crash_cause = cause;
      crash_may_repeat = repeat;
      g_atomic_int_set (&crash_state, CRASH_REPORTED);
    }
  for (int i = 0; i < patience_ms () && state_now () < CRASH_TOLD; i++)
    {
      if (i % 100 == 0) /* again and again, since one may come just before the driver sleeps */
        stack->engine->config.wake (stack->engine->config.data);
      nanosleep (&moment, NULL);
    }
  if (is_first)
    write_backtrace ();
  return state_now () == CRASH_ENDS_RUN;
}

/* The stack stands still: its thread waits in crashed_report, or has stopped in a rehearsal. */
static void
fill_event (EngineEvent *event, Stack *stack, gboolean innermost)
{
  SatinSlot_ *slot = stack->own.running;

  *event = (EngineEvent){ .kind = ENGINE_CRASH_REPORT,
                          .cause = crash_cause,
                          .innermost = innermost,
                          .job = slot->job,
                          .at = trace_path_of (stack, slot),
                          .path = trace_path_of (crash_stack, crash_stack->own.mark + 1),
                          .value = slot_encode_args (slot) };
}

gboolean
crashed_next_report (Engine *engine, EngineEvent *event)
{
  CrashState state = state_now ();
  RehearseEnd end = REHEARSE_OVER;

  if ((state != CRASH_REPORTED && state != CRASH_REHEARSED) || crash_stack->engine != engine)
    return FALSE;
  if (state == CRASH_REPORTED && crash_may_repeat && rehearse_begin (crash_stack))
    {
      g_atomic_int_set (&crash_state, CRASH_REHEARSED);
      return FALSE;
    }
  if (state == CRASH_REHEARSED)
    end = rehearse_end ();
  if (end == REHEARSE_RUNS)
    return FALSE;
  g_atomic_int_set (&crash_state, CRASH_READ);
  fill_event (event, end == REHEARSE_FAILED ? rehearse_stack () : crash_stack,
              end == REHEARSE_FAILED);
  return TRUE;
}

void
engine_crash_reported (gboolean end)
{
  g_atomic_int_set (&crash_state, end ? CRASH_ENDS_RUN : CRASH_TOLD);
  for (int i = 0; i < CRASH_BACKTRACE_S * 1000 && !g_atomic_int_get (&crash_written); i++)
    g_usleep (1000);
}

static void end_process (const char *cause, gboolean repeat) G_GNUC_NORETURN;

static void
end_process (const char *cause, gboolean repeat)
{
  if (crashed_report (cause, repeat))
    _Exit (6);
  signal (SIGABRT, SIG_DFL);
  abort ();
}

void
engine_exit_by_job (void)
{
  if (worker_here () != NULL && getpid () == crash_pid)
    end_process ("it called exit", FALSE); /* a second exit would end the process */
}

/* After pthread_exit or a cancellation. No other thread can continue the jobs on this stack. */
static void
on_thread_end (gpointer unused G_GNUC_UNUSED)
{
  if (getpid () == crash_pid)
    end_process ("it ended its thread", TRUE);
}

void
crashed_watch_thread (gboolean watch)
{
  static GPrivate watched = G_PRIVATE_INIT (on_thread_end);

  g_private_set (&watched, watch ? &watched : NULL);
}

void
satin_thrown_ (const char *type, const char *what)
{
  /* Never freed: the driver reads it later, and then the process ends. */
  const char *cause = type == NULL
                          ? g_strdup ("it called std::terminate")
                          : g_strconcat ("it threw ", type, what != NULL ? ": " : NULL, what, NULL);

  if (worker_here () == NULL)
    fprintf (stderr, "satin: a C++ exception left main or a thread of the program's own: %s\n",
             type == NULL ? "std::terminate was called" : cause + strlen ("it threw "));
  end_process (cause, TRUE);
}
