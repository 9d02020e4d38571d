/* SPDX-License-Identifier: BSD-3-Clause */
/* satin/protocol/work/held.c: what a node holds for others. Each job runs once and returns to its
 * lender, together with all that is known of it. Steps one node of the world alone. */
#include "node-alone.h"

#define LONG_ARGS (64 * 1024) /* longer than arguments that a finished job keeps */

static World *
world_of_three (void)
{
  World *world = world_new (3, FALSE);

  start (world);
  return world;
}

/* Lends n1 a job. (transfer full): the effects of n1. */
static GArray *
lend (World *world, guint from, guint64 loan, const char *path, GBytes *args)
{
  Digest digest = digest_of_string (path);
  g_autoptr (GPtrArray) loans = g_ptr_array_new_with_free_func ((GDestroyNotify)loan_free);

  g_ptr_array_add (loans, loan_new (loan, path, 1, &digest, 0.25, args));
  return hear (world, 1, from, &(Message){ .kind = MESSAGE_JOBS, .loans = loans });
}

static void
lend_only (World *world, guint from, guint64 loan, const char *path)
{
  g_array_unref (lend (world, from, loan, path, NULL));
}

static HeldJob *
held_for (World *world, guint lender, guint64 loan)
{
  NodeId id = id_of (world, lender);

  return held_find_return (node_at (world, 1), &id, loan);
}

static GArray *
end (World *world, const HeldJob *held)
{
  g_autoptr (GBytes) value = g_bytes_new_static ("42", 2);

  return step_alone (world, 1,
                     &(NodeEvent){ .kind = NODE_EVENT_DONE,
                                   .held = held->held,
                                   .bytes = value,
                                   .work_us = 50,
                                   .risk_us = 40,
                                   .began_ms = 30,
                                   .took_ms = 20 });
}

/* Checks how many jobs n1 runs and returns, and frees `effects`. */
static void
assert_fate (World *world, GArray *effects, guint lender, guint n_run, guint n_returned)
{
  g_assert_cmpuint (count_effects (effects, NODE_EFFECT_RUN), ==, n_run);
  g_assert_cmpuint (count_sent (world, effects, 1, lender, MESSAGE_RETURNED), ==, n_returned);
  g_array_unref (effects);
}

static HeldJob *
add (Node *node, const char *path, Lender lender, guint64 loan)
{
  Digest digest = digest_of_string (path);
  HeldJob *held = held_add (node, loan_new (0, path, 1, &digest, 0.1, NULL));

  held_set_lender (node, held, lender, NULL, loan);
  return held;
}

/* A repeated JOBS adds no second job; the same loan number of another lender is another job. */
static void
test_each_loan_runs_once (void)
{
  g_autoptr (World) world = world_of_three ();

  assert_fate (world, lend (world, 0, 7, "/7", NULL), 0, 1, 0);
  assert_fate (world, lend (world, 0, 7, "/7", NULL), 0, 0, 0);
  assert_fate (world, lend (world, 2, 7, "/8", NULL), 2, 1, 0);
  assert_fate (world, lend (world, 0, 8, "/9", NULL), 0, 1, 0);
  g_assert_cmpuint (node_at (world, 1)->held.unfinished, ==, 3);
  g_assert_cmpuint (stats_of (world, 1).steals_remote, ==, 3);
}

/* A node that cannot begin yet, or is about to leave, returns a job unrun. */
static void
test_goes_back_where_nothing_begins (void)
{
  g_autoptr (World) world = world_new (3, FALSE); /* main has not started the root */

  assert_fate (world, lend (world, 0, 1, "/1", NULL), 0, 0, 1);
  start (world);
  assert_fate (world, lend (world, 0, 2, "/2", NULL), 0, 1, 0);
  g_array_unref (step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE }));
  assert_fate (world, lend (world, 0, 3, "/3", NULL), 0, 1, 0); /* n1 was not released */
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_RELEASED });
  assert_fate (world, lend (world, 0, 4, "/4", NULL), 0, 0, 1);
}

