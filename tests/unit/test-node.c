/* SPDX-License-Identifier: BSD-3-Clause */
/* Two or three Nodes in one small world: links that deliver at once and in order, engines that only
 * write down what they are told, a clock that is moved by hand. What a node told its engine stands
 * in `log`, one line each. */
#include "satin/protocol/node.h"

#include "satin/protocol/message.h"
#include "satin/protocol/saves.h"
#include "satin/protocol/work.h"

#include <string.h>

#define NODES_MAX 8

typedef struct
{
  Node *node;
  gboolean alive, deaf; /* deaf: stands still, takes nothing in */
  GArray *effects;
  GString *log;
  guint64 timer_us;
  GPtrArray *jobs;     /* of Loan: what its engine has to lend */
  GHashTable *running; /* held -> Loan (copy) */
  guint64 loans;
  guint steals; /* STEAL messages sent */
  GBytes *result;
  GBytes *put; /* the last one */
  /* what its next bids say, and how many it made */
  guint64 commit_us, found;
  const char *trouble;
  guint bids;
  guint64 ended;
} Peer;

typedef struct
{
  guint end[2];
  gboolean up, mute; /* mute: half open, swallows everything */
} Wire;

typedef struct
{
  guint to;
  NodeEventKind kind;
  guint64 link, dial;
  gboolean dead;
  GBytes *bytes;
} Post;

typedef struct
{
  Peer peer[NODES_MAX];
  guint n;
  guint64 now_us;
  GArray *wires; /* of Wire; link number = index + 1 */
  GQueue *posts;
  Stems *stems;
  gboolean checkpoint;
  guint64 heartbeat_us, silence_us; /* 0: as usual */
  gboolean closed, invites;
} World;

static void step (World *world, guint who, const NodeEvent *event);

static void
post (World *world, Post one)
{
  g_queue_push_tail (world->posts, g_memdup2 (&one, sizeof one));
}

static void
carry_dial (World *world, guint who, const NodeEffect *effect)
{
  guint to = (guint)(effect->text[1] - '0');

  if (!world->peer[to].alive)
    {
      post (
          world,
          (Post){ .to = who, .kind = NODE_EVENT_DIAL_FAILED, .dial = effect->dial, .dead = TRUE });
      return;
    }
  Wire wire = { { who, to }, TRUE, FALSE };
  g_array_append_val (world->wires, wire);
  post (world, (Post){ .to = to, .kind = NODE_EVENT_LINK_UP, .link = world->wires->len });
  post (world, (Post){ .to = who,
                       .kind = NODE_EVENT_LINK_UP,
                       .link = world->wires->len,
                       .dial = effect->dial });
}

static GBytes *
join_parts (const GPtrArray *parts)
{
  g_autoptr (GByteArray) all = g_byte_array_new ();

  for (guint i = 0; i < parts->len; i++)
    g_byte_array_append (all, g_bytes_get_data (parts->pdata[i], NULL),
                         (guint)g_bytes_get_size (parts->pdata[i]));
  return g_byte_array_free_to_bytes (g_steal_pointer (&all));
}

static guint
other_end (World *world, guint64 link, guint who)
{
  const Wire *wire = &g_array_index (world->wires, Wire, link - 1);

  return wire->end[0] == who ? wire->end[1] : wire->end[0];
}

static void
carry_lend (World *world, guint who, const NodeEffect *effect)
{
  Peer *peer = &world->peer[who];
  g_autoptr (GPtrArray) lent = g_ptr_array_new_with_free_func ((GDestroyNotify)loan_free);

  while (peer->jobs->len > 0 && lent->len < effect->count)
    g_ptr_array_add (lent, g_ptr_array_steal_index (peer->jobs, 0));
  step (world, who, &(NodeEvent){ .kind = NODE_EVENT_LENT, .node = effect->node, .loans = lent });
}

static void
carry_send (World *world, guint who, const NodeEffect *effect)
{
  g_autoptr (GBytes) bytes = join_parts (effect->parts);
  g_auto (Message) message = { 0 };

  g_assert_true (message_decode (bytes, &message, NULL));
  world->peer[who].steals += message.kind == MESSAGE_STEAL;
  if (g_array_index (world->wires, Wire, effect->link - 1).up
      && !g_array_index (world->wires, Wire, effect->link - 1).mute)
    post (world, (Post){ .to = other_end (world, effect->link, who),
                         .kind = NODE_EVENT_MESSAGE,
                         .link = effect->link,
                         .bytes = g_steal_pointer (&bytes) });
}

static void
carry_bid (World *world, guint who)
{
  Peer *peer = &world->peer[who];

  peer->bids++;
  step (world, who,
        &(NodeEvent){ .kind = NODE_EVENT_BID,
                      .work_us = peer->commit_us,
                      .number = peer->found,
                      .failed = peer->trouble != NULL,
                      .text = peer->trouble });
}

static const char *const lines[] = {
  [NODE_EFFECT_JOINED] = "JOINED\n",   [NODE_EFFECT_MASTER] = "MASTER\n",
  [NODE_EFFECT_DEPOSED] = "DEPOSED\n", [NODE_EFFECT_COORDINATOR] = "COORDINATOR\n",
  [NODE_EFFECT_START] = "START\n",     [NODE_EFFECT_SALVAGE] = "SALVAGE\n",
  [NODE_EFFECT_HALT] = "HALT\n",       [NODE_EFFECT_FINAL] = "FINAL\n",
  [NODE_EFFECT_TELL] = "TELL\n",       [NODE_EFFECT_BEST] = "BEST\n",
  [NODE_EFFECT_RESULT] = "RESULT\n",   [NODE_EFFECT_UNRUN] = "UNRUN\n",
  [NODE_EFFECT_OWE] = "OWE\n",         [NODE_EFFECT_LEAVE] = "LEAVE\n",
  [NODE_EFFECT_STAYED] = "STAYED\n",   [NODE_EFFECT_RETIRE] = "RETIRE\n",
  [NODE_EFFECT_ANSWER] = "ANSWER\n",   [NODE_EFFECT_WARN] = "WARN\n",
  [NODE_EFFECT_REFUSED] = "REFUSED\n",
};

static void
carry (World *world, guint who, const NodeEffect *effect)
{
  Peer *peer = &world->peer[who];

  switch (effect->kind)
    {
    case NODE_EFFECT_SEND:
      carry_send (world, who, effect);
      break;
    case NODE_EFFECT_DIAL:
      carry_dial (world, who, effect);
      break;
    case NODE_EFFECT_CLOSE:
      g_array_index (world->wires, Wire, effect->link - 1).up = FALSE;
      if (!g_array_index (world->wires, Wire, effect->link - 1).mute)
        post (world, (Post){ .to = other_end (world, effect->link, who),
                             .kind = NODE_EVENT_LINK_DOWN,
                             .link = effect->link });
      break;
    case NODE_EFFECT_TIMER:
      peer->timer_us = effect->at_us;
      break;
    case NODE_EFFECT_BID:
      carry_bid (world, who);
      break;
    case NODE_EFFECT_SCAN:
      g_string_append (peer->log, effect->whole ? "SCAN whole\n" : "SCAN\n");
      break;
    case NODE_EFFECT_LEND:
      carry_lend (world, who, effect);
      break;
    case NODE_EFFECT_RUN:
      g_string_append_printf (peer->log, "RUN %s\n", effect->job->path);
      g_hash_table_insert (peer->running, g_memdup2 (&effect->held, 8), loan_copy (effect->job));
      break;
    case NODE_EFFECT_PUT:
      g_string_append_printf (peer->log, "PUT %d\n", (int)effect->loan);
      g_clear_pointer (&peer->put, g_bytes_unref);
      peer->put = g_bytes_ref (effect->bytes);
      break;
    case NODE_EFFECT_BACK:
      g_string_append_printf (peer->log, "BACK %d\n", (int)effect->loan);
      break;
    case NODE_EFFECT_KNOWN:
      g_string_append_printf (peer->log, "KNOWN %s%s\n", effect->path,
                              effect->finished ? " finished" : "");
      break;
    case NODE_EFFECT_FORGET:
      g_string_append_printf (peer->log, "FORGET %s\n", effect->path != NULL ? effect->path : "*");
      break;
    case NODE_EFFECT_CONSTANT:
      g_string_append_printf (peer->log, "CONSTANT %s\n", effect->text);
      break;
    case NODE_EFFECT_SAVE:
      for (guint i = 0; i < effect->rows->len; i++)
        g_string_append_printf (peer->log, "SAVE %s\n", ((Row *)effect->rows->pdata[i])->path);
      break;
    case NODE_EFFECT_END:
      g_string_append (peer->log, "END\n");
      peer->ended = effect->number;
      break;
    default:
      if (effect->kind < G_N_ELEMENTS (lines) && lines[effect->kind] != NULL)
        g_string_append (peer->log, lines[effect->kind]);
      break;
    }
}

