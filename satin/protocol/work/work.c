/* SPDX-License-Identifier: BSD-3-Clause */
/* See work.h. */
#include "../core.h"

/* A silent member may have lived for so long after its last message. */
#define WORK_SILENT_US G_USEC_PER_SEC

static void
taken_free (gpointer data)
{
  NodeTaken *taken = data;

  g_free (taken->path);
  g_free (taken);
}

void
work_init (Node *node)
{
  Work *work = &node->work;

  core_array (node, &work->departed, sizeof (NodeDeparted));
  core_pointers (node, &work->taken, taken_free);
  core_array (node, &work->seen, sizeof (NodeId));
}

guint64
work_risk_us (const WorkTold *told, guint64 now_us, guint32 seats)
{
  return told->told_us == 0 ? 0 : told->risk_us + (now_us - told->told_us) * seats;
}

static gboolean
add_finished (gpointer key G_GNUC_UNUSED, gpointer value, gpointer data)
{
  const HeldJob *held = value;

  if (held->phase != HELD_RUNS)
    *(guint64 *)data += held->risk_us;
  return FALSE;
}

/* The work at risk, if `safe_us` of the reported work is safe. */
static guint64
sum_us (Node *node, guint64 safe_us)
{
  const Work *work = &node->work;
  guint64 risk_us = work->reported_us - safe_us + work->unsent_us;

  if (g_tree_nnodes (node->held.by_number) > 0)
    g_tree_foreach (node->held.by_number, add_finished, &risk_us);
  return risk_us;
}

guint64
work_unpublished_us (Node *node)
{
  return sum_us (node, node->work.published_us);
}

static guint64
safe_us (Node *node)
{
  return MAX (node->work.published_us, buddy_confirmed_us (node));
}

guint64
work_alone_us (Node *node)
{
  return sum_us (node, safe_us (node));
}

/* ---- telling ---- */

typedef struct
{
  Node *node;
  const NodeId *to;
  GArray *numbers;
} Telling;

/* How much of a held job is at risk now, except its root's rows. */
static guint64
held_risk_us (const Node *node, const HeldJob *held)
{
  guint64 since_us = held->phase == HELD_FINISHED ? 0 : node->now_us - node->work.self.told_us;

  return held->risk_us + held->busy * since_us;
}

static gboolean
add_item (gpointer key G_GNUC_UNUSED, gpointer value, gpointer data)
{
  HeldJob *held = value;
  Telling *telling = data;
  gboolean root = held->held == telling->node->root.held;

  if (!root && !(held->lender == LENDER_NODE && node_id_equal (&held->node, telling->to)))
    return FALSE;
  if (telling->numbers->len + WORK_ITEM > MESSAGE_NUMBERS_MAX)
    return TRUE; /* other jobs are only in the sum */
  guint64 item[WORK_ITEM]
      = { root ? LOANS_ROOT + path_root (held->job->path) : held->loan,
          held_risk_us (telling->node, held), held->phase == HELD_FINISHED ? 0 : held->busy };
  if (root) /* its rows are lost with a coordinator that has not published them */
    item[1] += telling->node->work.reported_us - safe_us (telling->node);
  held->told = (WorkTold){ .told_us = telling->node->now_us,
                           .risk_us = item[1],
                           .busy = (guint32)item[2] };
  g_array_append_vals (telling->numbers, item, WORK_ITEM);
  return FALSE;
}

/* The present figures. */
static WorkTold
look (Node *node)
{
  const WorkTold *self = &node->work.self;
  guint64 since_us = (node->now_us - self->told_us) * self->busy;

  return (WorkTold){ .told_us = node->now_us,
                     .work_us = self->work_us + since_us,
                     .risk_us = self->risk_us + since_us + work_unpublished_us (node),
                     .alone_us = self->risk_us + since_us + work_alone_us (node),
                     .busy = self->busy };
}

