/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of lanes: JSON, nested, bounded, and one lane for each thread. */
#include "config.h"

#include "os/timeline.h"

#include "text/json.h"

#include <string.h>

/* (transfer full): all notes as av. */
static GVariant *
take (Timeline *timeline, gboolean last)
{
  g_autoptr (GString) text = g_string_new ("[\n");
  GVariant *notes;

  timeline_take (timeline, text);
  if (last)
    timeline_take_open (timeline, text);
  g_string_append (text, "null]");
  notes = json_read (text->str);
  g_assert_nonnull (notes);
  return notes;
}

/* The phases of a lane's notes in their order, as text. */
static char *
phases (GVariant *notes, gint64 lane)
{
  GString *text = g_string_new (NULL);

  for (gsize i = 0; i + 1 < g_variant_n_children (notes); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (notes, i);
      g_autoptr (GVariant) note = g_variant_get_variant (boxed);
      const char *phase;
      double tid;

      g_assert_true (g_variant_lookup (note, "ph", "&s", &phase));
      g_assert_true (g_variant_lookup (note, "tid", "d", &tid));
      if ((gint64)tid == lane)
        g_string_append (text, phase);
    }
  return g_string_free (text, FALSE);
}

static void
test_text (void)
{
  Timeline *timeline = timeline_new (7, "a \"program\"\\\n");
  TimelineLane *one = timeline_lane (timeline, 1, "worker 0");
  TimelineLane *two = timeline_lane (timeline, 2, "worker 1");

  timeline_begin (one, "job", "from", 3);
  timeline_mark (one, "rows", NULL, 0);
  timeline_begin (one, "inner \t\"job\"", NULL, 0);
  timeline_end (one);
  timeline_end (one);
  timeline_mark (two, "rows", "n", G_MAXUINT64);
  g_autoptr (GVariant) notes = take (timeline, FALSE);
  g_autofree char *first = phases (notes, 1);
  g_autofree char *second = phases (notes, 2);
  g_autofree char *process = phases (notes, 0);

  g_assert_cmpstr (first, ==, "MMBiBEE");
  g_assert_cmpstr (second, ==, "MMi");
  g_assert_cmpstr (process, ==, "M");
  g_autoptr (GVariant) nothing = take (timeline, FALSE);
  g_assert_cmpuint (g_variant_n_children (nothing), ==, 1);
  timeline_free (timeline);
}

static void
test_off (void)
{
  TimelineLane *lane = timeline_lane (NULL, 1, "nobody");

  g_assert_null (lane);
  timeline_begin (lane, "job", NULL, 0);
  timeline_mark (lane, "mark", NULL, 0);
  timeline_end (lane);
}

static void
test_open_spans_end (void)
{
  Timeline *timeline = timeline_new (7, "program");
  TimelineLane *lane = timeline_lane (timeline, 1, "worker");

  timeline_begin (lane, "outer", NULL, 0);
  timeline_begin (lane, "inner", NULL, 0);
  g_autoptr (GVariant) early = take (timeline, FALSE);
  timeline_end (lane);
  timeline_begin (lane, "second", NULL, 0);
  g_autoptr (GVariant) late = take (timeline, TRUE);
  g_autofree char *first = phases (early, 1);
  g_autofree char *second = phases (late, 1);

  g_assert_cmpstr (first, ==, "MMBB");
  g_assert_cmpstr (second, ==, "EBEE");
  timeline_free (timeline);
}

/* Beyond the limit whole spans are left out: the rest stays nested. */
static void
test_bound (void)
{
  Timeline *timeline = timeline_new (7, "program");
  TimelineLane *lane = timeline_lane (timeline, 1, "worker");
  int depth = 0;

  for (int i = 0; i < 4 * TIMELINE_NOTES_MAX; i++)
    {
      gboolean down = depth == 0 || (depth < 30 && g_test_rand_bit ());

      if (down)
        timeline_begin (lane, "job", NULL, 0);
      else
        timeline_end (lane);
      depth += down ? 1 : -1;
    }
  while (depth-- > 0)
    timeline_end (lane);
  g_autoptr (GVariant) notes = take (timeline, FALSE);
  g_autofree char *text = phases (notes, 1);
  int open = 0;
  for (const char *phase = text; *phase != '\0'; phase++)
    {
      open += (*phase == 'B') - (*phase == 'E');
      g_assert_cmpint (open, >=, 0);
    }

  g_assert_cmpint (open, ==, 0);
  g_assert_cmpuint (strlen (text), >=, TIMELINE_NOTES_MAX);
  g_assert_cmpuint (strlen (text), <=, TIMELINE_NOTES_MAX + 40);
  g_assert_cmpint (text[strlen (text) - 1], ==, 'i'); /* the number of those left out */
  timeline_free (timeline);
}

typedef struct
{
  TimelineLane *lane;
  gint done; /* atomic */
} Noter;

static gpointer
note_much (gpointer data)
{
  Noter *noter = data;

  for (int i = 0; i < 20000; i++)
    {
      timeline_begin (noter->lane, "job", "i", (guint64)i);
      timeline_mark (noter->lane, "mark", NULL, 0);
      timeline_end (noter->lane);
    }
  g_atomic_int_set (&noter->done, 1);
  return NULL;
}

static void
test_threads (void)
{
  Timeline *timeline = timeline_new (7, "program");
  Noter noters[2]
      = { { timeline_lane (timeline, 1, "a"), 0 }, { timeline_lane (timeline, 2, "b"), 0 } };
  GThread *threads[2];
  g_autoptr (GString) text = g_string_new ("[");

  for (int i = 0; i < 2; i++)
    threads[i] = g_thread_new ("noter", note_much, &noters[i]);
  while (!g_atomic_int_get (&noters[0].done) || !g_atomic_int_get (&noters[1].done))
    timeline_take (timeline, text);
  for (int i = 0; i < 2; i++)
    g_thread_join (threads[i]);
  timeline_take (timeline, text);
  g_string_append (text, "null]");
  g_autoptr (GVariant) notes = json_read (text->str);
  g_assert_nonnull (notes);

  for (int i = 1; i <= 2; i++)
    {
      g_autofree char *lane = phases (notes, i);
      int open = 0;
      for (const char *phase = lane; *phase != '\0'; phase++)
        {
          open += (*phase == 'B') - (*phase == 'E');
          g_assert_true (open == 0 || open == 1);
        }
      g_assert_cmpint (open, ==, 0);
    }
  timeline_free (timeline);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/timeline/the-text-is-json-with-a-lane-for-each-thread", test_text);
  g_test_add_func ("/timeline/off-is-nothing", test_off);
  g_test_add_func ("/timeline/what-is-under-way-ends-with-the-run", test_open_spans_end);
  g_test_add_func ("/timeline/too-many-notes-are-left-out-as-whole-spans", test_bound);
  g_test_add_func ("/timeline/notes-are-taken-while-others-come", test_threads);
  return g_test_run ();
}
