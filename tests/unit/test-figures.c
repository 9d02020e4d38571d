/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums of what nodes reported. */
#include "command/figures.h"

#include "net/folder.h"

#include <glib/gstdio.h>
#include <string.h>

static void
put (const char *path, const char *file, const char *text)
{
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));

  g_assert_true (folder_write (path, file, bytes, NULL));
}

static void
test_sums (void)
{
  g_autofree char *path = g_dir_make_tmp ("satin-figures-XXXXXX", NULL);
  FiguresSeen seen = { .wall_s = 1.5, .nodes = 3, .crashes = 1 };
  g_autofree char *json = NULL, *summary = NULL;

  put (path, "node-7.stats",
       "{\"jobs\": 10, \"workers\": 2, \"work_s\": 0.5, \"checkpoint_bytes\": 7, \"saves\": null}");
  put (path, "node-8.stats",
       "{\"jobs\": 1, \"workers\": 2, \"checkpoint_bytes\": 5, \"nodes\": 99}");
  put (path, "node-9.stats", "{\"jobs\": 1, cut off");
  json = figures_json (path, &seen);
  g_assert_cmpstr (
      json, ==,
      "{\"wall_s\": 1.5, \"nodes\": 3, \"workers\": 4, \"jobs\": 11, \"jobs_reused\": null,"
      " \"steals_local\": null, \"steals_remote\": null, \"shared_fetches\": null, "
      "\"shared_bytes\": null, \"saves\": null, \"saved_rows\": null,"
      " \"checkpoint_bytes\": 7, \"crashes\": 1, \"work_s\": 0.5, \"cpu_s\": null,"
      " \"driver_s\": null, \"scribe_s\": null, \"scan_s\": null, \"lost_s\": null,"
      " \"redone_s\": null, \"salvaged_s\": null, \"at_risk_s\": null}\n");
  summary = figures_summary (path, &seen);
  g_assert_true (g_str_has_prefix (summary, "1.5 s on 3 nodes, 11 jobs"));
  g_assert_true (folder_remove (path, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/figures/what-nodes-report-is-added-up-and-the-rest-is-null", test_sums);
  return g_test_run ();
}
