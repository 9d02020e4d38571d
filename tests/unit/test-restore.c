/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of coordinator/restore.c and identity.c. Links coordinator, storage and value. */
#include "checkpoint.h"

#include "storage/sql.h"

static void
write_checkpoint (Place *place, gboolean finished)
{
  NodeId one = { 1, 2, 3 }, two = { 1, 3, 4 }, mute = { 1, 4, 5 };
  g_autoptr (GBytes) input = g_bytes_new_static ("four lines\n", 11);
  g_autoptr (GBytes) best = g_bytes_new_static ("\x2a\0\0\0\0\0\0\0", 8);
  g_autoptr (GBytes) answer = g_bytes_new_static ("length 7\0\n", 10);
  Identity identity = identity_make ("run-1", "app", "8");
  Scribe *scribe = place_scribe (place, G_USEC_PER_SEC, &identity, NULL);
  g_assert_nonnull (scribe);
  identity_clear (&identity);

  scribe_joined (scribe, &one, "host1", "here", "unix:/one");
  scribe_joined (scribe, &two, "host2", "there", "unix:/two");
  scribe_joined (scribe, &mute, "host3", "there", ""); /* nobody can ask it */
  scribe_told (scribe, "left", &two, NULL, 0, "crashed", 0);
  scribe_constant (scribe, "input/a.tsp", "ay", input);
  scribe_best (scribe, "length", "x", best, NULL);
  save_one (scribe, row_make ("/0", 92, 1500000, 0.25));
  save_one (scribe, row_make ("/1/4", -1, 500000, 0.5));
  if (finished)
    scribe_answer (scribe, answer, 6);
  scribe_finish (scribe);
  place_wait (place, &place->n_final, 1);
  scribe_free (scribe);
}

static void
test_nothing_there_is_a_fresh_start (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  Restore restore;

  g_assert_true (restore_look (place->target, &restore, &error));
  g_assert_false (restore.exists);
  g_assert_true (g_file_set_contents (place->target, "", 0, NULL));
  g_assert_true (restore_look (place->target, &restore, &error));
  g_assert_false (restore.exists);
  g_autofree char *nowhere = g_build_filename (place->folder, "none", "x", NULL);
  g_assert_true (restore_look (nowhere, &restore, &error));
  g_assert_false (restore.exists);
  g_assert_no_error (error);
}

static void
test_a_look_finds_all_that_a_start_needs (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  Restore restore;
  write_checkpoint (place, FALSE);

  g_assert_true (restore_look (place->target, &restore, &error));

  g_assert_no_error (error);
  g_assert_true (restore.exists);
  g_assert_false (restore.finished);
  g_assert_cmpstr (restore.identity.run, ==, "run-1");
  g_assert_cmpstr (restore.identity.name, ==, "a name");
  g_assert_cmpstr (restore.identity.app, ==, "app");
  g_assert_cmpstr (restore.identity.program, ==, "/usr/bin/prog");
  g_assert_cmpstr (restore.identity.folder, ==, "/home/somebody");
  g_assert_cmpstr (restore.identity.options, ==, "[run]\nnodes=4\n");
  g_assert_cmpstr (restore.identity.version, ==, "0.1.0");
  g_assert_cmpuint (g_strv_length (restore.identity.argv), ==, 2);
  g_assert_cmpstr (restore.identity.argv[1], ==, "two words");
  g_assert_cmpuint (g_strv_length (restore.addresses), ==, 1);
  g_assert_cmpstr (restore.addresses[0], ==, "unix:/one");
  g_assert_cmpuint (restore.constants->len, ==, 1);
  RestoreConstant *constant = g_ptr_array_index (restore.constants, 0);
  g_assert_cmpstr (constant->name, ==, "input/a.tsp");
  g_assert_cmpmem (g_bytes_get_data (constant->value, NULL), g_bytes_get_size (constant->value),
                   "four lines\n", 11);
  g_assert_cmpuint (restore.bests->len, ==, 1);
  RestoreConstant *best = g_ptr_array_index (restore.bests, 0);
  g_assert_cmpstr (best->type, ==, "x");
  g_assert_cmpuint (g_bytes_get_size (best->value), ==, 8);
  g_assert_cmpuint (restore.rows, ==, 2);
  g_assert_cmpuint (restore.rows_bad, ==, 0);
  g_assert_cmpuint (restore.generation, ==, place->generation);
  g_assert_cmpfloat (restore.done, ==, 0.75);
  restore_clear (&restore);
}

