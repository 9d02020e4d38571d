/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver's links: dials, accepted connections, requests of control clients; and joining.
 * Driving thread.
 * Tests: test-mesh, test-mesh-join, control.sh, first.sh, home.sh. */
#include "driver-private.h"

#include "orders.h"

#include "folder/claim.h"
#include "folder/folder.h"
#include "folder/relay.h"

#include "link/wire-private.h"

#include "protocol/members/carry.h"

#include <string.h>
#include <unistd.h>

#define JOIN_PAUSE_MS 50
#define JOIN_TRIES_MAX 600 /* half a minute */
/* After each so many tries without any address, claims the place of a founder that is gone. A
 * member writes its address each second, so it would have been seen. */
#define FOUND_TRIES 30
/* How old the list of the members' hosts may be when a stranger connects. */
#define HOSTS_US G_USEC_PER_SEC

static void
on_up (Wire *link, void *data)
{
  Driver *driver = data;
  guint64 dial = wire_number (link); /* number of the dial, until the link is up */
  if (dial != 0)
    g_hash_table_remove (driver->mesh.dials, &dial);
  if (wire_role (link) == WIRE_ROLE_CONTROL)
    {
      wire_set_number (link, 0);
      return;
    }
  guint64 *key = g_new (guint64, 1);
  *key = ++driver->mesh.last_link;
  wire_set_number (link, *key);
  g_hash_table_insert (driver->mesh.links, key, link);
  driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_LINK_UP, .link = *key, .dial = dial });
}

static void
answer_control (Driver *driver, Wire *link, GBytes *message)
{
  gsize size;
  const char *text = g_bytes_get_data (message, &size);
  g_autofree char *request = g_strndup (text, MIN (size, ORDERS_MAX));
  NodeEvent event;
  gboolean has_event;
  g_autoptr (GBytes) file = orders_file (driver, request);
  g_autofree char *reply = orders_answer (driver, request, &event, &has_event);
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  g_ptr_array_add (parts, file != NULL ? g_bytes_ref (file) : g_bytes_new (reply, strlen (reply)));
  wire_send (link, parts, FALSE);
  wire_flush (link);
  if (has_event)
    driver_step (driver, &event);
}

static void
on_message (Wire *link, GBytes *message, void *data)
{
  Driver *driver = data;
  if (wire_role (link) == WIRE_ROLE_CONTROL)
    answer_control (driver, link, message);
  else
    driver_step (
        driver,
        &(NodeEvent){ .kind = NODE_EVENT_MESSAGE, .link = wire_number (link), .bytes = message });
}

static gboolean
may_wait (Wire *link, GBytes *message)
{
  return wire_role (link) == WIRE_ROLE_NODE && !carry_is_urgent (message);
}

static void
on_down (Wire *link, gboolean dead, void *data)
{
  Driver *driver = data;
  guint64 number = wire_number (link);
  if (!wire_is_proved (link) && number != 0)
    {
      g_hash_table_remove (driver->mesh.dials, &number);
      driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_DIAL_FAILED,
                                         .dial = number,
                                         .failure = !dead                 ? NODE_DIAL_UNKNOWN
                                                    : wire_is_near (link) ? NODE_DIAL_DEAD
                                                                          : NODE_DIAL_REFUSED });
    }
  else if (!wire_is_proved (link))
    admission_leave (&driver->mesh.admission, link);
  else if (number != 0)
    {
      g_hash_table_remove (driver->mesh.links, &number);
      driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_LINK_DOWN, .link = number });
    }
}

static void
on_proved (Wire *link, void *data)
{
  admission_leave (&((Driver *)data)->mesh.admission, link);
}

static const WireCalls calls = { on_up, on_message, may_wait, on_down, on_proved };

/* The host of "tcp:HOST:PORT" as GInetAddress writes it. (transfer full) (nullable) */
static char *
host_of (const char *address)
{
  g_autoptr (GSocketAddress) parsed
      = g_str_has_prefix (address, "tcp:") ? wire_address_parse (address, NULL) : NULL;

  return parsed == NULL ? NULL
                        : g_inet_address_to_string (
                            g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (parsed)));
}

/* Refreshes the list of the members' hosts; not each time, since strangers may connect very
 * often. */
static void
look_for_hosts (Driver *driver)
{
  gint64 now_us = g_get_monotonic_time ();
  g_autoptr (GArray) members = NULL;

  if (driver->mesh.hosts != NULL && now_us - driver->mesh.hosts_us < HOSTS_US)
    return;
  driver->mesh.hosts_us = now_us;
  g_clear_pointer (&driver->mesh.hosts, g_hash_table_unref);
  driver->mesh.hosts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  members = node_members (driver->node);
  for (guint i = 0; i < members->len; i++)
    {
      char *host = host_of (g_array_index (members, NodeMember, i).address);
      if (host != NULL)
        g_hash_table_add (driver->mesh.hosts, host);
    }
}

