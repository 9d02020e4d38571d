/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of coordinators with a checkpoint at a URI: the store in memory (shelf.h) and
 * a clock on which long waits take no time. Each test program includes it once, together with
 * checkpoint.h. */
#pragma once

#include "checkpoint.h"
#include "shelf.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#define FAR_FILE "/files/run.ckpt"
#define FAR_DELTA FAR_FILE "-delta"
#define MS_US 1000
/* A file of FROM_BYTES may have a delta; BASE_ROWS rows make a base of about four times that. */
#define FROM_BYTES (128u * 1024)
#define BASE_ROWS 5000

typedef struct
{
  const char *name, *uri;
  gboolean renames_over;
} FarKind;

static const FarKind far_kinds[] = {
  { .name = "sftp", .uri = "sftp://me@shelf" FAR_FILE },
  { .name = "ftp", .uri = "ftp://shelf" FAR_FILE, .renames_over = TRUE },
  { .name = "http", .uri = "http://shelf" FAR_FILE },
  { .name = "s3", .uri = "s3://files/run.ckpt" },
};

/* Pauses of at least this length are skipped, so that waits for a lock take no time. */
#define FAR_SKIPPED_US (20 * 1000)
#define FAR_REST_US (2 * 1000) /* The part of a skipped rest that is really slept. */
#define FAR_REST_MAX_US (120 * G_USEC_PER_SEC)
static gint64 far_skipped_us; /* Atomic. */
static gint far_sleeps;       /* Atomic: TRUE: all pauses are made. */
static gint64 far_stopped_us; /* Atomic: when real time was stopped; 0: it passes. */

static gint64
far_real_us (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (gint64)now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000;
}

/* For figures that a busy machine must not change: only skipped time counts. */
static inline void
far_stop_clock (void)
{
  __atomic_store_n (&far_stopped_us, far_real_us (), __ATOMIC_SEQ_CST);
}

/* Real time counts again; what has passed counts, too. */
static inline void
far_start_clock (void)
{
  __atomic_store_n (&far_stopped_us, 0, __ATOMIC_SEQ_CST);
}

gint64
g_get_monotonic_time (void)
{
  gint64 stopped_us = __atomic_load_n (&far_stopped_us, __ATOMIC_SEQ_CST);
  return (stopped_us > 0 ? stopped_us : far_real_us ())
         + __atomic_load_n (&far_skipped_us, __ATOMIC_SEQ_CST);
}

void
g_usleep (gulong us)
{
  struct timespec pause = { .tv_nsec = (long)us * 1000 };
  if (us >= FAR_SKIPPED_US && !g_atomic_int_get (&far_sleeps))
    __atomic_fetch_add (&far_skipped_us, (gint64)us, __ATOMIC_SEQ_CST);
  else
    (void)nanosleep (&pause, NULL); /* No sleep in the tested code is a second long. */
}

/* A coordinator's rests after a failure or because of a slow store are skipped, too. They are not
 * while the store handles a request, since the store would then seem silent. */
int
pthread_cond_timedwait (pthread_cond_t *cond, pthread_mutex_t *lock,
                        const struct timespec *deadline)
{
  gint64 us = (gint64)deadline->tv_sec * G_USEC_PER_SEC + deadline->tv_nsec / 1000;
  gint64 left_us = us - g_get_monotonic_time ();
  gboolean skips
      = left_us > FAR_REST_US && left_us < FAR_REST_MAX_US && !g_atomic_int_get (&far_sleeps);
  gboolean is_stopped = __atomic_load_n (&far_stopped_us, __ATOMIC_SEQ_CST) > 0;
  left_us = MAX (left_us, 0);
  gint64 slept_us = skips ? FAR_REST_US : left_us;
  us = far_real_us () + slept_us;
  struct timespec until
      = { .tv_sec = us / G_USEC_PER_SEC, .tv_nsec = (us % G_USEC_PER_SEC) * 1000 };
  int code = pthread_cond_clockwait (cond, lock, CLOCK_MONOTONIC, &until);
  if ((skips || is_stopped) && code == ETIMEDOUT && !shelf_is_busy ())
    __atomic_fetch_add (&far_skipped_us, left_us - (is_stopped ? 0 : slept_us), __ATOMIC_SEQ_CST);
  return code;
}