static void
test_a_finished_checkpoint_gives_its_answer (void)
{
  g_autoptr (Place) place = place_new ();
  Restore restore;
  write_checkpoint (place, TRUE);

  g_assert_true (restore_look (place->target, &restore, NULL));

  g_assert_true (restore.finished);
  g_assert_cmpint (restore.exit_code, ==, 6);
  g_assert_cmpmem (g_bytes_get_data (restore.answer, NULL), g_bytes_get_size (restore.answer),
                   "length 7\0\n", 10);
  restore_clear (&restore);
}

/* An answer is believed only together with its exit code. */
static void
test_half_an_answer_is_none (void)
{
  static const char *const halves[] = { "answer", "exit" };
  for (gsize i = 0; i < G_N_ELEMENTS (halves); i++)
    {
      g_autoptr (Place) place = place_new ();
      /* It is stored twice. */
      g_autofree char *text = g_strdup_printf ("DELETE FROM run WHERE key = '%s';"
                                               "DELETE FROM constant WHERE name = 'run/%s'",
                                               halves[i], halves[i]);
      Restore restore;
      sqlite3 *db = NULL;
      write_checkpoint (place, TRUE);
      g_assert_cmpint (sqlite3_open (place->target, &db), ==, SQLITE_OK);
      g_assert_cmpint (sqlite3_exec (db, text, NULL, NULL, NULL), ==, SQLITE_OK);
      g_assert_cmpint (sqlite3_changes (db), ==, 1);
      g_assert_cmpint (sqlite3_close (db), ==, SQLITE_OK);
      g_assert_true (restore_look (place->target, &restore, NULL));
      g_assert_true (restore.exists && !restore.finished);
      g_assert_cmpint (restore.exit_code, ==, 0);
      restore_clear (&restore);
    }
}

static void
test_any_argument_comes_back_as_it_was (void)
{
  g_autoptr (Place) place = place_new ();
  char *argv[] = { (char *)"", (char *)"a'b\"c\\d\n", (char *)"\xff\x01", (char *)"ü", NULL };
  Identity identity = identity_make ("run-1", "app", "8");
  g_strfreev (identity.argv);
  identity.argv = g_strdupv (argv);
  g_free (identity.folder);
  identity.folder = g_strdup ("/not\xff\xfeutf8");
  Scribe *scribe = place_scribe (place, G_USEC_PER_SEC, &identity, NULL);
  scribe_finish (scribe);
  place_wait (place, &place->n_final, 1);
  scribe_free (scribe);
  Restore restore;

  g_assert_true (restore_look (place->target, &restore, NULL));

  g_assert_cmpuint (g_strv_length (restore.identity.argv), ==, 4);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpstr (restore.identity.argv[i], ==, argv[i]);
  g_assert_cmpstr (restore.identity.folder, ==, identity.folder);
  g_assert_true (restore_matches (&restore, &identity, place->target, NULL));
  restore_clear (&restore);
  identity_clear (&identity);
}

static void
assert_other (const Restore *restore, const Identity *identity, const char *word)
{
  g_autoptr (GError) error = NULL;
  g_assert_false (restore_matches (restore, identity, "x.ckpt", &error));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE);
  if (strstr (error->message, word) == NULL || strstr (error->message, "x.ckpt") == NULL)
    g_error ("'%s' is not in: %s", word, error->message);
}