static void
step (World *world, guint who, const NodeEvent *event)
{
  Peer *peer = &world->peer[who];
  g_autoptr (GArray) effects = g_array_new (FALSE, TRUE, sizeof (NodeEffect));

  g_array_set_clear_func (effects, (GDestroyNotify)node_effect_clear);
  node_step (peer->node, world->now_us, event, effects);
  node_check_invariants (peer->node);
  for (guint i = 0; i < effects->len; i++)
    carry (world, who, &g_array_index (effects, NodeEffect, i));
}

static void
pump (World *world)
{
  Post *one;

  while ((one = g_queue_pop_head (world->posts)) != NULL)
    {
      Peer *peer = &world->peer[one->to];
      if (peer->alive && !peer->deaf)
        step (world, one->to,
              &(NodeEvent){ .kind = one->kind,
                            .link = one->link,
                            .dial = one->dial,
                            .dead = one->dead,
                            .bytes = one->bytes });
      g_clear_pointer (&one->bytes, g_bytes_unref);
      g_free (one);
    }
}

/* Lets time pass, timer by timer. */
static void
pass (World *world, guint64 us)
{
  guint64 end = world->now_us + us;

  pump (world);
  for (;;)
    {
      guint who = NODES_MAX;
      for (guint i = 0; i < world->n; i++)
        if (world->peer[i].alive && !world->peer[i].deaf && world->peer[i].timer_us <= end
            && (who == NODES_MAX || world->peer[i].timer_us < world->peer[who].timer_us))
          who = i;
      if (who == NODES_MAX)
        break;
      world->now_us = MAX (world->now_us, world->peer[who].timer_us);
      world->peer[who].timer_us = G_MAXUINT64;
      step (world, who, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
      pump (world);
    }
  world->now_us = end;
}

static void
add_peer (World *world, gboolean solo)
{
  guint who = world->n++;
  Peer *peer = &world->peer[who];
  g_autofree char *address = g_strdup_printf ("n%u", who);
  NodeConfig config = { .founder = who == 0,
                        .address = solo ? NULL : address,
                        .host = "host",
                        .pid = 100 + who,
                        .workers = 2,
                        .n_bests = 1,
                        .program = digest_of_string ("program"),
                        .checkpoint = world->checkpoint,
                        .heartbeat_us = world->heartbeat_us,
                        .silence_us = world->silence_us,
                        .closed = world->closed,
                        .invited = world->invites,
                        .save_interval_us = G_USEC_PER_SEC,
                        .stems = world->stems,
                        .seed = 7 + who };

  *peer = (Peer){ .node = node_new (&config),
                  .alive = TRUE,
                  .log = g_string_new (NULL),
                  .timer_us = G_MAXUINT64,
                  .ended = 999 };
  peer->jobs = g_ptr_array_new_with_free_func ((GDestroyNotify)loan_free);
  peer->running
      = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)loan_free);
  step (world, who, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
  if (who > 0)
    step (world, who, &(NodeEvent){ .kind = NODE_EVENT_JOIN, .text = "n0" });
  pump (world);
}

static World *
world_new (guint n, gboolean checkpoint)
{
  World *world = g_new0 (World, 1);

  world->now_us = 1000000;
  world->checkpoint = checkpoint;
  world->stems = stems_new ();
  world->wires = g_array_new (FALSE, TRUE, sizeof (Wire));
  world->posts = g_queue_new ();
  for (guint i = 0; i < n; i++)
    add_peer (world, n == 1);
  pass (world, 10);
  return world;
}

static void
world_free (World *world)
{
  for (guint i = 0; i < world->n; i++)
    {
      node_free (world->peer[i].node);
      g_string_free (world->peer[i].log, TRUE);
      g_ptr_array_unref (world->peer[i].jobs);
      g_hash_table_unref (world->peer[i].running);
      g_clear_pointer (&world->peer[i].put, g_bytes_unref);
    }
  pump (world);
  g_queue_free (world->posts);
  g_array_unref (world->wires);
  stems_free (world->stems);
  g_free (world);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (World, world_free)

/* ---- what happens in a test ---- */

static void
tell (World *world, guint who, const NodeEvent *event)
{
  step (world, who, event);
  pump (world);
}

static void
die (World *world, guint who)
{
  world->peer[who].alive = FALSE;
  for (guint i = 0; i < world->wires->len; i++)
    {
      Wire *wire = &g_array_index (world->wires, Wire, i);
      if (!wire->up || (wire->end[0] != who && wire->end[1] != who))
        continue;
      wire->up = FALSE;
      post (world, (Post){ .to = other_end (world, i + 1, who),
                           .kind = NODE_EVENT_LINK_DOWN,
                           .link = i + 1 });
    }
}

static void
cut (World *world, guint a, guint b)
{
  for (guint i = 0; i < world->wires->len; i++)
    {
      Wire *wire = &g_array_index (world->wires, Wire, i);
      if (!wire->up || wire->end[0] + wire->end[1] != a + b
          || (wire->end[0] != a && wire->end[0] != b))
        continue;
      wire->up = FALSE;
      post (world, (Post){ .to = a, .kind = NODE_EVENT_LINK_DOWN, .link = i + 1 });
      post (world, (Post){ .to = b, .kind = NODE_EVENT_LINK_DOWN, .link = i + 1 });
    }
}

static guint64
offer (World *world, guint who, const char *path)
{
  Digest digest = digest_of_string (path);
  guint64 number = ++world->peer[who].loans;

  g_ptr_array_add (world->peer[who].jobs, loan_new (number, path, 1, &digest, 0.5, NULL));
  return number;
}

static void
start (World *world)
{
  Digest digest = digest_of_string ("");
  g_autoptr (Loan) root = loan_new (0, "", 0, &digest, 1, NULL);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_ROOT, .job = root });
}

static void
hunger (World *world, guint who)
{
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_HUNGRY, .count = 1 });
  pass (world, 2000000);
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_HUNGRY, .count = 0 });
}

static guint64
held_of (World *world, guint who, const char *path)
{
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, world->peer[who].running);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (g_str_equal (((Loan *)value)->path, path))
      return *(guint64 *)key;
  g_assert_not_reached ();
}

static void
finish (World *world, guint who, const char *path)
{
  g_autoptr (GBytes) value = g_bytes_new ("42", 2);
  guint64 held = held_of (world, who, path);

  g_hash_table_remove (world->peer[who].running, &held);
  tell (world, who,
        &(NodeEvent){ .kind = NODE_EVENT_DONE, .held = held, .bytes = value, .work_us = 5 });
}

static void
adopt (World *world, guint who, const char *path, guint64 loan, guint holder)
{
  tell (world, who,
        &(NodeEvent){ .kind = NODE_EVENT_ADOPT,
                      .loan = loan,
                      .path = path,
                      .digest = digest_of_string (path),
                      .node = node_self (world->peer[holder].node) });
}

static gboolean
said (World *world, guint who, const char *line)
{
  g_auto (GStrv) all = g_strsplit (world->peer[who].log->str, "\n", -1);

  return g_strv_contains ((const char *const *)all, line);
}

