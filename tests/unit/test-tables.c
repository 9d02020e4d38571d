/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of storage/tables: small tables, constants and best values, nodes, events. */
#include "store.h"

#include "storage/inventory.h"

static gboolean
count_value (const TablesValue *value, gpointer data, GError **error)
{
  (void)error;
  g_assert_nonnull (value->value);
  (*(int *)data)++;
  return TRUE;
}

static gboolean
count_present (const TablesNode *node, gpointer data, GError **error)
{
  (void)error;
  *(int *)data += node->left == 0;
  return TRUE;
}

static void
test_small_tables_hold_what_was_put (Fixture *f, gconstpointer unused)
{
  (void)unused;
  GError *error = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new_static ("\0\1", 2);
  TablesValue value = { .name = "const/a", .type = "(yy)", .digest = "d", .value = bytes };
  TablesNode node = { .id = "1.1.00000001", .name = "host", .address = "unix:x", .joined = 5 };
  int n = 0, present = 0;

  g_assert_true (tables_set_first (f->sql, "answer", "one\0two", 7, &error));
  g_assert_true (tables_set_first (f->sql, "answer", "other", 5, &error));
  g_assert_true (tables_put_constant (f->sql, &value, &error));
  g_assert_true (tables_put_best (f->sql, &value, &error));
  g_assert_true (tables_put_node (f->sql, &node, &error));
  int before = sqlite3_total_changes (f->sql->db);
  g_assert_true (tables_put_constant (f->sql, &value, &error));
  g_assert_true (tables_put_best (f->sql, &value, &error));
  g_assert_true (tables_put_node (f->sql, &node, &error));
  g_assert_true (tables_set (f->sql, "id", "run-1", &error));
  g_assert_cmpint (sqlite3_total_changes (f->sql->db), ==, before);

  g_autoptr (GBytes) answer = tables_get (f->sql, "answer", &error);
  g_assert_cmpmem (g_bytes_get_data (answer, NULL), g_bytes_get_size (answer), "one\0two", 7);
  g_assert_true (tables_each_constant (f->sql, count_value, &n, &error));
  g_assert_true (tables_each_best (f->sql, count_value, &n, &error));
  g_assert_cmpint (n, ==, 2);
  g_assert_true (tables_each_node (f->sql, count_present, &present, &error));
  g_assert_cmpint (present, ==, 1);
  g_assert_true (tables_end_node (f->sql, node.id, 9, "crashed", &error));
  g_assert_true (tables_end_node (f->sql, node.id, 10, "again", &error));
  present = 0;
  g_assert_true (tables_each_node (f->sql, count_present, &present, &error));
  g_assert_cmpint (present, ==, 0);
  g_assert_cmpint (number_of (f->sql, "SELECT left FROM node"), ==, 9);
  node.joined = 20;
  g_assert_true (tables_put_node (f->sql, &node, &error));
  g_assert_true (tables_each_node (f->sql, count_present, &present, &error));
  g_assert_cmpint (present, ==, 1);
  node.joined = 30;
  g_assert_true (tables_meet_node (f->sql, &node, &error)); /* known since it joined */
  g_assert_cmpint (number_of (f->sql, "SELECT joined FROM node"), ==, 5);
  g_assert_no_error (error);
}

static int
refuse_reads (void *data, int action, const char *a, const char *b, const char *c, const char *d)
{
  (void)data, (void)a, (void)b, (void)c, (void)d;
  return action == SQLITE_SELECT ? SQLITE_DENY : SQLITE_OK;
}

/* A value that cannot be read may stand there: nothing is written over it. */
static void
test_the_first_value_stays_when_it_cannot_be_read (Fixture *f, gconstpointer unused)
{
  g_autoptr (GError) error = NULL;

  (void)unused;
  g_assert_true (tables_set_first (f->sql, "answer", "one", 3, &error));
  g_assert_cmpint (sqlite3_set_authorizer (f->sql->db, refuse_reads, NULL), ==, SQLITE_OK);
  g_assert_false (tables_set_first (f->sql, "answer", "other", 5, &error));
  g_assert_nonnull (error);
  g_assert_cmpint (sqlite3_set_authorizer (f->sql->db, NULL, NULL), ==, SQLITE_OK);
  g_autofree char *answer = tables_get_string (f->sql, "answer", NULL);
  g_assert_cmpstr (answer, ==, "one");
}

