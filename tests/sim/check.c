/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that hold in every run, whatever fails (README lists the numbers). Checks change
 * nothing. */
#include "config.h"

#include "sim-private.h"

#include "coordinator/election.h"

#include <stdio.h>

/* Looking at a roster copies it, so it is not done after every step. */
#define ROSTER_EVERY 16
/* Limits of a run without faults: messages for each job that moved, for each pair of nodes, and for
 * each node and second. */
#define FRAMES_PER_LOAN 8
#define FRAMES_PER_PAIR 16
#define FRAMES_PER_NODE_SECOND 1000
/* The longest time of a message, in delays, and the other time that an abort may need at each
 * hop. */
#define ABORT_HOP_DELAYS 6
#define ABORT_HOP_US 400
/* The time in delays that a started process needs to become a member. */
#define JOIN_DELAYS 30
/* This many delays are enough for a request and its answer. */
#define STEAL_HOP_DELAYS 100

/* The time at which this job or one of its ancestors was first aborted; 0: never. */
static guint64
forgotten_since (const Sim *sim, guint32 job)
{
  const Tree *tree = sim->plan->tree;
  guint64 since_us = sim->forgotten_us[job];

  for (; !tree_is_root (tree, job); job = tree->jobs[job].parent)
    if (sim->forgotten_us[job] != 0 && (since_us == 0 || sim->forgotten_us[job] < since_us))
      since_us = sim->forgotten_us[job];
  return since_us;
}

gboolean
check_is_forgotten (const Sim *sim, guint32 job)
{
  return forgotten_since (sim, job) != 0;
}

/* Without faults an abort needs one message for each time that the job was lent on. */
static void
check_wanted (Sim *sim, const Process *process, guint32 job)
{
  guint64 since_us = forgotten_since (sim, job);
  guint64 way_us = sim->plan->delay_us + sim->plan->wan_us;
  guint64 hop_us = ABORT_HOP_US + ABORT_HOP_DELAYS * way_us + sim->plan->poll_us;

  if (since_us == 0 || sim->plan->n_faults > 0 || sim->plan->swings)
    return;
  if (sim->now_us > since_us + hop_us * (sim->plan->tree->jobs[job].depth + 1))
    sim_fail (sim, "I9: p%u begins '%s', which was aborted %" G_GUINT64_FORMAT " us ago",
              process->number, sim->plan->tree->jobs[job].path, sim->now_us - since_us);
}

/* TRUE: leaves are the only faults, and every node receives messages in the order in which they
 * were sent. */
static gboolean
only_leaves (const Sim *sim)
{
  const Plan *plan = sim->plan;

  for (guint i = 0; i < plan->n_faults; i++)
    if (plan->faults[i].kind != FAULT_LEAVE)
      return FALSE;
  return plan->n_faults > 0 && plan->even_delays && !plan->swings && !plan->large && !plan->naive
         && !sim->left_some && !sim->suspended;
}

/* TRUE: a living process has the result of the job or of an ancestor, or knows a process that has
 * it. After a departure two copies of one job may run for a while, and a part that one copy has
 * need not reach the other. */
static gboolean
is_finished_somewhere (const Sim *sim, guint32 job)
{
  for (guint i = 0; i < sim->n_processes; i++)
    {
      const Process *process = sim->processes[i];
      if (process->alive && model_has_result (process->model, job))
        return TRUE;
    }
  return FALSE;
}

/* TRUE: another living process runs this job too, as an orphan that was announced too late for the
 * process that begins the job now. Parts that only one copy receives are no longer offered, so the
 * other copy may execute them. */
static void
leave_out_parts_of_two (Sim *sim, const Process *process, guint32 job)
{
  guint32 size = sim->plan->tree->jobs[job].size;

  for (guint i = 0; i < sim->n_processes; i++)
    {
      const Process *other = sim->processes[i];
      if (other != process && other->alive && model_taken (other->model, job) != MODEL_NO_JOB)
        memset (sim->safe + job, 0, size * sizeof sim->safe[0]);
    }
}