static void
test_a_checkpoint_of_something_else_is_named (void)
{
  g_autoptr (Place) place = place_new ();
  Restore restore;
  write_checkpoint (place, FALSE);
  g_assert_true (restore_look (place->target, &restore, NULL));
  Identity same = identity_make ("run-2", "app", "8");
  Identity program = identity_make ("run-2", "prog", "8");
  Identity arguments = identity_make ("run-2", "app", "9");
  Identity table = identity_make ("run-2", "app", "8");
  table.schema = digest_of_string ("other");
  table.identity = digest_of_string ("other");

  g_assert_true (restore_matches (&restore, &same, place->target, NULL));
  assert_other (&restore, &program, "program 'app', this is 'prog'");
  assert_other (&restore, &arguments, "arguments 8 'two words', these are 9");
  assert_other (&restore, &table, "job tables differ");
  g_clear_pointer (&restore.identity.argv, g_strfreev);
  assert_other (&restore, &arguments, "its arguments are lost, and with 9 'two words' its");

  restore_clear (&restore);
  identity_clear (&same);
  identity_clear (&program);
  identity_clear (&arguments);
  identity_clear (&table);
}

static void
test_errors_name_the_exit_code (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  Restore restore;

  g_assert_false (restore_look (place->folder, &restore, &error));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
  g_assert_cmpint (error->code, ==, 4);
  g_clear_error (&error);
  g_assert_true (g_file_set_contents (place->target, "text", 4, NULL));
  g_assert_false (restore_look (place->target, &restore, &error));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE);
  g_assert_cmpint (error->code, ==, 3);
  g_assert_false (restore.exists);
}

static void
test_people_see_rows_and_nodes (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  RestoreQuery by_path = { 0 }, largest = { .largest = TRUE, .limit = 1 };
  RestoreQuery nobody = { .node = "7.7.00000007" };
  g_assert_null (restore_open (place->target, &error));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
  write_checkpoint (place, FALSE);

  g_autoptr (Sql) file = restore_open (place->target, NULL);
  g_assert_nonnull (file);
  g_autoptr (GPtrArray) rows = restore_rows (file, &by_path, NULL);
  g_autoptr (GPtrArray) first = restore_rows (file, &largest, NULL);
  g_autoptr (GPtrArray) none = restore_rows (file, &nobody, NULL);
  g_autoptr (GPtrArray) nodes = restore_nodes (file, NULL);

  g_assert_cmpuint (rows->len, ==, 2);
  RestoreRow *row = g_ptr_array_index (rows, 0);
  g_assert_cmpstr (row->path, ==, "/0");
  g_assert_cmpstr (row->job, ==, "queens");
  g_assert_cmpstr (row->value, ==, "92");
  g_assert_cmpfloat (row->work_s, ==, 1.5);
  g_assert_cmpuint (row->size, ==, 8);
  g_assert_cmpuint (first->len, ==, 1);
  g_assert_cmpstr (((RestoreRow *)g_ptr_array_index (first, 0))->path, ==, "/1/4");
  g_assert_cmpuint (none->len, ==, 0);
  g_assert_cmpuint (nodes->len, ==, 3);
  RestoreNode *node = g_ptr_array_index (nodes, 0);
  g_assert_cmpstr (node->name, ==, "host1");
  g_assert_cmpuint (node->rows, ==, 2);
  g_assert_cmpfloat (node->work_s, ==, 2.0);
  g_assert_cmpint (node->left, ==, 0);
  node = g_ptr_array_index (nodes, 1);
  g_assert_cmpstr (node->cause, ==, "crashed");
  g_assert_cmpuint (node->rows, ==, 0);
}

/* A wrong byte in a row of any table is reported, whatever the row is for, and so are the numbers
 * of rows and of results that are damaged or missing. Each counts once. */
