/* SPDX-License-Identifier: BSD-3-Clause */
/* See rerun.h. */
#include "../core.h"

typedef struct
{
  char *path;
  guint64 number;    /* of the question */
  guint64 loan;      /* number of the waiting slot; 0: none waits */
  NodeId whom, gone; /* a buddy, and the node whose rows it has; none: the coordinator is asked for
                      * all rows */
  guint64 since_us;
} RerunAsk;

/* A question of `node`, to be answered when `ward` is gone; none: when the scribe has reported the
 * rows. */
typedef struct
{
  char *path;
  NodeId node, ward;
  guint64 number; /* of its question */
} RerunOrder;

static void
ask_free (gpointer data)
{
  RerunAsk *ask = data;

  g_free (ask->path);
  g_free (ask);
}

static void
order_free (gpointer data)
{
  RerunOrder *order = data;

  g_free (order->path);
  g_free (order);
}

void
rerun_init (Node *node)
{
  Rerun *rerun = &node->rerun;

  core_pointers (node, &rerun->asks, ask_free);
  core_pointers (node, &rerun->orders, order_free);
}

/* ---- answering ---- */

static void
answer (Node *node, guint place)
{
  RerunOrder *own = g_ptr_array_steal_index (node->rerun.orders, place);

  orphans_flush (node);
  if (node_id_equal (&own->node, &node->self))
    rerun_on_answer (node, &own->node, own->number);
  else
    archive_tell (node, &own->node, own->path, own->number);
  order_free (own);
}

static void
order (Node *node, RerunOrder like)
{
  GPtrArray *orders = node->rerun.orders;

  like.path = g_strdup (like.path);
  g_ptr_array_add (orders, g_memdup2 (&like, sizeof like));
  if (node_id_is_none (&like.ward))
    core_emit (node, NODE_EFFECT_SALVAGE)->path = g_strdup (like.path);
  else if (roster_find (node, &like.ward) == NULL)
    answer (node, orders->len - 1);
}

void
rerun_on_ask (Node *node, const NodeId *from, const Message *m)
{
  if (!node_id_is_none (&m->id) || node->saves.phase >= SAVES_OPENED)
    order (node, (RerunOrder){ (char *)m->path, *from, m->id, m->number });
}

void
rerun_on_restored (Node *node, const char *path)
{
  GPtrArray *orders = node->rerun.orders;

  for (guint i = 0; i < orders->len; i++)
    {
      const RerunOrder *own = orders->pdata[i];
      if (!node_id_is_none (&own->ward) || !g_str_equal (own->path, path))
        continue;
      answer (node, i);
      return;
    }
}

/* Answers or drops the questions that were to wait for members. */
static void
ward_departed (Node *node, const NodeId *id)
{
  GPtrArray *orders = node->rerun.orders;

  for (guint i = orders->len; i-- > 0;)
    {
      const RerunOrder *own = orders->pdata[i];
      if (node_id_equal (&own->ward, id))
        answer (node, i);
      else if (node_id_equal (&own->node, id) && !node_id_is_none (&own->ward))
        g_ptr_array_remove_index (orders, i);
    }
}

void
rerun_retired (Node *node)
{
  GPtrArray *orders = node->rerun.orders;

  for (guint i = orders->len; i-- > 0;)
    if (node_id_is_none (&((const RerunOrder *)orders->pdata[i])->ward))
      g_ptr_array_remove_index (orders, i);
}

/* ---- asking ---- */

static void
send_ask (Node *node, const RerunAsk *ask)
{
  NodeId whom = ask->whom;

  if (node_id_is_none (&whom) && !lease_ready (node, &whom))
    return; /* asked when it is ready */
  if (node_id_is_none (&ask->whom) && node->saves.phase != SAVES_NOT)
    order (node, (RerunOrder){ ask->path, node->self, NODE_ID_NONE, ask->number });
  else
    (void)member_send (
        node, &whom,
        &(Message){
            .kind = MESSAGE_RERUN, .number = ask->number, .path = ask->path, .id = ask->gone });
}

/* Copies the path. */
static void
add_ask (Node *node, RerunAsk ask)
{
  RerunAsk *own = g_memdup2 (&ask, sizeof ask);

  own->path = g_strdup (ask.path);
  own->number = ++node->rerun.numbers;
  own->since_us = node->now_us;
  g_ptr_array_add (node->rerun.asks, own);
  send_ask (node, own);
}

