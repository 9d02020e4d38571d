/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of storage/: values, compaction, checksums. Links storage, GLib and SQLite, and no other
 * room. */
#include "processor.h"
#include "store.h"

#include "storage/rowsum.h"

typedef struct
{
  const char *type;
  const void *data;
  gsize size;
  const char *kind; /* the type in which SQLite stores it */
} Sample;

static const Sample samples[] = {
  { "y", "\xff", 1, "integer" },
  { "n", "\x00\x80", 2, "integer" },
  { "q", "\xff\xff", 2, "integer" },
  { "i", "\xff\xff\xff\xff", 4, "integer" },
  { "i", "\x00\x00\x00\x80", 4, "integer" },
  { "u", "\xff\xff\xff\xff", 4, "integer" },
  { "x", "\x00\x00\x00\x00\x00\x00\x00\x80", 8, "integer" },
  { "x", "\xff\xff\xff\xff\xff\xff\xff\x7f", 8, "integer" },
  { "t", "\xff\xff\xff\xff\xff\xff\xff\x7f", 8, "integer" },
  { "t", "\x00\x00\x00\x00\x00\x00\x00\x80", 8, "blob" },
  { "t", "\xff\xff\xff\xff\xff\xff\xff\xff", 8, "blob" },
  { "d", "\x00\x00\x00\x00\x00\x00\xf0\x3f", 8, "real" }, /* 1.0 */
  { "d", "\x18\x2d\x44\x54\xfb\x21\x09\x40", 8, "real" }, /* pi */
  { "d", "\x01\x00\x00\x00\x00\x00\x00\x00", 8, "real" }, /* the smallest number */
  { "d", "\x00\x00\x00\x00\x00\x00\xf0\x7f", 8, "real" }, /* infinity */
  { "d", "\x00\x00\x00\x00\x00\x00\x00\x80", 8, "blob" }, /* minus zero */
  { "d", "\x01\x00\x00\x00\x00\x00\xf8\x7f", 8, "blob" }, /* NaN with a payload */
  { "ay", "readable", 8, "text" },
  { "ay", "", 0, "text" },
  { "ay", "a\0b", 3, "blob" },
  { "ay", "\xff\xfe", 2, "blob" },
  { "s", "word\0", 5, "text" },
  { "s", "no end", 6, "blob" },
  { "(xi)", "\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0", 16, "blob" },
  { "x", "short", 5, "blob" },
  { "ax", "", 0, "blob" },
};

static gboolean
compare_value (const Result *row, gpointer data, GError **error)
{
  const Sample *sample = data;
  (void)error;
  gsize size;
  const void *bytes = g_bytes_get_data (row->value, &size);
  g_assert_cmpmem (bytes, size, sample->data, sample->size);
  g_assert_cmpstr (row->type, ==, sample->type);
  return TRUE;
}

static void
test_values_come_back_bit_for_bit (Fixture *f, gconstpointer unused)
{
  (void)unused;
  for (gsize i = 0; i < G_N_ELEMENTS (samples); i++)
    {
      guint8 digest[16] = { (guint8)i };
      g_autoptr (GBytes) value = g_bytes_new_static (samples[i].data, samples[i].size);
      Result row = { .path = "/0",
                     .node = "",
                     .job = "job",
                     .type = samples[i].type,
                     .digest = digest,
                     .digest_size = sizeof digest,
                     .value = value };
      ResultsQuery all = { 0 };
      guint64 bad = 0;

      g_assert_true (put_typed (f, row, NULL));

      sqlite3_stmt *statement = NULL;
      sqlite3_prepare_v2 (f->sql->db, "SELECT typeof(value) FROM result", -1, &statement, NULL);
      g_assert_cmpint (sqlite3_step (statement), ==, SQLITE_ROW);
      g_assert_cmpstr ((const char *)sqlite3_column_text (statement, 0), ==, samples[i].kind);
      sqlite3_finalize (statement);
      g_assert_true (results_each (f->sql, &all, compare_value, (gpointer)&samples[i], &bad, NULL));
      g_assert_cmpuint (bad, ==, 0);
    }
}