/* n1 gets this job from n0, for request `number`; 0: unasked. Returns the effects. */
static GArray *
send_job (World *world, guint64 loan, const char *path, guint64 number, gboolean flag)
{
  g_autoptr (GPtrArray) loans = g_ptr_array_new_with_free_func ((GDestroyNotify)loan_free);
  Digest digest = digest_of_string (path);

  g_ptr_array_add (loans, loan_new (loan, path, 1, &digest, 0.25, NULL));
  return hear (world, 1, 0,
               &(Message){ .kind = MESSAGE_JOBS, .number = number, .flag = flag, .loans = loans });
}

/* A job that must run alone counts as such (steal.c then requests no jobs) until it has ended. */
static void
test_runs_alone (void)
{
  g_autoptr (World) world = world_of_three ();
  const Held *held = &node_at (world, 1)->held;
  guint32 workers = node_at (world, 1)->config.workers;

  g_assert_cmpuint (workers, >, 1);
  node_at (world, 1)->steal.hungry = workers - 1;
  assert_fate (world, send_job (world, 3, "/3", 0, TRUE), 0, 0, 1);
  node_at (world, 1)->steal.hungry = workers;
  assert_fate (world, send_job (world, 4, "/4", 0, TRUE), 0, 1, 0);
  assert_fate (world, send_job (world, 5, "/5", 9, FALSE), 0, 0, 1);
  assert_fate (world, send_job (world, 6, "/6", 0, FALSE), 0, 1, 0);
  g_assert_cmpuint (held->alone, ==, 1);
  g_array_unref (end (world, held_for (world, 0, 4)));
  g_assert_cmpuint (held->alone, ==, 0);
}

/* Finds the one RESULT that is sent. */
static void
find_result (const GArray *effects, Message *result)
{
  guint n = 0;

  for (guint i = 0; i < effects->len; i++)
    {
      g_auto (Message) message = { 0 };
      if (!read_sent (&g_array_index (effects, NodeEffect, i), &message)
          || message.kind != MESSAGE_RESULT)
        continue;
      *result = message;
      message = (Message){ 0 };
      n++;
    }
  g_assert_cmpuint (n, ==, 1);
}

/* Everything that the engine reported of a finished job is in its RESULT and in its row; long
 * arguments are freed. */
static void
test_all_goes_along (void)
{
  g_autoptr (World) world = world_of_three ();
  g_autoptr (GBytes) args = g_bytes_new_take (g_malloc0 (LONG_ARGS), LONG_ARGS);
  Digest digest = digest_of_string ("/5");
  g_auto (Message) result = { 0 };

  g_array_unref (lend (world, 0, 9, "/5", args));
  g_autoptr (GArray) effects = end (world, held_for (world, 0, 9));
  const HeldJob *held = held_for (world, 0, 9);
  find_result (effects, &result);
  g_assert_cmpuint (result.number, ==, 9);
  g_assert_cmpstr (result.path, ==, "/5");
  g_assert_true (digest_equal (&result.digest, &digest));
  g_assert_cmpuint (result.work_us, ==, 50);
  g_assert_cmpuint (result.risk_us, ==, 40);
  g_assert_cmpuint (g_bytes_get_size (result.value), ==, 2);

  g_autoptr (Row) row = held_row (node_at (world, 1), held);
  g_assert_cmpstr (row->path, ==, "/5");
  g_assert_cmpuint (row->job, ==, 1);
  g_assert_true (digest_equal (&row->digest, &digest));
  g_assert_cmpfloat (row->weight, ==, 0.25);
  g_assert_cmpuint (row->work_us, ==, 50);
  g_assert_cmpuint (row->began_ms, ==, 30);
  g_assert_cmpuint (row->took_ms, ==, 20);
  g_assert_true (node_id_equal (&row->node, &node_at (world, 1)->self));
  g_assert_null (held->job->args);
  g_assert_cmpuint (node_at (world, 1)->held.unfinished, ==, 0);
  g_autoptr (GArray) again = end (world, held);
  g_autoptr (GArray) unknown = end (world, &(HeldJob){ .held = 99 });
  g_autoptr (GArray) unrun
      = step_alone (world, 1, &(NodeEvent){ .kind = NODE_EVENT_UNRUN, .held = held->held });
  g_assert_cmpuint (again->len + unknown->len + unrun->len, ==, 0);
  g_assert_cmpuint (node_at (world, 1)->held.unfinished, ==, 0);
}

