/* SPDX-License-Identifier: BSD-3-Clause */
/* satin/engine/tree/stray.c: results that other nodes hold at a path at which no job, or another
 * job, is spawned. Each is counted once, and the first one is named once. */
#include "config.h"

#include "engine-jobs.h"
#include "engine-rig.h"

typedef struct
{
  const char *path;
  gboolean finished;
} Held;

/* Runs fib (3), whose jobs are "", /0, /1, /0/0 and /0/1, while another node offers these paths
 * with digests of other jobs. `named` (out): how many were named. */
static guint64
run (const Held *held, guint n, guint *named, char **path)
{
  Rig *rig = rig_new (1, 0, 2);
  const NodeId holder = { 1, 7, 9 };
  Digest digest = digest_of_string ("another job");
  EngineEvent event;
  EngineStats stats;

  for (guint i = 0; i < n; i++)
    engine_known (rig->engine, held[i].path, &digest, &holder, held[i].finished);
  *named = 0;
  rig_start (rig, JOB_FIB, &(satin_args_fib){ 3 });
  for (gboolean done = FALSE; !done;)
    {
      g_assert_true (rig_next (rig, &event, 60 * G_USEC_PER_SEC));
      done = event.kind == ENGINE_DONE;
      if (event.kind == ENGINE_UNMATCHED)
        {
          (*named)++;
          g_free (*path);
          *path = g_strdup (event.path);
        }
      engine_event_clear (&event);
    }
  engine_stats (rig->engine, &stats);
  engine_halt (rig->engine, FALSE);
  rig_free (rig);
  return stats.unmatched;
}

static void
assert_counted (const Held *held, guint n, guint64 expected, const char *first)
{
  g_autofree char *path = NULL;
  guint named;

  g_assert_cmpuint (run (held, n, &named, &path), ==, expected);
  g_assert_cmpuint (named, ==, expected > 0);
  if (first != NULL)
    g_assert_cmpstr (path, ==, first);
}

#define COUNTED(expected, first, ...) \
  assert_counted ((const Held[]){ __VA_ARGS__ }, G_N_ELEMENTS (((const Held[]){ __VA_ARGS__ })), \
                  expected, first)

static void
test_what_fits_is_not_counted (void)
{
  COUNTED (0, NULL, { "/0", FALSE });
  COUNTED (0, NULL, { "/0", FALSE }, { "/0/1", FALSE }, { "/9", FALSE }, { "/9/9", FALSE });
}

/* The first child number that is not spawned, and the last one that is. */
static void
test_what_was_not_spawned (void)
{
  COUNTED (1, "/2", { "/2", TRUE });
  COUNTED (1, "/1", { "/1", TRUE });
  COUNTED (1, "/0/2", { "/0/2", TRUE });
  COUNTED (3, "/5", { "/5", TRUE }, { "/5/1", TRUE }, { "/5/1/0", TRUE }, { "/5/2", FALSE });
}

static void
test_each_counts_once (void)
{
  COUNTED (2, NULL, { "/5", TRUE }, { "/7", TRUE });
  COUNTED (1, "/7", { "/5", FALSE }, { "/7", TRUE });
  COUNTED (1, "/5", { "/5", TRUE }, { "/7", FALSE });
  COUNTED (5, NULL, { "/5", TRUE }, { "/5/1", TRUE }, { "/7/1/2", TRUE }, { "/0/4", TRUE },
           { "/1", TRUE }, { "/7", FALSE });
}

/* Another job at the path of the root itself, which has no sibling numbers. */
static void
test_another_job_at_the_path (void)
{
  COUNTED (1, "", { "", TRUE });
  COUNTED (2, "", { "", TRUE }, { "/3", TRUE });
  COUNTED (1, "/0", { "/0", TRUE });
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/stray/what-fits-is-not-counted", test_what_fits_is_not_counted);
  g_test_add_func ("/stray/what-was-not-spawned", test_what_was_not_spawned);
  g_test_add_func ("/stray/each-counts-once", test_each_counts_once);
  g_test_add_func ("/stray/another-job-at-the-path", test_another_job_at_the_path);
  return g_test_run ();
}
