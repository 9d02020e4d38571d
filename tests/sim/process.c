/* SPDX-License-Identifier: BSD-3-Clause */
/* What surrounds one Node, as satin/node builds it: the engine, the thread of main and the scribe,
 * each in virtual time. Carries out the Node's effects. */
#include "config.h"

#include "sim-private.h"
#include "story.h"

#include <string.h>

#define ROW_BYTE_NS (5 * 1000 * 1000) /* values have a few bytes here */

static void
wake (gpointer data, guint stack, guint64 at_us)
{
  Process *process = data;

  sim_expect (process->sim, at_us, HAPPEN_WAKE, process->number)->number = stack;
}

static void
started (gpointer data, guint32 job, gboolean from_elsewhere)
{
  Process *process = data;

  story_job (process->sim, process, "begins", job);
  check_started (process->sim, process, job, from_elsewhere);
  if (job + 1 == process->sim->poison)
    sim_expect (process->sim, process->sim->now_us + rng_below (&process->sim->world_rng, 300),
                HAPPEN_POISON, process->number);
}

static void
finished (gpointer data, guint32 job)
{
  Process *process = data;

  story_job (process->sim, process, "finishes", job);
  check_finished (process->sim, process, job);
}

static void
recalled (gpointer data, guint32 job, guint32 children)
{
  Process *process = data;

  process->sim->outcome->recalled++;
  sim_say (process->sim, "p%u recalls '%s' with %u children", process->number,
           process->sim->plan->tree->jobs[job].path, children);
}

static void
forgotten (gpointer data, guint32 job)
{
  Process *process = data;

  check_forgotten (process->sim, job);
}

static void
fail (gpointer data, const char *what, guint32 job)
{
  Process *process = data;

  sim_fail (process->sim, "p%u %s: '%s'", process->number, what,
            process->sim->plan->tree->jobs[job].path);
}

static Model *
new_model (Sim *sim, Process *process)
{
  const Plan *plan = sim->plan;
  ModelConfig config
      = { .tree = plan->tree,
          .stems = process->stems,
          .shared = process->shared,
          .seats = plan->seats,
          .stacks_max = plan->seats + plan->stacks_extra,
          .slowness = plan->slow_node && process->number % 3 == 1 ? SIM_SLOW_FACTOR : 1,
          .terse = plan->terse,
          .has_best = plan->n_bests > 0,
          .twice = plan->verify > 0,
          .shy = plan->shy,
          .drowsy_us = plan->drowsy_us,
          .scan_us = plan->scan_us,
          .seed = plan->seed + process->number,
          .wake = wake,
          .started = started,
          .finished = finished,
          .recalled = recalled,
          .forgotten = forgotten,
          .fail = fail,
          .data = process };

  return model_new (&config);
}

/* Chooses a new address, or that of a process that died. */
static void
choose_address (Sim *sim, Process *process)
{
  guint from = (guint)rng_below (&sim->world_rng, sim->n_processes);
  const Process *dead = sim->processes[from];

  g_snprintf (process->address, sizeof process->address, "sim:%u", process->number);
  if (!sim->plan->old_ports || dead->alive || dead->silent || dead->replaced)
    return;
  sim->processes[from]->replaced = TRUE;
  memcpy (process->address, dead->address, sizeof process->address);
}

