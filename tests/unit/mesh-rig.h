/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of node/mesh.c: plays the wires, the folder and the Node, and notes what is called. */
#pragma once

#include "called.h"

#include "node/driver-private.h"
#include "node/orders.h"

#include "folder/claim.h"
#include "folder/folder.h"
#include "folder/relay.h"

#include "link/wire-private.h"

#include "protocol/members/carry.h"

#include <string.h>
#include <unistd.h>

struct Wire
{
  char name;
  guint64 number;
  WireRole role;
  gboolean proved, near;
};

#define WIRES_MAX 600
#define PIDS 3

static struct Wire wires[WIRES_MAX];
static guint n_wires;
static const WireCalls *calls;
static gboolean has_room;
static gint64 now_us;
static Driver driver;

/* The folder, and what else a joiner meets. */
static struct
{
  const char *addresses[PIDS]; /* of processes 1, 2, ...; a second one after a space */
  gboolean dead[PIDS];
  const char *peers, *id;
  gboolean founder_is_gone, has_ended;
} folder;
static const char *member_hosts[2];
static ListenerAccepted on_connection;
static ListenerCrowded on_crowd;

gint64
g_get_monotonic_time (void)
{
  return now_us;
}

/* ---- the wires ---- */

static Wire *
new_wire (const WireCalls *its)
{
  g_assert_cmpuint (n_wires, <, WIRES_MAX);
  calls = its;
  wires[n_wires] = (Wire){ .name = (char)('a' + n_wires % 26), .role = WIRE_ROLE_NODE };
  return &wires[n_wires++];
}

gboolean
wire_has_room (void)
{
  return has_room;
}

Wire *
wire_dial (Poller *poller G_GNUC_UNUSED, const WireRun *run, WireRole role, const char *address,
           const WireCalls *its, void *data)
{
  g_assert_true (data == &driver && run == &driver.config.run);
  g_assert_cmpint (role, ==, WIRE_ROLE_NODE);
  Wire *wire = new_wire (its);
  note ("dial %c %s", wire->name, address);
  return wire;
}

Wire *
wire_accept (Poller *poller G_GNUC_UNUSED, const WireRun *run, GSocket *socket G_GNUC_UNUSED,
             const WireCalls *its, void *data)
{
  g_assert_true (data == &driver && run == &driver.config.run);
  return new_wire (its);
}

void
wire_close (Wire *link)
{
  note ("close %c", link->name);
}

void
wire_send (Wire *link, GPtrArray *parts, gboolean urgent)
{
  GBytes *first = parts->pdata[0];

  note ("send %c %.*s%s", link->name, (int)g_bytes_get_size (first),
        (const char *)g_bytes_get_data (first, NULL), urgent ? " urgent" : "");
}

void
wire_flush (Wire *link)
{
  note ("flush %c", link->name);
}

gsize
wire_queued (Wire *link)
{
  return 100 + (gsize)link->number;
}

WireRole
wire_role (Wire *link)
{
  return link->role;
}

gboolean
wire_is_proved (Wire *link)
{
  return link->proved;
}

gboolean
wire_is_near (Wire *link)
{
  return link->near;
}

guint64
wire_number (Wire *link)
{
  return link->number;
}

void
wire_set_number (Wire *link, guint64 number)
{
  link->number = number;
}

GSocketAddress *
wire_address_parse (const char *address, GError **error G_GNUC_UNUSED)
{
  g_auto (GStrv) parts = g_strsplit (address, ":", -1);

  return g_inet_socket_address_new_from_string (parts[1], 1);
}

gboolean
carry_is_urgent (GBytes *bytes)
{
  return *(const char *)g_bytes_get_data (bytes, NULL) == '!';
}

static const char *const listened[] = { "unix:/here", "tcp:127.0.0.1:7", NULL };

Listener *
listener_new (GMainContext *context, const char *unix_path, const ListenerPlace *tcp,
              ListenerAccepted accepted, ListenerCrowded crowded, void *data,
              GError **error G_GNUC_UNUSED)
{
  g_assert_true (context == driver.context && data == &driver);
  on_connection = accepted;
  on_crowd = crowded;
  note ("listen %s %s", unix_path, tcp != NULL ? tcp->address : "-");
  return (Listener *)&driver;
}

void
listener_free (Listener *listener G_GNUC_UNUSED)
{
  note ("listen no more");
}

const char *const *
listener_addresses (Listener *listener G_GNUC_UNUSED)
{
  return listened;
}

/* ---- the Node and the driver ---- */

void
driver_step (Driver *unused G_GNUC_UNUSED, const NodeEvent *event)
{
  switch (event->kind)
    {
    case NODE_EVENT_LINK_UP:
      note ("up %u dialled %u", (guint)event->link, (guint)event->dial);
      break;
    case NODE_EVENT_LINK_DOWN:
      note ("down %u", (guint)event->link);
      break;
    case NODE_EVENT_DIAL_FAILED:
      note ("failed %u%s", (guint)event->dial,
            (const char *[]){ "", " refused", " dead" }[event->failure]);
      break;
    case NODE_EVENT_MESSAGE:
      note ("message %u %s", (guint)event->link,
            (const char *)g_bytes_get_data (event->bytes, NULL));
      break;
    case NODE_EVENT_JOIN:
      note ("join %s", event->text);
      break;
    default:
      note ("event %u", (guint)event->number);
    }
}

