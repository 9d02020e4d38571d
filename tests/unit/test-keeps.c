/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the kept states of storage/: which rows they remove and what covers them, also compared
 * with a plain model. Links storage, GLib and SQLite, and no other room. */
#include "store.h"
#include "processor.h"

#include "storage/rowsum.h"

/* A state of the job at `path` that is `children` squared. TRUE: written. */
static gboolean
put_keep (Fixture *f, const char *path, guint32 children, guint8 digest)
{
  guint8 bytes[16];
  memset (bytes, digest, sizeof bytes);
  guint64 little = GUINT64_TO_LE ((guint64)children * children);
  g_autoptr (GBytes) value = g_bytes_new (&little, sizeof little);
  Keep keep = { .path = path,
                .children = children,
                .digest = bytes,
                .digest_size = sizeof bytes,
                .type = "x",
                .value = value,
                .args = path[0] != '\0' ? path : NULL,
                .args_size = strlen (path) };
  gboolean written = FALSE;
  g_assert_true (results_put_keep (f->results, &keep, 1000, &written, NULL));
  return written;
}

static gboolean
add_keep (const Keep *keep, gpointer data, GError **error)
{
  (void)error;
  guint64 number;
  g_assert_cmpuint (g_bytes_get_size (keep->value), ==, sizeof number);
  memcpy (&number, g_bytes_get_data (keep->value, NULL), sizeof number);
  g_assert_cmpuint (GUINT64_FROM_LE (number), ==, (guint64)keep->children * keep->children);
  g_assert_cmpstr (keep->type, ==, "x");
  g_assert_cmpuint (keep->args_size, ==, strlen (keep->path));
  g_assert_true (keep->args_size == 0 || memcmp (keep->args, keep->path, keep->args_size) == 0);
  g_string_append_printf (data, "%s=%u ", keep->path[0] != '\0' ? keep->path : "root",
                          keep->children);
  return TRUE;
}

static void
assert_keeps (Sql *sql, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint64 bad = 0;
  g_assert_true (keeps_each (sql, add_keep, text, &bad, NULL));
  g_assert_cmpuint (bad, ==, 0);
  g_assert_cmpstr (g_strchomp (text->str), ==, expected);
}

static void
test_a_kept_state_stands_for_its_phases (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_assert_true (put (f, "/0/1", 1, 1));
  g_assert_true (put (f, "/0/2/7", 1, 2));
  g_assert_true (put (f, "/0/10", 1, 4));
  g_assert_true (put (f, "/0/3", 1, 8));
  g_assert_true (put (f, "/1", 1, 16));
  g_assert_true (put (f, "/00x", 1, 32)); /* no path, but it sorts between paths */
  g_assert_true (put_keep (f, "/0/2", 1, 1));

  g_assert_true (put_keep (f, "/0", 3, 1));

  assert_rows (f->sql, "/0/10=4 /0/3=8 /00x=32 /1=16");
  assert_keeps (f->sql, "/0=3");
  g_assert_false (put (f, "/0/2/8", 1, 1));
  g_assert_false (put (f, "/0/0", 1, 1));
  g_assert_false (put_keep (f, "/0/1/1", 2, 1));
  g_assert_true (put (f, "/0/4", 1, 1));
  g_assert_true (put_keep (f, "/0/3/1", 2, 1) == FALSE); /* its parent has finished */
}

static void
test_the_greatest_number_wins (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_assert_true (put_keep (f, "", 5, 1));
  g_assert_false (put_keep (f, "", 5, 1));
  g_assert_false (put_keep (f, "", 4, 1));
  g_assert_true (put_keep (f, "", 4000000000, 1));
  assert_keeps (f->sql, "root=4000000000");

  g_assert_true (put_keep (f, "", 2, 2)); /* another digest: the newer */
  assert_keeps (f->sql, "root=2");
}

static void
test_a_result_takes_in_what_its_job_kept (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_assert_true (put (f, "/4/9", 1, 1));
  g_assert_true (put_keep (f, "/4", 8, 1));
  g_assert_true (put_keep (f, "/4/8/0", 3, 1));
  g_assert_true (put_keep (f, "/5", 1, 1));

  g_assert_true (put (f, "/4", 1, 5));

  assert_rows (f->sql, "/4=2001");
  assert_keeps (f->sql, "/5=1");
  g_assert_false (put_keep (f, "/4", 9, 1));
  g_assert_true (put (f, "", 1, 0));
  assert_keeps (f->sql, "");
}

