/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns shared bytes and their descriptions. Each store has one lock; digests are computed without
 * it. The store lives until no reference to it is left. */
#include "config.h"

#include "shared.h"

#include "buffer.h"

#include <pthread.h>
#include <string.h>

struct SharedStore
{
  pthread_mutex_t lock;
  GHashTable *all; /* of SatinShared, by their digests */
  GQueue loose;    /* of SatinShared: may be dropped; the latest used is last */
  guint64 loose_bytes, memory, forgotten;
  guint64 spoken; /* objects with references, plus one for the owner of the store */
};

struct SatinShared_
{
  SharedStore *store;
  Digest digest;
  guint64 length;
  /* protected by store->lock */
  guint64 refs;
  GBytes *bytes; /* NULL: not here */
  gboolean kept; /* not dropped while it has references */
  gboolean loose;
  GList link; /* in store->loose */
};

static guint
hash (gconstpointer key)
{
  guint word;

  memcpy (&word, ((const struct SatinShared_ *)key)->digest.bytes, sizeof word);
  return word;
}

static gboolean
equal (gconstpointer a, gconstpointer b)
{
  const struct SatinShared_ *x = a, *y = b;

  return digest_equal (&x->digest, &y->digest);
}

SharedStore *
shared_store_new (guint64 memory)
{
  SharedStore *store = g_new0 (SharedStore, 1);

  pthread_mutex_init (&store->lock, NULL);
  store->all = g_hash_table_new (hash, equal);
  store->memory = memory;
  store->spoken = 1;
  return store;
}

SharedStore *
shared_store_here (void)
{
  static gsize made;

  if (g_once_init_enter (&made))
    g_once_init_leave (&made, (gsize)shared_store_new (SHARED_MEMORY_DEFAULT));
  return (SharedStore *)made;
}

static void
drop_entry (SatinShared shared)
{
  g_hash_table_remove (shared->store->all, shared);
  g_clear_pointer (&shared->bytes, g_bytes_unref);
  g_free (shared);
}

/* After each change: puts the object into the queue if its bytes may be dropped, or takes it
 * out. */
static void
settle (SatinShared shared)
{
  SharedStore *store = shared->store;
  gboolean loose = shared->bytes != NULL && !(shared->kept && shared->refs > 0);

  if (loose == shared->loose)
    return;
  shared->loose = loose;
  if (loose)
    {
      shared->link.data = shared;
      g_queue_push_tail_link (&store->loose, &shared->link);
      store->loose_bytes += shared->length;
    }
  else
    {
      g_queue_unlink (&store->loose, &shared->link);
      store->loose_bytes -= shared->length;
    }
}

/* Drops bytes until the limit holds. */
static void
trim (SharedStore *store)
{
  while (store->loose_bytes > store->memory)
    {
      SatinShared oldest = g_queue_peek_head (&store->loose);

      g_clear_pointer (&oldest->bytes, g_bytes_unref);
      settle (oldest);
      store->forgotten++;
      if (oldest->refs == 0)
        drop_entry (oldest);
    }
}

/* Called with the lock held; unlocks it. */
static void
release (SharedStore *store, gboolean is_last)
{
  if (is_last)
    {
      store->memory = 0;
      trim (store);
    }
  pthread_mutex_unlock (&store->lock);
  if (!is_last)
    return;
  g_hash_table_unref (store->all);
  pthread_mutex_destroy (&store->lock);
  g_free (store);
}

void
shared_store_free (SharedStore *store)
{
  pthread_mutex_lock (&store->lock);
  release (store, --store->spoken == 0);
}

void
shared_store_set_memory (SharedStore *store, guint64 memory)
{
  pthread_mutex_lock (&store->lock);
  store->memory = memory;
  trim (store);
  pthread_mutex_unlock (&store->lock);
}

void
shared_store_stats (SharedStore *store, SharedStats *stats)
{
  pthread_mutex_lock (&store->lock);
  *stats = (SharedStats){ store->loose_bytes, store->forgotten };
  pthread_mutex_unlock (&store->lock);
}

/* Called with the lock held. (nullable) */
static SatinShared
look_up (SharedStore *store, const Digest *digest)
{
  struct SatinShared_ key = { .digest = *digest };

  return g_hash_table_lookup (store->all, &key);
}

