/* SPDX-License-Identifier: BSD-3-Clause */
/* The links of one member: which of them sends, what a new one ends and a lost one begins, and what
 * becomes of frames whose link is not bound yet, or not any more. */
#include "node-calls.h"

#define FIRST 900 /* numbers of links that only the test knows */

/* A link of n0 over which this member has greeted. link_bind_all binds it. */
static Link *
new_link (World *world, guint who, guint64 number)
{
  Link *link = link_add (world->peer[0].node, number, NULL);

  link->state = LINK_GREETED;
  link->remote = id_of (world, who);
  return link;
}

static guint
count_effects (const GArray *effects, NodeEffectKind kind)
{
  guint n = 0;

  for (guint i = 0; i < effects->len; i++)
    n += g_array_index (effects, NodeEffect, i).kind == kind;
  return n;
}

static guint
count_kind (const GArray *effects, MessageKind kind)
{
  guint n = 0;

  for (guint i = 0; i < effects->len; i++)
    n += kind_sent (&g_array_index (effects, NodeEffect, i)) == kind;
  return n;
}

/* ---- several links ---- */

/* The newest link sends, in the order in which they came up, not in that of their greetings. One
 * that the session has retired sends only if there is no other, and a route only if there is no
 * direct link. */
static void
test_which_link_sends (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  Node *node = world->peer[0].node;
  g_autoptr (GArray) effects = begin_call (world, 0);
  Link *first = link_at (world, 0, 1);
  Link *second = new_link (world, 1, FIRST), *third = new_link (world, 1, FIRST + 1);

  second->state = LINK_NEW;
  link_bind_all (node);
  g_assert_true (link_at (world, 0, 1) == third);
  second->state = LINK_GREETED;
  link_bind_all (node);
  g_assert_true (link_at (world, 0, 1) == third);
  first->retired_us = second->retired_us = 0;
  third->retired_us = 1;
  g_assert_true (link_at (world, 0, 1) == second);
  second->circuit = g_new0 (Circuit, 1);
  g_assert_true (link_at (world, 0, 1) == first);
  first->retired_us = 1;
  g_assert_true (link_at (world, 0, 1) == third);
  first->circuit = g_new0 (Circuit, 1);
  third->circuit = g_new0 (Circuit, 1);
  g_assert_null (link_direct (node, &third->remote));
  g_assert_true (link_at (world, 0, 1) == second); /* the one that is not retired */
  g_clear_pointer (&first->circuit, g_free);
  g_clear_pointer (&second->circuit, g_free);
  g_clear_pointer (&third->circuit, g_free);
  end_call (world, 0);
}

/* Of too many links to one member the oldest is closed. */
static void
test_the_oldest_of_many_is_closed (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  Node *node = world->peer[0].node;
  g_autoptr (GArray) effects = begin_call (world, 0);
  guint64 oldest = link_at (world, 0, 1)->link;

  for (guint i = 1; i <= LINK_PER_MEMBER_MAX; i++)
    {
      g_assert_nonnull (link_find (node, oldest));
      (void)new_link (world, 1, FIRST + i);
      link_bind_all (node);
    }
  g_assert_null (link_find (node, oldest));
  g_assert_cmpuint (member_at (world, 0, 1)->links->len, ==, LINK_PER_MEMBER_MAX);
  for (guint i = 1; i <= LINK_PER_MEMBER_MAX; i++)
    g_assert_nonnull (link_find (node, FIRST + i));
  end_call (world, 0);
}

