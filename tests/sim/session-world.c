/* SPDX-License-Identifier: BSD-3-Clause */
/* See session-world.h. */
#include "config.h"

#include "session-world.h"

#include "session-say.h"

#include <stdarg.h>
#include <string.h>

void
world_fail (World *world, const char *format, ...)
{
  va_list arguments;

  if (world->failure[0] != '\0')
    return;
  va_start (arguments, format);
  g_vsnprintf (world->failure, sizeof world->failure, format, arguments);
  va_end (arguments);
}

static NodeId
id_of (guint member, guint life)
{
  return (NodeId){ .term = 1, .number = member + 1, .random = life };
}

/* ---- the oracle ---- */

/* The n-th message of a stream between these lives of `from` and `to`. */
static GBytes *
message_of (const World *world, guint from, guint from_life, guint to, guint to_life,
            SessionStream stream, guint64 n)
{
  Rng rng = { (guint64)from_life << 48 ^ (guint64)to_life << 32 ^ from << 28 ^ to << 24
              ^ (guint64)stream << 20 ^ n };
  gsize size = stream == SESSION_BULK ? rng_below (&rng, world->size_max + 1)
                                      : rng_below (&rng, 2 * world->config.fragment + 1);
  guint8 *bytes = g_malloc (size + sizeof (guint64));

  for (gsize at = 0; at < size; at += sizeof (guint64))
    {
      guint64 word = rng_next (&rng);
      memcpy (bytes + at, &word, sizeof word);
    }
  return g_bytes_new_take (bytes, size);
}

static void
check_delivered (World *world, guint at, guint from, const SessionEffect *effect)
{
  WorldEnd *end = &world->ends[at][from];
  guint64 n = end->delivered[effect->stream]++;
  g_autoptr (GBytes) wanted
      = message_of (world, from, end->life, at, world->life[at], effect->stream, n);

  gsize size = g_bytes_get_size (effect->message) - effect->start;
  g_autoptr (GBytes) got = g_bytes_new_from_bytes (effect->message, effect->start, size);
  if (!g_bytes_equal (wanted, got))
    world_fail (world,
                "%c got a wrong message from %c: not number %" G_GUINT64_FORMAT " of stream %d",
                session_say_name (at), session_say_name (from), n + 1, effect->stream);
  const WorldEnd *other = &world->ends[from][at];
  if (world->life[from] == end->life && other->session != NULL && other->life == world->life[at]
      && n >= other->sent[effect->stream])
    world_fail (world, "%c got more from %c than was sent", session_say_name (at),
                session_say_name (from));
  world->delivered++;
}

static void
check_limits (World *world, guint at, guint to)
{
  const Session *session = world->ends[at][to].session;

  if (session_n_connections (session) > SESSION_CONNECTIONS_MAX)
    world_fail (world, "%c has %u connections to %c", session_say_name (at),
                session_n_connections (session), session_say_name (to));
  if (session_waiting_bytes (session)
      >= world->config.room_max + MAX (world->size_max, 2 * world->config.fragment) + 256)
    world_fail (world, "%c holds %" G_GUINT64_FORMAT " bytes for %c", session_say_name (at),
                session_waiting_bytes (session), session_say_name (to));
  if (session_due (session) < G_MAXUINT64 && session_state (session) == SESSION_CLOSED)
    world_fail (world, "%c's closed session with %c waits for a time", session_say_name (at),
                session_say_name (to));
}

/* ---- effects ---- */

static WorldConnection *
find_connection (World *world, guint64 number)
{
  for (guint i = 0; i < world->connections->len; i++)
    {
      WorldConnection *one = world->connections->pdata[i];
      if (one->number == number)
        return one;
    }
  return NULL;
}

static void
frame_free (WorldFrame *frame)
{
  g_bytes_unref (frame->bytes);
  g_free (frame);
}

static void
connection_free (WorldConnection *connection)
{
  for (guint end = 0; end < 2; end++)
    g_queue_clear_full (&connection->to[end], (GDestroyNotify)frame_free);
  g_free (connection);
}

static guint
end_of (const WorldConnection *connection, guint member)
{
  return connection->member[0] == member ? 0 : 1;
}

