/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin submit`: a run as a job of Slurm that goes on in the next job when its time is over.
 * Writes the batch script and hands it to sbatch; the script does the rest. One thread.
 * Tests: submit.sh. */
#include "arguments.h"
#include "command.h"

#include "folder/folder.h"

#include "launch/submit-script.h"

#include "storage/places/place.h"

#include <string.h>
#include <unistd.h>

#define VERB "submit "

typedef struct
{
  char *nodes, *workers, *time, *restarts, *warning, *checkpoint, *name, *script, *sbatch, *run;
  gboolean print, insecure;
  char **program;      /* PROGRAM and its arguments */
  char **run_words;    /* of --run */
  char *path, *target; /* of the program and the checkpoint; the latter nullable */
} Submit;

static void
submit_clear (Submit *submit)
{
  char *const texts[] = { submit->nodes,   submit->workers,    submit->time, submit->restarts,
                          submit->warning, submit->checkpoint, submit->name, submit->script,
                          submit->sbatch,  submit->run,        submit->path, submit->target };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  g_strfreev (submit->program);
  g_strfreev (submit->run_words);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Submit, submit_clear)

static GOptionContext *
make_context (Submit *submit)
{
  const GOptionEntry entries[]
      = { { "nodes", 'n', 0, G_OPTION_ARG_STRING, &submit->nodes,
            "Nodes, each a task of the job (1)", "NODES" },
          { "workers", 'w', 0, G_OPTION_ARG_STRING, &submit->workers,
            "Workers of each node, and processors of each task", "WORKERS" },
          { "time", 't', 0, G_OPTION_ARG_STRING, &submit->time,
            "Time limit of each job as Slurm writes it, like 30 or 1-12:00:00", "TIME" },
          { "max-restarts", 0, 0, G_OPTION_ARG_STRING, &submit->restarts,
            "Go on in a next job at most so many times (1000)", "NUMBER" },
          { "warning", 0, 0, G_OPTION_ARG_STRING, &submit->warning,
            "Suspend so long before the end of the time (120)", "S" },
          { "checkpoint", 0, 0, G_OPTION_ARG_FILENAME, &submit->checkpoint,
            "Keep what is finished here (NAME-JOB.satin)", "URI" },
          { "insecure", 0, 0, G_OPTION_ARG_NONE, &submit->insecure,
            "URI may be plain ftp: or http:", NULL },
          { "name", 0, 0, G_OPTION_ARG_STRING, &submit->name, "Name of the job (the program's)",
            "NAME" },
          { "sbatch", 0, 0, G_OPTION_ARG_STRING, &submit->sbatch,
            "Options for sbatch, like '--partition=long --mail-type=END'", "OPTIONS" },
          { "run", 0, 0, G_OPTION_ARG_STRING, &submit->run,
            "More options of `satin run`, like '--interval 10'", "OPTIONS" },
          { "script", 0, 0, G_OPTION_ARG_FILENAME, &submit->script,
            "Keep the batch script here (NAME.sbatch)", "FILE" },
          { "print", 0, 0, G_OPTION_ARG_NONE, &submit->print,
            "Print the batch script; write and submit nothing", NULL },
          { NULL, 0, 0, 0, NULL, NULL, NULL } };
  GOptionContext *context = g_option_context_new ("-- PROGRAM [ARG…]");

  g_option_context_set_summary (
      context, "Submits a run to Slurm. Before the time of the job is over the run is suspended,\n"
               "and it goes on in the next job, until there is an answer: one checkpoint, one"
               " answer.");
  g_option_context_add_main_entries (context, entries, NULL);
  return context;
}

/* An unset text leaves `number` alone. FALSE: said on stderr. */
static gboolean
read_number (const char *option, const char *text, int least, int most, int *number)
{
  gint64 value = *number;

  if (text != NULL && !g_ascii_string_to_signed (text, 10, least, most, &value, NULL))
    return command_usage (VERB, "%s takes a number from %d to %d, not '%s'", option, least, most,
                          text),
           FALSE;
  *number = (int)value;
  return TRUE;
}

/* FALSE: said on stderr. */
static gboolean
read_numbers (const Submit *submit, SubmitScript *script)
{
  gint64 limit_s;

  script->nodes = 1;
  script->restarts = SUBMIT_RESTARTS_DEFAULT;
  script->warning_s = SUBMIT_WARNING_DEFAULT_S;
  if (!read_number ("-n", submit->nodes, 1, 65536, &script->nodes)
      || !read_number ("-w", submit->workers, 1, 1024, &script->workers)
      || !read_number ("--max-restarts", submit->restarts, 0, G_MAXINT - 1, &script->restarts)
      || !read_number ("--warning", submit->warning, 1, 65535, &script->warning_s))
    return FALSE;
  if (submit->time == NULL)
    return TRUE;
  limit_s = submit_script_seconds (submit->time);
  if (limit_s == 0)
    return command_usage (VERB,
                          "--time takes minutes, hours:minutes:seconds or days-hours, not '%s'",
                          submit->time),
           FALSE;
  if (limit_s <= script->warning_s)
    return command_usage (VERB,
                          "--time '%s' is not longer than --warning, %d seconds: the run would be"
                          " suspended as soon as it begins",
                          submit->time, script->warning_s),
           FALSE;
  return TRUE;
}

/* What --run holds must be options of `satin run` that submit does not write itself. FALSE: said on
 * stderr. */
static gboolean
check_run (Submit *submit)
{
  static const char *const about[] = { "run", "-- PROGRAM [ARG…]", "" };
  g_auto (Arguments) options = { 0 };
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();
  g_auto (GStrv) all = NULL;
  g_autoptr (GError) error = NULL;

  if (submit->run != NULL && !g_shell_parse_argv (submit->run, NULL, &submit->run_words, &error))
    return command_usage (VERB, "--run: %s", error->message), FALSE;
  if (submit->run_words == NULL)
    submit->run_words = g_new0 (char *, 1);
  g_strv_builder_add (words, "run");
  g_strv_builder_addv (words, (const char **)submit->run_words);
  g_strv_builder_add_many (words, "--", submit->path, NULL);
  all = g_strv_builder_end (words);
  if (!arguments_read (&options, about, (int)g_strv_length (all), all))
    return FALSE;
  if (options.words[0] != NULL)
    return command_usage (VERB, "--run: '%s' is no option", options.words[0]), FALSE;
  if (options.nodes > 0 || options.workers > 0 || options.checkpoint != NULL
      || options.sites != NULL || options.anew)
    return command_usage (VERB, "--run conflicts with -n, -w, --checkpoint, --sites and --new: the"
                                " nodes are the tasks of the job"),
           FALSE;
  return TRUE;
}

/* FALSE: said on stderr. */
static gboolean
check_texts (const Submit *submit)
{
  if (submit->name != NULL && !folder_name_is_valid (submit->name))
    return command_usage (VERB, "'%s' is not a name: use up to %d letters, digits, '.', '_', '-'",
                          submit->name, FOLDER_NAME_MAX),
           FALSE;
  if (submit->sbatch != NULL && strpbrk (submit->sbatch, "\r\n") != NULL)
    return command_usage (VERB, "--sbatch takes one line"), FALSE;
  if (submit->checkpoint != NULL && submit->checkpoint[0] == '\0')
    return command_usage (VERB, "--checkpoint needs a file or a URI"), FALSE;
  if (submit->script != NULL && submit->script[0] == '\0')
    return command_usage (VERB, "--script needs a file"), FALSE;
  return TRUE;
}

/* A file that is no script of ours is not touched. FALSE: said on stderr. */
static gboolean
write_script (const char *file, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *old = NULL;

  if (g_file_get_contents (file, &old, NULL, NULL) && strstr (old, "\n" SUBMIT_SIGN) == NULL)
    return command_say ("'%s' is no script of `satin submit`: name another one by --script", file),
           FALSE;
  if (!g_file_set_contents_full (file, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0755, &error))
    return command_say ("cannot write the batch script: %s", error->message), FALSE;
  return TRUE;
}

/* Shows the number of the job. An exit code. */
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

/* What can be seen to be wrong before there is a script; an exit code. */
static int
read_words (Submit *submit, SubmitScript *script, int argc, char **argv)
{
  g_autoptr (GOptionContext) context = make_context (submit);

  if (!command_parse (context, "submit", &argc, &argv))
    return COMMAND_USAGE;
  if (argc > 1 && strcmp (argv[1], "--") == 0)
    argc--, argv++;
  if (argc < 2)
    return command_usage (VERB, "missing program: `satin submit [OPTION…] -- PROGRAM [ARG…]`");
  submit->program = g_strdupv (argv + 1);
  if (!check_texts (submit) || !read_numbers (submit, script))
    return COMMAND_USAGE;
  submit->path = arguments_program (submit->program[0]);
  if (submit->path == NULL)
    return COMMAND_ERROR;
  if (!check_run (submit))
    return COMMAND_USAGE;
  if (submit->checkpoint == NULL)
    return COMMAND_DONE;
  submit->target = arguments_target (submit->checkpoint, submit->insecure);
  return submit->target != NULL && arguments_target_is_writable (submit->target) ? COMMAND_DONE
                                                                                 : COMMAND_STORE;
}

int
command_submit (int argc, char **argv)
{
  g_auto (Submit) submit = { 0 };
  SubmitScript script = { 0 };
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = g_get_current_dir (), *base = NULL, *name = NULL, *file = NULL;
  g_autofree char *text = NULL;
  int code = read_words (&submit, &script, argc, argv);

  if (code != COMMAND_DONE)
    return code;
  base = g_path_get_basename (submit.path);
  name = submit.name != NULL ? g_strdup (submit.name) : submit_script_name (base);
  file = submit.script != NULL ? g_strdup (submit.script) : g_strconcat (name, ".sbatch", NULL);
  script.satin = self != NULL ? self : "satin";
  script.program = submit.path;
  script.arguments = submit.program + 1;
  script.folder = folder;
  script.name = name;
  script.checkpoint = submit.target;
  script.insecure = submit.insecure;
  script.run_options = submit.run_words;
  script.sbatch = submit.sbatch;
  script.time = submit.time;
  text = submit_script_write (&script);
  if (submit.print)
    {
      g_print ("%s", text);
      return COMMAND_DONE;
    }
  return write_script (file, text) ? submit_file (file, name) : COMMAND_ERROR;
}
