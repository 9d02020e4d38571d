/* SPDX-License-Identifier: BSD-3-Clause */
/* The layer `members` alone, linked without the layers above it: two nodes that know each other,
 * and in which order they report what (above.h). */
#include "satin/protocol/core.h"

#define ADDRESS(i) ((i) == 0 ? "n0" : "n1")
#define LINK 7 /* the link between the two nodes, at both ends */

typedef struct
{
  Node *node[2];
  GString *said[2]; /* the messages that were passed to the layers above */
  GArray *effects[2];
  guint64 now_us;
  guint64 dial; /* the last link that was dialled */
} Pair;

static Pair *pair;

static void
say (Node *node, const char *format, ...)
{
  GString *said = pair->said[node == pair->node[1]];
  va_list list;

  if (said->len > 0)
    g_string_append (said, "; ");
  va_start (list, format);
  g_string_append_vprintf (said, format, list);
  va_end (list);
}

static void
hear (Node *node, const NodeId *from, const Message *message)
{
  say (node, "hear %s of %u", message_kind_name (message->kind), from->number);
}

static gboolean
admit (Node *node G_GNUC_UNUSED, Member *from G_GNUC_UNUSED, Message *message G_GNUC_UNUSED)
{
  return TRUE;
}

static void
sent (Member *member G_GNUC_UNUSED, const Message *message G_GNUC_UNUSED)
{
}

#define SAYS(name, ...) static void name (Node *node, ##__VA_ARGS__)

SAYS (readmit)
{
  say (node, "readmit");
}
SAYS (bound, Link *link)
{
  say (node, "bound %u", link->remote.number);
}
SAYS (unbound, const NodeId *id)
{
  say (node, "unbound %u", id->number);
}
SAYS (greet, Member *member)
{
  say (node, "greet %u", member->id.number);
}
SAYS (greet_again, const NodeId *id)
{
  say (node, "greet %u again", id->number);
}
SAYS (departing, const NodeId *id)
{
  say (node, "departing %u", id->number);
}
SAYS (departed, Member *member, const char *cause)
{
  say (node, "departed %u %s", member->id.number, cause);
}
SAYS (joined, const Member *member, gboolean seen)
{
  say (node, "joined %u%s", member->id.number, seen ? " now" : "");
}
SAYS (missed, const NodeId *id)
{
  say (node, "missed %u", id->number);
}
SAYS (changed)
{
  say (node, "changed");
}
SAYS (decreed, gboolean grown)
{
  say (node, "decreed%s", grown ? " more" : "");
}
SAYS (tell_of_dead, const NodeId *to)
{
  say (node, "tell %u of dead", to->number);
}
SAYS (named)
{
  say (node, "named");
}
SAYS (unnamed, GPtrArray *members)
{
  say (node, "unnamed among %u", members->len);
}
SAYS (founded)
{
  say (node, "founded");
}
SAYS (took_over, gboolean again)
{
  say (node, "took over%s", again ? " again" : "");
}
SAYS (deposed)
{
  say (node, "deposed");
}
SAYS (followed)
{
  say (node, "followed");
}
SAYS (missing_came)
{
  say (node, "missing came");
}
SAYS (stranded)
{
  say (node, "stranded");
}

static const MembersAbove above = {
  hear,      admit,    readmit,   sent,    bound,    unbound,      greet,        greet_again,
  departing, departed, joined,    missed,  changed,  decreed,      tell_of_dead, named,
  unnamed,   founded,  took_over, deposed, followed, missing_came, stranded,
};

static Node *
node_of_members (guint i)
{
  Node *node = g_new0 (Node, 1);

  node->above = &above;
  node->config = (NodeConfig){ .address = ADDRESS (i),
                               .host = "here",
                               .site = "site",
                               .build = "",
                               .pid = 1 + i,
                               .workers = 1,
                               .dense = NODE_DENSE,
                               .heartbeat_us = NODE_HEARTBEAT_US,
                               .silence_us = NODE_SILENCE_US,
                               .program = digest_of_string ("program"),
                               .stems = stems_new () };
  node->random = 1 + i;
  node->now_us = pair->now_us;
  node->effects = pair->effects[i];
  link_init (node);
  carry_init (node);
  route_init (node);
  reach_init (node);
  roster_init (node);
  alive_init (node);
  join_init (node);
  admit_init (node);
  return node;
}