static void
test_a_new_row_takes_in_those_below_it (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_assert_true (put (f, "/0/1/0", 1, 1));
  g_assert_true (put (f, "/0/1/2", 2, 2));
  g_assert_true (put (f, "/0/10", 3, 4));
  g_assert_true (put (f, "/0/2", 4, 8));
  g_assert_true (put (f, "/0/1", 5, 2));

  assert_rows (f->sql, "/0/1=3 /0/10=4 /0/2=8");
  g_assert_cmpuint (results_totals (f->results).rows, ==, 3);
  g_assert_cmpfloat (results_totals (f->results).weight, ==, 0.375);
  g_assert_true (put (f, "", 6, 32));
  assert_rows (f->sql, "root=32");
  g_assert_cmpuint (results_totals (f->results).rows, ==, 1);
}

static void
test_a_row_below_a_saved_one_is_dropped (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_assert_true (put (f, "/1", 1, 1));
  g_assert_true (put (f, "/10", 2, 1));

  g_assert_false (put (f, "/1/0", 3, 1));
  g_assert_false (put (f, "/1/4294967295/7", 3, 1));
  g_assert_true (put (f, "/11/0", 4, 1));
  assert_rows (f->sql, "/1=1 /10=1 /11/0=1");
}

static void
test_of_equal_paths_the_same_stays_and_the_newer_other_wins (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_assert_true (put (f, "/3", 1, 1));
  g_assert_false (put (f, "/3", 1, 2));
  assert_rows (f->sql, "/3=1");
  g_assert_true (put (f, "/3", 2, 4));
  assert_rows (f->sql, "/3=4");
  g_assert_cmpuint (results_totals (f->results).rows, ==, 1);
}

#define STEM_A "aaaaaaaaaaaaaaaa" /* stands for /0/0/5 here: storage does not count levels */
#define STEM_B "bbbbbbbbbbbbbbb0" /* continues A */
#define STEM_C "cccccccccccccccc" /* stands for /0/1 */

static void
meet_stems (Fixture *f)
{
  results_meet_stem (f->results, STEM_A, "/0/0/5");
  results_meet_stem (f->results, STEM_B, "~" STEM_A "/3");
  results_meet_stem (f->results, STEM_C, "/0/1");
}

static void
weighs (Fixture *f, const char *rows, double weight)
{
  ResultsTotals counted = { 0 }, totals = results_totals (f->results);

  assert_rows (f->sql, rows);
  g_assert_true (results_count (f->sql, &counted));
  g_assert_cmpfloat (counted.weight, ==, weight);
  g_assert_cmpfloat (totals.weight, ==, weight);
  g_assert_cmpuint (counted.sums, ==, totals.sums);
  g_assert_cmpuint (counted.rows, ==, totals.rows);
  g_assert_cmpfloat_with_epsilon (counted.work_s, totals.work_s, 1e-9);
}

/* No root covers another one, and the total weight is that of the last root. */
static void
test_roots_are_rows (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_assert_true (results_begin (f->results, NULL));
  put (f, "/0", 1, 1);
  put (f, "/1", 2, 1);
  put (f, "", 3, 4);
  weighs (f, "root=4", 0.125);
  put (f, "1:/0", 4, 1);
  put (f, "1:/1", 5, 1);
  weighs (f, "root=4 1:/0=1 1:/1=1", 0.25);
  put (f, "1:", 6, 5);
  put (f, "10:/0", 7, 1);
  weighs (f, "root=4 10:/0=1 1:=5", 0.125);
  g_assert_true (results_commit (f->results, NULL));

  /* A row of an earlier root that comes late weighs nothing, and after a rollback the table is read
   * again. */
  g_assert_true (results_begin (f->results, NULL));
  put (f, "11:/0", 8, 1);
  weighs (f, "root=4 10:/0=1 11:/0=1 1:=5", 0.125);
  results_rollback (f->results);
  g_assert_true (results_begin (f->results, NULL));
  put (f, "2:", 9, 1);
  weighs (f, "root=4 10:/0=1 1:=5 2:=1", 0.125);
  g_assert_false (put (f, "1:/7", 10, 1));
  put (f, "10:", 11, 1);
  weighs (f, "root=4 10:=1 1:=5 2:=1", 0.125);
  results_meet_stem (f->results, STEM_A, "11:/0/0/5"); /* deep rows are of the last root */
  put (f, "11:/1", 12, 1);
  put (f, "~" STEM_A "/1", 13, 1);
  weighs (f, "root=4 10:=1 11:/1=1 1:=5 2:=1 ~" STEM_A "/1=1", 0.25);
  g_assert_true (results_commit (f->results, NULL));
}

