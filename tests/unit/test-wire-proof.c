/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that does not prove that it belongs to the run gets no wire; and frames that no node
 * sends. */
#include "wire-world.h"

#include "link/wire-private.h"
#include "link/wire-queue.h"

#include <string.h>

static void
another_credential_is_refused (void)
{
  World world;
  world_open (&world, FALSE);
  WireRun other = world.run;
  other.credential = (char *)"guess";

  world.near = wire_dial (world.poller, &other, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[0], &world_calls, &world);
  UNTIL (&world, world.downs == 2);

  g_assert_cmpuint (world.ups, ==, 0);
  world_close (&world);
}

/* Each single byte of the proven data and of the proof counts. */
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
                              listener_addresses (world.listener)[0], &world_calls, &world);
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
          = wire_connect_blocking (listener_addresses (world.listener)[0], NULL, NULL);
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

/* A frame that no node sends, after a valid proof: the link ends, whatever the frame is. */
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
          = wire_connect_blocking (listener_addresses (world.listener)[0], NULL, NULL);
      guint64 frame = GUINT64_TO_LE (frames[i]);
      world_prove (&world, socket, TRUE);
      g_socket_send (socket, (char *)&frame, sizeof frame, NULL, NULL);
      UNTIL (&world, world.downs == 1);

      g_assert_cmpuint (world.received, ==, 0);
      world_close (&world);
    }
}

/* A role that does not exist is refused, although the proof includes it. */
static void
other_roles_are_refused (void)
{
  for (guint role = 0; role < 256; role++)
    {
      guint8 greeting[MAGIC_SIZE + NONCE_SIZE + 2 + GREETING_TEXT_MAX];
      guint8 frame[1 + NONCE_SIZE + PROOF_SIZE] = { (guint8)role };
      World world;

      if (role == WIRE_ROLE_NODE || role == WIRE_ROLE_CONTROL)
        continue;
      world_open (&world, FALSE);
      g_autoptr (GSocket) socket
          = wire_connect_blocking (listener_addresses (world.listener)[0], NULL, NULL);
      while (g_socket_get_available_bytes (socket) <= 0)
        world_turn (world.poller, FALSE);
      g_assert_cmpint (g_socket_receive (socket, (char *)greeting, sizeof greeting, NULL, NULL), >,
                       MAGIC_SIZE);
      wire_prove (world.run.credential, "dialler", greeting + MAGIC_SIZE, frame + 1, frame[0],
                  frame + 1 + NONCE_SIZE);
      g_socket_send (socket, (char *)frame, sizeof frame, NULL, NULL);
      UNTIL (&world, world.downs + world.ups == 1);
      g_assert_cmpuint (world.ups, ==, 0);
      world_close (&world);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/wire-proof/wrong-frames-are-refused", wrong_frames_are_refused);
  g_test_add_func ("/wire-proof/another-credential-is-refused", another_credential_is_refused);
  g_test_add_func ("/wire-proof/near-misses-are-refused", near_misses_are_refused);
  g_test_add_func ("/wire-proof/near-credentials-are-refused", near_credentials_are_refused);
  g_test_add_func ("/wire-proof/garbage-is-refused", garbage_is_refused);
  g_test_add_func ("/wire-proof/other-roles-are-refused", other_roles_are_refused);
  return g_test_run ();
}
