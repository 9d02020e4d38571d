/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of storage/recover/audit.c and tables-read.c; links storage only. */
#include "store.h"

#include "storage/rowsum.h"

#include "storage/recover/audit.h"

static gboolean
note_event (const TablesEvent *event, gpointer data, GError **error)
{
  (void)error;
  g_string_append_printf (data, "%d %s %s %s %g %s\n", (int)event->at, event->kind, event->node,
                          event->path, event->work_s, event->detail);
  return TRUE;
}

static gboolean
note_setting (const char *key, GBytes *value, gpointer data, GError **error)
{
  (void)error;
  g_string_append_printf (data, "%s=%.*s\n", key, (int)g_bytes_get_size (value),
                          (const char *)g_bytes_get_data (value, NULL));
  return TRUE;
}

static void
test_the_other_tables_are_read_too (Fixture *f, gconstpointer unused)
{
  g_autoptr (GString) text = g_string_new (NULL);
  TablesEvent full = { .at = 7,
                       .kind = "lost",
                       .node = "1.1.00000001",
                       .path = "/0",
                       .work_s = 2.5,
                       .detail = "crashed" };
  TablesEvent bare = { .at = 8, .kind = "elected" };
  (void)unused;
  g_assert_true (tables_put_event (f->sql, &full, 10, NULL));
  g_assert_true (tables_put_event (f->sql, &bare, 10, NULL));

  g_assert_true (tables_each_event (f->sql, note_event, text, NULL));
  g_assert_true (tables_each_setting (f->sql, note_setting, text, NULL));

  g_assert_true (g_str_has_prefix (
      text->str, "7 lost 1.1.00000001 /0 2.5 crashed\n8 elected (null) (null) 0 (null)\n"
                 "id=run-1\nidentity=" IDENTITY "\nrows=run 2 "));
}

/* Changes each column of each row, one after the other; each time one more row fails. */
static void
test_an_audit_finds_every_change (Fixture *f, gconstpointer unused)
{
  static const char *const changes[][2] = {
    { "run", "UPDATE run SET value = 'x' WHERE key = 'id'" },
    { "event", "UPDATE event SET at = 2 WHERE id = 1" },
    { "event", "UPDATE event SET detail = '' WHERE id = 2" },
    { "event", "UPDATE event SET id = 9 WHERE id = 3" },
    { "result", "UPDATE result SET path = '/00' WHERE path = '/0'" },
    { "result", "UPDATE result SET weight = weight + 1e-9 WHERE path = '/1'" },
    { "result", "UPDATE result SET sum = NULL WHERE path = '/2'" },
    { "result", "UPDATE result SET value = CAST (value AS TEXT) WHERE path = '/3'" },
  };
  (void)unused;
  for (int i = 0; i < 5; i++)
    {
      TablesEvent event = { .at = 1, .kind = "join" };
      g_autofree char *path = g_strdup_printf ("/%d", i);
      g_assert_true (tables_put_event (f->sql, &event, 10, NULL));
      g_assert_true (put (f, path, 1, 1));
    }
  for (gsize i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      Audit before, after;
      InventoryTable table = 0;
      while (strcmp (inventory_name (table), changes[i][0]) != 0)
        table++;
      g_assert_true (audit_file (f->sql, &before, NULL));
      g_assert_true (sql_run (f->sql, changes[i][1], NULL));

      g_assert_true (audit_file (f->sql, &after, NULL));

      g_assert_cmpuint (after.tables[table].kept, ==, before.tables[table].kept - 1);
      g_assert_cmpuint (after.tables[table].damaged, ==, before.tables[table].damaged + 1);
    }
}

/* A random change of one of the tables that are counted as they change. */
static void
change_something (Fixture *f)
{
  static const char stem[] = "aaaaaaaaaaaaaaaa";
  guint8 digest[16] = { (guint8)g_test_rand_int_range (0, 4) };
  g_autoptr (GBytes) value = g_bytes_new (digest, 1);
  gboolean written;
  int i = g_test_rand_int_range (0, 12), j = g_test_rand_int_range (0, 12);
  g_autofree char *deep = g_strdup_printf ("~%s/%d", stem, j);
  g_autofree char *path = g_strdup_printf ("/%d/%d", i, j), *above = g_strdup_printf ("/%d", i);
  g_autofree char *name = g_strdup_printf ("share/%d", j);
  Keep keep = { .path = above,
                .children = (guint32)j + 1,
                .digest = digest,
                .digest_size = sizeof digest,
                .type = "y",
                .value = value };
  TablesValue constant = { .name = name, .type = "y", .digest = "d", .value = value };
  TablesEvent event = { .at = 1, .kind = "join" };
  switch (g_test_rand_int_range (0, 8))
    {
    case 0:
      (void)put (f, above, digest[0], 1); /* replaces the rows below it */
      break;
    case 1:
      g_assert_true (results_put_keep (f->results, &keep, 1, &written, NULL));
      break;
    case 2:
      results_meet_stem (f->results, stem, "/1/1");
      (void)put (f, deep, digest[0], 1);
      break;
    case 3:
      g_assert_true (tables_put_constant (f->sql, &constant, NULL));
      break;
    case 4:
      g_assert_true (tables_drop_constant (f->sql, name, NULL));
      break;
    case 5:
      g_assert_true (tables_put_event (f->sql, &event, 10, NULL));
      break;
    default:
      (void)put (f, path, digest[0], 1);
    }
}