static void
forget_log (World *world)
{
  for (guint i = 0; i < world->n; i++)
    g_string_truncate (world->peer[i].log, 0);
}

static NodeStats
stats_of (World *world, guint who)
{
  NodeStats stats;

  node_stats (world->peer[who].node, &stats);
  return stats;
}

static guint
members_of (World *world, guint who)
{
  g_autoptr (GArray) members = node_members (world->peer[who].node);

  return members->len;
}

/* ---- tests ---- */

static void
test_alone_it_founds_runs_and_ends (void)
{
  g_autoptr (World) world = world_new (1, FALSE);

  start (world);
  finish (world, 0, "");
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_FINISH, .number = 3 });

  g_assert_cmpstr (world->peer[0].log->str, ==, "JOINED\nMASTER\nSTART\nRUN \nRESULT\nEND\n");
  g_assert_cmpuint (world->peer[0].ended, ==, 3);
  g_assert_cmpuint (world->peer[0].timer_us, ==, G_MAXUINT64);
}

static void
test_with_a_checkpoint_the_root_waits_and_the_end_is_published (void)
{
  g_autoptr (World) world = world_new (1, TRUE);

  start (world);
  g_assert_false (said (world, 0, "RUN "));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  finish (world, 0, "");
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_FINISH });
  g_assert_true (said (world, 0, "SAVE "));
  g_assert_true (said (world, 0, "FINAL"));
  g_assert_false (said (world, 0, "END"));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 1, .final = TRUE });

  g_assert_cmpuint (world->peer[0].ended, ==, 0);
}

static guint
count_scans (World *world, guint64 us)
{
  guint n = 0;

  g_string_truncate (world->peer[0].log, 0);
  pass (world, us);
  for (const char *at = world->peer[0].log->str; (at = strstr (at, "SCAN")) != NULL; at++)
    n++;
  return n;
}

static void
test_scans_that_take_long_are_made_less_often (void)
{
  g_autoptr (World) world = world_new (1, TRUE);

  start (world);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  g_assert_cmpuint (count_scans (world, 10 * G_USEC_PER_SEC), ==, 10);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = 10, .work_us = 10000 });
  g_assert_cmpuint (count_scans (world, 10000 * SAVES_REST - 1), ==, 0);
  g_assert_cmpuint (count_scans (world, 1), ==, 1);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = 11, .work_us = 100 });
  g_assert_cmpuint (count_scans (world, 5 * G_USEC_PER_SEC), ==, 5);
}

static void
test_a_stolen_job_returns_and_nothing_is_left (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  guint64 loan = offer (world, 0, "/0");

  hunger (world, 1);
  g_assert_true (said (world, 1, "RUN /0"));
  g_assert_cmpuint (stats_of (world, 0).lent, ==, loan);
  finish (world, 1, "/0");

  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_cmpuint (stats_of (world, 0).lent, ==, 0);
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
}

static void
test_constants_come_before_work (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  g_autoptr (GBytes) value = g_bytes_new ("scene", 5);

  (void)offer (world, 0, "/0");
  hunger (world, 1);
  g_assert_false (said (world, 1, "RUN /0"));
  tell (world, 0,
        &(NodeEvent){ .kind = NODE_EVENT_CONSTANT, .text = "const/scene", .bytes = value });
  start (world);
  hunger (world, 1);

  g_assert_cmpstr (world->peer[1].log->str, ==, "JOINED\nCONSTANT const/scene\nSTART\nRUN /0\n");
}

static void
test_a_result_lost_with_its_link_is_sent_again (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);
  g_autoptr (GBytes) value = g_bytes_new ("42", 2);
  step (world, 1,
        &(NodeEvent){ .kind = NODE_EVENT_DONE, .held = held_of (world, 1, "/0"), .bytes = value });
  Post *lost = g_queue_pop_tail (world->posts);
  g_bytes_unref (lost->bytes);
  g_free (lost);

  cut (world, 0, 1);
  pass (world, 1000000);

  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
  g_assert_cmpuint (members_of (world, 0), ==, 2);
}

static void
test_a_job_lost_with_its_link_comes_back (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  step (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HUNGRY, .count = 1 });
  Post *request = g_queue_pop_head (world->posts);
  step (world, 0,
        &(NodeEvent){ .kind = NODE_EVENT_MESSAGE, .link = request->link, .bytes = request->bytes });
  g_bytes_unref (request->bytes);
  g_free (request);
  Post *lost = g_queue_pop_tail (world->posts); /* the reply with the job */
  g_bytes_unref (lost->bytes);
  g_free (lost);

  cut (world, 0, 1);
  pass (world, 1000000);

  g_assert_true (said (world, 0, "BACK 1"));
  g_assert_cmpuint (stats_of (world, 0).lent, ==, 0);
}

static void
test_what_a_dead_thief_held_comes_back (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);

  die (world, 1);
  pass (world, 1000000);

  g_assert_true (said (world, 0, "BACK 1"));
  g_assert_cmpuint (members_of (world, 0), ==, 1);
  g_assert_cmpuint (stats_of (world, 0).jobs_lost, ==, 1);
}

static void
test_an_orphan_is_adopted_while_it_runs (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 2);
  forget_log (world);

  die (world, 0);
  pass (world, 1000000);
  g_assert_true (said (world, 1, "MASTER"));
  g_assert_true (said (world, 1, "KNOWN /0"));
  g_assert_true (said (world, 2, "KNOWN /0"));
  adopt (world, 1, "/0", 9, 2);
  finish (world, 2, "/0");

  g_assert_true (said (world, 1, "PUT 9"));
  g_assert_cmpuint (stats_of (world, 2).held, ==, 0);
  g_assert_cmpuint (stats_of (world, 1).known, ==, 0);
}

static void
test_an_adopted_slot_comes_back_when_its_holder_dies (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 2);
  die (world, 0);
  pass (world, 1000000);
  adopt (world, 1, "/0", 9, 2);
  forget_log (world);

  die (world, 2);
  pass (world, 1000000);

  g_assert_cmpstr (world->peer[1].log->str, ==, "FORGET *\nBACK 9\n");
}

static void
test_an_own_orphan_is_adopted_by_its_own_holder (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);
  die (world, 0);
  pass (world, 1000000);
  forget_log (world);

  adopt (world, 1, "/0", 4, 1);
  finish (world, 1, "/0");

  g_assert_true (said (world, 1, "PUT 4"));
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
}

static void
test_a_miss_forgets_before_it_comes_back (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  forget_log (world);

  adopt (world, 0, "/7", 5, 1);
  g_assert_cmpstr (world->peer[0].log->str, ==, "FORGET /7\nBACK 5\n");
  forget_log (world);
  adopt (world, 0, "/7", 6, 0);

  g_assert_cmpstr (world->peer[0].log->str, ==, "FORGET /7\nBACK 6\n");
}

static void
test_what_is_covered_is_dropped (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  (void)offer (world, 0, "/0/1");
  hunger (world, 2);
  die (world, 0);
  pass (world, 1000000);
  forget_log (world);

  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_COVERED, .path = "/0" });
  g_assert_true (said (world, 2, "UNRUN"));
  g_assert_true (said (world, 1, "FORGET /0/1"));
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_UNRUN, .held = held_of (world, 2, "/0/1") });

  g_assert_cmpuint (stats_of (world, 2).held, ==, 0);
}

static void
stopped (World *world, guint who, const char *path)
{
  guint64 held = held_of (world, who, path);

  g_hash_table_remove (world->peer[who].running, &held);
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_UNRUN, .held = held });
}

static void
test_an_abort_stops_a_loan_and_what_it_lent (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  guint64 loan = offer (world, 0, "/0");
  hunger (world, 1);
  guint64 further = offer (world, 1, "/0/2");
  hunger (world, 2);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = loan });
  g_assert_true (said (world, 1, "UNRUN"));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = further });
  g_assert_true (said (world, 2, "UNRUN"));
  stopped (world, 2, "/0/2");
  stopped (world, 1, "/0");

  for (guint i = 1; i < 3; i++)
    g_assert_cmpuint (stats_of (world, i).held, ==, 0);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpuint (stats_of (world, i).lent, ==, 0);
      g_assert_false (said (world, i, "PUT 1"));
      g_assert_false (said (world, i, "BACK 1"));
    }
}

