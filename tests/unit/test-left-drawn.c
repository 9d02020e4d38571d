/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates for random trees, compared to the sixth digit: a small error in left.c would make its
 * estimates of the recorded runs (test-left) only a little worse. */
#include "config.h"

#include "left-rows.h"

#include <math.h>

/* A random tree: 1 to 4 children at each level, costs within a factor of 16, some rows twice, some
 * looks without a new row, and a second root. */
#define RANDOM_DEPTH 6
#define RANDOM_SEED 20261127
#define LOOKS_EACH 2 /* finished leaves for each look */
#define SHOWN_EACH 30

typedef struct
{
  GTree *rows;
  Left *left;
  GRand *rand;
  guint leaves, looks, n_shown;
  const double (*expected)[3];
  guint n_expected;
} Drawn;

static gboolean
is_near (double one, double other)
{
  return fabs (one - other) <= 1e-6 * MAX (fabs (one), fabs (other));
}

/* Shows the present estimate and compares it with the one that was recorded with the figures. */
static void
compare_drawn (Drawn *drawn)
{
  LeftRange work = { 0 };

  if (!left_work (drawn->left, &work))
    work = (LeftRange){ 0 };
  g_test_message ("{ %.9g, %.9g, %.9g },", work.best_s, work.low_s, work.high_s);
  if (drawn->n_shown < drawn->n_expected)
    {
      const double *expected = drawn->expected[drawn->n_shown];
      if (!is_near (work.best_s, expected[0]) || !is_near (work.low_s, expected[1])
          || !is_near (work.high_s, expected[2]))
        g_test_fail ();
    }
  drawn->n_shown++;
}

static void
look_drawn (Drawn *drawn)
{
  look (drawn->left, drawn->rows);
  if (drawn->looks % 5 == 0)
    look (drawn->left, drawn->rows);
  if (drawn->looks++ % SHOWN_EACH == 0)
    compare_drawn (drawn);
}

/* Runs the tree below `path`; returns its work. */
static double
run_drawn (Drawn *drawn, const char *path, guint depth, double weight, double share_s)
{
  guint n = depth < RANDOM_DEPTH ? (guint)g_rand_int_range (drawn->rand, 1, 5) : 0;
  double work_s = share_s * g_rand_double_range (drawn->rand, 0.25, 4);

  for (guint i = n; i-- > 0;)
    {
      g_autofree char *child = g_strdup_printf ("%s/%u", path, i);
      work_s += run_drawn (drawn, child, depth + 1, weight / n, share_s);
    }
  put (drawn->rows, path, weight, work_s);
  if (n == 0 && ++drawn->leaves % LOOKS_EACH == 0)
    look_drawn (drawn);
  return work_s;
}

/* Two roots. After a change of the estimate, put the lines that this test prints here. */
static void
test_drawn (void)
{
  static const double expected[][3] = {
    { 0, 0, 0 },
    { 110.709792, 50.3819582, 243.274745 },
    { 255.988429, 76.6746164, 854.651497 },
    { 101.79846, 29.9978724, 345.45538 },
    { 47.3738745, 10.065553, 222.966784 },
    { 0, 0, 0 },
    { 324.437382, 125.55119, 838.380069 },
    { 384.542391, 173.460484, 852.487249 },
    { 255.086092, 127.895107, 508.767817 },
    { 153.540292, 58.935598, 400.006483 },
    { 23.5550114, 3.98363962, 139.279306 },
    { 0, 0, 0 },
  };
  g_autoptr (GTree) rows = rows_new ();
  g_autoptr (Left) left = left_new ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (RANDOM_SEED);
  Drawn drawn = { .rows = rows,
                  .left = left,
                  .rand = rand,
                  .expected = expected,
                  .n_expected = G_N_ELEMENTS (expected) };

  g_test_message ("seed %u", RANDOM_SEED);
  for (guint root = 0; root < 2; root++)
    {
      g_autofree char *path = root == 0 ? g_strdup ("") : g_strdup_printf ("%u:", root);
      (void)run_drawn (&drawn, path, 0, 1, 0.25);
      look (left, rows);
      compare_drawn (&drawn);
      g_tree_remove (rows, path);
    }
  g_assert_cmpuint (drawn.n_shown, ==, G_N_ELEMENTS (expected));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/left/drawn", test_drawn);
  return g_test_run ();
}
