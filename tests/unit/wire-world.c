/* SPDX-License-Identifier: BSD-3-Clause */
/* See wire-world.h. */
#include "wire-world.h"

#include "link/wire-private.h"
#include "link/wire-tls.h"

#include "launch/key.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>

void
world_on_up (Wire *link, void *data)
{
  World *world = data;
  (void)link;
  world->ups++;
}

void
world_on_message (Wire *link, GBytes *message, void *data)
{
  World *world = data;
  gsize size;
  const guint8 *bytes = g_bytes_get_data (message, &size);
  (void)link;
  if (world->received < G_N_ELEMENTS (world->firsts))
    world->firsts[world->received] = bytes[0];
  world->received++;
  world->received_bytes += size;
  for (gsize i = 0; i < size; i += 4099)
    world->sum = world->sum * 31 + bytes[i];
}

void
world_on_down (Wire *link, gboolean dead, void *data)
{
  World *world = data;
  if (link == world->near)
    world->near = NULL;
  if (link == world->far)
    world->far = NULL;
  world->downs++;
  world->dead = dead;
}

gboolean
world_may_wait (Wire *link, GBytes *message)
{
  (void)link;
  return ((const guint8 *)g_bytes_get_data (message, NULL))[0] == WORLD_PATIENT;
}

const WireCalls world_calls
    = { world_on_up, world_on_message, world_may_wait, world_on_down, NULL };

void
world_on_accepted (GSocket *socket, void *data)
{
  World *world = data;
  /* no process that a job starts inherits it */
  g_assert_cmpint (fcntl (g_socket_get_fd (socket), F_GETFD), ==, FD_CLOEXEC);
  world->far = wire_accept (world->poller, &world->run, socket, world->calls, world);
}

gboolean
world_on_crowded (void *data)
{
  return ((World *)data)->makes_room;
}

/* (transfer full) */
char *
world_make_key (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = key_make (&error);
  g_assert_no_error (error);
  return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

gboolean
world_needs_tls (void)
{
  g_autoptr (GError) error = NULL;
  if (wire_tls_is_there (&error))
    return TRUE;
  g_test_skip (error->message);
  return FALSE;
}

void
world_open (World *world, gboolean tcp)
{
  g_autoptr (GError) error = NULL;
  memset (world, 0, sizeof *world);
  world->calls = &world_calls;
  world->poller = poller_new (&error);
  g_assert_no_error (error);
  world->folder = g_dir_make_tmp ("satin-wire-XXXXXX", NULL);
  world->path = g_build_filename (world->folder, "s", NULL);
  world->run = (WireRun){ "secret", world_make_key (), "id-1", "name-1", "host-1", 30 };
  world->listener = listener_new (poller_context (world->poller), world->path,
                                  tcp ? &(ListenerPlace){ "127.0.0.1", 0, 0 } : NULL,
                                  world_on_accepted, world_on_crowded, world, &error);
  g_assert_no_error (error);
  GStatBuf info;
  g_assert_cmpint (g_stat (world->path, &info), ==, 0);
  g_assert_cmpint (info.st_mode & 0777, ==, 0600); /* no other user has access */
}

void
world_close (World *world)
{
  if (world->near != NULL)
    wire_close (world->near);
  if (world->far != NULL)
    wire_close (world->far);
  listener_free (world->listener);
  g_assert_cmpint (g_rmdir (world->folder), ==, 0); /* no socket file stays */
  poller_free (world->poller);
  g_free (world->folder);
  g_free (world->path);
  g_free (world->run.key);
}

void
world_turn (Poller *poller, gboolean sleeps)
{
  PollerReady ready;
  gint64 until_us = poller_prepare (poller, &ready);

  poller_wait (poller, &ready, sleeps ? until_us : 0);
  (void)poller_dispatch (poller, &ready);
}

/* Sends what a dialling node sends until the link is up, on a blocking socket. */
void
world_prove (World *world, GSocket *socket, gboolean wait)
{
  guint8 greeting[MAGIC_SIZE + NONCE_SIZE + 2 + GREETING_TEXT_MAX];
  guint8 frame[1 + NONCE_SIZE + PROOF_SIZE] = { WIRE_ROLE_NODE };
  while (g_socket_get_available_bytes (socket) <= 0)
    world_turn (world->poller, FALSE);
  g_assert_cmpint (g_socket_receive (socket, (char *)greeting, sizeof greeting, NULL, NULL), >,
                   MAGIC_SIZE);
  wire_prove (world->run.credential, "dialler", greeting + MAGIC_SIZE, frame + 1, frame[0],
              frame + 1 + NONCE_SIZE);
  g_socket_send (socket, (char *)frame, sizeof frame, NULL, NULL);
  if (wait)
    UNTIL (world, world->ups == 1);
  else
    while (g_socket_get_available_bytes (socket) < PROOF_SIZE)
      world_turn (world->poller, FALSE);
}

GPtrArray *
world_message (gsize size, guint8 first)
{
  GPtrArray *parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  guint8 *bytes = g_malloc0 (size);
  bytes[0] = first;
  g_ptr_array_add (parts, g_bytes_new_take (bytes, size));
  return parts;
}
