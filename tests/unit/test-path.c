/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths: canonical form, stems, order of ancestry; compared with plain lists of numbers. */
#include "config.h"

#include "digest.h"
#include "path.h"
#include "processor.h"

#include <string.h>

static void
test_canonical (void)
{
  static const char *const good[] = { "",
                                      "1:",
                                      "1:/0",
                                      "4294967295:/0/3",
                                      "/0",
                                      "/4294967295",
                                      "/0/3/1",
                                      "~0123456789abcdef/0",
                                      "~0123456789abcdef/10/2" };
  static const char *const bad[] = { "/",
                                     "0",
                                     "/00",
                                     "/01",
                                     "0:",
                                     "01:/0",
                                     ":/0",
                                     "4294967296:",
                                     "1",
                                     "1/0",
                                     "1:0",
                                     "1:/",
                                     "1:2:/0",
                                     "/1:/0",
                                     "~0123456789abcdef1:/0",
                                     "/4294967296",
                                     "/99999999999999999999",
                                     "//",
                                     "/1/",
                                     "/1//2",
                                     "/-1",
                                     "/+1",
                                     "/ 1",
                                     "/1 ",
                                     "/a",
                                     "~",
                                     "~/0",
                                     "~0123456789abcdef",
                                     "~0123456789abcde/0",
                                     "~0123456789ABCDEF/0",
                                     "~0123456789abcdef0/1",
                                     "~0123456789abcdef/",
                                     "/1~0123456789abcdef/0",
                                     "~~0123456789abcdef/0",
                                     "/1\n" };

  for (gsize i = 0; i < G_N_ELEMENTS (good); i++)
    g_assert_true (path_is_canonical (good[i]));
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_false (path_is_canonical (bad[i]));
}

static void
test_length (void)
{
  g_autoptr (GString) full = g_string_new (NULL);
  g_autofree char *stemmed = NULL;

  for (int i = 0; i < PATH_STEM_LEVELS; i++)
    g_string_append (full, "/4294967295");
  stemmed = g_strconcat ("~0123456789abcdef", full->str, NULL);

  g_assert_true (path_is_canonical (full->str));
  g_assert_true (path_is_canonical (stemmed));
  g_assert_cmpuint (strlen (stemmed) + 1, <=, PATH_TEXT_MAX);
  g_string_append (full, "/0");
  g_assert_false (path_is_canonical (full->str));
}

/* Builds the path of `n` random numbers child by child and as a whole, and reads it back. */
static void
check_depth (gsize n)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Stems) others = stems_new ();
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) back = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree char *by_child = g_strdup ("");
  g_autofree char *whole = NULL;
  char id[17];

  for (gsize i = 0; i < n; i++)
    {
      guint32 number = g_test_rand_bit () ? (guint32)g_test_rand_int () : i % 3;
      char *next = path_child (stems, by_child, number);

      g_array_append_val (numbers, number);
      g_free (by_child);
      by_child = next;
    }
  whole = path_from_numbers (others, (const guint32 *)(gpointer)numbers->data, n);

  g_assert_cmpstr (by_child, ==, whole);
  g_assert_true (path_is_canonical (whole));
  g_assert_cmpuint (stems_count (stems), ==, n == 0 ? 0 : (n - 1) / PATH_STEM_LEVELS);
  g_assert_cmpuint (stems_count (others), ==, stems_count (stems));
  g_assert_cmpint (path_stem (whole, id), ==, n > PATH_STEM_LEVELS);
  g_assert_true (path_to_numbers (stems, whole, NULL, back));
  g_assert_cmpmem (back->data, back->len * 4, numbers->data, numbers->len * 4);
}

static void
test_depths (void)
{
  static const gsize depths[] = { 0, 1, 2, 63, 64, 65, 127, 128, 129, 192, 193, 1000, 5000 };

  for (gsize i = 0; i < G_N_ELEMENTS (depths); i++)
    check_depth (depths[i]);
}

