/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures how long a steal takes between two nodes of one worker each: from the sending of the
 * thief's request to the first instruction of the job on the thief. `probe COUNT GAP_US` prints p50
 * and p99 in microseconds, the number of samples, and the bytes of request and reply. With GAP_US 0
 * there are jobs when the thief asks. Otherwise the victim has no job to give for GAP_US between
 * two jobs, and the thief falls asleep; the time then counts from its last request. The jobs are
 * not pure: they read clocks and a page that the processes share. To notice the request, the
 * program replaces the C library's functions that send and receive, and the one that looks up those
 * of GnuTLS. */
#include "shared.h"

#include "mesh/session-frame.h"
#include "protocol/messages/message.h"

#include <satin.h>

#include <dlfcn.h>
#include <gmodule.h>
#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* The arguments of a probe begin with this number. In received bytes it marks the arrival of a
 * probe. */
#define MARK UINT64_C (0x9e3779b97f4a7c15)
#define PATIENCE_NS INT64_C (5000000000)
#define TICK_NS 3000
#define AT_ONCE 12 /* jobs that are ready when the thief asks */

/* The thief's side of the last exchange. The sockets belong to one thread at a time. */
static int64_t sent_ns, sent_bytes;   /* atomic: the last request that was sent */
static int64_t asked_ns, asked_bytes; /* atomic: the last request before the last probe arrived */
static int64_t arrived_bytes; /* atomic: the size of the reply with that probe; 0: already used */

/* TRUE if the bytes contain a request for jobs. They begin with a frame and, as all short sends do,
 * consist of whole frames. The message is in a frame of a session. */
static int
has_request (const uint8_t *data, size_t bytes)
{
  uint64_t header;
  uint32_t kind;

  while (bytes >= sizeof header + sizeof kind)
    {
      memcpy (&header, data, sizeof header);
      memcpy (&kind, data + sizeof header, sizeof kind);
      size_t size = sizeof header + GUINT64_FROM_LE (header);
      if (GUINT32_FROM_LE (kind) == SESSION_FRAME_DATA
          && bytes >= sizeof header + SESSION_FRAME_DATA_HEAD + sizeof kind)
        memcpy (&kind, data + sizeof header + SESSION_FRAME_DATA_HEAD, sizeof kind);
      if (GUINT32_FROM_LE (kind) == MESSAGE_STEAL)
        return 1;
      if (size > bytes)
        return 0;
      data += size;
      bytes -= size;
    }
  return 0;
}

static void
note_sent (const void *data, size_t bytes)
{
  if (!has_request (data, bytes))
    return;
  __atomic_store_n (&sent_ns, shared_now (), __ATOMIC_RELAXED);
  __atomic_store_n (&sent_bytes, (int64_t)bytes, __ATOMIC_RELAXED);
}

static void
note_received (const void *data, ssize_t bytes)
{
  const uint64_t mark = MARK;

  if (bytes < (ssize_t)sizeof mark || memmem (data, (size_t)bytes, &mark, sizeof mark) == NULL)
    return;
  int64_t at_ns = __atomic_exchange_n (&sent_ns, 0, __ATOMIC_RELAXED);
  if (at_ns == 0) /* the rest of a reply that was already counted */
    return;
  __atomic_store_n (&asked_ns, at_ns, __ATOMIC_RELAXED);
  __atomic_store_n (&asked_bytes, __atomic_load_n (&sent_bytes, __ATOMIC_RELAXED),
                    __ATOMIC_RELAXED);
  __atomic_store_n (&arrived_bytes, (int64_t)bytes, __ATOMIC_RELEASE);
}

static void
note_vectors (const struct iovec *vectors, size_t n)
{
  for (size_t i = 0; i < n; i++)
    note_sent (vectors[i].iov_base, vectors[i].iov_len);
}

/* The functions of the C library, found once, before there are threads. */
static ssize_t (*true_send) (int, const void *, size_t, int);
static ssize_t (*true_sendmsg) (int, const struct msghdr *, int);
static ssize_t (*true_write) (int, const void *, size_t);
static ssize_t (*true_writev) (int, const struct iovec *, int);
static ssize_t (*true_recv) (int, void *, size_t, int);
static ssize_t (*true_recvmsg) (int, struct msghdr *, int);
static ssize_t (*true_read) (int, void *, size_t);
static ssize_t (*true_readv) (int, const struct iovec *, int);
static gboolean (*true_module_symbol) (GModule *, const char *, gpointer *);

static void *
find (const char *name)
{
  void *function = dlsym (RTLD_NEXT, name);

  if (function == NULL)
    abort ();
  return function;
}

static void __attribute__ ((constructor)) find_all (void)
{
  *(void **)&true_send = find ("send");
  *(void **)&true_sendmsg = find ("sendmsg");
  *(void **)&true_write = find ("write");
  *(void **)&true_writev = find ("writev");
  *(void **)&true_recv = find ("recv");
  *(void **)&true_recvmsg = find ("recvmsg");
  *(void **)&true_read = find ("read");
  *(void **)&true_readv = find ("readv");
  *(void **)&true_module_symbol = find ("g_module_symbol");
}

#define EXPORT __attribute__ ((visibility ("default")))

EXPORT ssize_t
send (int fd, const void *data, size_t bytes, int flags)
{
  note_sent (data, bytes);
  return true_send (fd, data, bytes, flags);
}

EXPORT ssize_t
sendmsg (int fd, const struct msghdr *message, int flags)
{
  note_vectors (message->msg_iov, message->msg_iovlen);
  return true_sendmsg (fd, message, flags);
}

/* A write of 8 bytes goes to an eventfd; messages between nodes are longer. */
EXPORT ssize_t
write (int fd, const void *data, size_t bytes)
{
  if (bytes > 8)
    note_sent (data, bytes);
  return true_write (fd, data, bytes);
}

