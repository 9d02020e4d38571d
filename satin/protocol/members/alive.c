/* SPDX-License-Identifier: BSD-3-Clause */
/* See alive.h. */
#include "../core.h"

static void
accused_free (gpointer data)
{
  Accused *accused = data;

  g_free (accused->address);
  g_free (accused);
}

void
alive_init (Node *node)
{
  Alive *alive = &node->alive;

  core_pointers (node, &alive->accused, accused_free);
  alive->ping_at_us = alive->look_at_us = alive->dial_at_us = CORE_NEVER;
}

void
alive_changed (Node *node)
{
  node->alive.dial_at_us = 0;
}

void
alive_dead (Node *node, Member *member, Death death)
{
  static const char *const why[]
      = { [DEATH_PROVED] = "its own host shows that it is gone",
          [DEATH_REFUSED] = "its address refuses, and nobody has a link to it",
          [DEATH_SILENT] = "silent for too long" };

  if (member->dead || node_id_equal (&member->id, &node->self))
    return;
  core_log (node, "node %u.%u is dead: %s", member->id.term, member->id.number, why[death]);
  node->stats.silenced += death == DEATH_SILENT;
  member->dead = death;
  roster_on_dead (node);
}

void
alive_heard (Node *node, Member *member)
{
  if (node->now_us >= member->heard_us + node->config.silence_us / 2)
    alive_changed (node); /* the member was suspected, so its next check is sooner than its death */
  member->heard_us = node->now_us;
}

static void
dial (Node *node, Member *member, DialPurpose purpose)
{
  alive_changed (node);
  member->dialled_us = node->now_us;
  member->dial_at_us = CORE_NEVER;
  if (link_to (node, &member->id) == NULL)
    member->seek_at_us = node->now_us + REACH_SLOW_US;
  member->dial = link_dial (node, purpose, &member->id, member->address);
}

/* The member's crash report and the end of the run may still come over that link. When the link
 * breaks the member is dialled again; at the latest after half of the silence. */
gboolean
alive_may_speak (Node *node, const Member *member)
{
  return link_direct (node, &member->id) != NULL
         && node->now_us < member->heard_us + node->config.silence_us / 2;
}

/* No link is left, or all are silent; a refused dial proves the death. Dials at once, unless there
 * was a dial a moment ago. */
void
alive_redial (Node *node, Member *member)
{
  if (member->dead || member->dial != 0 || link_is_coming (node, &member->id, FALSE))
    return;
  if (member->dialled_us == 0 || node->now_us >= member->dialled_us + ALIVE_REDIAL_MIN_US)
    dial (node, member, DIAL_MEMBER);
  else
    {
      member->dial_at_us = member->dialled_us + ALIVE_REDIAL_MIN_US;
      alive_changed (node);
    }
}

/* The master still hears the member, so there may be a relay through this node. But if this does
 * not help for long, one of the two nodes must go: jobs that they lent each other cannot come
 * back. */
static gboolean
is_heard_here (Node *node, Link *accuser, Member *member)
{
  if (!roster_is_master (node) || node->now_us >= member->heard_us + node->config.silence_us / 2
      || !reach_offer (node, accuser, &member->id))
    return FALSE;
  if (member->accused_us == 0)
    member->accused_us = MAX (node->now_us, 1);
  return node->now_us < member->accused_us + node->config.silence_us;
}

/* Accusers repeat themselves whenever they look for silent members. After a long pause the matter
 * before is settled, and the member has its whole time again. */
static void
note_accusation (Node *node, Member *member)
{
  if (node->now_us >= member->accused_last_us + 2 * node->config.silence_us)
    member->accused_us = 0;
  member->accused_last_us = node->now_us;
}

void
alive_on_gone (Node *node, Link *link, const Message *m)
{
  Member *member = roster_find (node, &m->id);

  if (member == NULL || member->dead || node_id_equal (&m->id, &node->self))
    return;
  note_accusation (node, member);
  gboolean heard = is_heard_here (node, link, member);
  if (!m->flag && member->dial == 0)
    dial (node, member, DIAL_CHECK); /* the master tests it by its own dial */
  else if (!heard && roster_is_master (node)
           && (m->flag
               || (member->accused_us != 0
                   && node->now_us >= member->accused_us + node->config.silence_us)))
    alive_dead (node, member, DEATH_SILENT);
}

static void
look_again (Node *node, Accused *accused)
{
  guint64 beat_us = node->config.heartbeat_us;
  guint64 pause_us = CLAMP ((node->now_us - accused->since_us) / ALIVE_MEET_SHARE,
                            ALIVE_MEET_MIN * beat_us, ALIVE_MEET_MAX * beat_us);

  accused->at_us = node->now_us + core_jitter (node, pause_us);
}

static Accused *
find_accused (Node *node, const char *address)
{
  for (guint i = 0; i < node->alive.accused->len; i++)
    {
      Accused *accused = node->alive.accused->pdata[i];
      if (g_str_equal (accused->address, address))
        return accused;
    }
  return NULL;
}

