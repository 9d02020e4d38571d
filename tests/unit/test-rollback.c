/* SPDX-License-Identifier: BSD-3-Clause */
/* A batch that is rolled back leaves no trace: the file goes on as if the batch had never been
 * written. */
#include "storage/inventory.h"
#include "store.h"

#define STEM_A "aaaaaaaaaaaaaaaa"
#define STEM_B "bbbbbbbbbbbbbbbb"
#define STEM_C "cccccccccccccccc"
#define STEM_D "dddddddddddddddd"
#define ROUNDS 200

static void
meet_stems (Fixture *f)
{
  results_meet_stem (f->results, STEM_A, "/0/0/5");
  results_meet_stem (f->results, STEM_B, "~" STEM_A "/3");
  results_meet_stem (f->results, STEM_C, "/0/1");
  results_meet_stem (f->results, STEM_D, "/5/5");
}

static gboolean
put_keep (Fixture *f, const char *path, guint children, double work_s)
{
  g_autoptr (GBytes) value = g_bytes_new_static ("\x07\0\0\0\0\0\0\0", 8);
  Keep keep = { .path = path,
                .children = children,
                .digest = (const guint8 *)"0123456789abcdef",
                .digest_size = 16,
                .type = "x",
                .value = value };
  gboolean written = FALSE;

  g_assert_true (results_put_keep (f->results, &keep, work_s, &written, NULL));
  return written;
}

/* (transfer full): a random path, with a stem or without, sometimes of a later root. */
static char *
any_path (GRand *rand)
{
  static const char *const bases[] = { "", "", "", "~" STEM_A, "~" STEM_B, "~" STEM_C, "1:" };
  GString *path = g_string_new (bases[g_rand_int_range (rand, 0, G_N_ELEMENTS (bases))]);

  for (int depth = g_rand_int_range (rand, 1, 4); depth > 0; depth--)
    g_string_append_printf (path, "/%d", g_rand_int_range (rand, 0, 6));
  return g_string_free (path, FALSE);
}

/* Some random puts; the same seed gives the same puts. (transfer full): the result of each. */
static char *
put_batch (Fixture *f, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  GString *said = g_string_new (NULL);

  if (g_rand_int_range (rand, 0, 3) == 0)
    {
      g_autofree char *name = g_strdup_printf ("const/%d", g_rand_int_range (rand, 0, 5));
      g_autoptr (GBytes) value = g_bytes_new_static ("\x07\0\0\0\0\0\0\0", 8);
      TablesValue constant = { .name = name, .type = "x", .digest = "", .value = value };
      g_assert_true (tables_put_constant (f->sql, &constant, NULL));
    }
  for (int n = g_rand_int_range (rand, 1, 6); n > 0; n--)
    {
      g_autofree char *path = any_path (rand);
      double work_s = g_rand_int_range (rand, 1, 9);
      guint8 digest = (guint8)g_rand_int_range (rand, 1, 4);
      gboolean written = g_rand_int_range (rand, 0, 4) > 0
                             ? put (f, path, digest, work_s)
                             : put_keep (f, path, digest + 1u, work_s);
      g_string_append_c (said, written ? '+' : '-');
    }
  return g_string_free (said, FALSE);
}

/* (transfer full): everything in the file, and everything that is known of it without reading. */
static char *
picture (Fixture *f)
{
  ResultsTotals totals = results_totals (f->results);
  g_autoptr (GString) rows = g_string_new (NULL);
  ResultsQuery all = { 0 };
  guint64 bad = 0;

  g_assert_true (results_each (f->sql, &all, add_path, rows, &bad, NULL));
  g_assert_cmpuint (bad, ==, 0);
  return g_strdup_printf ("%s%" G_GINT64_FORMAT " stems %" G_GINT64_FORMAT
                          " keeps, %" G_GUINT64_FORMAT
                          " rows that weigh %g, sum %" G_GINT64_MODIFIER "x",
                          rows->str, number_of (f->sql, "SELECT count(*) FROM stem"),
                          number_of (f->sql, "SELECT ifnull(sum(children), 0) FROM keep"),
                          totals.rows, totals.weight, totals.sums);
}