static void
test_a_late_result_of_an_aborted_job_is_dropped (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  guint64 loan = offer (world, 0, "/0");
  hunger (world, 1);

  step (world, 0, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = loan });
  finish (world, 1, "/0"); /* before it has heard of it */

  g_assert_false (said (world, 0, "PUT 1"));
  g_assert_cmpuint (stats_of (world, 0).lent, ==, 0);
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = loan }); /* said twice */
}

static void
test_an_abort_lost_with_its_link_is_made_good (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  guint64 loan = offer (world, 0, "/0");
  hunger (world, 1);

  step (world, 0, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = loan });
  while (!g_queue_is_empty (world->posts)) /* what was under way is lost */
    {
      Post *lost = g_queue_pop_head (world->posts);
      g_clear_pointer (&lost->bytes, g_bytes_unref);
      g_free (lost);
    }
  cut (world, 0, 1);
  pass (world, 2 * G_USEC_PER_SEC);

  g_assert_true (said (world, 1, "UNRUN"));
  stopped (world, 1, "/0");
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
}

static void
test_an_aborted_slot_lets_its_orphan_go (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  (void)offer (world, 0, "/0/1");
  hunger (world, 2);
  die (world, 0);
  pass (world, 1000000);
  adopt (world, 1, "/0/1", 9, 2);

  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = 9 });
  g_assert_true (said (world, 2, "UNRUN"));
  stopped (world, 2, "/0/1");

  g_assert_cmpuint (stats_of (world, 2).held, ==, 0);
  g_assert_cmpuint (stats_of (world, 1).lent, ==, 0);
  g_assert_true (said (world, 1, "FORGET /0/1"));
}

static void
test_a_job_with_a_live_lender_is_not_covered (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  (void)offer (world, 0, "/0/1");
  hunger (world, 1);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_COVERED, .path = "/0" });
  finish (world, 1, "/0/1");

  g_assert_true (said (world, 0, "PUT 1"));
}

static void
test_a_job_that_meets_its_own_slot_is_ready_there (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);
  (void)offer (world, 1, "/0"); /* out of its inbox */
  forget_log (world);

  hunger (world, 0);

  g_assert_true (said (world, 0, "BACK 1"));
  g_assert_false (said (world, 0, "RUN /0"));
  g_assert_true (said (world, 1, "BACK 1"));
  g_assert_true (said (world, 1, "UNRUN"));
  g_assert_cmpuint (stats_of (world, 0).lent + stats_of (world, 1).lent, ==, 0);
}

static void
test_a_job_returned_unrun_is_ready_again (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);

  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_UNRUN, .held = held_of (world, 1, "/0") });

  g_assert_true (said (world, 0, "BACK 1"));
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
}

static void
test_the_next_eldest_takes_over_when_all_elders_die_at_once (void)
{
  g_autoptr (World) world = world_new (4, FALSE);
  start (world);

  die (world, 0);
  die (world, 1);
  pass (world, 1000000);

  g_assert_true (said (world, 2, "MASTER"));
  g_assert_false (said (world, 3, "MASTER"));
  g_assert_cmpuint (members_of (world, 3), ==, 2);
}

static void
test_a_joiner_finds_the_new_master (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  die (world, 0);
  pass (world, 1000000);

  add_peer (world, FALSE); /* it only knows the dead one */
  pass (world, 1000000);
  g_assert_cmpuint (members_of (world, 3), ==, 0);
  tell (world, 3, &(NodeEvent){ .kind = NODE_EVENT_JOIN, .text = "n2" });
  pass (world, 10000000);

  g_assert_cmpuint (members_of (world, 3), ==, 3);
  g_assert_cmpuint (members_of (world, 1), ==, 3);
}

/* T1-7: silence is a crash like a broken link, and a false alarm costs time only. */
static void
test_one_that_slept_is_left_out_and_joins_again (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  (void)offer (world, 1, "/0");
  hunger (world, 2);
  world->peer[1].deaf = TRUE;
  pass (world, 60000000);
  g_assert_cmpuint (members_of (world, 0), ==, 2);
  forget_log (world);

  world->peer[1].deaf = FALSE;
  for (guint i = 0; i < world->wires->len; i++)
    if (!g_array_index (world->wires, Wire, i).up)
      post (world, (Post){ .to = 1, .kind = NODE_EVENT_LINK_DOWN, .link = i + 1 });
  pass (world, 10000000);

  g_assert_true (said (world, 1, "BACK 1"));
  g_assert_true (said (world, 1, "JOINED"));
  g_assert_true (said (world, 1, "KNOWN /0")); /* its thief holds it as an orphan */
  g_assert_cmpuint (members_of (world, 0), ==, 3);
}

static void
test_a_silent_one_is_looked_for_and_then_left_out (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  guint n_wires = world->wires->len;
  start (world);

  world->peer[2].deaf = TRUE;
  pass (world, NODE_SILENCE_US / 2 - NODE_HEARTBEAT_US);
  g_assert_cmpuint (world->wires->len, ==, n_wires);
  pass (world, 2 * NODE_HEARTBEAT_US);
  g_assert_cmpuint (world->wires->len, >, n_wires);
  pass (world, NODE_SILENCE_US / 2 - 2 * NODE_HEARTBEAT_US);
  g_assert_cmpuint (members_of (world, 0), ==, 3);
  pass (world, NODE_HEARTBEAT_US); /* no sooner, and no later: all of the limit has passed now */
  g_assert_cmpuint (members_of (world, 0), ==, 2);
  g_assert_cmpuint (members_of (world, 1), ==, 2);
  g_assert_cmpuint (stats_of (world, 0).silenced, ==, 1);
}

static void
test_a_closed_run_takes_in_whom_it_knows (void)
{
  g_autoptr (World) world = world_new (0, FALSE);
  world->closed = world->invites = TRUE;
  for (guint i = 0; i < 3; i++)
    add_peer (world, FALSE);
  pass (world, 10);
  start (world);
  g_assert_cmpuint (members_of (world, 0), ==, 3);

  world->invites = FALSE;
  add_peer (world, FALSE);
  pass (world, G_USEC_PER_SEC);
  g_assert_true (said (world, 3, "REFUSED"));
  g_assert_false (said (world, 3, "JOINED"));
  g_assert_cmpuint (members_of (world, 0), ==, 3);

  /* Somebody who was taken for dead. */
  world->peer[2].deaf = TRUE;
  pass (world, 2 * NODE_SILENCE_US);
  g_assert_cmpuint (members_of (world, 0), ==, 2);
  forget_log (world);
  world->peer[2].deaf = FALSE;
  for (guint i = 0; i < world->wires->len; i++)
    if (!g_array_index (world->wires, Wire, i).up)
      post (world, (Post){ .to = 2, .kind = NODE_EVENT_LINK_DOWN, .link = i + 1 });
  pass (world, 30000000);
  g_assert_true (said (world, 2, "JOINED"));
  g_assert_cmpuint (members_of (world, 0), ==, 3);
}

static void
test_a_half_open_link_costs_nobody_his_name (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 2);
  for (guint i = 0; i < world->wires->len; i++)
    g_array_index (world->wires, Wire, i).mute = TRUE;
  finish (world, 2, "/0");
  g_assert_false (said (world, 0, "PUT 1"));

  pass (world, 2 * NODE_SILENCE_US);

  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_cmpuint (members_of (world, 0), ==, 3);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (stats_of (world, i).silenced, ==, 0);
}

