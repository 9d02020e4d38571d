/* SPDX-License-Identifier: BSD-3-Clause */
/* Known paths meet the stacks. The watched frames are a prefix of a stack's spine, since an entry
 * below a job is also below its parents. Only watched frames with an entry strictly below them take
 * the slow path: while such a frame runs, the guard is all ones. While a child of it runs that has
 * no entry below, the guard stands just above that child. A watched frame without an entry below it
 * takes the fast path. Owner threads, and for claimed slots any. Tests: test-leapfrog. */
#include "config.h"

#include "adopt.h"

#include "../door/pending.h"
#include "../save/keep.h"

/* (nullable): the trie node of a slot's path, kept. `only_held`: NULL if there is no entry of
 * exactly this path. */
static KnownNode *
keep_node (Stack *stack, SatinSlot_ *slot, gboolean only_held)
{
  KnownHere *known = &stack->engine->known;
  KnownNode *node;
  Trace trace;

  trace_init (&trace, stack, slot);
  pthread_mutex_lock (&known->lock);
  node = known_lookup (known->trie, trace.held->loan->path);
  for (guint i = 0; i < trace.n && node != NULL; i++)
    node = known_child (known->trie, node, trace.numbers[i]);
  if (only_held && !known_is_held (node))
    node = NULL;
  known_keep (node);
  pthread_mutex_unlock (&known->lock);
  trace_clear (&trace);
  return node;
}

static void
release_node (Stack *stack, KnownNode *node)
{
  pthread_mutex_lock (&stack->engine->known.lock);
  known_release (stack->engine->known.trie, node);
  pthread_mutex_unlock (&stack->engine->known.lock);
}

/* (transfer full) (nullable): the job in `slot`, if its path is drawn to be computed twice. */
static Loan *
whole_job (Stack *stack, SatinSlot_ *slot, const char *path, const Digest *digest)
{
  Engine *engine = stack->engine;
  Trace trace;

  if (slot_is_kept (slot) || engine->config.twice <= 0
      || !path_is_drawn (path, engine->config.twice))
    return NULL;
  trace_init (&trace, stack, slot);
  g_autoptr (GBytes) args = slot_encode_args (slot);
  Loan *loan = loan_new (0, path, engine_job_index (engine, slot->job), digest, trace.weight, args);
  trace_clear (&trace);
  return loan;
}

/* Makes the slot wait for the best holder. *finished: the holder has the result. FALSE: there is no
 * entry with this digest at the node's path. TRUE also if the slot was aborted meanwhile. Releases
 * the node. */
static gboolean
adopt_at (Stack *stack, SatinSlot_ *slot, KnownNode *node, const Digest *digest, gboolean *finished)
{
  Engine *engine = stack->engine;
  Pending pending = { .kind = PENDING_RUNS, .stack = stack, .slot = slot };
  EngineEvent event = { .kind = ENGINE_ADOPT, .digest = *digest };
  gboolean held;

  pthread_mutex_lock (&engine->known.lock);
  held = known_best (engine->known.trie, node, digest, &event.holder, finished);
  if (held)
    event.path = known_path (engine->known.trie, node);
  known_release (engine->known.trie, node);
  pthread_mutex_unlock (&engine->known.lock);
  if (!held)
    return FALSE;
  if (slot_is_kept (slot))
    pending.kind = PENDING_KEPT;
  else if (*finished)
    pending.kind = PENDING_RESULT;
  pending.path = g_strdup (event.path);
  event.whole = whole_job (stack, slot, event.path, digest);
  if (pending_begin (engine, &pending, &event) == 0)
    engine_event_clear (&event);
  return TRUE;
}

static gboolean
adopt_slot (Stack *stack, SatinSlot_ *slot, KnownNode *node, gboolean *finished)
{
  Digest digest = slot_digest (stack->engine, slot, NULL);

  return adopt_at (stack, slot, node, &digest, finished);
}

gboolean
adopt_kept (Stack *stack, SatinSlot_ *slot, SatinSlot_ *job, const Digest *digest)
{
  KnownNode *node = keep_node (stack, job, FALSE);
  gboolean finished, adopted = adopt_at (stack, slot, node, digest, &finished);

  mailbox_tell (stack->engine);
  return adopted;
}

gboolean
adopt_claimed (Engine *engine, Stack *stack, SatinSlot_ *slot)
{
  KnownNode *node;
  gboolean held, finished;

  if (known_here_is_empty (&engine->known))
    return FALSE;
  node = keep_node (stack, slot, TRUE);
  held = node != NULL && adopt_slot (stack, slot, node, &finished);
  if (held)
    mailbox_tell (engine);
  return held;
}

gboolean
adopt_child (Stack *stack, KnownNode *parent, SatinSlot_ *slot, guint32 number, gboolean *finished)
{
  KnownHere *known = &stack->engine->known;
  KnownNode *node;

  pthread_mutex_lock (&known->lock);
  node = known_child (known->trie, parent, number);
  node = known_is_held (node) ? known_keep (node) : NULL;
  pthread_mutex_unlock (&known->lock);
  return node != NULL && adopt_slot (stack, slot, node, finished);
}

