/* SPDX-License-Identifier: BSD-3-Clause */
/* What a file says of its run (coordinator/identity.c): what stays and what is replaced when it is
 * taken over, and how two identities are compared. Links coordinator, storage and value. */
#include "coordinator/identity.h"

#include "storage/rowsum.h"
#include "storage/sql.h"
#include "storage/tables.h"

#include <string.h>

#define BUILD "0123456789abcdef0123456789abcdef"
#define OTHER_BUILD "1123456789abcdef0123456789abcdef"

static Identity
sample (const char *run, const char *app, const char *argument)
{
  const char *argv[] = { argument, "two words", NULL };
  Identity identity = { .run = g_strdup (run),
                        .app = g_strdup (app),
                        .argv = g_strdupv ((char **)argv),
                        .schema = digest_of_string ("schema") };
  g_autofree char *whole = g_strconcat (app, argument, NULL);
  identity.identity = digest_of_string (whole);
  return identity;
}

static void
save (Sql *sql, const Identity *identity)
{
  g_autoptr (GError) error = NULL;
  g_assert_true (sql_run (sql, "BEGIN", &error));
  g_assert_true (identity_save (sql, identity, &error));
  g_assert_true (sql_run (sql, "COMMIT", &error));
  g_assert_no_error (error);
}

/* A resumed run is still the run that began, with the id and the time of its beginning. All else is
 * that of the new start: a file without a mark must not show the mark of another command line. */
static void
test_taken_over (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Sql) sql = sql_create_private (0, &error);
  char hex[DIGEST_HEX_LENGTH + 1];
  Identity found;
  Identity first = sample ("run-1", "app", "\xff\n8"), second = sample ("run-2", "app", "\xff\n8");
  g_assert_no_error (error);
  digest_to_hex (&first.identity, hex);
  rowsum_identify (sql, hex);
  first.mark = g_strdup ("a mark");
  first.name = g_strdup ("one");
  first.build = g_strdup (BUILD);
  second.name = g_strdup ("two");
  save (sql, &first);
  g_assert_true (tables_set (sql, "started", "5", NULL));
  save (sql, &second);
  g_assert_true (identity_load (sql, "t", &found, &error));
  g_autofree char *started = tables_get_string (sql, "started", NULL);
  g_assert_cmpstr (found.run, ==, "run-1");
  g_assert_cmpstr (started, ==, "5");
  g_assert_cmpstr (found.mark, ==, "");
  g_assert_cmpstr (found.name, ==, "two");
  g_assert_cmpstr (found.build, ==, BUILD); /* the second has none */
  g_assert_true (g_strv_equal ((const char *const *)found.argv, (const char *const *)first.argv));
  g_assert_true (digest_equal (&found.identity, &first.identity));
  g_assert_true (digest_equal (&found.schema, &first.schema));
  g_assert_null (found.folder);
  identity_clear (&found);
  identity_clear (&first);
  identity_clear (&second);
}

static void
lose_nothing (Identity *identity)
{
  (void)identity;
}

static void
lose_app (Identity *identity)
{
  g_clear_pointer (&identity->app, g_free);
}

static void
lose_schema (Identity *identity)
{
  memset (&identity->schema, 0, sizeof identity->schema);
}

static void
lose_argv (Identity *identity)
{
  g_clear_pointer (&identity->argv, g_strfreev);
}

static void
have_no_words (Identity *identity)
{
  g_strfreev (identity->argv);
  identity->argv = g_new0 (char *, 1);
}

static void
be_of_other_schema (Identity *identity)
{
  identity->schema = digest_of_string ("other");
}

/* The message names the first difference. What a damaged file has lost is no difference. */
static void
test_differences (void)
{
  static const struct
  {
    const char *app, *argument;
    void (*change) (Identity *identity);
    const char *words;
  } table[] = {
    { "other", "8", lose_nothing, "it is of the program 'other', this is 'app'" },
    { "other", "8", lose_app, "its identity is another one" },
    { "other", "9", be_of_other_schema, "it is of the program 'other', this is 'app'" },
    { "app", "9", be_of_other_schema, "another version of 'app': the job tables differ" },
    { "app", "9", lose_schema, "with the arguments 9 'two words', these are 8 'two words'" },
    { "app", "9", lose_nothing, "with the arguments 9 'two words', these are 8 'two words'" },
    { "app", "$x", lose_nothing, "with the arguments '$x' 'two words'" },
    { "app", "", lose_nothing, "with the arguments '' 'two words'" },
    { "app", "9", have_no_words, "with the arguments (none), these are 8" },
    { "app", "9", lose_argv, "its arguments are lost, and with 8 'two words'" },
  };
  Identity wanted = sample ("run-1", "app", "8");
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_autoptr (GError) error = NULL;
      Identity found = sample ("run-1", table[i].app, table[i].argument);
      table[i].change (&found);
      g_assert_false (identity_matches (&found, &wanted, "place", &error));
      g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, table[i].words));
      g_assert_nonnull (strstr (error->message, "'place' belongs to another run"));
      identity_clear (&found);
    }
  identity_clear (&wanted);
}

