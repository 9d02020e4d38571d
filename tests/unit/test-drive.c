/* SPDX-License-Identifier: BSD-3-Clause */
/* Driving without a network: other threads post, a driver thread and workers drive in turns. */
#include "config.h"

#include "node/drive.h"

#include <gio/gio.h>
#include <glib-unix.h>
#include <sched.h>
#include <unistd.h>

#define POSTERS 3
#define POSTS 6400
#define RARE 64 /* a source is attached once in so many wishes */

/* ThreadSanitizer cannot see GLib's own locks, so it checks only our hand-over. */
#ifdef __SANITIZE_THREAD__
#define ATTACHED 0
#else
#define ATTACHED (POSTERS * POSTS / RARE)
#endif
#define WORKERS 2
/* An alarm that never goes off in the test: whatever is noticed was noticed without it. */
#define NEVER_US (G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC)

typedef struct
{
  Poller *poller;
  GMainContext *context; /* the poller's */
  Drive *drive;
  GMutex idle;                       /* one worker at a time, as in the engine */
  gint inside;                       /* atomic: how many threads dispatch now */
  gint due;                          /* atomic: wishes since `serve` looked */
  gint posted;                       /* atomic: threads that have posted all their wishes */
  gint over;                         /* atomic */
  gint wanted;                       /* atomic: wishes that a worker waits for */
  guint delivered, returned,
      served; /* of the driving thread; no lock protects them, so TSan finds races */
  gint flushed;                      /* atomic */
  gint timed;                        /* atomic: calls of the timer */
  int ends[2];                       /* of a pipe */
  GSource *source;                   /* … that the driving thread reads */
  gint sent, read;                   /* bytes; atomic: read */
} World;

static void
enter (World *world)
{
  g_assert_cmpint (g_atomic_int_add (&world->inside, 1), ==, 0);
}

static void
leave (World *world)
{
  g_assert_cmpint (g_atomic_int_add (&world->inside, -1), ==, 1);
}

static void
serve (void *data)
{
  World *world = data;

  enter (world);
  world->served += (guint)__atomic_exchange_n (&world->due, 0, __ATOMIC_SEQ_CST);
  leave (world);
}

static void
flush (void *data)
{
  g_atomic_int_inc (&((World *)data)->flushed);
}

static void
on_timer (void *data)
{
  World *world = data;

  enter (world);
  g_atomic_int_inc (&world->timed);
  leave (world);
}

static void
work (GTask *task, gpointer object G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED,
      GCancellable *cancellable G_GNUC_UNUSED)
{
  g_task_return_boolean (task, TRUE);
}

static void
on_returned (GObject *object G_GNUC_UNUSED, GAsyncResult *result G_GNUC_UNUSED, gpointer data)
{
  World *world = data;

  enter (world);
  world->returned++;
  leave (world);
}

/* A task returns to the context in which it was begun, whichever thread drives that then. */
static gboolean
on_post (gpointer data)
{
  World *world = data;

  enter (world);
  if (++world->delivered % 8 == 0)
    {
      g_autoptr (GTask) task = g_task_new (NULL, NULL, on_returned, world);
      g_task_run_in_thread (task, work);
    }
  leave (world);
  return G_SOURCE_REMOVE;
}

static gpointer
say_something (gpointer data)
{
  World *world = data;

  g_atomic_int_inc (&world->due);
  drive_wake (world->drive);
  return NULL;
}

static gpointer
post_all (gpointer data)
{
  World *world = data;

  for (guint i = 0; i < POSTS; i++)
    {
      (void)say_something (world);
      if (ATTACHED == 0 || i % RARE != 0)
        continue;
      g_autoptr (GSource) source = g_idle_source_new ();
      g_source_set_callback (source, on_post, world, NULL);
      g_source_attach (source, world->context);
      g_usleep (200);
    }
  g_atomic_int_inc (&world->posted);
  return NULL;
}

static DriveWish
wish (void *data)
{
  if (g_atomic_int_get (&((World *)data)->over) || g_random_int_range (0, 6) == 0)
    return DRIVE_LEAVE;
  return g_random_int_range (0, 2) == 0 ? DRIVE_SLEEP : DRIVE_SPIN;
}

