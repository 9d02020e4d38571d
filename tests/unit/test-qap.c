/* SPDX-License-Identifier: BSD-3-Clause */
/* Quadratic assignment: bounds never lie above what trying all finds, no best placing is lost by
 * branching or by leaving out what looks alike, and costs add up. */
#include "config.h"

#include "start.h"

#include <string.h>

#define N_MAX 6

typedef struct
{
  gint32 flow[N_MAX * N_MAX], distance[N_MAX * N_MAX];
  Qap qap;
} Sample;

/* Numbers from -low to high, mirrored or not; some have a diagonal, some many zeros. */
static void
make (Sample *sample, GRand *rand)
{
  int n = g_rand_int_range (rand, 1, N_MAX + 1), zeros = g_rand_int_range (rand, 1, 4);
  gboolean mirrored[] = { g_rand_boolean (rand), g_rand_boolean (rand) };
  gboolean diagonal = g_rand_boolean (rand), negative = g_rand_boolean (rand);

  sample->qap = (Qap){ n, sample->flow, sample->distance };
  for (int which = 0; which < 2; which++)
    {
      gint32 *matrix = which == 0 ? sample->flow : sample->distance;

      for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
          {
            int value = g_rand_int_range (rand, negative ? -9 : 0, 10);

            if (g_rand_int_range (rand, 0, zeros) != 0 || (i == k && !diagonal))
              value = 0;
            matrix[i * n + k] = mirrored[which] && k < i ? matrix[k * n + i] : value;
          }
    }
}

/* The least cost of all placings that begin with `placed` locations, by trying all. */
static gint64
try_all (const Qap *qap, guint8 *location, int placed, gboolean *taken)
{
  gint64 least = G_MAXINT64;

  if (placed == qap->n)
    return start_cost (qap, location);
  for (int to = 0; to < qap->n; to++)
    if (!taken[to])
      {
        taken[to] = TRUE;
        location[placed] = (guint8)to;
        least = MIN (least, try_all (qap, location, placed + 1, taken));
        taken[to] = FALSE;
      }
  return least;
}

static gint64
optimum (const Qap *qap)
{
  guint8 location[QAP_MAX] = { 0 };
  gboolean taken[QAP_MAX] = { FALSE };

  return try_all (qap, location, 0, taken);
}

/* The least cost of `most` or less that branching finds, or G_MAXINT64. What is left out of the
 * first branching is in skip. */
static gint64
branch_all (const Qap *qap, Level *level, gint64 most, const gboolean *skip_facility,
            const gboolean *skip_location)
{
  gint64 least = G_MAXINT64;

  if (!level_bound (level, most))
    return least;
  if (level->m == 1)
    return level->bound;
  level_branch (level, most, skip_facility, skip_location);
  for (int k = 0; k < level->n_children; k++)
    {
      LevelChild child = level->child[k];
      gint64 memory[LEVEL_WORDS (N_MAX)], below;
      Level next;

      g_assert_true (k == 0 || level->child[k - 1].bound >= child.bound);
      level_lay (&next, level->m - 1, memory);
      level_place (&next, level, qap, child.facility, child.location);
      below = branch_all (qap, &next, most, NULL, NULL);
      g_assert_cmpint (below, >=, child.bound);
      g_assert_cmpint (below, >=, level->bound);
      least = MIN (least, below);
    }
  return least;
}

static void
test_bound (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  for (int turn = 0; turn < 3000; turn++)
    {
      gint64 memory[LEVEL_WORDS (N_MAX)], least;
      Sample sample;
      Level level;

      make (&sample, rand);
      least = optimum (&sample.qap);
      level_lay (&level, sample.qap.n, memory);
      level_first (&level, &sample.qap);
      g_assert_cmpint (branch_all (&sample.qap, &level, least, NULL, NULL), ==, least);
      g_assert_cmpint (branch_all (&sample.qap, &level, least + 7, NULL, NULL), ==, least);
      g_assert_cmpint (branch_all (&sample.qap, &level, least - 1, NULL, NULL), ==, G_MAXINT64);
    }
}

static void
test_start (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);

  for (int turn = 0; turn < 300; turn++)
    {
      guint8 location[QAP_MAX];
      Sample sample;
      gint64 cost;

      make (&sample, rand);
      cost = start_search (&sample.qap, location);
      g_assert_cmpint (cost, ==, start_cost (&sample.qap, location));
      g_assert_cmpint (cost, ==, optimum (&sample.qap));
    }
}

/* A grid of 2 x 3: the identity and three more. All alike: all of them but the identity. */
static void
test_symmetries (void)
{
  gint32 grid[36], alike[36] = { 0 };
  g_autoptr (GByteArray) of_grid = NULL, of_alike = NULL, few = NULL;

  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++)
      grid[i * 6 + k] = ABS (i / 3 - k / 3) + ABS (i % 3 - k % 3);
  of_grid = start_symmetries (6, grid, 1000);
  of_alike = start_symmetries (6, alike, 1000);
  few = start_symmetries (6, alike, 10);
  g_assert_cmpuint (of_grid->len, ==, 3 * 6);
  g_assert_cmpuint (of_alike->len, ==, 719 * 6);
  g_assert_cmpuint (few->len, ==, 10 * 6);
  for (guint at = 0; at < of_grid->len; at += 6)
    for (int i = 0; i < 36; i++)
      g_assert_cmpint (grid[of_grid->data[at + i / 6] * 6 + of_grid->data[at + i % 6]], ==,
                       grid[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/qap/bound", test_bound);
  g_test_add_func ("/qap/start", test_start);
  g_test_add_func ("/qap/symmetries", test_symmetries);
  return g_test_run ();
}
