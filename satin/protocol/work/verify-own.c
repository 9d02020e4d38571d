/* SPDX-License-Identifier: BSD-3-Clause */
/* See verify-own.h.
 *
 * Tests: test-verify-own, sim. */
#include "../core.h"

/* Most checks at a time, and most bytes of their results and arguments. Beyond that no check is
 * made. */
#define CHECKS_MAX 1024u
#define CHECKS_BYTES_MAX ((gsize)64 << 20)
/* A check is given up at CHECK_TRIES points. A holder that returns it adds one, a holder that dies
 * adds CHECK_DEATH: two deaths are enough, since a job may end every process that runs it. */
#define CHECK_TRIES 8u
#define CHECK_DEATH 4u
#define CHECK_TELL_US (100 * G_TIME_SPAN_MILLISECOND)
/* While no node computes a check, a deferred job waits this long for a thief. Then all checks are
 * dropped: the other nodes may have no room, perhaps because all their jobs wait for this one. */
#define CHECK_PATIENCE_US (2 * G_USEC_PER_SEC)

typedef enum
{
  CHECK_WAITS, /* for a thief */
  CHECK_LENT,
  CHECK_DIFFERS /* the run ends */
} CheckState;

typedef struct
{
  Loan *job;         /* owned, as all members; its loan is the check's number */
  GBytes *value;     /* the result of this node */
  GPtrArray *shares; /* (nullable) of the arguments */
  CheckState state;
  NodeId holder; /* CHECK_LENT */
  guint tries;
} Check;

/* The fields of a NODE_EVENT_DONE. */
typedef struct
{
  guint64 held, work_us, risk_us, began_ms, took_ms, since_us;
  GBytes *bytes;
  GPtrArray *shares;
} Deferred;

static gsize
bytes_of (const Check *check)
{
  return g_bytes_get_size (check->value) + g_bytes_get_size (check->job->args);
}

static void
check_free (gpointer data)
{
  Check *check = data;

  loan_free (check->job);
  g_bytes_unref (check->value);
  g_clear_pointer (&check->shares, g_ptr_array_unref);
  g_free (check);
}

static void
deferred_free (gpointer data)
{
  Deferred *deferred = data;

  g_bytes_unref (deferred->bytes);
  g_clear_pointer (&deferred->shares, g_ptr_array_unref);
  g_free (deferred);
}

void
verify_own_init (Node *node)
{
  VerifyOwn *own = &node->verify_own;

  core_pointers (node, &own->checks, check_free);
  core_pointers (node, &own->deferred, deferred_free);
  own->came = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  core_owns (node, &own->came, (GDestroyNotify)g_hash_table_unref);
  own->came_early = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  core_owns (node, &own->came_early, (GDestroyNotify)g_hash_table_unref);
}

/* ---- choosing ---- */

void
verify_own_came (Node *node, const char *path)
{
  if (node->config.verify > 0 && path_is_drawn (path, node->config.verify))
    g_hash_table_add (node->verify_own.came, g_strdup (path));
}

void
verify_own_on_served (Node *node)
{
  VerifyOwn *own = &node->verify_own;
  GHashTable *early = own->came_early;

  own->came_early = own->came;
  own->came = early;
  g_hash_table_remove_all (own->came);
}

static gboolean
has_others (Node *node)
{
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      if (!member->dead && !member->leaving && !node_id_equal (&member->id, &node->self))
        return TRUE;
    }
  return FALSE;
}

/* TRUE: two results differ, so the run ends: deferred jobs are not released any more. */
static gboolean
has_difference (const VerifyOwn *own)
{
  for (guint i = 0; i < own->checks->len; i++)
    if (((const Check *)own->checks->pdata[i])->state == CHECK_DIFFERS)
      return TRUE;
  return FALSE;
}

/* TRUE: another node may ask this one for work. With --steal mw all nodes ask only the master. */
static gboolean
may_check (Node *node)
{
  return core_is_member (node) && !stop_has_begun (node) && node->leave.phase == LEAVE_NONE
         && (node->config.steal != NODE_STEAL_MW || roster_is_master (node)) && has_others (node);
}

/* TRUE: all bytes that the arguments refer to are here, and the check keeps them. Bytes that are
 * not here may not exist on any node. */
static gboolean
keeps_shares (const GPtrArray *shares)
{
  for (guint i = 0; shares != NULL && i < shares->len; i++)
    if (!shared_keep (shares->pdata[i], NULL))
      return FALSE;
  return TRUE;
}

