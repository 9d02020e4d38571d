/* SPDX-License-Identifier: BSD-3-Clause */
/* The checkpoint on a disk that fails, without memory, and after a loss of power, at every single
 * step of a coordinator: each allocation of SQLite, and each write, sync, truncation, removal and
 * rename of SQLite and of ours fails in turn, once and for good, until nothing fails any more. In
 * the published Satin nothing was ever flushed (S7), and one failure while compacting deleted the
 * file (S1). Without SATIN_TEST_ALL=1 only some of the steps are tried, others each time. */
#include "checkpoint.h"
#include "disk.h"
#include "storage/sql.h"

#include "coordinator/ledger.h"

#include <errno.h>
#include <sys/mman.h>

#define ROUNDS 4
#define ROWS 6
#define DEEP 4 /* the number of the row at a path that is saved with a stem */
#define LEDGERS_MAX 2
#define BASE_BYTES (128 * 1024) /* the smallest base that may have a delta */

/* The ledgers that publish in turns, and the size from which they use deltas. */
typedef struct
{
  const char *name;
  guint n_ledgers;
  guint64 delta_from;
  guint spread; /* what stride gets */
} Shape;

static const Shape shapes[] = { { "one ledger", 1, 0, 280 },
                                { "two ledgers", 2, 0, 560 },
                                { "deltas", 1, BASE_BYTES, 800 } };

/* SQLite's memory: the allocation number `fail_at` fails, and with `fails_on` all after it. */
static sqlite3_mem_methods real_memory;
static guint n_allocations, fail_at;
static gboolean fails_on;

static gboolean
allocation_fails (void)
{
  n_allocations++;
  return fail_at > 0 && (fails_on ? n_allocations >= fail_at : n_allocations == fail_at);
}

static void *
torture_malloc (int size)
{
  return allocation_fails () ? NULL : real_memory.xMalloc (size);
}

static void *
torture_realloc (void *memory, int size)
{
  return allocation_fails () ? NULL : real_memory.xRealloc (memory, size);
}

typedef struct
{
  const Shape *shape;
  Place *place;
  Ledger *ledgers[LEDGERS_MAX];
  Inbox *inbox;   /* the batches that could not be written yet */
  guint failed;   /* the number of calls that failed */
  char *reason;   /* the reason of the last failure */
  int *published; /* the round of the last publication that was reported as done; shared memory */
} Scene;

/* Round r saves /r/0 … /r/5, one of them far below. The last round also saves /0, which replaces
 * those of the first round. In the round before the job /r/5 is done, it has kept a state. */
static void
add_round (Scene *scene, int round)
{
  guint32 deep[200] = { 60 + (guint32)round };
  for (int i = 0; i < ROWS; i++)
    {
      g_autofree char *path
          = i == DEEP ? path_from_numbers (scene->place->stems, deep, G_N_ELEMENTS (deep))
                      : g_strdup_printf ("/%d/%d", round, i);
      inbox_add_row (scene->inbox, row_make (path, round * 100 + i, 1, 0.01));
    }
  if (scene->shape->delta_from > 0 && round == 0)
    {
      g_autoptr (GBytes) large = g_bytes_new_take (g_malloc0 (2 * BASE_BYTES), 2 * BASE_BYTES);
      inbox_add_value (scene->inbox->constants, "const/large", "ay", large);
    }
  g_autofree char *kept = g_strdup_printf ("/%d/%d", round + 1, ROWS - 1);
  inbox_add_row (scene->inbox, row_make_kept (kept, 2, round));
  if (round < ROUNDS - 1)
    return;
  inbox_add_row (scene->inbox, row_make ("/0", -1, 1, 0.1));
  scene->inbox->present = g_array_new (FALSE, FALSE, sizeof (NodeId)); /* the run ends */
}

static gboolean
try_open (Scene *scene, guint n)
{
  Identity identity = identity_make ("run-1", "app", "8");
  g_autoptr (GError) error = NULL;
  g_autofree char *work = g_strdup_printf ("%s%u", scene->place->work, n);
  LedgerConfig config = { .work_path = work,
                          .target = scene->place->target,
                          .job_names = job_names,
                          .job_types = job_types,
                          .delta_from = scene->shape->delta_from,
                          .stems = scene->place->stems };
  scene->ledgers[n] = ledger_new (&config, &identity, &error);
  g_assert_true ((scene->ledgers[n] == NULL) == (error != NULL));
  if (error != NULL)
    g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
  identity_clear (&identity);
  return scene->ledgers[n] != NULL;
}

static gboolean
note_failure (Scene *scene, const GError *error)
{
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
  g_free (scene->reason);
  scene->reason = g_strdup (error->message);
  return FALSE;
}