void
check_started (Sim *sim, Process *process, guint32 job, gboolean from_elsewhere)
{
  const char *path = sim->plan->tree->jobs[job].path;

  sim->outcome->executed++;
  if (sim->plan->watch != NULL)
    sim->plan->watch->started (sim->plan->watch, process->number, job);
  sim_say (sim, "p%u starts '%s'", process->number, path);
  if (sim->plan->unwatched)
    return;
  if (sim->plan->verify > 0) /* This may be the second execution that `verify` asks for. */
    return;
  check_wanted (sim, process, job);
  if (sim->calm && sim->restored[job] && forgotten_since (sim, job) == 0)
    sim_fail (sim, "I7: p%u executes '%s' again, which the checkpoint covers", process->number,
              path);
  if (sim->safe[job] && check_one_crash (sim) && forgotten_since (sim, job) == 0)
    sim_fail (sim, "I18: p%u executes '%s' again, which was safe when one process crashed",
              process->number, path);
  leave_out_parts_of_two (sim, process, job);
  if (only_leaves (sim) && sim->handed[job] && forgotten_since (sim, job) == 0
      && !is_finished_somewhere (sim, job))
    sim_fail (sim, "I12: p%u executes '%s' again, whose result left with another", process->number,
              path);
  if (!from_elsewhere && model_knows_job (process->model, job))
    sim_fail (sim, "I3: p%u executes '%s' although it knows who holds it", process->number, path);
}

void
check_finished (Sim *sim, const Process *process, guint32 job)
{
  if (!sim->plan->unwatched)
    sim->finished_by[job] |= 1u << process->number;
  if (sim->finished_us[job] == 0)
    sim->finished_us[job] = sim->now_us;
  if (sim->finished[job] < G_MAXUINT8)
    sim->finished[job]++;
}

void
check_forgotten (Sim *sim, guint32 job)
{
  sim->outcome->forgotten++;
  if (sim->forgotten_us[job] == 0)
    sim->forgotten_us[job] = MAX (sim->now_us, 1);
}

typedef struct
{
  Sim *sim;
  Process *process;
  GArray *members;
} Roster;

static void
check_holder (gpointer data, const NodeId *holder)
{
  const Roster *roster = data;
  char text[NODE_ID_TEXT_MAX];

  for (guint i = 0; i < roster->members->len; i++)
    if (node_id_equal (&g_array_index (roster->members, NodeMember, i).id, holder))
      return;
  sim_fail (roster->sim, "I4: the engine of p%u knows a holder that left: %s",
            roster->process->number, node_id_show (holder, text));
}

/* Without faults a request to steal never waits for its time limit. In plan `theft` it may wait for
 * two keepers, the thief's and the victim's, each as long as a message may take. */
static void
check_answered (Sim *sim, Process *process, const NodeStats *stats)
{
  guint64 kept_us = sim->plan->buddies == SIM_THEFT ? 2 * NODE_HOLDBACK_US : 0;

  if (sim->plan->n_faults > 0 || sim->plan->swings)
    return;
  if (stats->steal_age_us > STEAL_HOP_DELAYS * sim->plan->delay_us + SIM_SECOND + kept_us)
    sim_fail (sim, "I8: p%u waits for the answer to a steal", process->number);
}

