/* SPDX-License-Identifier: BSD-3-Clause */
/* satin_fail: a job says that the run cannot go on, or breaks a rule of satin.h. The process is not
 * damaged. So the driver is told by the mailbox, and the stack serves scans, aborts and halts until
 * the run has ended. Owner threads. Tests: test-fail, e2e/fail.sh. */
#include "config.h"

#include "engine.h"
#include "sched/worker.h"
#include "tree/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* A failed job sleeps this long between two polls. */
#define FAIL_LOOK_US 2000

/* The formatted text as one line of UTF-8, never freed. */
static const char *
sentence (const char *format, va_list values)
{
  g_autofree char *raw = g_strdup_vprintf (format, values);
  g_autofree char *text = g_utf8_make_valid (raw, -1);

  return g_intern_string (g_strstrip (g_strdelimit (text, "\r\n", ' ')));
}

/* Raises ENGINE_FAILED. `innermost`: this job failed; else it or a job below it. */
static void
raise_failure (Stack *stack, SatinSlot_ *slot, gboolean innermost, const char *cause)
{
  EngineEvent event
      = { .kind = ENGINE_FAILED, .job = slot->job, .cause = cause, .innermost = innermost };

  event.at = trace_path_of (stack, slot);
  event.path = g_strdup (event.at);
  event.value = slot_encode_args (slot);
  mailbox_raise (stack->engine, &event);
}

void
satin_fail_ (SatinStack_ *open, SatinSlot_ *self, SatinSlot_ *top, const char *format, ...)
{
  Stack *stack = (Stack *)open;
  const char *cause;
  va_list values;

  va_start (values, format);
  cause = sentence (format, values);
  va_end (values);
  satin_poll_ (open, self, top); /* an aborted job does not fail the run */
  if (!trace_is_aborted (stack))
    raise_failure (stack, self, TRUE, cause);
  for (;;)
    {
      g_usleep (FAIL_LOOK_US);
      satin_poll_ (open, self, top);
    }
}

void
satin_const_missing_ (const SatinConst_ *constant)
{
  char *text = g_strdup_printf ("constant '%s' is read before satin_publish gave it a value",
                                constant->name);
  const char *cause = g_intern_string (text);
  Stack *stack = worker_here ();

  g_free (text); /* this function does not return */
  if (stack == NULL || stack->own.mark == NULL)
    {
      fprintf (stderr, "satin: %s\n", cause);
      abort ();
    }
  raise_failure (stack, stack->own.running, FALSE, cause);
  /* The running frame is not known here, so the stack can serve no scan and no abort any more. */
  worker_halt (stack, NULL, NULL, FALSE);
}