static void
test_compaction_is_closed_over_stems (Fixture *f, gconstpointer unused)
{
  (void)unused;
  meet_stems (f);
  g_assert_true (put (f, "~" STEM_B "/1", 1, 1));
  g_assert_true (put (f, "~" STEM_A "/2", 2, 2));
  g_assert_true (put (f, "~" STEM_C "/2", 3, 4));
  g_assert_cmpint (number_of (f->sql, "SELECT count(*) FROM stem"), ==, 3);

  g_assert_true (put (f, "/0/0", 4, 8));

  assert_rows (f->sql, "/0/0=8 ~" STEM_C "/2=4");
  g_assert_cmpint (number_of (f->sql, "SELECT count(*) FROM stem"), ==, 1);
  g_assert_false (put (f, "~" STEM_B "/1", 1, 1));
  g_assert_false (put (f, "~" STEM_A "/9", 1, 1));
  g_assert_cmpint (number_of (f->sql, "SELECT count(*) FROM stem"), ==, 1);
}

static void
test_a_row_at_a_stem_takes_in_what_continues_it (Fixture *f, gconstpointer unused)
{
  (void)unused;
  meet_stems (f);
  g_assert_true (put (f, "~" STEM_B "/1/7", 1, 1));
  g_assert_true (put (f, "~" STEM_A "/30", 1, 2));

  g_assert_true (put (f, "~" STEM_A "/3", 2, 4));
  assert_rows (f->sql, "~" STEM_A "/3=4 ~" STEM_A "/30=2");
  g_assert_cmpint (number_of (f->sql, "SELECT count(*) FROM stem"), ==, 1);
  g_assert_true (put (f, "/0/0/5", 3, 8));
  assert_rows (f->sql, "/0/0/5=8");
  g_assert_cmpint (number_of (f->sql, "SELECT count(*) FROM stem"), ==, 0);
}

static void
test_the_root_takes_in_everything (Fixture *f, gconstpointer unused)
{
  (void)unused;
  meet_stems (f);
  g_assert_true (put (f, "~" STEM_B "/1", 1, 1));
  g_assert_true (put (f, "~dddddddddddddddd/1", 1, 2)); /* whose stem is unknown */
  g_assert_true (put (f, "/9", 1, 4));

  g_assert_true (put (f, "", 2, 8));

  assert_rows (f->sql, "root=8");
  g_assert_false (put (f, "~" STEM_B "/1", 1, 1));
}

static void
test_a_rollback_brings_back_rows_stems_and_totals (Fixture *f, gconstpointer unused)
{
  (void)unused;
  meet_stems (f);
  g_assert_true (results_begin (f->results, NULL));
  g_assert_true (put (f, "~" STEM_B "/1", 1, 1));
  g_assert_true (results_commit (f->results, NULL));

  g_assert_true (results_begin (f->results, NULL));
  g_assert_true (put (f, "/0", 2, 2));
  g_assert_true (put (f, "~" STEM_C "/1", 3, 2) == FALSE);
  results_rollback (f->results);

  assert_rows (f->sql, "~" STEM_B "/1=1");
  g_assert_cmpuint (results_totals (f->results).rows, ==, 1);
  g_assert_cmpint (number_of (f->sql, "SELECT count(*) FROM stem"), ==, 2);
  g_assert_true (results_begin (f->results, NULL));
  g_assert_true (put (f, "/0", 2, 2));
  g_assert_true (results_commit (f->results, NULL));
  assert_rows (f->sql, "/0=2");
  g_assert_cmpint (number_of (f->sql, "SELECT count(*) FROM stem"), ==, 0);
}