static void
test_the_inventory_follows_every_change (Fixture *f, gconstpointer unused)
{
  (void)unused;
  for (int round = 0; round < 300; round++)
    {
      g_assert_true (results_begin (f->results, NULL));
      for (int i = g_test_rand_int_range (0, 8); i > 0; i--)
        change_something (f);
      if (g_test_rand_int_range (0, 5) == 0)
        results_rollback (f->results);
      else
        g_assert_true (results_commit (f->results, NULL));
      g_assert_true (inventory_agrees (f->sql, 0, INVENTORY_TABLES - 1, NULL));
    }
}

typedef struct
{
  const char *change, *words;
  guint64 missing[INVENTORY_TABLES];
} Loss;

/* Whichever rows are removed from a published file, the file itself shows that they are missing. */
static void
test_an_audit_finds_what_is_gone (Fixture *f, gconstpointer unused)
{
  static const Loss losses[] = {
    { "DELETE FROM result WHERE path LIKE '/1%'",
      "11 of 31 rows are missing (11 of 20 results)",
      { [INVENTORY_RESULT] = 11 } },
    { "DELETE FROM job", "1 of 31 rows are missing (0 of 20 results)", { [INVENTORY_JOB] = 1 } },
    { "DELETE FROM event WHERE id = 3",
      "1 of 31 rows are missing (0 of 20 results)",
      { [INVENTORY_EVENT] = 1 } },
    { "DELETE FROM run WHERE key = 'id'",
      "1 of 31 rows are missing (0 of 20 results)",
      { [INVENTORY_RUN] = 1 } },
    { "DELETE FROM run WHERE key = 'rows'; DELETE FROM constant WHERE name = 'run/rows'; DELETE "
      "FROM result WHERE path = '/3'",
      "how many rows are missing is not known, because the count of rows is lost (19 results are "
      "left)",
      { 0 } },
  };
  (void)unused;
  g_assert_true (results_begin (f->results, NULL));
  for (int i = 0; i < 20; i++)
    {
      TablesEvent event = { .at = 1, .kind = "join" };
      g_autofree char *path = g_strdup_printf ("/%d", i);
      g_assert_true (put (f, path, 1, 1));
      g_assert_true (i >= 5 || tables_put_event (f->sql, &event, 10, NULL));
    }
  g_assert_true (results_commit (f->results, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (losses); i++)
    {
      Audit audit;
      g_assert_true (audit_file (f->sql, &audit, NULL));
      g_assert_true (audit_is_whole (&audit));
      g_assert_true (sql_run (f->sql, "BEGIN", NULL));
      g_assert_true (sql_run (f->sql, losses[i].change, NULL));

      g_assert_true (audit_file (f->sql, &audit, NULL));

      g_autofree char *words = audit_describe (&audit);
      g_assert_false (audit_is_whole (&audit));
      g_assert_cmpstr (words, ==, losses[i].words);
      for (guint k = 0; k < INVENTORY_TABLES; k++)
        g_assert_cmpuint (audit.tables[k].missing, ==, losses[i].missing[k]);
      g_assert_true (sql_run (f->sql, "ROLLBACK", NULL));
    }
}

static void
fill (Fixture *f)
{
  g_assert_true (results_begin (f->results, NULL));
  for (int i = 0; i < 6; i++)
    {
      TablesEvent event = { .at = i, .kind = "join", .node = "1.1.00000001" };
      g_autofree char *path = g_strdup_printf ("/%d", i);
      g_assert_true (put (f, path, (guint8)(i + 1), 1)
                     && tables_put_event (f->sql, &event, 10, NULL));
    }
  g_assert_true (results_commit (f->results, NULL));
}

/* A range of tables agrees if each has the recorded number of rows, and these rows. */
static void
test_a_range_agrees (Fixture *f, gconstpointer unused)
{
  static const struct
  {
    InventoryTable table;
    const char *change;
  } changes[] = {
    { INVENTORY_RUN, "DELETE FROM run WHERE key = 'id'" },
    { INVENTORY_NODE, "DELETE FROM node" },
    { INVENTORY_JOB, "DELETE FROM job" },
    { INVENTORY_RESULT, "DELETE FROM result WHERE path = '/2'" },
    { INVENTORY_RESULT, "UPDATE result SET sum = (SELECT sum FROM result WHERE path = '/1')"
                        " WHERE path = '/2'" },
    { INVENTORY_EVENT, "DELETE FROM event WHERE id = 3" },
    { INVENTORY_EVENT, "UPDATE event SET sum = (SELECT sum FROM event WHERE id = 1) WHERE id = 2" },
  };
  (void)unused;
  fill (f);
  for (gsize i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_assert_true (sql_run (f->sql, "BEGIN", NULL));
      g_assert_true (sql_run (f->sql, changes[i].change, NULL));
      for (guint first = 0; first < INVENTORY_TABLES; first++)
        for (guint last = first; last < INVENTORY_TABLES; last++)
          g_assert_cmpint (inventory_agrees (f->sql, first, last, NULL), ==,
                           changes[i].table < first || changes[i].table > last);
      g_assert_true (sql_run (f->sql, "ROLLBACK", NULL));
    }
  g_assert_true (inventory_agrees (f->sql, 0, INVENTORY_TABLES - 1, NULL));
}

/* A count that was already made holds only for the results, and the row must be there twice. */
static void
test_what_was_counted_counts (Fixture *f, gconstpointer unused)
{
  Tally results, wrong;
  (void)unused;
  fill (f);
  g_assert_true (inventory_count (f->sql, INVENTORY_RESULT, &results, NULL));
  g_assert_cmpuint (results.rows, ==, 6);
  g_assert_true (inventory_agrees (f->sql, 0, INVENTORY_TABLES - 1, &results));
  wrong = (Tally){ .rows = results.rows - 1, .sums = results.sums };
  g_assert_false (inventory_agrees (f->sql, INVENTORY_RESULT, INVENTORY_RESULT, &wrong));
  wrong = (Tally){ .rows = results.rows, .sums = results.sums + 1 };
  g_assert_false (inventory_agrees (f->sql, 0, INVENTORY_TABLES - 1, &wrong));
  g_assert_true (inventory_agrees (f->sql, INVENTORY_STEM, INVENTORY_EVENT, &wrong));

  g_assert_true (sql_run (f->sql, "DELETE FROM constant WHERE name = 'run/rows'", NULL));
  Inventory said;
  g_assert_true (inventory_read (f->sql, &said));
  g_assert_false (inventory_stands_twice (f->sql));
  g_assert_false (inventory_agrees (f->sql, INVENTORY_RESULT, INVENTORY_RESULT, NULL));
}

/* With one changed character the row is not read at all. */
static void
test_near_misses_of_the_row (Fixture *f, gconstpointer unused)
{
  Inventory said;
  guint n_refused = 0;
  (void)unused;
  fill (f);
  g_autofree char *text = tables_get_string (f->sql, INVENTORY_KEY, NULL);
  for (gsize i = 0; text[i] != '\0'; i++)
    {
      g_autofree char *near = g_strdup (text);
      near[i] = near[i] == '_' ? '-' : '_';
      g_assert_true (tables_set (f->sql, INVENTORY_KEY, near, NULL));
      g_assert_false (inventory_read (f->sql, &said));
      n_refused++;
    }
  g_assert_cmpuint (n_refused, >, 100);
  g_autofree char *longer = g_strconcat (text, ", x 1 1", NULL);
  g_assert_true (tables_set (f->sql, INVENTORY_KEY, longer, NULL));
  g_assert_false (inventory_read (f->sql, &said));
  g_autofree char *shorter = g_strndup (text, (gsize)(g_strrstr (text, ", ") - text));
  g_assert_true (tables_set (f->sql, INVENTORY_KEY, shorter, NULL));
  g_assert_false (inventory_read (f->sql, &said));
  g_assert_true (tables_set (f->sql, INVENTORY_KEY, text, NULL));
  g_assert_true (inventory_read (f->sql, &said));
  g_assert_cmpuint (said.tables[INVENTORY_RESULT].rows, ==, 6);
}

/* The sum has each figure of both audits, and the doubts of either. */
static void
test_audits_add_up (Fixture *f, gconstpointer unused)
{
  (void)f;
  (void)unused;
  for (guint doubt = 0; doubt < 4; doubt++)
    {
      Audit audit = { .is_mixed = doubt == 1 },
            other = { .is_uncounted = doubt == 2, .is_mixed = doubt == 3 };
      for (guint i = 0; i < INVENTORY_TABLES; i++)
        {
          audit.tables[i] = (AuditTable){ .rows = 1000, .kept = 900, .damaged = 60, .missing = 40 };
          other.tables[i]
              = (AuditTable){ .rows = 20 + i, .kept = 10, .damaged = 7, .missing = 3 + i };
        }
      audit_add (&audit, &other);
      for (guint i = 0; i < INVENTORY_TABLES; i++)
        {
          g_assert_cmpuint (audit.tables[i].rows, ==, 1020 + i);
          g_assert_cmpuint (audit.tables[i].kept, ==, 910);
          g_assert_cmpuint (audit.tables[i].damaged, ==, 67);
          g_assert_cmpuint (audit.tables[i].missing, ==, 43 + i);
        }
      g_assert_cmpint (audit.is_mixed, ==, doubt % 2 == 1);
      g_assert_cmpint (audit.is_uncounted, ==, doubt == 2);
      g_assert_cmpuint (audit_damaged (&audit), ==, 67 * INVENTORY_TABLES);
    }
}

/* The sum of two files' audits is what both audits know. */
static void
test_sums_of_audits (Fixture *f, gconstpointer unused)
{
  (void)f, (void)unused;
  for (guint i = 0; i < 16; i++)
    {
      Audit one = { .is_uncounted = (i & 1) != 0, .is_mixed = (i & 2) != 0 };
      const Audit other = { .tables[INVENTORY_RESULT] = { 5, 3, 1, 1 },
                            .is_uncounted = (i & 4) != 0,
                            .is_mixed = (i & 8) != 0 };
      one.tables[INVENTORY_RESULT] = (AuditTable){ 5, 3, 1, 1 };
      audit_add (&one, &other);
      g_assert_cmpint (one.is_uncounted, ==, (i & 5) != 0);
      g_assert_cmpint (one.is_mixed, ==, (i & 10) != 0);
      g_assert_cmpuint (one.tables[INVENTORY_RESULT].rows, ==, 10);
      g_assert_cmpuint (audit_damaged (&one), ==, 2);
      g_assert_cmpuint (audit_lost (&one), ==, 4);
      one.tables[INVENTORY_RESULT].damaged = one.tables[INVENTORY_RESULT].missing = 0;
      g_assert_cmpint (audit_is_whole (&one), ==, i == 0);
    }
}

#define COPY_OF(path) \
  "INSERT INTO result SELECT '" path "', node, job, digest, value, work_s, saved, weight, json," \
  " args, began, took_ms, row_sum ('result', '" path "', node, job, digest, value, work_s, saved," \
  " weight, json, args, began, took_ms) FROM result LIMIT 1"

/* Rows that prove themselves but were not counted show that others are missing. */
static void
test_rows_that_were_not_counted (Fixture *f, gconstpointer unused)
{
  static const struct
  {
    const char *changes[2];
    gboolean mixed;
  } cases[] = { { { COPY_OF ("/8"), NULL }, TRUE },
                { { COPY_OF ("/8"), "DELETE FROM result WHERE path = '/1'" }, TRUE },
                { { COPY_OF ("/8"), "UPDATE result SET saved = 1 WHERE path = '/1'" }, TRUE },
                { { "DELETE FROM result WHERE path = '/1'", NULL }, FALSE },
                { { "UPDATE result SET saved = 1 WHERE path = '/1'", NULL }, FALSE } };
  (void)f;
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Fixture one;
      Audit audit;
      set_up (&one, unused);
      g_assert_true (results_begin (one.results, NULL));
      g_assert_true (put (&one, "/0", 1, 1) && put (&one, "/1", 1, 1));
      g_assert_true (results_commit (one.results, NULL));
      for (gsize k = 0; k < 2 && cases[i].changes[k] != NULL; k++)
        g_assert_true (sql_run (one.sql, cases[i].changes[k], NULL));
      g_assert_true (audit_file (one.sql, &audit, NULL));
      g_assert_cmpint (audit.is_mixed, ==, cases[i].mixed);
      g_assert_false (audit_is_whole (&audit));
      tear_down (&one, unused);
    }
}

