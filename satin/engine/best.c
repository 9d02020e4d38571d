/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the values of SATIN_BEST objects, which register themselves before main. A value, once
 * readable, is never freed: improvements are few. Any thread; a mutex orders merges. */
#include "config.h"

#include "best.h"

#include "engine.h"
#include "record.h"
#include "sched/abort.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t best_mutex = PTHREAD_MUTEX_INITIALIZER;
static SatinBest_ *best_first;    /* sorted by name */
static GPtrArray *best_listeners; /* of Engine */
static GPtrArray *best_old;       /* all values ever readable */
static GHashTable *best_initial;  /* of those that were ever improved: SatinBest_ -> value */

void
satin_best_register_ (SatinBest_ *best)
{
  SatinBest_ **place = &best_first;

  pthread_mutex_lock (&best_mutex);
  while (*place != NULL && strcmp ((*place)->name, best->name) < 0)
    place = &(*place)->next;
  best->next = *place;
  *place = best;
  pthread_mutex_unlock (&best_mutex);
}

guint
best_count (void)
{
  guint n = 0;

  for (SatinBest_ *best = best_first; best != NULL; best = best->next)
    n++;
  return n;
}

SatinBest_ *
best_get (guint i)
{
  SatinBest_ *best = best_first;

  for (; best != NULL && i > 0; i--)
    best = best->next;
  return best;
}

GBytes *
best_encode (const SatinBest_ *best)
{
  return record_encode (best->type, satin_best_value_ (best));
}

char *
best_show (const SatinBest_ *best)
{
  g_autofree char *said = best->show != NULL ? best->show (satin_best_value_ (best)) : NULL;

  if (said == NULL)
    return NULL;
  char *text = g_utf8_make_valid (said, -1);
  if (strlen (text) > BEST_SHOW_MAX)
    *g_utf8_find_prev_char (text, text + BEST_SHOW_MAX + 1) = '\0';
  for (char *at = text; *at != '\0'; at++)
    if (g_ascii_iscntrl (*at))
      *at = ' ';
  return text;
}

/* best_mutex held: replaces the present value by the given one if that is better and no aborted job
 * gives it. TRUE: the value changed. */
static gboolean
merge (SatinBest_ *best, const void *value)
{
  const void *now = satin_best_value_ (best);
  g_autoptr (GBytes) before = NULL, after = NULL;
  void *copy;

  if (best->merge (now, value) != value)
    return FALSE;
  before = record_encode (best->type, now);
  after = record_encode (best->type, value);
  if (g_bytes_equal (before, after) || abort_is_seen ())
    return FALSE;
  copy = g_malloc0 (best->type->size);
  record_copy (best->type, copy, value);
  if (best_old == NULL)
    {
      best_old = g_ptr_array_new ();
      best_initial = g_hash_table_new (NULL, NULL);
    }
  if (!g_hash_table_contains (best_initial, best))
    g_hash_table_insert (best_initial, best, (gpointer)now);
  g_ptr_array_add (best_old, copy);
  __atomic_store_n (&best->value, copy, __ATOMIC_RELEASE); /* pairs with satin_best_value_ */
  return TRUE;
}

void
best_forget (void)
{
  GHashTableIter iter;
  gpointer best, value;

  pthread_mutex_lock (&best_mutex);
  if (best_initial != NULL)
    {
      g_hash_table_iter_init (&iter, best_initial);
      while (g_hash_table_iter_next (&iter, &best, &value))
        __atomic_store_n (&((SatinBest_ *)best)->value, value, __ATOMIC_RELEASE); /* as in merge */
    }
  pthread_mutex_unlock (&best_mutex);
}

static guint
number_of (const SatinBest_ *best)
{
  guint i = 0;

  for (SatinBest_ *other = best_first; other != best; other = other->next)
    i++;
  return i;
}

void
satin_improve_ (SatinBest_ *best, const void *value)
{
  pthread_mutex_lock (&best_mutex);
  if (merge (best, value))
    for (guint i = 0; best_listeners != NULL && i < best_listeners->len; i++)
      {
        EngineEvent event = { .kind = ENGINE_IMPROVED, .best = number_of (best) };

        event.value = best_encode (best);
        mailbox_raise (best_listeners->pdata[i], &event);
      }
  pthread_mutex_unlock (&best_mutex);
}

gboolean
best_merge_encoded (SatinBest_ *best, GBytes *bytes)
{
  g_autofree void *value = g_malloc0 (best->type->size);

  if (!record_decode (best->type, bytes, value, NULL))
    return FALSE;
  pthread_mutex_lock (&best_mutex);
  merge (best, value);
  pthread_mutex_unlock (&best_mutex);
  record_clear (best->type, value);
  return TRUE;
}

void
best_add_listener (Engine *engine)
{
  pthread_mutex_lock (&best_mutex);
  if (best_listeners == NULL)
    best_listeners = g_ptr_array_new ();
  g_ptr_array_add (best_listeners, engine);
  pthread_mutex_unlock (&best_mutex);
}

void
best_remove_listener (Engine *engine)
{
  pthread_mutex_lock (&best_mutex);
  g_ptr_array_remove (best_listeners, engine);
  pthread_mutex_unlock (&best_mutex);
}