/* A new link ends all that was believed of its member. A route does not end the dials. */
static void
test_what_a_new_link_ends (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  Node *node = world->peer[0].node;
  Member *member = member_at (world, 0, 1);
  g_autoptr (GArray) effects = begin_call (world, 0);

  member->dead = DEATH_SILENT;
  member->accused_us = member->told_over = member->dial_at_us = 5;
  node->now_us += G_USEC_PER_SEC;
  (void)new_link (world, 1, FIRST);
  link_bind_all (node);
  g_assert_cmpint (member->dead, ==, DEATH_NONE);
  g_assert_cmpuint (member->accused_us, ==, 0);
  g_assert_cmpuint (member->told_over, ==, 0);
  g_assert_cmpuint (member->dial_at_us, ==, CORE_NEVER);
  g_assert_cmpuint (member->heard_us, ==, node->now_us);
  for (guint i = 0; i < 2; i++) /* is a dial planned already? */
    {
      Member *routed = member_at (world, 0, 2);
      guint64 planned_us = node->now_us + G_USEC_PER_SEC * i;

      while (routed->links->len > 0)
        link_close (node, routed->links->pdata[0]);
      routed->dial = 0;
      routed->dial_at_us = i == 0 ? CORE_NEVER : planned_us;
      Link *route = route_open (node, link_at (world, 0, 1), &routed->id, 1);
      g_assert_true (link_is_coming (node, &routed->id, TRUE));
      g_assert_false (link_is_coming (node, &routed->id, FALSE)); /* a dial may be faster */
      route->state = LINK_GREETED;
      route->remote = routed->id;
      link_bind_all (node);
      g_assert_nonnull (route->member);
      g_assert_cmpuint (routed->dial_at_us, ==,
                        i == 0 ? node->now_us + ALIVE_EXPECT_US : planned_us);
    }
  end_call (world, 0);
}

/* Nothing overtakes the greeting of a route: relays take it for urgent. */
static void
test_greeting_of_a_route (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  Node *node = world->peer[0].node;
  NodeId third = id_of (world, 2);
  g_autoptr (GArray) effects = begin_call (world, 0);

  (void)route_open (node, link_at (world, 0, 1), &third, 1);
  g_assert_cmpuint (effects->len, >=, 2);
  for (guint i = 0; i < 2; i++)
    {
      const NodeEffect *effect = &g_array_index (effects, NodeEffect, i);

      g_assert_cmpint (kind_sent (effect), ==, i == 0 ? MESSAGE_RELAY : MESSAGE_RELAYED);
      g_assert_true (effect->urgent);
    }
  end_call (world, 0);
}

/* ---- dials ---- */

/* An answered dial is no dial any more, and a member that has answered once may be believed to be
 * dead. If the other end does not greet in time, it is dialled again. A member needs no link by
 * which to join. */
static void
test_an_answered_dial (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  Node *node = world->peer[0].node;
  Member *member = member_at (world, 0, 1);
  g_autoptr (GArray) effects = begin_call (world, 0);

  member->answered = FALSE;
  member->dial = link_dial (node, DIAL_MEMBER, &member->id, member->address);
  link_up (node, FIRST, member->dial);
  g_assert_true (member->answered);
  g_assert_cmpuint (member->dial, ==, 0);
  g_assert_cmpuint (member->dial_at_us, ==, node->now_us + link_greeting_us (node));
  g_assert_cmpuint (link_find (node, FIRST)->dial, !=, 0);
  g_assert_true (link_is_coming (node, &member->id, FALSE));
  guint dials = count_effects (effects, NODE_EFFECT_DIAL);
  member->dialled_us = 0;
  alive_redial (node, member); /* its greeting is on its way */
  g_assert_cmpuint (count_effects (effects, NODE_EFFECT_DIAL), ==, dials);
  link_up (node, FIRST + 1, link_dial (node, DIAL_JOIN, NULL, "n7"));
  g_assert_null (link_find (node, FIRST + 1));
  g_assert_cmpuint (count_effects (effects, NODE_EFFECT_CLOSE), ==, 1);
  end_call (world, 0);
}

/* A member whose session has stalled is dialled although there is a link to it. */
static void
test_a_stalled_session_is_dialled (void)
{
  for (guint stalls = 0; stalls < 2; stalls++)
    {
      g_autoptr (World) world = world_new (2, FALSE);
      Node *node = world->peer[0].node;
      Member *member = member_at (world, 0, 1);
      g_autoptr (GArray) effects = begin_call (world, 0);

      if (stalls == 1)
        g_assert_true (link_send_to (node, &member->id, &(Message){ .kind = MESSAGE_JOBS }));
      node->now_us += SESSION_STALL_US;
      carry_tick (node);
      g_assert_cmpint (carry_wants (member), ==, stalls);
      member->dial = 0; /* that dial was lost */
      member->dial_at_us = node->now_us;
      guint before = count_effects (effects, NODE_EFFECT_DIAL);
      alive_changed (node);
      (void)alive_due (node);
      alive_tick (node);
      g_assert_cmpuint (count_effects (effects, NODE_EFFECT_DIAL) - before, ==, stalls);
      end_call (world, 0);
    }
}

