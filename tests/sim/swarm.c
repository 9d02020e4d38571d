/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws plans (see swarm.h). */
#include "config.h"

#include "swarm.h"

/* These runs take long. */
#define SPLIT_PERCENT 3
#define LEASE_PERCENT 8
#define LEAVES_PERCENT 6
#define POISON_PERCENT 6
#define SITES_PERCENT 12
#define SLOW_SCANS_PERCENT 60
#define CALM_PERCENT 6
#define CLOSED_PERCENT 20
#define PARTED_PERCENT 3
#define HALF_OPEN_PERCENT 4
#define IMPATIENT_PERCENT 30
#define BUDDIES_PERCENT 60
#define RING_PERCENT 40  /* Of those. */
#define THEFT_PERCENT 50 /* Of those. */
#define CUT_PERCENT 15   /* Of the runs with a checkpoint and without buddies. */
#define REPEATS_PERCENT 6
#define MIRROR_PERCENT 25 /* Of the runs with buddies: as in plan mirror. */
#define SPARSE_PERCENT 30

static const Tree *
draw_tree (Rng *rng, guint64 delay_us)
{
  static const guint64 delays[] = { 1, 4, 20, 60 };
  guint64 size = rng_below (rng, 100);
  TreeShape shape = { .seed = rng_next (rng), .big_values = rng_chance (rng, 20) };

  shape.keeps = rng_chance (rng, 50) ? (guint)rng_between (rng, 10, 100) : 0;

  shape.n = (guint)(size < 50   ? rng_between (rng, 1, 15)
                    : size < 88 ? rng_between (rng, 16, 40)
                                : rng_between (rng, 41, TREE_JOBS_MAX));
  shape.depth_bias = (guint)(rng_chance (rng, 6) ? rng_between (rng, 90, 99) : rng_below (rng, 60));
  if (shape.depth_bias >= 90)
    shape.n = TREE_JOBS_MAX; /* Deep enough for stems. */
  shape.aborts = (guint)(rng_chance (rng, 40) ? rng_between (rng, 10, 70) : 0);
  shape.shares = shape.seed % 2 == 0 ? 10 + (guint)(shape.seed / 2 % 70) : 0;
  shape.roots = tree_draw_roots (shape.seed);
  shape.cost_max_us = (guint32)(100 + delay_us * rng_one_of (rng, delays, G_N_ELEMENTS (delays)));
  return tree_new (&shape);
}

/* Mostly short spans; some are longer than the limit of silence. */
static guint64
draw_span (Rng *rng, guint64 run_us)
{
  if (rng_chance (rng, 60))
    return rng_below (rng, run_us) + 1;
  if (rng_chance (rng, 60))
    return rng_between (rng, SIM_SECOND / 10, 3 * SIM_SECOND);
  return rng_between (rng, 20 * SIM_SECOND, 80 * SIM_SECOND);
}

static void
draw_faults (Rng *rng, Plan *plan)
{
  guint kinds[FAULT_KINDS], n_kinds = 0;
  guint64 run_us = plan->tree->work_us / plan->n_nodes + 20 * plan->delay_us + plan->join_us;

  for (guint kind = FAULT_CRASH; kind < FAULT_POISON; kind++)
    if (rng_chance (rng, kind == FAULT_CRASH ? 60 : 25))
      kinds[n_kinds++] = kind;
  if (n_kinds == 0 || rng_chance (rng, 5))
    return;
  plan->n_faults = (guint)rng_between (rng, 1, rng_chance (rng, 80) ? 3 : SIM_FAULTS_MAX);
  for (guint i = 0; i < plan->n_faults; i++)
    {
      Fault *fault = &plan->faults[i];
      fault->kind = kinds[rng_below (rng, n_kinds)];
      fault->node = (guint)rng_below (rng, 8);
      fault->count = (guint)rng_between (rng, 1, 4);
      fault->at_us = rng_below (rng, run_us + run_us / 2);
      if (fault->kind == FAULT_PAUSE || fault->kind == FAULT_CLOG || fault->kind == FAULT_APART
          || fault->kind == FAULT_SLOW)
        fault->for_us = draw_span (rng, run_us);
      if (fault->kind == FAULT_LEAVE && rng_chance (rng, 30))
        fault->for_us = rng_below (rng, run_us) + 1;
    }
}

