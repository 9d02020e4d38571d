/* SPDX-License-Identifier: BSD-3-Clause */
/* See stray.h. Two kinds of missing children are not counted, since a correct program may have
 * them: those of a job that has aborted children, and all in a program with a SATIN_BEST, whose
 * jobs may prune. A kept state is not a result. Tests: test-stray, laws.sh. */
#include "config.h"

#include "stray.h"

#include "../best.h"
#include "../save/keep.h"
#include "adopt.h"

/* The children of a job that has returned. */
typedef struct
{
  Known *known;
  guint32 end; /* number of the last child, plus one */
  guint n;     /* results at or below children that were not spawned */
  KnownNode *first;
} Missing;

/* *aborted: some children were aborted. */
static guint32
count_children (Stack *stack, SatinSlot_ *job, SatinSlot_ *base, gboolean *aborted)
{
  SatinSlot_ *end = base;
  guint32 number;

  *aborted = FALSE;
  for (; end < stack->memory.slots + stack->memory.n_slots && slot_has_parent (end, job); end++)
    *aborted = *aborted || slot_state (end) == SLOT_DROPPED;
  base = keep_first (base, end, &number);
  return number + (guint32)(end - base);
}

static void
look_at_child (KnownNode *child, guint32 number, void *data)
{
  Missing *missing = data;
  guint n = number < missing->end ? 0 : known_count_below (missing->known, child);

  if (missing->n == 0 && n > 0)
    missing->first = child;
  missing->n += n;
}

/* known.lock held. */
static guint
count_others (Stack *stack, KnownNode *node, SatinSlot_ *job, SatinSlot_ *base)
{
  Digest digest, state;
  gboolean keeps = slot_has_parent (base, job) && slot_is_kept (base);

  if (!known_is_held (node))
    return 0;
  digest = slot_digest (stack->engine, job, NULL);
  if (keeps)
    state = keep_digest (stack->engine, job, base->job->result, NULL);
  return known_count_others (stack->engine->known.trie, node, &digest, keeps ? &state : NULL);
}

void
stray_look (Stack *stack, SatinSlot_ *job, SatinSlot_ *base)
{
  Engine *engine = stack->engine;
  Missing missing = { .known = engine->known.trie };
  EngineEvent event = { .kind = ENGINE_UNMATCHED };
  KnownNode *node;
  gboolean aborted;
  guint n;

  if (stack->own.watch->len == 0)
    return;
  watch_settle (stack, job);
  node = watch_node (stack, job);
  if (node == NULL)
    return;
  missing.end = count_children (stack, job, base, &aborted);
  pthread_mutex_lock (&engine->known.lock);
  n = count_others (stack, node, job, base);
  if (!aborted && best_count () == 0)
    known_each_child (engine->known.trie, node, look_at_child, &missing);
  if (n + missing.n > 0)
    event.path = known_path (engine->known.trie, n > 0 ? node : missing.first);
  pthread_mutex_unlock (&engine->known.lock);
  n += missing.n;
  if (n > 0 && figure_add (&engine->figures.unmatched, n) == 0)
    mailbox_raise (engine, &event);
  else
    g_free (event.path);
}
