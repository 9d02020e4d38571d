/* SPDX-License-Identifier: BSD-3-Clause */
/* A driver and its scribes, one after the other: what a new one is told, whose news counts, what
 * becomes of one that is not needed any more. keeper.c alone: the driver, the Node and the scribe
 * are played here, and what is posted runs when the test says so. */
#include "node/driver-private.h"

#include "coordinator/bid.h"
#include "coordinator/scribe.h"

#include "engine/best.h"
#include "engine/constant.h"
#include "record.h"

#include "folder/folder.h"

#include <unistd.h>

#define WAIT_US (20 * G_USEC_PER_SEC) /* only where a test fails */
#define SCRIBES_MAX 8

struct Scribe
{
  ScribeConfig config;
  char *given; /* the run that it was opened for */
  guint joined, constants, bests, loads, finished, freed;
  guint64 ticket;
  gint64 age_us;
};

typedef struct
{
  GSourceFunc function;
  gpointer data;
} Posted;

static Scribe scribes[SCRIBES_MAX];
static guint n_scribes;
static gboolean fails;
static GAsyncQueue *posted; /* of Posted */
static GArray *steps;       /* of NodeEvent, without what it points to */
static GMutex mutex;

/* ---- the scribe ---- */

Scribe *
scribe_new (const ScribeConfig *config, Identity *identity, GError **error)
{
  if (fails)
    {
      g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE, "disk full");
      return NULL;
    }
  g_mutex_lock (&mutex);
  Scribe *scribe = &scribes[n_scribes++];
  g_mutex_unlock (&mutex);
  scribe->config = *config;
  scribe->given = g_strdup (identity->run);
  g_assert_true (g_file_set_contents (config->work_path, "work", -1, NULL));
  g_free (identity->run);
  identity->run = g_strdup ("of-the-file");
  return scribe;
}

void
scribe_free (Scribe *scribe)
{
  scribe->freed++;
}

void
scribe_finish (Scribe *scribe)
{
  scribe->finished++;
}

void
scribe_joined (Scribe *scribe, const NodeId *id G_GNUC_UNUSED, const char *host G_GNUC_UNUSED,
               const char *site G_GNUC_UNUSED, const char *address G_GNUC_UNUSED)
{
  scribe->joined++;
}

void
scribe_constant (Scribe *scribe, const char *name G_GNUC_UNUSED, const char *type G_GNUC_UNUSED,
                 GBytes *value G_GNUC_UNUSED)
{
  scribe->constants++;
}

void
scribe_best (Scribe *scribe, const char *name G_GNUC_UNUSED, const char *type G_GNUC_UNUSED,
             GBytes *value G_GNUC_UNUSED, const char *text G_GNUC_UNUSED)
{
  scribe->bests++;
}

void
scribe_load (Scribe *scribe, const char *path G_GNUC_UNUSED)
{
  scribe->loads++;
}

void
scribe_ticket (Scribe *scribe, guint64 ticket)
{
  scribe->ticket = ticket;
}

void
scribe_told (Scribe *scribe, const char *kind G_GNUC_UNUSED, const NodeId *node G_GNUC_UNUSED,
             const char *path G_GNUC_UNUSED, guint64 work_us G_GNUC_UNUSED,
             const char *detail G_GNUC_UNUSED, gint64 age_us)
{
  scribe->age_us = age_us;
}

void
scribe_save (Scribe *scribe G_GNUC_UNUSED, GPtrArray *rows)
{
  g_ptr_array_unref (rows);
}

void
scribe_event (Scribe *scribe G_GNUC_UNUSED, const char *kind G_GNUC_UNUSED,
              const NodeId *node G_GNUC_UNUSED, const char *path G_GNUC_UNUSED,
              guint64 work_us G_GNUC_UNUSED, const char *detail G_GNUC_UNUSED)
{
}

void
scribe_present (Scribe *scribe G_GNUC_UNUSED, const GArray *ids G_GNUC_UNUSED)
{
}

void
scribe_answer (Scribe *scribe G_GNUC_UNUSED, GBytes *answer G_GNUC_UNUSED, int code G_GNUC_UNUSED)
{
}

void
scribe_stats (Scribe *scribe G_GNUC_UNUSED, ScribeStats *stats)
{
  *stats = (ScribeStats){ .generation = 3 };
}

gboolean
bid_make (const char *target G_GNUC_UNUSED, const Identity *identity G_GNUC_UNUSED,
          BidResult *result, GError **error)
{
  *result = (BidResult){ .commit_us = 10, .generation = 42 };
  if (fails)
    g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE, "disk full");
  return !fails;
}