static void
test_a_rollback_brings_kept_states_back (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_assert_true (results_begin (f->results, NULL));
  g_assert_true (put_keep (f, "/0", 2, 1));
  g_assert_true (results_commit (f->results, NULL));
  g_assert_true (results_begin (f->results, NULL));
  g_assert_true (put_keep (f, "/0", 3, 1));
  g_assert_true (put_keep (f, "/1", 3, 1));
  g_assert_true (put (f, "/0", 1, 1));

  results_rollback (f->results);

  assert_keeps (f->sql, "/0=2");
  g_assert_false (put (f, "/0/1", 1, 1));
  g_assert_true (put (f, "/1/1", 1, 1));
  g_assert_true (put_keep (f, "/0", 3, 1));
}

static void
test_a_changed_state_does_not_verify (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_autoptr (GString) text = g_string_new (NULL);
  guint64 bad = 0;
  g_assert_true (put_keep (f, "/0", 2, 1));
  g_assert_true (put_keep (f, "/1", 2, 1));
  g_assert_true (put_keep (f, "/2", 2, 1));
  g_assert_cmpint (sqlite3_exec (f->sql->db,
                                 "UPDATE keep SET children = 3 WHERE path = '/0';"
                                 "UPDATE keep SET value = 'x' WHERE path = '/2'",
                                 NULL, NULL, NULL),
                   ==, SQLITE_OK);

  g_assert_true (keeps_each (f->sql, add_keep, text, &bad, NULL));

  g_assert_cmpstr (text->str, ==, "/1=2 ");
  g_assert_cmpuint (bad, ==, 2);
}

/* ---- against a model ---- */

#define DEPTH_MAX 6
#define STEM_LEVELS 2 /* storage does not count levels: shallow stems stand for deep ones */

typedef struct
{
  guint32 numbers[DEPTH_MAX];
  guint depth;
  guint32 children; /* 0: a result */
} Entry;

/* The text of a path with a stem every STEM_LEVELS, made known. (transfer full) */
static char *
text_of (Fixture *f, const Entry *entry)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < entry->depth; i++)
    {
      if (i > 0 && i % STEM_LEVELS == 0)
        {
          g_autofree char *hash
              = g_compute_checksum_for_string (G_CHECKSUM_SHA256, text->str, (gssize)text->len);
          hash[RESULTS_STEM_ID_LENGTH] = '\0';
          results_meet_stem (f->results, hash, text->str);
          g_string_printf (text, "~%s", hash);
        }
      g_string_append_printf (text, "/%u", entry->numbers[i]);
    }
  return g_string_free (text, FALSE);
}

/* TRUE if the row `above` covers the row `below`. */
static gboolean
covers (const Entry *above, const Entry *below)
{
  if (above->depth > below->depth
      || memcmp (above->numbers, below->numbers, above->depth * sizeof (guint32)) != 0)
    return FALSE;
  if (above->children == 0)
    return TRUE;
  if (above->depth == below->depth)
    return below->children > 0 && below->children <= above->children;
  return below->numbers[above->depth] < above->children;
}

static gint64
count_wanted (const GArray *entries, gboolean kept)
{
  gint64 n = 0;
  for (guint i = 0; i < entries->len; i++)
    n += (g_array_index (entries, Entry, i).children > 0) == kept;
  return n;
}

static void
put_both (Fixture *f, GArray *entries, const Entry *entry)
{
  g_autofree char *text = text_of (f, entry);
  gboolean is_covered = FALSE;
  for (guint i = 0; i < entries->len; i++)
    is_covered = is_covered || covers (&g_array_index (entries, Entry, i), entry);
  gboolean written
      = entry->children > 0 ? put_keep (f, text, entry->children, 1) : put (f, text, 1, 1);
  g_assert_true (written != is_covered);
  for (guint i = entries->len; written && i-- > 0;)
    if (covers (entry, &g_array_index (entries, Entry, i)))
      g_array_remove_index_fast (entries, i);
  if (written)
    g_array_append_vals (entries, entry, 1);
}