/* Only the jobs that a departed member had lent become orphans. A lender that yields affects only
 * the job of one loan; for an unknown loan it does nothing. */
static void
test_only_theirs_is_orphaned (void)
{
  g_autoptr (World) world = world_of_three ();
  Node *node = node_at (world, 1);
  NodeId id = id_of (world, 2);

  for (guint64 loan = 1; loan <= 3; loan++)
    {
      g_autofree char *mine = g_strdup_printf ("/1/%d", (int)loan),
                      *other = g_strdup_printf ("/2/%d", (int)loan);
      lend_only (world, 0, loan, mine);
      lend_only (world, 2, loan, other);
    }
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_CANCELLED, .number = 9, .flag = TRUE });
  g_assert_cmpuint ((guint)g_tree_nnodes (node->held.by_return), ==, 6);
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_CANCELLED, .number = 2, .flag = TRUE });
  g_assert_cmpint (held_at (node, "/1/2")->lender, ==, LENDER_NONE);
  g_assert_true (held_at (node, "/1/2")->announced);
  g_assert_cmpuint ((guint)g_tree_nnodes (node->held.by_return), ==, 5);
  held_departed (alone (world, 1), &id);
  g_assert_cmpuint ((guint)g_tree_nnodes (node->held.by_return), ==, 2);
  g_assert_nonnull (held_for (world, 0, 1));
  g_assert_nonnull (held_for (world, 0, 3));
  g_assert_true (held_at (node, "/2/1")->announced && held_at (node, "/2/3")->announced);
}

/* Orphans are offered under the next name, and their work so far was given up. */
static void
test_all_is_orphaned (void)
{
  g_autoptr (World) world = world_of_three ();
  Node *node = node_at (world, 1);

  lend_only (world, 0, 1, "/1");
  lend_only (world, 2, 1, "/2");
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_CANCELLED, .number = 1, .flag = TRUE });
  HeldJob *own = add (alone (world, 1), "/3", LENDER_SELF, 3);
  held_orphan_all (node);
  g_assert_cmpint (own->lender, ==, LENDER_SELF);
  held_drop (node, own);
  g_assert_cmpuint ((guint)g_tree_nnodes (node->held.by_return), ==, 0);
  for (const char *const *path = (const char *const[]){ "/1", "/2", NULL }; *path != NULL; path++)
    {
      const HeldJob *held = held_at (node, *path);
      g_assert_cmpint (held->lender, ==, LENDER_NONE);
      g_assert_false (held->announced);
      g_assert_cmpuint (held->held, <=, node->held.renamed);
    }
}

/* Finds jobs that this node holds for itself, by their loan. While the node halts, a finished job
 * still counts as awaited, since its slot is not scanned any more. */
static void
test_finds_its_own (void)
{
  g_autoptr (World) world = world_of_three ();
  Node *node = alone (world, 1);
  HeldJob *all[4] = { add (node, "/1", LENDER_REPEAT, 5), add (node, "/2", LENDER_SELF, 4),
                      add (node, "/3", LENDER_SELF, 5), add (node, "/4", LENDER_REPEAT, 6) };

  g_assert_true (held_find_self (node, 4) == all[1]);
  g_assert_true (held_find_self (node, 5) == all[2]);
  g_assert_null (held_find_self (node, 6));
  g_assert_false (held_waits_for_self (node, 6));
  g_assert_true (held_waits_for_self (node, 5));
  all[2]->phase = HELD_FINISHED;
  g_assert_false (held_waits_for_self (node, 5));
  g_assert_true (held_waits_for_self (node, 4));
  node->stop.phase = STOP_HALTING;
  g_assert_true (held_waits_for_self (node, 5));
  node->stop.phase = STOP_RUNS;
  held_disown_self (node, 6);
  held_disown_self (node, 4);
  g_assert_cmpint (all[0]->lender, ==, LENDER_REPEAT);
  g_assert_cmpint (all[1]->lender, ==, LENDER_NONE);
  g_assert_cmpint (all[2]->lender, ==, LENDER_SELF);
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    held_drop (node, all[i]);
}

