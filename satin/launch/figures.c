/* SPDX-License-Identifier: BSD-3-Clause */
/* See figures.h. */
#include "figures.h"
#include "figures-taken.h"

#include "folder/folder.h"

#include "text/fields.h"
#include "text/json.h"

#include <math.h>
#include <string.h>

typedef enum
{
  ADDED,   /* each node counts its own; the sum */
  LARGEST, /* the largest value of any node */
  WORST,   /* the largest value of the nodes that were there at the end */
  LAST,    /* the sum over the nodes that were there at the end */
  SEEN     /* the launcher knows it, or `weigh` computes it */
} How;

typedef struct
{
  const char *key;
  How how;
} Figure;

/* In the order in which the manual lists them. */
static const Figure figures[] = {
  { "wall_s", SEEN },
  { "nodes", SEEN },
  { "workers", ADDED },
  { "jobs", ADDED },
  { "jobs_reused", ADDED },
  { "unmatched", ADDED },
  { "steals_local", ADDED },
  { "steals_remote", ADDED },
  { "waits", ADDED },
  { "waited_s", ADDED },
  { "copied_bytes", ADDED },
  { "kept_bytes", LARGEST },
  { "sent_jobs_bytes", ADDED },
  { "sent_results_bytes", ADDED },
  { "sent_keepers_bytes", ADDED },
  { "sent_saves_bytes", ADDED },
  { "sent_offers_bytes", ADDED },
  { "sent_shared_bytes", ADDED },
  { "sent_other_bytes", ADDED },
  { "verified", ADDED },
  { "shared_fetches", ADDED },
  { "shared_bytes", ADDED },
  { "saves", ADDED },
  { "saved_rows", ADDED },
  { "checkpoint_bytes", LARGEST },
  { "crashes", SEEN },
  { "work_s", SEEN },
  { "cpu_s", ADDED },
  { "driver_s", ADDED },
  { "scribe_s", ADDED },
  { "scan_s", ADDED },
  { "lost_s", ADDED },
  { "redone_s", SEEN },
  { "salvaged_s", ADDED },
  { "at_risk_s", WORST },
  { "at_risk_all_s", LAST },
};

/* The terms of work_s, redone_s and salvaged_s. */
typedef struct
{
  double work_s;     /* work of all nodes; of those that are gone, as the masters last saw it */
  double restored_s; /* work of an earlier life of the run that was used */
  double salvaged_s; /* work of nodes of this life that are gone, if it was used */
  double answer_s;   /* work that the answer stands for; 0: there is no answer */
} Balance;

/* NAN: no node reported it. */
typedef struct
{
  double values[G_N_ELEMENTS (figures)];
} Sums;

static double
number (GVariant *node, const char *key)
{
  double value = 0;

  g_variant_lookup (node, key, "d", &value);
  return value;
}

static gboolean
was_there_at_the_end (GVariant *node)
{
  gboolean final = TRUE;

  g_variant_lookup (node, "final", "b", &final);
  return final;
}

/* Collects what the other nodes saw of members that left: name -> the largest work_s. */
static void
note_departed (GHashTable *departed, GVariant *node)
{
  g_autoptr (GVariant) told = g_variant_lookup_value (node, "departed", G_VARIANT_TYPE_VARDICT);
  GVariantIter iter;
  const char *name;
  GVariant *value;

  if (told == NULL)
    return;
  g_variant_iter_init (&iter, told);
  while (g_variant_iter_loop (&iter, "{&sv}", &name, &value))
    {
      double *seen = g_hash_table_lookup (departed, name);
      if (!g_variant_is_of_type (value, G_VARIANT_TYPE_DOUBLE))
        continue;
      if (seen == NULL)
        {
          seen = g_new0 (double, 1);
          g_hash_table_insert (departed, g_strdup (name), seen);
        }
      *seen = MAX (*seen, g_variant_get_double (value));
    }
}

/* The work of the process that reported `node`: its own figure, or what others saw of it later.
 * Removes its names from `departed`. */
