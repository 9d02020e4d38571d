/* SPDX-License-Identifier: BSD-3-Clause */
/* The ledgers of two coordinators at one place, as in a split, in random order: each writes,
 * publishes bases and deltas, ends, dies and takes over again. A model tracks what each ledger
 * knows. In every order each publication has a greater generation than the one before and covers it
 * together with all that its writer was given, and the published file can be read completely. */
#include "checkpoint.h"

#include "coordinator/ledger.h"
#include "storage/sql.h"

#include <unistd.h>

#define WRITERS 2
#define SCENES 12
#define STEPS 40
#define FOLDERS 6
#define IN_A_FOLDER 10
#define NUMBERS (FOLDERS * IN_A_FOLDER)
#define BASE_BYTES (96u * 1024) /* the smallest base that may have a delta */

/* The state of a job: not done, done, or (of a folder) done with everything below. */
typedef struct
{
  gboolean rows[NUMBERS];
  gboolean folders[FOLDERS];
} Facts;

typedef struct
{
  Ledger *ledger; /* (nullable) */
  char *work;
  Facts facts;  /* everything in its work file, including what it has merged */
  Facts unsent; /* written since its last publication */
} Writer;

typedef struct
{
  Place *place;
  GRand *rand;
  Writer writers[WRITERS];
  Facts published;
  guint64 generation; /* generation of the last publication */
  gboolean exists;
  guint n_bases, n_deltas, n_takeovers;
} Model;

static void
add_facts (Facts *to, const Facts *from)
{
  for (guint i = 0; i < NUMBERS; i++)
    to->rows[i] |= from->rows[i];
  for (guint i = 0; i < FOLDERS; i++)
    to->folders[i] |= from->folders[i];
}

/* TRUE if there is a row for this job. */
static gboolean
has_row (const Facts *facts, guint number)
{
  return facts->rows[number] && !facts->folders[number / IN_A_FOLDER];
}

static guint
count_rows (const Facts *facts)
{
  guint n = 0;
  for (guint i = 0; i < NUMBERS; i++)
    n += has_row (facts, i);
  for (guint i = 0; i < FOLDERS; i++)
    n += facts->folders[i];
  return n;
}

/* Checks base and delta as every reader finds them. Paths are /F and /F/I; a value is the job's
 * number, a folder's value is negative. */
static void
assert_place (Model *model)
{
  Restore restore;
  RestoreQuery all = { 0 };
  g_autoptr (GError) error = NULL;
  Facts found = { 0 };
  g_assert_true (restore_look (model->place->target, &restore, &error));
  g_assert_no_error (error);
  g_assert_cmpint (restore.exists, ==, model->exists);
  if (!model->exists)
    return;
  if (restore.damage != NULL)
    g_error ("%s", restore.damage);
  g_assert_cmpuint (restore.rows_bad, ==, 0);
  g_assert_cmpuint (restore.generation, ==, model->generation);
  g_autoptr (Sql) file = restore_open (model->place->target, &error);
  g_assert_no_error (error);
  g_autoptr (GPtrArray) rows = restore_rows (file, &all, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < rows->len; i++)
    {
      int value = atoi (((RestoreRow *)rows->pdata[i])->value);
      if (value < 0)
        found.folders[-value - 1] = TRUE;
      else
        found.rows[value] = TRUE;
    }
  for (guint i = 0; i < NUMBERS; i++)
    g_assert_cmpint (has_row (&model->published, i), ==, found.rows[i]);
  for (guint i = 0; i < FOLDERS; i++)
    g_assert_cmpint (model->published.folders[i], ==, found.folders[i]);
  g_assert_cmpuint (rows->len, ==, count_rows (&model->published));
  restore_clear (&restore);
}

/* A new coordinator, or one that takes over. */
static void
open_ledger (Model *model, Writer *writer)
{
  Identity identity = identity_make ("run-1", "app", "8");
  g_autoptr (GError) error = NULL;
  LedgerConfig config = { .work_path = writer->work,
                          .target = model->place->target,
                          .job_names = job_names,
                          .job_types = job_types,
                          .goes_on = g_rand_boolean (model->rand),
                          .delta_from = BASE_BYTES,
                          .stems = model->place->stems };
  writer->ledger = ledger_new (&config, &identity, &error);
  g_assert_no_error (error);
  identity_clear (&identity);
  writer->facts = model->published;
  writer->unsent = (Facts){ 0 };
  model->n_takeovers += model->exists;
  g_assert_null (ledger_take_damage (writer->ledger));
}

