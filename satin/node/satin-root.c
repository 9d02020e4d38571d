/* SPDX-License-Identifier: BSD-3-Clause */
/* satin_root, satin_stopped, satin_reason, satin_suspend. Only the thread that opened the run,
 * except satin_suspend. Tests: test-mains-part, roots.sh, embed.sh. */
#include "config.h"

#include "run-private.h"

#include "engine/registry.h"
#include "record.h"

#include <stdio.h>
#include <unistd.h>

const char *
satin_reason (void)
{
  return run_get_reason ();
}

int
satin_stopped (SatinRun *run)
{
  return run->stop_code;
}

void
satin_suspend (SatinRun *run)
{
  driver_suspend (run->driver, 0);
}

/* Asks for the result of the next root. *value (out, transfer full). */
static DriverNews
ask (SatinRun *run, guint32 index, GBytes *args, GBytes **value)
{
  DriverNews news = DRIVER_DEPOSED;
  g_atomic_int_set (&run->in_root, TRUE);
  if (run->owner == RUN_OF_NODE)
    {
      RunRoot root = { index, g_bytes_ref (args) };
      g_array_append_val (run->asked, root);
    }
  news = driver_root (run->driver, run->roots++, index, args, value, &run->stop_code);
  while (news == DRIVER_DEPOSED && run->owner == RUN_OF_NODE)
    news = run_ask_again (run, value);
  g_atomic_int_set (&run->in_root, FALSE);
  run->deposed = news == DRIVER_DEPOSED;
  return news;
}

/* TRUE: main may ask for a root. With SATIN_APP an error ends the process. */
static gboolean
may_ask (SatinRun *run)
{
  /* a forked process has no driver, and its parent would give the answer */
  if (getpid () != run->pid)
    {
      if (run->owner != RUN_OF_APP)
        return run_stop (run, 1, "satin_root was called in a process that was forked");
      fputs ("satin: satin_root was called in a process that main has forked\n", stderr);
      _exit (1);
    }
  if (run->deposed || run->stopped) /* main ignores that the last root returned FALSE */
    return FALSE;
  g_autofree char *late = registry_late ();
  if (late != NULL)
    run_give_up (run, 1, late);
  return late == NULL;
}

gboolean
satin_root_ (SatinRun *run, const SatinJob *job, const void *args, void *result)
{
  g_autoptr (GBytes) value = NULL;
  g_autoptr (GError) error = NULL;
  guint32 index = 0;
  if (!may_ask (run))
    return FALSE;
  while (run->jobs[index] != job)
    index++;
  g_autoptr (GBytes) encoded = record_encode (job->args, args);
  DriverNews news = ask (run, index, encoded, &value);
  if (news != DRIVER_RESULT)
    {
      run->stopped = news == DRIVER_ENDED;
      run_explain (run, run->stop_code);
      return FALSE;
    }
  if (!record_decode (job->result, value, result, &error))
    {
      run_give_up (run, 1, error->message);
      return FALSE;
    }
  /* What main borrows of the result stays until the run ends. */
  RunKept *kept = g_new (RunKept, 1);
  *kept = (RunKept){ job->result, g_memdup2 (result, job->result->size) };
  g_ptr_array_add (run->results, kept);
  run->root_done = TRUE;
  return TRUE;
}