static gpointer
be_worker (gpointer data)
{
  World *world = data;

  while (!g_atomic_int_get (&world->over))
    {
      if (g_mutex_trylock (&world->idle))
        {
          (void)drive_idle (world->drive, wish, world, g_random_int_range (0, 2) == 0 ? 0 : 300);
          g_mutex_unlock (&world->idle);
        }
      if (g_random_int_range (0, 3) == 0)
        g_usleep (100);
    }
  return NULL;
}

static gpointer
be_thread (gpointer data)
{
  drive_run (((World *)data)->drive);
  return NULL;
}

static gboolean
quit (gpointer data)
{
  drive_quit (((World *)data)->drive);
  return G_SOURCE_REMOVE;
}

static gboolean
all_came (gpointer data)
{
  World *world = data;

  if (g_atomic_int_get (&world->posted) < POSTERS || world->served < POSTERS * POSTS
      || world->delivered != ATTACHED || world->returned != ATTACHED / 8)
    return G_SOURCE_CONTINUE;
  g_atomic_int_set (&world->over, TRUE);
  return quit (world);
}

/* (transfer full: source) */
static void
attach (World *world, GSource *source, GSourceFunc function)
{
  g_source_set_callback (source, function, world, NULL);
  g_source_attach (source, world->context);
  g_source_unref (source);
}

static void
every_ms (World *world, GSourceFunc function)
{
  attach (world, g_timeout_source_new (1), function);
}

static void
world_init (World *world, gint64 spin_us, gint64 late_us)
{
  g_autoptr (GError) error = NULL;

  *world = (World){ .poller = poller_new (&error) };
  g_assert_no_error (error);
  world->context = poller_context (world->poller);
  g_mutex_init (&world->idle);
  world->drive = drive_new (&(DriveConfig){ .poller = world->poller,
                                            .serve = serve,
                                            .flush = flush,
                                            .timer = on_timer,
                                            .data = world,
                                            .spin_us = spin_us,
                                            .late_us = late_us },
                            &error);
  g_assert_no_error (error);
}

static void
world_clear (World *world)
{
  drive_free (world->drive);
  poller_free (world->poller);
  g_mutex_clear (&world->idle);
}

static void
check (guint workers, gint64 spin_us)
{
  World world;
  GThread *posters[POSTERS], *idlers[WORKERS], *thread;

  world_init (&world, spin_us, 0);
  every_ms (&world, all_came);
  thread = g_thread_new ("drive", be_thread, &world);
  for (guint i = 0; i < workers; i++)
    idlers[i] = g_thread_new ("idler", be_worker, &world);
  for (guint i = 0; i < POSTERS; i++)
    posters[i] = g_thread_new ("poster", post_all, &world);

  for (guint i = 0; i < POSTERS; i++)
    g_thread_join (posters[i]);
  g_thread_join (thread);
  for (guint i = 0; i < workers; i++)
    g_thread_join (idlers[i]);

  g_assert_cmpuint (world.served, ==, POSTERS * POSTS);
  g_assert_cmpuint (world.delivered, ==, ATTACHED);
  g_assert_cmpuint (world.returned, ==, ATTACHED / 8);
  g_assert_cmpint (world.flushed, >, 0);
  g_assert_false (drive_idle (world.drive, wish, &world, 0));
  world_clear (&world);
}

static DriveWish
until_served (void *data)
{
  World *world = data;

  return world->served >= (guint)g_atomic_int_get (&world->wanted) ? DRIVE_LEAVE : DRIVE_SPIN;
}

/* A worker that has got what it waited for leaves, and another thread writes what it queued. */
static void
test_what_a_worker_leaves_is_written (void)
{
  World world;
  GThread *thread;

  world_init (&world, 100, 0);
  thread = g_thread_new ("drive", be_thread, &world);
  for (guint i = 0; i < 1000; i++)
    {
      g_atomic_int_inc (&world.wanted);
      (void)say_something (&world);
      gint before = g_atomic_int_get (&world.flushed);
      if (!drive_idle (world.drive, until_served, &world, 0))
        continue; /* the thread was driving */
      while (g_atomic_int_get (&world.flushed) == before)
        g_usleep (1000);
    }
  every_ms (&world, quit);
  drive_wake (world.drive);
  g_thread_join (thread);
  world_clear (&world);
}

static void
write_byte (int fd)
{
  g_assert_cmpint (write (fd, "", 1), ==, 1);
}