static double
work_of (GHashTable *departed, GVariant *node)
{
  g_autoptr (GVariant) names = g_variant_lookup_value (node, "names", G_VARIANT_TYPE ("av"));
  double work_s = number (node, "work_s");

  for (gsize i = 0; names != NULL && i < g_variant_n_children (names); i++)
    {
      g_autoptr (GVariant) box = g_variant_get_child_value (names, i);
      g_autoptr (GVariant) name = g_variant_get_variant (box);
      const double *seen = g_variant_is_of_type (name, G_VARIANT_TYPE_STRING)
                               ? g_hash_table_lookup (departed, g_variant_get_string (name, NULL))
                               : NULL;
      if (seen != NULL && !was_there_at_the_end (node))
        work_s = MAX (work_s, *seen);
      if (seen != NULL)
        g_hash_table_remove (departed, g_variant_get_string (name, NULL));
    }
  return work_s;
}

/* The work of members that left no report; only the masters saw it. */
static double
work_of_others (GHashTable *departed)
{
  GHashTableIter iter;
  gpointer seen;
  double work_s = 0;

  g_hash_table_iter_init (&iter, departed);
  while (g_hash_table_iter_next (&iter, NULL, &seen))
    work_s += *(double *)seen;
  return work_s;
}

static Balance
weigh (GPtrArray *nodes)
{
  g_autoptr (GHashTable) departed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  Balance balance = { 0 };

  FiguresTaken taken = figures_taken (nodes);
  balance.restored_s = taken.restored_s;
  balance.salvaged_s = taken.salvaged_s;
  for (guint i = 0; i < nodes->len; i++)
    note_departed (departed, nodes->pdata[i]);
  for (guint i = 0; i < nodes->len; i++)
    {
      balance.work_s += work_of (departed, nodes->pdata[i]);
      balance.restored_s += number (nodes->pdata[i], "restored_s");
      balance.answer_s = MAX (balance.answer_s, number (nodes->pdata[i], "answer_s"));
    }
  balance.work_s += work_of_others (departed);
  /* What a dead node had taken of an earlier life may be known to nobody, but its results have it.
   */
  double earlier_s = MAX (balance.salvaged_s - balance.work_s, 0);
  balance.salvaged_s -= earlier_s;
  balance.restored_s += earlier_s;
  return balance;
}

/* Work that was done and is not in the answer was done twice, or in vain. */
static double
redone_s (const Balance *balance)
{
  double done_s = balance->work_s + balance->restored_s;

  return balance->answer_s > 0 ? MAX (done_s - balance->answer_s, 0) : NAN;
}

static void
add_node (Sums *sums, GVariant *node)
{
  gboolean last = was_there_at_the_end (node);

  for (gsize i = 0; i < G_N_ELEMENTS (figures); i++)
    {
      double value;

      if (figures[i].how == SEEN || ((figures[i].how == LAST || figures[i].how == WORST) && !last)
          || !g_variant_lookup (node, figures[i].key, "d", &value))
        continue;
      if (isnan (sums->values[i]))
        sums->values[i] = value;
      else if (figures[i].how != LARGEST && figures[i].how != WORST)
        sums->values[i] += value;
      else
        sums->values[i] = MAX (sums->values[i], value);
    }
}

static void
put_seen (Sums *sums, const char *key, double value)
{
  for (gsize i = 0; i < G_N_ELEMENTS (figures); i++)
    if (strcmp (figures[i].key, key) == 0)
      sums->values[i] = value;
}

/* Adds to what nodes reported; if none did, it stays NAN. */
static void
add_seen (Sums *sums, const char *key, double value)
{
  for (gsize i = 0; i < G_N_ELEMENTS (figures); i++)
    if (strcmp (figures[i].key, key) == 0)
      sums->values[i] += value;
}

static double
get (const Sums *sums, const char *key)
{
  for (gsize i = 0; i < G_N_ELEMENTS (figures); i++)
    if (strcmp (figures[i].key, key) == 0)
      return isnan (sums->values[i]) ? 0 : sums->values[i];
  g_assert_not_reached ();
}

