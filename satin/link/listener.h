/* SPDX-License-Identifier: BSD-3-Clause */
/* Listens for connections to this process: at a Unix socket in the run's folder and, if asked for,
 * at one TCP address of this host. Driver's thread. */
#pragma once

#include <gio/gio.h>

typedef struct Listener Listener;

typedef void (*ListenerAccepted) (GSocket *socket, void *data);
/* No descriptor is free for a connection that waits to be accepted. TRUE: one was freed. */
typedef gboolean (*ListenerCrowded) (void *data);

/* A numeric address of this host, and the range of ports to use there; 0: any free port. */
typedef struct
{
  const char *address;
  int first, last;
} ListenerPlace;

/* Listens at `unix_path` (mode 0600) and at `tcp`, unless it is NULL. NULL with `error`: also if
 * TLS is missing and `tcp` is given. */
Listener *listener_new (GMainContext *context, const char *unix_path, const ListenerPlace *tcp,
                        ListenerAccepted accepted, ListenerCrowded crowded, void *data,
                        GError **error);
void listener_free (Listener *listener); /* removes the Unix socket */
/* "unix:…" and "tcp:…", NULL-terminated, owned by the listener. The first is preferred. */
const char *const *listener_addresses (Listener *listener);
