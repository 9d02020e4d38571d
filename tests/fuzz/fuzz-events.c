/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of three to six nodes. Two bytes are an event that a driver or engine may raise then
 * (node.h), a fault, or a delivery in any order of links. node_check_invariants runs after each. */
#include "fuzz.h"

#include "unit/node-world.h"

#include <string.h>

#define JOINED_MAX 6
#define EVENTS_MAX 2000
#define SUBJECTS 4 /* children of one job */

const char fuzz_name[] = "events";

/* An effect that the driver or the engine of a node still has to answer. */
typedef struct
{
  NodeEffectKind kind;
  guint64 held, number;
  char *path;
  gboolean final;
} Answer;

typedef struct
{
  GQueue answers;    /* of Answer */
  GPtrArray *slots;  /* of Loan: the slots for which its jobs wait */
  GHashTable *known; /* path -> NodeId of its holder */
  gboolean main_runs, is_coordinator, halted;
  guint64 saves, scans;
} Engine;

typedef struct
{
  World *world;
  Engine engine[JOINED_MAX];
  guint64 generation;
} Fuzz;

static Fuzz fuzz;

static void
answer_free (Answer *answer)
{
  g_free (answer->path);
  g_free (answer);
}

static gboolean
take_loan (GPtrArray *loans, guint64 number)
{
  for (guint i = 0; i < loans->len; i++)
    if (((Loan *)loans->pdata[i])->loan == number)
      return g_ptr_array_remove_index (loans, i) != NULL;
  return FALSE;
}

static gboolean
is_of (gpointer path, gpointer holder, gpointer of)
{
  const NodeEffect *effect = of;
  gboolean same = effect->path == NULL || g_str_equal (path, effect->path);

  return same && (effect->path != NULL || memcmp (holder, &effect->node, sizeof (NodeId)) == 0);
}

static void
owe (Engine *engine, const NodeEffect *effect, gboolean final)
{
  Answer *answer = g_new0 (Answer, 1);

  *answer = (Answer){ effect->kind, effect->held, engine->scans, g_strdup (effect->path), final };
  g_queue_push_tail (&engine->answers, answer);
}

static void
end_main (Engine *engine)
{
  for (GList *at = engine->answers.head, *next; at != NULL; at = next)
    {
      Answer *answer = at->data;
      next = at->next;
      if (answer->kind != NODE_EFFECT_MASTER && answer->kind != NODE_EFFECT_RESULT)
        continue;
      answer_free (answer);
      g_queue_delete_link (&engine->answers, at);
    }
}

static void
watch (World *world, guint who, const NodeEffect *effect)
{
  Engine *engine = &fuzz.engine[who];

  engine->scans += effect->kind == NODE_EFFECT_SCAN;
  switch (effect->kind)
    {
    case NODE_EFFECT_MASTER:
      engine->main_runs = TRUE;
      owe (engine, effect, FALSE);
      break;
    case NODE_EFFECT_DEPOSED:
      engine->main_runs = FALSE;
      end_main (engine);
      break;
    case NODE_EFFECT_RESULT:
    case NODE_EFFECT_COORDINATOR:
    case NODE_EFFECT_SCAN:
    case NODE_EFFECT_HALT:
    case NODE_EFFECT_UNRUN:
    case NODE_EFFECT_SALVAGE:
    case NODE_EFFECT_TELL:
      owe (engine, effect, FALSE);
      break;
    case NODE_EFFECT_FINAL ... NODE_EFFECT_PUBLISH_IF_WORTH:
      owe (engine, effect, TRUE);
      break;
    case NODE_EFFECT_RETIRE:
      engine->is_coordinator = FALSE;
      break;
    case NODE_EFFECT_SAVE:
    case NODE_EFFECT_EVENT:
      engine->saves = effect->number;
      break;
    case NODE_EFFECT_PUT:
    case NODE_EFFECT_BACK:
      (void)take_loan (engine->slots, effect->loan);
      break;
    case NODE_EFFECT_KNOWN:
      g_hash_table_replace (engine->known, g_strdup (effect->path),
                            g_memdup2 (&effect->node, sizeof effect->node));
      break;
    case NODE_EFFECT_FORGET:
      g_hash_table_foreach_remove (engine->known, is_of, (gpointer)effect);
      break;
    case NODE_EFFECT_END:
    case NODE_EFFECT_LEAVE:
    case NODE_EFFECT_REFUSED:
      die (world, who);
      break;
    default:
      break;
    }
}