G_DEFINE_QUARK (coordinator - error - quark, coordinator_error)

/* ---- the driver, the Node and the engine ---- */

void
driver_post (Driver *driver G_GNUC_UNUSED, GSourceFunc function, gpointer data)
{
  Posted *one = g_new (Posted, 1);

  *one = (Posted){ function, data };
  g_async_queue_push (posted, one);
}

void
driver_step (Driver *driver G_GNUC_UNUSED, const NodeEvent *event)
{
  g_array_append_vals (steps, event, 1);
}

void
driver_say (Driver *driver G_GNUC_UNUSED, const char *format G_GNUC_UNUSED, ...)
{
}

void
driver_fail (Driver *driver G_GNUC_UNUSED, int code G_GNUC_UNUSED,
             const char *sentence G_GNUC_UNUSED)
{
  g_assert_not_reached ();
}

void
report_trouble (Driver *driver G_GNUC_UNUSED, const char *sentence G_GNUC_UNUSED)
{
}

GArray *
node_members (Node *node G_GNUC_UNUSED)
{
  GArray *members = g_array_new (FALSE, TRUE, sizeof (NodeMember));

  return g_array_set_size (members, 2);
}

NodeId
node_self (Node *node G_GNUC_UNUSED)
{
  return (NodeId){ 1, 1, 1 };
}

guint32
node_term (Node *node G_GNUC_UNUSED)
{
  return 4;
}

static SatinBest_ best;

guint
best_count (void)
{
  return 1;
}

SatinBest_ *
best_get (guint i G_GNUC_UNUSED)
{
  return &best;
}

char *
best_show (const SatinBest_ *one G_GNUC_UNUSED)
{
  return g_strdup ("7");
}

GBytes *
engine_best (Engine *engine G_GNUC_UNUSED, guint i G_GNUC_UNUSED)
{
  return g_bytes_new ("7", 1);
}

SatinConst_ *
constant_find (const char *name G_GNUC_UNUSED)
{
  return NULL;
}

char *
record_signature (const SatinType *type G_GNUC_UNUSED)
{
  return g_strdup ("x");
}

char *
folder_spare (const char *path)
{
  return g_strdup (path);
}

const char *
run_replay_folder (const RunReplay *replay G_GNUC_UNUSED)
{
  return NULL;
}

GPtrArray *
run_replay_filter (RunReplay *replay G_GNUC_UNUSED, GPtrArray *rows)
{
  return g_ptr_array_ref (rows);
}

void
timeline_note_mark (TimelineLane *lane G_GNUC_UNUSED, const char *name G_GNUC_UNUSED,
                    const char *key G_GNUC_UNUSED, guint64 figure G_GNUC_UNUSED)
{
}

/* ---- the tests ---- */

static Driver *
begin_driver (gboolean founder)
{
  static const SatinJob *const jobs[] = { NULL };
  Driver *driver = g_new0 (Driver, 1);

  memset (scribes, 0, sizeof scribes);
  n_scribes = 0;
  fails = FALSE;
  g_array_set_size (steps, 0);
  driver->config.jobs = jobs;
  driver->config.checkpoint = "/checkpoint";
  driver->config.folder = g_dir_make_tmp ("satin-keeper-XXXXXX", NULL);
  driver->config.founder = founder;
  driver->config.run.id = (char *)"of-the-run";
  g_mutex_init (&driver->mutex);
  g_cond_init (&driver->cond);
  driver->constants
      = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
  g_hash_table_insert (driver->constants, g_strdup ("const/a"), g_bytes_new ("1", 1));
  return driver;
}

static void
run_posted (void)
{
  g_autofree Posted *one = g_async_queue_timeout_pop (posted, WAIT_US);

  g_assert_nonnull (one);
  (void)one->function (one->data);
}

static Scribe *
open_next (Driver *driver)
{
  keeper_open (driver, &(NodeEffect){ .number = 3, .whole = TRUE });
  run_posted ();
  g_assert_true (fails || driver->scribe != NULL);
  return driver->scribe;
}

/* … and has done all that it does. */
static void
retire (Driver *driver)
{
  keeper_retire (driver);
  g_thread_join (g_steal_pointer (&driver->retiring));
}

/* Some are left by the scribes that are played here. */
static void
remove_work_files (const Driver *driver)
{
  for (guint i = 1; i <= driver->terms; i++)
    {
      g_autofree char *name
          = g_strdup_printf ("%s/checkpoint-%d-%u.work", driver->config.folder, (int)getpid (), i);
      (void)unlink (name);
    }
  g_assert_cmpint (rmdir (driver->config.folder), ==, 0);
}

