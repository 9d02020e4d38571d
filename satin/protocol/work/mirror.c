/* SPDX-License-Identifier: BSD-3-Clause */
/* See mirror.h. */
#include "../core.h"

/* `number`: of the result, among those that the holder has sent to the ward. */
typedef struct
{
  NodeId ward, holder;
  guint64 number, since_us;
  Row *row;
} MirrorCopy;

typedef struct
{
  NodeId ward, holder;
  guint64 number;
} MirrorTrim;

/* `sent`: results sent to this member. Of the results received from it, those up to number `trims`
 * are in rows of this node's keeper, which was told of those up to number `told`. */
typedef struct
{
  NodeId id;
  guint64 sent, trims, told;
} MirrorPeer;

/* All results of this holder up to `number` are in slots that `scan` reads. */
typedef struct
{
  NodeId holder;
  guint64 number, scan;
} MirrorPut;

static void
copy_free (gpointer data)
{
  MirrorCopy *copy = data;

  row_free (copy->row);
  g_free (copy);
}

void
mirror_init (Node *node)
{
  Mirror *mirror = &node->mirror;

  core_pointers (node, &mirror->copies, copy_free);
  core_array (node, &mirror->trimmed, sizeof (MirrorTrim));
  core_array (node, &mirror->peers, sizeof (MirrorPeer));
  core_queue (node, &mirror->puts, g_free);
}

/* The result is valid until the next call. */
static MirrorPeer *
peer_of (Node *node, const NodeId *id)
{
  GArray *peers = node->mirror.peers;
  MirrorPeer new = { .id = *id };

  for (guint i = 0; i < peers->len; i++)
    if (node_id_equal (&g_array_index (peers, MirrorPeer, i).id, id))
      return &g_array_index (peers, MirrorPeer, i);
  g_array_append_val (peers, new);
  return &g_array_index (peers, MirrorPeer, peers->len - 1);
}

/* ---- the keeper ---- */

/* (nullable) */
static MirrorTrim *
find_trim (Node *node, const NodeId *ward, const NodeId *holder)
{
  for (guint i = 0; i < node->mirror.trimmed->len; i++)
    {
      MirrorTrim *trim = &g_array_index (node->mirror.trimmed, MirrorTrim, i);
      if (node_id_equal (&trim->ward, ward) && node_id_equal (&trim->holder, holder))
        return trim;
    }
  return NULL;
}

static void
offer (Node *node, const Row *row)
{
#ifdef SATIN_PLANT_MIRROR_NOT_OFFERED
  return;
#endif
  node->control->adopt_row (node, row);
  orphans_archive (node, row);
}

static gboolean
is_keeper_of (Node *node, const Member *ward)
{
  BuddyPair pair;

  return buddy_has_rows_of (node, &ward->id)
         || (buddy_of (node, ward, &pair) && node_id_equal (&pair.buddy, &node->self));
}

static void
keep (Node *node, const NodeId *lender, const NodeId *holder, guint64 number, const Row *row)
{
  const Member *ward = roster_find (node, lender);
  const MirrorTrim *trim = find_trim (node, lender, holder);

  if (ward == NULL) /* it has died meanwhile */
    offer (node, row);
  if (ward == NULL || !is_keeper_of (node, ward) || (trim != NULL && number <= trim->number))
    return;
  MirrorCopy *copy = g_new (MirrorCopy, 1);
  *copy = (MirrorCopy){ *lender, *holder, number, node->now_us, row_copy (row) };
  g_ptr_array_add (node->mirror.copies, copy);
  node->mirror.bytes += rows_bytes (row);
  node->stats.kept_bytes = MAX (node->stats.kept_bytes, buddy_kept_bytes (node));
}

static void
drop_copy (Mirror *mirror, guint place)
{
  const MirrorCopy *copy = mirror->copies->pdata[place];

  mirror->bytes -= rows_bytes (copy->row);
  g_ptr_array_remove_index (mirror->copies, place);
}

gsize
mirror_kept_bytes (Node *node)
{
  return node->mirror.bytes;
}

