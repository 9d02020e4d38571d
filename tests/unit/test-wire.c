/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/listener.h"
#include "net/wire-private.h"
#include "net/wire-queue.h"
#include "net/wire-tls.h"

#include "command/key.h"

#include <glib/gstdio.h>
#include <string.h>

#define PATIENT 2 /* what begins so lets others pass */

/* Two ends in one context. */
typedef struct
{
  Poller *poller;
  Listener *listener;
  WireRun run;
  Wire *near, *far; /* dialled, accepted */
  guint ups, downs;
  gboolean dead, waits;
  const WireCalls *calls; /* of the accepted one */
  guint64 received_bytes, received;
  guint32 sum;
  guint8 firsts[16]; /* the first byte of each message */
  char *folder, *path;
} World;

static void
on_up (Wire *link, void *data)
{
  World *world = data;
  (void)link;
  world->ups++;
}

static void
on_message (Wire *link, GBytes *message, void *data)
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

static void
on_down (Wire *link, gboolean dead, void *data)
{
  World *world = data;
  if (link == world->near)
    world->near = NULL;
  if (link == world->far)
    world->far = NULL;
  world->downs++;
  world->dead = dead;
}

static gboolean
may_wait (Wire *link, GBytes *message)
{
  (void)link;
  return ((const guint8 *)g_bytes_get_data (message, NULL))[0] == PATIENT;
}

static const WireCalls calls = { on_up, on_message, may_wait, on_down, NULL };

static void
on_accepted (GSocket *socket, void *data)
{
  World *world = data;
  world->far = wire_accept (world->poller, &world->run, socket, world->calls, world);
}

static gboolean
on_crowded (void *data)
{
  (void)data;
  return FALSE;
}

/* (transfer full) */
static char *
make_key (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = key_make (&error);
  g_assert_no_error (error);
  return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

static gboolean
needs_tls (void)
{
  g_autoptr (GError) error = NULL;
  if (wire_tls_is_there (&error))
    return TRUE;
  g_test_skip (error->message);
  return FALSE;
}

static void
world_open (World *world, gboolean tcp)
{
  g_autoptr (GError) error = NULL;
  memset (world, 0, sizeof *world);
  world->calls = &calls;
  world->poller = poller_new (&error);
  g_assert_no_error (error);
  world->folder = g_dir_make_tmp ("satin-wire-XXXXXX", NULL);
  world->path = g_build_filename (world->folder, "s", NULL);
  world->run = (WireRun){ "secret", make_key (), "id-1", "name-1", "host-1", 30 };
  world->listener = listener_new (poller_context (world->poller), world->path,
                                  tcp ? &(ListenerPlace){ "127.0.0.1", 0, 0 } : NULL, on_accepted,
                                  on_crowded, world, &error);
  g_assert_no_error (error);
  GStatBuf info;
  g_assert_cmpint (g_stat (world->path, &info), ==, 0);
  g_assert_cmpint (info.st_mode & 0777, ==, 0600); /* no other user comes in */
}

static void
world_close (World *world)
{
  if (world->near != NULL)
    wire_close (world->near);
  if (world->far != NULL)
    wire_close (world->far);
  listener_free (world->listener);
  g_rmdir (world->folder);
  poller_free (world->poller);
  g_free (world->folder);
  g_free (world->path);
  g_free (world->run.key);
}

static void
turn (Poller *poller, gboolean sleeps)
{
  PollerReady ready;
  gint64 until_us = poller_prepare (poller, &ready);

  poller_wait (poller, &ready, sleeps ? until_us : 0);
  (void)poller_dispatch (poller, &ready);
}

#define UNTIL(world, condition) \
  do \
    turn ((world)->poller, TRUE); \
  while (!(condition))

static void
messages_arrive_whole (gconstpointer tcp)
{
  World world;
  guint64 sent = 0;
  guint32 sum = 0;
  if (tcp != NULL && !needs_tls ())
    return;
  world_open (&world, GPOINTER_TO_INT (tcp));
  const char *address = listener_addresses (world.listener)[GPOINTER_TO_INT (tcp)];
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE, address, &calls, &world);
  UNTIL (&world, world.ups == 2);

  const gsize sizes[] = { 1, 7, 4096, 262143, 262144, 262145, 5000000, 3, 40000000, 9 };
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
      guint8 *bytes = g_malloc (sizes[i]);
      for (gsize k = 0; k < sizes[i]; k++)
        bytes[k] = (guint8)(k * 7 + i);
      for (gsize k = 0; k < sizes[i]; k += 4099)
        sum = sum * 31 + bytes[k];
      GBytes *all = g_bytes_new_take (bytes, sizes[i]);
      gsize half = sizes[i] / 2;
      g_ptr_array_add (parts, g_bytes_new_from_bytes (all, 0, half));
      g_ptr_array_add (parts, g_bytes_new_from_bytes (all, half, sizes[i] - half));
      g_bytes_unref (all);
      wire_send (world.near, parts, FALSE);
      wire_flush (world.near);
      sent += sizes[i];
    }
  UNTIL (&world, world.received == G_N_ELEMENTS (sizes));

  g_assert_cmpuint (world.received_bytes, ==, sent);
  g_assert_cmpuint (world.sum, ==, sum);
  g_assert_cmpuint (wire_queued (world.near), ==, 0);
  world_close (&world);
}

