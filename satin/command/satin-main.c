/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin VERB ...`: calls the verb. One thread. Tests: input.sh. */
#include "command.h"

#include "coordinator/mark.h"

#include "launch/batch.h"

#include "config.h"

#include "node/capture.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

typedef struct
{
  const char *name, *usage;
  int (*call) (int argc, char **argv);
} Verb;

static int verb_help (int argc, char **argv);

static int
verb_version (int argc, char **argv)
{
  (void)argc, (void)argv;
  g_print ("satin %s\n", PACKAGE_VERSION);
  return COMMAND_DONE;
}

static const Verb verbs[] = {
  { "run", "[OPTION…] -- PROGRAM [ARG…]   start a program on several nodes", command_run },
  { "resume", "URI [OPTION…] [-- PROGRAM]    go on from a checkpoint", command_resume },
  { "replay", "URI PATH [-- gdb --args]      run one job of a checkpoint again, alone",
    command_replay },
  { "add", "RUN [-n NODES | --sites FILE] start more nodes for a run", command_add },
  { "leave", "RUN NODE | --site SITE       a node goes, the run goes on", command_leave },
  { "suspend", "RUN [--within S]              save everything finished and stop", command_suspend },
  { "save", "RUN [--within S] [--to URI]   publish the checkpoint now", command_save },
  { "cancel", "RUN                           end without an answer", command_cancel },
  { "wait", "RUN                           wait for the end and the answer", command_wait },
  { "log", "RUN [NODE] [--follow]         show what nodes wrote to their logs", command_log },
  { "status", "[RUN] [--json]                show the runs that go on", command_status },
  { "view", "RUN [--html FILE]             show a run on a page in a browser", command_view },
  { "top", "[RUN]                         show a run live in this terminal", command_top },
  { "jobs", "RUN [--json]                  show what every node runs now", command_jobs },
  { "metrics", "RUN [--prometheus]            print figures as OpenMetrics text", command_metrics },
  { "inspect", "URI [OPTION…]                 show what a checkpoint holds", command_inspect },
  { "merge", "OUT A B                       unite two checkpoints of one run", command_merge },
  { "trust",
    "URI                           take the results of somebody else's checkpoint for right",
    command_trust },
  { "submit", "[OPTION…] -- PROGRAM [ARG…]   a chain of Slurm's jobs, one answer", command_submit },
  { "version", "                              show the version", verb_version },
  { "help", "[VERB]                        show this, or the options of a verb", verb_help },
};

static int
call_verb (const char *name, int argc, char **argv)
{
  const char *names[G_N_ELEMENTS (verbs) + 1] = { NULL }, *nearest;

  for (gsize i = 0; i < G_N_ELEMENTS (verbs); i++)
    {
      if (strcmp (name, verbs[i].name) == 0)
        return verbs[i].call (argc, argv);
      names[i] = verbs[i].name;
    }
  nearest = command_nearest (name, names);
  return command_usage ("", "unknown verb '%s'%s%s%s", name,
                        nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                        nearest != NULL ? "'?" : "");
}

/* Prints the help of a verb. */
static int
help_of (const char *name)
{
  char *argv[] = { (char *)name, (char *)"--help", NULL };

  return call_verb (name, 2, argv);
}

static int
verb_help (int argc, char **argv)
{
  if (argc > 1 && strcmp (argv[1], "help") != 0 && strcmp (argv[1], "--help") != 0)
    return help_of (argv[1]);
  g_print ("Satin runs divide-and-conquer programs on machines that come and go.\n\nUsage:\n");
  for (gsize i = 0; i < G_N_ELEMENTS (verbs); i++)
    g_print ("  satin %-8s %s\n", verbs[i].name, verbs[i].usage);
  g_print (
      "\n`satin help VERB` tells the options of a verb. Exit codes: 0 done, 1 error, 2 usage,\n"
      "3 unusable checkpoint, 4 its place cannot be read or written, 5 in use by another run,\n"
      "6 a job failed, 7 cancelled, 75 suspended (resume it).\n");
  return COMMAND_DONE;
}

/* Prints bytes unchanged: GLib would print a question mark for characters that the locale lacks. */
static void
print (const char *text)
{
  fputs (text, stdout);
  fflush (stdout);
}

static void
print_error (const char *text)
{
  fputs (text, stderr);
}

int
main (int argc, char **argv)
{
  const char *name = argc > 1 ? argv[1] : NULL;

  capture_guard ();
  setlocale (LC_CTYPE, "");
  g_set_print_handler (print);
  g_set_printerr_handler (print_error);
  if (name == NULL)
    return command_usage ("", "missing verb, such as run");
  if (strcmp (name, "--help") == 0 || strcmp (name, "-h") == 0)
    return verb_help (argc, argv);
  if (strcmp (name, "--complete") == 0)
    return command_complete (argc - 1, argv + 1);
  if (strcmp (name, BATCH_VERB) == 0)
    return command_batch (argc - 1, argv + 1);
  mark_prove_files (FALSE);
  if (strcmp (name, "--version") == 0 || strcmp (name, "-V") == 0)
    return verb_version (argc, argv);
  return call_verb (name, argc - 1, argv + 1);
}
