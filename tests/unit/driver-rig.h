/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of node/driver.c: plays engine, Node, links, folder and clock, and notes what is
 * called. */
#pragma once

#include "called.h"

#include "node/driver-private.h"

#include "engine/best.h"
#include "engine/os/memory.h"

#include "folder/folder.h"
#include "folder/relay.h"

#include "host/say.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define DUMMY(type) ((type *)(void *)&driver)

static Driver *driver;
static GMainContext *context;
static DriveConfig drive_calls;
static EngineConfig engine_calls;
static GQueue mailbox = G_QUEUE_INIT; /* of EngineEvent */
static NodeEvent heard;               /* the last event of the Node */
static gint64 now_us;
static guint n_effects, n_members; /* effects of the next step */
static gboolean goes_on;           /* the next effect causes two more events */
static gboolean run_has_ended, folder_is_there, is_deaf, is_quiet, is_hungry, is_roused;

/* ---- clock and folder ---- */

gint64
g_get_monotonic_time (void)
{
  return now_us;
}

/* Each turn of the context is one period. */
GSource *
g_timeout_source_new (guint ms G_GNUC_UNUSED)
{
  return g_idle_source_new ();
}

GThread *
g_thread_new (const char *name, GThreadFunc function G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  note ("thread %s", name);
  return NULL;
}

int
access (const char *path, int mode G_GNUC_UNUSED)
{
  errno = ENOENT;
  return folder_is_there && strcmp (path, "/run") == 0 ? 0 : -1;
}

gboolean
folder_has_ended (const char *path, int *code, char **sentence G_GNUC_UNUSED)
{
  g_assert_cmpstr (path, ==, "/run");
  *code = 0;
  return run_has_ended;
}

gboolean
folder_end (const char *path, int code, const char *sentence, GError **error G_GNUC_UNUSED)
{
  note ("end %s %d %s", path, code, sentence);
  return TRUE;
}

gboolean
folder_remove (const char *path, GError **error G_GNUC_UNUSED)
{
  note ("remove %s", path);
  return TRUE;
}

void
folder_sign (const char *path G_GNUC_UNUSED)
{
  note ("sign");
}

char *
folder_node_file (gint64 pid, const char *suffix)
{
  return g_strdup_printf ("node-%d.%s", (int)pid, suffix);
}

guint64
folder_interval_us (double interval_s)
{
  return (guint64)(interval_s * 1e6);
}

void
say_line (const char *format, ...)
{
  note ("%s", format);
}

void
relay_end (void)
{
}

/* ---- the other parts of the driver ---- */

Poller *
poller_new (GError **error G_GNUC_UNUSED)
{
  return DUMMY (Poller);
}

GMainContext *
poller_context (Poller *unused G_GNUC_UNUSED)
{
  return context;
}

void
poller_free (Poller *unused G_GNUC_UNUSED)
{
}

Drive *
drive_new (const DriveConfig *config, GError **error G_GNUC_UNUSED)
{
  drive_calls = *config;
  return DUMMY (Drive);
}

gboolean
drive_idle (Drive *unused G_GNUC_UNUSED, DriveWish (*wish) (void *data), void *data, gint64 look_us)
{
  static const char *const names[] = { "leave", "sleep", "spin" };

  note ("idle %d %s", (int)look_us, names[wish (data)]);
  return TRUE;
}

gboolean
drive_is_deaf (const Drive *unused G_GNUC_UNUSED)
{
  return is_deaf;
}

void
drive_quit (Drive *unused G_GNUC_UNUSED)
{
  note ("quit");
}

void
drive_free (Drive *unused G_GNUC_UNUSED)
{
}

void
drive_run (Drive *unused G_GNUC_UNUSED)
{
}

void
drive_wake (Drive *unused G_GNUC_UNUSED)
{
  note ("wake");
}

void
drive_wake_late (Drive *unused G_GNUC_UNUSED)
{
  note ("wake late");
}

void
driver_show_address (Driver *unused G_GNUC_UNUSED)
{
  note ("address");
}

void
driver_stop (Driver *unused G_GNUC_UNUSED)
{
}

