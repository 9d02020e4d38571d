/* SPDX-License-Identifier: BSD-3-Clause */
/* Bringing a large checkpoint in a thread, into a file that others read behind it (arrival.h). Its
 * end is asked for first: there stands what SQLite has to know before it can read anything. Then,
 * of a store that is near, the pages far behind its beginning that lie above the first rows: a tree
 * that was written in order has them where it grew by a level, and without them who reads it
 * would wait for most of the file. All are of one file when the first bytes, in which the writer
 * drew a number, are those that were seen before; and in the end the file is what came in one
 * piece. */

#include "host/whole.h"

#include "storage/places/arrival.h"
#include "storage/places/place-private.h"
#include "storage/sqlite-record.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* What is smaller is there before another process could begin. */
#define EARLY_BYTES (4 * 1024 * 1024)
#define REST_BYTES (64 * 1024)
/* The roots of all trees lie there, unless pages are so large that a tree hardly grows. */
#define FRONT_BYTES (64 * 1024)
/* One request to a store that is near. */
#define NEAR_US 20000
/* What lies in the first so many parts of the file is there soon. */
#define FAR_PARTS 8

typedef struct
{
  Place *place;
  char *to;
  PlaceState seen, got;
  /* What is brought before its turn, the end first. */
  ArrivalPart parts[ARRIVAL_PARTS_MAX];
  GByteArray *bytes[ARRIVAL_PARTS_MAX];
  guint n_parts;
  guint8 head[PLACE_TAG_BYTES];
  Bringing *bringing; /* (nullable) until the beginning is there */
  gboolean is_other, is_mixed;
  GThread *thread;

  /* With the lock. */
  gboolean is_announced, has_ended, good, is_broken_off;
  GError *error;
} Bringer;

static struct
{
  GMutex lock;
  GCond cond;
  GPtrArray *bringers; /* (nullable) */
} all;

static gboolean
announce (Bringer *bringer, int fd)
{
  for (guint i = 0; i < bringer->n_parts; i++)
    {
      const GByteArray *bytes = bringer->bytes[i];
      if (!whole_write_at (fd, bytes->data, bytes->len, bringer->parts[i].from))
        return FALSE;
    }
  g_mutex_lock (&all.lock); /* it may be moved now */
  bringer->bringing = bringing_new (bringer->to, bringer->seen.tag, bringer->seen.bytes,
                                    bringer->parts, bringer->n_parts);
  bringer->is_announced = bringer->bringing != NULL;
  g_cond_broadcast (&all.cond);
  g_mutex_unlock (&all.lock);
  return bringer->bringing != NULL;
}

/* The bytes that were brought first are those that come now. */
static gboolean
is_same (const Bringer *bringer, guint64 before, const guint8 *bytes, gsize size)
{
  for (guint i = 0; i < bringer->n_parts; i++)
    {
      const ArrivalPart *part = &bringer->parts[i];
      guint64 from = MAX (before, part->from), to = MIN (before + size, part->to);
      if (from < to
          && memcmp (bytes + (from - before), bringer->bytes[i]->data + (from - part->from),
                     (gsize)(to - from))
                 != 0)
        return FALSE;
    }
  return TRUE;
}

static gboolean
watch (gpointer data, int fd, guint64 before, const void *bytes, gsize size)
{
  Bringer *bringer = data;
  if (before < PLACE_TAG_BYTES)
    memcpy (bringer->head + before, bytes, MIN (size, PLACE_TAG_BYTES - before));
  if (bringer->is_other || before + size < PLACE_TAG_BYTES)
    return TRUE;
  if (bringer->bringing == NULL
      && (memcmp (bringer->head, bringer->seen.head, PLACE_TAG_BYTES) != 0
          || !announce (bringer, fd)))
    {
      bringer->is_other = TRUE; /* nobody reads it before it is whole */
      return TRUE;
    }
  if (!is_same (bringer, before, bytes, size))
    bringer->is_mixed = TRUE;
  bringing_note (bringer->bringing, before + size);
  return !bringer->is_mixed;
}

/* What nobody reads yet becomes a copy like any other. */
static gboolean
end_plainly (Bringer *bringer, GError **error)
{
  g_autofree char *tag_path = g_strconcat (bringer->to, ".tag", NULL);
  return !bringer->got.exists
         || (place_mark_of_file (bringer->place, bringer->to, &bringer->got, error)
             && g_file_set_contents (tag_path, bringer->got.tag, -1, error));
}

