/* SPDX-License-Identifier: BSD-3-Clause */
/* See leave.h. */
#include "../core.h"

#include <string.h>

void
leave_init (Node *node)
{
  Leave *leave = &node->leave;

  leave->until_us = CORE_NEVER;
  core_pointers (node, &leave->rows, (GDestroyNotify)row_free);
  core_pointers (node, &leave->taken, (GDestroyNotify)row_free);
  core_owns (node, &leave->flight, (GDestroyNotify)g_ptr_array_unref);
}

void
leave_check (Node *node)
{
  const Leave *leave = &node->leave;

  g_assert (leave->n_sent <= leave->n_counted && leave->n_counted <= leave->taken->len);
  g_assert (leave->flight == NULL || (leave->flight->len > 0 && leave->phase >= LEAVE_BEGUN));
}

/* ---- being released ---- */

/* TRUE: this node is to leave. */
static gboolean
is_wanted (const Leave *leave)
{
  return leave->until_us != CORE_NEVER;
}

static void
stay (Node *node, const char *why)
{
  node->leave.until_us = CORE_NEVER;
  core_log (node, "this node stays: %s", why);
  core_emit (node, NODE_EFFECT_STAYED)->text = g_strdup (why);
}

/* TRUE: another node stays when `leaver` has gone. */
static gboolean
others_stay (Node *node, const NodeId *leaver)
{
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      if (!member->dead && !member->leaving && !node_id_equal (&member->id, leaver)
          && (roster_is_self (node, member) || member_is_connected (node, &member->id)))
        return TRUE;
    }
  return FALSE;
}

static gboolean
release (Node *node, const NodeId *leaver)
{
  Member *member = roster_find (node, leaver);

  if (!member->leaving && !others_stay (node, leaver))
    return FALSE;
  member->leaving = TRUE;
  return TRUE;
}

/* The number of results that other nodes have not yet acknowledged. */
static guint
count_owed (Node *node)
{
  guint n = 0;

  for (GTreeNode *at = g_tree_node_first (node->held.by_return); at != NULL;
       at = g_tree_node_next (at))
    n += ((const HeldJob *)g_tree_node_value (at))->phase == HELD_FINISHED;
  return n;
}

static void
begin (Node *node)
{
  Leave *leave = &node->leave;

  core_log (node, "this node leaves");
  leave->phase = LEAVE_BEGUN;
  epoch_on_exit (node);
  roster_find (node, &node->self)->leaving = TRUE;
  core_emit (node, NODE_EFFECT_HALT)->whole = TRUE;
  member_send_all (node, &(Message){ .kind = MESSAGE_LEAVING });
}

/* Asks the present master, once per term: a member that was asked in an earlier term may not have
 * been master. */
static void
ask_master (Node *node)
{
  const Member *acting = roster_acting (node);

  if (roster_is_master (node))
    {
      if (release (node, &node->self))
        begin (node);
      else
        stay (node, "it is the last node of the run");
    }
  else if (acting != NULL
           && (!node_id_equal (&acting->id, &node->leave.asked)
               || term_compare (&node->roster.term, &node->leave.asked_term) != 0)
           && member_send (node, &acting->id, &(Message){ .kind = MESSAGE_RELEASE }))
    {
      node->leave.asked = acting->id;
      node->leave.asked_term = node->roster.term;
    }
}

void
leave_ask (Node *node, const NodeId *id, guint64 patience_us)
{
  Leave *leave = &node->leave;
  guint64 patience = patience_us > 0 ? patience_us : LEAVE_PATIENCE_US;

  if (!node_id_is_none (id) && !node_id_equal (id, &node->self))
    {
      (void)member_send (node, id, &(Message){ .kind = MESSAGE_LEAVE, .number = patience });
      return;
    }
  if (!is_wanted (leave))
    leave->asked = NODE_ID_NONE;
  leave->until_us = MIN (leave->until_us, node->now_us + patience);
}

void
leave_on_release (Node *node, const NodeId *from)
{
  gboolean released = !stop_has_begun (node) && release (node, from);

  (void)member_send (node, from, &(Message){ .kind = MESSAGE_RELEASED, .flag = !released });
}

