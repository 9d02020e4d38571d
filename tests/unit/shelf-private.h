/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by shelf.c (libcurl's functions and those for tests) and shelf-store.c (the content, and
 * how each kind of store answers a request). */
#pragma once

#include "shelf.h"

#include "storage/places/place-private.h"

#undef curl_easy_setopt
#undef curl_easy_getinfo

#define SHELF_CHUNK 16384 /* libcurl hands over at most this much at a time. */

typedef struct
{
  GBytes *bytes; /* NULL: a folder. */
  guint version;
} ShelfItem;

typedef struct
{
  GMutex lock;
  gint n_busy;       /* Atomic. */
  GHashTable *items; /* Path to ShelfItem. */
  guint versions, requests, calls, between_at;
  ShelfFault fault;
  guint first, last;
  gboolean has_failed, renames_over, makes_no_folders, knows_no_tags;
  long status;
  int code;
  void (*between) (gpointer data);
  gpointer between_data;
  void (*during) (gpointer data); /* NULL: it was already called. */
  gpointer during_data;
  gsize during_after;
  void (*each_chunk) (void); /* (nullable) */
  gboolean tags_are_weak, puts_tell_no_tags;
  GHashTable *options; /* Of the last request: number to text. */
} Shelf;
extern Shelf shelf;

typedef struct
{
  char *url, *method, *range;
  const struct curl_slist *headers, *commands;
  char *signs;           /* Not NULL means s3. */
  void *no_body, *sends; /* Not NULL means yes. */
  curl_write_callback write, header;
  void *write_to, *header_to, *read_from, *seek_in, *progress_of;
  curl_read_callback read;
  curl_seek_callback seek;
  curl_xferinfo_callback progress;

  gboolean is_busy; /* From the settings of the request to its end. */

  /* The outcome. */
  long status;
  curl_off_t sent;
} ShelfHandle;

/* Call all of these with the lock held. */
void shelf_put_item (const char *path, GBytes *bytes); /* Takes `bytes`; NULL: a folder. */
void shelf_item_free (gpointer item);
/* Calls the function of shelf_during once, with the lock released. */
void shelf_call_during (void);
/* Ends a request with this code; http: with the page that servers send with an error. */
CURLcode shelf_refuse (ShelfHandle *handle, CURLcode code);
/* Carries out a request; with `half` its connection ends in the middle. */
CURLcode shelf_run (ShelfHandle *handle, gboolean half);