static void
ask_buddy (Node *node, const LoanEntry *entry, const BuddyPair *pair)
{
  if (!node_id_equal (&pair->buddy, &node->self) && carry_may_reach (node, &pair->buddy))
    add_ask (node,
             (RerunAsk){
                 .path = entry->path, .loan = entry->loan, .whom = pair->buddy, .gone = pair->id });
}

gboolean
rerun_waits (Node *node, LoanEntry *entry, const Member *holder)
{
  guint before = node->rerun.asks->len;
  BuddyPair pair = { 0 };

#ifdef SATIN_PLANT_RUNS_UNTOLD
  return FALSE;
#endif
  if (!core_is_member (node) || stop_halts (node))
    return FALSE;
  if (node->config.checkpoint && node->lease.state != LEASE_WITHOUT)
    add_ask (node, (RerunAsk){ .path = entry->path, .loan = entry->loan });
  for (guint i = 0; holder == NULL && i < node->buddy.elders->len; i++)
    ask_buddy (node, entry, &g_array_index (node->buddy.elders, BuddyPair, i));
  if (holder != NULL && !holder->leaving && buddy_of (node, holder, &pair))
    ask_buddy (node, entry, &pair);
  if (holder != NULL && mirror_may_have (node, holder, &pair))
    ask_buddy (node, entry, &pair);
  if (node->rerun.asks->len == before)
    return FALSE;
  entry->kind = LOAN_RERUNS;
  entry->node = NODE_ID_NONE;
  node->rerun.slots++;
  return TRUE;
}

void
rerun_forget (Node *node, LoanEntry *entry)
{
  GPtrArray *asks = node->rerun.asks;

  if (entry->kind != LOAN_RERUNS)
    return;
  node->rerun.slots--;
  for (guint i = asks->len; i-- > 0;)
    {
      const RerunAsk *ask = asks->pdata[i];
      if (ask->loan == entry->loan)
        g_ptr_array_remove_index (asks, i);
    }
}

static void
remove_slotless (GPtrArray *asks)
{
  for (guint i = asks->len; i-- > 0;)
    if (((RerunAsk *)asks->pdata[i])->loan == 0)
      g_ptr_array_remove_index (asks, i);
}

static gboolean
asks_slotless (const Node *node, const char *path)
{
  for (guint i = 0; i < node->rerun.asks->len; i++)
    {
      const RerunAsk *ask = node->rerun.asks->pdata[i];
      if (ask->loan == 0 && g_str_equal (ask->path, path))
        return TRUE;
    }
  return FALSE;
}

/* Asks for all rows of the root above this path. */
static void
ask_root (Node *node, const char *path)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 number = 0;

  (void)path_to_numbers (node->config.stems, path, &number, numbers);
  g_autofree char *root = path_of_root (number);
  if (!asks_slotless (node, root))
    add_ask (node, (RerunAsk){ .path = root });
}

void
rerun_departing (Node *node, const NodeId *id)
{
  if (!directory_is_here (node) || !node->config.checkpoint || node->lease.state == LEASE_WITHOUT)
    return;
  g_autoptr (GPtrArray) paths = known_paths_of (node, id);
  GPtrArray *asks = node->rerun.asks;
  if (asks->len - node->rerun.slots + paths->len <= RERUN_ASKS_MAX)
    {
      for (guint i = 0; i < paths->len; i++)
        add_ask (node, (RerunAsk){ .path = paths->pdata[i] });
      return;
    }
  g_autoptr (GPtrArray) before = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < asks->len; i++)
    if (((const RerunAsk *)asks->pdata[i])->loan == 0)
      g_ptr_array_add (before, g_strdup (((const RerunAsk *)asks->pdata[i])->path));
  remove_slotless (asks);
  for (guint i = 0; i < before->len; i++)
    ask_root (node, before->pdata[i]);
  for (guint i = 0; i < paths->len; i++)
    ask_root (node, paths->pdata[i]);
}

void
rerun_ask_all (Node *node)
{
  for (guint i = 0; i < node->rerun.asks->len; i++)
    if (node_id_is_none (&((RerunAsk *)node->rerun.asks->pdata[i])->whom))
      send_ask (node, node->rerun.asks->pdata[i]);
}

static void
end_wait (Node *node, guint64 loan)
{
  LoanEntry *entry = loans_find (node, loan);

  if (entry == NULL || entry->kind != LOAN_RERUNS)
    return;
  loans_back_lost (node, entry);
}