/* FALSE if it failed, with one message. A batch that could not be written stays in the inbox. */
static gboolean
write_and_publish (Scene *scene, guint n)
{
  g_autoptr (GError) error = NULL;
  if (!inbox_is_empty (scene->inbox))
    {
      if (!ledger_write (scene->ledgers[n], scene->inbox, &error))
        {
          g_assert_true (ledger_has_changed (scene->ledgers[n], FALSE)); /* perhaps published */
          return note_failure (scene, error);
        }
      inbox_free (scene->inbox);
      scene->inbox = inbox_new ();
    }
  Publication made;
  if (ledger_has_changed (scene->ledgers[n], FALSE)
      && !ledger_publish (scene->ledgers[n], FALSE, &made, &error))
    {
      return note_failure (scene, error);
    }
  return TRUE;
}

static gboolean
all_is_published (const Scene *scene)
{
  for (guint n = 0; n < scene->shape->n_ledgers; n++)
    if (scene->ledgers[n] != NULL && ledger_has_changed (scene->ledgers[n], FALSE))
      return FALSE;
  return TRUE;
}

/* Everything that a coordinator does. Failures are counted, and it goes on. */
static void
act (void *data)
{
  Scene *scene = data;
  for (int round = 0; round < ROUNDS; round++)
    {
      guint n = (guint)round % scene->shape->n_ledgers;
      add_round (scene, round);
      if (scene->ledgers[n] == NULL && !try_open (scene, n))
        scene->failed++;
      else if (!write_and_publish (scene, n))
        scene->failed++;
      else if (all_is_published (scene))
        *scene->published = round + 1;
    }
}

/* Spare pages may be lost without notice: they repeat the rows, and SQLite's check of a copy
 * ignores them. */
static gboolean spares_may_be_lost;

/* The file at the target is whole, with no row lost or duplicated. It has the rows of at least
 * `round` rounds, and of each round all or none. */
static void
assert_target (Place *place, int round)
{
  Restore restore;
  RestoreQuery all = { 0 };
  guint found[ROUNDS] = { 0 }, n_found = 0;
  g_autoptr (GError) error = NULL;
  g_assert_true (restore_look (place->target, &restore, &error));
  g_assert_no_error (error);
  g_assert_true (restore.exists || round == 0);
  if (!restore.exists)
    return;
  if (restore.damage != NULL
      && !(spares_may_be_lost && g_str_has_prefix (restore.damage, "none of its ")))
    g_error ("%s", restore.damage);
  g_assert_cmpuint (restore.rows_bad, ==, 0);
  g_autoptr (Sql) file = restore_open (place->target, &error);
  g_assert_no_error (error);
  g_autoptr (GPtrArray) rows = restore_rows (file, &all, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < rows->len; i++)
    {
      int value = atoi (((RestoreRow *)rows->pdata[i])->value);
      guint bit = 1u << (MAX (value, 0) % 100);
      g_assert_true (value == -1 || (value / 100 < ROUNDS && value % 100 < ROWS));
      n_found += value >= 0;
      if (value >= 0)
        found[value / 100] |= bit;
    }
  gboolean has_last = n_found < rows->len;
  g_assert_cmpuint (rows->len - n_found, <=, 1);
  g_assert_true (!has_last || found[0] == 0 || found[0] == 1u << DEEP);
  for (int i = has_last; i < ROUNDS; i++)
    {
      g_assert_true (found[i] == (1u << ROWS) - 1 || (found[i] == 0 && i >= round));
      n_found -= found[i] != 0 ? ROWS : 0;
    }
  g_assert_cmpuint (n_found, ==, has_last && found[0] != 0);
  g_assert_true (has_last || round < ROUNDS);
  restore_clear (&restore);
}

static void
scene_begin (Scene *scene, const Shape *shape, int *published)
{
  *scene = (Scene){
    .shape = shape, .place = place_new (), .inbox = inbox_new (), .published = published
  };
  *published = 0;
}

static void
scene_end (Scene *scene)
{
  for (guint n = 0; n < LEDGERS_MAX; n++)
    ledger_free (scene->ledgers[n]);
  inbox_free (scene->inbox);
  g_free (scene->reason);
  place_free (scene->place);
}

/* After the failures are over everything is written, whatever failed before. */
static void
assert_recovers (Scene *scene)
{
  assert_target (scene->place, *scene->published);
  for (guint n = 0; n < scene->shape->n_ledgers; n++)
    {
      g_assert_true (scene->ledgers[n] != NULL || try_open (scene, n));
      if (!write_and_publish (scene, n))
        g_error ("it does not recover: %s", scene->reason);
    }
  assert_target (scene->place, ROUNDS);
  g_autofree char *delta = g_strconcat (scene->place->target, "-delta", NULL);
  gboolean has_delta = g_file_test (delta, G_FILE_TEST_EXISTS);
  g_assert_cmpuint (place_strangers (scene->place), <=, has_delta + 2 * disk_unlinks_failed ());
}

