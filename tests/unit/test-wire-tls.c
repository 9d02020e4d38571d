/* SPDX-License-Identifier: BSD-3-Clause */
/* Wires over TCP: what is refused, and where nodes listen. */
#include "wire-world.h"

#include "link/wire-find.h"
#include "link/wire-private.h"

#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <string.h>

/* Bytes of the certificate behind the key. */
static gsize
certificate_size (const char *pem)
{
  const char *begin = strstr (pem, "-----BEGIN CERTIFICATE-----"), *end;
  gsize size;

  g_assert_nonnull (begin);
  begin = strchr (begin, '\n');
  end = strstr (begin, "-----END");
  g_autofree char *text = g_strndup (begin, (gsize)(end - begin));
  g_free (g_base64_decode (text, &size));
  return size;
}

/* (transfer full): a key whose certificate is as long as that of `pem`. */
static char *
make_key_like (const char *pem)
{
  for (;;)
    {
      g_autofree char *key = world_make_key ();
      if (certificate_size (key) == certificate_size (pem))
        return g_steal_pointer (&key);
    }
}

/* A process with the credential and another key gets no link, whichever side it is. */
static void
another_key_is_refused (gconstpointer empty)
{
  World world;
  if (!world_needs_tls ())
    return;
  world_open (&world, TRUE);
  WireRun other = world.run;
  other.key = empty != NULL ? NULL : make_key_like (world.run.key);

  world.near = wire_dial (world.poller, &other, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[1], &world_calls, &world);
  UNTIL (&world, world.downs == 2);

  g_assert_cmpuint (world.ups, <=, 1); /* in TLS 1.3 the dialler learns of a refusal later */
  g_assert_cmpuint (world.received, ==, 0);
  g_free (other.key);
  world_close (&world);
}

/* The credential without TLS is not enough: unencrypted frames are no handshake. */
static void
plain_frames_are_refused (void)
{
  World world;
  if (!world_needs_tls ())
    return;
  world_open (&world, TRUE);
  g_autoptr (GSocket) socket
      = wire_connect_blocking (listener_addresses (world.listener)[1], NULL, NULL);
  guint64 frame[2] = { GUINT64_TO_LE (8), 0 };
  world_prove (&world, socket, FALSE);
  g_socket_send (socket, (char *)frame, sizeof frame, NULL, NULL);
  UNTIL (&world, world.downs == 1);

  g_assert_cmpuint (world.ups, ==, 0);
  g_assert_cmpuint (world.received, ==, 0);
  world_close (&world);
}

/* Bytes that were sent before TLS do not count as sent in TLS: bytes that arrive together with the
 * proof end the link, since an attacker in between may have added them. */
static void
bytes_behind_the_proof_are_refused (void)
{
  World world;
  if (!world_needs_tls ())
    return;
  world_open (&world, TRUE);
  g_autoptr (GSocket) socket
      = wire_connect_blocking (listener_addresses (world.listener)[1], NULL, NULL);
  guint8 greeting[MAGIC_SIZE + NONCE_SIZE + 2 + GREETING_TEXT_MAX];
  guint8 both[1 + NONCE_SIZE + PROOF_SIZE + 16] = { WIRE_ROLE_NODE };
  while (g_socket_get_available_bytes (socket) <= 0)
    world_turn (world.poller, FALSE);
  g_assert_cmpint (g_socket_receive (socket, (char *)greeting, sizeof greeting, NULL, NULL), >,
                   MAGIC_SIZE);
  wire_prove (world.run.credential, "dialler", greeting + MAGIC_SIZE, both + 1, both[0],
              both + 1 + NONCE_SIZE);
  both[1 + NONCE_SIZE + PROOF_SIZE] = 8; /* a frame */
  g_socket_send (socket, (char *)both, sizeof both, NULL, NULL);
  UNTIL (&world, world.downs == 1);
  /* The link ends before the greeter proves its identity or begins a handshake. */
  g_assert_cmpint (g_socket_receive (socket, (char *)greeting, sizeof greeting, NULL, NULL), <=, 0);

  g_assert_cmpuint (world.ups, ==, 0);
  g_assert_cmpuint (world.received, ==, 0);
  world_close (&world);
}

