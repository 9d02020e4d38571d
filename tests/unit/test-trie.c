/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "processor.h"
#include "trie.h"

#include <malloc.h>
#include <string.h>

#define MANY 20000

static void
test_finds_what_was_made (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Trie) trie = trie_new (stems, sizeof (guint64));
  TrieNode *node = trie_find (trie, "/0/4294967295", TRUE);
  g_autofree char *path = trie_path (trie, node);
  TrieNode *root = trie_find (trie, "", FALSE);

  g_assert_true (trie_find (trie, "/0/4294967295", FALSE) == node);
  g_assert_true (trie_child (trie, trie_find (trie, "/0", FALSE), 4294967295u) == node);
  g_assert_true (trie_parent (trie, trie_parent (trie, node)) == root);
  g_assert_true (trie_parent (trie, root) == trie_top (trie));
  g_assert_null (trie_parent (trie, trie_top (trie)));
  g_assert_cmpstr (path, ==, "/0/4294967295");
  g_assert_null (trie_find (trie, "/0/1", FALSE));
  g_assert_null (trie_find (trie, "/4294967295", FALSE));
  g_assert_null (trie_find (trie, "/0/4294967295/0", FALSE));
  g_assert_null (trie_find (trie, "/00", TRUE));
  g_assert_null (trie_find (trie, "~0123456789abcdef/1", TRUE));
}

/* Random paths, some deeper than a stem, compared with GLib's table: each path has its own bytes,
 * which stay. */
static void
test_is_a_table_by_path (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Trie) trie = trie_new (stems, sizeof (guint64) + 1);
  g_autoptr (GHashTable) oracle = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  GHashTableIter iter;
  gpointer path, number;
  guint seen = 0;

  for (guint i = 1; i <= MANY; i++)
    {
      guint32 numbers[200];
      guint depth = (guint)g_rand_int_range (rand, 0, i % 50 == 0 ? 200 : 6);
      for (guint k = 0; k < depth; k++)
        numbers[k] = (guint32)g_rand_int_range (rand, 0, depth > 6 ? 2 : 30);
      char *text = path_from_numbers (stems, numbers, depth);
      guint64 *data = trie_data (trie_find (trie, text, TRUE));
      g_assert_cmpuint (*data, ==, GPOINTER_TO_UINT (g_hash_table_lookup (oracle, text)));
      g_assert_cmpuint ((guintptr)data % sizeof *data, ==, 0);
      *data = i;
      g_hash_table_replace (oracle, text, GUINT_TO_POINTER (i));
    }
  g_hash_table_iter_init (&iter, oracle);
  while (g_hash_table_iter_next (&iter, &path, &number))
    {
      TrieNode *node = trie_find (trie, path, FALSE);
      g_autofree char *text = trie_path (trie, node);
      g_assert_cmpstr (text, ==, path);
      g_assert_cmpuint (*(guint64 *)trie_data (node), ==, GPOINTER_TO_UINT (number));
    }
  for (TrieNode *node = trie_top (trie); node != NULL;
       node = trie_step (trie, trie_top (trie), node, TRUE))
    seen += *(guint64 *)trie_data (node) != 0;
  g_assert_cmpuint (seen, ==, g_hash_table_size (oracle));
}

static void
test_steps_over_what_lies_below (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Trie) trie = trie_new (stems, 0);
  g_autoptr (GString) walk = g_string_new (NULL);
  static const char *const paths[] = { "/1/1", "/1/2", "/2", "/1/2/7", "/3/0" };

  for (gsize i = 0; i < G_N_ELEMENTS (paths); i++)
    trie_find (trie, paths[i], TRUE);
  TrieNode *top = trie_find (trie, "/1", FALSE);
  for (TrieNode *node = top; node != NULL;
       node = trie_step (trie, top, node, trie_number (node) != 2))
    {
      g_autofree char *path = trie_path (trie, node);
      g_string_append_printf (walk, "%s ", path);
    }
  g_assert_cmpstr (walk->str, ==, "/1 /1/2 /1/1 ");
}