/* Three jobs with one path, dropped in each order: each key still finds the others. */
static void
test_one_path_of_many (void)
{
  g_autoptr (World) world = world_of_three ();
  Node *node = alone (world, 1);

  for (guint order = 0; order < 27; order++)
    {
      const guint at[3] = { order % 3, order / 3 % 3, order / 9 };
      HeldJob *all[3];
      if (at[0] == at[1] || at[1] == at[2] || at[0] == at[2])
        continue;
      for (guint i = 0; i < 3; i++)
        all[i] = add (node, "/6", LENDER_REPEAT, i);
      for (guint i = 0; i < 3; i++)
        {
          guint n = 0;
          held_drop (node, all[at[i]]);
          all[at[i]] = NULL;
          for (const HeldJob *held = held_at (node, "/6"); held != NULL; held = held->next)
            {
              g_assert_true (held == all[0] || held == all[1] || held == all[2]);
              g_assert_true (held_find (node, held->held) == held);
              g_assert_cmpstr (held->job->path, ==, "/6");
              n++;
            }
          g_assert_cmpuint (n, ==, 2 - i);
        }
    }
}

static void
count_lender (const NodeId *lender, gpointer data)
{
  GHashTable *counts = data;
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, GUINT_TO_POINTER (lender->number)));

  g_hash_table_insert (counts, GUINT_TO_POINTER (lender->number), GUINT_TO_POINTER (n + 1));
}

/* held_each_lender names each lender; a new lender knows nothing that the last one was told. */
static void
test_each_lender_is_told_anew (void)
{
  g_autoptr (World) world = world_of_three ();
  g_autoptr (GHashTable) counts = g_hash_table_new (NULL, NULL);
  Node *node = node_at (world, 1);
  NodeId first = id_of (world, 0), second = id_of (world, 2);

  lend_only (world, 0, 1, "/1");
  lend_only (world, 0, 2, "/2");
  lend_only (world, 2, 1, "/3");
  held_each_lender (node, count_lender, counts);
  g_assert_cmpuint (g_hash_table_size (counts), ==, 2);
  g_assert_cmpuint (
      GPOINTER_TO_UINT (g_hash_table_lookup (counts, GUINT_TO_POINTER (first.number))), ==, 2);

  HeldJob *held = held_for (world, 0, 1);
  held->told = (WorkTold){ .told_us = 1, .risk_us = 70, .busy = 3 };
  held->copy = HELD_COPY_OWED;
  held->copied_to = first;
  held->copy_number = 4;
  world->now_us += G_USEC_PER_SEC;
  node->now_us = world->now_us;
  held_set_lender (alone (world, 1), held, LENDER_NODE, &second, 6);
  g_assert_null (held_for (world, 0, 1));
  g_assert_true (held_for (world, 2, 6) == held);
  g_assert_cmpuint (held->told.told_us, ==, world->now_us);
  g_assert_cmpuint (held->told.risk_us, ==, 0);
  g_assert_cmpuint (held->told.busy, ==, 1);
  g_assert_cmpint (held->copy, ==, HELD_COPY_NONE);
  g_assert_true (node_id_is_none (&held->copied_to));
  g_assert_cmpuint (held->copy_number, ==, 0);
}

static guint
count_rows (Node *node, guint64 expected_us)
{
  guint64 risk_us = 1;
  g_autoptr (GPtrArray) rows = held_rows (node, &risk_us);

  g_assert_cmpuint (risk_us, ==, expected_us);
  return rows->len;
}

