/* SPDX-License-Identifier: BSD-3-Clause */
/* See shares.h. */
#include "../core.h"

/* A job here, or another node that needs the bytes for a job of its own. */
typedef struct
{
  guint64 loan, held;
  NodeId node; /* none: a job here */
} Waiter;

/* Bytes that are missing here. */
typedef struct
{
  Digest digest;
  guint64 length;
  GArray *waiters; /* of Waiter */
  NodeId asked;    /* the node that is asked now; none: no node is */
  guint next;      /* position in the order of the nodes to ask */
  guint64 until_us, pause_us;
} Wish;

static void
wish_free (gpointer data)
{
  Wish *wish = data;

  g_array_unref (wish->waiters);
  g_free (wish);
}

void
shares_init (Node *node)
{
  Shares *shares = &node->shares;

  shares->store = node->config.shared != NULL ? node->config.shared
                                              : shared_store_new (SHARED_MEMORY_DEFAULT);
  core_pointers (node, &shares->wishes, wish_free);
}

void
shares_done (Node *node)
{
  Shares *shares = &node->shares;

  if (shares->store != node->config.shared) /* owned by this node */
    shared_store_free (shares->store);
}

/* ---- deferred messages ---- */

static gboolean
all_here (const GPtrArray *shares)
{
  gboolean all = TRUE;

  for (guint i = 0; shares != NULL && i < shares->len; i++)
    all = shared_keep (shares->pdata[i], NULL) && all;
  return all;
}

/* Holds references to the shared bytes of the message. (transfer full) */
static GPtrArray *
pin (Node *node, const Message *m)
{
  GPtrArray *shares = shared_list_new ();

  for (guint i = 0; i < m->speaks->len; i++)
    {
      const MessageSpeaks *speaks = &g_array_index (m->speaks, MessageSpeaks, i);
      g_ptr_array_add (shares, shared_enter (node->shares.store, &speaks->digest, speaks->length));
    }
  return shares;
}

/* TRUE: one of the first `n` deferred messages refers to these bytes, so they were asked for. */
static gboolean
is_asked (const Carry *carry, guint n, const struct SatinShared_ *shared)
{
  GList *at = carry->waiting.head;

  for (guint i = 0; i < n; i++, at = at->next)
    {
      const CarryWaiting *waiting = at->data;
      if (waiting->shares != NULL && g_ptr_array_find (waiting->shares, shared, NULL))
        return TRUE;
    }
  return FALSE;
}

static void
ask_sender (Node *node, Member *member, const GPtrArray *shares)
{
  g_autoptr (GHashTable) asked = g_hash_table_new (g_direct_hash, g_direct_equal);
  guint n = member->carry.waiting.length;

  for (guint i = 0; i < shares->len; i++)
    {
      SatinShared shared = shares->pdata[i];
      if (!shared_keep (shared, NULL) && g_hash_table_add (asked, shared)
          && !is_asked (&member->carry, n, shared))
        (void)carry_send (node, member,
                          &(Message){ .kind = MESSAGE_FETCH, .digest = *shared_digest (shared) });
    }
}

/* Gives each item its own references. */
static void
hand_out (Message *m, const GPtrArray *shares)
{
  for (guint i = 0; i < shares->len; i++)
    {
      guint32 item = g_array_index (m->speaks, MessageSpeaks, i).item;
      GPtrArray **list = m->rows != NULL ? &((Row *)m->rows->pdata[item])->shares : &m->shares;
      if (*list == NULL)
        *list = shared_list_new ();
      g_ptr_array_add (*list, shared_ref (shares->pdata[i]));
    }
}

static void
take (Node *node, Member *member, Message *m, const GPtrArray *shares)
{
  hand_out (m, shares);
  (void)carry_send (node, member, &(Message){ .kind = MESSAGE_TAKEN });
}

gboolean
shares_admit (Node *node, Member *member, Message *m)
{
  g_autoptr (GPtrArray) shares = NULL;
  gboolean first = member == NULL || g_queue_is_empty (&member->carry.waiting);

  if (member == NULL && m->speaks != NULL)
    return FALSE; /* no node handles it, so asking for the bytes would be useless */
  if ((first && m->speaks == NULL) || message_class (m->kind) != MESSAGE_ORDERED
      || !carry_bears (m->kind))
    return TRUE;
  if (m->speaks != NULL)
    shares = pin (node, m);
  if (first && all_here (shares))
    {
      take (node, member, m, shares);
      return TRUE;
    }
  if (shares != NULL)
    ask_sender (node, member, shares);
  CarryWaiting *waiting = g_new (CarryWaiting, 1);
  *waiting = (CarryWaiting){ g_bytes_ref (m->frame), m->start, g_steal_pointer (&shares) };
  g_queue_push_tail (&member->carry.waiting, waiting);
  return FALSE;
}

