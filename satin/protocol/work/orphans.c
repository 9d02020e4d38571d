/* SPDX-License-Identifier: BSD-3-Clause */
/* See orphans.h.
 * Tests: test-directory, test-leave, sim. */
#include "../core.h"

void
orphans_init (Node *node)
{
  Orphans *orphans = &node->orphans;

  core_array (node, &orphans->news, sizeof (guint64));
}

static Holder
holder_of (Node *node, const HeldJob *held)
{
  return (Holder){ node->self, held->job->digest, held->phase == HELD_FINISHED };
}

static void
announce (Node *node, HeldJob *held)
{
  Holder holder = holder_of (node, held);

  held->announced = TRUE;
  (void)known_add (node, held->job->path, &holder);
  g_array_append_val (node->orphans.news, held->held);
}

void
orphans_announce (Node *node, HeldJob *held)
{
  if (node->config.plan.drops_orphans)
    {
      work_dropped (node, held);
      held_give_up (node, held);
    }
  else if (core_is_member (node))
    announce (node, held);
}

/* TRUE: another job or row with this path and digest still needs the announcement. */
static gboolean
has_twin (Node *node, const HeldJob *held)
{
  const HeldJob *other = held_at (node, held->job->path);

  if (archive_find (node, held->job->path, &held->job->digest) != NULL)
    return TRUE;
  for (; other != NULL; other = other->next)
    if (other != held && other->announced && digest_equal (&other->job->digest, &held->job->digest))
      return TRUE;
  return FALSE;
}

/* A withdrawal concerns a whole path. Jobs and kept states with another digest must be announced
 * again. */
static void
announce_others (Node *node, const HeldJob *held)
{
  HeldJob *other = held_at (node, held->job->path);

  for (; other != NULL; other = other->next)
    if (other != held && other->announced)
      orphans_announce (node, other);
  archive_announce_path (node, held->job->path);
}

void
orphans_withdraw (Node *node, HeldJob *held)
{
  if (!held->announced)
    return;
  held->announced = FALSE;
  if (has_twin (node, held) || !core_is_member (node))
    return;
  (void)known_remove (node, held->job->path, &node->self);
  orphans_flush (node); /* an announcement must not follow its withdrawal */
  directory_withdraw (node, held->job->path);
  announce_others (node, held);
}

static void
add_hold (GArray *holds, const HeldJob *held)
{
  MessageHold hold = { held->job->path, held->job->digest, held->phase == HELD_FINISHED };

  g_array_append_val (holds, hold);
}

void
orphans_flush (Node *node)
{
  g_autoptr (GArray) news = NULL, holds = NULL;

  archive_flush (node);
  if (node->orphans.news->len == 0) /* the case at the end of most steps */
    return;
  news = g_steal_pointer (&node->orphans.news);
  holds = g_array_new (FALSE, FALSE, sizeof (MessageHold));
  node->orphans.news = g_array_new (FALSE, FALSE, sizeof (guint64));
  for (guint i = 0; i < news->len; i++)
    {
      const HeldJob *held = held_find (node, g_array_index (news, guint64, i));
      if (held != NULL && held->announced)
        add_hold (holds, held);
      if (holds->len == 0 || (i + 1 < news->len && holds->len < ORPHANS_BATCH))
        continue;
      directory_offer (node, holds);
      g_array_set_size (holds, 0);
    }
}

static gboolean
collect_announced (gpointer key G_GNUC_UNUSED, gpointer value, gpointer data)
{
  if (((HeldJob *)value)->announced)
    add_hold (data, value);
  return FALSE;
}

void
orphans_tell (Node *node, const NodeId *to)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (MessageHold));

  g_tree_foreach (node->held.by_number, collect_announced, all);
  for (guint i = 0; i < all->len; i += ORPHANS_BATCH)
    {
      g_autoptr (GArray) batch = g_array_new (FALSE, FALSE, sizeof (MessageHold));
      g_array_append_vals (batch, &g_array_index (all, MessageHold, i),
                           MIN (ORPHANS_BATCH, all->len - i));
      (void)member_send (node, to, &(Message){ .kind = MESSAGE_HOLD, .holds = batch });
    }
}

