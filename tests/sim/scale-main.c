/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of sim-scale, which `sim --scale` starts. Without arguments it is a test of
 * `make check`. */
#include "config.h"

#include "scale.h"

#include "messages/message.h"

#include <stdio.h>
#include <string.h>

#define LEAVES_OF_A_NODE 64
#define BAD_USAGE 2

static gint option_nodes, option_sites = 1, option_leaf_ms = 10, option_leaves, option_cost_us = 10;
static gint64 option_seed = 1;
static double option_rtt_ms = 20;
static gboolean option_kills[SCALE_KILLS], option_figures;

static const GOptionEntry options[]
    = { { "scale", 0, 0, G_OPTION_ARG_INT, &option_nodes, "So many nodes", "NODES" },
        { "sites", 0, 0, G_OPTION_ARG_INT, &option_sites, "… on so many sites (1)", "S" },
        { "rtt", 0, 0, G_OPTION_ARG_DOUBLE, &option_rtt_ms,
          "… with this round trip from one to the other (20)", "MS" },
        { "leaf", 0, 0, G_OPTION_ARG_INT, &option_leaf_ms, "A leaf lasts so long (10)", "MS" },
        { "leaves", 0, 0, G_OPTION_ARG_INT, &option_leaves, "So many of them (64 for each node)",
          "N" },
        { "cost", 0, 0, G_OPTION_ARG_INT, &option_cost_us,
          "A node needs so long for each message that it sends or hears (10)", "US" },
        { "seed", 0, 0, G_OPTION_ARG_INT64, &option_seed, "The seed (1)", "SEED" },
        { "kill-one", 0, 0, G_OPTION_ARG_NONE, &option_kills[SCALE_ONE], "One node crashes at half",
          NULL },
        { "kill-half", 0, 0, G_OPTION_ARG_NONE, &option_kills[SCALE_HALF],
          "The second half of the nodes crashes at half", NULL },
        { "kill-site", 0, 0, G_OPTION_ARG_NONE, &option_kills[SCALE_SITE],
          "The last site crashes at half; each of these is a run of its own", NULL },
        { "figures", 0, 0, G_OPTION_ARG_NONE, &option_figures,
          "Print names and values for a program", NULL },
        G_OPTION_ENTRY_NULL };

static const char *
wrong (void)
{
  if (option_nodes < 1 || option_nodes > SIM_NODES_MAX)
    return "too few nodes, or too many";
  if (option_sites < 1 || option_sites > SCALE_SITES_MAX || option_sites > option_nodes)
    return "too few sites, or too many";
  if (option_leaves < 0 || option_leaves > (TREE_JOBS_MAX + 1) / 2 || option_leaf_ms < 1
      || option_leaf_ms > 1000000)
    return "the leaves are too many, or too long";
  if (option_rtt_ms * 1000 < SCALE_NEAR_US || option_rtt_ms > 10000 || option_cost_us < 0)
    return "the round trip or the cost is out of bounds";
  if (option_kills[SCALE_SITE] && option_sites < 2)
    return "nobody would be left";
  if ((option_kills[SCALE_ONE] || option_kills[SCALE_HALF]) && option_nodes < 2)
    return "nobody would be left";
  return NULL;
}

static int
command_scale (void)
{
  Scale scale = { .seed = (guint64)option_seed,
                  .n_nodes = (guint)option_nodes,
                  .n_sites = (guint)option_sites,
                  .round_trip_us = (guint64)(option_rtt_ms * 1000),
                  .leaf_us = (guint)option_leaf_ms * 1000,
                  .n_leaves = (guint)option_leaves,
                  .cost_us = (guint64)option_cost_us };
  g_autofree ScaleResult *result = g_new (ScaleResult, 1);
  gint64 start_us = g_get_monotonic_time ();

  memcpy (scale.kills, option_kills, sizeof scale.kills);
  if (scale.n_leaves == 0)
    scale.n_leaves = LEAVES_OF_A_NODE * scale.n_nodes;
  gboolean well = scale_run (&scale, result);
  if (option_figures && well)
    scale_print_figures (&scale, result);
  if (option_figures && well)
    return 0;
  scale_print (&scale, result);
  printf ("simulated in %.1f s\n", (double)(g_get_monotonic_time () - start_us) / G_USEC_PER_SEC);
  return !well;
}

/* ---- the test ---- */

