/* SPDX-License-Identifier: BSD-3-Clause */
/* The data of a live run on the page of `satin view`: what it contains, and that its size is
 * limited. */
#include "satin/command/view-model-private.h"
#include "text/json.h"

#include "processor.h"

#include <string.h>

#define SECOND G_USEC_PER_SEC

static char *
status (guint from, guint to, double done, int busy)
{
  GString *json = g_string_new (NULL);

  g_string_append_printf (json,
                          "{\"name\":\"r\",\"done\":%f,\"at_risk_s\":1.5,"
                          "\"at_risk_all_s\":7,\"nodes\":[",
                          done);
  for (guint i = from; i < to; i++)
    g_string_append_printf (json,
                            "%s{\"id\":\"1.%u\",\"host\":\"node-%04u.cluster\",\"address\":\"a\","
                            "\"pid\":%u,\"site\":\"site-%u\",\"roles\":[%s],\"workers\":4,"
                            "\"state\":\"up\",\"at_risk_s\":0.5,\"busy\":%d}",
                            i > from ? "," : "", i + 1, i, 1000 + i, i % 7,
                            i == from ? "\"master\",\"coordinator\"" : "", busy);
  g_string_append (json, "]}");
  return g_string_free (json, FALSE);
}

static void
feed (ViewModel *model, gint64 second, guint from, guint to, double done, int busy)
{
  g_autofree char *reply = status (from, to, done, busy);

  g_assert_true (view_model_status (model, second * SECOND, reply));
}

static GVariant *
whole_of (ViewModel *model)
{
  g_autofree char *json = view_model_whole (model);
  GVariant *whole = json_read (json);

  g_assert_nonnull (whole);
  return whole;
}

static GVariant *
list (GVariant *object, const char *key)
{
  GVariant *value = g_variant_lookup_value (object, key, G_VARIANT_TYPE ("av"));

  g_assert_nonnull (value);
  return value;
}

/* The text number `i` of lane `n`: 0 is its id, 7 its letters. */
static char *
lane_text (GVariant *whole, guint n, guint i)
{
  g_autoptr (GVariant) lanes = list (whole, "lanes");
  g_autoptr (GVariant) lane = NULL, value = NULL;

  g_variant_get_child (lanes, n, "v", &lane);
  g_variant_get_child (lane, i, "v", &value);
  return g_variant_dup_string (value, NULL);
}

static guint
count_seen (GVariant *whole, const char *kind)
{
  g_autoptr (GVariant) seen = list (whole, "seen");
  guint n = 0;

  for (gsize i = 0; i < g_variant_n_children (seen); i++)
    {
      g_autoptr (GVariant) event = NULL;
      const char *its = NULL;

      g_variant_get_child (seen, i, "v", &event);
      g_variant_lookup (event, "kind", "&s", &its);
      n += g_strcmp0 (its, kind) == 0;
    }
  return n;
}

static void
test_follows (void)
{
  g_autoptr (ViewModel) model = view_model_new ("r", "\"program\":\"p\"");
  g_autofree char *first = NULL, *second = NULL, *did = NULL, *gone = NULL, *tick = NULL;
  const char *program = NULL;

  feed (model, 100, 0, 3, 0.1, 4);
  feed (model, 101, 0, 3, 0.2, 0);
  feed (model, 102, 1, 3, 0.3, 2);
  g_autoptr (GVariant) whole = whole_of (model);
  g_variant_lookup (whole, "program", "&s", &program);
  g_assert_cmpstr (program, ==, "p");
  gone = lane_text (whole, 0, 7);
  did = lane_text (whole, 1, 7);
  g_assert_cmpstr (gone, ==, "90x");
  g_assert_cmpstr (did, ==, "905");
  g_assert_cmpuint (count_seen (whole, "joined"), ==, 3);
  g_assert_cmpuint (count_seen (whole, "gone"), ==, 1);
  g_assert_cmpuint (count_seen (whole, "master"), ==, 1);
  g_assert_cmpuint (count_seen (whole, "elected"), ==, 2);
  /* A node is gone: a tick cannot express that. */
  g_assert_null (first = view_model_tick (model));
  feed (model, 103, 1, 3, 0.4, 4);
  tick = view_model_tick (model);
  g_assert_nonnull (tick);
  g_autoptr (GVariant) told = json_read (tick);
  const char *letters = NULL;
  double done = 0, i = 0, busy = 0;
  g_variant_lookup (told, "did", "&s", &letters);
  g_variant_lookup (told, "done", "d", &done);
  g_variant_lookup (told, "busy", "d", &busy);
  g_variant_lookup (told, "i", "d", &i);
  g_assert_cmpstr (letters, ==, "x99");
  g_assert_cmpfloat (done, ==, 0.4);
  g_assert_cmpfloat (busy, ==, 8);
  g_assert_cmpfloat (i, ==, 3);
}

