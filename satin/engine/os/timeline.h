/* SPDX-License-Identifier: BSD-3-Clause */
/* What happened when, for people to look at: spans and marks on lanes, as Chrome trace events that
 * Perfetto shows. A lane belongs to one thread, which notes into a buffer of its own; another
 * thread takes the text from time to time. Off, a lane is NULL and each call is one branch; and
 * only slow ways call. It must not know files. */
#pragma once

#include <glib.h>

typedef struct Timeline Timeline;
typedef struct TimelineLane TimelineLane;

/* `pid` and `name` stand for this process. */
Timeline *timeline_new (gint64 pid, const char *name);
/* After the last call of any lane's thread. */
void timeline_free (Timeline *timeline);
/* A new lane, below those with a lower number. Any thread; owned by the timeline. `timeline` NULL:
 * NULL. */
TimelineLane *timeline_lane (Timeline *timeline, guint number, const char *name);
/* Appends what was noted since the last call: JSON objects, each with a comma and a newline behind
 * it. One thread at a time, any. */
void timeline_take (Timeline *timeline, GString *text);

/* After the last timeline_take: ends all spans that are still under way. */
void timeline_take_open (Timeline *timeline, GString *text);

/* So many notes a lane keeps until they are taken; what is more is left out, spans as a whole. */
#define TIMELINE_NOTES_MAX 32768

/* The lane's thread. `name` and `key` live as long as the program; `key` NULL: no figure. Spans end
 * in the opposite order of their beginnings. */
void timeline_note_begin (TimelineLane *lane, const char *name, const char *key, guint64 figure);
void timeline_note_end (TimelineLane *lane);
void timeline_note_mark (TimelineLane *lane, const char *name, const char *key, guint64 figure);

static inline void
timeline_begin (TimelineLane *lane, const char *name, const char *key, guint64 figure)
{
  if (G_UNLIKELY (lane != NULL))
    timeline_note_begin (lane, name, key, figure);
}

static inline void
timeline_end (TimelineLane *lane)
{
  if (G_UNLIKELY (lane != NULL))
    timeline_note_end (lane);
}

static inline void
timeline_mark (TimelineLane *lane, const char *name, const char *key, guint64 figure)
{
  if (G_UNLIKELY (lane != NULL))
    timeline_note_mark (lane, name, key, figure);
}