/* What the own host says of a dead process is a proof. Another host's address may be taken. */
static void
test_whose_host_proves_a_death (void)
{
  for (guint elsewhere = 0; elsewhere < 2; elsewhere++)
    {
      g_autoptr (World) world = world_new (3, FALSE);
      Node *node = world->peer[0].node;
      Member *member = member_at (world, 0, 1);
      g_autoptr (GArray) effects = begin_call (world, 0);

      if (elsewhere == 1)
        {
          g_free (member->host);
          member->host = g_strdup ("elsewhere");
        }
      link_close (node, link_at (world, 0, 1));
      guint64 dial = member->dial = link_dial (node, DIAL_MEMBER, &member->id, member->address);
      link_dial_failed (node, dial, NODE_DIAL_DEAD);
      g_assert_cmpint (member->dead, ==, elsewhere == 0);
      end_call (world, 0);
    }
}

/* ---- lost links ---- */

/* A lost route is searched for again at once. A member whose link is lost answers no question. */
static void
test_what_a_lost_link_begins (void)
{
  g_autoptr (World) world = world_new (4, FALSE);
  Node *node = world->peer[0].node;
  Member *third = member_at (world, 0, 2);
  g_autoptr (GArray) effects = begin_call (world, 0);

  link_close (node, link_at (world, 0, 2));
  Link *route = route_open (node, link_at (world, 0, 1), &third->id, 1);
  route->state = LINK_GREETED;
  route->remote = third->id;
  link_bind_all (node);
  g_array_set_size (effects, 0);
  link_down (node, route->link);
  g_assert_cmpuint (count_kind (effects, MESSAGE_SEEK), ==, 2);
  const ReachSearch *search = node->reach.searches->pdata[0];
  g_assert_cmpuint (search->asked->len, ==, 2);
  link_down (node, link_at (world, 0, 3)->link);
  g_assert_cmpuint (search->asked->len, ==, 1);
  end_call (world, 0);
}

/* A node that lost its name keeps a link that stands: which end dialled it decides later which of
 * two links stays. */
static void
test_a_renewed_link (void)
{
  for (guint64 dial = 0; dial < 2; dial++)
    {
      g_autoptr (World) world = world_new (2, FALSE);
      Node *node = world->peer[0].node;
      g_autoptr (GArray) effects = begin_call (world, 0);
      Link *link = link_at (world, 0, 1);
      guint64 number = link->link;

      link->dial = dial;
      link = link_renew (node, link);
      g_assert_cmpuint (link->link, ==, number);
      g_assert_cmpuint (link->dial, ==, dial);
      g_assert_true (link->state == LINK_GREETED && link->member == NULL);
      g_assert_cmpuint (count_effects (effects, NODE_EFFECT_CLOSE), ==, 0);
      end_call (world, 0);
    }
}

/* When a member is gone, its links are closed. A node without a name that answered at its address
 * keeps the link, by which it may join. */
static void
test_links_of_a_gone_member (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  Node *node = world->peer[0].node;
  NodeId second = id_of (world, 1);
  g_autoptr (GArray) effects = begin_call (world, 0);
  guint64 bound = link_at (world, 0, 1)->link;
  Link *nameless = new_link (world, 1, FIRST), *coming = link_add (node, FIRST + 1, NULL);

  nameless->remote = NODE_ID_NONE;
  nameless->expected = coming->expected = second;
  link_close_member (node, &second);
  g_assert_null (link_find (node, bound));
  g_assert_null (link_find (node, FIRST + 1));
  g_assert_nonnull (link_find (node, FIRST));
  end_call (world, 0);
}

/* ---- frames ---- */

/* (transfer full): the frame in which n1 sends this to n0. */
static GBytes *
frame_of (World *world, const Message *message)
{
  NodeId first = id_of (world, 0);
  g_autoptr (GArray) effects = begin_call (world, 1);
  GByteArray *all = g_byte_array_new ();

  g_assert_true (link_send_to (world->peer[1].node, &first, message));
  g_assert_cmpuint (effects->len, ==, 1);
  const GPtrArray *parts = g_array_index (effects, NodeEffect, 0).parts;
  for (guint i = 0; i < parts->len; i++)
    g_byte_array_append (all, g_bytes_get_data (parts->pdata[i], NULL),
                         (guint)g_bytes_get_size (parts->pdata[i]));
  end_call (world, 1);
  return g_byte_array_free_to_bytes (all);
}

