/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection between two processes of a run. After the proof it carries whole messages.
 *
 * The side that accepted the connection greets first: "SATIN1\n", a nonce, and the run's id, name
 * and host in plain text, so that anybody who finds a checkpoint can ask whether its run is alive.
 * The dialler's first frame proves that it has the run's credential, by an HMAC-SHA256 over both
 * nonces. The greeter answers with its own proof. Before the dialler's proof nothing is parsed, and
 * only a fixed buffer is allocated. Over TCP both sides then always start TLS (wire-tls.h); nothing
 * is negotiated. So a stranger never costs a handshake. Frames follow: see wire-queue.h.
 *
 * Driver's thread and context only. Knows nothing of nodes and of the contents of messages. */
#pragma once

#include "poller.h"

#include <glib.h>

/* GIO's own: its headers take longer to compile than all others. */
typedef struct _GSocket GSocket;
typedef struct _GCancellable GCancellable;

typedef struct Wire Wire;

#define WIRE_MESSAGE_MAX (G_GUINT64_CONSTANT (8) << 30) /* bytes of one message */
#define WIRE_PROOF_SECONDS 5                            /* from the start to `up` */
/* Descriptors that connections leave to files and to GLib, which aborts the process if it gets
 * none. */
#define WIRE_DESCRIPTORS_KEPT 24

typedef enum
{
  WIRE_ROLE_NODE = 'n',
  WIRE_ROLE_CONTROL = 'c'
} WireRole;

/* What the greeting says about the run, and the secrets. */
typedef struct
{
  char *credential; /* secret, never sent */
  char *key;        /* secret: private key and certificate in PEM; NULL: no TCP */
  char *id, *name, *host;
  double silence_s; /* TCP: a connection breaks if the other end confirms nothing for so long; 0:
                     * the kernel's default */
} WireRun;

typedef struct
{
  void (*up) (Wire *link, void *data);                       /* both sides have proved themselves;
                                                              * over TCP the TLS handshake is
                                                              * done */
  void (*message) (Wire *link, GBytes *message, void *data); /* one whole message */
  /* TRUE: messages that arrive while others are answered may overtake this one. */
  gboolean (*may_wait) (Wire *link, GBytes *message);
  /* The connection is broken or refused, or the other side closed it. The link is freed after the
   * call. `dead`: no process listens at the dialled address. */
  void (*down) (Wire *link, gboolean dead, void *data);
  /* (nullable) An accepted link: the other end knows the credential. `up` follows, over TCP after
   * the handshake. */
  void (*proved) (Wire *link, void *data);
} WireCalls;

/* FALSE: too few descriptors are free for a new connection. Any thread. */
gboolean wire_has_room (void);
/* Dials `address` ("unix:PATH" or "tcp:HOST:PORT"). Never fails: errors come as `down`, from the
 * context. */
Wire *wire_dial (Poller *poller, const WireRun *run, WireRole role, const char *address,
                 const WireCalls *calls, void *data);
/* Takes its own reference to an accepted socket. */
Wire *wire_accept (Poller *poller, const WireRun *run, GSocket *socket, const WireCalls *calls,
                   void *data);
/* Closes and frees the link; no `down` follows. Tries once more to write what is queued. */
void wire_close (Wire *link);

/* Queues one message, not empty, made of `parts` (of GBytes). An urgent message may overtake large
 * messages and messages that wait behind them. wire_flush writes the queue as far as the socket
 * takes it. */
void wire_send (Wire *link, GPtrArray *parts, gboolean urgent);
void wire_flush (Wire *link);
gsize wire_queued (Wire *link); /* bytes not yet given to the kernel */
WireRole wire_role (Wire *link);
gboolean wire_is_proved (Wire *link);
/* TRUE: this link was dialled to this host, so no device between can have refused it. */
gboolean wire_is_near (Wire *link);
/* A number that the owner of the link chooses. */
guint64 wire_number (Wire *link);
void wire_set_number (Wire *link, guint64 number);

/* A socket connected to `address` (transfer full). Blocks for about two seconds at most, or until
 * `stop` (nullable) is cancelled. NULL with an error of GIO. */
GSocket *wire_connect_blocking (const char *address, GCancellable *stop, GError **error);
/* TRUE: `address` is a Unix socket or a loopback address. */
gboolean wire_address_is_near (const char *address);
/* The longest reply to a control request, bytes. */
#define WIRE_REPLY_MAX (64 * 1024 * 1024)
/* A blocking connection to a node, for control requests or to ask which run it belongs to. Any
 * thread but the driver's; one thread at a time. */
typedef struct WireAsker WireAsker;
/* Connects, to ask which run the node belongs to. (transfer full) NULL: no process accepts the
 * connection. With GIO's WOULD_BLOCK a process listens and does not accept. */
WireAsker *wire_reach (const char *address, GCancellable *stop, GError **error);
/* (transfer full): the id of the run that greets; waits until `stop` is cancelled. `name`, `host`:
 * (out) (transfer full). NULL: the process is no node, or has gone. CANCELLED: it has sent
 * nothing. */
char *wire_asker_run (WireAsker *asker, char **name, char **host, GError **error);
/* Functions for control requests. Each waits at most two seconds for the next bytes. */
/* Connects and proves both sides, by the two secrets in `run`. (transfer full) NULL: no process
 * answers at `address`, or it cannot prove itself. */
WireAsker *wire_asker_new (const char *address, const WireRun *run, GError **error);
/* (transfer full): the reply, with a NUL behind it, and its length (out) (nullable). NULL: the
 * connection is broken, and only wire_asker_free may follow. */
char *wire_asker_ask (WireAsker *asker, const char *request, gsize *length, GError **error);
void wire_asker_free (WireAsker *asker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WireAsker, wire_asker_free)