static void
tell (Node *node, const Member *member, const WorkTold *told)
{
  g_autoptr (GArray) numbers = NULL; /* (nullable): of the held jobs, if there are any */

  if (g_tree_nnodes (node->held.by_number) > 0)
    {
      numbers = g_array_new (FALSE, FALSE, sizeof (guint64));
      g_tree_foreach (node->held.by_number, add_item,
                      &(Telling){ .node = node, .to = &member->id, .numbers = numbers });
    }
  if ((numbers == NULL || numbers->len == 0) && node->roster.members->len > WORK_ALL_MAX
      && !roster_is_master (node) && member != roster_master (node))
    return;
  (void)member_send (node, &member->id,
                     &(Message){ .kind = MESSAGE_WORK,
                                 .work_us = told->work_us,
                                 .risk_us = told->risk_us,
                                 .version = told->alone_us,
                                 .count = told->busy,
                                 .numbers = numbers });
}

void
work_greet (Node *node, const Member *member)
{
  WorkTold told;

  if (node->work.self.told_us == 0)
    return;
  told = look (node);
  tell (node, member, &told);
}

static gboolean
add_lender (gpointer key G_GNUC_UNUSED, gpointer value, gpointer data)
{
  const HeldJob *held = value;

  if (held->lender == LENDER_NODE)
    node_id_set_add (data, &held->node);
  return FALSE;
}

/* TRUE: it is long enough since `us`. In a small run this is always so. */
static gboolean
has_paused (Node *node, guint64 us)
{
  guint64 members = node->roster.members->len;

  return members <= WORK_ALL_MAX || us == 0 || node->now_us >= us + members * WORK_PAUSE_US;
}

/* Those who need the figures at once: the master, who says what is at risk, the next one, and the
 * lenders, who say what was lost. All others are told now and then; in a large run they only need
 * to know which node has main's root. */
static void
tell_all (Node *node)
{
  Work *work = &node->work;
  const GPtrArray *members = node->roster.members;
  g_autoptr (GArray) lenders = g_array_new (FALSE, FALSE, sizeof (NodeId));
  gboolean has_root = roster_is_master (node) || node->root.held != 0;
  guint64 pause_us = MAX (members->len * WORK_PAUSE_US, WORK_LONG_US);
  gboolean all = (members->len <= WORK_ALL_MAX || has_root)
                 && (work->told_all_us == 0 || node->now_us >= work->told_all_us + pause_us);

  work->told = look (node);
  if (all)
    work->told_all_us = node->now_us;
  else
    g_tree_foreach (node->held.by_number, add_lender, lenders);
  for (guint i = 0; i < members->len; i++)
    {
      const Member *member = members->pdata[i];
      if (all || i == 0 || (i == 1 && (has_root || members->len <= WORK_ALL_MAX))
          || node_id_set_has (lenders, &member->id))
        tell (node, member, &work->told);
    }
}

/* How much is at risk now by the last figures. */
static guint64
reckon (guint64 told_us, const WorkTold *told, guint64 now_us)
{
  return told_us + (now_us - told->told_us) * told->busy;
}

/* TRUE: `a` exceeds `b` by so much that the others are told. */
static gboolean
exceeds (guint64 a, guint64 b)
{
  return a > b + MAX (WORK_MOVED_US, a / WORK_MOVED_SHARE);
}

/* TRUE: it is time to tell the others: they reckon with less than is at risk, or it is long enough
 * since they were told and they reckon with more. */
static gboolean
is_due (Node *node)
{
  const WorkTold *told = &node->work.told;
  WorkTold now = look (node);
  guint64 risk_us = reckon (told->risk_us, told, node->now_us),
          alone_us = reckon (told->alone_us, told, node->now_us);
  gboolean more = exceeds (now.risk_us, risk_us) || exceeds (now.alone_us, alone_us),
           less = exceeds (risk_us, now.risk_us) || exceeds (alone_us, now.alone_us);

  for (GTreeNode *at = g_tree_node_first (node->held.by_return); at != NULL;
       at = g_tree_node_next (at))
    {
      const HeldJob *held = g_tree_node_value (at);
      guint64 held_us = held_risk_us (node, held),
              reckoned_us = reckon (held->told.risk_us, &held->told, node->now_us);
      more = more || exceeds (held_us, reckoned_us);
      less = less || exceeds (reckoned_us, held_us);
    }
  return more || told->told_us == 0
         || (has_paused (node, told->told_us)
             && (less || now.busy != told->busy || node->now_us >= told->told_us + WORK_LONG_US));
}

static gboolean
forget_item (gpointer key G_GNUC_UNUSED, gpointer value, gpointer data G_GNUC_UNUSED)
{
  HeldJob *held = value;

  if (held->phase == HELD_RUNS)
    held->risk_us = held->busy = 0;
  return FALSE;
}