#define TEST_NODES 16
#define TEST_LEAVES 4096
#define EFFICIENCY 0.93
#define COST_US 10
#define SLOW_COST_US 2000
#define OVER_IDEAL_ONE 1.10
#define OVER_IDEAL_SITE 1.40
#define NOTICED_US (100 * 1000)

static gboolean
run_test (guint64 cost_us, gboolean kills, ScaleResult *result)
{
  Scale scale = { .seed = 1,
                  .n_nodes = TEST_NODES,
                  .n_sites = 2,
                  .round_trip_us = 20000,
                  .leaf_us = 10000,
                  .n_leaves = TEST_LEAVES,
                  .cost_us = cost_us,
                  .kills = { [SCALE_ONE] = kills, [SCALE_SITE] = kills } };
  gboolean well = scale_run (&scale, result);

  if (!well)
    printf ("# %s%s%s\n", result->calm.failure, result->struck[SCALE_ONE].outcome.failure,
            result->struck[SCALE_SITE].outcome.failure);
  printf ("# %" G_GUINT64_FORMAT " us for a message: efficiency %.3f\n", cost_us,
          result->ideal_s / MAX (result->calm_s, 0.001));
  return well;
}

/* TRUE: the crash was noticed soon, and the run took hardly longer than with fewer nodes from the
 * start of the loss. */
static gboolean
costs_little (const ScaleStruck *struck, double most)
{
  const SimFigures *figures = &struck->outcome.figures;

  printf ("# %u killed: %.3f s, %.3f s without a loss\n", struck->n_victims, struck->seconds,
          struck->expected_s);
  return struck->seconds <= most * struck->expected_s && figures->struck_us > 0
         && figures->noticed_by_all_us > figures->struck_us
         && figures->noticed_by_all_us <= figures->struck_us + NOTICED_US;
}

/* TRUE: members that die together leave in one change of the roster, or two. The master finds some
 * of the deaths itself. */
static gboolean
is_told_once (const ScaleStruck *struck)
{
  const guint64 *said = struck->outcome.figures.run.said;
  guint left = TEST_NODES - struck->n_victims;

  printf ("# %u killed: %" G_GUINT64_FORMAT " rosters, %" G_GUINT64_FORMAT " told the master\n",
          struck->n_victims, said[MESSAGE_ROSTER], said[MESSAGE_GONE]);
  return said[MESSAGE_ROSTER] <= 2 * left && said[MESSAGE_GONE] == 0;
}

static gboolean
is_efficient (const ScaleResult *result)
{
  return result->ideal_s >= EFFICIENCY * result->calm_s;
}

static int
report (int number, gboolean well, const char *name)
{
  printf ("%sok %d - %s\n", well ? "" : "not ", number, name);
  return !well;
}

static int
test (void)
{
  g_autofree ScaleResult *result = g_new (ScaleResult, 1), *again = g_new (ScaleResult, 1);
  gboolean well = run_test (COST_US, TRUE, result);
  int bad = 0;

  printf ("1..7\n");
  bad += report (1, well, "the answer is right, also when nodes crash");
  bad += report (2, is_efficient (result), "16 nodes on 2 sites share out the work");
  bad += report (3, costs_little (&result->struck[SCALE_ONE], OVER_IDEAL_ONE),
                 "the crash of one costs little");
  bad += report (4, costs_little (&result->struck[SCALE_SITE], OVER_IDEAL_SITE),
                 "the crash of a site costs what it had finished alone");
  bad += report (5, is_told_once (&result->struck[SCALE_SITE]),
                 "those who die together are told once");
  well = run_test (COST_US, FALSE, again);
  bad += report (
      6,
      well
          && memcmp (&result->calm.figures, &again->calm.figures, sizeof result->calm.figures) == 0,
      "the same seed gives the same run");
  well = run_test (SLOW_COST_US, FALSE, again);
  bad += report (7, well && !is_efficient (again),
                 "nodes that are slow to hear messages are not efficient");
  return bad > 0;
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("- many nodes in virtual time");
  g_autoptr (GError) error = NULL;

  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    {
      fprintf (stderr, "%s\n", error->message);
      return BAD_USAGE;
    }
  if (option_nodes != 0 && wrong () != NULL)
    {
      fprintf (stderr, "sim: %s\n", wrong ());
      return BAD_USAGE;
    }
  return option_nodes != 0 ? command_scale () : test ();
}