static void
node_of_members_free (Node *node)
{
  core_free_owned (node);
  stems_free (node->config.stems);
  g_free (node);
}

static void
clear_effect (gpointer at)
{
  NodeEffect *effect = at;

  g_clear_pointer (&effect->text, g_free);
  g_clear_pointer (&effect->parts, g_ptr_array_unref);
}

static void
pair_begin (void)
{
  pair = g_new0 (Pair, 1);
  pair->now_us = G_USEC_PER_SEC;
  for (guint i = 0; i < 2; i++)
    {
      pair->said[i] = g_string_new (NULL);
      pair->effects[i] = g_array_new (FALSE, TRUE, sizeof (NodeEffect));
      g_array_set_clear_func (pair->effects[i], clear_effect);
      pair->node[i] = node_of_members (i);
    }
}

static void
pair_end (void)
{
  for (guint i = 0; i < 2; i++)
    {
      node_of_members_free (pair->node[i]);
      g_string_free (pair->said[i], TRUE);
      g_array_unref (pair->effects[i]);
    }
  g_clear_pointer (&pair, g_free);
}

static GBytes *
bytes_of (const GPtrArray *parts)
{
  GByteArray *all = g_byte_array_new ();

  for (guint i = 0; i < parts->len; i++)
    g_byte_array_append (all, g_bytes_get_data (parts->pdata[i], NULL),
                         (guint)g_bytes_get_size (parts->pdata[i]));
  return g_byte_array_free_to_bytes (all);
}

/* Carries out a node's effects, and then those of the other node. */
static void
settle (guint i)
{
  Node *node = pair->node[i], *other = pair->node[1 - i];
  g_autoptr (GPtrArray) posts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);

  carry_settle (node);
  for (guint k = 0; k < pair->effects[i]->len; k++)
    {
      NodeEffect *effect = &g_array_index (pair->effects[i], NodeEffect, k);
      if (effect->kind == NODE_EFFECT_SEND)
        g_ptr_array_add (posts, bytes_of (effect->parts));
      if (effect->kind == NODE_EFFECT_DIAL)
        pair->dial = effect->dial;
    }
  g_array_set_size (pair->effects[i], 0);
  for (guint k = 0; k < posts->len; k++)
    {
      hear_message (other, LINK, posts->pdata[k]);
      settle (1 - i);
    }
}

static void
assert_said (guint i, const char *wanted)
{
  g_assert_cmpstr (pair->said[i]->str, ==, wanted);
  g_string_truncate (pair->said[i], 0);
}

/* n0 founds a run, and n1 joins it. */
static void
pair_join (void)
{
  roster_found (pair->node[0]);
  settle (0);
  join_add_address (pair->node[1], ADDRESS (0));
  join_tick (pair->node[1]);
  settle (1);
  g_assert_cmpuint (pair->dial, !=, 0);
  link_up (pair->node[1], LINK, pair->dial);
  link_up (pair->node[0], LINK, 0);
  settle (0);
  settle (1);
}

static void
test_a_run_is_founded (void)
{
  pair_begin ();
  roster_found (pair->node[0]);
  settle (0);
  assert_said (0, "joined 1; changed; named; founded");
  pair_end ();
}

static void
test_a_node_joins (void)
{
  pair_begin ();
  pair_join ();
  assert_said (
      0,
      "joined 1; changed; named; founded; joined 2 now; changed; decreed more; greet 2; bound 2");
  assert_said (1, "joined 1; joined 2; changed; followed; greet 1; bound 1; named");
  pair_end ();
}

/* A message to a member is sent in its session, and is passed to the upper layers at the other
 * end. */
static void
test_what_other_layers_hear_goes_up (void)
{
  pair_begin ();
  pair_join ();
  g_string_truncate (pair->said[1], 0);
  g_assert_true (
      link_send_to (pair->node[0], &pair->node[1]->self, &(Message){ .kind = MESSAGE_TAKEN }));
  settle (0);
  assert_said (1, "hear taken of 1");
  pair_end ();
}

