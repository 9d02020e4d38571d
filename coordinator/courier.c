/* SPDX-License-Identifier: BSD-3-Clause */
/* See courier.h. One thread for each sending, which is joined when its end is taken; so `place` and
 * `there` belong to the thread while it runs and to the caller otherwise. Must not know what files
 * hold. */
#include "coordinator/courier.h"

#include "storage/crash.h"
#include "storage/place.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define START_US (8 * G_USEC_PER_SEC)
#define HURRY_S 10
#define TRIAL_BYTES 512

struct Courier
{
  Place *place;
  char *stage;
  void (*done) (void *data);
  void *data;
  PlaceState there; /* what stands at the place as far as we know */

  GThread *thread; /* NULL: idle */
  gint has_ended;  /* atomic */
  CourierState result;
  GError *error;
};

static gboolean
take_error (GError **error, GError *reason)
{
  identity_take_error (error, reason);
  return FALSE;
}

/* What somebody brought before is as good as what would be brought now, if it is the same. */
static gboolean
fetch (Courier *courier, const char *copy, GError **error)
{
  const char *to = copy != NULL ? copy : courier->stage;

  place_state_clear (&courier->there);
  if (!place_refresh (courier->place, to, &courier->there, error))
    return FALSE;
  if (courier->there.exists && copy != NULL && g_rename (copy, courier->stage) != 0)
    {
      g_set_error (error, PLACE_ERROR, PLACE_ERROR_LOCAL, "cannot write '%s': %s", courier->stage,
                   g_strerror (errno));
      return FALSE;
    }
  if (copy != NULL)
    place_forget_copy (copy);
  return TRUE;
}

Courier *
courier_new (const char *uri, const char *stage, const char *copy, void (*done) (void *data),
             void *data, GError **error)
{
  GError *reason = NULL;
  Place *place = place_open (uri, &reason);
  Courier *courier;
  guint64 us;

  if (place == NULL)
    {
      identity_take_error (error, reason);
      return NULL;
    }
  courier = g_new0 (Courier, 1);
  courier->place = place;
  courier->stage = g_strdup (stage);
  courier->done = done;
  courier->data = data;
  place_set_limit (place, g_get_monotonic_time () + START_US);
  if (place_trial (place, TRIAL_BYTES, &us, &reason) && fetch (courier, copy, &reason))
    {
      place_set_limit (place, 0);
      return courier;
    }
  identity_take_error (error, reason);
  courier_free (courier);
  return NULL;
}

void
courier_free (Courier *courier)
{
  if (courier == NULL)
    return;
  place_stop (courier->place);
  if (courier->thread != NULL)
    g_thread_join (courier->thread);
  g_clear_error (&courier->error);
  place_free (courier->place);
  place_state_clear (&courier->there);
  place_forget_copy (courier->stage);
  g_free (courier->stage);
  g_free (courier);
}

const char *
courier_name (const Courier *courier)
{
  return place_name (courier->place);
}

static gboolean
is_known (const Courier *courier, const PlaceState *now)
{
  return now->exists == courier->there.exists && g_strcmp0 (now->tag, courier->there.tag) == 0;
}

/* Looking first is cheap; what comes between is seen by place_put. */
static CourierState
carry (Courier *courier, GError **error)
{
  PlaceState now = { 0 }, sent = { 0 };
  GError *reason = NULL;
  gboolean has_changed;

  if (!place_look (courier->place, "", &now, error))
    return COURIER_FAILED;
  /* What was removed is put there again. */
  has_changed = now.exists && !is_known (courier, &now);
  if (!has_changed)
    {
      place_state_clear (&courier->there);
      courier->there = now;
      crash_point ("send");
      if (place_put (courier->place, "", courier->stage, &courier->there, &sent, &reason))
        {
          crash_point ("sent");
          place_state_clear (&courier->there);
          courier->there = sent;
          return COURIER_SENT;
        }
      if (!g_error_matches (reason, PLACE_ERROR, PLACE_ERROR_CHANGED))
        {
          g_propagate_error (error, reason);
          return COURIER_FAILED;
        }
      g_clear_error (&reason);
    }
  else
    place_state_clear (&now);
  return fetch (courier, NULL, error) ? COURIER_CHANGED : COURIER_FAILED;
}

static gpointer
run (gpointer data)
{
  Courier *courier = data;

  courier->result = carry (courier, &courier->error);
  g_atomic_int_set (&courier->has_ended, 1);
  courier->done (courier->data);
  return NULL;
}

void
courier_send (Courier *courier, guint64 generation)
{
  g_assert (courier->thread == NULL);

  (void)place_number (courier->stage, (guint32)generation);
  g_atomic_int_set (&courier->has_ended, 0);
  courier->thread = g_thread_new ("courier", run, courier);
}

CourierState
courier_take (Courier *courier, GError **error)
{
  if (courier->thread == NULL)
    return COURIER_IDLE;
  if (!g_atomic_int_get (&courier->has_ended))
    return COURIER_BUSY;
  g_thread_join (g_steal_pointer (&courier->thread));
  if (courier->result == COURIER_FAILED)
    (void)take_error (error, g_steal_pointer (&courier->error));
  return courier->result;
}

void
courier_hurry (Courier *courier)
{
  place_set_patience (courier->place, HURRY_S);
}

char *
courier_keep_aside (Courier *courier, const char *word, GError **error)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *time = g_date_time_format (now, "%Y%m%dT%H%M%SZ");
  g_autofree char *suffix = g_strdup_printf (".%s-%s", word, time);
  GError *reason = NULL;

  g_assert (courier->thread == NULL);
  if (place_put (courier->place, suffix, courier->stage, NULL, NULL, &reason))
    return g_strconcat (courier_name (courier), suffix, NULL);
  identity_take_error (error, reason);
  return NULL;
}