gboolean
mesh_open (Driver *unused G_GNUC_UNUSED, GError **error G_GNUC_UNUSED)
{
  return TRUE;
}

const char *
mesh_address (Driver *unused G_GNUC_UNUSED)
{
  return "unix:/here";
}

void
mesh_join (Driver *unused G_GNUC_UNUSED)
{
  note ("join");
}

void
mesh_flush (Driver *unused G_GNUC_UNUSED)
{
  note ("flush");
}

void
mesh_close (Driver *unused G_GNUC_UNUSED)
{
}

void
keeper_best (Driver *unused G_GNUC_UNUSED, guint best)
{
  note ("keep best %u", best);
}

void
keeper_free (Driver *unused G_GNUC_UNUSED)
{
}

void
report_timeline (Driver *unused G_GNUC_UNUSED, gboolean last G_GNUC_UNUSED)
{
}

void
report_stats (Driver *unused G_GNUC_UNUSED, gboolean last)
{
  note ("figures%s", last ? ", the last" : "");
}

void
report_failed_job (Driver *unused G_GNUC_UNUSED, const EngineEvent *said)
{
  note ("failed job %d", said->kind == ENGINE_FAILED);
}

gboolean
run_replay_begin (RunReplay *replay G_GNUC_UNUSED, Engine *engine G_GNUC_UNUSED,
                  Stems *stems G_GNUC_UNUSED, GError **error G_GNUC_UNUSED)
{
  return TRUE;
}

void
run_replay_forget (RunReplay *unused G_GNUC_UNUSED)
{
}

gboolean
memory_give_back (void)
{
  note ("give memory back");
  return !is_quiet;
}

Timeline *
timeline_new (gint64 pid G_GNUC_UNUSED, const char *name G_GNUC_UNUSED)
{
  return NULL;
}

TimelineLane *
timeline_lane (Timeline *unused G_GNUC_UNUSED, guint number G_GNUC_UNUSED,
               const char *name G_GNUC_UNUSED)
{
  return NULL;
}

void
timeline_free (Timeline *unused G_GNUC_UNUSED)
{
}

/* ---- the engine ---- */

Engine *
engine_new (const EngineConfig *config, GError **error G_GNUC_UNUSED)
{
  engine_calls = *config;
  return DUMMY (Engine);
}

void
engine_free (Engine *unused G_GNUC_UNUSED)
{
}

void
engine_halt (Engine *unused G_GNUC_UNUSED, gboolean leaving G_GNUC_UNUSED)
{
}

gboolean
engine_is_hungry (Engine *unused G_GNUC_UNUSED)
{
  return is_hungry;
}

gboolean
engine_is_roused (Engine *unused G_GNUC_UNUSED)
{
  return is_roused;
}

gboolean
engine_next_event (Engine *unused G_GNUC_UNUSED, EngineEvent *event)
{
  EngineEvent *first = g_queue_pop_head (&mailbox);

  if (first != NULL)
    *event = *first;
  return first != NULL;
}

void
engine_event_clear (EngineEvent *unused G_GNUC_UNUSED)
{
}

void
engine_stats (Engine *unused G_GNUC_UNUSED, EngineStats *stats)
{
  *stats = (EngineStats){ .work_us = 51, .risk_us = 52, .busy = 53 };
}

GArray *
engine_progress (Engine *unused G_GNUC_UNUSED)
{
  GArray *all = g_array_new (FALSE, TRUE, sizeof (EngineProgress));

  g_array_append_val (all, ((EngineProgress){ .held = 54, .risk_us = 55, .busy = 1 }));
  return all;
}

guint
best_count (void)
{
  return 0;
}

/* ---- the Node ---- */

Node *
node_new (const NodeConfig *config)
{
  g_assert_cmpstr (config->address, ==, "unix:/here");
  return DUMMY (Node);
}

void
node_free (Node *unused G_GNUC_UNUSED)
{
}

PlanKnobs
plan_knobs (PlanName name G_GNUC_UNUSED)
{
  return (PlanKnobs){ 0 };
}

