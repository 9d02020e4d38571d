/* SPDX-License-Identifier: BSD-3-Clause */
/* A thief dies after it has kept phases of a lent job: the lender runs that job again and goes on
 * from the newest state. The test lets the leaves end one by one, so no clock decides how far each
 * engine is. */
#include "config.h"

#include "engine-jobs.h"
#include "engine-rig.h"
#include "engine.h"

#include <sched.h>

#define N_PHASES 10

static const satin_args_steps root_args = { 2, N_PHASES, 5 };
static const NodeId archive_id = { 1, 1, 1 };

/* Lets one more leaf begin, in either engine; the leaf waits until the next call. */
static void
begin_one_leaf (void)
{
  engine_test_gate (1);
  while (!engine_test_gate_reached ())
    sched_yield ();
}

/* Takes the next event of this kind and drops all others. */
static void
next_of (Rig *rig, EngineEventKind kind, EngineEvent *event)
{
  for (;;)
    if (rig_next (rig, event, 1000000))
      {
        if (event->kind == kind)
          return;
        g_assert_cmpint (event->kind, !=, ENGINE_DONE);
        engine_event_clear (event);
      }
}

/* The owner of the job waits in a leaf, and lends the job at its next sync. (transfer full) */
static Loan *
lend_first (Rig *lender)
{
  Loan loan = { 0 };

  while (!engine_lend (lender->engine, &loan))
    begin_one_leaf ();
  Loan *copy = loan_copy (&loan);
  g_free (loan.path);
  g_bytes_unref (loan.args);
  return copy;
}

/* Takes the thief's events; *kept becomes the newest state of the job with this path. */
static void
take_events (Rig *thief, const char *path, gboolean *scanned, Row **kept)
{
  EngineEvent event;

  while (engine_next_event (thief->engine, &event))
    {
      g_assert_cmpint (event.kind, !=, ENGINE_DONE);
      *scanned = *scanned || event.kind == ENGINE_SCANNED;
      for (guint i = 0; event.rows != NULL && i < event.rows->len; i++)
        {
          const Row *row = event.rows->pdata[i];

          if (row->children == 0 || !g_str_equal (row->path, path))
            continue;
          g_clear_pointer (kept, row_free);
          *kept = row_copy (row);
        }
      engine_event_clear (&event);
    }
}

/* (transfer full): a state that the thief has reported while its job runs. */
static Row *
run_until_kept (Rig *thief, Loan *loan)
{
  gboolean scanned = TRUE;
  Row *kept = NULL;

  g_assert_true (engine_run (thief->engine, 1, loan));
  while (kept == NULL)
    {
      if (scanned)
        engine_scan (thief->engine, FALSE);
      scanned = FALSE;
      begin_one_leaf ();
      take_events (thief, loan->path, &scanned, &kept);
    }
  return kept;
}

static void
check_recall (Rig *lender, const Row *kept)
{
  g_autoptr (GBytes) packed = row_pack_kept (kept);
  EngineEvent event;

  next_of (lender, ENGINE_ADOPT, &event);
  g_assert_cmpstr (event.path, ==, kept->path);
  g_assert_true (digest_equal (&event.digest, &kept->digest));
  g_assert_true (node_id_equal (&event.holder, &archive_id));
  g_assert_null (event.whole);
  g_assert_true (engine_put (lender->engine, event.loan, packed, kept->work_us, 0));
  engine_event_clear (&event);
}

static void
test_a_thief_is_gone (void)
{
  Rig *lender = rig_new (1, 0, 0), *thief = rig_new (1, 0, 2);
  g_autoptr (GBytes) args = record_encode (steps_job.args, &root_args);
  g_autoptr (GBytes) serial = serial_encoded (JOB_STEPS, args);
  EngineEvent event;
  EngineStats stats;

  lender->engine->config.twice = 1; /* every result is computed twice, but a state is no result */
  engine_test_gate (1);
  rig_start (lender, JOB_STEPS, &root_args);
  while (!engine_test_gate_reached ())
    sched_yield ();
  g_autoptr (Loan) loan = lend_first (lender);
  g_assert_cmpstr (loan->path, ==, "/0");
  g_autoptr (Row) kept = run_until_kept (thief, loan);
  g_assert_cmpuint (kept->children, <, 2 * N_PHASES);

  engine_unrun (thief->engine, 1);
  engine_known (lender->engine, kept->path, &kept->digest, &archive_id, kept->children);
  g_assert_true (engine_back (lender->engine, loan->loan));
  engine_test_gate (-1);
  check_recall (lender, kept);
  next_of (lender, ENGINE_DONE, &event);
  g_assert_true (g_bytes_equal (event.value, serial));
  engine_event_clear (&event);

  /* All jobs of the tree ran once, except those for which the state stands. */
  engine_stats (lender->engine, &stats);
  g_assert_cmpuint (stats.jobs, ==, 1 + 2 * N_PHASES * (1 + 2 * N_PHASES) - kept->children);
  next_of (thief, ENGINE_UNRUN, &event);
  engine_event_clear (&event);
  rig_free (thief);
  rig_free (lender);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/recall/a-lender-goes-on-from-what-its-thief-kept", test_a_thief_is_gone);
  return g_test_run ();
}