static gboolean
is_own (const FiguresSeen *seen, gint64 pid)
{
  for (guint i = 0; i < seen->own->len; i++)
    if (g_array_index (seen->own, gint64, i) == pid)
      return TRUE;
  return FALSE;
}

GVariant *
figures_read (const char *path, gint64 pid)
{
  g_autofree char *file = folder_node_file (pid, FOLDER_NODE_STATS);
  g_autoptr (GBytes) bytes = folder_bytes (path, file, NULL);
  g_autofree char *text
      = bytes == NULL ? NULL : g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));

  return fields_read (text);
}

static Sums
sum_up (const char *path, const FiguresSeen *seen)
{
  g_autoptr (GArray) pids = folder_pids (path, FOLDER_NODE_STATS);
  g_autoptr (GPtrArray) nodes = g_ptr_array_new_with_free_func ((GDestroyNotify)g_variant_unref);
  guint n_nodes = seen->own->len, n_crashed = seen->crashes;
  Sums sums;

  for (gsize i = 0; i < G_N_ELEMENTS (figures); i++)
    sums.values[i] = NAN;
  for (guint i = 0; i < pids->len; i++)
    {
      gint64 pid = g_array_index (pids, gint64, i);
      GVariant *node = figures_read (path, pid);

      if (node == NULL)
        continue;
      g_ptr_array_add (nodes, node);
      add_node (&sums, node);
      n_nodes += !is_own (seen, pid);
      n_crashed
          += !is_own (seen, pid) && !was_there_at_the_end (node) && !folder_pid_is_live (path, pid);
    }
  Balance balance = weigh (nodes);
  put_seen (&sums, "wall_s", seen->wall_s);
  put_seen (&sums, "nodes", n_nodes);
  put_seen (&sums, "crashes", n_crashed);
  if (balance.work_s > 0)
    put_seen (&sums, "work_s", balance.work_s);
  put_seen (&sums, "redone_s", redone_s (&balance));
  add_seen (&sums, "salvaged_s", balance.salvaged_s);
  return sums;
}

char *
figures_json (const char *path, const FiguresSeen *seen)
{
  Sums sums = sum_up (path, seen);
  g_autoptr (GString) text = g_string_new ("{");

  for (gsize i = 0; i < G_N_ELEMENTS (figures); i++)
    {
      g_string_append_printf (text, "%s\"%s\": ", i == 0 ? "" : ", ", figures[i].key);
      json_append_number (text, sums.values[i]);
    }
  g_string_append (text, "}\n");
  return g_strdup (text->str);
}

char *
figures_summary (const char *path, const FiguresSeen *seen)
{
  Sums sums = sum_up (path, seen);
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_append_printf (
      text, "%.1f s on %.0f node%s, %.0f jobs, %.0f steals (%.0f between nodes)", seen->wall_s,
      get (&sums, "nodes"), get (&sums, "nodes") == 1 ? "" : "s", get (&sums, "jobs"),
      get (&sums, "steals_local") + get (&sums, "steals_remote"), get (&sums, "steals_remote"));
  if (get (&sums, "jobs_reused") > 0)
    g_string_append_printf (text, ", %.0f results reused", get (&sums, "jobs_reused"));
  if (get (&sums, "unmatched") > 0)
    g_string_append_printf (text, ", %.0f saved results that fit no job", get (&sums, "unmatched"));
  if (get (&sums, "crashes") > 0)
    g_string_append_printf (text, ", %.0f crash%s", get (&sums, "crashes"),
                            get (&sums, "crashes") == 1 ? "" : "es");
  if (get (&sums, "lost_s") + get (&sums, "redone_s") + get (&sums, "salvaged_s") > 0)
    g_string_append_printf (text, "; work lost %.1f s, redone %.1f s, salvaged %.1f s",
                            get (&sums, "lost_s"), get (&sums, "redone_s"),
                            get (&sums, "salvaged_s"));
  return g_strdup (text->str);
}