static char *
random_path (Stems *stems, GArray *numbers, gsize n)
{
  while (numbers->len < n)
    {
      guint32 number = (guint32)g_test_rand_int_range (0, 12);

      g_array_append_val (numbers, number);
    }
  g_array_set_size (numbers, n);
  return path_from_numbers (stems, (const guint32 *)(gpointer)numbers->data, n);
}

static void
test_below (void)
{
  g_autoptr (Stems) stems = stems_new ();

  for (int round = 0; round < 2000; round++)
    {
      g_autoptr (GArray) a = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_autoptr (GArray) b = g_array_new (FALSE, FALSE, sizeof (guint32));
      gsize n = (gsize)g_test_rand_int_range (0, 200);
      gsize m = (gsize)g_test_rand_int_range (0, 200);
      gsize common = (gsize)g_test_rand_int_range (0, 200);
      g_autofree char *path = random_path (stems, a, n);
      g_autofree char *other = NULL;
      gboolean below;

      g_array_append_vals (b, a->data, MIN (common, n));
      other = random_path (stems, b, m);
      below = n > m && memcmp (a->data, b->data, m * 4) == 0;
      g_assert_cmpint (path_is_below (stems, path, other), ==, below);
    }
  g_assert_false (path_is_below (stems, "/12", "/1"));
  g_assert_false (path_is_below (stems, "/1", "/1"));
  g_assert_true (path_is_below (stems, "/1/2", "/1"));
  g_assert_true (path_is_below (stems, "/1", ""));
  g_assert_false (path_is_below (stems, "", ""));
  g_assert_false (path_is_below (stems, "~0000000000000000/1", ""));
}

typedef struct
{
  Stems *to;
  guint count;
} Carry;

static void
carry_stem (const char *id, const char *stem, void *data)
{
  Carry *carry = data;
  char outer[17];

  /* The outermost stem comes first: the stem that this one continues is there already. */
  if (path_stem (stem, outer))
    g_assert_nonnull (stems_lookup (carry->to, outer));
  g_assert_true (stems_add (carry->to, id, stem));
  carry->count++;
}

static gboolean
was_carried (const char *id, void *data)
{
  return stems_lookup (((Carry *)data)->to, id) != NULL;
}

static void
test_carry (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Stems) others = stems_new ();
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) back = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree char *path = random_path (stems, numbers, 300);
  Carry carry = { others, 0 };

  g_assert_false (path_to_numbers (others, path, NULL, back));
  g_assert_false (path_each_stem (others, path, NULL, carry_stem, &carry));
  g_assert_true (path_each_stem (stems, path, NULL, carry_stem, &carry));

  g_assert_cmpuint (carry.count, ==, 4);
  g_assert_true (path_to_numbers (others, path, NULL, back));
  g_assert_cmpmem (back->data, back->len * 4, numbers->data, numbers->len * 4);
}

static gboolean
is_innermost (const char *id, void *data)
{
  return strcmp (id, data) == 0;
}

static void
add_text (const char *id G_GNUC_UNUSED, const char *stem, void *data)
{
  strcat (data, stem);
}

/* A table that has a stem has those that it continues. */
static void
test_carry_nothing (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree char *path = random_path (stems, numbers, 300);
  char id[17];

  g_assert_true (path_stem (path, id));
  g_assert_true (path_each_stem (stems, path, is_innermost, add_text, id));
  g_assert_cmpuint (strlen (id), ==, 16);
}

/* By the first eight bytes of the path's digest, on any machine. */
static void
test_drawn (void)
{
  g_assert_true (path_is_drawn ("", 0.8895));
  g_assert_false (path_is_drawn ("", 0.8894)); /* e3b0c44298fc1c14 of ffffffffffffffff */
  g_assert_true (path_is_drawn ("", 1));
  g_assert_false (path_is_drawn ("", 0));
}

