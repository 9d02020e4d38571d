/* SPDX-License-Identifier: BSD-3-Clause */
/* See roster.h. Every change, decided here or received, goes through roster_replace (): it finds
 * who left and who joined, tells the other parts in a fixed order, and settles who is master. A
 * Member is never copied: the old and the new roster hold references to the same one. */
#include "../core.h"

static void
clear_member (gpointer data)
{
  Member *member = data;

  g_free (member->address);
  g_free (member->host);
  g_free (member->site);
  g_ptr_array_unref (member->links);
  carry_clear (&member->carry);
}

static void
unref_member (gpointer data)
{
  g_rc_box_release_full (data, clear_member);
}

GPtrArray *
roster_new_members (void)
{
  return g_ptr_array_new_with_free_func (unref_member);
}

void
roster_init (Node *node)
{
  Roster *roster = &node->roster;

  roster->members = roster_new_members ();
  core_owns (node, &roster->members, (GDestroyNotify)g_ptr_array_unref);
  core_array (node, &roster->gone, sizeof (NodeId));
  core_array (node, &roster->lost, sizeof (NodeId));
  roster->changes = roster_new_changes ();
  core_owns (node, &roster->changes, (GDestroyNotify)g_ptr_array_unref);
  roster->gather_us = roster->tell_us = roster->ask_us = CORE_NEVER;
}

gboolean
roster_is_self (const Node *node, const Member *member)
{
  return member != NULL && node_id_equal (&member->id, &node->self);
}

/* TRUE: this node has opened the term. */
static gboolean
is_opener (const Node *node, const Term *term)
{
  return core_is_self (node, &term->opener);
}

gboolean
roster_is_master (Node *node)
{
  return is_opener (node, &node->roster.term) && node->roster.members->len > 0;
}

/* A living member, to which everything must still be told; keep_members () decides when it is
 * dialled. */
Member *
roster_new_member (Node *node, const MessageMember *from)
{
  Member *member = g_rc_box_new0 (Member);

  member->id = from->id;
  member->address = g_strdup (from->address);
  member->host = g_strdup (from->host);
  member->site = g_strdup (from->site);
  member->pid = from->pid;
  member->workers = from->workers;
  member->links = g_ptr_array_new ();
  member->heard_us = member->told.told_us = node->now_us;
  member->seek_at_us = member->dial_at_us = CORE_NEVER;
  return member;
}

static Member *
new_self (Node *node, const NodeId *id)
{
  return roster_new_member (
      node, &(MessageMember){ .id = *id,
                              .address = node->config.address != NULL ? node->config.address : "",
                              .host = node->config.host,
                              .site = node->config.site,
                              .pid = node->config.pid,
                              .workers = node->config.workers });
}

static void
send_to_all_links (Node *node)
{
  for (guint i = 0; i < node->links.links->len; i++)
    {
      Link *link = node->links.links->pdata[i];
      if (link->member != NULL || (link->state != LINK_NEW && !node_id_is_none (&link->remote)))
        roster_catch_up (node, link); /* a node that is no member may believe that it is */
    }
}

/* A member that stays is the same Member, with everything known about it. */
static void
keep_members (GPtrArray *old, GPtrArray *members)
{
  for (guint i = 0, at = 0; i < members->len; i++)
    {
      Member *member = members->pdata[i], *before = roster_find_next (old, &at, &member->id);

      if (before == NULL)
        continue;
#ifdef SATIN_PLANT_LEAVING_FORGOTTEN
      before->leaving = FALSE;
#endif
      if (before == member) /* most often: each change keeps nearly all */
        continue;
      members->pdata[i] = g_rc_box_acquire (before);
      unref_member (member);
    }
}

/* A member left. The engine must forget what it held before slots come back and are looked up
 * again. */
static void
departed (Node *node, Member *member)
{
  const char *cause = member->leaving ? "left" : member->dead == DEATH_SILENT ? "silent" : "gone";
  gboolean watched = contacts_watch (node, member);

  core_log (node, "node %u.%u left (%s)", member->id.term, member->id.number, cause);
  if (!member->leaving && member->dead != DEATH_PROVED && watched)
    alive_accuse (node, member->address);
  node->stats.crashes += member->leaving || !watched ? 0 : 1; /* others may have heard that it
                                                               * left */
  link_close_member (node, &member->id);
  carry_departed (node, member);
  node_id_set_add (node->roster.gone, &member->id);
  node->above->departed (node, member, cause);
}