/* The number of results in this page of a file, if it is a leaf of their table. */
static guint
results_in (const guint8 *page, gsize page_bytes)
{
  static const guint8 index_leaf = 10;
  gboolean is_leaf = page[0] == index_leaf && memmem (page, page_bytes, "/0/", 3) != NULL;
  return is_leaf ? (guint)(page[3] << 8 | page[4]) : 0;
}

/* One page was written over another: its rows come twice, and count once; those of the other are
 * missing. */
static void
test_a_page_over_another (Fixture *f, gconstpointer unused)
{
  g_autofree char *bytes = NULL;
  gsize size, from = 0;
  guint n_lost = 0;
  Audit audit;
  (void)unused;
  g_assert_true (results_begin (f->results, NULL));
  for (int i = 0; i < 1000; i++)
    {
      g_autofree char *path = g_strdup_printf ("/0/%d", i);
      g_assert_true (put (f, path, 1, 1));
    }
  g_assert_true (results_commit (f->results, NULL));
  publish (f);
  g_assert_true (g_file_get_contents (f->target, &bytes, &size, NULL));
  gsize page = (gsize)(guint8)bytes[16] << 8 | (guint8)bytes[17];
  for (gsize at = page; at + page <= size && n_lost == 0; at += page)
    {
      guint n = results_in ((guint8 *)bytes + at, page);
      if (n == 0)
        continue;
      if (from > 0)
        {
          n_lost = n;
          memcpy (bytes + at, bytes + from, page);
        }
      from = at;
    }
  g_assert_cmpuint (n_lost, >, 0);
  g_assert_true (g_file_set_contents (f->target, bytes, (gssize)size, NULL));
  g_autoptr (Sql) sql = sql_open_frozen (f->target, NULL);
  rowsum_identify (sql, IDENTITY);
  g_assert_true (audit_file (sql, &audit, NULL));
  g_assert_cmpuint (audit.tables[INVENTORY_RESULT].rows, ==, 1000);
  g_assert_cmpuint (audit.tables[INVENTORY_RESULT].missing, ==, n_lost);
  g_assert_cmpuint (audit.tables[INVENTORY_RESULT].kept, ==, 1000 - n_lost);
  g_assert_cmpuint (audit.tables[INVENTORY_RESULT].damaged, ==, 0);
}

