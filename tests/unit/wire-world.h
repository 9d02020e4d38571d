/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of wires: a listener and the two ends of a wire, in one thread. */
#pragma once
#include "link/listener.h"
#include "link/wire.h"

#include <gio/gio.h>

#define WORLD_PATIENT 2 /* what begins so lets others pass */

/* Two ends in one context. */
typedef struct
{
  Poller *poller;
  Listener *listener;
  WireRun run;
  Wire *near, *far; /* dialled, accepted */
  guint ups, downs;
  gboolean dead, waits;
  const WireCalls *calls; /* of the accepted one */
  guint64 received_bytes, received;
  guint32 sum;
  guint8 firsts[16]; /* the first byte of each message */
  char *folder, *path;
} World;

/* They count what comes, in the World that they are given. */
void world_on_up (Wire *link, void *data);
void world_on_message (Wire *link, GBytes *message, void *data);
void world_on_down (Wire *link, gboolean dead, void *data);
gboolean world_may_wait (Wire *link, GBytes *message);
extern const WireCalls world_calls;
/* Of a listener whose data is a World. */
void world_on_accepted (GSocket *socket, void *data);
gboolean world_on_crowded (void *data);

/* (transfer full) */
char *world_make_key (void);
/* FALSE: there is no TLS here, and the test is skipped. */
gboolean world_needs_tls (void);
/* `tcp`: it listens there, too. */
void world_open (World *world, gboolean tcp);
void world_close (World *world);
/* One turn of the poller. `sleeps`: until there is something to do. */
void world_turn (Poller *poller, gboolean sleeps);
/* What a dialling node says until it is up, on a blocking socket. */
void world_prove (World *world, GSocket *socket, gboolean wait);
/* One part of `size` bytes, the first of which is `first`. (transfer full) */
GPtrArray *world_message (gsize size, guint8 first);

#define UNTIL(world, condition) \
  do \
    world_turn ((world)->poller, TRUE); \
  while (!(condition))
