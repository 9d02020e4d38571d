/* SPDX-License-Identifier: BSD-3-Clause */
/* See admit.h.
 *
 * Tests: test-members */
#include "../core.h"

/* A node at the other end of `link` that asks to join. Owns its texts. */
typedef struct
{
  guint64 link;
  MessageMember member;
} Newcomer;

static void
newcomer_free (gpointer data)
{
  Newcomer *newcomer = data;

  g_free ((char *)newcomer->member.address);
  g_free ((char *)newcomer->member.host);
  g_free ((char *)newcomer->member.site);
  g_free (newcomer);
}

static Newcomer *
newcomer_new (const Link *link, const Message *m)
{
  Newcomer *newcomer = g_new0 (Newcomer, 1);

  newcomer->link = link->link;
  newcomer->member = (MessageMember){ .address = g_strdup (m->text),
                                      .host = g_strdup (m->host),
                                      .site = g_strdup (m->site),
                                      .pid = (guint32)m->number,
                                      .workers = m->count };
  return newcomer;
}

static GPtrArray *
new_waiting (void)
{
  return g_ptr_array_new_with_free_func (newcomer_free);
}

void
admit_init (Node *node)
{
  node->admit.waiting = new_waiting ();
  core_owns (node, &node->admit.waiting, (GDestroyNotify)g_ptr_array_unref);
}

static gboolean
is_waiting (Node *node, const Link *link)
{
  for (guint i = 0; i < node->admit.waiting->len; i++)
    if (((Newcomer *)node->admit.waiting->pdata[i])->link == link->link)
      return TRUE;
  return FALSE;
}

static gboolean
lets_in (Node *node)
{
  return roster_is_master (node) && node->stop.phase < STOP_HALTING;
}

/* The newcomer has the run's credential, so its claim to be invited is believed. */
static gboolean
is_wanted (Node *node, Link *link, const Message *m)
{
  if (!node->config.closed || m->flag)
    return TRUE;
  core_log (node, "'%s' is refused: the run is closed", m->text);
  link_send (node, link, &(Message){ .kind = MESSAGE_WELCOME });
  return FALSE;
}

/* The WELCOME of a member was lost, so it never knew that it is a member: removes it. No node waits
 * for it. */
static void
never_was (Node *node, const Message *m)
{
  for (guint i = node->roster.members->len; i > 0; i--)
    {
      Member *member = node->roster.members->pdata[i - 1];
      if (member->dead || node_id_equal (&member->id, &node->self)
          || !g_str_equal (member->address, m->text) || !roster_is_host (member, m->host)
          || link_to (node, &member->id) != NULL)
        continue;
      core_log (node, "node %u.%u asks to join: it has not heard that it was taken in",
                member->id.term, member->id.number);
      member->dead = DEATH_PROVED;
      roster_on_dead (node);
      return;
    }
}

static void
welcome (Node *node, Link *link, const NodeId *id)
{
  g_auto (Message) message = { .kind = MESSAGE_WELCOME, .id = *id };

  roster_fill (node, &message);
  link->remote = *id;
  link->told_term = link->said_term = node->roster.term;
  link->told_version = link->said_version = node->roster.version;
  link_send (node, link, &message);
}

/* How long the next newcomers are collected. */
static guint64
gather_us (Node *node)
{
  guint64 members = node->roster.members->len;

  return MIN (ADMIT_GATHER_US * members * (1 + members / ADMIT_GATHER_SHARE), ADMIT_GATHER_MAX_US);
}

/* Admits all newcomers that are still connected. If this node is no longer master, its roster tells
 * them who is. */
static void
admit_waiting (Node *node)
{
  g_autoptr (GPtrArray) waiting = g_steal_pointer (&node->admit.waiting);
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (MessageMember));
  g_autoptr (GArray) links = g_array_new (FALSE, FALSE, sizeof (guint64));

  node->admit.waiting = new_waiting ();
  for (guint i = 0; i < waiting->len; i++)
    {
      Newcomer *newcomer = waiting->pdata[i];
      Link *link = link_find (node, newcomer->link);
      if (link == NULL || link->member != NULL)
        continue;
      if (!lets_in (node))
        {
          roster_send (node, link);
          continue;
        }
      link->expected = NODE_ID_NONE; /* a member at this address leaves, with its links */
      g_array_append_val (members, newcomer->member);
      g_array_append_val (links, newcomer->link);
    }
  if (members->len == 0)
    return;
  roster_admit (node, members);
  for (guint i = 0; i < links->len; i++)
    {
      const NodeId *id = &g_array_index (members, MessageMember, i).id;
      Link *link = link_find (node, g_array_index (links, guint64, i));
      if (link != NULL && roster_find (node, id) != NULL)
        welcome (node, link, id);
    }
  link_bind_all (node);
  node->admit.at_us = node->now_us + gather_us (node);
}

void
admit_on_request (Node *node, Link *link, const Message *m)
{
  GPtrArray *waiting = node->admit.waiting;

  if (alive_is_accused (node, m->text))
    node->above->missing_came (node);
  if (!lets_in (node) || link->member != NULL || m->text[0] == '\0'
      || node->roster.members->len + waiting->len >= MESSAGE_MEMBERS_MAX)
    {
      guint64 number = link->link;
      if (roster_is_master (node) && node->stop.phase >= STOP_HALTING && link->member == NULL)
        never_was (node, m);
      link = link_find (node, number);
      if (link != NULL)
        roster_send (node, link);
      return;
    }
  if (is_waiting (node, link) || !is_wanted (node, link, m))
    return;
  g_ptr_array_add (waiting, newcomer_new (link, m));
  if (node->admit.at_us <= node->now_us)
    admit_waiting (node);
}

guint64
admit_due (Node *node)
{
  return node->admit.waiting->len > 0 ? node->admit.at_us : CORE_NEVER;
}

void
admit_tick (Node *node)
{
  if (node->admit.waiting->len > 0 && node->admit.at_us <= node->now_us)
    admit_waiting (node);
}
