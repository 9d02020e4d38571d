/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "processor.h"
#include "tree/known.h"

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

/* A digest with a single byte changed is another job's. */
static void
test_near_misses (Fixture *f, gconstpointer data)
{
  NodeId holder;
  gboolean finished;

  (void)data;
  g_assert_true (known_insert (f->known, "/0/3", &f->digest, &elder, TRUE));
  KnownNode *node = known_lookup (f->known, "/0/3");
  for (gsize i = 0; i < sizeof f->digest.bytes; i++)
    {
      Digest near = f->digest;
      near.bytes[i] ^= 1;
      g_assert_false (known_best (f->known, node, &near, &holder, &finished));
      g_assert_cmpuint (known_count_others (f->known, node, &near, NULL), ==, 1);
    }
  g_assert_true (known_best (f->known, node, &f->digest, &holder, &finished));
}

static void
test_finds_below (Fixture *f, gconstpointer data)
{
  KnownNode *root, *node;

  (void)data;
  g_assert_null (known_lookup (f->known, ""));

  g_assert_true (known_insert (f->known, "/0/3", &f->digest, &elder, FALSE));

  root = known_lookup (f->known, "");
  node = known_child (f->known, known_child (f->known, root, 0), 3);
  g_assert_nonnull (node);
  g_assert_true (known_lookup (f->known, "/0/3") == node);
  g_assert_true (known_has_below (root));
  g_assert_false (known_has_below (node));
  g_assert_true (known_is_held (node));
  g_assert_false (known_is_held (root));
  g_assert_null (known_child (f->known, root, 1));
  g_assert_null (known_child (f->known, node, 0));
  g_assert_null (known_child (f->known, NULL, 0));
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
  g_assert_true (known_best (f->known, node, &f->digest, &holder, &finished));
  g_assert_true (node_id_equal (&holder, &elder) && !finished);

  known_insert (f->known, "/1", &f->digest, &younger, TRUE);
  g_assert_true (known_best (f->known, node, &f->digest, &holder, &finished));
  g_assert_true (node_id_equal (&holder, &younger) && finished);
  g_assert_cmpuint (known_count (f->known), ==, 2);

  g_assert_false (known_best (f->known, node, &f->other, &holder, &finished));
}

/* A running job and its kept state, with two digests. */
static void
test_two_digests_of_one_holder (Fixture *f, gconstpointer data)
{
  KnownNode *node;
  NodeId holder;
  gboolean finished;

  (void)data;
  known_insert (f->known, "/1", &f->digest, &elder, FALSE);
  known_insert (f->known, "/1", &f->other, &elder, TRUE);
  node = known_lookup (f->known, "/1");
  g_assert_true (known_best (f->known, node, &f->digest, &holder, &finished) && !finished);
  g_assert_true (known_best (f->known, node, &f->other, &holder, &finished) && finished);
  g_assert_cmpuint (known_count (f->known), ==, 2);
  g_assert_false (known_has_below (node));

  known_forget (f->known, "/1", &elder);
  g_assert_cmpuint (known_count (f->known), ==, 0);
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
  g_assert_true (known_tell (f->known, known_lookup (f->known, "/1")));
  g_assert_false (known_tell (f->known, known_lookup (f->known, "/1")));

  known_insert (f->known, "/1/3", &f->digest, &elder, TRUE);
  g_assert_false (known_tell (f->known, known_lookup (f->known, "/1/2")));
  g_assert_true (known_tell (f->known, known_lookup (f->known, "/1")));
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
    node = known_child (f->known, node, i % 3);
  g_assert_true (known_is_held (node));
  g_free (path);
}

/* Paths of 1,000 random jobs read back from their nodes. */
static void
test_paths (Fixture *f, gconstpointer data)
{
  (void)data;
  for (int i = 0; i < 1000; i++)
    {
      guint32 numbers[300];
      gsize n = (gsize)g_test_rand_int_range (0, 300);
      g_autofree char *path = NULL;
      g_autofree char *back = NULL;

      for (gsize k = 0; k < n; k++)
        numbers[k] = (guint32)g_test_rand_int_range (0, 20) / 19;
      path = path_from_numbers (f->stems, numbers, n);
      g_assert_true (known_insert (f->known, path, &f->digest, &elder, TRUE));
      back = known_path (f->known, known_lookup (f->known, path));
      g_assert_cmpstr (back, ==, path);
    }
}

/* 200,000 levels, with a fact at every tenth. Neither the C stack nor the time of walks to the root
 * limits the depth. */