typedef struct
{
  Known *known;
  GPtrArray *paths;
} Untold;

/* Takes over the paths and the array. */
static void
raise_covered (Engine *engine, GPtrArray *paths)
{
  for (guint i = 0; i < paths->len; i++)
    {
      EngineEvent event = { .kind = ENGINE_COVERED, .path = paths->pdata[i] };

      mailbox_raise (engine, &event);
    }
  g_ptr_array_unref (paths);
}

static void
collect_untold (KnownNode *node, guint32 number, void *data)
{
  Untold *untold = data;

  (void)number;
  if (known_tell (untold->known, node))
    g_ptr_array_add (untold->paths, known_path (untold->known, node));
}

void
adopt_cover (Engine *engine, const char *path)
{
  Untold untold = { .known = engine->known.trie };

  if (known_here_is_empty (&engine->known))
    return;
  untold.paths = g_ptr_array_new ();
  pthread_mutex_lock (&engine->known.lock);
  collect_untold (known_lookup (engine->known.trie, path), 0, &untold);
  pthread_mutex_unlock (&engine->known.lock);
  raise_covered (engine, untold.paths);
}

/* A frame of the spine after news. Its children from number `number` on lie in [first, top), and
 * one of them may run. The children before are finished, and a kept state stands for them. */
typedef struct
{
  Stack *stack;
  SatinSlot_ *first, *top, *running;
  guint32 number; /* of `first` */
  Untold untold;
} Late;

static void
look_at_late (KnownNode *child, guint32 number, void *data)
{
  Late *late = data;

  if (number >= late->number)
    {
      gsize i = number - late->number;
      guint32 state;

      if (i >= (gsize)(late->top - late->first) || late->first + i == late->running)
        return;
      state = SLOT_STATE (slot_state (late->first + i));
      if (state != SLOT_STARTED && state != SLOT_DONE && state != SLOT_DROPPED)
        return;
    }
  collect_untold (child, number, &late->untold);
}

/* Tells the holders of children that are finished or dropped here. While the stack leaves a loan,
 * it does not do so for frames of that loan: another node may want their children. */
static void
tell_late (Late *late, KnownNode *node)
{
  Stack *stack = late->stack;
  Engine *engine = stack->engine;

  if (stack->own.leaving && late->first > stack->own.mark)
    return;
  late->untold = (Untold){ engine->known.trie, g_ptr_array_new () };
  pthread_mutex_lock (&engine->known.lock);
  known_each_child (engine->known.trie, node, look_at_late, late);
  pthread_mutex_unlock (&engine->known.lock);
  raise_covered (engine, g_steal_pointer (&late->untold.paths));
}

void
adopt_cover_phases (Stack *stack, SatinSlot_ *job, guint32 children)
{
  KnownNode *node = keep_node (stack, job, FALSE);
  Late late = { .stack = stack, .number = children };

  tell_late (&late, node);
  release_node (stack, node);
}

/* A watched job is finished: tells the holders of the job and of jobs below it. If it is a held
 * job, another node waits for it, so only the holders of jobs below it are told. */
static void
cover_watched (Engine *engine, Stack *stack, const Watch *watch)
{
  guint32 parent = slot_parent (watch->self);
  Untold untold = { engine->known.trie, g_ptr_array_new () };

  pthread_mutex_lock (&engine->known.lock);
  if ((parent & PARENT_ORIGIN) && slot_origin (slot_at (stack, parent))->held != NULL)
    known_each_child (engine->known.trie, watch->node, collect_untold, &untold);
  else
    collect_untold (watch->node, 0, &untold);
  pthread_mutex_unlock (&engine->known.lock);
  raise_covered (engine, untold.paths);
}

static Watch *
watch_top (Stack *stack)
{
  return stack->own.watch->len == 0
             ? NULL
             : &g_array_index (stack->own.watch, Watch, stack->own.watch->len - 1);
}

/* known.lock held. Keeps the node. */
static void
watch_set (Watch *watch, SatinSlot_ *self, KnownNode *node)
{
  *watch = (Watch){ self, known_keep (node), known_has_below (node) };
}

/* Removes the last one. */
static void
watch_pop (Stack *stack)
{
  release_node (stack, watch_top (stack)->node);
  g_array_set_size (stack->own.watch, stack->own.watch->len - 1);
}

/* known.lock held. */
static void
watch_push (Stack *stack, SatinSlot_ *self, KnownNode *node)
{
  g_array_set_size (stack->own.watch, stack->own.watch->len + 1);
  watch_set (watch_top (stack), self, node);
}

KnownNode *
watch_node (Stack *stack, SatinSlot_ *self)
{
  Watch *top = watch_top (stack);

  return top != NULL && top->self == self ? top->node : NULL;
}