/* A silent node is not shown as busy, however busy it was. */
static void
test_silent (void)
{
  g_autoptr (ViewModel) model = view_model_new ("r", "\"program\":\"p\"");
  static const char reply[]
      = "{\"name\":\"r\",\"done\":0.1,\"nodes\":[{\"id\":\"1.1\",\"roles\":[\"master\"],"
        "\"workers\":1,"
        "\"busy\":1,\"silent\":false},{\"id\":\"1.2\",\"roles\":[],\"workers\":1,\"busy\":1,"
        "\"silent\":%s}]}";
  static const struct
  {
    const char *silent, *letters, *did;
    guint fell, answered;
  } steps[] = {
    { "false", "", "9", 0, 0 },
    { "true", "s", "9?", 1, 0 },
    { "true", "s", "9??", 1, 0 },
    { "false", "", "9??9", 1, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      g_auto (GStrv) parts = g_strsplit (reply, "%s", 2);
      g_autofree char *text = g_strconcat (parts[0], steps[i].silent, parts[1], NULL);
      g_autofree char *roles = NULL, *did = NULL;

      g_assert_true (view_model_status (model, (100 + i) * SECOND, text));
      g_autoptr (GVariant) whole = whole_of (model);
      roles = lane_text (whole, 1, 3);
      did = lane_text (whole, 1, 7);
      g_assert_cmpstr (roles, ==, steps[i].letters);
      g_assert_cmpstr (did, ==, steps[i].did);
      g_assert_cmpuint (count_seen (whole, "silent"), ==, steps[i].fell);
      g_assert_cmpuint (count_seen (whole, "answers"), ==, steps[i].answered);
    }
}

/* Any bytes from a socket. */
static void
test_nonsense (void)
{
  static const char *const replies[]
      = { "", "null", "[]", "{}", "{\"nodes\":1}", "{\"nodes\":{}}", "{\"nodes\":[", "x" };
  g_autoptr (ViewModel) model = view_model_new ("r", NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (replies); i++)
    g_assert_false (view_model_status (model, SECOND, replies[i]));
  g_assert_cmpint (view_model_state (model), ==, VIEW_STATE_STARTING);
  g_assert_true (view_model_status (model, SECOND,
                                    "{\"nodes\":[1,\"\",{},{\"id\":7,\"workers\":\"x\","
                                    "\"roles\":[1],\"busy\":-5,\"host\":\"<b>\\u0000\"}],"
                                    "\"done\":\"much\",\"left_s\":\"soon\"}"));
  g_autoptr (GVariant) whole = whole_of (model);
  g_assert_nonnull (whole);
}

/* A thousand nodes that join and leave for a day: the page stays small, and shows the newest
 * events. */
static void
test_is_bounded (void)
{
  g_autoptr (ViewModel) model = view_model_new ("r", NULL);
  g_autofree char *letters = NULL;
  guint second = 0;
  gsize most = 0;

  for (guint i = 0; i < 50; i++, second += 1 + i)
    {
      feed (model, second, i % 3 == 0 ? 10 * i : 0, 1000 + (i % 3 == 0 ? 10 * i : 0), i / 50.0,
            (int)(i % 5));
      g_autofree char *json = view_model_whole (model);
      most = MAX (most, strlen (json));
    }
  g_test_message ("at most %" G_GSIZE_FORMAT " bytes", most);
  g_assert_cmpuint (view_model_nodes (model), ==, 1000);
  g_assert_cmpuint (most, <, VIEW_MODEL_JSON_MAX);
  g_autoptr (GVariant) whole = whole_of (model), lanes = list (whole, "lanes");
  g_autoptr (GVariant) history = g_variant_lookup_value (whole, "history", NULL),
                       at = list (history, "at");
  g_assert_cmpuint (g_variant_n_children (lanes), <=, VIEW_MODEL_LANES_MAX);
  g_assert_cmpuint (g_variant_n_children (at), <=, VIEW_MODEL_MOMENTS_MAX);
  g_assert_cmpuint (g_variant_n_children (at), >=, 20);
  letters = lane_text (whole, 0, 7);
  g_assert_cmpuint (strlen (letters), ==, g_variant_n_children (at));
}

/* A thousand nodes, of which a hundred join and leave with each reply. At the rate at which the
 * view asks, a reply, the update for pages, and the whole state for a new page take less than 50 ms
 * a second of one core. */
static void
test_a_reply_of_a_thousand_nodes_is_cheap (void)
{
  enum
  {
    REPLIES = 20,
    SECONDS = 1 + 1000 / VIEW_MODEL_NODES_A_SECOND
  };
  g_autoptr (ViewModel) model = view_model_new ("r", NULL);
  g_autoptr (GPtrArray) replies = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < REPLIES; i++)
    g_ptr_array_add (replies, status (100 * (i % 2), 1000 + 100 * (i % 2), i / 80.0, (int)(i % 5)));
  double before = processor_s ();
  for (guint i = 0; i < REPLIES; i++)
    {
      g_assert_true (view_model_status (model, i * SECONDS * SECOND, replies->pdata[i]));
      g_autofree char *tick = view_model_tick (model), *json = view_model_whole (model);
      g_assert_nonnull (json);
    }
  double share = (processor_s () - before) / (REPLIES * SECONDS);
  g_test_message ("%.1f ms a second", share * 1000);
  g_assert_cmpfloat (share, <, 0.05);
}