static void
end_driver (Driver *driver)
{
  keeper_close (driver);
  remove_work_files (driver);
  for (guint i = 0; i < n_scribes; i++)
    g_free (scribes[i].given);
  g_clear_pointer (&driver->retiring, g_thread_unref);
  g_hash_table_unref (driver->constants);
  g_free (driver->identity.run);
  g_free ((char *)driver->config.folder);
  g_mutex_clear (&driver->mutex);
  g_cond_clear (&driver->cond);
  keeper_free (driver);
  g_free (driver);
}

static void
say_published (const Scribe *scribe, guint64 ticket)
{
  scribe->config.notify (
      &(ScribeNews){ .kind = SCRIBE_PUBLISHED, .ticket = ticket, .generation = 9 },
      scribe->config.data);
  run_posted ();
}

/* What an earlier scribe published acknowledges nothing that was given to the present one. */
static void
test_only_the_present_scribe_counts (void)
{
  Driver *driver = begin_driver (TRUE);
  const Scribe *first = open_next (driver);

  say_published (first, 5);
  g_assert_cmpuint (steps->len, ==, 1);
  retire (driver);
  say_published (first, 6);
  const Scribe *second = open_next (driver);
  say_published (first, 7);
  g_assert_cmpuint (steps->len, ==, 1);
  say_published (second, 8);
  g_assert_cmpuint (steps->len, ==, 2);
  const NodeEvent *event = &g_array_index (steps, NodeEvent, 1);
  g_assert_cmpint (event->kind, ==, NODE_EVENT_PUBLISHED);
  g_assert_cmpuint (event->saved, ==, 8);
  g_assert_cmpuint (event->number, ==, 9);
  end_driver (driver);
}

#define BATCHES 100

static gpointer
restore (gpointer data)
{
  const Scribe *scribe = data;

  for (guint i = 1; i <= BATCHES; i++)
    {
      g_autoptr (GPtrArray) rows = g_ptr_array_new ();
      scribe->config.notify (
          &(ScribeNews){ .kind = SCRIBE_RESTORED, .rows = rows, .final = i == BATCHES },
          scribe->config.data);
    }
  return NULL;
}

/* However many rows there are: the scribe goes on when some were taken in. */
static void
test_all_rows_come (void)
{
  Driver *driver = begin_driver (TRUE);
  Scribe *scribe = open_next (driver);
  GThread *thread = g_thread_new ("restore", restore, scribe);

  for (guint i = 0; i < BATCHES; i++)
    run_posted ();
  g_thread_join (thread);
  g_assert_cmpuint (driver->restoring, ==, 0);
  g_assert_cmpuint (steps->len, ==, BATCHES + 1);
  g_assert_cmpint (g_array_index (steps, NodeEvent, BATCHES - 1).kind, ==, NODE_EVENT_RESTORED);
  g_assert_cmpint (g_array_index (steps, NodeEvent, BATCHES).kind, ==, NODE_EVENT_OPENED);
  g_assert_cmpuint (g_array_index (steps, NodeEvent, BATCHES).number, ==, 3);
  end_driver (driver);
}

/* Each new scribe hears who is here, all constants and, unless nothing has run yet, the best
 * values; and it opens the run that its predecessor found. */
static void
test_a_new_scribe_is_told_all (void)
{
  for (gint founder = 0; founder < 2; founder++)
    {
      Driver *driver = begin_driver (founder);

      for (guint term = 0; term < 2; term++)
        {
          const Scribe *scribe = open_next (driver);
          gboolean first = founder && term == 0;

          g_assert_cmpuint (scribe->joined, ==, 2);
          g_assert_cmpuint (scribe->constants, ==, 1);
          g_assert_cmpuint (scribe->bests, ==, !first);
          g_assert_cmpuint (scribe->loads, ==, 1);
          g_assert_cmpint (scribe->config.goes_on, ==, !first);
          g_assert_cmpuint (scribe->config.least, ==, 3);
          g_assert_cmpuint (scribe->config.term, ==, 4);
          g_assert_cmpstr (scribe->given, ==, term == 0 ? "of-the-run" : "of-the-file");
          g_assert_cmpstr (driver->identity.run, ==, "of-the-file");
          retire (driver);
        }
      end_driver (driver);
    }
}

static gboolean
has_work_file (guint i)
{
  g_autofree char *name
      = g_strdup_printf ("%s/checkpoint-%d-%u.work", scribes[i].config.copy, (int)getpid (), i + 1);

  return access (name, F_OK) == 0;
}