void
verify_own_on_finished (Node *node, const NodeEvent *event)
{
  VerifyOwn *own = &node->verify_own;
  const char *path = event->job->path;

  if (!may_check (node) || own->checks->len >= CHECKS_MAX || own->bytes >= CHECKS_BYTES_MAX
      || !verify_chooses (node, path) || has_difference (own)
      || g_hash_table_contains (own->came, path) || g_hash_table_contains (own->came_early, path)
      || !keeps_shares (event->shares))
    return;
  Check *check = g_new0 (Check, 1);
  check->job = loan_copy (event->job);
  check->job->loan = LOANS_CHECK + ++own->numbers;
  check->job->again = TRUE;
  check->value = g_bytes_ref (event->bytes);
  check->shares = event->shares == NULL ? NULL : g_ptr_array_ref (event->shares);
  g_ptr_array_add (own->checks, check);
  own->bytes += bytes_of (check);
  lend_on_shared (node);
}

/* ---- lending ---- */

gboolean
verify_own_lends (Node *node, const NodeId *thief, guint64 request)
{
  const GPtrArray *checks = node->verify_own.checks;

  for (guint i = 0; i < checks->len; i++)
    {
      Check *check = checks->pdata[i];
      if (check->state != CHECK_WAITS)
        continue;
      g_autoptr (GPtrArray) loans = g_ptr_array_new ();
      g_ptr_array_add (loans, check->job);
      check->state = CHECK_LENT;
      check->holder = *thief;
      node->verify_own.moved_us = node->now_us;
      return member_send (node, thief,
                          &(Message){ .kind = MESSAGE_JOBS,
                                      .number = request,
                                      .loans = loans,
                                      .count = epoch_colours (node) });
    }
  return FALSE;
}

/* The index of the check that this node has; -1: there is none, or another node has it. */
static int
find (Node *node, const NodeId *from, guint64 number)
{
  const GPtrArray *checks = node->verify_own.checks;

  for (guint i = 0; i < checks->len; i++)
    {
      const Check *check = checks->pdata[i];
      if (check->job->loan == number)
        return check->state == CHECK_LENT && node_id_equal (&check->holder, from) ? (int)i : -1;
    }
  return -1;
}

static void
remove_check (Node *node, guint i)
{
  node->verify_own.bytes -= bytes_of (node->verify_own.checks->pdata[i]);
  g_ptr_array_remove_index (node->verify_own.checks, i);
}

static void
tell_difference (Node *node, const Check *check, const NodeId *from, GBytes *value)
{
  NodeEffect *effect = core_emit (node, NODE_EFFECT_DIFFERS);

  effect->job = loan_copy (check->job);
  effect->node = *from;
  effect->parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  g_ptr_array_add (effect->parts, g_bytes_ref (value));
  g_ptr_array_add (effect->parts, g_bytes_ref (check->value));
}

void
verify_own_on_result (Node *node, const NodeId *from, const Message *m)
{
  VerifyOwn *own = &node->verify_own;
  int i = find (node, from, m->number);

  own->moved_us = node->now_us;
  (void)member_send (node, from, &(Message){ .kind = MESSAGE_CANCELLED, .number = m->number });
  if (i < 0)
    return;
  Check *check = own->checks->pdata[i];
  if (!g_bytes_equal (check->value, m->value))
    {
      check->state = CHECK_DIFFERS;
      tell_difference (node, check, from, m->value);
      return;
    }
  node->stats.verified++;
  remove_check (node, (guint)i);
}

/* The check has no holder any more. */
static void
come_back (Node *node, guint i, guint tries)
{
  Check *check = node->verify_own.checks->pdata[i];

  node->verify_own.moved_us = node->now_us;
  check->state = CHECK_WAITS;
  check->tries += tries;
  if (check->tries >= CHECK_TRIES)
    remove_check (node, i);
}

void
verify_own_on_returned (Node *node, const NodeId *from, guint64 number)
{
  int i = find (node, from, number);

  if (i >= 0)
    come_back (node, (guint)i, 1);
}

void
verify_own_departed (Node *node, const NodeId *id)
{
  const GPtrArray *checks = node->verify_own.checks;

  for (guint i = checks->len; i > 0; i--)
    {
      const Check *check = checks->pdata[i - 1];
      if (check->state == CHECK_LENT && node_id_equal (&check->holder, id))
        come_back (node, i - 1, CHECK_DEATH);
    }
}

/* ---- results that wait for checks ---- */

static gboolean
has_check_below (Node *node, const char *path)
{
  const GPtrArray *checks = node->verify_own.checks;

  for (guint i = 0; i < checks->len; i++)
    if (path_is_below (node->config.stems, ((const Check *)checks->pdata[i])->job->path, path))
      return TRUE;
  return FALSE;
}

/* TRUE: the job's result leaves this node's stacks. */
static gboolean
goes_away (const Node *node, const HeldJob *held)
{
  return !verify_has (node, held)
         && (held->lender == LENDER_NODE || held->lender == LENDER_MAIN
             || held->lender == LENDER_NONE);
}

