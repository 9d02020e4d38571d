/* SPDX-License-Identifier: BSD-3-Clause */
/* See above.h: the events of lower layers, and the parts above that handle each, in order.
 *
 * Tests: test-node, test-node-run, test-split, test-leave */
#include "core.h"
#include "node-parts.h"

static void
greet (Node *node, Member *member)
{
  NodeId coordinator;

  lease_greet (node, &member->id);
  elect_greet (node, &member->id);
  stop_greet (node, &member->id);
  constants_greet (node, &member->id);
  orphans_greet (node, &member->id);
  leave_greet (node, &member->id);
  round_greet (node, &member->id);
  work_greet (node, member);
  if (lease_ready (node, &coordinator) && node_id_equal (&coordinator, &member->id))
    {
      saves_renew (node);
      rerun_ask_all (node);
    }
}

/* The member has become the hub, or this node has. */
static void
greet_again (Node *node, const NodeId *id)
{
  Link *link = link_to (node, id);

  orphans_greet (node, id);
  if (link != NULL && !contacts_are_all (node))
    poison_greet (node, link);
}

static void
departing (Node *node, const NodeId *id)
{
  poison_tell (node, NULL, id); /* others close their links to the member when they hear that it
                                 * left */
}

/* The engine must forget what the member held before slots come back and are looked up again. */
static void
departed (Node *node, Member *member, const char *cause)
{
  const Member *master = roster_master (node);

  shares_departed (node, &member->id);
  rerun_departing (node, &member->id);
  mirror_departed (node, &member->id);
  buddy_departed (node, member);
  known_departed (node, &member->id);
  held_departed (node, &member->id);
  steal_departed (node, &member->id);
  lend_departed (node, &member->id);
  verify_own_departed (node, &member->id);
  saves_departed (node, &member->id, cause);
  epoch_departed (node, &member->id);
  round_departed (node, member);
  leave_departed (node, &member->id);
  loans_departed (node, member);
  rerun_departed (node, &member->id);
  if (master != NULL && node_id_equal (&master->id, &node->self)
      && node_id_compare (&member->id, &node->self) < 0)
    work_lost_root (node, member);
  work_departed (node, member); /* last, when all that was lost with the member is known */
}

static void
missed (Node *node, const NodeId *id)
{
  saves_departed (node, id, "silent");
}

static void
unnamed (Node *node, GPtrArray *members)
{
  lease_reset (node);
  for (guint i = 0; i < members->len; i++)
    {
      const NodeId *id = &((const Member *)members->pdata[i])->id;
      shares_departed (node, id);
      known_departed (node, id);
      steal_departed (node, id);
      lend_departed (node, id);
    }
  held_orphan_all (node);
  loans_all_back (node);
  rerun_reset (node);
  buddy_reset (node);
  mirror_reset (node);
  epoch_reset (node);
  saves_renew (node);
}

static void
call_main (Node *node)
{
  if (!stop_promoted (node))
    core_emit (node, NODE_EFFECT_MASTER);
}

static void
founded (Node *node)
{
  lease_promoted (node);
  call_main (node);
}

static void
took_over (Node *node, gboolean again)
{
  lease_promoted (node);
  if (!again)
    call_main (node);
  constants_renew (node);
}

static void
deposed (Node *node)
{
  root_deposed (node);
  elect_deposed (node);
  constants_deposed (node);
  stop_deposed (node);
}

const MembersAbove node_above_members = {
  .hear = node_hear,
  .admit = shares_admit,
  .readmit = shares_open_doors,
  .sent = shares_told,
  .bound = poison_greet,
  .unbound = steal_on_down,
  .greet = greet,
  .greet_again = greet_again,
  .departing = departing,
  .departed = departed,
  .joined = saves_joined,
  .missed = missed,
  .changed = round_roster_changed,
  .decreed = elect_roster_changed,
  .tell_of_dead = poison_tell_dead,
  .named = orphans_enter_all,
  .unnamed = unnamed,
  .founded = founded,
  .took_over = took_over,
  .deposed = deposed,
  .followed = stop_renew,
  .missing_came = leave_on_missing,
  .stranded = poison_end,
};

const WorkAbove node_above_work = {
  .rows = saves_on_rows,
  .flush = saves_flush,
  .adopt_row = leave_take,
  .hurry = saves_hurry,
  .scan = saves_scan,
  .scan_whole = saves_scan_whole,
  .arrived = round_on_arrival,
  .published = leave_published,
  .note = events_add,
  .condemn = stop_condemn,
  .crash_report = stop_crash_report,
};
