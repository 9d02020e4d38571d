/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns one socket and its two queues. Driver's thread. Does not interpret messages. */
#include "wire-private.h"

#include "wire-intake.h"
#include "wire-queue.h"
#include "wire-tls.h"

#include "host/own-fds.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define ROUNDS_MAX 8 /* how often a process that was answered may ask again within one dispatch */
#define BUDGET \
  (4 * 1024 * 1024) /* bytes read, and bytes written, per dispatch, so that no link starves the \
                     * others */

typedef enum
{
  PHASE_CONNECTING, /* dialled: waiting for the socket to be writable */
  PHASE_GREETING,   /* dialled: waiting for the greeting */
  PHASE_PROVING, /* dialled: the proof is sent, and the greeter's must come; accepted: the dialler's
                  * must come */
  PHASE_SECURING, /* TCP: the TLS handshake */
  PHASE_UP
} Phase;

struct Wire
{
  Poller *poller;
  GSocket *socket;
  PollerWatch watch; /* of the socket */
  GSource *deadline, *again;
  WireTls *tls; /* TCP, from PHASE_SECURING on */
  WireCalls calls;
  void *data;
  Phase phase;
  gboolean dialled, near, dispatching, closed;
  gboolean answered; /* something was written since this dispatch began to read */
  GQueue late;       /* (of GBytes): messages of this dispatch that others may overtake */
  WireRole role;
  guint64 number;
  char *credential, *key;
  guint8 my_nonce[NONCE_SIZE], other_nonce[NONCE_SIZE];
  WireIntake in;
  WireQueue out;
};

static gboolean on_ready (GIOCondition condition, gpointer data);

static void
drop_source (GSource **source)
{
  if (*source != NULL)
    g_source_destroy (*source);
  g_clear_pointer (source, g_source_unref);
}

static void
watch (Wire *link)
{
  GIOCondition condition = link->phase == PHASE_CONNECTING ? G_IO_OUT : G_IO_IN;
  if (!wire_queue_is_empty (&link->out)
      || (link->phase == PHASE_SECURING && wire_tls_writes (link->tls)))
    condition |= G_IO_OUT;
  poller_watch (link->poller, &link->watch, condition);
}

static void
set_socket (Wire *link, GSocket *socket)
{
  link->socket = socket;
  link->watch = (PollerWatch){ .fd = g_socket_get_fd (socket), .ready = on_ready, .data = link };
  own_fds_add (link->watch.fd);
  g_socket_set_blocking (socket, FALSE);
}

static void
wire_free (Wire *link)
{
  drop_source (&link->deadline);
  drop_source (&link->again);
  wire_tls_free (link->tls);
  if (link->socket != NULL)
    {
      poller_watch (link->poller, &link->watch, 0);
      own_fds_remove (link->watch.fd);
      g_socket_close (link->socket, NULL);
    }
  g_clear_object (&link->socket);
  wire_intake_clear (&link->in);
  wire_queue_clear (&link->out);
  g_free (link->credential);
  g_free (link->key);
  g_free (link);
}

/* The only way in which a link ends itself. */
static void
fail (Wire *link, gboolean dead)
{
  if (link->closed)
    return;
  link->closed = TRUE;
  link->calls.down (link, dead, link->data);
  if (!link->dispatching)
    wire_free (link);
}

/* The path of a steal bypasses GSocket, whose calls do more than is needed. GSocket's vectors have
 * the layout of the system's. */
G_STATIC_ASSERT (sizeof (GOutputVector) == sizeof (struct iovec)
                 && sizeof (GInputVector) == sizeof (struct iovec)
                 && G_STRUCT_OFFSET (GOutputVector, size) == G_STRUCT_OFFSET (struct iovec, iov_len)
                 && G_STRUCT_OFFSET (GInputVector, size)
                        == G_STRUCT_OFFSET (struct iovec, iov_len));