/* The job number `n` of those that run on this node; NULL if none runs. */
static const Loan *
running (const Peer *peer, guint n, guint64 *held)
{
  g_autoptr (GList) keys = g_hash_table_get_keys (peer->running);
  guint64 best = 0, floor = 0;

  for (guint i = 0; keys != NULL && i <= n % g_list_length (keys); i++, floor = best)
    {
      best = G_MAXUINT64;
      for (GList *at = keys; at != NULL; at = at->next)
        if (*(guint64 *)at->data > floor)
          best = MIN (best, *(guint64 *)at->data);
    }
  *held = best;
  return keys == NULL ? NULL : g_hash_table_lookup (peer->running, &best);
}

static gboolean
is_below (const char *path, const char *above)
{
  gsize length = strlen (above);

  return strncmp (path, above, length) == 0 && path[length] == '/';
}

/* Aborts the slots below the job `path`, whose results nobody wants any more. */
static void
abort_below (guint who, const char *path)
{
  Peer *peer = &fuzz.world->peer[who];
  GPtrArray *slots = fuzz.engine[who].slots;

  for (guint i = slots->len; i-- > 0;)
    {
      const Loan *slot = i < slots->len ? slots->pdata[i] : NULL;
      guint64 number = slot != NULL && is_below (slot->path, path) ? slot->loan : 0;
      if (number != 0 && take_loan (slots, number) && !take_loan (peer->jobs, number))
        step (fuzz.world, who, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = number });
    }
}

/* Ends a job of this node, with a result or without. */
static void
end_job (guint who, guint64 held, gboolean done)
{
  Peer *peer = &fuzz.world->peer[who];
  g_autoptr (GBytes) value = g_bytes_new_static ("42", 2);
  const Loan *job = g_hash_table_lookup (peer->running, &held);

  if (job == NULL)
    return;
  g_autofree char *path = g_strdup (job->path);
  g_hash_table_remove (peer->running, &held);
  abort_below (who, path);
  step (fuzz.world, who,
        &(NodeEvent){ .kind = done ? NODE_EVENT_DONE : NODE_EVENT_UNRUN,
                      .held = held,
                      .bytes = done ? value : NULL,
                      .work_us = 5 });
}

static void
spawn (guint who, guint n)
{
  Peer *peer = &fuzz.world->peer[who];
  Engine *engine = &fuzz.engine[who];
  guint64 held;
  const Loan *job = running (peer, n / SUBJECTS, &held);

  if (job == NULL || engine->halted)
    return;
  g_autofree char *path = g_strdup_printf ("%s/%u", job->path, n % SUBJECTS);
  for (guint i = 0; i < engine->slots->len; i++)
    if (g_str_equal (((Loan *)engine->slots->pdata[i])->path, path))
      return;
  const NodeId *holder = g_hash_table_lookup (engine->known, path);
  NodeId node = holder != NULL ? *holder : (NodeId){ 0 };
  Digest digest = digest_of_string (path);
  guint64 number = holder == NULL ? offer (fuzz.world, who, path) : ++peer->loans;
  g_ptr_array_add (engine->slots, loan_new (number, path, 1, &digest, 0.5, NULL));
  if (holder != NULL)
    step (fuzz.world, who,
          &(NodeEvent){ .kind = NODE_EVENT_ADOPT,
                        .loan = number,
                        .path = path,
                        .digest = digest,
                        .node = node });
}

