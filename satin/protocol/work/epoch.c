/* SPDX-License-Identifier: BSD-3-Clause */
/* See epoch.h. */
#include "../core.h"

/* Results sent to this member and received from it; `sent_before`: sent before the last local
 * checkpoint. */
typedef struct
{
  NodeId id;
  guint64 sent, got, sent_before;
} EpochPeer;

typedef struct
{
  NodeId from, to;
  guint64 sent, got;
} EpochCount;

/* Fig. 1 of the paper: rows are the receiver's state, columns the sender's. */
EpochClass
epoch_class (guint32 sender, guint32 receiver)
{
  enum
  {
    WHITE = 0,
    RED = EPOCH_RED,
    WHITE_RECORDING = EPOCH_RECORDING,
    RED_RECORDING = EPOCH_RED | EPOCH_RECORDING
  };
  static const EpochClass table[EPOCH_STATES][EPOCH_STATES] = {
    [WHITE] = { [WHITE] = EPOCH_NORMAL,
                [RED_RECORDING] = EPOCH_ORPHAN,
                [WHITE_RECORDING] = EPOCH_NORMAL,
                [RED] = EPOCH_IMPOSSIBLE },
    [RED_RECORDING] = { [WHITE] = EPOCH_IN_TRANSIT,
                        [RED_RECORDING] = EPOCH_NORMAL,
                        [WHITE_RECORDING] = EPOCH_IN_TRANSIT,
                        [RED] = EPOCH_NORMAL },
    [WHITE_RECORDING] = { [WHITE] = EPOCH_NORMAL,
                          [RED_RECORDING] = EPOCH_IN_TRANSIT,
                          [WHITE_RECORDING] = EPOCH_NORMAL,
                          [RED] = EPOCH_IN_TRANSIT },
    [RED] = { [WHITE] = EPOCH_IMPOSSIBLE,
              [RED_RECORDING] = EPOCH_NORMAL,
              [WHITE_RECORDING] = EPOCH_ORPHAN,
              [RED] = EPOCH_NORMAL },
  };

  return table[receiver % EPOCH_STATES][sender % EPOCH_STATES];
}

void
epoch_init (Node *node)
{
  Epoch *epoch = &node->epoch;

  core_array (node, &epoch->peers, sizeof (EpochPeer));
  core_array (node, &epoch->counts, sizeof (EpochCount));
}

/* ---- members ---- */

/* The result is valid until the next call. */
static EpochPeer *
peer_of (Node *node, const NodeId *id)
{
  GArray *peers = node->epoch.peers;
  EpochPeer new = { .id = *id };

  for (guint i = 0; i < peers->len; i++)
    if (node_id_equal (&g_array_index (peers, EpochPeer, i).id, id))
      return &g_array_index (peers, EpochPeer, i);
  g_array_append_val (peers, new);
  return &g_array_index (peers, EpochPeer, peers->len - 1);
}

guint32
epoch_colours (const Node *node)
{
  const Epoch *epoch = &node->epoch;

#ifdef SATIN_PLANT_COLOUR_IGNORED
  return 0;
#endif
  return (epoch->number % 2 ? EPOCH_RED : 0) | (epoch->phase != EPOCH_CLOSED ? EPOCH_RECORDING : 0);
}

/* Takes the local checkpoint. */
static void
take (Node *node, guint64 number)
{
  Epoch *epoch = &node->epoch;

  epoch->number = number;
  epoch->phase = EPOCH_OPEN;
  for (guint i = 0; i < epoch->peers->len; i++)
    {
      EpochPeer *peer = &g_array_index (epoch->peers, EpochPeer, i);
      peer->sent_before = peer->sent;
    }
  epoch->scan = node->control->scan (node);
}

gboolean
epoch_hears (Node *node, guint32 colours)
{
  if (!node->config.plan.epochs)
    return FALSE;
  EpochClass class = epoch_class (colours, epoch_colours (node));
  if (class == EPOCH_ORPHAN && !stop_halts (node))
    {
      take (node, node->epoch.number + 1);
      node->epoch.phase = EPOCH_EARLY;
    }
  return class == EPOCH_IN_TRANSIT;
}

guint64
epoch_open (Node *node, guint64 number)
{
  Epoch *epoch = &node->epoch;

  if (epoch->phase == EPOCH_EARLY && epoch->number == number)
    epoch->phase = EPOCH_OPEN;
  else
    take (node, number);
  return epoch->scan;
}

/* TRUE: the local checkpoint is being taken, so results are saved before they are sent on. */
static gboolean
is_scanning (const Node *node)
{
  return node->epoch.phase != EPOCH_CLOSED && node->epoch.served < node->epoch.scan;
}

gboolean
epoch_saves_first (const Node *node)
{
  return node->round.heard || is_scanning (node);
}

void
epoch_on_served (Node *node, guint64 scan)
{
  node->epoch.served = scan;
}

void
epoch_on_exit (Node *node)
{
  node->epoch.exit = node->epoch.phase != EPOCH_CLOSED ? node->epoch.number : 0;
}

gboolean
epoch_holds (const Node *node)
{
  const Epoch *epoch = &node->epoch;

  return epoch->phase == EPOCH_OPEN && epoch->number == epoch->exit
         && node->saves.phase == SAVES_NOT && node->round.owed == 0;
}

void
epoch_sends_result (Node *node, const NodeId *lender)
{
  if (node->config.plan.epochs)
    peer_of (node, lender)->sent++;
}

