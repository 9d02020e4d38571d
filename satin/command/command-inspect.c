/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin inspect`: shows what a checkpoint holds. Changes nothing. A live run may write the
 * checkpoint, since the file at its place is always whole. One thread. Tests: inspect.sh. */
#include "command-inspect.h"
#include "arguments.h"
#include "forest.h"

#include "coordinator/takeover.h"

#include "host/temporary.h"

#include "storage/shares.h"

#include <string.h>

/* The summary shows at most so many of each; --json shows all. */
#define NODES_SHOWN_MAX 20
#define ROWS_SHOWN_MAX 10
#define VALUE_SHOWN_MAX 40

int
command_inspect_failed (const char *target, const GError *error)
{
  if (error->domain == COORDINATOR_ERROR)
    command_say ("%s", error->message);
  else
    command_say ("checkpoint '%s': %s", target, error->message);
  if (error->domain == COORDINATOR_ERROR)
    return error->code;
  return g_error_matches (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE) ? COMMAND_UNUSABLE
                                                                        : COMMAND_STORE;
}

typedef struct
{
  Stems *stems;
  ResultsEach row;
  KeepsEach keep;
  gpointer data;
  guint64 *bad;
} Sieve;

/* FALSE: the row is not sound, or its path has a lost stem; it is counted as bad. */
static gboolean
passes (const Sieve *sieve, const char *path, gboolean is_sound)
{
  char id[17];
  gboolean passed = is_sound && (!path_stem (path, id) || stems_lookup (sieve->stems, id) != NULL);

  if (!passed && sieve->bad != NULL)
    (*sieve->bad)++;
  return passed;
}

static gboolean
pass_row (const Result *row, gpointer data, GError **error)
{
  const Sieve *sieve = data;

  return !passes (sieve, row->path, takeover_row_is_sound (row))
         || sieve->row (row, sieve->data, error);
}

static gboolean
pass_keep (const Keep *keep, gpointer data, GError **error)
{
  const Sieve *sieve = data;

  return !passes (sieve, keep->path, takeover_keep_is_sound (keep))
         || sieve->keep (keep, sieve->data, error);
}

gboolean
command_inspect_rows (Inspection *inspection, ResultsEach each, gpointer data, guint64 *bad,
                      GError **error)
{
  Sieve sieve = { .stems = inspection->stems, .row = each, .data = data, .bad = bad };
  ResultsQuery query = { .any_job = TRUE, .below = inspection->below };

  return results_each (inspection->file, &query, pass_row, &sieve, bad, error);
}

gboolean
command_inspect_keeps (Inspection *inspection, KeepsEach each, gpointer data, guint64 *bad,
                       GError **error)
{
  Sieve sieve = { .stems = inspection->stems, .keep = each, .data = data, .bad = bad };

  return keeps_each (inspection->file, pass_keep, &sieve, bad, error);
}

char *
command_inspect_time (gint64 seconds)
{
  g_autoptr (GDateTime) time = seconds > 0 ? g_date_time_new_from_unix_local (seconds) : NULL;

  return time == NULL ? g_strdup ("-") : g_date_time_format (time, "%Y-%m-%d %H:%M:%S");
}

const char *
command_inspect_path (const char *path)
{
  return path[0] == '\0' ? "/" : path;
}

char *
command_inspect_short (const char *value)
{
  if (g_utf8_strlen (value, -1) <= VALUE_SHOWN_MAX)
    return g_strdup (value);
  g_autofree char *start = g_utf8_substring (value, 0, VALUE_SHOWN_MAX - 1);
  return g_strconcat (start, "…", NULL);
}

static void
print_identity (const Identity *identity)
{
  g_autoptr (GString) line = g_string_new (NULL);

  command_append_words (line, identity->argv);
  g_print ("run       %s (%s)\n", identity->name == NULL ? "?" : identity->name,
           identity->run == NULL ? "?" : identity->run);
  g_print ("program   %s%s\n", identity->app == NULL ? "?" : identity->app, line->str);
  if (identity->program != NULL)
    g_print ("path      %s\n", identity->program);
  if (identity->folder != NULL)
    g_print ("folder    %s\n", identity->folder);
  if (identity->version != NULL)
    g_print ("satin     %s\n", identity->version);
  if (identity->build != NULL)
    g_print ("build     %s\n", identity->build);
}

static void
print_origin (SqlOrigin origin)
{
  g_print ("proof     %s\n", origin == SQL_ORIGIN_OWN ? "yours, of each row"
                             : origin == SQL_ORIGIN_OLD
                                 ? "none: your mark of an older Satin, which covers no row"
                                 : "none of yours: anybody may have written it");
}

int
command_inspect_compare_work (gconstpointer a, gconstpointer b)
{
  const RestoreNode *x = *(RestoreNode *const *)a, *y = *(RestoreNode *const *)b;

  return (x->work_s < y->work_s) - (x->work_s > y->work_s);
}

/* Prints when the first node joined, which is when the checkpoint began. */
static void
print_started (const GPtrArray *nodes)
{
  gint64 first = 0;

  for (guint i = 0; i < nodes->len; i++)
    {
      const RestoreNode *node = nodes->pdata[i];

      if (node->joined > 0 && (first == 0 || node->joined < first))
        first = node->joined;
    }
  g_autofree char *text = command_inspect_time (first);
  if (first > 0)
    g_print ("started   %s\n", text);
}

static void
print_state (const Restore *restore)
{
  if (restore->finished)
    g_print ("state     finished, exit code %d\n", restore->exit_code);
  else
    g_print ("state     unfinished, %.2f %% done\n", CLAMP (restore->done, 0.0, 1.0) * 100);
  g_print ("results   %" G_GUINT64_FORMAT " saved", restore->rows);
  if (restore->rows_bad > 0)
    g_print (", %" G_GUINT64_FORMAT " missing or damaged (they will be done again)",
             restore->rows_bad);
  g_print ("\n");
}

static void
print_who (const GPtrArray *nodes)
{
  gboolean first = TRUE;

  for (guint i = 0; i < MIN (nodes->len, NODES_SHOWN_MAX); i++)
    {
      const RestoreNode *node = nodes->pdata[i];

      if (first)
        g_print ("\n%-12s %-20s %8s %12s %8s\n", "NODE", "HOST", "RESULTS", "WORK", "SHARE");
      first = FALSE;
      g_print ("%-12s %-20s %8" G_GUINT64_FORMAT " %10.2f s %6.2f %%\n", node->id,
               node->name == NULL ? "-" : node->name, node->rows, node->work_s, node->weight * 100);
    }
  if (nodes->len > NODES_SHOWN_MAX)
    g_print ("… and %u more\n", nodes->len - NODES_SHOWN_MAX);
}

static void
print_largest (const GPtrArray *rows)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const RestoreRow *row = rows->pdata[i];
      g_autofree char *value = command_inspect_short (row->value);

      if (i == 0)
        g_print ("\n%-24s %-12s %8s %12s  %s\n", "LARGEST", "JOB", "SHARE", "WORK", "VALUE");
      g_print ("%-24s %-12s %6.2f %% %10.2f s  %s\n", command_inspect_path (row->path), row->job,
               row->weight * 100, row->work_s, value);
    }
}

typedef struct
{
  guint64 n, bytes;
} Shares;

static gboolean
count_shared (const char *hex, gint64 size, gpointer data, GError **error)
{
  Shares *shares = data;

  (void)hex, (void)error;
  shares->n++;
  shares->bytes += (guint64)size;
  return TRUE;
}

static gboolean
print_shared (Inspection *inspection, GError **error)
{
  Shares shares = { 0, 0 };

  if (!shares_each (inspection->file, count_shared, &shares, error))
    return FALSE;
  g_autofree char *size = g_format_size_full (shares.bytes, G_FORMAT_SIZE_IEC_UNITS);
  if (shares.n > 0)
    g_print ("shared    %" G_GUINT64_FORMAT " times shared bytes, %s\n", shares.n, size);
  return TRUE;
}

static int
show_summary (Inspection *inspection)
{
  const RestoreQuery query = { .largest = TRUE, .limit = ROWS_SHOWN_MAX };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) nodes = restore_nodes (inspection->file, &error);
  g_autoptr (GPtrArray) rows
      = nodes == NULL ? NULL : restore_rows (inspection->file, &query, &error);

  if (rows == NULL)
    return command_inspect_failed (inspection->target, error);
  g_ptr_array_sort (nodes, command_inspect_compare_work);
  if (inspection->restore.damage != NULL)
    command_say ("checkpoint '%s' is damaged: %s", inspection->target, inspection->restore.damage);
  print_identity (&inspection->restore.identity);
  print_origin (inspection->restore.origin);
  print_started (nodes);
  print_state (&inspection->restore);
  if (!print_shared (inspection, &error))
    return command_inspect_failed (inspection->target, error);
  print_who (nodes);
  print_largest (rows);
  return COMMAND_DONE;
}

static gboolean
check_words (const Arguments *said)
{
  if (said->words[0] == NULL || said->words[1] != NULL)
    return command_usage ("inspect ", "one checkpoint is needed: `satin inspect URI`"), FALSE;
  if (said->tree + said->json + said->verify_all + (said->why != NULL) > 1)
    return command_usage ("inspect ",
                          "--tree, --why, --verify and --json are different views: choose one"),
           FALSE;
  if (!said->tree && (said->depth >= 0 || said->from != NULL))
    return command_usage ("inspect ", "--depth and --from go with --tree"), FALSE;
  return TRUE;
}

static gboolean
add_stem (const char *id, const char *path, gpointer data, GError **error)
{
  Inspection *inspection = data;

  (void)error;
  if (!stems_add (inspection->stems, id, path))
    inspection->stems_bad++;
  return TRUE;
}

gboolean
command_inspect_stems (Inspection *inspection, GError **error)
{
  return results_each_stem (inspection->file, add_stem, inspection, &inspection->stems_bad, error);
}

static int
show (Inspection *inspection, const Arguments *said)
{
  g_autoptr (GError) error = NULL;

  inspection->file = restore_open (inspection->target, &error);
  if (inspection->file == NULL
      || !restore_read (inspection->file, inspection->target, &inspection->restore, &error)
      || !command_inspect_stems (inspection, &error))
    return command_inspect_failed (inspection->target, error);
  if (said->tree)
    return command_inspect_tree (inspection, said->from,
                                 said->depth < 0 ? ARGUMENTS_DEPTH : (guint)said->depth);
  if (said->why != NULL)
    return command_inspect_why (inspection, said->why);
  if (said->json)
    return command_inspect_json (inspection);
  return said->verify_all ? command_inspect_verify (inspection) : show_summary (inspection);
}

int
command_inspect (int argc, char **argv)
{
  static const ArgumentsVerb verb
      = { "inspect", "URI",
          "Shows what the checkpoint at URI is of and how much it holds. It is an SQLite\n"
          "file: `sqlite3 URI` shows everything else (see satin-checkpoint(5)).",
          ARGUMENTS_WORDS };
  g_auto (Arguments) said = { 0 };
  Inspection inspection = { 0 };
  g_autofree char *target = NULL;
  int code;

  if (!arguments_read (&said, &verb, argc, argv) || !check_words (&said))
    return COMMAND_USAGE;
  target = arguments_target (said.words[0], said.own.insecure);
  if (target == NULL)
    return COMMAND_STORE;
  temporary_watch_signals ();
  inspection.target = target;
  inspection.stems = stems_new ();
  code = show (&inspection, &said);
  restore_clear (&inspection.restore);
  sql_free (inspection.file);
  stems_free (inspection.stems);
  return code;
}
