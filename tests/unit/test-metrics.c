/* SPDX-License-Identifier: BSD-3-Clause */
/* The text for monitoring, checked against the grammar of OpenMetrics 1.0. */
#include "command/metrics.h"
#include "text/fields.h"

#include <string.h>

#define LABELS "\\{(?:[a-z_]+=\"(?:[^\"\\\\\\n]|\\\\[\\\\n\"])*\",?)*\\}"

static void
node_clear (gpointer data)
{
  g_free (((GatherNode *)data)->reply);
}

static Gather
begin (const char *status)
{
  Gather gather = { .status = fields_read (status),
                    .nodes = g_array_new (FALSE, FALSE, sizeof (GatherNode)) };

  g_assert_nonnull (gather.status);
  g_array_set_clear_func (gather.nodes, node_clear);
  return gather;
}

static void
add (Gather *gather, const char *id, const char *site, const char *reply)
{
  GatherNode node = { .id = (char *)id,
                      .site = (char *)site,
                      .state = (char *)"up",
                      .workers = 3,
                      .silent = reply == NULL,
                      .reply = g_strdup (reply) };

  g_array_append_val (gather->nodes, node);
}

/* A sample has each label once. */
static void
check_labels (const char *line)
{
  g_autoptr (GRegex) label
      = g_regex_new ("[{,]([a-z_]+)=\"(?:[^\"\\\\\\n]|\\\\[\\\\n\"])*\"", 0, 0, NULL);
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GMatchInfo) match = NULL;

  g_regex_match (label, line, 0, &match);
  for (; g_match_info_matches (match); g_match_info_next (match, NULL))
    {
      char *name = g_match_info_fetch (match, 1);

      g_assert_false (g_str_has_prefix (name, "__"));
      g_assert_true (g_hash_table_add (names, name));
    }
}

/* Each family is described once, before its samples, which are adjacent. No sample comes twice.
 * Counters end in _total and are not negative. Units end names. The end mark comes once. */
static void
check_grammar (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GHashTable) families = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) samples = g_hash_table_new (g_str_hash, g_str_equal);
  g_autofree char *family = g_strdup (""), *type = g_strdup ("");
  gboolean has_samples = FALSE, has_unit = FALSE, has_help = FALSE;
  guint n = g_strv_length (lines);

  g_assert_true (g_utf8_validate (text, -1, NULL));
  g_assert_cmpuint (n, >=, 2);
  g_assert_cmpstr (lines[n - 1], ==, "");
  g_assert_cmpstr (lines[n - 2], ==, "# EOF");
  for (guint i = 0; i < n - 2; i++)
    {
      g_auto (GStrv) words = g_strsplit (lines[i], " ", 4);
      gboolean is_counter = strcmp (type, "counter") == 0;
      g_autofree char *wanted = g_strconcat (family, is_counter ? "_total" : "", NULL);
      g_autofree char *sample
          = g_strconcat ("^", wanted, LABELS, " -?[0-9]+(?:\\.[0-9]+)?(?:e[-+]?[0-9]+)?$", NULL);

      if (strcmp (words[0], "#") != 0)
        {
          char *value = strrchr (lines[i], ' ');

          if (!g_regex_match_simple (sample, lines[i], 0, 0))
            g_error ("no sample of '%s': '%s'", wanted, lines[i]);
          *value = '\0';
          check_labels (lines[i]);
          g_assert_true (g_hash_table_add (samples, lines[i]));
          g_assert_true (!is_counter || value[1] != '-');
          has_samples = TRUE;
          continue;
        }
      g_assert_cmpuint (g_strv_length (words), ==, 4);
      if (strcmp (words[1], "TYPE") == 0)
        {
          g_assert_true (g_regex_match_simple ("^[a-z_]+$", words[2], 0, 0));
          g_assert_true (g_hash_table_add (families, g_strdup (words[2])));
          g_assert_true (strcmp (words[3], "gauge") == 0 || strcmp (words[3], "counter") == 0);
          g_assert_false (g_str_has_suffix (words[2], "_total"));
          g_free (family);
          family = g_strdup (words[2]);
          g_free (type);
          type = g_strdup (words[3]);
          has_samples = has_unit = has_help = FALSE;
          continue;
        }
      g_assert_cmpstr (words[2], ==, family);
      g_assert_false (has_samples);
      if (strcmp (words[1], "UNIT") == 0)
        {
          g_autofree char *end = g_strconcat ("_", words[3], NULL);

          g_assert_false (has_unit);
          g_assert_true (g_str_has_suffix (family, end));
          has_unit = TRUE;
          continue;
        }
      g_assert_cmpstr (words[1], ==, "HELP");
      g_assert_false (has_help);
      g_assert_true (g_regex_match_simple ("^(?:[^\\\\\"]|\\\\[\\\\n\"])+$", words[3], 0, 0));
      has_help = TRUE;
    }
}

static void
assert_has (const char *text, const char *line)
{
  if (strstr (text, line) == NULL)
    g_error ("'%s' is missing in:\n%s", line, text);
}

