/* SPDX-License-Identifier: BSD-3-Clause */
/* The views of a checkpoint as the plain sqlite3 program shows them, compared with counts made in
 * C. */
#include "store.h"

#include "path.h"
#include "processor.h"

#include <unistd.h>

/* A view takes much less time than this on a usual processor; the limit is generous for a
 * sanitizer. */
#define ROWS_MANY 100000
#define VIEW_LIMIT_S 20

static const char *const node_ids[] = { "1.1.00000001", "1.2.00000002", "2.7.0000abcd" };

/* A plain SQLite connection without Satin's functions. */
static sqlite3 *
bare (Fixture *f)
{
  Published published;
  sqlite3 *db = NULL;
  g_assert_true (publish_copy (f->sql, f->target, "run-1", NULL, &published, NULL));
  (void)close (published.fd);
  g_assert_cmpint (sqlite3_open_v2 (f->target, &db, SQLITE_OPEN_READONLY, NULL), ==, SQLITE_OK);
  return db;
}

static void
each_line (sqlite3 *db, const char *query, void (*each) (char *line, gpointer data), gpointer data)
{
  sqlite3_stmt *statement = NULL;
  int code;
  if (sqlite3_prepare_v2 (db, query, -1, &statement, NULL) != SQLITE_OK)
    g_error ("%s: %s", query, sqlite3_errmsg (db));
  while ((code = sqlite3_step (statement)) == SQLITE_ROW)
    {
      g_autoptr (GString) line = g_string_new (NULL);
      for (int i = 0; i < sqlite3_column_count (statement); i++)
        g_string_append_printf (line, "%s%s", i > 0 ? "|" : "",
                                sqlite3_column_type (statement, i) == SQLITE_NULL
                                    ? ""
                                    : (const char *)sqlite3_column_text (statement, i));
      each (line->str, data);
    }
  g_assert_cmpint (code, ==, SQLITE_DONE);
  sqlite3_finalize (statement);
}

static void
append_line (char *line, gpointer data)
{
  g_string_append_printf (data, "%s\n", line);
}

static void
assert_lines (sqlite3 *db, const char *query, const char *wanted)
{
  g_autoptr (GString) text = g_string_new (NULL);
  each_line (db, query, append_line, text);
  g_assert_cmpstr (text->str, ==, wanted);
}

static void
put_row (Fixture *f, const char *path, const char *node, double work_s, double weight)
{
  g_autoptr (GBytes) value = g_bytes_new_static ("\x07\0\0\0\0\0\0\0", 8);
  Result row = { .path = path,
                 .node = node,
                 .job = "queens",
                 .type = "x",
                 .digest = (const guint8 *)IDENTITY,
                 .digest_size = 16,
                 .value = value,
                 .work_s = work_s,
                 .saved = 86400,
                 .weight = weight };
  put_typed (f, row, NULL);
}

static void
put_state (Fixture *f, const char *path, guint32 children)
{
  gboolean written;
  g_autoptr (GBytes) value = g_bytes_new_static ("\x07", 1);
  Keep keep = { .path = path,
                .children = children,
                .digest = (const guint8 *)IDENTITY,
                .digest_size = 16,
                .type = "y",
                .value = value };
  g_assert_true (results_put_keep (f->results, &keep, 0, &written, NULL));
}

static void
put_nodes (Fixture *f)
{
  for (gsize i = 0; i < G_N_ELEMENTS (node_ids); i++)
    {
      TablesNode node
          = { .id = node_ids[i], .name = "host", .site = "here", .joined = 3600 + (gint64)i };
      g_assert_true (tables_put_node (f->sql, &node, NULL));
    }
  g_assert_true (tables_end_node (f->sql, node_ids[1], 7200, "crashed", NULL));
}

static void
test_progress_largest_and_who_count_right (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_assert_true (results_begin (f->results, NULL));
  put_nodes (f);
  g_assert_true (tables_set (f->sql, "name", "a name", NULL));
  put_row (f, "/0", node_ids[0], 1.5, 0.25);
  put_row (f, "/1/2", node_ids[2], 2.0, 0.125);
  put_row (f, "/1/10", node_ids[0], 0.25, 0.125);
  g_assert_true (results_commit (f->results, NULL));
  sqlite3 *db = bare (f);

  assert_lines (db, "SELECT * FROM progress",
                "a name|0.5|not finished|3|3.75|2|1970-01-02 00:00:00\n");
  assert_lines (db, "SELECT path, job, node, share, work_s, saved_utc FROM largest",
                "/0|queens|1.1.00000001|0.25|1.5|1970-01-02 00:00:00\n"
                "/1/2|queens|2.7.0000abcd|0.125|2.0|1970-01-02 00:00:00\n"
                "/1/10|queens|1.1.00000001|0.125|0.25|1970-01-02 00:00:00\n");
  assert_lines (db, "SELECT * FROM who",
                "2.7.0000abcd|host|here|1|2.0|0.125|1970-01-01 01:00:02||\n"
                "1.1.00000001|host|here|2|1.75|0.375|1970-01-01 01:00:00||\n"
                "1.2.00000002|host|here|0|0.0|0.0|1970-01-01 01:00:01|1970-01-01 02:00:00|"
                "crashed\n");
  sqlite3_close (db);
}