void
check_after_step (Sim *sim, Process *process)
{
  ModelStats model;
  NodeStats node;

  model_check_invariants (process->model);
  model_stats (process->model, &model);
  node_stats (process->node, &node);
  check_answered (sim, process, &node);
  check_roster (sim, process, node.rosters);
  check_acknowledged (sim, process, &node);
  check_noted (sim, process, &node);
  check_times (sim, process);
  check_kept (sim, process);
  check_trimmed (sim, process);
  check_dropped (sim, process);
  check_owed (sim, process);
  check_epochs (sim, process);
  if (!sim->plan->late_mail)
    {
      /* A root that another node runs belongs to main and has no slot. */
      if (model.waits != node.lent && !(process->main > 0 && model.waits + 1 == node.lent))
        sim_fail (sim, "I3: in p%u %u slots wait but the node knows of %" G_GUINT64_FORMAT " loans",
                  process->number, model.waits, node.lent);
    }
  if (model.known > 0 && sim->outcome->steps % ROSTER_EVERY == 0)
    {
      Roster roster = { sim, process, node_members (process->node) };
      model_each_holder (process->model, check_holder, &roster);
      g_array_unref (roster.members);
    }
}

void
check_answer (Sim *sim, guint root, GBytes *value)
{
  const Tree *tree = sim->plan->tree;

  if (!g_bytes_equal (value, tree->jobs[tree->roots[root]].value))
    sim_fail (sim, "I1: a wrong answer to root %u", root);
  if (root + 1 < tree->n_roots)
    return;
  sim->outcome->answered = TRUE;
  sim->n_answers++;
  figures_answer (sim);
}

/* Nothing else went wrong, so a suspended run has saved every job that ever finished, except those
 * that were aborted. */
static void
check_suspended (Sim *sim)
{
  for (guint32 i = 0; i < sim->plan->tree->n; i++)
    if (sim->finished[i] > 0 && forgotten_since (sim, i) == 0 && !store_covers (&sim->published, i))
      sim_fail (sim, "I7: suspended without saving '%s', which was finished",
                sim->plan->tree->jobs[i].path);
}

/* TRUE: on the side of the split that `process` is on, some member can write the checkpoint. A
 * stalled process cannot. Nor can a process that does not know that it was taken in: its master
 * died, and it cannot join again while all halt. */
static gboolean
is_writable (const Sim *sim, const Process *process)
{
  g_autoptr (GArray) members = node_members (process->node);

  for (guint i = 0; i < members->len; i++)
    {
      const Process *other = sim->processes[g_array_index (members, NodeMember, i).pid - SIM_PID];
      if (other->alive && other->member && other->paused_us <= sim->now_us
          && keeper_can_write (other))
        return TRUE;
    }
  return FALSE;
}

/* TRUE: the published file may be older than what was acknowledged. If the store takes two writes
 * at once, the later one may have begun before the earlier one ended and then replace it; no run
 * goes on from that. */
static gboolean
was_set_back (const Sim *sim)
{
  return !sim->plan->swaps && sim->outcome->races > 0;
}

/* TRUE: the process knows of no other living member. */
static gboolean
is_last (const Process *process)
{
  g_autoptr (GArray) members = node_members (process->node);

  return members->len == 1;
}

/* TRUE: no process was cut off from the others or from the store, so the answer of a finished run
 * is in its checkpoint. */
static gboolean
must_be_kept (const Sim *sim)
{
  const Plan *plan = sim->plan;

  for (guint i = 0; i < plan->n_faults; i++)
    if (plan->faults[i].kind == FAULT_VANISH || plan->faults[i].kind == FAULT_WALL
        || (plan->faults[i].kind >= FAULT_PAUSE && plan->faults[i].kind <= FAULT_HALF))
      return FALSE;
  return plan->checkpoint && plan->unable == 0 && plan->elsewhere == 0 && !plan->swings
         && (plan->swaps || sim->outcome->races == 0);
}

/* TRUE: nothing goes wrong except that nodes leave before the rest is suspended. */
static gboolean
only_goes (const Sim *sim)
{
  const Plan *plan = sim->plan;

  for (guint i = 0; i < plan->n_faults; i++)
    if (plan->faults[i].kind != FAULT_LEAVE && plan->faults[i].kind != FAULT_SUSPEND)
      return FALSE;
  return plan->even_delays && !plan->swings && !plan->large && plan->unable == 0
         && plan->elsewhere == 0 && plan->swaps && !sim->left_some;
}

