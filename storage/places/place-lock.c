/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks at stores that cannot compare: a folder "NAME.lock", which only one writer can make, and in
 * it a folder that names the owner: the mark of its process, term and run, writer. So a writer that
 * finds the lock knows whether the owner is dead. If this is unknown, it waits ten seconds. Knows
 * nothing of protocols. Tests: test-place-lock. */

#include "host/process.h"

#include "storage/places/place-private.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOCK_US (10 * G_USEC_PER_SEC)
#define LOCK_PAUSE_US (125 * 1000)
#define NOBODY_US (2 * G_USEC_PER_SEC) /* a lock has no owner's name for a moment */
#define IMPOSSIBLE_TIMES 3 /* the maker of a lock is between its two folders for a moment */
#define OWNER "satin-by-"
#define OWNER_BYTES G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-"
#define RUN_LENGTH_MAX 64

typedef struct
{
  ProcessMark process;
  char run[RUN_LENGTH_MAX + 1];
  guint term;
} Owner;

static char *
own_name (const Place *place)
{
  const char *writer = strchr (place->token, '.');
  g_autofree char *mark = process_mark (getpid ());

  return g_strdup_printf (OWNER "%s-%u-%s-%s", mark, place->term,
                          place->run != NULL ? place->run : "0",
                          writer != NULL ? writer + 1 : place->token);
}

static gboolean
read_owner (const char *name, Owner *owner)
{
  gsize mark = 0;

  *owner = (Owner){ .term = 0 };
  if (name != NULL && g_str_has_prefix (name, OWNER))
    mark = process_read_mark (name + strlen (OWNER), &owner->process);
  return mark > 0
         && sscanf (name + strlen (OWNER) + mark, "-%u-%64[0-9a-zA-Z]", &owner->term, owner->run)
                == 2;
}

/* TRUE: the lock's owner is dead, or a writer of this run that was deposed. A deposed writer can
 * only have one old lock. Once this writer has locked the file itself, such a lock is of a live
 * writer, as after a split. */
static gboolean
is_dead (const Place *place, const char *suffix, const char *name)
{
  Owner owner;

  if (!read_owner (name, &owner))
    return FALSE;
  if (strcmp (name, place->lock_owner) == 0) /* this writer's lock, whose removal did not reach the
                                              * store */
    return TRUE;
  ProcessState state = process_state (&owner.process);
  if (state != PROCESS_ELSEWHERE)
    return state == PROCESS_DEAD;
  return place->run != NULL && strcmp (owner.run, place->run) == 0 && owner.term < place->term
         && !place->has_locked[*suffix != '\0'];
}

static gboolean
is_missing (const PlaceRequest *request)
{
  return request->code == CURLE_REMOTE_FILE_NOT_FOUND || request->status == 404
         || request->status == 550;
}

/* The owner's name; "": the lock has none, or does not exist. (transfer full) (nullable): NULL: it
 * cannot be read. */
static char *
owner_of (Place *place, const char *lock)
{
  g_autofree char *folder = g_strconcat (lock, "/", NULL);
  PlaceRequest request = { .url = place_url (place, folder) };
  char *name = NULL;

  if (place->kind->list (place, &request, NULL))
    {
      const char *found;

      g_byte_array_append (request.body, (const guint8 *)"", 1);
      found = strstr ((const char *)request.body->data, OWNER);
      name = found == NULL ? g_strdup ("") : g_strndup (found, strspn (found, OWNER_BYTES));
    }
  else if (is_missing (&request))
    name = g_strdup ("");
  place_request_clear (&request);
  return name;
}

static gboolean
take (Place *place, const char *suffix, const char *lock)
{
  if (!place->kind->lock (place, lock, place->lock_owner))
    return FALSE;
  place->has_locked[*suffix != '\0'] = TRUE;
  place->had_no_lock = FALSE;
  return TRUE;
}

void
place_set_writer (Place *place, const char *run, guint term)
{
  GString *clean = g_string_new (NULL);

  for (const char *c = run; *c != '\0' && clean->len < RUN_LENGTH_MAX; c++)
    if (g_ascii_isalnum (*c))
      g_string_append_c (clean, *c);
  g_free (place->run);
  place->run = g_string_free (clean, FALSE);
  place->term = term;
}

/* Removes a lock whose owner is dead, that has had no owner's name for too long, or for which this
 * writer has waited long enough (`is_over`). TRUE: it was removed. `nobody_us`: since when it has
 * no owner's name; 0: it has one. */
static gboolean
clear_away (Place *place, const char *suffix, const char *lock, gboolean is_over, gint64 *nobody_us)
{
  g_autofree char *owner = owner_of (place, lock);
  gint64 now_us = g_get_monotonic_time ();
  gboolean is_nobody = owner != NULL && *owner == '\0';

  *nobody_us = !is_nobody ? 0 : *nobody_us == 0 ? now_us : *nobody_us;
  if (!is_over && !is_dead (place, suffix, owner)
      && !(is_nobody && now_us - *nobody_us >= NOBODY_US))
    return FALSE;
  return place->kind->unlock (place, lock, is_nobody ? NULL : owner);
}

/* TRUE: the lock could not be made, and does not exist. */
static gboolean
is_impossible (Place *place, const char *lock)
{
  g_autofree char *owner = owner_of (place, lock);

  return owner != NULL && *owner == '\0';
}

gboolean
place_lock (Place *place, const char *suffix)
{
  g_autofree char *lock = g_strconcat (suffix, ".lock", NULL);
  gint64 until_us = g_get_monotonic_time () + LOCK_US, nobody_us = 0;
  gboolean is_over = FALSE;
  guint n_impossible = 0;

  g_free (place->lock_owner);
  place->lock_owner = own_name (place);
  while (!is_over && !place->is_silent && !place_is_given_up (place))
    {
      if (take (place, suffix, lock))
        return TRUE;
      is_over = g_get_monotonic_time () >= until_us;
      if (clear_away (place, suffix, lock, is_over, &nobody_us) && take (place, suffix, lock))
        return TRUE;
      if (place->had_no_lock)
        return FALSE;
      if (nobody_us != 0 && g_get_monotonic_time () - nobody_us >= NOBODY_US)
        n_impossible = is_impossible (place, lock) ? n_impossible + 1 : 0;
      is_over = is_over || n_impossible == IMPOSSIBLE_TIMES;
      if (!is_over)
        g_usleep (LOCK_PAUSE_US / 2 + (gulong)g_random_int_range (0, LOCK_PAUSE_US));
    }
  place->had_no_lock = place->had_no_lock || (is_over && !place->is_silent);
  return FALSE;
}

void
place_unlock (Place *place, const char *suffix)
{
  g_autofree char *lock = g_strconcat (suffix, ".lock", NULL);

  /* A lock that stays costs the next writer ten seconds, while this process lives. */
  if (!place->kind->unlock (place, lock, place->lock_owner))
    (void)place->kind->unlock (place, lock, place->lock_owner);
}