/* TRUE: the run lasts long in virtual time, because it contains silence. Saving all the while would
 * only cost real time. */
static gboolean
is_long (const Plan *plan)
{
  for (guint i = 0; i < plan->n_faults; i++)
    if (plan->faults[i].kind == FAULT_VANISH || plan->faults[i].kind == FAULT_HALF
        || plan->faults[i].for_us > SIM_SECOND)
      return TRUE;
  return FALSE;
}

/* Jobs so long that the run outlasts false alarms: both sides of a split go on and meet again. */
static void
draw_split (Rng *rng, Plan *plan)
{
  TreeShape shape = { .seed = rng_next (rng),
                      .n = (guint)rng_between (rng, 7, 20),
                      .depth_bias = (guint)rng_below (rng, 40),
                      .keeps = (guint)rng_below (rng, 60),
                      .aborts = rng_chance (rng, 30) ? 40 : 0,
                      .cost_max_us = (guint32)rng_between (rng, 10, 40) * (guint32)SIM_SECOND };

  shape.shares = shape.seed % 2 == 0 ? 40 : 0;
  shape.roots = tree_draw_roots (shape.seed);

  plan->tree = tree_new (&shape);
  plan->n_nodes = (guint)rng_between (rng, 2, 4);
  plan->solo = plan->slow_node = FALSE;
  plan->join_us = SIM_SECOND;
  plan->n_faults = (guint)rng_between (rng, 1, 3);
  for (guint i = 0; i < plan->n_faults; i++)
    {
      Fault *fault = &plan->faults[i];
      fault->kind
          = (FaultKind)(rng_chance (rng, 60)   ? rng_between (rng, FAULT_CLOG, FAULT_HALF)
                        : rng_chance (rng, 60) ? FAULT_PAUSE
                                               : rng_between (rng, FAULT_CRASH, FAULT_JOIN));
      fault->count = (guint)rng_between (rng, 1, 3);
      fault->node = (guint)rng_below (rng, 8);
      fault->at_us = rng_below (rng, plan->tree->work_us / plan->n_nodes);
      fault->for_us = rng_between (rng, 25 * SIM_SECOND, 70 * SIM_SECOND);
    }
}

/* Jobs as long as commits: coordinators are elected, slow, struck, and two at a time. */
static void
draw_lease (Rng *rng, Plan *plan)
{
  static const FaultKind kinds[] = { FAULT_HEAD,  FAULT_HEAD,  FAULT_HEAD,    FAULT_SLOW,
                                     FAULT_SLOW,  FAULT_CRASH, FAULT_PAUSE,   FAULT_PAUSE,
                                     FAULT_JOIN,  FAULT_SAVE,  FAULT_SUSPEND, FAULT_TOTAL,
                                     FAULT_APART, FAULT_RESET };
  TreeShape shape = { .seed = rng_next (rng),
                      .n = (guint)rng_between (rng, 15, 60),
                      .depth_bias = (guint)rng_below (rng, 40),
                      .keeps = (guint)rng_below (rng, 60),
                      .aborts = rng_chance (rng, 30) ? 40 : 0,
                      .cost_max_us = (guint32)rng_between (rng, 20000, 800000) };

  shape.shares = shape.seed % 2 == 0 ? 40 : 0;

  plan->tree = tree_new (&shape);
  plan->checkpoint = TRUE;
  plan->naive = plan->solo = FALSE;
  plan->n_nodes = (guint)rng_between (rng, 2, 8);
  plan->join_us = rng_below (rng, SIM_SECOND);
  plan->settle_us = 1 + rng_below (rng, SIM_SECOND / 10);
  plan->commit_us = rng_between (rng, 100000, 2000000);
  plan->save_us = rng_between (rng, 20000, 200000);
  plan->publish_us = rng_between (rng, 20000, 500000);
  plan->n_faults = (guint)rng_below (rng, 5);
  if (rng_chance (rng, 40)) /* Nothing else goes wrong: nothing may be missing. */
    {
      plan->n_faults = 1;
      plan->faults[0].kind = rng_chance (rng, 50) ? FAULT_SAVE : FAULT_SUSPEND;
      plan->faults[0].at_us = rng_below (rng, 2 * SIM_SECOND);
      plan->faults[0].count = 2;
      return;
    }
  for (guint i = 0; i < plan->n_faults; i++)
    {
      Fault *fault = &plan->faults[i];
      fault->kind = kinds[rng_below (rng, G_N_ELEMENTS (kinds))];
      fault->node = (guint)rng_below (rng, 8);
      fault->count = (guint)rng_between (rng, 1, 4);
      fault->at_us = rng_below (rng, plan->tree->work_us / plan->n_nodes + 2 * SIM_SECOND);
      fault->for_us = rng_between (rng, SIM_SECOND / 10,
                                   rng_chance (rng, 30) ? 60 * SIM_SECOND : 5 * SIM_SECOND);
    }
}