/* Puts the limit behind the children of the deepest watched frame that has an entry below it. So
 * the children of `self`, which lie above, take the fast path. If `self` is that frame, its
 * children take the slow path. */
static void
set_limit (Stack *stack, SatinSlot_ *self)
{
  Watch *top = watch_top (stack);
  SatinSlot_ *first;

  stack->own.limit = stack->memory.slots;
  if (top != NULL && !top->below)
    top = stack->own.watch->len > 1 ? top - 1 : NULL;
  if (top == NULL || self == NULL)
    return;
  if (top->self == self)
    {
      stack->own.limit = STACK_ALL;
      return;
    }
  first = (slot_parent (top->self) & PARENT_ORIGIN) ? top->self + 1
                                                    : slot_family_end (top->self, self + 1);
  stack->own.limit = slot_family_end (first, self + 1);
}

void
watch_end (Stack *stack, SatinSlot_ *self, gboolean finished)
{
  Watch *top = watch_top (stack);

  if (top == NULL)
    return;
  for (; top != NULL && (self == NULL || top->self > self); top = watch_top (stack))
    {
      if (finished)
        cover_watched (stack->engine, stack, top);
      watch_pop (stack);
    }
  set_limit (stack, self);
  stack_set_guard (stack);
}

void
watch_settle (Stack *stack, SatinSlot_ *self)
{
  watch_end (stack, self, TRUE);
}

/* Watches frame number `i` of the spine with this node; NULL: with the node that it has, if any.
 * Releases the node. Returns the node of the frame; NULL: it is not watched. */
static KnownNode *
watch_renew (Stack *stack, guint i, SatinSlot_ *self, KnownNode *node)
{
  Engine *engine = stack->engine;
  Watch *watch = i < stack->own.watch->len ? &g_array_index (stack->own.watch, Watch, i) : NULL;
  KnownNode *before = watch != NULL ? watch->node : NULL;

  pthread_mutex_lock (&engine->known.lock);
  if (watch != NULL)
    watch_set (watch, self, node != NULL ? node : before);
  else if (node != NULL)
    watch_push (stack, self, node);
  known_release (engine->known.trie, before);
  known_release (engine->known.trie, node);
  pthread_mutex_unlock (&engine->known.lock);
  return node != NULL ? node : before;
}

void
watch_begin (Stack *stack, SatinSlot_ *job)
{
  SatinSlot_ *below = stack_below (stack, job);

  /* The watch list has no gaps. If the job below is not watched while there is an entry here, news
   * is on its way to this stack, and watch_news will find both. */
  if (known_here_is_empty (&stack->engine->known)
      || (below != NULL && watch_node (stack, below) == NULL)
      || watch_renew (stack, stack->own.watch->len, job, keep_node (stack, job, FALSE)) == NULL)
    return;
  set_limit (stack, job);
  stack_set_guard (stack);
}

void
watch_child (Stack *stack, SatinSlot_ *child, guint32 number)
{
  KnownNode *node;

  pthread_mutex_lock (&stack->engine->known.lock);
  node = known_child (stack->engine->known.trie, watch_top (stack)->node, number);
  if (node != NULL)
    watch_push (stack, child, node);
  pthread_mutex_unlock (&stack->engine->known.lock);
  stack->own.limit = node != NULL && watch_top (stack)->below ? STACK_ALL : child + 1;
  stack_set_guard (stack);
}

/* The trie node of `self`, a job of the spine; kept. `under`: the node of the job under it, which
 * is watched. */
static KnownNode *
news_node (Stack *stack, SatinSlot_ *self, KnownNode *under)
{
  Engine *engine = stack->engine;
  KnownNode *node;

  if (slot_parent (self) & PARENT_ORIGIN)
    return keep_node (stack, self, FALSE);
  pthread_mutex_lock (&engine->known.lock);
  node = known_keep (known_child (engine->known.trie, under, slot_number (stack, self)));
  pthread_mutex_unlock (&engine->known.lock);
  return node;
}

void
watch_news (Stack *stack, SatinSlot_ *self, SatinSlot_ *top)
{
  g_autoptr (GPtrArray) spine = trace_spine (stack, self);
  KnownNode *node = NULL;
  SatinSlot_ *base = stack->memory.slots;

  watch_settle (stack, self);
  for (guint i = 0; i < spine->len; i++)
    {
      SatinSlot_ *job = spine->pdata[spine->len - 1 - i];
      SatinSlot_ *next = i + 1 < spine->len ? spine->pdata[spine->len - 2 - i] : NULL;
      Late late = { .stack = stack, .top = top, .running = next };

      if (slot_parent (job) & PARENT_ORIGIN)
        base = job + 1;
      late.first = base;
      while (base < top && slot_has_parent (base, job))
        base++;
      late.top = base;
      late.first = keep_first (late.first, base, &late.number);
      node = watch_renew (stack, i, job, news_node (stack, job, node));
      if (node == NULL)
        break;
      tell_late (&late, node);
    }
  set_limit (stack, self);
  stack_set_guard (stack);
}
