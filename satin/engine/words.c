/* SPDX-License-Identifier: BSD-3-Clause */
/* See words.h. */
#include "config.h"

#include "words.h"

#include "memory.h"
#include "trace.h"
#include "worker.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define WORDS_PATIENCE_MS 1000

enum
{
  WORDS_NONE,
  WORDS_BEGUN, /* a thread writes what follows */
  WORDS_SPOKEN,
  WORDS_TAKEN,
  WORDS_HEARD, /* die as you were about to */
  WORDS_END    /* the run has ended by them */
};

static gint words_state; /* atomic */
static pid_t words_pid;  /* not that of what a job forks */
static Stack *words_stack;
static const char *words_cause;

void
words_begin (void)
{
  words_pid = getpid ();
  memory_set_speaker (words_speak);
}

gboolean
words_speak (const char *cause)
{
  Stack *stack = worker_here ();
  const struct timespec moment = { .tv_nsec = 1000000 };

  if (stack == NULL || stack->mark == NULL || stack->engine->config.wake == NULL
      || getpid () != words_pid)
    return FALSE;
  if (g_atomic_int_compare_and_exchange (&words_state, WORDS_NONE, WORDS_BEGUN))
    {
      words_stack = stack;
      words_cause = cause;
      g_atomic_int_set (&words_state, WORDS_SPOKEN);
    }
  for (int i = 0; i < WORDS_PATIENCE_MS && g_atomic_int_get (&words_state) < WORDS_HEARD; i++)
    {
      if (i % 100 == 0) /* it may have crossed what it was to interrupt */
        stack->engine->config.wake (stack->engine->config.data);
      nanosleep (&moment, NULL);
    }
  return g_atomic_int_get (&words_state) == WORDS_END;
}

gboolean
words_hear (Engine *engine, EngineEvent *event)
{
  if (g_atomic_int_get (&words_state) != WORDS_SPOKEN || words_stack->engine != engine)
    return FALSE;
  g_atomic_int_set (&words_state, WORDS_TAKEN);
  const Origin *origin = slot_origin (words_stack->mark);
  *event = (EngineEvent){ .kind = ENGINE_LAST_WORDS, .cause = words_cause };
  if (origin->held != NULL)
    {
      event->job = origin->held->job;
      event->path = g_strdup (origin->held->loan->path);
      event->value = g_bytes_ref (origin->held->loan->args);
      return TRUE;
    }
  Trace trace;
  trace_init (&trace, origin->victim, origin->slot);
  event->job = origin->slot->job;
  event->path = trace_path (&trace, engine->config.stems);
  event->value = slot_encode_args (origin->slot);
  trace_clear (&trace);
  return TRUE;
}

void
engine_words_heard (gboolean end)
{
  g_atomic_int_set (&words_state, end ? WORDS_END : WORDS_HEARD);
}

static void
end_process (const char *cause)
{
  if (words_speak (cause))
    _Exit (6);
  signal (SIGABRT, SIG_DFL);
  abort ();
}

void
engine_exit_by_job (void)
{
  if (worker_here () != NULL && getpid () == words_pid)
    end_process ("it called exit");
}

/* pthread_exit, a cancellation: nobody else can go on with what is on this stack. */
static void
on_thread_end (gpointer unused G_GNUC_UNUSED)
{
  if (getpid () == words_pid)
    end_process ("it ended its thread");
}

void
words_watch_thread (gboolean watch)
{
  static GPrivate watched = G_PRIVATE_INIT (on_thread_end);

  g_private_set (&watched, watch ? &watched : NULL);
}