void
mirror_on_copy (Node *node, const NodeId *from, const Message *m)
{
  for (guint i = 0; i < m->rows->len; i++)
    keep (node, &m->id, from, m->version, m->rows->pdata[i]);
}

void
mirror_trim (Node *node, const NodeId *ward, const NodeId *holder, guint64 number)
{
  Mirror *mirror = &node->mirror;
  MirrorTrim new = { *ward, *holder, number };
  MirrorTrim *trim = find_trim (node, ward, holder);

#ifdef SATIN_PLANT_MIRROR_NOT_TRIMMED
  return;
#endif
  if (trim != NULL)
    trim->number = MAX (trim->number, number);
  else if (roster_find (node, holder) != NULL)
    g_array_append_val (mirror->trimmed, new);
  for (guint i = mirror->copies->len; i-- > 0;)
    {
      const MirrorCopy *copy = mirror->copies->pdata[i];
      if (node_id_equal (&copy->ward, ward) && node_id_equal (&copy->holder, holder)
          && copy->number <= number)
        drop_copy (mirror, i);
    }
}

static void
forget_trims (Node *node, const NodeId *ward, const NodeId *holder)
{
  GArray *trimmed = node->mirror.trimmed;

  for (guint i = trimmed->len; i-- > 0;)
    {
      const MirrorTrim *trim = &g_array_index (trimmed, MirrorTrim, i);
      if (node_id_equal (&trim->ward, ward)
          || (holder != NULL && node_id_equal (&trim->holder, holder)))
        g_array_remove_index_fast (trimmed, i);
    }
}

void
mirror_forget (Node *node, const NodeId *ward)
{
  GPtrArray *copies = node->mirror.copies;

  forget_trims (node, ward, NULL);
  for (guint i = copies->len; i-- > 0;)
    if (node_id_equal (&((const MirrorCopy *)copies->pdata[i])->ward, ward))
      drop_copy (&node->mirror, i);
}

/* ---- the holder ---- */

/* Returns the lender's keeper, or none if there is none. */
static NodeId
copy_to_keeper (Node *node, const NodeId *lender, const Row *row, Message message)
{
  const Member *member = roster_find (node, lender);
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  BuddyPair pair = { 0 };

  if (member == NULL || !buddy_of (node, member, &pair))
    return NODE_ID_NONE;
  if (node_id_equal (&pair.buddy, &node->self))
    {
      keep (node, lender, &node->self, message.version, row);
      return pair.buddy;
    }
  g_ptr_array_add (rows, (gpointer)row);
  message.kind = MESSAGE_COPY;
  message.id = *lender;
  message.rows = rows;
  node->stats.copied_bytes += g_bytes_get_size (row->value);
  (void)member_send (node, &pair.buddy, &message);
  return pair.buddy;
}

/* TRUE: another node will confirm the copy. */
static gboolean
send_copy (Node *node, HeldJob *held)
{
  g_autoptr (Row) row = held_row (node, held);

  held->mark = ++node->buddy.marks;
  held->copied_to = copy_to_keeper (
      node, &held->node, row, (Message){ .number = held->mark, .version = held->copy_number });
  return !node_id_is_none (&held->copied_to) && !node_id_equal (&held->copied_to, &node->self);
}

/* FALSE for roots: their lender has no slot for the result, and their row is sent to the keeper at
 * once. */
static gboolean
sends_copies (Node *node, guint64 loan)
{
  return node->config.plan.mirrors && !loans_is_root (loan);
}

guint64
mirror_send (Node *node, HeldJob *held)
{
  if (verify_has (node, held) || !sends_copies (node, held->loan))
    return 0;
  held->copy_number = ++peer_of (node, &held->node)->sent;
  held->copy = send_copy (node, held) ? HELD_COPY_SENT : HELD_COPY_NONE;
  return held->copy_number;
}

guint64
mirror_send_row (Node *node, const NodeId *lender, guint64 loan, const char *path,
                 const ArchiveRow *offered)
{
  if (!sends_copies (node, loan))
    return 0;
  g_autoptr (Row) row = archive_row (node, path, offered);
  guint64 number = ++peer_of (node, lender)->sent;
  (void)copy_to_keeper (node, lender, row, (Message){ .version = number });
  return number;
}

