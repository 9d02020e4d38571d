/* SPDX-License-Identifier: BSD-3-Clause */
/* For `make check-tsan` only; preloaded into every test program. Tells ThreadSanitizer which memory
 * accesses GLib's locks, queues, reference counts and main contexts order. GLib is not built with
 * ThreadSanitizer, so it sees none of them. No race is hidden: one that no lock orders is still
 * reported. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <glib-object.h>

/* Exist only in sanitized programs. */
void __tsan_acquire (void *address) __attribute__ ((weak));
void __tsan_release (void *address) __attribute__ ((weak));

static void
acquire (const void *address)
{
  if (__tsan_acquire != NULL && address != NULL)
    __tsan_acquire ((void *)address);
}

static void
release (const void *address)
{
  if (__tsan_release != NULL && address != NULL)
    __tsan_release ((void *)address);
}

#define REAL(name) ((__typeof__ (&name))dlsym (RTLD_NEXT, #name))

void
g_mutex_lock (GMutex *mutex)
{
  REAL (g_mutex_lock) (mutex);
  acquire (mutex);
}

gboolean
g_mutex_trylock (GMutex *mutex)
{
  gboolean locked = REAL (g_mutex_trylock) (mutex);
  if (locked)
    acquire (mutex);
  return locked;
}

void
g_mutex_unlock (GMutex *mutex)
{
  release (mutex);
  REAL (g_mutex_unlock) (mutex);
}

/* Also returns without a signal after a while, which g_cond_wait may do: under ThreadSanitizer a
 * waiting thread runs its signal handlers only after this call. */
void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  release (mutex);
  (void)REAL (g_cond_wait_until) (cond, mutex, g_get_monotonic_time () + G_USEC_PER_SEC / 5);
  acquire (mutex);
}

gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end_time)
{
  release (mutex);
  gboolean signalled = REAL (g_cond_wait_until) (cond, mutex, end_time);
  acquire (mutex);
  return signalled;
}

void
g_async_queue_push (GAsyncQueue *queue, gpointer data)
{
  release (queue);
  REAL (g_async_queue_push) (queue, data);
}

#define POP(name, parameters, arguments) \
  gpointer name parameters \
  { \
    gpointer data = REAL (name) arguments; \
    acquire (queue); \
    return data; \
  }
POP (g_async_queue_pop, (GAsyncQueue * queue), (queue))
POP (g_async_queue_try_pop, (GAsyncQueue * queue), (queue))
POP (g_async_queue_timeout_pop, (GAsyncQueue * queue, guint64 timeout), (queue, timeout))

/* Everything before the setting of an idle or timeout callback happens before its call. Sources of
 * other kinds call with other arguments, so they are not changed. */
typedef struct
{
  GSourceFunc function;
  gpointer data;
  GDestroyNotify notify;
} Callback;

static gboolean
call (gpointer data)
{
  Callback *callback = data;
  acquire (callback);
  return callback->function (callback->data);
}

static void
drop (gpointer data)
{
  Callback *callback = data;
  acquire (callback);
  if (callback->notify != NULL)
    callback->notify (callback->data);
  g_free (callback);
}

void
g_source_set_callback (GSource *source, GSourceFunc function, gpointer data, GDestroyNotify notify)
{
  if (source->source_funcs != dlsym (RTLD_NEXT, "g_idle_funcs")
      && source->source_funcs != dlsym (RTLD_NEXT, "g_timeout_funcs"))
    {
      REAL (g_source_set_callback) (source, function, data, notify);
      return;
    }
  Callback *callback = g_new (Callback, 1);
  *callback = (Callback){ function, data, notify };
  release (callback);
  REAL (g_source_set_callback) (source, call, callback, drop);
}

/* The thread that drops the last reference frees the object after all accesses of the other
 * threads. */
#define UNREF(name, Type) \
  void name (Type *object) \
  { \
    acquire (object); \
    release (object); \
    REAL (name) (object); \
  }
UNREF (g_bytes_unref, GBytes)
UNREF (g_ptr_array_unref, GPtrArray)
UNREF (g_hash_table_unref, GHashTable)
UNREF (g_variant_unref, GVariant)
UNREF (g_main_loop_unref, GMainLoop)

void
g_object_unref (gpointer object)
{
  acquire (object);
  release (object);
  REAL (g_object_unref) (object);
}