static GBytes *
join (const GPtrArray *parts)
{
  GByteArray *all = g_byte_array_new ();

  for (guint i = 0; i < parts->len; i++)
    g_byte_array_append (all, g_bytes_get_data (parts->pdata[i], NULL),
                         (guint)g_bytes_get_size (parts->pdata[i]));
  return g_byte_array_free_to_bytes (all);
}

static void
push (WorldConnection *connection, guint end, GBytes *bytes, gboolean urgent)
{
  WorldFrame *frame = g_new (WorldFrame, 1);

  *frame = (WorldFrame){ bytes, urgent };
  g_queue_push_tail (&connection->to[end], frame);
}

static void
carry_send (World *world, guint at, guint to, const SessionEffect *effect)
{
  WorldConnection *connection = find_connection (world, effect->connection);
  guint end = connection == NULL ? 0 : end_of (connection, to);
  GBytes *bytes = join (effect->parts);
  gboolean lost = connection == NULL || connection->broken || connection->closed[end]
                  || connection->deaf[end];

  if (connection == NULL || connection->closed[!end] || !connection->known[!end])
    world_fail (world, "%c sends over a connection that it has not", session_say_name (at));
  else
    session_say_frame (world, at, to, connection, bytes, lost ? "  (lost)" : "");
  if (lost)
    g_bytes_unref (bytes);
  else
    push (connection, end, bytes, session_frame_is_urgent (bytes));
}

static void
carry_close (World *world, guint at, guint to, const SessionEffect *effect)
{
  WorldConnection *connection = find_connection (world, effect->connection);

  if (connection == NULL || connection->closed[end_of (connection, at)])
    {
      world_fail (world, "%c closes a connection that it has not", session_say_name (at));
      return;
    }
  connection->closed[end_of (connection, at)] = TRUE;
  world->refused += effect->why != NULL;
  session_say (world, "%c closes c%" G_GUINT64_FORMAT " to %c%s%s", session_say_name (at),
               connection->number, session_say_name (to), effect->why != NULL ? ": " : "",
               effect->why != NULL ? effect->why : "");
}

static void
carry_out (World *world, guint at, guint to)
{
  for (guint i = 0; i < world->effects->len; i++)
    {
      SessionEffect effect = g_array_index (world->effects, SessionEffect, i);
      WorldEnd *end = &world->ends[at][to];

      switch (effect.kind)
        {
        case SESSION_EFFECT_SEND:
          carry_send (world, at, to, &effect);
          break;
        case SESSION_EFFECT_DELIVER:
          check_delivered (world, at, to, &effect);
          session_say (world, "%c has message %" G_GUINT64_FORMAT " of %c", session_say_name (at),
                       end->delivered[effect.stream], session_say_name (to));
          if (end->sends > 0)
            {
              end->sends--;
              (void)world_send (world, at, to, end->sends % 3 == 0 ? SESSION_BULK : SESSION_URGENT);
            }
          break;
        case SESSION_EFFECT_WANT:
          session_say (world, "%c wants a connection to %c", session_say_name (at),
                       session_say_name (to));
          end->dialling = TRUE;
          break;
        case SESSION_EFFECT_CLOSE:
          carry_close (world, at, to, &effect);
          break;
        }
      session_effect_clear (&effect);
    }
  g_array_set_size (world->effects, 0);
  if (world->ends[at][to].session != NULL)
    check_limits (world, at, to);
}

gboolean
world_send (World *world, guint from, guint to, SessionStream stream)
{
  WorldEnd *end = &world->ends[from][to];
  gboolean nested = world->effects->len > 0;
  GPtrArray *parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);

  if (end->session == NULL || !session_has_room (end->session))
    {
      g_ptr_array_unref (parts);
      return FALSE;
    }
  GBytes *whole
      = message_of (world, from, world->life[from], to, end->life, stream, end->sent[stream]++);
  gsize size = g_bytes_get_size (whole), first = size / 3;
  g_ptr_array_add (
      parts, g_bytes_new_take (g_malloc (SESSION_FRAME_DATA_HEAD), SESSION_FRAME_DATA_HEAD));
  g_ptr_array_add (parts, g_bytes_new_from_bytes (whole, 0, first));
  g_ptr_array_add (parts, g_bytes_new_from_bytes (whole, first, size - first));
  g_bytes_unref (whole);
  if (!session_send (end->session, world->now_us, stream, parts))
    world_fail (world, "%c's session takes no message", session_say_name (from));
  g_ptr_array_unref (parts);
  if (!nested)
    carry_out (world, from, to);
  return TRUE;
}