/* n1's host refuses the dial: n1 is dead. */
static void
test_a_member_dies (void)
{
  pair_begin ();
  pair_join ();
  g_string_truncate (pair->said[0], 0);
  link_down (pair->node[0], LINK);
  settle (0);
  pair->node[0]->now_us += G_USEC_PER_SEC;
  alive_tick (pair->node[0]);
  settle (0);
  link_dial_failed (pair->node[0], pair->dial, NODE_DIAL_DEAD);
  settle (0);
  assert_said (0, "unbound 2; departing 2; departed 2 gone; changed; decreed");
  pair_end ();
}

/* A second link of n0 to n1, over which n1 has greeted. */
static void
add_second_link (void)
{
  Link *link = link_add (pair->node[0], LINK + 1, NULL);

  link->state = LINK_GREETED;
  link->remote = pair->node[1]->self;
  link_bind_all (pair->node[0]);
  settle (0);
}

/* Each new link of a member is reported. When one of two is lost, the other is reported again,
 * since messages outside of sessions may be lost; only the loss of the last one is reported as
 * such. */
static void
test_one_of_two_links_is_lost (void)
{
  for (guint first = 0; first < 2; first++)
    {
      pair_begin ();
      pair_join ();
      g_string_truncate (pair->said[0], 0);
      add_second_link ();
      assert_said (0, "bound 2");
      link_down (pair->node[0], LINK + first);
      settle (0);
      assert_said (0, "bound 2");
      link_down (pair->node[0], LINK + 1 - first);
      settle (0);
      assert_said (0, "unbound 2");
      pair_end ();
    }
}

/* Messages that wait, for their shared bytes or for others before them, are looked at again when
 * their sender has a new link. */
static void
test_what_waits_is_looked_at_with_a_new_link (void)
{
  pair_begin ();
  pair_join ();
  Member *member = roster_find (pair->node[0], &pair->node[1]->self);
  CarryWaiting *waiting = g_new0 (CarryWaiting, 1);

  waiting->frame = g_bytes_new_static ("", 0);
  g_queue_push_tail (&member->carry.waiting, waiting);
  g_string_truncate (pair->said[0], 0);
  add_second_link ();
  assert_said (0, "bound 2; readmit");
  pair_end ();
}

static void
test_a_master_dies (void)
{
  pair_begin ();
  pair_join ();
  g_string_truncate (pair->said[1], 0);
  link_down (pair->node[1], LINK);
  settle (1);
  pair->node[1]->now_us += G_USEC_PER_SEC;
  alive_tick (pair->node[1]);
  settle (1);
  link_dial_failed (pair->node[1], pair->dial, NODE_DIAL_DEAD);
  settle (1);
  assert_said (1, "unbound 1; departing 1; departed 1 gone; changed; took over");
  pair_end ();
}

/* A link to a node that has no id yet. */
static Link *
stranger_comes (Node *node, guint64 number)
{
  link_up (node, number, 0);
  link_find (node, number)->state = LINK_GREETED;
  return link_find (node, number);
}

static void
ask_to_join (Node *node, guint64 number, const char *address)
{
  admit_on_request (
      node, stranger_comes (node, number),
      &(Message){ .kind = MESSAGE_JOIN, .text = address, .host = "here", .site = "", .count = 1 });
}

static void
assert_members (Node *node, guint64 version, guint members)
{
  g_assert_cmpuint (node->roster.version, ==, version);
  g_assert_cmpuint (node->roster.members->len, ==, members);
}

/* The first newcomer is admitted at once; those that ask soon after it are admitted in one change
 * of the roster. */