/* What a dialling node says until it is up, on a blocking socket. */
static void
prove_by_hand (World *world, GSocket *socket, gboolean wait)
{
  guint8 greeting[MAGIC_SIZE + NONCE_SIZE + 2 + GREETING_TEXT_MAX];
  guint8 frame[1 + NONCE_SIZE + PROOF_SIZE] = { WIRE_ROLE_NODE };
  while (g_socket_get_available_bytes (socket) <= 0)
    turn (world->poller, FALSE);
  g_assert_cmpint (g_socket_receive (socket, (char *)greeting, sizeof greeting, NULL, NULL), >,
                   MAGIC_SIZE);
  wire_prove (world->run.credential, "dialler", greeting + MAGIC_SIZE, frame + 1, frame[0],
              frame + 1 + NONCE_SIZE);
  g_socket_send (socket, (char *)frame, sizeof frame, NULL, NULL);
  if (wait)
    UNTIL (world, world->ups == 1);
  else
    while (g_socket_get_available_bytes (socket) < PROOF_SIZE)
      turn (world->poller, FALSE);
}

static GPtrArray *
message_of (gsize size, guint8 first)
{
  GPtrArray *parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  guint8 *bytes = g_malloc0 (size);
  bytes[0] = first;
  g_ptr_array_add (parts, g_bytes_new_take (bytes, size));
  return parts;
}

static void
urgent_ones_pass_large_ones (void)
{
  World world;
  world_open (&world, FALSE);
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[0], &calls, &world);
  UNTIL (&world, world.ups == 2);
  const gsize large = 20 << 20;
  g_autoptr (GPtrArray) first = message_of (large, 1), second = message_of (100, 2),
                        urgent = message_of (100, 3), other = message_of (100, 4);

  wire_send (world.near, first, FALSE);
  wire_flush (world.near); /* it is on its way */
  wire_send (world.near, second, FALSE);
  wire_send (world.near, urgent, TRUE);
  wire_send (world.near, other, TRUE);
  UNTIL (&world, world.received == 4);

  g_assert_cmpmem (world.firsts, 4, "\3\4\1\2", 4);
  g_assert_cmpuint (world.received_bytes, ==, large + 300);
  world_close (&world);
}

/* What somebody waits for goes at once, while a message is heard. */
static void
on_request (Wire *link, GBytes *message, void *data)
{
  World *world = data;
  on_message (link, message, data);
  if (link != world->far)
    return;
  world->waits = world->waits || wire_queued (link) > 0;
  g_autoptr (GPtrArray) answer = message_of (10, 9);
  wire_send (link, answer, TRUE);
  wire_flush (link);
}

static void
awaited_answers_do_not_wait_for_what_is_to_be_read (void)
{
  static const WireCalls answering = { on_up, on_request, may_wait, on_down, NULL };
  World world;
  world_open (&world, FALSE);
  world.calls = &answering;
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[0], &answering, &world);
  UNTIL (&world, world.ups == 2);
  g_autoptr (GPtrArray) one = message_of (100, 1);

  for (guint i = 0; i < 3; i++)
    wire_send (world.near, one, FALSE);
  wire_flush (world.near);
  UNTIL (&world, world.received >= 3);
  wire_flush (world.far);
  UNTIL (&world, world.received == 6);

  g_assert_false (world.waits);
  world_close (&world);
}

/* The near end asks again as soon as it is answered, as on the same processor. */
static void
on_request_again (Wire *link, GBytes *message, void *data)
{
  World *world = data;
  gboolean first = world->received == 0;
  on_request (link, message, data);
  if (!first)
    return;
  g_autoptr (GPtrArray) again = message_of (100, 1);
  wire_send (world->near, again, TRUE);
  wire_flush (world->near);
}

