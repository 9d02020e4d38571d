/* SPDX-License-Identifier: BSD-3-Clause */
/* See roster.h: members that were proved dead and are still on the roster.
 *
 * The master removes them. If several die together, the first is often known a moment before the
 * others. While another member may be dead, too, since its links are gone and a dial or a search is
 * under way, the dead members wait for each other, but not for long. So a lost site is one change
 * of the roster.
 *
 * Other nodes tell the master, or its successor, once over each link, and only after a while:
 * usually the master has found out itself. The master does not forget what it was told. What is
 * lost with a link is told over the next one. Dead members that stay are told again whenever this
 * node checks for silence.
 *
 * Tests: test-roster */
#include "../core.h"

static gboolean
is_in_doubt (Node *node, const Member *member)
{
  return !member->dead && !node_id_equal (&member->id, &node->self) && member->links->len == 0
         && (member->dial != 0 || reach_is_seeking (node, &member->id));
}

static gboolean
any_in_doubt (Node *node)
{
  gboolean any = FALSE;

  for (guint i = 0; i < node->roster.members->len && !any; i++)
    any = is_in_doubt (node, node->roster.members->pdata[i]);
  return any;
}

/* Removes the dead members: at once, or when it is known which others are dead. */
static void
take_off (Node *node)
{
  Roster *roster = &node->roster;

  if (roster->gather_us == CORE_NEVER)
    roster->gather_us = node->now_us + ROSTER_GATHER_US;
  if (node->now_us >= roster->gather_us || !any_in_doubt (node))
    roster_drop_dead (node);
}

static gboolean
any_dead (Node *node)
{
  gboolean any = FALSE;

  for (guint i = 0; i < node->roster.members->len && !any; i++)
    any = ((const Member *)node->roster.members->pdata[i])->dead;
  return any;
}

void
roster_on_dead (Node *node)
{
  Member *acting = roster_acting (node);

  if (acting == NULL)
    return;
  contacts_refresh (node); /* the hub may have changed */
  if (roster_is_master (node))
    take_off (node);
  else if (node_id_equal (&acting->id, &node->self))
    roster_take_over (node);
  else
    {
      node->above->tell_of_dead (node, &acting->id);
      node->roster.tell_us = MIN (node->roster.tell_us, node->now_us + ROSTER_TELL_US);
    }
}

void
roster_retell (Node *node, gboolean again)
{
  for (guint i = 0; i < node->roster.members->len && again; i++)
    ((Member *)node->roster.members->pdata[i])->told_over = 0;
  if (any_dead (node))
    roster_on_dead (node);
}

/* The master may hear the member over a relay that is too long to be offered. But jobs lent to it
 * have not come back for so long that one of the two nodes must go. */
static gboolean
is_long_unheard (Node *node, const Member *member)
{
  return node->now_us >= member->heard_us + node->config.silence_us;
}

static void
tell (Node *node)
{
  const Member *acting = roster_acting (node);
  Link *link = acting != NULL ? link_to (node, &acting->id) : NULL;

  for (guint i = 0; i < node->roster.members->len && link != NULL; i++)
    {
      Member *member = node->roster.members->pdata[i];
      if (!member->dead || member->told_over == link->link)
        continue;
      member->told_over = link->link;
      link_send (
          node, link,
          &(Message){ .kind = MESSAGE_GONE,
                      .id = member->id,
                      .flag = member->dead == DEATH_SILENT || is_long_unheard (node, member) });
    }
}

void
roster_settle (Node *node)
{
  if (node->roster.gather_us != CORE_NEVER && roster_is_master (node) && !any_in_doubt (node))
    roster_retell (node, FALSE);
}

guint64
roster_due (Node *node)
{
  return MIN (MIN (node->roster.gather_us, node->roster.tell_us), node->roster.ask_us);
}

void
roster_tick (Node *node)
{
  Roster *roster = &node->roster;

  if (roster->gather_us <= node->now_us)
    {
      if (roster_is_master (node) && any_dead (node))
        roster_drop_dead (node);
      roster->gather_us = CORE_NEVER;
    }
  if (roster->tell_us <= node->now_us)
    {
      roster->tell_us = CORE_NEVER;
      tell (node);
    }
  roster_ask (node);
}
