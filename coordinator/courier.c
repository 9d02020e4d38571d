/* SPDX-License-Identifier: BSD-3-Clause */
/* See courier.h. Each upload has a thread of its own, which is joined when its result is taken. So
 * `place` and `there` belong to that thread while it runs, and to the caller otherwise. Does not
 * interpret the files. */
#include "coordinator/courier.h"

#include "coordinator/pair.h"

#include "host/crash.h"

#include "storage/places/place.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define START_US (8 * G_USEC_PER_SEC)
#define TRIAL_BYTES 512
/* How often the place is searched for leftovers of other writers, and the age at which an unchanged
 * leftover is removed. */
#define SWEEP_EVERY_US (5 * 60 * G_USEC_PER_SEC)
#define SWEEP_OLD_US (10 * 60 * G_USEC_PER_SEC)

struct Courier
{
  Place *place;
  char *stage, *delta; /* `delta`: the file beside the stage */
  void (*done) (void *data);
  void *data;
  PlacePair there;      /* the files at the place, as far as known */
  gboolean takes_delta; /* the delta at the place is ours, and the next base contains it */

  gint state;      /* atomic: a CourierState */
  GThread *thread; /* (nullable) tests the place or uploads; uses `error` until it is joined */
  gint64 sweep_us; /* time of the next search for leftovers; there is none at the end */
  gint hurries;    /* atomic */
  Publication made;
  GError *error;
};

CourierState
courier_state_after (CourierState from, CourierEvent event)
{
  static const CourierState table[COURIER_STATES][COURIER_EVENTS] = {
    [COURIER_TRYING] = { [COURIER_ON_TRIED] = COURIER_IDLE },
    [COURIER_IDLE] = { [COURIER_ON_SEND] = COURIER_BUSY },
    [COURIER_BUSY] = { [COURIER_ON_SENT] = COURIER_SENT,
                       [COURIER_ON_CHANGED] = COURIER_CHANGED,
                       [COURIER_ON_FAILED] = COURIER_FAILED },
    [COURIER_SENT] = { [COURIER_ON_TAKE] = COURIER_IDLE },
    [COURIER_CHANGED] = { [COURIER_ON_TAKE] = COURIER_IDLE },
    [COURIER_FAILED] = { [COURIER_ON_TAKE] = COURIER_IDLE },
  };

  return table[from][event];
}

static CourierState
state_of (const Courier *courier)
{
  return (CourierState)g_atomic_int_get (&courier->state);
}

/* In the caller's thread; in the courier's while the state is BUSY. */
static void
move (Courier *courier, CourierEvent event)
{
  CourierState to = courier_state_after (state_of (courier), event);

  g_assert (to != COURIER_NONE);
  g_atomic_int_set (&courier->state, to);
}

static gboolean
take_error (GError **error, GError *reason)
{
  identity_take_error (error, reason);
  return FALSE;
}

/* Moves a copy that was downloaded before to the stage. If the file has been removed from the place
 * since, the copy is all that is left, and the next publication uploads it again. */
static gboolean
take_copy (Courier *courier, const char *copy, GError **error)
{
  PlaceState *base = &courier->there.base;

  if (base->exists || place_has_copy (courier->place, copy, base))
    place_move_copy (copy, courier->stage);
  if (base->exists && g_access (courier->stage, R_OK) != 0)
    {
      g_set_error (error, PLACE_ERROR, PLACE_ERROR_LOCAL, "cannot write '%s': %s", courier->stage,
                   g_strerror (errno));
      return FALSE;
    }
  place_forget_copy (copy);
  return TRUE;
}

/* A copy that was downloaded before is used if the file is still the same. */
static gboolean
fetch (Courier *courier, const char *copy, GError **error)
{
  const char *to = copy != NULL ? copy : courier->stage;

  place_pair_clear (&courier->there);
  courier->takes_delta = FALSE;
  return place_refresh (courier->place, to, &courier->there, error)
         && (copy == NULL || take_copy (courier, copy, error));
}

