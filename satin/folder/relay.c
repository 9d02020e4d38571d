/* SPDX-License-Identifier: BSD-3-Clause */
/* See relay.h. Owns the two descriptors and two threads: one reads, one writes. So a launcher that
 * hangs blocks no other thread. Does not interpret the files. */
#include "relay.h"
#include "store-settings.h"

#include "host/own-fds.h"
#include "host/temporary.h"
#include "host/whole.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (256 * 1024)
#define ANY_PORT 9

typedef struct
{
  char *folder;
  int in;
  char buffer[4096]; /* input; unread from `taken` to `filled` */
  gsize taken, filled;
  int out;
  gboolean answers; /* the launcher answers: the input is not a file */
  /* Protected by `lock`: */
  GMutex lock;
  GCond stirred;     /* signals changes of the fields below */
  GQueue queue;      /* of GBytes */
  guint awaited;     /* files of the run that were written and are not answered */
  gint64 stirred_us; /* when a piece was last written or an answer came */
  gboolean writing;
  gboolean broken;  /* the launcher does not read any more */
  gboolean silent;  /* the launcher does not write any more */
  gboolean refused; /* the launcher could not keep a file */
} Relay;

static Relay *the_relay;

static gboolean
is_name (const char *word)
{
  return word[0] != '\0' && word[0] != '.' && strchr (word, '/') == NULL;
}

RelayKind
relay_parse (const char *line, char **name, gsize *size)
{
  g_auto (GStrv) words = g_strsplit (line, " ", 4);
  guint n = g_strv_length (words);
  RelayKind kind = RELAY_WRONG;
  guint64 number;

  if (n == 1 && strcmp (words[0], "go") == 0)
    return RELAY_GO;
  if (n == 1 && strcmp (words[0], "quit") == 0)
    return RELAY_QUIT;
  if (n == 2 && strcmp (words[0], "kept") == 0)
    kind = RELAY_KEPT;
  else if (n == 2 && strcmp (words[0], "lost") == 0)
    kind = RELAY_LOST;
  else if (n == 3 && strcmp (words[0], "file") == 0
           && g_ascii_string_to_unsigned (words[2], 10, 0, G_MAXSSIZE, &number, NULL))
    kind = RELAY_FILE;
  if (kind == RELAY_WRONG || !is_name (words[1]))
    return RELAY_WRONG;
  *name = g_strdup (words[1]);
  if (kind == RELAY_FILE)
    *size = (gsize)number;
  return kind;
}

char *
relay_header (const char *name, gsize size)
{
  return g_strdup_printf ("file %s %" G_GSIZE_FORMAT "\n", name, size);
}

/* ---- output ---- */

/* Notes progress. Returns with the lock held. */
static void
stir (Relay *relay)
{
  g_mutex_lock (&relay->lock);
  relay->stirred_us = g_get_monotonic_time ();
  g_cond_broadcast (&relay->stirred);
}

/* Writes in pieces, to distinguish a slow launcher from one that hangs. */
static gboolean
write_pieces (Relay *relay, GBytes *bytes)
{
  gsize size, part;
  const char *data = g_bytes_get_data (bytes, &size);

  for (; size > 0; data += part, size -= part)
    {
      part = MIN (size, PIECE);
      if (!whole_write (relay->out, data, part))
        return FALSE;
      stir (relay);
      g_mutex_unlock (&relay->lock);
    }
  return TRUE;
}

static gpointer
write_on (gpointer data)
{
  Relay *relay = data;

  g_mutex_lock (&relay->lock);
  for (;;)
    {
      g_autoptr (GBytes) bytes = g_queue_pop_head (&relay->queue);

      relay->writing = bytes != NULL;
      g_cond_broadcast (&relay->stirred);
      if (bytes == NULL)
        {
          g_cond_wait (&relay->stirred, &relay->lock);
          continue;
        }
      gboolean broken = relay->broken;
      g_mutex_unlock (&relay->lock);
      broken = broken || !write_pieces (relay, bytes);
      stir (relay);
      relay->broken = broken;
    }
  return NULL;
}

