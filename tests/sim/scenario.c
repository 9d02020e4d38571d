/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scenario.h"

#include "cases.h"
#include "story.h"

#include <stdlib.h>
#include <string.h>

#define RULE "----"

typedef struct
{
  const char *name;  /* Of the file. */
  guint at;          /* The present line, from 1. */
  GPtrArray *before; /* Of GString: the text before the conversation of each section. */
  Plan plan;
  TreeShape shape;
  Story story;
  GError *error;
} Scenario;

GQuark
scenario_error_quark (void)
{
  return g_quark_from_static_string ("satin-scenario");
}

static gboolean fail (Scenario *scenario, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Records an error unless there is one; returns FALSE. */
static gboolean
fail (Scenario *scenario, const char *format, ...)
{
  va_list list;

  if (scenario->error != NULL)
    return FALSE;
  va_start (list, format);
  g_autofree char *text = g_strdup_vprintf (format, list);
  va_end (list);
  g_set_error (&scenario->error, SCENARIO_ERROR, 0, "%s:%u: %s", scenario->name, scenario->at,
               text);
  return FALSE;
}

static gboolean
read_number (Scenario *scenario, const char *text, guint64 min, guint64 max, guint64 *number)
{
  if (g_ascii_string_to_unsigned (text, 10, min, max, number, NULL))
    return TRUE;
  return fail (scenario, "'%s' is no number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, text,
               min, max);
}

static gboolean
read_time (Scenario *scenario, const char *text, guint64 *time_us)
{
  char *unit;
  guint64 number = g_ascii_strtoull (text, &unit, 10);
  guint64 factor = g_str_equal (unit, "us")   ? 1
                   : g_str_equal (unit, "ms") ? 1000
                   : g_str_equal (unit, "s")  ? SIM_SECOND
                                              : 0;

  *time_us = number * factor;
  if (unit == text || factor == 0 || number > 3600)
    return fail (scenario, "'%s' is no time such as 20ms, at most 3600 of a unit", text);
  return TRUE;
}

/* Reads KEY=VALUE of a `cluster` line. */
static gboolean
read_setting (Scenario *scenario, const char *text)
{
  g_auto (GStrv) pair = g_strsplit (text, "=", 2);
  guint64 number = 0;
  gboolean well = FALSE;

  if (g_strv_length (pair) != 2)
    return fail (scenario, "'%s' is not KEY=VALUE", text);
  if (g_str_equal (pair[0], "jobs"))
    {
      well = read_number (scenario, pair[1], 1, TREE_JOBS_MAX, &number);
      scenario->shape.n = (guint)number;
    }
  else if (g_str_equal (pair[0], "roots"))
    {
      well = read_number (scenario, pair[1], 1, TREE_CHILDREN_MAX + 1, &number);
      scenario->shape.roots = (guint)number - 1;
    }
  else if (g_str_equal (pair[0], "workers"))
    {
      well = read_number (scenario, pair[1], 1, 8, &number);
      scenario->plan.seats = (guint)number;
    }
  else if (g_str_equal (pair[0], "leaf"))
    {
      well = read_time (scenario, pair[1], &number);
      scenario->shape.cost_max_us = (guint32)MIN (number, G_MAXINT32);
    }
  else if (g_str_equal (pair[0], "delay"))
    well = read_time (scenario, pair[1], &scenario->plan.delay_us);
  else if (g_str_equal (pair[0], "checkpoint"))
    {
      scenario->plan.checkpoint = g_str_equal (pair[1], "yes");
      well = scenario->plan.checkpoint || g_str_equal (pair[1], "no")
             || fail (scenario, "'%s' is neither yes nor no", pair[1]);
    }
  else if (g_str_equal (pair[0], "buddies"))
    {
      scenario->plan.buddies = SIM_BUDDIES;
      well = read_time (scenario, pair[1], &scenario->plan.copy_us);
    }
  else if (g_str_equal (pair[0], "epochs"))
    {
      scenario->plan.checkpoint = TRUE;
      scenario->plan.buddies = SIM_CUT;
      well = read_time (scenario, pair[1], &scenario->plan.save_us);
    }
  else if (g_str_equal (pair[0], "mirror"))
    {
      scenario->plan.buddies = SIM_MIRROR;
      well = read_time (scenario, pair[1], &scenario->plan.copy_us);
    }
  else
    return fail (scenario, "there is no setting '%s'", pair[0]);
  return well;
}

/* Reads: cluster N [KEY=VALUE...] */
static gboolean
read_cluster (Scenario *scenario, char **words)
{
  guint64 number;

  if (words[1] == NULL)
    return fail (scenario, "'cluster' needs the number of nodes");
  if (!read_number (scenario, words[1], 1, 8, &number))
    return FALSE;
  scenario->plan.n_nodes = (guint)number;
  for (char **word = words + 2; *word != NULL; word++)
    if (!read_setting (scenario, *word))
      return FALSE;
  return TRUE;
}

static gboolean
add_command (Scenario *scenario, StoryKind kind, const char *text, gboolean skips)
{
  GArray *commands = scenario->story.commands;
  StoryCommand command = { .kind = kind,
                           .text = g_strdup (text),
                           .skips = skips,
                           .section = scenario->before->len - 1,
                           .at = scenario->at };

  if (commands->len > 0
      && g_array_index (commands, StoryCommand, commands->len - 1).kind == STORY_END)
    {
      g_free (command.text);
      return fail (scenario, "a command after 'run to the end'");
    }
  g_array_append_val (commands, command);
  return TRUE;
}

/* Reads: FAULT NODE [TIME]; some faults have no node. */
static gboolean
read_fault (Scenario *scenario, FaultKind kind, char **words)
{
  Plan *plan = &scenario->plan;
  gboolean has_node = kind != FAULT_JOIN && kind != FAULT_TOTAL && kind != FAULT_HEAD;
  char **rest = words + 1 + (has_node && words[1] != NULL);
  Fault *fault = &plan->faults[plan->n_faults];

  if (plan->n_faults == SIM_FAULTS_MAX)
    return fail (scenario, "more than %d faults", SIM_FAULTS_MAX);
  if (kind == FAULT_APART || kind == FAULT_POISON || kind == FAULT_WALL)
    return fail (scenario, "a scenario has no fault '%s'", words[0]);
  if (has_node && words[1] == NULL)
    return fail (scenario, "'%s' needs the name of a node", words[0]);
  /* A leave with an even count is one by a signal. */
  *fault = (Fault){ .kind = kind, .count = kind == FAULT_LEAVE ? 1 : MAX (plan->n_nodes, 1) };
  if (rest[0] != NULL && (rest[1] != NULL || !read_time (scenario, rest[0], &fault->for_us)))
    return fail (scenario, "too much after '%s'", words[0]);
  plan->n_faults++;
  return add_command (scenario, STORY_FAULT, has_node ? words[1] : NULL, FALSE);
}

static gboolean
read_words (Scenario *scenario, const char *line, char **words)
{
  static const char until[] = "run until ", skip[] = "skip until ";
  FaultKind kind = cases_fault (words[0]);

  if (g_str_equal (words[0], "cluster"))
    return read_cluster (scenario, words);
  if (g_str_equal (words[0], "hide") || g_str_equal (words[0], "show"))
    {
      for (char **word = words + 1; *word != NULL; word++)
        if (!story_hide (&scenario->story, *word, words[0][0] == 'h'))
          return fail (scenario, "no line is called '%s'", *word);
      return TRUE;
    }
  if (g_str_equal (line, "run to the end"))
    return add_command (scenario, STORY_END, NULL, FALSE);
  if (g_str_has_prefix (line, until) && line[strlen (until)] != '\0')
    return add_command (scenario, STORY_UNTIL, line + strlen (until), FALSE);
  if (g_str_has_prefix (line, skip) && line[strlen (skip)] != '\0')
    return add_command (scenario, STORY_UNTIL, line + strlen (skip), TRUE);
  if (kind != FAULT_NONE)
    return read_fault (scenario, kind, words);
  return fail (scenario, "there is no command '%s'", line);
}

static gboolean
read_line (Scenario *scenario, const char *line)
{
  if (line[0] == '#' || line[0] == '\0')
    return TRUE;
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  return read_words (scenario, line, words);
}

/* Reads the commands, and keeps the text before each conversation. */
static gboolean
read_text (Scenario *scenario, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  GString *before = NULL; /* The text of the section whose commands are read; NULL: none. */
  gboolean told = FALSE;  /* TRUE: a conversation is skipped. */

  for (char **line = lines; *line != NULL; line++)
    {
      scenario->at++;
      told = told && **line != '\0';
      if (told || (before == NULL && **line == '\0'))
        continue;
      if (before == NULL)
        g_ptr_array_add (scenario->before, before = g_string_new (NULL));
      g_string_append_printf (before, "%s\n", *line);
      told = g_str_equal (*line, RULE);
      if (told)
        before = NULL;
      else if (!read_line (scenario, *line))
        return FALSE;
    }
  if (before != NULL)
    return fail (scenario, "the last commands have no line '%s' after them", RULE);
  const GArray *commands = scenario->story.commands;
  if (commands->len == 0
      || g_array_index (commands, StoryCommand, commands->len - 1).kind != STORY_END)
    return fail (scenario, "the last command is not 'run to the end'");
  return TRUE;
}

/* (transfer full) The file's text with the conversation of the run in its sections. */
static char *
write_text (const Scenario *scenario, const Outcome *outcome)
{
  GString *out = g_string_new (NULL);
  guint i = 0;

  for (guint section = 0; section < scenario->before->len; section++)
    {
      g_string_append_printf (out, "%s%s", section > 0 ? "\n" : "",
                              ((GString *)scenario->before->pdata[section])->str);
      for (; i < scenario->story.lines->len; i++)
        {
          const StoryLine *line = &g_array_index (scenario->story.lines, StoryLine, i);
          if (line->section > section)
            break;
          if (line->skipped)
            continue;
          g_string_append_printf (out, "%s%s\n", line->text, line->lost ? "  (lost)" : "");
        }
    }
  g_string_append_printf (out, "%u jobs, %" G_GUINT64_FORMAT " begun\n", scenario->shape.n,
                          outcome->executed);
  return g_string_free (out, FALSE);
}

static char *
run (Scenario *scenario)
{
  Plan *plan = &scenario->plan;
  Story *story = &scenario->story;
  g_autoptr (Tree) tree = tree_new (&scenario->shape);
  Outcome outcome;

  plan->tree = tree;
  sim_run_story (plan, SIM_NOTHING, story, &outcome);
  const StoryCommand *command = &g_array_index (story->commands, StoryCommand, story->next);
  scenario->at = command->at;
  if (story->wrong != NULL)
    fail (scenario, "%s", story->wrong);
  else if (command->kind == STORY_UNTIL)
    fail (scenario, "the run ended before '%s' was said", command->text);
  else if (outcome.failure[0] != '\0')
    fail (scenario, "the run broke a rule: %s", outcome.failure);
  return scenario->error == NULL ? write_text (scenario, &outcome) : NULL;
}

static void
free_text (gpointer text)
{
  g_string_free (text, TRUE);
}

char *
scenario_run (const char *name, const char *text, GError **error)
{
  Scenario scenario
      = { .name = name,
          .before = g_ptr_array_new_with_free_func (free_text),
          .shape = { .seed = 1, .n = 7, .balanced = TRUE, .even = TRUE, .cost_max_us = 20000 },
          .plan = { .seed = 1,
                    .n_nodes = 2,
                    .seats = 1,
                    .stacks_extra = 2,
                    .even_delays = TRUE,
                    .delay_us = 1000,
                    .swaps = TRUE,
                    .save_us = SIM_SECOND,
                    .publish_us = SIM_SECOND,
                    .tell_us = SIM_SECOND,
                    .patience_us = 120 * SIM_SECOND } };
  char *made = NULL;

  story_init (&scenario.story);
  if (read_text (&scenario, text))
    made = run (&scenario);
  if (scenario.error != NULL)
    g_propagate_error (error, scenario.error);
  story_clear (&scenario.story);
  g_ptr_array_unref (scenario.before);
  return made;
}