/* Nothing goes wrong, but nodes leave: none of their results may be computed again. */
static void
draw_leaves (Rng *rng, Plan *plan)
{
  plan->n_nodes = (guint)rng_between (rng, 2, 6);
  plan->n_faults = (guint)rng_between (rng, 1, plan->n_nodes);
  plan->even_delays = TRUE;
  plan->naive = plan->solo = plan->swings = FALSE;
  plan->large = 0;
  plan->wan_us = 0;
  for (guint i = 0; i < plan->n_faults; i++)
    plan->faults[i] = (Fault){ .kind = rng_chance (rng, 85) ? FAULT_LEAVE : FAULT_SUSPEND,
                               .node = (guint)rng_below (rng, 8),
                               .count = 1,
                               .at_us = rng_below (rng, plan->tree->work_us / plan->n_nodes + 1) };
}

/* Draws shorter time limits than usual, but none shorter than the delays of healthy links. */
static void
draw_patience (Rng *rng, Plan *plan)
{
  guint64 slow_us = plan->delay_us * (plan->swings ? 40 : 1) + plan->wan_us;

  plan->heartbeat_us = MAX (slow_us * rng_between (rng, 20, 60), SIM_SECOND / 50);
  plan->silence_us = plan->heartbeat_us
                     * rng_between (rng, NODE_SILENCE_HEARTBEATS, 2 * NODE_SILENCE_HEARTBEATS);
}

/* Half-open links are the only faults, so no process may be taken for dead. */
static void
draw_half_open (Rng *rng, Plan *plan)
{
  plan->n_nodes = (guint)rng_between (rng, 2, 5);
  plan->solo = plan->swings = FALSE;
  draw_patience (rng, plan);
  plan->large = 0;
  plan->join_us = 0;
  plan->main_us = 30 * (plan->delay_us + plan->wan_us);
  plan->n_faults = 1;
  plan->faults[0] = (Fault){
    .kind = FAULT_HALF,
    .node = (guint)rng_below (rng, 8),
    .at_us = plan->main_us + rng_below (rng, plan->tree->work_us / plan->n_nodes + 1),
  };
}

/* A job that no process survives, with other faults or alone. */
static void
draw_poison (guint64 seed, Plan *plan)
{
  Rng rng = { rng_mix (seed ^ 0x706f69736f6e) };

  if (!rng_chance (&rng, POISON_PERCENT) || plan->n_faults == SIM_FAULTS_MAX)
    return;
  if (rng_chance (&rng, 50))
    plan->n_faults = 0;
  plan->mute = rng_chance (&rng, 30);
  plan->heavy = plan->seats > 1 && rng_chance (&rng, 30);
  plan->faults[plan->n_faults++]
      = (Fault){ .kind = FAULT_POISON, .count = (guint)rng_below (&rng, plan->tree->n) };
}

/* The time that main needs between two roots: none, or so long that faults strike in it. */
static guint64
draw_between (guint64 seed, const Plan *plan)
{
  Rng rng = { rng_mix (seed ^ 0x726f6f7473) };
  const guint64 between[] = { 0, 10 * plan->delay_us, plan->tree->work_us / plan->n_nodes / 4 };

  return rng_one_of (&rng, between, G_N_ELEMENTS (between));
}

