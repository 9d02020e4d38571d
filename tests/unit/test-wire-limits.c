/* SPDX-License-Identifier: BSD-3-Clause */
/* What a wire tolerates of its other end, and how long; which failures mean that no process
 * listens. The replaced system calls return what the test says. */
#include "wire-world.h"

#include "link/wire-intake.h"
#include "link/wire-private.h"
#include "link/wire-queue.h"

#include <dlfcn.h>
#include <errno.h>
#include <gio/gunixsocketaddress.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define REAL(name) ((__typeof__ (&name))dlsym (RTLD_NEXT, #name))

static int connect_errno, socket_error; /* 0: the real result */
static gsize flood_left, flood_at;      /* the bytes of messages of 8 bytes that can be read */

static guint ends_heard; /* how often recv () reported the end */

#pragma GCC visibility push(default)

int
connect (int fd, const struct sockaddr *address, socklen_t length)
{
  int how = connect_errno == 0 || connect_errno == EINPROGRESS
                ? REAL (connect) (fd, address, length)
                : -1;
  if (connect_errno != 0)
    errno = connect_errno;
  return connect_errno == 0 ? how : -1;
}

int
getsockopt (int fd, int level, int name, void *value, socklen_t *length)
{
  int how = REAL (getsockopt) (fd, level, name, value, length);
  if (how == 0 && level == SOL_SOCKET && name == SO_ERROR && socket_error != 0)
    *(int *)value = socket_error;
  return how;
}

#pragma GCC visibility pop

/* Fills the buffer with headers of eight bytes, each followed by a message of eight bytes. */
static gsize
flood (guint8 *to, gsize size)
{
  gsize n = MIN (size, flood_left);
  for (gsize i = 0; i < n; i++)
    to[i] = (flood_at + i) % 16 == 0 ? 8 : 0;
  flood_at += n;
  flood_left -= n;
  return n;
}

static ssize_t
heard (ssize_t n)
{
  if (n == 0 && ++ends_heard > 100)
    g_error ("the end is heard for ever");
  if (n >= 0)
    errno = EINTR; /* whatever errno is then */
  return n;
}

ssize_t
recv (int fd, void *to, size_t size, int flags)
{
  return flood_left > 0 ? (ssize_t)flood (to, size) : heard (REAL (recv) (fd, to, size, flags));
}

ssize_t
recvmsg (int fd, struct msghdr *message, int flags)
{
  gsize n = 0;
  if (flood_left == 0)
    return heard (REAL (recvmsg) (fd, message, flags));
  for (gsize i = 0; i < message->msg_iovlen; i++)
    n += flood (message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);
  return (ssize_t)n;
}

/* The longest sleep of the poller; -1: for ever. */
static gint
sleep_ms (World *world)
{
  GMainContext *context = poller_context (world->poller);
  GPollFD fds[8];
  gint ms = -1, priority;
  g_assert_true (g_main_context_acquire (context));
  (void)g_main_context_prepare (context, &priority);
  (void)g_main_context_query (context, priority, &ms, fds, G_N_ELEMENTS (fds));
  g_main_context_release (context);
  return ms;
}

/* A listening socket of this program, and the links that it accepted. */
typedef struct
{
  World world;
  GSocket *listener, *other;
  char *address;
} Stranger;

static void
stranger_dialled (Stranger *s)
{
  g_autoptr (GError) error = NULL;
  world_open (&s->world, FALSE);
  g_autofree char *path = g_strconcat (s->world.path, "-other", NULL);
  g_autoptr (GSocketAddress) at = g_unix_socket_address_new (path);
  s->address = g_strconcat ("unix:", path, NULL);
  s->listener = g_socket_new (G_SOCKET_FAMILY_UNIX, G_SOCKET_TYPE_STREAM, 0, &error);
  g_assert_true (g_socket_bind (s->listener, at, FALSE, &error));
  g_assert_true (g_socket_listen (s->listener, &error));
  s->world.near = wire_dial (s->world.poller, &s->world.run, WIRE_ROLE_NODE, s->address,
                             &world_calls, &s->world);
  s->other = g_socket_accept (s->listener, NULL, &error);
  g_assert_no_error (error);
}

