/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin status`: the runs of this user that go on, as their nodes tell it. One thread. */
#include "ask.h"
#include "command.h"
#include "json.h"

#include "net/checkpoint.h"
#include "net/folder.h"

#include "storage/place.h"

#include <string.h>
#include <sys/stat.h>

/* The folders of dead runs are kept so long for their logs. */
#define KEEP_S (7 * 24 * 3600)

typedef struct
{
  FolderRun run;
  char *reply; /* JSON of a node */
} StatusRun;

static void
live_clear (gpointer data)
{
  StatusRun *live = data;

  folder_run_clear (&live->run);
  g_free (live->reply);
}

/* What is known of a run none of whose nodes listens yet. */
static char *
starting_json (const FolderRun *run)
{
  g_autoptr (GString) text = g_string_new ("{\"name\":");

  json_append_string (text, run->name);
  g_string_append (text, ",\"id\":");
  json_append_string (text, run->id);
  g_string_append (text, ",\"checkpoint\":");
  json_append_string (text, run->checkpoint);
  g_string_append (text, ",\"term\":null,\"done\":null,\"at_risk_s\":null,\"nodes\":[]}");
  return g_strdup (text->str);
}

static gboolean
add_live (GArray *lives, const char *path, GError **error)
{
  g_auto (FolderRun) run = { 0 };
  StatusRun live = { 0 };

  if (!folder_read (path, &run, error))
    return FALSE;
  if (!folder_is_live (path))
    {
      g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_ABSENT,
                   "run '%s' does not live: its processes are gone", run.name);
      return FALSE;
    }
  live.reply = ask_status (path, NULL);
  if (live.reply == NULL)
    live.reply = starting_json (&run);
  live.run = run;
  memset (&run, 0, sizeof run);
  g_array_append_val (lives, live);
  return TRUE;
}

static void
prune (const char *path)
{
  struct stat info;

  if (!folder_is_live (path) && stat (path, &info) == 0
      && g_get_real_time () / G_USEC_PER_SEC - info.st_mtime > KEEP_S)
    folder_remove (path, NULL);
}

static void
add_all (GArray *lives)
{
  g_autoptr (GPtrArray) names = folder_list ();

  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *path = folder_find (names->pdata[i], NULL);

      if (path != NULL && !add_live (lives, path, NULL))
        prune (path);
    }
}

static void
print_json (const GArray *lives)
{
  g_autoptr (GString) text = g_string_new ("{\"runs\":[");

  for (guint i = 0; i < lives->len; i++)
    g_string_append_printf (text, "%s%s", i == 0 ? "" : ",",
                            g_array_index (lives, StatusRun, i).reply);
  g_print ("%s]}\n", text->str);
}

static char *
join_roles (GVariant *node)
{
  g_autoptr (GVariant) roles = g_variant_lookup_value (node, "roles", G_VARIANT_TYPE ("av"));
  g_autoptr (GString) text = g_string_new (NULL);

  for (gsize i = 0; roles != NULL && i < g_variant_n_children (roles); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (roles, i);
      g_autoptr (GVariant) role = g_variant_get_variant (boxed);

      if (g_variant_is_of_type (role, G_VARIANT_TYPE_STRING))
        g_string_append_printf (text, "%s%s", text->len == 0 ? "" : ", ",
                                g_variant_get_string (role, NULL));
    }
  return g_strdup (text->str);
}

static char *
seconds (GVariant *object)
{
  double at_risk_s;

  if (!g_variant_lookup (object, "at_risk_s", "d", &at_risk_s))
    return g_strdup ("-");
  return g_strdup_printf ("%.1f s", at_risk_s);
}

static void
print_node (GVariant *node)
{
  const char *id = "?", *site = "-", *state = "?";
  double pid = 0, workers = 0;
  g_autofree char *roles = join_roles (node), *at_risk = seconds (node);

  g_variant_lookup (node, "id", "&s", &id);
  g_variant_lookup (node, "site", "&s", &site);
  g_variant_lookup (node, "state", "&s", &state);
  g_variant_lookup (node, "pid", "d", &pid);
  g_variant_lookup (node, "workers", "d", &workers);
  g_print ("  %-8s %8.0f  %-10s %-8s %7.0f  %10s  %s\n", id, pid, site, state, workers, at_risk,
           roles);
}

static void
print_run (const StatusRun *live)
{
  g_autoptr (GVariant) status = json_read (live->reply);
  g_autoptr (GVariant) nodes = NULL;
  g_autofree char *at_risk = NULL;
  double done, term;

  if (status == NULL || !g_variant_is_of_type (status, G_VARIANT_TYPE_VARDICT))
    {
      g_print ("%s  (its node gave an answer that is no status)\n", live->run.name);
      return;
    }
  at_risk = seconds (status);
  g_print ("%s", live->run.name);
  if (g_variant_lookup (status, "done", "d", &done))
    g_print ("  %.1f %% done", done * 100);
  if (g_variant_lookup (status, "term", "d", &term))
    g_print ("  term %.0f", term);
  g_print ("  at risk %s  checkpoint %s\n", at_risk,
           live->run.checkpoint == NULL ? "none" : live->run.checkpoint);
  nodes = g_variant_lookup_value (status, "nodes", G_VARIANT_TYPE ("av"));
  if (nodes == NULL || g_variant_n_children (nodes) == 0)
    {
      g_print ("  starting\n");
      return;
    }
  g_print ("  %-8s %8s  %-10s %-8s %7s  %10s  %s\n", "NODE", "PID", "SITE", "STATE", "WORKERS",
           "AT RISK", "ROLES");
  for (gsize i = 0; i < g_variant_n_children (nodes); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (nodes, i);
      g_autoptr (GVariant) node = g_variant_get_variant (boxed);

      if (g_variant_is_of_type (node, G_VARIANT_TYPE_VARDICT))
        print_node (node);
    }
}

/* What the checkpoint itself tells when no run of this machine keeps it: a run that was started on
 * another one may. (transfer full) (nullable) */
static char *
look_into (const char *word)
{
  struct stat info;
  Restore restore;
  g_autoptr (GError) error = NULL;
  g_autofree char *user = NULL, *target = place_check (word, TRUE, NULL);

  if (target == NULL || (!place_is_remote (target) && stat (target, &info) != 0))
    return NULL;
  if (!restore_look (target, &restore, &error))
    return g_strdup (error->message);
  user = restore.exists ? checkpoint_in_use (&restore, target) : NULL;
  restore_clear (&restore);
  if (user != NULL)
    return g_strdup_printf ("%s: ask there", user);
  return g_strdup_printf ("no run works on '%s' (`satin inspect` shows what is in it)", target);
}

static int
say_why (const char *word, const GError *error)
{
  g_autofree char *folder = folder_find (word, NULL);
  g_autofree char *found = folder == NULL ? look_into (word) : NULL;

  command_say ("%s", found != NULL ? found : error->message);
  return COMMAND_ERROR;
}

/* `status RUN --json` has the option behind the word, where a strict parser has stopped. */
static gboolean
read_words (int argc, char **argv, gboolean *json, const char **name)
{
  const GOptionEntry entries[]
      = { { "json", 0, 0, G_OPTION_ARG_NONE, json, "Print one JSON object", NULL },
          { NULL, 0, 0, 0, NULL, NULL, NULL } };
  g_autoptr (GOptionContext) context = g_option_context_new ("[RUN]");

  g_option_context_set_summary (context, "Shows RUN, or all runs of yours that go on.");
  g_option_context_add_main_entries (context, entries, NULL);
  for (*name = NULL;; argc--, argv++)
    {
      if (!command_parse (context, "status", &argc, &argv))
        return FALSE;
      if (argc < 2)
        return TRUE;
      if (*name != NULL)
        return command_usage ("status ", "say one run, or none for all"), FALSE;
      *name = argv[1];
    }
}

int
command_status (int argc, char **argv)
{
  g_autoptr (GArray) lives = g_array_new (FALSE, FALSE, sizeof (StatusRun));
  g_autoptr (GError) error = NULL;
  gboolean json = FALSE;
  const char *name;

  g_array_set_clear_func (lives, live_clear);
  if (!read_words (argc, argv, &json, &name))
    return COMMAND_USAGE;
  if (name == NULL)
    add_all (lives);
  else
    {
      g_autofree char *path = ask_folder (name, &error);

      if (path == NULL || !add_live (lives, path, &error))
        return say_why (name, error);
    }
  if (json)
    print_json (lives);
  else if (lives->len == 0)
    g_print ("no run goes on\n");
  for (guint i = 0; !json && i < lives->len; i++)
    print_run (&g_array_index (lives, StatusRun, i));
  return COMMAND_DONE;
}