Process *
process_start (Sim *sim, gboolean founder, gboolean stranger)
{
  static const char *const sites[]
      = { "west", "east", "north", "south", "middle", "upper", "lower", "outer" };
  const Plan *plan = sim->plan;
  Process *process = g_new0 (Process, 1);

  G_STATIC_ASSERT (G_N_ELEMENTS (sites) >= SIM_SITES_MAX);

  g_assert (sim->n_processes < SIM_NODES_MAX);
  process->sim = sim;
  process->number = sim->n_processes;
  sim->processes[sim->n_processes++] = process;
  process->alive = TRUE;
  process->founder = founder;
  process->stranger = stranger;
  choose_address (sim, process);
  g_hash_table_insert (sim->addresses, process->address, process);
  process->links = g_array_new (FALSE, FALSE, sizeof (guint64));
  process->stems = stems_new ();
  process->shared = shared_store_new (plan->shared_memory);
  process->sent = g_array_new (FALSE, FALSE, sizeof (SimSent));
  process->kept = g_array_new (FALSE, FALSE, sizeof (SimKept));
  process->lents = g_ptr_array_new_with_free_func ((GDestroyNotify)g_ptr_array_unref);
  process->model = new_model (sim, process);
  NodeConfig config = { .founder = founder,
                        .address = plan->solo ? NULL : process->address,
                        .host = "host",
                        .site = sites[process->number % MAX (plan->n_sites, 2)],
                        .pid = SIM_PID + process->number,
                        .workers = plan->seats,
                        .n_bests = plan->n_bests,
                        .program = plan->tree->jobs[0].digest,
                        .checkpoint = !plan->checkpoint                    ? NODE_CHECKPOINT_NONE
                                      : founder && sim->outcome->lives > 1 ? NODE_CHECKPOINT_KEPT
                                                                           : NODE_CHECKPOINT_NEW,
                        .plan = plan_knobs (plan->naive                   ? PLAN_NAIVE
                                            : plan->buddies == SIM_MIRROR ? PLAN_MIRROR
                                            : plan->buddies == SIM_CUT    ? PLAN_CUT
                                            : plan->buddies == SIM_THEFT  ? PLAN_THEFT
                                            : plan->buddies == SIM_RING   ? PLAN_BUDDY
                                            : plan->buddies               ? PLAN_AUTO
                                                                          : PLAN_ORPHAN),
                        .verify = plan->verify,
                        .copy_us = plan->copy_us,
                        .dense = plan->dense,
                        .steal = plan->steal,
                        .closed = plan->closed,
                        .invited = !stranger,
                        .heartbeat_us = plan->heartbeat_us,
                        .silence_us = plan->silence_us,
                        .save_interval_us = plan->save_us,
                        .row_byte_ns = plan->seed % 4 == 0 ? ROW_BYTE_NS : 0,
                        .settle_us = plan->settle_us,
                        .stems = process->stems,
                        .shared = process->shared,
                        .seed = plan->seed * SIM_NODES_MAX + process->number };
  process->node = node_new (&config);
  sim_expect (sim, sim->now_us + plan->tell_us, HAPPEN_TELL, process->number);
  return process;
}

/* The work of this row that no published row covers. */
static guint64
unpublished_us (Sim *sim, const Store *work, guint32 job)
{
  guint64 published_us = 0;

  if (store_covers (&sim->published, job))
    return 0;
  for (guint32 i = job; i < job + sim->plan->tree->jobs[job].size; i++)
    published_us += sim->published.kept_us[i];
  for (guint32 i = job + 1; i < job + sim->plan->tree->jobs[job].size; i++)
    if (sim->published.rows[i].there)
      published_us += sim->published.rows[i].work_us;
  return work->rows[job].work_us - MIN (published_us, work->rows[job].work_us);
}

/* The oracle of the ledger: the work that exists only in a dying process. */
static void
count_work (Sim *sim, Process *process, FaultKind how, const NodeStats *stats)
{
  NodeId self = node_self (process->node);
  NodeEvent now;

  model_work (process->model, sim->now_us, &now, NULL);
  sim->outcome->work_us += now.work_us;
  sim->outcome->n_idle += now.work_us == 0;
  sim->outcome->answer_us = MAX (sim->outcome->answer_us, stats->answer_us);
  if (how == FAULT_NONE)
    return;
  sim->outcome->lost_true_us += now.risk_us;
  const Store *work = process->scribe.work;
  for (guint32 i = 0; work != NULL && i < sim->plan->tree->n; i++)
    if (work->rows[i].there && node_id_equal (&work->rows[i].node, &self))
      sim->outcome->lost_true_us += unpublished_us (sim, work, i);
}