static gpointer
run (gpointer data)
{
  Bringer *bringer = data;
  GError *error = NULL;
  gboolean good;
  place_set_limit (bringer->place, 0); /* a large file takes its time */
  bringer->place->watch = watch;
  bringer->place->watch_data = bringer;
  good = place_get (bringer->place, "", bringer->to, G_MAXINT64, &bringer->got, &error);
  bringer->place->watch = NULL;
  if (bringer->is_mixed
      || (good && bringer->bringing != NULL && !place_state_equal (&bringer->got, &bringer->seen)))
    {
      g_clear_error (&error);
      good = place_fail (bringer->place, PLACE_ERROR_DOWN, &error,
                         "somebody replaced it while it was read");
    }
  g_mutex_lock (&all.lock);
  gboolean is_broken_off = bringer->is_broken_off && !good;
  g_mutex_unlock (&all.lock);
  if (is_broken_off)
    {
      g_clear_error (&error);
      place_fail (bringer->place, PLACE_ERROR_STOPPED, &error,
                  "interrupted before all of it was here; it stands there as it did");
    }
  if (bringer->bringing != NULL)
    bringing_end (g_steal_pointer (&bringer->bringing), good ? NULL : error->message);
  else if (good)
    good = end_plainly (bringer, &error);
  g_mutex_lock (&all.lock);
  bringer->good = good;
  bringer->error = error;
  bringer->has_ended = TRUE;
  g_cond_broadcast (&all.cond);
  g_mutex_unlock (&all.lock);
  return NULL;
}

static void
bringer_free (Bringer *bringer)
{
  if (bringer->place != NULL)
    place_stop (bringer->place);
  if (bringer->thread != NULL)
    g_thread_join (bringer->thread);
  g_clear_pointer (&bringer->place, place_free);
  place_state_clear (&bringer->seen);
  place_state_clear (&bringer->got);
  for (guint i = 0; i < bringer->n_parts; i++)
    g_byte_array_unref (bringer->bytes[i]);
  g_clear_error (&bringer->error);
  g_free (bringer->to);
  g_free (bringer);
}