static void
test_the_ledger_keeps_the_newest_events (Fixture *f, gconstpointer unused)
{
  (void)unused;
  for (int i = 1; i <= 25; i++)
    {
      TablesEvent event = { .at = i, .kind = "join" };
      g_assert_true (tables_put_event (f->sql, &event, 10, NULL));
    }

  g_assert_cmpint (number_of (f->sql, "SELECT count(*) FROM event"), ==, 10);
  g_assert_cmpint (number_of (f->sql, "SELECT min(at) FROM event"), ==, 16);
  g_assert_cmpint (number_of (f->sql,
                              "SELECT count(*) FROM event WHERE sum IS row_sum ('event', id,"
                              " at, kind, node, path, work_s, detail)"),
                   ==, 10);
}

/* What was lost is told of each job that runs again and each leaver, even if it is nothing. */
static void
test_events_that_state_a_cost (Fixture *f, gconstpointer unused)
{
  static const char *const kinds[] = { "requeued", "leave", "join" };
  (void)unused;
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      TablesEvent event = { .at = 1, .kind = kinds[i] };
      g_assert_true (tables_put_event (f->sql, &event, 10, NULL));
    }
  g_assert_cmpint (number_of (f->sql, "SELECT count(work_s) FROM event"), ==, 2);
  g_assert_cmpint (number_of (f->sql, "SELECT count(work_s) FROM event WHERE kind = 'join'"), ==,
                   0);
}

static void
test_what_old_events_came_to_stays (Fixture *f, gconstpointer unused)
{
  (void)unused;
  for (int i = 1; i <= 1000; i++)
    {
      TablesEvent event = { .at = i, .kind = "requeued", .path = "/0", .work_s = 0.5 };
      g_assert_true (tables_put_event (f->sql, &event, 10, NULL));
    }

  g_assert_cmpint (number_of (f->sql, "SELECT count(*) FROM event"), ==, 11);
  g_assert_cmpint (number_of (f->sql, "SELECT total(work_s) FROM event"), ==, 500);
  g_assert_cmpint (number_of (f->sql, "SELECT work_s FROM event WHERE kind = 'older'"), ==, 495);
  g_assert_cmpint (number_of (f->sql, "SELECT at FROM event WHERE kind = 'older'"), ==, 990);
  g_assert_cmpint (number_of (f->sql,
                              "SELECT count(*) FROM event WHERE sum IS row_sum ('event', id,"
                              " at, kind, node, path, work_s, detail)"),
                   ==, 11);
}

static void
test_tables_are_copied_but_for_what_does_not_verify (Fixture *f, gconstpointer unused)
{
  (void)unused;
  GError *error = NULL;
  guint64 dropped = 0;
  TablesNode node = { .id = "1.1.00000001", .joined = 5 };
  TablesEvent event = { .at = 1, .kind = "join" };
  g_assert_true (tables_put_node (f->sql, &node, &error));
  g_assert_true (tables_put_event (f->sql, &event, 10, &error));
  g_assert_true (tables_set (f->sql, "name", "right", &error));
  g_assert_cmpint (sqlite3_exec (f->sql->db,
                                 "UPDATE run SET value = 'wrong' WHERE key = 'name';"
                                 "UPDATE constant SET value = 'wrong' WHERE name = 'run/name'",
                                 0, 0, 0),
                   ==, SQLITE_OK);
  g_autofree char *other_path = g_build_filename (f->folder, "other", NULL);
  g_autoptr (Sql) other = sql_create (other_path, IDENTITY, &error);
  g_assert_true (tables_set (other, "id", "kept", &error));

  g_assert_true (tables_copy (other, f->sql, FALSE, &dropped, &error));

  g_autofree char *id = tables_get_string (other, "id", &error);
  g_autofree char *name = tables_get_string (other, "name", &error);
  g_assert_cmpstr (id, ==, "kept");
  g_assert_null (name);
  g_assert_cmpuint (dropped, ==, 2);
  g_assert_cmpint (number_of (other, "SELECT count(*) FROM node"), ==, 1);
  g_assert_cmpint (number_of (other, "SELECT count(*) FROM event"), ==, 1);
}

