/* SPDX-License-Identifier: BSD-3-Clause */
/* See words.h. */
#include "config.h"

#include "words.h"

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

#define WORDS_PATIENCE_MS 1000
#define WORDS_FRAMES_MAX 32
#define WORDS_BACKTRACE_S 2

typedef enum
{
  WORDS_NONE,
  WORDS_BEGUN, /* a thread writes what follows */
  WORDS_SPOKEN,
  WORDS_REHEARSED, /* the driver waits for a rehearsal of the job */
  WORDS_TAKEN,
  WORDS_HEARD, /* die as you were about to */
  WORDS_END    /* the run has ended by them */
} WordsState;

static gint words_state; /* atomic: WordsState */
static pid_t words_pid;  /* not that of what a job forks */
static Stack *words_stack;
static const char *words_cause;
static gboolean words_repeat;
static gint words_unwinds, words_written; /* atomic: the backtrace is begun, done */
static sigjmp_buf words_astray;

void
words_begin (void)
{
#ifdef __GLIBC__
  void *frame;

  (void)backtrace (&frame, 1); /* it loads a library, which no signal handler may */
#endif
  words_pid = getpid ();
  memory_set_speaker (words_speak);
}

static WordsState
state_now (void)
{
  return (WordsState)g_atomic_int_get (&words_state);
}

static void
on_alarm (int number G_GNUC_UNUSED)
{
  _exit (6);
}

/* After the words were heard. A damaged stack may lead the unwinder astray: then words_speak jumps
 * back here. The alarm is for locks that the fault left taken. */
static void
write_backtrace (void)
{
#ifdef __GLIBC__
  void *frames[WORDS_FRAMES_MAX];
  sigset_t set;

  signal (SIGALRM, on_alarm);
  sigemptyset (&set);
  sigaddset (&set, SIGALRM);
  sigaddset (&set, SIGSEGV);
  sigaddset (&set, SIGBUS);
  pthread_sigmask (SIG_UNBLOCK, &set, NULL);
  alarm (WORDS_BACKTRACE_S);
  if (sigsetjmp (words_astray, 0) == 0)
    {
      g_atomic_int_set (&words_unwinds, TRUE);
      backtrace_symbols_fd (frames, backtrace (frames, WORDS_FRAMES_MAX), STDERR_FILENO);
    }
  alarm (0);
#endif
  g_atomic_int_set (&words_written, TRUE);
}

/* How long whoever speaks waits in all. */
static int
patience_ms (void)
{
  return WORDS_PATIENCE_MS + (state_now () >= WORDS_REHEARSED ? REHEARSE_MS : 0);
}

gboolean
words_speak (const char *cause, gboolean repeat)
{
  Stack *stack = worker_here ();
  const struct timespec moment = { .tv_nsec = 1000000 };
  gboolean is_first;

  if (stack == NULL || stack->engine->config.wake == NULL || getpid () != words_pid)
    return FALSE;
  rehearse_stop_here (stack);
  if (stack == words_stack && g_atomic_int_get (&words_unwinds))
    siglongjmp (words_astray, 1);
  if (stack->own.mark == NULL)
    return FALSE;
  is_first = g_atomic_int_compare_and_exchange (&words_state, WORDS_NONE, WORDS_BEGUN);
  if (is_first)
    {
      words_stack = stack;
      words_cause = cause;
      words_repeat = repeat;
      g_atomic_int_set (&words_state, WORDS_SPOKEN);
    }
  for (int i = 0; i < patience_ms () && state_now () < WORDS_HEARD; i++)
    {
      if (i % 100 == 0) /* it may have crossed what it was to interrupt */
        stack->engine->config.wake (stack->engine->config.data);
      nanosleep (&moment, NULL);
    }
  if (is_first)
    write_backtrace ();
  return state_now () == WORDS_END;
}

/* The stack stands still: its thread waits in words_speak, or stopped in a rehearsal. */
static void
fill_event (EngineEvent *event, Stack *stack, gboolean innermost)
{
  SatinSlot_ *slot = stack->own.running;

  *event = (EngineEvent){ .kind = ENGINE_CRASH_REPORT,
                          .cause = words_cause,
                          .innermost = innermost,
                          .job = slot->job,
                          .at = trace_path_of (stack, slot),
                          .path = trace_path_of (words_stack, words_stack->own.mark + 1),
                          .value = slot_encode_args (slot) };
}

gboolean
words_hear (Engine *engine, EngineEvent *event)
{
  WordsState state = state_now ();
  RehearseEnd end = REHEARSE_OVER;

  if ((state != WORDS_SPOKEN && state != WORDS_REHEARSED) || words_stack->engine != engine)
    return FALSE;
  if (state == WORDS_SPOKEN && words_repeat && rehearse_begin (words_stack))
    {
      g_atomic_int_set (&words_state, WORDS_REHEARSED);
      return FALSE;
    }
  if (state == WORDS_REHEARSED)
    end = rehearse_end ();
  if (end == REHEARSE_RUNS)
    return FALSE;
  g_atomic_int_set (&words_state, WORDS_TAKEN);
  fill_event (event, end == REHEARSE_FAILED ? rehearse_stack () : words_stack,
              end == REHEARSE_FAILED);
  return TRUE;
}

void
engine_words_heard (gboolean end)
{
  g_atomic_int_set (&words_state, end ? WORDS_END : WORDS_HEARD);
  for (int i = 0; i < WORDS_BACKTRACE_S * 1000 && !g_atomic_int_get (&words_written); i++)
    g_usleep (1000);
}

static void end_process (const char *cause, gboolean repeat) G_GNUC_NORETURN;

static void
end_process (const char *cause, gboolean repeat)
{
  if (words_speak (cause, repeat))
    _Exit (6);
  signal (SIGABRT, SIG_DFL);
  abort ();
}

void
engine_exit_by_job (void)
{
  if (worker_here () != NULL && getpid () == words_pid)
    end_process ("it called exit", FALSE); /* a second exit would end the process */
}

/* pthread_exit, a cancellation: nobody else can go on with what is on this stack. */
static void
on_thread_end (gpointer unused G_GNUC_UNUSED)
{
  if (getpid () == words_pid)
    end_process ("it ended its thread", TRUE);
}

void
words_watch_thread (gboolean watch)
{
  static GPrivate watched = G_PRIVATE_INIT (on_thread_end);

  g_private_set (&watched, watch ? &watched : NULL);
}

void
satin_thrown_ (const char *type, const char *what)
{
  /* Kept: the driver reads it later, and the process ends. */
  const char *cause = type == NULL
                          ? g_strdup ("it called std::terminate")
                          : g_strconcat ("it threw ", type, what != NULL ? ": " : NULL, what, NULL);

  if (worker_here () == NULL)
    fprintf (stderr, "satin: a C++ exception left main or a thread of the program's own: %s\n",
             type == NULL ? "std::terminate was called" : cause + strlen ("it threw "));
  end_process (cause, TRUE);
}