/* (transfer full) (nullable) */
static GByteArray *
read_part (Place *place, guint64 from, guint64 to)
{
  g_autofree char *range
      = g_strdup_printf ("%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT, from, to - 1);
  PlaceRequest request = { .url = place_url (place, ""), .range = range };
  GByteArray *bytes = NULL;
  if (place->kind->prepare != NULL)
    place->kind->prepare (place, &request);
  gboolean is_http = place->kind != &place_kind_rename;
  if (place_run (place, &request, "read", NULL) && !request.enough && request.size == to - from
      && (!is_http || request.status == 206))
    bytes = g_byte_array_ref (request.body);
  place_request_clear (&request);
  return bytes;
}

/* (nullable) */
static const GByteArray *
add_part (Bringer *bringer, Place *place, guint64 from, guint64 to)
{
  GByteArray *bytes = bringer->n_parts < ARRIVAL_PARTS_MAX ? read_part (place, from, to) : NULL;
  if (bytes == NULL)
    return NULL;
  bringer->parts[bringer->n_parts] = (ArrivalPart){ from, to };
  bringer->bytes[bringer->n_parts++] = bytes;
  return bytes;
}

/* What lies below a page of the front, and first below that, as long as it is far away. */
static void
add_pages (Bringer *bringer, Place *place)
{
  const PlaceState *seen = &bringer->seen;
  guint64 page_size = seen->page_size;
  GByteArray *front = read_part (place, 0, FRONT_BYTES);
  for (guint64 at = page_size; front != NULL && page_size > 0 && at + page_size <= FRONT_BYTES;
       at += page_size)
    {
      const guint8 *page = front->data + at;
      while (page != NULL)
        {
          guint64 number = record_first_below (page, page_size);
          guint64 to = number * page_size, from = to - MIN (to, page_size);
          const GByteArray *below = from > seen->bytes / FAR_PARTS && to <= bringer->parts[0].from
                                        ? add_part (bringer, place, from, to)
                                        : NULL;
          page = below != NULL ? below->data : NULL;
        }
    }
  if (front != NULL)
    g_byte_array_unref (front);
}

gboolean
place_is_coming (const char *to, const PlaceState *state)
{
  g_autoptr (Arrival) arrival = state->exists ? arrival_open (to) : NULL;
  return arrival != NULL && strcmp (arrival_tag (arrival), state->tag) == 0;
}

/* With the lock. Takes what was brought to an end before anybody could read it. */
static gboolean
take_ended (Bringer *bringer, PlaceState *state, GError **error)
{
  g_ptr_array_remove_fast (all.bringers, bringer);
  gboolean good = bringer->good;
  place_state_clear (state);
  if (good)
    {
      *state = bringer->got;
      bringer->got = (PlaceState){ 0 };
    }
  else
    g_propagate_error (error, g_steal_pointer (&bringer->error));
  return good;
}

gboolean
place_bring (Place **place, const char *to, PlaceState *state, GError **error)
{
  guint64 from = state->bytes - MIN (state->bytes, REST_BYTES);
  if (state->bytes < EARLY_BYTES || strchr (state->tag, '\n') != NULL)
    return FALSE;
  Bringer *bringer = g_new0 (Bringer, 1);
  bringer->seen = *state;
  bringer->seen.tag = g_strdup (state->tag);
  gint64 began_us = g_get_monotonic_time ();
  if (add_part (bringer, *place, from, state->bytes) == NULL)
    {
      place_state_clear (&bringer->seen);
      g_free (bringer);
      return FALSE;
    }
  if (g_get_monotonic_time () - began_us <= NEAR_US)
    add_pages (bringer, *place);
  bringer->place = g_steal_pointer (place);
  bringer->to = g_strdup (to);
  bringer->thread = g_thread_new ("bring", run, bringer);
  g_mutex_lock (&all.lock);
  if (all.bringers == NULL)
    all.bringers = g_ptr_array_new ();
  g_ptr_array_add (all.bringers, bringer);
  while (!bringer->is_announced && !bringer->has_ended)
    g_cond_wait (&all.cond, &all.lock);
  gboolean is_coming = bringer->is_announced;
  gboolean good = is_coming || take_ended (bringer, state, error);
  g_mutex_unlock (&all.lock);
  if (!is_coming)
    {
      g_thread_join (g_steal_pointer (&bringer->thread));
      *place = g_steal_pointer (&bringer->place);
      bringer_free (bringer);
    }
  return good;
}

/* With the lock. (nullable) */
static Bringer *
find (const char *to)
{
  for (guint i = 0; all.bringers != NULL && i < all.bringers->len; i++)
    if (strcmp (((Bringer *)all.bringers->pdata[i])->to, to) == 0)
      return all.bringers->pdata[i];
  return NULL;
}

void
place_bring_moved (const char *from, const char *to)
{
  g_mutex_lock (&all.lock);
  Bringer *bringer = find (from);
  if (bringer != NULL)
    {
      g_free (bringer->to);
      bringer->to = g_strdup (to);
    }
  g_mutex_unlock (&all.lock);
}

void
place_bring_forget (const char *to)
{
  g_mutex_lock (&all.lock);
  Bringer *bringer = find (to);
  if (bringer != NULL)
    g_ptr_array_remove_fast (all.bringers, bringer);
  g_mutex_unlock (&all.lock);
  if (bringer != NULL)
    bringer_free (bringer);
}

gboolean
place_bring_break (void)
{
  gboolean is_any = FALSE;
  g_mutex_lock (&all.lock);
  for (guint i = 0; all.bringers != NULL && i < all.bringers->len; i++)
    {
      Bringer *bringer = all.bringers->pdata[i];
      if (bringer->has_ended)
        continue;
      bringer->is_broken_off = is_any = TRUE;
      place_stop (bringer->place);
    }
  g_mutex_unlock (&all.lock);
  return is_any;
}

void
place_bring_end (void)
{
  g_mutex_lock (&all.lock);
  GPtrArray *bringers = g_steal_pointer (&all.bringers);
  g_mutex_unlock (&all.lock);
  for (guint i = 0; bringers != NULL && i < bringers->len; i++)
    bringer_free (bringers->pdata[i]);
  if (bringers != NULL)
    g_ptr_array_unref (bringers);
}

char *
place_bring_failure (void)
{
  char *failure = NULL;
  g_mutex_lock (&all.lock);
  for (guint i = 0; all.bringers != NULL && i < all.bringers->len && failure == NULL; i++)
    {
      const Bringer *bringer = all.bringers->pdata[i];
      if (bringer->has_ended && !bringer->good)
        failure = g_strdup (bringer->error->message);
    }
  g_mutex_unlock (&all.lock);
  return failure;
}