static gboolean
elders_are_dead (Node *node)
{
  Member *acting = roster_acting (node);

  return acting != NULL && roster_is_self (node, acting);
}

/* Another node is master now, after the term `before`. If this node was, main waits in vain here.
 */
static void
depose (Node *node, const Term *before)
{
  if (!is_opener (node, before))
    return;
  core_emit (node, NODE_EFFECT_DEPOSED);
  node->above->deposed (node);
}

static void
settle_master (Node *node, const NodeId *old_master, const Term *before)
{
  Member *master = roster_master (node);

  if (roster_is_master (node))
    return;
  if (elders_are_dead (node)) /* this roster is older than their death */
    {
      roster_take_over (node);
      return;
    }
  depose (node, before);
  if (!node_id_equal (old_master, &master->id))
    node->above->followed (node);
}

/* The first roster since this node lost its name. No other node may have seen the leave of members
 * that are missing on it. */
static void
note_lost (Node *node)
{
  GArray *lost = node->roster.lost;

  for (guint i = 0; i < lost->len; i++)
    {
      const NodeId *id = &g_array_index (lost, NodeId, i);
      if (roster_find (node, id) == NULL)
        node->above->missed (node, id);
    }
  g_array_set_size (lost, 0);
}

/* Takes ownership of `members`, which contains this node. */
void
roster_replace (Node *node, const Term *term, guint64 version, GPtrArray *members)
{
  g_autoptr (GPtrArray) old = g_steal_pointer (&node->roster.members);
  NodeId old_master = old->len > 0 ? ((Member *)old->pdata[0])->id : NODE_ID_NONE;
  Term before = node->roster.term;

  gboolean next = old->len > 0 && term_compare (term, &node->roster.term) == 0
                  && version == node->roster.version + 1;

  keep_members (old, members);
  alive_changed (node);
  node->roster.leapt = term_compare (&before, term) != 0;
  node->roster.term = *term;
  node->roster.version = version;
  node->roster.gather_us = CORE_NEVER;
  node->roster.term_seen = MAX (node->roster.term_seen, term->number);
  node->roster.members = members;
  contacts_refresh (node);
  roster_changed (node, old, next);
  node->stats.rosters++;
  for (guint i = 0, at = 0; i < old->len; i++)
    {
      Member *member = old->pdata[i];
      if (roster_find_next (members, &at, &member->id) != NULL
          || node_id_equal (&member->id, &node->self))
        continue;
      for (guint j = node->links.links->len; j > 0; j--) /* a member removed by mistake learns it at
                                                          * once */
        {
          Link *link = node->links.links->pdata[j - 1];
          if (link->member != NULL && node_id_equal (&link->remote, &member->id))
            roster_send (node, link);
        }
      if (roster_is_master (node)) /* others close their links to it when they hear that it left */
        node->above->departing (node, &member->id);
      departed (node, member);
    }
  for (guint i = 0, at = 0; i < members->len; i++)
    if (roster_find_next (old, &at, &((Member *)members->pdata[i])->id) == NULL)
      node->above->joined (node, members->pdata[i], old->len > 0);
  note_lost (node);
  node->above->changed (node);
  settle_master (node, &old_master, &before);
  link_bind_all (node);
}

/* The master makes a new version with `members` (taken). */
static void
decree (Node *node, GPtrArray *members, gboolean joined)
{
  Term term = node->roster.term;

  roster_replace (node, &term, node->roster.version + 1, members);
  send_to_all_links (node);
  node->above->decreed (node, joined);
}

/* The members that are not dead. (transfer full) */
static GPtrArray *
list_living (Node *node)
{
  GPtrArray *members = roster_new_members ();

  for (guint i = 0; i < node->roster.members->len; i++)
    {
      Member *member = node->roster.members->pdata[i];
      if (!member->dead)
        g_ptr_array_add (members, g_rc_box_acquire (member));
    }
  return members;
}

void
roster_drop_dead (Node *node)
{
  decree (node, list_living (node), FALSE);
}

/* All elder members are dead, or this node is master already: opens a new term, in which this node
 * is the eldest. */
