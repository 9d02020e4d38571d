/* SPDX-License-Identifier: BSD-3-Clause */
/* See hear.h. */
#include "core.h"

/* A member whose WELCOME was lost with the master cannot be the next master: it does not know its
 * name. It dials whoever it knows of to join, and its address is the one that stands in the roster.
 * Where it was dialled its WELCOME may still be on its way. */
static void
find_nameless (Node *node, const char *address)
{
  if (!roster_master (node)->dead)
    return;
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      Member *member = node->roster.members->pdata[i];
      if (g_str_equal (member->address, address) && !node_id_equal (&member->id, &node->self)
          && link_to (node, &member->id) == NULL)
        {
          alive_dead (node, member, DEATH_PROVED);
          return;
        }
    }
}

/* Another node answers where this member was dialled. On the same host that is proof: an address
 * has one listener. Private networks overlap, so another host may have that address too; then the
 * member is looked for through others. One that is not known here yet proves nothing: the master
 * that admitted it has seen to the address. */
static void
on_another (Node *node, Member *member, const NodeId *answers)
{
  const Member *other = roster_find (node, answers);

  if (other == NULL || !roster_is_host (other, member->host))
    {
      member->answered = FALSE;
      reach_dial_failed (node, member, FALSE);
    }
  else if (!alive_may_speak (node, member))
    alive_dead (node, member, DEATH_PROVED);
}

static void
on_hello (Node *node, Link *link, const Message *m)
{
  guint64 number = link->link;

  if (link->greeted && (!node_id_is_none (&link->remote) || node_id_is_none (&m->id)))
    {
      link_break (node, link, "greeted twice"); /* who joined through here says its name */
      return;
    }
  if (m->number != MESSAGE_VERSION || !digest_equal (&m->digest, &node->config.program))
    {
      link_break (node, link, "another program, other arguments or another version of satin");
      return;
    }
  if (!g_str_equal (m->host, node->config.build))
    {
      link_break (node, link, "another build of the program");
      if (!node_id_is_none (&m->id))
        join_on_other_build (node, m->host);
      return;
    }
  if (core_is_member (node) && node_id_equal (&m->id, &node->self))
    {
      link_break (node, link, "this node itself");
      return;
    }
  link->greeted = TRUE;
  link->remote = m->id;
  NodeId expected = link->expected;
  /* One without a name may be the
   * same one, whose WELCOME is still on its way; it closes this link when that comes, and is
   * dialled again. */
  gboolean other = roster_find (node, &expected) != NULL && link->circuit == NULL
                   && !node_id_is_none (&m->id) && !node_id_equal (&expected, &m->id);
  gboolean dialled = !node_id_is_none (&expected);
  if (other) /* … and this link is not its own */
    link->expected = NODE_ID_NONE;
  link_bind_all (node);
  Member *gone = other ? roster_find (node, &expected) : NULL;
  if (gone != NULL)
    on_another (node, gone, &m->id);
  if (!node_id_is_none (&m->id))
    return;
  if (!core_is_member (node))
    join_on_stranger (node, number);
  else if (!dialled)
    find_nameless (node, m->text);
}

/* Jobs that others may have, or have not any more. */
static void
route_orphans (Node *node, Link *link, const Message *m)
{
  switch (m->kind)
    {
    case MESSAGE_HOLD:
      orphans_on_hold (node, link, m);
      break;
    case MESSAGE_UNHOLD:
      known_remove (node, m->path, &link->remote);
      break;
    case MESSAGE_ADOPT:
      orphans_on_adopt (node, link, m);
      break;
    case MESSAGE_MISS:
      loans_on_miss (node, link, m);
      break;
    case MESSAGE_COVERED:
      orphans_covered (node, m->path);
      break;
    case MESSAGE_RUNS:
      yield_on_runs (node, link, m);
      break;
    case MESSAGE_DISOWN:
      held_on_disown (node, link, m->number);
      break;
    case MESSAGE_RERUN:
      rerun_on_ask (node, link, m);
      break;
    case MESSAGE_TOLD:
      rerun_on_told (node, m);
      break;
    case MESSAGE_PING:
      spare_look (node, &link->remote);
      break;
    case MESSAGE_SPARE:
      spare_on_message (node, link, m->number);
      break;
    default:
      break;
    }
}