/* Random puts, compared with a simple model: the table is always the antichain of all rows. */
static void
test_any_order_leaves_an_antichain (Fixture *f, gconstpointer unused)
{
  (void)unused;
  for (int round = 0; round < 200; round++)
    {
      g_autoptr (GHashTable) saved = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
      g_assert_true (results_begin (f->results, NULL));
      for (int i = 0; i < 40; i++)
        {
          g_autoptr (GString) path = g_string_new (NULL);
          for (int depth = g_test_rand_int_range (1, 5); depth > 0; depth--)
            g_string_append_printf (path, "/%d", g_test_rand_int_range (0, 12));
          gboolean is_covered = FALSE;
          GHashTableIter iter;
          gpointer key;
          g_hash_table_iter_init (&iter, saved);
          while (g_hash_table_iter_next (&iter, &key, NULL))
            {
              g_autofree char *front = g_strconcat (key, "/", NULL);
              g_autofree char *ours = g_strconcat (path->str, "/", NULL);
              if (g_str_has_prefix (ours, front))
                is_covered = TRUE;
              else if (g_str_has_prefix (front, ours))
                g_hash_table_iter_remove (&iter);
            }
          g_assert_true (put (f, path->str, 1, 1) != is_covered);
          if (!is_covered)
            g_hash_table_add (saved, g_strdup (path->str));
          g_assert_cmpuint (results_totals (f->results).rows, ==, g_hash_table_size (saved));
        }
      g_assert_cmpint (number_of (f->sql, "SELECT count(*) FROM result"), ==,
                       g_hash_table_size (saved));
      g_assert_cmpint (number_of (f->sql, "SELECT sum(work_s) <= 40 FROM result"), ==, 1);
      results_rollback (f->results);
    }
}

static void
test_twenty_thousand_rows_are_written_well_under_a_second (Fixture *f, gconstpointer unused)
{
  (void)unused;
  double start_s = processor_s ();
  g_assert_true (results_begin (f->results, NULL));
  for (int i = 0; i < 20000; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%d/%d/%d", i % 20, i / 20 % 20, i / 400);
      g_assert_true (put (f, path, 1, 0.001));
    }
  g_assert_true (results_commit (f->results, NULL));
  double written_s = processor_s ();
  publish (f);
  double end_s = processor_s ();

  g_test_message ("20,000 rows: written in %.3f s, published in %.3f s", written_s - start_s,
                  end_s - written_s);
  g_assert_cmpfloat (end_s - start_s, <, 10); /* generous: sanitizers */
}

static void
test_a_row_that_was_changed_does_not_verify (Fixture *f, gconstpointer unused)
{
  (void)unused;
  static const char *const changes[] = { "UPDATE result SET value = 8 WHERE path = '/0'",
                                         "UPDATE result SET path = '/5'",
                                         "UPDATE result SET node = 2",
                                         "UPDATE result SET job = job + 1",
                                         "UPDATE result SET digest = x'00'",
                                         "UPDATE result SET work_s = 1.5",
                                         "UPDATE result SET saved = 1",
                                         "UPDATE result SET weight = 1",
                                         "UPDATE result SET sum = NULL",
                                         "UPDATE result SET sum = sum + 1",
                                         "UPDATE result SET value = '7'" };
  for (gsize i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      ResultsQuery all = { 0 };
      guint64 bad = 0;
      g_assert_true (results_begin (f->results, NULL));
      g_assert_true (put (f, "/0", 1, 1));
      g_assert_cmpint (sqlite3_exec (f->sql->db, changes[i], NULL, NULL, NULL), ==, SQLITE_OK);
      g_assert_true (results_each (f->sql, &all, add_path, text, &bad, NULL));
      g_assert_cmpstr (text->str, ==, "");
      g_assert_cmpuint (bad, ==, 1);
      results_rollback (f->results);
    }
}