/* The row of each finished job is sent to each coordinator once, and its risk is counted once; a
 * running job has no row. A leaver hands over, once, the rows of finished jobs whose lender is no
 * other node. */
static void
test_rows_go_once (void)
{
  g_autoptr (World) world = world_of_three ();
  Node *node = node_at (world, 1);
  g_autoptr (GPtrArray) handed = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  for (guint64 loan = 1; loan <= 4; loan++)
    {
      g_autofree char *path = g_strdup_printf ("/%d", (int)loan);
      lend_only (world, 0, loan, path);
    }
  for (guint64 loan = 1; loan <= 3; loan++)
    g_array_unref (end (world, held_for (world, 0, loan)));
  g_assert_cmpuint (count_rows (node, 120), ==, 3);
  g_assert_cmpuint (count_rows (node, 0), ==, 0);
  held_forget_saved (node);
  g_assert_cmpuint (count_rows (node, 0), ==, 3);
  held_forget_saved (node);
  verify_second (node_at (world, 1), held_for (world, 0, 2), TRUE);
  g_assert_cmpuint (count_rows (node, 0), ==, 2);

  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_CANCELLED, .number = 1, .flag = TRUE });
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_CANCELLED, .number = 4, .flag = TRUE });
  held_collect (node, handed);
  held_collect (node, handed);
  g_assert_cmpuint (handed->len, ==, 1);
  g_assert_cmpstr (((Row *)handed->pdata[0])->path, ==, "/1");
}

#define LARGE 1000000

/* With a buddy the lender makes a row of a result, too. This node makes one only if the job was
 * long for the size of its value, or if the keeper has its row. */
static void
test_rows_that_are_worth_it (void)
{
  g_autoptr (World) world = world_new (0, FALSE);

  world->buddies = TRUE;
  for (guint i = 0; i < 3; i++)
    add_peer (world, FALSE);
  start (world);
  Node *node = node_at (world, 1);
  g_assert_true (buddy_takes (node));
  for (guint64 loan = 1; loan <= 3; loan++)
    {
      g_autofree char *path = g_strdup_printf ("/%d", (int)loan);
      lend_only (world, 0, loan, path);
      HeldJob *held = held_for (world, 0, loan);
      g_array_unref (end (world, held));
      held->word = HELD_NO_WORD;
      held->work_us = HELD_ROW_PRICE_US (g_bytes_get_size (held->value)) - 2 + loan;
    }
  held_forget_saved (node);
  guint64 risk_us;
  g_autoptr (GPtrArray) rows = held_rows (node, &risk_us);
  g_assert_cmpuint (rows->len, ==, 2);
  held_forget_saved (node);
  held_for (world, 0, 1)->word = HELD_KEPT;
  g_autoptr (GPtrArray) kept = held_rows (node, &risk_us);
  g_assert_cmpuint (kept->len, ==, 3);

  HeldJob *held = held_for (world, 0, 3);
  g_bytes_unref (held->value);
  held->value = g_bytes_new_take (g_malloc0 (LARGE), LARGE);
  for (guint more = 0; more < 2; more++)
    {
      held->work_us = HELD_ROW_PRICE_US (LARGE) - 1 + more;
      held_forget_saved (node);
      g_autoptr (GPtrArray) large = held_rows (node, &risk_us);
      g_assert_cmpuint (large->len, ==, 2 + more);
    }
  g_assert_cmpuint (HELD_ROW_PRICE_US (LARGE), >,
                    0.8 * LARGE); /* 1 ns for each byte is 0.12 % of the work */
}