/* The witness of folder_write. References the bytes, so a large answer is not copied. */
static void
on_written (const char *path G_GNUC_UNUSED, const char *file, GBytes *bytes)
{
  Relay *relay = the_relay;
  g_autofree char *header = relay_header (file, g_bytes_get_size (bytes));

  stir (relay);
  if (relay->answers && !g_str_has_prefix (file, RELAY_OF_NODE))
    relay->awaited++;
  g_queue_push_tail (&relay->queue, g_bytes_new (header, strlen (header)));
  g_queue_push_tail (&relay->queue, g_bytes_ref (bytes));
  relay->writing = TRUE;
  g_mutex_unlock (&relay->lock);
}

static void
on_answer (Relay *relay, gboolean kept)
{
  stir (relay);
  relay->awaited -= MIN (relay->awaited, 1);
  relay->refused = relay->refused || !kept;
  g_mutex_unlock (&relay->lock);
}

/* Called with the lock held. */
static RelayState
look (const Relay *relay)
{
  if (relay->broken || relay->refused || (relay->silent && relay->awaited > 0))
    return RELAY_CUT;
  if (!relay->writing && relay->awaited == 0)
    return RELAY_SENT;
  return g_get_monotonic_time () - relay->stirred_us > RELAY_STALL_S * G_USEC_PER_SEC
             ? RELAY_CUT
             : RELAY_SENDING;
}

RelayState
relay_state (void)
{
  Relay *relay = the_relay;

  if (relay == NULL)
    return RELAY_SENT;
  g_mutex_lock (&relay->lock);
  RelayState state = look (relay);
  g_mutex_unlock (&relay->lock);
  return state;
}

gboolean
relay_is_founder (void)
{
  g_autoptr (GBytes) bytes = folder_bytes (the_relay->folder, RELAY_FOUNDER, NULL);

  return bytes != NULL;
}

void
relay_end (void)
{
  Relay *relay = the_relay;

  if (relay == NULL)
    return;
  g_mutex_lock (&relay->lock);
  while (look (relay) == RELAY_SENDING)
    (void)g_cond_wait_until (&relay->stirred, &relay->lock,
                             relay->stirred_us + (RELAY_STALL_S + 1) * G_USEC_PER_SEC);
  g_mutex_unlock (&relay->lock);
  (void)folder_remove (relay->folder, NULL); /* the reader may be writing one more file */
}

/* ---- input: without stdio, since a flush of all streams would wait for the reader ---- */

static gboolean
read_bytes (Relay *relay, char *to, gsize size)
{
  while (size > 0)
    {
      gsize ready = MIN (relay->filled - relay->taken, size);

      memcpy (to, relay->buffer + relay->taken, ready);
      relay->taken += ready;
      to += ready;
      size -= ready;
      if (size == 0)
        break;
      gssize n = whole_read_some (relay->in, relay->buffer, sizeof relay->buffer);
      if (n <= 0)
        return FALSE;
      relay->taken = 0;
      relay->filled = (gsize)n;
    }
  return TRUE;
}

static gboolean
read_line (Relay *relay, char *line, gsize size)
{
  for (gsize i = 0; i + 1 < size; i++)
    {
      if (!read_bytes (relay, line + i, 1))
        return FALSE;
      if (line[i] == '\n')
        return TRUE;
    }
  return FALSE;
}

/* Reads one frame. FALSE without `error`: the input has ended or is invalid. FALSE with `error`: a
 * file cannot be written. *kind (out). */
