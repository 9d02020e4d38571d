/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs of the tree for the real engine: job `number` takes the virtual time that the tree says
 * and compares everything that it is given with the oracle. It keeps the laws of a job: its notes
 * for the checks are outside the job and do not change what it does. */
#include "config.h"

#include "real.h"

#include "engine.h"
#include "record.h"
#include "rng.h"
#include "sched/worker.h"

#include <string.h>

SATIN_RECORD (Kept, (uint64_t, hash), (uint64_t, fold), (uint64_t, children))

static Model *
here (void)
{
  return worker_here ()->engine->config.data;
}

/* The held job for which this stack works. */
static guint32
taken_by (Model *model)
{
  const Stack *stack = worker_here ();
  const Held *held = g_hash_table_lookup (stack->engine->inbox.held, &stack->shared.serving);
  int job = held == NULL ? 0 : tree_find (model->config.tree, held->loan->path);

  return (guint32)MAX (job, 0);
}

/* (nullable) The origin of a job that was not spawned on its stack. */
static const Origin *
origin_of (const SatinSlot_ *self)
{
  return slot_parent (self) & PARENT_ORIGIN ? slot_origin ((SatinSlot_ *)self - 1) : NULL;
}

static gboolean
is_held (const SatinSlot_ *self)
{
  return origin_of (self) != NULL && origin_of (self)->held != NULL;
}

static void
begin (Model *model, const SatinSlot_ *self, guint32 number, guint64 input)
{
  if (model->over)
    return;
  if (number >= model->config.tree->n || model->config.tree->jobs[number].input != input)
    {
      model->config.fail (model->config.data, "begins a job that does not exist", 0);
      return;
    }
  if (origin_of (self) != NULL && origin_of (self)->below != NULL)
    real_note_leapfrog (model);
  model->config.started (model->config.data, number, is_held (self));
  model->taken[number] = 1 + taken_by (model);
  memset (model->dropped + number, 0,
          model->config.tree->jobs[number].size * sizeof model->dropped[0]);
}

static void
end (Model *model, const SatinSlot_ *self, guint32 number, guint64 result)
{
  const TreeJob *job = &model->config.tree->jobs[number];

  if (model->over)
    return;
  if (result != job->result)
    model->config.fail (model->config.data, "computed a wrong result", number);
  model->taken[number] = 0;
  memset (model->done + number, 0, job->size * sizeof model->done[0]);
  model->done[number] = !is_held (self);
  model->config.finished (model->config.data, number);
}

/* The phase after the kept state. */
static guint32
phase_after (Model *model, guint32 number, const Kept *kept)
{
  const Tree *tree = model->config.tree;
  int phase = tree_phase_at (tree, number, (guint32)kept->children);
  g_autoptr (GBytes) right = phase < 0 ? NULL : tree_kept (tree, number, (guint32)kept->children);
  g_autoptr (GBytes) bytes = record_encode (&satin_type_Kept, kept);

  if (model->over)
    return tree->jobs[number].n_phases;
  if (right == NULL || !g_bytes_equal (bytes, right))
    {
      model->config.fail (model->config.data, "recalls what was never kept", number);
      return tree->jobs[number].n_phases;
    }
  model->config.recalled (model->config.data, number, (guint32)kept->children);
  return (guint32)phase + 1;
}

/* TRUE: the present phase has the results that it wants. */
static gboolean
is_satisfied (const Tree *tree, guint32 number, guint32 first, guint32 n, guint32 there)
{
  gboolean all = TRUE, wants = FALSE;

  for (guint32 i = 0; i < n; i++)
    {
      gboolean wanted = tree_wants (tree, number, first + i);
      wants = wants || wanted;
      all = all && (!wanted || (there >> i & 1));
    }
  return all && (wants || there != 0);
}

static gboolean
wants_all (const Tree *tree, guint32 number, guint32 first, guint32 n)
{
  for (guint32 i = 0; i < n; i++)
    if (!tree_wants (tree, number, first + i))
      return FALSE;
  return TRUE;
}

/* Notes the children that were aborted before they finished. `slot`: of the first child. */
static void
forget (Model *model, guint32 number, guint32 first, guint32 n, SatinSlot_ *slot)
{
  for (guint32 i = 0; i < n && !model->over; i++)
    {
      guint32 child = tree_child (model->config.tree, number, first + i);
      if (slot_is_finished (&slot[i]))
        continue;
      model->config.forgotten (model->config.data, child);
      model->dropped[child] = ++model->orders;
      model->dropper[child] = model->taken[number];
    }
}

/* TRUE: `at` was aborted before the scan began, by the same held job. `at` is the job of the row or
 * an ancestor. A copy that another node held as a job of its own may not know of the abort. */