/* An ACK of a job that still runs, or of an unknown loan, drops no job. */
static void
test_only_a_finished_one_is_acknowledged (void)
{
  g_autoptr (World) world = world_of_three ();
  Node *node = node_at (world, 1);

  lend_only (world, 0, 1, "/1");
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_ACK, .number = 1 });
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_ACK, .number = 2 });
  g_assert_nonnull (held_for (world, 0, 1));
  g_array_unref (end (world, held_for (world, 0, 1)));
  hear_only (world, 1, 2, &(Message){ .kind = MESSAGE_ACK, .number = 1 });
  g_assert_nonnull (held_for (world, 0, 1));
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_ACK, .number = 1 });
  g_assert_cmpuint ((guint)g_tree_nnodes (node->held.by_number), ==, 0);
}

/* If this node has a row of a lent job, the lender gets the result at once. A second computation
 * runs, and so does a job with another digest. */
static void
test_what_it_has_does_not_run (void)
{
  g_autoptr (World) world = world_of_three ();
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_autoptr (GPtrArray) loans = g_ptr_array_new_with_free_func ((GDestroyNotify)loan_free);
  g_autoptr (GBytes) value = g_bytes_new_static ("42", 2);
  Digest digest = digest_of_string ("/5"), other = digest_of_string ("/6");

  g_ptr_array_add (rows, row_new ("/5", 1, &digest, 0.1, 50, value));
  hear_only (world, 1, 2, &(Message){ .kind = MESSAGE_COPY, .count = BUDDY_HAND, .rows = rows });
  g_autoptr (GArray) had = lend (world, 0, 1, "/5", NULL);
  g_assert_cmpuint (count_sent (world, had, 1, 0, MESSAGE_RESULT), ==, 1);
  g_assert_cmpuint (count_effects (had, NODE_EFFECT_RUN), ==, 0);
  g_ptr_array_add (loans, loan_new (2, "/5", 1, &other, 0.1, NULL));
  g_ptr_array_add (loans, loan_new (3, "/5", 1, &digest, 0.1, NULL));
  ((Loan *)loans->pdata[1])->again = TRUE;
  g_autoptr (GArray) run = hear (world, 1, 0, &(Message){ .kind = MESSAGE_JOBS, .loans = loans });
  g_assert_cmpuint (count_effects (run, NODE_EFFECT_RUN), ==, 2);
  g_assert_cmpuint (count_sent (world, run, 1, 0, MESSAGE_RESULT), ==, 0);
}

/* In a round of saving, a job is saved once before it is dropped, since its lender's slot may have
 * been scanned already. A second computation is never saved. */
static void
test_what_goes_in_a_round_is_saved (void)
{
  g_autoptr (World) world = world_new (3, TRUE);
  Node *node = node_at (world, 1);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, G_USEC_PER_SEC / 2);
  start (world);
  for (guint64 loan = 1; loan <= 4; loan++)
    {
      g_autofree char *path = g_strdup_printf ("/%d", (int)loan);
      lend_only (world, 0, loan, path);
      g_array_unref (end (world, held_for (world, 0, loan)));
    }
  verify_second (node_at (world, 1), held_for (world, 0, 3), TRUE);
  held_for (world, 0, 4)->saved = TRUE;
  guint64 before = stats_of (world, 1).rows_sent;
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_ACK, .number = 1 });
  g_assert_cmpuint (stats_of (world, 1).rows_sent, ==, before);
  for (guint64 loan = 2; loan <= 4; loan++)
    hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_ACK, .number = loan, .flag = TRUE });
  g_assert_cmpuint (stats_of (world, 1).rows_sent, ==, before + 1);
  g_assert_cmpuint ((guint)g_tree_nnodes (node->held.by_number), ==, 0);

  lend_only (world, 0, 5, "/5");
  node->stop.phase = STOP_HALTED; /* a job that ends now is saved at once */
  g_array_unref (end (world, held_for (world, 0, 5)));
  g_assert_cmpuint (stats_of (world, 1).rows_sent, ==, before + 2);
}

/* A finished orphan is offered, too. Work that began under an earlier name was given up; it counts
 * as regained when a lender takes the result, not before. */