static gpointer
try_place (gpointer data)
{
  Courier *courier = data;
  guint64 us;

  (void)place_trial (courier->place, TRIAL_BYTES, &us, &courier->error);
  return NULL;
}

/* FALSE, once: the place cannot be written. */
static gboolean
end_trial (Courier *courier, GError **error)
{
  if (state_of (courier) != COURIER_TRYING)
    return TRUE;
  g_thread_join (g_steal_pointer (&courier->thread));
  move (courier, COURIER_ON_TRIED);
  if (courier->error == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&courier->error));
  return FALSE;
}

gboolean
courier_is_ready (Courier *courier, GError **error)
{
  GError *reason = NULL;

  if (!end_trial (courier, &reason))
    return take_error (error, reason);
  place_set_limit (courier->place, 0);
  return TRUE;
}

Courier *
courier_new (const char *uri, const char *stage, const char *copy, void (*done) (void *data),
             void *data, GError **error)
{
  GError *reason = NULL;
  Place *place = place_open (uri, &reason);
  Courier *courier;

  if (place == NULL)
    {
      identity_take_error (error, reason);
      return NULL;
    }
  courier = g_new0 (Courier, 1);
  courier->place = place;
  courier->stage = g_strdup (stage);
  courier->delta = pair_delta_path (stage);
  courier->done = done;
  courier->data = data;
  place_set_limit (place, g_get_monotonic_time () + START_US);
  courier->state = COURIER_TRYING;
  courier->thread = g_thread_new ("trial", try_place, courier);
  if (end_trial (courier, &reason) && fetch (courier, copy, &reason))
    return courier;
  identity_take_error (error, reason);
  courier_free (courier);
  return NULL;
}

void
courier_set_writer (Courier *courier, const char *run, guint term)
{
  place_set_writer (courier->place, run, term);
}

void
courier_free (Courier *courier)
{
  if (courier == NULL)
    return;
  place_stop (courier->place);
  (void)end_trial (courier, NULL);
  if (courier->thread != NULL)
    g_thread_join (courier->thread);
  g_clear_error (&courier->error);
  place_free (courier->place);
  place_pair_clear (&courier->there);
  place_forget_copy (courier->stage);
  g_free (courier->stage);
  g_free (courier->delta);
  g_free (courier);
}

const char *
courier_name (const Courier *courier)
{
  return place_name (courier->place);
}

gboolean
courier_is_marked (const Courier *courier)
{
  return courier->there.base.has_delta;
}

guint64
courier_sent (const Courier *courier)
{
  guint64 sent, received;

  place_traffic (courier->place, &sent, &received);
  return sent;
}

/* Downloads the file that another writer has put there. */
static CourierEvent
give_way (Courier *courier, GError **error)
{
  return fetch (courier, NULL, error) ? COURIER_ON_CHANGED : COURIER_ON_FAILED;
}

/* Removes the delta, once the base was read back unchanged and if the delta is the one that the
 * base contains. Nothing is lost while both are there, so a failure is repeated after the next
 * base. */
static CourierEvent
remove_delta (Courier *courier, GError **error)
{
  g_autoptr (GError) reason = NULL;
  g_autofree char *back = g_strconcat (courier->stage, ".back", NULL);
  gboolean is_same;

  crash_point ("read-back");
  if (!place_holds (courier->place, "", courier->stage, back, &is_same, NULL) || !is_same)
    return COURIER_ON_SENT;
  crash_point ("remove-delta");
  if (place_remove (courier->place, PLACE_DELTA, &courier->there.delta, &reason))
    {
      crash_point ("removed-delta");
      place_state_clear (&courier->there.delta);
      courier->takes_delta = FALSE;
      return COURIER_ON_SENT;
    }
  if (g_error_matches (reason, PLACE_ERROR, PLACE_ERROR_CHANGED))
    return give_way (courier, error);
  return COURIER_ON_SENT;
}