/* Engines that are slow to answer. */
static void
draw_scans (guint64 seed, Plan *plan)
{
  Rng rng = { rng_mix (seed ^ 0x7363616e73) };

  if (rng_chance (&rng, SLOW_SCANS_PERCENT))
    plan->scan_us = rng_chance (&rng, 70) ? 1 + rng_below (&rng, 20 * plan->delay_us)
                                          : 1 + rng_below (&rng, SIM_SECOND / 5);
}

/* Jobs that are short compared with the run, so that every needless wait is visible. */
static void
draw_calm_tree (Rng *rng, Plan *plan)
{
  TreeShape shape = { .seed = rng_next (rng),
                      .n = TREE_JOBS_MAX,
                      .depth_bias = (guint)rng_below (rng, 40),
                      .keeps = (guint)rng_below (rng, 60),
                      .aborts = rng_chance (rng, 20) ? 40 : 0,
                      .cost_max_us = (guint32)rng_between (rng, 2000, 40000) };

  shape.shares = shape.seed % 2 == 0 ? 40 : 0;
  shape.roots = tree_draw_roots (shape.seed);
  tree_free ((Tree *)plan->tree);
  plan->tree = tree_new (&shape);
  plan->delay_us = MIN (plan->delay_us, 1000);
  plan->wan_us = 0;
  plan->scan_us = MIN (plan->scan_us, 5000);
  plan->commit_us = MIN (plan->commit_us, 5000);
  plan->slow_node = FALSE;
}

/* Nothing goes wrong. The user saves, suspends, adds nodes and makes nodes leave, sometimes while
 * another of these is under way: each ends soon and without a time limit. */
static void
draw_calm (guint64 seed, Plan *plan)
{
  static const FaultKind kinds[] = { FAULT_SAVE, FAULT_SAVE, FAULT_JOIN, FAULT_LEAVE };
  Rng own = { rng_mix (seed ^ 0x63616c6d) }, *rng = &own;

  if (plan->solo || plan->naive || !rng_chance (rng, CALM_PERCENT))
    return;
  if (rng_chance (rng, 70))
    draw_calm_tree (rng, plan);
  plan->checkpoint = TRUE;
  plan->swings = FALSE;
  plan->unable = plan->elsewhere = 0;
  plan->n_faults = (guint)rng_between (rng, 1, SIM_FAULTS_MAX);
  guint64 run_us = plan->tree->work_us / plan->n_nodes + 20 * plan->delay_us + plan->join_us;
  for (guint i = 0; i < plan->n_faults; i++)
    {
      Fault *fault = &plan->faults[i];
      guint64 after_us = rng_below (rng, 20 * plan->delay_us + plan->scan_us + 1);
      *fault = (Fault){ .kind = kinds[rng_below (rng, G_N_ELEMENTS (kinds))],
                        .node = (guint)rng_below (rng, 8),
                        .count = (guint)rng_between (rng, 1, 4),
                        .at_us = i == 0 || rng_chance (rng, 50)
                                     ? rng_below (rng, run_us)
                                     : plan->faults[i - 1].at_us + after_us };
    }
  if (rng_chance (rng, 30))
    plan->faults[plan->n_faults - 1].kind = FAULT_SUSPEND;
}

/* A closed run, and processes that try to join uninvited. */
static void
draw_closed (guint64 seed, Plan *plan)
{
  Rng rng = { rng_mix (seed ^ 0x636c6f736564) };

  plan->closed = rng_chance (&rng, CLOSED_PERCENT);
  plan->strangers = (guint)rng_between (&rng, 0, 100);
  if (plan->closed && !plan->solo && plan->n_faults < SIM_FAULTS_MAX && rng_chance (&rng, 30))
    plan->faults[plan->n_faults++]
        = (Fault){ .kind = FAULT_JOIN,
                   .at_us = rng_below (&rng, plan->tree->work_us / plan->n_nodes + 1) };
}

/* Sites that do not reach each other, or only in one direction. One site reaches all or is reached
 * by all, unless anything may be drawn. */