/* The count of rows stands twice, so that one may be lost; but then the file is not whole. */
static void
test_the_count_stands_twice (Fixture *f, gconstpointer unused)
{
  static const char *const changes[] = { NULL, "DELETE FROM constant WHERE name = 'run/rows'" };
  for (gsize i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      Fixture one;
      Audit audit;
      set_up (&one, unused);
      if (changes[i] != NULL)
        g_assert_true (sql_run (one.sql, changes[i], NULL));
      g_assert_true (audit_file (one.sql, &audit, NULL));
      g_assert_false (audit.is_uncounted);
      g_assert_cmpuint (audit.tables[INVENTORY_RUN].missing, ==, i);
      g_assert_cmpint (audit_is_whole (&audit), ==, i == 0);
      tear_down (&one, unused);
    }
  (void)f;
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/audit/the-other-tables-are-read-too", Fixture, NULL, set_up,
              test_the_other_tables_are_read_too, tear_down);
  g_test_add ("/audit/an-audit-finds-every-change", Fixture, NULL, set_up,
              test_an_audit_finds_every_change, tear_down);
  g_test_add ("/audit/the-inventory-follows-every-change", Fixture, NULL, set_up,
              test_the_inventory_follows_every_change, tear_down);
  g_test_add ("/audit/an-audit-finds-what-is-gone", Fixture, NULL, set_up,
              test_an_audit_finds_what_is_gone, tear_down);
  g_test_add ("/audit/a-range-agrees", Fixture, NULL, set_up, test_a_range_agrees, tear_down);
  g_test_add ("/audit/what-was-counted-counts", Fixture, NULL, set_up, test_what_was_counted_counts,
              tear_down);
  g_test_add ("/audit/near-misses-of-the-row", Fixture, NULL, set_up, test_near_misses_of_the_row,
              tear_down);
  g_test_add ("/audit/audits-add-up", Fixture, NULL, set_up, test_audits_add_up, tear_down);
  g_test_add ("/audit/sums-of-audits", Fixture, NULL, set_up, test_sums_of_audits, tear_down);
  g_test_add ("/audit/rows-that-were-not-counted", Fixture, NULL, set_up,
              test_rows_that_were_not_counted, tear_down);
  g_test_add ("/audit/a-page-over-another", Fixture, NULL, set_up, test_a_page_over_another,
              tear_down);
  g_test_add ("/audit/the-count-stands-twice", Fixture, NULL, set_up, test_the_count_stands_twice,
              tear_down);
  return g_test_run ();
}