static gboolean
read_one (Relay *relay, RelayKind *kind, GError **error)
{
  char line[RELAY_LINE_MAX] = { 0 };
  g_autofree char *name = NULL;
  g_autofree char *data = NULL;
  gsize size;

  if (!read_line (relay, line, sizeof line))
    return FALSE;
  *kind = relay_parse (g_strchomp (line), &name, &size);
  if (*kind != RELAY_FILE)
    return *kind != RELAY_WRONG;
  data = size <= RELAY_SMALL_MAX ? g_try_malloc (size + 1) : NULL;
  if (data == NULL || !read_bytes (relay, data, size))
    return FALSE;
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_steal_pointer (&data), size);
  return folder_write_quietly (relay->folder, name, bytes, error);
}

/* TRUE: more may come. */
static gboolean
read_next (Relay *relay)
{
  g_autoptr (GError) error = NULL;
  RelayKind kind;

  if (!read_one (relay, &kind, &error))
    return error != NULL; /* one file failed; the next frame can be read */
  if (kind == RELAY_QUIT)
    {
      folder_remove (relay->folder, NULL);
      _exit (1);
    }
  if (kind == RELAY_KEPT || kind == RELAY_LOST)
    on_answer (relay, kind == RELAY_KEPT);
  return TRUE;
}

static gpointer
read_on (gpointer data)
{
  Relay *relay = data;

  while (read_next (relay))
    ;
  stir (relay);
  relay->silent = TRUE;
  g_mutex_unlock (&relay->lock);
  return NULL;
}

/* Standard output of the program goes to standard error, where the log is: the launcher must not
 * get it. */
static gboolean
take_descriptors (Relay *relay)
{
  int null = open ("/dev/null", O_RDONLY | O_CLOEXEC);

  relay->in = fcntl (STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  relay->out = fcntl (STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (relay->in < 0 || null < 0 || relay->out < 0 || dup2 (null, STDIN_FILENO) < 0
      || dup2 (STDERR_FILENO, STDOUT_FILENO) < 0)
    return FALSE;
  close (null);
  own_fds_add (relay->in);
  own_fds_add (relay->out);
  struct stat info;
  relay->answers = fstat (relay->in, &info) != 0 || !S_ISREG (info.st_mode);
  return TRUE;
}

static void
take_store_settings (const Relay *relay)
{
  g_autoptr (GBytes) bytes = folder_bytes (relay->folder, RELAY_STORES, NULL);
  g_autofree char *text
      = bytes != NULL ? g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes)) : NULL;

  if (text != NULL)
    store_settings_take (text);
}

char *
relay_begin (GError **error)
{
  Relay *relay = g_new0 (Relay, 1);
  RelayKind kind = RELAY_WRONG;

  g_mutex_init (&relay->lock);
  g_cond_init (&relay->stirred);
  relay->folder = temporary_make_in (g_get_tmp_dir (), "satin-node-", error);
  if (relay->folder == NULL)
    return NULL;
  own_fds_add (temporary_lock (relay->folder)); /* processes that a job forks may outlive this
                                                 * node */
  if (take_descriptors (relay))
    while (read_one (relay, &kind, error) && kind == RELAY_FILE)
      ;
  if (kind != RELAY_GO)
    {
      if (error != NULL && *error == NULL)
        g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED,
                     "the launcher did not send what a node needs");
      folder_remove (relay->folder, NULL);
      return NULL;
    }
  take_store_settings (relay);
  the_relay = relay;
  folder_set_witness (on_written);
  g_thread_unref (g_thread_new ("satin-relay-in", read_on, relay));
  g_thread_unref (g_thread_new ("satin-relay-out", write_on, relay));
  return g_strdup (relay->folder);
}

/* ---- addresses ---- */

/* Connecting a datagram socket sends nothing, but sets its local address. */
static char *
local_end (GInetAddress *to, GError **error)
{
  g_autoptr (GSocket) socket = g_socket_new (g_inet_address_get_family (to), G_SOCKET_TYPE_DATAGRAM,
                                             G_SOCKET_PROTOCOL_DEFAULT, error);
  g_autoptr (GSocketAddress) there = g_inet_socket_address_new (to, ANY_PORT);
  g_autoptr (GSocketAddress) here = NULL;

  if (socket == NULL || !g_socket_connect (socket, there, NULL, error))
    return NULL;
  here = g_socket_get_local_address (socket, error);
  return here == NULL ? NULL
                      : g_inet_address_to_string (
                          g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (here)));
}

