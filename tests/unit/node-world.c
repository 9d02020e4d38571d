/* SPDX-License-Identifier: BSD-3-Clause */
#include "node-world.h"

#include "satin/mesh/session-frame.h"

#include <string.h>

/* More than any test needs in one go. */
#define POSTS_MAX 1000000

void
post (World *world, Post one)
{
  g_queue_push_tail (world->posts, g_memdup2 (&one, sizeof one));
}

static gboolean
are_apart (const World *world, guint a, guint b)
{
  guint first = world->parted;

  return first > 0 && (a < first) != (b < first)
         && !(world->bridged && a + b == 2 * first - 1 && MAX (a, b) == first);
}

void
part (World *world, guint first)
{
  world->parted = first;
  for (guint i = 0; i < world->wires->len; i++)
    {
      Wire *wire = &g_array_index (world->wires, Wire, i);
      wire->mute = wire->mute || are_apart (world, wire->end[0], wire->end[1]);
    }
}

static void
carry_dial (World *world, guint who, const NodeEffect *effect)
{
  guint to = (guint)g_ascii_strtoull (effect->text + 1, NULL, 10);
  gboolean alive = world->peer[to].alive || are_apart (world, who, to);

  world->n_dials++;
  if (to == 0 && world->swallows)
    return;
  if (!alive || who == to || are_apart (world, who, to)
      || (world->wall && who + to == 2 && who != to) || (world->one_way && who == 1))
    {
      post (world, (Post){ .to = who,
                           .kind = NODE_EVENT_DIAL_FAILED,
                           .dial = effect->dial,
                           .failure = world->wall || (alive && world->one_way) ? NODE_DIAL_REFUSED
                                      : alive                                  ? NODE_DIAL_UNKNOWN
                                                                               : NODE_DIAL_DEAD });
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

void
break_link (World *world, guint64 link)
{
  Wire *wire = &g_array_index (world->wires, Wire, link - 1);

  if (!wire->up)
    return;
  wire->up = FALSE;
  for (guint i = 0; i < 2; i++)
    post (world, (Post){ .to = wire->end[i], .kind = NODE_EVENT_LINK_DOWN, .link = link });
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

  if (peer->slow)
    return;
  while (peer->jobs->len > 0 && lent->len < effect->count)
    g_ptr_array_add (lent, g_ptr_array_steal_index (peer->jobs, 0));
  step (world, who, &(NodeEvent){ .kind = NODE_EVENT_LENT, .node = effect->node, .loans = lent });
}

/* (transfer full) (nullable): the message in these bytes, which are a message or a frame with
 * one. */
static GBytes *
content_of (GBytes *bytes)
{
  SessionFrame frame;

  if (message_kind_of (bytes) < MESSAGE_KINDS)
    return g_bytes_ref (bytes);
  g_assert_null (session_frame_decode (bytes, &frame));
  return frame.kind == SESSION_FRAME_DATA && frame.payload == frame.total
             ? g_bytes_new_from_bytes (bytes, SESSION_FRAME_DATA_HEAD, frame.payload)
             : NULL;
}

gboolean
read_sent (const NodeEffect *effect, Message *message)
{
  if (effect->kind != NODE_EFFECT_SEND)
    return FALSE;
  g_autoptr (GBytes) bytes = join_parts (effect->parts), content = content_of (bytes);
  return content != NULL && message_decode (content, message, NULL);
}

static void
carry_send (World *world, guint who, const NodeEffect *effect)
{
  g_autoptr (GBytes) bytes = join_parts (effect->parts), content = content_of (bytes);
  g_auto (Message) message = { 0 };

  g_assert_true (content == NULL || message_decode (content, &message, NULL));
  if ((g_bytes_get_size (bytes) >= world->lates
       || (message.kind == world->lates_kind && message.kind != MESSAGE_NO_KIND))
      && other_end (world, effect->link, who) == world->n - 1)
    world->peer[world->n - 1].late = TRUE;
  g_assert_true (!effect->awaited || message.kind == MESSAGE_JOBS); /* by a thief's worker */
  world->largest = MAX (world->largest, g_bytes_get_size (bytes));
  world->peer[who].pings += message.kind == MESSAGE_PING;
  world->peer[who].steals += message.kind == MESSAGE_STEAL;
  world->peer[who].replies += message.kind == MESSAGE_JOBS && message.loans->len > 0;
  world->said_no += message.kind == MESSAGE_RELAYED && g_bytes_get_size (message.value) == 0;
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
  if (peer->slow)
    return;
  step (world, who,
        &(NodeEvent){ .kind = NODE_EVENT_BID,
                      .work_us = peer->commit_us,
                      .number = peer->found,
                      .failed = peer->trouble != NULL,
                      .text = peer->trouble });
}

static void
log_row (GString *log, const Row *row)
{
  g_string_append_printf (log, "SAVE %s", row->path);
  if (row->began_ms > 0)
    g_string_append_printf (log, " began %" G_GUINT64_FORMAT " took %" G_GUINT64_FORMAT " with %s",
                            row->began_ms, row->took_ms, row->args);
  g_string_append_c (log, '\n');
}

static void
carry (World *world, guint who, const NodeEffect *effect)
{
  Peer *peer = &world->peer[who];

  if (world->watch != NULL)
    world->watch (world, who, effect);
  node_world_log (peer->log, effect);
  switch (effect->kind)
    {
    case NODE_EFFECT_SEND:
      carry_send (world, who, effect);
      break;
    case NODE_EFFECT_DIAL:
      carry_dial (world, who, effect);
      break;
    case NODE_EFFECT_CLOSE:
      world->n_closed++;
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
    case NODE_EFFECT_CONSTANT:
      g_string_append_printf (peer->log, "CONSTANT %s\n", effect->text);
      g_clear_pointer (&peer->constant, g_bytes_unref);
      peer->constant = g_bytes_ref (effect->bytes);
      break;
    case NODE_EFFECT_SAVE:
      for (guint i = 0; i < effect->rows->len; i++)
        log_row (peer->log, effect->rows->pdata[i]);
      G_GNUC_FALLTHROUGH;
    case NODE_EFFECT_EVENT:
      peer->ticket = effect->number;
      break;
    case NODE_EFFECT_END:
      g_string_append (peer->log, "END\n");
      peer->ended = effect->number;
      if (effect->text != NULL)
        g_string_append_printf (peer->log, "BECAUSE %s\n", effect->text);
      break;
    default:
      peer->owes += effect->kind == NODE_EFFECT_REQUEST;
      break;
    }
}

void
step (World *world, guint who, const NodeEvent *event)
{
  Peer *peer = &world->peer[who];
  g_autoptr (GArray) effects = g_array_sized_new (FALSE, FALSE, sizeof (NodeEffect), 16);

  g_array_set_clear_func (effects, (GDestroyNotify)node_effect_clear);
  node_step (peer->node, world->now_us, event, effects);
  node_check_invariants (peer->node);
  for (guint i = 0; i < effects->len; i++)
    carry (world, who, &g_array_index (effects, NodeEffect, i));
}

gboolean
pump_one (World *world, GList *at)
{
  Post *one = at->data;
  const Peer *peer = &world->peer[one->to];

  if (peer->late)
    return FALSE;
  g_queue_delete_link (world->posts, at);
  if (peer->alive && !peer->deaf)
    step (world, one->to,
          &(NodeEvent){ .kind = one->kind,
                        .link = one->link,
                        .dial = one->dial,
                        .failure = one->failure,
                        .bytes = one->bytes });
  g_clear_pointer (&one->bytes, g_bytes_unref);
  g_free (one);
  return TRUE;
}

void
pump (World *world)
{
  guint n = 0;

  for (GList *at = world->posts->head; at != NULL;)
    {
      GList *next = at->next;

      if (pump_one (world, at))
        {
          g_assert_cmpuint (++n, <, POSTS_MAX); /* otherwise the messages never end */
          next = world->posts->head;            /* a new message may come before `next` */
        }
      at = next;
    }
}

void
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

/* Nodes join so far apart that no two joins are one change of the roster (admit.h). */
#define JOINS_APART_US (NODES_MAX * G_GUINT64_CONSTANT (1000))

void
add_peer (World *world, gboolean solo)
{
  guint who = world->n++;
  Peer *peer = &world->peer[who];
  gboolean is_twin = world->twin != 0 && who == world->twin;
  g_autofree char *address = g_strdup_printf ("n%u", is_twin ? 1 : who);
  NodeConfig config = { .founder = who == 0,
                        .address = solo ? NULL : address,
                        .host = is_twin ? "elsewhere" : "host",
                        .pid = 100 + who,
                        .workers = 2,
                        .n_bests = 1,
                        .program = digest_of_string ("program"),
                        .build = world->build,
                        .dense = world->dense,
                        .plan = plan_knobs (world->mirror    ? PLAN_MIRROR
                                            : world->cut     ? PLAN_CUT
                                            : world->theft   ? PLAN_THEFT
                                            : world->ring    ? PLAN_BUDDY
                                            : world->buddies ? PLAN_AUTO
                                                             : PLAN_ORPHAN),
                        .verify = world->verify,
                        .checkpoint = !world->checkpoint ? NODE_CHECKPOINT_NONE
                                      : world->kept      ? NODE_CHECKPOINT_KEPT
                                                         : NODE_CHECKPOINT_NEW,
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
    step (world, who,
          &(NodeEvent){ .kind = NODE_EVENT_JOIN, .text = who == 2 && world->wall ? "n1" : "n0" });
  pump (world);
  world->now_us += JOINS_APART_US;
}

World *
world_new (guint n, gboolean checkpoint)
{
  World *world = g_new0 (World, 1);

  world->now_us = 1000000;
  world->checkpoint = checkpoint;
  world->lates = G_MAXSIZE;
  world->stems = stems_new ();
  world->wires = g_array_new (FALSE, TRUE, sizeof (Wire));
  world->posts = g_queue_new ();
  for (guint i = 0; i < n; i++)
    add_peer (world, n == 1);
  pass (world, 10);
  return world;
}

void
world_free (World *world)
{
  for (guint i = 0; i < world->n; i++)
    {
      node_free (world->peer[i].node);
      g_string_free (world->peer[i].log, TRUE);
      g_ptr_array_unref (world->peer[i].jobs);
      g_hash_table_unref (world->peer[i].running);
      g_clear_pointer (&world->peer[i].put, g_bytes_unref);
      g_clear_pointer (&world->peer[i].constant, g_bytes_unref);
      world->peer[i].alive = world->peer[i].late = FALSE;
    }
  pump (world);
  g_queue_free (world->posts);
  g_array_unref (world->wires);
  stems_free (world->stems);
  g_free (world);
}

void
tell (World *world, guint who, const NodeEvent *event)
{
  step (world, who, event);
  pump (world);
}

void
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

void
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

guint64
offer (World *world, guint who, const char *path)
{
  Digest digest = digest_of_string (path);
  guint64 number = ++world->peer[who].loans;

  g_ptr_array_add (world->peer[who].jobs, loan_new (number, path, 1, &digest, 0.5, NULL));
  return number;
}

void
has_not_begun (World *world, guint who, const char *path)
{
  Digest digest = digest_of_string (path);
  Loan *loan = loan_new (0, path, 1, &digest, 0.5, NULL);

  loan->held = held_of (world, who, path);
  g_ptr_array_add (world->peer[who].jobs, loan);
}

void
start (World *world)
{
  Digest digest = digest_of_string ("");
  g_autoptr (Loan) root = loan_new (0, "", 0, &digest, 1, NULL);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_ROOT, .job = root });
}

void
hunger (World *world, guint who)
{
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
  pass (world, 2000000);
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 0 });
}