static void
stranger_clear (Stranger *s)
{
  (void)unlink (s->address + strlen ("unix:"));
  g_clear_object (&s->other);
  g_clear_object (&s->listener);
  world_close (&s->world);
  g_free (s->address);
}

static void
turns (World *world)
{
  for (guint i = 0; i < 4; i++)
    world_turn (world->poller, FALSE);
}

static void
say (Stranger *s, const guint8 *bytes, gsize size)
{
  g_assert_cmpint (g_socket_send (s->other, (const char *)bytes, size, NULL, NULL), ==,
                   (gssize)size);
  turns (&s->world);
}

/* A greeting may have a text of limited size, and arrives in pieces of any size. */
static void
greetings_have_a_limit (void)
{
  static const guint sizes[]
      = { 0, 1, GREETING_TEXT_MAX - 1, GREETING_TEXT_MAX, GREETING_TEXT_MAX + 1, 0xffff };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (sizes); i++)
    {
      Stranger s = { 0 };
      gsize size = sizes[i / 2], head = MAGIC_SIZE + NONCE_SIZE + 2, piece = i % 2 != 0 ? 1 : 4096;
      g_autofree guint8 *greeting = g_malloc0 (head + size);
      gboolean may = size <= GREETING_TEXT_MAX;
      memcpy (greeting, MAGIC, MAGIC_SIZE);
      greeting[head - 2] = (guint8)(size & 255);
      greeting[head - 1] = (guint8)(size >> 8);
      stranger_dialled (&s);
      for (gsize at = 0; at < MIN (head + size, 600) && s.world.downs == 0; at += piece)
        {
          g_assert_cmpint (g_socket_get_available_bytes (s.other), ==,
                           0); /* the link waits for the rest */
          say (&s, greeting + at, MIN (piece, head + MIN (size, 600 - head) - at));
        }
      g_assert_cmpuint (s.world.downs, ==, may ? 0 : 1);
      g_assert_false (s.world.dead);
      if (may)
        g_assert_cmpint (g_socket_get_available_bytes (s.other), ==, 1 + NONCE_SIZE + PROOF_SIZE);
      stranger_clear (&s);
    }
}

/* The first bytes of another program end the connection as soon as they differ. */
static void
other_words_are_no_greeting (void)
{
  for (guint i = 0; i < MAGIC_SIZE; i++)
    {
      Stranger s = { 0 };
      guint8 magic[MAGIC_SIZE];
      memcpy (magic, MAGIC, MAGIC_SIZE);
      magic[i] ^= 1;
      stranger_dialled (&s);
      say (&s, magic, MAGIC_SIZE);
      g_assert_cmpuint (s.world.downs, ==, 1);
      g_assert_false (s.world.dead);
      stranger_clear (&s);
    }
}

/* A connection without a proof in time is closed; after the proof there is no such limit. */
static void
the_proof_has_a_deadline (void)
{
  const gint all_ms = WIRE_PROOF_SECONDS * 1000;
  Stranger s = { 0 };
  stranger_dialled (&s);
  g_assert_cmpint (sleep_ms (&s.world), <=, all_ms);
  g_assert_cmpint (sleep_ms (&s.world), >, all_ms / 2);
  stranger_clear (&s);

  World world;
  world_open (&world, FALSE);
  GSocket *socket = wire_connect_blocking (listener_addresses (world.listener)[0], NULL, NULL);
  UNTIL (&world, world.far != NULL);
  g_assert_cmpint (sleep_ms (&world), <=, all_ms);
  g_assert_cmpint (sleep_ms (&world), >, all_ms / 2);
  world_prove (&world, socket, TRUE);
  g_assert_cmpint (sleep_ms (&world), ==, -1);
  g_object_unref (socket);
  world_close (&world);
}

/* Only these errors mean that no process listens there. A dial that fails with another error means
 * nothing. */