gboolean
shares_wait (Node *node)
{
  for (guint i = 0; i < node->roster.members->len; i++)
    if (!g_queue_is_empty (&((Member *)node->roster.members->pdata[i])->carry.waiting))
      return TRUE;
  return FALSE;
}

/* Handles the deferred messages that need not wait any more. Handling one may end the member. */
static void
open_door (Node *node, const NodeId *id)
{
  Member *member;

  while ((member = roster_find (node, id)) != NULL && member_is_connected (node, id)
         && !g_queue_is_empty (&member->carry.waiting)
         && all_here (((CarryWaiting *)g_queue_peek_head (&member->carry.waiting))->shares))
    {
      CarryWaiting *waiting = g_queue_pop_head (&member->carry.waiting);
      g_auto (Message) m = { 0 };
      if (message_decode_at (waiting->frame, waiting->start, &m, NULL)) /* it was decoded before */
        {
          if (waiting->shares != NULL)
            take (node, member, &m, waiting->shares);
          hear_again (node, id, &m);
        }
      carry_waiting_free (waiting);
    }
}

void
shares_open_doors (Node *node)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (NodeId));

  for (guint i = 0; i < node->roster.members->len; i++)
    g_array_append_val (ids, ((Member *)node->roster.members->pdata[i])->id);
  for (guint i = 0; i < ids->len && node->phase < NODE_ENDED; i++)
    open_door (node, &g_array_index (ids, NodeId, i));
}

/* Keeps bytes for which a deferred message waits. FALSE: none does. */
static gboolean
keep_for_doors (Node *node, SatinShared shared, GBytes *bytes)
{
  gboolean any = FALSE;

  for (guint i = 0; i < node->roster.members->len && !any; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      any = is_asked (&member->carry, member->carry.waiting.length, shared);
    }
  if (any)
    (void)shared_keep (shared, bytes);
  return any;
}

void
shares_told (Member *member, const Message *m)
{
  GPtrArray *all;

  if (!message_speaks (m))
    return;
  all = shared_list_new ();
  for (guint i = 0; m->shares != NULL && i < m->shares->len; i++)
    g_ptr_array_add (all, shared_ref (m->shares->pdata[i]));
  for (guint i = 0; m->rows != NULL && i < m->rows->len; i++)
    {
      const GPtrArray *shares = ((const Row *)m->rows->pdata[i])->shares;
      for (guint k = 0; shares != NULL && k < shares->len; k++)
        g_ptr_array_add (all, shared_ref (shares->pdata[k]));
    }
  g_queue_push_tail (&member->carry.told, all);
}

void
shares_on_taken (Node *node, const NodeId *from)
{
  GPtrArray *all = g_queue_pop_head (&roster_find (node, from)->carry.told);

  if (all != NULL)
    g_ptr_array_unref (all);
  else
    member_break (node, from, "took what was not told");
}

/* ---- bytes ---- */

static void
answer (Node *node, const NodeId *id, const Digest *digest, GBytes *bytes)
{
  (void)member_send (
      node, id,
      &(Message){
          .kind = MESSAGE_BYTES, .digest = *digest, .flag = bytes == NULL, .value = bytes });
}

/* (nullable) */
static Wish *
find_wish (Node *node, const Digest *digest)
{
  for (guint i = 0; i < node->shares.wishes->len; i++)
    {
      Wish *wish = node->shares.wishes->pdata[i];
      if (digest_equal (&wish->digest, digest))
        return wish;
    }
  return NULL;
}

static void
fulfil (Node *node, Wish *wish, GBytes *bytes)
{
  for (guint i = 0; i < wish->waiters->len; i++)
    {
      const Waiter *waiter = &g_array_index (wish->waiters, Waiter, i);
      if (!node_id_is_none (&waiter->node))
        {
          answer (node, &waiter->node, &wish->digest, bytes);
          continue;
        }
      NodeEffect *effect = core_emit (node, NODE_EFFECT_PUT);
      effect->loan = waiter->loan;
      effect->bytes = g_bytes_ref (bytes);
    }
  g_ptr_array_remove (node->shares.wishes, wish);
}

static void ask_next (Node *node, Wish *wish);