static void
report_row (guint who, guint n)
{
  guint64 held;
  const Loan *job = running (&fuzz.world->peer[who], n / SUBJECTS, &held);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_autoptr (GBytes) value = g_bytes_new_static ("42", 2);

  if (job == NULL || fuzz.engine[who].halted)
    return;
  g_autofree char *path = g_strdup_printf ("%s/%u", job->path, n % SUBJECTS);
  Digest digest = digest_of_string (path);
  g_ptr_array_add (rows, row_new (path, 1, &digest, 0.5, 10, value));
  step (fuzz.world, who, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = 5 });
}

static void
say_work (guint who)
{
  g_autoptr (GArray) progress = g_array_new (FALSE, TRUE, sizeof (NodeProgress));
  g_autoptr (GList) keys = g_hash_table_get_keys (fuzz.world->peer[who].running);

  for (GList *at = keys; at != NULL; at = at->next)
    {
      NodeProgress one = { .held = *(guint64 *)at->data, .risk_us = 3, .busy = 1 };
      g_array_append_val (progress, one);
    }
  step (fuzz.world, who,
        &(NodeEvent){ .kind = NODE_EVENT_WORK,
                      .work_us = fuzz.world->now_us / 2,
                      .count = MIN (progress->len, 2),
                      .progress = progress });
}

static void
start_root (guint who)
{
  Digest digest = digest_of_string ("");
  g_autoptr (Loan) root = loan_new (0, "", 0, &digest, 1, NULL);

  if (fuzz.engine[who].main_runs)
    step (fuzz.world, who, &(NodeEvent){ .kind = NODE_EVENT_ROOT, .job = root });
}

static void
publish (guint who, gboolean final)
{
  if (fuzz.engine[who].is_coordinator)
    step (fuzz.world, who,
          &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED,
                        .number = ++fuzz.generation,
                        .saved = fuzz.engine[who].saves,
                        .final = final });
}

/* Gives the oldest answer that this node's driver or engine owes. */
static void
give_answer (guint who)
{
  Engine *engine = &fuzz.engine[who];
  Answer *answer = g_queue_pop_head (&engine->answers);
  NodeEvent event = { 0 };
  g_autoptr (GPtrArray) none = g_ptr_array_new ();

  if (answer == NULL)
    return;
  switch (answer->kind)
    {
    case NODE_EFFECT_MASTER:
      start_root (who);
      break;
    case NODE_EFFECT_UNRUN:
      end_job (who, answer->held, FALSE);
      break;
    case NODE_EFFECT_TELL:
      say_work (who);
      break;
    case NODE_EFFECT_FINAL ... NODE_EFFECT_PUBLISH_IF_WORTH:
      publish (who, TRUE);
      break;
    case NODE_EFFECT_COORDINATOR:
      engine->is_coordinator = TRUE;
      event = (NodeEvent){ .kind = NODE_EVENT_OPENED, .number = fuzz.generation };
      step (fuzz.world, who, &event);
      break;
    case NODE_EFFECT_RESULT:
      event = (NodeEvent){ .kind = NODE_EVENT_FINISH };
      if (engine->main_runs)
        step (fuzz.world, who, &event);
      break;
    case NODE_EFFECT_SCAN:
      event = (NodeEvent){ .kind = NODE_EVENT_SERVED, .number = answer->number, .work_us = 10 };
      step (fuzz.world, who, &event);
      break;
    case NODE_EFFECT_HALT:
      engine->halted = TRUE;
      event = (NodeEvent){ .kind = NODE_EVENT_HALTED };
      step (fuzz.world, who, &event);
      break;
    case NODE_EFFECT_SALVAGE:
      event = (NodeEvent){
        .kind = NODE_EVENT_RESTORED, .path = answer->path, .rows = none, .final = TRUE
      };
      step (fuzz.world, who, &event);
      break;
    default:
      g_assert_not_reached ();
    }
  answer_free (answer);
}

