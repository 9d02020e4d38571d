/* SPDX-License-Identifier: BSD-3-Clause */
/* The members that know of an orphan: the directory, n0, and the members that run its ancestors. */
#include "node-alone.h"

#define NODES 7
#define ORPHAN "/0/1/5/2"

/* `thief` takes this job of `lender`. */
static guint64
lend (World *world, guint lender, guint thief, const char *path)
{
  guint64 loan = offer (world, lender, path);
  g_autofree char *run = g_strdup_printf ("RUN %s", path);

  hunger (world, thief);
  g_assert_true (said (world, thief, run));
  return loan;
}

/* n0 lends /0 to n1, and n1 lends /0/1 to n2. n6 lends to n3 what lies below that, and dies. */
static World *
with_orphan (const char *orphan)
{
  World *world = world_new (NODES, FALSE);

  start (world);
  (void)lend (world, 0, 1, "/0");
  (void)lend (world, 1, 2, "/0/1");
  (void)lend (world, 6, 3, orphan);
  forget_log (world);
  die (world, 6);
  pass (world, G_USEC_PER_SEC);
  return world;
}

static gboolean
knows (World *world, guint who, const char *path)
{
  return g_tree_lookup (node_at (world, who)->known.by_path, path) != NULL;
}

/* n3 itself knows what it offers, so it is among them. */
static void
is_known_to (World *world, const char *path, const guint *who, guint n)
{
  for (guint i = 0; i < NODES; i++)
    {
      gboolean expected = i == 3;
      for (guint k = 0; k < n; k++)
        expected = expected || who[k] == i;
      if (world->peer[i].alive)
        g_assert_cmpint (knows (world, i, path), ==, expected);
    }
}

static void
nobody_knows (World *world, const char *path)
{
  for (guint i = 0; i < NODES; i++)
    g_assert_true (!world->peer[i].alive || !knows (world, i, path));
}

static void
test_an_orphan_is_known_where_it_may_be_wanted (void)
{
  g_autoptr (World) world = with_orphan (ORPHAN);
  const guint who[] = { 0, 1, 2 };

  is_known_to (world, ORPHAN, who, G_N_ELEMENTS (who));
  for (guint i = 0; i < 3; i++)
    g_assert_true (said (world, i, "KNOWN " ORPHAN));
  g_assert_false (said (world, 4, "KNOWN " ORPHAN));
}

/* An offer beside the lent jobs concerns only the master. */
static void
test_one_that_lies_elsewhere_is_known_to_the_directory (void)
{
  g_autoptr (World) world = with_orphan ("/1/5");
  const guint who[] = { 0 };

  is_known_to (world, "/1/5", who, G_N_ELEMENTS (who));
}

static void
test_a_job_that_is_lent_brings_along_what_is_known (void)
{
  g_autoptr (World) world = with_orphan (ORPHAN);
  const guint who[] = { 0, 1, 2, 4 };

  (void)lend (world, 2, 5, "/0/1/4");
  g_assert_false (knows (world, 5, ORPHAN));
  forget_log (world);
  (void)lend (world, 2, 4, "/0/1/5");
  is_known_to (world, ORPHAN, who, G_N_ELEMENTS (who));
  g_assert_true (said (world, 4, "KNOWN " ORPHAN));
}

/* `from` tells that `author` (NULL: itself) offers this. */
static void
say_held (World *world, guint from, guint to, const NodeId *author, const char *path)
{
  g_autoptr (GArray) holds = g_array_new (FALSE, FALSE, sizeof (MessageHold));
  MessageHold hold = { path, digest_of_string (path), 0 };

  g_array_append_val (holds, hold);
  deliver (world, link_between (world, from, to), to,
           &(Message){ .kind = MESSAGE_HOLD,
                       .id = author == NULL ? NODE_ID_NONE : *author,
                       .holds = holds });
}

/* n5 asks for a job that n4 holds as an orphan. */
static void
test_a_job_that_is_adopted_brings_along_what_is_known (void)
{
  g_autoptr (World) world = with_orphan (ORPHAN);

  say_held (world, 3, 5, NULL, ORPHAN);
  g_assert_false (knows (world, 4, ORPHAN));
  adopt (world, 5, "/0/1/5", 70, 4);
  g_assert_true (said (world, 4, "KNOWN " ORPHAN));
}

static void
test_it_is_withdrawn_where_it_is_known (void)
{
  g_autoptr (World) world = with_orphan (ORPHAN);

  adopt (world, 2, ORPHAN, 70, 3);
  finish (world, 3, ORPHAN);
  g_assert_true (said (world, 2, "PUT 70"));
  nobody_knows (world, ORPHAN);
}

static void
test_its_holder_hears_that_it_is_covered (void)
{
  g_autoptr (World) world = with_orphan (ORPHAN);

  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_COVERED, .path = "/0/1/5" });
  g_assert_true (said (world, 3, "UNRUN"));
  nobody_knows (world, ORPHAN);
}

