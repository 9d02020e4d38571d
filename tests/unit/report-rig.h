/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of node/report.c and report-jobs.c: plays engine, Node and scribe, with another value
 * for each figure, and notes what is written. */
#pragma once

#include "node/driver-private.h"

#include "coordinator/readable.h"
#include "engine/best.h"
#include "value/record.h"

#include "folder/folder.h"
#include "folder/timeline-file.h"

#include "host/outlet.h"
#include "host/say.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

static const SatinType args_type, result_type;
static const SatinJob square_job = { .name = "square", .args = &args_type, .result = &result_type };
static const SatinJob *const jobs[] = { &square_job, NULL };

static Driver driver;
static GString *called;
static EngineStats engine;
static NodeStats node;
static ScribeStats scribe;
static NodeMember members[2];
static guint n_members;
static GPtrArray *taken;
static GArray *departed;
static GPtrArray *running;
static NodeWaits waits;
static double share, pace_busy, left_age_s;
static gboolean is_the_end; /* the next crash report ends the run */

static void G_GNUC_PRINTF (1, 2) note (const char *format, ...)
{
  va_list list;

  va_start (list, format);
  g_string_append_vprintf (called, format, list);
  va_end (list);
}

static void
noted (const char *wanted)
{
  g_assert_cmpstr (called->str, ==, wanted);
  g_string_truncate (called, 0);
}

static NodeId
id_of (guint32 number)
{
  return (NodeId){ .term = 1, .number = number, .random = 0xab };
}

/* ---- clocks ---- */

gint64
g_get_monotonic_time (void)
{
  return 100 * G_USEC_PER_SEC;
}

int
clock_gettime (clockid_t clock, struct timespec *now)
{
  *now = clock == CLOCK_PROCESS_CPUTIME_ID ? (struct timespec){ 21, 500000000 }
                                           : (struct timespec){ 22, 250000000 };
  return 0;
}

pid_t
getpid (void)
{
  return 77;
}

/* ---- engine, Node and scribe ---- */

void
engine_stats (Engine *unused G_GNUC_UNUSED, EngineStats *stats)
{
  *stats = engine;
}

double
engine_share (Engine *unused G_GNUC_UNUSED)
{
  return share;
}

void
engine_look_ask (Engine *unused G_GNUC_UNUSED)
{
  note ("look again\n");
}

GPtrArray *
engine_look (Engine *unused G_GNUC_UNUSED, guint max, guint *more)
{
  *more = max;
  return g_ptr_array_ref (running);
}

void
engine_crash_reported (gboolean end)
{
  note ("crash is reported%s\n", end ? ", the end" : "");
}

void
node_stats (Node *unused G_GNUC_UNUSED, NodeStats *stats)
{
  *stats = node;
}

GArray *
node_members (Node *unused G_GNUC_UNUSED)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (NodeMember));

  return g_array_append_vals (all, members, n_members);
}

NodeId
node_self (Node *unused G_GNUC_UNUSED)
{
  return id_of (1);
}

guint32
node_term (Node *unused G_GNUC_UNUSED)
{
  return 6;
}

gboolean
node_stops (Node *unused G_GNUC_UNUSED)
{
  return driver.warned;
}

gint64
node_root (Node *unused G_GNUC_UNUSED)
{
  return driver.n_troubles > 0 ? -1 : 4;
}

const GArray *
node_departed (Node *unused G_GNUC_UNUSED)
{
  return departed;
}

const GPtrArray *
node_taken (Node *unused G_GNUC_UNUSED)
{
  return taken;
}

NodeWaits
node_waits (Node *unused G_GNUC_UNUSED, guint64 loan, NodeId *holder)
{
  g_assert_cmpuint (loan, ==, 8);
  *holder = id_of (3);
  return waits;
}

void
scribe_stats (Scribe *unused G_GNUC_UNUSED, ScribeStats *stats)
{
  *stats = scribe;
}

double
left_pace (LeftPace *pace, double busy, double now_s)
{
  g_assert_true (pace == &driver.pace);
  g_assert_cmpfloat (now_s, ==, 100);
  pace_busy = busy;
  return 2 * busy;
}

gboolean
left_time (const LeftRange *work, double busy, double age_s, LeftRange *time)
{
  g_assert_cmpfloat (busy, ==, 2 * pace_busy);
  left_age_s = age_s;
  *time = (LeftRange){ work->best_s, work->low_s, work->high_s };
  return busy > 0;
}

guint
best_count (void)
{
  return 1;
}

SatinBest_ *
best_get (guint i)
{
  static SatinBest_ best = { .name = "length" };

  g_assert_cmpuint (i, ==, 0);
  return &best;
}

char *
best_show (const SatinBest_ *best)
{
  g_assert_cmpstr (best->name, ==, "length");
  return g_strdup ("7");
}

char *
record_signature (const SatinType *type)
{
  return g_strdup (type == &args_type ? "(i)" : "x");
}

char *
readable_short (const char *type, GBytes *value)
{
  return g_strdup_printf ("(%s %.*s)", type, (int)g_bytes_get_size (value),
                          (const char *)g_bytes_get_data (value, NULL));
}