char *
relay_address_towards (const char *host, GError **error)
{
  g_autoptr (GResolver) resolver = g_resolver_get_default ();
  GList *found = g_resolver_lookup_by_name (resolver, host, NULL, error);
  char *address = found != NULL ? local_end (found->data, error) : NULL;

  g_resolver_free_addresses (found);
  return address;
}

static gboolean
is_loopback (const char *text)
{
  g_autoptr (GInetAddress) address = g_inet_address_new_from_string (text);

  return address != NULL && g_inet_address_get_is_loopback (address);
}

/* An address of this host that is neither loopback nor link-local; IPv4 if there is one. (transfer
 * full) (nullable) */
static char *
outer_address (void)
{
  struct ifaddrs *all;
  char *found = NULL;

  if (getifaddrs (&all) != 0)
    return NULL;
  for (int v6 = FALSE; v6 <= TRUE && found == NULL; v6++)
    for (const struct ifaddrs *one = all; one != NULL && found == NULL; one = one->ifa_next)
      {
        int family = one->ifa_addr != NULL ? one->ifa_addr->sa_family : AF_UNSPEC;
        if (family != (v6 ? AF_INET6 : AF_INET) || (one->ifa_flags & IFF_UP) == 0)
          continue;
        gsize size = v6 ? sizeof (struct sockaddr_in6) : sizeof (struct sockaddr_in);
        g_autoptr (GSocketAddress) there = g_socket_address_new_from_native (one->ifa_addr, size);
        GInetAddress *address = g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (there));
        if (!g_inet_address_get_is_loopback (address)
            && !g_inet_address_get_is_link_local (address))
          found = g_inet_address_to_string (address);
      }
  freeifaddrs (all);
  return found;
}

char *
relay_host_address (GError **error)
{
  g_autofree char *named = relay_address_towards (g_get_host_name (), error);
  g_autofree char *outer = named == NULL || is_loopback (named) ? outer_address () : NULL;

  if (outer == NULL)
    return g_steal_pointer (&named);
  g_clear_error (error);
  return g_steal_pointer (&outer);
}

/* The address to which the launcher's ssh connected; else the one from which the first of `peers`
 * is reached; else relay_host_address. */
static char *
own_address (const char *peers, GError **error)
{
  const char *came = g_getenv ("SSH_CONNECTION");
  g_auto (GStrv) words = g_strsplit (came != NULL ? came : "", " ", 5);

  if (g_strv_length (words) == 4)
    return g_strdup (words[2]);
  if (peers != NULL && g_str_has_prefix (peers, "tcp:"))
    {
      g_autofree char *line = g_strndup (peers + 4, strcspn (peers + 4, "\n"));
      char *colon = strrchr (line, ':');

      if (colon != NULL)
        *colon = '\0';
      return relay_address_towards (line, error);
    }
  return relay_host_address (error);
}

gboolean
relay_place (FolderRun *run, const char *folder, GError **error)
{
  g_autoptr (GBytes) bytes = folder_bytes (folder, RELAY_PEERS, NULL);
  g_autofree char *peers
      = bytes != NULL ? g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes)) : NULL;

  if (the_relay != NULL)
    {
      g_free (run->sockets);
      run->sockets = g_strdup (folder);
    }
  if (run->workers == 0)
    run->workers = MAX (1, (int)g_get_num_processors () / MAX (1, run->nodes));
  if (run->tcp && run->listen == NULL)
    run->listen = g_strdup ("127.0.0.1");
  if (g_strcmp0 (run->listen, FOLDER_LISTEN_OWN) != 0)
    return TRUE;
  g_free (run->listen);
  run->listen = own_address (peers, error);
  return run->listen != NULL;
}
