/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the buddy of each member: a function of the roster and the plan, the same on every node.
 * See buddy.h. Tests: test-buddy, test-holdback. */
#include "../core.h"

static guint64
mix (guint64 x)
{
  x = (x ^ (x >> 31)) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return x ^ (x >> 29);
}

/* The member with the highest rank is chosen. Each member ranks the others differently. So they
 * share the work, and few members change their buddy when a node joins. */
static guint64
rank (const NodeId *id, const NodeId *other)
{
  guint64 x = mix (((guint64)id->number << 32) + id->random);

  return mix (x + (((guint64)other->number << 32) + other->random));
}

/* 0: impossible; 1: another member; 2: on another host; 3: at another site. */
static guint
distance (const Member *from, const Member *member)
{
  if (member->leaving || node_id_equal (&member->id, &from->id))
    return 0;
  if (!g_str_equal (member->site, from->site))
    return 3;
  return g_str_equal (member->host, from->host) ? 1 : 2;
}

/* The next member by age; after the last one comes the first. Each death or join changes the buddy
 * of one member. */
static const Member *
next_in_ring (Node *node, const Member *from)
{
  const Member *next = NULL;
  gboolean is_older = FALSE;

  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      gboolean older = node_id_compare (&member->id, &from->id) < 0;
      if (distance (from, member) == 0
          || (next != NULL
              && (older != is_older ? older : node_id_compare (&member->id, &next->id) > 0)))
        continue;
      next = member;
      is_older = older;
    }
  return next;
}

static const Member *
choose_for (Node *node, const Member *from)
{
  const Member *best = NULL;
  guint best_distance = 0;
  guint64 best_rank = 0;

  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      guint far = distance (from, member);
      guint64 high = far < MAX (best_distance, 1) ? 0 : rank (&from->id, &member->id);
      if (far < MAX (best_distance, 1) || (far == best_distance && high <= best_rank))
        continue;
      best = member;
      best_distance = far;
      best_rank = high;
    }
  return best;
}

gboolean
buddy_of (Node *node, const Member *member, BuddyPair *pair)
{
  const Member *found = NULL;

  if (node->config.plan.keeper == PLAN_KEEPER_RING)
    found = next_in_ring (node, member);
  else if (node->config.plan.keeper == PLAN_KEEPER_FAR)
    found = choose_for (node, member);
  if (found == NULL)
    return FALSE;
  *pair = (BuddyPair){ member->id, found->id };
  return TRUE;
}