static void
test_any_order_leaves_what_nothing_else_stands_for (Fixture *f, gconstpointer unused)
{
  (void)unused;
  for (int round = 0; round < 300; round++)
    {
      g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (Entry));
      g_assert_true (results_begin (f->results, NULL));
      for (int i = 0; i < 60; i++)
        {
          Entry entry = { .depth = (guint)g_test_rand_int_range (0, DEPTH_MAX + 1) };
          for (guint k = 0; k < entry.depth; k++)
            entry.numbers[k] = (guint32)g_test_rand_int_range (0, 12);
          if (entry.depth < 2 && i < 50) /* short paths cover too much too soon */
            continue;
          if (g_test_rand_int_range (0, 2) == 0)
            entry.children = (guint32)g_test_rand_int_range (1, 13);
          put_both (f, entries, &entry);
        }
      g_assert_cmpint (number_of (f->sql, "SELECT count(*) FROM result"), ==,
                       count_wanted (entries, FALSE));
      g_assert_cmpint (number_of (f->sql, "SELECT count(*) FROM keep"), ==,
                       count_wanted (entries, TRUE));
      for (guint i = 0; i < entries->len; i++)
        {
          const Entry *entry = &g_array_index (entries, Entry, i);
          g_autofree char *text = text_of (f, entry);
          g_autofree char *query = g_strdup_printf ("SELECT count(*) FROM %s WHERE path = '%s'",
                                                    entry->children > 0 ? "keep" : "result", text);
          g_assert_cmpint (number_of (f->sql, query), ==, 1);
        }
      /* Each stem has a row that continues it, or a job that has kept phases ends there. */
      g_assert_cmpint (
          number_of (f->sql,
                     "SELECT count(*) FROM stem WHERE NOT EXISTS (SELECT 1 FROM (SELECT path"
                     " FROM result UNION SELECT path FROM keep UNION SELECT path FROM stem)"
                     " AS p WHERE substr(p.path, 2, 16) = stem.id)"
                     " AND path NOT IN (SELECT path FROM keep)"),
          ==, 0);
      results_rollback (f->results);
    }
}

static void
test_keeping_costs_by_what_is_there (Fixture *f, gconstpointer unused)
{
  (void)unused;
  double start_s = processor_s ();
  g_assert_true (results_begin (f->results, NULL));
  for (int i = 0; i < 5000; i++)
    {
      g_autofree char *path = g_strdup_printf ("/1000000/%d", i);
      g_assert_true (put (f, path, 1, 0.001));
    }
  for (guint32 i = 1; i <= 5000; i++)
    g_assert_true (put_keep (f, "", i * 100, 1));
  g_assert_true (results_commit (f->results, NULL));

  g_test_message ("5,000 keeps over 5,000 rows of a later phase: %.3f s",
                  processor_s () - start_s);
  assert_keeps (f->sql, "root=500000");
  g_assert_cmpint (number_of (f->sql, "SELECT count(*) FROM result"), ==, 5000);
  g_assert_cmpfloat (processor_s () - start_s, <, 10);
}

/* Arguments are stored nowhere else, so the JSON text of the state gives way to them. Both together
 * take the bytes that a row may take more than in format 2. */
static void
test_arguments_come_before_the_text_of_the_state (Fixture *f, gconstpointer unused)
{
  static const struct
  {
    gsize of_value, of_args;
    gboolean has_json, has_args;
  } cases[] = { { 40, 0, TRUE, FALSE },  { 44, 14, TRUE, TRUE }, { 44, 15, FALSE, TRUE },
                { 45, 0, FALSE, FALSE }, { 10, 48, TRUE, TRUE }, { 11, 48, FALSE, TRUE },
                { 10, 49, TRUE, FALSE } };
  static const guint8 digest[16] = { 1 };
  (void)unused;
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u", (guint)i);
      g_autofree char *args = g_strnfill (cases[i].of_args, '7');
      /* A tuple of a text, which is [" and "] longer as JSON. */
      g_autofree char *text = g_strnfill (cases[i].of_value, 'x');
      g_autoptr (GBytes) value = g_bytes_new (text, cases[i].of_value + 1);
      Keep keep = { .path = path,
                    .children = 1,
                    .digest = digest,
                    .digest_size = sizeof digest,
                    .type = "(s)",
                    .value = value,
                    .args = cases[i].of_args > 0 ? args : NULL,
                    .args_size = cases[i].of_args };
      gboolean written;
      g_assert_true (results_put_keep (f->results, &keep, 0, &written, NULL));
      g_autofree char *question = g_strdup_printf (
          "SELECT (json IS NOT NULL) || (args IS NOT NULL) FROM keep WHERE path = '%s'", path);
      g_assert_cmpint (number_of (f->sql, question), ==,
                       10 * cases[i].has_json + cases[i].has_args);
    }
}

