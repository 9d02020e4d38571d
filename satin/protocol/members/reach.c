/* SPDX-License-Identifier: BSD-3-Clause */
/* See reach.h. Only reach_tick draws conclusions, so the other functions do not change the
 * roster.
 * Tests: test-suspects, reach.sh, sim. */
#include "../core.h"

static void
search_free (gpointer data)
{
  ReachSearch *search = data;

  g_array_unref (search->asked);
  g_free (search);
}

void
reach_init (Node *node)
{
  Reach *reach = &node->reach;

  core_pointers (node, &reach->searches, search_free);
  core_array (node, &reach->questions, sizeof (ReachQuestion));
}

void
reach_reset (Node *node)
{
  g_ptr_array_set_size (node->reach.searches, 0);
  g_array_set_size (node->reach.questions, 0);
}

/* ---- asking ---- */

/* (nullable) */
static ReachSearch *
search_for (Node *node, const NodeId *id)
{
  for (guint i = 0; i < node->reach.searches->len; i++)
    {
      ReachSearch *search = node->reach.searches->pdata[i];
      if (node_id_equal (&search->id, id))
        return search;
    }
  return NULL;
}

gboolean
reach_is_seeking (Node *node, const NodeId *id)
{
  return search_for (node, id) != NULL;
}

/* TRUE: this node would have to declare `member` dead, as the master or as its successor. */
static gboolean
decides (Node *node, const Member *member)
{
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *other = node->roster.members->pdata[i];
      if (other != member && !other->dead)
        return node_id_equal (&other->id, &node->self);
    }
  return FALSE;
}

static gboolean
may_ask (Node *node, const Member *whom, const NodeId *about)
{
  return !whom->dead && !node_id_equal (&whom->id, &node->self) && !node_id_equal (&whom->id, about)
         && link_direct (node, &whom->id) != NULL;
}

static guint
asked_of_site (Node *node, const ReachSearch *search, const char *site)
{
  guint n = 0;

  for (guint i = 0; i < search->asked->len; i++)
    {
      const Member *member = roster_find (node, &g_array_index (search->asked, NodeId, i));
      n += member != NULL && g_str_equal (member->site, site);
    }
  return n;
}

/* A node that decides asks all members. Others ask the eldest, which hears most members, and a few
 * of each site, different ones each time. */
static void
ask (Node *node, ReachSearch *search, const Member *about)
{
  GPtrArray *members = node->roster.members;
  guint first = (guint)(core_random (node) % members->len);
  gboolean all = decides (node, about);

  for (guint i = 0; i <= members->len; i++)
    {
      const Member *member
          = i == 0 ? members->pdata[0] : members->pdata[(first + i) % members->len];
      if ((i > 0 && member == members->pdata[0]) || !may_ask (node, member, &search->id)
          || (!all && search->asked->len >= REACH_ASKED_MAX)
          || (!all && asked_of_site (node, search, member->site) >= REACH_ASKED_OF_SITE))
        continue;
      g_array_append_val (search->asked, member->id);
      (void)link_send_to (node, &member->id, &(Message){ .kind = MESSAGE_SEEK, .id = search->id });
    }
}

void
reach_seek (Node *node, Member *member)
{
  if (member->dead || node_id_equal (&member->id, &node->self)
      || link_to (node, &member->id) != NULL || search_for (node, &member->id) != NULL
      || link_is_coming (node, &member->id, TRUE))
    return;
  member->seek_at_us = CORE_NEVER;
  alive_changed (node);
  ReachSearch *search = g_new0 (ReachSearch, 1);
  search->id = member->id;
  search->asked = g_array_new (FALSE, FALSE, sizeof (NodeId));
  g_ptr_array_add (node->reach.searches, search);
  ask (node, search, member);
  search->until_us = node->now_us + (search->asked->len > 0 ? REACH_ASK_US : 0);
}

void
reach_dial_failed (Node *node, Member *member, gboolean refused)
{
  Link *link = link_to (node, &member->id);
  guint64 pause = (guint64)ALIVE_REDIAL_US << MIN (member->dial_failures, 7);

  member->dial_failures++;
  member->dial_at_us
      = node->now_us + (link != NULL ? MIN (pause, REACH_REDIAL_MAX_US) : ALIVE_REDIAL_US);
  alive_changed (node);
  if (link != NULL)
    return;
  if (!refused)
    member->refused_us = 0;
  else if (member->refused_us == 0)
    member->refused_us = MAX (node->now_us, 1);
  reach_seek (node, member);
}

/* TRUE: a member that may have a link to `about` cannot be asked yet, since it is being dialled. */
static gboolean
another_is_coming (Node *node, const Member *about)
{
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      if (member != about && !member->dead && link_to (node, &member->id) == NULL
          && (member->dial != 0 || link_is_coming (node, &member->id, FALSE)))
        return TRUE;
    }
  return FALSE;
}

/* No member that answered has a link to this one. */
static void
conclude (Node *node, const ReachSearch *search)
{
  Member *member = roster_find (node, &search->id);
  gboolean all = search->asked->len == 0; /* FALSE: answers are missing, since a link may be slow */

  if (member == NULL || member->dead || member->refused_us == 0
      || link_to (node, &member->id) != NULL || link_is_coming (node, &member->id, TRUE))
    return;
  alive_changed (node);
  if (node->now_us < member->refused_us + link_greeting_us (node)
      && (!all || another_is_coming (node, member)))
    member->seek_at_us = node->now_us + REACH_SLOW_US;
  else if (member->answered || node->now_us >= member->refused_us + REACH_GRACE_US)
    alive_dead (node, member, DEATH_REFUSED);
  else
    member->seek_at_us = member->refused_us + REACH_GRACE_US;
}

