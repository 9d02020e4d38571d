/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock and the account of work: at any time the work of the file's rows and the work at risk
 * together are the time spent in jobs. */
#include "config.h"

#include "engine-jobs.h"
#include "engine-rig.h"
#include "engine.h"
#include "save/clock.h"

#include <string.h>

/* The number of the child of `above` at or above the path; -1: none. */
static gint64
child_above (Rig *rig, const char *path, const char *above)
{
  gsize length = strlen (above);

  return path_is_below (rig->stems, path, above)
             ? g_ascii_strtoll (path + length + 1, NULL, 10) /* these trees have no stems */
             : -1;
}

/* A kept state replaces the rows of its phases. Kept states are stored apart from results: their
 * path has this prefix. */
#define KEPT "kept "

static void
save_kept (Rig *rig, GHashTable *rows, const Row *row)
{
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, rows);
  while (g_hash_table_iter_next (&iter, &key, &value))
    {
      gint64 number = child_above (rig, ((Row *)value)->path, row->path);

      if (number >= 0 && number < row->children)
        g_hash_table_iter_remove (&iter);
    }
  g_hash_table_replace (rows, g_strconcat (KEPT, row->path, NULL), row_copy (row));
}

/* Saves a row as a checkpoint does: a row replaces those below it. */
static void
save_row (Rig *rig, GHashTable *rows, const Row *row)
{
  GHashTableIter iter;
  gpointer key, value;

  if (row->children > 0)
    {
      save_kept (rig, rows, row);
      return;
    }

  g_hash_table_iter_init (&iter, rows);
  while (g_hash_table_iter_next (&iter, &key, &value))
    {
      const Row *other = value;
      gint64 number = child_above (rig, row->path, other->path);

      if (number >= 0 && (other->children == 0 || number < other->children))
        return;
      if (path_is_below (rig->stems, other->path, row->path)
          || (other->children > 0 && g_str_equal (other->path, row->path)))
        g_hash_table_iter_remove (&iter);
    }
  g_hash_table_replace (rows, g_strdup (row->path), row_copy (row));
}

static guint64
sum_of_rows (GHashTable *rows)
{
  GHashTableIter iter;
  gpointer row;
  guint64 sum_us = 0;

  g_hash_table_iter_init (&iter, rows);
  while (g_hash_table_iter_next (&iter, NULL, &row))
    sum_us += ((Row *)row)->work_us;
  return sum_us;
}

static guint64
unix_ms (void)
{
  return (guint64)g_get_real_time () / 1000;
}

/* A row has its job's arguments. The job of a result began and ended during the run. `known`: these
 * times are known for each. */
static void
check_span (const Row *row, guint64 start_ms, gboolean known)
{
  g_autoptr (GBytes) args = loan_read_args (row->args);

  g_assert_nonnull (args); /* two or three numbers */
  if (row->children > 0)
    {
      g_assert_cmpuint (row->began_ms, ==, 0);
      return;
    }
  g_assert_true (row->began_ms > 0 || !known);
  if (row->began_ms == 0)
    return;
  g_assert_cmpuint (row->began_ms + 2, >=, start_ms); /* two clocks, read one after the other */
  g_assert_cmpuint (row->began_ms + row->took_ms, <=, unix_ms () + 2);
}

typedef struct
{
  guint workers;
  int32_t depth;
  guint scans;
  double within; /* the share of the work that may be missing */
  gboolean kept; /* jobs whose phases are kept */
} Case;

static void
run_case (const Case *what, int32_t seed)
{
  Rig *rig = rig_new (what->workers, 0, (guint64)seed);
  satin_args_phases args = { what->depth, seed };
  satin_args_steps kept_args = { what->depth, 3, seed };
  g_autoptr (GHashTable) rows
      = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)row_free);
  gboolean over = FALSE;
  guint n_scans = 0;
  EngineStats stats;
  EngineEvent event;
  guint64 done_us = 0, sum_us, start_ms = unix_ms ();

  engine_test_gate (-1);
  if (what->kept)
    rig_start (rig, JOB_STEPS, &kept_args);
  else
    rig_start (rig, JOB_PHASES, &args);
  engine_scan (rig->engine, FALSE);
  while (!over)
    {
      if (!rig_next (rig, &event, 100000))
        continue;
      for (guint i = 0; event.rows != NULL && i < event.rows->len; i++)
        {
          check_span (event.rows->pdata[i], start_ms, what->workers == 1);
          save_row (rig, rows, event.rows->pdata[i]);
        }
      if (event.kind == ENGINE_SCANNED && ++n_scans < what->scans)
        engine_scan (rig->engine, n_scans % 7 == 0);
      else if (event.kind == ENGINE_SCANNED)
        engine_halt (rig->engine, FALSE);
      over = event.kind == ENGINE_HALTED || event.kind == ENGINE_DONE;
      if (event.kind == ENGINE_DONE)
        {
          done_us = event.work_us;
          g_assert_cmpuint (event.began_ms + 2, >=, start_ms);
          g_assert_cmpuint (event.began_ms + event.took_ms, <=, unix_ms () + 2);
          g_assert_true (what->workers > 1 || (event.took_ms + 2) * 1000 >= done_us);
        }
      engine_event_clear (&event);
    }
  engine_stats (rig->engine, &stats);
  sum_us = done_us > 0 ? done_us : sum_of_rows (rows) + stats.risk_us;
  g_test_message ("%u scans, %u rows: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                  " us, of it %" G_GUINT64_FORMAT " at risk",
                  n_scans, g_hash_table_size (rows), sum_us, stats.work_us, stats.risk_us);
  g_assert_cmpuint (sum_us, <=, stats.work_us);
  if (n_scans >= 10)
    g_assert_cmpuint (stats.scan_us, >, 0);
  g_assert_cmpfloat ((double)(stats.work_us - sum_us), <=, what->within * (double)stats.work_us);
  if (done_us > 0)
    g_assert_cmpuint (stats.risk_us, ==, 0);
  /* Less than nothing would hide a part of what the next job has at risk. */
  for (guint i = 0; done_us > 0 && i < rig->engine->n_stacks; i++)
    g_assert_cmpint (__atomic_load_n (&rig->engine->stacks[i]->shared.balance_us, __ATOMIC_RELAXED),
                     ==, 0);
  rig_free (rig);
}