gboolean
alive_is_accused (Node *node, const char *address)
{
  return find_accused (node, address) != NULL;
}

void
alive_accuse (Node *node, const char *address)
{
  GPtrArray *all = node->alive.accused;

#ifdef SATIN_PLANT_MASTERS_MEET
  if (!roster_is_master (node))
    return;
#endif
  if (address[0] == '\0' || g_strcmp0 (address, node->config.address) == 0
      || find_accused (node, address) != NULL)
    return;
  if (all->len == ALIVE_ACCUSED_MAX)
    g_ptr_array_remove_index (all, 0); /* the one that has been away longest */
  Accused *accused = g_new0 (Accused, 1);
  accused->address = g_strdup (address);
  accused->since_us = node->now_us;
  look_again (node, accused);
  g_ptr_array_add (all, accused);
}

void
alive_met (Node *node, const char *address, gboolean settled)
{
  Accused *accused = find_accused (node, address);

  if (accused != NULL && settled)
    g_ptr_array_remove (node->alive.accused, accused);
  else if (accused != NULL)
    look_again (node, accused);
}

/* TRUE: a member has this address. */
static gboolean
is_settled (Node *node, const char *address)
{
  for (guint i = 0; i < node->roster.members->len; i++)
    if (g_str_equal (((Member *)node->roster.members->pdata[i])->address, address))
      return TRUE;
  return FALSE;
}

static void
meet (Node *node)
{
  GPtrArray *all = node->alive.accused;

  for (guint i = all->len; i > 0 && core_is_member (node); i--)
    {
      Accused *accused = all->pdata[i - 1];
      if (accused->at_us > node->now_us)
        continue;
      if (is_settled (node, accused->address))
        {
          g_ptr_array_remove_index (all, i - 1);
          continue;
        }
      accused->at_us = CORE_NEVER;
      (void)link_dial (node, DIAL_MEET, NULL, accused->address);
    }
}

static guint64
meet_due (Node *node)
{
  guint64 at = CORE_NEVER;

  for (guint i = 0; i < node->alive.accused->len && core_is_member (node); i++)
    at = MIN (at, ((const Accused *)node->alive.accused->pdata[i])->at_us);
  return at;
}

gboolean
alive_was_asleep (Node *node)
{
  return node->wish_us != CORE_NEVER && node->now_us > node->wish_us + node->config.heartbeat_us;
}

/* While this node did not run it could hear nobody, so this silence does not count. */
void
alive_slept (Node *node)
{
  for (guint i = 0; i < node->roster.members->len; i++)
    ((Member *)node->roster.members->pdata[i])->heard_us = node->now_us;
  for (guint i = 0; i < node->links.links->len; i++)
    {
      Link *link = node->links.links->pdata[i];
      link->heard_us = node->now_us;
      if (link->member == NULL)
        link->born_us = node->now_us;
    }
}

/* Silence after which a link is closed: less if there is a newer link to the member. */
static guint64
patience_us (Node *node, const Link *link)
{
  return link_to (node, &link->remote) == link ? node->config.silence_us
                                               : node->config.silence_us / 2;
}

/* TRUE: the link belongs to a member, or is needed by a node that joins, or by one that joins
 * through this node. */
static gboolean
is_of_use (Node *node, const Link *link)
{
  return link->member != NULL || link->link == node->join.link || link->link == node->join.carrier
         || route_begins_at (node, link);
}

static void
close_silent_links (Node *node)
{
  for (guint i = node->links.links->len; i > 0; i--)
    {
      if (i > node->links.links->len)
        continue; /* closing a link closed others */
      Link *link = node->links.links->pdata[i - 1];
      if (!is_of_use (node, link) && node->now_us >= link->born_us + link_greeting_us (node))
        link_break (node, link, "it never became a member's");
      else if (link->member != NULL && node->now_us >= link->heard_us + patience_us (node, link))
        link_break (node, link, "silent for too long");
    }
}

static void
find_silent_members (Node *node)
{
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      Member *member = node->roster.members->pdata[i];
      if (!member->dead && !node_id_equal (&member->id, &node->self)
          && contacts_watch (node, member)
          && node->now_us >= member->heard_us + node->config.silence_us)
        {
          alive_dead (node, member, DEATH_SILENT);
          i = G_MAXUINT; /* the roster may have changed: start again */
        }
    }
}

/* Dials members that have been silent for half of the limit: a new link may tell more. */
static void
look_for_suspects (Node *node)
{
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      Member *member = node->roster.members->pdata[i];
      if (!member->dead && !node_id_equal (&member->id, &node->self)
          && contacts_watch (node, member)
          && node->now_us >= member->heard_us + node->config.silence_us / 2)
#ifdef SATIN_PLANT_NOT_LOOKED_FOR
        continue;
#else
        alive_redial (node, member);
#endif
    }
}

/* Checks links and members for silence. */
static void
look (Node *node)
{
  close_silent_links (node);
  find_silent_members (node);
  roster_retell (node, TRUE);
  look_for_suspects (node);
}