static void
few_failures_mean_dead (void)
{
  static const struct
  {
    int number;
    gboolean at_once, later; /* when the error means that */
  } cases[] = {
    { ECONNREFUSED, TRUE, TRUE },   { ENOENT, TRUE, FALSE },         { ETIMEDOUT, FALSE, FALSE },
    { EHOSTUNREACH, FALSE, FALSE }, { ENETUNREACH, FALSE, FALSE },   { ECONNRESET, FALSE, FALSE },
    { EACCES, FALSE, FALSE },       { EADDRNOTAVAIL, FALSE, FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      World world;
      world_open (&world, TRUE);
      const char *const *addresses = (const char *const *)listener_addresses (world.listener);
      connect_errno = cases[i].number;
      world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE, addresses[0], &world_calls,
                              &world);
      connect_errno = 0;
      UNTIL (&world, world.downs == 1);
      g_assert_cmpint (world.dead, ==, cases[i].at_once);
      connect_errno = EINPROGRESS;
      socket_error = cases[i].number;
      world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE, addresses[1], &world_calls,
                              &world);
      connect_errno = 0;
      UNTIL (&world, world.downs == 2);
      socket_error = 0;
      g_assert_cmpint (world.dead, ==, cases[i].later);
      world_close (&world);
    }
  World world;
  world_open (&world, FALSE);
  world.near
      = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE, "nonsense", &world_calls, &world);
  UNTIL (&world, world.downs == 1);
  g_assert_false (world.dead);
  world_close (&world);
}

static void
both_up (World *world, const WireCalls *far)
{
  world_open (world, FALSE);
  world->calls = far;
  world->near = wire_dial (world->poller, &world->run, WIRE_ROLE_NODE,
                           listener_addresses (world->listener)[0], &world_calls, world);
  UNTIL (world, world->ups == 2);
}

/* The other end closes: that is reported once, whatever errno an earlier call has left. */
static void
an_end_is_heard_once (void)
{
  World world;
  both_up (&world, &world_calls);
  wire_close (world.near);
  world.near = NULL;
  UNTIL (&world, world.downs == 1);
  g_assert_null (world.far);
  world_close (&world);
}

#define BUDGET_BYTES (4 * 1024 * 1024)

/* A link with endless data lets others be served after so many bytes. */
static void
one_link_does_not_starve_others (void)
{
  World world;
  guint64 before;
  both_up (&world, &world_calls);
  g_autoptr (GPtrArray) one = world_message (8, 1);
  wire_send (world.near, one, FALSE);
  wire_flush (world.near);
  flood_left = 3 * BUDGET_BYTES;
  flood_at = 0;
  do
    {
      before = world.received;
      world_turn (world.poller, TRUE);
      g_assert_cmpuint (16 * (world.received - before), <=, BUDGET_BYTES + WIRE_INTAKE_SIZE);
    }
  while (flood_left > 0);
  g_assert_cmpuint (world.received, >=, 3 * BUDGET_BYTES / 16);
  world_close (&world);
}

static void
answer_the_first (Wire *link, GBytes *message, void *data)
{
  World *world = data;
  world_on_message (link, message, data);
  if (world->received > 1)
    return;
  g_autoptr (GPtrArray) answer = world_message (10, 9);
  wire_send (link, answer, TRUE);
  wire_flush (link);
}

/* Work that may wait does so while an answer is being sent, but not for ever after. */
static void
an_answer_is_over_with_its_dispatch (void)
{
  static const WireCalls answering
      = { world_on_up, answer_the_first, world_may_wait, world_on_down, NULL };
  World world;
  both_up (&world, &answering);
  g_autoptr (GPtrArray) request = world_message (10, 1),
                        patient = world_message (10, WORLD_PATIENT);
  wire_send (world.near, request, FALSE);
  wire_flush (world.near);
  UNTIL (&world, world.received == 2);
  wire_send (world.near, patient, FALSE);
  wire_send (world.near, request, FALSE);
  wire_flush (world.near);
  UNTIL (&world, world.received == 4);
  g_assert_cmpmem (world.firsts, 4, "\1\x9\2\1", 4);
  world_close (&world);
}

#define ASKS 100u
#define ROUNDS 8u /* after the first */

