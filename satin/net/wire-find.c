/* SPDX-License-Identifier: BSD-3-Clause */
/* See wire-find.h. Tests: total.sh. */
#include "wire-find.h"

#include "wire.h"

#define ASKERS 3
#define ASK_LIMIT_US (3 * G_USEC_PER_SEC)
/* Shared by the threads that ask, under `mutex`. */
typedef struct
{
  GMutex mutex;
  GCond cond;
  const char *run;   /* the id that is looked for */
  char **next;       /* the addresses that nobody has asked yet */
  guint asking;      /* threads that are not done */
  char *name, *host; /* of the run that answered; NULL: none has */
  GCancellable *stop;
} Question;

/* One of the threads: asks one address after the other. */
static gpointer
ask (gpointer data)
{
  Question *question = data;
  g_mutex_lock (&question->mutex);
  while (*question->next != NULL && !g_cancellable_is_cancelled (question->stop))
    {
      const char *address = *question->next++;
      g_autofree char *name = NULL, *host = NULL;
      g_mutex_unlock (&question->mutex);
      g_autofree char *id = wire_ask_run (address, question->stop, &name, &host);
      g_mutex_lock (&question->mutex);
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

static void
ask_all (Question *question, char **addresses)
{
  GThread *threads[ASKERS];
  gint64 until_us = g_get_monotonic_time () + ASK_LIMIT_US;
  question->next = addresses;
  question->asking = MIN (ASKERS, g_strv_length (addresses));
  guint n = question->asking;
  for (guint i = 0; i < n; i++)
    threads[i] = g_thread_new ("satin-ask", ask, question);
  g_mutex_lock (&question->mutex);
  while (question->asking > 0 && g_cond_wait_until (&question->cond, &question->mutex, until_us))
    ;
  g_mutex_unlock (&question->mutex);
  g_cancellable_cancel (question->stop);
  for (guint i = 0; i < n; i++)
    g_thread_join (threads[i]);
}

gboolean
wire_find_run (char **addresses, const char *id, char **name, char **host)
{
  Question question = { .run = id, .stop = g_cancellable_new () };
  g_mutex_init (&question.mutex);
  g_cond_init (&question.cond);
  ask_all (&question, addresses);
  *name = question.name;
  *host = question.host;
  g_object_unref (question.stop);
  g_cond_clear (&question.cond);
  g_mutex_clear (&question.mutex);
  return *name != NULL;
}