/* Few nodes for a long time: the history reaches back to the beginning, in the order of time. */
static void
test_history (void)
{
  g_autoptr (ViewModel) model = view_model_new ("r", NULL);
  double last = -1;

  for (guint i = 0; i < 5000; i++)
    feed (model, i, 0, 2, i / 5000.0, 4);
  g_autoptr (GVariant) whole = whole_of (model),
                       history = g_variant_lookup_value (whole, "history", NULL),
                       at = list (history, "at");
  guint n = (guint)g_variant_n_children (at);
  g_assert_cmpuint (n, >, VIEW_MODEL_MOMENTS_MAX / 2);
  g_assert_cmpuint (n, <=, VIEW_MODEL_MOMENTS_MAX);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GVariant) value = NULL;

      g_variant_get_child (at, i, "v", &value);
      g_assert_cmpfloat (g_variant_get_double (value), >, last);
      last = g_variant_get_double (value);
      if (i == 0)
        g_assert_cmpfloat (last, <, 100);
    }
  g_assert_cmpfloat (last, ==, 4999);
}

static void
test_ends (void)
{
  g_autoptr (ViewModel) model = view_model_new ("r", NULL);
  g_autofree char *late = status (0, 2, 0.1, 1);
  const char *state = NULL, *sentence = NULL;

  view_model_silence (model, 1);
  g_assert_cmpint (view_model_state (model), ==, VIEW_STATE_STARTING);
  feed (model, 1, 0, 2, 0.5, 1);
  view_model_silence (model, 2 * SECOND);
  g_assert_cmpint (view_model_state (model), ==, VIEW_STATE_SILENT);
  feed (model, 3, 0, 2, 0.6, 1);
  g_assert_cmpint (view_model_state (model), ==, VIEW_STATE_RUNNING);
  view_model_end (model, 4 * SECOND, "finished", 1);
  g_assert_false (view_model_status (model, 5 * SECOND, late));
  g_autoptr (GVariant) whole = whole_of (model);
  g_variant_lookup (whole, "state", "&s", &state);
  g_variant_lookup (whole, "sentence", "&s", &sentence);
  g_assert_cmpstr (state, ==, "over");
  g_assert_cmpstr (sentence, ==, "finished");
  g_assert_cmpuint (count_seen (whole, "silent"), ==, 1);
  g_assert_cmpuint (count_seen (whole, "gone"), ==, 0);
}

