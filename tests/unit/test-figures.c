/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums of what nodes report. */
#include "folder-put.h"

#include "launch/figures.h"

#include "folder/folder.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static void
test_sums (void)
{
  g_autofree char *path = g_dir_make_tmp ("satin-figures-XXXXXX", NULL);
  gint64 own[] = { 7, 8, 9 };
  g_autoptr (GArray) pids = g_array_new (FALSE, FALSE, sizeof (gint64));
  FiguresSeen seen = { .wall_s = 1.5, .own = g_array_append_vals (pids, own, 3), .crashes = 1 };
  g_autofree char *json = NULL, *summary = NULL;

  put (path, "node-7.stats",
       "{\"jobs\": 10, \"workers\": 2, \"work_s\": 0.5, \"checkpoint_bytes\": 7, \"saves\": null,"
       " \"kept_bytes\": 9, \"sent_jobs_bytes\": 2}");
  put (path, "node-8.stats",
       "{\"jobs\": 1, \"workers\": 2, \"checkpoint_bytes\": 5, \"nodes\": 99,"
       " \"kept_bytes\": 4, \"sent_jobs_bytes\": 3}");
  put (path, "node-9.stats", "{\"jobs\": 1, cut off");
  json = figures_json (path, &seen);
  g_assert_cmpstr (json, ==,
                   "{\"wall_s\": 1.5, \"nodes\": 3, \"workers\": 4, \"jobs\": 11, \"jobs_reused\": "
                   "null, \"unmatched\": null,"
                   " \"steals_local\": null, \"steals_remote\": null, \"waits\": null,"
                   " \"waited_s\": null, \"copied_bytes\": null, \"kept_bytes\": 9,"
                   " \"sent_jobs_bytes\": 5, \"sent_results_bytes\": null,"
                   " \"sent_keepers_bytes\": null, \"sent_saves_bytes\": null,"
                   " \"sent_offers_bytes\": null, \"sent_shared_bytes\": null,"
                   " \"sent_other_bytes\": null, \"verified\": null, "
                   "\"shared_fetches\": null, "
                   "\"shared_bytes\": null, \"saves\": null, \"saved_rows\": null,"
                   " \"checkpoint_bytes\": 7, \"crashes\": 1, \"work_s\": 0.5, \"cpu_s\": null,"
                   " \"driver_s\": null, \"scribe_s\": null, \"scan_s\": null, \"lost_s\": null,"
                   " \"redone_s\": null, \"salvaged_s\": null, \"at_risk_s\": null,"
                   " \"at_risk_all_s\": null}\n");
  summary = figures_summary (path, &seen);
  g_assert_true (g_str_has_prefix (summary, "1.5 s on 3 nodes, 11 jobs"));
  g_assert_true (folder_remove (path, NULL));
}

/* How each figure of several nodes becomes one. The third node was not there at the end, but its
 * process lives, so it has not crashed. */
static void
test_each_figure (void)
{
  static const double values[] = { 5, 3, 7 };
  enum
  {
    ADDED = 15,
    LARGEST = 7,
    WORST = 5,
    LAST = 8
  };
  static const struct
  {
    const char *key;
    int result;
  } table[] = { { "workers", ADDED },
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
                { "cpu_s", ADDED },
                { "driver_s", ADDED },
                { "scribe_s", ADDED },
                { "scan_s", ADDED },
                { "lost_s", ADDED },
                { "salvaged_s", ADDED },
                { "at_risk_s", WORST },
                { "at_risk_all_s", LAST } };
  const gint64 numbers[] = { 1, 2, getpid () };
  g_autofree char *path = g_dir_make_tmp ("satin-figures-XXXXXX", NULL);
  g_autoptr (GArray) own = g_array_new (FALSE, FALSE, sizeof (gint64));

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      g_autoptr (GString) text = g_string_new ("{");
      g_autofree char *file = folder_node_file (numbers[i], FOLDER_NODE_STATS);
      for (guint k = 0; k < G_N_ELEMENTS (table); k++)
        g_string_append_printf (text, "\"%s\": %g, ", table[k].key, values[i]);
      g_string_append_printf (text, "\"work_s\": 1, \"answer_s\": 9, \"final\": %s}",
                              i < 2 ? "true" : "false");
      put (path, file, text->str);
    }
  g_autofree char *json = figures_json (path, &(FiguresSeen){ .own = own });
  for (guint k = 0; k < G_N_ELEMENTS (table); k++)
    {
      g_autofree char *wanted = g_strdup_printf ("\"%s\": %d", table[k].key, table[k].result);
      const char *at = strstr (json, wanted);
      if (at == NULL || g_ascii_isdigit (at[strlen (wanted)]))
        g_error ("no %s in %s", wanted, json);
    }
  g_assert_nonnull (strstr (json, "\"crashes\": 0,"));
  g_assert_nonnull (strstr (json, "\"redone_s\": 0,")); /* less work than the answer stands for */
  g_assert_true (folder_remove (path, NULL));
}