static void
test_damage_of_any_table_is_told (void)
{
  static const struct
  {
    const char *text;
    guint n_bad;
  } damages[]
      = { { "UPDATE event SET detail = 'other' WHERE id = (SELECT max (id) FROM event)", 0 },
          { "UPDATE run SET value = 'other' WHERE key = 'done'", 0 },
          { "UPDATE job SET name = 'other'", 0 },
          { "UPDATE node SET host = 'other'", 0 },
          { "UPDATE result SET work_s = 99 WHERE path = '/0/1'", 1 },
          { "DELETE FROM result WHERE path = '/0/2'", 1 } };
  for (gsize i = 0; i < G_N_ELEMENTS (damages); i++)
    {
      g_autoptr (Place) place = place_new ();
      Restore restore;
      sqlite3 *db = NULL;
      Scribe *scribe = start (place, HOUR_US, "run-1");
      NodeId node = { 1, 2, 3 };
      scribe_joined (scribe, &node, "host1", "here", "unix:/one");
      scribe_event (scribe, "began", &node, NULL, 0, "as it should");
      save_one (scribe, row_make ("/0/1", 1, 1000, 0.1));
      save_one (scribe, row_make ("/0/2", 1, 1000, 0.1));
      finish (place, scribe);
      scribe_free (scribe);
      g_assert_true (restore_look (place->target, &restore, NULL));
      g_assert_null (restore.damage);
      restore_clear (&restore);
      g_assert_cmpint (sqlite3_open (place->target, &db), ==, SQLITE_OK);
      g_assert_cmpint (sqlite3_exec (db, damages[i].text, NULL, NULL, NULL), ==, SQLITE_OK);
      g_assert_cmpint (sqlite3_changes (db), ==, 1);
      g_assert_cmpint (sqlite3_close (db), ==, SQLITE_OK);
      g_assert_true (restore_look (place->target, &restore, NULL));
      g_assert_true (g_str_has_prefix (restore.damage, "1 of "));
      g_autofree char *results = g_strdup_printf ("(%u of 2 results)", damages[i].n_bad);
      g_assert_nonnull (strstr (restore.damage, results));
      g_assert_cmpuint (restore.rows_bad, ==, damages[i].n_bad);
      restore_clear (&restore);
    }
}

/* A copy is another file with the same rows. It replaces nothing, and nothing else is left. */
static void
test_a_copy_replaces_nothing (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *to = g_build_filename (place->folder, "copy", NULL);
  write_checkpoint (place, FALSE);
  g_assert_true (restore_copy (place->target, to, &error));
  g_assert_no_error (error);
  assert_answer (to, "SELECT count(*) FROM result", "2");
  g_assert_true (g_file_set_contents (to, "somebody's", -1, NULL));
  g_assert_false (restore_copy (place->target, to, &error));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
  g_assert_nonnull (strstr (error->message, "is there already"));
  g_autoptr (GBytes) stands = contents (to);
  g_assert_cmpmem (g_bytes_get_data (stands, NULL), g_bytes_get_size (stands), "somebody's", 10);
  g_assert_cmpuint (place_strangers (place), ==, 1);
}

/* A wrong answer would be worse than none: an input that a damaged file lost is read again only if
 * it is proved to be the same. */
static void
test_a_lost_input_is_not_replaced_by_another (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) old = g_bytes_new_static ("towns", 5),
                     newer = g_bytes_new_static ("cities", 6);
  Scribe *scribe = start (place, HOUR_US, "run-1");
  scribe_constant (scribe, "input/a b.tsp", "ay", old);
  scribe_constant (scribe, "const/x", "ay", newer);
  finish (place, scribe);
  scribe_free (scribe);
  sqlite3 *db = NULL;
  g_assert_cmpint (sqlite3_open (place->target, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, "PRAGMA application_id=5; DELETE FROM constant", 0, 0, 0), ==,
                   SQLITE_OK);

  Restore restore;
  g_assert_true (restore_look (place->target, &restore, &error));
  g_assert_true (restore_input_is_sound (&restore, "a b.tsp", old, place->target, &error));
  g_assert_true (restore_input_is_sound (&restore, "other", newer, place->target, &error));
  g_assert_false (restore_input_is_sound (&restore, "a b.tsp", newer, place->target, &error));
  g_assert_nonnull (strstr (error->message, "put back the old file"));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE);
  g_clear_error (&error);
  restore_clear (&restore);
  g_assert_cmpint (sqlite3_exec (db, "DELETE FROM run WHERE key = 'inputs'", 0, 0, 0), ==,
                   SQLITE_OK);
  sqlite3_close (db);
  g_assert_true (restore_look (place->target, &restore, &error));
  g_assert_false (restore_input_is_sound (&restore, "a b.tsp", old, place->target, &error));
  restore_clear (&restore);
  restore = (Restore){ 0 }; /* a sound file of a run that has read nothing */
  g_assert_true (restore_input_is_sound (&restore, "a b.tsp", old, place->target, NULL));
}

