/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared bytes in the work file, and what a delta contains of rows that were changed in place. */
#include "storage/changes.h"
#include "storage/shares.h"
#include "store.h"

#define HEX "00112233445566778899aabbccddeeff"
#define CAFE "caf\xc3\xa9" /* five bytes, four letters */

static void
change (Fixture *f, const char *text)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (sql_run (f->sql, text, &error));
  g_assert_no_error (error);
}

static void
stands (Fixture *f, const char *wanted)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = shares_get (f->sql, HEX, &error);

  g_assert_no_error (error);
  if (wanted == NULL)
    g_assert_null (bytes);
  else
    g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), wanted,
                     strlen (wanted));
}

static gboolean
note (const char *hex, gint64 size, gpointer data, GError **error G_GNUC_UNUSED)
{
  g_string_append_printf (data, "%s %" G_GINT64_FORMAT "\n", hex, size);
  return TRUE;
}

/* Shares that are there already stay; a changed row counts as missing. */
static void
test_shares_prove_themselves (Fixture *f, gconstpointer unused G_GNUC_UNUSED)
{
  g_autoptr (GBytes) first = g_bytes_new_static (CAFE, strlen (CAFE));
  g_autoptr (GBytes) second = g_bytes_new_static ("\xff\0", 2);
  g_autoptr (GString) all = g_string_new (NULL);

  stands (f, NULL);
  g_assert_true (shares_put (f->sql, HEX, first, NULL));
  g_assert_true (shares_put (f->sql, HEX, second, NULL));
  stands (f, CAFE);
  g_assert_true (shares_put (f->sql, "ffff", second, NULL));
  g_assert_true (shares_each (f->sql, note, all, NULL));
  g_assert_cmpstr (all->str, ==, HEX " 5\nffff 2\n");
  change (f, "UPDATE constant SET value = 'cafe' WHERE name = 'share/" HEX "'");
  stands (f, NULL);
  change (f, "UPDATE constant SET value = '" CAFE "' WHERE name = 'share/" HEX "'");
  stands (f, CAFE);
  g_assert_true (shares_drop (f->sql, HEX, NULL));
  stands (f, NULL);
}

/* Rows of an earlier root weigh nothing when another root begins: a delta contains that change,
 * too. */
static void
test_a_delta_has_what_was_changed (Fixture *f, gconstpointer unused G_GNUC_UNUSED)
{
  guint64 bytes;

  g_assert_true (put (f, "", 1, 1));
  changes_begin (f->sql);
  g_assert_true (put (f, "1:/0", 2, 2));
  g_autoptr (Sql) delta = changes_copy (f->sql, 7, &bytes, NULL);
  assert_rows (delta, "root=1 1:/0=2");
  g_assert_cmpint (number_of (delta, "SELECT sum(weight * 1000) FROM result WHERE path = ''"), ==,
                   0);
}

int
main (int argc, char **argv)
{
  static const NamedTest tests[]
      = { { "/stored-shares/shares-prove-themselves", test_shares_prove_themselves },
          { "/stored-shares/a-delta-has-what-was-changed", test_a_delta_has_what_was_changed } };

  return run_tests (argc, argv, tests, G_N_ELEMENTS (tests));
}