/* Jobs on their way: stolen, lent, held, returned. */
static void
route_job (Node *node, Link *link, const Message *m)
{
  switch (m->kind)
    {
    case MESSAGE_STEAL:
      lend_on_request (node, link, m);
      break;
    case MESSAGE_JOBS:
      held_on_jobs (node, link, m);
      break;
    case MESSAGE_NONE:
      steal_on_none (node, m);
      break;
    case MESSAGE_MORE:
      steal_on_more (node, link);
      break;
    case MESSAGE_RESULT:
      loans_on_result (node, link, m);
      break;
    case MESSAGE_ACK:
      held_on_ack (node, link, m->number);
      break;
    case MESSAGE_VAIN:
      held_on_vain (node, link, m->number);
      break;
    case MESSAGE_RETURNED:
      loans_on_returned (node, link, m);
      break;
    case MESSAGE_HOLDING:
      loans_on_holding (node, link, m);
      break;
    case MESSAGE_RECONCILE:
      link_say_again (node, link);
      break;
    default:
      route_orphans (node, link, m);
      break;
    }
}

/* A round of saving. */
static void
route_round (Node *node, Link *link, const Message *m)
{
  switch (m->kind)
    {
    case MESSAGE_PUBLISH:
      round_on_publish (node, m);
      break;
    case MESSAGE_SCAN:
      round_on_scan (node, link, m);
      break;
    case MESSAGE_SCANNED:
      round_on_scanned (node, link, m);
      break;
    case MESSAGE_PUBLISHED:
      round_on_published (node, m);
      break;
    default:
      route_job (node, link, m);
      break;
    }
}

/* Who is coordinator, and the end of a run as it sees to it. */
static void
route_office (Node *node, Link *link, const Message *m)
{
  switch (m->kind)
    {
    case MESSAGE_TRIAL:
      elect_on_trial (node, link, m);
      break;
    case MESSAGE_BID:
      elect_on_bid (node, link, m);
      break;
    case MESSAGE_OFFICE:
      office_on_message (node, link, m);
      break;
    case MESSAGE_CHECKPOINT:
      office_set_place (node, m->text);
      break;
    case MESSAGE_ELECT:
      elect_on_elect (node, link, m);
      break;
    case MESSAGE_CLOSE:
      saves_on_close (node, &link->remote, m);
      break;
    case MESSAGE_CLOSED:
      stop_on_closed (node, &link->remote, m);
      break;
    default:
      route_round (node, link, m);
      break;
    }
}

/* A member that leaves. */
static void
route_leave (Node *node, Link *link, const Message *m)
{
  switch (m->kind)
    {
    case MESSAGE_LEAVE:
      leave_ask (node, &node->self, m->number);
      break;
    case MESSAGE_RELEASE:
      leave_on_release (node, link);
      break;
    case MESSAGE_RELEASED:
      leave_on_released (node, link, m);
      break;
    case MESSAGE_LEAVING:
      leave_on_leaving (node, link);
      break;
    case MESSAGE_HEARD:
      leave_on_heard (node, link);
      break;
    case MESSAGE_HAND:
      leave_on_hand (node, link, m);
      break;
    case MESSAGE_HANDED:
      leave_on_handed (node, link, m);
      break;
    case MESSAGE_GOODBYE:
      leave_on_goodbye (node, link, m);
      break;
    default:
      route_office (node, link, m);
      break;
    }
}