/* SipHash-2-4's published test: key 00…0f, data 00…0e. Ours begins with a tag and a length. */
static void
test_the_checksum_is_siphash (Fixture *f, gconstpointer unused)
{
  (void)unused;
  Sql sql = { .identity = f->sql->identity,
              .key = { G_GUINT64_CONSTANT (0x0706050403020100),
                       G_GUINT64_CONSTANT (0x0f0e0d0c0b0a0908) } };
  static const guint8 data[15] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };
  Rowsum empty = rowsum_begin (&sql), whole = empty;

  g_assert_cmphex (rowsum_end (&empty).sum, ==, G_GUINT64_CONSTANT (0x726fdb47dd0e0e31));
  rowsum_add_bare (&whole, data, sizeof data);
  g_assert_cmphex (rowsum_end (&whole).sum, ==, G_GUINT64_CONSTANT (0xa129ca6149be45e5));
}

static void
test_the_proof_is_siphash_under_the_seal (Fixture *f, gconstpointer unused)
{
  (void)unused;
  static const guint8 seal[ROWSUM_SEAL_BYTES]
      = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
  static const guint8 data[15] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };
  Sql sql = { .identity = f->sql->identity };
  Rowsum open = rowsum_begin (&sql);
  rowsum_add_bare (&open, data, sizeof data);
  rowsum_seal (&sql, seal);
  Rowsum sealed = rowsum_begin (&sql);
  rowsum_add_bare (&sealed, data, sizeof data);
  RowsumValue without = rowsum_end (&open), with = rowsum_end (&sealed);

  g_assert_cmphex (with.proof, ==, G_GUINT64_CONSTANT (0xa129ca6149be45e5));
  g_assert_cmphex (with.sum, ==, without.sum);
  g_assert_cmphex (without.proof, ==, 0);

  guint64 words[] = { GUINT64_TO_LE (with.sum), GUINT64_TO_LE (with.proof) };
  RecordColumn stored = { .kind = 'b', .data = (guint8 *)words, .size = sizeof words };
  g_assert_true (rowsum_agrees (&sql, with, &stored));
  words[1] ^= 1;
  g_assert_false (rowsum_agrees (&sql, with, &stored));
  g_assert_cmphex (rowsum_stored (&stored), ==, with.sum);
  RecordColumn old = { .kind = 'i', .integer = (gint64)with.sum };
  g_assert_false (rowsum_agrees (&sql, with, &old));
  rowsum_seal (&sql, NULL);
  g_assert_true (rowsum_agrees (&sql, without, &stored));
  g_assert_true (rowsum_agrees (&sql, without, &old));
}

/* The checksum that SQL computes over the columns is the same as the one computed without SQL. */
static void
test_the_checksum_is_the_same_without_sql (Fixture *f, gconstpointer unused)
{
  (void)unused;
  Rowsum sum = rowsum_begin (f->sql);
  static const char text[] = "a text of thirty-one characters";
  rowsum_add_text (&sum, "result", 6);
  rowsum_add_null (&sum);
  rowsum_add_integer (&sum, -5);
  rowsum_add_real (&sum, 0.5);
  rowsum_add_text (&sum, text, sizeof text - 1);
  rowsum_add_blob (&sum, "\x01\x02\x03", 3);
  rowsum_add_text (&sum, "", 0);
  g_autofree char *query
      = g_strdup_printf ("SELECT row_holds (row_sum ('result', NULL, -5, 0.5, '%s', x'010203', ''),"
                         " 'result', NULL, -5, 0.5, '%s', x'010203', '')",
                         text, text);

  g_assert_cmpint (number_of (f->sql, query), ==, 1);
  g_assert_cmphex (rowsum_end (&sum).sum, ==, f->sql->last_sum);
}