guint64
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

void
finish (World *world, guint who, const char *path)
{
  g_autoptr (GBytes) value = g_bytes_new ("42", 2);
  guint64 held = held_of (world, who, path);

  g_hash_table_remove (world->peer[who].running, &held);
  tell (world, who,
        &(NodeEvent){ .kind = NODE_EVENT_DONE, .held = held, .bytes = value, .work_us = 5 });
}

void
adopt (World *world, guint who, const char *path, guint64 loan, guint holder)
{
  Digest digest = digest_of_string (path);
  g_autoptr (GBytes) args = g_bytes_new ("1", 1);
  g_autoptr (Loan) job = world->verify > 0 ? loan_new (0, path, 1, &digest, 0.1, args) : NULL;

  tell (world, who,
        &(NodeEvent){ .kind = NODE_EVENT_ADOPT,
                      .loan = loan,
                      .path = path,
                      .digest = digest,
                      .job = job,
                      .node = node_self (world->peer[holder].node) });
}

gboolean
said (World *world, guint who, const char *line)
{
  g_auto (GStrv) all = g_strsplit (world->peer[who].log->str, "\n", -1);

  return g_strv_contains ((const char *const *)all, line);
}

void
forget_log (World *world)
{
  for (guint i = 0; i < world->n; i++)
    g_string_truncate (world->peer[i].log, 0);
}