/* The work of a process is what it reported last, or what a master recorded when it left, whichever
 * is more. A process that was there at the end has reported everything itself. A process counts
 * once, whatever ids it had, and however many masters recorded its leaving. */
static void
test_balance (void)
{
  g_autofree char *path = g_dir_make_tmp ("satin-figures-XXXXXX", NULL);
  gint64 own[] = { G_MAXINT };
  g_autoptr (GArray) pids = g_array_new (FALSE, FALSE, sizeof (gint64));
  FiguresSeen seen = { .wall_s = 1.5, .own = g_array_append_vals (pids, own, 1), .crashes = 1 };
  g_autofree char *json = NULL, *dead = g_strdup_printf ("node-%d.stats", G_MAXINT - 1);

  /* A killed node of the launcher; a killed added node; the last master, which had another id
   * before. */
  put (path, "node-2147483647.stats",
       "{\"work_s\": 2, \"final\": false, \"names\": [\"1.1.00000001\"],"
       " \"departed\": {\"1.2.00000001\": 9}}");
  put (path, dead,
       "{\"work_s\": 3, \"final\": false, \"names\": [\"1.3.00000001\"],"
       " \"departed\": {\"1.1.00000001\": 2.5, \"1.2.00000001\": 1}}");
  put (path, "node-1.stats",
       "{\"work_s\": 8, \"final\": true, \"answer_s\": 10, \"restored_s\": 1,"
       " \"names\": [\"1.2.00000001\", \"3.1.00000001\"],"
       " \"departed\": {\"1.1.00000001\": 2.5, \"1.4.00000001\": 0.5}}");
  json = figures_json (path, &seen);
  g_assert_nonnull (strstr (json, "\"nodes\": 3,"));
  g_assert_nonnull (strstr (json, "\"crashes\": 2,"));
  g_assert_nonnull (strstr (json, "\"work_s\": 14,")); /* 2.5 + 3 + 8, and 0.5 of 1.4 */
  g_assert_nonnull (strstr (json, "\"redone_s\": 5,"));
  g_assert_true (folder_remove (path, NULL));
}

/* Two masters in turn used the results of "1.1.00000001", which is of this run, and of
 * "0.1.00000001", which is of an earlier one. Some results of the second master contain those of
 * the first. */
static void
test_taken (void)
{
  g_autofree char *path = g_dir_make_tmp ("satin-figures-XXXXXX", NULL);
  gint64 own[] = { G_MAXINT };
  g_autoptr (GArray) pids = g_array_new (FALSE, FALSE, sizeof (gint64));
  FiguresSeen seen = { .wall_s = 1.5, .own = g_array_append_vals (pids, own, 1), .crashes = 1 };
  g_autofree char *json = NULL;

  put (path, "node-2147483647.stats",
       "{\"work_s\": 20, \"final\": false, \"names\": [\"1.1.00000001\", \"1.2.00000001\"],"
       " \"taken\": [\"2000000 0 1.1.00000001 /0/1\", \"1000000 0 0.1.00000001 /0/2\","
       " \"500000 0 1.1.00000001 /10\", \"1000000 2 1.1.00000001 /1\"]}");
  put (path, "node-2147483646.stats",
       "{\"work_s\": 10, \"final\": true, \"answer_s\": 25, \"salvaged_s\": 0, \"names\": "
       "[\"1.3.00000001\"],"
       " \"taken\": [\"7000000 0\", \"7000000 0 1.1.00000001\", \"\","
       " \"4000000 0 1.1.00000001 /0\", \"250000 0 1.1.00000001 /1/1\","
       " \"1000000 0 0.1.00000001 /0/2\", \"250000 0 1.1.00000001 /1/2\"]}");
  json = figures_json (path, &seen);
  /* 1 s of an earlier run; /0 without that, /1 with child 1, /1/2, /10 */
  g_assert_nonnull (strstr (json, "\"redone_s\": 6, \"salvaged_s\": 4.75"));
  g_assert_true (folder_remove (path, NULL));
}

