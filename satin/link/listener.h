/* SPDX-License-Identifier: BSD-3-Clause */
/* Where others reach this process: a Unix socket in the run's folder, and one address of this host
 * by TCP if somebody asked for that. Lives in the driver's context. */
#pragma once

#include <gio/gio.h>

typedef struct Listener Listener;

typedef void (*ListenerAccepted) (GSocket *socket, void *data);
/* No descriptor is left for a connection that waits. TRUE: one is free now. */
typedef gboolean (*ListenerCrowded) (void *data);

/* An address of this host, in figures, and the ports that may be taken there; 0: any free one. */
typedef struct
{
  const char *address;
  int first, last;
} ListenerPlace;

/* Listens at `unix_path` (0600) and, unless NULL, at `tcp`. NULL with the reason; TLS that is
 * missing is one. */
Listener *listener_new (GMainContext *context, const char *unix_path, const ListenerPlace *tcp,
                        ListenerAccepted accepted, ListenerCrowded crowded, void *data,
                        GError **error);
void listener_free (Listener *listener); /* removes the Unix socket */
/* "unix:…" and "tcp:…", NULL-terminated; owned by the listener. The first is the one to prefer. */
const char *const *listener_addresses (Listener *listener);