static void
test_what_was_given_up_is_regained (void)
{
  g_autoptr (World) world = world_of_three ();

  lend_only (world, 0, 1, "/1");
  lend_only (world, 0, 2, "/2");
  hear_only (world, 1, 0, &(Message){ .kind = MESSAGE_CANCELLED, .number = 1, .flag = TRUE });
  HeldJob *orphan = held_at (node_at (world, 1), "/1"), *held = held_for (world, 0, 2);
  node_at (world, 1)->held.renamed = node_at (world, 1)->held.numbers;
  g_autoptr (GArray) offered = end (world, orphan);
  g_assert_cmpuint (count_sent (world, offered, 1, 0, MESSAGE_HOLD), ==,
                    1); /* n0 is the directory */
  g_assert_cmpuint (count_sent (world, offered, 1, 2, MESSAGE_HOLD), ==, 0);
  const GPtrArray *taken = node_at (world, 1)->work.taken;
  g_assert_cmpuint (taken->len, ==, 0);
  g_array_unref (end (world, held));
  g_assert_cmpuint (taken->len, ==, 1);
  g_assert_cmpuint (((NodeTaken *)taken->pdata[0])->work_us, ==, 50);
}

/* Offers of other nodes are passed to the engine unchanged, and once. */
static void
test_offers_go_to_the_engine (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  NodeId holder = node_self (world->peer[2].node);
  MessageHold hold = { .path = "/4", .digest = digest_of_string ("/4"), .finished = 1 };
  g_autoptr (GArray) holds = g_array_new (FALSE, FALSE, sizeof (MessageHold));

  start (world);
  g_array_append_val (holds, hold);
  for (guint turn = 0; turn < 3; turn++)
    {
      guint n = 0;
      if (turn == 2) /* the same path with another digest is news */
        g_array_index (holds, MessageHold, 0).digest = digest_of_string ("/5");
      g_autoptr (GArray) effects
          = hear (world, 1, 2, &(Message){ .kind = MESSAGE_HOLD, .holds = holds });
      for (guint i = 0; i < effects->len; i++)
        {
          const NodeEffect *effect = &g_array_index (effects, NodeEffect, i);
          if (effect->kind != NODE_EFFECT_KNOWN)
            continue;
          n++;
          g_assert_cmpstr (effect->path, ==, "/4");
          g_assert_true (
              digest_equal (&effect->digest, &g_array_index (holds, MessageHold, 0).digest));
          g_assert_true (node_id_equal (&effect->node, &holder));
          g_assert_true (effect->finished);
          g_assert_cmpuint (effect->count, ==, 1);
        }
      g_assert_cmpuint (n, ==, turn != 1);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/held/each-loan-runs-once", test_each_loan_runs_once);
  g_test_add_func ("/held/goes-back-where-nothing-begins", test_goes_back_where_nothing_begins);
  g_test_add_func ("/held/runs-alone", test_runs_alone);
  g_test_add_func ("/held/all-goes-along", test_all_goes_along);
  g_test_add_func ("/held/only-theirs-is-orphaned", test_only_theirs_is_orphaned);
  g_test_add_func ("/held/all-is-orphaned", test_all_is_orphaned);
  g_test_add_func ("/held/finds-its-own", test_finds_its_own);
  g_test_add_func ("/held/one-path-of-many", test_one_path_of_many);
  g_test_add_func ("/held/each-lender-is-told-anew", test_each_lender_is_told_anew);
  g_test_add_func ("/held/rows-go-once", test_rows_go_once);
  g_test_add_func ("/held/rows-that-are-worth-it", test_rows_that_are_worth_it);
  g_test_add_func ("/held/only-a-finished-one-is-acknowledged",
                   test_only_a_finished_one_is_acknowledged);
  g_test_add_func ("/held/what-it-has-does-not-run", test_what_it_has_does_not_run);
  g_test_add_func ("/held/what-goes-in-a-round-is-saved", test_what_goes_in_a_round_is_saved);
  g_test_add_func ("/held/what-was-given-up-is-regained", test_what_was_given_up_is_regained);
  g_test_add_func ("/held/offers-go-to-the-engine", test_offers_go_to_the_engine);
  return g_test_run ();
}
