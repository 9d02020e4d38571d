/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node knows about a member survives every change of the roster, whichever function makes
 * it. The test fills all of it with a pattern, so fields that are added later are covered too. Also
 * how dead members are removed. */
#include "node-world.h"

#include "satin/protocol/core.h"

#include <string.h>

/* The first part of a Member is its identity. */
#define KNOWN_AT offsetof (Member, heard_us)
#define KNOWN_BYTES (sizeof (Member) - KNOWN_AT)

/* One node of the world receives changes, or makes them; its messages are not delivered. */
typedef struct
{
  World *world;
  Node *node;
  NodeId subject; /* the member about which it knows `known` */
  guint8 known[KNOWN_BYTES];
} Observer;

static NodeId
id_of (World *world, guint who)
{
  return node_self (world->peer[who].node);
}

/* Each byte differs from its neighbours and is not 0. */
static void
fill (Observer *observer, gboolean dead)
{
  Member *member = roster_find (observer->node, &observer->subject);

  for (guint i = 0; i < KNOWN_BYTES; i++)
    ((guint8 *)member + KNOWN_AT)[i] = (guint8)(1 + i % 251);
  if (!dead)
    member->dead = DEATH_NONE; /* a master drops the dead */
  memcpy (observer->known, (guint8 *)member + KNOWN_AT, KNOWN_BYTES);
}

static void
init_observer (Observer *observer, guint node, guint subject, gboolean dead)
{
  observer->world = world_new (5, FALSE);
  start (observer->world);
  observer->node = observer->world->peer[node].node;
  observer->subject = id_of (observer->world, subject);
  observer->node->effects = g_array_new (FALSE, FALSE, sizeof (NodeEffect));
  g_array_set_clear_func (observer->node->effects, (GDestroyNotify)node_effect_clear);
  fill (observer, dead);
}

static void
clear_observer (Observer *observer)
{
  g_clear_pointer (&observer->node->effects, g_array_unref);
  world_free (observer->world);
}

static void
assert_known (const Observer *observer, guint n_members)
{
  const Member *member = roster_find (observer->node, &observer->subject);

  g_assert_cmpuint (observer->node->roster.members->len, ==, n_members);
  g_assert_nonnull (member);
  g_assert_cmpmem ((const guint8 *)member + KNOWN_AT, KNOWN_BYTES, observer->known, KNOWN_BYTES);
}

/* A copy of the observer's roster with the next version, for changes. */
static Message
next_roster (const Observer *observer)
{
  Message message = { .kind = MESSAGE_ROSTER };

  roster_fill (observer->node, &message);
  message.version++;
  return message;
}

static void
tell_roster (const Observer *observer, guint from, Message *message)
{
  NodeId teller = id_of (observer->world, from);

  roster_on_message (observer->node, link_to (observer->node, &teller), message);
  message_clear (message);
}

static void
test_told (void)
{
  Observer observer;
  init_observer (&observer, 2, 3, TRUE);
  Message roster = next_roster (&observer);
  const MessageMember newcomer = { { 1, 90, 7 }, "a90", "host", "site", 1, 1 };

  g_array_append_val (roster.members, newcomer);
  tell_roster (&observer, 0, &roster);
  assert_known (&observer, 6);

  roster = next_roster (&observer); /* n4 leaves */
  g_array_remove_index (roster.members, 4);
  tell_roster (&observer, 0, &roster);
  assert_known (&observer, 5);

  roster = next_roster (&observer); /* n1 is master */
  g_array_remove_index (roster.members, 0);
  roster.term = (Term){ roster.term.number + 1, id_of (observer.world, 1) };
  roster.version = 1;
  tell_roster (&observer, 1, &roster);
  assert_known (&observer, 4);
  clear_observer (&observer);
}

static void
lose (const Observer *observer, guint who)
{
  NodeId id = id_of (observer->world, who);

  roster_find (observer->node, &id)->dead = DEATH_REFUSED;
  roster_on_dead (observer->node);
}