static GPollableReturn
send_vectors (void *data, const GOutputVector *vectors, int n, gsize *written)
{
  Wire *link = data;
  const struct msghdr message
      = { .msg_iov = (struct iovec *)(void *)vectors, .msg_iovlen = (gsize)n };
  gssize sent;

  if (link->tls != NULL)
    return wire_tls_send (link->tls, vectors, n, written, NULL);
  do
    sent = n == 1 ? send (link->watch.fd, vectors->buffer, vectors->size, MSG_NOSIGNAL)
                  : sendmsg (link->watch.fd, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  *written = (gsize)MAX (sent, 0);
  if (sent >= 0)
    return G_POLLABLE_RETURN_OK;
  return errno == EAGAIN ? G_POLLABLE_RETURN_WOULD_BLOCK : G_POLLABLE_RETURN_FAILED;
}

static gboolean
write_some (Wire *link)
{
  return wire_queue_write (&link->out, send_vectors, link, BUDGET);
}

static void
up (Wire *link)
{
  link->phase = PHASE_UP;
  drop_source (&link->deadline);
  link->calls.up (link, link->data);
}

/* Continues the handshake. FALSE: the link is broken. */
static gboolean
shake (Wire *link)
{
  GPollableReturn how = wire_tls_shake (link->tls, NULL);
  if (how == G_POLLABLE_RETURN_OK)
    up (link);
  return how != G_POLLABLE_RETURN_FAILED;
}

/* The credential is proved: over TCP the handshake begins. FALSE: it cannot. */
static gboolean
secure (Wire *link)
{
  if (g_socket_get_family (link->socket) == G_SOCKET_FAMILY_UNIX)
    {
      up (link);
      return TRUE;
    }
  if (link->key == NULL || wire_intake_size (&link->in) > 0 || !write_some (link)
      || !wire_queue_is_empty (&link->out))
    return FALSE;
  link->tls = wire_tls_new (link->key, link->socket, link->dialled, NULL);
  if (link->tls == NULL)
    return FALSE;
  link->phase = PHASE_SECURING;
  return shake (link);
}

/* Read by the dialler: magic, nonce, 2 bytes of length, text. */
static gboolean
read_greeting (Wire *link)
{
  gsize head = MAGIC_SIZE + NONCE_SIZE + 2, size = wire_intake_size (&link->in);
  const guint8 *data = wire_intake_data (&link->in);
  if (size >= MAGIC_SIZE && memcmp (data, MAGIC, MAGIC_SIZE) != 0)
    return FALSE;
  if (size < head)
    return TRUE;
  gsize text = data[head - 2] | (gsize)data[head - 1] << 8;
  if (text > GREETING_TEXT_MAX)
    return FALSE;
  if (size < head + text)
    return TRUE;
  memcpy (link->other_nonce, data + MAGIC_SIZE, NONCE_SIZE);
  wire_intake_drop (&link->in, head + text);
  guint8 frame[1 + NONCE_SIZE + PROOF_SIZE];
  frame[0] = (guint8)link->role;
  memcpy (frame + 1, link->my_nonce, NONCE_SIZE);
  wire_prove (link->credential, "dialler", link->other_nonce, link->my_nonce, frame[0],
              frame + 1 + NONCE_SIZE);
  wire_queue_raw (&link->out, g_bytes_new (frame, sizeof frame));
  link->phase = PHASE_PROVING;
  return TRUE;
}

static gboolean
read_proof (Wire *link)
{
  guint8 expected[PROOF_SIZE];
  if (link->dialled)
    {
      guint8 proof[PROOF_SIZE];
      if (!wire_intake_take (&link->in, proof, sizeof proof))
        return TRUE;
      wire_prove (link->credential, "greeter", link->other_nonce, link->my_nonce,
                  (guint8)link->role, expected);
      return wire_proof_is_equal (proof, expected) && secure (link);
    }
  guint8 frame[1 + NONCE_SIZE + PROOF_SIZE];
  if (!wire_intake_take (&link->in, frame, sizeof frame))
    return TRUE;
  wire_prove (link->credential, "dialler", link->my_nonce, frame + 1, frame[0], expected);
  if (!wire_proof_is_equal (frame + 1 + NONCE_SIZE, expected)
      || (frame[0] != WIRE_ROLE_NODE && frame[0] != WIRE_ROLE_CONTROL))
    return FALSE;
  link->role = (WireRole)frame[0];
  memcpy (link->other_nonce, frame + 1, NONCE_SIZE);
  wire_prove (link->credential, "greeter", link->my_nonce, link->other_nonce, frame[0], expected);
  wire_queue_raw (&link->out, g_bytes_new (expected, sizeof expected));
  if (link->calls.proved != NULL)
    link->calls.proved (link, link->data);
  return secure (link);
}

/* Takes one message, if a whole one is there. */
static gboolean
read_message (Wire *link, gboolean *more)
{
  g_autoptr (GBytes) message = NULL;
  if (!wire_intake_next (&link->in, &message))
    return FALSE;
  *more = message != NULL;
  if (!*more)
    return TRUE;
  if (link->answered && link->calls.may_wait (link, message))
    g_queue_push_tail (&link->late, g_steal_pointer (&message));
  else
    link->calls.message (link, message, link->data);
  return TRUE;
}

static gboolean
digest_input (Wire *link)
{
  gboolean more = TRUE;
  while (more && !link->closed)
    {
      Phase before = link->phase;
      more = FALSE;
      if (link->phase == PHASE_GREETING && !read_greeting (link))
        return FALSE;
      else if (before == PHASE_PROVING && !read_proof (link))
        return FALSE;
      else if (before == PHASE_UP && !read_message (link, &more))
        return FALSE;
      if (link->phase != before)
        more = wire_intake_size (&link->in) > 0;
    }
  return TRUE;
}

/* 0: the other end has closed. -1: the connection is broken, or nothing is there (*empty). */
static gssize
receive_vectors (Wire *link, GInputVector *vectors, int n, gboolean *empty)
{
  struct msghdr message = { .msg_iov = (struct iovec *)(void *)vectors, .msg_iovlen = (gsize)n };
  g_autoptr (GError) error = NULL;
  gssize got;

  if (link->tls != NULL)
    {
      got = wire_tls_receive (link->tls, vectors[0].buffer, vectors[0].size, &error);
      *empty = g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);
      return got;
    }
  do
    got = n == 1 ? recv (link->watch.fd, vectors->buffer, vectors->size, 0)
                 : recvmsg (link->watch.fd, &message, 0);
  while (got < 0 && errno == EINTR);
  *empty = got < 0 && errno == EAGAIN;
  return got;
}