/* All files of a program number its jobs in the same way, so a file that lost its table `job` can
 * still be read. */
static void
test_a_file_without_its_jobs_is_read_by_the_program (Fixture *f, gconstpointer unused)
{
  (void)unused;
  static const char *const names[] = { "other", "job", NULL }, *const types[] = { "s", "x", NULL };
  ResultsQuery all = { 0 };
  guint64 bad = 0;
  g_autoptr (GString) text = g_string_new (NULL);
  g_assert_true (put (f, "/0", 1, 1));
  g_assert_true (sql_run (f->sql, "DELETE FROM job", NULL));

  g_assert_true (results_each (f->sql, &all, add_path, text, &bad, NULL));
  g_assert_cmpuint (bad, ==, 1);
  all.job_names = names;
  all.job_types = types;
  g_assert_true (results_each (f->sql, &all, add_path, text, &bad, NULL));
  g_assert_cmpuint (bad, ==, 1);
  g_assert_cmpstr (text->str, ==, "/0=1 ");
}

/* Anybody can make checksums: a path with a NUL in it would be taken for the path before the NUL.
 */
static void
test_a_path_with_a_nul_is_none (Fixture *f, gconstpointer unused)
{
  (void)unused;
  ResultsQuery all = { 0 };
  guint64 bad = 0;
  g_autoptr (GString) text = g_string_new (NULL);
  g_assert_true (put (f, "/0", 1, 1));
  g_assert_true (sql_run (f->sql,
                          "INSERT INTO result SELECT '/1' || char (0) || '2', node, job, digest,"
                          " value, work_s, saved, weight, json, args, began, took_ms,"
                          " row_sum ('result', '/1' || char (0) || '2', node, job, digest, value,"
                          " work_s, saved, weight, json, args, began, took_ms) FROM result",
                          NULL));
  g_assert_true (results_each (f->sql, &all, add_path, text, &bad, NULL));
  g_assert_cmpstr (text->str, ==, "/0=1 ");
  g_assert_cmpuint (bad, ==, 1);
}

/* A row far below a saved one is recognised without a walk over all the stems between. */
static void
test_rows_deep_below_a_saved_one_are_dropped_quickly (Fixture *f, gconstpointer unused)
{
  (void)unused;
  enum
  {
    DEPTH = 10000
  };
  g_autofree char *above = g_strdup ("/0/5");
  double began_s = processor_s ();
  g_assert_true (results_begin (f->results, NULL));
  g_assert_true (put (f, "/0", 1, 1));
  for (int i = 0; i < DEPTH; i++)
    {
      g_autofree char *id = g_strdup_printf ("%016x", i);
      results_meet_stem (f->results, id, above);
      g_free (above);
      above = g_strdup_printf ("~%s/5", id);
    }
  for (int i = DEPTH - 1; i >= 0; i--)
    {
      g_autofree char *path = g_strdup_printf ("~%016x/7", i);
      g_assert_false (put (f, path, 2, 1));
    }
  g_assert_true (results_commit (f->results, NULL));
  g_assert_cmpfloat (processor_s () - began_s, <, 20);
  assert_rows (f->sql, "/0=1");

  /* A row that was rolled back covers nothing. */
  g_assert_true (results_begin (f->results, NULL));
  g_assert_true (put (f, "", 3, 1));
  g_assert_false (put (f, "~0000000000000000/8", 2, 1));
  results_rollback (f->results);
  assert_rows (f->sql, "/0=1");
}

#define LONG_BYTES 20000
#define LONG_ROWS 200

/* The number of pages that are written when a row at `path` replaces long rows, the children of
 * `parent`. */