void
process_end (Sim *sim, Process *process, FaultKind how)
{
  if (!process->alive)
    return;
  sim_say (sim, "p%u %s", process->number,
           how == FAULT_NONE     ? "ends"
           : how == FAULT_VANISH ? "vanishes"
                                 : "crashes");
  story_ended (sim, process, how);
  process->alive = FALSE;
  sim->n_members -= process->member;
  sim->n_deaths += how != FAULT_NONE || sim->poison != 0;
  sim->n_causes += process->scribe.work != NULL;
  process->silent = how == FAULT_VANISH;
  NodeStats stats;
  node_stats (process->node, &stats);
  sim->outcome->steals_remote += stats.steals_remote;
  sim->outcome->adopted += stats.orphans_adopted;
  sim->outcome->lost += stats.jobs_lost;
  sim->outcome->accused += stats.crashes;
  check_expired (sim, process, &stats);
  sim->outcome->lost_us += stats.lost_us;
  sim->outcome->silenced += sim->n_codes == 0 ? stats.silenced : 0; /* Else counted. */
  sim->outcome->fetched += stats.shared_fetched;
  count_work (sim, process, how, &stats);
  links_lose (sim, process, how);
  keeper_gone (sim, process);
}

void
process_free (Process *process)
{
  node_free (process->node);
  model_free (process->model);
  stems_free (process->stems);
  shared_store_free (process->shared);
  g_array_unref (process->links);
  g_array_unref (process->sent);
  g_array_unref (process->kept);
  g_ptr_array_unref (process->lents);
  keeper_free (process);
  g_free (process);
}

static void
expect_main (Sim *sim, Process *process, HappenKind kind, guint64 after_us)
{
  sim_expect (sim, after_us + rng_below (&sim->world_rng, 500), kind, process->number)->number
      = process->main;
}

static void
start_main (Sim *sim, Process *process)
{
  process->main++;
  process->main_waits = FALSE;
  process->root = 0;
  expect_main (sim, process, HAPPEN_MAIN, MAX (sim->now_us, sim->plan->main_us));
}

/* Gives main the result of the root that it waits for: main asks for the next root or returns. */
static void
go_on_with_main (Sim *sim, Process *process, GBytes *value)
{
  gboolean is_last = process->root + 1 == sim->plan->tree->n_roots;

  if (!process->main_waits)
    {
      sim_fail (sim, "p%u gives a result of a root that main did not ask for", process->number);
      return;
    }
  process->main_waits = FALSE;
  check_answer (sim, process->root, value);
  process->root++;
  expect_main (sim, process, is_last ? HAPPEN_MAIN_END : HAPPEN_MAIN,
               sim->now_us + (is_last ? 0 : sim->plan->between_us));
}

/* Counts jobs that reach the thief only through another node. */
static void
note_routed (Sim *sim, const Process *process, const NodeId *to, guint n)
{
  gboolean looks = sim->plan->n_sites > 1 && !sim->plan->unwatched;
  g_autoptr (GArray) members = looks ? node_members (process->node) : NULL;

  for (guint i = 0; members != NULL && i < members->len; i++)
    {
      const NodeMember *member = &g_array_index (members, NodeMember, i);
      const Process *other = sim->processes[member->pid - SIM_PID];
      if (node_id_equal (&member->id, to) && links_way (sim, process, other) != WAY_OPEN
          && links_way (sim, other, process) != WAY_OPEN)
        sim->outcome->routed += n;
    }
}

static void
carry_out_engine (Sim *sim, Process *process, NodeEffect *effect)
{
  Model *model = process->model;

  switch (effect->kind)
    {
    case NODE_EFFECT_LEND:
      {
        GPtrArray *loans = g_ptr_array_new_with_free_func ((GDestroyNotify)loan_free);
        check_lent (sim, process, &effect->node);
        model_lend (model, effect->count, loans);
        sim->outcome->jobs_lent += loans->len;
        if (loans->len > 0)
          note_routed (sim, process, &effect->node, loans->len);
        g_ptr_array_add (process->lents, loans);
        process->lent_to = effect->node;
        break;
      }
    case NODE_EFFECT_REQUEST:
      model_share (model, effect->count);
      break;
    case NODE_EFFECT_RUN:
      if (!process->told_to_start)
        sim_fail (sim, "p%u runs a job before it has the constants", process->number);
      model_run (model, effect->held, effect->job);
      break;
    case NODE_EFFECT_UNRUN:
      model_unrun (model, effect->held);
      break;
    case NODE_EFFECT_PUT:
      model_put (model, effect->loan, effect->bytes, effect->work_us, effect->risk_us);
      break;
    case NODE_EFFECT_BACK:
      model_back (model, effect->loan);
      break;
    case NODE_EFFECT_KNOWN:
      model_known (model, effect->path, &effect->digest, &effect->node, effect->count);
      break;
    case NODE_EFFECT_FORGET:
      model_forget (model, effect->path, &effect->node);
      break;
    case NODE_EFFECT_SCAN:
      model_scan (model, effect->whole);
      break;
    case NODE_EFFECT_DIFFERS:
      sim_fail (process->sim, "I1: p%u takes two results of '%s' for different", process->number,
                effect->job->path);
      break;
    case NODE_EFFECT_BEST:
      if (effect->number != 0 || !model_improve (model, effect->bytes))
        sim_fail (sim, "p%u hears of a BEST value that nobody found", process->number);
      break;
    case NODE_EFFECT_TELL:
      process->tell = TRUE;
      break;
    case NODE_EFFECT_HALT:
      model_halt (model, effect->whole);
      break;
    default:
      break;
    }
}