/* Numbers sort as numbers, and a path with a stem sorts where the stem's path belongs. */
static void
test_places_sort_by_number (Fixture *f, gconstpointer unused)
{
  (void)unused;
  results_meet_stem (f->results, "0123456789abcdef", "/3/10");
  results_meet_stem (f->results, "fedcba9876543210", "~0123456789abcdef/2");
  g_assert_true (results_begin (f->results, NULL));
  put_row (f, "/10", "", 1.0, 0);
  put_row (f, "/2", "", 1.0, 0);
  put_row (f, "/3/9", "", 1.0, 0);
  put_row (f, "/4", "", 1.0, 0);
  put_row (f, "~0123456789abcdef/10", "", 1.0, 0);
  put_row (f, "~fedcba9876543210/100", "", 1.0, 0);
  put_row (f, "1:/0", "", 1.0, 0);
  put_row (f, "10:", "", 1.0, 0);
  put_state (f, "/0", 3);
  g_assert_true (results_commit (f->results, NULL));
  sqlite3 *db = bare (f);

  assert_lines (db, "SELECT path, root, depth FROM place ORDER BY sort",
                "/0|0|1\n/2|0|1\n/3/9|0|2\n~fedcba9876543210/100|0|4\n"
                "~0123456789abcdef/10|0|3\n/4|0|1\n/10|0|1\n1:/0|1|1\n10:|10|0\n");
  sqlite3_close (db);
}

static void
test_histories_are_numbers (Fixture *f, gconstpointer unused)
{
  static const TablesEvent events[]
      = { { .at = 1, .kind = "published", .detail = "generation 12, 43.7512 % done before" },
          { .at = 2, .kind = "best", .detail = "tour: length 21282" },
          { .at = 3, .kind = "best", .detail = "gain: 2.5 and more" },
          { .at = 4, .kind = "best", .detail = "word: none: yet" },
          { .at = 5, .kind = "requeued", .node = "1.2.00000002", .path = "/0", .work_s = 1.5 } };
  (void)unused;
  g_assert_true (results_begin (f->results, NULL));
  put_nodes (f);
  for (gsize i = 0; i < G_N_ELEMENTS (events); i++)
    g_assert_true (tables_put_event (f->sql, &events[i], 100, NULL));
  g_assert_true (results_commit (f->results, NULL));
  sqlite3 *db = bare (f);

  assert_lines (db, "SELECT * FROM history", "1|1970-01-01 00:00:01|12|0.437512\n");
  assert_lines (db, "SELECT at, name, shown, number FROM best_history",
                "2|tour|length 21282|21282\n3|gain|2.5 and more|2.5\n4|word|none: yet|\n");
  assert_lines (db, "SELECT at, kind, node, host, path, work_s FROM ledger WHERE node NOT NULL",
                "5|requeued|1.2.00000002|host|/0|1.5\n");
  assert_lines (db, "SELECT count(*) FROM event JOIN node ON node.n = event.node", "1\n");
  sqlite3_close (db);
}

static void
test_a_finished_run_lacks_nothing (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_assert_true (results_begin (f->results, NULL));
  put_row (f, "/3", "", 1.0, 0.25);
  put_row (f, "", "", 1.5, 1.0);
  g_assert_true (tables_set_first (f->sql, "answer", "7\n", 2, NULL));
  g_assert_true (results_commit (f->results, NULL));
  sqlite3 *db = bare (f);

  assert_lines (db, "SELECT done, state, results, work_s FROM progress", "1.0|finished|1|1.5\n");
  assert_lines (db, "SELECT path FROM largest", "/\n");
  assert_lines (db, "SELECT * FROM missing", "");
  sqlite3_close (db);
}

/* A tree of jobs at some moment of a run, and the saved part of it. */
typedef struct
{
  Fixture *f;
  Stems *stems;
  GRand *rand;
  GArray *numbers;     /* the present path */
  GHashTable *missing; /* the paths that the view must show, as text */
  guint deep;          /* greatest depth */
} Growth;

static char *
path_here (Growth *growth)
{
  return path_from_numbers (growth->stems, (const guint32 *)(void *)growth->numbers->data,
                            growth->numbers->len);
}

static void
meet_stem (const char *id, const char *stem, void *data)
{
  results_meet_stem (data, id, stem);
}

/* Makes an unfinished job: its children with numbers below `kept` are in its kept state; of the
 * others some are saved, some unfinished, some missing. The last child always has a row, so that
 * the ones before it are known to exist. */