/* The last answer gives the slot back. */
static void
end_ask (Node *node, guint place)
{
  GPtrArray *asks = node->rerun.asks;
  RerunAsk *own = g_ptr_array_steal_index (asks, place);
  gboolean waits = FALSE;

  for (guint i = 0; i < asks->len; i++)
    {
      const RerunAsk *ask = asks->pdata[i];
      waits = waits || ask->loan == own->loan;
    }
  if (own->loan != 0 && !waits)
    end_wait (node, own->loan);
  ask_free (own);
}

void
rerun_on_answer (Node *node, const NodeId *from, guint64 number)
{
  GPtrArray *asks = node->rerun.asks;

  for (guint i = 0; i < asks->len; i++)
    {
      const RerunAsk *ask = asks->pdata[i];
      const NodeId *whom = node_id_is_none (&ask->whom) ? &node->lease.holder : &ask->whom;
      if (ask->number != number || !node_id_equal (from, whom))
        continue;
      end_ask (node, i);
      return;
    }
}

void
rerun_departed (Node *node, const NodeId *id)
{
  GPtrArray *asks = node->rerun.asks;

  ward_departed (node, id);
  for (guint i = asks->len; i-- > 0;)
    if (i < asks->len && node_id_equal (&((RerunAsk *)asks->pdata[i])->whom, id))
      end_ask (node, i);
}

void
rerun_reset (Node *node)
{
  g_ptr_array_set_size (node->rerun.orders, 0);
  remove_slotless (node->rerun.asks); /* those with a slot end with it, in loans_all_back */
}

guint64
rerun_due (Node *node)
{
  guint64 at_us = CORE_NEVER;

  for (guint i = 0; i < node->rerun.asks->len && node->rerun.slots > 0; i++)
    {
      const RerunAsk *ask = node->rerun.asks->pdata[i];
      if (ask->loan != 0)
        at_us = MIN (at_us, stop_halts (node) ? node->now_us : ask->since_us + RERUN_PATIENCE_US);
    }
  return at_us;
}

void
rerun_tick (Node *node)
{
  g_autoptr (GArray) over = NULL;

  if (rerun_due (node) > node->now_us)
    return;
  over = g_array_new (FALSE, FALSE, sizeof (guint64));
  for (guint i = 0; i < node->rerun.asks->len; i++)
    {
      const RerunAsk *ask = node->rerun.asks->pdata[i];
      if (ask->loan != 0
          && (stop_halts (node) || node->now_us >= ask->since_us + RERUN_PATIENCE_US))
        g_array_append_val (over, ask->loan); /* possibly more than once */
    }
  node->stats.expired += stop_halts (node) ? 0 : over->len;
  for (guint i = 0; i < over->len; i++)
    end_wait (node, g_array_index (over, guint64, i));
}

static gboolean
asks_for (const Node *node, guint64 loan)
{
  for (guint i = 0; i < node->rerun.asks->len; i++)
    {
      const RerunAsk *ask = node->rerun.asks->pdata[i];
      if (ask->loan == loan)
        return TRUE;
    }
  return FALSE;
}

/* A slot waits exactly as long as it has a question, and that can be answered. */
void
rerun_check (Node *node)
{
  guint slots = 0;

  for (GTreeNode *at = g_tree_node_first (node->loans.by_number); at != NULL;
       at = g_tree_node_next (at))
    {
      const LoanEntry *entry = g_tree_node_value (at);
      if (entry->kind != LOAN_RERUNS)
        continue;
      slots++;
      g_assert (asks_for (node, entry->loan));
    }
  g_assert (slots == node->rerun.slots);
  for (guint i = 0; i < node->rerun.asks->len; i++)
    {
      const RerunAsk *ask = node->rerun.asks->pdata[i];
      const LoanEntry *entry = ask->loan != 0 ? loans_find (node, ask->loan) : NULL;
      g_assert (ask->loan == 0 || (entry != NULL && entry->kind == LOAN_RERUNS));
      g_assert (node_id_is_none (&ask->whom) || roster_find (node, &ask->whom) != NULL);
    }
  for (guint i = 0; i < node->rerun.orders->len; i++)
    {
      const RerunOrder *own = node->rerun.orders->pdata[i];
      g_assert (node_id_is_none (&own->ward) ? node->saves.phase != SAVES_NOT
                                             : roster_find (node, &own->ward) != NULL
                                                   && roster_find (node, &own->node) != NULL);
    }
}