static gboolean
is_dropped (const Model *model, guint32 at, guint32 job, guint64 began)
{
  return model->dropped[at] != 0 && model->dropped[at] <= began
         && model->dropper[at] == model->taken[job];
}

void
real_check_rows (Model *model, guint64 began, GPtrArray *rows)
{
  const Tree *tree = model->config.tree;
  const TreeJob *jobs = tree->jobs;

  for (guint i = 0; i < rows->len && !model->over; i++)
    {
      const Row *row = rows->pdata[i];
      int job = tree_find (tree, row->path);
      /* The job that runs here: the job whose state this row has, or the parent of the job. */
      guint32 runs = job <= 0 ? 0 : row->children > 0 ? (guint32)job : jobs[job].parent;
      for (guint32 at = (guint32)MAX (job, 0); !tree_is_root (tree, at); at = jobs[at].parent)
        if (is_dropped (model, at, runs, began))
          model->config.fail (model->config.data, "I9: gives a row of an aborted job",
                              (guint32)job);
    }
}

/* Computes for this long and polls meanwhile. */
#define COMPUTE(us) \
  for (guint64 left_us = (guint64)(us)*model->config.slowness; left_us > 0 && !model->over;) \
    { \
      guint64 part_us = MIN (left_us, REAL_POLL_US); \
      threads_sleep (part_us); \
      left_us -= part_us; \
      satin_aborted (); \
    }

SATIN_JOB (branch, uint64_t, (uint32_t, number), (uint64_t, input))
{
  SATIN_KEEPS (Kept);
  Model *model = here ();
  const Tree *tree = model->config.tree;
  const TreeJob *job = &tree->jobs[number];
  uint64_t results[TREE_CHILDREN_MAX];
  TreeState state;
  Kept kept = { 0, 0, 0 };
  guint32 phase = 0;

  threads_set_pauses (TRUE);
  begin (model, satin_frame_->self, number, input);
  state = tree_begin (tree, number);
  if (job->keeps && satin_recall (&kept))
    {
      phase = phase_after (model, number, &kept);
      state = (TreeState){ .hash = kept.hash, .fold = kept.fold };
    }
  COMPUTE (job->cost_us[phase]);
  while (phase < job->n_phases)
    {
      guint32 first = phase == 0 ? 0 : job->ends[phase - 1], n = job->ends[phase] - first;
      guint32 there = 0;
      int32_t next = 0;

      for (guint32 i = 0; i < n; i++)
        {
          guint32 child = tree_child (tree, number, first + i);
          satin_spawn (branch, &results[i], child, tree_input (tree, child, phase, state.fold));
        }
      if (!wants_all (tree, number, first, n))
        {
          while (!is_satisfied (tree, number, first, n, there) && (next = satin_sync_next ()) >= 0)
            there |= 1u << next;
          if (next >= 0)
            {
              satin_aborted (); /* Otherwise the abort would begin with that child. */
              threads_set_pauses (FALSE);
              forget (model, number, first, n, satin_frame_->first);
              satin_abort (); /* The abort marks all of them at once. */
              threads_set_pauses (TRUE);
            }
        }
      else if (input % 3 == 0)
        while (satin_sync_next () >= 0)
          ;
      else
        satin_sync ();
      for (guint32 i = 0; i < n; i++)
        tree_add (tree, number, first + i, results[i], &state);
      phase++;
      if (job->keeps)
        {
          kept = (Kept){ state.hash, state.fold, first + n };
          satin_keep (&kept);
        }
      COMPUTE (job->cost_us[phase]);
    }
  end (model, satin_frame_->self, number, state.hash);
  return state.hash;
}

const SatinJob *const real_jobs[] = { &branch_job, NULL };

static Digest
kept_digest (const Digest *job)
{
  g_autofree char *schema = record_schema (&satin_type_Kept);
  g_autoptr (GBytes) kind = g_bytes_new_static ("kept", 4);
  g_autoptr (GBytes) of_type = g_bytes_new_static (schema, strlen (schema));
  g_autoptr (GBytes) of_job = g_bytes_new_static (job->bytes, sizeof job->bytes);
  const GBytes *parts[] = { kind, of_type, of_job };

  return digest_of (parts, G_N_ELEMENTS (parts));
}

void
real_fit_tree (Engine *engine, const Tree *tree)
{
  for (guint32 i = 0; i < tree->n; i++)
    {
      TreeJob *job = (TreeJob *)&tree->jobs[i];
      satin_args_branch args = { .number = i, .input = job->input };

      g_bytes_unref (job->args);
      job->args = record_encode (branch_job.args, &args);
      job->digest = engine_digest (engine, 0, job->args);
      job->kept_digest = kept_digest (&job->digest);
    }
}