/* Reads what fits, as receive_vectors does. *room (out): the most that could have come. */
static gssize
receive (Wire *link, gsize *room, gboolean *empty)
{
  GInputVector vectors[WIRE_INTAKE_VECTORS];
  int n = wire_intake_room (&link->in, vectors);
  *room = 0;
  for (int i = 0; i < n && (i == 0 || link->tls == NULL); i++)
    *room += vectors[i].size;
  gssize got = receive_vectors (link, vectors, n, empty);
  wire_intake_add (&link->in, (gsize)MAX (got, 0));
  return got;
}

static gboolean on_again (gpointer data);

/* TRUE: if more bytes are there, they wake the next poll. */
static gboolean
is_enough (const Wire *link, gsize got, gsize room)
{
  return link->tls == NULL ? got < room : !wire_tls_has_more (link->tls);
}

/* The process that was answered may have run on this processor meanwhile, and asked again. */
static gboolean
asks_again (Wire *link, guint *rounds)
{
  return link->answered && !link->closed && (*rounds)++ < ROUNDS_MAX
         && g_socket_get_available_bytes (link->socket) > 0;
}

/* FALSE: the link is broken. */
static gboolean
read_some (Wire *link)
{
  gsize budget = BUDGET;
  guint rounds = 0;
  while (budget > 0 && !link->closed && link->phase != PHASE_SECURING)
    {
      gsize room;
      gboolean empty;
      gssize got = receive (link, &room, &empty);
      if (got == 0)
        return FALSE;
      if (got < 0)
        return empty;
      budget -= MIN (budget, (gsize)got);
      if (!digest_input (link))
        return FALSE;
      if (is_enough (link, (gsize)got, room) && !asks_again (link, &rounds))
        return TRUE;
    }
  if (link->tls != NULL && link->again == NULL && !link->closed)
    {
      link->again = g_timeout_source_new (0);
      g_source_set_callback (link->again, on_again, link, NULL);
      g_source_attach (link->again, poller_context (link->poller));
    }
  return TRUE;
}