gboolean
verify_own_defers (Node *node, HeldJob *held, const NodeEvent *event)
{
  if (node->verify_own.checks->len == 0 || !goes_away (node, held)
      || (!has_difference (&node->verify_own) && (!may_check (node) || node->round.heard))
      || !has_check_below (node, held->job->path))
    return FALSE;
  Deferred *deferred = g_new (Deferred, 1);
  *deferred
      = (Deferred){ .held = event->held,
                    .work_us = event->work_us,
                    .risk_us = event->risk_us,
                    .began_ms = event->began_ms,
                    .took_ms = event->took_ms,
                    .since_us = node->now_us,
                    .bytes = g_bytes_ref (event->bytes),
                    .shares = event->shares == NULL ? NULL : g_ptr_array_ref (event->shares) };
  g_ptr_array_add (node->verify_own.deferred, deferred);
  held->phase = HELD_DEFERRED;
  held->risk_us = event->risk_us;
  held->busy = 0;
  return TRUE;
}

static void
release (Node *node, guint i)
{
  Deferred *deferred = g_ptr_array_steal_index (node->verify_own.deferred, i);
  HeldJob *held = held_find (node, deferred->held);
  const NodeEvent event = { .kind = NODE_EVENT_DONE,
                            .held = deferred->held,
                            .bytes = deferred->bytes,
                            .shares = deferred->shares,
                            .work_us = deferred->work_us,
                            .risk_us = deferred->risk_us,
                            .began_ms = deferred->began_ms,
                            .took_ms = deferred->took_ms };

  if (held != NULL)
    {
      held->phase = HELD_RUNS;
      held_on_done (node, &event);
    }
  deferred_free (deferred);
}

/* Drops all present checks: the results that waited for them are used unchecked. */
static void
give_up (Node *node)
{
  const GPtrArray *checks = node->verify_own.checks;

  for (guint i = checks->len; i > 0; i--)
    {
      const Check *check = checks->pdata[i - 1];
      if (check->state == CHECK_LENT && core_is_member (node))
        (void)member_send (node, &check->holder,
                           &(Message){ .kind = MESSAGE_CANCELLED, .number = check->job->loan });
      remove_check (node, i - 1);
    }
}

void
verify_own_settle (Node *node)
{
  VerifyOwn *own = &node->verify_own;

  if ((own->checks->len == 0 && own->deferred->len == 0) || has_difference (own))
    return;
  if (!may_check (node))
    give_up (node);
  for (guint i = own->deferred->len; i > 0; i--)
    {
      const Deferred *deferred = own->deferred->pdata[i - 1];
      const HeldJob *held = held_find (node, deferred->held);
      if (held == NULL || node->round.heard || !goes_away (node, held)
          || !has_check_below (node, held->job->path))
        release (node, i - 1);
    }
}

/* ---- time ---- */

/* The time at which patience ends; CORE_NEVER: nothing is deferred, or another node computes a
 * check. */
static guint64
patience_us (Node *node)
{
  const VerifyOwn *own = &node->verify_own;

  if (own->deferred->len == 0 || has_difference (own))
    return CORE_NEVER;
  for (guint i = 0; i < own->checks->len; i++)
    if (((const Check *)own->checks->pdata[i])->state == CHECK_LENT)
      return CORE_NEVER;
  const Deferred *oldest = own->deferred->pdata[0];
  return MAX (own->moved_us, oldest->since_us) + CHECK_PATIENCE_US;
}

static gboolean
waits_for_thief (Node *node)
{
  const GPtrArray *checks = node->verify_own.checks;

  for (guint i = 0; i < checks->len; i++)
    if (((const Check *)checks->pdata[i])->state == CHECK_WAITS)
      return node->lend.owed->len > 0;
  return FALSE;
}

guint64
verify_own_due (Node *node)
{
  guint64 tell_us = waits_for_thief (node) ? node->verify_own.tell_us : CORE_NEVER;

  return MIN (tell_us, patience_us (node));
}

void
verify_own_tick (Node *node)
{
  if (node->now_us >= patience_us (node))
    give_up (node);
  if (!waits_for_thief (node) || node->now_us < node->verify_own.tell_us)
    return;
  node->verify_own.tell_us = node->now_us + CHECK_TELL_US;
  lend_tell (node);
}

void
verify_own_check (Node *node)
{
  const VerifyOwn *own = &node->verify_own;
  gsize bytes = 0;

  for (guint i = 0; i < own->checks->len; i++)
    {
      const Check *check = own->checks->pdata[i];
      bytes += bytes_of (check);
      g_assert (check->state != CHECK_LENT || roster_find (node, &check->holder) != NULL);
    }
  g_assert (bytes == own->bytes);
  for (guint i = 0; i < own->deferred->len; i++)
    {
      const Deferred *deferred = own->deferred->pdata[i];
      const HeldJob *held = held_find (node, deferred->held);
      g_assert (held != NULL && held->phase == HELD_DEFERRED);
    }
}