/* A checkpoint of a run that has read this input and has made a constant of it. */
static void
write_values (Place *place, const char *read)
{
  g_autoptr (GBytes) bytes = g_bytes_new (read, strlen (read));
  Identity identity = identity_make ("run-1", "app", "8");
  identity.build = g_strdup ("00112233445566778899aabbccddeeff");
  identity.mark = g_strdup ("a mark");
  Scribe *scribe = place_scribe (place, G_USEC_PER_SEC, &identity, NULL);
  scribe_constant (scribe, "input/a.tsp", "ay", bytes);
  scribe_constant (scribe, "const/cities", "ay", bytes);
  save_one (scribe, row_make ("/0", 92, 1500000, 0.25));
  scribe_finish (scribe);
  place_wait (place, &place->n_final, 1);
  scribe_free (scribe);
  identity_clear (&identity);
}

static void
assert_values (const char *target, gboolean is_mended, const char *word)
{
  g_autoptr (GError) error = NULL;
  Restore restore;
  g_assert_true (restore_look (target, &restore, &error));
  gboolean good = restore_values_are_sound (&restore, is_mended, target, &error);
  restore_clear (&restore);
  g_assert_true (good == (word == NULL));
  if (good)
    return;
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE);
  if (strstr (error->message, word) == NULL)
    g_error ("'%s' is not in: %s", word, error->message);
}

static void
test_values_of_another_run_are_not_used (void)
{
  g_autoptr (Place) place = place_new (), other = place_new ();
  g_autofree char *attach = NULL;
  sqlite3 *db = NULL;
  write_values (place, "this");
  write_values (other, "that");
  attach = g_strdup_printf ("ATTACH '%s' AS other", other->target);
  assert_values (place->target, FALSE, NULL);
  g_assert_cmpint (sqlite3_open (place->target, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, attach, 0, 0, 0), ==, SQLITE_OK);
  static const char *const copies[] = {
    "REPLACE INTO constant SELECT * FROM other.constant WHERE name = 'const/cities'",
    "REPLACE INTO constant SELECT * FROM other.constant WHERE name = 'input/a.tsp'",
    "REPLACE INTO constant SELECT * FROM other.constant",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (copies); i++)
    {
      g_assert_cmpint (sqlite3_exec (db, "BEGIN; DELETE FROM constant; COMMIT", 0, 0, 0), ==,
                       SQLITE_OK);
      g_assert_cmpint (sqlite3_exec (db, copies[i], 0, 0, 0), ==, SQLITE_OK);
      assert_values (place->target, FALSE, "of another run");
      assert_values (place->target, TRUE, "of another run");
    }
  g_assert_cmpint (sqlite3_exec (db,
                                 "DELETE FROM run WHERE key IN ('inputs', 'constants');"
                                 "DELETE FROM constant WHERE name LIKE 'run/%'",
                                 0, 0, 0),
                   ==, SQLITE_OK);
  sqlite3_close (db);
  assert_values (place->target, FALSE, "--mended");
  assert_values (place->target, TRUE, NULL);
}