static void
carry_out_main (Sim *sim, Process *process, NodeEffect *effect)
{
  switch (effect->kind)
    {
    case NODE_EFFECT_JOINED:
      sim->n_deaths += process->member; /* Under its old id. */
      sim->n_causes++;
      sim->n_members += !process->member;
      sim->outcome->figures.joined_us = sim->now_us;
      process->member = TRUE;
      if (process->stranger && sim->plan->closed)
        sim_fail (sim, "p%u joined a closed run", process->number);
      break;
    case NODE_EFFECT_REFUSED:
      if (!process->stranger || !sim->plan->closed || process->member)
        sim_fail (sim, "p%u was refused", process->number);
      sim->outcome->refused++;
      process_end (sim, process, FAULT_NONE);
      break;
    case NODE_EFFECT_MASTER:
      sim->n_causes++;
      start_main (sim, process);
      break;
    case NODE_EFFECT_DEPOSED:
      sim->outcome->deposed++;
      process->main++;
      process->main_waits = FALSE;
      break;
    case NODE_EFFECT_CONSTANT:
      process->n_constants++;
      break;
    case NODE_EFFECT_START:
      process->told_to_start = TRUE;
      if (process->n_constants == 0 && !process->main_waits)
        sim_fail (sim, "p%u starts without the constants", process->number);
      break;
    case NODE_EFFECT_RESULT:
      go_on_with_main (sim, process, effect->bytes);
      break;
    case NODE_EFFECT_LEAVE:
      check_left (sim, process, effect);
      process->left = TRUE;
      process_end (sim, process, FAULT_NONE);
      break;
    case NODE_EFFECT_STAYED:
      process->leave_us = 0;
      process->leaves = FALSE;
      process->stays = process->by_signal;
      break;
    case NODE_EFFECT_END:
      check_ended (sim, process, effect->number, effect->finished);
      process_end (sim, process, FAULT_NONE);
      break;
    default:
      break;
    }
}

/* All nodes here keep the rules, so no node may report a violation. */
static void
check_order (Sim *sim, const Process *process, const char *text)
{
  static const char *const broken[]
      = { "spoke before it greeted", "greeted twice", "a stem that is none",
          "a path with an unknown stem", NULL };

  for (int i = 0; broken[i] != NULL; i++)
    if (g_str_has_suffix (text, broken[i]))
      sim_fail (sim, "p%u broke a link: %s", process->number, broken[i]);
}