void
roster_take_over (Node *node)
{
  gboolean again = roster_is_master (node);
  Term term = { MAX (node->roster.term_seen, node->roster.term.number) + 1, node->self };

  core_log (node, "node %u.%u is master now, term %u", node->self.term, node->self.number,
            term.number);
  node->roster.next_number = 1;
  roster_replace (node, &term, 1, list_living (node));
  send_to_all_links (node);
  node->above->took_over (node, again);
}

void
roster_found (Node *node)
{
  guint32 number = node->roster.term_seen + 1;
  NodeId id = { number, 1, (guint32)core_random (node) };
  Term term = { number, id };
  GPtrArray *members = roster_new_members ();

  g_ptr_array_add (members, new_self (node, &id));
  g_array_set_size (node->roster.gone, 0);
  node->self = id;
  node->roster.next_number = 2;
  core_emit (node, NODE_EFFECT_JOINED)->node = id;
  join_welcomed (node);
  roster_replace (node, &term, 1, members);
  for (guint i = 0; i < node->join.addresses->len; i++) /* of the run that this node has lost */
    alive_accuse (node, node->join.addresses->pdata[i]);
  node->above->named (node);
  node->above->founded (node);
}

/* A host's address belongs to one node: an earlier member at that address is gone. */
static void
make_room (GPtrArray *members, const MessageMember *newcomer)
{
  for (guint i = members->len; i > 0; i--)
    if (g_str_equal (((Member *)members->pdata[i - 1])->address, newcomer->address)
        && roster_is_host (members->pdata[i - 1], newcomer->host))
      g_ptr_array_remove_index (members, i - 1);
}

void
roster_admit (Node *node, GArray *newcomers)
{
  GPtrArray *members = list_living (node);

  for (guint i = 0; i < newcomers->len; i++)
    {
      MessageMember *newcomer = &g_array_index (newcomers, MessageMember, i);
      newcomer->id = (NodeId){ node->roster.term.number, node->roster.next_number++,
                               (guint32)core_random (node) };
      make_room (members, newcomer);
      g_ptr_array_add (members, roster_new_member (node, newcomer));
    }
  decree (node, members, TRUE);
}

/* ---- receiving ---- */

static int
compare_age (Node *node, const Message *m)
{
  int order = term_compare (&m->term, &node->roster.term);

  if (order != 0)
    return order;
  return m->version < node->roster.version ? -1 : m->version > node->roster.version;
}

/* (nullable) */
static const MessageMember *
find_told (const Message *m, const NodeId *id)
{
  for (guint i = 0; i < m->members->len; i++)
    if (node_id_equal (&g_array_index (m->members, MessageMember, i).id, id))
      return &g_array_index (m->members, MessageMember, i);
  return NULL;
}

/* Above 0: the received roster replaces this node's. Usually the newer one wins. But if neither
 * contains the master of the other, they belong to two sides of a split, and the elder master
 * wins. */
static int
compare (Node *node, const Message *m)
{
  int order = compare_age (node, m);
  const NodeId *mine = &roster_master (node)->id;
  const NodeId *other = &g_array_index (m->members, MessageMember, 0).id;

  if (order != 0 && find_told (m, mine) == NULL && roster_find (node, other) == NULL)
    return node_id_compare (mine, other);
  return order;
}

static GPtrArray *
members_of (Node *node, const Message *m)
{
  GPtrArray *members = roster_new_members ();

  for (guint i = 0; i < m->members->len; i++)
    g_ptr_array_add (members,
                     roster_new_member (node, &g_array_index (m->members, MessageMember, i)));
  return members;
}

/* Collects addresses at which this node may join: first the sender's, which is reachable; then the
 * others'; then those of members of the old roster, which go over with this node and may reach
 * more. */
static void
note_addresses (Node *node, const Link *from, const Message *m)
{
  const MessageMember *told = find_told (m, &from->remote);
  const Member *known = roster_find (node, &from->remote);

  for (guint i = 0; i < node->roster.members->len; i++)
    join_add_address (node, ((Member *)node->roster.members->pdata[i])->address);
  for (guint i = 0; i < m->members->len; i++)
    join_add_address (node, g_array_index (m->members, MessageMember, i).address);
  if (told != NULL || known != NULL)
    join_ask (node, told != NULL ? told->address : known->address);
}

