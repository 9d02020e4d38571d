/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline.h. Only a lane's thread and the taker use the lock of a lane. */
#include "config.h"

#include "timeline.h"

#include <pthread.h>

typedef struct
{
  gint64 at_us;
  const char *name, *key;
  guint64 figure;
  char phase; /* as in the format: B, E, i */
} TimelineNote;

struct TimelineLane
{
  pthread_mutex_t lock;
  GArray *notes;      /* of TimelineNote */
  guint left_out;     /* spans under way whose beginning was left out */
  guint64 n_left_out; /* all notes that were left out since the last take */
  guint number;
  char *name;
  gboolean introduced; /* the taker's: the text has the lane's name */
  guint open;          /* the taker's: spans whose beginning was taken and whose end was not */
};

struct Timeline
{
  gint64 pid;
  char *name;
  pthread_mutex_t lock;
  GPtrArray *lanes; /* of TimelineLane; only grows */
  gboolean introduced;
};

static void
lane_free (gpointer data)
{
  TimelineLane *lane = data;

  g_array_unref (lane->notes);
  pthread_mutex_destroy (&lane->lock);
  g_free (lane->name);
  g_free (lane);
}

Timeline *
timeline_new (gint64 pid, const char *name)
{
  Timeline *timeline = g_new0 (Timeline, 1);

  timeline->pid = pid;
  timeline->name = g_strdup (name);
  timeline->lanes = g_ptr_array_new_with_free_func (lane_free);
  pthread_mutex_init (&timeline->lock, NULL);
  return timeline;
}

void
timeline_free (Timeline *timeline)
{
  if (timeline == NULL)
    return;
  g_ptr_array_unref (timeline->lanes);
  pthread_mutex_destroy (&timeline->lock);
  g_free (timeline->name);
  g_free (timeline);
}

TimelineLane *
timeline_lane (Timeline *timeline, guint number, const char *name)
{
  TimelineLane *lane;

  if (timeline == NULL)
    return NULL;
  lane = g_new0 (TimelineLane, 1);
  lane->number = number;
  lane->name = g_strdup (name);
  lane->notes = g_array_new (FALSE, FALSE, sizeof (TimelineNote));
  pthread_mutex_init (&lane->lock, NULL);
  pthread_mutex_lock (&timeline->lock);
  g_ptr_array_add (timeline->lanes, lane);
  pthread_mutex_unlock (&timeline->lock);
  return lane;
}

/* The end of a span whose beginning was noted is noted even if the lane is full. */
static void
note (TimelineLane *lane, char phase, const char *name, const char *key, guint64 figure)
{
  TimelineNote new = { g_get_monotonic_time (), name, key, figure, phase };
  gboolean full;

  pthread_mutex_lock (&lane->lock);
  full = lane->left_out > 0 || (phase != 'E' && lane->notes->len >= TIMELINE_NOTES_MAX);
  if (!full)
    g_array_append_val (lane->notes, new);
  else
    lane->n_left_out++;
  if (full && phase == 'B')
    lane->left_out++;
  if (full && phase == 'E')
    lane->left_out--;
  pthread_mutex_unlock (&lane->lock);
}

void
timeline_note_begin (TimelineLane *lane, const char *name, const char *key, guint64 figure)
{
  note (lane, 'B', name, key, figure);
}

void
timeline_note_end (TimelineLane *lane)
{
  note (lane, 'E', NULL, NULL, 0);
}

void
timeline_note_mark (TimelineLane *lane, const char *name, const char *key, guint64 figure)
{
  note (lane, 'i', name, key, figure);
}

/* ---- text ---- */

/* As a JSON string: names of jobs and programs may have any character. */
static void
append_quoted (GString *text, const char *name)
{
  g_string_append_c (text, '"');
  for (; *name != '\0'; name++)
    if (*name == '"' || *name == '\\')
      g_string_append_printf (text, "\\%c", *name);
    else if ((guchar)*name < 0x20)
      g_string_append_printf (text, "\\u%04x", (guint)(guchar)*name);
    else
      g_string_append_c (text, *name);
  g_string_append_c (text, '"');
}

