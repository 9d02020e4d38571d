/* SPDX-License-Identifier: BSD-3-Clause */
/* satin_root, and the words that say how a run ended. The thread that opened it only, but for
 * satin_suspend. Tests: roots.sh, embed.sh. */
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

/* The result of one more root. */
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

/* Ends the process of SATIN_APP. */
static gboolean
may_ask (SatinRun *run)
{
  if (getpid () != run->pid) /* no driver is here, and the answer would be the other's */
    {
      if (run->owner != RUN_OF_APP)
        return run_stop (run, 1, "satin_root was called in a process that was forked");
      fputs ("satin: satin_root was called in a process that main has forked\n", stderr);
      _exit (1);
    }
  if (run->deposed || run->stopped) /* main has not heeded the FALSE of the root before */
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
  /* What main borrows of the result lives as long as the run. */
  RunKept *kept = g_new (RunKept, 1);
  *kept = (RunKept){ job->result, g_memdup2 (result, job->result->size) };
  g_ptr_array_add (run->results, kept);
  run->root_done = TRUE;
  return TRUE;
}
