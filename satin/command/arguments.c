/* SPDX-License-Identifier: BSD-3-Clause */
/* See arguments.h. Each error is refused in one sentence. */
#include "arguments.h"

#include "coordinator/mark.h"

#include "host/outlet.h"
#include "host/step.h"

#include "launch/submit-script.h"

#include "storage/places/place.h"

#include <stdlib.h>
#include <string.h>

void
arguments_clear (Arguments *options)
{
  char *const texts[] = { options->name, options->sites,  options->listen, options->site,
                          options->from, options->html,   options->to,     options->why,
                          options->run,  options->script, options->batch,  options->time };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  options_clear (&options->own);
  g_strfreev (options->words);
  g_strfreev (options->program);
  memset (options, 0, sizeof *options);
}

/* ---- reading ---- */

/* Prints that `word` is no option of the verb. Returns FALSE. */
static gboolean
refuse_option (const GPtrArray *rows, const char *verb, const char *word)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  gboolean is_long = word[1] == '-';
  g_autofree char *name = g_strndup (word, is_long ? strcspn (word, "=") : 2);
  g_autofree char *takers = arguments_takers (name);
  const char *nearest, *value;

  if (is_long && options_find (rows, name, &value) != NULL)
    return command_usage (verb, "option '%s' takes no value", name), FALSE;
  if (takers != NULL && (is_long || word[2] == '\0'))
    return command_usage (verb, "unknown option '%s': it is for %s", name, takers), FALSE;
  for (guint i = 0; i < rows->len; i++)
    g_ptr_array_add (names, (gpointer)((const Option *)rows->pdata[i])->entry.long_name);
  g_ptr_array_add (names, NULL);
  nearest = command_nearest (is_long ? name + 2 : "", (const char *const *)names->pdata);
  command_usage (verb, "unknown option '%s'%s%s%s", is_long ? name : word,
                 nearest != NULL ? "; did you mean '--" : "", nearest != NULL ? nearest : "",
                 nearest != NULL ? "'?" : "");
  return FALSE;
}

static void
show_page (const GPtrArray *rows, const ArgumentsVerb *verb)
{
  g_autofree char *name = g_strdup_printf ("satin %s", verb->verb);
  g_autofree char *page = options_page (rows, name, verb->usage, verb->summary, NULL);

  g_print ("%s", page);
  exit (COMMAND_DONE);
}

/* Reads argv up to `end`: options and words, and PROGRAM if the shape allows it there. FALSE: a
 * message was printed. */
static gboolean
read_words (Arguments *options, const ArgumentsVerb *verb, int end, char **argv,
            GStrvBuilder *words)
{
  g_autoptr (GPtrArray) rows = arguments_rows (verb->verb);
  g_autofree char *spaced = g_strdup_printf ("%s ", verb->verb);
  g_autoptr (GError) error = NULL;
  gboolean taken, begins = verb->shape == ARGUMENTS_FIRST
                           || (verb->shape == ARGUMENTS_PROGRAM && argv[end] == NULL);

  for (int i = 1; i < end && options->program == NULL; i++)
    {
      if (!options_take (rows, end, argv, &i, options, &taken, &error))
        return command_usage (spaced, "%s", error->message), FALSE;
      if (options->own.help)
        show_page (rows, verb);
      if (!taken && argv[i][0] == '-' && argv[i][1] != '\0')
        return refuse_option (rows, spaced, argv[i]);
      if (!taken && begins)
        options->program = g_strdupv (argv + i);
      else if (!taken)
        g_strv_builder_add (words, argv[i]);
    }
  return TRUE;
}

gboolean
arguments_read (Arguments *options, const ArgumentsVerb *verb, int argc, char **argv)
{
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();
  int end = 1;

  *options = (Arguments){ .steal = -1,
                          .within_s = -1,
                          .depth = -1,
                          .restarts = SUBMIT_RESTARTS_DEFAULT,
                          .warning_s = SUBMIT_WARNING_DEFAULT_S };
  while (end < argc && strcmp (argv[end], "--") != 0)
    end++;
  if (!read_words (options, verb, end, argv, words))
    return FALSE;
  if (end < argc && verb->shape == ARGUMENTS_WORDS)
    g_strv_builder_addv (words, (const char **)argv + end + 1);
  else if (end < argc && options->program == NULL)
    options->program = g_strdupv (argv + end + 1);
  options->words = g_strv_builder_end (words);
  return TRUE;
}

gboolean
arguments_read_one (Arguments *options, const ArgumentsVerb *verb, int argc, char **argv)
{
  g_autofree char *spaced = g_strdup_printf ("%s ", verb->verb);

  if (!arguments_read (options, verb, argc, argv))
    return FALSE;
  if (options->words[0] == NULL || options->words[1] == NULL)
    return TRUE;
  return command_usage (spaced, "one run is enough, not '%s' too", options->words[1]), FALSE;
}