/* A process that gives its proof and then is silent is dropped after a while, also during the
 * handshake. */
static void
a_silent_handshake_ends (void)
{
  World world;
  if (!world_needs_tls ())
    return;
  world_open (&world, TRUE);
  g_autoptr (GSocket) socket
      = wire_connect_blocking (listener_addresses (world.listener)[1], NULL, NULL);
  world_prove (&world, socket, FALSE);
  UNTIL (&world, world.downs == 1);

  g_assert_cmpuint (world.ups, ==, 0);
  world_close (&world);
}

/* A link that is closed in the middle of the handshake: no callback follows. */
static void
a_handshake_can_be_left (void)
{
  World world;
  if (!world_needs_tls ())
    return;
  world_open (&world, TRUE);
  g_autoptr (GSocket) socket
      = wire_connect_blocking (listener_addresses (world.listener)[1], NULL, NULL);
  world_prove (&world, socket, FALSE);
  wire_close (world.far);
  world.far = NULL;
  for (int i = 0; i < 50; i++)
    {
      world_turn (world.poller, FALSE);
      g_usleep (2000);
    }

  g_assert_cmpuint (world.ups + world.downs, ==, 0);
  world_close (&world);
}

/* One record may have the end of a large message, which is read to its place, and more. No event of
 * the socket tells of what TLS has read already. */
static void
nothing_stays_in_tls (void)
{
  static const gsize sizes[] = { 9000, 16384, 20000, 40000 };
  World world;
  guint wanted = 0;
  if (!world_needs_tls ())
    return;
  world_open (&world, TRUE);
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[1], &world_calls, &world);
  UNTIL (&world, world.ups == 2);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (GPtrArray) large = world_message (sizes[i], 1), small = world_message (100, 3);
      wire_send (world.near, large, FALSE);
      wire_send (world.near, small, FALSE);
      wire_flush (world.near);
      wanted += 2;
      for (guint k = 0; k < 1000 && world.received < wanted; k++)
        {
          world_turn (world.poller, FALSE);
          if (k > 100)
            g_usleep (1000);
        }
      g_assert_cmpuint (world.received, ==, wanted);
    }
  world_close (&world);
}

