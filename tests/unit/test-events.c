/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of storage/events.c: unites the ledgers of two files. Links storage only. */
#include "store.h"

#include "storage/events.h"

#define KEEP 10
#define MANY 1000

/* All events as lines, in the order of the file. The sum of the oldest events has the number 0. */
static char *
lines_of (Sql *sql)
{
  GString *text = g_string_new (NULL);
  sqlite3_stmt *statement = NULL;
  g_assert_cmpint (
      sqlite3_prepare_v2 (sql->db,
                          "SELECT id, at, kind, ifnull(path, '-'), ifnull(work_s, 0),"
                          " ifnull(detail, '-'), row_holds (sum, 'event', id, at, kind, node,"
                          " path, work_s, detail) FROM event ORDER BY id",
                          -1, &statement, NULL),
      ==, SQLITE_OK);
  while (sqlite3_step (statement) == SQLITE_ROW)
    for (int i = 0; i < 7; i++)
      g_string_append_printf (text, "%s%c", (const char *)sqlite3_column_text (statement, i),
                              i < 6 ? ' ' : '\n');
  sqlite3_finalize (statement);
  return g_string_free (text, FALSE);
}

static void
assert_lines (Sql *sql, const char *expected)
{
  g_autofree char *lines = lines_of (sql);
  g_assert_cmpstr (lines, ==, expected);
}

static void
add (Sql *sql, gint64 at, const char *kind, const char *path, guint keep)
{
  TablesEvent event = { .at = at, .kind = kind, .path = path, .work_s = 2.5, .detail = "d" };
  g_assert_true (tables_put_event (sql, &event, keep, NULL));
}

static void
unite (Fixture *to, Fixture *from)
{
  g_autoptr (GError) error = NULL;
  g_assert_true (events_unite (to->sql, from->sql, &error));
  g_assert_no_error (error);
}

/* Events are ordered by time; for equal times those of the first file come first. An event that
 * both files have is there once. */
static void
test_are_in_the_order_of_time (Fixture *f, gconstpointer unused)
{
  Fixture other;
  set_up (&other, unused);
  add (f->sql, 2, "a", "/0", MANY);
  add (f->sql, 5, "common", "/1", MANY);
  add (f->sql, 7, "b", "/2", MANY);
  add (other.sql, 5, "common", "/1", MANY);
  add (other.sql, 2, "c", "/3", MANY);
  add (other.sql, 1, "d", "/4", MANY);
  add (other.sql, 9, "e", "/5", MANY);
  unite (f, &other);
  assert_lines (f->sql, "1 1 d /4 2.5 d 1\n2 2 a /0 2.5 d 1\n3 2 c /3 2.5 d 1\n"
                        "4 5 common /1 2.5 d 1\n5 7 b /2 2.5 d 1\n6 9 e /5 2.5 d 1\n");
  g_autofree char *before = lines_of (f->sql);
  unite (f, &other);
  assert_lines (f->sql, before);
  tear_down (&other, unused);
}

/* An event is there as often as in the file that has it more often. */
static void
test_are_there_as_often (Fixture *f, gconstpointer unused)
{
  Fixture other;
  set_up (&other, unused);
  add (f->sql, 1, "twin", "/0", MANY);
  for (guint i = 0; i < 3; i++)
    add (other.sql, 1, "twin", "/0", MANY);
  unite (f, &other);
  assert_lines (f->sql, "1 1 twin /0 2.5 d 1\n2 1 twin /0 2.5 d 1\n3 1 twin /0 2.5 d 1\n");
  unite (&other, f);
  g_assert_cmpint (number_of (other.sql, "SELECT count(*) FROM event"), ==, 3);
  tear_down (&other, unused);
}

/* Events that differ in one field are different events. */
static void
test_near_misses_are_others (Fixture *f, gconstpointer unused)
{
  static const TablesEvent all[] = {
    { .at = 1, .kind = "a", .node = "1.1.00000001", .path = "/0", .work_s = 2, .detail = "d" },
    { .at = 1, .kind = "b", .node = "1.1.00000001", .path = "/0", .work_s = 2, .detail = "d" },
    { .at = 1, .kind = "a", .node = "1.2.00000001", .path = "/0", .work_s = 2, .detail = "d" },
    { .at = 1, .kind = "a", .node = "1.1.00000001", .path = "/1", .work_s = 2, .detail = "d" },
    { .at = 1, .kind = "a", .node = "1.1.00000001", .path = "/0", .work_s = 3, .detail = "d" },
    { .at = 1, .kind = "a", .node = "1.1.00000001", .path = "/0", .work_s = 2, .detail = "e" },
    { .at = 1, .kind = "a", .path = "/0", .work_s = 2, .detail = "d" },
    { .at = 1, .kind = "a", .node = "1.1.00000001", .work_s = 2, .detail = "d" },
    { .at = 1, .kind = "a", .node = "1.1.00000001", .path = "/0", .work_s = 2 },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (all); i++)
    for (gsize k = 0; k < G_N_ELEMENTS (all); k++)
      {
        Fixture to, from;
        set_up (&to, unused);
        set_up (&from, unused);
        g_assert_true (tables_put_event (to.sql, &all[i], MANY, NULL));
        g_assert_true (tables_put_event (from.sql, &all[k], MANY, NULL));
        unite (&to, &from);
        g_assert_cmpint (number_of (to.sql, "SELECT count(*) FROM event"), ==, i == k ? 1 : 2);
        tear_down (&from, unused);
        tear_down (&to, unused);
      }
  (void)f;
}

