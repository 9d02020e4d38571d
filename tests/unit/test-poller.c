/* SPDX-License-Identifier: BSD-3-Clause */
/* The poller: watches and a context in one set. */
#include "config.h"

#include "link/poller.h"

#include <glib-unix.h>
#include <unistd.h>

static int waited_ms; /* the timeout of the last epoll_wait () */

int
epoll_wait (int set, struct epoll_event *events, int max, int timeout_ms)
{
  waited_ms = timeout_ms;
  return epoll_pwait (set, events, max, timeout_ms, NULL);
}

typedef struct
{
  Poller *poller;
  int ends[2][2]; /* of pipes */
  PollerWatch watches[2];
  guint called, posted;
} World;

static gboolean
turn (World *world)
{
  PollerReady ready;
  gint64 until_us = poller_prepare (world->poller, &ready);

  poller_wait (world->poller, &ready, until_us);
  return poller_dispatch (world->poller, &ready);
}

static void
turn_for (World *world, gint64 us)
{
  gint64 end_us = g_get_monotonic_time () + us;

  while (g_get_monotonic_time () < end_us)
    {
      PollerReady ready;

      (void)poller_prepare (world->poller, &ready);
      poller_wait (world->poller, &ready, g_get_monotonic_time () + 1000);
      (void)poller_dispatch (world->poller, &ready);
    }
}

static void
fill (const World *world, guint i)
{
  g_assert_cmpint (write (world->ends[i][1], "", 1), ==, 1);
}

static void
world_open (World *world, gboolean (*ready) (GIOCondition, void *))
{
  g_autoptr (GError) error = NULL;

  *world = (World){ .poller = poller_new (&error) };
  g_assert_no_error (error);
  g_assert_true (g_main_context_acquire (poller_context (world->poller)));
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpint (pipe (world->ends[i]), ==, 0);
      world->watches[i] = (PollerWatch){ .fd = world->ends[i][0], .ready = ready, .data = world };
    }
}

static void
world_close (World *world)
{
  g_main_context_release (poller_context (world->poller));
  poller_free (world->poller);
  for (guint i = 0; i < 2; i++)
    {
      close (world->ends[i][0]);
      close (world->ends[i][1]);
    }
}

static gboolean
remove_all (GIOCondition condition G_GNUC_UNUSED, void *data)
{
  World *world = data;

  world->called++;
  for (guint i = 0; i < 2; i++)
    poller_watch (world->poller, &world->watches[i], 0);
  return TRUE;
}

/* As if the message of one link closed another link. */
static void
test_what_is_removed_is_not_called (void)
{
  World world;

  world_open (&world, remove_all);
  turn_for (&world,
            1000); /* otherwise the context, which is checked for the first time, is ready, too */
  for (guint i = 0; i < 2; i++)
    {
      poller_watch (world.poller, &world.watches[i], G_IO_IN);
      fill (&world, i);
    }
  g_assert_true (turn (&world));
  turn_for (&world, 3000);

  g_assert_cmpuint (world.called, ==, 1);
  world_close (&world);
}

static gboolean
on_post (gpointer data)
{
  World *world = data;

  /* so that a task which it starts returns here, whichever thread polls */
  g_assert_true (g_main_context_get_thread_default () == poller_context (world->poller));
  world->posted++;
  return G_SOURCE_REMOVE;
}

static void
attach (World *world, GSource *source)
{
  g_source_set_callback (source, on_post, world, NULL);
  g_source_attach (source, poller_context (world->poller));
  g_source_unref (source);
}

static gboolean
attach_two (GIOCondition condition G_GNUC_UNUSED, void *data)
{
  World *world = data;

  world->called++;
  poller_watch (world->poller, &world->watches[0], 0);
  attach (world, g_idle_source_new ());
  attach (world, g_timeout_source_new (20));
  return TRUE;
}

/* The context is checked again when it has changed, also by the driving thread. */
static void
test_what_is_attached_is_dispatched (void)
{
  World world;

  world_open (&world, attach_two);
  poller_watch (world.poller, &world.watches[0], G_IO_IN);
  turn_for (&world, 1000);
  fill (&world, 0);
  while (world.posted < 1)
    (void)turn (&world);
  g_assert_cmpuint (world.called, ==, 1);
  while (world.posted < 2)
    (void)turn (&world);
  world_close (&world);
}