static void
figures_are_told (void)
{
  Gather gather
      = begin ("{\"name\":\"fib-1\",\"term\":2,\"done\":0.25,\"left_s\":9.5,\"at_risk_s\":1.5,"
               "\"at_risk_all_s\":7,\"checkpoint\":\"/secret/place.db\"}");
  g_autofree char *text = NULL, *plain = NULL;

  add (&gather, "1.1", "a\"b\\c\nd", "{\"busy\":2,\"cpu_s\":12.5,\"lost_s\":3,\"executed\":1e15}");
  add (&gather, "1.2", "é\xff", NULL);
  text = metrics_text (&gather, METRICS_OPEN);
  check_grammar (text);
  assert_has (text, "\nsatin_done_ratio{run=\"fib-1\"} 0.25\n");
  assert_has (text, "\nsatin_left_seconds{run=\"fib-1\"} 9.5\n");
  g_assert_null (strstr (text, "\nsatin_left_low_seconds{"));
  assert_has (text, "\nsatin_at_risk_seconds{run=\"fib-1\"} 1.5\n");
  assert_has (text, "\nsatin_at_risk_all_seconds{run=\"fib-1\"} 7\n");
  assert_has (text, "\nsatin_nodes{run=\"fib-1\",state=\"up\"} 1\n");
  assert_has (text, "\nsatin_nodes{run=\"fib-1\",state=\"silent\"} 1\n");
  assert_has (text, "\nsatin_workers{run=\"fib-1\"} 6\n");
  assert_has (text,
              "\nsatin_lost_seconds_total{run=\"fib-1\",node=\"1.1\",site=\"a\\\"b\\\\c\\nd\"} "
              "3\n");
  assert_has (text, "\nsatin_cpu_seconds_total{run=\"fib-1\",node=\"1.1\",site=");
  g_assert_null (strstr (text, "node=\"1.2\""));
  g_assert_null (strstr (text, "secret"));
  plain = metrics_text (&gather, METRICS_PROMETHEUS);
  assert_has (plain, "\n# TYPE satin_cpu_seconds_total counter\n"
                     "# HELP satin_cpu_seconds_total CPU time");
  assert_has (plain, "\nsatin_cpu_seconds_total{run=\"fib-1\",node=\"1.1\",site=");
  assert_has (plain, "\nsatin_workers{run=\"fib-1\"} 6\n");
  g_assert_null (strstr (plain, "# UNIT"));
  g_assert_null (strstr (plain, "# EOF"));
  g_assert_cmpint (plain[strlen (plain) - 1], ==, '\n');
  g_variant_unref (gather.status);
  g_array_unref (gather.nodes);
}

static void
what_is_not_known_is_left_out (void)
{
  Gather gather = begin ("{\"name\":\"x\",\"done\":null}");
  g_autofree char *text = metrics_text (&gather, METRICS_OPEN);

  check_grammar (text);
  g_assert_null (strstr (text, "\nsatin_done_ratio{"));
  assert_has (text, "\nsatin_nodes{run=\"x\",state=\"up\"} 0\n");
  g_variant_unref (gather.status);
  g_array_unref (gather.nodes);
}

/* Each figure is that of its name: no two of them are equal here. */
static void
each_figure_has_its_own_name (void)
{
  Gather gather = begin ("{\"name\":\"r\",\"term\":2,\"done\":0.25,\"left_s\":11,\"left_low_s\":12,"
                         "\"left_high_s\":13,\"at_risk_s\":14,\"at_risk_all_s\":15}");
  static const char *const lines[] = {
    "satin_done_ratio{run=\"r\"} 0.25",
    "satin_left_seconds{run=\"r\"} 11",
    "satin_left_low_seconds{run=\"r\"} 12",
    "satin_left_high_seconds{run=\"r\"} 13",
    "satin_at_risk_seconds{run=\"r\"} 14",
    "satin_at_risk_all_seconds{run=\"r\"} 15",
    "satin_term{run=\"r\"} 2",
    "satin_workers{run=\"r\"} 3",
    "satin_busy_workers{run=\"r\",node=\"1.1\",site=\"s\"} 1",
    "satin_cpu_seconds_total{run=\"r\",node=\"1.1\",site=\"s\"} 21",
    "satin_work_seconds_total{run=\"r\",node=\"1.1\",site=\"s\"} 22",
    "satin_jobs_total{run=\"r\",node=\"1.1\",site=\"s\"} 23",
    "satin_local_steals_total{run=\"r\",node=\"1.1\",site=\"s\"} 24",
    "satin_remote_steals_total{run=\"r\",node=\"1.1\",site=\"s\"} 25",
    "satin_saved_rows_total{run=\"r\",node=\"1.1\",site=\"s\"} 26",
    "satin_lost_seconds_total{run=\"r\",node=\"1.1\",site=\"s\"} 27",
    "satin_salvaged_seconds_total{run=\"r\",node=\"1.1\",site=\"s\"} 28",
  };

  add (&gather, "1.1", "s",
       "{\"busy\":1,\"cpu_s\":21,\"work_s\":22,\"executed\":23,\"steals_local\":24,"
       "\"steals_remote\":25,\"saved_rows\":26,\"lost_s\":27,\"salvaged_s\":28,\"saves\":99}");
  g_autofree char *text = metrics_text (&gather, METRICS_OPEN);
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_autofree char *line = g_strdup_printf ("\n%s\n", lines[i]);
      assert_has (text, line);
    }
  g_variant_unref (gather.status);
  g_array_unref (gather.nodes);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/metrics/figures", figures_are_told);
  g_test_add_func ("/metrics/not-known", what_is_not_known_is_left_out);
  g_test_add_func ("/metrics/each-figure", each_figure_has_its_own_name);
  return g_test_run ();
}
