/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop: events of links, engine, scribe and main go into node_step, whose effects are carried
 * out in order (driver-effects.c). Owns the Node and the thread; decides nothing.
 * Tests: test-driver, test-drive, run.sh. */
#include "driver-private.h"

#include "engine/best.h"
#include "engine/os/memory.h"

#include "folder/folder.h"
#include "folder/relay.h"

#include "host/say.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define STATS_PERIOD_MS 1000
/* For each so many members, a node skips one period. */
#define STATS_MEMBERS 64
/* A node hears of the end long before so many periods. */
#define OVER_PERIODS 4
/* So long after a member left, what this node held for it is free: memory is given back. */
#define DEPARTED_MS 5000
/* Effects of one step, such as for a batch of rows. Room for so many is kept. */
#define EFFECTS_FEW 300

void
driver_say (Driver *driver, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  if (driver->config.embedded)
    say_line ("%s", text);
  else if (driver->config.solo)
    fprintf (driver->log, "satin: %s\n", text);
  else
    fprintf (driver->log, "[%.3f] %s\n",
             (double)(g_get_monotonic_time () - driver->started_us) / 1e6, text);
}

void
driver_set_ended (Driver *driver, DriverPartEvent event, int code, const char *sentence)
{
  g_mutex_lock (&driver->mutex);
  if (!driver_has_ended (driver))
    {
      driver->end_code = code;
      driver->reason = g_strdup (sentence);
    }
  driver->part = driver_part_after (driver->part, event);
  g_cond_broadcast (&driver->cond);
  g_mutex_unlock (&driver->mutex);
}

void
driver_fail (Driver *driver, int code, const char *sentence)
{
  if (driver->config.embedded)
    {
      driver_set_ended (driver, PART_ON_STOP, code, sentence);
      return;
    }
  if (driver->config.folder != NULL)
    {
      g_autoptr (GError) error = NULL;
      if (driver->config.founder && !folder_end (driver->config.folder, code, sentence, &error))
        driver_say (driver, "%s", error->message);
      report_stats (driver, TRUE);
    }
  fprintf (driver->log, "satin: %s\n", sentence);
  if (driver->config.solo && driver->config.folder != NULL)
    folder_remove (driver->config.folder, NULL);
  run_replay_forget (driver->config.replay);
  relay_end ();
  _exit (code);
}

static void
new_effects (Driver *driver)
{
  g_clear_pointer (&driver->effects, g_array_unref);
  driver->effects = g_array_sized_new (FALSE, FALSE, sizeof (NodeEffect), EFFECTS_FEW);
  g_array_set_clear_func (driver->effects, (GDestroyNotify)node_effect_clear);
}

static void
step_once (Driver *driver, const NodeEvent *event)
{
  GArray *effects = driver->effects;

  node_step (driver->node, (guint64)g_get_monotonic_time (), event, effects);
  for (guint i = 0; i < effects->len; i++)
    driver_carry_out (driver, &g_array_index (effects, NodeEffect, i));
  if (effects->len <= EFFECTS_FEW)
    g_array_set_size (effects, 0);
  else
    new_effects (driver);
}

/* Steps NODE_EVENT_WORK: what the engine did, and what is at risk. */
static void
tell_work (Driver *driver)
{
  g_autoptr (GArray) all = engine_progress (driver->engine);
  g_autoptr (GArray) progress = g_array_new (FALSE, FALSE, sizeof (NodeProgress));
  EngineStats stats;
  driver->tell = FALSE;
  engine_stats (driver->engine, &stats);
  for (guint i = 0; i < all->len; i++)
    {
      const EngineProgress *one = &g_array_index (all, EngineProgress, i);
      NodeProgress item = { one->held, one->risk_us, one->busy };
      g_array_append_val (progress, item);
    }
  driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_WORK,
                                     .work_us = stats.work_us,
                                     .risk_us = stats.risk_us,
                                     .count = stats.busy,
                                     .progress = progress });
}

void
driver_step (Driver *driver, const NodeEvent *event)
{
  DriverPending *pending;
  g_assert (!driver->stepping);
  driver->stepping = TRUE;
  step_once (driver, event);
  while ((pending = g_queue_pop_head (&driver->pending)) != NULL)
    {
      step_once (driver, &pending->event);
      g_clear_pointer (&pending->loans, g_ptr_array_unref);
      g_free (pending->path);
      g_free (pending->text);
      g_free (pending);
    }
  driver->stepping = FALSE;
  if (driver->tell)
    tell_work (driver);
  if (driver->missed) /* this node saw it, and may be the next to die */
    report_stats (driver, FALSE);
  driver->missed = FALSE;
}

