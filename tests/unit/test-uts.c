/* SPDX-License-Identifier: BSD-3-Clause */
/* The trees of the Unbalanced Tree Search: SHA-1 compared with published digests, nodes and whole
 * trees with those of the reference program, and the valid command lines. */
#include "config.h"

#include "sha1.h"
#include "tree.h"

#include <string.h>

/* The digest of a short message, in hexadecimal. */
static char *
digest_of (const char *message)
{
  uint32_t block[16] = { 0 }, digest[5];
  gsize length = strlen (message);

  for (gsize i = 0; i < length; i++)
    block[i / 4] |= (uint32_t)(guchar)message[i] << (24 - i % 4 * 8);
  block[length / 4] |= 0x80u << (24 - length % 4 * 8);
  block[15] = (uint32_t)length * 8;
  sha1_block (block, digest);
  return g_strdup_printf ("%08x%08x%08x%08x%08x", digest[0], digest[1], digest[2], digest[3],
                          digest[4]);
}

static void
test_sha1 (void)
{
  /* The first is FIPS 180's example. */
  static const char *const messages[]
      = { "abc", "", "The quick brown fox jumps over the lazy dog" };

  for (gsize i = 0; i < G_N_ELEMENTS (messages); i++)
    {
      g_autofree char *ours = digest_of (messages[i]);
      g_autofree char *theirs = g_compute_checksum_for_string (G_CHECKSUM_SHA1, messages[i], -1);

      g_assert_cmpstr (ours, ==, theirs);
    }
  g_autofree char *abc = digest_of ("abc");
  g_assert_cmpstr (abc, ==, "a9993e364706816aba3e25717850c26c9cd0d89d");
}

static UtsTree
parse (const char *line)
{
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  char sentence[256] = "";
  UtsTree tree;

  if (!uts_parse ((int)g_strv_length (words), words, &tree, sentence, sizeof sentence))
    g_error ("'%s': %s", line, sentence);
  return tree;
}

static void
assert_state (const UtsNode *node, const char *state)
{
  g_autofree char *text = g_strdup_printf ("%08x%08x%08x%08x%08x", node->state[0], node->state[1],
                                           node->state[2], node->state[3], node->state[4]);
  g_assert_cmpstr (text, ==, state);
}

static void
test_states (void)
{
  UtsTree tree = parse ("uts T1"), slow = parse ("uts T1 --granularity 3");
  UtsNode root = uts_root (&tree), child;

  assert_state (&root, "c6988ab70cc9559ae4d6cba254e29a845a85f86b");
  child = uts_child (&tree, &root, 0);
  assert_state (&child, "2fb3131030280c1617a81d6a49c1e29effb19645");
  child = uts_child (&slow, &root, 1);
  assert_state (&child, "4a8304c7c88f903ac06b01b07c7b2590e9397b5b");
  child = uts_child (&tree, &root, 2);
  assert_state (&child, "0f440b68d030929503be64d09655d21a7dfd8365");
  g_assert_cmpuint (child.depth, ==, 1);
}

static UtsCounts
count (const UtsTree *tree, const UtsNode *node)
{
  int n = uts_children (tree, node);
  UtsCounts sum = { 1, n == 0, node->depth };

  for (int i = 0; i < n; i++)
    {
      UtsNode child = uts_child (tree, node, i);
      UtsCounts part = count (tree, &child);

      uts_add (&sum, &part);
    }
  return sum;
}

