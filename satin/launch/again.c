/* SPDX-License-Identifier: BSD-3-Clause */
/* See again.h. */
#include "again.h"

#include "command-words.h"

#include "folder/folder.h"

#include <string.h>
#include <sys/wait.h>

/* RESTS -> PAUSES (its node has ended) -> LOOKS (a node is due; the caller asks the run) -> RESTS
 * (a node was started), or back to PAUSES. */
typedef enum
{
  RESTS,
  PAUSES,
  LOOKS
} Phase;

typedef struct
{
  Phase phase;
  guint failures;   /* in a row */
  gint64 joined_us; /* when its last node joined; 0: not yet */
  gint64 due_us;    /* in PAUSES: when the next node is due */
} Place;

struct Again
{
  gint64 deserted_us; /* since when no member has lived; 0: one lives */
  guint n_places;
  Place places[];
};

AgainEnd
again_end (int status, gboolean was_member, const char *parted)
{
  int code = WIFEXITED (status) ? WEXITSTATUS (status) : -1;

  if (code == COMMAND_SUSPENDED || code == COMMAND_CANCELLED)
    return AGAIN_STOPPED;
  if (g_strcmp0 (parted, FOLDER_PARTED_REFUSED) == 0)
    return AGAIN_REFUSED;
  if (g_strcmp0 (parted, FOLDER_PARTED_ASKED) == 0)
    return AGAIN_LEFT;
  if (g_strcmp0 (parted, FOLDER_PARTED_SIGNAL) == 0)
    return AGAIN_TOLD;
  if (!was_member)
    return AGAIN_NEVER;
  /* Its last figures are lost. A node that ended with 0 left, perhaps by request, so it is not
   * replaced. */
  return code == COMMAND_DONE ? AGAIN_LEFT : AGAIN_LOST;
}

gboolean
again_replaces (AgainEnd end)
{
  return end == AGAIN_TOLD || end == AGAIN_LOST || end == AGAIN_NEVER;
}

gint64
again_pause_us (guint failures)
{
  gint64 pause_us = AGAIN_PAUSE_US;

  for (guint i = 0; i < failures && pause_us < AGAIN_PAUSE_MAX_US; i++)
    pause_us *= 2;
  return MIN (pause_us, AGAIN_PAUSE_MAX_US);
}

Again *
again_new (guint n_places)
{
  Again *again = g_malloc0 (sizeof (Again) + n_places * sizeof (Place));

  again->n_places = n_places;
  return again;
}

void
again_free (Again *again)
{
  g_free (again);
}

static Place *
place_of (Again *again, guint place)
{
  g_assert (place < again->n_places);
  return &again->places[place];
}

void
again_started (Again *again, guint place)
{
  place_of (again, place)->phase = RESTS;
  place_of (again, place)->joined_us = 0;
}

void
again_joined (Again *again, guint place, gint64 now_us)
{
  Place *at = place_of (again, place);

  if (at->joined_us == 0)
    at->joined_us = now_us;
}

gint64
again_gone (Again *again, guint place, AgainEnd end, gint64 now_us, guint *failures)
{
  Place *at = place_of (again, place);
  gboolean lasted = at->joined_us != 0 && now_us - at->joined_us >= AGAIN_LASTS_US;

  g_assert (at->phase == RESTS);
  *failures = at->failures;
  if (!again_replaces (end))
    return -1;
  at->failures = *failures = lasted ? 0 : at->failures + 1;
  at->phase = PAUSES;
  at->due_us = now_us + again_pause_us (at->failures);
  return at->due_us - now_us;
}

gboolean
again_look (Again *again, gint64 now_us)
{
  gboolean some = FALSE;

  for (guint i = 0; i < again->n_places; i++)
    {
      Place *at = &again->places[i];

      if (at->phase == PAUSES && now_us >= at->due_us)
        at->phase = LOOKS;
      some = some || at->phase == LOOKS;
    }
  return some;
}

int
again_take (Again *again)
{
  for (guint i = 0; i < again->n_places; i++)
    if (again->places[i].phase == LOOKS)
      {
        again->places[i].phase = RESTS;
        return (int)i;
      }
  return -1;
}

void
again_put_off (Again *again, gint64 now_us)
{
  for (guint i = 0; i < again->n_places; i++)
    if (again->places[i].phase == LOOKS)
      {
        again->places[i].phase = PAUSES;
        again->places[i].due_us = now_us + AGAIN_PAUSE_US;
      }
}

gboolean
again_waits (const Again *again)
{
  for (guint i = 0; i < again->n_places; i++)
    if (again->places[i].phase != RESTS)
      return TRUE;
  return FALSE;
}

gboolean
again_deserted (Again *again, gboolean members_live, gint64 now_us)
{
  if (members_live)
    again->deserted_us = 0;
  else if (again->deserted_us == 0)
    again->deserted_us = now_us;
  return again->deserted_us != 0 && now_us - again->deserted_us > AGAIN_DESERTED_US;
}
