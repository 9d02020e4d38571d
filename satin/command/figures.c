/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up the node-PID.stats files of a run. One thread. */
#include "figures.h"
#include "json.h"

#include "net/folder.h"

#include <math.h>
#include <string.h>

typedef enum
{
  ADDED,   /* each node counts its own */
  LARGEST, /* each node says the same thing, more or less late */
  LAST,    /* each node counts its own, and only those count that were there at the end */
  SEEN     /* the launcher knows */
} How;

typedef struct
{
  const char *key;
  How how;
} Figure;

/* In the order in which the manual lists them. */
static const Figure figures[] = {
  { "wall_s", SEEN },         { "nodes", SEEN },           { "workers", ADDED },
  { "jobs", ADDED },          { "jobs_reused", ADDED },    { "steals_local", ADDED },
  { "steals_remote", ADDED }, { "shared_fetches", ADDED }, { "shared_bytes", ADDED },
  { "saves", ADDED },         { "saved_rows", ADDED },     { "checkpoint_bytes", LARGEST },
  { "crashes", SEEN },        { "work_s", ADDED },         { "cpu_s", ADDED },
  { "driver_s", ADDED },      { "scribe_s", ADDED },       { "scan_s", ADDED },
  { "lost_s", ADDED },        { "redone_s", SEEN },        { "salvaged_s", ADDED },
  { "at_risk_s", LAST },
};

/* What goes into redone_s besides. */
typedef struct
{
  double last_s;     /* work of the nodes that were there at the end … */
  double gone_s;     /* … of the others, as they told last … */
  double departed_s; /* … and as the masters saw them leave */
  double restored_s; /* work of an earlier life of the run that was put to use */
  double answer_s;   /* work that the answer stands for; 0: there is none */
} Balance;

/* NaN stands for what nobody reported. */
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

static void
weigh_node (Balance *balance, GVariant *node)
{
  *(was_there_at_the_end (node) ? &balance->last_s : &balance->gone_s) += number (node, "work_s");
  balance->departed_s += number (node, "departed_s");
  balance->restored_s += number (node, "restored_s");
  balance->answer_s = MAX (balance->answer_s, number (node, "answer_s"));
}

/* Whatever was done and does not stand in the answer was done again, or in vain. */
static double
redone_s (const Balance *balance)
{
  double done_s
      = balance->last_s + MAX (balance->gone_s, balance->departed_s) + balance->restored_s;

  return balance->answer_s > 0 ? MAX (done_s - balance->answer_s, 0) : NAN;
}

static void
add_node (Sums *sums, GVariant *node)
{
  gboolean last = was_there_at_the_end (node);

  for (gsize i = 0; i < G_N_ELEMENTS (figures); i++)
    {
      double value;

      if (figures[i].how == SEEN || (figures[i].how == LAST && !last)
          || !g_variant_lookup (node, figures[i].key, "d", &value))
        continue;
      if (isnan (sums->values[i]))
        sums->values[i] = value;
      else if (figures[i].how != LARGEST)
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

static double
get (const Sums *sums, const char *key)
{
  for (gsize i = 0; i < G_N_ELEMENTS (figures); i++)
    if (strcmp (figures[i].key, key) == 0)
      return isnan (sums->values[i]) ? 0 : sums->values[i];
  g_assert_not_reached ();
}

static Sums
sum_up (const char *path, const FiguresSeen *seen)
{
  g_autoptr (GArray) pids = folder_pids (path, "stats");
  Balance balance = { 0 };
  Sums sums;

  for (gsize i = 0; i < G_N_ELEMENTS (figures); i++)
    sums.values[i] = NAN;
  for (guint i = 0; i < pids->len; i++)
    {
      g_autofree char *file = folder_node_file (g_array_index (pids, gint64, i), "stats");
      g_autoptr (GBytes) bytes = folder_bytes (path, file, NULL);
      g_autofree char *text
          = bytes == NULL ? NULL
                          : g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
      g_autoptr (GVariant) node = text == NULL ? NULL : json_read (text);

      if (node != NULL && g_variant_is_of_type (node, G_VARIANT_TYPE_VARDICT))
        {
          add_node (&sums, node);
          weigh_node (&balance, node);
        }
    }
  put_seen (&sums, "wall_s", seen->wall_s);
  put_seen (&sums, "nodes", seen->nodes);
  put_seen (&sums, "crashes", seen->crashes);
  put_seen (&sums, "redone_s", redone_s (&balance));
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
      text, "%.1f s on %u node%s, %.0f jobs, %.0f steals (%.0f between nodes)", seen->wall_s,
      seen->nodes, seen->nodes == 1 ? "" : "s", get (&sums, "jobs"),
      get (&sums, "steals_local") + get (&sums, "steals_remote"), get (&sums, "steals_remote"));
  if (get (&sums, "jobs_reused") > 0)
    g_string_append_printf (text, ", %.0f results reused", get (&sums, "jobs_reused"));
  if (seen->crashes > 0)
    g_string_append_printf (text, ", %u crash%s", seen->crashes, seen->crashes == 1 ? "" : "es");
  if (get (&sums, "lost_s") + get (&sums, "redone_s") + get (&sums, "salvaged_s") > 0)
    g_string_append_printf (text, "; work lost %.1f s, redone %.1f s, salvaged %.1f s",
                            get (&sums, "lost_s"), get (&sums, "redone_s"),
                            get (&sums, "salvaged_s"));
  return g_strdup (text->str);
}