/* ---- connections ---- */

WorldConnection *
world_connect (World *world, guint from, guint to, gboolean relayed)
{
  WorldConnection *connection = g_new0 (WorldConnection, 1);

  connection->number = ++world->numbers;
  connection->member[0] = from;
  connection->member[1] = to;
  connection->life[0] = world->life[from];
  connection->life[1] = world->life[to];
  connection->relayed = relayed;
  connection->known[0] = TRUE;
  g_queue_init (&connection->to[0]);
  g_queue_init (&connection->to[1]);
  g_ptr_array_add (world->connections, connection);
  session_say (world, "c%" G_GUINT64_FORMAT " from %c to %c is up%s", connection->number,
               session_say_name (from), session_say_name (to), relayed ? ", relayed" : "");
  session_connection_up (world->ends[from][to].session, world->now_us, connection->number, TRUE,
                         relayed);
  carry_out (world, from, to);
  return connection;
}

static void
lose (WorldConnection *connection, guint end, guint kept)
{
  while (g_queue_get_length (&connection->to[end]) > kept)
    frame_free (g_queue_pop_tail (&connection->to[end]));
}

void
world_break (World *world, WorldConnection *connection, guint kept_0, guint kept_1)
{
  session_say (world, "c%" G_GUINT64_FORMAT " breaks", connection->number);
  connection->broken = TRUE;
  lose (connection, 0, kept_0);
  lose (connection, 1, kept_1);
}

void
world_inject (World *world, WorldConnection *connection, guint end, GBytes *bytes)
{
  if (connection->broken || connection->closed[end] || connection->deaf[end])
    return;
  session_say (world, "a bad frame is on its way to %c over c%" G_GUINT64_FORMAT,
               session_say_name (connection->member[end]), connection->number);
  push (connection, end, g_bytes_ref (bytes), FALSE);
}

/* The first frame says which member has dialled. A process that is no member is refused. */
static gboolean
accept_it (World *world, WorldConnection *connection, GBytes *bytes)
{
  guint at = connection->member[1];
  SessionFrame frame;

  if (session_frame_decode (bytes, &frame) != NULL || frame.kind != SESSION_FRAME_HELLO)
    return FALSE;
  guint from = frame.from.number - 1;
  if (from >= world->n || world->ends[at][from].session == NULL
      || world->ends[at][from].life != frame.from.random)
    return FALSE;
  connection->known[1] = TRUE;
  session_connection_up (world->ends[at][from].session, world->now_us, connection->number, FALSE,
                         connection->relayed);
  return TRUE;
}

static void
hear (World *world, WorldConnection *connection, guint end, gboolean urgent)
{
  guint at = connection->member[end], from = connection->member[!end];
  GList *link = g_queue_peek_head_link (&connection->to[end]);

  while (urgent && !((WorldFrame *)link->data)->urgent)
    link = link->next;
  WorldFrame *frame = link->data;
  g_queue_delete_link (&connection->to[end], link);
  if (connection->life[end] != world->life[at])
    ; /* The receiver was another process, which has ended. */
  else if (end == 1 && !connection->known[1] && !accept_it (world, connection, frame->bytes))
    connection->known[1] = connection->closed[1] = TRUE;
  else if (world->ends[at][from].session != NULL)
    {
      session_say_frame (world, from, at, connection, frame->bytes, "  arrives");
      session_hear (world->ends[at][from].session, world->now_us, connection->number, frame->bytes);
      carry_out (world, at, from);
    }
  frame_free (frame);
}

/* ---- members ---- */