/* n1 takes over, admits a node and drops another. */
static void
test_made (void)
{
  MessageMember newcomer
      = { .address = "a90", .host = "host", .site = "site", .pid = 1, .workers = 1 };
  Observer observer;
  init_observer (&observer, 1, 2, FALSE);

  lose (&observer, 0);
  g_assert_true (roster_is_master (observer.node));
  assert_known (&observer, 4);
  g_autoptr (GArray) newcomers = g_array_new (FALSE, FALSE, sizeof (MessageMember));
  g_array_append_val (newcomers, newcomer);
  roster_admit (observer.node, newcomers);
  assert_known (&observer, 5);
  lose (&observer, 4);
  assert_known (&observer, 4);
  clear_observer (&observer);
}

/* A node that comes back with the same name is another member. */
static void
test_newcomer (void)
{
  Observer observer;
  init_observer (&observer, 2, 3, FALSE);
  Message roster = next_roster (&observer);
  const MessageMember subject = g_array_index (roster.members, MessageMember, 3);
  g_autofree char *address = g_strdup (subject.address);

  g_array_remove_index (roster.members, 3);
  tell_roster (&observer, 0, &roster);
  g_assert_null (roster_find (observer.node, &observer.subject));
  roster = next_roster (&observer);
  const MessageMember again = { { 1, 90, 7 }, address, "host", "site", 1, 1 };
  g_array_append_val (roster.members, again);
  tell_roster (&observer, 0, &roster);
  const Member *member = roster_find (observer.node, &again.id);
  g_assert_nonnull (member);
  g_assert_false (member->leaving || member->dead || member->heard || member->knows_us);
  g_assert_cmpuint (member->heard_us, ==, observer.node->now_us);
  clear_observer (&observer);
}

static gboolean
says_left (const Observer *observer, const NodeId *id)
{
  for (const GList *item = observer->node->events.kept.head; item != NULL; item = item->next)
    {
      const Event *event = item->data;
      if (g_str_equal (event->kind, EVENT_LEFT) && node_id_equal (&event->id, id))
        return TRUE;
    }
  return FALSE;
}

/* Only n2 has learned of a newcomer when the master dies. The next master, n1, has heard of
 * neither, so n2 has no id any more. */
static void
leave_out (Observer *observer, const MessageMember *newcomer)
{
  Message roster = next_roster (observer);
  observer->node->config.checkpoint = NODE_CHECKPOINT_NEW; /* there is a ledger */

  g_array_append_val (roster.members, *newcomer);
  tell_roster (observer, 0, &roster);
  roster = next_roster (observer);
  g_array_set_size (roster.members, 4); /* n1 and n3 stay */
  g_array_remove_index (roster.members, 2);
  g_array_remove_index (roster.members, 0);
  roster.term = (Term){ roster.term.number + 1, id_of (observer->world, 1) };
  tell_roster (observer, 1, &roster);
  g_assert_cmpuint (observer->node->roster.members->len, ==, 0);
}

/* n2 gets another id, in a roster of those that stay. */
static void
let_in (Observer *observer, const NodeId *stay, guint n_stay)
{
  Node *node = observer->node;
  GPtrArray *members = roster_new_members ();
  const NodeId self = { 2, 9, 7 };
  Term term = { 2, n_stay > 0 ? stay[0] : self };

  for (guint i = 0; i <= n_stay; i++)
    {
      g_autofree char *address = g_strdup_printf ("b%u", i);
      const MessageMember told = { i < n_stay ? stay[i] : self, address, "host", "site", 1, 1 };
      g_ptr_array_add (members, roster_new_member (node, &told));
    }
  node->self = self;
  roster_replace (node, &term, 2, members);
}

/* Only n2 can report as gone the members that are missing in its next roster, including itself
 * under its old id. */
