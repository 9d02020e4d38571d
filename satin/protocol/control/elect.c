/* SPDX-License-Identifier: BSD-3-Clause */
/* See elect.h.
 * Tests: sim, elect.sh, test-lease. */
#include "../core.h"

static void
candidate_free (gpointer data)
{
  Candidate *candidate = data;

  g_free (candidate->trouble);
  g_free (candidate);
}

void
elect_init (Node *node)
{
  Elect *elect = &node->elect;

  core_pointers (node, &elect->candidates, candidate_free);
  elect->at_us = CORE_NEVER;
  core_owns (node, &elect->refusal, g_free);
}

/* ---- an election, at the master ---- */

static Candidate *
find_candidate (Node *node, const NodeId *id)
{
  for (guint i = 0; i < node->elect.candidates->len; i++)
    {
      Candidate *candidate = node->elect.candidates->pdata[i];
      if (node_id_equal (&candidate->bid.node, id))
        return candidate;
    }
  return NULL;
}

static gboolean
is_open (const Node *node)
{
  for (guint i = 0; i < node->elect.candidates->len; i++)
    if (((const Candidate *)node->elect.candidates->pdata[i])->state <= CANDIDATE_ASKED)
      return TRUE;
  return FALSE;
}

static void
give_up_on (Candidate *candidate, CandidateState state, const char *trouble)
{
  candidate->state = state;
  g_free (candidate->trouble);
  candidate->trouble = g_strdup (trouble);
}

/* Makes this node bid. */
static void
start_trial (Node *node, const NodeId *asker, guint64 election)
{
  Elect *elect = &node->elect;

  elect->asker = *asker;
  elect->asked = election;
  if (elect->bid_at_us > 0)
    return; /* the bid under way answers this election, too */
  elect->bid_at_us = MAX (node->now_us, 1);
  core_emit (node, NODE_EFFECT_BID);
}

static const char *
trouble_of (const Candidate *candidate)
{
  return candidate->trouble != NULL ? candidate->trouble : "it finds another place there";
}

/* Appends one trouble and the candidates that have it. */
static void
add_trouble (Node *node, GString *text, guint first)
{
  GPtrArray *all = node->elect.candidates;
  g_autofree char *trouble = g_strdup (trouble_of (all->pdata[first]));
  const char *before = " (tried by";

  g_string_append_printf (text, "%s%s", text->len > 0 ? "; " : "", trouble);
  for (guint i = first; i < all->len; i++)
    {
      const Candidate *candidate = all->pdata[i];
      const Member *member = roster_find (node, &candidate->bid.node);
      if (!g_str_equal (trouble_of (candidate), trouble))
        continue;
      g_string_append_printf (text, "%s node %u.%u on %s", before, candidate->bid.node.term,
                              candidate->bid.node.number, member != NULL ? member->host : "?");
      before = ",";
    }
  g_string_append_c (text, ')');
}