/* … and no other node hears of it. */
static void
test_what_lies_elsewhere_is_not_covered (void)
{
  g_autoptr (World) world = with_orphan (ORPHAN);
  const guint who[] = { 0, 1, 2 };

  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_COVERED, .path = "/0/1/4" });
  g_assert_false (said (world, 3, "UNRUN"));
  is_known_to (world, ORPHAN, who, G_N_ELEMENTS (who));
}

/* The next master learns of all offers, although it runs no job above them. */
static void
test_the_next_directory_is_told (void)
{
  g_autoptr (World) world = with_orphan ("/1/5");

  g_assert_false (knows (world, 1, "/1/5"));
  die (world, 0);
  pass (world, 5 * G_USEC_PER_SEC);
  g_assert_true (roster_is_master (node_at (world, 1)));
  g_assert_true (knows (world, 1, "/1/5"));
  g_assert_false (knows (world, 4, "/1/5"));
}

/* /0/1/5 of n4 is not adopted, and its lender is gone, too. Another offer lies below it. */
static void
test_the_holder_of_an_orphan_hears_what_lies_below (void)
{
  g_autoptr (World) world = world_new (NODES, FALSE);

  start (world);
  (void)lend (world, 6, 4, "/0/1/5");
  (void)lend (world, 6, 3, ORPHAN);
  (void)lend (world, 6, 2, "/0/1/6");
  die (world, 6);
  pass (world, G_USEC_PER_SEC);
  g_assert_true (knows (world, 4, ORPHAN));
  g_assert_false (knows (world, 4, "/0/1/6"));
  g_assert_false (knows (world, 2, ORPHAN));
}

/* n3 receives its own offer, and n1 one of a node that is no member: both are ignored. */
static void
test_own_news_and_those_of_strangers_are_dropped (void)
{
  g_autoptr (World) world = world_new (NODES, FALSE);
  NodeId own = node_self (node_at (world, 3)), gone = node_self (node_at (world, 6));

  say_held (world, 0, 3, &own, "/4");
  g_assert_false (knows (world, 3, "/4"));
  die (world, 6);
  pass (world, G_USEC_PER_SEC);
  say_held (world, 0, 1, &gone, "/4");
  g_assert_false (knows (world, 1, "/4"));
  say_held (world, 0, 1, &own, "/4");
  g_assert_true (knows (world, 1, "/4"));
}

/* The offers that a leaver has reported before its GOODBYE. */
static struct
{
  guint leaver, n; /* n: offers at `path` of other members */
  const char *path;
  gboolean gone;
} told;

static void
watch_leaver (World *world, guint who, const NodeEffect *effect)
{
  g_auto (Message) message = { 0 };

  (void)world;
  if (who != told.leaver || !read_sent (effect, &message))
    return;
  told.gone = told.gone || message.kind == MESSAGE_GOODBYE;
  if (message.kind != MESSAGE_HOLD || node_id_is_none (&message.id) || told.gone)
    return;
  for (guint i = 0; i < message.holds->len; i++)
    told.n += g_str_equal (g_array_index (message.holds, MessageHold, i).path, told.path);
}

/* `who` leaves, with this row (nullable). */
static void
leave (World *world, guint who, const char *row)
{
  told.leaver = who;
  told.n = 0;
  told.gone = FALSE;
  world->watch = watch_leaver;
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  if (row != NULL)
    {
      g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
      g_autoptr (GBytes) value = g_bytes_new ("42", 2);
      Digest digest = digest_of_string (row);
      g_ptr_array_add (rows, row_new (row, 1, &digest, 0.5, 70, value));
      step (world, who, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows });
    }
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  for (guint i = 0; i < NODES; i++)
    world->peer[i].late = FALSE;
  pass (world, G_USEC_PER_SEC);
  g_assert_true (told.gone);
}

static void
test_a_directory_that_leaves_tells_the_next (void)
{
  g_autoptr (World) world = with_orphan ("/1/5");

  told.path = "/1/5";
  leave (world, 0, NULL);
  g_assert_cmpuint (told.n, ==, 1);
  g_assert_true (knows (world, 1, "/1/5"));
}

/* The lender learns from the leaver itself which node has the row now; that node's own report takes
 * longer. */
static void
test_a_leaver_tells_its_lender_where_its_rows_are (void)
{
  g_autoptr (World) world = with_orphan (ORPHAN);

  told.path = "/0/1/3";
  leave (world, 2, told.path);
  g_assert_cmpuint (told.n, ==, 1);
  g_assert_true (knows (world, 1, told.path));
}

/* … and likewise of an orphan that the leaver has made. */
static void
test_a_leaver_tells_its_lender_of_its_orphans (void)
{
  g_autoptr (World) world = with_orphan (ORPHAN);

  (void)lend (world, 2, 4, "/0/1/7");
  world->peer[4].late = TRUE; /* the last node for which the leaver waits */
  told.path = "/0/1/7";
  leave (world, 2, NULL);
  g_assert_cmpuint (told.n, >=, 1);
}