static void
test_carry_rest (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Stems) others = stems_new ();
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree char *path = random_path (stems, numbers, 300), *deeper = NULL, *cousin = NULL;
  Carry carry = { others, 0 };

  g_assert_true (path_each_stem (stems, path, was_carried, carry_stem, &carry));
  deeper = random_path (stems, numbers, 500);
  g_assert_false (path_is_whole (others, deeper));
  g_assert_true (path_each_stem (stems, deeper, was_carried, carry_stem, &carry));
  g_assert_true (path_is_whole (others, deeper));

  /* Four of the first path, three more for the second. */
  g_assert_cmpuint (carry.count, ==, 7);

  /* A stem is incomplete until the stem that it continues is there. */
  g_array_set_size (numbers, 0);
  cousin = random_path (stems, numbers, 129);
  char inner[17], outer[17];
  g_assert_true (path_stem (cousin, inner));
  g_assert_true (path_stem (stems_lookup (stems, inner), outer));
  g_assert_true (stems_add (others, inner, stems_lookup (stems, inner)));
  g_assert_false (path_is_whole (others, cousin));
  g_assert_true (stems_add (others, outer, stems_lookup (stems, outer)));
  g_assert_true (path_is_whole (others, cousin));
}

/* The stems at or below a path, against path_is_below of each. */
static void
test_stems_below (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);

  for (int i = 0; i < 300; i++)
    {
      g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
      for (gsize k = (gsize)g_test_rand_int_range (0, 250); k > 0; k--)
        g_array_append_val (numbers, (guint32){ (guint32)g_test_rand_int_range (0, 30) == 0 });
      g_ptr_array_add (paths, random_path (stems, numbers, (gsize)g_test_rand_int_range (0, 300)));
    }
  g_autoptr (GPtrArray) all = path_stems_below (stems, "");
  g_assert_cmpuint (all->len, ==, stems_count (stems));
  for (guint i = 0; i < paths->len; i++)
    {
      const char *path = paths->pdata[i];
      g_autoptr (GPtrArray) below = path_stems_below (stems, path);
      for (guint k = 0; k < all->len; k++)
        {
          const char *text = stems_lookup (stems, all->pdata[k]);
          gboolean expected = g_str_equal (text, path) || path_is_below (stems, text, path);
          g_assert_cmpint (g_ptr_array_find (below, all->pdata[k], NULL), ==, expected);
        }
    }
}

/* The path up to the root is not walked for every path. */
static void
test_very_deep (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autofree char *path = g_strdup ("");
  double began_s = processor_s ();

  for (guint i = 0; i < 64000; i++)
    {
      char *next = path_child (stems, path, i % 2);

      g_free (path);
      path = next;
      g_assert_true (path_is_whole (stems, path));
    }
  g_assert_cmpuint (stems_count (stems), ==, 999);
  g_assert_cmpfloat (processor_s () - began_s, <, 20);
}

static void
test_stems_refused (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Stems) others = stems_new ();
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree char *stem = random_path (others, numbers, 64);
  g_autofree char *child = path_child (others, stem, 5);
  g_autofree char *longer = g_strconcat (stem, "/0", NULL);
  char id[17];

  g_assert_true (path_stem (child, id));
  g_assert_cmpstr (stems_lookup (others, id), ==, stem);
  g_assert_false (stems_add (stems, "0123456789abcdef", stem));
  g_assert_false (stems_add (stems, "", stem));
  g_assert_false (stems_add (stems, id, "/1"));
  g_assert_false (stems_add (stems, id, ""));
  g_assert_false (stems_add (stems, id, longer));
  g_assert_false (stems_add (stems, id, child));
  /* paths of other depths, each by its own hash, which anybody can make */
  for (guint depth = 0; depth <= 63; depth += 21)
    {
      Digest digest;
      char hex[DIGEST_HEX_LENGTH + 1];
      g_array_set_size (numbers, 0);
      g_autofree char *path = random_path (others, numbers, depth);
      digest = digest_of_string (path);
      digest_to_hex (&digest, hex);
      hex[16] = '\0';
      g_assert_false (stems_add (stems, hex, path));
    }
  g_assert_cmpuint (stems_count (stems), ==, 0);
  g_assert_true (stems_add (stems, id, stem));
  g_assert_true (stems_add (stems, id, stem));
  g_assert_cmpuint (stems_count (stems), ==, 1);
}

