/* SPDX-License-Identifier: BSD-3-Clause */
/* What is sent over a wire, in which order, and how the end of a wire is noticed. */
#include "wire-world.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void
messages_arrive_whole (gconstpointer tcp)
{
  World world;
  guint64 sent = 0;
  guint32 sum = 0;
  if (tcp != NULL && !world_needs_tls ())
    return;
  world_open (&world, GPOINTER_TO_INT (tcp));
  const char *address = listener_addresses (world.listener)[GPOINTER_TO_INT (tcp)];
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE, address, &world_calls, &world);
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

static void
urgent_ones_pass_large_ones (void)
{
  World world;
  world_open (&world, FALSE);
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[0], &world_calls, &world);
  UNTIL (&world, world.ups == 2);
  const gsize large = 20 << 20;
  g_autoptr (GPtrArray) first = world_message (large, 1), second = world_message (100, 2),
                        urgent = world_message (100, 3), other = world_message (100, 4);

  wire_send (world.near, first, FALSE);
  wire_flush (world.near); /* the message is in transit */
  wire_send (world.near, second, FALSE);
  wire_send (world.near, urgent, TRUE);
  wire_send (world.near, other, TRUE);
  UNTIL (&world, world.received == 4);

  g_assert_cmpmem (world.firsts, 4, "\3\4\1\2", 4);
  g_assert_cmpuint (world.received_bytes, ==, large + 300);
  world_close (&world);
}

/* A message for which another process waits is sent at once, even while a message is being
 * received. */
static void
on_request (Wire *link, GBytes *message, void *data)
{
  World *world = data;
  world_on_message (link, message, data);
  if (link != world->far)
    return;
  world->waits = world->waits || wire_queued (link) > 0;
  g_autoptr (GPtrArray) answer = world_message (10, 9);
  wire_send (link, answer, TRUE);
  wire_flush (link);
}

static void
awaited_answers_do_not_wait_for_what_is_to_be_read (void)
{
  static const WireCalls answering
      = { world_on_up, on_request, world_may_wait, world_on_down, NULL };
  World world;
  world_open (&world, FALSE);
  world.calls = &answering;
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[0], &answering, &world);
  UNTIL (&world, world.ups == 2);
  g_autoptr (GPtrArray) one = world_message (100, 1);

  for (guint i = 0; i < 3; i++)
    wire_send (world.near, one, FALSE);
  wire_flush (world.near);
  UNTIL (&world, world.received >= 3);
  wire_flush (world.far);
  UNTIL (&world, world.received == 6);

  g_assert_false (world.waits);
  world_close (&world);
}

/* The near end asks again as soon as it is answered, as if both shared a processor. */
static void
on_request_again (Wire *link, GBytes *message, void *data)
{
  World *world = data;
  gboolean first = world->received == 0;
  on_request (link, message, data);
  if (!first)
    return;
  g_autoptr (GPtrArray) again = world_message (100, 1);
  wire_send (world->near, again, TRUE);
  wire_flush (world->near);
}

static void
who_asks_again_does_not_wait_for_what_may_wait (gconstpointer tcp)
{
  static const WireCalls answering
      = { world_on_up, on_request_again, world_may_wait, world_on_down, NULL };
  World world;
  if (tcp != NULL && !world_needs_tls ())
    return;
  world_open (&world, GPOINTER_TO_INT (tcp));
  world.calls = &answering;
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[GPOINTER_TO_INT (tcp)], &world_calls,
                          &world);
  UNTIL (&world, world.ups == 2);
  g_autoptr (GPtrArray) request = world_message (100, 1),
                        result = world_message (100, WORLD_PATIENT);

  wire_send (world.near, request, TRUE);
  wire_send (world.near, result, FALSE);
  wire_send (world.near, result, FALSE);
  wire_flush (world.near);
  UNTIL (&world, world.received >= 4);

  g_assert_cmpmem (world.firsts, 4, "\1\1\2\2", 4);
  world_close (&world);
}

/* Urgent messages stay in order among themselves, also if one is large. */
static void
urgent_ones_do_not_pass_each_other (void)
{
  World world;
  world_open (&world, FALSE);
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[0], &world_calls, &world);
  UNTIL (&world, world.ups == 2);
  g_autoptr (GPtrArray) first = world_message (3 << 20, 1), second = world_message (2 << 20, 2),
                        third = world_message (100, 3), last = world_message (100, 4);

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

