/* SPDX-License-Identifier: BSD-3-Clause */
/* The bound and the first tour, compared with dynamic programming over all subsets on small random
 * instances. */
#include "config.h"

#include "../assign.h"
#include "bound.h"
#include "directed.h"
#include "start.h"

#include <string.h>

#define SMALL_MAX 11

static const BoundEffort efforts[]
    = { { 40, 5, 1024, 64 }, { 3, 1, 2048, 512 }, { 300, 10, 512, 1 } };

typedef struct
{
  int n;
  gint32 distance[SMALL_MAX * SMALL_MAX];
} Small;

static Small
random_small (void)
{
  Small small = { .n = g_test_rand_int_range (BOUND_CITIES_MIN, SMALL_MAX + 1) };
  gint32 widths[] = { 2, 10, 1000, 500000000 };
  gint32 width = widths[g_test_rand_int_range (0, G_N_ELEMENTS (widths))];
  gint32 least = g_test_rand_int_range (0, 8) == 0 ? -width : 0;

  for (int a = 0; a < small.n; a++)
    for (int b = 0; b < a; b++)
      {
        gint32 length = g_test_rand_int_range (least, width);

        small.distance[a * small.n + b] = length;
        small.distance[b * small.n + a] = length;
      }
  return small;
}

/* Held and Karp 1962: the shortest way from city 0 through a set to a city. */
static gint64
optimum (const Small *small)
{
  int n = small->n, sets = 1 << (n - 1);
  g_autofree gint64 *best = g_new (gint64, (gsize)sets * (gsize)n);
  gint64 least = G_MAXINT64;

  for (int set = 1; set < sets; set++)
    for (int to = 1; to < n; to++)
      {
        int rest = set & ~(1 << (to - 1));
        gint64 *here = &best[set * n + to];

        *here = G_MAXINT64 / 2;
        if (rest == set)
          continue;
        if (rest == 0)
          *here = small->distance[to];
        for (int from = 1; from < n; from++)
          if (rest & 1 << (from - 1))
            *here = MIN (*here, best[rest * n + from] + small->distance[from * n + to]);
      }
  for (int to = 1; to < n; to++)
    least = MIN (least, best[(sets - 1) * n + to] + small->distance[to * n]);
  return least;
}

static void
check_tour (const Small *small, const guint8 *tour)
{
  int seen = 0;

  for (int i = 0; i < small->n; i++)
    seen |= 1 << tour[i];
  g_assert_cmpint (seen, ==, (1 << small->n) - 1);
  g_assert_cmpint (tour[0], ==, 0);
  g_assert_cmpint (tour[1], <, tour[small->n - 1]);
}

static void
test_start (void)
{
  int exact = 0, rounds = 300;

  for (int round = 0; round < rounds; round++)
    {
      Small small = random_small ();
      guint8 tour[SMALL_MAX], again[SMALL_MAX];
      gint64 length = start_tour (small.n, small.distance, tour);
      gint64 least = optimum (&small);

      start_tour (small.n, small.distance, again);
      check_tour (&small, tour);
      g_assert_cmpmem (tour, small.n, again, small.n);
      g_assert_cmpint (length, ==, start_length (small.n, small.distance, tour));
      g_assert_cmpint (length, >=, least);
      exact += length == least;
    }
  g_assert_cmpint (exact, >, rounds * 3 / 4);
}

static void
test_below (void)
{
  for (int round = 0; round < 2000; round++)
    {
      Small small = random_small ();
      gint64 least = optimum (&small);
      g_autoptr (Bound) bound
          = bound_new (small.n, small.distance, bound_scale (small.n, small.distance));
      gint64 target = least + g_test_rand_int_range (-3, 10);
      BoundOutcome outcome;

      g_assert_true (bound_start (bound, NULL, 0));
      outcome = bound_ascend (bound, least + 1, target,
                              &efforts[g_test_rand_int_range (0, G_N_ELEMENTS (efforts))]);

      g_assert_cmpint (outcome, !=, BOUND_CLOSED);
      if (outcome == BOUND_OPEN)
        g_assert_cmpint (bound_length (bound), <=, least);
      else
        {
          guint8 tour[SMALL_MAX];

          bound_tour (bound, tour);
          check_tour (&small, tour);
          g_assert_cmpint (start_length (small.n, small.distance, tour), ==, least);
        }
    }
}

