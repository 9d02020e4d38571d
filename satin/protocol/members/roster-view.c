/* SPDX-License-Identifier: BSD-3-Clause */
/* See roster.h: reads the roster. Changes nothing.
 * Tests: test-roster. */
#include "../core.h"

/* Members are sorted by age, which is the order of their ids. */
Member *
roster_find_next (const GPtrArray *members, guint *at, const NodeId *id)
{
  while (*at < members->len)
    {
      Member *member = members->pdata[*at];
      int order = node_id_compare (&member->id, id);
      if (order >= 0)
        return order == 0 ? member : NULL;
      (*at)++;
    }
  return NULL;
}

Member *
roster_find (Node *node, const NodeId *id)
{
  const GPtrArray *members = node->roster.members;
  guint from = 0, to = members->len;

  while (from < to)
    {
      guint middle = (from + to) / 2;
      Member *member = members->pdata[middle];
      int order = node_id_compare (&member->id, id);
      if (order == 0)
        return member;
      if (order < 0)
        from = middle + 1;
      else
        to = middle;
    }
  return NULL;
}

Member *
roster_master (Node *node)
{
  return node->roster.members->len > 0 ? node->roster.members->pdata[0] : NULL;
}

Member *
roster_acting (Node *node)
{
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      Member *member = node->roster.members->pdata[i];
      if (!member->dead)
        return member;
    }
  return NULL;
}

gboolean
roster_is_near (const Node *node, const Member *member)
{
  return g_str_equal (member->site, node->config.site);
}

gboolean
roster_is_host (const Member *member, const char *host)
{
  return g_str_equal (member->host, host);
}

GArray *
roster_view (Node *node)
{
  GArray *view = g_array_new (FALSE, TRUE, sizeof (NodeMember));
  NodeId coordinator;
  gboolean has_one = lease_coordinator (node, &coordinator);

  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *m = node->roster.members->pdata[i];
      NodeMember item = { .id = m->id,
                          .address = m->address,
                          .host = m->host,
                          .site = m->site,
                          .pid = m->pid,
                          .workers = m->workers,
                          .told_us = m->told.told_us,
                          .work_us = m->told.work_us,
                          .risk_us = m->told.risk_us,
                          .alone_us = m->told.alone_us,
                          .busy = m->told.busy,
                          .leaving = m->leaving,
                          .master = i == 0,
                          .coordinator = has_one && node_id_equal (&coordinator, &m->id),
                          .self = roster_is_self (node, m),
                          .silent = alive_is_silent (node, m) };
      g_array_append_val (view, item);
    }
  return view;
}

/* As roster_find. The check calls this for each link, after each step of the simulator. */
static inline gboolean
has (const GPtrArray *members, const NodeId *id)
{
  for (guint i = 0; i < members->len; i++)
    if (node_id_equal (&((const Member *)members->pdata[i])->id, id))
      return TRUE;
  return FALSE;
}

void
roster_check (Node *node)
{
  GPtrArray *members = node->roster.members;

  g_assert (core_is_member (node) == (members->len > 0));
  g_assert (!core_is_member (node) || roster_find (node, &node->self) != NULL);
  for (guint i = 1; i < members->len; i++)
    g_assert (
        node_id_compare (&((Member *)members->pdata[i - 1])->id, &((Member *)members->pdata[i])->id)
        < 0);
  g_assert (!roster_is_master (node) || roster_is_self (node, members->pdata[0]));
  g_assert (node->roster.changes->len < node->roster.version || members->len == 0);
  for (guint i = 0; i < node->links.links->len; i++)
    {
      const Link *link = node->links.links->pdata[i];
      g_assert (link->member == NULL || link->state == LINK_GREETED);
      g_assert (link->member == NULL || has (members, &link->remote));
      g_assert (link->member == NULL || node_id_equal (&link->member->id, &link->remote));
    }
}

gboolean
roster_names_gone (Node *node, const Message *m)
{
  for (guint i = 0; i < m->members->len; i++)
    {
      const NodeId *id = &g_array_index (m->members, MessageMember, i).id;
      if (roster_find (node, id) == NULL && node_id_set_has (node->roster.gone, id))
        return TRUE;
    }
  return FALSE;
}

MessageMember
roster_item (const Member *m)
{
  return (MessageMember){ m->id, m->address, m->host, m->site, m->pid, m->workers };
}

void
roster_fill (Node *node, Message *message)
{
  message->term = node->roster.term;
  message->version = node->roster.version;
  message->members = g_array_new (FALSE, FALSE, sizeof (MessageMember));
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *m = node->roster.members->pdata[i];
      MessageMember item = roster_item (m);
      g_array_append_val (message->members, item);
    }
}