static void
test_a_run_may_have_less_patience (void)
{
  g_autoptr (World) world = world_new (0, FALSE);
  world->heartbeat_us = 100000;
  world->silence_us = 600000;
  for (guint i = 0; i < 3; i++)
    add_peer (world, FALSE);
  pass (world, 10);
  start (world);
  pass (world, 10 * world->silence_us);
  g_assert_cmpuint (members_of (world, 0), ==, 3);

  world->peer[1].deaf = TRUE;
  pass (world, world->silence_us - world->heartbeat_us);
  g_assert_cmpuint (members_of (world, 0), ==, 3);
  world->peer[1].deaf = FALSE; /* less than the limit: it costs nothing */
  pass (world, 2 * world->silence_us);
  g_assert_cmpuint (members_of (world, 0), ==, 3);
  world->peer[1].deaf = TRUE;
  pass (world, world->silence_us);
  g_assert_cmpuint (members_of (world, 0), ==, 2);
}

static void
test_a_master_that_slept_is_deposed (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  world->peer[0].deaf = TRUE;
  pass (world, 60000000);
  g_assert_true (said (world, 1, "MASTER"));
  forget_log (world);

  world->peer[0].deaf = FALSE;
  for (guint i = 0; i < world->wires->len; i++)
    if (!g_array_index (world->wires, Wire, i).up)
      post (world, (Post){ .to = 0, .kind = NODE_EVENT_LINK_DOWN, .link = i + 1 });
  pass (world, 10000000);

  g_assert_true (said (world, 0, "DEPOSED"));
  g_assert_true (said (world, 0, "JOINED"));
  g_assert_true (said (world, 1, "KNOWN ")); /* its root runs on and can be adopted */
  g_assert_cmpuint (members_of (world, 1), ==, 3);
}

static void
test_idleness_is_cheap (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HUNGRY, .count = 2 });

  pass (world, 20000000);

  g_assert_cmpuint (world->peer[1].steals, <, 30);
  g_assert_cmpuint (world->peer[1].steals, >, 10);
}

static void
test_a_refused_thief_is_told (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HUNGRY, .count = 1 });
  pass (world, 20000000); /* it has backed off by now */
  g_assert_true (said (world, 0, "OWE"));
  g_assert_cmpuint (g_hash_table_size (world->peer[1].running), ==, 0);

  (void)offer (world, 0, "/0");
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SHARED });

  g_assert_true (said (world, 1, "RUN /0")); /* at once */
}

static void
test_many_short_jobs_come_together (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  for (guint i = 0; i < 200; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u", i);
      (void)offer (world, 0, path);
    }
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HUNGRY, .count = 1 });

  for (guint i = 0; i < 200; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u", i);
      finish (world, 1, path);
      if (g_hash_table_size (world->peer[1].running) == 0)
        tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HUNGRY, .count = 1 });
    }

  g_assert_cmpuint (world->peer[1].steals, <, 20);
  g_assert_cmpuint (world->peer[0].jobs->len, ==, 0);
}

static void
test_long_jobs_come_one_by_one (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  const char *const paths[] = { "/0", "/1", "/2", "/3" };
  start (world);
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    (void)offer (world, 0, paths[i]);

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HUNGRY, .count = 1 });
      g_assert_cmpuint (g_hash_table_size (world->peer[1].running), ==, 1);
      pass (world, 1000000);
      finish (world, 1, paths[i]);
    }

  g_assert_cmpuint (world->peer[1].steals, ==, 4);
}

static void
test_garbage_closes_only_its_link (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  g_autoptr (GBytes) garbage = g_bytes_new ("\001garbage of some length ", 24);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_MESSAGE, .link = 1, .bytes = garbage });
  pass (world, 1000000);
  finish (world, 1, "/0");

  g_assert_false (g_array_index (world->wires, Wire, 0).up);
  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_cmpuint (members_of (world, 0), ==, 2);
}

static void
test_a_suspend_drains_everybody_first (void)
{
  g_autoptr (World) world = world_new (2, TRUE);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);
  finish (world, 1, "/0");

  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND });
  g_assert_true (said (world, 0, "HALT") && said (world, 1, "HALT"));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  g_assert_false (said (world, 0, "FINAL"));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  g_assert_true (said (world, 0, "FINAL"));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .final = TRUE });

  g_assert_cmpuint (world->peer[0].ended, ==, 75);
  g_assert_cmpuint (world->peer[1].ended, ==, 75);
}

static void
test_a_suspend_waits_as_long_as_it_was_told (void)
{
  g_autoptr (World) world = world_new (2, TRUE);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);

  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND, .number = 3 * G_USEC_PER_SEC });
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_false (said (world, 0, "FINAL"));
  pass (world, G_USEC_PER_SEC);
  g_assert_true (said (world, 0, "FINAL"));
}

static void
test_a_cancel_ends_everybody_at_once (void)
{
  g_autoptr (World) world = world_new (3, TRUE);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);

  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_CANCEL });

  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (world->peer[i].ended, ==, NODE_END_CANCELLED);
  g_assert_false (said (world, 0, "FINAL"));
}

/* What a node says of its work: of one held job, so much is at risk. */
static void
tell_work (World *world, guint who, guint64 held, guint64 risk_us, guint32 busy)
{
  NodeProgress item = { held, risk_us, busy };
  g_autoptr (GArray) progress = g_array_new (FALSE, FALSE, sizeof (NodeProgress));

  g_array_append_val (progress, item);
  tell (world, who,
        &(NodeEvent){ .kind = NODE_EVENT_WORK,
                      .work_us = risk_us,
                      .risk_us = risk_us,
                      .count = busy,
                      .progress = progress });
}

static void
test_a_lender_knows_what_its_holder_took_along (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);
  tell_work (world, 1, held_of (world, 1, "/0"), 700, 1);
  pass (world, 100);

  die (world, 1);
  pass (world, 1);

  g_assert_cmpuint (stats_of (world, 0).lost_us, ==, 800);
}

static void
test_who_had_no_time_to_tell_had_no_more_seats_than_it_has (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  for (guint i = 0; i < 3; i++)
    (void)offer (world, 0, ((const char *const[]){ "/0", "/1", "/2" })[i]);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HUNGRY, .count = 3 });
  g_assert_cmpuint (g_hash_table_size (world->peer[1].running), ==, 3);
  pass (world, 90);

  die (world, 1);
  pump (world);

  g_assert_cmpuint (stats_of (world, 0).lost_us, ==, 180); /* of two workers */
}

static void
test_what_comes_and_goes_at_once_is_told_at_once (void)
{
  g_autoptr (World) world = world_new (2, TRUE);
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) none = g_ptr_array_new ();
  NodeEvent rows = { .kind = NODE_EVENT_ROWS, .rows = none, .risk_us = WORK_MOVED_US / 2 };
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);

  tell (world, 1,
        &(NodeEvent){ .kind = NODE_EVENT_DONE,
                      .held = held_of (world, 1, "/0"),
                      .bytes = value,
                      .work_us = WORK_MOVED_US,
                      .risk_us = WORK_MOVED_US });
  g_assert_true (said (world, 0, "TELL")); /* its result came */
  tell (world, 1, &rows);
  g_assert_false (said (world, 1, "TELL"));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_WORK });
  tell (world, 1, &rows);
  g_assert_false (said (world, 1, "TELL"));
  tell (world, 1, &rows);
  g_assert_true (said (world, 1, "TELL"));

  g_string_truncate (world->peer[1].log, 0);
  tell (world, 1,
        &(NodeEvent){ .kind = NODE_EVENT_WORK,
                      .work_us = G_USEC_PER_SEC,
                      .risk_us = 2 * WORK_MOVED_US * WORK_MOVED_SHARE });
  for (guint i = 0; i < 3; i++)
    tell (world, 1, &rows);
  g_assert_false (said (world, 1, "TELL")); /* of so much that is little */
  tell (world, 1, &rows);
  g_assert_true (said (world, 1, "TELL"));
}

static void
test_rows_are_at_risk_until_they_are_published (void)
{
  g_autoptr (World) world = world_new (2, TRUE);
  Digest digest = digest_of_string ("/3");
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_ptr_array_add (rows, row_new ("/3", 1, &digest, 0.1, 50, value));

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = 50 });
  g_assert_cmpuint (stats_of (world, 1).unpublished_us, ==, 50);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 1, .saved = 0 });
  g_assert_cmpuint (stats_of (world, 1).unpublished_us, ==, 50);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 2, .saved = 1 });
  g_assert_cmpuint (stats_of (world, 1).unpublished_us, ==, 0);
}