GArray *
node_members (Node *unused G_GNUC_UNUSED)
{
  GArray *members = g_array_new (FALSE, TRUE, sizeof (NodeMember));

  return g_array_set_size (members, n_members);
}

void
node_effect_clear (NodeEffect *effect G_GNUC_UNUSED)
{
}

/* The names of the events that the driver makes of the engine's, by their numbers. */
static const char *
name_of (NodeEventKind kind)
{
  static const struct
  {
    NodeEventKind kind;
    const char *name;
  } names[] = {
    { NODE_EVENT_IDLE, "idle" },         { NODE_EVENT_DONE, "done" },
    { NODE_EVENT_UNRUN, "unrun" },       { NODE_EVENT_ADOPT, "adopt" },
    { NODE_EVENT_WANT, "want" },         { NODE_EVENT_ABORTED, "aborted" },
    { NODE_EVENT_COVERED, "covered" },   { NODE_EVENT_UNMATCHED, "unmatched" },
    { NODE_EVENT_ROWS, "rows" },         { NODE_EVENT_FINISHED, "finished" },
    { NODE_EVENT_SHARED, "shared" },     { NODE_EVENT_HALTED, "halted" },
    { NODE_EVENT_IMPROVED, "improved" }, { NODE_EVENT_SERVED, "served" },
    { NODE_EVENT_TIMER, "timer" },       { NODE_EVENT_SUSPEND, "suspend" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (names[i].kind == kind)
      return names[i].name;
  return "another event";
}

void
node_step (Node *unused G_GNUC_UNUSED, guint64 time_us, const NodeEvent *event, GArray *effects)
{
  g_assert_cmpuint (time_us, ==, (guint64)now_us);
  g_assert_cmpuint (effects->len, ==, 0);
  heard = *event;
  if (event->kind == NODE_EVENT_WORK)
    {
      const NodeProgress *one = &g_array_index (event->progress, NodeProgress, 0);
      g_assert_cmpuint (event->work_us, ==, 51);
      g_assert_cmpuint (event->risk_us, ==, 52);
      g_assert_cmpuint (event->count, ==, 53);
      g_assert_cmpuint (one->held, ==, 54);
      g_assert_cmpuint (one->risk_us, ==, 55);
      note ("work");
    }
  else
    note ("%s %u", name_of (event->kind), (guint)event->number);
  g_array_set_size (effects, n_effects);
  n_effects = 0;
}

void
driver_carry_out (Driver *its, NodeEffect *effect G_GNUC_UNUSED)
{
  if (!goes_on)
    return;
  goes_on = FALSE;
  for (guint i = 1; i <= 2; i++)
    {
      DriverPending *pending = g_new0 (DriverPending, 1);
      pending->event = (NodeEvent){ .kind = NODE_EVENT_UNRUN, .number = i };
      g_queue_push_tail (&its->pending, pending);
    }
  its->tell = its->missed = TRUE;
}

static void
turn (guint n)
{
  while (n-- > 0)
    {
      now_us += G_USEC_PER_SEC;
      g_main_context_iteration (context, FALSE);
    }
}

static void
set_up (gboolean founder)
{
  const DriverConfig config = { .folder = "/run", .founder = founder, .interval_s = 2 };

  called = g_string_new (NULL);
  context = g_main_context_new ();
  now_us = 1000 * G_USEC_PER_SEC;
  folder_is_there = TRUE;
  run_has_ended = is_deaf = is_quiet = is_hungry = is_roused = goes_on = FALSE;
  n_effects = 0;
  n_members = 2;
  driver = driver_new (&config, NULL);
  noted ("thread satin-driver\n");
  g_main_context_iteration (context, FALSE);
  noted (founder ? "timer 0\n" : "timer 0\njoin\n");
  fclose (driver->log);
  driver->log = fopen ("/dev/null", "w");
  driver->part = PART_MEMBER;
}

static void
tear_down (void)
{
  fclose (driver->log);
  g_assert_true (driver_free (driver));
  g_main_context_unref (context);
  g_string_free (called, TRUE);
}
