/* SPDX-License-Identifier: BSD-3-Clause */
/* The checkpoint on a disk that fails, without memory, and with the power gone, at every single
 * step of what a coordinator does: each of SQLite's allocations, each write, sync, truncation,
 * removal and rename of it and of ours fails in turn, once and for good, until nothing fails any
 * more. In the published Satin nothing was ever flushed (S7), and one failure while compacting
 * deleted the file (S1). Without SATIN_TEST_ALL=1 only a part of the steps is tried, another one
 * each time. */
#include "checkpoint.h"
#include "disk.h"
#include "storage/sql.h"

#include "coordinator/ledger.h"

#include <errno.h>
#include <sys/mman.h>

#define ROUNDS 4
#define ROWS 6

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
  Place *place;
  Ledger *ledger;
  Inbox *inbox;   /* what could not be written yet */
  guint failed;   /* calls */
  char *reason;   /* of the last one */
  int *published; /* round of the last publication that was said to be done; shared */
} Scene;

/* Round r saves /r/0 … /r/5; the last one also /0, which takes in those of the first. */
static void
add_round (Scene *scene, int round)
{
  for (int i = 0; i < ROWS; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%d/%d", round, i);
      inbox_add_row (scene->inbox, row_make (path, round * 100 + i, 1, 0.01));
    }
  if (round == ROUNDS - 1)
    inbox_add_row (scene->inbox, row_make ("/0", -1, 1, 0.1));
}

static gboolean
try_open (Scene *scene)
{
  Identity identity = identity_make ("run-1", "app", "8");
  g_autoptr (GError) error = NULL;
  LedgerConfig config = { .work_path = scene->place->work,
                          .target = scene->place->target,
                          .job_names = job_names,
                          .job_types = job_types,
                          .stems = scene->place->stems };
  scene->ledger = ledger_new (&config, &identity, &error);
  g_assert_true ((scene->ledger == NULL) == (error != NULL));
  if (error != NULL)
    g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
  identity_clear (&identity);
  return scene->ledger != NULL;
}

static gboolean
note_failure (Scene *scene, const GError *error)
{
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
  g_free (scene->reason);
  scene->reason = g_strdup (error->message);
  return FALSE;
}

/* FALSE: it failed, with one sentence. What could not be written stays in the inbox. */
static gboolean
write_and_publish (Scene *scene)
{
  g_autoptr (GError) error = NULL;
  if (!inbox_is_empty (scene->inbox))
    {
      if (!ledger_write (scene->ledger, scene->inbox, &error))
        {
          return note_failure (scene, error);
        }
      inbox_free (scene->inbox);
      scene->inbox = inbox_new ();
    }
  Publication made;
  if (ledger_has_changed (scene->ledger, FALSE)
      && !ledger_publish (scene->ledger, FALSE, &made, &error))
    {
      return note_failure (scene, error);
    }
  return TRUE;
}

/* All that a coordinator does. Whatever fails is counted, and it goes on. */
static void
act (void *data)
{
  Scene *scene = data;
  for (int round = 0; round < ROUNDS; round++)
    {
      add_round (scene, round);
      if (scene->ledger == NULL && !try_open (scene))
        scene->failed++;
      else if (!write_and_publish (scene))
        scene->failed++;
      else
        *scene->published = round + 1;
    }
}

static gboolean
check_row (const RestoreRow *row, gboolean has_last)
{
  char expected[32];
  if (strcmp (row->path, "/0") == 0)
    return has_last && strcmp (row->value, "-1") == 0;
  g_snprintf (expected, sizeof expected, "%d", atoi (row->path + 1) * 100 + row->path[3] - '0');
  return strcmp (row->value, expected) == 0;
}

/* What stands at the target is whole, and has the rows of `round` rounds at least. */
static void
assert_target (Place *place, int round)
{
  Restore restore;
  RestoreQuery all = { 0 };
  g_autoptr (GError) error = NULL;
  g_assert_true (restore_look (place->target, &restore, &error));
  g_assert_no_error (error);
  g_assert_true (restore.exists || round == 0);
  if (!restore.exists)
    return;
  g_assert_null (restore.damage);
  g_assert_cmpuint (restore.rows_bad, ==, 0);
  g_autoptr (Sql) file = restore_open (place->target, &error);
  g_assert_no_error (error);
  g_autoptr (GPtrArray) rows = restore_rows (file, &all, &error);
  g_assert_no_error (error);
  gboolean has_last = rows->len > 0 && strcmp (((RestoreRow *)rows->pdata[0])->path, "/0") == 0;
  guint n = has_last ? (ROUNDS - 1) * ROWS + 1 : rows->len;
  g_assert_cmpuint (rows->len, ==, n);
  g_assert_cmpuint (has_last ? ROUNDS * ROWS : rows->len, >=, (guint)round * ROWS);
  g_assert_cmpuint (rows->len % ROWS, ==, has_last);
  for (guint i = 0; i < rows->len; i++)
    g_assert_true (check_row (rows->pdata[i], has_last));
  restore_clear (&restore);
}