static int
pages_written_for (Fixture *f, const char *path, const char *parent)
{
  guint8 digest[16] = { 1 };
  g_autoptr (GBytes) value = g_bytes_new_take (g_malloc0 (LONG_BYTES), LONG_BYTES);
  int written, most;
  g_assert_true (results_begin (f->results, NULL));
  for (guint i = 0; i < LONG_ROWS; i++)
    {
      g_autofree char *below = g_strdup_printf ("%s/%u", parent, i);
      Result row = { .path = below,
                     .node = "1.1.00000001",
                     .job = "job",
                     .type = "ay",
                     .digest = digest,
                     .digest_size = sizeof digest,
                     .value = value,
                     .work_s = 1 };
      g_assert_true (put_typed (f, row, NULL));
    }
  g_assert_true (results_commit (f->results, NULL));
  sqlite3_db_status (f->sql->db, SQLITE_DBSTATUS_CACHE_WRITE, &written, &most, TRUE);
  g_assert_true (results_begin (f->results, NULL));
  g_assert_true (put (f, path, 2, 0));
  g_assert_true (results_commit (f->results, NULL));
  sqlite3_db_status (f->sql->db, SQLITE_DBSTATUS_CACHE_WRITE, &written, &most, TRUE);
  return written;
}

/* Removed rows are not overwritten, however SQLite was built. */
static void
test_long_rows_go_without_being_written (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_assert_cmpint (pages_written_for (f, "/7", "/7"), <, 2 * LONG_ROWS);
  assert_rows (f->sql, "/7=200");
  g_assert_cmpint (pages_written_for (f, "", "/8"), <, LONG_ROWS);
  assert_rows (f->sql, "root=400");
}

int
main (int argc, char **argv)
{
  static const NamedTest tests[] = {
    { "/cell/values-come-back-bit-for-bit", test_values_come_back_bit_for_bit },
    { "/results/a-new-row-takes-in-those-below-it", test_a_new_row_takes_in_those_below_it },
    { "/results/a-row-below-a-saved-one-is-dropped", test_a_row_below_a_saved_one_is_dropped },
    { "/results/of-equal-paths-the-same-stays-and-the-newer-other-wins",
      test_of_equal_paths_the_same_stays_and_the_newer_other_wins },
    { "/results/roots-are-rows-beside-each-other", test_roots_are_rows },
    { "/results/compaction-is-closed-over-stems", test_compaction_is_closed_over_stems },
    { "/results/a-row-at-a-stem-takes-in-what-continues-it",
      test_a_row_at_a_stem_takes_in_what_continues_it },
    { "/results/the-root-takes-in-everything", test_the_root_takes_in_everything },
    { "/results/a-rollback-brings-back-rows-stems-and-totals",
      test_a_rollback_brings_back_rows_stems_and_totals },
    { "/results/any-order-leaves-an-antichain", test_any_order_leaves_an_antichain },
    { "/results/twenty-thousand-rows-are-written-well-under-a-second",
      test_twenty_thousand_rows_are_written_well_under_a_second },
    { "/rowsum/a-row-that-was-changed-does-not-verify",
      test_a_row_that_was_changed_does_not_verify },
    { "/rowsum/the-checksum-is-siphash", test_the_checksum_is_siphash },
    { "/rowsum/the-proof-is-siphash-under-the-seal", test_the_proof_is_siphash_under_the_seal },
    { "/rowsum/the-checksum-is-the-same-without-sql", test_the_checksum_is_the_same_without_sql },
    { "/names/a-file-without-its-jobs-is-read-by-the-program",
      test_a_file_without_its_jobs_is_read_by_the_program },
    { "/storage/a-path-with-a-nul-is-none", test_a_path_with_a_nul_is_none },
    { "/results/long-rows-go-without-being-written", test_long_rows_go_without_being_written },
    { "/results/rows-deep-below-a-saved-one-are-dropped-quickly",
      test_rows_deep_below_a_saved_one_are_dropped_quickly },
  };
  return run_tests (argc, argv, tests, G_N_ELEMENTS (tests));
}
