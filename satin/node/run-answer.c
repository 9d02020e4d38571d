/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the process is Satin's, what main prints is the run's answer: it is held back until main
 * has ended, then given to the run. Main's thread only.
 * Tests: test-mains-part, ends.sh, answers.sh, embed.sh. */
#include "config.h"

#include "run-private.h"

#include "host/say.h"

#include <stdio.h>
#include <unistd.h>

/* TRUE: main's output is an answer, which must not be shown before main has ended. */
static gboolean
holds_output (const SatinRun *run)
{
  return run->node_process || (run->config.checkpoint != NULL && run->config.replay == NULL);
}

void
run_answer_begin (SatinRun *run)
{
  run->in_main = TRUE;
  run->roots = 0;
  run->root_done = run->deposed = FALSE;
  run->stop_code = 75;
  if (holds_output (run))
    capture_begin (&run->out, STDOUT_FILENO, NULL);
  if (run->node_process)
    {
      g_autofree char *file = folder_node_file (getpid (), FOLDER_NODE_ERR);
      g_autofree char *path = g_build_filename (run->folder, file, NULL);
      capture_begin (&run->err, STDERR_FILENO, path);
    }
}

/* What main printed, if it was held back; else empty. (transfer full) NULL: it is lost; this was
 * printed. */
static GBytes *
end_capture (SatinRun *run)
{
  const char *why = "no descriptor was left";
  gboolean held = run->out.fd >= 0 || !holds_output (run);
  g_autoptr (GBytes) answer = capture_end (&run->out, &why);
  if (held && answer != NULL)
    return g_steal_pointer (&answer);
  say_line ("the answer is lost: %s", why);
  return NULL;
}

/* Gives the answer to the run. TRUE: the run has ended with *code. FALSE: another node is master.
 * With RUN_OF_NODE, waits until this node is master again, since its main cannot run twice. */
static gboolean
give (SatinRun *run, int main_code, GBytes *answer, GBytes *said, int *code)
{
  DriverNews news = DRIVER_DEPOSED;
  if (!run->deposed) /* else main's output is no answer */
    news = driver_finish (run->driver, main_code, answer, said, run->root_done && main_code == 0,
                          code);
  while (news == DRIVER_DEPOSED && run->owner == RUN_OF_NODE)
    {
      g_autoptr (GBytes) last = NULL;
      news = run_ask_again (run, &last);
      if (news == DRIVER_RESULT)
        news = driver_finish (run->driver, main_code, answer, said,
                              run->root_done && main_code == 0, code);
      else if (news == DRIVER_ENDED)
        *code = run->stop_code;
    }
  run->finished = news == DRIVER_FINISHED;
  return news != DRIVER_DEPOSED;
}

gboolean
run_answer_end (SatinRun *run, int main_code, int *code)
{
  run->in_main = FALSE;
  driver_end_if_deaf (run->driver);
  main_code &= 0xff; /* as the system does */
  gboolean captured = run->out.fd >= 0;
  const char *why;
  if (!capture_flush (stdout, &why))
    {
      say_line ("cannot write the answer: %s", why);
      main_code = main_code == 0 ? 1 : main_code;
    }
  g_autoptr (GBytes) answer = end_capture (run);
  if (answer == NULL)
    {
      main_code = main_code == 0 ? 1 : main_code;
      answer = g_bytes_new (NULL, 0);
    }
  g_autoptr (GBytes) said = run->err.fd >= 0 ? capture_end (&run->err, &why) : NULL;
  capture_flush_streams ();
  if (driver_is_stopping (run->driver, code))
    {
      /* The launcher shows what main says of how far it came. */
      if (said != NULL && g_bytes_get_size (said) > 0
          && !folder_write_first (run->folder, FOLDER_FILE_ANSWER_ERR, said, NULL))
        fwrite (g_bytes_get_data (said, NULL), 1, g_bytes_get_size (said), stderr);
      return TRUE;
    }
  if (!give (run, main_code, answer, said, code))
    return FALSE;
  if (captured && !run->node_process && run->finished
      && !capture_write (STDOUT_FILENO, answer, &why))
    {
      say_line ("cannot write the answer to standard output: %s", why);
      *code = *code == 0 ? 1 : *code;
    }
  return TRUE;
}

gboolean
run_answer_is_in_vain (SatinRun *run, int status)
{
  gboolean in_vain = g_atomic_int_get (&run->in_root) && (status & 0xff) == 0;
  if (in_vain)
    say_line ("the program called exit (0) while satin_root waited for the answer");
  return in_vain;
}