void
process_carry_out (Sim *sim, Process *process, NodeEffect *effect)
{
  switch (effect->kind)
    {
    case NODE_EFFECT_SEND:
      check_sent (sim, process, effect->parts);
      links_send (sim, process, effect->link, effect->parts, effect->urgent);
      break;
    case NODE_EFFECT_DIAL:
      links_dial (sim, process, effect->dial, effect->text);
      break;
    case NODE_EFFECT_CLOSE:
      links_close (sim, process, effect->link);
      break;
    case NODE_EFFECT_TIMER:
      process->timer++;
      sim_expect (sim, effect->at_us, HAPPEN_TIMER, process->number)->number = process->timer;
      break;
    case NODE_EFFECT_COORDINATOR:
      keeper_open (sim, process, effect);
      break;
    case NODE_EFFECT_RETIRE:
      keeper_retire (sim, process);
      break;
    case NODE_EFFECT_BID:
      check_election (sim, process);
      keeper_bid (sim, process);
      break;
    case NODE_EFFECT_ANSWER:
      keeper_answer (sim, process, effect->bytes);
      break;
    case NODE_EFFECT_SAVE:
      keeper_save (sim, process, effect->rows, effect->number);
      break;
    case NODE_EFFECT_SALVAGE:
      keeper_salvage (sim, process, effect->path);
      break;
    case NODE_EFFECT_EVENT:
      keeper_note (sim, process, effect);
      break;
    case NODE_EFFECT_SAVED:
      check_saved (sim, process, effect);
      break;
    case NODE_EFFECT_MEMBER:
      keeper_member (sim, process, effect);
      break;
    case NODE_EFFECT_FINAL:
    case NODE_EFFECT_PUBLISH:
    case NODE_EFFECT_PUBLISH_IF_WORTH:
      keeper_finish (sim, process, effect->kind);
      break;
    case NODE_EFFECT_WARN:
    case NODE_EFFECT_LOG:
      sim_say (sim, "p%u says: %s", process->number, effect->text);
      sim->outcome->alone += g_str_has_suffix (effect->text, ", alone");
      if (g_str_has_suffix (effect->text, ", alone") || effect->kind == NODE_EFFECT_WARN)
        check_quarantine (sim, process);
      check_order (sim, process, effect->text);
      break;
    default:
      carry_out_engine (sim, process, effect);
      carry_out_main (sim, process, effect);
    }
}

static void
run_main (Sim *sim, Process *process)
{
  const Tree *tree = sim->plan->tree;
  const TreeJob *root = &tree->jobs[tree->roots[process->root]];
  g_autoptr (GBytes) constant = g_bytes_new_static ("0123456789abcdef", 16);
  NodeEvent publish_event
      = { .kind = NODE_EVENT_CONSTANT, .text = "const/board", .bytes = constant };
  g_autoptr (Loan) job = loan_new (0, root->path, 0, &root->digest, 1, root->args);
  NodeEvent root_event = { .kind = NODE_EVENT_ROOT, .job = job };

  process->main_waits = TRUE;
  if (process->root == 0)
    {
      figures_begin (sim);
      sim_step (sim, process, &publish_event);
    }
  if (process->alive && process->main_waits)
    sim_step (sim, process, &root_event);
}

static void
tell_address (Sim *sim, Process *process)
{
  guint n = 0, from = (guint)rng_below (&sim->world_rng, sim->n_processes);

  if (process->member)
    return;
  for (guint i = 0; i < sim->n_processes && (n == 0 || sim->plan->n_sites > 1); i++)
    {
      Process *other = sim->processes[(from + i) % sim->n_processes];
      if (!other->alive || !other->member || other == process)
        continue;
      NodeEvent event = { .kind = NODE_EVENT_JOIN, .text = other->address };
      n++;
      sim_step (sim, process, &event);
    }
  sim_expect (sim, sim->now_us + SIM_SECOND, HAPPEN_JOIN, process->number);
}

void
process_happen (Sim *sim, const Happen *happen)
{
  Process *process = sim->processes[happen->node];
  NodeEvent timer = { .kind = NODE_EVENT_TIMER }, finish = { .kind = NODE_EVENT_FINISH };

  switch (happen->kind)
    {
    case HAPPEN_TIMER:
      if (happen->number == process->timer)
        sim_step (sim, process, &timer);
      break;
    case HAPPEN_WAKE:
      if (happen->number != MODEL_NO_STACK)
        model_wake (process->model, sim->now_us, (guint)happen->number);
      sim_step (sim, process, NULL);
      break;
    case HAPPEN_MAIN:
      if (happen->number == process->main)
        run_main (sim, process);
      break;
    case HAPPEN_MAIN_END:
      finish.bytes = tree_answer (sim->plan->tree);
      if (happen->number != process->main)
        break;
      sim->closing = TRUE;
      sim->closing_us = sim->now_us;
      sim_step (sim, process, &finish);
      break;
    case HAPPEN_POISON:
      faults_poison (sim, process);
      break;
    case HAPPEN_TELL:
      sim_expect (sim, sim->now_us + sim->plan->tell_us, HAPPEN_TELL, process->number);
      sim_tell_work (sim, process);
      break;
    case HAPPEN_JOIN:
      tell_address (sim, process);
      break;
    default:
      keeper_happen (sim, process, happen);
    }
}
