/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the checkpoint and of what nodes believe about it (README lists the numbers). Checks
 * change nothing. */
#include "config.h"

#include "sim-private.h"

#include "say.h"

/* The faults after which processes end or start without any delay, as bits. */
#define DEATHS \
  (1u << FAULT_CRASH | 1u << FAULT_JOIN | 1u << FAULT_TOTAL | 1u << FAULT_SAVE \
   | 1u << FAULT_SUSPEND | 1u << FAULT_HEAD)
/* A suspend waits this long for running jobs (STOP_DRAIN_US). */
#define SUSPEND_PATIENCE_US (20 * SIM_SECOND)

static guint64
bit_of (Sim *sim, const NodeId *id)
{
  guint i = 0;

  while (i < sim->n_ids && !node_id_equal (&sim->ids[i], id))
    i++;
  if (i == sim->n_ids)
    {
      g_assert (sim->n_ids < STORE_MEMBERS_MAX);
      sim->ids[sim->n_ids++] = *id;
    }
  return G_GUINT64_CONSTANT (1) << i;
}

void
check_roster (Sim *sim, Process *process, guint64 rosters)
{
  g_autoptr (GArray) members = NULL;
  guint64 now = 0;

  if (rosters == process->rosters || sim->closing || !sim->plan->checkpoint)
    return;
  process->rosters = rosters;
  members = node_members (process->node);
  for (guint i = 0; i < members->len; i++)
    now |= bit_of (sim, &g_array_index (members, NodeMember, i).id);
  process->saw |= now;
  process->missed = process->saw & ~now;
}

/* TRUE: `other` is alive and on the roster of `ender`, the process that ends the run. A process
 * that is cut off has a ledger of its own. */
static gboolean
counts_in (const Process *ender, const Process *other)
{
  NodeId id = other->alive ? node_self (other->node) : NODE_ID_NONE;

  return other->alive && check_is_on_roster (ender, &id);
}

void
check_ledger (Sim *sim, const Process *ender)
{
  char text[NODE_ID_TEXT_MAX];

  for (guint i = 0; i < sim->n_processes; i++)
    for (guint k = 0; counts_in (ender, sim->processes[i]) && k < sim->n_ids; k++)
      {
        const Process *process = sim->processes[i];
        const StoreMember *entry = store_member (&sim->published, &sim->ids[k]);
        guint64 bit = G_GUINT64_CONSTANT (1) << k;
        if ((process->saw & bit) && (entry == NULL || !entry->joined))
          sim_fail (sim, "I19: the ledger does not say that %s joined, which p%u saw",
                    node_id_show (&sim->ids[k], text), i);
        else if ((process->missed & bit) && !entry->left)
          sim_fail (sim, "I19: the ledger does not say that %s left, which p%u saw",
                    node_id_show (&sim->ids[k], text), i);
      }
}

/* ---- acknowledgements ---- */

static gboolean
is_published (const Sim *sim, const SimSent *sent)
{
  return store_covers (&sim->published, sent->job)
         || (sent->children > 0 && sim->published.kept[sent->job] >= sent->children)
         || check_is_forgotten (sim, sent->job);
}

static void
note_sent (Sim *sim, Process *process, GPtrArray *rows, guint32 lease, guint64 mark_us)
{
  NodeStats stats;

  node_stats (process->node, &stats);
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = rows->pdata[i];
      int job = tree_find (sim->plan->tree, row->path);
      SimSent sent = { .job = (guint32)job,
                       .children = row->children,
                       .lease = lease,
                       .renewed = stats.renewed,
                       .mark_us = mark_us };
      /* A row that does not raise the mark stands for no work that was at risk. */
      if (job >= 0 && lease == stats.lease && mark_us > MAX (stats.published_us, process->mark_us))
        g_array_append_val (process->sent, sent);
    }
  process->mark_us = mark_us;
}

/* (transfer full) (nullable): the frame that a RELAYED message carries. */
static GBytes *
carried_by (GBytes *bytes)
{
  guint32 kind = bytes != NULL ? say_kind (bytes) : MESSAGE_NO_KIND;

  if (kind != MESSAGE_RELAYED)
    return NULL;
  g_autoptr (GBytes) content = say_content (bytes);
  g_auto (Message) message = { 0 };
  return message_decode (content, &message, NULL) ? g_bytes_ref (message.value) : NULL;
}

/* (transfer full) (nullable): the innermost one: a route may lead over a link that is a route. */
static GBytes *
innermost (GBytes *bytes)
{
  GBytes *carried = carried_by (bytes);

  for (GBytes *inner; carried != NULL && (inner = carried_by (carried)) != NULL; carried = inner)
    g_bytes_unref (carried);
  return carried;
}

/* (transfer full) (nullable): what this process says with these bytes if it may be a SAVE, directly
 * or by way of other nodes; NULL: something else, or it only passes on what it has just heard. */
