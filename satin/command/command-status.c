/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin status`: shows the live runs of this user, from the replies of their nodes. One thread.
 * Tests: test-verbs, ended.sh, status.sh. */
#include "arguments.h"
#include "ask.h"
#include "command.h"
#include "ended.h"

#include "folder/folder-ended.h"

#include "node/checkpoint.h"

#include "storage/places/place.h"

#include "text/fields.h"
#include "text/json.h"
#include "text/shown.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

typedef struct
{
  FolderRun run;
  char *reply; /* JSON of a node */
  char *host;  /* (nullable) the host where the run was started, if it is another one */
} StatusRun;

static void
live_clear (gpointer data)
{
  StatusRun *live = data;

  folder_run_clear (&live->run);
  g_free (live->reply);
  g_free (live->host);
}

/* The status of a run of which no node listens yet. (transfer full) */
static char *
starting_json (const FolderRun *run)
{
  g_autoptr (GString) text = g_string_new ("{\"name\":");

  json_append_string (text, run->name);
  json_append_member (text, "id", run->id);
  json_append_member (text, "checkpoint", run->checkpoint);
  g_string_append (
      text, ",\"term\":null,\"root\":null,\"done\":null,\"left_s\":null,\"left_low_s\":null");
  g_string_append (text, ",\"stopping\":false,\"left_high_s\":null,\"at_risk_s\":null");
  g_string_append (text, ",\"at_risk_all_s\":null,\"nodes\":[]}");
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
                   "run '%s' is not running: its processes are gone", run.name);
      return FALSE;
    }
  live.reply = ask_status (path, NULL);
  if (live.reply == NULL)
    live.reply = starting_json (&run);
  live.host = folder_other_host (path);
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
      && g_get_real_time () / G_USEC_PER_SEC - info.st_mtime > FOLDER_KEEP_S)
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

/* The reply of a node, with facts from the folder. */
static void
append_run (GString *text, const StatusRun *live)
{
  gsize length = strlen (live->reply);

  g_string_append_len (text, live->reply, (gssize)(length > 0 ? length - 1 : 0)); /* "}" */
  ended_append_facts (text, &live->run, g_get_real_time ());
  g_string_append_c (text, '}');
}

static void
print_json (const GArray *lives, gboolean all)
{
  g_autoptr (GString) text = g_string_new ("{\"format\":" JSON_FORMAT ",\"runs\":[");

  for (guint i = 0; i < lives->len; i++)
    {
      g_string_append (text, i == 0 ? "" : ",");
      append_run (text, &g_array_index (lives, StatusRun, i));
    }
  g_string_append_c (text, ']');
  if (all)
    {
      g_string_append (text, ",\"ended\":[");
      ended_append (text);
      g_string_append_c (text, ']');
    }
  g_print ("%s}\n", text->str);
}

static const char *
roles_of (GVariant *node)
{
  gboolean is_master = fields_has (node, "roles", "master");
  gboolean is_coordinator = fields_has (node, "roles", "coordinator");

  return is_master && is_coordinator ? "master, coordinator"
         : is_master                 ? "master"
         : is_coordinator            ? "coordinator"
                                     : "";
}

static char *
seconds (GVariant *object, const char *key)
{
  double value = fields_number (object, key);

  return isfinite (value) ? g_strdup_printf ("%.1f s", value) : g_strdup ("-");
}

/* A column is never empty, so that other programs can split the lines. */
static const char *
cell (GVariant *node, const char *name)
{
  const char *text = fields_text (node, name);

  return *text != '\0' ? text : "-";
}

/* "silent" if the other nodes have not heard from it for a while; else the state that it reports.
 * (transfer none) */
static const char *
state_of (GVariant *node)
{
  return fields_flag (node, "silent") ? "silent" : cell (node, "state");
}

static void
add_node (GPtrArray *rows, GVariant *node)
{
  g_autoptr (GStrvBuilder) row = g_strv_builder_new ();
  g_autofree char *at_risk = seconds (node, "at_risk_s");
  g_autofree char *pid = g_strdup_printf ("%" G_GUINT64_FORMAT, fields_count (node, "pid"));
  g_autofree char *workers = g_strdup_printf ("%" G_GUINT64_FORMAT, fields_count (node, "workers"));
  const char *const cells[] = { cell (node, "id"), pid,     cell (node, "site"), state_of (node),
                                workers,           at_risk, roles_of (node),     NULL };

  g_strv_builder_addv (row, (const char **)cells);
  g_ptr_array_add (rows, g_strv_builder_end (row));
}

static void
print_nodes (const GPtrArray *nodes)
{
  static const char *const heads[]
      = { "NODE", "PID", "SITE", "STATE", "WORKERS", "AT RISK", "ROLES", NULL };
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);
  g_autofree char *table = NULL;
  g_auto (GStrv) lines = NULL;

  g_ptr_array_add (rows, g_strdupv ((char **)heads));
  for (guint i = 0; i < nodes->len; i++)
    add_node (rows, nodes->pdata[i]);
  table = shown_table (rows, 1u << 1 | 1u << 4 | 1u << 5);
  lines = g_strsplit (table, "\n", -1);
  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    g_print ("  %s\n", lines[i]);
}

static void
print_run (const StatusRun *live)
{
  g_autoptr (GVariant) status = fields_read (live->reply);
  g_autoptr (GPtrArray) nodes = NULL;
  g_autofree char *one = NULL, *all = NULL, *best = NULL, *root = NULL;
  double done, term;

  if (status == NULL)
    {
      g_print ("%s  (a node sent an invalid reply)\n", live->run.name);
      return;
    }
  one = seconds (status, "at_risk_s");
  all = seconds (status, "at_risk_all_s");
  best = fields_best (status);
  root = fields_root (status);
  g_print ("%s%s%s", live->run.name, root != NULL ? "  " : "", root != NULL ? root : "");
  if (g_variant_lookup (status, "done", "d", &done))
    {
      g_autofree char *left = fields_left (status);

      g_print ("  %.1f %% done  %s", done * 100, left);
    }
  if (g_variant_lookup (status, "term", "d", &term))
    g_print ("  term %.0f", term);
  g_print ("  at risk %s if one node dies, %s if all do  checkpoint %s\n", one, all,
           live->run.checkpoint == NULL ? "none" : live->run.checkpoint);
  ended_print_facts (&live->run, g_get_real_time ());
  if (best != NULL)
    g_print ("  %s\n", best);
  nodes = fields_objects (status, "nodes");
  if (nodes->len > 0)
    print_nodes (nodes);
  else if (live->host != NULL)
    g_print ("  runs on host '%s': ask there\n", live->host);
  else
    g_print ("  starting\n");
}

/* The run may have been started on another machine: asks the nodes that the checkpoint names.
 * Returns the exit code. */
static int
look_into (const char *target)
{
  Restore restore;
  g_autoptr (GError) error = NULL;
  g_autofree char *user = NULL;

  if (!restore_look (target, &restore, &error))
    return command_say ("%s", error->message), COMMAND_ERROR;
  user = restore.exists ? checkpoint_in_use (&restore, target) : NULL;
  restore_clear (&restore);
  if (user != NULL)
    command_say ("%s: ask there", user);
  else
    command_say ("no run works on '%s' (`satin inspect` shows what is in it)", target);
  return COMMAND_ERROR;
}

/* Prints why there is no live run of this name or checkpoint here. Returns the exit code. */
static int
say_why (const char *word, gboolean insecure, const GError *error)
{
  struct stat info;
  g_autofree char *folder = folder_find (word, NULL), *text = place_text (word, NULL);
  g_autofree char *ended = folder == NULL ? folder_ended_find (word) : NULL;
  int code;

  if (ended != NULL && folder_has_ended (ended, &code, NULL))
    return command_say ("run '%s' has ended (exit code %d)", word, code), COMMAND_ERROR;
  if (folder == NULL && text != NULL && (place_is_remote (text) || stat (text, &info) == 0))
    {
      g_autofree char *target = arguments_target (word, insecure);
      return target != NULL ? look_into (target) : COMMAND_STORE;
    }
  command_say ("%s", error->message);
  return COMMAND_ERROR;
}

int
command_status (int argc, char **argv)
{
  g_autoptr (GArray) lives = g_array_new (FALSE, FALSE, sizeof (StatusRun));
  g_autoptr (GError) error = NULL;
  static const ArgumentsVerb verb
      = { "status", "[RUN]", "Shows RUN, or all runs of yours that go on.", ARGUMENTS_WORDS };
  g_auto (Arguments) said = { 0 };

  g_array_set_clear_func (lives, live_clear);
  if (!arguments_read_one (&said, &verb, argc, argv))
    return COMMAND_USAGE;
  const char *name = said.words[0];
  if (name != NULL && said.all)
    return command_usage ("status ", "--all conflicts with a run");
  if (name == NULL)
    add_all (lives);
  else
    {
      g_autofree char *path = ask_folder (name, &error);

      if (path == NULL || !add_live (lives, path, &error))
        return say_why (name, said.own.insecure, error);
    }
  if (said.json)
    {
      print_json (lives, said.all);
      return COMMAND_DONE;
    }
  if (lives->len == 0)
    g_print ("no run goes on\n");
  for (guint i = 0; i < lives->len; i++)
    print_run (&g_array_index (lives, StatusRun, i));
  if (said.all)
    ended_print ();
  return COMMAND_DONE;
}