typedef struct
{
  const Small *small;
  Bound *bound;
  const BoundEffort *effort;
  gint64 target;
  gint64 found;
} Search;

/* Branch and bound as in the program, on one stack. */
static void
search (Search *state, BoundDecision *decisions, int depth)
{
  gint32 penalty[SMALL_MAX];
  BoundOutcome outcome;
  BoundDecision branch;
  int n_decided;

  if (!bound_start (state->bound, decisions, depth))
    return;
  do
    {
      outcome = bound_ascend (state->bound, state->found, state->target, state->effort);
      n_decided = outcome == BOUND_OPEN ? bound_reduce (state->bound, state->target) : 0;
    }
  while (n_decided > 0);
  if (outcome == BOUND_TOUR)
    {
      guint8 tour[SMALL_MAX];

      bound_tour (state->bound, tour);
      check_tour (state->small, tour);
      state->found = start_length (state->small->n, state->small->distance, tour);
    }
  if (outcome != BOUND_OPEN || n_decided < 0)
    return;
  memcpy (penalty, bound_penalties (state->bound), sizeof (gint32) * (gsize)state->small->n);
  branch = bound_branch (state->bound);
  g_assert_false (bound_is_out (state->bound, branch.a, branch.b));
  for (int in = 0; in < 2; in++)
    {
      branch.in = in;
      decisions[depth] = branch;
      memcpy (bound_penalties (state->bound), penalty, sizeof (gint32) * (gsize)state->small->n);
      search (state, decisions, depth + 1);
    }
}

static void
test_search (void)
{
  for (int round = 0; round < 2000; round++)
    {
      Small small = random_small ();
      BoundDecision decisions[SMALL_MAX * SMALL_MAX];
      gint64 least = optimum (&small);
      gint64 above = least + g_test_rand_int_range (0, 3);
      g_autoptr (Bound) bound
          = bound_new (small.n, small.distance, bound_scale (small.n, small.distance));
      Search state = { &small, bound, &efforts[round % 3], above, above };

      search (&state, decisions, 0);

      /* If no tour is shorter than `above` it finds none; otherwise the optimum. */
      g_assert_cmpint (state.found, ==, least);
    }
}

/* Decisions that hold for a random tour never exclude that tour and never give a bound above its
 * length. */
static void
test_decisions (void)
{
  for (int round = 0; round < 2000; round++)
    {
      Small small = random_small ();
      int n = small.n;
      guint8 tour[SMALL_MAX];
      int next[SMALL_MAX];
      BoundDecision decisions[SMALL_MAX];
      gint64 length;
      BoundOutcome outcome;
      g_autoptr (Bound) bound = bound_new (n, small.distance, bound_scale (n, small.distance));
      int n_decisions = g_test_rand_int_range (0, SMALL_MAX);

      for (int i = 0; i < n; i++)
        {
          int k = g_test_rand_int_range (0, i + 1);

          tour[i] = tour[k];
          tour[k] = (guint8)i;
        }
      for (int i = 0; i < n; i++)
        next[tour[i]] = tour[(i + 1) % n];
      length = start_length (n, small.distance, tour);
      for (int i = 0; i < n_decisions; i++)
        {
          int a = g_test_rand_int_range (0, n), b = g_test_rand_int_range (0, n - 1);

          b += b >= a;
          decisions[i] = (BoundDecision){ (guint8)a, (guint8)b, next[a] == b || next[b] == a };
        }
      g_assert_true (bound_start (bound, decisions, n_decisions));
      outcome = bound_ascend (bound, length + 1, length, &efforts[round % 3]);
      g_assert_cmpint (outcome, !=, BOUND_CLOSED);
      g_assert_true (outcome != BOUND_OPEN || bound_length (bound) <= length);
      for (int i = 0; i < n; i++)
        g_assert_false (bound_is_out (bound, tour[i], tour[(i + 1) % n]));
    }
}

/* `upper` may close a job, but an open outcome must not depend on it: a job always has the same
 * children. */