static GBytes *
own_words (const Sim *sim, GBytes *bytes)
{
  g_autoptr (GBytes) carried = innermost (bytes);

  if (carried == NULL)
    return say_kind (bytes) == MESSAGE_SAVE ? say_content (bytes) : NULL;
  g_autoptr (GBytes) heard = innermost (sim->heard);
  return heard != NULL && g_bytes_equal (carried, heard) ? NULL : say_content (carried);
}

void
check_sent (Sim *sim, Process *process, GPtrArray *parts)
{
  g_autoptr (GBytes) all = say_join (parts), bytes = own_words (sim, all);
  g_auto (Message) message = { 0 };

  if (bytes == NULL || message_kind_of (bytes) != MESSAGE_SAVE)
    return;
  if (!message_decode (bytes, &message, NULL))
    sim_fail (sim, "p%u sends rows that nobody can read", process->number);
  else if (message.number > 0)
    note_sent (sim, process, message.rows, message.count, message.number);
}

void
check_acknowledged (Sim *sim, Process *process, const NodeStats *stats)
{
  if (!sim->plan->swaps && sim->outcome->races > 0)
    return; /* The acknowledged publication may have been replaced (I6). */
  for (guint i = process->sent->len; i > 0; i--)
    {
      const SimSent sent = g_array_index (process->sent, SimSent, i - 1);
      gboolean is_void = sent.lease != stats->lease || sent.renewed != stats->renewed;
      if (!is_void && sent.mark_us > stats->published_us)
        continue;
      if (!is_void && !is_published (sim, &sent))
        sim_fail (sim, "I20: for p%u '%s' counts as published, and is not", process->number,
                  sim->plan->tree->jobs[sent.job].path);
      g_array_remove_index_fast (process->sent, i - 1);
    }
}

/* ---- rows of the ledger ---- */

static GArray *
kept_now (Process *process)
{
  g_autoptr (GArray) kept = node_kept (process->node);
  GArray *now = g_array_new (FALSE, FALSE, sizeof (SimKept));

  for (guint i = 0; i < kept->len; i++)
    {
      const NodeKept *event = &g_array_index (kept, NodeKept, i);
      SimKept one = { .number = event->number,
                      .name = store_event_name (event->kind, &event->id, event->path),
                      .id = event->id };
      g_strlcpy (one.kind, event->kind, sizeof one.kind);
      g_array_append_val (now, one);
    }
  return now;
}

/* TRUE: the member that the event reports as gone is present, or has left since. After a split some
 * nodes report such members; the coordinator knows better. The coordinator may have ended before
 * its SAVED arrives; then the roster of `told`, the node that receives it, decides. */
static gboolean
is_here (const Sim *sim, const Process *told, const SimKept *event)
{
  for (guint i = 0; i < sim->n_processes; i++)
    {
      const Process *process = sim->processes[i];
      const Store *work = process->scribe.work;
      if (!process->alive || (work == NULL && process != told))
        continue;
      if (check_is_on_roster (process, &event->id)
          || (work != NULL && store_has_event (work, event->kind, &event->id, event->name)))
        return TRUE;
    }
  return FALSE;
}

static void
check_one_noted (Sim *sim, const Process *process, const SimKept *event)
{
  char text[NODE_ID_TEXT_MAX];

  if (!store_has_event (&sim->published, event->kind, &event->id, event->name)
      && !(g_str_equal (event->kind, "left") && is_here (sim, process, event)))
    sim_fail (sim, "I26: p%u takes it for published that %s is %s, and it is not", process->number,
              node_id_show (&event->id, text), event->kind);
}

/* TRUE: in some process a time limit has ended a wait. What was waited for may be missing then:
 * results of a leave, or rows of the ledger. */
gboolean
check_has_expired (const Sim *sim)
{
  for (guint i = 0; i < sim->n_processes; i++)
    {
      NodeStats stats;
      node_stats (sim->processes[i]->node, &stats);
      if (stats.expired > 0)
        return TRUE;
    }
  return FALSE;
}

void
check_told (Sim *sim, const Process *ender)
{
  for (guint i = 0; i < sim->n_processes && !check_has_expired (sim); i++)
    for (guint k = 0; counts_in (ender, sim->processes[i]) && k < sim->processes[i]->kept->len; k++)
      {
        const SimKept *event = &g_array_index (sim->processes[i]->kept, SimKept, k);
        if (event->number <= sim->processes[i]->events_before)
          check_one_noted (sim, sim->processes[i], event);
      }
}