static void
grow (Growth *growth)
{
  g_autofree char *path = path_here (growth);
  guint depth = growth->numbers->len;
  gboolean chain = depth < growth->deep && g_rand_int_range (growth->rand, 0, 10) > 0;
  guint n = (guint)g_rand_int_range (growth->rand, 1, 13);
  guint kept = g_rand_int_range (growth->rand, 0, 4) == 0
                   ? (guint)g_rand_int_range (growth->rand, 1, (gint)n + 1)
                   : 0;
  guint on = (guint)g_rand_int_range (growth->rand, 0, (gint)n);
  g_assert_true (path_each_stem (growth->stems, path, NULL, meet_stem, growth->f->results));
  if (kept > 0)
    put_state (growth->f, path, kept);
  for (guint32 i = kept; i < n; i++)
    {
      g_array_append_val (growth->numbers, i);
      g_autofree char *child = path_here (growth);
      g_assert_true (path_each_stem (growth->stems, child, NULL, meet_stem, growth->f->results));
      if (chain && i == on)
        grow (growth);
      else if (i == n - 1 || g_rand_boolean (growth->rand))
        put_row (growth->f, child, node_ids[i % 3], 1, 0.01);
      else
        g_hash_table_add (growth->missing, g_strdup (child));
      g_array_set_size (growth->numbers, depth);
    }
}

static void
take_missing (char *line, gpointer data)
{
  if (!g_hash_table_remove (data, line))
    g_error ("the view shows %s, which is not missing, or twice", line);
}

/* Small trees, and chains through two stems. */
static void
test_missing_is_what_is_missing (Fixture *f, gconstpointer unused)
{
  (void)unused;
  for (guint32 seed = 0; seed < 60; seed++)
    {
      g_autoptr (Stems) stems = stems_new ();
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_autoptr (GHashTable) missing
          = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
      Growth growth = { f, stems, rand, numbers, missing, seed % 2 == 0 ? 3 : 140 };
      Fixture fresh;
      set_up (&fresh, NULL);
      growth.f = &fresh;
      g_assert_true (results_begin (fresh.results, NULL));
      grow (&growth);
      g_assert_true (results_commit (fresh.results, NULL));
      sqlite3 *db = bare (&fresh);

      each_line (db, "SELECT path FROM missing", take_missing, missing);

      g_assert_cmpuint (g_hash_table_size (missing), ==, 0);
      sqlite3_close (db);
      tear_down (&fresh, NULL);
    }
}

/* A row whose stem is lost hides nothing else. */
static void
test_a_lost_stem_hides_nothing_else (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_assert_true (results_begin (f->results, NULL));
  put_row (f, "/2", "", 1, 0.1);
  put_row (f, "~0123456789abcdef/1", "", 1, 0.1);
  g_assert_true (results_commit (f->results, NULL));
  sqlite3 *db = bare (f);

  assert_lines (db, "SELECT path FROM missing WHERE path LIKE '/%' ORDER BY path", "/0\n/1\n");
  sqlite3_close (db);
}

static void
ignore_line (char *line, gpointer data)
{
  (void)line;
  (*(guint *)data)++;
}

static void
test_a_hundred_thousand_rows_are_no_wait (Fixture *f, gconstpointer unused)
{
  static const struct
  {
    const char *query;
    guint lines;
  } views[] = { { "SELECT * FROM progress", 1 },
                { "SELECT * FROM largest", ROWS_MANY },
                { "SELECT * FROM who", 3 },
                { "SELECT * FROM missing", 1000 } };
  (void)unused;
  g_assert_true (results_begin (f->results, NULL));
  put_nodes (f);
  for (guint i = 0; i < ROWS_MANY; i++)
    {
      /* One of the hundred and one children of each of a thousand jobs is missing. */
      g_autofree char *path
          = g_strdup_printf ("/%u/%u/%u", i / 10000, i / 100 % 100, i % 100 + (i % 100 > 40));
      put_row (f, path, node_ids[i % 3], i, 1e-5);
    }
  g_assert_true (results_commit (f->results, NULL));
  sqlite3 *db = bare (f);
  for (gsize i = 0; i < G_N_ELEMENTS (views); i++)
    {
      guint lines = 0;
      double begin_s = processor_s ();

      each_line (db, views[i].query, ignore_line, &lines);

      double seconds = processor_s () - begin_s;
      g_test_message ("%s: %.2f s", views[i].query, seconds);
      g_assert_cmpuint (lines, ==, views[i].lines);
      g_assert_cmpfloat (seconds, <, VIEW_LIMIT_S);
    }
  sqlite3_close (db);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *path;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    { "/views/progress-largest-and-who-count-right", test_progress_largest_and_who_count_right },
    { "/views/places-sort-by-number", test_places_sort_by_number },
    { "/views/histories-are-numbers", test_histories_are_numbers },
    { "/views/a-finished-run-lacks-nothing", test_a_finished_run_lacks_nothing },
    { "/views/missing-is-what-is-missing", test_missing_is_what_is_missing },
    { "/views/a-lost-stem-hides-nothing-else", test_a_lost_stem_hides_nothing_else },
    { "/views/a-hundred-thousand-rows-are-no-wait", test_a_hundred_thousand_rows_are_no_wait },
  };
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, set_up, tests[i].test, tear_down);
  return g_test_run ();
}
