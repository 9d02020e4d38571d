/* SPDX-License-Identifier: BSD-3-Clause */
/* Quadratic assignment: both bounds never exceed the best cost that exhaustive search finds,
 * neither branching nor leaving out symmetric placings loses every best placing, and costs are
 * added up correctly. */
#include "config.h"

#include "dual.h"
#include "start.h"

#include <string.h>

#define N_MAX 6

typedef struct
{
  gint32 flow[N_MAX * N_MAX], distance[N_MAX * N_MAX];
  Qap qap;
} Sample;

/* A matrix of numbers from -low to high, symmetric or not; some have a diagonal, some many
 * zeros. */
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

/* The least cost of `most` or less that branching finds, or G_MAXINT64. `skip` has the choices to
 * leave out of the first branching. */
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

/* The least cost of an assignment, by trying all. */
static int
try_assign (const SmallTable *table, int row, guint32 left)
{
  int least = G_MAXINT;

  if (row == table->rows)
    return 0;
  for (guint32 columns = left; columns != 0; columns &= columns - 1)
    {
      int below = try_assign (table, row + 1, left & ~(columns & -columns));

      if (below != G_MAXINT)
        least = MIN (least, below + table->cost[row][__builtin_ctz (columns)]);
    }
  return least;
}

/* The small assignment problem: its sum is the minimum; the reduced costs are what each element
 * costs more, and are 0 along one assignment. */
static void
test_small (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);

  for (int turn = 0; turn < 2000; turn++)
    {
      SmallTable table, was;
      int rows = g_rand_int_range (rand, 1, 7), out = g_rand_int_range (rand, 0, rows + 1);
      int high = g_rand_int_range (rand, 1, 3000), least, sum, most;

      table.rows = rows;
      table.width = SMALL_WIDTH (rows + 1);
      table.columns = ((1u << (rows + 1)) - 1) & ~(1u << out);
      for (int k = 0; k < rows; k++)
        for (int l = 0; l < table.width; l++)
          table.cost[k][l] = (table.columns >> l & 1) == 0 || g_rand_int_range (rand, 0, 5) == 0
                                 ? SMALL_BARRED
                                 : (Small)g_rand_int_range (rand, 0, high);
      was = table;
      least = try_assign (&was, 0, was.columns);
      most = g_rand_boolean (rand) ? SMALL_SUM_MAX : g_rand_int_range (rand, 0, SMALL_SUM_MAX);
      sum = small_assign (&table, most);
      g_assert_cmpint (sum, ==, least <= most ? least : -1);
      if (sum < 0)
        continue;
      g_assert_cmpint (try_assign (&table, 0, table.columns), ==, 0);
      for (int k = 0; k < rows; k++)
        for (int l = 0; l < table.width; l++)
          {
            g_assert_cmpint (table.cost[k][l], >=, 0);
            if (was.cost[k][l]
                == SMALL_BARRED) /* a barred element stays barred, also when halved */
              g_assert_cmpint (table.cost[k][l], >, SMALL_BARRED / 2);
          }
    }
}

/* A dual and the placing that it was made from. */
typedef struct
{
  const Qap *qap;
  guint8 location[QAP_MAX];
  gboolean taken[QAP_MAX], is_placed[QAP_MAX];
} Partial;

/* The least cost of the remaining placings, by trying all. */
static gint64
try_rest (Partial *partial, int facility)
{
  gint64 least = G_MAXINT64;

  while (facility < partial->qap->n && partial->is_placed[facility])
    facility++;
  if (facility == partial->qap->n)
    return start_cost (partial->qap, partial->location);
  for (int to = 0; to < partial->qap->n; to++)
    if (!partial->taken[to])
      {
        partial->taken[to] = TRUE;
        partial->location[facility] = (guint8)to;
        least = MIN (least, try_rest (partial, facility + 1));
        partial->taken[to] = FALSE;
      }
  return least;
}

static void
place (Partial *partial, int facility, int location, gboolean is_placed)
{
  partial->is_placed[facility] = partial->taken[location] = is_placed;
  partial->location[facility] = (guint8)location;
}

/* After each step of the dual, every placing of cost `most` or less costs at least the bound, and
 * at least what the bound together with the leader or the child demands for facility[a] at
 * location[b]. Then goes on below a placing that is not excluded. */