void
leave_on_released (Node *node, const NodeId *from, const Message *m)
{
  const Member *acting = roster_acting (node);

  if (roster_is_master (node) && m->flag)
    roster_find (node, from)->leaving = FALSE;
  if (node->leave.phase >= LEAVE_BEGUN || acting == NULL || !node_id_equal (&acting->id, from))
    return;
  if (m->flag && is_wanted (&node->leave))
    stay (node, "it is the last node of the run");
  else if (!m->flag && is_wanted (&node->leave) && !stop_has_begun (node))
    begin (node);
  else if (!m->flag) /* too late: this node has given up leaving, and says so */
    (void)member_send (node, from, &(Message){ .kind = MESSAGE_RELEASED, .flag = TRUE });
}

/* ---- the other nodes ---- */

/* The heir is lost, or leaves too: rows that it may not have go to another one. */
static void
take_flight_back (Leave *leave)
{
  leave->heir = NODE_ID_NONE;
  while (leave->flight != NULL && leave->flight->len > 0)
    g_ptr_array_add (leave->rows, g_ptr_array_steal_index (leave->flight, leave->flight->len - 1));
  g_clear_pointer (&leave->flight, g_ptr_array_unref);
}

void
leave_on_leaving (Node *node, const NodeId *from)
{
  NodeId id = *from;

  roster_find (node, &id)->leaving = TRUE;
  steal_departed (node, &id);
  lend_departed (node, &id);
  held_departed (node, &id);
  verify_end (node, &id);
  buddy_on_leaving (node, &id);
  if (node_id_equal (&id, &node->leave.heir))
    take_flight_back (&node->leave); /* the heir takes none */
  orphans_flush (node);              /* offers must precede the answer */
  orphans_tell (node, &id);          /* the leaver tells its lenders before it goes */
  (void)member_send (node, from, &(Message){ .kind = MESSAGE_HEARD });
}

void
leave_on_heard (Node *node, const NodeId *from)
{
  roster_find (node, from)->heard = TRUE;
}

void
leave_take (Node *node, const Row *row)
{
  if (node->config.checkpoint && row->job != ARCHIVE_JOB)
    g_ptr_array_add (node->leave.taken, row_copy (row));
}

/* Tells all nodes what the leave has cost: the leaver cannot tell a later coordinator. */
static void
note_leave (Node *node, const NodeId *id, guint64 lost_us, gboolean ran)
{
  events_add (node, &(Message){ .text = "leave",
                                .id = *id,
                                .path = "",
                                .work_us = lost_us,
                                .host = ran ? "jobs still ran" : "" });
}

void
leave_on_goodbye (Node *node, const NodeId *from, const Message *m)
{
  Member *member = roster_find (node, from);

  note_leave (node, from, m->number, m->flag);
  if (member->dead)
    return;
  member->leaving = TRUE;
  member->dead = DEATH_LEFT;
  roster_on_dead (node);
}

/* ---- handing over ---- */

void
leave_on_rows (Node *node, GPtrArray *rows)
{
#ifdef SATIN_PLANT_TAKES_ALONG
  return;
#endif
  for (guint i = 0; i < rows->len && node->leave.phase >= LEAVE_BEGUN; i++)
    {
      Row *row = row_copy (rows->pdata[i]);
      row->node = node->self;
      g_ptr_array_add (node->leave.rows, row);
    }
}

void
leave_on_halted (Node *node)
{
  if (node->leave.phase == LEAVE_NONE)
    return;
  node->leave.phase = LEAVE_HALTED;
  for (guint i = 0; i < node->leave.taken->len; i++)
    g_ptr_array_add (node->leave.rows, row_copy (node->leave.taken->pdata[i]));
  archive_collect (node, node->leave.rows);
  yield_collect (node, node->leave.rows);
}

static int
compare_rows (gconstpointer a, gconstpointer b)
{
  const Row *x = *(Row *const *)a, *y = *(Row *const *)b;

  if (x->work_us != y->work_us)
    return x->work_us > y->work_us ? -1 : 1;
  return strcmp (x->path, y->path);
}