static void
test_steady (void)
{
  for (int round = 0; round < 1000; round++)
    {
      Small small = random_small ();
      gint64 target = optimum (&small) + 1;
      g_autoptr (Bound) a
          = bound_new (small.n, small.distance, bound_scale (small.n, small.distance));
      g_autoptr (Bound) b
          = bound_new (small.n, small.distance, bound_scale (small.n, small.distance));
      BoundDecision of_a, of_b;

      bound_start (a, NULL, 0);
      bound_start (b, NULL, 0);
      if (bound_ascend (a, target, target, &efforts[1]) != BOUND_OPEN)
        continue;
      g_assert_cmpint (bound_ascend (b, target + 1000, target, &efforts[1]), ==, BOUND_OPEN);
      of_a = bound_branch (a);
      of_b = bound_branch (b);
      g_assert_cmpint (of_a.a, ==, of_b.a);
      g_assert_cmpint (of_a.b, ==, of_b.b);
      g_assert_cmpmem (bound_penalties (a), 4 * small.n, bound_penalties (b), 4 * small.n);
    }
}

/* Distances that depend on the direction: the first tour is one, the doubled instance has the same
 * shortest tour, and no 1-tree is shorter than the cheapest assignment. */
static void
test_directed (void)
{
  int exact = 0, rounds = 1000;

  for (int round = 0; round < rounds; round++)
    {
      Small small = { .n = g_test_rand_int_range (2, SMALL_MAX / 2 + 1) }, doubled;
      int n = small.n, seen = 0, width = round % 2 == 0 ? 10 : 100000;
      BoundDecision decisions[SMALL_MAX * SMALL_MAX];
      gint64 cost[SMALL_MAX * SMALL_MAX], least, length, assigned;
      guint8 tour[SMALL_MAX], city[2 * SMALL_MAX];
      g_autoptr (Bound) bound = NULL;
      Search state;

      for (int i = 0; i < n * n; i++)
        {
          small.distance[i] = i % (n + 1) == 0 ? 0 : g_test_rand_int_range (-3, width);
          cost[i] = i % (n + 1) == 0 ? 1000000000 : small.distance[i];
        }
      least = optimum (&small);
      length = directed_start (n, small.distance, tour);
      for (int i = 0; i < n; i++)
        seen |= 1 << tour[i];
      g_assert_cmpint (seen, ==, (1 << n) - 1);
      g_assert_cmpint (length, ==, start_length (n, small.distance, tour));
      g_assert_cmpint (length, >=, least);
      exact += length == least;

      doubled.n = 2 * n;
      directed_double (n, small.distance, doubled.distance);
      bound = bound_new (2 * n, doubled.distance, bound_scale (2 * n, doubled.distance));
      directed_decide (n, decisions);
      directed_penalties (n, small.distance, bound_scale (2 * n, doubled.distance),
                          bound_penalties (bound));
      assigned = assign (n, cost, G_MAXINT64);
      g_assert_true (bound_start (bound, decisions, n));
      if (bound_ascend (bound, least + 1, least, &(BoundEffort){ 1, 1, 1024, 1 }) == BOUND_OPEN)
        g_assert_cmpint (bound_length (bound), >=, assigned);

      state = (Search){ &doubled, bound, &efforts[round % 3], least + 1, least + 1 };
      search (&state, decisions, n);
      g_assert_cmpint (state.found, ==, least);
      g_assert_true (bound_start (bound, decisions, n));
      if (bound_ascend (bound, least + 1, least, &efforts[2]) == BOUND_TOUR)
        {
          bound_tour (bound, city);
          directed_tour (n, city, tour);
          g_assert_cmpint (start_length (n, small.distance, tour), ==, least);
        }
    }
  g_assert_cmpint (exact, >, rounds * 3 / 4);
}

static void
test_missing_edges (void)
{
  gint32 distance[25];
  g_autoptr (Bound) bound = NULL;

  for (int i = 0; i < 25; i++)
    distance[i] = 1;
  for (int b = 1; b < 4; b++)
    distance[b] = distance[5 * b] = BOUND_NO_EDGE;
  bound = bound_new (5, distance, 1);

  g_assert_false (bound_start (bound, NULL, 0));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/start/first-tour-is-a-tour-and-mostly-the-shortest", test_start);
  g_test_add_func ("/bound/never-exceeds-the-shortest-tour", test_below);
  g_test_add_func ("/bound/branching-finds-the-shortest-tour", test_search);
  g_test_add_func ("/bound/decisions-keep-every-tour-that-obeys-them", test_decisions);
  g_test_add_func ("/bound/the-best-tour-known-never-changes-the-branch", test_steady);
  g_test_add_func ("/bound/directions-double-the-cities", test_directed);
  g_test_add_func ("/bound/a-city-with-one-edge-has-no-tour", test_missing_edges);
  return g_test_run ();
}