void
epoch_got_result (Node *node, const NodeId *holder, gboolean in_transit)
{
  if (!node->config.plan.epochs)
    return;
  peer_of (node, holder)->got++;
  if (in_transit)
    node->control->arrived (node);
}

gboolean
epoch_withholds (Node *node, const NodeId *holder, guint64 loan)
{
  if (stop_halts (node) || roster_find (node, holder)->leaving)
    return FALSE;
  buddy_acknowledge_later (node, holder, loan);
  return TRUE;
}

/* Recording ends: holders may drop the results that were in transit. */
static void
close_epoch (Node *node)
{
  node->epoch.phase = EPOCH_CLOSED;
  buddy_acknowledge_all (node);
}

void
epoch_on_over (Node *node, guint64 number)
{
  if (!node->config.plan.epochs || number < node->epoch.number)
    return;
  node->epoch.number = number;
  close_epoch (node);
}

void
epoch_renew (Node *node)
{
  if (node->config.plan.epochs)
    close_epoch (node);
}

/* ---- counting, at the coordinator ---- */

static EpochCount *
count_of (Node *node, const NodeId *from, const NodeId *to)
{
  GArray *counts = node->epoch.counts;
  EpochCount new = { .from = *from, .to = *to };

  for (guint i = 0; i < counts->len; i++)
    {
      EpochCount *count = &g_array_index (counts, EpochCount, i);
      if (node_id_equal (&count->from, from) && node_id_equal (&count->to, to))
        return count;
    }
  g_array_append_val (counts, new);
  return &g_array_index (counts, EpochCount, counts->len - 1);
}

static void
note_counts (Node *node, const NodeId *member, const NodeId *other, guint64 sent, guint64 got)
{
  count_of (node, member, other)->sent = sent;
  EpochCount *back = count_of (node, other, member);
  back->got = MAX (back->got, got);
}

static int
compare_peers (gconstpointer a, gconstpointer b)
{
  return node_id_compare (&((const EpochPeer *)a)->id, &((const EpochPeer *)b)->id);
}

void
epoch_say_counts (Node *node, Message *scanned, GArray *ids, GArray *numbers)
{
  GArray *peers = node->epoch.peers;

  g_array_sort (peers, compare_peers);
  for (guint i = 0; i < peers->len; i++)
    {
      const EpochPeer *peer = &g_array_index (peers, EpochPeer, i);
      g_array_append_val (ids, peer->id);
      g_array_append_val (numbers, peer->sent_before);
      g_array_append_val (numbers, peer->got);
    }
  scanned->ids = ids;
  scanned->numbers = numbers;
}

void
epoch_on_counts (Node *node, const NodeId *member, const Message *m)
{
  for (guint i = 0; m->ids != NULL && i < m->ids->len && 2 * i + 1 < m->numbers->len; i++)
    note_counts (node, member, &g_array_index (m->ids, NodeId, i),
                 g_array_index (m->numbers, guint64, 2 * i),
                 g_array_index (m->numbers, guint64, 2 * i + 1));
}

gboolean
epoch_in_transit (Node *node)
{
  for (guint i = 0; i < node->epoch.counts->len; i++)
    {
      const EpochCount *count = &g_array_index (node->epoch.counts, EpochCount, i);
      if (roster_find (node, &count->from) == NULL || roster_find (node, &count->to) == NULL)
        continue; /* first, since peer_of adds a peer */
      const EpochPeer *own
          = node_id_equal (&count->to, &node->self) ? peer_of (node, &count->from) : NULL;
      if (count->sent > (own != NULL ? own->got : count->got))
        return TRUE;
    }
  return FALSE;
}

/* ---- the coordinator ---- */

void
epoch_begin (Node *node)
{
  g_array_set_size (node->epoch.counts, 0);
  node->epoch.number++;
  node->epoch.begun++;
}

Message
epoch_over (const Node *node)
{
  return (
      Message){ .kind = MESSAGE_PUBLISHED, .version = node->epoch.number, .work_us = ROUND_QUIET };
}

void
epoch_end (Node *node)
{
  Epoch *epoch = &node->epoch;
  Message over = epoch_over (node);

  epoch->ended++;
  member_send_all (node, &over);
  close_epoch (node);
}

/* ---- joining and leaving ---- */

void
epoch_departed (Node *node, const NodeId *id)
{
  GArray *peers = node->epoch.peers;

  for (guint i = peers->len; i-- > 0;)
    if (node_id_equal (&g_array_index (peers, EpochPeer, i).id, id))
      g_array_remove_index_fast (peers, i);
}

void
epoch_reset (Node *node)
{
  Epoch *epoch = &node->epoch;

  g_array_set_size (epoch->peers, 0);
  g_array_set_size (epoch->counts, 0);
  epoch->phase = EPOCH_CLOSED;
}

void
epoch_check (Node *node)
{
  const Epoch *epoch = &node->epoch;

  g_assert (node->config.plan.epochs || (epoch->number == 0 && epoch->phase == EPOCH_CLOSED));
  g_assert (epoch->phase != EPOCH_CLOSED || !node->config.plan.epochs
            || node->buddy.acks.length == 0);
  g_assert (epoch->begun <= epoch->ended + 1);
  for (guint i = 0; i < epoch->peers->len; i++)
    {
      const EpochPeer *peer = &g_array_index (epoch->peers, EpochPeer, i);
      g_assert (roster_find (node, &peer->id) != NULL && peer->sent_before <= peer->sent);
    }
  g_assert (epoch->scan <= node->saves.scans);
}
