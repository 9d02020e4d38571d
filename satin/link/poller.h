/* SPDX-License-Identifier: BSD-3-Clause */
/* One epoll set with everything that the driver waits for: the descriptors of links, each with its
 * callback, and those of a GMainContext, which has the rest (timeouts, the listener, calls from
 * other threads).
 *
 * Asking GLib costs a microsecond. So GLib is asked again only after it has dispatched, which
 * happens when one of its descriptors is ready or one of its timeouts is due. Other changes wake
 * the context, since it is made with G_MAIN_CONTEXT_FLAGS_OWNERLESS_POLLING. Only the owner of the
 * context calls these functions, except poller_wait. */
#pragma once

#include <glib.h>
#include <sys/epoll.h>

typedef struct Poller Poller;

/* One descriptor of a caller. `ready` returns TRUE if something happened that another part may wait
 * for. */
typedef struct
{
  int fd;
  gboolean (*ready) (GIOCondition condition, void *data);
  void *data;
  GIOCondition condition; /* polled for, besides errors; 0: not polled */
} PollerWatch;

#define POLLER_READY_MAX 16

/* The descriptors that one poll found ready. */
typedef struct
{
  struct epoll_event some[POLLER_READY_MAX];
  int n;
  guint64 removals; /* how many watches had been removed before this poll */
} PollerReady;

/* NULL: no descriptor is free. */
Poller *poller_new (GError **error);
void poller_free (Poller *poller);
GMainContext *poller_context (Poller *poller);
/* This descriptor is readable when one of the set's is ready. */
int poller_fd (const Poller *poller);
/* Polls for `condition` from now on. Before the descriptor is closed, call it with 0: stop
 * polling. */
void poller_watch (Poller *poller, PollerWatch *watch, GIOCondition condition);

/* Call this before each poll. Returns the time at which the context has something due; -1:
 * never. */
gint64 poller_prepare (Poller *poller, PollerReady *ready);
/* Waits until `until_us` (-1: for ever; 0: not at all) or until a descriptor is ready. Any thread,
 * with its own `ready`. */
void poller_wait (const Poller *poller, PollerReady *ready, gint64 until_us);
/* Calls back for each ready descriptor. If a callback removes a watch, the rest waits for the next
 * poll. TRUE: something happened. */
gboolean poller_dispatch (Poller *poller, PollerReady *ready);