/* A sync takes longer than anything else here. A batch needs its journal, the journal's name and
 * the work file on the disk; a publication needs itself and its name there. The last batch needs
 * only its publication. */
static void
test_a_round_needs_five_syncs (void)
{
  Scene scene;
  int published;
  scene_begin (&scene, &shapes[0], &published);
  disk_begin (scene.place->folder, DISK_SOUND, 0, 0);
  act (&scene);
  (void)disk_end ();
  g_assert_cmpuint (scene.failed, ==, 0);
  g_assert_cmpuint (disk_syncs (), >=, ROUNDS * 2);
  g_assert_cmpuint (disk_syncs (), <=, (ROUNDS - 1) * 5 + 2);
  assert_target (scene.place, ROUNDS);
  scene_end (&scene);
}

/* The distance to the next step that is tried: a random one, so that about 20 of `all` are. */
static guint
stride (guint all)
{
  return g_strcmp0 (g_getenv ("SATIN_TEST_ALL"), "1") == 0
             ? 1
             : (guint)g_test_rand_int_range (1, (gint32)MAX (2, all / 10));
}

/* Lets each chosen step fail; or, with DISK_FAIL_AFTER_COMMIT, each transaction. */
static void
fail_every_step (DiskMode mode, int error_number, const Shape *shape)
{
  gboolean was_reached = TRUE, is_step = mode != DISK_FAIL_AFTER_COMMIT;
  guint at = 0, failed = 0;
  while (was_reached)
    {
      Scene scene;
      int published;
      guint every = stride (shape->spread);
      scene_begin (&scene, shape, &published);
      disk_begin (scene.place->folder, mode, at += is_step ? every : 1, error_number);
      act (&scene);
      was_reached = disk_end ();
      failed += scene.failed;
      g_assert_true (was_reached || scene.failed == 0);
      assert_recovers (&scene);
      scene_end (&scene);
    }
  g_test_message ("%s: %u %s; %u calls failed", shape->name, at, is_step ? "steps" : "transactions",
                  failed);
  g_assert_cmpuint (at, >, is_step ? 100 : ROUNDS);
  g_assert_cmpuint (failed, >=, is_step ? 10 : ROUNDS);
}

static void
fail_every_step_of_every_shape (DiskMode mode, int error_number)
{
  for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++)
    fail_every_step (mode, error_number, &shapes[i]);
}

/* Each step is carried out but reports a failure. The rows are still counted correctly. */
static void
test_every_step_fails_after_it_happened (void)
{
  fail_every_step_of_every_shape (DISK_FAIL_AFTER, EIO);
}

/* The next publication includes the batch whose commit reported a failure, and no row is there
 * twice. */
static void
test_every_commit_fails_after_it_happened (void)
{
  fail_every_step_of_every_shape (DISK_FAIL_AFTER_COMMIT, EIO);
}

/* An incomplete copy is noticed before it gets its name, even if the disk reported no error. */
static void
test_every_write_of_a_copy_is_lost (void)
{
  guint at = 0, failed = 0;
  gboolean was_reached = TRUE;
  spares_may_be_lost = TRUE;
  while (was_reached)
    {
      Scene scene;
      int published;
      scene_begin (&scene, &shapes[0], &published);
      disk_begin (scene.place->folder, DISK_LOSE_WRITE, ++at, 0);
      act (&scene);
      was_reached = disk_end ();
      failed += scene.failed;
      assert_recovers (&scene);
      scene_end (&scene);
    }
  spares_may_be_lost = FALSE;
  g_test_message ("%u writes; %u publications failed", at, failed);
  g_assert_cmpuint (failed, >=, at / 2);
}

static void
test_every_step_fails_once (void)
{
  fail_every_step_of_every_shape (DISK_FAIL_ONCE, EIO);
}

static void
test_a_disk_that_breaks_at_every_step (void)
{
  fail_every_step (DISK_FAIL_ON, EIO, &shapes[0]);
}

static void
test_a_disk_that_is_full_at_every_step (void)
{
  fail_every_step (DISK_FAIL_ON, ENOSPC, &shapes[1]);
}

static void
fail_every_allocation (gboolean on)
{
  gboolean was_reached = TRUE;
  guint at = 0;
  while (was_reached)
    {
      Scene scene;
      int published;
      scene_begin (&scene, &shapes[0], &published);
      n_allocations = 0;
      fails_on = on;
      fail_at = at += stride (12000);
      act (&scene);
      was_reached = n_allocations >= fail_at;
      fail_at = 0;
      assert_recovers (&scene);
      scene_end (&scene);
    }
  g_test_message ("%u allocations", at);
  g_assert_cmpuint (at, >, 100);
}