static void
draw_sites (guint64 seed, Plan *plan)
{
  Rng own = { rng_mix (seed ^ 0x7369746573) }, *rng = &own;
  guint hub = (guint)rng_below (rng, SIM_SITES_MAX);

  plan->far_hosts = rng_chance (rng, 20);
  if (plan->solo || !rng_chance (rng, SITES_PERCENT))
    return;
  if (rng_chance (rng, 70)) /* Long enough for all to join. */
    {
      TreeShape shape = { .seed = rng_next (rng),
                          .n = (guint)rng_between (rng, 30, TREE_JOBS_MAX),
                          .depth_bias = (guint)rng_below (rng, 40),
                          .keeps = (guint)rng_below (rng, 60),
                          .aborts = rng_chance (rng, 20) ? 40 : 0,
                          .cost_max_us = (guint32)rng_between (rng, 100000, 4 * SIM_SECOND) };
      tree_free ((Tree *)plan->tree);
      plan->tree = tree_new (&shape);
      plan->n_nodes = (guint)rng_between (rng, 3, 8);
      plan->solo = plan->slow_node = FALSE;
      plan->delay_us = MAX (plan->delay_us, 1000);
      for (guint i = 0; i < plan->n_faults; i++)
        {
          plan->faults[i].at_us = rng_below (rng, plan->tree->work_us / plan->n_nodes + SIM_SECOND);
          plan->faults[i].kind = (FaultKind)rng_between (rng, FAULT_CRASH, FAULT_JOIN);
        }
    }
  plan->far_hosts = TRUE;
  plan->n_sites = (guint)rng_between (rng, 2, SIM_SITES_MAX);
  plan->heartbeat_us = plan->silence_us = 0; /* Looking for a way takes seconds. */
  hub %= plan->n_sites;
  for (guint a = 0; a < plan->n_sites; a++)
    for (guint b = 0; b < plan->n_sites; b++)
      if (a != b && rng_chance (rng, 60))
        plan->ways[a][b] = rng_chance (rng, 50) ? WAY_REFUSES : WAY_DROPS;
  for (guint a = 0; a < plan->n_sites; a++)
    if (a != hub && rng_chance (rng, 70)) /* A joiner dials, so mostly the hub is reached. */
      plan->ways[a][hub] = WAY_OPEN;
    else
      plan->ways[hub][a] = plan->ways[a][hub] = WAY_OPEN;
  if (rng_chance (rng, 40))
    plan->n_faults = 0; /* Nothing else goes wrong. */
  for (guint i = 0; i < plan->n_faults; i++)
    if (rng_chance (rng, 40))
      {
        plan->faults[i].kind = FAULT_WALL;
        plan->faults[i].for_us = rng_chance (rng, 50)
                                     ? rng_between (rng, 1, 100 * plan->delay_us)
                                     : rng_between (rng, SIM_SECOND, 80 * SIM_SECOND);
      }
}

/* Where the checkpoint is, and how fast each process reaches it. */
static void
draw_store (Rng *rng, Plan *plan)
{
  static const guint64 commits[] = { 100, 5000, 100000, 1000000 };

  plan->settle_us = rng_chance (rng, 80) ? 1 + rng_below (rng, 60 * plan->delay_us) : 0;
  plan->commit_us = rng_one_of (rng, commits, G_N_ELEMENTS (commits));
  plan->swaps = rng_chance (rng, 50);
  plan->unable = rng_chance (rng, 20) ? (guint)rng_between (rng, 10, 60) : 0;
  plan->elsewhere = rng_chance (rng, 20) ? (guint)rng_between (rng, 10, 60) : 0;
}

guint64
swarm_united_after_us (const Plan *plan)
{
  guint64 silence_us = plan->silence_us > 0 ? plan->silence_us : NODE_SILENCE_US;
  guint64 longest_us = 0;

  for (guint i = 0; i < plan->n_faults; i++)
    longest_us = MAX (longest_us, plan->faults[i].for_us);
  return 3 * silence_us + longest_us / 4 + 40 * SIM_SECOND;
}

/* Two to four sites in a row, each of which reaches only the next one; between two of them nothing
 * passes for a while. The jobs are so long that both sides have work meanwhile. */
