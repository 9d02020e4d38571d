/* SPDX-License-Identifier: BSD-3-Clause */
/* See join.h. The node that is asked sends its roster at once, as on every link. If it is not the
 * master, it relays messages to the master, whose address is on the roster, too.
 * Tests: test-members, test-merge, sim. */
#include "../core.h"

void
join_init (Node *node)
{
  Join *join = &node->join;

  core_pointers (node, &join->addresses, g_free);
  join->at_us = CORE_NEVER;
  core_owns (node, &join->redirect, g_free);
}

/* TRUE: this node, which has no name now, had one before. */
static gboolean
was_member (const Node *node)
{
  return node->roster.lost->len > 0;
}

/* TRUE: some addresses were not tried. A node that joins for the first time tries them one after
 * the other. A node that was a member waits in between, since it goes on alone if all refuse. */
static gboolean
others_wait (Node *node)
{
  const Join *join = &node->join;

  return join->tried < join->addresses->len && !was_member (node) && !join->over;
}

static void
attempt (Node *node)
{
  Join *join = &node->join;
  g_autofree char *address = g_steal_pointer (&join->redirect);

  if (address == NULL && join->addresses->len == 0)
    {
      join->at_us = CORE_NEVER;
      return;
    }
  if (address == NULL)
    address = g_strdup (join->addresses->pdata[join->next++ % join->addresses->len]);
  join->dial = link_dial (node, DIAL_JOIN, NULL, address);
  join->tried++;
  join->at_us = node->now_us + (others_wait (node) ? JOIN_SLOW_US : JOIN_ANSWER_US);
}

static void
fail (Node *node)
{
  Join *join = &node->join;
  Link *link = link_find (node, join->link), *carrier = link_find (node, join->carrier);
  guint64 pause = JOIN_RETRY_MIN_US << MIN (join->failures, 6);

  join->dial = join->link = join->carrier = 0;
  if (link != NULL)
    link_close (node, link);
  if (carrier != NULL)
    link_close (node, carrier);
  /* A former member that finds no other node: all others are dead or have lost their names, too.
   * The run goes on here. A node that never was a member ends with the run. */
  if ((was_member (node) || join->over)
      && (join->dead_in_row > join->addresses->len
          || node->now_us >= join->heard_us + JOIN_ALONE_US))
    {
      if (was_member (node))
        roster_found (node);
      else
        node->above->stranded (node);
      return;
    }
  join->at_us = node->now_us;
  if (join->redirect != NULL || others_wait (node))
    return;
  join->at_us += core_jitter (node, MIN (pause, JOIN_RETRY_MAX_US));
  join->failures++;
  join->tried = 0;
}

void
join_add_address (Node *node, const char *address)
{
  Join *join = &node->join;
  GPtrArray *all = join->addresses;

  if (address[0] == '\0' || g_strcmp0 (address, node->config.address) == 0)
    return;
  for (guint i = 0; i < all->len; i++)
    if (g_str_equal (all->pdata[i], address))
      {
        address = NULL;
        break;
      }
  if (address != NULL)
    {
      if (all->len == JOIN_ADDRESSES_MAX)
        g_ptr_array_remove_index (all, 0);
      g_ptr_array_add (all, g_strdup (address));
    }
  if (core_is_member (node) || join->link != 0)
    return;
  if (join->dial == 0 && join->at_us == CORE_NEVER)
    attempt (node);
  else if (join->dial != 0 && others_wait (node))
    join->at_us = MIN (join->at_us, node->now_us + JOIN_SLOW_US);
}

void
join_ask (Node *node, const char *address)
{
  g_free (node->join.redirect);
  node->join.redirect = address[0] == '\0' ? NULL : g_strdup (address);
}

void
join_again (Node *node, Link *link, const Message *m)
{
  node->join.heard_us = node->now_us;
  node->join.failures = node->join.dead_in_row = node->join.tried = 0;
  node->join.dial = node->join.link = node->join.carrier = 0;
  if (link != NULL)
    {
      join_on_link (node, link);
      join_on_roster (node, link, m);
    }
  else
    attempt (node);
}