/* T1-3: the rows of a node that left are read again by the coordinator, which holds them for
 * whoever needs them. */
static void
test_rows_go_to_the_coordinator_and_come_back_as_orphans (void)
{
  g_autoptr (World) world = world_new (2, TRUE);
  Digest digest = digest_of_string ("/3");
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_ptr_array_add (rows, row_new ("/3", 1, &digest, 0.1, 50, value));

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_RESTORED, .rows = rows });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows });
  g_assert_true (said (world, 0, "SAVE /3"));
  g_assert_true (said (world, 1, "KNOWN /3 finished"));
  for (guint64 loan = 5; loan < 7; loan++) /* a row serves as often as it is asked for */
    adopt (world, 1, "/3", loan, 0);
  g_assert_true (said (world, 1, "PUT 5") && said (world, 1, "PUT 6"));
  die (world, 1);
  pass (world, 1000000);

  g_assert_true (said (world, 0, "SALVAGE"));
}

static const char kept_name[] = "/3 as kept";

static void
say_kept (World *world, guint who, guint32 children)
{
  Digest digest = digest_of_string (kept_name);
  g_autoptr (GBytes) value = g_bytes_new ("state", 5);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  g_ptr_array_add (rows, row_new_kept ("/3", children, 1, &digest, 0, "ay", value));
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows });
}

/* How many children the state stands for that this node gets from node 0; 0: none. */
static guint32
recall (World *world, guint who, guint64 loan)
{
  guint32 children = 0;

  g_clear_pointer (&world->peer[who].put, g_bytes_unref);
  tell (world, who,
        &(NodeEvent){ .kind = NODE_EVENT_ADOPT,
                      .loan = loan,
                      .path = "/3",
                      .digest = digest_of_string (kept_name),
                      .node = node_self (world->peer[0].node) });
  if (world->peer[who].put == NULL)
    return 0;
  g_autoptr (GBytes) state = row_unpack_kept (world->peer[who].put, &children);
  g_assert_nonnull (state);
  return children;
}

static void
test_what_was_kept_is_recalled_from_the_coordinator (void)
{
  g_autoptr (World) world = world_new (3, TRUE);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });

  say_kept (world, 1, 4);
  g_assert_true (said (world, 0, "SAVE /3"));
  g_assert_true (said (world, 2, "KNOWN /3 finished"));
  forget_log (world);
  say_kept (world, 1, 6);
  say_kept (world, 2, 5); /* another runs it too, and is not as far */
  g_assert_true (said (world, 0, "SAVE /3"));
  g_assert_false (said (world, 2, "KNOWN /3 finished")); /* all know who has it */

  g_assert_cmpuint (recall (world, 2, 7), ==, 6);
  g_assert_cmpuint (recall (world, 0, 8), ==, 6);
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_COVERED, .path = "/3" });
  g_assert_true (said (world, 1, "FORGET /3"));
  g_assert_cmpuint (recall (world, 2, 9), ==, 0);
  g_assert_true (said (world, 2, "BACK 9"));
}

static void
test_a_job_and_what_it_kept_are_held_side_by_side (void)
{
  g_autoptr (World) world = world_new (3, TRUE);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);
  (void)offer (world, 2, "/3");
  hunger (world, 0);
  g_assert_true (said (world, 0, "RUN /3"));

  say_kept (world, 0, 4);
  die (world, 2); /* the coordinator runs an orphan now, and holds what it kept */
  pass (world, 1000000);
  g_assert_true (said (world, 1, "KNOWN /3"));
  g_assert_cmpuint (recall (world, 1, 70), ==, 4);
  adopt (world, 1, "/3", 71, 0);
  finish (world, 0, "/3");
  g_assert_true (said (world, 1, "PUT 71"));
  g_assert_cmpuint (recall (world, 1, 72), ==, 4); /* it is withdrawn, the state is not */
}

static void
test_a_joiner_hears_the_best_value (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  g_autoptr (GBytes) best = g_bytes_new ("9", 1);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_IMPROVED, .number = 0, .bytes = best });
  g_assert_true (said (world, 1, "BEST"));
  add_peer (world, FALSE);
  pass (world, 1000);

  g_assert_true (said (world, 2, "BEST"));
}

/* ---- elections ---- */

/* Its coordinator has opened and published once; node `fast` has the fast path to the store. */
static World *
world_that_elects (guint n, guint fast)
{
  World *world = world_new (n, TRUE);

  for (guint i = 0; i < n; i++)
    {
      world->peer[i].commit_us = i == fast ? 100000 : 900000;
      world->peer[i].found = 1;
    }
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 1 });
  start (world);
  return world;
}

static gboolean
is_coordinator (World *world, guint who, guint by)
{
  g_autoptr (GArray) members = node_members (world->peer[by].node);
  NodeId id = node_self (world->peer[who].node);

  for (guint i = 0; i < members->len; i++)
    {
      const NodeMember *member = &g_array_index (members, NodeMember, i);
      if (node_id_equal (&member->id, &id))
        return member->coordinator;
    }
  return FALSE;
}

static void
send_row (World *world, guint who)
{
  Digest digest = digest_of_string ("/3");
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  g_ptr_array_add (rows, row_new ("/3", 1, &digest, 0.1, 50, value));
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = 50 });
}

static void
test_the_fastest_bid_is_elected_and_gets_whole_frontiers (void)
{
  g_autoptr (World) world = world_that_elects (3, 1);

  send_row (world, 0);
  send_row (world, 2);
  g_assert_true (said (world, 0, "SAVE /3"));
  forget_log (world);
  pass (world, 3 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "COORDINATOR") && said (world, 0, "RETIRE"));
  for (guint i = 0; i < 3; i++)
    g_assert_true (is_coordinator (world, 1, i) && world->peer[i].bids == 1);
  /* Rows wait until it has taken over; what the one before says counts no more. */
  send_row (world, 2);
  g_assert_false (said (world, 1, "SAVE /3"));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 2, .saved = 9 });
  g_assert_cmpuint (stats_of (world, 2).unpublished_us, ==, 100);
  forget_log (world);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 2 });
  pass (world, G_USEC_PER_SEC);

  g_assert_true (said (world, 0, "SCAN whole") && said (world, 2, "SCAN whole"));
  send_row (world, 2);
  g_assert_true (said (world, 1, "SAVE /3"));
}

static void
test_a_bid_at_another_place_is_not_elected (void)
{
  g_autoptr (World) world = world_that_elects (3, 1);

  world->peer[1].found = 0;
  pass (world, 3 * G_USEC_PER_SEC);

  g_assert_cmpuint (world->peer[1].bids, ==, 1);
  g_assert_true (is_coordinator (world, 0, 2));
}

static void
test_a_coordinator_that_dies_has_a_successor (void)
{
  g_autoptr (World) world = world_that_elects (3, 1);

  pass (world, 3 * G_USEC_PER_SEC);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  world->peer[2].commit_us = 20000;
  die (world, 1);
  pass (world, G_USEC_PER_SEC);

  g_assert_true (said (world, 2, "COORDINATOR") && is_coordinator (world, 2, 0));
}

static void
test_a_bidder_that_is_silent_is_not_waited_for_long (void)
{
  g_autoptr (World) world = world_that_elects (3, 1);

  world->peer[2].deaf = TRUE;
  pass (world, 11 * G_USEC_PER_SEC);
  g_assert_true (is_coordinator (world, 0, 1));
  pass (world, 2 * G_USEC_PER_SEC);

  g_assert_true (is_coordinator (world, 1, 0));
}