/* Looks first, which is cheap. place_put notices a change after the look. */
static CourierEvent
carry (Courier *courier, GError **error)
{
  const Publication *made = &courier->made;
  PlaceState now = { 0 }, sent = { 0 };
  PlaceState *there = made->is_delta ? &courier->there.delta : &courier->there.base;
  GError *reason = NULL;
  gboolean is_known;

  if (!place_look (courier->place, "", &now, error))
    return COURIER_ON_FAILED;
  is_known = place_state_equal (&now, &courier->there.base);
  if (!now.exists) /* a removed base is uploaded again; a delta is useless without its base */
    {
      place_state_clear (&courier->there.base);
      is_known = !made->is_delta;
    }
  place_state_clear (&now);
  if (!is_known)
    return give_way (courier, error);
  if (made->is_delta)
    crash_point ("send-delta");
  else
    crash_point ("send");
  if (place_put (courier->place, made->is_delta ? PLACE_DELTA : "",
                 made->is_delta ? courier->delta : courier->stage, there, &sent, &reason))
    {
      if (made->is_delta)
        crash_point ("sent-delta");
      else
        crash_point ("sent");
      sent.has_delta = made->may_get_delta;
      place_state_clear (there);
      *there = sent;
      return courier->takes_delta && !made->is_delta && courier->there.delta.exists
                 ? remove_delta (courier, error)
                 : COURIER_ON_SENT;
    }
  if (!g_error_matches (reason, PLACE_ERROR, PLACE_ERROR_CHANGED))
    {
      g_propagate_error (error, reason);
      return COURIER_ON_FAILED;
    }
  g_clear_error (&reason);
  return give_way (courier, error);
}

static gpointer
run (gpointer data)
{
  Courier *courier = data;

  place_ask_again (courier->place);
  CourierEvent end = carry (courier, &courier->error);
  if (end == COURIER_ON_SENT && !g_atomic_int_get (&courier->hurries)
      && g_get_monotonic_time () >= courier->sweep_us)
    {
      (void)place_sweep (courier->place, SWEEP_OLD_US, NULL);
      courier->sweep_us = g_get_monotonic_time () + SWEEP_EVERY_US;
    }
  move (courier, end);
  courier->done (courier->data);
  return NULL;
}

void
courier_send (Courier *courier, const Publication *made)
{
  const char *path = made->is_delta ? courier->delta : courier->stage;

  move (courier, COURIER_ON_SEND);
  courier->made = *made;
  /* A delta that we upload counts as ours, as one that was united does. */
  courier->takes_delta = courier->takes_delta || made->takes_delta || made->is_delta;
  place_change_copy (path);
  courier->thread = g_thread_new ("courier", run, courier);
}

CourierState
courier_take (Courier *courier, GError **error)
{
  CourierState state = state_of (courier);

  if (state == COURIER_IDLE || state == COURIER_BUSY)
    return state;
  move (courier, COURIER_ON_TAKE);
  g_thread_join (g_steal_pointer (&courier->thread));
  if (state == COURIER_FAILED)
    (void)take_error (error, g_steal_pointer (&courier->error));
  return state;
}

void
courier_hurry (Courier *courier, int seconds)
{
  g_atomic_int_set (&courier->hurries, TRUE);
  place_set_patience (courier->place, seconds);
}

char *
courier_keep_aside (Courier *courier, const char *path, const char *word, GError **error)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *time = g_date_time_format (now, "%Y%m%dT%H%M%SZ");
  g_autofree char *suffix
      = g_strdup_printf ("%s.%s-%s", path + strlen (courier->stage), word, time);
  GError *reason = NULL;

  g_assert (g_str_has_prefix (path, courier->stage));
  if (!courier_is_ready (courier, error))
    return NULL;
  g_assert (state_of (courier) == COURIER_IDLE);
  if (place_put (courier->place, suffix, path, NULL, NULL, &reason))
    return g_strconcat (courier_name (courier), suffix, NULL);
  identity_take_error (error, reason);
  return NULL;
}