void
check_crash_report (Sim *sim, const Process *process)
{
  for (guint i = 0; i < sim->n_processes && is_last (process); i++)
    if (sim->processes[i]->alive)
      sim->outlived |= 1u << i;
}

/* TRUE: the process was alive at the end of the run, knows of the end, and is not a member or no
 * longer one. */
static gboolean
outlived_the_end (const Sim *sim, const Process *process)
{
  NodeId id = node_self (process->node);

  return (sim->outlived & (1u << process->number)) && node_id_is_none (&id);
}

/* A run is only given up because of a job that ends processes, and then soon. */
static void
check_condemned (Sim *sim, const Process *process)
{
  sim->outcome->condemned = 1;
  if (sim->n_words >= NODE_CRASH_REPORT)
    return;
  if (sim->n_words > 0 && is_last (process))
    check_crash_report (sim, process);
  else if (!outlived_the_end (sim, process))
    sim_fail (sim, "I13: p%u gives the run up after %u crash reports", process->number,
              sim->n_words);
}

/* Adds the silences that the living processes counted. Called before processes end: an ended
 * process is silent, and being taken for dead is then no error. */
static void
count_silenced (Sim *sim)
{
  for (guint i = 0; i < sim->n_processes; i++)
    {
      NodeStats stats;

      if (!sim->processes[i]->alive)
        continue;
      node_stats (sim->processes[i]->node, &stats);
      sim->outcome->silenced += stats.silenced;
    }
}

void
check_ended (Sim *sim, Process *process, guint64 code, gboolean finished)
{
  gboolean only_suspend = sim->plan->n_faults == 1 && sim->plan->faults[0].kind == FAULT_SUSPEND;

  if (code == 0 && !sim->outcome->answered)
    sim_fail (sim, "I1: p%u ends with 0 but there is no answer", process->number);
  else if (code == 0 && must_be_kept (sim) && !sim->published.answered)
    sim_fail (sim, "I1: p%u ends with 0 but the checkpoint lacks the answer", process->number);
  else if (code == NODE_END_NO_STORE && (sim->suspended || process->leaves)
           && (sim->unsaved || was_set_back (sim) || !is_writable (sim, process)))
    sim->unsaved = TRUE; /* A process that is told of it ends in the same way. */
  else if (code == NODE_END_FAILED)
    check_condemned (sim, process);
  else if (code == 75 && process->leaves && is_last (process))
    {
      sim->suspended = TRUE; /* The process that was to stay has ended. */
      sim->resume_count = sim->plan->n_nodes;
    }
  else if (code != 0 && (code != 75 || !sim->suspended))
    sim_fail (sim, "I1: p%u ends with %" G_GUINT64_FORMAT, process->number, code);
  if (finished != (code == 0)) /* The code that main returns in the simulator. */
    sim_fail (sim, "p%u ends with %" G_GUINT64_FORMAT ", and main %s", process->number, code,
              finished ? "is said to have given that" : "gave that");
  if (code == 75 && sim->n_codes == 0 && must_be_kept (sim))
    check_closed (sim, process);
  if (code == 75 && (only_suspend || only_goes (sim)) && sim->plan->checkpoint
      && (sim->plan->swaps || sim->outcome->races == 0))
    check_suspended (sim);
  if (sim->n_codes == 0 && (code == 0 || code == 75) && must_be_kept (sim)
      && sim->published.generation > sim->begun_at) /* Otherwise nothing had begun. */
    {
      check_ledger (sim, process);
      check_told (sim, process);
    }
  if (sim->n_codes++ == 0)
    count_silenced (sim);
}

/* Marks every process that can be connected with `process`, also through other living processes. If
 * the last process that connected two sites is gone, nothing can bring these together. */