void
driver_post (Driver *driver, GSourceFunc function, gpointer data)
{
  g_autoptr (GSource) source = g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, function, data, NULL);
  g_source_attach (source, driver->context);
}

/* The Node's event with all values of the engine's; its kind is set later. */
static NodeEvent
event_of (const EngineEvent *said)
{
  return (NodeEvent){ .held = said->held,
                      .loan = said->loan,
                      .path = said->path,
                      .digest = said->digest,
                      .node = said->holder,
                      .work_us = said->work_us,
                      .risk_us = said->risk_us,
                      .began_ms = said->began_ms,
                      .took_ms = said->took_ms,
                      .bytes = said->value,
                      .shares = said->shared,
                      .rows = said->rows,
                      .job = said->whole,
                      .count = said->seats,
                      .number = said->best };
}

static void
hear_engine (Driver *driver, EngineEvent *said)
{
  NodeEvent event = event_of (said);

  switch (said->kind)
    {
    case ENGINE_HUNGRY:
      event.kind = NODE_EVENT_IDLE;
      break;
    case ENGINE_DONE:
      event.kind = NODE_EVENT_DONE;
      break;
    case ENGINE_UNRUN:
      event.kind = NODE_EVENT_UNRUN;
      break;
    case ENGINE_ADOPT:
      event.kind = NODE_EVENT_ADOPT;
      break;
    case ENGINE_WANT:
      event.kind = NODE_EVENT_WANT;
      event.number = said->length;
      break;
    case ENGINE_ABORTED:
      event.kind = NODE_EVENT_ABORTED;
      break;
    case ENGINE_COVERED:
      event.kind = NODE_EVENT_COVERED;
      break;
    case ENGINE_UNMATCHED:
      event.kind = NODE_EVENT_UNMATCHED;
      break;
    case ENGINE_ROWS:
      event.kind = NODE_EVENT_ROWS;
      break;
    case ENGINE_FINISHED:
      event.kind = NODE_EVENT_FINISHED;
      break;
    case ENGINE_SHARED:
      event.kind = NODE_EVENT_SHARED;
      break;
    case ENGINE_HALTED:
      event.kind = NODE_EVENT_HALTED;
      break;
    case ENGINE_IMPROVED:
      event.kind = NODE_EVENT_IMPROVED;
      keeper_best (driver, said->best);
      break;
    case ENGINE_CRASH_REPORT:
    case ENGINE_FAILED:
      report_failed_job (driver, said);
      return;
    case ENGINE_SCANNED:
      event.kind = NODE_EVENT_SERVED;
      event.number = said->scan;
      break;
    }
  if (said->kind == ENGINE_HALTED)
    tell_work (driver); /* what is at risk now is lost if this node leaves */
  driver_step (driver, &event);
  if (said->kind == ENGINE_SCANNED)
    tell_work (driver);
}

static void
serve_engine (void *data)
{
  Driver *driver = data;
  EngineEvent said;
  while (engine_next_event (driver->engine, &said))
    {
      hear_engine (driver, &said);
      engine_event_clear (&said);
    }
}

static void
flush (void *data)
{
  mesh_flush (data);
}

/* EngineConfig.wake; other threads may call it before driver_new returns. */
static void
wake (void *data)
{
  drive_wake (((Driver *)data)->drive);
}

static void
wake_late (void *data)
{
  drive_wake_late (((Driver *)data)->drive);
}

static DriveWish
wish_of_idler (void *data)
{
  if (engine_is_roused (data))
    return DRIVE_LEAVE;
  return engine_is_hungry (data) ? DRIVE_SPIN : DRIVE_SLEEP;
}

static gboolean
idle (void *data, gint64 look_us)
{
  Driver *driver = data;
  return __atomic_load_n (&driver->ready, __ATOMIC_ACQUIRE) /* pairs with drive */
         && drive_idle (driver->drive, wish_of_idler, driver->engine, look_us);
}

static void
on_timer (void *data)
{
  driver_step (data, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
}

/* Suspends this process's part if the run has ended without it: a node that was stopped meanwhile
 * finds no other, and would do all work again. Nodes of other hosts have a folder of their own, so
 * they do not look. */
static void
look_for_end (Driver *driver)
{
  int code;
  gboolean over = driver->part == PART_MEMBER && !driver->config.far && !driver->config.solo
                  && (folder_has_ended (driver->config.folder, &code, NULL)
                      || (access (driver->config.folder, F_OK) != 0 && errno == ENOENT));
  driver->over = over ? driver->over + 1 : 0;
  if (driver->over != OVER_PERIODS)
    return;
  driver_say (driver, "the run has ended without this node, or its folder is gone");
  driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND, .number = G_USEC_PER_SEC });
}