/* All troubles of the candidates, for people. (transfer full) */
static char *
list_troubles (Node *node)
{
  GPtrArray *all = node->elect.candidates;
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < all->len; i++)
    {
      gboolean said = FALSE;
      for (guint k = 0; k < i && !said; k++)
        said = g_str_equal (trouble_of (all->pdata[k]), trouble_of (all->pdata[i]));
      if (!said)
        add_trouble (node, text, i);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* No node can write the checkpoint. A run that is starting ends after a while; a later run goes on
 * without a checkpoint. */
static void
nobody (Node *node)
{
  Elect *elect = &node->elect;
  g_autofree char *troubles = list_troubles (node);
  guint64 pause_us = ELECT_RETRY_US << MIN (elect->failures, 6);

  core_log (node, "nobody can write the checkpoint: %s", troubles);
  if (!lease_is_vacant (node))
    return; /* its holder keeps trying */
  elect->failures++;
  elect->at_us = node->now_us + MIN (pause_us, ELECT_RETRY_MAX_US);
  if (node->lease.state == LEASE_STARTING && node->now_us >= elect->vacant_us + ELECT_START_US)
    {
      stop_refused (node, troubles);
      return;
    }
  if (node->lease.state == LEASE_STARTING)
    {
      elect->at_us = MIN (elect->at_us, elect->vacant_us + ELECT_START_US);
      return;
    }
  node->lease.state = LEASE_WITHOUT;
  root_go_on (node);
  stop_ask_again (node);
}

/* Marks the candidates that prove that they found the same place: they found the last acknowledged
 * generation. If none does, as in a race of two coordinators, and the lease is vacant, those with
 * the newest generation count. */
static void
prove (Node *node, guint64 proof)
{
  guint64 newest = 0;
  guint n = 0;

  for (guint i = 0; i < node->elect.candidates->len; i++)
    {
      Candidate *candidate = node->elect.candidates->pdata[i];
      gboolean self = core_is_self (node, &candidate->bid.node);
      newest = candidate->trouble == NULL ? MAX (newest, candidate->found) : newest;
      candidate->bid.same_place = candidate->trouble == NULL
                                  && (candidate->found >= MAX (proof, 1) || (self && proof == 0));
#ifdef SATIN_PLANT_PLACE_NOT_PROVED
      candidate->bid.same_place = candidate->trouble == NULL;
#endif
      n += candidate->bid.same_place;
    }
  for (guint i = 0; n == 0 && lease_is_vacant (node) && i < node->elect.candidates->len; i++)
    {
      Candidate *candidate = node->elect.candidates->pdata[i];
      candidate->bid.same_place = candidate->trouble == NULL && candidate->found >= newest;
    }
}

static void
close_election (Node *node)
{
  Elect *elect = &node->elect;
  g_autofree Bid *bids = g_new0 (Bid, elect->candidates->len + 1);
  NodeId winner, favourite;

  elect->ended_us = node->now_us;
#ifdef SATIN_PLANT_ELECTS_AGAIN
  elect->at_us = node->now_us + 10 * ELECT_FAIR_US;
#endif
  prove (node, elect->proof);
  for (guint i = 0; i < elect->candidates->len; i++)
    bids[i] = ((Candidate *)elect->candidates->pdata[i])->bid;
  if (!lease_coordinator (node, &favourite))
    favourite = node->self;
  if (!election_winner (bids, elect->candidates->len, &favourite, &winner))
    nobody (node);
  else
    {
      elect->failures = 0;
      if (!node_id_equal (&winner, &node->lease.holder) || lease_is_vacant (node))
        lease_give (node, &winner);
    }
  if (!lease_is_vacant (node))
    g_ptr_array_set_size (elect->candidates, 0);
}

/* Asks more candidates, at most ELECTION_BIDS_MAX at a time. When all have answered, the election
 * is decided. */
static void
go_on (Node *node)
{
  Elect *elect = &node->elect;
  guint n_asked = 0;

  for (guint i = 0; i < elect->candidates->len; i++)
    n_asked += ((Candidate *)elect->candidates->pdata[i])->state == CANDIDATE_ASKED;
  for (guint i = 0; i < elect->candidates->len; i++)
    {
      Candidate *candidate = elect->candidates->pdata[i];
      if (candidate->state == CANDIDATE_WAITS && n_asked < ELECTION_BIDS_MAX)
        {
          candidate->state = CANDIDATE_ASKED;
          candidate->asked_us = node->now_us;
          if (core_is_self (node, &candidate->bid.node))
            start_trial (node, &node->self, elect->election);
          else if (!member_send (node, &candidate->bid.node,
                                 &(Message){ .kind = MESSAGE_TRIAL, .number = elect->election }))
            give_up_on (candidate, CANDIDATE_SILENT, "it is not reached");
          n_asked += candidate->state == CANDIDATE_ASKED;
        }
    }
  if (!is_open (node))
    close_election (node);
}

/* If all members leave, they may hold the lease: the last of them suspends the run, and during a
 * suspend no node leaves. */
static gboolean
all_leave (Node *node)
{
  if (node->stop.phase >= STOP_HALTING)
    return TRUE;
  for (guint i = 0; i < node->roster.members->len; i++)
    if (!((const Member *)node->roster.members->pdata[i])->leaving)
      return FALSE;
  return TRUE;
}

static void
begin (Node *node)
{
  Elect *elect = &node->elect;

  elect->at_us = CORE_NEVER;
  if (is_open (node))
    return;
  elect->election++;
  elect->proof = node->lease.generation;
  g_ptr_array_set_size (elect->candidates, 0);
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      Candidate *candidate = g_new0 (Candidate, 1);
      candidate->bid.node = member->id;
      if (member->leaving && !all_leave (node))
        give_up_on (candidate, CANDIDATE_HEARD, "it leaves");
      else if (node->now_us < member->unfit_until_us)
        give_up_on (candidate, CANDIDATE_HEARD, elect->refusal);
      g_ptr_array_add (elect->candidates, candidate);
    }
  go_on (node);
}

/* Plans an election for `at_us`, unless one is planned earlier. */
static void
plan (Node *node, guint64 at_us)
{
  node->elect.at_us = MIN (node->elect.at_us, MAX (at_us, node->now_us));
}

static guint64
settle_us (Node *node)
{
  return node->config.settle_us > 0 ? node->config.settle_us : ELECT_SETTLE_US;
}