static void
a_dial_to_nobody_says_dead (void)
{
  World world;
  world_open (&world, FALSE);
  g_autofree char *nobody = g_strdup_printf ("unix:%s-gone", world.path);

  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE, nobody, &world_calls, &world);
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
                          listener_addresses (world.listener)[0], &world_calls, &world);
  UNTIL (&world, world.ups == 2);

  wire_close (world.far);
  world.far = NULL;
  UNTIL (&world, world.downs == 1);

  g_assert_null (world.near);
  world_close (&world);
}

/* The number of sockets of a process that is forked now. */
static int
sockets_of_a_fork (void)
{
  int status;
  pid_t pid = fork ();
  if (pid == 0)
    {
      int n = 0;
      char name[64], target[64];
      for (int fd = 0; fd < 200; fd++)
        {
          g_snprintf (name, sizeof name, "/proc/self/fd/%d", fd);
          ssize_t size = readlink (name, target, sizeof target);
          n += size > 7 && memcmp (target, "socket:", 7) == 0;
        }
      _exit (n);
    }
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  return WEXITSTATUS (status);
}

/* A process that a job forks holds neither links nor the listening socket; descriptors that are
 * free again may be anybody's. */
static void
forks_hold_no_links (void)
{
  World world;
  int before = sockets_of_a_fork (), pairs[8][2];
  world_open (&world, FALSE);
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[0], &world_calls, &world);
  UNTIL (&world, world.ups == 2);
  g_assert_cmpint (sockets_of_a_fork (), ==, before);
  world_close (&world);
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM, 0, pairs[i]), ==, 0);
  g_assert_cmpint (sockets_of_a_fork (), ==, before + 2 * (int)G_N_ELEMENTS (pairs));
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    {
      close (pairs[i][0]);
      close (pairs[i][1]);
    }
}

static guint proved_ups; /* ends that were up when the accepted one was proved, plus one */

static void
on_proved (Wire *link, void *data)
{
  World *world = data;

  g_assert_true (link == world->far);
  g_assert_cmpuint (proved_ups, ==, 0);
  proved_ups = world->ups + 1;
}

/* The accepted end knows what the dialler is, and says that it is proved before it is up. A
 * greeting has room for a part of a long name. */
static void
the_accepted_end_knows_who_dialled (gconstpointer tcp)
{
  static const WireCalls calls
      = { world_on_up, world_on_message, world_may_wait, world_on_down, on_proved };
  static const WireRole roles[] = { WIRE_ROLE_NODE, WIRE_ROLE_CONTROL };

  if (tcp != NULL && !world_needs_tls ())
    return;
  for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
    {
      World world;
      g_autofree char *host = g_strnfill (70000, 'h');
      world_open (&world, GPOINTER_TO_INT (tcp));
      world.calls = &calls;
      world.run.host = host;
      proved_ups = 0;
      const char *address = listener_addresses (world.listener)[GPOINTER_TO_INT (tcp)];
      world.near = wire_dial (world.poller, &world.run, roles[i], address, &world_calls, &world);
      UNTIL (&world, world.ups == 2 || world.downs > 0);
      g_assert_cmpuint (world.ups, ==, 2);
      g_assert_cmpint (wire_role (world.far), ==, roles[i]);
      g_assert_cmpuint (proved_ups, ==, 1);
      world_close (&world);
    }
}

static void
what_was_sent_before_a_close_arrives (void)
{
  World world;
  g_autoptr (GPtrArray) last = world_message (100, 1);

  world_open (&world, FALSE);
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[0], &world_calls, &world);
  UNTIL (&world, world.ups == 2);
  wire_send (world.near, last, FALSE);
  wire_close (g_steal_pointer (&world.near));
  UNTIL (&world, world.downs == 1);
  g_assert_cmpuint (world.received, ==, 1);
  world_close (&world);
}