static void
write_some (Model *model, Writer *writer)
{
  g_autoptr (Inbox) inbox = inbox_new ();
  g_autoptr (GError) error = NULL;
  Facts facts = { 0 };
  for (guint n = (guint)g_rand_int_range (model->rand, 1, 6); n > 0; n--)
    {
      guint number = (guint)g_rand_int_range (model->rand, 0, NUMBERS);
      guint folder = number / IN_A_FOLDER;
      gboolean is_folder = g_rand_int_range (model->rand, 0, 20) == 0;
      g_autofree char *path = is_folder ? g_strdup_printf ("/%u", folder)
                                        : g_strdup_printf ("/%u/%u", folder, number % IN_A_FOLDER);
      gint64 value = is_folder ? -(gint64)folder - 1 : number;
      inbox_add_row (inbox, row_make (path, value, 1, 0.001));
      facts.rows[number] |= !is_folder;
      facts.folders[folder] |= is_folder;
    }
  if (g_rand_int_range (model->rand, 0, 10) == 0)
    {
      g_autofree char *name = g_strdup_printf ("const/%d", g_rand_int_range (model->rand, 0, 2));
      g_autoptr (GBytes) large = g_bytes_new_take (g_malloc0 (2 * BASE_BYTES), 2 * BASE_BYTES);
      inbox_add_value (inbox->constants, name, "ay", large);
    }
  g_assert_true (ledger_write (writer->ledger, inbox, &error));
  g_assert_no_error (error);
  add_facts (&writer->facts, &facts);
  add_facts (&writer->unsent, &facts);
}

static void
publish (Model *model, Writer *writer, gboolean final)
{
  g_autoptr (GError) error = NULL;
  Publication made;
  if (!ledger_has_changed (writer->ledger, final))
    {
      for (guint i = 0; i < NUMBERS; i++) /* no job waits */
        g_assert_true (!writer->unsent.rows[i] || model->published.rows[i]
                       || model->published.folders[i / IN_A_FOLDER]);
      return;
    }
  g_assert_true (ledger_publish (writer->ledger, final, &made, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (made.generation, >, model->generation);
  g_assert_true (!final || !made.is_delta);
  model->generation = made.generation;
  model->exists = TRUE;
  add_facts (&model->published, &writer->facts);
  writer->facts = model->published; /* it has merged the published rows */
  writer->unsent = (Facts){ 0 };
  *(made.is_delta ? &model->n_deltas : &model->n_bases) += 1;
  assert_place (model);
}

/* Unpublished rows are lost with a death; the next writer begins with the published ones. */
static void
end_ledger (Model *model, Writer *writer, gboolean dies)
{
  if (!dies)
    publish (model, writer, TRUE);
  g_clear_pointer (&writer->ledger, ledger_free);
  (void)unlink (writer->work);
}

static void
act (Model *model)
{
  Writer *writer = &model->writers[g_rand_int_range (model->rand, 0, WRITERS)];
  int what = g_rand_int_range (model->rand, 0, 20);
  if (writer->ledger == NULL)
    open_ledger (model, writer);
  else if (what < 10)
    write_some (model, writer);
  else if (what < 18)
    publish (model, writer, FALSE);
  else
    end_ledger (model, writer, what == 18);
}

static void
run_scene (guint32 seed, guint *n_bases, guint *n_deltas, guint *n_takeovers)
{
  g_autoptr (Place) place = place_new ();
  Model model = { .place = place, .rand = g_rand_new_with_seed (seed) };
  g_test_message ("seed %u", seed);
  for (guint i = 0; i < WRITERS; i++)
    model.writers[i].work = g_strdup_printf ("%s%u", place->work, i);
  for (guint i = 0; i < STEPS; i++)
    act (&model);
  for (guint i = 0; i < WRITERS; i++)
    if (model.writers[i].ledger != NULL)
      end_ledger (&model, &model.writers[i], FALSE);
  assert_place (&model);
  for (guint i = 0; i < WRITERS; i++)
    g_free (model.writers[i].work);
  *n_bases += model.n_bases;
  *n_deltas += model.n_deltas;
  *n_takeovers += model.n_takeovers;
  g_rand_free (model.rand);
}

/* With SATIN_TEST_SEED=N only that scene. */
static void
test_any_order (void)
{
  const char *one = g_getenv ("SATIN_TEST_SEED");
  guint n_bases = 0, n_deltas = 0, n_takeovers = 0;
  for (guint i = 0; i < (one != NULL ? 1 : SCENES); i++)
    run_scene (one != NULL ? (guint32)g_ascii_strtoull (one, NULL, 10)
                           : (guint32)g_test_rand_int (),
               &n_bases, &n_deltas, &n_takeovers);
  g_test_message ("%u bases, %u deltas, %u take-overs", n_bases, n_deltas, n_takeovers);
  g_assert_cmpuint (n_bases, >, 0);
  g_assert_true (one != NULL || (n_deltas > 0 && n_takeovers > 0));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/writers/any-order", test_any_order);
  return g_test_run ();
}