/* As read_some. Messages that others may overtake are handled last. */
static gboolean
read_all (Wire *link)
{
  gboolean fine;
  GBytes *message;
  link->answered = FALSE;
  fine = read_some (link);
  while ((message = g_queue_pop_head (&link->late)) != NULL)
    {
      if (!link->closed)
        link->calls.message (link, message, link->data);
      g_bytes_unref (message);
    }
  return fine;
}

/* Ends each dispatch: writes if the dispatch was about writing, and frees a closed link. Messages
 * that were sent during the dispatch wait for wire_flush. */
static void
settle (Wire *link, gboolean fine, gboolean dead, gboolean writes)
{
  if (fine && writes && !link->closed)
    fine = write_some (link);
  if (!fine)
    fail (link, dead);
  link->dispatching = FALSE;
  if (link->closed)
    wire_free (link);
  else if (writes)
    watch (link);
}

static gboolean
on_ready (GIOCondition condition, gpointer data)
{
  Wire *link = data;
  gboolean fine = TRUE, dead = FALSE;
  Phase before = link->phase;
  gboolean writes = before != PHASE_UP || (condition & G_IO_OUT) != 0;
  link->dispatching = TRUE;
  if (link->phase == PHASE_CONNECTING)
    {
      g_autoptr (GError) error = NULL;
      fine = g_socket_check_connect_result (link->socket, &error);
      dead = g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED);
      link->phase = PHASE_GREETING;
    }
  else if (link->phase == PHASE_SECURING)
    fine = shake (link);
  else if (condition & (G_IO_IN | G_IO_HUP | G_IO_ERR))
    fine = read_all (link);
  if (fine && before == PHASE_SECURING && link->phase == PHASE_UP)
    fine = read_all (link); /* no poll wakes for bytes that came with the end of the handshake */
  settle (link, fine, dead, writes);
  return TRUE;
}

static gboolean
on_again (gpointer data)
{
  Wire *link = data;
  g_clear_pointer (&link->again, g_source_unref);
  (void)on_ready (G_IO_IN, link);
  return G_SOURCE_REMOVE;
}

static gboolean
on_deadline (gpointer data)
{
  fail (data, FALSE);
  return G_SOURCE_REMOVE;
}

static gboolean
on_refused (gpointer data)
{
  fail (data, TRUE);
  return G_SOURCE_REMOVE;
}

static Wire *
wire_new (Poller *poller, const WireRun *run, const WireCalls *calls, void *data)
{
  Wire *link = g_new0 (Wire, 1);
  link->poller = poller;
  link->calls = *calls;
  link->data = data;
  link->credential = g_strdup (run->credential);
  link->key = g_strdup (run->key);
  wire_intake_init (&link->in);
  wire_queue_init (&link->out);
  g_queue_init (&link->late);
  wire_fill_random (link->my_nonce, NONCE_SIZE);
  return link;
}

