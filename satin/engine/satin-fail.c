/* SPDX-License-Identifier: BSD-3-Clause */
/* satin_fail: a job says that the run cannot go on. The process is whole, so the driver hears of it
 * by the mailbox, and the stack keeps serving scans, aborts and halts until the run has ended.
 * Owner threads. Tests: test-fail, e2e/fail.sh. */
#include "config.h"

#include "engine.h"
#include "tree/trace.h"

#include <stdarg.h>

/* How often a failed job looks whether it was aborted, or its stack is asked for something. */
#define FAIL_LOOK_US 2000

/* As the format says, in one line of UTF-8; it stays. */
static const char *
sentence (const char *format, va_list values)
{
  g_autofree char *raw = g_strdup_vprintf (format, values);
  g_autofree char *text = g_utf8_make_valid (raw, -1);

  return g_intern_string (g_strstrip (g_strdelimit (text, "\r\n", ' ')));
}

void
satin_fail_ (SatinStack_ *open, SatinSlot_ *self, SatinSlot_ *top, const char *format, ...)
{
  Stack *stack = (Stack *)open;
  EngineEvent event = { .kind = ENGINE_FAILED, .job = self->job };
  Trace trace;
  va_list values;

  va_start (values, format);
  event.cause = sentence (format, values);
  va_end (values);
  satin_poll_ (open, self, top); /* what was aborted fails nothing */
  if (!trace_is_aborted (stack))
    {
      trace_init (&trace, stack, self);
      event.at = trace_path (&trace, stack->engine->config.stems);
      event.path = g_strdup (event.at);
      event.value = slot_encode_args (self);
      trace_clear (&trace);
      mailbox_raise (stack->engine, &event);
    }
  for (;;)
    {
      g_usleep (FAIL_LOOK_US);
      satin_poll_ (open, self, top);
    }
}