gboolean
mirror_retains (Node *node, HeldJob *held)
{
  if (held->copy != HELD_COPY_SENT || stop_halts (node))
    return FALSE;
  held->copy = HELD_COPY_OWED;
  held->risk_us = 0; /* it is the lender's risk now */
  return TRUE;
}

static void
confirmed (Node *node, HeldJob *held)
{
  gboolean owed = held->copy == HELD_COPY_OWED;

  held->copy = HELD_COPY_NONE;
  if (owed)
    held_drop (node, held);
}

/* The lender may have another keeper now: sends it a copy. */
static void
look_up (Node *node, HeldJob *held)
{
  const Member *lender = roster_find (node, &held->node);
  BuddyPair pair = { 0 };

  if (lender != NULL)
    (void)buddy_of (node, lender, &pair);
  if (node_id_equal (&pair.buddy, &held->copied_to))
    return;
  if (!send_copy (node, held))
    confirmed (node, held);
  else if (held->copy == HELD_COPY_NONE)
    held->copy = HELD_COPY_SENT;
}

/* Held jobs with results that have copies. (transfer container) */
static GPtrArray *
all_copied (Node *node)
{
  GPtrArray *all = g_ptr_array_new ();

  for (GTreeNode *at = g_tree_node_first (node->held.by_return); at != NULL;
       at = g_tree_node_next (at))
    if (((const HeldJob *)g_tree_node_value (at))->copy_number > 0)
      g_ptr_array_add (all, g_tree_node_value (at));
  return all;
}

void
mirror_on_copied (Node *node, const NodeId *from, guint64 mark)
{
  g_autoptr (GPtrArray) all = all_copied (node);

  for (guint i = 0; i < all->len; i++)
    {
      HeldJob *held = all->pdata[i];
      if (node_id_equal (&held->copied_to, from) && held->mark <= mark)
        confirmed (node, held);
    }
}

void
mirror_lookup (Node *node)
{
  g_autoptr (GPtrArray) all = all_copied (node);

  for (guint i = 0; i < all->len; i++)
    look_up (node, all->pdata[i]);
}

void
mirror_settle (Node *node)
{
  if (!node->config.plan.mirrors || node->mirror.rosters == node->stats.rosters
      || !core_is_member (node))
    return;
  node->mirror.rosters = node->stats.rosters;
  mirror_lookup (node);
}

/* ---- the lender ---- */

gboolean
mirror_may_have (Node *node, const Member *holder, BuddyPair *pair)
{
  NodeId keeper = node->buddy.id;

  if (!node->config.plan.mirrors || holder->leaving || node_id_is_none (&keeper)
      || node_id_equal (&keeper, &pair->buddy))
    return FALSE;
  *pair = (BuddyPair){ holder->id, keeper };
  return TRUE;
}

void
mirror_on_result (Node *node, const NodeId *holder, guint64 number)
{
  GQueue *puts = &node->mirror.puts;
  MirrorPut new = { *holder, number, node->saves.scans + 1 };

  if (number == 0)
    return;
  for (GList *at = puts->tail; at != NULL && ((MirrorPut *)at->data)->scan == new.scan;
       at = at->prev)
    {
      MirrorPut *put = at->data;
      if (!node_id_equal (&put->holder, holder))
        continue;
      put->number = number;
      return;
    }
  g_queue_push_tail (puts, g_memdup2 (&new, sizeof new));
}

static int
compare_peers (gconstpointer a, gconstpointer b)
{
  return node_id_compare (&((const MirrorPeer *)a)->id, &((const MirrorPeer *)b)->id);
}

