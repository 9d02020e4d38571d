/* SPDX-License-Identifier: BSD-3-Clause */
/* See wire-find.h. Tests: test-wire-tls, total.sh. */
#include "wire-find.h"

#include "wire.h"

#include <gio/gio.h>

#define ASKERS 3

/* Shared by the asking threads; `mutex` protects it. */
typedef struct
{
  GMutex mutex;
  GCond cond;
  const char *run; /* the id to look for */
  char **next;     /* the addresses not asked yet */
  guint asking;    /* threads that have not finished … */
  guint talking;   /* … of them, those that are connected and wait for a greeting */
  gint64 began_us, limit_us;
  char *name, *host; /* of the run that answered; NULL: none */
  char *silent;      /* a Unix socket at which a process does not greet; NULL: none */
  GCancellable *stop;
} Question;

/* (transfer full) (nullable): the id of the run at `address`. Called with the mutex held; releases
 * it while it waits. */
static char *
ask_one (Question *question, const char *address, char **name, char **host)
{
  g_autoptr (GError) error = NULL;

  g_mutex_unlock (&question->mutex);
  g_autoptr (WireAsker) asker = wire_reach (address, question->stop, &error);
  g_mutex_lock (&question->mutex);
  question->talking += asker != NULL;
  g_mutex_unlock (&question->mutex);
  char *id = asker != NULL ? wire_asker_run (asker, name, host, &error) : NULL;
  g_mutex_lock (&question->mutex);
  question->talking -= asker != NULL;
  g_cond_signal (&question->cond);
  gboolean is_silent
      = id == NULL
        && g_error_matches (error, G_IO_ERROR,
                            asker != NULL ? G_IO_ERROR_CANCELLED : G_IO_ERROR_WOULD_BLOCK);
  if (is_silent && question->silent == NULL && g_str_has_prefix (address, "unix:"))
    question->silent = g_strdup (address);
  return id;
}

/* An asking thread: takes addresses until none is left. */
static gpointer
ask (gpointer data)
{
  Question *question = data;
  g_mutex_lock (&question->mutex);
  while (*question->next != NULL && !g_cancellable_is_cancelled (question->stop))
    {
      const char *address = *question->next++;
      g_autofree char *name = NULL, *host = NULL;
      g_autofree char *id = ask_one (question, address, &name, &host);
      if (question->name != NULL || g_strcmp0 (id, question->run) != 0)
        continue;
      question->name = g_steal_pointer (&name);
      question->host = g_steal_pointer (&host);
      g_cancellable_cancel (question->stop);
    }
  question->asking--;
  g_cond_signal (&question->cond);
  g_mutex_unlock (&question->mutex);
  return NULL;
}

static gint64
until_us (const Question *question)
{
  return question->began_us + question->limit_us * (question->talking > 0 ? WIRE_FIND_PATIENCE : 1);
}

static void
ask_all (Question *question, char **addresses)
{
  GThread *threads[ASKERS];
  question->next = addresses;
  question->asking = MIN (ASKERS, g_strv_length (addresses));
  guint n = question->asking;
  for (guint i = 0; i < n; i++)
    threads[i] = g_thread_new ("satin-ask", ask, question);
  g_mutex_lock (&question->mutex);
  while (question->asking > 0 && g_get_monotonic_time () < until_us (question))
    (void)g_cond_wait_until (&question->cond, &question->mutex, until_us (question));
  g_mutex_unlock (&question->mutex);
  g_cancellable_cancel (question->stop);
  for (guint i = 0; i < n; i++)
    g_thread_join (threads[i]);
}

gboolean
wire_find_run (char **addresses, const char *id, guint64 limit_us, char **name, char **host)
{
  Question question = { .run = id,
                        .began_us = g_get_monotonic_time (),
                        .limit_us = (gint64)limit_us,
                        .stop = g_cancellable_new () };
  g_mutex_init (&question.mutex);
  g_cond_init (&question.cond);
  ask_all (&question, addresses);
  gboolean is_found = question.name != NULL || question.silent != NULL;
  *name = question.name;
  *host = question.name != NULL ? question.host : g_steal_pointer (&question.silent);
  g_free (question.silent);
  g_object_unref (question.stop);
  g_cond_clear (&question.cond);
  g_mutex_clear (&question.mutex);
  return is_found;
}
