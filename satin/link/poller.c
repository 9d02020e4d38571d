/* SPDX-License-Identifier: BSD-3-Clause */
/* See poller.h. */
#include "config.h"

#include "poller.h"

#include <errno.h>
#include <gio/gio.h>
#include <unistd.h>

struct Poller
{
  GMainContext *context;
  int set; /* of epoll */
  guint64 removals;

  /* The context's answer when it was last asked. */
  gboolean asked; /* the answer is still valid */
  gint priority;
  gint64 until_us; /* when one of its sources is due; -1: never */
  GPollFD *fds;
  gint n, n_max;
  GArray *entered; /* (of int): the context's descriptors in the set */
};

Poller *
poller_new (GError **error)
{
  int set = epoll_create1 (EPOLL_CLOEXEC);

  if (set < 0)
    {
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "cannot poll: %s",
                   g_strerror (errno));
      return NULL;
    }
  Poller *poller = g_new0 (Poller, 1);
  poller->set = set;
  poller->context = g_main_context_new_with_flags (G_MAIN_CONTEXT_FLAGS_OWNERLESS_POLLING);
  poller->entered = g_array_new (FALSE, FALSE, sizeof (int));
  return poller;
}

void
poller_free (Poller *poller)
{
  close (poller->set);
  g_array_unref (poller->entered);
  g_free (poller->fds);
  g_main_context_unref (poller->context);
  g_free (poller);
}

GMainContext *
poller_context (Poller *poller)
{
  return poller->context;
}

int
poller_fd (const Poller *poller)
{
  return poller->set;
}

/* ---- the set ---- */

/* Closing a descriptor removes it from the set, and its number may have a new owner. */
static void
enter (Poller *poller, int fd, GIOCondition condition, PollerWatch *watch)
{
  struct epoll_event event = { .events = condition, .data.ptr = watch };

  if (epoll_ctl (poller->set, EPOLL_CTL_MOD, fd, &event) != 0)
    (void)epoll_ctl (poller->set, EPOLL_CTL_ADD, fd, &event);
}

static void
remove_fd (Poller *poller, int fd)
{
  (void)epoll_ctl (poller->set, EPOLL_CTL_DEL, fd, NULL);
}

void
poller_watch (Poller *poller, PollerWatch *watch, GIOCondition condition)
{
  if (watch->condition == condition)
    return;
  if (condition == 0)
    {
      remove_fd (poller, watch->fd);
      poller->removals++;
    }
  else
    {
      for (guint i = poller->entered->len; watch->condition == 0 && i > 0; i--)
        if (g_array_index (poller->entered, int, i - 1) == watch->fd)
          g_array_remove_index (poller->entered, i - 1);
      enter (poller, watch->fd, condition, watch);
    }
  watch->condition = condition;
}

/* ---- the context ---- */

static gboolean
is_wanted (const Poller *poller, int fd)
{
  for (gint i = 0; i < poller->n; i++)
    if (poller->fds[i].fd == fd)
      return TRUE;
  return FALSE;
}

static void
enter_context (Poller *poller)
{
  GArray *entered = poller->entered;

  for (guint i = 0; i < entered->len; i++)
    if (!is_wanted (poller, g_array_index (entered, int, i)))
      remove_fd (poller, g_array_index (entered, int, i));
  g_array_set_size (entered, 0);
  for (gint i = 0; i < poller->n; i++)
    {
      enter (poller, poller->fds[i].fd, poller->fds[i].events, NULL);
      g_array_append_val (entered, poller->fds[i].fd);
    }
}

static void
ask_context (Poller *poller)
{
  gint timeout_ms;

  g_main_context_prepare (poller->context, &poller->priority);
  while ((poller->n = g_main_context_query (poller->context, poller->priority, &timeout_ms,
                                            poller->fds, poller->n_max))
         > poller->n_max)
    {
      poller->n_max = poller->n * 2;
      poller->fds = g_renew (GPollFD, poller->fds, poller->n_max);
    }
  poller->until_us = timeout_ms < 0 ? -1 : g_get_monotonic_time () + timeout_ms * (gint64)1000;
  poller->asked = TRUE;
  enter_context (poller);
}

/* Sources run with this context as the thread's default, so a GTask that one starts returns to this
 * context, whichever thread polls. */
static gboolean
dispatch_context (Poller *poller)
{
  gboolean ready;

  g_poll (poller->fds, (guint)poller->n, 0);
  ready = g_main_context_check (poller->context, poller->priority, poller->fds, poller->n);
  if (ready)
    {
      g_main_context_push_thread_default (poller->context);
      g_main_context_dispatch (poller->context);
      g_main_context_pop_thread_default (poller->context);
    }
  poller->asked = FALSE;
  return ready;
}

/* ---- turns ---- */

gint64
poller_prepare (Poller *poller, PollerReady *ready)
{
  if (!poller->asked)
    ask_context (poller);
  ready->n = 0;
  ready->removals = poller->removals;
  return poller->until_us;
}

void
poller_wait (const Poller *poller, PollerReady *ready, gint64 until_us)
{
  gint64 left_us = until_us > 0 ? MAX (until_us - g_get_monotonic_time (), 0) : until_us;
  int left_ms = left_us < 0 ? -1 : (int)MIN ((left_us + 999) / 1000, G_MAXINT);

  ready->n = epoll_wait (poller->set, ready->some, POLLER_READY_MAX, left_ms);
}

gboolean
poller_dispatch (Poller *poller, PollerReady *ready)
{
  gboolean any = FALSE, context = FALSE;

  for (int i = 0; i < ready->n && ready->removals == poller->removals; i++)
    {
      PollerWatch *watch = ready->some[i].data.ptr;

      if (watch == NULL)
        context = TRUE;
      else
        any = watch->ready ((GIOCondition)ready->some[i].events, watch->data) || any;
    }
  ready->n = 0;
  if (poller->asked
      && (context || (poller->until_us >= 0 && g_get_monotonic_time () >= poller->until_us)))
    any = dispatch_context (poller) || any;
  return any;
}
