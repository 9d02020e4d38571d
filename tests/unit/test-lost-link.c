/* SPDX-License-Identifier: BSD-3-Clause */
/* What a broken link swallowed is repaired over the next link, or over another existing one,
 * whether one end or both have noticed the break. Every message that a node sends only once and on
 * which others rely is sent over a link that swallows it. */
#include "node-steps.h"

#include "satin/protocol/messages/message.h"

#include <string.h>

typedef struct
{
  const char *name;
  guint n;
  void (*before) (World *world); /* (nullable) the steps while all links work */
  void (*lose) (World *world);   /* the step whose messages between n0 and n1 are lost */
  void (*after) (World *world);  /* checks the effects of that step in the end, over new links */
} Case;

/* How the link that swallows messages is lost. */
typedef enum
{
  BREAKS,   /* it is the only one: another is dialled */
  ANOTHER,  /* it is one of two, and both ends notice */
  N1_FIRST, /* it is one of two, and n0 notices later than n1 */
  N0_FIRST,
  WAYS
} Way;

/* ---- the cases ---- */

static void
has_heard (World *world, guint who, const char *line)
{
  g_assert_true (said (world, who, line));
}

static void
suspend (World *world)
{
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND });
}

static void
suspend_by_1 (World *world)
{
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND });
}

static void
all_halt (World *world)
{
  for (guint i = 0; i < world->n; i++)
    has_heard (world, i, "HALT");
}

static void
cancel_by_1 (World *world)
{
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_CANCEL });
}

static void
all_are_cancelled (World *world)
{
  for (guint i = 0; i < world->n; i++)
    g_assert_cmpuint (world->peer[i].ended, ==, NODE_END_CANCELLED);
}

/* Both nodes halt and send everything. n0 must learn that n1 has halted. */
static void
halted_0 (World *world)
{
  suspend (world);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  g_assert_false (said (world, 0, "FINAL"));
}

static void
serve_all (World *world)
{
  for (guint i = 0; i < world->n; i++)
    tell (world, i, &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = G_MAXUINT32 });
}

static void
halted_1 (World *world)
{
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
}

static void
is_final (World *world)
{
  serve_all (world);
  has_heard (world, 0, "FINAL");
}

static void
save_by_1 (World *world)
{
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
}

static void
round_begins (World *world)
{
  serve_all (world);
  serve_all (world);
  has_heard (world, 0, "PUBLISH");
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 7, .final = TRUE });
  has_heard (world, 1, "SAVED");
}

static void
save_by_0 (World *world)
{
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
}

static void
round_ends (World *world)
{
  serve_all (world);
  serve_all (world);
  has_heard (world, 0, "PUBLISH");
}

/* A job of n1 that n2 runs. */
static void
lend_1_to_2 (World *world)
{
  (void)offer (world, 1, "/3");
  hunger (world, 2);
  has_heard (world, 2, "RUN /3");
}

static void
lose_2 (World *world)
{
  die (world, 2);
  pump (world);
}

/* The slot does not run again before its rows were requested. */
static void
is_salvaged (World *world)
{
  Digest digest = digest_of_string ("/3/1");
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  has_heard (world, 0, "SALVAGE /3");
  g_assert_false (said (world, 1, "BACK 1"));
  g_ptr_array_add (rows, row_new ("/3/1", 1, &digest, 0.1, 50, value));
  tell (world, 0,
        &(NodeEvent){ .kind = NODE_EVENT_RESTORED, .rows = rows, .path = "/3", .final = TRUE });
  has_heard (world, 1, "BACK 1");
  /* The rows were announced before. */
  const char *log = world->peer[1].log->str, *known = strstr (log, "KNOWN /3/1 finished");
  g_assert_true (known != NULL && known < strstr (log, "BACK 1"));
}

static void
ask_again (World *world)
{
  lend_1_to_2 (world);
  lose_2 (world);
  has_heard (world, 0, "SALVAGE /3");
  forget_log (world);
}

static void
restore (World *world)
{
  g_autoptr (GPtrArray) none = g_ptr_array_new ();

  tell (world, 0,
        &(NodeEvent){ .kind = NODE_EVENT_RESTORED, .rows = none, .path = "/3", .final = TRUE });
}

static void
is_told (World *world)
{
  has_heard (world, 1, "BACK 1");
  g_assert_false (said (world, 0, "SALVAGE /3")); /* once was enough */
}

/* n0 holds a job that n2 lent. When n2 is gone the job is an orphan, of which n1 learns, since n1
 * runs the job above. */
static void
lend_2_to_0 (World *world)
{
  (void)offer (world, 0, "/3");
  hunger (world, 1);
  has_heard (world, 1, "RUN /3");
  (void)offer (world, 2, "/3/1");
  hunger (world, 0);
  has_heard (world, 0, "RUN /3/1");
}

static void
orphan_is_known (World *world)
{
  has_heard (world, 1, "KNOWN /3/1");
}

static void
adopt_1_from_0 (World *world)
{
  adopt (world, 1, "/3/1", 9, 0);
}

static void
orphan_returns (World *world)
{
  g_assert_false (said (world, 1, "BACK 9"));
  finish (world, 0, "/3/1");
  has_heard (world, 1, "PUT 9");
}

static void
orphaned (World *world)
{
  lend_2_to_0 (world);
  lose_2 (world);
  pass (world, 1000);
  has_heard (world, 1, "KNOWN /3/1");
}

static void
lend_0_to_1 (World *world)
{
  (void)offer (world, 0, "/3");
  hunger (world, 1);
  has_heard (world, 1, "RUN /3");
}

static void
finish_1 (World *world)
{
  finish (world, 1, "/3");
}