static void
answered (Node *node, ReachSearch *search, const NodeId *who)
{
  if (node_id_set_remove (search->asked, who) && search->asked->len == 0)
    search->until_us = node->now_us;
}

void
reach_lost (Node *node, const NodeId *id)
{
  for (guint i = 0; i < node->reach.searches->len; i++)
    answered (node, node->reach.searches->pdata[i], id);
}

void
reach_on_sought (Node *node, Link *link, const Message *m)
{
  Member *member = roster_find (node, &m->id);
  ReachSearch *search = search_for (node, &m->id);
  gboolean wanted = member != NULL && member->dead != DEATH_PROVED
                    && !node_id_equal (&m->id, &node->self) && link_to (node, &m->id) == NULL
                    && !link_is_coming (node, &m->id, TRUE) && link->circuit == NULL;

  if (!m->flag || m->count >= ROUTE_HOPS_MAX || !wanted)
    {
      if (search != NULL)
        answered (node, search, &link->remote);
      return;
    }
  if (search != NULL)
    g_ptr_array_remove (node->reach.searches, search);
  (void)route_open (node, link, &m->id, m->count + 1);
}

/* ---- being asked ---- */

/* Answers yes, if there is a link that can carry a relayed one. */
gboolean
reach_offer (Node *node, Link *asker, const NodeId *id)
{
  Link *link = link_to (node, id);

  if (link == NULL || link == asker || route_hops (link) >= ROUTE_HOPS_MAX
      || (link->circuit != NULL && link->circuit->leg.link == asker->link))
    return FALSE;
  link_send (
      node, asker,
      &(Message){ .kind = MESSAGE_SOUGHT, .id = *id, .flag = TRUE, .count = route_hops (link) });
  return TRUE;
}

static void
say_no (Node *node, const NodeId *asker, const NodeId *id)
{
  (void)link_send_to (node, asker, &(Message){ .kind = MESSAGE_SOUGHT, .id = *id, .flag = FALSE });
}

/* TRUE: this node believes that the member is dead. */
static gboolean
is_given_up (const Member *member)
{
  return member->dead || (member->refused_us != 0 && member->answered);
}

void
reach_on_seek (Node *node, Link *link, const Message *m)
{
  Member *member = roster_find (node, &m->id);
  ReachQuestion question = { link->remote, m->id, node->now_us + REACH_GRACE_US };

  if (reach_offer (node, link, &m->id))
    return;
  if ((member != NULL && is_given_up (member)) || node_id_equal (&m->id, &node->self)
      || node->reach.questions->len >= REACH_QUESTIONS_MAX)
    {
      say_no (node, &link->remote, &m->id);
      return;
    }
  g_array_append_val (node->reach.questions, question);
  if (member != NULL && link_to (node, &m->id) == NULL)
    alive_redial (node, member);
}

void
reach_bound (Node *node, Member *member)
{
  ReachSearch *search = search_for (node, &member->id);
  GArray *questions = node->reach.questions;

  member->refused_us = 0;
  member->seek_at_us = CORE_NEVER;
  if (link_direct (node, &member->id) != NULL)
    member->dial_failures = 0;
  if (search != NULL)
    g_ptr_array_remove (node->reach.searches, search);
  for (guint i = questions->len; i > 0; i--)
    {
      ReachQuestion question = g_array_index (questions, ReachQuestion, i - 1);
      Link *asker = link_to (node, &question.asker);
      if (!node_id_equal (&question.id, &member->id)
          || (asker != NULL && !reach_offer (node, asker, &question.id)))
        continue;
      g_array_remove_index (questions, i - 1);
    }
}

void
reach_on_route (Node *node, const NodeId *id)
{
  Member *member = roster_find (node, id);

  if (member != NULL && !node_id_equal (id, &node->self) && link_direct (node, id) == NULL)
    alive_redial (node, member);
}

/* ---- time ---- */

guint64
reach_due (Node *node)
{
  guint64 at = CORE_NEVER;

  for (guint i = 0; i < node->reach.searches->len; i++)
    at = MIN (at, ((const ReachSearch *)node->reach.searches->pdata[i])->until_us);
  for (guint i = 0; i < node->reach.questions->len; i++)
    at = MIN (at, g_array_index (node->reach.questions, ReachQuestion, i).until_us);
  return at;
}

static void
answer_questions (Node *node)
{
  GArray *questions = node->reach.questions;

  for (guint i = questions->len; i > 0; i--)
    {
      ReachQuestion question = g_array_index (questions, ReachQuestion, i - 1);
      const Member *member = roster_find (node, &question.id);
      if (node->now_us < question.until_us && (member == NULL || !is_given_up (member)))
        continue;
      g_array_remove_index (questions, i - 1);
      say_no (node, &question.asker, &question.id);
    }
}

void
reach_tick (Node *node)
{
  answer_questions (node);
  for (guint i = 0; alive_dials (node) && i < node->roster.members->len; i++)
    {
      Member *member = node->roster.members->pdata[i];
      if (member->dead || member->seek_at_us > node->now_us)
        continue;
      member->seek_at_us = CORE_NEVER;
      reach_seek (node, member);
    }
  for (guint i = 0; i < node->reach.searches->len; i++)
    {
      ReachSearch *search = node->reach.searches->pdata[i];
      if (search->until_us > node->now_us)
        continue;
      g_ptr_array_steal_index (node->reach.searches, i);
      conclude (node, search);
      search_free (search);
      i = G_MAXUINT; /* the roster may have changed: start again */
    }
}

void
reach_check (Node *node)
{
  for (guint i = 0; i < node->reach.searches->len; i++)
    {
      const ReachSearch *search = node->reach.searches->pdata[i];
      g_assert (search_for (node, &search->id) == search);
      g_assert (link_to (node, &search->id) == NULL);
    }
}