/* Delivers the first message of one link, even if older ones wait on other links. */
static void
deliver_some (guint n)
{
  GQueue *posts = fuzz.world->posts;
  const Post *chosen = posts->length > 0 ? g_queue_peek_nth (posts, n % posts->length) : NULL;

  for (GList *at = posts->head; at != NULL && chosen != NULL; at = at->next)
    {
      const Post *one = at->data;
      if (one->to != chosen->to || one->link != chosen->link)
        continue;
      (void)pump_one (fuzz.world, at);
      return;
    }
}

/* Breaks a link. The messages on it are lost. */
static void
reset_link (guint n)
{
  World *world = fuzz.world;
  guint64 link = world->wires->len > 0 ? n % world->wires->len + 1 : 0;

  for (GList *at = world->posts->head, *next; at != NULL && link != 0; at = next)
    {
      Post *one = at->data;
      next = at->next;
      if (one->link != link || one->kind != NODE_EVENT_MESSAGE)
        continue;
      g_bytes_unref (one->bytes);
      g_free (one);
      g_queue_delete_link (world->posts, at);
    }
  if (link != 0)
    break_link (world, link);
}

static void
add_engine (guint who)
{
  Engine *engine = &fuzz.engine[who];

  *engine = (Engine){ .slots = g_ptr_array_new_with_free_func ((GDestroyNotify)loan_free) };
  engine->known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_queue_init (&engine->answers);
}

static void
join_one (void)
{
  if (fuzz.world->n == JOINED_MAX)
    return;
  add_engine (fuzz.world->n);
  add_peer (fuzz.world, FALSE);
}

