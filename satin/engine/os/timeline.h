/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of --trace: spans and marks on lanes, as Chrome trace events that Perfetto shows. A
 * lane belongs to one thread, which writes notes into its own buffer; another thread takes the text
 * from time to time. Without --trace a lane is NULL and each call is one branch, on slow paths
 * only. This file must not know files. */
#pragma once

#include <glib.h>

typedef struct Timeline Timeline;
typedef struct TimelineLane TimelineLane;

/* `pid` and `name` of this process. */
Timeline *timeline_new (gint64 pid, const char *name);
/* After the last call of any lane's thread. */
void timeline_free (Timeline *timeline);
/* A new lane, shown below those with a lower number. Any thread; the timeline owns it. NULL if
 * `timeline` is NULL. */
TimelineLane *timeline_lane (Timeline *timeline, guint number, const char *name);
/* Appends the notes since the last call: JSON objects, each followed by a comma and a newline. Any
 * thread, one at a time. */
void timeline_take (Timeline *timeline, GString *text);

/* After the last timeline_take: ends all spans that are still under way. */
void timeline_take_open (Timeline *timeline, GString *text);

/* Notes that a lane keeps until they are taken. More are left out, spans as a whole. */
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
