/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs many nodes on several sites that share a balanced tree of leaves of equal duration. Nothing
 * is saved, so what is measured is the protocol between the nodes. */
#include "config.h"

#include "scale.h"

#include "messages/message.h"

#include <stdio.h>

#define LOOK_US 1000
#define START_US 5000        /* The interval between the starts of two processes. */
#define SETTLE_US SIM_SECOND /* The time from the last start to the start of the root … */
#define SETTLE_TRIPS 20      /* … and this many round trips more. */
#define PATIENCE_US (3600 * SIM_SECOND)
#define TOP_KINDS 10

static Plan
new_plan (const Scale *scale, const Tree *tree)
{
  guint64 join_us = (guint64)scale->n_nodes * START_US;

  return (Plan){ .seed = scale->seed,
                 .tree = tree,
                 .n_nodes = scale->n_nodes,
                 .n_sites = scale->n_sites,
                 .seats = 1,
                 .stacks_extra = 3,
                 .delay_us = SCALE_NEAR_US / 2,
                 .even_delays = TRUE,
                 .wan_us = scale->n_sites > 1 ? (scale->round_trip_us - SCALE_NEAR_US) / 2 : 0,
                 .join_us = join_us,
                 .main_us = join_us + SETTLE_US + SETTLE_TRIPS * scale->round_trip_us,
                 .tell_us = SIM_SECOND,
                 .cost_us = scale->cost_us,
                 .look_us = LOOK_US,
                 .unwatched = TRUE,
                 .patience_us = PATIENCE_US };
}

static double
seconds_of (const Outcome *outcome)
{
  return (double)(outcome->figures.answered_us - outcome->figures.begun_us) / SIM_SECOND;
}

static guint
victims (const Scale *scale, ScaleKill kill)
{
  guint last = scale->n_sites - 1;

  return kill == SCALE_ONE    ? 1
         : kill == SCALE_HALF ? scale->n_nodes / 2
                              : (scale->n_nodes - last + scale->n_sites - 1) / scale->n_sites;
}

static gboolean
is_well (const Outcome *outcome)
{
  return outcome->failure[0] == '\0' && outcome->answered;
}

static Fault
new_fault (const Scale *scale, ScaleKill kill, const Outcome *calm)
{
  const SimFigures *figures = &calm->figures;
  gboolean site = kill == SCALE_SITE;
  guint n = site ? 1 : victims (scale, kill);

  return (Fault){ .kind = FAULT_CRASH,
                  .every = site ? scale->n_sites : scale->n_nodes,
                  .node = site ? scale->n_sites - 1 : scale->n_nodes - n,
                  .count = n,
                  .at_us = (figures->begun_us + figures->answered_us) / 2 };
}

static gboolean
run_struck (const Scale *scale, const Plan *calm, ScaleKill kill, ScaleResult *result)
{
  ScaleStruck *struck = &result->struck[kill];
  Plan plan = *calm;
  guint n = victims (scale, kill);

  plan.faults[plan.n_faults++] = new_fault (scale, kill, &result->calm);
  sim_run (&plan, SIM_NOTHING, &struck->outcome);
  struck->n_victims = n;
  struck->seconds = seconds_of (&struck->outcome);
  struck->expected_s = result->calm_s / 2 * (1 + (double)scale->n_nodes / (scale->n_nodes - n));
  return is_well (&struck->outcome);
}

gboolean
scale_run (const Scale *scale, ScaleResult *result)
{
  TreeShape shape = { .seed = scale->seed,
                      .n = 2 * scale->n_leaves - 1,
                      .balanced = TRUE,
                      .even = TRUE,
                      .cost_max_us = scale->leaf_us };
  g_autoptr (Tree) tree = tree_new (&shape);
  Plan plan = new_plan (scale, tree);

  *result = (ScaleResult){ 0 };
  result->ideal_s = (double)tree->work_us / scale->n_nodes / SIM_SECOND;
  sim_run (&plan, SIM_NOTHING, &result->calm);
  result->calm_s = seconds_of (&result->calm);
  gboolean well = is_well (&result->calm);
  for (ScaleKill kill = 0; kill < SCALE_KILLS; kill++)
    if (well && scale->kills[kill])
      well = run_struck (scale, &plan, kill, result);
  return well;
}

/* ---- output ---- */

static guint64
messages_of (const SimSaid *said)
{
  guint64 n = 0;

  for (guint kind = 0; kind < MESSAGE_KINDS; kind++)
    n += said->said[kind];
  return n;
}

static void
print_kinds (const SimSaid *said)
{
  SimSaid left = *said;

  for (guint i = 0; i < TOP_KINDS; i++)
    {
      guint most = 0;
      for (guint kind = 1; kind < MESSAGE_KINDS; kind++)
        most = left.said[kind] > left.said[most] ? kind : most;
      if (left.said[most] == 0)
        break;
      printf ("%s %s %" G_GUINT64_FORMAT, i > 0 ? "," : "", message_kind_name (most),
              left.said[most]);
      left.said[most] = 0;
    }
  printf ("\n");
}

static void
print_said (const Scale *scale, const char *when, const SimSaid *said)
{
  guint64 n = messages_of (said);

  printf ("  %s%" G_GUINT64_FORMAT " messages, %.0f a node, %.0f bytes each:", when, n,
          (double)n / scale->n_nodes, (double)said->bytes / (double)MAX (n, 1));
  print_kinds (said);
}