void
check_noted (Sim *sim, Process *process, const NodeStats *stats)
{
  GArray *now, *before = process->kept;
  guint at = 0;

  if (!sim->closing)
    process->events_before = stats->events;
  if (sim->place != NULL /* The real file holds more than a Store does. */
      || (stats->events == process->events && stats->events_kept == before->len))
    return;
  now = kept_now (process);
  for (guint i = 0; i < before->len; i++)
    {
      const SimKept *event = &g_array_index (before, SimKept, i);
      while (at < now->len && g_array_index (now, SimKept, at).number < event->number)
        at++;
      if ((at == now->len || g_array_index (now, SimKept, at).number != event->number)
          && (sim->plan->swaps || sim->outcome->races == 0)) /* Otherwise I6 allows it. */
        check_one_noted (sim, process, event);
    }
  process->events = stats->events;
  process->kept = now;
  g_array_unref (before);
}

/* ---- the end of a suspended run ---- */

/* TRUE: no node has run out of patience, and no publication was replaced by an older one. */
static gboolean
must_be_whole (const Sim *sim)
{
  return sim->plan->checkpoint && (sim->plan->swaps || sim->outcome->races == 0)
         && sim->now_us < sim->suspended_us + SUSPEND_PATIENCE_US;
}

void
check_closed (Sim *sim, const Process *process)
{
  for (guint i = 0; i < sim->n_processes && must_be_whole (sim); i++)
    {
      const Process *other = sim->processes[i];
      NodeId id = node_self (other->node);
      if (!other->alive || !other->member || other->leaves || !check_is_on_roster (process, &id))
        continue;
      for (guint32 job = 0; job < sim->plan->tree->n; job++)
        if ((sim->finished_by[job] & (1u << i)) && !check_is_forgotten (sim, job)
            && (model_has_result (other->model, job)
                || node_owes_result (other->node, sim->plan->tree->jobs[job].path))
            && !store_covers (&sim->published, job))
          sim_fail (sim, "I21: suspended without saving '%s', which p%u has finished",
                    sim->plan->tree->jobs[job].path, i);
    }
}

/* ---- nothing happens without a cause ---- */

/* I22. Only checked in runs in which no living process is taken for dead. */
void
check_quarantine (Sim *sim, const Process *process)
{
  if (check_has_only (sim, DEATHS | 1u << FAULT_LEAVE | 1u << FAULT_POISON)
      && sim->n_deaths < NODE_CRASH_REPORT)
    sim_fail (sim, "I22: p%u takes a job for one that ends nodes, after %u deaths", process->number,
              sim->n_deaths);
}

void
check_election (Sim *sim, Process *process)
{
  process->n_bids++;
  if (check_has_only (sim, DEATHS) && process->n_bids > sim->n_causes)
    sim_fail (sim, "I22: p%u bids %u times, and there were %u causes for that", process->number,
              process->n_bids, sim->n_causes);
}

void
check_redone (Sim *sim)
{
  static const guint32 kinds = 1u << FAULT_JOIN | 1u << FAULT_SAVE | 1u << FAULT_SLOW;

  if (check_has_only (sim, kinds) && sim->outcome->lives == 1 && sim->plan->verify == 0
      && sim->outcome->executed > sim->plan->tree->n)
    sim_fail (sim, "I22: %" G_GUINT64_FORMAT " jobs executed of %u, and nobody died",
              sim->outcome->executed, sim->plan->tree->n);
}

/* TRUE: no fault of this plan can take a row from an epoch, and no epoch ended without the scan of
 * a member. */
static gboolean
epochs_are_whole (const Sim *sim)
{
  const Plan *plan = sim->plan;

  return check_has_only (sim, 1u << FAULT_JOIN | 1u << FAULT_SAVE | 1u << FAULT_LEAVE)
         && plan->unable == 0 && plan->elsewhere == 0 && !plan->swings
         && (plan->swaps || sim->outcome->races == 0) && !check_has_expired (sim);
}

void
check_epochs (Sim *sim, Process *process)
{
  guint64 begun, ended;
  gboolean declined = process->scribe.declined && process->scribe.work != NULL;
  const Store *store = declined ? process->scribe.work : &sim->published;

  if (sim->plan->buddies != SIM_CUT)
    return;
  node_epochs (process->node, &begun, &ended);
  gboolean over = ended > process->epochs_ended && epochs_are_whole (sim)
                  && (declined || sim->published.generation > sim->epoch_at);
  for (guint32 i = 0; over && i < sim->plan->tree->n; i++)
    if (sim->epoch[i] > 0 && !check_is_forgotten (sim, i) && !store_covers (store, i))
      sim_fail (sim, "I29: '%s' was finished when the epoch began, which has not saved it",
                sim->plan->tree->jobs[i].path);
  gboolean new = begun > process->epochs_begun;
  process->epochs_ended = ended;
  process->epochs_begun = begun; /* Smaller than before if another process is coordinator now. */
  if (!new)
    return;
  sim->outcome->epochs++;
  sim->epoch_at = sim->published.generation;
  memcpy (sim->epoch, sim->finished, sizeof sim->epoch);
}