static void
take_bytes (Node *node, const Message *m)
{
  Shares *shares = &node->shares;
  Wish *wish = find_wish (node, &m->digest);
  SatinShared shared = shared_enter (shares->store, &m->digest, g_bytes_get_size (m->value));

  node->stats.shared_fetched++;
  node->stats.shared_bytes += g_bytes_get_size (m->value);
  if (!keep_for_doors (node, shared, m->value))
    shared_put (shares->store, &m->digest, m->value);
  if (wish != NULL)
    fulfil (node, wish, m->value);
  shares_open_doors (node);
  shared_unref (shared);
}

void
shares_on_bytes (Node *node, const NodeId *from, const Message *m)
{
  Wish *wish = find_wish (node, &m->digest);
  const Carry *carry = &roster_find (node, from)->carry;

  if (constants_on_bytes (node, from, m))
    return;
  if (!m->flag)
    {
      take_bytes (node, m);
      return;
    }
  if (wish != NULL && node_id_equal (&wish->asked, from))
    ask_next (node, wish);
  SatinShared shared = shared_enter (node->shares.store, &m->digest, 0);
  gboolean owed = is_asked (carry, carry->waiting.length, shared) && !shared_keep (shared, NULL);
  shared_unref (shared);
  if (owed)
    member_break (node, from, "does not have what it speaks of");
}

/* ---- fetching ---- */

/* Collects the nodes to ask. */
typedef struct
{
  Node *node;
  const Wish *wish;
  GArray *ids; /* of NodeId */
} Candidates;

static void
add_candidate (const NodeId *id, gpointer data)
{
  Candidates *to = data;

  if (node_id_equal (id, &to->node->self)
      || (contacts_are_all (to->node) ? !member_is_connected (to->node, id)
                                      : !carry_may_reach (to->node, id))
      || node_id_set_has (to->ids, id))
    return;
  for (guint i = 0; i < to->wish->waiters->len; i++)
    if (node_id_equal (&g_array_index (to->wish->waiters, Waiter, i).node, id))
      return;
  g_array_append_val (to->ids, *id);
}

/* The lenders first; if a job here waits, then all members, the eldest first. Another node's job
 * needs bytes that came with a job of this node, so only lenders are asked. (transfer full) */
static GArray *
list_candidates (Node *node, const Wish *wish)
{
  Candidates to = { node, wish, g_array_new (FALSE, FALSE, sizeof (NodeId)) };
  gboolean for_jobs = FALSE, for_others = FALSE;

  for (guint i = 0; i < wish->waiters->len; i++)
    {
      const Waiter *waiter = &g_array_index (wish->waiters, Waiter, i);
      gboolean other = !node_id_is_none (&waiter->node);
      const HeldJob *held = other ? NULL : held_find (node, waiter->held);
      for_jobs = for_jobs || !other;
      for_others = for_others || other;
      if (held != NULL && held->lender == LENDER_NODE)
        add_candidate (&held->node, &to);
    }
  if (for_others)
    held_each_lender (node, add_candidate, &to);
  for (guint i = 0; for_jobs && i < node->roster.members->len; i++)
    add_candidate (&((Member *)node->roster.members->pdata[i])->id, &to);
  return to.ids;
}

/* Refuses the other nodes, which then ask by themselves. TRUE: nobody waits any more, and the wish
 * is freed. */
static gboolean
refuse_others (Node *node, Wish *wish)
{
  for (guint i = wish->waiters->len; i-- > 0;)
    {
      NodeId id = g_array_index (wish->waiters, Waiter, i).node;
      if (node_id_is_none (&id))
        continue;
      g_array_remove_index (wish->waiters, i);
      answer (node, &id, &wish->digest, NULL);
    }
  if (wish->waiters->len > 0)
    return FALSE;
  g_ptr_array_remove (node->shares.wishes, wish);
  return TRUE;
}

static void
ask_next (Node *node, Wish *wish)
{
  g_autoptr (GBytes) bytes = shared_find (node->shares.store, &wish->digest);
  g_autoptr (GArray) ids = NULL;

  if (bytes != NULL)
    {
      fulfil (node, wish, bytes);
      return;
    }
  ids = list_candidates (node, wish);
  if (wish->next < ids->len)
    {
      wish->asked = g_array_index (ids, NodeId, wish->next++);
      wish->until_us = node->now_us + SHARES_PATIENCE_US + wish->length / SHARES_BYTES_PER_US;
      (void)member_send (node, &wish->asked,
                         &(Message){ .kind = MESSAGE_FETCH, .digest = wish->digest });
      return;
    }
  if (refuse_others (node, wish))
    return;
  wish->next = 0;
  wish->asked = NODE_ID_NONE;
  wish->until_us = node->now_us + wish->pause_us;
  wish->pause_us = MIN (wish->pause_us * 2, SHARES_PAUSE_MAX_US);
}