/* One that is not needed any more publishes what it has, ends, and its file goes. */
static void
test_an_earlier_scribe_ends (void)
{
  for (gint left = 0; left < 2; left++)
    {
      Driver *driver = begin_driver (TRUE);

      (void)open_next (driver);
      scribes[0].config.copy = driver->config.folder;
      g_assert_true (has_work_file (0));
      driver->part = left ? PART_LEFT : driver->part;
      if (left)
        {
          keeper_retire (driver);
          keeper_close (driver); /* waits for it */
        }
      else
        retire (driver);
      g_assert_cmpuint (scribes[0].finished, ==, 1);
      g_assert_cmpuint (scribes[0].freed, ==, 1);
      g_assert_false (has_work_file (0));
      end_driver (driver);
    }
}

/* Another node was elected, and this one again, while its first scribe was still opening. */
static void
test_a_scribe_that_comes_too_late_is_not_used (void)
{
  Driver *driver = begin_driver (TRUE);

  keeper_open (driver, &(NodeEffect){ .number = 3 });
  keeper_retire (driver);
  keeper_open (driver, &(NodeEffect){ .number = 3 });
  run_posted ();
  run_posted ();
  g_assert_nonnull (driver->scribe);
  g_assert_true (driver->scribe->config.data == driver->term);
  g_assert_cmpuint (driver->scribe->freed, ==, 0);
  g_assert_cmpuint (driver->openings, ==, 0);
  end_driver (driver);
}

static void
test_a_scribe_that_cannot_be_had_is_told (void)
{
  Driver *driver = begin_driver (FALSE);

  fails = TRUE;
  (void)open_next (driver);
  g_assert_cmpuint (steps->len, ==, 1);
  g_assert_cmpint (g_array_index (steps, NodeEvent, 0).kind, ==, NODE_EVENT_OPENED);
  g_assert_true (g_array_index (steps, NodeEvent, 0).failed);
  end_driver (driver);
}

/* Each as old as it is, whenever it is told. */
static void
test_what_happened_is_told_with_its_age_and_ticket (void)
{
  Driver *driver = begin_driver (TRUE);
  const Scribe *scribe = open_next (driver);
  NodeEffect effect = { .text = (char *)"left", .path = (char *)"", .number = 9 };

  effect.at_us = (guint64)g_get_monotonic_time ();
  keeper_event (driver, &effect);
  g_assert_cmpuint (scribe->ticket, ==, 9);
  gint64 age_us = scribe->age_us;
  effect.at_us -= G_USEC_PER_SEC;
  effect.number = 10;
  keeper_event (driver, &effect);
  g_assert_cmpuint (scribe->ticket, ==, 10);
  g_assert_cmpint (scribe->age_us, >=, age_us + G_USEC_PER_SEC);
  keeper_save (driver, g_ptr_array_new (), 11);
  g_assert_cmpuint (scribe->ticket, ==, 11);
  end_driver (driver);
}

static void
test_a_bid_says_what_it_found (void)
{
  for (gint turn = 0; turn < 2; turn++)
    {
      Driver *driver = begin_driver (TRUE);

      fails = turn == 1;
      keeper_bid (driver);
      run_posted ();
      g_assert_cmpuint (steps->len, ==, 1);
      const NodeEvent *event = &g_array_index (steps, NodeEvent, 0);
      g_assert_cmpint (event->kind, ==, NODE_EVENT_BID);
      g_assert_cmpint (event->failed, ==, fails);
      g_assert_cmpuint (event->number, ==, 42);
      g_assert_cmpuint (event->work_us, ==, 10);
      end_driver (driver);
      g_assert_cmpuint (g_async_queue_length (posted), ==, 0);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  posted = g_async_queue_new ();
  steps = g_array_new (FALSE, FALSE, sizeof (NodeEvent));
#define TEST(name, function) g_test_add_func ("/keeper/" name, function)
  TEST ("only-the-present-scribe-counts", test_only_the_present_scribe_counts);
  TEST ("all-rows-come", test_all_rows_come);
  TEST ("a-new-scribe-is-told-all", test_a_new_scribe_is_told_all);
  TEST ("an-earlier-scribe-ends", test_an_earlier_scribe_ends);
  TEST ("a-scribe-that-comes-too-late-is-not-used", test_a_scribe_that_comes_too_late_is_not_used);
  TEST ("a-scribe-that-cannot-be-had-is-told", test_a_scribe_that_cannot_be_had_is_told);
  TEST ("what-happened-is-told-with-its-age-and-ticket",
        test_what_happened_is_told_with_its_age_and_ticket);
  TEST ("a-bid-says-what-it-found", test_a_bid_says_what_it_found);
  return g_test_run ();
}