/* Messages whose link is gone before they are handled are handled over another link, or, if there
 * is none, over the next one: each of them, in their order. */
static void
test_a_message_without_its_link (void)
{
  for (guint other = 0; other < 2; other++)
    {
      g_autoptr (World) world = world_new (2, FALSE);
      Node *node = world->peer[0].node;
      Member *member = member_at (world, 0, 1);
      g_autoptr (GBytes) first = frame_of (world, &(Message){ .kind = MESSAGE_STEAL, .number = 7 });
      g_autoptr (GBytes) second = frame_of (world, &(Message){ .kind = MESSAGE_JOBS, .number = 8 });
      g_autoptr (GArray) effects = begin_call (world, 0);
      Link *link = link_at (world, 0, 1);

      node->sessions.settling = TRUE; /* something else is being handled */
      member->knows_us = FALSE;
      carry_hear (node, link, first);
      g_assert_true (member->knows_us);
      carry_hear (node, link, second);
      if (other == 1)
        {
          (void)new_link (world, 1, FIRST);
          link_bind_all (node);
        }
      link_close (node, link);
      node->sessions.settling = FALSE;
      g_assert_cmpuint (carry_due (node), ==, node->now_us);
      g_array_set_size (effects, 0);
      carry_settle (node);
      g_assert_cmpuint (g_queue_get_length (&member->carry.unheard), ==, other == 1 ? 0 : 2);
      g_assert_cmpuint (count_kind (effects, MESSAGE_JOBS), ==, other); /* answers the theft */
      if (other == 0)
        {
          (void)new_link (world, 1, FIRST);
          link_bind_all (node);
          GArray *later = node->sessions.later;
          g_assert_cmpuint (later->len, >=, 2);
          for (guint i = 0; i < 2; i++)
            {
              const SessionEffect *said = &g_array_index (later, SessionEffect, i);
              g_assert_cmpint (message_kind_of (said->message), ==,
                               i == 0 ? MESSAGE_STEAL : MESSAGE_JOBS);
            }
          carry_settle (node);
          g_assert_cmpuint (count_kind (effects, MESSAGE_JOBS), ==, 1);
        }
      end_call (world, 0);
    }
}

/* Frames of a node that is not on the roster yet wait, up to a limit. */
static void
test_early_frames_are_limited (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  Node *node = world->peer[0].node;
  g_autoptr (GArray) effects = begin_call (world, 0);
  g_autoptr (GBytes) frame = g_bytes_new_take (g_malloc0 (1 << 20), 1 << 20);
  Link *link = new_link (world, 1, FIRST);
  guint n = CARRY_EARLY_MAX >> 20;

  link->remote = (NodeId){ 9, 9, 9 };
  for (guint i = 0; i < n; i++)
    {
      carry_hear (node, link, frame);
      g_assert_nonnull (link_find (node, FIRST));
    }
  carry_hear (node, link, frame);
  g_assert_null (link_find (node, FIRST));
  end_call (world, 0);
}

/* A frame that came before its link was bound counts like any other once it is. */
static void
test_early_frame (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  Node *node = world->peer[0].node;
  Member *member = member_at (world, 0, 1);
  g_autoptr (GBytes) frame = frame_of (world, &(Message){ .kind = MESSAGE_STEAL, .number = 7 });
  SessionFrame hello = {
    .kind = SESSION_FRAME_HELLO, .from = id_of (world, 1), .to = id_of (world, 0), .order = 9
  };
  g_autoptr (GBytes) greeting = session_frame_encode (&hello);
  g_autoptr (GArray) effects = begin_call (world, 0);
  Link *link = new_link (world, 1, FIRST);

  member->knows_us = FALSE;
  carry_hear (node, link, greeting);
  carry_hear (node, link, frame);
  g_assert_false (member->knows_us);
  link_bind_all (node);
  carry_settle (node);
  g_assert_true (member->knows_us);
  g_assert_cmpuint (count_kind (effects, MESSAGE_JOBS), ==, 1);
  end_call (world, 0);
}

/* Of all messages only JOBS that bring some are awaited: the thief has nothing to do until they
 * arrive. */