static void
answer_and_ask_again (Wire *link, GBytes *message, void *data)
{
  World *world = data;
  world_on_message (link, message, data);
  g_autoptr (GPtrArray) answer = world_message (10, 9), again = world_message (10, 1);
  wire_send (link, answer, TRUE);
  wire_flush (link);
  if (world->received >= ASKS)
    return;
  wire_send (world->near, again, TRUE);
  wire_flush (world->near);
}

/* An end that asks again as soon as it is answered lets others be served, too. */
static void
who_asks_for_ever_does_not_starve_others (void)
{
  static const WireCalls answering
      = { world_on_up, answer_and_ask_again, world_may_wait, world_on_down, NULL };
  World world;
  guint64 before;
  both_up (&world, &answering);
  g_autoptr (GPtrArray) request = world_message (10, 1);
  wire_send (world.near, request, FALSE);
  wire_flush (world.near);
  do
    {
      before = world.received;
      world_turn (world.poller, TRUE);
      /* Answers count, too, and a link may be served twice. */
      g_assert_cmpuint (world.received - before, <=, 4 * (ROUNDS + 1));
    }
  while (world.received < ASKS);
  world_close (&world);
}

/* When descriptors run out connections wait; they are accepted when some are free again, or when
 * the owner of the listener has made room. */
static void
who_came_too_early_comes_in_later (gconstpointer makes_room)
{
  struct rlimit all, few;
  World world;
  world_open (&world, FALSE);
  g_autoptr (GSocket) guest
      = wire_connect_blocking (listener_addresses (world.listener)[0], NULL, NULL);
  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &all), ==, 0);
  few = all;
  few.rlim_cur = (rlim_t)g_socket_get_fd (guest) + WIRE_DESCRIPTORS_KEPT / 2;
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &few), ==, 0);
  turns (&world);
  g_assert_null (world.far);
  if (makes_room)
    world.makes_room = TRUE;
  else
    g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &all), ==, 0);
  UNTIL (&world, world.far != NULL);
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &all), ==, 0);
  world_close (&world);
}

/* A process that has no descriptor for a dial knows nothing of the other end: it is not dead. */
static void
who_cannot_dial_calls_nobody_dead (void)
{
  struct rlimit all, few;
  World world;
  world_open (&world, FALSE);
  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &all), ==, 0);
  few = all;
  few.rlim_cur = WIRE_DESCRIPTORS_KEPT;
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &few), ==, 0);
  world.dead = TRUE;
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[0], &world_calls, &world);
  UNTIL (&world, world.downs == 1);
  g_assert_false (world.dead);
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &all), ==, 0);
  world_close (&world);
}

int
main (int argc, char **argv)
{
  alarm (60); /* ends the test if what it waits for never comes */
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/wire-limits/greetings-have-a-limit", greetings_have_a_limit);
  g_test_add_func ("/wire-limits/other-words-are-no-greeting", other_words_are_no_greeting);
  g_test_add_func ("/wire-limits/the-proof-has-a-deadline", the_proof_has_a_deadline);
  g_test_add_func ("/wire-limits/few-failures-mean-dead", few_failures_mean_dead);
  g_test_add_func ("/wire-limits/an-end-is-heard-once", an_end_is_heard_once);
  g_test_add_func ("/wire-limits/one-link-does-not-starve-others", one_link_does_not_starve_others);
  g_test_add_func ("/wire-limits/who-asks-for-ever-does-not-starve-others",
                   who_asks_for_ever_does_not_starve_others);
  g_test_add_data_func ("/wire-limits/who-came-too-early-comes-in-later", GINT_TO_POINTER (0),
                        who_came_too_early_comes_in_later);
  g_test_add_data_func ("/wire-limits/who-came-too-early-comes-in-when-there-is-room",
                        GINT_TO_POINTER (1), who_came_too_early_comes_in_later);
  g_test_add_func ("/wire-limits/who-cannot-dial-calls-nobody-dead",
                   who_cannot_dial_calls_nobody_dead);
  g_test_add_func ("/wire-limits/an-answer-is-over-with-its-dispatch",
                   an_answer_is_over_with_its_dispatch);
  return g_test_run ();
}