/* Otherwise a job could begin before the offers below it are known. */
static void
test_no_job_passes_what_it_brings_along (void)
{
  const MessageKind kinds[] = { MESSAGE_JOBS, MESSAGE_HOLD, MESSAGE_COVERED };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    g_assert_true (message_is_urgent (kinds[i]));
}

/* Otherwise a job could begin for a loan that has ended already. */
static void
test_the_end_of_a_loan_does_not_pass_its_beginning (void)
{
  const MessageKind kinds[]
      = { MESSAGE_JOBS, MESSAGE_ADOPT, MESSAGE_CANCELLED, MESSAGE_RETURNED, MESSAGE_ACK };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    g_assert_true (message_is_urgent (kinds[i]));
}

/* The loan's path is the stem itself, or lies above it; the orphan's path begins with the stem. */
static void
test_the_way_goes_over_stems (void)
{
  g_autoptr (World) world = world_new (NODES, FALSE);
  guint32 numbers[2 * PATH_STEM_LEVELS + 3] = { 0 };
  g_autofree char *above = path_from_numbers (world->stems, numbers, PATH_STEM_LEVELS - 4),
                  *stem = path_from_numbers (world->stems, numbers, PATH_STEM_LEVELS),
                  *deep = path_from_numbers (world->stems, numbers, 2 * PATH_STEM_LEVELS + 3);

  start (world);
  (void)lend (world, 0, 1, above);
  (void)lend (world, 1, 2, stem);
  (void)lend (world, 6, 3, deep);
  die (world, 6);
  pass (world, G_USEC_PER_SEC);
  g_assert_true (knows (world, 1, deep));
  g_assert_true (knows (world, 2, deep));
  g_assert_false (knows (world, 4, deep));
}

/* A node with a kept state offers it again to those that offer an older one, and to no others: two
 * nodes with the same state would answer each other for ever. */
static void
test_only_a_newer_state_is_offered_again (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  g_autoptr (GBytes) state = g_bytes_new ("42", 2);
  Digest digest = digest_of_string ("/0");
  g_autoptr (Row) row = row_new_kept ("/0", 2, 0, &digest, 0, "ay", state);
  Node *node = alone (world, 0);

  archive_put (node, row);
  for (guint finished = 0; finished <= 4; finished++)
    {
      const Holder other = { id_of (world, 1), digest, finished };

      node = alone (world, 0);
      archive_compare (node, "/0", &other);
      g_assert_cmpuint (count_effects (node->effects, NODE_EFFECT_KNOWN), ==,
                        finished == 1 || finished == 2);
    }
}

/* Offers of one path are bounded; those that are known can still change. */
static void
test_one_path_has_so_many_holders (void)
{
  g_autoptr (World) world = world_new (1, FALSE);
  Node *node = alone (world, 0);
  Holder holder = { { 1, 1, 0 }, digest_of_string ("/0"), 0 };

  for (guint32 i = 1; i <= KNOWN_HOLDERS_MAX + 1; i++)
    {
      holder.node.random = i;
      g_assert_true (known_add (node, "/0", &holder) == (i <= KNOWN_HOLDERS_MAX));
    }
  holder.node.random = 1;
  holder.finished = 1;
  g_assert_true (known_add (node, "/0", &holder));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/directory/" name, function)
  TEST ("wanted", test_an_orphan_is_known_where_it_may_be_wanted);
  TEST ("elsewhere", test_one_that_lies_elsewhere_is_known_to_the_directory);
  TEST ("lent", test_a_job_that_is_lent_brings_along_what_is_known);
  TEST ("adopted", test_a_job_that_is_adopted_brings_along_what_is_known);
  TEST ("withdrawn", test_it_is_withdrawn_where_it_is_known);
  TEST ("covered", test_its_holder_hears_that_it_is_covered);
  TEST ("not-covered", test_what_lies_elsewhere_is_not_covered);
  TEST ("next", test_the_next_directory_is_told);
  TEST ("below-an-orphan", test_the_holder_of_an_orphan_hears_what_lies_below);
  TEST ("own", test_own_news_and_those_of_strangers_are_dropped);
  TEST ("directory-leaves", test_a_directory_that_leaves_tells_the_next);
  TEST ("rows-move", test_a_leaver_tells_its_lender_where_its_rows_are);
  TEST ("leaver-makes-orphans", test_a_leaver_tells_its_lender_of_its_orphans);
  TEST ("order", test_no_job_passes_what_it_brings_along);
  g_test_add_func ("/directory/the-end-of-a-loan-does-not-pass-its-beginning",
                   test_the_end_of_a_loan_does_not_pass_its_beginning);
  TEST ("stems", test_the_way_goes_over_stems);
  TEST ("only-a-newer-state-is-offered-again", test_only_a_newer_state_is_offered_again);
  TEST ("one-path-has-so-many-holders", test_one_path_has_so_many_holders);
  return g_test_run ();
}