void
orphans_greet (Node *node, const NodeId *to)
{
  if (!node_id_equal (to, &node->contacts.hub))
    return;
  orphans_tell (node, to);
  archive_tell (node, to, NULL, 0);
}

static gboolean
collect_nobodys (gpointer key G_GNUC_UNUSED, gpointer value, gpointer data)
{
  HeldJob *held = value;

  if (held->lender == LENDER_NONE)
    g_ptr_array_add (data, held);
  return FALSE;
}

void
orphans_enter_all (Node *node)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new ();

  g_tree_foreach (node->held.by_number, collect_nobodys, all);
  for (guint i = 0; i < all->len; i++)
    orphans_announce (node, all->pdata[i]);
  archive_enter_all (node);
}

void
orphans_archive (Node *node, const Row *row)
{
  const HeldJob *held = row->children > 0 ? NULL : orphans_find (node, row->path, &row->digest);

  if (held == NULL || held->phase != HELD_FINISHED) /* otherwise the held job serves */
    archive_put (node, row);
}

HeldJob *
orphans_find (Node *node, const char *path, const Digest *digest)
{
  HeldJob *best = NULL;

  for (HeldJob *held = held_at (node, path); held != NULL; held = held->next)
    {
      if (held->lender != LENDER_NONE || !digest_equal (&held->job->digest, digest))
        continue;
      if (best == NULL || (held->phase == HELD_FINISHED) > (best->phase == HELD_FINISHED))
        best = held;
    }
  return best;
}

/* ---- adoption ---- */

/* The engine knew of a holder that has gone. It first forgets that holder, then looks again. */
static void
send_elsewhere (Node *node, const NodeEvent *event)
{
  known_deny (node, event->path, &event->digest, &event->node);
  core_emit (node, NODE_EFFECT_BACK)->loan = event->loan;
}

/* The job of this slot, if its result must be computed twice. (transfer full) (nullable) */
static Loan *
job_to_repeat (Node *node, guint64 loan, const Loan *job)
{
  if (job == NULL || !verify_chooses (node, job->path))
    return NULL;
  Loan *copy = loan_copy (job);
  copy->loan = loan;
  return copy;
}

void
orphans_ask (Node *node, guint64 loan, const char *path, const Digest *digest, const NodeId *holder,
             const Loan *job)
{
  loans_add (node, (LoanEntry){ .loan = loan,
                                .path = (char *)path,
                                .digest = *digest,
                                .kind = LOAN_ADOPTED,
                                .node = *holder,
                                .job = job_to_repeat (node, loan, job) });
  directory_tell (node, holder, path);
  (void)member_send (
      node, holder,
      &(Message){ .kind = MESSAGE_ADOPT, .number = loan, .path = path, .digest = *digest });
}

/* Puts a row of this node into the slot, at once or after a second computation. */
static void
put_row (Node *node, const NodeEvent *event, ArchiveRow *row)
{
  g_autoptr (GBytes) value = archive_take (node, event->path, row);
  g_autoptr (GPtrArray) shares = archive_shares (node, row);
  Arrival arrival = { .from = node->self,
                      .author = archive_author (node, row),
                      .loan = event->loan,
                      .result = { value, shares, row->work_us, 0 } };
  Loan *job = job_to_repeat (node, event->loan, event->job);

  loans_add (node, (LoanEntry){ .loan = event->loan,
                                .path = (char *)event->path,
                                .digest = event->digest,
                                .kind = LOAN_ROW,
                                .job = job });
  LoanEntry *entry = loans_find (node, event->loan);
  if (!verify_takes (node, entry, &arrival))
    loans_accept (node, entry, &arrival);
}