/* The pause between elections while the lease is held. */
static guint64
pause_us (Node *node)
{
  return node->config.settle_us > 0 ? node->config.settle_us : ELECT_PAUSE_US;
}

/* The lease has become vacant. A run that is starting had no holder before, and people wait for it,
 * so its time runs on. */
static void
vacate (Node *node)
{
  if (node->lease.state != LEASE_STARTING)
    node->elect.vacant_us = node->now_us;
  node->elect.failures = 0;
  begin (node);
}

void
elect_promoted (Node *node)
{
  node->elect.vacant_us = node->now_us;
  node->elect.failures = 0;
  if (node->roster.members->len > 1)
    plan (node, node->now_us + settle_us (node));
}

void
elect_deposed (Node *node)
{
  node->elect.at_us = CORE_NEVER;
  g_ptr_array_set_size (node->elect.candidates, 0);
}

void
elect_roster_changed (Node *node, gboolean joined)
{
  Elect *elect = &node->elect;
  gboolean open = is_open (node);

  if (!node->config.checkpoint || !roster_is_master (node) || node->lease.number == 0)
    return;
  for (guint i = elect->candidates->len; i > 0; i--)
    if (roster_find (node, &((Candidate *)elect->candidates->pdata[i - 1])->bid.node) == NULL)
      g_ptr_array_remove_index (elect->candidates, i - 1);
  if (joined && !lease_is_vacant (node))
    {
      guint64 rest_us = elect->ended_us > 0 ? elect->ended_us + pause_us (node) : 0;
      plan (node, MAX (node->now_us + settle_us (node), rest_us));
    }
  if (open)
    go_on (node);
  else if (lease_is_vacant (node) && elect->failures == 0)
    vacate (node);
}

/* ---- messages and events ---- */

static void
note_bid (Node *node, const NodeId *from, guint64 election, guint64 commit_us, guint64 found,
          const char *trouble)
{
  Candidate *candidate = find_candidate (node, from);

  if (election != node->elect.election || candidate == NULL || candidate->state != CANDIDATE_ASKED)
    return;
  candidate->state = CANDIDATE_HEARD;
  candidate->bid.commit_us = commit_us;
  candidate->found = found;
  candidate->trouble = g_strdup (trouble);
  go_on (node);
}

void
elect_greet (Node *node, const NodeId *to)
{
  const Candidate *candidate = find_candidate (node, to);

  if (candidate != NULL && candidate->state == CANDIDATE_ASKED)
    (void)member_send (node, to,
                       &(Message){ .kind = MESSAGE_TRIAL, .number = node->elect.election });
  else if (!is_open (node) && node->elect.failures > 0 && roster_is_master (node)
           && lease_is_vacant (node) && (candidate == NULL || candidate->state == CANDIDATE_SILENT))
    plan (node, node->now_us); /* it may be the node that can write */
}

void
elect_on_trial (Node *node, const NodeId *from, const Message *m)
{
  if (node->config.checkpoint)
    start_trial (node, from, m->number);
}

void
elect_on_bid_event (Node *node, const NodeEvent *event)
{
  Elect *elect = &node->elect;

  if (elect->bid_at_us == 0)
    return;
  elect->bid_at_us = 0;
  elect->found = event->failed ? 0 : event->number;
  if (!event->failed)
    elect->watch.bid_us = MAX (event->work_us, ELECT_FAIR_US);
  if (core_is_self (node, &elect->asker))
    note_bid (node, &node->self, elect->asked, event->work_us, event->number,
              event->failed ? event->text : NULL);
  else
    (void)member_send (node, &elect->asker,
                       &(Message){ .kind = MESSAGE_BID,
                                   .number = elect->asked,
                                   .version = event->number,
                                   .work_us = event->work_us,
                                   .flag = event->failed,
                                   .text = event->failed ? event->text : "" });
}

/* The coordinator is slow, or gives the lease back. */
static void
ask_again (Node *node, const NodeId *from, guint32 number, gboolean resigns, const char *why)
{
  Elect *elect = &node->elect;
  Member *member = roster_find (node, from);

  if (!roster_is_master (node) || number != node->lease.number
      || !node_id_equal (from, &node->lease.holder))
    return;
  core_log (node, "node %u.%u %s: %s", from->term, from->number,
            resigns ? "cannot be coordinator" : "is a slow coordinator", why);
  if (!resigns)
    {
      plan (node, elect->ended_us + pause_us (node));
      return;
    }
  if (member != NULL)
    member->unfit_until_us = node->now_us + ELECT_RETRY_MAX_US;
  g_free (elect->refusal);
  elect->refusal = g_strdup (why);
  lease_give (node, &NODE_ID_NONE);
  vacate (node);
}