/* Fires the earliest timer of all nodes, or lets some time pass. */
static void
tick (guint n)
{
  World *world = fuzz.world;
  guint who = NODES_MAX;

  for (guint i = 0; i < world->n; i++)
    if (world->peer[i].alive && world->peer[i].timer_us != G_MAXUINT64
        && (who == NODES_MAX || world->peer[i].timer_us < world->peer[who].timer_us))
      who = i;
  if (n % 2 == 1)
    world->now_us += 100 << n / 2 % 20;
  else if (who != NODES_MAX)
    {
      world->now_us = MAX (world->now_us, world->peer[who].timer_us);
      world->peer[who].timer_us = G_MAXUINT64;
      step (world, who, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
    }
}

/* An event from a node's driver, its engine or a command. */
static void
node_event (guint8 what, guint who, guint n)
{
  World *world = fuzz.world;
  guint64 held;
  const Loan *job = running (&world->peer[who], n, &held);

  switch (what % 8)
    {
    case 0:
      spawn (who, n);
      break;
    case 1:
      if (job != NULL && !fuzz.engine[who].halted)
        end_job (who, held, TRUE);
      break;
    case 2:
      step (world, who, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = n % 3 });
      break;
    case 3:
      give_answer (who);
      break;
    case 4:
      report_row (who, n);
      break;
    case 5:
      say_work (who);
      break;
    case 6:
      publish (who, FALSE);
      break;
    default:
      if (n % 8 == 0)
        step (world, who, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
      else if (n % 8 == 1)
        step (world, who, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
      else if (n % 8 == 2)
        step (world, who, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND });
      else if (n % 8 == 3 && job != NULL)
        {
          g_autofree char *path = g_strdup (job->path);
          step (world, who,
                &(NodeEvent){ .kind = NODE_EVENT_CRASH_REPORT, .path = path, .text = "abort" });
          die (world, who);
        }
      else if (n % 8 == 4 && job != NULL)
        {
          g_autofree char *path = g_strdup (job->path);
          step (world, who, &(NodeEvent){ .kind = NODE_EVENT_CRASH_REPORT,
                                          .path = path,
                                          .text = "no row",
                                          .final = TRUE });
        }
      break;
    }
}

static void
fault (guint8 what, guint who, guint n)
{
  World *world = fuzz.world;

  switch (what % 8)
    {
    case 0:
      die (world, who);
      break;
    case 1:
      reset_link (n);
      break;
    case 2:
      cut (world, who, n % world->n);
      break;
    case 3:
      part (world, n % world->n);
      break;
    case 4:
      world->peer[who].late = !world->peer[who].late;
      break;
    case 5:
      join_one ();
      break;
    case 6:
      world->peer[who].trouble = n % 2 == 0 ? "no route" : NULL;
      break;
    default:
      if (world->wires->len > 0)
        g_array_index (world->wires, Wire, n % world->wires->len).mute = TRUE;
      break;
    }
}

GBytes *
fuzz_seed (guint n)
{
  /* The root starts and spawns three jobs; n1 and n2 are idle, steal and answer; n1 is told to
   * leave. */
  static const guint8 quiet[][2]
      = { { 0, 0x83 }, { 0, 0x83 }, { 4, 0x82 }, { 5, 0x82 }, { 0, 0x80 }, { 3, 0x80 }, { 6, 0x80 },
          { 0, 0x40 }, { 0, 0x60 }, { 1, 0x80 }, { 2, 0x84 }, { 1, 0x85 }, { 2, 0x81 }, { 0, 0x40 },
          { 0, 0x86 }, { 1, 0x81 }, { 4, 0x87 }, { 0, 0x40 }, { 1, 0x83 }, { 0, 0x83 }, { 0, 0x40 },
          { 0, 0x81 }, { 0, 0x40 }, { 0, 0x83 }, { 0, 0x83 }, { 60, 0x60 } };
  if (n < 2)
    {
      guint8 *data = g_malloc (1 + sizeof quiet);
      data[0] = (guint8)n;
      memcpy (data + 1, quiet, sizeof quiet);
      return g_bytes_new_take (data, 1 + sizeof quiet);
    }
  if (n == 40)
    return NULL;
  gsize size = 100 + 20 * n;
  guint8 *data = g_malloc (size);
  g_autoptr (GRand) rand = g_rand_new_with_seed (n);
  for (gsize i = 0; i < size; i++)
    data[i] = (guint8)g_rand_int (rand);
  for (gsize i = 1; i + 1 < size && n % 2 == 0; i += 2) /* few faults */
    data[i + 1] = data[i + 1] >= 0xf0 ? 0x40 : data[i + 1];
  return g_bytes_new_take (data, size);
}

/* The first byte says whether the run has a checkpoint. Each event has two bytes: a node and a
 * number, and the kind of event. */
static void
run_events (const guint8 *data, gsize size)
{
  for (gsize i = 1; i + 1 < size && i < 2 * EVENTS_MAX; i += 2)
    {
      World *world = fuzz.world;
      guint who = data[i] % world->n, n = data[i] / world->n;
      guint8 what = data[i + 1];
      if (what >= 0x80 && !world->peer[who].alive)
        continue;
      if (what >= 0xf0)
        fault (what, who, n);
      else if (what >= 0x80)
        node_event (what, who, n);
      else if (what >= 0x60)
        pass (world, 1000 << n % 16);
      else if (what >= 0x50)
        tick (n);
      else if (what == 0x40)
        pump (world);
      else
        deliver_some (data[i]);
    }
}

void
fuzz_one (const guint8 *data, gsize size)
{
  gboolean checkpoint = size > 0 && data[0] % 2 == 1;
  NodeEffect master = { .kind = NODE_EFFECT_MASTER };
  NodeEffect coordinator = { .kind = NODE_EFFECT_COORDINATOR };

  fuzz = (Fuzz){ .world = world_new (3, checkpoint) };
  for (guint i = 0; i < 3; i++)
    add_engine (i);
  fuzz.world->watch = watch;
  watch (fuzz.world, 0, &master);
  if (checkpoint)
    watch (fuzz.world, 0, &coordinator);
  run_events (data, size);
  pass (fuzz.world, 60 * G_USEC_PER_SEC);
  for (guint i = 0; i < fuzz.world->n; i++)
    {
      g_queue_clear_full (&fuzz.engine[i].answers, (GDestroyNotify)answer_free);
      g_ptr_array_unref (fuzz.engine[i].slots);
      g_hash_table_unref (fuzz.engine[i].known);
    }
  world_free (fuzz.world);
}
