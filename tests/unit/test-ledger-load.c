/* SPDX-License-Identifier: BSD-3-Clause */
/* Loading from the ledger: rows come out unchanged, only those that were asked for, in batches of
 * limited size. Rows of other jobs than the program's are left out. */
#include "checkpoint.h"

#include "coordinator/ledger.h"

#include "storage/inventory.h"
#include "storage/sql.h"

#define BATCH_ROWS 250
#define BATCH_BYTES (8u << 20)

typedef struct
{
  GPtrArray *rows; /* of Row */
  guint n_batches, n_final, rows_max;
  gsize bytes_max; /* of a batch without its last row */
} Loaded;

static void
take_batch (GPtrArray *rows, gboolean final, gpointer data)
{
  Loaded *loaded = data;
  gsize bytes = 0;

  g_assert_cmpuint (loaded->n_final, ==, 0); /* nothing follows the last batch */
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = rows->pdata[i];

      loaded->bytes_max = MAX (loaded->bytes_max, bytes);
      bytes += g_bytes_get_size (row->value);
      g_ptr_array_add (loaded->rows, row_copy (row));
    }
  loaded->rows_max = MAX (loaded->rows_max, rows->len);
  loaded->n_batches++;
  loaded->n_final += final;
}

/* Loads the rows at or below `path`; NULL: all. */
static void
load (Ledger *ledger, const char *path, Loaded *loaded)
{
  GError *error = NULL;

  g_clear_pointer (&loaded->rows, g_ptr_array_unref);
  *loaded = (Loaded){ .rows = rows_new () };
  g_assert_true (ledger_load (ledger, path, take_batch, loaded, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (loaded->n_final, ==, 1);
}

static LedgerConfig
config_of (Place *place)
{
  return (LedgerConfig){ .work_path = place->work,
                         .target = place->target,
                         .job_names = job_names,
                         .job_types = job_types,
                         .stems = place->stems };
}

static Ledger *
begin (const LedgerConfig *config)
{
  GError *error = NULL;
  Identity identity = identity_make ("run-1", "app", "1");
  Ledger *ledger = ledger_new (config, &identity, &error);

  g_assert_no_error (error);
  identity_clear (&identity);
  return ledger;
}

static void
put (Ledger *ledger, GPtrArray *rows)
{
  g_autoptr (Inbox) inbox = inbox_new ();
  GError *error = NULL;

  for (guint i = 0; i < rows->len; i++)
    inbox_add_row (inbox, row_copy (rows->pdata[i]));
  g_assert_true (ledger_write (ledger, inbox, &error));
  g_assert_no_error (error);
}

static const Row *
find (const GPtrArray *rows, const char *path)
{
  for (guint i = 0; i < rows->len; i++)
    if (strcmp (((const Row *)rows->pdata[i])->path, path) == 0)
      return rows->pdata[i];
  return NULL;
}

static void
check_same (const Row *row, const Row *found)
{
  g_assert_nonnull (found);
  g_assert_cmpuint (found->children, ==, row->children);
  g_assert_true (digest_equal (&found->digest, &row->digest));
  g_assert_true (g_bytes_equal (found->value, row->value));
  if (row->children > 0)
    {
      g_assert_cmpstr (found->type, ==, row->type);
      return;
    }
  g_assert_cmpuint (found->job, ==, row->job);
  g_assert_cmpfloat (found->weight, ==, row->weight);
  g_assert_cmpuint (found->work_us, ==, row->work_us);
  g_assert_true (node_id_equal (&found->node, &row->node));
}

/* Rows of two jobs, of three nodes in turn and of none, with kept states, and with different
 * figures. */
static GPtrArray *
some_rows (void)
{
  GPtrArray *rows = rows_new ();

  for (guint i = 0; i < 40; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u/3", i);
      Row *row = i % 9 == 8 ? row_make_kept (path, i + 1, i)
                            : row_make (path, i, 1000003 * i + 1, 1.0 / (i + 2));

      row->job = row->children == 0 && i % 2 == 1;
      if (row->job == 1)
        {
          static const guint8 pair[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

          g_bytes_unref (row->value);
          row->value = g_bytes_new_static (pair, sizeof pair);
        }
      row->node = i % 4 == 3 ? NODE_ID_NONE : (NodeId){ 1 + i % 3, 2, 3 };
      g_ptr_array_add (rows, row);
    }
  return rows;
}

static void
test_as_they_went_in (void)
{
  g_autoptr (Place) place = place_new ();
  LedgerConfig config = config_of (place);
  g_autoptr (Ledger) ledger = begin (&config);
  g_autoptr (GPtrArray) rows = some_rows ();
  Loaded loaded = { 0 };

  put (ledger, rows);
  load (ledger, NULL, &loaded);
  g_assert_cmpuint (loaded.rows->len, ==, rows->len);
  for (guint i = 0; i < rows->len; i++)
    check_same (rows->pdata[i], find (loaded.rows, ((const Row *)rows->pdata[i])->path));
  g_ptr_array_unref (loaded.rows);
}

/* (transfer full): the path with n levels of 1 below the start of a tree, and one more. */
static char *
deep_path (Stems *stems, guint n, guint32 last)
{
  g_autofree guint32 *numbers = g_new (guint32, n + 1);

  for (guint i = 0; i < n; i++)
    numbers[i] = 1;
  numbers[n] = last;
  return path_from_numbers (stems, numbers, n + 1);
}

/* Only rows at or below a path are loaded, also through stems; all rows lie below the root. */
static void
test_below (void)
{
  g_autoptr (Place) place = place_new ();
  LedgerConfig config = config_of (place);
  g_autoptr (Ledger) ledger = begin (&config);
  g_autoptr (GPtrArray) rows = rows_new ();
  g_autofree char *deep = deep_path (place->stems, 70, 5),
                  *deeper = deep_path (place->stems, 140, 6);
  Loaded loaded = { 0 };
  static const struct
  {
    const char *path;
    guint n;
  } cases[] = { { "", 8 },     { "/1", 5 }, { "/1/2", 1 }, { "/2", 1 },
                { "/1/1", 2 }, { "/3", 0 }, { "/10", 1 } };

  g_ptr_array_add (rows, row_make ("/1/2", 1, 5, 0.1));
  g_ptr_array_add (rows, row_make (deep, 2, 5, 0.1));
  g_ptr_array_add (rows, row_make (deeper, 3, 5, 0.1));
  g_ptr_array_add (rows, row_make ("/10/0", 4, 5, 0.1));
  g_ptr_array_add (rows, row_make_kept ("/1", 1, 7));
  g_ptr_array_add (rows, row_make_kept ("/1/3", 2, 7));
  g_ptr_array_add (rows, row_make_kept ("/2", 2, 7));
  g_ptr_array_add (rows, row_make_kept ("", 1, 7));
  put (ledger, rows);
  load (ledger, NULL, &loaded);
  g_assert_cmpuint (loaded.rows->len, ==, rows->len);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      load (ledger, cases[i].path, &loaded);
      g_assert_cmpuint (loaded.rows->len, ==, cases[i].n);
      for (guint k = 0; k < loaded.rows->len; k++)
        {
          const char *path = ((const Row *)loaded.rows->pdata[k])->path;

          g_assert_true (strcmp (path, cases[i].path) == 0
                         || path_is_below (place->stems, path, cases[i].path));
        }
    }
  g_ptr_array_unref (loaded.rows);
}

static void
test_batches (void)
{
  g_autoptr (Place) place = place_new ();
  LedgerConfig config = config_of (place);
  g_autoptr (Ledger) ledger = begin (&config);
  g_autoptr (GPtrArray) rows = rows_new ();
  g_autoptr (GBytes) large = g_bytes_new_take (g_malloc0 (BATCH_BYTES / 4), BATCH_BYTES / 4);
  Loaded loaded = { 0 };

  for (guint i = 0; i < 3 * BATCH_ROWS + 1; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u", i);
      g_ptr_array_add (rows, row_make (path, i, 5, 0.0001));
    }
  put (ledger, rows);
  load (ledger, NULL, &loaded);
  g_assert_cmpuint (loaded.rows->len, ==, rows->len);
  g_assert_cmpuint (loaded.rows_max, ==, BATCH_ROWS);
  g_assert_cmpuint (loaded.n_batches, ==, 4);

  g_ptr_array_set_size (rows, 0);
  for (guint i = 0; i < 10; i++)
    {
      g_autofree char *path = g_strdup_printf ("1:/%u", i);
      Row *row = row_make (path, i, 5, 0.0001);

      g_bytes_unref (row->value);
      row->value = g_bytes_ref (large);
      g_ptr_array_add (rows, row);
    }
  put (ledger, rows);
  load (ledger, "1:", &loaded);
  g_assert_cmpuint (loaded.rows->len, ==, rows->len);
  g_assert_cmpuint (loaded.bytes_max, <, BATCH_BYTES);
  g_assert_cmpuint (loaded.n_batches, ==, 3); /* four, four and two */
  g_ptr_array_unref (loaded.rows);
}

/* Results of other jobs with the same names are not used. */
static void
test_of_other_jobs (void)
{
  static const char *const fewer[] = { "queens", NULL }, *const of_fewer[] = { "x", NULL };
  static const char *const other_types[] = { "d", "(xay)", NULL };
  g_autoptr (Place) place = place_new ();
  LedgerConfig config = config_of (place);
  Ledger *ledger = begin (&config);
  g_autoptr (GPtrArray) rows = some_rows ();
  Publication made;
  Loaded loaded = { 0 };
  guint n_keeps = 0, n_tours = 0;

  for (guint i = 0; i < rows->len; i++)
    {
      n_keeps += ((const Row *)rows->pdata[i])->children > 0;
      n_tours += ((const Row *)rows->pdata[i])->job == 1;
    }
  put (ledger, rows);
  g_assert_true (ledger_publish (ledger, TRUE, &made, NULL));
  ledger_free (ledger);

  config.job_names = fewer;
  config.job_types = of_fewer;
  ledger = begin (&config);
  load (ledger, NULL, &loaded);
  g_assert_cmpuint (loaded.rows->len, ==, rows->len - n_tours);
  ledger_free (ledger);

  config.job_names = job_names;
  config.job_types = other_types;
  ledger = begin (&config);
  load (ledger, NULL, &loaded);
  g_assert_cmpuint (loaded.rows->len, ==, n_tours + n_keeps);
  ledger_free (ledger);
  g_ptr_array_unref (loaded.rows);
}

/* Rows that were reported while the file was taken over are not reported again by a load of all
 * rows, once; a load of a part reports them. */
static void
test_told_before (void)
{
  g_autoptr (Place) place = place_new ();
  LedgerConfig config = config_of (place);
  Ledger *ledger = begin (&config);
  g_autoptr (GPtrArray) rows = some_rows ();
  Loaded before = { .rows = rows_new () }, loaded = { 0 };
  Publication made;

  put (ledger, rows);
  g_assert_true (ledger_publish (ledger, TRUE, &made, NULL));
  ledger_free (ledger);
  config.batch = take_batch;
  config.batch_data = &before;
  ledger = begin (&config);
  g_assert_cmpuint (before.rows->len, ==, rows->len);
  g_assert_cmpuint (before.n_final, ==, 0);
  g_assert_true (ledger_has_told_all (ledger));
  load (ledger, "/3", &loaded);
  g_assert_cmpuint (loaded.rows->len, ==, 1);
  load (ledger, NULL, &loaded);
  g_assert_cmpuint (loaded.rows->len, ==, 0);
  g_assert_false (ledger_has_told_all (ledger));
  load (ledger, NULL, &loaded);
  g_assert_cmpuint (loaded.rows->len, ==, rows->len);
  ledger_free (ledger);
  g_ptr_array_unref (before.rows);
  g_ptr_array_unref (loaded.rows);
}

/* A kept state tells of its job, and its work counts as that of the finished job. While there is
 * one, the rows do not say how much work is left. */
static void
test_kept_state_of_a_job (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GPtrArray) kept = rows_new (), finished = rows_new ();
  g_autoptr (GBytes) args = g_bytes_new_static ("\5\0\0\0", 4);
  LedgerConfig config = config_of (place);
  Row *row = row_make_kept ("/0", 2, 1);
  Left *left = left_new ();

  config.job_args = job_args;
  g_autoptr (Ledger) ledger = begin (&config);
  row->work_us = 5 * G_USEC_PER_SEC;
  row->args = loan_show_args (args);
  g_ptr_array_add (kept, row);
  g_ptr_array_add (kept, row_make ("/1", 1, 1000, 0.1));
  put (ledger, kept);
  assert_answer (place->work, "SELECT path || args FROM keep", "/0[5]");
  g_assert_false (ledger_look (ledger, left));
  g_ptr_array_add (finished, row_make ("/0", 1, G_USEC_PER_SEC, 0.1));
  put (ledger, finished);
  assert_answer (place->work, "SELECT count(*) FROM keep", "0");
  assert_answer (place->work, "SELECT work_s FROM result WHERE path = '/0'", "5.0");
  g_assert_true (ledger_look (ledger, left));
  left_free (left);
}

/* A row that proves itself, but whose path can be no job's, is left out and counts as damaged. */
static void
test_row_of_no_job (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GPtrArray) rows = rows_new ();
  Identity identity = identity_make ("run-1", "app", "1");
  LedgerConfig config = config_of (place);
  char hex[DIGEST_HEX_LENGTH + 1];
  Publication made;
  Restore restore;

  Ledger *ledger = begin (&config);
  g_ptr_array_add (rows, row_make ("/1", 1, 1000, 0.1));
  g_ptr_array_add (rows, row_make ("/2", 1, 1000, 0.1));
  put (ledger, rows);
  g_assert_true (ledger_publish (ledger, TRUE, &made, NULL));
  ledger_free (ledger);
  digest_to_hex (&identity.identity, hex);
  Sql *sql = sql_adopt (place->target, hex, NULL);
  g_assert_true (sql_run (sql,
                          "UPDATE result SET path = '/02', sum = row_sum ('result', '/02', node,"
                          " job, digest, value, work_s, saved, weight, json, args, began, took_ms)"
                          " WHERE path = '/2'",
                          NULL));
  g_assert_true (inventory_renew (sql, NULL));
  sql_free (sql);
  identity_clear (&identity);

  g_assert_true (restore_look (place->target, &restore, NULL));
  g_assert_cmpuint (restore.rows, ==, 1);
  g_assert_cmpuint (restore.rows_bad, ==, 1);
  g_assert_true (g_str_has_prefix (restore.damage, "1 of "));
  restore_clear (&restore);
  ledger = begin (&config);
  g_autofree char *damage = ledger_take_damage (ledger);
  g_assert_nonnull (damage);
  g_assert_nonnull (strstr (damage, "' is damaged: 1 of "));
  g_assert_cmpuint (ledger_stats (ledger).rows, ==, 1);
  ledger_free (ledger);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ledger-load/as-they-went-in", test_as_they_went_in);
  g_test_add_func ("/ledger-load/at-or-below-a-path", test_below);
  g_test_add_func ("/ledger-load/batches", test_batches);
  g_test_add_func ("/ledger-load/of-other-jobs", test_of_other_jobs);
  g_test_add_func ("/ledger-load/told-before", test_told_before);
  g_test_add_func ("/ledger-load/kept-state-of-a-job", test_kept_state_of_a_job);
  g_test_add_func ("/ledger-load/row-of-no-job", test_row_of_no_job);
  return g_test_run ();
}