static void
test_left_out (void)
{
  for (guint n_stay = 0; n_stay <= 2; n_stay++)
    {
      Observer observer;
      init_observer (&observer, 2, 3, FALSE);
      const MessageMember newcomer = { { 1, 90, 7 }, "a90", "host", "site", 1, 1 };
      const NodeId own = id_of (observer.world, 2);
      const NodeId stay[] = { id_of (observer.world, 1), observer.subject };

      leave_out (&observer, &newcomer);
      let_in (&observer, stay, n_stay);
      g_assert_true (says_left (&observer, &own));
      g_assert_true (says_left (&observer, &newcomer.id));
      for (guint i = 0; i < 2; i++)
        g_assert_true (says_left (&observer, &stay[i]) == (i >= n_stay));
      clear_observer (&observer);
    }
}

/* ---- those that died ---- */

static guint n_gone;

static void
count_gone (World *world G_GNUC_UNUSED, guint who G_GNUC_UNUSED, const NodeEffect *effect)
{
  n_gone += kind_sent (effect) == MESSAGE_GONE;
}

/* Nodes that die together leave in one change of the roster, which all nodes get. */
static void
test_die_together (void)
{
  g_autoptr (World) world = world_new (6, FALSE);
  guint64 version = world->peer[0].node->roster.version;

  start (world);
  world->watch = count_gone;
  n_gone = 0;
  for (guint who = 3; who < 6; who++)
    die (world, who);
  pass (world, ROSTER_GATHER_US);
  for (guint who = 0; who < 3; who++)
    {
      g_assert_cmpuint (members_of (world, who), ==, 3);
      g_assert_cmpuint (world->peer[who].node->roster.version, ==, version + 1);
    }
  pass (world, 2 * ROSTER_TELL_US);
  g_assert_cmpuint (n_gone, ==, 0); /* the master has found out itself */
}

/* The link to n4 has just broken when n3 is confirmed dead, so n4 may be dead, too. The change for
 * n3 waits until n4 has answered, but not for long. */
static void
die_beside_one_in_doubt (gboolean answers)
{
  g_autoptr (World) world = world_new (5, FALSE);
  g_autoptr (GArray) effects = g_array_new (FALSE, FALSE, sizeof (NodeEffect)); /* not delivered */
  Node *node = world->peer[0].node;

  start (world);
  g_array_set_clear_func (effects, (GDestroyNotify)node_effect_clear);
  NodeId dead = id_of (world, 3);
  cut (world, 0, 4);
  while (roster_find (node, &world->peer[4].node->self)->dial == 0)
    g_assert_true (pump_one (world, world->posts->head));
  node->effects = effects;
  alive_dead (node, roster_find (node, &dead), DEATH_PROVED);
  g_assert_cmpuint (node->roster.members->len, ==, 5);
  if (answers)
    pump (world);
  else
    {
      node->now_us += ROSTER_GATHER_US;
      roster_tick (node);
    }
  g_assert_null (roster_find (node, &dead));
  g_assert_cmpuint (node->roster.members->len, ==, 4);
}

static void
test_die_beside_one_in_doubt (void)
{
  die_beside_one_in_doubt (TRUE);
  die_beside_one_in_doubt (FALSE);
}

static void
tell_dead (World *world, guint who)
{
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_TIMER }); /* it checks what is due */
  pass (world, ROSTER_TELL_US);
  g_assert_cmpuint (members_of (world, who), ==, 4);
}

/* n2 takes n3 for dead, the master does not: n2 tells the master once over each link. */
static void
test_tell_once (void)
{
  g_autoptr (World) world = world_new (4, FALSE);
  Node *node = world->peer[2].node;

  start (world);
  world->watch = count_gone;
  n_gone = 0;
  roster_find (node, &world->peer[3].node->self)->dead = DEATH_REFUSED;
  roster_on_dead (node);
  tell_dead (world, 2);
  g_assert_cmpuint (n_gone, ==, 1);
  roster_retell (node, FALSE);
  tell_dead (world, 2);
  g_assert_cmpuint (n_gone, ==, 1);
  roster_find (node, &world->peer[3].node->self)->dead = DEATH_REFUSED;
  cut (world, 0, 2);
  pass (world, 2 * ROSTER_TELL_US);
  g_assert_nonnull (link_direct (node, &world->peer[0].node->self));
  tell_dead (world, 2);
  g_assert_cmpuint (n_gone, ==, 2);
}