static void
test_three_slow_commits_bring_an_election (void)
{
  g_autoptr (World) world = world_that_elects (3, 1);

  pass (world, 3 * G_USEC_PER_SEC);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  world->peer[1].commit_us = 5 * G_USEC_PER_SEC;
  for (guint i = 0; i < 3; i++)
    tell (world, 1,
          &(NodeEvent){
              .kind = NODE_EVENT_PUBLISHED, .number = 2 + i, .work_us = 5 * G_USEC_PER_SEC });
  for (guint i = 0; i < 3; i++)
    world->peer[i].found = 4;
  pass (world, 70 * G_USEC_PER_SEC);

  g_assert_cmpuint (world->peer[2].bids, ==, 2);
  g_assert_true (is_coordinator (world, 0, 1));
}

/* T1-5: a coordinator whose disk fails counts as a slow one. */
static void
test_a_coordinator_that_fails_is_replaced (void)
{
  g_autoptr (World) world = world_that_elects (2, 9);

  pass (world, 3 * G_USEC_PER_SEC);
  world->peer[0].trouble = "disk full";
  for (guint i = 0; i < 3; i++)
    tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .failed = TRUE });
  pass (world, 70 * G_USEC_PER_SEC);

  g_assert_true (is_coordinator (world, 1, 0));
}

static void
test_a_node_that_reaches_the_store_serves_one_that_does_not (void)
{
  g_autoptr (World) world = world_new (3, TRUE);

  for (guint i = 0; i < 3; i++)
    world->peer[i].trouble = i == 2 ? NULL : "no route";
  start (world);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .failed = TRUE, .text = "no route" });
  pass (world, 1000);
  g_assert_true (said (world, 2, "COORDINATOR"));
  g_assert_false (said (world, 0, "RUN "));
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  g_assert_true (said (world, 0, "RUN "));
  finish (world, 0, "");
  g_autoptr (GBytes) answer = g_bytes_new ("42", 2);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_FINISH, .bytes = answer });
  g_assert_true (said (world, 2, "ANSWER") && said (world, 2, "FINAL"));
  g_assert_cmpuint (world->peer[0].ended, ==, 999);
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 1, .final = TRUE });

  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (world->peer[i].ended, ==, 0);
}

static void
test_a_start_without_anybody_who_can_write_ends_with_4 (void)
{
  g_autoptr (World) world = world_new (2, TRUE);

  world->peer[0].trouble = world->peer[1].trouble = "no route";
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .failed = TRUE, .text = "no route" });
  pass (world, 10 * G_USEC_PER_SEC);

  g_assert_cmpuint (world->peer[0].ended, ==, NODE_END_NO_STORE);
}

/* The run goes on, and its answer is given. */
static void
test_later_the_run_goes_on_without (void)
{
  g_autoptr (World) world = world_that_elects (2, 1);

  pass (world, 3 * G_USEC_PER_SEC);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  world->peer[0].trouble = "no route";
  die (world, 1);
  pass (world, 20 * G_USEC_PER_SEC);
  g_assert_cmpuint (world->peer[0].ended, ==, 999);
  finish (world, 0, "");
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_FINISH });

  g_assert_cmpuint (world->peer[0].ended, ==, 0);
}

/* ---- leaving ---- */

static void
test_the_last_node_stays (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  start (world);
  die (world, 1);
  pass (world, 2000000);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });

  g_assert_true (said (world, 0, "STAYED"));
  g_assert_false (said (world, 0, "HALT"));
}

static void
test_of_two_that_leave_one_stays (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  start (world);
  step (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });

  g_assert_cmpint (said (world, 0, "STAYED"), !=, said (world, 1, "STAYED"));
}

/* A row, while the engine halts. */
static void
tell_row (World *world, guint who, const char *path)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_autoptr (GBytes) value = g_bytes_new ("42", 2);
  Digest digest = digest_of_string (path);

  g_ptr_array_add (rows, row_new (path, 1, &digest, 0.5, 70, value));
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows });
}

static void
test_who_leaves_hands_its_results_over (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  guint64 loan;

  start (world);
  loan = offer (world, 0, "/0");
  hunger (world, 2);
  forget_log (world);
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  g_assert_true (said (world, 2, "HALT"));
  tell_row (world, 2, "/0/1");
  g_assert_true (said (world, 1, "KNOWN /0/1 finished"));
  g_assert_false (said (world, 2, "LEAVE"));
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_HALTED });

  g_assert_true (said (world, 2, "LEAVE"));
  g_assert_cmpuint (members_of (world, 0), ==, 2);
  g_autofree char *back = g_strdup_printf ("BACK %d", (int)loan);
  g_assert_true (said (world, 0, back));
  g_assert_cmpuint (stats_of (world, 0).crashes, ==, 0);
}

static void
test_what_who_leaves_had_lent_is_offered (void)
{
  g_autoptr (World) world = world_new (3, FALSE);

  start (world);
  offer (world, 2, "/0/5");
  hunger (world, 1);
  forget_log (world);
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });

  g_assert_true (said (world, 0, "KNOWN /0/5"));
}

static void
test_who_leaves_counts_no_losses (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  NodeProgress progress = { .risk_us = 5000000, .busy = 1 };
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof progress);

  start (world);
  offer (world, 2, "/0/5");
  hunger (world, 1);
  progress.held = held_of (world, 1, "/0/5");
  g_array_append_val (all, progress);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_WORK, .count = 1, .progress = all });
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_HALTED });

  g_assert_true (said (world, 1, "LEAVE"));
  g_assert_cmpuint (stats_of (world, 2).lost_us, ==, 0);
}

static void
test_it_goes_when_its_time_is_over (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  start (world);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE, .number = 1000000 });
  pass (world, 900000);
  g_assert_false (said (world, 1, "LEAVE"));
  pass (world, 200000);

  g_assert_true (said (world, 1, "LEAVE"));
}

static void
test_the_master_leaves (void)
{
  g_autoptr (World) world = world_new (2, TRUE);

  start (world);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  forget_log (world);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_HALTED });

  g_assert_true (said (world, 0, "LEAVE"));
  g_assert_true (said (world, 0, "RETIRE"));
  g_assert_true (said (world, 1, "MASTER"));
  g_assert_true (said (world, 1, "COORDINATOR"));
}

/* It dies, and says of which job before. */
static void
fall (World *world, guint who, const char *path)
{
  tell (world, who,
        &(NodeEvent){ .kind = NODE_EVENT_LAST_WORDS, .path = path, .text = "a job (1): abort" });
  if (!said (world, who, "END"))
    die (world, who);
  pass (world, 1000000);
}

static void
test_three_last_words_in_one_line_end_the_run (void)
{
  g_autoptr (World) world = world_new (6, FALSE);

  start (world);
  fall (world, 4, "/0/3");
  fall (world, 0, "/0/3/1");
  fall (world, 3, "/0/4"); /* another job */
  g_assert_false (said (world, 1, "END"));
  fall (world, 5, "/0");

  g_assert_true (said (world, 1, "END"));
  g_assert_true (said (world, 2, "END"));
  g_assert_cmpuint (world->peer[2].ended, ==, NODE_END_FAILED);
}

static void
test_a_joiner_hears_of_last_words (void)
{
  g_autoptr (World) world = world_new (4, FALSE);

  start (world);
  fall (world, 3, "/0/3");
  fall (world, 2, "/0/3");
  add_peer (world, FALSE);
  tell (world, 4, &(NodeEvent){ .kind = NODE_EVENT_JOIN, .text = "n0" });
  die (world, 0);
  pass (world, 1000000);
  die (world, 1);
  pass (world, 1000000);
  g_assert_true (said (world, 4, "MASTER"));
  g_assert_false (said (world, 4, "END"));
  add_peer (world, FALSE);
  tell (world, 5, &(NodeEvent){ .kind = NODE_EVENT_JOIN, .text = "n4" });
  pass (world, 1000000);
  fall (world, 5, "/0/3");

  g_assert_true (said (world, 4, "END"));
}

static void
test_the_last_process_ends_the_run_by_its_last_words (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  start (world);
  die (world, 0);
  pass (world, 1000000);
  fall (world, 1, "");

  g_assert_cmpuint (world->peer[1].ended, ==, NODE_END_FAILED);
}