/* What only a member's bound link may say. */
static void
route_bound (Node *node, Link *link, const Message *m)
{
  switch (m->kind)
    {
    case MESSAGE_GONE:
      alive_on_gone (node, link, m);
      break;
    case MESSAGE_START:
      constants_on_start (node, link, m);
      break;
    case MESSAGE_WANT:
      constants_on_want (node, link);
      break;
    case MESSAGE_CONSTANTS:
      constants_on_set (node, link, m);
      break;
    case MESSAGE_SAVE:
      saves_on_save (node, link, m);
      break;
    case MESSAGE_BEST:
      constants_on_best (node, m);
      break;
    case MESSAGE_FETCH:
      shares_on_fetch (node, link, m);
      break;
    case MESSAGE_BYTES:
      shares_on_bytes (node, link, m);
      break;
    case MESSAGE_TAKEN:
      shares_on_taken (node, link);
      break;
    case MESSAGE_SAVED:
      saves_on_saved (node, link, m);
      break;
    case MESSAGE_WORK:
      work_on_message (node, link, m);
      break;
    case MESSAGE_EVENT:
      events_on_event (node, link, m);
      break;
    case MESSAGE_REPORTED:
      events_on_reported (node, link, m);
      break;
    case MESSAGE_NOTED:
      events_on_noted (node, link, m);
      break;
    case MESSAGE_SUSPEND:
      stop_suspend (node, m->number);
      break;
    case MESSAGE_CANCEL:
      stop_cancel (node);
      break;
    case MESSAGE_LAST_WORDS:
      poison_on_message (node, m);
      break;
    case MESSAGE_HALT:
      stop_on_halt (node, link);
      break;
    case MESSAGE_DRAINED:
      stop_on_drained (node, m);
      break;
    case MESSAGE_SEEK:
      reach_on_seek (node, link, m);
      break;
    case MESSAGE_SOUGHT:
      reach_on_sought (node, link, m);
      break;
    case MESSAGE_CALL:
      reach_on_call (node, m);
      break;
    default:
      route_leave (node, link, m);
      break;
    }
}

typedef struct
{
  Node *node;
  gboolean unknown;
} StemChecking;

static void
check_stems_of (const char *path, gpointer data)
{
  StemChecking *checking = data;

  if (!path_is_whole (checking->node->config.stems, path))
    checking->unknown = TRUE;
}

/* FALSE: the message breaks the rules and its link is closed. */
static gboolean
is_in_order (Node *node, Link *link, const Message *m)
{
  if (!link->greeted && m->kind != MESSAGE_HELLO)
    {
      link_break (node, link, "spoke before it greeted");
      return FALSE;
    }
  if (m->kind == MESSAGE_STEM)
    {
      if (stems_add (node->config.stems, m->text, m->path))
        return TRUE;
      link_break (node, link, "a stem that is none");
      return FALSE;
    }
  StemChecking checking = { node, FALSE };
  message_each_path (m, check_stems_of, &checking);
  if (checking.unknown)
    link_break (node, link, "a path with an unknown stem");
  return !checking.unknown;
}

void
hear_message (Node *node, guint64 number, GBytes *bytes)
{
  Link *link = link_find (node, number);
  g_auto (Message) m = { 0 };
  g_autoptr (GError) error = NULL;

  if (link == NULL)
    return;
  if (!message_decode (bytes, &m, &error))
    {
      link_break (node, link, error->message);
      return;
    }
  link->heard_us = node->now_us;
  Member *member = link->bound ? roster_find (node, &link->remote) : NULL;
  if (member != NULL)
    member->heard_us = node->now_us;
  if (is_in_order (node, link, &m) && shares_admit (node, link, &m))
    hear_admitted (node, link, &m);
}

void
hear_admitted (Node *node, Link *link, const Message *m)
{
  Member *member = link->bound ? roster_find (node, &link->remote) : NULL;

  switch (m->kind)
    {
    case MESSAGE_STEM:
      break;
    case MESSAGE_HELLO:
      on_hello (node, link, m);
      break;
    case MESSAGE_ROSTER:
      roster_on_message (node, link, m);
      break;
    case MESSAGE_JOIN:
      join_on_request (node, link, m);
      break;
    case MESSAGE_WELCOME:
      roster_on_welcome (node, link, m);
      break;
    case MESSAGE_REFUSED:
      join_on_refused (node, link);
      break;
    case MESSAGE_END:
      if (link->bound || !core_is_member (node))
        stop_on_end (node, m->number, m->flag);
      break;
    case MESSAGE_ROUTE: /* who joins has no other way than these */
      route_on_route (node, link, m);
      break;
    case MESSAGE_CARGO:
    case MESSAGE_HASTE:
      route_on_cargo (node, link, m);
      break;
    case MESSAGE_CREDIT:
      route_on_credit (node, link, m);
      break;
    case MESSAGE_UNROUTE:
      route_on_unroute (node, link, m);
      break;
    default:
      if (member != NULL)
        route_bound (node, link, m);
      else if (m->kind == MESSAGE_LAST_WORDS && !core_is_member (node))
        poison_on_message (node, m);
      else if (m->kind == MESSAGE_STEAL) /* he knows of us already; he is not to wait for ever */
        link_send (node, link, &(Message){ .kind = MESSAGE_NONE, .number = m->number });
      break;
    }
}
