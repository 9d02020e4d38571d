/* SPDX-License-Identifier: BSD-3-Clause */
/* What the driver makes of its connections (node/mesh.c): which become links of the Node, what it
 * hears of their ends, when bytes are written, and who answers clients. */
#include "mesh-rig.h"

static void
prove (Wire *wire)
{
  wire->proved = TRUE;
  if (wire->number == 0)
    calls->proved (wire, &driver);
  calls->up (wire, &driver);
}

static Wire *
dialled (guint64 dial)
{
  mesh_dial (&driver, dial, "unix:/there");
  return &wires[n_wires - 1];
}

/* A link has a number of its own from the moment it is up, never used again. The Node hears once
 * that it is down. */
static void
links_come_and_go (void)
{
  g_autoptr (GBytes) bytes = g_bytes_new ("hello", 6);
  Wire *first = dialled (70);

  noted ("dial a unix:/there\n");
  prove (first);
  noted ("up 1 dialled 70\n");
  calls->message (first, bytes, &driver);
  noted ("message 1 hello\n");
  Wire *second = dialled (71);
  prove (second);
  noted ("dial b unix:/there\nup 2 dialled 71\n");
  g_assert_cmpuint (mesh_queued (&driver, 2), ==, 102);
  calls->down (first, FALSE, &driver);
  noted ("down 1\n");
  g_assert_cmpuint (mesh_queued (&driver, 1), ==, 0);
  mesh_close_link (&driver, 2);
  noted ("close b\n");
  mesh_close_link (&driver, 2);
  noted ("");
  prove (dialled (72));
  (void)dialled (73);
  noted ("dial c unix:/there\nup 3 dialled 72\ndial d unix:/there\n");
  mesh_close (&driver); /* each that is left, once */
  noted ("close c\nclose d\nlisten no more\n");
  g_assert_true (mesh_open (&driver, NULL));
}

/* A process is dead if its own host refuses the connection; another host's refusal may come from a
 * device between. */
static void
refused_dials_are_told (void)
{
  static const struct
  {
    gboolean dead, near;
    const char *told;
  } cases[] = { { FALSE, FALSE, "failed 5\n" },
                { FALSE, TRUE, "failed 5\n" },
                { TRUE, FALSE, "failed 5 refused\n" },
                { TRUE, TRUE, "failed 5 dead\n" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Wire *wire = dialled (5);

      g_string_truncate (called, 0);
      wire->near = cases[i].near;
      calls->down (wire, cases[i].dead, &driver);
      noted (cases[i].told);
    }
  mesh_close (&driver); /* none of them is left */
  noted ("listen no more\n");
  g_assert_true (mesh_open (&driver, NULL));
}

static void
send_text (guint64 link, const char *text, gboolean urgent, gboolean awaited)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  const NodeEffect effect = {
    .kind = NODE_EFFECT_SEND, .link = link, .parts = parts, .urgent = urgent, .awaited = awaited
  };

  g_ptr_array_add (parts, g_bytes_new (text, strlen (text)));
  mesh_send (&driver, &effect);
}

/* Bytes are written at the end of a turn, but at once if a thief waits for them. */
static void
bytes_are_written_once (void)
{
  prove (dialled (1));
  prove (dialled (2));
  g_string_truncate (called, 0);
  send_text (1, "x", FALSE, FALSE);
  send_text (2, "y", TRUE, FALSE);
  noted ("send a x\nsend b y urgent\n");
  mesh_flush (&driver);
  noted ("flush a\nflush b\n");
  mesh_flush (&driver);
  noted ("");
  send_text (2, "job", FALSE, TRUE);
  noted ("send b job\nflush b\n");
  send_text (9, "lost", FALSE, TRUE);
  send_text (1, "late", FALSE, FALSE);
  mesh_close_link (&driver, 1);
  g_string_truncate (called, 0);
  mesh_flush (&driver);
  noted ("flush b\n");
}

static void
accept_one (WireRole role)
{
  driver.mesh.admission = (Admission){ 0 };
  Wire *wire = new_wire (calls);
  (void)admission_enter (&driver.mesh.admission, ADMISSION_LOCAL, wire);
  wire->role = role;
}

/* A client is no link. It has its reply before the Node does what it asks for, since that may end
 * this process. */
static void
clients_are_answered (void)
{
  g_autofree char *text = g_strnfill (ORDERS_MAX + 7, 'x');
  g_autofree char *wanted = g_strdup_printf ("send b %u bytes\nflush b\n", ORDERS_MAX);
  g_autoptr (GBytes) suspend = g_bytes_new ("suspend", 7), file = g_bytes_new ("file", 4);
  g_autoptr (GBytes) longer = g_bytes_new (text, strlen (text));

  (void)dialled (1);
  accept_one (WIRE_ROLE_CONTROL);
  Wire *client = &wires[n_wires - 1];
  prove (client);
  g_string_truncate (called, 0);
  calls->message (client, suspend, &driver);
  noted ("send b 7 bytes\nflush b\nevent 9\n");
  calls->message (client, file, &driver);
  noted ("send b content\nflush b\n");
  calls->message (client, longer, &driver);
  noted (wanted);
  calls->down (client, FALSE, &driver);
  noted ("");
}