static void
print_outcome (const Scale *scale, const Outcome *outcome)
{
  const SimFigures *figures = &outcome->figures;

  print_said (scale, "joining     ", &figures->before);
  print_said (scale, "running     ", &figures->run);
  printf ("  queue       %u messages at most; links: %.1f a node, %u at most; jobs lent "
          "%" G_GUINT64_FORMAT "\n",
          figures->queue_most, (double)figures->links / scale->n_nodes, figures->links_most,
          outcome->jobs_lent);
  printf ("  executed    %" G_GUINT64_FORMAT " jobs of %u; last member at %.3f s, root at %.3f s\n",
          outcome->executed, 2 * scale->n_leaves - 1, (double)figures->joined_us / SIM_SECOND,
          (double)figures->begun_us / SIM_SECOND);
}

/* Milliseconds from the fault until then; 0: it never happened. */
static double
after_ms (const SimFigures *figures, guint64 then_us)
{
  return then_us == 0 ? 0 : (double)(then_us - figures->struck_us) / 1000;
}

/* The messages that a crash causes. Only kinds that a run without a crash hardly has are counted:
 * messages of ordinary work vary far more with the order of the steals. */
static SimSaid
messages_more (const ScaleResult *result, const ScaleStruck *struck)
{
  static const MessageKind work[] = { MESSAGE_STEAL, MESSAGE_JOBS, MESSAGE_RETURNED, MESSAGE_RESULT,
                                      MESSAGE_ACK,   MESSAGE_WORK, MESSAGE_PING };
  SimSaid calm = result->calm.figures.run, more = struck->outcome.figures.run;

  for (guint i = 0; i < G_N_ELEMENTS (work); i++)
    more.said[work[i]] = 0;
  for (guint kind = 0; kind < MESSAGE_KINDS; kind++)
    more.said[kind] -= MIN (more.said[kind], calm.said[kind]);
  return more;
}

static void
print_struck (const Scale *scale, const ScaleResult *result, const ScaleStruck *struck)
{
  const SimFigures *figures = &struck->outcome.figures;
  SimSaid more = messages_more (result, struck);

  printf ("with %u of %u killed at half\n", struck->n_victims, scale->n_nodes);
  if (!is_well (&struck->outcome))
    {
      printf ("  FAILED: %s\n", struck->outcome.failure);
      return;
    }
  printf ("  elapsed     %.3f s; %.3f s if nothing were lost: over ideal %.3f\n", struck->seconds,
          struck->expected_s, struck->seconds / struck->expected_s);
  printf ("  noticed     by the first after %.1f ms, by all after %.1f ms; repaired after "
          "%.1f ms\n",
          after_ms (figures, figures->noticed_us), after_ms (figures, figures->noticed_by_all_us),
          after_ms (figures, figures->repaired_us));
  printf ("  jobs        lost %" G_GUINT64_FORMAT ", adopted %" G_GUINT64_FORMAT "\n",
          struck->outcome.lost, struck->outcome.adopted);
  printf ("  caused      %" G_GUINT64_FORMAT " messages besides those of ordinary work:",
          messages_of (&more));
  print_kinds (&more);
  print_outcome (scale, &struck->outcome);
}

void
scale_print (const Scale *scale, const ScaleResult *result)
{
  printf ("%u nodes on %u sites, round trip %.1f ms (%.1f ms in a site), %u leaves of %.1f ms, "
          "%" G_GUINT64_FORMAT " us for each message; seed %" G_GUINT64_FORMAT "\n",
          scale->n_nodes, scale->n_sites, (double)scale->round_trip_us / 1000,
          SCALE_NEAR_US / 1000.0, scale->n_leaves, scale->leaf_us / 1000.0, scale->cost_us,
          scale->seed);
  if (!is_well (&result->calm))
    {
      printf ("  FAILED: %s\n", result->calm.failure);
      return;
    }
  printf ("  elapsed     %.3f s of ideally %.3f s: efficiency %.3f\n", result->calm_s,
          result->ideal_s, result->ideal_s / result->calm_s);
  print_outcome (scale, &result->calm);
  for (ScaleKill kill = 0; kill < SCALE_KILLS; kill++)
    if (scale->kills[kill])
      print_struck (scale, result, &result->struck[kill]);
}

void
scale_print_figures (const Scale *scale, const ScaleResult *result)
{
  static const char *const names[SCALE_KILLS] = { "one", "half", "site" };
  const SimFigures *calm = &result->calm.figures;

  printf ("efficiency %.3f\n", result->ideal_s / result->calm_s);
  printf ("joining_messages %.0f\n", (double)messages_of (&calm->before) / scale->n_nodes);
  printf ("running_messages %.0f\n", (double)messages_of (&calm->run) / scale->n_nodes);
  printf ("queue %u\nlinks %u\n", calm->queue_most, calm->links_most);
  for (ScaleKill kill = 0; kill < SCALE_KILLS; kill++)
    {
      const ScaleStruck *struck = &result->struck[kill];
      const SimFigures *figures = &struck->outcome.figures;
      if (!scale->kills[kill] || !is_well (&struck->outcome))
        continue;
      printf ("%s_over_ideal %.3f\n", names[kill], struck->seconds / struck->expected_s);
      printf ("%s_noticed_ms %.0f\n", names[kill], after_ms (figures, figures->noticed_by_all_us));
      SimSaid more = messages_more (result, struck);
      printf ("%s_messages %" G_GUINT64_FORMAT "\n", names[kill], messages_of (&more));
    }
}