/* Answers the first message, and closes at the third. */
static void
close_at_third (Wire *link, GBytes *message, void *data)
{
  World *world = data;
  g_autoptr (GPtrArray) answer = world_message (10, 9);

  world_on_message (link, message, data);
  if (link != world->far)
    return;
  wire_send (link, answer, TRUE);
  wire_flush (link);
  if (world->firsts[world->received - 1] == 3)
    wire_close (g_steal_pointer (&world->far));
}

/* The second one may wait for the third, which ends the wire: then nobody hears it. */
static void
nothing_is_heard_after_a_close (void)
{
  static const WireCalls calls
      = { world_on_up, close_at_third, world_may_wait, world_on_down, NULL };
  World world;
  GPtrArray *messages[]
      = { world_message (10, 1), world_message (10, WORLD_PATIENT), world_message (10, 3) };

  world_open (&world, FALSE);
  world.calls = &calls;
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[0], &world_calls, &world);
  UNTIL (&world, world.ups == 2);
  for (guint i = 0; i < G_N_ELEMENTS (messages); i++)
    {
      wire_send (world.near, messages[i], FALSE);
      g_ptr_array_unref (messages[i]);
    }
  wire_flush (world.near);
  UNTIL (&world, world.near == NULL);
  for (guint i = 0; i < world.received; i++)
    g_assert_cmpuint (world.firsts[i], !=, WORLD_PATIENT);
  world_close (&world);
}

static GString *order;

/* Answers each message that does not wait, and notes the second letters of those that do. */
static void
note_second (Wire *link, GBytes *message, void *data)
{
  World *world = data;
  const char *text = g_bytes_get_data (message, NULL);
  g_autoptr (GPtrArray) answer = world_message (10, 9);

  world_on_message (link, message, data);
  if (link != world->far)
    return;
  if (text[0] == WORLD_PATIENT)
    g_string_append_c (order, text[1]);
  else
    wire_send (link, answer, TRUE);
  wire_flush (link);
}

/* They may wait for others, but not for each other. */
static void
messages_that_wait_keep_their_order (void)
{
  static const WireCalls calls = { world_on_up, note_second, world_may_wait, world_on_down, NULL };
  static const char patient[]
      = { WORLD_PATIENT, 'a', 0, WORLD_PATIENT, 'b', 0, WORLD_PATIENT, 'c' };
  World world;
  g_autoptr (GPtrArray) first = world_message (10, 1);

  order = g_string_new (NULL);
  world_open (&world, FALSE);
  world.calls = &calls;
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[0], &world_calls, &world);
  UNTIL (&world, world.ups == 2);
  wire_send (world.near, first, FALSE);
  for (guint i = 0; i < sizeof patient; i += 3)
    {
      g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
      g_ptr_array_add (parts, g_bytes_new_static (patient + i, 2));
      wire_send (world.near, parts, FALSE);
    }
  wire_flush (world.near);
  UNTIL (&world, order->len == 3);
  g_assert_cmpstr (order->str, ==, "abc");
  g_string_free (order, TRUE);
  world_close (&world);
}

/* A refused dial proves that a process is dead only if its host is this one. So only an address of
 * this host is near. */
static void
which_links_are_near (void)
{
  static const struct
  {
    const char *address;
    gboolean near;
  } table[] = { { "unix:/nowhere", TRUE },    { "tcp:127.0.0.1:9", TRUE },
                { "tcp:127.1.2.3:9", TRUE },  { "tcp:::1:9", TRUE },
                { "tcp:192.0.2.1:9", FALSE }, { "tcp:2001:db8::1:9", FALSE },
                { "tcp:127.0.0.1:0", FALSE }, { "nowhere", FALSE } };
  World world;
  world_open (&world, FALSE);
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_test_message ("%s", table[i].address);
      g_assert_cmpint (wire_address_is_near (table[i].address), ==, table[i].near);
      Wire *link = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE, table[i].address,
                              &world_calls, &world);
      g_assert_cmpint (wire_is_near (link), ==, table[i].near);
      g_assert_false (wire_is_proved (link));
      wire_close (link);
    }
  world_close (&world);
}