/* A byte arrives while the worker drives, and the thread notices that the worker drives. */
static DriveWish
until_read (void *data)
{
  World *world = data;

  if (world->sent == world->wanted)
    {
      write_byte (world->ends[1]);
      world->sent++;
      g_usleep (1000);
    }
  return g_atomic_int_get (&world->read) < world->sent ? DRIVE_SLEEP : DRIVE_LEAVE;
}

static gboolean
on_byte (gint fd, GIOCondition condition G_GNUC_UNUSED, gpointer data)
{
  World *world = data;
  char byte;

  enter (world);
  g_assert_cmpint (read (fd, &byte, 1), ==, 1);
  g_atomic_int_inc (&world->read);
  leave (world);
  return G_SOURCE_CONTINUE;
}

static void
wait_for (World *world, gboolean (*is_so) (World *world))
{
  while (!is_so (world))
    g_usleep (20);
}

static gboolean
is_read (World *world)
{
  return g_atomic_int_get (&world->read) == world->sent;
}

static gboolean
is_served (World *world)
{
  return g_atomic_int_get (&world->due) == 0;
}

/* Sent by the thread, while no worker drives. */
static void
send_byte (World *world)
{
  write_byte (world->ends[1]);
  world->sent++;
  wait_for (world, is_read);
}

static void
watch_pipe (World *world)
{
  world->source = g_unix_fd_source_new (world->ends[0], G_IO_IN);
  g_source_set_callback (world->source, G_SOURCE_FUNC (on_byte), world, NULL);
  g_source_set_can_recurse (world->source,
                            TRUE); /* otherwise GLib wakes the poll after each dispatch */
  g_source_attach (world->source, world->context);
}

static void
unwatch_pipe (World *world)
{
  g_source_destroy (world->source);
  g_clear_pointer (&world->source, g_source_unref);
}

/* As if a connection ended and the next one got its descriptor. */
static void
replace_pipe (World *world)
{
  int fresh[2];

  unwatch_pipe (world);
  g_assert_cmpint (pipe (fresh), ==, 0);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpint (dup2 (fresh[i], world->ends[i]), ==, world->ends[i]);
      close (fresh[i]);
    }
  watch_pipe (world);
}

/* Starts the thread, and a pipe that the driving thread reads. */
static GThread *
begin_pipe (World *world, gint64 late_us)
{
  world_init (world, 0, late_us);
  g_assert_cmpint (pipe (world->ends), ==, 0);
  watch_pipe (world);
  return g_thread_new ("drive", be_thread, world);
}

static void
end_pipe (World *world, GThread *thread)
{
  every_ms (world, quit);
  drive_wake (world->drive);
  g_thread_join (thread);
  unwatch_pipe (world);
  close (world->ends[0]);
  close (world->ends[1]);
  world_clear (world);
}

/* A worker drives until it has read a byte; then the thread is parked. */
static void
drive_once (World *world)
{
  world->wanted = world->sent;
  while (!drive_idle (world->drive, until_read, world, 0))
    continue;
}

/* An event after a worker has left wakes the thread, even if it was woken in vain before: the
 * thread does not wait for the alarm. */
static void
test_what_comes_after_a_worker_wakes_the_thread (void)
{
  const gint tries = 200;
  World world;
  GThread *thread = begin_pipe (&world, NEVER_US);

  for (gint i = 0; i < tries; i++)
    {
      if (i == tries / 10)
        replace_pipe (&world);
      drive_once (&world);
      send_byte (&world);
    }
  end_pipe (&world, thread);
}

/* A worker has left with a job, and posts something while it runs; the thread is parked, or has
 * taken over. */
static void
check_is_heard (gint64 late_us, void (*wake) (Drive *drive))
{
  World world;
  GThread *thread = begin_pipe (&world, late_us);

  for (guint i = 0; i < 48; i++)
    {
      drive_once (&world);
      if (i % 2 == 0)
        send_byte (&world);
      g_atomic_int_inc (&world.due);
      wake (world.drive);
      wait_for (&world, is_served);
    }
  end_pipe (&world, thread);
}

static void
test_what_a_worker_says_is_heard_without_an_alarm (void)
{
  check_is_heard (NEVER_US, drive_wake);
}

static void
test_what_may_be_late_is_heard (void)
{
  check_is_heard (0, drive_wake_late);
}

