/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of copies of a place's files: the store in memory (shelf.h), files with
 * SQLite's header, and a replaced clock that counts waits instead of waiting. Each test program
 * includes it once. */
#pragma once

#include "in-memory.h"
#include "shelf.h"

#include "storage/places/place.h"

#include <glib/gstdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES 4096u
#define LARGE_PAGES 1100u
#define SMALL_PAGES 20u

static gint64 now_us = 1000000; /* Atomic. */

gint64
g_get_monotonic_time (void)
{
  return __atomic_load_n (&now_us, __ATOMIC_SEQ_CST);
}

void
g_usleep (gulong us)
{
  struct timespec pause = { .tv_nsec = 200 * 1000 };
  (void)nanosleep (&pause, NULL); /* The test really waits for other threads. */
  __atomic_fetch_add (&now_us, (gint64)us, __ATOMIC_SEQ_CST);
}

typedef struct
{
  const char *name, *uri;
} Kind;

static const Kind kinds[] = {
  { .name = "sftp", .uri = "sftp://me@shelf/files/a.db" },
  { .name = "ftp", .uri = "ftp://shelf/files/a.db" },
  { .name = "http", .uri = "http://shelf/files/a.db" },
  { .name = "s3", .uri = "s3://files/a.db" },
};

typedef struct
{
  const Kind *kind;
  char *folder, *to, *to_delta, *tag, *moved;
} Fixture;

static inline void
begin (Fixture *f, const Kind *kind)
{
  shelf_clear ();
  shelf_renames_over (TRUE);
  g_test_message ("%s", kind->name);
  *f = (Fixture){ .kind = kind, .folder = g_dir_make_tmp ("satin-copy-XXXXXX", NULL) };
  f->to = g_build_filename (f->folder, "copy", NULL);
  f->to_delta = g_strconcat (f->to, PLACE_DELTA, NULL);
  f->tag = g_strconcat (f->to, ".tag", NULL);
  f->moved = g_build_filename (f->folder, "moved", NULL);
}

static inline void
end (Fixture *f)
{
  place_forget_copy (f->to);
  place_forget_copy (f->moved);
  g_assert_cmpint (g_rmdir (f->folder), ==, 0); /* No other file is left. */
  g_free (f->folder);
  g_free (f->to);
  g_free (f->to_delta);
  g_free (f->tag);
  g_free (f->moved);
}

static inline void
write_big (guint8 *at, guint32 number)
{
  number = GUINT32_TO_BE (number);
  memcpy (at, &number, sizeof number);
}

/* (transfer full) A file with SQLite's header: `letter` fills its pages, `number` is in its
 * header. */
static inline GBytes *
make_file (guint n_pages, char letter, guint number, gboolean has_delta)
{
  gsize size = (gsize)n_pages * PAGE_BYTES;
  guint8 *bytes = g_malloc0 (size);
  guint32 mark = place_mark (number, has_delta);
  for (gsize i = 100; i < size; i++)
    bytes[i] = (guint8)(letter + (int)((i * 2654435761u) >> 27));
  memcpy (bytes, "SQLite format 3", 16);
  bytes[16] = PAGE_BYTES >> 8;
  write_big (bytes + 28, n_pages);
  memcpy (bytes + PLACE_MARK_AT, &mark, sizeof mark);
  return g_bytes_new_take (bytes, size);
}

static inline void
put (const char *path, GBytes *bytes)
{
  shelf_put (path, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

static inline gboolean
is_file (const char *path, GBytes *bytes)
{
  g_autofree char *data = NULL;
  gsize size;
  return g_file_get_contents (path, &data, &size, NULL) && size == g_bytes_get_size (bytes)
         && memcmp (data, g_bytes_get_data (bytes, NULL), size) == 0;
}

static inline Place *
place_at (const Kind *kind)
{
  g_autoptr (GError) error = NULL;
  Place *place = place_new (kind->uri, TRUE, &error);
  g_assert_no_error (error);
  return place;
}

static inline gboolean
refresh (const Fixture *f, PlacePair *pair, GError **error)
{
  g_autoptr (Place) place = place_at (f->kind);
  *pair = (PlacePair){ 0 };
  return place_refresh (place, f->to, pair, error);
}

static inline void
assert_copy (const Fixture *f, GBytes *base, GBytes *delta)
{
  g_autoptr (GError) error = NULL;
  PlacePair pair;
  g_assert_true (refresh (f, &pair, &error));
  g_assert_no_error (error);
  g_assert_cmpint (pair.base.exists, ==, base != NULL);
  g_assert_cmpint (pair.delta.exists, ==, delta != NULL);
  g_assert_true (base != NULL ? is_file (f->to, base) : g_access (f->to, F_OK) != 0);
  g_assert_true (delta != NULL ? is_file (f->to_delta, delta) : g_access (f->to_delta, F_OK) != 0);
  place_pair_clear (&pair);
}

typedef struct
{
  GBytes *base, *delta;
} Newer;

static inline void
put_newer (gpointer data)
{
  Newer *newer = data;
  put ("/files/a.db", newer->base);
  if (newer->delta != NULL)
    put ("/files/a.db-delta", newer->delta);
}

static inline void
copies_set_up (void)
{
  files_in_memory ();
  g_setenv ("AWS_ACCESS_KEY_ID", "ONE", TRUE);
  g_setenv ("AWS_SECRET_ACCESS_KEY", "TWO", TRUE);
  g_setenv ("AWS_ENDPOINT_URL", "http://shelf/", TRUE);
}
