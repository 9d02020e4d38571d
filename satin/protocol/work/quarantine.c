/* SPDX-License-Identifier: BSD-3-Clause */
/* See quarantine.h. */
#include "../core.h"

typedef struct
{
  Loan *job;
  guint64 since_us; /* since then it waits for a place */
} QuarantineJob;

static void
job_free (gpointer data)
{
  QuarantineJob *waiting = data;

  loan_free (waiting->job);
  g_free (waiting);
}

void
quarantine_init (Node *node)
{
  Quarantine *quarantine = &node->quarantine;

  core_pointers (node, &quarantine->jobs, job_free);
}

/* TRUE: the member's death would cost the run little. A member that does not know that it is a
 * member would drop the job, since JOBS may overtake WELCOME. */
static gboolean
is_place (Node *node, const Member *member)
{
  NodeId coordinator;

  return !member->dead && !member->leaving && member->knows_us
         && !node_id_equal (&member->id, &node->self) && member != roster_master (node)
         && member_is_connected (node, &member->id)
         && !(lease_coordinator (node, &coordinator) && node_id_equal (&member->id, &coordinator));
}

/* The number of places; `idle`: only of nodes that have nothing to do. `place` (nullable, out):
 * place number `wanted`. */
static guint
count_places (Node *node, gboolean idle, guint wanted, Member **place)
{
  guint n = 0;

  for (guint i = 0; i < node->roster.members->len; i++)
    {
      Member *member = node->roster.members->pdata[i];
      if (is_place (node, member) && !(idle && member->told.busy > 0) && n++ == wanted
          && place != NULL)
        *place = member;
    }
  return n;
}

/* TRUE: even a busy node has returned it. Perhaps all jobs there wait for this job. */
static gboolean
was_in_vain (const LoanEntry *entry)
{
  return entry->waits_us > 0 && entry->since_us >= entry->waits_us + QUARANTINE_PATIENCE_US;
}

gboolean
quarantine_takes (Node *node, LoanEntry *entry)
{
  Quarantine *quarantine = &node->quarantine;

  if (entry->job == NULL || was_in_vain (entry)
#ifdef SATIN_PLANT_ALARMED
      || poison_count_quiet (node, entry->path) < NODE_CRASH_REPORT - 1
#else
      || poison_count_quiet (node, entry->path) < NODE_CRASH_REPORT
#endif
      || !core_is_member (node) || stop_halts (node) || count_places (node, FALSE, 0, NULL) == 0)
    return FALSE;
  QuarantineJob *waiting = g_new0 (QuarantineJob, 1);
  waiting->job = g_steal_pointer (&entry->job);
  waiting->since_us = entry->waits_us > 0 ? entry->waits_us : node->now_us;
  quarantine->at_us = entry->waits_us > 0 ? node->now_us + QUARANTINE_TRY_US : node->now_us;
  g_ptr_array_add (quarantine->jobs, waiting);
  return TRUE;
}

void
quarantine_aborted (Node *node, guint64 loan)
{
  GPtrArray *jobs = node->quarantine.jobs;

  for (guint i = jobs->len; i > 0; i--)
    if (((QuarantineJob *)jobs->pdata[i - 1])->job->loan == loan)
      g_ptr_array_remove_index (jobs, i - 1);
}

/* TRUE: the engine must look for the job itself: other nodes offer it, or no other place is
 * left. */
static gboolean
comes_back (Node *node, const Loan *job)
{
  Holder holder;

  return stop_halts (node) || !core_is_member (node) || count_places (node, FALSE, 0, NULL) == 0
         || known_holder (node, job->path, &job->digest, &holder)
         || archive_find (node, job->path, &job->digest) != NULL
         || orphans_find (node, job->path, &job->digest) != NULL;
}

/* FALSE: no node has time for it now. */
static gboolean
give (Node *node, QuarantineJob *waiting)
{
  gboolean idle = node->now_us < waiting->since_us + QUARANTINE_PATIENCE_US;
  guint n = count_places (node, idle, 0, NULL);
  g_autoptr (GPtrArray) loans = g_ptr_array_new ();
  Member *place = NULL;

  if (n == 0)
    return FALSE;
  (void)count_places (node, idle, (guint)(core_random (node) % n), &place);
  const Loan *job = waiting->job;
  core_log (node, "the job at %s goes to node %u.%u%s", job->path, place->id.term, place->id.number,
            idle ? ", alone" : "");
  loans_add (node, (LoanEntry){ .loan = job->loan,
                                .path = job->path,
                                .digest = job->digest,
                                .node = place->id,
                                .waits_us = waiting->since_us,
                                .job = loan_copy (job) });
  g_ptr_array_add (loans, waiting->job);
  (void)member_send (
      node, &place->id,
      &(Message){
          .kind = MESSAGE_JOBS, .flag = idle, .count = epoch_colours (node), .loans = loans });
  return TRUE;
}

guint64
quarantine_due (Node *node)
{
  return node->quarantine.jobs->len > 0 ? node->quarantine.at_us : CORE_NEVER;
}

void
quarantine_tick (Node *node)
{
  Quarantine *quarantine = &node->quarantine;

  if (quarantine->jobs->len == 0 || node->now_us < quarantine->at_us)
    return;
  quarantine->at_us = node->now_us + QUARANTINE_TRY_US;
  for (guint i = quarantine->jobs->len; i > 0; i--)
    {
      QuarantineJob *waiting = quarantine->jobs->pdata[i - 1];
      if (comes_back (node, waiting->job))
        core_emit (node, NODE_EFFECT_BACK)->loan = waiting->job->loan;
      else if (!give (node, waiting))
        continue;
      g_ptr_array_remove_index (quarantine->jobs, i - 1);
    }
}

void
quarantine_check (Node *node)
{
  const GPtrArray *jobs = node->quarantine.jobs;

  for (guint i = 0; i < jobs->len; i++)
    {
      const Loan *job = ((const QuarantineJob *)jobs->pdata[i])->job;
      g_assert (loans_find (node, job->loan) == NULL);
      for (guint k = 0; k < i; k++)
        g_assert (((const QuarantineJob *)jobs->pdata[k])->job->loan != job->loan);
    }
}
