/* SPDX-License-Identifier: BSD-3-Clause */
/* See lend.h. */
#include "../core.h"

void
lend_init (Node *node)
{
  Lend *lend = &node->lend;

  core_array (node, &lend->asked, sizeof (Lending));
  core_array (node, &lend->owed, sizeof (NodeId));
  lend->tell_pause_us = LEND_TELL_MIN_US;
}

/* Asks the engine for `asked` jobs for this thief. */
static void
take_for (Node *node, Lending lending, guint32 asked)
{
  lending.asked = asked;
  g_array_append_val (node->lend.asked, lending);
  NodeEffect *effect = core_emit (node, NODE_EFFECT_LEND);
  effect->node = lending.thief;
  effect->link = member_connection (node, &lending.thief);
  effect->count = asked;
}

/* Also counts the thieves that ask just now. */
static void
ask_for_all (const Lend *lend, NodeEffect *owe)
{
  owe->count = lend->owed->len + lend->asked->len;
}

/* There is no job for this thief: it will be told when there is one. */
static void
owe (Node *node, const NodeId *thief)
{
  Lend *lend = &node->lend;

  if (lend->owed->len == 0)
    {
      lend->look_pause_us = LEND_LOOK_MIN_US;
      lend->look_us = node->now_us + lend->look_pause_us;
    }
  node_id_set_add (lend->owed, thief);
  ask_for_all (lend, core_emit (node, NODE_EFFECT_REQUEST));
}

static void
refuse (Node *node, const Lending *lending)
{
  (void)member_send (node, &lending->thief,
                     &(Message){ .kind = MESSAGE_JOBS, .number = lending->request });
}

void
lend_on_request (Node *node, const NodeId *from, const Message *m)
{
  Lending lending
      = { .thief = *from, .request = m->number, .left = MIN (m->count, STEAL_COUNT_MAX) };
  const Member *thief = roster_find (node, from);

  node_id_set_remove (node->lend.owed, from);
  if (m->count == 0 || stop_halts (node) || thief->leaving)
    refuse (node, &lending);
  else if (!constants_started (node) || !carry_has_room (thief))
    {
      refuse (node, &lending);
      owe (node, from); /* the thief asks again only when told, or now and then */
    }
  else if (!verify_own_lends (node, from, m->number))
    take_for (node, lending, 1);
}

/* Tells the thief that has waited longest that this node has work. */
static void
tell (Node *node)
{
  Lend *lend = &node->lend;

  while (lend->owed->len > 0)
    {
      NodeId id = g_array_index (lend->owed, NodeId, 0);
      g_array_remove_index (lend->owed, 0);
      if (!member_send (node, &id, &(Message){ .kind = MESSAGE_JOBS, .id = node->self }))
        continue;
      lend->tell_us = node->now_us + lend->tell_pause_us;
      lend->tell_pause_us = MIN (lend->tell_pause_us * 2, LEND_TELL_MAX_US);
      return;
    }
}

void
lend_tell (Node *node)
{
  tell (node);
}

void
lend_expect (Node *node)
{
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];

      if (!member->dead && !member->leaving && !node_id_equal (&member->id, &node->self))
        owe (node, &member->id);
    }
}

void
lend_on_shared (Node *node)
{
  Lend *lend = &node->lend;

  if (lend->owed->len == 0 || stop_halts (node))
    return;
  if (node->now_us >= lend->tell_us)
    tell (node);
  else
    lend->look_us = MIN (lend->look_us, lend->tell_us);
}

/* A thief took jobs. If it got all that it wanted, there may be more for the next thief. */
static void
gave (Node *node, gboolean all)
{
  Lend *lend = &node->lend;

  lend->tell_pause_us = LEND_TELL_MIN_US;
  lend->tell_us = 0;
  if (all)
    tell (node);
}

/* The engine has only this job, which it holds for another node and has not begun. It is returned
 * to that node, so a loan always has two ends. Returns the lender, or none. */
static NodeId
return_surplus (Node *node, const Loan *loan)
{
  const HeldJob *held = held_find (node, loan->held);
  NodeId lender = held != NULL && held->lender == LENDER_NODE ? held->node : NODE_ID_NONE;

  steal_on_robbed (node);
  held_on_unrun (node, loan->held, TRUE);
  return lender;
}

