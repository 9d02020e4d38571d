/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of wires: a listener and the two ends of a wire, in one thread. */
#pragma once
#include "link/listener.h"
#include "link/wire.h"

#include <gio/gio.h>

#define WORLD_PATIENT 2 /* A message that begins with this byte lets others overtake it. */

/* Two ends in one context. */
typedef struct
{
  Poller *poller;
  Listener *listener;
  WireRun run;
  Wire *near, *far; /* near: the dialling end; far: the accepted end. */
  guint ups, downs;
  gboolean dead, waits, makes_room;
  const WireCalls *calls; /* The calls of the accepted end. */
  guint64 received_bytes, received;
  guint32 sum;
  guint8 firsts[16]; /* The first byte of each message. */
  char *folder, *path;
} World;

/* Callbacks that count what arrives, in the World that is their data. */
void world_on_up (Wire *link, void *data);
void world_on_message (Wire *link, GBytes *message, void *data);
void world_on_down (Wire *link, gboolean dead, void *data);
gboolean world_may_wait (Wire *link, GBytes *message);
extern const WireCalls world_calls;
/* Callbacks of a listener whose data is a World. */
void world_on_accepted (GSocket *socket, void *data);
gboolean world_on_crowded (void *data);

/* (transfer full) */
char *world_make_key (void);
/* FALSE: TLS is not available, and the test is skipped. */
gboolean world_needs_tls (void);
/* `tcp`: the listener also listens at a TCP port. */
void world_open (World *world, gboolean tcp);
void world_close (World *world);
/* One turn of the poller. `sleeps`: waits until there is something to do. */
void world_turn (Poller *poller, gboolean sleeps);
/* Sends on a blocking socket what a dialling node sends until the wire is up. */
void world_prove (World *world, GSocket *socket, gboolean wait);
/* One part of `size` bytes with the first byte `first`. (transfer full) */
GPtrArray *world_message (gsize size, guint8 first);

#define UNTIL(world, condition) \
  do \
    world_turn ((world)->poller, TRUE); \
  while (!(condition))