/* A list proves the values that it names. A program may make more constants than the list has; a
 * file must not have more values. */
static void
test_what_the_lists_prove (void)
{
  static const struct
  {
    const char *name, *bytes;
    gboolean is_sound, is_of_file;
  } cases[] = { { "x", "this", TRUE, TRUE },
                { "x", "that", FALSE, FALSE },
                { "a b", "this", TRUE, TRUE },
                { "b", "this", TRUE, FALSE },
                { "more", "that", TRUE, FALSE } };
  Digest digest = digest_of_data ("this", 4);
  char hex[DIGEST_HEX_LENGTH + 1];
  digest_to_hex (&digest, hex);
  Restore restore = { .const_list = g_strdup_printf ("%s x\n%s a b", hex, hex) };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) bytes = g_bytes_new_static (cases[i].bytes, 4);
      g_autoptr (GPtrArray) values = g_ptr_array_new ();
      g_autofree char *name = g_strconcat ("const/", cases[i].name, NULL);
      RestoreConstant value = { .name = name, .value = bytes };
      g_ptr_array_add (values, &value);
      restore.constants = values;
      g_assert_cmpint (restore_constant_is_sound (&restore, cases[i].name, bytes), ==,
                       cases[i].is_sound);
      g_assert_cmpint (restore_values_are_sound (&restore, TRUE, "t", &error), ==,
                       cases[i].is_of_file);
    }
  restore.constants = NULL;
  restore_clear (&restore);
}

/* Checks everything that identifies the run and says how to start it, as write_values has written
 * it. */