static void
mark_reached (const Sim *sim, const Process *process, gboolean *reached)
{
  reached[process->number] = TRUE;
  for (guint i = 0; i < sim->n_processes; i++)
    {
      const Process *other = sim->processes[i];
      if (!reached[i] && other->alive
          && (links_way (sim, process, other) == WAY_OPEN
              || links_way (sim, other, process) == WAY_OPEN))
        mark_reached (sim, other, reached);
    }
}

void
check_published (Sim *sim, const Store *before)
{
  gboolean was_covered[TREE_JOBS_MAX], is_covered[TREE_JOBS_MAX];

  store_cover_all (before, was_covered);
  store_cover_all (&sim->published, is_covered);
  for (guint32 i = 0; i < sim->plan->tree->n; i++)
    if (was_covered[i] && !is_covered[i])
      sim_fail (sim, "I6: '%s' was covered and is not any more", sim->plan->tree->jobs[i].path);
    else if (before->kept[i] > sim->published.kept[i] && !is_covered[i])
      sim_fail (sim, "I6: '%s' had kept %u children and now %u", sim->plan->tree->jobs[i].path,
                before->kept[i], sim->published.kept[i]);
}

/* One master holds one election. */
void
check_bids (Sim *sim)
{
  guint n = 0;

  for (guint i = 0; i < sim->n_processes; i++)
    n += sim->processes[i]->alive && sim->processes[i]->bidding;
  sim->outcome->bids_most = MAX (sim->outcome->bids_most, n);
  if (sim->plan->n_faults == 0 && n > ELECTION_BIDS_MAX)
    sim_fail (sim, "I10: %u bids at once", n);
}

void
check_place (Sim *sim, Process *process, guint64 required)
{
  NodeStats stats;

  node_stats (process->node, &stats);
  if (stats.generation > 0 && required == 0)
    sim_fail (sim, "I10: p%u is coordinator, and its place is another one", process->number);
}

void
check_saved (Sim *sim, const Process *process, const NodeEffect *effect)
{
  gboolean only_save = check_has_only (sim, 1u << FAULT_SAVE | 1u << FAULT_JOIN | 1u << FAULT_LEAVE)
                       && !check_has_expired (sim);

  if (sim->asker != process->number)
    return;
  for (guint32 i = 0;
       sim->asked && only_save && !effect->failed && effect->text == NULL && i < sim->plan->tree->n;
       i++)
    if (sim->wanted[i] > 0 && forgotten_since (sim, i) == 0 && !store_covers (&sim->published, i))
      sim_fail (sim, "I7: a round of saving did not save '%s', which was finished before",
                sim->plan->tree->jobs[i].path);
  sim->asked = FALSE;
  sim->asked_us = 0;
}

/* All crash reports arrive and nothing else goes wrong, so after the third report the measures
 * against the job are under way. */
void
check_poisoned (Sim *sim)
{
  const Plan *plan = sim->plan;

  if (plan->n_faults == 1 && !plan->mute && !plan->heavy && !plan->sudden && !plan->swings
      && sim->n_poisoned > NODE_CRASH_REPORT + 1)
    sim_fail (sim, "I13: a job has ended %u processes", sim->n_poisoned);
}

/* TRUE: a process joins or leaves, or the run is ending. */
static gboolean
is_in_motion (const Sim *sim)
{
  for (guint i = 0; i < sim->n_processes; i++)
    if (sim->processes[i]->alive && (sim->processes[i]->leaves || !sim->processes[i]->member))
      return TRUE;
  return sim->outcome->answered || sim->outcome->condemned || sim->suspended || sim->resuming;
}

gboolean
check_is_on_roster (const Process *process, const NodeId *id)
{
  g_autoptr (GArray) members = node_members (process->node);

  for (guint i = 0; i < members->len; i++)
    if (node_id_equal (&g_array_index (members, NodeMember, i).id, id))
      return TRUE;
  return FALSE;
}