gboolean
arguments_read_run (Arguments *options, const ArgumentsVerb *verb, int argc, char **argv)
{
  g_autofree char *spaced = g_strdup_printf ("%s ", verb->verb);

  if (!arguments_read_one (options, verb, argc, argv))
    return FALSE;
  if (options->words[0] == NULL)
    return command_usage (spaced, "one run is needed: `satin %s RUN`", verb->verb), FALSE;
  return TRUE;
}

/* ---- conflicts ---- */

/* --heartbeat and --silence: each is derived from the other if it is not given. */
static gboolean
fit_patience (Arguments *options, const char *verb)
{
  const double most = FOLDER_SILENCE_MAX_S, part = FOLDER_SILENCE_HEARTBEATS;
  const double usual = FOLDER_SILENCE_DEFAULT_S / FOLDER_HEARTBEAT_DEFAULT_S;
  double *heartbeat_s = &options->heartbeat_s, *silence_s = &options->silence_s;

  if (*silence_s > 0 && *heartbeat_s > 0 && !folder_patience_fits (*heartbeat_s, *silence_s))
    return command_usage (verb, "--silence must be at least %g times --heartbeat, %g seconds", part,
                          part * *heartbeat_s),
           FALSE;
  if (*silence_s == 0 && *heartbeat_s > 0)
    *silence_s = CLAMP (usual * *heartbeat_s, FOLDER_SILENCE_DEFAULT_S, most);
  else if (*heartbeat_s == 0 && *silence_s > 0)
    *heartbeat_s = CLAMP (*silence_s / usual, FOLDER_HEARTBEAT_MIN_S, FOLDER_HEARTBEAT_DEFAULT_S);
  return TRUE;
}

guint
arguments_nodes (const Arguments *options, gboolean resumes)
{
  if (options->sites != NULL || step_has_tasks () || (resumes && options->nodes == 0))
    return 0;
  return (guint)MAX (options->nodes, 1);
}

gboolean
arguments_fit_plan (const Arguments *options, gboolean resumes, guint nodes)
{
  const char *verb = resumes ? "resume " : "run ";
  PlanName plan = options->own.protect;
  g_autofree char *wrong = plan_refuses (plan, resumes || options->own.checkpoint != NULL, nodes);

  if (wrong != NULL)
    return command_usage (verb, "%s", wrong), FALSE;
  if (options->verify > 0 && plan_knobs (plan).epochs)
    return command_usage (verb, "--verify conflicts with --protect cut, whose epochs do not wait"
                                " for a second result"),
           FALSE;
  if (options->verify > 0 && nodes == 1)
    return command_usage (verb, "--verify compares results of two nodes: use -n 2 or more"), FALSE;
  return TRUE;
}

gboolean
arguments_fit (Arguments *options, gboolean resumes)
{
  const char *verb = resumes ? "resume " : "run ";

  if (options->sites != NULL && options->nodes > 0)
    return command_usage (verb, "-n conflicts with --sites: the file says how many nodes"), FALSE;
  if (options->copy && options->sites == NULL)
    return command_usage (verb, "--copy needs --sites"), FALSE;
  options->tcp = options->tcp || options->listen != NULL;
  return fit_patience (options, verb);
}

/* ---- places and programs ---- */

char *
arguments_target (const char *text, gboolean insecure)
{
  g_autoptr (GError) error = NULL;
  char *target = place_check (text, insecure, &error);

  if (target == NULL)
    command_say ("%s", error->message);
  return target;
}

/* TRUE: the file at the plain path `file` can be made. `what`: its name in the message. FALSE: a
 * message was printed. */
static gboolean
is_writable (const char *what, const char *file)
{
  g_autoptr (GError) error = NULL;

  if (outlet_is_writable (what, file, &error))
    return TRUE;
  command_say ("%s", error->message);
  return FALSE;
}

gboolean
arguments_target_is_writable (const char *target)
{
  return place_is_remote (target) || is_writable ("checkpoint", target);
}

char *
arguments_program (const char *word)
{
  g_autofree char *found = g_find_program_in_path (word);

  if (found != NULL)
    return g_canonicalize_filename (found, NULL);
  if (g_file_test (word, G_FILE_TEST_IS_DIR))
    command_say ("cannot run '%s': it is a folder", word);
  else if (g_file_test (word, G_FILE_TEST_EXISTS) && strchr (word, '/') != NULL)
    command_say ("cannot run '%s': it is not an executable file", word);
  else
    command_say ("cannot run '%s': there is no such program%s", word,
                 strchr (word, '/') == NULL ? " in PATH (a path needs a '/', like ./prog)" : "");
  return NULL;
}

gboolean
arguments_files_are_writable (const Arguments *options)
{
  return (options->own.stats == NULL || is_writable ("stats file", options->own.stats))
         && (options->own.trace == NULL || is_writable ("trace file", options->own.trace));
}

void
arguments_sign (FolderRun *run)
{
  g_auto (GStrv) words = options_own_words (run->argv);

  run->token = words != NULL ? mark_token (run->program, run->folder, words) : NULL;
  run->rows_token = words != NULL ? mark_rows_token (words) : NULL;
}