/* Empties the store and sets its kind. */
static inline void
far_begin (const FarKind *kind)
{
  shelf_clear ();
  shelf_renames_over (kind->renames_over);
  g_test_message ("%s", kind->name);
}

/* A place whose checkpoint is at the store. */
static inline Place *
far_place_new (const FarKind *kind)
{
  Place *place = place_new ();
  g_free (place->target);
  place->target = g_strdup (kind->uri);
  return place;
}

static inline void
far_set_up (void)
{
  g_setenv ("AWS_ACCESS_KEY_ID", "ONE", TRUE);
  g_setenv ("AWS_SECRET_ACCESS_KEY", "TWO", TRUE);
  g_setenv ("AWS_ENDPOINT_URL", "http://shelf/", TRUE);
}

static inline ScribeConfig
far_config (Place *place, guint64 interval_us)
{
  ScribeConfig config = place_config (place, interval_us);
  config.term = 1;
  return config;
}

static inline Scribe *
far_scribe (const ScribeConfig *config, GError **error)
{
  Identity identity = identity_make ("run-1", "app", "8");
  Scribe *scribe = scribe_new (config, &identity, error);
  identity_clear (&identity);
  return scribe;
}

static inline Scribe *
far_start (Place *place, guint64 interval_us, guint64 delta_from)
{
  g_autoptr (GError) error = NULL;
  ScribeConfig config = far_config (place, interval_us);
  config.delta_from = delta_from;
  Scribe *scribe = far_scribe (&config, &error);
  g_assert_no_error (error);
  g_assert_nonnull (scribe);
  return scribe;
}

/* Checks the sorted names of everything at the store below "/files". */
static inline void
assert_names (const char *expected)
{
  g_autofree char *names = shelf_names ();
  g_assert_cmpstr (names, ==, expected);
}

static inline GBytes *
far_bytes (const char *path)
{
  GBytes *bytes = shelf_get (path);
  g_assert_nonnull (bytes);
  return bytes;
}

static inline void
far_put (const char *path, GBytes *bytes)
{
  shelf_put (path, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

static inline void
for_each_kind (void (*test) (const FarKind *kind))
{
  for (guint i = 0; i < G_N_ELEMENTS (far_kinds); i++)
    {
      far_begin (&far_kinds[i]);
      test (&far_kinds[i]);
    }
}

/* Leaves a base with a delta at the store, as a killed coordinator does. */
static inline void
far_leave_pair (const FarKind *kind, GBytes **base, GBytes **delta)
{
  far_begin (kind);
  g_autoptr (Place) place = far_place_new (kind);
  Scribe *scribe = far_start (place, MS_US, FROM_BYTES);
  save_many (scribe, 0, BASE_ROWS);
  wait_published (place, scribe);
  save_many (scribe, BASE_ROWS, 10);
  wait_published (place, scribe);
  scribe_free (scribe);
  *base = far_bytes (FAR_FILE);
  *delta = far_bytes (FAR_DELTA);
}

/* Checks that the text is one message that names the place. */
static inline void
assert_sentence (const char *text)
{
  g_test_message ("%s", text);
  g_assert_true (g_str_has_prefix (text, "checkpoint '"));
  g_assert_nonnull (strstr (text, "run.ckpt' is ") ? text : strstr (text, "run.ckpt': "));
  g_assert_null (strchr (text, '\n'));
}

/* Waits for a reported error other than slow publishing, which does not matter here. */
static inline void
wait_for_trouble (Place *place)
{
  pthread_mutex_lock (&place->lock);
  while (place->trouble == NULL || strstr (place->trouble, "publishing takes") != NULL)
    pthread_cond_wait (&place->wake, &place->lock);
  pthread_mutex_unlock (&place->lock);
}

#define FAR_FAILURES 8

typedef struct
{
  Place *place;
  guint n;
  gint64 at_us[FAR_FAILURES]; /* of the first failures since `n` was zero */
} FarFailures;

/* A scribe's notify that also notes when it was told of failures; `data`: FarFailures. */
static inline void
far_note_failure (const ScribeNews *news, void *data)
{
  FarFailures *failures = data;
  pthread_mutex_lock (&failures->place->lock);
  if ((news->kind == SCRIBE_TROUBLE || news->kind == SCRIBE_FAILED) && failures->n < FAR_FAILURES)
    failures->at_us[failures->n++] = g_get_monotonic_time ();
  pthread_mutex_unlock (&failures->place->lock);
  place_notify (news, failures->place);
}