static void
draw_parted (guint64 seed, Plan *plan)
{
  Rng own = { rng_mix (seed ^ 0x706172746564) }, *rng = &own;

  if (plan->solo || plan->n_sites > 0 || !rng_chance (rng, PARTED_PERCENT))
    return;
  TreeShape shape = { .seed = rng_next (rng),
                      .n = (guint)rng_between (rng, 30, TREE_JOBS_MAX),
                      .depth_bias = (guint)rng_below (rng, 40),
                      .keeps = (guint)rng_below (rng, 60),
                      .aborts = rng_chance (rng, 20) ? 40 : 0,
                      .cost_max_us = (guint32)rng_between (rng, SIM_SECOND, 4 * SIM_SECOND) };
  shape.shares = shape.seed % 2 == 0 ? 40 : 0;
  shape.roots = tree_draw_roots (shape.seed);
  tree_free ((Tree *)plan->tree);
  plan->tree = tree_new (&shape);
  plan->n_nodes = (guint)rng_between (rng, 3, 8);
  plan->slow_node = plan->swings = FALSE;
  plan->delay_us = MIN (MAX (plan->delay_us, 1000), 4000);
  plan->wan_us = 0;
  plan->heartbeat_us = SIM_SECOND / 2;
  plan->silence_us = 6 * plan->heartbeat_us;
  plan->join_us = SIM_SECOND / 10;
  swarm_row_of_sites (plan, (guint)rng_between (rng, 2, SIM_SITES_MAX));
  plan->n_faults = rng_chance (rng, 60) ? 1 : (guint)rng_between (rng, 2, 4);
  for (guint i = 0; i < plan->n_faults; i++)
    plan->faults[i] = (Fault){
      .kind = i == 0 || rng_chance (rng, 30)
                  ? FAULT_WALL
                  : (FaultKind)rng_between (rng, FAULT_CRASH, FAULT_JOIN),
      .node = (guint)rng_below (rng, 8),
      .count = (guint)rng_between (rng, 1, 3),
      .at_us = SIM_SECOND + rng_below (rng, plan->tree->work_us / plan->n_nodes),
      .for_us = rng_between (rng, 4 * SIM_SECOND, 40 * SIM_SECOND),
    };
}

/* Rows are sent to buddies as often as to the coordinator, or much less often. */
static void
draw_buddies (guint64 seed, Plan *plan)
{
  Rng rng = { rng_mix (seed ^ 0x6275646479) };

  plan->buddies = !plan->naive && rng_chance (&rng, BUDDIES_PERCENT) ? SIM_BUDDIES : SIM_NO_BUDDIES;
  plan->copy_us = rng_chance (&rng, 60) ? plan->save_us : 0;
  if (plan->buddies && rng_chance (&rng, RING_PERCENT))
    plan->buddies = SIM_RING;
  if (plan->buddies == SIM_RING && rng_chance (&rng, THEFT_PERCENT))
    plan->buddies = SIM_THEFT;
  if (plan->buddies && rng_chance (&rng, MIRROR_PERCENT))
    plan->buddies = SIM_MIRROR;
  if (plan->checkpoint && !plan->buddies && rng_chance (&rng, CUT_PERCENT))
    plan->buddies = SIM_CUT;
}

/* Nodes have links to a few others only, as in large runs. */
static void
draw_sparse (guint64 seed, Plan *plan)
{
  Rng rng = { rng_mix (seed ^ 0x737061727365) };

  if (plan->n_nodes > 2 && rng_chance (&rng, SPARSE_PERCENT))
    plan->dense = (guint)rng_between (&rng, 1, 3);
}

/* Some results are computed twice, or all are. */
static void
draw_repeats (guint64 seed, Plan *plan)
{
  Rng rng = { rng_mix (seed ^ 0x747269616c) };

  if (plan->n_bests == 0 && plan->buddies != SIM_CUT && rng_chance (&rng, REPEATS_PERCENT))
    plan->verify = rng_chance (&rng, 50) ? 1 : 0.3;
}