/* A new wish, for which no node is asked yet. (transfer none) */
static Wish *
add_wish (Node *node, const Digest *digest, guint64 length)
{
  Wish *wish = g_new0 (Wish, 1);

  wish->digest = *digest;
  wish->length = length;
  wish->pause_us = SHARES_PAUSE_MIN_US;
  wish->waiters = g_array_new (FALSE, FALSE, sizeof (Waiter));
  g_ptr_array_add (node->shares.wishes, wish);
  return wish;
}

void
shares_on_fetch (Node *node, const NodeId *from, const Message *m)
{
  SharedStore *store = node->shares.store;
  GBytes *constants = constants_bytes (node, &m->digest);
  g_autoptr (GBytes) bytes = constants != NULL ? constants : shared_find (store, &m->digest);
  Waiter waiter = { .node = *from };
  Wish *wish;

  /* If this node waits for the bytes itself, the asker must not wait here, since nodes might wait
   * in a circle. */
  if (bytes != NULL || !shared_is_spoken_of (store, &m->digest)
      || find_wish (node, &m->digest) != NULL)
    {
      answer (node, from, &m->digest, bytes);
      return;
    }
  wish = add_wish (node, &m->digest, 0);
  g_array_append_val (wish->waiters, waiter);
  ask_next (node, wish);
}

void
shares_want (Node *node, const NodeEvent *event)
{
  Wish *wish = find_wish (node, &event->digest);
  Waiter waiter = { event->loan, event->held, NODE_ID_NONE };

  if (wish != NULL)
    {
      g_array_append_val (wish->waiters, waiter);
      return;
    }
  wish = add_wish (node, &event->digest, event->number);
  g_array_append_val (wish->waiters, waiter);
  ask_next (node, wish);
}

/* Removes the waiters with this number or of this node. */
static void
drop_waiters (Node *node, guint64 loan, const NodeId *id)
{
  for (guint i = node->shares.wishes->len; i-- > 0;)
    {
      Wish *wish = node->shares.wishes->pdata[i];
      for (guint k = wish->waiters->len; k-- > 0;)
        {
          const Waiter *waiter = &g_array_index (wish->waiters, Waiter, k);
          if (node_id_equal (&waiter->node, id) && waiter->loan == loan)
            g_array_remove_index (wish->waiters, k);
        }
      if (wish->waiters->len == 0)
        g_ptr_array_remove_index (node->shares.wishes, i);
    }
}

void
shares_aborted (Node *node, guint64 loan)
{
  drop_waiters (node, loan, &NODE_ID_NONE);
}

static gboolean
waits_for (const Wish *wish, guint64 held)
{
  for (guint i = 0; i < wish->waiters->len; i++)
    {
      const Waiter *waiter = &g_array_index (wish->waiters, Waiter, i);
      if (node_id_is_none (&waiter->node) && waiter->held == held)
        return TRUE;
    }
  return FALSE;
}

/* Not asked at once: the caller is in the middle of its work. */
void
shares_lender_changed (Node *node, guint64 held)
{
  for (guint i = 0; i < node->shares.wishes->len; i++)
    {
      Wish *wish = node->shares.wishes->pdata[i];
      if (!node_id_is_none (&wish->asked) || !waits_for (wish, held))
        continue;
      wish->next = 0;
      wish->until_us = node->now_us;
    }
}

void
shares_departed (Node *node, const NodeId *id)
{
  drop_waiters (node, 0, id);
  for (guint i = 0; i < node->shares.wishes->len; i++)
    {
      Wish *wish = node->shares.wishes->pdata[i];
      if (node_id_equal (&wish->asked, id))
        wish->until_us = node->now_us;
    }
}

guint64
shares_due (Node *node)
{
  guint64 due_us = CORE_NEVER;

  for (guint i = 0; i < node->shares.wishes->len; i++)
    due_us = MIN (due_us, ((Wish *)node->shares.wishes->pdata[i])->until_us);
  return due_us;
}

void
shares_tick (Node *node)
{
  for (guint i = node->shares.wishes->len; i-- > 0;)
    {
      Wish *wish = node->shares.wishes->pdata[i];
      if (wish->until_us <= node->now_us)
        ask_next (node, wish);
    }
}