static void
test_very_deep (Fixture *f, gconstpointer data)
{
  enum
  {
    DEPTH = 200000
  };
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *path = g_strdup ("");
  double began_s = processor_s ();

  (void)data;
  for (guint i = 0; i < DEPTH; i++)
    {
      char *child = path_child (f->stems, path, i % 3);

      g_free (path);
      path = child;
      if (i % 10 == 0)
        g_ptr_array_add (paths, g_strdup (path));
    }
  for (guint i = 0; i < paths->len; i++)
    g_assert_true (known_insert (f->known, paths->pdata[i], &f->digest, &elder, TRUE));
  for (guint i = paths->len; i > 0; i--)
    g_assert_true (known_tell (f->known, known_lookup (f->known, paths->pdata[i - 1])));
  g_assert_false (known_tell (f->known, known_lookup (f->known, "")));
  g_assert_true (known_insert (f->known, paths->pdata[paths->len - 1], &f->digest, &elder, TRUE));
  g_assert_true (known_tell (f->known, known_lookup (f->known, "")));
  for (guint i = 0; i < paths->len / 2; i++)
    known_forget (f->known, paths->pdata[i], &elder);
  g_assert_cmpuint (known_count (f->known), ==, DEPTH / 10 - paths->len / 2);
  known_forget (f->known, NULL, &elder);
  g_assert_null (known_lookup (f->known, ""));
  g_assert_cmpfloat (processor_s () - began_s, <, 20);
}

/* A fact that came and went without being told is news when it comes again below a fact that was
 * told. */
static void
test_what_comes_again_is_told (Fixture *f, gconstpointer data)
{
  KnownNode *kept;

  (void)data;
  g_assert_true (known_insert (f->known, "/0/7", &f->digest, &elder, FALSE));
  g_assert_true (known_insert (f->known, "/0/1/2", &f->digest, &elder, FALSE));
  kept = known_keep (known_lookup (f->known, "/0/1/2"));
  known_forget (f->known, "/0/1/2", &elder);
  g_assert_true (known_tell (f->known, known_lookup (f->known, "/0")));
  g_assert_true (known_insert (f->known, "/0/1/2", &f->digest, &younger, FALSE));
  g_assert_true (known_lookup (f->known, "/0/1/2") == kept);
  g_assert_true (known_tell (f->known, known_lookup (f->known, "/0")));
  known_release (f->known, kept);
}

/* 100,000 paths, ten at a time: forgotten paths leave no memory behind. */
static void
test_what_is_forgotten_takes_no_room (Fixture *f, gconstpointer data)
{
  (void)data;
  for (guint i = 0; i < 100000; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u/%u", i % 3, i);
      g_autofree char *before = g_strdup_printf ("/%u/%u", (i - 10) % 3, i - 10);

      g_assert_true (known_insert (f->known, path, &f->digest, &elder, i % 2));
      if (i >= 10)
        known_forget (f->known, before, &elder);
      g_assert_cmpuint (known_size (f->known), <=, 1 + 3 + 11);
    }
  known_forget (f->known, NULL, &elder);
  g_assert_cmpuint (known_size (f->known), ==, 1);
}

/* A node to which a frame points stays. */
static void
test_what_is_kept_stays (Fixture *f, gconstpointer data)
{
  KnownNode *node;

  (void)data;
  g_assert_true (known_insert (f->known, "/0/1/2", &f->digest, &elder, FALSE));
  node = known_keep (known_lookup (f->known, "/0/1"));
  known_forget (f->known, NULL, &elder);
  g_assert_null (known_lookup (f->known, "/0/1"));
  g_assert_cmpuint (known_size (f->known), ==, 4);
  g_assert_true (known_insert (f->known, "/0/1", &f->digest, &elder, FALSE));
  g_assert_true (known_lookup (f->known, "/0/1") == node);
  known_forget (f->known, "/0/1", &elder);
  known_release (f->known, node);
  g_assert_cmpuint (known_size (f->known), ==, 1);
}

#define ADD(name, function) g_test_add (name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("/known/what-lies-below-is-found-from-above", test_finds_below);
  ADD ("/known/near-misses-are-not-found", test_near_misses);
  ADD ("/known/finished-comes-before-running-then-the-eldest", test_best_holder);
  ADD ("/known/what-is-forgotten-is-gone", test_forget);
  ADD ("/known/covered-is-told-once-until-news-comes", test_told_once);
  ADD ("/known/paths-that-are-not-canonical-are-refused", test_refuses);
  ADD ("/known/stems-are-resolved", test_stems);
  ADD ("/known/a-node-knows-its-path", test_paths);
  ADD ("/known/a-very-deep-tree-is-cheap", test_very_deep);
  ADD ("/known/one-holder-may-have-a-job-and-what-it-kept", test_two_digests_of_one_holder);
  ADD ("/known/what-comes-again-below-what-was-told-is-told", test_what_comes_again_is_told);
  ADD ("/known/what-is-forgotten-takes-no-room", test_what_is_forgotten_takes_no_room);
  ADD ("/known/what-is-kept-stays", test_what_is_kept_stays);
  return g_test_run ();
}