/* Called with the lock held. */
static SatinShared
make (SharedStore *store, const Digest *digest, guint64 length)
{
  SatinShared shared = look_up (store, digest);

  if (shared != NULL)
    return shared;
  shared = g_new0 (struct SatinShared_, 1);
  shared->store = store;
  shared->digest = *digest;
  shared->length = length;
  g_hash_table_add (store->all, shared);
  return shared;
}

static void
add_ref (SatinShared shared)
{
  if (shared->refs++ == 0)
    shared->store->spoken++;
}

/* Stores the bytes, unless they are here. */
static void
set_bytes (SatinShared shared, GBytes *bytes)
{
  if (bytes != NULL && shared->bytes == NULL)
    shared->bytes = buffer_slice (bytes, 0, g_bytes_get_size (bytes));
}

SatinShared
shared_add (SharedStore *store, GBytes *bytes)
{
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);
  Digest digest = digest_of_data (data, size);
  SatinShared shared;

  pthread_mutex_lock (&store->lock);
  shared = make (store, &digest, size);
  add_ref (shared);
  set_bytes (shared, bytes);
  shared->kept = TRUE;
  settle (shared);
  pthread_mutex_unlock (&store->lock);
  return shared;
}

SatinShared
shared_enter (SharedStore *store, const Digest *digest, guint64 length)
{
  SatinShared shared;

  pthread_mutex_lock (&store->lock);
  shared = make (store, digest, length);
  add_ref (shared);
  pthread_mutex_unlock (&store->lock);
  return shared;
}

SatinShared
shared_ref (SatinShared shared)
{
  if (shared == NULL)
    return NULL;
  pthread_mutex_lock (&shared->store->lock);
  add_ref (shared);
  pthread_mutex_unlock (&shared->store->lock);
  return shared;
}

void
shared_unref (SatinShared shared)
{
  SharedStore *store;

  if (shared == NULL)
    return;
  store = shared->store;
  pthread_mutex_lock (&store->lock);
  if (--shared->refs > 0)
    {
      pthread_mutex_unlock (&store->lock);
      return;
    }
  shared->kept = FALSE;
  settle (shared);
  if (shared->bytes == NULL)
    drop_entry (shared);
  trim (store);
  release (store, --store->spoken == 0);
}

const Digest *
shared_digest (const struct SatinShared_ *shared)
{
  return &shared->digest;
}

guint64
shared_length (const struct SatinShared_ *shared)
{
  return shared->length;
}

/* The bytes, marked as the latest used. Called with the lock held. (transfer full) (nullable) */
static GBytes *
use (SatinShared shared)
{
  if (shared == NULL || shared->bytes == NULL)
    return NULL;
  if (shared->loose)
    {
      g_queue_unlink (&shared->store->loose, &shared->link);
      g_queue_push_tail_link (&shared->store->loose, &shared->link);
    }
  return g_bytes_ref (shared->bytes);
}

GBytes *
shared_bytes (SatinShared shared)
{
  GBytes *bytes;

  pthread_mutex_lock (&shared->store->lock);
  bytes = use (shared);
  pthread_mutex_unlock (&shared->store->lock);
  return bytes;
}

gboolean
shared_keep (SatinShared shared, GBytes *bytes)
{
  gboolean here;

  pthread_mutex_lock (&shared->store->lock);
  set_bytes (shared, bytes);
  here = shared->bytes != NULL;
  shared->kept = shared->kept || here;
  settle (shared);
  pthread_mutex_unlock (&shared->store->lock);
  return here;
}

void
shared_put (SharedStore *store, const Digest *digest, GBytes *bytes)
{
  SatinShared shared;

  pthread_mutex_lock (&store->lock);
  shared = make (store, digest, g_bytes_get_size (bytes));
  set_bytes (shared, bytes);
  settle (shared);
  trim (store);
  pthread_mutex_unlock (&store->lock);
}

GBytes *
shared_find (SharedStore *store, const Digest *digest)
{
  GBytes *bytes;

  pthread_mutex_lock (&store->lock);
  bytes = use (look_up (store, digest));
  pthread_mutex_unlock (&store->lock);
  return bytes;
}

gboolean
shared_is_spoken_of (SharedStore *store, const Digest *digest)
{
  const struct SatinShared_ *shared;
  gboolean spoken;

  pthread_mutex_lock (&store->lock);
  shared = look_up (store, digest);
  spoken = shared != NULL && shared->refs > 0;
  pthread_mutex_unlock (&store->lock);
  return spoken;
}

GPtrArray *
shared_list_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify)shared_unref);
}