/* TRUE: no work was done since the others were told, and none is being done. */
static gboolean
is_idle (Node *node)
{
  const WorkTold *told = &node->work.told;
  WorkTold now = look (node);

  return told->told_us != 0 && told->busy == 0 && now.busy == 0 && now.work_us == told->work_us
         && now.risk_us == told->risk_us && now.alone_us == told->alone_us;
}

void
work_moved (Node *node, guint64 risk_us)
{
  Work *work = &node->work;

  work->moved_us += risk_us;
  if (work->moved_us < MAX (WORK_MOVED_US, work->self.risk_us / WORK_MOVED_SHARE))
    return;
  work->moved_us = 0;
  core_emit (node, NODE_EFFECT_TELL);
}

void
work_on_event (Node *node, const NodeEvent *event)
{
  node->work.moved_us = 0;
  node->work.self = (WorkTold){ .told_us = node->now_us,
                                .work_us = event->work_us,
                                .risk_us = event->risk_us,
                                .busy = event->count };
  g_tree_foreach (node->held.by_number, forget_item, NULL);
  for (guint i = 0; event->progress != NULL && i < event->progress->len; i++)
    {
      const NodeProgress *progress = &g_array_index (event->progress, NodeProgress, i);
      HeldJob *held = held_find (node, progress->held);
      if (held == NULL || held->phase == HELD_FINISHED)
        continue;
      held->risk_us = progress->risk_us;
      held->busy = progress->busy;
    }
  if (!is_idle (node) && is_due (node))
    tell_all (node);
}

void
work_on_message (Node *node, const NodeId *from, const Message *m)
{
  Member *member = roster_find (node, from);

  member->told = (WorkTold){ .told_us = node->now_us,
                             .work_us = m->work_us,
                             .risk_us = m->risk_us,
                             .alone_us = m->version,
                             .busy = m->count };
  member->root = (WorkTold){ 0 };
  for (guint i = 0; i + WORK_ITEM <= m->numbers->len; i += WORK_ITEM)
    {
      const guint64 *item = &g_array_index (m->numbers, guint64, i);
      WorkTold told = { .told_us = node->now_us,
                        .risk_us = item[1],
                        .busy = (guint32)MIN (item[2], m->count) };
      LoanEntry *entry = loans_is_root (item[0]) ? NULL : loans_find (node, item[0]);

      if (loans_is_root (item[0]))
        {
          member->root = told;
          member->root_number = (guint32)(item[0] - LOANS_ROOT);
        }
      else if (entry != NULL && loans_is_with (entry, from))
        entry->told = told;
    }
}

/* ---- on the way to the file ---- */

void
work_reported (Node *node, guint64 risk_us)
{
  node->work.reported_us += risk_us;
}

void
work_not_sent (Node *node, guint64 risk_us)
{
  node->work.unsent_us += risk_us;
}

void
work_renew (Node *node)
{
  Work *work = &node->work;

  work->unsent_us += work->reported_us - work->published_us;
  work->published_us = work->reported_us; /* confirmations of rows sent before do not count any
                                           * more */
}

void
work_published (Node *node, guint64 reported_us)
{
  Work *work = &node->work;
  guint64 before_us = work->published_us;

  work->published_us = MAX (before_us, MIN (reported_us, work->reported_us));
  node->control->published (node);
  if (work->published_us > before_us && work->self.told_us != 0 && is_due (node))
    tell_all (node);
}

/* ---- losses ---- */

/* The time until which it worked. */
static guint64
last_seen_us (Node *node, const Member *member)
{
  return member->dead == DEATH_SILENT ? MIN (node->now_us, member->heard_us + WORK_SILENT_US)
                                      : node->now_us;
}

static void
note_loss (Node *node, const NodeId *id, const char *path, guint64 lost_us, const char *cause)
{
  node->stats.lost_us += lost_us;
  node->control->note (node, &(Message){ .kind = MESSAGE_EVENT,
                                         .text = "requeued",
                                         .id = *id,
                                         .path = path,
                                         .work_us = lost_us,
                                         .host = cause });
}