/* The others go on without this node; such a mistake costs only time. This node keeps its borrowed
 * jobs, as orphans, takes back what it lent, and asks to join under a new id. It asks over this
 * link first, since there may be no other way. If the other end still knows its old name, a JOIN
 * over a link with that name is ignored, so the link is renewed. */
static void
rejoin (Node *node, Link *from, const Message *m, gboolean known)
{
  core_log (node, "node %u.%u %s term %u and joins again", node->self.term, node->self.number,
            known ? "had given up others of" : "was left out of", m->term.number);
  for (guint i = 0; i < node->links.links->len; i++) /* members that still counted on this node
                                                      * learn it, too */
    {
      Link *link = node->links.links->pdata[i];
      if (link->member != NULL && link != from)
        link_send (node, link, m);
    }
  note_addresses (node, from, m);
  g_autoptr (GPtrArray) old = g_steal_pointer (&node->roster.members);
  node->roster.members = roster_new_members ();
  from = link_renew (node, known ? NULL : from);
  g_array_set_size (node->roster.gone, 0);
  depose (node, &node->roster.term);
  for (guint i = 0; i < old->len; i++)
    {
      carry_departed (node, old->pdata[i]);
      node_id_set_add (node->roster.lost, &((Member *)old->pdata[i])->id);
    }
  node->self = NODE_ID_NONE;
  reach_reset (node);
  node->above->unnamed (node, old);
  join_again (node, from, m);
}

/* The newest term must be valid everywhere, for the roster and for the lease. So a master that
 * stays although there is a newer term opens another one. */
void
roster_reassert (Node *node, const Term *heard)
{
  node->roster.term_seen = MAX (node->roster.term_seen, heard->number);
  if (roster_is_master (node) && term_compare (heard, &node->roster.term) > 0)
    roster_take_over (node);
}

/* The other side of a split must come over to this one, and the master must know. */
static void
contradict (Node *node, const Message *m)
{
  if (term_compare (&m->term, &node->roster.term) <= 0)
    return;
  if (roster_is_master (node))
    roster_reassert (node, &m->term);
  else
    (void)link_send_to (node, &roster_master (node)->id, m);
}

/* Within a term the master tells each new roster to all members. If two other members answered each
 * other's versions, they would do so as long as nodes join. */
static gboolean
answers_older (Node *node, const Link *link, const Message *m)
{
  return roster_is_master (node) || link->told_version == 0
         || term_compare (&m->term, &node->roster.term) != 0;
}

void
roster_on_message (Node *node, Link *link, const Message *m)
{
  node->roster.term_seen = MAX (node->roster.term_seen, m->term.number);
  if (!core_is_member (node))
    {
      join_on_roster (node, link, m);
      return;
    }
  int order = compare (node, m);
  if (order == 0)
    return;
  if (order < 0)
    {
      if (answers_older (node, link, m))
        roster_send (node, link);
      contradict (node, m);
      return;
    }
  gboolean known = find_told (m, &node->self) != NULL;
  if (!known || roster_names_gone (node, m))
    {
      rejoin (node, link, m, known);
      return;
    }
  roster_replace (node, &m->term, m->version, members_of (node, m));
  roster_retell (node, FALSE);
}

void
roster_on_welcome (Node *node, Link *link, const Message *m)
{
  if (core_is_member (node) || link->state != LINK_JOINING)
    return;
  if (node_id_is_none (&m->id))
    {
      join_on_refused (node, NULL);
      return;
    }
  if (find_told (m, &m->id) == NULL)
    {
      link_break (node, link, "welcomed under a name that is not on the roster");
      return;
    }
  link->state = LINK_GREETED;
  node->self = m->id;
  link->told_term = link->said_term = m->term;
  link->told_version = link->said_version = m->version;
  /* Messages of a relayed link continue to come over it, until there is a better link. */
  Link *carrier = link->circuit == NULL ? link : link_find (node, link->circuit->leg.link);
  if (carrier != link)
    link_say_name (node, carrier);
  carrier->born_us = node->now_us; /* the link is kept for a while from now on */
  link_close_others (node, link);
  core_emit (node, NODE_EFFECT_JOINED)->node = m->id;
  join_welcomed (node);
  roster_replace (node, &m->term, m->version, members_of (node, m));
  node->above->named (node);
}
