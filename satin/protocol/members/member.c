/* SPDX-License-Identifier: BSD-3-Clause */
/* See member.h.
 *
 * Tests: test-members */
#include "../core.h"

gboolean
member_send (Node *node, const NodeId *to, const Message *message)
{
  return link_send_to (node, to, message);
}

void
member_send_all (Node *node, const Message *message)
{
  link_broadcast (node, message);
}

gboolean
member_is_connected (Node *node, const NodeId *id)
{
  return link_to (node, id) != NULL;
}

gboolean
member_has_connection (const Member *member)
{
  return member->links->len > 0;
}

guint64
member_connection (Node *node, const NodeId *id)
{
  const Link *link = link_to (node, id);

  return link != NULL ? link->link : 0;
}

void
member_break (Node *node, const NodeId *id, const char *why)
{
  Link *link = link_to (node, id);

  if (link != NULL)
    link_break (node, link, why);
}