static gboolean
take_byte (GIOCondition condition G_GNUC_UNUSED, void *data)
{
  World *world = data;
  char byte;

  world->called++;
  g_assert_cmpint (read (world->ends[1][0], &byte, 1), ==, 1);
  return TRUE;
}

static gboolean
never (gint fd G_GNUC_UNUSED, GIOCondition condition G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  g_assert_not_reached ();
}

/* A descriptor of the context is closed, and the next one gets its number. */
static void
test_a_number_may_be_used_again (void)
{
  World world;
  GSource *source;

  world_open (&world, take_byte);
  source = g_unix_fd_source_new (world.ends[0][0], G_IO_IN);
  g_source_set_callback (source, G_SOURCE_FUNC (never), NULL, NULL);
  g_source_attach (source, poller_context (world.poller));
  turn_for (&world, 1000);
  g_source_destroy (source);
  g_source_unref (source);
  g_assert_cmpint (dup2 (world.ends[1][0], world.ends[0][0]), ==, world.ends[0][0]);
  poller_watch (world.poller, &world.watches[0], G_IO_IN);
  turn_for (&world, 1000); /* the context is checked, and its descriptors are registered again */
  fill (&world, 1);
  turn_for (&world, 1000);

  g_assert_cmpuint (world.called, ==, 1);
  world_close (&world);
}

/* A removed source wakes no thread, although its descriptor is still open. */
static void
test_a_source_that_is_gone_wakes_nobody (void)
{
  World world;
  PollerReady ready;

  world_open (&world, take_byte);
  GSource *source = g_unix_fd_source_new (world.ends[0][0], G_IO_IN);
  g_source_set_callback (source, G_SOURCE_FUNC (never), NULL, NULL);
  g_source_attach (source, poller_context (world.poller));
  turn_for (&world, 1000);
  g_source_destroy (source);
  g_source_unref (source);
  turn_for (&world, 1000); /* the context reports it */
  fill (&world, 0);
  (void)poller_prepare (world.poller, &ready);
  poller_wait (world.poller, &ready, 0);
  g_assert_cmpint (ready.n, ==, 0);
  world_close (&world);
}

/* A timer that is due in less than a millisecond is waited for, not polled for. */
static void
test_waiting_is_not_polling (void)
{
  World world;
  PollerReady ready;

  world_open (&world, take_byte);
  turn_for (&world, 1000);
  (void)poller_prepare (world.poller, &ready);
  waited_ms = 0;
  for (guint i = 0; i < 1000 && waited_ms != 1; i++)
    poller_wait (world.poller, &ready, g_get_monotonic_time () + 999);
  g_assert_cmpint (waited_ms, ==, 1);
  poller_wait (world.poller, &ready, 1); /* long ago */
  g_assert_cmpint (waited_ms, ==, 0);
  world_close (&world);
}

static gboolean first_happens; /* else the second */

static gboolean
count_call (GIOCondition condition G_GNUC_UNUSED, void *data)
{
  World *world = data;

  return (world->called++ == 0) == first_happens;
}

/* Whatever one of them returns, each watch that is ready is called, and the turn counts as one in
 * which something happened. */
static void
test_all_that_is_ready_is_called (void)
{
  for (int i = 0; i < 2; i++)
    {
      World world;

      world_open (&world, count_call);
      turn_for (&world, 1000);
      first_happens = i == 0;
      for (guint k = 0; k < 2; k++)
        {
          poller_watch (world.poller, &world.watches[k], G_IO_IN);
          fill (&world, k);
        }
      g_assert_true (turn (&world));
      g_assert_cmpuint (world.called, ==, 2);
      world_close (&world);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/poller/what-is-removed-is-not-called", test_what_is_removed_is_not_called);
  g_test_add_func ("/poller/what-is-attached-is-dispatched", test_what_is_attached_is_dispatched);
  g_test_add_func ("/poller/a-number-may-be-used-again", test_a_number_may_be_used_again);
  g_test_add_func ("/poller/a-source-that-is-gone-wakes-nobody",
                   test_a_source_that_is_gone_wakes_nobody);
  g_test_add_func ("/poller/all-that-is-ready-is-called", test_all_that_is_ready_is_called);
  g_test_add_func ("/poller/waiting-is-not-polling", test_waiting_is_not_polling);
  return g_test_run ();
}