static void
assert_whole_identity (const char *target, const char *harm, gsize at)
{
  g_autoptr (GError) error = NULL;
  Restore restore;
  if (!restore_look (target, &restore, &error))
    g_error ("%s at %" G_GSIZE_FORMAT ": %s", harm, at, error->message);
  const Identity *found = &restore.identity;
  Identity wanted = identity_make ("run-1", "app", "8");
  const char *const texts[][2] = {
    { found->run, "run-1" },
    { found->name, wanted.name },
    { found->app, wanted.app },
    { found->program, wanted.program },
    { found->folder, wanted.folder },
    { found->options, wanted.options },
    { found->version, wanted.version },
    { found->build, "00112233445566778899aabbccddeeff" },
    { found->mark, "a mark" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    if (g_strcmp0 (texts[i][0], texts[i][1]) != 0)
      g_error ("%s at %" G_GSIZE_FORMAT ": no %s", harm, at, texts[i][1]);
  g_assert_cmpstrv (found->argv, wanted.argv);
  g_assert_true (digest_equal (&found->identity, &wanted.identity));
  g_assert_true (digest_equal (&found->schema, &wanted.schema));
  g_assert_nonnull (restore.inputs);
  g_assert_nonnull (restore.const_list);
  identity_clear (&wanted);
  restore_clear (&restore);
}

/* Each page is lost once; and one bit of some bytes is wrong (SATIN_TEST_ALL=1: of all bytes). */
static void
test_one_harmed_page_loses_nothing_of_the_identity (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *bytes = NULL;
  gsize size, step = g_getenv ("SATIN_TEST_ALL") != NULL ? 1 : 97;
  write_values (place, "this");
  assert_whole_identity (place->target, "nothing", 0);
  g_assert_true (g_file_get_contents (place->target, &bytes, &size, NULL));
  gsize page = (gsize)(guint8)bytes[16] << 8 | (guint8)bytes[17];
  for (gsize at = 0; at < size; at += page)
    {
      g_autofree char *harmed = g_memdup2 (bytes, size);
      memset (harmed + at, 0, page);
      g_assert_true (g_file_set_contents (place->target, harmed, (gssize)size, NULL));
      assert_whole_identity (place->target, "a lost page", at);
    }
  for (gsize at = 0; at < size; at += step)
    {
      bytes[at] ^= 0x10;
      g_assert_true (g_file_set_contents (place->target, bytes, (gssize)size, NULL));
      assert_whole_identity (place->target, "a wrong bit", at);
      bytes[at] ^= 0x10;
    }
}

/* TRUE if `value` is the constant or input of a run that lists `hex` as its digest. */
static gboolean
is_sound (const char *name, const char *value, char *hex)
{
  g_autofree char *list = g_strdup_printf ("%s a.tsp\n", hex);
  g_autoptr (GBytes) bytes = g_bytes_new (value, strlen (value));
  g_autoptr (GPtrArray) constants = g_ptr_array_new ();
  gboolean is_input = g_str_has_prefix (name, "input/");
  RestoreConstant constant = { .name = (char *)name, .value = bytes };
  Restore restore = { .inputs = is_input ? list : NULL,
                      .const_list = is_input ? NULL : list,
                      .constants = constants };
  g_ptr_array_add (constants, &constant);
  gboolean sound = restore_values_are_sound (&restore, FALSE, "t", NULL);
  gboolean same = is_input ? restore_input_is_sound (&restore, "a.tsp", bytes, "t", NULL)
                           : restore_constant_is_sound (&restore, "a.tsp", bytes);
  g_assert_true (sound == same);
  return sound;
}

/* Each single byte counts, of a value and of its digest in the list. */
static void
test_near_values_are_refused (gconstpointer data)
{
  const char *name = data;
  char value[] = "four lines", hex[DIGEST_HEX_LENGTH + 1];
  Digest digest = digest_of_string (value);
  digest_to_hex (&digest, hex);
  g_assert_true (is_sound (name, value, hex));

  for (gsize i = 0; i < strlen (value); i++)
    {
      value[i] ^= 1;
      g_assert_false (is_sound (name, value, hex));
      value[i] ^= 1;
    }
  for (gsize i = 0; i < DIGEST_HEX_LENGTH; i++)
    {
      hex[i] ^= 1;
      g_assert_false (is_sound (name, value, hex));
      hex[i] ^= 1;
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/restore/damage-of-any-table", test_damage_of_any_table_is_told);
  g_test_add_func ("/restore/a-copy-replaces-nothing", test_a_copy_replaces_nothing);
  g_test_add_func ("/restore/nothing-there-is-a-fresh-start", test_nothing_there_is_a_fresh_start);
  g_test_add_func ("/restore/a-look-finds-all-that-a-start-needs",
                   test_a_look_finds_all_that_a_start_needs);
  g_test_add_func ("/restore/a-finished-checkpoint-gives-its-answer",
                   test_a_finished_checkpoint_gives_its_answer);
  g_test_add_func ("/restore/half-an-answer-is-none", test_half_an_answer_is_none);
  g_test_add_func ("/identity/any-argument-comes-back-as-it-was",
                   test_any_argument_comes_back_as_it_was);
  g_test_add_func ("/identity/a-checkpoint-of-something-else-is-named",
                   test_a_checkpoint_of_something_else_is_named);
  g_test_add_func ("/restore/errors-name-the-exit-code", test_errors_name_the_exit_code);
  g_test_add_func ("/restore/people-see-rows-and-nodes", test_people_see_rows_and_nodes);
  g_test_add_func ("/restore/what-the-lists-prove", test_what_the_lists_prove);
  g_test_add_func ("/restore/a-lost-input-is-not-replaced-by-another",
                   test_a_lost_input_is_not_replaced_by_another);
  g_test_add_func ("/restore/values-of-another-run-are-not-used",
                   test_values_of_another_run_are_not_used);
  g_test_add_data_func ("/restore/near-inputs-are-refused", "input/a.tsp",
                        test_near_values_are_refused);
  g_test_add_data_func ("/restore/near-constants-are-refused", "const/a.tsp",
                        test_near_values_are_refused);
  g_test_add_func ("/identity/one-harmed-page-loses-nothing-of-it",
                   test_one_harmed_page_loses_nothing_of_the_identity);
  return g_test_run ();
}