static void
test_newcomers_are_gathered (void)
{
  pair_begin ();
  Node *node = pair->node[0];
  roster_found (node);
  ask_to_join (node, 11, "n11");
  assert_members (node, 2, 2);
  g_assert_cmpuint (admit_due (node), ==, CORE_NEVER);
  ask_to_join (node, 12, "n12");
  ask_to_join (node, 13, "n13");
  ask_to_join (node, 14, "n14");
  link_down (node, 13); /* this newcomer is gone again */
  assert_members (node, 2, 2);
  g_assert_cmpuint (admit_due (node), ==, node->now_us + 2 * ADMIT_GATHER_US);
  admit_tick (node);
  assert_members (node, 2, 2);
  node->now_us += 2 * ADMIT_GATHER_US;
  admit_tick (node);
  assert_members (node, 3, 4);
  g_assert_cmpuint (link_find (node, 12)->remote.number, ==, 3);
  g_assert_cmpuint (link_find (node, 14)->remote.number, ==, 4);
  g_assert_cmpuint (admit_due (node), ==, CORE_NEVER);
  node->now_us += 4 * ADMIT_GATHER_US;
  ask_to_join (node, 15, "n15");
  assert_members (node, 4, 5);
  pair_end ();
}

/* The more members there are, the longer newcomers are collected: with 256 members at least as many
 * milliseconds, but never for more than a second. */
static void
test_newcomers_of_a_large_run_wait_longer (void)
{
  guint64 before_us = 0;

  pair_begin ();
  Node *node = pair->node[0];
  roster_found (node);
  for (guint n = 2; n <= 600; n++)
    {
      g_autofree char *address = g_strdup_printf ("n%u", n);

      ask_to_join (node, 10 + n, address);
      if (n == 2)
        continue; /* the first waits for nobody */
      guint64 wait_us = admit_due (node) - node->now_us;
      g_assert_cmpuint (wait_us, >=, MAX (before_us, (n - 1) * ADMIT_GATHER_US));
      g_assert_cmpuint (wait_us, <=, G_USEC_PER_SEC);
      g_assert_true (n <= 256 || wait_us >= 256 * 1000);
      before_us = wait_us;
      node->now_us += wait_us;
      admit_tick (node);
      g_assert_cmpuint (node->roster.members->len, ==, n);
    }
  pair_end ();
}

/* Of two newcomers at one address the second is admitted; both may be the same process. */
static void
test_newcomers_at_one_address (void)
{
  pair_begin ();
  Node *node = pair->node[0];
  roster_found (node);
  ask_to_join (node, 11, "n11");
  ask_to_join (node, 12, "n12");
  ask_to_join (node, 13, "n12");
  node->now_us += 2 * ADMIT_GATHER_US;
  admit_tick (node);
  assert_members (node, 3, 3);
  g_assert_true (node_id_is_none (&link_find (node, 12)->remote));
  g_assert_cmpuint (link_find (node, 13)->remote.number, ==, 4);
  pair_end ();
}

/* A newcomer that waits when the run halts is not admitted and gets no id. */
static void
test_nobody_comes_while_the_run_halts (void)
{
  pair_begin ();
  Node *node = pair->node[0];
  roster_found (node);
  ask_to_join (node, 11, "n11");
  ask_to_join (node, 12, "n12");
  node->stop.phase = STOP_HALTING;
  node->now_us += 2 * ADMIT_GATHER_US;
  admit_tick (node);
  assert_members (node, 2, 2);
  g_assert_true (node_id_is_none (&link_find (node, 12)->remote));
  g_assert_cmpuint (admit_due (node), ==, CORE_NEVER);
  pair_end ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/members/a-run-is-founded", test_a_run_is_founded);
  g_test_add_func ("/members/a-node-joins", test_a_node_joins);
  g_test_add_func ("/members/what-other-layers-hear-goes-up", test_what_other_layers_hear_goes_up);
  g_test_add_func ("/members/a-member-dies", test_a_member_dies);
  g_test_add_func ("/members/a-master-dies", test_a_master_dies);
  g_test_add_func ("/members/newcomers-are-gathered", test_newcomers_are_gathered);
  g_test_add_func ("/members/newcomers-of-a-large-run-wait-longer",
                   test_newcomers_of_a_large_run_wait_longer);
  g_test_add_func ("/members/newcomers-at-one-address", test_newcomers_at_one_address);
  g_test_add_func ("/members/nobody-comes-while-the-run-halts",
                   test_nobody_comes_while_the_run_halts);
  g_test_add_func ("/members/one-of-two-links-is-lost", test_one_of_two_links_is_lost);
  g_test_add_func ("/members/what-waits-is-looked-at-with-a-new-link",
                   test_what_waits_is_looked_at_with_a_new_link);
  return g_test_run ();
}
