/* SPDX-License-Identifier: BSD-3-Clause */
/* See spare.h. */
#include "core.h"

/* Of two links that both sides began, the younger's stays. */
static gboolean
is_elder (Node *node, const Link *link)
{
  return node_id_compare (&node->self, &link->remote) < 0;
}

/* Any direct link is better than a routed one, once HOLDING came by it: a later first one would not
 * know of the jobs that came by the other. A direct one makes another spare only if it lives:
 * something came by it since that one began. So one that is half open outlasts no redial. */
static gboolean
is_better (Node *node, const Link *other, const Link *link)
{
  if (other == link || !other->bound || !other->settled
      || !node_id_equal (&other->remote, &link->remote))
    return FALSE;
  if (link->circuit != NULL)
    return other->circuit == NULL || (!other->circuit->mine && is_elder (node, link));
  if (other->circuit != NULL || other->heard_us < link->born_us)
    return FALSE;
  return other->mine ? other->order > link->order : is_elder (node, link);
}

static gboolean
is_mine (const Link *link)
{
  return link->circuit != NULL ? link->circuit->mine : link->mine;
}

static gboolean
is_spare (Node *node, const Link *link)
{
  gboolean spare = FALSE;

  if (!link->bound || !is_mine (link))
    return FALSE;
  if (route_needs (node, link)) /* who joins by it has no other way */
    return FALSE;
  for (guint i = 0; i < node->links.links->len && !spare; i++)
    spare = is_better (node, node->links.links->pdata[i], link);
  return spare;
}

/* What goes over the link after this is under way again. */
static void
say (Node *node, Link *link, guint64 word)
{
  link_send (node, link,
             &(Message){ .kind = MESSAGE_SPARE, .number = link->round * SPARE_WORDS + word });
  link->wrote = FALSE;
}

/* The first word is of no use where HOLDING has not come by the other link, and is said again. */
static void
retire (Node *node, Link *link)
{
  link->spare_us = CORE_NEVER;
  link->round++;
  say (node, link, SPARE_BEGINS);
}

/* Of one that the other end began. */
static gboolean
is_needed (Node *node, const Link *link)
{
  for (guint i = 0; i < node->links.links->len; i++)
    {
      const Link *other = node->links.links->pdata[i];
      if (other != link && other->bound && other->settled
          && (other->circuit == NULL || link->circuit != NULL)
          && node_id_equal (&other->remote, &link->remote))
        return FALSE;
    }
  return TRUE;
}

void
spare_look (Node *node, const NodeId *id)
{
  for (guint i = 0; i < node->links.links->len; i++)
    {
      Link *link = node->links.links->pdata[i];
      if (node_id_equal (&link->remote, id) && !link->drained && is_spare (node, link))
        retire (node, link);
    }
}

void
spare_on_message (Node *node, Link *link, guint64 number)
{
  guint64 word = number % SPARE_WORDS, round = number / SPARE_WORDS;

  if (is_mine (link) != (word == SPARE_ANSWERS))
    return; /* against the rules */
  if (word == SPARE_BEGINS && !is_needed (node, link))
    {
      link->spare_us = CORE_NEVER;
      link->round = round;
      say (node, link, SPARE_ANSWERS);
    }
  else if (word == SPARE_ENDS && link->spare_us > 0 && round == link->round)
    {
      link->drained = TRUE;
      link->spare_us = MAX (node->now_us, 1); /* not here: its messages are being heard */
    }
  else if (word == SPARE_ANSWERS && link->spare_us > 0 && !link->drained && round == link->round)
    {
      /* A route may have begun on it, or the other ended. */
      link->drained = !link->wrote && is_spare (node, link);
      link->spare_us = link->drained ? CORE_NEVER : 0;
      if (link->drained)
        say (node, link, SPARE_ENDS);
    }
}

guint64
spare_due (Node *node)
{
  guint64 at = CORE_NEVER;

  for (guint i = 0; i < node->links.links->len; i++)
    {
      const Link *link = node->links.links->pdata[i];
      if (link->spare_us > 0)
        at = MIN (at, link->spare_us);
    }
  return at;
}

/* (nullable) */
static Link *
next_due (Node *node)
{
  for (guint i = 0; i < node->links.links->len; i++)
    {
      Link *link = node->links.links->pdata[i];
      if (link->spare_us > 0 && link->spare_us <= node->now_us)
        return link;
    }
  return NULL;
}

void
spare_tick (Node *node)
{
  for (Link *link = next_due (node); link != NULL; link = next_due (node))
    {
      link->spare_us = 0;
      if (link->drained || is_spare (node, link))
        link_break (node, link, "there is another");
    }
}
