/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of keeper.c: plays the driver, the Node and the scribe; posted functions run
 * when the test says so. Only one source of a program may include it. */
#pragma once

#include "node/driver-private.h"

#include "coordinator/bid.h"
#include "coordinator/scribe.h"

#include "engine/best.h"
#include "engine/constant.h"
#include "record.h"

#include "folder/folder.h"

#include <unistd.h>

#define WAIT_US (20 * G_USEC_PER_SEC) /* Reached only if a test fails. */
#define SCRIBES_MAX 8

struct Scribe
{
  ScribeConfig config;
  char *given; /* The run for which it was opened. */
  guint joined, constants, bests, loads, finished, offered, freed;
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
static guint64 bid_us = 10; /* The time that writing a bid's file takes. */
static int fails_with = COORDINATOR_ERROR_STORE;
static GAsyncQueue *posted; /* Of Posted. */
static GArray *steps;       /* Of NodeEvent, without what it points to. */
static GMutex mutex;
static GString *said; /* What scribes were told, in this order. */

/* ---- the scribe, played here ---- */

static void G_GNUC_PRINTF (1, 2) note (const char *format, ...)
{
  va_list list;

  va_start (list, format);
  g_mutex_lock (&mutex);
  g_string_append_vprintf (said, format, list);
  g_mutex_unlock (&mutex);
  va_end (list);
}

Scribe *
scribe_new (const ScribeConfig *config, Identity *identity, GError **error)
{
  if (fails)
    {
      g_set_error (error, COORDINATOR_ERROR, fails_with, "disk full");
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
  g_atomic_int_inc ((gint *)&scribe->freed);
}

void
scribe_finish (Scribe *scribe)
{
  scribe->finished++;
  note ("finish; ");
}

void
scribe_offer (Scribe *scribe)
{
  scribe->offered++;
  note ("offer; ");
}

void
scribe_joined (Scribe *scribe, const NodeId *id, const char *host, const char *site,
               const char *address)
{
  scribe->joined++;
  note ("joined %u %s %s %s; ", id->number, host, site, address);
}

void
scribe_constant (Scribe *scribe, const char *name, const char *type, GBytes *value)
{
  scribe->constants++;
  note ("constant %s %s %.*s; ", name, type, (int)g_bytes_get_size (value),
        (const char *)g_bytes_get_data (value, NULL));
}

void
scribe_best (Scribe *scribe, const char *name G_GNUC_UNUSED, const char *type G_GNUC_UNUSED,
             GBytes *value G_GNUC_UNUSED, const char *text G_GNUC_UNUSED)
{
  scribe->bests++;
}

void
scribe_load (Scribe *scribe, const char *path)
{
  scribe->loads++;
  note ("load %s; ", path != NULL ? path : "all");
}

void
scribe_ticket (Scribe *scribe, guint64 ticket)
{
  scribe->ticket = ticket;
  note ("ticket %u; ", (guint)ticket);
}

void
scribe_told (Scribe *scribe, const char *kind, const NodeId *node, const char *path,
             guint64 work_us, const char *detail, gint64 age_us)
{
  scribe->age_us = age_us;
  note ("told %s %u %s %u %s; ", kind, node->number, path, (guint)work_us, detail);
}

void
scribe_save (Scribe *scribe G_GNUC_UNUSED, GPtrArray *rows)
{
  note ("save %u; ", rows->len);
  g_ptr_array_unref (rows);
}

void
scribe_event (Scribe *scribe G_GNUC_UNUSED, const char *kind, const NodeId *node,
              const char *path G_GNUC_UNUSED, guint64 work_us G_GNUC_UNUSED, const char *detail)
{
  note ("event %s %u %s; ", kind, node->number, detail);
}

void
scribe_present (Scribe *scribe G_GNUC_UNUSED, const GArray *ids)
{
  for (guint i = 0; i < ids->len; i++)
    note ("present %u; ", g_array_index (ids, NodeId, i).number);
}

void
scribe_answer (Scribe *scribe G_GNUC_UNUSED, GBytes *answer, int code)
{
  note ("answer %.*s %d; ", (int)g_bytes_get_size (answer),
        (const char *)g_bytes_get_data (answer, NULL), code);
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
  *result = (BidResult){ .commit_us = bid_us, .generation = 42 };
  if (fails)
    g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE, "disk full");
  return !fails;
}

G_DEFINE_QUARK (coordinator - error - quark, coordinator_error)

/* ---- the driver, the Node and the engine, played here ---- */

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

static guint n_failed; /* How often the node failed. */

void
driver_fail (Driver *driver G_GNUC_UNUSED, int code G_GNUC_UNUSED,
             const char *sentence G_GNUC_UNUSED)
{
  n_failed++;
}

void
report_trouble (Driver *driver G_GNUC_UNUSED, const char *sentence G_GNUC_UNUSED)
{
}

GArray *
node_members (Node *node G_GNUC_UNUSED)
{
  GArray *members = g_array_new (FALSE, TRUE, sizeof (NodeMember));

  g_array_set_size (members, 2);
  for (guint i = 0; i < members->len; i++)
    {
      NodeMember *member = &g_array_index (members, NodeMember, i);
      member->id.number = i + 1;
      member->host = (char *)"host";
      member->site = (char *)"site";
      member->address = (char *)"address";
    }
  return members;
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

static SatinConst_ known_constant; /* "known"; the others are bytes. */

SatinConst_ *
constant_find (const char *name)
{
  return strcmp (name, "known") == 0 ? &known_constant : NULL;
}

/* A type is named by where it lies in `types`. */
static const SatinType types[4];

char *
record_signature (const SatinType *type)
{
  return type >= types && type < types + G_N_ELEMENTS (types)
             ? g_strdup_printf ("type-%d", (int)(type - types))
             : g_strdup ("x");
}

guint64
folder_interval_us (double interval_s)
{
  return interval_s > 0 ? (guint64)(interval_s * 1e6) : 2000000;
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

/* ---- what the tests call ---- */

static inline Driver *
begin_driver (gboolean founder)
{
  static const SatinJob *const jobs[] = { NULL };
  Driver *driver = g_new0 (Driver, 1);

  memset (scribes, 0, sizeof scribes);
  n_scribes = 0;
  fails = FALSE;
  n_failed = 0;
  if (steps == NULL)
    {
      posted = g_async_queue_new ();
      said = g_string_new (NULL);
      steps = g_array_new (FALSE, FALSE, sizeof (NodeEvent));
    }
  g_array_set_size (steps, 0);
  g_string_truncate (said, 0);
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

static inline void
run_posted (void)
{
  g_autofree Posted *one = g_async_queue_timeout_pop (posted, WAIT_US);

  g_assert_nonnull (one);
  (void)one->function (one->data);
}

static inline Scribe *
open_next (Driver *driver)
{
  keeper_open (driver, &(NodeEffect){ .number = 3, .whole = TRUE });
  run_posted ();
  g_assert_true (fails || driver->scribe != NULL);
  return driver->scribe;
}

/* Retires the scribe and waits until that is done. */
static inline void
retire (Driver *driver)
{
  keeper_retire (driver);
  g_thread_join (g_steal_pointer (&driver->retiring));
}

/* Removes the work files that the played scribes leave. */
static inline void
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

static inline void
end_driver (Driver *driver)
{
  keeper_close (driver);
  remove_work_files (driver);
  for (guint i = 0; i < n_scribes; i++)
    g_free (scribes[i].given);
  g_clear_pointer (&driver->retiring, g_thread_unref);
  g_hash_table_unref (driver->constants);
  g_free (driver->checkpoint_run);
  g_free ((char *)driver->config.folder);
  g_mutex_clear (&driver->mutex);
  g_cond_clear (&driver->cond);
  keeper_free (driver);
  g_free (driver);
}