static void
test_roots_stand_side_by_side (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Trie) trie = trie_new (stems, 0);
  g_autoptr (GString) walk = g_string_new (NULL);
  static const char *const paths[] = { "/1/1", "1:/1", "7:", "1:/0/2" };
  guint32 deep[130] = { 0 };
  g_autofree char *far = path_extend (stems, "7:", deep, G_N_ELEMENTS (deep));

  for (gsize i = 0; i < G_N_ELEMENTS (paths); i++)
    trie_find (trie, paths[i], TRUE);
  TrieNode *top = trie_find (trie, "1:", FALSE);
  for (TrieNode *node = top; node != NULL; node = trie_step (trie, top, node, TRUE))
    {
      g_autofree char *path = trie_path (trie, node);
      g_string_append_printf (walk, "%s ", path);
    }
  g_assert_cmpstr (walk->str, ==, "1: 1:/0 1:/0/2 1:/1 ");
  g_assert_null (trie_find (trie, "2:", FALSE));
  g_autofree char *again = trie_path (trie, trie_find (trie, far, TRUE));
  g_assert_cmpstr (again, ==, far);
  g_assert_true (trie_parent (trie, trie_find (trie, "7:", FALSE)) == trie_top (trie));
}

/* The cost of a million paths of one job is the reason for this table. */
static void
test_a_path_costs_little (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Trie) trie = trie_new (stems, sizeof (guint64));
  double began_s = processor_s ();

  for (guint i = 0; i < 50 * MANY; i++)
    {
      char path[16];
      g_snprintf (path, sizeof path, "/%u", i);
      g_assert_nonnull (trie_find (trie, path, TRUE));
    }
  g_test_message ("a million children in %.3f s", processor_s () - began_s);
  g_assert_cmpfloat (processor_s () - began_s, <, 20);
}

/* Removes the node and its ancestors as long as they are empty. */
static void
remove_up (Trie *trie, TrieNode *node)
{
  while (trie_parent (trie, node) != NULL && trie_first (trie, node) == NULL
         && *(guint64 *)trie_data (node) == 0)
    node = trie_remove (trie, node);
}

static void
check_all (Trie *trie, GHashTable *oracle)
{
  GHashTableIter iter;
  gpointer path, number;
  guint seen = 0, size = 0;

  g_hash_table_iter_init (&iter, oracle);
  while (g_hash_table_iter_next (&iter, &path, &number))
    {
      TrieNode *node = trie_find (trie, path, FALSE);
      g_assert_nonnull (node);
      g_assert_cmpuint (*(guint64 *)trie_data (node), ==, GPOINTER_TO_UINT (number));
    }
  for (TrieNode *node = trie_top (trie); node != NULL;
       node = trie_step (trie, trie_top (trie), node, TRUE))
    {
      g_assert_true (*(guint64 *)trie_data (node) != 0 || trie_first (trie, node) != NULL
                     || node == trie_top (trie));
      seen += *(guint64 *)trie_data (node) != 0;
      size++;
    }
  g_assert_cmpuint (seen, ==, g_hash_table_size (oracle));
  g_assert_cmpuint (size, ==, trie_size (trie));
}

/* Random paths, some deeper than a stem, are added and removed, compared with GLib's table. */
static void
test_what_is_removed_is_gone (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Trie) trie = trie_new (stems, sizeof (guint64) + 1);
  g_autoptr (GHashTable) oracle = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);

  for (guint i = 1; i <= 4 * MANY; i++)
    {
      guint32 numbers[200];
      guint depth = (guint)g_rand_int_range (rand, 1, i % 50 == 0 ? 200 : 6);
      gboolean coming = g_rand_int_range (rand, 0, 100) < (i / MANY % 2 == 0 ? 70 : 20);
      for (guint k = 0; k < depth; k++)
        numbers[k] = (guint32)g_rand_int_range (rand, 0, depth > 6 ? 2 : 9);
      g_autofree char *text = path_from_numbers (stems, numbers, depth);
      TrieNode *node = trie_find (trie, text, coming);
      if (coming)
        *(guint64 *)trie_data (node) = i;
      if (coming)
        g_hash_table_replace (oracle, g_strdup (text), GUINT_TO_POINTER (i));
      else if (g_hash_table_remove (oracle, text))
        *(guint64 *)trie_data (node) = 0;
      if (!coming && node != NULL)
        remove_up (trie, node);
      if (i % 1000 == 0)
        check_all (trie, oracle);
    }
}