static gpointer
ask_without_a_key (gpointer data)
{
  World *world = data;
  WireRun run = world->run;
  g_autoptr (GError) error = NULL;

  run.key = NULL;
  g_assert_null (wire_asker_new (listener_addresses (world->listener)[1], &run, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED);
  return NULL;
}

/* A command that finds no key in the run's folder says nothing over TCP. */
static void
no_question_is_asked_in_plain (void)
{
  World world;
  if (!world_needs_tls ())
    return;
  world_open (&world, TRUE);
  GThread *thread = g_thread_new ("ask", ask_without_a_key, &world);
  UNTIL (&world, world.downs == 1);
  g_thread_join (thread);
  g_assert_cmpuint (world.received, ==, 0);
  world_close (&world);
}

/* Other hosts could not reach an address that means all of this host's. */
static void
a_listener_has_one_address (void)
{
  static const char *const wrong[] = { "0.0.0.0", "::", "localhost", "" };
  g_autofree char *folder = g_dir_make_tmp ("satin-wire-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "s", NULL);
  Poller *poller = poller_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;
      g_assert_null (listener_new (poller_context (poller), path,
                                   &(ListenerPlace){ wrong[i], 0, 0 }, world_on_accepted,
                                   world_on_crowded, NULL, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
    }
  g_assert_cmpint (g_rmdir (folder), ==, 0);
  poller_free (poller);
}

static gpointer
ask_in_thread (gpointer data)
{
  World *world = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (WireAsker) asker
      = wire_asker_new (listener_addresses (world->listener)[1], &world->run, &error);
  g_assert_no_error (error);
  char *reply = wire_asker_ask (asker, "status", NULL, &error);
  g_assert_no_error (error);
  return reply;
}

/* Requests of commands work over TCP, too. */
static void
a_question_is_answered_over_tcp (void)
{
  World world;
  if (!world_needs_tls ())
    return;
  world_open (&world, TRUE);
  GThread *thread = g_thread_new ("ask", ask_in_thread, &world);
  UNTIL (&world, world.received == 1);
  g_assert_cmpuint (wire_role (world.far), ==, WIRE_ROLE_CONTROL);
  g_autoptr (GPtrArray) reply = world_message (3, 'a');
  wire_send (world.far, reply, FALSE);
  wire_flush (world.far);
  g_autofree char *text = g_thread_join (thread);

  g_assert_cmpint (text[0], ==, 'a');
  world_close (&world);
}

/* A process that may live at an address in a file: it accepts connections, and after a while
 * greets, closes them, or stays silent. */
typedef struct
{
  GSocket *socket;
  gboolean greets;
} Door;

#define FIND_US (300 * 1000)

static GSocket *
listen_at (GSocketAddress *address)
{
  g_autoptr (GError) error = NULL;
  GSocket *socket = g_socket_new (g_socket_address_get_family (address), G_SOCKET_TYPE_STREAM,
                                  G_SOCKET_PROTOCOL_DEFAULT, &error);

  g_assert_no_error (error);
  g_assert_true (g_socket_bind (socket, address, FALSE, &error));
  g_assert_true (g_socket_listen (socket, &error));
  return socket;
}

static gpointer
open_door (gpointer data)
{
  const Door *door = data;
  static const char text[] = "the id\nname\nhost";
  guint8 greeting[MAGIC_SIZE + NONCE_SIZE + 2 + sizeof text - 1] = MAGIC;
  g_autoptr (GSocket) guest = g_socket_accept (door->socket, NULL, NULL);

  g_assert_nonnull (guest);
  if (!door->greets)
    return NULL;
  g_usleep (3 * FIND_US); /* later than a process on an idle machine would */
  greeting[MAGIC_SIZE + NONCE_SIZE] = sizeof text - 1;
  memcpy (greeting + MAGIC_SIZE + NONCE_SIZE + 2, text, sizeof text - 1);
  g_assert_cmpint (g_socket_send (guest, (char *)greeting, sizeof greeting, NULL, NULL), ==,
                   sizeof greeting);
  g_assert_cmpint (g_socket_receive (guest, (char *)greeting, 1, NULL, NULL), ==, 0);
  return NULL;
}

static void
who_is_slow_to_say_who_it_is_is_found (void)
{
  g_autofree char *folder = g_dir_make_tmp ("satin-wire-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "s", NULL);
  g_autofree char *unix_address = g_strconcat ("unix:", path, NULL), *name = NULL, *host = NULL;
  g_autoptr (GSocketAddress) address = g_unix_socket_address_new (path);
  char *addresses[] = { unix_address, NULL };
  Door door = { .socket = listen_at (address) };

  for (guint i = 0; i < 3; i++)
    {
      door.greets = i > 0;
      GThread *thread = g_thread_new ("door", open_door, &door);
      const char *id = i == 1 ? "the id" : "another";
      g_assert_cmpint (wire_find_run (addresses, id, FIND_US, &name, &host), ==, i == 1);
      g_thread_join (thread);
      g_assert_cmpstr (name, ==, i == 1 ? "name" : NULL);
      g_assert_cmpstr (host, ==, i == 1 ? "host" : NULL);
      g_clear_pointer (&name, g_free);
      g_clear_pointer (&host, g_free);
    }
  g_object_unref (door.socket);
  g_assert_false (wire_find_run (addresses, "the id", FIND_US, &name, &host));
  g_unlink (path);
  g_rmdir (folder);
}

/* A stopped process with as many connections as the kernel accepts for it. */
static void
who_is_too_busy_to_accept_may_be_it (void)
{
  g_autofree char *folder = g_dir_make_tmp ("satin-wire-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "s", NULL);
  g_autofree char *unix_address = g_strconcat ("unix:", path, NULL), *name = NULL, *host = NULL;
  g_autoptr (GSocketAddress) address = g_unix_socket_address_new (path);
  g_autoptr (GPtrArray) guests = g_ptr_array_new_with_free_func (g_object_unref);
  char *addresses[] = { unix_address, NULL };
  g_autoptr (GSocket) busy = listen_at (address);
  gboolean is_full = FALSE;

  while (!is_full)
    {
      GSocket *guest = g_socket_new (G_SOCKET_FAMILY_UNIX, G_SOCKET_TYPE_STREAM,
                                     G_SOCKET_PROTOCOL_DEFAULT, NULL);
      g_socket_set_blocking (guest, FALSE);
      is_full = !g_socket_connect (guest, address, NULL, NULL);
      g_ptr_array_add (guests, guest);
    }
  g_assert_true (wire_find_run (addresses, "the id", FIND_US / 3, &name, &host));
  g_assert_null (name);
  g_assert_cmpstr (host, ==, unix_address);
  g_unlink (path);
  g_rmdir (folder);
}

/* A stopped process: the kernel accepts the connections. At a TCP port it may be any process. */
static void
who_lives_and_says_nothing_may_be_it (void)
{
  g_autofree char *folder = g_dir_make_tmp ("satin-wire-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "s", NULL);
  g_autofree char *unix_address = g_strconcat ("unix:", path, NULL), *name = NULL, *host = NULL;
  g_autoptr (GSocketAddress) address = g_unix_socket_address_new (path);
  g_autoptr (GSocketAddress) tcp = g_inet_socket_address_new_from_string ("127.0.0.1", 0);
  g_autoptr (GSocket) near = listen_at (address), other = listen_at (tcp);
  g_autoptr (GSocketAddress) bound = g_socket_get_local_address (other, NULL);
  g_autofree char *tcp_address = g_strdup_printf (
      "tcp:127.0.0.1:%u", g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (bound)));
  char *addresses[] = { tcp_address, NULL, NULL };

  g_assert_false (wire_find_run (addresses, "the id", FIND_US / 3, &name, &host));
  addresses[1] = unix_address;
  g_assert_true (wire_find_run (addresses, "the id", FIND_US / 3, &name, &host));
  g_assert_null (name);
  g_assert_cmpstr (host, ==, unix_address);
  g_unlink (path);
  g_rmdir (folder);
}

static void
only_addresses_of_this_host_are_listened_at (void)
{
  const char *const wrong[] = { "0.0.0.0", "::", "localhost", "192.0.2.1", "" };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      World world = { .poller = poller_new (NULL) };
      g_autoptr (GError) error = NULL;
      g_autofree char *folder = g_dir_make_tmp ("satin-wire-XXXXXX", NULL);
      g_autofree char *path = g_build_filename (folder, "s", NULL);
      g_assert_null (listener_new (poller_context (world.poller), path,
                                   &(ListenerPlace){ wrong[i], 0, 0 }, world_on_accepted,
                                   world_on_crowded, &world, &error));
      g_assert_nonnull (error);
      g_rmdir (folder);
      poller_free (world.poller);
    }
}

/* A socket file that a dead process left at the path does no harm, nor does a port of the range
 * that is in use. */
static void
taken_places_are_passed_over (void)
{
  g_autofree char *folder = g_dir_make_tmp ("satin-wire-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "s", NULL), *wanted = NULL;
  g_autoptr (GSocketAddress) any = g_inet_socket_address_new_from_string ("127.0.0.1", 0);
  g_autoptr (GSocket) taken = listen_at (any);
  g_autoptr (GSocketAddress) bound = g_socket_get_local_address (taken, NULL);
  int port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (bound));
  World world = { .poller = poller_new (NULL) };
  g_autoptr (GError) error = NULL;
  if (!world_needs_tls ())
    return;
  g_assert_true (g_file_set_contents (path, "", 0, NULL));
  Listener *listener = listener_new (poller_context (world.poller), path,
                                     &(ListenerPlace){ "127.0.0.1", port, MIN (port + 20, 65535) },
                                     world_on_accepted, world_on_crowded, &world, &error);
  g_assert_no_error (error);
  wanted = g_strdup_printf ("tcp:127.0.0.1:%d", port);
  g_assert_true (g_str_has_prefix (listener_addresses (listener)[1], "tcp:127.0.0.1:"));
  g_assert_cmpstr (listener_addresses (listener)[1], !=, wanted);
  listener_free (listener);
  g_assert_null (listener_new (poller_context (world.poller), path,
                               &(ListenerPlace){ "127.0.0.1", port, port }, world_on_accepted,
                               world_on_crowded, &world, &error));
  g_assert_nonnull (error);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
  poller_free (world.poller);
}

/* Nobody else uses the ports of this address. */
#define OWN_HOST "127.77.3.9"

static void
the_last_port_of_a_range_is_used (void)
{
  g_autofree char *folder = g_dir_make_tmp ("satin-wire-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "s", NULL), *wanted = NULL;
  g_autoptr (GSocketAddress) any = g_inet_socket_address_new_from_string (OWN_HOST, 0);
  g_autoptr (GSocket) taken = listen_at (any);
  g_autoptr (GSocketAddress) bound = g_socket_get_local_address (taken, NULL);
  int port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (bound));
  World world = { .poller = poller_new (NULL) };
  g_autoptr (GError) error = NULL;
  if (!world_needs_tls ())
    return;
  Listener *listener = listener_new (poller_context (world.poller), path,
                                     &(ListenerPlace){ OWN_HOST, port, port + 1 },
                                     world_on_accepted, world_on_crowded, &world, &error);
  g_assert_no_error (error);
  wanted = g_strdup_printf ("tcp:" OWN_HOST ":%d", port + 1);
  g_assert_cmpstr (listener_addresses (listener)[1], ==, wanted);
  listener_free (listener);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
  poller_free (world.poller);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/wire-tls/another-key-is-refused", NULL, another_key_is_refused);
  g_test_add_data_func ("/wire-tls/no-key-is-refused", "empty", another_key_is_refused);
  g_test_add_func ("/wire-tls/plain-frames-are-refused", plain_frames_are_refused);
  g_test_add_func ("/wire-tls/bytes-behind-the-proof-are-refused",
                   bytes_behind_the_proof_are_refused);
  g_test_add_func ("/wire-tls/a-silent-handshake-ends", a_silent_handshake_ends);
  g_test_add_func ("/wire-tls/a-handshake-can-be-left", a_handshake_can_be_left);
  g_test_add_func ("/wire-tls/a-question-is-answered", a_question_is_answered_over_tcp);
  g_test_add_func ("/wire-tls/nothing-stays", nothing_stays_in_tls);
  g_test_add_func ("/wire-tls/no-question-in-plain", no_question_is_asked_in_plain);
  g_test_add_func ("/wire-tls/one-address", a_listener_has_one_address);
  g_test_add_func ("/wire-tls/who-is-slow-to-say-who-it-is-is-found",
                   who_is_slow_to_say_who_it_is_is_found);
  g_test_add_func ("/wire-tls/who-lives-and-says-nothing-may-be-it",
                   who_lives_and_says_nothing_may_be_it);
  g_test_add_func ("/wire-tls/who-is-too-busy-to-accept-may-be-it",
                   who_is_too_busy_to_accept_may_be_it);
  g_test_add_func ("/wire-tls/the-last-port-of-a-range", the_last_port_of_a_range_is_used);
  g_test_add_func ("/wire-tls/only-addresses-of-this-host",
                   only_addresses_of_this_host_are_listened_at);
  g_test_add_func ("/wire-tls/taken-places-are-passed-over", taken_places_are_passed_over);
  return g_test_run ();
}