static void
who_asks_again_does_not_wait_for_what_may_wait (gconstpointer tcp)
{
  static const WireCalls answering = { on_up, on_request_again, may_wait, on_down, NULL };
  World world;
  if (tcp != NULL && !needs_tls ())
    return;
  world_open (&world, GPOINTER_TO_INT (tcp));
  world.calls = &answering;
  world.near
      = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE,
                   listener_addresses (world.listener)[GPOINTER_TO_INT (tcp)], &calls, &world);
  UNTIL (&world, world.ups == 2);
  g_autoptr (GPtrArray) request = message_of (100, 1), result = message_of (100, PATIENT);

  wire_send (world.near, request, TRUE);
  wire_send (world.near, result, FALSE);
  wire_send (world.near, result, FALSE);
  wire_flush (world.near);
  UNTIL (&world, world.received >= 4);

  g_assert_cmpmem (world.firsts, 4, "\1\1\2\2", 4);
  world_close (&world);
}

/* Urgent ones stay in order among themselves, also when one is large. */
static void
urgent_ones_do_not_pass_each_other (void)
{
  World world;
  world_open (&world, FALSE);
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[0], &calls, &world);
  UNTIL (&world, world.ups == 2);
  g_autoptr (GPtrArray) first = message_of (3 << 20, 1), second = message_of (2 << 20, 2),
                        third = message_of (100, 3), last = message_of (100, 4);

  wire_send (world.near, first, FALSE);
  wire_send (world.near, second, TRUE);
  wire_send (world.near, third, TRUE);
  wire_flush (world.near);
  UNTIL (&world, world.received == 3);
  wire_send (world.near, second, FALSE);
  wire_send (world.near, last, TRUE);
  wire_flush (world.near);
  UNTIL (&world, world.received == 5);

  g_assert_cmpmem (world.firsts, 5, "\1\2\3\4\2", 5);
  world_close (&world);
}

/* A frame that no node sends, after an honest proof: the link ends, whatever it says. */
static void
wrong_frames_are_refused (void)
{
  const guint64 frames[] = { 0,
                             WIRE_PIECE + 1,
                             (guint64)WIRE_BEGIN << WIRE_KIND_SHIFT | WIRE_PIECE,
                             (guint64)WIRE_BEGIN << WIRE_KIND_SHIFT | (WIRE_MESSAGE_MAX + 1),
                             (guint64)WIRE_CONTINUE << WIRE_KIND_SHIFT | 1,
                             (guint64)WIRE_KINDS << WIRE_KIND_SHIFT | 1 };
  for (guint i = 0; i < G_N_ELEMENTS (frames); i++)
    {
      World world;
      world_open (&world, FALSE);
      g_autoptr (GSocket) socket
          = wire_connect_blocking (listener_addresses (world.listener)[0], NULL);
      guint64 frame = GUINT64_TO_LE (frames[i]);
      prove_by_hand (&world, socket, TRUE);
      g_socket_send (socket, (char *)&frame, sizeof frame, NULL, NULL);
      UNTIL (&world, world.downs == 1);

      g_assert_cmpuint (world.received, ==, 0);
      world_close (&world);
    }
}

static void
another_credential_is_refused (void)
{
  World world;
  world_open (&world, FALSE);
  WireRun other = world.run;
  other.credential = (char *)"guess";

  world.near = wire_dial (world.poller, &other, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[0], &calls, &world);
  UNTIL (&world, world.downs == 2);

  g_assert_cmpuint (world.ups, ==, 0);
  world_close (&world);
}

/* Each single byte of what a proof is of, and of the proof. */
static void
near_misses_are_refused (void)
{
  char credential[] = "0123456789abcdef";
  guint8 greeter[NONCE_SIZE], dialler[NONCE_SIZE], role = WIRE_ROLE_NODE;
  guint8 proof[PROOF_SIZE], other[PROOF_SIZE];
  struct
  {
    void *bytes;
    gsize size;
  } parts[] = { { credential, sizeof credential - 1 },
                { greeter, sizeof greeter },
                { dialler, sizeof dialler },
                { &role, 1 },
                { other, sizeof other } };
  memset (greeter, 3, sizeof greeter);
  memset (dialler, 5, sizeof dialler);
  wire_prove (credential, "dialler", greeter, dialler, role, proof);

  for (guint p = 0; p < G_N_ELEMENTS (parts); p++)
    for (gsize i = 0; i < parts[p].size; i++)
      {
        guint8 *byte = (guint8 *)parts[p].bytes + i;
        wire_prove (credential, "dialler", greeter, dialler, role, other);
        g_assert_true (wire_proof_is_equal (proof, other));
        *byte ^= 1;
        if (byte < other || byte >= other + sizeof other)
          wire_prove (credential, "dialler", greeter, dialler, role, other);
        g_assert_false (wire_proof_is_equal (proof, other));
        *byte ^= 1;
      }
  wire_prove (credential, "greeter", greeter, dialler, role, other);
  g_assert_false (wire_proof_is_equal (proof, other));
}