static void
test_one_worker (void)
{
  for (guint scans = 1; scans < 200; scans += 1 + scans / 4)
    run_case (&(Case){ .workers = 1, .depth = 11, .scans = scans }, (int32_t)scans);
}

static void
test_thieves (void)
{
  for (guint scans = 1; scans < 200; scans += 1 + scans / 4)
    run_case (&(Case){ .workers = 3, .depth = 11, .scans = scans, .within = 0.001 },
              (int32_t)scans);
}

static void
test_kept (void)
{
  engine_test_leaf_spins = 300;
  for (guint scans = 1; scans < 200; scans += 1 + scans / 4)
    for (guint workers = 1; workers <= 3; workers += 2)
      run_case (&(Case){ .workers = workers,
                         .depth = 6,
                         .scans = scans,
                         .within = workers > 1 ? 0.001 : 0,
                         .kept = TRUE },
                (int32_t)scans);
  engine_test_leaf_spins = 0;
}

/* A scan that meets a job records when it began: the next scan knows the moment of the first. */
static void
test_spans (void)
{
  Rig *rig = rig_new (1, 0, 1);
  Stack *stack = rig->engine->stacks[0];
  SatinSlot_ *job = stack->memory.slots + 1, *child = job + 1;
  Origin *origin = slot_origin (stack->memory.slots);
  guint64 began_us;

  clock_begin_job (stack, stack->memory.slots);
  began_us = origin->since_us;
  job->parent = (guint32)(guintptr)stack->memory.slots | PARENT_ORIGIN;
  child->parent = (guint32)(guintptr)job;
  for (guint scan = 0; scan < 4; scan++)
    {
      GArray *lines = g_array_new (FALSE, FALSE, sizeof (Bill));
      Bill bills[]
          = { { .slot = job, .kind = BILL_BEGUN, .known = scan > 0 },
              { .slot = child, .kind = scan < 2 ? BILL_BEGUN : BILL_DONE, .known = scan > 0 } };
      guint64 last_us = stack->own.bill.now_us;

      g_array_append_vals (lines, bills, 2);
      child->state = SLOT_STARTED;
      clock_begin_scan (stack);
      (void)clock_bill (stack, origin, NULL, lines);
      const Bill *first = &g_array_index (lines, Bill, 0), *second = first + 1;
      g_assert_cmpuint (first->began_us, ==, began_us);
      g_assert_cmpuint (first->took_us, ==, 0);
      g_assert_cmpuint (second->began_us, ==, began_us);
      g_assert_cmpint (second->took_us > 0, ==, scan >= 2);
      g_assert_true (scan < 3 || second->began_us + second->took_us <= last_us);
      g_usleep (2000);
    }
  (void)clock_end_job (stack, stack->memory.slots);
  rig_free (rig);
}

/* A result that was given for a slot is in the slot's row, and in the cost of the job. */
static void
test_given (void)
{
  Rig *rig = rig_new (1, 0, 1);
  Stack *stack = rig->engine->stacks[0];
  SatinSlot_ *job = stack->memory.slots + 1, *slot = job + 1;
  GArray *lines = g_array_new (FALSE, FALSE, sizeof (Bill));
  guint64 all_us = 0, safe_us = 0;

  rig->engine->orders.scans = 1;
  job->parent = (guint32)(guintptr)stack->memory.slots | PARENT_ORIGIN;
  clock_begin_job (stack, stack->memory.slots);
  for (guint64 us = 0; us < G_GUINT64_CONSTANT (1) << 49; us += us / 3 + 1, slot++)
    {
      Bill line = { .slot = slot, .share = 0.5 };

      slot->parent = (guint32)(guintptr)job;
      slot->state = SLOT_DONE;
      clock_give (stack, slot, &(Work){ us, us / 2, 0 });
      g_array_append_val (lines, line);
      all_us += us;
      safe_us += us - us / 2;
    }
  g_assert_cmpuint (clock_risk_us (stack), ==, all_us - safe_us);
  clock_begin_scan (stack);
  g_assert_cmpuint (clock_bill (stack, slot_origin (job - 1), NULL, lines), ==, all_us - safe_us);
  for (guint64 i = 0, us = 0; i < lines->len; i++, us += us / 3 + 1)
    {
      const Bill *line = &g_array_index (lines, Bill, i);

      g_assert_cmpuint (line->work_us, ==, us);
      g_assert_cmpuint (line->told_us, ==, us - us / 2);
    }
  g_assert_cmpuint (clock_risk_us (stack), ==, 0);
  const Work work = clock_end_job (stack, job - 1);
  g_assert_cmpuint (work.work_us, ==, all_us);
  g_assert_cmpuint (work.risk_us, ==, 0);
  g_assert_cmpuint (clock_risk_us (stack), ==, 0);
  rig_free (rig);
}