static void
scene_begin (Scene *scene, int *published)
{
  *scene = (Scene){ .place = place_new (), .inbox = inbox_new (), .published = published };
  *published = 0;
}

static void
scene_end (Scene *scene)
{
  ledger_free (scene->ledger);
  inbox_free (scene->inbox);
  g_free (scene->reason);
  place_free (scene->place);
}

/* When the failures are over everything is written, whatever failed before. */
static void
assert_recovers (Scene *scene)
{
  assert_target (scene->place, *scene->published);
  g_assert_true (scene->ledger != NULL || try_open (scene));
  if (!write_and_publish (scene))
    g_error ("it does not recover: %s", scene->reason);
  assert_target (scene->place, ROUNDS);
  g_assert_cmpuint (place_strangers (scene->place), <=, 2 * disk_unlinks_failed ());
}

/* A sync takes longer than all else here: a batch needs its journal, the journal's name and the
 * work file on the disk, a publication itself and its name. */
static void
test_a_round_needs_five_syncs (void)
{
  Scene scene;
  int published;
  scene_begin (&scene, &published);
  disk_begin (scene.place->folder, DISK_SOUND, 0, 0);
  act (&scene);
  (void)disk_end ();
  g_assert_cmpuint (scene.failed, ==, 0);
  g_assert_cmpuint (disk_syncs (), >=, ROUNDS * 2);
  g_assert_cmpuint (disk_syncs (), <=, ROUNDS * 5);
  assert_target (scene.place, ROUNDS);
  scene_end (&scene);
}

/* To the next step to be tried; about 20 of `all` are. */
static guint
stride (guint all)
{
  return g_strcmp0 (g_getenv ("SATIN_TEST_ALL"), "1") == 0
             ? 1
             : (guint)g_test_rand_int_range (1, (gint32)MAX (2, all / 10));
}

static void
fail_every_step (DiskMode mode, int error_number)
{
  gboolean was_reached = TRUE;
  guint at = 0, failed = 0;
  while (was_reached)
    {
      Scene scene;
      int published;
      scene_begin (&scene, &published);
      disk_begin (scene.place->folder, mode, at += stride (280), error_number);
      act (&scene);
      was_reached = disk_end ();
      failed += scene.failed;
      g_assert_true (was_reached || scene.failed == 0);
      assert_recovers (&scene);
      scene_end (&scene);
    }
  g_test_message ("%u steps; %u calls failed", at, failed);
  g_assert_cmpuint (at, >, 100);
  g_assert_cmpuint (failed, >, 10);
}

static void
test_every_step_fails_once (void)
{
  fail_every_step (DISK_FAIL_ONCE, EIO);
}

static void
test_a_disk_that_breaks_at_every_step (void)
{
  fail_every_step (DISK_FAIL_ON, EIO);
}

static void
test_a_disk_that_is_full_at_every_step (void)
{
  fail_every_step (DISK_FAIL_ON, ENOSPC);
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
      scene_begin (&scene, &published);
      n_allocations = 0;
      fails_on = on;
      fail_at = at += stride (6000);
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

/* Unsynced writes are dropped, torn and reordered: what was said to be published is there. */
static void
test_the_power_goes_at_every_step (void)
{
  int *published
      = mmap (NULL, sizeof *published, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  guint times = 3;
  gboolean was_cut = TRUE;
  guint at = 0;
  while (was_cut)
    {
      at += stride (280);
      for (guint i = 0; i < times; i++)
        {
          Scene scene;
          scene_begin (&scene, published);
          was_cut = disk_cut (scene.place->folder, at, g_test_rand_int (), act, &scene);
          assert_target (scene.place, was_cut ? *published : ROUNDS);
          for (int round = 0; round < ROUNDS; round++)
            add_round (&scene, round);
          g_assert_true (try_open (&scene));
          g_assert_true (write_and_publish (&scene));
          assert_target (scene.place, ROUNDS);
          scene_end (&scene);
        }
    }
  g_test_message ("%u steps", at);
  g_assert_cmpuint (at, >, 100);
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
  g_test_add_func ("/torture/S1-every-step-fails-once", test_every_step_fails_once);
  g_test_add_func ("/torture/a-disk-that-breaks-at-every-step",
                   test_a_disk_that_breaks_at_every_step);
  g_test_add_func ("/torture/a-disk-that-is-full-at-every-step",
                   test_a_disk_that_is_full_at_every_step);
  g_test_add_func ("/torture/every-allocation-fails-once", test_every_allocation_fails_once);
  g_test_add_func ("/torture/memory-that-ends-at-every-allocation",
                   test_memory_that_ends_at_every_allocation);
  g_test_add_func ("/torture/S7-the-power-goes-at-every-step", test_the_power_goes_at_every_step);
  return g_test_run ();
}