void
mirror_on_served (Node *node, guint64 scan)
{
  Mirror *mirror = &node->mirror;
  const MirrorPut *put;
  g_autoptr (GArray) holders = g_array_new (FALSE, FALSE, sizeof (NodeId)),
                     copies = g_array_new (FALSE, FALSE, sizeof (guint64));

  if (node->buddy.state != BUDDY_FULL) /* the keeper lacks rows, so no copy may be dropped yet */
    return;
  while ((put = g_queue_peek_head (&mirror->puts)) != NULL && put->scan <= scan)
    {
      peer_of (node, &put->holder)->trims = put->number;
      g_free (g_queue_pop_head (&mirror->puts));
    }
  g_array_sort (mirror->peers, compare_peers); /* as the message wants them */
  for (guint i = 0; i < mirror->peers->len; i++)
    {
      MirrorPeer *peer = &g_array_index (mirror->peers, MirrorPeer, i);
      if (peer->told >= peer->trims)
        continue;
      peer->told = peer->trims;
      g_array_append_val (holders, peer->id);
      g_array_append_val (copies, peer->trims);
    }
  if (holders->len > 0)
    (void)member_send (node, &node->buddy.id,
                       &(Message){ .kind = MESSAGE_COPY, .ids = holders, .numbers = copies });
}

void
mirror_keeper_changed (Node *node)
{
  for (guint i = 0; i < node->mirror.peers->len; i++)
    g_array_index (node->mirror.peers, MirrorPeer, i).told = 0;
}

/* ---- members ---- */

static void
forget_peer (Node *node, const NodeId *id)
{
  Mirror *mirror = &node->mirror;

  for (guint i = mirror->peers->len; i-- > 0;)
    if (node_id_equal (&g_array_index (mirror->peers, MirrorPeer, i).id, id))
      g_array_remove_index_fast (mirror->peers, i);
  for (GList *at = mirror->puts.head, *next; at != NULL; at = next)
    {
      next = at->next;
      if (!node_id_equal (&((const MirrorPut *)at->data)->holder, id))
        continue;
      g_free (at->data);
      g_queue_delete_link (&mirror->puts, at);
    }
}

void
mirror_departed (Node *node, const NodeId *id)
{
  GPtrArray *copies = node->mirror.copies;

  for (guint i = 0; i < copies->len;)
    {
      const MirrorCopy *copy = copies->pdata[i];
      if (!node_id_equal (&copy->ward, id) && !node_id_equal (&copy->holder, id))
        {
          i++;
          continue;
        }
      offer (node, copy->row);
      drop_copy (&node->mirror, i);
    }
  forget_trims (node, id, id);
  forget_peer (node, id);
}

void
mirror_reset (Node *node)
{
  Mirror *mirror = &node->mirror;

  g_ptr_array_set_size (mirror->copies, 0);
  mirror->bytes = 0;
  g_array_set_size (mirror->trimmed, 0);
  g_array_set_size (mirror->peers, 0);
  g_queue_clear_full (&mirror->puts, g_free);
}

/* ---- for tests ---- */

gboolean
mirror_has (Node *node, const NodeId *ward, const char *path)
{
  for (guint i = 0; i < node->mirror.copies->len; i++)
    {
      const MirrorCopy *copy = node->mirror.copies->pdata[i];
      if (node_id_equal (&copy->ward, ward) && g_str_equal (copy->row->path, path))
        return TRUE;
    }
  return FALSE;
}

guint64
mirror_oldest_us (Node *node)
{
  const GPtrArray *copies = node->mirror.copies;

  return copies->len == 0 ? 0 : MAX (((const MirrorCopy *)copies->pdata[0])->since_us, 1);
}

void
mirror_check (Node *node)
{
  const Mirror *mirror = &node->mirror;
  gsize bytes = 0;

  g_assert (node->config.plan.mirrors || (mirror->copies->len == 0 && mirror->puts.length == 0));
  for (guint i = 0; i < mirror->copies->len; i++)
    {
      const MirrorCopy *copy = mirror->copies->pdata[i];
      const MirrorTrim *trim = find_trim (node, &copy->ward, &copy->holder);
      g_assert (roster_find (node, &copy->ward) != NULL
                && roster_find (node, &copy->holder) != NULL);
      g_assert (trim == NULL || copy->number > trim->number);
      bytes += rows_bytes (copy->row);
    }
  g_assert (bytes == mirror->bytes);
  for (guint i = 0; i < mirror->peers->len; i++)
    g_assert (roster_find (node, &g_array_index (mirror->peers, MirrorPeer, i).id) != NULL);
}