/* No root lies below another one, nor does any job below it, however deep. */
static void
test_roots (void)
{
  static const char *const starts[] = { "", "1:", "2:", "10:", "4294967295:" };
  static const guint32 roots[] = { 0, 1, 2, 10, 4294967295 };
  static const gsize depths[] = { 0, 1, 64, 65, 200 }; /* three stems */
  guint32 deep[200] = { 3 };
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (gsize i = 0; i < G_N_ELEMENTS (starts); i++)
    {
      g_autofree char *start = path_of_root (roots[i]);
      g_assert_cmpstr (start, ==, starts[i]);
      g_assert_true (path_is_root (start));
      g_assert_cmpuint (path_root (start), ==, roots[i]);
      for (gsize d = 0; d < G_N_ELEMENTS (depths); d++)
        {
          g_autofree char *path = path_extend (stems, start, deep, depths[d]);
          guint32 root = 7;
          g_array_set_size (numbers, 0);
          g_assert_true (path_to_numbers (stems, path, &root, numbers));
          g_assert_cmpuint (root, ==, roots[i]);
          g_assert_cmpmem (numbers->data, numbers->len * 4, deep, depths[d] * 4);
          g_assert_true (path_is_root (path) == (depths[d] == 0));
          for (gsize k = 0; k < G_N_ELEMENTS (starts); k++)
            g_assert_true (path_is_below (stems, path, starts[k]) == (k == i && depths[d] > 0));
        }
    }
  for (gsize i = 0; i < G_N_ELEMENTS (starts); i++)
    {
      g_autoptr (GPtrArray) below = path_stems_below (stems, starts[i]);
      g_assert_cmpuint (below->len, ==, 3);
    }
}

static void
test_read (void)
{
  static const char *const wrong[]
      = { "0/3",   "x",           "/0/", "/01",   "//",
          "/0//1", "/4294967296", "1",   "01:/0", "~0123456789abcdef/0",
          "-1:" };
  guint32 deep[200] = { 3 };
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GString) text = g_string_new ("7:");
  g_autofree char *path = path_extend (stems, "7:", deep, G_N_ELEMENTS (deep));
  guint32 root = 9;

  g_assert_true (path_read (stems, "/", &root, numbers));
  g_assert_cmpuint (root, ==, 0);
  g_assert_cmpuint (numbers->len, ==, 0);
  g_assert_true (path_read (stems, "2:", &root, numbers));
  g_assert_cmpuint (root, ==, 2);
  for (gsize i = 0; i < G_N_ELEMENTS (deep); i++)
    g_string_append_printf (text, "/%u", deep[i]);
  g_assert_true (path_read (stems, text->str, &root, numbers));
  g_assert_cmpuint (root, ==, 7);
  g_assert_cmpmem (numbers->data, numbers->len * 4, deep, sizeof deep);
  g_array_set_size (numbers, 0);
  g_assert_true (path_read (stems, path, &root, numbers));
  g_assert_cmpmem (numbers->data, numbers->len * 4, deep, sizeof deep);
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    g_assert_false (path_read (stems, wrong[i], &root, numbers));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/path/only-the-canonical-form-is-accepted", test_canonical);
  g_test_add_func ("/path/the-longest-text-fits-its-limit", test_length);
  g_test_add_func ("/path/every-depth-reads-back-and-has-one-text", test_depths);
  g_test_add_func ("/path/below-agrees-with-the-number-lists", test_below);
  g_test_add_func ("/path/stems-travel-outermost-first", test_carry);
  g_test_add_func ("/path/only-stems-that-are-not-known-travel", test_carry_rest);
  g_test_add_func ("/path/what-a-known-stem-continues-is-known", test_carry_nothing);
  g_test_add_func ("/path/a-share-is-drawn-by-digests", test_drawn);
  g_test_add_func ("/path/the-stems-below-a-path-are-found", test_stems_below);
  g_test_add_func ("/path/a-very-deep-path-is-cheap", test_very_deep);
  g_test_add_func ("/path/people-write-numbers-alone", test_read);
  g_test_add_func ("/path/no-root-lies-below-another", test_roots);
  g_test_add_func ("/path/false-stems-are-refused", test_stems_refused);
  return g_test_run ();
}
