/* SPDX-License-Identifier: BSD-3-Clause */
/* A wide-area network between network namespaces of one machine: wan PIPE NAMESPACE...
 *
 * Namespace i (from 1) gets a device `wan0` with the address 10.9.i.1/16. A packet that is sent
 * there to 10.9.k.x arrives in namespace k, late or never, in the order of sending. Each line in
 * the named pipe PIPE is an order for packets from A to B; `*` means all namespaces:
 *
 *   delay A B MS [JITTER]   each packet takes MS to MS + JITTER
 *   loss A B PERCENT        this share of packets is lost
 *   rate A B KBIT           limit per second; 0: none
 *   queue A B KIB           what may wait at most, where there is a rate
 *   cut A B                 no packet passes
 *   join A B                ends a cut
 *   wall A B                A cannot open TCP connections to B; open ones continue
 *   open A B                ends a wall
 *
 * Prints "ready" when all devices exist, and answers each line with `ok` or `wrong: LINE`. Needs
 * root, or root in a user namespace. One thread. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SITES_MAX 16
#define PACKET_MAX 1600
#define MTU 1500
#define WAITING_MAX 200000

typedef struct
{
  double delay_us, jitter_us, loss, us_per_byte;
  gsize queue_max;
  gboolean cut, wall;
  gint64 free_us, last_us; /* when the line is free, and when the last packet arrives */
} Way;

typedef struct
{
  gint64 at_us;
  guint64 number; /* the packet's number, which orders packets of the same time */
  int to;
  gsize size;
  guint8 bytes[];
} Packet;

static int n_sites, tuns[SITES_MAX];
static Way ways[SITES_MAX][SITES_MAX];
static GPtrArray *heap; /* of Packet, the earliest first */
static guint64 n_packets;

static void G_GNUC_NORETURN
die (const char *what)
{
  fprintf (stderr, "wan: %s: %s\n", what, strerror (errno));
  exit (1);
}

/* ---- devices ---- */

static void
set_up (int socket, int site)
{
  struct ifreq request = { .ifr_mtu = MTU };
  struct sockaddr_in address = { .sin_family = AF_INET };

  g_strlcpy (request.ifr_name, "wan0", IFNAMSIZ);
  if (ioctl (socket, SIOCSIFMTU, &request) < 0)
    die ("mtu");
  address.sin_addr.s_addr = htonl ((guint32)(10 << 24 | 9 << 16 | (site + 1) << 8 | 1));
  memcpy (&request.ifr_addr, &address, sizeof address);
  if (ioctl (socket, SIOCSIFADDR, &request) < 0)
    die ("address");
  address.sin_addr.s_addr = htonl (0xffff0000);
  memcpy (&request.ifr_netmask, &address, sizeof address);
  if (ioctl (socket, SIOCSIFNETMASK, &request) < 0)
    die ("netmask");
  for (int i = 0; i < 2; i++)
    {
      g_strlcpy (request.ifr_name, i == 0 ? "wan0" : "lo", IFNAMSIZ);
      request.ifr_flags = IFF_UP | IFF_RUNNING;
      if (ioctl (socket, SIOCSIFFLAGS, &request) < 0)
        die ("up");
    }
}

/* The calling thread stays in that namespace. A TUN device's descriptor works from any
 * namespace. */
static void
open_site (int site, const char *name)
{
  struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI };
  g_autofree char *path = g_strdup_printf ("/run/netns/%s", name);
  int space = open (path, O_RDONLY | O_CLOEXEC);

  if (space < 0 || setns (space, CLONE_NEWNET) != 0)
    die (path);
  close (space);
  tuns[site] = open ("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  g_strlcpy (request.ifr_name, "wan0", IFNAMSIZ);
  if (tuns[site] < 0 || ioctl (tuns[site], TUNSETIFF, &request) < 0)
    die ("/dev/net/tun");
  int ask = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  set_up (ask, site);
  close (ask);
}

/* ---- packets ---- */

static gboolean
is_before (const Packet *a, const Packet *b)
{
  return a->at_us < b->at_us || (a->at_us == b->at_us && a->number < b->number);
}

static void
heap_push (Packet *packet)
{
  guint i = heap->len;

  g_ptr_array_add (heap, packet);
  for (; i > 0 && is_before (packet, heap->pdata[(i - 1) / 2]); i = (i - 1) / 2)
    heap->pdata[i] = heap->pdata[(i - 1) / 2];
  heap->pdata[i] = packet;
}

static Packet *
heap_pop (void)
{
  Packet *first = heap->pdata[0], *last = heap->pdata[heap->len - 1];
  guint i = 0, child;

  g_ptr_array_set_size (heap, (int)heap->len - 1);
  if (heap->len == 0)
    return first;
  while ((child = 2 * i + 1) < heap->len)
    {
      if (child + 1 < heap->len && is_before (heap->pdata[child + 1], heap->pdata[child]))
        child++;
      if (!is_before (heap->pdata[child], last))
        break;
      heap->pdata[i] = heap->pdata[child];
      i = child;
    }
  heap->pdata[i] = last;
  return first;
}

static gboolean
opens_connection (const guint8 *bytes, gsize size)
{
  gsize head = (gsize)(bytes[0] & 15) * 4;

  return bytes[9] == IPPROTO_TCP && size >= head + 20 && (bytes[head + 13] & 0x12) == TH_SYN;
}

/* The time at which a packet of `size` bytes arrives; negative: never. */
static gint64
arrival (Way *way, gsize size, gint64 now_us)
{
  gint64 start_us = MAX (now_us, way->free_us), at_us;

  if (way->cut || g_random_double () < way->loss)
    return -1;
  if (way->us_per_byte > 0
      && (double)(start_us - now_us) > (double)way->queue_max * way->us_per_byte)
    return -1;
  way->free_us = start_us + (gint64)(way->us_per_byte * (double)size);
  at_us = way->free_us + (gint64)(way->delay_us + g_random_double () * way->jitter_us);
  way->last_us = MAX (way->last_us, at_us);
  return way->last_us;
}