/* ---- what is written ---- */

gboolean
outlet_write (const char *path, const char *text, GError **error G_GNUC_UNUSED)
{
  note ("write %s: %s", path, text);
  return TRUE;
}

void
say_line (const char *format, ...)
{
  note ("%s\n", format);
}

char *
folder_node_file (gint64 pid, const char *suffix)
{
  return g_strdup_printf ("node-%d.%s", (int)pid, suffix);
}

gboolean
folder_write (const char *path, const char *file, GBytes *bytes, GError **error G_GNUC_UNUSED)
{
  note ("%s/%s: %.*s", path, file, (int)g_bytes_get_size (bytes),
        (const char *)g_bytes_get_data (bytes, NULL));
  return TRUE;
}

gboolean
folder_renew (const char *path, const char *file, GBytes *bytes, GError **error)
{
  return folder_write (path, file, bytes, error);
}

gboolean
folder_remove (const char *path, GError **error G_GNUC_UNUSED)
{
  note ("remove %s\n", path);
  return TRUE;
}

void
timeline_take (Timeline *unused G_GNUC_UNUSED, GString *to)
{
  g_string_append (to, "events ");
}

void
timeline_take_open (Timeline *unused G_GNUC_UNUSED, GString *to)
{
  g_string_append (to, "open ");
}

void
timeline_file_add (const char *path, const GString *text)
{
  note ("%s: %s\n", path, text->str);
}

void
driver_say (Driver *unused G_GNUC_UNUSED, const char *format, ...)
{
  va_list list;

  va_start (list, format);
  g_autofree char *text = g_strdup_vprintf (format, list);
  va_end (list);
  note ("say %s\n", text);
}

void
driver_step (Driver *its, const NodeEvent *event)
{
  note ("report %s: %s%s\n", event->path, event->text, event->final ? " (final)" : "");
  if (is_the_end)
    its->part = PART_STOPPED;
}

void
mesh_flush (Driver *unused G_GNUC_UNUSED)
{
  note ("flush\n");
}

void
run_replay_forget (RunReplay *unused G_GNUC_UNUSED)
{
}

static void
set_up (void)
{
  called = g_string_new (NULL);
  taken = g_ptr_array_new ();
  running = g_ptr_array_new ();
  departed = g_array_new (FALSE, FALSE, sizeof (NodeDeparted));
  waits = NODE_WAITS_NODE;
  share = 0.25;
  is_the_end = FALSE;
  driver = (Driver){ .config = { .run = { .name = (char *)"tour", .id = (char *)"run-1" },
                                 .jobs = jobs,
                                 .folder = "/run",
                                 .checkpoint = "/c",
                                 .trace = "/trace",
                                 .workers = 4 },
                     .part = PART_MEMBER,
                     .started_us = 60 * G_USEC_PER_SEC,
                     .scribe = (Scribe *)&scribe,
                     .names = g_array_new (FALSE, FALSE, sizeof (NodeId)) };
  g_queue_init (&driver.troubles);
  engine = (EngineStats){ 1, 2, 3, 4, 5, 6, 7000000, 8000000, 9000000, 3 };
  node = (NodeStats){ .steals_remote = 31,
                      .crashes = 32,
                      .waits = 33,
                      .waited_us = 34000000,
                      .verified = 35,
                      .copied_bytes = 36,
                      .kept_bytes = 37,
                      .lost_us = 38000000,
                      .salvaged_us = 39000000,
                      .unpublished_us = 40000000,
                      .alone_us = 41000000,
                      .answer_us = 42000000,
                      .restored_us = 43000000,
                      .shared_fetched = 44,
                      .shared_bytes = 45 };
  for (guint i = 0; i < NODE_SENT_USES; i++)
    node.sent_bytes[i] = 50 + i;
  scribe = (ScribeStats){ .saves = 61,
                          .rows = 62,
                          .saved_rows = 63,
                          .bytes = 64,
                          .cpu_us = 65000000,
                          .done = 0.5,
                          .left = { 66, 67, 68 },
                          .left_us = 90 * G_USEC_PER_SEC };
  members[0] = (NodeMember){ .id = id_of (1),
                             .address = (char *)"unix:/1",
                             .host = (char *)"h1",
                             .site = (char *)"a",
                             .pid = 77,
                             .workers = 4,
                             .master = TRUE,
                             .self = TRUE };
  members[1] = (NodeMember){ .id = id_of (2),
                             .address = (char *)"unix:/2",
                             .host = (char *)"h2",
                             .site = (char *)"b",
                             .pid = 78,
                             .workers = 5,
                             .told_us = 90 * G_USEC_PER_SEC,
                             .work_us = 500000000,
                             .risk_us = 200000000,
                             .alone_us = 100000000,
                             .busy = 2,
                             .coordinator = TRUE };
  n_members = 2;
}

static void
tear_down (void)
{
  g_string_free (called, TRUE);
  g_ptr_array_unref (taken);
  g_ptr_array_unref (running);
  g_array_unref (departed);
  g_array_unref (driver.names);
  g_queue_clear_full (&driver.troubles, g_free);
}