static void
drop_end (World *world, guint at, guint other)
{
  WorldEnd *end = &world->ends[at][other];

  if (end->session == NULL)
    return;
  for (guint i = 0; i < world->connections->len; i++)
    {
      WorldConnection *one = world->connections->pdata[i];
      guint side = end_of (one, at);
      if (one->member[side] == at && one->member[!side] == other && one->known[side])
        one->closed[side] = TRUE;
    }
  session_free (end->session);
  *end = (WorldEnd){ .session = NULL };
}

static void
new_life (World *world, guint member)
{
  world->life[member]++;
  world->evicted[member] = FALSE;
  for (guint other = 0; other < world->n; other++)
    drop_end (world, member, other);
}

void
world_crash (World *world, guint member)
{
  session_say (world, "%c crashes", session_say_name (member));
  for (guint i = 0; i < world->connections->len; i++)
    {
      WorldConnection *one = world->connections->pdata[i];
      for (guint end = 0; end < 2; end++)
        if (one->member[end] == member && one->life[end] == world->life[member])
          {
            one->broken = TRUE;
            lose (one, end, 0);
          }
    }
  new_life (world, member);
  /* No process tells the other end that a connection is closed. */
}

void
world_evict (World *world, guint member)
{
  session_say (world, "%c is evicted", session_say_name (member));
  world->evicted[member] = TRUE;
}

static void
came (World *world, guint at, guint other)
{
  WorldEnd *end = &world->ends[at][other];
  NodeId self = id_of (at, world->life[at]), peer = id_of (other, world->life[other]);

  *end = (WorldEnd){ .life = world->life[other], .sends = 2 };
  end->session = session_new (&world->config, &self, &peer, world->effects);
}

/* ---- actions ---- */

static void
add (Action *actions, guint *n, ActionKind kind, guint a, guint b, gboolean urgent)
{
  if (*n < WORLD_ACTIONS_MAX)
    actions[(*n)++] = (Action){ kind, a, b, urgent };
}

static gboolean
has_urgent_behind (const GQueue *frames)
{
  for (GList *link = frames->head != NULL ? frames->head->next : NULL; link != NULL;
       link = link->next)
    if (((WorldFrame *)link->data)->urgent)
      return !((WorldFrame *)frames->head->data)->urgent;
  return FALSE;
}

static void
connection_actions (const World *world, guint place, Action *actions, guint *n)
{
  const WorldConnection *one = world->connections->pdata[place];

  for (guint end = 0; end < 2; end++)
    {
      gboolean over = one->broken || (one->closed[!end] && !one->deaf[end]);
      if (!g_queue_is_empty ((GQueue *)&one->to[end]))
        add (actions, n, ACTION_HEAR, place, end, FALSE);
      else if (over && !one->closed[end])
        add (actions, n, ACTION_DOWN, place, end, FALSE);
      if (has_urgent_behind (&one->to[end]))
        add (actions, n, ACTION_HEAR, place, end, TRUE);
    }
}

static gboolean
is_over (const WorldConnection *one)
{
  return one->closed[0] && one->closed[1] && g_queue_is_empty ((GQueue *)&one->to[0])
         && g_queue_is_empty ((GQueue *)&one->to[1]);
}

guint
world_actions (World *world, Action actions[WORLD_ACTIONS_MAX])
{
  guint n = 0;

  for (guint i = world->connections->len; i > 0; i--)
    if (is_over (world->connections->pdata[i - 1]))
      g_ptr_array_remove_index_fast (world->connections, i - 1);
  for (guint i = 0; i < world->connections->len; i++)
    connection_actions (world, i, actions, &n);
  for (guint a = 0; a < world->n; a++)
    {
      if (world->evicted[a])
        add (actions, &n, ACTION_RENAME, a, 0, FALSE);
      for (guint b = 0; b < world->n; b++)
        {
          WorldEnd *end = &world->ends[a][b];
          if (a == b)
            continue;
          if (end->session == NULL && !world->evicted[b])
            add (actions, &n, ACTION_CAME, a, b, FALSE);
          if (end->session == NULL)
            continue;
          if (end->life != world->life[b] || world->evicted[b])
            add (actions, &n, ACTION_GONE, a, b, FALSE);
          if (end->dialling || session_wants (end->session))
            add (actions, &n, ACTION_DIAL, a, b, FALSE);
          if (session_due (end->session) <= world->now_us)
            add (actions, &n, ACTION_TICK, a, b, FALSE);
        }
    }
  return n;
}