/* A dialler's credential with each single byte changed. */
static void
near_credentials_are_refused (void)
{
  for (gsize i = 0; i < strlen ("secret"); i++)
    {
      World world;
      char near[] = "secret";
      world_open (&world, FALSE);
      WireRun other = world.run;
      near[i] ^= 1;
      other.credential = near;
      world.near = wire_dial (world.poller, &other, WIRE_ROLE_NODE,
                              listener_addresses (world.listener)[0], &calls, &world);
      UNTIL (&world, world.downs == 2);
      g_assert_cmpuint (world.ups, ==, 0);
      world_close (&world);
    }
}

static void
garbage_is_refused (void)
{
  World world;
  world_open (&world, FALSE);
  for (guint i = 0; i < 64; i++)
    {
      guint8 garbage[200];
      guint before = world.downs;
      g_autoptr (GSocket) socket
          = wire_connect_blocking (listener_addresses (world.listener)[0], NULL);
      for (guint k = 0; k < sizeof garbage; k++)
        garbage[k] = (guint8)g_test_rand_int ();
      g_socket_send (socket, (char *)garbage, 1 + (gsize)g_test_rand_int_range (0, 199), NULL,
                     NULL);
      g_socket_close (socket, NULL);
      UNTIL (&world, world.downs == before + 1);
    }
  g_assert_cmpuint (world.ups, ==, 0);
  g_assert_cmpuint (world.received, ==, 0);
  world_close (&world);
}

static void
a_dial_to_nobody_says_dead (void)
{
  World world;
  world_open (&world, FALSE);
  g_autofree char *nobody = g_strdup_printf ("unix:%s-gone", world.path);

  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE, nobody, &calls, &world);
  UNTIL (&world, world.downs == 1);

  g_assert_true (world.dead);
  world_close (&world);
}

static void
the_other_side_closing_is_noticed (void)
{
  World world;
  world_open (&world, FALSE);
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[0], &calls, &world);
  UNTIL (&world, world.ups == 2);

  wire_close (world.far);
  world.far = NULL;
  UNTIL (&world, world.downs == 1);

  g_assert_null (world.near);
  world_close (&world);
}

/* ---- TCP ---- */

/* A process with the credential and another key gets no link, whichever side it is. */
static void
another_key_is_refused (gconstpointer empty)
{
  World world;
  if (!needs_tls ())
    return;
  world_open (&world, TRUE);
  WireRun other = world.run;
  other.key = empty != NULL ? NULL : make_key ();

  world.near = wire_dial (world.poller, &other, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[1], &calls, &world);
  UNTIL (&world, world.downs == 2);

  g_assert_cmpuint (world.ups, <=, 1); /* in TLS 1.3 the dialler hears of a refusal later */
  g_assert_cmpuint (world.received, ==, 0);
  g_free (other.key);
  world_close (&world);
}

/* The credential without TLS is not enough: frames in plain are no handshake. */
static void
plain_frames_are_refused (void)
{
  World world;
  if (!needs_tls ())
    return;
  world_open (&world, TRUE);
  g_autoptr (GSocket) socket = wire_connect_blocking (listener_addresses (world.listener)[1], NULL);
  guint64 frame[2] = { GUINT64_TO_LE (8), 0 };
  prove_by_hand (&world, socket, FALSE);
  g_socket_send (socket, (char *)frame, sizeof frame, NULL, NULL);
  UNTIL (&world, world.downs == 1);

  g_assert_cmpuint (world.ups, ==, 0);
  g_assert_cmpuint (world.received, ==, 0);
  world_close (&world);
}

/* A process that proves itself and then says nothing is gone after a while, also out of the
 * handshake. */
static void
a_silent_handshake_ends (void)
{
  World world;
  if (!needs_tls ())
    return;
  world_open (&world, TRUE);
  g_autoptr (GSocket) socket = wire_connect_blocking (listener_addresses (world.listener)[1], NULL);
  prove_by_hand (&world, socket, FALSE);
  UNTIL (&world, world.downs == 1);

  g_assert_cmpuint (world.ups, ==, 0);
  world_close (&world);
}