static gboolean
can_inherit (Node *node, const Member *member)
{
  return member != NULL && !member->dead && !member->leaving && !roster_is_self (node, member)
         && member_is_connected (node, &member->id);
}

/* The eldest possible heir at this site; if there is none, the eldest of all. (nullable) */
static Member *
choose_heir (Node *node)
{
  Member *heir = roster_find (node, &node->leave.heir);

  if (can_inherit (node, heir))
    return heir;
  heir = NULL;
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      Member *member = node->roster.members->pdata[i];
      if (!can_inherit (node, member))
        continue;
      if (roster_is_near (node, member))
        return member;
      if (heir == NULL)
        heir = member;
    }
  return heir;
}

/* Sends the most valuable rows to the heir, once it has the rows sent before. */
static void
hand_over (Node *node)
{
  Leave *leave = &node->leave;

  Member *heir = leave->flight == NULL && leave->rows->len > 0 ? choose_heir (node) : NULL;
  if (heir == NULL)
    return;
  leave->heir = heir->id;
  g_ptr_array_sort (leave->rows, compare_rows);
  if (leave->rows->len > LEAVE_ROWS_MAX)
    {
      leave->dropped += leave->rows->len - LEAVE_ROWS_MAX;
      g_ptr_array_set_size (leave->rows, LEAVE_ROWS_MAX);
    }
  leave->flight = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  guint n = rows_that_fit (leave->rows, 0);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (leave->flight, row_copy (leave->rows->pdata[i]));
  g_ptr_array_remove_range (leave->rows, 0, n);
  leave->mark = ++node->buddy.marks;
  (void)member_send (node, &heir->id,
                     &(Message){ .kind = MESSAGE_COPY,
                                 .number = leave->mark,
                                 .count = BUDDY_HAND,
                                 .work_us = epoch_colours (node),
                                 .rows = leave->flight });
}

/* All nodes are ending, so this one does not leave: it saves the rows that it has not handed
 * over. */
static void
abandon (Node *node)
{
  Leave *leave = &node->leave;

  leave->until_us = CORE_NEVER;
  take_flight_back (leave);
  for (guint i = 0; i < leave->rows->len; i++)
    leave_take (node, leave->rows->pdata[i]);
  g_ptr_array_set_size (leave->rows, 0);
  saves_flush (node);
}

guint64
leave_add_taken (Node *node, GPtrArray *rows)
{
  Leave *leave = &node->leave;
  guint64 risk_us = 0;

  for (guint i = leave->n_sent; i < leave->taken->len; i++)
    {
      const Row *row = leave->taken->pdata[i];
      risk_us += i < leave->n_counted ? 0 : row->work_us; /* several coordinators may get it */
      g_ptr_array_add (rows, row_copy (row));
    }
  return risk_us;
}

void
leave_sent_taken (Node *node)
{
  node->leave.n_counted = node->leave.n_sent = node->leave.taken->len;
  node->leave.sent_us = node->work.reported_us;
}

void
leave_published (Node *node)
{
  Leave *leave = &node->leave;

  if (leave->n_sent == 0 || node->work.published_us < leave->sent_us)
    return;
  g_ptr_array_remove_range (leave->taken, 0, leave->n_sent);
  leave->n_counted -= leave->n_sent;
  leave->n_sent = 0;
}

void
leave_forget_sent (Node *node)
{
  node->leave.n_sent = 0;
}

void
leave_on_copied (Node *node, const NodeId *from, guint64 mark)
{
  Leave *leave = &node->leave;

  if (leave->flight == NULL || mark < leave->mark || !node_id_equal (from, &leave->heir))
    return;
  directory_moved (node, from, leave->flight);
  g_clear_pointer (&leave->flight, g_ptr_array_unref);
}

void
leave_greet (Node *node, const NodeId *to)
{
  Leave *leave = &node->leave;

  if (leave->phase >= LEAVE_BEGUN && !roster_find (node, to)->heard)
    (void)member_send (node, to, &(Message){ .kind = MESSAGE_LEAVING });
}