static void
put_word (Sql *sql, const char *word)
{
  g_autoptr (GBytes) bytes = g_bytes_new (word, strlen (word));
  TablesValue value = { .name = "const/a", .type = "ay", .digest = word, .value = bytes };
  TablesNode node = { .id = "1.1.00000001", .name = word, .joined = 5 };
  g_assert_true (tables_set (sql, "k", word, NULL) && tables_put_constant (sql, &value, NULL)
                 && tables_put_best (sql, &value, NULL) && tables_put_node (sql, &node, NULL));
}

/* The rows that are there stay, unless the other file is the later one. Either way the work file
 * counts its rows, of tables that it had counted before, too. */
static void
test_one_of_two_rows_stays (Fixture *f, gconstpointer unused)
{
  (void)unused;
  for (gboolean replaces = FALSE; replaces <= TRUE; replaces++)
    {
      guint64 dropped = 0;
      const char *wanted = replaces ? "theirs" : "ours";
      g_autofree char *path = g_build_filename (f->folder, "other", NULL);
      g_autoptr (Sql) other = sql_create (path, IDENTITY, NULL);
      put_word (other, "theirs");
      g_assert_true (results_begin (f->results, NULL));
      put_word (f->sql, "ours");
      g_assert_true (results_commit (f->results, NULL));
      g_assert_true (results_begin (f->results, NULL));
      g_assert_true (tables_copy (f->sql, other, replaces, &dropped, NULL));
      g_assert_true (results_commit (f->results, NULL));
      g_autofree char *query = g_strdup_printf (
          "SELECT (SELECT value FROM run WHERE key = 'k') = '%s'"
          " AND (SELECT value FROM constant WHERE name = 'const/a') = '%s'"
          " AND (SELECT value FROM best) = '%s' AND (SELECT host FROM node) = '%s'",
          wanted, wanted, wanted, wanted);
      g_assert_cmpint (number_of (f->sql, query), ==, 1);
      g_assert_true (inventory_agrees (f->sql, 0, INVENTORY_TABLES - 1, NULL));
    }
}

/* A setting that is too large for two copies has no old copy, which would be found when the large
 * one is damaged. When it becomes small, it has two copies again. */
static void
test_a_large_setting_has_no_old_copy (Fixture *f, gconstpointer unused)
{
  static const gsize limit = 1024 * 1024;
  (void)unused;
  for (gsize more = 0; more < 2; more++)
    {
      g_autofree char *large = g_strnfill (limit + more, 'x');
      g_assert_true (tables_set (f->sql, "k", "old", NULL));
      g_assert_true (tables_set (f->sql, "k", large, NULL));
      g_assert_true (sql_run (f->sql, "UPDATE run SET value = 'y' WHERE key = 'k'", NULL));
      g_autofree char *found = tables_get_string (f->sql, "k", NULL);
      g_assert_cmpstr (found, ==, more == 0 ? large : NULL);
    }
  g_assert_true (tables_set (f->sql, "k", "new", NULL));
  g_assert_true (sql_run (f->sql, "UPDATE run SET value = 'y' WHERE key = 'k'", NULL));
  g_autofree char *found = tables_get_string (f->sql, "k", NULL);
  g_assert_cmpstr (found, ==, "new");
}