/* The earliest of `at` and the times at which links are closed if they stay silent. */
static guint64
links_due (Node *node, guint64 at)
{
  for (guint i = 0; i < node->links.links->len; i++)
    {
      const Link *link = node->links.links->pdata[i];
      if (link->member != NULL && link->heard_us + node->config.silence_us / 2 < at)
        at = MIN (at, link->heard_us + patience_us (node, link));
    }
  return at;
}

/* The time at which this member is suspected, or counts as dead. */
static guint64
silence_due (Node *node, const Member *member)
{
  guint64 suspect_us = member->heard_us + node->config.silence_us / 2;

  if (node_id_equal (&member->id, &node->self) || !contacts_watch (node, member))
    return CORE_NEVER;
  return suspect_us > node->now_us ? suspect_us : member->heard_us + node->config.silence_us;
}

/* The pause grows with the number of links, so that an idle node sends little. But each node must
 * ping several times within the limit of silence. */
static guint64
ping_pause_us (Node *node)
{
  guint64 seldom_us = node->links.links->len * G_USEC_PER_SEC / ALIVE_PINGS_A_SECOND,
          most_us = node->config.silence_us / NODE_SILENCE_HEARTBEATS;

  return MAX (node->config.heartbeat_us, MIN (seldom_us, most_us));
}

gboolean
alive_is_silent (Node *node, const Member *member)
{
  guint64 heard_us = MAX (member->heard_us, member->told.told_us);

  if (node_id_equal (&member->id, &node->self))
    return FALSE;
  if (node->roster.members->len <= WORK_ALL_MAX && member->told.busy > 0)
    return node->now_us >= heard_us + ALIVE_TOLD_US;
  return contacts_watch (node, member) && node->now_us >= heard_us + 2 * ping_pause_us (node);
}

/* Pings each link, unless it was used within the last half of a pause, or an acknowledgement can be
 * sent instead. */
static void
ping (Node *node)
{
  guint64 lately_us = ping_pause_us (node) / 2;

  for (guint i = 0; i < node->links.links->len; i++)
    {
      Link *link = node->links.links->pdata[i];
      if (link->member != NULL && !carry_acknowledge (node, link)
          && node->now_us >= link->spoke_us + lately_us)
        link_send (node, link, &(Message){ .kind = MESSAGE_PING });
    }
}

static gboolean
is_alone (Node *node)
{
  return node->links.links->len == 0 && node->roster.members->len < 2;
}

/* The earliest times for a check and for a dial. */
static void
find_due (Node *node, guint64 *look_at_us, guint64 *dial_at_us)
{
  *look_at_us = *dial_at_us = CORE_NEVER;
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      if (member->dead)
        continue;
      *look_at_us = MIN (*look_at_us, silence_due (node, member));
      *dial_at_us = MIN (*dial_at_us, member->seek_at_us);
      if (member->dial == 0)
        *dial_at_us = MIN (*dial_at_us, member->dial_at_us);
    }
  *look_at_us = links_due (node, *look_at_us);
}

/* Most steps only hear members, which makes nothing due earlier. So all members and links are
 * looked at only after a change, and when the time of one is over. */
guint64
alive_due (Node *node)
{
  Alive *alive = &node->alive;
  guint64 at = meet_due (node);

  if (is_alone (node))
    alive->ping_at_us = CORE_NEVER;
  else if (alive->ping_at_us == CORE_NEVER)
    alive->ping_at_us = node->now_us + ping_pause_us (node);
  if (alive->dial_at_us == 0)
    find_due (node, &alive->look_at_us, &alive->dial_at_us);
  at = MIN (at, MIN (alive->ping_at_us, MIN (alive->look_at_us, alive->dial_at_us)));
  return MIN (at, reach_due (node));
}

void
alive_check (Node *node)
{
  guint64 look_at_us, dial_at_us;

  find_due (node, &look_at_us, &dial_at_us);
  g_assert (node->alive.look_at_us <= look_at_us && node->alive.dial_at_us <= dial_at_us);
}

gboolean
alive_dials (const Node *node)
{
  return node->alive.dial_at_us <= node->now_us;
}

static void
dial_due (Node *node)
{
  for (guint i = 0; alive_dials (node) && i < node->roster.members->len; i++)
    {
      Member *member = node->roster.members->pdata[i];
      if (member->dead || member->dial != 0 || member->dial_at_us > node->now_us)
        continue;
      member->dial_at_us = CORE_NEVER;
      if (link_direct (node, &member->id) == NULL || carry_wants (member))
        dial (node, member, DIAL_MEMBER);
    }
}

void
alive_tick (Node *node)
{
  gboolean pings = node->alive.ping_at_us <= node->now_us;

  gboolean looks = pings || node->alive.look_at_us <= node->now_us;

  if (looks || alive_dials (node))
    alive_changed (node);
  if (looks)
    look (node);
  if (pings)
    {
      node->alive.ping_at_us = CORE_NEVER;
      ping (node);
    }
  reach_tick (node);
  dial_due (node);
  meet (node);
}