/* The checksum covers path, children, digest, type, value; json from format 3 on, args from format
 * 4 on. */
static void
test_rows_of_each_format_have_their_sum (Fixture *f, gconstpointer unused)
{
  (void)f, (void)unused;
  static const struct
  {
    guint n, nulls, summed;
  } cases[] = { { 5, 0, 5 }, { 6, 0, 6 }, { 6, 1, 5 }, { 7, 0, 7 }, { 7, 1, 6 }, { 7, 2, 5 } };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpuint (rowsum_n_summed ("keep", 4, cases[i].n, cases[i].nulls), ==, cases[i].summed);
}

/* Two digests are one if all their bytes are: another job's row or state replaces the old one. */
static void
test_digests_are_compared_whole (Fixture *f, gconstpointer unused)
{
  static const guint8 old[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
  guint8 last[16];
  g_autoptr (GBytes) value = g_bytes_new_static ("\x07\0\0\0\0\0\0\0", 8);
  const struct
  {
    const guint8 *digest;
    gsize size;
    gboolean same;
  } cases[] = { { old, 16, TRUE }, { old, 15, FALSE }, { last, 16, FALSE } };
  (void)f;
  memcpy (last, old, sizeof last);
  last[15]++;
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Fixture one;
      gboolean written;
      Keep keep = {
        .path = "/0", .children = 2, .digest = old, .digest_size = 16, .type = "x", .value = value
      };
      Result row = { .path = "/1",
                     .node = "",
                     .job = "job",
                     .type = "x",
                     .digest = old,
                     .digest_size = 16,
                     .value = value,
                     .saved = 1700000000 };
      set_up (&one, unused);
      g_assert_true (results_put_keep (one.results, &keep, 1, &written, NULL) && written);
      g_assert_true (put_typed (&one, row, NULL));
      keep.children = 1;
      keep.digest = row.digest = cases[i].digest;
      keep.digest_size = row.digest_size = cases[i].size;
      g_assert_true (results_put_keep (one.results, &keep, 1, &written, NULL));
      g_assert_cmpint (written, ==, !cases[i].same);
      g_assert_cmpint (put_typed (&one, row, NULL), ==, !cases[i].same);
      tear_down (&one, unused);
    }
}

int
main (int argc, char **argv)
{
  static const NamedTest tests[] = {
    { "/keeps/a-kept-state-stands-for-its-phases", test_a_kept_state_stands_for_its_phases },
    { "/keeps/the-greatest-number-wins", test_the_greatest_number_wins },
    { "/keeps/a-result-takes-in-what-its-job-kept", test_a_result_takes_in_what_its_job_kept },
    { "/keeps/a-rollback-brings-kept-states-back", test_a_rollback_brings_kept_states_back },
    { "/keeps/a-changed-state-does-not-verify", test_a_changed_state_does_not_verify },
    { "/keeps/any-order-leaves-what-nothing-else-stands-for",
      test_any_order_leaves_what_nothing_else_stands_for },
    { "/keeps/arguments-come-before-the-text-of-the-state",
      test_arguments_come_before_the_text_of_the_state },
    { "/keeps/rows-of-each-format-have-their-sum", test_rows_of_each_format_have_their_sum },
    { "/keeps/keeping-costs-by-what-is-there", test_keeping_costs_by_what_is_there },
    { "/keeps/digests-are-compared-whole", test_digests_are_compared_whole },
  };
  return run_tests (argc, argv, tests, G_N_ELEMENTS (tests));
}