EXPORT ssize_t
writev (int fd, const struct iovec *vectors, int n)
{
  note_vectors (vectors, (size_t)n);
  return true_writev (fd, vectors, n);
}

EXPORT ssize_t
recv (int fd, void *data, size_t bytes, int flags)
{
  ssize_t got = true_recv (fd, data, bytes, flags);

  note_received (data, got);
  return got;
}

EXPORT ssize_t
recvmsg (int fd, struct msghdr *message, int flags)
{
  ssize_t got = true_recvmsg (fd, message, flags);

  for (size_t i = 0; got > 0 && i < message->msg_iovlen; i++)
    note_received (message->msg_iov[i].iov_base, MIN (got, (ssize_t)message->msg_iov[i].iov_len));
  return got;
}

EXPORT ssize_t
read (int fd, void *data, size_t bytes)
{
  ssize_t got = true_read (fd, data, bytes);

  note_received (data, got);
  return got;
}

EXPORT ssize_t
readv (int fd, const struct iovec *vectors, int n)
{
  ssize_t got = true_readv (fd, vectors, n);

  for (int i = 0; got > 0 && i < n; i++)
    note_received (vectors[i].iov_base, MIN (got, (ssize_t)vectors[i].iov_len));
  return got;
}

/* Under TLS messages are inspected before encryption and after decryption. */
static __typeof__ (gnutls_record_send) *true_record_send;
static __typeof__ (gnutls_record_recv) *true_record_recv;

static ssize_t
record_send (gnutls_session_t session, const void *data, size_t bytes)
{
  note_sent (data, bytes);
  return true_record_send (session, data, bytes);
}

static ssize_t
record_recv (gnutls_session_t session, void *data, size_t bytes)
{
  ssize_t got = true_record_recv (session, data, bytes);

  note_received (data, got);
  return got;
}

EXPORT gboolean
g_module_symbol (GModule *module, const char *name, gpointer *symbol)
{
  if (!true_module_symbol (module, name, symbol))
    return FALSE;
  if (strcmp (name, "gnutls_record_send") == 0)
    {
      *(void **)&true_record_send = *symbol;
      *(void **)symbol = (void *)record_send;
    }
  else if (strcmp (name, "gnutls_record_recv") == 0)
    {
      *(void **)&true_record_recv = *symbol;
      *(void **)symbol = (void *)record_recv;
    }
  return TRUE;
}

static void
spin (int64_t ns)
{
  int64_t until = shared_now () + ns;

  while (shared_now () < until)
    continue;
}

/* Keeps its worker busy for a short time, like a small leaf. */
SATIN_JOB (tick, int32_t, (int32_t, ns))
{
  spin (ns);
  return ns;
}

/* Keeps the victim's worker busy with ordinary jobs until all probes up to `number` have begun on
 * the thief. Returns 0 if no node took them in time. */
SATIN_JOB (hold, int32_t, (int64_t, number))
{
  int64_t until = shared_now () + PATIENCE_NS;

  while (__atomic_load_n (&shared ()->begun, __ATOMIC_ACQUIRE) < number)
    {
      if (shared_now () > until)
        return 0;
      satin_call (tick, TICK_NS);
    }
  return 1;
}

/* `fresh`: before this probe the thief was told that there is no job, and waits; not counted. */
SATIN_JOB (probe, int32_t, (uint64_t, mark), (int32_t, fresh), (int32_t, victim))
{
  Shared *page = shared ();
  int64_t bytes = __atomic_exchange_n (&arrived_bytes, 0, __ATOMIC_ACQUIRE);

  if (bytes > 0 && !fresh && getpid () != victim && page->samples < SHARED_SAMPLES_MAX)
    {
      page->took_ns[page->samples++]
          = shared_now () - __atomic_load_n (&asked_ns, __ATOMIC_RELAXED);
      page->request_bytes = __atomic_load_n (&asked_bytes, __ATOMIC_RELAXED);
      page->reply_bytes = bytes;
    }
  __atomic_fetch_add (&page->begun, 1, __ATOMIC_RELEASE);
  return mark == MARK;
}

SATIN_JOB (steals, int32_t, (int32_t, count), (int32_t, gap_us))
{
  int32_t right[AT_ONCE], held, n = gap_us > 0 ? 1 : AT_ONCE, taken = 0;

  for (int64_t i = 1; i <= count; i++)
    {
      spin ((int64_t)gap_us * 1000);
      for (int32_t k = 0; k < n; k++)
        satin_spawn (probe, &right[k], MARK, k == 0 && gap_us == 0, getpid ());
      satin_spawn (hold, &held, i * n);
      satin_sync ();
      taken += held;
      for (int32_t k = 0; k < n; k++)
        taken += right[k];
    }
  return taken;
}

static int
probe_main (SatinRun *run, int argc, char **argv)
{
  Shared *page = shared ();
  int32_t taken;

  if (argc != 3)
    {
      fprintf (stderr, "usage: probe COUNT GAP_US\n");
      return 2;
    }
  usleep (300000); /* until the other node has joined */
  if (!satin_root (run, steals, &taken, atoi (argv[1]), atoi (argv[2])))
    return satin_stopped (run);
  if (page->samples == 0)
    {
      fprintf (stderr, "probe: nothing was stolen\n");
      return 1;
    }
  printf ("%.2f %.2f %" PRId64 " %" PRId64 " %" PRId64 "\n",
          (double)shared_percentile (page->took_ns, page->samples, 0.5) / 1000,
          (double)shared_percentile (page->took_ns, page->samples, 0.99) / 1000, page->samples,
          page->request_bytes, page->reply_bytes);
  return 0;
}

SATIN_APP ("probe", "COUNT GAP_US", probe_main)