static void
take_packets (int from, gint64 now_us)
{
  guint8 bytes[PACKET_MAX];
  ssize_t n;

  while ((n = read (tuns[from], bytes, sizeof bytes)) > 0)
    {
      /* IPv4 to 10.9.k.x only. */
      int to
          = n >= 20 && bytes[0] >> 4 == 4 && bytes[16] == 10 && bytes[17] == 9 ? bytes[18] - 1 : -1;
      gint64 at_us;

      if (to < 0 || to >= n_sites || heap->len >= WAITING_MAX)
        continue;
      if (ways[from][to].wall && opens_connection (bytes, (gsize)n))
        continue;
      at_us = arrival (&ways[from][to], (gsize)n, now_us);
      if (at_us < 0)
        continue;
      Packet *packet = g_malloc (sizeof *packet + (gsize)n);
      *packet = (Packet){ at_us, n_packets++, to, (gsize)n };
      memcpy (packet->bytes, bytes, (gsize)n);
      heap_push (packet);
    }
}

static void
give_packets (gint64 now_us)
{
  while (heap->len > 0 && ((Packet *)heap->pdata[0])->at_us <= now_us)
    {
      g_autofree Packet *packet = heap_pop ();

      /* A full device drops the packet, as a router would. */
      if (write (tuns[packet->to], packet->bytes, packet->size) < 0 && errno != EAGAIN
          && errno != EIO)
        die ("write");
    }
}

/* ---- orders ---- */

static gboolean
change (Way *way, const char *word, double value, double more)
{
  if (strcmp (word, "delay") == 0)
    way->delay_us = value * 1000, way->jitter_us = more * 1000;
  else if (strcmp (word, "loss") == 0)
    way->loss = value / 100;
  else if (strcmp (word, "rate") == 0)
    way->us_per_byte = value > 0 ? 8000 / value : 0;
  else if (strcmp (word, "queue") == 0)
    way->queue_max = (gsize)(value * 1024);
  else if (strcmp (word, "cut") == 0 || strcmp (word, "join") == 0)
    way->cut = word[0] == 'c';
  else if (strcmp (word, "wall") == 0 || strcmp (word, "open") == 0)
    way->wall = word[0] == 'w';
  else
    return FALSE;
  return TRUE;
}

static gboolean
obey (const char *line)
{
  char word[16], from[16], to[16];
  double value = 0, more = 0;
  gboolean known = TRUE;

  if (sscanf (line, "%15s %15s %15s %lf %lf", word, from, to, &value, &more) < 3)
    return FALSE;
  for (int i = 0; i < n_sites; i++)
    for (int k = 0; k < n_sites; k++)
      if (i != k && (from[0] == '*' || atoi (from) == i + 1)
          && (to[0] == '*' || atoi (to) == k + 1))
        known = known && change (&ways[i][k], word, value, more);
  return known;
}

static void
take_orders (int pipe, GString *text)
{
  char bytes[512], *end;
  ssize_t n = read (pipe, bytes, sizeof bytes);

  if (n > 0)
    g_string_append_len (text, bytes, n);
  while ((end = strchr (text->str, '\n')) != NULL)
    {
      *end = '\0';
      if (obey (text->str))
        puts ("ok");
      else
        printf ("wrong: %s\n", text->str);
      fflush (stdout);
      g_string_erase (text, 0, end - text->str + 1);
    }
}

static void
wait_for_something (struct pollfd *polled)
{
  struct timespec limit = { 1, 0 };

  if (heap->len > 0)
    {
      gint64 left_us = ((Packet *)heap->pdata[0])->at_us - g_get_monotonic_time ();
      left_us = MAX (left_us, 0);
      limit = (struct timespec){ left_us / G_USEC_PER_SEC, left_us % G_USEC_PER_SEC * 1000 };
    }
  if (ppoll (polled, (nfds_t)n_sites + 1, &limit, NULL) < 0 && errno != EINTR)
    die ("poll");
}

int
main (int argc, char **argv)
{
  struct pollfd polled[SITES_MAX + 1];
  g_autoptr (GString) text = g_string_new (NULL);

  n_sites = argc - 2;
  if (n_sites < 2 || n_sites > SITES_MAX)
    {
      fprintf (stderr, "usage: wan PIPE NAMESPACE NAMESPACE...\n");
      return 2;
    }
  heap = g_ptr_array_new ();
  for (int i = 0; i < n_sites; i++)
    {
      open_site (i, argv[i + 2]);
      polled[i] = (struct pollfd){ tuns[i], POLLIN, 0 };
      for (int k = 0; k < n_sites; k++)
        ways[i][k].queue_max = 128 * 1024;
    }
  /* Opened for reading and writing, so that the pipe does not end when its last writer closes
   * it. */
  polled[n_sites] = (struct pollfd){ open (argv[1], O_RDWR | O_NONBLOCK | O_CLOEXEC), POLLIN, 0 };
  if (polled[n_sites].fd < 0)
    die (argv[1]);
  puts ("ready");
  fflush (stdout);
  for (;;)
    {
      wait_for_something (polled);
      gint64 now_us = g_get_monotonic_time ();
      for (int i = 0; i < n_sites; i++)
        if (polled[i].revents != 0)
          take_packets (i, now_us);
      give_packets (now_us);
      if (polled[n_sites].revents != 0)
        take_orders (polled[n_sites].fd, text);
    }
}
