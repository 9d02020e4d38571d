/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection between two processes of a run, after its proof: whole messages in, whole messages out.
 *
 * The side that accepted greets first: "SATIN1\n", a nonce, and the run's id, name and host in plain text (so that
 * whoever finds a checkpoint can ask whether its run lives). The other side's first frame proves that it has the
 * run's credential: an HMAC-SHA256 over both nonces; the greeter answers with its own. Nothing is parsed, and nothing is
 * allocated beyond a fixed buffer, before that proof. Afterwards a frame is 8 bytes of length and the message.
 *
 * Lives in the driver's thread and context only. Knows nothing of nodes or of what a message says. */
#pragma once

#include <gio/gio.h>

typedef struct Link Link;

#define LINK_MESSAGE_MAX (G_GUINT64_CONSTANT (8) << 30) /* bytes of one message */
#define LINK_PROOF_SECONDS 5                            /* from connect to proof, else closed */
#define LINK_UNPROVED_MAX 32                            /* accepted connections that have not proved themselves */

typedef enum
{
  LINK_ROLE_NODE = 'n',
  LINK_ROLE_CONTROL = 'c'
} LinkRole;

/* What the greeting tells of the run. */
typedef struct
{
  char *credential; /* secret, never sent */
  char *id, *name, *host;
} LinkRun;

typedef struct
{
  void (*up) (Link *link, void *data);                      /* proved on both sides */
  void (*message) (Link *link, GBytes *message, void *data); /* one whole message */
  /* Broken, refused or ended by the other side; the link is freed after the call. `dead`: nobody
   * lives at the address that was dialled. */
  void (*down) (Link *link, gboolean dead, void *data);
} LinkCalls;

/* Dials `address` ("unix:PATH" or "tcp:HOST:PORT"). Never fails here: `down` comes from the context. */
Link *link_dial (GMainContext *context, const LinkRun *run, LinkRole role, const char *address,
                 const LinkCalls *calls, void *data);
/* Takes over an accepted socket. */
Link *link_accept (GMainContext *context, const LinkRun *run, GSocket *socket,
                   const LinkCalls *calls, void *data);
/* Closes and frees it; no `down` follows. What was sent and not yet written is tried once more. */
void link_close (Link *link);

/* Queues one message made of `parts` (of GBytes); written as the socket takes it. */
void link_send (Link *link, GPtrArray *parts);
gsize link_queued (Link *link); /* bytes not yet given to the kernel */
LinkRole link_role (Link *link);
gboolean link_is_proved (Link *link);
/* For the owner's own use. */
guint64 link_number (Link *link);
void link_set_number (Link *link, guint64 number);

/* (transfer full): connects a socket to `address`, blocking at most about a second; NULL with the GIO error. */
GSocket *link_connect_blocking (const char *address, GError **error);
/* Blocking client for control requests and for asking who lives at an address.
 * (transfer full): id of the run that greets at `address`; NULL: nobody. `name`, `host` (out) (nullable). */
char *link_ask_run (const char *address, char **name, char **host);
/* (transfer full): the reply to one control request. */
char *link_ask (const char *address, const char *credential, const char *request, GError **error);