void
swarm_plan (guint64 seed, Plan *plan)
{
  static const guint64 delays[] = { 20, 200, 1000, 8000 };
  static const guint64 saves[] = { 2000, 10000, 50000 };
  Rng rng = { rng_mix (seed + 1) };

  *plan = (Plan){ .seed = seed, .delay_us = rng_one_of (&rng, delays, G_N_ELEMENTS (delays)) };
  plan->n_nodes
      = (guint)(rng_chance (&rng, 90) ? rng_between (&rng, 1, 4) : rng_between (&rng, 5, 8));
  plan->seats = (guint)rng_between (&rng, 1, 3);
  plan->stacks_extra = (guint)rng_below (&rng, 5);
  plan->shy = rng_chance (&rng, 30) ? 50 : 0;
  plan->drowsy_us = rng_chance (&rng, 50) ? 3 * plan->delay_us : 0;
  plan->n_bests = rng_chance (&rng, 40) ? 1 : 0;
  plan->terse = rng_chance (&rng, 50);
  plan->late_mail = rng_chance (&rng, 40);
  plan->slow_node = rng_chance (&rng, 20);
  plan->steal = rng_chance (&rng, 60)   ? NODE_STEAL_CRS
                : rng_chance (&rng, 50) ? NODE_STEAL_RS
                                        : NODE_STEAL_MW;
  plan->checkpoint = rng_chance (&rng, 50);
  plan->naive = !plan->checkpoint && rng_chance (&rng, 20);
  plan->solo = plan->n_nodes == 1 && rng_chance (&rng, 50);
  plan->one_way = rng_chance (&rng, 20);
  plan->old_ports = rng_chance (&rng, 30);
  plan->large = rng_chance (&rng, 30) ? 1 + (guint)rng_below (&rng, 30) : 0;
  plan->sudden = rng_chance (&rng, 50);
  plan->swings = rng_chance (&rng, 20);
  plan->even_delays = rng_chance (&rng, 15);
  plan->wan_us = !plan->even_delays && rng_chance (&rng, 20) ? 20 * plan->delay_us : 0;
  plan->join_us = rng_chance (&rng, 50) ? 0 : rng_below (&rng, 200 * plan->delay_us);
  plan->save_us = rng_one_of (&rng, saves, G_N_ELEMENTS (saves));
  plan->publish_us = rng_one_of (&rng, saves, G_N_ELEMENTS (saves));
  draw_store (&rng, plan);
  if (rng_chance (&rng, SPLIT_PERCENT))
    draw_split (&rng, plan);
  else if (rng_chance (&rng, LEASE_PERCENT))
    draw_lease (&rng, plan);
  else
    {
      plan->tree = draw_tree (&rng, plan->delay_us);
      draw_faults (&rng, plan);
      if (rng_chance (&rng, LEAVES_PERCENT))
        draw_leaves (&rng, plan);
      else if (rng_chance (&rng, HALF_OPEN_PERCENT))
        draw_half_open (&rng, plan);
      else if (rng_chance (&rng, IMPATIENT_PERCENT))
        draw_patience (&rng, plan);
    }
  plan->shared_memory = rng_mix (seed + 99) % 4 == 0 ? 1000000 : rng_mix (seed + 99) % 300;
  draw_scans (seed, plan);
  draw_calm (seed, plan);
  draw_closed (seed, plan);
  draw_sites (seed, plan);
  draw_parted (seed, plan);
  if (plan->n_sites == 0) /* On both sides of a wall they are counted anew. */
    draw_poison (seed, plan);
  draw_buddies (seed, plan);
  draw_sparse (seed, plan);
  draw_repeats (seed, plan);
  plan->between_us = draw_between (seed, plan);
  plan->tell_us = is_long (plan) || plan->n_sites > 0 ? SIM_SECOND : 20000;
  if (is_long (plan) || plan->n_sites > 0)
    plan->save_us = plan->publish_us = SIM_SECOND;
  plan->patience_us = 16 * plan->tree->work_us + 120 * SIM_SECOND;
  if (plan->silence_us > NODE_SILENCE_US) /* Only silence tells of some deaths. */
    plan->patience_us += 3 * (plan->silence_us - NODE_SILENCE_US);
  plan->united_us = plan->solo || plan->swings ? 0 : swarm_united_after_us (plan);
}