static AdmissionClass
class_of (Driver *driver, GSocket *socket)
{
  if (g_socket_get_family (socket) == G_SOCKET_FAMILY_UNIX)
    return ADMISSION_LOCAL;
  g_autoptr (GSocketAddress) from = g_socket_get_remote_address (socket, NULL);
  if (!G_IS_INET_SOCKET_ADDRESS (from))
    return ADMISSION_STRANGER; /* the connection is closed already */
  g_autofree char *host
      = g_inet_address_to_string (g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (from)));
  look_for_hosts (driver);
  return g_hash_table_contains (driver->mesh.hosts, host) ? ADMISSION_MEMBER : ADMISSION_STRANGER;
}

static void
on_accepted (GSocket *socket, void *data)
{
  Driver *driver = data;
  Wire *link = wire_accept (driver->poller, &driver->config.run, socket, &calls, driver);
  Wire *oldest = admission_enter (&driver->mesh.admission, class_of (driver, socket), link);
  if (oldest != NULL)
    wire_close (oldest);
}

/* Closes the oldest unproved connection to make room. FALSE: there is none. */
static gboolean
make_room (void *data)
{
  Driver *driver = data;
  Wire *oldest = admission_evict (&driver->mesh.admission);
  if (oldest != NULL)
    wire_close (oldest);
  return oldest != NULL;
}

gboolean
mesh_open (Driver *driver, GError **error)
{
  driver->mesh.links = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  driver->mesh.sent = g_array_new (FALSE, FALSE, sizeof (guint64));
  driver->mesh.dials = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  if (driver->config.socket_path == NULL)
    return TRUE;
  driver->mesh.listener
      = listener_new (driver->context, driver->config.socket_path,
                      driver->config.tcp.address != NULL ? &driver->config.tcp : NULL, on_accepted,
                      make_room, driver, error);
  return driver->mesh.listener != NULL;
}

static gboolean
close_one (gpointer key, gpointer link, gpointer data)
{
  (void)key;
  (void)data;
  wire_close (link);
  return TRUE;
}

void
mesh_close (Driver *driver)
{
  g_hash_table_foreach_remove (driver->mesh.links, close_one, NULL);
  g_hash_table_foreach_remove (driver->mesh.dials, close_one, NULL);
  g_clear_pointer (&driver->mesh.links, g_hash_table_unref);
  g_clear_pointer (&driver->mesh.sent, g_array_unref);
  g_clear_pointer (&driver->mesh.dials, g_hash_table_unref);
  while (make_room (driver))
    ;
  g_clear_pointer (&driver->mesh.hosts, g_hash_table_unref);
  g_clear_pointer (&driver->mesh.listener, listener_free);
}

const char *
mesh_address (Driver *driver)
{
  if (driver->mesh.listener == NULL)
    return NULL;
  const char *const *addresses = listener_addresses (driver->mesh.listener);
  return driver->config.tcp.address != NULL && addresses[1] != NULL ? addresses[1] : addresses[0];
}

void
mesh_dial (Driver *driver, guint64 dial, const char *address)
{
  guint64 *key = g_new (guint64, 1);
  *key = dial;
  if (!wire_has_room ())
    (void)make_room (driver);
  Wire *link
      = wire_dial (driver->poller, &driver->config.run, WIRE_ROLE_NODE, address, &calls, driver);
  wire_set_number (link, dial);
  g_hash_table_insert (driver->mesh.dials, key, link);
}

void
mesh_send (Driver *driver, const NodeEffect *effect)
{
  Wire *link = g_hash_table_lookup (driver->mesh.links, &effect->link);
  if (link == NULL)
    return;
  wire_send (link, effect->parts, effect->urgent);
  if (effect->awaited) /* a thief waits for these bytes: do not wait for the end of the turn */
    wire_flush (link);
  g_array_append_val (driver->mesh.sent, effect->link);
}

void
mesh_flush (Driver *driver)
{
  for (guint i = 0; driver->mesh.links != NULL && i < driver->mesh.sent->len; i++)
    {
      Wire *link = g_hash_table_lookup (driver->mesh.links,
                                        &g_array_index (driver->mesh.sent, guint64, i));
      if (link != NULL) /* the link may be closed by now */
        wire_flush (link);
    }
  if (driver->mesh.links != NULL)
    g_array_set_size (driver->mesh.sent, 0);
}

gsize
mesh_queued (Driver *driver, guint64 number)
{
  Wire *link = g_hash_table_lookup (driver->mesh.links, &number);
  return link != NULL ? wire_queued (link) : 0;
}

void
mesh_close_link (Driver *driver, guint64 number)
{
  Wire *link = g_hash_table_lookup (driver->mesh.links, &number);
  if (link == NULL)
    return;
  g_hash_table_remove (driver->mesh.links, &number);
  wire_close (link);
}

/* Reads the run's id, which the founder wrote before it could be reached: it is that of the
 * checkpoint, which only the founder reads. */
static void
learn_run_id (Driver *driver)
{
  g_autoptr (GBytes) id
      = driver->run_id == NULL ? folder_bytes (driver->config.folder, FOLDER_FILE_ID, NULL) : NULL;
  if (id == NULL)
    return;
  driver->run_id = g_strndup (g_bytes_get_data (id, NULL), g_bytes_get_size (id));
  driver->config.run.id = driver->run_id;
}