void
driver_end_if_deaf (Driver *driver)
{
  static const char words[] = "satin: a job has closed descriptors that are not its own\n";
  int fd = STDERR_FILENO; /* a node opens its log, since main's stderr may be held back */
  if (!drive_is_deaf (driver->drive))
    return;
  if (driver->config.embedded)
    {
      driver_set_ended (driver, PART_ON_STOP, 6,
                        "the program has closed descriptors that are not its own");
      drive_quit (driver->drive);
      return;
    }
  if (driver->config.folder != NULL && !driver->config.solo)
    {
      g_autofree char *file = folder_node_file (getpid (), FOLDER_NODE_LOG);
      g_autofree char *path = g_build_filename (driver->config.folder, file, NULL);
      fd = open (path, O_WRONLY | O_APPEND | O_CLOEXEC);
    }
  (void)!write (fd, words, sizeof words - 1);
  if (driver->config.folder != NULL && driver->config.solo)
    folder_remove (driver->config.folder, NULL);
  _exit (6);
}

/* TRUE: the figures are to be written. A new file costs the file system more than a node's whole
 * second, so the nodes of a large run take turns. */
static gboolean
figures_are_due (Driver *driver)
{
  g_autoptr (GArray) members = node_members (driver->node);

  return ++driver->periods % (1 + members->len / STATS_MEMBERS) == 0;
}

static gboolean
on_stats (gpointer data)
{
  Driver *driver = data;
  driver_end_if_deaf (driver);
  report_timeline (driver, FALSE);
  if (driver_has_ended (driver) || driver->config.folder == NULL)
    return G_SOURCE_CONTINUE;
  look_for_end (driver);
  driver_show_address (driver);
  folder_sign (driver->config.folder);
  tell_work (driver);
  if (figures_are_due (driver))
    report_stats (driver, FALSE);
  if (driver->departed_us != 0
      && g_get_monotonic_time () >= driver->departed_us + DEPARTED_MS * G_GINT64_CONSTANT (1000)
      && memory_give_back ())
    driver->departed_us = 0;
  return G_SOURCE_CONTINUE;
}

static gpointer
drive (gpointer data)
{
  Driver *driver = data;
  pthread_getcpuclockid (pthread_self (), &driver->clock);
  __atomic_store_n (&driver->ready, TRUE, __ATOMIC_RELEASE); /* pairs with idle */
  drive_run (driver->drive);
  return NULL;
}

static gboolean
on_begin (gpointer data)
{
  Driver *driver = data;
  /* The first step starts the Node: a founder is then a member and master. */
  driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
  if (!driver->config.founder)
    mesh_join (driver);
  return G_SOURCE_REMOVE;
}

static void
note_timeline (Driver *driver)
{
  g_autofree char *name = NULL;
  if (driver->config.trace == NULL)
    return;
  name = g_strdup_printf ("%s (process %d)", driver->config.run.name, (int)getpid ());
  driver->timeline = timeline_new (getpid (), name);
  driver->lane = timeline_lane (driver->timeline, 0, "driver");
}

static NodeConfig
node_config (Driver *driver, guint64 seed)
{
  const DriverConfig *config = &driver->config;

  return (NodeConfig){ .founder = config->founder,
                       .address = mesh_address (driver),
                       .host = config->run.host,
                       .site = config->site != NULL ? config->site : "local",
                       .pid = (guint32)getpid (),
                       .workers = config->workers,
                       .n_bests = best_count (),
                       .program = config->program,
                       .build = config->identity.build,
                       .checkpoint = config->checkpoint == NULL ? NODE_CHECKPOINT_NONE
                                     : config->kept             ? NODE_CHECKPOINT_KEPT
                                                                : NODE_CHECKPOINT_NEW,
                       .steal = config->steal,
                       .closed = config->closed,
                       .invited = config->invited,
                       .plan = plan_knobs (config->protect),
                       .verify = config->verify,
                       .heartbeat_us = (guint64)(config->heartbeat_s * 1e6 + 0.5),
                       .silence_us = (guint64)(config->silence_s * 1e6 + 0.5),
                       .save_interval_us = folder_interval_us (config->interval_s),
                       .row_byte_ns
                       = config->interval_s == FOLDER_INTERVAL_AUTO_S ? NODE_ROW_BYTE_NS : 0,
                       .copy_us = (guint64)(config->keep_s * 1e6),
                       .stems = driver->stems,
                       .shared = shared_store_here (),
                       .seed = seed };
}