static void
test_a_rollback_leaves_no_trace (Fixture *f, gconstpointer unused G_GNUC_UNUSED)
{
  Fixture other;

  set_up (&other, NULL);
  for (guint32 round = 1; round <= ROUNDS; round++)
    {
      if (round % 10 == 1) /* soon everything would be covered */
        {
          tear_down (f, NULL);
          tear_down (&other, NULL);
          set_up (f, NULL);
          set_up (&other, NULL);
          meet_stems (f);
          meet_stems (&other);
        }
      g_autofree char *before = picture (f);
      g_assert_true (results_begin (f->results, NULL));
      g_free (put_batch (f, 1000 + round));
      results_rollback (f->results);
      g_autofree char *after = picture (f);
      g_assert_cmpstr (after, ==, before);

      g_assert_true (results_begin (f->results, NULL) && results_begin (other.results, NULL));
      g_autofree char *said = put_batch (f, round), *wanted = put_batch (&other, round);
      g_assert_true (results_commit (f->results, NULL) && results_commit (other.results, NULL));
      g_assert_cmpstr (said, ==, wanted);
      g_autofree char *now = picture (f), *plain = picture (&other);
      g_assert_cmpstr (now, ==, plain);
      g_assert_true (inventory_agrees (f->sql, 0, INVENTORY_TABLES - 1, NULL));
    }
  tear_down (&other, NULL);
}

/* Rows that were removed and are restored are removed again, with the stems that they continue. */
static void
test_stems_come_back (Fixture *f, gconstpointer unused G_GNUC_UNUSED)
{
  results_meet_stem (f->results, STEM_C, "/0/1");
  results_meet_stem (f->results, STEM_A, "~" STEM_C "/3");
  results_meet_stem (f->results, STEM_D, "/5/5");
  g_assert_true (results_begin (f->results, NULL));
  g_assert_true (put (f, "~" STEM_A "/1", 1, 1));
  g_assert_true (put (f, "~" STEM_D "/1", 1, 1));
  g_assert_true (results_commit (f->results, NULL));
  g_assert_true (results_begin (f->results, NULL));
  g_assert_true (put (f, "/0", 2, 2));            /* two stems go, */
  g_assert_true (put (f, "~" STEM_D "/9", 2, 2)); /* and no row of theirs is left */
  results_rollback (f->results);
  g_assert_true (results_begin (f->results, NULL));
  g_assert_true (put (f, "~" STEM_C "/3", 3, 4));
  g_assert_true (results_commit (f->results, NULL));
  assert_rows (f->sql, "~" STEM_C "/3=4 ~" STEM_D "/1=1");
  g_assert_cmpint (number_of (f->sql, "SELECT count(*) FROM stem"), ==, 2);
}

/* A row stands for no less work than the rows that it replaces, including kept states. */
static void
test_no_work_is_forgotten (Fixture *f, gconstpointer unused G_GNUC_UNUSED)
{
  g_assert_true (put (f, "/0/1", 1, 5));
  g_assert_true (put_keep (f, "/0", 2, 1)); /* it stands for children 0 and 1 */
  assert_rows (f->sql, "");
  g_assert_true (put_keep (f, "/0", 3, 2));
  g_assert_true (put (f, "/0", 2, 1));
  assert_rows (f->sql, "/0=5");
  g_assert_true (put (f, "/1/0", 1, 3));
  g_assert_true (put_keep (f, "/1", 1, 4));
  g_assert_true (put (f, "", 3, 2));
  assert_rows (f->sql, "root=9");
}

int
main (int argc, char **argv)
{
  static const NamedTest tests[]
      = { { "/rollback/a-rollback-leaves-no-trace", test_a_rollback_leaves_no_trace },
          { "/rollback/stems-come-back", test_stems_come_back },
          { "/rollback/no-work-is-forgotten", test_no_work_is_forgotten } };

  return run_tests (argc, argv, tests, G_N_ELEMENTS (tests));
}