void
driver_say (Driver *unused G_GNUC_UNUSED, const char *format, ...)
{
  va_list list;

  va_start (list, format);
  g_autofree char *text = g_strdup_vprintf (format, list);
  va_end (list);
  note ("say %s", text);
}

void
driver_fail (Driver *unused G_GNUC_UNUSED, int code, const char *sentence)
{
  note ("fail %d %s", code, sentence);
}

void
driver_set_ended (Driver *its, DriverPartEvent event, int code, const char *sentence)
{
  note ("ended %d %s", code, sentence != NULL ? sentence : "-");
  its->part = driver_part_after (its->part, event);
}

GArray *
node_members (Node *node G_GNUC_UNUSED)
{
  GArray *members = g_array_new (FALSE, TRUE, sizeof (NodeMember));

  for (guint i = 0; i < G_N_ELEMENTS (member_hosts) && member_hosts[i] != NULL; i++)
    g_array_append_val (members, ((NodeMember){ .address = (char *)member_hosts[i] }));
  return members;
}

char *
identity_show_build (const char *build)
{
  return g_strdup_printf ("build '%s'", build);
}

GBytes *
orders_file (Driver *unused G_GNUC_UNUSED, const char *request)
{
  return strcmp (request, "file") == 0 ? g_bytes_new ("content", 7) : NULL;
}

char *
orders_answer (Driver *unused G_GNUC_UNUSED, const char *request, NodeEvent *event,
               gboolean *has_event)
{
  *event = (NodeEvent){ .kind = NODE_EVENT_SUSPEND, .number = 9 };
  *has_event = strcmp (request, "suspend") == 0;
  return g_strdup_printf ("%u bytes", (guint)strlen (request));
}

/* ---- the folder ---- */

GArray *
folder_pids (const char *path, const char *suffix)
{
  GArray *pids = g_array_new (FALSE, FALSE, sizeof (gint64));

  g_assert_cmpstr (path, ==, "/run");
  g_assert_cmpstr (suffix, ==, FOLDER_NODE_ADDRESS);
  for (gint64 pid = 1; pid <= PIDS; pid++)
    if (folder.addresses[pid - 1] != NULL)
      g_array_append_val (pids, pid);
  return pids;
}

pid_t
getpid (void)
{
  return 2;
}

char **
folder_addresses (const char *path G_GNUC_UNUSED, gint64 pid)
{
  return g_strsplit (folder.addresses[pid - 1], " ", -1);
}

gboolean
folder_pid_is_live (const char *path G_GNUC_UNUSED, gint64 pid)
{
  return !folder.dead[pid - 1];
}

GBytes *
folder_bytes (const char *path G_GNUC_UNUSED, const char *file, GError **error G_GNUC_UNUSED)
{
  const char *text = strcmp (file, RELAY_PEERS) == 0      ? folder.peers
                     : strcmp (file, FOLDER_FILE_ID) == 0 ? folder.id
                                                          : NULL;

  return text != NULL ? g_bytes_new (text, strlen (text)) : NULL;
}

gboolean
folder_has_ended (const char *path G_GNUC_UNUSED, int *code, char **sentence G_GNUC_UNUSED)
{
  *code = 7;
  return folder.has_ended;
}

gboolean
claim_founder (const char *path G_GNUC_UNUSED)
{
  note ("claim");
  return folder.founder_is_gone;
}

int
execv (const char *path G_GNUC_UNUSED, char *const argv[] G_GNUC_UNUSED)
{
  note ("start anew, founder %s, invited %s, folder %s", g_getenv (FOLDER_ENV_FOUNDER) ?: "no",
        g_getenv (FOLDER_ENV_INVITED) ?: "no", g_getenv (FOLDER_ENV));
  return -1;
}

/* Each turn of the context is one period. */
GSource *
g_timeout_source_new (guint ms)
{
  note ("each %u ms", ms);
  return g_idle_source_new ();
}

/* Each test has a driver of its own, which listens. */
static void
set_up (void)
{
  called = g_string_new (NULL);
  n_wires = 0;
  has_room = TRUE;
  now_us = 1000 * G_USEC_PER_SEC;
  memset (&folder, 0, sizeof folder);
  memset (member_hosts, 0, sizeof member_hosts);
  driver = (Driver){ .context = g_main_context_new (),
                     .config
                     = { .folder = "/run", .socket_path = "/run/s", .run.name = (char *)"tour" } };
  g_assert_true (mesh_open (&driver, NULL));
  noted ("listen /run/s -\n");
}

static void
tear_down (void)
{
  mesh_close (&driver);
  g_free (driver.run_id);
  g_main_context_unref (driver.context);
  g_string_free (called, TRUE);
}

typedef struct
{
  const char *name;
  void (*test) (void);
} MeshTest;

static void
run_one (gconstpointer data)
{
  set_up ();
  ((const MeshTest *)data)->test ();
  tear_down ();
}

static int
run_all (int argc, char **argv, const MeshTest *tests, gsize n)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < n; i++)
    g_test_add_data_func (tests[i].name, &tests[i], run_one);
  return g_test_run ();
}