/* The log stays where it is when main's stderr is held back later. */
static void
open_log (Driver *driver)
{
  driver->log = fdopen (fcntl (STDERR_FILENO, F_DUPFD_CLOEXEC, 3), "a");
  if (driver->log == NULL)
    driver->log = stderr;
  setvbuf (driver->log, NULL, _IOLBF, 0);
}

/* Frees a driver that could not begin: it has no thread and no Node. */
static void
discard (Driver *driver)
{
  g_clear_pointer (&driver->engine, engine_free);
  if (driver->mesh.links != NULL)
    mesh_close (driver);
  timeline_free (driver->timeline);
  drive_free (driver->drive);
  poller_free (driver->poller);
  g_array_unref (driver->effects);
  g_array_unref (driver->names);
  g_hash_table_unref (driver->constants);
  stems_free (driver->stems);
  g_mutex_clear (&driver->mutex);
  g_cond_clear (&driver->cond);
  g_free (driver);
}

Driver *
driver_new (const DriverConfig *config, GError **error)
{
  Driver *driver = g_new0 (Driver, 1);
  driver->config = *config;
  driver->started_us = g_get_monotonic_time ();
  driver->poller = poller_new (error);
  if (driver->poller == NULL)
    {
      g_free (driver);
      return NULL;
    }
  driver->context = poller_context (driver->poller);
  driver->drive = drive_new (&(DriveConfig){ .poller = driver->poller,
                                             .serve = serve_engine,
                                             .flush = flush,
                                             .timer = on_timer,
                                             .data = driver,
                                             .spin_us = config->spin_us },
                             error);
  if (driver->drive == NULL)
    {
      poller_free (driver->poller);
      g_free (driver);
      return NULL;
    }
  if (!config->embedded)
    open_log (driver);
  driver->stems = stems_new ();
  driver->names = g_array_new (FALSE, FALSE, sizeof (NodeId));
  driver->constants
      = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
  new_effects (driver);
  g_queue_init (&driver->pending);
  g_mutex_init (&driver->mutex);
  g_cond_init (&driver->cond);
  note_timeline (driver);
  guint64 seed = (guint64)g_get_monotonic_time () * 2654435761u ^ (guint64)getpid () << 32;
  EngineConfig engine = { .jobs = config->jobs,
                          .workers = config->workers,
                          .stems = driver->stems,
                          .seed = seed,
                          .wake = wake,
                          .wake_late = wake_late,
                          .idle = config->solo ? NULL : idle,
                          .data = driver,
                          .stack_bytes = config->stack_bytes,
                          .timeline = driver->timeline,
                          .lane = driver->lane,
                          .twice = config->verify };
  driver->engine = engine_new (&engine, error);
  if (driver->engine == NULL || !mesh_open (driver, error)
      || (config->replay != NULL
          && !run_replay_begin (config->replay, driver->engine, driver->stems, error)))
    {
      discard (driver);
      return NULL;
    }
  if (config->shared_memory > 0)
    shared_store_set_memory (shared_store_here (), config->shared_memory);
  NodeConfig node = node_config (driver, seed ^ 0x9e3779b97f4a7c15u);
  driver->node = node_new (&node);
  driver_every (driver, STATS_PERIOD_MS, on_stats);
  driver_post (driver, on_begin, driver);
  driver->thread = g_thread_new ("satin-driver", drive, driver);
  return driver;
}

gboolean
driver_free (Driver *driver)
{
  driver_stop (driver);
  if (driver->part != PART_FINISHED)
    engine_halt (driver->engine, FALSE);
  engine_free (driver->engine);
  if (drive_is_deaf (driver->drive))
    return FALSE;
  keeper_free (driver);
  timeline_free (driver->timeline);
  node_free (driver->node);
  g_array_unref (driver->effects);
  drive_free (driver->drive);
  poller_free (driver->poller);
  g_array_unref (driver->names);
  g_hash_table_unref (driver->constants);
  g_free (driver->checkpoint_run);
  g_free (driver->run_id);
  g_free (driver->outside);
  g_free (driver->saved.missing);
  g_free (driver->given);
  g_free (driver->unpublished);
  g_free (driver->unkept);
  g_free (driver->reason);
  g_queue_clear_full (&driver->troubles, g_free);
  g_clear_pointer (&driver->result, g_bytes_unref);
  stems_free (driver->stems);
  g_mutex_clear (&driver->mutex);
  g_cond_clear (&driver->cond);
  g_free (driver);
  return TRUE;
}
