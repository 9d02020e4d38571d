/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin submit`: runs a program as a Slurm job, which is queued again when its time is over.
 * Writes the batch script and gives it to sbatch; the script does the rest. One thread.
 * Tests: test-submit, submit.sh. */
#include "arguments.h"
#include "command.h"

#include "folder/folder.h"

#include "launch/submit-script.h"

#include "storage/places/place.h"

#include <string.h>
#include <unistd.h>

#define VERB "submit "

static const ArgumentsVerb verb
    = { "submit", "-- PROGRAM [ARG…]",
        "Submits a run to Slurm. Before the time of the job is over the run is suspended,\n"
        "and it goes on in the next job, until there is an answer: one checkpoint, one answer.\n"
        "Without --checkpoint that is NAME-JOB.satin in this folder.",
        ARGUMENTS_FIRST };

typedef struct
{
  Arguments said;
  char **run_words;    /* of --run */
  char *path, *target; /* of the program, and of the checkpoint (nullable) */
} Submit;

static void
submit_clear (Submit *submit)
{
  arguments_clear (&submit->said);
  g_strfreev (submit->run_words);
  g_free (submit->path);
  g_free (submit->target);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Submit, submit_clear)

/* FALSE, after a message: --run has something else than options of `satin run` that submit does not
 * write itself. */
static gboolean
check_run (Submit *submit)
{
  static const ArgumentsVerb run = { "run", "-- PROGRAM [ARG…]", "", ARGUMENTS_PROGRAM };
  g_auto (Arguments) options = { 0 };
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();
  g_auto (GStrv) all = NULL;
  g_autoptr (GError) error = NULL;
  const char *text = submit->said.run;

  if (text != NULL && !g_shell_parse_argv (text, NULL, &submit->run_words, &error))
    return command_usage (VERB, "--run: %s", error->message), FALSE;
  if (submit->run_words == NULL)
    submit->run_words = g_new0 (char *, 1);
  g_strv_builder_add (words, "run");
  g_strv_builder_addv (words, (const char **)submit->run_words);
  g_strv_builder_add_many (words, "--", submit->path, NULL);
  all = g_strv_builder_end (words);
  if (!arguments_read (&options, &run, (int)g_strv_length (all), all)
      || !arguments_fit (&options, FALSE) || !arguments_fit_plan (&options, TRUE, 0))
    return FALSE; /* each job has a checkpoint */
  if (options.words[0] != NULL)
    return command_usage (VERB, "--run: '%s' is not an option", options.words[0]), FALSE;
  if (options.nodes > 0 || options.own.workers > 0 || options.own.checkpoint != NULL
      || options.sites != NULL || options.own.anew)
    return command_usage (VERB, "--run conflicts with -n, -w, --checkpoint, --sites and --new: the"
                                " nodes are the tasks of the job"),
           FALSE;
  return TRUE;
}

/* FALSE: --sbatch or --time is wrong; a message was printed. */
static gboolean
check_texts (const Arguments *said)
{
  if (said->batch != NULL && strpbrk (said->batch, "\r\n") != NULL)
    return command_usage (VERB, "--sbatch takes one line"), FALSE;
  if (said->time != NULL && submit_script_seconds (said->time) <= said->warning_s)
    return command_usage (VERB,
                          "--time '%s' is not longer than --warning, %d seconds: the run would be"
                          " suspended as soon as it begins",
                          said->time, said->warning_s),
           FALSE;
  return TRUE;
}

/* Writes the script. Replaces only a file that is such a script. FALSE: a message was printed. */
static gboolean
write_script (const char *file, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *old = NULL;

  if (g_file_get_contents (file, &old, NULL, NULL) && strstr (old, "\n" SUBMIT_SIGN) == NULL)
    return command_say ("'%s' is not a script of `satin submit`: name another file with --script",
                        file),
           FALSE;
  if (!g_file_set_contents_full (file, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0755, &error))
    return command_say ("cannot write the batch script: %s", error->message), FALSE;
  return TRUE;
}

/* Gives the script to sbatch and prints the number of the job. Returns an exit code. */
static int
submit_file (const char *file, const char *name)
{
  char *argv[] = { (char *)"sbatch", (char *)"--parsable", (char *)file, NULL };
  g_autofree char *said = NULL, *words = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  if (!g_spawn_sync (NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &said, &words, &status,
                     &error))
    return command_say ("cannot submit '%s': %s; is this a host of Slurm?", file, error->message),
           COMMAND_ERROR;
  if (!g_spawn_check_wait_status (status, NULL))
    return command_say ("sbatch: %s", g_strstrip (words)), COMMAND_ERROR;
  g_strstrip (said)[strcspn (said, ";")] = '\0'; /* NUMBER;CLUSTER */
  g_print ("%s\n", said);
  command_say ("job %s is submitted by '%s'; the answer goes to '%s-%s.out', messages to"
               " '%s-%s.log'",
               said, file, name, said, name, said);
  return COMMAND_DONE;
}

/* Reads and checks the command line. Returns an exit code, after a message unless it is 0. */
static int
read_words (Submit *submit, int argc, char **argv)
{
  Arguments *said = &submit->said;

  if (!arguments_read (said, &verb, argc, argv))
    return COMMAND_USAGE;
  if (said->program == NULL || said->program[0] == NULL)
    return command_usage (VERB, "missing program: `satin submit [OPTION…] -- PROGRAM [ARG…]`");
  if (!check_texts (said))
    return COMMAND_USAGE;
  submit->path = arguments_program (said->program[0]);
  if (submit->path == NULL)
    return COMMAND_ERROR;
  if (!check_run (submit))
    return COMMAND_USAGE;
  if (said->own.checkpoint == NULL)
    return COMMAND_DONE;
  submit->target = arguments_target (said->own.checkpoint, said->own.insecure);
  return submit->target != NULL && arguments_target_is_writable (submit->target) ? COMMAND_DONE
                                                                                 : COMMAND_STORE;
}

int
command_submit (int argc, char **argv)
{
  g_auto (Submit) submit = { 0 };
  const Arguments *said = &submit.said;
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = g_get_current_dir (), *base = NULL, *name = NULL, *file = NULL;
  g_autofree char *text = NULL;
  int code = read_words (&submit, argc, argv);

  if (code != COMMAND_DONE)
    return code;
  base = g_path_get_basename (submit.path);
  name = said->name != NULL ? g_strdup (said->name) : submit_script_name (base);
  file = said->script != NULL ? g_strdup (said->script) : g_strconcat (name, ".sbatch", NULL);
  const SubmitScript script = { .satin = self != NULL ? self : "satin",
                                .program = submit.path,
                                .arguments = said->program + 1,
                                .folder = folder,
                                .name = name,
                                .checkpoint = submit.target,
                                .insecure = said->own.insecure,
                                .run_options = submit.run_words,
                                .sbatch = said->batch,
                                .time = said->time,
                                .nodes = MAX (said->nodes, 1),
                                .workers = said->own.workers,
                                .restarts = said->restarts,
                                .warning_s = said->warning_s };
  text = submit_script_write (&script);
  if (said->print)
    {
      g_print ("%s", text);
      return COMMAND_DONE;
    }
  return write_script (file, text) ? submit_file (file, name) : COMMAND_ERROR;
}