/* A job has ended, and the scan that follows must not report it: the rows below it are still
 * saved. */
static void
test_stays_saved (void)
{
  Rig *rig = rig_new (1, 0, 1);
  Stack *stack = rig->engine->stacks[0];
  SatinSlot_ *job = stack->memory.slots + 1, *child = job + 1;
  const Bill all[] = { { .slot = job, .kind = BILL_BEGUN }, { .slot = child, .share = 0.5 } };

  rig->engine->orders.scans = 1;
  job->parent = (guint32)(guintptr)stack->memory.slots | PARENT_ORIGIN;
  child->parent = (guint32)(guintptr)job;
  child->state = SLOT_DONE;
  clock_begin_job (stack, stack->memory.slots);
  clock_give (stack, child, &(Work){ 1000, 900, 0 });
  for (guint scan = 0; scan < 3; scan++)
    {
      GArray *lines = g_array_new (FALSE, FALSE, sizeof (Bill));

      g_array_append_vals (lines, all, scan == 0 ? 2 : 1);
      g_array_index (lines, Bill, 0).known = scan > 0;
      clock_begin_scan (stack);
      g_assert_cmpuint (clock_bill (stack, slot_origin (job - 1), NULL, lines), ==,
                        scan == 0 ? 900 : 0);
      g_assert_cmpuint (clock_risk_us (stack), ==, 0);
    }
  g_assert_cmpuint (clock_end_job (stack, job - 1).risk_us, ==, 0);
  rig_free (rig);
}

/* Work for slots that are gone is credited to finished jobs if it is saved. A job that has begun
 * gets only the work at risk. */
static void
test_begun (void)
{
  Rig *rig = rig_new (1, 0, 1);
  Stack *stack = rig->engine->stacks[0];
  SatinSlot_ *job = stack->memory.slots + 1, *child = job + 1;
  const Bill all[] = { { .slot = job, .kind = BILL_BEGUN }, { .slot = child, .share = 0.5 } };
  GArray *lines = g_array_new (FALSE, FALSE, sizeof (Bill));

  child->state = SLOT_STARTED;
  clock_begin_job (stack, stack->memory.slots);
  clock_give (stack, child + 1, &(Work){ 1000, 0, 0 });
  clock_give (stack, child + 2, &(Work){ 100, 100, 0 });
  g_array_append_vals (lines, all, 2);
  clock_begin_scan (stack);
  g_assert_cmpuint (clock_bill (stack, slot_origin (job - 1), NULL, lines), ==, 0);
  g_assert_cmpuint (g_array_index (lines, Bill, 0).work_us, ==, 100);
  g_assert_cmpuint (g_array_index (lines, Bill, 1).work_us, ==, 1000);
  g_assert_cmpuint (clock_risk_us (stack), ==, 100);
  (void)clock_end_job (stack, job - 1);
  rig_free (rig);
}

/* The work that is new in a row is the work that no earlier row contained. */
static void
test_new_share (void)
{
  const Bill fresh = { .work_us = 100 }, none = { 0 };
  const Bill some = { .work_us = 100, .told_us = 60 };
  const Bill old = { .work_us = 100, .told_us = 120 };

  g_assert_cmpfloat (clock_new_share (&fresh), ==, 1);
  g_assert_cmpfloat (clock_new_share (&none), ==, 1);
  g_assert_cmpfloat_with_epsilon (clock_new_share (&some), 0.4, 1e-9);
  g_assert_cmpfloat (clock_new_share (&old), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/clock/new-share", test_new_share);
  g_test_add_func ("/clock/rows-and-risk-make-up-all-work", test_one_worker);
  g_test_add_func ("/clock/rows-and-risk-make-up-all-work-with-thieves", test_thieves);
  g_test_add_func ("/clock/rows-and-risk-make-up-all-work-of-kept-phases", test_kept);
  g_test_add_func ("/clock/scans-tell-when-a-job-began", test_spans);
  g_test_add_func ("/clock/what-was-saved-stays-saved", test_stays_saved);
  g_test_add_func ("/clock/what-is-saved-is-not-held-back", test_begun);
  g_test_add_func ("/clock/a-gift-stands-in-the-line-of-its-slot", test_given);
  return g_test_run ();
}