void
check_united (Sim *sim)
{
  if (is_in_motion (sim))
    return;
  sim->outcome->united++;
  for (guint i = 0; i < sim->n_processes; i++)
    for (guint k = 0; sim->processes[i]->alive && k < sim->n_processes; k++)
      {
        const Process *process = sim->processes[i], *other = sim->processes[k];
        gboolean reached[SIM_NODES_MAX] = { FALSE };
        NodeId id = node_self (other->node);
        gboolean known = !node_id_is_none (&id) && check_is_on_roster (process, &id);
        mark_reached (sim, process, reached);
        if (known != other->alive && (!other->alive || reached[k]))
          sim_fail (sim, "I16: p%u %s p%u, %.3f s after the last fault", i,
                    known ? "still knows" : "does not know", k,
                    (double)(sim->now_us - sim->last_fault_us) / SIM_SECOND);
      }
}

void
check_stands_still (Sim *sim)
{
  sim_fail (
      sim, "I2: still not over at %.3f s, %.3f s after the last fault; %u of %u processes live",
      (double)sim->now_us / SIM_SECOND, (double)(sim->now_us - sim->last_fault_us) / SIM_SECOND,
      sim_n_alive (sim), sim->n_processes);
  for (guint i = 0; sim->makes == SIM_LINE && i < sim->n_processes; i++)
    if (sim->processes[i]->alive)
      {
        printf ("#  p%u:\n", i);
        model_print (sim->processes[i]->model);
      }
}

static void
check_fault_free (Sim *sim)
{
  const Plan *plan = sim->plan;
  guint64 n = plan->n_nodes;
  guint64 bound = FRAMES_PER_LOAN * sim->outcome->jobs_lent + FRAMES_PER_PAIR * n * n
                  + FRAMES_PER_NODE_SECOND * n * (1 + sim->now_us / SIM_SECOND);

  if ((sim->outcome->executed > plan->tree->n && plan->verify == 0)
      || (sim->outcome->executed < plan->tree->n && sim->outcome->forgotten == 0))
    sim_fail (sim, "I8: %" G_GUINT64_FORMAT " jobs executed of %u, with no fault",
              sim->outcome->executed, plan->tree->n);
  if (sim->outcome->accused > 0)
    sim_fail (sim, "I14: %" G_GUINT64_FORMAT " members taken for dead, with no fault",
              sim->outcome->accused);
  if (sim->outcome->messages > bound)
    sim_fail (sim,
              "I8: %" G_GUINT64_FORMAT " messages, more than %" G_GUINT64_FORMAT ", with no fault",
              sim->outcome->messages, bound);
}

/* TRUE: half-open links are the only faults, and they begin after all processes have joined. */
static gboolean
only_half_open (const Sim *sim)
{
  guint64 joined_us = sim->plan->join_us + JOIN_DELAYS * (sim->plan->delay_us + sim->plan->wan_us);

  for (guint i = 0; i < sim->plan->n_faults; i++)
    if (sim->plan->faults[i].kind != FAULT_HALF || sim->plan->faults[i].at_us < joined_us)
      return FALSE;
  return sim->plan->n_faults <= 1 && sim->plan->n_sites == 0 && !sim->plan->far_hosts
         && !sim->plan->swings && !sim->plan->large;
}

void
check_at_the_end (Sim *sim)
{
  gboolean given_up = sim->outcome->condemned || (sim->suspended && !sim->plan->checkpoint);

  if (sim->agenda.n == 0 && sim_n_alive (sim) > 0)
    sim_fail (sim, "I2: nothing more will happen, and it is not over");
  if (!sim->outcome->answered && !given_up && sim->lives_left)
    sim_fail (sim, "I2: over without an answer");
  if (only_half_open (sim) && sim->outcome->silenced > 0)
    sim_fail (sim, "I15: %" G_GUINT64_FORMAT " times somebody was taken for dead who lived",
              sim->outcome->silenced);
  check_redone (sim);
  if (sim->plan->n_faults == 0 && sim->outcome->failure[0] == '\0')
    check_fault_free (sim);
}