/* (transfer full): the figures of two nodes that report so; the answer stands for 25 s. */
static char *
figures_of (const char *one, const char *other)
{
  g_autofree char *path = g_dir_make_tmp ("satin-figures-XXXXXX", NULL);
  gint64 own[] = { G_MAXINT };
  g_autoptr (GArray) pids = g_array_new (FALSE, FALSE, sizeof (gint64));
  FiguresSeen seen = { .wall_s = 1.5, .own = g_array_append_vals (pids, own, 1), .crashes = 1 };
  g_autofree char *first
      = g_strdup_printf ("{\"final\": true, \"answer_s\": 25, \"salvaged_s\": 0, %s}", one);
  g_autofree char *second = g_strdup_printf ("{\"final\": true, %s}", other);

  put (path, "node-2147483647.stats", first);
  put (path, "node-2147483646.stats", second);
  char *json = figures_json (path, &seen);
  g_assert_true (folder_remove (path, NULL));
  return json;
}

/* Of a dead node the nodes report what they saw last: the most counts, whoever says it first. Work
 * within the work of an earlier life takes no more from it than there is; of two entries of one job
 * the one that holds more counts. What was put to use of this life was done in it: the rest of a
 * dead node's results is of an earlier life. */
static void
test_edges (void)
{
  static const struct
  {
    const char *one, *other, *wanted;
  } cases[]
      = { { "\"work_s\": 1, \"departed\": {\"1.9.00000001\": 5}",
            "\"work_s\": 1, \"departed\": {\"1.9.00000001\": 2}", "\"work_s\": 7," },
          { "\"work_s\": 1, \"departed\": {\"1.9.00000001\": 2}",
            "\"work_s\": 1, \"departed\": {\"1.9.00000001\": 5}", "\"work_s\": 7," },
          { "\"work_s\": 30, \"names\": [\"1.1.00000001\"], \"taken\": [\"1000000 0 1.1.00000001 "
            "/0\", \"5000000 0 0.1.00000001 /0/1\"]",
            "\"work_s\": 0, \"taken\": [\"3000000 0 1.1.00000001 /1\"]", "\"salvaged_s\": 3" },
          { "\"work_s\": 30, \"names\": [\"1.1.00000001\"], \"taken\": [\"1000000 0 1.1.00000001 "
            "/0\", \"5000000 0 0.1.00000001 /0/1\"]",
            "\"work_s\": 0", "\"salvaged_s\": 0" },
          { "\"work_s\": 30, \"names\": [\"1.1.00000001\"], \"taken\": [\"1000000 2 1.1.00000001 "
            "/0\", \"4000000 5 1.1.00000001 /0\"]",
            "\"work_s\": 0", "\"salvaged_s\": 4" },
          { "\"work_s\": 30, \"names\": [\"1.1.00000001\"], \"taken\": [\"1000000 2 1.1.00000001 "
            "/0\", \"6000000 0 1.1.00000001 /0\"]",
            "\"work_s\": 0", "\"salvaged_s\": 6" },
          { "\"work_s\": 3, \"names\": [\"1.1.00000001\"], \"taken\": [\"30000000 0 1.1.00000001 "
            "/0\"]",
            "\"work_s\": 1", "\"redone_s\": 5, \"salvaged_s\": 4" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *json = figures_of (cases[i].one, cases[i].other);
      if (strstr (json, cases[i].wanted) == NULL)
        g_error ("case %u lacks '%s': %s", i, cases[i].wanted, json);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/figures/what-nodes-report-is-added-up-and-the-rest-is-null", test_sums);
  g_test_add_func ("/figures/work-of-each-process-counts-once", test_balance);
  g_test_add_func ("/figures/edges", test_edges);
  g_test_add_func ("/figures/each-result-put-to-use-counts-once", test_taken);
  g_test_add_func ("/figures/each-figure", test_each_figure);
  return g_test_run ();
}
