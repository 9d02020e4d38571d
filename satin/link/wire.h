/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection between two processes of a run, after its proof: whole messages in, whole messages
 * out.
 *
 * The side that accepted greets first: "SATIN1\n", a nonce, and the run's id, name and host in
 * plain text (so that whoever finds a checkpoint can ask whether its run lives). The other side's
 * first frame proves that it has the run's credential: an HMAC-SHA256 over both nonces; the greeter
 * answers with its own. Nothing is parsed, and nothing is allocated beyond a fixed buffer, before
 * that proof. Over TCP both then go on in TLS (wire-tls.h), always: there is no other way and
 * nothing to be talked out of. So a stranger never costs a handshake. Afterwards frames: see
 * wire-queue.h.
 *
 * Lives in the driver's thread and context only. Knows nothing of nodes or of what a message says.
 */
#pragma once

#include "poller.h"

#include <gio/gio.h>

typedef struct Wire Wire;

#define WIRE_MESSAGE_MAX (G_GUINT64_CONSTANT (8) << 30) /* bytes of one message */
#define WIRE_PROOF_SECONDS 5                            /* from connect to proof, else closed */
/* Descriptors that connections leave to files and to GLib, which aborts a process without any. */
#define WIRE_DESCRIPTORS_KEPT 24

typedef enum
{
  WIRE_ROLE_NODE = 'n',
  WIRE_ROLE_CONTROL = 'c'
} WireRole;

/* What the greeting tells of the run. */
typedef struct
{
  char *credential; /* secret, never sent */
  char *key;        /* secret: private key and certificate in PEM; NULL: no TCP */
  char *id, *name, *host;
  double silence_s; /* TCP: a connection whose other end confirms nothing for so long is broken; 0:
                       as the kernel likes */
} WireRun;

typedef struct
{
  void (*up) (Wire *link, void *data);                       /* proved on both sides, and secured */
  void (*message) (Wire *link, GBytes *message, void *data); /* one whole message */
  /* May those pass it that come while others are answered? */
  gboolean (*may_wait) (Wire *link, GBytes *message);
  /* Broken, refused or ended by the other side; the link is freed after the call. `dead`: nobody
   * lives at the address that was dialled. */
  void (*down) (Wire *link, gboolean dead, void *data);
  /* (nullable) Of an accepted link: the other end knows the credential. `up` follows, over TCP
   * after the handshake. */
  void (*proved) (Wire *link, void *data);
} WireCalls;

/* FALSE: no new connection may be made or accepted now, since descriptors run out. Any thread. */
gboolean wire_has_room (void);
/* Dials `address` ("unix:PATH" or "tcp:HOST:PORT"). Never fails here: `down` comes from the
 * context. */
Wire *wire_dial (Poller *poller, const WireRun *run, WireRole role, const char *address,
                 const WireCalls *calls, void *data);
/* Takes over an accepted socket. */
Wire *wire_accept (Poller *poller, const WireRun *run, GSocket *socket, const WireCalls *calls,
                   void *data);
/* Closes and frees it; no `down` follows. What was sent and not yet written is tried once more. */
void wire_close (Wire *link);

/* Queues one message made of `parts` (of GBytes), not empty; an urgent one may pass others that are
 * large or wait for those. wire_flush writes it as the socket takes it. */
void wire_send (Wire *link, GPtrArray *parts, gboolean urgent);
void wire_flush (Wire *link);
gsize wire_queued (Wire *link); /* bytes not yet given to the kernel */
WireRole wire_role (Wire *link);
gboolean wire_is_proved (Wire *link);
/* It was dialled on this very host, so nothing on the way can have refused it. */
gboolean wire_is_near (Wire *link);
/* For the owner's own use. */
guint64 wire_number (Wire *link);
void wire_set_number (Wire *link, guint64 number);

/* (transfer full): connects a socket to `address`, blocking at most about a second; NULL with the
 * GIO error. */
GSocket *wire_connect_blocking (const char *address, GError **error);
/* Whether this is an address of a socket on this machine: a Unix socket or the loopback. */
gboolean wire_address_is_near (const char *address);
/* The longest reply to a control request, bytes. */
#define WIRE_REPLY_MAX (64 * 1024 * 1024)
/* A blocking connection to a node, for several control requests or to ask who lives there. Any
 * thread but the driver's, one at a time. */
typedef struct WireAsker WireAsker;
/* To ask who lives there. (transfer full) NULL: nobody takes the connection; GIO's WOULD_BLOCK:
 * somebody is there who does not come to it. */
WireAsker *wire_reach (const char *address, GCancellable *stop, GError **error);
/* (transfer full): id of the run that greets, which may take until `stop` is cancelled; `name`,
 * `host` (out) (transfer full). NULL: it is no node, or has gone; CANCELLED: it has said nothing.
 */
char *wire_asker_run (WireAsker *asker, char **name, char **host, GError **error);
/* For control requests: each call from here on waits two seconds at most for the next bytes. */
/* Of `run` the two secrets are read. (transfer full) NULL: nobody answers at `address`, or it
 * cannot prove itself. */
WireAsker *wire_asker_new (const char *address, const WireRun *run, GError **error);
/* (transfer full): the reply, with a NUL behind it, and its length (out) (nullable). NULL: the
 * connection is broken, and only wire_asker_free is left. */
char *wire_asker_ask (WireAsker *asker, const char *request, gsize *length, GError **error);
void wire_asker_free (WireAsker *asker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WireAsker, wire_asker_free)
/* All three of them, for one request. */
char *wire_ask (const char *address, const WireRun *run, const char *request, gsize *length,
                GError **error);