/* A setting is stored twice. Each copy proves itself, and one that does not counts as missing. */
static void
test_each_copy_of_a_setting_is_proved (Fixture *f, gconstpointer unused)
{
  static const char *const harms[]
      = { "UPDATE run SET value = 'harmed' WHERE key = 'k'",
          "UPDATE constant SET value = 'harmed' WHERE name = 'run/k'" };
  (void)unused;
  for (guint which = 0; which < 4; which++)
    {
      g_assert_true (tables_set (f->sql, "k", "right", NULL));
      for (guint i = 0; i < G_N_ELEMENTS (harms); i++)
        g_assert_true (!(which >> i & 1) || sql_run (f->sql, harms[i], NULL));
      g_autofree char *found = tables_get_string (f->sql, "k", NULL);
      g_assert_cmpstr (found, ==, which < 3 ? "right" : NULL);
      g_assert_true (tables_unset (f->sql, "k", NULL));
      g_autofree char *gone = tables_get_string (f->sql, "k", NULL);
      g_assert_null (gone);
    }
}

/* An event that is told again is the same event: by kind and node if a node joined or left, and
 * else by everything but its time. */
static void
test_an_event_is_written_once (Fixture *f, gconstpointer unused)
{
  static const TablesEvent first = { 1, "requeued", "1.1.00000001", "/0", "why", 2.5 };
  static const struct
  {
    TablesEvent again;
    gboolean is_new;
  } cases[] = { { { 9, "requeued", "1.1.00000001", "/0", "why", 2.5 }, FALSE },
                { { 1, "leave", "1.1.00000001", "/0", "why", 2.5 }, TRUE },
                { { 1, "requeued", "1.2.00000002", "/0", "why", 2.5 }, TRUE },
                { { 1, "requeued", "1.1.00000001", "/1", "why", 2.5 }, TRUE },
                { { 1, "requeued", "1.1.00000001", "/0", NULL, 2.5 }, TRUE },
                { { 1, "requeued", "1.1.00000001", "/0", "why", 2.75 }, TRUE },
                { { 1, "joined", "1.1.00000001", NULL, "host", 0 }, TRUE },
                { { 2, "joined", "1.1.00000001", NULL, "other", 0 }, FALSE },
                { { 1, "left", "1.1.00000001", NULL, "crashed", 0 }, TRUE },
                { { 2, "left", "1.1.00000001", NULL, "gone", 0 }, FALSE },
                { { 2, "left", "1.2.00000002", NULL, "gone", 0 }, TRUE } };
  (void)unused;
  g_assert_true (tables_put_event_once (f->sql, &first, 100, NULL));
  gint64 n = 1;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_test_message ("case %u", i);
      g_assert_true (tables_put_event_once (f->sql, &cases[i].again, 100, NULL));
      n += cases[i].is_new;
      g_assert_cmpint (number_of (f->sql, "SELECT count(*) FROM event"), ==, n);
    }
}

int
main (int argc, char **argv)
{
  static const NamedTest tests[] = {
    { "/tables/small-tables-hold-what-was-put", test_small_tables_hold_what_was_put },
    { "/tables/the-first-value-stays-when-it-cannot-be-read",
      test_the_first_value_stays_when_it_cannot_be_read },
    { "/tables/the-ledger-keeps-the-newest-events", test_the_ledger_keeps_the_newest_events },
    { "/tables/events-that-state-a-cost", test_events_that_state_a_cost },
    { "/tables/what-old-events-came-to-stays", test_what_old_events_came_to_stays },
    { "/tables/tables-are-copied-but-for-what-does-not-verify",
      test_tables_are_copied_but_for_what_does_not_verify },
    { "/tables/one-of-two-rows-stays", test_one_of_two_rows_stays },
    { "/tables/an-event-is-written-once", test_an_event_is_written_once },
    { "/tables/each-copy-of-a-setting-is-proved", test_each_copy_of_a_setting_is_proved },
    { "/tables/a-large-setting-has-no-old-copy", test_a_large_setting_has_no_old_copy },
  };
  return run_tests (argc, argv, tests, G_N_ELEMENTS (tests));
}
