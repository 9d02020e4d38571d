/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin --complete WORD...`: prints what may stand for the last word, one a line, for the
 * completion of shells: verbs, options, plans of protection, live runs and their nodes. Prints
 * nothing where a file is meant, since shells complete files. One thread. Tests: complete.sh. */
#include "arguments.h"
#include "ask.h"
#include "command.h"
#include "gather.h"

#include <string.h>

/* Verbs whose first word is a run, and those whose second word is a node of it. */
static const char *const run_verbs[]
    = { "add",    "leave", "suspend", "save", "cancel",  "wait", "log",
        "status", "view",  "top",     "jobs", "metrics", NULL };
static const char *const node_verbs[] = { "leave", "log", NULL };

static void
print_runs (void)
{
  g_autoptr (GPtrArray) names = folder_list ();

  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *path = folder_find (names->pdata[i], NULL);

      if (path != NULL && folder_is_live (path))
        g_print ("%s\n", (const char *)names->pdata[i]);
    }
}

static void
print_nodes (const char *run)
{
  g_autofree char *path = ask_folder (run, NULL);
  g_autoptr (Gather) gather
      = path != NULL && folder_is_live (path) ? gather_new (path, NULL) : NULL;

  for (guint i = 0; gather != NULL && i < gather->nodes->len; i++)
    g_print ("%s\n", g_array_index (gather->nodes, GatherNode, i).id);
}

static void
print_options (const char *verb)
{
  g_autoptr (GPtrArray) rows = arguments_rows (verb);

  for (guint i = 0; i < rows->len; i++)
    g_print ("--%s\n", ((const Option *)rows->pdata[i])->entry.long_name);
}

/* As `satin help` lists them. */
static void
print_verbs (void)
{
  const char *argv[] = { "/proc/self/exe", "help", NULL };
  g_autofree char *page = NULL;
  g_autoptr (GRegex) regex = g_regex_new ("^  satin ([a-z]+) ", G_REGEX_MULTILINE, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;

  if (!g_spawn_sync (NULL, (char **)argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &page, NULL,
                     NULL, NULL))
    return;
  for (g_regex_match (regex, page, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL))
    {
      g_autofree char *name = g_match_info_fetch (match, 1);

      g_print ("%s\n", name);
    }
}

static void
print_plans (void)
{
  for (guint i = 0; i < PLANS; i++)
    g_print ("%s\n", plan_name ((PlanName)i));
}

int
command_complete (int argc, char **argv)
{
  const char *verb = argc > 2 ? argv[1] : "", *last = argv[argc - 1];
  const char *run = NULL;
  guint n_words = 0;

  if (argc <= 2 || (strcmp (verb, "help") == 0 && argc == 3))
    {
      print_verbs ();
      return COMMAND_DONE;
    }
  for (int i = 2; i < argc - 1; i++)
    {
      if (strcmp (argv[i], "--") == 0)
        return COMMAND_DONE; /* a program and its arguments follow */
      if (argv[i][0] == '-')
        continue;
      if (n_words++ == 0)
        run = argv[i];
    }
  if (strcmp (argv[argc - 2], "--protect") == 0)
    print_plans ();
  else if (last[0] == '-')
    print_options (verb);
  else if (n_words == 0 && g_strv_contains (run_verbs, verb))
    print_runs ();
  else if (n_words == 1 && g_strv_contains (node_verbs, verb))
    print_nodes (run);
  return COMMAND_DONE;
}