NodeStats
stats_of (World *world, guint who)
{
  NodeStats stats;

  node_stats (world->peer[who].node, &stats);
  return stats;
}

guint
members_of (World *world, guint who)
{
  g_autoptr (GArray) members = node_members (world->peer[who].node);

  return members->len;
}

void
deliver (World *world, guint64 link, guint to, const Message *message)
{
  g_autoptr (GPtrArray) parts = message_encode (message);
  g_autoptr (GByteArray) all = g_byte_array_new ();

  for (guint i = 0; i < parts->len; i++)
    g_byte_array_append (all, g_bytes_get_data (parts->pdata[i], NULL),
                         (guint)g_bytes_get_size (parts->pdata[i]));
  post (world, (Post){ .to = to,
                       .kind = NODE_EVENT_MESSAGE,
                       .link = link,
                       .bytes = g_byte_array_free_to_bytes (g_steal_pointer (&all)) });
  pump (world);
}

guint64
link_between (World *world, guint a, guint b)
{
  for (guint i = 0; i < world->wires->len; i++)
    {
      const Wire *wire = &g_array_index (world->wires, Wire, i);
      if (wire->up
          && ((wire->end[0] == a && wire->end[1] == b) || (wire->end[0] == b && wire->end[1] == a)))
        return i + 1;
    }
  g_assert_not_reached ();
}