static void
refused_by_build (Driver *driver, const char *build)
{
  g_autofree char *ours = identity_show_build (driver->config.identity.build);
  g_autofree char *theirs = identity_show_build (build);
  g_autofree char *sentence
      = g_strdup_printf ("this program is %s, and run '%s' is of %s: a node of another build may "
                         "compute different results; start the same program, let the node in by "
                         "`satin add --mended`, or let both state the same SATIN_APP_VERSION",
                         ours, driver->config.run.name, theirs);
  driver_fail (driver, 1, sentence);
}

void
mesh_refused (Driver *driver, const char *build)
{
  driver->parting.why = FOLDER_PARTED_REFUSED;
  if (build != NULL)
    {
      refused_by_build (driver, build);
      return;
    }
  g_autofree char *sentence = g_strdup_printf (
      "run '%s' is closed: it was started with --closed, and takes no more nodes",
      driver->config.run.name);
  driver_fail (driver, 1, sentence);
}

/* No member is left: this process starts itself again as the run's founder. */
static void
found_instead (Driver *driver)
{
  g_autofree char *commands = NULL;
  gsize size;
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  driver_say (driver, "no member is left to join: this node founds the run");
  if (!g_file_get_contents ("/proc/self/cmdline", &commands, &size, NULL))
    return;
  for (char *word = commands; word < commands + size; word += strlen (word) + 1)
    g_ptr_array_add (argv, word);
  g_ptr_array_add (argv, NULL);
  g_setenv (FOLDER_ENV, driver->config.folder, TRUE);
  g_setenv (FOLDER_ENV_FOUNDER, "1", TRUE);
  if (driver->config.invited)
    g_setenv (FOLDER_ENV_INVITED, "1", TRUE);
  execv ("/proc/self/exe", (char **)argv->pdata);
  driver_fail (driver, 1, "cannot start this program again");
}

/* The address of another member of the folder, if that process lives. (transfer full) (nullable) */
static char *
address_of (Driver *driver, gint64 pid)
{
  g_auto (GStrv) addresses
      = pid != getpid () ? folder_addresses (driver->config.folder, pid) : NULL;
  if (addresses == NULL || addresses[0] == NULL || !folder_pid_is_live (driver->config.folder, pid))
    return NULL;
  return g_strdup (addresses[driver->config.tcp.address != NULL && addresses[1] != NULL ? 1 : 0]);
}

/* The address of a member, another one at each try. (transfer full) (nullable) The first in the
 * folder is most often the founder, which need not ask another node for the master. Only one file
 * is read, since many joiners may start together. */
static char *
live_address (Driver *driver)
{
  g_autoptr (GArray) pids = folder_pids (driver->config.folder, FOLDER_NODE_ADDRESS);
  g_autoptr (GBytes) peers = folder_bytes (driver->config.folder, RELAY_PEERS, NULL);
  g_auto (GStrv) lines = NULL;
  if (peers != NULL)
    {
      g_autofree char *text = g_strndup (g_bytes_get_data (peers, NULL), g_bytes_get_size (peers));
      lines = g_strsplit (g_strchomp (text), "\n", -1);
    }
  guint n = pids->len + (lines != NULL ? g_strv_length (lines) : 0);
  for (guint i = 0; i < n; i++)
    {
      guint at = (driver->join_tries - 1 + i) % n;
      char *address = at < pids->len ? address_of (driver, g_array_index (pids, gint64, at))
                                     : g_strdup (lines[at - pids->len]);
      if (address != NULL)
        return address;
    }
  return NULL;
}

static gboolean
try_to_join (gpointer data)
{
  Driver *driver = data;
  if (driver->part != PART_JOINING)
    return G_SOURCE_REMOVE;
  int code;
  if (folder_has_ended (driver->config.folder, &code, NULL))
    {
      /* the run ended before this node joined */
      driver_set_ended (driver, PART_ON_STOP, code, NULL);
      return G_SOURCE_REMOVE;
    }
  if (driver->join_tries++ >= JOIN_TRIES_MAX)
    {
      g_autofree char *sentence
          = driver->outside != NULL
                ? g_strdup_printf ("no node of the run lets this one in: %s", driver->outside)
                : g_strdup ("no node of the run answers");
      driver_fail (driver, 1, sentence);
      return G_SOURCE_REMOVE;
    }
  /* A node at the other end lets this one in, or the link closes. Until then another address is of
   * no use, and the folder of a run of many nodes is long. */
  if (g_hash_table_size (driver->mesh.links) > 0)
    return G_SOURCE_CONTINUE;
  g_autofree char *address = live_address (driver);
  learn_run_id (driver);
  if (address != NULL)
    driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_JOIN, .text = address });
  else if (!driver->config.far && driver->join_tries % FOUND_TRIES == 0
           && claim_founder (driver->config.folder))
    {
      if (driver->config.closed && !driver->config.invited)
        mesh_refused (driver, NULL);
      found_instead (driver);
    }
  return G_SOURCE_CONTINUE;
}

void
mesh_join (Driver *driver)
{
  driver_every (driver, JOIN_PAUSE_MS, try_to_join);
}