/* Records the jobs that the thief gets and removes the others from `loans`. Notes the lender of a
 * job that was returned, where the thief may get it. */
static void
take_out (Node *node, Lending *lending, GPtrArray *loans)
{
  for (guint i = 0; i < loans->len;)
    {
      Loan *loan = loans->pdata[i];
      if (loan->held != 0)
        {
          lending->lender = return_surplus (node, loan);
          g_ptr_array_remove_index (loans, i);
          continue;
        }
      loan->again = verify_is_second (node, loan->path);
      directory_tell (node, &lending->thief, loan->path);
      loans_add (node, (LoanEntry){ .loan = loan->loan,
                                    .path = loan->path,
                                    .digest = loan->digest,
                                    .node = lending->thief,
                                    .job = poison_count_quiet (node, loan->path) > 0
                                                   || verify_chooses (node, loan->path)
                                               ? loan_copy (loan)
                                               : NULL });
      i++;
    }
}

/* Sends the jobs that take_out left, or refuses. */
static void
send_lent (Node *node, const Lending *lending, GPtrArray *loans, gboolean more)
{
  Message jobs = { .kind = MESSAGE_JOBS,
                   .number = lending->request,
                   .flag = more,
                   .loans = loans,
                   .count = epoch_colours (node) };

  if (loans->len == 0)
    jobs.id = lending->lender;
  if (loans->len > 0 || !more)
    holdback_send (node, &lending->thief, &jobs);
}

/* The thief left while the engine was asked, or is about to leave. */
static void
give_back (Node *node, const Lending *lending, GPtrArray *loans)
{
  for (guint i = 0; i < loans->len; i++)
    {
      const Loan *loan = loans->pdata[i];
      if (loan->held != 0)
        (void)return_surplus (node, loan);
      else
        core_emit (node, NODE_EFFECT_BACK)->loan = loan->loan;
    }
  if (member_is_connected (node, &lending->thief))
    refuse (node, lending);
}

void
lend_on_lent (Node *node, const NodeEvent *event)
{
  GArray *waiting = node->lend.asked;
  GPtrArray *loans = event->loans;

  if (waiting->len == 0)
    return;
  Lending lending = g_array_index (waiting, Lending, 0);
  g_array_remove_index (waiting, 0);
  const Member *thief = roster_find (node, &lending.thief);
  if (thief == NULL || thief->leaving || !member_is_connected (node, &lending.thief))
    {
      give_back (node, &lending, loans);
      return;
    }
  lending.left -= lending.asked;
  gboolean all = loans->len == lending.asked, more = all && lending.left > 0;
  take_out (node, &lending, loans);
  send_lent (node, &lending, loans, more);
  lending.given += loans->len;
  if (more)
    take_for (node, lending, lending.left);
  else if (lending.given > 0)
    gave (node, all);
  else
    owe (node, &lending.thief);
}

void
lend_departed (Node *node, const NodeId *id)
{
  node_id_set_remove (node->lend.owed, id);
}

/* TRUE: thieves wait, and a job that runs here may spawn jobs for them. */
static gboolean
may_have_more (Node *node)
{
  return node->lend.owed->len > 0 && node->held.unfinished > 0;
}

guint64
lend_due (Node *node)
{
  return may_have_more (node) && !stop_halts (node) ? node->lend.look_us : CORE_NEVER;
}

void
lend_tick (Node *node)
{
  Lend *lend = &node->lend;

  if (!may_have_more (node) || node->now_us < lend->look_us)
    return;
  /* The engine may have taken back jobs that were public before. And a program with few jobs now
   * may have many later. */
  lend->look_pause_us = MIN (lend->look_pause_us * 2, LEND_LOOK_MAX_US);
  lend->look_us = node->now_us + lend->look_pause_us;
  ask_for_all (lend, core_emit (node, NODE_EFFECT_REQUEST));
}

void
lend_check (Node *node)
{
  for (guint i = 0; i < node->lend.owed->len; i++)
    g_assert (roster_find (node, &g_array_index (node->lend.owed, NodeId, i)) != NULL);
}