static const char *
cause_of (const Member *member)
{
  return member->leaving                ? "its holder left"
         : member->dead == DEATH_SILENT ? "its holder fell silent"
                                        : "its holder is gone";
}

void
work_lost (Node *node, const Member *holder, const char *path, const WorkTold *told)
{
  guint64 at_us = MAX (last_seen_us (node, holder), told->told_us);

  note_loss (node, &holder->id, path, work_risk_us (told, at_us, told->busy), cause_of (holder));
}

void
work_lost_early (Node *node, const Member *holder, const char *path, guint64 since_us, guint untold)
{
  guint64 at_us = MAX (last_seen_us (node, holder), since_us);
  guint seats = CLAMP (holder->workers, 1, untold); /* not more seats can have been at work */
  guint64 lost_us = (at_us - since_us) * seats / untold;

  if (!node_id_equal (&node->work.untold_by, &holder->id))
    node->work.untold_us = 0;
  node->work.untold_by = holder->id;
  node->work.untold_us += lost_us;
  note_loss (node, &holder->id, path, lost_us, cause_of (holder));
}

void
work_lost_root (Node *node, const Member *member)
{
  guint64 at_us = MAX (last_seen_us (node, member), member->root.told_us);
  g_autofree char *path = path_of_root (member->root_number);

  if (member->root.told_us != 0)
    note_loss (node, &member->id, path, work_risk_us (&member->root, at_us, member->root.busy),
               cause_of (member));
}

void
work_dropped (Node *node, const HeldJob *held)
{
  WorkTold told = { .told_us = MAX (node->work.self.told_us, 1),
                    .risk_us = held->risk_us,
                    .busy = held->phase == HELD_FINISHED ? 0 : held->busy };

  note_loss (node, &node->self, held->job->path, work_risk_us (&told, node->now_us, told.busy),
             "dropped, since its lender is gone");
}

/* ---- lives of the run ---- */

/* TRUE: the node belongs to an earlier life of the run. */
static gboolean
is_earlier (Node *node, const NodeId *computed_by)
{
  for (guint i = 0; i < node->work.seen->len; i++)
    if (node_id_equal (&g_array_index (node->work.seen, NodeId, i), computed_by))
      return FALSE;
  return TRUE;
}

void
work_joined (Node *node, const NodeId *id)
{
  if (is_earlier (node, id))
    g_array_append_val (node->work.seen, *id);
}

/* Counts the work that the member told, and the work that it had no time to tell. (What was lost
 * with it may be the work of other nodes.) */
void
work_departed (Node *node, const Member *member)
{
  const Work *work = &node->work;
  const WorkTold *told = &member->told;
  guint64 at_us = MAX (last_seen_us (node, member), told->told_us);
  guint64 told_us = told->told_us != 0 ? told->work_us + (at_us - told->told_us) * told->busy : 0;
  guint64 untold_us = node_id_equal (&work->untold_by, &member->id) ? work->untold_us : 0;
  NodeDeparted departed = { .id = member->id, .work_us = MAX (told_us, untold_us) };

  if (!member->leaving && departed.work_us > 0) /* a leaver tells its figures itself */
    g_array_append_val (work->departed, departed);
}

static gboolean
note_taken (Node *node, const NodeTaken *taken)
{
  if (node->work.taken->len >= WORK_TAKEN_MAX)
    return FALSE;
  NodeTaken *own = g_new (NodeTaken, 1);
  *own = *taken;
  own->path = g_strdup (taken->path);
  g_ptr_array_add (node->work.taken, own);
  return TRUE;
}

void
work_taken (Node *node, const char *path, guint32 children, const NodeId *author, guint64 work_us)
{
  if (node_id_equal (author, &node->self) || roster_find (node, author) != NULL
      || note_taken (node, &(NodeTaken){ (char *)path, children, *author, work_us }))
    return;
  if (is_earlier (node, author))
    node->stats.restored_us += work_us;
  else
    node->stats.salvaged_us += work_us;
}

void
work_regained (Node *node, const char *path, guint64 work_us)
{
  if (!note_taken (node, &(NodeTaken){ (char *)path, 0, node->self, work_us }))
    node->stats.salvaged_us += work_us;
}

void
work_check (Node *node)
{
  g_assert (node->work.published_us <= node->work.reported_us);
  g_assert (node->work.taken->len <= WORK_TAKEN_MAX);
}