static void
test_every_allocation_fails_once (void)
{
  fail_every_allocation (FALSE);
}

static void
test_memory_that_ends_at_every_allocation (void)
{
  fail_every_allocation (TRUE);
}

/* FALSE if the work ended before that step. */
static gboolean
cut_at (const Shape *shape, guint at, int *published)
{
  Scene scene;
  scene_begin (&scene, shape, published);
  guint32 seed = (guint32)g_test_rand_int ();
  gboolean was_cut = disk_cut (scene.place->folder, at, seed, act, &scene);
  assert_target (scene.place, was_cut ? *published : ROUNDS);
  for (int round = 0; round < ROUNDS; round++)
    add_round (&scene, round);
  g_assert_true (try_open (&scene, 0));
  g_assert_true (write_and_publish (&scene, 0));
  assert_target (scene.place, ROUNDS);
  scene_end (&scene);
  return was_cut;
}

static int *
shared_number (void)
{
  return mmap (NULL, sizeof (int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* Unsynced writes are dropped, torn and reordered: everything that was reported as published is
 * there. */
static void
test_the_power_goes_at_every_step (void)
{
  int *published = shared_number ();
  for (gsize shape = 0; shape < G_N_ELEMENTS (shapes); shape++)
    {
      gboolean was_cut = TRUE;
      guint at = 0;
      while (was_cut)
        {
          at += stride (560);
          was_cut = cut_at (&shapes[shape], at, published);
        }
      g_test_message ("%s: %u steps", shapes[shape].name, at);
      g_assert_cmpuint (at, >, 100);
    }
  munmap (published, sizeof *published);
}

/* A name must not reach the disk before the bytes that it names. */
static void
test_the_power_goes_right_after_a_rename (void)
{
  int *published = shared_number ();
  for (gsize shape = 0; shape < G_N_ELEMENTS (shapes); shape++)
    {
      Scene scene;
      scene_begin (&scene, &shapes[shape], published);
      g_autofree char *delta = g_strconcat (scene.place->target, "-delta", NULL);
      disk_begin (scene.place->folder, DISK_SOUND, 0, 0);
      act (&scene);
      (void)disk_end ();
      g_assert_true (g_file_test (delta, G_FILE_TEST_EXISTS) == (shapes[shape].delta_from > 0));
      g_autoptr (GArray) steps = g_array_copy ((GArray *)disk_renamed_at ());
      scene_end (&scene);
      g_assert_cmpuint (steps->len, ==, ROUNDS);
      for (guint i = 0; i < 3 * steps->len; i++)
        g_assert_true (cut_at (&shapes[shape], g_array_index (steps, guint, i / 3) + 1, published));
    }
  munmap (published, sizeof *published);
}

int
main (int argc, char **argv)
{
  sqlite3_config (SQLITE_CONFIG_GETMALLOC, &real_memory);
  sqlite3_mem_methods memory = real_memory;
  memory.xMalloc = torture_malloc;
  memory.xRealloc = torture_realloc;
  sqlite3_config (SQLITE_CONFIG_MALLOC, &memory);
  g_test_init (&argc, &argv, NULL);
  /* Thousands of small files are made. */
  if (g_access ("/dev/shm", W_OK) == 0)
    g_setenv ("TMPDIR", "/dev/shm", FALSE);
  g_test_add_func ("/torture/a-round-needs-five-syncs", test_a_round_needs_five_syncs);
  g_test_add_func ("/torture/every-write-of-a-copy-is-lost", test_every_write_of_a_copy_is_lost);
  g_test_add_func ("/torture/S1-every-step-fails-once", test_every_step_fails_once);
  g_test_add_func ("/torture/a-disk-that-breaks-at-every-step",
                   test_a_disk_that_breaks_at_every_step);
  g_test_add_func ("/torture/a-disk-that-is-full-at-every-step",
                   test_a_disk_that_is_full_at_every_step);
  g_test_add_func ("/torture/every-allocation-fails-once", test_every_allocation_fails_once);
  g_test_add_func ("/torture/memory-that-ends-at-every-allocation",
                   test_memory_that_ends_at_every_allocation);
  g_test_add_func ("/torture/every-step-fails-after-it-happened",
                   test_every_step_fails_after_it_happened);
  g_test_add_func ("/torture/every-commit-fails-after-it-happened",
                   test_every_commit_fails_after_it_happened);
  g_test_add_func ("/torture/the-power-goes-right-after-a-rename",
                   test_the_power_goes_right_after_a_rename);
  g_test_add_func ("/torture/S7-the-power-goes-at-every-step", test_the_power_goes_at_every_step);
  return g_test_run ();
}