void
elect_ask (Node *node, gboolean resigns, const char *why)
{
  const Member *acting = roster_acting (node);
  guint32 number = node->lease.number;
  NodeId self = node->self;

  if (roster_is_master (node))
    ask_again (node, &self, number, resigns, why);
  else if (acting != NULL)
    (void)member_send (
        node, &acting->id,
        &(Message){ .kind = MESSAGE_BID, .count = number, .flag = resigns, .text = why });
}

void
elect_on_bid (Node *node, const NodeId *from, const Message *m)
{
  if (m->number == 0)
    ask_again (node, from, m->count, m->flag, m->text);
  else
    note_bid (node, from, m->number, m->work_us, m->version, m->flag ? m->text : NULL);
}

void
elect_watch (Node *node, guint64 commit_us)
{
  if (node->saves.phase == SAVES_NOT || node->stop.phase >= STOP_HALTING
      || node->roster.members->len < 2)
    return;
  if (election_watch_commit (&node->elect.watch, commit_us > 0 ? commit_us : G_MAXUINT64))
    elect_ask (node, FALSE, "three commits were much slower than its bid");
}

gboolean
elect_missed_some (Node *node)
{
  for (guint i = 0; i < node->elect.candidates->len; i++)
    if (((const Candidate *)node->elect.candidates->pdata[i])->state != CANDIDATE_HEARD)
      return TRUE;
  return FALSE;
}

gboolean
elect_may_bid (Node *node)
{
  return node->elect.bid_at_us > 0 && node->now_us < node->elect.bid_at_us + ELECT_LAST_US;
}

/* ---- time ---- */

static gboolean
has_bidder (Node *node)
{
  for (guint i = 0; i < node->elect.candidates->len; i++)
    {
      const Candidate *candidate = node->elect.candidates->pdata[i];
      if (candidate->state == CANDIDATE_HEARD && candidate->trouble == NULL)
        return TRUE;
    }
  return FALSE;
}

/* If main has finished and no other node can write, the answer depends on this node's own bid. So
 * it gets more time. */
static guint64
patience_us (Node *node, const Candidate *candidate)
{
  gboolean last
      = node->stop.finished && core_is_self (node, &candidate->bid.node) && !has_bidder (node);

  return last ? ELECT_LAST_US : ELECT_PATIENCE_US;
}

guint64
elect_due (Node *node)
{
  const Elect *elect = &node->elect;
  guint64 at_us = CORE_NEVER;

  if (!roster_is_master (node))
    return CORE_NEVER;
  if (!is_open (node))
    return elect->at_us;
  for (guint i = 0; i < elect->candidates->len; i++)
    {
      const Candidate *candidate = elect->candidates->pdata[i];
      if (candidate->state == CANDIDATE_ASKED)
        at_us = MIN (at_us, candidate->asked_us + patience_us (node, candidate));
    }
  return at_us;
}

void
elect_tick (Node *node)
{
  Elect *elect = &node->elect;

  if (!roster_is_master (node))
    return;
  if (is_open (node))
    {
      guint n = 0;
      for (guint i = 0; i < elect->candidates->len; i++)
        {
          Candidate *candidate = elect->candidates->pdata[i];
          if (candidate->state != CANDIDATE_ASKED
              || node->now_us < candidate->asked_us + patience_us (node, candidate))
            continue;
          give_up_on (candidate, CANDIDATE_SILENT, "it did not bid in time");
          n++;
        }
      if (n > 0)
        go_on (node);
      return;
    }
  if (node->now_us < elect->at_us)
    return;
  elect->at_us = CORE_NEVER;
  if (lease_is_vacant (node))
    {
      begin (node);
      return;
    }
  /* Near the end of the run the lease moves only if it must. */
  if (node->stop.phase >= STOP_HALTING || node->stop.finished || node->roster.members->len < 2)
    return;
  if (node->lease.generation > 0)
    begin (node);
}

void
elect_place_known (Node *node)
{
  if (roster_is_master (node))
    plan (node, node->now_us + settle_us (node));
}

void
elect_check (Node *node)
{
  const Elect *elect = &node->elect;
  guint n_asked = 0;

  for (guint i = 0; i < elect->candidates->len; i++)
    {
      const Candidate *candidate = elect->candidates->pdata[i];
      n_asked += candidate->state == CANDIDATE_ASKED;
      g_assert (candidate->state > CANDIDATE_ASKED
                || roster_find (node, &candidate->bid.node) != NULL);
    }
  g_assert (n_asked <= ELECTION_BIDS_MAX);
  g_assert (!is_open (node) || (n_asked > 0 && roster_is_master (node)));
}