gboolean
join_wants_link (Node *node)
{
  return !core_is_member (node) && node->join.link == 0;
}

void
join_on_link (Node *node, Link *link)
{
  node->join.dial = 0;
  node->join.link = link->link;
  node->join.at_us = node->now_us + JOIN_ANSWER_US;
  node->join.dead_in_row = 0;
}

void
join_on_down (Node *node, guint64 link)
{
  if (node->join.link != link || link == 0)
    return;
  node->join.link = 0;
  if (!core_is_member (node))
    fail (node);
}

void
join_on_dial_failed (Node *node, gboolean dead)
{
  Join *join = &node->join;

  join->dial = 0;
  join->dead_in_row = dead ? join->dead_in_row + 1 : 0;
  fail (node);
}

void
join_on_crash_report (Node *node)
{
  node->join.over = !core_is_member (node);
  node->join.heard_us = node->now_us;
}

void
join_on_stranger (Node *node, guint64 link)
{
  if (node->join.link == link)
    fail (node);
}

/* The other end is a member and says who is master. */
static void
ask (Node *node, Link *link, const NodeId *master, const char *address)
{
  Join *join = &node->join;

  join->heard_us = node->now_us;
  if (was_member (node) && join->link == 0 && link->circuit == NULL)
    join_on_link (node, link); /* the other end dialled this node, and may be the only one that
                                * can */
  if (link->link != join->link || link->state == LINK_JOINING)
    return;
  if (node_id_equal (master, &link->remote))
    {
      link->state = LINK_JOINING;
      join->at_us = node->now_us + JOIN_ANSWER_US;
      link_send (node, link,
                 &(Message){ .kind = MESSAGE_JOIN,
                             .text = node->config.address,
                             .host = node->config.host,
                             .site = node->config.site,
                             .number = node->config.pid,
                             .count = node->config.workers,
                             .flag = node->config.invited || was_member (node) });
      return;
    }
  g_free (join->redirect);
  join->redirect = g_strdup (address);
  if (link->circuit != NULL)
    {
      fail (node);
      return;
    }
  /* Relayed through this member, since there may be no other way. If that fails, at the master's
   * own address. */
  join->carrier = link->link;
  join->link = route_open (node, link, master, 1)->link;
  join->at_us = node->now_us + JOIN_ANSWER_US;
}

void
join_on_roster (Node *node, Link *link, const Message *m)
{
  const MessageMember *master = &g_array_index (m->members, MessageMember, 0);

  for (guint i = 0; i < m->members->len; i++)
    join_add_address (node, g_array_index (m->members, MessageMember, i).address);
  ask (node, link, &master->id, master->address);
}

void
join_on_have (Node *node, Link *link, const Message *m)
{
  ask (node, link, &m->term.opener, m->text);
}

void
join_on_refused (Node *node, const char *build)
{
  if (core_is_member (node))
    return;
  core_emit (node, NODE_EFFECT_REFUSED)->text = g_strdup (build);
  node->phase = NODE_LEFT;
}

void
join_welcomed (Node *node)
{
  node->join.at_us = CORE_NEVER;
  node->join.dial = node->join.link = node->join.carrier = 0;
  node->join.failures = node->join.dead_in_row = 0;
  node->join.over = FALSE;
  g_clear_pointer (&node->join.redirect, g_free);
}

guint64
join_due (Node *node)
{
  return core_is_member (node) ? CORE_NEVER : node->join.at_us;
}

void
join_tick (Node *node)
{
  if (core_is_member (node) || node->join.at_us > node->now_us)
    return;
  if (node->join.dial != 0 && node->join.link == 0 && others_wait (node))
    {
      node->join.dead_in_row = 0;
      attempt (node); /* beside the slow one */
    }
  else if (node->join.dial != 0 || node->join.link != 0)
    fail (node);
  else
    attempt (node);
}