/* The sum of the oldest events is copied as it is. If both files have one, that of the first
 * stays. */
static void
test_the_sum_of_the_oldest (Fixture *f, gconstpointer unused)
{
  Fixture other, third;
  set_up (&other, unused);
  set_up (&third, unused);
  for (gint64 i = 0; i < KEEP + 5; i++)
    add (other.sql, i, "old", "/7", KEEP);
  for (gint64 i = 0; i < KEEP + 2; i++)
    add (third.sql, i, "older", "/8", KEEP);
  g_assert_cmpint (number_of (other.sql, "SELECT count(*) FROM event WHERE id = 0"), ==, 1);
  unite (f, &other);
  g_autofree char *theirs = lines_of (other.sql), *ours = lines_of (f->sql);
  g_auto (GStrv) first = g_strsplit (theirs, "\n", 2), mine = g_strsplit (ours, "\n", 2);
  g_assert_true (g_str_has_prefix (first[0], "0 "));
  g_assert_cmpstr (mine[0], ==, first[0]);
  g_assert_cmpint (number_of (f->sql, "SELECT count(*) FROM event WHERE id > 0"), ==,
                   number_of (other.sql, "SELECT count(*) FROM event WHERE id > 0"));
  unite (f, &third);
  g_autofree char *both = lines_of (f->sql);
  g_assert_true (g_str_has_prefix (both, first[0]));
  tear_down (&third, unused);
  tear_down (&other, unused);
}

/* Which events of two files are one. Joins and ends of a node happen once. What a node told both is
 * one, whatever their clocks say. All others must agree in everything. */
static void
test_which_events_are_one (Fixture *f, gconstpointer unused)
{
#define EVENT(at_, kind_, node_, path_, work, detail_) \
  { \
    .at = at_, .kind = kind_, .node = node_, .path = path_, .work_s = work, .detail = detail_ \
  }
  static const struct
  {
    TablesEvent first, second;
    gboolean same;
  } cases[] = {
    { EVENT (1, "joined", "a", NULL, 0, NULL), EVENT (9, "joined", "a", NULL, 0, "d"), TRUE },
    { EVENT (1, "left", "a", NULL, 0, NULL), EVENT (9, "left", "a", NULL, 0, "d"), TRUE },
    { EVENT (1, "joined", "a", NULL, 0, NULL), EVENT (1, "joined", "b", NULL, 0, NULL), FALSE },
    { EVENT (1, "left", "a", NULL, 0, NULL), EVENT (1, "left", "b", NULL, 0, NULL), FALSE },
    { EVENT (1, "joined", "a", NULL, 0, NULL), EVENT (1, "left", "a", NULL, 0, NULL), FALSE },
    { EVENT (1, "requeued", "a", "/0", 2, "d"), EVENT (9, "requeued", "a", "/0", 2, "d"), TRUE },
    { EVENT (1, "leave", "a", NULL, 2, "d"), EVENT (9, "leave", "a", NULL, 2, "d"), TRUE },
    { EVENT (1, "leave", "a", NULL, 2, "d"), EVENT (1, "leave", "a", NULL, 3, "d"), FALSE },
    { EVENT (1, "saved", "a", NULL, 2, "d"), EVENT (1, "saved", "a", NULL, 2, "d"), TRUE },
    { EVENT (1, "saved", "a", NULL, 2, "d"), EVENT (2, "saved", "a", NULL, 2, "d"), FALSE },
    { EVENT (1, "saved", "a", NULL, 2, "d"), EVENT (1, "saved", NULL, NULL, 2, "d"), FALSE },
  };
  (void)f;
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Fixture one, other;
      set_up (&one, unused);
      set_up (&other, unused);
      g_assert_true (tables_put_event (one.sql, &cases[i].first, MANY, NULL));
      g_assert_true (tables_put_event (other.sql, &cases[i].second, MANY, NULL));
      unite (&one, &other);
      g_assert_cmpint (number_of (one.sql, "SELECT count (*) FROM event"), ==,
                       cases[i].same ? 1 : 2);
      tear_down (&one, unused);
      tear_down (&other, unused);
    }
#undef EVENT
}

/* A sum of older events whose checksum is wrong is not taken over. */
static void
test_a_damaged_sum_is_left (Fixture *f, gconstpointer unused)
{
  Fixture other;
  set_up (&other, unused);
  for (gint64 at = 1; at <= 3 * KEEP; at++)
    add (other.sql, at, "a", NULL, KEEP);
  g_assert_cmpint (number_of (other.sql, "SELECT count (*) FROM event WHERE id = 0"), ==, 1);
  g_assert_true (sql_run (other.sql, "UPDATE event SET work_s = 99 WHERE id = 0", NULL));
  unite (f, &other);
  g_assert_cmpint (number_of (f->sql, "SELECT count (*) FROM event WHERE id = 0"), ==, 0);
  tear_down (&other, unused);
}

int
main (int argc, char **argv)
{
  static const NamedTest tests[] = {
    { "/events/are-in-the-order-of-time", test_are_in_the_order_of_time },
    { "/events/are-there-as-often", test_are_there_as_often },
    { "/events/near-misses-are-others", test_near_misses_are_others },
    { "/events/the-sum-of-the-oldest", test_the_sum_of_the_oldest },
    { "/events/which-are-one", test_which_events_are_one },
    { "/events/a-damaged-sum-is-left", test_a_damaged_sum_is_left },
  };
  return run_tests (argc, argv, tests, G_N_ELEMENTS (tests));
}