/* A host may have any name; one that is too long is cut between letters. */
static void
test_texts (void)
{
  g_autoptr (ViewModel) model = view_model_new ("<r>", NULL);
  g_autoptr (GString) reply = g_string_new ("{\"nodes\":[{\"id\":\"1.1\",\"host\":\"");
  g_autofree char *host = NULL, *json = NULL;

  for (guint i = 0; i < 500; i++)
    g_string_append (reply, "é");
  g_string_append (reply, "\",\"site\":\"</script>\"}]}");
  g_assert_true (view_model_status (model, SECOND, reply->str));
  g_autoptr (GVariant) whole = whole_of (model);
  host = lane_text (whole, 0, 1);
  g_assert_cmpint (g_utf8_strlen (host, -1), ==, 80);
  g_assert_true (g_str_has_suffix (host, "é…"));
  json = lane_text (whole, 0, 2);
  g_assert_cmpstr (json, ==, "</script>");
}

/* Polls come a little late or early: each second still has its moment, and more frequent polls make
 * no more moments. */
static void
test_each_second_has_a_moment (void)
{
  for (gint64 each = 1; each <= 4; each *= 4)
    {
      g_autoptr (ViewModel) model = view_model_new ("r", NULL);
      gint64 seconds = 40;

      for (gint64 i = 0; i < seconds * each; i++)
        {
          g_autofree char *reply = status (0, 2, 0.5, 1);
          gint64 late_us = each == 1 ? (i % 3 - 1) * SECOND / 10 : 0;

          g_assert_true (view_model_status (model, i * SECOND / each + SECOND + late_us, reply));
        }
      g_autoptr (GVariant) whole = whole_of (model);
      g_autofree char *letters = lane_text (whole, 0, 7);
      g_assert_cmpuint (strlen (letters), >=, each == 1 ? (gsize)seconds - 1 : 25);
      g_assert_cmpuint (strlen (letters), <=, (gsize)seconds + 1);
    }
}

/* Where moments are merged, a node that was busy in one of them is shown as busy. */
static void
test_what_was_busy_stays_so (void)
{
  char busy = '\0';

  for (guint parity = 0; parity < 2; parity++)
    {
      g_autoptr (ViewModel) model = view_model_new ("r", NULL);
      guint n = VIEW_MODEL_MOMENTS_MAX + 10;

      for (guint i = 0; i < n; i++)
        feed (model, i, 0, 2, 0.5, i % 2 == parity ? 4 : 0);
      g_autoptr (GVariant) whole = whole_of (model);
      g_autofree char *letters = lane_text (whole, 0, 7);
      for (guint i = 2; i < n / 2 - 10; i++)
        {
          busy = busy == '\0' ? letters[i] : busy;
          g_assert_cmpint (letters[i], ==, busy);
        }
    }
}

/* A node that is gone, comes back and is gone again gives one event for each. */
static void
test_each_going_is_seen_once (void)
{
  g_autoptr (ViewModel) model = view_model_new ("r", NULL);

  for (guint i = 0; i < 12; i++)
    feed (model, 1 + i, 0, i % 6 < 3 ? 2 : 1, 0.5, 1);
  g_autoptr (GVariant) whole = whole_of (model);
  g_assert_cmpuint (count_seen (whole, "gone"), ==, 2);
  g_assert_cmpuint (count_seen (whole, "joined"), ==, 3);
}

/* More nodes than lanes: lanes of gone nodes are used again, and nodes without a lane are counted
 * each time. */
static void
test_lanes_are_used_again (void)
{
  g_autoptr (ViewModel) model = view_model_new ("r", NULL);
  const guint n = VIEW_MODEL_LANES_MAX, more = 7;

  for (guint turn = 0; turn < 4; turn++)
    {
      guint from = turn % 2 == 0 ? 0 : n;
      for (guint i = 0; i < 2; i++) /* after the first reply it is known which are gone */
        feed (model, 2 * turn + i + 1, from, from + n + more, 0.5, 1);
      g_autoptr (GVariant) whole = whole_of (model), lanes = list (whole, "lanes");
      double without = -1;
      g_assert_cmpuint (g_variant_n_children (lanes), ==, n);
      g_assert_true (g_variant_lookup (whole, "more", "d", &without));
      g_assert_cmpfloat (without, ==, more);
      for (guint i = 0; i < n; i += n / 4)
        {
          g_autofree char *id = lane_text (whole, i, 0);
          guint64 number = g_ascii_strtoull (id + strlen ("1."), NULL, 10);
          g_assert_cmpuint (number, >, from);
          g_assert_cmpuint (number, <=, from + n + more);
        }
    }
}