static void
act_down (World *world, WorldConnection *one, guint end)
{
  guint at = one->member[end], other = one->member[!end];
  Session *session = world->ends[at][other].session;

  one->closed[end] = TRUE;
  if (one->life[end] != world->life[at] || session == NULL)
    return;
  if (one->known[end])
    session_say (world, "%c sees that c%" G_GUINT64_FORMAT " is down", session_say_name (at),
                 one->number);
  session_connection_down (session, world->now_us, one->number);
  carry_out (world, at, other);
}

void
world_act (World *world, const Action *action, gboolean yes, gboolean relayed)
{
  guint a = action->a, b = action->b;

  switch (action->kind)
    {
    case ACTION_HEAR:
      hear (world, world->connections->pdata[a], b, action->urgent);
      break;
    case ACTION_DOWN:
      act_down (world, world->connections->pdata[a], b);
      break;
    case ACTION_DIAL:
      world->ends[a][b].dialling = FALSE;
      if (yes)
        (void)world_connect (world, a, b, relayed);
      break;
    case ACTION_TICK:
      session_tick (world->ends[a][b].session, world->now_us);
      if (session_due (world->ends[a][b].session) <= world->now_us)
        world_fail (world, "%c's session with %c is due for ever", session_say_name (a),
                    session_say_name (b));
      carry_out (world, a, b);
      break;
    case ACTION_GONE:
      session_say (world, "%c hears that %c is gone", session_say_name (a), session_say_name (b));
      drop_end (world, a, b);
      break;
    case ACTION_CAME:
      came (world, a, b);
      break;
    case ACTION_RENAME:
      new_life (world, a);
      break;
    }
}

guint64
world_due (const World *world)
{
  guint64 at = G_MAXUINT64;

  for (guint a = 0; a < world->n; a++)
    for (guint b = 0; b < world->n; b++)
      if (world->ends[a][b].session != NULL)
        at = MIN (at, session_due (world->ends[a][b].session));
  return at;
}

/* ---- begin and end ---- */

void
world_init (World *world, const SessionConfig *config, guint n, gsize size_max)
{
  *world = (World){ .config = *config, .size_max = size_max, .n = n, .now_us = 1000 };
  world->connections = g_ptr_array_new_with_free_func ((GDestroyNotify)connection_free);
  world->effects = g_array_new (FALSE, FALSE, sizeof (SessionEffect));
  for (guint a = 0; a < n; a++)
    world->life[a] = 1;
  for (guint a = 0; a < n; a++)
    for (guint b = 0; b < n; b++)
      if (a != b)
        came (world, a, b);
}

void
world_clear (World *world)
{
  for (guint a = 0; a < world->n; a++)
    for (guint b = 0; b < world->n; b++)
      g_clear_pointer (&world->ends[a][b].session, session_free);
  g_ptr_array_unref (world->connections);
  g_array_unref (world->effects);
}

void
world_check_end (World *world)
{
  for (guint a = 0; a < world->n; a++)
    for (guint b = 0; b < world->n; b++)
      {
        const WorldEnd *to = &world->ends[a][b], *from = &world->ends[b][a];
        if (a == b)
          continue;
        for (guint stream = 0; stream < SESSION_STREAMS; stream++)
          if (to->sent[stream] != from->delivered[stream])
            world_fail (world,
                        "%c sent %" G_GUINT64_FORMAT " of stream %u, %c got %" G_GUINT64_FORMAT,
                        session_say_name (a), to->sent[stream], stream, session_say_name (b),
                        from->delivered[stream]);
        if (session_state (to->session) != SESSION_CLOSED)
          world_fail (world, "%c's session with %c is not closed", session_say_name (a),
                      session_say_name (b));
        if (session_waiting_bytes (to->session) > 0)
          world_fail (world, "%c still holds messages for %c", session_say_name (a),
                      session_say_name (b));
      }
}
