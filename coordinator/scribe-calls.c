/* SPDX-License-Identifier: BSD-3-Clause */
/* What other threads tell the scribe and want of it: each call puts it under the lock, where the
 * thread (scribe.c) finds it. Tests: test-scribe, test-scribe-time. */
#include "coordinator/scribe-private.h"

static void
lock (Scribe *scribe)
{
  pthread_mutex_lock (&scribe->lock);
}

static void
unlock_and_wake (Scribe *scribe)
{
  pthread_cond_signal (&scribe->wake);
  pthread_mutex_unlock (&scribe->lock);
}

void
scribe_save (Scribe *scribe, GPtrArray *rows)
{
  gsize n;
  g_autofree gpointer *items = g_ptr_array_steal (rows, &n);
  g_ptr_array_unref (rows);
  lock (scribe);
  for (gsize i = 0; i < n; i++)
    inbox_add_row (scribe->inbox, items[i]);
  unlock_and_wake (scribe);
}

void
scribe_ticket (Scribe *scribe, guint64 ticket)
{
  lock (scribe);
  scribe->inbox->ticket = ticket;
  unlock_and_wake (scribe);
}

void
scribe_constant (Scribe *scribe, const char *name, const char *type, GBytes *value)
{
  lock (scribe);
  inbox_add_value (scribe->inbox->constants, name, type, value);
  unlock_and_wake (scribe);
}

void
scribe_best (Scribe *scribe, const char *name, const char *type, GBytes *value, const char *text)
{
  lock (scribe);
  inbox_add_value (scribe->inbox->bests, name, type, value);
  if (text != NULL)
    g_hash_table_replace (scribe->inbox->shown, g_strdup (name), g_strdup (text));
  unlock_and_wake (scribe);
}

void
scribe_joined (Scribe *scribe, const NodeId *id, const char *host, const char *site,
               const char *address)
{
  InboxMember member = { .id = *id,
                         .host = (char *)host,
                         .site = (char *)site,
                         .address = (char *)address,
                         .at = g_get_real_time () / G_USEC_PER_SEC };
  lock (scribe);
  inbox_add_member (scribe->inbox, &member);
  unlock_and_wake (scribe);
}

static void
add_event (Scribe *scribe, const InboxEvent *event)
{
  lock (scribe);
  inbox_add_event (scribe->inbox, event);
  unlock_and_wake (scribe);
}

void
scribe_event (Scribe *scribe, const char *kind, const NodeId *node, const char *path,
              guint64 work_us, const char *detail)
{
  add_event (scribe, &(InboxEvent){ .kind = (char *)kind,
                                    .path = (char *)path,
                                    .detail = (char *)detail,
                                    .node = node != NULL ? *node : NODE_ID_NONE,
                                    .work_us = work_us,
                                    .at = g_get_real_time () / G_USEC_PER_SEC });
}

void
scribe_told (Scribe *scribe, const char *kind, const NodeId *node, const char *path,
             guint64 work_us, const char *detail, gint64 age_us)
{
  add_event (scribe, &(InboxEvent){ .kind = (char *)kind,
                                    .path = (char *)path,
                                    .detail = (char *)detail,
                                    .node = *node,
                                    .work_us = work_us,
                                    .at = (g_get_real_time () - age_us) / G_USEC_PER_SEC,
                                    .told = TRUE });
}

void
scribe_present (Scribe *scribe, const GArray *ids)
{
  lock (scribe);
  g_clear_pointer (&scribe->inbox->present, g_array_unref);
  scribe->inbox->present = g_array_copy ((GArray *)ids);
  unlock_and_wake (scribe);
}

void
scribe_answer (Scribe *scribe, GBytes *answer, int exit_code)
{
  lock (scribe);
  inbox_answer (scribe->inbox, answer, exit_code);
  unlock_and_wake (scribe);
}

void
scribe_load (Scribe *scribe, const char *path)
{
  ScribeRequest *request = g_new0 (ScribeRequest, 1);
  request->is_everything = path == NULL;
  if (path != NULL)
    g_strlcpy (request->path, path, sizeof request->path);
  lock (scribe);
  g_queue_push_tail (&scribe->requests, request);
  unlock_and_wake (scribe);
}

void
scribe_finish (Scribe *scribe)
{
  lock (scribe);
  scribe->asked = SCRIBE_ASKED_NOW;
  unlock_and_wake (scribe);
}

void
scribe_offer (Scribe *scribe)
{
  lock (scribe);
  scribe->asked = MAX (scribe->asked, SCRIBE_ASKED_IF_WORTH);
  unlock_and_wake (scribe);
}

void
scribe_stats (Scribe *scribe, ScribeStats *stats)
{
  lock (scribe);
  *stats = scribe->stats;
  pthread_mutex_unlock (&scribe->lock);
}