void
leave_departed (Node *node, const NodeId *id)
{
  if (node_id_equal (id, &node->leave.asked))
    node->leave.asked = NODE_ID_NONE;
  if (node_id_equal (id, &node->leave.heir))
    take_flight_back (&node->leave);
}

/* ---- going ---- */

static gboolean
is_alone (Node *node)
{
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      if (!member->dead && !roster_is_self (node, member))
        return FALSE;
    }
  return TRUE;
}

/* TRUE: each member with a session has answered LEAVING; it then offers what this node had lent to
 * it. */
static gboolean
is_heard (Node *node)
{
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      if (!member->dead && !roster_is_self (node, member) && !member->heard
          && (contacts_are_all (node) || member->carry.session != NULL))
        return FALSE;
    }
  return TRUE;
}

static void
finish (Node *node)
{
  Leave *leave = &node->leave;
  const WorkTold *self = &node->work.self;
  guint64 lost_us = work_risk_us (self, node->now_us, self->busy);
  gboolean ran = leave->phase < LEAVE_HALTED;

  take_flight_back (leave);
  for (guint i = 0; i < leave->rows->len; i++)
    lost_us += ((Row *)leave->rows->pdata[i])->work_us;
  if (core_is_member (node))
    {
      note_leave (node, &node->self, lost_us, ran);
      directory_leave (node);
    }
  member_send_all (node, &(Message){ .kind = MESSAGE_GOODBYE, .number = lost_us, .flag = ran });
  if (node->saves.phase != SAVES_NOT)
    saves_retired (node);
  NodeEffect *effect = core_emit (node, NODE_EFFECT_LEAVE);
  effect->work_us = lost_us;
  effect->count = leave->rows->len + leave->dropped + count_owed (node);
  effect->failed = ran;
  node->phase = NODE_LEFT;
}

/* This node was to suspend the run as the last node of its side of a split. But another side goes
 * on without it, or no node can write the checkpoint and nodes that lost their names go on. What it
 * could not save is lost. */
static void
go_after_all (Node *node)
{
  Leave *leave = &node->leave;

  while (leave->taken->len > 0)
    g_ptr_array_add (leave->rows, g_ptr_array_steal_index (leave->taken, leave->taken->len - 1));
  finish (node);
}

void
leave_go_on (Node *node)
{
  Leave *leave = &node->leave;
  gboolean late = node->now_us >= leave->until_us;

  if (leave->last == LEAVE_UNSAVED || (leave->last >= LEAVE_ALONE && !core_is_member (node)))
    {
      go_after_all (node);
      return;
    }
  if (!is_wanted (leave))
    return;
  if (!core_is_member (node))
    {
      finish (node); /* it has no job, or the others went on without it */
      return;
    }
  if (stop_has_begun (node))
    {
      abandon (node);
      return;
    }
  if (leave->phase == LEAVE_NONE)
    {
      node->stats.expired += late;
      if (late)
        stay (node, "the master does not answer");
      else
        ask_master (node);
    }
  if (leave->phase == LEAVE_NONE)
    return;
  if (is_alone (node))
    {
      leave->last = LEAVE_ALONE;
      stop_suspend (node, 0); /* the node that was to stay is gone */
      return;
    }
  if (leave->phase == LEAVE_HALTED)
    held_collect (node, leave->rows);
  hand_over (node);
  gboolean done = leave->phase == LEAVE_HALTED && leave->rows->len == 0 && leave->flight == NULL
                  && is_heard (node) && count_owed (node) == 0 && !epoch_holds (node);
  node->stats.expired += late && !done;
  if (late || done)
    finish (node);
}

guint64
leave_due (Node *node)
{
  return node->leave.until_us;
}

void
leave_on_missing (Node *node)
{
  if (node->leave.last == LEAVE_OTHERS_STAY)
    return;
  node->leave.last = MAX (node->leave.last, LEAVE_MISSED);
  stop_go_on (node);
}
