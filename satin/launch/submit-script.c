/* SPDX-License-Identifier: BSD-3-Clause */
/* See submit-script.h. Tests: test-submit-script, submit.sh. */
#include "submit-script.h"

#include "command-words.h"

#include <string.h>

#define NAME_MAX_BYTES 64
/* The longest limit that is accepted: 366 days. */
#define TIME_MAX_S (G_GINT64_CONSTANT (366) * 24 * 3600)

/* Reads numbers with ':' between them, at most `most`. Returns how many; 0: `text` is something
 * else. */
static int
read_numbers (const char *text, int most, gint64 *numbers)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", most + 1);
  int count = (int)g_strv_length (parts);

  if (count > most)
    return 0;
  for (int i = 0; i < count; i++)
    if (!g_ascii_string_to_signed (parts[i], 10, 0, TIME_MAX_S, &numbers[i], NULL))
      return 0;
  return count;
}

gint64
submit_script_seconds (const char *time)
{
  const char *dash = strchr (time, '-');
  gint64 days = 0, n[3] = { 0 }, seconds;
  int count = read_numbers (dash != NULL ? dash + 1 : time, 3, n);

  if (count == 0)
    return 0;
  if (dash != NULL)
    {
      g_autofree char *head = g_strndup (time, (gsize)(dash - time));

      if (!g_ascii_string_to_signed (head, 10, 0, 366, &days, NULL))
        return 0;
      seconds = n[0] * 3600 + n[1] * 60 + n[2];
    }
  else if (count == 3)
    seconds = n[0] * 3600 + n[1] * 60 + n[2];
  else
    seconds = n[0] * 60 + n[1];
  seconds += days * 24 * 3600;
  return seconds <= TIME_MAX_S ? seconds : 0;
}

char *
submit_script_name (const char *word)
{
  char *name = g_strndup (word, NAME_MAX_BYTES);

  return g_strcanon (name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS ".-_", '_');
}

/* The lines of #SBATCH. If a host fails, --no-kill lets the others go on. */
static void
write_options (GString *text, const SubmitScript *script)
{
  g_string_append_printf (text, "#SBATCH --job-name=%s\n#SBATCH --ntasks=%d\n", script->name,
                          script->nodes);
  if (script->workers > 0)
    g_string_append_printf (text, "#SBATCH --cpus-per-task=%d\n", script->workers);
  if (script->time != NULL)
    g_string_append_printf (text, "#SBATCH --time=%s\n", script->time);
  g_string_append_printf (text,
                          "#SBATCH --signal=B:USR1@%d\n"
                          "#SBATCH --requeue\n"
                          "#SBATCH --no-kill\n"
                          "#SBATCH --open-mode=append\n"
                          "#SBATCH --output=%s-%%j.out\n"
                          "#SBATCH --error=%s-%%j.log\n",
                          script->warning_s, script->name, script->name);
  if (script->sbatch != NULL)
    g_string_append_printf (text, "#SBATCH %s\n", script->sbatch);
}

/* srun starts a task for each node; all tasks are one run (tasks.h). */
static void
write_run (GString *text, const SubmitScript *script)
{
  g_autofree char *satin = command_quote (script->satin);
  g_autofree char *program = command_quote (script->program);

  g_string_append (text, "srun --kill-on-bad-exit=0 --no-kill");
  if (script->workers > 0)
    g_string_append_printf (text, " --cpus-per-task=%d", script->workers);
  g_string_append_printf (text, " %s run --checkpoint \"$checkpoint\"", satin);
  if (script->workers > 0)
    g_string_append_printf (text, " -w %d", script->workers);
  if (script->insecure)
    g_string_append (text, " --insecure");
  command_append_words (text, script->run_options);
  g_string_append_printf (text, " -- %s", program);
  command_append_words (text, script->arguments);
  g_string_append (text, " &\n");
}

char *
submit_script_write (const SubmitScript *script)
{
  GString *text = g_string_new ("#!/bin/bash\n" SUBMIT_SIGN
                                "; `sbatch` with this file starts the same once more.\n");
  g_autofree char *folder = command_quote (script->folder);
  g_autofree char *place = script->checkpoint != NULL ? command_quote (script->checkpoint) : NULL;

  write_options (text, script);
  g_string_append_printf (text, "cd %s || exit 1\n", folder);
  if (place != NULL)
    g_string_append_printf (text, "checkpoint=%s\n", place);
  else
    g_string_append_printf (text, "checkpoint=%s-$SLURM_JOB_ID.satin\n", script->name);
  g_string_append_printf (text,
                          "restarts=${SLURM_RESTART_COUNT:-0} most=%d\n"
                          "say () { echo \"satin: job $SLURM_JOB_ID $*\" >&2; }\n"
                          "\n"
                          "# Slurm signals %d s before the end of the time: the run saves what is "
                          "finished and ends with"
                          " 75.\n"
                          "warned=no run=\n"
                          "trap 'warned=yes; [ -z \"$run\" ] || kill -USR1 \"$run\"' USR1\n",
                          script->restarts, script->warning_s);
  write_run (text, script);
  g_string_append (
      text,
      "run=$!\n"
      "[ $warned = no ] || kill -USR1 $run\n"
      "while kill -0 $run 2>/dev/null; do wait $run; done # a signal ends wait, not the run\n"
      "wait $run\n"
      "code=$?\n"
      "\n"
      "if [ $code -eq 75 ] && [ $warned = yes ] && [ \"$restarts\" -lt $most ]; then\n"
      "  say \"is suspended and goes on: restart $((restarts + 1)) of at most $most\"\n"
      "  scontrol requeue \"$SLURM_JOB_ID\" && exec /bin/sleep 600 # Slurm ends this\n"
      "fi\n"
      "say \"ended with exit code $code after $restarts restarts; the checkpoint is"
      " '$checkpoint'\"\n"
      "exit $code\n");
  return g_string_free (text, FALSE);
}
