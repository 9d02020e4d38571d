/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "known.h"

static const NodeId elder = { 1, 1, 9 }, younger = { 1, 2, 4 };

typedef struct
{
  Stems *stems;
  Known *known;
  Digest digest, other;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  (void)data;
  f->stems = stems_new ();
  f->known = known_new (f->stems);
  f->digest = digest_of_string ("job");
  f->other = digest_of_string ("another job");
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  (void)data;
  known_free (f->known);
  stems_free (f->stems);
}

static void
test_finds_below (Fixture *f, gconstpointer data)
{
  KnownNode *root, *node;

  (void)data;
  g_assert_null (known_lookup (f->known, ""));

  g_assert_true (known_insert (f->known, "/0/3", &f->digest, &elder, FALSE));

  root = known_lookup (f->known, "");
  node = known_child (known_child (root, 0), 3);
  g_assert_nonnull (node);
  g_assert_true (known_lookup (f->known, "/0/3") == node);
  g_assert_true (known_has_below (root));
  g_assert_false (known_has_below (node));
  g_assert_true (known_is_held (node));
  g_assert_false (known_is_held (root));
  g_assert_null (known_child (root, 1));
  g_assert_null (known_child (node, 0));
  g_assert_null (known_child (NULL, 0));
}

static void
test_best_holder (Fixture *f, gconstpointer data)
{
  KnownNode *node;
  NodeId holder;
  gboolean finished;

  (void)data;
  known_insert (f->known, "/1", &f->digest, &younger, FALSE);
  known_insert (f->known, "/1", &f->digest, &elder, FALSE);
  node = known_lookup (f->known, "/1");
  g_assert_true (known_best (node, &f->digest, &holder, &finished));
  g_assert_true (node_id_equal (&holder, &elder) && !finished);

  known_insert (f->known, "/1", &f->digest, &younger, TRUE);
  g_assert_true (known_best (node, &f->digest, &holder, &finished));
  g_assert_true (node_id_equal (&holder, &younger) && finished);
  g_assert_cmpuint (known_count (f->known), ==, 2);

  g_assert_false (known_best (node, &f->other, &holder, &finished));
}

static void
test_forget (Fixture *f, gconstpointer data)
{
  (void)data;
  known_insert (f->known, "/1", &f->digest, &elder, TRUE);
  known_insert (f->known, "/1/2", &f->digest, &elder, TRUE);
  known_insert (f->known, "/1/2", &f->digest, &younger, TRUE);

  known_forget (f->known, "/1", &younger);
  g_assert_cmpuint (known_count (f->known), ==, 3);
  known_forget (f->known, "/1", &elder);
  g_assert_cmpuint (known_count (f->known), ==, 2);
  g_assert_nonnull (known_lookup (f->known, "/1"));
  known_forget (f->known, NULL, &elder);
  g_assert_cmpuint (known_count (f->known), ==, 1);
  known_forget (f->known, NULL, &younger);
  g_assert_null (known_lookup (f->known, ""));
}

static void
test_told_once (Fixture *f, gconstpointer data)
{
  (void)data;
  known_insert (f->known, "/1/2", &f->digest, &elder, TRUE);
  g_assert_true (known_tell (known_lookup (f->known, "/1")));
  g_assert_false (known_tell (known_lookup (f->known, "/1")));

  known_insert (f->known, "/1/3", &f->digest, &elder, TRUE);
  g_assert_false (known_tell (known_lookup (f->known, "/1/2")));
  g_assert_true (known_tell (known_lookup (f->known, "/1")));
}

static void
test_refuses (Fixture *f, gconstpointer data)
{
  (void)data;
  g_assert_false (known_insert (f->known, "/00", &f->digest, &elder, TRUE));
  g_assert_false (known_insert (f->known, "0", &f->digest, &elder, TRUE));
  g_assert_false (known_insert (f->known, "~0123456789abcdef/1", &f->digest, &elder, TRUE));
  g_assert_cmpuint (known_count (f->known), ==, 0);
}

static void
test_stems (Fixture *f, gconstpointer data)
{
  char *path = g_strdup ("");
  KnownNode *node;

  (void)data;
  for (guint i = 0; i < 200; i++)
    {
      char *child = path_child (f->stems, path, i % 3);

      g_free (path);
      path = child;
    }
  g_assert_true (known_insert (f->known, path, &f->digest, &elder, TRUE));

  node = known_lookup (f->known, "");
  for (guint i = 0; i < 200; i++)
    node = known_child (node, i % 3);
  g_assert_true (known_is_held (node));
  g_free (path);
}

#define ADD(name, function) g_test_add (name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("/known/what-lies-below-is-found-from-above", test_finds_below);
  ADD ("/known/finished-comes-before-running-then-the-eldest", test_best_holder);
  ADD ("/known/what-is-forgotten-is-gone", test_forget);
  ADD ("/known/covered-is-told-once-until-news-comes", test_told_once);
  ADD ("/known/paths-that-are-not-canonical-are-refused", test_refuses);
  ADD ("/known/stems-are-resolved", test_stems);
  return g_test_run ();
}