static void
test_deaths_without_a_word_end_nothing (void)
{
  g_autoptr (World) world = world_new (5, FALSE);

  start (world);
  for (guint i = 4; i > 1; i--)
    {
      g_assert_false (said (world, 0, "WARN"));
      (void)offer (world, 0, "/0");
      hunger (world, i);
      g_assert_true (said (world, i, "RUN /0"));
      die (world, i);
      pass (world, 1000000);
    }
  g_assert_true (said (world, 0, "WARN"));
  g_assert_false (said (world, 0, "END"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/node/" name, function)
  TEST ("alone-it-founds-runs-and-ends", test_alone_it_founds_runs_and_ends);
  TEST ("with-a-checkpoint-the-root-waits-and-the-end-is-published",
        test_with_a_checkpoint_the_root_waits_and_the_end_is_published);
  TEST ("scans-that-take-long-are-made-less-often", test_scans_that_take_long_are_made_less_often);
  TEST ("a-stolen-job-returns-and-nothing-is-left", test_a_stolen_job_returns_and_nothing_is_left);
  TEST ("constants-come-before-work", test_constants_come_before_work);
  TEST ("a-result-lost-with-its-link-is-sent-again",
        test_a_result_lost_with_its_link_is_sent_again);
  TEST ("a-job-lost-with-its-link-comes-back", test_a_job_lost_with_its_link_comes_back);
  TEST ("what-a-dead-thief-held-comes-back", test_what_a_dead_thief_held_comes_back);
  TEST ("an-orphan-is-adopted-while-it-runs", test_an_orphan_is_adopted_while_it_runs);
  TEST ("an-adopted-slot-comes-back-when-its-holder-dies",
        test_an_adopted_slot_comes_back_when_its_holder_dies);
  TEST ("an-own-orphan-is-adopted-by-its-own-holder",
        test_an_own_orphan_is_adopted_by_its_own_holder);
  TEST ("a-miss-forgets-before-it-comes-back", test_a_miss_forgets_before_it_comes_back);
  TEST ("what-is-covered-is-dropped", test_what_is_covered_is_dropped);
  TEST ("an-abort-stops-a-loan-and-what-it-lent", test_an_abort_stops_a_loan_and_what_it_lent);
  TEST ("a-late-result-of-an-aborted-job-is-dropped",
        test_a_late_result_of_an_aborted_job_is_dropped);
  TEST ("an-abort-lost-with-its-link-is-made-good", test_an_abort_lost_with_its_link_is_made_good);
  TEST ("an-aborted-slot-lets-its-orphan-go", test_an_aborted_slot_lets_its_orphan_go);
  TEST ("a-job-with-a-live-lender-is-not-covered", test_a_job_with_a_live_lender_is_not_covered);
  TEST ("a-job-that-meets-its-own-slot-is-ready-there",
        test_a_job_that_meets_its_own_slot_is_ready_there);
  TEST ("a-job-returned-unrun-is-ready-again", test_a_job_returned_unrun_is_ready_again);
  TEST ("the-next-eldest-takes-over-when-all-elders-die-at-once",
        test_the_next_eldest_takes_over_when_all_elders_die_at_once);
  TEST ("a-joiner-finds-the-new-master", test_a_joiner_finds_the_new_master);
  TEST ("one-that-slept-is-left-out-and-joins-again",
        test_one_that_slept_is_left_out_and_joins_again);
  TEST ("a-silent-one-is-looked-for-and-then-left-out",
        test_a_silent_one_is_looked_for_and_then_left_out);
  TEST ("a-closed-run-takes-in-whom-it-knows", test_a_closed_run_takes_in_whom_it_knows);
  TEST ("a-half-open-link-costs-nobody-his-name", test_a_half_open_link_costs_nobody_his_name);
  TEST ("a-run-may-have-less-patience", test_a_run_may_have_less_patience);
  TEST ("a-master-that-slept-is-deposed", test_a_master_that_slept_is_deposed);
  TEST ("idleness-is-cheap", test_idleness_is_cheap);
  TEST ("a-refused-thief-is-told", test_a_refused_thief_is_told);
  TEST ("many-short-jobs-come-together", test_many_short_jobs_come_together);
  TEST ("long-jobs-come-one-by-one", test_long_jobs_come_one_by_one);
  TEST ("garbage-closes-only-its-link", test_garbage_closes_only_its_link);
  TEST ("a-suspend-drains-everybody-first", test_a_suspend_drains_everybody_first);
  TEST ("a-suspend-waits-as-long-as-it-was-told", test_a_suspend_waits_as_long_as_it_was_told);
  TEST ("a-cancel-ends-everybody-at-once", test_a_cancel_ends_everybody_at_once);
  TEST ("a-lender-knows-what-its-holder-took-along",
        test_a_lender_knows_what_its_holder_took_along);
  TEST ("who-had-no-time-to-tell-had-no-more-seats-than-it-has",
        test_who_had_no_time_to_tell_had_no_more_seats_than_it_has);
  TEST ("what-comes-and-goes-at-once-is-told-at-once",
        test_what_comes_and_goes_at_once_is_told_at_once);
  TEST ("rows-are-at-risk-until-they-are-published",
        test_rows_are_at_risk_until_they_are_published);
  TEST ("rows-go-to-the-coordinator-and-come-back-as-orphans",
        test_rows_go_to_the_coordinator_and_come_back_as_orphans);
  TEST ("what-was-kept-is-recalled-from-the-coordinator",
        test_what_was_kept_is_recalled_from_the_coordinator);
  TEST ("a-job-and-what-it-kept-are-held-side-by-side",
        test_a_job_and_what_it_kept_are_held_side_by_side);
  TEST ("a-joiner-hears-the-best-value", test_a_joiner_hears_the_best_value);
  TEST ("the-fastest-bid-is-elected-and-gets-whole-frontiers",
        test_the_fastest_bid_is_elected_and_gets_whole_frontiers);
  TEST ("a-bid-at-another-place-is-not-elected", test_a_bid_at_another_place_is_not_elected);
  TEST ("a-coordinator-that-dies-has-a-successor", test_a_coordinator_that_dies_has_a_successor);
  TEST ("a-bidder-that-is-silent-is-not-waited-for-long",
        test_a_bidder_that_is_silent_is_not_waited_for_long);
  TEST ("three-slow-commits-bring-an-election", test_three_slow_commits_bring_an_election);
  TEST ("a-coordinator-that-fails-is-replaced", test_a_coordinator_that_fails_is_replaced);
  TEST ("a-node-that-reaches-the-store-serves-one-that-does-not",
        test_a_node_that_reaches_the_store_serves_one_that_does_not);
  TEST ("a-start-without-anybody-who-can-write-ends-with-4",
        test_a_start_without_anybody_who_can_write_ends_with_4);
  TEST ("later-the-run-goes-on-without", test_later_the_run_goes_on_without);
  TEST ("the-last-node-stays", test_the_last_node_stays);
  TEST ("of-two-that-leave-one-stays", test_of_two_that_leave_one_stays);
  TEST ("who-leaves-hands-its-results-over", test_who_leaves_hands_its_results_over);
  TEST ("what-who-leaves-had-lent-is-offered", test_what_who_leaves_had_lent_is_offered);
  TEST ("who-leaves-counts-no-losses", test_who_leaves_counts_no_losses);
  TEST ("it-goes-when-its-time-is-over", test_it_goes_when_its_time_is_over);
  TEST ("the-master-leaves", test_the_master_leaves);
  TEST ("three-last-words-in-one-line-end-the-run", test_three_last_words_in_one_line_end_the_run);
  TEST ("a-joiner-hears-of-last-words", test_a_joiner_hears_of_last_words);
  TEST ("the-last-process-ends-the-run-by-its-last-words",
        test_the_last_process_ends_the_run_by_its_last_words);
  TEST ("deaths-without-a-word-end-nothing", test_deaths_without_a_word_end_nothing);
  return g_test_run ();
}