/* Closed in the middle of the handshake: nothing is called any more. */
static void
a_handshake_can_be_left (void)
{
  World world;
  if (!needs_tls ())
    return;
  world_open (&world, TRUE);
  g_autoptr (GSocket) socket = wire_connect_blocking (listener_addresses (world.listener)[1], NULL);
  prove_by_hand (&world, socket, FALSE);
  wire_close (world.far);
  world.far = NULL;
  for (int i = 0; i < 50; i++)
    {
      turn (world.poller, FALSE);
      g_usleep (2000);
    }

  g_assert_cmpuint (world.ups + world.downs, ==, 0);
  world_close (&world);
}

static gpointer
ask_in_thread (gpointer data)
{
  World *world = data;
  g_autoptr (GError) error = NULL;
  char *reply
      = wire_ask (listener_addresses (world->listener)[1], &world->run, "status", NULL, &error);
  g_assert_no_error (error);
  return reply;
}

/* People's requests go over TCP too. */
static void
a_question_is_answered_over_tcp (void)
{
  World world;
  if (!needs_tls ())
    return;
  world_open (&world, TRUE);
  GThread *thread = g_thread_new ("ask", ask_in_thread, &world);
  UNTIL (&world, world.received == 1);
  g_assert_cmpuint (wire_role (world.far), ==, WIRE_ROLE_CONTROL);
  g_autoptr (GPtrArray) reply = message_of (3, 'a');
  wire_send (world.far, reply, FALSE);
  wire_flush (world.far);
  g_autofree char *text = g_thread_join (thread);

  g_assert_cmpint (text[0], ==, 'a');
  world_close (&world);
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
                                   &(ListenerPlace){ wrong[i], 0, 0 }, on_accepted, on_crowded,
                                   &world, &error));
      g_assert_nonnull (error);
      g_rmdir (folder);
      poller_free (world.poller);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/wire/messages-arrive-whole-by-unix-socket", GINT_TO_POINTER (0),
                        messages_arrive_whole);
  g_test_add_data_func ("/wire/messages-arrive-whole-by-tcp", GINT_TO_POINTER (1),
                        messages_arrive_whole);
  g_test_add_func ("/wire/urgent-ones-pass-large-ones", urgent_ones_pass_large_ones);
  g_test_add_func ("/wire/awaited-answers-do-not-wait-for-what-is-to-be-read",
                   awaited_answers_do_not_wait_for_what_is_to_be_read);
  g_test_add_data_func ("/wire/who-asks-again-does-not-wait-for-what-may-wait", GINT_TO_POINTER (0),
                        who_asks_again_does_not_wait_for_what_may_wait);
  g_test_add_data_func ("/wire/tcp/who-asks-again-does-not-wait-for-what-may-wait",
                        GINT_TO_POINTER (1), who_asks_again_does_not_wait_for_what_may_wait);
  g_test_add_func ("/wire/urgent-ones-do-not-pass-each-other", urgent_ones_do_not_pass_each_other);
  g_test_add_func ("/wire/wrong-frames-are-refused", wrong_frames_are_refused);
  g_test_add_func ("/wire/another-credential-is-refused", another_credential_is_refused);
  g_test_add_func ("/wire/near-misses-are-refused", near_misses_are_refused);
  g_test_add_func ("/wire/near-credentials-are-refused", near_credentials_are_refused);
  g_test_add_func ("/wire/garbage-is-refused", garbage_is_refused);
  g_test_add_func ("/wire/a-dial-to-nobody-says-dead", a_dial_to_nobody_says_dead);
  g_test_add_func ("/wire/the-other-side-closing-is-noticed", the_other_side_closing_is_noticed);
  g_test_add_data_func ("/wire/tcp/another-key-is-refused", NULL, another_key_is_refused);
  g_test_add_data_func ("/wire/tcp/no-key-is-refused", "empty", another_key_is_refused);
  g_test_add_func ("/wire/tcp/plain-frames-are-refused", plain_frames_are_refused);
  g_test_add_func ("/wire/tcp/a-silent-handshake-ends", a_silent_handshake_ends);
  g_test_add_func ("/wire/tcp/a-handshake-can-be-left", a_handshake_can_be_left);
  g_test_add_func ("/wire/tcp/a-question-is-answered", a_question_is_answered_over_tcp);
  g_test_add_func ("/wire/tcp/only-addresses-of-this-host",
                   only_addresses_of_this_host_are_listened_at);
  return g_test_run ();
}