/* The number of lanes with this id. */
static guint
count_lanes (GVariant *whole, const char *id)
{
  g_autoptr (GVariant) lanes = list (whole, "lanes");
  guint n = 0;

  for (guint i = 0; i < g_variant_n_children (lanes); i++)
    {
      g_autoptr (GVariant) lane = NULL, its = NULL;
      g_variant_get_child (lanes, i, "v", &lane);
      g_variant_get_child (lane, 0, "v", &its);
      n += strcmp (g_variant_get_string (its, NULL), id) == 0;
    }
  return n;
}

/* A node whose lane was given to another node comes back: it has one lane of its own. */
static void
test_who_comes_again_has_a_lane (void)
{
  ViewModel *model = view_model_new ("r", "\"program\":\"p\"");

  feed (model, 1, 0, VIEW_MODEL_LANES_MAX, 0.1, 4);
  feed (model, 2, 10, VIEW_MODEL_LANES_MAX, 0.2, 4);
  feed (model, 3, 10, VIEW_MODEL_LANES_MAX + 5, 0.3, 4);
  feed (model, 4, 0, VIEW_MODEL_LANES_MAX, 0.4, 4);
  g_assert_cmpuint (g_hash_table_size (model->by_id), ==, model->lanes->len); /* none is stale */
  g_autoptr (GVariant) whole = whole_of (model);
  for (guint i = 1; i <= 5; i++)
    {
      g_autofree char *id = g_strdup_printf ("1.%u", i);
      g_assert_cmpuint (count_lanes (whole, id), ==, 1);
    }
  g_assert_cmpuint (count_lanes (whole, "1.11"), ==, 1);
  view_model_free (model);
}

/* The leaving of a node is one event; so is the end of the run, if a page was open. */
static void
test_leaving_and_the_end_are_seen (void)
{
  for (guint watched = 0; watched < 2; watched++)
    {
      ViewModel *model = view_model_new ("r", NULL);
      g_autofree char *up = status (0, 2, 0.5, 1);
      g_auto (GStrv) parts = g_strsplit (up, "\"up\"", -1);
      g_autofree char *leaving = g_strjoinv ("\"leaving\"", parts);

      for (gint64 second = 2; watched && second < 4; second++)
        g_assert_true (view_model_status (model, second * SECOND, second == 2 ? up : leaving));
      for (gint64 second = 4; watched && second < 6; second++)
        g_assert_true (view_model_status (model, second * SECOND, leaving));
      view_model_end (model, 7 * SECOND, "it is over", 1);
      g_autoptr (GVariant) whole = whole_of (model);
      g_assert_cmpuint (count_seen (whole, "leaving"), ==, 2 * watched);
      g_assert_cmpuint (count_seen (whole, "ended"), ==, watched);
      view_model_free (model);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/view-model/follows", test_follows);
  g_test_add_func ("/view-model/silent", test_silent);
  g_test_add_func ("/view-model/nonsense", test_nonsense);
  g_test_add_func ("/view-model/is-bounded", test_is_bounded);
  g_test_add_func ("/view-model/a-reply-of-a-thousand-nodes-is-cheap",
                   test_a_reply_of_a_thousand_nodes_is_cheap);
  g_test_add_func ("/view-model/history", test_history);
  g_test_add_func ("/view-model/ends", test_ends);
  g_test_add_func ("/view-model/texts", test_texts);
  g_test_add_func ("/view-model/each-second-has-a-moment", test_each_second_has_a_moment);
  g_test_add_func ("/view-model/what-was-busy-stays-so", test_what_was_busy_stays_so);
  g_test_add_func ("/view-model/each-going-is-seen-once", test_each_going_is_seen_once);
  g_test_add_func ("/view-model/lanes-are-used-again", test_lanes_are_used_again);
  g_test_add_func ("/view-model/leaving-and-the-end-are-seen", test_leaving_and_the_end_are_seen);
  g_test_add_func ("/view-model/who-comes-again-has-a-lane", test_who_comes_again_has_a_lane);
  return g_test_run ();
}