/* A link counts as proved when it is up, and not while its other end may still be a stranger. */
static void
a_link_is_proved_when_it_is_up (gconstpointer tcp)
{
  World world;
  if (tcp != NULL && !world_needs_tls ())
    return;
  world_open (&world, tcp != NULL);
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[tcp != NULL], &world_calls, &world);
  do
    {
      g_assert_true (world.ups > 0 || !wire_is_proved (world.near));
      g_assert_true (world.ups > 0 || world.far == NULL || !wire_is_proved (world.far));
      world_turn (world.poller, TRUE);
    }
  while (world.ups < 2);
  g_assert_true (wire_is_proved (world.near) && wire_is_proved (world.far));
  world_close (&world);
}

/* Both ends of a TCP link send small messages at once, and notice when the other host is gone. */
static void
both_ends_are_tuned (void)
{
  World world;
  guint n = 0;
  if (!world_needs_tls ())
    return;
  world_open (&world, TRUE);
  world.run.silence_s = 7.5;
  world.near = wire_dial (world.poller, &world.run, WIRE_ROLE_NODE,
                          listener_addresses (world.listener)[1], &world_calls, &world);
  UNTIL (&world, world.ups == 2);
  for (int fd = 0; fd < 200; fd++)
    {
      int no_delay = 0, timeout_ms = 0;
      struct sockaddr_storage peer;
      socklen_t size = sizeof peer, length = sizeof (int);
      if (getpeername (fd, (struct sockaddr *)&peer, &size) != 0 || peer.ss_family != AF_INET)
        continue;
      g_assert_cmpint (getsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, &length), ==, 0);
      g_assert_cmpint (getsockopt (fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, &length), ==, 0);
      g_assert_cmpint (no_delay, !=, 0);
      g_assert_cmpint (timeout_ms, ==, 7500);
      n++;
    }
  g_assert_cmpuint (n, ==, 2);
  world_close (&world);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/wire/messages-arrive-whole-by-unix-socket", GINT_TO_POINTER (0),
                        messages_arrive_whole);
  g_test_add_data_func ("/wire/messages-arrive-whole-by-tcp", GINT_TO_POINTER (1),
                        messages_arrive_whole);
  g_test_add_data_func ("/wire/who-dialled-is-known", GINT_TO_POINTER (0),
                        the_accepted_end_knows_who_dialled);
  g_test_add_data_func ("/wire/tcp/who-dialled-is-known", GINT_TO_POINTER (1),
                        the_accepted_end_knows_who_dialled);
  g_test_add_func ("/wire/sent-before-a-close", what_was_sent_before_a_close_arrives);
  g_test_add_func ("/wire/nothing-after-a-close", nothing_is_heard_after_a_close);
  g_test_add_func ("/wire/messages-that-wait-keep-their-order",
                   messages_that_wait_keep_their_order);
  g_test_add_func ("/wire/urgent-ones-pass-large-ones", urgent_ones_pass_large_ones);
  g_test_add_func ("/wire/awaited-answers-do-not-wait-for-what-is-to-be-read",
                   awaited_answers_do_not_wait_for_what_is_to_be_read);
  g_test_add_data_func ("/wire/who-asks-again-does-not-wait-for-what-may-wait", GINT_TO_POINTER (0),
                        who_asks_again_does_not_wait_for_what_may_wait);
  g_test_add_data_func ("/wire/tcp/who-asks-again-does-not-wait-for-what-may-wait",
                        GINT_TO_POINTER (1), who_asks_again_does_not_wait_for_what_may_wait);
  g_test_add_func ("/wire/urgent-ones-do-not-pass-each-other", urgent_ones_do_not_pass_each_other);
  g_test_add_func ("/wire/a-dial-to-nobody-says-dead", a_dial_to_nobody_says_dead);
  g_test_add_func ("/wire/the-other-side-closing-is-noticed", the_other_side_closing_is_noticed);
  g_test_add_func ("/wire/which-links-are-near", which_links_are_near);
  g_test_add_data_func ("/wire/a-link-is-proved-when-it-is-up", GINT_TO_POINTER (0),
                        a_link_is_proved_when_it_is_up);
  g_test_add_data_func ("/wire/tcp/a-link-is-proved-when-it-is-up", GINT_TO_POINTER (1),
                        a_link_is_proved_when_it_is_up);
  g_test_add_func ("/wire/tcp/both-ends-are-tuned", both_ends_are_tuned);
  g_test_add_func ("/wire/forks-hold-no-links", forks_hold_no_links);
  return g_test_run ();
}