/* Results of another build are used only if the user says so. */
static void
test_builds (void)
{
  static const struct
  {
    const char *found, *wanted;
    gboolean mended;
    const char *words; /* NULL: they match */
  } table[] = {
    { BUILD, BUILD, FALSE, NULL },
    { BUILD, NULL, FALSE, NULL },
    { NULL, NULL, FALSE, NULL },
    { BUILD, OTHER_BUILD, TRUE, NULL },
    { NULL, BUILD, TRUE, NULL },
    { BUILD, OTHER_BUILD, FALSE,
      "was made by build 0123456789ab, and this program is build 1123456789ab:" },
    { NULL, BUILD, FALSE, "does not say which build made it, and this program is build 0123" },
    { "1.0", "2.0", FALSE, "was made by '1.0', and this program is '2.0'" },
    { BUILD "-1", BUILD, FALSE, "was made by '" BUILD "-1'" },
    { BUILD "0", BUILD, FALSE, "was made by '" BUILD "0'" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_autoptr (GError) error = NULL;
      Identity found = sample ("run-1", "app", "8"), wanted = sample ("run-2", "app", "8");
      found.build = g_strdup (table[i].found);
      wanted.build = g_strdup (table[i].wanted);
      wanted.mended = table[i].mended;
      g_assert_cmpint (identity_matches (&found, &wanted, "place", &error), ==,
                       table[i].words == NULL);
      if (table[i].words != NULL)
        {
          g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE);
          g_assert_nonnull (strstr (error->message, table[i].words));
        }
      identity_clear (&found);
      identity_clear (&wanted);
    }
}

/* People are told the name that they know, not that of a copy. */
static void
test_names_in_errors (void)
{
  static const char *const cases[][3]
      = { { "/tmp/copy", "s3://a/b", "cannot read 's3://a/b': no 's3://a/b'" },
          { NULL, "s3://a/b", "cannot read '/tmp/copy': no '/tmp/copy'" },
          { "/tmp/copy", NULL, "cannot read '/tmp/copy': no '/tmp/copy'" } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = g_error_new_literal (COORDINATOR_ERROR, COORDINATOR_ERROR_STORE,
                                                      "cannot read '/tmp/copy': no '/tmp/copy'");
      identity_rename_error (error, cases[i][0], cases[i][1]);
      g_assert_cmpstr (error->message, ==, cases[i][2]);
    }
  identity_rename_error (NULL, "a", "b");
}

/* Each single byte counts, of a build and of an identity. */
static void
test_near_misses (void)
{
  Identity found = sample ("run-1", "app", "8"), wanted = sample ("run-1", "app", "8");
  found.build = g_strdup (BUILD);
  wanted.build = g_strdup (BUILD);
  g_assert_true (identity_matches (&found, &wanted, "t", NULL));
  struct
  {
    char *bytes;
    gsize size;
  } parts[]
      = { { found.build, strlen (BUILD) }, { (char *)found.identity.bytes, sizeof (Digest) } };
  for (guint p = 0; p < G_N_ELEMENTS (parts); p++)
    for (gsize i = 0; i < parts[p].size; i++)
      {
        g_autoptr (GError) error = NULL;
        parts[p].bytes[i] ^= 1;
        g_assert_false (identity_matches (&found, &wanted, "t", &error));
        g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE);
        parts[p].bytes[i] ^= 1;
      }
  identity_clear (&found);
  identity_clear (&wanted);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/identity/taken-over", test_taken_over);
  g_test_add_func ("/identity/differences", test_differences);
  g_test_add_func ("/identity/builds", test_builds);
  g_test_add_func ("/identity/names-in-errors", test_names_in_errors);
  g_test_add_func ("/identity/near-misses", test_near_misses);
  return g_test_run ();
}