static void
check_dual (Dual *dual, Partial *partial, gint64 most, GRand *rand)
{
  int m = dual->m;
  Small child[N_MAX * N_MAX], memory[DUAL_WORDS (N_MAX)];
  gint64 least = try_rest (partial, 0);
  gboolean open = TRUE;
  LevelChild chosen[N_MAX];
  Dual next;

  g_assert_cmpint (dual_cost (dual, 0), <=, MAX (least, most + 1));
  for (int round = g_rand_int_range (rand, 0, 5); round > 0 && open; round--)
    open = dual_rise (dual, most);
  open = open && dual_probe (dual, most, child);
  if (least <= most)
    g_assert_true (open);
  if (!open)
    return;
  g_assert_cmpint (dual_cost (dual, 0), <=, most);
  for (int a = 0; a < m; a++)
    for (int b = 0; b < m; b++)
      {
        Small leader = dual->leader[a * dual->width + b], more = child[a * m + b];
        gint64 below;

        place (partial, dual->facility[a], dual->location[b], TRUE);
        below = try_rest (partial, 0);
        place (partial, dual->facility[a], dual->location[b], FALSE);
        g_assert_cmpint (more, >=, leader);
        g_assert_cmpint (below, >=, MIN (dual_cost (dual, more), most + 1));
      }
  if (m == 1)
    return;
  if (dual_branch (dual, child, NULL, NULL, chosen) == 0)
    return;
  for (int a = 0; a < m; a++)
    for (int b = 0; b < m; b++)
      if (dual->facility[a] == chosen[0].facility && dual->location[b] == chosen[0].location)
        {
          dual_lay (&next, m - 1, memory);
          dual_place (&next, dual, a, b, most);
          place (partial, chosen[0].facility, chosen[0].location, TRUE);
          check_dual (&next, partial, most - g_rand_int_range (rand, 0, 3), rand);
          return;
        }
  g_assert_not_reached ();
}

/* On instances with small and with large costs, which a dual counts in parts and in thousands. */
static void
test_dual (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  int opened = 0;

  for (int turn = 0; turn < 1500; turn++)
    {
      gint64 memory[LEVEL_WORDS (N_MAX)], least, most;
      Small words[DUAL_WORDS (N_MAX)];
      Partial partial = { 0 };
      Sample sample;
      Level level;
      Dual dual;

      make (&sample, rand);
      for (int at = 0; at < sample.qap.n * sample.qap.n && turn % 3 == 0; at++)
        sample.flow[at] = sample.flow[at] * 100003;
      partial.qap = &sample.qap;
      least = optimum (&sample.qap);
      most = least + (turn % 3 == 0 ? 100003 : 1) * g_rand_int_range (rand, -10, 100);
      level_lay (&level, sample.qap.n, memory);
      level_first (&level, &sample.qap);
      dual_lay (&dual, sample.qap.n, words);
      if (dual_first (&dual, &level, &sample.qap, most))
        {
          check_dual (&dual, &partial, most, rand);
          opened++;
        }
      else
        g_assert_cmpint (least, >, most);
    }
  g_assert_cmpint (opened, >, 750);
}

/* Follows a good placing of a larger instance: no dual excludes it, and no bound exceeds its cost.
 * TRUE if a bound was above the first one. */
static gboolean
follow (const Qap *qap, const guint8 *location, gint64 cost, gint64 most, GRand *rand)
{
  g_autofree gint64 *memory = g_new (gint64, LEVEL_WORDS (qap->n));
  g_autofree Small *words = g_new (Small, DUAL_WORDS (qap->n));
  Small child[DUAL_MAX * DUAL_MAX];
  gboolean rose = FALSE;
  Level level;
  Dual dual;

  level_lay (&level, qap->n, memory);
  level_first (&level, qap);
  dual_lay (&dual, qap->n, words);
  g_assert_true (dual_first (&dual, &level, qap, most));
  for (;;)
    {
      int m = dual.m, a = g_rand_int_range (rand, 0, m), b = 0;
      g_autofree Small *above = words;
      Dual from = dual;

      g_assert_true (dual_rise (&from, most));
      g_assert_true (dual_probe (&from, most, child));
      rose = rose || dual_cost (&from, 0) > from.base;
      for (int i = 0; i < m; i++)
        {
          int to = 0;

          while (from.location[to] != location[from.facility[i]])
            to++;
          g_assert_cmpint (from.leader[i * from.width + to], !=, SMALL_BARRED);
          g_assert_cmpint (dual_cost (&from, child[i * m + to]), <=, cost);
          b = i == a ? to : b;
        }
      words = NULL;
      if (m == 1)
        return rose;
      words = g_new (Small, DUAL_WORDS (m - 1));
      dual_lay (&dual, m - 1, words);
      dual_place (&dual, &from, a, b, most);
    }
}

static void
test_follow (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);

  for (int turn = 0; turn < 4; turn++)
    {
      static const int sizes[] = { 16, 17, 21, DUAL_MAX };
      int n = sizes[turn];
      gint32 flow[DUAL_MAX * DUAL_MAX], distance[DUAL_MAX * DUAL_MAX];
      int scale = n % 2 == 0 ? 1 : 7919;
      Qap qap = { n, flow, distance };
      guint8 location[QAP_MAX];
      gint64 cost;

      for (int at = 0; at < n * n; at++)
        {
          flow[at] = scale * MAX (g_rand_int_range (rand, -5, 10), 0);
          distance[at] = g_rand_int_range (rand, n % 3 == 0 ? -3 : 0, 10);
        }
      cost = start_search (&qap, location);
      g_assert_true (follow (&qap, location, cost, cost + scale * (n % 5), rand));
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

/* A grid of 2 x 3 has the identity and three more symmetries. If all locations are alike, all
 * permutations but the identity are symmetries. */
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
  g_test_add_func ("/qap/small", test_small);
  g_test_add_func ("/qap/dual", test_dual);
  g_test_add_func ("/qap/follow", test_follow);
  g_test_add_func ("/qap/start", test_start);
  g_test_add_func ("/qap/symmetries", test_symmetries);
  return g_test_run ();
}