static void
result_arrives (World *world)
{
  has_heard (world, 0, "PUT 1");
  g_assert_cmpuint (stats_of (world, 0).lent, ==, 0);
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
}

static void
abort_0 (World *world)
{
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = 1 });
}

static void
is_stopped (World *world)
{
  has_heard (world, 1, "UNRUN");
}

static void
start_main (World *world)
{
  g_autoptr (GBytes) value = g_bytes_new ("scene", 5);

  tell (world, 0,
        &(NodeEvent){ .kind = NODE_EVENT_CONSTANT, .text = "const/scene", .bytes = value });
  start (world);
}

static void
has_constants (World *world)
{
  has_heard (world, 1, "CONSTANT const/scene");
  has_heard (world, 1, "START");
}

static void
improve (World *world)
{
  g_autoptr (GBytes) best = g_bytes_new ("9", 1);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_IMPROVED, .number = 0, .bytes = best });
}

static void
has_best (World *world)
{
  has_heard (world, 1, "BEST");
}

static void
get_store (World *world)
{
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_CHECKPOINT, .text = "place" });
}

static void
has_store (World *world)
{
  has_heard (world, 1, "CHECKPOINT place");
}

static void
leave_1 (World *world)
{
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
}

static void
is_gone (World *world)
{
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  pass (world, G_USEC_PER_SEC);
  has_heard (world, 1, "LEAVE");
  g_assert_cmpuint (members_of (world, 0), ==, 2);
}

static void
join_3 (World *world)
{
  add_peer (world, FALSE);
}

static void
all_know_3 (World *world)
{
  for (guint i = 0; i < world->n; i++)
    g_assert_cmpuint (members_of (world, i), ==, world->n);
}

static void
crash_report_2 (World *world)
{
  tell (world, 2,
        &(NodeEvent){ .kind = NODE_EVENT_CRASH_REPORT, .path = "/0", .text = "a job (1): abort" });
  die (world, 2);
  pump (world);
}

static void
two_words (World *world)
{
  for (guint i = 4; i > 2; i--)
    {
      tell (world, i,
            &(NodeEvent){ .kind = NODE_EVENT_CRASH_REPORT, .path = "/0", .text = "a job: abort" });
      die (world, i);
      pass (world, 1000);
    }
}

static void
ends_by_them (World *world)
{
  for (guint i = 0; i < 2; i++)
    g_assert_cmpuint (world->peer[i].ended, ==, NODE_END_FAILED);
}

static const Case cases[] = {
  { "the word to halt", 3, NULL, suspend, all_halt },
  { "a wish to suspend", 3, NULL, suspend_by_1, all_halt },
  { "a wish to cancel", 3, NULL, cancel_by_1, all_are_cancelled },
  { "that all has been told", 2, halted_0, halted_1, is_final },
  { "a wish to save", 2, NULL, save_by_1, round_begins },
  { "the word to scan", 2, NULL, save_by_0, round_ends },
  { "a question for rows", 3, lend_1_to_2, lose_2, is_salvaged },
  { "the answer to it", 3, ask_again, restore, is_told },
  { "an orphan", 3, lend_2_to_0, lose_2, orphan_is_known },
  { "its adoption", 3, orphaned, adopt_1_from_0, orphan_returns },
  { "a result", 2, lend_0_to_1, finish_1, result_arrives },
  { "an abort", 2, lend_0_to_1, abort_0, is_stopped },
  { "the constants", 2, NULL, start_main, has_constants },
  { "a best value", 2, NULL, improve, has_best },
  { "the place of the checkpoint", 2, NULL, get_store, has_store },
  { "a wish to leave", 3, NULL, leave_1, is_gone },
  { "who joins", 2, NULL, join_3, all_know_3 },
  { "crash reports", 5, two_words, crash_report_2, ends_by_them },
};

/* ---- */

static gboolean
is_between (const Wire *wire)
{
  return wire->up && wire->end[0] + wire->end[1] == 1;
}

static void
set_mute (World *world, gboolean mute)
{
  for (guint i = 0; i < world->wires->len; i++)
    if (is_between (&g_array_index (world->wires, Wire, i)))
      g_array_index (world->wires, Wire, i).mute = mute;
}

static World *
new_world (const Case *one)
{
  gboolean late = one->lose == get_store;
  World *world = world_new (one->n, !late);

  if (!late)
    tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  if (one->lose != start_main)
    start (world);
  pass (world, G_USEC_PER_SEC / 2);
  return world;
}

static void
test_lost (const Case *one, Way way)
{
  g_autoptr (World) world = new_world (one);
  guint64 link;

  if (one->before != NULL)
    one->before (world);
  link = way == BREAKS ? 0 : add_link (world);
  if (link == 0)
    set_mute (world, TRUE);
  else
    g_array_index (world->wires, Wire, link - 1).mute = TRUE;
  one->lose (world);
  if (way == BREAKS)
    cut (world, 0, 1);
  else if (way == ANOTHER)
    break_link (world, link);
  for (guint i = 0; i < 2 && way >= N1_FIRST; i++)
    {
      post (world,
            (Post){ .to = (way == N1_FIRST) != i, .kind = NODE_EVENT_LINK_DOWN, .link = link });
      pass (world, G_USEC_PER_SEC / 8);
    }
  pass (world, G_USEC_PER_SEC / 4);
  one->after (world);
}

static void
test_all_ways (gconstpointer data)
{
  for (Way way = BREAKS; way < WAYS; way++)
    {
      g_test_message ("way %u", way);
      test_lost (data, way);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = g_strdup_printf ("/lost-link/%s", cases[i].name);
      g_test_add_data_func (g_strdelimit (name, " ", '-'), &cases[i], test_all_ways);
    }
  return g_test_run ();
}