static gboolean
set_timer (gpointer data)
{
  drive_set_timer (((World *)data)->drive, g_get_monotonic_time () + 1);
  return G_SOURCE_REMOVE;
}

static DriveWish
set_timer_and_leave (void *data)
{
  set_timer (data);
  return DRIVE_LEAVE;
}

static gboolean
all_timed (World *world)
{
  return g_atomic_int_get (&world->timed) >= world->wanted;
}

/* No event follows after the worker has left, but the thread looks after a while. */
static void
test_a_timer_that_a_worker_leaves_goes_off (void)
{
  World world;
  GThread *thread = begin_pipe (&world, 0);

  for (guint i = 0; i < 20; i++)
    {
      drive_once (&world);
      g_atomic_int_set (&world.timed, 0);
      world.wanted = 1;
      if (drive_idle (world.drive, set_timer_and_leave, &world, 0))
        wait_for (&world, all_timed);
    }
  end_pipe (&world, thread);
}

static DriveWish
leave_when_another_speaks (void *data)
{
  g_thread_join (g_thread_new ("other", say_something, data));
  return DRIVE_LEAVE;
}

/* What another thread says to a worker that is about to leave is heard without the alarm. */
static void
test_what_a_leaving_worker_is_told_is_heard (void)
{
  World world;
  GThread *thread = begin_pipe (&world, NEVER_US);

  for (guint i = 0; i < 20; i++)
    {
      while (!drive_idle (world.drive, leave_when_another_speaks, &world, 0))
        continue;
      wait_for (&world, is_served);
    }
  end_pipe (&world, thread);
}

/* What a worker said before it drives was left for itself. */
static void
test_a_worker_hears_itself_first (void)
{
  World world;
  GThread *thread = begin_pipe (&world, NEVER_US);
  world.due = world.wanted = 1;
  while (!drive_idle (world.drive, until_served, &world, G_USEC_PER_SEC))
    continue;
  g_assert_cmpuint (world.served, ==, 1);
  end_pipe (&world, thread);
}

/* A timer goes off once for each time that it is set, though another source is due later. */
static void
test_a_timer_goes_off_once (void)
{
  World world;
  GThread *thread = begin_pipe (&world, 0);

  attach (&world, g_timeout_source_new_seconds (3600), quit);
  for (world.wanted = 1; world.wanted <= 20; world.wanted++)
    {
      attach (&world, g_idle_source_new (), set_timer);
      wait_for (&world, all_timed);
      send_byte (&world); /* the thread turns again */
      send_byte (&world);
      g_assert_cmpint (g_atomic_int_get (&world.timed), ==, world.wanted);
    }
  end_pipe (&world, thread);
}

static void
test_all (gconstpointer data)
{
  check (((const guint *)data)[0], ((const guint *)data)[1]);
}

int
main (int argc, char **argv)
{
  static const guint alone[] = { 0, 0 }, spinning[] = { WORKERS, 100 }, sleeping[] = { WORKERS, 0 };
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/drive/the-thread-alone-loses-nothing", alone, test_all);
  g_test_add_func ("/drive/what-a-worker-leaves-is-written", test_what_a_worker_leaves_is_written);
  g_test_add_func ("/drive/what-comes-after-a-worker-wakes-the-thread",
                   test_what_comes_after_a_worker_wakes_the_thread);
  g_test_add_func ("/drive/what-a-worker-says-is-heard-without-an-alarm",
                   test_what_a_worker_says_is_heard_without_an_alarm);
  g_test_add_func ("/drive/what-may-be-late-is-heard", test_what_may_be_late_is_heard);
  g_test_add_func ("/drive/a-timer-that-a-worker-leaves-goes-off",
                   test_a_timer_that_a_worker_leaves_goes_off);
  g_test_add_func ("/drive/what-a-leaving-worker-is-told-is-heard",
                   test_what_a_leaving_worker_is_told_is_heard);
  g_test_add_func ("/drive/a-worker-hears-itself-first", test_a_worker_hears_itself_first);
  g_test_add_func ("/drive/a-timer-goes-off-once", test_a_timer_goes_off_once);
  g_test_add_data_func ("/drive/nothing-is-lost-between-the-thread-and-workers", spinning,
                        test_all);
  g_test_add_data_func ("/drive/workers-asleep-in-the-poll-lose-nothing", sleeping, test_all);
  return g_test_run ();
}
