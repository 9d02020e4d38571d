/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns a few large buffers that are not in use; the newest is used first. */
#include "config.h"

#include "buffer.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define BUFFER_PAGE ((gsize)2 << 20) /* a huge page; sizes are multiples of it */
#define BUFFER_KEPT_COUNT 4

typedef struct
{
  guint8 *data;
  gsize room;
} Kept;

static pthread_mutex_t buffer_lock = PTHREAD_MUTEX_INITIALIZER;
static Kept buffer_kept[BUFFER_KEPT_COUNT]; /* oldest first */
static guint buffer_n_kept;
static gsize buffer_kept_bytes;

static gsize
room_for (gsize size)
{
  return (size + BUFFER_PAGE - 1) & ~(BUFFER_PAGE - 1);
}

static guint8 *
remove_kept (guint place)
{
  Kept kept = buffer_kept[place];

  buffer_kept_bytes -= kept.room;
  buffer_n_kept--;
  for (guint i = place; i < buffer_n_kept; i++)
    buffer_kept[i] = buffer_kept[i + 1];
  return kept.data;
}

static guint8 *
take_kept (gsize room)
{
  guint8 *data = NULL;

  pthread_mutex_lock (&buffer_lock);
  for (guint i = buffer_n_kept; i > 0 && data == NULL; i--)
    if (buffer_kept[i - 1].room == room)
      data = remove_kept (i - 1);
  pthread_mutex_unlock (&buffer_lock);
  return data;
}

/* Huge pages must begin at a multiple of their size. */
static guint8 *
map (gsize room)
{
  guint8 *data = mmap (NULL, room + BUFFER_PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    return NULL;
  gsize before = room_for ((gsize)(guintptr)data) - (gsize)(guintptr)data;
  if (before > 0)
    munmap (data, before);
  munmap (data + before + room, BUFFER_PAGE - before);
  (void)madvise (data + before, room, MADV_HUGEPAGE); /* it only saves time */
  return data + before;
}

guint8 *
buffer_take (gsize size)
{
  guint8 *data;

  if (size < BUFFER_LARGE)
    return g_try_malloc (size);
  if (size > G_MAXSIZE - 2 * BUFFER_PAGE)
    return NULL;
  data = take_kept (room_for (size));
  return data != NULL ? data : map (room_for (size));
}

void
buffer_give (guint8 *data, gsize size)
{
  Kept old[BUFFER_KEPT_COUNT + 1];
  guint n_old = 0;

  if (data == NULL || size < BUFFER_LARGE)
    {
      g_free (data);
      return;
    }
  Kept kept = { data, room_for (size) };
  if (kept.room > BUFFER_KEPT_MAX)
    {
      munmap (data, kept.room);
      return;
    }
  pthread_mutex_lock (&buffer_lock);
  while (buffer_n_kept == BUFFER_KEPT_COUNT || buffer_kept_bytes + kept.room > BUFFER_KEPT_MAX)
    {
      old[n_old++] = buffer_kept[0];
      remove_kept (0);
    }
  buffer_kept[buffer_n_kept++] = kept;
  buffer_kept_bytes += kept.room;
  pthread_mutex_unlock (&buffer_lock);
  for (guint i = 0; i < n_old; i++)
    munmap (old[i].data, old[i].room);
}

typedef struct
{
  guint8 *data;
  gsize size;
} Owned;

static void
give_owned (gpointer data)
{
  Owned *owned = data;

  buffer_give (owned->data, owned->size);
  g_free (owned);
}

GBytes *
buffer_to_bytes (guint8 *data, gsize size)
{
  Owned *owned;

  if (size < BUFFER_LARGE)
    return g_bytes_new_take (data, size);
  owned = g_new (Owned, 1);
  *owned = (Owned){ data, size };
  return g_bytes_new_with_free_func (data, size, give_owned, owned);
}

GBytes *
buffer_slice (GBytes *bytes, gsize start, gsize size)
{
  const guint8 *data = g_bytes_get_data (bytes, NULL);
  guint8 *copy;

  if (size == 0)
    return g_bytes_new (NULL, 0); /* without a reference to all of `bytes` */
  if ((guintptr)(data + start) % BUFFER_ALIGN == 0)
    return g_bytes_new_from_bytes (bytes, start, size);
  copy = buffer_take (size);
  if (copy == NULL)
    g_error ("no memory for %" G_GSIZE_FORMAT " bytes", size);
  memcpy (copy, data + start, size);
  return buffer_to_bytes (copy, size);
}
