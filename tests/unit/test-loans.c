/* SPDX-License-Identifier: BSD-3-Clause */
/* How a lender handles a result: only the result that it waits for counts, with all that comes with
 * it. */
#include "node-world.h"

#include "satin/protocol/core.h"

static NodeEffect put; /* the last PUT of n0; n_put: the number of PUTs */
static guint n_put, n_acks, n_vain, n_tells;

static void
watch (World *world, guint who, const NodeEffect *effect)
{
  (void)world;
  if (who != 0)
    return;
  MessageKind kind = kind_sent (effect);
  n_acks += kind == MESSAGE_ACK;
  n_vain += kind == MESSAGE_CANCELLED;
  n_tells += effect->kind == NODE_EFFECT_TELL;
  if (effect->kind != NODE_EFFECT_PUT)
    return;
  n_put++;
  put = (NodeEffect){ .loan = effect->loan,
                      .work_us = effect->work_us,
                      .risk_us = effect->risk_us,
                      .count = effect->shares == NULL ? 0 : effect->shares->len };
}

/* n0 has lent n1 the job at /1. */
static World *
world_with_loan (guint64 *loan, gboolean checkpoint)
{
  World *world = world_new (3, checkpoint);

  if (checkpoint)
    tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);
  *loan = offer (world, 0, "/1");
  hunger (world, 1);
  g_assert_true (said (world, 1, "RUN /1"));
  n_put = n_acks = n_vain = n_tells = 0;
  world->watch = watch;
  return world;
}

static Message
result_of (guint64 loan, GBytes *value)
{
  return (Message){ .kind = MESSAGE_RESULT,
                    .number = loan,
                    .path = "/1",
                    .digest = digest_of_string ("/1"),
                    .value = value,
                    .work_us = 700,
                    .risk_us = 300 };
}

static void
test_all_of_it (void)
{
  guint64 loan;
  g_autoptr (World) world = world_with_loan (&loan, FALSE);
  g_autoptr (GBytes) value = g_bytes_new_static ("v", 1), bytes = g_bytes_new_static ("byte", 4);
  g_autoptr (GPtrArray) shares = shared_list_new ();
  SharedStore *store = world->peer[0].node->shares.store;
  Digest digest = digest_of_data ("byte", 4);
  Message result = result_of (loan, value);
  result.work_us = 2 * WORK_MOVED_US;
  result.risk_us = WORK_MOVED_US; /* so much that the other nodes must learn of it */
  guint64 before = stats_of (world, 0).unpublished_us;

  g_ptr_array_add (shares, shared_enter (store, &digest, 4));
  g_assert_true (shared_keep (shares->pdata[0], bytes));
  result.shares = shares;
  deliver (world, link_between (world, 0, 1), 0, &result);
  g_assert_cmpuint (n_put, ==, 1);
  g_assert_cmpuint (n_acks, >, 0);
  g_assert_cmpuint (n_vain, ==, 0);
  g_assert_cmpuint (put.loan, ==, loan);
  g_assert_cmpuint (put.work_us, ==, 2 * WORK_MOVED_US);
  g_assert_cmpuint (put.risk_us, ==, WORK_MOVED_US);
  g_assert_cmpuint (n_tells, >, 0);
  g_assert_cmpuint (put.count, ==, 1);
  g_assert_cmpuint (stats_of (world, 0).unpublished_us, ==, before);
  deliver (world, link_between (world, 0, 1), 0, &result); /* once more: no slot waits for it */
  g_assert_cmpuint (n_put, ==, 1);
  g_assert_cmpuint (n_vain, >, 0);
}

/* T4-4. A result for another path, other arguments or another loan, or from a node that does not
 * hold the job, is refused. */
static void
test_another (void)
{
  guint64 loan;
  g_autoptr (World) world = world_with_loan (&loan, FALSE);
  g_autoptr (GBytes) value = g_bytes_new_static ("v", 1);

  for (guint i = 0; i < 4; i++)
    {
      Message result = result_of (loan, value);
      if (i == 0)
        result.path = "/1/1";
      else if (i == 1)
        result.digest = digest_of_string ("/2");
      else if (i == 2)
        result.number++;
      deliver (world, link_between (world, 0, i == 3 ? 2 : 1), 0, &result);
      g_assert_cmpuint (n_vain, ==, i + 1);
      g_assert_cmpuint (n_put + n_acks, ==, 0);
      g_assert_cmpuint (stats_of (world, 0).lent, ==, 1);
    }
}

/* The slot may have been scanned for the last time: the holder gets no acknowledgement, keeps the
 * result, and saves it. */
static void
test_halting (void)
{
  guint64 loan;
  g_autoptr (World) world = world_with_loan (&loan, TRUE);
  g_autoptr (GBytes) value = g_bytes_new_static ("v", 1);
  Message result = result_of (loan, value);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND });
  g_assert_true (stop_halts (world->peer[0].node));
  n_put = n_acks = n_vain = 0;
  deliver (world, link_between (world, 0, 1), 0, &result);
  g_assert_cmpuint (n_put + n_acks + n_vain, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/loans/a-result-comes-with-all-of-it", test_all_of_it);
  g_test_add_func ("/loans/another-result-does-not-count", test_another);
  g_test_add_func ("/loans/a-result-stays-away-while-all-halts", test_halting);
  return g_test_run ();
}