static void
adopt_own (Node *node, const NodeEvent *event)
{
  ArchiveRow *row = archive_find (node, event->path, &event->digest);
  HeldJob *held = row != NULL ? NULL : orphans_find (node, event->path, &event->digest);

  if (row == NULL && held == NULL)
    {
      send_elsewhere (node, event);
      return;
    }
  node->stats.orphans_adopted++;
  if (row != NULL && event->job != NULL)
    {
      put_row (node, event, row);
      return;
    }
  if (row != NULL)
    {
      NodeEffect *effect = core_emit (node, NODE_EFFECT_PUT);
      effect->loan = event->loan;
      effect->bytes = archive_take (node, event->path, row);
      effect->shares = archive_shares (node, row);
      effect->work_us = row->work_us;
      return;
    }
  loans_add (node, (LoanEntry){ .loan = event->loan,
                                .path = (char *)event->path,
                                .digest = event->digest,
                                .kind = LOAN_OWN });
  held_set_lender (node, held, LENDER_SELF, NULL, event->loan);
  if (held->phase == HELD_FINISHED)
    held_return (node, held);
}

void
orphans_on_adopt_event (Node *node, const NodeEvent *event)
{
  if (core_is_member (node) && node_id_equal (&event->node, &node->self))
    {
      adopt_own (node, event);
      return;
    }
  if (roster_find (node, &event->node) != NULL)
    {
      orphans_ask (node, event->loan, event->path, &event->digest, &event->node, event->job);
      return;
    }
  send_elsewhere (node, event); /* the holder has left meanwhile */
}

gboolean
orphans_send_row (Node *node, const NodeId *from, const char *path, const Digest *digest,
                  guint64 loan)
{
  ArchiveRow *row = archive_find (node, path, digest);

  if (row == NULL)
    return FALSE;
  g_autoptr (GBytes) value = archive_take (node, path, row);
  g_autoptr (GPtrArray) shares = archive_shares (node, row);
  guint64 number = mirror_send_row (node, from, loan, path, row);
  epoch_sends_result (node, from);
  (void)member_send (node, from,
                     &(Message){ .kind = MESSAGE_RESULT,
                                 .number = loan,
                                 .path = path,
                                 .digest = *digest,
                                 .work_us = row->work_us,
                                 .version = number,
                                 .count = epoch_colours (node),
                                 .id = archive_author (node, row),
                                 .value = value,
                                 .shares = shares });
  return TRUE;
}

void
orphans_on_adopt (Node *node, const NodeId *from, const Message *m)
{
  HeldJob *held = orphans_find (node, m->path, &m->digest);

  if (held_find_return (node, from, m->number) != NULL)
    return; /* asked twice */
  if (orphans_send_row (node, from, m->path, &m->digest, m->number))
    {
      node->stats.orphans_adopted++;
      return;
    }
  if (held == NULL || roster_find (node, from)->leaving)
    {
      (void)member_send (node, from, &(Message){ .kind = MESSAGE_RETURNED, .number = m->number });
      return;
    }
  node->stats.orphans_adopted++;
  held_set_lender (node, held, LENDER_NODE, from, m->number);
  if (held->phase == HELD_FINISHED)
    held_return (node, held);
}

/* Orphans at or below a finished job are cancelled, except those for which a live lender waits. */
void
orphans_covered (Node *node, const char *path)
{
  g_autoptr (GPtrArray) keys = known_keys_below (node->held.by_path, node->config.stems, path);
  g_autoptr (GPtrArray) vain = g_ptr_array_new ();

  for (guint i = 0; i < keys->len; i++)
    for (HeldJob *held = held_at (node, keys->pdata[i]); held != NULL; held = held->next)
      if (held->lender == LENDER_NONE)
        g_ptr_array_add (vain, held);
  for (guint i = 0; i < vain->len; i++)
    {
      HeldJob *held = vain->pdata[i];
      held->announced = FALSE; /* COVERED names `path`, so single withdrawals are not needed */
      (void)known_remove (node, held->job->path, &node->self);
      held_give_up (node, held);
    }
  archive_covered (node, path);
  known_covered (node, path);
}