static void
set_deadline (Wire *link, guint ms, GSourceFunc function)
{
  link->deadline = g_timeout_source_new (ms);
  g_source_set_callback (link->deadline, function, link, NULL);
  g_source_attach (link->deadline, poller_context (link->poller));
}

Wire *
wire_dial (Poller *poller, const WireRun *run, WireRole role, const char *address,
           const WireCalls *calls, void *data)
{
  Wire *link = wire_new (poller, run, calls, data);
  g_autoptr (GError) error = NULL;
  g_autoptr (GSocketAddress) parsed = wire_address_parse (address, &error);
  GSocket *socket = NULL;
  link->dialled = TRUE;
  link->role = role;
  link->phase = PHASE_CONNECTING;
  link->near = wire_address_is_near (address);
  if (parsed != NULL && !wire_has_room ())
    g_set_error (&error, G_IO_ERROR, G_IO_ERROR_TOO_MANY_OPEN_FILES, "no descriptors are left");
  else if (parsed != NULL)
    socket = wire_socket_for (parsed, run->silence_s, &error);
  if (socket != NULL)
    {
      set_socket (link, socket);
      if (g_socket_connect (link->socket, parsed, NULL, &error))
        link->phase = PHASE_GREETING;
      else if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_PENDING))
        g_clear_error (&error);
    }
  if (error != NULL)
    {
      gboolean dead = g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED)
                      || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
      set_deadline (link, dead ? 0 : 50, dead ? on_refused : on_deadline);
      return link;
    }
  set_deadline (link, WIRE_PROOF_SECONDS * 1000, on_deadline);
  watch (link);
  return link;
}

Wire *
wire_accept (Poller *poller, const WireRun *run, GSocket *socket, const WireCalls *calls,
             void *data)
{
  Wire *link = wire_new (poller, run, calls, data);
  g_autofree char *text = g_strdup_printf ("%s\n%s\n%s\n", run->id, run->name, run->host);
  gsize size = MIN (strlen (text), GREETING_TEXT_MAX);
  g_autoptr (GByteArray) greeting = g_byte_array_new ();
  guint8 length[2] = { (guint8)(size & 255), (guint8)(size >> 8) };
  set_socket (link, g_object_ref (socket));
  wire_socket_tune (socket, run->silence_s);
  g_byte_array_append (greeting, (const guint8 *)MAGIC, MAGIC_SIZE);
  g_byte_array_append (greeting, link->my_nonce, NONCE_SIZE);
  g_byte_array_append (greeting, length, 2);
  g_byte_array_append (greeting, (const guint8 *)text, (guint)size);
  wire_queue_raw (&link->out, g_byte_array_free_to_bytes (g_steal_pointer (&greeting)));
  link->phase = PHASE_PROVING;
  set_deadline (link, WIRE_PROOF_SECONDS * 1000, on_deadline);
  watch (link);
  return link;
}

void
wire_close (Wire *link)
{
  if (link->closed)
    return;
  link->closed = TRUE;
  if (link->socket != NULL && link->phase == PHASE_UP)
    write_some (link);
  if (!link->dispatching)
    wire_free (link);
}

void
wire_send (Wire *link, GPtrArray *parts, gboolean urgent)
{
  if (link->closed)
    return;
  link->out.whole = link->role == WIRE_ROLE_CONTROL;
  wire_queue_add (&link->out, parts, urgent);
}

void
wire_flush (Wire *link)
{
  if (link->closed || link->phase != PHASE_UP || (link->watch.condition & G_IO_OUT) != 0
      || wire_queue_is_empty (&link->out))
    return;
  link->answered = TRUE;
  write_some (link); /* the next read finds a broken socket */
  watch (link);
}

gsize
wire_queued (Wire *link)
{
  return link->out.bytes;
}

WireRole
wire_role (Wire *link)
{
  return link->role;
}

gboolean
wire_is_near (Wire *link)
{
  return link->near;
}

gboolean
wire_is_proved (Wire *link)
{
  return link->phase == PHASE_UP;
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
