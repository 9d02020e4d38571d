/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever the driver waits for, in one epoll set: the descriptors of links, each with whom to call
 * when it is ready, and those of a GMainContext, which has everything else (timeouts, the listener,
 * what other threads post). To ask GLib takes a microsecond each time, so it is asked only when
 * something of its own is there, or due: whatever changes what it waits for wakes it, since it is
 * made with G_MAIN_CONTEXT_FLAGS_OWNERLESS_POLLING. By the owner of the context, but for
 * poller_wait. */
#pragma once

#include <glib.h>
#include <sys/epoll.h>

typedef struct Poller Poller;

/* A descriptor of its owner's. `ready` returns TRUE if something happened that somebody may wait
 * for. */
typedef struct
{
  int fd;
  gboolean (*ready) (GIOCondition condition, void *data);
  void *data;
  GIOCondition condition; /* polled for, beside errors; 0: not at all */
} PollerWatch;

#define POLLER_READY_MAX 16

/* What was ready when somebody looked. */
typedef struct
{
  struct epoll_event some[POLLER_READY_MAX];
  int n;
  guint64 removals; /* of watches, until then */
} PollerReady;

/* NULL: no descriptor is left. */
Poller *poller_new (GError **error);
void poller_free (Poller *poller);
GMainContext *poller_context (Poller *poller);
/* It is readable when something is there. */
int poller_fd (const Poller *poller);
/* Polls for `condition` from now on; 0: not any more, as before its descriptor is closed. */
void poller_watch (Poller *poller, PollerWatch *watch, GIOCondition condition);

/* Before each poll. When something is due at the latest; -1: nothing. */
gint64 poller_prepare (Poller *poller, PollerReady *ready);
/* Waits until then (-1: for ever; 0: not at all) or something is there. Any thread, for its own
 * `ready`. */
void poller_wait (const Poller *poller, PollerReady *ready, gint64 until_us);
/* Calls whom it concerns; what somebody else has removed meanwhile is left out. TRUE: something
 * happened. */
gboolean poller_dispatch (Poller *poller, PollerReady *ready);