static void
test_what_is_awaited (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  NodeId second = id_of (world, 1);
  g_autoptr (GPtrArray) one = g_ptr_array_new_with_free_func ((GDestroyNotify)loan_free);
  Digest digest = { { 0 } };
  const Message messages[] = { { .kind = MESSAGE_JOBS, .number = 1, .loans = one },
                               { .kind = MESSAGE_JOBS, .number = 1 } };

  g_ptr_array_add (one, loan_new (1, "/0", 1, &digest, 0.5, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (messages); i++)
    {
      g_autoptr (GArray) effects = begin_call (world, 0);

      g_assert_true (link_send_to (world->peer[0].node, &second, &messages[i]));
      g_assert_cmpuint (effects->len, ==, 1);
      g_assert_cmpint (g_array_index (effects, NodeEffect, 0).awaited, ==, i == 0);
      end_call (world, 0);
    }
}

/* A link over which a fragment came is acknowledged instead of pinged. */
static void
test_acknowledged_instead_of_pinged (void)
{
  for (guint owed = 0; owed < 2; owed++)
    {
      g_autoptr (World) world = world_new (2, FALSE);
      Node *node = world->peer[0].node;

      pass (world, NODE_SILENCE_US);
      g_autoptr (GBytes) frame = frame_of (world, &(Message){ .kind = MESSAGE_JOBS });
      g_autoptr (GArray) effects = begin_call (world, 0);
      if (owed == 1)
        carry_hear (node, link_at (world, 0, 1), frame);
      else
        (void)carry_acknowledge (node, link_at (world, 0, 1));
      g_array_set_size (effects, 0);
      link_at (world, 0, 1)->spoke_us = 0;
      node->alive.ping_at_us = node->now_us;
      alive_tick (node);
      g_assert_cmpuint (count_effects (effects, NODE_EFFECT_SEND), ==, 1);
      g_assert_cmpuint (count_kind (effects, MESSAGE_PING), ==, 1 - owed);
      end_call (world, 0);
    }
}

/* A link that the session needs no more is closed in time, but not while a route leads over it. */
static void
test_a_retired_link_may_be_needed (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  Node *node = world->peer[0].node;
  NodeId third = id_of (world, 2);
  g_autoptr (GArray) effects = begin_call (world, 0);
  guint64 carrier = link_at (world, 0, 1)->link, free = link_at (world, 0, 2)->link;

  link_find (node, carrier)->retired_us = link_find (node, free)->retired_us = node->now_us;
  (void)route_open (node, link_find (node, carrier), &third, 1);
  node->sessions.due_us = node->now_us;
  carry_tick (node);
  g_assert_nonnull (link_find (node, carrier));
  g_assert_null (link_find (node, free));
  g_assert_cmpuint (link_find (node, carrier)->retired_us, >, node->now_us);
  end_call (world, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/links/which-link-sends", test_which_link_sends);
  g_test_add_func ("/links/the-oldest-of-many-is-closed", test_the_oldest_of_many_is_closed);
  g_test_add_func ("/links/what-a-new-link-ends", test_what_a_new_link_ends);
  g_test_add_func ("/links/greeting-of-a-route", test_greeting_of_a_route);
  g_test_add_func ("/links/an-answered-dial", test_an_answered_dial);
  g_test_add_func ("/links/a-stalled-session-is-dialled", test_a_stalled_session_is_dialled);
  g_test_add_func ("/links/whose-host-proves-a-death", test_whose_host_proves_a_death);
  g_test_add_func ("/links/what-a-lost-link-begins", test_what_a_lost_link_begins);
  g_test_add_func ("/links/a-renewed-link", test_a_renewed_link);
  g_test_add_func ("/links/links-of-a-gone-member", test_links_of_a_gone_member);
  g_test_add_func ("/links/early-frame", test_early_frame);
  g_test_add_func ("/links/a-message-without-its-link", test_a_message_without_its_link);
  g_test_add_func ("/links/early-frames-are-limited", test_early_frames_are_limited);
  g_test_add_func ("/links/what-is-awaited", test_what_is_awaited);
  g_test_add_func ("/links/acknowledged-instead-of-pinged", test_acknowledged_instead_of_pinged);
  g_test_add_func ("/links/a-retired-link-may-be-needed", test_a_retired_link_may_be_needed);
  return g_test_run ();
}