/* ---- changes ---- */

static guint n_kinds[MESSAGE_KINDS];

static void
count_kinds (World *world G_GNUC_UNUSED, guint who G_GNUC_UNUSED, const NodeEffect *effect)
{
  n_kinds[kind_sent (effect)]++;
}

static void
count_from_now (World *world)
{
  memset (n_kinds, 0, sizeof n_kinds);
  world->watch = count_kinds;
}

/* n0 as master tells n2 this change, with a version so many above n2's. */
static void
tell_change (World *world, guint above, const MessageMember *joined, const NodeId *left)
{
  Node *node = world->peer[2].node;
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (MessageMember));
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (NodeId));

  if (joined != NULL)
    g_array_append_vals (members, joined, 1);
  if (left != NULL)
    g_array_append_vals (ids, left, 1);
  deliver (world, link_between (world, 0, 2), 2,
           &(Message){ .kind = MESSAGE_CHANGE,
                       .term = node->roster.term,
                       .version = node->roster.version + above,
                       .members = members,
                       .ids = ids });
}

static const MessageMember newcomer = { { 1, 90, 7 }, "a90", "host", "site", 1, 1 };

/* A change makes the next version; a member that stays is the same Member as before. */
static void
test_change (void)
{
  g_autoptr (World) world = world_new (4, FALSE);
  Node *node = world->peer[2].node;

  start (world);
  NodeId left = id_of (world, 3), stays = id_of (world, 1);
  const Member *before = roster_find (node, &stays);
  guint64 version = node->roster.version;
  tell_change (world, 1, &newcomer, NULL);
  g_assert_nonnull (roster_find (node, &newcomer.id));
  tell_change (world, 1, NULL, &left);
  g_assert_null (roster_find (node, &left));
  g_assert_true (roster_find (node, &stays) == before);
  g_assert_cmpuint (node->roster.version, ==, version + 2);
  tell_change (world, 0, &newcomer, NULL); /* it was known before */
  g_assert_cmpuint (node->roster.members->len, ==, 4);
}

/* A node that misses a change asks at once, and any node that has the change tells it. */
static void
test_change_is_missed (void)
{
  g_autoptr (World) world = world_new (4, FALSE);
  Node *node = world->peer[2].node;

  start (world);
  guint64 version = node->roster.version, link = link_between (world, 0, 2);
  count_from_now (world);
  g_array_index (world->wires, Wire, link - 1).mute = TRUE;
  add_peer (world, FALSE);
  g_array_index (world->wires, Wire, link - 1).mute = FALSE;
  g_assert_cmpuint (node->roster.version, ==, version);
  add_peer (world, FALSE);
  g_assert_cmpuint (node->roster.version, ==, version + 2);
  g_assert_cmpuint (members_of (world, 2), ==, 6);
  g_assert_cmpuint (stats_of (world, 2).crashes, ==, 0);
}

/* A node waits for a newer version that another member has, and then asks that member. */
static void
test_change_does_not_come (void)
{
  g_autoptr (World) world = world_new (4, FALSE);
  Node *node = world->peer[2].node;

  start (world);
  guint64 version = node->roster.version, link = link_between (world, 0, 2);
  g_array_index (world->wires, Wire, link - 1).mute = TRUE;
  add_peer (world, FALSE); /* dials n2, too */
  pass (world, 2 * ROSTER_ASK_US);
  g_assert_cmpuint (node->roster.version, ==, version + 1);
  g_assert_cmpuint (members_of (world, 2), ==, 5);
}