/* With ten paths at a time, always other ones, the table is as large as at first. */
static void
test_is_as_large_as_it_was_at_once (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Trie) trie = trie_new (stems, sizeof (guint64));
  TrieNode *nodes[10] = { NULL };
  g_autoptr (GHashTable) places = g_hash_table_new (g_direct_hash, g_direct_equal);

  for (guint i = 0; i < MANY; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u/%u", i % 7, i);
      TrieNode **node = &nodes[i % G_N_ELEMENTS (nodes)];
      if (*node != NULL)
        {
          *(guint64 *)trie_data (*node) = 0;
          remove_up (trie, *node);
        }
      *node = trie_find (trie, path, TRUE);
      g_assert_cmpuint (*(guint64 *)trie_data (*node), ==, 0);
      *(guint64 *)trie_data (*node) = 1;
      g_hash_table_add (places, *node);
      g_assert_cmpuint (trie_size (trie), <=, 2 + 7 + 10);
    }
  g_assert_cmpuint (g_hash_table_size (places), <=, 1 + 7 + 10 + 1);
}

/* The memory of this process in use, as far as the C library tells. */
static gsize
used (void)
{
  struct mallinfo2 info = mallinfo2 ();

  return info.uordblks + info.hblkhd;
}

/* A trie that was large needs no more than a new one when it is empty again. */
static void
test_an_empty_one_is_small (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Trie) trie = trie_new (stems, 64);
  gsize before = used ();

  for (guint round = 0; round < 2; round++)
    {
      g_autoptr (GPtrArray) nodes = g_ptr_array_new ();
      for (guint i = 0; i < MANY; i++)
        {
          char path[16];
          g_snprintf (path, sizeof path, "/%u", i);
          g_ptr_array_add (nodes, trie_find (trie, path, TRUE));
        }
      for (guint i = 0; i < MANY; i++)
        remove_up (trie, nodes->pdata[i]);
      g_assert_cmpuint (trie_size (trie), ==, 1);
    }
  g_assert_cmpuint (used (), <, before + MANY * 64 / 4);
}

/* The trie remembers where it last found a child, and looks beside that place first. */
static void
test_a_removed_neighbour_is_gone (void)
{
  for (guint gone = 0; gone < 3; gone++)
    {
      g_autoptr (Stems) stems = stems_new ();
      g_autoptr (Trie) trie = trie_new (stems, sizeof (guint64));
      TrieNode *above = trie_find (trie, "/5", TRUE), *nodes[3];
      static const char *const paths[] = { "/5/0", "/5/1", "/5/2" };

      for (guint i = 0; i < 3; i++)
        nodes[i] = trie_find (trie, paths[i], TRUE);
      for (guint i = 0; i < 3; i++)
        g_assert_true (trie_child (trie, above, i) == nodes[i]);
      (void)trie_remove (trie, nodes[gone]);
      for (guint i = 0; i < 3; i++)
        if (i != gone)
          g_assert_true (trie_child (trie, above, i) == nodes[i]);
      g_assert_null (trie_child (trie, above, gone));
      g_assert_null (trie_find (trie, paths[gone], FALSE));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/trie/finds-what-was-made", test_finds_what_was_made);
  g_test_add_func ("/trie/is-a-table-by-path", test_is_a_table_by_path);
  g_test_add_func ("/trie/steps-over-what-lies-below", test_steps_over_what_lies_below);
  g_test_add_func ("/trie/roots-stand-side-by-side", test_roots_stand_side_by_side);
  g_test_add_func ("/trie/a-path-costs-little", test_a_path_costs_little);
  g_test_add_func ("/trie/what-is-removed-is-gone", test_what_is_removed_is_gone);
  g_test_add_func ("/trie/a-removed-neighbour-is-gone", test_a_removed_neighbour_is_gone);
  g_test_add_func ("/trie/an-empty-one-is-small", test_an_empty_one_is_small);
  g_test_add_func ("/trie/is-as-large-as-it-was-at-once", test_is_as_large_as_it_was_at_once);
  return g_test_run ();
}