/* Only a message between nodes may wait, unless it is urgent. */
static void
few_messages_may_wait (void)
{
  g_autoptr (GBytes) plain = g_bytes_new ("plain", 5), urgent = g_bytes_new ("!", 1);
  Wire *wire = dialled (1);

  g_assert_true (calls->may_wait (wire, plain));
  g_assert_false (calls->may_wait (wire, urgent));
  wire->role = WIRE_ROLE_CONTROL;
  g_assert_false (calls->may_wait (wire, plain));
}

/* An accepted connection counts until it has proved itself or is gone. When no descriptor is left,
 * one of them makes room for a dial. */
static void
strangers_make_room (void)
{
  (void)dialled (1);
  has_room = FALSE;
  for (guint i = 0; i < 3; i++)
    {
      Wire *wire = new_wire (calls);
      (void)admission_enter (&driver.mesh.admission, ADMISSION_STRANGER, wire);
    }
  prove (&wires[1]);
  calls->down (&wires[2], FALSE, &driver);
  g_string_truncate (called, 0);
  (void)dialled (2);
  noted ("close d\ndial e unix:/there\n");
  (void)dialled (3);
  noted ("dial f unix:/there\n");
}

/* (transfer full) The accepting end of a connection from 127.0.0.1, and `*other`, its other end. */
static GSocket *
from_loopback (GSocket **other)
{
  g_autoptr (GInetAddress) host = g_inet_address_new_loopback (G_SOCKET_FAMILY_IPV4);
  g_autoptr (GSocketAddress) any = g_inet_socket_address_new (host, 0);
  g_autoptr (GSocket) ear
      = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
  *other = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);

  g_assert_true (g_socket_bind (ear, any, TRUE, NULL) && g_socket_listen (ear, NULL));
  g_autoptr (GSocketAddress) at = g_socket_get_local_address (ear, NULL);
  g_assert_true (g_socket_connect (*other, at, NULL, NULL));
  return g_socket_accept (ear, NULL, NULL);
}

static void
waiting (guint of_locals, guint of_members, guint of_strangers)
{
  const GQueue *all = driver.mesh.admission.waiting;

  g_assert_cmpuint (all[ADMISSION_LOCAL].length, ==, of_locals);
  g_assert_cmpuint (all[ADMISSION_MEMBER].length, ==, of_members);
  g_assert_cmpuint (all[ADMISSION_STRANGER].length, ==, of_strangers);
}

/* Connections from this host's folder and from members' hosts do not suffer from strangers. The
 * host of a new member counts as a stranger's for a second at most. */
static void
connections_are_told_apart (void)
{
  g_autoptr (GSocket) other = NULL;
  g_autoptr (GSocket) loopback = from_loopback (&other);
  g_autoptr (GSocket) local
      = g_socket_new (G_SOCKET_FAMILY_UNIX, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_DEFAULT, NULL);

  member_hosts[0] = "unix:/127.0.0.1";
  on_connection (loopback, &driver);
  waiting (0, 0, 1);
  member_hosts[0] = "tcp:127.0.0.1:5";
  now_us += G_USEC_PER_SEC;
  on_connection (loopback, &driver);
  waiting (0, 1, 1);
  member_hosts[0] = "tcp:10.0.0.1:5";
  now_us += G_USEC_PER_SEC;
  on_connection (loopback, &driver);
  waiting (0, 1, 2);
  noted ("");
  for (guint i = 0; i <= ADMISSION_LOCAL_MAX; i++)
    on_connection (local, &driver);
  waiting (ADMISSION_LOCAL_MAX, 1, 2);
  noted ("close d\n");
  g_assert_true (on_crowd (&driver));
  waiting (ADMISSION_LOCAL_MAX - 1, 1, 2);
  noted ("close e\n");
  mesh_close (&driver);
  waiting (0, 0, 0);
  g_assert_false (on_crowd (&driver));
  g_string_truncate (called, 0);
  g_assert_true (mesh_open (&driver, NULL));
}

static void
others_reach_this_node_by_tcp_if_it_listens (void)
{
  g_assert_cmpstr (mesh_address (&driver), ==, "unix:/here");
  driver.config.tcp.address = "127.0.0.1";
  g_assert_cmpstr (mesh_address (&driver), ==, "tcp:127.0.0.1:7");
}

int
main (int argc, char **argv)
{
  static const MeshTest tests[] = {
    { "/mesh/links", links_come_and_go },
    { "/mesh/refused-dials", refused_dials_are_told },
    { "/mesh/bytes", bytes_are_written_once },
    { "/mesh/clients", clients_are_answered },
    { "/mesh/may-wait", few_messages_may_wait },
    { "/mesh/strangers", strangers_make_room },
    { "/mesh/accepted", connections_are_told_apart },
    { "/mesh/address", others_reach_this_node_by_tcp_if_it_listens },
  };

  return run_all (argc, argv, tests, G_N_ELEMENTS (tests));
}