static void
append_name (GString *text, gint64 pid, guint lane, const char *kind, const char *name)
{
  g_string_append_printf (text,
                          "{\"ph\":\"M\",\"pid\":%" G_GINT64_FORMAT
                          ",\"tid\":%u,\"name\":\"%s\",\"args\":{\"name\":",
                          pid, lane, kind);
  append_quoted (text, name);
  g_string_append (text, "}},\n");
}

static void
introduce (Timeline *timeline, TimelineLane *lane, GString *text)
{
  append_name (text, timeline->pid, lane->number, "thread_name", lane->name);
  g_string_append_printf (text,
                          "{\"ph\":\"M\",\"pid\":%" G_GINT64_FORMAT
                          ",\"tid\":%u,\"name\":\"thread_sort_index\","
                          "\"args\":{\"sort_index\":%u}},\n",
                          timeline->pid, lane->number, lane->number);
  lane->introduced = TRUE;
}

static void
append_note (GString *text, gint64 pid, guint lane, const TimelineNote *note)
{
  g_string_append_printf (
      text, "{\"ph\":\"%c\",\"pid\":%" G_GINT64_FORMAT ",\"tid\":%u,\"ts\":%" G_GINT64_FORMAT,
      note->phase, pid, lane, note->at_us);
  if (note->name != NULL)
    {
      g_string_append (text, ",\"name\":");
      append_quoted (text, note->name);
    }
  if (note->phase == 'i')
    g_string_append (text, ",\"s\":\"t\"");
  if (note->key != NULL)
    g_string_append_printf (text, ",\"args\":{\"%s\":%" G_GUINT64_FORMAT "}", note->key,
                            note->figure);
  g_string_append (text, "},\n");
}

static void
take_lane (Timeline *timeline, TimelineLane *lane, GString *text)
{
  g_autoptr (GArray) notes = NULL;
  guint64 left_out;

  pthread_mutex_lock (&lane->lock);
  left_out = lane->n_left_out;
  lane->n_left_out = 0;
  if (lane->notes->len > 0)
    {
      notes = lane->notes;
      lane->notes = g_array_new (FALSE, FALSE, sizeof (TimelineNote));
    }
  pthread_mutex_unlock (&lane->lock);
  if (notes == NULL)
    return;
  if (!lane->introduced)
    introduce (timeline, lane, text);
  for (guint i = 0; i < notes->len; i++)
    {
      const TimelineNote *note = &g_array_index (notes, TimelineNote, i);

      append_note (text, timeline->pid, lane->number, note);
      lane->open += (note->phase == 'B') - (note->phase == 'E');
    }
  if (left_out > 0)
    append_note (
        text, timeline->pid, lane->number,
        &(TimelineNote){ .at_us = g_array_index (notes, TimelineNote, notes->len - 1).at_us,
                         .name = "too many to note",
                         .key = "left out",
                         .figure = left_out,
                         .phase = 'i' });
}

/* (transfer container): lanes are never removed. */
static GPtrArray *
lanes_now (Timeline *timeline)
{
  GPtrArray *lanes = g_ptr_array_new ();

  pthread_mutex_lock (&timeline->lock);
  for (guint i = 0; i < timeline->lanes->len; i++)
    g_ptr_array_add (lanes, timeline->lanes->pdata[i]);
  pthread_mutex_unlock (&timeline->lock);
  return lanes;
}

void
timeline_take_open (Timeline *timeline, GString *text)
{
  g_autoptr (GPtrArray) lanes = lanes_now (timeline);
  TimelineNote end = { .at_us = g_get_monotonic_time (), .phase = 'E' };

  for (guint i = 0; i < lanes->len; i++)
    for (TimelineLane *lane = lanes->pdata[i]; lane->open > 0; lane->open--)
      append_note (text, timeline->pid, lane->number, &end);
}

void
timeline_take (Timeline *timeline, GString *text)
{
  g_autoptr (GPtrArray) lanes = lanes_now (timeline);

  if (!timeline->introduced)
    append_name (text, timeline->pid, 0, "process_name", timeline->name);
  timeline->introduced = TRUE;
  for (guint i = 0; i < lanes->len; i++)
    take_lane (timeline, lanes->pdata[i], text);
}