/* The counts of the reference program for every type and shape. */
static const struct
{
  const char *line;
  guint64 nodes, leaves;
  guint32 depth;
} published[] = {
  { "uts -t 1 -a 3 -d 3 -b 4 -r 1", 122, 91, 3 },
  { "uts --type 1 --shape 3 --depth 5 --branch 4 --seed 19", 3987, 3232, 5 },
  { "uts T1 --depth=7", 63914, 51124, 7 },
  { "uts --type=1 --shape=0 --depth=8 --branch=4 --seed=34", 1317, 762, 8 },
  { "uts -t 1 -a 1 -d 8 -b 4 -r 19", 4792, 2451, 20 },
  { "uts -t 1 -a 2 -d 4 -b 3 -r 502", 121, 67, 11 },
  { "uts -t 0 -b 20 --q 0.12 --m 8 -r 42", 453, 398, 15 },
  { "uts -t 2 -a 0 -d 8 -b 4 -r 1 -q 0.234375 -m 4", 3443, 2575, 42 },
  { "uts -t 3 -b 2 -d 8", 511, 256, 8 },
  { "uts -t 0 -b 1 -q 0.1 -m 2 -r 0", 2, 1, 1 },
};

static void
test_trees (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (published); i++)
    {
      UtsTree tree = parse (published[i].line);
      UtsNode root = uts_root (&tree);
      UtsCounts counts = count (&tree, &root);

      g_assert_cmpuint (counts.nodes, ==, published[i].nodes);
      g_assert_cmpuint (counts.leaves, ==, published[i].leaves);
      g_assert_cmpuint (counts.depth, ==, published[i].depth);
    }
}

/* Parameters at which the formulas would divide by zero. */
static void
test_edges (void)
{
  static const char *const lines[]
      = { "uts -b 0",      "uts -b 0 -a 1 -d 1", "uts -b 1 -a 1 -d 1", "uts -b 0 -a 2 -d 1",
          "uts -t 0 -b 0", "uts -t 3 -b 0",      "uts -t 2 -f 0 -q 0", "uts -b 0.5 -a 3 -d 2" };

  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      UtsTree tree = parse (lines[i]);

      for (int seed = 0; seed < 20; seed++)
        {
          UtsNode node = uts_root (&tree);

          for (guint32 depth = 0; depth < 9; depth++)
            {
              int n = uts_children (&tree, &node);

              g_assert_cmpint (n, >=, 0);
              g_assert_cmpint (n, <=, 100);
              node = uts_child (&tree, &node, seed);
            }
        }
    }
}

static void
test_refused (void)
{
  static const struct
  {
    const char *line, *sentence;
  } refused[] = {
    { "uts T9", "no tree is called 'T9'*" },
    { "uts T1 T3", "one tree at a time: 'T1' or 'T3'" },
    { "uts --type 4", "--type takes a whole number from 0 to 3, not '4'" },
    { "uts --type", "--type needs a value" },
    { "uts --shape -1", "--shape takes*" },
    { "uts -d 0", "--depth takes*" },
    { "uts --depth 2.5", "--depth takes a whole number*" },
    { "uts --seed 2147483648", "--seed takes*" },
    { "uts --q 1.5", "--q takes a number from 0 to 1, not '1.5'" },
    { "uts --q nan", "--q takes*" },
    { "uts --branch x", "--branch takes*" },
    { "uts --branch ", "--branch takes*" },
    { "uts --typ 1", "'--typ' is no option of uts" },
    { "uts -t1", "'-t1' is no option of uts" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_auto (GStrv) words = g_strsplit (refused[i].line, " ", -1);
      char sentence[256] = "";
      UtsTree tree;

      g_assert_false (
          uts_parse ((int)g_strv_length (words), words, &tree, sentence, sizeof sentence));
      if (!g_pattern_match_simple (refused[i].sentence, sentence))
        g_error ("'%s' is refused with '%s'", refused[i].line, sentence);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/uts/sha1-of-short-messages", test_sha1);
  g_test_add_func ("/uts/states-are-the-published-ones", test_states);
  g_test_add_func ("/uts/small-trees-have-their-published-counts", test_trees);
  g_test_add_func ("/uts/a-node-at-the-edges-has-0-to-100-children", test_edges);
  g_test_add_func ("/uts/wrong-parameters-are-refused-with-a-sentence", test_refused);
  return g_test_run ();
}