/* Whole rosters are sent only to nodes without an id. */
static void
test_new_links_say_versions (void)
{
  g_autoptr (World) world = world_new (4, FALSE);

  start (world);
  count_from_now (world);
  cut (world, 1, 2);
  pass (world, G_USEC_PER_SEC);
  g_assert_cmpuint (n_kinds[MESSAGE_HAVE], >=, 2);
  g_assert_cmpuint (n_kinds[MESSAGE_ROSTER] + n_kinds[MESSAGE_CHANGE], ==, 0);
  count_from_now (world);
  add_peer (world, FALSE);
  pass (world, G_USEC_PER_SEC);
  g_assert_cmpuint (n_kinds[MESSAGE_ROSTER], ==, 1);
  g_assert_cmpuint (n_kinds[MESSAGE_CHANGE], ==, 3);
}

/* n1 is master of a new term, and its messages about that were lost: the ends of the next link
 * mention different terms, so both send everything. */
static void
test_new_links_between_terms (void)
{
  g_autoptr (World) world = world_new (3, FALSE);

  start (world);
  g_array_index (world->wires, Wire, link_between (world, 1, 2) - 1).mute = TRUE;
  die (world, 0);
  pump (world);
  g_assert_cmpuint (members_of (world, 1), ==, 2);
  g_assert_cmpuint (members_of (world, 2), ==, 3);
  cut (world, 1, 2);
  pass (world, G_USEC_PER_SEC);
  g_assert_cmpuint (members_of (world, 2), ==, 2);
}

/* … and a node that is left out joins again. */
static void
test_change_leaves_out (void)
{
  g_autoptr (World) world = world_new (4, FALSE);
  NodeId old = id_of (world, 2);

  start (world);
  tell_change (world, 1, NULL, &old);
  pass (world, 30 * G_USEC_PER_SEC); /* n0 itself did not know */
  NodeId self = id_of (world, 2);
  g_assert_false (node_id_is_none (&self) || node_id_equal (&self, &old));
  g_assert_cmpuint (members_of (world, 2), ==, 4);
}

/* No master leaves itself out, or admits a node that is older than others. */
static void
test_change_that_no_master_makes (void)
{
  g_autoptr (World) world = world_new (4, FALSE);
  const MessageMember old = { { 1, 1, 0 }, "a90", "host", "site", 1, 1 };
  NodeId master = id_of (world, 0);

  start (world);
  guint closed = world->n_closed;
  tell_change (world, 1, NULL, &master);
  g_assert_cmpuint (world->n_closed, ==, closed + 1);
  pass (world, G_USEC_PER_SEC);
  closed = world->n_closed;
  tell_change (world, 1, &old, NULL);
  g_assert_cmpuint (world->n_closed, ==, closed + 1);
  g_assert_cmpuint (members_of (world, 2), ==, 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/roster/a-roster-that-is-told-forgets-nothing", test_told);
  g_test_add_func ("/roster/a-roster-that-is-made-forgets-nothing", test_made);
  g_test_add_func ("/roster/a-newcomer-starts-anew", test_newcomer);
  g_test_add_func ("/roster/whoever-is-left-out-names-all-that-are", test_left_out);
  g_test_add_func ("/roster/who-dies-together-leaves-together", test_die_together);
  g_test_add_func ("/roster/who-dies-waits-a-little-for-one-in-doubt",
                   test_die_beside_one_in_doubt);
  g_test_add_func ("/roster/a-death-is-told-once-over-each-link", test_tell_once);
#define TEST(name, function) g_test_add_func ("/roster/" name, function)
  TEST ("a-change-makes-the-next-version", test_change);
  TEST ("who-misses-a-change-asks", test_change_is_missed);
  TEST ("a-newer-version-that-does-not-come-is-asked-for", test_change_does_not_come);
  TEST ("new-links-say-versions", test_new_links_say_versions);
  TEST ("new-links-between-terms", test_new_links_between_terms);
  TEST ("who-is-left-out-joins-again", test_change_leaves_out);
  TEST ("a-change-that-no-master-makes", test_change_that_no_master_makes);
  return g_test_run ();
}
